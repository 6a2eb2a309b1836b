"""Thresholds of runs that are read in parts: those of the whole, and all that is said of them."""

import json
import warnings

import numpy as np
import pytest

import ranksift as rs
from ranksift import GlobalCutoff, InputError
from ranksift.collection import lists as lists_module
from ranksift.collection._engine import lines
from ranksift.collection.lists import Lists
from ranksift.collection.run_parts import RunParts
from ranksift.cutoffs.baselines import Oracle
from ranksift.cutoffs.comparison import compare_cutoffs
from ranksift.cutoffs.streaming import IN_PARTS, compared_in_parts, fit_in_parts, quantiles, summarised_in_parts
from ranksift.cutoffs.summary import summarised
from tests.evaluation.test_streaming import SORTED, collection, command, write

MEASURES = ("nDCG_f@3", "nDCG_f", "AP", "Fdocs@2", "GoodFiltered", "Empty", "RR_qwa", "NumRet", "P@2", "ERR@5")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 150)


def outcome(work, *given, **how):
    """What the work returns, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work(*given, **how)
        except InputError as error:
            return str(error)


def whole(rule, qrels, run, how, **more):
    judgments, rows = rs.read_qrels(qrels), rs.read_run(run)
    rule.fit_run(judgments, rows, **how)
    return rule, summarised(rule, Lists.from_run(judgments, rows, **how), **more)


def parts(rule, qrels, run, how, **more):
    return rule, summarised_in_parts(rule, rs.read_qrels(qrels), RunParts(run, memory=1), **how, **more)


def said(found):
    """All that a rule and its summary say, in words and numbers to the last bit."""
    if isinstance(found, str):
        return found
    rule, summary = found
    fitted = rule.to_dict()
    fitted["notes"] = [note for note in fitted["notes"] if SORTED not in note]
    return json.dumps([fitted, summary.to_dict(), list(summary.unknown), rule.value_])


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    ("measure", "at_most", "how"),
    [
        *((measure, None, {}) for measure in MEASURES),
        ("nDCG_f@3", None, {"gains": {-2: -10}, "unjudged": "drop"}),
        ("nDCG_f@2", "Empty<=0.5 GoodFiltered<=0.7", {}),
        ("AP", "Fdocs@3<=0.2", {"gains": {-1: -3}}),
        ("AP", "Fdocs@3<=0.0 Empty<=0.0", {}),
    ],
)
def test_it_is_the_threshold_of_the_whole(tmp_path, measure, at_most, how, together):
    thresholds = set()
    for seed in range(5):
        qrels, rows = collection(seed, together=together, nil=False)
        run = write(tmp_path / "r.run", rows)
        of_whole, of_parts = (
            outcome(work, GlobalCutoff(measure, at_most), qrels, run, how, folds=3, samples=50, seed=1)
            for work in (whole, parts)
        )
        assert said(of_parts) == said(of_whole)
        thresholds.add(of_whole if isinstance(of_whole, str) else of_whole[0].threshold_)
    assert len(thresholds) > 1 or not measure.startswith("nDCG_f")


@pytest.mark.parametrize(
    ("qrels", "rows", "how"),
    [
        ({"a": {"d": 1}}, [("q", "d", 1.0)], {}),  # no query in common
        ({"q": {"d": 1}}, [("q", "x", 1.0)], {}),  # no label
        ({"q": {"d": 1}, "r": {"e": 1}}, [("q", "d", 1.0)], {}),  # a fold without a label
        ({"q": {"d": 1}}, [("q", "d", 1.0), ("q", "e", 1.0)], {}),  # one query, equal scores
        ({"q": {"d": 0}, "r": {"e": 1}}, [("q", "d", -1.0), ("r", "e", 2.0)], {"gains": {0: -1}}),
        ({"q": {"d": 1}, "r": {"d": 900}}, [("q", "d", -1.0), ("r", "d", 2.0)], {"gains": "exp"}),
        ({"q": {"d": 1}, "r": {"d": 1}}, [("q", "d", 1.0), ("q", "d", 2.0)], {}),
    ],
)
def test_what_is_peculiar_is_told_as_of_the_whole(tmp_path, qrels, rows, how):
    run = write(tmp_path / "r.run", rows)
    of_whole, of_parts = (
        outcome(work, GlobalCutoff("nDCG_f@3"), qrels, run, how, folds=2, samples=9) for work in (whole, parts)
    )
    assert said(of_parts) == said(of_whole)


def test_the_curve_has_every_value_of_the_whole(tmp_path):
    qrels, rows = collection(7, together=True, nil=False)
    run = write(tmp_path / "r.run", rows)
    one, few = GlobalCutoff("nDCG_f@2"), GlobalCutoff("nDCG_f@2")
    outcome(one.fit_run, qrels, run)
    fit_in_parts(few, rs.read_qrels(qrels), RunParts(run, memory=1))
    assert set(few.thresholds_) <= set(one.thresholds_)
    at = np.searchsorted(-one.thresholds_, -few.thresholds_)
    assert one.values_[at].tolist() == few.values_.tolist()
    assert set(np.unique(one.values_)) == set(np.unique(few.values_))


def test_fit_run_reads_in_parts_what_would_take_more_memory(tmp_path, monkeypatch):
    qrels, rows = collection(7, together=True, nil=False)
    run = write(tmp_path / "r.run", rows)
    fitted = outcome(GlobalCutoff("AP").fit_run, qrels, run).to_json()
    monkeypatch.setattr(lists_module.Lists, "from_run", lambda *a, **h: pytest.fail("it was read whole"))
    assert outcome(GlobalCutoff("AP").fit_run, qrels, run, memory=1).to_json() == fitted


def test_quantiles_are_those_of_numpy():
    draw = np.random.default_rng(0)
    for n in range(1, 80):
        numbers = np.round(draw.normal(0, 10.0 ** draw.integers(-3, 4), n), int(draw.integers(0, 17)))
        pieces = np.array_split(numbers, int(draw.integers(1, 5)))
        shares = [0.0, 0.25, 0.5, 0.75, 1.0, 0.9]
        assert quantiles(lambda pieces=pieces: pieces, n, shares) == np.quantile(numbers, shares).tolist()


def test_the_command(tmp_path, monkeypatch):
    qrels, rows = collection(7, together=True, nil=False)
    run, judgments = write(tmp_path / "r.run", rows), tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    found = {}
    for name, memory in (("whole", []), ("parts", ["--memory", "1KB"])):
        out = tmp_path / f"{name}.json"
        done = command("cutoff", "fit", judgments, run, "--out", out, "--samples", 20, *memory)
        assert done.returncode == 0, done.stderr
        found[name] = out.read_bytes(), done.stdout.replace(name.encode(), b"")
    assert found["parts"] == found["whole"]


@pytest.mark.parametrize("options", [["--rule", "risk"], ["--page", "page.html"], ["--cut-scores", "{run}"]])
def test_what_needs_all_documents_in_memory_is_told(tmp_path, options):
    qrels, rows = collection(7, together=True, nil=False)
    run, judgments = write(tmp_path / "r.run", rows), tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    done = command("cutoff", "fit", judgments, run, "--memory", "1KB", *(o.format(run=run) for o in options))
    assert done.returncode == 2
    assert b"--memory is for --rule global, without --cut-scores and --page" in done.stderr


def compared(qrels, run, how, **given):
    """All that the comparison of rules says, whole and in parts."""
    judgments = rs.read_qrels(qrels)
    both = (
        outcome(compare_cutoffs, Lists.from_run(judgments, rs.read_run(run), **how), **given),
        outcome(compared_in_parts, judgments, RunParts(run, memory=1), **how, **given),
    )
    return [found if isinstance(found, str) else found.to_dict() | {"table": str(found)} for found in both]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    ("measure", "how"), [(None, {}), ("nDCG_f@3", {"gains": {-2: -10}}), ("Fdocs@2", {"unjudged": "drop"})]
)
def test_rules_in_parts_are_compared_as_whole(tmp_path, measure, how, together):
    rules, best = [*IN_PARTS, 0.25], set()
    for seed in range(5):
        qrels, rows = collection(seed, together=together, nil=False)
        run = write(tmp_path / "r.run", rows)
        whole, parts = compared(qrels, run, how, rules=rules, measure=measure, k=2, folds=3, seed=1)
        if isinstance(whole, str):
            assert parts == whole
            continue
        parts["notes"] = [note for note in parts["notes"] if SORTED not in note]
        parts["table"] = "\n".join(line for line in parts["table"].split("\n") if SORTED not in line)
        assert parts == whole
        best.add(whole["best"])
    assert best


def test_rules_that_need_all_documents_are_told(tmp_path):
    qrels, rows = collection(7, together=True, nil=False)
    run, judgments = write(tmp_path / "r.run", rows), tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    small = ("--memory", "1KB")
    done = command("cutoff", "compare", judgments, run, "--folds", 2, *small)
    assert done.returncode == 0, done.stderr
    assert b"These rules hold all documents in memory, and are left out: filter-only, " in done.stdout
    for more in (["--rules", "risk"], ["--plot", tmp_path / "x.svg"], ["--apart"], ["--cut-scores", run]):
        done = command("cutoff", "compare", judgments, run, "--folds", 2, *small, *more)
        assert done.returncode == 2
        assert done.stderr.startswith(b"--memory is for the rules filter-all, rank-only, global, oracle and thresholds")
    whole, parts = (
        command("cutoff", "compare", judgments, run, "--folds", 2, "--rules", "global 0.5 rank-only", *more).stdout
        for more in ([], small)
    )
    assert parts == whole


def test_the_oracle_of_lists_without_a_document():
    lists = Lists.from_run(rs.read_qrels({"q": {"d": 1}}), rs.read_run({"q": {}}))
    assert Oracle("AP").thresholds(lists).tolist() == [-np.inf]
