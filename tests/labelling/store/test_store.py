"""Everything a store does, on both kinds of databases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ranksift.errors import InputError
from ranksift.labelling.judgments import Judgment, Kind
from ranksift.labelling.records import Item, NewTask, Person, Project, Purpose, Query, Task
from ranksift.labelling.store import Moved, Saved, Store
from tests.labelling.store.filled import DOCUMENTS, LEFT, PROJECT, filled, query

FIFTH = Item("d5", "five", "the fifth", "html", "fa", 2.5, True)


@pytest.fixture
def project(place: str) -> Iterator[tuple[Store, Person, Task]]:
    store, person, task = filled(place)
    with store:
        yield store, person, task


@pytest.fixture
def store(project: tuple[Store, Person, Task]) -> Store:
    return project[0]


# -- the project -------------------------------------------------------------------------------------------------------


def test_what_was_created_is_opened(store: Store, place: str) -> None:
    with Store.open(place) as again:
        assert again.project == PROJECT
        assert again.queries() == store.queries()
        assert again.place == store.place


def test_a_place_has_one_project(store: Store, place: str) -> None:
    with pytest.raises(InputError, match="there is already a labelling project"):
        Store.create(place, Project("another"))
    assert store.project == PROJECT


def test_the_project_changes(store: Store) -> None:
    changed = replace(PROJECT, title="Cafés", k=7, grades=("no", "yes"), forbidden_label=-2, strategy="heap")
    assert store.change(**vars(changed)) == store.project == changed
    assert store.change(k=3) == store.project == replace(changed, k=3)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"title": " "}, "the title is empty"),
        ({"title": "a\0b"}, "NUL"),
        ({"guidelines": "a\ud800b"}, r"half a character \(\\ud800\)"),
        ({"k": 0}, "k is 0"),
        ({"k": True}, "k is True"),
        ({"k": 2**31}, "k is 2147483648"),
        ({"grades": ("good",)}, "at least two"),
        ({"grades": ("good", "good")}, "at least two"),
        ({"forbidden_label": 0.5}, "0.5"),
    ],
)
def test_a_project_that_is_none(tmp_path: object, changes: dict[str, object], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Store.create(f"{tmp_path}/new", replace(PROJECT, **changes))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there is no labelling project"):
        Store.open(f"{tmp_path}/new")


# -- queries and items -------------------------------------------------------------------------------------------------


def test_contents_are_there_when_asked_for(store: Store) -> None:
    assert store.query("q1") == query()
    short = tuple(replace(item, content="") for item in query().items)
    assert store.items("q1") == short
    assert store.queries() == [store.query("q1", contents=False)] == [query(items=short)]
    assert store.item("q1", "d2") == query().items[1]


def test_items_lie_best_first(store: Store) -> None:
    priors = {"a": None, "b": 0.5, "c": None, "d": 2.5, "e": 0.5, "f": -1.0}
    store.add([Query("q2", "tea", items=tuple(Item(name, "", prior=prior) for name, prior in priors.items()))])
    order = ["d", "b", "e", "f", "a", "c"]
    assert [item.doc_id for item in store.items("q2")] == order
    assert [item.doc_id for item in store.query("q2").items] == order
    assert [item.doc_id for item in store.queries()[1].items] == order
    assert store.item("q2", "f").prior == -1.0


def test_a_query_gets_further_items(project: tuple[Store, Person, Task]) -> None:
    store, person, task = project
    [verify] = store.assign([NewTask("q1", person.id, "pairs", "verify", pairs=(("d1", "d2"),))])
    for key in (task.key, verify.key):
        store.append(key, "c", LEFT, after=0, done=True)
    assert store.add([query(items=(FIFTH,)), query("q2"), Query("q1", "")]) == (1, 5)
    assert [item.doc_id for item in store.items("q1")] == ["d5", *DOCUMENTS]
    assert store.item("q1", "d5") == FIFTH
    assert [store.task(key).done for key in (task.key, verify.key)] == [False, True]  # type: ignore[union-attr]


@pytest.mark.parametrize(("known", "done"), [(None, True), (4, False), (5, True)])
def test_nobody_is_done_with_items_that_came_meanwhile(
    project: tuple[Store, Person, Task], known: int | None, done: bool
) -> None:
    store, _, task = project
    store.add([query(items=(FIFTH,))])
    assert store.append(task.key, "c", LEFT, after=0, done=True, of=known) == Saved(1, repeated=False)
    assert store.task(task.key) == replace(task, judgments=1, done=done)


def test_a_query_gets_what_it_lacks(store: Store) -> None:
    store.add([Query("q2", "", items=(Item("a", ""),))])
    store.add([Query("q2", "tea", "a drink", "en"), Query("q2", "tea"), Query("q2", "")])
    assert store.query("q2") == Query("q2", "tea", "a drink", "en", (Item("a", ""),))


@pytest.mark.parametrize(
    ("added", "match"),
    [
        ([query("q2"), query(items=(Item("d2", ""),))], "'q1' has the document 'd2' twice"),
        ([query("q2"), Query("q3", "", items=(Item("a", ""), Item("a", "")))], "'q3' has the document 'a' twice"),
        ([query("q2"), Query("q2", "", items=(Item("d4", ""),))], "'q2' has the document 'd4' twice"),
        ([query("q2"), Query("q1", "another")], "'q1' is already there with another text"),
        ([query("q2"), Query("", "x")], "the id of a query is empty"),
        ([query("q2"), Query("q" * 1001, "x")], "has 1,001 bytes, but only 1,000 are allowed"),
        ([query("q2"), Query("q\0", "x")], "the id of a query has a NUL"),
        ([query("q2"), Query("q3", "x\0")], "the text of the query 'q3' has a NUL"),
        ([query("q2"), Query("q3", "x\udfff")], "half a character"),
        ([query("q2"), Query("q3", "x", items=(Item("d", "\0"),))], "content of the document 'd'.*NUL"),
        ([query("q2"), Query("q3", "x", items=(Item("d", "", title="\ud834"),))], "title of the document 'd'.*half"),
        ([query("q2"), Query("q3", "x", items=(Item("ö" * 501, ""),))], "1,002 bytes"),
        ([query("q2"), Query("q3", "x", items=(Item("d", "", prior=float("nan")),))], "the prior .* is nan"),
        ([query("q2"), Query("q3", "x", items=(Item("d", "", prior=float("-inf")),))], "the prior .* is -inf"),
        ([query("q2"), Query("q3", "x", items=(Item("d", "", media="pdf"),))], "use one of text, html"),  # type: ignore[arg-type]
    ],
)
def test_nothing_is_half_imported(store: Store, added: list[Query], match: str) -> None:
    with pytest.raises(InputError, match=match) as raised:
        store.add(added)
    assert "\n" not in str(raised.value)
    assert [one.query_id for one in store.queries()] == ["q1"]
    assert len(store.items("q1")) == 4


def test_an_import_that_breaks_leaves_nothing(store: Store) -> None:
    def broken() -> Iterator[Query]:
        yield query("q2")
        raise RuntimeError("the file ends here")

    with pytest.raises(RuntimeError, match="ends here"):
        store.add(broken())
    assert len(store.queries()) == 1


def test_long_ids_and_documents_of_5_mb(project: tuple[Store, Person, Task]) -> None:
    store, person, _ = project
    # Nothing that could be compressed: an index entry must hold it as it is.
    long = "".join(chr(0x4E00 + 7919 * n % 20000) for n in range(333))
    content = "<p>ä€😀\r\n\t" * 400_000
    store.add([Query(long, "x", items=(Item(long, content, media="html"), Item("b", "")))])
    assert len(content.encode()) > 5_000_000
    assert store.item(long, long).content == content
    [task] = store.assign([NewTask(long, person.id, "pairs")])
    assert store.append(task.key, long, Judgment("prefer", long, "b", "tie"), after=0).number == 1
    assert [entry.client_id for entry in store.entries(long)] == [long]


def test_unknown_ids(store: Store) -> None:
    for name in ("q9", "", "q\0", "q\ud800", "' OR ''='"):
        for ask in (
            store.query,
            store.items,
            store.retire_query,
            lambda one: store.assign([NewTask(one, 2, "grades")]),
        ):
            with pytest.raises(InputError, match="there is no query"):
                ask(name)
        for ids in ((name, "d1"), ("q1", name)):
            with pytest.raises(InputError, match="has no document"):
                store.item(*ids)
        assert store.tasks(query_id=name) == list(store.entries(name)) == []


def test_a_query_is_retired(project: tuple[Store, Person, Task]) -> None:
    store, person, task = project
    other, _ = store.add_person("Bob", "assessor")
    [finished] = store.assign([NewTask("q1", other.id, "pairs")])
    store.append(task.key, "c1", LEFT, after=0)
    store.append(finished.key, "c2", LEFT, after=0, done=True)
    store.retire_query("q1")
    assert store.queries() == []
    assert [one.active for one in store.queries(active_only=False)] == [False]
    assert not store.query("q1").active
    assert [one.key for one in store.tasks()] == [finished.key]
    assert [one.key for one in store.tasks(active_only=False)] == [task.key, finished.key]
    assert len(list(store.entries())) == 2
    for key in (task.key, finished.key):
        with pytest.raises(InputError, match="the task was withdrawn"):
            store.append(key, "new", LEFT, after=1)
    assert store.append(task.key, "c1", LEFT, after=0) == Saved(1, repeated=True)  # it was acknowledged before
    with pytest.raises(InputError, match="'q1' was retired"):
        store.assign([NewTask("q1", person.id, "grades")])
    with pytest.raises(InputError, match="'q1' was retired"):
        store.add([query(items=(FIFTH,))])


def test_a_query_is_taken_back(project: tuple[Store, Person, Task]) -> None:
    store, _, task = project
    store.append(task.key, "c1", LEFT, after=0)
    store.retire_query("q1")
    store.reinstate_query("q1")
    assert [one.query_id for one in store.queries()] == ["q1"]
    assert (store.tasks(), len(list(store.entries()))) == ([], 1)  # somebody else may have got what was withdrawn
    other, _ = store.add_person("Bob", "assessor")
    assert assign(store, other.id).active
    store.reinstate_query("q1")  # twice is once
    with pytest.raises(InputError, match="there is no query 'q7'"):
        store.reinstate_query("q7")


# -- people ------------------------------------------------------------------------------------------------------------


def test_people_sign_in_by_links(store: Store) -> None:
    person, token = store.add_person("Zoë", "assessor")
    assert store.person_of_link(token) == person == Person(person.id, "Zoë", "assessor")
    assert [one.name for one in store.people()] == ["Lea", "Ann", "Zoë"]
    cookie = store.start_session(person.id)
    assert store.person_of_session(cookie) == person
    assert len({token, cookie}) == 2
    assert min(len(token), len(cookie)) >= 43  # 256 bits
    newer = store.new_link(person.id)
    assert store.person_of_link(token) is None
    assert store.person_of_session(cookie) is None  # who has the old link is out
    assert store.person_of_link(newer) == person


def test_sessions_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    person, _ = store.add_person("Zoë", "lead")
    short, long, ended = (store.start_session(person.id, days=days) for days in (1, 30, 30))
    store.end_session(ended)
    store.end_session(ended)
    assert [store.person_of_session(one) for one in (short, long, ended)] == [person, person, None]
    later = datetime.now(UTC) + timedelta(days=2)
    monkeypatch.setattr("ranksift.labelling.store.store._now", lambda: later)
    assert [store.person_of_session(one) for one in (short, long)] == [None, person]
    with pytest.raises(InputError, match="days is 0"):
        store.start_session(person.id, days=0)


@pytest.mark.parametrize("token", ["", "x", "\0", "\ud800", "' OR 1=1 --", "é" * 100_000])
def test_guessed_secrets(store: Store, token: str) -> None:
    assert store.person_of_link(token) is None
    assert store.person_of_session(token) is None
    store.end_session(token)


def test_secrets_are_not_stored(project: tuple[Store, Person, Task]) -> None:
    store, person, _ = project
    token, cookie = store.new_link(person.id), store.start_session(person.id)
    with store._database.reading() as connection:
        tables = [connection.exec_driver_sql(f"SELECT * FROM {name}").all() for name in ("people", "sessions")]
    held = repr(tables)
    assert "Ann" in held
    assert token not in held
    assert cookie not in held
    for hashed in re.findall("[0-9a-f]{64}", held):  # and a hash lets nobody in
        assert store.person_of_link(hashed) is None
        assert store.person_of_session(hashed) is None


@pytest.mark.parametrize(
    ("name", "role", "match"),
    [
        ("Ann", "assessor", "a person called 'Ann'"),
        ("", "lead", "the name is empty"),
        ("A\0", "lead", "NUL"),
        ("Bob", "owner", "use one of lead, assessor"),
        ("Ann ", "assessor", "'Ann' has a space at its beginning or end; remove it"),
        ("A\u200bnn", "assessor", r"invisible character \(\\u200b\)"),
        ("\u202eBob", "assessor", r"invisible character \(\\u202e\)"),
        ("Bob\x1b[2J", "assessor", r"invisible character \(\\x1b\)"),
        ("Bob\nEve", "assessor", r"invisible character \(\\n\)"),
    ],
)
def test_people_who_cannot_be_added(store: Store, name: str, role: str, match: str) -> None:
    with pytest.raises(InputError, match=match):
        store.add_person(name, role)  # type: ignore[arg-type]
    assert len(store.people()) == 2


def test_names_of_all_scripts(store: Store) -> None:
    names = ["علی\u200cرضا", "Zoë O’Brien-Ng", "山田 太郎"]  # joiners belong to Persian names
    assert [store.add_person(name, "assessor")[0].name for name in names] == names


def test_somebody_is_retired(project: tuple[Store, Person, Task]) -> None:
    store, person, task = project
    token, cookie = store.new_link(person.id), store.start_session(person.id)
    store.add([query("q2")])
    [finished] = store.assign([NewTask("q2", person.id, "pairs")])
    store.append(finished.key, "c", LEFT, after=0, done=True)
    store.retire(person.id)
    assert store.person_of_link(token) is None
    assert store.person_of_session(cookie) is None
    assert [one.active for one in store.people()] == [True, False]
    assert [one.key for one in store.tasks()] == [finished.key]
    assert [one.person for one in store.entries()] == ["Ann"]
    for key in (task.key, finished.key):
        with pytest.raises(InputError, match="the task was withdrawn"):
            store.append(key, "new", Judgment("undo"), after=len(store.log(key)))
    for act in (store.new_link, store.start_session, store.retire, lambda number: assign(store, number)):
        with pytest.raises(InputError, match="'Ann' was retired"):
            act(person.id)
    other, _ = store.add_person("Bob", "assessor")
    assert assign(store, other.id).active


def test_somebody_is_reinstated(project: tuple[Store, Person, Task]) -> None:
    store, person, task = project
    old, cookie = store.new_link(person.id), store.start_session(person.id)
    with pytest.raises(InputError, match="'Ann' was not retired"):
        store.reinstate(person.id)
    assert store.person_of_link(old) == person
    store.retire(person.id)
    token = store.reinstate(person.id)
    assert store.person_of_link(token) == person
    assert store.person_of_link(old) is store.person_of_session(cookie) is None
    assert not store.task(task.key).active  # type: ignore[union-attr]
    assert assign(store, person.id).active


def assign(store: Store, person: int) -> Task:
    return store.assign([NewTask("q1", person, "pairs")])[0]


def test_a_lead_stays(store: Store) -> None:
    first = store.people()[0]
    with pytest.raises(InputError, match="this is the only lead; add another lead first"):
        store.retire(first.id)
    second, _ = store.add_person("Max", "lead")
    store.retire(first.id)
    with pytest.raises(InputError, match="only lead"):
        store.retire(second.id)


@pytest.mark.parametrize("number", [0, -1, 99, 2**63, 2**70])
def test_unknown_people(store: Store, number: int) -> None:
    for act in (store.new_link, store.start_session, store.retire, store.reinstate, lambda one: assign(store, one)):
        with pytest.raises(InputError, match="there is no person with the number"):
            act(number)
    assert store.tasks(person=number) == []


# -- tasks -------------------------------------------------------------------------------------------------------------


def test_tasks_are_assigned(project: tuple[Store, Person, Task]) -> None:
    store, person, task = project
    store.add([query("q2"), query("q3")])
    wanted = [
        NewTask("q3", person.id, "grades", "overlap", k=4, seed=2**63 - 1, with_proposals=True),
        NewTask("q2", person.id, "pairs", "verify", "list", pairs=(("d1", "d2"), ("d4", "d3"))),
    ]
    first, second = store.assign(wanted)
    for given, found in zip(wanted, (first, second), strict=True):
        assert {name: getattr(found, name) for name in vars(given)} == vars(given)
        assert (found.active, found.done, found.judgments) == (True, False, 0)
        assert timedelta(0) <= datetime.now(UTC) - found.created < timedelta(hours=1)
        assert found.created.tzinfo == UTC
        assert store.task(found.key) == found
    assert len({task.key, first.key, second.key}) == 3
    assert min(len(one.key) for one in (task, first, second)) >= 22  # 128 bits
    assert store.tasks() == store.tasks(person=person.id) == [task, first, second]
    assert store.tasks(query_id="q2") == [second]
    assert store.tasks(query_id="q2", person=person.id + 1) == []
    assert store.assign([]) == []


def test_a_withdrawn_task_can_be_assigned_again(project: tuple[Store, Person, Task]) -> None:
    store, person, task = project
    store.append(task.key, "c", LEFT, after=0)
    store.withdraw(task.key)
    assert store.tasks() == []
    assert store.tasks(active_only=False) == [replace(task, active=False, judgments=1)]
    with pytest.raises(InputError, match="the task was withdrawn"):
        store.append(task.key, "c2", LEFT, after=1)
    again = assign(store, person.id)
    assert again.key != task.key
    assert store.tasks() == [again]
    assert store.log(task.key) == [LEFT]


@pytest.mark.parametrize(
    ("task", "match"),
    [
        (NewTask("q1", 2, "pairs"), r"person 2 already has the query 'q1' \(pairs, label\)"),
        (NewTask("q9", 2, "pairs"), "no query 'q9'"),
        (NewTask("q1", 9, "pairs"), "no person with the number 9"),
        (NewTask("q1", 2, "ranks"), "use one of pairs, grades"),  # type: ignore[arg-type]
        (NewTask("q1", 2, "grades", "play"), "the purpose is 'play'"),  # type: ignore[arg-type]
        (NewTask("q1", 2, "grades", k=0), "k is 0"),
        (NewTask("q1", 2, "grades", seed=2**63), "the seed is"),
        (NewTask("q1", 2, "grades", seed=-1), "the seed is"),
        (NewTask("q1", 2, "grades", strategy=""), "strategy is empty"),
        (NewTask("q1", 2, "pairs", "verify", pairs=(("d1", "d7"),)), "no document 'd7'"),
        (NewTask("q1", 2, "pairs", "verify", pairs=(("d1", "d2"), ("d3", "d3"))), "the document 'd3' on both sides"),
        (NewTask("q1", 1, "pairs", strategy="grades"), "the strategy for pairs is 'grades'; use one of tournament, "),
        (NewTask("q1", 1, "pairs", strategy="guess"), "the strategy for pairs is 'guess'"),
        (
            NewTask("q1", 2, "grades"),
            "already has the query 'q1' with pairs, and no one may see a query with both tools",
        ),
        (NewTask("q1", 2, "grades", "verify", pairs=(("d1", "d1"),)), "no one may see a query with both tools"),
        (NewTask("q2", 2, "grades", "overlap"), "already has the query 'q2' with pairs"),
    ],
)
def test_tasks_that_cannot_be_assigned(store: Store, task: NewTask, match: str) -> None:
    store.add([query("q2")])
    with pytest.raises(InputError, match=match):
        store.assign([NewTask("q2", 2, "pairs"), task])
    assert len(store.tasks(active_only=False)) == 1
    with pytest.raises(InputError, match="person 2 already has"):
        store.assign([NewTask("q2", 2, "pairs"), NewTask("q2", 2, "pairs", k=3)])
    assert len(store.tasks(active_only=False)) == 1


def test_who_has_begun_a_query_with_one_tool_never_gets_it_with_the_other(
    project: tuple[Store, Person, Task],
) -> None:
    store, person, task = project
    store.withdraw(task.key)
    [graded] = store.assign([NewTask("q1", person.id, "grades")])  # nothing of it had been seen
    store.append(graded.key, "c", Judgment("grade", "d1", grade=1), after=0)
    store.withdraw(graded.key)
    with pytest.raises(InputError, match="with grades, and no one may see a query with both tools"):
        assign(store, person.id)
    # A dispute is settled when all is said, whatever the tool was.
    store.assign([NewTask("q1", person.id, "pairs", "adjudicate", pairs=(("d1", "d2"),))])


@pytest.mark.parametrize("purpose", ["verify", "adjudicate"])
def test_single_pairs_are_asked_once_and_others_later(project: tuple[Store, Person, Task], purpose: Purpose) -> None:
    store, person, _ = project
    store.assign([NewTask("q1", person.id, "pairs", purpose, pairs=(("d1", "d2"), ("d3", "d2")))])
    store.assign([NewTask("q1", person.id, "pairs", purpose, pairs=(("d1", "d3"),))])
    with pytest.raises(InputError, match=rf"has the query 'q1' \(pairs, {purpose}\)"):
        store.assign([NewTask("q1", person.id, "pairs", purpose, pairs=(("d1", "d4"), ("d2", "d3")))])
    assert len(store.tasks(person=person.id)) == 3


def test_what_asks_nothing_is_done_at_once(store: Store) -> None:
    store.add([Query("one", "one", items=(FIFTH,)), Query("none", "none")])
    tasks = store.assign(
        [
            NewTask("one", 1, "pairs"),
            NewTask("one", 2, "grades"),
            NewTask("none", 1, "grades"),
            NewTask("none", 2, "pairs"),
        ]
    )
    assert [task.done for task in tasks] == [True, False, True, True]
    assert [task.done for task in store.tasks()][-4:] == [True, False, True, True]

    store.add([Query("none", "none", items=(FIFTH,))])  # which a single document opens for those who grade
    assert [store.task(task.key).done for task in tasks] == [True, False, False, True]  # type: ignore[union-attr]
    store.add([query("one", text=""), query("none", text="")])
    assert not any(store.task(task.key).done for task in tasks)  # type: ignore[union-attr]


def test_a_late_document_opens_no_task_for_who_has_left(project: tuple[Store, Person, Task]) -> None:
    store, person, task = project
    stays, _ = store.add_person("Zoë", "assessor")
    [other] = store.assign([NewTask("q1", stays.id, "pairs", "overlap")])
    for key in (task.key, other.key):
        store.append(key, "c", LEFT, after=len(store.log(key)), done=True)
    store.retire(person.id)
    assert {one.key: one.done for one in store.tasks()} == {task.key: True, other.key: True}
    store.add([Query("q1", "", items=(FIFTH,))])
    assert {one.key: one.done for one in store.tasks()} == {other.key: False}


def test_grades_that_were_given_stay(store: Store) -> None:
    store.add([query("q2")])
    [task] = store.assign([NewTask("q2", 2, "grades")])
    store.append(task.key, "c", Judgment("grade", "d1", grade=3), after=0)
    with pytest.raises(
        InputError, match="2 grades are too few: some documents already have grade 3; keep 4 grades, or"
    ):
        store.change(grades=("no", "yes"))
    assert store.project == PROJECT
    store.change(grades=("bad", "poor", "good", "best"))
    assert len(store.project.grades) == 4


@pytest.mark.parametrize("key", ["", "x", "../../etc/passwd", "' OR ''='", "\0", "\ud800", "k" * 100_000])
def test_unknown_keys(store: Store, key: str) -> None:
    assert store.task(key) is None
    for act in (
        lambda: store.log(key),
        lambda: store.withdraw(key),
        lambda: store.append(key, "c", LEFT, after=0),
    ):
        with pytest.raises(InputError, match="there is no such task"):
            act()


# -- the log -----------------------------------------------------------------------------------------------------------

ALL_KINDS = [
    LEFT,
    Judgment("prefer", "d3", "d1", answer="tie", forbidden=("d1",)),
    Judgment("prefer", "d3", "d4", forbidden=("d3", "d4")),
    Judgment("grade", "d2", grade=0),
    Judgment("grade", "d2", forbidden=("d2",)),
    Judgment("grade", "d2", grade=4, forbidden=("d2",)),
    Judgment("skip", "d1", "d2"),
    Judgment("cannot", "d1"),
    Judgment("undo"),
]


def test_a_log_is_what_was_appended(project: tuple[Store, Person, Task]) -> None:
    store, _, task = project
    for after, judgment in enumerate(ALL_KINDS):
        said = {"active_seconds": after + 0.25, "note": f"nota {after} ✓", "proposed": ("d4",) * (after % 2)}
        saved = store.append(task.key, f"client {after}", judgment, after=after, done=after == 8, **said)  # type: ignore[arg-type]
        assert saved == Saved(after + 1, repeated=False)
        assert store.task(task.key) == replace(task, judgments=after + 1, done=after == 8)
    assert store.log(task.key) == ALL_KINDS
    entries = list(store.entries())
    assert entries == list(store.entries("q1"))
    assert list(store.entries("q2")) == []
    for after, (entry, judgment) in enumerate(zip(entries, ALL_KINDS, strict=True)):
        assert (entry.task, entry.query_id, entry.person) == (task.key, "q1", "Ann")
        assert (entry.tool, entry.purpose, entry.number) == ("pairs", "label", after + 1)
        assert (entry.judgment, entry.client_id) == (judgment, f"client {after}")
        assert (entry.active_seconds, entry.note) == (after + 0.25, f"nota {after} ✓")
        assert entry.proposed == ("d4",) * (after % 2)
        assert timedelta(0) <= datetime.now(UTC) - entry.created < timedelta(hours=1)
    assert store.append(task.key, "one more", Judgment("undo"), after=9).number == 10
    assert not store.task(task.key).done  # type: ignore[union-attr]


def test_a_judgment_is_saved_once(project: tuple[Store, Person, Task]) -> None:
    store, person, task = project
    for after, repeated in ((0, False), (0, True), (1, True), (7, True)):
        assert store.append(task.key, "same", LEFT, after=after, done=True) == Saved(1, repeated)
    assert len(store.log(task.key)) == store.task(task.key).judgments == 1  # type: ignore[union-attr]
    other = store.assign([NewTask("q1", person.id, "pairs", "overlap")])[0]
    assert store.append(other.key, "same", LEFT, after=0) == Saved(1, repeated=False)  # of another task


@pytest.mark.parametrize("after", [0, 1, 3, 9])
def test_the_log_has_moved(project: tuple[Store, Person, Task], after: int) -> None:
    store, _, task = project
    for number in range(2):
        store.append(task.key, f"c{number}", LEFT, after=number)
    with pytest.raises(Moved) as raised:
        store.append(task.key, "late", LEFT, after=after, done=True)
    assert raised.value.judgments == 2
    assert len(store.log(task.key)) == 2
    assert not store.task(task.key).done  # type: ignore[union-attr]


def judgment(kind: Kind, *shown: str, **said: object) -> Judgment:
    return Judgment(kind, *shown, **said)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (judgment("like", "d1"), "the kind of a judgment"),  # type: ignore[arg-type]
        (judgment("prefer", "d1", "d2", answer="both"), "the answer is 'both'"),
        (judgment("prefer", "d1", "d2"), "not a judgment of the kind 'prefer'"),
        (judgment("prefer", "d1", answer="left"), "not a judgment"),
        (judgment("prefer", "d1", "d1", answer="left"), "not a judgment"),
        (judgment("prefer", "d1", "d2", answer="left", grade=1), "not a judgment"),
        (judgment("grade", "d1"), "not a judgment"),
        (judgment("grade", "", grade=1), "not a judgment"),
        (judgment("grade", "d1", "d2", grade=1), "not a judgment"),
        (judgment("grade", "d1", grade=-1), "the grade is -1"),
        (judgment("grade", "d1", grade=1.5), "the grade is 1.5"),
        (judgment("skip"), "not a judgment"),
        (judgment("undo", "d1"), "not a judgment"),
        (judgment("prefer", "d1", "d2", forbidden=("d3",)), "that was not shown is flagged"),
        (judgment("prefer", "d1", "d9", answer="tie"), "no document 'd9'"),
        (judgment("prefer", "d1", "d\0", answer="tie"), "no document"),
        (judgment("prefer", "d1", "d\ud800", answer="tie"), "no document"),
    ],
)
def test_what_is_no_judgment(project: tuple[Store, Person, Task], wrong: Judgment, match: str) -> None:
    store, _, task = project
    with pytest.raises(InputError, match=match):
        store.append(task.key, "c", wrong, after=0)
    assert store.log(task.key) == []


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"client_id": ""}, "the id that the client gives is empty"),
        ({"client_id": "c\0"}, "NUL"),
        ({"client_id": "c" * 1001}, "1,001 bytes"),
        ({"after": -1}, "judgments seen is -1"),
        ({"after": 2**31}, "judgments seen"),
        ({"active_seconds": float("nan")}, "time of the judgment is nan"),
        ({"active_seconds": -0.1}, "time of the judgment"),
        ({"note": "\0"}, "the note has a NUL"),
        ({"note": "\udc80"}, "the note has half a character"),
        ({"proposed": ("d9",)}, "no document 'd9'"),
    ],
)
def test_judgments_with_what_cannot_be_stored(
    project: tuple[Store, Person, Task], said: dict[str, object], match: str
) -> None:
    store, _, task = project
    with pytest.raises(InputError, match=match):
        store.append(task.key, **{"client_id": "c", "judgment": LEFT, "after": 0} | said)  # type: ignore[arg-type]
    assert store.log(task.key) == []


def test_entries_are_those_of_one_moment(project: tuple[Store, Person, Task]) -> None:
    store, _, task = project
    for number in range(3):
        store.append(task.key, f"c{number}", LEFT, after=number)
    reading = store.entries()
    first = next(reading)
    store.append(task.key, "late", LEFT, after=3)  # who reads keeps nobody from writing
    assert [first.number, *(entry.number for entry in reading)] == [1, 2, 3]


def test_places_do_not_mix(project: tuple[Store, Person, Task], new_place: Callable[[], str]) -> None:
    store, _, task = project
    with Store.create(new_place(), Project("another")) as other:
        assert other.task(task.key) is None
        assert other.queries() == []
    assert len(store.queries()) == 1
