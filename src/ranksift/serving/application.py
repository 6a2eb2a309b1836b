"""The service as an ASGI application: routes, limits, tokens, and what is said of each request in the log."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import secrets
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ranksift.serving.openapi import openapi
from ranksift.serving.service import Service, Told
from ranksift.serving.settings import Settings
from ranksift.web.headers import Headers, PackageFiles, Prefix
from ranksift.web.problems import Problem, as_json

#: The log of the service: one JSON object per line, without texts.
LOG = logging.getLogger("ranksift.serving")

_STATIC = Path(__file__).parent / "static"
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=-]{0,127}")
_JSON = "application/json"
# A body that is too large is read to its end, so that the client gets the answer; but not beyond this many bytes.
_READ_ON = 64 << 20


def application(settings: Settings) -> Starlette:
    """The service, to be served by any ASGI server.

    Parameters
    ----------
    settings
        The models to serve, and how to serve them.
    """
    service = Service(settings)
    addresses = [
        Route("/", _file("index.html")),
        Route("/docs", _file("docs.html")),
        Route("/openapi.json", _openapi),
        Route("/healthz", _healthy),
        Route("/readyz", _ready),
        Route("/metrics", _metrics),
        *(Route(path, _rerank, methods=["POST"]) for path in ("/v1/rerank", "/rerank", "/v2/rerank")),
        Route("/v1/filter", _filter, methods=["POST"]),
        Route("/v1/models", _models),
    ]
    known = frozenset(route.path for route in addresses)
    static = Mount("/static", app=PackageFiles(directory=_STATIC), name="static")
    cors = [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.cors,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "x-request-id"],
            expose_headers=["x-request-id", "retry-after"],
        )
    ]
    made = Starlette(
        routes=[*addresses, static],
        lifespan=_alive,
        middleware=[
            Middleware(Prefix, prefix=settings.root_path),
            Middleware(_Observed, service=service, known=known),
            Middleware(Headers),
            *(cors if settings.cors else []),
        ],
        exception_handlers={Problem: _problem, HTTPException: _http, ClientDisconnect: _gone},
    )
    made.router.redirect_slashes = False
    made.state.service = service
    return made


@asynccontextmanager
async def _alive(app: Starlette) -> AsyncIterator[None]:
    service: Service = app.state.service
    for one in service.models:
        log("serving", model=one.name, version=one.version, notes=one.notes)
    following = asyncio.create_task(service.follow(log)) if service.settings.reload_seconds else None
    try:
        yield
    finally:
        if following is not None:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
        service.close()
        log("stopped")


def log(event: str, *, level: str = "info", **more: Any) -> None:
    """Write a line."""
    if LOG.isEnabledFor(logging.getLevelName(level.upper())):
        line = {"time": round(time.time(), 3), "level": level, "event": event, **more}
        LOG.log(logging.getLevelName(level.upper()), json.dumps(line, ensure_ascii=True))


# -- around every request ----------------------------------------------------------------------------------------------


class _Observed:
    """Gives each request an id, counts it, and writes a line about it."""

    def __init__(self, app: ASGIApp, service: Service, known: frozenset[str]) -> None:
        self.app, self.service, self.known = app, service, known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        metrics, began, status = self.service.metrics, time.perf_counter(), 499  # who asked went away
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        identity = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        told = Told()
        path = scope["path"][len(scope.get("root_path", "")) :]
        route = path if path in self.known else "static" if path.startswith("/static/") else "other"
        scope["ranksift"] = identity, told

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = identity
                if self.service.stopping:
                    headers["connection"] = "close"
            await send(message)

        metrics.in_flight.inc()
        try:
            await self.app(scope, receive, sending)
        except Exception as error:
            # What it says may quote a text; where it happened does not.
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            log("fault", level="error", id=identity, error=type(error).__name__, where=where)
            if status == 499:
                sentence = "Something went wrong on the server. Its log has the details."
                await _answer_to(Problem(500, sentence))(scope, receive, sending)
        finally:
            metrics.in_flight.dec()
            seconds = time.perf_counter() - began
            metrics.requests.labels(route, str(status)).inc()
            metrics.seconds.labels(route).observe(seconds)
            if scope["method"] == "POST" or status >= 400:
                log(
                    "request",
                    level="error" if status == 500 else "info",
                    id=identity,
                    method=scope["method"] if scope["method"].isalpha() else "other",
                    route=route,
                    status=status,
                    seconds=round(seconds, 6),
                    **{name: value for name, value in vars(told).items() if value},
                )


def _check_token(request: Request) -> None:
    """Refuse who does not know the token. It takes as long whatever was sent."""
    token = _service(request).settings.token
    if not token:
        return
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    same = hmac.compare_digest(sha256(sent.strip().encode()).digest(), sha256(token.encode()).digest())
    if not same or kind.lower() != "bearer":
        sentence = "Send the token of this service: Authorization: Bearer TOKEN"
        raise Problem(401, sentence, headers={"www-authenticate": "Bearer"})


async def _body(request: Request, take: Callable[[int], Problem | None]) -> bytes:
    """The body of a request, within the limits of its size, of its time, and of memory."""
    settings = _service(request).settings
    limit, most = settings.body_bytes, max(_READ_ON, settings.body_bytes)
    too_large = Problem(413, f"The body of a request may have {limit:,} bytes.", headers={"connection": "close"})
    length = request.headers.get("content-length", "0")
    announced = int(length) if length.isdigit() and len(length) < 19 else 0
    if announced > most:
        raise too_large
    parts: list[bytes] = []
    got = 0
    refused: Problem | None = None
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for part in request.stream():
                got += len(part)
                if got > most:
                    raise too_large
                refused = refused or (too_large if got > limit else take(len(part)))
                if refused is None:
                    parts.append(part)
                else:
                    parts.clear()
    except TimeoutError:
        sentence = f"The body took longer than {settings.body_seconds:g} s to arrive."
        raise refused or Problem(408, sentence, headers={"connection": "close"}) from None
    if refused is not None:
        raise refused
    return b"".join(parts)


async def _answered(request: Request, answer: Callable[[bytes, str, Told], Awaitable[bytes]]) -> Response:
    _check_token(request)
    service = _service(request)
    identity, told = request.scope["ranksift"]
    with service.room() as take:
        body = await _body(request, take)
        try:
            return Response(await answer(body, identity, told), media_type=_JSON)
        except TimeoutError:
            seconds = service.settings.request_seconds
            raise Problem(504, f"The answer took longer than {seconds:g} s.") from None


# -- routes ------------------------------------------------------------------------------------------------------------


async def _rerank(request: Request) -> Response:
    return await _answered(request, _service(request).rerank)


async def _filter(request: Request) -> Response:
    return await _answered(request, _service(request).filter)


async def _models(request: Request) -> Response:
    _check_token(request)
    return JSONResponse({"object": "list", "data": [_described(one) for one in _service(request).models]})


def _described(one: Any) -> dict[str, Any]:
    ranker = getattr(one, "ranker", None)
    told: dict[str, Any] = {"id": one.name, "object": "model", "version": one.version}
    told["keeps"] = "everything" if one.cutoff is None else one.cutoff.condition
    if ranker is None:
        reads = ["scores", "rank_scores"] if one.cutoff.fitted_on_["two_scores"] else ["scores"]
        return told | {"kind": "cutoff", "reads": reads, "features": []}
    reads = ["texts"] * ranker.reads_texts() + ["features"] * bool(ranker.feature_names_)
    return told | {"kind": type(ranker).__name__, "reads": reads, "features": list(ranker.feature_names_)}


async def _healthy(request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _ready(request: Request) -> Response:
    if _service(request).stopping:
        raise Problem(503, "The service is stopping.", headers={"retry-after": "1"})
    return PlainTextResponse("ready\n")


async def _metrics(request: Request) -> Response:
    _check_token(request)
    text = await asyncio.to_thread(_service(request).metrics.exposition)
    return Response(text, media_type="text/plain; version=1.0.0; charset=utf-8")


async def _openapi(request: Request) -> Response:
    settings = _service(request).settings
    return JSONResponse(openapi(settings.root_path, with_token=bool(settings.token)))


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return FileResponse(_STATIC / name, media_type="text/html")

    return endpoint


def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


# -- what goes wrong ---------------------------------------------------------------------------------------------------

_WORDS = {401: "unauthorized", 408: "timeout", 429: "too_many_requests"}


def _answer_to(problem: Problem) -> Response:
    body = as_json(problem)
    if problem.status in _WORDS:
        body["error"]["type"] = _WORDS[problem.status]
    return JSONResponse(body, problem.status, headers=problem.headers)


def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _answer_to(error)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {404: "There is nothing under this address.", 405: "This address does not accept such requests."}
    sentence = sentences.get(error.status_code, error.detail)
    return _answer_to(Problem(error.status_code, sentence, headers=dict(error.headers or {})))


def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=499)  # for the log: no client reads it
