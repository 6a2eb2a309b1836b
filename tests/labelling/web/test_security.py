"""What must not work: strangers, guesses, forms of others, hostile documents, tricks with ids."""

import json
from pathlib import Path

import pytest

from ranksift.labelling.records import Item, Query
from ranksift.labelling.web import Settings
from ranksift.labelling.web.api import OPERATIONS
from ranksift.labelling.web.dashboard import PAGES as LEAD_PAGES
from ranksift.labelling.web.pages import PAGES
from ranksift.labelling.web.security import Guesses
from tests.labelling.web.conftest import Labelling, finish, form_token, make


def filled(path: str, labelling: Labelling, name: str = "Ada") -> str:
    """An address in which everything is there."""
    person = str(labelling.numbers["Bob"])
    return path.replace("{key}", labelling.task(name).key).replace("{person}", person).replace("{what}", "qrels.txt")


@pytest.mark.parametrize(
    "page", [p for p in (*PAGES, *LEAD_PAGES) if p.caller != "anybody"], ids=lambda p: f"{p.method} {p.path}"
)
def test_a_stranger_gets_no_page(labelling, page):
    answer = labelling.client().request(page.method, filled(page.path, labelling))
    assert answer.status_code == 401
    assert "You need your link" in answer.text


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.caller != "anybody"], ids=lambda o: f"{o.method} {o.path}"
)
def test_a_stranger_gets_nothing_from_the_api(labelling, operation):
    answer = labelling.client().request(operation.method, "/api/v1" + filled(operation.path, labelling))
    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "not_signed_in"


@pytest.mark.parametrize("path", ["/api", "/api/v1/openapi.json", "/in/wrong", "/", "/nothing", "/static/judge.js"])
def test_a_stranger_does_not_learn_what_the_project_is_called(labelling, path):
    assert "Forum" not in labelling.client().get(path).text
    assert "Forum" in labelling.signed_in("Ada").get("/api").text


def test_an_assessor_does_not_learn_where_the_project_lies(labelling):
    client, key = labelling.by_token("Ada"), labelling.task("Ada").key
    state = finish(client, key)
    labelling.store.retire_query("q1")
    answer = client.post(f"/api/v1/tasks/{key}/undo", json={"client_id": "u", "after": state["after"]})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == "The task was withdrawn; continue with another task."


@pytest.mark.parametrize("page", LEAD_PAGES, ids=lambda p: f"{p.method} {p.path}")
def test_for_an_assessor_there_is_no_dashboard(labelling, page):
    assert labelling.signed_in("Ada").request(page.method, filled(page.path, labelling)).status_code == 404


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.caller == "lead"], ids=lambda o: f"{o.method} {o.path}"
)
def test_an_assessor_may_not_do_what_leads_do(labelling, operation):
    answer = labelling.by_token("Ada").request(operation.method, "/api/v1" + filled(operation.path, labelling))
    assert answer.status_code == 403


@pytest.mark.parametrize("who", ["Bob", "Lea"])
def test_the_task_of_somebody_else_is_not_there(labelling, who):
    key = labelling.task("Ada").key
    client = labelling.by_token(who)
    for path in (f"/api/v1/tasks/{key}/question", f"/api/v1/tasks/{key}/log", f"/api/v1/tasks/{key}/document?id=d1"):
        assert client.get(path).status_code == 404
    body = {"client_id": "1", "after": 0, "kind": "undo"}
    assert client.post(f"/api/v1/tasks/{key}/judgments", json=body).status_code == 404
    page = labelling.signed_in(who)
    assert page.get(f"/tasks/{key}").status_code == page.get(f"/tasks/{key}/document?id=d1").status_code == 404
    assert not labelling.store.log(key)


def test_an_assessor_does_not_see_why_there_is_a_task(labelling):
    tasks = labelling.by_token("Bob").get("/api/v1/tasks?everybody=true").json()["tasks"]
    assert len(tasks) == 1
    assert "purpose" not in tasks[0]


