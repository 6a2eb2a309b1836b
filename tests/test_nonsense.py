"""Nonsense in the place of an argument of a public function is refused in one line, whatever it is."""

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

import ranksift as rs
from ranksift import datasets, study
from ranksift.collection.texts import CONTEXT
from ranksift.errors import InputError
from ranksift.learning import FocusedSVM, load, losses, three_parts, topk_truth, tune
from ranksift.learning.svm import RankSVM

QRELS, RUNS = datasets.synthetic_collection(queries=6, seed=1)
RUN = RUNS["weak"]
SCORES = rs.evaluate(QRELS, RUNS, ["nDCG@5", "AP"])
LISTS = rs.Lists.from_run(QRELS, RUN)
RULE = rs.GlobalCutoff().fit_lists(LISTS)
TEXTS = pl.DataFrame({"question": ["a?", "b?"], "answer": ["x", "y"], "label": [1, 0]})
EXAMPLES = rs.Examples.from_arrays(np.arange(24.0).reshape(12, 2), np.arange(12) % 3, np.repeat(np.arange(4), 3))

#: Public functions, what they are called with, and the arguments in the place of which nonsense is to be refused.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "load": (load, {"folder": "missing"}, "folder"),
    "load_cutoff": (rs.load_cutoff, {"path": "missing"}, "path"),
    "read_qrels": (rs.read_qrels, {"source": QRELS}, "source"),
    "Run.save": (RUN.save, {}, "target"),
    "evaluate": (rs.evaluate, {"qrels": QRELS, "runs": RUN, "measures": "AP"}, "qrels runs measures progress gains"),
    "compare": (rs.compare, {"scores": SCORES}, "scores test samples seed alpha"),
    "check": (rs.check, {"qrels": QRELS, "run": RUN, "require": "AP>0"}, "require allow_empty alpha"),
    "explain": (rs.explain, {"qrels": QRELS, "run": RUN, "measure": "AP"}, "qrels run measure worst"),
    "calibrate": (rs.calibrate, {"scores": [0.1, 0.9], "labels": [0, 1]}, "scores labels method"),
    "reliability_diagram": (
        rs.reliability_diagram,
        {"probabilities": [0.1, 0.9], "outcomes": [0, 1]},
        "probabilities outcomes bins by",
    ),
    "audit": (rs.audit, {"cutoff": RULE, "lists": LISTS}, "cutoff lists worst any_scale"),
    "compare_cutoffs": (rs.compare_cutoffs, {"lists": LISTS, "rules": ["global"]}, "lists k folds seed progress"),
    "stability": (study.stability, {"scores": SCORES}, "scores samples fuzziness seed fuzz counts"),
    "sensitivity": (study.sensitivity, {"scores": SCORES}, "scores samples seed method"),
    "reliability": (study.reliability, {"scores": SCORES}, "scores samples seed confidence"),
    "agreement": (study.agreement, {"scores": SCORES}, "scores over_k"),
    "discrimination": (study.discrimination, {"scores": SCORES}, "scores over_k samples seed"),
    "truncation": (study.truncation, {"qrels": QRELS, "runs": RUNS, "nil": "end"}, "qrels runs pairs progress cache"),
    "penalty_sweep": (study.penalty_sweep, {"qrels": QRELS, "runs": RUNS}, "qrels runs labels progress"),
    "boundedness": (study.boundedness, {"qrels": QRELS, "runs": RUNS}, "qrels partial progress"),
    "on_queries": (study.on_queries, {"scores": SCORES, "queries": [SCORES.queries[0]]}, "scores queries"),
    "survey": (study.survey, {"scores": SCORES}, "scores only parameters preset seed"),
    "preset": (study.preset, {"name": "bounds-2022"}, "name"),
    "synthetic_collection": (datasets.synthetic_collection, {}, "queries depth judged forbidden systems seed"),
    "synthetic_safety": (datasets.synthetic_safety, {}, "queries depth judged forbidden seed"),
    "product_reviews": (datasets.product_reviews, {}, "products seed"),
    "synthetic_forum": (datasets.synthetic_forum, {}, "threads seed noise"),
    "carmel_cqa": (datasets.carmel_cqa, {"file": "missing.csv"}, "file labels skip_bad_rows"),
    "wikiqa": (datasets.wikiqa, {"folder": "missing"}, "folder"),
    "semeval2015_threads": (datasets.semeval2015_threads, {"folder": "missing"}, "folder"),
    "read_examples": (rs.read_examples, {"source": TEXTS}, "source features labels skip_bad_rows"),
    "from_texts": (
        rs.Examples.from_texts,
        {"queries": ["a?"], "docs": ["x"]},
        "queries docs labels groups features feature_names doc_ids position author time parent asker",
    ),
    "three_parts": (three_parts, {"examples": EXAMPLES}, "examples shares seed groups"),
    "write_collection": (datasets.write_collection, {"qrels": QRELS, "runs": RUNS, "folder": "x"}, "qrels folder"),
    "mq2008": (datasets.mq2008, {"folder": "missing", "fold": 1}, "folder fold"),
    "tune": (
        tune,
        {"ranker": RankSVM(), "examples": EXAMPLES},
        "ranker examples space trials sampler storage progress",
    ),
    "bce": (losses.bce, {"scores": torch.zeros(2), "gains": [1.0, 0.0]}, "scores gains"),
    "loss_of": (losses.loss_of, {"spec": "bce"}, "spec"),
}

