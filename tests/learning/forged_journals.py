"""Forged storages of searches: is one refused with a line, or does the search end with values that are numbers?

python -m tests.learning.forged_journals --cases 5000 --seed 0
"""

import json
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np

from ranksift import Examples
from ranksift.errors import InputError
from ranksift.learning import RankSVM, tune
from ranksift.learning.tuning import Tuning
from tests.forged import check_line, command, mutated_bytes, mutated_json


@cache
def examples() -> Examples:
    """Something to learn from."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(24, 2))
    return Examples.from_arrays(x, x[:, 0].round().clip(-1, 2), np.repeat(np.arange(6), 4))


def search(storage: Path) -> Tuning:
    """A small search."""
    return tune(RankSVM(), examples(), space={"C": [1.0, 0.1, 10.0]}, folds=2, measure="AP", storage=storage)


@cache
def genuine() -> bytes:
    """The storage of a search that is done."""
    with tempfile.TemporaryDirectory() as folder:
        search(Path(folder) / "storage")
        return (Path(folder) / "storage").read_bytes()


def forged(draw: np.random.Generator) -> bytes:
    """The storage after some changes: of values, of lines, of bytes."""
    lines = genuine().splitlines()
    kind = draw.random()
    if kind < 0.25:
        return mutated_bytes(genuine(), draw)
    at = int(draw.integers(len(lines)))
    if kind < 0.5:  # what RankSift itself reads of a trial
        record = json.loads(lines[at])
        read = {key: record[key] for key in ("state", "value", "values", "user_attrs", "directions") if key in record}
        rest = json.dumps({key: value for key, value in record.items() if key not in read})
        lines[at] = f"{rest[:-1]}, {mutated_json(read, draw)[1:]}".encode("utf-8", "surrogatepass")
    elif kind < 0.85:
        lines[at] = mutated_json(json.loads(lines[at]), draw).encode("utf-8", "surrogatepass")
    else:
        lines.insert(int(draw.integers(len(lines) + 1)), lines.pop(at) if draw.random() < 0.5 else lines[at])
    return b"\n".join(lines) + b"\n" * (draw.random() < 0.8)


def case(number: int, seed: int) -> str:
    """Go on with a search that has a forged storage."""
    warnings.simplefilter("ignore")
    data = forged(np.random.default_rng((seed, number)))
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "storage"
        storage.write_bytes(data)
        try:
            found = search(storage)
        except InputError as error:
            check_line(error, str(storage))
            assert data.startswith(storage.read_bytes()), "a file that is refused was changed"
            return "refused"
        assert [trial.params["C"] for trial in found.trials] == [1.0, 0.1, 10.0]
        assert all(trial.value is None or np.isfinite(trial.value) for trial in found.trials)
        assert str(found)
        assert found.to_frame().height == len(found.trials)
        # What was added goes on from there.
        assert search(storage).trials == found.trials
    return "read"


if __name__ == "__main__":
    command("tests.learning.forged_journals", __doc__)
