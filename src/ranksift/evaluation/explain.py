"""Why a measure has its value: what each document added or cost, and what the list lost compared with the ideal one."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import GainsLike
from ranksift.collection.judged_run import JudgedRun, Unjudged
from ranksift.collection.judged_runs import JudgedRuns, Queries
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.run import Run, read_run
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.alternative_lists import ideal_lists, in_ideal_order, repeated, without
from ranksift.evaluation.evaluate import complaints, nil_ids, ready_measures
from ranksift.evaluation.printed import Tabular
from ranksift.evaluation.table import Column, Table, Value
from ranksift.measures.cumulative import discounted
from ranksift.measures.measure import TOLERANCE, Measure, PerQuery
from ranksift.measures.names import MeasureLike, parse_measure
from ranksift.parameters import integer

if TYPE_CHECKING:
    import polars as pl

#: How many documents of a list are looked at, where the measure has no larger k; judged ones always are.
LOOKED_AT = 100

#: Entries of shortened lists that are evaluated at once: it bounds the memory, not the result.
_BATCH = 4_000_000


@dataclass(frozen=True)
class Losses:
    """A value and its distance from the value of the ideal list.

    The list is improved in three steps, and each step's change is a loss: ``to_forbidden`` when every
    forbidden document is taken out and ranks close up, ``to_misordering`` when what remains is put in the
    ideal order, ``to_missing`` when that becomes the ideal list, with the good documents that the run never
    retrieved. So ``value`` and the three losses add up to ``best`` (``value`` minus the losses if lower values are
    better).

    Attributes
    ----------
    value
        The value of the list itself.
    empty
        The value of an empty list.
    best
        The value of the ideal list: the good documents, best first, and nothing else (or followed by documents of
        gain 0 if the measure requires them). For ``nDCG_org`` this is not the highest value if the
        ideal DCG is negative, which is a flaw of that measure.
    """

    value: float
    empty: float
    best: float
    to_forbidden: float
    to_misordering: float
    to_missing: float

    @property
    def total(self) -> float:
        """All three losses."""
        return self.to_forbidden + self.to_misordering + self.to_missing

    def to_dict(self) -> dict[str, float]:
        """``value``, ``empty``, ``best``, ``lost_to_forbidden``, ``lost_to_misordering``, ``lost_to_missing``."""
        return {f"lost_{name}" if name.startswith("to_") else name: x for name, x in asdict(self).items()}

    def table(self, title: str, notes: Iterable[str] = ()) -> Table:
        """From the value to the best, loss by loss."""
        rows = [
            ("value", self.value),
            ("lost to forbidden documents", self.to_forbidden),
            ("lost to misordering", self.to_misordering),
            ("lost to missing documents", self.to_missing),
            ("best", self.best),
        ]
        return Table(["", "value"], rows, title=title, notes=notes)


@dataclass(frozen=True)
class RankedDocument:
    """A document of the list, and what it added or cost.

    ``label`` is None if it is not judged. ``discount`` is None if gains are not discounted by rank, and
    ``contribution`` is None if the measure is not a sum over documents; otherwise the contributions of all documents
    and the value of the empty list add up to the value. ``if_filtered`` is how much the value would change without the
    document, ranks closed up.
    """

    rank: int
    doc_id: str
    score: float
    label: int | float | None
    gain: float
    discount: float | None
    contribution: float | None
    forbidden: bool
    if_filtered: float


@dataclass(frozen=True)
class IdealDocument:
    """A document of the ideal list; ``found_at`` is its rank in the run's list, None if it is not in it."""

    rank: int
    doc_id: str
    label: int | float
    gain: float
    contribution: float | None
    found_at: int | None


