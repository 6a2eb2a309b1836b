"""A damaged Parquet file is refused in one line: polars itself panics at some, and at others the process ends."""

import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import ranksift as rs
from ranksift.collection.readers import parquet_check
from ranksift.collection.readers.parquet import read_parquet
from tests.collection.readers.damaged_parquet import CODECS, damaged, genuine, with_rows

CASES = 300
READ = """
import resource, sys
from pathlib import Path
from ranksift.collection.readers.parquet import read_parquet
from ranksift.errors import InputError
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # a machine of that memory
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        print(path.stem, "read", read_parquet(path).height)
    except InputError as error:
        print(path.stem, "refused", error)
"""
RUN = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]}


def outcomes(folder: Path) -> dict[str, str]:
    """What becomes of each file, in a process that must neither end early nor say anything else."""
    done = subprocess.run([sys.executable, "-c", READ, folder], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert set(found) == {path.stem for path in folder.iterdir()}
    return found


def test_no_damaged_file_ends_the_process_or_makes_it_say_more_than_a_line(tmp_path):
    for seed in range(CASES):
        (tmp_path / f"{seed}.parquet").write_bytes(damaged(seed))
    found = outcomes(tmp_path)
    refused = [text for text in found.values() if text.startswith("refused ")]
    assert CASES / 3 < len(refused) < CASES * 0.9
    assert all(".parquet: " in text and "; " in text for text in refused)


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(10, id="memory-allocation-that-aborts"),
        pytest.param(13, id="panic-in-the-footer"),
        pytest.param(40, id="panic-at-the-number-of-rows"),
        pytest.param(151, id="panic-at-the-number-of-values"),
        pytest.param(231, id="panic-in-a-page-header"),
        pytest.param(692, id="panic-at-a-place-outside-the-file"),
        pytest.param(757, id="panic-in-delta-encoded-values"),
        pytest.param(1154, id="panic-at-a-column-without-metadata"),
    ],
)
def test_what_polars_panics_or_aborts_at_is_refused(tmp_path, seed):
    (tmp_path / "a.parquet").write_bytes(damaged(seed))
    assert outcomes(tmp_path)["a"].startswith(f"refused {tmp_path / 'a.parquet'}: ")


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        (
            10**9,
            "1,000,000,000 rows of 3 columns unpack to more than 1,073,741,824 bytes; if you trust it, set RANKSIFT",
        ),
        (10**12, "not a readable Parquet file"),
        (2**62, "not a readable Parquet file"),
    ],
)
def test_more_rows_than_there_are(tmp_path, rows, complaint):
    pl.DataFrame(RUN).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_bytes(with_rows((tmp_path / "a.parquet").read_bytes(), rows))
    assert outcomes(tmp_path)["a"].startswith(f"refused {tmp_path / 'a.parquet'}: {complaint}")


def test_a_bomb_respects_the_limit(tmp_path, monkeypatch):
    docs = pl.int_range(200_000, eager=True)
    pl.DataFrame({"query_id": "q", "doc_id": docs, "score": 1.0}).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setenv("RANKSIFT_MAX_UNPACKED", "1M")
    with pytest.raises(rs.InputError, match="200,000 rows of 3 columns unpack to more than 1,048,576 bytes; if you tr"):
        rs.read_run(tmp_path / "a.parquet")
    monkeypatch.setenv("RANKSIFT_MAX_UNPACKED", "none")
    assert rs.read_run(tmp_path / "a.parquet").to_frame().height == 200_000


@pytest.mark.parametrize("codec", CODECS)
def test_a_genuine_file_is_read_as_polars_reads_it(tmp_path, codec):
    for seed in range(8):
        (tmp_path / "a.parquet").write_bytes(genuine(random.Random(seed), codec))
        assert read_parquet(tmp_path / "a.parquet").equals(pl.read_parquet(tmp_path / "a.parquet"))


def test_files_are_read_after_one_that_ended_the_other_process(tmp_path):
    pl.DataFrame(RUN).write_parquet(tmp_path / "good.parquet")
    (tmp_path / "bad.parquet").write_bytes(damaged(10))
    for _ in range(2):
        with pytest.raises(rs.InputError, match=r"bad\.parquet: "):
            rs.read_run(tmp_path / "bad.parquet")
        assert rs.read_run(tmp_path / "good.parquet").to_dict() == {"q1": {"a": 2.0, "b": 1.0}}


def test_without_another_process(tmp_path, monkeypatch):
    pl.DataFrame(RUN).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    parquet_check.end_checker()
    for executable in ("", "/nowhere/python", "/bin/true"):
        monkeypatch.setattr(sys, "executable", executable)
        assert read_parquet(tmp_path / "a.parquet").equals(pl.DataFrame(RUN))
        with pytest.raises(rs.InputError, match="not a readable Parquet file"):
            read_parquet(tmp_path / "bad.parquet")


def test_where_there_is_no_limit_files_are_trusted_and_read_once(tmp_path, monkeypatch):
    pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}).write_parquet(tmp_path / "run.parquet")
    parquet_check.end_checker()
    monkeypatch.setenv("RANKSIFT_MAX_UNPACKED", "none")
    assert rs.read_run(tmp_path / "run.parquet").to_dict() == {"q": {"d": 1.0}}
    assert not parquet_check._running
    monkeypatch.delenv("RANKSIFT_MAX_UNPACKED")
    assert rs.read_run(tmp_path / "run.parquet").to_dict() == {"q": {"d": 1.0}}
    assert parquet_check._running
