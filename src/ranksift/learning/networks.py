"""Rankers trained by gradient descent: linear models and networks, with any loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError
from ranksift.learning.batches import Batch, batches
from ranksift.learning.objective import stopping_value
from ranksift.learning.outputs import Outputs, ScoreKind, check_scores, parse_loss, space_of_gamma
from ranksift.learning.ranker import Ranker
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.topk import BETAS, SHARE, TOP, Focus, topk_truth
from ranksift.parameters import choice, integer, number, optional, parameter, several, with_default, word

if TYPE_CHECKING:
    from torch import Tensor

#: Queries per step, and hidden layers, that are tried.
BATCHES = [32, 128, 512]
HIDDEN = [(8,), (16,), (32,), (64,), (32, 16), (64, 32)]

#: Weights and biases of one layer.
Layer = tuple[NDArray[np.float64], NDArray[np.float64]]


_LOSS = """One of :mod:`~ranksift.learning.losses`, with options in parentheses:
``"lambdarank_bce(gamma=0.3)"``."""
_SCORES = """What a score is: ``"own"``, the loss's own as in Carmel et al. 2022, or the ``"expected_gain"``, for
losses that estimate it; then 0 is the natural cut."""
_UNITS = several(integer(1), "a list of positive integers")


@dataclass(eq=False)
class Network(Ranker, abstract=True):
    """The base class of models trained by gradient descent (Adam, queries in batches).

    With a validation set, training stops when ``measure`` has not improved for ``patience`` epochs, and the model is
    that of the best epoch.

    Attributes
    ----------
    layers_
        Weights and biases, for features on the model's scale.
    best_epoch_
        The epoch that was kept (after fitting only).
    losses_, values_
        The training loss of every epoch, and the measure on the validation set if there is one (after fitting only).
    natural_cut_
        The score that corresponds to an expected gain of 0, if the loss determines it;
        ``FixedCutoff(model.natural_cut_)`` drops documents that score lower.
    """

    needs = ("torch",)

    _: KW_ONLY
    epochs: int = parameter(200, integer(1), "Passes over the training queries.")
    patience: int = parameter(30, integer(1), "Training stops after this many epochs without a better value.")
    batch_size: int | None = parameter(512, optional(integer(1)), "Queries per step; None: all.")
    learning_rate: float = parameter(0.02, number(above=0), "The learning rate of Adam.")
    l2: float = parameter(0.0, number(least=0), "λ: the loss has the term ½ λ Σ w² over all weights.")

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The learning rate, queries per step, weight decay, and the epochs if there is no early stopping."""
        epochs = {} if stopped else {"epochs": (20, 500, "log")}
        return {
            "learning_rate": (1e-3, 0.1, "log"),
            "batch_size": BATCHES,
            "l2": (1e-6, 0.1, "log"),
            **epochs,
        }

    def _loss(self) -> str:
        """Name and options of the loss."""
        raise NotImplementedError

    def _hidden(self) -> tuple[int, ...]:
        """Units of the hidden layers."""
        return ()

    def _kind(self) -> ScoreKind:
        return "own"

    def _targets(self, examples: Examples) -> Floats:
        """What the loss takes for gains."""
        return Gains.of(self.gains)(examples.labels)

    @property
    def natural_cut_(self) -> float | None:
        """The score that corresponds to an expected gain of 0, if the loss determines it."""
        return self._outputs.natural_cut

    # -- training ---------------------------------------------------------------------------------------------

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        gains = self._targets(examples)
        self._outputs = Outputs.of(_name(self._loss()), gains, self._kind())
        with _one_thread():
            self._descend(examples, gains, validation)

    def _descend(self, examples: Examples, gains: Floats, validation: Examples | None) -> None:
        import torch

        from ranksift.learning.losses import loss_of

        loss = loss_of(self._loss())
        if self._outputs.ordinal:
            loss = partial(loss, levels=self._outputs.levels)
        draw = np.random.default_rng(self.seed)
        # Losses take equal documents as they come; the order of a file would be learned, and some put the best first.
        order = np.lexsort((draw.random(len(examples)), examples.query))
        x = torch.from_numpy(examples.features[order].astype(np.float32))
        y = torch.from_numpy(gains[order].astype(np.float32))
        weights = self._initial(x.shape[1], draw)
        adam = torch.optim.Adam([w for layer in weights for w in layer], lr=self.learning_rate)
        objective = None if validation is None else stopping_value(validation, self.measure, self.gains)
        best, self.best_epoch_ = -np.inf, 0
        self.losses_, self.values_ = [], []
        for epoch in range(1, self.epochs + 1):
            total = 0.0
            for pieces in batches(examples.offsets, self.batch_size, draw):
                adam.zero_grad()
                size = sum(batch.queries for batch in pieces)
                for batch in pieces:  # one after another, so that the memory of one is enough
                    cost = self._cost(loss, weights, x, y, batch) * (batch.queries / size)
                    cost.backward()  # type: ignore[no-untyped-call]
                    total += cost.item() * size
                adam.step()
            self.losses_.append(total / np.count_nonzero(examples.lengths))
            if not np.isfinite(total):
                raise InputError(f"the loss is not finite in epoch {epoch}", remedy="use a smaller learning_rate")
            if objective is None or validation is None:
                continue
            self.values_.append(objective(self._scores(_plain(weights), validation.features)))
            if self.values_[-1] > best:
                best, self.best_epoch_, self.layers_ = self.values_[-1], epoch, _plain(weights)
            elif epoch - self.best_epoch_ >= self.patience:
                break
        if objective is None:
            self.best_epoch_, self.layers_ = self.epochs, _plain(weights)

    def _initial(self, features: int, draw: np.random.Generator) -> list[tuple[Tensor, Tensor]]:
        """Zeros if there is one layer, whose optimum is found from anywhere; else He's, the last layer smaller."""
        import torch

        sizes = [features, *self._hidden(), self._outputs.width]
        layers = []
        for n, (before, after) in enumerate(pairwise(sizes), start=1):
            scale = 0.0 if len(sizes) == 2 else np.sqrt((2.0 if n < len(sizes) - 1 else 0.1) / max(1, before))
            weight = (draw.standard_normal((after, before)) * scale).astype(np.float32)
            layers.append((torch.from_numpy(weight).requires_grad_(), torch.zeros(after, requires_grad=True)))
        return layers

    def _cost(
        self, loss: Callable[..., Tensor], weights: list[tuple[Tensor, Tensor]], x: Tensor, y: Tensor, batch: Batch
    ) -> Tensor:
        """The mean loss of the queries of a batch, and the price of large weights."""
        import torch

        rows = torch.from_numpy(batch.rows)
        out, gains = x[rows], y[rows]
        for weight, bias in weights[:-1]:
            out = torch.relu(out @ weight.T + bias)
        out = out @ weights[-1][0].T + weights[-1][1]
        if not self._outputs.several:
            out = out[:, 0]
        total = 0.5 * self.l2 * sum(((weight**2).sum() for weight, _ in weights), start=torch.zeros(()))
        for group in batch.groups:
            places = torch.from_numpy(group.places)
            lists = out.index_select(0, places.flatten()).view(*places.shape, *out.shape[1:])
            total = total + loss(lists, gains[places], group.mask) * (len(places) / batch.queries)
        return total

    def check_parameters(self) -> None:
        """Also refuse scores that the loss cannot give; the loss itself is left to :meth:`check_can_fit`."""
        super().check_parameters()
        check_scores(_name(self._loss()), self._kind())

    def check_can_fit(self) -> None:
        """Also refuse an unknown loss, and options that it does not have."""
        super().check_can_fit()
        from ranksift.learning.losses import check_loss

        check_loss(self._loss())

    # -- use, without PyTorch ---------------------------------------------------------------------------------

    def _score(self, features: NDArray[np.float64]) -> Floats:
        return self._scores(self.layers_, features)

    def _scores(self, layers: list[Layer], features: NDArray[np.float64]) -> Floats:
        out = features
        for weight, bias in layers[:-1]:
            out = np.maximum(out @ weight.T + bias, 0.0)
        return self._outputs.score(out @ layers[-1][0].T + layers[-1][1])

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        state = {f"{part}{n}": w for n, layer in enumerate(self.layers_) for part, w in zip("wb", layer, strict=True)}
        return {**state, "levels": self._outputs.levels}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._outputs = Outputs(_name(self._loss()), state["levels"], self._kind())
        sizes = [len(self.feature_names_), *self._hidden(), self._outputs.width]
        self.layers_ = [(state[f"w{n}"], state[f"b{n}"]) for n in range(len(sizes) - 1)]
        found = [(weight.shape, bias.shape) for weight, bias in self.layers_]
        fit = found == [((after, before), (after,)) for before, after in pairwise(sizes)]
        if not fit or len(state) != 2 * len(found) + 1 or not self._outputs.fits:
            raise ValueError("layers are not those of its parameters")


