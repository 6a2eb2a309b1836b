"""What every rule has: fit, keep, apply, save."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift import __version__
from ranksift.collection.gains import ZERO_AS_FORBIDDEN, Gains, GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.lists import Lists
from ranksift.collection.pool import Pool
from ranksift.collection.qrels import read_qrels
from ranksift.collection.ragged import Floats
from ranksift.collection.run import read_run
from ranksift.errors import InputError, tell
from ranksift.evaluation.printed import Printed
from ranksift.evaluation.table import Column, Table
from ranksift.files import SUM, check_sum, parse_json, read_whole, with_sum, writing
from ranksift.measures.names import MeasureLike
from ranksift.parameters import Parameterised, is_number, keep_repr, plain

if TYPE_CHECKING:
    from ranksift.collection.run import Run

#: What a file of a cutoff begins with; the number changes when older programs could not read it.
FORMAT = "ranksift-cutoff-1"

#: A file of a cutoff is not larger: the largest holds a calibration with a point for every document.
MOST_BYTES = 64_000_000

#: How the note begins that a rule has where no gain is negative.
NOTHING_FORBIDDEN = "no label is forbidden (has a negative gain): only the length of lists can be learned"

# Learned attributes that are numbers in every rule that has them.
_NUMBERS = ("threshold_", "flat_threshold_", "intercept_", "risk_", "bound_")

#: Every rule by the word for it, filled as the rules are imported.
RULES: dict[str, type[Cutoff]] = {}


@dataclass(eq=False)
class Cutoff(Parameterised, Printed):
    """The base class of all rules. Parameters are given to the constructor; learned attributes end in ``_``.

    A fitted rule does not keep the documents that it was fitted on.

    Attributes
    ----------
    fitted_on_
        What the rule was fitted on: numbers of queries and documents, labels, gains, the range of scores.
    notes_
        Caveats.
    """

    rule: ClassVar[str] = ""
    #: Learned attributes that say what to do with other scores: all that is saved.
    learned: ClassVar[tuple[str, ...]] = ()
    #: Those of them that a rule may be without.
    may_be_none: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep_repr(cls)
        if cls.rule:
            RULES[cls.rule] = cls

    # -- fitting -------------------------------------------------------------------------------------------

    def fit(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        groups: ArrayLike,
        *,
        rank_scores: ArrayLike | None = None,
        gains: GainsLike = "linear",
        unjudged: Unjudged = "zero",
    ) -> Self:
        """Fit the rule to labelled documents, one per row.

        Parameters
        ----------
        scores
            The scores on which the cut is made.
        labels, groups
            The label and the query of each document; a label of None or NaN marks an unjudged document.
        rank_scores
            The scores that rank the documents, if they are different.
        gains, unjudged
            As in :func:`evaluate`.
        """
        lists = Lists.from_arrays(scores, labels, groups, rank_scores=rank_scores, gains=gains, unjudged=unjudged)
        self._fit(lists, {"gains": str(lists.gains), "unjudged": unjudged, "two_scores": rank_scores is not None})
        tell(self.notes_)
        return self

    def fit_run(
        self,
        qrels: Any,
        run: Any,
        *,
        cut_scores: Any = None,
        gains: GainsLike = "linear",
        unjudged: Unjudged = "zero",
    ) -> Self:
        """Fit the rule to a run and its judgments.

        Parameters
        ----------
        qrels, run, gains, unjudged
            As in :func:`evaluate`.
        cut_scores
            Another run with scores of the same documents, if the cut is not made on the scores that rank them.
        """
        other = None if cut_scores is None else read_run(cut_scores)
        labels, given = read_qrels(qrels), read_run(run)
        lists = Lists.from_run(labels, given, cut_scores=other, gains=gains, unjudged=unjudged)
        self._fit(lists, {"gains": str(lists.gains), "unjudged": unjudged, "two_scores": other is not None})
        self.notes_ += left_out(len(set(given.query_ids) - set(labels.query_ids)), len(given.query_ids))
        tell(self.notes_)
        return self

    def fit_lists(self, lists: Lists) -> Self:
        """Fit the rule to lists, without notes about what they lack."""
        self._fit(lists, {"gains": str(lists.gains), "two_scores": not lists.cuts_from_the_end})
        return self

    def _fit(self, lists: Lists, how: Mapping[str, Any]) -> None:
        self.check_parameters()
        check_labels(int(lists.judged.sum()))
        self.learn_from(lists, {**_described(lists), **how}, lists.gains, lists.pool)

    def learn_from(self, lists: Any, described: dict[str, Any], gains: Gains, pool: Pool) -> None:
        """Learn from lists that are already described, and note what is unusual about them."""
        self.fitted_on_: dict[str, Any] = described
        self.notes_: tuple[str, ...] = _peculiarities(described, gains, pool)
        try:
            self._learn(lists)
        except InputError:
            del self.fitted_on_  # what was learned before, of other documents, is not passed off as learned of these
            raise

    def _learn(self, lists: Lists) -> None:
        """Set the learned attributes."""
        raise NotImplementedError

    # -- use ----------------------------------------------------------------------------------------------------

    def keep(
        self, scores: ArrayLike, groups: ArrayLike | None = None, *, rank_scores: ArrayLike | None = None
    ) -> NDArray[np.bool_]:
        """Which documents to show: one Boolean per document, in the given order.

        Parameters
        ----------
        scores
            The scores, on the scale of those that the rule was fitted on.
        groups
            The query of each document (default: all are of one query).
        rank_scores
            The scores that rank the documents, if they are different.
        """
        values = np.asarray(scores)
        if not values.size:
            return np.zeros(0, dtype=bool)
        one = np.zeros(len(values), dtype=np.int64) if groups is None and values.ndim else groups
        lists = Lists.from_arrays(scores, None, one if one is not None else [], rank_scores=rank_scores)
        kept = np.empty(len(lists.score), dtype=bool)
        kept[lists.row] = self.keep_lists(lists)
        return kept

    def keep_lists(self, lists: Lists) -> NDArray[np.bool_]:
        """Which documents of some lists to show, in their order there."""
        if not hasattr(self, "fitted_on_"):
            raise InputError(f"this {type(self).__name__} is not fitted", remedy="call fit first")
        return self._kept(lists)

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        raise NotImplementedError

    def thresholds(self, lists: Lists) -> Floats:
        """The lowest score that is kept in each query; +∞ if none is."""
        kept = self.keep_lists(lists)
        lowest = np.full(len(lists), np.inf)
        np.minimum.at(lowest, lists.query[kept], lists.score[kept])
        return lowest

    def apply(self, run: Any, *, cut_scores: Any = None, any_scale: bool = False) -> Run:
        """Drop documents of a run.

        Parameters
        ----------
        run
            Anything that :func:`read_run` takes.
        cut_scores
            Another run with scores of the same documents, if the rule was fitted on two scores.
        any_scale
            Apply the rule even if the scores are clearly on a different scale from those it was fitted on.
        """
        given = read_run(run)
        if self.fitted_on_["two_scores"] and cut_scores is None:
            raise InputError("the cutoff was fitted on two scores", remedy="give the scores to cut on: cut_scores")
        other = None if cut_scores is None else read_run(cut_scores)
        lists = Lists.from_run(None, given, cut_scores=other)
        if not any_scale:
            self.check_scale(lists.score)
        kept = np.empty(len(lists.score), dtype=bool)
        kept[lists.row] = self.keep_lists(lists)
        return given.where(kept)

    def check_scale(self, scores: ArrayLike) -> None:
        """Refuse scores that are clearly on a different scale from those that the rule was fitted on.

        This is the case if fewer than half of them lie within twice the fitted range, or if the middle half of them is
        ten times as wide or as narrow (with twenty scores or more).
        """
        values = np.asarray(scores, dtype=np.float64)
        low, first, _, third, high = self.fitted_on_["scores"]
        if not len(values) or low == high:
            return
        room = (high - low) / 2.0
        inside = float(np.mean((values >= low - room) & (values <= high + room)))
        remedy = "score them in the same way, fit the cutoff again, or accept any scale: any_scale=True"
        if inside < 0.5:
            raise InputError(
                f"scores from {values.min():.6g} to {values.max():.6g}, and the cutoff was fitted on scores from "
                f"{low:.6g} to {high:.6g}",
                remedy=remedy,
            )
        quarters = np.quantile(values, [0.25, 0.75])
        ours, theirs = third - first, float(quarters[1] - quarters[0])
        if len(values) >= 20 and ours > 0 and not ours / 10 <= theirs <= ours * 10:
            raise InputError(
                f"half of the scores lie within {theirs:.3g} of each other, of those that the cutoff was fitted on "
                f"within {ours:.3g}",
                remedy=remedy,
            )

    @property
    def natural_measure(self) -> MeasureLike:
        """The measure to judge the rule by if none is given: the one that it is fitted to, or nDCG_f."""
        given = self.get_params()
        own: MeasureLike | None = given.get("measure")
        return f"nDCG_f@{given.get('k', 3)}" if own is None else own

    # -- how it is shown -------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if not hasattr(self, "fitted_on_"):
            return self.as_made()
        what = self.condition.partition(", ")[0]
        return f"<{type(self).__name__}: keep {what}; fitted to {_counted(self.fitted_on_['queries'], 'query')}>"

    def __str__(self) -> str:
        return repr(self)

    def table(self) -> Table:
        """What the rule keeps, what it was fitted to and what it promises; before it is fitted, its parameters."""
        rows: list[tuple[str, Any]] = [(name, str(plain(value))) for name, value in self.get_params().items()]
        if not hasattr(self, "fitted_on_"):
            return Table(["parameter", "value"], rows, title=f"{type(self).__name__}, not fitted")
        known = self.fitted_on_
        low, high = known["scores"][0], known["scores"][-1]
        rows = [
            ("keep", self.condition),
            *rows,
            ("fitted to", f"{_counted(known['queries'], 'query')}, {_counted(known['documents'], 'document')}"),
            ("labelled", f"{known['judged']:,}, of them forbidden {known['forbidden']:,}"),
            ("scores", f"{low:.6g} to {high:.6g}"),
        ]
        notes = [f"Promise: {self.promise}.", *(f"Note: {note}." for note in self.notes_)]
        return Table(["", Column("value", align="left")], rows, title=type(self).__name__, notes=notes)

    @property
    def condition(self) -> str:
        """The instruction with the numbers that were learned.

        >>> from ranksift import GlobalCutoff
        >>> GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"]).condition
        'score >= 0.7'
        """
        try:
            said = self.instruction
        except InputError as error:  # the oracle has none
            return str(error)
        for name in self.learned:
            value = getattr(self, name)
            if isinstance(value, float | int):
                said = said.replace(f"float({name.rstrip('_')})", in_words(value))
        return said

    # -- files ---------------------------------------------------------------------------------------------------

    @property
    def promise(self) -> str:
        """What the rule promises for other queries, and under which assumption."""
        return "none: the rule is a good one on the documents that it was fitted on"

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """What :meth:`save` writes, without the checksum."""
        if not hasattr(self, "fitted_on_"):
            raise InputError(f"this {type(self).__name__} is not fitted", remedy="call fit first")
        return {
            "format": FORMAT,
            "ranksift": __version__,
            "rule": self.rule,
            "parameters": {name: plain(value) for name, value in self.get_params().items()},
            **{name.rstrip("_"): plain(getattr(self, name)) for name in self.learned},
            "keep": self.instruction,
            "promise": self.promise,
            "fitted_on": plain(self.fitted_on_),
            "notes": list(self.notes_),
        }

    def to_json(self) -> str:
        """The rule as JSON; an infinite number is written as ``inf`` or ``-inf``, which ``float`` can read.

        The line ``sum`` lets :func:`load_cutoff` detect damage. Delete it if you edit the file by hand.
        """
        return json.dumps(with_sum(self.to_dict()), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`to_json` into a file."""
        text = self.to_json()
        with writing(path) as file:
            file.write(text.encode())

    @classmethod
    def _from_dict(cls, given: Mapping[str, Any]) -> Self:
        made = cls(**given["parameters"])
        for name in made.get_params():
            given["parameters"][name]  # a default would be another rule than the one that was saved
        made.check_parameters()
        for name in cls.learned:
            setattr(made, name, _learned(given[name.rstrip("_")]))
        made.fitted_on_ = dict(given["fitted_on"])
        if not isinstance(given["notes"], list) or not all(isinstance(note, str) for note in given["notes"]):
            raise ValueError("notes is not a list of texts")
        made.notes_ = tuple(given["notes"])
        made._try_out()
        return made

    def _try_out(self) -> None:
        """Fail, as for a file that was edited into nonsense: now, and not when the rule is applied."""
        for name in self.learned:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                raise ValueError(f"{name.rstrip('_')} is a list")
            if name in _NUMBERS and not (value is None and name in self.may_be_none) and not _is_threshold(value):
                raise ValueError(f"{name.rstrip('_')} is {value!r}, and not a number")
        scores = self.fitted_on_["scores"]
        numbers = isinstance(scores, list) and len(scores) == 5 and all(map(is_number, scores))
        if not numbers or scores != sorted(scores) or not isinstance(self.fitted_on_["two_scores"], bool):
            raise ValueError("fitted_on does not say which scores")
        # A list, lists of one document, and another number of documents than anything in the file has.
        for groups in (np.zeros(5), np.arange(5)):
            self.keep(scores, groups)
        self.keep([*scores, *scores[:2]])
        if not isinstance(self.instruction, str) or not isinstance(self.promise, str):
            raise ValueError("promise is not a text")
        self.to_json().encode()


