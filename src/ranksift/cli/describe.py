"""``ranksift describe``: what is in judgments and runs.

``--format json`` has the keys of :meth:`ranksift.evaluation.describe.Description.to_dict`, after ``ranksift`` (the
version).
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import markdown, show, write, write_json


def describe(
    qrels: options.QrelsFile,
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN...]", help="Runs to describe together with the judgments.")
    ] = None,
    depths: Annotated[
        list[int] | None,
        typer.Option("-k", min=1, help="The depths at which to count judged documents.", show_default="5 10 20"),
    ] = None,
    gains: options.GainsText = "linear",
    on_duplicate: options.DuplicateChoice = "error",
    form: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", "-f", help="The output format.")
    ] = "table",
    out: options.OutFile = None,
) -> None:
    """Describe judgments (label shares, pool sizes, forbidden documents) and runs (lengths, judged documents).

    ranksift describe qrels.txt bm25.run
    """
    from ranksift.evaluation.describe import describe as library

    judgments, named = options.read(qrels, runs or [], on_duplicate)
    result = library(judgments, named or None, gains=gains, k=sorted(set(depths or (5, 10, 20))))
    if form == "json":
        write_json(result.to_dict(), out)
    elif form == "markdown":
        write(markdown(result.parts()), out)
    else:
        show(*result.parts(), out=out)
