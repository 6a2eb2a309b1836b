"""Runs and judgments in, scores out: which queries count, what runs are called, what is said about them."""

import re
import warnings

import numpy as np
import polars as pl
import pytest

import ranksift as rs

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": -2}, "q3": {"e": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"d": 2.0, "c": 1.0}}
OTHER = {"q1": {"b": 2.0, "a": 1.0}, "q3": {"e": 1.0}}


# -- which queries count -----------------------------------------------------------------------------------


def test_every_judged_query_counts():
    """A query that the run does not answer is an empty list."""
    scores = rs.evaluate(QRELS, RUN, ["AP", "NumRet"])
    assert scores.queries == ("q1", "q2", "q3")
    assert scores.values[0].tolist() == [[1.0, 2.0], [0.5, 2.0], [0.0, 0.0]]
    assert scores.mean_of("AP") == 0.5


@pytest.mark.parametrize("qrels", [{}, {"q1": {}}])
@pytest.mark.parametrize("run", [{}, RUN])
@pytest.mark.parametrize("queries", ["qrels", "run"])
def test_without_judgments_no_query_counts_unless_it_is_named(qrels, run, queries):
    with pytest.raises(rs.InputError, match="qrels: there is no judgment; give one, or name the queries"):
        rs.evaluate(qrels, run, ["AP"], queries=queries)
    with pytest.raises(rs.InputError, match="there is no judgment"):
        rs.explain(qrels, run, "AP", queries=queries)
    assert rs.evaluate(qrels, {}, ["RR_qwa"], queries=["q1"]).mean_of("RR_qwa") == 1.0


def test_queries_of_the_run():
    scores = rs.evaluate(QRELS, RUN, ["AP"], queries="run")
    assert scores.queries == ("q1", "q2")
    assert scores.mean_of("AP") == 0.75


def test_queries_of_several_runs_are_those_that_all_answer():
    scores = rs.evaluate(QRELS, {"one": RUN, "other": OTHER}, ["AP"], queries="run")
    assert scores.queries == ("q1",)
    with pytest.raises(rs.InputError, match="no judged query is answered by every run"):
        rs.evaluate(QRELS, {"one": {"q1": {"a": 1}}, "other": {"q3": {"e": 1}}}, ["AP"], queries="run")


def test_queries_by_name_in_that_order():
    scores = rs.evaluate(QRELS, RUN, ["AP", "RR_qwa", "nDCG"], queries=["q2", "unjudged", "q1"])
    assert scores.queries == ("q2", "unjudged", "q1")
    # nothing is judged: R = 0, and an empty list is right
    assert scores.values[0, 1].tolist() == [0.0, 1.0, 0.0]


def test_queries_by_name_count_once():
    assert rs.evaluate(QRELS, RUN, ["AP"], queries=["q1", "q1"]).queries == ("q1",)


def test_a_query_that_neither_side_knows_is_an_empty_list_without_answers():
    scores = rs.evaluate(QRELS, RUN, ["nDCG_f@3", "Empty", "RR_qwa", "DCG@3"], queries=["q9"])
    assert scores.values[0, 0].tolist() == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("queries", ["all", "q1"])
def test_unknown_choice_of_queries(queries):
    with pytest.raises(rs.InputError, match="use 'qrels', 'run' or a list of query ids"):
        rs.evaluate(QRELS, RUN, ["AP"], queries=queries)


def test_no_query_at_all():
    with pytest.raises(rs.InputError, match="the list of queries is empty"):
        rs.evaluate(QRELS, RUN, ["AP"], queries=[])


@pytest.mark.parametrize("queries", ["qrels", "run"])
def test_no_query_in_common_shows_one_id_of_each_side(queries):
    with pytest.raises(rs.InputError) as error:
        rs.evaluate({"401": {"a": 1}}, {"Q401": {"a": 1.0}}, ["AP"], queries=queries)
    assert "'Q401'" in str(error.value)
    assert "'401'" in str(error.value)


def test_one_of_several_runs_without_a_common_query():
    with pytest.raises(rs.InputError, match="'stranger'"):
        rs.evaluate(QRELS, {"fine": RUN, "stranger": {"x": {"a": 1.0}}}, ["AP"])


