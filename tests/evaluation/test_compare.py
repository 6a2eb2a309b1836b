"""compare: pairs, families, directions, letters, formats, and what is refused."""

import json

import numpy as np
import pytest
from scipy import stats

import ranksift as rs
from ranksift.evaluation.compare import CORRECTIONS, TESTS, compare
from ranksift.evaluation.scores import Scores


def scores(values, runs=None, measures=("AP",)) -> Scores:
    """Scores from runs × queries × measures, or runs × queries of one measure."""
    cube = np.asarray(values, dtype=float)
    cube = cube[:, :, None] if cube.ndim == 2 else cube
    runs = runs or [f"run{i}" for i in range(len(cube))]
    return Scores.from_array(cube, runs=runs, queries=[f"q{i}" for i in range(cube.shape[1])], measures=measures)


def random_scores(runs=4, queries=30, measures=("AP", "nDCG@10", "Fdocs@3"), seed=0) -> Scores:
    draw = np.random.default_rng(seed)
    level = np.linspace(0.2, 0.5, runs)[:, None, None]
    return scores(np.clip(level + draw.normal(0, 0.2, (runs, queries, len(measures))), 0, 1), measures=measures)


def reordered(scores: Scores, seed: int) -> Scores:
    """The same scores, as if the judgments listed the queries in another order."""
    order = np.random.default_rng(seed).permutation(len(scores.queries))
    queries = [scores.queries[q] for q in order]
    return Scores.from_array(scores.values[:, order], runs=scores.runs, queries=queries, measures=scores.measures)


@pytest.fixture
def clear() -> Scores:
    """A bad, a good and a middling run, far apart, and a copy of the bad one; Fdocs, a cost, has the values of AP."""
    noise = np.random.default_rng(1).normal(0, 0.02, (4, 20))
    noise[3] = noise[0]
    ap = np.array([0.2, 0.8, 0.5, 0.2])[:, None] + noise
    return scores(np.stack([ap, ap], axis=2), ["bad", "good", "middling", "copy"], ["AP", "Fdocs@3"])


class TestPairs:
    def test_all_pairs_are_later_against_earlier(self):
        assert compare(random_scores(3)).pairs == (("run1", "run0"), ("run2", "run0"), ("run2", "run1"))

    def test_every_other_run_against_the_baseline(self):
        result = compare(random_scores(4), baseline="run2")
        assert result.pairs == (("run0", "run2"), ("run1", "run2"), ("run3", "run2"))
        assert result.p.shape == (3, 3)

    def test_pairs_of_a_baseline_are_among_all_pairs(self):
        one, every = compare(random_scores(), "run1", correction=None), compare(random_scores(), correction=None)
        at = every.pairs.index(("run3", "run1"))
        assert np.array_equal(one.difference[2], every.difference[at])
        assert np.array_equal(one.p[2], every.p[at])
        turned = every.pairs.index(("run1", "run0"))
        assert np.array_equal(one.difference[0], -every.difference[turned])


