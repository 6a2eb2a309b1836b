"""One threshold for all queries: the best one, the lowest of equals, how sure it is, and what it does."""

import json

import numpy as np
import pytest

import ranksift as rs
from ranksift import GlobalCutoff, InputError, RankSiftWarning, load_cutoff
from ranksift.collection.lists import Lists
from ranksift.collection.run import read_run
from ranksift.cutoffs.sweep import Sweep
from ranksift.datasets.synthetic import synthetic_collection
from ranksift.files import with_sum
from tests.cutoffs.brute import all_thresholds, at_threshold, small_case

quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")


def drawn(queries=40, seed=0, spread=1.0):
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), 4)
    labels = draw.choice([-8.0, 0, 1, 2], len(groups), p=[0.2, 0.3, 0.3, 0.2])
    return spread * (np.maximum(labels, -1) + draw.normal(0, 1.0, len(groups))), labels, groups


@quiet
@pytest.mark.parametrize("measure", ["nDCG_f@3", "AP", "Fdocs@2", "RR_qwa"])
def test_it_is_the_best_of_all_and_the_lowest_of_equals(measure):
    draw = np.random.default_rng(0)
    for kind in range(300):
        scores, labels, groups, rank_scores = small_case(draw, kind)
        if np.isnan(labels).all():
            continue
        cut = GlobalCutoff(measure).fit(scores, labels, groups, rank_scores=rank_scores)
        known = rs.parse_measure(measure)
        each = {t: at_threshold(known, scores, labels, groups, t, rank_scores)[1] for t in all_thresholds(scores)}
        worth = {t: v if known.higher_is_better else -v for t, v in each.items()}
        lowest = min(t for t in each if worth[t] >= max(worth.values()) - 1e-12)
        expected = -np.inf if lowest == min(each) else lowest
        assert cut.threshold_ == expected
        assert cut.value_ == pytest.approx(each[lowest], abs=1e-12)
        assert cut.keep(scores, groups).tolist() == (scores >= lowest).tolist()


@quiet
def test_infinite_thresholds():
    everything = GlobalCutoff("nDCG_f@3").fit([3.0, 2.0], [1, 2], ["q", "q"])
    assert everything.threshold_ == -np.inf
    assert everything.keep([-1e9]).all()
    nothing = GlobalCutoff("nDCG_f@3").fit([3.0, 2.0], [-1, -2], ["q", "q"])
    assert nothing.threshold_ == np.inf
    assert not nothing.keep([1e9]).any()
    assert nothing.value_ == 1.0


def test_documents_in_any_order_give_the_same():
    scores, labels, groups = drawn()
    cut = GlobalCutoff("nDCG_f@3").fit(scores, labels, groups)
    shuffle = np.random.default_rng(1).permutation(len(scores))
    again = GlobalCutoff("nDCG_f@3").fit(scores[shuffle], labels[shuffle], [f"q{g}" for g in groups[shuffle]])
    assert (again.threshold_, again.value_) == (cut.threshold_, pytest.approx(cut.value_, abs=1e-14))


def test_two_scores_take_from_the_middle():
    labels, ranks, spam = [2, -1, 1], [3.0, 2.0, 1.0], [0.9, 0.1, 0.8]
    cut = GlobalCutoff("nDCG_f@3").fit(spam * 2, labels * 2, [0] * 3 + [1] * 3, rank_scores=ranks * 2)
    assert (cut.threshold_, cut.value_) == (0.8, pytest.approx(1.0, abs=1e-14))
    assert cut.keep(spam, rank_scores=ranks).tolist() == [True, False, True]


