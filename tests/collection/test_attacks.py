"""Input made to break the readers and writers: each of these once gave a traceback, a hang, or replaced a device."""

import os
from decimal import Decimal
from threading import Thread

import numpy as np
import polars as pl
import pytest

import ranksift as rs
from ranksift import files
from ranksift.collection._engine import rows
from ranksift.collection._engine.grouping import Gathering, Part
from ranksift.collection._engine.ids import Ids
from ranksift.files import writing

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_rows_that_just_fill_the_columns(more):
    """Columns are sized by the first part; the next one may have exactly as many rows as there is room for."""
    docs = [f"d{i}" for i in range(500)]

    def part(some):
        return Part.of(
            Ids.from_strings(["q"] * len(some)), Ids.from_strings(some).compact(), np.arange(1.0 * len(some))
        )

    gathering = Gathering(100)
    gathering.add(part(docs[:10]), 50)
    room = len(gathering._values) + more
    gathering.add(part(docs[10:room]), 50)
    assert gathering.grouped().docs.tolist() == docs[:room]


def test_offsets_beyond_four_bytes():
    """Four bytes point into any one part of a long column, not into all of it."""

    class Vast(np.ndarray):
        """A buffer that says it is large, and is not."""

        def __len__(self) -> int:
            return 2**31

    vast = Ids(np.zeros(16, dtype=np.uint8).view(Vast), np.array([2**31 + 5], dtype=np.uint32), np.array([1]))
    assert Ids.concatenate([vast, vast, vast]).starts.tolist() == [2**31 + 5, 2**32 + 5, 2**32 + 2**31 + 5]


@pytest.mark.parametrize("read", [rs.read_run, rs.read_qrels])
def test_a_decimal_that_refuses_to_be_a_float(read):
    with pytest.raises(rs.InputError, match=r"'d': (score|label) sNaN is not finite"):
        read({"q": {"d": Decimal("sNaN")}})


def test_gains_that_no_float_holds():
    for gains in ({1: 10**400}, {10**5000: 1}):
        with pytest.raises(rs.InputError, match="a label or a gain is too large"):
            rs.Gains.of(gains)


def test_a_lazy_frame_that_fails():
    with pytest.raises(rs.InputError, match=r"the lazy frame cannot be collected \(.*none.*\); collect it first"):
        rs.read_run(pl.LazyFrame({"query_id": ["q"]}).select("none"))


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"labels": ["x", 1]}, "labels or scores are not numbers"),
        ({"scores": [None, {}]}, "labels or scores are not numbers"),
        ({"groups": ["q", None]}, "groups are of several types"),
        ({"judged": [True]}, "judged and kept are not of the length of labels"),
        ({"kept": [True, True, False]}, "judged and kept are not of the length of labels"),
    ],
)
def test_arrays_that_do_not_fit(arrays, complaint):
    with pytest.raises(rs.InputError, match=complaint):
        rs.Judged.from_arrays(**{"labels": [1, 0], "scores": [2, 1], "groups": ["q", "q"], **arrays})


@pipes
def test_a_pipe_called_tsv_is_read_once(tmp_path):
    """A look at its first line would take that line, and wait for another writer for ever."""
    pipe = tmp_path / "pipe.tsv"
    os.mkfifo(pipe)
    writer = Thread(target=lambda: pipe.write_bytes(b"query_id\tdoc_id\tscore\nq\td\t1\n"))
    writer.start()
    assert rs.read_run(pipe).to_dict() == {"q": {"d": 1.0}}
    writer.join()


@pipes
def test_examples_from_a_pipe_called_csv(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = Thread(target=lambda: pipe.write_bytes(b"query_id,bm25,label\nq,2.5,1\n"), daemon=True)
    writer.start()
    assert rs.read_examples(pipe).features.tolist() == [[2.5]]
    writer.join()


@pipes
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe, read = tmp_path / "pipe.run", []
    os.mkfifo(pipe)
    reader = Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    rs.read_run({"q": {"d": 1.0}}).save(pipe)
    reader.join()
    assert read == [b"q Q0 d 1 1.0 run\n"]
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe.run"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    target, link, dangling = tmp_path / "far" / "target.run", tmp_path / "link.run", tmp_path / "dangling.run"
    target.write_bytes(b"before")
    link.symlink_to(target)
    dangling.symlink_to(tmp_path / "far" / "new.run")
    for path in (link, dangling):
        rs.read_run({"q": {"d": 1.0}}).save(path)
        assert path.is_symlink()
        assert path.read_bytes() == b"q Q0 d 1 1.0 run\n"
    assert sorted(os.listdir(tmp_path / "far")) == ["new.run", "target.run"]


@pytest.mark.skipif(os.name != "posix", reason="no such permissions here")
def test_what_is_private_stays_private(tmp_path):
    path = tmp_path / "out.csv"
    path.write_bytes(b"before")
    path.chmod(0o600)
    with writing(path) as file:
        file.write(b"after")
    assert path.read_bytes() == b"after"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("suffix", ["run", "csv", "jsonl"])
def test_a_file_that_grows_while_it_is_read(tmp_path, monkeypatch, suffix):
    """What was read of it would be half a run, scored in silence."""
    path = tmp_path / f"a.{suffix}"
    rs.read_run({"q": {"d": 1.0, "e": 2.0}}).save(path)
    true_piece = files.Text.piece

    def growing(self, *args):
        with path.open("ab") as file:
            file.write(b"\n")
        return true_piece(self, *args)

    monkeypatch.setattr(files.Text, "piece", growing)
    with pytest.raises(rs.InputError, match=rf"a.{suffix}: the file changed while it was read; read it again"):
        rs.read_run(path)


def test_a_file_that_loses_its_duplicate_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.run"
    path.write_bytes(b"q Q0 d 1 2 t\nq Q0 d 2 1 t\n")
    true_where = rows.Rows.where
    monkeypatch.setattr(rows.Rows, "where", lambda *args: true_where(*args)[:1])
    with pytest.raises(rs.InputError, match="the source changed while it was read; read it again"):
        rs.read_run(path)


@pytest.mark.skipif(os.name != "posix", reason="names of files are text here")
def test_a_file_whose_name_is_no_text(tmp_path):
    path = os.fsencode(tmp_path) + b"/bm\xff25.run"
    with open(path, "wb") as file:
        file.write(b"q Q0 d 1 2 t\n")
    scores = rs.evaluate({"q": {"d": 1}}, os.fsdecode(path), "AP")
    assert scores.mean()["run"].to_list() == [r"bm\xff25"]
