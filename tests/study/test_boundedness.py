"""Boundedness: against all lists of small pools, by hand, on the web track, and what is refused."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift import study
from ranksift.errors import InputError

# Collections of a few documents: lists without a judged one, judgments without a forbidden one.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*no document that it lists is judged",
    "ignore:run '.*' answers",
    "ignore:.*are the same here",
    "ignore:.*are they swapped",
)

MEASURES = ["nDCG@2", "nDCG_org@2", "nDCG_min@2", "nDCG_f@2", "nDCG_org", "nDCG_min", "nDCG_f"]
MEASURES += ["nDCG_min(base=2)@3", "nDCG_org(base=2)@3"]


def all_scores(labels, partial):
    """Every order of the pool, or every order of every part of it, by each of the measures: lists × measures."""
    documents = list(labels)
    sizes = range(len(documents) + 1) if partial else [len(documents)]
    lists = [order for size in sizes for part in combinations(documents, size) for order in permutations(part)]
    runs = {str(i): {"q": {d: -place for place, d in enumerate(order)}} for i, order in enumerate(lists)}
    return rs.evaluate({"q": labels}, {"name": {}} | runs, MEASURES).values[1:, 0]


class TestAttainable:
    @settings(max_examples=60)
    @given(st.lists(st.sampled_from([-3, -1, 0, 1, 2]), min_size=1, max_size=4), st.booleans())
    def test_no_list_scores_beyond_the_range_and_some_reach_it(self, labels, partial):
        pool = {f"d{i}": label for i, label in enumerate(labels)}
        found = study.boundedness({"q": pool}, None, MEASURES, partial=partial)
        for measure, every in zip(MEASURES, all_scores(pool, partial).T, strict=True):
            assert found.lowest[measure][0] == pytest.approx(every.min(), abs=1e-12)
            assert found.highest[measure][0] == pytest.approx(every.max(), abs=1e-12)

    def test_worst_over_ideal_where_the_ideal_is_positive(self):
        found = study.boundedness({"q": {"a": 2, "b": -3, "c": -1, "d": 1}}, None, ["nDCG_org@2"])
        log3 = np.log2(3)
        assert found.lowest["nDCG_org@2"][0] == pytest.approx((-3 - 1 / log3) / (2 + 1 / log3), abs=1e-12)
        assert found.highest["nDCG_org@2"][0] == 1.0

    def test_where_the_ideal_is_negative_the_worst_order_scores_highest(self):
        found = study.boundedness({"q": {"a": 0.1, "b": -2}}, None, ["nDCG_org@2"])
        assert found.lowest["nDCG_org@2"][0] == 1.0
        assert found.highest["nDCG_org@2"][0] > 1.0
        assert found.above_one == {"nDCG_org@2": 1.0}
        assert found.below_zero == {"nDCG_org@2": 0.0}

    def test_gains_decide(self):
        labels = {"q": {"a": 3, "b": -2, "c": 0}}
        assert study.boundedness(labels, None, ["nDCG_org@1"]).below_minus_one["nDCG_org@1"] == 0
        found = study.boundedness(labels, None, ["nDCG_org@1", "nDCG_org(gains={-2:-1})@1"], gains={-2: -10})
        assert found.below_minus_one == {"nDCG_org@1": 1.0, "nDCG_org(gains={-2:-1})@1": 0.0}


class TestShares:
    def test_by_hand(self):
        qrels = {"q1": {"a": 1, "b": -1}, "q2": {"a": 1, "b": -2, "c": 0}, "q3": {"a": 2, "b": 0}, "q4": {"a": 0}}
        found = study.boundedness(qrels, None, ["nDCG_org@1"])
        assert found.lowest["nDCG_org@1"].tolist() == [-1, -2, 0, 0]
        assert found.below_zero["nDCG_org@1"] == 2 / 4
        assert found.below_minus_one["nDCG_org@1"] == 1 / 4  # -1 itself is not below it
        assert found.queries == ("q1", "q2", "q3", "q4")

    def test_unbounded_lists_are_those_of_the_measures_UBQ(self):
        qrels, runs = _collection(seed=4)
        for inside in ("", "(base=2)"):
            measure = f"nDCG_min{inside}@3"
            found = study.boundedness(qrels, runs, [measure], unjudged="drop")
            for part, name in ((found.over, "UBQ_over"), (found.under, "UBQ_under"), (found.unbounded, "UBQ")):
                means = rs.evaluate(qrels, runs, [f"{name}{inside}@3"], unjudged="drop").mean_of(f"{name}{inside}@3")
                assert part[measure] == pytest.approx(np.mean(list(means.values())), abs=1e-12)
                assert part[measure] > 0

    def test_by_other_measures_the_score_itself_counts(self):
        qrels, runs = _collection(seed=5)
        found = study.boundedness(qrels, runs, ["nDCG_org@3", "nDCG@3", "nDCG_f@3"])
        values = rs.evaluate(qrels, runs, ["nDCG_org@3"]).values[:, :, 0]
        assert found.over["nDCG_org@3"] == pytest.approx(np.mean(values > 1))
        assert found.under["nDCG_org@3"] == pytest.approx(np.mean(values < 0))
        assert found.under["nDCG_org@3"] > 0
        for bounded in ("nDCG@3", "nDCG_f@3"):
            assert found.unbounded[bounded] == 0

    def test_a_list_that_equals_the_ideal_is_bounded(self):
        qrels = {"q": {f"d{i}": 0.1 * i for i in range(1, 30)}}
        ideal = {"q": {f"d{i}": i for i in range(1, 30)}}
        found = study.boundedness(qrels, ideal, ["nDCG_min@20", "nDCG_org@20", "nDCG_f@20"])
        assert set(found.unbounded.values()) == {0.0}

    def test_without_runs_there_is_nothing_to_count(self):
        found = study.boundedness({"q": {"a": 1}}, None, ["nDCG_min@3"])
        assert np.isnan(found.over["nDCG_min@3"])
        assert found.to_frame()["over"].to_list() == [None]
        assert str(found).splitlines()[3].split()[:4] == ["nDCG_min@3", "-", "-", "-"]

    def test_difficulty_is_the_measures(self):
        qrels, runs = _collection(seed=6)
        found = study.boundedness(qrels, runs, ["nDCG_min@3", "nDCG_org(gains={-2:-10})@5"])
        for measure, name in (
            ("nDCG_min@3", "Difficulty@3"),
            ("nDCG_org(gains={-2:-10})@5", "Difficulty(gains={-2:-10})@5"),
        ):
            wanted = rs.evaluate(qrels, runs, [name]).values[0, :, 0]
            assert np.allclose(found.difficulty[measure], wanted, atol=1e-15)

    def test_queries_can_be_named(self):
        qrels, runs = _collection(seed=7)
        found = study.boundedness(qrels, runs, ["nDCG_org@3"], queries=["q3", "q1", "nobody"])
        assert found.queries == ("q3", "q1", "nobody")
        assert found.lowest["nDCG_org@3"][2] == 0
        alone = study.boundedness(qrels, None, ["nDCG_org@3"], queries=["q3", "q1", "nobody"])
        assert np.array_equal(alone.lowest["nDCG_org@3"], found.lowest["nDCG_org@3"])


class TestWebTrack:
    # Paper 4's Table 2a, first column: topics whose lowest score is below 0
    @pytest.mark.parametrize(
        ("year", "below_zero"), [(2010, 1.0), (2011, 0.94), (2012, 0.96), (2013, 0.74), (2014, 0.70)]
    )
    def test_topics_that_can_fall_below_zero(self, data_dir, year, below_zero):
        qrels = data_dir / "trec_web_qrels" / f"qrels.web{year}.adhoc.txt"
        found = study.boundedness(qrels, None, ["nDCG_org@20", "nDCG_min@20", "nDCG_f@20"])
        assert found.below_zero == {"nDCG_org@20": pytest.approx(below_zero), "nDCG_min@20": 0.0, "nDCG_f@20": 0.0}


class TestResult:
    def test_frame(self):
        qrels, runs = _collection(seed=4)
        found = study.boundedness(qrels, runs, ["nDCG_min@3", "nDCG_org@3"])
        frame = found.to_frame()
        assert frame.height == 2 * len(found.queries)
        assert frame.filter(measure="nDCG_min@3")["over"].mean() == pytest.approx(found.over["nDCG_min@3"], abs=1e-12)

    def test_figure(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        qrels, _ = _collection(seed=4)
        found = study.boundedness(qrels, None, ["nDCG_min@3", "nDCG_org@3"])
        assert found.plot().axes[0].get_ylabel() == "nDCG_min@3"
        segments = found.plot("nDCG_org@3").axes[0].collections[0].get_segments()
        assert sorted(s[0][1] for s in segments) == sorted(found.lowest["nDCG_org@3"].tolist())


# The ideal of nDCG_org is positive in q and negative in r: one can fall below 0, the other rise above 1.
BOTH_ENDS = {"q": {"a": 1, "b": -1}, "r": {"c": -1, "d": -2}, "s": {"e": 1}, "t": {"f": 1}}


class TestWords:
    def test_topics_with_either_end_outside_are_counted_once_each(self):
        found = study.boundedness(BOTH_ENDS, {"q": {"b": 1}}, ["nDCG_org@1"])
        assert (found.below_zero["nDCG_org@1"], found.above_one["nDCG_org@1"]) == (0.25, 0.25)
        assert found.reading() == [
            "nDCG_org@1 can leave 0 to 1 in 50.0% of topics, as low as -1 and as high as 2, "
            "and did in 25.0% of the lists given."
        ]

    def test_lists_that_leave_documents_out(self):
        found = study.boundedness(BOTH_ENDS, None, ["nDCG_min@2", "nDCG_f@2", "nDCG@2"])
        assert found.can_leave == {"nDCG_min@2": 0.5, "nDCG_f@2": 0.0, "nDCG@2": 0.0}
        assert found.reading() == [
            "By nDCG_min@2 all judged documents in any order score between 0 and 1, but a list without some of them "
            "can score outside in 50.0% of topics.",
            "nDCG_f@2 and nDCG@2 stay between 0 and 1 in every topic, whatever the list.",
        ]

    @given(st.lists(st.sampled_from([-2, -1, 0, 1, 2]), min_size=1, max_size=4), st.integers(1, 4))
    def test_can_leave_is_what_some_list_does(self, labels, k):
        qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}}
        lists = [list(p) for n in range(len(labels) + 1) for p in permutations(qrels["q"], n)]
        runs = {str(r): {"q": {d: -i for i, d in enumerate(docs)}} for r, docs in enumerate(lists)}
        names = [f"{m}@{k}" for m in ("nDCG_org", "nDCG_min", "nDCG_f", "nDCG")]
        values = rs.evaluate(qrels, runs, names).values[:, 0]
        outside = ((values < -1e-12) | (values > 1 + 1e-12)).any(axis=0)
        assert list(study.boundedness(qrels, None, names).can_leave.values()) == outside.tolist()


class TestBadInput:
    @pytest.mark.parametrize("measure", ["AP", "DCG@5", "nDCG_qwa", "ERR@10"])
    def test_a_measure_without_a_closed_form(self, measure):
        with pytest.raises(InputError, match="has no closed form here; use nDCG, nDCG_org, nDCG_min or nDCG_f"):
            study.boundedness({"q": {"a": 1}}, None, [measure])

    def test_an_unknown_measure(self):
        with pytest.raises(InputError, match="there are: nDCG_f@5"):
            study.boundedness({"q": {"a": 1}}, None, ["nDCG_f@5"]).over["AP"]


def _collection(seed, topics=12, systems=5):
    draw = np.random.default_rng(seed)
    qrels, runs = {}, {f"s{s}": {} for s in range(systems)}
    for t in range(topics):
        documents = [f"d{i}" for i in range(draw.integers(2, 6))]
        qrels[f"q{t}"] = {d: int(draw.choice([-2, 0, 1, 2])) for d in documents}
        for run in runs.values():
            run[f"q{t}"] = {d: float(draw.random()) for d in [*documents, "unjudged"] if draw.random() < 0.6}
    return qrels, runs
