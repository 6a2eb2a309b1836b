"""The made-up study: through the pages of a project and without them, and what errors do to agreement."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from ranksift.labelling import agreement as ag
from ranksift.labelling.judgments import Question
from ranksift.labelling.records import Project, Task
from ranksift.labelling.store import Store
from ranksift.labelling.study import Assessor, Perception, made_up_utilities, rehearse, set_up, work_through
from ranksift.labelling.task_state import task_state
from ranksift.labelling.web import application
from ranksift.labelling.web.desk import shown as sides

CLEAR = Perception(0, 0, 0, 0, 0, (0.2, 0.5, 1.0, 2.0))
BLURRED = Perception(0.1, 0.2, 0.14, 0.05, 0.1, (0.2, 0.5, 1.0, 2.0))
UTILITIES = made_up_utilities(10, 12)


def panel(perception: Perception, seed: int = 0) -> list[Assessor]:
    return [Assessor(i, UTILITIES, perception, seed) for i in range(1, 6)]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Store, dict[int, TestClient], list[Task]]]:
    """The study's project, and a client of its pages for every assessor."""
    with Store.create(tmp_path / "study", Project("Study", k=3, strategy="heap")) as store:
        tasks, tokens = set_up(store, UTILITIES)
        app, clients = application(store), {}
        for person, token in tokens.items():
            clients[person] = TestClient(app)
            clients[person].headers["authorization"] = f"Bearer {token}"
        yield store, clients, tasks


def test_the_log_of_the_pages_is_the_one_that_was_rehearsed(served) -> None:
    store, clients, tasks = served
    assessors = {person: Assessor(i, UTILITIES, BLURRED) for i, person in enumerate(clients, 1)}
    judged = {task.key: work_through(clients[task.person], task.key, assessors[task.person]) for task in tasks}
    stored = list(store.entries())
    for task in store.tasks():
        assert task.done
        assert work_through(clients[task.person], task.key, assessors[task.person]) == judged[task.key]
    assert len(list(store.entries())) == len(stored)  # nothing is asked again
    rehearsed = rehearse(UTILITIES, panel(BLURRED), k=3, sides=sides)

    def said(entries):
        return sorted(
            (e.query_id, e.person, e.tool, e.purpose, e.number, repr(e.judgment), round(e.active_seconds, 6))
            for e in entries
        )

    assert said(stored) == said(rehearsed)


def test_a_task_that_was_begun_is_continued(served) -> None:
    store, clients, tasks = served
    for tool in ("pairs", "grades"):
        task = next(t for t in tasks if t.tool == tool)
        assessor = Assessor(1, UTILITIES, BLURRED)
        items = [item.doc_id for item in store.items(task.query_id)]
        for i in range(3):
            question = task_state(task, items, store.log(task.key)).question
            assert question is not None
            store.append(task.key, f"mine-{i}", assessor.answer(task.query_id, question), after=i)
        count = work_through(clients[task.person], task.key, assessor)
        log = store.log(task.key)
        assert len(log) == count > 3
        assert task_state(task, items, log).done


def test_clear_eyes_agree_about_everything_and_find_the_truth() -> None:
    log = rehearse(UTILITIES, panel(CLEAR), k=3)
    for ratings in (ag.pairwise(log), ag.from_grades(log), ag.grades(log)):
        assert len(ratings)
        assert ag.agreement_among(ratings).overall.value == 1
    for entry in log:
        utility, said = UTILITIES[entry.query_id], entry.judgment
        if said.right is not None:
            assert (said.answer == "left") == (utility[said.left] > utility[said.right])
        else:
            assert said.grade == sum(utility[said.left] >= bound for bound in CLEAR.bounds)


@pytest.mark.parametrize("kind", ["taste", "slip_of_pairs", "slip_of_grades", "severity"])
def test_every_error_lowers_the_agreement_that_it_should(kind: str) -> None:
    log = rehearse(UTILITIES, panel(replace(CLEAR, **{kind: 0.5})), k=3)
    pairs = ag.agreement_among(ag.pairwise(log), samples=0).overall.value
    grades = ag.agreement_among(ag.grades(log), range(5), samples=0).overall.value
    assert (pairs < 1) == (kind in ("taste", "slip_of_pairs"))
    assert (grades < 1) == (kind != "slip_of_pairs")


def test_indifference_makes_ties_and_the_same_question_the_same_answer() -> None:
    log = rehearse(UTILITIES, panel(replace(CLEAR, indifference=0.3)), k=3)
    for entry in log:
        if entry.tool == "pairs":
            apart = UTILITIES[entry.query_id][entry.judgment.left] - UTILITIES[entry.query_id][entry.judgment.right]
            assert (entry.judgment.answer == "tie") == (abs(apart) <= 0.3)
    ann = Assessor(1, UTILITIES, BLURRED)
    turned = {"left": "right", "right": "left", "tie": "tie"}
    for i in range(2, 13):
        one, two = (ann.answer("q01", Question(*docs)) for docs in (("d01", f"d{i:02}"), (f"d{i:02}", "d01")))
        assert two.answer == turned[one.answer]


def test_times_have_the_means_that_are_put_in() -> None:
    utilities = made_up_utilities(30, 12)
    log = rehearse(utilities, [Assessor(i, utilities, CLEAR) for i in range(1, 6)])
    for tool, mean in (("pairs", 5.51), ("grades", 13.87)):
        seconds = [
            np.mean([e.active_seconds for e in log if e.tool == tool and e.person == f"U{i}"]) for i in range(1, 6)
        ]
        # Five assessors with paces of their own: the deviation of their mean is 0.2 / √5.
        assert np.mean(seconds) == pytest.approx(mean, rel=0.25)
        assert max(seconds) > 1.05 * min(seconds)


def test_bounds_are_in_order() -> None:
    with pytest.raises(ValueError, match="5 grades have 4 bounds"):
        Perception(0, 0, 0, 0, 0, (0.5, 0.2, 1.0, 2.0))
