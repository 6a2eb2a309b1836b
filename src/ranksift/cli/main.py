"""The ``ranksift`` command: its commands, its exit codes, and what it says when something is wrong.

Exit codes: 0 done, 1 a check that was asked for failed, 2 bad input or usage, 70 a fault in RankSift itself,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from errno import EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOSPC, ENOTDIR, EPERM, EROFS
from importlib import import_module
from typing import Any, NoReturn

import typer

from ranksift import __version__
from ranksift.cli.completion import ASKED
from ranksift.cli.output import flush, is_terminal, prepared, say
from ranksift.cli.spelling import as_options
from ranksift.errors import InputError

#: The commands with what they do, in one line; each is the function of its own name in the file of its own name, or a
#: group of commands of that name.
COMMANDS = {
    "evaluate": "Score runs against judgments.",
    "compare": "Test which differences between runs are significant.",
    "explain": "Show what every document added or cost, and the worst queries.",
    "describe": "Describe judgments and runs: labels, pools, lengths.",
    "verdict": "Say whether a filter is worth it, and at which penalties.",
    "check": "Guard a release: fail if a requirement is not met.",
    "study": "Study how well measures work on your runs, with figures.",
    "cutoff": "Learn, apply and compare rules that drop results.",
    "split": "Split examples into training, validation and test sets.",
    "train": "Train a ranker from labelled examples.",
    "tune": "Search for the best parameters of a ranker.",
    "rank": "Rank examples with a trained model.",
    "distil": "Train one text network to replace several, for serving.",
    "serve": "Serve models over HTTP as a reranker that filters.",
    "label": "Collect judgments: find an ordered top k with few questions.",
    "measures": "Show the catalogue of measures, with formulas and papers.",
    "demo": "Walk through everything on built-in data.",
    "completion": "Set up the Tab key to complete commands and options.",
}

#: Commands of two words, where the first one alone is another command, whose help names them. Each is the function of
#: both words in the file of both words.
OF_TWO_WORDS = ("study properties",)

BAD_INPUT, INTERNAL, INTERRUPTED = 2, 70, 130

# Errors of the file system about a path that a user typed.
_OF_A_PATH = {EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOTDIR, EPERM, EROFS}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command line; the exit code."""
    with prepared():
        code = _code(list(arguments) or ["--help"])
        try:
            flush()
        except InputError as error:
            return code or _complain(error)  # one line is enough
    return code


def _code(words: list[str]) -> int:
    """Run a command; the exit code."""
    typed = words
    if " ".join(words[:2]) in OF_TWO_WORDS:
        words = [" ".join(words[:2]), *words[2:]]
    try:
        if ASKED in os.environ:
            from typer.completion import completion_init  # type: ignore[attr-defined]

            completion_init()  # typer knows the shells only then
        result = application(_named(words))(words, prog_name="ranksift", standalone_mode=False, obj=typed)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit:  # typer exits like this when no one reads the help any more
        return 0
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a group of commands, and none of them named
            return _code([*typed, "--help"])
        if os.environ.get("RANKSIFT_DEBUG"):
            raise
        return _complain(error)
    return result if isinstance(result, int) else 0


def application(load: Collection[str] = tuple(COMMANDS)) -> typer.Typer:
    """The commands; only those to ``load`` are imported, the others are there for the list of commands."""
    app = typer.Typer(
        help="Rank the good, filter the forbidden, and measure both.",
        epilog="Files are TREC qrels and runs, CSV, Parquet or JSONL (also .gz, .zst); - is standard input.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if is_terminal(sys.stdout) else None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name, line in COMMANDS.items():
        what: Callable[..., Any] | typer.Typer = (
            getattr(import_module(f"ranksift.cli.{name}"), name) if name in load else _not_loaded
        )
        if isinstance(what, typer.Typer):
            for command in what.registered_commands:  # else a list of commands has the first 45 characters of each
                command.short_help = " ".join((command.callback.__doc__ or "").partition("\n\n")[0].split())
            app.add_typer(what, name=name, short_help=line)
        else:
            app.command(name, short_help=line, help=None if name in load else line)(what)
    for name in OF_TWO_WORDS:
        if name in load:
            place = name.replace(" ", "_")
            app.command(name, hidden=True)(getattr(import_module(f"ranksift.cli.{place}"), place))
    return app


def _options(
    version: bool = typer.Option(
        False, "--version", help="Show the version.", is_eager=True, callback=lambda on: _version(on)
    ),
) -> None: ...


def _version(asked: bool) -> None:
    if asked:
        print(f"ranksift {__version__}")
        raise typer.Exit


def _not_loaded() -> None:
    raise NotImplementedError


def _named(arguments: Sequence[str]) -> Collection[str]:
    """The command that the arguments name; where a shell asks for completions, the one in what was typed so far."""
    if ASKED in os.environ:
        typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
        return [word for word in typed.split() if word in COMMANDS][:1]
    return [word for word in arguments if not word.startswith("-")][:1]


#: What to write for options of trec_eval that ``ranksift evaluate`` has not.
_AS_IN_TREC_EVAL = {
    "-c": "queries that the run does not answer count by default, as with trec_eval -c; ",
    "-J": "trec_eval's -J is --unjudged drop here; ",
}


def _complain(error: Exception) -> int:
    """Say in one line what is wrong; the exit code."""
    if isinstance(error, InputError):
        say(as_options(str(error)))
        return BAD_INPUT
    usage = getattr(error, "format_message", None)
    if usage is not None:
        context = getattr(error, "ctx", None)
        command = "ranksift" if context is None else context.command_path
        what = " ".join(str(usage()).split()).rstrip(".")
        known = _AS_IN_TREC_EVAL.get(getattr(error, "option_name", ""), "") if command == "ranksift evaluate" else ""
        say(InputError(f"{command}: {what}", remedy=f"{known}see: {command} --help"))
        return BAD_INPUT
    if isinstance(error, OSError) and error.errno == ENOSPC:
        say("ranksift: no space left on the device; make room")
        return BAD_INPUT
    if isinstance(error, OSError) and error.errno in _OF_A_PATH and error.filename is not None:
        what = f"cannot be used ({error.strerror})"
        say(InputError(what, source=os.fsdecode(error.filename), remedy="check the path"))
        return BAD_INPUT
    if isinstance(error, MemoryError):
        say("ranksift: not enough memory; use fewer runs, documents or features at a time")
        return BAD_INPUT
    fault = InputError(f"ranksift: a fault in RankSift; please report it: {type(error).__name__}: {error}",
                       remedy="RANKSIFT_DEBUG=1 shows where")  # fmt: skip
    say(fault)
    return INTERNAL


if __name__ == "__main__":
    main()