class TestHowSure:
    def test_interval_holds_the_thresholds_of_plain_resamples(self):
        scores, labels, groups = drawn(15)
        lists = Lists.from_arrays(scores, labels, groups)
        sweep = Sweep.of(lists, rs.parse_measure("nDCG_f@3"))
        draw, found = np.random.default_rng(3), []
        for _ in range(60):
            weights = np.bincount(draw.integers(0, 15, size=(1, 15))[0], minlength=15).astype(float)
            found.append(sweep.threshold(sweep.best(sweep.values(weights))))
        found.sort()
        assert GlobalCutoff("nDCG_f@3").fit_lists(lists).interval(lists, 60, seed=3) == (found[1], found[58], 0.95)

    def test_more_queries_are_surer(self):
        widths = []
        for queries in (20, 2000):
            lists = Lists.from_arrays(*drawn(queries, seed=1))
            low, high, _ = GlobalCutoff("nDCG_f@3").fit_lists(lists).interval(lists, 200)
            widths.append(high - low)
        assert widths[1] < widths[0] / 3

    @pytest.mark.parametrize("measure", ["nDCG_f@3", "Fdocs@3"])
    def test_cross_validation_is_the_plain_one(self, measure):
        scores, labels, groups = drawn(17)
        cut = GlobalCutoff(measure).fit(scores, labels, groups)
        found = cut.cross_validated(Lists.from_arrays(scores, labels, groups), 4, seed=5)
        fold = np.empty(17, dtype=int)
        fold[np.random.default_rng(5).permutation(17)] = np.arange(17) % 4
        kept = np.zeros(len(scores), dtype=bool)
        for f in range(4):
            own = fold[groups] == f
            threshold = GlobalCutoff(measure).fit(scores[~own], labels[~own], groups[~own]).threshold_
            assert found.thresholds[f] == threshold
            kept[own] = scores[own] >= threshold
        _, expected = at_threshold(rs.parse_measure(measure), np.where(kept, scores, -99), labels, groups, -98)
        assert found.value == pytest.approx(expected, abs=1e-12)
        assert found.keep_all == pytest.approx(cut.values_[-1], abs=1e-12)
        assert found.drop_all == pytest.approx(cut.values_[0], abs=1e-12)

    def test_it_is_no_better_than_on_its_own_queries(self):
        lists = Lists.from_arrays(*drawn(30))
        cut = GlobalCutoff("nDCG_f@3").fit_lists(lists)
        assert cut.cross_validated(lists).value <= cut.value_ + 1e-12

    def test_too_many_folds(self):
        with pytest.raises(InputError, match="50 folds of 40 queries"):
            GlobalCutoff().fit(*drawn()).cross_validated(Lists.from_arrays(*drawn()), 50)

    @pytest.mark.parametrize("given", [(), (200,)])
    @pytest.mark.parametrize("method", ["interval", "cross_validated"])
    def test_the_documents_are_asked_for(self, method, given):
        cut = GlobalCutoff().fit(*drawn())
        remedy = rf"give them: {method}\(Lists.from_arrays\(scores, labels, groups\)\)"
        with pytest.raises(InputError, match=f"does not keep the documents that it was fitted on; {remedy}"):
            getattr(cut, method)(*given)

    def test_the_picture_shows_the_best(self):
        cut = GlobalCutoff("nDCG_f@3").fit(*drawn())
        axes = cut.plot().axes[0]
        assert axes.get_ylabel() == "nDCG_f@3"
        marked = [line for line in axes.lines if line.get_marker() == "o"]
        assert [marked[0].get_xdata()[0], marked[0].get_ydata()[0]] == [cut.threshold_, cut.value_]


