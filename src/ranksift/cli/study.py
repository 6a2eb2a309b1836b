"""``ranksift study``: how well measures work on your own runs, as a page with figures and tables."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import progress, show
from ranksift.errors import InputError, missing_library

#: In the study's folder, until it is done: values of runs that were evaluated.
CACHE = "evaluated"


def study(
    context: typer.Context,
    qrels: Annotated[
        str | None, typer.Argument(metavar="QRELS", help="The judgments; - is standard input.", show_default=False)
    ] = None,
    runs: Annotated[list[str] | None, typer.Argument(metavar="RUN...", help="The runs.", show_default=False)] = None,
    measures: options.Measures = options.NONE,
    scores: Annotated[
        list[str],
        typer.Option(
            "--scores",
            metavar="TABLE",
            help="Read scores instead of runs: CSV or Parquet, long or topic × system, as [NAME=]FILE; may be "
            "repeated.",
        ),
    ] = options.NONE,
    against: Annotated[
        list[str],
        typer.Option(
            "--against",
            metavar="FILE",
            help="Another collection to compare with: its judgments, then its runs (without runs, the same ones); "
            "with --scores, its tables. Repeat the option for each file.",
        ),
    ] = options.NONE,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The folder for the page, the figures and the tables; required unless --only is given.",
        ),
    ] = None,
    preset: Annotated[
        Literal["forbidden-2022", "negative-2020", "bounds-2022", "quit-2016", "topk-2012"] | None,
        typer.Option("--preset", help="Use the measures, gains and parameters of a published study."),
    ] = None,
    only: Annotated[
        list[str],
        typer.Option(
            "--only",
            metavar="PROCEDURES",
            help="Apply only these procedures, separated by blanks; may be repeated.",
        ),
    ] = options.NONE,
    gains: Annotated[
        str | None,
        typer.Option(
            "--gains", metavar="GAINS", help="The gain of each label: linear, exp, or exceptions such as -2=-10."
        ),
    ] = None,
    unjudged: Annotated[
        Literal["zero", "drop"] | None,
        typer.Option("--unjudged", help="Unjudged documents keep their rank with gain 0, or are dropped first."),
    ] = None,
    queries: options.QueriesChoice = "qrels",
    on_duplicate: options.DuplicateChoice = "error",
    nil: Annotated[str | None, typer.Option("--nil", metavar="ID", help="The document that ends a list.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="The length of the longest list that is allowed.")
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples", min=1, help="How many bootstrap samples to draw. [default: 1000]", show_default=False
        ),
    ] = None,
    topic_sets: Annotated[
        int | None,
        typer.Option(
            "--topic-sets", min=1, help="How many topic sets of each size to draw. [default: 200]", show_default=False
        ),
    ] = None,
    fuzziness: Annotated[
        float | None,
        typer.Option(
            "--fuzziness", min=0, help="Differences up to this size are ties. [default: 0.01]", show_default=False
        ),
    ] = None,
    fuzz: Annotated[
        Literal["absolute", "relative", "relative_smaller"] | None,
        typer.Option(
            "--fuzz", help="Whether --fuzziness is absolute or relative. [default: absolute]", show_default=False
        ),
    ] = None,
    counts: Annotated[
        Literal["trials", "topics"] | None,
        typer.Option(
            "--counts", help="Whether error rates count trials or topics. [default: trials]", show_default=False
        ),
    ] = None,
    method: Annotated[
        Literal["sakai", "sign"] | None,
        typer.Option("--method", help="The bootstrap method. [default: sakai]", show_default=False),
    ] = None,
    test: Annotated[
        Literal["t", "randomization", "bootstrap", "wilcoxon", "unpaired"] | None,
        typer.Option(
            "--test", help="The significance test; all but unpaired are paired. [default: t]", show_default=False
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="The significance level. [default: 0.05]", show_default=False),
    ] = None,
    types_size: Annotated[
        str | None,
        typer.Option(
            "--types-size",
            metavar="SIZE",
            help="How many queries to take as uninformative, and how many as ideal: a number, or a share such as 0.1.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, help="The seed of the random number generator; the same seed gives the same files."
        ),
    ] = 0,
    title: Annotated[str, typer.Option("--title", help="The title of the page.")] = "What are these measures worth?",
) -> None:
    """Study measures: how bounded, stable, sensitive, reliable and discriminating they are on your runs.

    ranksift study qrels.txt *.run -m "nDCG@10 nDCG_f@10 AP" --out study

    To see what follows from the formulas alone, without any run, use ranksift study properties.
    """
    from ranksift.evaluation.cache import forget
    from ranksift.plotting import can_draw
    from ranksift.report.study import scores_of, write_study
    from ranksift.report.study_folder import PAGE, check_folder
    from ranksift.study.survey import QUESTIONS, survey

    given: dict[str, dict[str, Any]] = {
        "stability": {"samples": topic_sets, "fuzziness": fuzziness, "fuzz": fuzz, "counts": counts},
        "sensitivity": {"samples": samples, "method": method},
        "reliability": {"samples": samples},
        "discrimination": {"test": test, "alpha": alpha},
        "query_types": {"size": None if types_size is None else _size(types_size)},
        "penalty_sweep": {"alpha": alpha},
    }
    parameters = {name: {k: v for k, v in p.items() if v is not None} for name, p in given.items()}
    chosen = [word for words in only for word in words.replace("-", "_").split()]
    if out == "" or (out is None and not chosen):
        remedy = "say where the page goes: --out DIR; or what to print without a page: --only PROCEDURES"
        raise InputError("no folder is named", remedy=remedy)
    if out and not can_draw():
        raise missing_library("the report needs", "matplotlib", "report")
    folder = Path(out) if out else None
    cache = folder / CACHE if folder else None
    if folder:
        check_folder(folder)
    if scores:
        of_runs = {
            "--gains": gains, "--unjudged": unjudged, "--nil": nil, "--limit": limit, "--types-size": types_size,
        }  # fmt: skip
        _refuse_with_scores([qrels, *(name for name, value in of_runs.items() if value is not None)])
        subject = _ready(scores, measures)
        beside = _ready(against, measures) if against else None
    else:
        options.check_standard_input(qrels or "", [*(runs or []), *against])
        subject = _evaluated(qrels, runs or [], on_duplicate, cache)
        other = against[1:] or runs or []
        beside = _evaluated(against[0], other, on_duplicate, cache) if against else None
    found = survey(
        **subject,
        against=beside,
        names=_collections(scores or [qrels or ""], against if scores else against[:1]),
        measures=measures or None,
        preset=preset,
        gains=gains,
        unjudged=unjudged,
        queries=queries,
        nil=nil,
        limit=limit,
        only=chosen or None,
        seed=seed,
        parameters={name: p for name, p in parameters.items() if p},
        progress=progress("Studying", len(chosen or QUESTIONS)),
    )
    if folder is None:
        show(*found.tables(whole=True))
        return
    drawn = progress("Drawing", len(found.parts))
    write_study(found, folder, title=title, command=_command(context.obj), progress=drawn)
    forget(folder / CACHE)
    scores_first = [] if chosen or found.against else [scores_of(found)]
    show(*scores_first, *found.tables(), f"The page: {folder / PAGE}")


def _size(text: str) -> int | float:
    """A number of queries, or a share of them."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    raise InputError(f"--types-size {text!r} is not a number", remedy="give a number of queries, or a share up to 0.5")


