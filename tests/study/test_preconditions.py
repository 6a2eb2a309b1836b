"""What is said of scores before they are studied, and how topic sets are aggregated."""

import numpy as np
import pytest

from ranksift import InputError, Scores
from ranksift.study.preconditions import check_scores, peculiarities
from ranksift.study.topic_samples import aggregates, pooled
from tests.study.cases import scored


class TestPeculiarities:
    def test_nothing_peculiar(self):
        assert peculiarities(scored([[0.1, 0.2], [0.2, 0.1]])) == ()

    def test_groups_of_copies_in_one_line(self):
        values = np.repeat(np.random.default_rng(0).random((5, 4)), 2, axis=0)
        (note,) = peculiarities(scored(values))
        assert note == (
            "the runs 'r0' and 'r1'; 'r2' and 'r3'; 'r4' and 'r5' (and 2 more such groups) have the same values in "
            "every query: their pairs can only tie"
        )

    def test_copies_by_one_measure_only_are_none(self):
        cube = [[[0.1, 0.3], [0.2, 0.4]], [[0.1, 0.4], [0.2, 0.3]]]
        assert peculiarities(Scores.from_array(cube, runs=["a", "b"], queries=["p", "q"], measures=["AP", "RR"])) == ()

    def test_zero_has_no_sign(self):
        assert len(peculiarities(scored([[0.0, 0.5], [-0.0, 0.5]]))) == 1

    def test_constant_up_to_rounding(self):
        (_, note) = peculiarities(scored([[0.3, 0.1 + 0.2], [0.3, 0.1 + 0.2]]))
        assert note == "AP has the same value for every run and query: it cannot tell anything apart"


def test_no_measure():
    scores = Scores(("a", "b"), ("p", "q"), (), np.ones((2, 2, 0)), np.ones((2, 2, 0)))
    with pytest.raises(InputError, match="stability needs at least 1 measure, there are none"):
        check_scores(scores, "stability")


@pytest.mark.parametrize(
    ("measure", "denominator", "expected"),
    [
        ("AP", 1.0, False),
        ("a name", 1.0, False),
        ("NumRet", 1.0, False),
        ("c_at_1", 1.0, True),
        ("Fdocs@3", 2.0, True),
        ("Fdocs@3", 1.0, False),  # a ratio of sums over 1 is a mean
    ],
)
def test_what_is_pooled(measure, denominator, expected):
    named = scored([[1.0, 0.0], [0.0, 1.0]], measure)
    scores = Scores(named.runs, named.queries, named.measures, named.numerators, denominator * named.denominators)
    assert pooled(scores, 0) is expected


@pytest.mark.parametrize("measure", ["AP", "NumRet", "c_at_1", "Fdocs@3"])
def test_aggregates_are_those_of_scores(measure):
    draw = np.random.default_rng(0)
    named = scored(draw.random((3, 6)), measure)
    denominators = 1.0 + draw.integers(0, 3, (3, 6, 1)) * (measure == "Fdocs@3")
    scores = Scores(named.runs, named.queries, named.measures, named.numerators, denominators)
    drawn = draw.integers(0, 6, (7, 4))
    expected = np.array([scores.aggregate(topics)[:, 0] for topics in drawn]).T
    for block in (1, 1 << 20):
        assert aggregates(scores, 0, drawn, block) == pytest.approx(expected, abs=1e-14)
