"""Descriptions: by hand on small judgments, and against what is printed about the web tracks."""

import json
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranksift as rs
from ranksift.evaluation.describe import Spread

QRELS = {"q1": {"a": 2, "b": 0, "c": -2, "d": 0}, "q2": {"a": 0}, "q3": {"a": 2, "b": 2}}


def test_label_shares_are_taken_three_ways():
    found = {x.label: x for x in rs.describe(QRELS).labels}
    assert list(found) == [-2, 0, 2]
    assert [x.judgments for x in found.values()] == [1, 3, 3]
    assert [x.topics for x in found.values()] == [1, 2, 2]
    assert [x.share for x in found.values()] == pytest.approx([1 / 7, 3 / 7, 3 / 7])
    assert [x.mean_share for x in found.values()] == pytest.approx([1 / 12, (1 / 2 + 1) / 3, (1 / 4 + 1) / 3])
    assert [x.mean_share_where_given for x in found.values()] == pytest.approx([1 / 4, 3 / 4, 5 / 8])
    assert [x.forbidden for x in found.values()] == [True, False, False]


def test_gains_decide_what_is_forbidden_and_relevant():
    found = rs.describe(QRELS, gains={0: -1, -2: 0})
    assert [(x.gain, x.forbidden) for x in found.labels] == [(0.0, False), (-1.0, True), (2.0, False)]
    assert found.with_forbidden == ("q1", "q2")
    assert found.without_relevant == ("q2",)


def test_topics_and_their_spread():
    found = rs.describe(QRELS)
    rows = [(t.query_id, t.judged, t.relevant, t.neutral, t.forbidden) for t in found.topics]
    assert rows == [("q1", 4, 1, 2, 1), ("q2", 1, 0, 1, 0), ("q3", 2, 2, 0, 0)]
    assert found.pool == Spread(pytest.approx(7 / 3), pytest.approx(statistics.stdev([4, 1, 2])), 1.0, 2.0, 4.0)
    assert (found.relevant.mean, found.forbidden.max) == (1.0, 1.0)
    assert (found.without_relevant, found.with_forbidden) == (("q2",), ("q1",))


def test_topics_by_their_number_of_documents():
    """Paper 1's Table 2, and its share of questions without a good answer."""
    qrels = {"one": {"a": -1}, "two": {"a": -1, "b": -2}, "mixed": {"a": 1, "b": -1}, "many": {"a": 0, "b": 1, "c": -1}}
    found = rs.describe(qrels | {"lone": {"a": 0}})
    assert found.share_by_documents == {"1": 2 / 5, "2": 2 / 5, "3+": 1 / 5}
    assert found.only_forbidden == ("one", "two")
    assert "2 topics with forbidden documents only, 40.0% (one, two)" in str(found)
    assert "documents per topic: one in 40.0%, two in 40.0%, three or more in 20.0%" in str(found)
    assert rs.describe({"q": {"a": 1}}).only_forbidden == ()
    assert rs.describe(qrels, gains={-1: 1, 0: -1, 1: 0}).only_forbidden == ()


def test_a_single_topic_has_no_deviation():
    assert rs.describe({"q": {"a": 1}}).pool == Spread(1.0, 0.0, 1.0, 1.0, 1.0)


def test_a_run_beside_the_judgments():
    run = {"q1": {"a": 3, "x": 2, "y": 2, "b": 1}, "q3": {"z": 1}, "new": {"a": 1, "b": 1}}
    (found,) = rs.describe(QRELS, {"mine": run}, k=[1, 2]).runs
    assert (found.run, found.answered, found.unanswered, found.unknown, found.documents) == ("mine", 2, 1, 1, 7)
    assert found.length == Spread(pytest.approx(5 / 3), pytest.approx(statistics.stdev([4, 0, 1])), 0.0, 1.0, 4.0)
    assert found.judged_length == Spread(
        pytest.approx(2 / 3), pytest.approx(statistics.stdev([2, 0, 0])), 0.0, 0.0, 2.0
    )
    assert found.judged_at == {1: pytest.approx(1 / 3), 2: pytest.approx((1 / 2) / 3)}
    assert (found.tied, found.queries_with_ties) == (4, 2)


@pytest.mark.filterwarnings("ignore:.*no document that it lists is judged", "ignore:run 'run' answers")
@given(
    st.dictionaries(
        st.sampled_from("qrst"),
        st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([1.0, 2.0, 3.0]), min_size=1),
        min_size=1,
    )
)
def test_ties_and_judged_shares_against_a_plain_count(run):
    (found,) = rs.describe({"q": {"a": 1, "b": 0}, "r": {"c": 1}}, run, k=3).runs
    lists = [list(docs.values()) for docs in run.values()]
    assert found.tied == sum(scores.count(s) > 1 for scores in lists for s in scores)
    assert found.queries_with_ties == sum(len(set(scores)) < len(scores) for scores in lists)
    assert found.unknown == len(set(run) - {"q", "r"})
    judged = rs.evaluate({"q": {"a": 1, "b": 0}, "r": {"c": 1}}, run, "Judged@3", queries=["q", "r"])
    assert found.judged_at[3] == judged.mean_of("Judged@3")


def test_runs_are_averaged():
    found = rs.describe(QRELS, {"one": {"q1": {"a": 1, "b": 2}}, "two": {"q2": {"a": 1}}})
    assert found.judged_length.mean == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert rs.describe(QRELS).judged_length is None


