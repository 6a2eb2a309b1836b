"""Audits: every cost is what judging the changed list gives, every count what counting gives."""

import json

import numpy as np
import pytest

import ranksift as rs
from ranksift import GlobalCutoff, InputError, RankSiftWarning
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.lists import Lists
from ranksift.cutoffs import decision_effects
from ranksift.cutoffs.audit import audit
from ranksift.cutoffs.baselines import FilterAll, FixedCutoff, RankOnly
from ranksift.cutoffs.decision_effects import if_reversed
from ranksift.cutoffs.threshold import one_measure
from tests.cutoffs.brute import small_case

OF_LISTS = ("gains", "unjudged", "rank_scores", "cut_scores", "documents")


def audited(cutoff, *data, **how):
    options = {name: how.pop(name) for name in OF_LISTS if name in how}
    if len(data) > 1:
        data = ((Lists.from_run if len(data) == 2 else Lists.from_arrays)(*data, **options),)
    return audit(cutoff, *data, **how)


quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

CUMULATIVE = [
    "nDCG_f@3",
    "nDCG_f@1",
    "nDCG_f",
    "nDCG_min@2",
    "nDCG_org@3",
    "nDCG@3",
    "DCG@2",
    "nDCG_f(gains={-2:-10})@2",
]
OTHERS = ["AP", "RR_qwa", "Fdocs@2", "RBP(p=0.5)", "nDCG_qwa", "Empty", "GoodFiltered"]

# q: a good document is dropped and a forbidden one shown. r: all is well.
QRELS = {"q": {"a": 2, "b": 1, "c": -1, "x": 1}, "r": {"d": 1, "e": -1}}
RUN = {"q": {"a": 0.9, "b": 0.6, "c": 0.8, "u": 0.1}, "r": {"d": 0.75, "e": 0.3}}


def fixed(threshold, *data):
    return FixedCutoff(threshold).fit(*(data or ([0.0, 1.0], [1, -1], ["q", "r"])))


def own_value(measure, labels, place, kept):
    """A query's own value, from nothing but its labels, the order of its documents, and what is shown."""
    known = ~np.isnan(labels)
    judged = JudgedRun.from_arrays(np.nan_to_num(labels), -place, np.zeros(len(labels)), judged=known, kept=kept)
    top, bottom = measure.per_query(judged)
    return float(measure.values(top, bottom)[0])


@quiet
@pytest.mark.parametrize("name", [*CUMULATIVE, *OTHERS])
def test_a_reversed_decision_changes_what_judging_the_changed_list_says(name):
    draw, measure = np.random.default_rng(0), one_measure(name)
    for kind in range(60):
        scores, labels, groups, rank_scores = small_case(draw, kind)
        lists = Lists.from_arrays(scores, labels, groups, rank_scores=rank_scores)
        kept = draw.random(len(scores)) < 0.6
        found = if_reversed(measure, lists, kept, np.arange(len(kept)))
        for i in range(len(kept)):
            mine = lists.query == lists.query[i]
            own = np.where(lists.judged, lists.label, np.nan)[mine], lists.rank[mine].astype(float)
            other = kept.copy()
            other[i] ^= True
            change = own_value(measure, *own, other[mine]) - own_value(measure, *own, kept[mine])
            assert found[i] == pytest.approx(change, abs=1e-12)


def test_small_batches_give_the_same(monkeypatch):
    draw = np.random.default_rng(1)
    lists = Lists.from_arrays(draw.normal(size=40), draw.choice([-1.0, 0, 1], 40), np.repeat([0, 1, 2, 3], 10))
    kept, some, measure = draw.random(40) < 0.5, draw.permutation(40)[:25], one_measure("AP")
    expected = if_reversed(measure, lists, kept, some)
    for batch in (1, 10, 35):
        monkeypatch.setattr(decision_effects, "_BATCH", batch)
        assert if_reversed(measure, lists, kept, some).tolist() == expected.tolist()


