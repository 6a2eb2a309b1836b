"""Runs what a page shows and puts the output below it, so that no number on a page was typed by hand.

A fenced block ``console`` holds shell commands after ``$ ``, a block ``pycon`` Python after ``>>> ``. All blocks of a
page run one after the other in one folder, which holds the built-in collection when the page begins. A command that
fails stops the build.
"""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

# Haystack reports pipelines that run, unless it is told not to before it is imported.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"

_BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>console|pycon)\n(?P<body>.*?)^ *```$", re.M | re.S)


class BlockError(Exception):
    """A block of a page does not run."""


def run_blocks(markdown: str) -> str:
    """The page with the output of every block."""
    if not _BLOCK.search(markdown):
        return markdown
    with collection() as folder:
        session = Session(folder)
        return _BLOCK.sub(session.answer, markdown)


@contextlib.contextmanager
def collection() -> Iterator[Path]:
    """A folder with the judgments and runs of the built-in collection."""
    from ranksift.datasets.synthetic import synthetic_collection, write_collection

    with tempfile.TemporaryDirectory() as folder:
        write_collection(*synthetic_collection(), folder)
        yield Path(folder)


class Session:
    """A shell and a Python in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "__main__"}
        tools = os.path.dirname(sys.executable)
        path = os.pathsep.join([tools, os.environ.get("PATH", "")])
        self.environment = {**os.environ, "PATH": path, "COLUMNS": "110", "PYTHONWARNINGS": "ignore"}

    def answer(self, block: re.Match[str]) -> str:
        """A block with its output."""
        indent, language = block["indent"], block["language"]
        lines = [line.removeprefix(indent) for line in block["body"].splitlines()]
        said = self.shell(lines) if language == "console" else self.python("\n".join(lines))
        text = "\n".join([f"```{language}", *said.rstrip("\n").splitlines(), "```"])
        return "\n".join(indent + line if line else line for line in text.splitlines())

    def shell(self, lines: list[str]) -> str:
        """Commands, each with its output. A command may fail where the next one shows its exit code."""
        out, status = [], 0
        asked = commands(lines)
        for command, following in zip(asked, [*asked[1:], ""], strict=True):
            script = f"(exit {status}); " + command.removeprefix("$ ").replace("\n> ", "\n")
            done = subprocess.run(
                ["bash", "-c", script], cwd=self.folder, env=self.environment,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900,
            )  # fmt: skip
            status = done.returncode
            if status and "$?" not in following:
                raise BlockError(f"{command}\nexit code {status}\n{done.stdout}")
            out.append(f"{command}\n{done.stdout.rstrip()}\n" if done.stdout.strip() else f"{command}\n")
        return "".join(out)

    def python(self, text: str) -> str:
        """Statements, each with its output."""
        out = []
        for statement in statements(text):
            printed = io.StringIO()
            source = "\n".join(line[4:] for line in statement.splitlines())
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    exec(compile(source + "\n", "<page>", "single"), self.names)
                except Exception as error:
                    if type(error).__name__ != "InputError":
                        raise BlockError(f"{statement}\n{error!r}") from error
                    print(f"{type(error).__module__}.{type(error).__name__}: {error}")
            out.append(f"{statement}\n{printed.getvalue()}")
        return "".join(out)


def commands(lines: list[str]) -> list[str]:
    """The commands of a block: a line that begins with ``> `` continues the one above."""
    found: list[str] = []
    for line in lines:
        if line.startswith("$ "):
            found.append(line)
        elif line.startswith("> ") and found:
            found[-1] += "\n" + line
        elif line.strip():
            raise BlockError(f"not a command: {line!r}")
    return found


def statements(text: str) -> list[str]:
    """The statements of a block: a line that begins with ``... `` continues the one above."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith(">>> "):
            found.append(line)
        elif line.startswith("...") and found:
            found[-1] += "\n" + line
        elif line.strip():
            raise BlockError(f"not a statement: {line!r}")
    for statement in found:
        ast.parse("\n".join(line[4:] for line in statement.splitlines()))
    return found
