"""The processes of the service: one that answers, or several that share a port, until they are asked to stop."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from socket import socket
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ranksift.serving.memory import share_one_heap
from ranksift.serving.settings import SHARED, Settings

# Seconds that the head of a request may take, and seconds in which a client may read no byte of an answer.
_HEAD_SECONDS, _UNREAD_SECONDS = 10, 30
# Seconds that an idle connection is kept open at the end, for a request that is on its way.
_LAST_MOMENT = 0.2
# Seconds before a worker that died is replaced.
_PAUSE = 1.0


def serve(settings: Settings, door: socket) -> int:
    """Answer what comes to a socket until a signal says to stop; the exit code."""
    return _serve_alone(settings, door) if settings.workers < 2 else _Workers(settings, door).run()


def _serve_alone(settings: Settings, door: socket) -> int:
    share_one_heap()  # before threads start and models are loaded
    from ranksift.serving.application import LOG, application

    LOG.handlers[:], LOG.propagate = [logging.StreamHandler(sys.stderr)], False
    LOG.setLevel(settings.log_level.upper())
    app = application(settings)
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=math.ceil(settings.longest_request),
        h11_max_incomplete_event_size=64 * 1024,
    )
    server = _Server(config, app.state.service, settings.drain_seconds)
    server.run([door])
    return 128 + signal.SIGINT if server.interrupted else 0


class _Server(uvicorn.Server):
    """A server that takes requests for a moment after it was asked to stop, and says so to proxies."""

    def __init__(self, config: uvicorn.Config, service: Any, seconds: float) -> None:
        super().__init__(config)
        self._service, self._seconds = service, seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self.interrupted = False

    async def startup(self, sockets: list[socket] | None = None) -> None:
        from ranksift.serving.application import log

        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            log("ready")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._service.stopping or self._loop is None:
            self.should_exit = True
            self.force_exit = self._service.stopping and sig == signal.SIGINT
            return
        self.interrupted = sig == signal.SIGINT
        self._service.stopping = True
        # A user at a terminal does not want to wait for proxies.
        seconds = 0.0 if self.interrupted else self._seconds
        self._loop.call_soon_threadsafe(self._loop.call_later, seconds, self._stop)

    def _stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        # Who has connected already is let in: the system would turn away what waits at a door that is shut.
        last = [connection for door in sockets or () for connection in _waiting_at(door)]
        for server in self.servers:
            server.close()
        for connection in last:
            with suppress(OSError):  # the client went away
                await loop.connect_accepted_socket(self._protocol, connection)
        await super().shutdown(sockets)

    def _protocol(self) -> asyncio.Protocol:
        kind: Any = self.config.http_protocol_class
        made: asyncio.Protocol = kind(self.config, self.server_state, self.lifespan.state)
        return made


def _waiting_at(door: socket) -> Iterator[socket]:
    """The connections that have not been accepted yet, or as many of them as the system gives."""
    with suppress(OSError):
        while True:
            try:
                connection, _ = door.accept()
            except ConnectionAbortedError:
                continue
            connection.setblocking(False)
            yield connection


class _Protocol(H11Protocol):
    """HTTP/1.1 with limits of time for who sends a head too slowly or reads no answer, and errors as JSON."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head: asyncio.TimerHandle | None = self.loop.call_later(_HEAD_SECONDS, self._refuse_slow)
        self._unread: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Read what has come, and give the rest of a head some time."""
        super().handle_events()
        if self.transport.is_closing():
            return
        # What came is the beginning of a head, or the rest of a body that was answered before its end. Whatever comes
        # ends the time that an idle connection has, so that this one takes its place.
        answered = self.cycle is None or self.cycle.response_complete
        if not answered or self.timeout_keep_alive_task is not None:
            if self._head is not None:
                self._head.cancel()
                self._head = None
        elif self._head is None:
            self._head = self.loop.call_later(_HEAD_SECONDS, self._refuse_slow)

    def _refuse_slow(self) -> None:
        if not self.transport.is_closing():
            self._refuse(408, "The request took too long to arrive.", "timeout")

    def pause_writing(self) -> None:
        """Wait for the client to read the answer, as long as it reads some of it."""
        super().pause_writing()
        self._await_reader(math.inf)

    def resume_writing(self) -> None:
        """Go on: most of the answer was read."""
        if self._unread is not None:
            self._unread.cancel()
        super().resume_writing()

    def _await_reader(self, before: float) -> None:
        left = self.transport.get_write_buffer_size()
        if left >= before:
            self.transport.abort()
        else:
            self._unread = self.loop.call_later(_UNREAD_SECONDS, self._await_reader, left)

    def shutdown(self) -> None:
        """Finish what has begun, and give a request a moment that is on its way."""
        if self.cycle is None or self.cycle.response_complete:
            self.loop.call_later(_LAST_MOMENT, self._end)
        else:
            super().shutdown()

    def _end(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "This is not HTTP.", "bad_request")

    def _refuse(self, status: int, message: str, word: str) -> None:
        with suppress(h11.LocalProtocolError):  # an answer has begun
            body = json.dumps({"error": {"message": message, "type": word}}).encode()
            headers = [
                ("content-type", "application/json"),
                ("content-length", str(len(body))),
                ("connection", "close"),
            ]
            for event in (
                h11.Response(status_code=status, headers=headers),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


# -- several processes -------------------------------------------------------------------------------------------------


class _Workers:
    """Processes that share a socket; one that dies is replaced."""

    def __init__(self, settings: Settings, door: socket) -> None:
        self._settings, self._door = settings, door
        self._context = multiprocessing.get_context("spawn")
        self._processes: list[Any] = []
        self._signal = 0

    def run(self) -> int:
        """Until a signal says to stop, or no worker can start; the exit code."""
        shared = os.environ[SHARED] = tempfile.mkdtemp(prefix="ranksift-metrics-")
        # Workers share the cores: each has its part of the threads of numerical libraries.
        threads = max(1, (os.cpu_count() or 1) // self._settings.workers)
        os.environ.setdefault("OMP_NUM_THREADS", str(threads))
        waker, self._wakes = os.pipe()
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, self._asked)
        try:
            self._processes = [self._started(first=True) for _ in range(self._settings.workers)]
            failed = self._watch(waker)
            self._stop()
        finally:
            shutil.rmtree(shared, ignore_errors=True)
        return failed or (128 + signal.SIGINT if self._signal == signal.SIGINT else 0)

    def _asked(self, sig: int, frame: FrameType | None) -> None:
        self._signal = sig
        os.write(self._wakes, b"x")

    def _started(self, first: bool = False) -> Any:
        process = self._context.Process(target=_work, args=(self._settings, self._door, first), daemon=False)
        process.start()
        return process

    def _watch(self, waker: int) -> int:
        """Replace workers that die; the exit code of one that could not start, or 0 when it is time to stop."""
        while not self._signal:
            began = time.monotonic()
            wait([waker, *(process.sentinel for process in self._processes)])
            for i, process in enumerate(self._processes):
                if self._signal or process.is_alive():
                    continue
                from prometheus_client.multiprocess import mark_process_dead

                mark_process_dead(process.pid)  # type: ignore[no-untyped-call]
                if process.exitcode == _BAD_INPUT:
                    return _BAD_INPUT
                _say("worker died", exit_code=process.exitcode)
                time.sleep(max(0.0, _PAUSE - (time.monotonic() - began)))
                self._processes[i] = self._started()
        return 0

    def _stop(self) -> None:
        """Ask all to stop, and wait until they have."""
        self._door.close()  # theirs stay open until each has finished
        for process in self._processes:
            if process.is_alive():
                process.terminate()
        until = time.monotonic() + self._settings.drain_seconds + self._settings.longest_request + 5
        for process in self._processes:
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


_BAD_INPUT, _LATER = 2, 3


def _work(settings: Settings, door: socket, first: bool) -> None:
    """A worker. One that takes the place of another may find a model that is being copied: it is tried again."""
    from dataclasses import replace

    from ranksift.errors import InputError

    threading.Thread(target=_follow_parent, daemon=True).start()
    try:
        code = _serve_alone(replace(settings, workers=1), door)
    except InputError as error:
        if first:
            print(error, file=sys.stderr)
        else:
            _say("worker cannot start", why=str(error))
        code = _BAD_INPUT if first else _LATER
    sys.exit(code)


def _say(event: str, **more: Any) -> None:
    """A line of the log, of a process that serves nothing itself."""
    line = {"time": round(time.time(), 3), "level": "error", "event": event, **more}
    print(json.dumps(line), file=sys.stderr, flush=True)


def _follow_parent() -> None:
    """Stop when the first process is gone, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
