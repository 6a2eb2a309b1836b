"""The page on cutoffs: what it computes, and that its results are that."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

import ranksift as rs
from experiments.cutoffs import EXPERIMENT, losses, measure
from experiments.cutoffs.community import EXPECTED, MEASURE, NORMALISED, POSITIVE, Forum, K
from experiments.cutoffs.model import LogisticRegression, out_of_fold
from experiments.cutoffs.normaliser import normalised_gains
from experiments.cutoffs.printed import TABLE_6, TABLE_7
from experiments.cutoffs.promises import by_size
from experiments.cutoffs.questions import System
from experiments.cutoffs.rules import (
    GLOBAL,
    ORACLE,
    SHOW_ALL,
    SHOW_NOTHING,
    Beside,
    Outcome,
    first_best,
    paired,
    rules,
)
from experiments.cutoffs.topics import Track
from experiments.cutoffs.words import described, gap_closed, mark, named
from experiments.experiment import rounded
from ranksift.collection.lists import Lists
from ranksift.cutoffs.rules import known_rules
from tests.experiments.claims import apart, failing


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    return data_dir


@pytest.fixture(scope="module")
def forum(data: Path) -> Forum:
    return Forum(data)


# -- the page ----------------------------------------------------------------------------------------------------


def test_results_are_what_is_measured_now(forum: Forum) -> None:
    """All of them take half a minute; these parts go through every rule."""
    kept = EXPERIMENT.kept
    found = rounded({"test": forum.tested.told(*measure.COSTS), **measure.promises(forum, [])})
    assert not [*apart(found["test"], kept["forum"]["test"])]
    assert not [*apart(found["tuned"], kept["tuned"][:1]), *apart(found["risks"], kept["risks"][:2])]
    curves = rounded({"trade-off": measure.tradeoff(forum), "thresholds": measure.thresholds(forum)})
    assert not [*apart(curves, {name: kept[name] for name in curves})]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("forum", "test", "rules", "rank-only", "p"), 0.051, "A cut pays where the score knows what is forbidden"),
        (("forum", "train", "rules", "shape", "p"), 0.04, "One threshold for all is hard to beat"),
        (("forum", "test", "rules", "E[g] ≥ 0", "value"), 0.8, "right for DCG and wrong for nDCG_f"),
        (("forum", "by gain", "E[g] ≥ 0", "test", 0), 0.6, "nearly as good as a cut that is tuned to it"),
        (("web", "2012", "settings", 0, "gain"), -0.01, "A second score can be worth more than any cut on the first"),
        (("web", "2013", "settings", 0, "p"), 0.04, "no difference distinguishable from chance"),
        (("wikiqa", "CNN-Cnt", "against silence", "nDCG′", "p"), 0.04, "On WikiQA it is best to show nothing"),
        (("wikiqa", "CNN", "c@1", "global"), 0.2, "c@1 asks for answers"),
        (("by size", "global", "200", "mean"), 0.7, "From 100 questions on the global cut is within 0.005"),
        (("losses", "chosen", "BCE", "values", 1), 0.7, "On validation every loss gains"),
        (("losses", "changes", 1, 1), 0.2, "loses significantly"),
        (("losses", "rows", "tuned", "LambdaRank", 0), 0.9, "LambdaRank is last both times"),
        (("losses", "beside baselines", "tuned", 0, 1), 0.2, "all but LambdaRank are above all three"),
        (("losses", "beside each other", "tuned", 0, 1), 0.01, "**Compared with each other**"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


def test_every_rule_has_its_row() -> None:
    page = EXPERIMENT.made_of(EXPERIMENT.kept).files[EXPERIMENT.page]
    for word in [*known_rules(), "filter-only", ORACLE]:
        if word != "fixed":
            assert page.count(f"\n| {word} | ") > 1
            assert f"\n| {word} | " in described()


# -- the losses --------------------------------------------------------------------------------------------------


def test_a_loss_that_is_fitted_now_is_the_one_that_is_kept(data: Path) -> None:
    """The baseline that needs no network to the digit, and one start of a network among those that are averaged."""
    fold, kept = losses.parts(data), losses.measured()
    assert [len(part.query_ids) for part in fold if part is not None] == kept["questions"]
    nothing = losses.judged(fold.test, np.zeros(len(fold.test)), np.zeros(len(fold.test), dtype=bool))
    assert nothing.values == pytest.approx(kept["rows"]["tuned"][losses.FILTER_ALL], abs=1e-5)
    scores, threshold = losses.scored(fold, losses.ranker("lambdarank_bce", seed=0))
    found = losses.judged(fold.test, scores, scores >= threshold)
    assert found.values[0] == pytest.approx(kept["rows"]["as given"]["LambdaRank+BCE"][0], abs=0.02)


def test_losses_are_tuned_in_what_the_paper_tunes() -> None:
    kept = losses.measured()
    for name, loss in losses.LOSSES.items():
        given = losses.ranker(loss).natural_space(stopped=True)
        assert set(kept["chosen"][name]["params"]) == set(losses.TUNED) & set(given)
        untuned, best = kept["chosen"][name]["values"]
        assert best >= untuned
    assert kept["minutes"] < 15


def test_tests_of_pairs_are_corrected_together() -> None:
    draw = np.random.default_rng(0)
    values = {name: draw.normal(i / 10, 1, 200) for i, name in enumerate("abc")}
    found = losses.Trials({name: [losses.Judged((v.mean(),), v)] for name, v in values.items()})
    pairs = [("a", "b"), ("a", "c")]
    tests = [ttest_rel(values[one], values[other]).pvalue for one, other in pairs]
    assert [p for _, p in found.against(pairs)] == pytest.approx(
        [min(1.0, max(2 * min(tests), p)) if p != min(tests) else min(1.0, 2 * p) for p in tests]
    )


# -- the forum ---------------------------------------------------------------------------------------------------


def test_counts_are_those_of_the_provenance(forum: Forum) -> None:
    splits = (forum.train, forum.dev.answers, forum.test.answers)
    assert [(a.questions, len(a)) for a in splits] == [(2600, 16541), (300, 1645), (329, 1976)]
    counts = [[int((a.label == label).sum()) for label in (2, 1, -1)] for a in splits]
    assert counts == [[8069, 1659, 6813], [875, 187, 583], [997, 167, 812]]


def test_showing_nothing_and_everything_add_up_to_one_on_single_answers(forum: Forum) -> None:
    """Paper 1's Table 6, there and here."""
    single = forum.tested.single
    alone = np.bincount(forum.test.answers.number) == 1
    assert single.told()["queries"] == alone.sum()
    for nothing, shown in (*TABLE_6.values(), (single.value(SHOW_NOTHING), single.value(SHOW_ALL))):
        assert nothing + shown == pytest.approx(1.0)
    forbidden = forum.test.answers.label[alone[forum.test.answers.number]] < 0
    assert single.value(SHOW_NOTHING) == pytest.approx(forbidden.mean())


