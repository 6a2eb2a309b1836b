"""How much of a ranking has been judged at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranksift.collection.judged_run import JudgedRun
from ranksift.measures.measure import Measure, PerQuery, k_parameter


@dataclass(frozen=True, repr=False)
class Judged(Measure):
    r"""The share of the top k that has a judgment, before any unjudged document is dropped.

    .. math:: Judged@k = \frac{|\{i \le k : d_i \text{ judged}\}|}{\min(k, |list|)}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"b": 3, "a": 2}}, ["Judged@5"]).mean_of("Judged@5")
    0.5
    """

    family = "classic"
    paper = "ir_measures (MacAvaney, Macdonald, Ounis)"

    k: int | None = k_parameter()

    # ``ranksift.Judged`` is this measure; who looks for the joined table of that name finds its door here too.
    from_arrays = staticmethod(JudgedRun.from_arrays)

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Judged places over places."""
        shown = judged.listed if self.k is None else np.minimum(judged.listed, self.k)
        inside = judged.place <= (self.k or np.inf)
        return PerQuery(judged.sum(inside) / np.maximum(shown, 1))
