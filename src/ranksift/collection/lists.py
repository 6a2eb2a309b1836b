"""Scored lists: the documents of every query with the score that ranks them and the score that a cut is made on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection import ragged
from ranksift.collection._engine.ids import Ids
from ranksift.collection.gains import LINEAR, Gains, GainsLike
from ranksift.collection.judged_run import UNJUDGED, JudgedRun, Unjudged
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, warn_renamed

if TYPE_CHECKING:
    from ranksift.collection.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Documents of all queries, query after query, each list in the order in which it is shown.

    Attributes
    ----------
    offsets
        Query i owns the documents ``offsets[i]`` to ``offsets[i + 1]``.
    score
        The scores on which the cut is made: documents below it are dropped.
    label, judged
        Labels, and which documents have one; the label of the others is 0.
    row
        Where each document stood in the input.
    pool
        All judged documents of each query, including those in no list.
    gains
        The gains of labels.
    names
        The queries.
    documents
        Ids of the documents, by the rows of the input; None if they have none.
    two_scores
        Whether documents are ranked by scores other than those on which the cut is made.
    """

    offsets: Ints
    score: Floats
    label: Floats
    judged: NDArray[np.bool_]
    row: Ints
    pool: Pool
    names: Sequence[Hashable]
    gains: Gains = LINEAR
    documents: Ids | None = None
    two_scores: bool = False
    _falling: Ints | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        n, judged, q = len(self.score), int(self.judged.sum()), len(self)
        counts = f"{n:,} document{'s' * (n != 1)}, {judged:,} judged, {q:,} quer{'y' if q == 1 else 'ies'}"
        return f"<Lists: {counts}{', another score to cut on' * self.two_scores}>"

    @cached_property
    def lengths(self) -> Ints:
        """Documents of each query."""
        return np.diff(self.offsets)

    @cached_property
    def query(self) -> Ints:
        """The query of each document."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each document when nothing is dropped."""
        return ragged.positions(self.lengths) + 1

    @cached_property
    def gain(self) -> Floats:
        """The gain of each document; 0 for an unjudged one."""
        return np.where(self.judged, self.gains(self.label), 0.0)

    @cached_property
    def cuts_from_the_end(self) -> bool:
        """Whether a cut can only shorten lists: the score it is made on never rises down a list."""
        rises = self.score[1:] > self.score[:-1]
        rises[self.offsets[1:-1][(self.offsets[1:-1] > 0) & (self.offsets[1:-1] < len(self.score))] - 1] = False
        return not rises.any()

    @cached_property
    def falling(self) -> Ints:
        """Documents of all queries by score, highest first."""
        return np.argsort(-self.score, kind="stable") if self._falling is None else self._falling

    def with_score(self, score: Floats) -> Lists:
        """The same lists, cut on another score."""
        return replace(self, score=np.asarray(score, dtype=np.float64), _falling=None)

    def ids(self, at: Ints) -> list[Any]:
        """The ids of some documents; the numbers of their rows if they have no ids."""
        rows = self.row[at]
        found: list[Any] = rows.tolist() if self.documents is None else self.documents.take(rows).tolist()
        return found

    def of_queries(self, chosen: Ints) -> Lists:
        """Some of the queries, in this order."""
        rows, offsets = ragged.take(self.offsets, chosen)
        return Lists(
            offsets,
            self.score[rows],
            self.label[rows],
            self.judged[rows],
            self.row[rows],
            self.pool.take(chosen),
            [self.names[i] for i in chosen.tolist()],
            self.gains,
            self.documents,
            self.two_scores,
        )

    def judged_by(self, kept: NDArray[np.bool_], order: Ints | None = None) -> JudgedRun:
        """What measures see when only some documents are shown, as they stand or in another ``order`` of all."""
        rows = np.arange(len(self.score)) if order is None else order
        rows = rows[kept[rows]]
        query = self.query[rows]
        length = np.bincount(query, minlength=len(self))
        rank = ragged.positions(length) + 1
        seen = self.judged[rows]
        rows = rows[seen]
        return JudgedRun(self.pool, query[seen], rank[seen], self.label[rows], self.row[rows], length, self.gains)

    # -- where they come from ---------------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        scores: ArrayLike,
        labels: ArrayLike | None,
        groups: ArrayLike,
        *,
        rank_scores: ArrayLike | None = None,
        documents: Iterable[Any] | None = None,
        gains: GainsLike = "linear",
        unjudged: Unjudged = "zero",
    ) -> Lists:
        """Take one document per row.

        Parameters
        ----------
        scores
            The scores on which the cut is made.
        labels
            A label of None or NaN marks an unjudged document. None: all documents are unjudged.
        groups
            The query of each document.
        rank_scores
            The scores that rank the documents (default: ``scores``). Equal ones keep their order.
        documents
            Ids of the documents, for reports that name them.
        gains, unjudged
            As in :func:`evaluate`.

        Examples
        --------
        >>> lists = Lists.from_arrays([0.2, 0.9, 0.5], [1, 0, None], ["q", "q", "r"])
        >>> lists
        <Lists: 3 documents, 2 judged, 2 queries>
        >>> lists.score.tolist(), lists.row.tolist(), lists.judged.tolist()
        ([0.9, 0.2, 0.5], [1, 0, 2], [True, True, False])
        """
        UNJUDGED.check("unjudged", unjudged)
        score = _numbers("score", scores)
        label = np.full(len(score), np.nan) if labels is None else _labels(labels)
        group = np.asarray(groups)
        by = score if rank_scores is None else _numbers("rank score", rank_scores)
        sizes = {"scores": score, "labels": label, "groups": group, "rank scores": by}
        if any(part.shape != score.shape for part in sizes.values()):
            counted = ", ".join(
                f"{part.size} {name}" for name, part in sizes.items() if name != "rank scores" or part is not score
            )
            raise InputError(f"{counted}", remedy="give one of each for every document")
        if not len(score):
            raise InputError("there is no document", remedy="give some")
        query, names = _numbered(group)
        falling = np.argsort(-by, kind="stable")
        grouped = ragged.order_by(query[falling], len(names))
        order = falling[grouped]
        known = ~np.isnan(label)
        label = np.where(known, label, 0.0)
        in_pool = order[known[order]]
        pool = Pool.of(ragged.offsets_of(np.bincount(query[in_pool], minlength=len(names))), label[in_pool])
        if unjudged == "drop":
            order = in_pool
        offsets = ragged.offsets_of(np.bincount(query[order], minlength=len(names)))
        sorted_already = None
        if by is score and len(order) == len(grouped):
            sorted_already = np.empty(len(grouped), dtype=np.int64)
            sorted_already[grouped] = np.arange(len(grouped))
        named = None if documents is None else Ids.from_strings([str(document) for document in documents])
        if named is not None and len(named) != len(score):
            raise InputError(f"{len(named)} documents of {len(score)} rows", remedy="name the document of every row")
        made = cls(
            offsets,
            score[order],
            label[order],
            known[order],
            order,
            pool,
            names,
            Gains.of(gains),
            named,
            by is not score,
            sorted_already,
        )
        made.gains(pool.labels)  # a label that has no gain is refused now
        return made

    @classmethod
    def from_run(
        cls,
        qrels: Any,
        run: Any,
        *,
        cut_scores: Any = None,
        gains: GainsLike = "linear",
        unjudged: Unjudged = "zero",
    ) -> Lists:
        """Take a run and its judgments, or an unjudged run.

        Every judged query counts, even one that the run does not answer.

        Parameters
        ----------
        qrels, run
            Anything that :func:`read_qrels` and :func:`read_run` take. None if there are no judgments.
        cut_scores
            Another run with scores of the same documents, if the cut is made on those.
        gains, unjudged
            As in :func:`evaluate`.

        Examples
        --------
        >>> Lists.from_run({"q": {"a": 1, "b": -1}}, {"q": {"a": 0.3, "b": 0.9}}).label.tolist()
        [-1.0, 1.0]
        """
        from ranksift.collection.judged_runs import JudgedRuns
        from ranksift.collection.qrels import read_qrels
        from ranksift.collection.run import read_run

        UNJUDGED.check("unjudged", unjudged)
        qrels, run = None if qrels is None else read_qrels(qrels), read_run(run)
        scores = run.scores if cut_scores is None else _scores_of(run, read_run(cut_scores))
        label, known = np.zeros(len(run)), np.zeros(len(run), dtype=bool)
        if qrels is None:
            names = run.query_ids
            pool = Pool.of(np.zeros(len(names) + 1, dtype=np.int64), np.zeros(0))
        else:
            names = qrels.query_ids
            judged = JudgedRuns.of(qrels, run, gains=gains).joined(run).judged
            label[judged.row], known[judged.row], pool = judged.label, True, judged.pool
        number = {name: i for i, name in enumerate(names)}
        query = np.repeat(np.array([number.get(name, -1) for name in run.query_ids], dtype=np.int64), run.lengths)
        rows = np.flatnonzero((query >= 0) & (known if unjudged == "drop" else True))
        rows = rows[np.argsort(query[rows], kind="stable")]
        offsets = ragged.offsets_of(np.bincount(query[rows], minlength=len(names)))
        return cls(
            offsets,
            scores[rows],
            label[rows],
            known[rows],
            rows,
            pool,
            names,
            Gains.of(gains),
            run.docs,
            cut_scores is not None,
        )

    @classmethod
    def of_arrays(cls, *arrays: Any, **options: Any) -> Lists:
        """An old spelling of :meth:`from_arrays`."""
        warn_renamed("Lists.of_arrays", "Lists.from_arrays")
        return cls.from_arrays(*arrays, **options)

    @classmethod
    def of_run(cls, *given: Any, **options: Any) -> Lists:
        """An old spelling of :meth:`from_run`."""
        warn_renamed("Lists.of_run", "Lists.from_run")
        return cls.from_run(*given, **options)


