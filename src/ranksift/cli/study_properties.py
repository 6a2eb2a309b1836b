"""``ranksift study properties``: which formal properties measures have.

``--format json`` has under ``measures`` for each measure, and in that for each property, ``holds`` (yes, graded,
binary, no, or null if it has no meaning) and ``counterexample`` (words, or null), after ``ranksift`` (the version),
``documents`` and ``lists``. ``--format csv`` has one row per measure and property.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import markdown, progress, show, write, write_csv, write_json

if TYPE_CHECKING:
    from ranksift.evaluation.table import Table


def study_properties(
    measures: options.Measures = options.NONE,
    gains: options.GainsText = "linear",
    documents: Annotated[
        int, typer.Option("--documents", min=2, max=6, help="The largest number of documents in a query.")
    ] = 5,
    counterexamples: Annotated[
        bool, typer.Option("--counterexamples", help="For every property that fails, show a list for which it fails.")
    ] = False,
    form: Annotated[
        Literal["table", "markdown", "json", "csv"], typer.Option("--format", "-f", help="The output format.")
    ] = "table",
    out: options.OutFile = None,
) -> None:
    """Look for lists that contradict Moffat's seven properties of measures, or invariance to scale and shift of gains.

    ranksift study properties -m "nDCG@10 nDCG_f@10" --counterexamples
    """
    from ranksift.study.properties import properties

    found = properties(measures or None, gains=gains, documents=documents, progress=progress("Looking", None))
    if form == "json":
        held = {
            measure: {
                name: {"holds": finding.holds, "counterexample": finding.counterexample and str(finding.counterexample)}
                for name, finding in findings.items()
            }
            for measure, findings in found.found.items()
        }
        write_json({"documents": found.documents, "lists": found.lists, "measures": held}, out)
    elif form == "csv":
        frame = found.to_frame()
        write_csv(frame.columns, frame.iter_rows(), out)
    else:
        parts: list[Table | str] = [found.table()]
        if counterexamples:
            parts.append("\n".join(found.reading()))
        if form == "markdown":
            write(markdown(parts), out)
        else:
            show(*parts, out=out)
