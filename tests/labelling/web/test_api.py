"""The JSON API: the same actions as the pages, saved once, refused where the log has moved on."""

import re

import pytest

from ranksift.collection.qrels import read_qrels
from ranksift.labelling.judgments import Question
from ranksift.labelling.records import Item, NewTask, Query
from ranksift.labelling.web import Settings
from ranksift.labelling.web.api import OPERATIONS, openapi
from ranksift.labelling.web.desk import shown
from tests.labelling.web.conftest import finish, form_token, make


def answer(client, key, state, **said):
    """Say something to the question of a state."""
    cards = state["question"] or {}
    docs = {side: card["id"] for side, card in cards.items()}
    body = {"client_id": f"c{state['after']}", "after": state["after"], **docs, **said}
    return client.post(f"/api/v1/tasks/{key}/judgments", json=body)


@pytest.fixture
def ada(labelling):
    client = labelling.by_token("Ada")
    key = labelling.task("Ada").key
    return client, key, client.get(f"/api/v1/tasks/{key}/question").json()


def test_a_query_is_labelled_to_its_end(labelling):
    client, key = labelling.by_token("Ada"), labelling.task("Ada").key
    state = finish(client, key)
    assert state["done"]
    assert [group[0]["id"] for group in state["order"]] == ["d0", "d1", "d2"]
    assert labelling.store.task(key).done
    assert {entry.active_seconds for entry in labelling.store.entries("q1")} == {5.5}


def test_documents_without_a_title_are_named_by_how_they_begin(labelling):
    long = "A knife is sharpened on a stone, wet, at the same angle from end to end, and then again."
    texts = (
        Item("a", f"<p>{long}</p>", media="html"),
        Item("b", "Wet  it.\n"),
        Item("c", "x", "Titled"),
        Item("d", ""),
    )
    labelling.store.add([Query("bare", "knife", items=texts)])
    (task,) = labelling.store.assign([NewTask("bare", labelling.numbers["Ada"], "pairs", k=4)])
    state = finish(labelling.by_token("Ada"), task.key)
    names = [group[0]["name"] for group in state["order"]]
    assert names == [f"{long[:80]} …", "Wet it.", "Titled", "(empty)"]


def test_a_judgment_that_is_sent_twice_is_saved_once(labelling, ada):
    client, key, state = ada
    first, second = (answer(client, key, state, kind="prefer", answer="left") for _ in range(2))
    assert (first.json()["number"], first.json()["repeated"]) == (1, False)
    assert (second.json()["number"], second.json()["repeated"]) == (1, True)
    assert first.json()["state"] == second.json()["state"]
    assert len(labelling.store.log(key)) == 1


def test_who_does_not_know_the_log_is_refused_and_shown_it(labelling, ada):
    client, key, state = ada
    answer(client, key, state, kind="prefer", answer="left")
    late = answer(client, key, state, kind="prefer", answer="right", client_id="other")
    assert late.status_code == 409
    assert late.json()["error"]["type"] == "moved"
    assert late.json()["state"]["after"] == 1
    wrong = answer(client, key, state, kind="prefer", answer="right", client_id="third", after=1)
    assert wrong.status_code == 409  # not the question that is asked
    assert len(labelling.store.log(key)) == 1


def test_an_undo_brings_the_question_back(labelling, ada):
    client, key, state = ada
    assert client.post(f"/api/v1/tasks/{key}/undo", json={"client_id": "u", "after": 0}).status_code == 409
    then = answer(client, key, state, kind="prefer", answer="tie").json()["state"]
    back = client.post(f"/api/v1/tasks/{key}/undo", json={"client_id": "u", "after": 1}).json()["state"]
    assert then["can_undo"]
    assert not back["can_undo"]
    assert back["question"] == state["question"]
    assert [one["kind"] for one in client.get(f"/api/v1/tasks/{key}/log").json()["log"]] == ["prefer", "undo"]


