"""Query types: by hand, expected scores against all orders of small pools, and what is refused."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift import study
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.scores import Scores

REAL = {"a": 0.9, "b": 0.5, "c": 0.2, "d": 0.8, "e": 0.1, "f": 0.95}
EXPECTED = {"a": 0.3, "b": 0.2, "c": 0.2, "d": 0.75, "e": 0.4, "f": 0.85}
# difference: a 0.6, b 0.3, c 0, d 0.05, e -0.3, f 0.1


class TestSets:
    def test_signed(self):
        found = study.query_types(REAL, EXPECTED, size=2)
        assert found.uninformative == ("e", "c")
        assert found.ideal == ("a", "b")
        assert found.informative == ("a", "b", "f", "d")
        assert found.hard == ("c",)
        assert found.easy == ()

    def test_absolute(self):
        found = study.query_types(REAL, EXPECTED, size=2, difference="absolute")
        assert found.uninformative == ("c", "d")
        assert found.ideal == ("a", "b")
        assert found.informative == ("a", "b", "f")  # in e systems are far from random, and worse
        assert found.easy == ("d",)
        assert found.hard == ("c",)

    def test_in_both_readings_no_query_is_both(self):
        real, expected = {"a": 0.0, "b": 0.1, "c": 0.6, "d": 0.7}, dict.fromkeys("abcd", 0.5)
        assert study.query_types(real, expected, size=1, difference="absolute").uninformative == ("c",)
        assert study.query_types(real, expected, size=1, difference="absolute").ideal == ("d",)
        with pytest.warns(RankSiftWarning, match="in 2 of 2 ideal queries the systems are no better"):
            found = study.query_types(real, expected, size=2, difference="absolute")
        assert found.uninformative == ("c", "d")
        assert found.ideal == ("b", "a")

    def test_thresholds_of_hard_and_easy(self):
        found = study.query_types(REAL, EXPECTED, size=2, difference="absolute", low=0.1, high=0.1)
        assert found.hard == ()
        assert found.easy == ("c", "d")

    def test_a_share_is_a_number_of_queries(self):
        n = 40
        gap = np.linspace(-0.4, 0.4, n)
        assert len(study.query_types(0.5 + gap, np.full(n, 0.5), size=0.25).ideal) == 10
        assert len(study.query_types(0.5 + gap, np.full(n, 0.5)).uninformative) == 4
        assert len(study.query_types(REAL, EXPECTED, size=0.01).ideal) == 1

    def test_half_and_half_is_a_partition(self):
        found = study.query_types(REAL, EXPECTED, size=3)
        assert sorted(found.ideal + found.uninformative) == sorted(REAL)

    def test_queries_that_tie_at_the_border_are_told(self):
        with pytest.warns(RankSiftWarning, match="1 more of the queries are as ideal as the last one in that set"):
            found = study.query_types({"a": 0.5, "b": 0.5, "c": 0.1, "d": 0.2}, dict.fromkeys("abcd", 0.1), size=1)
        assert found.ideal == ("a",)

    def test_a_partition_through_a_tie_is_told_from_both_sides(self):
        with pytest.warns(RankSiftWarning) as told:
            found = study.query_types({"a": 0.4, "b": 0.4}, {"a": 0.1, "b": 0.1}, size=1)
        assert len(told) == 2
        assert (found.uninformative, found.ideal) == (("a",), ("b",))

    def test_rounding_breaks_no_tie(self):
        """0.3 − 0.2 and 0.2 − 0.1 are the same difference: the first of two queries comes first."""
        with pytest.warns(RankSiftWarning, match="as uninformative as"):
            found = study.query_types([0.2, 0.3, 0.9, 0.8], [0.1, 0.2, 0.1, 0.1], size=1)
        assert found.uninformative == (0,)


class TestInput:
    def test_scores_are_averaged_over_runs_and_measures(self):
        cube = np.random.default_rng(0).random((3, 6, 2))
        scores = Scores.from_array(cube, runs="xyz", queries=list(REAL), measures=["nDCG@5", "nDCG@10"])
        found = study.query_types(scores, EXPECTED, size=1)
        assert np.allclose(found.real, cube.mean(axis=(0, 2)), atol=1e-15)
        assert np.array_equal(study.query_types(cube, list(EXPECTED.values()), size=1).real, found.real)
        assert np.allclose(study.query_types(cube[:, :, 0], EXPECTED, size=1).real, cube[:, :, 0].mean(axis=0))

    def test_queries_are_matched_by_id(self):
        turned = dict(reversed(EXPECTED.items()))
        assert study.query_types(REAL, turned, size=2).ideal == ("a", "b")

    def test_arrays_name_queries_by_position(self):
        found = study.query_types(list(REAL.values()), list(EXPECTED.values()), size=2)
        assert found.ideal == (0, 1)
        assert study.query_types(REAL, list(EXPECTED.values()), size=2).ideal == ("a", "b")

    @pytest.mark.parametrize(
        ("real", "expected", "how", "word"),
        [
            (REAL, {"a": 0.5}, {}, "query 'b' has a real and no expected score"),
            (REAL, [0.5], {}, "6 real and 1 expected scores"),
            ({"a": 0.5}, {"a": 0.4}, {}, "need at least 2 queries, there is 1"),
            (REAL, {**EXPECTED, "c": float("nan")}, {}, "the expected score of query 'c' is not finite"),
            ([0.1, float("inf")], [0.1, 0.2], {}, "the real score of query 1 is not finite"),
            (REAL, EXPECTED, {"size": 4}, "4 uninformative and 4 ideal queries of 6; give a size between 1 and 3"),
            (REAL, EXPECTED, {"size": 0}, "between 1 and 3"),
            (REAL, EXPECTED, {"size": 0.9}, "size=0.9 is not a number of queries"),
            (REAL, EXPECTED, {"size": True}, "size=True is not a number of queries"),
            (REAL, EXPECTED, {"size": "2"}, "size='2' is not a number of queries"),
            (REAL, EXPECTED, {"difference": "relative"}, "difference='relative' is unknown"),
            (["x"], ["y"], {}, "real scores are not numbers"),
            (0.5, 0.5, {}, "real scores of 0 dimensions"),
        ],
    )
    def test_what_is_refused(self, real, expected, how, word):
        with pytest.raises(InputError, match=word):
            study.query_types(real, expected, **{"size": 1, **how})


class TestExpectedScores:
    @settings(max_examples=25)
    @given(st.lists(st.integers(0, 2), min_size=1, max_size=5))
    def test_it_is_the_mean_over_all_orders(self, labels):
        pool = {f"d{i}": label for i, label in enumerate(labels)}
        names = ["nDCG@2", "MSP@2", "AP", "RR", "P@3", "DCG@3", "RBP(p=0.5)", "Success@2", "R@2", "SP@3"]
        orders = list(permutations(pool))
        runs = {str(i): {"q": {d: -place for place, d in enumerate(order)}} for i, order in enumerate(orders)}
        every = rs.evaluate({"q": pool}, {"named": runs["0"]} | runs, names, gains="exp").values[1:, 0]
        found = study.expected_scores({"q": pool}, names, gains="exp")
        assert found.runs == ("random",)
        assert np.allclose(found.values[0, 0], every.mean(axis=0), atol=1e-12)

    def test_it_is_the_measures_of_the_same_name_with_E(self):
        qrels, run = {"q": {"a": 2, "b": 0, "c": 1}, "r": {"a": 0}}, {"q": {"a": 1}}
        names = ["E_nDCG@2", "E_MSP@2", 'E_MSP(expected="paper")@2', "E_DCG@2"]
        wanted = rs.evaluate(qrels, run, names, gains="exp").values[0]
        assert np.array_equal(study.expected_scores(qrels, names, gains="exp").values[0], wanted)
        assert np.array_equal(study.expected_scores(qrels, ["nDCG@2", "MSP@2"], gains="exp").values[0], wanted[:, :2])

    def test_a_measures_own_gains_win(self):
        qrels = {"q": {"a": 2, "b": 0}}
        own = study.expected_scores(qrels, ['DCG(gains="exp")@1', "DCG@1"]).values[0, 0]
        assert own.tolist() == [1.5, 1.0]

    def test_queries_can_be_named(self):
        found = study.expected_scores({"q": {"a": 1, "b": 0}, "r": {"a": 1}}, "P@1", queries=["r", "q"])
        assert found.queries == ("r", "q")
        assert found.values[0, :, 0].tolist() == [1.0, 0.5]

    @pytest.mark.parametrize("measure", ["kNDCG@10", "nDCG_f@5", 'RBP(p=0.5, gains="linear")'])
    def test_a_measure_without_a_closed_form(self, measure):
        with pytest.raises(InputError, match="of a random ranking has no closed form here; use DCG, nDCG"):
            study.expected_scores({"q": {"a": 1}}, measure)


class TestOnQueries:
    def test_order_and_values(self):
        scores = Scores.from_array([[[1], [2], [3]]], runs=["x"], queries=["q", "r", "s"], measures=["AP"])
        found = study.on_queries(scores, ["s", "q"])
        assert found.queries == ("s", "q")
        assert found.values[0, :, 0].tolist() == [3, 1]
        assert study.on_queries(scores, [1]).queries == ("r",)

    def test_what_is_refused(self):
        scores = Scores.from_array([[[1], [2]]], runs=["x"], queries=["q", "r"], measures=["AP"])
        with pytest.raises(InputError, match="query 'z' has no scores; the first that has is 'q'"):
            study.on_queries(scores, ["q", "z"])
        with pytest.raises(InputError, match="query 7 has no scores"):
            study.on_queries(scores, [7])
        with pytest.raises(InputError, match="no query is named"):
            study.on_queries(scores, [])


class TestResult:
    def test_every_procedure_can_be_repeated_on_each_set(self):
        draw = np.random.default_rng(1)
        scores = Scores.from_array(draw.random((4, 6, 2)), runs="wxyz", queries=list(REAL), measures=["nDCG@5", "AP"])
        sets = study.query_types(REAL, EXPECTED, size=2).split(scores)
        assert set(sets) == {"all", "uninformative", "hard", "informative", "ideal"}  # there is no easy one
        assert study.discrimination(sets["ideal"]).tested == {"nDCG@5": 6, "AP": 6}
        assert set(study.consistency(sets["ideal"], sets["uninformative"]).swap_rate) == {"nDCG@5", "AP"}
        by_position = study.query_types(list(REAL.values()), list(EXPECTED.values()), size=2).split(scores)
        assert by_position["ideal"].queries == sets["ideal"].queries

    def test_frame(self):
        frame = study.query_types(REAL, EXPECTED, size=2).to_frame()
        assert frame.filter("ideal")["query_id"].to_list() == ["a", "b"]
        assert frame["difference"][4] == pytest.approx(-0.3)

    def test_table(self):
        text = str(study.query_types(REAL, EXPECTED, size=2))
        assert text.startswith("Types of 6 queries: real scores against those of a random ranking")
        assert [line.split() for line in text.splitlines()[4:6]] == [
            ["uninformative", "2", "0.1500", "0.3000", "-0.1500"],
            ["hard", "1", "0.2000", "0.2000", "0.0000"],
        ]

    def test_histogram(self):
        counts, edges = study.query_types(REAL, EXPECTED, size=2).histogram(bins=4)
        assert counts.tolist() == [2, 2, 0, 2]
        assert edges.tolist() == [0, 0.25, 0.5, 0.75, 1]

    def test_figures(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        found = study.query_types(REAL, EXPECTED, size=2)
        points = {c.get_label(): c.get_offsets() for c in found.plot().axes[0].collections}
        assert points["ideal"].tolist() == [[0.3, 0.9], [0.2, 0.5]]
        assert len(points["other"]) == 2
        assert found.plot("histogram").axes[0].get_ylabel() == "queries"
        with pytest.raises(InputError, match="plot='pie' is unknown"):
            found.plot("pie")