class TestFiles:
    def test_what_is_saved_is_read_again(self, tmp_path):
        cut = GlobalCutoff("nDCG_f@3").fit(*drawn(), gains={-8: -10})
        cut.save(tmp_path / "cutoff.json")
        again = load_cutoff(tmp_path / "cutoff.json")
        assert (again.threshold_, again.get_params()) == (cut.threshold_, cut.get_params())
        assert again.value_ == cut.value_
        scores = np.random.default_rng(9).normal(size=50)
        assert np.array_equal(again.keep(scores), cut.keep(scores))
        again.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "cutoff.json").read_bytes()

    @quiet
    @pytest.mark.parametrize("labels", [[1, 1], [-1, -1]])
    def test_without_the_library_too(self, tmp_path, labels):
        GlobalCutoff().fit([3.0, 2.0], labels, ["q", "r"]).save(tmp_path / "c.json")
        threshold = float(json.loads((tmp_path / "c.json").read_text())["threshold"])
        assert [s >= threshold for s in (1e300, -1e300)] == [labels[0] > 0] * 2

    def test_it_says_what_it_was_fitted_on(self):
        scores, labels, groups = drawn()
        said = GlobalCutoff("nDCG_f@3").fit(scores, labels, groups, gains={-8: -10}).to_dict()
        about = said["fitted_on"]
        assert (about["queries"], about["documents"], about["forbidden"]) == (40, 160, int((labels < 0).sum()))
        assert about["scores"] == pytest.approx(np.quantile(scores, [0, 0.25, 0.5, 0.75, 1]).tolist())
        assert "-10" in about["gains"]
        assert said["rule"] == "global"
        assert "fitted on" in said["promise"]

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("{", "is not JSON"),
            ("[]", "is not a cutoff of this version"),
            ('{"format": "ranksift-cutoff-9"}', "is not a cutoff of this version"),
            ('{"format": "ranksift-cutoff-1", "rule": "magic"}', "unknown rule 'magic'"),
            ('{"format": "ranksift-cutoff-1", "rule": "global", "parameters": {}}', "lacks 'measure'"),
            ('{"format": "ranksift-cutoff-1", "rule": "global", "parameters": {"x": 1}}', "is damaged"),
        ],
    )
    def test_bad_files(self, tmp_path, text, fault):
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(InputError, match=f"c.json: .*{fault}"):
            load_cutoff(tmp_path / "c.json")

    @quiet
    @pytest.mark.parametrize(
        ("rule", "key", "value"),
        [
            (GlobalCutoff(), "threshold", None),
            (GlobalCutoff(), "threshold", "0.5"),
            (GlobalCutoff(), "threshold", float("nan")),
            (GlobalCutoff(), "threshold", 10**400),
            (GlobalCutoff(), "threshold", [0.1, 0.2, 0.3, 0.4, 0.5]),
            (GlobalCutoff(), "fitted_on", {}),
            (GlobalCutoff(), "fitted_on", {"two_scores": False, "scores": [1, 2]}),
            (rs.NormalizedCutoff(by="zscore"), "parameters", {"measure": "nDCG_f@3"}),
            (rs.NormalizedCutoff(), "parameters", {"measure": "nDCG_f@3", "by": "abc"}),
            (rs.NormalizedCutoff(), "flat_threshold", {}),
            (rs.ShapeCutoff(), "weights", {"length": 1.0}),
            (rs.ShapeCutoff(), "weights", {"top": "high"}),
            (rs.ExpectedGainCutoff(), "calibration", {"labels": [-8.0, 1.0], "at_least": {"1": {"method": "none"}}}),
            (rs.ExpectedGainCutoff(features="shape"), "calibration", {"labels": [-8.0, 1.0], "at_least": {}}),
            (rs.RiskCutoff(), "promise", 1),
        ],
    )
    def test_edited_into_nonsense(self, tmp_path, rule, key, value):
        path = tmp_path / "c.json"
        rule.fit(*drawn()).save(path)
        load_cutoff(path)
        path.write_text(json.dumps(with_sum({**json.loads(path.read_text()), key: value})))
        with pytest.raises(InputError, match=r"c\.json: (lacks|is damaged|is not JSON).*; (make|name)") as fault:
            load_cutoff(path)
        assert "\n" not in str(fault.value)

    def test_no_file(self, tmp_path):
        with pytest.raises(InputError, match=r"absent.json: cannot be read"):
            load_cutoff(tmp_path / "absent.json")


@pytest.fixture(scope="module")
def collection():
    return synthetic_collection(queries=30, seed=2)


