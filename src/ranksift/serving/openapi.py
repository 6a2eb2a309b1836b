"""The service described for tools: made of the shapes that requests are checked with."""

from __future__ import annotations

from typing import Any

from ranksift import __version__
from ranksift.serving.requests import FILTER, RERANK
from ranksift.web.shapes import any_text, array, nullable, number, record, whole

_RESULT = record(
    {
        "index": whole("The position of the document in the request, counted from 0."),
        "relevance_score": number("A higher score is better."),
        "document": record({"text": any_text()}, description="Included if the request asked for it."),
    },
    ("index", "relevance_score"),
)
_DROPPED = record(
    {
        "index": whole(),
        "relevance_score": number(),
        "margin": nullable(number("How far it is from being shown, below 0; null if no single threshold decides.")),
    },
    ("index", "relevance_score", "margin"),
)
_ALWAYS = {
    "id": any_text("The id of the request."),
    "model": any_text("The name of the model that answered."),
    "version": any_text("The version of the model; each reload gives a new one."),
}
_RANKED = record(
    {
        **_ALWAYS,
        "results": array(_RESULT, "The documents to show, best first; may be empty."),
        "dropped": array(_DROPPED, "The documents not to show, if the request asked for them."),
        "data": array(_RESULT, "The results again, if the request has top_k."),
        "object": any_text(),
        "usage": record({"total_tokens": whole()}),
    },
    (*_ALWAYS, "results"),
)
_FILTERED = record(
    {
        **_ALWAYS,
        "kept": array(whole(), "The documents to show, best first: their positions in the request, counted from 0."),
        "dropped": array(whole(), "The documents not to show."),
        "threshold": nullable(number("The lowest score that is shown; null if no single threshold decides.")),
    },
    (*_ALWAYS, "kept", "dropped", "threshold"),
)

_PROBLEMS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    404: "The model does not exist.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    422: "The body is not a valid request; the message says what is wrong.",
    429: "Too many requests are waiting; Retry-After says when to try again.",
    503: "The service is stopping.",
    504: "The answer was not ready in time.",
}


def openapi(root: str = "", *, with_token: bool = False) -> dict[str, Any]:
    """The OpenAPI document."""
    rerank = _operation("Rank documents, without those that should not be shown.", RERANK, _RANKED)
    paths: dict[str, Any] = {
        "/v1/rerank": {"post": {**rerank, "operationId": "rerank"}},
        "/rerank": {"post": {**rerank, "operationId": "rerank-short"}},
        "/v2/rerank": {"post": {**rerank, "operationId": "rerank-v2"}},
        "/v1/filter": {
            "post": {
                **_operation("Say which documents to show, by your own scores.", FILTER, _FILTERED),
                "operationId": "filter",
            }
        },
    }
    for path, summary, media in (
        ("/v1/models", "The models and cutoffs that are served.", "application/json"),
        ("/healthz", "Whether the process is alive.", "text/plain"),
        ("/readyz", "Whether requests should be sent here; 503 while the service stops.", "text/plain"),
        ("/metrics", "The metrics, in the format of Prometheus.", "text/plain"),
    ):
        answer = {"description": "Done.", "content": {media: {"schema": {"type": "string"}}}}
        operation = {"operationId": path.strip("/").replace("/", "-"), "summary": summary}
        paths[path] = {"get": {**operation, "responses": {"200": answer}}}
    error = record({"error": record({"message": any_text(), "type": any_text()}, ("message", "type"))}, ("error",))
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "RankSift",
            "version": __version__,
            "description": "Ranks documents, and says which should not be shown. The list of results may be empty.",
        },
        "servers": [{"url": root or "/"}],
        "paths": paths,
        "components": {"schemas": {"Error": error}},
    }
    if with_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _operation(summary: str, body: Any, answer: Any) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": answer}}},
            **{str(status): {"description": what, "content": error} for status, what in _PROBLEMS.items()},
        },
    }
