"""The effect of an assistant's proposals: how much they saved, and whether they biased assessors.

Proposals are shown in a random part of the tasks. Any difference between these and the others, beyond chance, is an
effect of the proposals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranksift.collection.ragged import Floats
from ranksift.labelling.agreement import (
    INDEPENDENT,
    PREFERENCES,
    Agreement,
    Estimate,
    agreement_among,
    effective_entries,
    flagged,
    flags,
    from_grades,
    pairwise,
)
from ranksift.labelling.records import Entry, Task


@dataclass(frozen=True)
class Compared:
    """A number for tasks that showed proposals, compared with that for tasks that did not.

    Attributes
    ----------
    what
        What is compared.
    shown, hidden
        With proposals and without.
    difference
        The first minus the second. An interval without 0 is an effect beyond chance.
    """

    what: str
    shown: Estimate
    hidden: Estimate
    difference: Estimate

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval of the difference leaves out 0."""
        return bool(self.difference.low > 0 or self.difference.high < 0)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        ends = {name: getattr(self, name).to_dict() for name in ("shown", "hidden", "difference")}
        return {"what": self.what, **ends, "beyond_chance": self.beyond_chance}


@dataclass(frozen=True)
class Effect:
    """Results of :func:`effect`.

    Attributes
    ----------
    shown, hidden
        How many tasks showed proposals, and how many did not.
    rows
        Numbers of both, compared: see :data:`ROWS`.
    """

    shown: int
    hidden: int
    rows: tuple[Compared, ...]

    def __getitem__(self, what: str) -> Compared:
        return next(row for row in self.rows if row.what == what)

    @property
    def biased(self) -> bool:
        """Whether assessors flagged documents more often, or less often, because they were proposed."""
        return self[FOLLOWED].beyond_chance

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "tasks_with_proposals": self.shown,
            "tasks_without": self.hidden,
            "biased": self.biased,
            "rows": [row.to_dict() for row in self.rows],
        }


FOLLOWED = "proposed documents that were flagged"
OTHERS = "other documents that were flagged"
JUDGMENTS = "judgments per query"
MINUTES = "minutes per query"
FLAGS_AGREE = "agreement about flags"
PAIRS_AGREE = "agreement about preferences"

#: What is compared, in the order of the rows.
ROWS = (FOLLOWED, OTHERS, JUDGMENTS, MINUTES, FLAGS_AGREE, PAIRS_AGREE)


def effect(
    entries: Iterable[Entry],
    tasks: Iterable[Task],
    proposed: Mapping[str, Collection[str]],
    *,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Effect | None:
    """Compare tasks with and without proposals; None if one of the two kinds is missing.

    Parameters
    ----------
    entries, tasks
        The contents of the project.
    proposed
        By query the documents that the assistant proposes to flag, whether that was shown or not.
    samples, seed, confidence
        The settings of the bootstrap, which resamples queries.

    Notes
    -----
    Only queries that have a proposal are compared: the others have nothing to show, and may differ from the start.
    Agreement is that of assessors who both saw proposals, and of those who both did not: where proposals are shown by
    query rather than by task, these are all of them. Judgments and minutes are those of finished tasks.
    """
    known = {
        task.key: task for task in tasks if task.purpose in INDEPENDENT and task.active and proposed.get(task.query_id)
    }
    log = [entry for entry in entries if entry.task in known]
    arms: list[list[Entry]] = [[], []]
    for entry in log:
        arms[known[entry.task].with_proposals].append(entry)
    hidden, shown = arms
    if not hidden or not shown:
        return None
    queries = sorted({entry.query_id for entry in log})
    tallies = [_tallies(arm, known, proposed, queries) for arm in (shown, hidden)]
    random = np.random.default_rng(seed)
    often = random.multinomial(len(queries), np.full(len(queries), 1 / len(queries)), size=samples)
    rows = []
    for what, (above, below) in zip(ROWS[:4], ((0, 1), (2, 3), (4, 6), (5, 6)), strict=True):
        whole = [_ratio(t.sum(axis=0), above, below) for t in tallies]
        drawn = [_ratio(often @ t, above, below) for t in tallies]
        rows.append(_compared(what, whole, drawn, confidence))
    for what, read in ((FLAGS_AGREE, _of_flags), (PAIRS_AGREE, _of_preferences)):
        by_query = [_agreed(read(arm), queries) for arm in (shown, hidden)]
        whole = [_ratio(t.sum(axis=0), 0, 1) for t in by_query]
        drawn = [_ratio(often @ t, 0, 1) for t in by_query]
        rows.append(_compared(what, whole, drawn, confidence))
    return Effect(len({e.task for e in shown}), len({e.task for e in hidden}), tuple(rows))


def _tallies(
    arm: Iterable[Entry], known: Mapping[str, Task], proposed: Mapping[str, Collection[str]], queries: Sequence[str]
) -> Floats:
    """For each query: proposed documents flagged and seen, others flagged and seen, judgments, minutes, tasks done."""
    found = np.zeros((len(queries), 7))
    row = {query: i for i, query in enumerate(queries)}
    minutes: dict[str, float] = defaultdict(float)
    log = list(arm)
    for entry in log:
        minutes[entry.task] += entry.active_seconds / 60
    counting: dict[str, list[Entry]] = defaultdict(list)
    for entry in effective_entries(log):
        counting[entry.task].append(entry)
    for key, own in counting.items():
        query = own[0].query_id
        named = proposed.get(query, ())
        for doc, flag in flagged(own).items():
            at = 0 if doc in named else 2
            found[row[query], at : at + 2] += (flag, 1)
        if known[key].done:
            answers = sum(e.judgment.kind in ("prefer", "grade", "cannot") for e in own)
            found[row[query], 4:] += (answers, minutes[key], 1)
    return found


def _of_flags(arm: Sequence[Entry]) -> tuple[Agreement, tuple[str, ...]]:
    ratings = flags(arm)
    return agreement_among(ratings, (0.0, 1.0), samples=0), ratings.queries


def _of_preferences(arm: Sequence[Entry]) -> tuple[Agreement, tuple[str, ...]]:
    """The result of the tool that has more preferences in common."""
    both = [pairwise(arm), from_grades(arm)]
    ratings = both[0] if len(both[0]) or not len(both[1]) else both[1]
    return agreement_among(ratings, PREFERENCES, samples=0), ratings.queries


def _agreed(found: tuple[Agreement, tuple[str, ...]], queries: Sequence[str]) -> Floats:
    """For each query: agreeing judgments, and all judgments."""
    result, own = found
    row = {query: i for i, query in enumerate(queries)}
    table = np.zeros((len(queries), 2))
    # Every query of ratings has a unit that two assessors judged, and so a row of counts.
    for query, counts in zip(own, result.of_queries, strict=True):
        table[row[query]] = np.trace(counts), counts.sum()
    return table


def _ratio(tallies: Floats, above: int, below: int) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(tallies[..., above] / tallies[..., below])


def _compared(what: str, whole: Sequence[Floats], drawn: Sequence[Floats], confidence: float) -> Compared:
    def estimate(value: Any, sampled: Floats) -> Estimate:
        usable = sampled[np.isfinite(sampled)]
        if len(usable) < 0.9 * len(sampled) or not len(usable):
            return Estimate(float(value), np.nan, np.nan)
        low, high = np.quantile(usable, [(1 - confidence) / 2, (1 + confidence) / 2])
        return Estimate(float(value), float(low), float(high))

    return Compared(
        what,
        estimate(whole[0], drawn[0]),
        estimate(whole[1], drawn[1]),
        estimate(whole[0] - whole[1], drawn[0] - drawn[1]),
    )
