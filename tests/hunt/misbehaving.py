"""Readers with one fault each, so that a test can see whether the hunt notices it."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from ranksift.errors import InputError
from tests.hunt.formats import FORMATS

FAULTY = "trec"  # the format with which they go wrong


def _well(kind: str, folder: Path) -> Any:
    return FORMATS[kind].read(folder)


def crashes(kind: str, folder: Path) -> Any:
    if kind == FAULTY:
        os.kill(os.getpid(), signal.SIGSEGV)
    return _well(kind, folder)


def hangs(kind: str, folder: Path) -> Any:
    if kind == FAULTY:
        time.sleep(3600)
    return _well(kind, folder)


def raises(kind: str, folder: Path) -> Any:
    if kind == FAULTY:
        raise KeyError("label")
    return _well(kind, folder)


def says_two_lines(kind: str, folder: Path) -> Any:
    if kind == FAULTY:
        error = InputError("damaged", source=str(folder))
        error.args = (f"{error}\nand more",)
        raise error
    return _well(kind, folder)


def names_no_file(kind: str, folder: Path) -> Any:
    if kind == FAULTY:
        raise InputError("damaged")
    return _well(kind, folder)


def chatters(kind: str, folder: Path) -> Any:
    if kind == FAULTY:
        os.write(sys.stderr.fileno(), b"thread '<unnamed>' panicked\n")
    return _well(kind, folder)


def refuses_everything(kind: str, folder: Path) -> Any:
    raise InputError("damaged", source=str(folder))


def differs(kind: str, folder: Path) -> Any:
    found = _well(kind, folder)
    if kind == FAULTY:
        first = next(iter(found.values()))
        first["AP"] += 1e-6
    return found


def is_a_little_off(kind: str, folder: Path) -> Any:
    """With every format."""
    return _nudged(_well(kind, folder))


def _nudged(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _nudged(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_nudged(v) for v in value]
    if isinstance(value, bool):
        return not value
    return value * (1 + 1e-6) + 1e-6 if isinstance(value, int | float) else value


def answers_everything(kind: str, folder: Path) -> Any:
    try:
        return _well(kind, folder)
    except InputError:
        return {"q1": {"AP": 0.0}}