def _refuse_with_scores(given: list[str | None]) -> None:
    """Refuse options that have no meaning for ready scores."""
    for word in given:
        if word is not None:
            raise InputError(f"{word!r} and --scores are given", remedy="give ready scores, or judgments and runs")


def _ready(tables: list[str], measures: list[str]) -> dict[str, Any]:
    """Scores that were computed elsewhere; one measure may be a name for the one that they are of."""
    from ranksift.evaluation.score_table import read_scores

    given = dict(_named(table) for table in tables)
    if len(given) < len(tables):
        raise InputError("a table is given twice", remedy="give every table its own measure: --scores NAME=FILE")
    if any(name != path for name, path in given.items()):
        return {"scores": read_scores(given)}
    one = measures[0] if len(measures) == 1 and len(measures[0].split()) == 1 else None
    return {"scores": read_scores(tables[0], one) if len(tables) == 1 else read_scores(tables)}


def _named(table: str) -> tuple[str, str]:
    """What ``NAME=FILE`` says; a file's own name if there is no other."""
    name, sign, path = table.partition("=")
    return (name, path) if sign and name and not Path(table).exists() else (table, table)


def _collections(first: list[str], second: list[str]) -> tuple[str, str]:
    """What two collections are called: what sets the names of their first files apart, or else with the folders."""
    both = [[Path(_named(file)[1]) for file in files] or [Path()] for files in (first, second)]
    paths = [files[0] for files in both]
    stems = [path.name.strip(".").partition(".")[0] or "-" for path in paths]
    shared = [_beginning([path.stem for path in files]) for files in both]  # web2012_ap.csv, web2012_rr.csv: web2012
    words = [path.name.split(".") for path in paths]  # qrels.web2012.txt and qrels.web2013.txt: web2012 and web2013
    start = _alike(*words)
    end = _alike(*(word[start:][::-1] for word in words))
    apart = [".".join(word[start : len(word) - end]) for word in words]
    whole = [str(PurePosixPath(path.parent.name, path.name)) for path in paths]
    for one, two in (*([shared] if max(map(len, both)) > 1 else []), stems, apart, whole):
        if one and two and one != two:
            return one, two
    return "the first", "the second"


def _beginning(names: list[str]) -> str:
    """What all names begin with."""
    return reduce(lambda one, two: one[: _alike(one, two)], names).rstrip("_-. ")


def _alike(one: Sequence[str], two: Sequence[str]) -> int:
    """How many words, or letters, they begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def _evaluated(
    qrels: str | None, runs: list[str], on_duplicate: Literal["error", "first", "best"], cache: Path | None
) -> dict[str, Any]:
    """Judgments and runs; large runs are read one at a time, and what was evaluated is kept until the study is done."""
    from ranksift.collection.qrels import read_qrels

    if not qrels or not runs:
        raise InputError("no run is given", remedy="name judgments and runs, or ready scores: --scores TABLE")
    if on_duplicate == "error" and "-" not in runs and options.are_long(runs):
        return {"qrels": read_qrels(qrels), "runs": runs, "cache": cache}
    judgments, read = options.read(qrels, runs, on_duplicate)
    return {"qrels": judgments, "runs": read}


def _command(typed: list[str]) -> str:
    """The command as it was typed, without the folder, so that the page is the same in every folder."""
    words, kept = iter(typed), []
    for word in words:
        if word in ("--out", "-o"):
            next(words, None)
        elif not word.startswith("--out=") and not (word.startswith("-o") and len(word) > 2):
            kept.append(word)
    return shlex.join(["ranksift", *kept, "--out"]) + " DIR"
