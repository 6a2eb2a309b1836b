"""Folders of models, and storages of searches, that nobody of us wrote."""

import json
import os
import subprocess
import sys

import pytest

import ranksift as rs
from ranksift.errors import InputError
from ranksift.files import with_sum
from ranksift.learning import RankSVM
from tests.forged import hunt


@pytest.fixture
def folder(tmp_path):
    examples = rs.Examples.from_arrays([[0.1], [0.9], [0.3]], [-1, 2, 1], ["q", "q", "q"])
    RankSVM().fit(examples).fit_cutoff(examples).save(tmp_path / "model")
    return tmp_path / "model"


def test_forged_folders_are_refused_or_are_models():
    counts, failures = hunt("tests.learning.forged_cards", cases=300, seed=0)
    assert not failures
    assert counts["refused"] > 100
    assert counts["read"] > 20


def test_forged_storages_of_searches_are_refused_or_end_in_numbers():
    counts, failures = hunt("tests.learning.forged_journals", cases=300, seed=0)
    assert not failures
    assert counts["refused"] > 100
    assert counts["read"] > 50


def test_a_filter_is_not_dropped_in_silence(folder):
    card = folder / "model.json"
    card.write_text(json.dumps(with_sum({**json.loads(card.read_text()), "cutoff": None})))
    with pytest.raises(InputError, match=r"model.json: says that there is no cutoff, and its files say otherwise"):
        rs.load(folder)


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ([], "is damaged"),
        ({"weights.safetensors": 3}, "is damaged"),
        ({"../x": None}, "names"),
    ],
)
def test_files_of_the_card_are_nonsense(folder, files, fault):
    card = folder / "model.json"
    card.write_text(json.dumps(with_sum({**json.loads(card.read_text()), "files": files})))
    with pytest.raises(InputError, match=f"model.json: {fault}"):
        rs.load(folder)


@pytest.mark.parametrize("changed", [{"feature_names": ["2"]}, {"ranksift": "0.0"}, {"sum": None}, {"sum": "0" * 64}])
def test_a_damaged_card_is_noticed(folder, changed):
    card = folder / "model.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), **changed}))
    with pytest.raises(InputError, match=r"model.json: was changed since it was saved; copy the folder again"):
        rs.load(folder)


def test_a_card_that_says_a_thing_twice(folder):
    card = folder / "model.json"
    card.write_text(card.read_text().replace('"model": "RankSVM"', '"model": "RankSVM", "model": "RankNet"'))
    with pytest.raises(InputError, match=r"model.json: is not JSON \('model' occurs twice\)"):
        rs.load(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", ["model.json", "weights.safetensors", "cutoff.json"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_has_no_end_is_refused(folder, name, kind):
    (path,) = folder.rglob(name)
    path.unlink()
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    code = "import sys; import ranksift; ranksift.load(sys.argv[1])"
    # In a process of its own: it is ended where it waits for ever.
    ended = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, timeout=60)
    assert "InputError" in ended.stderr
    assert name in ended.stderr
