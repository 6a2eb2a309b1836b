"""What was saved when a model was a flat folder still loads, and says the same."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift.learning import RankSVM, tune

SAVED = Path(__file__).parent / "saved_before"
KNOWN = json.loads((SAVED / "known.json").read_text())


@pytest.fixture(scope="module")
def examples() -> rs.Examples:
    return rs.read_examples(SAVED / "examples.csv")


@pytest.mark.parametrize("name", KNOWN["scores"])
def test_a_model_scores_and_cuts_as_it_did(name, examples, tmp_path):
    model = rs.load(SAVED / name)
    np.testing.assert_allclose(model.score(examples), KNOWN["scores"][name], rtol=0, atol=1e-12)
    assert len(model.rank(examples)) == KNOWN["ranked"][name]
    model.save(tmp_path / "again")
    again = rs.load(tmp_path / "again")
    assert np.array_equal(again.score(examples), model.score(examples))
    assert again.card_ == model.card_


def test_a_cutoff_keeps_what_it_kept():
    cutoff = rs.load_cutoff(SAVED / "risk.json")
    assert cutoff.keep(KNOWN["scores"]["RankSVM"]).tolist() == KNOWN["kept by risk.json"]
    assert cutoff.to_dict() == json.loads((SAVED / "risk.json").read_text())


def test_a_search_goes_on_from_its_trials(examples, tmp_path):
    shutil.copy(SAVED / "trials", tmp_path / "trials")
    found = tune(RankSVM(gains="-1=-3"), examples, space={"C": [0.001, 1, 10]}, folds=2, storage=tmp_path / "trials")
    assert (tmp_path / "trials").read_bytes() == (SAVED / "trials").read_bytes()  # nothing was tried again
    assert found.to_dict() == rs.load(SAVED / "tuned").card_["tuning"] | {"sampler": "random"}  # there was no other
