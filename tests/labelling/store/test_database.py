"""Places, what is wrong with them, what the databases refuse by themselves, and older and newer versions."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from ranksift.errors import InputError
from ranksift.labelling.records import Item, NewTask, Project, Query
from ranksift.labelling.store import Store, Unavailable, database, schema
from ranksift.labelling.store.database import Database
from tests.labelling.postgresql import Server
from tests.labelling.store.filled import LEFT, PROJECT, filled, query

# -- judgments are only ever added -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE judgments SET note = 'changed'",
        "UPDATE judgments SET number = 7 WHERE number = 1",
        "DELETE FROM judgments",
        "DELETE FROM judgments WHERE number = 2",
        "DELETE FROM tasks",
    ],
)
def test_judgments_stay_whatever_is_tried(place: str, statement: str) -> None:
    store, _, task = filled(place)
    with store:
        for number in range(2):
            store.append(task.key, f"c{number}", LEFT, after=number)
        before = list(store.entries())
        with pytest.raises(sa.exc.DBAPIError), store._database.engine.begin() as connection:
            connection.exec_driver_sql(statement)
        assert list(store.entries()) == before
        assert store.append(task.key, "c2", LEFT, after=2).number == 3


@pytest.mark.parametrize("over", ["number", "client_id"])
def test_sqlite_does_not_replace_either(tmp_path: Path, over: str) -> None:
    store, _, task = filled(str(tmp_path))
    store.append(task.key, "c", LEFT, after=0)
    store.close()
    number, client = (1, "new") if over == "number" else (2, "c")
    with closing(sqlite3.connect(tmp_path / "labels.db")) as connection:
        others = 'kind, "left", "right", answer, grade, forbidden, proposed, active_seconds, note, created'
        with pytest.raises(sqlite3.IntegrityError, match="judgments are only ever added"):
            connection.execute(
                f"INSERT OR REPLACE INTO judgments (task, number, client_id, {others})"
                f" SELECT task, {number}, '{client}', {others} FROM judgments"
            )


def test_postgresql_does_not_truncate_either(new_place: Callable[[str], str]) -> None:
    store, _, task = filled(new_place("postgresql"))
    with store:
        store.append(task.key, "c", LEFT, after=0)
        with pytest.raises(sa.exc.DBAPIError, match="only ever added"), store._database.engine.begin() as connection:
            connection.exec_driver_sql("TRUNCATE judgments")
        assert len(store.log(task.key)) == 1


# -- what is acknowledged is on the disk -------------------------------------------------------------------------------


def test_sqlite_writes_through(tmp_path: Path) -> None:
    with Store.create(tmp_path, PROJECT) as store, store._database.reading() as connection:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        assert [connection.exec_driver_sql(f"PRAGMA {one}").scalar() for one in pragmas] == ["wal", 2, 1, 30_000]


def test_postgresql_writes_through(new_place: Callable[[str], str], postgresql: Server) -> None:
    with Store.create(new_place("postgresql"), PROJECT) as store:
        with store._database.reading() as connection:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        # The server of the tests is set to be quick, so it is the store that asked for this.
        assert "off" in str(_shown(postgresql, "synchronous_commit"))


def _shown(server: Server, setting: str) -> object:
    engine = sa.create_engine(server.url().replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        return connection.exec_driver_sql(f"SHOW {setting}").scalar()


# -- places that are none ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", [Store.open, lambda place: Store.create(place, PROJECT)], ids=["open", "create"])
@pytest.mark.parametrize(
    ("place", "match"),
    [
        ("", "not a usable path"),
        ("a\0b", "not a usable path"),
        ("mysql://ann:hunter2@db/labels", "mysql://…: this kind of database is not supported"),
        ("sqlite:///hunter2.db", "sqlite://…: this kind"),
        ("postgresql+asyncpg://ann:hunter2@db/labels", "this kind"),
        ("postgresql://ann:hun@ter2@db/labels", "more than one @; write @ as %40"),
        ("postgresql://ann:hunter2@db:port/labels", "not a usable URL"),
        (
            "postgresql://ann:hunter2@127.0.0.1:1/labels",
            r"postgresql://ann:\*\*\*@127.0.0.1:1/labels: the database says",
        ),
        ("postgresql://ann@127.0.0.1:1/labels?password=hunter2", r"password=\*\*\*: the database says"),
        ("postgresql://hunter2:hunter2@127.0.0.1:1/labels?sslmode=hunter2", "database says"),
    ],
)
def test_places_that_are_none(act: Callable[[str], Store], place: str, match: str) -> None:
    with pytest.raises(InputError, match=match) as raised:
        act(place)
    if "hunter2:" not in place:
        assert "hunter2" not in repr(raised.value)
        assert "ter2" not in repr(raised.value)
    assert "\n" not in str(raised.value)


def test_no_password_is_shown(postgresql: Server, postgresql_database: str) -> None:
    postgresql.execute("CREATE ROLE ann LOGIN PASSWORD 'correct horse'")
    postgresql.execute("GRANT ALL ON SCHEMA public TO ann", postgresql_database)
    url = f"127.0.0.1:{postgresql.port}/{postgresql_database}"
    with pytest.raises(Unavailable, match="password authentication failed") as raised:
        Store.create(f"postgresql://ann:battery%20staple@{url}", PROJECT)
    assert "staple" not in repr(raised.value)
    assert raised.value.__suppress_context__
    with Store.create(f"postgresql://ann:correct%20horse@{url}", PROJECT) as store:
        assert store.place == f"postgresql://ann:***@{url}"
        assert "horse" not in repr(store) + repr(vars(store)) + repr(store._database.engine)
        store.add([query()])


def test_databases_that_cannot_be_used(postgresql: Server) -> None:
    postgresql.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(InputError, match="does not hold UTF-8; create the database with ENCODING 'UTF8'"):
        Store.create(postgresql.url("latin"), PROJECT)
    postgresql.execute("CREATE ROLE guest LOGIN")
    guest = postgresql.url().replace("//labeller@", "//guest@")
    with pytest.raises(InputError, match="the database says: permission denied for schema public") as raised:
        Store.create(guest, PROJECT)
    assert "\n" not in str(raised.value)


def test_disks_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    filled(str(tmp_path / "new"))[0].close()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["labels.db"]
    with Store.open(tmp_path / "new") as store:
        assert len(store.tasks()) == 1


@pytest.mark.parametrize(("library", "place"), [("sqlalchemy", "folder"), ("psycopg", "postgresql://127.0.0.1/labels")])
def test_libraries_that_are_missing(library: str, place: str, tmp_path: Path) -> None:
    program = f"""
