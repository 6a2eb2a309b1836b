"""The page on boosted trees: what it computes, and that the documentation shows what is computed now.

The whole page takes minutes, so that one fold of LambdaMART as it is given is held to what is computed.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from experiments import boosted_trees, publish
from experiments.boosted_trees import measured
from experiments.boosted_trees.defaults import rotations
from experiments.boosted_trees.fits import BEST, GIVEN, MEASURE, SEEDS, Learned, Model, Outcome, Task, fitted, learned
from experiments.boosted_trees.measured import Gain, keep, seconds, settings
from experiments.boosted_trees.methods import CATBOOST, LIGHTGBM, METHODS, OURS, PEERS, XGBOOST
from experiments.boosted_trees.page import CALLED, below, cost, how_it_learns, verdict, where_to_search, wins, written
from experiments.boosted_trees.settings import QUARTERS, leaves, values
from experiments.boosted_trees.settings import SEEDS as GIVEN_SEEDS
from experiments.boosted_trees.settings import Task as Settings
from experiments.learning import Collection
from experiments.markdown import page
from ranksift.collection.examples import Examples
from ranksift.datasets.letor import mq2008
from ranksift.learning.search_space import Space, with_parameters
from ranksift.learning.validation import cross_validated, three_way


@pytest.fixture(scope="module")
def shown() -> str:
    return (publish.DOCS / "boosted-trees.md").read_text(encoding="utf-8")


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


def test_page_states_its_commands(shown: str) -> None:
    for command in ("boosted_trees", "boosted_trees.seconds", "boosted_trees.defaults", "boosted_trees.settings"):
        assert f"python -m experiments.{command}" in " ".join(shown.split())
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", shown)


def test_documentation_shows_the_row_that_is_computed_now(shown: str, data_dir: Path) -> None:
    absent = [name for name in boosted_trees.NEEDS if not (data_dir / name).is_dir()]
    if absent:
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    fold = mq2008(data_dir / boosted_trees.NEEDS[0], 1)
    models = [fitted(METHODS[OURS].ranker.clone().set_params(seed=seed), fold) for seed in range(SEEDS)]
    of_seeds = [[Learned(*[model] * 4, {})] for model in models]
    found = Outcome(Collection("fold 1", (fold,)), {OURS: of_seeds})
    first = float(found.values(OURS, how=GIVEN).mean())
    assert f"| {OURS} | as given | {first:.4f} |" in shown, "the page is stale: run make experiments"


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
    good, bad = made_up(collection, 3.0), made_up(collection, -0.9)
    assert below(good, how=BEST) == []
    assert below(bad, how=BEST) == list(PEERS)
    assert all(wins(good, name, how=BEST) == 2 for name in PEERS)
    each = [f"{name}, not below any of the three" for name in CALLED.values()]
    assert f"**By nDCG@10 LambdaMART is, {'; '.join(each)}.**" in " ".join(written(good).split())
    text = written(bad)
    assert f"; tuned, below {PEERS[0]}, {PEERS[1]} and {PEERS[2]}; tuned, with a margin, below" in " ".join(
        text.split()
    )
    assert "is significant" in verdict(bad, how=BEST)
    assert "not below" not in verdict(bad, how=BEST)
    assert text.count("\n## ") == 8


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


@pytest.mark.parametrize("section", [where_to_search, how_it_learns, cost])
def test_the_page_shows_what_was_measured_apart_from_it(shown: str, section: Callable[[], str]) -> None:
    assert page(section(), fold=True).strip() in shown


def test_what_is_measured_takes_the_place_of_its_part_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "measured.json"
    kept.write_bytes(measured.FILE.read_bytes())
    monkeypatch.setattr(measured, "FILE", kept)
    monkeypatch.setattr(measured, "ROOT", tmp_path)
    before = settings()
    keep("seconds", lambda _: {OURS: 0.5})
    assert (seconds(), settings()) == ({OURS: 0.5}, before)
    keep("settings", lambda _: {"MQ2008": {OURS: {"leaves": {"4 to 8": Gain(-0.0, 0.001)}}}})
    assert settings() == {("MQ2008", OURS): {("leaves", "4 to 8"): Gain(0.0, 0.001)}}


def test_settings_are_told_by_quarters_of_the_wide_space() -> None:
    shown = {part for of in settings().values() for part in of}
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
