"""The penalty sweep: against evaluate on dense grids, curves with known zeros, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ranksift as rs
from ranksift import study
from ranksift.errors import InputError, RankSiftWarning
from ranksift.study.crossings import Curves, crossings


def collection(seed, labels=(-2, 0, 1, 2), systems=5, topics=4, documents=6):
    draw = np.random.default_rng(seed)
    qrels, runs = {}, {f"s{s}": {} for s in range(systems)}
    for t in range(topics):
        ids = [f"d{i}" for i in range(documents)]
        qrels[f"q{t}"] = {d: int(draw.choice(labels)) for d in ids}
        for run in runs.values():
            run[f"q{t}"] = {d: float(draw.random()) for d in ids if draw.random() < 0.6}
    return qrels, runs


def means(qrels, runs, measure, penalties, label=-2):
    """Each system's mean at each penalty, the long way."""
    found = [rs.evaluate(qrels, runs, [measure], gains={label: -x}).aggregate()[:, 0] for x in penalties]
    return np.stack(found)


class TestScores:
    @pytest.mark.parametrize("measure", ["nDCG_f@3", "nDCG_min@3", "DCG@3", "nDCG_f", "nDCG_f(base=2)@3"])
    def test_they_are_the_measures(self, measure):
        qrels, runs = collection(seed=1)
        at = [0, 0.7, 3, 50]
        found = study.penalty_sweep(qrels, runs, measure, penalties=at)
        assert np.allclose(found.scores, means(qrels, runs, measure, at), atol=1e-12)
        assert found.penalties.tolist() == at
        assert found.labels == (-2.0,)

    def test_nDCG_org_where_the_ideal_stays_positive(self):
        qrels = {q: {"a": 2, "b": 1, "c": -2, "d": 0} for q in ("q", "r")}
        runs = {"x": {"q": {"c": 2, "a": 1}, "r": {"a": 1}}, "y": {"q": {"a": 1}, "r": {"c": 2, "b": 1}}}
        found = study.penalty_sweep(qrels, runs, "nDCG_org@2", penalties=[0, 3, 40])
        assert np.allclose(found.scores, means(qrels, runs, "nDCG_org@2", [0, 3, 40]), atol=1e-12)

    def test_unjudged_documents_queries_and_own_gains(self):
        qrels, runs = collection(seed=2)
        how = {"unjudged": "drop", "queries": ["q1", "q3"]}
        for run in runs.values():
            run["q1"]["nobody judged this"] = 9.0
        found = study.penalty_sweep(qrels, runs, "nDCG_f(gains={2:5})@3", penalties=[1, 4], **how)
        wanted = rs.evaluate(qrels, runs, ["nDCG_f(gains={-2:-4, 2:5})@3"], **how).aggregate()[:, 0]
        assert np.allclose(found.scores[1], wanted, atol=1e-12)

    def test_several_labels_fall_together_or_one_past_the_other(self):
        qrels, runs = collection(seed=3, labels=(-2, -1, 0, 2))
        both = study.penalty_sweep(qrels, runs, "nDCG_f@3", penalties=[0.5, 5])
        assert both.labels == (-2.0, -1.0)
        wanted = rs.evaluate(qrels, runs, ["nDCG_f@3"], gains={-2: -5, -1: -5}).aggregate()[:, 0]
        assert np.allclose(both.scores[1], wanted, atol=1e-12)
        one = study.penalty_sweep(qrels, runs, "nDCG_f@3", penalties=[0.5, 5], labels=[-2])
        assert np.allclose(one.scores, means(qrels, runs, "nDCG_f@3", [0.5, 5]), atol=1e-12)

    def test_discrimination_and_order(self):
        qrels, runs = collection(seed=4, systems=6, topics=12)
        found = study.penalty_sweep(qrels, runs, "nDCG_f@3", penalties=[0, 2, 30])
        for i, x in enumerate((0, 2, 30)):
            values = rs.evaluate(qrels, runs, ["nDCG_f@3"], gains={-2: -x}).values[:, :, 0]
            p = [stats.ttest_rel(values[a], values[b]).pvalue for b in range(6) for a in range(b)]
            assert found.significant[i] == sum(x <= 0.05 for x in p)
            tau = stats.kendalltau(found.scores[i], found.scores[0]).statistic
            assert found.tau[i] == pytest.approx(tau, abs=1e-12)
            assert found.winner[i] == f"s{found.scores[i].argmax()}"


