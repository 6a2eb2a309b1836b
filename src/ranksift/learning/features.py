"""Examples with the features that a model was fitted to."""

from __future__ import annotations

import os
import warnings
from typing import Any

from ranksift.collection.examples import Examples, read_examples, together
from ranksift.errors import InputError, RankSiftWarning


def read_as(names: tuple[str, ...], source: Any, **reading: Any) -> Examples:
    """Read examples with the features of a model.

    A table must have a column for each. A LETOR file leaves out what is 0: a feature that it never names is 0, and one
    that the model has never seen is left out; both are told. One that names none of them is refused.

    ``reading`` holds the options of :func:`read_examples` for tables: ``labels`` and ``skip_bad_rows``.
    """
    from ranksift.collection.readers.letor import is_letor, read_letor_as_written

    if isinstance(source, list | tuple):
        return together([read_as(names, one, **reading) for one in source])
    if isinstance(source, Examples):
        same_features(source, names)
        return source
    if reading or not (isinstance(source, str | os.PathLike) and is_letor(source)):
        return read_examples(source, features=names, **reading)
    given, written = read_letor_as_written(source)
    named = next((name for name in names if not name.isdecimal()), None)
    if named is not None:
        raise InputError(
            f"has numbers for features, and the model was fitted to names, such as {named!r}",
            source=given.name,
            remedy="give a table with these columns: .csv, .tsv or .parquet",
        )
    _tell_of_features(given.name, written, names)
    return given if given.feature_names == names else given.padded(names)


def _tell_of_features(source: str, written: frozenset[str], names: tuple[str, ...]) -> None:
    absent, known = [name for name in names if name not in written], set(names)
    new = sorted((name for name in written if name not in known), key=int)
    if names and len(absent) == len(names):
        what = "has none of the features that the model was fitted to, such as feature " + names[0]
        raise InputError(what, source=source, remedy="give the features that the model was fitted to")
    for found, what in ((absent, "occurs on no line, so it is 0"), (new, "is unknown to the model, and left out")):
        if found:
            which = f"feature {found[0]}" + f" (and {len(found) - 1} more)" * (len(found) > 1)
            warnings.warn(f"{source}: {which} {what}", RankSiftWarning, stacklevel=4)


def same_features(examples: Examples, names: tuple[str, ...]) -> None:
    """Refuse examples with other features than those that a model was fitted to."""
    if examples.feature_names == names:
        return
    missing = [n for n in names if n not in examples.feature_names]
    added = [n for n in examples.feature_names if n not in names]
    what = f"has {len(examples.feature_names)} features, and the model was fitted to {len(names)}"
    if missing:
        what += f"; {missing[0]!r} is missing"
    elif added:
        what += f"; {added[0]!r} is new"
    else:
        what = "has the features of the model in another order"
    raise InputError(what, source=examples.name, remedy="give the features that the model was fitted to")