@dataclass(frozen=True)
class QueryExplanation(Tabular):
    """One query explained.

    Attributes
    ----------
    documents
        The list in rank order: every judged document, and the others down to rank k, or 100.
    ideal
        Every document of positive gain, best first.
    length
        Documents in the list, including those that are not shown here.
    """

    query_id: str
    run: str
    measure: str
    higher_is_better: bool
    k: int | None
    length: int
    losses: Losses
    documents: tuple[RankedDocument, ...]
    ideal: tuple[IdealDocument, ...]

    @property
    def missing(self) -> tuple[IdealDocument, ...]:
        """Good documents that the list does not have, or has only below k."""
        return tuple(d for d in self.ideal if d.found_at is None or (self.k is not None and d.found_at > self.k))

    @property
    def most_harmful(self) -> RankedDocument | None:
        """The forbidden document whose removal would gain most; None if no removal would gain anything."""
        sign = 1 if self.higher_is_better else -1
        forbidden = [d for d in self.documents if d.forbidden and sign * d.if_filtered > TOLERANCE]
        return max(forbidden, key=lambda d: sign * d.if_filtered, default=None)

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per document of the list."""
        import polars as pl

        schema = {
            "rank": pl.Int64, "doc_id": pl.String, "score": pl.Float64, "label": pl.Float64, "gain": pl.Float64,
            "discount": pl.Float64, "contribution": pl.Float64, "forbidden": pl.Boolean, "if_filtered": pl.Float64,
        }  # fmt: skip
        return pl.DataFrame([asdict(d) for d in self.documents], schema=schema)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON."""
        harmful = self.most_harmful
        return {
            "query_id": self.query_id,
            "run": self.run,
            "measure": self.measure,
            "higher_is_better": self.higher_is_better,
            "length": self.length,
            **self.losses.to_dict(),
            "most_harmful": None if harmful is None else asdict(harmful),
            "documents": [asdict(d) for d in self.documents],
            "ideal": [asdict(d) for d in self.ideal],
            "missing": [asdict(d) for d in self.missing],
        }

    def parts(self) -> tuple[Table, ...]:
        """What is printed: the losses, the list, the good documents missing."""
        harmful, note = self.most_harmful, []
        if harmful is not None:
            change = Column("", signed=True).written(harmful.if_filtered)
            note = [f"Filtering the forbidden {harmful.doc_id} at rank {harmful.rank} would change it by {change}."]
        losses = self.losses.table(f"{self.measure} of query {self.query_id}, run {self.run}", note)
        missing = Table(
            [
                "ideal rank",
                "document",
                Column("label", None),
                Column("gain", None),
                Column("would give", signed=True),
                "found at rank",
            ],
            [(d.rank, d.doc_id, d.label, d.gain, d.contribution, d.found_at) for d in self.missing],
            title="Good documents missing" + ("" if self.k is None else f" from the top {self.k}"),
        )
        found = [self._sum()] if self.documents else []
        return (losses, *found, *([missing.head(10)] if missing.rows else []))

    def _sum(self) -> Table:
        """The list from the top, and with it all that its contributions need to add up to the value."""
        most = max(10, min(self.k or 30, 50))
        shown, rest = self.documents[:most], self.documents[most:]
        adds_up = any(d.contribution is not None for d in shown)
        discounts = any(d.discount is not None for d in shown)
        columns = [
            Column("rank"), Column("document"), Column("score", None), Column("label", None), Column("gain", None),
            Column("forbidden"), *[Column("discount")] * discounts,
            *[Column("contribution", signed=True)] * adds_up, Column("if filtered", signed=True),
        ]  # fmt: skip
        rows: list[list[Value]] = [
            [
                d.rank, d.doc_id, d.score, d.label, d.gain, "yes" if d.forbidden else "", *[d.discount] * discounts,
                *[d.contribution] * adds_up, d.if_filtered,
            ]
            for d in shown
        ]  # fmt: skip

        def add(what: str, contribution: float) -> None:
            rows.append([None, what, None, None, None, "", *[None] * discounts, contribution, None])

        notes = []
        if adds_up:
            if rest:
                add(f"({len(rest)} more)", sum(d.contribution or 0.0 for d in rest))
            add("(an empty list)", self.losses.empty)
            notes.append(f"The contributions add up to the value, {Column('').written(self.losses.value)}.")
        else:
            notes.append(f"{self.measure} cannot be written as a sum over documents, so there are no contributions.")
        unseen = self.length - len(self.documents)
        left_out = [
            f"{_documents(len(rest))} from rank {rest[0].rank} on" if rest else "",
            f"{_documents(unseen)} without a judgment below rank {max(self.k or 0, LOOKED_AT)}" if unseen > 0 else "",
        ]
        if any(left_out):
            notes.append(f"Left out: {', and '.join(filter(None, left_out))}.")
        return Table(columns, rows, title="What each document added or cost", notes=notes)

    def __repr__(self) -> str:
        return f"<QueryExplanation: {self.measure} of query {self.query_id!r}, run {self.run!r}>"