class TestSwaps:
    @settings(max_examples=15)
    @given(st.integers(0, 10_000), st.sampled_from(["nDCG_f@3", "nDCG_min@2", "DCG@3"]))
    def test_there_are_as_many_as_a_dense_grid_shows(self, seed, measure):
        # with a second forbidden label, which the swept one passes, where nDCG_min can have no value
        qrels, runs = collection(seed, labels=(-2, 0, 1, 2) if measure == "nDCG_min@2" else (-2, -1, 0, 1, 2))
        found = study.penalty_sweep(qrels, runs, measure, penalties=[0, 20], labels=[-2])
        grid = np.concatenate([np.geomspace(1e-3, 1, 30), np.linspace(1.01, 20, 60)])
        score = means(qrels, runs, measure, grid)
        for i in range(len(runs)):
            for j in range(i):
                gap = np.where(np.abs(score[:, i] - score[:, j]) < 1e-10, 0, score[:, i] - score[:, j])
                mine = [s.penalty for s in found.swaps if {s.overtaken, s.overtaking} == {f"s{i}", f"s{j}"}]
                for lo, hi in zip(range(len(grid) - 1), range(1, len(grid)), strict=True):
                    if gap[lo] and gap[hi]:
                        inside = sum(grid[lo] < x < grid[hi] for x in mine)
                        assert inside % 2 == (gap[lo] * gap[hi] < 0)

    def test_before_one_leads_and_after_the_other(self):
        qrels, runs = collection(seed=11, systems=8, topics=6)
        found = study.penalty_sweep(qrels, runs, "nDCG_f@4", penalties=[0, 100])
        assert len(found.swaps) > 3
        for swap in found.swaps:
            before, at, after = means(qrels, runs, "nDCG_f@4", [swap.penalty + d for d in (-1e-4, 0, 1e-4)])
            old, new = (int(run[1:]) for run in (swap.overtaken, swap.overtaking))
            assert before[old] > before[new]
            assert after[old] < after[new]
            assert at[old] == pytest.approx(at[new], abs=1e-6)
            assert swap.score == pytest.approx(at[old], abs=1e-6)
        assert [s.penalty for s in found.swaps] == sorted(s.penalty for s in found.swaps)

    def test_by_hand(self):
        """One query, a good and a bad document: 1 − x / log2(3) against nothing."""
        qrels = {"q": {"good": 1, "bad": -1}, "r": {"good": 1}}
        runs = {"shows": {"q": {"good": 2, "bad": 1}}, "hides": {"q": {}}}
        for measure in ("nDCG_f@2", "DCG@2"):
            (swap,) = study.penalty_sweep(qrels, runs, measure, penalties=[0, 10]).swaps
            assert swap.penalty == pytest.approx(np.log2(3), abs=1e-8)
            assert (swap.overtaken, swap.overtaking) == ("shows", "hides")

    def test_who_is_best_from_where(self):
        qrels = {"q": {"good": 1, "bad": -1}, "r": {"good": 1}}
        runs = {"shows": {"q": {"good": 2, "bad": 1}}, "hides": {"q": {}}}
        found = study.penalty_sweep(qrels, runs, "DCG@2", penalties=[0, 10])
        assert found.winners == ((0.0, "shows"), (pytest.approx(np.log2(3), abs=1e-8), "hides"))
        assert found.winner == ("shows", "hides")

    def test_forbidden_documents_alone_tie_at_0_and_count_just_above_it(self):
        """At 0 the second query has nothing to tell apart; above it it gives 1 for silence whatever the penalty."""
        qrels = {"q": {"good": 1, "ok": 0}, "r": {"bad": -1}}
        runs = {"shows": {"q": {"good": 1}, "r": {"bad": 1}}, "hides": {"q": {"ok": 2, "good": 1}, "r": {}}}
        found = study.penalty_sweep(qrels, runs, "nDCG_f@2", penalties=[0, 1, 10])
        assert found.scores[0].tolist() == [0.5, pytest.approx(1 / np.log2(3) / 2)]
        assert found.scores[1].tolist() == [0.5, pytest.approx((1 + 1 / np.log2(3)) / 2)]
        assert found.winner == ("shows", "hides", "hides")
        assert found.swaps == ()
        assert found.winners == ((0.0, "hides"),)

    def test_copies_never_swap_and_are_told(self):
        qrels, runs = collection(seed=5)
        with pytest.warns(RankSiftWarning, match="'s0' and 'copy' have the same values"):
            found = study.penalty_sweep(qrels, {**runs, "copy": runs["s0"]}, "nDCG_f@3")
        between = [s for s in found.swaps if {s.overtaken, s.overtaking} == {"s0", "copy"}]
        assert between == []


