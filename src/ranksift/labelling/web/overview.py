"""What a lead sees: how far the project is, who does what, and where assessors disagree."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from ranksift.labelling.agreement import (
    Agreement,
    Between,
    Dispute,
    Ratings,
    agreement_among,
    between_people,
    disputes,
    effective_entries,
    flags,
    grades,
    pairwise,
)
from ranksift.labelling.cost import Progress, answers, progress
from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import Entry, Person, Project, Query, Task
from ranksift.labelling.store import Store
from ranksift.labelling.task_state import task_state

_DAYS = 14  # of the chart
_SAMPLES = 300  # of the bootstrap: enough for a page that is renewed every few seconds


@dataclass(frozen=True)
class QueryRow:
    """How far a query is."""

    query_id: str
    text: str
    documents: int
    tasks: int
    done: int
    judgments: int
    expected: float
    seconds: float | None
    forbidden: int
    share: float


@dataclass(frozen=True)
class PersonRow:
    """What an assessor did."""

    person: Person
    tasks: int
    done: int
    judgments: int
    expected: float
    seconds: float | None
    median: float | None
    last: datetime | None
    skipped: int
    undone: int
    share: float


@dataclass(frozen=True)
class ToolRow:
    """What the judgments with a tool cost: the paper's Table 1, live."""

    tool: str
    judgments: int
    median: float | None
    mean: float | None
    per_query: float | None


@dataclass(frozen=True)
class DisputeRow:
    """Something about which assessors disagree."""

    kind: str
    dispute: Dispute
    query: str
    names: tuple[str, ...]
    sayings: tuple[tuple[str, str], ...]
    task: Task | None

    @property
    def value(self) -> str:
        """For a form."""
        return "\t".join((self.kind, self.dispute.query_id, *self.dispute.docs))


@dataclass(frozen=True)
class Overview:
    """All of it.

    Attributes
    ----------
    entries
        The log of tasks that were not withdrawn, for agreement and disagreements.
    """

    project: Project
    progress: Progress
    queries: tuple[QueryRow, ...]
    people: tuple[PersonRow, ...]
    tools: tuple[ToolRow, ...]
    days: tuple[tuple[datetime, int], ...]
    notes: tuple[Entry, ...]
    entries: tuple[Entry, ...]
    made: datetime

    @property
    def share(self) -> float:
        """How much of the work is done, from 0 to 1."""
        return _share(self.progress.judgments, self.progress.expected, self.progress.tasks == self.progress.done)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        finished = self.progress.finished
        minutes = self.progress.minutes
        return {
            "tasks": self.progress.tasks,
            "done": self.progress.done,
            "judgments": self.progress.judgments,
            "expected": round(self.progress.expected, 1),
            "minutes": round(minutes, 1) if np.isfinite(minutes) else None,
            "finished": finished.isoformat() if finished else None,
            "queries": [asdict(row) for row in self.queries],
            "people": [
                {
                    **asdict(row),
                    "person": row.person.id,
                    "name": row.person.name,
                    "last": row.last and row.last.isoformat(),
                }
                for row in self.people
            ],
            "tools": [asdict(row) for row in self.tools],
        }


