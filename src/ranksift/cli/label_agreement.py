"""``ranksift label agreement``: how well the assessors of a project agree.

``--format json`` has the keys of :meth:`ranksift.report.labelling.Findings.to_dict`, after ``ranksift`` (the version).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ranksift.cli.label_place import Place
from ranksift.cli.output import markdown, show, write, write_json

if TYPE_CHECKING:
    from ranksift.evaluation.table import Table


def agreement(
    project: Place,
    symmetrised: Annotated[
        bool,
        typer.Option(
            "--symmetrised", help="Make the preference matrices symmetric: each assessor is the first one in turn."
        ),
    ] = False,
    samples: Annotated[
        int, typer.Option("--samples", min=1, max=100_000, help="The number of bootstrap samples of queries.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the bootstrap.")] = 0,
    form: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", "-f", help="The output format.")
    ] = "table",
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to this file.")] = None,
) -> None:
    """Show how well assessors agree: preference matrices, κ and α with intervals, pair by pair.

    ranksift label agreement restaurants
    """
    from ranksift.labelling.exports import Contents
    from ranksift.labelling.store import Store
    from ranksift.report.labelling import agreement_tables, findings, how_alike

    with Store.open(project) as store:
        contents = Contents.of(store)
    found = findings(contents, samples=samples, seed=seed)
    if form == "json":
        write_json(found.to_dict(), out)
        return
    parts: list[Table | str] = [
        *(agreement_tables(found, symmetrised=symmetrised) if found.kinds else []),
        "\n".join(how_alike(found)),
    ]
    if form == "markdown":
        write(markdown(parts), out)
    else:
        show(*parts, out=out)