@pytest.mark.parametrize("page", [p for p in (*PAGES, *LEAD_PAGES) if p.method == "POST"], ids=lambda p: p.path)
def test_a_form_without_the_token_of_the_session_is_refused(labelling, page):
    client = labelling.signed_in("Lea")
    other = form_token(labelling.signed_in("Ada").get("/").text)
    path = filled(page.path, labelling).replace("{token}", labelling.tokens["Bob"])
    for data in ({}, {"token": ""}, {"token": "0" * 64}, {"token": other}, {"token": "ä"}):
        assert client.post(path, data=data).status_code == 403
    assert {person.active for person in labelling.store.people()} == {True}


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.method != "GET"], ids=lambda o: f"{o.method} {o.path}"
)
def test_the_api_wants_the_token_of_the_form_where_a_cookie_says_who_it_is(labelling, operation):
    client = labelling.signed_in("Lea")
    answer = client.request(operation.method, "/api/v1" + filled(operation.path, labelling), json={})
    assert answer.status_code == 403
    assert answer.json()["error"]["type"] == "forbidden"


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_what_another_site_makes_a_browser_send_is_refused(labelling, origin):
    client, key = labelling.signed_in("Ada"), labelling.task("Ada").key
    question = client.get(f"/api/v1/tasks/{key}/question").json()["question"]
    said = {"client_id": "x", "after": 0, "kind": "prefer", **{side: card["id"] for side, card in question.items()}}
    body = json.dumps({**said, "answer": "left"})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):  # the first two ask nobody
        headers = {"origin": origin, "referer": origin, "content-type": kind}
        assert client.post(f"/api/v1/tasks/{key}/judgments", content=body, headers=headers).status_code == 403
    assert client.post("/out", headers={"origin": origin}).status_code == 403
    answer = client.get("/api/v1/me", headers={"origin": origin})
    assert not [name for name in answer.headers if name.startswith("access-control")]  # so nobody else can read it
    assert client.get("/").status_code == 200
    assert not labelling.store.log(key)


def test_a_host_that_somebody_made_up_is_in_no_link(tmp_path):
    made = make(tmp_path / "project", Settings(url="https://label.example.org"))
    with made.store:
        lead, program = made.signed_in("Lea"), made.by_token("Lea")
        forged = {"host": "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "gopher"}
        link = program.post("/api/v1/people", json={"name": "Zoë"}, headers=forged).json()["link"]
        assert link.startswith("https://label.example.org/in/")
        token = form_token(lead.get("/lead/people", headers=forged).text)
        form = {"token": token, "name": "Max", "role": "assessor"}
        page = lead.post("/lead/people", data=form, headers=forged)
        assert 'value="https://label.example.org/in/' in page.text
        person = made.numbers["Bob"]
        answer = lead.post(f"/lead/people/{person}/retire", data={"token": token}, headers=forged)
        assert answer.headers["location"] == "/lead/people"
        for path in ("/", "/lead", "/lead/people", "/in/wrong", "/api", "/nothing", "/lead/"):
            answer = lead.get(path, headers=forged)
            assert "evil" not in answer.text + str(answer.headers)


def test_a_thousand_guesses_at_a_link(tmp_path):
    labelling = make(tmp_path / "project", Settings(failure_seconds=86_400.0))  # longer than this takes anywhere
    with labelling.store:
        client = labelling.client()
        codes = [client.get(f"/in/guess{i}").status_code for i in range(500)]
        codes += [
            client.get("/api/v1/me", headers={"authorization": f"Bearer guess{i}"}).status_code for i in range(500)
        ]
        assert codes[:10] == [404] * 10
        assert set(codes[10:]) == {429}
        blocked = client.get(f"/in/{labelling.tokens['Ada']}")
        assert blocked.status_code == 429
        assert int(blocked.headers["retry-after"]) > 0


def test_who_waited_may_try_again_and_others_are_not_held_up():
    now = [0.0]
    guesses = Guesses(3, 60.0, clock=lambda: now[0])
    for _ in range(3):
        guesses.wrong("a")
    assert guesses.wait("a") == 60.0
    assert guesses.wait("b") == 0.0
    now[0] = 61.0
    assert guesses.wait("a") == 0.0


def test_looking_at_a_link_does_not_sign_in(labelling):
    client = labelling.client()
    page = client.get(f"/in/{labelling.tokens['Ada']}")
    assert "Sign in as" in page.text
    assert client.get("/").status_code == 401
    assert not labelling.store.signed_in()


def test_the_cookie(labelling):
    client = labelling.client("https://testserver")
    token = form_token(client.get(f"/in/{labelling.tokens['Ada']}").text)
    cookies = client.post(f"/in/{labelling.tokens['Ada']}", data={"token": token}).headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if "_in=" not in cookie)
    assert {"HttpOnly", "SameSite=lax", "Secure", "Path=/"} <= set(session.split("; "))
    plain = labelling.client()
    token = form_token(plain.get(f"/in/{labelling.tokens['Ada']}").text)
    cookies = plain.post(f"/in/{labelling.tokens['Ada']}", data={"token": token}).headers.get_list("set-cookie")
    assert not any("Secure" in cookie for cookie in cookies)