def load_cutoff(path: str | os.PathLike[str]) -> Cutoff:
    """Read a rule that :meth:`Cutoff.save` wrote.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ranksift import GlobalCutoff
    >>> path = Path(tempfile.mkdtemp()) / "cutoff.json"
    >>> GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"]).save(path)
    >>> load_cutoff(path).keep([0.8, 0.3]).tolist()
    [True, False]
    """
    try:
        text = read_whole(path, MOST_BYTES)
    except InputError:
        raise
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        what = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise InputError(what, source=str(path), remedy="name a cutoff's file") from None
    return cutoff_of_json(text, str(path))


def cutoff_of_json(text: bytes, source: str) -> Cutoff:
    """The rule of a file that :meth:`Cutoff.save` wrote, from its contents; ``source`` is its name in a message."""
    import ranksift.cutoffs.rules  # noqa: F401 (the rules enter themselves)

    try:
        given = parse_json(text)
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", source=source, remedy="name a cutoff's file") from None
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise InputError("is not a cutoff of this version", source=source, remedy="make one: ranksift cutoff fit")
    check_sum(given, source, f"copy it again; if you changed it on purpose, delete its line {SUM!r}")
    word = given.get("rule")
    rule = RULES.get(word) if isinstance(word, str) else None
    if rule is None:
        raise InputError(f"has the unknown rule {word!r}", source=source, remedy=f"known: {', '.join(RULES)}")
    try:
        return rule._from_dict(given)
    except Exception as error:  # whatever code of ours, or a library's, says of values that are not a rule's
        what = f"lacks {error}" if isinstance(error, KeyError) else f"is damaged ({error})"
        raise InputError(what, source=source, remedy="make it again: ranksift cutoff fit") from None


