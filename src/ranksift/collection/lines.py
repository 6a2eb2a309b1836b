"""Split the bytes of a white-space separated file into columns, a block of lines at a time.

There are two ways through. A block in which every line has the expected number of columns with one
blank between them is proven so by its separators alone, and its columns are read off them. Any other
block (several blanks, tabs, comments, empty lines, CRLF, errors) is taken apart token by token, which
also tells the line that a complaint is about.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ranksift.collection.errors import InputError
from ranksift.collection.ids import PADDING, Bytes, Ints

_BLOCK = 1 << 20
_SERIAL = 1 << 22  # below this many bytes threads cost more than they bring
_LONGEST_LINE = 1 << 24
_NEWLINE, _SPACE, _TAB, _HASH = 10, 32, 9, 35

T = TypeVar("T")


@dataclass(frozen=True)
class Columns:
    """The wanted columns of a block: where each token starts and ends, and the lines they stand in."""

    block: Block
    starts: dict[int, Ints]
    ends: dict[int, Ints]

    def __len__(self) -> int:
        return len(next(iter(self.starts.values())))

    def token(self, column: int, row: int) -> bytes:
        return self.block.bytes[self.starts[column][row] : self.ends[column][row]].tobytes()

    def fail(self, row: int, what: str, remedy: str) -> InputError:
        """Make the error that names the line of ``row``."""
        return self.block.fail_at(int(next(iter(self.starts.values()))[row]), what, remedy)


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file: ``text[start:end]`` (with padding behind), ``end`` just past a newline."""

    source: str
    text: Bytes
    start: int
    end: int

    @property
    def bytes(self) -> Bytes:
        return self.text[self.start : self.end + PADDING]

    @property
    def size(self) -> int:
        return self.end - self.start

    def fail_at(self, position: int, what: str, remedy: str) -> InputError:
        """Make the error that names the line in which byte ``position`` of this block stands."""
        line = 1 + int(np.count_nonzero(self.text[: self.start + position] == _NEWLINE))
        return InputError(what, source=self.source, line=line, remedy=remedy)

    def columns(self, count: int, wanted: tuple[int, ...], layout: str) -> Columns:
        """Split into ``count`` columns and keep those ``wanted``; anything else is an error.

        Parameters
        ----------
        layout
            What a line should look like, for the error message.
        """
        return self._clean(count, wanted) or self._general(count, wanted, layout)

    def _clean(self, count: int, wanted: tuple[int, ...]) -> Columns | None:
        text = self.bytes
        at = np.flatnonzero(text[: self.size] <= _SPACE)
        if len(at) == 0 or len(at) % count:
            return None
        blank = text[at].reshape(-1, count)
        inner = blank[:, :-1]
        if not (blank[:, -1] == _NEWLINE).all() or not ((inner == _SPACE) | (inner == _TAB)).all():
            return None
        if at[0] == 0 or (len(at) > 1 and int((at[1:] - at[:-1]).min()) < 2):
            return None
        edges = at.reshape(-1, count)
        starts, ends = {}, {}
        first = np.zeros(len(edges), dtype=np.int64)
        np.add(edges[:-1, -1], 1, out=first[1:])
        if (text[first] == _HASH).any():
            return None
        for c in wanted:
            starts[c] = first if c == 0 else edges[:, c - 1] + 1
            ends[c] = edges[:, c]
        return Columns(self, starts, ends)

    def _general(self, count: int, wanted: tuple[int, ...], layout: str) -> Columns:
        text = self.bytes[: self.size]
        odd = text < 32
        odd &= (text < 9) | (text > 13)
        odd |= text == 127
        if odd.any():
            at = int(np.argmax(odd))
            raise self.fail_at(
                at,
                f"control character {text[at]:#04x} in the text",
                "is this a text file? save it as UTF-8 text",
            )
        ink = text > _SPACE
        edge = np.flatnonzero(ink[1:] != ink[:-1]) + 1
        if ink[0]:
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
        wrong = per_line != count
        if wrong.any():
            row = int(np.argmax(wrong))
            line_start = int(edge[2 * first[row]])
            raise self.fail_at(
                line_start,
                f"{per_line[row]} column{'s' if per_line[row] > 1 else ''} where {count} are expected",
                f"write each line as: {layout}",
            )
        return Columns(
            self,
            {c: starts[c::count] for c in wanted},
            {c: ends[c::count] for c in wanted},
        )


def blocks(source: str, text: Bytes, size: int) -> Iterator[Block]:
    """Cut a file's bytes (``size`` of them, ending in a newline, padded) into blocks of whole lines."""
    start = 0
    while start < size:
        end = min(start + _BLOCK, size)
        while end < size:
            window = text[end : min(end + 4096, size)]
            hits = np.flatnonzero(window == _NEWLINE)
            if len(hits):
                end += int(hits[0]) + 1
                break
            end += len(window)
            if end - start > _LONGEST_LINE:
                raise Block(source, text, start, end).fail_at(
                    end - start - 1, "a line of more than 16 MB", "is this a text file of one document a line?"
                )
        yield Block(source, text, start, end)
        start = end


def over_blocks(work: Callable[[Block], T], source: str, text: Bytes, size: int) -> list[T]:
    """Apply ``work`` to every block, on all cores; the error of the earliest bad line wins."""
    cores = usable_cores()
    if size < _SERIAL or cores == 1:
        return [work(b) for b in blocks(source, text, size)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, blocks(source, text, size)))


def usable_cores() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
