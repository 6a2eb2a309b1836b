"""Sources that cannot be read, writes that do not half happen."""

import gzip
import io
import os
import sys

import pytest

import ranksift as rs
from ranksift import files
from ranksift.files import first_line, read_bytes, read_text, reading, writing

LINE = b"q1 Q0 d1 1 2.5 tag\n"


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_whole_text_without_its_mark(write, suffix):
    assert read_text(write("a.txt" + suffix, b"\xef\xbb\xbfone\ntwo")) == b"one\ntwo"
    assert read_bytes(write("b.bin" + suffix, b"\xff\xfe\x00")) == b"\xff\xfe\x00"
    assert first_line(write("c.tsv" + suffix, b"\xef\xbb\xbf\r\nqid\tdocno\r\n1\t2\n")) == b"qid\tdocno"


def test_first_line_of_what_cannot_be_read(tmp_path):
    assert first_line(tmp_path / "none.tsv") == first_line(tmp_path) == b""
    (tmp_path / "bad.tsv.gz").write_bytes(b"qid\tdocno")
    assert first_line(tmp_path / "bad.tsv.gz") == b""


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("empty.run", b"", r"empty.run: the file is empty; a run that filters everything needs"),
        ("mark.run", b"\xef\xbb\xbf", r"mark.run: the file is empty"),
        ("utf16.run", "q1 Q0 d1 1 2 t\n".encode("utf-16"), r"utf16.run:1: this is UTF-16"),
        ("le.run", "q1 Q0 d1 1 2 t\n".encode("utf-16-le"), r"le.run:1: control character 0x00"),
        ("latin.run", LINE + "q1 Q0 dé 2 1.0 t\n".encode("latin-1"), r"latin.run:2: byte 0xe9 is not UTF-8"),
        ("nul.run", LINE + b"q1 Q0 d\0 2 1.0 t\n", r"nul.run:2: control character 0x00"),
        ("plain.run.gz", None, r"plain.run.gz: damaged gzip data"),
        ("cut.run.gz", gzip.compress(LINE * 99, mtime=0)[:-9], r"cut.run.gz: damaged gzip data"),
        ("flipped.run.gz", gzip.compress(LINE * 99, mtime=0)[:30] + b"\0" * 40, r"flipped.run.gz: damaged gzip data"),
        ("plain.run.zst", None, r"plain.run.zst: damaged zstd data"),
    ],
)
def test_unreadable(tmp_path, name, data, complaint):
    path = tmp_path / name
    path.write_bytes(LINE if data is None else data)
    with pytest.raises(rs.InputError, match=complaint) as error:
        rs.read_run(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("suffix", ["run", "run.gz", "csv", "tsv", "jsonl", "parquet"])
def test_missing_and_directory(tmp_path, suffix):
    with pytest.raises(rs.InputError, match=rf"gone.{suffix}: no such file; check the path"):
        rs.read_run(tmp_path / f"gone.{suffix}")
    (tmp_path / f"folder.{suffix}").mkdir()
    with pytest.raises(rs.InputError, match=rf"folder.{suffix}: this is a directory; name a file"):
        rs.read_run(tmp_path / f"folder.{suffix}")
    with pytest.raises(rs.InputError, match="not a usable path"):
        rs.read_run(f"nul\0byte.{suffix}")


def test_file_that_vanishes_or_shrinks_while_it_is_read(tmp_path):
    path = tmp_path / "a.run"
    path.write_bytes(LINE * 1000)
    with reading(path) as text:
        path.unlink()
        assert text.whole() == LINE * 1000  # an open file stays
    path.write_bytes(LINE * 1000)

    def shrink():
        with reading(path) as text:
            os.truncate(path, 30)
            text.whole()

    with pytest.raises(rs.InputError, match="the file shrank while it was read"):
        shrink()


def test_no_permission(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "a.run"
    path.write_bytes(LINE)
    monkeypatch.setattr(files.Path, "open", refuse)
    with pytest.raises(rs.InputError, match=r"a.run: cannot be read \(Permission denied\)"):
        rs.read_run(path)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINE)))
    run = rs.read_run("-")
    assert run.to_dict() == {"q1": {"d1": 2.5}}
    assert run.name == "tag"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINE + b"q1 Q0 d2\n")))
    with pytest.raises(rs.InputError, match=r"^<stdin>:2: 3 columns"):
        rs.read_run("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_named_pipe(tmp_path):
    from threading import Thread

    pipe = tmp_path / "pipe.run"
    os.mkfifo(pipe)
    writer = Thread(target=lambda: pipe.write_bytes(LINE * 1 + b"q1 Q0 d2 2 1 t\n"))
    writer.start()
    assert len(rs.read_run(pipe)) == 2
    writer.join()


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_what_is_written_appears_whole_or_not_at_all(tmp_path, suffix):
    path = tmp_path / f"out.txt{suffix}"
    path.write_bytes(b"before")

    def fail_half_way():
        with writing(path) as file:
            file.write(b"half")
            assert path.read_bytes() == b"before"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_half_way()
    assert path.read_bytes() == b"before"
    with writing(path) as file:
        file.write(b"after" * 1000)
    assert read_bytes(path) == b"after" * 1000
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_written_files_are_closed_and_the_same_every_time(tmp_path, suffix, monkeypatch):
    opened = []
    true_open = files.Path.open

    def remembering(self, *args, **kwargs):
        opened.append(true_open(self, *args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(files.Path, "open", remembering)
    for name in ("one", "two"):
        with writing(tmp_path / f"{name}{suffix}") as file:
            file.write(b"the same")
    assert len(opened) == 2
    assert all(f.closed for f in opened)
    monkeypatch.undo()
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


def test_places_that_cannot_be_written(tmp_path):
    run = rs.read_run({"q": {"d": 1.0}})
    for suffix in ("run", "csv", "parquet", "jsonl.gz"):
        with pytest.raises(rs.InputError, match=r"cannot be written \(No such file or directory\); check the folder"):
            run.save(tmp_path / "nowhere" / f"a.{suffix}")
        with pytest.raises(rs.InputError, match="not a usable path"):
            run.save(f"a\0b.{suffix}")
    (tmp_path / "folder").mkdir()
    with pytest.raises(rs.InputError, match="cannot be written"):
        run.save(tmp_path / "folder")
    with pytest.raises(rs.InputError, match="not a usable path"):
        run.save("")
    assert sorted(os.listdir(tmp_path)) == ["folder"]


def test_standard_output(capfdbinary):
    rs.read_run({"q": {"d": 1.0}}).save("-")
    assert capfdbinary.readouterr().out == b"q Q0 d 1 1.0 run\n"
