"""The page on risk control: what it computes, and that the documentation shows what is computed now."""

import re
from pathlib import Path

import numpy as np
import pytest

from experiments import publish, risk
from experiments.risk.collections import collections
from experiments.risk.halves import held_out
from experiments.risk.page import dropped, how_many_queries, interval, the_populations
from experiments.risk.populations import SEED, Population, made_up
from experiments.risk.rules import BETTING, MEAN, PLUG_IN, Rule, rules
from experiments.risk.trials import ALPHA, DELTA, outcomes
from ranksift.collection.lists import Lists
from ranksift.cutoffs.risk import RiskCutoff


@pytest.fixture(scope="module")
def shown() -> str:
    return (publish.DOCS / "risk-control.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def populations() -> list[Population]:
    return made_up()


def cells(page: str, first: str) -> list[list[str]]:
    """Rows of tables that begin with these words."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.split("\n") if line.startswith("|")]
    return [row for row in rows if row[0] == first]


def test_page_refers_to_every_figure_and_states_its_command(shown: str) -> None:
    figures = set(re.findall(r"!\[[^\]]+\]\(([^)]+)\)", shown))
    assert figures == {f"risk-control-{name}.svg" for name in ("broken", "price", "answers")}
    assert all((publish.DOCS / name).is_file() for name in figures)
    assert "python -m experiments.risk" in shown
    assert not re.search(r"\bnan\b|\binf\b|(?<!delta=)\bNone\b(?! of)", shown)


def test_documentation_shows_the_populations_that_are_made_now(shown: str, populations: list[Population]) -> None:
    """As the numbers of queries needed, quick to make: most of the page takes a minute."""
    for section in (the_populations(populations), how_many_queries()):
        rows = [line for line in section.split("\n") if line.startswith("|")]
        assert len(rows) > 4
        assert all(row in shown for row in rows)


def test_documentation_shows_what_samples_of_50_give_now(shown: str, populations: list[Population]) -> None:
    for index, name in ((4, "short lists"), (7, "first place")):
        population = populations[index]
        assert population.name == name
        found = outcomes(population, 50, rules(ALPHA, (DELTA,)), np.random.default_rng([SEED, index, 50]))
        mean = found[Rule(MEAN, ALPHA)]
        assert f"{mean.mean:.4f} ± {mean.error:.4f}" in [row[1] for row in cells(shown, name)]
        assert found[Rule(BETTING, ALPHA, DELTA)].share <= DELTA
        assert found[Rule(PLUG_IN, ALPHA)].interval[0] > DELTA  # it promises nothing, and keeps nothing


def test_the_true_risk_is_that_of_all_queries(populations: list[Population]) -> None:
    """Against the cutoff's own report when it is fitted on all of them."""
    for population in populations:
        cut = RiskCutoff(0.07, None, population.k).fit_lists(population.lists)
        assert population.risk(np.array([cut.threshold_]))[0] == pytest.approx(cut.risk_, abs=1e-12)
        good = population.lists.gain >= 0
        assert population.dropped(cut.threshold_) == pytest.approx(
            np.mean(population.lists.score[good] < cut.threshold_), abs=1e-12
        )
        assert population.ideal(0.07) <= cut.threshold_


def test_documentation_shows_what_real_queries_give_now(shown: str, data_dir: Path) -> None:
    absent = [name for name in risk.NEEDS if not (data_dir / name).is_dir()]
    if absent:
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    population, alpha = collections(data_dir)[2]
    drawn = outcomes(population, 25, rules(alpha, (DELTA,)), np.random.default_rng([SEED, 102, 0]))
    halves = held_out(population, rules(alpha, (DELTA,)), np.random.default_rng([SEED, 102, 1]), 500)
    plug_in = Rule(PLUG_IN, alpha)
    (row,) = [each for each in cells(shown, population.name) if each[1] == PLUG_IN]
    assert row[2] == interval(drawn[plug_in])
    assert row[3] == f"{halves[plug_in].risk.mean():.3f}"
    assert row[5] == f"{100 * dropped(halves[plug_in]):.0f}"


def test_a_half_is_judged_by_a_threshold_of_the_other() -> None:
    """Two queries, the forbidden document on top of one of them only."""
    lists = Lists.from_arrays([3.0, 2.0, 1.0], [-1, 1, 1], ["a", "a", "b"])
    rule = Rule(PLUG_IN, 0.4)
    found = held_out(Population("two", lists, 1), [rule], np.random.default_rng(0), 40)[rule]
    # Fitted on a, nothing may be shown; fitted on b, all of a is.
    assert set(zip(found.risk.tolist(), found.dropped.tolist(), strict=True)) == {(0.0, 1.0), (1.0, 0.0)}
