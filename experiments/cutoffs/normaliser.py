r"""The best list by nDCG_f, given the probability of every label.

Documents with an expected gain below 0 are better dropped by DCG. nDCG_f divides by I − W, which depends on all labels
of the query, and

.. math:: E[nDCG_f] = E\Big[\frac{-W}{I - W}\Big] + \sum_i \frac{1}{\log_2(i + 1)}\, E\Big[\frac{g_i}{I - W}\Big].

So the same argument holds for the normalised gain :math:`v = E[g / (I - W)]`: rank by it, and drop what is below 0.
"""

from __future__ import annotations

import numpy as np

from experiments.cutoffs.model import Floats, Ints
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import offsets_of
from ranksift.measures.cumulative import ideal_sublist, worst_sublist

SAMPLES = 1000


def normalised_gains(
    probabilities: Floats, labels: Floats, query: Ints, k: int, gains: GainsLike = "linear", seed: int = 0
) -> Floats:
    """v of every document, with labels drawn independently of each other.

    Parameters
    ----------
    probabilities
        One row per document, query after query; a column for each of the ``labels``.
    query
        The number of each document's query.
    """
    gain = Gains.of(gains)
    draw = np.random.default_rng(seed)
    offsets = offsets_of(np.bincount(query))
    upto = np.cumsum(probabilities, axis=1)[:, :-1]
    total = np.zeros(len(query))
    for _ in range(SAMPLES):
        drawn = labels[(draw.random(len(query))[:, None] >= upto).sum(axis=1)]
        pool = Pool.of(offsets, drawn)
        width = ideal_sublist(pool, gain, k) - worst_sublist(pool, gain, k)
        # Where no label has a gain but 0, every list is as good as any other.
        total += np.divide(gain(drawn), width[query], out=np.zeros(len(query)), where=width[query] > 0)
    return total / SAMPLES
