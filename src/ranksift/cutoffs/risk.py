r"""The lowest threshold under which the risk stays small on unseen queries, by one of two promises.

A query's risk is the number of forbidden documents that its top k shows, over k. Where the cut is made on the score
that ranks, a lower cut only lengthens lists, so the risk never falls as the cut does. Where it is made on another
score, a good document may enter above a forbidden one and push it out of the top k. Then the largest risk of the query
at this cut or any stricter one takes the place of its risk: it never falls, and what bounds it bounds the risk. Both
theorems below are applied to it.

**In expectation** (conformal risk control; Angelopoulos et al. 2024). With n queries and their mean risk R(t) at the
cut t, take the lowest t with (n R(t) + 1)/(n + 1) ≤ α. The n queries and one to come are exchangeable. If its risk were
known too, the lowest cut with a mean risk of at most α over all n + 1 would be no stricter than ours, as the one to
come adds at most 1. So its risk under our cut is at most its risk under that one, which is at most α on average, as the
one to come may be any of the n + 1.

**With probability 1 − δ** (learn then test, Angelopoulos et al. 2021; where the risk is monotone it is the upper
confidence bound of Bates et al. 2021). A p-value tests at a cut t that the risk is above α. Cuts are tested from the
strictest down, until the first one that is not rejected at the level δ. The cuts are the scores of the sample, and no
correction is made for their number. This is right because the true risk is monotone and not random. Let t* be the
highest cut at which it is above α. The chosen cut is too low only if it is t* or lower, and then the test at t* has
rejected: losses do not change between two scores of the sample, and the p-values never fall as losses grow, so that all
above a rejected cut is rejected too. But t* was there before the sample, so this is a single test at the level δ. (If
the risk rises above α without a jump, there is no highest such cut; then t* is one of those just below, and the chance
is at most δ in the limit.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.p_values import (
    Betting,
    PValue,
    binomial,
    fewest_queries,
    hoeffding_bentkus,
    mean_loss,
    places,
    upper_bound,
)
from ranksift.cutoffs.sweep import entering, entry_order
from ranksift.errors import InputError
from ranksift.measures.filtering import Fdocs
from ranksift.parameters import choice, integer, number, optional, parameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUNDS = ("betting", "hoeffding-bentkus")

# Places of a query that are counted one by one.
_MOST_SHOWN = 1_000_000

# Thresholds of a picture.
_DRAWN = 300


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """How many of its top k places every query loses to forbidden documents as the cut falls.

    Attributes
    ----------
    ends
        The lowest and the highest score of all documents.
    queries, k
        How many queries there are, and how many places each has.
    cuts
        Scores, from the highest down, at which a query loses more than at any stricter cut.
    above
        The lowest score above each of the cuts, +∞ if there is none.
    before, after
        What the query lost until then, and from then on: one entry per query and step, in the order of the cuts.
    steps
        How many entries there are down to each of the cuts, before the first one 0.
    """

    ends: tuple[float, float]
    queries: int
    k: int
    cuts: Floats
    above: Floats
    before: Ints
    after: Ints
    steps: Ints

    @classmethod
    def of(cls, lists: Lists, k: int) -> RiskCurve:
        """Let all documents enter, the highest score first."""
        entry = entry_order(lists)
        lost = _most_lost(lists, entry, k)
        firsts = lists.offsets[:-1][lists.lengths > 0]
        before = np.concatenate(([0], lost[:-1]))
        before[firsts] = 0
        steps = np.flatnonzero(lost > before)
        score = lists.score[entry[steps]]
        falling = np.argsort(-score, kind="stable")
        steps, score = steps[falling], score[falling]
        last = np.flatnonzero(np.append(score[1:] != score[:-1], [True] * (len(score) > 0)))
        cuts, scores = score[last], ragged.distinct(lists.score)
        above = np.append(scores, np.inf)[np.searchsorted(scores, cuts, side="right")]
        ends = (float(scores[0]), float(scores[-1]))
        upto = np.concatenate(([0], last + 1))
        return cls(ends, len(lists), k, cuts, above, before[steps], lost[steps], upto)

    def lost(self, cut: int) -> Ints:
        """How many queries lose 0, 1, …, k places when the first so many of the cuts are passed."""
        upto = slice(0, int(self.steps[cut]))
        size = self.k + 1
        moved = np.bincount(self.after[upto], minlength=size) - np.bincount(self.before[upto], minlength=size)
        moved[0] += self.queries
        return moved

    def lowest(self, passes: Callable[[Ints], bool]) -> int | None:
        """How many of the cuts can be passed, for a test that fails for good as losses grow; None: not even none."""
        if not passes(self.lost(0)):
            return None
        low, high = 0, len(self.cuts) + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if passes(self.lost(middle)) else (low, middle)
        return low

    def threshold(self, cut: int | None) -> float:
        """The lowest score above the first of the cuts that is not passed; −∞ where all are."""
        if cut is None:
            return np.inf
        if cut == len(self.cuts):
            return -np.inf
        return float(self.above[cut])


def _most_lost(lists: Lists, entry: Ints, k: int) -> Ints:
    """The most places that a document's query has lost at any cut until it enters."""
    forbidden = (lists.gain < 0).astype(np.float64)
    if lists.cuts_from_the_end:
        change = np.where(lists.rank <= k, forbidden, 0.0)
    else:
        change = entering(lists, forbidden, entry, np.ones(min(k, int(lists.lengths.max()))))
    lost = ragged.accumulate(np.add, change, lists.offsets)
    score, query = lists.score[entry], lists.query
    # Between two documents of one score no cut can be made.
    lost[:-1][(score[1:] == score[:-1]) & (query[1:] == query[:-1])] = 0.0
    return ragged.accumulate(np.maximum, lost, lists.offsets).astype(np.int64)


