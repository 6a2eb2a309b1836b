r"""The optimal rule: rank by what a document is expected to add to the measure, and show none that takes from it.

DCG adds up gains at falling, positive discounts. So of all ordered sublists, that of highest expected DCG ranks by the
expected gain E[g] and leaves out what is below 0. nDCG_f divides by I − W, which depends on the labels of the whole
query; the same argument holds for each document's expected share

.. math:: E\left[\frac{g_d}{I_{k,f} - W_{k,f}}\right]

The two cut at very different places. Of a document that stands alone a share is 1 if it is good and −1 if it is
forbidden, whatever the gains: it is worth showing if it is likelier to be good. Its expected gain at −10 and 2 is
positive only if it is five times as likely.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.calibration import METHODS, Calibrator
from ranksift.cutoffs.threshold import MEASURE
from ranksift.errors import InputError, RankSiftWarning
from ranksift.learning.batches import some_at_a_time
from ranksift.learning.cross_fitting import CrossFitted
from ranksift.learning.distillable import Distillable
from ranksift.learning.inner_models import as_one, one_by_one, restored, state_of
from ranksift.learning.judged_documents import JudgedDocuments
from ranksift.learning.lambdas import target_of
from ranksift.learning.outputs import speaking_of
from ranksift.learning.ranker import RANKERS, Ranker
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.text.ranker import TextRanker
from ranksift.learning.trees import BoostedTrees
from ranksift.measures.cumulative import discounted
from ranksift.measures.names import MeasureLike
from ranksift.parameters import Kind, choice, optional, parameter, word

#: The largest number of distinct pools; if there would be more, k is reduced.
MOST_POOLS = 4000

# Numbers that are kept at once.
_TOGETHER = 1 << 21

# The file of the calibration.
_CALIBRATION = "calibration.json"


def expected_shares(chances: NDArray[np.float64], gains: Floats, offsets: Ints, k: int | None = None) -> Floats:
    r"""What each document is expected to add to nDCG_f@k at rank 1: :math:`E[g / (I_{k,f} - W_{k,f})]`, exactly.

    Labels are taken as independent. I and W depend on the k best and the k worst of the query's labels. Their
    distribution is built up document by document, from the first to the last and back, so that each document is
    combined with the distribution of all others.

    Parameters
    ----------
    chances
        The probability of each label: documents × labels.
    gains
        The gain of each label.
    offsets
        Query i owns the documents ``offsets[i]`` to ``offsets[i + 1]``.
    k
        None: the whole list. A smaller k is used if there would be too many cases (:data:`MOST_POOLS`).

    Examples
    --------
    Alone, being good is worth 1 and being forbidden −1. With another good document, 0.41 and −0.83:

    >>> expected_shares(np.array([[0.4, 0.6]]), np.array([-10.0, 2.0]), np.array([0, 1]), k=3).round(2).tolist()
    [0.2]
    >>> two = np.array([[0.4, 0.6], [0.0, 1.0]])
    >>> expected_shares(two, np.array([-10.0, 2.0]), np.array([0, 2]), k=3).round(2).tolist()
    [0.03, 0.43]
    """
    some = np.flatnonzero(gains != 0)
    lengths = np.diff(offsets)
    out = np.zeros(len(chances))
    if not len(some) or not len(chances):
        return out
    pools = _pools(tuple(gains[some].tolist()), min(k or len(chances), int(lengths.max())))
    cells = len(pools.share)
    for places, mask in some_at_a_time(offsets, np.arange(len(lengths)), lambda size: cells * size, _TOGETHER):
        p = np.where(mask[..., None], chances[places][..., some], 0.0).transpose(1, 2, 0)  # place × label × list
        out[places[mask]] = _shares(p, gains[some], pools).T[mask]
    return out


def _shares(p: NDArray[np.float64], gain: Floats, pools: _Pools) -> NDArray[np.float64]:
    """Shares of the documents at each place (rows) of some lists (columns)."""
    stays = 1.0 - p.sum(axis=1)
    # What is to be expected of a pool after the documents from a place on.
    after = np.empty((len(p) + 1, len(pools.share), p.shape[2]))
    after[-1] = pools.share[:, None]
    for t in range(len(p) - 1, -1, -1):
        after[t] = stays[t] * after[t + 1]
        for c in range(len(gain)):
            after[t] += p[t, c] * after[t + 1][pools.next[:, c]]
    now = np.zeros((len(pools.share), p.shape[2]))  # the chance of each pool before a place
    now[0] = 1.0
    out = np.empty((len(p), p.shape[2]))
    for t in range(len(p)):
        then = stays[t] * now
        out[t] = 0.0
        for c in range(len(gain)):
            out[t] += gain[c] * p[t, c] * (now * after[t + 1][pools.next[:, c]]).sum(axis=0)
            then += p[t, c] * (pools.enter[c] @ now)
        now = then
    return out


class _Pools(NamedTuple):
    """Everything that is known about a pool by its k best and its k worst gains; the first has none."""

    share: Floats  # 1 / (I − W)
    next: Ints  # the pool that it becomes when a document of each gain is added
    enter: tuple[Any, ...]  # the same as sparse matrices, from where it came


@lru_cache(maxsize=32)
def _pools(gains: tuple[float, ...], k: int) -> _Pools:
    from scipy.sparse import csr_array

    good, bad = sorted((g for g in gains if g > 0), reverse=True), sorted(g for g in gains if g < 0)
    while k > 1 and comb(k + len(good), k) * comb(k + len(bad), k) > MOST_POOLS:
        k -= 1
    best = [c for n in range(k + 1) for c in combinations_with_replacement(range(len(good)), n)]
    worst = [c for n in range(k + 1) for c in combinations_with_replacement(range(len(bad)), n)]
    number = {pair: i for i, pair in enumerate((b, w) for b in best for w in worst)}
    rank = np.arange(1, k + 1)
    ideal = [discounted(np.array([good[c] for c in b]), rank[: len(b)]).sum() for b in best]
    lowest = [discounted(np.array([bad[c] for c in w]), rank[: len(w)]).sum() for w in worst]
    width = np.subtract.outer(np.array(ideal), np.array(lowest)).ravel()
    share = np.divide(1.0, width, out=np.zeros(len(width)), where=width > 0)
    following = np.empty((len(number), len(gains)), dtype=np.int64)
    for (b, w), i in number.items():
        for c, g in enumerate(gains):
            wider = tuple(sorted((*b, good.index(g)))[:k]) if g > 0 else b
            lower = tuple(sorted((*w, bad.index(g)))[:k]) if g < 0 else w
            following[i, c] = number[wider, lower]
    size, ones = len(number), np.ones(len(number))
    enter = tuple(csr_array((ones, (following[:, c], np.arange(size))), shape=(size, size)) for c in range(len(gains)))
    return _Pools(share, following, enter)


@dataclass(eq=False)
class ExpectedGainRanker(CrossFitted, Distillable):
    r"""The optimal rule on top of a model: rank by the expected share of nDCG_f, cut at 0.

    The model's scores become the probabilities of all gains, :math:`P(g \ge g_j)` of each on its own, by a calibration
    on documents that it was not fitted to: the validation set, or else the training queries, each held out in turn
    (:mod:`~ranksift.learning.cross_fitting`). (With fewer than five queries, they are calibrated on themselves.) A
    document's score is then :func:`expected_shares`, given the probabilities of its whole list; if ``measure`` is DCG,
    which is not normalised, it is the expected gain.

    Attributes
    ----------
    models_
        The fitted models; several if queries are held out in turn.
    cutoff_
        At 0, unless held-out queries decide otherwise, until another is fitted.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(400, 2))
    >>> labels = np.where(np.abs(x[:, 0]) + 0.3 * draw.normal(size=400) > 1, 1, -1)
    >>> examples = Examples.from_arrays(x, labels, np.repeat(np.arange(40), 10))
    >>> model = ExpectedGainRanker(gains={-1: -3}).fit(examples)
    >>> chances = model.chances(examples)
    >>> bool(np.allclose(chances.sum(axis=1), 1)), chances.shape
    (True, (400, 2))
    """

    natural_scaling = "none"
    takes_missing = True
    takes_unlabelled = True

    model: str = parameter(
        "BoostedTrees",
        word("a method's name"),
        """The name of a method. For trees and texts with an ordinal loss each output is calibrated; for any other
        model, its score.""",
    )
    options: Mapping[str, Any] | None = parameter(
        None,
        optional(Kind("a mapping such as {'trees': 100}", lambda value: isinstance(value, Mapping))),
        """Parameters of the method; where it is BoostedTrees, ``{"loss": "ordinal", "stop_by": "loss", "context": True,
        "leaves": 7, "length_weight": 0.5}`` unless others are given.""",
    )
    calibration: Literal["platt", "isotonic"] = parameter(
        "platt", choice("platt", "isotonic"), "How outputs are calibrated; Platt's method is logistic."
    )
    _: KW_ONLY
    measure: MeasureLike = parameter(
        "nDCG_f@10",
        MEASURE,
        """``"nDCG_f@k"`` or ``"DCG@k"``; ``"nDCG@k"`` is taken as nDCG_f. No other has a rule of this kind. What the
        model inside is stopped by is its own: ``options={"measure": "AP"}``.""",
    )

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The calibration, and the search space of the model."""
        self.check_parameters()
        inner = self._inner().natural_space(stopped).items()
        return {"calibration": ["platt", "isotonic"], **{f"options.{name}": values for name, values in inner}}

    def _begin(self, examples: Examples, validation: Examples | None) -> None:
        judged = examples if validation is None else validation
        self.gains_ = ragged.distinct(np.concatenate([self._gain(examples), self._gain(judged)]))

    def _learn(self, examples: Examples, validation: Examples | None) -> Self:
        with warnings.catch_warnings():
            # What it says of a cut of its own, which is not used, and of single folds.
            warnings.simplefilter("ignore", RankSiftWarning)
            model = self._inner().fit(examples, validation, checkpoints=self._training)
        self.models_: tuple[Ranker, ...] = (model,)
        return self

    def _train(self, examples: Examples, validation: Examples | None) -> JudgedDocuments | None:
        found = super()._train(examples, validation)
        if "texts" in self.models_[0].card_:
            self.card_["texts"] = self.models_[0].card_["texts"]
        return found

    def _join(self, members: Sequence[Self]) -> None:
        self.models_ = tuple(member.models_[0] for member in members)

    def _gain(self, examples: Examples) -> Floats:
        """The values of the documents that have a label."""
        return Gains.of(self.gains)(examples.labels[examples.judged])

    def check_parameters(self) -> None:
        """Refuse measures without a rule of this kind, and whatever the inner model refuses."""
        super().check_parameters()
        import ranksift.learning.methods  # noqa: F401 (every method can be the inner model, wherever it was imported)

        known = [name for name in RANKERS if name != type(self).__name__]
        if self.model not in known:
            raise InputError(f"model={self.model!r} is unknown", remedy=f"use one of: {', '.join(known)}")
        target_of(self.measure)
        has = RANKERS[self.model]().get_params()
        unknown = next((name for name in self.options or () if name not in has), None)
        if unknown is not None:
            raise InputError(f"{self.model} has no parameter {unknown!r}", remedy=f"it has: {', '.join(has)}")
        self._inner().check_parameters()

    def reads_texts(self) -> bool:
        """As the inner model."""
        return RANKERS[self.model].takes_texts

    def reads_features(self) -> bool:
        """As the inner model."""
        return RANKERS[self.model].takes_features

    def keeps_checkpoints(self) -> bool:
        """As the inner model."""
        return self._inner().keeps_checkpoints()

    def remembering(self) -> AbstractContextManager[None]:
        """As the inner model."""
        return self._inner().remembering()

    def left_unread(self) -> str:
        """As the inner model."""
        return self.models_[0].left_unread()

    def libraries(self) -> tuple[str, ...]:
        """The libraries of the inner model."""
        return self._inner().libraries()

    def check_can_fit(self) -> None:
        """Also refuse what the inner model cannot be fitted with."""
        super().check_can_fit()
        self._inner().check_can_fit()

    def _inner(self) -> Ranker:
        # Short lists weigh more in nDCG_f, long ones are more informative: half-way was better than either end.
        of_trees = {"loss": "ordinal", "stop_by": "loss", "context": True, "leaves": 7, "length_weight": 0.5}
        usual = of_trees if self.model == "BoostedTrees" else {}
        return RANKERS[self.model](**{"gains": self.gains, "seed": self.seed, **usual, **(self.options or {})})

    def _calibrate(self, raw: NDArray[np.float64], known: Examples, *, unseen: bool) -> None:
        gain = self._gain(known)
        self._levels = [
            METHODS[self.calibration]().fit(column, gain >= level)
            for column, level in zip(raw[known.judged].T, self.gains_[1:], strict=True)
        ]

    def _raw(self, examples: Examples) -> NDArray[np.float64]:
        return np.asarray(np.mean([self._columns(model, examples) for model in self.models_], axis=0))

    def _columns(self, model: Ranker, examples: Examples) -> NDArray[np.float64]:
        """What the calibration of each level sees: the output of an ordinal model that speaks of it, or the score."""
        if isinstance(model, BoostedTrees | TextRanker) and model.is_ordinal:
            outputs = model.outputs(examples)
            return outputs[:, speaking_of(self.gains_, model.levels_)]
        return np.repeat(model.scored(examples)[:, None], len(self.gains_) - 1, axis=1)

    def chances(self, examples: Any) -> NDArray[np.float64]:
        """The probability of each of ``gains_`` (columns) for every document, in the order in which they were given."""
        given = self.read(examples)
        out = np.empty((len(given), len(self.gains_)))
        out[given.row] = self._chances(self._raw(self._prepared(given)))
        return out

    def _chances(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        above = [level.probabilities(column) for level, column in zip(self._levels, raw.T, strict=True)]
        # Where two cross they are put in order, so that differences are probabilities.
        at_least = -np.sort(-np.column_stack([np.ones(len(raw)), *above, np.zeros(len(raw))]), axis=1)
        return -np.diff(at_least, axis=1)

    def _score_from(self, raw: NDArray[np.float64], examples: Examples) -> Floats:
        chances, target = self._chances(raw), target_of(self.measure)
        if target.normalised:
            return expected_shares(chances, self.gains_, examples.offsets, target.k)
        return np.asarray(chances @ self.gains_)

    def _networks(self) -> list[list[TextRanker]]:
        return [[model for model in self.models_ if isinstance(model, TextRanker)]]

    def _take_networks(self, networks: Sequence[TextRanker]) -> None:
        self.models_ = tuple(networks)

    # -- files ----------------------------------------------------------------------------------------------------

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        levels = json.dumps([level.to_dict() for level in self._levels], indent=2)
        inner = as_one([state_of(model) for model in self.models_])
        return {**inner, "gains": self.gains_, _CALIBRATION: levels + "\n"}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.gains_ = state["gains"]
        self._levels = [Calibrator.from_dict(level) for level in json.loads(state[_CALIBRATION])]
        self.models_ = tuple(restored(self._inner(), self.feature_names_, own) for own in one_by_one(state))
