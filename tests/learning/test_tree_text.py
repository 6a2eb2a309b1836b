"""Trees from strangers: LightGBM trusts what it reads, so nothing reaches it that it would not have written."""

import hashlib
import json
import re

import numpy as np
import pytest

from ranksift import Examples
from ranksift.errors import InputError
from ranksift.learning import BoostedTrees, ExpectedGainRanker, LambdaMART, LambdaMARTf, RandomForests
from ranksift.learning.saved_model import load
from ranksift.learning.tree_text import check_trees, trees_alone


@pytest.fixture(scope="module")
def examples():
    x = np.random.default_rng(0).normal(size=(200, 3))
    return Examples.from_arrays(x, x[:, 0].round().clip(-1, 2), np.repeat(np.arange(20), 10))


@pytest.fixture(scope="module")
def text(examples):
    return LambdaMART(trees=3, leaves=4).fit(examples)._texts[0]


def resized(text: str) -> str:
    """The same text with the sizes that its trees have."""
    head, _, rest = text.partition("\n\n")
    body, end, tail = rest.partition("end of trees")
    sizes = " ".join(str(len(tree)) for tree in re.split("(?=Tree=)", body)[1:])
    return re.sub("tree_sizes=.*", f"tree_sizes={sizes}", head) + "\n\n" + body + end + tail


@pytest.mark.parametrize(
    "model",
    [
        LambdaMART(trees=3),
        LambdaMARTf(trees=3),
        RandomForests(trees=3),
        RandomForests(trees=3, min_documents=200),  # a leaf is all that there is of a tree
        BoostedTrees("ordinal", trees=3),
        ExpectedGainRanker(options={"trees": 3}),
    ],
)
def test_what_lightgbm_writes_is_read(examples, model, tmp_path):
    fitted = model.fit(examples)
    fitted.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").score(examples), fitted.score(examples))


@pytest.mark.parametrize(
    ("pattern", "replacement", "what"),
    [
        ("tree_sizes=.*", "tree_sizes=9 9 9", "tree 0: not of its size"),
        ("tree_sizes=.*\n", "", "no line of tree_sizes"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=99999", "num_tree_per_iteration is not 1"),
        ("max_feature_idx=2", "max_feature_idx=200", "max_feature_idx is not 2"),
        ("(split_feature=).", r"\g<1>7", "tree 0: no tree of these features"),
        ("(split_feature=).", r"\g<1>-1", "tree 0: no tree of these features"),
        ("(left_child=)-?[0-9]+", r"\g<1>999999", "tree 0: no tree of these features"),
        ("(left_child=)-?[0-9]+", r"\g<1>0", "tree 0: no tree of these features"),  # its own parent
        ("(decision_type=).", r"\g<1>1", "tree 0: no tree of these features"),  # of categories
        ("(leaf_value=)[^ ]*", r"\g<1>nan", "tree 0: no tree of these features"),
        ("num_leaves=[0-9]+", "num_leaves=400000", "tree 0: not as LightGBM writes one"),
        ("num_cat=0", "num_cat=7", "tree 0: not as LightGBM writes one"),
        ("(leaf_weight=)[^ ]* ", r"\g<1>", "tree 0: not as LightGBM writes one"),
        ("(threshold=)[^ ]*", r"\g<1>x", "could not convert"),
    ],
)
def test_what_it_would_not_have_written_is_refused(text, pattern, replacement, what):
    check_trees(resized(text), 3, 1)
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    with pytest.raises(ValueError, match=what):
        check_trees(changed if "tree_sizes" in pattern else resized(changed), 3, 1)


def test_how_trees_were_grown_is_not_read(text):
    assert "parameters:" in text
    assert trees_alone(text).endswith("end of trees\n")


def test_a_model_of_a_stranger(examples, tmp_path):
    LambdaMART(trees=3).fit(examples).save(tmp_path / "model")
    (trees,), card = (tmp_path / "model").glob("*/trees.txt"), tmp_path / "model" / "model.json"
    trees.write_text(resized(re.sub("left_child=.*", "left_child=0", trees.read_text(), count=1)))
    known = json.loads(card.read_text())
    known["files"]["trees.txt"] = hashlib.sha256(trees.read_bytes()).hexdigest()
    card.write_text(json.dumps(known))
    with pytest.raises(InputError, match=r"model: is damaged \(ValueError: tree 0: not as LightGBM writes one\)"):
        load(tmp_path / "model")
