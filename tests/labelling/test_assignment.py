"""Each promise of an assignment, over many sizes."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ranksift.errors import InputError
from ranksift.labelling.assignment import Finished, ordinary, pairs_to_verify, rotation, unverified, verification
from ranksift.labelling.records import NewTask, Task
from tests.labelling.logs import BEGIN


def taken(tasks: list[NewTask], *, done: bool = False) -> list[Task]:
    """What a store makes of new tasks."""
    return [
        Task(
            f"{t.query_id}/{t.person}/{t.tool}/{t.purpose}",
            t.query_id,
            t.person,
            t.tool,
            t.purpose,
            t.strategy,
            t.k,
            t.seed,
            t.with_proposals,
            t.pairs,
            True,
            done,
            0,
            BEGIN,
        )
        for t in tasks
    ]


def names(count: int) -> list[str]:
    return [f"q{i}" for i in range(count)]


def spread(tasks, people, before=None) -> int:
    loads = Counter(before or {})
    loads.update(t.person for t in tasks)
    return max(loads[p] for p in people) - min(loads[p] for p in people)


# -- the paper's -------------------------------------------------------------------------------------------------------


def test_the_first_assignment_is_the_papers() -> None:
    people = [1, 2, 3, 4, 5]
    tasks = rotation(names(50), people, assignments=1)
    fold = {tool: defaultdict(set) for tool in ("pairs", "grades")}
    for t in tasks:
        fold[t.tool][t.person].add(t.query_id)
    assert all(len(fold[tool][person]) == 10 for tool in fold for person in people)
    for person, following in pairwise([*people, 1]):
        assert fold["grades"][person] == fold["pairs"][following]


@given(
    people=st.integers(2, 9),
    queries=st.integers(2, 40),
    tools=st.sampled_from([("pairs",), ("grades",), ("pairs", "grades")]),
    assignments=st.integers(1, 4),
    seed=st.integers(0, 5),
)
def test_rotation_keeps_its_promises(people, queries, tools, assignments, seed) -> None:
    assume(queries >= people and len(tools) * assignments <= people)
    ids = list(range(100, 100 + people))
    tasks = rotation(names(queries), ids, tools=tools, assignments=assignments, seed=seed)
    assert tasks == rotation(names(queries), ids, tools=tools, assignments=assignments, seed=seed)
    # Every query is judged with every tool, once per assignment.
    counts = Counter((t.query_id, t.tool) for t in tasks)
    assert counts == dict.fromkeys(product(names(queries), tools), assignments)
    # Nobody sees a query twice, with the same tool or another one.
    assert max(Counter((t.query_id, t.person) for t in tasks).values()) == 1
    # Everybody uses every tool.
    assert {(t.person, t.tool) for t in tasks} == set(product(ids, tools))
    # One labels, the others overlap; and loads differ by no more than folds do.
    assert Counter((t.query_id, t.tool) for t in tasks if t.purpose == "label") == dict.fromkeys(counts, 1)
    assert spread(tasks, ids) <= len(tools) * assignments
    if queries % people == 0:
        assert spread(tasks, ids) == 0


@pytest.mark.parametrize(
    ("queries", "people", "more", "words"),
    [
        (50, 3, {}, "2 tools × 2 assignments need 4 assessors, but there are 3"),
        (3, 5, {}, "3 queries are too few for 5 assessors"),
        (5, 5, {"assignments": 0}, "0 assignments"),
        (5, 5, {"tools": ("pairs", "pairs")}, "not different"),
        (0, 5, {}, "no query"),
        (5, 0, {}, "no one"),
    ],
)
def test_an_impossible_rotation_is_refused_in_one_line(queries, people, more, words) -> None:
    with pytest.raises(InputError, match=words) as error:
        rotation(names(queries), list(range(people)), **more)
    assert "\n" not in str(error.value)


def test_rotation_takes_only_queries_that_nobody_has_seen() -> None:
    people = [1, 2, 3, 4]
    before = rotation(names(4), people)
    begun = replace(taken([NewTask("late0", 1, "grades")])[0], active=False, judgments=1)
    existing = [*taken(before), begun]
    withdrawn = replace(taken([NewTask("late1", 1, "grades")])[0], active=False, judgments=0)
    late = [f"late{i}" for i in range(6)]
    made = rotation([*names(4), *late], people, existing=[*existing, withdrawn])
    assert {task.query_id for task in made} == {*late} - {"late0"}
    assert len({(task.query_id, task.person) for task in [*before, *made]}) == len(before) + len(made)
    with pytest.raises(InputError, match="every query is already assigned, and an assessor could see one with both"):
        rotation(names(4), people, existing=existing)


def test_names_are_named_once() -> None:
    with pytest.raises(InputError, match="query q is named twice"):
        ordinary(["q", "q"], [1])
    with pytest.raises(InputError, match="person 1 is named twice"):
        ordinary(["q"], [1, 1])


# -- the ordinary one --------------------------------------------------------------------------------------------------


@given(
    queries=st.integers(1, 30),
    people=st.integers(1, 7),
    per_query=st.integers(1, 4),
    overlap=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    seed=st.integers(0, 5),
)
def test_ordinary_keeps_its_promises(queries, people, per_query, overlap, seed) -> None:
    assume(per_query + (overlap > 0) <= people)
    ids = list(range(people))
    tasks = ordinary(names(queries), ids, per_query=per_query, overlap=overlap, seed=seed)
    assert tasks == ordinary(names(queries), ids, per_query=per_query, overlap=overlap, seed=seed)
    by = Counter((t.query_id, t.purpose) for t in tasks)
    assert all(by[query, "label"] == per_query for query in names(queries))
    again = [by[query, "overlap"] for query in names(queries)]
    assert sum(again) == int(np.floor(overlap * queries + 0.5))
    assert max(again) <= 1
    assert max(Counter((t.query_id, t.person) for t in tasks).values()) == 1
    assert spread(tasks, ids) <= 1
    # With all of it there, nothing is missing.
    assert ordinary(names(queries), ids, per_query=per_query, overlap=overlap, existing=taken(tasks)) == []


def test_what_was_withdrawn_before_it_was_begun_is_given_again() -> None:
    """As where a lead has chosen the wrong tool for everybody."""
    wrong = taken(ordinary(names(6), [1, 2], per_query=2, tool="grades"))
    existing = [replace(task, active=False) for task in wrong]
    again = ordinary(names(6), [1, 2], per_query=2, existing=existing)
    assert {(task.query_id, task.person) for task in again} == {(task.query_id, task.person) for task in wrong}
    begun = [replace(existing[0], judgments=1), *existing[1:]]
    with pytest.raises(InputError, match=f"{existing[0].query_id}: everyone has already seen it"):
        ordinary(names(6), [1, 2], per_query=2, existing=begun)


def test_what_was_begun_and_withdrawn_is_given_anew_where_nobody_else_is_left() -> None:
    """As where a query was retired by mistake, and is reinstated."""
    begun = [replace(task, active=False, judgments=3) for task in taken(ordinary(["q"], [1, 2], per_query=2))]
    assert {task.person for task in ordinary(["q"], [1, 2], per_query=2, existing=begun)} == {1, 2}
    assert {task.person for task in ordinary(["q"], [1, 2, 3, 4], per_query=2, existing=begun)} == {3, 4}
    assert 3 in {task.person for task in ordinary(["q"], [1, 2, 3], per_query=2, existing=begun)}
    for stays in (replace(begun[0], active=True, purpose="verify"), replace(begun[0], tool="grades")):
        with pytest.raises(InputError, match="everyone has already seen it"):
            ordinary(["q"], [1, 2], per_query=2, existing=[*begun, stays])


@given(
    before=st.integers(4, 20),
    added=st.integers(0, 10),
    finished=st.integers(0, 20),
    leaver=st.integers(0, 4),
    seed=st.integers(0, 5),
)
def test_people_leave_and_queries_come_in_mid_course(before, added, finished, leaver, seed) -> None:
    people = [0, 1, 2, 3, 4]
    tasks = taken(ordinary(names(before), people, per_query=2, overlap=0.25, seed=seed))
    tasks = [replace(t, done=i < finished) for i, t in enumerate(tasks)]
    stay = [person for person in people if person != leaver]
    queries = names(before + added)
    standing = [replace(t, active=t.active and t.person != leaver) for t in tasks]
    new = ordinary(queries, stay, per_query=2, overlap=0.25, existing=standing, seed=seed)
    counted = [t for t in standing if t.done or t.active]
    both = Counter((t.query_id, t.purpose) for t in [*counted, *new])
    assert all(both[query, "label"] == 2 for query in queries)
    assert max(Counter((t.query_id, t.person) for t in [*standing, *new]).values()) == 1
    assert all(t.person in stay for t in new)
    # No task could be handed to somebody whose load is smaller by two.
    load = Counter(t.person for t in standing if t.active and not t.done)
    load.update(t.person for t in new)
    seen = defaultdict(set)
    for t in [*standing, *new]:
        seen[t.query_id].add(t.person)
    for t in new:
        assert all(load[t.person] - load[other] < 2 for other in stay if other not in seen[t.query_id])


@given(st.data())
def test_loads_are_as_even_as_any_assignment_could_make_them(data) -> None:
    """Against all assignments of small cases in which some have seen some queries."""
    people, queries = [0, 1, 2], names(4)
    seen = data.draw(st.sets(st.tuples(st.sampled_from(queries), st.sampled_from(people)), max_size=6))
    assume(all(any((q, p) not in seen for p in people) for q in queries))
    busy = data.draw(st.lists(st.sampled_from(people), max_size=4))
    existing = taken([NewTask(q, p, "grades") for q, p in seen], done=True)
    existing += taken([NewTask(f"other{i}", p, "pairs") for i, p in enumerate(busy)])
    start = Counter(busy)
    new = ordinary(queries, people, existing=existing, seed=data.draw(st.integers(0, 3)))

    def cost(chosen) -> int:
        load = start + Counter(chosen)
        return sum(load[p] ** 2 for p in people)

    possible = [
        c for c in product(people, repeat=4) if not any((q, p) in seen for q, p in zip(queries, c, strict=True))
    ]
    assert cost([t.person for t in new]) == min(map(cost, possible))
    assert not any((t.query_id, t.person) in seen for t in new)


def test_what_a_leaver_finished_stays_and_what_they_had_open_goes_to_others() -> None:
    first = taken(ordinary(names(6), [1, 2]))
    own = [t for t in first if t.person == 1]
    standing = [replace(t, done=t == own[0], active=t.person != 1) for t in first]
    new = ordinary(names(6), [2, 3], existing=standing)
    assert sorted(t.query_id for t in new) == sorted(t.query_id for t in own[1:])
    assert [t.person for t in new] == [3, 3]  # the other one has three already


def test_another_tool_counts_as_seen_but_not_as_done() -> None:
    graded = taken([NewTask("q0", 1, "grades")], done=True)
    (task,) = ordinary(["q0"], [1, 2], existing=graded)
    assert (task.person, task.tool) == (2, "pairs")
    assert ordinary(["q0"], [1, 2], tool="grades", existing=graded) == []
    with pytest.raises(InputError, match="q0: everyone has already seen it"):
        ordinary(["q0"], [1], existing=graded)


def test_a_shared_order_is_that_of_the_query_whenever_it_is_assigned() -> None:
    tasks = rotation(names(10), [1, 2, 3, 4, 5], shared_order=True)
    later = ordinary(names(10), [6, 7], per_query=2, shared_order=True)
    by = defaultdict(set)
    for t in [*tasks, *later]:
        by[t.query_id].add(t.seed)
    assert all(len(seeds) == 1 for seeds in by.values())
    assert len({min(seeds) for seeds in by.values()}) == 10
    assert len({t.seed for t in rotation(names(10), [1, 2, 3, 4, 5])}) == 40


def test_strategies_of_tasks_are_those_of_their_tool() -> None:
    assert ordinary(["q"], [1], strategy="heap", k=5)[0].strategy == "heap"
    assert ordinary(["q"], [1], tool="grades", strategy="heap")[0].strategy == "grades"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"per_query": 3}, "3 assessors per query were asked for, but there are 2"),
        ({"per_query": 2, "overlap": 0.1}, "3 assessors per query, one of them to see agreement"),
        ({"per_query": 0}, "0 assessors"),
        ({"overlap": 1.5}, "1.5 is not a share"),
    ],
)
def test_an_impossible_ordinary_one_is_refused_in_one_line(more, words) -> None:
    with pytest.raises(InputError, match=words) as error:
        ordinary(names(3), [1, 2], **more)
    assert "\n" not in str(error.value)


# -- verification ------------------------------------------------------------------------------------------------------


def test_neighbours_come_first_then_the_edge_then_those_further_apart() -> None:
    groups = [["a"], ["b"], ["c"], ["d"]]
    found = pairs_to_verify(groups, ["x", "y", "z"], 6, edge=2)
    assert found[:3] == (("a", "b"), ("b", "c"), ("c", "d"))
    assert [pair[0] for pair in found[3:5]] == ["d", "d"]
    assert {pair[1] for pair in found[3:5]} < {"x", "y", "z"}
    assert found[5:] == (("a", "c"),)
    assert pairs_to_verify(groups, [], 99) == (
        ("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d"), ("a", "d"),
    )  # fmt: skip
    assert pairs_to_verify([], ["x"], 3) == ()
    assert len(pairs_to_verify(groups, ["x", "y"], 1, edge=1)) == 1


@given(found=st.integers(1, 12), people=st.integers(2, 6), seed=st.integers(0, 3))
def test_verification_goes_to_a_second_person_with_balanced_loads(found, people, seed) -> None:
    ids = list(range(people))
    finished = [Finished(f"q{i}", i % people, (("a",), ("b",), ("c",)), ("x",)) for i in range(found)]
    tasks = verification(finished, ids, pairs=3, edge=1, seed=seed)
    assert len(tasks) == found
    for one, task in zip(finished, tasks, strict=True):
        assert task.query_id == one.query_id
        assert task.person != one.person
        assert (task.purpose, task.tool, len(task.pairs)) == ("verify", "pairs", 3)
    assert spread(tasks, ids) <= 1 or people == 2
    assert verification(finished, ids, existing=taken(tasks)) == []


def test_who_has_seen_a_query_does_not_verify_it() -> None:
    found = Finished("q", 1, (("a",), ("b",)))
    existing = taken([NewTask("q", 2, "grades")], done=True)
    (task,) = verification([found], [1, 2, 3], existing=existing)
    assert task.person == 3
    with pytest.raises(InputError, match="add an assessor who has not seen it"):
        verification([found], [1, 2], existing=existing)
    with pytest.raises(InputError, match="0 pairs"):
        verification([found], [1, 2], pairs=0, edge=0)
    assert verification([], [1]) == []


def test_one_query_that_everybody_has_seen_does_not_hold_up_the_others() -> None:
    found = [Finished(query, 1, (("a",), ("b",))) for query in ("q1", "q2", "q3")]
    existing = taken([NewTask("q2", 2, "pairs", "overlap"), NewTask("q3", 2, "pairs", "verify")], done=True)
    (task,) = verification(found, [1, 2], existing=existing)
    assert (task.query_id, task.person) == ("q1", 2)
    assert [one.query_id for one in unverified(found, existing)] == ["q1", "q2"]
    withdrawn = [replace(one, active=False) for one in existing]
    assert [one.query_id for one in unverified(found, withdrawn)] == ["q1", "q2", "q3"]
