"""Agreement and consistency: hand-made orders, scipy, all ways to break ties, and what is refused."""

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ranksift import study
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.scores import Scores
from ranksift.study.agreement import correlation
from ranksift.study.systems import levels


def scores(columns: dict[str, list[float]], runs=None) -> Scores:
    """Scores on one query: for each measure a value of every run."""
    values = np.array(list(columns.values()), dtype=float).T[:, None, :]
    return Scores.from_array(
        values, runs=runs or [f"run{i}" for i in range(len(values))], queries=["q"], measures=list(columns)
    )


def plain_tau_ap(order, truth):
    """Straight from the definition, for orders without ties: systems from the best to the worst."""
    above = {s: truth.index(s) for s in truth}
    shares = [sum(above[t] < above[s] for t in order[:i]) / i for i, s in enumerate(order) if i]
    return 2 * sum(shares) / len(shares) - 1


def ways(level):
    """All orders of systems, best first, that a level of each allows."""
    systems = range(len(level))
    return [p for p in permutations(systems) if all(level[p[i]] >= level[p[i + 1]] for i in range(len(p) - 1))]


tied = st.lists(st.integers(0, 3), min_size=2, max_size=5).filter(lambda x: len(set(x)) > 1)


class TestCorrelation:
    def test_by_hand(self):
        # a b c d against b a d c: two of six pairs are turned round
        found = correlation(np.array([3, 2, 1, 0]), np.array([2, 3, 0, 1]))
        assert found.tau == found.tau_b == (4 - 2) / 6
        assert found.swap_rate == 2 / 6
        assert found.spearman == 1 - 6 * 4 / (4 * 15)
        # ranks 2, 3, 4 of the first order: 0 of 1, 2 of 2 and 2 of 3 are rightly above
        assert found.tau_ap == pytest.approx(2 / 3 * (0 + 1 + 2 / 3) - 1, abs=1e-15)

    def test_an_error_at_the_top_costs_more_in_tau_ap_only(self):
        truth = np.array([3, 2, 1, 0])
        top, bottom = correlation(np.array([2, 3, 1, 0]), truth), correlation(np.array([3, 2, 0, 1]), truth)
        assert top.tau == bottom.tau
        assert top.tau_ap < bottom.tau_ap

    @given(st.integers(2, 9).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n)] * 2)))
    def test_scipy_has_the_same_values(self, orders):
        one, two = (np.array(x) for x in orders)
        found = correlation(one, two)
        if len(set(orders[0])) == 1 or len(set(orders[1])) == 1:
            assert np.isnan(found[:4]).all()
            return
        assert found.tau_b == pytest.approx(stats.kendalltau(one, two).statistic, abs=1e-12)
        assert found.spearman == pytest.approx(stats.spearmanr(one, two).statistic, abs=1e-12)
        gaps = [(one[i] - one[j]) * (two[i] - two[j]) for j in range(len(one)) for i in range(j)]
        assert found.tau == pytest.approx(np.sign(gaps).mean(), abs=1e-12)
        assert found.swap_rate == np.mean(np.array(gaps) < 0)

    @given(tied, st.randoms(use_true_random=False))
    def test_tau_ap_is_its_mean_over_all_ways_to_break_ties(self, order, draw):
        truth = [draw.randint(0, 3) for _ in order]
        if len(set(truth)) == 1:
            return
        every = [plain_tau_ap(a, b) for a in ways(order) for b in ways(truth)]
        assert correlation(np.array(order), np.array(truth)).tau_ap == pytest.approx(np.mean(every), abs=1e-12)

    def test_systems_that_rounding_sets_apart_are_tied(self):
        assert levels(np.array([0.1 + 0.2, 0.3, 0.30001])).tolist() == [0, 0, 1]
        assert levels(np.array([-1e-20, 0.0, 1.0])).tolist() == [0, 0, 1]
        assert levels(np.zeros(3)).tolist() == [0, 0, 0]


