"""Where the story appears: in the terminal as it goes, and on a page afterwards."""

from __future__ import annotations

import io
import shlex
import sys
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cached_property
from pathlib import Path

from ranksift.cli.output import is_terminal, write
from ranksift.collection.qrels import Qrels
from ranksift.collection.run import Run
from ranksift.errors import InputError
from ranksift.report.page import Block, Figure, Paragraph, Section, Session


class Stage:
    """What a chapter acts on: the collection, and ways to say, run and draw.

    Parameters
    ----------
    qrels, runs
        The collection, which also lies in the current folder as ``qrels.txt`` and ``NAME.run``.
    """

    def __init__(self, qrels: Qrels, runs: dict[str, Run]) -> None:
        self.qrels = qrels
        self.runs = runs
        self.sections: list[Section] = []
        self.answer: list[Block] = []

    @cached_property
    def colour(self) -> bool:
        """Whether someone looks at a terminal."""
        return is_terminal(sys.stdout)

    def open(self, title: str) -> None:
        """Begin a chapter."""
        self.sections.append(Section(title))
        line = f"{len(self.sections)}. {title}"
        write(f"\n{self._styled(line, '1;34')}\n{self._styled('─' * len(line), '34')}\n")

    def say(self, text: str) -> None:
        """Say a paragraph; code stands in backticks."""
        words = " ".join(text.split())
        self.sections[-1].blocks.append(Paragraph(words))
        write("\n" + textwrap.fill(words.replace("`", ""), 96) + "\n")

    def run(self, command: str) -> int:
        """Run ``ranksift ...`` as a shell would, and show what it prints; 0, or 1 if a check failed."""
        from ranksift.cli.check import FAILED
        from ranksift.cli.main import INTERRUPTED, run

        self.prompt(command)
        stream = io.StringIO()
        with redirect_stdout(stream), redirect_stderr(stream):
            code = run(list(_expanded(command)))
        output = stream.getvalue()
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code not in (0, FAILED):  # a full disk; later commands would only report missing files
            raise InputError(output.rstrip().rpartition("\n")[2])
        self.printed(command, output, code)
        return code

    def prompt(self, command: str) -> None:
        """Show a command before it runs."""
        write(f"\n{self._styled(f'$ {command}', '1;36')}\n")

    def printed(self, command: str, output: str, code: int = 0) -> None:
        """Show what a command printed."""
        self.sections[-1].blocks.append(Session(command, output, code))
        write(output)
        if code:
            write(f"{self._styled(f'(exit code {code})', '33')}\n")

    def draw(self, svg: str, caption: str) -> None:
        """Put a chart on the page."""
        self.sections[-1].blocks.append(Figure(svg, " ".join(caption.split())))

    def answer_with(self, text: str) -> None:
        """Say a paragraph where the page begins, before its chart."""
        words = sum(isinstance(block, Paragraph) for block in self.answer)
        self.answer.insert(words, Paragraph(" ".join(text.split())))

    def draw_first(self, svg: str, caption: str) -> None:
        """Put a chart where the page begins."""
        self.answer.append(Figure(svg, " ".join(caption.split())))

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def _expanded(command: str) -> Iterator[str]:
    """The words of a command after its name, with patterns of file names as a shell would expand them."""
    for word in shlex.split(command)[1:]:
        if word.startswith("*."):
            yield from sorted(map(str, Path().glob(word)))
        else:
            yield word