@quiet
def test_the_cost_of_a_document_shown_is_what_explain_says():
    draw = np.random.default_rng(2)
    qrels = {f"q{i}": {f"d{j}": int(draw.choice([-2, -1, 0, 1, 2])) for j in range(8)} for i in range(6)}
    run = {q: {f"d{j}": float(draw.normal()) for j in range(10)} for q in qrels}
    found = audited(fixed(-0.3), qrels, run, measure="nDCG_f@4", worst=100)
    shown = fixed(-0.3).apply(run, any_scale=True)
    assert found.false_keeps
    for document in found.false_keeps:
        explained = rs.explain(qrels, shown, "nDCG_f@4", document.query_id).documents
        (change,) = (d.if_filtered for d in explained if d.doc_id == document.doc_id)
        assert document.cost == pytest.approx(change, abs=1e-12)


class TestErrors:
    def test_by_hand(self):
        found = audited(fixed(0.7), QRELS, RUN)
        (drop,) = found.false_drops
        assert (drop.query_id, drop.doc_id, drop.rank, drop.label, drop.gain) == ("q", "b", 3, 1.0, 1.0)
        assert (drop.score, drop.threshold, drop.margin) == (0.6, 0.7, pytest.approx(-0.1, abs=1e-15))
        # I − W of q: (2 + 1 / log2(3) + 1 / 2) − (−1); b would come third.
        width = 2 + 1 / np.log2(3) + 0.5 + 1
        assert drop.cost == pytest.approx(0.5 / width, abs=1e-12)
        (keep,) = found.false_keeps
        assert (keep.query_id, keep.doc_id, keep.rank, keep.gain) == ("q", "c", 2, -1.0)
        assert keep.margin == pytest.approx(0.1, abs=1e-15)
        assert keep.cost == pytest.approx(1 / np.log2(3) / width, abs=1e-12)
        assert found.value == pytest.approx(((2 - 1 / np.log2(3) + 1) / width + 1.0) / 2, abs=1e-12)
        assert found.keep_all == pytest.approx(rs.evaluate(QRELS, RUN, "nDCG_f@3").mean_of("nDCG_f@3"), abs=1e-12)
        assert found.drop_all == pytest.approx(rs.evaluate(QRELS, {"q": {}}, "nDCG_f@3").mean_of("nDCG_f@3"), abs=1e-12)

    @quiet
    @pytest.mark.parametrize("name", ["nDCG_f@3", "AP", "Fdocs@2"])
    def test_the_worst_of_all_come_first_and_each_is_an_error(self, name):
        draw, measure = np.random.default_rng(3), one_measure(name)
        sign = 1 if measure.higher_is_better else -1
        for kind in range(60):
            scores, labels, groups, rank_scores = small_case(draw, kind)
            if np.isnan(labels).all():
                continue
            t = float(draw.choice(scores))
            found = audited(
                fixed(t, scores, labels, groups), scores, labels, groups,
                rank_scores=rank_scores, measure=name, worst=2, any_scale=True,
            )  # fmt: skip
            lists = found.lists
            change = sign * if_reversed(measure, lists, lists.score >= t, np.arange(len(scores)))
            for told, wrong in (
                (found.false_drops, (lists.score < t) & lists.judged & (lists.gain >= 0)),
                (found.false_keeps, (lists.score >= t) & (lists.gain < 0)),
            ):
                expected = sorted((c for c in change[wrong] if c > 1e-12), reverse=True)[:2]
                assert [d.cost for d in told] == pytest.approx(expected, abs=1e-12)
                for d in told:
                    assert (scores[d.doc_id], labels[d.doc_id], str(groups[d.doc_id])) == (d.score, d.label, d.query_id)
                    assert d.margin == d.score - t

    def test_equal_costs_stand_in_the_order_of_queries_and_ranks(self):
        qrels = {q: {"a": 1, "b": 1} for q in "rq"}
        run = {q: {"a": 0.2, "b": 0.1} for q in "rq"}
        found = audited(fixed(0.7), qrels, run, measure="P@2", any_scale=True)
        assert [(d.query_id, d.doc_id) for d in found.false_drops] == [("r", "a"), ("r", "b"), ("q", "a"), ("q", "b")]

    def test_errors_that_cost_nothing_are_not_told(self):
        """The forbidden document below k harms nobody, and the good one of gain 0 gives nothing."""
        found = audited(
            fixed(0.15), {"q": {"a": 1, "b": -1, "c": 0}}, {"q": {"a": 3.0, "b": 0.2, "c": 0.1}}, measure="nDCG_f@1"
        )
        assert (found.false_drops, found.false_keeps) == ((), ())
        assert "There are none." in str(found)
        assert "Queries that lose most" not in str(found)
        assert found.to_frame()["cost"].to_list() == [None, 0.0, 0.0]

    def test_gains_of_the_measure_say_what_is_forbidden(self):
        found = audited(
            fixed(0.15), {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.3, "b": 0.2}}, measure="nDCG_f(gains={0:-5})@3"
        )
        assert [d.doc_id for d in found.false_keeps] == ["b"]

    def test_documents_in_any_order_give_the_same(self):
        draw = np.random.default_rng(4)
        scores, labels, groups = draw.normal(size=60), draw.choice([-2.0, 0, 1, 2], 60), np.repeat(np.arange(12), 5)
        shuffle = draw.permutation(60)
        cut = fixed(0.3, scores, labels, groups)
        one = audited(cut, scores, labels, groups)
        two = audited(cut, scores[shuffle], labels[shuffle], groups[shuffle])
        for before, after in ((one.false_drops, two.false_drops), (one.false_keeps, two.false_keeps)):
            assert len(before) > 3
            assert [d.doc_id for d in before] == [shuffle[d.doc_id] for d in after]
            assert [d.cost for d in before] == pytest.approx([d.cost for d in after], abs=1e-14)


