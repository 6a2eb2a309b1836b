"""The dial: every threshold's costs on either side, and the best one within limits."""

import copy
import json

import numpy as np
import pytest

import ranksift as rs
from ranksift import GlobalCutoff, InputError, RankSiftWarning, load_cutoff
from ranksift.collection.lists import Lists
from ranksift.cutoffs import Limits, Tradeoff
from ranksift.cutoffs.sweep import Sweep
from tests.cutoffs.brute import all_thresholds, at_threshold, small_case

quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

MEASURES = ["nDCG_f@2", "Fdocs@2", "GoodFiltered", "Empty", "R@2", "AP"]
LIMITS = [
    "Empty<=0.4",
    "GoodFiltered<=0.5",
    "Fdocs@2<=0.3 GoodFiltered<=0.7",
    "R@2>=0.5",
    "Empty<=0 Fdocs@2<=0.5 AP>=0.2",
]


def drawn(queries=40, seed=0):
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), 4)
    labels = draw.choice([-8.0, 0, 1, 2], len(groups), p=[0.3, 0.2, 0.3, 0.2])
    return np.maximum(labels, -1) + draw.normal(0, 1.0, len(groups)), labels, groups


def plainly(case, measure, limits):
    """The best threshold of all that keep the limits, one cut at a time; None where there is none."""
    scores, labels, groups, rank_scores = case
    known = rs.parse_measure(measure)
    best = None
    for t in all_thresholds(scores):  # from the highest down

        def value(m, t=t):
            return at_threshold(m, scores, labels, groups, t, rank_scores)[1]

        margins = [(value(r.measure) - r.limit) * (1 if r.operator == ">=" else -1) for r in Limits.of(limits)]
        if min(margins) < -1e-12:
            continue
        worth = value(known) * (1 if known.higher_is_better else -1)
        if best is None or worth >= best[1] - 1e-12:
            best = t, worth
    if best is None:
        return None
    return -np.inf if best[0] == min(scores) else best[0]


@quiet
@pytest.mark.parametrize("measure", ["nDCG_f@2", "GoodFiltered"])
@pytest.mark.parametrize("limits", LIMITS)
def test_it_is_the_best_of_all_that_keep_the_limits(limits, measure):
    draw = np.random.default_rng(0)
    outcomes = set()
    for kind in range(150):
        case = scores, labels, groups, rank_scores = small_case(draw, kind)
        if np.isnan(labels).all():
            continue
        expected = plainly(case, measure, limits)
        cut = GlobalCutoff(measure, at_most=limits)
        outcomes.add(expected is None)
        if expected is None:
            with pytest.raises(InputError, match="no threshold keeps"):
                cut.fit(scores, labels, groups, rank_scores=rank_scores)
            continue
        cut.fit(scores, labels, groups, rank_scores=rank_scores)
        assert cut.threshold_ == expected
        lists = Lists.from_arrays(scores, labels, groups, rank_scores=rank_scores)
        found = Tradeoff.of(lists, MEASURES)
        assert found.thresholds[found.best(measure, limits)] == expected
    assert False in outcomes
    assert True in outcomes or limits in LIMITS[:2]  # whoever shows everything keeps these


def test_values_are_those_of_every_cut():
    scores, labels, groups = drawn(8)
    found = Tradeoff.of(Lists.from_arrays(scores, labels, groups), MEASURES)
    assert list(found.values) == MEASURES
    for i, t in enumerate(found.thresholds):
        expected = [at_threshold(rs.parse_measure(m), scores, labels, groups, t)[1] for m in MEASURES]
        np.testing.assert_allclose(list(found.at(i).values()), expected, rtol=0, atol=1e-12)