class Overviews:
    """Makes overviews, no more often than the size of the project allows."""

    def __init__(self, store: Store, seconds: float = 2.0) -> None:
        self.store, self.seconds = store, seconds
        self._lock = threading.Lock()
        self._made: Overview | None = None
        self._until = 0.0
        self._states: dict[tuple[Any, ...], float] = {}

    def get(self, fresh: bool = False) -> Overview:
        """The overview; after a change of the lead's own it has to be ``fresh``."""
        with self._lock:
            start = time.monotonic()
            if self._made is None or fresh or start > self._until:
                self._made = self._make()
                end = time.monotonic()
                self._until = end + max(self.seconds, 10 * (end - start))
            return self._made

    def _make(self) -> Overview:
        store = self.store
        queries, people = store.queries(), store.people()
        tasks, entries = store.tasks(active_only=False), list(store.entries())
        expected = self._expected(queries, tasks, entries)
        counting = answers(entries)
        active = {task.key for task in tasks if task.active}
        return Overview(
            project=store.project,
            progress=progress(entries, tasks, expected),
            queries=tuple(_queries(queries, tasks, counting, expected)),
            people=tuple(_people(people, tasks, entries, counting, expected)),
            tools=tuple(_tools(tasks, counting)),
            days=_days(counting),
            notes=tuple(e for e in sorted(entries, key=lambda e: e.created, reverse=True) if e.note)[:50],
            entries=tuple(entry for entry in entries if entry.task in active),
            made=datetime.now(UTC),
        )

    def _expected(self, queries: Sequence[Query], tasks: Sequence[Task], entries: Sequence[Entry]) -> dict[str, float]:
        """How many judgments each open task still needs. Strategies are asked again only where the log has grown."""
        items = {query.query_id: [item.doc_id for item in query.items] for query in queries}
        logs: dict[str, list[Judgment]] = defaultdict(list)
        for entry in sorted(entries, key=lambda e: e.number):
            logs[entry.task].append(entry.judgment)
        found, states = {}, dict[tuple[Any, ...], float]()
        for task in tasks:
            if not task.active or task.done or task.query_id not in items:
                continue
            docs, log = items[task.query_id], logs[task.key]
            # A task that has not been started is expected to take as long as others of its kind.
            key: tuple[Any, ...] = (
                (task.key, len(docs), len(log))
                if log
                else (task.tool, task.strategy, task.k, len(docs), len(task.pairs))
            )
            if key not in states:
                states[key] = self._states.get(key, -1.0)
                if states[key] < 0:
                    states[key] = task_state(task, docs, log).expected
            found[task.key] = states[key]
        self._states = states
        return found


def _share(judgments: float, expected: float, done: bool) -> float:
    if done and judgments:
        return 1.0
    return judgments / (judgments + expected) if judgments else 0.0


def _times(entries: Sequence[Entry]) -> list[float]:
    return [entry.active_seconds for entry in entries if entry.active_seconds > 0]


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None


def _queries(
    queries: Sequence[Query], tasks: Sequence[Task], counting: Sequence[Entry], expected: dict[str, float]
) -> list[QueryRow]:
    own: dict[str, list[Task]] = defaultdict(list)
    said: dict[str, list[Entry]] = defaultdict(list)
    for task in tasks:
        if task.active:
            own[task.query_id].append(task)
    for entry in counting:
        said[entry.query_id].append(entry)
    rows = []
    for query in queries:
        mine, log = own[query.query_id], said[query.query_id]
        more = sum(expected.get(task.key, 0.0) for task in mine)
        done = sum(task.done for task in mine)
        rows.append(
            QueryRow(
                query.query_id,
                query.text,
                len(query.items),
                len(mine),
                done,
                len(log),
                more,
                sum(_times(log)) or None,
                len({item for entry in log for item in entry.judgment.forbidden}),
                _share(len(log), more, bool(mine) and done == len(mine)),
            )
        )
    return rows


def _people(
    people: Sequence[Person],
    tasks: Sequence[Task],
    entries: Sequence[Entry],
    counting: Sequence[Entry],
    expected: dict[str, float],
) -> list[PersonRow]:
    owner = {task.key: task.person for task in tasks}
    said: dict[int, list[Entry]] = defaultdict(list)
    everything: dict[int, list[Entry]] = defaultdict(list)
    for entry in counting:
        said[owner.get(entry.task, -1)].append(entry)
    for entry in entries:
        everything[owner.get(entry.task, -1)].append(entry)
    rows = []
    for person in people:
        mine = [task for task in tasks if task.person == person.id and task.active]
        log, every = said[person.id], everything[person.id]
        more = sum(expected.get(task.key, 0.0) for task in mine)
        done = sum(task.done for task in mine)
        rows.append(
            PersonRow(
                person,
                len(mine),
                done,
                len(log),
                more,
                sum(_times(log)) or None,
                _median(_times(log)),
                max((entry.created for entry in every), default=None),
                sum(entry.judgment.kind == "skip" for entry in every),
                sum(entry.judgment.kind == "undo" for entry in every),
                _share(len(log), more, bool(mine) and done == len(mine)),
            )
        )
    return rows