def test_no_rule_exceeds_the_oracle(forum: Forum) -> None:
    found = forum.tested
    values = found.found.scores.values[:, :, found.found.scores.column(MEASURE)]
    oracle = values[found.found.scores.row(ORACLE)]
    on_one_score = [found.found.scores.row(r) for r in found.rules if r not in ("filter-only", NORMALISED)]
    assert (values[on_one_score] <= oracle + 1e-12).all()


def test_rules_from_probabilities_keep_what_they_should(forum: Forum) -> None:
    lists = forum.test.lists(EXPECTED)
    plain, normalised = (forum.test.more[name].fit_lists(lists).keep_lists(lists) for name in (POSITIVE, NORMALISED))
    assert (plain == (forum.test.score(EXPECTED)[lists.row] >= 0)).all()
    assert (normalised == (forum.test.normalised[lists.row] >= 0)).all()


# -- the other collections ---------------------------------------------------------------------------------------


def test_c_at_1_of_the_rules(data: Path) -> None:
    system = System(data, "CNN")
    folder = data / "wikiqa"
    run = rs.read_run(folder / "WikiQA.CNN.test.rank.gz")
    qrels = rs.read_qrels(folder / "WikiQA-test.ref.gz")
    assert system.c_at_1[SHOW_ALL] == pytest.approx(rs.evaluate(qrels, run, ["c_at_1"]).mean_of("c_at_1"))
    cut = rs.GlobalCutoff("nDCG_qwa").fit_lists(system.dev).apply(run)
    assert system.c_at_1[GLOBAL] == pytest.approx(rs.evaluate(qrels, cut, ["c_at_1"]).mean_of("c_at_1"))


