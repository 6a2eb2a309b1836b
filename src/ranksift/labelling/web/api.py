"""The JSON API: its operations, from which both the routes and the OpenAPI document are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from starlette.responses import Response

from ranksift import __version__
from ranksift.errors import InputError
from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import Item, NewTask, Person, Query, Task
from ranksift.labelling.strategies import PAIRWISE, STRATEGIES
from ranksift.labelling.web import transfer
from ranksift.labelling.web.problems import not_found
from ranksift.labelling.web.site import Visit
from ranksift.web.shapes import (
    Schema,
    array,
    nullable,
    number,
    one_of,
    record,
    text,
    whole,
    yes_or_no,
)

#: Who may call an operation: anyone, anyone with a link, or leads.
Caller = Literal["anybody", "assessor", "lead"]


@dataclass(frozen=True)
class Operation:
    """Something that the API does.

    Attributes
    ----------
    method, path, summary
        As they stand in the OpenAPI document; the path comes after ``/api/v1``.
    run
        Does it: JSON, or a response of its own.
    caller
        Who may.
    parameters
        The parameters of the address, after the question mark.
    body
        The shape of what is sent.
    status
        The status of a successful answer.
    media
        What the answer is.
    """

    method: str
    path: str
    summary: str
    run: Callable[[Visit], Any]
    caller: Caller = "lead"
    parameters: Mapping[str, Schema] | None = None
    body: Schema | None = None
    status: int = 200
    media: str = "application/json"


# -- as JSON -----------------------------------------------------------------------------------------------------------


def _person(person: Person) -> dict[str, Any]:
    return asdict(person)


def _task(task: Task) -> dict[str, Any]:
    return {**asdict(task), "created": task.created.isoformat()}


def _own_task(task: Task) -> dict[str, Any]:
    """A task as its assessor sees it: why there is one is not for them, it could bias their judgments."""
    made = _task(task)
    return {name: made[name] for name in ("key", "query_id", "tool", "k", "done", "judgments", "created")}


def _query(query: Query, contents: bool = False) -> dict[str, Any]:
    made = asdict(query)
    if not contents:
        for item in made["items"]:
            del item["content"]
    return made


def _judgment(judgment: Judgment) -> dict[str, Any]:
    return asdict(judgment)


# -- what it does ------------------------------------------------------------------------------------------------------


def _project(visit: Visit) -> dict[str, Any]:
    return asdict(visit.store.project)


def _change_project(visit: Visit) -> dict[str, Any]:
    changes = dict(visit.body)
    if "grades" in changes:
        changes["grades"] = tuple(changes["grades"])
    return asdict(visit.store.change(**changes))


def _tasks(visit: Visit) -> dict[str, Any]:
    everybody = visit.query.get("everybody") == "true"
    if everybody and visit.who.role == "lead":
        tasks = visit.store.tasks(query_id=visit.query.get("query_id"))
        return {"tasks": [_task(task) for task in tasks]}
    return {"tasks": [_own_task(task) for task in visit.store.tasks(person=visit.who.id)]}


def _assign(visit: Visit) -> dict[str, Any]:
    new = [NewTask(**{**one, "pairs": tuple((a, b) for a, b in one.get("pairs", ()))}) for one in visit.body["tasks"]]
    return {"tasks": [_task(task) for task in visit.store.assign(new)]}


def _withdraw(visit: Visit) -> dict[str, Any]:
    task = visit.store.task(visit.request.path_params["key"])
    if task is None:
        raise not_found()
    visit.store.withdraw(task.key)
    return {"withdrawn": task.key}


def _question(visit: Visit) -> dict[str, Any]:
    task = visit.own_task(visit.request.path_params["key"])
    query = visit.store.query(task.query_id, contents=False)
    about = {"id": query.query_id, "text": query.text, "description": query.description, "language": query.language}
    return {"query": about, **visit.site.desk.view(task, ahead=visit.query.get("ahead") == "true")}


def _judge(visit: Visit) -> dict[str, Any]:
    task = visit.own_task(visit.request.path_params["key"])
    return visit.site.desk.judge(task, visit.body, ahead=visit.query.get("ahead") == "true")


def _undo(visit: Visit) -> dict[str, Any]:
    task = visit.own_task(visit.request.path_params["key"])
    return visit.site.desk.judge(task, {**visit.body, "kind": "undo"}, ahead=visit.query.get("ahead") == "true")


def _log(visit: Visit) -> dict[str, Any]:
    task = visit.own_task(visit.request.path_params["key"])
    return {"log": [_judgment(judgment) for judgment in visit.store.log(task.key)]}


def _document(visit: Visit) -> dict[str, Any]:
    task = visit.own_task(visit.request.path_params["key"])
    item = asdict(item_of(visit, task.query_id, visit.query.get("id", "")))
    proposed = item.pop("proposed_forbidden")
    item.pop("prior")  # it would bias
    return {**item, "proposed": bool(proposed and task.with_proposals)}


def item_of(visit: Visit, query_id: str, doc_id: str) -> Item:
    """A document with its content; not found if there is none."""
    try:
        return visit.store.item(query_id, doc_id)
    except (InputError, LookupError):
        raise not_found() from None


def query_of(visit: Visit, query_id: str, contents: bool = False) -> Query:
    """A query with its documents; not found if there is none."""
    try:
        return visit.store.query(query_id, contents)
    except (InputError, LookupError):
        raise not_found() from None


def _queries(visit: Visit) -> dict[str, Any]:
    return {"queries": [_query(query) for query in visit.store.queries()]}


def _one_query(visit: Visit) -> dict[str, Any]:
    return _query(query_of(visit, visit.query.get("id", ""), contents=True), contents=True)


def _import(visit: Visit) -> dict[str, Any]:
    queries = [
        Query(**{**query, "items": tuple(Item(**item) for item in query["items"])}) for query in visit.body["queries"]
    ]
    added = visit.store.add(queries)
    return {"queries": added[0], "items": added[1]}


def _retire_query(visit: Visit) -> dict[str, Any]:
    query_id = visit.query.get("id", "")
    query_of(visit, query_id)
    visit.store.retire_query(query_id)
    return {"retired": query_id}


def _reinstate_query(visit: Visit) -> dict[str, Any]:
    query_id = query_of(visit, visit.query.get("id", "")).query_id
    visit.store.reinstate_query(query_id)
    return {"reinstated": query_id}


def _people(visit: Visit) -> dict[str, Any]:
    return {"people": [_person(person) for person in visit.store.people()]}


def person_of(visit: Visit) -> Person:
    """The person whom the address names; not found if there is none."""
    for person in visit.store.people():
        if str(person.id) == visit.request.path_params["person"]:
            return person
    raise not_found()


def _add_person(visit: Visit) -> dict[str, Any]:
    person, token = visit.store.add_person(visit.body["name"].strip(), visit.body.get("role", "assessor"))
    return {**_person(person), "token": token, "link": link(visit, token)}


def link(visit: Visit, token: str) -> str:
    """The personal link with the full address."""
    if visit.site.settings.url:
        return f"{visit.site.settings.url}/in/{token}"
    base = visit.request.base_url
    return f"{base.scheme}://{base.netloc}{visit.root}/in/{token}"


def _new_link(visit: Visit) -> dict[str, Any]:
    token = visit.store.new_link(person_of(visit).id)
    return {"token": token, "link": link(visit, token)}


def retire(visit: Visit, person: Person) -> None:
    """Remove a person from the project, if a lead stays."""
    leads = [one for one in visit.store.people() if one.role == "lead" and one.active]
    if person.role == "lead" and [one.id for one in leads] == [person.id]:
        raise InputError(f"{person.name} is the only lead", remedy="add another lead first")
    visit.store.retire(person.id)


def _retire(visit: Visit) -> dict[str, Any]:
    person = person_of(visit)
    retire(visit, person)
    return {"retired": person.id}


def _reinstate(visit: Visit) -> dict[str, Any]:
    token = visit.store.reinstate(person_of(visit).id)
    return {"token": token, "link": link(visit, token)}


def _progress(visit: Visit) -> dict[str, Any]:
    return visit.site.overviews.get().to_dict()


def _export(visit: Visit) -> Response:
    return transfer.export(visit.store, visit.request.path_params["what"])


def _openapi(visit: Visit) -> dict[str, Any]:
    return openapi(visit.root)


# -- the operations ----------------------------------------------------------------------------------------------------

_KEY = text("The key of one of your tasks.")
_AHEAD = {"ahead": one_of("true", "false", description="Whether to say which question follows each answer.")}
_CLIENT_ID = text("Made by the client, different for each judgment. If it is sent again, nothing is saved.", 100, 1)
_AFTER = whole("The number of log entries that the client knows: `after` of the state that it shows.", 0)
_SECONDS = number("How long the assessor worked on it, in seconds.", minimum=0)
_NOTE = text("A note of the assessor.", 10_000)

JUDGMENT = record(
    {
        "client_id": _CLIENT_ID,
        "after": _AFTER,
        "kind": one_of("prefer", "grade", "skip", "cannot", "undo"),
        "left": text("The item on the left, or the only one."),
        "right": nullable(text("The item on the right; null if one item is graded.")),
        "answer": nullable(one_of("left", "right", "tie")),
        "grade": nullable(whole("The grade, from 0, the worst.", 0, 99)),
        "forbidden": array(text(), "Items of the question that are forbidden.", maxItems=2),
        "active_seconds": _SECONDS,
        "note": _NOTE,
    },
    ("client_id", "after", "kind"),
)

_ITEM = record(
    {
        "doc_id": text(shortest=1),
        "content": text(longest=64 * 1024 * 1024),
        "title": text(longest=10_000),
        "media": one_of("text", "html"),
        "language": text("A tag such as `fa`.", 35),
        "prior": nullable(number("The score of a run or a model; larger is better.")),
        "proposed_forbidden": yes_or_no("Whether a model proposes to flag it."),
    },
    ("doc_id", "content"),
)

_QUERY = record(
    {
        "query_id": text(shortest=1),
        "text": text(longest=10_000, shortest=1),
        "description": text(longest=100_000),
        "language": text("A tag such as `fa`.", 35),
        "items": array(_ITEM, minItems=1),
    },
    ("query_id", "text", "items"),
)

_NEW_TASK = record(
    {
        "query_id": text(shortest=1),
        "person": whole("The id of a person."),
        "tool": one_of("pairs", "grades"),
        "purpose": one_of("label", "overlap", "verify", "adjudicate"),
        "strategy": one_of(*STRATEGIES),
        "k": whole("How many documents to put in order.", 1, 1000),
        "seed": whole("The seed of the random numbers.", 0, 2**31 - 1),
        "with_proposals": yes_or_no("Whether proposals of a model are shown."),
        "pairs": array(array(text(), minItems=2, maxItems=2), "The only pairs to ask about."),
    },
    ("query_id", "person", "tool"),
)

PROJECT = record(
    {
        "title": text(longest=200, shortest=1),
        "guidelines": text("Plain text.", 200_000),
        "k": whole("How many documents of each query to put in order, in new tasks.", 1, 1000),
        "strategy": one_of(*PAIRWISE, description="The strategy of new tasks with pairs."),
        "grades": array(text(longest=40, shortest=1), "Worst first.", minItems=2, maxItems=9),
        "forbidden_label": whole("The label of forbidden documents in exported judgments.", -1000, -1),
    }
)

_ID = {"id": text("The id of the query.")}
_NEW_PERSON = record({"name": text(longest=200, shortest=1), "role": one_of("lead", "assessor")}, ("name",))

#: All that the API does.
OPERATIONS = (
    Operation("GET", "/openapi.json", "This document.", _openapi, "anybody"),
    Operation("GET", "/me", "Who you are.", lambda visit: _person(visit.who), "assessor"),
    Operation("GET", "/project", "The settings of the project.", _project, "assessor"),
    Operation("PATCH", "/project", "Change settings of the project.", _change_project, body=PROJECT),
    Operation(
        "GET",
        "/tasks",
        "Your tasks; for a lead who asks for them, the tasks of everyone.",
        _tasks,
        "assessor",
        {"everybody": one_of("true", "false"), "query_id": text("With everybody: only the tasks of this query.")},
    ),
    Operation("POST", "/tasks", "Assign tasks: all of them or none.", _assign, status=201,
              body=record({"tasks": array(_NEW_TASK, minItems=1, maxItems=100_000)}, ("tasks",))),
    Operation("DELETE", "/tasks/{key}", "Withdraw a task; its judgments stay.", _withdraw),
    Operation("GET", "/tasks/{key}/question", "The next question, and the state of the task.", _question, "assessor",
              _AHEAD),
    Operation("GET", "/tasks/{key}/log", "All your judgments so far.", _log, "assessor"),
    Operation("GET", "/tasks/{key}/document", "A document of the task.", _document, "assessor",
              {"id": text("The id of the document.")}),
    Operation("POST", "/tasks/{key}/judgments", "Save a judgment; it is saved once, however often it is sent.", _judge,
              "assessor", _AHEAD, JUDGMENT, 201),
    Operation("POST", "/tasks/{key}/undo", "Take back the last judgment that counts.", _undo, "assessor", _AHEAD,
              record({"client_id": _CLIENT_ID, "after": _AFTER, "active_seconds": _SECONDS, "note": _NOTE},
                     ("client_id", "after")), 201),
    Operation("GET", "/queries", "All queries with their documents, without contents.", _queries),
    Operation("POST", "/queries", "Add queries, or documents to queries: all of them or none.", _import, status=201,
              body=record({"queries": array(_QUERY, minItems=1)}, ("queries",))),
    Operation("GET", "/query", "A query with its documents and their contents.", _one_query, parameters=_ID),
    Operation("DELETE", "/query", "Retire a query: no more tasks; its judgments stay.", _retire_query, parameters=_ID),
    Operation("POST", "/query/reinstate", "Take a retired query back: it can be assigned again.", _reinstate_query,
              parameters=_ID),
    Operation("GET", "/people", "Everyone who may sign in.", _people),
    Operation("POST", "/people", "Add a person; the answer contains the personal link.", _add_person, status=201,
              body=_NEW_PERSON),
    Operation("POST", "/people/{person}/link", "Create a new personal link; the old one stops working.", _new_link,
              status=201),
    Operation("DELETE", "/people/{person}", "Retire a person; their judgments stay.", _retire),
    Operation("POST", "/people/{person}/reinstate", "Reinstate a retired person, with a new link.", _reinstate,
              status=201),
    Operation("GET", "/progress", "The progress of the project, and when it will be done.", _progress),
    Operation("GET", "/exports/{what}", "Judgments as a file: " + ", ".join(transfer.EXPORTS) + ".", _export,
              media="text/plain"),
)  # fmt: skip


def openapi(root: str = "") -> dict[str, Any]:
    """The OpenAPI document, made of the operations."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    error = record({"error": record({"message": text(), "type": text()}, ("message", "type"))}, ("error",))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "RankSift labelling",
            "version": __version__,
            "description": "What assessors and leads do on the pages, for programs. The token is the last part of a "
            "personal link.",
        },
        "servers": [{"url": f"{root}/api/v1"}],
        "security": [{"link": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"link": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": error},
            "responses": {
                "Error": {
                    "description": "What is wrong.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                }
            },
        },
    }


def _described(operation: Operation) -> dict[str, Any]:
    name = operation.path.strip("/").replace("{", "").replace("}", "").replace("/", "-").replace(".", "-")
    in_path = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    parameters = [{"name": part, "in": "path", "required": True, "schema": {"type": "string"}} for part in in_path]
    parameters += [
        {"name": part, "in": "query", "schema": dict(schema)} for part, schema in (operation.parameters or {}).items()
    ]
    answer: dict[str, Any] = {"description": "Done."}
    schema = {"schema": {"type": "object" if operation.media == "application/json" else "string"}}
    answer["content"] = {operation.media: schema}
    made: dict[str, Any] = {
        "operationId": f"{operation.method.lower()}-{name}",
        "summary": operation.summary,
        "tags": ["for everyone" if operation.caller != "lead" else "for leads"],
        "responses": {str(operation.status): answer, "default": {"$ref": "#/components/responses/Error"}},
    }
    if parameters:
        made["parameters"] = parameters
    if operation.caller == "anybody":
        made["security"] = []
    if operation.body is not None:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": operation.body}}}
    return made
