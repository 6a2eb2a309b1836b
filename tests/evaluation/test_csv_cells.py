"""No text in a CSV report is a formula; numbers stay numbers, and what comes back has its own names."""

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranksift as rs
from ranksift.cli.main import run as command
from ranksift.evaluation.csv_cells import cell_as_meant, safe_cell, safe_frame

NAMES = ["=1+1", "+a", "-b", "@c", "\td", "\re", "'=f", "''-g", "'h", "-0.5", "+7", "-1e-5", "i"]


@given(st.text(st.sampled_from("'=+-@\t\r\n1.e a")))
def test_every_text_comes_back_and_none_is_a_formula(text):
    cell = safe_cell(text)
    assert cell_as_meant(cell) == text
    if cell[:1] in tuple("=+-@\t\r\n"):
        float(cell)


def test_frames():
    frame = pl.DataFrame({"=run": ["=1", None, "-2"], "value": [-1.0, 2.0, None]})
    assert safe_frame(frame).to_dict(as_series=False) == {"'=run": ["'=1", None, "-2"], "value": [-1.0, 2.0, None]}


@pytest.fixture
def qrels(tmp_path):
    labels = rs.read_qrels({name: {"=doc": 1, "-doc": -1} for name in NAMES})
    labels.save(tmp_path / "qrels.csv")
    assert rs.read_qrels(tmp_path / "qrels.csv").to_dict() == labels.to_dict()  # exact, whatever is in it
    return tmp_path / "qrels.csv"


@pytest.fixture
def runs(tmp_path):
    places = [tmp_path / f"{name}.csv" for name in ("=1+cmd", "-2", "@plain")]
    for n, place in enumerate(places, 1):
        rs.read_run({name: {"=doc": 1.0 * n, "-doc": 2.0 * (n % 2)} for name in NAMES}).save(place)
    return list(map(str, places))


def cells(capsys, *words):
    assert command([*map(str, words), "--format", "csv"]) == 0
    return [cell for row in csv.reader(io.StringIO(capsys.readouterr().out, newline="")) for cell in row]


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["evaluate"], []),
        (["evaluate"], ["--per-query"]),
        (["compare"], []),
        (["explain"], ["--query", "=1+1"]),
        (["explain"], ["--worst", "5"]),
    ],
)
def test_no_command_writes_a_formula(capsys, qrels, runs, words, more):
    given_runs = runs[:1] if words == ["explain"] else runs
    found = cells(capsys, *words, qrels, *given_runs, "-m", "nDCG_f@10", *more)
    assert any(cell.startswith("'=") for cell in found)
    for cell in found:
        if cell[:1] in tuple("=+-@\t\r\n"):
            float(cell)


def test_scores_come_back_with_their_names(tmp_path, qrels, runs):
    table = tmp_path / "table.csv"
    words = ["evaluate", str(qrels), *runs, "-m", "nDCG_f@10 AP", "--per-query", "--format", "csv", "--out", str(table)]
    assert command(words) == 0
    assert "'=1+cmd,'=1+1," in table.read_text()
    scores, computed = rs.read_scores(table), rs.evaluate(qrels, runs, "nDCG_f@10 AP")
    assert (scores.runs, scores.queries) == (computed.runs, computed.queries)
    assert (scores.values == computed.values).all()


def test_tables_of_others_keep_their_apostrophes(tmp_path):
    (tmp_path / "a.csv").write_text("system,topic,value\n'=a,'@t,1\n'=b,'@t,2\n")
    scores = rs.read_scores(tmp_path / "a.csv")
    assert (list(scores.runs), list(scores.queries)) == (["'=a", "'=b"], ["'@t"])


def test_tables_of_a_study(tmp_path, qrels, runs):
    assert command(["study", str(qrels), *runs, "-m", "nDCG_f@10 AP", "--out", str(tmp_path / "study")]) == 0
    tables = list((tmp_path / "study").glob("*.csv"))
    assert len(tables) > 3
    for table in tables:
        for row in csv.reader(io.StringIO(table.read_text(), newline="")):
            for cell in row:
                if cell[:1] in tuple("=+-@\t\r\n"):
                    float(cell)
    scores = rs.read_scores(tmp_path / "study" / "scores.csv")
    assert set(scores.queries) == set(NAMES)
    assert list(scores.runs) == ["=1+cmd", "-2", "@plain"]
