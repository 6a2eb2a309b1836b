"""Every number is the one that Python reads."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksift.collection._engine.decimals import parse_decimals, parse_token


def parse(tokens: list[str]):
    data = " ".join(tokens).encode() + b"\n"
    lengths = np.array([len(t.encode()) for t in tokens])
    ends = np.cumsum(lengths + 1) - 1
    buffer = np.frombuffer(data + bytes(8), dtype=np.uint8)
    return parse_decimals(buffer, ends - lengths, ends)


def assert_exact(tokens: list[str], at_most_left: float = 1.0) -> None:
    values, _, rest = parse(tokens)
    assert len(rest) <= at_most_left * len(tokens)
    values[rest] = [parse_token(tokens[row].encode()) for row in rest]
    expected = np.array([float(t) for t in tokens])
    wrong = np.flatnonzero(values.view(np.int64) != expected.view(np.int64))  # bit by bit: -0.0 is not 0.0
    assert not len(wrong), [(tokens[i], values[i]) for i in wrong[:5]]


def digits(rng: random.Random, n: int) -> str:
    return "".join(rng.choices("0123456789", k=n))


SHAPES = {
    "integer": lambda r: str(r.randrange(10 ** r.randint(1, 20))),
    "leading zeros": lambda r: "0" * r.randint(1, 12) + digits(r, r.randint(1, 8)),
    "short fraction": lambda r: f"{r.uniform(-100, 100):.6f}",
    "long fraction": lambda r: f"{r.randrange(1000)}.{digits(r, r.randint(10, 25))}",
    "small": lambda r: "0." + "0" * r.randint(0, 18) + digits(r, r.randint(1, 20)),
    "15 to 20 digits": lambda r: f"{digits(r, r.randint(1, 7))}.{digits(r, r.randint(8, 19))}",
    "shortest": lambda r: repr(r.uniform(-1, 1) * 10.0 ** r.randint(-20, 20)),
    "scientific": lambda r: f"{r.uniform(-10, 10):.{r.randint(0, 18)}e}",
    "any exponent": lambda r: f"{digits(r, r.randint(1, 20))}e{r.choice(['', '+', '-'])}{r.randrange(330)}",
    "sign": lambda r: r.choice("+-") + SHAPES[r.choice(["integer", "small", "long fraction"])](r),
    "no digit on one side": lambda r: r.choice([f".{digits(r, r.randint(1, 9))}", f"{digits(r, r.randint(1, 9))}."]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_random_tokens(shape):
    rng = random.Random(shape)
    tokens = [SHAPES[shape](rng) for _ in range(40_000)]
    assert_exact([t for t in tokens if abs(float(t)) != float("inf")])


@pytest.mark.parametrize("style", ["{:.6f}", "{!r}", "{:.4e}"])
def test_scores_as_people_write_them_take_the_fast_way(style):
    rng = random.Random(style)
    assert_exact([style.format(rng.uniform(-1000, 1000)) for _ in range(10_000)], at_most_left=0.001)


def test_tokens_in_and_around_the_middle_of_two_floats():
    rng = random.Random(5)
    tokens = []
    for _ in range(8_000):
        low = rng.uniform(0.001, 9_999_999) if rng.random() < 0.7 else 2.0 ** rng.randint(-8, 22)
        middle = (Fraction(low) + Fraction(np.nextafter(low, rng.choice([0.0, np.inf])))) / 2
        for places in (15, 17, 19, 40):
            scaled = round(middle * 10**places)
            for near in (scaled - 1, scaled, scaled + 1):
                text = str(near).zfill(places + 1)
                tokens.append(f"{text[:-places]}.{text[-places:]}")
    assert_exact(tokens)


def test_integers_in_the_middle_of_two_floats():
    tokens = [str(2**53 + d) for d in range(-6, 7)] + [str(2**63 + 1024 + d) for d in range(-3, 4)] + [str(10**19 - 1)]
    assert_exact([sign + t for t in tokens for sign in ("", "-")])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_as_python_writes_them(values):
    assert_exact([repr(v) for v in values])


@given(st.lists(st.text("0123456789+-.eExX_ ,", min_size=1, max_size=30).filter(lambda t: " " not in t), min_size=1))
def test_accepts_exactly_what_a_number_is(tokens):
    values, _, rest = parse(tokens)
    taken = np.setdiff1d(np.arange(len(tokens)), rest)
    for row in taken:
        assert parse_token(tokens[row].encode()) == values[row]


@pytest.mark.parametrize(
    "token", ["", "+", "-", ".", "e5", "1e", "1e+", "1_000", "0x10", "nan", "inf", "1,5", "1.2.3", "٣", "--1"]
)
def test_not_a_number(token):
    assert parse_token(token.encode()) is None
    if token:
        assert parse([token, "1"])[2].tolist() == [0]


@pytest.mark.parametrize(
    ("tokens", "whole"),
    [(["1", "-2", "+3"], True), (["1", "2.0"], False), (["1", "2.5"], False), (["1", "1e+01"], False)],
)
def test_whole_is_how_the_numbers_are_written(tokens, whole):
    assert parse(tokens)[1] is whole
