"""Parse millions of decimal numbers at once, each to the nearest 64-bit float.

A token such as ``-12.345678`` is taken eight bytes at a time: the digits of a word become an integer
by three multiplications (SIMD within a register), the integer and a power of ten give the value. With
up to 15 digits one division of exact numbers is correctly rounded (Clinger); beyond that the product is
formed in double-double arithmetic, and the rare case that lies too near the middle of two floats to be
sure is left to Python.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.ids import Ints, loads
from ranksift.files import Bytes

_U = np.uint64
_ZEROS = _U(0x3030303030303030)
_DOT = 46
_ONES = _U(0x0101010101010101)
_HIGH = _U(0x8080808080808080)
_OVER_9 = _U(0x7676767676767676)
_POWER = np.array([10**n for n in range(20)], dtype=_U)
_EXACT_POWER = 10.0 ** np.arange(23)
_EXACT = _U(1 << 53)
_DIGITS = 19  # decimal digits that 64 bits always hold
_MAX_EXPONENT = 130

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

# The value of a power of ten as the unevaluated sum of two floats.
_SCALE = range(-_MAX_EXPONENT, _MAX_EXPONENT + 1)


def _power_pairs() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from fractions import Fraction

    exact = [Fraction(10) ** e for e in _SCALE]
    high = [float(x) for x in exact]
    low = [float(x - Fraction(h)) for x, h in zip(exact, high, strict=True)]
    return np.array(high), np.array(low)


def parse_decimals(buffer: Bytes, starts: Ints, ends: Ints) -> tuple[NDArray[np.float64], bool, Ints]:
    """Parse the tokens ``buffer[starts:ends]``.

    Returns
    -------
    values
        The parsed numbers.
    whole
        Whether every token was written as an integer.
    rest
        Rows that this fast route does not cover; their values are not set (see :func:`parse_token`).
    """
    word = loads(buffer)
    head = buffer[starts]
    negative = head == 45
    signed = negative | (head == 43)
    if signed.any():
        starts = starts + signed
    length = (ends - starts).astype(_U)
    mantissa, fraction, known = _mantissa(word, starts, length)
    exponent = None
    rest = np.flatnonzero(~known)
    if len(rest):
        scientific, power = _exponents(buffer, starts[rest], ends[rest])
        rows = rest[scientific]
        if len(rows):
            m, f, k = _mantissa(word, starts[rows], length[rows] - _U(4))
            mantissa[rows], fraction[rows], known[rows] = m, f, k
            exponent = np.zeros(len(starts), dtype=np.int64)
            exponent[rows] = power[scientific]
    whole = exponent is None and not fraction.any()
    values = mantissa.astype(np.float64) / _EXACT_POWER[fraction.view(np.int64)]
    hard = mantissa >= _EXACT
    if exponent is not None:
        hard |= exponent != 0
    hard &= known
    if hard.any():
        rows = np.flatnonzero(hard)
        scale = -fraction[rows].astype(np.int64)
        if exponent is not None:
            scale += exponent[rows]
        values[rows], sure = _scaled(mantissa[rows], scale)
        known[rows] = sure
    if signed.any():
        np.negative(values, where=negative, out=values)
    rest = np.flatnonzero(~known)
    return values, whole, rest


def integers_before(buffer: Bytes, starts: Ints, mark: int) -> tuple[Ints, Ints]:
    """Whole numbers of up to seven digits that a byte ends, as in ``12:0.5``, and where that byte stands.

    A token that does not start so has the number -1.

    Examples
    --------
    >>> text = np.frombuffer(b"12:0.5 x:1       ", dtype=np.uint8)
    >>> integers_before(text, np.array([0, 7]), ord(":"))
    (array([12, -1]), array([2, 8]))
    """
    first = loads(buffer)[starts]
    width = _before(first, mark)
    digits, valid = _digits(first, width)
    value: Ints = digits.view(np.int64)
    value[~valid | (width == _U(0)) | (width == _U(8))] = -1
    return value, starts + width.view(np.int64)


def nulls(buffer: Bytes, starts: Ints, ends: Ints) -> NDArray[np.bool_]:
    """Which tokens stand for a missing value: nothing at all, ``NULL``, ``NaN`` or ``NA``, in any case.

    Examples
    --------
    >>> nulls(np.frombuffer(b"NULL,,nan,0        ", dtype=np.uint8), np.array([0, 5, 6, 10]), np.array([4, 5, 9, 11]))
    array([ True,  True,  True, False])
    """
    length = ends - starts
    lower = loads(buffer)[starts] | _U(0x20202020)
    null = (length == 4) & (lower & _U(0xFFFFFFFF) == _U(int.from_bytes(b"null", "little")))
    nan = (length == 3) & (lower & _U(0xFFFFFF) == _U(int.from_bytes(b"nan", "little")))
    na = (length == 2) & (lower & _U(0xFFFF) == _U(int.from_bytes(b"na", "little")))
    return np.asarray(null | nan | na | (length == 0))


def _mantissa(
    word: NDArray[np.uint64], starts: Ints, length: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.bool_]]:
    """Digits without the dot, how many follow the dot, and whether the token is that simple."""
    first = word[starts]
    before = np.minimum(_before(first, _DOT), length)
    known = (length > _U(0)) & ((before < _U(8)) | (length <= _U(8)))
    mantissa, valid = _digits(first, before)
    known &= valid
    fraction = np.where(length > before, length - before - _U(1), _U(0))
    known &= (before + fraction) > _U(0)
    longest = int(fraction.max(initial=0))
    if longest:
        known &= fraction <= _U(_DIGITS)
        known &= (mantissa == _U(0)) | (before + fraction <= _U(_DIGITS))
        fraction[~known] = 0
        at = starts + before.view(np.int64) + 1
        for j in range(0, min(longest, _DIGITS), 8):
            width = np.minimum(np.maximum(fraction, _U(j)) - _U(j), _U(8))
            # Rows without digits here may point past the buffer: their word is shifted away.
            digits, valid = _digits(word[np.minimum(at + j, len(word) - 1)], width)
            mantissa = mantissa * _POWER[width.view(np.int64)] + digits
            known &= valid
    else:
        fraction[~known] = 0
    return mantissa, fraction, known


def _before(word: NDArray[np.uint64], byte: int) -> NDArray[np.uint64]:
    """How many bytes of each word stand before the first that is ``byte``; 8 if there is none."""
    x = word ^ (_U(byte) * _ONES)
    lowest = (x - _ONES) & ~x & _HIGH
    return np.bitwise_count((lowest - _U(1)) & ~lowest).astype(_U) >> _U(3)


def _digits(word: NDArray[np.uint64], width: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Value of the first ``width`` bytes as decimal digits, and whether they all are digits."""
    v = (word ^ _ZEROS) << ((_U(8) - width) << _U(3))
    valid = (((v & ~_HIGH) + _OVER_9) | v) & _HIGH == _U(0)
    v = (v * _U(2561)) >> _U(8)
    v = ((v & _U(0x00FF00FF00FF00FF)) * _U(6553601)) >> _U(16)
    v = ((v & _U(0x0000FFFF0000FFFF)) * _U(42949672960001)) >> _U(32)
    return v, valid


