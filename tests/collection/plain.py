"""TREC files read line by line and word by word: what the reader is held against. Nothing of the library is used."""

from __future__ import annotations

import math
import re

BLANKS = re.compile("[\t\x0b\x0c\r ]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")

QRELS = (4, 3)  # columns of a line, and which of them is the number
RUN = (6, 4)


class Refused(Exception):  # noqa: N818
    """The file is not acceptable."""


def read(data: bytes, kind: tuple[int, int]) -> dict[str, dict[str, float]]:
    """``{query: {document: number}}`` in the order of the file."""
    count, number = kind
    try:
        text = data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if not text.strip("\t\n\x0b\x0c\r ") or CONTROL.search(text):
        raise Refused("no text")
    found: dict[str, dict[str, float]] = {}
    for line in text.split("\n"):
        words = [w for w in BLANKS.split(line) if w]
        if not words or words[0].startswith("#"):
            continue
        if len(words) < count or (len(words) > count and kind == QRELS) or not NUMBER.fullmatch(words[number]):
            raise Refused(line)
        value = float(words[number])
        if not math.isfinite(value) or (kind == QRELS and abs(value) >= 2**53):
            raise Refused(line)
        docs = found.setdefault(words[0], {})
        if words[2] in docs:
            raise Refused(line)
        docs[words[2]] = value
    if kind == QRELS and not found:
        raise Refused("no judgment")
    return found


def ranked(run: dict[str, dict[str, float]]) -> dict[str, list[tuple[str, float]]]:
    """The documents of each query, highest score first, ties by id, last first."""
    return {
        q: sorted(docs.items(), key=lambda item: (item[1], item[0].encode()), reverse=True) for q, docs in run.items()
    }
