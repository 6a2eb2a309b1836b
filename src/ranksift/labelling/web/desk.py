"""An assessor's desk: the question of a task as it is shown, and what becomes of an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from ranksift.errors import InputError
from ranksift.labelling.judgments import Answer, Judgment, Question, effective
from ranksift.labelling.plain_text import text_of
from ranksift.labelling.records import Item, Task
from ranksift.labelling.store import Moved, Store
from ranksift.labelling.strategies.strategy import State
from ranksift.labelling.task_state import task_state
from ranksift.web.problems import Problem

_LONGEST_TIME = 24 * 3600.0  # for one judgment; more is a clock that went wrong
_MOST_NAMED = 20  # documents in an order that are named by how they begin
_READ = 5_000  # characters of a document, to find its beginning in
_NAME = 80


def shown(question: Question, seed: int) -> Question:
    """The question with its sides drawn at random; for the same task and pair the lot is always the same.

    >>> shown(Question("a", "b"), 0) == shown(Question("b", "a"), 0)
    True
    """
    if question.right is None:
        return question
    first, second = sorted(question.items)
    lot = sha256("\0".join((str(seed), first, second)).encode("utf-8", "surrogatepass")).digest()[0]
    return Question(first, second) if lot % 2 else Question(second, first)


@dataclass(frozen=True)
class Desk:
    """What assessors see of their tasks, and what they may say."""

    store: Store

    def view(self, task: Task, ahead: bool = False) -> dict[str, Any]:
        """Where a task stands, fit for JSON.

        Parameters
        ----------
        task
            The task.
        ahead
            Whether to say too which question follows each answer, so that a page can show it at once.
        """
        return self._view(task, self.store.items(task.query_id), self.store.log(task.key), ahead)

    def judge(self, task: Task, said: Mapping[str, Any], ahead: bool = False) -> dict[str, Any]:
        """Save what an assessor said, once; where the task stands then.

        A judgment that was saved before changes nothing. One that was made without knowing all of the log is refused
        with 409, and where the task stands comes with the refusal.
        """
        items, log = self.store.items(task.query_id), self.store.log(task.key)
        after = int(said["after"])
        judgment = self._judgment(task, said)
        done = False
        if after == len(log):  # else it is a repetition, or the store refuses it
            before = task_state(task, [item.doc_id for item in items], log)
            if not _fits(judgment, before, log):
                raise self._moved(task, items, log)
            log = [*log, judgment]
            done = task_state(task, [item.doc_id for item in items], log).done
        try:
            saved = self.store.append(
                task.key,
                said["client_id"],
                judgment,
                after=after,
                active_seconds=_seconds(said.get("active_seconds", 0.0)),
                note=said.get("note", "").strip(),
                proposed=self._proposed(task, items, judgment),
                done=done,
                of=len(items),
            )
        except Moved:
            raise self._moved(task, self.store.items(task.query_id), self.store.log(task.key)) from None
        if saved.number != len(log):
            log = self.store.log(task.key)
        return {"number": saved.number, "repeated": saved.repeated, "state": self._view(task, items, log, ahead)}

    def _view(self, task: Task, items: Sequence[Item], log: Sequence[Judgment], ahead: bool) -> dict[str, Any]:
        known = {item.doc_id: item for item in items}
        ids = list(known)
        state = task_state(task, ids, log)
        question = None if state.question is None else shown(state.question, task.seed)
        view: dict[str, Any] = {
            "task": task.key,
            "after": len(log),
            "can_undo": bool(effective(log)),
            **_standing(task, state, question, known, state.expected),
        }
        if state.done:
            names = self._names(task, state, known)
            view["order"] = [
                [{**_card(task, known[one]), "name": names[one]} for one in group if one in known]
                for group in state.groups
            ]
            view["forbidden"] = [_card(task, known[one]) for one in state.forbidden if one in known]
            view["cycles"] = [[names[one] for one in cycle if one in known] for cycle in state.cycles]
        if ahead and question is not None:
            sooner = max(state.expected - 1.0, 1.0)
            view["ahead"] = {
                # What is expected then is not played through: this is shown until the answer is saved.
                name: _standing(task, then, then.question and shown(then.question, task.seed), known, sooner)
                for name, judgment in _possible(question).items()
                for then in (task_state(task, ids, [*log, judgment]),)
            }
        return view

    def _names(self, task: Task, state: State, known: Mapping[str, Item]) -> dict[str, str]:
        """By what an assessor knows the documents again that the end of a task names."""
        named = [one for group in (*state.groups, *state.cycles) for one in group if one in known]
        without = [one for one in dict.fromkeys(named) if not known[one].title][:_MOST_NAMED]
        names = {one: known[one].title or one for one in named}
        return names | {one: _beginning(self.store.item(task.query_id, one)) for one in without}

    def _judgment(self, task: Task, said: Mapping[str, Any]) -> Judgment:
        kind = said["kind"]
        if kind == "undo":
            return Judgment("undo")
        left, right = said.get("left", ""), said.get("right")
        answer: Answer | None = said.get("answer")
        grade, forbidden = said.get("grade"), tuple(dict.fromkeys(said.get("forbidden", ())))
        if (right is None) is not (task.tool == "grades"):
            raise InputError(
                f"this task has {task.tool}", remedy="give left and right for pairs, left alone for grades"
            )
        if not set(forbidden) <= {left, right}:
            raise InputError("only documents of the question can be marked as forbidden", remedy="see: left and right")
        if kind in ("skip", "cannot"):
            return Judgment(kind, left, right)
        if kind != ("grade" if task.tool == "grades" else "prefer"):
            raise InputError(f"a task with {task.tool} does not take {kind}", remedy="see: tool of the task")
        if kind == "grade":
            names = self.store.project.grades
            if (grade is None) is not bool(forbidden) or (grade is not None and not 0 <= grade < len(names)):
                raise InputError("a document is either forbidden or has a grade", remedy=f"give 0 to {len(names) - 1}")
            return Judgment("grade", left, grade=grade, forbidden=forbidden)
        if answer is None and not forbidden:
            raise InputError("the answer is missing", remedy="give left, right or tie, or forbidden documents")
        better = {"left": left, "right": right}.get(answer or "")
        if better in forbidden or (answer == "tie" and len(forbidden) == 1):
            raise InputError("a forbidden document cannot be better or equal", remedy="leave one of the two out")
        return Judgment("prefer", left, right, answer=answer, forbidden=forbidden)

    def _proposed(self, task: Task, items: Sequence[Item], judgment: Judgment) -> tuple[str, ...]:
        if not task.with_proposals or judgment.kind == "undo":
            return ()
        asked = judgment.question.items
        return tuple(item.doc_id for item in items if item.proposed_forbidden and item.doc_id in asked)

    def _moved(self, task: Task, items: Sequence[Item], log: Sequence[Judgment]) -> Problem:
        sentence = (
            "This task was continued elsewhere, in another window or on another device. This is its current state."
        )
        return Problem(409, sentence, {"state": self._view(task, items, log, ahead=True)})


def _fits(judgment: Judgment, state: State, log: Sequence[Judgment]) -> bool:
    """Whether it answers the question that is asked, or there is something to undo."""
    if judgment.kind == "undo":
        return bool(effective(log))
    return state.question is not None and set(judgment.question.items) == set(state.question.items)


def _possible(question: Question) -> dict[str, Judgment]:
    """What can be said to a question, under the names that the page has for it."""
    left, right = question.left, question.right
    if right is None:
        return {
            "grade": Judgment("grade", left, grade=0),
            "forbidden": Judgment("grade", left, forbidden=(left,)),
            "skip": Judgment("skip", left),
            "cannot": Judgment("cannot", left),
        }
    return {
        "left": Judgment("prefer", left, right, answer="left"),
        "right": Judgment("prefer", left, right, answer="right"),
        "tie": Judgment("prefer", left, right, answer="tie"),
        "forbidden-left": Judgment("prefer", left, right, forbidden=(left,)),
        "forbidden-right": Judgment("prefer", left, right, forbidden=(right,)),
        "forbidden-both": Judgment("prefer", left, right, forbidden=(left, right)),
        "skip": Judgment("skip", left, right),
        "cannot": Judgment("cannot", left, right),
    }


def _standing(
    task: Task, state: State, question: Question | None, known: Mapping[str, Item], expected: float
) -> dict[str, Any]:
    cards = None
    if question is not None:
        cards = {"left": _card(task, known[question.left])}
        if question.right is not None:
            cards["right"] = _card(task, known[question.right])
    expected = 0.0 if state.done else round(expected, 1)
    return {"question": cards, "judgments": state.judgments, "expected": expected, "done": state.done}


def _card(task: Task, item: Item) -> dict[str, Any]:
    return {
        "id": item.doc_id,
        "title": item.title,
        "language": item.language,
        "proposed": bool(task.with_proposals and item.proposed_forbidden),
    }


def _beginning(item: Item) -> str:
    """How a document begins, for one without a title."""
    text = " ".join(text_of(replace(item, content=item.content[:_READ])).split())
    return text if len(text) <= _NAME else f"{text[:_NAME].rstrip()} …"


def _seconds(value: float) -> float:
    return min(max(float(value), 0.0), _LONGEST_TIME) if math.isfinite(value) else 0.0
