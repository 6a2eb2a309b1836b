"""The page on boosted trees: what it computes, and that its results are what is computed now.

All fits take minutes, so that one fold of LambdaMART as it is given is held to what is computed.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from experiments import experiment
from experiments.boosted_trees import EXPERIMENT
from experiments.boosted_trees.defaults import rotations
from experiments.boosted_trees.fits import (
    BEST,
    GIVEN,
    MEASURE,
    SEEDS,
    WIDE,
    Learned,
    Model,
    Outcome,
    Task,
    fitted,
    learned,
)
from experiments.boosted_trees.measure import compared
from experiments.boosted_trees.measured import Gain, keep
from experiments.boosted_trees.methods import BAGGED, CATBOOST, LIGHTGBM, METHODS, OURS, PEERS, XGBOOST
from experiments.boosted_trees.settings import QUARTERS, leaves, values
from experiments.boosted_trees.settings import SEEDS as GIVEN_SEEDS
from experiments.boosted_trees.settings import Task as Settings
from experiments.boosted_trees.words import CALLED, verdict, wins
from experiments.experiment import Page, Results, rounded
from experiments.learning import Collection
from ranksift.collection.examples import Examples
from ranksift.datasets.letor import mq2008
from ranksift.learning.search_space import Space, with_parameters
from ranksift.learning.validation import cross_validated, three_way
from tests.experiments.claims import failing


@pytest.fixture(scope="module")
def collection() -> Collection:
    """Queries with a feature that tells, and one that does not."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(600, 2))
    labels = np.digitize(x[:, 0] + draw.normal(size=600), [0.5, 1.5])
    return Collection("made up", tuple(three_way(Examples.from_arrays(x, labels, np.repeat(np.arange(60), 10)))))


def made_up(collection: Collection, ahead: float) -> Outcome:
    """All methods guess, LambdaMART a little better or worse than the others."""
    draw = np.random.default_rng(1)

    def model(name: str, labels: np.ndarray) -> Model:
        signal = 1.0 + (ahead if name == OURS else 0.0)
        return Model(signal * labels + draw.normal(size=len(labels)), int(draw.integers(1, 200)), float(draw.random()))

    def of_fold(name: str, labels: np.ndarray) -> Learned:
        parameters = {parameter: draw.integers(2, 9) for parameter in METHODS[name].space}
        return Learned(*(model(name, labels) for _ in range(4)), parameters)

    found = {
        name: [[of_fold(name, fold.test.labels) for fold in collection.folds] for _ in range(2)] for name in METHODS
    }
    return Outcome(collection, found)


def page_of(found: Outcome) -> tuple[Results, Page, str]:
    """Results, the page that they make, and its text on one line."""
    results = rounded(compared(found))
    page = EXPERIMENT.made_of({**EXPERIMENT.kept, "comparison": results})
    return results, page, " ".join(page.files[EXPERIMENT.page].split())


def test_page_states_its_commands() -> None:
    shown = " ".join(EXPERIMENT.made_of(EXPERIMENT.kept).files[EXPERIMENT.page].split())
    for part in ("", ".measure", ".seconds", ".defaults", ".settings"):
        assert f"python -m experiments.boosted_trees{part}" in shown


