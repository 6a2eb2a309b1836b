"""What a fit takes: ``python -m experiments.boosted_trees.seconds``.

Seconds differ from machine to machine and from one call to the next, so that the page does not compute them.
"""

from __future__ import annotations

import time
import warnings
from statistics import median

from experiments.boosted_trees.methods import METHODS, TREES
from experiments.learning import mq2008
from experiments.publish import data_folder
from ranksift.collection.errors import RankSiftWarning
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


def main() -> None:
    """Measure and print."""
    from threadpoolctl import threadpool_limits

    fold = mq2008(data_folder()).folds[0]
    print(f"at most {TREES} trees; median of {REPEATS} fits")
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", RankSiftWarning)
        for method in METHODS:
            METHODS[method].ranker.clone().fit(fold.train, fold.validation)  # what is loaded late is loaded now
            print(f"{method}: {seconds(method, fold):.2f} s")


if __name__ == "__main__":
    main()
