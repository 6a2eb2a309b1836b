"""The page on eight learners: what it computes, and that the documentation shows what is computed now.

The whole page takes minutes, so that the rows of a quick learner on MQ2008 are held to what is computed.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from experiments import learned_rankers, publish
from experiments.bounds import printed
from experiments.bounds.letor import Collection as Systems
from experiments.bounds.pairs import significant
from experiments.bounds.readings import DCG_EXACT, KS, Measured, over_k
from experiments.learned_rankers.fits import Task, scores
from experiments.learned_rankers.methods import METHODS
from experiments.learned_rankers.page import apart, best, written
from experiments.learned_rankers.tables import (
    SHOWN,
    compared,
    order_by,
    printed_order,
    row,
    swaps_of_collections,
    swaps_of_sets,
    trials_of,
)
from experiments.learning import mq2008
from ranksift.collection.examples import Examples
from ranksift.learning.search_space import Space


@pytest.fixture(scope="module")
def shown() -> str:
    return (publish.DOCS / "rankers.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def guessed() -> Measured:
    """Eight systems on 600 queries, each nearer to the labels than the one before."""
    random = np.random.default_rng(0)
    labels = random.choice(3, p=(0.8, 0.15, 0.05), size=(600, 35)).ravel()
    examples = Examples.from_arrays(np.zeros((len(labels), 1)), labels, np.repeat(np.arange(600), 35))
    noise = random.normal(size=(len(METHODS), len(labels)))
    runs = {name: examples.run((1 + 0.1 * i) * labels + noise[i], name=name) for i, name in enumerate(METHODS)}
    return Measured.of(Systems("MQ2008", examples.qrels(), runs, {}, ()))


def plain(cell: str) -> str:
    """Without bold type and letters."""
    return re.sub(r"[*]| [a-z]+$", "", cell.strip())


def test_page_states_its_command(shown: str) -> None:
    assert "python -m experiments.learned_rankers" in shown
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", shown)


@pytest.mark.parametrize("method", ["RankBoost", "L2 logistic regression"])
def test_documentation_shows_the_rows_that_are_computed_now(shown: str, data_dir: Path, method: str) -> None:
    absent = [name for name in learned_rankers.NEEDS if not (data_dir / name).is_dir()]
    if absent:
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    collection = mq2008(data_dir)
    with threadpool_limits(1):  # as in the processes of the experiment
        found = [scores(Task(fold, method)) for fold in collection.folds]
    runs = collection.runs(dict.fromkeys((method, "copy"), found))
    measured = Measured.of(Systems("MQ2008", collection.qrels, runs, {}, ()))
    lines = [[plain(cell) for cell in line.split("|")[3:-1]] for line in shown.split("\n") if f"| {method} |" in line]
    for _, reading, version in SHOWN:
        own = [plain(cell) for cell in row(compared(measured, reading, version), method)]
        assert own in lines, "the page is stale: run make experiments"


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
    assert best(guessed) == list(METHODS)[int(means.argmax())] == "LambdaMART"
    assert means.tolist() == over_k(guessed.scores, "nDCG").tolist()
    assert printed_order(DCG_EXACT, 0)[0] == pytest.approx(np.mean(printed.NDCG["ARank"]))


def test_letters_are_of_learners_that_are_significantly_worse(guessed: Measured) -> None:
    found = compared(guessed, DCG_EXACT, 0)
    cells = row(found, "LambdaMART")
    assert len(cells) == len(KS)
    assert all(cell.startswith("**") and "a" in cell.split()[1] for cell in cells)
    differ, of = apart(guessed)
    assert of == 28
    assert 0 < differ < 28


def test_swaps_between_a_collection_and_itself_are_none(guessed: Measured) -> None:
    trial = trials_of(guessed)[DCG_EXACT]
    assert swaps_of_collections(trial, trial, "ideal") == [0, 0, 0]
    assert all(0 <= rate <= 1 for rate in swaps_of_sets(trial))


@pytest.mark.filterwarnings("ignore::ranksift.errors.RankSiftWarning")
def test_a_page_is_written_whatever_the_learners_are(guessed: Measured) -> None:
    text = written([guessed, guessed])
    trial = trials_of(guessed)[DCG_EXACT]
    pair = " / ".join(str(round(140 * significant(trial, "all", 0, paired=paired))) for paired in (True, False))
    assert f"| DCG | nDCG | {pair} |" in text
    assert text.count("\n## ") == 7
    flat = " ".join(text.split())
    assert "The eight methods differ" in flat
    assert "hardly an order" not in flat
    assert "and two of AdaRank and Coordinate Ascent." in flat
    assert "LambdaMART (6): leaves 7, 15, 31 × learning_rate 0.05, 0.1 |" in flat
