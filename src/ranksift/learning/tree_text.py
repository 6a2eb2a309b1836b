"""LightGBM's text of trees, from whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ranksift.collection.ragged import Floats

_HEAD = {
    *("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective"),
    *("average_output", "feature_names", "feature_infos", "tree_sizes"),
}
_OF_SPLITS = (
    *("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child"),
    *("internal_value", "internal_weight", "internal_count"),
)
_OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
_END = "end of trees\n"
# A split of numbers: which way missing ones go, and what is missing.
_DECISIONS = (0, 2, 4, 6, 8, 10)


def trees_alone(text: str) -> str:
    """The text without what is said of how the trees were grown: LightGBM does not need it, and trusts it too."""
    trees, end, _ = text.partition(_END)
    return trees + end


def check_trees(text: str, features: int, outputs: int) -> None:
    r"""Refuse a text that LightGBM would not have written for this many features and outputs.

    LightGBM trusts what it reads: a wrong length ends the program, and a split on a feature that is not there reads
    memory that is none of its business.

    Examples
    --------
    >>> check_trees("tree\nversion=v4\n\nend of trees\n", 3, 1)
    Traceback (most recent call last):
    ValueError: trees: no line of tree_sizes
    """
    head, blank, _ = text.partition("\n\n")
    given = _lines(head.removeprefix("tree\n"))
    _require(text.startswith("tree\n") and text.isascii(), "trees: no text of trees")
    _require("tree_sizes" in given, "trees: no line of tree_sizes")
    _require(given.keys() <= _HEAD, "trees: an unknown line")
    for name, value in (("num_tree_per_iteration", outputs), ("num_class", outputs), ("max_feature_idx", features - 1)):
        _require(given.get(name) == str(value), f"trees: {name} is not {value}")
    for name in ("feature_names", "feature_infos"):
        _require(len(given.get(name, "").split()) == features, f"trees: {name} is not of {features} features")
    at = len(head) + len(blank)
    sizes = [int(size) for size in given["tree_sizes"].split()]
    _require(len(sizes) % outputs == 0 and min(sizes, default=1) > 0, "trees: too few, or without a size")
    for number, size in enumerate(sizes):
        tree = text[at : at + size]
        at += size
        _require(tree.startswith(f"Tree={number}\n") and tree.endswith("\n\n\n"), f"tree {number}: not of its size")
        _check_tree(number, _lines(tree.rstrip("\n")), features)
    _require(text.startswith(_END, at), "trees: no end")


def _check_tree(number: int, given: Mapping[str, str], features: int) -> None:
    leaves = int(given.get("num_leaves", "0"))
    found = {name: _numbers(given, name) for name in (*_OF_SPLITS, *_OF_LEAVES)}
    lengths = dict.fromkeys(_OF_SPLITS, leaves - 1) | dict.fromkeys(_OF_LEAVES, leaves)
    if leaves == 1:
        lengths["leaf_weight"] = len(found["leaf_weight"])
    fits = leaves > 0 and all(len(values) == lengths[name] for name, values in found.items())
    plain = (given.get("num_cat"), given.get("is_linear")) == ("0", "0") and len(given) == len(found) + 5
    _require(fits and plain, f"tree {number}: not as LightGBM writes one")
    left, right, splits = found["left_child"], found["right_child"], np.arange(leaves - 1)
    # Every leaf and every split but the first has one parent, which stands before it.
    children = np.sort(np.concatenate((left, right)))
    proper = np.array_equal(children, np.concatenate((np.arange(-leaves, 0), splits[1:]))) if leaves > 1 else True
    proper = proper and bool(((left < 0) | (left > splits)).all() and ((right < 0) | (right > splits)).all())
    proper = proper and bool(np.isin(found["split_feature"], np.arange(features)).all())
    proper = proper and bool(np.isin(found["decision_type"], _DECISIONS).all())
    _require(proper and np.isfinite(found["leaf_value"]).all(), f"tree {number}: no tree of these features")
    float(given["shrinkage"])


def _lines(text: str) -> dict[str, str]:
    """Names and values of lines."""
    parts = [line.partition("=") for line in text.split("\n")]
    found = {name: value for name, _, value in parts}
    _require(len(found) == len(parts), "trees: a line stands there twice")
    return found


def _numbers(given: Mapping[str, str], name: str) -> Floats:
    return np.array(given.get(name, "?").split(), dtype=np.float64)


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(what)
