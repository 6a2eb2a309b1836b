"""What leads do on their pages: people, tasks, queries, disagreements, settings."""

import json
import re

from ranksift.collection.examples import read_examples
from ranksift.collection.qrels import read_qrels
from ranksift.labelling.records import Item, NewTask, Query
from tests.labelling.web.conftest import Labelling, finish, form_token


def post(client, path, page="/lead/people", **data):
    """Send a form of a page."""
    token = form_token(client.get(page).text)
    files = data.pop("files", None)
    return client.post(path, data={"token": token, **data}, files=files)


def test_people(labelling: Labelling):
    lead = labelling.signed_in("Lea")
    page = post(lead, "/lead/people", name="  Zoë ", role="assessor").text
    link = page.split('value="http://testserver')[1].split('"')[0]
    visitor = labelling.client()
    assert "Sign in as" in visitor.get(link).text
    zoe = next(person for person in labelling.store.people() if person.name == "Zoë")
    assert post(lead, f"/lead/people/{zoe.id}/retire").headers["location"] == "/lead/people"
    assert visitor.get(link).status_code == 404
    assert post(lead, f"/lead/people/{labelling.numbers['Lea']}/retire").status_code == 422
    assert post(lead, "/lead/people/99/retire").status_code == 404
    assert post(lead, "/lead/people", name="   ").status_code == 422
    page = post(lead, f"/lead/people/{zoe.id}/reinstate").text
    assert "Sign in as" in visitor.get(page.split('value="http://testserver')[1].split('"')[0]).text
    assert visitor.get(link).status_code == 404
    assert post(lead, f"/lead/people/{zoe.id}/reinstate").status_code == 422


def test_tasks_are_assigned_where_they_are_missing(labelling):
    lead = labelling.signed_in("Lea")
    form = {
        "person": [str(labelling.numbers["Ada"]), str(labelling.numbers["Bob"])],
        "tool": "pairs",
        "strategy": "list",
    }
    form |= {"per_query": "1", "overlap": "0", "plan": "ordinary", "proposals": "none"}
    assert post(lead, "/lead/tasks", **form).headers["location"] == "/lead/tasks"
    (task,) = labelling.store.tasks(query_id="q3")
    assert (task.tool, task.strategy, task.k) == ("pairs", "list", 3)
    page = lead.get("/lead/tasks").text
    assert "tea" in page
    assert post(lead, f"/lead/tasks/{task.key}/withdraw").status_code == 303
    assert not labelling.store.tasks(query_id="q3")
    assert post(lead, "/lead/tasks", **{**form, "person": []}).status_code == 422
    assert post(lead, "/lead/tasks", **{**form, "overlap": "lots"}).status_code == 422
    assert post(lead, "/lead/tasks", **{**form, "strategy": "guess"}).status_code == 422


def test_what_is_finished_is_verified_by_somebody_else(labelling):
    finish(labelling.by_token("Ada"), labelling.task("Ada").key)
    zoe, _ = labelling.store.add_person("Zoë", "assessor")
    lead = labelling.signed_in("Lea")
    form = {"person": [str(labelling.numbers["Ada"]), str(zoe.id)], "strategy": "list", "plan": "verify"}
    assert post(lead, "/lead/tasks", **form, proposals="all").status_code == 303
    (task,) = labelling.store.tasks(person=zoe.id)
    assert (task.purpose, task.query_id, task.with_proposals) == ("verify", "q1", False)
    assert ("d0", "d1") in task.pairs
    assert post(lead, "/lead/tasks", **form).status_code == 422  # it is verified already


def test_proposals_are_shown_in_half_of_the_queries(labelling):
    documents = (Item("a", "a", proposed_forbidden=True), Item("b", "b"))
    labelling.store.add([Query(f"p{i}", "p", items=documents) for i in range(8)])
    lead = labelling.signed_in("Lea")
    form = {"person": [str(labelling.numbers["Bob"])], "strategy": "list", "plan": "ordinary", "tool": "pairs"}
    answer = post(lead, "/lead/tasks", **form, proposals="half", per_query="1", overlap="0")
    assert answer.status_code == 303, answer.text
    tasks = [task for task in labelling.store.tasks() if task.query_id.startswith("p")]
    assert sum(task.with_proposals for task in tasks) == 4


