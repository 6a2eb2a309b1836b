"""Split the bytes of a white-space separated file into columns, a block of lines at a time.

There are two ways through. A block in which every line has the expected number of columns with one
blank between them is proven so by its separators alone, and its columns are read off them. Any other
block (several blanks, tabs, comments, empty lines, CRLF, errors) is taken apart token by token, which
also gives the line of an error.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ranksift.collection._engine.ids import Ints
from ranksift.collection.ragged import positions
from ranksift.errors import InputError
from ranksift.files import PADDING, Bytes, Text, not_utf8

# The variable that says how many threads read a file.
_THREADS = "RANKSIFT_THREADS"

_BLOCK = 1 << 20
_SERIAL = 1 << 22  # below this many bytes threads cost more than they bring
_LOOKAHEAD = 1 << 12
_LONGEST_LINE = 1 << 24
_NEWLINE, _SPACE, _TAB, _HASH = 10, 32, 9, 35

T = TypeVar("T")


@dataclass(frozen=True)
class Columns:
    """The wanted columns of a block: where each token starts and ends."""

    block: Block
    starts: dict[int, Ints]
    ends: dict[int, Ints]

    def __len__(self) -> int:
        return len(next(iter(self.starts.values())))

    def token(self, column: int, row: int) -> bytes:
        """One token."""
        return self.block.bytes[self.starts[column][row] : self.ends[column][row]].tobytes()

    def positions(self) -> Ints:
        """Where in the file each row stands."""
        return next(iter(self.starts.values())) + self.block.start

    def fail(self, row: int, what: str, remedy: str) -> InputError:
        """Make the error that names the line of ``row``."""
        return self.block.fail(int(next(iter(self.starts.values()))[row]), what, remedy)


@dataclass(frozen=True)
class Block:
    """Some whole lines of a text: ``bytes`` are the ``size`` of them from ``start`` on, and padding."""

    text: Text
    start: int
    size: int
    bytes: Bytes

    def fail(self, position: int, what: str, remedy: str) -> InputError:
        """Make the error that names the line in which byte ``position`` of this block stands."""
        return self.text.fail(self.start + position, what, remedy)

    def columns(self, count: int, wanted: tuple[int, ...], layout: str, *, or_more: bool = False) -> Columns:
        """Split into ``count`` columns and keep those ``wanted``; anything else is an error.

        Parameters
        ----------
        layout
            What a line should look like, for the error message.
        or_more
            Whether a line may go on behind its columns; what stands there is not used.
        """
        self.check_utf8()
        return self._clean(count, wanted) or self._general(count, wanted, layout, or_more)

    def check_utf8(self) -> None:
        """Refuse bytes that are not UTF-8."""
        if self.size and int(self.bytes[: self.size].max()) >= 128:
            try:
                str(memoryview(self.bytes)[: self.size], "utf-8")
            except UnicodeDecodeError as error:
                raise not_utf8(self.text, self.start + error.start, int(self.bytes[error.start])) from None

    def _clean(self, count: int, wanted: tuple[int, ...]) -> Columns | None:
        text = self.bytes[: self.size]
        blank = text <= _SPACE
        at = np.flatnonzero(blank)
        if len(at) == 0 or len(at) % count or blank[0] or (blank[1:] & blank[:-1]).any():
            return None
        edges = at.reshape(-1, count)
        newlines = np.count_nonzero(text == _NEWLINE)
        if newlines != len(edges) or not (text[edges[:, -1]] == _NEWLINE).all():
            return None
        controls = np.count_nonzero(text < _SPACE)
        if controls > newlines and controls != newlines + np.count_nonzero(text == _TAB):
            return None
        first = np.zeros(len(edges), dtype=np.int64)
        np.add(edges[:-1, -1], 1, out=first[1:])
        if (text[first] == _HASH).any():
            return None
        starts = {c: first if c == 0 else edges[:, c - 1] + 1 for c in wanted}
        return Columns(self, starts, {c: edges[:, c] for c in wanted})

    def check_controls(self) -> None:
        """Refuse control characters other than white space."""
        text = self.bytes[: self.size]
        odd = text < 32
        odd &= (text < 9) | (text > 13)
        if odd.any():
            at = int(np.argmax(odd))
            raise self.fail(
                at,
                f"control character {text[at]:#04x} in the text",
                "is this a text file? save it as UTF-8 text",
            )

    def _general(self, count: int, wanted: tuple[int, ...], layout: str, or_more: bool) -> Columns:
        self.check_controls()
        text = self.bytes[: self.size]
        ink = text > _SPACE
        edge = np.flatnonzero(ink[1:] != ink[:-1]) + 1
        if self.size and ink[0]:
            edge = np.concatenate(([0], edge))
        starts, ends = edge[0::2], edge[1::2]  # a block ends with a newline, so every token ends
        newlines = np.flatnonzero(text == _NEWLINE)
        upto = np.searchsorted(starts, newlines)
        per_line = np.diff(upto, prepend=0)
        first = (upto - per_line)[per_line > 0]  # the first token of each line that is not blank
        per_line = per_line[per_line > 0]
        comment = text[starts[first]] == _HASH
        if comment.any():
            keep = np.repeat(~comment, per_line)
            starts, ends, per_line, first = starts[keep], ends[keep], per_line[~comment], first[~comment]
        wrong = per_line < count if or_more else per_line != count
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.fail(
                int(edge[2 * first[row]]),
                f"{per_line[row]} column{'s' if per_line[row] > 1 else ''} where {count} are expected",
                f"write each line as: {layout}",
            )
        if or_more:
            keep = positions(per_line) < count
            starts, ends = starts[keep], ends[keep]
        return Columns(
            self,
            {c: starts[c::count] for c in wanted},
            {c: ends[c::count] for c in wanted},
        )


class _Cutter:
    """Cuts a text into blocks of whole lines; each thread reads into a buffer of its own."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self._own = threading.local()

    def starts(self) -> range:
        return range(self.text.start, self.text.end, _BLOCK)

    def block(self, start: int) -> Block:
        """The lines that begin in the ``_BLOCK`` bytes from ``start`` on."""
        text = self.text
        end = min(start + _BLOCK, text.end)
        # One more byte at the front shows whether a line begins here.
        front = start - (start > text.start)
        ahead = _LOOKAHEAD
        while True:
            reach = min(end + ahead, text.end)
            piece = text.piece(front, reach, self._scratch(reach - front + PADDING + 1))
            last = _next_newline(piece, end - front - 1, reach - front)
            if last >= 0 or reach == text.end:
                break
            if reach - front > _LONGEST_LINE:
                raise text.fail(end, "a line of more than 16 MB", "is this a text file with one document per line?")
            ahead *= 8
        begin = 0
        if front < start:
            begin = _next_newline(piece, 0, reach - front) + 1
            if begin == 0 or begin > end - front:  # no line begins in this block
                begin = last = 0
        if last < 0:  # the last line lacks its newline
            piece = np.concatenate((piece[begin : reach - front], [_NEWLINE], np.zeros(PADDING))).astype(np.uint8)
            return Block(text, front + begin, reach - front - begin + 1, piece)
        size = last + 1 - begin if last else 0
        return Block(text, front + begin, size, piece[begin : begin + size + PADDING])

    def _scratch(self, size: int) -> Bytes:
        buffer: Bytes | None = getattr(self._own, "buffer", None)
        if buffer is None or len(buffer) < size:
            buffer = np.empty(size, dtype=np.uint8)
            self._own.buffer = buffer
        return buffer


def _next_newline(piece: Bytes, start: int, end: int) -> int:
    """The position of the first newline from ``start`` on, -1 if there is none before ``end``."""
    while start < end:
        window = piece[start : min(start + _LOOKAHEAD, end)] == _NEWLINE
        at = int(window.argmax())
        if window[at]:
            return start + at
        start += len(window)
    return -1


def over_blocks(work: Callable[[Block], T], text: Text) -> Iterator[T]:
    """Apply ``work`` to every block, on all cores; results come in order, and only a few wait to be taken.

    The error of the earliest bad line wins.
    """
    cutter = _Cutter(text)
    cores = usable_cores()
    if text.end - text.start < _SERIAL or cores == 1:
        yield from (work(cutter.block(s)) for s in cutter.starts())
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(cores) as pool:
        waiting: deque[Future[T]] = deque()
        for start in cutter.starts():
            waiting.append(pool.submit(lambda s: work(cutter.block(s)), start))
            if len(waiting) > 4 * cores:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def usable_cores() -> int:
    """Cores this process may use: as many as RANKSIFT_THREADS says, else all that the system grants."""
    wanted = os.environ.get(_THREADS, "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