def test_an_undo_opens_a_task_that_was_done(labelling):
    client, key = labelling.by_token("Ada"), labelling.task("Ada").key
    state = finish(client, key)
    client.post(f"/api/v1/tasks/{key}/undo", json={"client_id": "u", "after": state["after"]})
    assert not labelling.store.task(key).done


def test_what_is_said_ahead_is_what_comes(labelling):
    client, key = labelling.by_token("Ada"), labelling.task("Ada").key
    state = client.get(f"/api/v1/tasks/{key}/question?ahead=true").json()
    names = {"left": {"answer": "left"}, "right": {"answer": "right"}, "tie": {"answer": "tie"}}
    names |= {"forbidden-left": {"forbidden": ["left"]}, "forbidden-both": {"forbidden": ["left", "right"]}}
    for number, (name, said) in enumerate(names.items()):
        docs = {side: card["id"] for side, card in state["question"].items()}
        said = {**said, **({"forbidden": [docs[side] for side in said["forbidden"]]} if "forbidden" in said else {})}
        body = {"client_id": f"x{number}", "after": state["after"], "kind": "prefer", **docs, **said}
        ahead = state["ahead"][name]
        sooner = 0 if ahead["done"] else max(state["expected"] - 1, 1)
        assert ahead.pop("expected") == pytest.approx(sooner, abs=0.1)
        state = client.post(f"/api/v1/tasks/{key}/judgments?ahead=true", json=body).json()["state"]
        assert {part: state[part] for part in ahead} == ahead
        if state["done"]:
            break
    assert number >= 3


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"kind": "prefer"}, 422),
        ({"kind": "prefer", "answer": "both"}, 422),
        ({"kind": "grade", "grade": 3}, 422),
        ({"kind": "prefer", "answer": "left", "forbidden": ["d99"]}, 422),
        ({"kind": "prefer", "answer": "left", "left": "d99"}, 409),
        ({"kind": "prefer", "answer": "left", "right": None}, 422),
        ({"kind": "prefer", "answer": "left", "after": -1}, 422),
        ({"kind": "prefer", "answer": "left", "active_seconds": -1}, 422),
        ({"kind": "prefer", "answer": "left", "client_id": ""}, 422),
        ({"kind": "prefer", "answer": "left", "after": 10**30}, 422),
    ],
)
def test_judgments_that_make_no_sense(labelling, ada, said, status):
    client, key, state = ada
    assert answer(client, key, state, **said).status_code == status
    assert not labelling.store.log(key)


def test_what_is_forbidden_cannot_be_better(labelling, ada):
    client, key, state = ada
    left = state["question"]["left"]["id"]
    assert answer(client, key, state, kind="prefer", answer="left", forbidden=[left]).status_code == 422
    assert answer(client, key, state, kind="prefer", answer="right", forbidden=[left]).status_code == 201


def test_skipping_and_what_cannot_be_judged(labelling, ada):
    client, key, state = ada
    then = answer(client, key, state, kind="skip").json()["state"]
    assert then["question"] != state["question"]
    assert then["judgments"] == 0
    assert answer(client, key, then, kind="cannot", note=" It is empty. ").status_code == 201
    assert [entry.note for entry in labelling.store.entries()] == ["", "It is empty."]


def test_grades(labelling):
    client, key = labelling.by_token("Ada"), labelling.task("Ada", "q2", "grades").key
    state = client.get(f"/api/v1/tasks/{key}/question").json()
    assert state["query"]["language"] == "fa"
    for wrong in ({"grade": 5}, {"grade": -1}, {}, {"grade": 1, "forbidden": [state["question"]["left"]["id"]]}):
        assert answer(client, key, state, kind="grade", **wrong).status_code == 422
    state = answer(client, key, state, kind="grade", forbidden=[state["question"]["left"]["id"]]).json()["state"]
    state = answer(client, key, state, kind="grade", grade=4).json()["state"]
    assert state["done"]
    assert len(state["forbidden"]) == 1


