"""What every rule does."""

import gc
import json
import os
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

from ranksift.collection.examples import Examples
from ranksift.collection.lists import Lists
from ranksift.cutoffs import FixedCutoff, GlobalCutoff
from ranksift.cutoffs.cutoff import MOST_BYTES, RULES, load_cutoff
from ranksift.cutoffs.rules import known_rules
from ranksift.errors import InputError
from ranksift.learning import LambdaMARTf, RankSVM
from tests.forged import hunt


def drawn(queries: int) -> Lists:
    draw = np.random.default_rng(0)
    labels = draw.choice([-4.0, 0, 1, 2], 5 * queries)
    scores = np.maximum(labels, -1) + draw.normal(size=len(labels))
    return Lists.from_arrays(scores, labels, np.repeat(np.arange(queries), 5))


@pytest.mark.parametrize("name", known_rules())
def test_a_fitted_rule_keeps_no_training_data(name):
    lists = drawn(200)
    arrays = [weakref.ref(part) for part in (lists.score, lists.label, lists.query)]
    rule, gone = known_rules()[name]().fit_lists(lists), weakref.ref(lists)
    kept = rule.keep_lists(lists)
    del lists
    gc.collect()
    assert gone() is None
    assert [part() for part in arrays] == [None] * 3
    assert np.array_equal(rule.keep_lists(drawn(200)), kept)
    for curve in ("thresholds_", "values_", "curve_"):  # the measure, or the risk, at every cut: part of the result
        vars(rule).pop(curve, None)
    assert len(pickle.dumps(rule)) < 5_000


def test_nor_does_a_ranker_with_a_cutoff():
    x = np.random.default_rng(0).normal(size=(400, 2))
    examples = Examples.from_arrays(x, x[:, 0].round(), np.repeat(np.arange(80), 5))
    model = RankSVM().fit(examples).fit_cutoff(examples)
    gone = weakref.ref(examples)
    del examples
    gc.collect()
    assert gone() is None
    vars(model.cutoff_).pop("thresholds_")
    vars(model.cutoff_).pop("values_")
    assert len(model.tradeoff_) <= 500  # however many documents there are
    model.tradeoff_ = None
    assert len(pickle.dumps(model)) < 5_000


def test_nor_does_a_ranker_that_checked_its_cut():
    draw = np.random.default_rng(0)
    x = draw.normal(size=(4000, 2))
    labels = np.where(x[:, 0] + draw.normal(size=4000) > 0, 1, -1)
    examples = Examples.from_arrays(x, labels, np.repeat(np.arange(800), 5))
    model = LambdaMARTf(trees=5, gains={-1: -2}).fit(examples)
    gone = weakref.ref(examples)
    del examples
    gc.collect()
    assert gone() is None
    assert len(model.cut_choice_.comparison.lists.score) == 0


