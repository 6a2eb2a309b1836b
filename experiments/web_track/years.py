"""The runs of each year, evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import ranksift as rs
from ranksift.collection.gains import Gains
from ranksift.evaluation.describe import Description
from ranksift.measures.cumulative import ideal, ideal_sublist, worst, worst_sublist

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Unjudged = Literal["drop", "zero"]

YEARS = range(2010, 2015)
LABELS = (-2, 0, 1, 2, 3, 4)
#: What a forbidden document costs: Carmel et al.'s choice for the web track.
GAINS: Mapping[float, float] = {-2: -10}
KS = (20, 300)
#: The measures by their headings.
NDCGS = {
    "nDCG_0": "nDCG_0",
    "nDCG_0 exp": 'nDCG_0(gains="exp")',
    "nDCG_org": "nDCG_org",
    "nDCG_min": "nDCG_min",
    "nDCG_f": "nDCG_f",
}
FILTERED = "-filtered"


def at(measure: str, k: int) -> str:
    """A measure's full name, from its heading."""
    return f"{NDCGS.get(measure, measure)}@{k}"


def label(run: str) -> str:
    """A run's name in a table: short, and in one piece."""
    return run.removeprefix("indri-").replace("-", "\N{NON-BREAKING HYPHEN}")


class Year:
    """Judgments and runs of one year. A document that nobody judged is dropped; label −2 has gain −10."""

    def __init__(self, data: Path, year: int) -> None:
        self.year = year
        self.qrels = rs.read_qrels(data / "trec_web_qrels" / f"qrels.web{year}.adhoc.txt")
        paths = (data / "trec_web_runs" / str(year)).glob("*.run.gz")
        named = {path.name.removesuffix(".run.gz").removesuffix(".early"): path for path in paths}
        self.runs = {name: rs.read_run(named[name], name=name) for name in sorted(named)}
        self.gains = Gains.of(GAINS)

    @property
    def names(self) -> list[str]:
        """The runs' names."""
        return list(self.runs)

    @property
    def topics(self) -> tuple[str, ...]:
        """The judged topics."""
        return self.qrels.query_ids

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each unfiltered run with its filtered one."""
        return [(name, name + FILTERED) for name in self.runs if name + FILTERED in self.runs]

    def evaluate(
        self,
        measures: Iterable[str],
        gains: Mapping[float, float] = GAINS,
        unjudged: Unjudged = "drop",
        topics: Sequence[str] | None = None,
    ) -> rs.Scores:
        """Evaluate all runs, over all judged topics or over some."""
        names, queries = list(measures), topics or self.topics
        return rs.evaluate(self.qrels, self.runs, names, gains=gains, unjudged=unjudged, queries=queries)

    @cached_property
    def scores(self) -> rs.Scores:
        """Everything that the page shows of each run."""
        by_k = ("UBQ", "UBQ_over", "UBQ_under", "Fdocs", "Difficulty", "DCG")
        whole = ("Fdocs", "GoodFiltered", 'GoodFiltered(good="positive")', "Empty", "NumRet", "Judged@20")
        return self.evaluate([*(at(m, k) for k, m in product(KS, (*NDCGS, *by_k))), *whole])

    def means(self, measure: str) -> Floats:
        """Each run's aggregate."""
        return self.scores.aggregate()[:, self.scores.column(measure)]

    def mean(self, measure: str, run: str) -> float:
        """One run's aggregate."""
        return float(self.means(measure)[self.names.index(run)])

    def by_topic(self, measure: str) -> Floats:
        """Values, runs × topics."""
        return self.scores.values[:, :, self.scores.column(measure)]

    @cached_property
    def description(self) -> Description:
        """Labels, pools and lengths of lists."""
        return rs.describe(self.qrels, self.runs, gains=GAINS)

    def of_labels(self, statistic: str) -> Floats:
        """A statistic of every label, 0 where no document has it."""
        given = {entry.label: getattr(entry, statistic) for entry in self.description.labels}
        return np.array([given.get(label, 0) for label in LABELS])

    @property
    def pool_size(self) -> Ints:
        """Judged documents of each topic: the papers' |R|."""
        return self.qrels.pool.size

    @property
    def forbidden(self) -> Ints:
        """Forbidden documents of each topic: |F|."""
        return np.array([topic.forbidden for topic in self.description.topics])

    @property
    def relevant(self) -> Ints:
        """Documents of positive gain of each topic: |I|."""
        return np.array([topic.relevant for topic in self.description.topics])

    @property
    def safe_k(self) -> Ints:
        """The largest k for which nDCG_min is nDCG_f (Carmel et al. 2022, Proposition 3.6), for each topic."""
        return np.minimum(self.pool_size - self.forbidden, self.pool_size - self.relevant)

    def bounds(self, k: int) -> dict[str, Floats]:
        """Best and worst DCG@k of each topic, over orders of the whole pool and over sublists."""
        pool, gains = self.qrels.pool, self.gains
        return {
            "I": ideal(pool, gains, k),
            "W": worst(pool, gains, k),
            "I_f": ideal_sublist(pool, gains, k),
            "W_f": worst_sublist(pool, gains, k),
        }

    def is_sublist(self, part: str, whole: str) -> bool:
        """Whether a run is another one with documents left out: same order, nothing added."""
        shorter, longer = self.runs[part].to_dict(), self.runs[whole].to_dict()
        return all(list(docs) == [d for d in longer.get(topic, {}) if d in docs] for topic, docs in shorter.items())