class TestThresholds:
    def test_infinite_ones_have_no_margin(self):
        for rule, error in ((FilterAll(), "false_drops"), (RankOnly(), "false_keeps")):
            found = audited(rule.fit([0.0, 1.0], [1, -1], ["q", "r"]), QRELS, RUN)
            told = getattr(found, error)
            assert told
            if rule.rule == "filter-all":
                assert {(d.threshold, d.margin) for d in told} == {(None, None)}
                assert found.per_query()["threshold"].to_list() == [None, None]

    def test_of_a_rule_for_each_query_it_is_the_lowest_score_kept(self):
        class TopTwo(RankOnly):
            rule = ""

            def _kept(self, lists):
                return lists.rank <= 2

        found = audited(TopTwo().fit([0.0, 1.0], [1, -1], ["q", "r"]), QRELS, RUN)
        assert found.threshold.tolist() == [0.8, 0.3]
        assert {d.doc_id: d.margin for d in found.false_drops} == {"b": pytest.approx(-0.2)}
        assert found.rule == "TopTwo"

    @quiet
    def test_the_one_threshold_of_all_queries(self):
        cut = GlobalCutoff("nDCG_f@3").fit_run(QRELS, RUN)
        assert audited(cut, QRELS, RUN).threshold.tolist() == [cut.threshold_] * 2


