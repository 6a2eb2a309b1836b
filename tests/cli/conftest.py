"""What the tests of the command line share: a small collection on disk, and a way to run a command."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ranksift.cli.main import run
from ranksift.datasets.synthetic import synthetic_collection, write_collection


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Outcome]


@pytest.fixture
def ranksift(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process."""

    def command(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        return Outcome(code, *capsys.readouterr())

    return command


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Judgments and runs of a made-up collection, as TREC files."""
    return write_collection(*synthetic_collection(queries=20, seed=3), tmp_path_factory.mktemp("collection"))


@pytest.fixture
def tiny(tmp_path: Path) -> dict[str, Path]:
    """Two queries of a few documents, to break."""
    paths = {"qrels": tmp_path / "qrels.txt", "run": tmp_path / "bm25.run"}
    paths["qrels"].write_text("q1 0 good 2\nq1 0 bad -2\nq2 0 ok 1\n")
    paths["run"].write_text("q1 Q0 good 1 9.5 bm25\nq1 Q0 bad 2 8.0 bm25\nq2 Q0 ok 1 3 bm25\n")
    return paths
