"""The release gate: what it understands, when it passes, and what it says."""

import json
import re
import warnings

import numpy as np
import pytest
from scipy import stats

import ranksift as rs
from ranksift.evaluation.requirements import parse_requirements

QRELS = {"q1": {"good": 2, "bad": -2}, "q2": {"ok": 1}, "q3": {"ok": 1}, "q4": {"ok": 1, "fine": 1}}
RUN = {"q1": {"good": 9, "bad": 5}, "q2": {"ok": 3}, "q3": {"x": 2, "ok": 1}, "q4": {"fine": 1}}


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("Fdocs@3<=0.02 nDCG_f@10>=0.8", ["Fdocs@3<=0.02", "nDCG_f@10>=0.8"]),
        ("nDCG_f@10 >= 0.8", ["nDCG_f@10>=0.8"]),
        (" AP>.25,RR<1 ; P@5 == 1e-1\n", ["AP>0.25", "RR<1", "P@5==0.1"]),
        ("nDCG_f(gains={-2:-10})@10>=0.8", ["nDCG_f(gains={-2:-10})@10>=0.8"]),
        ("nDCG_f(gains={-2: -10, 3: 5})@10 >= -0.5", ["nDCG_f(gains={-2:-10,3:5})@10>=-0.5"]),
        ('RBP_qwa(p=0.5, nil=">= <")>=+0.5', ['RBP_qwa(nil=">= <", p=0.5)>=0.5']),
        ("UL2(DCG@10)>=0", ["UL2(DCG@10)>=0"]),
        (["AP>0.1", "RR>0.2 P@1>0.3"], ["AP>0.1", "RR>0.2", "P@1>0.3"]),
        ("ndcg_cut_10>=0.8", ["nDCG@10>=0.8"]),
    ],
)
def test_requirements_are_understood(text, parsed):
    assert [str(r) for r in parse_requirements(text)] == parsed


@pytest.mark.parametrize(
    "text",
    ["AP", "AP=0.3", "AP>=", ">=0.3", "AP>=x", "0.3<=AP", "AP>=0.3x", "nDCG AP>=0.3", "AP>=0.3 RR", "AP=>0.3",
     "AP>=nan", "AP>=inf", "AP>=80%", "AP(rel=2>=0.3", "AP>=0.1RR>=0.2", "AP>==1"],
)  # fmt: skip
def test_a_malformed_requirement_is_shown_the_form(text):
    with pytest.raises(rs.InputError, match=r"is not understood; write .* as nDCG_f@10>=0\.8"):
        rs.check(QRELS, RUN, text)


def test_an_unknown_measure_is_an_unknown_measure():
    with pytest.raises(rs.InputError, match="measure 'nDCG_g@10' is unknown; did you mean"):
        rs.check(QRELS, RUN, "nDCG_g@10>=0.8")


@pytest.mark.parametrize(
    ("operator", "passed"), [("<=", (True, True, False)), ("<", (True, False, False)), (">=", (False, True, True)),
                             (">", (False, False, True)), ("==", (False, True, False))],
)  # fmt: skip
def test_operators_below_at_and_above_the_limit(operator, passed):
    # RR is 1, 1, 1/2, 1: the value is exactly 0.875. What lies within rounding of the limit is the limit.
    for nudge in (0.0, 3e-13, -3e-13):
        limits = (0.9, 0.875 + nudge, 0.8)
        assert tuple(rs.check(QRELS, RUN, f"RR{operator}{x!r}").passed for x in limits) == passed


def test_values_and_margins():
    found = rs.check(QRELS, RUN, "Fdocs@3<=0.1 RR>=0.75 RR==0.5")
    fdocs, high, equal = found.requirements
    assert (fdocs.measure, fdocs.operator, fdocs.limit, fdocs.passed) == ("Fdocs@3", "<=", 0.1, False)
    assert fdocs.value == pytest.approx(1 / 6)
    assert fdocs.margin == pytest.approx(0.1 - 1 / 6)
    assert fdocs.verdict == "missed by 0.06667"
    assert (high.margin, high.verdict) == (0.125, "met")
    assert (equal.margin, equal.verdict) == (-0.375, "missed by 0.375")
    assert not found.passed
    assert str(found).startswith("FAILED: run run misses 2 of 3 requirements\n")
    assert rs.check(QRELS, RUN, "RR>0.875").requirements[0].verdict == "missed: it is the limit"


def test_the_settings_of_evaluate_apply():
    assert rs.check(QRELS, RUN, "DCG@1==1").passed
    assert rs.check(QRELS, RUN, "DCG@1==2.25", gains={2: 7}).passed
    assert rs.check(QRELS, RUN, "RR==1", unjudged="drop").passed
    assert rs.check(QRELS, RUN, "RR==0.5", queries=["q3"]).passed


