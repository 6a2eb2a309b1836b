"""Where output goes: a reader that leaves early, a full disk, a terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ranksift.cli.output import progress

RANKSIFT = [sys.executable, "-m", "ranksift"]


@pytest.mark.parametrize("arguments", [["--help"], ["measures"], ["measures", "--format", "json"]])
def test_a_closed_pipe_is_no_error(arguments: list[str]):
    with subprocess.Popen([*RANKSIFT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()  # before it can write anything
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_a_closed_pipe_does_not_hide_the_verdict(tiny):
    command = [*RANKSIFT, "check", str(tiny["qrels"]), str(tiny["run"]), "--require", "AP>2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


def test_work_goes_on_where_nobody_reads_the_notes(tmp_path):
    (tmp_path / "train.txt").write_text("".join(f"{n % 2} qid:{n // 4} 1:{n}\n" for n in range(24)))
    train = ["train", "train.txt", "--model", "LambdaMARTf", "--set", "trees=2", "--out", "model"]
    for command, code in ((train, 0), (["rank", "nothing", "train.txt"], 2)):
        nobody, end = os.pipe()
        os.close(nobody)
        done = subprocess.run([*RANKSIFT, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=end, check=False)
        os.close(end)
        assert done.returncode == code
    assert (tmp_path / "model" / "model.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_told(tiny):
    with open("/dev/full", "wb") as full:
        command = [*RANKSIFT, "evaluate", str(tiny["qrels"]), str(tiny["run"])]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"No space left" in done.stderr


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_a_terminal_gets_a_table_with_the_best_in_bold(files):
    master, terminal = os.openpty()
    runs = [str(files[name]) for name in ("weak", "perfect", "filtered")]
    command = [*RANKSIFT, "evaluate", str(files["qrels"]), *runs, "-m", "nDCG_f@10 Fdocs@10"]
    process = subprocess.Popen(
        command, stdout=terminal, stderr=terminal, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    )
    os.close(terminal)
    shown = b""
    try:
        while piece := os.read(master, 65536):
            shown += piece
    except OSError:  # a terminal ends with an error when the other side has gone
        pass
    assert process.wait(60) == 0
    os.close(master)
    perfect = next(line for line in shown.decode().splitlines() if "perfect" in line)
    filtered = next(line for line in shown.decode().splitlines() if "filtered" in line)
    assert perfect.count("\x1b[1m") == 2  # the best nDCG_f, and no forbidden document
    assert filtered.count("\x1b[1m") == 0


def test_progress_goes_to_the_terminal_and_not_into_the_output(monkeypatch, capsys):
    monkeypatch.setattr("ranksift.cli.output.is_terminal", lambda stream: stream is sys.stderr)
    monkeypatch.setenv("FORCE_COLOR", "1")  # for rich, which looks for itself
    assert list(progress("Reading runs", 3)([1, 2, 3])) == [1, 2, 3]
    out, err = capsys.readouterr()
    assert out == ""
    assert "Reading runs" in err


def test_no_progress_where_nobody_looks(capsys):
    assert list(progress("Reading runs", 3)([1, 2, 3])) == [1, 2, 3]
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("rest", "code", "out", "err"),
    [
        ("- -m AP <&-", 2, "", "<stdin>: standard input is closed; name a file\n"),
        ("bm25.run -m AP >&-", 2, "", "<stdout>: standard output is closed; write to a file: --out\n"),
        ("bm25.run -m AP --out out.txt >&-", 0, "", ""),
        ("none.run -m AP 2>&-", 2, "", ""),  # an error is no result
        ("bm25.run -m AP -f csv --out - | cat", 0, "run,measure,value\nbm25,AP,1.0\n", ""),
        ("bm25.run -m AP -f csv --out /dev/stdout | cat", 0, "run,measure,value\nbm25,AP,1.0\n", ""),
    ],
)
def test_streams_that_are_closed_or_named(tiny, rest, code, out, err):
    command = f'"{sys.executable}" -m ranksift evaluate qrels.txt {rest}'
    done = subprocess.run(["sh", "-c", command], cwd=tiny["run"].parent, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no such name here")
def test_what_standard_output_already_holds_is_kept(tiny):
    kept = tiny["run"].with_name("kept.csv")
    kept.write_text("before\n")
    with kept.open("a") as file:
        command = [*RANKSIFT, "evaluate", str(tiny["qrels"]), str(tiny["run"]), "-m", "AP", "-f", "csv"]
        subprocess.run([*command, "--out", "/dev/stdout"], stdout=file, check=True, timeout=60)
    assert kept.read_text() == "before\nrun,measure,value\nbm25,AP,1.0\n"
