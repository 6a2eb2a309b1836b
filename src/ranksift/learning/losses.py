r"""Losses of rankers, each written once: tensors in, a scalar out.

Every loss takes scores and gains as lists × documents, and a mask that is true where there is a document. Values
elsewhere have no effect: padding is never marked by a value, so a negative gain is always a gain. A single list may be
given as a vector. A loss is the mean over lists; lists without documents do not count. Scores are any real numbers;
if a paper needs a probability, it is their sigmoid.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ranksift.errors import InputError, missing_library
from ranksift.learning.outputs import MOST_POISSON, Outputs, parse_loss
from ranksift.learning.topk import SHARE
from ranksift.parameters import choice, flag, integer, number, optional, takes

try:
    import torch
    from torch import Tensor
    from torch.nn.functional import binary_cross_entropy_with_logits, pad, softplus
except ImportError:
    raise missing_library("losses need", "PyTorch", "learn") from None

#: What gains and masks may be given as.
TensorLike: TypeAlias = Tensor | NDArray[Any] | Sequence[Any]


class NoneEmpty(NamedTuple):
    """A mask for lists that are known to have documents, so that the check need not wait for a GPU."""

    mask: Tensor


#: Sets of documents that a ListNet over orders may sum over, times documents.
MOST_CELLS = 1 << 18


# -- pointwise -------------------------------------------------------------------------------------------------


def bce(scores: Tensor, gains: TensorLike, mask: TensorLike | None = None) -> Tensor:
    r"""Binary cross entropy of whether the gain is positive (Carmel et al. 2022, 5.1; natural logarithm).

    .. math:: \frac{1}{|R|} \sum_{d \in R} BCE\big(\sigma(s(d)), [g(d) > 0]\big)

    A gain of 0 counts as not worth showing.

    Examples
    --------
    >>> round(bce(torch.tensor([2.0, 0.0]), [1, -10]).item(), 4)  # (log(1 + e^-2) + log 2) / 2
    0.41
    """
    s, g, m = _lists(scores, gains, mask)
    return _mean(_bce(s, g, m))


def mse(scores: Tensor, gains: TensorLike, mask: TensorLike | None = None) -> Tensor:
    r"""Squared error of the score as an estimate of the gain (Carmel et al. 2022, 5.1).

    .. math:: \frac{1}{|R|} \sum_{d \in R} (s(d) - g(d))^2

    Examples
    --------
    >>> mse(torch.tensor([2.0, -8.0]), [1, -10]).item()
    2.5
    """
    s, g, m = _lists(scores, gains, mask)
    return _mean(_over_documents((s - g) ** 2, m))


def ordinal(scores: Tensor, gains: TensorLike, mask: TensorLike | None = None, *, levels: TensorLike) -> Tensor:
    r"""Cross entropy of whether the gain is above :math:`g_i`, for all gains but the highest (Carmel et al. 2022, 5.1).

    .. math:: \frac{1}{|R|} \sum_{d \in R} \sum_{i=1}^{m-1} BCE\big(\sigma(s_i(d)), [g(d) > g_i]\big)

    A document's score is the sum of the m − 1 probabilities: :class:`~ranksift.learning.outputs.Outputs`.

    Parameters
    ----------
    scores
        Lists × documents × (m − 1), or documents × (m − 1) for one list.
    levels
        The m gains that labels can have, ascending.

    Examples
    --------
    >>> round(ordinal(torch.tensor([[2.0, 0.0]]), [1], levels=[-10, 1, 2]).item(), 4)  # log(1 + e^-2) + log 2
    0.8201
    """
    s, g, m = _lists(scores, gains, mask, outputs=True)
    steps = _levels(levels, s)
    return _mean(_over_documents(_above(s, g, steps).sum(dim=-1), m))


def weighted_ordinal(
    scores: Tensor, gains: TensorLike, mask: TensorLike | None = None, *, levels: TensorLike
) -> Tensor:
    r"""The ordinal loss with each question weighted by the difference in gain (Carmel et al. 2022, 5.1).

    .. math:: \frac{1}{|R|} \sum_{d \in R} \sum_{i=1}^{m-1} w(i)\, BCE\big(\sigma(s_i(d)), [g(d) > g_i]\big),
        \quad w(i) = g_{i+1} - g_i

    A document's score is :math:`\sum_i w(i)\, \sigma(s_i(d))`, its expected gain minus :math:`g_1`. So it is worth
    showing if that is at least :math:`-g_1`.

    Parameters
    ----------
    scores, levels
        As for :func:`ordinal`.

    Examples
    --------
    >>> round(weighted_ordinal(torch.tensor([[2.0, 0.0]]), [1], levels=[-10, 1, 2]).item(), 4)
    2.0894
    """
    s, g, m = _lists(scores, gains, mask, outputs=True)
    steps = _levels(levels, s)
    return _mean(_over_documents((_above(s, g, steps) * steps.diff()).sum(dim=-1), m))


_NORMALISER = choice("f", "ideal")
_PLACES = optional(integer(1))

# -- pairwise --------------------------------------------------------------------------------------------------


@takes(pairs=choice("sum", "mean"))
def ranknet(
    scores: Tensor, gains: TensorLike, mask: TensorLike | None = None, *, pairs: Literal["sum", "mean"] = "sum"
) -> Tensor:
    r"""RankNet: each pair of different gains should be in order.

    .. math:: \sum_{g_u > g_v} \log\big(1 + e^{-(s_u - s_v)}\big)

    Parameters
    ----------
    pairs
        The ``"sum"`` over the pairs of a list, or their ``"mean"``, so that long lists do not count more than short
        ones.

    Examples
    --------
    >>> round(ranknet(torch.tensor([1.0, 0.0, 5.0]), [2, 1, 1]).item(), 4)  # log(1 + e^-1) + log(1 + e^4)
    4.3314
    """
    s, g, m = _lists(scores, gains, mask)
    total, count = _ranknet(s, g, m)
    return _mean(total if pairs == "sum" else total / count.clamp(min=1))


@takes(normaliser=_NORMALISER, k=_PLACES, sigma=number(above=0))
def lambdarank(
    scores: Tensor,
    gains: TensorLike,
    mask: TensorLike | None = None,
    *,
    normaliser: Literal["f", "ideal"] = "f",
    k: int | None = None,
    sigma: float = 1.0,
) -> Tensor:
    r"""LambdaRank: pairs are weighted by how much swapping them would change the measure (Carmel et al. 2022).

    .. math:: \sum_{g_u > g_v} \frac{g_u - g_v}{N} \left| \frac{1}{D(r_u)} - \frac{1}{D(r_v)} \right|
        \log_2\big(1 + e^{-\sigma (s_u - s_v)}\big), \quad D(r) = \log_2(1 + r)

    in the form of Wang and others (LambdaLoss, CIKM 2018). Ranks are those of the scores, with equal ones in the given
    order; no gradient flows through them.

    Parameters
    ----------
    normaliser
        N. ``"f"``: :math:`I_f - W_f`, the DCG of the best ordered sublist minus that of the worst; a pair's weight is
        then its change of nDCG_f. Without negative gains it is the ideal DCG. ``"ideal"``: the DCG of the best order
        of the whole list; a list for which it is not positive counts 0.
    k
        Only the first k ranks count, as in nDCG@k.
    sigma
        The steepness of the loss.

    Examples
    --------
    >>> round(lambdarank(torch.tensor([0.0, 1.0]), [1, -1]).item(), 4)  # 2 (1 - 0.6309) / 2 · log2(1 + e)
    0.6993
    """
    s, g, m = _lists(scores, gains, mask)
    return _mean(_lambdarank(s, g, m, normaliser, k, sigma))


@takes(gamma=number(least=0), normaliser=_NORMALISER, k=_PLACES, sigma=number(above=0))
def lambdarank_bce(
    scores: Tensor,
    gains: TensorLike,
    mask: TensorLike | None = None,
    *,
    gamma: float = 1.0,
    normaliser: Literal["f", "ideal"] = "f",
    k: int | None = None,
    sigma: float = 1.0,
) -> Tensor:
    r"""LambdaRank for the order, and γ times BCE so that scores mean the same in every query (Carmel et al. 2022, 5.1).

    .. math:: \mathcal{L}_{\lambda Rank} + \gamma\, \mathcal{L}_{BCE}

    Scores are what LambdaRank compares; BCE takes their sigmoid.

    Parameters
    ----------
    gamma
        γ, the weight of BCE.
    normaliser, k, sigma
        As for :func:`lambdarank`.

    Examples
    --------
    >>> round(lambdarank_bce(torch.tensor([0.0, 1.0]), [1, -1], gamma=0.5).item(), 4)  # 0.6993 + 0.5 · 1.0032
    1.2009
    """
    s, g, m = _lists(scores, gains, mask)
    return _mean(_lambdarank(s, g, m, normaliser, k, sigma) + gamma * _bce(s, g, m))


@takes(gamma=number(least=0), k=_PLACES, sigma=number(above=0))
def lambdarank_f(
    scores: Tensor,
    gains: TensorLike,
    mask: TensorLike | None = None,
    *,
    gamma: float = 0.0,
    k: int | None = None,
    sigma: float = 1.0,
) -> Tensor:
    r"""LambdaRank-f: LambdaRank of the list with a stop document of score 0 and gain 0, and γ times BCE.

    .. math:: \mathcal{L}_{\lambda Rank}\big(R \cup \{stop\}\big) + \gamma\, \mathcal{L}_{BCE}(R)

    Documents ranked below the stop are not worth showing: good documents should come before it, and forbidden ones
    after it, so scores mean the same in every query, and 0 is the natural cutoff.

    Parameters
    ----------
    gamma
        γ, the weight of BCE.
    k, sigma
        As for :func:`lambdarank`.

    Examples
    --------
    A good document alone, ranked first: 2 (1 - 0.6309) / 2 · log2(1 + e^-1).

    >>> round(lambdarank_f(torch.tensor([1.0]), [2]).item(), 4)
    0.1668
    """
    s, g, m = _lists(scores, gains, mask)
    # The stop is the last one, so that a document of the same score counts as shown.
    stop = (pad(s, (0, 1)), pad(g, (0, 1)), pad(m, (0, 1), value=True))
    return _mean(_lambdarank(*stop, "f", k, sigma) + gamma * _bce(s, g, m))


# -- listwise --------------------------------------------------------------------------------------------------


@takes(k=_PLACES)
def listnet(scores: Tensor, gains: TensorLike, mask: TensorLike | None = None, *, k: int | None = 1) -> Tensor:
    r"""ListNet: cross entropy between the Plackett-Luce models of the gains and of the scores.

    .. math:: -\sum_{\pi} P_g(\pi) \log P_s(\pi), \quad
        P_z(\pi) = \prod_{j=1}^{k} \frac{e^{z_{\pi(j)}}}{\sum_{l \ge j} e^{z_{\pi(l)}}}

    over all orders π of the first k documents. The sum is exact for every k: the next document depends only on the set
    of those already placed, so the sum is over sets and not over orders.

    Parameters
    ----------
    k
        The ranks whose order counts. 1: only the first document, the usual form. None: the whole list, as in Niu et
        al. 2012.

    Examples
    --------
    >>> round(listnet(torch.tensor([0.0, 0.0, 0.0]), [2, 1, 0]).item(), 4)  # log 3
    1.0986
    >>> round(listnet(torch.tensor([0.0, 0.0, 0.0]), [2, 1, 0], k=None).item(), 4)  # log 3!
    1.7918
    """
    s, g, m = _lists(scores, gains, mask)
    return _mean(_listnet(s, g, m, k))


@takes(k=_PLACES)
def listmle(scores: Tensor, gains: TensorLike, mask: TensorLike | None = None, *, k: int | None = None) -> Tensor:
    r"""ListMLE: how surprising the order by gains is under the scores' Plackett-Luce model.

    .. math:: -\sum_{j=1}^{k} \log \frac{e^{s_{\pi(j)}}}{\sum_{l \ge j} e^{s_{\pi(l)}}}

    with π the documents by gain; equal gains keep the given order, so shuffle them first if that order means nothing.

    Parameters
    ----------
    k
        The ranks that count, for top-k ListMLE. None: all.

    Examples
    --------
    >>> round(listmle(torch.tensor([1.0, 0.0, 0.0]), [0, 2, 1]).item(), 4)  # log(2 + e) + log(1 + e)
    2.8647
    >>> round(listmle(torch.tensor([1.0, 0.0, 0.0]), [0, 2, 1], k=1).item(), 4)
    1.5514
    """
    s, g, m = _lists(scores, gains, mask)
    inside = _ranks(g, m)
    # From the last place to the first, so that what is left at a place is what was summed up to there.
    place = torch.where(m, m.sum(dim=1, keepdim=True) - inside, inside - 1)
    rest = torch.zeros_like(s).scatter(1, place, s).logcumsumexp(dim=1).gather(1, place)
    counts = m & (inside <= _places(k, s))
    return _mean(torch.where(counts, rest - s, 0).sum(dim=1))


@takes(k=integer(1), beta=SHARE, orders=choice("all", "first"), normalised=flag())
def focused(
    scores: Tensor,
    gains: TensorLike,
    mask: TensorLike | None = None,
    *,
    k: int = 10,
    beta: float = 0.5,
    orders: Literal["all", "first"] = "all",
    normalised: bool = True,
) -> Tensor:
    r"""FocusedNet: ListNet on the top k, RankNet between them and the rest (Niu et al. 2012, 3.2.2).

    .. math:: \beta\, L_{list}(T) + (1 - \beta)\, L_{pair}(T \times F)

    with T the k documents of the highest gains (equal ones in the given order) and F the others.

    Parameters
    ----------
    k
        The number of documents in T.
    beta
        β: 1 is ListNet on the top k alone, 0 RankNet alone.
    orders
        ``"all"``: ListNet over all orders of T; ``"first"``: only over the first document.
    normalised
        The mean over places and over pairs, so that β means the same for every length of list. False: sums.

    Examples
    --------
    >>> scores, labels = torch.tensor([0.0, 0.0, 0.0, 0.0]), [2, 1, 0, 0]
    >>> round(focused(scores, labels, k=2, beta=1).item(), 4)  # log 2! / 2
    0.3466
    >>> round(focused(scores, labels, k=2, beta=0).item(), 4)  # log 2
    0.6931
    """
    s, g, m = _lists(scores, gains, mask)
    rank = _ranks(g, m)
    top = m & (rank <= _places(k, s))
    chosen = rank.argsort(dim=1)[:, :k]
    inside = top.gather(1, chosen)
    # Every one of T against all documents, of which those of F count: quicker than to list the pairs.
    against = inside[:, :, None] & (m & ~top)[:, None, :]
    pair = (softplus(s[:, None, :] - s.gather(1, chosen)[:, :, None]) * against).sum(dim=(1, 2))
    pairs = against.sum(dim=(1, 2))
    order = _listnet(s.gather(1, chosen), g.gather(1, chosen), inside, None if orders == "all" else 1)
    if normalised:
        pair = pair / pairs.clamp(min=1)
        order = order / inside.sum(dim=1) if orders == "all" else order
    return _mean(beta * order + (1 - beta) * pair)


@takes(k=_PLACES, normalised=flag())
def expected_share(
    scores: Tensor,
    gains: TensorLike,
    mask: TensorLike | None = None,
    *,
    k: int | None = None,
    normalised: bool = True,
    stands_for: TensorLike | None = None,
) -> Tensor:
    r"""What showing each document adds to nDCG_f, estimated by two outputs, as LambdaMART-f does.

    .. math:: \sum_{d \in R} |\Delta_d| \log\big(1 + e^{-\operatorname{sign}(\Delta_d)\, s_d}\big)
        + e^{p_d} - \max(0, \Delta_d)\, p_d, \quad \Delta_d = \frac{g_d}{I_{k,f} - W_{k,f}}

    The first output separates good documents from forbidden ones, weighted by what is at stake; the second one, a
    Poisson regression, is the logarithm of the possible gain. A document's score is :math:`e^p (1 - e^{-s})`, its
    expected Δ: :class:`~ranksift.learning.outputs.Outputs`. It is worth showing if that is at least 0.

    Parameters
    ----------
    scores
        Lists × documents × 2, or documents × 2 for one list.
    k
        The k of the normaliser; None: the whole list.
    normalised
        False: Δ is the given gain, for lists that are samples, with gains that are shares of the whole list.
    stands_for
        How many documents each one stands for, if lists are samples; None: one.

    Examples
    --------
    >>> round(expected_share(torch.tensor([[0.0, 0.0]]), [2]).item(), 4)  # log 2 + 1
    1.6931
    """
    s, g, m = _lists(scores, gains, mask, outputs=True)
    if s.shape[-1] != 2:
        raise InputError(f"{s.shape[-1]} outputs per document", remedy="give two")
    if normalised:
        span = _best(g, g > 0, k) + _best(-g, g < 0, k)
        g = g * torch.where(span > 0, 1 / span, 0)[:, None]
    stake = g.abs() * softplus(-g.sign() * s[..., 0])
    prize = s[..., 1].clamp(max=MOST_POISSON).exp() - g.clamp(min=0) * s[..., 1]
    weight = m if stands_for is None else _lists(scores, stands_for, mask, outputs=True)[1]
    return _mean(((stake + prize) * weight).sum(dim=1))


# -- by name ---------------------------------------------------------------------------------------------------

#: Every loss by its name.
LOSSES: dict[str, Callable[..., Tensor]] = {
    loss.__name__: loss
    for loss in (
        *(bce, mse, ordinal, weighted_ordinal),
        *(ranknet, lambdarank, lambdarank_bce, lambdarank_f),
        *(listnet, listmle, focused, expected_share),
    )
}

# What a loss is given with the data, and not by its name.
_NO_OPTIONS = ("levels", "stands_for")


def loss_of(spec: str) -> Callable[..., Tensor]:
    """The loss with this name, with options in parentheses.

    Examples
    --------
    >>> round(loss_of("lambdarank_bce(gamma=0.5)")(torch.tensor([0.0, 1.0]), [1, -1]).item(), 4)
    1.2009
    """
    name, options = parse_loss(spec)
    found = LOSSES.get(name)
    if found is None:
        raise InputError(f"loss {name!r} is unknown", remedy=f"known are: {', '.join(LOSSES)}")
    known = [p.name for p in inspect.signature(found).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known or option in _NO_OPTIONS:
            has = ", ".join(o for o in known if o not in _NO_OPTIONS) or "none"
            raise InputError(f"loss {name!r} has no option {option!r}", remedy=f"its options are: {has}")
    return partial(found, **options)


def check_loss(spec: str) -> None:
    """Refuse an unknown loss, or an option that it does not have, or an impossible value of an option.

    >>> check_loss("listnet(k=0)")
    Traceback (most recent call last):
    ranksift.errors.InputError: k=0 is not a positive integer; write k=1, for example
    """
    loss = loss_of(spec)
    outputs = Outputs.of(parse_loss(spec)[0], np.array([0.0, 1.0]))
    levels = {"levels": outputs.levels} if outputs.ordinal else {}
    try:
        loss(torch.zeros((2, outputs.width) if outputs.several else 2), [1.0, 0.0], **levels)
    except InputError:
        raise
    except Exception as error:  # whatever PyTorch says about an invalid value
        raise InputError(f"loss {spec!r} does not work ({error})", remedy="give options of the right kind") from None


# -- what they are made of -------------------------------------------------------------------------------------


def _places(k: int | None, scores: Tensor) -> int:
    """How many places count, of those that there are."""
    return scores.shape[1] if k is None else min(int(k), scores.shape[1])


def _lists(
    scores: Tensor, gains: TensorLike, mask: TensorLike | None, outputs: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, gains and mask of the lists that have documents; zeros if there is none."""
    if not isinstance(scores, Tensor) or not scores.is_floating_point():
        raise InputError(f"scores are {_kind_of(scores)}", remedy="give a torch.Tensor of floats")
    s = scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores
    g = _tensor("gains", gains, s).to(s.dtype)
    full = isinstance(mask, NoneEmpty)
    given_mask = mask.mask if isinstance(mask, NoneEmpty) else mask
    m = torch.ones_like(g, dtype=torch.bool) if given_mask is None else _tensor("mask", given_mask, s).bool()
    shape = s.shape[:-1] if outputs else s.shape
    if not (g.shape == m.shape == shape and len(shape) in (1, 2)):
        given = f"scores {tuple(s.shape)}, gains {tuple(g.shape)} and mask {tuple(m.shape)}"
        raise InputError(f"{given} do not belong together", remedy="give lists × documents of each")
    if len(shape) == 1:
        s, g, m = s[None], g[None], m[None]
    if not full and (mask is not None or not m.shape[1]):  # to look waits for a GPU
        some = m.any(dim=1)
        if not bool(some.all()):
            s, g, m = s[some], g[some], m[some]
    return s.masked_fill(~(m[..., None] if outputs else m), 0), g.masked_fill(~m, 0), m


