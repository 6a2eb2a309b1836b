"""What every strategy has to do, whatever its algorithm is."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksift.errors import InputError
from ranksift.labelling.judgments import Judgment, Question
from ranksift.labelling.simulation import SimulatedAssessor, Truth
from ranksift.labelling.strategies import STRATEGIES, State, strategy
from ranksift.labelling.strategies.pairwise import Course, Pairwise

PAIRWISE = [name for name in STRATEGIES if name != "grades"]
TRANSITIVE = [name for name in PAIRWISE if strategy(name).transitive]  # type: ignore[attr-defined]


def labelled(name: str, truth: Truth, k: int, seed: int = 0, most: int = 2000) -> tuple[State, list[Judgment]]:
    """Ask until the end."""
    items, log = list(truth.score), []
    assessor = SimulatedAssessor(truth)
    chosen = strategy(name, k=k, seed=seed)
    assert isinstance(chosen, Pairwise)
    course = Course(chosen, items)
    while (question := course.question) is not None:
        assert len(log) < most
        log.append(assessor.answer(question))
        course.add(log[-1])
    state = course.state()
    assert state == chosen.state(items, log)
    return state, log


def is_right(state: State, truth: Truth, k: int) -> None:
    """The top k, best first; tied items in any order, and in one group as far as anybody said so."""
    scores = [truth.score[item] for item in state.order]
    assert scores[:k] == [truth.score[item] for item in truth.order[:k]]
    assert sorted(state.order) == sorted(truth.order)
    assert sum(map(len, state.groups)) >= min(k, len(truth.order))
    for group in state.groups:
        assert len({truth.score[item] for item in group}) == 1


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_every_order_is_found(name, n):
    items = "abcde"[:n]
    for order in permutations(range(n)):
        truth = Truth(dict(zip(items, map(float, order), strict=True)))
        for k in {1, 2, n, n + 2}:
            state, _ = labelled(name, truth, k)
            is_right(state, truth, k)


@pytest.mark.parametrize("name", PAIRWISE)
def test_every_order_of_six(name):
    for number, order in enumerate(permutations(range(6))):
        truth = Truth(dict(zip("abcdef", map(float, order), strict=True)))
        is_right(labelled(name, truth, 1 + number % 6, seed=number)[0], truth, 1 + number % 6)


@pytest.mark.parametrize("name", PAIRWISE)
def test_every_pattern_of_ties(name):
    for number, levels in enumerate(product(range(3), repeat=5)):
        truth = Truth(dict(zip("abcde", map(float, levels), strict=True)))
        k = 1 + number % 5
        is_right(labelled(name, truth, k, seed=number)[0], truth, k)


@pytest.mark.parametrize("name", TRANSITIVE)
def test_tied_items_stand_in_one_group_even_beyond_k(name):
    truth = Truth({"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 0.0})
    state, _ = labelled(name, truth, k=2)
    assert [sorted(group) for group in state.groups][:1] == [["a"]]
    assert set(state.groups[1]) == {"b", "c", "d"}


@pytest.mark.parametrize("name", PAIRWISE)
def test_every_set_of_forbidden_items(name):
    for size in range(6):
        for flagged in combinations("abcde", size):
            truth = Truth({"a": 3.0, "b": 1.0, "c": 5.0, "d": 2.0, "e": 4.0}, frozenset(flagged))
            for k in (1, 2, 5):
                state, log = labelled(name, truth, k)
                assert state.judgments == len(log)
                if size < 5:
                    is_right(state, truth, k)
                    assert set(state.forbidden) == set(flagged)
                else:  # the last one is shown beside nobody
                    assert len(state.forbidden) >= 4


def test_two_flags_are_one_judgment():
    truth = Truth({"a": 1.0, "b": 2.0}, frozenset("ab"))
    state, log = labelled("tournament", truth, k=1)
    assert (len(log), state.forbidden, state.order) == (1, ("a", "b"), ())


@pytest.mark.parametrize("name", PAIRWISE)
def test_a_flag_on_an_item_that_was_ahead_takes_it_out_and_the_rest_is_right(name):
    items = "abcdef"
    truth = Truth({item: float(-place) for place, item in enumerate(items)})
    honest = SimulatedAssessor(truth)
    late = SimulatedAssessor(Truth(truth.score, frozenset("a")))
    chosen = strategy(name, k=3)
    log: list[Judgment] = []
    while (question := chosen.state(items, log).question) is not None:
        log.append((late if len(log) >= 3 else honest).answer(question))
        assert len(log) < 100
    log.append(Judgment("prefer", "a", "b", forbidden=("a",)))
    while (question := chosen.state(items, log).question) is not None:
        log.append(late.answer(question))
        assert len(log) < 100
    state = chosen.state(items, log)
    assert state.forbidden == ("a",)
    assert state.order[:3] == ("b", "c", "d")


@pytest.mark.parametrize("name", TRANSITIVE)
def test_nothing_is_asked_that_follows_from_answers(name):
    truth = Truth.made_up("abcdefghijkl", ties=0.2, seed=3)
    _, log = labelled(name, truth, k=4)
    pairs = [frozenset(judgment.question.items) for judgment in log]
    assert len(set(pairs)) == len(pairs)
    said: set[tuple[str, str]] = set()
    for judgment in log:
        a, b = judgment.question.items
        assert not reachable(said, a, b)
        assert not reachable(said, b, a)
        said |= {(a, b)} if judgment.answer == "left" else {(b, a)} if judgment.answer == "right" else {(a, b), (b, a)}


def reachable(said: set[tuple[str, str]], start: str, end: str) -> bool:
    found, new = set(), {start}
    while new:
        found |= new
        new = {b for a, b in said if a in new} - found
    return end in found


@pytest.mark.parametrize("name", [*STRATEGIES])
def test_undone_is_as_if_it_had_never_been(name):
    truth = Truth.made_up("abcdefgh", ties=0.2, forbidden=0.25, seed=5)
    items, assessor, chosen = list(truth.score), SimulatedAssessor(truth), strategy(name, k=3, seed=2)
    log: list[Judgment] = []
    states = [chosen.state(items, log)]
    for _ in range(6):
        question = states[-1].question
        if question is None:
            break
        log.append(assessor.answer(question))
        states.append(chosen.state(items, log))
    for back in range(len(states)):
        undone = [*log, *[Judgment("undo")] * back]
        assert chosen.state(items, undone) == states[len(states) - 1 - back]


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("seed", range(4))
def test_a_course_says_what_the_log_replayed_says(name, seed):
    truth = Truth.made_up([f"d{i}" for i in range(14)], ties=0.1, forbidden=0.2, seed=seed)
    items, assessor = list(truth.score), SimulatedAssessor(truth, noise=0.1, seed=seed)
    chosen = strategy(name, k=4, seed=seed)
    assert isinstance(chosen, Pairwise)
    course, log = Course(chosen, items), []
    while True:
        state = course.state()
        assert state == chosen.state(items, log)
        if state.question is None:
            break
        kind = {3: "skip", 7: "cannot", 11: "skip"}.get(len(log))
        question = state.question
        judgment = Judgment(kind, question.left, question.right) if kind else assessor.answer(question)
        log.append(judgment)
        course.add(judgment)


@pytest.mark.parametrize("name", PAIRWISE)
@given(data=st.data())
def test_any_answers_come_to_an_end(name, data):
    """Whatever is said, contradictions, skips and answers to pairs that nobody asked included."""
    items = [f"d{i}" for i in range(data.draw(st.integers(0, 6)))]
    chosen = strategy(name, k=data.draw(st.integers(1, 4)), seed=data.draw(st.integers(0, 3)))
    log: list[Judgment] = []
    skips = 0
    while (question := (state := chosen.state(items, log)).question) is not None:
        assert len(log) < 100
        kind = data.draw(st.sampled_from(["prefer", "prefer", "prefer", "flag", "cannot", "skip", "stray", "undo"]))
        if kind in ("skip", "stray", "undo"):
            skips += 1
            kind = kind if skips < 8 else "prefer"
        answer = data.draw(st.sampled_from(["left", "right", "tie"]))
        if kind == "prefer":
            log.append(Judgment("prefer", question.left, question.right, answer=answer))
        elif kind == "flag":
            log.append(Judgment("prefer", question.left, question.right, forbidden=(question.left,)))
        elif kind == "stray":
            left, right = data.draw(st.sampled_from(items)), data.draw(st.sampled_from([*items, "unknown"]))
            log.append(Judgment("prefer", left, right, answer=answer))
        elif kind == "undo":
            log.append(Judgment("undo"))
        else:
            log.append(Judgment(kind, question.left, question.right))
    assert sorted([*state.order, *state.forbidden]) == sorted(items)
    for cycle in state.cycles:
        assert len(cycle) >= 2


@pytest.mark.parametrize("name", PAIRWISE)
def test_a_skipped_pair_comes_again_when_nothing_else_is_left(name):
    truth = Truth.made_up("abcdefgh", seed=1)
    items, assessor, chosen = list(truth.score), SimulatedAssessor(truth), strategy(name, k=3)
    skipped = chosen.state(items, []).question
    assert skipped is not None
    log = [Judgment("skip", skipped.left, skipped.right)]
    asked = []
    while (question := (state := chosen.state(items, log)).question) is not None:
        asked.append(question)
        log.append(assessor.answer(question))
    assert asked[0] != skipped
    is_right(state, truth, 3)
    assert state.judgments == len(log) - 1


def test_skipped_pairs_take_turns():
    chosen = strategy("all-pairs", k=1)
    log: list[Judgment] = []
    for _ in range(9):
        question = chosen.state("abc", log).question
        assert question is not None
        log.append(Judgment("skip", question.left, question.right))
    asked = [frozenset(judgment.question.items) for judgment in log]
    assert all(one != next_ for one, next_ in pairwise(asked))


@pytest.mark.parametrize("name", PAIRWISE)
def test_what_cannot_be_judged_is_not_asked_again_and_stays_as_given(name):
    chosen = strategy(name, k=2)
    assert chosen.state("ab", [Judgment("cannot", "b", "a")]).order == ("a", "b")
    state = chosen.state("ab", [Judgment("cannot", "b", "a"), Judgment("prefer", "a", "b", answer="right")])
    assert state.done
    if name in TRANSITIVE:
        assert state.order == ("b", "a")


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("broken", [*combinations("abcde", 1), *combinations("abcde", 2)])
def test_what_nobody_can_judge_is_not_in_the_top_and_hides_nothing(name, broken):
    """Pages that do not load: whoever sees one beside another document cannot say which is better."""
    for order in list(permutations("abcde"))[::3]:
        log: list[Judgment] = []
        chosen = strategy(name, k=2)
        while (question := (state := chosen.state("abcde", log)).question) is not None:
            left, right = question.items
            if {left, right} & {*broken}:
                log.append(Judgment("cannot", left, right))
            else:
                better = "left" if order.index(left) < order.index(right) else "right"
                log.append(Judgment("prefer", left, right, answer=better))
        judged = {item for one in log if one.kind == "prefer" for item in one.question.items}
        given_up = {item for one in log if one.kind == "cannot" for item in one.question.items}
        assert {*state.unjudged} == given_up - judged
        assert not {*broken} & {item for group in state.groups for item in group}
        # Who was only seen beside broken ones looks broken, too: with a single one, nobody is.
        good = [item for item in order if item not in (broken if len(broken) == 1 else state.unjudged)]
        assert state.groups == tuple((item,) for item in good if item not in broken)[:2]


@pytest.mark.parametrize("name", TRANSITIVE)
def test_an_answer_that_nobody_asked_for_counts(name):
    log = [Judgment("prefer", "a", "b", answer="left"), Judgment("prefer", "b", "c", answer="left")]
    state = strategy(name, k=3).state("abc", log)
    assert state.done
    assert state.groups == (("a",), ("b",), ("c",))


@pytest.mark.parametrize("name", PAIRWISE)
def test_contradictions_are_reported(name):
    log = [Judgment("prefer", *pair, answer="left") for pair in ("ab", "bc", "cd", "da")]
    cycles = strategy(name, k=4).state("abcd", log).cycles
    assert list(cycles) == [("d", "a", "b", "c")]


def test_a_tie_can_contradict():
    log = [
        Judgment("prefer", "a", "b", answer="left"),
        Judgment("prefer", "b", "c", answer="tie"),
        Judgment("prefer", "a", "c", answer="tie"),
    ]
    assert strategy("tournament").state("abc", log).cycles == (("c", "a", "b"),)


@pytest.mark.parametrize("name", PAIRWISE)
def test_sides_depend_on_the_seed_and_not_on_the_order(name):
    sides = {strategy(name, k=1, seed=seed).state("ab", []).question for seed in range(20)}
    assert sides == {Question("a", "b"), Question("b", "a")}
    assert strategy(name, k=1).state("ab", []).question == strategy(name, k=1).state("ba", []).question


@pytest.mark.parametrize("name", [*STRATEGIES])
def test_the_forecast_is_near_what_it_takes(name):
    total, first, half = 0, 0.0, 0.0
    for seed in range(12):
        truth = Truth.made_up([f"d{i}" for i in range(30)], seed=seed)
        items, assessor, chosen = list(truth.score), SimulatedAssessor(truth), strategy(name, k=6, seed=seed)
        course = Course(chosen, items) if isinstance(chosen, Pairwise) else None
        log = []
        while (question := (state := course.state() if course else chosen.state(items, log)).question) is not None:
            log.append(assessor.answer(question))
            if course:
                course.add(log[-1])
        assert state.expected == 0
        total += len(log)
        first += chosen.state(items, []).expected
        half += chosen.state(items, log[: len(log) // 2]).expected + len(log) // 2
    assert first == pytest.approx(total, rel=0.12)
    assert half == pytest.approx(total, rel=0.15)


def test_given_pairs_are_asked_and_no_others():
    chosen = strategy("pairs", pairs=[("a", "b"), ("c", "d"), ("a", "d")])
    log = [Judgment("skip", "a", "b"), Judgment("prefer", "d", "c", forbidden=("d",))]
    state = chosen.state("abcd", log)
    assert (state.question, state.expected, state.forbidden) == (Question("a", "b"), 1.0, ("d",))
    assert chosen.state("abcd", [*log, Judgment("cannot", "a", "b")]).done


def test_grades_make_groups_that_reach_k():
    grades = {"a": 2, "b": 4, "c": 2, "d": 0, "e": 4}
    log = [Judgment("grade", item, grade=grade) for item, grade in grades.items()]
    state = strategy("grades", k=3).state("abcdefg", [*log, Judgment("cannot", "f")])
    assert state.question == Question("g")
    state = strategy("grades", k=3).state(
        "abcdefg", [*log, Judgment("cannot", "f"), Judgment("grade", "g", forbidden=("g",))]
    )
    assert state.groups == (("b", "e"), ("a", "c"))
    assert (state.rest, state.forbidden, state.judgments, state.unjudged) == (("d", "f"), ("g",), 6, ("f",))


def test_what_does_not_exist_is_refused():
    with pytest.raises(InputError, match="no strategy 'guess'"):
        strategy("guess")
    with pytest.raises(InputError, match="k is 0"):
        strategy("heap", k=0)