def lists_given(call: str, data: Sequence[Any], **how: Any) -> Lists:
    """Lists as they are; what they are made of, an old spelling, with a warning.

    ``call`` is how they are given, with {} in their place. ``how`` are options of the old spelling, None if they are
    not given.
    """
    caller = call.partition("(")[0]
    options = {name: value for name, value in how.items() if value is not None}
    first = data[0]
    if len(data) == 1 and isinstance(first, Lists):
        if options:
            name = next(iter(options))
            raise InputError(
                f"{caller}: {name} is given in addition to Lists", remedy=f"give {name} to what makes them"
            )
        return first
    make: Callable[..., Lists]
    if len(data) == 2:
        make, arguments, foreign = Lists.from_run, "qrels, run", "rank_scores"
    elif len(data) == 3:
        make, arguments, foreign = Lists.from_arrays, "scores, labels, groups", "cut_scores"
    else:
        what = f"{caller} takes Lists, not {type(first).__name__}"
        remedy = "make them: Lists.from_arrays(scores, labels, groups), Lists.from_run(qrels, run)"
        raise InputError(what, remedy=remedy)
    if foreign in options:
        raise InputError(f"{caller}: {foreign} cannot be combined with {arguments}", remedy=f"leave {foreign} out")
    old = f"({arguments})" if "test=" in call else arguments
    maker = "from_run" if len(data) == 2 else "from_arrays"
    warn_renamed(call.format(old), call.format(f"Lists.{maker}({arguments})"), stacklevel=4)
    return make(*data, **options)


