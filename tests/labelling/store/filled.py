"""A small project for tests, and judgments to put into it."""

from __future__ import annotations

from typing import Any

from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import Item, NewTask, Person, Project, Query, Task
from ranksift.labelling.store import Store

PROJECT = Project("Restaurants", "Prefer what you would visit.", k=3)
DOCUMENTS = ("d1", "d2", "d3", "d4")
LEFT = Judgment("prefer", "d1", "d2", answer="left")


def query(name: str = "q1", **fields: Any) -> Query:
    """A query with four documents and without a prior."""
    items = tuple(Item(doc_id, f"content of {doc_id}", f"title of {doc_id}") for doc_id in DOCUMENTS)
    return Query(**{"query_id": name, "text": "pizza پیتزا", "items": items} | fields)


def filled(place: str) -> tuple[Store, Person, Task]:
    """A project with a lead, an assessor, a query and a task."""
    store = Store.create(place, PROJECT)
    store.add([query()])
    store.add_person("Lea", "lead")
    person, _ = store.add_person("Ann", "assessor")
    [task] = store.assign([NewTask("q1", person.id, "pairs")])
    return store, person, task