NONSENSE = [None, -5, 10**30, 2.5, b"x", object(), np.zeros((2, 2, 2)), [None], {"x": object()}, "x" * 5000]

# What is sensible all the same: an argument may be left out, or a number may be one.
SENSIBLE = {
    ("penalty_sweep", "labels"): [None],
    ("truncation", "pairs"): [None],
    ("truncation", "cache"): [None, "x" * 5000],  # what cannot be kept is computed again
    ("tune", "storage"): [None],
    ("tune", "space"): [None],
    ("survey", "scores"): [None],
    ("survey", "only"): [None],
    ("survey", "parameters"): [None],
    ("survey", "preset"): [None],
    ("stability", "fuzziness"): [2.5, 10**30],
    ("read_examples", "features"): [None],
    ("read_examples", "labels"): [None],
    ("three_parts", "groups"): [None],
    **{
        ("from_texts", name): [None, [None]]
        for name in ("labels", "groups", "features", "feature_names", "doc_ids", *CONTEXT)
    },
    ("synthetic_collection", "judged"): [2.5],
    ("synthetic_safety", "judged"): [2.5],
}


@pytest.mark.parametrize("called", CALLS)
def test_nonsense_is_refused_in_one_line(called: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, valid, names = CALLS[called]
    for name in names.split():
        for value in NONSENSE:
            if any(value is other or (type(value) is type(other) and value == other) for other in
                   SENSIBLE.get((called, name), [])):  # fmt: skip
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with pytest.raises(InputError) as refused:
                    function(**{**valid, name: value})
            assert "\n" not in str(refused.value)
            assert len(str(refused.value)) < 1300
    assert not list(tmp_path.iterdir())


def test_a_number_is_not_taken_for_an_open_file(tmp_path):
    (tmp_path / "open").write_text("{}")
    with (tmp_path / "open").open() as file:
        with pytest.raises(InputError, match=r"path=\d+ is not a path"):
            rs.load_cutoff(file.fileno())  # type: ignore[arg-type]
        os.fstat(file.fileno())  # it is still open


def test_a_top_of_more_documents_than_there_are_is_all_of_them():
    model, same = (FocusedSVM(k=k).fit(EXAMPLES) for k in (1_000_000, 999_999))
    assert np.isfinite(model.score(EXAMPLES)).all()
    assert np.isfinite(same.score(EXAMPLES)).all()
    with pytest.raises(InputError, match="k=4611686018427387904 is too large; give 1000000 at most"):
        FocusedSVM(k=2**62).fit(EXAMPLES)
    with pytest.raises(InputError, match="k=4611686018427387904 is too large"):
        topk_truth(EXAMPLES, 2**62)


def test_warnings_name_the_line_of_the_caller():
    gains = {"gains": {99: 1}}
    values = np.full((2, 3, 2), 1e-300) * [[[1]], [[2]]]
    flat = rs.Scores.from_array(values, runs=["a", "b"], queries=["p", "q", "r"], measures=["AP", "RR"])
    calls: list[Callable[[], Any]] = [
        lambda: rs.evaluate(QRELS, RUN, "AP", **gains),
        lambda: rs.check(QRELS, RUN, "AP>0", **gains),
        lambda: study.agreement(flat),
    ]
    for call in calls:
        with pytest.warns(rs.RankSiftWarning) as heard:
            call()
        assert {warning.filename for warning in heard} == {__file__}
