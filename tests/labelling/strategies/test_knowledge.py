"""The closure of what was said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ranksift.labelling.strategies.knowledge import Knowledge, bits

ANSWERS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([-1, 0, 1])), max_size=20)


def closure(said: list[tuple[int, int, int]]) -> dict[tuple[int, int], int]:
    """All that follows, by trying all paths (Warshall)."""
    reach = {(i, i): False for i in range(6)}  # True: with a preference on the way
    for a, b, sign in said:
        for x, y in [(a, b)] if sign > 0 else [(b, a)] if sign < 0 else [(a, b), (b, a)]:
            reach[x, y] = reach.get((x, y), False) or sign != 0
    for m in range(6):
        for x in range(6):
            for y in range(6):
                if (x, m) in reach and (m, y) in reach:
                    reach[x, y] = reach.get((x, y), False) or reach[x, m] or reach[m, y]
    return {(x, y): 1 if strict else 0 for (x, y), strict in reach.items()}


@given(ANSWERS)
def test_it_knows_what_follows_and_nothing_else(answers):
    known, accepted = Knowledge(6), []
    for answer in answers:
        if known.add(*answer):
            accepted.append(answer)
    follows = closure([each for each in accepted if each[0] != each[1]])
    for x in range(6):
        for y in range(6):
            expected = follows[x, y] if (x, y) in follows else -follows[y, x] if (y, x) in follows else None
            assert known.compare(x, y) == expected


@given(ANSWERS)
def test_every_refused_answer_closes_a_cycle_of_what_was_said(answers):
    known, accepted = Knowledge(6), []
    for a, b, sign in answers:
        if known.add(a, b, sign):
            accepted.append((a, b, sign))
            continue
        cycle = known.cycles[-1]
        links = {(a, b)} if sign > 0 else {(b, a)} if sign < 0 else {(a, b), (b, a)}
        for x, y, s in accepted:
            links |= {(x, y)} if s > 0 else {(y, x)} if s < 0 else {(x, y), (y, x)}
        if a != b:
            assert all(pair in links for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True))
            assert len(set(cycle)) == len(cycle) >= 2


def test_forbidden_items_are_worse_than_all_others():
    known = Knowledge(3)
    known.add(0, 1, 1)
    known.forbidden = 0b001
    assert (known.compare(0, 1), known.compare(2, 0), known.compare(1, 2)) == (-1, 1, None)
    known.forbidden = 0b011
    assert known.compare(0, 1) == 0


def test_bits():
    assert list(bits(0b101001)) == [0, 3, 5]
