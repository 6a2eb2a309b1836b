"""What everyone may ask of every measure."""

import numpy as np
import pytest

from ranksift import parse_measure
from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.measures.measure import CATALOGUE, PerQuery


def ready(name: str):
    return parse_measure(f"{name}@3" if CATALOGUE[name].needs_k else name)


JUDGED = JudgedRun.from_arrays([2, -1, 0, 1, -2, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "a", "b", "b", "c"])


@pytest.mark.parametrize("name", CATALOGUE)
class TestEveryMeasure:
    def test_k_gains_and_nil_are_there(self, name):
        measure = ready(name)
        assert measure.k is None or measure.k > 0
        assert measure.gains is None
        assert measure.nil is None

    def test_numerators_and_denominators_are_both_there(self, name):
        top, bottom = ready(name).per_query(JUDGED)
        assert top.shape == bottom.shape == (3,)
        assert np.isfinite(top).all()
        assert np.isfinite(bottom).all()

    def test_what_the_judgments_say_needs_no_run(self, name):
        measure, pool, gains = ready(name), JUDGED.pool, Gains()
        mask = measure.degenerate(pool, gains)
        assert mask is None or (mask.shape == (3,) and mask.dtype == bool)
        assert isinstance(measure.complaint(pool, gains), str | None)
        for ends in (measure.bounds(pool, gains), measure.line(pool, gains)):
            assert ends is None or [part.shape for part in ends] == [(3,), (3,)]
        for value in (measure.expectation(pool, gains), measure.perfection(pool, gains)):
            assert value is None or value.shape == (3,)

    def test_worth_is_never_negative_and_rises_with_the_label(self, name):
        worth = ready(name).worth(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), Gains())
        assert (worth >= 0).all()
        assert (np.diff(worth) >= 0).all()


@pytest.mark.parametrize("name", [n for n, kind in CATALOGUE.items() if kind.takes("k")])
def test_a_line_of_dcg_is_the_measure(name):
    """Where a measure is a line of DCG@k, the line gives its values."""
    measure = parse_measure(f"{name}@2")
    line = measure.line(JUDGED.pool, Gains())
    if line is None:
        return
    gain = measure.gain(JUDGED.label, Gains())
    dcg = JUDGED.sum(np.where(JUDGED.rank <= 2, gain / np.log2(JUDGED.rank + 1), 0.0))
    np.testing.assert_allclose(line[0] + line[1] * dcg, measure.per_query(JUDGED).numerator, atol=1e-12)


def test_a_nil_document_is_no_line():
    assert parse_measure('nDCG(nil="NIL")@2').line(JUDGED.pool, Gains()) is None
    assert parse_measure("nDCG@2").line(JUDGED.pool, Gains()) is not None


def test_a_measure_around_another_answers_for_it():
    around = parse_measure('UL2(nDCG(gains={-1: -10}, nil="NIL")@7)')
    assert (around.k, around.nil, str(around.gains)) == (7, "NIL", str(Gains.of({-1: -10})))
    assert not around.takes("k")


def test_own_gains_win():
    labels = np.array([-1.0, 2.0])
    assert parse_measure("DCG(gains={-1: -10})").gain(labels, Gains()).tolist() == [-10.0, 2.0]
    assert parse_measure("nDCG(gains={-1: -10})").gain(labels, Gains()).tolist() == [0.0, 2.0]
    assert parse_measure("DCG").gain(labels, Gains.of({2: 5})).tolist() == [-1.0, 5.0]


def test_a_plain_value_stands_over_one():
    assert PerQuery(np.array([0.25, 3.0])).denominator.tolist() == [1.0, 1.0]
    assert PerQuery(np.array([1.0]), np.array([4.0])).denominator.tolist() == [4.0]


def test_plain_fields_of_these_names_are_checked_and_converted_too():
    from dataclasses import dataclass

    import ranksift as rs
    from ranksift.measures.measure import Measure

    try:

        @dataclass(frozen=True, repr=False)
        class Plain(Measure):
            """A measure as measures were declared before."""

            k: int | None = None
            gains: Gains | None = None

            def per_query(self, judged):
                return PerQuery(judged.sum(self.gain(judged.label, judged.gains)))

        assert str(Plain(k=3, gains="exp")) == 'Plain(gains="exp")@3'
        assert parse_measure("Plain(gains=exp)@2").per_query(JUDGED).numerator.tolist()[0] == 2.5
        with pytest.raises(rs.InputError, match="Plain@0: k is not a positive integer; write Plain@10"):
            Plain(k=0)
        with pytest.raises(rs.InputError, match=r"Former.degenerate takes the judgments alone; write def degenerate"):

            class Former(Measure):
                def degenerate(self, judged):
                    return None

    finally:
        CATALOGUE.pop("Plain", None)
        CATALOGUE.pop("Former", None)


def test_flags_of_numpy_are_flags():
    from ranksift import RBP

    assert str(RBP(residual=np.True_)) == "RBP(p=0.8, residual=True)"