def _exponents(buffer: Bytes, starts: Ints, ends: Ints) -> tuple[NDArray[np.bool_], Ints]:
    """Which tokens end like ``e-05``, and the exponent where they do."""
    at = np.maximum(ends - 4, starts)
    tail = [buffer[at + j].astype(np.int64) for j in range(4)]
    tens, units = tail[2] - 48, tail[3] - 48
    fits = (ends - starts > 4) & ((tail[0] | 32) == 101) & ((tail[1] == 43) | (tail[1] == 45))
    fits &= (tens >= 0) & (tens <= 9) & (units >= 0) & (units <= 9)
    return fits, np.where(tail[1] == 45, -1, 1) * (10 * tens + units)


_pairs: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


def _scaled(mantissa: NDArray[np.uint64], scale: Ints) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """``mantissa * 10**scale`` to the nearest float, and where that is certain."""
    global _pairs
    if _pairs is None:
        _pairs = _power_pairs()
    high = mantissa.astype(np.float64)
    low = (mantissa - high.astype(_U)).view(np.int64).astype(np.float64)
    power, power_rest = (table[scale + _MAX_EXPONENT] for table in _pairs)
    product = high * power
    error = _product_error(high, power, product) + (high * power_rest + low * power)
    value = product + error
    beyond = error - (value - product)
    half = np.abs(np.abs(beyond) / np.spacing(np.abs(value)) - 0.5)
    return value, half > 1e-6


def _product_error(a: NDArray[np.float64], b: NDArray[np.float64], product: NDArray[np.float64]) -> NDArray[np.float64]:
    """What rounding took from ``a * b`` (Dekker)."""

    def split(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        c = 134217729.0 * x
        high = c - (c - x)
        return high, x - high

    (a1, a2), (b1, b2) = split(a), split(b)
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def parse_token(token: bytes) -> float | None:
    """One number as Python reads it, ``None`` if it is not a number (``1_000``, ``abc``); may be infinite.

    Examples
    --------
    >>> parse_token(b"1e-3"), parse_token(b"abc"), parse_token(b"1e999")
    (0.001, None, inf)
    """
    return float(token) if _NUMBER.fullmatch(token) else None
