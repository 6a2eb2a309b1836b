"""LightGBM's text of trees, from whoever wrote it."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

_END = "end of trees\n"

# Numbers as LightGBM writes them. Python and numpy read more spellings than its parser does, and the other way round,
# so a spelling that it would not have written is refused before anything reads the number.
_COUNT = "(?:0|[1-9][0-9]{0,9})"
_INTEGER = f"(?:-?{_COUNT})"
_DECIMAL = r"(?:-?(?:0|[1-9][0-9]{0,16})(?:\.[0-9]{1,21})?(?:e[+-][0-9]{2,3})?)"
# What is not needed to score documents may have overflowed while the trees were grown.
_LOOSE = f"(?:{_DECIMAL}|-?inf|-?nan)"
# Of a feature: nothing if it is the same for all documents.
_RANGE = rf"(?:none|\[{_DECIMAL}:{_DECIMAL}\])"


def _row(number: str) -> str:
    """Numbers with one space between two, or nothing."""
    return f"((?:{number}(?: {number})*+)?)"


_HEAD = re.compile(
    "tree\nversion=v[34]\n"
    f"num_class=({_COUNT})\nnum_tree_per_iteration=({_COUNT})\nlabel_index=0\nmax_feature_idx=({_INTEGER})\n"
    "(?:objective=regression\n)?(?:average_output\n)?"
    f"feature_names=(.*)\nfeature_infos={_row(_RANGE)}\n"
    f"tree_sizes={_row(_COUNT)}\n\n"
)
_OF_SPLITS = {
    "split_feature": _COUNT,
    "split_gain": _LOOSE,
    "threshold": _DECIMAL,
    "decision_type": _COUNT,
    "left_child": _INTEGER,
    "right_child": _INTEGER,
}
_OF_LEAVES = {"leaf_value": _DECIMAL, "leaf_weight": _LOOSE, "leaf_count": _COUNT}
_OF_SPLITS_TOO = {"internal_value": _LOOSE, "internal_weight": _LOOSE, "internal_count": _COUNT}
_ROWS = {**_OF_SPLITS, **_OF_LEAVES, **_OF_SPLITS_TOO}
_TREE = re.compile(
    f"Tree=({_COUNT})\nnum_leaves=({_COUNT})\nnum_cat=0\n"
    + "".join(f"{name}={_row(number)}\n" for name, number in _ROWS.items())
    + f"is_linear=0\nshrinkage={_DECIMAL}\n\n\n"
)
# A split of numbers: which way missing ones go, and what is missing.
_DECISIONS = (0, 2, 4, 6, 8, 10)
# LightGBM counts with 32 bits. Its own leaves are no larger than that number, and sums of them stay finite.
_MOST, _LARGEST = 2**31 - 1, 1e300


def trees_alone(text: str) -> str:
    """The text without what is said of how the trees were grown: LightGBM does not need it, and trusts it too."""
    trees, end, _ = text.partition(_END)
    return trees + end


def check_trees(text: str, features: int, outputs: int) -> None:
    r"""Refuse a text that LightGBM would not have written for this many features and outputs.

    LightGBM trusts what it reads: a wrong length ends the program, and a split on a feature that is not there reads
    memory that does not belong to it.

    Examples
    --------
    >>> check_trees("tree\nversion=v4\n\nend of trees\n", 3, 1)
    Traceback (most recent call last):
    ValueError: trees: the head is not as LightGBM writes it
    """
    head = _HEAD.match(text)
    if head is None:
        raise ValueError("trees: the head is not as LightGBM writes it")
    classes, a_round, last, names, infos, listed = head.groups()
    _require(classes == a_round == str(outputs), f"trees: not of {outputs} outputs")
    _require(last == str(features - 1), f"trees: max_feature_idx is not {features - 1}")
    known = names == " ".join(f"Column_{number}" for number in range(features))
    _require(known and _length(infos) == features, f"trees: not of {features} features")
    sizes = [int(size) for size in listed.split()]
    _require(outputs > 0 and len(sizes) % outputs == 0, "trees: too few")
    at, largest = head.end(), 0.0
    for number, size in enumerate(sizes):
        # It stands where LightGBM will look for it, and ends there.
        tree = _TREE.fullmatch(text, at, at + size)
        if tree is None:
            raise ValueError(f"tree {number}: not as LightGBM writes one, or not of its size")
        at += size
        largest += _checked_tree(number, tree, features)
    _require(text.startswith(_END, at), "trees: no end")
    _require(largest <= _LARGEST, "trees: sums of their leaves are not finite")


def _checked_tree(number: int, tree: re.Match[str], features: int) -> float:
    """Refuse what is not a tree of these features; the largest value of a leaf."""
    place, count, *rows = tree.groups()
    leaves, given = int(count), dict(zip(_ROWS, rows, strict=True))
    lengths = dict.fromkeys((*_OF_SPLITS, *_OF_SPLITS_TOO), leaves - 1) | dict.fromkeys(_OF_LEAVES, leaves)
    if leaves == 1 and not given["leaf_weight"]:  # it has none if nothing was learned
        lengths["leaf_weight"] = 0
    fits = leaves > 0 and all(_length(row) == lengths[name] for name, row in given.items())
    _require(fits and place == str(number), f"tree {number}: not as LightGBM writes one, or not of its size")
    integers, decimals = (partial(np.fromstring, dtype=dtype, sep=" ") for dtype in (np.int64, np.float64))
    left, right, splits = integers(given["left_child"]), integers(given["right_child"]), np.arange(leaves - 1)
    # Every leaf and every split but the first has one parent, which stands before it.
    children = np.sort(np.concatenate((left, right)))
    proper = np.array_equal(children, np.concatenate((np.arange(-leaves, 0), splits[1:]))) if leaves > 1 else True
    proper = proper and bool(((left < 0) | (left > splits)).all() and ((right < 0) | (right > splits)).all())
    proper = proper and bool((integers(given["split_feature"]) < features).all())
    proper = proper and bool(np.isin(integers(given["decision_type"]), _DECISIONS).all())
    counts = np.concatenate((integers(given["leaf_count"]), integers(given["internal_count"])))
    proper = proper and bool((counts <= _MOST).all() and np.isfinite(decimals(given["threshold"])).all())
    largest = float(np.abs(decimals(given["leaf_value"])).max())
    _require(proper and np.isfinite(largest), f"tree {number}: not a tree of these features")
    return largest


def _length(row: str) -> int:
    return row.count(" ") + 1 if row else 0


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(what)
