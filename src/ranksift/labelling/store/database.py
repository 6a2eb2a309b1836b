"""A SQLite file or a PostgreSQL database: transactions that last, and errors in one line without any password."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa  # noqa: TID253 - only code that needs it imports this package
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.engine import URL  # noqa: TID253

from ranksift.errors import InputError, missing_library, on_one_line
from ranksift.files import PATH, display_name, flush_to_disk, unfinished_name
from ranksift.labelling.store.outcome import Unavailable

#: The file of a project in its folder.
FILE = "labels.db"

_MIGRATIONS = Path(__file__).parent / "migrations"
_VERSIONS = {"version_table": "labelling_version"}
_CREATE = "create a project there with: ranksift label new"
# For how long a process waits until another one has written. The longest thing that is written is an import.
_PATIENCE = 30
# Creating and migrating processes hold this lock; the number is arbitrary.
_ADVISORY = 7_242_617
_MIGRATING = threading.Lock()  # Alembic's steps write to the connection of the last caller
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
        self.engine = _engine(url)
        self._opened: tuple[int, int] | None = None  # which file it was when the first connection was made
        if self.file:
            sa.event.listen(self.engine, "connect", self._remember)

    def _postgresql(self, text: str) -> URL:
        """What to connect to; the message of an error quotes nothing in which a password may be."""
        scheme, _, rest = text.partition("://")
        kind = on_one_line(scheme[:40]) + "://…"
        if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
            raise InputError(
                "this kind of database is not supported", source=kind, remedy="use a folder or postgresql://"
            )
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
        """Where one thing is read. PostgreSQL needs no transaction for that: two messages less."""
        options = {} if self.file else {"isolation_level": "AUTOCOMMIT"}
        with self._in_one_line(), self.engine.connect().execution_options(**options) as connection, connection.begin():
            self._check_same_file()
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """A transaction in which everything is read as it was at one moment."""
        options = {} if self.file else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._in_one_line(), self.engine.connect().execution_options(**options) as connection, connection.begin():
            self._check_same_file()
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes; when it ends, either all that it wrote is on disk, or nothing."""
        with self._in_one_line(), self._turn, _written(self.engine) as connection:
            yield connection
            self._check_same_file()

    def _remember(self, *_: object) -> None:
        if self._opened is None and self.file:
            self._opened = _identity(self.file)

    def _check_same_file(self) -> None:
        """Refuse a file that was moved, removed or replaced since it was opened: writes would be lost."""
        if self.file and self._opened != _identity(self.file):
            remedy = "put it back, or start the server again"
            raise Unavailable(f"{FILE} was moved, removed or replaced", source=self.place, remedy=remedy)

    @contextmanager
    def _in_one_line(self) -> Iterator[None]:
        """Errors of the database as people can read them; what breaks a rule of the tables is left to the caller."""
        try:
            yield
        except sa.exc.IntegrityError:
            raise
        except sa.exc.TimeoutError:
            raise Unavailable(
                "too many requests wait for the database", source=self.place, remedy="try again"
            ) from None
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
    def creating(self, version: str) -> Iterator[sa.Connection]:
        """A transaction that begins with empty tables of a version; nothing is left of one that fails."""
        if self.file:
            with self._new_file(self.file) as engine, self._in_one_line(), _written(engine) as connection:
                yield from self._filled(connection, version)
            return
        with self.writing() as connection:
            if connection.scalar(sa.text("SHOW server_encoding")) != "UTF8":
                remedy = "create the database with ENCODING 'UTF8'"
                raise InputError("the database does not hold UTF-8", source=self.place, remedy=remedy)
            self._lock_versions(connection)
            self._check_nothing_is_there(connection)
            yield from self._filled(connection, version)

    def _filled(self, connection: sa.Connection, version: str) -> Iterator[sa.Connection]:
        """Tables of a version; what is in them by the end of the transaction is migrated to the newest."""
        self._migrate(connection, version)
        yield connection
        if version != current_version():
            self._migrate(connection, "head")

    @contextmanager
    def _new_file(self, file: Path) -> Iterator[sa.Engine]:
        """A file under a hidden name, which gets its own once all is well, unless another one has it by then."""
        made = self._make_folder(file.parent)
        part = file.with_name(unfinished_name(file.name))
        engine = _engine(URL.create("sqlite", database=str(part)))
        try:
            if not file.exists():
                yield engine
                engine.dispose()
                try:
                    os.link(part, file)
                    return
                except FileExistsError:
                    pass
                except OSError:  # there are disks without links
                    if not file.exists():
                        os.rename(part, file)
                        return
            with self.reading() as connection:
                self._check_nothing_is_there(connection)
            remedy = "remove it, or choose another place"
            raise InputError(f"there is a file {file.name} with nothing in it", source=self.place, remedy=remedy)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"cannot be made ({reason})", source=self.place, remedy="check the folder") from None
        finally:
            engine.dispose()
            for end in ("", "-wal", "-shm"):
                Path(f"{part}{end}").unlink(missing_ok=True)
            if made and not file.exists():
                with suppress(OSError):  # someone else put something there
                    file.parent.rmdir()

    def _make_folder(self, folder: Path) -> bool:
        """Make the folder if there is none: whether it is new."""
        if folder.is_dir():
            return False
        try:
            folder.mkdir(mode=0o700, parents=True)  # who else is on the machine need not read it
        except FileExistsError:
            if folder.is_dir():  # someone else was quicker
                return False
            raise InputError("this is a file", source=self.place, remedy="name a folder") from None
        except OSError as error:
            reason = error.strerror or str(error)
            remedy = "name a folder that can be made"
            raise InputError(f"cannot be made ({reason})", source=self.place, remedy=remedy) from None
        return True

    def _check_nothing_is_there(self, connection: sa.Connection) -> None:
        if _version(connection) is not None:
            remedy = "open it, or choose another place"
            raise InputError("there is already a labelling project", source=self.place, remedy=remedy)
        if taken := sorted(sa.inspect(connection).get_table_names()):
            remedy = "give the project a separate place"
            raise InputError(f"there are other tables ({', '.join(taken[:3])})", source=self.place, remedy=remedy)

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
        with _MIGRATING, Operations.context(context):
            context.run_migrations()

    def _lock_versions(self, connection: sa.Connection) -> None:
        if not self.file:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY)))

    def _copy_aside(self) -> None:
        """Copy the SQLite file before a migration; with PostgreSQL, copies are up to the server's administrator."""
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
                f"no copy could be made before the migration ({error})", source=self.place, remedy=remedy
            ) from None


