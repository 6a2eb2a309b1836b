"""The page on the track's submissions: what it computes, and that its results are that."""

from pathlib import Path

import numpy as np
import pytest

from experiments.experiment import rounded
from experiments.submissions import EXPERIMENT
from experiments.submissions.measure import curves, studied
from experiments.submissions.program import both, on_runs, phi_of_program
from experiments.submissions.years import MEASURES, Year, agreement_of_years, places
from tests.experiments.claims import apart, failing


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    return data_dir


@pytest.fixture(scope="module")
def year(data: Path) -> Year:
    return Year(data, 2014)


def test_results_of_a_year_are_what_is_measured_now(data: Path, year: Year) -> None:
    assert not [*apart(rounded(studied(year)), EXPERIMENT.kept["years"]["2014"])]
    assert not [*apart(rounded(curves(year)), EXPERIMENT.kept["curves"]["2014"])]
    assert not [*apart(rounded(on_runs(data, 2013)), EXPERIMENT.kept["runs"]["2013"])]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("years", "2013", "phi", "RR"), 0.95, "AP is the most stable, the most sensitive and the most reliable"),
        (("years", "2010", "stability", "error", "nDCG@20"), 0.2, "RR is the least stable in every year"),
        (("years", "2011", "needed", "P@20"), 40, "50 topics are too few"),
        (("years", "2012", "first on halves", "sensitivity", "AP"), 40, "In sensitivity it does not hold in 2012"),
        (("years", "2014", "corrected", "P@20"), 0.5, "Except by AP in 2013 and 2014"),
        (("years", "2014", "agreement", "AP, ERR@20", "opposite"), 99, "differ significantly by both AP and RR"),
        (("program", "2011", "as they are", "program"), 0.8, "the size of the values is that of the printed ones"),
        (("program", "2012", "random", "formula"), 0.5, "finds hardly anything in random numbers"),
        (("runs", "2012", "nDCG_0", 0, "program"), 0.999, "the program orders the three measures by their means"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


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
    assert agreement_of_years([year.reliability.phi, year.reliability.phi]) == pytest.approx([1.0])


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
    low, high = both(values), both(values + 1)
    assert low["formula"] == pytest.approx(high["formula"], abs=1e-12)
    assert low["program"] < 0.99 < high["program"]
