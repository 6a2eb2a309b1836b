"""A PostgreSQL server of one's own, for tests and benchmarks: in a temporary folder, reached from this machine only."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

ADMINISTRATOR = "labeller"
_SAFE = ("fsync", "on", "full_page_writes", "on", "synchronous_commit", "on")
_QUICK = ("fsync", "off", "full_page_writes", "off", "synchronous_commit", "off")


def programs() -> Path | None:
    """The folder with initdb and pg_ctl, or None where PostgreSQL is not installed."""
    if found := shutil.which("pg_ctl"):
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")
    return max((path.parent for path in versions), key=lambda path: int(path.parent.name), default=None)


class Server:
    """A running server; on the socket everybody may come in, on the port only with a password."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port

    @classmethod
    def start(cls, *, safe: bool = False) -> Server:
        """Start one; ``safe`` is slow and survives a power cut."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        folder = Path(tempfile.mkdtemp(prefix="labelling-pg-"))  # a short path: sockets have names of 107 bytes
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        server = cls(folder, port)
        try:
            initdb = ["--username", ADMINISTRATOR, "--auth-local=trust", "--auth-host=scram-sha-256"]
            server._run("initdb", *initdb, "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata", f"{folder}/data")
            server._set("port", str(port), "unix_socket_directories", str(folder), "timezone", "Asia/Tehran")
            server._set("listen_addresses", "127.0.0.1", "shared_buffers", "64MB", *(_SAFE if safe else _QUICK))
            server._run("pg_ctl", "start", "-w", "-D", f"{folder}/data", "-l", f"{folder}/log")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return server

    def stop(self) -> None:
        """Stop it and remove everything."""
        self._run("pg_ctl", "stop", "-m", "immediate", "-D", f"{self.folder}/data")
        shutil.rmtree(self.folder, ignore_errors=True)

    def crash(self) -> None:
        """End all of its processes at once, as an accident does, and start it again."""
        self._run("pg_ctl", "stop", "-m", "immediate", "-D", f"{self.folder}/data")
        self._run("pg_ctl", "start", "-w", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log")

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run a statement as the administrator."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[call-overload]

    def url(self, database: str = "postgres", schema: str = "") -> str:
        """How to reach a database, with its tables in a schema of their own where one is named."""
        options = f"&options={quote(f'-csearch_path={schema}', safe='')}" if schema else ""
        return f"postgresql://{ADMINISTRATOR}@/{database}?host={self.folder}&port={self.port}{options}"

    def _set(self, *settings: str) -> None:
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in zip(settings[::2], settings[1::2], strict=True))

    def _run(self, program: str, *arguments: str) -> None:
        folder = programs()
        assert folder is not None, "PostgreSQL is not installed"
        command = [*_as_somebody(), str(folder / program), *arguments]
        # Not through pipes: the server would inherit them, and whoever reads would wait for its end.
        with tempfile.TemporaryFile() as said:
            if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd="/").returncode:
                said.seek(0)
                raise RuntimeError(f"{program} failed: {said.read().decode()}")


def _as_somebody() -> Sequence[str]:
    """The server does not run as root."""
    if os.geteuid() != 0:
        return []
    person = pwd.getpwnam("postgres")
    return ["setpriv", f"--reuid={person.pw_uid}", f"--regid={person.pw_gid}", "--clear-groups"]