def test_a_cut_on_the_filters_verdict_is_the_filtered_run(data: Path) -> None:
    track = Track(data, 2013)
    plain, filtered = track.year.pairs[0]
    lists = track.lists(plain, second=True)
    assert set(lists.score.tolist()) == {0.0, 1.0}
    shown = lists.judged_by(lists.score >= 1)
    expected = track.year.evaluate(["nDCG_f@20"]).values[track.year.names.index(filtered), :, 0]
    found = rs.parse_measure("nDCG_f@20").per_query(shown).numerator
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


# -- what the page is made of ------------------------------------------------------------------------------------


def test_logistic_regression_is_at_its_optimum() -> None:
    draw = np.random.default_rng(0)
    x = np.column_stack([draw.normal(size=(200, 3)), np.ones(200)])  # a feature that does not vary does no harm
    label = np.where(draw.random(200) < 0.3, -1.0, np.where(x[:, 0] + draw.normal(size=200) > 0, 2.0, 1.0))
    model = LogisticRegression.fit(x, label, ridge=2.0)
    p = model.probabilities(x)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    # Without a penalty on intercepts, expected numbers of labels are the real ones.
    np.testing.assert_allclose(p.sum(axis=0), [(label == value).sum() for value in model.labels])

    def loss(weights: np.ndarray) -> float:
        other = LogisticRegression(model.labels, model.mean, model.deviation, weights)
        likelihood = np.log(other.probabilities(x)[np.arange(200), np.searchsorted(model.labels, label)]).sum()
        return float((weights[1:] ** 2).sum() - likelihood)

    best = loss(model.weights)
    for _ in range(20):
        assert loss(model.weights + draw.normal(0, 0.01, model.weights.shape)) > best


def test_out_of_fold_probabilities_are_those_of_a_model_of_the_other_folds() -> None:
    draw = np.random.default_rng(1)
    x, label, fold = draw.normal(size=(90, 2)), draw.choice([-1.0, 1.0], 90), np.arange(90) % 3
    found = out_of_fold(x, label, fold)
    other = LogisticRegression.fit(x[fold != 1], label[fold != 1])
    np.testing.assert_allclose(found[fold == 1], other.probabilities(x[fold == 1]))


def test_normalised_gain_is_an_expectation_over_all_labellings() -> None:
    labels, gain = np.array([-1.0, 1.0, 2.0]), {-1.0: -10.0, 1.0: 1.0, 2.0: 2.0}
    p = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.5, 0.2, 0.3]])
    query = np.array([0, 0, 0, 1])
    found = normalised_gains(p, labels, query, 2, {-1: -10})

    def width(drawn: tuple[float, ...]) -> float:
        discount = [1.0, 1 / np.log2(3)]
        best = sorted((g for g in drawn if g > 0), reverse=True)
        worst = sorted(g for g in drawn if g < 0)
        return sum(a * d for a, d in zip(best, discount, strict=False)) - sum(
            a * d for a, d in zip(worst, discount, strict=False)
        )

    for own in (np.flatnonzero(query == q) for q in (0, 1)):
        expected = np.zeros(len(own))
        for chosen in product(range(3), repeat=len(own)):
            drawn = tuple(gain[labels[c]] for c in chosen)
            expected += np.prod([p[i, c] for i, c in zip(own, chosen, strict=True)]) * np.array(drawn) / width(drawn)
        np.testing.assert_allclose(found[own], expected, atol=0.05)  # a thousand labellings are drawn
    assert found[3] == pytest.approx(0.0, abs=0.05)  # alone, a forbidden one costs what a good one gains


