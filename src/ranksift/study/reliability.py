"""Reliability: how much of the variance of scores is the systems' own (generalizability theory)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ranksift.collection.ragged import Floats
from ranksift.errors import InputError, tell
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.significance import product, resamples
from ranksift.evaluation.table import Cell, Column, Table
from ranksift.parameters import integer, number, samples_of
from ranksift.plotting import drawing, legend, shown, styles_of
from ranksift.study.preconditions import check_scores, peculiarities
from ranksift.study.result import PerMeasure, Picture, Result, pictures_of
from ranksift.study.wording import counted, joined, ranked

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Interval = tuple[float, float]

# Sums of squares this small beside the values' own are rounding.
_ROUNDING = 1e-24


class Components(NamedTuple):
    """Variance components of scores: of systems, of topics, and of their interaction (with all else that varies)."""

    system: float
    topic: float
    interaction: float


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Result):
    r"""Result of :func:`reliability`.

    Attributes
    ----------
    phi
        ``{measure: Φ}``, the index of dependability of absolute scores; NaN if nothing varies.
    rho2
        ``{measure: Eρ²}``, the generalizability coefficient of relative standings: topic variance does not count.
    components
        ``{measure: (system, topic, interaction)}``, variance components, negative estimates as 0.
    unclipped, phi_unclipped
        The estimates as they are, and Φ from them.
    phi_interval, rho2_interval
        ``{measure: (low, high)}``, by resampling topics.
    topics, runs
        The numbers of topics and runs.
    confidence, samples, seed
        As given.
    notes
        Remarks, for example on runs that are copies and on constant measures.
    """

    phi: PerMeasure[float]
    rho2: PerMeasure[float]
    components: PerMeasure[Components]
    unclipped: PerMeasure[Components]
    phi_unclipped: PerMeasure[float]
    phi_interval: PerMeasure[Interval]
    rho2_interval: PerMeasure[Interval]
    topics: int
    runs: int
    confidence: float
    samples: int
    seed: int
    notes: tuple[str, ...] = ()

    def phi_with(self, topics: int | Sequence[int]) -> PerMeasure[Floats]:
        """Φ with other numbers of topics (a decision study)."""
        sizes = np.atleast_1d(np.asarray(topics))
        if sizes.ndim != 1 or not np.issubdtype(sizes.dtype, np.number) or not (sizes > 0).all():
            raise InputError(f"topics={topics!r} are not numbers above 0", remedy="give some, as [25, 50, 100]")
        return PerMeasure({m: _phi(np.array(c), sizes) for m, c in self.components.items()})

    def topics_needed(self, phi: float = 0.95) -> PerMeasure[int | None]:
        """The smallest number of topics for which Φ is at least ``phi``; None if no number is enough."""
        number(above=0, below=1).check("phi", phi, 0.95)
        needed: PerMeasure[int | None] = PerMeasure()
        for measure, (system, topic, interaction) in self.components.items():
            if system > 0:
                exactly = phi / (1.0 - phi) * (topic + interaction) / system
                needed[measure] = max(1, math.ceil(exactly * (1.0 - 1e-12)))
            else:
                needed[measure] = None
        return needed

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per measure: components, their shares, Φ and Eρ² with their intervals."""
        import polars as pl

        needed = self.topics_needed()
        rows = [
            {
                "measure": measure,
                "system": c.system,
                "topic": c.topic,
                "interaction": c.interaction,
                "phi": self.phi[measure],
                "phi_low": self.phi_interval[measure][0],
                "phi_high": self.phi_interval[measure][1],
                "phi_unclipped": self.phi_unclipped[measure],
                "rho2": self.rho2[measure],
                "rho2_low": self.rho2_interval[measure][0],
                "rho2_high": self.rho2_interval[measure][1],
                "topics_for_0.95": needed[measure],
            }
            for measure, c in self.components.items()
        ]
        return pl.DataFrame(rows, schema_overrides={"topics_for_0.95": pl.Int64})

    def plot(self, measures: Sequence[str] | None = None) -> Figure:
        """Φ by number of topics, by some measures or by all; this collection is marked, its intervals side by side."""
        figure, axes = drawing("topics", "Φ")
        sizes = np.unique(np.geomspace(1, max(100, 2 * self.topics), 100).round().astype(np.int64))
        curve = self.phi_with(sizes.tolist())
        names = list(measures or curve)
        # Side by side, so that every interval is seen.
        places = self.topics + 0.008 * float(sizes[-1]) * (np.arange(len(names)) - (len(names) - 1) / 2.0)
        for measure, place, style in zip(names, places.tolist(), styles_of(names), strict=True):
            axes.plot(sizes, curve[measure], label=shown(measure), **{**style, "marker": ""})
            axes.plot([self.topics], [self.phi[measure]], color=style["color"], marker="o", markersize=4)
            axes.vlines(place, *self.phi_interval[measure], color=style["color"], linewidth=1.4)
        axes.axhline(0.95, color="0.6", linewidth=0.8)
        axes.set(ylim=(0.0, 1.0), xlim=(0, sizes[-1]))
        legend(axes)
        return figure

    def pictures(self) -> list[Picture]:
        """Φ by number of topics."""
        caption = (
            f"Φ by number of topics; this collection is marked, its {100 * self.confidence:g}% intervals side by side"
        )
        return pictures_of("phi", caption, list(self.phi), self.plot)

    def reading(self) -> list[str]:
        """How much of the variance comes from the systems, and how many topics would be enough."""
        phi = {m: value for m, value in self.phi.items() if not math.isnan(value)}
        if not phi:
            return ["Nothing varies: reliability cannot be judged."]
        found = [
            f"Share of the variance in mean scores over {counted(self.topics, 'topic')} that comes from the runs (Φ): "
            f"{ranked(phi)}."
        ]
        needed = self.topics_needed(0.95)
        there = {m: n for m, n in needed.items() if n is not None}
        if there:
            least, most = min(there, key=lambda m: there[m]), max(there, key=lambda m: there[m])
            words = f"For Φ of 0.95, {least} needs {counted(there[least], 'topic')}"
            found.append(words + (f", {most} {there[most]:,}." if there[most] > there[least] else "."))
        never = [m for m, n in needed.items() if n is None and m in phi]
        if never:
            found.append(f"By {joined(never)}, the runs do not differ beyond chance: no number of topics is enough.")
        overlap = [m for m in phi if self.phi_interval[m][1] >= max(phi.values())]
        if len(phi) > 1 and len(overlap) > 1:
            found.append(
                f"The intervals of {joined(overlap)} reach the highest Φ: "
                "other topics could change which is the most reliable."
            )
        return found

    def table(self) -> Table:
        """One row per measure: shares of variance, Φ and Eρ² with their intervals, topics needed for Φ = 0.95."""
        needed = self.topics_needed(0.95)
        rows = []
        for measure, parts in self.components.items():
            total = sum(parts)
            shares = [part / total if total else None for part in parts]
            coefficients = [
                Cell(None if math.isnan(value) else value, _interval(interval))
                for value, interval in (
                    (self.phi[measure], self.phi_interval[measure]),
                    (self.rho2[measure], self.rho2_interval[measure]),
                )
            ]
            rows.append([measure, *shares, *coefficients, needed[measure]])
        columns = [Column("measure"), *(Column(name, 1, "percent") for name in Components._fields)]
        columns += [Column("Φ", 3), Column("Eρ²", 3), Column("topics for Φ 0.95")]
        size = f"{self.runs} runs on {self.topics} topics"
        title = f"Reliability: variance of {size}, {100 * self.confidence:g}% intervals"
        return Table(columns, rows, title=title, notes=self.notes)


