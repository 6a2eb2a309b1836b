"""A transformer for PyTerrier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats, positions
from ranksift.errors import InputError
from ranksift.integrations.sifter import ModelLike, Sifter
from ranksift.learning.libraries import require
from ranksift.learning.ranker import Ranker

require("ranksift.integrations.pyterrier", "pyterrier")

import pyterrier as pt  # noqa: E402

if TYPE_CHECKING:
    import pandas as pd


class RankSiftTransformer(pt.Transformer):
    """A stage of a pipeline that reranks results and drops some, or that drops some by their existing scores.

    A ranker from texts reads the columns ``query`` and ``text``; a ranker from features reads the column ``features``
    (as ``**`` makes it); a cutoff reads the column ``score``, and ``cut_score`` if it was fitted on two scores.

    Parameters
    ----------
    model
        A fitted ranker or cutoff, or its folder or file.
    text_field
        The column of the documents' texts.
    explain
        Whether dropped results stay, after the others, with False in a column ``kept``.

    Examples
    --------
    >>> import pandas as pd
    >>> from ranksift import GlobalCutoff
    >>> cut = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"])
    >>> found = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [0.2, 0.8]})
    >>> (pt.Transformer.from_df(found) >> RankSiftTransformer(cut))(pd.DataFrame({"qid": ["1"]})).docno.tolist()
    ['b']
    """

    def __init__(self, model: ModelLike, *, text_field: str = "text", explain: bool = False) -> None:
        self.sifter = Sifter.of(model)
        self.text_field = text_field
        self.explain = explain

    def __repr__(self) -> str:
        return f"RankSiftTransformer({self.sifter.place or self.sifter.model!r})"

    @property
    def columns(self) -> list[str]:
        """The columns that it reads."""
        model = self.sifter.model
        if not isinstance(model, Ranker):
            return ["qid", "docno", "score", *["cut_score"] * model.fitted_on_["two_scores"]]
        texts, features = model.reads_texts(), bool(model.feature_names_)
        return ["qid", "docno", *["query", self.text_field] * texts, *["features"] * features]

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """The results of each query, best first, with new ranks."""
        pt.validate.columns(inp, includes=self.columns, context=self)
        scores, kept = self._judged(inp) if len(inp) else (np.zeros(0), np.zeros(0, dtype=bool))
        groups, query = np.unique(inp["qid"].to_numpy(dtype=str), return_inverse=True)
        order = np.lexsort((-scores, ~kept, query))
        order = order if self.explain else order[kept[order]]
        rank = positions(np.bincount(query[order], minlength=len(groups))) + pt.model.FIRST_RANK
        found = inp.iloc[order].assign(score=scores[order], rank=rank)
        return (found.assign(kept=kept[order]) if self.explain else found).reset_index(drop=True)

    def _judged(self, inp: pd.DataFrame) -> tuple[Floats, NDArray[np.bool_]]:
        """The score of each row, and whether it is kept."""
        model, queries = self.sifter.model, inp["qid"].astype(str).tolist()
        if isinstance(model, Ranker):
            scores = model.score(self._examples(model, queries, inp))
            return scores, np.ones(len(inp), dtype=bool) if model.cutoff_ is None else model.cutoff_.keep(
                scores, queries
            )
        scores = inp["score"].to_numpy(dtype=np.float64)
        if not model.fitted_on_["two_scores"]:
            return scores, self.sifter.keep(scores, queries)
        return scores, self.sifter.keep(inp["cut_score"].to_numpy(dtype=np.float64), queries, rank_scores=scores)

    def _examples(self, model: Ranker, queries: list[str], inp: pd.DataFrame) -> Examples:
        known: dict[str, Any] = {"feature_names": None, "features": None}
        if model.feature_names_:
            known = {"feature_names": model.feature_names_, "features": _matrix(inp, len(model.feature_names_))}
        if not model.reads_texts():
            return Examples.from_arrays(known["features"], None, queries, feature_names=known["feature_names"])
        position = inp.groupby("qid", sort=False).cumcount().to_numpy() + 1.0
        texts = inp[self.text_field].astype(str).tolist()
        return Examples.from_texts(inp["query"].astype(str).tolist(), texts, None, queries, position=position, **known)


def _matrix(inp: pd.DataFrame, width: int) -> NDArray[np.float64]:
    rows = [np.asarray(row, dtype=np.float64) for row in inp["features"]]
    other = next((n for n, row in enumerate(rows) if row.shape != (width,)), None)
    if other is not None:
        what = f"row {other + 1} has {rows[other].size} features, and the model was fitted to {width}"
        raise InputError(what, remedy="give the features of the pipeline that it was fitted with, in their order")
    return np.stack(rows)
