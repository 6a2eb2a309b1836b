"""What all rules that look at a query's list have in common, and where they must and must not win."""

import json

import numpy as np
import pytest

import ranksift as rs
from ranksift import ExpectedGainCutoff, GlobalCutoff, NormalizedCutoff, RankSiftWarning, ShapeCutoff, load_cutoff
from ranksift.collection.lists import Lists
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.rules import known_rules
from ranksift.cutoffs.sweep import Sweep
from ranksift.datasets.synthetic import synthetic_collection
from tests.cutoffs.test_shape import shifted

quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

RULES = {
    "minmax": NormalizedCutoff("nDCG_f@5", by="minmax"),
    "zscore": NormalizedCutoff("nDCG_f@5", by="zscore"),
    "top": NormalizedCutoff("nDCG_f@5", by="top"),
    "softmax": NormalizedCutoff("nDCG_f@5", by="softmax"),
    "rank": NormalizedCutoff("nDCG_f@5", by="rank"),
    "shape": ShapeCutoff("nDCG_f@5"),
    "expected gain": ExpectedGainCutoff(),
    "expected gain, isotonic": ExpectedGainCutoff(method="isotonic"),
    "expected gain, shape": ExpectedGainCutoff(features="shape"),
    "expected gain, shape, nDCG_f": ExpectedGainCutoff(features="shape", measure="nDCG_f@5"),
}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


@pytest.fixture(scope="module")
def data():
    return shifted(80, 0, 2.0)


@every_rule
class TestManners:
    def test_saved_and_read_it_keeps_the_same(self, rule, data, tmp_path):
        scores, _, groups = shifted(40, 9, 2.0)
        cut = rule.clone().fit(*data)
        cut.save(tmp_path / "cutoff.json")
        again = load_cutoff(tmp_path / "cutoff.json")
        assert type(again) is type(rule)
        assert np.array_equal(again.keep(scores, groups), cut.keep(scores, groups))
        again.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "cutoff.json").read_bytes()

    def test_the_file_says_how_to_apply_it(self, rule, data, tmp_path):
        rule.clone().fit(*data).save(tmp_path / "cutoff.json")
        said = json.loads((tmp_path / "cutoff.json").read_text())
        assert said["rule"] in known_rules()
        assert ">=" in said["keep"]
        assert said["promise"].startswith("none: ")
        assert said["fitted_on"]["queries"] == 80

    def test_documents_in_any_order_give_the_same(self, rule, data):
        scores, labels, groups = data
        cut = rule.clone().fit(*data)
        shuffle = np.random.default_rng(1).permutation(len(scores))
        again = rule.clone().fit(scores[shuffle], labels[shuffle], [f"q{g}" for g in groups[shuffle]])
        assert np.array_equal(again.keep(scores, groups), cut.keep(scores, groups))
        assert np.array_equal(cut.keep(scores[shuffle], groups[shuffle]), cut.keep(scores, groups)[shuffle])

    def test_a_list_is_cut_the_same_alone_and_among_others(self, rule, data):
        scores, _, groups = data
        cut = rule.clone().fit(*data)
        alone = np.concatenate([cut.keep(scores[groups == q]) for q in range(80)])
        assert np.array_equal(alone, cut.keep(scores, groups))

    def test_only_the_end_of_a_list_is_dropped(self, rule, data):
        scores, _, groups = data
        kept = rule.clone().fit(*data).keep(scores, groups)
        for q in range(80):
            own, score = kept[groups == q], scores[groups == q]
            assert not own.any() or (own == (score >= score[own].min())).all()

    def test_equal_scores_share_their_fate(self, rule, data):
        cut = rule.clone().fit(data[0].round(), *data[1:])
        for scores in ([3.0, 1.0, 1.0, 1.0, 0.0], [1.0, 1.0], [2.0, 2.0, -2.0, -2.0]):
            kept = cut.keep(scores)
            assert all(len(set(kept[np.array(scores) == s])) == 1 for s in scores)

    @quiet
    def test_queries_of_one_document(self, rule):
        """There nDCG_f is the share of right decisions, and a list says no more than its score."""
        draw = np.random.default_rng(2)
        labels = draw.choice([-1.0, 1.0], 400)
        scores = labels + draw.normal(0, 0.8, 400)
        cut = rule.clone().fit(scores, labels, np.arange(400))
        kept = cut.keep(scores, np.arange(400))
        assert (kept == (labels > 0)).mean() > 0.85
        assert kept[scores > scores[kept].min()].all()

    @quiet
    @pytest.mark.parametrize("labels", [[1, 0, 2, 1, 0, 0], [-1, -1, -2, -1, -1, -1]])
    def test_nothing_to_tell_apart(self, rule, labels):
        for scores in ([3.0, 2.0, 1.0, 3.0, 2.0, 1.0], [1.0] * 6):
            groups = ["q"] * 3 + ["r"] * 3
            cut = rule.clone().fit(scores, labels, groups)
            value = aggregate(
                rs.parse_measure("nDCG_f@5"), Lists.from_arrays(scores, labels, groups), cut.keep(scores, groups)
            )
            assert value == pytest.approx(GlobalCutoff("nDCG_f@5").fit(scores, labels, groups).value_)

    def test_notes_and_unlabelled_documents(self, rule):
        scores, labels, groups = shifted(60, 5, 1.0)
        labels[::7] = np.nan
        with pytest.warns(RankSiftWarning, match="documents have no label"):
            cut = rule.clone().fit(scores, labels, groups)
        assert cut.keep(scores, groups).any()
        with pytest.warns(RankSiftWarning, match="only one query"):
            rule.clone().fit([1.0, 2.0, 3.0], [1, -1, 2], ["q"] * 3)

    @quiet
    def test_a_run_and_its_judgments(self, rule):
        qrels, runs = synthetic_collection(queries=30, seed=2)
        run = runs["unfiltered"]
        cut = rule.clone().fit_run(qrels, run)
        filtered = cut.apply(run)
        kept = {q: list(docs) for q, docs in filtered.to_dict().items()}
        for q, docs in run.to_dict().items():
            mask = cut.keep(list(docs.values()))
            assert kept.get(q, []) == [d for d, k in zip(docs, mask, strict=True) if k]

    def test_two_scores(self, rule, data):
        """Ranked by another score, the cut looks at its own."""
        scores, labels, groups = data
        ranks = np.random.default_rng(3).normal(size=len(scores))
        cut = rule.clone().fit(scores, labels, groups, rank_scores=ranks)
        assert np.array_equal(cut.keep(scores, groups, rank_scores=ranks), cut.keep(scores, groups))
        assert cut.fitted_on_["two_scores"]
        lists, measure = Lists.from_arrays(scores, labels, groups, rank_scores=ranks), rs.parse_measure("nDCG_f@5")
        everything = aggregate(measure, lists, np.ones(len(scores), dtype=bool))
        assert aggregate(measure, lists, cut.keep_lists(lists)) > everything + 0.03
        if hasattr(cut, "value_"):
            assert aggregate(measure, lists, cut.keep_lists(lists)) == pytest.approx(cut.value_, abs=1e-12)


