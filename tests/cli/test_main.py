"""The command as a whole: help, usage errors, exit codes, what it imports."""

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ranksift as package
from ranksift.cli import main
from ranksift.errors import InputError
from tests.cli.conftest import Command

HEAVY = {"polars", "scipy", "pandas", "pyarrow", "rich", "pydantic"}


def shell(*arguments: str, **settings) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ranksift", *arguments], capture_output=True, text=True, **settings)


def test_help_names_every_command(ranksift: Command):
    code, out, err = ranksift("--help")
    assert (code, err) == (0, "")
    for name, line in main.COMMANDS.items():
        assert f"{name} " in out
        assert line in out


def test_every_command_is_a_function_of_its_own_file():
    for name in main.COMMANDS:
        assert callable(getattr(importlib.import_module(f"ranksift.cli.{name}"), name))


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_has_help_of_its_own(ranksift: Command, name: str):
    code, out, _ = ranksift(name, "--help")
    assert code == 0
    assert f"ranksift {name}" in out
    assert "--out" in out or "COMMAND" in out or name == "serve"  # which goes on until it is stopped


@pytest.mark.parametrize("name", ["fit", "apply"])
def test_every_command_of_a_group_has_help_of_its_own(ranksift: Command, name: str):
    code, out, _ = ranksift("cutoff", name, "--help")
    assert code == 0
    assert f"ranksift cutoff {name}" in out
    assert "--out" in out


def test_without_arguments_shows_help(ranksift: Command):
    assert ranksift() == ranksift("--help")


def test_version(ranksift: Command):
    assert ranksift("--version") == (0, f"ranksift {package.__version__}\n", "")


def test_runs_as_a_module():
    assert shell("--version").stdout == f"ranksift {package.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evalute"], ["evalute", "Did you mean 'evaluate'?", "ranksift --help"]),
        (["frobnicate"], ["frobnicate", "ranksift --help"]),
        (["--frobnicate"], ["--frobnicate"]),
        (["evaluate"], ["QRELS", "ranksift evaluate --help"]),
        (["evaluate", "a"], ["RUN"]),
        (["evaluate", "a", "b", "--frobnicate"], ["--frobnicate"]),
        (["evaluate", "a", "b", "--format", "xml"], ["xml", "table", "trec"]),
        (["evaluate", "a", "b", "--digits", "many"], ["many"]),
        (["evaluate", "a", "b", "--digits", "-1"], ["-1"]),
        (["evaluate", "a", "b", "--unjudged", "keep"], ["keep", "drop"]),
        (["evaluate", "a", "b", "-m"], ["-m"]),
        (["compare", "a", "b", "--test", "z"], ["'z'", "wilcoxon"]),
        (["explain", "a"], ["RUN"]),
        (["check", "a", "b", "--alpha", "x"], ["x"]),
        (["demo", "extra"], ["extra"]),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(ranksift: Command, arguments: list[str], words: list[str]):
    code, out, err = ranksift(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert all(word in err for word in words), err


def test_a_fault_of_ours_is_one_line_and_says_how_to_see_more(ranksift: Command, monkeypatch, tiny):
    def fault(*_, **__):
        raise ZeroDivisionError("of\nours")

    monkeypatch.setattr("ranksift.evaluation.evaluate.evaluate", fault)
    code, out, err = ranksift("evaluate", tiny["qrels"], tiny["run"])
    assert (code, out) == (main.INTERNAL, "")
    assert err.count("\n") == 1
    assert "ZeroDivisionError" in err
    assert "RANKSIFT_DEBUG=1" in err
    monkeypatch.setenv("RANKSIFT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        ranksift("evaluate", tiny["qrels"], tiny["run"])


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (MemoryError(), 2), (InputError("x"), 2)])
def test_exit_codes_of_other_endings(ranksift: Command, monkeypatch, tiny, error: BaseException, code: int):
    def ending(*_, **__):
        raise error

    monkeypatch.setattr("ranksift.evaluation.evaluate.evaluate", ending)
    found = ranksift("evaluate", tiny["qrels"], tiny["run"])
    assert (found.code, found.out) == (code, "")
    assert found.err.count("\n") == (0 if code == 130 else 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_interrupting_is_quiet(tiny, tmp_path: Path):
    pipe = tmp_path / "qrels.fifo"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "ranksift", "evaluate", str(pipe), str(tiny["run"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with open(pipe, "wb"):  # opens when the other side does: now it waits for the judgments
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        assert process.communicate() == (b"", b"")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["evaluate", "--help"], ["evaluate", "--nonsense"]])
def test_what_needs_no_numbers_imports_no_numpy(arguments: list[str]):
    assert not imported(arguments) & (HEAVY | {"numpy"})


@pytest.mark.parametrize("form", ["table", "json", "csv", "trec"])
def test_evaluating_imports_numpy_and_nothing_heavy(tiny, form: str):
    found = imported(["evaluate", str(tiny["qrels"]), str(tiny["run"]), "--format", form])
    assert "numpy" in found
    assert not found & HEAVY


def imported(arguments: list[str]) -> set[str]:
    """The packages that a command leaves imported, its output not being a terminal."""
    program = "import sys; from ranksift.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", program, *arguments]
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("words", [(), ("cutoff",), ("label",)])
def test_lists_of_commands_are_whole_sentences(ranksift: Command, words):
    listed = ranksift(*words, "--help").out.partition("Commands:\n")[2].partition("\n\n")[0].rstrip()
    sentences = re.split(r"\n  (?=\S)", f"\n{listed}")[1:]
    assert len(sentences) >= 5
    for sentence in sentences:
        assert sentence.endswith(".")
        assert not sentence.endswith("...")
