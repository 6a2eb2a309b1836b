"""The page on rankers that filter: what it computes, and that the documentation shows what is computed now."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from experiments import publish, rank_and_filter
from experiments.markdown import percent
from experiments.peers import CatBoost, CatBoostFilter, LightGBM
from experiments.rank_and_filter.figures import values as figure
from experiments.rank_and_filter.page import SETTINGS, written
from experiments.rank_and_filter.rows import FILTER, JOINT, OPTIMAL, OURS, OWN_CUT, PEER, YETIRANK, rows
from experiments.rank_and_filter.settings import FOLDS, FORUM, MEASURE, MEASURES, REVIEWS, SEEDS, looked_at, setting
from experiments.rank_and_filter.trials import KNOWN_GAINS, KNOWN_SHARES, Outcome, Task, Values, _sharing, judged
from experiments.rank_and_filter.values import with_deviation
from ranksift.collection.examples import Examples, Fold
from ranksift.cutoffs.threshold import GlobalCutoff
from ranksift.evaluation.evaluate import ready_measures
from ranksift.evaluation.significance import holm
from ranksift.learning.validation import HeldOut, Scored

PAGE = publish.DOCS / "rank-and-filter.md"


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    absent = [name for name in rank_and_filter.NEEDS if not (data_dir / name).is_dir()]
    if absent:
        pytest.skip(f"no {absent[0]} in {data_dir}: set RANKSIFT_DATA")
    return data_dir


def drawn(setting_name, names, better=(), seeds=2, queries=40):
    """Values of some rankers, drawn at random; some rankers are better by 0.1."""
    draw = np.random.default_rng(0)
    known = [KNOWN_SHARES, KNOWN_GAINS] if setting_name == REVIEWS else []
    shape = (queries, len(MEASURES))
    base = draw.random(shape)

    def of(name):
        top = 0.5 + 0.3 * base + 0.05 * draw.random(shape) + 0.1 * (name in better)
        return tuple(Values(top + 0.001 * s, np.ones(shape)) for s in range(seeds))

    every = [*names, *known]
    return Outcome(setting_name, tuple(every), tuple(of(name) for name in every))


class TestOutcome:
    def test_against_is_a_paired_t_test_of_means_over_seeds_with_holms_correction(self):
        outcome = drawn(FORUM, list(rows()), better=(JOINT,))
        peers = outcome.peers
        found = outcome.against(JOINT, peers)

        def means(name):
            return np.mean([v.top[:, 0] for v in outcome.values[outcome.names.index(name)]], axis=0)

        plain = np.array([ttest_rel(means(JOINT), means(peer)).pvalue for peer in peers])
        np.testing.assert_allclose([found[peer][1] for peer in peers], holm(plain), rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(
            [found[peer][0] for peer in peers], [(means(JOINT) - means(peer)).mean() for peer in peers], atol=1e-12
        )

    def test_groups_and_the_best(self):
        outcome = drawn(FORUM, list(rows()), better=("XGBoost rank:ndcg",))
        assert outcome.best(PEER) == "XGBoost rank:ndcg"
        assert outcome.group(OURS) == [JOINT, OPTIMAL]
        assert outcome.wins("XGBoost rank:ndcg", JOINT) == 2


class TestPage:
    def test_it_says_so_where_ours_beats_every_peer_and_where_not(self, data):
        names = list(rows())
        wins = {name: drawn(name, names, better=(JOINT,)) for name in SETTINGS}
        text = " ".join(written(wins, data).split())
        assert text.count("**significantly more than each of the 20 peers**") == len(SETTINGS)
        loses = {name: drawn(name, names, better=("LightGBM binary",)) for name in SETTINGS}
        text = " ".join(written(loses, data).split())
        assert "significantly more than each" not in text
        assert text.count("but not than LightGBM binary (−0.") == 2 * len(SETTINGS)

    def test_a_loss_of_the_paper_that_ours_do_not_beat_is_named(self, data):
        names = list(rows())
        ours = {name: drawn(name, names, better=(JOINT, OPTIMAL)) for name in SETTINGS}
        assert "significantly better than it" not in written(ours, data)
        paper = {name: drawn(name, names, better=(JOINT, "trees, MSE")) for name in SETTINGS}
        text = " ".join(written(paper, data).split())
        assert text.count(", above every peer; neither of ours is significantly better than it (") == len(SETTINGS)

    def test_what_is_hidden_is_told_beside_the_best_peer(self, data):
        names = list(rows())
        more = drawn(FORUM, names, better=(JOINT, OPTIMAL))
        found = {name: more if name == FORUM else drawn(name, names, better=(JOINT, OPTIMAL)) for name in SETTINGS}
        text = " ".join(written(found, data).split())
        assert f"{FORUM}: {JOINT} {percent(more.mean(JOINT, 'GoodFiltered'), 0)} and" in text
        assert "leave more queries empty than the best peer in three of three settings" in text
        assert "leave more queries empty" not in written(
            {name: drawn(name, names, better=("LightGBM binary",)) for name in SETTINGS}, data
        )

    def test_the_share_of_questions_that_defaults_were_chosen_on_is_told(self, data):
        found = {name: drawn(name, list(rows())) for name in SETTINGS}
        seen = {
            *setting(FORUM, 0, data).folds[0].train.query_ids,
            *setting(FORUM, 0, data).folds[0].validation.query_ids,
        }
        judged_on = setting(FOLDS, 0, data).test.query_ids
        share = sum(query in seen for query in judged_on) / len(judged_on)
        assert looked_at(data) == pytest.approx(share)
        assert " ".join(written(found, data).split()).count(f"{percent(share, 0)} of these questions") == 2

    def test_the_figure_shows_every_ranker(self):
        names = list(rows())
        found = {name: drawn(name, names) for name in SETTINGS}
        drawing = figure(found)
        outcome = found[FORUM]
        assert all(name in drawing for name in outcome.group(OURS, PEER))
        assert drawing == figure(found)

    @pytest.mark.parametrize("name", ["trees, BCE", JOINT])
    def test_the_documentation_shows_what_is_computed_now(self, data, name):
        values = tuple(judged(data, Task(FORUM, (name,), seed))[0] for seed in range(SEEDS[FORUM]))
        found = with_deviation(Outcome(FORUM, (name,), (values,)), name)
        text = PAGE.read_text("utf-8")
        section = text[text.index("## Forum, test") :]
        row = next(line for line in section.splitlines() if line.startswith(f"| {name} |"))
        assert row.split(" | ")[1] == found


def test_no_query_is_learned_from_and_judged(data):
    for name in SETTINGS:
        for fold in setting(name, 0, data).folds:
            if name == REVIEWS:  # products of three draws, with numbers for names
                continue
            assert not set(fold.test.query_ids) & {*fold.train.query_ids, *fold.validation.query_ids}


@pytest.fixture(scope="module")
def parts():
    draw = np.random.default_rng(0)

    def some(queries):
        x = draw.normal(size=(5 * queries, 3))
        labels = np.where(x[:, 0] + 0.7 * draw.normal(size=len(x)) > 0.3, 1, -1)
        return Examples.from_arrays(x, labels, np.repeat(np.arange(queries), 5))

    return some(150), some(60), some(60)


class TestPeers:
    def test_the_number_of_trees_is_the_best_on_validation_with_its_best_cut(self, parts):
        train, validation, _ = parts
        usual = {"gains": {-1: -10}, "measure": MEASURE, "objective": "binary", "trees": 60, "step": 20}
        model = LightGBM(**usual).fit(train, validation)
        values = {}
        for trees in (20, 40, 60):
            fixed = LightGBM(**{**usual, "trees": trees, "step": trees}).fit(train, validation)
            values[trees] = GlobalCutoff(MEASURE).fit_lists(fixed.judged(validation).lists({-1: -10})).value_
        assert model.trees_ == max(values, key=values.get)
        assert model.cutoff_.value_ == pytest.approx(max(values.values()), abs=1e-12)

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

    def test_a_filter_drops_documents_from_the_ranking_of_another_model(self, parts):
        pytest.importorskip("catboost", reason="catboost is of the extra experiments")
        train, validation, test = parts
        usual = {"gains": {-1: -10}, "measure": MEASURE, "trees": 20, "depth": 3}
        ranking = CatBoost("YetiRank", **usual).fit(train, validation)
        model = CatBoostFilter(cut="zero", **usual).fit(train, validation)
        np.testing.assert_array_equal(model.score(test), ranking.score(test))
        kept = model.judged(test).kept
        np.testing.assert_array_equal(kept, model._score(test.features) >= 0)
        assert 0 < kept.sum() < len(test)
        # Documents it keeps are good ones more often, so that its score has the right sign.
        assert test.labels[kept].mean() > test.labels[~kept].mean() + 0.5

    def test_a_filter_learns_from_rows_in_the_order_of_trees_that_did_not_see_them(self, parts, monkeypatch):
        train, validation, _ = parts
        seen = {}

        def grown(self, examples, gain):
            seen[self.objective, len(examples)] = examples
            # Trees of all training documents would rank the other way round.
            return lambda x, n: x[:, 0] if len(examples) < len(train) else -x[:, 0]

        monkeypatch.setattr(CatBoost, "grown", grown)
        CatBoostFilter(gains={-1: -10}, measure=MEASURE, seed=7, trees=10).fit(train, validation)
        rows_given = seen["StochasticFilter", len(train)]
        assert sorted(size for kind, size in seen if kind == "YetiRank") == [500, 750]
        first = rows_given.features[:, 0].reshape(-1, 5)
        assert (np.diff(first, axis=1) <= 0).all()
        assert (np.sort(first, axis=1) == np.sort(train.features[:, 0].reshape(-1, 5), axis=1)).all()

    def test_rows_of_catboost_share_trees(self):
        shared = _sharing(list(rows()))
        together = next(names for names in shared if YETIRANK in names)
        assert f"{FILTER}, {OWN_CUT}" in together
        assert len(together) == 3
        assert sum(len(names) for names in shared) == len(rows())

    def test_held_out_values_count_the_own_cut_for_all_measures(self, parts):
        train, validation, test = parts
        row = rows()[JOINT]
        ranker = row.ranker({-1: -10}, 0)
        held_out = HeldOut.of([Scored(ranker, Fold(train, validation, test))], ranker, asked=True)
        measure = ready_measures(["GoodFiltered"])[0]
        model = ranker.clone().fit(train, validation)
        good = test.labels > 0
        expected = float((good & (model.scored(test) < 0)).sum() / good.sum())
        assert held_out.value(measure) == pytest.approx(expected, abs=1e-12)
