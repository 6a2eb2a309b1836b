"""The page on labelling strategies: what it computes, and that the documentation shows what is computed now."""

import re

import pytest

from experiments import labelling, publish
from experiments.labelling import page, trials
from experiments.markdown import number
from ranksift.labelling.floor import floor, worst_case_floor


@pytest.fixture(scope="module")
def shown() -> str:
    return " ".join((publish.DOCS / "labelling.md").read_text(encoding="utf-8").split())  # lines are filled


def test_documentation_shows_what_is_computed_now(shown: str) -> None:
    """Three of the settings, which between them use every part; all of them take minutes."""
    tournament = trials.cost("tournament")
    assert f"| tournament | {page.mean(tournament)} | {number(tournament.sd, 1)} |" in shown
    assert f"**The paper's heap asks {page.mean(trials.cost('heap'))} pairs" in shown
    assert f"a sorted list takes {page.mean(trials.cost('list', prior_tau=0.6))}." in shown


def test_the_page_holds_together(shown: str) -> None:
    assert re.findall(r"!\[[^\]]+\]\(([^)]+)\)", shown) == ["labelling-judgments.svg"]
    assert (publish.DOCS / "labelling-judgments.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "python -m experiments.labelling" in shown
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b|−0\.0+\b(?!\d)", shown)
    assert shown.count("## ") == 6
    assert labelling.NEEDS == ()


def test_what_the_issue_asks_for_holds(shown: str) -> None:
    asks, takes = re.search(r"heap asks ([\d.]+) ± [\d.]+ pairs, a knockout tournament ([\d.]+)", shown).groups()
    assert abs(float(asks) - 150) <= 2
    again, pairs = re.search(r"its ([\d.]+) judgments are about ([\d.]+) different pairs", shown).groups()
    assert again == asks
    assert abs(float(pairs) - 136.1) <= 1.5
    assert float(takes) <= 91
    assert float(re.search(r"flagged\*\* as forbidden the tournament takes ([\d.]+)", shown).group(1)) <= 76
    assert float(re.search(r"sorted list takes ([\d.]+)", shown).group(1)) <= 80
    assert f"The floor of {number(floor(50, 10), 1)}" in shown
    assert f"needs {worst_case_floor(50, 10)} for some query" in shown
