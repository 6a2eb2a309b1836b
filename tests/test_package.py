"""The package as a whole: light to import, complete, typed, one version."""

import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import ranksift

# A TREC evaluation goes through numpy alone; frames are for those who ask for them.
EVALUATION = """
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "qrels").write_text("q 0 good 2\\nq 0 bad -1\\n")
(folder / "run").write_text("q Q0 good 1 2.5 tag\\n")
import ranksift
assert ranksift.evaluate(str(folder / "qrels"), str(folder / "run"), ["nDCG_f@2"]).mean_of("nDCG_f@2") == 1.0
"""


def imported_by(program: str, *arguments: str) -> set[str]:
    """Run a program in a Python of its own; the packages that it leaves imported."""
    report = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", program + report, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_import_takes_nothing_along():
    assert imported_by("import ranksift") & {"numpy", "polars", "scipy", "pandas", "typer", "rich"} == set()


def test_evaluating_trec_files_needs_numpy_only(tmp_path: Path):
    imported = imported_by(EVALUATION, str(tmp_path))
    assert "numpy" in imported
    assert imported & {"polars", "scipy", "pandas", "pyarrow", "typer", "rich"} == set()


def test_version_is_the_installed_one():
    assert version("ranksift") == ranksift.__version__


def test_every_public_name_resolves():
    assert [name for name in ranksift.__all__ if not hasattr(ranksift, name)] == []
    assert set(ranksift.__all__) <= set(dir(ranksift))


def test_a_public_name_is_listed_once():
    assert len(ranksift.__all__) == len(set(ranksift.__all__))


def test_measures_are_public_names():
    assert str(ranksift.nDCG_f @ 10) == "nDCG_f@10"


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nDCG_x"):
        _ = ranksift.nDCG_x


def test_types_are_shipped():
    assert files(ranksift).joinpath("py.typed").is_file()
