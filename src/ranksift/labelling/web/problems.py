"""What goes wrong with a request, and how it is answered: JSON for programs, a plain page for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from ranksift.labelling.web.rendering import render

_TITLES = {
    400: "That did not work",
    401: "You need your link",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    409: "Something has changed meanwhile",
    413: "Too large",
    422: "That did not work",
    429: "Too many attempts",
    500: "A fault of the server",
    503: "Not available",
}
_TYPES = {
    400: "bad_request",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "moved",
    413: "too_large",
    422: "bad_input",
    429: "too_many_attempts",
    500: "internal",
    503: "unavailable",
}


class Problem(Exception):  # noqa: N818 - it is an answer as much as an error
    """A request that cannot be done.

    Attributes
    ----------
    status
        Of the answer.
    message
        A sentence for whoever asked.
    more
        Further keys of the JSON answer, beside ``error``.
    headers
        Of the answer.
    """

    def __init__(
        self,
        status: int,
        message: str,
        more: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.more, self.headers = status, message, dict(more or {}), dict(headers or {})


def not_found() -> Problem:
    """What is not there, and what is not for this person: the answer is the same."""
    return Problem(404, "There is nothing under this address.")


def problem_response(scope: Scope, problem: Problem) -> Response:
    """The answer to a request that cannot be done."""
    path = scope["path"][len(scope.get("root_path", "")) :]
    headers = {name.lower(): value for name, value in scope["headers"]}
    if path.startswith("/api/"):
        error = {"message": problem.message, "type": _TYPES.get(problem.status, "error")}
        return JSONResponse({"error": error, **problem.more}, problem.status, headers=problem.headers)
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
