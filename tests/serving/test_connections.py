"""What becomes of connections whose clients are slow: with heads, with bodies, and in reading what they asked for."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
import uvicorn
from uvicorn.server import ServerState

from ranksift.serving import server as module
from tests.serving.running import PATIENCE

LARGE = 16 << 20
REQUEST = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok"

Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[object]]


async def _app(scope, receive, send):
    """Answers at once, without a look at the body; under /large with more than a system buffers."""
    body = b"x" * (LARGE if scope["path"] == "/large" else 2)
    head = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})


def played(client: Client, monkeypatch: pytest.MonkeyPatch, **limits: float) -> object:
    """What a client sees of a server with these limits."""
    for name, seconds in limits.items():
        monkeypatch.setattr(module, name, seconds)

    async def play() -> object:
        config = uvicorn.Config(_app, http=module._Protocol, lifespan="off", log_config=None)
        config.load()
        state = ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: module._Protocol(config, state, {}), "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            async with asyncio.timeout(PATIENCE):
                found = await client(reader, writer)
            writer.close()
            while state.connections:  # the server has let go of it, too
                await asyncio.sleep(0.01)
            return found

    return asyncio.run(play())


async def _answer(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(2)


async def _dripped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> bool:
    """Send byte after byte; whether the server had enough before the last one."""
    said = asyncio.create_task(reader.read())
    for one in data:
        writer.write(bytes([one]))
        await asyncio.wait([said], timeout=0.02)
        if said.done():
            said.exception()  # what was on its way when it closed the connection
            return True
    said.cancel()
    return False


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_head_that_does_not_end_in_time(monkeypatch, before):
    async def client(reader, writer):
        for _ in range(before):
            writer.write(REQUEST)
            assert (await _answer(reader)).startswith(b"HTTP/1.1 200")
        writer.write(REQUEST[:9])
        return await reader.read()

    assert played(client, monkeypatch, _HEAD_SECONDS=0.2).startswith(b"HTTP/1.1 408")


def test_a_head_that_arrives_drop_by_drop(monkeypatch):
    async def client(reader, writer):
        return await _dripped(reader, writer, REQUEST.replace(b"host: a", b"host: " + b"a" * 60_000))

    assert played(client, monkeypatch, _HEAD_SECONDS=0.5)


def test_an_idle_connection_stays_open(monkeypatch):
    async def client(reader, writer):
        for _ in range(3):
            writer.write(REQUEST)
            assert (await _answer(reader)).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.3)
        return reader.at_eof()

    assert played(client, monkeypatch, _HEAD_SECONDS=0.1) is False


def test_a_body_that_goes_on_after_its_answer(monkeypatch):
    async def client(reader, writer):
        writer.write(REQUEST.replace(b"length: 2", b"length: 100000"))
        assert (await _answer(reader)).startswith(b"HTTP/1.1 200")
        return await _dripped(reader, writer, b"x" * 100_000)

    assert played(client, monkeypatch, _HEAD_SECONDS=0.3)


def test_who_reads_nothing_of_an_answer_is_left(monkeypatch):
    async def client(reader, writer):
        reader._transport.pause_reading()
        writer.write(REQUEST.replace(b"/", b"/large", 1))
        await asyncio.sleep(1.5)
        reader._transport.resume_reading()
        try:
            return len(await reader.read(-1))
        except ConnectionResetError:
            return 0

    assert played(client, monkeypatch, _UNREAD_SECONDS=0.3) < LARGE


def test_who_reads_slowly_gets_the_whole_answer(monkeypatch):
    async def client(reader, writer):
        writer.write(REQUEST.replace(b"/", b"/large", 1))
        await reader.readuntil(b"\r\n\r\n")
        got = 0
        while got < LARGE:
            got += len(await reader.readexactly(1 << 20))
            await asyncio.sleep(0.3)
        return got

    assert played(client, monkeypatch, _UNREAD_SECONDS=2) == LARGE
