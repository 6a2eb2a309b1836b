"""Text rankers on a laptop: a frozen encoder from a file to a saved model, and ranking beside a plain loop.

    OMP_NUM_THREADS=2 python -m benchmarks.text_cpu

Data are the SemEval-2016 threads (``RANKSIFT_DATA`` names the folder of collections). The first part runs the commands
``ranksift train`` as a user would, in processes of their own. The second scores the same pairs with the same MiniLM by
RankSift and by a plain loop of transformers, which tokenizes 32 pairs at once and pads them to the longest one, in
turns, with the same number of threads; texts are tokenized in the time of each.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from ranksift.datasets import semeval2016_threads, thread_texts
from ranksift.learning import TextRanker
from ranksift.learning.text.encoder import find_encoder

BATCH, LONGEST = 32, 256
GAINS = "-1=-10"
MODELS = {
    "one network": ("--model", "text"),
    "five folds, calibrated": ("--model", "ExpectedGainRanker", "--set", "model=TextRanker"),
    "five folds and trees": ("--model", "text+LambdaMARTf"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of ranking")
    parser.add_argument("--queries", type=int, default=60, help="to rank")
    parser.add_argument("--ranking-alone", action="store_true", help="fit nothing")
    options = parser.parse_args()
    folder = Path(os.environ.get("RANKSIFT_DATA", "../shared/data")) / "semeval2016_task3_cqa"
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; set RANKSIFT_DATA")
    examples = thread_texts(semeval2016_threads(folder))
    print(f"{len(examples.query_ids)} threads, {len(examples):,} pairs, {torch.get_num_threads()} threads\n")
    print("| frozen, from a file to a saved model | seconds | of all processors |\n|---|---|---|")
    with TemporaryDirectory() as place:
        data = Path(place) / "threads.jsonl"
        examples.save(data)
        for name, model in MODELS.items() if not options.ranking_alone else ():
            freeze = ("--set", "text.freeze=true") if "+" in model[1] else ("--freeze",)
            seconds, busy = timed(lambda m=model, f=freeze, d=data: train(d, (*m, *f)))
            print(f"| {name} | {seconds:.0f} | {busy:.0f} |", flush=True)
    ids = examples.query_ids[: options.queries]
    some = examples.of_queries(range(len(ids)))
    print(f"\n| ranking {len(some):,} pairs | pairs/s by the clock | pairs/s of processor time |\n|---|---|---|")
    # Not frozen: what a frozen encoder has read is kept, and would be read once only.
    ranker = TextRanker(epochs=1, max_length=LONGEST, context=False).fit(some.of_queries(range(8)))
    rows: dict[str, list[tuple[float, float]]] = {"plain loop": [], "RankSift": []}
    loop = plain_loop(some.texts.queries, some.texts.docs, np.repeat(range(len(ids)), some.lengths))
    for _ in range(options.rounds):
        rows["plain loop"].append(timed(loop))
        rows["RankSift"].append(timed(lambda: ranker.outputs(some)))
    for name, times in rows.items():
        clock, busy = (len(some) / statistics.median(column) for column in zip(*times, strict=True))
        print(f"| {name} | {clock:.0f} | {busy:.0f} |")
    for at, what in enumerate(("the clock", "processor time")):
        ratio = statistics.median(p[at] / o[at] for p, o in zip(rows["plain loop"], rows["RankSift"], strict=True))
        print(f"\nRankSift is {ratio:.2f} times as fast as the loop by {what} (median of turns).")


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of all processors, those of started processes too."""
    clock, before = time.perf_counter(), sum(os.times()[:4])
    work()
    return time.perf_counter() - clock, sum(os.times()[:4]) - before


def train(data: Path, model: tuple[str, ...]) -> None:
    """Run ``ranksift train``; its output goes nowhere."""
    words = ["train", str(data), *model, f"--gains={GAINS}", "-m", "nDCG_f@3", "--out", str(data.parent / "model")]
    done = subprocess.run([sys.executable, "-m", "ranksift", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)


def plain_loop(queries: list[str], docs: list[str], of: np.ndarray) -> Callable[[], None]:
    """What people write: batches in the order of the data, padded to the longest pair."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = find_encoder("minilm")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2).eval()

    def work() -> None:
        with torch.inference_mode():
            for at in range(0, len(docs), BATCH):
                asked = [queries[q] for q in of[at : at + BATCH]]
                pairs = tokenizer(
                    asked,
                    docs[at : at + BATCH],
                    truncation="only_second",
                    max_length=LONGEST,
                    padding=True,
                    return_tensors="pt",
                )
                model(**pairs)

    return work


if __name__ == "__main__":
    main()
