"""The web track's unfiltered Indri runs: cut on their own score, and on the verdict of a spam filter."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import ranksift as rs
from experiments.cutoffs.rules import (
    ALPHA,
    GLOBAL,
    ORACLE,
    Difference,
    Outcome,
    few,
    first_best,
    paired,
    rules,
    whole,
)
from experiments.markdown import between, number, paragraph, probability, says, table
from experiments.web_track.years import GAINS, Year
from ranksift.collection.lists import Lists

KS = (3, 10, 20)
YEARS = (2012, 2013)
FOLDS, SEED = 5, 0


class Track:
    """The runs of a year that there is a filtered version of; topics are split into folds.

    The filtered run is a part of the unfiltered one, so that it gives every document a second score: 1 where the spam
    filter left it in, 0 where not.
    """

    def __init__(self, data: Path, year: int) -> None:
        self.year = Year(data, year)
        self.pairs = dict(self.year.pairs)

    @property
    def runs(self) -> list[str]:
        """The unfiltered ones."""
        return list(self.pairs)

    def lists(self, run: str, second: bool = False) -> Lists:
        """The judged documents of a run."""
        spam = self._verdicts(run) if second else None
        return Lists.from_run(self.year.qrels, self.year.runs[run], cut_scores=spam, gains=GAINS, unjudged="drop")

    def _verdicts(self, run: str) -> rs.Run:
        left = self.year.runs[self.pairs[run]].to_dict()
        every = self.year.runs[run].to_dict()
        return rs.read_run({t: {d: float(d in left.get(t, {})) for d in docs} for t, docs in every.items()})

    @cached_property
    def own(self) -> dict[tuple[str, int], Outcome]:
        """Every rule on the run's own score, by run and k."""
        return {(run, k): self._outcome(run, k, False) for run in self.runs for k in KS}

    @cached_property
    def second(self) -> dict[tuple[str, int], Outcome]:
        """The global cut on the second score. It has two values, so that rules have little to choose from."""
        return {(run, k): self._outcome(run, k, True) for run in self.runs for k in KS}

    def _outcome(self, run: str, k: int, second: bool) -> Outcome:
        chosen = (few if second else rules)(f"nDCG_f@{k}", k)
        return Outcome.of(self.lists(run, second), rules=chosen, k=k, folds=FOLDS, seed=SEED)

    def mean(self, of: dict[tuple[str, int], Outcome], rule: str, k: int) -> float:
        """A rule's value, averaged over the runs."""
        return sum(of[run, k].value(rule) for run in self.runs) / len(self.runs)

    def best(self, k: int) -> str:
        """The rule on the run's own score with the highest mean over the runs."""
        return first_best(self.rules, lambda rule: self.mean(self.own, rule, k))

    @property
    def rules(self) -> tuple[str, ...]:
        """Every usable one."""
        return self.own[self.runs[0], KS[0]].rules

    @property
    def better(self) -> bool:
        """Whether any rule is significantly better than the global cut, on any run, at any k."""
        return any(outcome.better for outcome in self.own.values())

    @property
    def beyond_the_oracle(self) -> bool:
        """Whether the global cut on the second score is above the oracle of the own one, on all runs, at every k."""
        return all(self.second[at].value(GLOBAL) > self.own[at].oracle for at in self.own)

    def gain_of_second(self, k: int) -> list[Difference]:
        """The global cut on the second score less the best rule on the run's own, run by run."""
        return [paired(self.second[run, k], GLOBAL, self.own[run, k], self.own[run, k].best) for run in self.runs]

    def signs(self, rule: str, k: int) -> tuple[int, int]:
        """Runs on which a rule is significantly better than the global cut, and worse."""
        found = [self.own[run, k].against_global[rule].sign for run in self.runs]
        return sum(s > 0 for s in found), sum(s < 0 for s in found)


def web(tracks: dict[int, Track]) -> str:
    """Section: topics split into folds."""
    tables = "\n\n".join(f"**{year}, {len(track.runs)} runs**\n\n{_table(track)}" for year, track in tracks.items())
    topics = {year: len(track.year.topics) for year, track in tracks.items()}
    return f"""
## Web pages and spam

The TREC Web Track marks spam and junk with −2. As on [the track's own page](web-track.md), that has gain −10, and
unjudged documents are dropped. The unfiltered Indri runs of 2012 and 2013 are cut on their own scores
(logarithms of query likelihoods), with the {topics[2012]} topics of each year in {FOLDS} folds. For each of them there
is a run that a spam filter has been through. Its verdict is a second score for every document, 1 or 0, and a cut on it
takes documents out of the middle of the list. nDCG_f@k, averaged over the runs of a year:

{tables}

In brackets: on how many of the runs a rule is significantly better (▲) or worse (▼) than the global cut. The last rows
are those of the second score. A score of two values leaves a rule little to choose, so only the global cut is fitted.

{_in_words(tracks)}
"""


def _table(track: Track) -> str:
    rows = []
    for rule in (*track.rules, ORACLE):
        cells = []
        for k in KS:
            cell = number(track.mean(track.own, rule, k))
            if rule == track.best(k):
                cell = f"**{cell}**"
            up, down = (0, 0) if rule in (GLOBAL, ORACLE) else track.signs(rule, k)
            marks = " ".join(f"{mark} {count}" for mark, count in (("▲", up), ("▼", down)) if count)
            cells.append(f"{cell} ({marks})" if marks else cell)
        rows.append([whole(cell) for cell in (rule, *cells)])
    for rule in (GLOBAL, ORACLE):
        rows.append([f"second score: {rule}", *(number(track.mean(track.second, rule, k)) for k in KS)])
    return table(["rule", *(f"nDCG_f@{k}" for k in KS)], rows)


def _in_words(tracks: dict[int, Track]) -> str:
    early, late = tracks[2012], tracks[2013]
    silent = all(early.own[run, k].value(GLOBAL, "Empty") > 0.8 for run in early.runs for k in KS)
    showing = all(late.own[run, k].value(GLOBAL, "Empty") < 0.1 for run in late.runs for k in KS)
    gained = [d for k in KS for d in early.gain_of_second(k)]
    later = [d for k in KS for d in late.gain_of_second(k)]
    queries = len(early.year.topics) * (FOLDS - 1) // FOLDS
    return paragraph(
        says(
            silent,
            "In 2012 the rules learn that these runs should show nothing: Indri's score says how well a page matches "
            "the words of a topic, not whether it is spam.",
        ),
        says(showing, "In 2013, with little spam in the lists, they learn to leave the lists as they are."),
        says(
            not any(track.better for track in tracks.values()),
            "No rule is significantly better than the global cut on any run, in either year, at any k.",
        ),
        says(
            all(d.mean > 0 and d.p <= ALPHA for d in gained),
            f"The second score changes 2012 altogether: the cut on it gains {between([d.mean for d in gained])} over "
            "the best rule on the own score, on every run and at every k "
            f"(p {probability(max(d.p for d in gained))}, uncorrected).",
        ),
        says(
            early.beyond_the_oracle,
            "It is above even the oracle of the own score, which knows all labels but can only shorten the list.",
        ),
        says(
            all(d.p > ALPHA for d in later),
            "In 2013 it makes no difference distinguishable from chance "
            f"({between([d.mean for d in later], sign=True)}).",
        ),
        f"The promise of a risk of 5 % with probability 90 % is out of reach of {queries} topics, whatever the scores: "
        "`risk` says so and shows nothing.",
    )