class TestRuns:
    @quiet
    def test_a_run_and_its_judgments(self, collection):
        qrels, runs = collection
        run = runs["unfiltered"]
        cut = GlobalCutoff("nDCG_f@5").fit_run(qrels, run)
        filtered = cut.apply(run)
        assert rs.evaluate(qrels, filtered, "nDCG_f@5").mean_of("nDCG_f@5") == pytest.approx(cut.value_, abs=1e-12)
        for t in np.quantile(run.scores, np.linspace(0, 1, 25)):
            other = read_run({q: {d: s for d, s in docs.items() if s >= t} for q, docs in run.to_dict().items()})
            assert rs.evaluate(qrels, other, "nDCG_f@5").mean_of("nDCG_f@5") <= cut.value_ + 1e-12

    @quiet
    def test_another_runs_scores(self, collection):
        qrels, runs = collection
        run = runs["unfiltered"].to_dict()
        draw = np.random.default_rng(0)
        spam = {q: {d: float(draw.random()) for d in docs} for q, docs in run.items()}
        cut = GlobalCutoff("nDCG_f@5").fit_run(qrels, run, cut_scores=spam)
        filtered = cut.apply(run, cut_scores=spam)
        kept = {q: [d for d in docs if spam[q][d] >= cut.threshold_] for q, docs in run.items()}
        assert {q: list(docs) for q, docs in filtered.to_dict().items()} == kept
        assert rs.evaluate(qrels, filtered, "nDCG_f@5").mean_of("nDCG_f@5") == pytest.approx(cut.value_, abs=1e-12)
        with pytest.raises(InputError, match="fitted on two scores"):
            cut.apply(run)
        del spam[next(iter(spam))]
        with pytest.raises(InputError, match="has no score to cut on"):
            GlobalCutoff().fit_run(qrels, run, cut_scores=spam)

    def test_queries_that_the_run_does_not_answer_count(self):
        qrels = {"q": {"a": 1, "b": -1}, "r": {"c": -1}, "s": {"d": 1}}
        cut = GlobalCutoff("nDCG_f@2").fit_run(qrels, {"q": {"a": 2.0, "b": 1.0}, "r": {"c": 1.5}})
        assert cut.threshold_ == 2.0
        assert cut.value_ == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def cut():
    return GlobalCutoff().fit(*drawn(spread=5.0))


class TestScale:
    @pytest.mark.parametrize(
        "other", [lambda s: 1 / (1 + np.exp(-s)), lambda s: s * 100, lambda s: s + 1000, lambda s: s / 100]
    )
    def test_another_scale_is_refused(self, cut, other):
        with pytest.raises(InputError, match="any_scale=True"):
            cut.check_scale(other(drawn(seed=4, spread=5.0)[0]))

    def test_the_same_scale_is_not(self, cut):
        for seed in range(20):
            cut.check_scale(drawn(3, seed=seed, spread=5.0)[0])
        cut.check_scale([])

    def test_apply_asks(self, cut):
        run = {"q": {f"d{i}": 1000.0 + i for i in range(5)}}
        with pytest.raises(InputError, match="scores from 1000 to 1004"):
            cut.apply(run)
        assert len(cut.apply(run, any_scale=True)) == 5


