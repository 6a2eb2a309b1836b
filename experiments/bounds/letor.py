"""MQ2007 and MQ2008 as judgments and runs: ListNet models and input rankings, joined by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import ranksift as rs
from ranksift.collection.qrels import Qrels
from ranksift.collection.run import Run

FOLDS = range(1, 6)
RANKINGS = range(1, 22)

#: RankLib's models by the setting they were trained with: five of each, which differ by their random start alone.
SETTINGS = {
    f"RankLib, {epochs:,} epochs, rate {rate}": tuple(f"RankLib{first + i}" for i in range(5))
    for first, (epochs, rate) in zip(
        range(1, 41, 5),
        [(epochs, rate) for epochs in (500, 1000, 1500, 2000) for rate in ("10⁻³", "10⁻⁵")],
        strict=True,
    )
}


@dataclass(frozen=True, eq=False)
class Collection:
    """A collection with its systems.

    Attributes
    ----------
    qrels
        The labels; a document's id is its line, counted through the test files of the five folds.
    models, rankings
        Runs by name: of the ListNet models, and of the rankings that MQ2007-agg was made for.
    idle
        Models that were left out because they score all documents of a query alike.
    """

    name: str
    qrels: Qrels
    models: dict[str, Run]
    rankings: dict[str, Run]
    idle: tuple[str, ...]

    @property
    def runs(self) -> dict[str, Run]:
        """Every system."""
        return self.models | self.rankings


def mq2007(data: Path) -> Collection:
    """MQ2007 with the models' scores and the 21 input rankings."""
    predictions = _predictions(data, "MQ2007")
    agg = _input_rankings(data)
    if not predictions["qid", "label"].equals(agg["qid", "label"]):
        raise ValueError("letor4_mq2007_agg and letor4_listnet_predictions do not have the same lines")
    rankings = {}
    for i in RANKINGS:
        ranked = agg[f"rank{i}"].is_not_null()
        score = -agg[f"rank{i}"].filter(ranked)
        rankings[f"ranking {i}"] = _run(_lines(agg).filter(ranked), score, f"ranking {i}")
    return _collection("MQ2007", predictions, rankings)


def mq2008(data: Path) -> Collection:
    """MQ2008 with the models' scores."""
    return _collection("MQ2008", _predictions(data, "MQ2008"), {})


def _collection(name: str, predictions: pl.DataFrame, rankings: dict[str, Run]) -> Collection:
    lines = _lines(predictions)
    scored = [column for column in predictions.columns if column not in ("fold", "qid", "label")]
    idle = tuple(column for column in scored if _is_idle(predictions, column))
    models = {column: _run(lines, predictions[column], column) for column in scored if column not in idle}
    qrels = rs.read_qrels(lines.with_columns(predictions["label"]))
    return Collection(name, qrels, models, rankings, idle)


def _predictions(data: Path, name: str) -> pl.DataFrame:
    """Every line of the test files in the order of the folds, with the scores of the models that all folds have."""
    folder = data / "letor4_listnet_predictions"
    folds = [
        pl.read_csv(folder / f"{name}_fold{i}_test.tsv.gz", separator="\t", infer_schema_length=None).with_columns(
            pl.col("^(RankLib|LETOR|ltr4l).*$").cast(pl.Float64), fold=i
        )
        for i in FOLDS
    ]
    columns = [column for column in folds[0].columns if all(column in fold.columns for fold in folds)]
    return pl.concat(fold.select(columns) for fold in folds)


def _input_rankings(data: Path) -> pl.DataFrame:
    """The same lines: fold 1 tests on part 5, fold 2 on part 1, and so on."""
    ranks = " ".join(rf"{i}:(?<rank{i}>\S+)" for i in RANKINGS)
    parts = []
    for part in (5, 1, 2, 3, 4):
        path = data / "letor4_mq2007_agg" / f"A{part}.txt.gz"
        lines = pl.read_csv(path, has_header=False, separator="\n", new_columns=["line"])["line"]
        fields = lines.str.extract_groups(rf"^(?<label>\d+) qid:(?<qid>\d+) {ranks}").struct.unnest()
        parts.append(fields.with_columns(pl.all().replace("NULL", None).cast(pl.Int64)))
    return pl.concat(parts)


def _lines(table: pl.DataFrame) -> pl.DataFrame:
    line = pl.Series("doc_id", np.char.zfill(np.arange(len(table)).astype(str), 6))
    return pl.DataFrame([table["qid"].cast(pl.String).rename("query_id"), line])


def _run(lines: pl.DataFrame, scores: pl.Series, name: str) -> Run:
    return rs.read_run(lines.with_columns(score=scores.cast(pl.Float64)), name=name)


def _is_idle(predictions: pl.DataFrame, model: str) -> bool:
    """Whether a model does not rank: in some fold it has one score for all documents of most queries."""
    alike = predictions.group_by("fold", "qid").agg(alike=pl.col(model).n_unique() == 1)
    return bool((alike.group_by("fold").agg(pl.col("alike").mean())["alike"] > 0.5).any())


def methods(models: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Models that correspond in both collections: RankLib's by setting, and the authors' own two."""
    own = {name: (name,) for name in ("LETOR1", "LETOR_NN1")}
    return {name: of for name, of in (SETTINGS | own).items() if set(of) <= set(models)}