@pytest.mark.parametrize("given", [True, False])
def test_proposals_are_shown_and_noted_where_the_task_has_them(labelling, given):
    from ranksift.labelling.records import Item, Query

    labelling.store.add([Query("p", "p", items=(Item("a", "a", proposed_forbidden=True), Item("b", "b")))])
    (task,) = labelling.store.assign([NewTask("p", labelling.numbers["Ada"], "pairs", with_proposals=given)])
    client = labelling.by_token("Ada")
    state = client.get(f"/api/v1/tasks/{task.key}/question").json()
    assert {card["id"]: card["proposed"] for card in state["question"].values()} == {"a": given, "b": False}
    assert client.get(f"/api/v1/tasks/{task.key}/document?id=a").json()["proposed"] is given
    answer(client, task.key, state, kind="prefer", forbidden=["a"])
    assert [entry.proposed for entry in labelling.store.entries("p")] == [("a",) if given else ()]


def test_sides_are_drawn_by_lot_but_stay():
    pairs = [Question(f"a{i}", f"b{i}") for i in range(400)]
    lots = [[shown(pair, seed) == pair for pair in pairs] for seed in (1, 2)]
    assert all(150 < sum(lot) < 250 for lot in lots)
    assert lots[0] != lots[1]
    assert [shown(Question("b", "a"), seed) for seed in range(50)] == [
        shown(Question("a", "b"), seed) for seed in range(50)
    ]


def test_a_lead_does_everything(labelling):
    lead = labelling.by_token("Lea")
    assert lead.patch("/api/v1/project", json={"guidelines": "Be kind.", "grades": ["no", "yes"]}).json()["grades"] == [
        "no",
        "yes",
    ]
    assert lead.patch("/api/v1/project", json={"grades": ["no", "no"]}).status_code == 422
    eve = lead.post("/api/v1/people", json={"name": "Eve"}).json()
    assert eve["link"] == f"http://testserver/in/{eve['token']}"
    made = lead.post(
        "/api/v1/tasks", json={"tasks": [{"query_id": "q3", "person": eve["id"], "tool": "pairs"}]}
    ).json()["tasks"]
    assert (
        lead.post("/api/v1/tasks", json={"tasks": [{"query_id": "q3", "person": 99, "tool": "pairs"}]}).status_code
        == 422
    )
    assert [task["query_id"] for task in lead.get("/api/v1/tasks?everybody=true&query_id=q3").json()["tasks"]] == ["q3"]
    assert lead.delete(f"/api/v1/tasks/{made[0]['key']}").status_code == 200
    assert lead.delete("/api/v1/tasks/nothing").status_code == 404
    assert (
        labelling.client().get("/api/v1/me", headers={"authorization": f"Bearer {eve['token']}"}).json()["name"]
        == "Eve"
    )
    new = lead.post(f"/api/v1/people/{eve['id']}/link").json()["token"]
    assert labelling.client().get("/api/v1/me", headers={"authorization": f"Bearer {eve['token']}"}).status_code == 401
    assert labelling.client().get("/api/v1/me", headers={"authorization": f"Bearer {new}"}).status_code == 200
    assert lead.delete(f"/api/v1/people/{eve['id']}").status_code == 200
    assert lead.delete(f"/api/v1/people/{labelling.numbers['Lea']}").status_code == 422  # nobody would be left
    assert lead.delete("/api/v1/query?id=q3").status_code == 200
    assert [query["query_id"] for query in lead.get("/api/v1/queries").json()["queries"]] == ["q1", "q2"]
    assert lead.get("/api/v1/query?id=q1").json()["items"][0]["content"] == "Document number 0."


def test_links_lead_to_where_people_reach_the_pages(tmp_path):
    made = make(tmp_path / "project", Settings(root_path="/label", url="https://example.org/label"))
    with made.store:
        new = made.by_token("Lea").post("/api/v1/people", json={"name": "Eve"}).json()
        assert new["link"] == f"https://example.org/label/in/{new['token']}"


