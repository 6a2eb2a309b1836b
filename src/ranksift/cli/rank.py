"""``ranksift rank``: a run from a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ranksift.cli import options
from ranksift.cli.output import note
from ranksift.errors import InputError

if TYPE_CHECKING:
    from ranksift.cutoffs.cutoff import Cutoff


def rank(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="The model that ranksift train wrote.", show_default=False)
    ],
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA...", help="Examples: LETOR, CSV, JSONL or Parquet files.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="RUN", help="Write the run to this file. [default: standard output]"),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The name of the run. [default: the name of the model's folder]")
    ] = None,
    at_most: Annotated[
        str | None,
        typer.Option(
            "--at-most",
            metavar="LIMITS",
            help='Drop documents within these limits, such as "Empty<=0.1 GoodFiltered<=0.3".',
        ),
    ] = None,
    labels: options.LabelWords = None,
    skip_bad_rows: options.SkipBadRows = False,
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Drop nothing, whatever the model's cutoff says.")
    ] = False,
    engine: options.Engine = "local",
    address: options.Address = None,
) -> None:
    """Rank examples with a model, and leave out what its cutoff drops.

    ranksift rank model test.txt --out model.run
    """
    from ranksift.learning.saved_model import load

    if out is not None and out.exists() and any(Path(one).exists() and out.samefile(one) for one in data):
        raise InputError("is an input of this command", source=str(out), remedy="write the run to another file")
    if out is not None and Path(model).resolve() in out.resolve().parents:
        raise InputError("is in the folder of the model", source=str(out), remedy="write the run elsewhere")
    if keep_all and at_most is not None:
        raise InputError("--keep-all drops nothing, and --at-most limits what is dropped", remedy="leave one out")
    if options.on_ray(engine, address):
        from ranksift.scale.ranking import rank as rank_on_ray

        reading = options.reading_of(labels, skip_bad_rows)
        target = "-" if out is None else out
        found = rank_on_ray(
            model, data, target, address=address, name=name, at_most=at_most, keep_all=keep_all, **reading
        )
        _tell(found.left_unread, found.documents, found.shown, None if keep_all else load(model).cutoff_)
        return
    ranker = load(model)
    if at_most is not None:
        ranker.at_most(at_most)
    examples = ranker.read(data, **options.reading_of(labels, skip_bad_rows))
    if keep_all:
        ranker.cutoff_ = None
    run = ranker.rank(examples, name=name or Path(model).resolve().name)
    run.save("-" if out is None else out)
    _tell(ranker.left_unread(), len(examples), len(run), ranker.cutoff_)


def _tell(left_unread: str, documents: int, shown: int, cutoff: Cutoff | None) -> None:
    """Say what was not read of texts, and what the cutoff dropped."""
    if left_unread:
        note(left_unread)
    if cutoff is not None:
        note(f"{documents - shown} of {documents} documents dropped by the model's cutoff, {cutoff.rule}")
