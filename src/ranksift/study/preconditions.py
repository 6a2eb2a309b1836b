"""The scores under study: is there enough of them, and what should a reader know about them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from ranksift.errors import InputError
from ranksift.evaluation.scores import Scores

#: Beside the largest value of a measure, a difference of aggregates this small is rounding.
ROUNDING = 1e-12

# Tests take differences below 1e-130 for none; values below this one come near that.
_VANISHING = 1e-120


def check_scores(scores: Scores, procedure: str, *, runs: int = 2, queries: int = 2) -> None:
    """Refuse what cannot be studied.

    >>> one = Scores.from_array([[[0.5], [0.7]]], runs=["a"], queries=["q", "r"], measures=["AP"])
    >>> check_scores(one, "stability")
    Traceback (most recent call last):
    ranksift.errors.InputError: stability needs at least 2 runs, there is 1; evaluate more runs
    """
    if not isinstance(scores, Scores):
        raise InputError(
            f"{procedure} takes Scores, not {type(scores).__name__}",
            remedy="give it what evaluate or Scores.from_array returns",
        )
    for noun, plural, names, least in (
        ("run", "runs", scores.runs, runs),
        ("query", "queries", scores.queries, queries),
        ("measure", "measures", scores.measures, 1),
    ):
        if len(names) < least:
            there = f"there {'is' if len(names) == 1 else 'are'} {len(names) or 'none'}"
            wanted = f"{least} {noun if least == 1 else plural}"
            raise InputError(f"{procedure} needs at least {wanted}, {there}", remedy=f"evaluate more {plural}")
    for cube in (scores.numerators, scores.denominators):
        if not np.isfinite(cube).all():
            r, q, m = np.argwhere(~np.isfinite(cube))[0]
            where = f"run {scores.runs[r]!r}, query {scores.queries[q]!r}, measure {scores.measures[m]!s}"
            raise InputError(f"the value of {where} is not finite", remedy="leave that query out, or give it a value")


def peculiarities(scores: Scores) -> tuple[str, ...]:
    """What makes figures look better or worse than they are: copies of one run, measures that are constant.

    >>> scores = Scores.from_array([[[0.5], [0.7]]] * 2, runs=["a", "b"], queries=["q", "r"], measures=["AP"])
    >>> print(*peculiarities(scores))
    the runs 'a' and 'b' have the same values in every query: their pairs can only tie
    """
    largest = np.abs(scores.values).max(axis=(0, 1))
    constant = np.ptp(scores.values, axis=(0, 1)) <= ROUNDING * largest
    copies = defaultdict(list)
    for run, values in zip(scores.runs, scores.values, strict=True):
        copies[(values + 0.0).tobytes()].append(run)  # −0 is 0
    notes = []
    groups = [f"{', '.join(map(repr, same[:-1]))} and {same[-1]!r}" for same in copies.values() if len(same) > 1]
    if groups:
        more = f" (and {len(groups) - 3} more such groups)" if len(groups) > 3 else ""
        names = "; ".join(groups[:3]) + more
        notes.append(f"the runs {names} have the same values in every query: their pairs can only tie")
    for measure, alike, most in zip(scores.measures, constant, largest, strict=True):
        if alike:
            notes.append(f"{measure} has the same value for every run and query: it cannot tell anything apart")
        elif most < _VANISHING:
            notes.append(
                f"{measure} has values below {_VANISHING:g}: differences so small count as none, scale the values"
            )
    return tuple(notes)
