"""Columns of identifiers, against lists of Python strings."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksift.collection._engine import ids as module
from ranksift.collection._engine.ids import Ids

LENGTHS = [1, 7, 8, 9, 15, 16, 17, 100, 101, 5000]
NAMES = [c * n for n in LENGTHS for c in "ab"] + ["é", "日本語", "x" * 7 + "é", "a\0", "a\0\0", "\x7f", "🙂" * 9]
texts = st.one_of(st.sampled_from(NAMES), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))


@pytest.fixture(params=["packed", "compact"])
def column(request):
    return (lambda names: Ids.from_strings(names).compact()) if request.param == "compact" else Ids.from_strings


def test_strings_come_back(column):
    ids = column(NAMES)
    assert ids.tolist() == list(ids) == NAMES
    assert [ids[i] for i in range(len(NAMES))] == NAMES
    assert ids[3:7].tolist() == NAMES[3:7]
    assert ids[-1] == NAMES[-1]
    assert ids.take(np.array([5, 0, 5])).tolist() == [NAMES[5], NAMES[0], NAMES[5]]
    assert ids.packed(b"\n") == "".join(n + "\n" for n in NAMES).encode()
    assert Ids.concatenate([column(NAMES), column(["z"]), column([])]).tolist() == [*NAMES, "z"]


def test_empty(column):
    ids = column([])
    assert len(ids) == 0
    assert ids.tolist() == []
    assert ids.hashes().tolist() == []
    assert ids.factorize()[0].tolist() == []
    assert ids.packed(b"\n") == b""
    assert ids.changes().tolist() == []


@given(st.lists(texts, max_size=12), st.lists(texts, max_size=12))
def test_same_and_changes_are_exact(first, second):
    n = min(len(first), len(second))
    a, b = Ids.from_strings(first[:n]), Ids.from_strings(second[:n])
    expected = [x == y for x, y in zip(first[:n], second[:n], strict=True)]
    assert a.same(b).tolist() == a.compact().same(b).tolist() == a.same(b.compact()).tolist() == expected
    assert a.same(a).all()
    assert Ids.from_strings(first).changes().tolist() == [x != y for x, y in pairwise(first)]


@given(st.lists(texts, max_size=30))
def test_factorize_numbers_by_first_appearance(names):
    codes, first = Ids.from_strings(names).factorize()
    distinct = list(dict.fromkeys(names))
    assert codes.tolist() == [distinct.index(n) for n in names]
    assert first.tolist() == [names.index(d) for d in distinct]


def test_factorize_many():
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 30_000, 200_000)
    codes, first = Ids.from_strings([f"d{n}" for n in numbers]).factorize()
    assert (numbers[first][codes] == numbers).all()
    assert (np.diff(first) > 0).all()
    assert len(first) == len(np.unique(numbers))


@given(st.lists(texts, max_size=20), st.randoms(use_true_random=False))
def test_hash_depends_on_the_identifier_alone(names, rng):
    packed = Ids.from_strings(names).hashes().tolist()
    shuffled = rng.sample(range(len(names)), len(names))
    assert Ids.from_strings(names).compact().hashes().tolist() == packed
    assert Ids.from_strings([names[i] for i in shuffled]).hashes().tolist() == [packed[i] for i in shuffled]
    assert len(set(packed)) == len(set(names))


@given(st.lists(st.tuples(st.integers(0, 2), texts), max_size=20))
def test_descending_orders_by_bytes_inside_groups(rows):
    groups, names = [g for g, _ in rows], [t for _, t in rows]
    order = Ids.from_strings(names).descending(np.array(groups, dtype=np.int64)).tolist()
    assert sorted(order) == list(range(len(rows)))
    for i, j in pairwise(order):
        assert groups[i] < groups[j] or (groups[i] == groups[j] and names[i].encode() >= names[j].encode())


def test_long_identifiers_differ_by_their_last_byte():
    names = ["x" * 10_000 + c for c in "abca"]
    ids = Ids.from_strings(names)
    assert 8 * module._WORDS < 10_000
    assert ids.factorize()[0].tolist() == [0, 1, 2, 0]
    assert ids.same(ids.take(np.array([3, 1, 1, 0]))).tolist() == [True, True, False, True]
    assert ids.changes().tolist() == [True, True, True]
    assert ids.descending(np.zeros(4, dtype=np.int64)).tolist() == [2, 1, 0, 3]
    assert len(set(ids.hashes().tolist())) == 3
