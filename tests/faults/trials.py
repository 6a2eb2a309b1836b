"""Faults, one after another: a command is run up to a step, and what is there then is held against what may be."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.faults.commands import DEMO, FILE, GROWING, JOURNAL, MODEL, STUDY, TRAINING, Command, make_inputs
from tests.faults.shim import FAULTS, FULL, KILL

ROOT = Path(__file__).parents[2]

#: Contents by path; None for a folder.
Tree = dict[str, bytes | None]

OLD, NEW, BETWEEN, WRONG = "old", "new", "no page", "wrong"

#: The fault that is none of the shim's: a disk that is really too small.
SMALL = "small"


class Wrong(Exception):  # noqa: N818
    """What must not be."""


@dataclass
class Found:
    """What came of all faults: how often, and what was wrong."""

    steps: Counter[str] = field(default_factory=Counter)
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    wrong: list[tuple[str, str, int, str]] = field(default_factory=list)

    def total(self, fault: str | None = None, outcome: str | None = None, command: str | None = None) -> int:
        """How many trials were of a fault, with an outcome, of a command."""
        wanted = (command, fault, outcome)
        return sum(n for key, n in self.counts.items() if all(w in (None, k) for w, k in zip(wanted, key, strict=True)))


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    err: str
    steps: list[list[str]]


class Machine:
    """Runs commands in a folder of its own."""

    def __init__(self, place: Path, server: subprocess.Popen[str]) -> None:
        self.place, self.inputs, self.folder, self._server = place, place / "inputs", place / "files", server

    def run(
        self, command: Command, words: str, fault: str | None = None, at: int = -1, stdout: str | None = None
    ) -> Done:
        """Run a command, up to a fault."""
        job = {
            "place": str(self.place), "folder": str(self.folder), "arguments": command.arguments(words, self.inputs),
            "long": command.long, "fault": fault, "at": at, "stdout": stdout,
        }  # fmt: skip
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        answer = self._server.stdout.readline()
        if not answer:
            raise RuntimeError("the process that runs commands has ended")
        return Done(**json.loads(answer))

    def begin(self, tree: Tree) -> None:
        """These files and no others."""
        self.folder.mkdir(exist_ok=True)
        for path in self.folder.iterdir():  # the folder itself may be where a disk is mounted
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, content in tree.items():
            path = self.folder / name
            if content is None:
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def tree(self) -> Tree:
        """What is there."""
        found: Tree = {}
        for path in sorted(self.folder.rglob("*")):
            found[path.relative_to(self.folder).as_posix()] = None if path.is_dir() else path.read_bytes()
        return found


@contextmanager
def machine() -> Iterator[Machine]:
    """A folder with what the commands read, and a process that runs them."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(os.path.realpath(name))
        make_inputs(place / "inputs")
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-W", "ignore", "-m", "tests.faults.server"]
        with subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **threads, "PYTHONPATH": path},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as server:  # fmt: skip
            yield Machine(place, server)


def try_faults(
    on: Machine,
    command: Command,
    *,
    most: int | None = None,
    seed: int = 0,
    found: Found | None = None,
) -> Found:
    """Let a command go wrong at every step in every way, or at as many as are asked for, drawn by a seed."""
    found = Found() if found is None else found
    case = Case.of(on, command)
    found.steps[command.name] = len(case.steps)
    trials = [(fault, at) for at in range(0, len(case.steps), command.weight) for fault in FAULTS]
    if most is not None and most < len(trials):
        trials = sorted(random.Random(f"{seed} {command.name}").sample(trials, most), key=trials.index)
    for fault, at in trials:
        try:
            outcome = case.after(fault, at)
        except Wrong as wrong:
            outcome = WRONG
            found.wrong.append((command.name, fault, at, f"{' '.join(case.steps[at])}: {wrong}"))
        found.counts[command.name, fault, outcome] += 1
    return found


def try_sizes(on: Machine, command: Command, disk: Disk, *, step: int = 1, found: Found | None = None) -> Found:
    """Let a command write to disks with room for 0, 1, 2, … pages, until there is enough."""
    found = Found() if found is None else found
    case = Case.of(on, command)
    for pages in count(0, step):
        try:
            outcome = case.with_room_for(pages, disk)
        except Wrong as wrong:
            outcome = WRONG
            found.wrong.append((command.name, SMALL, pages, str(wrong)))
        found.counts[command.name, SMALL, outcome] += 1
        if outcome == NEW or pages > 5000:
            return found
    raise AssertionError


