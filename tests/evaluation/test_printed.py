"""Results as a notebook shows them: escaped, with what matters, as pandas and LaTeX too."""

import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import ranksift as rs
from ranksift.study import stability, survey

EVIL = "<script>alert(1)</script>"
QRELS = {str(q): {"a": 2, "b": 1, EVIL: -1} for q in range(12)}
RUNS = {
    EVIL: {q: {"a": 3, EVIL: 2, "b": 1} for q in QRELS},
    "filtered": {q: {"a": 2, "b": 1 + int(q)} for q in QRELS},
}


class Reader(HTMLParser):
    """Tags as they are opened and closed, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def results():
    scores = rs.evaluate(QRELS, RUNS, "nDCG_f@5 AP")
    return {
        "scores": scores,
        "comparison": rs.compare(scores),
        "table": rs.compare(scores).details(),
        "one query": rs.explain(QRELS, RUNS[EVIL], "nDCG_f@5", "0"),
        "all queries": rs.explain(QRELS, RUNS[EVIL], "nDCG_f@5"),
        "description": rs.describe(QRELS, RUNS),
        "check": rs.check(QRELS, RUNS["filtered"], "nDCG_f@5>=0.5", not_worse_than=RUNS[EVIL]),
        "verdict": rs.verdict(QRELS, RUNS[EVIL], {"filtered": {q: {"a": 2, "b": 1} for q in QRELS}}),
        "study": stability(scores, sizes=[2, 3], samples=20),
        "survey": survey(qrels=QRELS, runs=RUNS, measures="nDCG_f@5 AP", only=["boundedness", "agreement"]),
        "cutoffs": rs.compare_cutoffs(
            rs.Lists.from_run(rs.read_qrels(QRELS), rs.read_run(RUNS[EVIL])), rules=["global"], folds=2
        ),
    }


NAMES = [
    "scores", "comparison", "table", "one query", "all queries", "description", "check", "verdict", "study", "survey",
    "cutoffs",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_tables_and_runs_nothing(results, name):
    found = Reader(results[name]._repr_html_())
    assert {"table", "th", "td"} <= found.tags
    assert "script" not in found.tags
    if name in ("scores", "comparison", "one query"):
        assert EVIL in found.text


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_text_markdown_and_latex(results, name):
    result = results[name]
    assert str(result)
    assert "|" in result._repr_markdown_()
    assert r"\begin{tabular}" in result.to_latex()
    assert EVIL not in result.to_latex()


FRAMES = ["scores", "comparison", "one query", "all queries", "verdict", "study", "cutoffs"]


@pytest.mark.parametrize("name", FRAMES)
def test_pandas_frames_need_no_pyarrow(results, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame, ours = results[name].to_frame(), results[name].to_pandas()
    assert list(ours.columns) == frame.columns
    assert len(ours) == len(frame) > 0
    for column in frame.columns:
        expected = frame[column].to_list()
        for one, other in zip(ours[column].tolist(), expected, strict=True):
            assert one == other or (other is None and (one is None or np.isnan(one))) or np.isnan(other)


def test_scores_per_query_in_pandas(results):
    frame = results["scores"].to_pandas(per_query=True)
    assert list(frame.columns) == ["run", "query_id", "measure", "value"]
    assert frame["value"].tolist() == results["scores"].values.ravel().tolist()


def test_scores_of_a_measure_in_any_spelling(results):
    scores = results["scores"]
    assert scores["AP"] == scores["map"] == scores.mean_of("AP")
    assert set(scores["AP"]) == {EVIL, "filtered"}
    assert [scores[name] for name in scores] == [scores.mean_of(m) for m in scores.measures]
    assert "map" in scores
    assert "P@5" not in scores
    assert rs.evaluate(QRELS, RUNS["filtered"], "AP")["AP"] == 1.0
    with pytest.raises(rs.InputError, match="measure P@5 was not computed"):
        scores["P@5"]


def test_integers_are_ids_by_their_digits():
    qrels, run = {7: {1: 1, np.int64(2): 0}, 8: {3: 1}}, {7: {2: 2.0, 1: 1.0}, 8: {"3": 1.0}}
    scores = rs.evaluate(qrels, run, "AP", queries=[7, 8])
    assert scores.queries == ("7", "8")
    assert scores["AP"] == 0.75
    assert [d.doc_id for d in rs.explain(qrels, run, "AP", 7).documents] == ["2", "1"]


@pytest.mark.parametrize("source", [{1: {"d": 1}, "1": {"e": 1}}, {"q": {1: 1, "1": 2}}])
@pytest.mark.parametrize("read", [rs.read_qrels, rs.read_run])
def test_an_id_that_is_there_as_a_number_and_as_a_string(read, source):
    with pytest.raises(rs.InputError, match="id '1' occurs both as a string and as a number; write ids as strings"):
        read(source)
