"""Arguments and options that several commands take."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ranksift.errors import InputError

if TYPE_CHECKING:
    from ranksift.collection.qrels import Qrels
    from ranksift.collection.ragged import Floats
    from ranksift.collection.run import Run
    from ranksift.measures.measure import Measure

#: The default measures.
DEFAULT_MEASURES = "nDCG_f@10 nDCG@10 AP Fdocs@10 GoodFiltered"

# Bytes of runs that take more than a moment to read.
_LONG = 100_000_000

#: The default of an option that may be given several times.
NONE: list[str] = []

QrelsFile = Annotated[
    str, typer.Argument(metavar="QRELS", help="The judgments; - is standard input.", show_default=False)
]
RunFile = Annotated[str, typer.Argument(metavar="RUN", help="The run; - is standard input.", show_default=False)]
RunFiles = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="The runs; - is standard input.", show_default=False)
]
Measures = Annotated[
    list[str],
    typer.Option(
        "--measure",
        "-m",
        metavar="NAMES",
        help="The measures to compute, separated by blanks; may be repeated. ranksift measures lists them.",
    ),
]
GainsText = Annotated[
    str,
    typer.Option(
        "--gains", metavar="GAINS", help="The gain of each label: linear, exp, or exceptions such as -2=-10,3=7."
    ),
]
UnjudgedChoice = Annotated[
    Literal["zero", "drop"],
    typer.Option("--unjudged", help="Unjudged documents keep their rank with gain 0, or are dropped first."),
]
QueriesChoice = Annotated[
    Literal["qrels", "run"],
    typer.Option("--queries", help="Count every judged query (qrels), or only those that the runs answer (run)."),
]
DuplicateChoice = Annotated[
    Literal["error", "first", "best"],
    typer.Option("--on-duplicate", help="A document listed twice: refuse it, or keep the first or the best row."),
]
Test = Annotated[
    Literal["t", "randomization", "bootstrap", "wilcoxon", "unpaired"],
    typer.Option("--test", help="The significance test; all but unpaired are paired."),
]
Alpha = Annotated[float, typer.Option("--alpha", help="The significance level.")]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Another parameter, such as --set by=zscore; may be repeated."),
]
Depth = Annotated[
    int | None,
    typer.Option(
        "--depth", "-M", metavar="N", min=1, help="Count only the first N documents of each list (trec_eval -M)."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="The most memory that the rows of a run may use, such as 2GB; a larger file is read in parts. "
        "[default: half of the free memory]",
    ),
]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option("--engine", help="Where the work is done: on this machine, or on the machines of a Ray cluster."),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="With --engine ray, the head of the cluster, or auto on one of its machines. [default: $RAY_ADDRESS, else "
        "Ray is started on the cores of this machine]",
    ),
]
Rel = Annotated[
    float,
    typer.Option("--rel", "-l", metavar="N", help="The smallest label that counts as relevant (trec_eval -l)."),
]
UnjudgedLabel = Annotated[
    float | None,
    typer.Option("--unjudged-label", metavar="N", help="The label that marks a document as unjudged; TREC uses -1."),
]
ColumnNames = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="ROLE=NAME,...",
        help="The column names of query, doc, label and score, such as query=qid,doc=pid.",
    ),
]
LabelWords = Annotated[
    str | None,
    typer.Option("--labels", metavar="WORDS", help="The labels that words stand for, such as good=2,bad=-1."),
]
SkipBadRows = Annotated[
    bool,
    typer.Option("--skip-bad-rows", help="Leave out the rows of a table that cannot be read, and report how many."),
]
#: How the format of results is chosen if there are tables for papers.
FORMAT_HELP = (
    "The output format; by default a table, or the format given by the suffix of --out: .md, .tex, .json, .csv."
)
_BY_NAME = {".md": "markdown", ".tex": "latex", ".json": "json", ".csv": "csv"}
OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to this file instead of standard output.")
]
Digits = Annotated[
    int | None, typer.Option("--digits", min=0, max=17, help="How many digits to show after the decimal point.")
]


def read(qrels: str, runs: list[str], on_duplicate: Literal["error", "first", "best"]) -> tuple[Qrels, list[Run]]:
    """Read judgments and runs; the runs have distinct names."""
    from ranksift.collection.judged_runs import named_runs
    from ranksift.collection.qrels import read_qrels

    check_standard_input(qrels, runs)
    judgments = read_qrels(qrels, on_duplicate=on_duplicate)
    if not runs:
        return judgments, []
    return judgments, named_runs(runs, on_duplicate=on_duplicate, progress=progress_of(runs))


_MINUS_ONE = (
    "the label -1 is taken for a forbidden document (gain -1); if it marks unjudged documents, as in TREC's files, "
    "add --unjudged-label -1; if it marks forbidden ones, set its gain with --gains to silence this note"
)


def without_unjudged(judgments: Qrels, label: float | None, gains: str, measures: Iterable[Measure]) -> Qrels:
    """The judgments without the label that says "unjudged"; a note where -1 may say so and a measure minds it."""
    note_minus_one(judgments.labels, label, gains, measures)
    return judgments if label is None else judgments.without_label(label)


def note_minus_one(labels: Floats, label: float | None, gains: str, measures: Iterable[Measure]) -> None:
    """A note where −1 may say "unjudged", and a measure minds it, unless the user has said what it means."""
    told = label is not None or gains != "linear"
    if not told and bool((labels == -1).any()) and any(map(_minds_negative_labels, measures)):
        from ranksift.cli.output import note

        note(_MINUS_ONE)


def _minds_negative_labels(measure: Measure) -> bool:
    """Whether a measure treats a negative label differently from none."""
    return measure.takes("gains") and measure.gains is None and measure.name not in ("nDCG", "nDCG_0", "RBP")


def check_standard_input(qrels: str, runs: list[str]) -> None:
    """Refuse to read standard input twice."""
    if [qrels, *runs].count("-") > 1:
        raise InputError("- is named twice, but standard input can be read only once", remedy="name a file instead")


def on_ray(engine: str, address: str | None) -> bool:
    """Whether the work is for a cluster.

    >>> on_ray("ray", None), on_ray("local", None)
    (True, False)
    """
    if address is not None and engine != "ray":
        raise InputError("--address is only for a Ray cluster", remedy="give --engine ray too")
    return engine == "ray"


def progress_of(runs: list[str]) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """A progress bar for several large runs, nothing for others."""
    from ranksift.cli.output import progress

    return progress("Reading runs", len(runs)) if are_long(runs) and len(runs) > 1 else iter


def are_long(runs: list[str]) -> bool:
    """Whether reading the runs takes more than a moment."""
    return sum(os.path.getsize(run) for run in runs if os.path.isfile(run)) > _LONG


def chosen(measures: list[str]) -> list[Measure]:
    """The measures asked for, or the usual ones."""
    from ranksift.measures.names import parse_measures

    return parse_measures(measures or DEFAULT_MEASURES)


def reading_of(labels: str | None, skip_bad_rows: bool) -> dict[str, Any]:
    """How :func:`read_examples` is to read tables; empty if nothing is asked: LETOR's format has no such things."""
    asked = {"labels": words_of(labels), "skip_bad_rows": skip_bad_rows or None}
    return {name: value for name, value in asked.items() if value is not None}


