"""What is in judgments and runs: labels, pools, forbidden documents, how much of a run is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import join
from ranksift.collection.judged_runs import named_runs
from ranksift.collection.qrels import Qrels, read_qrels
from ranksift.collection.run import Run
from ranksift.errors import InputError
from ranksift.evaluation.printed import Printed
from ranksift.evaluation.table import Column, Table
from ranksift.measures.coverage import Judged

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Spread:
    """How a count is spread over topics: ``sd`` divides by n − 1 (0 for a single topic)."""

    mean: float
    sd: float
    min: float
    median: float
    max: float

    @classmethod
    def of(cls, counts: NDArray[np.integer]) -> Spread:
        """The spread of a count per topic.

        >>> Spread.of(np.array([1, 2, 6]))
        Spread(mean=3.0, sd=2.6457513110645907, min=1.0, median=2.0, max=6.0)
        """
        if not len(counts):
            return cls(0.0, 0.0, 0.0, 0.0, 0.0)
        sd = counts.std(ddof=1) if len(counts) > 1 else 0.0
        return cls(*map(float, (counts.mean(), sd, counts.min(), np.median(counts), counts.max())))


@dataclass(frozen=True)
class LabelShare:
    """How often a label was given.

    Attributes
    ----------
    judgments, topics
        Judgments with the label, and topics that have such a judgment.
    share
        The label's share of all judgments (Carmel et al. 2022, Table 3).
    mean_share
        The label's share of a topic's judgments, averaged over all topics.
    mean_share_where_given
        The same, averaged over the topics in which the label was given (Gienapp et al.'s Table 1: its rows add up
        to more than 1).
    """

    label: int | float
    gain: float
    forbidden: bool
    judgments: int
    topics: int
    share: float
    mean_share: float
    mean_share_where_given: float


@dataclass(frozen=True)
class TopicDescription:
    """The judged documents of a topic: of positive gain, of gain 0, forbidden."""

    query_id: str
    judged: int
    relevant: int
    neutral: int
    forbidden: int


@dataclass(frozen=True)
class RunDescription:
    """A run compared with the judgments.

    Attributes
    ----------
    answered, unanswered
        Judged topics for which the run has documents, and for which it has none.
    unknown
        Queries of the run that have no judgments.
    documents
        Rows of the run, including those of unknown queries.
    length
        Documents in the list of each judged topic, 0 if it is unanswered.
    judged_length
        The same after unjudged documents are omitted (Carmel et al. 2022, Table 4).
    judged_at
        For each k the mean share of the top k that is judged: the measure ``Judged@k``.
    tied, queries_with_ties
        Documents that share their score with another one of their list, and lists with such documents: the order
        of these is not determined by the run.
    """

    run: str
    answered: int
    unanswered: int
    unknown: int
    documents: int
    length: Spread
    judged_length: Spread
    judged_at: dict[int, float]
    tied: int
    queries_with_ties: int

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON; ``judged_at`` by k as a string."""
        return {**asdict(self), "judged_at": {str(k): share for k, share in self.judged_at.items()}}