def curves(*terms, last=100.0):
    """Two systems whose difference is the mean of (a + b x) / (c + d x)."""
    a, b, c, d = (np.array(column, dtype=float) for column in zip(*terms, strict=True))
    fixed, slope = np.stack([a, np.zeros(len(a))]), np.stack([-b, np.zeros(len(a))])
    return Curves.of(fixed, slope, np.array([0.0, last]), lambda x: (np.zeros(len(a)), c + d * x))


class TestCrossings:
    def test_a_system_that_falls_behind_and_comes_back(self):
        """0.05 x − 1 + 2 / (1 + x) is 0 where 0.05 x² − 0.95 x + 1 is."""
        found = crossings(curves((-1, 0.05, 1, 0), (2, 0, 1, 1)), 1e-9)
        roots = np.roots([0.05, -0.95, 1])[::-1]
        assert [c.penalty for c in found] == pytest.approx(roots.tolist(), abs=1e-8)
        assert [(c.overtaken, c.overtaking) for c in found] == [(0, 1), (1, 0)]

    @pytest.mark.parametrize("short_of", [1e-6, 1e-9])
    def test_two_swaps_close_to_each_other(self, short_of):
        """The same with a constant that makes the two zeros nearly one, at 9.5."""
        c = 5.5125 - short_of
        found = crossings(curves((-1, 0.05, 1, 0), (c, 0, 1, 1)), 1e-9)
        roots = np.sort(np.roots([0.05, -0.95, c - 1]).real)
        assert [x.penalty for x in found] == pytest.approx(roots.tolist(), abs=1e-6)
        assert 0 < roots[1] - roots[0] < 0.01

    @pytest.mark.parametrize("beyond", [1e-6, 1e-9])
    def test_a_near_miss_is_no_swap(self, beyond):
        assert crossings(curves((-1, 0.05, 1, 0), (5.5125 + beyond, 0, 1, 1)), 1e-9) == []

    def test_a_touch_is_no_swap(self):
        assert len(crossings(curves((-1, 0.05, 1, 0), (5.5125, 0, 1, 1)), 1e-9)) in (0, 2)
        # a touch that rounding does not blur: |D| grows on both sides of an end
        assert crossings(curves((0, 1, 1, 0)), 1e-9) == []

    def test_equal_curves_end_the_search(self):
        assert crossings(curves((0, 0, 1, 1), (0, 0, 1, 0)), 1e-9) == []
        # (1 + x) / (1 + x) − 1, up to rounding
        assert crossings(curves((0.1, 0.1, 0.1, 0.1), (-0.3, 0, 0.3, 0)), 1e-9) == []

    def test_the_tolerance_is_kept(self):
        for tolerance in (1e-3, 1e-6, 1e-10):
            (only,) = crossings(curves((-1, 0.3, 1, 0), (0.5, 0, 1, 2)), tolerance)
            exact = max(np.roots([0.6, -1.7, -0.5]))  # (0.3 x − 1)(1 + 2 x) + 0.5
            assert abs(only.penalty - exact) <= tolerance


