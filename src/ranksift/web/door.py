"""Where a server listens, and under which addresses."""

from __future__ import annotations

import socket as sockets
from socket import socket

from ranksift.errors import InputError


def checked_prefix(root_path: str) -> str:
    """A prefix as routes want it: with a stroke before it and none behind it."""
    prefix = "/" + root_path.strip("/") if root_path.strip("/") else ""
    if not prefix.isascii() or any(character in prefix for character in " ?#%\\\"'<>;"):
        raise InputError(f"--root-path {root_path!r} is not a path", remedy="give a prefix such as /label")
    return prefix


def listening(host: str, port: int) -> socket:
    """A socket that listens, or one line that says why there is none."""
    try:
        flags = sockets.AI_PASSIVE
        family, _, _, _, address = sockets.getaddrinfo(host, port, type=sockets.SOCK_STREAM, flags=flags)[0]
        # With the protocol named, asyncio sends small answers at once; without, each waits 40 ms for a receipt.
        made = sockets.socket(family, sockets.SOCK_STREAM, sockets.IPPROTO_TCP)
        made.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(2048)
    except OSError as error:
        what = f"cannot listen on {host}:{port} ({error.strerror or error})"
        raise InputError(what, remedy="choose another --host or --port") from None
    return made


def as_in_urls(host: str) -> str:
    """An address as it stands in a URL.

    >>> as_in_urls("::1")
    '[::1]'
    """
    return "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
