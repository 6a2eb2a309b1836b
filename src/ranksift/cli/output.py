"""What the commands print, where it goes, and what they say beside it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOWrapper
from itertools import chain
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from ranksift import __version__
from ranksift.cli.spelling import as_options
from ranksift.errors import InputError, RankSiftWarning, on_one_line, shortened

if TYPE_CHECKING:
    from pathlib import Path

    from ranksift.evaluation.table import Table

T = TypeVar("T")


@contextmanager
def prepared() -> Iterator[None]:
    """Make standard output fit for any id, and warnings notes of one line."""
    if sys.stderr is None:  # closed; what is meant for it must not be printed among the results
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # In a file or a pipe the encoding is part of the format; on a terminal it is the terminal's.
            stream.reconfigure(encoding=None if is_terminal(stream) else "utf-8", errors="backslashreplace")
    with warnings.catch_warnings():
        if not os.environ.get("RANKSIFT_DEBUG"):  # warnings of other libraries are for developers
            warnings.simplefilter("ignore")
            warnings.showwarning = lambda message, *rest: note(str(message))
        warnings.simplefilter("default", RankSiftWarning)
        yield


def flush() -> None:
    """Write what is left of standard output: a full disk is reported, and a closed pipe is not an error."""
    with _writing():
        if sys.stdout is not None:
            sys.stdout.flush()


def is_terminal(stream: TextIO) -> bool:
    """Whether someone looks at the stream."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def is_alone() -> bool:
    """Whether no launcher such as torchrun has started several processes with this command."""
    return os.environ.get("WORLD_SIZE", "1") in ("", "0", "1")


def is_first() -> bool:
    """Whether this process prints and writes: of several, only the first one does."""
    return is_alone() or os.environ.get("RANK", "0") == "0"


_silent = False


@contextmanager
def heard_once() -> Iterator[None]:
    """Let only the first of several processes print what is printed within."""
    global _silent
    before, _silent = _silent, not is_first()
    try:
        yield
    finally:
        _silent = before


def note(text: str) -> None:
    """Print a note for the user that is not part of the results."""
    if not _silent:
        say(f"note: {on_one_line(shortened(as_options(text)))}")


def say(text: object) -> None:
    """Write a line to standard error; if that is closed, work continues, and the exit code is the same."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _discard_the_rest(sys.stderr)


def write(text: str, out: Path | None = None) -> None:
    """Write text that ends in a newline to a file, which appears whole or not at all, or to standard output."""
    if out is not None and str(out) != "-":
        from ranksift.files import writing

        with writing(out) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        return
    if sys.stdout is None:
        raise InputError("standard output is closed", source="<stdout>", remedy="write to a file: --out")
    with _writing():
        sys.stdout.write(text)
        sys.stdout.flush()


def show(*parts: Table | str, out: Path | None = None) -> None:
    """Write tables and paragraphs: in colour on a terminal, else as plain text."""
    if _silent:
        return
    if out is not None or not is_terminal(sys.stdout):
        write("\n\n".join(str(_in_options(part)) for part in parts) + "\n", out)
        return
    from rich.console import Console

    from ranksift.evaluation.table import Table

    console = Console(highlight=False, emoji=False, markup=False)
    for part in parts:
        if isinstance(part, str):
            console.print(as_options(part))
            continue
        # As rich's own title and caption they would be as narrow as the table.
        if part.title:
            console.print(on_one_line(part.title), style="bold")
        console.print(Table(part.columns, part.rows))
        for line in part.notes:
            console.print(on_one_line(as_options(line)), style="dim")


def markdown(parts: Iterable[Table | str]) -> str:
    """Tables and paragraphs as Markdown."""
    parts = map(_in_options, parts)
    return "\n\n".join(_preformatted(part) if isinstance(part, str) else part.markdown() for part in parts) + "\n"


def write_json(data: Any, out: Path | None = None) -> None:
    """Write JSON, indented, keys in the order given; an object begins with the version that wrote it."""
    import json

    signed = {"ranksift": __version__, **data} if isinstance(data, dict) else data
    write(json.dumps(signed, ensure_ascii=False, indent=2, allow_nan=False) + "\n", out)


def write_csv(header: Sequence[str], rows: Iterable[Sequence[object]], out: Path | None = None) -> None:
    """Write CSV with a header line; floats in full precision, truth as true and false, no text that is a formula."""
    import csv
    import io

    from ranksift.evaluation.csv_cells import safe_cell

    def cell(value: object) -> object:
        return str(value).lower() if isinstance(value, bool) else safe_cell(value) if isinstance(value, str) else value

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(cell, row) for row in chain([header], rows))
    write(text.getvalue(), out)


def progress(doing: str, total: int | None = None) -> Callable[[Iterable[T]], Iterable[T]]:
    """A wrapper that shows on a terminal how far a loop is."""
    if _silent or not is_terminal(sys.stderr):
        return iter

    def wrap(items: Iterable[T]) -> Iterator[T]:
        from rich.console import Console
        from rich.progress import track

        yield from track(items, doing, total, console=Console(stderr=True), transient=True)

    return wrap


def _in_options(part: Table | str) -> Table | str:
    """A paragraph, or the notes of a table, with options instead of Python."""
    if isinstance(part, str):
        return as_options(part)
    return replace(part, notes=tuple(as_options(note) for note in part.notes))


def _preformatted(text: str) -> str:
    return f"```\n{text}\n```" if "\n" in text else text


@contextmanager
def _writing() -> Iterator[None]:
    """Write to standard output; a closed pipe, as with ``ranksift ... | head``, is not an error."""
    try:
        yield
    except BrokenPipeError:
        _discard_the_rest(sys.stdout)
    except OSError as error:
        _discard_the_rest(sys.stdout)
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot be written ({reason})", source="<stdout>", remedy="make room, or write to a file: --out"
        ) from None


def _discard_the_rest(stream: TextIO) -> None:
    """Let Python's last flush go nowhere instead of into a closed pipe or onto a full disk."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def check_picture(path: Path | None) -> None:
    """Refuse a picture that cannot be drawn, before anything is computed: one of no known format, or no matplotlib."""
    from ranksift.plotting import check_can_draw

    if path is None:
        return
    if path.suffix.lower() not in (".svg", ".pdf", ".png"):
        what = f"a picture is not written as {path.suffix or 'a file without a suffix'}"
        raise InputError(what, source=str(path), remedy="name it .svg, .pdf or .png")
    check_can_draw()


def draw(figure: Any, path: Path) -> None:
    """Write a figure into a file, in the format that its name asks for."""
    from ranksift.files import writing
    from ranksift.report.figures import image_of

    with writing(path) as file:
        file.write(image_of(figure, path.suffix.lower()[1:]))
