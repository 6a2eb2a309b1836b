"""The page on rankers of texts: what it computes, and that the documentation shows what was measured."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from experiments import publish
from experiments.text import files
from experiments.text.judged import Said, best_cut, judged, shares
from experiments.text.measured import measured
from experiments.text.page import best_recipe, mean, verdict
from experiments.text.settings import (
    COLLECTIONS,
    EVERY,
    FOLDS,
    JOINT,
    LOSSES,
    OPTIMAL,
    PAIRS,
    PLAIN,
    SETUPS,
    TABLE_SEEDS,
    Collection,
    options_of,
    others,
    tasks,
)
from ranksift.collection.examples import Examples
from ranksift.datasets.threads import Answer, Thread


def said(queries=20, documents=4, seed=0):
    """Made-up outputs: those of a network without the folds a and b are a + b / 10, and know the labels a little."""
    draw = np.random.default_rng(seed)
    labels = draw.choice([-1.0, 1.0, 2.0], queries * documents)
    texts = [f"w{n}" for n in range(len(labels))]
    query = np.repeat(np.arange(queries), documents)
    examples = Examples.from_texts([f"q{q}" for q in query], texts, labels, [f"q{q:02}" for q in query])
    fold = np.arange(queries) % FOLDS
    outputs = {}
    for a, b in PAIRS:
        rows = np.isin(fold[examples.query], (a, b))
        known = labels[rows][:, None] + draw.normal(0, 1.0, (rows.sum(), 2))
        outputs[f"net|0|{a}{b}"] = np.column_stack([np.full(rows.sum(), a + b / 10), known])
    return Said(Collection("made up", (), examples, fold, None), outputs)


class TestWhatIsSaid:
    def test_of_unseen_folds_only(self):
        found = said()
        some = found.of("net", 0, (1, 3))[:, 0]
        assert np.isnan(some).tolist() == (~np.isin(found.fold, (1, 3))).tolist()

    @pytest.mark.parametrize("test", range(FOLDS))
    def test_no_network_has_seen_the_test_fold(self, test):
        found = said()
        column = found.crossed([("net", 0)], test, slice(0, 1))[:, 0]
        without = [a + b / 10 for a, b in PAIRS if test in (a, b)]
        assert column[found.fold == test] == pytest.approx(np.mean(without))
        for other in set(range(FOLDS)) - {test}:
            a, b = min(test, other), max(test, other)
            assert column[found.fold == other] == pytest.approx(a + b / 10)

    def test_networks_are_averaged(self):
        found, more = said(), {}
        for key, own in found.outputs.items():
            more[key.replace("|0|", "|1|")] = own + 2.0
        both = Said(found.collection, {**found.outputs, **more})
        one = found.crossed([("net", 0)], 2, slice(None))
        np.testing.assert_allclose(both.crossed([("net", 0), ("net", 1)], 2, slice(None)), one + 1.0)

    def test_shares_rank_and_cut_better_than_nothing(self):
        found = said(queries=60)
        scores = shares(found, [("net", 0)])
        nothing = judged(found.examples, scores, np.zeros(len(scores), dtype=bool)).values[0]
        assert judged(found.examples, scores, scores >= 0).values[0] > nothing + 0.02

    def test_the_cut_is_the_best_of_its_documents(self):
        found = said()
        scores = np.arange(len(found.examples), dtype=float)[::-1] + 10.0 * (found.examples.labels > 0)
        where = found.fold == 1
        cut = best_cut(found.examples, scores, where)
        some = found.examples.of_queries(np.flatnonzero(found.collection.fold == 1))
        values = {c: judged(some, scores[where], scores[where] >= c).values[0] for c in (cut, *scores[where], np.inf)}
        assert values[cut] == max(values.values())


class TestTasks:
    def test_every_network_once(self):
        found = list(tasks())
        assert max(Counter((task.data, task.key) for task in found).values()) == 1
        assert len(found) == 640
        for data in COLLECTIONS:
            for loss in LOSSES:
                of_loss = [task for task in found if task.data == data and task.name == loss]
                assert len(of_loss) == FOLDS * TABLE_SEEDS
                assert sorted(task.unseen[0] for task in of_loss if task.seed == 0) == list(range(FOLDS))
            for name, setup in SETUPS[data].items():
                of_setup = [task.unseen for task in found if task.data == data and task.name == name]
                assert Counter(of_setup) == dict.fromkeys(combinations(range(FOLDS), 2), setup.seeds)

    def test_rankers_take_their_options(self):
        pytest.importorskip("torch", reason="needs the extra text")
        from ranksift.learning.text.ranker import TextRanker

        for options in (options_of(task) for task in tasks() if "CrossEncoder" not in task.name):
            TextRanker(**options).check_parameters()

    def test_no_default_decides(self):
        for options in (options_of(task) for task in tasks() if "CrossEncoder" not in task.name):
            told = {"neighbours"} if options.get("context", True) else set()
            assert {"layer_decay", "learning_rate", "epochs", "batch_size", "documents_per_query"} | told <= {*options}

    def test_what_is_shared_is_not_learned_from(self):
        known = [Thread("1", "Where is a bank?", (Answer("a", "In the city, near the old market square"),))]
        asked = Thread("2", "where is a BANK?", (Answer("a", "No idea"),))
        said = Thread("3", "And now?", (Answer("a", "In the city, near the old market square"),))
        short = Thread("4", "Thanks?", (Answer("a", "No idea"), Answer("b", "Me too")))
        assert [thread.id for thread in others([asked, said, short], known)] == ["4"]


class TestPage:
    def test_the_documentation_shows_what_was_measured(self):
        for name, text in files(publish.ROOT).items():
            assert (publish.DOCS / name).read_text("utf-8") == text, f"run python -m experiments.text for {name}"

    def test_the_verdict_follows_the_numbers(self):
        found = measured()
        before = verdict(found)
        data = COLLECTIONS[0]
        rows = found["stacks"][data]["rows"]
        recipe = best_recipe(found["stacks"][data])
        assert mean(rows[recipe]) >= mean(rows[PLAIN])
        for top in (JOINT, OPTIMAL):
            rows[f"{EVERY}: {top}"]["values"]["nDCG_f@3"] = [0.1234]
            found["stacks"][data]["against"][top][recipe] = [-0.5, 0.01, 0.2]
        after = verdict(found)
        assert "0.1234" in after
        assert "−0.5000 ± 0.0100, p = 0.200" in after
        assert "0.1234" not in before