class TestBadInput:
    @pytest.mark.parametrize(
        ("scores", "labels", "groups", "fault"),
        [
            ([1.0, 2.0], [1], ["q", "q"], "2 scores, 1 labels, 2 groups"),
            ([1.0], [1, 2], ["q"], "1 scores, 2 labels"),
            ([1.0, np.nan], [1, 2], ["q", "q"], "score number 1 is nan"),
            ([1.0, np.inf], [1, 2], ["q", "q"], "score number 1 is inf"),
            (["x", 1], [1, 2], ["q", "q"], "a score is not a number"),
            ([1.0], ["good"], ["q"], "a label is not a number"),
            ([1.0], [np.inf], ["q"], "label number 0 is infinite"),
            ([[1.0]], [1], ["q"], "scores of 2 dimensions"),
            ([], [], [], "there is no document"),
            ([1.0, 2.0], [None, None], ["q", "q"], "no document has a label"),
            ([1.0, 2.0], [1, 2], [np.nan, 1.0], "group number 0 is nan"),
        ],
    )
    def test_one_line_each(self, scores, labels, groups, fault):
        with pytest.raises(InputError, match=fault) as caught:
            GlobalCutoff().fit(scores, labels, groups)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("scores", "labels", "groups", "word"),
        [
            ([3.0, 2.0, 1.0], [1, 2, 0], ["q", "r", "s"], "no label is forbidden"),
            ([3.0, 2.0, 1.0], [1, -2, 0], ["q", "q", "q"], "only one query"),
            ([1.0, 1.0, 1.0], [1, -2, 0], ["q", "r", "s"], "all scores are equal"),
            ([3.0, 2.0, 1.0], [1, -2, None], ["q", "r", "r"], "1 of 3 documents have no label"),
            ([3.0, 2.0, 1.0], [1, -2, None], ["q", "r", "s"], "1 of 3 queries have no label: they count"),
        ],
    )
    @quiet
    def test_a_word_of_warning(self, scores, labels, groups, word):
        with pytest.warns(RankSiftWarning, match=word):
            cut = GlobalCutoff().fit(scores, labels, groups)
        assert any(word in note for note in cut.notes_)

    @quiet
    def test_queries_of_a_run_without_labels_are_left_out(self):
        with pytest.warns(RankSiftWarning, match="1 of 2 queries have no label: they are left out"):
            cut = GlobalCutoff().fit_run({"q": {"a": 1, "b": -1}}, {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0}})
        assert cut.fitted_on_["queries"] == 1

    def test_unjudged_is_one_of_two_words(self):
        for fit in (
            lambda: GlobalCutoff().fit([1.0], [1], ["q"], unjudged="keep"),
            lambda: GlobalCutoff().fit_run({"q": {"a": 1}}, {"q": {"a": 2.0}}, unjudged="keep"),
        ):
            with pytest.raises(InputError, match="unjudged='keep' is unknown"):
                fit()

    @pytest.mark.parametrize(("asked", "fault"), [({"samples": 0}, "samples=0"), ({"confidence": 2}, "confidence=2")])
    def test_an_interval_of_nothing(self, asked, fault):
        with pytest.raises(InputError, match=fault):
            GlobalCutoff().fit(*drawn()).interval(Lists.from_arrays(*drawn()), **asked)

    @quiet
    def test_one_query_has_no_folds(self):
        one = Lists.from_arrays([1.0, 2.0], [1, -1], ["q", "q"])
        with pytest.raises(InputError, match="one query cannot be split into folds"):
            GlobalCutoff().fit_lists(one).cross_validated(one)

    def test_not_fitted(self):
        for use in (lambda c: c.keep([1.0]), lambda c: c.to_dict()):
            with pytest.raises(InputError, match="this GlobalCutoff is not fitted; call fit first"):
                use(GlobalCutoff())

    def test_measures(self):
        with pytest.raises(InputError, match="is 2 measures"):
            GlobalCutoff("AP RR").fit(*drawn())
        with pytest.raises(InputError, match="looks for a NIL document"):
            GlobalCutoff('nDCG(nil="NIL")@3').fit(*drawn())


class TestManners:
    def test_parameters(self):
        cut = GlobalCutoff("AP")
        assert cut.get_params() == {"measure": "AP", "at_most": None}
        assert cut.set_params(measure="RR").measure == "RR"
        with pytest.raises(InputError, match="has no parameter 'depth'"):
            cut.set_params(depth=3)

    def test_a_clone_is_not_fitted(self):
        cut = GlobalCutoff("AP").fit(*drawn())
        assert cut.clone().get_params() == cut.get_params()
        assert not hasattr(cut.clone(), "threshold_")

    def test_fit_returns_itself(self):
        cut = GlobalCutoff()
        assert cut.fit(*drawn()) is cut


def test_notes_point_at_the_line_that_fitted():
    qrels, run = {"q": {"a": 1, "b": -1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    for fit in (
        lambda: rs.GlobalCutoff("nDCG_f@3").fit_run(qrels, run),
        lambda: rs.NormalizedCutoff("nDCG_f@3").fit_run(qrels, run),
        lambda: rs.GlobalCutoff("nDCG_f@3").fit([0.9, 0.5, 0.1], [1, -1, np.nan], groups=["q", "q", "q"]),
    ):
        with pytest.warns(rs.RankSiftWarning) as heard:
            fit()
        assert any("1 of 3 documents have no label" in str(one.message) for one in heard)
        assert {one.filename for one in heard} == {__file__}
