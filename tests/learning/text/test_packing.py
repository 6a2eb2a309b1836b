"""Packed batches: every token once, in few shapes, and back in the order that was asked for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ranksift.learning.text.packing import by_length, groups_of, pack, rounded_up, under_budget
from ranksift.learning.text.tokens import Cut, Tokens

LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=30)


def tokens_of(lengths):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    second = np.array(lengths) // 2
    return Tokens(np.arange(1, offsets[-1] + 1, dtype=np.int32), offsets, second, Cut(len(lengths), 0, 0, 0, 0))


@given(LENGTHS, st.booleans(), st.integers(0, 50), st.randoms(use_true_random=False))
def test_what_is_packed_comes_back(lengths, few_shapes, longest, random):
    tokens = tokens_of(lengths)
    rows = np.array(random.choices(range(len(lengths)), k=len(lengths)))
    packed = pack(tokens, rows, few_shapes=few_shapes, longest=longest)
    for row, place in zip(rows, packed.back, strict=True):
        part = slice(packed.starts[place], packed.starts[place + 1])
        assert packed.ids[part].tolist() == tokens.ids[tokens.offsets[row] : tokens.offsets[row + 1]].tolist()
        assert packed.positions[part].tolist() == list(range(lengths[row]))
        assert packed.types[part].tolist() == [int(i >= lengths[row] // 2) for i in range(lengths[row])]
        assert set(packed.owner[part].tolist()) == {place}
    sizes = np.diff(packed.starts)
    assert packed.starts[0] == 0
    assert packed.starts[-1] == len(packed.ids) == len(packed.types) == len(packed.owner)
    assert sizes.max() <= packed.longest  # of padding, too
    assert packed.longest >= longest
    size = sum(lengths[row] for row in rows)
    assert len(packed.ids) == (rounded_up(size) if few_shapes else size)
    assert not packed.ids[size:].any()


@given(LENGTHS)
def test_groups_hold_every_token_once(lengths):
    starts = np.concatenate([[0], np.cumsum(lengths)])
    groups = groups_of(starts)
    assert [group.first for group in groups] == [0, *(group.last for group in groups)][:-1]
    assert groups[-1].last == starts[-1]
    for group in groups:
        if group.places is None:
            assert (group.last - group.first) % group.length == 0
            assert set(range(group.first, group.last, group.length)) <= set(starts.tolist())
        else:
            assert group.places[group.mask].tolist() == list(range(group.first, group.last))
            assert group.mask.shape[1] == group.length


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(1, 60))
def test_budgets_are_kept(sizes, budget):
    parts = list(under_budget(np.array(sizes, dtype=np.int64), budget))
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(len(sizes)))
    assert all(sum(sizes[part]) <= budget or part.stop - part.start == 1 for part in parts)
    rows = [row for some in by_length(np.array(sizes, dtype=np.int64), budget) for row in some]
    assert sorted(rows) == list(range(len(sizes)))
    assert [sizes[row] for row in rows] == sorted(sizes, reverse=True)


@given(st.integers(1, 10**6))
def test_few_sizes(size):
    total = rounded_up(size)
    assert size <= total <= max(size + 63, size * 33 / 32 + 1)
    assert total % 64 == 0
    assert rounded_up(total) == total


def test_shapes_repeat():
    draw = np.random.default_rng(0)
    lengths = np.clip(draw.lognormal(4.0, 0.6, 256 * 40).astype(int), 8, 256)
    tokens = tokens_of(lengths)
    packed = [pack(tokens, np.arange(i, i + 256), few_shapes=True, longest=256) for i in range(0, len(lengths), 256)]
    assert len({one.shape for one in packed}) <= 9
    assert sum(len(one.ids) for one in packed) < 1.03 * lengths.sum()