class Disk:
    """A file system in memory, of any size."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resize(self, pages: int | None = None) -> None:
        """Leave room for so many pages beside what is there; None: for everything."""
        seen = os.statvfs(self.folder)
        used = (seen.f_blocks - seen.f_bfree) * seen.f_frsize
        size = 1 << 30 if pages is None else max(1, used + pages * seen.f_frsize)
        subprocess.run(["mount", "-o", f"remount,size={size}", self.folder], check=True, capture_output=True)


@contextmanager
def mounted(folder: Path) -> Iterator[Disk | None]:
    """A disk in the place of a folder; None where this is not permitted."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=1g,mode=0700", "faults", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode:
        yield None
        return
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@dataclass(frozen=True)
class Case:
    """A command with what is there before it and after it, and the steps between."""

    on: Machine
    command: Command
    old: Tree
    new: Tree
    steps: list[list[str]]
    # What the command was run in once more, and left nothing wrong: the same bytes need not be tried again.
    passed: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, on: Machine, command: Command) -> Case:
        """Run it without a fault."""
        on.begin({})
        if command.old:
            _demand_success(on.run(command, command.old))
        old = on.tree()
        done = on.run(command, command.new)
        _demand_success(done)
        new = on.tree()
        missing = [path for path, kind in command.outputs.items() if kind not in GROWING and path not in new]
        if missing or len(done.steps) < 3 or old == new:
            raise RuntimeError(f"{command.name} does not write {missing or 'anything else than before'}")
        return cls(on, command, old, new, done.steps)

    def after(self, fault: str, at: int) -> str:
        """What came of a fault, in a word; whatever is not as it must be is raised."""
        self.on.begin(self.old)
        done = self.on.run(self.command, self.command.new, fault, at)
        if done.code:
            self._check_trials(self.on.tree(), at)
        outcome = self._check_end(fault, done, self._states())
        self._check_again()
        return outcome

    def with_room_for(self, pages: int, disk: Disk) -> str:
        """What came of it on a disk that has room for so many pages more."""
        disk.resize()
        self.on.begin(self.old)
        disk.resize(pages)
        done = self.on.run(self.command, self.command.new)
        outcome = self._check_end(FULL, done, self._states())
        disk.resize()
        self._check_again()
        return outcome

    def _states(self) -> dict[str, str]:
        tree = self.on.tree()
        return {path: self.state(path, kind, tree) for path, kind in self.command.outputs.items()}

    def _check_end(self, fault: str, done: Done, states: Mapping[str, str]) -> str:
        """What the command said, and whether that is what it did."""
        these = {state for path, state in states.items() if self.command.outputs[path] not in GROWING}
        if fault == KILL:
            if done.code != -9:
                raise Wrong(f"was not killed, but ended with {done.code}")
            return BETWEEN if BETWEEN in these else OLD if OLD in these else NEW
        if done.code == 0:
            if these - {NEW}:
                raise Wrong(f"ended well, but {states}")
            return NEW
        lines = [line for line in done.err.splitlines() if not line.startswith("note: ")]
        if done.code != 2 or len(lines) != 1:
            raise Wrong(f"ended with {done.code} and said {done.err.strip()[-300:]!r}")
        if not any(path in lines[0] for path in states):
            raise Wrong(f"does not name what it could not write: {lines[0]!r}")
        if fault == FULL and (BETWEEN in these or these == {NEW}):
            raise Wrong(f"said {lines[0]!r}, but {states}")
        return BETWEEN if BETWEEN in these else OLD

    def _check_again(self) -> None:
        """The same command once more, which does everything, and clears up."""
        before = _without_chance(self.on.tree())
        if before in self.passed:
            return
        _age_versions(self.on.folder)
        done = self.on.run(self.command, self.command.new)
        if done.code:
            raise Wrong(f"the next run ended with {done.code}: {done.err.strip()[-300:]!r}")
        states = self._states()
        if any(state != NEW for path, state in states.items() if self.command.outputs[path] not in GROWING):
            raise Wrong(f"the next run left {states}")
        left = [path for path in self.on.tree() if _hidden(path)]
        if left:
            raise Wrong(f"the next run left {left}")
        self.passed.add(before)

    # -- what is there -------------------------------------------------------------------------------------------------

    def state(self, path: str, kind: str, tree: Tree) -> str:
        """Which version of an output is there, as a whole; what else is there must not be."""
        others = [p for p in tree if not _hidden(p) and not any(_is_in(p, output) for output in self.command.outputs)]
        if others:
            raise Wrong(f"{others} were not there before")
        return _STATES[kind](self, path, tree)

    def file(self, path: str, tree: Tree) -> str:
        """A file has the old bytes or the new ones."""
        return self._one_of(path, tree.get(path), self.old.get(path), self.new.get(path))

    def study(self, path: str, tree: Tree) -> str:
        """A page is there only beside its own files; without it, files of both studies may be there, and a list."""
        now, old, new = (_visible(path, t, without="evaluated") for t in (tree, self.old, self.new))
        page, listed = f"{path}/index.html", f"{path}/study.json"
        if now == old or (not now.keys() - {path} and not old):
            return OLD
        if now == new:
            return NEW
        if page in now:
            raise Wrong(f"a page beside other files than its own: {_differing(now, new) or _differing(now, old)}")
        known = {}
        if now.get(listed) not in (None, old.get(listed), new.get(listed)):
            about = json.loads(now[listed] or b"")
            known = {**about["files"], **about["former"]}
            if not known:
                raise Wrong("a list that names no files")
        for name, content in now.items():
            if name != listed and content not in (old.get(name), new.get(name)):
                raise Wrong(f"{name} is of no study")
            if known and content is not None and name != listed and Path(name).name not in known:
                raise Wrong(f"{name} is in no list")
        return BETWEEN

    def model(self, path: str, tree: Tree) -> str:
        """A folder holds one model, whole."""
        if path not in tree and path not in self.old:
            return OLD
        return self._one_of(path, *(_model(path, t) for t in (tree, self.old, self.new)))

    def journal(self, path: str, tree: Tree) -> str:
        """A storage begins with the trials that it had, and has only whole lines but for the last."""
        held, old = tree.get(path) or b"", self.old.get(path) or b""
        if not held.startswith(old):
            raise Wrong(f"{path} has lost what it held")
        for line in held.splitlines(keepends=True)[:-1]:
            json.loads(line)
        return NEW if len(_trials(held)) == len(_trials(self.new.get(path) or b"")) else OLD

    def training(self, path: str, tree: Tree) -> str:
        """Checkpoints, logs and pictures are whole."""
        from safetensors.numpy import load

        ends = {".csv": b"\n", ".svg": b"</svg>\n"}
        for name, content in _visible(path, tree, without="").items():
            if content is None:
                continue
            if name.endswith(".safetensors"):
                load(content)
            elif not content.endswith(ends[Path(name).suffix]):
                raise Wrong(f"{name} is not whole")
        return NEW if f"{path}/checkpoint.safetensors" not in tree else OLD

    def demo(self, path: str, tree: Tree) -> str:
        """Every file of the demo is whole."""
        now, new = _visible(path, tree, without="models"), _visible(path, self.new, without="models")
        other = [name for name, content in now.items() if name not in new or content != new[name]]
        if other and [name for name in other if "/study" not in name and "/evaluated" not in name]:
            raise Wrong(f"{other} are not as the demo writes them")
        return NEW if now == new else OLD

    def _check_trials(self, tree: Tree, at: int) -> None:
        """No trial that had reached the disk is lost by a command that did not end well."""
        for path in (path for path, kind in self.command.outputs.items() if kind == JOURNAL):
            before = self.steps[:at]
            if ["unlink", path] in self.steps[: at + 1]:
                continue
            held = tree.get(path) or b""
            # The first two lines say what is searched.
            reached = before.count(["fsync", path]) - (0 if self.old.get(path) else 2)
            if len(_trials(held)) < len(_trials(self.old.get(path) or b"")) + reached:
                raise Wrong(f"{path} has {len(_trials(held))} trials, and {reached} more had reached the disk")

    def _one_of(self, path: str, now: Any, old: Any, new: Any) -> str:
        if now == new:
            return NEW
        if now == old:
            return OLD
        raise Wrong(f"{path} is neither the old one nor the new one")