def test_queries_without_judgments_are_left_out_with_a_word():
    run = {**RUN, "q8": {"a": 1.0}, "q9": {"a": 1.0}}
    with pytest.warns(rs.RankSiftWarning, match=r"2 queries without judgments left out \(the first is 'q8'\)"):
        scores = rs.evaluate(QRELS, run, ["AP"])
    assert scores.queries == ("q1", "q2", "q3")
    assert len(scores.notes) == 1
    assert "q8" in scores.notes[0]


def test_no_word_where_nothing_is_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rs.evaluate(QRELS, RUN, ["AP"]).notes == ()


def test_a_run_that_filters_everything_is_legitimate():
    for empty in ({}, {"q1": {}}, {"q1": {}, "q2": {}, "q3": {}}):
        scores = rs.evaluate(QRELS, empty, ["nDCG_f@3", "Difficulty@3", "AP"])
        assert scores.values[0, :, 0].tolist() == scores.values[0, :, 1].tolist()
        assert scores.mean_of("AP") == 0.0


# -- what runs are called ----------------------------------------------------------------------------------


def test_a_two_level_dict_is_one_run():
    assert rs.evaluate(QRELS, RUN, ["AP"]).runs == ("run",)
    assert rs.evaluate(QRELS, {"q1": {}, "q2": {}}, ["AP"]).runs == ("run",)
    assert isinstance(rs.evaluate(QRELS, RUN, ["AP"]).mean_of("AP"), float)


def test_named_runs():
    scores = rs.evaluate(QRELS, {"bm25": RUN, "other": OTHER, "nothing": {}, "filtered": {"q1": {}}}, ["AP"])
    assert scores.runs == ("bm25", "other", "nothing", "filtered")
    assert scores.mean_of("AP") == {"bm25": 0.5, "other": 0.5, "nothing": 0.0, "filtered": 0.0}


@pytest.mark.filterwarnings("ignore:run .* answers")
def test_named_runs_of_any_kind(tmp_path):
    path = tmp_path / "file.run"
    path.write_text("q1 Q0 a 1 2.0 tag\n")
    frame = pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]})
    scores = rs.evaluate(QRELS, {"file": path, "frame": frame, "run": rs.read_run(RUN), "dict": RUN}, ["RR"])
    assert scores.runs == ("file", "frame", "run", "dict")
    assert scores.values[:, 0, 0].tolist() == [1.0] * 4


