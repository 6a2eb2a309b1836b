"""``ranksift explain``: what every document gave or cost, and which queries lose most.

``--format json`` has the keys of ``to_dict`` of :class:`ranksift.evaluation.explain.QueryExplanation` (with
``--query``) or :class:`ranksift.evaluation.explain.RunExplanation`, after ``ranksift`` (the version).
``--format csv`` has a row for each document of the list, or for each query (the worst ones with ``--worst``), with
the keys of ``documents`` or ``queries`` as columns. The contributions of the documents and ``empty`` of the JSON, the
value of an empty list, add up to the value.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import markdown, show, write, write_csv, write_json


def explain(
    qrels: options.QrelsFile,
    run: options.RunFile,
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="NAME", help="The measure to explain.")
    ] = "nDCG_f@10",
    query: Annotated[
        str | None, typer.Option("--query", metavar="ID", help="Explain this query, document by document.")
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst",
            min=1,
            show_default="10; in CSV all",
            help="How many queries to show, starting with the largest losses.",
        ),
    ] = None,
    gains: options.GainsText = "linear",
    unjudged: options.UnjudgedChoice = "zero",
    unjudged_label: options.UnjudgedLabel = None,
    queries: options.QueriesChoice = "qrels",
    on_duplicate: options.DuplicateChoice = "error",
    form: Annotated[
        Literal["table", "markdown", "json", "csv"], typer.Option("--format", "-f", help="The output format.")
    ] = "table",
    out: options.OutFile = None,
) -> None:
    """Explain a measure's value: what each document added or cost compared with the ideal list.

    ranksift explain qrels.txt bm25.run -m nDCG_f@10 --query q17
    """
    from ranksift.evaluation.explain import QueryExplanation, RankedDocument, RunExplanation
    from ranksift.evaluation.explain import explain as library

    judgments, (named,) = options.read(qrels, [run], on_duplicate)
    judgments = options.without_unjudged(judgments, unjudged_label, gains, options.chosen([measure]))
    result: QueryExplanation | RunExplanation = library(
        judgments, named, measure, query, gains=gains, unjudged=unjudged, queries=queries, worst=worst or 10
    )
    if form == "json":
        write_json(result.to_dict(), out)
    elif form == "csv":
        if isinstance(result, QueryExplanation):
            header, rows = [f.name for f in fields(RankedDocument)], [asdict(d) for d in result.documents]
        else:
            rows = [q.to_dict() for q in result.queries[:worst]]
            header = list(rows[0])
        write_csv(header, (list(row.values()) for row in rows), out)
    elif form == "markdown":
        write(markdown(result.parts()), out)
    else:
        show(*result.parts(), out=out)
