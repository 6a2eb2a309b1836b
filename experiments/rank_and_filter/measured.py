"""What the page shows and does not compute: all fits take more than an hour, and seconds vary by machine.

``python -m experiments.rank_and_filter.trials`` measures it, and keeps it beside this file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from experiments.publish import ROOT, data_folder
from ranksift.files import writing

FILE = Path(__file__).with_name("measured.json")

#: Digits that are kept: enough for any number of the page.
_DIGITS = 6


def measured() -> dict[str, Any]:
    """Parts by their names: ``settings`` and ``lengths``."""
    return dict(json.loads(FILE.read_text("utf-8")))


def keep(part: str, measure: Callable[[Path], Mapping[str, Any]]) -> None:
    """Measure something of a part, and put it in the place of what is there."""
    found = rounded(measure(data_folder()))
    every = measured() if FILE.exists() else {}
    text = json.dumps({**every, part: {**every.get(part, {}), **found}}, indent=1, ensure_ascii=False)
    with writing(FILE) as out:
        out.write(f"{text}\n".encode())
    print(f"{', '.join(found)}: {FILE.relative_to(ROOT)}", flush=True)


def rounded(found: Any) -> Any:
    """The same with numbers of few digits.

    >>> rounded({"a": [1 / 3, 2e-9, 2]})
    {'a': [0.333333, 2e-09, 2]}
    """
    if isinstance(found, Mapping):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(value) for value in found]
    return float(f"{found:.{_DIGITS}g}") if isinstance(found, float) else found
