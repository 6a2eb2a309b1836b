"""The page on rankers that filter: what it computes, and that the documentation shows what was measured.

All fits take more than an hour, so that some rankers are fitted again, with one seed, and held to what was kept.
"""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import ttest_rel

from experiments import experiment
from experiments.peers import LightGBM
from experiments.rank_and_filter import EXPERIMENT
from experiments.rank_and_filter import trials as command
from experiments.rank_and_filter.again import again
from experiments.rank_and_filter.made_up import LABELS, made_up
from experiments.rank_and_filter.measure import Judged, Task, judged, known, summary, values_of
from experiments.rank_and_filter.outcomes import Gain, Outcome, above_all, below_peers, below_trivial, outcomes
from experiments.rank_and_filter.rows import (
    AT_0,
    DIALLED,
    EVERYTHING,
    HIDDEN,
    IN_TURN,
    JOINT,
    KNOWN,
    MEASURE,
    MEASURES,
    NOTHING,
    OPTIMAL,
    OURS,
    PEER,
    PLAIN,
    WEIGHTED,
    rows,
)
from experiments.rank_and_filter.settings import FORUM, LONG, SEEDS, SETTINGS, THREADS, data_of
from experiments.rank_and_filter.words import below
from experiments.rank_and_filter.worlds import USE, World, lists_of, shift_for, values, worlds
from experiments.rank_and_filter.worlds import Task as WorldTask
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.cutoffs.threshold import GlobalCutoff
from ranksift.learning.lambdas import worth_of_showing
from tests.experiments.claims import failing


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {absent[0]} in {data_dir}: set RANKSIFT_DATA")
    return data_dir


def text_of(found: dict) -> str:
    return " ".join(EXPERIMENT.made_of(found).files[EXPERIMENT.page].split())


def with_gain(found: dict, ours: str, others: list[str], gain: list[float]) -> dict:
    """The same, where ours is so far from others in all settings: difference, standard error and p."""
    changed = deepcopy(found)
    for setting in changed["settings"].values():
        for name in others:
            if name in setting["against"][ours]:
                setting["against"][ours][name] = gain
    return changed


class TestDocumentation:
    @pytest.mark.parametrize(
        ("setting", "names"),
        [(FORUM, (NOTHING, "LightGBM binary", JOINT, OPTIMAL)), (LONG[3], (EVERYTHING, AT_0, JOINT, OPTIMAL))],
    )
    def test_what_was_measured_is_what_is_computed_now(self, data, setting, names):
        for one in again(data, Task(setting, names, 0)):
            assert one.apart < 1e-5, one

    def test_all_rankers_and_settings_are_in_the_tables(self):
        shown = EXPERIMENT.made_of(EXPERIMENT.kept).files[EXPERIMENT.page]
        section = shown[shown.index("## Every ranker") : shown.index("## What was chosen")]
        for setting in SETTINGS:
            own = section[section.index(f"**{setting.name[0].upper()}{setting.name[1:]}** (") :]
            first = own.split("\n| **")[0]
            names = [name for name, row in rows().items() if row.where is None or setting.data in row.where]
            assert all(f"\n| {name} |" in first for name in names if "LambdaMART-f, " not in name)
            assert (
                len(EXPERIMENT.kept["settings"][setting.name]["rows"][JOINT]["values"][MEASURE]) == SEEDS[setting.data]
            )


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("settings", FORUM, "rows", PLAIN, "harm"), [0.5] * len(HIDDEN), "comes near it"),
        (("settings", FORUM, "rows", JOINT, "harm"), [0.0] * len(HIDDEN), "a plain classifier with a tuned threshold"),
        (("settings", "product reviews", "rows", KNOWN, "harm"), [0.0] * len(HIDDEN), "by the known chances shows on"),
        (("settings", FORUM, "rows", "LightGBM binary", "seconds"), 100.0, "as its trees take longest"),
        (("shifts", "-3, 200", JOINT), 0.7, "the validation set, are worth having"),
        (("worlds", "1, 0.5, 10, useless", OPTIMAL), [[0.0] * 5], "where lists are long and few"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path, value, words):
    assert words in failing(EXPERIMENT, path, value)


