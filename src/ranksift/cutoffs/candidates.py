"""Rules that are to be compared, and what each keeps of queries that it was not fitted on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np

from ranksift.collection.lists import Lists
from ranksift.cutoffs.baselines import FilterAll, FilterOnly, FixedCutoff, Oracle
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.held_out import Split
from ranksift.cutoffs.rules import known_rules
from ranksift.cutoffs.threshold import GlobalCutoff
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import degenerate_queries, run_values
from ranksift.evaluation.scores import Scores
from ranksift.measures.measure import Measure
from ranksift.parameters import Kind, some

Candidate: TypeAlias = Cutoff | FilterOnly

#: A rule, its name, or a threshold that is already in use.
RuleLike: TypeAlias = str | float | Candidate

#: Rules in this order, or by the names that they shall have.
Rules: TypeAlias = RuleLike | Iterable[RuleLike] | Mapping[str, RuleLike]


def candidates(rules: Rules | None, measure: Measure, k: int) -> dict[str, Candidate]:
    """Rules by the names that they have in a table; without any, the paper's baselines, every rule, and the oracle.

    Rules that are named by their words are fitted to the measure, and look at the top k.

    >>> from ranksift.measures.names import parse_measure
    >>> list(candidates(["global", GlobalCutoff("AP"), 0.5], parse_measure("nDCG_f@3"), 3))
    ['global', 'global (measure=AP)', '0.5']
    """
    made = _Maker(measure, k)
    if isinstance(rules, Mapping):
        return {str(name): made(rule) for name, rule in rules.items()}
    if rules is None:
        rules = made.every()
    elif isinstance(rules, str | int | float | Cutoff | FilterOnly):
        rules = [rules]
    some(Kind("a rule", lambda rule: rule is not None), "a list of rules").check("rules", rules)
    found: dict[str, Candidate] = {}
    for rule in rules:
        candidate = made(rule)
        name = base = made.name(candidate)
        number = 1
        while name in found:
            number += 1
            name = f"{base} {number}"
        found[name] = candidate
    if not found:
        raise InputError("no rule is given", remedy="name some, or leave the rules out for all")
    return found


class _Maker:
    """Rules by their words."""

    def __init__(self, measure: Measure, k: int) -> None:
        self.measure = measure
        self.ours: dict[str, Any] = {"measure": str(measure), "k": k}  # parameters of those rules that have them
        self.known = known_rules()
        self.shared = GlobalCutoff(str(measure))  # filter-only shuffles what this one keeps

    def every(self) -> list[str]:
        ours = ("filter-all", "rank-only", "filter-only", "global")
        return [*ours, *(word for word in self.known if word not in (*ours, FixedCutoff.rule)), "oracle"]

    def __call__(self, rule: RuleLike) -> Candidate:
        if isinstance(rule, Cutoff | FilterOnly):
            return rule
        if isinstance(rule, int | float | np.number) and not isinstance(rule, bool):
            return FixedCutoff(float(rule))
        word = str(rule).replace("_", "-")
        if word == "filter-only":
            return FilterOnly(self.shared)
        if word == "global":
            return self.shared
        if word == "oracle":
            return Oracle(str(self.measure))
        if word not in self.known:
            raise InputError(f"rule {rule!r} is unknown", remedy=f"use {', '.join(self.every())}, or give a threshold")
        kind = self.known[word]
        return kind(**{f.name: self.ours[f.name] for f in fields(kind) if f.name in self.ours})

    def name(self, candidate: Candidate) -> str:
        """The rule's word, and what is unusual about it."""
        if isinstance(candidate, FilterOnly):
            return "filter-only" if candidate.cutoff is self.shared else f"filter-only {self.name(candidate.cutoff)}"
        if isinstance(candidate, FixedCutoff):
            return f"{candidate.threshold:g}"
        usual = {f.name: self.ours.get(f.name, f.default) for f in fields(candidate)}
        changed = {n: v for n, v in candidate.get_params().items() if str(v) != str(usual[n])}
        word = candidate.rule or type(candidate).__name__.lower()
        return f"{word} ({', '.join(f'{n}={v}' for n, v in changed.items())})" if changed else word


class HeldOutCandidates:
    """What each rule keeps of lists, as long as it was not fitted on them.

    Parameters
    ----------
    candidates
        The rules.
    lists
        What they are judged on.
    strict
        Whether a rule that these data do not allow is an error; else it is left out, with a note.

    Attributes
    ----------
    notes
        What the rules said when they were fitted, and which ones are left out.
    """

    def __init__(self, candidates: dict[str, Candidate], lists: Lists, *, strict: bool) -> None:
        self.candidates, self.lists, self.strict = candidates, lists, strict
        self.notes: list[str] = []
        self._kept = {_cutoff(c): np.zeros(len(lists.score), dtype=bool) for c in candidates.values()}

    def run(
        self, splits: Iterator[Split], count: int, progress: Callable[[Iterable[Any]], Iterable[Any]] = iter
    ) -> None:
        """Fit every rule to one part of each split, and see what it keeps of the other."""
        # Filter-only may share its rule with another, which then gives it its name.
        named = sorted(self.candidates.items(), key=lambda item: not isinstance(item[1], FilterOnly))
        cutoffs = {_cutoff(candidate): name for name, candidate in named}
        at = -1
        for i, cutoff in progress([(i, cutoff) for i in range(count) for cutoff in cutoffs]):
            if i > at:
                at, split = i, next(splits)
                usual = FilterAll().fit_lists(split.others).notes_
            if cutoff in self._kept:
                self._fit(cutoffs[cutoff], cutoff, split, usual)

    def _fit(self, name: str, cutoff: Cutoff, split: Split, usual: tuple[str, ...]) -> None:
        try:
            fitted = cutoff.clone().fit_lists(split.others)
            self._kept[cutoff][split.documents] = fitted.keep_lists(split.own)
        except InputError as error:
            if self.strict:
                raise
            self.notes.append(f"{name} is left out: {error}")
            self.candidates = {n: c for n, c in self.candidates.items() if _cutoff(c) is not cutoff}
            del self._kept[cutoff]
            return
        said = (f"{name}: {note}" for note in fitted.notes_ if note not in usual)
        self.notes += [note for note in said if note not in self.notes]

    def scores(self, measures: list[Measure]) -> Scores:
        """The cube of rules × queries × measures."""
        queries = [str(name) for name in self.lists.names]
        shape = (len(self.candidates), len(queries), len(measures))
        numerators, denominators = np.empty(shape), np.ones(shape)
        for r, (name, candidate) in enumerate(self.candidates.items()):
            kept = self._kept[_cutoff(candidate)]
            if isinstance(candidate, FilterOnly):
                for m, measure in enumerate(measures):
                    numerators[r, :, m], denominators[r, :, m] = candidate.expected(measure, self.lists, kept)
                continue
            found = run_values(name, measures, self.lists.judged_by(kept), queries)
            numerators[r], denominators[r] = found.numerators, found.denominators
        degenerate = degenerate_queries(measures, self.lists.pool, self.lists.gains)
        return Scores(tuple(self.candidates), tuple(queries), tuple(measures), numerators, denominators, degenerate)


def _cutoff(candidate: Candidate) -> Cutoff:
    return candidate.cutoff if isinstance(candidate, FilterOnly) else candidate
