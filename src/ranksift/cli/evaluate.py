"""``ranksift evaluate``: runs and judgments in, scores out. The formats are those of :mod:`ranksift.report.scores`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import note, show, write, write_csv, write_json


def evaluate(
    qrels: options.QrelsFile,
    runs: options.RunFiles,
    measures: options.Measures = options.NONE,
    gains: options.GainsText = "linear",
    unjudged: options.UnjudgedChoice = "zero",
    queries: options.QueriesChoice = "qrels",
    depth: options.Depth = None,
    rel: options.Rel = 1,
    unjudged_label: options.UnjudgedLabel = None,
    columns: options.ColumnNames = None,
    on_duplicate: options.DuplicateChoice = "error",
    per_query: Annotated[bool, typer.Option("--per-query", "-q", help="Show every query.")] = False,
    form: Annotated[
        Literal["table", "markdown", "latex", "json", "csv", "trec"] | None,
        typer.Option("--format", "-f", help=options.FORMAT_HELP),
    ] = None,
    digits: options.Digits = None,
    out: options.OutFile = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache", metavar="DIR", help="Keep the values of every run in this folder, and reuse those already there."
        ),
    ] = None,
    memory: options.Memory = None,
    engine: options.Engine = "local",
    address: options.Address = None,
) -> None:
    """Evaluate runs against judgments.

    ranksift evaluate qrels.txt bm25.run -m "nDCG_f@10 AP" --gains="-2=-10"
    """
    from ranksift.cli.scored import scores_of
    from ranksift.collection.readers.formats import tag_of
    from ranksift.report import scores as report

    wanted, named = options.chosen(measures), options.columns_of(columns)
    options.check_standard_input(qrels, runs)
    scores = scores_of(
        qrels,
        runs,
        wanted,
        unjudged_label=unjudged_label,
        rel=rel,
        cache=cache,
        gains=gains,
        unjudged=unjudged,
        queries=queries,
        on_duplicate=on_duplicate,
        depth=depth,
        columns=named,
        progress=options.progress_of(runs),
        memory=memory,
        engine=engine,
        address=address,
    )
    shown = 4 if digits is None else digits
    written = options.form_of(form, out)
    if written in ("table", "markdown", "latex"):
        n = len(scores.queries)
        # Where a file lies is for the terminal, and not for a table that goes into a text.
        source = "standard input" if qrels == "-" else qrels if written == "table" else Path(qrels).name
        title = f"{source}: {n} quer{'y' if n == 1 else 'ies'}"
        table = report.table(scores, per_query=per_query, digits=shown, title=title)
        if written == "table":
            show(table, out=out)
        else:
            write((table.markdown() if written == "markdown" else table.latex()) + "\n", out)
        return
    if written == "json":
        settings: dict[str, Any] = {"qrels": qrels, "gains": gains, "unjudged": unjudged, "queries": queries}
        settings |= {name: value for name, value, usual in (("depth", depth, None), ("rel", rel, 1)) if value != usual}
        write_json(report.as_json(scores, settings, per_query=per_query, digits=digits), out)
        return
    for line in report.degenerate_notes(scores):
        note(line)
    if written == "csv":
        write_csv(report.csv_header(per_query), report.csv_rows(scores, per_query=per_query, digits=digits), out)
    else:
        tag = tag_of(runs[0]) if len(runs) == 1 else None
        write("".join(report.trec_lines(scores, per_query=per_query, digits=shown, rel=rel, tag=tag)), out)
