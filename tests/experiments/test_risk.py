"""The page on risk control: what it computes, and that its results are that."""

from pathlib import Path

import numpy as np
import pytest

from experiments.experiment import rounded
from experiments.risk import EXPERIMENT, measure
from experiments.risk.collections import collections
from experiments.risk.halves import held_out
from experiments.risk.populations import SEED, Population, made_up
from experiments.risk.rules import BETTING, PLUG_IN, Rule, rules
from experiments.risk.trials import ALPHA, DELTA, kept, outcomes
from ranksift.collection.lists import Lists
from ranksift.cutoffs.risk import RiskCutoff
from tests.experiments.claims import apart, failing


@pytest.fixture(scope="module")
def populations() -> list[Population]:
    return made_up()


def test_populations_are_those_that_are_made_now(populations: list[Population]) -> None:
    """As the numbers of queries needed, quick to make: most of the results take a minute."""
    found = {population.name: measure.about(population, ALPHA) for population in populations}
    assert not [*apart(rounded(found), EXPERIMENT.kept["populations"])]
    assert not [*apart(rounded(measure.fewest()), EXPERIMENT.kept["fewest queries"])]


def test_trials_are_what_samples_of_50_give_now(populations: list[Population]) -> None:
    trials = EXPERIMENT.kept["trials"]
    for index, name in ((4, "short lists"), (7, "first place")):
        population = populations[index]
        assert population.name == name
        found = outcomes(population, 50, rules(ALPHA, (DELTA,)), np.random.default_rng([SEED, index, 50]))
        assert not [*apart(rounded(measure.told(found)), trials[name]["50"])]
        assert found[Rule(BETTING, ALPHA, DELTA)].share == kept(trials, name, 50, BETTING)["broken"] <= DELTA
        assert found[Rule(PLUG_IN, ALPHA)].interval[0] > DELTA  # it promises nothing, and keeps nothing


def test_collections_are_what_real_queries_give_now(data_dir: Path) -> None:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    every = collections(data_dir)
    population, alpha = every[2]
    in_file = EXPERIMENT.kept["collections"]
    assert list(in_file) == [each.name for each, _ in every]
    assert not [*apart(rounded(measure.drawn_and_split(2, population, alpha)), in_file[population.name]["rules"])]
    for each, asked in every:
        assert rounded(measure.about(each, asked)).items() <= in_file[each.name].items()
    assert not [*apart(rounded(measure.curve(*every[-1])), EXPERIMENT.kept["answers"])]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("trials", "spread", "100", 2, "broken"), 0.052, "**The promise is kept** in all 315 settings"),
        (("trials", "spread", "1000", 0, "broken"), 0.1, "Without a bound it is a coin toss"),
        (("trials", "spread", "1000", 1, "mean"), 0.06, "in no setting above α by more than chance"),
        (("trials", "first place", "50", 2, "broken"), 0.11, "the promise is broken nearly as often as is allowed"),
        (("trials", "uninformative", "200", 2, "dropped"), 0.5, "Bad scores cost documents, not the guarantee"),
        (("fewest queries", "0.05", "0.1", 0), 44, "The first number is where (1 − α)ⁿ ≤ δ"),
        (("collections", "Web 2013, indri-ql-cata", "rules", "betting", "dropped"), 0.1, "Fifty topics are too few"),
        (("collections", "SemEval-2015", "rules", "in expectation", "risk"), 0.11, "below α everywhere"),
        (("collections", "WikiQA, CNN-Cnt", "rules", "betting", "broken"), 0.12, "The promise holds on real queries"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


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


def test_a_half_is_judged_by_a_threshold_of_the_other() -> None:
    """Two queries, the forbidden document on top of one of them only."""
    lists = Lists.from_arrays([3.0, 2.0, 1.0], [-1, 1, 1], ["a", "a", "b"])
    rule = Rule(PLUG_IN, 0.4)
    found = held_out(Population("two", lists, 1), [rule], np.random.default_rng(0), 40)[rule]
    # Fitted on a, nothing may be shown; fitted on b, all of a is.
    assert set(zip(found.risk.tolist(), found.dropped.tolist(), strict=True)) == {(0.0, 1.0), (1.0, 0.0)}
