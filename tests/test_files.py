"""Sources that cannot be read, writes that do not half happen."""

import errno
import gzip
import io
import os
import subprocess
import sys
import time

import pytest
from backports import zstd

import ranksift as rs
from ranksift import files
from ranksift.files import first_line, read_bytes, read_text, reading, remove_unfinished, writing

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


PACK = {".gz": lambda data: gzip.compress(data, mtime=0), ".zst": zstd.compress}


@pytest.mark.parametrize("suffix", PACK)
def test_members_and_frames_follow_each_other(tmp_path, suffix):
    pack, path = PACK[suffix], tmp_path / f"a.bin{suffix}"
    data = os.urandom(3 << 20)  # longer than a piece
    path.write_bytes(pack(data) + pack(b"") + pack(b"more") * 3000)
    assert read_bytes(path) == data + b"more" * 3000
    for after in (b"garbage", pack(b"cut off")[:-1]):
        path.write_bytes(pack(LINE) + after)
        with pytest.raises(rs.InputError, match=f"damaged {'gzip' if suffix == '.gz' else 'zstd'} data"):
            read_bytes(path)


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize(
    ("read", "name"),
    [
        (rs.read_run, "a.run"),
        (rs.read_qrels, "a.csv"),
        (rs.read_run, "a.tsv"),
        (rs.read_run, "a.jsonl"),
        (rs.read_run, "a.parquet"),
        (rs.read_examples, "a.letor"),
        (rs.read_examples, "a.csv"),
        (rs.read_scores, "a.csv"),
    ],
)
def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch, suffix, read, name):
    import tracemalloc

    path = tmp_path / f"{name}{suffix}"
    path.write_bytes(PACK[suffix](bytes(64 << 20)))
    monkeypatch.setattr(files, "_ALWAYS_ALLOWED", 1 << 16)
    monkeypatch.setattr(files, "_TIMES_PACKED", 1)
    read_of = rf"{name}{suffix}: [0-9,]+ bytes unpack to more than [0-9,]+; if you trust it, set RANKSIFT_MAX_UNPACKED"
    tracemalloc.start()
    try:
        with pytest.raises(rs.InputError, match=read_of):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_what_a_file_may_unpack_to(write, monkeypatch):
    monkeypatch.setattr(files, "_ALWAYS_ALLOWED", 1 << 16)
    small, large = write("small.bin.gz", bytes(1 << 16)), write("large.bin.gz", bytes(1 << 20))
    assert len(read_bytes(small)) == 1 << 16
    with pytest.raises(rs.InputError, match="unpack to more than"):
        read_bytes(large)
    assert len(read_bytes(write("tight.bin.gz", os.urandom(1 << 20)))) == 1 << 20
    for allowed in ("none", "None", "1048576", "1024K", "1m", " 1G "):
        monkeypatch.setenv("RANKSIFT_MAX_UNPACKED", allowed)
        assert len(read_bytes(large)) == 1 << 20
    for refused in ("0", "1048575", "1023K"):
        monkeypatch.setenv("RANKSIFT_MAX_UNPACKED", refused)
        with pytest.raises(rs.InputError, match="unpack to more than"):
            read_bytes(large)
    for nonsense in ("much", "-1", "1.5G", "1T", "١", "9" * 40, "K", "inf"):
        monkeypatch.setenv("RANKSIFT_MAX_UNPACKED", nonsense)
        with pytest.raises(rs.InputError, match=r"RANKSIFT_MAX_UNPACKED='.*' is not a size; write a number of bytes"):
            read_bytes(small)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such devices here")
@pytest.mark.parametrize("name", ["a.run", "a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.run.gz", "a.csv.zst"])
def test_a_stream_without_an_end(tmp_path, monkeypatch, name):
    (tmp_path / name).symlink_to("/dev/zero")
    monkeypatch.setenv("RANKSIFT_MAX_UNPACKED", "4M")
    with pytest.raises(rs.InputError, match=rf"{name}: a stream of more than 4,194,304 bytes; if you trust it"):
        rs.read_run(tmp_path / name)
    with open("/dev/zero") as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        with pytest.raises(rs.InputError, match="<stdin>: a stream of more than"):
            rs.read_run("-")