def reliability(scores: Scores, samples: int = 1000, seed: int = 0, *, confidence: float = 0.95) -> Reliability:
    r"""Variance components, Φ and Eρ² of each measure.

    Scores are decomposed by a two-way random-effects analysis of variance without replication (systems × topics, their
    interaction is what remains). With n topics

    .. math::
        \Phi = \frac{\sigma_s^2}{\sigma_s^2 + (\sigma_t^2 + \sigma_{st}^2) / n}, \qquad
        E\rho^2 = \frac{\sigma_s^2}{\sigma_s^2 + \sigma_{st}^2 / n}

    Parameters
    ----------
    scores
        Scores of at least two runs on at least two queries. The values of each query are decomposed, also for micro
        measures.
    samples, seed
        How many times topics are resampled for the intervals, and the seed; 0: no intervals.
    confidence
        The confidence level of the percentile intervals.

    Notes
    -----
    A topic that is drawn twice looks like two topics that agree, so resampled components are biased; they are corrected
    (Wiley 2001; Brennan, Generalizability Theory, 2001, ch. 6): :math:`\sigma_{st}^2` and :math:`\sigma_t^2` are
    multiplied by n / (n − 1), and :math:`\sigma_{st}^2 / (n - 1)`, before that, is taken from :math:`\sigma_s^2`. The
    runs are held fixed.

    The values of Φ that Gienapp et al. 2020 print do not follow this formula. The program that they released fits
    scores to runs and topic numbers without an intercept, so that its "system variance" is nearly the mean squared
    score: it is close to 1 even for random numbers, grows when a constant is added to all scores, and changes with the
    numbering of the topics. That explains the size of the printed values and mostly their order, not the values
    themselves; the experiment on the submissions to the Web Track has the numbers.

    Examples
    --------
    Runs that differ by 0.1 on every topic, and topics that differ by 0.3: no interaction.

    >>> scores = Scores.from_array(
    ...     [[[0.1], [0.4]], [[0.2], [0.5]]], runs=["a", "b"], queries=["q", "r"], measures=["AP"]
    ... )
    >>> found = reliability(scores)
    >>> [round(c, 3) for c in found.components["AP"]], round(found.phi["AP"], 3), found.rho2["AP"]
    ([0.005, 0.045, 0.0], 0.182, 1.0)
    >>> found.topics_needed(0.95)
    {'AP': 171}
    """
    check_scores(scores, "reliability")
    samples_of(width=8, least=0).check("samples", samples)
    integer(0).check("seed", seed)
    number(above=0, below=1).check("confidence", confidence, 0.95)
    notes = peculiarities(scores)
    tell(notes)
    runs, topics, _ = scores.values.shape
    names = [str(m) for m in scores.measures]
    cube = [np.ascontiguousarray(scores.values[:, scores.drawing_order, m]) for m in range(len(names))]
    once = np.ones((1, topics))
    raw = {name: _components(values, once)[:, 0] for name, values in zip(names, cube, strict=True)}
    clipped = {name: np.maximum(c, 0.0) for name, c in raw.items()}
    intervals = {name: _intervals(values, samples, seed, confidence) for name, values in zip(names, cube, strict=True)}
    return Reliability(
        phi=PerMeasure({name: float(_phi(c, topics)) for name, c in clipped.items()}),
        rho2=PerMeasure({name: float(_rho2(c, topics)) for name, c in clipped.items()}),
        components=PerMeasure({name: Components(*c.tolist()) for name, c in clipped.items()}),
        unclipped=PerMeasure({name: Components(*c.tolist()) for name, c in raw.items()}),
        phi_unclipped=PerMeasure({name: float(_phi(c, topics)) for name, c in raw.items()}),
        phi_interval=PerMeasure({name: phi for name, (phi, _) in intervals.items()}),
        rho2_interval=PerMeasure({name: rho2 for name, (_, rho2) in intervals.items()}),
        topics=topics,
        runs=runs,
        confidence=confidence,
        samples=samples,
        seed=seed,
        notes=notes,
    )