class TestAgreement:
    def test_numbers_stand_between_every_two_measures(self):
        found = study.agreement(scores({"AP": [3, 2, 1], "RR": [3, 1, 2], "P@5": [1, 2, 3]}))
        assert found.tau["AP", "P@5"] == found.tau["AP"]["P@5"] == -1
        assert found.swap_rate["AP", "RR"] == 1 / 3
        assert np.array_equal(found.tau.matrix, found.tau.matrix.T)
        assert np.diag(found.spearman.matrix).tolist() == [1, 1, 1]

    def test_a_measure_is_found_by_any_spelling(self):
        found = study.agreement(scores({"nDCG@10": [3, 2, 1], "AP": [1, 2, 3]}))
        assert found.tau["ndcg_cut_10", "map"] == -1
        with pytest.raises(InputError, match="measure RR is not in this study; there are: nDCG@10, AP"):
            found.tau["RR", "AP"]

    def test_a_cost_is_best_when_it_is_lowest(self):
        assert study.agreement(scores({"AP": [3, 2, 1], "Fdocs@3": [0.1, 0.2, 0.3]})).tau["AP", "Fdocs@3"] == 1

    def test_over_k_the_mean_counts(self):
        given = scores({"AP": [3, 2, 1], "P@5": [0.1, 0.2, 0.9], "P@10": [0.9, 0.5, 0.0]})
        assert study.agreement(given).tau["AP", "P@5"] == -1
        assert (
            study.agreement(given, over_k=True).tau["AP", "P"]
            == correlation(np.array([2, 1, 0]), np.array([2, 0, 1])).tau
        )

    def test_micro_measures_count_by_their_aggregate(self):
        """Fdocs: forbidden of all shown, whatever the mean of the queries' own shares is."""
        import ranksift as rs

        labels = {"q": {f"d{i}": -1 for i in range(9)} | {"good": 1}, "r": {"good": 1}}
        runs = {
            "long": {"q": {f"d{i}": 9 - i for i in range(2)} | {"good": 10}, "r": {"good": 1}},
            "short": {"q": {"d0": 2, "good": 1}, "r": {"good": 1, "x": 0.9, "y": 0.8}},
        }
        given = rs.evaluate(labels, runs, ["Fdocs", "AP"])
        assert given.mean_of("Fdocs") == {"long": 2 / 4, "short": 1 / 5}
        assert study.agreement(given).tau["Fdocs", "AP"] == -1

    def test_the_frame_has_a_row_for_every_two(self):
        frame = study.agreement(scores({"AP": [3, 2, 1], "RR": [3, 1, 2], "P@5": [1, 2, 3]})).to_frame()
        assert frame.height == 3
        assert frame["measure"].to_list() == ["AP", "AP", "RR"]
        assert frame["tau"].to_list() == [1 / 3, -1.0, -1 / 3]

    def test_it_is_printed_as_a_table(self):
        found = study.agreement(scores({"AP": [3, 2, 1], "RR": [3, 1, 2]}))
        assert str(found).splitlines()[0] == "Agreement of 2 measures on the order of 3 runs"
        assert "0.333" in str(found)
        assert repr(found) == "<Agreement of 2 measures on the order of 3 runs>"

    def test_a_measure_without_an_order_is_told(self):
        """Every run has the same mean by AP, each by other queries."""
        values = [[[1, 3], [0, 3]], [[0, 1], [1, 1]], [[0.5, 2], [0.5, 2]]]
        given = Scores.from_array(values, runs=["a", "b", "c"], queries=["q", "r"], measures=["AP", "RR"])
        with pytest.warns(RankSiftWarning, match="AP gives every run the same score: it has no order to compare"):
            found = study.agreement(given)
        assert np.isnan(found.tau["AP", "RR"])
        assert found.to_frame()["swap_rate"].to_list() == [0.0]
        assert str(found).splitlines()[3].split() == ["AP", "RR", *"-----", "0.000"]

    def test_copies_of_a_run_are_told(self):
        with pytest.warns(RankSiftWarning, match="'run0' and 'run1' have the same values"):
            study.agreement(scores({"AP": [1, 1, 2], "RR": [3, 3, 2]}))

    @pytest.mark.parametrize(
        ("given", "word"),
        [
            (scores({"AP": [1], "RR": [2]}), "agreement needs at least 2 runs"),
            (scores({"AP": [1, 2]}), "agreement needs at least 2 measures, there is only AP"),
            ([[1, 2], [3, 4]], "agreement takes Scores, not list"),
        ],
    )
    def test_what_has_no_order_is_refused(self, given, word):
        with pytest.raises(InputError, match=word):
            study.agreement(given)

    def test_one_measure_at_two_k_is_one_measure_over_k(self):
        with pytest.raises(InputError, match="at least 2 measures, there is only P"):
            study.agreement(scores({"P@5": [1, 2], "P@10": [2, 1]}), over_k=True)


class TestConsistency:
    def test_by_hand(self):
        one = scores({"AP": [3, 2, 1], "RR": [1, 2, 3]}, runs=["a", "b", "c"])
        two = scores({"RR": [1, 2, 3], "AP": [1, 2, 3]}, runs=["c", "b", "a"])  # the same systems in another order
        found = study.consistency(one, two)
        assert found.swap_rate == {"AP": 0.0, "RR": 1.0}
        assert found.tau == {"AP": 1.0, "RR": -1.0}
        assert found.to_frame()["measure"].to_list() == ["AP", "RR"]
        assert "Consistency of each measure's two orders of 3 runs" in str(found)

    def test_what_one_collection_lacks_is_left_out_and_told(self):
        one = scores({"AP": [3, 2, 1], "RR": [1, 2, 3]}, runs=["a", "b", "c"])
        two = scores({"AP": [3, 1]}, runs=["a", "b"])
        with pytest.warns(RankSiftWarning, match="in one of the two collections only, and left out: c, RR"):
            found = study.consistency(one, two)
        assert found.runs == ("a", "b")
        assert found.tau == {"AP": 1.0}

    def test_nothing_in_common_is_refused(self):
        one = scores({"AP": [3, 2]}, runs=["a", "b"])
        with pytest.raises(InputError, match="have no runs in common; give the same systems the same names"):
            study.consistency(one, scores({"AP": [3, 2]}, runs=["c", "d"]))
        with pytest.raises(InputError, match="have 1 run in common"):
            study.consistency(one, scores({"AP": [3, 2]}, runs=["a", "d"]))
        with pytest.raises(InputError, match="have no measure in common"):
            study.consistency(one, scores({"RR": [3, 2]}, runs=["a", "b"]))