def test_a_secure_site_never_sends_its_cookie_in_the_clear(tmp_path):
    made = make(tmp_path / "project", Settings(secure=True, root_path="/label"))
    with made.store:
        cookies = made.client().get(f"/in/{made.tokens['Ada']}").headers.get_list("set-cookie")
        assert all({"Secure", "Path=/label"} <= set(cookie.split("; ")) for cookie in cookies)


def test_signing_out_ends_the_session(labelling):
    client = labelling.signed_in("Ada")
    thief = labelling.client()
    thief.cookies.update(client.cookies)
    assert thief.get("/").status_code == 200
    assert client.post("/out", data={"token": form_token(client.get("/").text)}).status_code == 200
    assert thief.get("/").status_code == 401


def test_who_is_retired_is_out_at_once(labelling):
    client, program = labelling.signed_in("Bob"), labelling.by_token("Bob")
    labelling.store.retire(labelling.numbers["Bob"])
    assert client.get("/").status_code == 401
    assert program.get("/api/v1/me").status_code == 401


def test_headers_of_every_answer(labelling):
    client = labelling.signed_in("Lea")
    for path in (
        "/",
        "/lead",
        "/nothing",
        "/api/v1/me",
        "/api/v1/nothing",
        "/healthz",
        "/in/wrong",
        "/lead/exports/log.jsonl",
    ):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


def test_a_document_can_run_nothing_and_fetch_nothing(labelling):
    client = labelling.signed_in("Ada")
    answer = client.get(f"/tasks/{labelling.task('Ada', 'q2', 'grades').key}/document", params={"id": "h"})
    policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["img-src"] == "data:"
    assert policy["sandbox"] == "allow-same-origin"
    assert "script-src" not in policy
    text = answer.text.split("</head>")[1].lower()
    assert "good day" in text
    for tag in ("<script", "<link", "<meta", "<base"):
        assert tag not in text


@pytest.mark.parametrize(
    "trick",
    [
        "' OR 1=1 --",
        "d1'; DROP TABLE items; --",
        "../../etc/passwd",
        "..%2f..",
        "d1\x00",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        "",
        "%",
        "a" * 5000,
    ],
)
def test_tricks_with_ids(labelling, trick):
    client = labelling.by_token("Ada")
    key = labelling.task("Ada").key
    assert client.get(f"/api/v1/tasks/{key}/document", params={"id": trick}).status_code == 404
    assert labelling.signed_in("Ada").get(f"/tasks/{key}/document", params={"id": trick}).status_code == 404
    assert labelling.by_token("Lea").get("/api/v1/query", params={"id": trick}).status_code == 404
    assert len(labelling.store.items("q1")) == 6


@pytest.mark.parametrize(
    "path",
    [
        "/static/../web/api.py",
        "/static/%2e%2e/api.py",
        "/static/..%2fapi.py",
        "/static//etc/passwd",
        "/tasks/%00",
        "/tasks/' OR '1'='1",
        "/lead/exports/..%2f..%2fetc%2fpasswd",
    ],
)
def test_tricks_with_paths(labelling, path):
    assert labelling.signed_in("Lea").get(path).status_code == 404


def test_ids_with_marks_are_only_ids(labelling):
    strange = "a/../b?c=d&e#f %2f\"'<script>é\u202e"
    labelling.store.add(
        [Query("q9/..", "x <b>y</b>", items=(Item(strange, "here", title="<script>alert(1)</script>"), Item("z", "z")))]
    )
    from ranksift.labelling.records import NewTask

    (task,) = labelling.store.assign([NewTask("q9/..", labelling.numbers["Ada"], "pairs")])
    client = labelling.signed_in("Ada")
    assert "here" in client.get(f"/tasks/{task.key}/document", params={"id": strange}).text
    page = client.get(f"/tasks/{task.key}").text
    assert "<script>alert" not in page
    assert "x &lt;b&gt;y&lt;/b&gt;" in page
    lead = labelling.signed_in("Lea")
    for path in ("/lead", "/lead/queries", "/lead/tasks"):
        assert "<b>y</b>" not in lead.get(path).text


