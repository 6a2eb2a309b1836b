"""Memory that was freed does not stay with the service."""

import asyncio
import ctypes
import subprocess
import sys

import pytest

from ranksift.serving import batching
from ranksift.serving.batching import Batcher

pytestmark = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")

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

# Threads that all hold memory at the same time, and what glibc says of its heaps.
HEAPS = """
import ctypes, sys, threading
from ranksift.serving.memory import share_one_heap
if sys.argv[1] == "one":
    assert share_one_heap()
held = threading.Barrier(4)
def hold():
    pieces = [bytearray(50_000) for _ in range(10)]
    held.wait()
threads = [threading.Thread(target=hold) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
library = ctypes.CDLL(None)
library.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(library.fdopen(1, b"w"))
library.malloc_info(0, out)
library.fflush(out)
"""


def said(code: str, *arguments: str) -> str:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout


def test_freed_memory_goes_back_to_the_system():
    given, before, after = said(GAPS).split()
    assert given == "True"
    assert int(after) < int(before) - 200


def test_threads_share_one_heap():
    assert said(HEAPS, "one").count("<heap ") == 1
    assert said(HEAPS, "each").count("<heap ") > 1


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
