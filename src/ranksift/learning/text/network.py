"""What is trained: an encoder, the list as context where that is asked for, and a head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ranksift.collection.ragged import Ints
from ranksift.errors import InputError, missing_library
from ranksift.learning.text.encoder import Batch, DeviceGroup, Encoder, Layer, Pooling, draw_weights, linear
from ranksift.learning.text.packing import groups_of

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

# Of a layer over lists: documents are far fewer than tokens, and so are lists to learn from.
_LIST_INNER = 2


class TextNetwork(nn.Module):
    """An encoder with a head: outputs of each document.

    Parameters
    ----------
    encoder
        The encoder, which turns a query with a document into a vector.
    outputs
        Of each document.
    pooling
        See :data:`~ranksift.learning.text.encoder.Pooling`.
    list_layers
        Layers in which the documents of a query attend to each other: each is seen together with the others, in no
        order.
    dropout
        The dropout before the head and in layers over lists; the encoder has its own.
    start
        The outputs to start from, such as log odds; None: 0.
    seed
        The seed of the weights that are not the encoder's.

    Examples
    --------
    >>> from ranksift.learning.text.encoder import Architecture, PackedEncoder
    >>> tiny = Architecture(vocabulary=20, hidden=8, layers=1, heads=2, inner=16, positions=16)
    >>> network = TextNetwork(PackedEncoder(tiny, seed=1), outputs=2, list_layers=1, start=[0.5, -1.0]).eval()
    >>> network.of_vectors(torch.zeros(3, 8), np.array([0, 2, 3])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        encoder: Encoder,
        outputs: int = 1,
        *,
        pooling: Pooling = "cls",
        list_layers: int = 0,
        dropout: float = 0.1,
        start: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.encoder, self.pooling, self.dropout = encoder, pooling, dropout
        size = encoder.hidden
        self.list_layers = nn.ModuleList(
            Layer(size, _heads(size), _LIST_INNER * size, eps=1e-5, dropout=dropout, norm_first=True)
            for _ in range(list_layers)
        )
        self.head = nn.Linear(size, outputs)
        for number, part in enumerate((*self.list_layers, self.head)):
            draw_weights(part, seed * 1009 + number, 0.02 if part is self.head else None)
        if start is not None:
            with torch.no_grad():
                self.head.bias.copy_(torch.as_tensor(np.asarray(start, dtype=np.float32)))

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.head.weight.device

    @property
    def outputs(self) -> int:
        """Of each document."""
        return self.head.out_features

    def encode(self, batch: Batch, dtype: torch.dtype = torch.float32) -> Tensor:
        """A vector for each sequence of a batch."""
        found: Tensor = self.encoder(batch, self.pooling, dtype)
        return found

    def of_vectors(self, vectors: Tensor, offsets: Ints) -> Tensor:
        """Documents × outputs; documents of a query are adjacent, and ``offsets`` says where they are."""
        x = vectors
        if len(self.list_layers):
            groups = tuple(DeviceGroup.of(group, x.device) for group in groups_of(offsets))
            starts = torch.as_tensor(offsets, device=x.device)
            for layer in self.list_layers:
                x = layer(x, starts, 0, groups)
        return linear(self.head, functional.dropout(x, self.dropout, self.training))

    def check_fits(self, longest: int, vocabulary: int) -> None:
        """Refuse tokens for which the encoder has no position or no embedding."""
        if longest > self.encoder.longest:
            what = f"max_length={longest} is more than the {self.encoder.longest} tokens that the encoder can read"
            raise InputError(what, remedy=f"use max_length={self.encoder.longest}")
        if vocabulary > self.encoder.vocabulary:
            what = f"the tokenizer has {vocabulary} tokens, but the encoder {self.encoder.vocabulary}"
            raise InputError(what, remedy="use the tokenizer of the same model")


def _heads(size: int) -> int:
    """As many as there are 64 dimensions, or the next smaller number that divides them."""
    return next(n for n in range(max(1, size // 64), 0, -1) if size % n == 0)
