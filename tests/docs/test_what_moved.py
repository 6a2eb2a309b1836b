"""Every old spelling that the page lists works, and its warning says what the page says."""

import re
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranksift as rs
from ranksift._moved import MOVED

PAGE = Path(__file__).resolve().parents[2] / "docs" / "what-moved.md"
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", PAGE.read_text(), re.M)


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    """What the spellings are made of."""
    draw = np.random.default_rng(0)
    groups, labels = np.repeat(np.arange(60), 4), draw.choice([-5, 1, 2], 240)
    scores = np.maximum(labels, -1) + draw.normal(0, 1, 240)
    ids = [(f"q{group}", f"d{i}") for i, group in enumerate(groups.tolist())]
    qrels: dict[str, dict[str, float]] = {query: {} for query, _ in ids}
    run: dict[str, dict[str, float]] = {query: {} for query, _ in ids}
    for (query, doc), label, score in zip(ids, labels.tolist(), scores.tolist(), strict=True):
        qrels[query][doc], run[query][doc] = label, score
    return {
        "rs": rs,
        "features": scores[:, None],
        "scores": scores,
        "labels": labels,
        "groups": groups,
        "qrels": qrels,
        "run": run,
        "lists": rs.Lists.from_run(qrels, run),
        "cutoff": rs.GlobalCutoff("nDCG_f@3").fit(scores, labels, groups),
    }


def done(code: str, given: dict[str, Any]) -> Any:
    """What a spelling gives: the value of an expression, or what an import imports."""
    if not code.startswith("from "):
        return eval(compile(code, "user.py", "eval"), dict(given))
    found: dict[str, Any] = {}
    exec(compile(code, "user.py", "exec"), found)
    return found[code.rpartition(" ")[2]]


@pytest.mark.parametrize(("old", "new"), ROWS, ids=[old for old, _ in ROWS])
def test_an_old_spelling_works_and_warns(old: str, new: str, given: dict[str, Any]):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = done(old, given)
    warning = next(iter(caught))
    assert [w.category for w in caught] == [rs.RankSiftWarning]
    assert (warning.filename, warning.lineno) == ("user.py", 1)
    named = re.fullmatch(r"(.+) is an old spelling; write (.+)", str(warning.message))
    assert named is not None
    assert named[1] in old.replace("rs.", "")
    assert re.sub(r"test=\((.*)\)\)$", r"test=\1)", named[2]) in new.replace("rs.", "")
    after = done(new, given)  # where a warning is an error
    assert before is after or repr(before) == repr(after)


def test_the_page_has_every_path_that_moved():
    listed = {
        tuple(re.sub(r"^from (\S+) import (\S+)$", r"\1.\2", code) for code in row)
        for row in ROWS
        if row[0].startswith("from ")
    }
    assert listed == set(MOVED.items())


def test_a_module_that_is_no_more_has_nothing_else_in_it():
    with pytest.raises(ImportError, match=r"cannot import name 'join' from 'ranksift\.collection\.judged'"):
        from ranksift.collection.judged import join  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'ranksift\.collection\.sheet'"):
        import_module("ranksift.collection.sheet")


def test_the_page_is_read():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and line != "| old | new |"]
    assert len(ROWS) == len(lines) > 0
