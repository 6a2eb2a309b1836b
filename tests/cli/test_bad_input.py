"""Every kind of bad input: exit code 2, one line that names the place and what to do, no traceback, no output."""

import gzip
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command

QRELS = {
    "columns": (b"q1 0 good 2\nq1 0 good\n", 2, "column"),
    "label": (b"q1 0 good two\n", 1, "'two'"),
    "not finite": (b"q1 0 good nan\n", 1, "nan"),
    "conflict": (b"q1 0 good 2\nq1 0 good 1\n", 2, "good"),
    "twice": (b"q1 0 a 2\nq1 0 b 2\nq1 0 a 2\n", 3, "a"),
    "empty": (b"", None, "empty"),
    "only comments": (b"# nothing\n\n", None, "judgment"),
    "not utf-8": (b"q1 0 good 2\nq1 0 \xff\xfe 2\n", 2, "UTF-8"),
    "utf-16": ("q1 0 good 2\n".encode("utf-16"), 1, "UTF-16"),
    "zero bytes": (b"\0\0\0\0", 1, ""),
}
RUNS = {
    "columns": (b"q1 Q0 good 1 9.5 x\n\nq1 Q0 bad 2 8\n", 3, "column"),
    "score": (b"q1 Q0 good 1 high x\n", 1, "'high'"),
    "nan": (b"q1 Q0 good 1 9.5 x\nq1 Q0 bad 1 NaN x\n", 2, "NaN"),
    "infinite": (b"q1 Q0 good 1 -inf x\n", 1, "-inf"),
    "overflow": (b"q1 Q0 good 1 1e999 x\n", 1, "1e999"),
    "twice": (b"q1 Q0 good 1 9 x\nq2 Q0 good 1 9 x\nq1 Q0 good 2 8 x\n", 3, "good"),
    "empty": (b"", None, "empty"),
    "not utf-8": (b"q1 Q0 g\xe9 1 9.5 x\n", 1, "UTF-8"),
    "other queries": (b"z7 Q0 good 1 9.5 x\n", None, "'z7'"),
}


def check(outcome, place: Path, line: int | None, word: str) -> None:
    assert (outcome.code, outcome.out) == (2, ""), outcome
    assert outcome.err.count("\n") == 1
    where = f"{place}:{line}: " if line else ""
    assert outcome.err.startswith(where), outcome.err
    assert word in outcome.err
    assert "; " in outcome.err  # what to do


@pytest.mark.parametrize("kind", QRELS)
def test_bad_judgments(ranksift: Command, tiny, kind: str):
    content, line, word = QRELS[kind]
    tiny["qrels"].write_bytes(content)
    check(ranksift("evaluate", tiny["qrels"], tiny["run"]), tiny["qrels"], line, word)


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("command", ["evaluate", "explain", "check"])
def test_bad_runs(ranksift: Command, tiny, command: str, kind: str):
    content, line, word = RUNS[kind]
    tiny["run"].write_bytes(content)
    limits = ["-r", "AP>0"] if command == "check" else []
    check(ranksift(command, tiny["qrels"], tiny["run"], *limits), tiny["run"], line, word)


@pytest.mark.parametrize("name", ["missing.run", ".", "\n", "a" * 300, "missing.csv", "missing.run.gz", ""])
def test_files_that_are_none(ranksift: Command, tiny, tmp_path: Path, name: str):
    outcome = ranksift("evaluate", tiny["qrels"], tmp_path / name if name != "" else "")
    check(outcome, tmp_path, None, "")
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.gz", b"not gzip"),
        ("a.gz", gzip.compress(b"q1 Q0 good 1 9 x\n", mtime=0)[:-9]),
        ("a.zst", b"not zstd"),
        ("a.parquet", b"PAR1 not parquet PAR1"),
        ("a.csv", b"\xff\xfe"),
        ("a.csv", b"x,y\n1,2\n"),
        ("a.csv", b""),
        ("a.jsonl", b"{]\n"),
        ("a.jsonl", b'{"query_id": "q1"}\n'),
        ("a.tsv", b"query_id\tdoc_id\tscore\nq1\tgood\thigh\n"),
    ],
)
def test_damaged_files(ranksift: Command, tiny, tmp_path: Path, name: str, content: bytes):
    (tmp_path / name).write_bytes(content)
    check(ranksift("evaluate", tiny["qrels"], tmp_path / name), tmp_path / name, None, str(tmp_path / name))


@pytest.mark.parametrize(
    "options",
    [
        ["-m", "nDCGf@10"],
        ["-m", "nDCG_f@0"],
        ["-m", "nDCG_f@ten"],
        ["-m", "nDCG_f("],
        ["-m", ""],
        ["-m", "SP"],
        ["-m", "RBP(p=2)"],
        ["-m", "RBP(q=0.5)"],
        ["--gains", "much"],
        ["--gains", "-2=x"],
        ["--gains", "1=1,1=2"],
    ],
)
def test_measures_and_gains_that_are_none(ranksift: Command, tiny, options: list[str]):
    check(ranksift("evaluate", tiny["qrels"], tiny["run"], *options), tiny["run"], None, "")


@pytest.mark.parametrize("target", ["missing/scores.json", "."])
def test_targets_that_cannot_be_written(ranksift: Command, tiny, tmp_path: Path, target: str):
    check(ranksift("evaluate", tiny["qrels"], tiny["run"], "--out", tmp_path / target), tmp_path, None, str(tmp_path))


def test_ids_of_neither_side_match(ranksift: Command, tiny):
    tiny["run"].write_text("001 Q0 good 1 9.5 x\n")
    err = ranksift("evaluate", tiny["qrels"], tiny["run"]).err
    assert re.search("no query in common.*'001'.*'q1'", err)


def test_a_line_break_in_a_name_does_not_break_the_line(ranksift: Command, tiny, tmp_path: Path):
    name = tmp_path / "two\nlines\x1b[31m.run"
    name.write_text("q1 Q0 good 1 high x\n")
    outcome = ranksift("evaluate", tiny["qrels"], name)
    check(outcome, tmp_path, None, r"two\nlines\x1b[31m.run:1: ")


@pytest.mark.parametrize("text", ["", "\n \n"])
@pytest.mark.parametrize("suffix", ["txt", "csv", "jsonl"])
def test_empty_judgments_need_a_judgment_and_not_a_comment(ranksift: Command, tiny, tmp_path: Path, suffix, text):
    path = tmp_path / f"empty.{suffix}"
    path.write_text(text)
    code, _, err = ranksift("evaluate", path, tiny["run"])
    assert code == 2
    assert "nothing retrieved" not in err
    assert any(word in err for word in ("write each line as", "at least one row", "name it"))