class TestVerdict:
    def test_it_says_first_what_does_not_hold(self):
        found = EXPERIMENT.kept
        peers = outcomes(found)[0].group(PEER, WEIGHTED)
        lost = with_gain(found, JOINT, ["LightGBM binary"], [-0.05, 0.001, 1e-9])
        text = text_of(lost)
        assert text.index("**What does not hold**") < text.index("**LambdaMART-f** (b) is significantly below")
        assert text.index("**LambdaMART-f** (b) is significantly below") < text.index("**What holds**")
        won = with_gain(with_gain(found, JOINT, peers, [0.05, 0.001, 1e-9]), OPTIMAL, peers, [0.05, 0.001, 1e-9])
        for ours in (JOINT, OPTIMAL):
            won = with_gain(won, ours, [NOTHING, EVERYTHING], [0.05, 0.001, 1e-9])
        for setting in DIALLED:
            for ours in (JOINT, OPTIMAL):
                won["settings"][setting]["rows"][ours]["harm"] = [0.0] * len(HIDDEN)
        text = text_of(won)
        assert "**Everything that was asked for holds.**" in text
        assert "as libraries have them, in 12 of 12 settings (" in text
        assert "it is in 12, which is half or more." in text

    def test_half_goes_by_peers_as_libraries_have_them(self):
        found = EXPERIMENT.kept
        peers = outcomes(found)[0].group(PEER)
        won = with_gain(found, JOINT, peers, [0.05, 0.001, 1e-9])
        but = text_of(with_gain(won, JOINT, [IN_TURN], [0.05, 0.04, 0.2]))
        told = but[but.index("**LambdaMART-f** (c)") :]
        assert "in 12 of 12 settings" in told[:300]
        assert f"With {IN_TURN}, it is in none, which is less than half." in told[:1200]

    def test_below_nothing_shown_counts_from_a_standard_error_on(self):
        for value, fails in ((-0.009, 0), (-0.011, len(SETTINGS))):
            found = outcomes(with_gain(EXPERIMENT.kept, OPTIMAL, [NOTHING], [value, 0.01, 0.3]))
            below = [name for _, name, _ in below_trivial(found, OPTIMAL) if name == NOTHING]
            assert len(below) == fails

    def test_one_peer_that_is_not_beaten_is_enough(self):
        found = EXPERIMENT.kept
        peers = outcomes(found)[0].group(PEER)
        won = with_gain(found, JOINT, peers, [0.05, 0.001, 1e-9])
        assert len(above_all(outcomes(won), JOINT)) == len(SETTINGS)
        but = with_gain(won, JOINT, ["XGBoost rank:ndcg, with context"], [0.05, 0.04, 0.2])
        assert above_all(outcomes(but), JOINT) == []
        assert below_peers(outcomes(won), JOINT) == [
            (o, name, gain) for o in outcomes(won) for name, gain in o.peers(JOINT).items() if gain.loses
        ]

    def test_settings_with_few_queries_do_not_count(self):
        few = [s.name for s in SETTINGS if not s.counts]
        assert few == ["MSLR, label 0 at −2", "MSLR, label 0 at −10"]
        found = deepcopy(EXPERIMENT.kept)
        for name in few:
            found["settings"][name]["against"][JOINT]["LightGBM binary"] = [-0.5, 0.001, 1e-9]
        told = text_of(found)
        assert "MSLR, label 0 at −2: −0.5" not in told
        assert "do not count" in told

    def test_p_has_holms_correction_over_all_peers(self):
        of = {"a": [0.01, 0.004, 0.01], "b": [0.02, 0.004, 0.001], "c": [-0.01, 0.009, 0.3]}
        outcome = Outcome("s", True, {"against": {JOINT: of}})
        found = outcome.against(JOINT, ["a", "b", "c"])
        assert [found[name].p for name in "abc"] == pytest.approx([0.02, 0.003, 0.3])
        assert found["a"].wins
        assert not Gain(0.01, 0.1, 0.2).wins
        assert not found["c"].loses


class TestWorlds:
    def test_what_was_measured_is_what_is_computed_now(self):
        world = World(10, 0.2, 10, USE[0])
        for name, own in values(WorldTask(world, 0)).items():
            assert EXPERIMENT.kept["worlds"][world.name][name][0] == pytest.approx(own, rel=1e-4, abs=1e-5), name

    def test_below_is_by_more_than_a_standard_error(self):
        found = {world.name: {JOINT: [[0.5, 0.1, 0.01, -0.009, 0.01]]} for world in worlds()}
        assert below(found, JOINT) == []
        found[worlds()[3].name][JOINT] = [[0.5, -0.02, 0.01, 0.1, 0.01]]
        assert below(found, JOINT) == [(worlds()[3], NOTHING, pytest.approx(-0.02), pytest.approx(0.01))]

    @pytest.mark.parametrize("share", [0.05, 0.95])
    def test_a_world_has_the_share_of_forbidden_documents_that_it_names(self, share):
        made = lists_of(World(10, share, 1, USE[0]), 20_000, 3, shift_for(share))
        assert float((made.examples.labels < 0).mean()) == pytest.approx(share, abs=0.01)

    def test_useless_features_are_those_of_other_documents(self):
        useful, useless = (lists_of(World(10, 0.5, 1, use), 5_000, 3, 0.0).examples for use in USE)
        assert (useful.labels == useless.labels).all()
        assert not np.array_equal(useful.features, useless.features)
        assert np.array_equal(np.sort(useful.features, axis=0), np.sort(useless.features, axis=0))


