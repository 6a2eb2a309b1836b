"""A labelling project in a database: who judges what, and the log of judgments, which only grows."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from ranksift.errors import InputError, missing_library

try:
    import alembic  # noqa: F401
    import sqlalchemy as sa
except ImportError:
    raise missing_library("labelling needs", "SQLAlchemy and Alembic", "label") from None

from ranksift.labelling.judgments import Answer, Judgment, Kind
from ranksift.labelling.records import Entry, Item, NewTask, Person, Project, Purpose, Query, Role, Task, Tool
from ranksift.labelling.store import archive, schema
from ranksift.labelling.store.checks import check_choice, check_id, check_name, check_number, check_real, check_text
from ranksift.labelling.store.database import Database, current_version
from ranksift.labelling.store.outcome import Moved, Saved
from ranksift.labelling.strategies import PAIRWISE
from ranksift.labelling.task_state import task_state

_MEDIA = ("text", "html")
_FEW = 100  # of as many ids each is looked up; of more, all that there are are read
_WHOLE = ("label", "overlap")  # purposes of tasks about all of a query
_LARGEST_SEED = 2**63 - 1
_LONGEST_SESSION = 3650

_PROJECT = [schema.project.c[one.name] for one in fields(Project)]
_QUERY = [schema.queries.c[name] for name in ("query_id", "text", "description", "language", "active")]
_PERSON = [schema.people.c[one.name] for one in fields(Person)]
_SHORT_ITEM = [schema.items.c[name] for name in ("doc_id", "title", "media", "language", "prior", "proposed_forbidden")]
_BEST_FIRST = (schema.items.c.prior.desc().nulls_last(), schema.items.c.id)
_TASK = [schema.queries.c.query_id, *(schema.tasks.c[one.name] for one in fields(Task) if one.name != "query_id")]
_ONCE = [schema.tasks.c[name] for name in ("query", "person", "tool", "purpose")]
_TASKS = schema.tasks.join(schema.queries).join(schema.people)
_JUDGMENT = [schema.judgments.c[one.name] for one in fields(Judgment)]


class Store:
    """A labelling project in a folder (SQLite) or in a PostgreSQL database.

    Every method is one transaction: when it returns, what it wrote is on the disk, and when it raises, nothing is
    written. Threads may share a store; processes and machines may share the place.

    Attributes
    ----------
    place
        The folder, or the URL without its password.

    Examples
    --------
    >>> import tempfile
    >>> from ranksift.labelling.records import Item, NewTask, Project, Query
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = Store.create(folder.name, Project("Restaurants", k=1))
    >>> store.add([Query("q1", "pizza", items=(Item("d1", "Da Enzo"), Item("d2", "Il Forno")))])
    (1, 2)
    >>> ann, token = store.add_person("Ann", "assessor")
    >>> [task] = store.assign([NewTask("q1", ann.id, "pairs")])
    >>> store.append(task.key, "client-1", Judgment("prefer", "d1", "d2", answer="left"), after=0, done=True)
    Saved(number=1, repeated=False)
    >>> store.task(task.key).done, [judgment.answer for judgment in store.log(task.key)]
    (True, ['left'])
    >>> store.close(); folder.cleanup()
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.place = database.place

    @classmethod
    def create(cls, place: str | os.PathLike[str], project: Project) -> Store:
        """Create a project in a folder or in an empty PostgreSQL database (``postgresql://user@host/database``)."""
        _check_project(project)
        database = Database(place)
        with database.creating(current_version()) as connection:
            values = {"id": 1, "created": _now(), "site": secrets.token_hex(8), **_values(project)}
            connection.execute(sa.insert(schema.project).values(values))
        return cls(database)

    @classmethod
    def open(cls, place: str | os.PathLike[str]) -> Store:
        """Open a project; an older one is migrated; a SQLite file is copied first."""
        database = Database(place)
        try:
            database.bring_forward()
        except BaseException:
            database.close()
            raise
        return cls(database)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.place!r})"

    # -- the project ---------------------------------------------------------------------------------------------------

    @property
    def project(self) -> Project:
        """The settings of the whole project."""
        with self._database.reading() as connection:
            return _project(connection.execute(sa.select(*_PROJECT)).one())

    @property
    def site(self) -> str:
        """The project's name in browsers: drawn when it was created, and the same wherever it is restored."""
        with self._database.reading() as connection:
            return str(connection.scalar(sa.select(schema.project.c.site)))

    def change(self, **changes: Any) -> Project:
        """Change some settings of the whole project; settings that others change at the same time are kept.

        Existing tasks keep their strategy and their k. Grades that have been given must stay.

        Parameters
        ----------
        **changes
            Attributes of :class:`~ranksift.labelling.records.Project`.
        """
        with self._database.writing() as connection:
            row = connection.execute(sa.select(*_PROJECT).with_for_update()).one()
            project = replace(_project(row), **changes)
            _check_project(project)
            best = connection.scalar(sa.select(sa.func.max(schema.judgments.c.grade)))
            if best is not None and best >= len(project.grades):
                what = f"{len(project.grades)} grades are too few: some documents already have grade {best}"
                raise InputError(what, remedy=f"keep {best + 1} grades, or make a separate project")
            connection.execute(sa.update(schema.project).values(**_values(project)))
        return project

    # -- queries and their items ---------------------------------------------------------------------------------------

    def add(self, queries: Iterable[Query]) -> tuple[int, int]:
        """Add queries with their items, all or none; an existing query gets further items.

        Tasks of a query that gets further items are no longer done, except those that ask given pairs, and pairs of a
        single document.

        Returns
        -------
        tuple of int
            The numbers of new queries and of new items.
        """
        added = list(queries)  # before the transaction, during which no one else can write
        for query in added:
            _check_query(query)
        try:
            with self._database.writing() as connection:
                known = {row.query_id: row for row in connection.execute(sa.select(schema.queries))}
                before = len(known)
                there = {query.query_id for query in added if query.query_id in known}
                for query in added:
                    row = known.get(query.query_id)
                    if row is None:
                        row = known[query.query_id] = self._new_query(connection, query)
                    else:
                        row = known[query.query_id] = self._complete(connection, query, row)
                    self._add_items(connection, query, row.id, there)
                    there.add(query.query_id)
        except sa.exc.IntegrityError:
            remedy = "import them again"
            raise InputError("someone else is adding the same queries now", source=self.place, remedy=remedy) from None
        return len(known) - before, sum(len(query.items) for query in added)

    def _new_query(self, connection: sa.Connection, query: Query) -> sa.Row[Any]:
        values = {column.name: getattr(query, column.name) for column in _QUERY} | {"active": True, "created": _now()}
        return connection.execute(sa.insert(schema.queries).values(values).returning(schema.queries)).one()

    def _complete(self, connection: sa.Connection, query: Query, there: sa.Row[Any]) -> sa.Row[Any]:
        """Fill in what a query that is there lacks; refuse what differs, as judgments were given on it."""
        if not there.active:
            raise InputError(f"the query {query.query_id!r} was retired", remedy="reinstate it, or use another id")
        given = {name: getattr(query, name) for name in ("text", "description", "language")}
        filled = {name: value for name, value in given.items() if value and value != getattr(there, name)}
        for name in filled:
            if getattr(there, name):
                remedy = "use another id, or leave it unchanged"
                raise InputError(f"the query {query.query_id!r} is already there with another {name}", remedy=remedy)
        if not filled:
            return there
        change = sa.update(schema.queries).where(schema.queries.c.id == there.id).values(filled)
        return connection.execute(change.returning(schema.queries)).one()

    def _add_items(self, connection: sa.Connection, query: Query, number: int, there: Collection[str]) -> None:
        """Add the items of a query; one that is there has some already."""
        if not query.items:
            return
        seen: set[str] = set()
        if query.query_id in there:
            seen.update(connection.scalars(sa.select(schema.items.c.doc_id).where(schema.items.c.query == number)))
        for item in query.items:
            if item.doc_id in seen:
                remedy = "remove it from the import"
                raise InputError(f"the query {query.query_id!r} has the document {item.doc_id!r} twice", remedy=remedy)
            seen.add(item.doc_id)
        connection.execute(sa.insert(schema.items), [{"query": number, **_values(item)} for item in query.items])
        if query.query_id in there:
            opened = [schema.tasks.c.query == number, schema.tasks.c.purpose.in_(_WHOLE)]
            if len(seen) == 1:
                opened.append(schema.tasks.c.tool == "grades")
            connection.execute(sa.update(schema.tasks).where(*opened).values(done=False))
            retired = sa.select(schema.people.c.id).where(~schema.people.c.active)
            _withdraw(connection, *opened, schema.tasks.c.person.in_(retired))  # who would not continue with it

    def queries(self, active_only: bool = True) -> list[Query]:
        """Queries in the order in which they were added, with the items but without their contents."""
        with self._database.snapshot() as connection:
            asked = sa.select(schema.queries.c.id, *_QUERY).order_by(schema.queries.c.id)
            rows = connection.execute(asked.where(schema.queries.c.active) if active_only else asked).all()
            found: dict[int, list[Item]] = {row.id: [] for row in rows}
            for row in connection.execute(sa.select(schema.items.c.query, *_SHORT_ITEM).order_by(*_BEST_FIRST)):
                number, *rest = row
                if number in found:
                    found[number].append(_short_item(rest))
        return [Query(**_without_id(row), items=tuple(found[row.id])) for row in rows]

    def query(self, query_id: str, contents: bool = True) -> Query:
        """A query and its items, with their contents unless these are not needed."""
        with self._database.snapshot() as connection:
            row = self._query_row(connection, query_id)
            content = schema.items.c.content if contents else sa.literal("").label("content")
            asked = sa.select(*_SHORT_ITEM, content).where(schema.items.c.query == row.id)
            found = [Item(**one._mapping) for one in connection.execute(asked.order_by(*_BEST_FIRST))]
        return Query(**_without_id(row), items=tuple(found))

    def items(self, query_id: str) -> tuple[Item, ...]:
        """The items of a query without their contents: by their prior, best first, or in the order of the import."""
        with self._database.reading() as connection:
            joined = schema.items.join(schema.queries)
            asked = sa.select(*_SHORT_ITEM).select_from(joined).where(schema.queries.c.query_id == _searched(query_id))
            found = tuple(_short_item(row) for row in connection.execute(asked.order_by(*_BEST_FIRST)))
            if not found:
                self._query_row(connection, query_id)
        return found

    def item(self, query_id: str, doc_id: str) -> Item:
        """An item with its content."""
        with self._database.reading() as connection:
            joined = schema.items.join(schema.queries)
            asked = sa.select(*_SHORT_ITEM, schema.items.c.content).select_from(joined)
            of_query, of_item = (
                schema.queries.c.query_id == _searched(query_id),
                schema.items.c.doc_id == _searched(doc_id),
            )
            row = connection.execute(asked.where(of_query, of_item)).one_or_none()
        if row is None:
            raise InputError(f"the query {query_id!r} has no document {doc_id!r}", remedy="check the ids")
        return Item(**row._mapping)

    def retire_query(self, query_id: str) -> None:
        """Stop assigning a query; its open tasks are withdrawn, and its judgments stay."""
        with self._database.writing() as connection:
            row = self._query_row(connection, query_id)
            connection.execute(sa.update(schema.queries).where(schema.queries.c.id == row.id).values(active=False))
            _withdraw(connection, schema.tasks.c.query == row.id, ~schema.tasks.c.done)

    def reinstate_query(self, query_id: str) -> None:
        """Reinstate a retired query: it can be assigned again; withdrawn tasks stay withdrawn."""
        with self._database.writing() as connection:
            row = self._query_row(connection, query_id)
            connection.execute(sa.update(schema.queries).where(schema.queries.c.id == row.id).values(active=True))

    def _query_row(self, connection: sa.Connection, query_id: str) -> sa.Row[Any]:
        asked = sa.select(schema.queries.c.id, *_QUERY).where(schema.queries.c.query_id == _searched(query_id))
        row = connection.execute(asked).one_or_none()
        if row is None:
            raise InputError(f"there is no query {query_id!r}", source=self.place, remedy="check the id")
        return row

    # -- people --------------------------------------------------------------------------------------------------------

    def add_person(self, name: str, role: Role) -> tuple[Person, str]:
        """Add a person who may sign in.

        Returns
        -------
        tuple of Person and str
            The person, and the secret of the personal link. Only its hash is stored: it cannot be shown again.
        """
        check_name("the name", name)
        check_choice("the role", role, get_args(Role))
        token = _secret()
        values = {"name": name, "role": role, "active": True, "link": _hash(token), "created": _now()}
        try:
            with self._database.writing() as connection:
                result = connection.execute(sa.insert(schema.people).values(values))
                return Person(int(result.inserted_primary_key[0]), name, role), token  # type: ignore[index]
        except sa.exc.IntegrityError:
            remedy = "choose another name"
            raise InputError(f"there is already a person called {name!r}", source=self.place, remedy=remedy) from None

    def new_link(self, person_id: int) -> str:
        """A new secret for the personal link of a person; the old link and all sessions end."""
        token = _secret()
        with self._database.writing() as connection:
            self._active_person(connection, person_id)
            connection.execute(_change_person(person_id, link=_hash(token)))
            _end_sessions(connection, person_id)
        return token

    def people(self) -> list[Person]:
        """All people, including retired ones, in the order in which they were added."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(*_PERSON).order_by(schema.people.c.id))
            return [Person(**row._mapping) for row in rows]

    def retire(self, person_id: int) -> None:
        """Retire a person, who can no longer sign in; open tasks are withdrawn for others, and judgments stay."""
        with self._database.writing() as connection:
            leads = sa.select(*_PERSON).where(schema.people.c.role == "lead", schema.people.c.active)
            active = connection.execute(leads.order_by(schema.people.c.id).with_for_update()).all()
            if [lead.id for lead in active] == [person_id]:
                raise InputError("this is the only lead", source=self.place, remedy="add another lead first")
            self._active_person(connection, person_id)
            connection.execute(_change_person(person_id, active=False, link=None))
            _end_sessions(connection, person_id)
            _withdraw(connection, schema.tasks.c.person == person_id, ~schema.tasks.c.done)

    def reinstate(self, person_id: int) -> str:
        """Let a retired person sign in again, with a new link; withdrawn tasks stay withdrawn."""
        token = _secret()
        with self._database.writing() as connection:
            person = self._person_row(connection, person_id)
            if person.active:
                raise InputError(f"{person.name!r} was not retired", source=self.place, remedy="make a new link")
            connection.execute(_change_person(person_id, active=True, link=_hash(token)))
        return token

    def person_of_link(self, token: str) -> Person | None:
        """The person whose personal link has this secret."""
        return self._person(schema.people.c.link == _hash(token), schema.people.c.active)

    def start_session(self, person_id: int, days: int = 30) -> str:
        """Begin a session of a person: the secret of their cookie, of which only the hash is stored."""
        check_number("the number of days", days, 1, _LONGEST_SESSION)
        cookie, now = _secret(), _now()
        with self._database.writing() as connection:
            self._active_person(connection, person_id)
            connection.execute(sa.delete(schema.sessions).where(schema.sessions.c.expires <= now))
            values = {"cookie": _hash(cookie), "person": person_id, "expires": now + timedelta(days=days)}
            connection.execute(sa.insert(schema.sessions).values(values))
        return cookie

    def person_of_session(self, cookie: str) -> Person | None:
        """The person whose session this is, as long as it lasts."""
        own = schema.sessions.c.person == schema.people.c.id
        session = sa.exists().where(own, schema.sessions.c.cookie == _hash(cookie), schema.sessions.c.expires > _now())
        return self._person(session, schema.people.c.active)

    def end_session(self, cookie: str) -> None:
        """End a session; a session that has already ended stays ended."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(schema.sessions).where(schema.sessions.c.cookie == _hash(cookie)))

    def signed_in(self) -> bool:
        """Whether anyone has an active session."""
        with self._database.reading() as connection:
            lasting = sa.exists().where(schema.sessions.c.expires > _now())
            return bool(connection.execute(sa.select(lasting)).scalar_one())

    def _person(self, *conditions: sa.ColumnElement[bool]) -> Person | None:
        with self._database.reading() as connection:
            row = connection.execute(sa.select(*_PERSON).where(*conditions)).one_or_none()
        return None if row is None else Person(**row._mapping)

    def _person_row(self, connection: sa.Connection, person_id: int) -> Person:
        asked = sa.select(*_PERSON).where(schema.people.c.id == _number(person_id)).with_for_update()
        row = connection.execute(asked).one_or_none()
        if row is None:
            raise InputError(f"there is no person with the number {person_id!r}", source=self.place, remedy="check it")
        return Person(**row._mapping)

    def _active_person(self, connection: sa.Connection, person_id: int) -> Person:
        person = self._person_row(connection, person_id)
        if not person.active:
            remedy = "reinstate them, or choose someone else"
            raise InputError(f"{person.name!r} was retired", source=self.place, remedy=remedy)
        return person

    # -- tasks ---------------------------------------------------------------------------------------------------------

    def assign(self, tasks: Iterable[NewTask]) -> list[Task]:
        """Assign queries to assessors, all or none.

        No one gets a query twice with the same purpose, nor a pair to verify or to settle; and no one who has seen a
        query with one tool gets it with the other, except to settle disagreements of others.
        """
        wanted = list(tasks)
        for task in wanted:
            _check_task(task)
        if not wanted:
            return []
        now = _now()
        made = []
        with self._database.writing() as connection:
            for number in sorted({task.person for task in wanted}):
                self._active_person(connection, number)
            numbers = {one: self._open_query(connection, one) for one in sorted({task.query_id for task in wanted})}
            few = _without_a_pair(connection, numbers.values())
            standing = _Standing.read(connection)
            rows = []
            for task in wanted:
                number = numbers[task.query_id]
                self._check_items(connection, number, task.query_id, {one for pair in task.pairs for one in pair})
                if refused := standing.refusal(number, task):
                    raise InputError(refused[0], source=self.place, remedy=refused[1])
                standing.add(number, task)
                fresh = {"key": secrets.token_urlsafe(16), "active": True, "done": False, "judgments": 0}
                new = Task(**{**vars(task), **fresh, "created": now})
                made.append(replace(new, done=task_state(new, few[number], []).done) if number in few else new)
                row = _values(made[-1]) | {"query": number}
                del row["query_id"]
                rows.append(row)
            connection.execute(sa.insert(schema.tasks), rows)
        return made

    def _open_query(self, connection: sa.Connection, query_id: str) -> int:
        asked = sa.select(schema.queries.c.id, schema.queries.c.active).where(
            schema.queries.c.query_id == _searched(query_id)
        )
        row = connection.execute(asked.with_for_update(read=True)).one_or_none()
        if row is None:
            raise InputError(f"there is no query {query_id!r}", source=self.place, remedy="check the id")
        if not row.active:
            remedy = "reinstate it, or choose another one"
            raise InputError(f"the query {query_id!r} was retired", source=self.place, remedy=remedy)
        return int(row.id)

    def _check_items(self, connection: sa.Connection, number: int, query_id: str, wanted: Collection[str]) -> None:
        """Refuse documents that the query does not have: what is in the log stays there."""
        if not wanted:
            return
        there = sa.select(schema.items.c.doc_id).where(schema.items.c.query == number)
        if len(wanted) <= _FEW:
            there = there.where(schema.items.c.doc_id.in_([_searched(one) for one in wanted]))
        if missing := set(wanted).difference(connection.scalars(there)):
            raise InputError(f"the query {query_id!r} has no document {min(missing)!r}", remedy="check the ids")

    def tasks(self, person: int | None = None, query_id: str | None = None, active_only: bool = True) -> list[Task]:
        """Tasks in the order in which they were assigned: of one person, of one query, or all."""
        asked = sa.select(*_TASK).select_from(_TASKS).order_by(schema.tasks.c.id)
        if person is not None:
            asked = asked.where(schema.tasks.c.person == _number(person))
        if query_id is not None:
            asked = asked.where(schema.queries.c.query_id == _searched(query_id))
        if active_only:
            asked = asked.where(schema.tasks.c.active)
        with self._database.reading() as connection:
            return [_task(row) for row in connection.execute(asked)]

    def task(self, key: str) -> Task | None:
        """The task with this key, even if it was withdrawn."""
        asked = sa.select(*_TASK).select_from(_TASKS).where(schema.tasks.c.key == _searched(key))
        with self._database.reading() as connection:
            row = connection.execute(asked).one_or_none()
        return None if row is None else _task(row)

    def withdraw(self, key: str) -> None:
        """Withdraw a task; its judgments stay in the log."""
        with self._database.writing() as connection:
            if not _withdraw(connection, schema.tasks.c.key == _searched(key)):
                raise self._no_task()

    def _no_task(self) -> InputError:
        return InputError("there is no such task", source=self.place, remedy="look at the list of tasks")

    # -- the log -------------------------------------------------------------------------------------------------------

    def log(self, key: str) -> list[Judgment]:
        """The judgments of a task, in order, including undos."""
        joined = schema.tasks.outerjoin(schema.judgments)
        asked = sa.select(*_JUDGMENT).select_from(joined).where(schema.tasks.c.key == _searched(key))
        with self._database.reading() as connection:
            rows = connection.execute(asked.order_by(schema.judgments.c.number)).all()
        if not rows:
            raise self._no_task()
        return [_judgment(row) for row in rows if row.kind is not None]

    def append(
        self,
        key: str,
        client_id: str,
        judgment: Judgment,
        *,
        after: int,
        active_seconds: float = 0.0,
        note: str = "",
        proposed: Sequence[str] = (),
        done: bool = False,
        of: int | None = None,
    ) -> Saved:
        """Save a judgment, only once however often it is sent; when this returns, it is on disk.

        Parameters
        ----------
        key
            The key of the task.
        client_id
            Chosen by the client: the same id means the same judgment.
        judgment
            The judgment to save.
        after
            How many entries of the log the client has seen.
        active_seconds, note, proposed
            As in :class:`~ranksift.labelling.records.Entry`.
        done
            Whether the task is done with this judgment.
        of
            The number of items of the query that the client knows: if there are more by now, the task is not done.

        Raises
        ------
        Moved
            If the log has grown since: nothing is saved.
        """
        check_id("the id that the client gives", client_id)
        check_number("the number of judgments seen", after, 0)
        check_real("the time of the judgment", active_seconds, 0)
        check_text("the note", note)
        _check_judgment(judgment)
        mentioned = {one for one in (judgment.left, judgment.right, *judgment.forbidden, *proposed) if one}
        with self._database.writing() as connection:
            task = connection.execute(_TASK_TO_JUDGE, {"sought": _searched(key)}).one_or_none()
            if task is None:
                raise self._no_task()
            known = connection.scalar(_NUMBER_OF_CLIENT, {"of_task": task.id, "sent": client_id})
            if known is not None:
                return Saved(known, repeated=True)
            if not (task.active and task.person_active and task.query_active):
                raise InputError("the task was withdrawn", source=self.place, remedy="continue with another task")
            if task.judgments != after:
                raise Moved(task.judgments)
            self._check_items(connection, task.query, task.query_id, mentioned)
            values = {
                "task": task.id,
                "number": after + 1,
                "client_id": client_id,
                "proposed": list(proposed),
                "active_seconds": float(active_seconds),
                "note": note,
                "created": _now(),
                **_values(judgment),
            }
            connection.execute(sa.insert(schema.judgments), values)
            if done and of is not None:
                own = schema.items.c.query == task.query
                done = connection.scalar(sa.select(sa.func.count()).select_from(schema.items).where(own)) == of
            connection.execute(_COUNT_JUDGMENT, {"of_task": task.id, "is_done": bool(done)})
            return Saved(after + 1, repeated=False)

    def entries(self, query_id: str | None = None) -> Iterator[Entry]:
        """All judgments as they are in the log, task after task, as of the moment when the first one is asked for."""
        j, t = schema.judgments.c, schema.tasks.c
        own = ("number", "client_id", "active_seconds", "note", "proposed", "created")
        asked = (
            sa.select(
                *(t.key, t.tool, t.purpose, schema.queries.c.query_id, schema.people.c.name),
                *(j[name].label(f"entry_{name}") for name in own),
                *_JUDGMENT,
            )
            .select_from(schema.judgments.join(schema.tasks).join(schema.queries).join(schema.people))
            .order_by(j.task, j.number)
        )
        if query_id is not None:
            asked = asked.where(schema.queries.c.query_id == _searched(query_id))
        with self._database.snapshot() as connection:
            for row in connection.execution_options(yield_per=1000).execute(asked):
                said = {name: getattr(row, f"entry_{name}") for name in own}
                yield Entry(
                    task=row.key,
                    query_id=row.query_id,
                    person=row.name,
                    tool=row.tool,
                    purpose=row.purpose,
                    judgment=_judgment(row),
                    **said | {"proposed": tuple(said["proposed"])},
                )

    # -- copies --------------------------------------------------------------------------------------------------------

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write everything into one file, as of one moment, while others continue to work.

        The file is text (JSON lines), compressed if its name ends in ``.gz`` or ``.zst``; it can be restored into
        either kind of database. It contains no secrets that anyone could sign in with, only their hashes.
        """
        with self._database.snapshot() as connection:
            archive.write(connection, path)

    @classmethod
    def restore(cls, path: str | os.PathLike[str], place: str | os.PathLike[str]) -> Store:
        """Restore a project from what :meth:`backup` wrote; a file that is incomplete or was changed is refused."""
        saved = archive.read(path)
        database = Database(place)
        with database.creating(saved.version) as connection:
            saved.insert(connection)
        return cls(database)


@dataclass(frozen=True)
class _Standing:
    """What people have or had to do, before they get more.

    Attributes
    ----------
    asked
        By number of the query, person, tool and purpose: the pairs that active tasks ask, where an empty one means all
        of the query.
    tools
        By number of the query and person: the tools of tasks that are active, or were begun.
    """

    asked: dict[tuple[int, int, str, str], set[frozenset[str]]]
    tools: dict[tuple[int, int], set[str]]

    @classmethod
    def read(cls, connection: sa.Connection) -> _Standing:
        standing = cls({}, {})
        columns = (*_ONCE, schema.tasks.c.pairs, schema.tasks.c.active)
        seen = sa.or_(schema.tasks.c.active, schema.tasks.c.judgments > 0)
        for query, person, tool, purpose, pairs, active in connection.execute(sa.select(*columns).where(seen)):
            standing._add((query, person, tool, purpose), _asked(purpose, pairs) if active else set())
        return standing

    def add(self, number: int, task: NewTask) -> None:
        self._add((number, task.person, task.tool, task.purpose), _asked(task.purpose, task.pairs))

    def _add(self, same: tuple[int, int, str, str], asked: set[frozenset[str]]) -> None:
        query, person, tool, _ = same
        self.asked.setdefault(same, set()).update(asked)
        self.tools.setdefault((query, person), set()).add(tool)

    def refusal(self, number: int, task: NewTask) -> tuple[str, str] | None:
        """Why a person cannot get a task, and what to do about it."""
        has = f"person {task.person} already has the query {task.query_id!r}"
        before = self.asked.get((number, task.person, task.tool, task.purpose), set())
        if before & _asked(task.purpose, task.pairs):
            return f"{has} ({task.tool}, {task.purpose})", "withdraw that task first, or leave it out"
        other = self.tools.get((number, task.person), set()) - {task.tool}
        if other and task.purpose != "adjudicate":
            return f"{has} with {min(other)}, and no one may see a query with both tools", "choose someone else"
        return None


def _asked(purpose: str, pairs: Iterable[Sequence[str]]) -> set[frozenset[str]]:
    """The pairs that a task asks; a single empty one where it is about all of the query."""
    return {frozenset(pair) for pair in pairs if purpose not in _WHOLE} or {frozenset()}


def _without_a_pair(connection: sa.Connection, queries: Iterable[int]) -> dict[int, list[str]]:
    """The documents of those queries that have fewer than two: with them, tasks may be done before they begin."""
    few = {}
    for number in queries:
        asked = sa.select(schema.items.c.doc_id).where(schema.items.c.query == number).limit(2)
        documents = list(connection.scalars(asked))
        if len(documents) < 2:
            few[number] = documents
    return few


_TASK_TO_JUDGE = (
    sa.select(
        *(schema.tasks.c[name] for name in ("id", "query", "active", "judgments")),
        schema.queries.c.query_id,
        schema.queries.c.active.label("query_active"),
        schema.people.c.active.label("person_active"),
    )
    .select_from(_TASKS)
    .where(schema.tasks.c.key == sa.bindparam("sought"))
    .with_for_update(of=schema.tasks)  # of SQLite, the whole transaction has the lock
)
_NUMBER_OF_CLIENT = sa.select(schema.judgments.c.number).where(
    schema.judgments.c.task == sa.bindparam("of_task"), schema.judgments.c.client_id == sa.bindparam("sent")
)
_COUNT_JUDGMENT = (
    sa.update(schema.tasks)
    .where(schema.tasks.c.id == sa.bindparam("of_task"))
    .values(judgments=schema.tasks.c.judgments + 1, done=sa.bindparam("is_done"))
)


def _check_project(project: Project) -> None:
    check_id("the title", project.title)
    check_text("the guidelines", project.guidelines)
    check_number("k", project.k, 1)
    check_id("the strategy", project.strategy)
    check_choice("the strategy", project.strategy, PAIRWISE)
    check_number("the label of forbidden documents", project.forbidden_label, -(2**31))
    for grade in project.grades:
        check_id("the name of a grade", grade)
    if len(set(project.grades)) < max(2, len(project.grades)):
        raise InputError(f"the grades are {', '.join(project.grades)}", remedy="give at least two different names")


def _check_query(query: Query) -> None:
    check_id("the id of a query", query.query_id)
    for name in ("text", "description"):
        check_text(f"the {name} of the query {query.query_id!r}", getattr(query, name))
    check_text(f"the language of the query {query.query_id!r}", query.language, 100)
    for item in query.items:
        check_id(f"the id of a document of the query {query.query_id!r}", item.doc_id)
        of_item = f"of the document {item.doc_id!r} (query {query.query_id!r})"
        check_text(f"the title {of_item}", item.title)
        check_text(f"the content {of_item}", item.content)
        check_text(f"the language {of_item}", item.language, 100)
        check_choice(f"the media {of_item}", item.media, _MEDIA)
        if item.prior is not None:
            check_real(f"the prior {of_item}", item.prior)


def _check_task(task: NewTask) -> None:
    check_choice("the tool", task.tool, get_args(Tool))
    check_choice("the purpose", task.purpose, get_args(Purpose))
    check_id("the strategy", task.strategy)
    if task.tool == "pairs":
        check_choice("the strategy for pairs", task.strategy, PAIRWISE)
        if same := next((left for left, right in task.pairs if left == right), None):
            raise InputError(f"a pair has the document {same!r} on both sides", remedy="give two different documents")
    check_number("k", task.k, 1)
    check_number("the seed", task.seed, 0, _LARGEST_SEED)


def _check_judgment(judgment: Judgment) -> None:
    check_choice("the kind of a judgment", judgment.kind, get_args(Kind))
    check_choice("the answer", judgment.answer, (None, *get_args(Answer)))
    if judgment.grade is not None:
        check_number("the grade", judgment.grade, 0)
    shown = {judgment.left, judgment.right} - {None, ""}
    if not set(judgment.forbidden) <= shown:
        raise InputError("a document that was not shown is flagged", remedy="flag a document of the question")
    has = {
        "prefer": len(shown) == 2 and judgment.grade is None and bool(judgment.answer or judgment.forbidden),
        "grade": bool(judgment.left) and judgment.right is None and judgment.answer is None,
        "skip": bool(shown) and judgment.answer is None and judgment.grade is None,
        "cannot": bool(shown) and judgment.answer is None and judgment.grade is None,
        "undo": not shown and judgment.answer is None and judgment.grade is None,
    }
    if not has[judgment.kind] or (judgment.kind == "grade" and judgment.grade is None and not judgment.forbidden):
        raise InputError(f"this is not a judgment of the kind {judgment.kind!r}", remedy="see the fields of Judgment")


def _now() -> datetime:
    return datetime.now(UTC)


def _secret() -> str:
    return secrets.token_urlsafe(32)


def _hash(secret: str) -> str:
    """What is stored of a secret. It is looked up by this, so the time of the lookup reveals nothing."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _searched(name: str) -> str:
    """An id or a key from outside; what no database can hold finds nothing, as nothing has an empty one."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return ""
    return "" if "\0" in name else name


def _number(value: int) -> int:
    """A person's number from outside; an impossible one finds no person."""
    return value if 0 < value < 2**31 else 0


