"""Training of a network on texts, with any loss: killed at any moment, it resumes to the same result."""

from __future__ import annotations

import csv
import io
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, missing_library
from ranksift.files import writing
from ranksift.learning.batches import batch_of, batches
from ranksift.learning.lambdas import worth_of_showing
from ranksift.learning.losses import NoneEmpty
from ranksift.learning.outputs import Outputs, log_odds, parse_loss
from ranksift.learning.text import scoring
from ranksift.learning.text.capture import CapturedSteps
from ranksift.learning.text.checkpoint import Progress, read_checkpoint, sum_of, write_checkpoint
from ranksift.learning.text.encoder import Batch, DeviceGroup, flat_of
from ranksift.learning.text.network import TextNetwork
from ranksift.learning.text.packing import pack, rounded_up, under_budget
from ranksift.learning.text.processes import Process, connected
from ranksift.learning.text.tokens import Tokenizer, Tokens
from ranksift.learning.training_folder import COLUMNS
from ranksift.parameters import choice, flag, integer, number, optional, text

try:
    import torch
    import torch.distributed as distributed
    from torch import Tensor
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

T = TypeVar("T")

#: How steps are computed on a GPU: kernel by kernel, compiled, recorded, or both.
Steps = Literal["auto", "plain", "compiled", "captured", "compiled+captured"]

#: Tokens of a training step that are worked on at once; longer steps are summed up of several.
TOKENS_AT_ONCE = {"cpu": 1 << 14, "cuda": 1 << 16}

# To compile takes half a minute: it pays where that many tokens are read.
_WORTH_COMPILING = 100_000_000
# Batches that are ready before they are needed.
_AHEAD = 4
# Bytes of activations that a layer keeps of a token, in multiples of its dimensions, where numbers have 16 bits.
_KEPT_OF_A_LAYER = 34
# Where Linux says what memory a container may have.
_LIMIT_OF_A_CONTAINER = Path("/sys/fs/cgroup/memory.max")
# A run may need a little less than is estimated.
_TOLERANCE = 0.9


