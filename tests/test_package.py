"""The package as a whole: light to import, complete, typed, one version."""

import os
import pickle
import py_compile
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

import ranksift
from ranksift.measures.measure import CATALOGUE

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
    assert imported & {"polars", "scipy", "pandas", "pyarrow", "typer", "rich", "json", "hashlib"} == set()
    without = EVALUATION + "\nimport sys; assert 'numpy.ma' not in sys.modules"  # 8 ms of every command
    imported_by(without, str(tmp_path))


def packed(into: Path, suffix: str = ".py") -> Path:
    """The package in a zip file."""
    source = Path(ranksift.__file__).parent
    with ZipFile(into / "ranksift.zip", "w") as archive:
        for file in sorted(source.rglob("*.py")):
            name = str(Path("ranksift") / file.relative_to(source).with_suffix(suffix))
            if suffix == ".pyc":
                py_compile.compile(str(file), str(into / "compiled"), doraise=True)
                file = into / "compiled"
            archive.write(file, name)
    return into / "ranksift.zip"


def run_from(archive: Path, program: str) -> str:
    """What a program prints that imports the package from a zip file; its last line where it fails."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=archive.parent,
        env={**os.environ, "PYTHONPATH": str(archive)},
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_it_can_be_imported_from_a_zip_file(tmp_path: Path):
    program = """
import ranksift as rs
assert ".zip" in rs.__file__, rs.__file__
value = rs.evaluate({"q": {"good": 2}}, {"q": {"good": 1.0}}, [rs.nDCG_f @ 2]).mean_of("nDCG_f@2")
print(value, rs.cutoffs.GlobalCutoff.__name__, len(rs.__all__))
"""
    assert run_from(packed(tmp_path), program) == f"1.0 GlobalCutoff {len(ranksift.__all__)}"


def test_without_its_source_it_says_what_is_missing(tmp_path: Path):
    said = run_from(packed(tmp_path, ".pyc"), "import ranksift; ranksift.evaluate")
    assert said.endswith("ranksift is here without its source, which says what it exports; ship its .py files, too")


def test_version_is_the_installed_one():
    assert version("ranksift") == ranksift.__version__


ROOMS = [
    ranksift,
    *(
        getattr(ranksift, room)
        for room in ("cutoffs", "datasets", "integrations", "labelling", "learning", "measures", "scale", "study")
    ),
]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
class TestPublicNames:
    def test_every_one_resolves(self, room: ModuleType):
        assert [name for name in room.__all__ if not hasattr(room, name)] == []

    def test_every_one_is_listed_once_and_by_dir(self, room: ModuleType):
        assert len(room.__all__) == len(set(room.__all__))
        assert {name for name in dir(room) if not name.startswith("__")} == set(room.__all__)

    def test_star_imports_them(self, room: ModuleType):
        found: dict[str, object] = {}
        exec(f"from {room.__name__} import *", found)
        assert {name: found[name] for name in room.__all__} == {name: getattr(room, name) for name in room.__all__}

    def test_none_is_a_module_but_the_rooms_and_the_losses(self, room: ModuleType):
        modules = {name for name in room.__all__ if isinstance(getattr(room, name), ModuleType)}
        assert modules <= {
            "cutoffs",
            "datasets",
            "integrations",
            "labelling",
            "learning",
            "measures",
            "scale",
            "study",
            "losses",
        }

    def test_a_function_that_names_the_package_can_be_sent(self, room: ModuleType):
        """As cloudpickle does for Ray, Spark and Dask, a module that it does not know by its type."""
        assert pickle.loads(pickle.dumps(room)) is room

    def test_a_misspelt_one_is_an_attribute_error(self, room: ModuleType):
        with pytest.raises(AttributeError, match="has no attribute 'nDCG_x'"):
            _ = room.nDCG_x

    def test_the_reference_has_every_one(self, room: ModuleType):
        measures = {*CATALOGUE, "nDCG_0"}  # they are in the catalogue
        there = {name for name, _ in documented()}
        modules = {name for name in room.__all__ if isinstance(getattr(room, name), ModuleType)}
        assert set(room.__all__) - there - measures - modules == set()


def documented() -> list[tuple[str, str]]:
    """What docs/api.md refers to: name and full path; what a package exports, by the package."""
    page = (Path(__file__).parents[1] / "docs" / "api.md").read_text()
    return [(path.rpartition(".")[2], path) for path in re.findall(r"^::: (\S+)$", page, re.M)]


def test_what_the_reference_names_is_exported():
    exported = {id(getattr(room, name)) for room in ROOMS for name in room.__all__}
    lost = []
    for name, path in documented():
        module = import_module(path.rpartition(".")[0])
        if id(getattr(module, name)) not in exported:
            lost.append(path)
    assert lost == []


def test_a_file_does_not_hide_the_function_of_its_name():
    program = """
