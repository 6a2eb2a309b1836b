"""The tables as they are now; how they came to be so stands in ``migrations``, and a test compares the two."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa  # noqa: TID253 - only code that needs it imports this package


class Instant(sa.TypeDecorator[datetime]):
    """A moment in UTC. SQLite forgets the time zone, and PostgreSQL answers in that of the session."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        """In UTC, and saying so."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


metadata = sa.MetaData()

project = sa.Table(
    "project",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("guidelines", sa.Text, nullable=False),
    sa.Column("k", sa.Integer, nullable=False),
    sa.Column("strategy", sa.Text, nullable=False),
    sa.Column("grades", sa.JSON, nullable=False),
    sa.Column("forbidden_label", sa.Integer, nullable=False),
    sa.Column("site", sa.Text, nullable=False),  # drawn: what browsers call the project
    sa.Column("created", Instant, nullable=False),
)

queries = sa.Table(
    "queries",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("query_id", sa.Text, nullable=False, unique=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("language", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("created", Instant, nullable=False),
)

items = sa.Table(
    "items",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("query", sa.Integer, sa.ForeignKey("queries.id"), nullable=False),
    sa.Column("doc_id", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("media", sa.Text, nullable=False),
    sa.Column("language", sa.Text, nullable=False),
    sa.Column("prior", sa.Double),
    sa.Column("proposed_forbidden", sa.Boolean, nullable=False),
    sa.Column("content", sa.Text, nullable=False),  # last: SQLite reads the others without walking through it
    sa.UniqueConstraint("query", "doc_id"),
)

people = sa.Table(
    "people",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("link", sa.Text, unique=True),  # the hash of the secret in the personal link
    sa.Column("created", Instant, nullable=False),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("cookie", sa.Text, primary_key=True),  # a hash as well
    sa.Column("person", sa.Integer, sa.ForeignKey("people.id"), nullable=False, index=True),
    sa.Column("expires", Instant, nullable=False),
)

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("query", sa.Integer, sa.ForeignKey("queries.id"), nullable=False, index=True),
    sa.Column("person", sa.Integer, sa.ForeignKey("people.id"), nullable=False, index=True),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("strategy", sa.Text, nullable=False),
    sa.Column("k", sa.Integer, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("with_proposals", sa.Boolean, nullable=False),
    sa.Column("pairs", sa.JSON, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("done", sa.Boolean, nullable=False),
    sa.Column("judgments", sa.Integer, nullable=False),  # how many there are, so that they need not be counted
    sa.Column("created", Instant, nullable=False),
)
# A task that was withdrawn may be assigned again, and single pairs may be asked about in several tasks.
_WHOLE = sa.and_(tasks.c.active.is_(sa.true()), sa.or_(tasks.c.purpose == "label", tasks.c.purpose == "overlap"))
sa.Index(
    "tasks_once",
    *(tasks.c.query, tasks.c.person, tasks.c.tool, tasks.c.purpose),
    unique=True,
    sqlite_where=_WHOLE,
    postgresql_where=_WHOLE,
)

judgments = sa.Table(
    "judgments",
    metadata,
    sa.Column("task", sa.Integer, sa.ForeignKey("tasks.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("client_id", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("left", sa.Text, nullable=False),
    sa.Column("right", sa.Text),
    sa.Column("answer", sa.Text),
    sa.Column("grade", sa.Integer),
    sa.Column("forbidden", sa.JSON, nullable=False),
    sa.Column("proposed", sa.JSON, nullable=False),
    sa.Column("active_seconds", sa.Double, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("created", Instant, nullable=False),
    sa.UniqueConstraint("task", "client_id"),
)