import sys
sys.modules[{library!r}] = None
from ranksift.errors import InputError
try:
    from ranksift.labelling.store import Store
    Store.open({place!r})
except InputError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout.count("\n") == 1
    assert "pip install 'ranksift[label]'" in said.stdout


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match=r"this is a file; name a folder|cannot be made \(Not a directory\)"):
            Store.create(place, PROJECT)
        with pytest.raises(InputError, match=r"this is a file|there is no labelling project"):
            Store.open(place)
    with pytest.raises(
        InputError, match="there is no labelling project; create a project there with: ranksift label new"
    ):
        Store.open(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "labels.db").write_bytes(b"this is text, and plenty of it. " * 100)
    for act in (Store.open, lambda place: Store.create(place, PROJECT)):
        with pytest.raises(InputError, match="file is not a database") as raised:
            act(tmp_path / "other")
        assert "\n" not in str(raised.value)
    assert (tmp_path / "other" / "labels.db").read_bytes().startswith(b"this is text")
    (tmp_path / "other" / "labels.db").write_bytes(b"")
    with pytest.raises(InputError, match=r"there is a file labels.db with nothing in it; remove it"):
        Store.create(tmp_path / "other", PROJECT)


def test_another_database_is_left_alone(new_place: Callable[[], str], kind: str) -> None:
    place = new_place()
    base = Database(place)
    if base.file:
        base.file.parent.mkdir()
    with base.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE people (age integer)")
    base.close()
    with pytest.raises(InputError, match="there is no labelling project"):
        Store.open(place)
    with pytest.raises(InputError, match=r"there are other tables \(people\)"):
        Store.create(place, PROJECT)
    with base.reading() as connection:
        assert sa.inspect(connection).get_table_names() == ["people"]
    base.close()


