"""``ranksift label serve``: the pages and the API of a labelling project."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ranksift.cli.label_place import Place
from ranksift.errors import missing_library
from ranksift.web.door import as_in_urls, checked_prefix, listening

if TYPE_CHECKING:
    from ranksift.labelling.store import Store


def serve(
    project: Place,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 listens on all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")] = 8765,
    root_path: Annotated[
        str, typer.Option(help="The prefix of all addresses behind a proxy.", metavar="PREFIX", show_default="none")
    ] = "",
    url: Annotated[
        str,
        typer.Option(
            help="Where people reach the pages, for personal links.",
            metavar="URL",
            envvar="RANKSIFT_LABEL_URL",
            show_default="host and port",
        ),
    ] = "",
    secure: Annotated[bool, typer.Option("--secure", help="Send cookies over HTTPS only.")] = False,
    proxy: Annotated[
        str,
        typer.Option(
            help="Comma-separated addresses of proxies whose X-Forwarded headers are trusted.",
            metavar="ADDRESSES",
            show_default="none",
        ),
    ] = "",
    idle: Annotated[
        int, typer.Option(min=5, help="Seconds without activity after which an assessor's clock stops.")
    ] = 60,
) -> None:
    """Serve the web pages for assessors and leads, and the JSON API.

    ranksift label serve forum
    """
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise missing_library("the pages need", "Starlette, Jinja2 and uvicorn", "label") from None
    from ranksift.labelling.store import Store
    from ranksift.labelling.web import Settings, application

    store = Store.open(project)
    try:
        prefix = checked_prefix(root_path)
        door = listening(host, port)
        base = url.rstrip("/") or f"http://{as_in_urls(host)}:{door.getsockname()[1]}{prefix}"
        app = application(store, Settings(prefix, url.rstrip("/"), secure, idle))
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # personal links would be in it
            proxy_headers=bool(proxy),
            forwarded_allow_ips=proxy or None,
            server_header=False,
            timeout_graceful_shutdown=10,
        )
        print(f"{store.project.title}: {base}/", file=sys.stderr)
        _invite(store, base)
        print("Press Ctrl-C to stop.", file=sys.stderr, flush=True)
        uvicorn.Server(config).run([door])
    finally:
        store.close()


def _invite(store: Store, base: str) -> None:
    """Print a new link of the first lead, as long as no one has used one: people who work keep theirs."""
    if store.signed_in() or any(task.judgments for task in store.tasks(active_only=False)):
        return
    lead = next((person for person in store.people() if person.role == "lead" and person.active), None)
    if lead is None:
        lead, token = store.add_person("Lead", "lead")
    else:
        token = store.new_link(lead.id)
    print(f"Sign in as {lead.name} (earlier links of {lead.name} have ended): {base}/in/{token}", file=sys.stderr)
