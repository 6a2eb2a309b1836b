"""One tool, one pair of files, one fresh process: from files to six numbers; prints seconds and peak memory."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

MEASURES = ["nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100"]


def ranksift() -> Callable[[str, str], list[float]]:
    import ranksift as rs
    from ranksift.evaluation.evaluate import evaluate  # imports done before the clock starts, as for the others

    def work(qrels: str, run: str) -> list[float]:
        scores = evaluate(qrels, run, MEASURES)
        return [float(scores.mean_of(m)) for m in MEASURES]

    assert rs.read_qrels
    return work


def pytrec_eval() -> Callable[[str, str], list[float]]:
    import pytrec_eval as pt

    names = ["ndcg_cut_10", "ndcg", "map", "recip_rank", "P_10", "recall_100"]

    def work(qrels: str, run: str) -> list[float]:
        with open(qrels) as f:
            judgments = pt.parse_qrel(f)
        with open(run) as f:
            ranking = pt.parse_run(f)
        asked = {"ndcg_cut.10", "ndcg", "map", "recip_rank", "P.10", "recall.100"}
        results = pt.RelevanceEvaluator(judgments, asked).evaluate(ranking)
        return [sum(r[n] for r in results.values()) / len(judgments) for n in names]

    return work


def ir_measures() -> Callable[[str, str], list[float]]:
    import ir_measures as ir

    measures = [ir.parse_measure(m) for m in MEASURES]

    def work(qrels: str, run: str) -> list[float]:
        found = ir.calc_aggregate(measures, ir.read_trec_qrels(qrels), ir.read_trec_run(run))
        return [float(found[m]) for m in measures]

    return work


def ranx() -> Callable[[str, str], list[float]]:
    import ranx as rx

    names = ["ndcg@10", "ndcg", "map", "mrr", "precision@10", "recall@100"]

    def work(qrels: str, run: str) -> list[float]:
        judgments = rx.Qrels.from_file(qrels, kind="trec")
        ranking = rx.Run.from_file(run, kind="trec")
        found = rx.evaluate(judgments, ranking, names, make_comparable=True)
        return [float(found[n]) for n in names]

    return work


def main() -> None:
    """Run the tool named by the first argument on the qrels and the run that follow."""
    tool, qrels, run = sys.argv[1:4]
    work = {"ranksift": ranksift, "pytrec_eval": pytrec_eval, "ir_measures": ir_measures, "ranx": ranx}[tool]()
    start = time.perf_counter()
    numbers = work(qrels, run)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "numbers": numbers}))


if __name__ == "__main__":
    main()