@pytest.mark.filterwarnings("ignore:run .* answers")
def test_a_list_of_runs_gets_distinct_names(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bm25.run").write_text("q1 Q0 a 1 2.0 tag\n")
    paths = [tmp_path / "x" / "bm25.run", tmp_path / "y" / "bm25.run"]
    names = rs.evaluate(QRELS, paths, ["AP"]).runs
    assert len(set(names)) == 2
    assert [name.split("/")[0] for name in names] == ["x", "y"]
    assert len(set(rs.evaluate(QRELS, [RUN, RUN, RUN], ["AP"]).runs)) == 3


def test_a_list_without_a_run():
    with pytest.raises(rs.InputError, match="name at least one run"):
        rs.evaluate(QRELS, [], ["AP"])


def test_each_run_is_scored_for_itself():
    together = rs.evaluate(QRELS, {"one": RUN, "other": OTHER}, ["AP", "nDCG_f@2", "c_at_1", "Fdocs@2"])
    for name, run in {"one": RUN, "other": OTHER}.items():
        alone = rs.evaluate(QRELS, run, ["AP", "nDCG_f@2", "c_at_1", "Fdocs@2"])
        assert np.array_equal(together.values[together.row(name)], alone.values[0])
        assert np.array_equal(together.aggregate()[together.row(name)], alone.aggregate()[0])


# -- gains and unjudged documents --------------------------------------------------------------------------


def test_a_measures_own_gains_win():
    scores = rs.evaluate(QRELS, RUN, ["DCG@1", "DCG(gains={-2:-7})@1", 'DCG(gains="linear")@1'], gains={-2: -10})
    assert scores.values[0, 1].tolist() == [-10.0, -7.0, -2.0]


@pytest.mark.parametrize("gains", [{-2: -10}, "-2=-10", rs.Gains.of({-2: -10}), {-2.0: -10.0}])
def test_gains_in_any_form(gains):
    assert rs.evaluate(QRELS, RUN, ["DCG@1"], gains=gains).values[0, 1, 0] == -10.0


@pytest.mark.parametrize("gains", ["cubic", 5, {"x": 1}, {1: float("nan")}, None])
def test_wrong_gains(gains):
    with pytest.raises(rs.InputError):
        rs.evaluate(QRELS, RUN, ["DCG@1"], gains=gains)


def test_an_unjudged_document_has_gain_0_whatever_label_0_maps_to():
    qrels, run = {"q": {"a": 0, "b": 1}}, {"q": {"u": 3.0, "a": 2.0}}
    scores = rs.evaluate(qrels, run, ["DCG@1", "DCG@2", "Fdocs@2", "DCG_ul1@1"], gains={0: -5})
    dcg_1, dcg_2, forbidden, _ = scores.values[0, 0]
    assert dcg_1 == 0.0
    assert dcg_2 == pytest.approx(-5 / np.log2(3))
    assert forbidden == 0.5
    positive = rs.evaluate(qrels, run, ["DCG@1", "RR_qwa", "RBP(p=0.5, gains={0:1, 1:1})"], gains={0: 1})
    assert positive.values[0, 0].tolist() == [0.0, 0.5, 0.25]


def test_unjudged_documents_keep_their_rank_or_go():
    qrels, run = {"q": {"a": 1, "b": -1}}, {"q": {"u": 3.0, "b": 2.0, "v": 1.0, "a": 0.0}}
    assert rs.evaluate(qrels, run, ["RR"]).mean_of("RR") == 0.25
    # the document with the negative label stays
    assert rs.evaluate(qrels, run, ["RR"], unjudged="drop").mean_of("RR") == 0.5
    with pytest.raises(rs.InputError, match="use 'zero' or 'drop'"):
        rs.evaluate(qrels, run, ["RR"], unjudged="skip")


def test_ties_go_by_document_id_descending():
    qrels = {"q": {"b": 1}}
    assert rs.evaluate(qrels, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, ["RR"]).mean_of("RR") == 0.5
    assert rs.evaluate(qrels, {"q": {"b": 1.0, "a": 1.0}}, ["RR"]).mean_of("RR") == 1.0
    assert rs.evaluate({"q": {"é": 1}}, {"q": {"é": 1.0, "z": 1.0}}, ["RR"]).mean_of("RR") == 1.0


@pytest.mark.parametrize("measure", ["DCG", "nDCG_f", "nDCG_min", "AP_qwa", "RBP_qwa", "DCG_ul2@3", "E_nDCG@3", "UBQ"])
def test_gains_that_would_overflow_are_refused(measure):
    """Rather than an ideal of infinity, and a score of 0."""
    qrels, run = {"q": dict.fromkeys("abc", 1)}, {"q": dict.fromkeys("abc", 1.0)}
    with pytest.raises(rs.InputError, match="the gain of label 1 is too large"):
        rs.evaluate(qrels, run, [measure], gains={1: 1e308})
    with pytest.raises(rs.InputError, match="the gain of label 2000 is too large"):
        rs.evaluate({"q": {"a": 2000}}, {"q": {"a": 1.0}}, [measure], gains="exp")


# -- aggregation -------------------------------------------------------------------------------------------


def test_micro_measures_aggregate_numerators_and_denominators():
    qrels = {"q": {"a": -1, "b": 1, "c": 1, "d": 1}, "r": {"a": -1}}
    scores = rs.evaluate(qrels, {"q": {"a": 4, "b": 3, "c": 2, "d": 1}, "r": {"a": 1}}, ["Fdocs", "nDCG_f"])
    assert scores.numerators[0, :, 0].tolist() == [1.0, 1.0]
    assert scores.denominators[0, :, 0].tolist() == [4.0, 1.0]
    assert scores.denominators[0, :, 1].tolist() == [1.0, 1.0]
    assert scores.values[0, :, 0].tolist() == [0.25, 1.0]
    assert scores.mean_of("Fdocs") == 0.4


@pytest.mark.filterwarnings("ignore:run .* answers")
@pytest.mark.parametrize("sample", [[0], [0, 0, 1], [1, 1], [2, 1, 0], [0, 1, 2, 2, 2]])
def test_a_sample_of_topics_is_aggregated_anew(sample):
    """Micro measures and c@1 are no mean of per-query values: repeats count in both parts."""
    qrels = {"q": {"a": 1, "b": -1}, "r": {"a": 1, "b": -1}, "s": {"a": 1}}
    run = {"q": {"a": 2, "b": 1}, "r": {"b": 2}}
    scores = rs.evaluate(qrels, run, ["Fdocs@2", "c_at_1", "AP", "NumRet"])
    drawn = {f"{i}": q for i, q in enumerate(scores.queries[j] for j in sample)}
    again = rs.evaluate(
        {i: qrels[q] for i, q in drawn.items()}, {i: run.get(q, {}) for i, q in drawn.items()}, scores.measures
    )
    assert scores.aggregate(sample)[0] == pytest.approx(again.aggregate()[0], abs=1e-12)


@pytest.mark.filterwarnings("ignore:run .* answers")
def test_degenerate_queries_are_counted():
    qrels = {"q": {"a": 0}, "r": {"a": 1, "b": 0}, "s": {"a": 0, "b": -1}}
    scores = rs.evaluate(qrels, {"q": {"a": 1}}, ["nDCG_f@3", "AP", "DCG@3", "P@3", "UL2(P@1)"])
    assert scores.degenerate == {"nDCG_f@3": 1, "AP": 2, "P@3": 2, "UL2(P@1)": 2}


def test_with_nil_a_query_without_answers_is_not_degenerate():
    measures = ["nDCG@3", 'nDCG(nil="NIL")@3', 'AP(nil="NIL")', "E_nDCG@3"]
    scores = rs.evaluate({"q": {"a": 0}}, {"q": {"NIL": 1.0}}, measures)
    assert scores.values[0, 0].tolist() == [0.0, 1.0, 1.0, 0.0]
    assert scores.degenerate == {"nDCG@3": 1, "E_nDCG@3": 1}


# -- what comes out ----------------------------------------------------------------------------------------


def test_frames():
    scores = rs.evaluate(QRELS, {"one": RUN, "other": OTHER}, ["AP", "nDCG_f@2"])
    mean = scores.mean()
    assert mean.columns == ["run", "AP", "nDCG_f@2"]
    assert mean["run"].to_list() == ["one", "other"]
    assert mean["AP"].to_list() == list(scores.mean_of("AP").values())
    table = scores.per_query()
    assert table.columns == ["run", "query_id", "measure", "value"]
    assert table.height == 2 * 3 * 2
    found = table.filter((pl.col("run") == "other") & (pl.col("query_id") == "q3") & (pl.col("measure") == "AP"))
    assert found["value"].to_list() == [1.0]


def test_the_cube():
    scores = rs.evaluate(QRELS, {"one": RUN, "other": OTHER}, "AP, nDCG_f@2 P@1")
    assert scores.values.shape == (2, 3, 3)
    assert [str(m) for m in scores.measures] == ["AP", "nDCG_f@2", "P@1"]
    assert scores.values[scores.row("other"), 2, scores.column("map")] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0, 0] = 1.0