def _numbers(name: str, given: ArrayLike) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"a {name} is not a number", remedy="give one for every document") from None
    if values.ndim != 1:
        raise InputError(f"{name}s of {values.ndim} dimensions", remedy="give one for every document")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(
            f"{name} number {bad[0]} is {values[bad[0]]}", remedy="leave that document out, or give it a finite one"
        )
    return values + 0.0  # −0 is 0


def _labels(given: ArrayLike) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("a label is not a number", remedy="give a number, or None for an unjudged document") from None
    if np.isinf(values).any():
        raise InputError(f"label number {int(np.isinf(values).argmax())} is infinite", remedy="give a finite one")
    return values


def _numbered(group: NDArray[Any]) -> tuple[Ints, Sequence[Any]]:
    """The number of each document's query, and the queries, both in order of appearance."""
    if group.ndim != 1:
        raise InputError("groups are not a list", remedy="give the query of every document")
    if group.dtype.kind == "f" and np.isnan(group).any():
        raise InputError(f"group number {int(np.isnan(group).argmax())} is nan", remedy="name its query")
    starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    try:
        first = np.unique(group[starts], return_index=True)[1]
    except TypeError:
        raise InputError("groups are of several types", remedy="give strings, or numbers") from None
    if len(first) == len(starts):  # every query in one piece, the usual case
        lengths = np.diff(np.append(starts, len(group)))
        return np.repeat(np.arange(len(starts)), lengths), group[starts].tolist()
    _, first, code = np.unique(group, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    return number[code.ravel()], group[np.sort(first)].tolist()


def _scores_of(run: Run, other: Run) -> Floats:
    """The other run's score of each document of a run."""
    theirs = other.to_dict()
    out = np.empty(len(run))
    at = 0
    for name, docs in run.to_dict().items():
        known = theirs.get(name, {})
        for doc in docs:
            if doc not in known:
                raise InputError(
                    f"document {doc!r} of query {name!r} has no score to cut on",
                    source=other.name,
                    remedy=f"score every document of {run.name!r} there",
                )
            out[at] = known[doc]
            at += 1
    return out
