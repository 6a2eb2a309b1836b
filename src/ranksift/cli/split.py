"""``ranksift split``: examples in three files, for training, validation and test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ranksift.cli import options
from ranksift.cli.output import note
from ranksift.errors import InputError


def split(
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA...", help="Examples: JSONL, CSV, Parquet or LETOR files.", show_default=False),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The folder of the three parts: train, validation and test.",
            show_default=False,
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Queries with the same value in this column stay in one part."),
    ] = None,
    shares: Annotated[
        str,
        typer.Option("--shares", metavar="SHARES", help="The shares of the queries for training, validation and test."),
    ] = "0.64 0.16 0.20",
    labels: options.LabelWords = None,
    skip_bad_rows: options.SkipBadRows = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the random split.")] = 0,
) -> None:
    """Split examples by query into three files of the same format.

    ranksift split answers.jsonl --out parts --by forum
    """
    from ranksift.collection.examples import read_examples
    from ranksift.collection.readers.example_table import column_by_query
    from ranksift.collection.readers.formats import COMPRESSED, TABLES, kind
    from ranksift.learning.validation import three_parts

    reading = options.reading_of(labels, skip_bad_rows)
    last = Path(data[0]).suffix.lower()
    suffix = (kind(data[0]) if kind(data[0]) in TABLES else ".txt") + last * (last in COMPRESSED)
    files = [out / f"{name}{suffix}" for name in ("train", "validation", "test")]
    for one in data:
        if any(file.exists() and Path(one).exists() and file.samefile(one) for file in files):
            raise InputError(
                "would be overwritten by one of its parts", source=one, remedy="name another folder: --out DIR"
            )
    examples = read_examples(data if len(data) > 1 else data[0], **reading)
    groups = None
    if by is not None:
        groups = {query: group for one in data for query, group in column_by_query(one, by, examples).items()}
        if by in examples.feature_names:
            examples = examples.of_features([name for name in examples.feature_names if name != by])
    parts = three_parts(examples, options.numbers_of(shares, "--shares"), seed, groups=groups)
    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", source=str(out), remedy="name a folder") from None
    written = [(file, part) for file, part in zip(files, parts, strict=True) if part is not None]
    for file, part in written:
        part.save(file)
    note("; ".join(f"{file}: {len(part.query_ids):,} queries, {len(part):,} documents" for file, part in written))
