"""What a fit takes: ``python -m experiments.boosted_trees.seconds``.

Seconds differ from machine to machine and from one call to the next, so that the page does not compute them.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

from experiments.boosted_trees.measured import keep
from experiments.boosted_trees.methods import METHODS, TREES
from experiments.learning import mq2008
from ranksift.collection.examples import Fold

REPEATS = 5


def seconds(method: str, fold: Fold, repeats: int = REPEATS) -> float:
    """Of a fit with the parameters that are given, on validation too: the median of several."""
    taken = []
    for repeat in range(repeats):
        ranker = METHODS[method].ranker.clone().set_params(seed=repeat + 1)  # 0 is grown, and libraries' trees are kept
        start = time.process_time()
        ranker.fit(fold.train, fold.validation)
        taken.append(time.process_time() - start)
    return median(taken)


def measured(data: Path) -> dict[str, float]:
    """By method."""
    from threadpoolctl import threadpool_limits

    fold, found = mq2008(data).folds[0], {}
    print(f"at most {TREES} trees; median of {REPEATS} fits")
    with threadpool_limits(1):
        for method in METHODS:
            METHODS[method].ranker.clone().fit(fold.train, fold.validation)  # what is loaded late is loaded now
            found[method] = round(seconds(method, fold), 2)
            print(f"{method}: {found[method]:.2f} s", flush=True)
    return found


if __name__ == "__main__":
    keep("seconds", measured)
