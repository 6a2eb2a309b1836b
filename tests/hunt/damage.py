"""Damage to genuine files, by a seed: in their bytes, in their words and lines, and in the values of their JSON."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

FRAGMENTS = [
    b" ", b"\n", b"\r", b"\t", b",", b'"', b'""', b"#", b" # ", b"{", b"}", b"[", b"]", b":", b"=", b"\\u", b"\\",
    b"\0", b"\x0b", b"\x0c", b"\x1f", b"\x7f", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc2\xa0",
    b"\xe2\x80\xa8", b"e", b"-", b"+", b".", b"0", b"9" * 30, b"PAR1", b"qid:", b"null",
]  # fmt: skip
WORDS = [
    "nan", "inf", "-inf", "Infinity", "NULL", "NA", "null", "true", "1e999", "1e-999", "1e5", "-0", "+1", ".5", "5.",
    "0x10", "1_0", "1,5", "abc", "-", "1e", "1e+", "00", "9007199254740993", "99999999999999999999", "-1", "-3", "0.1",
    "٣", "é", "#", "qid:", "0:1", "1:1", "all", "d1", "q1", "1000000e-6", "0_5", "-0_1", "1e1", "2147483648",
    "-2147483649",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 0.5, 1e308, 10**400, float("nan"), float("inf"), "", "inf", "nan", "0.5", "x" * 300,
    "\0", "\ud800", [], [1, 2, 3], [[]], {}, {"a": 1}, {"": None}, "../../etc/passwd", "/dev/zero", "trees.txt",
]  # fmt: skip
DEEP = 2000  # levels of a nested list: more than Python's own limit


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The bytes of a text or a binary file, changed in one to three places; one in fifty is left as it is."""
    lot = rng.random()
    if lot < 0.02:
        return data
    if lot < 0.04:
        return rng.randbytes(rng.randrange(60))
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice((_in_bytes, _in_words, _in_lines))(rng, data)
    return data


def _in_bytes(rng: random.Random, data: bytes) -> bytes:
    at, upto = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    how = rng.randrange(6)
    if how == 0:
        return data[:at] + rng.choice(FRAGMENTS) + data[at:]
    if how == 1:
        return data[:at] + data[at + rng.randint(1, 4) :]
    if how == 2:
        return data[:at] + rng.randbytes(rng.randint(1, 4)) + data[at + 1 :]
    if how == 3:
        return data[:at] + bytes(b ^ (1 << rng.randrange(8)) for b in data[at : at + 1]) + data[at + 1 :]
    if how == 4:
        return data[:upto] + data[at : at + 40] + data[upto:]
    return data[: max(at, 1)]


def _in_words(rng: random.Random, data: bytes) -> bytes:
    """Another word in the place of one, as a program writes that has a fault."""
    edges = [i for i, b in enumerate(data) if b in b" ,\t\n=:"]
    if len(edges) < 2:
        return _in_bytes(rng, data)
    i = rng.randrange(len(edges) - 1)
    start, end = edges[i] + 1, edges[i + 1]
    if rng.random() < 0.2:
        return data[:start] + data[end:]
    if rng.random() < 0.2:  # the word that stands elsewhere
        j = rng.randrange(len(edges) - 1)
        return data[:start] + data[edges[j] + 1 : edges[j + 1]] + data[end:]
    return data[:start] + rng.choice(WORDS).encode() + data[end:]


def _in_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(6)
    if how == 0:
        lines.insert(other, lines[at])
    elif how == 1:
        del lines[at]
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 3:
        lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    elif how == 4:
        lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
    else:
        lines.insert(at, rng.choice((b"", b"# a comment", b"  ", b"\r", b"\t")))
    return b"\n".join(lines)


def damaged_json(rng: random.Random, data: bytes) -> bytes:
    """The bytes of a JSON document with one to three of its values changed, or of its bytes."""
    if rng.random() < 0.3:
        return damaged(rng, data)
    document = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        holder, key = rng.choice(list(_places(document)))
        how = rng.randrange(8)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, dict):
            holder[str(key) + rng.choice(("", " ", "x"))] = holder.pop(key)
        elif how == 2:
            other, name = rng.choice(list(_places(document)))
            holder[key] = json.loads(json.dumps(other[name]))
        elif how == 3 and isinstance(holder[key], int | float):
            holder[key] = rng.choice((-holder[key], holder[key] * 10, holder[key] + 1, str(holder[key])))
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))  # the next change may be inside it
        if not document:
            break
    text = json.dumps(document, indent=2)
    how = rng.randrange(30)
    if how == 0:
        text = text.replace("null", "[" * DEEP + "]" * DEEP, 1)
    elif how == 1:  # a key twice
        text = text.replace("{", '{"format": "other", ', 1)
    return text.encode()


def _places(value: Any) -> Any:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
