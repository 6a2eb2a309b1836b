"""A result as a small table of words and numbers, for a terminal, Markdown, HTML or LaTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np

from ranksift.errors import JOINERS, on_one_line

if TYPE_CHECKING:
    from rich.table import Table as RichTable

#: What a cell may hold. ``None`` is shown as a dash.
Value = str | int | float | bool | None

_NONE = "-"

# Numbers with more digits than this before the point are not written out.
_LONG = 1e15

Side = Literal["left", "right"]


@dataclass(frozen=True)
class Column:
    """A column and how its numbers are written.

    Attributes
    ----------
    name
        The heading.
    digits
        Decimals of floating-point numbers; None writes up to six significant digits, as is done with huge ones.
    style
        ``"plain"``; ``"percent"`` for a share; ``"p"`` for a p value, where what would round to 0 is written
        ``<0.0001``.
    signed
        Whether positive numbers get a +.
    align
        None puts columns of numbers to the right and columns of words to the left.

    Examples
    --------
    >>> Column("p", style="p").written(1e-9), Column("gain", digits=2, signed=True).written(0.5)
    ('<0.0001', '+0.50')
    """

    name: str
    digits: int | None = 4
    style: Literal["plain", "percent", "p"] = "plain"
    signed: bool = False
    align: Side | None = None

    def written(self, value: Value) -> str:
        """The value as it is shown, in every format."""
        if value is None:
            return _NONE
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "yes" if value else "no"
        if self.style == "p" and self.digits is not None and value < 10.0**-self.digits:
            return f"<{10.0**-self.digits:.{self.digits}f}"
        number = self._number(100.0 * value if self.style == "percent" else value)
        sign = "+" if self.signed and value > 0 and not _is_zero(number) else ""
        return sign + number + ("%" if self.style == "percent" else "")

    def _number(self, value: float) -> str:
        if isinstance(value, int):
            return str(value)
        number = f"{value:.6g}" if self.digits is None or abs(value) >= _LONG else f"{value:.{self.digits}f}"
        return number.removeprefix("-") if _is_zero(number) else number


@dataclass(frozen=True)
class Cell:
    """A value followed by letters, raised if the format allows it, and bold if it is the best."""

    value: Value
    letters: str = ""
    bold: bool = False


@dataclass(frozen=True, init=False)
class Table:
    """Title, columns, rows and notes.

    Columns may be given as plain headings and cells as plain values.

    Examples
    --------
    >>> table = Table(["run", Column("AP", digits=2)], [["bm25", 0.25], ["my_run", Cell(0.5, "a", bold=True)]])
    >>> print(table)
    run     AP
    ------  ------
    bm25    0.25
    my_run  0.50 a
    >>> print(table.markdown())
    | run    | AP                    |
    |:-------|----------------------:|
    | bm25   | 0.25                  |
    | my_run | **0.50** <sup>a</sup> |
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]

    def __init__(
        self,
        columns: Iterable[Column | str],
        rows: Iterable[Sequence[Cell | Value]],
        *,
        title: str = "",
        notes: Iterable[str] = (),
    ) -> None:
        settled = {
            "title": title,
            "columns": tuple(c if isinstance(c, Column) else Column(c) for c in columns),
            "rows": tuple(tuple(c if isinstance(c, Cell) else Cell(c) for c in row) for row in rows),
            "notes": tuple(notes),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns")

    def head(self, most: int) -> Table:
        """The first rows, with a note that says how many are left out."""
        left_out = len(self.rows) - most
        if left_out <= 0:
            return self
        note = f"and {left_out} more row{'s' * (left_out != 1)}"
        return Table(self.columns, self.rows[:most], title=self.title, notes=(note, *self.notes))

    @property
    def width(self) -> int:
        """The width of its plain text in columns, without notes: a narrower terminal cuts numbers off."""
        widest = [max([_width(on_one_line(c.name)), *map(_width, self._drawn(j))]) for j, c in enumerate(self.columns)]
        return sum(widest) + 2 * (len(widest) - 1)

    # -- formats -----------------------------------------------------------------------------------------

    def text(self) -> str:
        """Plain text in aligned columns."""
        names = [on_one_line(c.name) for c in self.columns]
        drawn = [self._drawn(j) for j in range(len(names))]
        widths = [max([_width(name), *map(_width, cells)]) for name, cells in zip(names, drawn, strict=True)]
        lines = [on_one_line(self.title)] if self.title else []

        def line(cells: Iterable[str]) -> str:
            return "  ".join(map(_pad, cells, widths, self._sides))

        lines += [line(names), "  ".join("-" * w for w in widths), *map(line, zip(*drawn, strict=True))]
        lines += [on_one_line(note) for note in self.notes]
        return "\n".join(line.rstrip() for line in lines)

    def markdown(self) -> str:
        """A table in the form that GitHub and most other tools read."""
        names = [_markdown(c.name) for c in self.columns]
        rows = [[self._markdown_cell(i, j) for j in range(len(names))] for i in range(len(self.rows))]
        widths = [max(3, *(_width(line[j]) for line in (names, *rows))) for j in range(len(names))]

        def line(cells: Sequence[str]) -> str:
            return f"| {' | '.join(map(_pad, cells, widths))} |"

        rules = ["-" * (w + 1) for w in widths]
        rule = "|".join(f"{r}:" if numeric else f":{r}" for r, numeric in zip(rules, self._numeric, strict=True))
        lines = [f"**{_markdown(self.title)}**", ""] if self.title else []
        lines += [line(names), f"|{rule}|", *(line(row) for row in rows)]
        for note in self.notes:
            lines += ["", _markdown(note)]
        return "\n".join(lines)

    def latex(self, *, label: str = "") -> str:
        r"""A ``table`` environment that needs ``\usepackage{booktabs}``."""
        columns = range(len(self.columns))
        layout = "".join("r@{\\,}l" if self._lettered[j] else "r" if self._numeric[j] else "l" for j in columns)
        lines = ["% needs \\usepackage{booktabs}", "\\begin{table}", "\\centering"]
        if self.title:
            lines.append(f"\\caption{{{_latex(self.title)}}}")
        if label:
            lines.append(f"\\label{{{label}}}")
        lines += [f"\\begin{{tabular}}{{{layout}}}", "\\toprule"]
        lines.append(" & ".join(self._latex_heading(j) for j in columns) + " \\\\")
        lines.append("\\midrule")
        lines += [" & ".join(self._latex_cell(i, j) for j in columns) + " \\\\" for i in range(len(self.rows))]
        lines += ["\\bottomrule", "\\end{tabular}"]
        lines += [f"\\par\\smallskip{{\\footnotesize {_latex(note)}}}" for note in self.notes]
        return "\n".join([*lines, "\\end{table}"])

    def html(self) -> str:
        """A ``table`` element with a caption, followed by its notes."""
        sides = ["num" if numeric else "" for numeric in self._numeric]

        def line(tag: str, cells: Iterable[str]) -> str:
            marks = (f'<{tag} class="{side}">' if side else f"<{tag}>" for side in sides)
            return "<tr>" + "".join(f"{mark}{cell}</{tag}>" for mark, cell in zip(marks, cells, strict=True)) + "</tr>"

        caption = f"<caption>{_html(self.title)}</caption>" if self.title else ""
        body = (line("td", (self._html_cell(i, j) for j in range(len(sides)))) for i in range(len(self.rows)))
        head = line("th", (_html(c.name) for c in self.columns))
        notes = "".join(f'<p class="note">{_html(note)}</p>' for note in self.notes)
        return f"<table>{caption}<thead>{head}</thead><tbody>{''.join(body)}</tbody></table>{notes}"

    def rich(self) -> RichTable:
        """A table for ``rich.console.Console.print``; the table itself can be printed there too."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        caption = Text("\n".join(on_one_line(note) for note in self.notes)) if self.notes else None
        title = Text(on_one_line(self.title), style="bold") if self.title else None
        table = RichTable(
            title=title,
            caption=caption,
            box=box.SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            pad_edge=False,
            title_justify="left",
            caption_justify="left",
        )
        drawn = [self._drawn(j) for j in range(len(self.columns))]
        for j, column in enumerate(self.columns):
            name = on_one_line(column.name)
            # In a narrow terminal names may be folded, numbers may not.
            least = max(map(_width, [*drawn[j], *name.split()]), default=0) if self._numeric[j] else None
            table.add_column(Text(name), justify=self._sides[j], overflow="fold", min_width=least)
        for i, row in enumerate(self.rows):
            cells = []
            for j, cell in enumerate(row):
                shown = Text(drawn[j][i])
                end = len(drawn[j][i].rstrip()) if cell.letters else len(drawn[j][i])
                shown.stylize("bold" if cell.bold else "", 0, end - len(cell.letters))
                shown.stylize("dim", end - len(cell.letters), end)
                cells.append(shown)
            table.add_row(*cells)
        return table

    def __rich__(self) -> RichTable:
        return self.rich()

    def __str__(self) -> str:
        return self.text()

    def to_latex(self) -> str:
        """:meth:`latex` under the name that pandas has for it."""
        return self.latex()

    def _repr_html_(self) -> str:
        return notebook(self)

    def _repr_markdown_(self) -> str:
        return self.markdown()

    # -- cells -------------------------------------------------------------------------------------------

    def _column(self, j: int) -> list[Cell]:
        return [row[j] for row in self.rows]

    @cached_property
    def _lettered(self) -> tuple[bool, ...]:
        return tuple(any(c.letters for c in self._column(j)) for j in range(len(self.columns)))

    @cached_property
    def _numeric(self) -> tuple[bool, ...]:
        return tuple(c.align == "right" if c.align else _numbers(self._column(j)) for j, c in enumerate(self.columns))

    @cached_property
    def _sides(self) -> tuple[Side, ...]:
        # Numbers with letters are lined up in their own part of the column, which then stands to the left.
        both = zip(self._numeric, self._lettered, strict=True)
        return tuple("right" if numeric and not lettered else "left" for numeric, lettered in both)

    def _drawn(self, j: int) -> list[str]:
        """The cells of a column as plain text; numbers are aligned even if letters follow some of them."""
        column = self.columns[j]
        bodies = [on_one_line(column.written(c.value)) for c in self._column(j)]
        if not self._lettered[j]:
            return bodies
        letters = [on_one_line(c.letters) for c in self._column(j)]
        body, behind = max(map(_width, bodies)), max(map(_width, letters))
        side: Side = "right" if self._numeric[j] else "left"
        return [_pad(b, body, side) + " " + _pad(x, behind) for b, x in zip(bodies, letters, strict=True)]

    def _markdown_cell(self, i: int, j: int) -> str:
        cell = self.rows[i][j]
        body = _markdown(self.columns[j].written(cell.value))
        body = f"**{body}**" if cell.bold and body else body
        return f"{body} <sup>{_markdown(cell.letters)}</sup>" if cell.letters else body

    def _html_cell(self, i: int, j: int) -> str:
        cell = self.rows[i][j]
        body = _html(self.columns[j].written(cell.value))
        body = f"<b>{body}</b>" if cell.bold and body else body
        return f"{body} <small>{_html(cell.letters)}</small>" if cell.letters else body

    def _latex_heading(self, j: int) -> str:
        name = _latex(self.columns[j].name)
        if self._lettered[j]:
            return f"\\multicolumn{{2}}{{c}}{{{name}}}"
        return name

    def _latex_cell(self, i: int, j: int) -> str:
        cell = self.rows[i][j]
        written = self.columns[j].written(cell.value)
        if not isinstance(cell.value, str) and cell.value is not None and written.startswith("-"):
            body = "$-$" + _latex(written[1:])
        else:
            body = _latex(written)
        body = f"\\textbf{{{body}}}" if cell.bold and body else body
        if not self._lettered[j]:
            return body
        return f"{body} & " + (f"\\textsuperscript{{{_latex(cell.letters)}}}" if cell.letters else "")


#: A notebook puts all cells to the right; it shows this beside the text of a cell, in the notebook's own colours.
_IN_A_NOTEBOOK = (
    ".ranksift td,.ranksift th{text-align:left!important}.ranksift .num{text-align:right!important;"
    "font-variant-numeric:tabular-nums}.ranksift caption{text-align:left;font-weight:600;color:inherit}"
    ".ranksift p.note{opacity:.75;font-size:.9em;margin:.2em 0}.ranksift{overflow-x:auto}"
)


def notebook(*parts: Table | str) -> str:
    r"""Tables and sentences as a cell of a notebook shows them.

    >>> print(notebook("a < b").partition("</style>")[2])
    <p>a &lt; b</p></div>
    """
    shown = (p.html() if isinstance(p, Table) else "".join(f"<p>{_html(x)}</p>" for x in p.split("\n")) for p in parts)
    return f'<div class="ranksift"><style>{_IN_A_NOTEBOOK}</style>{"".join(shown)}</div>'


def in_markdown(*parts: Table | str) -> str:
    """Tables and sentences as Markdown."""
    return "\n\n".join(_markdown(part) if isinstance(part, str) else part.markdown() for part in parts)


def _numbers(cells: Iterable[Cell]) -> bool:
    values = [c.value for c in cells if c.value is not None]
    return bool(values) and not any(isinstance(v, str | bool) for v in values)


def _is_zero(number: str) -> bool:
    return not number.strip("-+0.")


def _width(text: str) -> int:
    """The number of terminal columns that the text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 or c in JOINERS for c in text)


def _pad(text: str, width: int, side: Side = "left") -> str:
    blanks = " " * (width - _width(text))
    return text + blanks if side == "left" else blanks + text


def _html(text: str) -> str:
    return escape(on_one_line(text), quote=False)


# An underscore inside a word is an underscore; beside a blank it would begin emphasis.
_MARKDOWN = re.compile(r"[\\`*\[\]<>|~$]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(lambda m: {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(m[0], "\\" + m[0]), on_one_line(text))


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
        "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
        "−": "$-$", "×": r"$\times$", "≤": r"$\leq$", "≥": r"$\geq$", "…": r"\dots{}",
        "Φ": r"$\Phi$", "ρ": r"$\rho$", "τ": r"$\tau$", "α": r"$\alpha$", "σ": r"$\sigma$", "²": "$^2$",
    }
)  # fmt: skip


def _latex(text: str) -> str:
    escaped = on_one_line(text).replace("<=", "≤").replace(">=", "≥").translate(_LATEX)
    escaped = re.sub("-(?=-)", "-{}", escaped)  # two hyphens would become a dash
    # After a row's end LaTeX takes a star or a bracket for the end's own option.
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped[:1] in ("*", "[") else escaped
