"""The hunt: processes that read cases, and what to make of those that do not come back."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hunt.formats import ORDER, case_of
from tests.hunt.subjects import RANKSIFT
from tests.hunt.worker import numbers_of

ROOT = Path(__file__).parents[2]
FAILURES = ("crash", "hang", "exception", "noise", "different")
_KEPT = 500  # failures whose files are saved
_SLOWEST = 300.0  # seconds for a worker to start, or for a plain reader


@dataclass
class Found:
    """What a hunt found: how often each outcome came, by subject and format, and the failures one by one."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, subject: str, line: dict[str, Any]) -> None:
        self.counts[subject, line["format"], line["outcome"]] += 1
        if line["outcome"] in FAILURES:
            self.failures.append({"subject": subject, **line})

    def total(self, subject: str, outcome: str, kind: str | None = None) -> int:
        """How often an outcome came, of one format or of all."""
        return sum(n for (s, f, o), n in self.counts.items() if s == subject and o == outcome and kind in (None, f))


def hunt(
    subjects: Sequence[str],
    numbers: Sequence[int],
    *,
    seed: int = 0,
    workers: int = 1,
    patience: float = 60.0,
    trec_eval: str = "",
    progress: Any = None,
) -> Found:
    """Give cases to subjects. A case without an end within ``patience`` seconds is a hang."""
    found = Found()
    shares = [
        (subject, numbers_of(subject, numbers, ORDER)[share::count])
        for subject in subjects
        for count in [workers if subject not in ("trec_eval",) else 1]
        for share in range(count)
    ]
    waiting = [(subject, share) for subject, share in shares if share]
    common = {"seed": seed, "patience": patience, "trec_eval": trec_eval}
    with tempfile.TemporaryDirectory(prefix="ranksift-hunt-") as folder:
        at_work: list[_Process] = []
        try:
            while waiting or at_work:
                while waiting and len(at_work) < workers:
                    subject, share = waiting.pop(0)
                    place = Path(tempfile.mkdtemp(dir=folder))
                    at_work.append(_Process(subject, share, place, common, found))
                time.sleep(0.05)
                at_work = [process for process in at_work if process.goes_on()]
                if progress is not None:
                    progress(found)
        finally:
            for process in at_work:
                process.end()
    return found


class _Process:
    """A worker, started again behind each case that ends it."""

    def __init__(self, subject: str, numbers: list[int], place: Path, common: dict[str, Any], found: Found) -> None:
        self.subject, self.numbers, self.place, self.common, self.found = subject, numbers, place, common, found
        self.read = 0
        self._start(judge=True)

    def _start(self, *, judge: bool) -> None:
        (self.place / "journal").write_text("")
        numbers = self.numbers if judge else self.numbers[:1]
        config = {"subject": self.subject, "place": str(self.place), "judge": judge, **self.common}
        # Numbers may be many, and an argument is short.
        (self.place / "config.json").write_text(json.dumps({**config, "numbers": numbers}))
        code = "import json, sys; from tests.hunt.worker import main; main(json.load(open(sys.argv[1])))"
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, self.place / "config.json"],
            cwd=ROOT,
            env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.seen, self.since = "", time.monotonic()

    def goes_on(self) -> bool:
        """Take what is ready; start again where the worker ended early. False when all cases are done."""
        ended = self.process.poll()
        self._take()
        if ended is None:
            stage = (self.place / "journal").read_text()
            if stage != self.seen:
                self.seen, self.since = stage, time.monotonic()
            elif time.monotonic() - self.since > self._patience():
                self.end()
                self._take()
                if self.numbers:
                    self._lost("hang", f"no end within {self.common['patience']:g} s")
            return True
        if not self.numbers:
            shutil.rmtree(self.place)
            return False
        if ended:
            noise = (self.place / "noise").read_bytes()[-600:] if (self.place / "noise").exists() else b""
            why = signal.Signals(-ended).name if ended < 0 else f"exit code {ended}"
            self._lost("crash", f"{why} {noise.decode('utf-8', 'replace')}".strip())
        else:
            self._start(judge=True)
        return True

    def _patience(self) -> float:
        """Seconds that a worker may take: much longer while it is not the subject that is at work."""
        given: float = self.common["patience"]
        return given if self.seen.rstrip().endswith("read") else max(given, _SLOWEST)

    def _take(self) -> None:
        """The results that are new."""
        path = self.place / "results"
        if not path.exists():
            return
        with path.open("rb") as file:
            file.seek(self.read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.read += len(whole)
        for line in whole.splitlines():
            result = json.loads(line)
            assert self.numbers.pop(0) == result["case"]
            self.found.add(self.subject, result)

    def _lost(self, outcome: str, why: str) -> None:
        """Say what became of the case in hand, and go on behind it."""
        number, _, stage = (self.place / "journal").read_text().strip().partition(" ")
        if not number or stage == "make":
            raise RuntimeError(f"the worker of {self.subject} ended before it read anything: {why}")
        if stage == "judge":  # the plain reader gave up; the subject has to read the case all the same
            self._start(judge=False)
            return
        assert self.numbers.pop(0) == int(number)
        line = {"case": int(number), "format": ORDER[int(number) % len(ORDER)], "outcome": outcome, "detail": why}
        self.found.add(self.subject, line)
        self._start(judge=True)

    def end(self) -> None:
        """End the worker and what it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def keep_failures(found: Found, seed: int, folder: Path) -> None:
    """Save the files of cases that failed, each with the command that repeats it."""
    for failure in found.failures[:_KEPT]:
        subject = failure["subject"]
        case = case_of(seed, failure["case"])
        place = folder / f"{subject}-{failure['case']}"
        for name, data in case.files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
        place.mkdir(parents=True, exist_ok=True)
        (place / "repeat.txt").write_text(f"{repeat(failure, seed)}\n{failure['outcome']}: {failure['detail']}\n")


def repeat(failure: dict[str, Any], seed: int) -> str:
    """The command that repeats a case."""
    who = "" if failure["subject"] == RANKSIFT else f" --subjects {failure['subject']}"
    return f"python -m tests.hunt --seed {seed} --only {failure['case']}{who}"