class TestNumbers:
    def test_values_are_those_of_scipy(self):
        given = random_scores()
        result = compare(given, confidence=0.9)
        for c, (run, baseline) in enumerate(result.pairs):
            for m in range(3):
                left, right = (given.values[given.runs.index(r), :, m] for r in (run, baseline))
                expected = stats.ttest_rel(left, right)
                interval = expected.confidence_interval(0.9)
                assert result.statistic[c, m] == pytest.approx(expected.statistic, rel=1e-9)
                assert result.p[c, m] == pytest.approx(expected.pvalue, rel=1e-9)
                assert (result.low[c, m], result.high[c, m]) == pytest.approx((interval.low, interval.high), rel=1e-9)
                d = left - right
                assert result.difference[c, m] == pytest.approx(left.mean() - right.mean(), rel=1e-9)
                assert result.relative[c, m] == pytest.approx(left.mean() / right.mean() - 1, rel=1e-9)
                assert result.effect_size[c, m] == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-9)
                assert result.ties[c, m] == (d == 0).sum()
                better = d > 0 if m < 2 else d < 0
                assert (result.wins[c, m], result.losses[c, m]) == (better.sum(), (d != 0).sum() - better.sum())

    def test_wilcoxon_is_scipys(self):
        given = random_scores()
        result = compare(given, "run0", test="wilcoxon")
        expected = stats.wilcoxon(given.values[2, :, 1], given.values[0, :, 1])
        assert (result.statistic[1, 1], result.p[1, 1]) == pytest.approx((expected.statistic, expected.pvalue))

    def test_the_unpaired_test_is_scipys(self):
        given = random_scores()
        result = compare(given, test="unpaired", confidence=0.9)
        for c, (run, baseline) in enumerate(result.pairs):
            left, right = (given.values[given.runs.index(r), :, 1] for r in (run, baseline))
            expected = stats.ttest_ind(left, right)
            interval = expected.confidence_interval(0.9)
            assert (result.statistic[c, 1], result.p[c, 1]) == pytest.approx(
                (expected.statistic, expected.pvalue), rel=1e-9
            )
            assert (result.low[c, 1], result.high[c, 1]) == pytest.approx((interval.low, interval.high), rel=1e-9)
            spread = np.sqrt((left.var(ddof=1) + right.var(ddof=1)) / 2)
            assert result.effect_size[c, 1] == pytest.approx((left.mean() - right.mean()) / spread, rel=1e-9)
        assert "unpaired t test" in str(result)
        assert "standard deviation within a run" in str(result.details())

    def test_resampling_tests_come_near_the_t_test(self):
        expected = compare(random_scores(queries=200)).p
        for test in ("randomization", "bootstrap"):
            assert np.abs(compare(random_scores(queries=200), test=test, samples=2000).p - expected).max() < 0.05

    @pytest.mark.parametrize("test", ["randomization", "bootstrap"])
    def test_the_order_of_the_queries_does_not_matter(self, test):
        given = random_scores()
        one, other = (compare(scores, test=test, samples=300) for scores in (given, reordered(given, 5)))
        assert one.p.tolist() == other.p.tolist()
        assert one.low == pytest.approx(other.low, abs=1e-12)

    @pytest.mark.parametrize("test", ["randomization", "bootstrap"])
    def test_the_seed_decides(self, test):
        def p(seed):
            return compare(random_scores(), test=test, samples=500, seed=seed).p

        assert np.array_equal(p(1), p(1))
        assert not np.array_equal(p(1), p(2))

    def test_the_bootstrap_has_its_own_interval(self):
        student, boot = (
            compare(random_scores(), "run0"),
            compare(random_scores(), "run0", test="bootstrap", samples=4000),
        )
        assert not np.array_equal(boot.low, student.low)
        width = student.high - student.low
        assert (np.abs(boot.low - student.low) < 0.15 * width).all()
        assert (np.abs(boot.high - student.high) < 0.15 * width).all()

    @pytest.mark.parametrize("test", TESTS)
    def test_equal_runs_differ_in_nothing(self, test, clear):
        result = compare(clear, test=test, samples=200)
        c = result.pairs.index(("copy", "bad"))
        assert (result.p[c] == 1).all()
        assert (result.corrected_p[c] == 1).all()
        assert (result.effect_size[c] == 0).all()
        assert (result.ties[c] == 20).all()

    def test_a_baseline_of_zeros_has_no_relative_difference(self):
        result = compare(scores([[0, 0, 0], [1, 2, 4]]))
        assert np.isnan(result.relative).all()
        assert result.to_dict()["comparisons"][0]["relative_difference"] is None
        assert result.to_frame()["relative_difference"].to_list() == [None]

    def test_a_negative_baseline_keeps_the_sign_of_the_difference(self):
        assert compare(scores([[-2, -4], [-1, -3.5]])).relative[0, 0] == pytest.approx(0.25)

    def test_micro_measures_show_their_aggregate_and_test_their_queries(self):
        qrels = {f"q{i}": {f"bad{j}": -1 for j in range(5)} | {"good": 1} for i in range(3)}
        one = {"q0": {"bad0": 2, "good": 1}, "q1": {"good": 1}, "q2": {"good": 1}}
        two = {f"q{i}": {f"bad{j}": 9 - j for j in range(i + 1)} for i in range(3)}
        result = rs.compare(rs.evaluate(qrels, {"one": one, "two": two}, ["Fdocs@5"]))
        assert result.means[:, 0] == pytest.approx([1 / 4, 1])
        assert result.difference[0, 0] == pytest.approx(1 - 1 / 6)
        assert (result.wins[0, 0], result.losses[0, 0]) == (0, 3)
        assert "Tested on each query's own value, not on the total shown: Fdocs@5." in str(result)
        macro = rs.compare(rs.evaluate(qrels, {"one": one, "two": two}, ["Fdocs(average='macro')@5"]))
        assert macro.means[:, 0] == pytest.approx([1 / 6, 1])
        assert macro.difference[0, 0] == result.difference[0, 0]
        assert "not on the total shown" not in str(macro)