def _values(record: Any) -> dict[str, Any]:
    """The fields of a record; tuples become lists, which JSON knows."""
    found = {one.name: getattr(record, one.name) for one in fields(record)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def _without_id(row: sa.Row[Any]) -> dict[str, Any]:
    return {name: value for name, value in row._mapping.items() if name != "id"}


def _project(row: sa.Row[Any]) -> Project:
    return Project(**{**row._mapping, "grades": tuple(row.grades)})


def _short_item(row: Sequence[Any]) -> Item:
    doc_id, title, media, language, prior, proposed = row
    return Item(doc_id, "", title, media, language, prior, proposed)


def _task(row: sa.Row[Any]) -> Task:
    return Task(**{**row._mapping, "pairs": tuple((left, right) for left, right in row.pairs)})


def _judgment(row: sa.Row[Any]) -> Judgment:
    return Judgment(row.kind, row.left, row.right, row.answer, row.grade, tuple(row.forbidden))


def _change_person(person_id: int, **values: Any) -> sa.Update:
    return sa.update(schema.people).where(schema.people.c.id == person_id).values(values)


def _end_sessions(connection: sa.Connection, person_id: int) -> None:
    connection.execute(sa.delete(schema.sessions).where(schema.sessions.c.person == person_id))


def _withdraw(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> int:
    """Withdraw tasks; how many there are."""
    return connection.execute(sa.update(schema.tasks).where(*conditions).values(active=False)).rowcount
