"""LETOR 4.0: web pages of TREC's million query tracks, in five folds (Microsoft Research, 2009)."""

from __future__ import annotations

import os
from pathlib import Path

from ranksift.collection.examples import Fold, read_examples, together
from ranksift.datasets.folders import file_in
from ranksift.errors import InputError
from ranksift.parameters import integer, path, takes


@takes(folder=path(), fold=integer())
def mq2008(folder: str | os.PathLike[str], fold: int) -> Fold:
    """MQ2008: 784 queries, 15,211 documents, 46 features, labels 0 to 2.

    Parameters
    ----------
    folder
        A folder with ``Fold1`` to ``Fold5`` as they are distributed, or with ``S1.txt`` to ``S5.txt``, from which they
        are made.
    fold
        1 to 5.
    """
    return _fold(Path(folder), fold, "S")


@takes(folder=path(), fold=integer())
def mq2007(folder: str | os.PathLike[str], fold: int) -> Fold:
    """MQ2007: 1,692 queries, 69,623 documents, 46 features, labels 0 to 2; the folder is like that of MQ2008."""
    return _fold(Path(folder), fold, "S")


@takes(folder=path(), fold=integer())
def mq2007_agg(folder: str | os.PathLike[str], fold: int) -> Fold:
    """MQ2007-agg: MQ2007 with 21 features: the document's ranks in 21 rankings, missing where it is not in one.

    The folder is like that of MQ2008; its parts may be called ``A1.txt`` to ``A5.txt``.
    """
    return _fold(Path(folder), fold, "A")


def _fold(folder: Path, fold: int, letter: str) -> Fold:
    if fold not in range(1, 6):
        raise InputError(f"there is no fold {fold}", source=str(folder), remedy="name one from 1 to 5")
    whole = folder / f"Fold{fold}"
    if os.path.isdir(whole):
        return Fold(*(read_examples(_file(whole, name)) for name in ("train", "vali", "test")))
    # Fold 2 learns from parts 2, 3 and 4, tunes on 5 and tests on 1, and so on.
    parts = [read_examples(_file(folder, f"{letter}{(fold - 1 + i) % 5 + 1}")) for i in range(5)]
    return Fold(together(parts[:3]), parts[3], parts[4])


def _file(folder: Path, name: str) -> Path:
    return file_in(folder, f"{name}.txt", remedy="name a folder of LETOR 4.0")