class TestCorrections:
    @pytest.mark.parametrize("correction", CORRECTIONS)
    def test_each_measure_is_a_family(self, correction):
        given = random_scores()
        together = compare(given, correction=correction)
        for m, measure in enumerate(given.measures):
            alone = compare(scores(given.values[:, :, m], measures=[measure]), correction=correction)
            assert np.array_equal(together.corrected_p[:, m], alone.corrected_p[:, 0])

    def test_holm_multiplies_the_smallest_p_by_the_number_of_pairs(self):
        result = compare(random_scores(4))
        assert result.corrected_p.min(axis=0) == pytest.approx(6 * result.p.min(axis=0))

    def test_none_leaves_p_as_it_is(self):
        assert np.array_equal(compare(random_scores(), correction=None).corrected_p, compare(random_scores()).p)
        assert compare(random_scores(), correction=None).correction == "none"

    def test_fdr_bh_is_another_name(self):
        one, other = (compare(random_scores(), correction=name) for name in ("bh", "fdr_bh"))
        assert np.array_equal(one.corrected_p, other.corrected_p)
        assert other.correction == "bh"


class TestLetters:
    def test_a_run_carries_the_letters_of_those_it_beats(self, clear):
        result = compare(clear)
        assert result.letters == {"bad": "a", "good": "b", "middling": "c", "copy": "d"}
        assert result.better_than("good", "AP") == ["bad", "middling", "copy"]
        assert result.better_than("middling", "AP") == ["bad", "copy"]
        assert result.better_than("bad", "AP") == result.better_than("copy", "AP") == []

    def test_lower_costs_are_better(self, clear):
        result = compare(clear)
        assert result.better_than("bad", "Fdocs@3") == ["good", "middling"]
        assert result.better_than("good", "Fdocs@3") == []

    def test_only_the_baseline_is_compared_with(self, clear):
        result = compare(clear, "middling")
        assert result.better_than("good", "AP") == ["middling"]
        assert result.better_than("middling", "AP") == ["bad", "copy"]

    def test_alpha_decides(self):
        given = scores([[0.1, 0.2, 0.3, 0.4], [0.3, 0.25, 0.6, 0.5]])
        p = float(compare(given).p[0, 0])
        assert compare(given, alpha=p).better_than("run1", "AP") == ["run0"]
        assert compare(given, alpha=0.99 * p).better_than("run1", "AP") == []

    def test_no_letter_where_wilcoxons_ranks_and_the_means_disagree(self):
        # Better by a little in most queries, worse by much in a few.
        d = np.array([*np.linspace(0.001, 0.02, 40), -0.9, -0.8, -0.7])
        result = compare(scores([np.full(43, 0.95), 0.95 + d]), test="wilcoxon")
        assert result.significant[0, 0]
        assert result.difference[0, 0] < 0
        assert result.better[0, 0] == 0
        assert result.better_than("run0", "AP") == result.better_than("run1", "AP") == []

    def test_after_z_comes_aa(self):
        result = compare(scores(np.arange(29)[:, None] + np.random.default_rng(0).normal(0, 0.1, (29, 8))))
        assert list(result.letters.values())[24:] == ["y", "z", "aa", "ab", "ac"]
        assert result.table().rows[28][2].letters.endswith(",y,z,aa,ab")

    def test_any_spelling_of_the_measure_will_do(self):
        assert compare(random_scores()).better_than("run3", "ndcg_cut_10") == compare(random_scores()).better_than(
            "run3", "nDCG@10"
        )


