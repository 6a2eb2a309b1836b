"""Evaluate on Dask: python with_dask.py QRELS.parquet RUN.parquet, with query_id, doc_id, and label or score."""

import sys

import dask
import dask.dataframe as dd
import pandas as pd
from dask.distributed import Client

import ranksift as rs

MEASURES = "nDCG_f@10 nDCG@10 AP Fdocs@10"


def evaluated(rows: pd.DataFrame, labels: list[float]) -> rs.Partition:
    """All rows of some queries, evaluated as on one machine."""
    given = [rows.loc[rows[noun].notna(), ["query_id", "doc_id", noun]] for noun in ("label", "score")]
    return rs.evaluate_partition(*(each if len(each) else None for each in given), MEASURES, labels=labels)


def main(qrels_path: str, run_path: str) -> None:
    """Bring the rows of each query together, evaluate, and put the parts together."""
    with Client(n_workers=2, threads_per_worker=1):  # in the place of Client("scheduler:8786")
        qrels = dd.read_parquet(qrels_path, columns=["query_id", "doc_id", "label"])
        run = dd.read_parquet(run_path, columns=["query_id", "doc_id", "score"])
        # Some measures ask for the largest label of all, and sums are added up in the order of the judgments.
        labels = qrels["label"].unique().compute().tolist()
        queries = rs.read_qrels(qrels_path).query_ids
        rows = dd.concat([qrels, run]).shuffle("query_id")
        parts = dask.compute(*(dask.delayed(evaluated)(part, labels) for part in rows.to_delayed()))
    print(rs.scores_of_partitions({"run": parts}, queries=queries).mean())


if __name__ == "__main__":
    main(*sys.argv[1:])