_STATES: dict[str, Callable[[Case, str, Tree], str]] = {
    FILE: Case.file, STUDY: Case.study, MODEL: Case.model, JOURNAL: Case.journal, TRAINING: Case.training,
    DEMO: Case.demo,
}  # fmt: skip


def _model(path: str, tree: Tree) -> Any:
    """What a card and its files say, whatever the version is called; versions that no card names do not count."""
    held = tree.get(f"{path}/model.json")
    if held is None:
        return None
    card = json.loads(held)
    version = f"{path}/{card.pop('version')}"
    card.pop("sum", None)  # of the name of the version, too
    files = {name: tree.get(f"{version}/{name}") for name in card["files"]}
    if None in files.values():
        raise Wrong(f"{path} has lost {[name for name, content in files.items() if content is None]}")
    return card, files


def _without_chance(tree: Tree) -> str:
    """What stands for a tree, but for the part of names that is drawn at random."""
    named = sorted((re.sub(r"[0-9a-f]{16}", "*", path), content) for path, content in tree.items())
    return hashlib.sha256(re.sub(rb"version-[0-9a-f]{16}", b"*", repr(named).encode())).hexdigest()


def _age_versions(folder: Path) -> None:
    """Make all versions of models older than the time that they are kept for readers."""
    from ranksift.learning.model_folder import GRACE

    then = time.time() - 2 * GRACE
    for path in [p for v in folder.rglob("version-*") for p in (*v.iterdir(), v)]:
        os.utime(path, (then, then))


def _trials(held: bytes) -> list[bytes]:
    return [line for line in held.splitlines(keepends=True) if line.endswith(b"\n") and b'"op_code":4,' in line]


def _visible(path: str, tree: Tree, without: str) -> Tree:
    """What is in an output and can be seen, less a folder in it."""
    return {p: c for p, c in tree.items() if _is_in(p, path) and not _hidden(p) and not _is_in(p, f"{path}/{without}")}


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in Path(path).parts)


def _differing(one: Tree, other: Tree) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _demand_success(done: Done) -> None:
    if done.code:
        raise RuntimeError(f"ended with {done.code}: {done.err}")
