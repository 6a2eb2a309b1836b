"""Trees from strangers: LightGBM trusts what it reads, so nothing reaches it that it would not have written."""

import hashlib
import json
import re

import lightgbm
import numpy as np
import pytest

from ranksift import Examples
from ranksift.errors import InputError
from ranksift.files import with_sum
from ranksift.learning import BoostedTrees, ExpectedGainRanker, LambdaMART, LambdaMARTf, RandomForests
from ranksift.learning.saved_model import load
from ranksift.learning.tree_text import check_trees, trees_alone
from tests.forged import hunt
from tests.learning.forged_trees import resized


@pytest.fixture(scope="module")
def examples():
    x = np.random.default_rng(0).normal(size=(200, 3))
    return Examples.from_arrays(x, x[:, 0].round().clip(-1, 2), np.repeat(np.arange(20), 10))


@pytest.fixture(scope="module")
def text(examples):
    return LambdaMART(trees=3, leaves=4).fit(examples)._texts[0]


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


AS_WRITTEN, HEAD = "tree 0: not as LightGBM writes one", "the head is not as LightGBM writes it"
# What Python or numpy take for a number, and LightGBM does not, or takes for another one.
SPELLINGS = [
    ("(split_feature=)[0-9]+", r"\g<1>1000000e-6", AS_WRITTEN),
    ("(split_feature=)[0-9]+", r"\g<1>+1", AS_WRITTEN),
    ("(split_feature=)[0-9]+", r"\g<1>01", AS_WRITTEN),
    ("(split_feature=)[0-9]+", "\\g<1>\u0661", AS_WRITTEN),
    ("(split_feature=[0-9]+) ", "\\g<1>\x0b", AS_WRITTEN),
    ("(split_feature=[0-9]+) ", r"\g<1>  ", AS_WRITTEN),
    ("(split_feature=.*)", "\\g<1>\r", AS_WRITTEN),
    ("(split_feature=)[0-9]+", r"\g<1>4294967296", "tree 0: not a tree of these features"),
    ("num_leaves=([0-9]+)", r"num_leaves=0_\g<1>", AS_WRITTEN),
    ("(left_child=.*)-1", r"\g<1>-0_1", AS_WRITTEN),
    ("(decision_type=)10|(decision_type=)2", "decision_type=1e1", AS_WRITTEN),
    ("(leaf_count=)[0-9]+", r"\g<1>2147483648", "tree 0: not a tree of these features"),
    ("(leaf_count=)[0-9]+", r"\g<1>1e999", AS_WRITTEN),
    ("(threshold=)[^ ]*", r"\g<1>nan", AS_WRITTEN),
    ("(threshold=)[^ ]*", r"\g<1>1e+999", "tree 0: not a tree of these features"),
    ("(threshold=)[^ ]*", r"\g<1>0x1p3", AS_WRITTEN),
    ("(leaf_value=)[^ ]*", r"\g<1>1.7e+308", "sums of their leaves are not finite"),
    ("shrinkage=.*", "shrinkage=0_1", AS_WRITTEN),
    ("shrinkage=(.*)", "shrinkage=\\g<1>\x0c", AS_WRITTEN),
    ("tree_sizes=", "tree_sizes=+", HEAD),
    ("version=v4", "version=v4\x00", HEAD),
    ("label_index=0", "label_index=1e9", HEAD),
    ("(feature_infos=).", r"\g<1>", HEAD),
    ("feature_names=Column_0", "feature_names=Column_9", "not of 3 features"),
    ("num_class=1", "num_class=01", HEAD),
]


