"""Any order of sending, sending again, undoing and lagging behind gives the log of a plain list."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import NewTask
from ranksift.labelling.store import Moved, Saved, Store
from tests.labelling.store.filled import PROJECT, query

JUDGMENTS = st.one_of(
    st.builds(Judgment, st.just("prefer"), st.just("d1"), st.just("d2"), st.sampled_from(["left", "right", "tie"])),
    st.builds(Judgment, st.just("grade"), st.just("d3"), grade=st.integers(0, 4), forbidden=st.just(("d3",))),
    st.sampled_from([Judgment("undo"), Judgment("skip", "d1", "d4"), Judgment("cannot", "d4")]),
)
#: What a client sends: which task, which of few client ids, how far it lags behind the log, what it says.
SENT = st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(-1, 2), JUDGMENTS, st.booleans())


class Model:
    """A task as a plain list."""

    def __init__(self) -> None:
        self.log: list[Judgment] = []
        self.clients: list[str] = []
        self.done = False

    def append(self, client: str, judgment: Judgment, after: int, done: bool) -> Saved | int:
        """What a store should answer; the length of the log stands for Moved."""
        if client in self.clients:
            return Saved(self.clients.index(client) + 1, repeated=True)
        if after != len(self.log):
            return len(self.log)
        self.log.append(judgment)
        self.clients.append(client)
        self.done = done
        return Saved(len(self.log), repeated=False)


@pytest.fixture
def stores(place: str) -> Iterator[tuple[Store, Store]]:
    """Two stores on one place."""
    with Store.create(place, PROJECT) as store, Store.open(place) as other:
        store.add([query()])
        yield store, other


def test_the_log_is_that_of_a_plain_list(stores: tuple[Store, Store]) -> None:
    names = itertools.count()

    @settings(max_examples=30)
    @given(st.lists(st.tuples(st.integers(0, 1), SENT), max_size=14))
    def check(sent: list[tuple[int, tuple[int, int, int, Judgment, bool]]]) -> None:
        people = [stores[0].add_person(f"person {next(names)}", "assessor")[0] for _ in range(2)]
        tasks = stores[0].assign([NewTask("q1", person.id, "pairs") for person in people])
        models = [Model(), Model()]
        for through, (which, client, lag, judgment, done) in sent:
            model = models[which]
            after = max(0, len(model.log) - lag)
            answer: Saved | int
            try:
                answer = stores[through].append(tasks[which].key, f"client {client}", judgment, after=after, done=done)
            except Moved as moved:
                answer = moved.judgments
            assert answer == model.append(f"client {client}", judgment, after, done)
        for task, model in zip(tasks, models, strict=True):
            for store in stores:
                found = store.task(task.key)
                assert found is not None
                assert store.log(task.key) == model.log
                assert (found.judgments, found.done) == (len(model.log), model.done)

    check()
