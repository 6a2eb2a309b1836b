"""Estimators for scikit-learn: a ranker, and a cutoff."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection.examples import Examples
from ranksift.collection.gains import GainsLike
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.threshold import one_measure
from ranksift.learning.libraries import require
from ranksift.learning.ranker import Ranker

require("ranksift.integrations.sklearn", "sklearn")

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone  # noqa: E402
from sklearn.model_selection import GroupKFold  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402


class _OfQueries(BaseEstimator):
    """What both have: the rows of X are documents, and belong to queries.

    The query of each row is ``groups``, which scikit-learn passes on where metadata routing is switched on, or a column
    of X. If there is neither, all rows are of one query.
    """

    query_column: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _groups(self, X: NDArray[np.float64], groups: ArrayLike | None) -> NDArray[Any]:
        if groups is not None:
            return np.asarray(groups)
        return np.zeros(len(X)) if self.query_column is None else X[:, self.query_column]


class RankerEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _OfQueries):
    """A ranker from features.

    As a step of a pipeline, it gives one column, the score. The next step, such as a cutoff, is then fitted to scores
    of queries that the ranker was not fitted to: they are held out in turn.

    Parameters
    ----------
    ranker
        Any ranker that learns from features; its parameters have names such as ``ranker__trees``.
    query_column
        The column of X that says which query a row belongs to; it is not a feature. None: ``groups`` says it.
    folds
        The number of parts of the queries, each of which is held out in turn.

    Attributes
    ----------
    ranker_
        The fitted ranker.

    Examples
    --------
    >>> from ranksift.learning import RankSVM
    >>> X, y, groups = [[0.1], [0.9], [0.3], [0.8]], [0, 2, 1, 2], ["q", "q", "r", "r"]
    >>> RankerEstimator(RankSVM()).fit(X, y, groups=groups).score(X, y, groups=groups)
    1.0
    """

    def __init__(self, ranker: Ranker, *, query_column: int | None = None, folds: int = 5) -> None:
        self.ranker = ranker
        self.query_column = query_column
        self.folds = folds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit the ranker to documents × features and labels."""
        matrix, label = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2, ensure_all_finite="allow-nan"
        )
        self.ranker_ = clone(self.ranker).fit(self._examples(matrix, label, groups))
        self._n_features_out = 1
        return self

    def predict(self, X: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        """The score of each document; higher is better."""
        given = self._examples(self._checked(X), None, groups)
        scores: Floats = self.ranker_.score(given)
        return scores

    def keep(self, X: ArrayLike, groups: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether the ranker's cutoff keeps each document; without a cutoff, all are kept."""
        matrix = self._checked(X)
        given, cutoff = self._examples(matrix, None, groups), self.ranker_.cutoff_
        if cutoff is None:
            return np.ones(len(matrix), dtype=bool)
        kept: NDArray[np.bool_] = cutoff.keep(self.ranker_.score(given), self._groups(matrix, groups))
        return kept

    def transform(self, X: ArrayLike, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """The score of each document as a column."""
        return self.predict(X, groups)[:, None]

    def fit_transform(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """Fit the ranker, and score each document by a ranker that was fitted to other queries.

        A single query cannot be held out: then the ranker itself gives the scores.
        """
        self.fit(X, y, groups)
        matrix, label = np.asarray(X, dtype=np.float64), np.asarray(y)
        query = self._groups(matrix, groups)
        queries = len(np.unique(query))
        if queries == 1:
            return self.transform(X, groups)
        scores = np.empty((len(matrix), 1))
        for others, own in GroupKFold(min(self.folds, queries)).split(matrix, label, query):
            fitted = clone(self).fit(matrix[others], label[others], query[others])
            scores[own] = fitted.transform(matrix[own], query[own])
        return scores

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """The ranker's own measure."""
        given = self._examples(self._checked(X), np.asarray(y, dtype=np.float64), groups)
        return float(self.ranker_.value(given))

    def _checked(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        matrix: NDArray[np.float64] = validate_data(
            self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
        )
        return matrix

    def _examples(self, X: NDArray[np.float64], y: Floats | None, groups: ArrayLike | None) -> Examples:
        features = X if self.query_column is None else np.delete(X, self.query_column, axis=1)
        return Examples.from_arrays(features, y, self._groups(X, groups), name="X")


class CutoffEstimator(_OfQueries):
    """A cutoff on a column of scores.

    Parameters
    ----------
    cutoff
        Any rule; its parameters have names such as ``cutoff__measure``.
    score_column
        The column of X that is cut on.
    query_column
        The column of X that says which query a row belongs to. None: ``groups`` says it.
    gains
        The gains of labels; documents with a negative gain are forbidden.

    Attributes
    ----------
    cutoff_
        The fitted rule.

    Examples
    --------
    >>> from ranksift import GlobalCutoff
    >>> X, y, groups = [[0.9], [0.4], [0.7]], [1, -1, 2], ["q", "q", "r"]
    >>> CutoffEstimator(GlobalCutoff("nDCG_f@3")).fit(X, y, groups=groups).predict([[0.8], [0.3]]).tolist()
    [True, False]
    """

    def __init__(
        self,
        cutoff: Cutoff,
        *,
        score_column: int = 0,
        query_column: int | None = None,
        gains: GainsLike = "linear",
    ) -> None:
        self.cutoff = cutoff
        self.score_column = score_column
        self.query_column = query_column
        self.gains = gains

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit the rule to the scores and labels of documents."""
        matrix, label = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.cutoff_ = clone(self.cutoff).fit(
            matrix[:, self.score_column], label, self._groups(matrix, groups), gains=self.gains
        )
        return self

    def predict(self, X: ArrayLike, groups: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether each document is kept."""
        check_is_fitted(self)
        matrix = validate_data(self, X, dtype=np.float64, reset=False)
        kept: NDArray[np.bool_] = self.cutoff_.keep(matrix[:, self.score_column], self._groups(matrix, groups))
        return kept

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """The rule's own measure of the kept documents, in the order of the scores."""
        check_is_fitted(self)
        matrix = validate_data(self, X, dtype=np.float64, reset=False)
        query, score = self._groups(matrix, groups), matrix[:, self.score_column]
        lists = Lists.from_arrays(score, y, query, gains=self.gains)
        return aggregate(one_measure(self.cutoff_.natural_measure), lists, self.cutoff_.keep_lists(lists))
