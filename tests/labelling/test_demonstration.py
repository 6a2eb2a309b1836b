"""The built-in project: what is in it, and assessors that play along."""

import socket
import threading

import pytest

import ranksift as rs
from ranksift.cli.label_demo import _served
from ranksift.labelling.demonstration import PLAYERS, Client, Demonstration, play_all, set_up, tasks_of
from ranksift.labelling.store import Store


@pytest.fixture(scope="module")
def made() -> Demonstration:
    """Three threads."""
    return Demonstration.of_forum(queries=3, k=3, seed=1)


@pytest.fixture
def store(made: Demonstration, tmp_path):
    """A project without people."""
    with Store.create(tmp_path / "demo", made.project) as store:
        yield store


def test_it_is_the_same_for_the_same_seed(made: Demonstration):
    again = Demonstration.of_forum(queries=3, k=3, seed=1)
    assert again.queries == made.queries
    assert again.truth == made.truth
    assert Demonstration.of_forum(queries=3, k=3, seed=2).queries != made.queries


def test_the_truth_is_about_the_documents(made: Demonstration):
    for query in made.queries:
        truth = made.truth[query.query_id]
        assert {*truth.score} == {item.doc_id for item in query.items}
        assert 0 < len(truth.forbidden) < len(query.items)


def test_the_prior_knows_something(made: Demonstration):
    run = {query.query_id: {item.doc_id: item.prior for item in query.items} for query in made.queries}
    backwards = {query: {doc: -score for doc, score in own.items()} for query, own in run.items()}
    scores = rs.evaluate(made.labels(), {"model": run, "backwards": backwards}, "kNDCG@3").aggregate()[:, 0]
    assert scores[0] > scores[1]


def test_a_forum_has_only_so_many_threads():
    with pytest.raises(rs.InputError, match="has no 5000 threads"):
        Demonstration.of_forum(queries=5000)


def test_players_work_through_the_api_and_every_judgment_is_saved_once(store: Store, made: Demonstration):
    people = set_up(store, made)
    with _served(store, 0) as url:
        first = play_all(url, made, people, tasks=[made.queries[0].query_id])
        rest = play_all(url, made, people)
        assert play_all(url, made, people) == 0
    entries = list(store.entries())
    assert len(entries) == first + rest
    assert {entry.person for entry in entries} <= {*PLAYERS}
    assert all(task.done for name in PLAYERS for task in tasks_of(store, name))
    assert all(entry.active_seconds > 0 for entry in entries)
    proposed = {q.query_id: {i.doc_id for i in q.items if i.proposed_forbidden} for q in made.queries}
    for entry in entries:  # what was proposed stands in the log where it was shown, and nowhere else
        task = store.task(entry.task)
        shown = set(entry.judgment.question.items) & proposed[entry.query_id] if task.with_proposals else set()
        assert set(entry.proposed) == shown


def test_play_is_broken_off(store: Store, made: Demonstration):
    people, stop = set_up(store, made), threading.Event()
    stop.set()
    with _served(store, 0) as url:
        assert play_all(url, made, people, pause=1000.0, stop=stop) == 0


@pytest.mark.parametrize("how", [socket.SHUT_RDWR, socket.SHUT_RD], ids=["before", "meanwhile"])
def test_a_client_goes_on_where_its_connection_was_closed(store: Store, made: Demonstration, how: int):
    people = set_up(store, made)
    with _served(store, 0) as url:
        client = Client(url, people.visitor)
        key = client.ask("GET", "/tasks")["tasks"][0]["key"]
        asked = client.ask("GET", f"/tasks/{key}/question")["question"]
        body = {"client_id": "c", "after": 0, "kind": "skip", **{side: card["id"] for side, card in asked.items()}}
        client._connection.sock.shutdown(how)  # type: ignore[union-attr]  # as it is after some seconds of thinking
        assert client.ask("POST", f"/tasks/{key}/judgments", body)["number"] == 1
        assert len(store.log(key)) == 1
        client.close()


def test_an_error_of_the_api_is_said_in_one_line(store: Store, made: Demonstration):
    set_up(store, made)
    with _served(store, 0) as url, pytest.raises(rs.InputError, match="GET /tasks: 401"):
        Client(url, "guessed").ask("GET", "/tasks")