class TestLimits:
    def test_a_value_at_the_limit_keeps_it(self):
        lists = Lists.from_arrays(*drawn())
        found = Tradeoff.of(lists)
        for index in range(1, len(found), 7):
            value = float(found["GoodFiltered"][index])
            kept = found.keeping(f"GoodFiltered<={value!r}")
            assert kept.tolist() == (found["GoodFiltered"] <= value + 1e-12).tolist()
            assert kept[index]

    @pytest.mark.parametrize(
        ("given", "written"),
        [
            ("Empty<=0.1 GoodFiltered<=.3", "Empty<=0.1 GoodFiltered<=0.3"),
            (["Empty<=0.1", "R@3 >= 0.5"], "Empty<=0.1 R@3>=0.5"),
            ({"Empty": 0.1, "Fdocs@3": 0}, "Empty<=0.1 Fdocs@3<=0"),
            (Limits.of("Empty<=0.1"), "Empty<=0.1"),
            (None, ""),
        ],
    )
    def test_what_they_are_made_of(self, given, written):
        assert str(Limits.of(given)) == written

    @pytest.mark.parametrize(
        ("given", "fault"),
        [
            ("", "no limit is given; write limits as"),
            ({}, "no limit is given"),
            ("Empty", "'Empty' is not understood; write limits as 'Empty<=0.1"),
            ("Empty<0.1", "the limit Empty<0.1 has <; use <= or >="),
            ("Empty==0.1", "use <= or >="),
            ("Emty<=0.1", "Emty"),
            ("GoodFiltered<=30%", "is not understood"),
            ({"Empty": "few"}, "the limit 'few' of Empty is not a number"),
            ({"Empty": float("nan")}, "the limit nan of Empty is not a number"),
            ({"Empty": True}, "the limit True of Empty is not a number"),
            ("P_qwa<=0.1", "P_qwa needs a cutoff"),
            ('nDCG(nil="NIL")@3>=0.1', "looks for a NIL document"),
            (0.3, "0.3 is not a text of limits"),
            ([1], r"\[1\] is not a text of limits"),
        ],
    )
    def test_bad_ones(self, given, fault):
        with pytest.raises(InputError, match=fault) as caught:
            GlobalCutoff(at_most=given).fit(*drawn())
        assert "\n" not in str(caught.value)

    def test_a_measure_that_has_no_sweep(self):
        with pytest.raises(InputError, match="c_at_1 is neither a mean"):
            GlobalCutoff(at_most="c_at_1>=0.5").fit(*drawn())


class TestConflicts:
    """Limits that no threshold keeps."""

    def test_what_is_said_can_be_done(self):
        lists = Lists.from_arrays(*drawn(), gains={-8: -10})
        with pytest.raises(InputError) as caught:
            GlobalCutoff(at_most="Empty<=1 Fdocs@3<=0.01 GoodFiltered<=0.3").fit_lists(lists)
        said = str(caught.value)
        assert said.startswith(
            "no threshold keeps Fdocs@3<=0.01 and GoodFiltered<=0.3: with GoodFiltered<=0.3 the least"
        )
        assert "Empty" not in said  # it is no part of the conflict
        found = Tradeoff.of(lists)
        for limit, other in (("Fdocs@3", "GoodFiltered<=0.3"), ("GoodFiltered", "Fdocs@3<=0.01")):
            least = said.partition(f"the least {limit} is ")[2].partition(",")[0].partition(";")[0]
            assert found.keeping(f"{limit}<={least} {other}").any()
            assert not found.keeping(f"{limit}<={float(least) - 2e-4} {other}").any()

    def test_one_limit_alone(self):
        lists = Lists.from_run({"q": {"a": 1, "b": 1, "c": -1}}, {"q": {"a": 2.0, "c": 1.0}})  # b is in no list
        said = r"no threshold keeps GoodFiltered<=0\.1: the least GoodFiltered is 0\.5; loosen it"
        with pytest.raises(InputError, match=said):
            GlobalCutoff(at_most="GoodFiltered<=0.1").fit_lists(lists)
        with pytest.raises(InputError, match=r"no threshold keeps R@3>=0\.8: the most R@3 is 0\.5; loosen it"):
            GlobalCutoff(at_most="R@3>=0.8").fit_lists(lists)

    @quiet
    @pytest.mark.parametrize("fitted_before", [True, False])
    def test_a_failed_fit_leaves_nothing_behind_that_could_be_used(self, tmp_path, fitted_before):
        cut = GlobalCutoff(at_most="GoodFiltered<=0.1 Fdocs@3<=0.1")
        if fitted_before:
            cut.fit([3.0, 2.0], [1, -1], ["q", "q"])
        with pytest.raises(InputError, match="no threshold keeps"):
            cut.fit(*drawn())
        with pytest.raises(InputError, match="not fitted"):
            cut.keep([1.0])
        with pytest.raises(InputError, match="not fitted"):
            cut.save(tmp_path / "c.json")
        assert not (tmp_path / "c.json").exists()

    def test_a_fold_of_which_the_others_cannot_keep_them(self):
        scores, labels, groups = [3.0, 2.0, 1.0, 4.0], [1, 1, -1, 1], ["q", "r", "r", "s"]
        lists = Lists.from_arrays(scores, labels, groups)
        cut = GlobalCutoff("nDCG_f@3", at_most="NumRet>=4").fit_lists(lists)
        with pytest.raises(InputError, match="where fold 1 of 3 is left out no threshold keeps NumRet>=4: the most"):
            cut.cross_validated(lists, 3)


