"""Models from strangers: what the files say has to fit together."""

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from ranksift import Examples, load
from ranksift.errors import InputError
from ranksift.files import with_sum
from ranksift.learning import LambdaMART, RankBoost, RankNet, RankSVM


@pytest.fixture
def examples():
    x = np.random.default_rng(0).normal(size=(40, 3))
    return Examples.from_arrays(x, x[:, 0].round(), np.repeat(np.arange(8), 5))


@pytest.fixture
def model(examples):
    return RankBoost(rounds=3).fit(examples)


def tampered(path, arrays=None, **card):
    """A model of a stranger, whose card knows the files as they are."""
    found = json.loads((path / "model.json").read_text())
    weights = path / found["version"] / "weights.safetensors"
    if arrays is not None:
        save_file(load_file(weights) | arrays, weights)
    found["files"]["weights.safetensors"] = hashlib.sha256(weights.read_bytes()).hexdigest()
    for name, value in card.items():
        found[name] = {**found[name], **value} if isinstance(value, dict) else value
    (path / "model.json").write_text(json.dumps(with_sum(found)))


@pytest.mark.parametrize(
    "card", [{"files": {name: None}} for name in ("../secret", "/etc/passwd", "sub/file")]
    + [{"version": name} for name in ("..", "../other", "/etc", "", 3)],
)  # fmt: skip
def test_files_elsewhere_are_not_read(model, tmp_path, card):
    model.save(tmp_path / "model")
    (tmp_path / "secret").write_text("a secret")
    tampered(tmp_path / "model", **card)
    with pytest.raises(InputError, match=r"model\.json: names .*, which is not in this folder; train"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("kind", "arrays", "card"),
    [
        (RankSVM(), {"weights": np.ones(4)}, {}),
        (RankSVM(), {"weights": np.full(3, np.nan)}, {}),
        (RankSVM(), {"_centre": np.zeros(1)}, {}),
        (RankSVM(), {}, {"feature_names": ["a", "b"]}),
        (RankSVM(), {}, {"feature_names": [1, 2, 3]}),
        (RankSVM(), {}, {"feature_names": ["a", "b", "a"]}),
        (RankSVM(), {}, {"files": None}),
        (RankNet(epochs=2), {"w0": np.ones((5, 3))}, {}),
        (RankNet(epochs=2), {}, {"parameters": {"hidden": [10, 4]}}),
        (RankBoost(rounds=2), {"features": np.array([7, 8])}, {}),
        (LambdaMART(trees=2, min_documents=2), {"start": np.zeros(2)}, {}),
        (LambdaMART(trees=2, min_documents=2), {}, {"parameters": {"context": True}}),
        (LambdaMART(trees=2, min_documents=2), {}, {"parameters": {"num_threads": "x"}}),
    ],
)
def test_parts_that_do_not_belong_together_are_found_out(examples, tmp_path, kind, arrays, card):
    kind.fit(examples).save(tmp_path / "model")
    tampered(tmp_path / "model", arrays, **card)
    with pytest.raises(InputError, match=r"model(.model.json)?: is damaged \(.*\); train the model again"):
        load(tmp_path / "model")


def test_a_card_without_a_version_is_damaged(model, tmp_path):
    model.save(tmp_path / "model")
    card = json.loads((tmp_path / "model" / "model.json").read_text())
    del card["version"]
    (tmp_path / "model" / "model.json").write_text(json.dumps(with_sum(card)))
    with pytest.raises(
        InputError, match=r"model\.json: names None, which is not in this folder; train the model again"
    ):
        load(tmp_path / "model")


def test_a_billion_threads_are_no_more_than_there_are_processors(examples, tmp_path):
    fitted = LambdaMART(trees=2, min_documents=2).fit(examples)
    fitted.save(tmp_path / "model")
    tampered(tmp_path / "model", parameters={"num_threads": 10**9})
    assert np.array_equal(load(tmp_path / "model").score(examples), fitted.score(examples))


@pytest.mark.parametrize("name", ["model.json", "cutoff.json"])
def test_brackets_without_end(model, examples, tmp_path, name):
    model.fit_cutoff(examples).save(tmp_path / "model")
    (file,) = (tmp_path / "model").rglob(name)
    file.write_text("[" * 100_000)
    with pytest.raises(InputError, match=rf"{name}: is not JSON \("):
        load(tmp_path / "model")
