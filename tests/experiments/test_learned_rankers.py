"""The page on eight learners: what it computes, and that its results are that.

To tune all of them takes minutes, so that quick learners on MQ2008 are held to what is kept.
"""

from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from experiments.bounds import printed
from experiments.bounds.letor import Collection as Systems
from experiments.bounds.pairs import significant
from experiments.bounds.readings import DCG_EXACT, KS, Measured, over_k
from experiments.experiment import rounded
from experiments.learned_rankers import EXPERIMENT
from experiments.learned_rankers.fits import Task, scores
from experiments.learned_rankers.measure import (
    SHOWN,
    apart,
    order_by,
    printed_order,
    swaps_of_collections,
    swaps_of_sets,
    told,
    trials_of,
)
from experiments.learned_rankers.measure import scores as scores_of
from experiments.learned_rankers.methods import METHODS
from experiments.learned_rankers.words import best, every_reading, row
from experiments.learning import mq2008
from ranksift.collection.examples import Examples
from ranksift.learning.search_space import Space
from tests.experiments import claims


@pytest.fixture(scope="module")
def guessed() -> Measured:
    """Eight systems on 600 queries, each nearer to the labels than the one before."""
    random = np.random.default_rng(0)
    labels = random.choice(3, p=(0.8, 0.15, 0.05), size=(600, 35)).ravel()
    examples = Examples.from_arrays(np.zeros((len(labels), 1)), labels, np.repeat(np.arange(600), 35))
    noise = random.normal(size=(len(METHODS), len(labels)))
    runs = {name: examples.run((1 + 0.1 * i) * labels + noise[i], name=name) for i, name in enumerate(METHODS)}
    return Measured.of(Systems("MQ2008", examples.qrels(), runs, {}, ()))


@pytest.mark.parametrize("method", ["RankBoost", "L2 logistic regression"])
def test_results_are_what_is_tuned_now(data_dir: Path, method: str) -> None:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    collection = mq2008(data_dir)
    with threadpool_limits(1):  # as in the processes of the experiment
        found = [scores(Task(fold, method)) for fold in collection.folds]
    runs = collection.runs(dict.fromkeys((method, "copy"), found))
    measured = Measured.of(Systems("MQ2008", collection.qrels, runs, {}, ()))
    kept = EXPERIMENT.kept["collections"][0]["scores"]
    for name, version in SHOWN.items():
        means = rounded(scores_of(measured, *version)[method]["means"])
        assert not [*claims.apart(means, kept[name][method]["means"])]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("collections", 1, "apart", "differ"), 9, "The eight methods are close"),
        (("collections", 1, "apart", "differ"), 4, "Of methods that close there is hardly an order"),
        (("alike", "MAP"), 0.5, "they do not agree"),
        (
            ("collections", 1, "readings", "MSP, exact", "conflicts", "ideal", 1, "paired"),
            0,
            "not clearly more frequent",
        ),
        (
            ("collections", 0, "readings", "DCG", "significant", "all", 0, "unpaired"),
            1,
            "no pair differs on all queries",
        ),
        (("collections", 0, "readings", "DCG", "differences", "all", "shifted"), 0.5, "but are uninformative"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in claims.failing(EXPERIMENT, path, value)


def test_findings_about_all_readings_fail_where_these_say_otherwise() -> None:
    results = EXPERIMENT.kept
    for reading in every_reading(results["collections"]):
        reading["tau"]["ideal"] = reading["tau"]["uninformative"]
        reading["significant"]["all"][2]["paired"] = printed.TESTED
    wrong = " ".join(claim.sentence for claim in EXPERIMENT.made_of(results).claims if not claim.holds)
    assert "mostly more so on uninformative queries" in wrong
    assert "V2 does not tell more methods apart" in wrong


def test_every_learner_stands_beside_a_printed_one() -> None:
    assert [method.printed for method in METHODS.values()] == list(printed.NDCG)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_given_is_one_of_the_settings(name: str) -> None:
    method = METHODS[name]
    tried = Space.of(method.space, method.ranker).candidates(method.ranker, method.settings, 0)
    assert len(tried) == method.settings == (2 if name in ("AdaRank", "Coordinate Ascent") else 6)


def test_sets_of_a_small_collection(guessed: Measured) -> None:
    types = trials_of(guessed)[DCG_EXACT].types
    assert (len(types.queries), len(types.uninformative), len(types.ideal)) == (600, 250, 250)


def test_learners_are_ordered_by_their_mean_over_k(guessed: Measured) -> None:
    means = order_by(guessed, DCG_EXACT, 0)
    found = {"scores": {"nDCG": scores_of(guessed, *SHOWN["nDCG"])}}
    assert best(found) == list(METHODS)[int(means.argmax())] == "LambdaMART"
    assert means.tolist() == over_k(guessed.scores, "nDCG").tolist()
    assert printed_order(DCG_EXACT, 0)[0] == pytest.approx(np.mean(printed.NDCG["ARank"]))


def test_letters_are_of_learners_that_are_significantly_worse(guessed: Measured) -> None:
    cells = row(scores_of(guessed, DCG_EXACT, 0), "LambdaMART")
    assert len(cells) == len(KS)
    assert all(cell.startswith("**") and "a" in cell.split()[1] for cell in cells)
    found = apart(guessed)
    assert found["of"] == 28
    assert 0 < found["differ"] < 28


def test_swaps_between_a_collection_and_itself_are_none(guessed: Measured) -> None:
    trial = trials_of(guessed)[DCG_EXACT]
    assert swaps_of_collections(trial, trial, "ideal") == [0, 0, 0]
    assert all(0 <= rate <= 1 for rate in swaps_of_sets(trial))


@pytest.mark.filterwarnings("ignore::ranksift.errors.RankSiftWarning")
def test_a_page_is_made_whatever_the_learners_are(guessed: Measured) -> None:
    page = EXPERIMENT.made_of(rounded(told([guessed, guessed])))
    text = page.files[EXPERIMENT.page]
    trial = trials_of(guessed)[DCG_EXACT]
    pair = " / ".join(str(round(140 * significant(trial, "all", 0, paired=paired))) for paired in (True, False))
    assert f"| DCG | nDCG | {pair} |" in text
    assert text.count("\n## ") == 7
    flat = " ".join(text.split())
    assert "and two of AdaRank and Coordinate Ascent." in flat
    assert "LambdaMART (6): leaves 7, 15, 31 × learning_rate 0.05, 0.1 |" in flat
    wrong = " ".join(claim.sentence for claim in page.claims if not claim.holds)
    assert "The eight methods are close" in wrong
    assert "hardly an order" in wrong