@quiet
def test_limits_that_limit_nothing_are_told():
    cut = GlobalCutoff(at_most="GoodFiltered<=30").fit(*drawn())  # per cent were meant
    assert "GoodFiltered<=30 limits nothing: every threshold keeps it" in cut.notes_
    cut = GlobalCutoff(at_most="NumRet<=0").fit(*drawn())
    assert cut.threshold_ == np.inf
    assert "only a threshold that shows nothing keeps NumRet<=0" in cut.notes_


class TestHowSure:
    def test_cross_validation_is_the_plain_one(self):
        scores, labels, groups = drawn(30, seed=1)
        limits = "GoodFiltered<=0.2 Empty<=0.1"
        lists = Lists.from_arrays(scores, labels, groups)
        found = GlobalCutoff("nDCG_f@3", at_most=limits).fit_lists(lists).cross_validated(lists, 4, seed=5)
        fold = np.empty(30, dtype=int)
        fold[np.random.default_rng(5).permutation(30)] = np.arange(30) % 4
        for f in range(4):
            own = fold[groups] == f
            threshold = (
                GlobalCutoff("nDCG_f@3", at_most=limits).fit(scores[~own], labels[~own], groups[~own]).threshold_
            )
            assert found.thresholds[f] == threshold
            case = scores[own], labels[own], groups[own], threshold
            kept = [r.met(at_threshold(r.measure, *case)[1]) for r in Limits.of(limits)]
            assert found.kept[f] == all(kept)
        assert set(found.kept) == {True, False}

    def test_interval_holds_the_thresholds_of_plain_resamples(self):
        lists = Lists.from_arrays(*drawn(15))
        sweeps = [Sweep.of(lists, rs.parse_measure(m)) for m in ("nDCG_f@3", "GoodFiltered")]
        draw, found = np.random.default_rng(3), []
        for _ in range(60):
            weights = np.bincount(draw.integers(0, 15, size=(1, 15))[0], minlength=15).astype(float)
            worth, hidden = (sweep.values(weights) for sweep in sweeps)
            worth[hidden > 0.2 + 1e-12] = -np.inf
            found.append(sweeps[0].threshold(int(np.flatnonzero(worth >= worth.max() - 1e-12)[-1])))
        found.sort()
        cut = GlobalCutoff("nDCG_f@3", at_most="GoodFiltered<=0.2").fit_lists(lists)
        assert cut.interval(lists, 60, seed=3) == (found[1], found[58], 0.95)

    def test_samples_without_a_threshold_are_told(self):
        lists = Lists.from_arrays(*drawn(15))
        limits = "Fdocs@3<=0.02 GoodFiltered<=0.4"
        cut = GlobalCutoff("nDCG_f@3", at_most=limits).fit_lists(lists)
        with pytest.warns(RankSiftWarning, match=rf"in \d+ of 200 samples of queries no threshold keeps {limits}"):
            cut.interval(lists, 200)


