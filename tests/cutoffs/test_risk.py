"""The risk-controlled cut: the lowest one that passes, its promise in simulation, and what it says when it cannot."""

import json
from math import ceil, comb, e, exp, log

import numpy as np
import pytest
from scipy.stats import binomtest

import ranksift as rs
from ranksift import InputError, RankSiftWarning, RiskCutoff, load_cutoff
from ranksift.collection.lists import Lists
from ranksift.cutoffs.p_values import Betting, fewest_queries, hoeffding_bentkus, upper_bound
from ranksift.cutoffs.risk import RiskCurve
from tests.cutoffs.brute import all_thresholds, small_case

quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")


# -- plain loops --------------------------------------------------------------------------------------------------


def losses(scores, labels, groups, rank_scores, threshold, k):
    """Every query's forbidden documents in the top k of what is kept."""
    by = scores if rank_scores is None else rank_scores
    out = []
    for group in dict.fromkeys(groups):
        mine = [i for i in range(len(scores)) if groups[i] == group and scores[i] >= threshold]
        mine.sort(key=lambda i: -by[i])
        out.append(sum(labels[i] < 0 for i in mine[:k]))
    return out


def envelopes(scores, labels, groups, rank_scores, k):
    """Every query's worst at each threshold or a stricter one, strictest first."""
    worst, found = None, {}
    for threshold in all_thresholds(scores):
        now = losses(scores, labels, groups, rank_scores, threshold, k)
        worst = now if worst is None else [max(pair) for pair in zip(worst, now, strict=True)]
        found[threshold] = worst
    return found


def binomial_tail(successes, n, p):
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(successes + 1))


def plain_p_value(lost, k, risk):
    """Hoeffding-Bentkus, of a list of losses; with k = 1 the binomial tail."""
    n, total = len(lost), sum(lost)
    if k == 1:
        return binomial_tail(total, n, risk)
    mean = total / (k * n)
    hoeffding = 1.0
    if mean < risk:
        first = mean * log(mean / risk) if mean else 0.0
        hoeffding = exp(-n * (first + (1 - mean) * log((1 - mean) / (1 - risk))))
    return min(hoeffding, e * binomial_tail(ceil(total / k), n, risk))


def plain_capital(lost, k, risk, stakes):
    """What the gamblers have on average after betting query by query."""
    owned = []
    for stake in stakes:
        capital = 1.0
        for places in lost:
            capital *= (1 - stake) + stake * (1 - places / k) / (1 - risk)
        owned.append(capital)
    return sum(owned) / len(owned)


def plain_passes(cut, lost):
    n, k = len(lost), cut.k
    if cut.delta is None:
        return (sum(lost) / k + 1) / (n + 1) <= cut.alpha + 1e-12
    if cut.bound == "betting" and k > 1:
        stakes = Betting.against(cut.alpha, cut.delta, queries=n, k=k).stakes
        return plain_capital(lost, k, cut.alpha, stakes) >= 1 / cut.delta
    return plain_p_value(lost, k, cut.alpha) <= cut.delta


