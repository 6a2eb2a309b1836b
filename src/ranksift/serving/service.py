"""From the bytes of a request to the bytes of its answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from ranksift.serving.answers import asked_list, filtered_answer, ranked_answer
from ranksift.serving.batching import QueueFull
from ranksift.serving.metrics import Metrics
from ranksift.serving.models import Models
from ranksift.serving.requests import Filter, Rerank
from ranksift.serving.served import ServedCutoff, ServedRanker
from ranksift.serving.settings import Settings
from ranksift.web.problems import Problem

Made = TypeVar("Made")

# Documents from which on an answer is put together in another thread, so that the event loop is not blocked.
_MANY = 200
# Bytes of a body that is read in no time.
_SHORT = 1 << 14
# Bodies of the largest size that may be read at once, and that may be in memory, from their first byte to their answer.
_READ, _HELD = 4, 32
# Seconds after which a refused client may try again, if the speed is not known.
_SOON = 1


@dataclass
class Told:
    """What the log says of a request, beside its address: no texts."""

    model: str = ""
    version: str = ""
    documents: int = 0
    dropped: int = 0
    tokens: int = 0


class Service:
    """Models, and what is done with requests.

    Parameters
    ----------
    settings
        The models to serve, and how to serve them.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.models = Models(settings, self.metrics.batch)
        for one in self.models:
            self.metrics.served(one)
        #: Whether it was asked to stop.
        self.stopping = False
        # Reads and tokenises while models score.
        self._pool = ThreadPoolExecutor(max(2, min(4, os.cpu_count() or 1)), thread_name_prefix="ranksift-reads")
        self._reading = self._held = 0

    # -- requests --------------------------------------------------------------------------------------------------

    async def rerank(self, body: bytes, identity: str, told: Told) -> bytes:
        """The answer to a request to rank."""
        async with asyncio.timeout(self.settings.request_seconds):
            asked = await self._read(Rerank.read, body)
            served: ServedRanker = self.models.find(asked.model, ServedRanker, "ranker")
            told.model, told.version = served.name, served.version
            self._check_room(served)
            with self.models.using(served):
                listed = await self._in_thread(len(body), asked_list, served, asked)
                told.documents, told.tokens = len(listed), listed.size
                self.metrics.waiting.labels(served.name).set(served.batcher.waiting)
                try:
                    scores = await served.batcher.ask(listed, listed.size)
                except QueueFull as full:
                    raise _later(full.seconds) from None
                if len(listed) > _MANY or asked.return_documents:
                    shown, answer = await self._run(ranked_answer, served, asked, listed, scores, identity)
                else:
                    shown, answer = ranked_answer(served, asked, listed, scores, identity)
        told.dropped = shown.dropped
        self.metrics.list_shown(served, shown)
        return answer

    async def filter(self, body: bytes, identity: str, told: Told) -> bytes:
        """The answer to a request to drop documents by their scores."""
        async with asyncio.timeout(self.settings.request_seconds):
            asked = await self._read(Filter.read, body)
            served: ServedCutoff = self.models.find(asked.model, ServedCutoff, "cutoff")
            told.model, told.version = served.name, served.version
            shown, answer = await self._run(filtered_answer, served, asked, identity)
        told.documents, told.dropped = len(shown.scores), shown.dropped
        self.metrics.list_shown(served, shown)
        return answer

    @contextmanager
    def room(self) -> Iterator[Callable[[int], Problem | None]]:
        """Memory for a body: what is given takes so many bytes more, or says that there is no room for them.

        There is always room for short bodies, so that clients that send large ones slowly do not keep others out.
        """
        own, most = 0, _HELD * self.settings.body_bytes

        def take(size: int) -> Problem | None:
            nonlocal own
            if own + size > _SHORT and self._held + size > most:
                return _later(_SOON)
            own += size
            self._held += size
            return None

        try:
            yield take
        finally:
            self._held -= own

    def _check_room(self, served: ServedRanker) -> None:
        """Refuse before texts are tokenised what could not be scored in time."""
        try:
            served.batcher.check_room()
        except QueueFull as full:
            raise _later(full.seconds) from None

    async def _read(self, read: Callable[[bytes, int], Made], body: bytes) -> Made:
        """What a body asks: a short one is read at once, as another thread would take longer to begin."""
        if len(body) <= _SHORT:
            return read(body, self.settings.documents)
        return await self._in_thread(len(body), read, body, self.settings.documents)

    async def _in_thread(self, size: int, function: Callable[..., Made], *arguments: Any) -> Made:
        """Do something for a body of this size in another thread, unless too many bytes wait for one."""
        if self._reading and self._reading + size > _READ * self.settings.body_bytes:
            raise _later(_SOON)
        self._reading += size
        try:
            return await self._run(function, *arguments)
        finally:
            self._reading -= size

    async def _run(self, function: Callable[..., Made], *arguments: Any) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    # -- its life --------------------------------------------------------------------------------------------------

    async def follow(self, log: Callable[..., None]) -> None:
        """Load new versions of models, until cancelled."""
        while True:
            await asyncio.sleep(self.settings.reload_seconds)
            for news in await asyncio.to_thread(self.models.look):
                result = "refused" if news.served is None else "loaded"
                self.metrics.reloads.labels(news.name, result).inc()
                if news.served is None:
                    log("reload", level="warning", model=news.name, result=result, why=news.complaint)
                else:
                    before = next(one for one in self.models if one.name == news.name)
                    self.models.take(news.served)
                    self.metrics.served(news.served, before)
                    log("reload", model=news.name, result=result, version=news.served.version, notes=news.served.notes)

    def close(self) -> None:
        """Stop its threads."""
        self.models.close()
        self._pool.shutdown(wait=False)


def _later(seconds: int) -> Problem:
    return Problem(
        429, f"Too many requests are waiting. Try again in {seconds} s.", headers={"retry-after": str(seconds)}
    )
