"""Explanations against brute force: every claim about a list is checked by evaluating the list that it speaks of."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.evaluation import explain as module

pytestmark = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

CUMULATIVE = [
    "DCG@3", "nDCG@5", "nDCG", "nDCG_org@3", "nDCG_min@4", "nDCG_f@2", "nDCG_f", "nDCG_f(gains={-2:-10,1:0})@3",
    "nDCG_min(base=2)@4", "DCG(base=2.5)",
]  # fmt: skip
OTHERS = [
    "AP", "AP(rel=2)@3", "P@3", "P", "RR", "R@2", "Rprec", "Bpref", "Success@2", "RBP(p=0.5)",
    'RBP(p=0.5, gains="exp")', "ERR@5", "RR_qwa", "P_qwa@3", "RBP_qwa(p=0.5)", "nDCG_qwa", "AP_qwa",
    "nDCG_qwa(limit=3)", 'RBP_qwa(p=0.5, nil="NIL")', 'AP_qwa(limit=4, nil="NIL")', "c_at_1", 'c_at_1(nil="NIL")',
    'RR(nil="NIL")', 'nDCG(nil="NIL")@3', "Fdocs@3", "GoodFiltered", "Empty", "Difficulty@3", "UBQ@3", "SP@3",
    "DCG_ul1@3", "MSP_ul2@3", "UL2(DCG@3)", 'UL1(RR(nil="NIL"))', "kNDCG@3", "kERR", "Judged@3", "NumRet",
]  # fmt: skip

EVERY = CUMULATIVE + OTHERS

# Of the others, those that are sums over documents.
SUMS = [
    "AP", "AP(rel=2)@3", "P@3", "P", "RR", "RR(rel=2)@3", "R@2", "Rprec", "Success@2", "RBP(p=0.5)", "RBP(rel=2)@3",
    'RBP(p=0.5, gains="exp")', 'RBP(gains="exp", over="query")', "GMAP", "ERR@5", "ERR", "ERR(max_grade=4)@3", "kERR",
]  # fmt: skip

DOCS = ["a", "b", "c", "d", "e", "f", "NIL"]
LABELS = st.sampled_from([-2, -1, 0, 0, 1, 2])
JUDGMENTS = st.dictionaries(st.sampled_from(DOCS[:6]), LABELS, min_size=1, max_size=5)
LISTS = st.dictionaries(st.sampled_from(DOCS), st.sampled_from([1.0, 2.0, 2.0, 3.0, 4.5]), max_size=7)  # with ties
QRELS = st.fixed_dictionaries({"q": JUDGMENTS, "r": JUDGMENTS})
RUNS = st.fixed_dictionaries({"q": LISTS, "r": LISTS})
UNJUDGED = st.sampled_from(["zero", "drop"])


def values(qrels, run, measures, unjudged):
    """What query q gets."""
    return rs.evaluate(qrels, run, measures, unjudged=unjudged, queries=["q", "r"]).values[0, 0].tolist()


def in_order(docs):
    return {doc: float(len(docs) - i) for i, doc in enumerate(docs)}


def ranked(found):
    return sorted(sorted(found, reverse=True), key=lambda d: -found[d])


def approx(x):
    return pytest.approx(x, abs=1e-12)


@settings(max_examples=25)
@given(qrels=QRELS, run=RUNS, unjudged=UNJUDGED)
def test_if_filtered_is_what_evaluating_the_shorter_list_gives(qrels, run, unjudged):
    listed = ranked(run["q"]) if unjudged == "zero" else [d for d in ranked(run["q"]) if d in qrels["q"]]
    now = values(qrels, run, EVERY, unjudged)
    shorter = [{**run, "q": {d: s for d, s in run["q"].items() if d != doc}} for doc in listed]
    then = [values(qrels, other, EVERY, unjudged) for other in shorter]
    for m, measure in enumerate(EVERY):
        found = rs.explain(qrels, run, measure, "q", unjudged=unjudged, queries=["q", "r"])
        assert found.losses.value == approx(now[m])
        assert [(d.rank, d.doc_id) for d in found.documents] == list(enumerate(listed, 1))
        assert [d.if_filtered for d in found.documents] == approx([value[m] - now[m] for value in then]), measure
        assert [d.score for d in found.documents] == [run["q"][d] for d in listed]
        assert [d.label for d in found.documents] == [qrels["q"].get(d) for d in listed]
        sign = 1 if found.higher_is_better else -1
        assert found.losses.value + sign * found.losses.total == approx(found.losses.best)


@pytest.mark.parametrize("measure", CUMULATIVE + SUMS)
@settings(max_examples=30)
@given(qrels=QRELS, run=RUNS, unjudged=UNJUDGED)
def test_contributions_and_the_empty_list_add_up_to_the_value(measure, qrels, run, unjudged):
    found = rs.explain(qrels, run, measure, "q", unjudged=unjudged)
    assert [found.losses.empty] == approx(values(qrels, {"q": {}}, [measure], unjudged))
    total = found.losses.empty + sum(d.contribution for d in found.documents)
    assert total == approx(found.losses.value)
    ideal = found.losses.empty + sum(d.contribution for d in found.ideal)
    assert ideal == approx(found.losses.best)


# nDCG_org is left out: where its ideal is negative, a better list scores lower.
@pytest.mark.parametrize("measure", [m for m in CUMULATIVE if "org" not in m and "min" not in m and "gains" not in m])
@settings(max_examples=50)
@given(qrels=QRELS, run=RUNS, unjudged=UNJUDGED)
def test_each_step_is_the_list_it_says(measure, qrels, run, unjudged):
    found = rs.explain(qrels, run, measure, "q", unjudged=unjudged).losses
    labels = qrels["q"]
    clean = [d for d in ranked(run["q"]) if labels.get(d, 0) >= 0]
    ordered = sorted(clean, key=lambda d: -labels.get(d, 0))
    ideal = sorted((d for d in labels if labels[d] > 0), key=lambda d: -labels[d])
    steps = [values(qrels, {"q": in_order(docs)}, [measure], unjudged)[0] for docs in (clean, ordered, ideal)]
    assert found.to_forbidden == approx(steps[0] - found.value)
    assert found.to_misordering == approx(steps[1] - steps[0])
    assert found.to_missing == approx(steps[2] - steps[1])
    assert min(found.to_forbidden, found.to_misordering, found.to_missing) >= -1e-12


# Not here: nDCG_org (see above), nDCG_qwa (its ideal depends on the list's length), measures of the pool alone,
# and those that say nothing about a list's quality.
BEST = [m for m in CUMULATIVE if "org" not in m] + [
    "AP", "AP(rel=2)@3", "P@3", "P", "RR", "R@2", "Rprec", "Bpref", "Success@2", "RBP(p=0.5)",
    'RBP(p=0.5, gains="exp")', "ERR@5", "Fdocs@3", "GoodFiltered", "SP@3", "DCG_ul1@3", "DCG_ul2@3", "MSP_ul2@3",
    "UL2(DCG@3)", "kNDCG@3", "kERR", 'RR_qwa(scale="max")', 'RBP_qwa(p=0.5, scale="max")', 'RR(nil="NIL")',
    'nDCG(nil="NIL")@3', 'AP(nil="NIL")',
]  # fmt: skip


@pytest.mark.parametrize(
    "labels",
    [{"a": 2, "b": 1, "c": 0, "d": -2}, {"a": 0, "b": -1}, {"a": -1, "b": -2}, {"a": 1, "b": 1, "c": 2}, {"a": 0}],
)
def test_nothing_beats_the_best(labels):
    qrels = {"q": labels, "r": {"x": 2}}
    docs = [*labels, "NIL"]
    lists = [p for n in range(len(docs) + 1) for p in itertools.permutations(docs, n)]
    runs = {str(i): {"q": in_order(p), "r": {"x": 1.0}} for i, p in enumerate(lists)}
    attained = rs.evaluate(qrels, runs, BEST, queries=["q"]).values[:, 0, :]
    for m, measure in enumerate(BEST):
        found = rs.explain(qrels, {"q": {"d": 1.0}}, measure, "q")
        assert found.losses.best == approx(attained[:, m].max() if found.higher_is_better else attained[:, m].min())


@pytest.mark.parametrize("measure", ["nDCG_f@3", "AP", "Fdocs@2", "c_at_1", 'nDCG_qwa(nil="NIL")', "NumRet"])
@settings(max_examples=30)
@given(qrels=QRELS, run=RUNS, unjudged=UNJUDGED)
def test_all_queries_agree_with_each_query(measure, qrels, run, unjudged):
    everything = rs.explain(qrels, run, measure, unjudged=unjudged)
    assert {q.query_id for q in everything.queries} == {"q", "r"}
    for row in everything.queries:
        one = rs.explain(qrels, run, measure, row.query_id, unjudged=unjudged)
        assert row.losses == one.losses
        assert row.forbidden_shown == sum(d.forbidden for d in one.documents)
        harmful = one.most_harmful
        assert row.most_harmful == (harmful and harmful.doc_id)
        assert row.harmful_rank == (harmful and harmful.rank)
        assert row.if_filtered == (harmful and approx(harmful.if_filtered))
    assert everything.overall.value == approx(rs.evaluate(qrels, run, [measure], unjudged=unjudged).mean_of(measure))
    sign = 1 if everything.higher_is_better else -1
    assert everything.overall.value + sign * everything.overall.total == approx(everything.overall.best)
    totals = [q.losses.total for q in everything.queries]
    assert totals == sorted(totals, reverse=True)


def test_mean_loss_is_the_mean_of_the_losses():
    qrels = {"q": {"a": 2, "b": -2}, "r": {"c": 1, "d": 2}}
    found = rs.explain(qrels, {"q": {"b": 2, "a": 1}, "r": {"c": 1}}, "nDCG_f@5")
    for loss in ("to_forbidden", "to_misordering", "to_missing"):
        mean = sum(getattr(q.losses, loss) for q in found.queries) / 2
        assert getattr(found.overall, loss) == approx(mean)
    assert [(q.query_id, q.most_harmful) for q in found.queries] == [("q", "b"), ("r", None)]


def test_the_most_harmful_forbidden_document_is_named():
    qrels = {"q": {"good": 1, "bad": -1, "worse": -2}}
    found = rs.explain(qrels, {"q": {"bad": 3, "worse": 2, "good": 1}}, "nDCG_f@10", "q", gains={-2: -10})
    assert found.most_harmful.doc_id == "worse"
    assert "Filtering the forbidden worse at rank 2 would change it by +" in str(found)


def test_a_forbidden_document_below_k_harms_nobody():
    found = rs.explain({"q": {"a": 1, "b": -1}}, {"q": {"a": 2, "b": 1}}, "nDCG_f@1", "q")
    assert found.documents[1].forbidden
    assert found.most_harmful is None


def test_missing_names_what_was_not_found_and_what_came_too_late():
    qrels = {"q": {"a": 1, "b": 1, "c": 2, "x": 0}}
    found = rs.explain(qrels, {"q": {"x": 3, "b": 2}}, "nDCG_f@1", "q")
    assert [(d.doc_id, d.rank, d.found_at) for d in found.missing] == [("c", 1, None), ("b", 2, 2), ("a", 3, None)]
    assert [d.contribution for d in found.missing] == [1.0, 0.0, 0.0]


def test_average_precision_by_hand():
    found = rs.explain({"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"b": 3, "a": 2, "c": 1}}, "AP", "q")
    assert [d.contribution for d in found.documents] == approx([0.0, 1 / 4, 1 / 3])  # (1/2) / 2, (2/3) / 2
    assert [d.discount for d in found.documents] == [None] * 3
    assert [d.contribution for d in found.ideal] == approx([0.5, 0.5])
    assert found.losses.value == approx(1 / 4 + 1 / 3)


def test_who_stopped_at_a_better_document_gets_less_from_the_next():
    found = rs.explain({"q": {"a": 1, "b": 2}}, {"q": {"a": 2, "b": 1}}, "ERR(max_grade=2)", "q")
    assert [d.contribution for d in found.documents] == approx([1 / 4, 3 / 4 * 3 / 4 / 2])


@pytest.mark.parametrize("measure", ["Bpref", "Fdocs@3", 'RR(nil="NIL")', "RBP(residual=True)", "c_at_1"])
def test_a_measure_without_contributions_says_so_and_shows_no_empty_column(measure):
    found = rs.explain({"q": {"a": 1, "b": 0}}, {"q": {"b": 2, "a": 1}}, measure, "q")
    assert {(d.contribution, d.discount) for d in found.documents} == {(None, None)}
    assert [d.contribution for d in found.ideal] == [None]
    table = found.parts()[1]
    assert not {"discount", "contribution"} & {c.name for c in table.columns}
    assert "there are no contributions" in table.notes[0]


@pytest.mark.parametrize(("measure", "value"), [("nDCG_f", 0.5), ("ERR@50", 0.01)])
def test_what_is_printed_adds_up_to_the_value_whatever_is_left_out(measure, value):
    run = {"q": {f"d{i:03}": float(-i) for i in range(300)}}
    table = rs.explain({"q": {"d002": -1, "d040": 1, "d250": 2}}, run, measure, "q").parts()[1]
    at = [c.name for c in table.columns].index("contribution")
    total = sum(row[at].value for row in table.rows)
    assert f"add up to the value, {total:.4f}." in table.notes[0]
    assert total != 0.0
    assert [row[1].value for row in table.rows[-2:]] == [f"({101 - len(table.rows) + 2} more)", "(an empty list)"]


def test_which_rows_are_left_out_is_said():
    run = {"q": {f"d{i:03}": float(-i) for i in range(300)}}
    found = rs.explain({"q": {"d250": 1}}, run, "nDCG_f@10", "q").parts()[1]
    assert found.notes[-1] == (
        "Left out: 91 documents from rank 11 on, and 199 documents without a judgment below rank 100."
    )
    assert "Left out" not in str(rs.explain({"q": {"d1": 1}}, {"q": {"d1": 1}}, "nDCG_f", "q"))
    every = rs.explain({q: {"a": 1} for q in "abc"}, {"a": {"a": 1}}, "nDCG_f", worst=1)
    assert every.parts()[1].notes == ("Left out, with smaller losses: 2 queries.",)


def test_documents_behind_nil_are_not_shown_and_not_reordered():
    qrels, run = {"q": {"a": 0, "b": 1, "c": 2}}, {"q": in_order(["a", "b", "NIL", "c"])}
    found = rs.explain(qrels, run, 'RR_qwa(nil="NIL")', "q").losses
    assert (found.value, found.to_misordering, found.to_missing) == (0.5, 0.5, 0.0)
    found = rs.explain(qrels, run, 'RBP_qwa(p=0.5, nil="NIL", scale="max")', "q").losses
    ordered = in_order(["b", "a", "NIL", "c"])
    assert [found.value + found.to_misordering] == approx(
        values(qrels, {"q": ordered}, ['RBP_qwa(p=0.5, nil="NIL", scale="max")'], "zero")
    )


def test_a_value_that_depends_on_other_queries_does_so_when_a_document_is_filtered():
    qrels = {"q": {"a": 0}, "r": {"b": 1}}
    found = rs.explain(qrels, {"q": {"a": 1}, "r": {"b": 1}}, "c_at_1", "q")
    assert found.documents[0].if_filtered == 0.5  # unanswered, with half of all queries right


def test_of_a_long_list_the_top_and_everything_judged_is_shown():
    run = {"q": {f"d{i:03}": float(-i) for i in range(300)}}
    found = rs.explain({"q": {"d250": 1}}, run, "nDCG_f@10", "q")
    assert [d.rank for d in found.documents] == [*range(1, 101), 251]
    assert found.length == 300
    assert rs.explain({"q": {"d250": 1}}, run, "nDCG_f@120", "q").documents[-2].rank == 120


def test_batches_do_not_change_the_result(monkeypatch):
    qrels = {q: {d: (i + len(q)) % 4 - 2 for i, d in enumerate(DOCS)} for q in ("q", "rr", "sss")}
    run = {q: in_order(DOCS) for q in qrels}
    whole = [rs.explain(qrels, run, m) for m in ("nDCG_f", "c_at_1")]
    monkeypatch.setattr(module, "_BATCH", 1)
    assert [rs.explain(qrels, run, m) for m in ("nDCG_f", "c_at_1")] == whole


def test_unanswered_and_unjudged_queries():
    found = rs.explain({"q": {"a": 1}, "r": {"b": -1}}, {"q": {"a": 1}}, "nDCG_f", "r")
    assert (found.documents, found.ideal, found.losses.value) == ((), (), 1.0)
    found = rs.explain({"q": {"a": 1}}, {"new": {"a": 1}}, "RR_qwa", "new", queries=["new"])
    assert [(d.doc_id, d.label) for d in found.documents] == [("a", None)]
    assert (found.ideal, found.losses.value, found.losses.best) == ((), 0.5, 1.0)


def test_results_as_json_and_frames():
    qrels, run = {"q": {"a": 1, "b": -1}, "r": {"c": 1}}, {"q": {"b": 2, "x": 1}}
    one, everything = rs.explain(qrels, run, "nDCG_f@2", "q"), rs.explain(qrels, run, "nDCG_f@2", worst=1)
    assert list(json.loads(json.dumps(one.to_dict()))) == [
        "query_id", "run", "measure", "higher_is_better", "length", "value", "empty", "best", "lost_to_forbidden",
        "lost_to_misordering", "lost_to_missing", "most_harmful", "documents", "ideal", "missing",
    ]  # fmt: skip
    assert one.to_dict()["documents"][0]["label"] == -1
    assert one.to_frame()["label"].to_list() == [-1.0, None]
    assert one.to_frame()["forbidden"].to_list() == [True, False]
    written = json.loads(json.dumps(everything.to_dict()))
    assert list(written) == ["run", "measure", "higher_is_better", "number_of_queries", "overall", "queries"]
    assert [q["query_id"] for q in written["queries"]] == ["q"]
    assert everything.to_frame()["query_id"].to_list() == ["q", "r"]
    assert everything.to_frame()["most_harmful"].to_list() == ["b", None]
    assert str(everything).splitlines()[-2].startswith("q ")
    nothing = rs.explain(qrels, run, "AP", "r")
    assert nothing.to_frame().columns == one.to_frame().columns
    assert dict(nothing.to_frame().schema) == dict(one.to_frame().schema)


def test_repr_is_short():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    assert repr(rs.explain(qrels, run, "AP", "q")) == "<QueryExplanation: AP of query 'q', run 'run'>"
    assert repr(rs.explain(qrels, run, "AP")) == "<RunExplanation: AP of run 'run', 1 query>"


def test_a_label_that_is_no_integer_is_kept():
    found = rs.explain({"q": {"a": 0.5}}, {"q": {"a": 1}}, "nDCG_f", "q")
    assert found.documents[0].label == 0.5


def test_mistakes_are_told():
    qrels, run = {"query7": {"a": 1}, "query8": {"a": 1}}, {"query7": {"a": 1}}
    with pytest.raises(rs.InputError, match=r"query 'quer7' is unknown; there are 2: 'query7'"):
        rs.explain(qrels, run, "AP", "quer7")
    with pytest.raises(rs.InputError, match=r"query 'x' is unknown; there are 2: 'query7', 'query8'$"):
        rs.explain(qrels, run, "AP", "x")
    with pytest.raises(rs.InputError, match="2 runs are given; explain one run at a time"):
        rs.explain(qrels, {"a": run, "b": run}, "AP")
    with pytest.raises(rs.InputError, match=r"SP needs a cutoff"):
        rs.explain(qrels, run, "SP")
    with pytest.raises(rs.InputError, match="worst=0 is not a positive integer"):
        rs.explain(qrels, run, "AP", worst=0)
