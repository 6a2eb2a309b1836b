"""``ranksift verdict``: is this filter worth it.

``--format json`` has the keys of :meth:`ranksift.study.verdict.Verdict.to_dict`, after ``ranksift`` (the version).
``--format csv`` has one row per filtered run and query.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import markdown, note, show, write, write_csv, write_json
from ranksift.cli.spelling import as_options
from ranksift.errors import InputError


def verdict(
    context: typer.Context,
    qrels: options.QrelsFile,
    base: Annotated[str, typer.Argument(metavar="BASE", help="The run before filtering.", show_default=False)],
    filtered: Annotated[
        list[str],
        typer.Argument(
            metavar="FILTERED...",
            help="The same run after filtering; several filters may be given.",
            show_default=False,
        ),
    ],
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="NAME", help="The measure that decides.")
    ] = "nDCG_f@10",
    gains: options.GainsText = "linear",
    unjudged: options.UnjudgedChoice = "zero",
    unjudged_label: options.UnjudgedLabel = None,
    queries: Annotated[
        Literal["qrels", "run"],
        typer.Option("--queries", help="Count every judged query, or only those that the base answers."),
    ] = "qrels",
    on_duplicate: options.DuplicateChoice = "error",
    test: options.Test = "t",
    alpha: options.Alpha = 0.05,
    samples: Annotated[
        int,
        typer.Option(
            "--samples",
            min=1,
            help="The number of samples for the bootstrap of the break-even penalty and for tests that draw samples.",
        ),
    ] = 2000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the random number generator.")] = 0,
    form: Annotated[
        Literal["table", "markdown", "latex", "json", "csv"] | None,
        typer.Option("--format", "-f", help=options.FORMAT_HELP),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write to this file; if its name ends in .html, write a page."
        ),
    ] = None,
) -> None:
    """Say whether a filter is worth it: what it removed, what that changed, and at which penalties it pays.

    ranksift verdict qrels.txt full.run filtered.run --gains "-2=-10"
    """
    from ranksift.study.verdict import verdict as library

    page = out is not None and out.suffix.lower() in (".html", ".htm")
    if page and form not in (None, "table"):
        raise InputError(f"a page is not {form}", remedy=f"leave out --format, or write to a file other than {out}")
    written = options.form_of(form, out)
    options.check_standard_input(qrels, [base, *filtered])
    judgments, _ = options.read(qrels, [], on_duplicate)
    found = library(
        options.without_unjudged(judgments, unjudged_label, gains, options.chosen([measure])),
        base,
        filtered,
        measure,
        gains=gains,
        unjudged=unjudged,
        queries=queries,
        on_duplicate=on_duplicate,
        test=test,
        alpha=alpha,
        samples=samples,
        seed=seed,
    )
    if page:
        from ranksift.report.verdict import verdict_page

        write(as_options(verdict_page(found, command=shlex.join(["ranksift", *(context.obj or [])]))), out)
        show(*found.sentences(), f"The page: {out}")
    elif written == "json":
        write_json(found.to_dict(), out)
    elif written == "csv":
        for line in found.notes:
            note(line)
        frame = found.to_frame()
        write_csv(frame.columns, frame.iter_rows(), out)
    elif written == "latex":
        write(found.table().latex() + "\n", out)
    elif written == "markdown":
        write(markdown(p.replace("\n", " ") if isinstance(p, str) else p for p in found.parts()), out)
    else:
        show(*found.parts(), out=out)