@dataclass(frozen=True)
class QueryLosses:
    """A query's losses, and the forbidden document that cost it most (None if none did)."""

    query_id: str
    losses: Losses
    forbidden_shown: int
    most_harmful: str | None
    harmful_rank: int | None
    if_filtered: float | None

    def to_dict(self) -> dict[str, Any]:
        """One flat row."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("query_id", "losses")}
        return {"query_id": self.query_id, **self.losses.to_dict(), **own}


@dataclass(frozen=True)
class RunExplanation(Tabular):
    """All queries explained.

    Attributes
    ----------
    queries
        Every query's losses, the largest total loss first.
    overall
        The measure's aggregate over all queries at each step, and so the losses of the aggregate.
    worst
        How many queries are printed.
    """

    run: str
    measure: str
    higher_is_better: bool
    overall: Losses
    queries: tuple[QueryLosses, ...]
    worst: int = 10

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per query, the largest loss first."""
        import polars as pl

        losses = dict.fromkeys(self.overall.to_dict(), pl.Float64)
        harm = {"most_harmful": pl.String, "harmful_rank": pl.Int64, "if_filtered": pl.Float64}
        schema = {"query_id": pl.String, **losses, "forbidden_shown": pl.Int64, **harm}
        return pl.DataFrame([q.to_dict() for q in self.queries], schema=schema)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON; ``queries`` are the ``worst`` ones."""
        return {
            "run": self.run,
            "measure": self.measure,
            "higher_is_better": self.higher_is_better,
            "number_of_queries": len(self.queries),
            "overall": self.overall.to_dict(),
            "queries": [q.to_dict() for q in self.queries[: self.worst]],
        }

    def parts(self) -> tuple[Table, ...]:
        """What is printed: the losses, the worst queries."""
        n = len(self.queries)
        table = Table(
            [
                "query", "value", "best", "to forbidden", "to misordering", "to missing", "most harmful", "at rank",
                Column("if filtered", signed=True),
            ],
            [
                (
                    q.query_id, q.losses.value, q.losses.best, q.losses.to_forbidden, q.losses.to_misordering,
                    q.losses.to_missing, q.most_harmful, q.harmful_rank, q.if_filtered,
                )
                for q in self.queries[: self.worst]
            ],
            title=f"The {self.worst} queries that lose most" if self.worst < n else "Queries, largest loss first",
            notes=[f"Left out, with smaller losses: {_queries(n - self.worst)}."] if self.worst < n else [],
        )  # fmt: skip
        head = f"{self.measure} of run {self.run}, {_queries(n)}"
        return self.overall.table(head), table

    def __repr__(self) -> str:
        return f"<RunExplanation: {self.measure} of run {self.run!r}, {_queries(len(self.queries))}>"


@overload
def explain(
    qrels: Any,
    run: Any,
    measure: MeasureLike,
    query: None = None,
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    worst: int = 10,
) -> RunExplanation: ...


@overload
def explain(
    qrels: Any,
    run: Any,
    measure: MeasureLike,
    query: str | int,
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    worst: int = 10,
) -> QueryExplanation: ...


@overload
def explain(
    qrels: Any,
    run: Any,
    measure: MeasureLike,
    query: str | int | None,
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    worst: int = 10,
) -> QueryExplanation | RunExplanation: ...


def explain(
    qrels: Any,
    run: Any,
    measure: MeasureLike,
    query: str | int | None = None,
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    worst: int = 10,
) -> QueryExplanation | RunExplanation:
    """Explain a measure's value: how much each document added or cost, compared with the ideal list.

    Parameters
    ----------
    qrels, run, measure, gains, unjudged, queries
        As in :func:`evaluate`; one run, one measure.
    query
        The query to explain document by document; None for the losses of every query.
    worst
        How many queries are printed if ``query`` is None, those that lose most first.

    Returns
    -------
    QueryExplanation or RunExplanation

    Examples
    --------
    >>> qrels = {"q": {"good": 2, "fair": 1, "bad": -2}}
    >>> print(explain(qrels, {"q": {"bad": 3, "good": 2}}, "nDCG_f@3", query="q"))
    nDCG_f@3 of query q, run run
                                  value
    ---------------------------  ------
    value                        0.2725
    lost to forbidden documents  0.5913
    lost to misordering          0.0000
    lost to missing documents    0.1362
    best                         1.0000
    Filtering the forbidden bad at rank 1 would change it by +0.5913.
    <BLANKLINE>
    What each document added or cost
    rank  document         score  label  gain  forbidden  discount  contribution  if filtered
    ----  ---------------  -----  -----  ----  ---------  --------  ------------  -----------
       1  bad                  3     -2    -2  yes          1.0000       -0.4319      +0.5913
       2  good                 2      2     2               0.6309       +0.2725      -0.2725
       -  (an empty list)      -      -     -                    -       +0.4319            -
    The contributions add up to the value, 0.2725.
    <BLANKLINE>
    Good documents missing from the top 3
    ideal rank  document  label  gain  would give  found at rank
    ----------  --------  -----  ----  ----------  -------------
             2  fair          1     1     +0.1362  -
    """
    integer(1).check("worst", worst, 10)
    (wanted,) = ready_measures([parse_measure(measure)])
    given = JudgedRuns.of(qrels, run, gains=gains, unjudged=unjudged, queries=queries, nil=nil_ids([wanted]))
    if len(given) != 1:
        raise InputError(f"{len(given)} runs are given", remedy="explain one run at a time")
    ((source, name),) = given.sources
    listed = read_run(source, name=name)
    _, judged, notes = given.joined(listed)
    for note in (*notes, *complaints([wanted], given.pool, given.gains)):
        warnings.warn(note, RankSiftWarning, stacklevel=2)
    counted = given.counted(judged.listed > 0)
    chosen = tuple(np.array(given.queries, dtype=object)[counted].tolist())
    case = _Case(given.qrels, listed, wanted, chosen, repeated(judged, np.flatnonzero(counted)))
    if query is None:
        return case.explain_all(worst)
    query = str(query)  # an integer is an id by its digits
    if query not in chosen:
        near = difflib.get_close_matches(query, chosen, 3, 0.5) or list(chosen[:3])
        known = ", ".join(repr(q) for q in near) + (", …" if len(chosen) > len(near) else "")
        raise InputError(f"query {query!r} is unknown", remedy=f"there are {len(chosen)}: {known}")
    return case.explain_one(chosen.index(query))


class _Case:
    """One run judged by one measure."""

    def __init__(self, qrels: Qrels, run: Run, measure: Measure, queries: tuple[str, ...], judged: JudgedRun) -> None:
        self.qrels, self.run, self.measure, self.queries, self.judged = qrels, run, measure, queries, judged
        self.gains, self.k = measure.gains or judged.gains, measure.k
        self.forbidden: NDArray[np.bool_] = self.gains(judged.label) < 0
        self.sign = 1.0 if measure.higher_is_better else -1.0
        self.now = _evaluated(measure, judged)

    # -- the losses of every query ---------------------------------------------------------------------

    def explain_all(self, worst: int) -> RunExplanation:
        steps = self.steps()
        overall = self.losses(*(float(self.measure.aggregate(*step)) for step in steps))
        values = np.stack([self.measure.values(*step) for step in steps], axis=-1).tolist()
        shown = self.judged.count(self.forbidden).tolist()
        harmful = self.most_harmful()
        rows = [
            QueryLosses(name, self.losses(*values[q]), shown[q], *harmful.get(q, (None, None, None)))
            for q, name in enumerate(self.queries)
        ]
        rows.sort(key=lambda row: -row.losses.total)  # stable: equal losses keep the order of the queries
        return RunExplanation(
            self.run.name, str(self.measure), self.measure.higher_is_better, overall, tuple(rows), worst
        )

    def losses(self, empty: float, value: float, clean: float, ordered: float, best: float) -> Losses:
        lost = (self.sign * (after - before) for before, after in pairwise((value, clean, ordered, best)))
        return Losses(value, empty, best, *lost)

    def steps(self) -> list[PerQuery]:
        """The empty list, the list, the list without forbidden documents, that in ideal order, the ideal list."""
        judged, at = self.judged, self.forbidden
        nothing = ideal_lists(judged, judged.pool.labels, np.zeros(len(judged.pool.labels), dtype=bool))
        clean = without(judged, judged.query[at], judged.place[at])
        ordered = in_ideal_order(clean, self.measure.worth(clean.label, judged.gains))
        return [*(_evaluated(self.measure, lists) for lists in (nothing, judged, clean, ordered)), self.ideal()]

    def ideal(self) -> PerQuery:
        """The best list of a perfect ranker: the good documents alone, followed by those of gain 0, or by NIL."""
        judged, measure = self.judged, self.measure
        value = measure.worth(judged.pool.labels, judged.gains)
        good = value > 0
        harmless = good | (self.gains(judged.pool.labels) >= 0)
        lists = [ideal_lists(judged, value, good), ideal_lists(judged, value, harmless)]
        if judged.nil:
            lists.append(ideal_lists(judged, value, good, nil=True))
        best, *others = (_evaluated(measure, x) for x in lists)
        for other in others:
            better = self.sign * (measure.values(*other) - measure.values(*best)) > TOLERANCE
            best = PerQuery(*(np.where(better, o, b) for o, b in zip(other, best, strict=True)))
        return best

    def most_harmful(self) -> dict[int, tuple[str, int, float]]:
        """For each query that has one, the forbidden document whose filtering gains most, its rank and the change."""
        at = np.flatnonzero(self.forbidden & (self.judged.rank <= (self.k or np.inf)))  # below k they do no harm
        query, rank = self.judged.query[at], self.judged.rank[at]
        change = self.if_filtered(query, self.judged.place[at])
        order = np.lexsort((rank, -self.sign * change, query))
        order = order[self.sign * change[order] > TOLERANCE]
        found, first = np.unique(query[order], return_index=True)
        top = order[first]
        docs = self.run.docs.take(self.judged.row[at[top]]).tolist()
        return dict(zip(found.tolist(), zip(docs, rank[top].tolist(), change[top].tolist(), strict=True), strict=True))

    def if_filtered(self, query: Ints, place: Ints) -> Floats:
        """How much each query's value changes without the document at that place of its list."""
        before = self.measure.values(*self.now)[query]
        # A measure with its own idea of a query's value may look at all queries, as c@1 does.
        in_context = type(self.measure).values is not Measure.values
        longest = max(1, int(np.diff(self.judged.offsets).max(initial=0)), int(self.judged.pool.size.max(initial=0)))
        step = max(1, _BATCH // max(longest, len(self.queries) if in_context else 0))
        after = np.empty(len(query))
        for first in range(0, len(query), step):
            some = slice(first, first + step)
            lists = repeated(self.judged, query[some])
            row = np.arange(len(lists))
            shorter = _evaluated(self.measure, without(lists, row, place[some]))
            if in_context:
                all_queries = [np.tile(part, (len(lists), 1)) for part in self.now]
                for matrix, part in zip(all_queries, shorter, strict=True):
                    matrix[row, query[some]] = part
                after[some] = self.measure.values(*all_queries)[row, query[some]]
            else:
                after[some] = self.measure.values(*shorter)
        return after - before

    # -- one query, document by document ---------------------------------------------------------------

    def explain_one(self, q: int) -> QueryExplanation:
        return QueryExplanation(
            self.queries[q],
            self.run.name,
            str(self.measure),
            self.measure.higher_is_better,
            self.k,
            int(self.judged.length[q]),
            self.losses(*(float(self.measure.values(*step)[q]) for step in self.steps())),
            tuple(self.documents(q)),
            tuple(self.ideal_documents(q)),
        )

    def documents(self, q: int) -> Iterator[RankedDocument]:
        judged = self.judged
        mine = slice(*judged.offsets[q : q + 2].tolist())
        place, rank = judged.place[mine], judged.rank[mine]
        if not judged.dropped:  # unjudged documents are in the list
            top = min(max(self.k or 0, LOOKED_AT), int(judged.listed[q]))
            place = rank = np.union1d(place, np.arange(1, top + 1))
        entry = {int(at): i for i, at in enumerate(judged.place[mine], mine.start)}
        gain = self.measure.gain(judged.label, judged.gains)
        given, weight = self.measure.contributions(judged), self.discounts(rank)
        change = self.if_filtered(np.full(len(place), q), place)
        rows = place - 1
        if len(place):
            rows = rows + self.run.offsets[self.run.query_ids.index(self.queries[q])]
        docs, scores = self.run.docs.take(rows).tolist(), self.run.scores[rows].tolist()
        for i, at in enumerate(place.tolist()):
            j = entry.get(at)
            yield RankedDocument(
                int(rank[i]),
                docs[i],
                scores[i],
                None if j is None else self.as_judged(judged.label[j]),
                0.0 if j is None else float(gain[j]),
                None if weight is None else float(weight[i]),
                None if given is None else 0.0 if j is None else float(given[j]),
                j is not None and bool(self.forbidden[j]),
                float(change[i]),
            )

    def ideal_documents(self, q: int) -> Iterator[IdealDocument]:
        if self.queries[q] not in self.qrels.query_ids:
            return
        judged, pool = self.judged, self.judged.pool
        labels = pool.labels[pool.offsets[q] : pool.offsets[q + 1]]
        start = int(self.qrels.offsets[self.qrels.query_ids.index(self.queries[q])])
        docs = self.qrels.docs[start : start + len(labels)].tolist()
        mine = slice(*judged.offsets[q : q + 2].tolist())
        found = dict(zip(self.run.docs.take(judged.row[mine]).tolist(), judged.rank[mine].tolist(), strict=True))
        value, gain = self.measure.worth(labels, judged.gains), self.gains(labels)
        # Among equally good documents the run's own come first: they are not missing.
        order = np.lexsort(([found.get(d, np.inf) for d in docs], -value))
        order = order[value[order] > 0]
        worth = self.measure.worth(pool.labels, judged.gains)
        best = ideal_lists(judged, worth, worth > 0)
        contributions = self.measure.contributions(best)
        given = None if contributions is None else contributions[best.query == q].tolist()
        for rank, i in enumerate(order.tolist(), 1):
            would_give = None if given is None else given[rank - 1]
            label = self.as_judged(labels[i])
            yield IdealDocument(rank, docs[i], label, float(gain[i]), would_give, found.get(docs[i]))

    def discounts(self, rank: Ints) -> Floats | None:
        """What a gain of 1 adds to DCG@k at each rank; None if the measure is not a sum of discounted gains."""
        if self.measure.line(self.judged.pool, self.gains) is None:
            return None
        return np.where(rank <= (self.k or np.inf), discounted(np.ones(len(rank)), rank, self.measure.base), 0.0)

    def as_judged(self, label: float) -> int | float:
        return int(label) if self.qrels.whole else float(label)


def _queries(count: int) -> str:
    return f"{count} quer{'y' if count == 1 else 'ies'}"


def _documents(count: int) -> str:
    return f"{count} document{'s' * (count != 1)}"


def _evaluated(measure: Measure, judged: JudgedRun) -> PerQuery:
    found = measure.per_query(judged)
    if not np.isfinite(found.numerator).all():
        raise InputError(f"{measure} of some query is not finite", remedy="labels or gains are too large for it")
    return found