import ranksift.study.stability, ranksift.cutoffs.audit
import ranksift
assert callable(ranksift.study.stability) and callable(ranksift.cutoffs.audit)
"""
    imported_by(program)


def test_every_measure_is_declared_for_editors():
    declared = set(ranksift.measures.__all__) - {"Measure", "parse_measure", "parse_measures"}
    assert declared == {*CATALOGUE, "nDCG_0"}
    hints = (Path(ranksift.measures.__file__)).read_text()
    for name, kind in CATALOGUE.items():
        assert f"    {name}: {kind.__module__}.{name}\n" in hints


# What users write, line by line, and the type that their editor shows.
TYPED = {
    'rs.read_qrels("qrels.txt")': "ranksift.collection.qrels.Qrels",
    'rs.read_run("bm25.run")': "ranksift.collection.run.Run",
    "rs.nDCG_f @ 10": "ranksift.measures.cumulative.nDCG_f",
    "rs.RBP(p=0.5)": "ranksift.measures.classic.RBP",
    "rs.measures.AP": "ranksift.measures.classic.AP",
    'evaluate("qrels.txt", "bm25.run", ["P@3", rs.AP])': "ranksift.evaluation.scores.Scores",
    'Lists.from_arrays([0.5], [1], ["q"])': "ranksift.collection.lists.Lists",
    'rs.Examples.from_arrays([[0.5]], [1], ["q"])': "ranksift.collection.examples.Examples",
    'LambdaMARTf(gains={-1: -10}).fit("train.txt", "vali.txt")': "ranksift.learning.trees.LambdaMARTf",
    "rs.learning.LambdaMARTf(trees=10)": "ranksift.learning.trees.LambdaMARTf",
    'rs.load("model").rank("test.txt")': "ranksift.collection.run.Run",
    'rs.cutoffs.GlobalCutoff("AP").fit([0.5], [1], ["q"])': "ranksift.cutoffs.threshold.GlobalCutoff",
    "rs.datasets.product_reviews()": "ranksift.datasets.reviews.Reviews",
    'rs.study.stability(rs.read_scores("scores.csv"))': "ranksift.study.stability.Stability",
}
USER = """\
# mypy: disallow-any-expr
import ranksift as rs
from ranksift import Lists, evaluate
from ranksift.learning import LambdaMARTf

{}
rs.evalute  # type: ignore[attr-defined]
"""


def test_types_are_seen_from_outside(tmp_path: Path):
    (tmp_path / "user.py").write_text(USER.format("\n".join(f"reveal_type({line})" for line in TYPED)))
    root = Path(__file__).parents[1]
    # With the settings of the package, whose results are kept; its own strictness is that of mypy --strict.
    command = [sys.executable, "-m", "mypy", "--config-file", str(root / "pyproject.toml"), str(tmp_path / "user.py")]
    said = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False).stdout
    assert re.findall(r'Revealed type is "(.+)"', said) == [*TYPED.values()]
    assert "error:" not in said, said  # strict: an ignored error that is none would be one


def test_measures_are_public_names():
    assert str(ranksift.nDCG_f @ 10) == "nDCG_f@10"


def test_types_are_shipped():
    assert files(ranksift).joinpath("py.typed").is_file()


def test_rules_and_methods_do_not_depend_on_who_imported_what_first():
    listed = "print([*__import__('ranksift.cutoffs.rules').cutoffs.rules.known_rules()])"
    program = "import ranksift.cutoffs.{first}; " + listed
    said = {
        subprocess.run([sys.executable, "-c", program.format(first=first)], capture_output=True, text=True).stdout
        for first in ("risk", "shape", "expected_gain")
    }
    assert len(said) == 1
    assert "'global'" in said.pop()
    inside = "import ranksift as rs; rs.learning.ExpectedGainRanker(model='RankSVM').check_parameters(); print('fine')"
    told = subprocess.run([sys.executable, "-c", inside], capture_output=True, text=True)
    assert told.stdout == "fine\n", told.stderr
