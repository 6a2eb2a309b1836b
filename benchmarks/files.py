"""Runs and qrels to measure with: MS MARCO's shape (short lists of judged documents, 1,000 results a query)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

JUDGED = 20  # documents a query, half of them retrieved


def make(folder: Path, queries: int, depth: int = 1000, kind: str = "plain", seed: int = 0) -> tuple[Path, Path]:
    """Write a run of ``queries`` x ``depth`` rows and its qrels, unless they are there; return both paths.

    ``kind``: ``plain`` (sorted, single blanks), ``shuffled`` (rows in random order), ``tied`` (scores with
    one decimal), ``mixed`` (tabs and runs of blanks, rows in order).
    """
    folder.mkdir(parents=True, exist_ok=True)
    run, qrels = folder / f"{kind}-{queries}x{depth}.run", folder / f"{kind}-{queries}x{depth}.qrels"
    if run.exists() and qrels.exists():
        return qrels, run
    rng = np.random.default_rng(seed)
    part = run.with_suffix(".part")
    order = np.random.default_rng(seed + 1)
    rows: list[str] = []
    with open(part, "w") as out, open(qrels, "w") as judgments:
        for q in range(queries):
            query = 1_000_000 + 7 * q
            docs = rng.choice(8_800_000, depth + JUDGED, replace=False)
            score = np.sort(rng.gamma(4.0, 5.0, depth))[::-1]
            text = [f"{s:.1f}" if kind == "tied" else f"{s:.6f}" for s in score.tolist()]
            gap = ["\t", "  "] if kind == "mixed" else [" ", " "]
            lines = [
                f"{query}{gap[0]}Q0{gap[1]}{d} {i} {s}{gap[0]}bench\n"
                for i, (d, s) in enumerate(zip(docs[:depth].tolist(), text, strict=True), 1)
            ]
            if kind == "shuffled":
                rows.extend(lines)
            else:
                out.write("".join(lines))
            # Relevant documents tend to stand at the top.
            ranks = np.unique(np.minimum(rng.geometric(0.02, JUDGED), depth) - 1)[: JUDGED // 2]
            judged = np.concatenate((docs[ranks], docs[depth : depth + JUDGED - len(ranks)]))
            labels = rng.choice([0, 0, 1, 2, 3], len(judged))
            judgments.write(
                "".join(f"{query} 0 {d} {v}\n" for d, v in zip(judged.tolist(), labels.tolist(), strict=True))
            )
        if rows:
            out.write("".join(rows[i] for i in order.permutation(len(rows))))
    part.rename(run)
    return qrels, run
