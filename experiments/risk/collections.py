"""Real queries: web pages with spam, answers in a forum, sentences that should answer a question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import ranksift as rs
from experiments.risk.populations import Floats, Population
from ranksift.collection.lists import Lists

#: Labels of SemEval-2015's answers; whatever is not there is forbidden.
LABELS = {"Good": 2, "Potential": 1}
#: Features of all of them.
FEATURES = (
    "context.simone",
    "heuristics.simone",
    "lexical.wei",
    "semantic.preslav.glovecomposes",
    "semantic.simone.lsa",
)
#: Its training questions up to this one train the model, the others are the collection.
TRAINED_ON = 1300


def collections(data: Path) -> list[tuple[Population, float]]:
    """Each with the alpha that is asked for."""
    return [
        (Population("Web 2012, indri-ql-cata", web(data, 2012, "indri-ql-cata.run.gz"), 10), 0.1),
        (Population("Web 2012, cwindri", web(data, 2012, "cwindri.run.gz"), 10), 0.1),
        (Population("Web 2013, indri-ql-cata", web(data, 2013, "indri-ql-cata.early.run.gz"), 10), 0.1),
        (Population("WikiQA, CNN-Cnt", wikiqa(data), 1), 0.2),
        (Population("SemEval-2015", semeval(data), 3), 0.1),
    ]


def web(data: Path, year: int, run: str) -> Lists:
    """A run of the web track: label −2 (junk) is forbidden, unjudged documents are dropped, as in Carmel et al."""
    qrels = rs.read_qrels(data / "trec_web_qrels" / f"qrels.web{year}.adhoc.txt")
    return Lists.from_run(qrels, rs.read_run(data / "trec_web_runs" / str(year) / run), unjudged="drop")


def wikiqa(data: Path) -> Lists:
    """The test questions: a sentence that is no answer is forbidden."""
    qrels, run = (data / "wikiqa" / name for name in ("WikiQA-test.ref.gz", "WikiQA.CNN-Cnt.test.rank.gz"))
    return Lists.from_run(rs.read_qrels(qrels), rs.read_run(run), gains={0: -1})


def semeval(data: Path) -> Lists:
    """Answers in a forum, by a logistic regression's probability that they are not forbidden."""
    folder = data / "semeval2015_task3_cqa"
    tables = [pl.read_csv(folder / f"{kind}.train.csv.gz") for kind in FEATURES]
    answers = tables[0]["qid"].to_list()
    columns = []
    for table in tables:
        known = table.rename({table.columns[0]: "qid"}).select(pl.exclude("cgold", "cgold_yn"))
        if known["qid"].to_list() != answers:
            raise ValueError("the files of features hold different answers")
        columns.append(known.drop("qid").to_numpy().astype(np.float64))
    question = np.array([int(answer[1:].split("_")[0]) for answer in answers])
    label = np.array([LABELS.get(gold, -1) for gold in tables[0]["cgold"]], dtype=np.float64)
    trained = question <= TRAINED_ON
    features = np.concatenate(columns, axis=1)
    score = _logistic(features[trained], label[trained] > 0, features)
    return Lists.from_arrays(score[~trained], label[~trained], question[~trained])


def _logistic(features: Floats, positive: np.ndarray, of: Floats, ridge: float = 1.0) -> Floats:
    """Log odds by a logistic regression, fitted in Newton's steps."""
    middle, spread = features.mean(axis=0), features.std(axis=0) + 1e-9

    def design(rows: Floats) -> Floats:
        return np.column_stack([np.ones(len(rows)), (rows - middle) / spread])

    x, weights = design(features), np.zeros(features.shape[1] + 1)
    for _ in range(20):
        p = 1.0 / (1.0 + np.exp(-x @ weights))
        hessian = (x.T * (p * (1.0 - p))) @ x + ridge * np.eye(len(weights))
        weights -= np.linalg.solve(hessian, x.T @ (p - positive) + ridge * weights)
    # As many digits as do not depend on the machine.
    return np.round(design(of) @ weights, 6)
