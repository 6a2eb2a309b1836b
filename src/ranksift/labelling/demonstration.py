"""A demonstration project: a synthetic forum, a model that makes proposals, and simulated assessors."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import numpy as np

from ranksift.collection.examples import Examples
from ranksift.collection.text_features import text_features
from ranksift.datasets.forum import synthetic_forum
from ranksift.errors import InputError
from ranksift.labelling.assignment import ordinary
from ranksift.labelling.assistant import with_proposals
from ranksift.labelling.judgments import Judgment, Question
from ranksift.labelling.prior import with_prior
from ranksift.labelling.records import Item, NewTask, Project, Query, Task
from ranksift.labelling.simulation import SimulatedAssessor, Truth

if TYPE_CHECKING:
    from ranksift.labelling.store import Store

GUIDELINES = """Which of the two posts would you rather read, had you asked the question?

Posts that name a place of the kind that is asked for are best. Posts that help to find one come next.
Flag as forbidden the posts that nobody should have to read: chatter, thanks, and places of another kind.
If you see no difference, say so. All posts are synthetic."""

#: Who plays along, how often they err, and who leads.
PLAYERS, NOISE, LEAD, VISITOR = ("Bob", "Eve", "Sam"), 0.05, "Ann", "You"

_FEWEST, _MOST = 9, 16
_THREADS = 300


@dataclass(frozen=True)
class Demonstration:
    """What is to be labelled, and what simulated assessors know about it.

    Attributes
    ----------
    project, queries
        With a prior of a model for each document.
    truth
        The truth of each query.
    """

    project: Project
    queries: tuple[Query, ...]
    truth: Mapping[str, Truth]

    @classmethod
    def of_forum(cls, queries: int = 8, k: int = 5, seed: int = 0) -> Demonstration:
        """Threads of a synthetic forum; the model has learned from others.

        Examples
        --------
        >>> made = Demonstration.of_forum(queries=2)
        >>> len(made.queries), made.queries[0].items[0].prior is not None
        (2, True)
        """
        forum = _with_features(synthetic_forum(_THREADS, seed=seed).examples)
        fits = np.flatnonzero((forum.lengths >= _FEWEST) & (forum.lengths <= _MOST))[:queries]
        if len(fits) < queries:
            raise InputError(f"the forum has no {queries} threads to label", remedy="ask for fewer")
        chosen = forum.of_queries(fits)
        others = forum.of_queries(np.setdiff1d(np.arange(len(forum.query_ids)), fits))
        texts = chosen.texts
        assert texts is not None
        made, truth = [], {}
        draw = np.random.default_rng(seed)
        for q, (start, end) in enumerate(zip(chosen.offsets[:-1].tolist(), chosen.offsets[1:].tolist(), strict=True)):
            docs, name = chosen.docs[start:end], chosen.query_ids[q]
            items = tuple(
                Item(doc, texts.docs[start + i], title=f"Post {i + 1}", language="en") for i, doc in enumerate(docs)
            )
            made.append(Query(name, texts.queries[q], "A thread of a forum: which posts help?", "en", items))
            # Two good posts are not equally good, to those who look closely.
            worth = chosen.labels[start:end] + draw.normal(0, 0.5, end - start)
            bad = frozenset(doc for doc, label in zip(docs, chosen.labels[start:end], strict=True) if label < 0)
            truth[name] = Truth(dict(zip(docs, worth.tolist(), strict=True)), bad)
        project = Project("A forum to try things on", GUIDELINES, k)
        return cls(project, with_prior(made, _model(others), data=replace(chosen, texts=None)).queries, truth)

    def assessor(self, name: str, query: str) -> SimulatedAssessor:
        """The assessor who answers questions about a query: each player makes different errors."""
        return SimulatedAssessor(self.truth[query], NOISE, "thurstone", seed=PLAYERS.index(name))

    def labels(self) -> dict[str, dict[str, int]]:
        """The truth as labels of the top k."""
        return {query: truth.labels(self.project.k) for query, truth in self.truth.items()}


def _with_features(forum: Examples) -> Examples:
    texts = forum.texts
    assert texts is not None
    found = {name: values for name, values in text_features(texts, forum.offsets).items() if np.isfinite(values).all()}
    return replace(forum, features=np.column_stack([*found.values()]), feature_names=tuple(found))


def _model(threads: Examples) -> Any:
    """A ranker of simple features with a cut, which needs no other library."""
    from ranksift.learning import RankBoost

    training, held_out = replace(threads, texts=None).split(0.7, seed=0)
    return RankBoost().fit(training).fit_cutoff(held_out)


@dataclass(frozen=True)
class People:
    """Secrets of the personal links, by name."""

    lead: str
    visitor: str
    players: Mapping[str, str]


def set_up(store: Store, made: Demonstration, seed: int = 0) -> People:
    """Add queries and people to an empty project, and assign: two players for each query, and some for the visitor."""
    store.add(made.queries)
    _, lead = store.add_person(LEAD, "lead")
    players = {name: store.add_person(name, "assessor") for name in PLAYERS}
    visitor, token = store.add_person(VISITOR, "assessor")
    ids = [query.query_id for query in made.queries]
    k, numbers = made.project.k, [person.id for person, _ in players.values()]
    tasks = ordinary(ids, numbers, per_query=1, overlap=1.0, k=k, seed=seed)
    last, first = ids[-3:], ids[:-3][:1]  # no one may see a query with both tools
    tasks += [NewTask(query, visitor.id, "pairs", "overlap", k=k, seed=seed) for query in last]
    tasks += [NewTask(query, visitor.id, "grades", "overlap", "grades", k, seed) for query in first]
    store.assign(with_proposals(tasks, made.queries, seed=seed))
    return People(lead, token, {name: secret for name, (_, secret) in players.items()})


# -- playing along -----------------------------------------------------------------------------------------------------


class Client:
    """A program that labels: the JSON API of a server, for one person.

    Parameters
    ----------
    url
        The address of the pages, such as http://127.0.0.1:8765.
    token
        The last part of a personal link.
    """

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self._connection = HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        self._root, self._token = parts.path.rstrip("/"), token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Do one operation; an error in the answer is raised.

        A server closes a connection on which nothing was said for some seconds. Then a new one is opened, and an
        unanswered request is sent again: a judgment is saved only once, however often it is sent.
        """
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = (method, f"{self._root}/api/v1{path}", data, headers)
        try:
            status, answer = self._answer(*request)
        except ConnectionError:
            self.close()
            status, answer = self._answer(*request)
        said = json.loads(answer or b"null")
        if status >= 400:
            message = said.get("error", {}).get("message", "") if isinstance(said, dict) else ""
            raise InputError(f"{method} {path}: {status} {message}".strip(), remedy="look at /api/v1/openapi.json")
        return said

    def _answer(self, *request: Any) -> tuple[int, bytes]:
        self._connection.request(*request)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def play(
    client: Client,
    answer: Callable[[str, Question], Judgment],
    seconds: Callable[[str, Question], float],
    *,
    tasks: Sequence[str] | None = None,
    pause: float = 0.0,
    stop: threading.Event | None = None,
) -> int:
    """Work on the tasks of a person until there are no more questions; the number of judgments given.

    Parameters
    ----------
    client
        The client of this person.
    answer, seconds
        The answer to a question about a query, and the time that it takes.
    tasks
        Queries to work on; by default all.
    pause
        The share of that time to wait: 1 is as slow as a person.
    stop
        Ends it early.
    """
    count = 0
    for task in client.ask("GET", "/tasks")["tasks"]:
        if task["done"] or (tasks is not None and task["query_id"] not in tasks):
            continue
        key = quote(task["key"], safe="")
        view = client.ask("GET", f"/tasks/{key}/question")
        while view["question"] is not None:
            cards = view["question"]
            question = Question(cards["left"]["id"], cards["right"]["id"] if cards.get("right") else None)
            took = seconds(task["query_id"], question)
            if stop is None:
                time.sleep(took * pause)
            elif stop.wait(took * pause):
                return count
            said = answer(task["query_id"], question)
            body = {
                "client_id": f"{task['key']}-{view['after']}",
                "after": view["after"],
                "kind": said.kind,
                "left": said.left,
                "right": said.right,
                "answer": said.answer,
                "grade": said.grade,
                "forbidden": list(said.forbidden),
                "active_seconds": round(took, 2),
            }
            view = client.ask("POST", f"/tasks/{key}/judgments", body)["state"]
            count += 1
    return count


def play_all(
    url: str,
    made: Demonstration,
    people: People,
    *,
    tasks: Sequence[str] | None = None,
    pause: float = 0.0,
    stop: threading.Event | None = None,
) -> int:
    """Let all players work at the same time, each in a thread; how many judgments they gave."""
    counts: dict[str, int] = {}
    failed: list[BaseException] = []

    def work(name: str, token: str) -> None:
        client = Client(url, token)
        try:
            counts[name] = play(
                client,
                lambda query, question: made.assessor(name, query).answer(question),
                lambda query, question: made.assessor(name, query).seconds(question),
                tasks=tasks,
                pause=pause,
                stop=stop,
            )
        except (OSError, InputError) as error:
            if stop is None or not stop.is_set():
                failed.append(error)
        finally:
            client.close()

    threads = [threading.Thread(target=work, args=each, daemon=True) for each in people.players.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return sum(counts.values())


def tasks_of(store: Store, name: str) -> list[Task]:
    """The tasks of a person."""
    (person,) = (person for person in store.people() if person.name == name)
    return store.tasks(person=person.id)