class TestTables:
    def test_totals(self):
        found = audited(fixed(0.7), QRELS, RUN)
        rows = [tuple(cell.value for cell in row) for row in found.totals().rows]
        assert rows == [
            ("good (gain >= 0)", 3, 2, 1, 1 / 3),
            ("forbidden (gain < 0)", 2, 1, 1, 0.5),
            ("not judged", 1, 0, 1, 1.0),
            ("all", 6, 3, 3, 0.5),
        ]

    def test_what_was_dropped_in_which_query_and_by_what_margin(self):
        found = audited(fixed(0.7), QRELS, RUN)
        rows = [tuple(cell.value for cell in row) for row in found.dropped().rows]
        assert [(row[0], row[1], row[2]) for row in rows] == [("q", "b", 3), ("q", "u", 4), ("r", "e", 2)]
        assert [row[7] for row in rows] == pytest.approx([-0.1, -0.6, -0.4])
        assert rows[1][3:5] == (None, None)
        assert [row[8] is None for row in rows] == [False, True, True]
        assert len(found.dropped("r").rows) == 1
        with pytest.raises(InputError, match="query 's' is unknown"):
            found.dropped("s")
        with pytest.raises(InputError, match="use 'false drops' or 'false keeps'"):
            found.errors("all")

    def test_queries(self):
        q, r = audited(fixed(0.7), QRELS, RUN).queries
        assert (q.query_id, q.documents, q.dropped, q.good_dropped, q.forbidden_dropped, q.forbidden_shown) == (
            "q",
            4,
            2,
            1,
            0,
            1,
        )
        assert (r.query_id, r.documents, r.dropped, r.good_dropped, r.forbidden_dropped, r.forbidden_shown) == (
            "r",
            2,
            1,
            0,
            1,
            0,
        )
        assert q.most_costly == max(d.cost for d in audited(fixed(0.7), QRELS, RUN).false_keeps)
        assert (r.most_costly, r.value) == (0.0, 1.0)

    def test_print(self):
        said = str(audited(fixed(0.7), QRELS, RUN))
        for words in ("What fixed dropped, 2 queries", "Most costly false drops: good documents dropped",
                      "Most costly false keeps: forbidden documents shown", "Queries that lose most"):  # fmt: skip
            assert words in said
        assert repr(audited(fixed(0.7), QRELS, RUN)) == "<Audit: fixed dropped 3 of 6 documents>"

    def test_frames_and_json(self):
        found = audited(fixed(0.7), QRELS, RUN)
        frame = found.to_frame()
        assert frame["doc_id"].to_list() == ["a", "c", "b", "u", "d", "e"]
        assert frame["kept"].to_list() == [True, True, False, False, True, False]
        assert frame["label"].to_list() == [2.0, -1.0, 1.0, None, 1.0, -1.0]
        assert frame["margin"].to_list() == pytest.approx([s - 0.7 for s in frame["score"]])
        assert frame["cost"].is_null().to_list() == [True, False, False, True, True, True]
        assert found.per_query()["query_id"].to_list() == ["q", "r"]
        made = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert [d["doc_id"] for d in made["false_drops"]] == ["b"]
        assert (made["documents"], made["dropped"]) == (6, 3)

    def test_ids_for_arrays(self):
        data = [0.9, 0.2, 0.8], [2, 1, -1], ["q", "q", "q"]
        named = audited(fixed(0.7), *data, documents=["a", "b", "c"])
        assert [d.doc_id for d in named.false_drops] == ["b"]
        assert [d.doc_id for d in audited(fixed(0.7), *data).false_drops] == [1]
        with pytest.raises(InputError, match="2 documents of 3 rows"):
            audited(fixed(0.7), *data, documents=["a", "b"])