# -- not worse than a baseline -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    """Judgments, a run that is a little worse than another in most queries, and the other."""
    random = np.random.default_rng(7)
    qrels = {f"q{i}": {f"d{j}": int(random.integers(-2, 3)) for j in range(8)} for i in range(40)}
    old, new = {}, {}
    for query, labels in qrels.items():
        old[query] = {d: float(label + random.normal()) for d, label in labels.items()}
        new[query] = {d: float(label + 3 * random.normal()) for d, label in labels.items()}
    return qrels, new, old


@pytest.mark.parametrize("measure", ["nDCG_f@5", "Fdocs@3"])
def test_the_test_is_one_sided_and_knows_the_better_direction(many, measure):
    qrels, new, old = many
    scores = rs.evaluate(qrels, {"new": new, "old": old}, [measure])
    side = "less" if measure == "nDCG_f@5" else "greater"
    for first, second, a, b in ((new, old, 0, 1), (old, new, 1, 0)):
        found = rs.check(qrels, first, f"{measure}>=0", not_worse_than=second).differences[0]
        expected = stats.ttest_rel(scores.values[a, :, 0], scores.values[b, :, 0], alternative=side)
        assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.difference == pytest.approx((scores.values[a] - scores.values[b]).mean())
        assert (found.value, found.baseline_value) == pytest.approx(scores.aggregate()[[a, b], 0])
        assert found.passed is (found.p > 0.05)
    assert not rs.check(qrels, new, f"{measure}>=0", not_worse_than=old).passed
    assert rs.check(qrels, old, f"{measure}>=0", not_worse_than=new).passed


def test_alpha_and_test_are_heeded(many):
    qrels, new, old = many
    p = rs.check(qrels, new, "nDCG_f@5>=0", not_worse_than=old).differences[0].p
    assert not rs.check(qrels, new, "nDCG_f@5>=0", not_worse_than=old, alpha=p * 1.01).passed
    assert rs.check(qrels, new, "nDCG_f@5>=0", not_worse_than=old, alpha=p * 0.99).passed
    ranks = rs.check(qrels, new, "nDCG_f@5>=0", not_worse_than=old, test="wilcoxon").differences[0]
    assert ranks.p != p


def test_every_measure_named_is_compared(many):
    qrels, new, old = many
    found = rs.check(qrels, new, "AP>=0 RR<=1", not_worse_than=old, measures="nDCG_f@5 AP")
    assert [d.measure for d in found.differences] == ["AP", "RR", "nDCG_f@5"]
    only = rs.check(qrels, new, not_worse_than=old, measures=["nDCG_f@5"])
    assert (only.requirements, only.passed) == ((), False)
    assert "nDCG_f@5" in str(only)


def test_a_run_is_not_worse_than_itself(many):
    qrels, new, _ = many
    found = rs.check(qrels, new, "nDCG_f@5>=0", not_worse_than=new)
    assert (found.passed, found.differences[0].p, found.differences[0].difference) == (True, 0.5, 0.0)
    assert (found.run, found.baseline) == ("run", "run_2")


def test_the_baseline_does_not_change_the_value():
    # With queries="run" the comparison is over what both answer, the requirement over what the run answers.
    old = {"q1": {"good": 1}, "q2": {"x": 1}}
    found = rs.check(QRELS, RUN, "RR==0.875", not_worse_than=old, queries="run")
    assert found.requirements[0].passed
    assert found.differences[0].value == 1.0


def test_notes_are_said_once():
    with pytest.warns(rs.RankSiftWarning) as caught:
        rs.check(QRELS, {**RUN, "new": {"a": 1}}, "RR>=0.5", not_worse_than=RUN)
    assert len(caught) == 1


def test_a_ratio_over_all_queries_is_said_to_be_one(many):
    # Its difference is a mean over queries, and need not be that of the two values.
    qrels, new, old = many
    found = rs.check(qrels, new, "nDCG_f@5>=0 Fdocs@5<=1", not_worse_than=old)
    assert found.notes == ("Tested on each query's own value, not on the total shown: Fdocs@5.",)
    assert found.notes[0] in str(found)
    assert rs.check(qrels, new, "nDCG_f@5>=0", not_worse_than=old).notes == ()


def test_results_as_json_and_frame(many):
    qrels, new, old = many
    found = rs.check(qrels, {"new": new}, "nDCG_f@5>=2", not_worse_than={"old": old}, measures="AP")
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(written) == [
        "passed",
        "run",
        "baseline",
        "test",
        "alpha",
        "requirements",
        "differences",
        "coverage",
        "notes",
    ]
    assert (written["passed"], written["run"], written["baseline"]) == (False, "new", "old")
    assert list(written["requirements"][0]) == ["measure", "operator", "limit", "value", "margin", "passed"]
    assert list(written["differences"][0]) == ["measure", "value", "baseline_value", "difference", "p", "passed"]
    frame = found.to_frame()
    assert frame["operator"].to_list() == [">=", "not worse", "not worse"]
    assert frame["passed"].to_list()[0] is False
    assert "not worse than old" in str(found)
    assert repr(found) == "<CheckResult: run 'new' failed>"


