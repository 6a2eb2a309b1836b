"""What was acknowledged is there, whoever is killed and however many write at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ranksift.errors import InputError
from ranksift.labelling.records import NewTask, Project
from ranksift.labelling.store import Moved, Saved, Store, Unavailable
from tests.labelling.postgresql import Server, programs
from tests.labelling.store.filled import LEFT, PROJECT, filled, query

APPENDER = Path(__file__).with_name("appender.py")


def appender(place: str, key: str, name: str, first: int, last: int) -> subprocess.Popen[str]:
    """A process that is ready to append."""
    command = [sys.executable, str(APPENDER), place, key, name, str(first), str(last)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process: subprocess.Popen[str]) -> None:
    """Let a process append."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def acknowledged(lines: str) -> list[tuple[int, int]]:
    """What a client was promised, as pairs of its number and that of the log; half a line is no promise."""
    whole = lines[: lines.rfind("\n") + 1]
    return [(int(one), int(other)) for one, other in (line.split() for line in whole.splitlines())]


def logged(store: Store) -> dict[str, int]:
    """The number of each client id in the log, which has no gap and nothing twice."""
    entries = list(store.entries())
    assert [entry.number for entry in entries] == [*range(1, len(entries) + 1)]
    assert [task.judgments for task in store.tasks()] == [len(entries)]
    numbers = {entry.client_id: entry.number for entry in entries}
    assert len(numbers) == len(entries)
    return numbers


def test_a_killed_client_loses_nothing(place: str) -> None:
    store, _, task = filled(place)
    promised: dict[str, int] = {}
    with store:
        for wait in (1, 2, 5, 11, 23):  # killed after so many promises, in the midst of the next one
            process = appender(place, task.key, "client", len(promised), 10**9)
            begin(process)
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(wait)]
            process.kill()
            rest, _ = process.communicate()
            for number, place_in_log in acknowledged("".join(lines) + rest):
                promised[f"client-{number}"] = place_in_log
            assert process.returncode == -9
        numbers = logged(store)
        assert len(promised) >= 42
        assert promised.items() <= numbers.items()
        assert len(numbers) <= len(promised) + 1  # the last one may be on the disk without a promise
        last = len(numbers)
        assert store.append(task.key, "after all", LEFT, after=last) == Saved(last + 1, repeated=False)


def test_a_server_that_crashes_loses_nothing() -> None:
    """A store goes on by itself when PostgreSQL is there again, and all that it acknowledged is."""
    if programs() is None and not os.environ.get("CI"):
        pytest.skip("PostgreSQL is not installed (Debian: apt install postgresql)")
    server = Server.start(safe=True)
    stop = threading.Event()
    promised: dict[str, int] = {}
    unavailable: list[str] = []
    try:
        store, _, task = filled(server.url())

        def work() -> None:
            while not stop.is_set():
                client = f"c{len(promised)}"
                try:
                    promised[client] = store.append(task.key, client, LEFT, after=len(promised)).number
                except Unavailable as error:  # and it is sent again
                    unavailable.append(str(error))
                    time.sleep(0.05)

        with store, ThreadPoolExecutor(1) as pool:
            working = pool.submit(work)
            try:
                for least in (20, 60):
                    while len(promised) < least and not working.done():
                        time.sleep(0.01)
                    server.crash()
                while len(promised) < 100 and not working.done():
                    time.sleep(0.01)
            finally:
                stop.set()
            working.result()
            assert promised == logged(store)
            assert all("\n" not in one and "the database says" in one for one in unavailable)
    finally:
        server.stop()


def test_connections_that_were_cut_are_made_anew(new_place: Callable[[str], str], postgresql: Server) -> None:
    store, _, task = filled(new_place("postgresql"))
    with store:
        for after in range(3):
            assert store.append(task.key, f"c{after}", LEFT, after=after).number == after + 1
            with store._database.reading() as connection:
                number = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
            postgresql.execute(f"SELECT pg_terminate_backend({number}, 5000)")


