"""A cut on scores normalised inside a query."""

from typing import get_args

import numpy as np
import pytest

import ranksift as rs
from ranksift import GlobalCutoff, InputError, NormalizedCutoff
from ranksift.collection.lists import Lists
from ranksift.cutoffs.normalized import Normalization, normalized
from tests.cutoffs.brute import all_thresholds, at_threshold, small_case

quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
WAYS = get_args(Normalization)


def plain(scores, by):
    s = np.asarray(scores)
    return {
        "minmax": lambda: (s - s.min()) / (s.max() - s.min()),
        "zscore": lambda: (s - s.mean()) / s.std(),
        "max": lambda: s / s.max(),
        "top": lambda: s - s.max(),
        "softmax": lambda: np.exp(s) / np.exp(s).sum(),
        "rank": lambda: -np.array([1 + (s > x).sum() for x in s]),
    }[by]()


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("two_scores", [False, True])
def test_normalised_scores_are_those_of_plain_loops(by, two_scores):
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), draw.integers(2, 8, 20))
    scores = draw.random(len(groups)).round(1) + np.arange(len(groups)) % 2 / 100
    lists = Lists.from_arrays(scores, None, groups, rank_scores=draw.random(len(groups)) if two_scores else None)
    found = np.empty(len(scores))
    found[lists.row] = normalized(lists, by)
    expected = np.concatenate([plain(scores[groups == q], by) for q in range(20)])
    assert found == pytest.approx(expected, abs=1e-12)


@quiet
@pytest.mark.parametrize("by", [w for w in WAYS if w != "max"])
def test_it_is_the_best_of_all_cuts_on_normalised_scores(by):
    draw = np.random.default_rng(2)
    measure = rs.parse_measure("nDCG_f@3")
    tried = 0
    for kind in range(200):
        scores, labels, groups, _ = small_case(draw, kind)
        every = [scores[groups == g] for g in groups]
        if np.isnan(labels).all() or any(len(set(s)) == 1 for s in every):
            continue
        tried += 1
        cut = NormalizedCutoff(measure, by=by).fit(scores, labels, groups)
        own = np.array([plain(s, by)[np.flatnonzero(s == x)[0]] for s, x in zip(every, scores, strict=True)]).round(12)
        each = {t: _value(measure, scores, own >= t, labels, groups) for t in all_thresholds(own)}
        best = max(each.values())
        lowest = min(t for t, value in each.items() if value >= best - 1e-12)
        assert cut.value_ == pytest.approx(best, abs=1e-12)
        assert cut.keep(scores, groups).tolist() == (own >= lowest).tolist()
    assert tried > 30


def _value(measure, scores, kept, labels, groups):
    shown = np.where(kept, scores, -1e9)
    return at_threshold(measure, shown, labels, groups, -1e8)[1]


class TestFlatLists:
    """One document, or equal scores: nothing to normalise by."""

    SCORES = (3.0, 2.0, 1.0, 13.0, 12.0, 11.0, 9.0, 0.5, 0.4)
    LABELS = (1, 1, -2, 1, 1, -2, 2, -2, -2)
    GROUPS = (*"qqq", *"rrr", "s", "t", "u")

    @pytest.mark.parametrize("by", WAYS)
    def test_they_are_cut_on_the_score_itself_at_the_global_threshold(self, by):
        cut = NormalizedCutoff("nDCG_f@3", by=by).fit(self.SCORES, self.LABELS, self.GROUPS)
        one = GlobalCutoff("nDCG_f@3").fit(self.SCORES, self.LABELS, self.GROUPS)
        assert cut.flat_threshold_ == one.threshold_
        for score in (0.0, 0.4, 0.5, 1.0, 2.0, 9.0):
            assert cut.keep([score]).tolist() == [score >= one.threshold_]
            assert cut.keep([score] * 3).tolist() == [score >= one.threshold_] * 3

    def test_others_are_cut_as_if_they_were_not_there(self):
        cut = NormalizedCutoff("nDCG_f@3").fit(self.SCORES, self.LABELS, self.GROUPS)
        without = NormalizedCutoff("nDCG_f@3").fit(self.SCORES[:6], self.LABELS[:6], self.GROUPS[:6])
        assert cut.threshold_ == without.threshold_ == 0.5

    def test_all_flat(self):
        with pytest.warns(rs.RankSiftWarning, match="no list has scores that differ"):
            cut = NormalizedCutoff("nDCG_f@3").fit([2.0, 1.0], [1, -1], ["q", "r"])
        assert cut.keep([2.0, 1.0], ["a", "b"]).tolist() == [True, False]
        assert cut.keep([2.0, 1.0], ["a", "a"]).tolist() == [True, True]


def test_by_max_refuses_negative_scores():
    with pytest.raises(InputError, match="some are below 0"):
        NormalizedCutoff(by="max").fit([1.0, -1.0], [1, -1], ["q", "q"])
    cut = NormalizedCutoff(by="max").fit([2.0, 1.0, 4.0, 1.0], [1, -1, 1, -1], ["q", "q", "r", "r"])
    with pytest.raises(InputError, match="some are below 0"):
        cut.keep([1.0, -1.0])


def test_unknown_way():
    with pytest.raises(InputError, match="by='length' is unknown; use 'minmax', 'zscore'"):
        NormalizedCutoff(by="length").fit([1.0, 2.0], [1, -1], ["q", "q"])


def test_a_shift_and_a_scale_of_a_query_change_nothing():
    draw = np.random.default_rng(4)
    groups = np.repeat(np.arange(20), 5)
    labels = draw.choice([-2.0, 1, 2], 100)
    scores = labels + draw.normal(size=100)
    moved = scores * np.repeat(2.0 ** draw.integers(0, 5, 20), 5) + np.repeat(draw.integers(-64, 64, 20), 5)
    for by in ("minmax", "zscore", "rank"):
        cut = NormalizedCutoff("nDCG_f@3", by=by).fit(scores, labels, groups)
        other = NormalizedCutoff("nDCG_f@3", by=by).fit(moved, labels, groups)
        assert other.value_ == pytest.approx(cut.value_, abs=1e-12)
        assert other.keep(moved, groups).tolist() == cut.keep(scores, groups).tolist()


def test_the_last_bit_decides_nothing_among_pairs():
    """The two documents of a pair have 1 and -1, whatever the scores, so a rule keeps all lower ones or none."""
    draw = np.random.default_rng(4)
    scores, groups = draw.normal(5.0, 1.0, 2000), np.arange(2000) // 2
    lists = Lists.from_arrays(scores, None, groups)
    raw = (scores - scores.reshape(-1, 2).mean(axis=1).repeat(2)) / scores.reshape(-1, 2).std(axis=1).repeat(2)
    assert len(set(raw.tolist())) > 2  # that is what is rounded away
    assert set(normalized(lists, "zscore").tolist()) == {1.0, -1.0}
    labels = np.where(scores > np.median(scores), 1.0, -1.0)
    cut = NormalizedCutoff(by="zscore").fit(scores, labels, groups)
    lower = scores.reshape(-1, 2).min(axis=1).repeat(2) == scores
    assert len(set(cut.keep(scores, groups)[lower].tolist())) == 1
    cut.threshold_ = np.nextafter(-1.0, 0.0)  # as it may have been saved before
    assert cut.keep(scores, groups).all()
