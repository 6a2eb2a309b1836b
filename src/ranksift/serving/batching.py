"""Requests that wait for the same model are scored in one call, as many as fit into a budget of tokens.

One thread per model takes whatever waits. A request that comes alone is scored at once: nothing waits for a batch to
fill. While a batch is scored, the next one gathers.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

from ranksift.serving.memory import give_back

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

#: What is reported about each batch: the numbers of requests, of tokens, and of waiting tokens.
Watch = Callable[[int, int, int], None]

# Of the speed that is known, what the last batch counts for.
_LATEST = 0.3

# Seconds of work after which freed memory goes back to the system. It grows by 100 MiB and more until then, and each
# time costs some milliseconds: 4 % of the requests of a text ranker.
_TIDY = 0.5


class QueueFull(Exception):  # noqa: N818 - the answer to a request
    """Too much waits already; ``seconds`` is how long that will take."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"come back in {seconds} s")
        self.seconds = seconds


class _Waiting(NamedTuple):
    asked: object
    size: int
    future: asyncio.Future[object]
    loop: asyncio.AbstractEventLoop


class Batcher(Generic[Asked, Answer]):
    """Scores what is asked, together with what else waits.

    Parameters
    ----------
    score
        Answers several requests in one call, in their order. It is called in a thread of its own.
    budget
        Tokens of one call; one request alone may have more.
    most_waiting
        Tokens that may wait; a request that comes to an empty queue may have more.
    watch
        Called for each batch.

    Examples
    --------
    >>> async def ask() -> list[int]:
    ...     batcher = Batcher(lambda numbers: [2 * n for n in numbers], budget=10)
    ...     try:
    ...         return await asyncio.gather(*(batcher.ask(n, size=4) for n in (1, 2, 3)))
    ...     finally:
    ...         batcher.close()
    >>> asyncio.run(ask())
    [2, 4, 6]
    """

    def __init__(
        self,
        score: Callable[[Sequence[Asked]], Sequence[Answer]],
        *,
        budget: int,
        most_waiting: int = 1 << 62,
        watch: Watch | None = None,
    ) -> None:
        self._score, self._budget, self._most, self._watch = score, budget, most_waiting, watch
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._size, self._closed = 0, False
        self._speed = math.nan  # tokens per second
        self._thread = threading.Thread(target=self._work, daemon=True, name="ranksift-batches")
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Tokens that wait, without those that are being scored."""
        return self._size

    def check_room(self, size: int = 1) -> None:
        """Refuse a request for which there is no room."""
        if self._size and self._size + size > self._most:
            seconds = self._size / self._speed if self._speed > 0 else 1.0
            raise QueueFull(max(1, min(60, math.ceil(seconds))))

    async def ask(self, asked: Asked, size: int) -> Answer:
        """The answer to a request of so many tokens; who stops waiting for it takes it back."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        with self._changed:
            if self._closed:
                raise RuntimeError("this batcher is closed")
            self.check_room(size)
            self._queue.append(_Waiting(asked, size, future, loop))  # type: ignore[arg-type]
            self._size += size
            self._changed.notify()
        return await future

    def close(self, wait: bool = True) -> None:
        """Answer what waits, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if wait:
            self._thread.join()

    # -- in the thread ---------------------------------------------------------------------------------------------

    def _work(self) -> None:
        tidied = time.monotonic()
        while batch := self._next():
            began = time.perf_counter()
            answers = self._answers([one.asked for one in batch])
            size = sum(one.size for one in batch)
            speed = size / max(1e-6, time.perf_counter() - began)
            self._speed = speed if math.isnan(self._speed) else self._speed + _LATEST * (speed - self._speed)
            if self._watch is not None:
                self._watch(len(batch), size, self._size)
            by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[object], object]]] = {}
            for one, answer in zip(batch, answers, strict=True):
                by_loop.setdefault(one.loop, []).append((one.future, answer))
            for loop, some in by_loop.items():
                with suppress(RuntimeError):  # a loop that was closed: nothing waits there
                    loop.call_soon_threadsafe(_deliver, some)
            if time.monotonic() - tidied >= _TIDY:
                give_back()
                tidied = time.monotonic()

    def _next(self) -> list[_Waiting]:
        """What is scored next; nothing once all is done and nothing will come."""
        while True:
            with self._changed:
                while not self._queue:
                    if self._closed:
                        return []
                    self._changed.wait()
                batch: list[_Waiting] = []
                size = 0
                while self._queue and (not size or size + self._queue[0].size <= self._budget):
                    one = self._queue.popleft()
                    self._size -= one.size
                    if not one.future.cancelled():
                        batch.append(one)
                        size += one.size
            if batch:
                return batch

    def _answers(self, asked: list[object]) -> Sequence[object]:
        """Answers, or what went wrong: with one request, and not with those that were scored beside it."""
        try:
            return self._score(asked)  # type: ignore[arg-type]
        except Exception as error:
            return [error] if len(asked) == 1 else [answer for one in asked for answer in self._answers([one])]


def _deliver(some: list[tuple[asyncio.Future[object], object]]) -> None:
    for future, answer in some:
        if future.done():
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