def test_mistakes_are_told():
    for nothing in ("", " ", []):
        with pytest.raises(rs.InputError, match="nothing is required; write"):
            rs.check(QRELS, RUN, nothing)
    with pytest.raises(rs.InputError, match="nothing is required"):
        rs.check(QRELS, RUN, not_worse_than=RUN)
    with pytest.raises(rs.InputError, match="there is no baseline; give not_worse_than"):
        rs.check(QRELS, RUN, "AP>0", measures="RR")
    with pytest.raises(rs.InputError, match="2 runs are given as the run"):
        rs.check(QRELS, {"a": RUN, "b": RUN}, "AP>0")
    with pytest.raises(rs.InputError, match="2 runs are given as the baseline"):
        rs.check(QRELS, RUN, "AP>0", not_worse_than=[RUN, RUN])
    with pytest.raises(rs.InputError, match="at least 2 queries"):
        rs.check(QRELS, RUN, "AP>0", not_worse_than=RUN, queries=["q1"])
    with pytest.raises(rs.InputError, match="alpha=2 is not a number between 0 and 1"):
        rs.check(QRELS, RUN, "AP>0", not_worse_than=RUN, alpha=2)


@pytest.mark.parametrize("text", ["AP<=1e999", "AP>=-1e999", "AP==" + "9" * 400])
def test_limits_that_no_float_holds(text):
    with pytest.raises(rs.InputError, match=r"^the limit \S{1,40} is too large; write a measure"):
        parse_requirements(text)


#: Judgments without a forbidden document, and a run.
PLAIN = {"q": {"a": 1, "b": 0}, "r": {"c": 1}}
SHOWN = {"q": {"a": 2.0, "b": 1.0}, "r": {"c": 1.0}}


class TestNothingToCheck:
    """A gate that cannot fail must not pass."""

    @pytest.mark.parametrize(
        ("qrels", "run", "how", "said"),
        [
            (PLAIN, SHOWN, {"require": "nDCG_f@10>=0.1"}, "nDCG_f@10 is about forbidden documents"),
            (PLAIN, SHOWN, {"require": "Fdocs@3<=0.02"}, "no judged document is forbidden; say which label is"),
            (PLAIN, SHOWN, {"require": "UBQ@3<=0.02"}, "no judged document is forbidden"),
            (PLAIN, SHOWN, {"require": "Fdocs@3<=1", "gains": {-1: -10}}, "gains name the label -1, which no judged"),
            (PLAIN, SHOWN, {"require": "Fdocs(gains={7:-1})@3<=1"}, "gains name the label 7"),
            (PLAIN, {"q": {}, "r": {}}, {"require": "Empty<=1"}, "run 'run' lists no document"),
            (PLAIN, {"q": {}}, {"require": "AP>=0"}, "lists no document; give the run that is to be released"),
        ],
    )
    def test_it_is_an_error_unless_it_is_on_purpose(self, qrels, run, how, said):
        with pytest.raises(rs.InputError, match=re.escape(said)):
            rs.check(qrels, run, **how)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "gains name the label")
            assert rs.check(qrels, run, **how, allow_empty=True).passed

    def test_a_label_that_nobody_has_is_told_where_it_is_allowed(self):
        with pytest.warns(rs.RankSiftWarning, match="gains name the label -1, which no judged document has"):
            rs.check(PLAIN, SHOWN, "Fdocs@3<=1", gains={-1: -10}, allow_empty=True)

    def test_a_gate_on_other_measures_is_not_concerned(self):
        assert rs.check(PLAIN, SHOWN, "AP>=0.5 GoodFiltered<=0.5 Empty<=0.1").passed
        assert rs.check(PLAIN, SHOWN, "Fdocs@3<=0.4", gains={0: -1}).passed

    @pytest.mark.filterwarnings("ignore:run 'run' answers 1 of 3")
    def test_what_it_is_about_stands_beside_it(self):
        run = {"q": {"a": 2.0, "x": 1.0}, "r": {}, "s": {}}
        found = rs.check({**PLAIN, "s": {"d": 1}}, run, "P@1>=0.1 AP>=0.1")
        assert found.coverage == pytest.approx({"queries": 3, "answered": 1, "Judged@1": 1 / 3, "Empty": 2 / 3})
        assert "1 of 3 queries are answered; Judged@1 0.3333, Empty 0.6667" in str(found)
        assert found.to_dict()["coverage"] == found.coverage