@dataclass(frozen=True)
class Description(Printed):
    """Results of :func:`describe`.

    Attributes
    ----------
    qrels
        The name of the judgments.
    judgments
        How many there are.
    labels
        Every label, lowest first.
    pool, relevant, forbidden
        Judged, relevant (gain > 0) and forbidden (gain < 0) documents of a topic.
    topics
        Every topic.
    runs
        Every run.
    """

    qrels: str
    judgments: int
    labels: tuple[LabelShare, ...]
    pool: Spread
    relevant: Spread
    forbidden: Spread
    topics: tuple[TopicDescription, ...]
    runs: tuple[RunDescription, ...]

    @property
    def without_relevant(self) -> tuple[str, ...]:
        """Topics in which nothing is relevant."""
        return tuple(t.query_id for t in self.topics if not t.relevant)

    @property
    def with_forbidden(self) -> tuple[str, ...]:
        """Topics in which something is forbidden."""
        return tuple(t.query_id for t in self.topics if t.forbidden)

    @property
    def only_forbidden(self) -> tuple[str, ...]:
        """Topics in which every judged document is forbidden: the right list is empty."""
        return tuple(t.query_id for t in self.topics if t.forbidden == t.judged)

    @property
    def share_by_documents(self) -> dict[str, float]:
        """The share of topics with one judged document, with two, and with three or more."""
        judged = np.array([t.judged for t in self.topics])
        return {"1": float((judged == 1).mean()), "2": float((judged == 2).mean()), "3+": float((judged >= 3).mean())}

    @property
    def judged_length(self) -> Spread | None:
        """Results of a topic after unjudged ones are omitted, averaged over the runs (Carmel et al. 2022, Table 4)."""
        if not self.runs:
            return None
        return Spread(*np.mean([list(asdict(r.judged_length).values()) for r in self.runs], axis=0).tolist())

    def to_frame(self, what: Literal["labels", "topics", "runs"] = "labels") -> pl.DataFrame:
        """A polars frame with one row per label, a topic or a run; a spread has a column for each of its numbers."""
        import polars as pl

        if what not in ("labels", "topics", "runs"):
            raise InputError(f"there is no table of {what!r}", remedy="ask for 'labels', 'topics' or 'runs'")
        if what == "runs":
            return pl.DataFrame([_flat(r.to_dict()) for r in self.runs])
        if what == "topics":
            return pl.DataFrame([asdict(t) for t in self.topics])
        return pl.DataFrame([asdict(x) for x in self.labels])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON."""
        average = self.judged_length
        return {
            "qrels": self.qrels,
            "topics": len(self.topics),
            "judgments": self.judgments,
            "labels": [asdict(x) for x in self.labels],
            "judged_per_topic": asdict(self.pool),
            "relevant_per_topic": asdict(self.relevant),
            "forbidden_per_topic": asdict(self.forbidden),
            "topics_without_relevant": list(self.without_relevant),
            "topics_with_forbidden": list(self.with_forbidden),
            "topics_with_only_forbidden": list(self.only_forbidden),
            "share_by_documents": self.share_by_documents,
            "per_topic": [asdict(t) for t in self.topics],
            "runs": [r.to_dict() for r in self.runs],
            "judged_length_over_runs": None if average is None else asdict(average),
        }

    def parts(self) -> tuple[Table, ...]:
        """What is printed: counts per topic, labels, runs."""
        n, given = len(self.topics), self.judgments
        topics = Table(
            ["documents of a topic", *(Column(name, 1) for name in ("mean", "sd", "min", "median", "max"))],
            [
                ("judged", *asdict(self.pool).values()),
                ("relevant", *asdict(self.relevant).values()),
                ("forbidden", *asdict(self.forbidden).values()),
            ],
            title=f"{self.qrels}: {given:,} judgment{'s' * (given != 1)} of {n:,} topic{'s' * (n != 1)}",
            notes=[
                _count(self.without_relevant, "without a relevant document"),
                _count(self.with_forbidden, "with a forbidden document"),
                _count(self.only_forbidden, "with forbidden documents only", n),
                "documents per topic: one in {:.1%}, two in {:.1%}, three or more in {:.1%}".format(
                    *self.share_by_documents.values()
                ),
            ],
        )
        labels = Table(
            [
                Column("label", None), Column("gain", None), "forbidden", "judgments", "topics",
                Column("share", 2, "percent"), Column("per topic", 2, "percent"), Column("where given", 2, "percent"),
            ],
            [
                (
                    x.label, x.gain, "yes" if x.forbidden else "", x.judgments, x.topics, x.share,
                    x.mean_share, x.mean_share_where_given,
                )
                for x in self.labels
            ],
            title="Labels",
            notes=(
                "share: of all judgments; per topic: mean over topics of the label's share in each; "
                "where given: the same over topics that have the label",
            ),
        ).head(30)  # fmt: skip
        return (topics, labels, *self._run_tables())

    def _run_tables(self) -> list[Table]:
        if not self.runs:
            return []
        ks = list(self.runs[0].judged_at)
        runs = Table(
            ["run", "answered", "unanswered", "unknown", "documents", "tied", *(f"judged@{k}" for k in ks)],
            [
                (r.run, r.answered, r.unanswered, r.unknown, r.documents, r.tied, *r.judged_at.values())
                for r in self.runs
            ],
            title="Runs",
            notes=("unknown: queries without judgments; tied: documents with the same score as another",),
        )
        average = self.judged_length
        spreads = [(r.run, r.length, r.judged_length) for r in self.runs]
        rows = [(run, *_short(length), *_short(judged)) for run, length, judged in spreads]
        if average is not None and len(self.runs) > 1:
            lengths = np.mean([_short(r.length) for r in self.runs], axis=0).tolist()
            rows.append(("mean over runs", *lengths, *_short(average)))
        heads = ("mean", "sd", "min", "judged: mean", "judged: sd", "judged: min")
        lengths_table = Table(
            ["run", *(Column(name, 1) for name in heads)], rows, title="Results of a topic, and those that are judged"
        )
        return [runs, lengths_table]

    def __repr__(self) -> str:
        n, r = len(self.topics), len(self.runs)
        return f"<Description: {self.qrels!r}, {n:,} topic{'s' * (n != 1)}, {r} run{'s' * (r != 1)}>"


def describe(
    qrels: Any, runs: Any = None, *, gains: GainsLike = "linear", k: int | Sequence[int] = (5, 10, 20)
) -> Description:
    """Describe judgments and, optionally, runs.

    Parameters
    ----------
    qrels
        Anything that :func:`read_qrels` takes.
    runs
        A run, a list of runs or ``{name: run}``; None describes only the judgments.
    gains
        The gains of labels; a label of negative gain is forbidden.
    k
        Depths at which the judged share of a run is computed.

    Examples
    --------
    >>> found = describe({"q1": {"a": 2, "b": 0, "c": -2}, "q2": {"a": 0}}, {"q1": {"a": 3, "x": 2}}, k=2)
    >>> found.labels[0].share, found.labels[0].mean_share, found.without_relevant
    (0.25, 0.16666666666666666, ('q2',))
    >>> found.runs[0].judged_at, found.runs[0].unanswered
    ({2: 0.25}, 1)
    """
    judgments = read_qrels(qrels)
    if not judgments.query_ids:
        raise InputError("there is no judgment", source=judgments.name, remedy="give at least one")
    worth = Gains.of(gains)
    measures = [Judged(k=depth) for depth in np.atleast_1d(k).tolist()]
    pool = judgments.pool
    gain = worth(pool.labels)
    relevant, forbidden = (pool.sum(mask).astype(np.int64) for mask in (gain > 0, gain < 0))
    counts = (pool.size, relevant, pool.size - relevant - forbidden, forbidden)
    topics = zip(judgments.query_ids, *(c.tolist() for c in counts), strict=True)
    return Description(
        judgments.name,
        len(judgments),
        _labels(judgments, worth),
        Spread.of(pool.size),
        Spread.of(relevant),
        Spread.of(forbidden),
        tuple(TopicDescription(*topic) for topic in topics),
        () if runs is None else tuple(_run(judgments, run, measures) for run in named_runs(runs)),
    )


def _labels(qrels: Qrels, gains: Gains) -> tuple[LabelShare, ...]:
    pool = qrels.pool
    labels, code = np.unique(pool.labels, return_inverse=True)
    judgments = np.bincount(code, minlength=len(labels))
    topics = np.bincount(np.unique(pool.query * len(labels) + code) % max(1, len(labels)), minlength=len(labels))
    share_sum = np.bincount(code, weights=1.0 / pool.size[pool.query], minlength=len(labels))
    gain = gains(labels)
    share, mean_share = judgments / len(pool.labels), share_sum / len(pool)
    columns = (gain, gain < 0, judgments, topics, share, mean_share, share_sum / topics)
    written = labels.astype(np.int64) if qrels.whole else labels
    rows = zip(*(column.tolist() for column in (written, *columns)), strict=True)
    return tuple(LabelShare(*row) for row in rows)


def _run(qrels: Qrels, run: Run, measures: Sequence[Judged]) -> RunDescription:
    judged = join(qrels, run, qrels.query_ids)
    answered = int(np.count_nonzero(judged.length))
    same = np.zeros(len(run) + 1, dtype=bool)  # whether a row has the score of the row before it, in the same list
    same[1:-1] = run.scores[1:] == run.scores[:-1]
    same[run.offsets] = False
    tied = same[:-1] | same[1:]
    return RunDescription(
        run.name,
        answered,
        len(qrels.query_ids) - answered,
        len(run.query_ids) - answered,
        len(run),
        Spread.of(judged.length),
        Spread.of(np.diff(judged.offsets)),
        {m.k or 0: float(m.per_query(judged).numerator.mean()) for m in measures},
        int(tied.sum()),
        int(np.count_nonzero(np.add.reduceat(tied, run.offsets[:-1]))) if len(run) else 0,
    )


def _short(spread: Spread) -> tuple[float, float, float]:
    return spread.mean, spread.sd, spread.min


def _count(topics: tuple[str, ...], what: str, of: int = 0) -> str:
    """The number of topics, out of how many if that is given, and the first of them."""
    if not topics:
        return f"no topic {what}"
    share = f", {len(topics) / of:.1%}" if of else ""
    first = ", ".join(topics[:3]) + (", …" if len(topics) > 3 else "")
    return f"{len(topics):,} topic{'s' * (len(topics) != 1)} {what}{share} ({first})"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Nested numbers as columns: ``length_mean``, ``judged_at_5``."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        flat |= {f"{name}_{part}": x for part, x in value.items()} if isinstance(value, dict) else {name: value}
    return flat
