"""Every measure, every query and every aggregate against plain loops, to 1e-12."""

import dataclasses
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection.judged_run import JudgedRun
from ranksift.measures.measure import CATALOGUE
from tests.measures import plain
from tests.measures.cases import (
    AROUND,
    LABELS,
    PARAMETERS,
    Collection,
    collections,
    drawn_cases,
    every_case,
    seeded_collection,
)

rs.parse_measure("nDCG")  # fills the catalogue


def assert_equal(collection: Collection, cases):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RankSiftWarning)  # gains above 1
        scores = rs.evaluate(
            collection.qrels, collection.run, [str(c) for c in cases], queries=collection.queries, **collection.how
        )
    assert list(scores.queries) == collection.queries
    aggregate, column = scores.aggregate()[0], {measure: m for m, measure in enumerate(scores.measures)}
    for case in cases:
        name, parameters, around = case
        values, mean = plain.evaluate(
            collection.qrels, collection.run, collection.queries, name, parameters, around=around, **collection.how
        )
        m = column[rs.parse_measure(str(case))]
        assert scores.values[0, :, m] == pytest.approx(values, abs=1e-12, rel=1e-12), str(case)
        assert aggregate[m] == pytest.approx(mean, abs=1e-12, rel=1e-12), str(case)


@pytest.mark.parametrize("name", [*PARAMETERS, "UL1", "UL2"])
@settings(max_examples=settings.default.max_examples // 4)
@given(data=st.data())
def test_measure(name, data):
    collection = data.draw(collections())
    assert_equal(collection, data.draw(st.lists(drawn_cases(name), min_size=1, max_size=4)))


@pytest.mark.parametrize("seed", range(len(LABELS)))
def test_every_combination_of_parameters_at_once(seed):
    assert_equal(seeded_collection(seed), list(every_case()))


@pytest.mark.parametrize("seed", range(len(LABELS)))
def test_long_lists(seed):
    collection = seeded_collection(seed, pool=60, length=150, queries=12)
    assert_equal(collection, [c for c in every_case() if c.around is None][seed::8])


@given(collections())
def test_run_that_filters_everything(collection):
    empty = Collection(collection.qrels, {q: {} for q in collection.run}, collection.queries, collection.how)
    assert_equal(empty, list(every_case())[::97])


def test_every_parameter_of_every_measure_is_tried():
    for name, cls in CATALOGUE.items():
        if name not in ("UL1", "UL2"):
            fields = {f.name for f in dataclasses.fields(cls)} - {"alias"}
            assert fields == set(PARAMETERS[name]), name
    assert set(AROUND) == {name for name, cls in CATALOGUE.items() if _has_expectation(cls)}


def _has_expectation(cls):
    try:
        rs.parse_measure(f"UL1({cls.__name__}{'@3' * cls.needs_k})")
    except rs.InputError:
        return False
    return True


@given(st.data())
def test_arrays_break_ties_by_input_order(data):
    """JudgedRun.from_arrays: no ids, groups in any order, rows that are unjudged or filtered."""
    n = data.draw(st.integers(1, 12))
    rows = [
        data.draw(
            st.tuples(
                st.sampled_from([-2, 0, 1, 2.5]), st.sampled_from([1, 2]), st.sampled_from("ab"), *[st.booleans()] * 2
            )
        )
        for _ in range(n)
    ]
    labels, scores, groups, known, kept = zip(*rows, strict=True)
    joined = JudgedRun.from_arrays(labels, scores, groups, judged=known, kept=kept)
    for name in ("nDCG_f", "AP", "GoodFiltered", "Fdocs", "nDCG_qwa", "Judged", "NumRet"):
        measure = rs.parse_measure(name)
        top, bottom = measure.per_query(joined)
        for i, group in enumerate(dict.fromkeys(groups)):
            mine = [j for j in range(n) if groups[j] == group]
            ranking = [str(j) for j in sorted(mine, key=lambda j: -scores[j]) if kept[j]]
            pool = {str(j): labels[j] for j in mine if known[j]}
            expected = plain.value(plain.Topic(ranking, pool, {group: pool}), name)
            denominator = bottom[i]
            assert (top[i] / denominator if denominator else 0.0) == pytest.approx(expected, abs=1e-12)