# -- the lowest threshold ----------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("delta", [None, 0.38])
@pytest.mark.parametrize("bound", ["betting", "hoeffding-bentkus"])
def test_it_is_the_lowest_threshold_of_all_that_passes(delta, bound):
    draw = np.random.default_rng(7)
    thresholds = set()
    for kind in range(400):
        scores, labels, groups, rank_scores = small_case(draw, kind)
        if np.isnan(labels).all():
            continue
        k = 1 + kind % 4
        cut = RiskCutoff(alpha=[0.3, 0.45, 0.6, 0.75][kind // 4 % 4], delta=delta, k=k, bound=bound)
        cut.fit(scores, labels, groups, rank_scores=rank_scores)
        worst = envelopes(scores, labels, groups, rank_scores, k)
        passing = [t for t, lost in worst.items() if plain_passes(cut, lost)]
        # From the strictest cut down, until the first that fails.
        lowest = np.inf
        for t in worst:
            if t not in passing:
                break
            lowest = t
        if lowest == min(worst) and passing:
            lowest = -np.inf
        assert cut.threshold_ == lowest
        assert cut.attainable_ == (lowest < np.inf)
        assert cut.risk_ == pytest.approx(np.mean(losses(scores, labels, groups, rank_scores, lowest, k)) / k)
        assert cut.keep(scores, groups, rank_scores=rank_scores).tolist() == (scores >= lowest).tolist()
        if cut.attainable_:
            assert cut.risk_ <= cut.bound_ <= cut.alpha + 1e-11
        thresholds.add(-1 if lowest == -np.inf else 1 if lowest == np.inf else 0)
    assert thresholds == {-1, 0, 1}  # cases of every kind were among them


@quiet
def test_the_curve_counts_the_queries_by_their_losses():
    draw = np.random.default_rng(3)
    for kind in range(200):
        scores, labels, groups, rank_scores = small_case(draw, kind)
        lists = Lists.from_arrays(scores, labels, groups, rank_scores=rank_scores)
        curve = RiskCurve.of(lists, 2)
        for threshold, lost in envelopes(scores, labels, groups, rank_scores, 2).items():
            cut = int((curve.cuts >= threshold).sum())
            assert curve.lost(cut).tolist() == [lost.count(j) for j in range(3)]


@quiet
def test_gains_say_what_is_forbidden():
    scores, labels, groups = np.arange(60.0), np.tile([0, 1], 30), np.arange(60)
    assert RiskCutoff(alpha=0.2, k=1).fit(scores, labels, groups).threshold_ == -np.inf
    cut = RiskCutoff(alpha=0.2, k=1).fit(scores, labels, groups, gains={0: -1})
    assert 0 < cut.threshold_ < 60
    assert cut.risk_ == np.mean((labels == 0) & (scores >= cut.threshold_))


def test_a_query_without_documents_counts_as_safe():
    qrels = {f"q{i}": {"good": 1, "bad": -1} for i in range(40)}
    run = {f"q{i}": {"bad": 1.0 + i} for i in range(4)}
    cut = RiskCutoff(alpha=0.2, delta=0.1, k=1).fit_run(qrels, run)
    assert cut.fitted_on_["queries"] == 40
    assert cut.threshold_ == -np.inf
    assert cut.risk_ == 0.1


def test_with_another_score_the_worst_stricter_cut_counts():
    """A forbidden document that a good one pushes out of sight later is not forgotten."""
    scores, labels, groups, rank_scores = [], [], [], []
    for query in range(50):
        scores += [2.0 + query / 100, 1.0]
        labels += [-1, 1]
        groups += [query] * 2
        rank_scores += [1.0, 2.0]
    cut = RiskCutoff(alpha=0.2, delta=None, k=1).fit(scores, labels, groups, rank_scores=rank_scores)
    assert np.mean(losses(scores, labels, groups, rank_scores, -np.inf, 1)) == 0
    assert cut.threshold_ == 2.41  # nine queries lose their place: (9 + 1)/51 ≤ 0.2
    assert cut.risk_ == 9 / 50
    one = RiskCutoff(alpha=0.2, delta=None, k=1).fit(rank_scores, labels, groups)
    assert one.threshold_ == -np.inf


def test_between_two_documents_of_one_score_no_cut_is_made():
    """After the first of the tied documents two forbidden ones would be seen, after both of them one is."""
    rank_scores, scores, labels = [3.0, 2.0, 1.0], [5.0, 5.0, 6.0], [-1, 1, -1]
    curve = RiskCurve.of(Lists.from_arrays(scores, labels, ["q"] * 3, rank_scores=rank_scores), 2)
    assert curve.cuts.tolist() == [6.0]
    assert curve.lost(1).tolist() == [0, 1, 0]


# -- bounds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "delta", "queries"),
    [(0.05, 0.1, 45), (0.1, 0.1, 22), (0.05, None, 19), (0.1, None, 9), (0.02, 0.05, 149)],
)
@pytest.mark.parametrize("k", [1, 3])
def test_the_fewest_queries_without_any_loss(alpha, delta, queries, k):
    """(1 − α)^n ≤ δ; in expectation 1/(n + 1) ≤ α."""
    for bound in ("betting", "hoeffding-bentkus"):
        cut = RiskCutoff(alpha, delta, k, bound)
        assert cut.passes(np.eye(1, k + 1, dtype=np.int64)[0] * queries)
        assert not cut.passes(np.eye(1, k + 1, dtype=np.int64)[0] * (queries - 1))
        assert fewest_queries(cut.passes, np.eye(1, k + 1)[0]) == queries


def test_p_values_against_plain_loops():
    draw = np.random.default_rng(1)
    for _ in range(300):
        k = int(draw.integers(1, 6))
        lost = draw.binomial(k, draw.uniform(0, 0.5), int(draw.integers(1, 60)))
        counts = np.bincount(lost, minlength=k + 1)
        risk, delta = draw.uniform(0.05, 0.6), draw.uniform(0.01, 0.4)
        cut = RiskCutoff(risk, delta, k, "hoeffding-bentkus")
        plain = min(1.0, plain_p_value(lost.tolist(), k, risk))
        assert cut._p_value(len(lost))(counts, risk) == pytest.approx(plain, rel=1e-9)
        if k > 1:
            gamblers = Betting.against(risk, delta, queries=len(lost), k=k)
            won = plain_capital(lost.tolist(), k, risk, gamblers.stakes)
            assert gamblers(counts, risk) == pytest.approx(min(1.0, 1 / won) if won else 1.0, rel=1e-9)


def test_p_values_fall_with_the_risk_and_never_with_a_loss():
    draw = np.random.default_rng(2)
    for _ in range(200):
        k, n = int(draw.integers(2, 6)), int(draw.integers(2, 80))
        lost = draw.binomial(k, 0.1, n)
        more = np.minimum(k, lost + draw.binomial(1, 0.2, n))
        for p_value in (hoeffding_bentkus, Betting.against(0.1, 0.1, queries=n, k=k)):
            few, many = (np.bincount(each, minlength=k + 1) for each in (lost, more))
            assert p_value(few, 0.1) <= p_value(many, 0.1) + 1e-12
            assert p_value(few, 0.2) <= p_value(few, 0.1) + 1e-12
            bound = upper_bound(p_value, few, 0.1)
            assert bound == 1 or p_value(few, bound) <= 0.1 < p_value(few, bound - 1e-9)


@quiet
def test_the_bound_of_0_of_n_is_known_in_closed_form():
    cut = RiskCutoff(alpha=0.5, delta=0.1, k=1).fit(np.arange(30.0), [1] * 29 + [-1], np.arange(30), gains={-1: 0})
    assert cut.bound_ == pytest.approx(1 - 0.1 ** (1 / 30), abs=1e-9)
    mean = RiskCutoff(alpha=0.5, delta=None, k=1).fit(np.arange(30.0), [1] * 29 + [-1], np.arange(30), gains={-1: 0})
    assert mean.bound_ == 1 / 31


def test_bounds_are_equal_to_alpha_and_still_pass():
    """(n R + 1)/(n + 1) = α exactly, in numbers that binary fractions do not hold."""
    for n, lost, k, alpha in ((19, 0, 3, 0.05), (39, 3, 3, 0.05), (9, 0, 1, 0.1), (99, 12, 3, 0.05), (199, 57, 3, 0.1)):
        counts = np.zeros(k + 1, dtype=np.int64)
        counts[min(1, lost)] += lost
        counts[0] += n - lost
        cut = RiskCutoff(alpha, None, k)
        assert cut.passes(counts)
        counts[0] -= 1
        counts[1] += 1
        assert not cut.passes(counts)


# -- the promise ---------------------------------------------------------------------------------------------------


def crowd(queries, draw, each=6):
    """Documents of which a known share is forbidden: scores between 0 and 1, true risks can be read off."""
    scores = draw.random((queries, each))
    labels = np.where(draw.random((queries, each)) < 0.7 * (1 - scores), -1.0, 1.0)
    return scores.ravel(), labels.ravel(), np.repeat(np.arange(queries), each)


def true_risks(k, each=6, queries=200_000):
    """Risk against threshold, of very many queries of the same kind."""
    lists = Lists.from_arrays(*crowd(queries, np.random.default_rng(99), each))
    curve = RiskCurve.of(lists, k)
    risk = np.cumsum(curve.after - curve.before)[curve.steps[1:] - 1] / (k * queries)
    return lambda t: np.append(0.0, risk)[np.searchsorted(-curve.cuts, -np.asarray(t), side="right")]


def fitted(cut, n, splits, seed, each=6):
    draw = np.random.default_rng(seed)
    out = np.empty(splits)
    for s in range(splits):
        out[s] = cut.clone().fit_lists(Lists.from_arrays(*crowd(n, draw, each))).threshold_
    return out


def test_with_k_1_the_promise_is_broken_exactly_as_often_as_the_binomial_test_errs():
    """Neither more often, nor so much more seldom that a place is given away."""
    n, alpha, delta = 60, 0.1, 0.15
    allowed = max(c for c in range(n) if binomial_tail(c, n, alpha) <= delta)
    error = binomial_tail(allowed, n, alpha)
    broken = true_risks(1, each=3)(fitted(RiskCutoff(alpha, delta, 1), n, 1500, seed=5, each=3)) > alpha
    assert error == pytest.approx(0.13739, abs=1e-4)  # one loss more would err at 0.27, one less at 0.05
    assert binomtest(int(broken.sum()), 1500, error).pvalue > 0.01


def test_in_expectation_the_risk_is_just_below_alpha():
    """One loss of 20 is allowed: then it is 2/21 by theory, if between two scores there is always another."""
    n, alpha = 20, 0.1
    risk = true_risks(1, each=3)(fitted(RiskCutoff(alpha, None, 1), n, 3000, seed=6, each=3))
    mean, error = risk.mean(), risk.std() / np.sqrt(len(risk))
    assert mean - 3 * error < 2 / 21
    assert mean + 3 * error > 0.08  # two losses, as in a sample of risk α, would make it 0.14, and none 0.05


@pytest.mark.parametrize("bound", ["betting", "hoeffding-bentkus"])
def test_with_k_3_the_promise_is_kept(bound):
    alpha, delta = 0.1, 0.2
    risk = true_risks(3)(fitted(RiskCutoff(alpha, delta, 3, bound), 150, 600, seed=8))
    broken = int((risk > alpha).sum())
    assert binomtest(broken, 600, delta, alternative="greater").pvalue > 0.01
    assert risk.mean() > alpha / 2  # and not by dropping everything


def test_a_threshold_that_promises_nothing_breaks_the_promise():
    """The same simulation tells a plug-in threshold (risk of the sample at most α) from the others."""
    draw, risk_of = np.random.default_rng(8), true_risks(3)
    broken = 0
    for _ in range(200):
        curve = RiskCurve.of(Lists.from_arrays(*crowd(150, draw)), 3)
        passed = curve.lowest(lambda lost: lost @ np.arange(4) <= 0.1 * 3 * 150)
        broken += risk_of(curve.threshold(passed)) > 0.1
    assert binomtest(broken, 200, 0.2, alternative="greater").pvalue < 1e-6


# -- what it says --------------------------------------------------------------------------------------------------


def drawn(queries=200, seed=0, rate=0.3):
    draw = np.random.default_rng(seed)
    labels = draw.choice([-1.0, 0, 1], queries * 5, p=[rate, 0.4, 0.6 - rate])
    return labels + draw.normal(size=len(labels)), labels, np.repeat(np.arange(queries), 5)


def test_too_few_queries_are_told_how_many_it_takes():
    with pytest.warns(RankSiftWarning, match="not attainable with this data.* takes at least 45 queries, .* are 20"):
        cut = RiskCutoff().fit(*drawn(20))
    assert (cut.threshold_, cut.attainable_, cut.risk_) == (np.inf, False, 0.0)
    assert cut.bound_ > cut.alpha
    assert not cut.keep([1e9], ["q"]).any()
    assert cut.promise in cut.notes_
    assert cut.promise.startswith("not attainable")


@pytest.mark.parametrize(("forbidden", "words"), [(10, "about 239 queries would be needed"), (20, "better scores are")])
def test_forbidden_documents_on_top_are_named(forbidden, words):
    labels = [1] * (100 - forbidden) + [-1] * forbidden
    with pytest.warns(RankSiftWarning) as told:
        cut = RiskCutoff().fit([2.0] * 100, labels, np.arange(100))
    assert words in cut.promise
    assert any(words in str(each.message) for each in told)
    assert not cut.attainable_


def test_so_many_queries_would_do_indeed():
    """239 of them, a tenth of which show a forbidden document at the only cut."""
    labels = [1] * 215 + [-1] * 24
    with pytest.warns(RankSiftWarning, match="all scores are equal"):
        assert RiskCutoff().fit([2.0] * 239, labels, np.arange(239)).attainable_


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        (0.1, ["with probability at least 0.9", "at most 0.07", "independently", "200 queries", "top 3"]),
        (None, ["on average", "at most 0.07", "exchangeable", "200 queries"]),
    ],
)
def test_the_file_says_what_is_promised_and_is_read_back(tmp_path, delta, words):
    cut = RiskCutoff(alpha=0.07, delta=delta).fit(*drawn())
    cut.save(tmp_path / "cut.json")
    said = json.loads((tmp_path / "cut.json").read_text("utf-8"))
    assert all(word in said["promise"] for word in words)
    assert said["keep"] == "score >= float(threshold)"
    assert float(said["threshold"]) == cut.threshold_
    assert said["attainable"] is True
    assert said["risk"] <= said["bound"] <= 0.07
    again = load_cutoff(tmp_path / "cut.json")
    assert again.to_dict() == cut.to_dict()
    scores, _, groups = drawn(seed=1)
    assert again.keep(scores, groups).tolist() == (scores >= cut.threshold_).tolist()
    with pytest.raises(InputError, match="fit it again"):
        again.plot()