def test_what_was_not_computed():
    scores = rs.evaluate(QRELS, RUN, ["AP"])
    with pytest.raises(rs.InputError, match="was not computed; there are: AP"):
        scores.mean_of("nDCG@10")
    with pytest.raises(rs.InputError, match="was not computed"):
        scores.mean_of("no such thing")
    with pytest.raises(rs.InputError, match="there are: run"):
        scores.row("bm25")


def test_measures_in_any_form():
    for measures in ("AP", rs.AP, ["AP"], [rs.AP], ("map",), iter(["AP"])):
        assert rs.evaluate(QRELS, RUN, measures).mean_of("AP") == 0.5


@pytest.mark.parametrize("queries", [np.array(["q3", "q1"]), pl.Series(["q3", "q1"]), iter(["q3", "q1"])])
def test_queries_from_any_column(queries):
    assert rs.evaluate(QRELS, RUN, "AP", queries=queries).queries == ("q3", "q1")


@pytest.mark.parametrize("queries", [None, 5])
def test_queries_that_are_no_list(queries):
    with pytest.raises(rs.InputError, match=r"queries=.* is unknown; use 'qrels', 'run' or a list of query ids"):
        rs.evaluate(QRELS, RUN, "AP", queries=queries)


FIFTY = {f"q{i}": {"d1": 1, "d2": 0} for i in range(50)}


