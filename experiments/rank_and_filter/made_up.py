"""Lists of any length whose labels were drawn by known chances, which are the same for a document of a long list."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats

#: Forbidden, of no use, good, very good.
LABELS = np.array([-1.0, 0.0, 1.0, 2.0])


class MadeUp(NamedTuple):
    """Documents, and the probability of each of :data:`LABELS` (columns) for each of them."""

    examples: Examples
    chances: Floats


def made_up(queries: int, length: int, seed: int, *, shift: float = 0.0) -> MadeUp:
    """Lists of one length: six features, of which one is the query's, one speaks of grades and one of nothing.

    ``shift`` is added to the log-odds of being forbidden.

    >>> made = made_up(50, 20, seed=0)
    >>> made.examples, bool(np.allclose(made.chances.sum(axis=1), 1.0))
    (<Examples: 1000 documents, 50 queries, 6 features>, True)
    """
    draw = np.random.default_rng([length, seed])
    query = np.repeat(np.arange(queries), length)
    x = draw.normal(size=(len(query), 6))
    x[:, 3] = draw.normal(size=queries)[query]
    odds = 0.7 - 1.9 * x[:, 0] - 1.1 * np.maximum(x[:, 1], 0.0) - 0.8 * x[:, 0] * (x[:, 2] > 0) - x[:, 3]
    forbidden = expit(odds + shift)
    useless, many = 0.3, expit(1.5 * x[:, 4] - 0.5)
    good = (1.0 - forbidden) * (1.0 - useless)
    chances = np.column_stack([forbidden, (1.0 - forbidden) * useless, good * (1.0 - many), good * many])
    drawn = (draw.random((len(query), 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    return MadeUp(Examples.from_arrays(x, LABELS[drawn], query), chances)