def _tensor(name: str, given: TensorLike, like: Tensor) -> Tensor:
    """The other arguments, on the device of the scores."""
    try:
        return torch.as_tensor(given, device=like.device)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise InputError(
            f"{name} are {_kind_of(given)}", remedy="give a tensor, an array or a list of numbers"
        ) from None


def _kind_of(given: object) -> str:
    return f"a tensor of {given.dtype}" if isinstance(given, Tensor) else f"of the type {type(given).__name__}"


def _mean(per_list: Tensor) -> Tensor:
    """Mean over lists; 0 if there are none, with a gradient of 0."""
    return per_list.sum() / max(1, len(per_list))


def _over_documents(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum(dim=1) / mask.sum(dim=1)


def _bce(scores: Tensor, gains: Tensor, mask: Tensor) -> Tensor:
    return _over_documents(binary_cross_entropy_with_logits(scores, (gains > 0).to(scores), reduction="none"), mask)


def _levels(levels: TensorLike, scores: Tensor) -> Tensor:
    # Of levels that are on a GPU already, to look at the numbers would wait for it.
    there = isinstance(levels, Tensor) and levels.device.type != "cpu"
    steps = _tensor("levels", levels, scores if there else torch.empty(0)).to(scores.dtype)
    if steps.dim() != 1 or len(steps) != scores.shape[-1] + 1 or not (there or bool((steps.diff() > 0).all())):
        what = f"{scores.shape[-1]} outputs per document for levels {steps.tolist()}"
        raise InputError(what, remedy="give ascending gains, one more than outputs")
    return steps.to(scores.device)


def _above(scores: Tensor, gains: Tensor, levels: Tensor) -> Tensor:
    """Cross entropy of each question whether the gain is above a level."""
    above = (gains[..., None] > levels[:-1]).to(scores)
    return binary_cross_entropy_with_logits(scores, above, reduction="none")


def _pairs(gains: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs of a higher and a lower gain in one list: the list, and both places in the flattened lists."""
    better = (gains[:, :, None] > gains[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    row, high, low = better.nonzero(as_tuple=True)
    start = row * mask.shape[1]
    return row, start + high, start + low


def _ranknet(scores: Tensor, gains: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Sum over the pairs of each list, and their number."""
    row, high, low = _pairs(gains, mask)
    flat = scores.flatten()
    loss = softplus(flat.index_select(0, low) - flat.index_select(0, high))
    none = scores.new_zeros(len(scores))
    return none.index_add(0, row, loss), none.index_add(0, row, torch.ones_like(loss))


def _lambdarank(scores: Tensor, gains: Tensor, mask: Tensor, normaliser: str, k: int | None, sigma: float) -> Tensor:
    if not 0 < sigma < math.inf:
        raise InputError(f"sigma={sigma!r} is not a steepness", remedy="use sigma=1")
    row, high, low = _pairs(gains, mask)
    flat, gain = scores.flatten(), gains.flatten()
    discount = _discounts(scores, k).gather(0, (_ranks(scores.detach(), mask) - 1).flatten())
    change = (gain[high] - gain[low]) * (discount[high] - discount[low]).abs()
    best = _best(gains, mask, k) if normaliser == "ideal" else _best(gains, gains > 0, k) + _best(-gains, gains < 0, k)
    weight = torch.where(best > 0, 1 / best, 0)[row] * change
    loss = softplus(-sigma * (flat.index_select(0, high) - flat.index_select(0, low))) / math.log(2)
    return scores.new_zeros(len(scores)).index_add(0, row, weight * loss)


def _best(gains: Tensor, mask: Tensor, k: int | None) -> Tensor:
    """DCG of the best order of the documents in the mask."""
    ordered = gains.masked_fill(~mask, -math.inf).sort(dim=1, descending=True).values
    return (ordered.masked_fill(ordered == -math.inf, 0) * _discounts(gains, k)).sum(dim=1)


def _discounts(like: Tensor, k: int | None) -> Tensor:
    rank = torch.arange(1, like.shape[1] + 1, dtype=like.dtype, device=like.device)
    discount = 1 / torch.log2(1 + rank)
    return discount * (rank <= _places(k, like))


def _ranks(values: Tensor, mask: Tensor) -> Tensor:
    """Rank of each document by its value, from 1, equal ones in their order; after them padding."""
    order = values.masked_fill(~mask, -math.inf).argsort(dim=1, descending=True, stable=True)
    places = torch.arange(1, values.shape[1] + 1, device=values.device).expand_as(order)
    return torch.empty_like(order).scatter_(1, order, places)


def _listnet(scores: Tensor, gains: Tensor, mask: Tensor, k: int | None) -> Tensor:
    """Cross entropy summed over places. What comes next depends on the set that is gone, so it is a sum over sets."""
    n, places = scores.shape[1], _places(k, scores)
    if places == 1:
        first = gains.masked_fill(~mask, -math.inf).softmax(dim=1)
        return -(first * scores.masked_fill(~mask, -math.inf).log_softmax(dim=1).masked_fill(~mask, 0)).sum(dim=1)
    count = sum(math.comb(n, gone) for gone in range(places))
    if count * n > MOST_CELLS:
        what = f"ListNet over the first {places} of {n} documents sums over {count} sets"
        raise InputError(what, remedy="use k=1, or shorter lists")
    sets = [
        tuple(torch.as_tensor(x, device=scores.device) for x in _sets(n, gone, gone + 1 < places))
        for gone in range(places)
    ]
    # Lists that want the same, as all ordered top k do, share the work.
    wanted, which = torch.unique(torch.cat([gains, mask.to(gains)], dim=1), dim=0, return_inverse=True)
    reached, placed = _expected_sets(wanted[:, :n], wanted[:, n:] > 0, sets)
    # Scores less the highest: what is summed up stays small where they are all large.
    s = scores - scores.masked_fill(~mask, -math.inf).max(dim=1, keepdim=True).values.detach()
    rest = _log_sums(s.masked_fill(~mask, torch.finfo(s.dtype).min / 4), sets)
    return (torch.cat(reached, dim=1)[which] * rest).sum(dim=1) - (placed[which] * s).sum(dim=1)


def _expected_sets(gains: Tensor, mask: Tensor, sets: list[tuple[Tensor, ...]]) -> tuple[list[Tensor], Tensor]:
    """How likely, by the gains, each set is gone while documents are left; and that each document gets a place."""
    n = gains.shape[1]
    chance, placed = gains.new_ones(len(gains), 1), torch.zeros_like(gains)
    reached = []
    for taken, after in sets:
        left = mask[:, None, :] & ~taken
        some = left.any(dim=-1, keepdim=True)
        reached.append(chance * some[..., 0])
        # If nothing is left there is no next document; any finite number will do.
        following = gains[:, None, :].masked_fill(~left & some, -math.inf).softmax(dim=-1) * left
        flow = chance[..., None] * following
        placed = placed + flow.sum(dim=1)
        if len(reached) < len(sets):
            larger = math.comb(n, len(reached))
            chance = flow.new_zeros(len(flow), larger).index_add(1, after.flatten(), flow.flatten(1))
    return reached, placed


def _log_sums(scores: Tensor, sets: list[tuple[Tensor, ...]]) -> Tensor:
    """Logarithm of the sum of exponentials of what each set leaves; no score is above 0."""
    real = scores.masked_fill(scores <= torch.finfo(scores.dtype).min / 4, 0)
    if bool((real > math.log(torch.finfo(scores.dtype).tiny)).all()):
        left = ~torch.cat([taken for taken, _ in sets])
        sums = scores.exp() @ left.T.to(scores)
        return sums.masked_fill(sums == 0, 1).log()
    # Exponentials vanish: from the largest sets down, adding one document.
    taken, _ = sets[-1]
    logs = [scores[:, None, :].masked_fill(taken, torch.finfo(scores.dtype).min / 4).logsumexp(dim=-1)]
    for taken, after in reversed(sets[:-1]):
        one = taken.int().argmin(dim=1)  # the first that is not gone
        parent = after.gather(1, one[:, None])[:, 0]
        logs.append(torch.logaddexp(logs[-1].index_select(1, parent), scores.index_select(1, one)))
    return torch.cat(logs[::-1], dim=1)


@lru_cache(maxsize=256)
def _sets(n: int, size: int, further: bool) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """All sets of this size out of n, as rows of a mask; and, if further, the larger set with each of the others."""
    smaller = list(combinations(range(n), size))
    taken = np.zeros((len(smaller), n), dtype=bool)
    after = np.zeros((len(smaller), n), dtype=np.int64)
    larger = {members: i for i, members in enumerate(combinations(range(n), size + 1))} if further else {}
    for row, members in enumerate(smaller):
        taken[row, list(members)] = True
        for one in set(range(n)).difference(members) if further else ():
            after[row, one] = larger[tuple(sorted((*members, one)))]
    return taken, after
