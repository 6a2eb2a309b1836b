"""``ranksift measures``: the catalogue; the formats are those of :mod:`ranksift.report.catalogue`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import show, write, write_json


def measures(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME...]", help="Show these measures in full.")] = None,
    form: Annotated[
        Literal["text", "json", "markdown"], typer.Option("--format", "-f", help="The output format.")
    ] = "text",
    out: options.OutFile = None,
) -> None:
    """Show the catalogue of measures, with formulas and papers.

    ranksift measures nDCG_f
    """
    from ranksift.report import catalogue

    shown = catalogue.entries(names)
    if form == "json":
        write_json(catalogue.as_json(shown), out)
    elif form == "markdown":
        write(catalogue.markdown(shown) + "\n", out)
    elif names:
        show(*map(catalogue.in_full, shown), out=out)
    else:
        show(catalogue.overview(shown), out=out)
