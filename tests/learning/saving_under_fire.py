"""Three savers and a reader on one folder, while savers are killed: is one refused, or does one see half a model?

python -m tests.learning.saving_under_fire --seconds 60
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

import ranksift as rs
from ranksift.errors import InputError
from ranksift.learning import ExpectedGainRanker, RankBoost, RankSVM, model_folder


def models() -> tuple[list[rs.learning.Ranker], rs.Examples]:
    """Three that have different files, and examples that tell them apart."""
    x = np.random.default_rng(0).normal(size=(40, 3))
    examples = rs.Examples.from_arrays(x, x[:, 0].round(), np.repeat(np.arange(8), 5))
    kinds = [RankSVM(), RankBoost(rounds=2), ExpectedGainRanker("RankSVM")]
    made = [kind.fit(examples) for kind in kinds]
    made[1].fit_cutoff(examples)
    return made, examples


def logged(log: Path, act: Callable[[], str], times: int | None) -> None:
    """Do something so many times, or until killed, and write down how it went, a line each."""
    done = 0
    with log.open("a", buffering=1) as file:
        while times is None or done < times:
            try:
                word = act()
            except InputError as error:
                word = f"refused: {error}"
            file.write(word + "\n")
            done += 1


def fire(folder: Path, *, seconds: float, saves: int | None, pause: float | None) -> list[str]:
    """What happened, a line each: saved, read, killed, half, refused with the reason.

    Parameters
    ----------
    folder
        For the model and what is written down.
    seconds, saves
        How long it takes, or how often each saver saves.
    pause
        Seconds from one kill to the next, on average; None: nobody is killed. Who is killed is replaced.
    """
    kinds, examples = models()
    known = [model.score(examples).tobytes() for model in kinds]
    target, draw = folder / "model", random.Random(0)
    kinds[0].save(target)

    def read() -> str:
        return "read" if rs.load(target).score(examples).tobytes() in known else "half"

    def started(name: str, act: Callable[[], str], times: int | None) -> BaseProcess:
        # Forked, it begins at once, with everything imported and fitted.
        process = get_context("fork").Process(target=logged, args=(folder / f"{name}.log", act, times))
        process.start()
        return process

    def saver(i: int) -> BaseProcess:
        return started(f"saver{i}", lambda: kinds[i].save(target) or "saved", saves)

    reader, savers = started("reader", read, None), [saver(i) for i in range(len(kinds))]
    killed, end = 0, time.monotonic() + seconds
    while time.monotonic() < end if saves is None else any(one.is_alive() for one in savers):
        time.sleep(0.01 if pause is None else draw.expovariate(1.0 / pause))
        if pause is not None:
            i = draw.randrange(len(savers))
            savers[i].kill()
            savers[i].join()
            savers[i] = saver(i)
            killed += 1
    for one in (*savers, reader):
        one.kill()
        one.join()
    lines = [line for log in folder.glob("*.log") for line in log.read_text().splitlines()]
    return [*lines, read(), *["killed"] * killed, *["left"] * (len(list(target.glob("version-*"))) - 1)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--saves", type=int, help="of each saver, with nobody killed, in the place of seconds")
    options.add_argument("--grace", type=float, default=model_folder.GRACE, help="seconds that versions are left")
    options.add_argument("--pause", type=float, default=0.05, help="seconds from one kill to the next, on average")
    given = options.parse_args()
    model_folder.GRACE = given.grace
    pause = given.pause if given.saves is None else None
    with tempfile.TemporaryDirectory() as folder:
        lines = fire(Path(folder), seconds=given.seconds, saves=given.saves, pause=pause)
    found = Counter(line.partition(":")[0] for line in lines)
    print(", ".join(f"{found[word]} {word}" for word in ("saved", "killed", "read", "refused", "half", "left")))
    for line, times in Counter(line for line in lines if line.startswith("refused")).most_common(10):
        print(times, line)
    sys.exit(bool(found["refused"] or found["half"]))


if __name__ == "__main__":
    main()
