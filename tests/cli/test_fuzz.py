"""Hostile arguments and files: an exit code that is known, never a traceback, never a half-written answer."""

import io
import json
import os
import random
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ranksift.cli.main import COMMANDS, run

QRELS = b"q1 0 good 2\nq1 0 bad -2\nq2 0 ok 1\nq2 0 no 0\n"
RUN = b"q1 Q0 good 1 9.5 x\nq1 Q0 bad 2 8.0 x\nq2 Q0 ok 1 3 x\n"

WORDS = [
    "qrels.txt", "a.run", "b.run", "missing", "-", "", ".", "*", "--", "-m", "nDCG_f@10", "AP", "UL2(DCG@5)", "SP@3",
    "P@0", "RBP(p=", "--gains", "--gains=-2=-10", "exp", "=", "--unjudged", "drop", "--queries",
    "run", "--on-duplicate",
    "best", "-q",
    "--format", "json", "csv", "trec", "table", "markdown", "latex", "--digits", "3", "-7", "1e400", "--baseline", "a",
    "--test", "wilcoxon", "bootstrap", "--correction", "bh", "--samples", "50", "--seed", "--alpha", "0.5", "--query",
    "q1", "--worst", "--require", "AP>0.5", "Fdocs@3<=0", "AP==nan", "--not-worse-than", "-k", "--help", "--version",
    "é", "\x1b[2J", "\ud800", "--out", "-o", "x" * 5000, "nDCG_f@" + "9" * 50, "(" * 500, "nDCG" + "(gains=" * 200,
]  # fmt: skip


def outcome(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


def check(arguments: list[str], folder: Path) -> None:
    code, out, err = outcome(arguments, folder)
    assert code in (0, 1, 2), (arguments, err)
    assert "Traceback" not in err
    complaints = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert len(complaints) == (1 if code == 2 else 0), (arguments, err)
    if code == 2:
        assert out == "", arguments
    elif "json" in arguments and out.startswith("{"):
        json.loads(out)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fuzz")
    (place / "qrels.txt").write_bytes(QRELS)
    (place / "a.run").write_bytes(RUN)
    (place / "b.run").write_bytes(RUN.replace(b"9.5", b"0.5"))
    return place


@pytest.fixture(autouse=True)
def nothing_on_standard_input(monkeypatch):
    class Empty:
        buffer = io.BytesIO()

    monkeypatch.setattr("sys.stdin", Empty())


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"demo"}))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from(WORDS) | st.text(max_size=12), max_size=9), sensible=st.booleans())
def test_arguments(folder: Path, command: str, words: list[str], sensible: bool):
    start = ["qrels.txt", "a.run"] if sensible else []
    # What would be written is nobody's business here.
    words = [w for w in words if w not in ("--out", "-o") and not w.startswith(("--out", "-o"))]
    check([command, *start, *words], folder)


def mutated(data: bytes, source: random.Random) -> bytes:
    """A file with a few bytes, tokens or lines damaged."""
    out = bytearray(data)
    tokens = [
        b"nan",
        b"inf",
        b"1e400",
        b"\xff",
        b"\0",
        b"\r",
        b"\t",
        b" ",
        b"\n",
        b"#",
        b'"',
        b",",
        b"\xef\xbb\xbf",
        b"-",
        b"9" * 400,
    ]
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(out) + 1)
        kind = source.randrange(5)
        if kind == 0:
            out[at:at] = source.choice(tokens)
        elif kind == 1:
            del out[at : at + source.randint(1, 6)]
        elif kind == 2 and out:
            out[at % len(out)] = source.randrange(256)
        elif kind == 3:
            out[at:at] = out[: source.randint(0, 40)]
        else:
            del out[at:]
    return bytes(out)


@pytest.mark.parametrize("which", ["qrels", "run"])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".csv", ".tsv", ".jsonl", ".parquet"])
def test_files(tmp_path: Path, which: str, suffix: str):
    source = random.Random(f"{which}{suffix}")
    clean = {"qrels": QRELS, "run": RUN}
    if suffix in (".csv", ".tsv", ".jsonl", ".parquet"):
        import ranksift as rs

        (tmp_path / "clean.txt").write_bytes(clean[which])
        read = rs.read_qrels if which == "qrels" else rs.read_run
        read(tmp_path / "clean.txt").save(tmp_path / f"clean{suffix}")
        clean[which] = (tmp_path / f"clean{suffix}").read_bytes()
    paths = {"qrels": tmp_path / "qrels.txt", "run": tmp_path / "a.run"}
    paths[which] = tmp_path / f"damaged{suffix}"
    for _ in range(25):
        paths["qrels"].write_bytes(clean["qrels"])
        paths["run"].write_bytes(clean["run"])
        paths[which].write_bytes(mutated(clean[which], source))
        check(["evaluate", str(paths["qrels"]), str(paths["run"]), "-f", "json"], tmp_path)


def test_noise(tmp_path: Path):
    noise = np.random.default_rng(0)
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    for i in range(40):
        (tmp_path / "a.run").write_bytes(noise.bytes(int(noise.integers(0, 3000))))
        check(["evaluate", "qrels.txt", "a.run"], tmp_path)
        check(["describe", "a.run"] if i % 2 else ["explain", "a.run", "a.run"], tmp_path)


def test_a_file_that_vanishes(tmp_path: Path, monkeypatch):
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    (tmp_path / "a.run").write_bytes(RUN)
    is_dir = Path.is_dir

    def then_gone(path: Path) -> bool:
        found = is_dir(path)
        if path.name == "a.run" and path.exists():
            os.unlink(path)
        return found

    monkeypatch.setattr(Path, "is_dir", then_gone)
    code, out, err = outcome(["evaluate", "qrels.txt", "a.run"], tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("a.run: ")