def test_queries_come_all_or_not_at_all(labelling):
    lead = labelling.by_token("Lea")
    good = {"query_id": "n", "text": "n", "items": [{"doc_id": "a", "content": "a"}]}
    bad = {"query_id": "m", "text": "m", "items": [{"doc_id": "a", "content": "a"}, {"doc_id": "a", "content": "b"}]}
    assert lead.post("/api/v1/queries", json={"queries": [good, bad]}).status_code == 422
    assert len(labelling.store.queries()) == 3
    assert lead.post("/api/v1/queries", json={"queries": [good]}).json() == {"queries": 1, "items": 1}


def test_progress_and_exports(labelling, tmp_path):
    finish(labelling.by_token("Ada"), labelling.task("Ada").key)
    lead = labelling.by_token("Lea")
    progress = lead.get("/api/v1/progress").json()
    assert (progress["tasks"], progress["done"]) == (3, 1)
    assert progress["expected"] > 0
    assert progress["minutes"] > 0
    file = tmp_path / "qrels.txt"
    file.write_bytes(lead.get("/api/v1/exports/qrels.txt").content)
    assert read_qrels(str(file)).to_dict()["q1"]["d0"] == 3
    assert len(lead.get("/api/v1/exports/log.jsonl").text.splitlines()) == progress["judgments"]
    assert lead.get("/api/v1/exports/top-k.csv").text.startswith("query_id,rank,doc_id")
    assert lead.get("/api/v1/exports/nothing").status_code == 404


def test_the_openapi_document_has_every_route(labelling):
    document = labelling.client().get("/api/v1/openapi.json").json()
    assert document == openapi()
    routes = {
        (route.path, method)
        for route in labelling.app.routes
        for method in getattr(route, "methods", ())
        if route.path.startswith("/api/v1") and method != "HEAD"
    }
    assert routes == {
        (f"/api/v1{path}", method.upper()) for path, methods in document["paths"].items() for method in methods
    }
    assert len({one["operationId"] for path in document["paths"].values() for one in path.values()}) == len(OPERATIONS)
    page = labelling.client().get("/api").text
    for operation in OPERATIONS:
        assert operation.summary in page


def test_the_same_on_postgresql(postgresql, postgresql_database):
    postgresql.execute("CREATE SCHEMA web", postgresql_database)
    made = make(postgresql.url(postgresql_database, "web"))
    with made.store:
        client, key = made.by_token("Ada"), made.task("Ada").key
        assert [group[0]["id"] for group in finish(client, key)["order"]] == ["d0", "d1", "d2"]
        assert made.by_token("Lea").get("/api/v1/progress").json()["done"] == 1
        for trick in ("' OR 1=1 --", "d1\x00", "..%2f"):
            assert client.get(f"/api/v1/tasks/{key}/document", params={"id": trick}).status_code == 404
        lead = made.signed_in("Lea")
        token = form_token(lead.get("/lead/people").text)
        for data in ({"name": "a\x00b"}, {"name": "x", "role": "\x00"}):
            assert lead.post("/lead/people", data={"token": token, **data}).status_code == 422
        assert lead.get("/lead/agreement").status_code == 200


def test_the_page_of_a_task_leads_on_in_the_order_of_the_queue(labelling):
    numbers = labelling.numbers
    for query in ("n1", "n2"):
        labelling.store.add([Query(query, f"text of {query}", items=(Item("a", "a"), Item("b", "b"), Item("c", "c")))])
    labelling.store.assign([NewTask(query, numbers["Bob"], "pairs") for query in ("n1", "n2")])
    client, api = labelling.signed_in("Bob"), labelling.by_token("Bob")
    begun = labelling.task("Bob", "n2").key
    answer(api, begun, api.get(f"/api/v1/tasks/{begun}/question").json(), kind="prefer", answer="left")
    queue = re.findall(r'href="/tasks/([^"]+)"', client.get("/").text)
    assert queue == [begun, labelling.task("Bob").key, labelling.task("Bob", "n1").key]
    onward = [re.search(r'href="/tasks/([^"]+)" id="onward"', client.get(f"/tasks/{key}").text)[1] for key in queue]
    assert onward == [queue[1], queue[0], queue[0]]
    for key in queue[:2]:
        finish(api, key)
    assert 'id="onward"' not in client.get(f"/tasks/{queue[2]}").text
