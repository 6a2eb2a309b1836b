"""Texts in CSV that people open in a spreadsheet, which takes some of them for formulas and computes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Apostrophes in front count too, or a name that has one itself could not be distinguished from one to which it was
# added.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def safe_cell(text: str) -> str:
    """A text as written in a CSV report: after an apostrophe, if a spreadsheet would compute it.

    Files of judgments, runs and examples contain every id unchanged, because other programs read them.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("@home"), safe_cell("-0.5"), safe_cell("bm25")
    ("'=1+1", "'@home", '-0.5', 'bm25')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def cell_as_meant(cell: str) -> str:
    """The text from which :func:`safe_cell` made this cell.

    Examples
    --------
    >>> [cell_as_meant(safe_cell(name)) for name in ("=1+1", "'=1+1", "'quoted'", "-0.5")]
    ['=1+1', "'=1+1", "'quoted'", '-0.5']
    """
    return cell[1:] if cell.startswith("'") and safe_cell(cell[1:]) == cell else cell


def safe_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with safe names and texts, to be written as a report."""
    import polars as pl

    texts = {column.name: column.unique().drop_nulls() for column in frame.select(pl.col(pl.String))}
    changed = {name: {t: safe_cell(t) for t in some if safe_cell(t) != t} for name, some in texts.items()}
    safe = frame.with_columns(pl.col(name).replace(cells) for name, cells in changed.items() if cells)
    return safe.rename(safe_cell)
