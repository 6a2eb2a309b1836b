"""Both kinds of databases for everything that stores: a folder, and a PostgreSQL server that the tests share."""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.labelling.postgresql import Server, programs


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that all processes of this test run share: the first one starts it, and the last one stops it."""
    if programs() is None:
        missing = "PostgreSQL is not installed (Debian: apt install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(f"{missing}, and continuous integration must not go without")
        pytest.skip(missing)
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    note = shared / "postgresql.json"
    with _noted(note) as known:
        if not known.get("users"):
            server = Server.start()
            known |= {"folder": str(server.folder), "port": server.port, "users": 0}
        known["users"] += 1
        server = Server(Path(known["folder"]), known["port"])
    try:
        yield server
    finally:
        with _noted(note) as known:
            known["users"] -= 1
            if not known["users"]:
                server.stop()


@contextmanager
def _noted(path: Path) -> Iterator[dict[str, Any]]:
    """What processes note for one another, one at a time."""
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        known = _read(file)
        yield known
        file.seek(0)
        file.truncate()
        json.dump(known, file)


def _read(file: IO[str]) -> dict[str, Any]:
    file.seek(0)
    known: dict[str, Any] = json.loads(file.read() or "{}")
    return known


@pytest.fixture(scope="module")
def postgresql_database(postgresql: Server) -> str:
    """A database of the module."""
    name = f"module_{uuid.uuid4().hex}"
    postgresql.execute(f"CREATE DATABASE {name}")
    return name


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which kind of database."""
    name: str = request.param
    return name


@pytest.fixture
def new_place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """A function that gives places where nothing is yet, all of one kind."""

    def make(kind: str = kind) -> str:
        name = f"place_{uuid.uuid4().hex}"
        if kind == "sqlite":
            return str(tmp_path / name)
        server: Server = request.getfixturevalue("postgresql")
        database: str = request.getfixturevalue("postgresql_database")
        server.execute(f"CREATE SCHEMA {name}", database)
        return server.url(database, name)

    return make


@pytest.fixture
def place(new_place: Callable[[], str]) -> str:
    """A place where nothing is yet."""
    return new_place()