@dataclass(frozen=True, eq=False)
class TextLists:
    """The documents of each query as tokens, with their gains.

    Attributes
    ----------
    tokens
        The tokens of each document, with its query.
    offsets
        Query i owns the documents ``offsets[i]`` to ``offsets[i + 1]``.
    gains
        The gain of each document; below 0: forbidden.
    """

    tokens: Tokens
    offsets: Ints
    gains: Floats

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.gains) == self.offsets[-1]:
            what = f"{len(self.tokens)} documents, {len(self.gains)} gains and offsets that end at {self.offsets[-1]}"
            raise InputError(what, remedy="give a gain for each document")
        if not np.isfinite(self.gains).all():
            raise InputError("a gain is not a finite number", remedy="give each document a gain")

    @classmethod
    def of(
        cls,
        tokenizer: Tokenizer,
        queries: Sequence[str],
        documents: Sequence[str],
        offsets: Sequence[int] | Ints,
        gains: Sequence[float] | Floats,
        **options: Any,
    ) -> TextLists:
        """Tokenise texts; options as in :meth:`~ranksift.learning.text.tokens.Tokenizer.pairs`."""
        begins = np.asarray(offsets, dtype=np.int64)
        pairs = tokenizer.pairs(queries, documents, begins, **options)
        return cls(pairs, begins, np.asarray(gains, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.gains)


@dataclass(frozen=True)
class Training:
    """How a network is trained: AdamW, with a rate that first rises and then falls to 0.

    Attributes
    ----------
    loss
        One of :mod:`~ranksift.learning.losses`, with options in parentheses: ``"lambdarank_f(gamma=0.3)"``.
    epochs
        Passes over the training queries.
    batch_size
        Queries per step.
    documents_per_query
        Documents drawn from each query for each pass, as Carmel et al. 2022 do; None: whole lists.
    learning_rate, warmup
        The highest rate, and the share of all steps in which the rate rises.
    weight_decay, clip
        The weight decay of AdamW, except for biases and normalisations; and the largest norm of a gradient.
    layer_decay
        The rate of a layer, as a share of that of the layer above it; layers after the encoder have the full rate.
    patience
        Training stops after this many epochs without a better value on the validation set; None: it does not stop
        early.
    freeze
        Train only the layers on top of the encoder, and do not change the encoder: its vectors are computed once.
    tokens_at_once
        The number of tokens processed at once. It determines the memory needed, and changes the result only by rounding
        and by the random numbers of dropout, unless a single list is longer: then as many of its documents are drawn as
        fit. None: as many as the device holds.
    steps
        See :data:`Steps`; on a processor only the plain one is available.
    seed
        The seed of all random choices.
    """

    loss: str = "ordinal"
    epochs: int = 3
    batch_size: int = 32
    documents_per_query: int | None = 3
    learning_rate: float = 5e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    layer_decay: float = 1.0
    patience: int | None = None
    freeze: bool = False
    tokens_at_once: int | None = None
    steps: Steps = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        text("the name of a loss").check("loss", self.loss)
        for name in ("epochs", "batch_size"):
            integer(1).check(name, getattr(self, name))
        for name in ("documents_per_query", "patience", "tokens_at_once"):
            optional(integer(1)).check(name, getattr(self, name))
        number(above=0).check("learning_rate", self.learning_rate)
        number(least=0, most=1).check("warmup", self.warmup)
        number(least=0).check("weight_decay", self.weight_decay)
        number(above=0).check("clip", self.clip)
        number(above=0, most=1).check("layer_decay", self.layer_decay)
        flag().check("freeze", self.freeze)
        choice(*get_args(Steps)).check("steps", self.steps)
        integer(0).check("seed", self.seed)

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, from 0.

        >>> [round(Training(learning_rate=1.0, warmup=0.5).rate(step, 4), 2) for step in range(4)]
        [0.5, 1.0, 1.0, 0.5]
        """
        rising = int(np.ceil(self.warmup * steps))
        share = (step + 1) / rising if step < rising else (steps - step) / max(1, steps - rising)
        return self.learning_rate * share


@dataclass(frozen=True)
class Fitted:
    """What a training came to.

    Attributes
    ----------
    losses, values
        The training loss of every epoch, and the value on the validation set if there is one.
    best_epoch
        The epoch whose weights the network has.
    steps, tokens, seconds
        Steps of all epochs; tokens that were read, and seconds that it took, since it was begun or resumed.
    """

    losses: tuple[float, ...]
    values: tuple[float, ...]
    best_epoch: int
    steps: int
    tokens: int
    seconds: float


# -- what is learned -----------------------------------------------------------------------------------------------


class Goal:
    """A loss with what it takes of the lists.

    Attributes
    ----------
    outputs
        What a network has to give for it.
    targets
        What the loss takes for the gain of each document.
    start
        Constant outputs from which training begins best.
    """

    def __init__(self, loss: str, lists: TextLists, outputs: Outputs | None = None) -> None:
        from ranksift.learning.losses import check_loss, loss_of

        check_loss(loss)
        name, options = parse_loss(loss)
        self.outputs = Outputs.of(name, lists.gains) if outputs is None else outputs
        if self.outputs.ordinal and self.outputs.width < 1:
            what = "all documents have the same gain, so there are no levels to distinguish"
            raise InputError(what, remedy="give documents of at least two labels, or use the loss bce")
        self.targets, self.is_share = lists.gains, name == "expected_share"
        self._loss = loss_of(loss)
        self._levels = torch.from_numpy(self.outputs.levels).float()
        if self.is_share:
            # Shares are of whole lists, also where samples are drawn of them.
            normalised = options.get("normalised", True)
            self.targets = worth_of_showing(lists.offsets, lists.gains, options.get("k"), normalised=normalised)
            self._loss = partial(self._loss, normalised=False)
        self.start = self._start(lists)

    def _start(self, lists: TextLists) -> list[float]:
        gain, name = self.targets, self.outputs.loss
        if not len(gain):
            return [0.0] * self.outputs.width
        lengths = np.diff(lists.offsets)
        weight = np.repeat(1.0 / np.maximum(lengths, 1), lengths)
        if self.outputs.ordinal:
            return [log_odds(gain > level, weight) for level in self.outputs.levels[:-1]]
        if self.is_share:
            prize = np.maximum(gain, 0.0)
            return [
                log_odds(gain > 0, np.abs(gain)),
                float(np.log(prize.mean() + 0.5 * np.abs(gain).mean() / len(gain) + 1e-9)),
            ]
        if name == "mse":
            return [float(np.average(gain, weights=weight))]
        return [log_odds(gain > 0, weight) if name in ("bce", "lambdarank_bce") else 0.0]

    def __call__(
        self, outputs: Tensor, targets: Tensor, lists: Ints | SideBySide, stands_for: Tensor | None = None
    ) -> Tensor:
        """The loss, summed over queries, of documents × outputs; documents of a query stand together."""
        scores = outputs if self.outputs.several else outputs[:, 0]
        more: dict[str, Tensor] = {}
        if self.outputs.ordinal:
            more["levels"] = self._levels = self._levels.to(outputs.device)
        total = outputs.new_zeros(())
        for where, there in lists if isinstance(lists, tuple) else side_by_side(lists):
            places = where.to(outputs.device, non_blocking=True)
            mask = None if there is None else NoneEmpty(there.to(outputs.device, non_blocking=True))
            rows = scores.index_select(0, places.flatten()).view(*places.shape, *scores.shape[1:])
            if self.is_share and stands_for is not None:
                more["stands_for"] = stands_for[places]
            total = total + self._loss(rows, targets[places], mask, **more) * len(places)
        return total

    def of_all(self, outputs: NDArray[np.float64], lists: TextLists) -> float:
        """The mean loss of whole lists."""
        out, targets = torch.from_numpy(outputs).float(), torch.from_numpy(self.targets).float()
        total, count = 0.0, 0
        for pieces in batches(lists.offsets, None, np.random.default_rng(0)):
            for piece in pieces:
                rows, offsets = torch.from_numpy(piece.rows), _offsets_of(piece.rows, lists.offsets)
                total, count = total + self(out[rows], targets[rows], offsets).item(), count + piece.queries
        return total / max(1, count)


#: Documents of lists of about one length: their places, lists × documents, and which ones are there (None: all).
SideBySide = tuple[tuple[Tensor, Tensor | None], ...]


def side_by_side(offsets: Ints) -> SideBySide:
    """The lists that have documents, those of about one length together.

    >>> [(places.tolist(), mask) for places, mask in side_by_side(np.array([0, 2, 2, 4]))]
    [([[0, 1], [2, 3]], None)]
    """
    return tuple(
        (torch.from_numpy(group.places), None if group.mask.all() else torch.from_numpy(group.mask))
        for group in batch_of(offsets, np.flatnonzero(np.diff(offsets))).groups
    )


def _offsets_of(rows: Ints, offsets: Ints) -> Ints:
    """Where lists begin among the rows of whole lists."""
    query = np.searchsorted(offsets, rows, side="right")
    begins = np.flatnonzero(np.diff(query, prepend=-1))
    return np.append(begins, len(rows))


# -- what is drawn ---------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """Whole queries of a step that are worked on at once.

    Attributes
    ----------
    rows
        Documents that were drawn, query after query.
    offsets
        Where the documents of each query begin.
    share
        What each of its queries counts in the step.
    stands_for
        How many documents each one stands for.
    """

    rows: Ints
    offsets: Ints
    share: float
    stands_for: NDArray[np.float32]


class Drawn:
    """The steps of an epoch: queries in random order, and documents drawn of each.

    Examples
    --------
    >>> drawn = Drawn(np.array([0, 5, 6]), np.full(6, 10), Training(batch_size=2, documents_per_query=2), 100, epoch=1)
    >>> [len(piece.rows) for piece in drawn.step(0)], len(drawn)
    ([3], 1)
    """

    def __init__(self, offsets: Ints, lengths: Ints, plan: Training, budget: int, epoch: int) -> None:
        draw = np.random.default_rng([plan.seed, epoch])
        if plan.freeze:  # a document is a vector, however long its text is
            lengths = np.ones_like(lengths)
        counts = np.diff(offsets)
        query = np.repeat(np.arange(len(counts)), counts)
        # In random order: losses take equal documents as they come, and files list the best first.
        rows = np.lexsort((draw.random(len(query)), query))
        before = ragged.accumulate(np.add, lengths[rows].astype(np.float64), offsets) - lengths[rows]
        place = ragged.positions(counts)
        taken = (place < (plan.documents_per_query or np.inf)) & ((before + lengths[rows] <= budget) | (place == 0))
        self._rows = rows[taken]
        self._offsets = ragged.offsets_of(ragged.counts(taken, query, len(counts)))
        self._stands_for = (counts / np.maximum(np.diff(self._offsets), 1)).astype(np.float32)
        self._lengths, self._budget, self._size = lengths, budget, plan.batch_size
        self._order = draw.permutation(np.flatnonzero(counts))

    def __len__(self) -> int:
        return -(-len(self._order) // self._size)

    def step(self, number: int, rank: int = 0, world: int = 1) -> list[Piece]:
        """Pieces of one step: of its queries those that this process takes, under the budget."""
        queries = self._order[number * self._size : (number + 1) * self._size]
        own = queries[rank::world]
        taken, offsets = ragged.take(self._offsets, own)
        rows = self._rows[taken]
        size = np.diff(ragged.offsets_of(self._lengths[rows])[offsets])
        found = []
        for part in under_budget(size, self._budget):
            some = rows[offsets[part.start] : offsets[part.stop]]
            counts = np.diff(offsets)[part]
            stands_for = np.repeat(self._stands_for[own[part]], counts)
            found.append(Piece(some, ragged.offsets_of(counts), 1.0 / len(queries), stands_for))
        return found

    def queries(self, number: int) -> int:
        """How many queries a step has, of all processes."""
        return min(self._size, len(self._order) - number * self._size)


class _Ready(NamedTuple):
    """A piece with its tokens, ready to be copied to the device."""

    piece: Piece
    flat: Tensor
    shape: tuple[int, int, int]
    groups: tuple[DeviceGroup, ...] | None
    back: Tensor
    targets: Tensor
    stands_for: Tensor
    lists: SideBySide
    tokens: int

    @property
    def pinned(self) -> _Ready:
        """In memory from which a GPU copies while it works: else each copy would wait for all that it has to do."""
        back, targets, stands_for = (x.pin_memory() for x in (self.back, self.targets, self.stands_for))
        lists = tuple((x.pin_memory(), None if mask is None else mask.pin_memory()) for x, mask in self.lists)
        return self._replace(
            flat=self.flat.pin_memory(), back=back, targets=targets, stands_for=stands_for, lists=lists
        )


# -- the loop ----------------------------------------------------------------------------------------------------------


def fit(
    network: TextNetwork,
    lists: TextLists,
    plan: Training,
    *,
    validation: TextLists | None = None,
    value: Callable[[NDArray[np.float64]], float] | None = None,
    goal: Goal | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 120.0,
    log: str | os.PathLike[str] | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    also: Mapping[str, Any] | None = None,
) -> Fitted:
    """Train a network on its device, and leave it with the weights of the best epoch.

    With several processes (``torchrun``), each takes its share of every batch: the result is the same as with one
    process, except for rounding and dropout.

    Parameters
    ----------
    network
        The network, with as many outputs as :class:`Goal` asks for.
    lists
        To learn from.
    plan
        How.
    validation
        Lists whose value after each epoch determines which epoch is the best; None: the last one is.
    value
        The value of the outputs of all validation documents, higher is better; None: their negative loss.
    goal
        What is learned; None: the plan's loss on the gains.
    checkpoint
        A file that keeps the state of the training: if it exists, training continues from it.
    checkpoint_seconds
        How often it is written, at least at the end of each epoch; 0: after each step.
    log
        A CSV file with a row for each epoch.
    progress
        Wraps the steps and, with a frozen encoder, the batches that it reads first, to show progress.
    also
        Anything else that the result depends on: a checkpoint of a different training is refused.

    Examples
    --------
    >>> from ranksift.learning.text.encoder import Architecture, PackedEncoder
    >>> from ranksift.learning.text.tokens import Cut
    >>> ids, offsets = np.array([2, 5, 2, 6], dtype=np.int32), np.array([0, 2, 4])
    >>> tokens = Tokens(ids, offsets, np.array([1, 1]), Cut(2, 0, 4, 0, 0))
    >>> lists = TextLists(tokens, np.array([0, 2]), np.array([1.0, -10.0]))
    >>> tiny = Architecture(vocabulary=8, hidden=8, layers=1, heads=2, inner=16, positions=4, dropout=0.0)
    >>> network = TextNetwork(PackedEncoder(tiny, seed=0), pooling="mean", dropout=0.0)
    >>> fitted = fit(network, lists, Training("bce", epochs=30, learning_rate=0.05))
    >>> bool(fitted.losses[-1] < 0.1 < fitted.losses[0])
    True
    """
    with connected(network.device) as process:
        return _Loop(network, lists, plan, validation, value, progress, goal, process).run(
            checkpoint=None if checkpoint is None else Path(checkpoint),
            seconds=checkpoint_seconds,
            log=None if log is None else Path(log),
            progress=progress,
            also=also or {},
        )


class _Loop:
    def __init__(
        self,
        network: TextNetwork,
        lists: TextLists,
        plan: Training,
        validation: TextLists | None,
        value: Callable[[NDArray[np.float64]], float] | None,
        progress: Callable[[Iterable[Any]], Iterable[Any]],
        goal: Goal | None,
        process: Process,
    ) -> None:
        self.network, self.lists, self.plan = network, lists, plan
        self.rank, self.world = process
        self.validation, self.value = validation, value
        if not len(lists):
            raise InputError("there is no document to learn from", remedy="give queries that have documents")
        self.goal = Goal(plan.loss, lists) if goal is None else goal
        if network.outputs != self.goal.outputs.width:
            what = f"the network has {network.outputs} outputs, but the loss {plan.loss} {self.goal.outputs.width}"
            raise InputError(what, remedy="make it with as many as Goal(loss, lists).outputs.width says")
        network.check_fits(int(lists.tokens.lengths.max()), int(lists.tokens.ids.max(initial=0)) + 1)
        if plan.patience is not None and validation is None:
            raise InputError(f"patience={plan.patience} needs a validation set", remedy="give one, or no patience")
        self.device = network.device
        self.dtype = scoring.usual_numbers(self.device)
        self.budget = self._budget()
        self.longest = network.encoder.rounded_length(int(lists.tokens.lengths.max()))
        self.grouped = network.encoder.needs_groups(self.device, self.dtype)
        with np.errstate(over="ignore"):  # a value that is too large makes the loss infinite, which is reported
            self.targets = torch.from_numpy(self.goal.targets.astype(np.float32))
        for weights in network.encoder.parameters():
            weights.requires_grad_(not plan.freeze)
        self.weights = {name: x for name, x in network.named_parameters() if x.requires_grad}
        self.optimizer = self._optimizer()
        self.vectors = scoring.vectors(network, lists.tokens, progress=progress) if plan.freeze else None
        self.seen = None
        if validation is not None and plan.freeze:
            self.seen = scoring.vectors(network, validation.tokens, progress=progress)
        self.captured: CapturedSteps | None = None
        self.tokens = 0

    def _budget(self) -> int:
        if self.plan.tokens_at_once is not None:
            budget = self.plan.tokens_at_once
        else:
            budget = TOKENS_AT_ONCE.get(self.device.type, TOKENS_AT_ONCE["cpu"])
            if self.device.type == "cuda":  # on a small GPU, what is free
                free = torch.cuda.mem_get_info(self.device)[0]
                fixed, of_a_token = _memory(self.network, self.dtype)
                budget = max(1024, min(budget, int((0.8 * free - fixed) / of_a_token)))
        if not self.plan.freeze:
            check_memory(self.network, min(budget, int(self.lists.tokens.lengths.sum())), self.dtype)
        return budget

    def _optimizer(self) -> torch.optim.AdamW:
        found = {name: _height(name) for name in self.weights}
        top = 1 + max((height for height in found.values() if height is not None), default=0)
        kinds: dict[tuple[int, bool], list[Tensor]] = {}
        for name, weights in self.weights.items():
            height = found[name]
            below = 0 if height is None or self.plan.layer_decay == 1 else top - height
            kinds.setdefault((below, weights.dim() > 1), []).append(weights)
        groups = [
            {
                "params": some,
                "weight_decay": self.plan.weight_decay if decays else 0.0,
                "share": self.plan.layer_decay**below,
            }
            for (below, decays), some in sorted(kinds.items(), key=lambda kind: (kind[0][0], not kind[0][1]))
        ]
        return torch.optim.AdamW(groups, lr=self.plan.learning_rate, fused=self.device.type == "cuda")

    # -- the whole ------------------------------------------------------------------------------------------------

    def run(
        self,
        checkpoint: Path | None,
        seconds: float,
        log: Path | None,
        progress: Callable[[Iterable[Any]], Iterable[Any]],
        also: Mapping[str, Any],
    ) -> Fitted:
        """Train from the beginning, or from a checkpoint."""
        began = time.monotonic()
        if self.world > 1:
            for x in self.weights.values():
                distributed.broadcast(x.data, 0)
        self.run_sum = "" if checkpoint is None else self._sum(also)
        self.best: dict[str, Tensor] = {}
        self.at = Progress()
        found = None if checkpoint is None else read_checkpoint(checkpoint, self.run_sum, self.weights, self.optimizer)
        if found is not None:
            self.at, self.best = found
        if self.world > 1:
            self._check_all_begin_there()
        per_epoch = -(-int(np.count_nonzero(np.diff(self.lists.offsets))) // self.plan.batch_size)
        steps = per_epoch * self.plan.epochs
        self._prepare(steps)
        written = time.monotonic()
        with _own_random_numbers(self.device):
            self.network.train()
            todo = range(self.at.step, self.at.step if self.at.done else steps)
            total = torch.full((), self.at.total, dtype=torch.float64, device=self.device)
            with _ahead(self._work(todo, per_epoch), enabled=self.device.type == "cuda") as work:
                for step, (pieces, queries) in zip(progress(todo), work, strict=False):
                    total += self._step(step, steps, pieces) * queries
                    self.at.step = step + 1
                    if self.at.step % per_epoch == 0:
                        self._end_epoch(float(total), per_epoch, began)
                        total.zero_()
                        self._write_log(log)
                    last = self.at.done or self.at.step == steps
                    ended = self.at.step % per_epoch == 0
                    if checkpoint is not None and (last or ended or time.monotonic() - written >= seconds):
                        self.at.done, self.at.total = last, float(total)
                        self._write(checkpoint)
                        written = time.monotonic()
                    if last:
                        break
            self.network.eval()
        if self.best:
            with torch.no_grad():
                for name, kept in self.best.items():
                    self.weights[name].copy_(kept)
        best = self.at.best_epoch or len(self.at.losses)
        return Fitted(
            tuple(self.at.losses), tuple(self.at.values), best, self.at.step, self.tokens, time.monotonic() - began
        )

    def _check_all_begin_there(self) -> None:
        """Stop if processes have read different checkpoints; none writes before all have read."""
        ends = torch.tensor([self.at.step, -self.at.step], device=self.device)
        distributed.all_reduce(ends, op=distributed.ReduceOp.MAX)
        if int(ends.sum()):
            raise InputError(
                "the processes do not all find the same checkpoint", remedy="keep it where all of them can read"
            )

    def _sum(self, also: Mapping[str, Any]) -> str:
        arrays: dict[str, Any] = {}
        for name, some in (("train", self.lists), ("validation", self.validation)):
            if some is not None:
                arrays |= {f"{name}/ids": some.tokens.ids, f"{name}/begin": some.tokens.offsets}
                arrays |= {f"{name}/second": some.tokens.second, f"{name}/gains": some.gains}
                arrays |= {f"{name}/offsets": some.offsets}
        return sum_of({**asdict(self.plan), "also": dict(also)}, arrays, self.network.state_dict())

    def _prepare(self, steps: int) -> None:
        """Compile and record, where that is asked for or pays."""
        how = self.plan.steps
        if self.device.type != "cuda" or self.plan.freeze:
            return
        if how == "auto":
            share = steps / max(1, self.plan.epochs)
            expected = share * self.plan.batch_size * self.plan.epochs * float(self.lists.tokens.lengths.mean())
            expected *= self.plan.documents_per_query or len(self.lists) / max(1, len(self.lists.offsets) - 1)
            how = "compiled" if expected >= _WORTH_COMPILING else "plain"
        if "compiled" in how:
            self.network.encoder.compile_layers()
        if "captured" in how and not self.grouped:
            for x in self.weights.values():
                x.grad = torch.zeros_like(x)
            self.captured = CapturedSteps(self.network, self.dtype)

    # -- a step ---------------------------------------------------------------------------------------------------

    def _work(self, steps: range, per_epoch: int) -> Iterator[tuple[list[_Ready], int]]:
        drawn, epoch = None, 0
        for step in steps:
            if drawn is None or step // per_epoch + 1 != epoch:
                epoch = step // per_epoch + 1
                lengths = self.lists.tokens.lengths
                drawn = Drawn(self.lists.offsets, lengths, self.plan, self.budget, epoch)
            pieces = drawn.step(step % per_epoch, self.rank, self.world)
            yield [self._ready(piece) for piece in pieces], drawn.queries(step % per_epoch)

    def _ready(self, piece: Piece) -> _Ready:
        made = self._made(piece)
        return made.pinned if self.device.type == "cuda" else made

    def _made(self, piece: Piece) -> _Ready:
        targets, stands_for = self.targets[piece.rows], torch.from_numpy(piece.stands_for)
        lists = side_by_side(piece.offsets)
        if self.vectors is not None:
            flat = torch.from_numpy(self.vectors[piece.rows])
            return _Ready(piece, flat, (0, 0, 0), None, torch.arange(len(piece.rows)), targets, stands_for, lists, 0)
        packed = pack(self.lists.tokens, piece.rows, few_shapes=self.device.type == "cuda", longest=self.longest)
        groups = tuple(DeviceGroup.of(group, self.device) for group in packed.groups()) if self.grouped else None
        size = int(self.lists.tokens.lengths[piece.rows].sum())
        back = torch.from_numpy(packed.back)
        return _Ready(piece, flat_of(packed), packed.shape, groups, back, targets, stands_for, lists, size)

    def _step(self, step: int, steps: int, pieces: list[_Ready]) -> Tensor:
        """One step: the mean loss of its queries, of all processes."""
        torch.manual_seed(_seed_of(self.plan.seed, step, self.rank))
        self.optimizer.zero_grad(set_to_none=self.captured is None)
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        try:
            for ready in pieces:
                total += self._gradients(ready)
        except torch.OutOfMemoryError:
            raise scoring.out_of_memory(self.budget) from None
        if self.world > 1:
            total = self._summed_up(total)
        if self.device.type != "cuda" and not bool(torch.isfinite(total)):
            raise _not_finite(step)
        torch.nn.utils.clip_grad_norm_(self.weights.values(), self.plan.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.rate(step, steps) * group["share"]
        self.optimizer.step()
        return total

    def _gradients(self, ready: _Ready) -> Tensor:
        """Add those of a piece, and give its part of the loss."""
        self.tokens += ready.tokens
        captured = self.captured is not None and self.captured.can(ready.shape)
        back, targets, stands_for = (
            x.to(self.device, non_blocking=True) for x in (ready.back, ready.targets, ready.stands_for)
        )
        if self.vectors is not None:
            vectors = ready.flat.to(self.device, non_blocking=True)
        elif captured and self.captured is not None:
            vectors = self.captured.forward(ready.flat, ready.shape)
        else:
            flat = ready.flat.to(self.device, non_blocking=True)
            vectors = self.network.encode(Batch.of_flat(flat, ready.shape, ready.groups), self.dtype)
        outputs = self.network.of_vectors(vectors.index_select(0, back), ready.piece.offsets)
        cost = self.goal(outputs, targets, ready.lists, stands_for) * ready.piece.share
        cost.backward()  # type: ignore[no-untyped-call]
        if captured and self.captured is not None and vectors.grad is not None:
            self.captured.backward(vectors.grad, ready.shape)
        return cost.detach().double()

    def _summed_up(self, total: Tensor) -> Tensor:
        """Sums of gradients and of the loss over all processes, in one message."""
        for x in self.weights.values():
            if x.grad is None:  # a process without a query in this step
                x.grad = torch.zeros_like(x)
        grads = [x.grad for x in self.weights.values() if x.grad is not None]
        flat = torch.cat([*(g.reshape(-1) for g in grads), total.float().reshape(1)])
        distributed.all_reduce(flat)
        at = 0
        for g in grads:
            g.copy_(flat[at : at + g.numel()].view_as(g))
            at += g.numel()
        return flat[-1].double()

    # -- an epoch -------------------------------------------------------------------------------------------------

    def _end_epoch(self, total: float, per_epoch: int, began: float) -> None:
        epoch = len(self.at.losses) + 1
        if not np.isfinite(total):
            raise _not_finite(epoch * per_epoch - 1)
        self.at.losses.append(total / int(np.count_nonzero(np.diff(self.lists.offsets))))
        self.at.rates.append(float(self.optimizer.param_groups[0]["lr"]))
        self.at.seconds.append(round(time.monotonic() - began, 3))
        if self.validation is None:
            return
        found = self._value()
        if not self.at.values or found > max(self.at.values):
            self.at.best_epoch = epoch
            self.best = {name: x.detach().cpu().clone() for name, x in self.weights.items()}
        self.at.values.append(found)
        self.at.done = self.plan.patience is not None and epoch - self.at.best_epoch >= self.plan.patience

    def _value(self) -> float:
        """On the validation set; the first process says it, so that all do the same."""
        assert self.validation is not None
        found = 0.0
        if self.rank == 0:
            offsets = self.validation.offsets
            if self.seen is not None:
                outputs = scoring.of_vectors(self.network, self.seen, offsets)
            else:
                outputs = scoring.outputs(self.network, self.validation.tokens, offsets, dtype=self.dtype)
            if self.value is not None:
                found = float(self.value(outputs))
            else:
                found = -Goal(self.plan.loss, self.validation, self.goal.outputs).of_all(outputs, self.validation)
        if self.world > 1:
            said = torch.tensor([found], dtype=torch.float64, device=self.device)
            distributed.broadcast(said, 0)
            found = float(said)
        return found

    def _write(self, path: Path) -> None:
        if self.rank == 0:
            write_checkpoint(path, self.run_sum, self.at, self.weights, self.optimizer, self.best)
        if self.world > 1:
            distributed.barrier()

    def _write_log(self, path: Path | None) -> None:
        if path is None or self.rank:
            return
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow(COLUMNS)
        values: list[Any] = [*self.at.values, *[""] * (len(self.at.losses) - len(self.at.values))]
        for epoch, row in enumerate(zip(self.at.losses, values, self.at.rates, self.at.seconds, strict=True), start=1):
            writer.writerow([epoch, *row])
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as file:
            file.write(rows.getvalue().encode())


def _height(name: str) -> int | None:
    """Where a weight of an encoder lies: 0 are embeddings, and layer upon layer follows; None: it stands on all that.

    >>> [_height(name) for name in ("encoder.words", "encoder.layers.0.up.weight", "encoder.layers.5.up.bias", "head")]
    [0, 1, 6, None]
    """
    if not name.startswith("encoder."):
        return None
    layer = re.search(r"\.layers?\.(\d+)\.", name)
    return int(layer[1]) + 1 if layer else 0


def _not_finite(step: int) -> InputError:
    return InputError(f"the loss is not finite at step {step + 1}", remedy="use a smaller learning_rate")


def _seed_of(seed: int, step: int, rank: int) -> int:
    """The seed of a step: resuming does not depend on earlier draws."""
    return int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0] >> 1)


@contextmanager
def _own_random_numbers(device: torch.device) -> Iterator[None]:
    """Leave the caller's random numbers as they are."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield


@contextmanager
def _ahead(work: Iterator[T], *, enabled: bool) -> Iterator[Iterator[T]]:
    """Make what comes next while the device is busy, in a thread."""
    if not enabled:
        yield work
        return
    queue: Queue[tuple[bool, Any]] = Queue(maxsize=_AHEAD)
    over = threading.Event()

    def fill() -> None:
        try:
            for item in work:
                queue.put((True, item))
                if over.is_set():
                    return
            queue.put((False, None))
        except BaseException as error:  # the consumer raises it
            queue.put((False, error))

    def taken() -> Iterator[T]:
        while True:
            more, item = queue.get()
            if more:
                yield item
            elif item is not None:
                raise item
            else:
                return

    thread = threading.Thread(target=fill, daemon=True)
    thread.start()
    try:
        yield taken()
    finally:
        over.set()
        while thread.is_alive():  # it may wait for room
            while not queue.empty():
                queue.get_nowait()
            thread.join(timeout=0.01)


# -- memory ------------------------------------------------------------------------------------------------------------


def _memory(network: TextNetwork, dtype: torch.dtype) -> tuple[float, float]:
    """Bytes that training takes whatever is read, and those of each token that is worked on at once."""
    size = dtype.itemsize
    weights = sum(x.numel() for x in network.parameters())
    layers = len(getattr(network.encoder, "layers", ())) or int(
        getattr(network.encoder, "config", {}).get("num_hidden_layers", 12)
    )
    # Weights, gradients and two moments; copies of the weights in 16 bits.
    fixed = weights * (16 + (size if size < 4 else 0))
    return float(fixed), float((layers + 1) * _KEPT_OF_A_LAYER * network.encoder.hidden * size / 2)


def memory_needed(network: TextNetwork, tokens_at_once: int, dtype: torch.dtype = torch.float32) -> int:
    """Bytes that training takes, about: weights with what AdamW keeps of them, and activations.

    Examples
    --------
    >>> from ranksift.learning.text.encoder import Architecture, PackedEncoder
    >>> network = TextNetwork(PackedEncoder(Architecture()))
    >>> round(memory_needed(network, 16_384) / 2**30, 1)  # GiB
    6.6
    """
    fixed, of_a_token = _memory(network, dtype)
    return int(fixed + of_a_token * rounded_up(tokens_at_once))


def memory_of(network: TextNetwork, lists: TextLists, plan: Training) -> int:
    """Bytes that a training of these lists takes, about."""
    if plan.freeze:  # vectors, those that the encoder remembers, and a network that is used only
        weights = sum(x.numel() for x in network.parameters())
        return 4 * (weights + 3 * len(lists) * network.encoder.hidden)
    budget = plan.tokens_at_once or TOKENS_AT_ONCE.get(network.device.type, TOKENS_AT_ONCE["cpu"])
    tokens = min(budget, int(lists.tokens.lengths.sum()))
    return memory_needed(network, tokens, scoring.usual_numbers(network.device))


def memory_there(device: torch.device) -> int:
    """Bytes of the device, used or not; of a container what it may have."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[1])
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 62
    try:
        return min(there, int(_LIMIT_OF_A_CONTAINER.read_text()))
    except (OSError, ValueError):  # none, or "max"
        return there


def check_memory(network: TextNetwork, tokens_at_once: int, dtype: torch.dtype = torch.float32) -> None:
    """Refuse to begin what cannot fit."""
    needed, there = memory_needed(network, tokens_at_once, dtype), memory_there(network.device)
    if _TOLERANCE * needed > there:
        what = f"training would need about {needed / 2**30:.1f} GiB of memory, but there are {there / 2**30:.1f}"
        raise InputError(what, remedy=f"use tokens_at_once={max(256, tokens_at_once // 4)}, or a smaller encoder")
