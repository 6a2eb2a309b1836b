"""Requests that nobody would send on purpose, against the running service.

    python -m tests.serving.fuzz --requests 10000 --seed 0

Each begins as a request that is right, and some of it is changed: values, keys, bytes, headers, lengths. Whatever is a
whole request has to be answered with a status that the service declares and an error of one line, never with 500. In
the end the service answers as in the beginning.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from ranksift.serving.openapi import openapi
from ranksift.web.shapes import complaint
from tests.serving.running import Server

#: What a request may be answered with; 499 stands in the log only.
ALLOWED = {200, 400, 404, 405, 408, 413, 422, 429, 504}

_TEMPLATES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/rerank", {"model": "text", "query": "w100 w110", "documents": ["w100 w2", {"text": "w1"}], "top_n": 2}),
    ("/rerank", {"model": "text", "query": "w5", "documents": ["w3"], "top_k": 1, "return_documents": True}),
    ("/v2/rerank", {"model": "features", "features": [[1.0, 2.0], [0.5, None]], "return_dropped": True}),
    ("/v1/rerank", {"model": "features", "features": [{"bm25": 1.0, "age": 3}], "top_n": None}),
    ("/v1/filter", {"scores": [0.9, 0.1, 0.7]}),
    ("/v1/filter", {"model": "cutoff", "scores": [0.2], "rank_scores": [1]}),
)

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**200, -0.0, 1e-320, 1e308, 1e301, 0.1, "", " ", "a", "\0",
    "\ud800", "é" * 300, "\u202e", "x" * 20_000, "w1 " * 500, "nan", "1", [], {}, [[]], [None], [[1, 2]],
    [["a"]], {"text": None}, {"text": "w"}, {"a": {"b": []}}, ["w1"] * 1200, [0.5] * 50, [float("nan")],
    [float("inf")], ["w1", 1], [True], "text", "cutoff", "features",
)  # fmt: skip

_RAW: tuple[bytes, ...] = (
    b"NaN", b"Infinity", b"[" * 5000, b'{"a":' * 5000, b'{"scores": [1], "scores": [2]}', b"\xef\xbb\xbf{}",
    b"\xff" * 40, b"", b"0", b'"', b"null", b"{}", b'{"query": "\\ud800"}', b'{"scores": [1e999]}',
    b'{"scores": [' + b"9" * 400 + b"]}", b"{" * 3, b"\0" * 9, b'{"__proto__": {}}', b'{"scores": [1,]}',
    b"{'scores': [1]}", b'{"scores": [01]}',
)  # fmt: skip

_HEADERS: tuple[tuple[bytes, ...], ...] = (
    (), (), (), (b"authorization: Bearer x",), (b"x-request-id: " + b"z" * 300,), (b"x-request-id: a\x00b",),
    (b"content-type: x/y",), (b"origin: null",), (b"accept-encoding: \xff",), (b"x-request-id: a",
    b"x-request-id: b"), (b"expect: 100-continue",), (b"x: " + b"y" * 9000,), (b"upgrade: websocket",
    b"connection: upgrade"), (b"content-encoding: gzip",),
)  # fmt: skip


def changed(draw: random.Random, value: Any, depth: int = 0) -> Any:
    """A value with something else in one place."""
    if isinstance(value, dict) and value and draw.random() < 0.85:
        key = draw.choice([*value])
        found = dict(value)
        if draw.random() < 0.2:
            found[draw.choice(("top_n", "x", "documents", "query", key.upper(), "a" * 500))] = found.pop(key)
        else:
            found[key] = changed(draw, found[key], depth + 1)
        return found
    if isinstance(value, list) and value and draw.random() < 0.6:
        at = draw.randrange(len(value))
        return [changed(draw, one, depth + 1) if i == at else one for i, one in enumerate(value)] * draw.choice(
            (1, 1, 3)
        )
    return draw.choice(_VALUES)


def request(draw: random.Random) -> tuple[bytes, bool]:
    """The bytes of a request, and whether it is a whole one."""
    path, body = draw.choice(_TEMPLATES)
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        body = changed(draw, body)
    content = json.dumps(body).encode() if draw.random() < 0.85 else draw.choice(_RAW)
    if draw.random() < 0.15 and content:
        flipped = bytearray(content)
        for _ in range(draw.choice((1, 1, 2, 20))):
            flipped[draw.randrange(len(flipped))] = draw.randrange(256)
        content = bytes(flipped)
    method = draw.choice(("POST",) * 30 + ("GET", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW")).encode()
    if draw.random() < 0.05:
        path = draw.choice(
            ("/", "/metrics", "/v1/models", "/%00", "/..%2f..", "/v1/rerank/", "/static/../x", "/?" + "a" * 5000)
        )
    length, whole = len(content), True
    if draw.random() < 0.03:
        length, whole = length + draw.choice((1, 50, 10**7)), False
    head = [method + b" " + path.encode() + b" HTTP/1.1", b"host: a", b"connection: close", *draw.choice(_HEADERS)]
    if draw.random() < 0.05:
        pieces = [content[i : i + 97] for i in range(0, len(content), 97)]
        content = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in pieces) + b"0\r\n\r\n"
        head.append(b"transfer-encoding: chunked")
    else:
        head.append(b"content-length: %d" % length)
    data = b"\r\n".join(head) + b"\r\n\r\n" + content
    if draw.random() < 0.03:
        return data[: draw.randrange(len(data))], False
    if draw.random() < 0.02:
        return draw.randbytes(draw.randrange(1, 400)), False
    return data, whole


def asked(port: int, data: bytes, whole: bool) -> bytes:
    """What comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        parts: list[bytes] = []
        try:
            connection.sendall(data)
            if not whole:
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                parts.append(part)
        except (ConnectionResetError, BrokenPipeError):
            if whole and not parts:
                raise
        return b"".join(parts)