def test_queries_are_brought_as_a_file_all_or_none(labelling):
    lead = labelling.signed_in("Lea")
    rows = [{"query_id": "new", "query": "new one", "doc_id": f"x{i}", "doc": f"text {i}"} for i in range(4)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    page = post(lead, "/lead/queries", files={"file": ("../../q.jsonl", lines.encode())}).text
    assert "1 query and 4 documents were added" in page
    broken = lines.replace("new", "other") + "{broken\n"
    answer = post(lead, "/lead/queries", files={"file": ("q.jsonl", broken.encode())})
    assert answer.status_code == 422
    assert "q.jsonl:5" in answer.text
    assert "/tmp" not in answer.text
    assert len(labelling.store.queries()) == 4
    assert post(lead, "/lead/queries").status_code == 422
    assert post(lead, "/lead/queries/retire", query="new").status_code == 303
    assert post(lead, "/lead/queries/retire", query="nothing").status_code == 404
    assert len(labelling.store.queries()) == 3
    assert "Reinstate new" in lead.get("/lead/queries").text
    assert post(lead, "/lead/queries/reinstate", query="new").status_code == 303
    assert "Reinstate new" not in lead.get("/lead/queries").text
    assert len(labelling.store.queries()) == 4


def test_disagreements_are_settled_by_a_third_person(labelling):
    finish(labelling.by_token("Ada"), labelling.task("Ada").key)
    finish(labelling.by_token("Bob"), labelling.task("Bob").key, reverse=True)
    lead = labelling.signed_in("Lea")
    page = lead.get("/lead/agreement").text
    assert "Ada</bdi>: the" in page
    values = [part.split('"')[0] for part in page.split('name="dispute" value="')[1:]]
    assert values
    assert all(value.startswith("pairs\tq1\t") for value in values)
    form = {"dispute": values[:2], "person": str(labelling.numbers["Ada"])}
    assert post(lead, "/lead/agreement", **form).status_code == 422  # one of the two
    assert post(lead, "/lead/agreement", **{**form, "person": str(labelling.numbers["Lea"])}).status_code == 303
    (task,) = labelling.store.tasks(person=labelling.numbers["Lea"])
    assert (task.purpose, len(task.pairs)) == ("adjudicate", 2)
    assert {frozenset(pair) for pair in task.pairs} == {frozenset(value.split("\t")[2:]) for value in values[:2]}
    assert post(lead, "/lead/agreement", dispute=["pairs\tq1\tx\ty"], person=form["person"]).status_code == 422
    state = finish(labelling.by_token("Lea"), task.key)
    assert state["done"]
    assert "settled" in lead.get("/lead/agreement").text
    assert "d0" in lead.get("/lead/exports/preferences.jsonl").text


def test_another_disagreement_of_a_query_is_settled_by_the_same_person(labelling):
    finish(labelling.by_token("Ada"), labelling.task("Ada").key)
    finish(labelling.by_token("Bob"), labelling.task("Bob").key, reverse=True)
    lead = labelling.signed_in("Lea")
    values = [part.split('"')[0] for part in lead.get("/lead/agreement").text.split('name="dispute" value="')[1:]]
    for value in values[:2]:
        answer = post(lead, "/lead/agreement", dispute=[value], person=str(labelling.numbers["Lea"]))
        assert answer.status_code == 303, answer.text
        task = labelling.store.tasks(person=labelling.numbers["Lea"])[-1]
        assert finish(labelling.by_token("Lea"), task.key)["done"]
    page = lead.get("/lead/agreement").text
    assert page.count("settled") == 2
    assert post(lead, "/lead/agreement", dispute=values[:1], person=str(labelling.numbers["Lea"])).status_code == 422


def test_what_was_withdrawn_is_no_disagreement(labelling):
    finish(labelling.by_token("Ada"), labelling.task("Ada").key)
    finish(labelling.by_token("Bob"), labelling.task("Bob").key, reverse=True)
    lead = labelling.signed_in("Lea")
    assert 'name="dispute"' in lead.get("/lead/agreement").text
    assert post(lead, f"/lead/tasks/{labelling.task('Bob').key}/withdraw").status_code == 303
    page = lead.get("/lead/agreement").text
    assert 'name="dispute"' not in page
    assert "Agreement is shown as soon as" in page


def test_nobody_sees_a_query_with_both_tools(labelling):
    lead = labelling.signed_in("Lea")
    people = [labelling.store.add_person(name, "assessor")[0].id for name in ("Eve", "Joe")]
    everybody = [str(number) for number in (labelling.numbers["Ada"], labelling.numbers["Bob"], *people)]
    form = {"person": everybody, "plan": "rotation", "strategy": "list"}
    assert post(lead, "/lead/tasks", **form).status_code == 422  # q3 alone is free: too few to rotate
    documents = (Item("a", "a"), Item("b", "b"))
    labelling.store.add([Query(f"r{i}", "r", items=documents) for i in range(4)])
    assert post(lead, "/lead/tasks", **form).status_code == 303
    tools: dict[tuple[str, int], set[str]] = {}
    for task in labelling.store.tasks():
        tools.setdefault((task.query_id, task.person), set()).add(task.tool)
    assert {len(own) for own in tools.values()} == {1}
    assert {query for query, _ in tools} == {"q1", "q2", "q3", "r0", "r1", "r2", "r3"}
    answer = post(lead, "/lead/tasks", **form)
    assert answer.status_code == 422
    assert "Every query is already assigned" in answer.text
    task = {"query_id": "q1", "person": labelling.numbers["Ada"], "tool": "grades"}
    answer = labelling.by_token("Lea").post("/api/v1/tasks", json={"tasks": [task]})
    assert answer.status_code == 422
    assert "no one may see a query with both tools" in answer.json()["error"]["message"]


def test_one_query_that_all_have_seen_does_not_hold_up_the_verification_of_others(labelling):
    finish(labelling.by_token("Ada"), labelling.task("Ada").key)  # Bob has q1, too
    ada, bob = (labelling.numbers[name] for name in ("Ada", "Bob"))
    task, taken_back = labelling.store.assign([NewTask("q3", ada, "pairs", k=3), NewTask("q2", bob, "pairs", k=3)])
    finish(labelling.by_token("Ada"), task.key)
    finish(labelling.by_token("Bob"), taken_back.key)
    labelling.store.withdraw(taken_back.key)
    lead = labelling.signed_in("Lea")
    answer = post(lead, "/lead/tasks", person=[str(ada), str(bob)], strategy="list", plan="verify")
    assert answer.status_code == 200
    assert "Not verified, because all of these people have seen it: q1." in answer.text
    assert [task.query_id for task in labelling.store.tasks() if task.purpose == "verify"] == ["q3"]


def test_settings(labelling):
    lead = labelling.signed_in("Lea")
    form = {"title": "Other <b>", "guidelines": "One.\r\nTwo.", "k": "4", "strategy": "heap", "forbidden_label": "-2"}
    assert "Saved." in post(lead, "/lead/settings", grades="no\nyes\n", **form).text
    project = labelling.store.project
    assert (project.title, project.guidelines, project.k) == ("Other <b>", "One.\nTwo.", 4)
    assert (project.grades, project.strategy, project.forbidden_label) == (("no", "yes"), "heap", -2)
    assert "Other &lt;b&gt;" in lead.get("/lead").text
    for wrong in ({"k": "0"}, {"strategy": "guess"}, {"forbidden_label": "1"}, {"title": ""}):
        assert post(lead, "/lead/settings", grades="no\nyes", **{**form, **wrong}).status_code == 422
    assert post(lead, "/lead/settings", grades="one", **form).status_code == 422


def test_agreement_says_which_kind_it_is(labelling):
    """One of two grades is the same. Bob always says 1, so that chance agrees on half as well: κ = 0; and α = 0."""
    labelling.store.assign([NewTask("q2", labelling.numbers["Bob"], "grades", "overlap")])
    for name, grade in (("Ada", {"h": 0, "p": 1}), ("Bob", {"h": 1, "p": 1})):
        client, key = labelling.by_token(name), labelling.task(name, "q2", "grades").key
        for after in range(2):
            doc = client.get(f"/api/v1/tasks/{key}/question").json()["question"]["left"]["id"]
            said = {"client_id": f"{after}", "after": after, "kind": "grade", "left": doc, "grade": grade[doc]}
            assert client.post(f"/api/v1/tasks/{key}/judgments", json=said).status_code == 201
    page = re.sub(r"<[^>]+>", "", labelling.signed_in("Lea").get("/lead/agreement").text)
    assert "Cohen’s κ, quadratic0.00" in page
    assert "Krippendorff’s α, ordinal0.00" in page
    assert "Agreement50.0 %" in page


def shown_settings(client) -> dict[str, str]:
    """The form of the settings as a browser has it."""
    page = client.get("/lead/settings").text
    known = dict(re.findall(r'name="(known-\w+)" value="(\w+)"', page))
    return {"title": "Forum", "guidelines": "", "k": "3", "strategy": "tournament", "forbidden_label": "-1",
            "grades": "bad\nfair\ngood\nexcellent\nperfect", "token": form_token(page), **known}  # fmt: skip


def test_two_leads_change_settings_at_once(labelling):
    labelling.store.change(guidelines="Imagine.\n")  # a form sends no line end at the end
    first, second = labelling.signed_in("Lea"), labelling.signed_in("Lea")
    forms = [{**shown_settings(client), "guidelines": "Imagine."} for client in (first, second)]
    assert "Saved." in first.post("/lead/settings", data={**forms[0], "title": "One"}).text
    assert "Saved." in second.post("/lead/settings", data={**forms[1], "k": "7"}).text
    project = labelling.store.project
    assert (project.title, project.k, project.guidelines) == ("One", 7, "Imagine.\n")  # both stand
    answer = second.post("/lead/settings", data={**forms[1], "title": "Two", "k": "8", "strategy": "heap"}).text
    assert "nothing was saved" in answer
    assert "the title, how many documents are ordered, the strategy" in answer
    assert 'value="Two"' in answer  # what was typed is still there
    assert labelling.store.project == project
    again = {**forms[1], **dict(re.findall(r'name="(known-\w+)" value="(\w+)"', answer))}
    assert "Saved." in second.post("/lead/settings", data={**again, "title": "Two", "k": "8"}).text
    assert (labelling.store.project.title, labelling.store.project.k) == ("Two", 8)


def test_strategies_of_pairs_are_offered_for_pairs(labelling):
    lead = labelling.signed_in("Lea")
    for page in ("/lead/tasks", "/lead/settings"):
        assert "<option>grades</option>" not in lead.get(page).text
        assert "<option>heap</option>" in lead.get(page).text
    api = labelling.by_token("Lea")
    task = {"query_id": "q3", "person": labelling.numbers["Ada"], "tool": "pairs"}
    for wrong in ({"strategy": "grades"}, {"purpose": "verify", "pairs": [["t0", "t0"]]}):
        assert api.post("/api/v1/tasks", json={"tasks": [{**task, **wrong}]}).status_code == 422
    assert api.patch("/api/v1/project", json={"strategy": "grades"}).status_code == 422


def test_grades_that_were_given_cannot_go(labelling):
    key = labelling.task("Ada", "q2", "grades").key
    body = {"client_id": "c", "after": 0, "kind": "grade", "left": "h", "grade": 4}
    assert labelling.by_token("Ada").post(f"/api/v1/tasks/{key}/judgments", json=body).status_code == 201
    answer = labelling.by_token("Lea").patch("/api/v1/project", json={"grades": ["no", "yes"]})
    assert answer.status_code == 422
    expected = "2 grades are too few: some documents already have grade 4; keep 5 grades, or make a separate project."
    assert answer.json()["error"]["message"] == expected


def test_a_query_with_one_document_is_done_at_once(labelling):
    labelling.store.add([Query("lone", "lone", items=(Item("a", "a"),))])
    task = {"query_id": "lone", "person": labelling.numbers["Ada"], "tool": "pairs"}
    (made,) = labelling.by_token("Lea").post("/api/v1/tasks", json={"tasks": [task]}).json()["tasks"]
    assert made["done"]
    ada = labelling.signed_in("Ada")
    state = ada.get(f"/api/v1/tasks/{made['key']}/question").json()
    assert (state["done"], state["question"]) == (True, None)
    assert ada.get(f"/tasks/{made['key']}").status_code == 200
    assert labelling.by_token("Lea").get("/api/v1/exports/qrels.txt").text == "lone 0 a 3\n"


def test_ids_with_spaces_leave_the_pages_too(labelling, tmp_path):
    labelling.store.add([Query("a query", "x", items=(Item("d 1", "first"), Item("d 2", "second")))])
    (task,) = labelling.store.assign([NewTask("a query", labelling.numbers["Ada"], "pairs", k=3)])
    finish(labelling.by_token("Ada"), task.key)
    lead = labelling.signed_in("Lea")
    refused = lead.get("/lead/exports/qrels.txt")
    assert refused.status_code == 422
    assert "save as .csv, .parquet or .jsonl" in refused.text
    for name in ("qrels.jsonl", "examples.jsonl"):
        (tmp_path / name).write_bytes(lead.get(f"/lead/exports/{name}").content)
    assert read_qrels(tmp_path / "qrels.jsonl").to_dict() == {"a query": {"d 1": 3, "d 2": 2}}
    examples = read_examples(tmp_path / "examples.jsonl")
    assert (examples.texts.docs, examples.labels.tolist()) == (("first", "second"), [3, 2])
    assert all(name in lead.get("/lead/exports").text for name in ("qrels.jsonl", "examples.jsonl"))


def test_the_dashboard_of_a_project_without_anything(tmp_path):
    from ranksift.labelling.records import Project
    from ranksift.labelling.store import Store
    from ranksift.labelling.web import Settings, application

    with Store.create(tmp_path / "empty", Project("Empty")) as store:
        person, token = store.add_person("Lea", "lead")
        made = Labelling(store, application(store), {"Lea": token}, {"Lea": person.id}, Settings())
        lead = made.signed_in("Lea")
        for path in ("", "/agreement", "/people", "/tasks", "/queries", "/exports", "/settings"):
            assert lead.get(f"/lead{path}").status_code == 200
        assert lead.get("/").status_code == 200
        assert lead.get("/lead/exports/qrels.txt").status_code == 422


def test_proposals_are_shown_in_a_random_half_where_nothing_else_is_said(labelling):
    lead = labelling.signed_in("Lea")
    assert "disabled" in lead.get("/lead/tasks").text.split('name="proposals"')[1].split(">")[0]
    for i in range(4):
        proposed = (Item("a", "a", proposed_forbidden=True), Item("b", "b"))
        labelling.store.add([Query(f"p{i}", "x", items=proposed)])
    page = lead.get("/lead/tasks").text.split('name="proposals"')[1].split("</select>")[0]
    chosen = page.split(" selected")[0].rsplit('value="', 1)[1].rstrip('"')
    form = {"person": [labelling.numbers["Ada"], labelling.numbers["Bob"]], "plan": "ordinary", "tool": "pairs"}
    said = {"strategy": "list", "per_query": "1", "overlap": "0", "proposals": chosen}
    assert post(lead, "/lead/tasks", "/lead/tasks", **form, **said).status_code == 303
    tasks = [task for i in range(4) for task in labelling.store.tasks(query_id=f"p{i}")]
    assert [sum(task.with_proposals for task in tasks), len(tasks)] == [2, 4]
