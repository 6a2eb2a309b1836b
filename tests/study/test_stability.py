"""Stability: hand-computed cases, plain loops, both readings of what is counted, refusals."""

import tracemalloc
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.study import plain_stability, plain_stability_of_topics
from ranksift import InputError, RankSiftWarning, Scores, evaluate, study
from ranksift.study.result import PerMeasure
from tests.study.cases import QRELS, filtering_runs, scored

# b beats a on topics 0 and 1, a beats b by more on topic 2; on all three a is ahead by 0.1.
HAND = scored([[0.2, 0.2, 0.9], [0.3, 0.3, 0.4]])


class TestByHand:
    def test_all_pairs_of_topics(self):
        # {0, 1}: b by 0.1; {0, 2}: a by 0.2; {1, 2}: a by 0.2. One of three decisions is wrong.
        found = study.stability(HAND, samples=[[0, 1], [0, 2], [1, 2], [0, 1, 2]])
        assert found.error_rate == {"AP": {2: pytest.approx(1 / 3), 3: 0.0}}
        assert found.tie_rate == {"AP": {2: 0.0, 3: 0.0}}
        assert found.samples == {2: 3, 3: 1}

    def test_counting_topics(self):
        # {0, 1}: 0 topics for a, 2 for b: no error; {0, 2}: 1 and 1: one error in two; {1, 2} the same.
        found = study.stability(HAND, samples=[[0, 1], [0, 2], [1, 2], [0, 1, 2]], counts="topics")
        assert found.error_rate == {"AP": {2: pytest.approx(2 / 6), 3: pytest.approx(1 / 3)}}

    def test_three_runs(self):
        # Topic 0 orders c > b > a, topic 1 orders a > b > c: one of the two is wrong in each of the 3 pairs.
        found = study.stability(scored([[0.1, 0.9], [0.5, 0.5], [0.9, 0.1]]), samples=[[0], [1]])
        assert found.error_rate["AP"] == {1: 0.5}

    def test_standard_error_is_that_of_the_mean_over_topic_sets(self):
        found = study.stability(HAND, samples=[[0, 1], [0, 2], [1, 2]])
        assert found.standard_error["AP"][2] == pytest.approx(np.std([1, 0, 0], ddof=1) / np.sqrt(3))
        low, high = found.band(0.95)["AP"][2]
        assert (low, high) == (0.0, pytest.approx(1 / 3 + 1.959964 * np.std([1, 0, 0], ddof=1) / np.sqrt(3)))

    def test_some_sizes_of_the_given_samples(self):
        found = study.stability(HAND, samples=[[0, 1], [0], [1, 2], [0, 1, 2]], sizes=[3, 1])
        assert found.samples == {1: 1, 3: 1}

    def test_a_topic_drawn_twice_counts_twice(self):
        # (2 · −0.1 + 0.5) / 3 and (−0.1 + 2 · 0.5) / 3 are both above 0; three times topic 0 is not.
        found = study.stability(HAND, samples=[[0, 0, 2], [0, 2, 2], [0, 0, 0]])
        assert found.error_rate["AP"] == {3: pytest.approx(1 / 3)}