def values(rule, shift):
    """nDCG_f@5 of other queries: by the rule, by the global cut, by the best cut of every query."""
    measure, lists = rs.parse_measure("nDCG_f@5"), Lists.from_arrays(*shifted(1500, 77, shift))
    train = Lists.from_arrays(*shifted(200, 5, shift))
    rules = (rule.clone(), GlobalCutoff("nDCG_f@5"))
    own, one = (aggregate(measure, lists, r.fit_lists(train).keep_lists(lists)) for r in rules)
    return own, one, float(Sweep.of(lists, measure).oracle()[1].mean())


class TestAgainstTheGlobalCut:
    """Scores that are comparable inside a query only, and scores that are comparable everywhere."""

    @pytest.mark.parametrize("name", ["minmax", "zscore", "shape", "expected gain, shape"])
    def test_shifts_of_queries_call_for_a_cut_per_query(self, name):
        own, one, oracle = values(RULES[name], 4.0)
        assert own > one + 0.04
        assert own < oracle

    @pytest.mark.parametrize("name", ["shape", "expected gain", "expected gain, shape", "expected gain, shape, nDCG_f"])
    def test_without_shifts_these_lose_nothing(self, name):
        own, one, oracle = values(RULES[name], 0.0)
        assert abs(own - one) < 0.004
        assert own < oracle

    @pytest.mark.parametrize("name", ["minmax", "zscore", "top", "softmax", "rank"])
    def test_without_shifts_normalising_throws_away_what_scores_say(self, name):
        own, one, _ = values(RULES[name], 0.0)
        assert own < one - 0.01

    def test_a_small_sample_is_cut_better_by_expected_gain(self):
        """A threshold that maximises a measure is noisier than one where the expected gain is 0."""
        measure, lists = rs.parse_measure("nDCG_f@5"), Lists.from_arrays(*shifted(1500, 77, 0.0))
        better = []
        for seed in range(40):
            train = Lists.from_arrays(*shifted(15, seed, 0.0))
            own, one = (
                aggregate(measure, lists, r.fit_lists(train).keep_lists(lists))
                for r in (ExpectedGainCutoff(), GlobalCutoff("nDCG_f@5"))
            )
            better.append(own - one)
        assert np.mean(better) > 0.002
