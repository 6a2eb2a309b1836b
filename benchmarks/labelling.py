"""Fifty assessors at work on the real server, on SQLite and on PostgreSQL, undisturbed and with the server killed.

Each of them judges once a second through the JSON API, as the judging page does, and sends again what was not
acknowledged. Afterwards the log must hold what was acknowledged, once, and give the state that the server showed last.
All of it stays on this machine.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evaluation import table
from ranksift.labelling.judgments import Judgment, Question
from ranksift.labelling.records import Item, NewTask, Project, Query
from ranksift.labelling.simulation import SimulatedAssessor, Truth
from ranksift.labelling.store import Store
from ranksift.labelling.task_state import task_state
from tests.labelling.postgresql import Server, programs

ASSESSORS, QUERIES, ITEMS, K = 50, 50, 50, 10
KILLS = 10
# For how long somebody goes on sending what nobody acknowledges.
PATIENCE = 30.0


def report(quick: bool) -> str:
    """Measure, and give a Markdown table."""
    seconds = 8 if quick else 60
    rows = [row(kind, seconds, kills) for kind in ("SQLite", "PostgreSQL") for kills in (0, 2 if quick else KILLS)]
    header = ["database", "kills", "judgments", "errors", "sent again", "saved before", "lost", "doubled"]
    header += ["p50, ms", "p95, ms", "p99, ms", "server, cores", "replay"]
    title = f"labelling: {ASSESSORS} assessors, a judgment per second each, for {seconds} s, over HTTP"
    return f"{table(title, header, rows)}\n{EXPLANATION}"


EXPLANATION = f"""{QUERIES} queries of {ITEMS} documents, k = {K}, tournament. A judgment takes from the moment
when it is due until its answer is there, with the next question and what follows each possible reply. Kills are SIGKILL
of the server in the midst of the load; it is started again at once. Sent again: judgments without an answer by then;
the times include the wait for the server. Saved before: those of them that the log had already. Replay: the log gives
the state that the server showed last, for so many tasks.
"""


@dataclass
class Assessor:
    """Somebody who judges one task over HTTP, and remembers what was acknowledged."""

    port: int
    token: str
    key: str
    says: SimulatedAssessor
    acknowledged: dict[str, tuple[int, Judgment]] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    sent_again: int = 0
    saved_before: int = 0
    _connection: http.client.HTTPConnection | None = None

    def work(self, start: float, seconds: int) -> None:
        """Judge once a second."""
        self.state = self._answer("GET", "question?ahead=true")
        for number in range(seconds):
            due = start + number
            time.sleep(max(0.0, due - time.perf_counter()))
            if self.state["done"]:
                break
            question = self.state["question"]
            judgment = self.says.answer(Question(question["left"]["id"], question["right"]["id"]))
            client_id = f"{self.key}-{number}"
            said = {name: getattr(judgment, name) for name in ("kind", "left", "right", "answer", "forbidden")}
            body = said | {"client_id": client_id, "after": self.state["after"], "active_seconds": 0.9}
            answer = self._answer("POST", "judgments?ahead=true", body)
            self.times.append(time.perf_counter() - due)
            if answer:
                self.acknowledged[client_id] = answer["number"], judgment
                self.state = answer["state"]
                self.saved_before += answer["repeated"]

    def _answer(self, method: str, what: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """What the server answers; what was cut off is sent again."""
        end = time.perf_counter() + PATIENCE
        tries = 0
        while True:
            tries += 1
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
                headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
                text = None if body is None else json.dumps(body)
                self._connection.request(method, f"/api/v1/tasks/{self.key}/{what}", text, headers)
                response = self._connection.getresponse()
                said = response.read()
                if response.status in (200, 201):
                    made: dict[str, Any] = json.loads(said)
                    return made
                self.errors.append(f"{response.status} {said[:200]!r}")
                return {}
            except (OSError, http.client.HTTPException) as error:
                if self._connection is not None:
                    self._connection.close()
                self._connection = None
                if time.perf_counter() > end:
                    self.errors.append(repr(error))
                    return {}
                self.sent_again += method == "POST" and tries == 1
                time.sleep(0.05)


def row(kind: str, seconds: int, kills: int) -> list[str]:
    """One load, with the server killed so many times."""
    with place(kind) as where:
        tokens, tasks, truths = prepare(where)
        served = Served(where)
        assessors = [
            Assessor(served.port, token, task, SimulatedAssessor(truth))
            for token, task, truth in zip(tokens, tasks, truths, strict=True)
        ]
        start = time.perf_counter() + 1
        threads = [
            threading.Thread(target=one.work, args=(start + number / ASSESSORS, seconds), daemon=True)
            for number, one in enumerate(assessors)
        ]
        for thread in threads:
            thread.start()
        for number in range(kills):
            time.sleep(max(0.0, start + (number + 0.5) * seconds / kills - time.perf_counter()))
            served.kill()
        for thread in threads:
            thread.join()
        served.stop()
        lost, doubled, replayed = audit(where, assessors)
    times = 1000 * np.array([one for assessor in assessors for one in assessor.times])
    errors = [error for assessor in assessors for error in assessor.errors]
    for error in errors[:3]:
        print(error, file=sys.stderr)
    again, before = sum(one.sent_again for one in assessors), sum(one.saved_before for one in assessors)
    counts = [len(times), len(errors), again, before, lost, doubled]
    quantiles = [f"{value:.0f}" for value in np.quantile(times, [0.5, 0.95, 0.99])]
    cores = f"{served.processor_seconds / seconds:.2f}"
    return [kind, str(kills), *(f"{count:,}" for count in counts), *quantiles, cores, f"{replayed}/{ASSESSORS}"]


@contextmanager
def place(kind: str) -> Iterator[str]:
    """A place for a project: a folder, or a database of a server that writes everything through to the disk."""
    if kind == "SQLite":
        with tempfile.TemporaryDirectory(prefix="labelling-") as folder:
            yield str(Path(folder) / "project")
    else:
        if programs() is None:
            raise RuntimeError("PostgreSQL is not installed (Debian: apt install postgresql)")
        server = Server.start(safe=True)
        try:
            server.execute("CREATE DATABASE labels")
            yield server.url("labels")
        finally:
            server.stop()


def prepare(where: str) -> tuple[list[str], list[str], list[Truth]]:
    """A project with a query for each assessor: tokens, keys of tasks, and what is true."""
    names = [f"d{number:02}" for number in range(ITEMS)]
    items = tuple(Item(name, f"document {name} " * 100, f"title of {name}") for name in names)
    with Store.create(where, Project("Load", k=K)) as store:
        store.add(Query(f"q{number:02}", f"query {number}", items=items) for number in range(QUERIES))
        store.add_person("Lea", "lead")
        people = [store.add_person(f"assessor {number:02}", "assessor") for number in range(ASSESSORS)]
        tasks = store.assign(
            NewTask(f"q{number % QUERIES:02}", person.id, "pairs", k=K, seed=number)
            for number, (person, _) in enumerate(people)
        )
    truths = [Truth.made_up(names, ties=0.05, forbidden=0.1, seed=number) for number in range(ASSESSORS)]
    return [token for _, token in people], [task.key for task in tasks], truths


def audit(where: str, assessors: list[Assessor]) -> tuple[int, int, int]:
    """How many acknowledged judgments are not in the log, how many are there twice, and how many states agree."""
    lost = doubled = replayed = 0
    with Store.open(where) as store:
        entries: dict[str, list[Any]] = {one.key: [] for one in assessors}
        for entry in store.entries():
            entries[entry.task].append(entry)
        for assessor in assessors:
            own = entries[assessor.key]
            there = {entry.client_id: (entry.number, entry.judgment) for entry in own}
            lost += sum(there.get(client) != said for client, said in assessor.acknowledged.items())
            doubled += len(own) - len(there) + len(there.keys() - assessor.acknowledged.keys())
            task = store.task(assessor.key)
            assert task is not None
            state = task_state(task, [item.doc_id for item in store.items(task.query_id)], store.log(task.key))
            asked = assessor.state["question"] or {}
            shown = {card["id"] for card in asked.values()}
            replayed += (
                [entry.number for entry in own] == [*range(1, len(own) + 1)]
                and (task.judgments, task.done) == (len(own), state.done)
                and assessor.state["after"] == len(own)
                and assessor.state["judgments"] == state.judgments
                and assessor.state["done"] == state.done
                and shown == set(state.question.items if state.question else ())
            )
    return lost, doubled, replayed


class Served:
    """``ranksift label serve`` in a process of its own, which can be killed and comes back."""

    def __init__(self, where: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.processor_seconds = 0.0
        self._command = [sys.executable, "-m", "ranksift", "label", "serve", where, "--port", str(self.port)]
        self._process = self._start()
        self._wait()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _wait(self) -> None:
        end = time.perf_counter() + PATIENCE
        while time.perf_counter() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self._process.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError("the server does not start")

    def kill(self) -> None:
        """End it without a word, and start it again."""
        self._end(signal.SIGKILL)
        self._process = self._start()

    def stop(self) -> None:
        """End it as somebody at the terminal does."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.processor_seconds += usage.ru_utime + usage.ru_stime