def _name(loss: str) -> str:
    return parse_loss(loss)[0]


def _plain(weights: list[tuple[Tensor, Tensor]]) -> list[Layer]:
    return [(w.detach().numpy().astype(np.float64), b.detach().numpy().astype(np.float64)) for w, b in weights]


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread for PyTorch: the same sums in the same order, and the data is small."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(eq=False)
class LinearRanker(Network):
    """A weighted sum of the features, trained with any loss.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.2], [0.7]], [-1, 1, -1, 2], ["q", "q", "r", "r"])
    >>> model = LinearRanker("weighted_ordinal", gains={-1: -10}, epochs=500).fit(examples)
    >>> model.natural_cut_, (model.score(examples) >= model.natural_cut_).tolist()
    (10.0, [False, True, False, True])
    """

    loss: str = parameter("listnet", word(), _LOSS)
    scores: ScoreKind = parameter("own", choice(*get_args(ScoreKind)), _SCORES)

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """As for all networks, and γ if the loss has one and does not set it."""
        return {**super().natural_space(stopped), **space_of_gamma(self.loss)}

    def _loss(self) -> str:
        return self.loss

    def _kind(self) -> ScoreKind:
        return self.scores


@dataclass(eq=False)
class MLPRanker(Network):
    """A network of rectified linear units, trained with any loss.

    Examples
    --------
    >>> examples = Examples.from_arrays([[-1.0], [0.1], [1.0], [0.0]], [0, 1, 0, 1], ["q", "q", "r", "r"])
    >>> MLPRanker(seed=1).fit(examples).value(examples, "P@1")
    1.0
    """

    loss: str = parameter("listnet", word(), _LOSS)
    hidden: tuple[int, ...] = parameter((32, 16), _UNITS, "Units of the hidden layers.")
    scores: ScoreKind = parameter("own", choice(*get_args(ScoreKind)), _SCORES)

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """As for all networks, the hidden layers, and γ if the loss has one and does not set it."""
        return {**super().natural_space(stopped), "hidden": HIDDEN, **space_of_gamma(self.loss)}

    def _loss(self) -> str:
        return self.loss

    def _hidden(self) -> tuple[int, ...]:
        return tuple(map(int, self.hidden))

    def _kind(self) -> ScoreKind:
        return self.scores


