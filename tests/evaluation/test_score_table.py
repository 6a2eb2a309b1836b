"""Ready-made score tables: long and wide, from files and frames; what is refused, and in which words."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ranksift as rs
from ranksift.cli.main import run as command

LONG = """run,query_id,measure,value
a,q1,AP,0.25
a,q1,RR,1.0
a,q2,AP,0.5
a,q2,RR,0.5
b,q1,AP,0.125
b,q1,RR,0.0
b,q2,AP,0.75
b,q2,RR,1.0
"""
WIDE = "topic,a,b\nq1,0.25,0.125\nq2,0.5,0.75\n"
AP = [[0.25, 0.5], [0.125, 0.75]]
RR = [[1.0, 0.5], [0.0, 1.0]]


def written(folder: Path, name: str, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def check(scores: rs.Scores, values: list, measures: list[str]) -> None:
    assert scores.runs == ("a", "b")
    assert scores.queries == ("q1", "q2")
    assert list(map(str, scores.measures)) == measures
    np.testing.assert_array_equal(scores.values, np.array(values).transpose(1, 2, 0))


# -- shapes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "tsv.gz"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text[:-1],
        lambda text: text.replace("run,query_id,measure,value", "System,Topic,Metric,Score"),
        lambda text: text.replace("run,query_id,measure,value", "name,qid,measure,value"),  # PyTerrier
        lambda text: "".join(",".join(f'"{f}"' for f in line.split(",")) + "\n" for line in text.splitlines()),
        lambda text: "\n".join(f"{line},{i}" for i, line in enumerate(text.splitlines())),
    ],
    ids=["clean", "CRLF", "byte order mark", "other names", "PyTerrier", "quoted", "one column more"],
)
def test_long(tmp_path, suffix, change):
    text = change(LONG)
    path = written(tmp_path, f"x.{suffix}", text.replace(",", "\t") if suffix.startswith("tsv") else text)
    check(rs.read_scores(path), [AP, RR], ["AP", "RR"])
    check(rs.read_scores(path, "RR"), [RR], ["RR"])


def test_json_lines(tmp_path):
    scores = rs.read_scores(written(tmp_path, "x.csv", LONG))
    scores.per_query().write_ndjson(tmp_path / "x.jsonl")
    check(rs.read_scores(tmp_path / "x.jsonl"), [AP, RR], ["AP", "RR"])


def test_long_rows_may_stand_in_any_order(tmp_path):
    header, *rows = LONG.splitlines()
    scores = rs.read_scores(written(tmp_path, "x.csv", "\n".join([header, *reversed(rows)])))
    assert (scores.runs, scores.queries) == (("b", "a"), ("q2", "q1"))
    np.testing.assert_array_equal(scores.values[::-1, ::-1, scores.column("AP")], AP)


def test_long_without_measure(tmp_path):
    text = "run,query,score\na,q1,0.25\na,q2,0.5\nb,q1,0.125\nb,q2,0.75\n"
    check(rs.read_scores(written(tmp_path, "AP.csv.gz", text)), [AP], ["AP"])
    check(rs.read_scores(written(tmp_path, "ours.csv", text)), [AP], ["ours"])
    check(rs.read_scores(written(tmp_path, "ours.csv", text), rs.AP), [AP], ["AP"])


@pytest.mark.parametrize("head", ["topic", "query_id", "qid", "", "Unnamed: 0", "what"])
def test_wide(tmp_path, head):
    """A first column of words holds the topics, whatever it is called."""
    path = written(tmp_path, "AP.csv", WIDE.replace("topic", head))
    check(rs.read_scores(path), [AP], ["AP"])
    check(rs.read_scores(path, "mine"), [AP], ["mine"])


def test_wide_topics_may_stand_anywhere(tmp_path):
    text = "a,topic,b\n0.25,q1,0.125\n0.5,q2,0.75\n"
    check(rs.read_scores(written(tmp_path, "AP.csv", text)), [AP], ["AP"])


def test_wide_without_topics(tmp_path):
    path = written(tmp_path, "AP.csv", "a,b\n0.25,0.125\n0.5,0.75\n")
    with pytest.warns(rs.RankSiftWarning, match=r"AP.csv': no column of topics, so they are the rows, 1 to 2"):
        scores = rs.read_scores(path)
    assert scores.queries == ("1", "2")
    assert len(scores.notes) == 1
    np.testing.assert_array_equal(scores.values[:, :, 0], AP)


def test_systems_may_have_numbers_and_words_of_the_trade_for_names(tmp_path):
    text = "topic,0.7,0.8,run,name\nq1,1,2,3,4\n"
    assert rs.read_scores(written(tmp_path, "x.csv", text)).runs == ("0.7", "0.8", "run", "name")


def frames(text: str) -> list:
    rows = list(csv.reader(text.splitlines()))
    polars = pl.DataFrame(rows[1:], schema=rows[0], orient="row")
    number = {"value": pl.Float64, "a": pl.Float64, "b": pl.Float64}
    polars = polars.cast({name: kind for name, kind in number.items() if name in rows[0]})
    return [polars, polars.lazy(), polars.to_arrow(), pd.DataFrame(polars.to_dict(as_series=False))]


@pytest.mark.parametrize("kind", range(4), ids=["polars", "lazy", "arrow", "pandas"])
def test_frames(kind):
    check(rs.Scores.from_frame(frames(LONG)[kind]), [AP, RR], ["AP", "RR"])
    check(rs.read_scores(frames(WIDE)[kind]), [AP], ["score"])
    check(rs.Scores.from_frame(frames(WIDE)[kind], "AP"), [AP], ["AP"])


def test_the_index_of_pandas_counts_where_it_says_something():
    long, wide = (pd.DataFrame(frames(text)[0].to_dict(as_series=False)) for text in (LONG, WIDE))
    check(rs.read_scores(long.set_index(["run", "query_id"])), [AP, RR], ["AP", "RR"])
    check(rs.read_scores(wide.set_index("topic"), "AP"), [AP], ["AP"])
    check(rs.read_scores(wide.set_index("topic").rename_axis(None), "AP"), [AP], ["AP"])
    ap = long[long.measure == "AP"]
    check(rs.read_scores(ap.pivot(index="query_id", columns="run", values="value"), "AP"), [AP], ["AP"])
    check(rs.read_scores(ap), [AP], ["AP"])


def test_parquet(tmp_path):
    frames(LONG)[0].write_parquet(tmp_path / "x.parquet")
    check(rs.read_scores(tmp_path / "x.parquet"), [AP, RR], ["AP", "RR"])
    frames(WIDE)[0].write_parquet(tmp_path / "AP.pq")
    check(rs.read_scores(str(tmp_path / "AP.pq")), [AP], ["AP"])


def test_reads_what_evaluate_writes(tmp_path):
    """Every value comes back, also of measures whose aggregate is no mean; that is told."""
    qrels = written(tmp_path, "qrels.txt", "q1 0 x 2\nq1 0 y -2\nq2 0 x 1\nq3 0 y 1\n")
    runs = [written(tmp_path, f"{n}.run", f"q1 Q0 x 1 {n} t\nq1 Q0 y 2 2 t\nq3 Q0 y 1 1 t\n") for n in (1, 3)]
    measures = "nDCG_f@10 AP c_at_1 NumRet"
    table = tmp_path / "table.csv"
    words = ["evaluate", str(qrels), *map(str, runs), "-m", measures, "--per-query", "--format", "csv"]
    assert command([*words, "--out", str(table)]) == 0
    scores, computed = rs.read_scores(table), rs.evaluate(qrels, runs, measures)
    assert (scores.runs, scores.queries, scores.measures) == (computed.runs, computed.queries, computed.measures)
    np.testing.assert_array_equal(scores.values, computed.values)
    np.testing.assert_allclose(scores.aggregate(), computed.aggregate(), rtol=1e-15)
    computed = rs.evaluate(qrels, runs, "Fdocs@2")
    with pytest.warns(rs.RankSiftWarning, match="Fdocs@2: a table has no denominators, so the mean over queries"):
        scores = rs.Scores.from_frame(computed.per_query())
    np.testing.assert_array_equal(scores.values, computed.values)


# -- several tables -----------------------------------------------------------------------------------------


def test_several_tables_are_joined_by_name(tmp_path):
    ap = written(tmp_path, "AP.csv", WIDE)
    rr = written(tmp_path, "x.csv", "topic,b,a\nq2,1.0,0.5\nq1,0.0,1.0\n")
    check(rs.read_scores({"AP": ap, "RR": rr}), [AP, RR], ["AP", "RR"])
    check(rs.read_scores([ap, rr]), [AP, RR], ["AP", "x"])
    long = written(tmp_path, "long.csv", LONG)
    check(rs.read_scores({"AP": long, "RR": long}), [AP, RR], ["AP", "RR"])
    check(rs.read_scores({"P": pl.read_csv(ap), "RR": long}), [AP, RR], ["P", "RR"])


def test_what_is_not_in_every_table_is_left_out_and_told(tmp_path):
    ap = written(tmp_path, "AP.csv", "topic,a,c,b\nq1,0.25,9,0.125\nq3,9,9,9\nq2,0.5,9,0.75\n")
    rr = written(tmp_path, "RR.csv", "topic,b,a\nq2,1.0,0.5\nq1,0.0,1.0\nq4,9,9\nq5,9,9\n")
    with pytest.warns(rs.RankSiftWarning) as told:
        scores = rs.read_scores([ap, rr])
    check(scores, [AP, RR], ["AP", "RR"])
    assert [str(w.message).partition(": ")[2] for w in told] == [
        "1 run left out because not in every table: 'c'",
        "1 query left out because not in every table: 'q3'",
        "2 queries left out because not in every table: 'q4', 'q5'",
    ]
    assert scores.notes == tuple(str(w.message) for w in told)


@pytest.mark.parametrize(
    ("first", "second", "complaint"),
    [
        (WIDE, "topic,c\nq1,1\n", "'.*AP.csv', '.*x.csv' have no run in common; make the names match"),
        (WIDE, "topic,a\nq7,1\n", "have no query in common; make the names match .'q1', 'q7', …"),
        (WIDE, "a,b\n0.5,1\n0.3,1\n", "x.csv: no column of topics, and there is one in '.*AP.csv'; add a column"),
        ("a,b\n0.5,1\n0.3,1\n", WIDE, "AP.csv: no column of topics, and there is one in '.*x.csv'"),
        ("a,b\n0.5,1\n0.3,1\n", "a,b\n0.5,1\n", "x.csv: 1 row without a column of topics, and 2 in '.*AP.csv'"),
        (WIDE, LONG, "AP is in '.*AP.csv' and in '.*x.csv'; read tables of the same measure one by one"),
    ],
)
def test_tables_that_do_not_fit(tmp_path, first, second, complaint):
    tables = [written(tmp_path, "AP.csv", first), written(tmp_path, "x.csv", second)]
    with pytest.raises(rs.InputError, match=complaint):
        rs.read_scores(tables)


def test_two_years_of_a_measure_are_not_mixed(tmp_path):
    (tmp_path / "2010").mkdir()
    (tmp_path / "2011").mkdir()
    years = [written(tmp_path, f"{year}/AP.csv", WIDE) for year in (2010, 2011)]
    with pytest.raises(rs.InputError, match=r"AP is in '.*2010/AP.csv' and in '.*2011/AP.csv'"):
        rs.read_scores(years)


# -- bad input ------------------------------------------------------------------------------------------------

FAULTS = {
    "": ": the file is empty; give a header line and at least one row",
    "\n\n": ":2: no header line; name the columns in the first line",
    "topic,a,b\n": ":1: a header without rows below it; give at least one row",
    "a,b\n": ":1: a header without rows below it",
    "run,query,value\n": ":1: a header without rows below it",
    "topic\nq1\n": ":1: one column only, 'topic'; give a column of topics and one for each system",
    "topic;a;b\nq1;0.5;0.5\n": ":1: one column only, 'topic;a;b' (columns are separated by ';'?); give",
    "topic\ta\tb\nq1\t1\t2\n": ":1: one column only, 'topic\\ta\\tb' (columns are separated by '\\t'?); give",
    "topic,a,b\nq1,0.5,\n": ":2: column 'b': the score is missing; write a number such as 0.25 into every cell",
    "topic,a,b\nq1,0.5,0.5\nq2,nan,0.5\n": ":3: column 'a': score 'nan' is not finite; write a number",
    "topic,a,b\nq1,0.5,-inf\n": ":2: column 'b': score '-inf' is not finite",
    "topic,a,b\nq1,0.5,NA\n": ":2: column 'b': score 'NA' is not a number",
    'topic,a,b\nq1,"0,5",1\n': ":2: column 'a': score '0,5' is not a number; write a number such as 0.25 into",
    "topic,a,b\nq1,0,5,1\n": ":2: 4 fields where the header has 3",
    "topic,a,b\nq1,1\n": ":2: 2 fields where the header has 3; give every line as many fields as the header",
    "topic,a,a\nq1,1,2\n": ":1: two columns are called 'a'; give every system its own name",
    "topic,topic,a\nq1,1,2\n": ":1: two columns are called 'topic'",
    "topic,a,\nq1,1,2\n": ":1: column 3 has no name; name every system, or remove it",
    "topic,a\nq1,1\n\nq1,2\n": ":4: topic 'q1' is listed twice; keep one of the rows",
    "topic,a\nq1,1\n,2\n": ":3: column 'topic': the topic id is missing; give every row a topic",
    "topic,a\nall,1\n": ":1: no topic besides 'all'; give the values of the topics, not their means",
    "run,51,52\na,1,2\n": ":1: the rows are runs: the first column is 'run'; give one row per topic and one",
    "run,AP\na,1\n": ":1: the rows are runs",
    "0.5,0.25\n0.1,0.2\n": ":1: the first line holds numbers, not names; name the columns in a header line",
    "q1,0.5,0.25\nq2,0.1,0.2\n": ":1: the first line holds numbers, not names",
    "id,a\n51,0.5\n52,0.5\n": ":1: column 'id' may hold topics or scores; name it topic, or put a column of topics",
    "id,a\nq1,0.5\n2,0.5\n": ":2: column 'id': score 'q1' is not a number",
    "run,measure,value\na,AP,1\n": ":1: no column for the query among 'run', 'measure', 'value'; name it query_id",
    "topic,value\nq1,1\n": ":1: no column for the run among 'topic', 'value'; name it run (or run_id, ",
    "query,measure,value\nq1,AP,1\n": ":1: no column for the run among",
    "run,query,measure\na,q1,AP\n": ":1: no column for the value among 'run', 'query', 'measure'; name it value",
    "run,query,value,value\na,q1,1,1\n": ":1: two columns are called 'value'",
    "run,query,value\na,q1,\n": ":2: column 'value': the value is missing",
    "run,query,value\na,q1,x\n": ":2: column 'value': value 'x' is not a number",
    "run,query,value\na,q1,1\n,q1,1\n": ":3: column 'run': the run id is missing; give every row a run",
    "run,query,value\na,q1,1\nb,q1,1\na,q1,2\n": ":4: run 'a', query 'q1', measure x is listed twice; keep one",
    "run,query,measure,value\na,q,AP,1\na,q,RR,1\na,q,AP,1\n": ":4: run 'a', query 'q', measure AP is listed twice",
    "run,query,value\na,q1,1\nb,q1,1\nb,q2,1\n": ": 1 of 4 values is missing, the first that of run 'a', query 'q2'",
    "run,query,value\na,q1,1\na,q2,1\nb,q1,1\n": ": 1 of 4 values is missing, the first that of run 'b', query 'q2'",
    "topic,a\nq1,1e300\n": "the value of run 'a', query 'q1', measure x is too large to add up",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults(tmp_path, text):
    path = written(tmp_path, "x.csv", text)
    with pytest.raises(rs.InputError) as error:
        rs.read_scores(path)
    message, expected = str(error.value), FAULTS[text]
    assert message.startswith(f"{path}{expected}" if expected.startswith(":") else expected)
    assert message.isprintable()


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (pl.DataFrame(), "no columns at all; give a column of topics and one for each system"),
        (pl.DataFrame({"topic": ["q1"]}), "one column only, 'topic'; give"),
        (pl.DataFrame({"topic": ["q", "r"], "a": [1.0, None]}), "row 2: column 'a': the score is missing; write"),
        (pl.DataFrame({"topic": ["q", "r"], "a": [1.0, float("nan")]}), "row 2: column 'a': score nan is not finite"),
        (pl.DataFrame({"topic": ["q", "r"], "a": ["0.5", "0,5"]}), "row 1: column 'a': score '0.5' is a String, not"),
        (pl.DataFrame({"topic": ["q", None], "a": [1, 2]}), "row 2: column 'topic': the topic id is missing; give"),
        (pd.DataFrame([["q", 1, 2]], columns=["topic", "a", "a"]), "two columns are called 'a'"),
        (
            pd.DataFrame({"run": ["a"], "topic": ["q"], "AP": [1.0]}),
            "no column for the value among 'run', 'topic', 'AP'; name",
        ),
        ({"q1": {"a": 1}}, "cannot read a table from a dict; give a path"),
        (3, "cannot read a table from a int; give a path, or a polars or pandas frame"),
        ([], "no table of scores is given; name at least one"),
        ("x.xlsx", "x.xlsx: a table is not read from .xlsx; give .csv, .tsv, .jsonl or .parquet"),
        ("scores", "scores: a table is not read from a file without a suffix"),
        ("nowhere.csv", "nowhere.csv: no such file"),
        ("nowhere.parquet", "nowhere.parquet: no such file"),
    ],
)
def test_bad_frames_and_sources(frame, complaint):
    with pytest.raises(rs.InputError) as error:
        rs.read_scores(frame)
    assert str(error.value).startswith(complaint)


def test_bytes_that_are_no_utf8(tmp_path):
    with pytest.raises(rs.InputError, match=r"x.csv:3: byte 0xe9 is not UTF-8; save the file as UTF-8"):
        rs.read_scores(written(tmp_path, "x.csv", "topic,a\nq1,1\né,2\n".encode("latin-1")))
    with pytest.raises(rs.InputError, match=r"x.csv:1: the header cannot be read"):
        rs.read_scores(written(tmp_path, "x.csv", "topic,é\nq1,1\n".encode("latin-1")))
    with pytest.raises(rs.InputError, match=r"x.csv:1: this is UTF-16 text"):
        rs.read_scores(written(tmp_path, "x.csv", WIDE.encode("utf-16")))
    with pytest.raises(rs.InputError, match=r"x.parquet: not a readable Parquet file"):
        rs.read_scores(written(tmp_path, "x.parquet", WIDE))


def test_a_measure_that_is_not_there(tmp_path):
    long = written(tmp_path, "x.csv", LONG)
    with pytest.raises(rs.InputError, match=r"x.csv:1: no row has the measure P@10; there are: AP, RR"):
        rs.read_scores(long, "P@10")
    with pytest.raises(rs.InputError, match="measure AP is given in addition to named tables; name it in the mapping"):
        rs.read_scores({"AP": long}, "AP")
    with pytest.raises(rs.InputError, match="measure AP is given for 2 tables; name each"):
        rs.read_scores([long, long], "AP")


@pytest.mark.parametrize("word", ["all", "amean", "Mean", "AVERAGE"])
def test_rows_that_sum_up_are_left_out_and_told(tmp_path, word):
    wide = written(tmp_path, "AP.csv", WIDE + f"{word},0.375,0.4375\n")
    with pytest.warns(rs.RankSiftWarning, match=f"AP.csv: left out as a summary of the other topics: '{word}'"):
        check(rs.read_scores(wide), [AP], ["AP"])
    long = written(tmp_path, "x.csv", LONG + f"a,{word},AP,0.375\n")
    with pytest.warns(rs.RankSiftWarning, match=f"x.csv: left out as a summary of the other topics: '{word}'"):
        check(rs.read_scores(long), [AP, RR], ["AP", "RR"])


# -- real tables ------------------------------------------------------------------------------------------------


@pytest.fixture
def submissions(data_dir: Path) -> Path:
    folder = data_dir / "trec_web_pertopic_scores"
    if not folder.is_dir():
        pytest.skip(f"no {folder.name} in the data folder")
    return folder


@pytest.mark.parametrize(
    ("year", "systems", "topics"), [(2010, 88, 48), (2011, 62, 50), (2012, 48, 50), (2013, 34, 50), (2014, 30, 50)]
)
def test_real_submissions(submissions, year, systems, topics):
    names = {"AP": "ap", "nDCG@20": "ndcg20", "ERR@20": "err20", "P@10": "p10", "P@20": "p20", "RR": "rr"}
    files = {name: submissions / f"web{year}_{suffix}.csv" for name, suffix in names.items()}
    with pytest.warns(rs.RankSiftWarning, match=f"no column of topics, so they are the rows, 1 to {topics}") as told:
        scores = rs.read_scores(files)
    assert len(told) == 1
    assert scores.values.shape == (systems, topics, 6)
    for m, path in enumerate(files.values()):
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        assert list(scores.runs) == rows[0]
        np.testing.assert_array_equal(scores.values[:, :, m].T, np.array(rows[1:], dtype=float))


def test_real_years_do_not_join(submissions):
    with pytest.raises(rs.InputError, match=r"web2011_ap.csv: 50 rows without a column of topics, and 48 in"):
        rs.read_scores([submissions / "web2010_ap.csv", submissions / "web2011_ap.csv"])