class TestTrials:
    def test_settings_share_trees_and_differ_in_cuts(self, data):
        name = "LightGBM binary"
        found = judged(data, Task("MSLR", (name,), 0))
        assert [setting for setting, _ in found] == ["MSLR, label 0 at −2", "MSLR, label 0 at −10"]
        values = [values_of(own)[3] for own in found.values()]
        assert values[1] >= values[0]  # a higher penalty hides more

    def test_summary_is_of_means_over_seeds(self):
        draw = np.random.default_rng(0)
        made = made_up(40, 5, seed=0).examples
        queries = tuple(sorted(made.query_ids))

        def seeds():
            ones = np.ones((40, len(MEASURES)))
            return [Judged(queries, draw.random((40, len(MEASURES))), ones, 1.0) for _ in range(2)]

        found = {name: seeds() for name in (JOINT, OPTIMAL, NOTHING)}
        told = summary(SETTINGS[0], made, found)
        means = {name: np.mean([own.top[:, 0] for own in of], axis=0) for name, of in found.items()}
        value, error, p = told["against"][JOINT][NOTHING]
        apart = means[JOINT] - means[NOTHING]
        assert value == pytest.approx(apart.mean())
        assert error == pytest.approx(apart.std(ddof=1) / np.sqrt(40))
        assert p == pytest.approx(ttest_rel(means[JOINT], means[NOTHING]).pvalue)
        assert told["forbidden"] == pytest.approx((made.labels < 0).mean())

    def test_no_ranker_is_above_known_chances_by_more_than_chance(self):
        for outcome in outcomes(EXPERIMENT.kept):
            if KNOWN in outcome.found["rows"]:
                for ours in (JOINT, OPTIMAL):
                    value, error, _ = outcome.found["against"][ours][KNOWN]
                    assert value < 3 * error

    def test_less_is_hidden_where_more_harm_is_shown(self):
        harm = EXPERIMENT.kept["settings"][FORUM]["rows"][JOINT]["harm"]
        assert len(harm) == len(HIDDEN)
        assert (np.diff(harm) <= 1e-12).all()
        assert harm[-1] == 0.0

    def test_what_is_measured_takes_the_place_of_its_setting_only(self, tmp_path, monkeypatch):
        before = EXPERIMENT.kept
        folder = tmp_path / "experiments" / EXPERIMENT.name
        folder.mkdir(parents=True)
        (folder / "results.json").write_bytes((EXPERIMENT.folder / "results.json").read_bytes())
        monkeypatch.setattr(experiment, "ROOT", tmp_path)
        monkeypatch.setattr(command, "trials", lambda folder, wanted: {wanted[0]: {"queries": 1 / 3}})
        command.keep([FORUM])
        assert EXPERIMENT.kept["settings"] == {**before["settings"], FORUM: {"queries": 0.333333333}}
        assert EXPERIMENT.kept["lengths"] == before["lengths"]


def test_no_query_is_learned_from_and_judged(data):
    for name in (FORUM, THREADS, "PerCQA", "MQ2008", "MSLR"):
        for fold in data_of(name, 0, data).folds:
            assert not set(fold.test.query_ids) & {*fold.train.query_ids, *fold.validation.query_ids}
            assert not set(fold.train.query_ids) & set(fold.validation.query_ids)


class TestMadeUp:
    def test_labels_are_drawn_by_their_chances_whatever_the_length(self):
        for length, queries in ((1, 20_000), (200, 100)):
            made = made_up(queries, length, seed=3)
            shares = (made.examples.labels[:, None] == LABELS).mean(axis=0)
            np.testing.assert_allclose(shares, made.chances.mean(axis=0), atol=0.015)
            assert 0.4 < shares[0] < 0.6

    def test_known_chances_are_the_best_order_and_cut(self, data):
        setting = next(s for s in SETTINGS if s.name == LONG[10])
        found = data_of(LONG[10], 0, data)
        best = values_of(known(found, setting))[0]
        assert best == pytest.approx(
            EXPERIMENT.kept["settings"][LONG[10]]["rows"][KNOWN]["values"][MEASURE][0], abs=1e-5
        )
        assert best > max(np.mean(row["values"][MEASURE]) for row in _others(EXPERIMENT.kept["settings"][LONG[10]]))


