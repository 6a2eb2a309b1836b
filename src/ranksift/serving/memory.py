"""How the C library keeps memory that was freed, set for a process that scores batches of many sizes for weeks."""

from __future__ import annotations

import ctypes
from contextlib import suppress

# Of glibc's malloc.h.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
#: Bytes from which on a piece of memory is the system's own, and goes back to it at once when it is freed.
LARGE = 1 << 18


def keep_little() -> bool:
    """Ask the allocator of glibc not to keep what is freed; whether it will.

    glibc takes tensors from a heap of each thread, once it has seen a few freed. Batches of many sizes leave gaps
    there, so that a service would grow for minutes to twice its size. Other C libraries are left alone.
    """
    with suppress(AttributeError, OSError, TypeError):  # musl, macOS, Windows
        mallopt = ctypes.CDLL(None).mallopt
        return bool(mallopt(_M_MMAP_THRESHOLD, LARGE)) and bool(mallopt(_M_ARENA_MAX, 1))
    return False