def small(seed: int = 0, queries: int = 60) -> Lists:
    draw = np.random.default_rng(seed)
    labels = draw.choice([-1.0, 1.0, 2.0], 4 * queries)
    return Lists.from_arrays(labels + draw.normal(0, 1.5, 4 * queries), labels, np.arange(4 * queries) // 4)


def test_differences_are_those_of_a_paired_t_test() -> None:
    lists = small()
    found = Outcome(rs.compare_cutoffs(lists, rules=rules(MEASURE, K), k=K))
    values = found.found.scores.values[:, :, found.found.scores.column(MEASURE)]
    cut, shown = (values[found.found.scores.row(rule)] for rule in (GLOBAL, SHOW_ALL))
    difference = paired(found, SHOW_ALL, found, GLOBAL)
    assert difference.gain == pytest.approx((shown - cut).mean())
    assert difference.p == pytest.approx(ttest_rel(shown, cut).pvalue)
    assert (difference.won, difference.lost) == ((shown > cut + 1e-9).sum(), (shown < cut - 1e-9).sum())
    assert found.against_global[SHOW_ALL].gain == pytest.approx(difference.gain)
    assert found.against_global[SHOW_ALL].p >= difference.p  # corrected
    assert found.against(SHOW_ALL)[GLOBAL].gain == pytest.approx(-difference.gain)
    assert GLOBAL not in found.against_global
    told = found.told()["rules"]
    assert told[SHOW_ALL] == {"value": found.value(SHOW_ALL), **found.against_global[SHOW_ALL]._asdict()}
    assert [rule for rule in told if "p" not in told[rule]] == [GLOBAL, ORACLE]
    assert told[ORACLE] == {"value": found.value(ORACLE)}


def test_a_rule_beside_the_score_survives_folds() -> None:
    lists = small()
    other = np.random.default_rng(3).normal(size=len(lists.score))
    found = rs.compare_cutoffs(lists, rules={"beside": Beside(other), "all": "rank-only"}, k=K)
    expected = rs.parse_measure(MEASURE).per_query(lists.judged_by(other[lists.row] >= 0)).numerator.mean()
    assert found.value("beside") == pytest.approx(expected)


def test_rules_are_judged_on_queries_that_no_draw_fits_on() -> None:
    lists = small(queries=500)
    found = by_size(lists, MEASURE, {"all": known_rules()["rank-only"](), GLOBAL: rs.GlobalCutoff(MEASURE)})
    assert {n: len(values) for n, values in found[GLOBAL].items()} == dict.fromkeys((25, 50, 100, 200, 400), 10)
    # The same other queries whatever n: showing everything does not depend on it.
    assert len({tuple(values) for values in found["all"].values()}) == 1
    assert np.mean(found[GLOBAL][400]) > np.mean(found["all"][400])


@pytest.mark.parametrize(
    ("gain", "p", "marked"), [(0.1, 0.04, " ▲"), (-0.1, 0.05, " ▼"), (0.1, 0.051, ""), (-0.1, 0.9, "")]
)
def test_marks(gain: float, p: float, marked: str) -> None:
    assert mark({"gain": gain, "p": p}) == marked
    assert mark({"value": 0.5}) == ""


def test_the_way_to_the_oracle_begins_at_the_better_of_all_and_nothing() -> None:
    found = {SHOW_ALL: 0.4, SHOW_NOTHING: 0.5, "a": 0.6, ORACLE: 0.9}
    assert gap_closed({"rules": {rule: {"value": value} for rule, value in found.items()}}, "a") == pytest.approx(0.25)


def test_of_equals_the_global_cut_is_best() -> None:
    values = {"filter-only": 0.9, "a": 0.50003, GLOBAL: 0.5, "b": 0.4}
    assert first_best(list(values), values.__getitem__) == GLOBAL
    values["b"] = 0.5002
    assert first_best(list(values), values.__getitem__) == "b"


def test_words_in_a_row() -> None:
    assert [named(w) for w in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_printed_baselines_are_what_they_must_be() -> None:
    for name, (quality, ranking, _, forbidden, filtered, empty) in TABLE_7.items():
        assert 0 <= quality <= 1
        assert 0 <= ranking <= 1
        if name == "filter-all":
            assert (ranking, forbidden, filtered, empty) == (0, 0, 100, 100)
        if name.startswith("rank-only"):
            assert (filtered, empty) == (0, 0)
