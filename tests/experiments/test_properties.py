"""The page on properties of measures: that its results are what is found now."""

import re
from pathlib import Path

import pytest

from experiments.experiment import DOCS
from experiments.properties import EXPERIMENT
from experiments.properties.measure import changed
from experiments.properties.words import THREE, changes, having, named
from ranksift.study.properties import PROPERTIES, properties
from tests.experiments.claims import apart, failing


@pytest.fixture(scope="module")
def shown() -> str:
    return (DOCS / EXPERIMENT.page).read_text(encoding="utf-8")


def test_results_are_what_is_measured_now(tmp_path: Path) -> None:
    assert EXPERIMENT.needs == ()
    assert not [*apart(EXPERIMENT.measured(tmp_path), EXPERIMENT.kept)]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("holds", "nDCG_f", "localization"), "binary", "No measure has all seven"),
        (("holds", "DCG@10", "boundedness"), "yes", "With forbidden documents"),
        (("holds", "nDCG_min@10", "boundedness"), "graded", "is not bounded here"),
        (("holds", "nDCG_org@10", "monotonicity"), "yes", "can fall at greater depth"),
        (("holds", "Q", "top-weightedness"), "graded", "is not top-weighted where grades differ"),
        (("holds", "Q", "shift"), "yes", "No score that uses gains is invariant to a shift"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


def test_every_measure_has_a_row(shown: str) -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (?:yes|graded|binary|no|–) \|", shown, re.M)
    assert len(rows) == len(set(rows))
    assert {row.split("(")[0].split("@")[0] for row in rows} == {
        name.split("(")[0].split("@")[0] for name in EXPERIMENT.kept["holds"]
    }
    assert all(f"| {name} |" in shown for name in PROPERTIES)


def test_measures_that_have_some_properties() -> None:
    holds = EXPERIMENT.kept["holds"]
    assert having(holds, THREE) == ["nDCG_f", "nDCG_f@10"]
    impossible = ["boundedness", "monotonicity", "convergence", "localization", "realizability"]
    assert having(holds, impossible, "binary") == []
    assert having({"a": {"scale": "graded"}, "b": {"scale": None}}, ["scale"], "graded") == ["a"]
    assert named("nDCG@10") == "`nDCG@k`"


def test_more_documents_are_told() -> None:
    fewer, more = properties("Q nDCG", documents=4), properties("Q nDCG")
    found = changed(more, fewer)
    assert (found["documents"], found["lists"]) == (4, 1025)
    assert changes(found["differing"]) == "what differs is top-weightedness of `Q`"
    assert changes(changed(more, more)["differing"]) == "nothing in the table differs"
