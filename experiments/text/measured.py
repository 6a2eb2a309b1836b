"""What the page shows and does not compute: networks take a GPU, and what stands on top of them half an hour."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.rank_and_filter.measured import rounded
from ranksift.files import writing

FILE = Path(__file__).with_name("measured.json")


def measured() -> dict[str, Any]:
    """Parts by their names."""
    return dict(json.loads(FILE.read_text("utf-8")))


def keep(found: Mapping[str, Any]) -> None:
    """Put parts in the place of those that are there."""
    every = measured() if FILE.exists() else {}
    text = json.dumps({**every, **rounded(found)}, indent=1, ensure_ascii=False)
    with writing(FILE) as out:
        out.write(f"{text}\n".encode())