@pytest.mark.parametrize(
    ("pattern", "replacement", "what"),
    [
        ("tree_sizes=.*", "tree_sizes=9 9 9", "tree 0: not as LightGBM writes one, or not of its size"),
        ("tree_sizes=.*\n", "", "the head is not as LightGBM writes it"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=99999", "not of 1 outputs"),
        ("max_feature_idx=2", "max_feature_idx=200", "max_feature_idx is not 2"),
        ("(split_feature=).", r"\g<1>7", "tree 0: not a tree of these features"),
        ("(split_feature=).", r"\g<1>-1", "tree 0: not as LightGBM writes one"),
        ("(left_child=)-?[0-9]+", r"\g<1>999999", "tree 0: not a tree of these features"),
        ("(left_child=)-?[0-9]+", r"\g<1>0", "tree 0: not a tree of these features"),  # its own parent
        ("(decision_type=).", r"\g<1>1", "tree 0: not a tree of these features"),  # of categories
        ("(leaf_value=)[^ ]*", r"\g<1>nan", "tree 0: not as LightGBM writes one"),
        ("num_leaves=[0-9]+", "num_leaves=400000", "tree 0: not as LightGBM writes one"),
        ("num_cat=0", "num_cat=7", "tree 0: not as LightGBM writes one"),
        ("(leaf_weight=)[^ ]* ", r"\g<1>", "tree 0: not as LightGBM writes one"),
        ("(threshold=)[^ ]*", r"\g<1>x", "tree 0: not as LightGBM writes one"),
        *SPELLINGS,
    ],
)
def test_what_it_would_not_have_written_is_refused(text, pattern, replacement, what):
    check_trees(resized(text), 3, 1)
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    with pytest.raises(ValueError, match=what):
        check_trees(changed if "tree_sizes" in pattern else resized(changed), 3, 1)


def test_a_long_chain_of_splits_is_read_and_scored():
    # Nothing that reads it may go down from parent to child by calling itself.
    depth = 100_000
    rows = {
        "split_feature": "0",
        "split_gain": "1",
        "threshold": "0.5",
        "decision_type": "2",
        "left_child": " ".join(str(-1 - n) for n in range(depth)),
        "right_child": " ".join([*(str(n) for n in range(1, depth)), str(-1 - depth)]),
        "leaf_value": "0.25",
        "leaf_weight": "1",
        "leaf_count": "1",
        "internal_value": "0",
        "internal_weight": "1",
        "internal_count": "1",
    }
    lengths = {name: depth + name.startswith("leaf") for name in rows}
    lines = [f"{name}={row if ' ' in row else ' '.join([row] * lengths[name])}" for name, row in rows.items()]
    tree = "\n".join([f"Tree=0\nnum_leaves={depth + 1}\nnum_cat=0", *lines, "is_linear=0\nshrinkage=1\n\n\n"])
    head = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=0\n"
    head += f"feature_names=Column_0\nfeature_infos=[0:1]\ntree_sizes={len(tree)}\n\n"
    text = f"{head}{tree}end of trees\n"
    check_trees(text, 1, 1)
    booster = lightgbm.Booster(model_str=trees_alone(text))
    assert booster.predict(np.array([[0.0], [1.0]])).tolist() == [0.25, 0.25]


def test_forged_trees_never_reach_lightgbm():
    # In a process of its own, as what they do to LightGBM is to end it.
    counts, failures = hunt("tests.learning.forged_trees", cases=1500, seed=0)
    assert not failures
    assert counts["refused"] > 1000
    assert counts["read"] > 20


def test_how_trees_were_grown_is_not_read(text):
    assert "parameters:" in text
    assert trees_alone(text).endswith("end of trees\n")


def test_a_model_of_a_stranger(examples, tmp_path):
    LambdaMART(trees=3).fit(examples).save(tmp_path / "model")
    (trees,), card = (tmp_path / "model").glob("*/trees.txt"), tmp_path / "model" / "model.json"
    trees.write_text(resized(re.sub("left_child=.*", "left_child=0", trees.read_text(), count=1)))
    known = json.loads(card.read_text())
    known["files"]["trees.txt"] = hashlib.sha256(trees.read_bytes()).hexdigest()
    card.write_text(json.dumps(with_sum(known)))
    with pytest.raises(
        InputError, match=r"model: is damaged \(ValueError: tree 0: not as LightGBM writes one, or not of its size\)"
    ):
        load(tmp_path / "model")
