"""The pages and the API as one application."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from ranksift.errors import InputError
from ranksift.labelling.store import Moved, Store, Unavailable
from ranksift.labelling.web import dashboard, pages
from ranksift.labelling.web.api import OPERATIONS, Operation
from ranksift.labelling.web.desk import Desk
from ranksift.labelling.web.overview import Overviews
from ranksift.labelling.web.problems import not_found, problem_response
from ranksift.labelling.web.security import Bodies, Guesses
from ranksift.labelling.web.settings import Settings
from ranksift.labelling.web.site import Site, Visit, check_form, identify
from ranksift.web.headers import Headers, PackageFiles, Prefix
from ranksift.web.problems import Problem
from ranksift.web.shapes import complaint

_SAFE = ("GET", "HEAD")
_LARGE = frozenset({"/api/v1/queries", "/lead/queries"})


def application(store: Store, settings: Settings | None = None) -> Starlette:
    """The pages of a project and its API, to be served by any ASGI server.

    Parameters
    ----------
    store
        The project.
    settings
        How the pages are served.
    """
    settings = settings or Settings()
    guesses = Guesses(settings.failures, settings.failure_seconds)
    site = Site(store, settings, Desk(store), guesses, Overviews(store))
    shown = (*pages.PAGES, *dashboard.PAGES)
    routes = [
        Route("/healthz", _healthy),
        *(Route(page.path, _page(page), methods=[page.method]) for page in shown),
        *(Route(f"/api/v1{one.path}", _operation(one), methods=[one.method]) for one in OPERATIONS),
        Mount("/static", app=PackageFiles(directory=Path(__file__).parent / "static"), name="static"),
    ]
    made = Starlette(
        routes=routes,
        middleware=[
            Middleware(Prefix, prefix=settings.root_path),
            Middleware(Headers),
            Middleware(Bodies, limit=settings.body_bytes, large=settings.import_bytes, large_paths=_LARGE),
        ],
        exception_handlers={
            Problem: _problem,
            InputError: _input_error,
            Moved: _moved,
            Unavailable: _unavailable,
            HTTPException: _http,
            Exception: _fault,
        },
    )
    made.router.redirect_slashes = False  # it would send people to whatever host the request names
    made.state.site = site
    return made


def _page(page: pages.Page) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        site: Site = request.app.state.site
        person, cookie, _ = await run_in_threadpool(identify, site, request)
        visit = Visit(site, request, person, cookie)
        if page.caller != "anybody":
            who = visit.who
            if page.caller == "lead" and who.role != "lead":
                raise not_found()
        if request.method not in _SAFE:
            async with request.form(max_files=1, max_fields=50_000, max_part_size=site.settings.import_bytes) as form:
                check_form(request, page.cookie(visit), form)
                visit = Visit(site, request, person, cookie, form)
                content = await pages.upload(form)
                return (
                    await run_in_threadpool(page.run, visit, content)
                    if page.upload
                    else await run_in_threadpool(page.run, visit)
                )
        return await run_in_threadpool(page.run, visit)

    return endpoint


def _operation(operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        site: Site = request.app.state.site
        person, cookie, by_token = await run_in_threadpool(identify, site, request)
        if operation.caller != "anybody":
            if person is None:
                raise Problem(
                    401, "Send your token: Authorization: Bearer TOKEN", headers={"www-authenticate": "Bearer"}
                )
            if operation.caller == "lead" and person.role != "lead":
                raise Problem(403, "Only leads can do this.")
        if request.method not in _SAFE and not by_token:
            check_form(request, cookie, _NO_FORM)
        body: dict[str, Any] = {}
        if operation.body is not None:
            body = _read(await request.body())
            if wrong := complaint(body, operation.body):
                raise Problem(422, f"{wrong[0].upper()}{wrong[1:]}; see {site.settings.root_path}/api")
        visit = Visit(site, request, person, cookie, body=body)
        answer = await run_in_threadpool(operation.run, visit)
        return answer if isinstance(answer, Response) else JSONResponse(answer, operation.status)

    return endpoint


_NO_FORM: Any = {}


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Problem(400, "The body is not JSON.") from None


def _healthy(request: Request) -> Response:
    _ = request.app.state.site.store.project  # the database answers
    return PlainTextResponse("ok\n")


def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return problem_response(request.scope, error)


def _input_error(request: Request, error: Exception) -> Response:
    # The place of the project concerns only the person who serves it.
    text = str(error).removeprefix(f"{request.app.state.site.store.place}: ")
    if ":" not in text.split(" ", 1)[0]:  # else it begins with the name of a file
        text = text[:1].upper() + text[1:]
    return problem_response(request.scope, Problem(422, f"{text}."))


def _moved(request: Request, error: Exception) -> Response:
    return problem_response(request.scope, Problem(409, "This has changed in the meantime. Reload the page."))


def _unavailable(request: Request, error: Exception) -> Response:
    sentence = "The database is not answering at the moment. Nothing is lost; try again in a moment."
    return problem_response(request.scope, Problem(503, sentence, headers={"retry-after": "2"}))


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {
        404: "There is nothing under this address.",
        405: "This address does not accept such requests.",
    }
    headers = dict(error.headers or {})
    return problem_response(
        request.scope, Problem(error.status_code, sentences.get(error.status_code, error.detail), headers=headers)
    )


def _fault(request: Request, error: Exception) -> Response:
    sentence = "Something went wrong on the server. Its log has the details; nothing that was saved is lost."
    return problem_response(request.scope, Problem(500, sentence))
