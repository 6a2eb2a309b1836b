"""A forum's answers, ranked and cut by a plain model's probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import ranksift as rs
from experiments.cutoffs.answers import GAINS, Answers
from experiments.cutoffs.model import Floats, LogisticRegression, out_of_fold
from experiments.cutoffs.normaliser import normalised_gains
from experiments.cutoffs.rules import GLOBAL, Beside, Difference, Outcome, few, paired, rules
from ranksift.collection.examples import folds_of
from ranksift.collection.gains import Gains
from ranksift.collection.lists import Lists
from ranksift.cutoffs.baselines import FixedCutoff
from ranksift.cutoffs.candidates import Candidate
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.held_out import aggregate, held_out
from ranksift.cutoffs.threshold import one_measure

K = 3
MEASURE = f"nDCG_f@{K}"
SEED = 0
FOLDS = 5
#: Rules that need no tuning, as the probabilities are there.
POSITIVE, NORMALISED = "E[g] ≥ 0", "E[g/(I − W)] ≥ 0"

#: What a model's probabilities of the labels −1, 1, 2 can be made into.
SCORES: Mapping[str, Callable[[Floats], Floats]] = {
    "expected gain": lambda p: p @ Gains.of(GAINS)(np.array([-1.0, 1.0, 2.0])),
    "P(not forbidden)": lambda p: 1.0 - p[:, 0],
    "P(Good)": lambda p: p[:, 2],
    "P(≥ Potential) + P(Good)": lambda p: p[:, 1] + 2.0 * p[:, 2],
}
EXPECTED, NOT_FORBIDDEN, GOOD, ORDINAL = SCORES
BOTH = f"ranked by {GOOD}, cut on {NOT_FORBIDDEN}"
#: What rules are judged on.
TEST, TRAIN = "test", "train"


@dataclass(frozen=True, eq=False)
class Scored:
    """Answers with the probability of each label."""

    answers: Answers
    labels: Floats
    probabilities: Floats

    def score(self, name: str) -> Floats:
        """One number per answer."""
        return SCORES[name](self.probabilities)

    def lists(self, cut: str, rank: str | None = None) -> Lists:
        """Answers ranked by one score, to be cut on it or on another."""
        by = None if rank is None else self.score(rank)
        return Lists.from_arrays(
            self.score(cut), self.answers.label, self.answers.question, rank_scores=by, gains=GAINS
        )

    @cached_property
    def normalised(self) -> Floats:
        """The expected share of an answer in its question's nDCG_f@3."""
        return normalised_gains(self.probabilities, self.labels, self.answers.number, K, GAINS, SEED)

    @property
    def more(self) -> dict[str, Candidate]:
        """Rules from the model's own probabilities."""
        return {POSITIVE: FixedCutoff(0.0), NORMALISED: Beside(self.normalised)}

    @cached_property
    def accuracy(self) -> float:
        """How often the likeliest label is the right one."""
        return float((self.labels[self.probabilities.argmax(axis=1)] == self.answers.label).mean())

    @cached_property
    def forbidden_alone(self) -> tuple[float, float]:
        """Of answers that are the only ones to their questions: the expected share of forbidden ones, and the real."""
        alone = np.bincount(self.answers.number)[self.answers.number] == 1
        return float(self.probabilities[alone, 0].mean()), float((self.answers.label[alone] < 0).mean())

    @cached_property
    def told_apart(self) -> float:
        """How often a forbidden answer is likelier forbidden than another one is (area under the curve)."""
        from scipy.stats import rankdata

        forbidden = self.answers.label < 0
        rank = rankdata(self.probabilities[:, 0])
        n = int(forbidden.sum())
        return float((rank[forbidden].sum() - n * (n + 1) / 2) / (n * (len(rank) - n)))


