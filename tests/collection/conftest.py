"""What the tests of the readers share."""

from __future__ import annotations

import pytest

from ranksift.collection._engine import lines


@pytest.fixture(params=[7, 64, 1 << 20], ids="block-{}".format)
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Small files go the way of large ones: many blocks, several threads."""
    monkeypatch.setattr(lines, "_BLOCK", request.param)
    monkeypatch.setattr(lines, "_LOOKAHEAD", 4)
    monkeypatch.setattr(lines, "_SERIAL", 0)
    monkeypatch.setattr(lines, "usable_cores", lambda: 3)
    return request.param