class TestFilesOfStrangers:
    """What :func:`load_cutoff` does with files that nobody of us wrote."""

    def test_forged_files_are_refused_or_are_rules(self):
        counts, failures = hunt("tests.cutoffs.forged_cutoffs", cases=1500, seed=0)
        assert not failures
        assert counts["refused"] > 500
        assert counts["read"] > 100

    @pytest.mark.parametrize(
        ("key", "value", "fault"),
        [
            ("threshold", "true", "threshold is True, and not a number"),
            ("threshold", "[" * 100_000 + "]" * 100_000, "is not JSON .it is nested too deeply"),
            ("threshold", str(10**400), "is not JSON .*is too large a number"),
            ("threshold", "1e999", "is not JSON .1e999 is not a finite number"),
            ("threshold", '0.5, "threshold": 0.7', "is not JSON .'threshold' occurs twice"),
            ("parameters", "[1]", "is damaged"),
            ("notes", '"abc"', "notes is not a list of texts"),
            ("notes", '["\\ud800"]', "is not JSON"),
            ("rule", "[[]]", r"has the unknown rule \[\[\]\]"),
        ],
    )
    def test_wrong_kinds(self, tmp_path, key, value, fault):
        path = tmp_path / "cutoff.json"
        known = GlobalCutoff().fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"]).to_dict()
        path.write_text(json.dumps({**known, key: "HERE"}).replace('"HERE"', value))
        with pytest.raises(InputError, match=f"cutoff.json: .*{fault}"):
            load_cutoff(path)

    @pytest.mark.parametrize("scores", ["[1, 2, 3, 4, null]", '[1, 2, 3, 4, "5"]', "[5, 4, 3, 2, 1]", '"12345"', "[1]"])
    def test_scores_that_it_was_fitted_on_are_none(self, tmp_path, scores):
        path = tmp_path / "cutoff.json"
        known = GlobalCutoff().fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"]).to_dict()
        known["fitted_on"]["scores"] = "HERE"
        path.write_text(json.dumps(known).replace('"HERE"', scores))
        with pytest.raises(InputError, match="fitted_on does not say which scores"):
            load_cutoff(path)

    def test_another_digit_is_noticed_unless_the_sum_was_deleted_too(self, tmp_path):
        path = tmp_path / "cutoff.json"
        FixedCutoff(2.5).fit([0.9, 4.0, 3.0], [1, -1, 2], ["q", "q", "r"]).save(path)
        path.write_text(path.read_text().replace('"threshold": 2.5', '"threshold": 3.5'))
        remedy = "copy it again; if you changed it on purpose, delete its line 'sum'"
        with pytest.raises(InputError, match=f"cutoff.json: was changed since it was saved; {remedy}"):
            load_cutoff(path)
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if '"sum"' not in line))  # as a file of earlier versions
        assert load_cutoff(path).keep([3.0, 4.0]).tolist() == [False, True]
        load_cutoff(path).save(path)
        assert load_cutoff(path).keep([3.0, 4.0]).tolist() == [False, True]

    @pytest.mark.parametrize("other", [False, "0", None])
    def test_what_is_not_a_number_is_not_the_label_0(self, tmp_path, other):
        known = known_rules()["expected-gain"]().fit_lists(drawn(60)).to_dict()
        at = known["calibration"]["labels"].index(0.0)
        known["calibration"]["labels"][at] = other
        (tmp_path / "cutoff.json").write_text(json.dumps(known))
        with pytest.raises(InputError, match=f"cutoff.json: is damaged .{other!r} stands in a list of numbers"):
            load_cutoff(tmp_path / "cutoff.json")

    def test_other_blanks_are_no_other_content(self, tmp_path):
        path = tmp_path / "cutoff.json"
        GlobalCutoff().fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"]).save(path)
        path.write_text(json.dumps(json.loads(path.read_text())))
        assert load_cutoff(path).keep([0.8, 0.3]).tolist() == [True, False]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
    @pytest.mark.parametrize("kind", ["pipe", "device"])
    def test_what_has_no_end_is_refused(self, tmp_path, kind):
        path = tmp_path / "cutoff.json"
        os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
        code = "import sys; from ranksift import load_cutoff; load_cutoff(sys.argv[1])"
        # In a process of its own: it is ended where it waits for ever.
        ended = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60)
        assert "cutoff.json: is not a regular file; write its contents to a file" in ended.stderr

    def test_a_file_that_is_too_large_is_refused(self, tmp_path):
        path = tmp_path / "cutoff.json"
        with path.open("wb") as file:
            file.truncate(MOST_BYTES + 1)
        with pytest.raises(InputError, match="is larger than 64,000,000 bytes"):
            load_cutoff(path)


@pytest.mark.parametrize("word", sorted(RULES))
def test_a_rule_shows_what_matters(word):
    rule = RULES[word](0.5) if word == "fixed" else RULES[word]()
    assert repr(rule) == str(rule) == ("FixedCutoff(threshold=0.5)" if word == "fixed" else f"{type(rule).__name__}()")
    assert "not fitted" in rule._repr_html_()
    rule.fit_lists(Lists.from_arrays([0.9, 0.4, 0.7, 0.2] * 9, [1, -1, 2, -1] * 9, np.arange(36) // 4))
    assert repr(rule).startswith(f"<{type(rule).__name__}: keep ")
    assert repr(rule).endswith("; fitted to 9 queries>")
    assert "float(" not in repr(rule)
    assert "36 documents" in rule._repr_html_()


def test_a_fitted_cutoff_shows_its_threshold():
    rule = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"])
    assert repr(rule) == "<GlobalCutoff: keep score >= 0.7; fitted to 2 queries>"
    assert "<td>score &gt;= 0.7</td>" in rule._repr_html_()
