"""In scikit-learn: its own checks, pipelines and searches."""

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets.reviews import GAINS, product_reviews
from ranksift.learning import ExpectedGainRanker, FocusedBoost, LambdaMART, LambdaMARTf, RankSVM

sklearn = pytest.importorskip("sklearn", reason="needs the extra learn: scikit-learn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from ranksift.integrations import CutoffEstimator, RankerEstimator  # noqa: E402

#: Checks that cannot hold, and why; docs/how-to/stacks.md says it too.
EXCEPTIONS = {
    "check_methods_subset_invariance": "the score of a document depends on the other documents of its query",
}


def expected_failures(estimator: object) -> dict[str, str]:
    """The checks that an estimator cannot pass."""
    of_lists = isinstance(getattr(estimator, "ranker", None), ExpectedGainRanker | FocusedBoost)
    return EXCEPTIONS if of_lists else {}


RULES = [rs.GlobalCutoff(), rs.NormalizedCutoff(), rs.ExpectedGainCutoff(), rs.RiskCutoff(), rs.ShapeCutoff()]
RANKERS = [LambdaMARTf(trees=5), ExpectedGainRanker(), FocusedBoost(rounds=3), RankSVM()]
ESTIMATORS = [*map(CutoffEstimator, RULES), *map(RankerEstimator, RANKERS)]


@pytest.mark.filterwarnings("ignore")  # of data that means nothing
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def reviews():
    """Features, labels, and the query of each row as a number."""
    examples = product_reviews(120).examples
    return examples.features, examples.labels, examples.query


def test_it_is_the_ranker_inside(reviews):
    features, labels, query = reviews
    wrapped = RankerEstimator(LambdaMARTf(trees=20, gains=GAINS)).fit(features, labels, groups=query)
    own = LambdaMARTf(trees=20, gains=GAINS).fit(rs.Examples.from_arrays(features, labels, query))
    examples = rs.Examples.from_arrays(features, labels, query)
    assert np.array_equal(wrapped.predict(features, groups=query), own.score(examples))
    assert wrapped.score(features, labels, groups=query) == own.value(examples)
    kept = wrapped.keep(features, groups=query)
    assert kept.sum() == len(own.rank(examples).to_frame()) < len(kept)
    assert not hasattr(wrapped.ranker, "cutoff_")  # what was given stays as it was


def test_queries_in_a_column_are_the_same_as_groups(reviews):
    features, labels, query = reviews
    with_query = np.column_stack([query, features])
    one = RankerEstimator(LambdaMARTf(trees=20, gains=GAINS), query_column=0).fit(with_query, labels)
    other = RankerEstimator(LambdaMARTf(trees=20, gains=GAINS)).fit(features, labels, groups=query)
    assert np.array_equal(one.predict(with_query), other.predict(features, groups=query))
    assert np.array_equal(one.keep(with_query), other.keep(features, groups=query))
    scores = np.column_stack([one.predict(with_query), query])
    cut = CutoffEstimator(rs.GlobalCutoff("nDCG_f@3"), gains=GAINS, query_column=1).fit(scores, labels)
    direct = rs.GlobalCutoff("nDCG_f@3").fit(scores[:, 0], labels, query, gains=GAINS)
    assert cut.cutoff_.threshold_ == direct.threshold_
    assert cut.score(scores, labels) == pytest.approx(direct.value_, abs=1e-12)
    assert np.array_equal(cut.predict(scores), direct.keep(scores[:, 0], query))


def test_a_search_passes_queries_on(reviews):
    features, labels, query = reviews
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RankerEstimator(RankSVM(gains=GAINS)).set_fit_request(groups=True).set_score_request(groups=True)
        search = GridSearchCV(ranker, {"ranker__C": [0.01, 1.0]}, cv=GroupKFold(3))
        search.fit(features, labels, groups=query)
    assert search.best_params_["ranker__C"] == search.best_estimator_.ranker_.C
    folds = GroupKFold(3).split(features, labels, query)
    by_hand = [
        RankSVM(gains=GAINS, C=search.best_params_["ranker__C"])
        .fit(rs.Examples.from_arrays(features[train], labels[train], query[train]))
        .value(rs.Examples.from_arrays(features[test], labels[test], query[test]))
        for train, test in folds
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), abs=1e-12)


def test_a_cutoff_behind_a_ranker_is_fitted_to_scores_of_queries_held_out(reviews):
    features, labels, query = reviews
    with_query = np.column_stack([query, features])
    ranker = RankerEstimator(LambdaMART(trees=30, gains=GAINS), query_column=0)
    with sklearn.config_context(enable_metadata_routing=True):
        step = ranker.set_fit_request(groups=True).set_transform_request(groups=True)
        cut = CutoffEstimator(rs.GlobalCutoff("nDCG_f@3"), gains=GAINS)
        cut.set_fit_request(groups=True).set_predict_request(groups=True).set_score_request(groups=True)
        pipe = make_pipeline(clone(step), cut).fit(with_query, labels, groups=query)
        kept = pipe.predict(with_query, groups=query)
    seen = pipe[0].transform(with_query)
    held_out = clone(ranker).fit_transform(with_query, labels)
    assert pipe[-1].cutoff_.fitted_on_["scores"] == np.quantile(held_out, [0, 0.25, 0.5, 0.75, 1]).tolist()
    assert 0 < kept.sum() < len(kept)
    good = labels > 0
    # A ranker tells documents apart better where it has learned from them.
    assert seen[good].mean() - seen[~good].mean() > held_out[good].mean() - held_out[~good].mean()


def test_features_are_scaled_before_and_values_may_be_missing(reviews):
    features, labels, query = reviews
    with_gaps = np.where(np.random.default_rng(0).uniform(size=features.shape) < 0.05, np.nan, features)
    pipe = make_pipeline(StandardScaler(), RankerEstimator(LambdaMARTf(trees=20, gains=GAINS)))
    pipe.fit(with_gaps, labels, rankerestimator__groups=query)
    assert np.isfinite(pipe.predict(with_gaps, groups=None)).all()


def test_names_of_columns_go_through(reviews):
    pd = pytest.importorskip("pandas")
    features, labels, query = reviews
    frame = pd.DataFrame(features, columns=[f"f{n}" for n in range(features.shape[1])])
    wrapped = RankerEstimator(RankSVM()).set_output(transform="pandas").fit(frame, labels, groups=query)
    assert wrapped.transform(frame).columns.tolist() == ["rankerestimator0"]
    with pytest.raises(ValueError, match="feature names should match"):
        wrapped.predict(frame.rename(columns={"f0": "other"}))
