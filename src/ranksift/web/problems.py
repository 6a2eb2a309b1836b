"""What goes wrong with a request: a status, and a sentence for the client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The word for each status in a JSON answer.
TYPES = {
    400: "bad_request",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "moved",
    408: "timeout",
    413: "too_large",
    422: "bad_input",
    429: "too_many_attempts",
    500: "internal",
    503: "unavailable",
    504: "timeout",
}


class Problem(Exception):  # noqa: N818 - it is an answer as much as an error
    """A request that cannot be done.

    Attributes
    ----------
    status
        The status of the answer.
    message
        A sentence for the client.
    more
        Further keys of the JSON answer, beside ``error``.
    headers
        Further headers of the answer.
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


def as_json(problem: Problem) -> dict[str, Any]:
    """The body of a JSON answer.

    >>> as_json(Problem(404, "The model does not exist."))
    {'error': {'message': 'The model does not exist.', 'type': 'not_found'}}
    """
    error = {"message": problem.message, "type": TYPES.get(problem.status, "error")}
    return {"error": error, **problem.more}
