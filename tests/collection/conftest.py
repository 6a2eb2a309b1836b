"""What the tests of the readers share."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from ranksift.collection import lines


@pytest.fixture(params=[7, 64, 1 << 20], ids="block-{}".format)
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Small files go the way of large ones: many blocks, several threads."""
    monkeypatch.setattr(lines, "_BLOCK", request.param)
    monkeypatch.setattr(lines, "_LOOKAHEAD", 4)
    monkeypatch.setattr(lines, "_SERIAL", 0)
    monkeypatch.setattr(lines, "usable_cores", lambda: 3)
    return request.param


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    """Write a file, compressed by its suffix."""

    def write(name: str, data: bytes | str) -> Path:
        data = data.encode() if isinstance(data, str) else data
        path = tmp_path / name
        pack = {".gz": gzip.compress, ".zst": zstd.compress}.get(path.suffix, lambda d: d)
        path.write_bytes(pack(data))
        return path

    return write