class TestResult:
    @pytest.fixture
    def found(self):
        return study.penalty_sweep(*collection(seed=11, systems=8, topics=6), "nDCG_f@4", penalties=[0, 1, 10, 100])

    def test_frames(self, found):
        frame = found.to_frame()
        assert frame.height == 4 * 8
        first = frame.filter(penalty=0.0).sort("rank")
        assert first["run"][0] == found.winner[0]
        assert first["rank"].to_list() == stats.rankdata(-first["score"].to_numpy().round(12), "min").tolist()
        assert found.swaps_frame().height == len(found.swaps)
        assert found.swaps_frame().columns == ["penalty", "overtaken", "overtaking", "score"]

    def test_table(self, found):
        lines = str(found).splitlines()
        assert lines[0] == "nDCG_f@4 of 8 runs as the gain of label -2 falls"
        assert [line.split()[0] for line in lines[3:7]] == ["0", "1", "10", "100"]
        assert sum(int(line.split()[4]) for line in lines[3:7]) == len(found.swaps)

    def test_figure(self, found):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        axes = found.plot().axes[0]
        assert len(axes.lines) == 8
        assert len(axes.collections[0].get_offsets()) == len(found.swaps)


class TestBadInput:
    @pytest.mark.parametrize("measure", ["AP", "nDCG@10", "nDCG_f@3 nDCG_f@5", "Fdocs@3"])
    def test_a_measure_whose_curve_is_not_known(self, measure):
        with pytest.raises(InputError, match="use DCG, nDCG_org, nDCG_min or nDCG_f, one at a time"):
            study.penalty_sweep(*collection(1), measure)

    @pytest.mark.parametrize(
        ("how", "word"),
        [
            ({"penalties": [-10, 0]}, "penalty -10 is negative; write 10 for a gain of -10"),
            ({"penalties": [3]}, "are not two numbers or more"),
            ({"penalties": [3, 3.0]}, "are not two numbers or more"),
            ({"penalties": "all"}, "are not two numbers or more"),
            ({"penalties": [0, float("inf")]}, "are not two numbers or more"),
            ({"labels": [7]}, "no document has the label 7; the labels are: -2, 0, 1, 2"),
            ({"labels": []}, "no label to sweep is named"),
            ({"alpha": 2}, "alpha=2 is not a number between 0 and 1"),
            ({"tolerance": 0}, "tolerance=0 is not a number of at least 1e-14 and below 1"),
        ],
    )
    def test_what_is_refused(self, how, word):
        with pytest.raises(InputError, match=word):
            study.penalty_sweep(*collection(1), "nDCG_f@3", **how)

    def test_no_forbidden_label(self):
        with pytest.raises(
            InputError, match=r"no label of the judgments is forbidden; say whose gain to sweep: labels"
        ):
            study.penalty_sweep(*collection(1, labels=(0, 1, 2)))
        assert study.penalty_sweep(*collection(1, labels=(0, 1, 2)), labels=[0]).labels == (0.0,)

    def test_too_few(self):
        qrels, runs = collection(1)
        with pytest.raises(InputError, match="the penalty sweep needs at least 2 runs"):
            study.penalty_sweep(qrels, {"s0": runs["s0"]})
        with pytest.raises(InputError, match="the penalty sweep needs at least 2 queries"):
            study.penalty_sweep(qrels, runs, queries=["q1"])

    def test_a_score_that_goes_through_infinity(self):
        """nDCG_org divides by the ideal order of the whole pool, which 1 − x / log2(3) passes 0."""
        qrels = {"q": {"good": 1, "bad": -1}, "r": {"good": 1}}
        runs = {"x": {"q": {"good": 2, "bad": 1}}, "y": {"q": {}}}
        with pytest.raises(InputError, match="nDCG_org@2 of query 'q' is not finite at some penalty between 0 and 10"):
            study.penalty_sweep(qrels, runs, "nDCG_org@2", penalties=[0, 10])
        qrels["q"], runs["y"] = {"bad": -2, "worse": -1}, {"q": {}}
        with pytest.raises(InputError, match="nDCG_min@2 of query 'q' is not finite"):
            study.penalty_sweep(qrels, runs, "nDCG_min@2", penalties=[0, 10], labels=[-2])
        assert len(study.penalty_sweep(qrels, runs, "nDCG_f@2", penalties=[0, 10], labels=[-2]).scores) == 2

    def test_around_a_pole(self):
        qrels = {"q": {"good": 1, "bad": -1}, "r": {"good": 1}}
        runs = {"x": {"q": {"good": 2, "bad": 1}}, "y": {"q": {}}}
        assert study.penalty_sweep(qrels, runs, "nDCG_org@2", penalties=[0, 1.5]).swaps == ()
        assert study.penalty_sweep(qrels, runs, "nDCG_org@2", penalties=[1.6, 10]).swaps == ()
