"""Who judges what: the paper's rotation of folds over tools, and the ordinary assignment with balanced loads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from ranksift.errors import InputError
from ranksift.labelling.records import NewTask, Purpose, Task, Tool
from ranksift.labelling.task_state import task_state

if TYPE_CHECKING:
    from ranksift.labelling.store import Store


def rotation(
    queries: Sequence[str],
    people: Sequence[int],
    *,
    tools: Sequence[Tool] = ("pairs", "grades"),
    assignments: int = 2,
    strategy: str = "tournament",
    k: int = 10,
    shared_order: bool = False,
    existing: Iterable[Task] = (),
    seed: int = 0,
) -> list[NewTask]:
    """The paper's assignment, to compare tools: folds of queries × assessors × tools.

    Queries are dealt into as many folds as there are assessors. In the first assignment assessor i judges fold i with
    the first tool and fold i + 1 with the second; each further assignment moves on by as many folds as there are
    tools. So every query is judged with every tool by as many assessors as there are assignments, every assessor uses
    every tool, and no one sees a query twice. Agreement needs at least two assignments.

    Parameters
    ----------
    queries, people
        The ids of queries and of people.
    tools
        The tools that are compared.
    assignments
        How many assessors judge each query with each tool. Tasks of the first assignment label, the others overlap.
    strategy, k
        The settings of tasks with pairs.
    shared_order
        Have all assessors of a query begin with the same pairs, on the same sides, so that more pairs are judged by
        two. Effects of position on answers then show up as agreement; by default, everyone begins with a different
        pair.
    existing
        All tasks of the project: queries that someone has or had are left out, because someone could see them with both
        tools.
    seed
        The seed of the folds, and of random choices in tasks.

    Examples
    --------
    >>> tasks = rotation([f"q{i}" for i in range(50)], [1, 2, 3, 4, 5])
    >>> len(tasks), sum(task.purpose == "label" for task in tasks)
    (200, 100)
    """
    _check(queries, people)
    begun = {task.query_id for task in existing if task.active or task.judgments}
    queries = [query for query in queries if query not in begun]
    if not queries:
        what = "every query is already assigned, and an assessor could see one with both tools"
        raise InputError(what, remedy="add queries, or compare tools in a separate project")
    if assignments < 1:
        raise InputError(f"{assignments} assignments were asked for", remedy="ask for 1, or for 2 to see agreement")
    if len(set(tools)) < len(tools) or not tools:
        raise InputError("the tools to compare are not different", remedy="name each tool once: pairs, grades")
    needed = len(tools) * assignments
    if needed > len(people):
        what = f"{len(tools)} tools × {assignments} assignments need {needed} assessors, but there are {len(people)}"
        raise InputError(what, remedy="add assessors, or ask for fewer assignments: no one may see a query twice")
    if len(queries) < len(people):
        what = f"{len(queries)} queries are too few for {len(people)} assessors to use every tool"
        raise InputError(what, remedy="add queries, or take fewer assessors")
    random = np.random.default_rng(seed)
    folds = [part.tolist() for part in np.array_split(random.permutation(len(queries)), len(people))]
    tasks = []
    for number in range(assignments):
        purpose: Purpose = "label" if number == 0 else "overlap"
        for i, person in enumerate(people):
            for t, tool in enumerate(tools):
                fold = folds[(i + number * len(tools) + t) % len(people)]
                for q in sorted(fold):
                    drawn = _seed(random)
                    chosen = _seed_of(queries[q], seed) if shared_order else drawn
                    tasks.append(_task(queries[q], person, tool, purpose, strategy, k, chosen))
    return tasks


def ordinary(
    queries: Sequence[str],
    people: Sequence[int],
    *,
    per_query: int = 1,
    overlap: float = 0.0,
    tool: Tool = "pairs",
    strategy: str = "tournament",
    k: int = 10,
    shared_order: bool = False,
    existing: Iterable[Task] = (),
    seed: int = 0,
) -> list[NewTask]:
    """The tasks that are missing for every query to have its assessors, spread as evenly as possible.

    Call it again whenever queries or people were added or removed: existing tasks count, so it adds only what is
    missing. Finished tasks stay, even if the person has left.

    Parameters
    ----------
    queries, people
        The ids of active queries and people.
    per_query
        How many assessors label each query.
    overlap
        The share of queries that one more assessor judges, to measure agreement.
    tool, strategy, k
        The settings of the tasks.
    shared_order
        As in :func:`rotation`.
    existing
        All tasks of the project. Unfinished ones are the load that is balanced; no one gets a query again that they
        have or have begun, whatever the tool. If no one else is left, people from whom it was withdrawn get it again.
    seed
        The seed of all random choices.

    Examples
    --------
    >>> tasks = ordinary(["q1", "q2", "q3", "q4"], [7, 8], overlap=0.5)
    >>> [sum(task.person == person for task in tasks) for person in (7, 8)]
    [3, 3]
    """
    _check(queries, people)
    if per_query < 1:
        raise InputError(f"{per_query} assessors per query were asked for", remedy="ask for 1 or more")
    if not 0 <= overlap <= 1:
        raise InputError(f"{overlap:g} is not a share of queries", remedy="give an overlap from 0 to 1")
    most = per_query + (overlap > 0)
    if most > len(people):
        more = ", one of them to see agreement" if overlap > 0 else ""
        what = f"{most} assessors per query{more} were asked for, but there are {len(people)}"
        raise InputError(what, remedy="add assessors, or ask for fewer per query")
    random = np.random.default_rng(seed)
    standing = _Standing.of(queries, people, existing, tool)
    wanted: list[tuple[str, Purpose]] = []
    for query in queries:
        wanted += [(query, "label")] * max(per_query - standing.count[query, "label"], 0)
    again = [query for query in queries if standing.count[query, "overlap"]]
    free = [query for query in queries if not standing.count[query, "overlap"]]
    missing = min(max(int(np.floor(overlap * len(queries) + 0.5)) - len(again), 0), len(free))
    wanted += [(free[i], "overlap") for i in sorted(random.permutation(len(free))[:missing].tolist())]
    chosen = _balanced([query for query, _ in wanted], standing, people, random)
    seeds = [_seed_of(query, seed) if shared_order else _seed(random) for query, _ in wanted]
    return [
        _task(query, person, tool, purpose, strategy, k, own)
        for (query, purpose), person, own in zip(wanted, chosen, seeds, strict=True)
    ]


@dataclass(frozen=True)
class Finished:
    """The result of a finished task.

    Attributes
    ----------
    query_id, person
        The query and the assessor.
    groups
        The top k, best first, tied documents together.
    rest
        The others.
    """

    query_id: str
    person: int
    groups: tuple[tuple[str, ...], ...]
    rest: tuple[str, ...] = ()

    @classmethod
    def orders(cls, store: Store, tasks: Iterable[Task]) -> list[Finished]:
        """The results of those tasks that are finished, active, and about a whole active query."""
        documents = {query.query_id: [item.doc_id for item in query.items] for query in store.queries()}
        found = []
        for task in tasks:
            if task.active and task.done and task.tool == "pairs" and not task.pairs and task.query_id in documents:
                state = task_state(task, documents[task.query_id], store.log(task.key))
                found.append(cls(task.query_id, task.person, state.groups, state.rest))
        return found


def verification(
    finished: Iterable[Finished],
    people: Sequence[int],
    *,
    pairs: int = 10,
    edge: int = 2,
    k: int = 10,
    existing: Iterable[Task] = (),
    seed: int = 0,
) -> list[NewTask]:
    """Some pairs of each finished task for a second assessor: asking the first one again would repeat their errors.

    Parameters
    ----------
    finished
        The results of finished tasks.
    people
        The ids of people who may verify.
    pairs
        How many pairs of each task, chosen by :func:`pairs_to_verify`.
    edge
        How many of these pairs ask whether one of the other documents belongs in the top.
    k
        The settings of the tasks.
    existing
        All tasks of the project: people who have or have begun a query do not verify it, and a query is verified once.
        Queries that none of these people can verify are left out, unless there are no others.
    seed
        The seed of the random choices.

    Examples
    --------
    >>> found = Finished("q1", 1, (("a",), ("b",), ("c",)), ("d", "e"))
    >>> [task] = verification([found], [1, 2], pairs=3, edge=1)
    >>> task.person, task.purpose, task.pairs[:2]
    (2, 'verify', (('a', 'b'), ('b', 'c')))
    """
    if pairs < 1 or not 0 <= edge <= pairs:
        raise InputError(f"{pairs} pairs with {edge} at the edge cannot be chosen", remedy="ask for 1 pair or more")
    random = np.random.default_rng(seed)
    tasks = list(existing)
    found = unverified(finished, tasks)
    queries = list(dict.fromkeys(one.query_id for one in found))
    if not queries:
        return []
    _check(queries, people)
    standing = _Standing.of(queries, people, tasks, "pairs")
    for one in found:
        standing.seen[one.query_id].add(one.person)
        standing.again[one.query_id].clear()
    queries = [query for query in queries if not standing.seen[query].issuperset(people)] or queries
    # One task per query verifies the first log of it; a second log of the same query is itself a second opinion.
    first = {one.query_id: one for one in reversed(found)}
    chosen = _balanced(queries, standing, people, random, remedy="add an assessor who has not seen it")
    made = []
    for query, person in zip(queries, chosen, strict=True):
        asked = pairs_to_verify(first[query].groups, first[query].rest, pairs, edge=edge, seed=_seed(random))
        if asked:
            made.append(NewTask(query, person, "pairs", "verify", k=k, seed=_seed(random), pairs=asked))
    return made


def unverified(finished: Iterable[Finished], tasks: Iterable[Task]) -> list[Finished]:
    """Those of which no task verifies the query."""
    verified = {task.query_id for task in tasks if task.purpose == "verify" and task.active}
    return [one for one in finished if one.query_id not in verified]


def pairs_to_verify(
    groups: Sequence[Sequence[str]], rest: Sequence[str], most: int, *, edge: int = 2, seed: int = 0
) -> tuple[tuple[str, str], ...]:
    """Which pairs of an order are worth a second opinion, the most informative first.

    An error of the first assessor most likely swapped documents that are next to each other, and everything else about
    an order follows from its neighbours: so neighbours come first, from the top. ``edge`` pairs set the last document
    of the top beside others drawn from the rest. What is left is filled with documents that are two places apart, then
    three. Documents in one group are tied neighbours.

    Examples
    --------
    >>> pairs_to_verify([["a"], ["b", "c"]], [], 3)
    (('a', 'b'), ('b', 'c'), ('a', 'c'))
    """
    top = [doc for group in groups for doc in group]
    beyond = [rest[i] for i in np.random.default_rng(seed).permutation(len(rest))[: edge if top else 0].tolist()]
    at_edge = [(top[-1], doc) for doc in beyond][:most]
    by_distance = sorted(combinations(range(len(top)), 2), key=lambda pair: (pair[1] - pair[0], pair[0]))
    inside = [(top[i], top[j]) for i, j in by_distance][: most - len(at_edge)]
    neighbours = [pair for pair in inside if top.index(pair[1]) - top.index(pair[0]) == 1]
    return (*neighbours, *at_edge, *inside[len(neighbours) :])


# -- balance -----------------------------------------------------------------------------------------------------------


@dataclass
class _Standing:
    """What is there before new tasks are made."""

    load: dict[int, int]
    seen: dict[str, set[int]]
    again: dict[str, set[int]]  # of these, who has begun it with the same tool, and nothing of that counts
    count: dict[tuple[str, Purpose], int]

    @classmethod
    def of(cls, queries: Sequence[str], people: Sequence[int], existing: Iterable[Task], tool: Tool) -> _Standing:
        purposes: tuple[Purpose, ...] = ("label", "overlap", "verify", "adjudicate")
        load = dict.fromkeys(people, 0)
        seen: dict[str, set[int]] = {query: set() for query in queries}
        barred: dict[str, set[int]] = {query: set() for query in queries}
        count = {(query, purpose): 0 for query in queries for purpose in purposes}
        for task in existing:
            if task.active or task.done or task.judgments:  # a task withdrawn before it was started has not been seen
                seen.get(task.query_id, set()).add(task.person)
                if task.active or task.done or task.tool != tool:
                    barred.get(task.query_id, set()).add(task.person)
            stays = task.done or (task.active and task.person in load)
            if stays and task.tool == tool and task.query_id in seen:
                count[task.query_id, task.purpose] += 1
            if task.active and not task.done and task.person in load:
                load[task.person] += 1
        return cls(load, seen, {query: seen[query] - barred[query] for query in seen}, count)


def _balanced(
    wanted: Sequence[str],
    standing: _Standing,
    people: Sequence[int],
    random: np.random.Generator,
    remedy: str = "add assessors",
) -> list[int]:
    """A person for each wanted query, so that loads are as even as they can be.

    Each goes to the person with the least; then tasks are passed on along chains of people for as long as that makes a
    load that is two larger than another one smaller. Where no such chain is left, loads are as even as any assignment
    could make them (Harvey, Ladner, Lovász, Tamir: Semi-matchings for bipartite graphs and load balancing, 2003).
    """
    order = [people[i] for i in random.permutation(len(people)).tolist()]
    load, seen = dict(standing.load), {query: set(had) for query, had in standing.seen.items()}
    again = {query: set(had) for query, had in standing.again.items()}
    allowed = {query: [person for person in order if person not in standing.seen[query]] for query in set(wanted)}
    chosen = [0] * len(wanted)
    for i in sorted(random.permutation(len(wanted)).tolist(), key=lambda i: len(allowed[wanted[i]])):
        query = wanted[i]
        free = [person for person in order if person not in seen[query]]
        free = free or [person for person in order if person in again[query]]
        if not free:
            raise InputError(f"{query}: everyone has already seen it", remedy=remedy)
        chosen[i] = min(free, key=lambda person: load[person])
        load[chosen[i]] += 1
        seen[query].add(chosen[i])
        again[query].discard(chosen[i])
    while _hand_on(wanted, chosen, load, seen, order):
        pass
    return chosen


def _hand_on(
    wanted: Sequence[str], chosen: list[int], load: dict[int, int], seen: Mapping[str, set[int]], people: Sequence[int]
) -> bool:
    """Move one task each along a chain of people, from a large load to one that is smaller by two or more."""
    for start in sorted(people, key=lambda person: -load[person]):
        # By person: the task that would come to them.
        reached: dict[int, int] = {}
        queue, passed = deque([start]), {start}
        while queue:
            giver = queue.popleft()
            for i, owner in enumerate(chosen):
                if owner != giver:
                    continue
                for taker in people:
                    if taker in passed or taker in seen[wanted[i]]:
                        continue
                    passed.add(taker)
                    reached[taker] = i
                    queue.append(taker)
        least = min(passed, key=lambda person: load[person])
        if load[start] - load[least] < 2:
            continue
        load[start] -= 1
        load[least] += 1
        taker = least
        while taker != start:
            i = reached[taker]
            giver = chosen[i]
            seen[wanted[i]].discard(giver)
            seen[wanted[i]].add(taker)
            chosen[i], taker = taker, giver
        return True
    return False


def _task(query: str, person: int, tool: Tool, purpose: Purpose, strategy: str, k: int, seed: int) -> NewTask:
    chosen = strategy if tool == "pairs" else "grades"
    return NewTask(query, person, tool, purpose, strategy=chosen, k=k, seed=seed)


def _seed_of(query: str, seed: int) -> int:
    """The same for everyone who has the query, whenever they get it."""
    return _seed(np.random.default_rng([seed, crc32(query.encode())]))


def _seed(random: np.random.Generator) -> int:
    return int(random.integers(2**31))


def _check(queries: Sequence[str], people: Sequence[int]) -> None:
    if not queries:
        raise InputError("there is no query to assign", remedy="import queries first")
    if not people:
        raise InputError("there is no one to assign queries to", remedy="add assessors first")
    for name, ids in (("query", queries), ("person", people)):
        if len(set(ids)) < len(ids):
            twice = next(one for i, one in enumerate(ids) if one in ids[:i])
            raise InputError(f"{name} {twice} is named twice", remedy="name each once")
