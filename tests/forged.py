"""Files that strangers forged: what every hunt for them shares.

A hunt is a module with ``case(number, seed)``, which makes a forged file and tries it. It returns a word for what
became of it and raises for what must not be. Cases run in a process of their own, which writes down each one before it
begins, so that a crash, an abort or a hang of a library is seen, and the case is named.
"""

import argparse
import faulthandler
import importlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

# Seconds after which a case hangs: the slowest one takes a fraction of one.
_HANGS = 60

DEEP = "[" * 100_000 + "]" * 100_000
NASTY = [
    *("null", "true", "false", "0", "-1", "1", "2", "0.5", "-0.0", "1e308", "-1e308", "1e-320", "1e999", "NaN"),
    *("-Infinity", str(10**400), str(2**63), str(2**31), '""', '"inf"', '"nan"', '"-inf"', '"x"', '"1"', '"1_0"'),
    *('"nDCG_f@3"', '"\\u0000"', '"\\ud800"', '"../../x"', '"/etc/passwd"', "[]", "{}", "[[]]", "[1]", '["a"]'),
    *("[1, 2, 3, 4, 5]", "[null]", '{"a": 1}', '{"a": {"b": []}}', "[1, [2, [3]]]", "[NaN, 1]", '["inf"]', "[true]"),
]


class _Raw(str):
    """A value as it is to stand in the text."""


def mutated_json(value: Any, draw: np.random.Generator) -> str:
    """The JSON of a value after one to three changes: nasty values, keys that are gone, stand twice, or are others'."""
    changed = json.loads(json.dumps(value))
    for _ in range(1 + int(draw.integers(3))):
        places = list(_places(changed))
        if not places:
            break
        holder, key = places[int(draw.integers(len(places)))]
        kind = int(draw.integers(8))
        if kind <= 2:
            deep = draw.random() < 0.03
            holder[key] = _Raw(DEEP if deep else NASTY[int(draw.integers(len(NASTY)))])
        elif kind == 3:
            del holder[key]
        elif kind == 4:
            holder[key] = [holder[key]] if draw.random() < 0.5 else {str(key): holder[key]}
        elif kind == 5 and isinstance(holder, dict):
            holder[_Raw(json.dumps(key) + ": " + _text(holder[key]) + ", " + json.dumps(key))] = holder[key]
        elif kind == 6:
            other, its = places[int(draw.integers(len(places)))]
            if its in other if isinstance(other, dict) else its < len(other):
                # Through text, as a value may hold the one that it takes the place of.
                holder[key] = _Raw(_text(other[its]))
        elif isinstance(holder[key], bool | int | float):
            holder[key] = _Raw(repr(float(holder[key]) * float(draw.choice([-1, 0, 1e6, 1e-300, 1e300]))))
    return _text(changed)


def _places(value: Any) -> Any:
    """Every place of a value that can be changed: what holds it, and under which key."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            if not isinstance(key, _Raw):
                yield value, key
                yield from _places(value[key])


def _text(value: Any) -> str:
    if isinstance(value, _Raw):
        return value
    if isinstance(value, dict):
        pairs = (f"{key if isinstance(key, _Raw) else json.dumps(key)}: {_text(v)}" for key, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    return "[" + ", ".join(map(_text, value)) + "]" if isinstance(value, list) else json.dumps(value)


def check_line(error: Exception, source: str) -> None:
    """Fail where a message is not one line that names the file."""
    assert str(error).startswith(source)
    assert "\n" not in str(error)


def mutated_bytes(data: bytes, draw: np.random.Generator) -> bytes:
    """Bytes after one to three changes: flipped, cut off, taken out, doubled."""
    changed = bytearray(data)
    for _ in range(1 + int(draw.integers(3))):
        at, kind = int(draw.integers(len(changed) + 1)), int(draw.integers(5))
        if kind <= 1 and at < len(changed):
            changed[at] = int(draw.integers(256))
        elif kind == 2:
            changed[at : at + int(draw.integers(1, 9))] = b""
        elif kind == 3:
            changed[at:at] = changed[at : at + int(draw.integers(1, 30))]
        else:
            del changed[max(at, 8) :]
    return bytes(changed)


def hunt(module: str, cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Run so many cases of a hunt: what became of them, and what failed, a line each."""
    counts: Counter[str] = Counter()
    failures, first = [], 0
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"
        while first < cases:
            journal.write_text("")
            command = [sys.executable, "-m", "tests.forged", module, str(first), str(cases), str(seed), str(journal)]
            ended = subprocess.run(command, capture_output=True, text=True)
            lines = [line.split("\t", 1) for line in journal.read_text().splitlines()]
            done = [line[1] for line in lines if len(line) == 2]
            counts.update(word for word in done if not word.startswith("FAILED"))
            failures += [f"{module} {seed} {n}: {word}" for n, word in lines_of(lines) if word.startswith("FAILED")]
            first += len(done)
            if ended.returncode or first < cases:
                failures.append(f"{module} {seed} {first}: ended with {ended.returncode}: {ended.stderr[-300:]}")
                first += 1
                if not lines:  # not a case, but the hunt itself
                    break
    return counts, failures


def lines_of(lines: list[list[str]]) -> list[tuple[str, str]]:
    """The lines of a journal that say what became of a case."""
    return [(line[0], line[1]) for line in lines if len(line) == 2]


def main() -> None:
    """Run cases, and write each down: its number as it begins, a word for what became of it as it ends."""
    module, first, last, seed, journal = sys.argv[1:]
    case = importlib.import_module(module).case
    with Path(journal).open("a", buffering=1) as file:
        for number in range(int(first), int(last)):
            faulthandler.dump_traceback_later(_HANGS, exit=True)
            file.write(str(number))
            file.flush()
            try:
                word = case(number, int(seed))
            except Exception as error:
                word = f"FAILED {type(error).__name__}: {str(error)[:300]!r}"
            file.write(f"\t{word}\n")


def command(module: str, description: str | None) -> None:
    """The command of a hunt: ``--cases`` and ``--seed``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts, failures = hunt(module, given.cases, given.seed)
    print(f"{given.cases} cases: {dict(counts)}, {len(failures)} failures")
    print(*failures, sep="\n", end="\n" * bool(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
