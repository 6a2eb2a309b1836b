"""What labelling costs: time per judgment and per query, judgments per query, and when a project will be done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

import numpy as np

from ranksift.collection.ragged import Floats, Ints
from ranksift.labelling.agreement import INDEPENDENT, Estimate, effective_entries
from ranksift.labelling.records import Entry, Purpose, Task

By = Literal["tool", "strategy", "person"]

#: Judgments whose time is this many interquartile ranges outside of the quartiles, on a logarithmic scale.
FENCE = 3.0
#: Fewer timed judgments have no outliers worth the name.
_FEWEST = 20


class Outliers(NamedTuple):
    """Judgments whose time looks wrong, by kind.

    Attributes
    ----------
    slow, fast
        Far outside of what is usual for the tool, on a logarithmic scale: an assessor who was distracted, or who
        pressed a key by mistake.
    untimed
        Without a time, as judgments that were imported.
    seconds_without
        Mean seconds per judgment without slow and fast ones.
    """

    slow: int
    fast: int
    untimed: int
    seconds_without: float


@dataclass(frozen=True)
class Cost:
    """A row of the paper's Table 1.

    Attributes
    ----------
    tool, strategy, person
        What the row is about; empty if it is about all of them.
    tasks
        Finished tasks, each a query of one assessor: values per query are about these.
    judgments
        Answers that count, in finished tasks and others.
    undone, skipped
        Answers that were undone, and questions left for later.
    seconds, median_seconds
        Active time per judgment. The mean includes all active time of a task, even that of undone answers and skipped
        questions; the median is that of single answers.
    minutes, median_minutes
        Active time per query.
    per_query
        Judgments per query.
    outliers
        Judgments whose time looks wrong. They are counted, but not removed: medians do not need that.
    """

    tool: str
    strategy: str
    person: str
    tasks: int
    judgments: int
    undone: int
    skipped: int
    seconds: Estimate
    median_seconds: Estimate
    minutes: Estimate
    median_minutes: Estimate
    per_query: Estimate
    outliers: Outliers

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        plain = {name: getattr(self, name) for name in ("tool", "strategy", "person", "tasks", "judgments")}
        estimates = ("seconds", "median_seconds", "minutes", "median_minutes", "per_query")
        outliers = {name: None if value != value else value for name, value in self.outliers._asdict().items()}
        return {
            **plain,
            "undone": self.undone,
            "skipped": self.skipped,
            **{name: getattr(self, name).to_dict() for name in estimates},
            "outliers": outliers,
        }


def costs(
    entries: Iterable[Entry],
    tasks: Iterable[Task] = (),
    *,
    by: Sequence[By] = ("tool",),
    purposes: Sequence[Purpose] = INDEPENDENT,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Cost]:
    """Cost by tool, strategy, assessor, or several of these.

    Parameters
    ----------
    entries
        The log.
    tasks
        The tasks, which say what is finished and by which strategy. Without them, everything in the log counts as
        finished.
    by
        What gets separate rows.
    purposes
        The purposes of the tasks that count.
    samples, seed, confidence
        The settings of the bootstrap, which resamples tasks.

    Examples
    --------
    >>> costs([])
    []
    """
    known = {task.key: task for task in tasks}
    own: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.purpose in purposes:
            own[entry.task].append(entry)
    times = {tool: _usual([e for log in own.values() for e in log if e.tool == tool]) for tool in ("pairs", "grades")}
    rows: dict[tuple[str, str, str], list[_Spent]] = defaultdict(list)
    for key in sorted(own, key=lambda key: (*_owner(own[key][0]), key)):
        log = own[key]
        task, first = known.get(key), log[0]
        strategy = task.strategy if task else first.more.get("strategy", "")
        about = {"tool": first.tool, "strategy": strategy, "person": first.person}
        name = tuple(about[word] if word in by else "" for word in ("tool", "strategy", "person"))
        rows[name[0], name[1], name[2]].append(_spent(log, task.done if task else True, times[first.tool]))
    return [_cost(name, rows[name], samples, seed, confidence) for name in sorted(rows)]


class Progress(NamedTuple):
    """The progress of a project, and when it will be done.

    Attributes
    ----------
    tasks, done
        Active tasks, and how many of them are finished.
    judgments
        Answers that count so far.
    expected
        How many more are expected.
    minutes
        The active time that these take; NaN if no judgment has a time yet.
    finished
        The day and time at which the last of them is due if work continues at the pace of the last week of
        work; None if there is nothing left, or no pace to go by.
    """

    tasks: int
    done: int
    judgments: int
    expected: float
    minutes: float
    finished: datetime | None


def progress(
    entries: Iterable[Entry], tasks: Iterable[Task], expected: Mapping[str, float], *, now: datetime | None = None
) -> Progress:
    """The progress of a project.

    Parameters
    ----------
    entries, tasks
        The contents of the project.
    expected
        How many more judgments each open task needs, by its key: what its strategy expects.
    now
        From when on the rest is done; by default this moment.
    """
    log = answers(entries)
    active = [task for task in tasks if task.active]
    open_tasks = [task for task in active if not task.done]
    more = sum(expected.get(task.key, 0.0) for task in open_tasks)
    paces: dict[str, list[float]] = defaultdict(list)
    for entry in log:
        if entry.active_seconds > 0:
            paces[entry.tool].append(entry.active_seconds)
    every = [seconds for own in paces.values() for seconds in own]
    mean = {tool: float(np.mean(own)) for tool, own in paces.items()}
    seconds = sum(
        expected.get(task.key, 0.0) * mean.get(task.tool, float(np.mean(every)) if every else np.nan)
        for task in open_tasks
    )
    due = _due(log, more, now or datetime.now(UTC))
    return Progress(len(active), len(active) - len(open_tasks), len(log), more, seconds / 60, due)


def _due(answers: Sequence[Entry], more: float, now: datetime) -> datetime | None:
    """When the rest is done from now on, at the pace of the week before the last judgment."""
    if not answers or more <= 0:
        return None
    last = max(entry.created for entry in answers)
    recent = [entry.created for entry in answers if entry.created > last - timedelta(days=7)]
    span = last - min(recent)
    if len(recent) < 2 or not span:
        return None
    try:
        return max(last, now) + span * (more / (len(recent) - 1))
    except OverflowError:  # after the year 9999
        return None


class _Spent(NamedTuple):
    """What a task took: all its active time, and that of each answer."""

    done: bool
    total: float
    each: Floats
    undone: int
    skipped: int
    slow: int
    fast: int


def _owner(entry: Entry) -> tuple[str, str, str, str]:
    """Keys are drawn: what is computed must not depend on them."""
    return entry.query_id, entry.person, entry.tool, entry.purpose


def answers(entries: Iterable[Entry]) -> list[Entry]:
    """The answers that count: what was not undone and is more than a skip."""
    return [entry for entry in effective_entries(entries) if _answers(entry)]


def _answers(entry: Entry) -> bool:
    return entry.judgment.kind in ("prefer", "grade", "cannot")


def _usual(log: Sequence[Entry]) -> tuple[float, float]:
    """Between which times the judgments of a tool usually lie."""
    timed = np.log([e.active_seconds for e in answers(log) if e.active_seconds > 0])
    if len(timed) < _FEWEST:
        return 0.0, np.inf
    low, high = np.quantile(timed, [0.25, 0.75])
    spread = FENCE * (high - low) + 1e-9  # where all times are equal, rounding must not make them unusual
    return float(np.exp(low - spread)), float(np.exp(high + spread))


def _spent(log: Sequence[Entry], done: bool, usual: tuple[float, float]) -> _Spent:
    counting = answers(log)
    each = np.array([e.active_seconds for e in counting], dtype=np.float64)
    return _Spent(
        done,
        float(sum(e.active_seconds for e in log)),
        each,
        sum(_answers(e) for e in log) - len(counting),
        sum(e.judgment.kind == "skip" for e in log),
        int((each > usual[1]).sum()),
        int(((each > 0) & (each < usual[0])).sum()),
    )


def _cost(name: tuple[str, str, str], spent: Sequence[_Spent], samples: int, seed: int, confidence: float) -> Cost:
    each = np.concatenate([one.each for one in spent])
    owner = np.repeat(np.arange(len(spent)), [len(one.each) for one in spent])
    total = np.array([one.total for one in spent])
    count = np.array([len(one.each) for one in spent], dtype=np.float64)
    done = np.array([one.done for one in spent], dtype=np.float64)
    timed = each > 0
    # A task without any time says nothing about time.
    clocked = np.array([one.total > 0 for one in spent], dtype=np.float64)
    whole = np.ones((1, len(spent)))
    drawn = np.random.default_rng(seed).multinomial(len(spent), np.full(len(spent), 1 / len(spent)), size=samples)

    def estimate(statistic: Callable[[Floats], Floats]) -> Estimate:
        value = float(statistic(whole)[0])
        found = statistic(drawn.astype(np.float64)) if len(spent) > 1 and samples else np.empty(0)
        found = found[np.isfinite(found)]
        if len(found) < 0.9 * samples or not len(found):
            return Estimate(value, np.nan, np.nan)
        low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
        return Estimate(value, float(low), float(high))

    def ratio(above: Floats, below: Floats) -> Estimate:
        return estimate(lambda often: _ratio(often @ above, often @ below))

    unusual = sum(one.slow + one.fast for one in spent)
    usual = [_usual_only(one) for one in spent] if unusual else [each[timed]]
    without = np.concatenate(usual) if usual else np.empty(0)
    timed_done = done * clocked
    return Cost(
        *name,
        tasks=int(done.sum()),
        judgments=int(count.sum()),
        undone=sum(one.undone for one in spent),
        skipped=sum(one.skipped for one in spent),
        seconds=ratio(total * clocked, count * clocked),
        median_seconds=estimate(lambda often: _medians(each[timed], owner[timed], often)),
        minutes=ratio(total * timed_done / 60, timed_done),
        median_minutes=estimate(
            lambda often: _medians(total[timed_done > 0] / 60, np.flatnonzero(timed_done > 0), often)
        ),
        per_query=ratio(count * done, done),
        outliers=Outliers(
            sum(one.slow for one in spent),
            sum(one.fast for one in spent),
            int((~timed).sum()),
            float(without.mean()) if len(without) else np.nan,
        ),
    )


def _usual_only(one: _Spent) -> Floats:
    """Times of a task without its slowest and fastest answers, as many as are out of the usual."""
    timed = np.sort(one.each[one.each > 0])
    return timed[one.fast : len(timed) - one.slow]


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)


def _medians(values: Floats, owner: Ints, often: Floats) -> Floats:
    """The median of values, each as often as its task was drawn."""
    if not len(values):
        return np.full(len(often), np.nan)
    order = np.argsort(values, kind="stable")
    ordered, running = values[order], np.cumsum(often[:, owner[order]], axis=1)
    half = running[:, -1:] / 2
    low = np.argmax(running >= half, axis=1)
    high = np.argmax(running > half, axis=1)
    found = (ordered[low] + ordered[high]) / 2
    return np.where(running[:, -1] > 0, found, np.nan)
