"""Freed memory goes back to the system, where the C library does not see to that by itself."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> bool:
    """Ask the allocator of glibc to return what it keeps of freed memory; whether it returned any.

    Batches of many sizes leave gaps between what is in use, and glibc keeps them: a service would grow for minutes to
    twice its size. Other C libraries are left alone.
    """
    with suppress(AttributeError, OSError, TypeError):  # musl, macOS, Windows
        return bool(ctypes.CDLL(None).malloc_trim(0))
    return False
