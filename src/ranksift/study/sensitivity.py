"""Sensitivity: how many pairs of runs does a measure tell apart (Sakai, SIGIR 2006)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, tell
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.significance import SAME, Paired, bootstrap, shifted_resamples, times_drawn
from ranksift.evaluation.table import Column, Table
from ranksift.parameters import choice, integer, number, samples_of
from ranksift.plotting import drawing, legend, shown, styles_of
from ranksift.study.preconditions import (
    ROUNDING,
    check_scores,
    peculiarities,
)
from ranksift.study.result import PerMeasure, Picture, Result, pictures_of
from ranksift.study.topic_samples import Samples, aggregates, pooled, topics_of
from ranksift.study.wording import counted, joined, ranked

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Method = Literal["sakai", "sign"]


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Result):
    """Result of :func:`sensitivity`.

    Attributes
    ----------
    asl
        ``{measure: achieved significance level of each pair}``.
    pairs
        The pairs of runs, in the order of ``asl``: (0, 1), (0, 2), …, (1, 2), … by their names.
    difference
        ``{measure: difference of each pair's aggregates}``, first minus second.
    method, samples, seed
        As given; ``samples`` is their number, ``seed`` is None if the samples were given.
    scores, drawn
        The scores that were studied, and the topics of each sample.
    notes
        Remarks, for example on runs that are copies and on constant measures.
    """

    asl: PerMeasure[Floats]
    pairs: tuple[tuple[str, str], ...]
    difference: PerMeasure[Floats]
    method: Method
    samples: int
    seed: int | None
    scores: Scores
    drawn: Ints
    notes: tuple[str, ...] = ()
    _needed: dict[float, dict[str, float | None]] = field(default_factory=dict)  # it takes as long as the ASL

    def curve(self, alphas: ArrayLike) -> PerMeasure[Floats]:
        """Share of pairs with ASL < α, for each α."""
        try:
            levels = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
        except (TypeError, ValueError):
            levels = np.array([np.nan])
        if levels.ndim != 1 or np.isnan(levels).any():
            raise InputError("alphas are not a list of numbers", remedy="give some, as [0.01, 0.05]")
        below = {m: np.searchsorted(np.sort(asl), levels, side="left") for m, asl in self.asl.items()}
        return PerMeasure({measure: count / len(self.pairs) for measure, count in below.items()})

    def difference_needed(self, alpha: float = 0.05) -> PerMeasure[float | None]:
        """The difference at which any two runs differ significantly at ``alpha`` (Sakai's estimate).

        For each pair, it is the difference in the resample that, under the null hypothesis, has the (samples · α)-th
        largest statistic; the largest of all pairs is returned. None: fewer than 1 / α samples.
        """
        number(above=0, below=1).check("alpha", alpha, 0.05)
        if alpha not in self._needed:
            self._needed[alpha] = self._difference_needed(alpha)
        return PerMeasure(self._needed[alpha])

    def _difference_needed(self, alpha: float) -> dict[str, float | None]:
        th = int(self.samples * alpha * (1.0 + SAME))
        if th < 1:
            return dict.fromkeys(self.asl)
        counts = times_drawn(self.drawn, len(self.scores.queries))
        return {
            str(measure): _difference_needed(self.scores, m, self.drawn, counts, th, self.method)
            for m, measure in enumerate(self.scores.measures)
        }

    def to_frame(self) -> pl.DataFrame:
        """A polars frame: measure, run, other, difference, asl."""
        import polars as pl

        runs, others = ([pair[side] for pair in self.pairs] for side in (0, 1))
        return pl.concat(
            pl.DataFrame(
                {
                    "measure": [measure] * len(self.pairs),
                    "run": runs,
                    "other": others,
                    "difference": self.difference[measure],
                    "asl": asl,
                }
            )
            for measure, asl in self.asl.items()
        )

    def plot(self, most: float = 0.2, measures: Sequence[str] | None = None) -> Figure:
        """The share of pairs distinguished at each level, up to the level ``most``, by some measures or by all."""
        number(above=0, below=1).check("most", most, 0.2)
        figure, axes = drawing("significance level α", "share of pairs with ASL < α")
        levels = np.linspace(0.0, most, 201)
        curve = self.curve(levels)
        for measure, style in zip(measures or curve, styles_of(list(measures or curve)), strict=True):
            axes.plot(levels, curve[measure], label=shown(measure), **{**style, "marker": ""})
        axes.set(xlim=(0.0, most), ylim=(0.0, 1.0))
        legend(axes)
        return figure

    def pictures(self) -> list[Picture]:
        """The cumulative curves."""
        caption = "Share of pairs of runs told apart, by significance level"
        return pictures_of("asl", caption, list(self.asl), lambda names: self.plot(measures=names))

    def reading(self) -> list[str]:
        """How many pairs each measure distinguishes, and the difference needed."""
        shares = {m: float(share[0]) for m, share in self.curve([0.05]).items()}
        found = [
            f"Told apart at the level 0.05, of {counted(len(self.pairs), 'pair')} of runs: {ranked(shares, '{:.1%}')}."
        ]
        best = [m for m in shares if shares[m] == max(shares.values())]
        if len(best) < len(shares):
            found.append(f"The most sensitive {'is' if len(best) == 1 else 'are'} {joined(best)}.")
        needed = {m: d for m, d in self.difference_needed(0.05).items() if d}  # 0: no pair's differences vary
        if needed:
            found.append(
                f"Estimated difference at which any two runs differ significantly: {ranked(needed, '{:.3g}')}."
            )
        return found

    def table(self) -> Table:
        """One row per measure: share of pairs distinguished at some levels, and the difference needed at 0.05."""
        levels = (0.01, 0.05, 0.1)
        needed = self.difference_needed(0.05)
        rows = [[measure, *shares.tolist(), needed[measure] or None] for measure, shares in self.curve(levels).items()]
        columns = [Column("measure"), *(Column(f"ASL < {level:g}", 1, "percent") for level in levels)]
        return Table([*columns, Column("difference for 0.05")], rows, title=self._title, notes=self.notes)

    @property
    def _title(self) -> str:
        how = "bootstrap" if self.method == "sakai" else "sign"
        size = f"{len(self.scores.runs)} runs on {len(self.scores.queries)} topics"
        return f"Sensitivity: pairs of {size} told apart, {how} method, {self.samples} samples"

    def __repr__(self) -> str:
        return f"<{self._title}>"


def sensitivity(scores: Scores, samples: Samples = 1000, method: Method = "sakai", seed: int = 0) -> Sensitivity:
    r"""Achieved significance level (ASL) of every pair of runs, by resampling topics.

    Parameters
    ----------
    scores
        Scores of at least two runs on at least two queries.
    samples
        The number of bootstrap samples of topics; or the samples themselves, each a list
        of indices into ``scores.queries``. The same samples are used for every pair and measure.
    method
        ``"sakai"``: the shifted, studentised, paired bootstrap test. With differences z of n topics,
        :math:`t(z) = \bar z / (s_z / \sqrt n)` and :math:`w = z - \bar z`, the ASL is the share of samples with
        :math:`|t(w^*)| \ge |t(z)|`. ``"sign"`` (as Carmel et al. describe it): the share of samples in which the
        better run of the full set is not better; about half of a two-sided p value.
    seed
        The seed of the samples.

    Notes
    -----
    Micro measures and c@1 are not means over topics. They are aggregated again on each sample, and :math:`|t|` is
    replaced by the difference of aggregates, shifted but not studentised. Runs with equal aggregates have an ASL of 1
    in ``"sign"``: there is no order that could be confirmed.

    Examples
    --------
    >>> scores = Scores.from_array(
    ...     [[[0.1], [0.2], [0.3]], [[0.6], [0.8], [0.9]], [[0.2], [0.1], [0.4]]],
    ...     runs=["bm25", "ours", "theirs"], queries=["q1", "q2", "q3"], measures=["AP"],
    ... )
    >>> found = sensitivity(scores, samples=[[0, 1, 2], [0, 0, 1], [2, 1, 2], [1, 1, 1]], method="sign")
    >>> dict(zip(found.pairs, found.asl["AP"].tolist()))
    {('bm25', 'ours'): 0.0, ('bm25', 'theirs'): 0.25, ('ours', 'theirs'): 0.0}
    >>> found.curve([0.05])["AP"].round(3).tolist()
    [0.667]
    """
    check_scores(scores, "sensitivity")
    choice("sakai", "sign").check("method", method)
    topics = len(scores.queries)
    given = not isinstance(samples, int | np.integer)
    if given:
        drawn = _given(samples, topics)
    else:
        samples_of(width=4 * topics).check("samples", samples)
        integer(0).check("seed", seed)
        places = np.random.default_rng(seed).integers(0, topics, size=(samples, topics))  # type: ignore[arg-type]
        drawn = scores.drawing_order[places]
    notes = peculiarities(scores)
    tell(notes)
    counts = times_drawn(drawn, topics)
    left, right = np.triu_indices(len(scores.runs), 1)
    whole = scores.aggregate()
    asl: PerMeasure[Floats] = PerMeasure()
    for m, measure in enumerate(scores.measures):
        if _studentised(scores, m, method):
            asl[str(measure)] = bootstrap(_paired(scores, m), [counts]).achieved_level
        else:
            reached = [(statistic >= least).mean(axis=1) for statistic, least in _shifted(scores, m, drawn, method)]
            asl[str(measure)] = np.concatenate(reached)
    return Sensitivity(
        asl=asl,
        pairs=tuple((scores.runs[i], scores.runs[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)),
        difference=PerMeasure({str(x): whole[left, m] - whole[right, m] for m, x in enumerate(scores.measures)}),
        method=method,
        samples=len(drawn),
        seed=None if given else seed,
        scores=scores,
        drawn=drawn,
        notes=notes,
    )


def _given(samples: Any, topics: int) -> Ints:
    drawn = topics_of(samples, topics)
    for s, sample in enumerate(drawn):
        if len(sample) != topics:
            raise InputError(
                f"sample {s} has {len(sample)} topics, there are {topics}",
                remedy="draw as many as there are, with replacement",
            )
    return np.stack(drawn)


def _studentised(scores: Scores, m: int, method: Method) -> bool:
    return method == "sakai" and not pooled(scores, m)


def _paired(scores: Scores, m: int) -> Paired:
    left, right = np.triu_indices(len(scores.runs), 1)
    return Paired(np.ascontiguousarray(scores.values[:, :, m]), left, right)


def _shifted(scores: Scores, m: int, drawn: Ints, method: Method) -> Iterator[tuple[Floats, Floats]]:
    """Statistic of each sample under the null hypothesis, pairs × samples, and the observed one; some pairs at a time.

    The statistic is the difference of aggregates: its size, or in ``"sign"`` how far it goes against the observed one.
    """
    resampled = aggregates(scores, m, drawn)
    whole = scores.aggregate()[:, m]
    rounding = ROUNDING * float(np.abs(scores.values[:, :, m]).max())
    paired = _paired(scores, m)
    for block in paired.blocks(len(drawn)):
        left, right = paired.left[block], paired.right[block]
        observed = (whole[left] - whole[right])[:, None]
        observed[np.abs(observed) <= rounding] = 0.0
        statistic = resampled[left] - resampled[right] - observed
        if method == "sign":
            statistic *= -np.sign(observed)
        else:
            np.abs(statistic, out=statistic)
        yield statistic, np.abs(observed) - rounding


def _difference_needed(scores: Scores, m: int, drawn: Ints, counts: Floats, th: int, method: Method) -> float:
    """The ``th`` largest statistic's difference, of the pair where it is largest."""
    if not _studentised(scores, m, method):
        return max(
            float(np.partition(statistic, -th, axis=1)[:, -th].max())
            for statistic, _ in _shifted(scores, m, drawn, method)
        )
    needed = 0.0
    for _, mean, variance in shifted_resamples(_paired(scores, m), counts):
        size = np.abs(mean)
        t2 = np.divide(mean**2, variance, out=np.zeros_like(mean), where=variance > 0)
        chosen = np.argpartition(t2, -th, axis=1)[:, -th, None]
        needed = max(needed, float(np.take_along_axis(size, chosen, axis=1).max()))
    return needed