def hunt(server: Server, requests: int, seed: int) -> Counter[str]:
    """How requests were answered; an AssertionError shows the first one that was answered wrongly."""
    draw, counts = random.Random(seed), Counter()
    shapes = {
        path: operations["post"]["responses"]["200"]["content"]["application/json"]["schema"]
        for path, operations in openapi()["paths"].items()
        if "post" in operations
    }
    error = openapi()["components"]["schemas"]["Error"]
    for number in range(requests):
        data, whole = request(draw)
        answer = asked(server.port, data, whole)
        if answer.startswith(b"HTTP/1.1 100 "):  # who says that a body will come is told to send it
            answer = answer.partition(b"\r\n\r\n")[2]
        if not answer:
            assert not whole, (number, data[:2000])
            counts["part of a request, closed"] += 1
            continue
        head, _, body = answer.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        place = (number, data[:2000], answer[:2000])
        assert status in ALLOWED, place
        counts[str(status)] += 1
        if data.startswith((b"HEAD", b"OPTIONS")):
            continue
        if status >= 400:
            found = json.loads(body)
            assert not complaint(found, error), place
            assert "\n" not in found["error"]["message"], place
        path = data.split(b" ", 2)[1].decode("latin-1") if whole else ""
        if status == 200 and path in shapes:
            assert not complaint(json.loads(body), shapes[path]), place
    assert server.ask("/v1/filter", {"scores": [0.9, 0.1]})[1]["kept"] == [0]
    assert server.process.poll() is None
    assert not any(line["event"] == "fault" for line in server.log())
    return counts


def main() -> None:
    """Print how requests were answered."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    from tests.serving.conftest import save_models

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        models = save_models(Path(folder))
        with Server(*(models / name for name in ("text", "features", "cutoff.json")), "--body-timeout", "1") as server:
            counts = hunt(server, options.requests, options.seed)
            memory = Path(f"/proc/{server.process.pid}/status").read_text().split("VmRSS:")[1].split("\n")[0].strip()
    print(", ".join(f"{what}: {count:,}" for what, count in sorted(counts.items())), f"(memory {memory})")


if __name__ == "__main__":
    main()