class TestFewerPoints:
    @pytest.mark.parametrize("n", [2, 3, 10, 100, 10_000])
    def test_ends_and_shape_stay(self, n):
        found = Tradeoff.of(Lists.from_arrays(*drawn(200)))
        few = found.thinned(n)
        assert len(few) <= n
        assert few.thresholds[[0, -1]].tolist() == [np.inf, -np.inf]
        rows = np.searchsorted(-found.thresholds, -few.thresholds)
        for name, values in found.values.items():
            assert few[name].tolist() == values[rows].tolist()
        if n >= 100:
            far = max(np.abs(np.diff(few[m])).max() for m in ("GoodFiltered", "Empty"))
            assert far < 0.05

    def test_what_is_to_be_kept_is(self):
        found = Tradeoff.of(Lists.from_arrays(*drawn(200)))
        for chosen in range(0, len(found), 50):
            few = found.thinned(5, keep=[chosen])
            assert found.thresholds[chosen] in few.thresholds
            assert len(few) <= 5

    @quiet
    def test_a_curve_that_goes_nowhere(self):
        few = Tradeoff.of(Lists.from_arrays(np.arange(50.0), np.zeros(50), np.zeros(50)), "nDCG_f@3").thinned(4)
        assert few.thresholds[[0, -1]].tolist() == [np.inf, -np.inf]

    def test_too_few(self):
        with pytest.raises(InputError, match="n=1 is not an integer of at least 2"):
            Tradeoff.of(Lists.from_arrays(*drawn())).thinned(1)


