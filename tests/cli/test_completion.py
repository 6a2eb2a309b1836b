"""Completion by the Tab key, asked for as a shell does."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A command called ranksift, as the shell finds it."""
    path = tmp_path / "ranksift"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ranksift "$@"\n')
    path.chmod(0o755)
    return path


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("eva", "evaluate"),
        ("evaluate q r --unjudged-", "--unjudged-label"),
        ("evaluate q r --format la", "latex"),
        ("cutoff f", "fit"),
        ("cutoff fit q r --meas", "--measure"),
        ("evaluate q", ""),
    ],
)
def test_bash(script: Path, typed: str, found: str):
    words = ["ranksift", *typed.split()]
    lines = [
        f'PATH="{script.parent}:$PATH"',
        'eval "$(ranksift completion bash)"',
        f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}",
        "_ranksift_completion ranksift",
        'echo "${COMPREPLY[*]}"',
        "complete -p ranksift",
    ]
    done = subprocess.run(["bash", "--norc", "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    completed, registered = done.stdout.splitlines()
    assert (completed, done.stderr) == (found, "")
    assert registered == "complete -o default -F _ranksift_completion ranksift"  # default: files where nothing is found


@pytest.mark.parametrize(
    ("shell", "asked", "word"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "ranksift evaluate q r --dep"}, "--depth"),
        ("fish", {"_TYPER_COMPLETE_ARGS": "ranksift ver", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "verdict"),
    ],
)
def test_other_shells(ranksift: Command, monkeypatch, shell: str, asked: dict[str, str], word: str):
    assert f"_RANKSIFT_COMPLETE=complete_{shell}" in ranksift("completion", shell).out
    monkeypatch.setenv("_RANKSIFT_COMPLETE", f"complete_{shell}")
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    code, out, err = ranksift()
    assert (code, err) == (0, "")
    assert word in out


@pytest.mark.parametrize("group", ["cutoff", "label"])
def test_a_group_alone_prints_its_help(ranksift: Command, group: str):
    alone, asked = ranksift(group), ranksift(group, "--help")
    assert alone == asked
    assert alone.code == 0
    assert f"ranksift {group} [OPTIONS] COMMAND" in alone.out
