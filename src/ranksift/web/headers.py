"""What stands between the network and any application: the prefix of a proxy, and headers for browsers."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Nothing from elsewhere, nothing inline.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-dns-prefetch-control": "off",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "cache-control": "no-store",
}


class Prefix:
    """Serves under a prefix, whether the proxy in front takes it off the path or not."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app, self.prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put the prefix where the routes expect it."""
        if scope["type"] == "http" and self.prefix:
            path = scope["path"]
            if path == self.prefix:
                path += "/"
            elif not path.startswith(self.prefix + "/"):
                path = self.prefix + path
            scope = {**scope, "root_path": self.prefix, "path": path}
        await self.app(scope, receive, send)


class Headers:
    """Sends what every answer says to the browser, unless the answer itself says otherwise."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if "frame-ancestors 'self'" not in headers["content-security-policy"]:
                    headers.setdefault("x-frame-options", "DENY")
                if scope.get("scheme") == "https":
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        await self.app(scope, receive, sending)


class PackageFiles(StaticFiles):
    """Files of the package: public, and the same until another version is installed."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """The file, with leave to keep it if it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "public, max-age=300, must-revalidate"
        return response
