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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from urllib.request import urlopen

import pytest

AXE = "axe-core@4.14.0"
#: For how long a test waits for what has to come, on machines that are slow or busy too. Who is quick waits no longer.
PATIENCE = 60.0


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
    file = Path(tempfile.gettempdir(), f"ranksift-{AXE}.min.js")
    if not file.exists():
        try:
            # Another process of the tests may be at it, too: each has a folder of its own, and the last step is whole.
            with tempfile.TemporaryDirectory() as folder:
                command = ["npm", "pack", AXE, "--silent", "--pack-destination", folder]
                subprocess.run(command, check=True, capture_output=True, timeout=5 * PATIENCE)
                shutil.unpack_archive(next(Path(folder).glob("*.tgz")), folder, filter="data")
                part = file.with_name(f"{file.name}.{os.getpid()}")
                shutil.copyfile(Path(folder, "package", "axe.min.js"), part)
                part.replace(file)
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
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                with urlopen(f"{self.url}/healthz", timeout=PATIENCE) as answer:
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
        return self.process.wait(timeout=PATIENCE)


def sign_in(page: Any, url: str, token: str) -> None:
    """By the personal link and the Enter key."""
    page.goto(f"{url}/in/{token}")
    page.get_by_role("button").press("Enter")
    page.wait_for_url(re.compile(rf"^{re.escape(url)}/(lead)?$"))


def violations(page: Any, source: str) -> list[str]:
    """What axe complains of on a page, in its light and its dark form, which differ by nothing but colours."""
    found = []
    page.evaluate(source + ";0")
    for scheme, only in (("light", ""), ("dark", ", runOnly: ['color-contrast']")):
        page.emulate_media(color_scheme=scheme)
        # What is in order is counted, not described: that would take most of the time.
        options = f"{{iframes: false, resultTypes: ['violations']{only}}}"
        passes, wrong = page.evaluate(
            f"axe.run(document, {options}).then((all) => [all.passes.length, all.violations])"
        )
        assert passes, "axe looked at nothing"
        found += [
            f"{page.url} ({scheme}) {one['id']}: {one['help']}: {[node['html'][:120] for node in one['nodes']][:3]}"
            for one in wrong
        ]
    page.emulate_media(color_scheme="light")
    return found


def until(page: Any, true: str | Callable[[], object]) -> None:
    """Wait until an expression or a function is true. Playwright's own way needs eval, which the pages forbid."""
    end = time.monotonic() + PATIENCE
    while not (page.evaluate(true) if isinstance(true, str) else true()):
        assert time.monotonic() < end, f"not within {PATIENCE:g} s: {true}"
        page.wait_for_timeout(20)  # in which Playwright goes on with what it has to do