@dataclass(eq=False)
class _OfAPaper(Network, abstract=True):
    """A loss with a name of its own; linear, unless hidden layers are asked for."""

    _: KW_ONLY
    hidden: tuple[int, ...] = parameter((), _UNITS, "Units of the hidden layers; ``()`` is a linear model.")

    def _hidden(self) -> tuple[int, ...]:
        return tuple(map(int, self.hidden))


@dataclass(eq=False)
class RankNet(_OfAPaper):
    """RankNet (Burges et al. 2005): a network that learns to put pairs of documents in order.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.2], [0.7]], [0, 1, -1, 2], ["q", "q", "r", "r"])
    >>> RankNet().fit(examples).value(examples, "P@1")
    1.0
    """

    pairs: Literal["mean", "sum"] = parameter(
        "mean",
        choice("mean", "sum"),
        "The mean over the pairs of a query, or their sum, by which queries with more pairs count more.",
    )
    _: KW_ONLY
    hidden: tuple[int, ...] = with_default(_OfAPaper, "hidden", (10,))

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """As for all networks, and the hidden layers if there are any."""
        return {**super().natural_space(stopped), **({"hidden": HIDDEN} if self.hidden else {})}

    def _loss(self) -> str:
        return f"ranknet(pairs={str(self.pairs)!r})"


@dataclass(eq=False)
class ListNet(_OfAPaper):
    """ListNet (Cao et al. 2007): a network that learns which document comes first.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.2], [0.7]], [0, 1, -1, 2], ["q", "q", "r", "r"])
    >>> ListNet().fit(examples).value(examples, "P@1")
    1.0
    """

    k: int = parameter(
        1,
        integer(1),
        "Ranks whose order counts. Use more than one only for short lists, because the number of sets of documents "
        "grows.",
    )

    def _loss(self) -> str:
        return f"listnet(k={self.k})"


@dataclass(eq=False)
class TopKListMLE(_OfAPaper):
    """Top-k ListMLE (Xia et al. 2009): a network that maximises the likelihood of the order of the first k documents.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.2], [0.7]], [0, 1, -1, 2], ["q", "q", "r", "r"])
    >>> TopKListMLE(k=1).fit(examples).value(examples, "P@1")
    1.0
    """

    k: int = parameter(10, TOP, "Ranks that count. Equal labels are put in a random order.")

    def _loss(self) -> str:
        return f"listmle(k={self.k})"

    def _targets(self, examples: Examples) -> Floats:
        return topk_truth(examples, self.k, self.gains, self.seed)


@dataclass(eq=False)
class FocusedNet(_OfAPaper):
    """FocusedNet (Niu et al. 2012): ListNet on the top k, RankNet between them and the rest.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.2], [0.7]], [0, 1, -1, 2], ["q", "q", "r", "r"])
    >>> FocusedNet(k=1).fit(examples).value(examples, "P@1")
    1.0
    """

    beta: float = parameter(0.5, SHARE, "β, the weight of ListNet; RankNet has 1 − β.")
    k: int = parameter(10, TOP, "Documents in the top. Equal labels are put in a random order.")
    orders: Literal["all", "first"] = parameter(
        "all", choice("all", "first"), "ListNet over all orders of the top, or only over the first document."
    )

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """As for all networks, and β."""
        return {**super().natural_space(stopped), "beta": BETAS}

    def _loss(self) -> str:
        return f"focused(k={self.k}, beta={float(self.beta)!r}, orders={str(self.orders)!r})"

    def _targets(self, examples: Examples) -> Floats:
        return Focus.on(examples, self.k, self.beta, self.gains, self.seed).truth
