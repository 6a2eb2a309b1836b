"""The tournament that learns how good the prior order is."""

from __future__ import annotations

import numpy as np
import pytest

from ranksift.labelling.simulation import simulate
from ranksift.labelling.strategies import strategy
from ranksift.labelling.strategies.forecast import _BELIEF, _SLOPE, slope_of
from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.seeded import SeededTournament

QUERIES = 60


@pytest.fixture(scope="module")
def plain() -> float:
    """What a tournament asks."""
    return simulate("tournament", queries=QUERIES).mean


@pytest.mark.parametrize(("tau", "less"), [(None, -1), (0.4, 2.5), (0.8, 16)])
def test_it_needs_fewer_where_the_prior_is_good_and_hardly_more_where_it_says_nothing(plain, tau, less):
    assert simulate("seeded", queries=QUERIES, prior_tau=tau).mean < plain - less


def test_a_prior_that_is_upside_down_is_not_believed_for_long(plain):
    assert simulate("seeded", queries=QUERIES, prior_tau=-0.8).mean < plain + 5


def test_the_slope_is_the_most_likely_one():
    differences = np.random.default_rng(3).normal(0.7, 1.5, 80)
    slopes = np.linspace(0, 3, 3001)
    fit = -np.log1p(np.exp(-np.outer(slopes, differences))).sum(axis=1) - _BELIEF * (slopes - _SLOPE) ** 2 / 2
    assert slope_of(differences.tolist()) == pytest.approx(slopes[fit.argmax()], abs=2e-3)
    assert slope_of([]) == _SLOPE
    assert slope_of([-3.0] * 50) == 0


def test_the_last_of_the_prior_meet_first():
    state = strategy("seeded").state("abcdefgh", [])
    assert {state.question.left, state.question.right} == {"g", "h"}
    known = Knowledge(8)
    known.forbidden, known.seen = 0b1000_0000, 0b1100_0000
    assert SeededTournament().match([0, 1, 5, 6], known) == (5, 1)