def test_two_processes_on_one_task(place: str) -> None:
    store, _, task = filled(place)
    with store:
        processes = [appender(place, task.key, name, 1, 40) for name in ("one", "two")]
        for process in processes:
            begin(process)
        for number in range(40):  # and the process of the test
            while True:
                try:
                    store.append(task.key, f"here-{number}", LEFT, after=len(store.log(task.key)))
                    break
                except Moved:
                    continue
        said = {name: process.communicate()[0] for name, process in zip(("one", "two"), processes, strict=True)}
        assert [process.returncode for process in processes] == [0, 0]
        numbers = logged(store)
        assert len(numbers) == 120
        for name, lines in said.items():
            assert {f"{name}-{number}": at for number, at in acknowledged(lines)}.items() <= numbers.items()
            assert len(acknowledged(lines)) == 40


@pytest.mark.parametrize("same", [True, False], ids=["the same judgment", "different ones"])
def test_threads_on_one_task(place: str, same: bool) -> None:
    """Each round, all of them answer the same question; one is first, and the others learn that."""
    store, _, task = filled(place)

    def send(thread: int, after: int) -> str:
        try:
            saved = store.append(task.key, f"{0 if same else thread}-{after}", LEFT, after=after)
        except Moved as moved:
            return f"moved to {moved.judgments}"
        assert saved.number == after + 1
        return "repeated" if saved.repeated else "saved"

    with store, ThreadPoolExecutor(12) as pool:
        for after in range(8):
            found = sorted(pool.map(send, range(12), [after] * 12))
            assert found == sorted(["saved"] + ["repeated" if same else f"moved to {after + 1}"] * 11)
        assert len(logged(store)) == 8


def test_many_threads_on_many_tasks(place: str) -> None:
    """More threads than there are connections."""
    with Store.create(place, PROJECT) as store, ThreadPoolExecutor(60) as pool:
        store.add([query()])
        people = list(pool.map(lambda number: store.add_person(f"p{number}", "assessor")[0], range(60)))
        assert sorted(person.id for person in people) == [*range(1, 61)]
        tasks = store.assign([NewTask("q1", person.id, "pairs") for person in people])

        def work(key: str) -> None:
            for after in range(5):
                store.append(key, f"c{after}", LEFT, after=after)
                assert len(store.log(key)) == after + 1

        list(pool.map(work, [task.key for task in tasks]))
        assert [task.judgments for task in store.tasks()] == [5] * 60
        assert len(list(store.entries())) == 300


def test_two_leads_at_once(place: str) -> None:
    """Two stores on one place assign, import, retire and change the same; one of them is refused."""
    first = Store.create(place, PROJECT)
    first.add([query(f"q{number}") for number in range(20)])
    leads = [first.add_person(name, "lead")[0].id for name in ("Lea", "Max")]
    people = [first.add_person(f"p{number}", "assessor")[0].id for number in range(10)]
    second = Store.open(place)
    everything = [NewTask(f"q{q}", person, "pairs") for q in range(20) for person in people]

    def outcome(act: object, *values: object) -> str:
        try:
            act(*values)  # type: ignore[operator]
        except InputError:
            return "refused"
        return "done"

    with first, second, ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda store: outcome(store.assign, everything), (first, second)))
        assert sorted(both) == ["done", "refused"]
        assert len(first.tasks()) == 200
        added = [query(f"new {number}") for number in range(20)]
        both = list(pool.map(lambda store: outcome(store.add, added), (first, second)))
        assert sorted(both) == ["done", "refused"]
        assert len(first.queries()) == 40
        both = list(pool.map(lambda store: outcome(store.add_person, "Zoë", "assessor"), (first, second)))
        assert sorted(both) == ["done", "refused"]
        for number in range(10):  # each retires the other; somebody has to stay
            both = list(pool.map(lambda store, who: outcome(store.retire, who), (first, second), leads))
            assert sorted(both) == ["done", "refused"]
            leads[both.index("done")] = first.add_person(f"lead {number}", "lead")[0].id
        for k in range(2, 12):  # each changes something else, and both stand
            list(pool.map(lambda store, what: store.change(**what), (first, second), ({"k": k}, {"title": f"T{k}"})))
            assert (first.project.k, second.project.title) == (k, f"T{k}")


def test_many_create_one_project(place: str) -> None:
    def create(number: int) -> str:
        try:
            Store.create(place, Project(f"number {number}")).close()
        except InputError as error:
            return str(error).removeprefix(f"{place}: ")
        return "created"

    with ThreadPoolExecutor(4) as pool:
        found = sorted(pool.map(create, range(4)))
    assert found[0] == "created"
    assert all("there is already a labelling project" in one for one in found[1:])
    with Store.open(place) as store:
        assert store.project.title.startswith("number ")
