"""``ranksift serve``: trained rankers and fitted cutoffs as an HTTP service."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ranksift.cli.options import NONE
from ranksift.errors import InputError, missing_library

#: Has the token, so that it need not stand in a list of processes.
VARIABLE = "RANKSIFT_SERVE_TOKEN"
#: What is left out of the log.
LOG_VARIABLE = "RANKSIFT_SERVE_LOG"
_LEVELS = ("info", "warning", "error")
_LONGEST_TOKEN = 4096
_MEGABYTE = 1 << 20


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL_OR_CUTOFF...",
            help="Folders of models and files of cutoffs, each served under its own name, or as NAME=PATH.",
            show_default=False,
        ),
    ],
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; 0.0.0.0 listens on all.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port to listen on; 0 takes a free one.")
    ] = 8080,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            min=1,
            max=64,
            help="The number of processes that share the port, each with its own copy of the models.",
        ),
    ] = 1,
    token: Annotated[
        str,
        typer.Option(
            "--token",
            metavar="TEXT-or-@FILE",
            envvar=VARIABLE,
            help="The bearer token that clients must send; @FILE reads it from a file.",
            show_default="none",
        ),
    ] = "",
    cors: Annotated[
        list[str],
        typer.Option(
            "--cors",
            metavar="ORIGIN",
            help="Allow requests from web pages of this origin; may be repeated; * allows all.",
        ),
    ] = NONE,
    root_path: Annotated[
        str,
        typer.Option(
            "--root-path", metavar="PREFIX", help="The prefix of all addresses behind a proxy.", show_default="none"
        ),
    ] = "",
    max_body: Annotated[
        int, typer.Option("--max-body", min=1, max=1024, metavar="MIB", help="The largest size of a request's body.")
    ] = 8,
    max_documents: Annotated[
        int, typer.Option("--max-documents", min=1, max=1_000_000, help="The largest number of documents in a request.")
    ] = 1000,
    body_timeout: Annotated[
        float, typer.Option("--body-timeout", min=0.1, metavar="SECONDS", help="How long a body may take to arrive.")
    ] = 10.0,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="How long an answer may take.")
    ] = 30.0,
    queue: Annotated[
        int,
        typer.Option(
            "--queue",
            min=1,
            metavar="TOKENS",
            help="How many tokens may wait before further requests are answered with 429.",
        ),
    ] = 400_000,
    batch: Annotated[
        int,
        typer.Option(
            "--batch",
            min=0,
            metavar="TOKENS",
            help="How many waiting tokens are scored together; 0 chooses a number for the device.",
        ),
    ] = 0,
    reload: Annotated[
        float,
        typer.Option("--reload", min=0, metavar="SECONDS", help="How often to look for new versions; 0 never looks."),
    ] = 2.0,
    drain: Annotated[
        float,
        typer.Option(
            "--drain", min=0, metavar="SECONDS", help="How long to keep accepting requests after being asked to stop."
        ),
    ] = 0.5,
) -> None:
    """Serve models over HTTP: a rerank service that leaves out documents that should not be shown.

    ranksift serve model

    ranksift serve forum=models/forum safe=cutoff.json --port 8080 --token @token.txt
    """
    try:
        import h11  # noqa: F401
        import prometheus_client  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise missing_library("the service needs", error.name or "Starlette", "serve") from None
    from ranksift.serving.models import named_models
    from ranksift.serving.served import version_of
    from ranksift.serving.server import serve as run
    from ranksift.serving.settings import Settings
    from ranksift.web.door import as_in_urls, checked_prefix, listening

    settings = Settings(
        models=named_models(models),
        token=_token(token),
        cors=tuple(cors),
        root_path=checked_prefix(root_path),
        body_bytes=max_body * _MEGABYTE,
        documents=max_documents,
        body_seconds=body_timeout,
        request_seconds=timeout,
        queue_tokens=queue,
        batch_tokens=batch,
        reload_seconds=reload,
        drain_seconds=drain,
        workers=workers,
        log_level=_log_level(),
    )
    for _, path in settings.models:
        version_of(path)  # what is not a model is refused before anything is announced
    door = listening(host, port)
    names = ", ".join(name for name, _ in settings.models)
    address = f"http://{as_in_urls(host)}:{door.getsockname()[1]}{settings.root_path}/"
    if not settings.token and host not in ("127.0.0.1", "::1", "localhost"):
        print(
            "note: anyone who can reach this address can use the service; --token TEXT makes it ask for a token",
            file=sys.stderr,
        )
    print(f"Serving {names}: {address} (Ctrl-C stops it)", file=sys.stderr, flush=True)
    raise typer.Exit(run(settings, door))


def _token(given: str) -> str:
    """The token itself: as it was given, or the first line of a file."""
    if not given.startswith("@"):
        return _checked(given, "--token")
    path = Path(os.path.expanduser(given[1:]))
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_TOKEN + 2).decode("ascii")
    except UnicodeDecodeError:
        raise InputError(
            "is not a token: it has characters other than ASCII", source=str(path), remedy=_REMEDY
        ) from None
    except (OSError, ValueError) as error:
        what = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise InputError(what, source=str(path), remedy="name a file with the token") from None
    if not text.strip():
        raise InputError("has no token", source=str(path), remedy=_REMEDY)
    return _checked(text.strip(), str(path))


def _log_level() -> str:
    level = os.environ.get(LOG_VARIABLE, "").lower() or _LEVELS[0]
    if level not in _LEVELS:
        raise InputError(f"{LOG_VARIABLE}={level!r} is not a level", remedy=f"write one of {', '.join(_LEVELS)}")
    return level


_REMEDY = "write letters, digits and -._~+/= on one line"


def _checked(token: str, source: str) -> str:
    allowed = token.isascii() and all(c.isalnum() or c in "-._~+/=" for c in token)
    if not allowed or len(token) > _LONGEST_TOKEN:
        raise InputError("is not a token that fits into a header", source=source, remedy=_REMEDY)
    return token