def words_of(labels: str | None) -> dict[str, float] | None:
    """Labels for words, written as WORD=NUMBER with commas between them.

    >>> words_of("P=2, S=1, F=-1")
    {'P': 2.0, 'S': 1.0, 'F': -1.0}
    """
    if labels is None:
        return None
    found: dict[str, float] = {}
    for pair in labels.split(","):
        word, sign, number = (part.strip() for part in pair.rpartition("="))
        if not sign or not word or word in found:
            raise InputError(
                f"--labels {labels!r} is not a list of WORD=NUMBER", remedy="write it as --labels good=2,bad=-1"
            )
        found[word] = numbers_of(number, "--labels")[0]
    return found


def columns_of(text: str | None) -> dict[str, str] | None:
    """Names of columns, written as ROLE=NAME with commas between them.

    >>> columns_of("query=qid, doc=pid")
    {'query': 'qid', 'document': 'pid'}
    """
    from ranksift.collection.readers.column_names import checked

    if text is None:
        return None
    found: dict[str, str] = {}
    for pair in text.split(","):
        role, sign, name = (part.strip() for part in pair.partition("="))
        if not sign:
            raise InputError(
                f"--columns {text!r} is not a list of ROLE=NAME", remedy="write it as --columns query=qid,doc=pid"
            )
        if role in found:
            raise InputError(f"--columns {text!r} names the {role} twice", remedy="give each role one column")
        found[role] = name
    return checked(found)


def numbers_of(text: str, option: str) -> tuple[float, ...]:
    """Numbers with blanks, commas or slashes between them.

    >>> numbers_of("0.64 0.16 0.20", "--shares")
    (0.64, 0.16, 0.2)
    """
    try:
        return tuple(map(float, text.replace(",", " ").replace("/", " ").split()))
    except ValueError:
        raise InputError(f"{option} {text!r}: not a number", remedy="write numbers") from None


def settings_of(given: list[str], option: str = "--set") -> dict[str, Any]:
    """Parameters written as NAME=VALUE; a value is a number, true, false, none, a list, or a word.

    >>> settings_of(["trees=300", "loss=bce", "hidden=[16, 8]"])
    {'trees': 300, 'loss': 'bce', 'hidden': [16, 8]}
    """
    found: dict[str, Any] = {}
    for setting in given:
        name, sign, text = (part.strip() for part in setting.partition("="))
        if not sign or not name:
            raise InputError(
                f"{option} {setting!r} is not of the form NAME=VALUE", remedy=f"write it as {option} name=value"
            )
        if name in found:
            raise InputError(f"{option} names {name!r} twice", remedy="name it once")
        found[name] = value_of(name, text)
    return found


def value_of(name: str, text: str) -> Any:
    """The value of a parameter; of features' scaling, none is a word.

    >>> value_of("depth", "30"), value_of("k", "none"), value_of("scaling", "none")
    (30, None, 'none')
    """
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        words = {"true": True, "false": False, **({} if name == "scaling" else {"none": None})}
        return words.get(text.lower(), text)


def form_of(form: str | None, out: Path | None) -> str:
    """How results are written: as ``--format`` says, else as the name of the file does, else as a table.

    >>> form_of(None, Path("table.tex")), form_of("table", Path("table.tex")), form_of(None, Path("table.txt"))
    ('latex', 'table', 'table')
    """
    return form or (_BY_NAME.get(out.suffix.lower(), "table") if out else "table")


def name_of(run: str | None, names: list[str], paths: list[str]) -> str | None:
    """The name of a run that is given by name or by path."""
    if run is None or run in names or run not in paths:
        return run
    return names[paths.index(run)]