def test_a_run_of_other_queries_or_of_none():
    found = rs.describe(QRELS, {"other": {"x": {"a": 1}}, "nothing": {"q1": {}}})
    assert [(r.answered, r.unanswered, r.unknown) for r in found.runs] == [(0, 3, 1), (0, 3, 0)]
    assert [r.queries_with_ties for r in found.runs] == [0, 0]


def test_results_as_json_frames_and_text():
    found = rs.describe(QRELS, {"q1": {"a": 3, "x": 2}}, k=(1, 2))
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(written) == [
        "qrels", "topics", "judgments", "labels", "judged_per_topic", "relevant_per_topic", "forbidden_per_topic",
        "topics_without_relevant", "topics_with_forbidden", "topics_with_only_forbidden", "share_by_documents",
        "per_topic", "runs", "judged_length_over_runs",
    ]  # fmt: skip
    assert written["labels"][0]["label"] == -2
    assert written["runs"][0]["judged_at"] == {"1": pytest.approx(1 / 3), "2": pytest.approx(1 / 6)}
    assert found.to_frame()["judgments"].to_list() == [1, 3, 3]
    assert found.to_frame("topics")["query_id"].to_list() == ["q1", "q2", "q3"]
    assert found.to_frame("runs")["length_max"].to_list() == [2.0]
    assert "1 topic without a relevant document (q2)" in str(found)
    assert "judged@2" in str(found)
    assert repr(found) == "<Description: 'qrels', 3 topics, 1 run>"
    with pytest.raises(rs.InputError, match="there is no table of 'x'"):
        found.to_frame("x")


def test_a_depth_that_is_no_rank_is_refused():
    with pytest.raises(rs.InputError, match="k is not a positive integer"):
        rs.describe(QRELS, {"q1": {"a": 1}}, k=0)


# -- the web tracks ------------------------------------------------------------------------------------------

# Judgments, topics and judgments of each label.
COUNTS = {
    "web2010.adhoc": (25329, 48, {-2: 1431, 0: 18665, 1: 4018, 2: 1077, 3: 138}),
    "web2011.adhoc": (19381, 50, {-2: 1019, 0: 15205, 1: 2038, 2: 711, 3: 408}),
    "web2012.adhoc": (16055, 50, {-2: 858, 0: 11674, 1: 2208, 2: 405, 3: 52, 4: 858}),
    "web2013.adhoc": (14474, 50, {-2: 234, 0: 10090, 1: 3044, 2: 920, 3: 179, 4: 7}),
    "web2014.adhoc": (14432, 50, {-2: 556, 0: 8211, 1: 3788, 2: 1614, 3: 230, 4: 33}),
    "tasks2015-web301-350.adhoc": (3422, 35, {-2: 1240, 0: 1179, 1: 863, 2: 140}),
    "tasks2016-web351-400.adhoc": (3671, 50, {-2: 97, 0: 1056, 1: 2209, 2: 309}),
    "microblog2011": (60129, 49, {-2: 116, 0: 57048, 1: 2404, 2: 561}),
}

# Paper 1's Table 3 in percent, paper 4's Table 1 as shares; labels -2, 0, 1, 2, 3, 4.
TABLE_3 = {
    2010: [5.65, 73.70, 15.90, 4.25, 0.54, 0],
    2011: [5.25, 78.45, 10.50, 3.67, 2.11, 0],
    2012: [5.34, 72.71, 13.75, 2.52, 0.32, 5.34],
    2013: [1.62, 69.80, 21.03, 6.36, 1.24, 0.05],
    2014: [3.86, 56.90, 26.25, 11.18, 1.59, 0.23],
}
TABLE_1 = {
    2010: [0.05, 0.73, 0.17, 0.05, 0.01, 0.00],
    2011: [0.06, 0.77, 0.12, 0.05, 0.10, 0.00],
    2012: [0.05, 0.73, 0.14, 0.04, 0.02, 0.06],
    2013: [0.02, 0.70, 0.21, 0.08, 0.02, 0.01],
    2014: [0.06, 0.57, 0.26, 0.11, 0.03, 0.02],
}


@pytest.fixture(scope="module")
def web(data_dir):
    folder = data_dir / "trec_web_qrels"
    if not folder.is_dir():
        pytest.skip("no web-track judgments in the data folder")
    return lambda name: rs.describe(folder / f"qrels.{name}.txt")


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_the_web_tracks(web, name):
    found = web(name)
    assert (found.judgments, len(found.topics), {x.label: x.judgments for x in found.labels}) == COUNTS[name]


@pytest.mark.parametrize("year", TABLE_3)
def test_label_shares_of_paper_1_and_paper_4(web, year):
    found = {x.label: x for x in web(f"web{year}.adhoc").labels}
    labels = [-2, 0, 1, 2, 3, 4]
    shares = [100 * found[x].share if x in found else 0 for x in labels]
    # Printed to 0.01; a few cells are rounded further, the farthest is 69.80 for 69.71.
    assert shares == pytest.approx(TABLE_3[year], abs=0.091)
    if year == 2012:
        assert [round(s, 2) for s in shares] == TABLE_3[year]
    where_given = [found[x].mean_share_where_given if x in found else 0 for x in labels]
    assert where_given == pytest.approx(TABLE_1[year], abs=0.00501)


@pytest.mark.parametrize("qrels", [{}, {"q": {}}])
def test_nothing_judged(qrels):
    with pytest.raises(rs.InputError, match="qrels: there is no judgment; give at least one"):
        rs.describe(qrels, {"q": {"a": 1.0}})
