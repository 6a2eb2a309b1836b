"""A real server and a real browser for tests: started once per module, killed where a test wants to see that."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn
from urllib.request import urlopen

import pytest

AXE = "axe-core@4.14.0"


def without(what: str) -> NoReturn:
    """Leave a test out, and say so; continuous integration must not go without."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def chromium() -> str:
    """The browser of the system."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    return found or without("Chromium is not installed (Debian: apt install chromium)")


def axe() -> str:
    """The source of axe-core, fetched once from npm into the temporary folder; it is not part of the package."""
    file = Path(tempfile.gettempdir(), f"ranksift-{AXE}", "package", "axe.min.js")
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            command = ["npm", "pack", AXE, "--silent", "--pack-destination", str(file.parent.parent)]
            subprocess.run(command, check=True, capture_output=True, timeout=60)
            packed = next(file.parent.parent.glob("*.tgz"))
            shutil.unpack_archive(packed, file.parent.parent, filter="data")
        except (OSError, subprocess.SubprocessError, StopIteration):
            without(f"{AXE} cannot be fetched: npm and a registry are needed")
    return file.read_text()


class Server:
    """``ranksift label serve`` as a process, on one port for all of its lives."""

    def __init__(self, place: Path, *options: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        ranksift = [sys.executable, "-c", "from ranksift.cli.main import main; main()"]
        self.command = [*ranksift, "label", "serve", str(place), "--port", str(self.port), *options]
        self.url = f"http://127.0.0.1:{self.port}"
        self.printed = ""

    def start(self) -> None:
        """Start, and wait until it answers."""
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.printed += line
            if "Ctrl-C" in line:
                break
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                with urlopen(f"{self.url}/healthz", timeout=1) as answer:
                    assert answer.read() == b"ok\n"
                    return
            except OSError:
                assert self.process.poll() is None, self.process.stderr.read()
                time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        """End it without any warning."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it as Ctrl-C does; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


def sign_in(page: Any, url: str, token: str) -> None:
    """By the personal link and the Enter key."""
    page.goto(f"{url}/in/{token}")
    page.get_by_role("button").press("Enter")
    page.wait_for_url(re.compile(rf"^{re.escape(url)}/(lead)?$"))


def violations(page: Any, source: str) -> list[str]:
    """What axe complains of on a page, in its light and its dark form."""
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate(source + ";0")
        result = page.evaluate("axe.run(document, {iframes: false})")
        found += [
            f"{page.url} ({scheme}) {one['id']}: {one['help']}: {[node['html'][:120] for node in one['nodes']][:3]}"
            for one in result["violations"]
        ]
    page.emulate_media(color_scheme="light")
    return found


def until(page: Any, expression: str) -> None:
    """Wait until an expression is true. Playwright's own way needs eval, which the pages forbid."""
    end = time.monotonic() + 15
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"not within 15 s: {expression}"
        page.wait_for_timeout(20)
