"""Where a labelling project lies, as commands take it: an argument, or an environment variable."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ranksift.errors import InputError

#: Names the project, so that a password need not be typed or stand in a list of processes.
VARIABLE = "RANKSIFT_LABEL_PROJECT"


def place_of(project: str) -> str:
    """The place of a project; ``-`` is the one that the environment names.

    Examples
    --------
    >>> place_of("restaurants")
    'restaurants'
    """
    if project != "-":
        return project
    place = os.environ.get(VARIABLE, "")
    if not place:
        raise InputError(
            f"- is the project that {VARIABLE} names, but the variable is not set", remedy="set it, or name a folder"
        )
    return place


Place = Annotated[
    str,
    typer.Argument(
        metavar="PROJECT",
        help=f"The folder of the project, or postgresql://...; - uses the project that {VARIABLE} names.",
        show_default=False,
        callback=place_of,
    ),
]
