"""ranksift evaluate: the same numbers as the library, in every format."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ranksift as rs
from tests.cli.conftest import Command

MEASURES = ["nDCG_f@10", "nDCG@10", "AP", "Fdocs@10", "GoodFiltered", "NumRet"]


@pytest.fixture(scope="module")
def scores(files: dict[str, Path]) -> rs.Scores:
    return rs.evaluate(files["qrels"], [files["weak"], files["filtered"]], MEASURES)


@pytest.fixture
def evaluated(ranksift: Command, files: dict[str, Path]):
    def command(*options: object):
        return ranksift(
            "evaluate", files["qrels"], files["weak"], files["filtered"], "-m", " ".join(MEASURES), *options
        )

    return command


def test_json_has_exactly_these_keys(evaluated, files):
    found = json.loads(evaluated("--format", "json", "--per-query").out)
    assert list(found) == [
        "ranksift", "qrels", "gains", "unjudged", "queries", "number_of_queries", "measures", "runs",
        "degenerate", "notes",
    ]  # fmt: skip
    assert found["ranksift"] == rs.__version__
    settings = {"qrels": str(files["qrels"]), "gains": "linear", "unjudged": "zero", "queries": "qrels"}
    assert settings.items() <= found.items()
    assert found["measures"] == MEASURES
    assert [list(run) for run in found["runs"]] == [["run", "scores", "per_query"]] * 2
    assert "per_query" not in json.loads(evaluated("--format", "json").out)["runs"][0]


def test_json_is_exact(evaluated, scores: rs.Scores):
    found = json.loads(evaluated("--format", "json", "--per-query").out)
    assert found["number_of_queries"] == len(scores.queries)
    assert found["degenerate"] == scores.degenerate
    for r, run in enumerate(found["runs"]):
        assert run["run"] == scores.runs[r]
        assert list(run["scores"].values()) == scores.aggregate()[r].tolist()
        assert list(run["per_query"]) == list(scores.queries)
        assert [list(v.values()) for v in run["per_query"].values()] == scores.values[r].tolist()


def test_csv_is_exact(evaluated, scores: rs.Scores):
    rows = list(csv.reader(io.StringIO(evaluated("--format", "csv").out)))
    assert rows[0] == ["run", "measure", "value"]
    assert [(r, m, float(v)) for r, m, v in rows[1:]] == [
        (run, name, scores.aggregate()[i, j])
        for i, run in enumerate(scores.runs)
        for j, name in enumerate(MEASURES)
    ]  # fmt: skip
    rows = list(csv.reader(io.StringIO(evaluated("--format", "csv", "--per-query").out)))
    assert rows[0] == ["run", "query_id", "measure", "value"]
    assert [float(row[3]) for row in rows[1:]] == scores.values.ravel().tolist()
    assert {row[1] for row in rows[1:]} == set(scores.queries)


def test_trec_format_is_trec_evals(evaluated, scores: rs.Scores):
    def lines_of(*options: str) -> list[list[str]]:
        out = evaluated("--format", "trec", *options).out.splitlines()
        assert all(line.index("\t") == 22 for line in out)
        return [[word.rstrip() for word in line.split("\t")] for line in out]

    lines = lines_of()
    assert lines[:2] == [["runid", "all", "weak"], ["num_q", "all", "20"]]
    assert lines[2] == ["nDCG_f@10", "all", f"{scores.aggregate()[0, 0]:.4f}"]
    assert [line[0] for line in lines[3:5]] == ["ndcg_cut_10", "map"]
    assert lines[7] == ["num_ret", "all", str(int(scores.aggregate()[0, 5]))]
    assert lines[8] == ["runid", "all", "filtered"]
    lines = lines_of("--per-query")
    first = [line for line in lines if line[1] == scores.queries[0]]
    assert [float(v) for _, _, v in first[:6]] == pytest.approx(scores.values[0, 0], abs=5.1e-5)


def last_value(out: str) -> str:
    return out.splitlines()[-1].split("\t")[-1]


def test_one_run_in_trec_format_is_called_by_its_tag(ranksift: Command, tiny):
    base = ["evaluate", tiny["qrels"], tiny["run"], "-m", "AP", "-f", "trec"]
    tag = tiny["run"].read_text().split()[5]
    expected = [["runid", "all", tag], ["num_q", "all", "2"], ["map", "all", "1.0000"]]
    assert [[word.rstrip() for word in line.split("\t")] for line in ranksift(*base).out.splitlines()] == expected
    tiny["run"].write_text("# comment\n" + tiny["run"].read_text())
    assert ranksift(*base).out.split("\t")[2].startswith(f"{tiny['run'].stem}\n")


def test_depth_and_rel(ranksift: Command, tiny):
    tiny["qrels"].write_text("q1 0 a 1\nq1 0 b 2\nq1 0 c 2\n")
    tiny["run"].write_text("q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq1 Q0 c 3 1 x\n")
    base = ["evaluate", tiny["qrels"], tiny["run"], "-f", "json", "-m"]

    def found(*words: str) -> dict[str, float]:
        return json.loads(ranksift(*base, *words).out)["runs"][0]["scores"]

    assert found("R RR NumRet", "--depth", "2") == {"R": 2 / 3, "RR": 1.0, "NumRet": 2}
    assert found("R RR(rel=1) R(rel=2)", "--rel", "2") == {"R(rel=2)": 1.0, "RR(rel=2)": 0.5}
    assert found("P(rel=0.5)@2 P@2", "--rel", "2", "--depth", "1") == {"P(rel=0.5)@2": 0.5, "P(rel=2)@2": 0.0}
    assert found("R RR NumRet", "-M", "2") == found("R RR NumRet", "--depth", "2")
    assert found("R RR", "-l", "2") == found("R RR", "--rel", "2")
    assert ranksift(*base, "R", "--depth", "0").code == 2
    assert "count by default" in ranksift(*base, "R", "-c").err
    assert "--unjudged drop" in ranksift(*base, "R", "-J").err


def test_table(evaluated, scores: rs.Scores):
    out = evaluated().out
    assert all(name in out for name in [*MEASURES, "weak", "filtered", "20 queries"])
    assert f"{scores.aggregate()[1, 0]:.4f}" in out
    per_query = evaluated("--per-query").out
    assert all(f"{q}  " in per_query for q in scores.queries)
    assert "\x1b" not in out


def test_digits(evaluated, scores: rs.Scores):
    exact = scores.aggregate()[0, 2]
    assert json.loads(evaluated("-f", "json", "--digits", "2").out)["runs"][0]["scores"]["AP"] == round(exact, 2)
    assert evaluated("-f", "csv", "--digits", "2").out.splitlines()[3] == f"weak,AP,{round(exact, 2)}"
    assert evaluated("-f", "trec", "--digits", "6").out.splitlines()[4] == f"{'map':<22}\tall\t{exact:.6f}"
    assert f" {exact:.1f} " in evaluated("--digits", "1").out


def test_measures_may_be_repeated_and_have_a_default(ranksift: Command, tiny):
    base = ["evaluate", tiny["qrels"], tiny["run"], "-f", "json"]
    assert json.loads(ranksift(*base, "-m", "AP RR", "-m", "P@1, AP").out)["measures"] == ["AP", "RR", "P@1"]
    assert "nDCG_f@10" in json.loads(ranksift(*base).out)["measures"]


@pytest.mark.parametrize("written", [["--gains=-2=-10"], ["--gains", "-2=-10"], ["--gains", "exp"]])
def test_gains(ranksift: Command, tiny, written: list[str]):
    gains = written[-1].removeprefix("--gains=")
    out = ranksift("evaluate", tiny["qrels"], tiny["run"], "-m", "DCG", "-f", "json", *written).out
    expected = rs.evaluate(tiny["qrels"], tiny["run"], "DCG", gains=gains).mean_of("DCG")
    assert json.loads(out)["runs"][0]["scores"]["DCG"] == expected


def test_unjudged_and_queries(ranksift: Command, tiny):
    tiny["run"].write_text("q1 Q0 unknown 1 9.9 x\nq1 Q0 good 2 9.5 x\n")
    base = ["evaluate", tiny["qrels"], tiny["run"], "-m", "RR", "-f", "trec"]
    assert last_value(ranksift(*base).out) == "0.2500"
    assert last_value(ranksift(*base, "--unjudged", "drop").out) == "0.5000"
    assert last_value(ranksift(*base, "--queries", "run").out) == "0.5000"


def test_duplicates(ranksift: Command, tiny):
    tiny["run"].write_text("q1 Q0 good 1 1 x\nq1 Q0 bad 2 8 x\nq1 Q0 good 3 9 x\n")
    base = ["evaluate", tiny["qrels"], tiny["run"], "-m", "RR", "-f", "trec", "--on-duplicate"]
    assert ranksift(*base, "error").code == 2
    assert last_value(ranksift(*base, "first").out) == "0.2500"
    assert last_value(ranksift(*base, "best").out) == "0.5000"


def test_runs_of_the_same_name_are_told_apart(ranksift: Command, tiny, tmp_path: Path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "bm25.run").write_bytes(tiny["run"].read_bytes())
    out = ranksift("evaluate", tiny["qrels"], tiny["run"], tmp_path / "other" / "bm25.run", "-f", "json").out
    assert [r["run"] for r in json.loads(out)["runs"]] == [f"{tmp_path.name}/bm25", "other/bm25"]


def test_standard_input(tiny):
    command = [sys.executable, "-m", "ranksift", "evaluate", str(tiny["qrels"]), "-", "-m", "AP", "-f", "json"]
    done = subprocess.run(command, input=tiny["run"].read_bytes(), capture_output=True, check=True)
    assert json.loads(done.stdout)["runs"] == [{"run": "bm25", "scores": {"AP": 1.0}}]


def test_standard_input_can_be_read_once(ranksift: Command):
    code, _, err = ranksift("evaluate", "-", "-")
    assert code == 2
    assert "standard input" in err


def test_notes_are_told_once_in_one_line(ranksift: Command, tiny):
    with tiny["run"].open("a") as file:
        file.write("q9 Q0 d 1 1 x\n")
    code, out, err = ranksift("evaluate", tiny["qrels"], tiny["run"], "-m", "AP", "-f", "json")
    assert code == 0
    assert err.startswith("note: run 'bm25': 1 query without judgments left out")
    assert err.count("\n") == 1
    assert len(json.loads(out)["notes"]) == 1
    assert ranksift("evaluate", tiny["qrels"], tiny["run"], "-m", "AP", "-f", "json").err == err


def test_degenerate_queries_are_told(ranksift: Command, tiny):
    tiny["qrels"].write_text("q1 0 good 2\nq2 0 ok 0\n")
    base = ["evaluate", tiny["qrels"], tiny["run"], "-m", "nDCG@5"]
    told = "Queries in which all rankings are equally good, which count as 0: 1 of 2 by nDCG@5."
    assert told in ranksift(*base).out
    assert ranksift(*base, "-f", "csv").err == f"note: {told}\n"
    assert json.loads(ranksift(*base, "-f", "json").out)["degenerate"] == {"nDCG@5": 1}


def test_out_appears_whole_or_not_at_all(ranksift: Command, tiny, tmp_path: Path):
    target = tmp_path / "scores.json"
    done = ranksift("evaluate", tiny["qrels"], tiny["run"], "-f", "json", "--out", target)
    assert (done.code, done.out) == (0, "")
    before = target.read_bytes()
    assert json.loads(before)["runs"]
    tiny["run"].write_text("q1 Q0 good 1 nan x\n")
    assert ranksift("evaluate", tiny["qrels"], tiny["run"], "-f", "json", "--out", target).code == 2
    assert target.read_bytes() == before
    assert {p.name for p in tmp_path.iterdir()} == {"qrels.txt", "bm25.run", "scores.json"}


def test_ids_that_are_not_ascii_arrive_as_utf8(tiny):
    tiny["qrels"].write_text("köln 0 d 1\n", encoding="utf-8")
    tiny["run"].write_text("köln Q0 d 1 1 x\n", encoding="utf-8")
    command = [sys.executable, "-m", "ranksift", "evaluate", str(tiny["qrels"]), str(tiny["run"]), "-m", "AP", "-q"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for form in ("csv", "json", "trec", "table"):
        done = subprocess.run([*command, "-f", form], capture_output=True, check=True, env=ascii_only)
        assert "köln" in done.stdout.decode("utf-8")


def test_an_id_cannot_talk_to_the_terminal(ranksift: Command, tmp_path: Path):
    (tmp_path / "qrels.csv").write_text('query_id,doc_id,label\n"a\x1b[31m\tb",d,1\n')
    (tmp_path / "run.csv").write_text('query_id,doc_id,score\n"a\x1b[31m\tb",d,1\n')
    for form in ("table", "trec"):
        out = ranksift("evaluate", tmp_path / "qrels.csv", tmp_path / "run.csv", "-m", "AP", "-q", "-f", form).out
        assert "\x1b" not in out
        assert r"a\x1b[31m\tb" in out


def test_a_run_that_filters_everything_is_a_run(ranksift: Command, tiny):
    tiny["run"].write_text("# nothing retrieved\n")
    code, out, _ = ranksift("evaluate", tiny["qrels"], tiny["run"], "-m", "Empty", "-f", "trec")
    assert (code, last_value(out)) == (0, "1.0000")


def scores_of(ranksift: Command, *words: object) -> dict[str, float]:
    found = ranksift("evaluate", *words, "-f", "json")
    assert found.code == 0, found.err
    return json.loads(found.out)["runs"][0]["scores"]


def test_judgments_of_a_letor_file(ranksift: Command, tmp_path: Path):
    """Its labels; documents without an id are called as ranksift rank calls them."""
    letor, run = tmp_path / "test.txt", tmp_path / "a.run"
    letor.write_text("2 qid:1 1:0.5 #docid = a\n-1 qid:1 1:0.1 #docid = b\nNULL qid:1 1:3 #docid = c\n0 qid:2 1:1\n")
    run.write_text("1 Q0 b 1 3 x\n1 Q0 a 2 2 x\n2 Q0 d1 1 1 x\n")
    assert rs.read_qrels(letor).to_dict() == {"1": {"a": 2, "b": -1}, "2": {"d1": 0}}
    assert scores_of(ranksift, letor, run, "-m", "RR Judged", "--gains=-1=-1") == {"RR": 0.25, "Judged": 1.0}


def test_columns_are_mapped(ranksift: Command, tmp_path: Path):
    """Each table by the names that it has: those given, else the usual ones."""
    qrels, run = tmp_path / "qrels.tsv", tmp_path / "run.csv"
    qrels.write_text("topic no\tpid\tgrade\n7\ta\t1\n7\tb\t0\n")
    run.write_text("qid,doc,pid,bm25\n7,some text,b,3\n7,another text,a,2\n")
    names = "query=topic no,doc=pid,label=grade,score=bm25"
    assert scores_of(ranksift, qrels, run, "-m", "RR", "--columns", names) == {"RR": 0.5}
    frame = {"query": "topic no", "doc": "pid", "label": "grade", "score": "bm25"}
    assert rs.evaluate(qrels, run, "RR", columns=frame).mean_of("RR") == 0.5
    assert rs.read_run(run, columns={"doc": "pid", "score": "bm25"}).to_dict() == {"7": {"b": 3, "a": 2}}
    for wrong, word in [
        ("query", "ROLE=NAME"),
        ("topic=a", "name query, doc"),
        ("query=a,query=b", "names the query twice"),
        (
            "query=topic no,doc=pid,label=grad,score=bm25",
            "no column 'grad' for the label among 'topic no', 'pid', 'grade'",
        ),
        (
            "query=topic no,doc=pid,label=grade,score=bm52",
            "no column 'bm52' for the score among 'qid', 'doc', 'pid', 'bm25'",
        ),
    ]:
        code, out, err = ranksift("evaluate", qrels, run, "--columns", wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert word in err


def test_a_mistyped_score_is_not_another_column(ranksift: Command, tmp_path: Path):
    """The table has a score by its usual name, too: it must not be taken in silence."""
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.csv"
    qrels.write_text("qid,did,label\n7,a,1\n7,b,0\n")
    run.write_text("qid,did,score,reranked\n7,b,3,1\n7,a,2,2\n")
    assert scores_of(ranksift, qrels, run, "-m", "RR", "--columns", "score=reranked") == {"RR": 1}
    code, out, err = ranksift("evaluate", qrels, run, "-m", "RR", "--columns", "score=reranker")
    assert (code, out) == (2, "")
    assert "no column 'reranker' for the score among 'qid', 'did', 'score', 'reranked'" in err


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_columns_are_mapped_in_every_format(tmp_path: Path, suffix: str):
    import polars as pl

    frame, path = pl.DataFrame({"t": ["q"], "p": ["a"], "v": [0.5], "doc": ["x"]}), tmp_path / f"run{suffix}"
    frame.write_ndjson(path) if suffix == ".jsonl" else frame.write_parquet(path)
    names = {"query": "t", "doc": "p", "score": "v"}
    assert (
        rs.read_run(path, columns=names).to_dict() == rs.read_run(frame, columns=names).to_dict() == {"q": {"a": 0.5}}
    )
    with pytest.raises(rs.InputError, match="name query, doc"):
        rs.read_run(path, columns={"topic": "t"})
    with pytest.raises(rs.InputError, match="is not a mapping"):
        rs.read_run(path, columns=["t"])


def test_a_label_that_is_no_judgment(ranksift: Command, tiny):
    """Of -1, which TREC writes where nobody judged, it is said once how to say so."""
    tiny["qrels"].write_text("q1 0 good 1\nq1 0 bad -1\nq2 0 ok 1\n")
    base = ["evaluate", tiny["qrels"], tiny["run"], tiny["run"], "-f", "json"]
    code, _, err = ranksift(*base, "-m", "nDCG_f@5 Fdocs@5")
    assert (code, err.count("--unjudged-label -1")) == (0, 1)
    for quiet in (["-m", "nDCG@5 AP"], ["-m", "Fdocs", "--gains=-1=-10"], ["-m", "Fdocs", "--unjudged-label", "-1"]):
        assert "-1" not in ranksift(*base, *quiet).err
    found = scores_of(ranksift, *base[1:3], "-m", "Fdocs Judged", "--unjudged-label", "-1")
    assert found == {"Fdocs": 0.0, "Judged": 0.75}


def test_markdown_and_latex(ranksift: Command, tiny):
    base = ["evaluate", tiny["qrels"], tiny["run"], "-m", "AP nDCG_f@5", "-f"]
    assert "| AP |" in ranksift(*base, "markdown").out.replace("  ", "")
    latex = ranksift(*base, "latex").out
    assert r"\begin{tabular}" in latex
    assert r"\caption{qrels" in latex  # in a paper nobody wants to know the folder
    assert r"nDCG\_f@5" in latex


def test_cache(ranksift: Command, tiny, tmp_path: Path):
    base = ["evaluate", tiny["qrels"], tiny["run"], "-m", "AP", "-f", "json", "--cache", tmp_path / "kept"]
    first = ranksift(*base)
    assert first == ranksift(*base)
    (kept,) = (tmp_path / "kept").iterdir()
    before = kept.stat().st_mtime_ns
    ranksift(*base, "--depth", "1")
    assert len(list((tmp_path / "kept").iterdir())) == 2
    assert kept.stat().st_mtime_ns == before
