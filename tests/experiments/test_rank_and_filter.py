"""The page on rankers that filter: what it computes, and that the documentation shows what is computed now."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from experiments import publish, rank_and_filter
from experiments.peers import LightGBM
from experiments.rank_and_filter.figures import values as figure
from experiments.rank_and_filter.page import SETTINGS, written
from experiments.rank_and_filter.rows import JOINT, OPTIMAL, OURS, PEER, rows
from experiments.rank_and_filter.settings import FORUM, MEASURE, MEASURES, REVIEWS, SEEDS, setting
from experiments.rank_and_filter.trials import KNOWN_GAINS, KNOWN_SHARES, Outcome, Task, Values, judged
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
        assert text.count("**significantly more than each of the 14 peers**") == len(SETTINGS)
        loses = {name: drawn(name, names, better=("LightGBM binary",)) for name in SETTINGS}
        text = " ".join(written(loses, data).split())
        assert "significantly more than each" not in text
        assert "to LightGBM binary (−0.1" in text

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
        return Examples.of_arrays(x, labels, np.repeat(np.arange(queries), 5))

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
