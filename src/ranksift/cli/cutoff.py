"""``ranksift cutoff``: which results should not be shown.

``fit`` learns a rule from labelled documents, ``apply`` drops documents of a run by it, ``compare`` judges all rules on
queries that they were not fitted on, ``audit`` shows what a rule did.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import check_picture, draw, markdown, note, progress, show, write, write_csv, write_json
from ranksift.cli.spelling import as_options
from ranksift.errors import InputError, RankSiftWarning

if TYPE_CHECKING:
    from ranksift.collection.readers.labelled_run import LabelledRun
    from ranksift.collection.run_parts import RunParts
    from ranksift.cutoffs.cutoff import Cutoff
    from ranksift.evaluation.table import Table

cutoff = typer.Typer(
    help="Learn, apply and compare rules that decide, from the scores of any system, which results not to show.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="QRELS RUN | TABLE",
        help="Judgments and a run, or one table (CSV, Parquet) of query, document, score, label.",
        show_default=False,
    ),
]
CutScores = Annotated[
    str | None,
    typer.Option(
        "--cut-scores", metavar="RUN", help="Cut on these scores of the same documents; the run's own scores rank them."
    ),
]
Rule = Annotated[str, typer.Option("--rule", metavar="NAME", help="The rule; ranksift cutoff rules lists them.")]


@cutoff.command()
def fit(
    context: typer.Context,
    files: Files,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the cutoff to this file, as JSON.")
    ] = None,
    rule: Rule = "global",
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", "-m", metavar="NAME", help="The measure that the cutoff maximises. [default: nDCG_f@3]"
        ),
    ] = None,
    at_most: Annotated[
        str | None,
        typer.Option(
            "--at-most",
            metavar="LIMITS",
            help='Limits for --rule global, such as "Empty<=0.1 GoodFiltered<=0.3".',
        ),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="The largest risk allowed with --rule risk. [default: 0.05]")
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta",
            help="How often --rule risk may exceed --alpha; with none, the risk is controlled in expectation.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", min=1, help="How many documents at the top count with --rule risk. [default: 3]"),
    ] = None,
    settings: options.Settings = options.NONE,
    gains: options.GainsText = "linear",
    unjudged: options.UnjudgedChoice = "zero",
    cut_scores: CutScores = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the measure at every threshold (.svg, .pdf, .png); with --at-most, the trade-off between "
            "forbidden documents shown and good ones dropped.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="Write a page (.html) with a slider that shows what every threshold shows and hides.",
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option("--folds", min=2, help="The number of folds for estimating the value on new queries."),
    ] = 5,
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="How many bootstrap samples to draw for the threshold.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the random number generator.")] = 0,
    form: Annotated[Literal["table", "json"], typer.Option("--format", "-f", help="The output format.")] = "table",
    memory: options.Memory = None,
) -> None:
    """Learn a cutoff from labelled documents.

    ranksift cutoff fit qrels.txt bm25.run --measure nDCG_f@3 --out cutoff.json

    ranksift cutoff fit scored.csv --at-most "Empty<=0.1 GoodFiltered<=0.3" --plot tradeoff.svg

    ranksift cutoff fit scored.csv --rule risk --alpha 0.05 --out cutoff.json
    """
    from ranksift.collection.qrels import read_qrels
    from ranksift.cutoffs.streaming import summarised_in_parts
    from ranksift.cutoffs.summary import summarised
    from ranksift.cutoffs.threshold import GlobalCutoff

    given = {"measure": measure, "at_most": at_most, "alpha": alpha, "delta": _delta(delta), "k": k}
    learned = _rule(rule, given, delta, settings)
    check_picture(plot)
    if plot is not None and not hasattr(learned, "plot"):
        raise InputError(f"the rule {rule} has no picture", remedy="leave --plot out")
    if page is not None:
        from ranksift.report.threshold import has_page, threshold_page

        if not has_page(learned):
            what = f"the rule {rule} has no single threshold to show on a page"
            raise InputError(what, remedy="leave --page out, or use --rule global")
        if page.suffix.lower() not in (".html", ".htm"):
            raise InputError("a page is HTML", source=str(page), remedy="name it .html")
    can = type(learned) is GlobalCutoff and cut_scores is None and page is None
    limited = (
        "--memory is for --rule global, without --cut-scores and --page: everything else holds all documents in memory"
    )
    parts = _in_parts(files, can, limited, memory)
    if parts is None or not isinstance(learned, GlobalCutoff):
        data = _read(files, cut_scores)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)  # the table shows its notes
            learned.fit_run(data.qrels, data.run, cut_scores=data.cut_scores, gains=gains, unjudged=unjudged)
        lists = _lists(data, gains, unjudged)
        summary = summarised(learned, lists, folds=folds, samples=samples, seed=seed)
    else:
        summary = summarised_in_parts(
            learned,
            read_qrels(files[0]),
            parts,
            gains=gains,
            unjudged=unjudged,
            folds=folds,
            samples=samples,
            seed=seed,
        )
    if out is not None:
        learned.save(out)
    if plot is not None:
        draw(learned.plot(), plot)  # type: ignore[attr-defined]
    if page is not None:
        command = shlex.join(["ranksift", *(context.obj or [])])
        write(as_options(threshold_page(summary, lists, command=command)), page)
    if form == "json":
        write_json({**learned.to_dict(), "summary": summary.to_dict()})
    else:
        written = {"cutoff": out, "picture": plot, "page": page}
        places = "\n".join(f"The {what}: {path}" for what, path in written.items() if path is not None)
        show(*([places] if places else []), *summary.parts())


@cutoff.command()
def apply(
    file: Annotated[
        str, typer.Argument(metavar="CUTOFF", help="The cutoff that ranksift cutoff fit wrote.", show_default=False)
    ],
    run: options.RunFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="RUN", help="Write the shorter run to this file. [default: standard output]"
        ),
    ] = None,
    cut_scores: CutScores = None,
    any_scale: Annotated[
        bool,
        typer.Option("--any-scale", help="Accept scores on a different scale from those the cutoff was fitted on."),
    ] = False,
) -> None:
    """Drop documents from a run.

    ranksift cutoff apply cutoff.json bm25.run --out filtered.run
    """
    from ranksift.collection.run import read_run
    from ranksift.cutoffs.cutoff import load_cutoff

    rule, given = load_cutoff(file), read_run(run)
    with _in_words_of_the_command():
        shorter = rule.apply(given, cut_scores=cut_scores, any_scale=any_scale)
    shorter.save("-" if out is None else out)
    empty = int((shorter.lengths == 0).sum() - (given.lengths == 0).sum())
    dropped = len(given) - len(shorter)
    note(f"{dropped} of {len(given)} documents dropped; {empty} of {len(given.query_ids)} queries have no results left")


@cutoff.command()
def compare(
    files: Files,
    rules: Annotated[
        list[str],
        typer.Option(
            "--rules",
            "-r",
            metavar="NAMES",
            help="The rules to compare, or thresholds already in use. [default: all rules]",
        ),
    ] = options.NONE,
    judge_on: Annotated[
        list[str],
        typer.Option(
            "--judge-on",
            metavar="FILE",
            help="Judge on other data: a table, or judgments and a run by giving the option twice.",
        ),
    ] = options.NONE,
    measure: Annotated[
        str | None,
        typer.Option("--measure", "-m", metavar="NAME", help="The measure to compare by. [default: nDCG_f@k]"),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="The k of nDCG_f, nDCG_0, nDCG_min and F-docs.")] = 3,
    folds: Annotated[
        int,
        typer.Option("--folds", min=2, help="The number of folds; each is judged by a rule fitted on the others."),
    ] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the random number generator.")] = 0,
    gains: options.GainsText = "linear",
    unjudged: options.UnjudgedChoice = "zero",
    cut_scores: CutScores = None,
    test: options.Test = "t",
    correction: Annotated[
        Literal["holm", "bonferroni", "bh", "none"],
        typer.Option("--correction", help="The correction for multiple comparisons."),
    ] = "holm",
    alpha: options.Alpha = 0.05,
    apart: Annotated[
        bool, typer.Option("--apart", help="Also show the queries with a single document, and all others, separately.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the trade-off between forbidden documents shown and good ones dropped."
        ),
    ] = None,
    form: Annotated[
        Literal["table", "markdown", "latex", "json", "csv"],
        typer.Option("--format", "-f", help="The output format."),
    ] = "table",
    out: options.OutFile = None,
    memory: options.Memory = None,
) -> None:
    """Judge rules on queries that they were not fitted on.

    ranksift cutoff compare qrels.txt bm25.run --gains="-2=-10" --plot tradeoff.svg
    """
    from ranksift.collection.qrels import read_qrels
    from ranksift.cutoffs.comparison import compare_cutoffs
    from ranksift.cutoffs.streaming import IN_PARTS, compared_in_parts

    check_picture(plot)
    wanted = [_threshold_or_word(word) for given in rules for word in given.split()]
    how: dict[str, Any] = {"rules": wanted or None, "measure": measure, "k": k, "folds": folds, "seed": seed}
    how |= {"significance": test, "correction": correction, "alpha": alpha}
    whole = bool(judge_on or cut_scores or plot or apart)
    # All rules is what is asked for by default: only a limit that was given makes it those that need no more memory.
    fits = bool(wanted) or memory is not None
    can = fits and not whole and all(isinstance(word, float) or word in IN_PARTS for word in wanted)
    limited = (
        f"--memory is for the rules {', '.join(IN_PARTS)} and thresholds, without --cut-scores, --judge-on, --plot "
        "and --apart: everything else holds all documents in memory"
    )
    in_parts = _in_parts(files, can, limited, memory)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)  # the table shows its notes
        if in_parts is not None:
            found = compared_in_parts(read_qrels(files[0]), in_parts, gains=gains, unjudged=unjudged, **how)
        else:
            data = _read(files, cut_scores)
            other = None if not judge_on else _read(judge_on, None)
            if other is not None and (other.cut_scores is None) != (data.cut_scores is None):
                raise InputError(
                    "one of the two sets has scores to cut on, and the other has none",
                    remedy="give tables with cut_score",
                )
            found = compare_cutoffs(
                _lists(data, gains, unjudged),
                test=None if other is None else _lists(other, gains, unjudged),
                progress=progress("Fitting"),
                **how,
            )
    if plot is not None:
        draw(found.plot(), plot)
    parts = found.apart() if apart else {}
    if apart and len(parts) == 1:
        single = "single-document queries" in parts
        note(
            f"there is nothing to show separately: {'all queries have' if single else 'no query has'} a single document"
        )
        parts = {}
    every = [found, *parts.values()]
    if form == "json":
        write_json({**found.to_dict(), **({"apart": {k: p.to_dict() for k, p in parts.items()}} if apart else {})}, out)
    elif form == "csv":
        named = zip(["all queries", *parts], every, strict=True)
        rows = [{**({"of": name} if apart else {}), **row} for name, p in named for row in p.to_dict()["rules"]]
        write_csv(list(rows[0]), (list(row.values()) for row in rows), out)
    elif form == "table":
        shown: list[Table | str] = []
        for part in every:
            shown += [part.table(), *part.reading()]
        show(*shown, out=out)
    elif form == "markdown":
        write(markdown(p.table() for p in every), out)
    else:
        write("\n\n".join(p.table().latex() for p in every) + "\n", out)


@cutoff.command()
def audit(
    file: Annotated[
        str, typer.Argument(metavar="CUTOFF", help="The cutoff that ranksift cutoff fit wrote.", show_default=False)
    ],
    files: Files,
    query: Annotated[
        str | None,
        typer.Option("--query", "-q", metavar="ID", help="Show every document of this query that is dropped."),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", "-m", metavar="NAME", help="The measure for the cost of errors. [default: the rule's own]"
        ),
    ] = None,
    worst: Annotated[int, typer.Option("--worst", min=1, help="How many errors of each kind to show.")] = 10,
    gains: options.GainsText = "linear",
    unjudged: options.UnjudgedChoice = "zero",
    cut_scores: CutScores = None,
    any_scale: Annotated[
        bool,
        typer.Option("--any-scale", help="Accept scores on a different scale from those the cutoff was fitted on."),
    ] = False,
    form: Annotated[
        Literal["table", "markdown", "json", "csv"],
        typer.Option("--format", "-f", help="The output format; csv has one row per document."),
    ] = "table",
    out: options.OutFile = None,
) -> None:
    """Show what a cutoff dropped, by what margin, and which of its errors cost most.

    ranksift cutoff audit cutoff.json qrels.txt bm25.run --gains="-2=-10"
    """
    from ranksift.cutoffs.audit import audit as library
    from ranksift.cutoffs.cutoff import load_cutoff

    rule, data = load_cutoff(file), _read(files, cut_scores)
    with _in_words_of_the_command():
        found = library(rule, _lists(data, gains, unjudged), measure=measure, worst=worst, any_scale=any_scale)
    if form == "json":
        write_json(found.to_dict(), out)
    elif form == "csv":
        frame = found.to_frame()
        write_csv(frame.columns, frame.rows(), out)
    else:
        parts = found.parts() if query is None else (found.dropped(query),)
        if form == "table":
            show(*parts, out=out)
        else:
            write(markdown(parts), out)


@cutoff.command()
def rules(
    rule: Annotated[str | None, typer.Argument(metavar="[RULE]", help="Show the parameters of this rule.")] = None,
) -> None:
    """List the rules and what they do, or show the parameters of one."""
    from ranksift.cutoffs.rules import known_rules, rule_of
    from ranksift.evaluation.table import Table
    from ranksift.parameters import without_marks
    from ranksift.report.parameters import parameter_table

    if rule is not None:
        kind = rule_of(rule)
        show(parameter_table(kind, without_marks(kind.__doc__ or "").partition("\n")[0]))
        return
    shown = [
        [word, (kind.__doc__ or "").split("\n")[0], ", ".join(f"{p}={v}" for p, v in kind().get_params().items())]
        for word, kind in known_rules().items()
    ]
    show(Table(["rule", "what it does", "parameters"], shown))


@contextmanager
def _in_words_of_the_command() -> Iterator[None]:
    """Let a remedy name options, not parameters."""
    try:
        yield
    except InputError as error:
        said = str(error).replace("rank_scores of Lists.from_arrays, ", "")
        said = said.replace("cut_scores of Lists.from_run", "cut_scores").replace("cut_scores", "--cut-scores")
        raise InputError(said) from None


def _lists(data: LabelledRun, gains: str, unjudged: Literal["zero", "drop"]) -> Any:
    from ranksift.collection.lists import Lists

    return Lists.from_run(data.qrels, data.run, cut_scores=data.cut_scores, gains=gains, unjudged=unjudged)


def _threshold_or_word(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def _read(files: list[str], cut_scores: str | None) -> LabelledRun:
    """Judgments and run, or a table of both."""
    from ranksift.collection.qrels import read_qrels
    from ranksift.collection.readers.formats import kind
    from ranksift.collection.readers.labelled_run import LabelledRun, read_labelled_run
    from ranksift.collection.run import read_run

    if len(files) > 2:
        raise InputError(f"{len(files)} files are given", remedy="give judgments and one run, or one table")
    if len(files) == 1:
        if kind(files[0]) not in ("", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq"):
            raise InputError(
                "is not a table", source=files[0], remedy="give judgments and a run, or one .csv or .parquet"
            )
        data = read_labelled_run(files[0])
    else:
        options.check_standard_input(files[0], files[1:])
        data = LabelledRun(read_qrels(files[0]), read_run(files[1]), None)
    return data if cut_scores is None else data._replace(cut_scores=read_run(cut_scores))


def _in_parts(files: list[str], can: bool, limited: str, memory: str | None) -> RunParts | None:
    """The run, where it is too large to be read whole, and what is asked for needs no more than a part at a time.

    ``limited`` says what does, for an error where a limit was given.
    """
    from ranksift.collection.run_parts import MEMORY, RunParts, memory_for
    from ranksift.cutoffs.threshold import TIMES

    if memory is not None:
        MEMORY.check("--memory", memory)
    if len(files) != 2:
        return None
    options.check_standard_input(files[0], files[1:])
    may_take = memory_for(files[1], memory, TIMES)
    if may_take is not None and not can and memory is not None:
        raise InputError(limited, remedy="leave --memory out")
    return RunParts(files[1], memory=may_take) if may_take is not None and can else None


def _rule(name: str, given: dict[str, Any], delta: str | None, settings: list[str]) -> Cutoff:
    """A rule by its name, with the parameters that were given."""
    from ranksift.cutoffs.rules import rule_of

    kind = rule_of(name)
    parameters = {key: value for key, value in given.items() if value is not None}
    if delta is not None and given["delta"] is None:
        parameters["delta"] = None
    parameters |= options.settings_of(settings)
    known = kind().get_params()
    for key in parameters:
        if key == "at_most" and key not in known:
            raise InputError(f"the rule {name} cannot keep limits", remedy="leave --at-most out, or use --rule global")
        if key not in known:
            raise InputError(
                f"the rule {name} has no parameter {key!r}", remedy=f"it has: {', '.join(known) or 'none'}"
            )
    made = kind(**parameters)
    made.check_parameters()  # a typing error is reported before files are read
    return made


def _delta(text: str | None) -> float | None:
    if text is None or text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--delta {text!r} is neither a number nor none", remedy="give a share, such as 0.1") from None