class Forum:
    """The three splits: the model is fitted on train, rules on dev, and both are judged on test.

    The same once more on train alone, which is eight times as large: every question is scored by a model that has not
    seen it, and cut by rules that have not.
    """

    def __init__(self, data: Path) -> None:
        self.train, dev, test = (Answers.read(data, split) for split in ("train", "dev", "test"))
        self.model = LogisticRegression.fit(self.train.features, self.train.label)
        self.dev, self.test = (Scored(a, self.model.labels, self.model.probabilities(a.features)) for a in (dev, test))

    @cached_property
    def folded(self) -> Scored:
        """The training questions, each scored by a model that was fitted on other ones."""
        fold = folds_of(self.train.questions, FOLDS, SEED)[self.train.number]
        return Scored(self.train, self.model.labels, out_of_fold(self.train.features, self.train.label, fold))

    def on_test(self, cut: str, rank: str | None = None, which: Mapping[str, Candidate] | None = None) -> Outcome:
        """Rules fitted on dev, judged on test."""
        chosen = rules(MEASURE, K) if which is None else which
        dev, test = self.dev.lists(cut, rank), self.test.lists(cut, rank)
        return Outcome.of(dev, test=test, rules=chosen, k=K)

    def on_train(self, cut: str, rank: str | None = None, which: Mapping[str, Candidate] | None = None) -> Outcome:
        """Rules fitted on four fifths of the training questions, judged on the fifth one."""
        chosen = rules(MEASURE, K) if which is None else which
        return Outcome.of(self.folded.lists(cut, rank), rules=chosen, k=K, folds=FOLDS, seed=SEED)

    @cached_property
    def tested(self) -> Outcome:
        """The main table."""
        return self.on_test(EXPECTED, which=rules(MEASURE, K, self.test.more))

    @cached_property
    def trained(self) -> Outcome:
        """The main table, on the training questions."""
        return self.on_train(EXPECTED, which=rules(MEASURE, K, self.folded.more))

    @cached_property
    def by_score(self) -> dict[str, dict[str, Outcome]]:
        """The global cut on each of the model's scores, and on two of them, on both splits."""
        settings: dict[str, tuple[str, str | None]] = {name: (name, None) for name in SCORES}
        settings[BOTH] = (NOT_FORBIDDEN, GOOD)
        which = few(MEASURE, K)
        return {
            name: {TEST: self.on_test(cut, rank, which), TRAIN: self.on_train(cut, rank, which)}
            for name, (cut, rank) in settings.items()
        }

    @property
    def two_scores_less_one(self) -> dict[str, Difference]:
        """The global cut on two scores less that on the one that ranks, on both splits."""
        two, one = self.by_score[BOTH], self.by_score[GOOD]
        return {split: paired(two[split], GLOBAL, one[split], GLOBAL) for split in (TEST, TRAIN)}

    @cached_property
    def by_gain(self) -> dict[str, dict[str, list[float]]]:
        """DCG@3 and nDCG_f@3 by rules that are optimal for the one, for the other, or tuned to them, on both splits."""
        measures = [one_measure(measure) for measure in (f"DCG@{K}", MEASURE)]
        dev, test, train = self.dev.lists(EXPECTED), self.test.lists(EXPECTED), self.folded.lists(EXPECTED)
        rules: dict[str, tuple[Candidate, Candidate]] = {
            f"global, fitted to {m}": (rs.GlobalCutoff(m), rs.GlobalCutoff(m)) for m in (MEASURE, f"DCG@{K}")
        }
        rules |= {name: (self.test.more[name], self.folded.more[name]) for name in (POSITIVE, NORMALISED)}
        out = {}
        for name, (on_test, on_train) in rules.items():
            assert isinstance(on_test, Cutoff)
            assert isinstance(on_train, Cutoff)
            kept, folded = on_test.fit_lists(dev).keep_lists(test), held_out(on_train, train, FOLDS, SEED)
            out[name] = {
                TEST: [aggregate(measure, test, kept) for measure in measures],
                TRAIN: [aggregate(measure, train, folded) for measure in measures],
            }
        return out
