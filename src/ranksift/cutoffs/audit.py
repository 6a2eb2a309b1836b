"""The effects of a rule, document by document: what it dropped, by what margin, and which errors cost most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection import ragged
from ranksift.collection.gains import GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.lists import Lists, lists_given
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.decision_effects import if_reversed, own_values
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.threshold import one_measure
from ranksift.errors import InputError
from ranksift.evaluation.printed import Tabular
from ranksift.evaluation.table import Column, Table, Value
from ranksift.measures.measure import TOLERANCE, Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import flag, instance, integer

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class AuditedDocument:
    """A document that was dropped, or should have been.

    Attributes
    ----------
    query_id, doc_id
        Its query and its id, or its row if documents have no ids.
    rank
        Its rank if nothing is dropped.
    label, gain, score
        Those of the document; label and gain are None if it is unjudged, and the score is the one that the cut is made
        on.
    threshold, margin
        The score from which documents of the query are kept, and how far above it the document is: negative if it was
        dropped. None if the threshold is infinite.
    cost
        What the measure loses by this one decision: the query's value with the decision reversed, minus its value now
        (the other way round if lower is better). It is the change of this document alone, so costs do not add up. None
        if the decision is right.
    """

    query_id: str
    doc_id: str | int
    rank: int
    label: float | None
    gain: float | None
    score: float
    threshold: float | None
    margin: float | None
    cost: float | None


@dataclass(frozen=True)
class AuditedQuery:
    """The effects on a query: numbers of documents, its value, and the cost of its most costly error (0: none)."""

    query_id: str
    documents: int
    dropped: int
    good_dropped: int
    forbidden_dropped: int
    forbidden_shown: int
    threshold: float | None
    value: float
    most_costly: float


@dataclass(frozen=True, eq=False)
class Audit(Tabular):
    """Results of :func:`audit`. Prints what the rule did, its most costly errors, and the queries that lose most.

    Attributes
    ----------
    rule, measure
        The name of the rule, and the measure in which costs are counted.
    lists
        The documents.
    gain
        What each document is worth to the measure; 0 for unjudged ones.
    kept
        Which of them are shown.
    threshold
        The score from which each query's documents are kept.
    cost
        What each wrong decision costs; NaN if the decision is right, or if the document was not judged.
    value, keep_all, drop_all
        The measure over all queries: now, with everything shown, and with nothing shown.
    worst
        How many errors of each kind are shown.
    """

    rule: str
    measure: Measure
    lists: Lists
    gain: Floats
    kept: NDArray[np.bool_]
    threshold: Floats
    cost: Floats
    value: float
    keep_all: float
    drop_all: float
    worst: int = 10

    @property
    def false_drops(self) -> tuple[AuditedDocument, ...]:
        """Good documents that were dropped, the most costly first."""
        return self._worst_of(~self.kept)

    @property
    def false_keeps(self) -> tuple[AuditedDocument, ...]:
        """Forbidden documents that are shown, the most costly first."""
        return self._worst_of(self.kept)

    def _worst_of(self, mask: NDArray[np.bool_]) -> tuple[AuditedDocument, ...]:
        at = np.flatnonzero(mask & (self.cost > TOLERANCE))  # NaN is not above
        return self._told(at[np.argsort(-self.cost[at], kind="stable")][: self.worst])

    def _told(self, at: Ints) -> tuple[AuditedDocument, ...]:
        lists = self.lists
        threshold = self.threshold[lists.query[at]]
        columns = (
            [str(lists.names[q]) for q in lists.query[at].tolist()],
            lists.ids(at),
            lists.rank[at].tolist(),
            _where(lists.judged[at], lists.label[at]),
            _where(lists.judged[at], self.gain[at]),
            lists.score[at].tolist(),
            _where(np.isfinite(threshold), threshold),
            _where(np.isfinite(threshold), lists.score[at] - threshold),
            _where(~np.isnan(self.cost[at]), self.cost[at]),
        )
        return tuple(AuditedDocument(*row) for row in zip(*columns, strict=True))

    @cached_property
    def queries(self) -> tuple[AuditedQuery, ...]:
        """Every query, starting with the one that has the most costly error."""
        lists, kept, n = self.lists, self.kept, len(self.lists)
        good, forbidden = lists.judged & (self.gain >= 0), self.gain < 0

        def counted(mask: NDArray[np.bool_]) -> Ints:
            return ragged.counts(mask, lists.query, n)

        most = np.zeros(n)
        np.maximum.at(most, lists.query, np.nan_to_num(self.cost))
        counts = (lists.lengths, *map(counted, (~kept, ~kept & good, ~kept & forbidden, kept & forbidden)))
        columns = (
            [str(name) for name in lists.names],
            *(count.tolist() for count in counts),
            _where(np.isfinite(self.threshold), self.threshold),
            own_values(self.measure, lists, kept).tolist(),
            most.tolist(),
        )
        every = (AuditedQuery(*row) for row in zip(*columns, strict=True))
        return tuple(sorted(every, key=lambda query: -query.most_costly))

    # -- tables ------------------------------------------------------------------------------------------------

    def totals(self) -> Table:
        """Good, forbidden and unjudged documents: how many are shown, how many were dropped."""
        lists = self.lists
        kinds = {
            "good (gain >= 0)": lists.judged & (self.gain >= 0),
            "forbidden (gain < 0)": self.gain < 0,
            "not judged": ~lists.judged,
            "all": np.ones(len(lists.score), dtype=bool),
        }
        rows: list[list[Value]] = []
        for kind, mask in kinds.items():
            shown, there = int((mask & self.kept).sum()), int(mask.sum())
            if there or kind != "not judged":
                rows.append([kind, there, shown, there - shown, (there - shown) / there if there else None])
        columns: list[Column | str] = ["documents", "all", "shown", "dropped", Column("share dropped", 1, "percent")]
        notes = [
            f"{self.measure}: {self.value:.4f}; with everything shown {self.keep_all:.4f}, with nothing "
            f"{self.drop_all:.4f}."
        ]
        n = len(lists)
        return Table(
            columns, rows, title=f"What {self.rule} dropped, {n:,} quer{'y' if n == 1 else 'ies'}", notes=notes
        )

    def errors(self, kind: Literal["false drops", "false keeps"]) -> Table:
        """The most costly errors of a kind."""
        told = {
            "false drops": ("good documents dropped", self.false_drops),
            "false keeps": ("forbidden documents shown", self.false_keeps),
        }
        if kind not in told:
            raise InputError(f"errors {kind!r} are unknown", remedy="use 'false drops' or 'false keeps'")
        what, documents = told[kind]
        note = f"cost: what {self.measure} of the query loses by this one decision." if documents else "There are none."
        return _table(documents, f"Most costly {kind}: {what}", [note])

    def dropped(self, query: Any = None) -> Table:
        """Documents that were dropped, of all queries or of one, in rank order, with their margins."""
        mask = ~self.kept
        if query is not None:
            names = [str(name) for name in self.lists.names]
            if str(query) not in names:
                raise InputError(f"query {query!r} is unknown", remedy=f"there are {len(names)}, one is {names[0]!r}")
            mask &= self.lists.query == names.index(str(query))
        title = f"Dropped by {self.rule}" + ("" if query is None else f", query {query}")
        return _table(self._told(np.flatnonzero(mask)), title)

    def parts(self) -> tuple[Table, ...]:
        """What is printed."""
        columns: list[Column | str] = [
            "query", "documents", "dropped", "good dropped", "forbidden shown", Column("threshold", None),
            str(self.measure), "most costly error",
        ]  # fmt: skip
        suffer = [q for q in self.queries if q.most_costly > TOLERANCE]
        rows = [
            (q.query_id, q.documents, q.dropped, q.good_dropped, q.forbidden_shown, q.threshold, q.value, q.most_costly)
            for q in suffer[: self.worst]
        ]
        queries = Table(columns, rows, title="Queries that lose most")
        told = [self.totals(), self.errors("false drops"), self.errors("false keeps")]
        return (*told, queries) if suffer else tuple(told)

    def __repr__(self) -> str:
        dropped, n = int((~self.kept).sum()), len(self.kept)
        return f"<Audit: {self.rule} dropped {dropped:,} of {n:,} documents>"

    # -- data --------------------------------------------------------------------------------------------------

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per document, in rank order; ``cost`` is null if there is no error."""
        import polars as pl

        lists = self.lists
        names = pl.Series("query_id", [str(name) for name in lists.names], dtype=pl.String)
        threshold = self.threshold[lists.query]
        frame = pl.DataFrame(
            {
                "query_id": names[lists.query],
                "doc_id": lists.ids(np.arange(len(lists.score))),
                "rank": lists.rank,
                "label": lists.label,
                "gain": self.gain,
                "score": lists.score,
                "threshold": threshold,
                "margin": lists.score - threshold,
                "kept": self.kept,
                "cost": self.cost,
            }
        )
        known = pl.Series(lists.judged)
        return frame.with_columns(
            *(pl.when(known).then(pl.col(name)).alias(name) for name in ("label", "gain")),
            pl.col("cost").fill_nan(None),
        )

    def per_query(self) -> pl.DataFrame:
        """A polars frame with one row per query, starting with the one that has the most costly error."""
        import polars as pl

        kinds = {"str": pl.String, "int": pl.Int64, "float": pl.Float64, "float | None": pl.Float64}
        schema = {f.name: kinds[str(f.type)] for f in fields(AuditedQuery)}
        return pl.DataFrame([asdict(q) for q in self.queries], schema=schema)

    def to_dict(self) -> dict[str, Any]:
        """What is printed, as JSON."""
        return {
            "rule": self.rule,
            "measure": str(self.measure),
            "value": self.value,
            "keep_all": self.keep_all,
            "drop_all": self.drop_all,
            "documents": len(self.kept),
            "dropped": int((~self.kept).sum()),
            "false_drops": [asdict(d) for d in self.false_drops],
            "false_keeps": [asdict(d) for d in self.false_keeps],
            "queries": [asdict(q) for q in self.queries[: self.worst]],
        }