class TestRanks:
    def test_the_best_has_rank_1_and_equals_share_their_mean_rank(self):
        given = scores({"AP": [0.5, 0.9, 0.5, 0.1], "Fdocs@3": [0.1, 0.2, 0.3, 0.4]})
        found = study.agreement(given)
        assert found.ranks["map"].tolist() == [2.5, 1, 2.5, 4]
        assert found.ranks["Fdocs@3"].tolist() == [1, 2, 3, 4]
        frame = found.frames()["ranks"]
        assert frame.columns == ["run", "AP", "Fdocs@3"]
        assert frame.row(1) == ("run1", 1.0, 2.0)

    @given(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=2, max_size=2))
    def test_scipy_has_the_same_ranks(self, columns):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)
            found = study.agreement(scores(dict(zip(["AP", "RR"], columns, strict=True))))
        assert found.ranks["RR"].tolist() == stats.rankdata([-x for x in columns[1]]).tolist()

    def test_ranks_over_k_are_those_of_the_mean(self):
        given = scores({"AP": [3, 2, 1], "P@5": [0.1, 0.2, 0.9], "P@10": [0.9, 0.5, 0.0]})
        assert study.agreement(given, over_k=True).ranks["P"].tolist() == [1, 3, 2]


class TestFigures:
    def test_ranks_are_drawn_against_each_other(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        found = study.agreement(scores({"AP": [3, 2, 1], "RR": [3, 1, 2], "P@5": [1, 2, 3]}))
        axes = found.plot("ranks", "map", "RR").axes[0]
        assert axes.collections[0].get_offsets().tolist() == [[1, 1], [2, 3], [3, 2]]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("rank by AP", "rank by RR")
        assert [text.get_text() for text in axes.texts] == ["run1", "run2"]  # those that have other ranks
        assert axes.yaxis_inverted()
        assert not axes.xaxis_inverted()

    def test_runs_are_named_inside_the_axes_and_ranks_are_whole(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        names = [f"a-run-of-a-long-name-{r}" for r in range(10)]
        one = scores({"AP": range(10), "RR": [5, 0, 9, 1, 8, 2, 7, 3, 6, 4]}, names)
        found = study.agreement(one)
        figure = found.plot("ranks", "AP", "RR")
        axes = figure.axes[0]
        figure.draw_without_rendering()
        inside = axes.get_window_extent()
        assert len(axes.texts) > 5
        for text in axes.texts:
            named = text.get_window_extent()
            assert inside.x0 <= named.x0 < named.x1 <= inside.x1
        assert all(tick == int(tick) for tick in [*axes.get_xticks(), *axes.get_yticks()])

    def test_without_names_the_two_that_agree_least_are_drawn(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        found = study.agreement(scores({"AP": [3, 2, 1], "RR": [3, 1, 2], "P@5": [1, 2, 3]}))
        assert found.plot("ranks").axes[0].get_ylabel() == "rank by P@5"
        tau, ranks = found.pictures()
        assert (tau.name, ranks.name) == ("tau", "ranks")
        assert "by AP and by P@5" in ranks.caption

    def test_what_cannot_be_drawn_is_refused(self):
        found = study.agreement(scores({"AP": [3, 2, 1], "RR": [3, 1, 2]}))
        with pytest.raises(InputError, match="plot='pie' is unknown"):
            found.plot("pie")
        with pytest.raises(InputError, match="measure P@5 is not in this study; there are: AP, RR"):
            found.plot("ranks", "AP", "P@5")
        with pytest.raises(InputError, match="ranks are by two measures"):
            found.plot("ranks", "AP")
        with pytest.raises(InputError, match="a map of tau is of all measures"):
            found.plot("tau", "AP", "RR")

    def test_agreement_is_a_map(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        figure = study.agreement(scores({"AP": [3, 2, 1], "RR": [3, 1, 2]})).plot()
        assert [t.get_text() for t in figure.axes[0].texts] == ["1.00", "0.33", "0.33", "1.00"]

    def test_consistency_is_bars(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        one = scores({"AP": [3, 2, 1], "RR": [1, 2, 3]})
        figure = study.consistency(one, scores({"AP": [3, 2, 1], "RR": [3, 2, 1]})).plot()
        assert [bar.get_width() for bar in figure.axes[0].patches] == [1.0, 0.0]
