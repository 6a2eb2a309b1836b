"""The paper's user study with simulated assessors: one way of seeing documents, asked in two ways.

Each assessor sees the same truth slightly differently, and makes occasional slips. Pairs and grades ask the same eyes,
so that what the two tools differ by is what the questions do, not who was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol
from zlib import crc32

import numpy as np

from ranksift.collection.ragged import Floats
from ranksift.labelling.assignment import rotation
from ranksift.labelling.judgments import GRADES, Judgment, Question
from ranksift.labelling.records import Entry, Item, NewTask, Query, Task
from ranksift.labelling.simulation import SECONDS_PER_GRADE, SECONDS_PER_PAIR
from ranksift.labelling.strategies import strategy
from ranksift.labelling.strategies.pairwise import Course, Pairwise

if TYPE_CHECKING:
    from ranksift.labelling.store import Store

#: How many queries, documents of each, and assessors the paper has.
QUERIES, DOCUMENTS, ASSESSORS = 50, 50, 5

# What was never saved has no time of its own.
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Perception:
    """How assessors see documents; spreads are deviations of normal errors, in units of the utility.

    Attributes
    ----------
    taste
        The deviation of an assessor's own view of a document: the same in every judgment of it, with any tool.
    slip_of_pairs, slip_of_grades
        The deviations of a single judgment: of the difference of two documents, and of one document. Two slips of
        single documents make one of their difference: by default both tools are as careless.
    indifference
        Two documents that look less far apart are called a tie.
    severity
        By how much the bounds of one assessor's grades lie above those of another: a habit of each.
    bounds
        The bounds of the grades, as utilities.
    pace
        The deviation of the speed of assessors, on a logarithmic scale; times of single judgments have a deviation of
        0.5 there.
    """

    taste: float
    slip_of_pairs: float
    slip_of_grades: float
    indifference: float
    severity: float
    bounds: tuple[float, ...]
    pace: float = 0.2

    def __post_init__(self) -> None:
        if len(self.bounds) != len(GRADES) - 1 or list(self.bounds) != sorted(self.bounds):
            raise ValueError(f"{len(GRADES)} grades have {len(GRADES) - 1} bounds between them, in order")


@dataclass(frozen=True, eq=False)
class Assessor:
    """An assessor; the same question always gets the same answer.

    Attributes
    ----------
    number
        Who it is: the eye and the habits follow from it.
    utilities
        The utilities of each query's documents: the truth.
    perception
        How it is seen.
    seed
        The seed of all errors.

    Examples
    --------
    >>> clear = Perception(0, 0, 0, 0.1, 0, (0.2, 0.4, 0.6, 0.8))
    >>> ann = Assessor(1, {"q": {"a": 0.9, "b": 0.3, "c": 0.35}}, clear)
    >>> ann.answer("q", Question("b", "a")).answer, ann.answer("q", Question("b", "c")).answer
    ('right', 'tie')
    >>> ann.answer("q", Question("a")).grade
    4
    """

    number: int
    utilities: Mapping[str, Mapping[str, float]]
    perception: Perception
    seed: int = 0

    def answer(self, query: str, question: Question) -> Judgment:
        """The assessor's answer."""
        own = self._view(query)
        one = own.place[question.left]
        if question.right is None:
            grade = int(np.searchsorted(self.perception.bounds, own.graded[one], side="right"))
            return Judgment("grade", question.left, grade=grade)
        two = own.place[question.right]
        apart = own.seen[one] - own.seen[two] + own.slips[one, two]
        said: Literal["left", "right", "tie"]
        said = "tie" if abs(apart) <= self.perception.indifference else "left" if apart > 0 else "right"
        return Judgment("prefer", question.left, question.right, answer=said)

    def seconds(self, query: str, question: Question) -> float:
        """How long the judgment takes; the means are those that the paper prints."""
        mean = SECONDS_PER_GRADE if question.right is None else SECONDS_PER_PAIR
        random = self._random(f"{query} {' '.join(sorted(question.items))}")
        of_one = np.random.default_rng([self.seed, self.number]).normal() * self.perception.pace
        spread = 0.5
        drawn = of_one - self.perception.pace**2 / 2 + random.normal() * spread - spread**2 / 2
        return float(mean * np.exp(drawn))

    def _random(self, what: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.number, crc32(what.encode())])

    def _view(self, query: str) -> _View:
        return _view(self, query)


@dataclass(frozen=True, eq=False)
class _View:
    """A query in the eyes of an assessor."""

    place: dict[str, int]
    seen: Floats
    slips: Floats
    graded: Floats


@lru_cache(maxsize=512)
def _view(assessor: Assessor, query: str) -> _View:
    utility = assessor.utilities[query]
    count, perception = len(utility), assessor.perception
    random = assessor._random(query)
    seen = np.array(list(utility.values())) + random.normal(size=count) * perception.taste
    slips = np.triu(random.normal(size=(count, count)), 1) * perception.slip_of_pairs
    severity = np.random.default_rng([assessor.seed, assessor.number]).normal(size=2)[1] * perception.severity
    graded = seen + random.normal(size=count) * perception.slip_of_grades - severity
    return _View({doc: i for i, doc in enumerate(utility)}, seen, slips - slips.T, graded)


