"""Memory that was freed does not stay with the service."""

import asyncio
import ctypes
import subprocess
import sys

import pytest

from ranksift.serving import batching
from ranksift.serving.batching import Batcher

# Pieces that glibc takes from its heap, not from the system, with one in a hundred still in use.
GAPS = """
from pathlib import Path
from ranksift.serving.memory import give_back
megabytes = lambda: int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) // 1024
pieces = [bytearray(100_000) for _ in range(3000)]
pieces = pieces[::100]
before = megabytes()
print(give_back(), before, megabytes())
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_freed_memory_goes_back_to_the_system():
    said = subprocess.run([sys.executable, "-c", GAPS], capture_output=True, text=True, check=True).stdout.split()
    assert said[0] == "True"
    assert int(said[2]) < int(said[1]) - 200


@pytest.mark.parametrize(("seconds", "times"), [(0.0, 3), (1e9, 0)])
def test_a_batcher_gives_memory_back_now_and_then(monkeypatch, seconds, times):
    given = []
    monkeypatch.setattr(batching, "_TIDY", seconds)
    monkeypatch.setattr(batching, "give_back", lambda: given.append(True))

    async def ask() -> None:
        batcher = Batcher(lambda numbers: list(numbers), budget=1)
        for number in range(3):
            assert await batcher.ask(number, size=1) == number
        batcher.close()

    asyncio.run(ask())
    assert len(given) == times
