"""Rows brought together by query: order, duplicates, ranks; and the same when hashes collide."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection._engine import grouping as grouped
from ranksift.collection._engine.grouping import Part, batches, by_rank, group, without_duplicates
from ranksift.collection._engine.ids import Ids
from ranksift.collection.judged_run import join
from ranksift.errors import InputError
from tests.collection import plain

TRUE_HASHES = Ids.hashes


@pytest.fixture(params=["64 bits", "3 bits", "no bit"])
def hashes(request, monkeypatch):
    """Hashes as they are, and hashes that collide all the time."""
    few = {"64 bits": None, "3 bits": 7, "no bit": 0}[request.param]
    if few is not None:
        monkeypatch.setattr(Ids, "hashes", lambda self, seed=None: TRUE_HASHES(self, seed) & np.uint64(few))
    return request.param


def part_of(rows):
    queries, docs, values = zip(*rows, strict=True) if rows else ((), (), ())
    return Part.of(Ids.from_strings(queries), Ids.from_strings(docs), np.array(values, dtype=np.float64))


def to_dict(found):
    docs, values = found.docs.tolist(), found.values.tolist()
    bounds = zip(found.query_ids, found.offsets[:-1], found.offsets[1:], strict=True)
    return {q: list(zip(docs[lo:hi], values[lo:hi], strict=True)) for q, lo, hi in bounds}


def expected(rows, policy="error"):
    found = {}
    for query, doc, value in rows:
        docs = found.setdefault(query, {})
        if doc not in docs:
            docs[doc] = value
        elif policy == "error":
            raise InputError("twice")
        elif policy == "best":
            docs[doc] = max(docs[doc], value)
    return found


def clean(found, policy):
    return without_duplicates(found, policy, lambda row, what, remedy: InputError(what), lambda kept, other: ("", ""))


rows_of_few = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "query number three"]),
        st.sampled_from(["a", "b", "ab", "a" * 20]),
        st.integers(-2, 2),
    )
)


@given(rows_of_few, st.lists(st.integers(0, 6), max_size=3))
def test_group_keeps_the_order_of_queries_and_of_rows(rows, cuts):
    edges = [0, *sorted(min(c, len(rows)) for c in cuts), len(rows)]
    found = group([part_of(rows[lo:hi]) for lo, hi in pairwise(edges)])
    plainly = {}
    for query, doc, value in rows:
        plainly.setdefault(query, []).append((doc, value))
    assert to_dict(found) == plainly
    assert list(found.query_ids) == list(plainly)


def test_parts_of_many_widths_are_joined():
    rows = [(f"q{i % 7}", "d" * (1 + (i * 37) % 300) + str(i), float(i)) for i in range(400)]
    for cut in (1, 10, 399):
        found = group([part_of(rows[lo : lo + cut]) for lo in range(0, len(rows), cut)])
        assert {q: dict(docs) for q, docs in to_dict(found).items()} == expected(rows)


def test_more_queries_than_sixteen_bits_hold():
    rows = [(f"q{q}", f"d{d}", float(d)) for d in range(2) for q in range(70_000)]
    found = group([part_of(rows[:1]), part_of(rows[1:])])
    assert found.query_ids == tuple(f"q{q}" for q in range(70_000))
    assert found.docs.tolist() == ["d0", "d1"] * 70_000
    assert found.values.tolist() == [0.0, 1.0] * 70_000


@pytest.mark.parametrize("policy", ["error", "first", "best"])
def test_duplicates(hashes, policy):
    rng = random.Random(policy)
    for _ in range(150):
        rows = [(rng.choice("pq"), rng.choice("abcdef"), float(rng.randint(-3, 3))) for _ in range(rng.randint(0, 9))]
        try:
            wanted = expected(rows, policy)
        except InputError:
            with pytest.raises(InputError, match="is listed twice"):
                clean(group([part_of(rows)]), policy)
        else:
            assert {q: dict(docs) for q, docs in to_dict(clean(group([part_of(rows)]), policy)).items()} == wanted


def test_duplicates_among_many_rows():
    rng = np.random.default_rng(1)
    docs = rng.permutation(150_000)
    rows = [("q1", f"d{d}", 1.0) for d in docs[:100_000]] + [("q2", f"d{d}", 1.0) for d in docs]
    assert len(clean(group([part_of(rows)]), "error").values) == 250_000
    rows[130_000] = ("q1", rows[5][1], 2.0)
    with pytest.raises(InputError, match=rf"document '{rows[5][1]}' is listed twice for query 'q1'"):
        clean(group([part_of(rows)]), "error")
    assert len(clean(group([part_of(rows)]), "first").values) == 249_999


def test_unknown_policy():
    with pytest.raises(InputError, match="on_duplicate='last' is unknown"):
        clean(group([part_of([])]), "last")


@pytest.mark.parametrize("batch", [1, 4, 1 << 16])
def test_ranks_follow_scores_then_ids_descending(monkeypatch, hashes, batch):
    monkeypatch.setattr(grouped, "_BATCH", batch)
    monkeypatch.setattr(grouped, "usable_cores", lambda: 3)
    monkeypatch.setattr(batches, "__defaults__", (batch,))
    rng = random.Random(batch)
    for _ in range(60):
        docs = rng.sample([f"d{i}" for i in range(30)] + ["d", "é", "x" * 9, "x" * 300], rng.randint(1, 20))
        rows = [(q, d, float(rng.randint(0, 4))) for q in ("q1", "q2", "q3") for d in docs]
        rng.shuffle(rows)
        found = to_dict(by_rank(clean(group([part_of(rows)]), "error")))
        assert found == plain.ranked(expected(rows))


def test_batches_cover_all_queries_once():
    offsets = np.array([0, 3, 3, 10, 11, 30, 31])
    for size in (1, 2, 7, 100):
        found = list(batches(offsets, size))
        assert [lo for lo, _ in found] == [0, *(hi for _, hi in found[:-1])]
        assert found[-1][1] == 6
        assert all(offsets[hi] - offsets[lo] <= size or hi == lo + 1 for lo, hi in found)
    assert list(batches(np.array([0]))) == []


def test_join_judges_the_right_documents(hashes):
    rng = random.Random(4)
    docs = [f"d{i}" for i in range(12)]
    for _ in range(60):
        judged = {q: {d: rng.randint(-2, 3) for d in rng.sample(docs, 6)} for q in ("q1", "q2", "q3")}
        ranked = {q: {d: rng.random() for d in rng.sample(docs, rng.randint(0, 8))} for q in ("q1", "q3", "q4")}
        qrels, run = rs.read_qrels(judged), rs.read_run(ranked)
        found = join(qrels, run, qrels.query_ids)
        seen = [
            (qrels.query_ids[q], run.docs[row], rank, label)
            for q, row, rank, label in zip(found.query, found.row, found.rank, found.label, strict=True)
        ]
        wanted = [
            (q, d, rank, judged[q][d])
            for q in qrels.query_ids
            for rank, (d, _) in enumerate(plain.ranked(ranked).get(q, []), 1)
            if d in judged[q]
        ]
        assert seen == wanted


def values_of_a_small_collection():
    judged = {f"q{q}": {f"d{d}": (q * d) % 4 - 1 for d in range(20)} for q in range(5)}
    ranked = {f"q{q}": {f"d{d}": float((d * 7 + q) % 5) for d in range(0, 30, 2)} for q in range(5)}
    return rs.evaluate(judged, ranked, ["nDCG_f@10", "AP", "RR(nil='d22')", "nDCG(nil='d22')"]).values.ravel().tolist()


VALUES = values_of_a_small_collection()


def test_measures_are_the_same_when_hashes_collide(hashes):
    assert values_of_a_small_collection() == VALUES
