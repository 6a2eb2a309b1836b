"""The page on rankers of texts: what it computes, and that its results are that where no network is needed."""

from collections import Counter
from copy import deepcopy
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from experiments.text import EXPERIMENT
from experiments.text.judged import MEASURES, Said, best_cut, judged, shares
from experiments.text.measure import Task, stacked
from experiments.text.settings import (
    ALONE,
    COLLECTIONS,
    EVERY,
    FOLDS,
    JOINT,
    LOSSES,
    OPTIMAL,
    PAIRS,
    PEER_STACKED,
    PLACE,
    PLAIN,
    RECIPES,
    SETUPS,
    TABLE_SEEDS,
    THREADS,
    Collection,
    options_of,
    others,
    tasks,
)
from ranksift.collection.examples import Examples
from ranksift.datasets.threads import Answer, Thread
from tests.experiments.claims import failing

#: A row that shows little that is forbidden and hides little that is good.
CAREFUL = {"nDCG_f@3": [0.8], "nDCG_f@10": [0.8], "Fdocs@3": [0.04], "GoodFiltered": [0.3], "Empty": [0.1]}


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
    def test_a_row_without_networks_is_what_is_measured_now(self, data_dir: Path, tmp_path: Path):
        if absent := EXPERIMENT.absent(data_dir):
            pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
        found = stacked(data_dir, tmp_path, Task(THREADS, ALONE, OPTIMAL, 0))
        kept = EXPERIMENT.kept["stacks"][THREADS]["rows"][f"{ALONE}: {OPTIMAL}"]["values"]
        assert found.values == pytest.approx([kept[measure][0] for measure in MEASURES], abs=1e-6)

    def test_the_verdict_follows_the_numbers(self):
        found = deepcopy(EXPERIMENT.kept)
        before = EXPERIMENT.made_of(found).files[EXPERIMENT.page]
        rows = found["stacks"][THREADS]["rows"]
        recipe = f"{RECIPES}: {JOINT}"
        assert f"The best of what was known before (“{recipe}”)" in " ".join(before.split())
        assert np.mean(rows[recipe]["values"]["nDCG_f@3"]) >= np.mean(rows[PLAIN]["values"]["nDCG_f@3"])
        for top in (JOINT, OPTIMAL):
            rows[f"{EVERY}: {top}"]["values"]["nDCG_f@3"] = [0.1234]
            found["stacks"][THREADS]["against"][top][recipe] = [-0.5, 0.01, 0.2]
        page = EXPERIMENT.made_of(found)
        after = " ".join(page.files[EXPERIMENT.page].split())
        assert "0.1234" in after
        assert "−0.5000 ± 0.0100, p = 0.200" in after
        assert "0.1234" not in before
        assert any(claim.sentence.startswith(f"- **{THREADS}**") for claim in page.claims if not claim.holds)

    @pytest.mark.parametrize(
        ("path", "value", "words"),
        [
            (("stacks", THREADS, "against", JOINT, f"{RECIPES}: {JOINT}"), [-0.1, 0.1, 0.3], "with all four kinds"),
            (("stacks", THREADS, "against", JOINT, PEER_STACKED), [0.01, 0.01, 0.3], "The best peer on the threads"),
            (("stacks", "PerCQA", "against", JOINT, f"{RECIPES}: {JOINT}"), [0.1, 0.01, 0.01], "significant only on"),
            (("tables", "PerCQA", "rows", "bce", "values", "nDCG_f@3"), [0.9], "worth more than a better loss"),
            (("stacks", THREADS, "rows", PLAIN, "values"), CAREFUL, "on the threads no row does both"),
            (("ceilings", "PerCQA", "values", "0.2"), 0.95, "worth less than what ours already has"),
            (("stacks", "PerCQA", "rows", PLACE, "values", "nDCG_f@3"), [0.9], "the pass without labels does harm"),
        ],
    )
    def test_a_result_that_is_changed_fails_its_claim(self, path: tuple[str, ...], value: object, words: str):
        assert words in failing(EXPERIMENT, path, value)
