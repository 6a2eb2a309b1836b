"""Encoders that are not trained: those with the same weights are one, and read each text once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from ranksift.errors import missing_library
from ranksift.learning.text.encoder import Encoder

try:
    import torch
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

_KNOWN: WeakValueDictionary[str, Encoder] = WeakValueDictionary()
# What is kept, of each block that asks for it.
_HELD: list[list[Encoder]] = []


@contextmanager
def remembering() -> Iterator[None]:
    """Keep encoders, with the vectors that they remember, from one model to the next: those of a search, say."""
    _HELD.append([])
    try:
        yield
    finally:
        _HELD.pop()


def frozen(encoder: Encoder, device: torch.device) -> Encoder:
    """The same encoder on a device, or the one with the same weights that is there already.

    Models that are fitted to parts of the same texts, as in cross-fitting, share it with the vectors that it remembers.

    Examples
    --------
    >>> from ranksift.learning.text.encoder import Architecture, PackedEncoder
    >>> tiny = Architecture(vocabulary=20, hidden=8, layers=1, heads=2, inner=16, positions=16)
    >>> one, two, other = (PackedEncoder(tiny, seed=seed) for seed in (1, 1, 2))
    >>> cpu = torch.device("cpu")
    >>> frozen(one, cpu) is frozen(two, cpu), frozen(one, cpu) is frozen(other, cpu)
    (True, False)
    """
    total = hashlib.sha256(json.dumps([str(device), encoder.config], sort_keys=True, default=str).encode())
    for name, weights in sorted(encoder.published().items()):
        total.update(name.encode())
        total.update(weights.numpy().data)
    key = total.hexdigest()
    known = _KNOWN.get(key)
    if known is None:
        known = _KNOWN[key] = encoder.to(device)
        known.remembered = {}
    for held in _HELD:
        if all(known is not other for other in held):
            held.append(known)
    return known


def forget() -> None:
    """Let encoders forget the texts that they have read: a long-running service keeps none of its users' texts."""
    for encoder in list(_KNOWN.values()):
        if encoder.remembered:
            encoder.remembered.clear()