def test_a_failed_creation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "there").mkdir()
    monkeypatch.setattr(Database, "_migrate", fails)
    for name in ("there", "new"):
        with pytest.raises(KeyboardInterrupt):
            Store.create(tmp_path / name, PROJECT)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
    monkeypatch.undo()
    Store.create(tmp_path / "there", PROJECT).close()


def test_a_database_that_is_busy_or_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _, task = filled(str(tmp_path))
    with store:
        with store._database.writing() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout = 1")  # of this connection, which the pool gives again
        with closing(sqlite3.connect(tmp_path / "labels.db")) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Unavailable, match="database is locked; check the place, or try again"):
                store.append(task.key, "c", LEFT, after=0)
            assert store.log(task.key) == []  # who reads does not wait
        assert store.append(task.key, "c", LEFT, after=0).number == 1
        with store._database.writing() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(Unavailable, match="database or disk is full"):
            store.add([query("q2", text="x" * 1_000_000)])
        assert len(store.queries()) == 1


@pytest.mark.parametrize("other", ["nothing", "a restored project", "the same again"])
def test_nothing_is_acknowledged_that_nobody_would_find(tmp_path: Path, other: str) -> None:
    """A project that was moved away while it is served: SQLite would go on writing to the file that nobody opens."""
    place = tmp_path / "project"
    store, _, task = filled(str(place))
    with store:
        store.backup(tmp_path / "backup.jsonl")
        place.rename(tmp_path / "elsewhere")
        if other == "a restored project":
            Store.restore(tmp_path / "backup.jsonl", place).close()
        elif other == "the same again":
            (tmp_path / "elsewhere").rename(place)
            assert store.append(task.key, "c", LEFT, after=0).number == 1
            return
        for act in (lambda: store.append(task.key, "c", LEFT, after=0), store.queries, store.people):
            with pytest.raises(Unavailable, match=r"labels\.db was moved, removed or replaced; put it back, or start"):
                act()
    with Store.open(tmp_path / "elsewhere") as left:
        assert left.log(task.key) == []


# -- versions ----------------------------------------------------------------------------------------------------------

LATER = """
import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("project", sa.Column("colour", sa.Text, server_default="blue"))
    {more}
"""


