"""Steps of an encoder that a GPU has recorded, and repeats without being told each kernel again.

A step is a few hundred kernels, and a small batch is done before the next one is launched. A recording is of one shape,
so that batches must have few of them: :func:`~ranksift.learning.text.packing.pack` sees to that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ranksift.errors import missing_library
from ranksift.learning.text.encoder import Batch
from ranksift.learning.text.network import TextNetwork

try:
    import torch
    from torch import Tensor
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

# Recordings that are kept; they share the memory of what they compute. Other shapes are computed kernel by kernel.
_MOST = 24
# A kernel may be chosen or compiled when it is first used, which cannot be recorded.
_WARM_UP = 3


class _Recording(NamedTuple):
    inputs: Tensor
    vectors: Tensor
    gradient: Tensor
    forward: Any
    backward: Any


class CapturedSteps:
    """Forward and backward steps of a network's encoder, recorded for each shape of batch when it first comes.

    Gradients are added to those that the parameters have: these must be there, and stay where they are
    (``zero_grad(set_to_none=False)``).

    Parameters
    ----------
    network
        On a GPU, with gradients of all parameters in place.
    dtype
        What products are computed in.
    """

    def __init__(self, network: TextNetwork, dtype: torch.dtype) -> None:
        self._network, self._dtype = network, dtype
        self._parameters = [weights for weights in network.encoder.parameters() if weights.requires_grad]
        self._pool = torch.cuda.graph_pool_handle()
        self._kept: dict[tuple[int, int, int], _Recording] = {}

    def can(self, shape: tuple[int, int, int]) -> bool:
        """Whether there is a recording of this shape, or room for one."""
        return shape in self._kept or len(self._kept) < _MOST

    def forward(self, flat: Tensor, shape: tuple[int, int, int]) -> Tensor:
        """Vectors of a batch, on their own: what comes to them goes to :meth:`backward`."""
        if shape not in self._kept:
            self._kept[shape] = self._recorded(flat, shape)
        found = self._kept[shape]
        found.inputs.copy_(flat, non_blocking=True)
        found.forward.replay()
        return found.vectors.detach().requires_grad_()

    def backward(self, gradient: Tensor, shape: tuple[int, int, int]) -> None:
        """Add to the gradients of the encoder what the last batch of this shape says."""
        found = self._kept[shape]
        found.gradient.copy_(gradient)
        found.backward.replay()

    def _recorded(self, flat: Tensor, shape: tuple[int, int, int]) -> _Recording:
        inputs = flat.to(self._network.device)
        batch = Batch.of_flat(inputs, shape)
        gradient = torch.zeros(shape[1], self._network.encoder.hidden, device=inputs.device)
        before = torch.cuda.get_rng_state(inputs.device)
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                self._gradients(self._network.encode(batch, self._dtype), gradient)
        torch.cuda.current_stream().wait_stream(aside)
        torch.cuda.synchronize()
        forward, backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        # Other threads prepare batches meanwhile, and may do what a recording forbids.
        alone = "thread_local"
        with torch.cuda.graph(forward, pool=self._pool, capture_error_mode=alone):
            vectors = self._network.encode(batch, self._dtype)
        with torch.cuda.graph(backward, pool=self._pool, capture_error_mode=alone):
            found = self._gradients(vectors, gradient)
            there = [
                (weights.grad, new)
                for weights, new in zip(self._parameters, found, strict=True)
                if new is not None and weights.grad is not None
            ]
            torch._foreach_add_([old for old, _ in there], [new for _, new in there])
        torch.cuda.set_rng_state(before, inputs.device)
        return _Recording(inputs, vectors, gradient, forward, backward)

    def _gradients(self, vectors: Tensor, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return torch.autograd.grad(vectors, self._parameters, gradient, allow_unused=True)