class TestFiles:
    def test_round_trip(self):
        found = Tradeoff.of(Lists.from_arrays(*drawn()), ["nDCG_f(gains={-8:-10})@3", "Empty"])
        said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        again = Tradeoff.from_dict(said)
        assert again.thresholds.tolist() == found.thresholds.tolist()
        assert again.to_dict() == found.to_dict()

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            (lambda d: d.update(extra=1), "does not consist of thresholds and measures"),
            (lambda d: d.pop("measures"), "does not consist of thresholds and measures"),
            (lambda d: d.update(thresholds="inf"), "are not a list from inf to -inf"),
            (lambda d: d.update(thresholds=["inf"]), "are not a list from inf to -inf"),
            (lambda d: d["thresholds"].pop(), "are not a list from inf to -inf"),
            (lambda d: d["thresholds"].reverse(), "are not a list from inf to -inf"),
            (lambda d: d["thresholds"].insert(1, "inf"), "is not a list of"),
            (lambda d: d["thresholds"].insert(1, True), "is not a list of"),
            (lambda d: d["thresholds"].insert(1, 10**400), "is not a list of"),
            (lambda d: d["thresholds"].insert(1, d["thresholds"][1]), "do not fall"),
            (lambda d: d.update(measures={}), "has no measure"),
            (lambda d: d.update(measures=[]), "has no measure"),
            (lambda d: d["measures"].update(Emty=d["measures"]["Empty"]), "Emty"),
            (lambda d: d["measures"].update({"Fdocs @3": d["measures"]["Empty"]}), "which is Fdocs@3|not"),
            (lambda d: d["measures"]["Empty"].pop(), "Empty of a trade-off is not a list of"),
            (lambda d: d["measures"]["Empty"].__setitem__(0, float("nan")), "Empty of a trade-off is not a list of"),
            (lambda d: d["measures"].update(Empty=None), "Empty of a trade-off is not a list of"),
        ],
    )
    def test_anything_else_is_refused(self, change, fault):
        said = copy.deepcopy(Tradeoff.of(Lists.from_arrays(*drawn(5))).to_dict())
        change(said)
        with pytest.raises(InputError, match=fault):
            Tradeoff.from_dict(said)

    @pytest.mark.parametrize("given", [None, [], "x", 1])
    def test_nothing_like_it(self, given):
        with pytest.raises(InputError, match="does not consist of thresholds and measures"):
            Tradeoff.from_dict(given)

    @pytest.mark.parametrize("at_most", ["GoodFiltered<=0.2", {"GoodFiltered": 0.2}, Limits.of("GoodFiltered<=0.2")])
    def test_a_rule_with_limits_is_read_again(self, tmp_path, at_most):
        cut = GlobalCutoff("nDCG_f@3", at_most=at_most).fit(*drawn())
        cut.save(tmp_path / "c.json")
        again = load_cutoff(tmp_path / "c.json")
        assert (again.threshold_, again.value_, str(again.limits)) == (cut.threshold_, cut.value_, "GoodFiltered<=0.2")
        assert again.to_json() == cut.to_json()
        said = json.loads(cut.to_json())
        assert said["fitted_on"]["limits"]["GoodFiltered"] <= 0.2
        assert "keep GoodFiltered<=0.2 on the documents that it was fitted on" in said["promise"]

    def test_a_rule_without_limits_is_written_as_before_there_were_any(self, tmp_path):
        cut = GlobalCutoff("nDCG_f@3").fit(*drawn())
        assert json.loads(cut.to_json())["parameters"] == {"measure": "nDCG_f@3"}
        cut.save(tmp_path / "c.json")
        assert load_cutoff(tmp_path / "c.json").at_most is None

    @pytest.mark.parametrize("at_most", ["Empty<0.1", 5, {}, [1], {"Empty": None}, "c_at_1"])
    def test_a_rule_edited_into_nonsense(self, tmp_path, at_most):
        said = GlobalCutoff("nDCG_f@3", at_most="Empty<=0.5").fit(*drawn()).to_dict()
        said["parameters"]["at_most"] = at_most
        (tmp_path / "c.json").write_text(json.dumps(said))
        with pytest.raises(InputError, match=r"c.json: is damaged \("):
            load_cutoff(tmp_path / "c.json")


class TestPicture:
    def test_the_chosen_point_and_the_limits(self):
        pytest.importorskip("matplotlib")
        cut = GlobalCutoff("nDCG_f@3", at_most="GoodFiltered<=0.2 Fdocs@5<=0.25 Empty<=0.5").fit(*drawn())
        axes = cut.plot().axes[0]
        assert (axes.get_xlabel(), axes.get_ylabel()) == (
            "good documents filtered (%)",
            "forbidden documents in the top 5 (%)",
        )
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert lines["GoodFiltered<=0.2"].get_xdata()[0] == 20.0
        assert lines["Fdocs@5<=0.25"].get_ydata()[0] == 25.0
        assert "Empty<=0.5" not in lines
        (marked,) = [line for line in lines.values() if line.get_marker() == "o"]
        index = int(np.flatnonzero(cut.tradeoff_.thresholds == cut.threshold_)[0])
        at = cut.tradeoff_.at(index)
        assert (marked.get_xdata()[0], marked.get_ydata()[0]) == (100 * at["GoodFiltered"], 100 * at["Fdocs@5"])
        bold = lines["keeps the limits"].get_xdata()
        assert np.nanmax(bold) <= 20.0 + 1e-9
        assert np.isnan(bold).any()

    def test_what_is_not_there_cannot_be_drawn(self):
        with pytest.raises(InputError, match="the trade-off has no GoodFiltered, which the drawing needs"):
            Tradeoff.of(Lists.from_arrays(*drawn()), "nDCG_f@3 Fdocs@3").plot()
        with pytest.raises(InputError, match="the trade-off has no AP; it has: Empty"):
            Tradeoff.of(Lists.from_arrays(*drawn()), "Empty").best("AP")