def test_results_are_what_is_computed_now(data_dir: Path) -> None:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    fold = mq2008(data_dir / EXPERIMENT.needs[0], 1)
    models = [fitted(METHODS[OURS].ranker.clone().set_params(seed=seed), fold) for seed in range(SEEDS)]
    of_seeds = [[Learned(*[model] * 4, {})] for model in models]
    found = Outcome(Collection("fold 1", (fold,)), {OURS: of_seeds})
    kept = EXPERIMENT.kept["comparison"]["methods"][OURS][GIVEN]
    assert float(found.values(OURS, how=GIVEN).mean()) == pytest.approx(kept["folds"][0], rel=1e-6)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("comparison", "ahead", OURS, BEST, MEASURE, LIGHTGBM, "value"), -0.001, "By nDCG@10 LambdaMART is, as given"),
        (("comparison", "ahead", BAGGED, GIVEN, MEASURE, CATBOOST, "value"), -0.001, "the mean of three LambdaMARTs"),
        (("comparison", "p of tuning", LIGHTGBM), 0.01, "No method gains significantly from tuning"),
        (("comparison", "methods", OURS, BEST, MEASURE), [0.6, 0.6, 0.6], "most of the choice is chance"),
        (("defaults", "MQ2007", "draws"), [0.001, 0.002], "Each of the three gains more than a standard error"),
        (("defaults", "MQ2008", "together"), [0.001, 0.002], "Together the three gain"),
        (("defaults", "MQ2008", "context"), [0.005, 0.001], "The effect of context is not distinguishable"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


@pytest.mark.parametrize(("method", "library"), [(LIGHTGBM, "lightgbm"), (XGBOOST, "xgboost"), (CATBOOST, "catboost")])
def test_libraries_are_tuned_like_our_own(collection: Collection, method: str, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is of the extra experiments")
    fold = collection.folds[0]
    found = learned(Task(fold, method, 0, 3))
    assert set(found.params) == set(METHODS[method].space)
    assert found.best.value >= found.cautious.value >= found.given.value
    assert found.wide.value >= found.given.value
    assert found.best.scores.shape == fold.test.labels.shape
    # The feature that tells was found.
    assert np.corrcoef(found.best.scores, fold.test.features[:, 0])[0, 1] > 0.5


def test_every_method_has_as_many_parameters_to_search_as_it_knows() -> None:
    for name, method in METHODS.items():
        space = Space.of(method.space, method.ranker)
        assert len(space.candidates(method.ranker, 5, 0)) == (5 if method.space else 1), name
    assert {len(METHODS[name].space) for name in PEERS if name != CATBOOST} == {5}


@pytest.mark.filterwarnings("ignore::ranksift.errors.RankSiftWarning")
def test_the_page_says_who_is_below_whom(collection: Collection) -> None:
    good, good_page, text = page_of(made_up(collection, 3.0))
    assert not verdict(good, OURS, BEST)["lost"]
    assert all(wins(good, name, BEST) == 2 for name in PEERS)
    each = [f"{name}, not below any of the three" for name in CALLED.values()]
    assert f"**By nDCG@10 LambdaMART is, {'; '.join(each)}.**" in text
    bad, bad_page, text = page_of(made_up(collection, -0.9))
    assert [*verdict(bad, OURS, BEST)["lost"]] == [*verdict(bad, OURS, BEST)["apart"]] == list(PEERS)
    assert not verdict(bad, OURS, BEST)["won"]
    names = f"{PEERS[0]}, {PEERS[1]} and {PEERS[2]}"
    assert f"; tuned, below {names}; tuned, with a margin, below" in text
    assert f"The difference from {names} is significant. By AP it is, tuned, below" in text
    assert bad_page.files[EXPERIMENT.page].count("\n## ") == 8
    # It is below a library in the wide space, the page says; neither page carries that it is not below one elsewhere.
    for page in (good_page, bad_page):
        [first] = (claim for claim in page.claims if claim.sentence.startswith("- **By nDCG@10 LambdaMART is"))
        assert not first.holds
    assert verdict(EXPERIMENT.kept["comparison"], OURS, WIDE)["lost"]


def test_differences_are_of_the_mean_over_seeds(collection: Collection) -> None:
    found = made_up(collection, 0.5)
    ahead = found.ahead(how=BEST)[XGBOOST]
    assert ahead.value == pytest.approx(found.mean(OURS, how=BEST) - found.mean(XGBOOST, how=BEST))
    assert ahead.low < ahead.value < ahead.high
    sizes = [len(fold.test.query_ids) for fold in collection.folds]
    assert np.average(found.of_folds(OURS, how=BEST), weights=sizes) == pytest.approx(found.mean(OURS, how=BEST))
    assert MEASURE == "nDCG@10"


def test_rotations_leave_the_test_part_out(collection: Collection) -> None:
    found = rotations(collection)
    assert len(found) == 2 * len(collection.folds)
    judged = [query for fold in found for query in fold.test.query_ids]
    assert sorted(judged) == sorted([*collection.whole.query_ids] * 2)
    for i, fold in enumerate(found):
        parts = [set(part.query_ids) for part in fold]
        assert len(set.union(*parts)) == sum(map(len, parts)) == 48
        assert not set.union(*parts) & set(collection.folds[i // 2].test.query_ids)


def test_what_is_measured_takes_the_place_of_its_part_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = EXPERIMENT.kept
    folder = tmp_path / "experiments" / EXPERIMENT.name
    folder.mkdir(parents=True)
    (folder / "results.json").write_bytes((EXPERIMENT.folder / "results.json").read_bytes())
    monkeypatch.setattr(experiment, "ROOT", tmp_path)
    keep("seconds", lambda _: {OURS: 0.5})
    assert EXPERIMENT.kept == {**before, "seconds": {OURS: 0.5}}
    keep("settings", lambda _: {"MQ2008": {OURS: {"leaves": {"4 to 8": Gain(-0.0, 0.001)}}}})
    assert EXPERIMENT.kept["settings"] == {"MQ2008": {OURS: {"leaves": {"4 to 8": [0.0, 0.001]}}}}


def test_settings_are_told_by_quarters_of_the_wide_space() -> None:
    of_methods = [of for methods in EXPERIMENT.kept["settings"].values() for of in methods.values()]
    shown = {(name, quarter) for of in of_methods for name, quarters in of.items() for quarter in quarters}
    of_quarters = {(n, f"{low:g} to {high:g}") for n, edges in QUARTERS.items() for low, high in pairwise(edges)}
    assert shown == {*of_quarters, ("all", "")}
    assert (leaves({"leaves": 7}), leaves({"depth": 3})) == (7, 8)


@pytest.mark.filterwarnings("ignore::ranksift.errors.RankSiftWarning")
def test_what_is_given_is_the_mean_over_several_seeds(collection: Collection) -> None:
    fold = collection.folds[0]
    given = {"leaves": 4, "learning_rate": 0.1}
    found = values(Settings(fold, OURS, [given, {"leaves": 8, "learning_rate": 0.05}]))
    assert found.shape == (2, len(fold.test.query_ids))
    fits = [with_parameters(METHODS[OURS].ranker.clone().set_params(seed=s), given) for s in range(GIVEN_SEEDS)]
    alone = [cross_validated([one], [fold], MEASURE).values[0, :, 0] for one in fits]
    assert found[0] == pytest.approx(np.mean(alone, axis=0))
