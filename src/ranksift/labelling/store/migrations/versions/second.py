"""A project has an id of its own; single pairs can be settled more than once; a single document needs no question."""

from __future__ import annotations

import secrets

import sqlalchemy as sa  # noqa: TID253 - only Alembic imports this
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Bring a project of the first version forward."""
    op.add_column("project", sa.Column("site", sa.Text, nullable=False, server_default=""))
    project = sa.table("project", sa.column("site"))
    op.execute(sa.update(project).values(site=secrets.token_hex(8)))

    active, purpose = sa.column("active").is_(sa.true()), sa.column("purpose", sa.Text)
    whole = sa.and_(active, sa.or_(purpose == sa.literal_column("'label'"), purpose == sa.literal_column("'overlap'")))
    op.drop_index("tasks_once", "tasks")
    once = ["query", "person", "tool", "purpose"]
    op.create_index("tasks_once", "tasks", once, unique=True, sqlite_where=whole, postgresql_where=whole)

    # Of a query with one document the order is known. Nothing would ever have closed such a task.
    tasks = sa.table("tasks", *map(sa.column, ("query", "tool", "purpose", "done")))
    items = sa.table("items", sa.column("query"))
    documents = sa.select(sa.func.count()).where(items.c.query == tasks.c.query).scalar_subquery()
    op.execute(
        sa.update(tasks)
        .where(tasks.c.tool == "pairs", tasks.c.purpose.in_(("label", "overlap")), documents < 2)
        .values(done=sa.true())
    )
