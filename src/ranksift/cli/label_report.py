"""``ranksift label report``: the progress of a project, the agreement of its assessors and the cost, on one page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ranksift.cli.label_place import Place
from ranksift.cli.output import show, write


def report(
    project: Place,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="PAGE.html", help="The page to write.", show_default=False)
    ],
    samples: Annotated[
        int, typer.Option("--samples", min=1, max=100_000, help="The number of bootstrap samples.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the bootstrap.")] = 0,
) -> None:
    """Write a one-page report: progress, agreement, cost, and what to do next.

    ranksift label report restaurants --out page.html
    """
    from ranksift.labelling.exports import Contents
    from ranksift.labelling.store import Store
    from ranksift.report.labelling import labelling_page

    with Store.open(project) as store:
        contents = Contents.of(store)
        place = store.place  # without a password
    options = [] if (samples, seed) == (1000, 0) else ["--samples", str(samples), "--seed", str(seed)]
    command = shlex.join(["ranksift", "label", "report", str(place), *options, "--out", "PAGE.html"])
    write(labelling_page(contents, command=command, samples=samples, seed=seed), out)
    if str(out) != "-":
        show(f"The page: {out}")
