"""The service described for tools: made of the shapes that requests are checked with."""

from __future__ import annotations

from typing import Any

from ranksift import __version__
from ranksift.serving.requests import FILTER, RERANK
from ranksift.web.shapes import any_text, array, nullable, number, record, whole

_RESULT = record(
    {
        "index": whole("Where the document stood in the request, from 0."),
        "relevance_score": number("The better the higher."),
        "document": record({"text": any_text()}, description="Where the request asked for it."),
    },
    ("index", "relevance_score"),
)
_DROPPED = record(
    {
        "index": whole(),
        "relevance_score": number(),
        "margin": nullable(number("How far it is from being shown, below 0; null where no one threshold decides.")),
    },
    ("index", "relevance_score", "margin"),
)
_ALWAYS = {
    "id": any_text("The id of the request."),
    "model": any_text("The model that answered."),
    "version": any_text("Its version: another one after each reload."),
}
_RANKED = record(
    {
        **_ALWAYS,
        "results": array(_RESULT, "What to show, best first; it may be nothing."),
        "dropped": array(_DROPPED, "What not to show, where the request asked for it."),
        "data": array(_RESULT, "The results again, where the request says top_k."),
        "object": any_text(),
        "usage": record({"total_tokens": whole()}),
    },
    (*_ALWAYS, "results"),
)
_FILTERED = record(
    {
        **_ALWAYS,
        "kept": array(whole(), "What to show, best first: where it stood in the request, from 0."),
        "dropped": array(whole(), "What not to show."),
        "threshold": nullable(number("The lowest score that is shown; null where no one threshold decides.")),
    },
    (*_ALWAYS, "kept", "dropped", "threshold"),
)

_PROBLEMS = {
    400: "The body is not JSON.",
    401: "The token is missing, or another one.",
    404: "There is no such model.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    422: "The body is not such a request; the message says where.",
    429: "Too much waits; Retry-After says when to come back.",
    503: "The service is stopping.",
    504: "The answer was not ready in time.",
}


def openapi(root: str = "", *, with_token: bool = False) -> dict[str, Any]:
    """The OpenAPI document."""
    rerank = _operation("Rank documents, without those that are better not shown.", RERANK, _RANKED)
    paths: dict[str, Any] = {
        "/v1/rerank": {"post": {**rerank, "operationId": "rerank"}},
        "/rerank": {"post": {**rerank, "operationId": "rerank-short"}},
        "/v2/rerank": {"post": {**rerank, "operationId": "rerank-v2"}},
        "/v1/filter": {
            "post": {
                **_operation("Say which documents to show, by scores of your own.", FILTER, _FILTERED),
                "operationId": "filter",
            }
        },
    }
    for path, summary, media in (
        ("/v1/models", "What is served.", "application/json"),
        ("/healthz", "Whether the process lives.", "text/plain"),
        ("/readyz", "Whether requests should come here; 503 while the service stops.", "text/plain"),
        ("/metrics", "What was counted, as Prometheus reads it.", "text/plain"),
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
            "description": "Ranks documents, and says which are better not shown. An empty answer is an answer.",
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