class TestFuzziness:
    @pytest.mark.parametrize(
        ("fuzz", "fuzziness", "ties"),
        [
            ("absolute", 0.1, 1.0),  # 0.5 − 0.4 does not exceed 0.1
            ("absolute", 0.0999, 0.0),
            ("relative", 0.2, 1.0),  # a fifth of 0.5
            ("relative", 0.1999, 0.0),
            ("relative_smaller", 0.25, 1.0),  # a quarter of 0.4
            ("relative_smaller", 0.2499, 0.0),
        ],
    )
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_a_difference_that_does_not_exceed_it_is_a_tie(self, fuzz, fuzziness, ties, sign):
        scores = scored([[0.5 * sign] * 2, [0.4 * sign] * 2])
        found = study.stability(scores, samples=[[0]], fuzziness=fuzziness, fuzz=fuzz)
        assert found.tie_rate["AP"] == {1: ties}
        assert found.error_rate["AP"] == {1: 0.0}

    def test_a_share_of_values_of_different_signs(self):
        scores = scored([[0.1] * 2, [-0.4] * 2])  # 0.5 apart: 1.25 of 0.4, 5 of 0.1
        ties = {
            (fuzz, f): study.stability(scores, [[0]], f, fuzz=fuzz).tie_rate["AP"][1]
            for fuzz, f in [
                ("relative", 1.24),
                ("relative", 1.26),
                ("relative_smaller", 4.9),
                ("relative_smaller", 5.1),
            ]
        }
        assert list(ties.values()) == [0.0, 1.0, 0.0, 1.0]

    def test_rounding_is_no_difference(self):
        scores = scored([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
        assert study.stability(scores, [[0, 1, 2]], fuzziness=0).tie_rate["AP"] == {3: 1.0}

    def test_a_difference_of_exactly_the_fuzziness_is_a_tie_however_it_is_rounded(self):
        assert 0.25 - 0.24 > 0.01
        assert study.stability(scored([[0.25] * 2, [0.24] * 2]), [[0]], 0.01).tie_rate["AP"] == {1: 1.0}


def numbers(draw, smallest: int = 2):
    systems, topics = draw(st.integers(2, 5)), draw(st.integers(smallest, 6))
    cells = st.lists(st.integers(-3, 12), min_size=systems * topics, max_size=systems * topics)
    return np.array(draw(cells), dtype=float).reshape(systems, topics)


@st.composite
def coarse(draw):
    """Values with many ties, exact in binary, and topic sets of one size."""
    values = numbers(draw) / 8.0
    size = draw(st.integers(1, values.shape[1]))
    sets = st.lists(st.permutations(range(values.shape[1])).map(lambda p: p[:size]), min_size=1, max_size=6)
    return values, draw(sets)


@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")  # copies and constants turn up among small numbers
class TestPlainLoops:
    @given(coarse(), st.sampled_from([0.0, 0.01, 0.3]))
    def test_trials(self, case, fuzziness):
        values, sets = case
        found = study.stability(scored(values), sets, fuzziness)
        size = len(sets[0])
        # Sums of eighths are exact; where rounding of the mean could decide, the plain loop is given the leeway too.
        expected = plain_stability(values.tolist(), sets, fuzziness + 1e-11)
        assert (found.error_rate["AP"][size], found.tie_rate["AP"][size]) == pytest.approx(expected, abs=1e-12)

    @given(coarse(), st.sampled_from([0.0, 0.01, 0.3]))
    def test_topics(self, case, fuzziness):
        values, sets = case
        found = study.stability(scored(values), sets, fuzziness, counts="topics")
        size = len(sets[0])
        expected = plain_stability_of_topics(values.tolist(), sets, fuzziness + 1e-11)
        assert (found.error_rate["AP"][size], found.tie_rate["AP"][size]) == pytest.approx(expected, abs=1e-12)

    def test_many_runs_are_worked_on_in_blocks(self, monkeypatch):
        values = np.random.default_rng(0).random((30, 9)).round(2)
        sets = [np.random.default_rng(s).permutation(9)[:4].tolist() for s in range(300)]
        whole = study.stability(scored(values), sets)
        module = import_module("ranksift.study.stability")
        for block in (1, 5000):
            monkeypatch.setattr(module, "_BLOCK", block)
            again = study.stability(scored(values), sets)
            assert (again.error_rate, again.tie_rate) == (whole.error_rate, whole.tie_rate)
            assert again.standard_error == whole.standard_error
        expected = plain_stability(values.tolist(), sets, 0.01 + 1e-12)
        assert (whole.error_rate["AP"][4], whole.tie_rate["AP"][4]) == pytest.approx(expected)


class TestAggregation:
    """Where a measure is no mean of topics' own values, it is aggregated anew on each topic set."""

    @pytest.mark.parametrize("measure", ["Fdocs@3", "GoodFiltered", "c_at_1", "NumRet", 'Fdocs(average="macro")@3'])
    def test_as_scores_aggregate(self, measure):
        scores = evaluate(QRELS, filtering_runs(), [measure])
        sets = list(combinations(range(5), 3))
        found = study.stability(scores, sets, fuzziness=0.02)
        table = np.array([scores.aggregate(list(s))[:, 0] for s in sets])
        errors = ties = 0
        for a, b in combinations(range(6), 2):
            above = int((table[:, a] - table[:, b] > 0.02 + 1e-9).sum())
            below = int((table[:, b] - table[:, a] > 0.02 + 1e-9).sum())
            errors, ties = errors + min(above, below), ties + len(sets) - above - below
        assert found.error_rate[measure][3] == pytest.approx(errors / (15 * len(sets)))
        assert found.tie_rate[measure][3] == pytest.approx(ties / (15 * len(sets)))
        assert errors > 0

    def test_a_micro_measure_is_not_the_mean_of_shares(self):
        # Shares 1/1 and 0/3: their mean is 0.5, the aggregate is 0.25, the other run's 0.3 lies between.
        numerators = np.array([[[1.0], [0.0]], [[3.0], [3.0]]])
        denominators = np.array([[[1.0], [3.0]], [[10.0], [10.0]]])
        named = Scores.from_array(numerators, runs=["a", "b"], queries=["p", "q"], measures=["Fdocs@5"])
        scores = Scores(named.runs, named.queries, named.measures, numerators, denominators)
        by_set = {s: study.stability(scores, [list(s), [1]]).error_rate["Fdocs@5"] for s in [(0, 1), (0,)]}
        # On {0, 1} and on {1} b is above; on {0} a is: only the sets of size 1 can disagree.
        assert by_set == {(0, 1): {1: 0.0, 2: 0.0}, (0,): {1: 0.5}}


class TestSampling:
    SCORES = scored(np.random.default_rng(5).random((6, 12)))

    def test_sizes_are_2_to_all(self):
        found = study.stability(self.SCORES, samples=10)
        assert list(found.error_rate["AP"]) == list(found.samples) == list(range(2, 13))
        assert set(found.samples.values()) == {10}

    def test_the_full_set_never_errs(self):
        assert study.stability(self.SCORES, samples=10).error_rate["AP"][12] == 0.0

    def test_one_size_does_not_depend_on_the_others(self):
        whole = study.stability(self.SCORES, samples=20)
        some = study.stability(self.SCORES, samples=20, sizes=[7, 3])
        assert some.error_rate["AP"] == {n: whole.error_rate["AP"][n] for n in (3, 7)}

    def test_same_seed_same_numbers(self):
        one, two, other = (study.stability(self.SCORES, samples=20, seed=seed) for seed in (1, 1, 2))
        assert one.to_frame().equals(two.to_frame())
        assert not one.to_frame().equals(other.to_frame())

    def test_topic_sets_hold_each_topic_once(self):
        subsets = import_module("ranksift.study.stability")._subsets
        drawn = subsets(np.arange(12), 5, 2000, np.random.default_rng(0))
        assert all(len(set(row)) == 5 for row in drawn.tolist())
        assert np.bincount(drawn.ravel(), minlength=12) == pytest.approx(2000 * 5 / 12, rel=0.1)

    def test_estimates_what_all_subsets_say(self):
        every = study.stability(self.SCORES, samples=list(combinations(range(12), 3)))
        drawn = study.stability(self.SCORES, samples=2000, sizes=[3])
        low, high = drawn.band(0.999)["AP"][3]
        assert low <= every.error_rate["AP"][3] <= high

    def test_measures_share_the_topic_sets(self):
        values = np.repeat(self.SCORES.values, 2, axis=2)
        scores = Scores.from_array(values, runs=self.SCORES.runs, queries=self.SCORES.queries, measures=["AP", "other"])
        found = study.stability(scores, samples=20)
        assert found.error_rate["AP"] == found.error_rate["other"]

    def test_memory_stays_small(self):
        scores = scored(np.random.default_rng(0).random((150, 40)))
        study.stability(scores, samples=1, sizes=[2])
        tracemalloc.start()
        study.stability(scores, samples=400, sizes=[20])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8e6  # systems² × samples would be 9 MB in bytes, 72 MB in numbers


class TestTopicsNeeded:
    def found(self, rates, topics=20, counts="trials"):
        never = PerMeasure({"AP": dict.fromkeys(rates, 0.0)})
        sets = dict.fromkeys(rates, 1)
        return study.Stability(PerMeasure({"AP": rates}), never, never, sets, topics, 3, 0.01, "absolute", counts, 0)

    def test_from_there_on_it_stays_below(self):
        found = self.found({2: 0.3, 5: 0.04, 8: 0.06, 10: 0.05, 15: 0.01})
        assert found.topics_needed(0.05) == {"AP": 10}

    def test_the_set_of_all_topics_proves_nothing(self):
        assert self.found({2: 0.3, 20: 0.0}).topics_needed(0.05) == {"AP": None}
        assert self.found({2: 0.3, 20: 0.01}, counts="topics").topics_needed(0.05) == {"AP": 20}


class TestResult:
    FOUND = study.stability(scored(np.random.default_rng(5).random((4, 6))), samples=10)

    def test_frame(self):
        frame = self.FOUND.to_frame()
        assert frame.columns == ["measure", "topics", "samples", "error_rate", "low", "high", "tie_rate"]
        assert dict(zip(frame["topics"], frame["error_rate"], strict=True)) == self.FOUND.error_rate["AP"]
        assert (frame["low"] <= frame["error_rate"]).all()
        assert (frame["error_rate"] <= frame["high"]).all()

    def test_print(self):
        assert str(self.FOUND).startswith("Stability: error rates of 4 runs on 6 topics")

    def test_is_frozen(self):
        with pytest.raises(AttributeError):
            self.FOUND.seed = 1

    def test_picture(self):
        pytest.importorskip("matplotlib")
        (axes,) = self.FOUND.plot().axes
        assert axes.lines[0].get_ydata() == pytest.approx(list(self.FOUND.error_rate["AP"].values()))


class TestRefusals:
    GOOD = scored([[0.1, 0.5], [0.3, 0.2]])

    def test_one_run(self):
        with pytest.raises(InputError, match="stability needs at least 2 runs, there is 1"):
            study.stability(scored([[0.1, 0.2]]))

    def test_one_topic(self):
        with pytest.raises(InputError, match="stability needs at least 2 queries, there is 1"):
            study.stability(scored([[0.1], [0.2]]))

    def test_nan(self):
        cube = np.array([[[0.1], [np.nan]], [[0.3], [0.2]]])
        scores = Scores(("a", "b"), ("p", "q"), ("AP",), cube, np.ones(cube.shape))
        with pytest.raises(InputError, match="run 'a', query 'q', measure AP is not finite"):
            study.stability(scores)

    def test_copies_of_a_run(self):
        with pytest.warns(RankSiftWarning, match="the runs 'r0' and 'r2' have the same values"):
            found = study.stability(scored([[0.1, 0.5], [0.3, 0.2], [0.1, 0.5]]), samples=[[0], [1]])
        assert len(found.notes) == 1
        assert found.tie_rate["AP"][1] == pytest.approx(1 / 3)

    def test_constant_scores(self):
        with pytest.warns(RankSiftWarning) as told:
            found = study.stability(scored(np.full((2, 4), 0.3)), samples=5)
        assert any("AP has the same value for every run and query" in str(w.message) for w in told)
        assert (found.error_rate["AP"][2], found.tie_rate["AP"][2]) == (0.0, 1.0)
        assert found.topics_needed() == {"AP": None}

    def test_a_warning_points_at_the_caller(self):
        with pytest.warns(RankSiftWarning) as told:
            study.stability(scored([[0.3, 0.1], [0.3, 0.1]]), samples=5)
        assert {w.filename for w in told} == {__file__}

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"samples": 0}, "samples=0 is not a positive integer"),
            ({"samples": True}, "samples=True is not a positive integer"),
            ({"samples": 2.5}, "samples=2.5 is neither a number nor a list"),
            ({"samples": []}, "neither a number nor a list"),
            ({"samples": [[0, 2]]}, "sample 0 has topic 2, there are 2; count topics from 0 to 1"),
            ({"samples": [[0], [-1]]}, "sample 1 has topic -1"),
            ({"samples": [[0.5]]}, "sample 0 is not a list of topic indices"),
            ({"samples": [0, 1]}, "sample 0 is not a list of topic indices"),
            ({"samples": [[0]], "sizes": [2]}, "no sample has 2 topics"),
            ({"samples": [[0], []]}, "sample 1 is not a list of topic indices"),
            ({"sizes": [3]}, "a topic set of 3 cannot be drawn from 2 queries"),
            ({"sizes": [0]}, "a size=0 is not a positive integer"),
            ({"sizes": []}, "is not a list of sizes"),
            ({"sizes": 2}, "is not a list of sizes"),
            ({"fuzziness": -0.1}, "fuzziness=-0.1 is not a number of at least 0"),
            ({"fuzziness": float("nan")}, "fuzziness=nan"),
            ({"fuzziness": "1%"}, "fuzziness='1%'"),
            ({"fuzz": "percent"}, "fuzz='percent' is unknown; use 'absolute', 'relative' or 'relative_smaller'"),
            ({"counts": "runs"}, "counts='runs' is unknown; use 'trials' or 'topics'"),
            ({"seed": -1}, "seed=-1 is not an integer of at least 0"),
        ],
    )
    def test_options(self, options, words):
        with pytest.raises(InputError) as refusal:
            study.stability(self.GOOD, **options)
        assert words in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_not_scores(self):
        with pytest.raises(InputError, match="stability takes Scores, not list"):
            study.stability([[0.1, 0.2]])
