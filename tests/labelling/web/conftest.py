"""A small project with a lead and two assessors, and clients of its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the pages need the extra label")

from starlette.applications import Starlette
from starlette.testclient import TestClient

from ranksift.labelling.records import Item, NewTask, Project, Query, Task
from ranksift.labelling.store import Store
from ranksift.labelling.web import Settings, application

HOSTILE = (
    "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    "<link rel=stylesheet href=//tracker.example/s.css><meta http-equiv=refresh content='0;url=//tracker.example'>"
    "<base href=//tracker.example/><form action=/lead/people method=post><input name=name></form><p>Good day</p>"
)


def items(count: int, prefix: str = "d") -> tuple[Item, ...]:
    """Documents of which the first is the best."""
    return tuple(Item(f"{prefix}{i}", f"Document number {i}.", title=f"Title {i}") for i in range(count))


@dataclass
class Labelling:
    """A project that is served to test clients."""

    store: Store
    app: Starlette
    tokens: dict[str, str]
    numbers: dict[str, int]
    settings: Settings
    clients: list[TestClient] = field(default_factory=list)

    def client(self, base_url: str = "http://testserver") -> TestClient:
        """A browser without cookies."""
        made = TestClient(self.app, base_url=base_url + self.settings.root_path, follow_redirects=False)
        self.clients.append(made)
        return made

    def signed_in(self, name: str, base_url: str = "http://testserver") -> TestClient:
        """A browser in which somebody has signed in."""
        made = self.client(base_url)
        token = form_token(made.get(f"/in/{self.tokens[name]}").text)
        assert made.post(f"/in/{self.tokens[name]}", data={"token": token}).status_code == 303
        return made

    def by_token(self, name: str) -> TestClient:
        """A program with the token of somebody."""
        made = self.client()
        made.headers["authorization"] = f"Bearer {self.tokens[name]}"
        return made

    def task(self, name: str, query: str = "q1", tool: str = "pairs") -> Task:
        """A task of somebody."""
        tasks = self.store.tasks(person=self.numbers[name], query_id=query)
        return next(task for task in tasks if task.tool == tool)


def form_token(html: str) -> str:
    """The token of the first form of a page."""
    found = re.search(r'name="token" value="([0-9a-f]+)"', html)
    assert found, html
    return found[1]


def make(place: str | Path, settings: Settings | None = None, **project: Any) -> Labelling:
    """A project: q1 is Ada's and Bob's with pairs, q2 is Ada's with grades, and q3 nobody's."""
    settings = settings or Settings()
    store = Store.create(place, Project("Forum", k=3, **project))
    people = {
        name: store.add_person(name, role) for name, role in (("Lea", "lead"), ("Ada", "assessor"), ("Bob", "assessor"))
    }
    store.add(
        [
            Query("q1", "sharpen a knife", "At home.", "en", items(6)),
            Query(
                "q2",
                "قهوه",
                "",
                "fa",
                (Item("h", HOSTILE, "Hostile", "html"), Item("p", "سلام دنیا", "سلام", language="fa")),
            ),
            Query("q3", "tea", items=items(3, "t")),
        ]
    )
    numbers = {name: person.id for name, (person, _) in people.items()}
    store.assign(
        [
            NewTask("q1", numbers["Ada"], "pairs", k=3, seed=1),
            NewTask("q1", numbers["Bob"], "pairs", "overlap", k=3, seed=2),
            NewTask("q2", numbers["Ada"], "grades", k=3),
        ]
    )
    tokens = {name: token for name, (_, token) in people.items()}
    return Labelling(store, application(store, settings), tokens, numbers, settings)


@pytest.fixture
def labelling(tmp_path: Path) -> Iterator[Labelling]:
    made = make(tmp_path / "project")
    with made.store:
        yield made


def finish(client: TestClient, key: str, reverse: bool = False) -> dict[str, Any]:
    """Label a task of pairs to its end: the lower number is better, or the higher one; the last state."""
    state = client.get(f"/api/v1/tasks/{key}/question").json()
    while state["question"]:
        left, right = (state["question"][side]["id"] for side in ("left", "right"))
        better = "left" if (left < right) is not reverse else "right"
        body = {"client_id": f"{key}{state['after']}", "after": state["after"], "kind": "prefer", "left": left}
        answer = client.post(
            f"/api/v1/tasks/{key}/judgments", json={**body, "right": right, "answer": better, "active_seconds": 5.5}
        )
        assert answer.status_code == 201, answer.text
        state = answer.json()["state"]
    return dict(state)
