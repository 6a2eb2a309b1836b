"""Evaluate on Spark: python with_spark.py QRELS.parquet RUN.parquet, with query_id, doc_id, and label or score."""

import pickle
import sys
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit

import ranksift as rs

MEASURES = "nDCG_f@10 nDCG@10 AP Fdocs@10"
PARTS = 8  # as many as are needed for one of them to fit into the memory of a worker

qrels_path, run_path = sys.argv[1:]
spark = SparkSession.builder.appName("ranksift").getOrCreate()
qrels, run = (spark.read.parquet(path) for path in (qrels_path, run_path))

# Some measures ask for the largest label of the whole collection, and sums are added up in the order of the judgments.
labels = [row.label for row in qrels.select("label").distinct().collect()]
queries = rs.read_qrels(qrels_path).query_ids

rows = qrels.select("query_id", "doc_id", col("label").cast("double"), lit(None).cast("double").alias("score")).union(
    run.select("query_id", "doc_id", lit(None).cast("double").alias("label"), col("score").cast("double"))
)


def evaluated(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows of some queries, evaluated as on one machine."""
    held = list(batches)
    if held:
        table = pa.Table.from_batches(held)
        given = [
            table.filter(pc.is_valid(table[noun])).select(["query_id", "doc_id", noun]) for noun in ("label", "score")
        ]
        part = rs.evaluate_partition(*(each if len(each) else None for each in given), MEASURES, labels=labels)
        yield pa.record_batch({"part": pa.array([pickle.dumps(part)])})  # from one Python of Spark's to another


found = rows.repartition(PARTS, "query_id").mapInArrow(evaluated, "part binary").collect()
parts = [pickle.loads(row.part) for row in found]
judged = [part for part in parts if part.queries or part.facts.queries]
print(rs.scores_of_partitions({"run": judged}, queries=queries).mean())