class TestHow:
    def test_the_measure_is_the_rules_own(self):
        data = [0.9, 0.2, 0.8], [2, 1, -1], ["q", "q", "q"]
        with pytest.warns(rs.RankSiftWarning, match="only one query"):
            assert str(audited(GlobalCutoff("nDCG_f@2").fit(*data), *data).measure) == "nDCG_f@2"
        assert str(audited(fixed(0.7), *data).measure) == "nDCG_f@3"
        assert str(audited(fixed(0.7), *data, measure="AP").measure) == "AP"

    def test_unjudged_documents_may_be_left_out(self):
        found = audited(fixed(0.7), QRELS, RUN, unjudged="drop")
        assert found.to_frame()["doc_id"].to_list() == ["a", "c", "b", "d", "e"]

    @pytest.mark.parametrize(
        ("how", "said"),
        [
            ({"worst": 0}, "worst=0 is not a positive integer"),
            ({"measure": "c_at_1"}, "c_at_1 gives a query no value of its own"),
        ],
    )
    def test_bad_input(self, how, said):
        with pytest.raises(InputError, match=said):
            audited(fixed(0.7), QRELS, RUN, **how)

    def test_the_old_spelling_warns(self):
        with pytest.warns(RankSiftWarning, match=r"audit\(cutoff, qrels, run\) is an old spelling"):
            old = audit(fixed(0.7), QRELS, RUN)
        assert str(old) == str(audited(fixed(0.7), QRELS, RUN))
        with pytest.raises(InputError, match="rank_scores cannot be combined with qrels, run"):
            audit(fixed(0.7), QRELS, RUN, rank_scores=[1.0])

    def test_scores_on_another_scale_are_refused_unless_told_otherwise(self):
        other = {q: {d: 1000 * s for d, s in docs.items()} for q, docs in RUN.items()}
        with pytest.raises(InputError, match="the cutoff was fitted on scores from 0 to 1"):
            audited(fixed(0.7), QRELS, other)
        assert audited(fixed(0.7), QRELS, other, any_scale=True).kept.all()

    def test_a_rule_that_is_not_fitted_or_labels_that_are_not_there(self):
        with pytest.raises(InputError, match="not fitted"):
            audited(FixedCutoff(0.7), QRELS, RUN)
        with pytest.raises(InputError, match="no document has a label"):
            audited(fixed(0.7), [0.9], [None], ["q"])

    def test_two_scores_are_asked_for(self):
        labels, ranks, spam = [2, -1, 1] * 2, [3.0, 2.0, 1.0] * 2, [0.9, 0.1, 0.8] * 2
        groups = [0] * 3 + [1] * 3
        cut = GlobalCutoff("nDCG_f@3").fit(spam, labels, groups, rank_scores=ranks)
        assert audited(cut, spam, labels, groups, rank_scores=ranks).false_drops == ()
        with pytest.raises(InputError, match="fitted on two scores"):
            audited(cut, spam, labels, groups)


@quiet
def test_web_2012(data_dir):
    """The costs of a global cut on the web track add what evaluating the run with that one change adds."""
    qrels = data_dir / "trec_web_qrels" / "qrels.web2012.adhoc.txt"
    run = data_dir / "trec_web_runs" / "2012" / "cwindri.run.gz"
    if not qrels.exists() or not run.exists():
        pytest.skip("no web track data")
    how = {"gains": {-2: -10}, "unjudged": "drop"}
    judgments, given = rs.read_qrels(qrels), rs.read_run(run)
    scores = given.scores
    cut = fixed(float(np.quantile(scores, 0.7)), scores[:2], [1, -1], ["q", "r"])
    found = audited(cut, judgments, given, measure="nDCG_f@10", any_scale=True, **how)
    shown = cut.apply(given, any_scale=True).to_dict()
    everything = given.to_dict()
    before = rs.evaluate(judgments, shown, "nDCG_f@10", **how)
    assert found.value == pytest.approx(before.mean_of("nDCG_f@10"), abs=1e-12)
    assert len(found.false_drops) == len(found.false_keeps) == 10
    for kind in (found.false_drops, found.false_keeps):
        for document in (kind[0], kind[9]):
            query = document.query_id
            docs = dict(shown[query])
            if document in found.false_drops:
                docs[document.doc_id] = everything[query][document.doc_id]
            else:
                del docs[document.doc_id]
            after = rs.evaluate(judgments, {**shown, query: docs}, "nDCG_f@10", **how)
            gained = 50 * (after.mean_of("nDCG_f@10") - before.mean_of("nDCG_f@10"))
            assert document.cost == pytest.approx(gained, abs=1e-10)