def _components(values: Floats, counts: Floats) -> Floats:
    """Unclipped components, 3 × samples, of samples of topics; ``counts`` says how often each topic was drawn.

    The expected mean squares are n_t·σ_s² + σ_st² of systems, n_s·σ_t² + σ_st² of topics, σ_st² of the rest.
    """
    runs, topics = values.shape
    of_runs, of_topics = values.mean(axis=1), values.mean(axis=0)
    interaction = values - of_runs[:, None] - of_topics + values.mean()
    # What a sample adds to each run's mean, and to the mean of all, by the topics that it has more or less often.
    runs_gain, gain = product(interaction, counts) / topics, counts @ (of_topics - values.mean()) / topics
    between_runs = topics * ((of_runs[:, None] - values.mean() + runs_gain) ** 2).sum(axis=0)
    between_topics = runs * (counts @ (of_topics - values.mean()) ** 2 - topics * gain**2)
    rest = counts @ (interaction**2).sum(axis=0) - topics * (runs_gain**2).sum(axis=0)
    squares = np.stack([between_runs, between_topics, rest])
    squares[squares <= _ROUNDING * values.size * np.abs(values).max() ** 2] = 0.0
    system, topic, error = squares / np.array([runs - 1, topics - 1, (runs - 1) * (topics - 1)])[:, None]
    return np.stack([(system - error) / topics, (topic - error) / runs, error])


def _phi(components: Floats, topics: int | Floats) -> Floats:
    system, topic, interaction = components
    return _ratio(system, system + (topic + interaction) / topics)


def _rho2(components: Floats, topics: int | Floats) -> Floats:
    system, _, interaction = components
    return _ratio(system, system + interaction / topics)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0))


def _intervals(values: Floats, samples: int, seed: int, confidence: float) -> tuple[Interval, Interval]:
    """Of Φ and Eρ²."""
    topics = values.shape[1]
    if not samples:
        return (math.nan, math.nan), (math.nan, math.nan)
    drawn = np.concatenate([_components(values, counts) for counts in resamples(topics, samples, seed)], axis=1)
    drawn[0] -= drawn[2] / (topics - 1)
    drawn[1:] *= topics / (topics - 1)
    np.maximum(drawn, 0.0, out=drawn)
    ends = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
    phi, rho2 = (np.quantile(of(drawn, topics), ends).tolist() for of in (_phi, _rho2))
    return (phi[0], phi[1]), (rho2[0], rho2[1])


def _interval(ends: Interval) -> str:
    return "" if math.isnan(ends[0]) else f"[{ends[0]:.3f}, {ends[1]:.3f}]"
