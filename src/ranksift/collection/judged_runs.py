"""From judgments and runs in any form to runs joined with the judgments: one route for everything."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.grouping import OnDuplicate
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import JudgedRun, Unjudged, join, refuse_judged_nil
from ranksift.collection.pool import Pool
from ranksift.collection.qrels import Qrels, is_two_level, read_qrels
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.run import Run, read_run
from ranksift.collection.run_facts import QrelsFacts, RunFacts, misfits, strangers
from ranksift.collection.run_parts import RunParts, memory_for
from ranksift.errors import InputError

#: Which queries count: all that are judged, those that the run answers, or these.
Queries: TypeAlias = Literal["qrels", "run"] | Sequence[str]


class RunSource(NamedTuple):
    """What :func:`read_run` takes, and the name for the run, if one is given."""

    source: Any
    name: str | None


class OneJudgedRun(NamedTuple):
    """A run's name, the run joined with the judgments, and what a reader should know of it."""

    name: str
    judged: JudgedRun
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Runs that are read and joined with the judgments one after another, when they are needed.

    Attributes
    ----------
    qrels
        The judgments.
    sources
        The runs, as they were given.
    queries
        The queries that may count, in this order.
    which
        The rule by which they count.
    gains, unjudged, nil, on_duplicate
        As in :func:`join` and :func:`read_run`.
    depth
        How many documents of each list count; None: all.
    columns
        What the columns of tables are called, as in :func:`read_run`.
    """

    qrels: Qrels
    sources: tuple[RunSource, ...]
    queries: tuple[str, ...]
    which: Literal["qrels", "run", "named"]
    gains: Gains
    unjudged: Unjudged
    nil: frozenset[str]
    on_duplicate: OnDuplicate
    depth: int | None = None
    columns: Columns = None
    _kept: dict[int, OneJudgedRun] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        qrels: Any,
        runs: Any,
        *,
        gains: GainsLike = "linear",
        unjudged: Unjudged = "zero",
        queries: Queries = "qrels",
        nil: Iterable[str] = (),
        on_duplicate: OnDuplicate = "error",
        depth: int | None = None,
        columns: Columns = None,
        keep: bool = False,
    ) -> JudgedRuns:
        """Read the judgments, and see which runs there are.

        Runs that already are ``JudgedRuns`` of the same judgments are not read again, unless they must be joined in
        another way.

        Parameters
        ----------
        qrels, runs, gains, unjudged, queries, on_duplicate, depth, columns
            As in :func:`evaluate`.
        nil
            Document ids that mean "no answer".
        keep
            Whether a joined run is kept, so that it is read only once. Only its judged documents are kept.

        Examples
        --------
        >>> given = JudgedRuns.of({"q": {"a": 1}, "r": {"b": 2}}, {"one": {"q": {"a": 0.5, "c": 0.1}}})
        >>> given.queries, [(name, judged.length.tolist()) for name, judged, _ in given]
        (('q', 'r'), [('one', [2, 0])])
        """
        judgments = read_qrels(qrels, on_duplicate=on_duplicate, columns=columns)
        which: Any = queries if isinstance(queries, str) else "named"
        wanted = cls(
            judgments,
            runs.sources if isinstance(runs, JudgedRuns) else tuple(run_sources(runs)),
            _candidates(judgments, queries),
            which,
            Gains.of(gains),
            unjudged,
            frozenset(nil),
            on_duplicate,
            depth,
            columns,
            {} if keep else None,
        )
        return runs._worth(wanted.gains) if isinstance(runs, JudgedRuns) and runs._serves(wanted) else wanted

    def _serves(self, wanted: JudgedRuns) -> bool:
        """Whether its runs are joined as is wanted; what labels are worth is seen afterwards."""
        same = self.qrels is wanted.qrels and self.which == wanted.which and self.queries == wanted.queries
        same = same and self.unjudged == wanted.unjudged and self.depth == wanted.depth
        return same and wanted.nil <= self.nil

    def _worth(self, gains: Gains) -> JudgedRuns:
        return self if gains == self.gains else replace(self, gains=gains)

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[OneJudgedRun]:
        return (self[r] for r in range(len(self)))

    def __getitem__(self, r: int) -> OneJudgedRun:
        """Read and join a run."""
        found = None if self._kept is None else self._kept.get(r)
        if found is None:
            source, name = self.sources[r]
            found = self.joined(read_run(source, name=name, on_duplicate=self.on_duplicate, columns=self.columns))
            if self._kept is not None:
                self._kept[r] = found
        return found._replace(judged=replace(found.judged, gains=self.gains))

    def in_parts(self, r: int, memory: int | str | None = None) -> RunParts | None:
        """A run that would take more memory than it may, to be read in parts; None if it is read whole."""
        source, name = self.sources[r]
        may_take = None if self._kept is not None else memory_for(source, memory)
        return None if may_take is None else RunParts(source, name, self.on_duplicate, self.columns, may_take)

    def joined(self, run: Run) -> OneJudgedRun:
        """Join a run that is read already."""
        run = self.shown(run)
        facts = RunFacts.of(self.qrels, run, self.queries)
        strangers = self.strangers(facts, run.name)
        judged = self.join(self.qrels, run, self.queries)
        return OneJudgedRun(run.name, judged, (*strangers, *self.misfits(facts.joined(judged), run.name)))

    def shown(self, run: Run) -> Run:
        """As much of a run as counts."""
        return run if self.depth is None else run.top(self.depth)

    def join(self, qrels: Qrels, run: Run, queries: Sequence[str]) -> JudgedRun:
        """Join a run that is shown, or what it has of some queries, with their judgments."""
        return join(qrels, run, queries, unjudged=self.unjudged, gains=self.gains, nil=self.nil)

    def check_nil(self) -> None:
        """Refuse judgments of NIL documents, as the join does."""
        for name in set(self.nil):
            refuse_judged_nil(self.qrels, name)

    def strangers(self, facts: RunFacts, name: str) -> tuple[str, ...]:
        """A note about unjudged queries of the run; an error if all of them are unjudged."""
        return strangers(self.facts, facts, name, self.which)

    def misfits(self, facts: RunFacts, name: str) -> Iterator[str]:
        """Notes about a run that can be evaluated with these judgments, but perhaps should not be."""
        return misfits(self.facts, facts, name, self.which, len(self.queries))

    @cached_property
    def facts(self) -> QrelsFacts:
        """The facts about the judgments from which notes about runs are made."""
        return QrelsFacts.of(self.qrels)

    @property
    def settings(self) -> tuple[Any, ...]:
        """The settings that decide, with the judgments, how a run is joined."""
        how = self.gains, self.unjudged, self.which, self.queries, sorted(self.nil), self.on_duplicate
        return *how, self.depth, sorted((self.columns or {}).items())

    @cached_property
    def pool(self) -> Pool:
        """All judgments of the queries that may count."""
        return self.qrels.pool_of(self.queries)

    def counted(self, answered: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which queries count, given those that every run answers."""
        if self.which != "run":
            return np.ones(len(self.queries), dtype=bool)
        if not answered.any():
            raise nobody_answers()
        return answered

    def distinct(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of the runs; those that share one get another."""
        return tuple(distinct_names(names, [source for source, _ in self.sources]))


def nobody_answers() -> InputError:
    """The error for runs that have no query in common."""
    return InputError("no judged query is answered by every run", remedy="use queries='qrels'")


def run_sources(runs: Any) -> list[RunSource]:
    """One run, a list or ``{name: run}`` as a list of what :func:`read_run` takes, with names where they are given."""
    if isinstance(runs, Mapping):
        # {query: {document: score}} is one run, also when every inner dict is empty.
        if is_two_level(runs) and not any(is_two_level(v) and v for v in runs.values()):
            return [RunSource(runs, None)]
        return [RunSource(run, str(name)) for name, run in runs.items()]
    if isinstance(runs, str | os.PathLike | Run) or hasattr(runs, "columns") or not isinstance(runs, Iterable):
        return [RunSource(runs, None)]
    given = [RunSource(run, None) for run in runs]
    if not given:
        raise InputError("no run is given", remedy="name at least one run")
    return given


def named_runs(
    runs: Any, *, on_duplicate: OnDuplicate = "error", progress: Callable[[Iterable[Any]], Iterable[Any]] = iter
) -> list[Run]:
    """One run, a list or ``{name: run}`` as a list of runs with distinct names."""
    sources = run_sources(runs)
    read = [read_run(source, name=name, on_duplicate=on_duplicate) for source, name in progress(sources)]
    names = distinct_names([run.name for run in read], [source for source, _ in sources])
    return [run if run.name == name else run.named(name) for run, name in zip(read, names, strict=True)]


def distinct_names(names: Sequence[str], sources: Sequence[Any]) -> list[str]:
    """Rename runs that share a name: by their folder where they come from files, else by number."""
    if len(set(names)) == len(names):
        return list(names)
    out: list[str] = []
    for name, source in zip(names, sources, strict=True):
        own = name
        if names.count(name) > 1 and isinstance(source, str | os.PathLike):
            own = "/".join([*os.path.dirname(os.path.abspath(source)).split(os.sep)[-1:], name])
        base, n = own, 1
        while own in out:
            n += 1
            own = f"{base}_{n}"
        out.append(own)
    return out


def _candidates(qrels: Qrels, queries: Queries) -> tuple[str, ...]:
    """The queries that may count: those that are judged, or those that are named."""
    if isinstance(queries, str):
        if queries not in ("qrels", "run"):
            raise InputError(f"queries={queries!r} is unknown", remedy="use 'qrels', 'run' or a list of query ids")
        if not qrels.query_ids:
            raise InputError(
                "there is no judgment", source=qrels.name, remedy="give one, or name the queries that count"
            )
        return qrels.query_ids
    if not isinstance(queries, Iterable):
        raise InputError(f"queries={queries!r} is unknown", remedy="use 'qrels', 'run' or a list of query ids")
    named = tuple(dict.fromkeys(str(q) for q in queries))
    if not named:
        raise InputError("the list of queries is empty", remedy="name at least one query")
    return named
