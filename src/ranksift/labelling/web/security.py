"""What stands between the network and the pages: sizes of bodies, tokens and wrong guesses."""

from __future__ import annotations

import hmac
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from hashlib import sha256

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ranksift.labelling.web.problems import problem_response
from ranksift.web.problems import Problem


class Bodies:
    """Refuses bodies that are too large before they are in memory, and addresses that no database can hold."""

    def __init__(self, app: ASGIApp, limit: int, large: int, large_paths: frozenset[str]) -> None:
        self.app, self.limit, self.large, self.large_paths = app, limit, large, large_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what comes in."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"][len(scope.get("root_path", "")) :]
        if "\0" in path or b"%00" in scope["query_string"] or b"\0" in scope["query_string"]:
            await problem_response(scope, Problem(404, "There is nothing under this address."))(scope, receive, send)
            return
        limit = self.large if path in self.large_paths else self.limit
        too_large = Problem(413, f"The body of this request may have at most {limit:,} bytes.")
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > limit:
            await problem_response(scope, too_large)(scope, receive, send)
            return
        got = 0

        async def receiving() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > limit:
                raise too_large
            return message

        await self.app(scope, receiving, send)


def form_token(cookie: str) -> str:
    """The token in the forms of a session: an attacker who can only make a browser send the cookie does not know it.

    It follows from the cookie, so that every process on the same database knows it, and nothing has to be kept.
    """
    return hmac.new(cookie.encode("utf-8", "replace"), b"form", sha256).hexdigest()


def is_form_token(cookie: str, token: str) -> bool:
    """Whether the token is that of the session."""
    return bool(cookie) and hmac.compare_digest(form_token(cookie).encode(), token.encode("utf-8", "replace"))


class Guesses:
    """Counts wrong links per address, and says how long an address has to wait.

    Examples
    --------
    >>> guesses = Guesses(2, 60.0, clock=lambda: 0.0)
    >>> guesses.wrong("192.0.2.1"), guesses.wrong("192.0.2.1")
    (None, None)
    >>> guesses.wait("192.0.2.1"), guesses.wait("192.0.2.2")
    (60.0, 0.0)
    """

    _ADDRESSES = 10_000  # that are remembered: those that came last

    def __init__(self, failures: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.failures, self.seconds, self.clock = failures, seconds, clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, address: str) -> float:
        """For how many seconds the address has to wait; 0 if it may try."""
        with self._lock:
            times = self._times.get(address)
            if times is None or len(times) < self.failures:
                return 0.0
            return max(0.0, times[0] + self.seconds - self.clock())

    def wrong(self, address: str) -> None:
        """Count a wrong link."""
        with self._lock:
            times = self._times.setdefault(address, deque(maxlen=self.failures))
            self._times.move_to_end(address)
            times.append(self.clock())
            while len(self._times) > self._ADDRESSES:
                self._times.popitem(last=False)