def forbidden_shown(lists: Lists, kept: NDArray[np.bool_], k: int) -> int:
    """How many forbidden documents all lists show in their top k."""
    return int(Fdocs(k=k).per_query(lists.judged_by(kept)).numerator.sum())


@dataclass(eq=False)
class RiskCutoff(Cutoff):
    r"""Keep documents with a score of at least a threshold: the lowest that keeps the risk at α or below.

    A query's risk is the number of forbidden documents (gain < 0) that its top k shows, over k. The guarantee is
    about future queries, and holds whatever the scores are, good or bad, calibrated or not. With uninformative scores,
    more documents are dropped, but the guarantee still holds. :mod:`ranksift.cutoffs.risk` explains why.

    Attributes
    ----------
    threshold_
        A score of one of the documents; −∞: nothing is dropped. +∞: everything is, because nothing else keeps the
        promise.
    risk_
        The mean risk at the threshold, of the queries that it was fitted on.
    bound_
        What was compared with α there. With ``delta`` an upper confidence bound of the risk, without it
        (n R + 1)/(n + 1), where R is the mean over n queries of the largest risk at this cut or a stricter one.
    attainable_
        Whether any cut that keeps something keeps the promise.
    curve_
        How many places queries lose as the cut falls, for :meth:`plot`: numbers of queries, without documents. It is
        not saved.

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> labels = draw.choice([-1, 1], size=2000, p=[0.2, 0.8])
    >>> scores = labels + draw.normal(size=2000)
    >>> cut = RiskCutoff(alpha=0.05, delta=0.1, k=3).fit(scores, labels, np.arange(2000) // 5)
    >>> round(cut.threshold_, 3), round(cut.risk_, 4), round(cut.bound_, 4)
    (-0.136, 0.035, 0.0494)
    >>> print(cut.promise)  # doctest: +ELLIPSIS
    with probability at least 0.9 over samples of 400 queries, the risk ... is at most 0.05, provided that ...
    """

    rule: ClassVar[str] = "risk"
    learned: ClassVar[tuple[str, ...]] = ("threshold_", "risk_", "bound_", "attainable_", "promise_")

    alpha: float = parameter(
        0.05,
        number(above=0, below=1),
        "The largest risk allowed: 0.05 means that forbidden documents may take 5 of 100 places.",
    )
    delta: float | None = parameter(
        0.1,
        optional(number(above=0, below=1)),
        """The probability that the risk exceeds α because the documents that the rule is fitted on are
        misleading. None: the risk is at most α on average over samples and future queries, which needs less
        filtering, but for one sample it can be well above.""",
    )
    k: int = parameter(3, integer(1, _MOST_SHOWN), "How many documents a user sees.")
    bound: str = parameter(
        "betting",
        choice(*BOUNDS),
        """The test, if there is a ``delta``: ``"betting"``, which uses that most queries lose fewer than k places,
        or ``"hoeffding-bentkus"``, which filters less where queries lose all or nothing. Choose before you see what
        either gives. With k = 1 the exact binomial test takes the place of both.""",
    )

    def _learn(self, lists: Lists) -> None:
        self.curve_ = curve = RiskCurve.of(lists, self.k)
        passed = curve.lowest(self.passes)
        self.threshold_ = curve.threshold(passed)
        self.bound_ = self.upper_bound(curve.lost(passed or 0))
        kept = self._kept(lists)
        self.risk_ = forbidden_shown(lists, kept, self.k) / (self.k * len(lists))
        self.fitted_on_["risk"] = {
            "at_threshold": self.risk_,
            "keep_all": forbidden_shown(lists, np.ones(len(kept), dtype=bool), self.k) / (self.k * len(lists)),
        }
        self.fitted_on_["kept"] = int(kept.sum())
        self.attainable_ = self.threshold_ < np.inf
        if self.attainable_:
            self.promise_ = self._promised()
        else:
            self.promise_ = self._not_attainable()
            self.notes_ += (self.promise_,)

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return lists.score >= self.threshold_

    def thresholds(self, lists: Lists) -> Floats:
        """The same for every query."""
        return np.full(len(lists), self.threshold_)

    # -- what is compared with alpha -----------------------------------------------------------------------------

    def passes(self, lost: Ints) -> bool:
        """Whether a sample in which ``lost[j]`` queries lost j places shows that the risk is at most α."""
        if self.delta is None:
            return self.upper_bound(lost) <= self.alpha
        return self._p_value(int(lost.sum()))(lost, self.alpha) <= self.delta

    def upper_bound(self, lost: Ints) -> float:
        """What is compared with α, for a sample in which ``lost[j]`` queries lost j places."""
        queries = int(lost.sum())
        if self.delta is None:
            return (places(lost) + self.k) / (self.k * (queries + 1))
        return upper_bound(self._p_value(queries), lost, self.delta)

    def _p_value(self, queries: int) -> PValue:
        if self.k == 1:
            return binomial
        if self.bound == "hoeffding-bentkus" or self.delta is None:
            return hoeffding_bentkus
        return Betting.against(self.alpha, self.delta, queries=queries, k=self.k)

    # -- what it says ----------------------------------------------------------------------------------------------

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        return "score >= float(threshold)"

    @property
    def promise(self) -> str:
        """What the rule promises for other queries, and under which assumption."""
        return self.promise_

    def _promised(self) -> str:
        known = self.fitted_on_
        risk = f"the risk (forbidden documents in the top {self.k}, over {self.k})"
        if self.delta is None:
            promised = f"on average over samples of {known['queries']} queries and over queries to come, {risk}"
            drawn = "exchangeable"
        else:
            promised = (
                f"with probability at least {1.0 - self.delta:g} over samples of {known['queries']} queries, {risk} "
                "on average over queries to come"
            )
            drawn = "drawn independently from the same source"
        unjudged = ""
        if known["judged"] < known["documents"]:
            unjudged = "; documents without a label count as not forbidden"
        elif known.get("unjudged") == "drop":
            unjudged = "; documents without a label are left out"
        return (
            f"{promised} is at most {self.alpha:g}, provided that those queries and the ones to come are {drawn} "
            f"and that their documents are scored in the same way{unjudged}"
        )

    def _not_attainable(self) -> str:
        curve = self.curve_
        sure = "on average" if self.delta is None else f"with probability {1.0 - self.delta:g}"
        said = f"not attainable with this data, so everything is dropped: a risk of at most {self.alpha:g} {sure}"
        if not self.passes(curve.lost(0)):
            least = fewest_queries(self.passes, np.eye(1, self.k + 1)[0])
            return f"{said} takes at least {least} queries, and there are {curve.queries}"
        lost = curve.lost(1)
        risk = mean_loss(lost)
        needed = fewest_queries(self.passes, lost / curve.queries) if risk < self.alpha else None
        remedy = "better scores are needed" if needed is None else f"about {needed} queries would be needed"
        there = f"risk {risk:.3g}, bound {self.upper_bound(lost):.3g}"
        return f"{said} cannot be guaranteed even for the documents with the highest score ({there}); {remedy}"

    def plot(self) -> Figure:
        """The risk of the queries that it was fitted on, and what is compared with α, at every threshold."""
        from ranksift.plotting import drawing, legend

        if not hasattr(self, "curve_"):
            raise InputError("the risk at every threshold is not in a cutoff's file", remedy="fit it again")
        curve = self.curve_
        at = np.unique(np.linspace(0, len(curve.cuts), _DRAWN).round().astype(np.int64))
        lost = [curve.lost(cut) for cut in at.tolist()]
        # Passed cuts: the value holds from the last of them down to the next one.
        lowest, highest = curve.ends
        ends = np.append(np.concatenate(([highest], curve.cuts))[at], lowest)
        figure, axes = drawing("threshold", f"risk: forbidden in the top {self.k}, over {self.k}")
        name = "(n risk + 1)/(n + 1)" if self.delta is None else f"upper bound, confidence {1.0 - self.delta:g}"
        for values, label, colour in (
            ([self.upper_bound(each) for each in lost], name, "#D55E00"),
            ([mean_loss(each) for each in lost], "risk of these queries", "#0072B2"),
        ):
            axes.step(ends, [*values, values[-1]], where="post", color=colour, linewidth=1.4, label=label)
        axes.axhline(self.alpha, color="0.4", linewidth=0.8, linestyle="--", label=f"α = {self.alpha:g}")
        if np.isfinite(self.threshold_):
            axes.plot([self.threshold_], [self.bound_], "o", color="black", label=f"threshold: {self.threshold_:.4g}")
        legend(axes)
        return figure