class Client(Protocol):
    """What speaks to the JSON API: ``httpx.Client``, or Starlette's ``TestClient``."""

    def get(self, url: str, /) -> Any:
        """Fetch."""

    def post(self, url: str, /, *, json: Any) -> Any:
        """Send."""


def set_up(
    store: Store,
    utilities: Mapping[str, Mapping[str, float]],
    *,
    assessors: int = ASSESSORS,
    assignments: int = 2,
    seed: int = 0,
) -> tuple[list[Task], dict[int, str]]:
    """Queries, assessors and the paper's assignment in an empty project; its strategy and k count.

    Returns
    -------
    The tasks, and by person the token with which they sign in.
    """
    project = store.project
    store.add(
        Query(query, query, items=tuple(Item(doc, doc) for doc in documents)) for query, documents in utilities.items()
    )
    added = [store.add_person(f"U{i + 1}", "assessor") for i in range(assessors)]
    tasks = store.assign(
        rotation(
            list(utilities),
            [person.id for person, _ in added],
            assignments=assignments,
            strategy=project.strategy,
            k=project.k,
            shared_order=True,
            seed=seed,
        )
    )
    return tasks, {person.id: token for person, token in added}


def work_through(client: Client, key: str, assessor: Assessor) -> int:
    """Answer everything that a task asks, through the JSON API; how many judgments its log has then.

    A task that was begun is continued.
    """
    state = client.get(f"/api/v1/tasks/{key}/question").json()
    query = state["query"]["id"]
    while state["question"] is not None:
        cards = state["question"]
        question = Question(cards["left"]["id"], cards["right"]["id"] if "right" in cards else None)
        said = assessor.answer(query, question)
        body = {
            "client_id": f"{key}-{state['after']}",
            "after": state["after"],
            "kind": said.kind,
            "left": said.left,
            "right": said.right,
            "answer": said.answer,
            "grade": said.grade,
            "active_seconds": assessor.seconds(query, question),
        }
        reply = client.post(f"/api/v1/tasks/{key}/judgments", json=body)
        reply.raise_for_status()
        state = reply.json()["state"]
    return int(state["after"])


def made_up_utilities(queries: int = QUERIES, documents: int = DOCUMENTS, seed: int = 0) -> dict[str, dict[str, float]]:
    """Utilities if there is no collection: exponential, so that most documents are nearly alike and few stand out.

    Examples
    --------
    >>> [len(docs) for docs in made_up_utilities(2, 3).values()]
    [3, 3]
    """
    drawn = np.random.default_rng(seed).exponential(size=(queries, documents))
    return {
        f"q{i + 1:02}": {f"d{j + 1:02}": float(value) for j, value in enumerate(row)} for i, row in enumerate(drawn)
    }


def rehearse(
    utilities: Mapping[str, Mapping[str, float]],
    assessors: Sequence[Assessor],
    *,
    chosen: str = "heap",
    k: int = 10,
    assignments: int = 2,
    sides: Callable[[Question, int], Question] = lambda question, seed: question,
    seed: int = 0,
) -> list[Entry]:
    """The log that the paper's assignment leads to, without a store: to try settings and seeds out.

    ``sides`` draws which document of a pair is shown on the left, by the seed of the task, as a page does.

    Examples
    --------
    >>> utilities = made_up_utilities(5, 8)
    >>> clear = Perception(0, 0, 0, 0, 0, (0.2, 0.5, 1.0, 2.0))
    >>> log = rehearse(utilities, [Assessor(i, utilities, clear) for i in range(1, 6)], k=3)
    >>> sum(entry.tool == "grades" for entry in log)
    80
    """
    people = {assessor.number: assessor for assessor in assessors}
    log = []
    for task in rotation(
        list(utilities), list(people), assignments=assignments, strategy=chosen, k=k, shared_order=True, seed=seed
    ):
        assessor, docs = people[task.person], list(utilities[task.query_id])
        key = f"{task.query_id}/{task.person}/{task.tool}"
        for number, (question, said) in enumerate(_answers(task, docs, assessor, sides), 1):
            seconds = assessor.seconds(task.query_id, question)
            name = f"U{task.person}"
            where = (key, task.query_id, name, task.tool, task.purpose, number, f"{key}/{number}")
            log.append(Entry(*where, said, seconds, "", (), _NEVER, {"strategy": task.strategy}))
    return log


def _answers(
    task: NewTask, docs: Sequence[str], assessor: Assessor, sides: Callable[[Question, int], Question]
) -> Iterator[tuple[Question, Judgment]]:
    chosen = strategy(task.strategy, k=task.k, seed=task.seed)
    if isinstance(chosen, Pairwise):
        course = Course(chosen, docs)
        while course.question is not None:
            question = sides(course.question, task.seed)
            said = assessor.answer(task.query_id, question)
            course.add(said)
            yield question, said
        return
    log: list[Judgment] = []
    while (asked := chosen.state(docs, log).question) is not None:
        log.append(assessor.answer(task.query_id, asked))
        yield asked, log[-1]