class TestMisfits:
    """Files that can be evaluated together, and perhaps should not be."""

    @pytest.mark.parametrize("unjudged", ["zero", "drop"])
    def test_ids_of_another_scheme(self, unjudged):
        run = {q: {"doc-1": 2.5} for q in FIFTY}
        said = "run 'run': no document that it lists is judged; make the document ids match (the run has 'doc-1', "
        with pytest.warns(rs.RankSiftWarning, match=re.escape(said)):
            scores = rs.evaluate(FIFTY, run, "AP", unjudged=unjudged)
        assert scores.mean_of("AP") == 0.0
        assert any(said in note for note in scores.notes)

    def test_NIL_is_no_such_document(self):
        rs.evaluate({"q": {"a": 1}}, {"q": {"NIL": 1.5}}, ["RR(nil='NIL')"])

    def test_few_answers(self):
        run = {q: {"d1": 2.5} for q in ("q7", "q9")}
        with pytest.warns(rs.RankSiftWarning, match="run 'run' answers 2 of 50 queries; the others count as empty"):
            rs.evaluate(FIFTY, run, "AP")
        rs.evaluate(FIFTY, run, "AP", queries="run")
        rs.evaluate(FIFTY, {q: {"d1": 2.5} for q in list(FIFTY)[:25]}, "AP")
        rs.evaluate(FIFTY, {q: {} for q in FIFTY}, "AP")  # it filters everything, on purpose

    def test_swapped(self):
        run = {q: {"d1": 2.5, "d2": 0.75} for q in FIFTY}
        with pytest.warns(rs.RankSiftWarning, match="labels such as 2.5, and scores such as 1: judgments come first"):
            rs.evaluate(run, FIFTY, "AP")
        rs.evaluate(FIFTY, run, "AP")

    def test_measures_that_are_the_same(self):
        run = {q: {"d1": 2.5, "d2": 0.75} for q in FIFTY}
        said = r"^nDCG@10, nDCG_org@10 and nDCG_f@10 are the same here: no judged document is forbidden"
        with pytest.warns(rs.RankSiftWarning, match=said):
            rs.evaluate(FIFTY, run, "nDCG@10 nDCG_org@10 nDCG_min@10 nDCG_f@10 nDCG_f@5 AP")
        rs.evaluate(FIFTY, run, "nDCG@10 nDCG_f@10", gains={0: -1})
        rs.evaluate(FIFTY, run, "nDCG@10 nDCG_f(gains='exp')@10 nDCG_f@5")

    @pytest.mark.parametrize("measures", ["AP nDCG_f@10", "nDCG_f(gains={-3:-1})@10"])
    def test_gains_of_a_label_that_nobody_has(self, measures):
        run = {q: {"d1": 2.5, "d2": 0.75} for q in FIFTY}
        gains = {-3: -10} if "AP" in measures else "linear"
        said = r"^gains name the label -3, which no judged document has \(the labels are 0, 1\)"
        with pytest.warns(rs.RankSiftWarning, match=said):
            rs.evaluate(FIFTY, run, measures, gains=gains)
        with pytest.warns(rs.RankSiftWarning, match=said):
            rs.explain(FIFTY, run, measures.split()[-1], gains=gains)
        with pytest.warns(rs.RankSiftWarning) as told:
            rs.GlobalCutoff("nDCG_f@3").fit_run(FIFTY, run, gains={-3: -10})
        assert any(re.match(said, str(one.message)) for one in told)


def test_all_measures_that_cannot_tell_rankings_apart_are_named():
    names = "nDCG@10 P@5 R@5 AP RR Rprec Bpref Success@5 RBP(p=0.8) ERR@5 kNDCG@3 kERR"
    scores = rs.evaluate({"q": {"a": 0, "b": -1}, "r": {"a": 1, "b": 0}}, {"q": {"a": 1.5}, "r": {"a": 1.5}}, names)
    assert scores.degenerate == dict.fromkeys(map(str, scores.measures), 1)
    graded = rs.RBP(p=0.8, gains={0: 1})
    assert rs.evaluate({"q": {"a": 0}}, {"q": {"a": 1.5}}, [graded, "NumRel", "NumRet"]).degenerate == {}
