"""From an experiment to its files in the documentation."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ranksift.files import writing

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs" / "experiments"


class Experiment(Protocol):
    """What a module or package of this folder offers."""

    __name__: str
    #: Folders of the data that it reads.
    NEEDS: tuple[str, ...]

    def files(self, data: Path, /) -> Mapping[str, str]:
        """Names and contents of its page and figures: the same bytes for the same data."""


def data_folder() -> Path:
    """Where the real collections are: ``$RANKSIFT_DATA``, or shared/data beside the repository."""
    return Path(os.environ.get("RANKSIFT_DATA") or ROOT.parent / "shared" / "data")


def publish(experiment: Experiment) -> None:
    """Write an experiment's files, or say what data it lacks."""
    data = data_folder()
    absent = [name for name in experiment.NEEDS if not (data / name).is_dir()]
    if absent:
        print(f"{experiment.__name__}: skipped, no {' and no '.join(absent)} (set RANKSIFT_DATA to their folder)")
        return
    DOCS.mkdir(parents=True, exist_ok=True)
    for name, text in experiment.files(data).items():
        with writing(DOCS / name) as out:
            out.write(text.encode())
        print((DOCS / name).relative_to(ROOT))