def test_a_rule_that_drops_everything_is_read_back(tmp_path):
    with pytest.warns(RankSiftWarning):
        cut = RiskCutoff().fit(*drawn(20))
    cut.save(tmp_path / "cut.json")
    again = load_cutoff(tmp_path / "cut.json")
    assert again.to_dict() == cut.to_dict()
    assert (again.threshold_, again.attainable_) == (np.inf, False)


def test_unlabelled_documents_are_part_of_the_promise():
    scores, labels, groups = drawn()
    with pytest.warns(RankSiftWarning, match="1 of 1000 documents have no label"):
        cut = RiskCutoff(alpha=0.1).fit(scores, [None, *labels[1:]], groups)
    assert "documents without a label count as not forbidden" in cut.promise
    assert "without a label" not in RiskCutoff(alpha=0.1).fit(scores, labels, groups).promise
    cut = RiskCutoff(alpha=0.1).fit(scores, [None, *labels[1:]], groups, unjudged="drop")
    assert "documents without a label are left out" in cut.promise


def test_a_run_is_cut_at_the_threshold():
    scores, labels, groups = drawn()
    run = {f"q{q}": {f"d{i}": scores[i] for i in np.flatnonzero(groups == q)} for q in range(200)}
    qrels = {f"q{q}": {f"d{i}": int(labels[i]) for i in np.flatnonzero(groups == q)} for q in range(200)}
    cut = RiskCutoff(alpha=0.1, delta=None).fit_run(qrels, run)
    assert cut.threshold_ == RiskCutoff(alpha=0.1, delta=None).fit(scores, labels, groups).threshold_
    shown = cut.apply(run)
    assert min(s for docs in shown.to_dict().values() for s in docs.values()) == cut.threshold_
    forbidden = rs.evaluate(qrels, shown, ["Fdocs@3"]).per_query()["value"]
    assert forbidden.max() > 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": 0}, "alpha=0 is not a number between 0 and 1"),
        ({"alpha": "x"}, "alpha='x'"),
        ({"delta": 1.0}, "delta=1.0 is not a number between"),
        ({"k": 0}, "k=0 is not an integer from 1 to 1000000"),
        ({"k": 2.0}, "k=2.0"),
        ({"k": 10**12}, "k=1000000000000 is not an integer from 1 to 1000000"),
        ({"k": True}, "k=True"),
        ({"bound": "exact"}, "bound='exact' is unknown; use 'betting' or 'hoeffding-bentkus'"),
    ],
)
def test_parameters_that_make_no_sense(parameters, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        RiskCutoff(**parameters).fit(*drawn(50))


def test_betting_filters_less_where_queries_lose_one_place_of_many():
    scores, labels, groups = drawn(400, rate=0.15)
    betting = RiskCutoff(alpha=0.1, delta=0.1, k=5).fit(scores, labels, groups)
    other = RiskCutoff(alpha=0.1, delta=0.1, k=5, bound="hoeffding-bentkus").fit(scores, labels, groups)
    mean = RiskCutoff(alpha=0.1, delta=None, k=5).fit(scores, labels, groups)
    assert mean.threshold_ <= betting.threshold_ < other.threshold_


def test_the_plot_shows_risk_and_bound_at_the_threshold():
    cut = RiskCutoff(alpha=0.1).fit(*drawn())
    axes = cut.plot().axes[0]
    bound, risk, level, chosen = axes.get_lines()
    assert set(level.get_ydata()) == {0.1}
    assert (chosen.get_xdata()[0], chosen.get_ydata()[0]) == (cut.threshold_, cut.bound_)
    for line, value in ((bound, cut.bound_), (risk, cut.risk_)):
        x, y = (np.asarray(line.get_data()[i], dtype=float) for i in (0, 1))
        assert line.get_drawstyle() == "steps-post"  # a value is drawn from its point to the next lower one
        assert y[np.flatnonzero(x >= cut.threshold_)[-1]] == pytest.approx(value, abs=0.005)


def test_numbers_of_numpy_are_numbers():
    data = [1.0, 2.0, 3.0], [1, -1, 1], ["a", "b", "c"]
    plain, numpys = RiskCutoff(0.5, 0.5, 2), RiskCutoff(np.float64(0.5), np.float32(0.5), np.int64(2))
    assert plain.fit(*data).threshold_ == numpys.fit(*data).threshold_
