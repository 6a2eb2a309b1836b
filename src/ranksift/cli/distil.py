"""``ranksift distil``: one text network instead of several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ranksift.cli import options
from ranksift.cli.output import note, show, write
from ranksift.errors import InputError

if TYPE_CHECKING:
    from ranksift.evaluation.table import Table


def distil(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="The model that ranksift train wrote.", show_default=False)
    ],
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help="Texts to learn from (JSONL, CSV or Parquet); their labels are not used.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="MODEL", help="The folder of the smaller model.", show_default=False)
    ],
    held_out: Annotated[
        list[str],
        typer.Option(
            "--held-out",
            metavar="DATA",
            help="Labelled examples that no model was fitted to, to measure the loss in quality; may be repeated.",
        ),
    ] = options.NONE,
    labels: options.LabelWords = None,
    skip_bad_rows: options.SkipBadRows = False,
) -> None:
    """Replace the text networks of all folds and seeds by one, for serving, and report the loss in quality.

    ranksift distil model train.jsonl --held-out test.jsonl --out small
    """
    from ranksift.collection.examples import read_examples
    from ranksift.learning.distillable import Distillable
    from ranksift.learning.model_folder import place_for_a_model
    from ranksift.learning.saved_model import load

    reading = options.reading_of(labels, skip_bad_rows)
    place_for_a_model(out)
    if out.resolve() == Path(model).resolve():
        raise InputError("is the model to be distilled", source=str(out), remedy="name another folder: --out")
    ranker = load(model)
    if not isinstance(ranker, Distillable):
        what = f"is a {type(ranker).__name__}, which has no text networks inside"
        raise InputError(what, source=model, remedy="take a text+LambdaMARTf model, for example")
    known = ranker.read(held_out if len(held_out) > 1 else held_out[0], **reading) if held_out else None
    small = ranker.distilled(read_examples(data if len(data) > 1 else data[0], features=(), **reading), known)
    small.save(out)
    told = small.card_["distilled"]
    if "held_out" in told:
        show(_table(told), f"The model: {out}")
    else:
        write(f"The model: {out}\n")
        note("the loss in quality was not measured: give held-out queries as --held-out")


def _table(told: dict[str, Any]) -> Table:
    """The values on held-out queries of the networks and of the one that replaces them."""
    from ranksift.evaluation.table import Table

    lost, one = told["held_out"], told["in_their_place"]
    rows = [
        [f"{told['networks']} networks", lost["networks"]],
        ["distilled", lost["distilled"]],
        ["difference", lost["difference"]],
        ["standard error", lost["standard_error"]],
    ]
    network = "One network" if one == 1 else f"{one} networks"
    title = f"{network} instead of {told['networks']}, on {lost['queries']} held-out queries"
    return Table(["", lost["measure"]], rows, title=title)
