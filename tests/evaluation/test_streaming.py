"""Runs that are read in parts: the results of the whole, to the last bit, and its errors and notes."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ranksift as rs
from ranksift import InputError
from ranksift.collection import run_parts
from ranksift.collection._engine import lines
from ranksift.collection.readers import parquet_check
from ranksift.evaluation.partition import evaluate_partition, scores_of_partitions
from ranksift.measures.measure import CATALOGUE

SORTED = "sorted on disk"
WRITTEN = (".run", ".run.gz", ".run.zst", ".csv", ".tsv", ".parquet", ".jsonl")


def every_measure() -> list[str]:
    """Each measure of the catalogue, at a k and without one where both are possible, and some with parameters."""
    names = []
    for name, kind in sorted(CATALOGUE.items()):
        if kind.__module__.startswith("ranksift.") and name not in ("UL1", "UL2"):
            names += [f"{name}@3"] if kind.takes("k") else []
            names += [] if kind.needs_k else [name]
    return [
        *names,
        "UL1(DCG@5)",
        "UL2(SP@3)",
        "UL2(ERR@20)",
        'RR_qwa(nil="NIL")',
        'AP(nil="NIL")',
        "RBP(p=0.5, gains=linear)",
    ]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Files of a few hundred lines come in many blocks and batches."""
    rs.nDCG_f  # noqa: B018 (the catalogue is filled)
    monkeypatch.setattr(lines, "_BLOCK", 150)
    monkeypatch.setattr(parquet_check, "_ROWS", 7)


def collection(seed: int, *, together: bool, labels=(-2, -1, 0, 1, 2, 4), nil: bool = True):
    """Judgments and a run: queries in another order, some in one of the two only, tied scores, unjudged documents."""
    draw = np.random.default_rng(seed)
    queries = [f"q{i}" for i in draw.permutation(draw.integers(2, 15))]
    docs = [f"d{'x' * int(draw.integers(0, 12))}{i}" for i in range(25)]
    qrels = {
        q: dict(zip(draw.choice(docs, n, replace=False).tolist(), draw.choice(labels, n).tolist(), strict=True))
        for q in queries
        if (n := int(draw.choice([0, 2, 8, 24])))
    } or {"q0": {"d": 1}}
    rows = [
        (q, d, round(float(draw.normal()), int(draw.integers(0, 3))))
        for q in draw.permutation([*queries, "stranger", "q99"]).tolist()
        if draw.random() < 0.8
        for d in draw.choice([*docs, *(["NIL"] if nil else [])], int(draw.integers(1, 15)), replace=False).tolist()
    ] or [(queries[0], "d", 1.0)]
    if not together:
        rows = [rows[i] for i in draw.permutation(len(rows))]
    return qrels, rows


def write(path: Path, rows) -> Path:
    """Rows of a run, as the name of the file says."""
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    text = "".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in rows).encode()
    if ".run" in path.name:
        packed = {".gz": gzip.compress, ".zst": _zstd().compress}.get(path.suffix, bytes)
        path.write_bytes(packed(text))
    elif path.suffix == ".parquet":
        frame.write_parquet(path, row_group_size=11)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="," if path.suffix == ".csv" else "\t")
    return path