def _others(setting):
    return [row for name, row in setting["rows"].items() if name != KNOWN]


@pytest.fixture(scope="module")
def parts():
    draw = np.random.default_rng(0)

    def some(queries):
        x = draw.normal(size=(5 * queries, 3))
        labels = np.where(x[:, 0] + 0.7 * draw.normal(size=len(x)) > 0.3, 1, -1)
        return Examples.from_arrays(x, labels, np.repeat(np.arange(queries), 5))

    return some(150), some(60), some(60)


class TestPeers:
    usual: ClassVar = {"gains": {-1: -10}, "measure": MEASURE, "objective": "binary", "trees": 60, "step": 20}

    def test_trees_and_leaves_are_the_best_on_validation_with_their_best_cut(self, parts):
        train, validation, _ = parts
        model = LightGBM(**self.usual, or_leaves=(4,)).fit(train, validation)
        values = {}
        for leaves in (15, 4):
            for trees in (20, 40, 60):
                fixed = LightGBM(**{**self.usual, "trees": trees, "step": trees, "leaves": leaves})
                scores = fixed.fit(train, validation).judged(validation)
                values[leaves, trees] = GlobalCutoff(MEASURE).fit_lists(scores.lists({-1: -10})).value_
        assert model.trees_ == max(values, key=values.get)[1]
        assert model.cutoff_.value_ == pytest.approx(max(values.values()), abs=1e-12)

    def test_weights_are_what_a_document_can_change(self, parts):
        train, validation, test = parts
        model = LightGBM(**self.usual, weighted=True)
        gain = Gains.of({-1: -10})(train.labels)
        change = np.abs(worth_of_showing(train.offsets, gain, 3))
        np.testing.assert_allclose(model.weights(train, gain), change / change.mean())
        plain = LightGBM(**self.usual).fit(train, validation)
        # Told that a forbidden document costs more than a good one wins, trees find fewer good enough.
        assert (model.fit(train, validation).score(test) >= 0).mean() < (plain.score(test) >= 0).mean()

    def test_another_penalty_has_the_same_trees_and_its_own_expectations(self, parts):
        train, validation, test = parts
        of = {**self.usual, "objective": "multiclass"}
        models = [LightGBM(**{**of, "gains": {-1: g}, "step": 60}).fit(train, validation) for g in (-2, -10)]
        assert models[1].spared_ > 0
        mild, harsh = (model.score(test) for model in models)
        np.testing.assert_allclose((1 - mild) / 3, (1 - harsh) / 11)  # the chance to be forbidden

    def test_a_cut_at_0_is_a_cut_at_0(self, parts):
        train, validation, test = parts
        model = LightGBM("binary", "zero", gains={-1: -10}, measure=MEASURE, trees=20).fit(train, validation)
        assert model.cutoff_.threshold_ == 0.0
        assert len(model.rank(test)) == int((model.score(test) >= 0).sum())

    def test_a_plain_measure_has_no_cut(self, parts):
        train, validation, test = parts
        model = LightGBM("lambdarank", measure="nDCG@10", trees=20).fit(train, validation)
        assert model.cutoff_ is None
        assert len(model.rank(test)) == len(test)


def test_rows_have_their_groups():
    assert [name for name, row in rows().items() if row.group == OURS] == [JOINT, OPTIMAL]
    assert rows()[PLAIN].ranker({-1: -10}, 0).measure == "DCG@3"


class TestPeersInTurn:
    """Peers that hold queries out in turn, as ours do."""

    def test_no_tree_says_anything_of_a_query_that_it_has_learned(self, monkeypatch):
        from experiments.peers import LightGBM

        train, validation = (made_up(40, 5, seed).examples for seed in (1, 2))
        validation = replace(validation, query_ids=tuple(f"v{name}" for name in validation.query_ids))
        seen = []
        grown = LightGBM.grown

        def noted(self, examples, gain):
            staged, own = grown(self, examples, gain), set(map(bytes, examples.features))

            def spoken(x, n):
                seen.append(own.isdisjoint(map(bytes, x)))
                return staged(x, n)

            return spoken

        monkeypatch.setattr(LightGBM, "grown", noted)
        peer = LightGBM("binary", folds=4, trees=20, step=10, gains={-1.0: -10.0}, measure="nDCG_f@3")
        peer.fit(train, validation)
        assert len(seen) == 8
        assert all(seen)
        test = made_up(5, 5, 3).examples
        each = [staged(test.features, peer.trees_) for staged in peer._staged]
        np.testing.assert_allclose(peer.score(test), np.mean(each, axis=0))
        assert len(each) == 4
