"""Rankers made of trees, grown by LightGBM."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self, cast, get_args, overload

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.calibration import Platt
from ranksift.cutoffs.threshold import MEASURE, one_measure
from ranksift.errors import InputError
from ranksift.learning.cross_fitting import CrossFitted
from ranksift.learning.lambdas import Lambdas, PairLoss, Swaps, Target, has_target, target_of, worth_of_showing
from ranksift.learning.libraries import require
from ranksift.learning.objective import stopping_value
from ranksift.learning.outputs import MOST_POISSON, Outputs, ScoreKind, check_scores, expected_share, log_odds
from ranksift.learning.ranker import Ranker
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.tree_text import check_trees, trees_alone
from ranksift.measures.names import MeasureLike
from ranksift.parameters import choice, flag, integer, number, parameter, with_default

#: Gradient and curvature of a loss at some outputs: both documents × outputs.
Loss = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]

TreeLoss = Literal["bce", "mse", "ordinal", "weighted_ordinal", "lambdarank", "lambdarank_bce"]

TREES = "trees.txt"

# What is nearer to 0 is 0 to LightGBM, which has it in 32 bits.
_TINY = 1.1e-35

# Steps of a feature between which trees can split. Lists are fewer than documents: their means need fewer.
_BINS, _BINS_OF_LISTS = 255, 63

# Documents whose features are put together at once, and features of lists that LightGBM is given at once.
_DOCUMENTS, _COLUMNS = 1 << 12, 8

# What LightGBM takes.
_MOST_LEAVES, _MOST_DOCUMENTS = 1 << 17, (1 << 31) - 1

# From a model's seed to that of the next one, far from seeds that users take one after another.
_NEXT_SEED = 1_000_003


# A model whose scores say nothing of held-out documents keeps its order.
_LEAST_SLOPE = 1e-6

# Of a Poisson regression: by how much the curvature is overstated, as LightGBM does it (e to the power of 0.7), so that
# a first step is not too long.
_POISSON_CAUTION = float(np.exp(0.7))

_DEPTH = "Pairs count if at least one of their documents is among this many first ones."


@dataclass(eq=False)
class TreeModel(Ranker, abstract=True):
    """The base class of tree models. Missing values are used directly, and features need no scaling.

    With a validation set, growing stops when ``measure`` (or a steadier loss: ``stop_by``) has not improved for
    ``patience`` trees, and the model is that of the best number of trees.

    Attributes
    ----------
    trees_
        The number of trees per output, over all models.
    """

    natural_scaling = "none"
    takes_missing = True
    needs = ("lightgbm",)

    _: KW_ONLY
    trees: int = parameter(300, integer(1), "The largest number of trees.")
    leaves: int = parameter(15, integer(2, _MOST_LEAVES), "The largest number of leaves of a tree.")
    learning_rate: float = parameter(0.05, number(above=0), "The learning rate: how much of each tree is added.")
    min_documents: int = parameter(20, integer(1, _MOST_DOCUMENTS), "The smallest number of documents in a leaf.")
    l2: float = parameter(1.0, number(least=0), "The L2 penalty on the values of leaves.")
    feature_share: float = parameter(
        0.7, number(above=0, most=1), "The share of the features that are drawn for each tree."
    )
    document_share: float = parameter(
        0.8, number(above=0, most=1), "The share of the documents that are drawn for each tree."
    )
    patience: int = parameter(50, integer(1), "Growing stops after this many trees without a better value.")
    models: int = parameter(
        1,
        integer(1),
        "The number of models that are grown with different seeds and averaged: more stable, and that many times "
        "slower.",
    )
    context: bool = parameter(
        False,
        flag(),
        """The trees also see the list of a document: its length, and the mean of each feature over it. A
        model can then distinguish a document that stands alone from one of many.""",
    )
    num_threads: int = parameter(1, integer(1), "Threads of LightGBM. More than one helps only on large data.")

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The size of trees, the learning rate, and the number of trees if there is no early stopping.

        Larger trees and larger steps overfit a thousand queries.
        """
        trees = {} if stopped else {"trees": (30, 1000, "log")}
        return {
            "leaves": (4, 32, "log"),
            "min_documents": (5, 200, "log"),
            "l2": (0.01, 100.0, "log"),
            "learning_rate": (0.02, 0.1, "log"),
            "feature_share": (0.2, 1.0),
            "document_share": (0.4, 1.0),
            **trees,
        }

    # -- growing ------------------------------------------------------------------------------------------------

    def _grow(
        self,
        examples: Examples,
        validation: Examples | None,
        objective: str | Loss,
        targets: Floats,
        start: Floats,
        weight: Floats | None = None,
        **options: Any,
    ) -> None:
        """Let LightGBM fit trees to a loss of its own or of ours, from constant outputs."""
        import lightgbm

        self._start = start
        if not _varies(examples.features):  # LightGBM refuses
            self._plant([""] * self.models)
            return
        if int(self.document_share * len(examples)) < 1:
            what = f"document_share={self.document_share} of {len(examples)} documents is less than one"
            raise InputError(what, remedy="use a larger share")
        lightgbm.Sequence.register(InContext)  # so that validation documents are taken slice by slice
        parameters = {
            "objective": objective if isinstance(objective, str) else _ours(objective),
            "num_class": len(start),
            "metric": "None",
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_documents,
            "lambda_l2": self.l2,
            "feature_fraction": self.feature_share,
            "bagging_fraction": self.document_share,
            "bagging_freq": 1,
            "num_threads": self._threads,
            "deterministic": True,
            "force_row_wise": True,  # the same trees, and on small data a little faster than by columns
            "feature_pre_filter": False,
            "verbosity": -1,
            **options,
        }
        value = None if validation is None else self._value_on(validation)
        texts = []
        for m in range(self.models):
            parameters["seed"] = (int(self.seed) + m * _NEXT_SEED) % 2**31
            data = _binned(
                examples.features,
                parameters,
                label=targets,
                group=examples.lengths[examples.lengths > 0],
                weight=weight,
                init_score=np.repeat(start, len(examples)) if start.any() else None,
            )
            stopping: dict[str, Any] = {}
            if validation is not None and value is not None:
                known = lightgbm.Dataset(validation.features, np.zeros(len(validation)), reference=data)
                stopping = {
                    "valid_sets": [known],
                    "feval": lambda outputs, _: ("value", value(_columns(outputs, len(start)) + start), True),
                    "callbacks": [lightgbm.early_stopping(int(self.patience), verbose=False)],
                }
            grown = lightgbm.train(parameters, data, self.trees, **stopping)
            texts.append(grown.model_to_string(num_iteration=-1 if validation is None else grown.best_iteration))
        self._plant(texts)

    def _plant(self, texts: Sequence[str]) -> None:
        """Take trees as they are saved, so that a loaded model is the same model."""
        require(type(self).__name__, "lightgbm")
        import lightgbm

        self._texts = tuple(texts)
        self._boosters = [lightgbm.Booster(model_str=trees_alone(text)) for text in texts if text]
        self.trees_ = sum(int(booster.current_iteration()) for booster in self._boosters)

    def _value_on(self, validation: Examples) -> Callable[[NDArray[np.float64]], float]:
        """What early stopping goes by, of the outputs for validation documents; the higher the better."""
        value = stopping_value(validation, self.measure, self.gains)
        return lambda outputs: value(self._of_outputs(outputs))

    def _gain(self, examples: Examples) -> Floats:
        return Gains.of(self.gains)(examples.labels)

    @property
    def _threads(self) -> int:
        """No more than there are processors: of very many, the system's library ends the program."""
        return min(self.num_threads, os.cpu_count() or 1)

    # -- use ----------------------------------------------------------------------------------------------------

    def _prepared(self, examples: Examples) -> Examples:
        ready = super()._prepared(examples)
        return in_context(ready) if self.context else ready

    def outputs(self, examples: Examples) -> NDArray[np.float64]:
        """The sums of the trees: documents × outputs, in the order of the examples."""
        return self._outputs_of(self._prepared(examples).features)

    def _score(self, features: NDArray[np.float64]) -> Floats:
        return self._of_outputs(self._outputs_of(features))

    def _outputs_of(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self._boosters or not len(features):
            return np.tile(self._start, (len(features), 1))
        out = np.zeros((len(features), len(self._start)))
        for at in range(0, len(features), _DOCUMENTS):
            some = features[at : at + _DOCUMENTS]
            for booster in self._boosters:
                found = booster.predict(some, raw_score=True, num_threads=self._threads)
                out[at : at + _DOCUMENTS] += _columns(found, len(self._start))
        return out / len(self._texts) + self._start  # one without trees says nothing but the start

    def _of_outputs(self, outputs: NDArray[np.float64]) -> Floats:
        """Scores of documents, from documents × outputs."""
        return np.asarray(outputs[:, 0])

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        return {**dict(zip(_files(len(self._texts)), self._texts, strict=True)), "start": self._start}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._start = state["start"]
        if self._start.dtype != np.float64 or self._start.ndim != 1 or not np.isfinite(self._start).all():
            raise ValueError("start is not a number for each output")
        there = {name for name in state if name.startswith("trees")}
        members = len(there) // self.models if isinstance(self, CrossFitted) else 1
        if len(there) != max(members, 1) * self.models or set(_files(len(there))) != there:
            raise ValueError(f"models={self.models} does not fit its files")
        texts = [state[name] for name in _files(len(there))]
        if members == 1 and len({bool(text) for text in texts}) > 1:
            raise ValueError("one of its models has no trees")
        width = len(self.feature_names_)
        for text in filter(None, texts):
            check_trees(text, 2 * width + 1 if self.context else width, len(self._start))
        self._plant(texts)


def _files(count: int) -> list[str]:
    """The numbers of trees of this many models."""
    return [TREES, *(f"trees-{number}.txt" for number in range(2, count + 1))][:count]


@dataclass(frozen=True, eq=False)
class InContext:
    """Documents × features: those of each document, then those of its list, which are kept once per list.

    It stands in for a matrix, which would be most of the memory of a fit. A slice of it is a matrix; rows that are
    chosen by their numbers are another InContext.

    Attributes
    ----------
    own
        Documents × their own features.
    lists
        Lists × their features.
    query
        The list of each document.

    Examples
    --------
    >>> seen = InContext(np.array([[1.0], [3.0], [7.0]]), np.array([[0.7, 2.0], [0.0, 7.0]]), np.array([0, 0, 1]))
    >>> seen.shape, seen[1:].tolist()
    ((3, 3), [[3.0, 0.7, 2.0], [7.0, 0.0, 7.0]])
    >>> seen[np.array([0, 2])][:].tolist()
    [[1.0, 0.7, 2.0], [7.0, 0.0, 7.0]]
    """

    own: NDArray[np.float64]
    lists: NDArray[np.float64]
    query: Ints

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and features."""
        return len(self.own), self.own.shape[1] + self.lists.shape[1]

    def __len__(self) -> int:
        return len(self.own)

    @overload
    def __getitem__(self, rows: slice) -> NDArray[np.float64]: ...
    @overload
    def __getitem__(self, rows: Ints) -> InContext: ...
    def __getitem__(self, rows: slice | Ints) -> NDArray[np.float64] | InContext:
        if isinstance(rows, slice):
            return np.hstack([self.own[rows], self.lists[self.query[rows]]])
        return replace(self, own=self.own[rows], query=self.query[rows])


def in_context(examples: Examples) -> Examples:
    """The same documents with their list as features: the logarithm of its length, and the mean of each over it.

    The features are an :class:`InContext`.

    >>> seen = in_context(Examples.from_arrays([[1.0], [3.0], [np.nan]], None, ["q", "q", "r"]))
    >>> seen.features[:].round(2).tolist()
    [[1.0, 0.69, 2.0], [3.0, 0.69, 2.0], [nan, 0.0, nan]]
    >>> seen.feature_names
    ('1', 'length of the list', 'mean of 1')
    """
    x, (count, width) = examples.features, (len(examples.query_ids), examples.features.shape[1])
    lists = np.full((count, width + 1), np.nan)
    lists[:, 0] = np.log(np.maximum(examples.lengths, 1))
    for column in range(width):  # one by one: copies of all of them would be most of the memory
        there = ~np.isnan(x[:, column])
        values = np.where(there, x[:, column], 0.0)
        counted = ragged.counts(there, examples.query, count)
        some = counted > 0
        found = ragged.sums(values, examples.query, count)[some] / counted[some]
        # To 24 bits of the largest value: the last bits of a sum depend on the order of documents, and a sum that
        # cancels out has no others.
        largest = np.zeros(count)
        np.maximum.at(largest, examples.query, np.abs(values))
        step = np.ldexp(1.0, np.maximum(np.frexp(largest[some])[1] - 24, -1022))
        lists[some, column + 1] = np.rint(found / step) * step
    own = examples.feature_names
    return replace(
        examples,
        features=cast("NDArray[np.float64]", InContext(x, lists, examples.query)),
        feature_names=(*own, "length of the list", *(f"mean of {name}" for name in own)),
    )


def with_context(examples: Examples) -> Examples:
    """As :func:`in_context`, with features that are one matrix, for other libraries.

    >>> with_context(Examples.from_arrays([[1.0], [3.0]], None, ["q", "q"])).features.round(2).tolist()
    [[1.0, 0.69, 2.0], [3.0, 0.69, 2.0]]
    """
    seen = in_context(examples)
    return seen.with_features(seen.features[:])


def _binned(features: NDArray[np.float64] | InContext, parameters: dict[str, Any], **of_documents: Any) -> Any:
    """LightGBM's data. Features of lists come a few at a time: it copies the values that it finds their steps by."""
    import lightgbm

    if not isinstance(features, InContext):
        return lightgbm.Dataset(features, params=parameters, **of_documents)
    parameters = {**parameters, "objective": "none"}  # here it takes names only, and a loss of ours has none
    data = lightgbm.Dataset(features.own, params=parameters, **of_documents).construct()
    own, width = features.own.shape[1], features.lists.shape[1]
    for first in range(0, width, _COLUMNS):
        columns = range(width)[first : first + _COLUMNS]
        some = lightgbm.Dataset(
            features.lists[:, first : first + _COLUMNS][features.query],
            feature_name=[f"Column_{own + column}" for column in columns],
            params={**parameters, "max_bin_by_feature": [_BINS_OF_LISTS if column else _BINS for column in columns]},
        )
        with warnings.catch_warnings():  # it warns that values are not kept, and of categories, which nobody has
            warnings.simplefilter("ignore")
            data.add_features_from(some.construct())
    return data


def _varies(features: NDArray[np.float64]) -> bool:
    """Whether there is a feature that is not the same everywhere; to LightGBM, tiny numbers are 0."""
    first = features[:1]
    for at in range(0, len(features), _DOCUMENTS):  # the first ones tell, as a rule
        seen = features[at : at + _DOCUMENTS]
        both_tiny = (np.abs(seen) < _TINY) & (np.abs(first) < _TINY)
        if not ((seen == first) | both_tiny | (np.isnan(seen) & np.isnan(first))).all():
            return True
    return False


def _columns(outputs: Any, width: int) -> NDArray[np.float64]:
    return np.asarray(outputs, dtype=np.float64).reshape(-1, width)


def _ours(loss: Loss) -> Callable[..., tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """A loss as LightGBM calls it."""

    def objective(outputs: NDArray[np.float64], _: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        flat = outputs.ndim == 1
        gradient, curvature = loss(outputs[:, None] if flat else outputs)
        return (gradient[:, 0], curvature[:, 0]) if flat else (gradient, curvature)

    return objective


# -- methods -----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class LambdaMART(TreeModel):
    """LambdaMART (Burges 2010; Karmaker and Feng 2022): boosted trees fitted to what swaps of two documents do to nDCG.

    If some gains are negative, a pair is weighted by its change of nDCG_f. Scores order the documents of a query, but
    are not comparable across queries.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(200, 2))
    >>> examples = Examples.from_arrays(x, np.abs(x[:, 0]).round(), np.repeat(np.arange(20), 10))
    >>> LambdaMART(trees=50).fit(examples).value(examples, "nDCG@5") > 0.95
    True
    """

    depth: int = parameter(30, integer(1), _DEPTH)
    stop_by: Literal["loss", "measure"] = parameter(
        "loss",
        choice("loss", "measure"),
        """With a validation set: growing stops by the ``"loss"`` of its pairs
        (:class:`~ranksift.learning.lambdas.PairLoss`), or by the ``"measure"``. The loss is steadier. On some hundred
        queries the measure is often best after a few trees, by luck; on other queries, models that the loss stops have
        the same nDCG@10 or a little more. It is of the order of documents alone, and knows nothing of a cutoff.""",
    )
    draws: int = parameter(
        3,
        integer(0),
        """Rankings that are drawn for every tree, by chances that follow from the scores, to weigh swaps in:
        :class:`~ranksift.learning.lambdas.Swaps`. 0: the ranking by score, as the method was published.""",
    )

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        gain = self._gain(examples)
        swaps = Swaps(examples.offsets, gain, depth=int(self.depth), draws=self.draws, seed=self.seed)
        self._grow(examples, validation, lambda s: _as_columns(swaps(s[:, 0])), gain, np.zeros(1))

    def _value_on(self, validation: Examples) -> Callable[[NDArray[np.float64]], float]:
        if self.stop_by == "measure":
            return super()._value_on(validation)
        loss = PairLoss(validation.offsets, self._gain(validation))
        return lambda outputs: -loss(outputs[:, 0])


@dataclass(eq=False)
class RandomForests(TreeModel):
    """Random forests (Breiman 2001): the mean of many trees, each grown on different documents, that estimate the gain.

    Trees are large, and see some documents (drawn without replacement) and some features each. There is no early
    stopping.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(200, 2))
    >>> examples = Examples.from_arrays(x, np.abs(x[:, 0]).round(), np.repeat(np.arange(20), 10))
    >>> RandomForests(trees=50).fit(examples).value(examples, "nDCG@5") > 0.95
    True
    """

    _: KW_ONLY
    leaves: int = with_default(TreeModel, "leaves", 127)
    learning_rate: float = parameter(0.05, number(above=0), "Not used here: each tree is added in full.")
    min_documents: int = with_default(TreeModel, "min_documents", 5)
    l2: float = with_default(TreeModel, "l2", 0.0)
    feature_share: float = with_default(TreeModel, "feature_share", 0.5)
    document_share: float = parameter(
        0.632,
        number(above=0, below=1),
        "The share of the documents that is drawn for each tree; with all of them, trees would be equal.",
    )
    patience: int = parameter(50, integer(1), "Not used here: nothing is stopped early.")

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The size of trees, and the shares of the data that each is grown from. More trees are better."""
        return {
            "leaves": (15, 500, "log"),
            "min_documents": (1, 50, "log"),
            "feature_share": (0.1, 1.0),
            "document_share": (0.3, 0.95),
        }

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        self._grow(examples, None, "regression", self._gain(examples), np.zeros(1), boosting="rf")


@dataclass(eq=False)
class BoostedTrees(TreeModel):
    r"""Boosted trees with one of the losses of Carmel et al. 2022.

    :mod:`~ranksift.learning.losses` has the formulas. An ordinal loss has one output per document for each of the m − 1
    questions whether the gain is higher than :math:`g_i`, each with its own trees. So the weights of
    ``weighted_ordinal`` hardly change the probabilities; only the score differs. These, ``bce`` and ``mse`` are means
    over the documents of a query, so that all queries count the same (but see ``length_weight``). ``lambdarank`` is a
    sum over pairs with at least one document among the first 30 (:class:`~ranksift.learning.lambdas.Swaps`); queries
    count by what swaps do to nDCG_f.

    Attributes
    ----------
    natural_cut_
        The score that corresponds to an expected gain of 0, if the loss determines it.
    levels_
        For an ordinal loss, the gains in ascending order; output i asks for a gain above the i-th.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(400, 2))
    >>> labels = np.where(np.abs(x[:, 0]) > 1, 1, -1)
    >>> examples = Examples.from_arrays(x, labels, np.repeat(np.arange(40), 10))
    >>> model = BoostedTrees("mse", gains={-1: -10}).fit(examples)
    >>> bool(np.array_equal(model.score(examples) > model.natural_cut_, labels > 0))
    True
    """

    loss: TreeLoss = parameter(
        "ordinal",
        choice(*get_args(TreeLoss)),
        """The loss that the trees minimise. ``"bce"`` asks whether a gain is positive, and does not distinguish higher
        grades from lower ones.""",
    )
    gamma: float = parameter(1.0, number(least=0), 'γ, the weight of BCE in ``"lambdarank_bce"``.')
    scores: ScoreKind = parameter(
        "own",
        choice(*get_args(ScoreKind)),
        """What a score is: ``"own"``, as Carmel et al. 2022 have it, or the ``"expected_gain"``, for losses that
        estimate it.""",
    )
    stop_by: Literal["measure", "loss"] = parameter(
        "measure",
        choice("measure", "loss"),
        """With a validation set: growing stops by the ``"measure"``, or by the ``"loss"`` (not of lambdarank), which is
        steadier and asks for good probabilities rather than for a good order.""",
    )
    length_weight: float = parameter(
        1.0,
        number(least=0, most=1),
        """λ: a document of a list of n counts 1 / n^λ, except in pairs. 1: all queries count the same, as in the paper.
        0: all documents do, and a long list has more of them.""",
    )

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """As for all boosted trees, and γ if the loss has it."""
        gamma = {"gamma": (0.01, 10.0, "log")} if self.loss == "lambdarank_bce" else {}
        return {**super().natural_space(stopped), **gamma}

    def check_parameters(self) -> None:
        """Also refuse what the loss does not have."""
        super().check_parameters()
        if self.stop_by == "loss" and self.loss.startswith("lambda"):
            raise InputError(f"stop_by={self.stop_by!r} with loss={self.loss!r}", remedy="use stop_by='measure'")
        check_scores(self.loss, self.scores)

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        gain = self._gain(examples)
        self._outputs = Outputs.of(self.loss, gain, self.scores)
        if not self._outputs.width:  # all gains are the same: ask for one that nobody has
            self._outputs = replace(self._outputs, levels=gain[0] + np.arange(2.0))
        weight = self._weights(examples)
        weight /= weight.mean()  # on average a document counts 1, as LightGBM's parameters expect
        loss, start = self._loss_of(examples, gain, weight)
        self._grow(examples, validation, loss, gain, start)

    def _weights(self, examples: Examples) -> Floats:
        """What documents count, by the length of their list."""
        return (1.0 / np.maximum(examples.lengths, 1) ** self.length_weight)[examples.query]

    def _loss_of(self, examples: Examples, gain: Floats, weight: Floats) -> tuple[Loss, Floats]:
        """The loss, and the constant outputs to start from."""
        name, w = self._outputs.loss, weight[:, None]
        if name == "mse":
            start = np.array([np.average(gain, weights=weight)])
            return (lambda s: (w * (s - gain[:, None]), np.broadcast_to(w, s.shape))), start
        if self._outputs.ordinal:
            levels = self._outputs.levels
            above = gain[:, None] > levels[:-1]
            counts = w * (np.diff(levels) if name == "weighted_ordinal" else np.ones(len(levels) - 1))
            return _bce(above, counts), np.array([log_odds(column, weight) for column in above.T])
        worth = _bce(gain[:, None] > 0, w)
        if name == "bce":
            return worth, np.array([log_odds(gain > 0, weight)])
        swaps = Swaps(examples.offsets, gain)
        size = float(examples.lengths.mean()) / np.log(2.0)  # the paper's form has the logarithm of base 2
        gamma = self.gamma if name == "lambdarank_bce" else 0.0

        def together(s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            pairs, points = _as_columns(swaps(s[:, 0])), worth(s)
            return size * pairs[0] + gamma * points[0], size * pairs[1] + gamma * points[1]

        return together, np.zeros(1)

    def _value_on(self, validation: Examples) -> Callable[[NDArray[np.float64]], float]:
        if self.stop_by == "measure":
            return super()._value_on(validation)
        gain = self._gain(validation)
        weight = self._weights(validation)
        if self._outputs.loss == "mse":
            return lambda outputs: -float(weight @ (outputs[:, 0] - gain) ** 2)
        levels = self._outputs.levels[:-1] if self._outputs.ordinal else np.zeros(1)
        side = np.where(gain[:, None] > levels, -1.0, 1.0)
        return lambda outputs: -float((weight @ np.logaddexp(0.0, side * outputs)).sum())

    @property
    def natural_cut_(self) -> float | None:
        """The score that corresponds to an expected gain of 0, if the loss determines it."""
        return self._outputs.natural_cut

    @property
    def is_ordinal(self) -> bool:
        """Whether each output is about one of ``levels_``."""
        return self._outputs.ordinal

    @property
    def levels_(self) -> Floats:
        """The gains that an ordinal loss distinguishes."""
        return self._outputs.levels

    def _of_outputs(self, outputs: NDArray[np.float64]) -> Floats:
        return self._outputs.score(outputs)

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        return {**super()._state(), "levels": self._outputs.levels}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        self._outputs = Outputs(self.loss, state["levels"], self.scores)


def _bce(happened: NDArray[np.bool_], weight: NDArray[np.float64]) -> Loss:
    from scipy.special import expit

    def loss(s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        p = expit(s)
        return weight * (p - happened), weight * p * (1.0 - p)

    return loss


def _as_columns(lambdas: Lambdas) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return lambdas.gradient[:, None], lambdas.curvature[:, None]


@dataclass(eq=False)
class LambdaMARTf(TreeModel, CrossFitted):
    r"""LambdaMART-f: boosted trees that rank and filter together, fitted to changes of nDCG_f.

    Showing a document adds :math:`\Delta_d = g_d / (I_{k,f} - W_{k,f})` to nDCG_f, times the discount of its rank. Of
    all lists, that of highest expected nDCG_f shows the documents of positive :math:`E[\Delta_d]`, by falling
    :math:`E[\Delta_d]`. The trees have two outputs. One separates good documents from forbidden ones, weighted by what
    is at stake:

    .. math:: \sum_d |\Delta_d| \log\big(1 + e^{-\operatorname{sign}(\Delta_d)\, s_d}\big), \quad \text{lowest at }
        s = \log \frac{E[\Delta^+]}{E[\Delta^-]}

    The other one, a Poisson regression, estimates the possible gain, :math:`p = E[\Delta^+]`. So

    .. math:: E[\Delta] = p\, (1 - e^{-s})

    which is the score of a document: what showing it at rank 1 is expected to add to nDCG_f. It is above 0 exactly
    where s is, for every length of lists, every share of forbidden documents and all gains: the first output alone
    decides what is shown, the second one only the order. (Pairs of documents, as LambdaMART has them, would move the
    cut with the length of the list.)

    The outputs of trees are too confident. Therefore s is calibrated (Platt, with the same weights) on documents that
    the trees were not fitted to: the validation set, or else the training queries, each held out in turn
    (:mod:`~ranksift.learning.cross_fitting`). The same queries decide whether the cutoff is better than showing
    nothing, showing everything, or tuning a threshold: :mod:`ranksift.cutoffs.choice`.

    Attributes
    ----------
    cutoff_
        At 0, unless held-out queries decide otherwise, until another is fitted.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(400, 2))
    >>> labels = np.where(np.abs(x[:, 0]) > 1, 1, -1)
    >>> examples = Examples.from_arrays(x, labels, np.repeat(np.arange(40), 10))
    >>> model = LambdaMARTf(gains={-1: -10}).fit(examples)
    >>> bool(np.mean((model.score(examples) > 0) == (labels > 0)) > 0.95)
    True
    """

    #: What models of earlier versions had, which say nothing of how their trees are used.
    former_parameters = ("pairs", "stop", "depth")

    stop_by: Literal["loss", "measure"] = parameter(
        "loss",
        choice("loss", "measure"),
        """Growing stops by the ``"loss"`` of held-out documents, or by the ``"measure"`` of their lists as they are
        cut. The loss is steadier: a few lists decide where the measure is best.""",
    )
    _: KW_ONLY
    measure: MeasureLike = parameter(
        "nDCG_f@10",
        MEASURE,
        """``"nDCG_f@k"``: its k is that of nDCG_f here. ``"DCG@k"``: changes of DCG, that is, without its normaliser.
        ``"nDCG@k"`` is taken as nDCG_f. Any other measure is for ``stop_by="measure"`` alone: it stops growing, and the
        changes are those of nDCG_f of the whole list.""",
    )
    leaves: int = with_default(TreeModel, "leaves", 7)
    context: bool = with_default(TreeModel, "context", True)

    def check_parameters(self) -> None:
        """Also refuse a measure whose changes cannot be learned from."""
        super().check_parameters()
        self._target()

    def _begin(self, examples: Examples, validation: Examples | None) -> None:
        # On average a document counts 1, as LightGBM's parameters expect.
        self._unit = float(np.abs(self._changes(examples)).mean()) or 1.0

    def _learn(self, examples: Examples, validation: Examples | None) -> Self:
        change = self._changes(examples)
        stake, prize, good = np.abs(change) / self._unit, np.maximum(change, 0.0) / self._unit, change > 0
        # What changes nothing has no weight; half a document more of either kind keeps both outputs finite.
        start = np.array([log_odds(good, stake), np.log(prize.mean() + 0.5 / len(prize))])
        classify = _bce(good[:, None], stake[:, None])

        def loss(s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            gradient, curvature = classify(s[:, :1])
            expected = np.exp(np.minimum(s[:, 1:], MOST_POISSON))
            return (
                np.hstack([gradient, expected - prize[:, None]]),
                np.hstack([curvature, expected * _POISSON_CAUTION]),
            )

        self._grow(examples, validation, loss, change, start)
        return self

    def _join(self, members: Sequence[Self]) -> None:
        self._start = np.mean([member._start for member in members], axis=0)
        self._plant([text for member in members for text in member._texts])

    def _raw(self, examples: Examples) -> NDArray[np.float64]:
        return self._outputs_of(examples.features)

    def _calibrate(self, raw: NDArray[np.float64], known: Examples, *, unseen: bool) -> None:
        change, self._calibration = self._changes(known), np.array([1.0, 0.0])
        if unseen and (change > 0).any() and (change < 0).any():
            found = Platt().fit(raw[:, 0], change > 0, np.abs(change))
            self._calibration = np.array([max(found.slope_, _LEAST_SLOPE), found.intercept_])

    def _score_from(self, raw: NDArray[np.float64], examples: Examples) -> Floats:
        return self._of_outputs(raw)

    def _changes(self, examples: Examples) -> Floats:
        """What it does to the measure to show each document, at rank 1."""
        k, normalised = self._target()
        return worth_of_showing(examples.offsets, self._gain(examples), k, normalised=normalised)

    def _target(self) -> Target:
        """Whose changes the loss is made of; a measure that has none is refused."""
        if self.stop_by == "measure" and not has_target(self.measure):
            return Target(None, normalised=True)
        return target_of(self.measure, ", or stop_by='measure' to stop by it")

    def _value_on(self, validation: Examples) -> Callable[[NDArray[np.float64]], float]:
        measure, change = one_measure(self.measure), self._changes(validation) / self._unit
        if self.stop_by == "loss":
            stake, prize = np.abs(change), np.maximum(change, 0.0)

            def value(outputs: NDArray[np.float64]) -> float:
                s, p = outputs.T
                return -float(stake @ np.logaddexp(0.0, -np.sign(change) * s) + (np.exp(p) - prize * p).sum())

            return value
        sign = 1.0 if measure.higher_is_better else -1.0

        def of_lists(outputs: NDArray[np.float64]) -> float:
            scores = expected_share(outputs[:, 0], outputs[:, 1])
            lists = Lists.from_arrays(scores, validation.labels, validation.query, gains=self.gains)
            return sign * float(measure.aggregate(*measure.per_query(lists.judged_by(lists.score >= 0.0))))

        return of_lists

    def _of_outputs(self, outputs: NDArray[np.float64]) -> Floats:
        if outputs.shape[1] == 1:  # a model of an earlier version
            return np.asarray(outputs[:, 0])
        slope, intercept = self._calibration
        return self._unit * expected_share(slope * outputs[:, 0] + intercept, outputs[:, 1])

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        return {**super()._state(), "calibration": self._calibration, "unit": np.array([self._unit])}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        if len(self._start) == 1:
            self._calibration, self._unit = np.array([1.0, 0.0]), 1.0
            return
        self._calibration, self._unit = state["calibration"], float(state["unit"][0])
        numbers = np.array([*self._calibration, self._unit], dtype=np.float64)
        if numbers.shape != (3,) or not np.isfinite(numbers).all() or min(numbers[0], numbers[2]) <= 0:
            raise ValueError("calibration is not a slope above 0 and an intercept, or unit is not above 0")
