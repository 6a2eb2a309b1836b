"""Reliability: a textbook table by hand, covariances as another route, simulation, refusals."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.study import plain_components, plain_phi, plain_reliability
from ranksift import InputError, RankSiftWarning, Scores, study
from ranksift.study.reliability import Components
from ranksift.study.result import PerMeasure
from tests.study.cases import scored


def by_covariances(values: np.ndarray) -> tuple[float, float, float]:
    """Components without an analysis of variance: what systems have in common on two topics is their own."""
    system = np.mean([np.cov(values[:, a], values[:, b])[0, 1] for a, b in combinations(range(values.shape[1]), 2)])
    topic = np.mean([np.cov(values[a], values[b])[0, 1] for a, b in combinations(range(values.shape[0]), 2)])
    return system, topic, values.var(axis=0, ddof=1).mean() - system


def noisy(systems=0.1, topics=0.2, interaction=0.15, runs=12, queries=30, seed=0):
    draw = np.random.default_rng(seed)
    return (
        draw.normal(0.5, systems, (runs, 1))
        + draw.normal(0, topics, (1, queries))
        + draw.normal(0, interaction, (runs, queries))
    )


class TestByHand:
    def test_three_runs_on_two_topics(self):
        # Rows 1 3, 2 2, 3 7: means 2, 2, 5; topics 2, 4; all 3.
        # Squares of runs 2 · (1 + 1 + 4) = 12, mean 6; of topics 3 · 2 = 6, mean 6; of all 4 + 0 + 1 + 1 + 0 + 16 = 22,
        # so the rest has 4, mean 2. Components (6 − 2) / 2, (6 − 2) / 3, 2.
        found = study.reliability(scored([[1.0, 3.0], [2.0, 2.0], [3.0, 7.0]]), samples=0)
        assert found.components["AP"] == pytest.approx((2.0, 4 / 3, 2.0))
        assert found.phi["AP"] == pytest.approx(2 / (2 + (4 / 3 + 2) / 2))
        assert found.rho2["AP"] == pytest.approx(2 / (2 + 2 / 2))
        assert found.phi_unclipped == found.phi

    def test_decision_study(self):
        found = study.reliability(scored([[1.0, 3.0], [2.0, 2.0], [3.0, 7.0]]), samples=0)
        assert found.phi_with([1, 2, 10])["AP"] == pytest.approx([2 / (2 + 10 / 3), found.phi["AP"], 2 / (2 + 1 / 3)])
        # 0.95 / 0.05 · (10 / 3) / 2 = 31.67
        assert found.topics_needed(0.95) == {"AP": 32}
        assert found.phi_with(31)["AP"][0] < 0.95 <= found.phi_with(32)["AP"][0]

    def test_a_number_of_topics_that_is_just_enough(self):
        # Where σ_s² = σ_t² + σ_st², n topics give Φ = n / (n + 1).
        found = replace(TestResult.FOUND, components=PerMeasure({"AP": Components(0.1, 0.03, 0.07)}))
        needed = [found.topics_needed(phi)["AP"] for phi in (0.8, 0.9, 0.95, 0.99)]
        assert needed == [4, 9, 19, 99]

    def test_a_negative_component_counts_as_0(self):
        # Every run is good on one of the topics: no run is better than another, on average.
        found = study.reliability(scored(np.eye(3)), samples=0)
        # Squares: runs 0, topics 0, the rest 2 in 4 degrees of freedom.
        assert found.unclipped["AP"] == pytest.approx((-1 / 6, -1 / 6, 0.5))
        assert found.components["AP"] == (0.0, 0.0, pytest.approx(0.5))
        assert (found.phi["AP"], found.rho2["AP"]) == (0.0, 0.0)
        assert found.phi_unclipped["AP"] == pytest.approx(-1 / 6 / (-1 / 6 + (-1 / 6 + 0.5) / 3))
        assert found.topics_needed() == {"AP": None}

    def test_no_interaction(self):
        found = study.reliability(scored(np.add.outer([0.1, 0.2, 0.4], [0.0, 0.1, 0.3, 0.7])), samples=50)
        assert found.components["AP"].interaction == 0.0
        assert found.rho2["AP"] == 1.0
        assert found.rho2_interval["AP"] == (1.0, 1.0)


class TestIndependently:
    @given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 6))
    def test_covariances(self, seed, runs, topics):
        values = noisy(runs=runs, queries=topics, seed=seed)
        found = study.reliability(scored(values), samples=0)
        assert found.unclipped["AP"] == pytest.approx(by_covariances(values), abs=1e-12)
        assert found.unclipped["AP"] == pytest.approx(plain_components(values.tolist()), abs=1e-12)

    def test_generalizability_is_cronbach_s_alpha(self):
        values = noisy()
        n = values.shape[1]
        alpha = n / (n - 1) * (1 - values.var(axis=0, ddof=1).sum() / values.sum(axis=1).var(ddof=1))
        assert study.reliability(scored(values), samples=0).rho2["AP"] == pytest.approx(alpha)

    def test_intervals_of_plain_loops(self):
        values = noisy(runs=4, queries=8)
        drawn = np.random.default_rng(5).integers(0, 8, (60, 8)).tolist()
        found = study.reliability(scored(values), samples=60, seed=5)
        phi, interval = plain_reliability(values.tolist(), drawn)
        assert (found.phi["AP"], found.phi_interval["AP"]) == (pytest.approx(phi), pytest.approx(interval))

    def test_finds_the_variances_it_was_made_with(self):
        found = study.reliability(scored(noisy(runs=300, queries=300)), samples=0).components["AP"]
        assert found == pytest.approx((0.01, 0.04, 0.0225), rel=0.15)

    def test_resampled_components_are_centred(self):
        values = noisy(systems=0.06, runs=20, queries=30)
        found = study.reliability(scored(values), samples=2000)
        drawn = np.random.default_rng(0).integers(0, 30, (300, 30))
        uncorrected = [plain_phi(plain_components(values[:, topics].tolist()), 30) for topics in drawn]
        low, high = found.phi_interval["AP"]
        assert (low + high) / 2 == pytest.approx(found.phi["AP"], abs=0.05)
        assert np.median(uncorrected) > found.phi["AP"] + 0.05

    def test_intervals_cover(self):
        draw = np.random.default_rng(1)
        systems = draw.normal(0.5, 0.1, (15, 1))
        own = systems.var(ddof=1)
        phi = own / (own + (0.2**2 + 0.15**2) / 30)
        inside = 0
        for seed in range(100):
            values = systems + draw.normal(0, 0.2, (1, 30)) + draw.normal(0, 0.15, (15, 30))
            low, high = study.reliability(scored(values), samples=200, seed=seed).phi_interval["AP"]
            inside += low <= phi <= high
        assert 85 <= inside <= 100


class TestResult:
    FOUND = study.reliability(scored(noisy()), samples=100)

    def test_values_may_be_shifted_and_scaled(self):
        moved = study.reliability(scored(1000 + 7 * noisy()), samples=100)
        assert moved.phi["AP"] == pytest.approx(self.FOUND.phi["AP"])
        assert moved.phi_interval["AP"] == pytest.approx(self.FOUND.phi_interval["AP"])

    def test_same_seed_same_numbers(self):
        again, other = (study.reliability(scored(noisy()), samples=100, seed=seed) for seed in (0, 1))
        assert again.phi_interval == self.FOUND.phi_interval != other.phi_interval
        assert again.phi == other.phi

    def test_wider_confidence_wider_interval(self):
        narrow = study.reliability(scored(noisy()), samples=100, confidence=0.5).phi_interval["AP"]
        wide = self.FOUND.phi_interval["AP"]
        assert wide[0] < narrow[0] < narrow[1] < wide[1]

    def test_without_samples_there_are_no_intervals(self):
        found = study.reliability(scored(noisy()), samples=0)
        assert np.isnan(found.phi_interval["AP"]).all()
        assert "nan" not in str(found)

    def test_frame(self):
        (row,) = self.FOUND.to_frame().to_dicts()
        assert row["phi"] == self.FOUND.phi["AP"]
        assert (row["phi_low"], row["phi_high"]) == self.FOUND.phi_interval["AP"]
        assert (row["system"], row["topic"], row["interaction"]) == self.FOUND.components["AP"]
        assert row["topics_for_0.95"] == self.FOUND.topics_needed()["AP"]

    def test_print(self):
        text = str(self.FOUND)
        assert text.startswith("Reliability: variance of 12 runs on 30 topics")
        assert f"{self.FOUND.phi['AP']:.3f} [{self.FOUND.phi_interval['AP'][0]:.3f}" in text

    def test_picture(self):
        pytest.importorskip("matplotlib")
        (axes,) = self.FOUND.plot().axes
        sizes, phi = axes.lines[0].get_data()
        assert phi == pytest.approx(self.FOUND.phi_with(sizes.tolist())["AP"])


class TestRefusals:
    def test_one_run(self):
        with pytest.raises(InputError, match="reliability needs at least 2 runs"):
            study.reliability(scored([[0.1, 0.2]]))

    def test_one_topic(self):
        with pytest.raises(InputError, match="reliability needs at least 2 queries"):
            study.reliability(scored([[0.1], [0.2]]))

    @pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3])
    def test_of_constant_scores_nothing_is_said(self, value):
        with pytest.warns(RankSiftWarning):
            found = study.reliability(scored(np.full((3, 7), value)), samples=10)
        assert "AP has the same value for every run and query: it cannot tell anything apart" in found.notes
        assert found.components["AP"] == (0.0, 0.0, 0.0)
        assert np.isnan([found.phi["AP"], found.rho2["AP"], found.phi_unclipped["AP"]]).all()
        assert found.topics_needed() == {"AP": None}
        assert "nan" not in str(found)

    def test_a_constant_measure_leaves_the_others_alone(self):
        cube = np.stack([noisy(), np.ones((12, 30))], axis=2)
        names = [f"r{r}" for r in range(12)], [f"q{q}" for q in range(30)]
        scores = Scores.from_array(cube, runs=names[0], queries=names[1], measures=["AP", "RR"])
        with pytest.warns(RankSiftWarning, match="RR has the same value"):
            found = study.reliability(scores, samples=100)
        assert found.phi["AP"] == TestResult.FOUND.phi["AP"]

    def test_copies_of_one_run_have_no_variance_of_their_own(self):
        with pytest.warns(RankSiftWarning, match="the runs 'r0', 'r1' and 'r2' have the same values"):
            found = study.reliability(scored([[0.1, 0.7]] * 3), samples=10)
        assert found.components["AP"] == (0.0, pytest.approx(0.18), 0.0)
        assert found.phi["AP"] == 0.0

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"samples": -1}, "samples=-1 is not an integer of at least 0"),
            ({"seed": "x"}, "seed='x' is not an integer"),
            ({"confidence": 95}, "confidence=95 is not a number between 0 and 1; write confidence=0.95, for example"),
        ],
    )
    def test_options(self, options, words):
        with pytest.raises(InputError) as refusal:
            study.reliability(scored(noisy()), **options)
        assert words in str(refusal.value)

    def test_levels(self):
        with pytest.raises(InputError, match="phi=1 is not a number between 0 and 1"):
            TestResult.FOUND.topics_needed(1)
        for bad in (0, [5, -1], "ten"):
            with pytest.raises(InputError, match="are not numbers above 0"):
                TestResult.FOUND.phi_with(bad)
