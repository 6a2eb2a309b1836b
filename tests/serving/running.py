"""The service as it is started: a process, asked over a socket."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Seconds until something is taken for broken: the machine may be busy.
PATIENCE = 120


class Server:
    """``ranksift serve`` with some arguments, on a free port."""

    def __init__(
        self,
        *arguments: str | Path,
        workers: int = 1,
        command: Sequence[str] = (sys.executable, "-m", "ranksift.cli.main", "serve"),
        **variables: str,
    ) -> None:
        self._starting = workers
        words = [*command, *map(str, arguments), "--port", "0", "--workers", str(workers)]
        self.process = subprocess.Popen(
            words, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env={**os.environ, **variables}
        )
        self.lines: list[str] = []
        self.port = 0
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            assert self._ready.wait(PATIENCE), self.lines
            assert self.port, self.lines
        except AssertionError:
            self.process.kill()
            raise

    def _read(self) -> None:
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            found = re.match(r"Serving .*: http://[^:]+:(\d+)/", line)
            if found:
                self.port = int(found[1])
            self._starting -= '"ready"' in line
            if not self._starting:
                self._ready.set()
        self._ready.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def log(self) -> list[dict[str, Any]]:
        """The lines of the log so far."""
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """A request on a connection of its own: status and JSON, or text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            content = None if body is None else json.dumps(body)
            connection.request("GET" if body is None else "POST", path, content, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if text.startswith(("{", "[")) else text
        finally:
            connection.close()

    def sent(self, data: bytes, *, more: bytes = b"", pause: float = 0.0) -> bytes:
        """Bytes on a connection of its own, and what comes back until it is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            if more:
                threading.Event().wait(pause)
                connection.sendall(more)
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
            return b"".join(parts)

    def stop(self, sig: int = signal.SIGTERM) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(sig)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self._reader.join(PATIENCE)
            self.process.stderr.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(PATIENCE)
        self.process.stderr.close()
