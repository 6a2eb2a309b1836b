"""What goes wrong with a request, and how it is answered: JSON for programs, a plain page for people."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from ranksift.labelling.web.rendering import render
from ranksift.web.problems import Problem, as_json

_TITLES = {
    400: "That did not work",
    401: "You need your link",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    409: "Something has changed in the meantime",
    413: "Too large",
    422: "That did not work",
    429: "Too many attempts",
    500: "A server error",
    503: "Not available",
}


def not_found() -> Problem:
    """What is not there, and what is not for this person: the answer is the same."""
    return Problem(404, "There is nothing under this address.")


def problem_response(scope: Scope, problem: Problem) -> Response:
    """The answer to a request that cannot be done."""
    path = scope["path"][len(scope.get("root_path", "")) :]
    headers = {name.lower(): value for name, value in scope["headers"]}
    if path.startswith("/api/"):
        return JSONResponse(as_json(problem), problem.status, headers=problem.headers)
    root = scope.get("root_path", "")
    template = "need_link.html" if problem.status == 401 else "problem.html"
    fragment = headers.get(b"hx-request") == b"true"
    html = render(
        template,
        root=root,
        status=problem.status,
        title=_TITLES.get(problem.status, "That did not work"),
        message=problem.message,
        fragment=fragment,
    )
    return Response(html, problem.status, headers=problem.headers, media_type="text/html")
