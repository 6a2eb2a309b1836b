"""Judgments of assessors, as files: judgments, preferences, the ordered top k, the log, labelled texts.

Everything here is a function of the contents of the store, and does not change them.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples, read_examples
from ranksift.collection.qrels import Qrels, read_qrels
from ranksift.collection.readers.formats import JSON_LINES, SEPARATORS, kind
from ranksift.errors import InputError
from ranksift.evaluation.csv_cells import safe_cell
from ranksift.files import STANDARD, display_name, writing
from ranksift.labelling.agreement import effective_entries, flagged
from ranksift.labelling.judgments import Judgment, effective
from ranksift.labelling.plain_text import text_of
from ranksift.labelling.records import Entry, Person, Project, Query, Task, Tool
from ranksift.labelling.task_state import task_state

if TYPE_CHECKING:
    from ranksift.labelling.store import Store

#: What becomes one label of what several assessors said.
Rule = Literal["adjudicated", "majority", "mean", "first"]
RULES: tuple[Rule, ...] = get_args(Rule)

#: The columns of rows, even if there are no rows.
ORDER = ("query_id", "rank", "doc_id", "label")
PREFERENCES = ("query_id", "left", "right", "answer", "left_forbidden", "right_forbidden", "assessor", "purpose",
               "active_seconds", "created", "note")  # fmt: skip
LOG = ("task", "number", "query_id", "assessor", "tool", "purpose", "kind", "left", "right", "answer", "grade",
       "forbidden", "proposed", "active_seconds", "note", "created", "client_id", "counts")  # fmt: skip

_SHOWN = 5
_COUNTED = ("prefer", "grade")


@dataclass(frozen=True)
class Contents:
    """What a project holds, as a store gives it.

    Attributes
    ----------
    queries
        The queries, with their documents in the order in which strategies get them; for examples, also with the
        contents.
    people, tasks
        The people and tasks, including retired and withdrawn ones.
    entries
        The log of all tasks.
    """

    project: Project
    queries: tuple[Query, ...]
    people: tuple[Person, ...]
    tasks: tuple[Task, ...]
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, store: Store, *, contents: bool = False) -> Contents:
        """Read a whole project; the ``contents`` of documents are read only on request."""
        queries = store.queries(active_only=False)
        if contents:
            queries = [store.query(query.query_id) for query in queries]
        return cls(
            store.project,
            tuple(queries),
            tuple(store.people()),
            tuple(store.tasks(active_only=False)),
            tuple(store.entries()),
        )

    @property
    def standing(self) -> tuple[Entry, ...]:
        """The log of tasks that were not withdrawn."""
        active = {task.key for task in self.tasks if task.active}
        return tuple(entry for entry in self.entries if entry.task in active)

    @property
    def retired(self) -> frozenset[str]:
        """Queries that are no longer assigned to anyone."""
        return frozenset(query.query_id for query in self.queries if not query.active)


@dataclass(frozen=True)
class Labelled:
    """Labels of the documents of each query that is finished.

    Attributes
    ----------
    labels
        ``{query: {document: label}}``; documents that could not be judged are not in it.
    tool
        The tool with which they were given.
    k
        How many documents are put in order.
    notes
        What was left out or settled, as sentences.
    """

    labels: Mapping[str, Mapping[str, float]]
    tool: Tool
    k: int
    notes: tuple[str, ...]

    def qrels(self) -> Qrels:
        """The labels as judgments."""
        if not self.labels:
            remedy = "finish a query, or look at: ranksift label status"
            raise InputError("no query is finished", remedy=remedy)
        return read_qrels({q: {doc: _number(label) for doc, label in own.items()} for q, own in self.labels.items()})

    def order(self) -> list[dict[str, Any]]:
        """The top k of each query, best first: tied documents have the same rank, and all of them are included."""
        rows = []
        for query, labels in self.labels.items():
            kept = {doc: label for doc, label in labels.items() if label >= 0}
            for doc, rank in ranks(kept).items():
                if rank <= self.k and (kept[doc] > 0 or self.tool == "grades"):
                    rows.append({"query_id": query, "rank": rank, "doc_id": doc, "label": _number(kept[doc])})
        return rows


def _number(label: float) -> int | float:
    return int(label) if float(label).is_integer() else label


def ranks(labels: Mapping[str, float]) -> dict[str, int]:
    """Ranks by labels, best first; equal ones have the same rank, and the next one counts all before it.

    Examples
    --------
    >>> ranks({"a": 1, "b": 3, "c": 3, "d": 0})
    {'b': 1, 'c': 1, 'a': 3, 'd': 4}
    """
    best = sorted(labels, key=lambda doc: -labels[doc])
    found: dict[str, int] = {}
    for place, doc in enumerate(best, 1):
        before = best[place - 2] if place > 1 else None
        found[doc] = found[before] if before is not None and labels[before] == labels[doc] else place
    return found


def position_labels(groups: Iterable[Sequence[str]], rest: Iterable[str], k: int) -> dict[str, int]:
    """Labels of an ordered top k with ties: k minus the number of better documents, and 0 from the (k+1)-th on.

    Without ties these are the labels of :func:`ranksift.topk_labels`.

    Examples
    --------
    >>> position_labels([("a",), ("b", "c"), ("d",)], ["e"], k=4)
    {'a': 4, 'b': 3, 'c': 3, 'd': 1, 'e': 0}
    """
    labels: dict[str, int] = {}
    for group in groups:
        labels |= dict.fromkeys(group, max(k - len(labels), 0))
    return labels | dict.fromkeys(rest, 0)


# -- what one assessor said of a query ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Said:
    """The result of a finished task: labels of the documents that could be judged, without those that are flagged."""

    task: Task
    person: str
    labels: Mapping[str, float]
    forbidden: frozenset[str]


def _said(task: Task, person: str, query: Query, log: Sequence[Judgment], k: int) -> _Said | None:
    """The result of a task; None if it is not finished."""
    state = task_state(task, [item.doc_id for item in query.items], log)
    if not state.done:
        return None
    forbidden = frozenset(state.forbidden)
    if task.tool == "pairs":
        rest = [doc for doc in state.rest if doc not in state.unjudged]
        return _Said(task, person, position_labels(state.groups, rest, k), forbidden)
    return _Said(task, person, _grades(log), forbidden)


def _grades(log: Sequence[Judgment]) -> dict[str, float]:
    """The last grade of each document."""
    return {one.left: float(one.grade) for one in effective(log) if one.kind == "grade" and one.grade is not None}


@dataclass(frozen=True)
class _Decided:
    """What single answers to given pairs and documents say: of those who verify, or of who settles a dispute."""

    pairs: tuple[tuple[str, str, int], ...] = ()
    grades: Mapping[str, float] = field(default_factory=dict)
    forbidden: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> _Decided:
        pairs: dict[frozenset[str], tuple[str, str, int]] = {}
        grades: dict[str, float] = {}
        for entry in entries:
            one = entry.judgment
            if one.kind == "grade" and one.grade is not None:
                grades[one.left] = float(one.grade)
            elif one.kind == "prefer" and one.right is not None and one.answer is not None:
                worth = {"left": 1, "right": -1, "tie": 0}[one.answer]
                pairs[frozenset((one.left, one.right))] = (one.left, one.right, worth)
        return cls(tuple(pairs.values()), grades, flagged(entries))


# -- what all of them said ---------------------------------------------------------------------------------------------


def labelled(
    contents: Contents, rule: Rule = "adjudicated", *, tool: Tool | None = None, assessor: str | None = None
) -> Labelled:
    """The labels of every query that an assessor has finished.

    With pairs, the label of a document is k minus the number of better documents, and 0 outside the top k; with grades,
    it is the grade, from 0. Forbidden documents have the project's ``forbidden_label``. Documents that could not be
    judged have none. If the project's k was raised later, documents beyond the k that was used have 0.

    Parameters
    ----------
    contents
        The contents of the project.
    rule
        The rule for queries that several assessors have finished. ``"adjudicated"``: what was settled in adjudication
        is final, and the majority decides on the rest. ``"majority"``: documents are ordered by how many others they
        beat minus how many they lose to, and the majority of assessors decides on each pair; with grades, the most
        frequent one, or the lower of two. ``"mean"``: the mean label. ``"first"``: the label of the assessor who was
        given the query first. A document is forbidden if at least half of the assessors flag it.
    tool
        Pairs or grades; by default pairs, if a query is finished with pairs.
    assessor
        Take only the judgments of this assessor.
    """
    if rule not in RULES:
        raise InputError(f"no rule is called {rule!r}", remedy=f"choose among {', '.join(RULES)}")
    log = _Log.of(contents)
    if assessor is not None:
        _check_assessor(contents, assessor)
    finished = [one for one in log.finished() if assessor in (None, one.person)]
    tools = {one.task.tool for one in finished}
    chosen: Tool = tool or ("pairs" if "pairs" in tools or not tools else "grades")
    by_query: dict[str, list[_Said]] = {query: [] for query in log.queries}
    for said in finished:
        if said.task.tool == chosen:
            by_query[said.task.query_id].append(said)
    known = {query: own for query, own in by_query.items() if own}
    alone = assessor is not None
    labels = {query: _combined(log, query, own, rule, alone=alone) for query, own in known.items()}
    notes = log.notes(known, chosen, rule, assessor)
    unjudged = [f"{query} {doc}" for query, own in labels.items() for doc in log.documents(query) if doc not in own]
    if unjudged:
        by = assessor or "anyone"
        notes.append(f"{_counted(unjudged, 'document')} could not be judged by {by}: left out")
    k = contents.project.k
    short = [query for query, own in labels.items() if 0 in own.values() and sum(x > 0 for x in own.values()) < k]
    if short and chosen == "pairs":
        which = _counted(short, "query", "queries")
        notes.append(f"{which} with fewer than {k} documents in order: the others have label 0")
    if tools - {chosen}:
        notes.append(f"what was labelled with {min(tools - {chosen})} is left out; --tool includes it")
    return Labelled(labels, chosen, contents.project.k, tuple(notes))


def _check_assessor(contents: Contents, name: str) -> None:
    if name not in {person.name for person in contents.people}:
        known = ", ".join(person.name for person in contents.people[:_SHOWN]) or "nobody"
        raise InputError(f"no assessor is called {name!r}", remedy=f"choose among {known}")


def _given(task: Task) -> tuple[object, ...]:
    """Who was given a task first: of those that were given at once, who labels. Keys are drawn, and say nothing."""
    return task.created, task.purpose != "label", task.person, task.key


@dataclass(frozen=True)
class _Log:
    """The log of a project, put in order."""

    contents: Contents
    queries: Mapping[str, Query]
    person: Mapping[int, str]
    entries: Mapping[str, Sequence[Entry]]
    counting: Mapping[str, Sequence[Entry]]

    @classmethod
    def of(cls, contents: Contents) -> _Log:
        entries: dict[str, list[Entry]] = {task.key: [] for task in contents.tasks}
        for entry in sorted(contents.entries, key=lambda one: one.number):
            entries.setdefault(entry.task, []).append(entry)
        counting: dict[str, list[Entry]] = {}
        for entry in effective_entries(contents.entries):
            counting.setdefault(entry.task, []).append(entry)
        return cls(
            contents,
            {query.query_id: query for query in contents.queries},
            {person.id: person.name for person in contents.people},
            entries,
            counting,
        )

    def finished(self) -> list[_Said]:
        """The results of finished labelling tasks, in the order in which they were assigned."""
        found = []
        for task in self._active():
            if task.purpose not in ("label", "overlap") or task.query_id not in self.queries:
                continue
            log = [entry.judgment for entry in self.entries[task.key]]
            query = self.queries[task.query_id]
            said = _said(task, self.person.get(task.person, ""), query, log, self.contents.project.k)
            if said is not None:
                found.append(said)
        return found

    def documents(self, query: str) -> list[str]:
        """The documents of a query, in the order in which strategies get them."""
        return [item.doc_id for item in self.queries[query].items]

    def decided(self, query: str, purpose: str, tool: Tool) -> _Decided:
        """Single answers that verify, or that settle a dispute."""
        own = [
            entry
            for task in self._active()
            if task.purpose == purpose and task.query_id == query and task.tool == tool
            for entry in self.counting.get(task.key, ())
            if entry.judgment.kind in _COUNTED
        ]
        return _Decided.of(own)

    def notes(self, known: Mapping[str, Sequence[_Said]], tool: Tool, rule: Rule, assessor: str | None) -> list[str]:
        """What was left out or settled."""
        found = []
        gone = self.contents.retired
        unfinished = [query for query in self.queries if query not in known and query not in gone]
        if unfinished:
            which, by = _counted(unfinished, "query", "queries"), f" by {assessor}" if assessor else ""
            found.append(f"{which} of {len(self.queries) - len(gone)} not finished{by} with {tool}: left out")
        if gone:
            kept = _counted(sorted(gone), "query", "queries")
            found.append(f"{kept} retired: what was finished before counts")
        several = [query for query, own in known.items() if len(own) > 1]
        if several and assessor is None:
            found.append(f"{_counted(several, 'query', 'queries')} with several assessors: the rule is {rule}")
        retired = sorted({said.person for own in known.values() for said in own} & self._retired())
        if retired:
            found.append(f"{_counted(retired, 'assessor')} retired: what they finished counts")
        withdrawn = sum(not task.active and bool(self.counting.get(task.key)) for task in self.contents.tasks)
        if withdrawn:
            found.append(f"{withdrawn} task{'s' * (withdrawn != 1)} withdrawn: in the log, but not in the labels")
        undone = sum(len(own) for own in self.entries.values()) - sum(len(own) for own in self.counting.values())
        if undone:
            steps = sum(entry.judgment.kind == "undo" for own in self.entries.values() for entry in own)
            found.append(f"{undone - steps} judgment{'s' * (undone - steps != 1)} undone: in the log only")
        return found

    def _active(self) -> list[Task]:
        """Tasks that were not withdrawn, in the order in which they were given."""
        return sorted((task for task in self.contents.tasks if task.active), key=_given)

    def _retired(self) -> set[str]:
        return {person.name for person in self.contents.people if not person.active}


def _combined(log: _Log, query: str, own: Sequence[_Said], rule: Rule, *, alone: bool) -> dict[str, float]:
    """One label for each document of a query."""
    tool, k = own[0].task.tool, log.contents.project.k
    if rule == "first" or alone:
        own = own[:1]
    settled = log.decided(query, "adjudicate", tool) if rule == "adjudicated" and not alone else _Decided()
    items = log.documents(query)
    flags = Counter(doc for said in own for doc in said.forbidden)
    seen = Counter(doc for said in own for doc in {*said.labels, *said.forbidden})
    forbidden = {doc for doc in items if flags[doc] and 2 * flags[doc] >= seen[doc]}
    forbidden = {doc for doc in items if settled.forbidden.get(doc, doc in forbidden)}
    kept = [doc for doc in items if doc not in forbidden and seen[doc]]
    said = {doc: [one.labels[doc] for one in own if doc in one.labels and doc not in one.forbidden] for doc in kept}
    if rule == "mean":
        labels = {doc: float(np.mean(some)) if some else 0.0 for doc, some in said.items()}
    elif tool == "grades":
        given = {doc: _most_frequent(some) for doc, some in said.items() if some}
        labels = given | {doc: grade for doc, grade in settled.grades.items() if doc in said}
    else:
        checked = _Decided() if alone or rule == "first" else log.decided(query, "verify", tool)
        groups = _majority_order(kept, own, checked, settled)
        # Documents ranked after all those that someone has in a top k are in no order.
        ordered = {doc for one in own for doc, label in one.labels.items() if label > 0}
        end = max((place for place, group in enumerate(groups, 1) if ordered & {*group}), default=0)
        rest = [doc for group in groups[end:] for doc in group]
        labels = {doc: float(label) for doc, label in position_labels(groups[:end], rest, k).items()}
    return {**labels, **dict.fromkeys(sorted(forbidden, key=items.index), float(log.contents.project.forbidden_label))}


def _most_frequent(labels: Sequence[float]) -> float:
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label))


def _majority_order(
    docs: Sequence[str], said: Sequence[_Said], checked: _Decided, settled: _Decided
) -> list[tuple[str, ...]]:
    """Documents by how many others they beat minus how many they lose to; settled pairs are final.

    For a single assessor this is the assessor's own order.
    """
    place = {doc: i for i, doc in enumerate(docs)}
    margin = np.zeros((len(docs), len(docs)))
    for one in said:
        # A document that this one flagged, and others did not, is the last one here; of one that this one could not
        # judge, nothing is said.
        own = np.array([-1.0 if doc in one.forbidden else one.labels.get(doc, np.nan) for doc in docs])
        margin += np.nan_to_num(np.sign(own[:, None] - own[None, :]))
    for left, right, worth in checked.pairs:
        if left in place and right in place:
            margin[place[left], place[right]] += worth
            margin[place[right], place[left]] -= worth
    wins = np.sign(margin)
    before: dict[int, set[int]] = {}
    for left, right, worth in settled.pairs:
        if left in place and right in place:
            a, b = place[left], place[right]
            wins[a, b], wins[b, a] = worth, -worth
            if worth:
                better, worse = (a, b) if worth > 0 else (b, a)
                before.setdefault(worse, set()).add(better)
    return _placed(docs, wins.sum(axis=1), before)


def _placed(docs: Sequence[str], score: NDArray[np.float64], before: Mapping[int, set[int]]) -> list[tuple[str, ...]]:
    """Groups of equal scores, the highest first, each document behind those that must stand before it."""
    waiting, groups = sorted(range(len(docs)), key=lambda i: (-score[i], i)), list[list[int]]()
    while waiting:
        left = set(waiting)
        free = [i for i in waiting if not before.get(i, set()) & left]
        chosen = (free or waiting)[0]  # where what was settled contradicts itself, the score decides
        waiting.remove(chosen)
        last = groups[-1] if groups else []
        if last and score[last[0]] == score[chosen] and not before.get(chosen, set()) & {*last}:
            last.append(chosen)
        else:
            groups.append([chosen])
    return [tuple(docs[i] for i in group) for group in groups]


def _counted(names: Sequence[str], noun: str, nouns: str = "") -> str:
    shown = ", ".join(name[:60] for name in names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
    return f"{len(names):,} {noun if len(names) == 1 else nouns or noun + 's'} ({shown})"


# -- rows --------------------------------------------------------------------------------------------------------------


def preferences(contents: Contents) -> list[dict[str, Any]]:
    """A row per answer about two documents that counts: which was better, which were flagged, who said so, and when."""
    return [
        {
            "query_id": entry.query_id,
            "left": entry.judgment.left,
            "right": entry.judgment.right,
            "answer": entry.judgment.answer or "",
            "left_forbidden": entry.judgment.left in entry.judgment.forbidden,
            "right_forbidden": entry.judgment.right in entry.judgment.forbidden,
            "assessor": entry.person,
            "purpose": entry.purpose,
            "active_seconds": entry.active_seconds,
            "created": entry.created.isoformat(),
            "note": entry.note,
        }
        for entry in effective_entries(contents.entries)
        if entry.judgment.kind == "prefer"
    ]


def log_rows(contents: Contents) -> list[dict[str, Any]]:
    """A row per entry of the log, undone ones and undoing too; ``counts`` says what was not taken back."""
    counting = {(entry.task, entry.number) for entry in effective_entries(contents.entries)}
    return [
        {
            "task": entry.task,
            "number": entry.number,
            "query_id": entry.query_id,
            "assessor": entry.person,
            "tool": entry.tool,
            "purpose": entry.purpose,
            "kind": entry.judgment.kind,
            "left": entry.judgment.left,
            "right": entry.judgment.right,
            "answer": entry.judgment.answer,
            "grade": entry.judgment.grade,
            "forbidden": list(entry.judgment.forbidden),
            "proposed": list(entry.proposed),
            "active_seconds": entry.active_seconds,
            "note": entry.note,
            "created": entry.created.isoformat(),
            "client_id": entry.client_id,
            "counts": (entry.task, entry.number) in counting,
        }
        for entry in sorted(contents.entries, key=lambda one: (one.created, one.task, one.number))
    ]


def write_rows(rows: Sequence[Mapping[str, Any]], target: str | os.PathLike[str], names: Sequence[str] = ()) -> None:
    """Write rows as ``.jsonl``, ``.csv`` or ``.tsv``; ``-`` is JSON lines.

    In CSV lists are JSON, and a text that a spreadsheet would compute has an apostrophe before it.
    """
    suffix = ".jsonl" if os.fspath(target) == STANDARD else kind(target)
    if suffix not in SEPARATORS and suffix not in JSON_LINES:
        what = f"rows are not written as {suffix or 'a file without a suffix'}"
        raise InputError(what, source=display_name(target), remedy="name it .jsonl, .csv or .tsv")
    text = io.StringIO()
    if suffix in JSON_LINES:
        text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        if not rows:
            text.write("# no row\n")
    else:
        columns = list(rows[0]) if rows else list(names)
        writer = csv.writer(text, delimiter=SEPARATORS[suffix], lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(row[name]) for name in columns] for row in rows)
    with writing(target) as file:
        file.write(text.getvalue().encode("utf-8", "backslashreplace"))


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return safe_cell(value) if isinstance(value, str) else value


# -- examples ----------------------------------------------------------------------------------------------------------


def examples(contents: Contents, found: Labelled) -> Examples:
    """Labelled texts, for rankers that read; HTML without its markup, titles in front."""
    rows = [
        (query, item, found.labels[query.query_id].get(item.doc_id))
        for query in contents.queries
        if query.query_id in found.labels
        for item in query.items
    ]
    if not rows:
        found.qrels()  # which says that nothing is finished
    return Examples.from_texts(
        [query.text for query, _, _ in rows],
        [text_of(item) for _, item, _ in rows],
        [np.nan if label is None else label for _, _, label in rows],
        [query.query_id for query, _, _ in rows],
        doc_ids=[item.doc_id for _, item, _ in rows],
        name=contents.project.title,
    )


def with_features(found: Labelled, source: Any) -> tuple[Examples, list[str]]:
    """Features from a file, with the labels instead of those that the file has; and what there is to know.

    Features and labels are joined by query and document. Documents without a label are unjudged; queries without one
    are left out.
    """
    given = read_examples(source)
    queries = [given.query_ids[i] for i in given.query.tolist()]
    labels = np.array(
        [found.labels.get(query, {}).get(doc, np.nan) for query, doc in zip(queries, given.docs, strict=True)]
    )
    if not np.isfinite(labels).any():
        remedy = "give the same ids of queries and documents (in LETOR's format after #docid = )"
        raise InputError("has none of the labelled documents", source=given.name, remedy=remedy)
    joined = replace(given, labels=labels)
    some = [
        i for i in range(len(given.query_ids)) if np.isfinite(labels[given.offsets[i] : given.offsets[i + 1]]).any()
    ]
    there = set(zip(queries, given.docs, strict=True))
    missing = [doc for query, own in found.labels.items() for doc in own if (query, doc) not in there]
    notes = [f"{_counted(missing, 'labelled document')} without features: left out"] if missing else []
    return joined.of_queries(some), notes
