"""A SQLite file or a PostgreSQL database: transactions that last, and errors in one line without any password."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa  # noqa: TID253 - nobody imports this package who does not need it
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.engine import URL  # noqa: TID253

from ranksift.errors import InputError, on_one_line
from ranksift.files import PATH, display_name, flush_to_disk, unfinished_name
from ranksift.labelling.store.outcome import Unavailable

#: The file of a project in its folder.
FILE = "labels.db"

_MIGRATIONS = Path(__file__).parent / "migrations"
_VERSIONS = {"version_table": "labelling_version"}
_CREATE = "create a project there with: ranksift label new"
# For how long a process waits until another one has written. The longest thing that is written is an import.
_PATIENCE = 30
# Whoever creates or migrates holds this lock; the number is ours, and says nothing.
_ADVISORY = 7_242_617
_PRAGMAS = (
    f"busy_timeout = {1000 * _PATIENCE}",  # first: the next one may have to wait
    "journal_mode = WAL",
    "synchronous = FULL",  # what is acknowledged is on the disk
    "fullfsync = ON",  # also where the system is Apple's
    "checkpoint_fullfsync = ON",
    "foreign_keys = ON",
)


class Database:
    """A place with tables, or where tables can be created.

    Attributes
    ----------
    place
        What to call it in messages: the folder, or the URL without its password.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        PATH.check("place", place)
        text = os.fspath(place)
        self.file: Path | None = None
        self._secrets: list[str] = []
        if "://" in text:
            url = self._postgresql(text)
            self.place = shown(url)
        else:
            self.place = display_name(text)
            if "\0" in text or not text:
                raise InputError("this is not a usable path", source=repr(text), remedy="name a folder")
            self.file = Path(text).absolute() / FILE
            url = URL.create("sqlite", database=str(self.file))
        # One thread writes at a time: SQLite lets others wait too, but wakes them late and in no order.
        self._turn: AbstractContextManager[Any] = threading.Lock() if self.file else nullcontext()
        options = {} if self.file or "connect_timeout" in url.query else {"connect_timeout": 10}
        self.engine = sa.create_engine(
            url,
            connect_args=options,
            pool_size=16,
            max_overflow=32 if self.file else 8,
            pool_pre_ping=not self.file,  # the server may have been started again
            hide_parameters=True,  # documents and notes do not belong into a log of errors
        )
        if self.file:
            sa.event.listen(self.engine, "connect", _prepare_sqlite)
            sa.event.listen(self.engine, "begin", _begin_sqlite)
        else:
            sa.event.listen(self.engine, "connect", _prepare_postgresql)

    def _postgresql(self, text: str) -> URL:
        """What to connect to; the message of an error quotes nothing in which a password may be."""
        scheme, _, rest = text.partition("://")
        kind = on_one_line(scheme[:40]) + "://…"
        if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
            raise InputError("this kind of database is not known", source=kind, remedy="use a folder or postgresql://")
        if rest.partition("?")[0].count("@") > 1:
            raise InputError("the URL has more than one @", source=kind, remedy="write @ as %40 within a password")
        try:
            url = sa.make_url(f"postgresql+psycopg://{rest}")
        except (sa.exc.ArgumentError, ValueError):
            remedy = "write postgresql://user@host:port/database"
            raise InputError("this is not a usable URL", source=kind, remedy=remedy) from None
        secrets = [str(url.password or "")] + [str(url.query.get(name, "")) for name in ("password", "sslpassword")]
        self._secrets = [secret for secret in secrets if secret]
        return url

    # -- transactions --------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only reads."""
        with self._in_one_line(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """A transaction in which everything is read as it was at one moment."""
        options = {} if self.file else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._in_one_line(), self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes; when it is left, what it wrote is on the disk, or nothing of it."""
        with (
            self._in_one_line(),
            self._turn,
            self.engine.connect().execution_options(begin="BEGIN IMMEDIATE") as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _in_one_line(self) -> Iterator[None]:
        """Errors of the database as people can read them; what breaks a rule of the tables is left to the caller."""
        try:
            yield
        except sa.exc.IntegrityError:
            raise
        except sa.exc.TimeoutError:
            raise Unavailable("too many wait for the database", source=self.place, remedy="try again") from None
        except (sa.exc.OperationalError, sa.exc.InterfaceError) as error:
            remedy = "check the place, or try again"
            raise Unavailable(self._reason(error), source=self.place, remedy=remedy) from None
        except sa.exc.DBAPIError as error:
            raise InputError(self._reason(error), source=self.place, remedy="check the database") from None

    def _reason(self, error: sa.exc.DBAPIError) -> str:
        lines = [line.strip() for line in str(error.orig).splitlines() if line.strip()]
        reason = "; ".join(lines[:2]) or type(error.orig).__name__
        for secret in self._secrets:
            reason = reason.replace(secret, "***")
        return f"the database says: {reason}"

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    # -- versions ------------------------------------------------------------------------------------------------------

    def exists(self) -> bool:
        """Whether there is something to connect to; a SQLite file would be made otherwise."""
        return self.file is None or self.file.is_file()

    @contextmanager
    def creating(self, version: str = "head") -> Iterator[sa.Connection]:
        """A transaction that begins with empty tables of a version; what was made is removed where it fails."""
        made = self._make_folder()
        new = not self.exists()
        try:
            with self.writing() as connection:
                if self._encoding(connection) != "UTF8":
                    remedy = "create the database with ENCODING 'UTF8'"
                    raise InputError("the database does not hold UTF-8", source=self.place, remedy=remedy)
                self._lock_versions(connection)
                if _version(connection) is not None:
                    remedy = "open it, or choose another place"
                    raise InputError("there is a labelling project already", source=self.place, remedy=remedy)
                if taken := sorted(set(sa.inspect(connection).get_table_names())):
                    remedy = "give the project a place of its own"
                    raise InputError(
                        f"there are other tables ({', '.join(taken[:3])})", source=self.place, remedy=remedy
                    )
                self._migrate(connection, version)
                yield connection
        except BaseException:
            self.close()
            if self.file and new:
                for path in (self.file, *(Path(f"{self.file}{end}") for end in ("-wal", "-shm"))):
                    path.unlink(missing_ok=True)
                if made:
                    self.file.parent.rmdir()
            raise

    def _make_folder(self) -> bool:
        """Make the folder of the file, where it has one: whether it is new."""
        if self.file is None or self.file.parent.is_dir():
            return False
        try:
            self.file.parent.mkdir(parents=True)
        except OSError as error:
            reason = error.strerror or str(error)
            remedy = "name a folder that can be made"
            raise InputError(f"cannot be made ({reason})", source=self.place, remedy=remedy) from None
        return True

    def bring_forward(self) -> None:
        """Check that a project is here, and migrate an older one; what is newer than this program is refused."""
        if self.file and self.file.parent.is_file():
            raise InputError("this is a file", source=self.place, remedy="name the folder of the project")
        if not self.exists():
            raise InputError("there is no labelling project", source=self.place, remedy=_CREATE)
        with self.reading() as connection:
            if self._is_current(connection):
                return
        with self.writing() as connection:
            self._lock_versions(connection)
            if not self._is_current(connection):  # another process was quicker
                self._copy_aside()
                self._migrate(connection, "head")

    def _is_current(self, connection: sa.Connection) -> bool:
        version = _version(connection)
        script = _script()
        if version is None:
            raise InputError("there is no labelling project", source=self.place, remedy=_CREATE)
        try:
            script.get_revision(version)
        except CommandError:
            remedy = "update RankSift"
            raise InputError(
                f"the project was written by a newer RankSift (tables {version})", source=self.place, remedy=remedy
            ) from None
        return version == script.get_current_head()

    def _migrate(self, connection: sa.Connection, version: str) -> None:
        script = _script()
        steps = {"fn": lambda now, _: script._upgrade_revs(version, now)}  # as Alembic's own command does
        context = MigrationContext.configure(connection, opts=_VERSIONS | steps)
        with Operations.context(context):
            context.run_migrations()

    def _lock_versions(self, connection: sa.Connection) -> None:
        if not self.file:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY)))

    def _encoding(self, connection: sa.Connection) -> str:
        return "UTF8" if self.file else str(connection.scalar(sa.text("SHOW server_encoding")))

    def _copy_aside(self) -> None:
        """Copy the SQLite file as it is before a migration; of PostgreSQL, whoever runs the server has copies."""
        if not self.file:
            return
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        copy = self.file.with_name(f"labels-before-migration-{now}.db")
        part = copy.with_name(unfinished_name(copy.name))
        try:
            with closing(sqlite3.connect(self.file)) as source, closing(sqlite3.connect(part)) as target:
                source.backup(target)
            with part.open("rb+") as file:
                flush_to_disk(file)
            os.replace(part, copy)
        except (OSError, sqlite3.Error) as error:
            part.unlink(missing_ok=True)
            remedy = "make room, and open the project again"
            raise InputError(
                f"no copy can be made before the migration ({error})", source=self.place, remedy=remedy
            ) from None


def shown(url: URL) -> str:
    """A URL without what is secret.

    >>> shown(sa.make_url("postgresql+psycopg://ann:secret@db/labels?sslpassword=secret"))
    'postgresql://ann:***@db/labels?sslpassword=***'
    """
    query = {name: "***" if "password" in name else value for name, value in url.query.items()}
    text = url.set(drivername="postgresql", query=query).render_as_string(hide_password=True)
    return re.sub(r"%2A", "*", text)


def current_version() -> str:
    """The version of the tables that this program writes."""
    return str(_script().get_current_head())


def is_known(version: str) -> bool:
    """Whether this program can make tables of a version."""
    return any(step.revision == version for step in _script().walk_revisions())


def _script() -> ScriptDirectory:
    return ScriptDirectory(str(_MIGRATIONS))


def _version(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection, opts=_VERSIONS).get_current_revision()


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the module begins nothing by itself
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _prepare_postgresql(connection: Any, _: object) -> None:
    """What is acknowledged must be on the disk, also where the server is set to be quicker than that."""
    connection.autocommit = True
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.autocommit = False