def test_bodies_that_are_too_large(tmp_path):
    made = make(tmp_path / "project", Settings(body_bytes=2000, import_bytes=4000))
    with made.store:
        client = made.by_token("Lea")
        assert client.post("/api/v1/people", content=b"x" * 2001).status_code == 413
        assert client.post("/api/v1/people", content=iter([b"x" * 1500] * 2)).status_code == 413  # no length is given
        assert client.post("/api/v1/queries", content=b"x" * 3999).status_code == 400
        answer = client.post("/api/v1/queries", content=b"x" * 4001)
        assert answer.json()["error"]["type"] == "too_large"


def test_guidelines_as_long_as_they_may_be(labelling):
    client = labelling.signed_in("Lea")
    form = {"title": "Forum", "k": "3", "strategy": "tournament", "forbidden_label": "-1", "grades": "bad\ngood"}
    words = "語" * 200_000  # nine bytes each in a form
    token = form_token(client.get("/lead/settings").text)
    assert client.post("/lead/settings", data={**form, "token": token, "guidelines": words}).status_code == 200
    assert labelling.store.project.guidelines == words


def test_a_document_of_five_megabytes(labelling):
    word = "<p>dolor <b>sit</b> <link rel=preload href=//e> amet</p>\n"
    content = word * (5_000_000 // len(word))
    client = labelling.by_token("Lea")
    query = {"query_id": "big", "text": "big", "items": [{"doc_id": "big", "content": content, "media": "html"}]}
    assert client.post("/api/v1/queries", json={"queries": [query]}).status_code == 201
    task = {"query_id": "big", "person": labelling.numbers["Ada"], "tool": "grades"}
    key = client.post("/api/v1/tasks", json={"tasks": [task]}).json()["tasks"][0]["key"]
    page = labelling.signed_in("Ada").get(f"/tasks/{key}/document?id=big").text
    assert len(page) > 5_000_000
    assert "<link" not in page


@pytest.mark.parametrize("value", ["1" + "0" * 400, "-1" + "0" * 400, "1e999", "NaN", "9" * 5000])
def test_numbers_without_end(labelling, value):
    client, key = labelling.by_token("Ada"), labelling.task("Ada").key
    for name in ("active_seconds", "after", "grade"):
        said = {"client_id": "c", "after": 0, "kind": "prefer", "left": "d0", "right": "d1", name: "VALUE"}
        body = json.dumps(said).replace('"VALUE"', value)
        answer = client.post(f"/api/v1/tasks/{key}/judgments", content=body)
        assert answer.status_code in (400, 422)
        assert "\n" not in answer.json()["error"]["message"]
    item = f'{{"doc_id": "a", "content": "a", "prior": {value}}}'
    body = f'{{"queries": [{{"query_id": "n", "text": "n", "items": [{item}]}}]}}'
    assert labelling.by_token("Lea").post("/api/v1/queries", content=body).status_code in (400, 422)
    assert not labelling.store.log(key)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"name": "\\ud800"}',
        b'{"name": "a\\u0000b"}',
        b'{"name": 5}',
        b"[1]",
        b"null",
        b'{"name": ""}',
        b'{"name": "x", "role": "owner"}',
        b'{"name": "x", "id": 1}',
    ],
)
def test_bodies_that_make_no_sense(labelling, body):
    answer = labelling.by_token("Lea").post("/api/v1/people", content=body)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["message"]
    assert len(labelling.store.people()) == 3


@pytest.mark.parametrize("seen", ["/", "/label/"])
def test_behind_a_proxy_with_a_prefix(tmp_path, seen):
    made = make(tmp_path / "project", Settings(root_path="/label"))
    with made.store:
        client = made.client()
        client.base_url = "http://testserver" + seen  # a proxy that takes the prefix off, and one that does not
        page = client.get(f"in/{made.tokens['Ada']}")
        assert 'action="/label/in/' in page.text
        assert 'href="/label/static/style.css"' in page.text
        client.headers["cookie"] = page.headers["set-cookie"].split(";")[0]  # as a browser outside of the proxy does
        answer = client.post(f"in/{made.tokens['Ada']}", data={"token": form_token(page.text)})
        assert answer.headers["location"] == "/label/"
        assert client.get("static/style.css").status_code == 200
        client.base_url = "http://testserver"
        assert "You need your link" in client.get("/label").text  # as people type it


def test_nothing_from_elsewhere_is_in_the_package():
    import ranksift.labelling.web as web

    folder = Path(web.__file__).parent
    for file in (*folder.rglob("*.html"), folder / "static/judge.js", folder / "static/style.css"):
        text = file.read_text()
        assert "http://" not in text
        assert "https://" not in text.replace("https://…", "")
        assert " style=" not in text
        assert "<script>" not in text
        assert " onclick" not in text
