"""The page on the track's submissions: what it computes, and that the documentation shows what is computed now."""

import re
from pathlib import Path

import numpy as np
import pytest

from experiments import publish, submissions
from experiments.submissions.program import Both, phi_of_program
from experiments.submissions.years import MEASURES, Year, agreement_of_years, places


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    absent = [name for name in submissions.NEEDS if not (data_dir / name).is_dir()]
    if absent:
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    return data_dir


@pytest.fixture(scope="module")
def year(data: Path) -> Year:
    return Year(data, 2014)


def test_documentation_shows_what_is_computed_now(data: Path) -> None:
    files = submissions.files(data)
    for name, text in files.items():
        assert (publish.DOCS / name).read_text(encoding="utf-8") == text, f"{name} is stale: run make experiments"
    page = files["submissions.md"]
    assert set(re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page)) == set(files) - {"submissions.md"}
    assert "python -m experiments.submissions" in page
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b|−0\.0+\b(?!\d)", page)


def test_pairs_that_two_measures_decide_in_opposite_ways(year: Year) -> None:
    from scipy.stats import ttest_rel

    def verdict(measure: str, i: int, j: int) -> int:
        one, two = year.scores.values[[i, j], :, list(MEASURES).index(measure)]
        test = ttest_rel(one, two)
        return int(np.sign(test.statistic)) if test.pvalue <= 0.05 else 0

    pairs = [(i, j) for i in range(year.systems) for j in range(i)]
    expected = sum(verdict("AP", i, j) * verdict("RR", i, j) < 0 for i, j in pairs)
    assert year.opposite("AP", "RR") == year.opposite("RR", "AP") == expected > 0
    assert year.opposite("AP", "AP") == 0


def test_copies_are_systems_whose_values_another_one_has_too(year: Year) -> None:
    values = [tuple(system.ravel()) for system in year.scores.values]
    assert year.copies == len(values) - len(set(values)) == 2


def test_halves_are_all_counted(year: Year) -> None:
    assert {criterion: sum(first.values()) for criterion, first in year.first_on_halves.items()} == {
        "reliability": 50,
        "sensitivity": 50,
    }


def test_places_and_the_agreement_of_a_year_with_itself(year: Year) -> None:
    assert places({"a": 0.1, "b": 0.3, "c": 0.3, "d": 0.0}) == {"a": 3, "b": 1, "c": 1, "d": 4}
    assert agreement_of_years({1: year, 2: year}, "reliability") == pytest.approx([1.0])


@pytest.mark.parametrize("intercept", [False, True])
def test_the_programs_phi_is_that_of_least_squares(intercept: bool) -> None:
    def left(*columns: np.ndarray) -> float:
        design = np.column_stack(columns)
        return float(((score - design @ np.linalg.lstsq(design, score, rcond=None)[0]) ** 2).sum())

    runs, topics = 5, 12
    values = np.random.default_rng(2).random((runs, topics)) + np.arange(runs)[:, None] / 20
    score, run, topic = (
        values.ravel(),
        np.repeat(np.arange(runs), topics),
        np.tile(np.arange(101.0, 101 + topics), runs),
    )
    dummies = (run[:, None] == np.arange(runs)).astype(float)
    first = left(np.ones(runs * topics)) if intercept else float((score**2).sum())
    steps = [first, left(dummies), left(dummies, topic), left(dummies, dummies * topic[:, None])]
    freedom = [runs - intercept, 1, runs - 1]
    of_runs, of_topics, of_both = ((a - b) / df for a, b, df in zip(steps, steps[1:], freedom, strict=False))
    rest = steps[3] / (runs * topics - 2 * runs)
    system, slope, both = abs(of_runs - of_both) / topics, abs(of_topics - of_both) / runs, abs(of_both - rest)
    expected = system / (system + slope + both / topics)
    assert phi_of_program(values, intercept) == pytest.approx(expected, rel=1e-9)


def test_only_the_program_minds_what_is_added_to_all_scores() -> None:
    values = np.random.default_rng(4).random((6, 20)) ** 3
    low, high = Both.of(values), Both.of(values + 1)
    assert low.formula == pytest.approx(high.formula, abs=1e-12)
    assert low.program < 0.99 < high.program
