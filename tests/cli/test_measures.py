"""ranksift measures: the catalogue is complete."""

import json

import pytest

from ranksift.measures.measure import CATALOGUE
from tests.cli.conftest import Command


def test_every_measure_is_listed_with_formula_and_paper(ranksift: Command):
    code, out, err = ranksift("measures")
    assert (code, err) == (0, "")
    for name, measure in CATALOGUE.items():
        assert f"  {name}" in out
        assert measure.paper in out
        assert measure.family.upper() in out


def test_json_keys(ranksift: Command):
    found = json.loads(ranksift("measures", "--format", "json").out)
    assert {e["name"] for e in found} == set(CATALOGUE)
    assert list(found[0]) == [
        "family", "name", "usage", "summary", "formula", "latex", "description", "paper", "aggregation",
        "higher_is_better", "parameters", "example", "meanings",
    ]  # fmt: skip
    for e in found:
        assert all(e[key] for key in ("family", "usage", "summary", "formula", "latex", "paper", "example")), e["name"]
        assert "\\" not in e["formula"], e["name"]


@pytest.mark.parametrize("name", [*CATALOGUE, "MAP", "nDCG_f@10", "ndcg_cut_10"])
def test_one_in_full(ranksift: Command, name: str):
    code, out, _ = ranksift("measures", name)
    assert code == 0
    assert ">>> " in out
    assert "Paper: " in out


def test_markdown(ranksift: Command):
    out = ranksift("measures", "--format", "markdown").out
    assert out.count("\n| `") == len(CATALOGUE)


@pytest.mark.parametrize("name", ["nDCGf", "", "@", "UL9(P@1)"])
def test_unknown(ranksift: Command, name: str):
    code, out, err = ranksift("measures", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