def _tools(tasks: Sequence[Task], counting: Sequence[Entry]) -> list[ToolRow]:
    rows = []
    for tool in ("pairs", "grades"):
        log = [entry for entry in counting if entry.tool == tool]
        if not log:
            continue
        times = _times(log)
        spent: dict[str, float] = defaultdict(float)
        for entry in log:
            spent[entry.task] += entry.active_seconds
        finished = [spent[task.key] for task in tasks if task.done and task.tool == tool and spent[task.key]]
        rows.append(
            ToolRow(
                tool,
                len(log),
                _median(times),
                float(np.mean(times)) if times else None,
                float(np.mean(finished)) if finished else None,
            )
        )
    return rows


def _days(counting: Sequence[Entry]) -> tuple[tuple[datetime, int], ...]:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    counts: dict[int, int] = defaultdict(int)
    for entry in counting:
        created = entry.created if entry.created.tzinfo else entry.created.replace(tzinfo=UTC)
        counts[(today.date() - created.astimezone(UTC).date()).days] += 1
    return tuple((today - timedelta(days=ago), counts[ago]) for ago in reversed(range(_DAYS)))


# -- agreement ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgreementPart:
    """How well assessors agree about one kind of judgment."""

    kind: str
    title: str
    found: Agreement
    between: tuple[Between, ...]


def ratings_of(overview: Overview) -> list[tuple[str, str, Ratings]]:
    """What several assessors said about the same things, by kind."""
    entries = overview.entries
    every = [
        ("pairs", "Preferences", pairwise(entries, inferred=True)),
        ("grades", "Grades", grades(entries)),
        ("flags", "Forbidden or not", flags(entries)),
    ]
    return [one for one in every if len(one[2])]


def agreement_of(overview: Overview) -> list[AgreementPart]:
    """Agreement by kind, with intervals."""
    return [
        AgreementPart(kind, title, agreement_among(ratings, samples=_SAMPLES), tuple(between_people(ratings)))
        for kind, title, ratings in ratings_of(overview)
    ]


def disputes_of(overview: Overview, store: Store) -> list[DisputeRow]:
    """Disagreements, with the task that settles each, if there is one."""
    queries = {query.query_id: query for query in store.queries()}
    # Implied answers alone would repeat one dispute many times: at least one of the two must have been asked.
    asked = {
        (entry.query_id, frozenset(entry.judgment.question.items))
        for entry in effective_entries(overview.entries)
        if entry.judgment.kind == "prefer"
    }
    settling = [task for task in store.tasks() if task.purpose == "adjudicate"]
    rows = []
    for kind, _, ratings in ratings_of(overview):
        for dispute in disputes(ratings):
            query = queries.get(dispute.query_id)
            if query is None or (kind == "grades" and max(dispute.said.values()) - min(dispute.said.values()) < 2):
                continue  # neighbouring grades are within the precision of a scale
            if kind == "pairs" and (dispute.query_id, frozenset(dispute.docs)) not in asked:
                continue
            names = {item.doc_id: item.title or item.doc_id for item in query.items}
            shown = tuple(names.get(doc, doc) for doc in dispute.docs)
            docs = set(dispute.docs)
            tool = "grades" if kind == "grades" else "pairs"
            task = next(
                (
                    task
                    for task in settling
                    if task.query_id == dispute.query_id
                    and task.tool == tool
                    and any(docs == set(pair) or (kind == "flags" and docs & set(pair)) for pair in task.pairs)
                ),
                None,
            )
            sayings = tuple((who, _saying(kind, value, shown, overview)) for who, value in dispute.said.items())
            rows.append(DisputeRow(kind, dispute, query.text, shown, sayings, task))
    return rows


def _saying(kind: str, value: float, shown: Sequence[str], overview: Overview) -> str:
    if kind == "flags":
        return "forbidden" if value else "not forbidden"
    if kind == "grades":
        names = overview.project.grades
        return names[int(value)] if 0 <= value < len(names) else f"{value:g}"
    return {1.0: "the first", -1.0: "the second"}.get(value, "equal")