def audit(
    cutoff: Cutoff,
    lists: Lists,
    *old: Any,
    measure: MeasureLike | None = None,
    worst: int = 10,
    documents: Iterable[Any] | None = None,
    rank_scores: ArrayLike | None = None,
    cut_scores: Any = None,
    gains: GainsLike | None = None,
    unjudged: Unjudged | None = None,
    any_scale: bool = False,
) -> Audit:
    """Show what a rule drops from labelled documents, and which of its errors cost most.

    Parameters
    ----------
    cutoff
        Fitted, or loaded from a file.
    lists
        Documents with labels: ``Lists.from_arrays(scores, labels, groups)`` or ``Lists.from_run(qrels, run)``.
    measure
        The measure in which costs are counted: by default the one that the rule is fitted to, or nDCG_f at its k, or at
        3.
    worst
        How many errors of each kind are shown.
    any_scale
        As in :meth:`Cutoff.apply`.
    old, documents, rank_scores, cut_scores, gains, unjudged
        An old spelling, with arrays or a run instead of lists. It works until 1.0, with a warning.

    Examples
    --------
    >>> from ranksift import GlobalCutoff, Lists
    >>> cut = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
    >>> lists = Lists.from_run({"q": {"a": 2, "b": 1, "c": -1}}, {"q": {"a": 0.9, "b": 0.6, "c": 0.8}})
    >>> print(audit(cut, lists))
    What global dropped, 1 query
    documents             all  shown  dropped  share dropped
    --------------------  ---  -----  -------  -------------
    good (gain >= 0)        2      1        1          50.0%
    forbidden (gain < 0)    1      1        0           0.0%
    all                     3      2        1          33.3%
    nDCG_f@3: 0.6525; with everything shown 0.7902, with nothing 0.2754.
    <BLANKLINE>
    Most costly false drops: good documents dropped
    query  document  rank  label  gain  score  threshold  margin    cost
    -----  --------  ----  -----  ----  -----  ---------  ------  ------
    q      b            3      1     1    0.6        0.7    -0.1  0.1377
    cost: what nDCG_f@3 of the query loses by this one decision.
    <BLANKLINE>
    Most costly false keeps: forbidden documents shown
    query  document  rank  label  gain  score  threshold  margin    cost
    -----  --------  ----  -----  ----  -----  ---------  ------  ------
    q      c            2     -1    -1    0.8        0.7    +0.1  0.1738
    cost: what nDCG_f@3 of the query loses by this one decision.
    <BLANKLINE>
    Queries that lose most
    query  documents  dropped  good dropped  forbidden shown  threshold  nDCG_f@3  most costly error
    -----  ---------  -------  ------------  ---------------  ---------  --------  -----------------
    q              3        1             1                1        0.7    0.6525             0.1738
    """
    instance(Cutoff).check("cutoff", cutoff)
    flag().check("any_scale", any_scale)
    integer(1).check("worst", worst, 10)
    second = {"rank_scores": rank_scores, "cut_scores": cut_scores, "documents": documents}
    lists = lists_given("audit(cutoff, {})", (lists, *old), **second, gains=gains, unjudged=unjudged)
    if not len(lists.pool.labels):
        raise InputError("no document has a label", remedy="label some")
    kept = cutoff.keep_lists(lists)
    if cutoff.fitted_on_["two_scores"] and not (lists.two_scores or not lists.cuts_from_the_end):
        raise InputError(
            "the cutoff was fitted on two scores",
            remedy="give the other: rank_scores of Lists.from_arrays, cut_scores of Lists.from_run",
        )
    if not any_scale:
        cutoff.check_scale(lists.score)
    judge = one_measure(cutoff.natural_measure if measure is None else measure)
    if type(judge).values is not Measure.values:
        raise InputError(f"{judge} gives a query no value of its own", remedy="use another measure")
    gain = np.where(lists.judged, (judge.gains or lists.gains)(lists.label), 0.0)
    everything = np.ones(len(kept), dtype=bool)
    return Audit(
        rule=cutoff.rule or type(cutoff).__name__,
        measure=judge,
        lists=lists,
        gain=gain,
        kept=kept,
        threshold=cutoff.thresholds(lists),
        cost=_costs(judge, lists, gain, kept),
        value=aggregate(judge, lists, kept),
        keep_all=aggregate(judge, lists, everything),
        drop_all=aggregate(judge, lists, ~everything),
        worst=int(worst),
    )


def _costs(measure: Measure, lists: Lists, gain: Floats, kept: NDArray[np.bool_]) -> Floats:
    """What reversing each wrong decision would gain; NaN if the decision is right."""
    wrong = lists.judged & (kept == (gain < 0))
    cost = np.full(len(kept), np.nan)
    sign = 1.0 if measure.higher_is_better else -1.0
    cost[wrong] = sign * if_reversed(measure, lists, kept, np.flatnonzero(wrong))
    return cost


def _where(known: NDArray[np.bool_], values: Floats) -> list[float | None]:
    """Values where they are known, else None."""
    return [value if there else None for there, value in zip(known.tolist(), values.tolist(), strict=True)]


def _table(documents: Iterable[AuditedDocument], title: str, notes: Iterable[str] = ()) -> Table:
    columns: list[Column | str] = [
        "query", "document", "rank", Column("label", None), Column("gain", None), Column("score", None),
        Column("threshold", None), Column("margin", None, signed=True), "cost",
    ]  # fmt: skip
    return Table(columns, [tuple(asdict(document).values()) for document in documents], title=title, notes=notes)