def test_more_than_memory_holds(tmp_path, monkeypatch):
    def refuse(*_):
        raise MemoryError

    path = tmp_path / "a.csv"
    path.write_bytes(b"query_id,doc_id,score\nq,d,1\n")
    monkeypatch.setattr(files.Text, "held", refuse)
    with pytest.raises(rs.InputError, match=r"a.csv: does not fit into memory"):
        rs.read_scores(path)


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


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no such folder here")
def test_process_substitution():
    """What a shell makes of <(zcat a.run.gz)."""
    into, out = os.pipe()
    os.write(out, LINE)
    os.close(out)
    assert rs.read_run(f"/dev/fd/{into}").to_dict() == {"q1": {"d1": 2.5}}
    os.close(into)


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


# -- what a killed process leaves --------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from ranksift.files import writing
with writing(sys.argv[1]) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_a_writer_of(path):
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)


@pytest.mark.parametrize("name", ["out.txt", "x" * 250 + ".txt", "é" * 125 + ".gz", "[*?].txt"])
def test_the_next_write_removes_what_a_killed_one_left(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"before")
    kill_a_writer_of(path)
    assert path.read_bytes() == b"before"
    assert len(os.listdir(tmp_path)) == 2
    with writing(path) as file:
        file.write(b"after")
    assert read_bytes(path) == b"after"
    assert os.listdir(tmp_path) == [name]


def test_a_writer_at_work_and_a_strangers_file_keep_theirs(tmp_path):
    path = tmp_path / "out.txt"
    others = (".out.txt.part", ".out.txt.mine.part", ".other.txt.123.part", "out.txt.123.part", ".out.txt.123")
    for name in others:
        (tmp_path / name).write_text("mine")
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / ".out.txt.9.part").mkdir()
    with writing(path) as slow:
        slow.write(b"first")
        with writing(path) as quick:
            quick.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert sorted(os.listdir(tmp_path)) == sorted([*others, ".out.txt.9.part", "out.txt"])


def test_what_may_still_be_written_elsewhere_stays_for_a_day(tmp_path):
    path = tmp_path / "out.txt"
    earlier, elsewhere = tmp_path / ".out.txt.123.part", tmp_path / ".out.txt.00000000-0123456789abcdef.part"
    for part in (earlier, elsewhere):
        part.write_text("half")
    path.write_text("before")
    with writing(path) as file:
        file.write(b"after")
    assert len(os.listdir(tmp_path)) == 3
    for part in (earlier, elsewhere):
        os.utime(part, (time.time() - 90_000,) * 2)
    with writing(path) as file:
        file.write(b"after")
    assert os.listdir(tmp_path) == ["out.txt"]


def test_without_locks_only_age_counts(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    path = tmp_path / "out.txt"
    kill_a_writer_of(path)
    (part,) = tmp_path.iterdir()
    monkeypatch.setattr("fcntl.flock", unsupported)
    with writing(path) as file:
        file.write(b"after")
    assert sorted(os.listdir(tmp_path)) == sorted([part.name, "out.txt"])
    os.utime(part, (time.time() - 90_000,) * 2)
    with writing(path) as file:
        file.write(b"after")
    assert os.listdir(tmp_path) == ["out.txt"]


def test_who_clears_up_never_takes_what_a_writer_has_just_made(tmp_path, monkeypatch):
    """Between the making of a file and its lock, somebody may take it for a leftover: then another one is made."""
    import fcntl

    path, true, seen = tmp_path / "out.txt", fcntl.flock, []

    def late(file, operation):
        if not seen:
            seen.append(file)
            remove_unfinished(path)
        return true(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with writing(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_name_that_is_too_long(tmp_path):
    def write():
        with writing(tmp_path / ("x" * 300)) as file:
            file.write(b"whole")

    with pytest.raises(rs.InputError, match="File name too long"):
        write()
    assert os.listdir(tmp_path) == []


def test_bytes_are_on_the_disk_before_the_name(tmp_path, monkeypatch):
    done = []
    synced, replaced = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: done.append(("sync", os.fstat(file).st_size)) or synced(file))
    monkeypatch.setattr(os, "replace", lambda *names: done.append(("name", 0)) or replaced(*names))
    with writing(tmp_path / "out.txt") as file:
        file.write(b"whole")
    assert done == [("sync", 5), ("name", 0)]