class TestOutput:
    def test_print_shows_means_and_letters(self, clear):
        lines = str(compare(clear, "bad", correction="bonferroni", alpha=0.01)).splitlines()
        assert lines[0] == "Runs against bad"
        assert lines[1].split() == ["run", "AP", "Fdocs@3"]
        assert [line.split()[:2] for line in lines[3:7]] == [
            ["a", "bad"],
            ["b", "good"],
            ["c", "middling"],
            ["d", "copy"],
        ]
        assert lines[4].split()[3] == "a"
        assert lines[3].split()[-1] == "bc"
        assert lines[7] == (
            "A letter means significantly better than that run "
            "(paired t test, Bonferroni correction, p <= 0.01, 20 queries)."
        )
        assert lines[8] == "Lower is better: Fdocs@3."

    def test_the_best_of_each_measure_is_bold(self, clear):
        bold = np.array([[cell.bold for cell in row[2:]] for row in compare(clear).table().rows])
        assert bold.tolist() == [[False, True], [True, False], [False, False], [False, True]]

    def test_digits(self, clear):
        assert "0.2 " in compare(clear).table(digits=1).text()

    def test_markdown_and_latex_carry_the_letters(self, clear):
        table = compare(clear).table(digits=2)
        assert "**0.80** <sup>acd</sup>" in table.markdown()
        assert "\\textbf{0.80} & \\textsuperscript{acd}" in table.latex()
        assert compare(clear)._repr_markdown_() == compare(clear).table().markdown()

    def test_details_have_a_row_a_comparison_and_measure(self, clear):
        table = compare(clear, "bad").details(digits=2)
        assert [row[1].value for row in table.rows] == ["good", "middling", "copy"] * 2
        assert "+0.60" in table.text()
        assert "20/0/0" in table.text()
        assert "<0.01" in table.text()

    def test_repr_is_short(self, clear):
        assert repr(compare(clear)) == "<Comparison: 4 runs × 2 measures, paired t test>"

    def test_json_has_stable_keys_and_no_infinity(self):
        result = compare(scores([[0.1, 0.2, 0.3], [0.35, 0.45, 0.55]], ["old", "new"]), test="t")
        assert np.isinf(result.statistic).all()
        given = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert list(given) == [
            "test", "correction", "alpha", "confidence", "samples", "seed", "queries", "baseline", "measures", "runs",
            "comparisons",
        ]  # fmt: skip
        assert (given["test"], given["correction"], given["samples"], given["queries"]) == ("t", "holm", None, 3)
        assert given["measures"] == [{"name": "AP", "higher_is_better": True}]
        assert given["runs"][1]["name"] == "new"
        assert given["runs"][1]["letter"] == "b"
        assert given["runs"][1]["means"] == {"AP": pytest.approx(0.45)}
        assert given["runs"][1]["better_than"] == {"AP": ["old"]}
        row = given["comparisons"][0]
        assert list(row) == [
            "measure", "run", "baseline", "mean", "baseline_mean", "difference", "relative_difference", "low", "high",
            "effect_size", "statistic", "p", "corrected_p", "significant", "wins", "ties", "losses",
        ]  # fmt: skip
        assert (row["run"], row["baseline"], row["p"], row["statistic"], row["wins"]) == ("new", "old", 0.0, None, 3)

    def test_samples_and_seed_are_told_where_they_were_used(self):
        given = compare(random_scores(), test="bootstrap", samples=50, seed=3).to_dict()
        assert (given["samples"], given["seed"]) == (50, 3)

    def test_frame_has_the_same_rows(self):
        result = compare(random_scores())
        assert result.to_frame().to_dicts() == result.to_dict()["comparisons"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"baseline": "bm25"}, "run 'bm25' is unknown; there are: run0, run1, run2, run3"),
            (
                {"test": "fisher"},
                "test='fisher' is unknown; use 't', 'randomization', 'bootstrap', 'wilcoxon', 'tukey' or 'unpaired'",
            ),
            ({"correction": "sidak"}, "correction='sidak' is unknown; use 'holm', 'bonferroni', 'bh' or 'none'"),
            ({"samples": 0}, "samples=0 is not a positive integer; write samples=1000, for example"),
            ({"samples": 1.5}, "samples=1.5 is not a positive integer; write samples=1000, for example"),
            ({"seed": -1}, "seed=-1 is not an integer of at least 0; write seed=0, for example"),
            ({"alpha": 5}, "alpha=5 is not a number between 0 and 1; write alpha=0.05, for example"),
            ({"alpha": float("nan")}, "alpha=nan is not finite; give a number between 0 and 1"),
            ({"confidence": 95}, "confidence=95 is not a number between 0 and 1; write confidence=0.95, for example"),
        ],
    )
    def test_a_wrong_argument(self, arguments, message):
        with pytest.raises(rs.InputError) as error:
            compare(random_scores(), **arguments)
        assert str(error.value) == message

    @pytest.mark.parametrize("test", TESTS)
    def test_one_query(self, test):
        with pytest.raises(rs.InputError, match="a test needs at least 2 queries"):
            compare(scores([[0.1], [0.2]]), test=test)

    def test_one_run(self):
        with pytest.raises(rs.InputError, match="a comparison needs at least 2 runs"):
            compare(scores([[0.1, 0.2]]))

    def test_something_else(self):
        with pytest.raises(rs.InputError, match="compare takes Scores, not dict"):
            compare({"bm25": [0.1]})


# -- values at the edge of what floats hold ----------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_differences_whose_squares_vanish_are_none(test):
    values = np.random.default_rng(0).random((2, 12))
    assert compare(scores(values * 1e-120), test=test).p[0, 0] < 1.0
    found = compare(scores(values * 1e-200), test=test)
    assert found.p[0, 0] == 1.0
    assert (found.wins[0, 0], found.ties[0, 0], found.losses[0, 0]) == (0, 12, 0)


def test_a_large_value_in_one_query_does_not_hide_the_spread_of_the_others():
    left, right = [1e15, 2.0, 1.0, 5.0], [1e15, 1.0, 2.0, 3.0]
    assert compare(scores([right, left])).p[0, 0] == pytest.approx(stats.ttest_rel(left, right).pvalue)


def test_values_too_large_to_be_summed_are_refused():
    with pytest.raises(rs.InputError, match="run 'run1', query 'q0', measure AP is too large to add up"):
        scores([[0.5, 0.5], [-1e101, 0.5]])


def test_one_measure_under_two_names_is_refused():
    with pytest.raises(rs.InputError, match="measure 'AP' is named twice"):
        scores(np.ones((1, 2, 2)), measures=("AP", "MAP"))
