"""The tables of the first version, and a log of judgments that can only grow."""

from __future__ import annotations

import sqlalchemy as sa  # noqa: TID253 - only Alembic imports this
from alembic import op

revision = "0001"
down_revision = None

_REFUSAL = "judgments are only ever added"

# A replaced row is a deleted one, though SQLite does not fire the trigger for deletions then: so what is there already
# is refused before it is written again.
_SQLITE = (
    f"CREATE TRIGGER judgments_no_update BEFORE UPDATE ON judgments BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END",
    f"CREATE TRIGGER judgments_no_delete BEFORE DELETE ON judgments BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END",
    f"""CREATE TRIGGER judgments_no_replace BEFORE INSERT ON judgments WHEN EXISTS (
        SELECT 1 FROM judgments WHERE task = NEW.task AND (number = NEW.number OR client_id = NEW.client_id)
    ) BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END""",
)

_POSTGRESQL = (
    f"""CREATE FUNCTION judgments_are_only_added() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''{_REFUSAL}''; END'""",
    """CREATE TRIGGER judgments_no_change BEFORE UPDATE OR DELETE ON judgments
        FOR EACH ROW EXECUTE FUNCTION judgments_are_only_added()""",
    """CREATE TRIGGER judgments_no_truncate BEFORE TRUNCATE ON judgments
        FOR EACH STATEMENT EXECUTE FUNCTION judgments_are_only_added()""",
)


def upgrade() -> None:
    """Create everything."""
    op.create_table(
        "project",
        sa.Column("id", sa.Integer, primary_key=True),
        *_texts("title", "guidelines"),
        sa.Column("k", sa.Integer, nullable=False),
        *_texts("strategy"),
        sa.Column("grades", sa.JSON, nullable=False),
        sa.Column("forbidden_label", sa.Integer, nullable=False),
        _created(),
    )
    op.create_table(
        "queries",
        sa.Column("id", sa.Integer, primary_key=True),
        *_texts("query_id", "text", "description", "language"),
        sa.Column("active", sa.Boolean, nullable=False),
        _created(),
        sa.UniqueConstraint("query_id"),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("query", sa.Integer, sa.ForeignKey("queries.id"), nullable=False),
        *_texts("doc_id", "title", "media", "language"),
        sa.Column("prior", sa.Double),
        sa.Column("proposed_forbidden", sa.Boolean, nullable=False),
        *_texts("content"),
        sa.UniqueConstraint("query", "doc_id"),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.Integer, primary_key=True),
        *_texts("name", "role"),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("link", sa.Text),
        _created(),
        sa.UniqueConstraint("name"),
        sa.UniqueConstraint("link"),
    )
    op.create_table(
        "sessions",
        sa.Column("cookie", sa.Text, primary_key=True),
        sa.Column("person", sa.Integer, sa.ForeignKey("people.id"), nullable=False, index=True),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer, primary_key=True),
        *_texts("key"),
        sa.Column("query", sa.Integer, sa.ForeignKey("queries.id"), nullable=False, index=True),
        sa.Column("person", sa.Integer, sa.ForeignKey("people.id"), nullable=False, index=True),
        *_texts("tool", "purpose", "strategy"),
        sa.Column("k", sa.Integer, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("with_proposals", sa.Boolean, nullable=False),
        sa.Column("pairs", sa.JSON, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("judgments", sa.Integer, nullable=False),
        _created(),
        sa.UniqueConstraint("key"),
    )
    active = sa.column("active").is_(sa.true())
    once = ["query", "person", "tool", "purpose"]
    op.create_index("tasks_once", "tasks", once, unique=True, sqlite_where=active, postgresql_where=active)
    op.create_table(
        "judgments",
        sa.Column("task", sa.Integer, sa.ForeignKey("tasks.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        *_texts("client_id", "kind", "left"),
        sa.Column("right", sa.Text),
        sa.Column("answer", sa.Text),
        sa.Column("grade", sa.Integer),
        sa.Column("forbidden", sa.JSON, nullable=False),
        sa.Column("proposed", sa.JSON, nullable=False),
        sa.Column("active_seconds", sa.Double, nullable=False),
        *_texts("note"),
        _created(),
        sa.UniqueConstraint("task", "client_id"),
    )
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL:
        op.execute(statement)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _created() -> sa.Column[object]:
    return sa.Column("created", sa.DateTime(timezone=True), nullable=False)