@pytest.fixture
def migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that makes this program a later one, which knows one more step."""

    def later(more: str = "") -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(database._MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "versions" / "third.py").write_text(LATER.format(more=more))
        monkeypatch.setattr(database, "_MIGRATIONS", folder)

    return later


def test_tables_are_what_the_program_takes_them_for(place: str) -> None:
    with Store.create(place, PROJECT) as store, store._database.reading() as connection:
        options = {"compare_type": True, "include_name": lambda name, kind, _: name != "labelling_version"}
        found = compare_metadata(MigrationContext.configure(connection, opts=options), schema.metadata)
    assert found == []


def test_an_older_project_is_migrated(place: str, kind: str, migrations: Callable[[], None]) -> None:
    store, _, task = filled(place)
    store.append(task.key, "c", LEFT, after=0)
    before = list(store.entries())
    store.close()
    migrations()
    for _ in range(2):  # the second time, there is nothing to do
        with Store.open(place) as migrated:
            assert list(migrated.entries()) == before
            with migrated._database.reading() as connection:
                assert connection.exec_driver_sql("SELECT colour FROM project").scalar() == "blue"
    if kind == "sqlite":
        assert sorted(path.suffix for path in Path(place).iterdir()) == [".db", ".db"]
        [copy] = Path(place).glob("labels-before-migration-*.db")
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("SELECT version_num FROM labelling_version").fetchall() == [("0002",)]
            assert connection.execute("SELECT count(*) FROM judgments").fetchone() == (1,)


def test_a_migration_that_fails_changes_nothing(place: str, migrations: Callable[[str], None]) -> None:
    store, _, task = filled(place)
    with store:
        migrations("raise RuntimeError('the lights went out')")
        with pytest.raises(RuntimeError, match="lights"):
            Store.open(place)
        with store._database.reading() as connection:
            columns = [column["name"] for column in sa.inspect(connection).get_columns("project")]
            assert connection.exec_driver_sql("SELECT version_num FROM labelling_version").scalar() == "0002"
        assert "colour" not in columns
        assert store.append(task.key, "c", LEFT, after=0).number == 1


def test_no_migration_without_a_copy(
    tmp_path: Path, migrations: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    filled(str(tmp_path / "project"))[0].close()
    migrations()
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(InputError, match=r"no copy could be made before the migration .*No space left"):
        Store.open(tmp_path / "project")
    monkeypatch.undo()
    assert sorted(path.name for path in (tmp_path / "project").iterdir()) == ["labels.db"]
    with Store.open(tmp_path / "project") as store:  # this program is an older one again, and so is the project
        assert len(store.tasks()) == 1


def test_a_newer_project_is_refused(
    place: str, migrations: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context():
        migrations()
        with Store.create(place, Project("from the future")) as store:
            store.backup(tmp_path / "backup")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"written by a newer RankSift \(tables 0003\); update RankSift"):
        Store.open(place)
    with pytest.raises(InputError, match="backup was made by a newer RankSift; update RankSift"):
        Store.restore(tmp_path / "backup", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


def test_an_older_backup_is_restored(
    new_place: Callable[[], str], migrations: Callable[[], None], tmp_path: Path
) -> None:
    store, _, task = filled(new_place())
    with store:
        store.append(task.key, "c", LEFT, after=0)
        store.backup(tmp_path / "backup")
        migrations()
        with Store.restore(tmp_path / "backup", new_place()) as restored:
            assert list(restored.entries()) == list(store.entries())
            assert list(tmp_path.rglob("labels-before-migration-*")) == []  # there is nothing to copy aside
            with restored._database.reading() as connection:
                assert connection.exec_driver_sql("SELECT colour FROM project").scalar() == "blue"


def test_projects_of_the_first_version_come_forward(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They get an id, tasks of a single document are done, and single pairs can be settled again."""
    folder = tmp_path / "first"
    shutil.copytree(database._MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__", "second.py"))
    monkeypatch.setattr(database, "_MIGRATIONS", folder)
    now = datetime.now(UTC)
    with Database(place).creating("0001") as connection:
        tables = sa.MetaData()
        tables.reflect(connection)
        rows: dict[str, list[dict[str, object]]] = {
            "project": [{"id": 1, "title": "t", "guidelines": "", "k": 3, "strategy": "heap", "grades": ["a", "b"],
                         "forbidden_label": -1, "created": now}],
            "queries": [{"query_id": f"q{i}", "text": "t", "description": "", "language": "", "active": True,
                         "created": now} for i in (1, 2)],
            "items": [{"query": max(1, i - 1), "doc_id": f"d{i}", "title": "", "media": "text", "content": "",
                       "language": "", "proposed_forbidden": False} for i in (1, 2, 3)],
            "people": [{"name": "Ann", "role": "lead", "active": True, "created": now}],
            "tasks": [{"key": f"k{i}", "query": i, "person": 1, "tool": "pairs", "purpose": purpose,
                       "strategy": "heap", "k": 3, "seed": 0, "with_proposals": False, "pairs": pairs, "active": True,
                       "done": False, "judgments": 0, "created": now}
                      for i, purpose, pairs in ((1, "adjudicate", [["d1", "d2"]]), (2, "label", []))],
        }  # fmt: skip
        for name, own in rows.items():
            connection.execute(sa.insert(tables.tables[name]), own)
    monkeypatch.undo()
    with Store.open(place) as store:
        assert len(store.site) == 16
        assert [task.done for task in store.tasks()] == [False, True]
        store.add([Query("q1", "", items=(Item("d4", ""),))])
        store.assign([NewTask("q1", 1, "pairs", "adjudicate", pairs=(("d1", "d4"),))])
    with Store.open(place) as again:
        assert again.site == store.site


def test_files_are_as_private_as_their_folder(tmp_path: Path) -> None:
    Store.create(tmp_path / "new", PROJECT).close()
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