def shown(url: URL) -> str:
    """A URL without its secrets.

    >>> shown(sa.make_url("postgresql+psycopg://ann:secret@db/labels?sslpassword=secret"))
    'postgresql://ann:***@db/labels?sslpassword=***'
    """
    query = {name: "***" if "password" in name else value for name, value in url.query.items()}
    return url.set(drivername="postgresql", query=query).render_as_string(hide_password=True).replace("%2A", "*")


def current_version() -> str:
    """The version of the tables that this program writes."""
    return str(_script().get_current_head())


def is_known(version: str) -> bool:
    """Whether this program can make tables of a version."""
    return any(step.revision == version for step in _script().walk_revisions())


def _engine(url: URL) -> sa.Engine:
    """The pool of connections."""
    sqlite = url.drivername == "sqlite"
    options = {} if sqlite or "connect_timeout" in url.query else {"connect_timeout": 10}
    try:
        engine = sa.create_engine(
            url,
            connect_args=options,
            pool_size=16,
            max_overflow=32 if sqlite else 8,
            pool_pre_ping=not sqlite,  # the server may have been started again
            hide_parameters=True,  # documents and notes do not belong into a log of errors
        )
    except ImportError:
        raise missing_library("a PostgreSQL database needs", "psycopg", "label") from None
    sa.event.listen(engine, "connect", _prepare_sqlite if sqlite else _prepare_postgresql)
    if sqlite:
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _identity(file: Path) -> tuple[int, int] | None:
    """Which file lies under a name; None if there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _written(engine: sa.Engine) -> Iterator[sa.Connection]:
    with engine.connect().execution_options(begin="BEGIN IMMEDIATE") as connection, connection.begin():
        yield connection


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
    """What is acknowledged must be on disk, even if the server is set to be faster than that."""
    connection.autocommit = True
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.autocommit = False
