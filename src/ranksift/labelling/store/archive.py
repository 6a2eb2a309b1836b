"""A whole project in one file of text, which either kind of database can write and read.

Every line is JSON. The first one says what this is; then comes a line for each table and one for each of its rows; the
last one has the SHA-256 of all lines before it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa  # noqa: TID253 - only code that needs it imports this package

from ranksift.errors import InputError
from ranksift.files import display_name, read_bytes, writing
from ranksift.labelling.store import schema
from ranksift.labelling.store.database import current_version, is_known

_FORMAT = "ranksift labelling backup"
_REMEDY = "use another backup"
_ROWS_AT_ONCE = 200


def write(connection: sa.Connection, path: str | os.PathLike[str]) -> None:
    """Write all tables, as this transaction sees them."""
    digest = hashlib.sha256()
    with writing(path) as file:

        def line(what: Any) -> None:
            text = json.dumps(what, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
            digest.update(text)
            file.write(text)

        line({"format": _FORMAT, "version": current_version(), "made": datetime.now(UTC).isoformat()})
        for table in schema.metadata.sorted_tables:
            line({"table": table.name, "columns": [column.name for column in table.columns]})
            key = [*table.primary_key.columns]
            for row in connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(sa.select(table).order_by(*key)):
                line([value.isoformat() if isinstance(value, datetime) else value for value in row])
        file.write(json.dumps({"sha256": digest.hexdigest()}).encode() + b"\n")


@dataclass(frozen=True)
class Archive:
    """What a backup holds, after its sum was checked.

    Attributes
    ----------
    version
        The version of the tables.
    lines
        Tables and rows.
    """

    name: str
    version: str
    lines: list[bytes]

    def insert(self, connection: sa.Connection) -> None:
        """Write all rows into empty tables of the same version."""
        found = sa.MetaData()
        try:
            for name, columns, rows in self._batches():
                table = sa.Table(name, found, autoload_with=connection)
                if rows:
                    connection.execute(sa.insert(table), [_typed(table, columns, row) for row in rows])
        except (sa.exc.SQLAlchemyError, ValueError, KeyError, TypeError):
            raise _unfit(self.name) from None
        for table in found.sorted_tables:
            if connection.dialect.name == "postgresql" and "id" in table.columns:
                _continue_numbers(connection, table)

    def _batches(self) -> Iterator[tuple[str, list[str], list[list[Any]]]]:
        name, columns, rows = "", list[str](), list[list[Any]]()
        for line in self.lines:
            what = json.loads(line)
            if isinstance(what, dict) or len(rows) == _ROWS_AT_ONCE:
                if name:
                    yield name, columns, rows
                rows = []
            if isinstance(what, dict):
                name, columns = what["table"], what["columns"]
            elif name:
                rows.append(what)
            else:
                raise ValueError("a row before the first table")
        if name:
            yield name, columns, rows


def read(path: str | os.PathLike[str]) -> Archive:
    """Read a backup; one that is cut off, was changed, or is from a newer program is refused."""
    name = display_name(path)
    lines = read_bytes(path).split(b"\n")
    try:
        first = json.loads(lines[0])
        if not isinstance(first, dict) or first["format"] != _FORMAT:
            raise ValueError
    except (ValueError, KeyError):
        raise InputError("this is not a backup of a labelling project", source=name, remedy=_REMEDY) from None
    try:
        if lines.pop():
            raise ValueError
        last = json.loads(lines.pop())
        digest = hashlib.sha256()
        for line in lines:
            digest.update(line + b"\n")
        if last["sha256"] != digest.hexdigest():
            raise ValueError
    except (ValueError, KeyError, TypeError, IndexError):
        raise InputError("the backup is incomplete, or was changed", source=name, remedy=_REMEDY) from None
    version = first.get("version")
    if not isinstance(version, str) or not is_known(version):
        raise InputError("the backup was made by a newer RankSift", source=name, remedy="update RankSift")
    return Archive(name, version, lines[1:])


def _typed(table: sa.Table, columns: list[str], row: list[Any]) -> dict[str, Any]:
    values = dict(zip(columns, row, strict=True))
    for name, value in values.items():
        if isinstance(table.c[name].type, sa.DateTime) and value is not None:
            values[name] = moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                raise ValueError("a moment without its time zone")
    return values


def _continue_numbers(connection: sa.Connection, table: sa.Table) -> None:
    """Let PostgreSQL continue counting after the rows that came with their numbers."""
    largest = sa.select(sa.func.max(table.c.id)).scalar_subquery()
    sequence = sa.func.pg_get_serial_sequence(table.name, "id")
    connection.execute(sa.select(sa.func.setval(sequence, sa.func.coalesce(largest, 1), largest.is_not(None))))


def _unfit(name: str) -> InputError:
    return InputError("the backup does not fit together", source=name, remedy=_REMEDY)
