"""Discrimination: against scipy, plain loops and hand-made cases, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ranksift import study
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.scores import Scores
from ranksift.study.discrimination import percentage_absolute_difference


def scores(values, measures=("AP",)) -> Scores:
    """Scores of runs × queries × measures."""
    cube = np.asarray(values, dtype=float)
    cube = cube[:, :, None] if cube.ndim == 2 else cube
    return Scores.from_array(
        cube,
        runs=[f"run{i}" for i in range(len(cube))],
        queries=[f"q{i}" for i in range(cube.shape[1])],
        measures=measures,
    )


def random_scores(runs=7, queries=25, measures=("AP", "RR"), seed=0) -> Scores:
    draw = np.random.default_rng(seed)
    level = np.linspace(0.2, 0.5, runs)[:, None, None]
    return scores(level + draw.normal(0, 0.15, (runs, queries, len(measures))), measures)


class TestSignificantPairs:
    def test_scipy_finds_as_many(self):
        given = random_scores()
        found = study.discrimination(given)
        for m, measure in enumerate(("AP", "RR")):
            p = [
                stats.ttest_rel(given.values[j, :, m], given.values[i, :, m]).pvalue
                for i, j in combinations(range(7), 2)
            ]
            assert found.significant[measure] == sum(x <= 0.05 for x in p)
            assert np.allclose(found.p(measure), p, rtol=1e-9)
        assert 0 < found.significant["AP"] < 21
        assert found.tested == {"AP": 21, "RR": 21}
        assert found.pairs[1] == ("run2", "run0")

    def test_p_that_is_alpha_is_significant(self):
        p = float(study.discrimination(random_scores(2)).p("AP")[0])
        assert study.discrimination(random_scores(2), alpha=p).significant["AP"] == 1
        assert study.discrimination(random_scores(2), alpha=p * 0.999).significant["AP"] == 0

    def test_a_correction_can_be_asked_for(self):
        plain, holm = study.discrimination(random_scores()), study.discrimination(random_scores(), correction="holm")
        assert holm.significant["AP"] < plain.significant["AP"]
        assert "Holm correction" in str(holm)

    def test_over_k_pairs_add_up(self):
        given = random_scores(measures=("P@5", "P@10", "AP"))
        each, together = study.discrimination(given), study.discrimination(given, over_k=True)
        assert together.significant == {
            "P": each.significant["P@5"] + each.significant["P@10"],
            "AP": each.significant["AP"],
        }
        assert together.tested == {"P": 42, "AP": 21}
        assert together.p("P").shape == (21, 2)


class TestConflicts:
    def test_by_hand(self):
        """Three runs by two measures; the noise is far smaller than the differences, or far larger."""
        noise = np.array([0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01, 0.0])
        wild = 20 * noise
        first = np.stack([0.1 + noise, 0.5 - noise, 0.9 + wild])  # all three apart
        second = np.stack([0.5 + noise, 0.1 - noise, 0.1 + noise[::-1]])  # 0 above 1 and 2, which are not apart
        found = study.discrimination(scores(np.stack([first, second], axis=2), ("AP", "RR")))
        assert found.significant == {"AP": 3, "RR": 2}
        # (1, 0): opposite; (2, 0): opposite; (2, 1): by AP only
        assert found.conflicts("AP", "RR") == found.conflicts("RR", "AP") == 3
        assert found.conflicting_pairs("AP", "RR") == (("run1", "run0"), ("run2", "run0"), ("run2", "run1"))
        assert found.conflicts("AP", "AP") == 0

    def test_a_cost_that_agrees_is_no_conflict(self):
        values = random_scores(measures=("AP",)).values
        found = study.discrimination(scores(np.concatenate([values, 2 - values], axis=2), ("AP", "Fdocs@3")))
        assert found.conflicts("AP", "Fdocs@3") == 0
        assert found.significant["AP"] == found.significant["Fdocs@3"] > 0

    @pytest.mark.filterwarnings("ignore:the PAD of")  # random averages may be negative
    @given(st.integers(0, 10_000))
    def test_they_are_as_many_as_a_plain_count_says(self, seed):
        found = study.discrimination(random_scores(5, 8, seed=seed))
        one, two = (
            {(c, found.comparison.better[c, m]) for c in np.flatnonzero(found.comparison.significant[:, m])}
            for m in (0, 1)
        )
        plain = {c for c, _ in one ^ two}
        assert found.conflicts("AP", "RR") == len(plain)
        # what readers can check in a printed table: at least the difference of the counts
        assert found.conflicts("AP", "RR") >= abs(found.significant["AP"] - found.significant["RR"])

    def test_over_k_each_k_meets_its_own(self):
        given = random_scores(measures=("P@5", "R@10", "P@10", "R@5"), seed=3)
        each, together = study.discrimination(given), study.discrimination(given, over_k=True)
        assert together.conflicts("P", "R") == each.conflicts("P@5", "R@5") + each.conflicts("P@10", "R@10")

    def test_over_k_both_need_the_same_k(self):
        found = study.discrimination(random_scores(measures=("P@5", "P@10", "R@5", "R@20")), over_k=True)
        with pytest.raises(InputError, match="P@5 and R@5 were not computed for the same k"):
            found.conflicts("P", "R")

    def test_an_unknown_measure_is_refused(self):
        with pytest.raises(InputError, match="measure P@5 is not in this study; there are: AP, RR"):
            study.discrimination(random_scores()).conflicts("AP", "P@5")


class TestPercentageAbsoluteDifference:
    def test_by_hand(self):
        # 0.1/0.5, 0.3/0.5 and 0.2/0.4
        assert percentage_absolute_difference(np.array([0.5, 0.4, 0.2])) == pytest.approx(100 * (0.2 + 0.6 + 0.5) / 3)

    def test_it_is_of_the_aggregates(self):
        given = random_scores(4)
        means = given.values[:, :, 0].mean(axis=1)
        plain = [abs(a - b) / max(a, b) for a, b in combinations(means, 2)]
        assert study.discrimination(given).pad["AP"] == pytest.approx(100 * np.mean(plain), rel=1e-12)

    def test_equal_systems_differ_by_nothing_also_at_zero(self):
        assert percentage_absolute_difference(np.zeros(3)) == 0.0
        assert percentage_absolute_difference(np.array([0.3, 0.1 + 0.2])) == 0.0

    def test_a_division_by_zero_is_no_number(self):
        assert np.isnan(percentage_absolute_difference(np.array([0.0, -0.5])))

    def test_negative_averages_are_told(self):
        with pytest.warns(RankSiftWarning, match="the PAD of DCG_ul2@5 means little: 1 of 2 averages are negative"):
            study.discrimination(scores([[0.1, 0.2], [-0.1, -0.3]], ["DCG_ul2@5"]))


class TestResult:
    def test_frame(self):
        found = study.discrimination(random_scores())
        frame = found.to_frame()
        assert frame.columns == ["measure", "significant", "tested", "share", "pad"]
        assert frame["significant"].to_list() == list(found.significant.values())
        assert found.conflicts_frame()["conflicts"].to_list() == [found.conflicts("AP", "RR")]

    def test_table(self):
        found = study.discrimination(random_scores())
        lines = str(found).splitlines()
        assert lines[0] == "Discrimination: 7 runs, 25 queries, paired t test, no correction, p <= 0.05"
        assert lines[1].split()[4:] == ["PAD", "vs", "AP", "vs", "RR"]
        assert "vs" not in str(study.discrimination(random_scores(measures=("AP",))))

    def test_many_measures_have_no_columns_for_each_other(self):
        table = study.discrimination(random_scores(measures=[f"P@{k}" for k in range(1, 10)])).table()
        assert [c.name for c in table.columns] == ["measure", "significant", "pairs", "share", "PAD"]
        assert not table.notes

    def test_words_over_k(self):
        found = study.discrimination(random_scores(measures=["P@1", "P@2", "R@1", "R@2"]), over_k=True)
        first, second = found.reading()
        assert "of 21 pairs of runs at every k: " in first
        assert f"on {found.conflicts('P', 'R')} pairs of 42 over all k." in second

    def test_figure(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        figure = study.discrimination(random_scores()).plot()
        curve = figure.axes[0].lines[0].get_ydata()
        assert len(curve) == 21
        assert (np.diff(curve) <= 0).all()

    def test_without_matplotlib_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
        with pytest.raises(InputError, match=r"ranksift\[report\]"):
            study.discrimination(random_scores()).plot()


class TestBadInput:
    def test_too_few(self):
        with pytest.raises(InputError, match="discrimination needs at least 2 runs"):
            study.discrimination(scores([[0.1, 0.2]]))
        with pytest.raises(InputError, match="discrimination needs at least 2 queries"):
            study.discrimination(scores([[0.1], [0.2]]))

    def test_not_finite(self):
        given = random_scores()
        given.numerators[1, 2, 0] = np.nan
        with pytest.raises(InputError, match="run 'run1', query 'q2', measure AP is not finite"):
            study.discrimination(given)

    def test_alpha(self):
        with pytest.raises(InputError, match="alpha=5 is not a number between 0 and 1"):
            study.discrimination(random_scores(), alpha=5)

    def test_constant_scores_and_copies_are_told(self):
        with pytest.warns(RankSiftWarning) as told:
            found = study.discrimination(scores(np.full((3, 4), 0.5)))
        assert found.significant["AP"] == 0
        assert found.pad["AP"] == 0
        words = " ".join(str(w.message) for w in told)
        assert "'run0', 'run1' and 'run2' have the same values" in words
        assert "AP has the same value for every run and query" in words
        assert found.notes == tuple(str(w.message) for w in told)