def left_out(unlabelled: int, queries: int) -> tuple[str, ...]:
    """The note about unjudged queries of a run."""
    return (f"{unlabelled} of {queries} queries have no label: they are left out",) if unlabelled else ()


def check_labels(judged: int) -> None:
    """Refuse documents of which none has a label."""
    if not judged:
        raise InputError("no document has a label", remedy="label some")


def _described(lists: Lists) -> dict[str, Any]:
    """What a reader of the file should know of the data."""
    five = np.quantile(lists.score, [0.0, 0.25, 0.5, 0.75, 1.0]) + 0.0 if len(lists.score) else np.zeros(5)
    return {
        "queries": len(lists),
        "documents": len(lists.score),
        "judged": int(lists.judged.sum()),
        "forbidden": int((lists.gain < 0).sum()),
        "scores": five.tolist(),
    }


def _peculiarities(described: Mapping[str, Any], gains: Gains, pool: Pool) -> tuple[str, ...]:
    notes = []
    queries, documents = described["queries"], described["documents"]
    unjudged = documents - described["judged"]
    if queries == 1:
        notes.append("there is only one query: nothing is known about others")
    if documents and described["scores"][0] == described["scores"][-1]:
        notes.append("all scores are equal: a cut keeps all or nothing")
    unused = gains.unused(pool.all_labels)
    if unused:
        notes.append(unused)
    if not (gains(pool.labels) < 0).any():
        hint = f"; {ZERO_AS_FORBIDDEN}" if pool.labels.min(initial=1) == 0 else ""
        notes.append(f"{NOTHING_FORBIDDEN}{hint}")
    unlabelled = int((pool.size == 0).sum())
    if unlabelled:
        notes.append(f"{unlabelled} of {queries} queries have no label: they count, with no gain and nothing forbidden")
    if unjudged:
        notes.append(f"{unjudged} of {documents} documents have no label: they occupy a rank with gain 0")
    return tuple(notes)


def in_words(threshold: float) -> str:
    """A threshold as people read it.

    >>> in_words(0.25), in_words(-np.inf)
    ('0.25', '-∞ (nothing is dropped)')
    """
    if np.isinf(threshold):
        return "-∞ (nothing is dropped)" if threshold < 0 else "+∞ (everything is dropped)"
    return f"{threshold:.6g}"


def _counted(number: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def _is_threshold(value: Any) -> bool:
    """Whether it is a number; one that is infinite keeps everything, or nothing."""
    return is_number(value) or (isinstance(value, float) and math.isinf(value))


def _learned(value: Any) -> Any:
    """A learned value as it was before it was saved: a number, an array, or a mapping of such."""
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, list):
        found = [_learned(v) for v in value]
        for v in found:  # numpy would make a number of '0.5', of False and of None
            if not isinstance(v, np.ndarray) and not _is_threshold(v):
                raise ValueError(f"{v!r} stands in a list of numbers")
        return np.array(found, dtype=np.float64)
    if isinstance(value, dict):
        return {k: _learned(v) for k, v in value.items()}
    return value
