"""The pages of assessors."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, Response

from ranksift.labelling.records import Query, Task
from ranksift.labelling.task_state import task_state
from ranksift.labelling.web import documents
from ranksift.labelling.web.api import OPERATIONS, item_of, openapi
from ranksift.labelling.web.problems import not_found
from ranksift.labelling.web.security import form_token
from ranksift.labelling.web.site import Visit, by_link
from ranksift.web.problems import Problem


@dataclass(frozen=True)
class Page:
    """A page, or what its form does.

    Attributes
    ----------
    upload
        Whether it takes the content of a file.
    knocking
        Whether its form comes from a visitor who is not signed in.
    """

    path: str
    run: Callable[..., Response]
    method: Literal["GET", "POST"] = "GET"
    caller: Literal["anybody", "assessor", "lead"] = "assessor"
    upload: bool = False
    knocking: bool = False

    def cookie(self, visit: Visit) -> str:
        """The cookie that the token of the form belongs to."""
        return visit.request.cookies.get(visit.site.knock_name, "") if self.knocking else visit.cookie


async def upload(form: FormData) -> tuple[str, bytes]:
    """The name and the content of the file in a form."""
    file = form.get("file")
    if not isinstance(file, UploadFile):
        return "", b""
    return file.filename or "", await file.read()


# -- sign-in -----------------------------------------------------------------------------------------------------------


def _door(visit: Visit) -> Response:
    """A page with a button, so that programs that only open links, such as mail programs, do not use them up."""
    token = visit.request.path_params["token"]
    person = by_link(visit.site, visit.request, token)
    if person is None:
        raise _no_such_link()
    knock = visit.request.cookies.get(visit.site.knock_name) or secrets.token_urlsafe(24)
    response = visit.show("sign_in.html", coming=person, form=form_token(knock), link=token)
    _set_cookie(visit, response, visit.site.knock_name, knock, None)
    return response


def _sign_in(visit: Visit) -> Response:
    person = by_link(visit.site, visit.request, visit.request.path_params["token"])
    if person is None:
        raise _no_such_link()
    if visit.person is not None:
        visit.store.end_session(visit.cookie)
    days = visit.site.settings.session_days
    cookie = visit.store.start_session(person.id, days=days)
    response = visit.go("/lead" if person.role == "lead" else "/")
    _set_cookie(visit, response, visit.site.cookie_name, cookie, days * 86400)
    response.delete_cookie(visit.site.knock_name, path=visit.root or "/")
    return response


def _no_such_link() -> Problem:
    return Problem(404, "This link is wrong or no longer works. Ask the lead of the project for a new one.")


def _set_cookie(visit: Visit, response: Response, name: str, value: str, seconds: int | None) -> None:
    secure = visit.site.settings.secure or visit.request.url.scheme == "https"
    response.set_cookie(
        name, value, max_age=seconds, path=visit.root or "/", secure=secure, httponly=True, samesite="lax"
    )


def _sign_out(visit: Visit) -> Response:
    visit.store.end_session(visit.cookie)
    response = visit.show("signed_out.html")
    response.delete_cookie(visit.site.cookie_name, path=visit.root or "/")
    return response


# -- work --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A task in the queue."""

    task: Task
    query: Query
    judged: int
    expected: float

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return 1.0 if self.task.done else self.judged / max(self.judged + self.expected, 1.0)


def _rows(visit: Visit) -> tuple[list[Row], list[Row]]:
    """The open tasks, begun ones first, and the finished ones."""
    queries = {query.query_id: query for query in visit.store.queries()}
    rows = []
    unbegun: dict[Any, float] = {}
    for task in visit.store.tasks(person=visit.who.id):
        query = queries.get(task.query_id)
        if query is None:
            continue
        items = [item.doc_id for item in query.items]
        kind = (task.tool, task.strategy, task.k, len(items), len(task.pairs))
        judged = task.judgments
        if task.done:
            expected = 0.0
        elif task.judgments:
            state = task_state(task, items, visit.store.log(task.key))
            judged, expected = state.judgments, state.expected
        else:
            if kind not in unbegun:
                unbegun[kind] = task_state(task, items, []).expected
            expected = unbegun[kind]
        rows.append(Row(task, query, judged, expected))
    open_rows = sorted((row for row in rows if not row.task.done), key=lambda row: _begun_first(row.task))
    return open_rows, [row for row in rows if row.task.done]


def _queue(visit: Visit) -> Response:
    open_rows, done = _rows(visit)
    return visit.show("queue.html", site=visit.site.cookie_name, open=open_rows, done=done)


def _judging(visit: Visit) -> Response:
    task = visit.own_task(visit.request.path_params["key"])
    query = visit.store.query(task.query_id, contents=False)
    known = {
        "root": visit.root,
        "person": visit.who.id,
        "site": visit.site.cookie_name,
        "tool": task.tool,
        "grades": list(visit.store.project.grades),
        "idle": visit.site.settings.idle_seconds,
        "state": visit.site.desk.view(task, ahead=True),
    }
    return visit.show("judge.html", task=task, query=query, known=json.dumps(known), upcoming=_upcoming(visit, task))


def _upcoming(visit: Visit, task: Task) -> dict[str, Any] | None:
    """The task that follows, as the queue has it. Of a large project, the whole queue would hold up every page."""
    left = [one for one in visit.store.tasks(person=visit.who.id) if not one.done and one.key != task.key]
    if not left:
        return None
    first = min(left, key=_begun_first)
    return {"task": first, "query": visit.store.query(first.query_id, contents=False)}


def _begun_first(task: Task) -> bool:
    return not task.judgments


def _document(visit: Visit) -> Response:
    task = visit.own_task(visit.request.path_params["key"])
    item = item_of(visit, task.query_id, visit.query.get("id", ""))
    language = query_of_language(visit, task)
    headers = {"content-security-policy": documents.POLICY, "cache-control": "private, max-age=600"}
    return HTMLResponse(documents.page(item, language), headers=headers)


def query_of_language(visit: Visit, task: Task) -> str:
    """The language of the query of a task, for documents that do not say theirs."""
    return visit.store.query(task.query_id, contents=False).language


def _guidelines(visit: Visit) -> Response:
    return visit.show("guidelines.html")


def _api(visit: Visit) -> Response:
    return visit.show("api.html", operations=OPERATIONS, document=openapi(visit.root))


PAGES = (
    Page("/in/{token}", _door, caller="anybody"),
    Page("/in/{token}", _sign_in, "POST", "anybody", knocking=True),
    Page("/out", _sign_out, "POST"),
    Page("/", _queue),
    Page("/tasks/{key}", _judging),
    Page("/tasks/{key}/document", _document),
    Page("/guidelines", _guidelines),
    Page("/api", _api, caller="anybody"),
)

__all__ = ["PAGES", "Page", "not_found", "upload"]
