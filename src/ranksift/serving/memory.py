"""How the C library keeps memory that was freed, set for a process that scores batches of many sizes for weeks."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_M_ARENA_MAX = -8  # of glibc's malloc.h


def share_one_heap() -> bool:
    """Ask the allocator of glibc for one heap, where it has one for each thread; whether it will.

    Batches of many sizes leave gaps between what is in use, and in several heaps they are several times as large.
    Other C libraries are left alone.
    """
    with suppress(AttributeError, OSError, TypeError):  # musl, macOS, Windows
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1))
    return False


def give_back() -> bool:
    """Ask it to return what it keeps of freed memory to the system; whether it returned any."""
    with suppress(AttributeError, OSError, TypeError):
        return bool(ctypes.CDLL(None).malloc_trim(0))
    return False
