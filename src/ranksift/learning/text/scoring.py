"""Outputs of many documents: packed on a GPU, those of about the same length together elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Ints
from ranksift.errors import InputError, missing_library
from ranksift.learning.text.encoder import Batch
from ranksift.learning.text.network import TextNetwork
from ranksift.learning.text.packing import by_length, pack
from ranksift.learning.text.tokens import Tokens

try:
    import torch
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

#: Tokens that are worked on at once: what the caches of a processor hold, or what keeps a GPU busy.
TOKENS_AT_ONCE = {"cpu": 1 << 12, "cuda": 1 << 16}

#: Vectors that an encoder remembers: those of MiniLM take 300 MB.
MOST_REMEMBERED = 200_000

Vectors = NDArray[np.float32]


def find_device(name: str = "auto") -> torch.device:
    """The GPU if there is one, else the processor; or the one that is named. Of several processes, each has its own.

    >>> find_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return _own_gpu() if torch.cuda.is_available() else torch.device("cpu")
    found: torch.device | None
    try:
        found = torch.device(name)
    except RuntimeError:
        found = None
    if found is None or found.type not in ("cpu", "cuda"):
        raise InputError(f"device={name!r} is unknown", remedy="use 'auto', 'cpu' or 'cuda'")
    if found.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device={name!r}: there is no GPU that PyTorch can use", remedy="use device='cpu'")
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        what = f"device={name!r}: the last GPU of this machine is cuda:{torch.cuda.device_count() - 1}"
        raise InputError(what, remedy="use that, or device='cuda'")
    return _own_gpu() if name == "cuda" else found


def _own_gpu() -> torch.device:
    """The GPU of this process: that of its number, where a launcher such as torchrun has started several."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return torch.device("cuda")
    own = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    torch.cuda.set_device(own)
    return own


def usual_numbers(device: torch.device) -> torch.dtype:
    """What products are computed in: 16 bits on a GPU that has them, else 32."""
    return torch.bfloat16 if device.type == "cuda" and torch.cuda.is_bf16_supported() else torch.float32


def vectors(
    network: TextNetwork,
    tokens: Tokens,
    *,
    tokens_at_once: int | None = None,
    dtype: torch.dtype | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Vectors:
    """The encoder's vector of each text: texts × dimensions, in the order of the texts.

    Parameters
    ----------
    network, tokens
        The network, on its device, and the texts.
    tokens_at_once
        None: :data:`TOKENS_AT_ONCE`.
    dtype
        The type in which products are computed; None: 16 bits on a GPU, 32 elsewhere.
    progress
        Wraps the batches, to show progress.
    """
    kept = network.encoder.remembered
    if kept is None:
        return _vectors(network, tokens, tokens_at_once, dtype, progress)
    keys = _keys(network, tokens)
    known = [kept.get(key) for key in keys]  # once: another thread may forget them meanwhile
    new = np.array([row for row, vector in enumerate(known) if vector is None], dtype=np.int64)
    out = np.empty((len(tokens), network.encoder.hidden), dtype=np.float32)
    for row, vector in enumerate(known):
        if vector is not None:
            out[row] = vector
    out[new] = _vectors(network, tokens[new], tokens_at_once, dtype, progress)
    if len(kept) + len(new) > MOST_REMEMBERED:
        kept.clear()
    for row in new[:MOST_REMEMBERED].tolist():
        kept[keys[row]] = out[row].copy()
    return out


def _keys(network: TextNetwork, tokens: Tokens) -> list[bytes]:
    """What distinguishes texts: their tokens, and how a vector is made from them."""
    ids, begin, second = tokens.ids, tokens.offsets.tolist(), tokens.second.tolist()
    return [
        blake2b(ids[begin[row] : begin[row + 1]].tobytes() + f"{second[row]} {network.pooling}".encode()).digest()
        for row in range(len(tokens))
    ]


def _vectors(
    network: TextNetwork,
    tokens: Tokens,
    tokens_at_once: int | None,
    dtype: torch.dtype | None,
    progress: Callable[[Iterable[Any]], Iterable[Any]],
) -> Vectors:
    network.check_fits(int(tokens.lengths.max(initial=0)), int(tokens.ids.max(initial=0)) + 1)
    device = network.device
    dtype = usual_numbers(device) if dtype is None else dtype
    grouped = network.encoder.needs_groups(device, dtype)
    out = torch.empty(len(tokens), network.encoder.hidden, pin_memory=device.type == "cuda")
    budget = tokens_at_once or TOKENS_AT_ONCE.get(device.type, TOKENS_AT_ONCE["cpu"])
    few = device.type == "cuda"
    longest = network.encoder.rounded_length(int(tokens.lengths.max(initial=1))) if few else None
    training = network.training
    network.eval()
    try:
        with torch.inference_mode():
            waiting: list[tuple[Ints, torch.Tensor]] = []
            for rows in progress([*by_length(tokens.lengths, budget)]):
                packed = pack(tokens, rows, few_shapes=few, longest=longest)
                found = network.encode(Batch.of(packed, device, grouped=grouped), dtype)
                waiting.append((rows[np.argsort(packed.back)], found[: len(rows)]))
                if len(waiting) > 1:  # copied while the next batch is computed
                    _keep(out, *waiting.pop(0))
            for some in waiting:
                _keep(out, *some)
    except torch.OutOfMemoryError:
        raise out_of_memory(budget) from None
    finally:
        network.train(training)
    return out.numpy()


def _keep(out: torch.Tensor, rows: Ints, found: torch.Tensor) -> None:
    out[torch.from_numpy(rows)] = found.cpu()


def outputs(
    network: TextNetwork,
    tokens: Tokens,
    offsets: Ints,
    *,
    tokens_at_once: int | None = None,
    dtype: torch.dtype | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> NDArray[np.float64]:
    """Documents × outputs, in the order of the documents; parameters as of :func:`vectors`.

    ``offsets`` says where the documents of each query begin, and where the last ones end.
    """
    found = vectors(network, tokens, tokens_at_once=tokens_at_once, dtype=dtype, progress=progress)
    return of_vectors(network, found, offsets)


def of_vectors(network: TextNetwork, found: Vectors, offsets: Ints) -> NDArray[np.float64]:
    """The same from what :func:`vectors` gives."""
    training = network.training
    network.eval()
    try:
        with torch.inference_mode():
            there = torch.from_numpy(found).to(network.device)
            return network.of_vectors(there, offsets).double().cpu().numpy()
    finally:
        network.train(training)


def out_of_memory(tokens: int) -> InputError:
    """The error where a GPU's memory is not enough."""
    return InputError(f"the GPU has too little memory for {tokens} tokens at once", remedy="use fewer tokens_at_once")