def _zstd():
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def outcome(qrels, runs, measures, **how):
    """Scores, or the error."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return rs.evaluate(qrels, runs, measures, **how)
        except InputError as error:
            return str(error)


def assert_same(parts, whole):
    """Every number to its last bit, every word but the note about the sorting."""
    if isinstance(whole, str) or isinstance(parts, str):
        assert parts == whole
        return
    for name in ("numerators", "denominators"):
        assert getattr(parts, name).tobytes() == getattr(whole, name).tobytes()
    assert parts.aggregate().tobytes() == whole.aggregate().tobytes()
    assert (parts.runs, parts.queries, parts.measures) == (whole.runs, whole.queries, whole.measures)
    assert parts.degenerate == whole.degenerate
    assert [note for note in parts.notes if SORTED not in note] == list(whole.notes)


HOW = (
    {},
    {"queries": "run"},
    {"unjudged": "drop"},
    {"queries": ["q3", "q99", "nobody", "q0"]},
    {"gains": {-2: -10}, "depth": 3},
    {"gains": "exp", "rel": 2, "unjudged": "drop", "queries": "run"},
)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("how", HOW, ids=str)
def test_every_measure_is_that_of_the_whole(tmp_path, how, together):
    for seed in range(4):
        qrels, rows = collection(seed, together=together)
        run = write(tmp_path / f"{seed}.run", rows)
        whole = outcome(qrels, run, every_measure(), **how)
        assert_same(outcome(qrels, run, every_measure(), memory=(1, 10_000)[seed % 2], **how), whole)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("suffix", WRITTEN)
def test_formats(tmp_path, suffix, together, monkeypatch):
    read_whole = []
    monkeypatch.setattr(run_parts, "read_run", lambda *a, **h: read_whole.append(a) or rs.read_run(*a, **h))
    for seed in range(2):
        qrels, rows = collection(seed, together=together)
        run = write(tmp_path / f"r{seed}{suffix}", rows)
        assert_same(outcome(qrels, run, "nDCG_f@3 AP", memory=1), outcome(qrels, run, "nDCG_f@3 AP"))
    assert bool(read_whole) == (suffix == ".jsonl")  # the only one that must be


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("how", HOW, ids=str)
def test_judgments_that_are_larger_than_memory(tmp_path, how, together):
    for seed, suffix in enumerate((".txt", ".csv") if together else (".parquet", ".txt.gz")):
        qrels, rows = collection(seed, together=together)
        runs = [write(tmp_path / f"{seed}.run", rows), write(tmp_path / f"{seed}.parquet", rows[::2])]
        judgments = tmp_path / f"qrels{suffix}"
        rs.read_qrels(qrels).save(judgments)
        parts = outcome(judgments, runs, every_measure(), memory=4_000, **how)
        assert_same(parts, outcome(judgments, runs, every_measure(), **how))
        assert isinstance(parts, str) or "judgments and runs were sorted on disk" in parts.notes[0]


@pytest.mark.parametrize("fault", ["duplicate", "line", "large", "common", "unjudged"])
def test_errors_of_judgments_that_are_larger_than_memory(tmp_path, fault):
    lines = ["q0 0 d1 1", "q1 0 d1 0", "q0 0 d2 3", "q2 0 d1 1", "q3 0 d9 1"]
    run, judgments = write(tmp_path / "r.run", [("q0", "d2", 1.0), ("q2", "d1", 3.0)]), tmp_path / "q.txt"
    if fault == "common":
        write(run, [("x", "d2", 1.0)])
    extra = {"duplicate": ["q2 0 d1 2", "q0 0 d1 1"], "line": ["q2 0 d7 2", "q3 0 d4"], "large": ["q2 0 d7 1e300"]}
    judgments.write_text("\n".join([*lines, *extra.get(fault, [])]) + "\n")
    parts, whole = (outcome(judgments, run, "AP nDCG_f@3", memory=memory) for memory in (1, None))
    assert isinstance(whole, str) == (fault != "unjudged")
    assert_same(parts, whole)


@pytest.mark.parametrize("form", ["dict", "arrow", "frame"])
def test_partitions_are_put_together_in_any_order(form):
    """What Ray, Spark and Dask do: rows of whole queries in any number of parts, evaluated anywhere."""
    import pyarrow as pa

    made = {
        "dict": lambda rows, noun: {q: {d: v for p, d, v in rows if p == q} for q, _, _ in rows},
        "frame": lambda rows, noun: pl.DataFrame(rows, schema=["query_id", "doc_id", noun], orient="row"),
        "arrow": lambda rows, noun: pa.Table.from_pylist(
            [dict(zip(("query_id", "doc_id", noun), row, strict=True)) for row in rows]
        ),
    }[form]
    for seed in range(6):
        draw = np.random.default_rng(seed)
        qrels, rows = collection(seed, together=True, nil=False)
        whole = outcome(qrels, made(rows, "score"), every_measure(), gains={-2: -10}, queries="run")
        judged = [(q, d, v) for q, docs in qrels.items() for d, v in docs.items()]
        names = list(dict.fromkeys([*qrels, *(q for q, _, _ in rows)]))
        parts = []
        for some in np.array_split(draw.permutation(names), int(draw.integers(1, 6))):
            tables = [[row for row in table if row[0] in set(some)] for table in (judged, rows)]
            own = [made(t, noun) if t else None for t, noun in zip(tables, ("label", "score"), strict=True)]
            labels = [label for _, _, label in judged]
            parts.append(evaluate_partition(*own, every_measure(), labels=labels, gains={-2: -10}))
        found = scores_of_partitions({"run": parts}, queries=list(qrels), which="run")
        assert found.numerators.tobytes() == whole.numerators.tobytes()
        assert found.denominators.tobytes() == whole.denominators.tobytes()
        assert (found.queries, found.degenerate) == (whole.queries, whole.degenerate)
        assert len(found.notes) == len(whole.notes)


def test_partitions_that_are_missing_are_told():
    part = evaluate_partition({"q": {"d": 1}}, {"q": {"d": 1}}, "AP")
    with pytest.raises(InputError, match="the partitions have 1 queries, and 2 are named"):
        scores_of_partitions({"run": [part]}, queries=["q", "r"])
    with pytest.raises(InputError, match="there is no partition"):
        scores_of_partitions({"run": []})
    other = evaluate_partition({"r": {"d": 1}}, {"r": {"d": 1}}, "AP")
    with pytest.raises(InputError, match="run 'b' has other queries or measures"):
        scores_of_partitions({"a": [part], "b": [other]})


def test_several_runs_and_a_cache(tmp_path):
    qrels, rows = collection(3, together=True)
    runs = [
        write(tmp_path / "a.run", rows),
        write(tmp_path / "b.csv", rows[::2]),
        write(tmp_path / "c.run", rows[::-1]),
    ]
    whole = outcome(qrels, runs, every_measure())
    for _ in range(2):
        assert_same(outcome(qrels, runs, every_measure(), memory="1KB", cache=tmp_path / "kept"), whole)


@pytest.mark.parametrize("more", [[], ["--unjudged-label", "-1"]])
def test_the_command_with_judgments_that_are_larger_than_memory(tmp_path, more):
    qrels, rows = collection(2, together=True)
    run, judgments = write(tmp_path / "r.run", rows), tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    parts, whole = (
        command("evaluate", judgments, run, *more, *memory, "-q", "-f", "csv") for memory in (["--memory", "200"], [])
    )
    assert parts.returncode == whole.returncode == 0
    assert parts.stdout == whole.stdout
    assert [line for line in parts.stderr.splitlines() if b"sorted on disk" not in line] == whole.stderr.splitlines()
    assert (b"the label -1 is taken" in parts.stderr) == (not more)


def test_rows_that_stand_apart_are_told(tmp_path):
    run = write(tmp_path / "apart.run", [("q", "a", 2.0), ("r", "b", 1.0), ("q", "c", 1.0)])
    with pytest.warns(rs.RankSiftWarning, match="the rows of a query are not adjacent, so they were sorted on disk"):
        scores = rs.evaluate({"q": {"c": 1}, "r": {"b": 1}}, run, "RR", memory=1)
    assert scores.values.ravel().tolist() == [0.5, 1.0]


@pytest.mark.parametrize("fault", ["q1 Q0 d1 1 x tag", "q1 Q0 d1 1", "q1 Q0 d1 1 inf t", "q1 Q0 \x01 1 2 t"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("together", [True, False])
def test_a_bad_line_is_named_as_in_the_whole(tmp_path, fault, suffix, together):
    qrels, rows = collection(5, together=together)
    text = write(tmp_path / "good.run", rows).read_text().splitlines()
    text.insert(2 * len(text) // 3, fault)
    text.append(text[0])  # a document that is listed twice is told only if all lines can be read
    bad = tmp_path / f"bad.run{suffix}"
    data = ("\n".join(text) + "\n").encode()
    bad.write_bytes(gzip.compress(data) if suffix else data)
    whole = outcome(qrels, bad, "AP")
    assert f"bad.run{suffix}:{2 * (len(text) - 2) // 3 + 1}: " in whole
    assert outcome(qrels, bad, "AP", memory=1) == whole


@pytest.mark.parametrize("suffix", [".run", ".csv", ".parquet"])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("on_duplicate", ["error", "first", "best"])
def test_documents_that_are_listed_twice(tmp_path, on_duplicate, together, suffix):
    told = set()
    for seed in range(5):
        draw = np.random.default_rng(seed)
        qrels, rows = collection(seed, together=True)
        for at in sorted(draw.choice(len(rows), 2).tolist(), reverse=True):
            rows.insert(at + int(draw.integers(0, 2)), (*rows[at][:2], rows[at][2] + float(draw.integers(-1, 2))))
        if not together:
            rows = [rows[i] for i in draw.permutation(len(rows))]
        run = write(tmp_path / f"r{seed}{suffix}", rows)
        whole = outcome(qrels, run, "nDCG_f@3 AP", on_duplicate=on_duplicate)
        assert_same(outcome(qrels, run, "nDCG_f@3 AP", on_duplicate=on_duplicate, memory=1), whole)
        told.add(isinstance(whole, str))
    assert told == {on_duplicate == "error"}


@pytest.mark.parametrize(
    ("qrels", "rows", "measures"),
    [
        ({"a": {"d": 1}}, [("q", "d", 1.0), ("r", "d", 1.0)], "AP"),  # no query in common
        ({"q": {"d": 1}}, [("q", "x", 1.0), ("r", "d", 1.0)], "AP"),  # no document in common
        ({"q": {"d": 0.5}, "r": {"d": 0.25}}, [("r", "d", 1.0), ("q", "d", 2.0)], "nDCG_f@3"),  # swapped files
        ({f"q{i}": {"d": 1} for i in range(9)}, [("q3", "d", 1.0)], "AP nDCG_f"),  # few answers
        ({"q": {"d": 5}, "r": {"d": 1}}, [("q", "d", 1.0), ("r", "d", 1.0)], "AP ERR(max_grade=4)@3"),
        ({"q": {"d": 1}, "r": {"NIL": 1}}, [("q", "d", 1.0), ("r", "NIL", 1.0)], 'AP(nil="NIL")'),
        ({"q": {"d": 1}, "r": {"d": 1e3}}, [("q", "d", 1.0), ("r", "d", 1.0)], "nDCG_f(gains=exp)@3"),
        ({"q": {"d": 1}, "r": {"d": 900}, "s": {"d": 950}}, [("s", "d", 1.0), ("r", "d", 1.0)], "nDCG(gains=exp)"),
        ({"q": {"d": 1, "e": 1}}, [("q", "e", 1.0)], "AP_qwa nDCG@3 nDCG_f@3"),
    ],
)
def test_errors_and_notes_are_those_of_the_whole(tmp_path, qrels, rows, measures):
    run = write(tmp_path / "r.run", rows)
    assert_same(outcome(qrels, run, measures, memory=1), outcome(qrels, run, measures))


@pytest.mark.parametrize("text", ["# nothing retrieved\n", "\n\n", ""])
def test_runs_without_a_row(tmp_path, text):
    run = tmp_path / "empty.run"
    run.write_text(text)
    assert_same(outcome({"q": {"d": 1}}, run, "AP Empty", memory=1), outcome({"q": {"d": 1}}, run, "AP Empty"))


def test_a_quoted_table_is_read_whole(tmp_path):
    run = tmp_path / "r.csv"
    run.write_text('query_id,doc_id,score\nq,"a,b",2\nr,c,1\n' * 1)
    qrels = {"q": {"a,b": 1}, "r": {"c": 1}}
    assert_same(outcome(qrels, run, "AP", memory=1), outcome(qrels, run, "AP"))


def test_a_missing_cell_of_a_parquet_file_is_named_as_in_the_whole(tmp_path):
    run = tmp_path / "r.parquet"
    rows = {"query_id": ["q"] * 30, "doc_id": [*map(str, range(20)), None, *map(str, range(9))], "score": [1.0] * 30}
    rows["score"][3] = None  # further up, and in a column that is looked at later
    pl.DataFrame(rows).write_parquet(run, row_group_size=5)
    whole = outcome({"q": {"1": 1}}, run, "AP")
    assert whole.startswith(f"{run}: row 21: the document id is missing")
    assert outcome({"q": {"1": 1}}, run, "AP", memory=1) == whole


def test_a_damaged_parquet_file_is_one_line(tmp_path):
    _, rows = collection(1, together=True)
    run = write(tmp_path / "r.parquet", rows)
    run.write_bytes(run.read_bytes()[:-40] + b"x" * 40)
    found = outcome({"q": {"1": 1}}, run, "AP", memory=1)
    assert found.startswith(f"{run}: not a readable Parquet file (")
    assert "\n" not in found


def test_ordinary_files_are_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(run_parts.RunParts, "feed", lambda *a: pytest.fail("it was read in parts"))
    qrels, rows = collection(0, together=True)
    run = write(tmp_path / "r.run", rows)
    assert isinstance(outcome(qrels, run, "AP"), rs.Scores)
    assert isinstance(outcome(qrels, run, "AP", memory="1GB"), rs.Scores)


def test_memory_that_is_no_size():
    for memory in ("much", 0, -5, 1.5, True, ""):
        with pytest.raises(InputError, match="is not a number of bytes, or a text such as '2GB'"):
            rs.evaluate({"q": {"d": 1}}, {"q": {"d": 1}}, "AP", memory=memory)


def command(*arguments, **how):
    """The command line, in a process of its own."""
    return subprocess.run([sys.executable, "-m", "ranksift", *map(str, arguments)], capture_output=True, **how)


def test_the_command_from_standard_input(tmp_path):
    qrels, rows = collection(2, together=False)
    run, judgments = write(tmp_path / "r.run", rows), tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    how = "-m", "nDCG_f@3 AP", "--per-query", "--format", "csv"
    parts = command("evaluate", judgments, "-", *how, "--memory", "1KB", input=run.read_bytes())
    whole = command("evaluate", judgments, "-", *how, input=run.read_bytes())
    assert parts.returncode == whole.returncode == 0
    assert parts.stdout == whole.stdout
    assert b"sorted on disk" in parts.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to try")
def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **how: open("/dev/full", "r+b", buffering=0))  # noqa: SIM115
    run = write(tmp_path / "apart.run", [("q", "a", 2.0), ("r", "b", 1.0), ("q", "c", 1.0)])
    found = outcome({"q": {"c": 1}}, run, "RR", memory=1)
    assert (
        found == f"{tempfile.gettempdir()}: cannot be written (No space left on device); "
        "make room, or name another folder with TMPDIR"
    )


def test_nothing_is_left_in_the_temporary_folder(tmp_path):
    qrels, rows = collection(2, together=False)
    run, judgments = write(tmp_path / "r.run.gz", rows), tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    folder = tmp_path / "tmp"
    folder.mkdir()
    done = command("evaluate", judgments, run, "--memory", "1KB", env={**os.environ, "TMPDIR": str(folder)})
    assert done.returncode == 0
    assert list(folder.iterdir()) == []
