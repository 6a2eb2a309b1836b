"""Rules side by side: held-out values by plain loops, no peeking, letters, the trade-off at every threshold."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import ranksift as rs
from ranksift import GlobalCutoff, InputError, RankSiftWarning
from ranksift.collection.lists import Lists
from ranksift.cutoffs.baselines import FilterOnly, Oracle
from ranksift.cutoffs.comparison import compare_cutoffs
from ranksift.cutoffs.cutoff import RULES, Cutoff
from ranksift.cutoffs.held_out import folds_of
from ranksift.cutoffs.rules import known_rules


def lists_of(*data, **how):
    """Lists of arrays, of a run with its judgments, or as they are."""
    if len(data) == 1:
        return data[0]
    return (Lists.from_run if len(data) == 2 else Lists.from_arrays)(*data, **how)


OF_LISTS = ("gains", "unjudged", "rank_scores", "cut_scores")


def compared(*data, test=None, **how):
    options = {name: how.pop(name) for name in OF_LISTS if name in how}
    other = None if test is None else lists_of(*test) if isinstance(test, tuple) else test
    return compare_cutoffs(lists_of(*data, **options), test=other, **how)


quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

COLUMNS = ["nDCG_f@3", "nDCG_0@3", "nDCG_min@3", "Fdocs@3", "GoodFiltered", "Empty"]


def drawn(queries=30, seed=0, noise=1.0):
    """Lists of 1 to 5 documents with scores that tell labels apart more or less."""
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), draw.integers(1, 6, queries))
    labels = draw.choice([-4.0, 0, 1, 2], len(groups), p=[0.3, 0.2, 0.3, 0.2])
    return np.maximum(labels, -1) + draw.normal(0, noise, len(groups)), labels, groups


def as_files(scores, labels, groups, kept=None):
    """The same documents as judgments and a run, less what was dropped."""
    qrels, run = {}, {}
    for i, query in enumerate(map(str, groups)):
        qrels.setdefault(query, {})[f"d{i}"] = int(labels[i])
        run.setdefault(query, {})
        if kept is None or kept[i]:
            run[query][f"d{i}"] = float(scores[i])
    return qrels, run


class TestHeldOut:
    def test_every_column_is_what_evaluate_says_of_lists_cut_by_a_rule_that_never_saw_them(self):
        scores, labels, groups = drawn()
        found = compared(scores, labels, groups, rules=["global", "rank-only", "filter-all"], folds=3, seed=5)
        fold = folds_of(30, 3, seed=5)
        kept = np.zeros(len(scores), dtype=bool)
        for f in range(3):
            others = fold[groups] != f
            rule = GlobalCutoff("nDCG_f@3").fit(scores[others], labels[others], groups[others])
            kept[~others] = scores[~others] >= rule.threshold_
        assert 0 < kept.sum() < len(kept)
        for name, mask in {"global": kept, "rank-only": kept | True, "filter-all": kept & False}.items():
            expected = rs.evaluate(*as_files(scores, labels, groups, mask), COLUMNS)
            row = found.scores.row(name)
            np.testing.assert_allclose(found.scores.values[row], expected.values[0], rtol=0, atol=1e-12)
            np.testing.assert_allclose(found.means[row], expected.aggregate()[0], rtol=0, atol=1e-12)
        assert found.scores.queries == tuple(str(q) for q in range(30))
        assert [str(m) for m in found.scores.measures] == COLUMNS

    def test_no_rule_sees_the_queries_that_it_is_judged_on(self):
        seen = []

        class Watching(Cutoff):
            def _learn(self, lists):
                self.known = set(lists.names)

            def _kept(self, lists):
                seen.append((self.known, set(lists.names)))
                return np.ones(len(lists.score), dtype=bool)

        scores, labels, groups = drawn(11)
        compared(scores, labels, groups, rules={"watching": Watching()}, folds=4)
        assert len(seen) == 4
        assert all(not known & judged and known | judged == set(range(11)) for known, judged in seen)
        assert sorted(q for _, judged in seen for q in judged) == list(range(11))

    def test_another_set_is_judged_by_rules_fitted_on_all_of_the_first(self):
        train, test = drawn(seed=1), drawn(20, seed=2)
        found = compared(*train, test=test, rules=["global"])
        rule = GlobalCutoff("nDCG_f@3").fit(*train)
        expected = rs.evaluate(*as_files(*test, rule.keep(test[0], test[2])), COLUMNS)
        np.testing.assert_allclose(found.means[0], expected.aggregate()[0], rtol=0, atol=1e-12)
        assert len(found.scores.queries) == 20
        assert "fitted on 30 other queries" in str(found)
        again = compared(lists_of(*train), test=lists_of(*test), rules=["global"])
        assert again.means.tolist() == found.means.tolist()

    def test_the_order_of_documents_plays_no_part(self):
        scores, labels, groups = drawn(12)
        draw = np.random.default_rng(3)
        # Inside each query only: queries are drawn into folds in the order in which they appear.
        shuffle = np.concatenate([draw.permutation(np.flatnonzero(groups == q)) for q in range(12)])
        rules = ["global", "filter-only", "oracle"]
        one = compared(scores, labels, groups, rules=rules)
        two = compared(scores[shuffle], labels[shuffle], groups[shuffle], rules=rules)
        np.testing.assert_allclose(one.scores.values, two.scores.values, rtol=0, atol=1e-14)

    def test_judgments_and_a_run_give_what_arrays_give(self):
        data = drawn(12)
        arrays = compared(*data, rules=["global", "oracle"], gains={-4: -10})
        files = compared(*as_files(*data), rules=["global", "oracle"], gains={-4: -10})
        np.testing.assert_allclose(arrays.scores.values, files.scores.values, rtol=0, atol=1e-14)
        assert arrays.means[0, 0] != compared(*data, rules=["global"]).means[0, 0]

    def test_seeds_draw_the_folds(self):
        data = drawn(noise=2.0)
        values = [compared(*data, rules=["global"], seed=seed).scores.values.tolist() for seed in (0, 0, 1)]
        assert values[0] == values[1] != values[2]

    def test_two_scores(self):
        labels, groups = np.tile([2.0, -1, 1], 8), np.repeat(np.arange(8), 3)
        ranks, spam = np.tile([3.0, 2, 1], 8), np.tile([0.9, 0.1, 0.8], 8)
        found = compared(spam, labels, groups, rank_scores=ranks, rules=["global", "rank-only"])
        assert found.value("global") == pytest.approx(1.0, abs=1e-12)
        assert found.value("rank-only") < 1.0
        qrels, run = as_files(ranks, labels, groups)
        cut = as_files(spam, labels, groups)[1]
        again = compared(qrels, run, cut_scores=cut, rules=["global", "rank-only"])
        np.testing.assert_allclose(again.means, found.means, rtol=0, atol=1e-14)


class TestRules:
    @quiet
    def test_all_rules_between_the_baselines_and_the_oracle(self):
        found = compared(*drawn(60), folds=3)
        runs = found.scores.runs
        assert runs[:4] == ("filter-all", "rank-only", "filter-only", "global")
        assert runs[-1] == "oracle"
        assert set(runs) - {"filter-only", "oracle"} == set(known_rules()) - {"fixed"}
        assert found.bounds == ("oracle",)
        assert found.rules == runs[:-1]
        by_cuts = [found.value(rule) for rule in found.rules if rule not in ("filter-only", "expected-gain")]
        assert found.value("oracle") >= max(by_cuts) - 1e-12

    def test_names(self):
        other = GlobalCutoff("nDCG_min@3")
        found = compared(*drawn(), rules=["global", other, other, 0.5, FilterOnly(other), Oracle("AP")])
        assert found.scores.runs == (
            "global",
            "global (measure=nDCG_min@3)",
            "global (measure=nDCG_min@3) 2",
            "0.5",
            "filter-only global (measure=nDCG_min@3)",
            "oracle (measure=AP)",
        )
        assert found.bounds == ("oracle (measure=AP)",)
        named = compared(*drawn(), rules={"today": 0.5, "new": "global"})
        assert named.scores.runs == ("today", "new")
        assert named.value("today") == found.value("0.5")
        assert compared(*drawn(), rules="global").scores.runs == ("global",)

    def test_a_rule_of_ones_own_is_named_by_its_class_and_parameters(self):
        @dataclass(eq=False)
        class First(Cutoff):
            count: int

            def _learn(self, lists):
                pass

            def _kept(self, lists):
                return lists.rank <= self.count

        found = compared(*drawn(), rules=[First(1), First(9), "rank-only"])
        assert found.scores.runs == ("first (count=1)", "first (count=9)", "rank-only")
        assert found.value("first (count=9)") == found.value("rank-only") != found.value("first (count=1)")

    def test_filter_only_keeps_what_its_rule_keeps(self):
        found = compared(*drawn(), rules=["global", "filter-only"])
        for measure in ("GoodFiltered", "Empty"):
            assert found.value("filter-only", measure) == found.value("global", measure)
        assert found.value("filter-only") < found.value("global")

    def test_rules_are_fitted_to_the_measure_and_k(self):
        data = drawn(noise=1.5)
        found = compared(*data, rules={"ours": "global", "by hand": GlobalCutoff("RR_qwa")}, measure="RR_qwa", k=2)
        assert [str(m) for m in found.scores.measures] == ["RR_qwa", *(c.replace("@3", "@2") for c in COLUMNS)]
        assert found.scores.values[0].tolist() == found.scores.values[1].tolist()
        assert found.table().columns[2].name == "RR_qwa"

    @quiet
    def test_a_rule_that_cannot_be_fitted_is_left_out_unless_it_was_asked_for(self):
        @dataclass(eq=False)
        class Refusing(Cutoff):
            rule: ClassVar[str] = "refusing"

            def _learn(self, lists):
                raise InputError("I would rather not")

        try:
            data = drawn()
            with pytest.warns(RankSiftWarning, match="refusing is left out: I would rather not"):
                found = compared(*data)
            assert "refusing" not in found.scores.runs
            assert sum("refusing" in note for note in found.notes) == 1
            with pytest.raises(InputError, match="I would rather not"):
                compared(*data, rules=["refusing"])
        finally:
            del RULES["refusing"]

    def test_what_a_rule_says_when_it_is_fitted_is_told_once(self):
        class Talking(Cutoff):
            def _learn(self, lists):
                self.notes_ = (*self.notes_, "mind the gap")

            def _kept(self, lists):
                return np.ones(len(lists.score), dtype=bool)

        with pytest.warns(RankSiftWarning, match="^it: mind the gap$") as told:
            found = compared(*drawn(), rules={"it": Talking()})
        assert len(told) == 1
        assert found.notes == ("it: mind the gap",)
        assert "it: mind the gap" in str(found)


class TestTable:
    def test_letters_are_those_of_compare(self):
        found = compared(*drawn(80), rules=["filter-all", "rank-only", "global", "oracle"])
        usable = rs.compare(rs.Scores.from_array(
            found.scores.values[:3], runs=found.rules, queries=found.scores.queries, measures=found.scores.measures
        ))  # fmt: skip
        table = found.table()
        letters = [row[2].letters for row in table.rows]
        beaten = ["".join(usable.letters[r] for r in usable.better_than(rule, "nDCG_f@3")) for rule in found.rules]
        assert letters == [*beaten, ""]
        assert any(beaten)
        assert all(not cell.letters for row in table.rows for cell in row[3:])
        assert [row[0].value for row in table.rows] == ["a", "b", "c", ""]
        assert found.best == "global"
        assert [row[2].bold for row in table.rows] == [False, False, True, False]
        assert all(not row[j].bold for row in table.rows for j in (5, 6, 7))
        assert "oracle: the best cut of each query, known from its labels" in str(found)

    def test_costs_are_shares_in_percent(self):
        found = compared(*drawn(), rules=["filter-all", "rank-only"])
        assert "100.00%  100.00%" in str(found)

    def test_the_correction_and_the_test_are_those_asked_for(self):
        data = drawn()
        found = compared(*data, rules=["rank-only", "global"], significance="wilcoxon", correction="bh", alpha=0.01)
        assert (found.comparison.test, found.comparison.correction, found.comparison.alpha) == ("wilcoxon", "bh", 0.01)
        assert "Wilcoxon signed-rank test, Benjamini-Hochberg correction, p <= 0.01" in str(found)

    def test_frame_and_json(self):
        found = compared(*drawn(80), rules=["rank-only", "global", "oracle"])
        frame = found.to_frame()
        assert frame.columns == ["rule", "usable", *COLUMNS, "difference_to_best", "p_against_best"]
        assert frame["usable"].to_list() == [True, True, False]
        np.testing.assert_allclose(frame.select(COLUMNS).to_numpy(), found.means)
        p = float(found.comparison.corrected_p[0, 0])
        assert frame["p_against_best"].to_list() == [p, None, None]
        made = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert made["best"] == "global"
        assert [row["rule"] for row in made["rules"]] == ["rank-only", "global", "oracle"]
        assert len(made["comparisons"]) == len(COLUMNS)

    def test_reading(self):
        told = compared(*drawn(80), rules=["filter-all", "rank-only", "global", GlobalCutoff("AP"), "oracle"]).reading()
        assert told[0].startswith("global is the best rule by nDCG_f@3: 0.")
        assert told[1].startswith("It is significantly better than filter-all")
        assert told[-1].startswith("The oracle has 0.")

    def test_rules_that_are_as_good_as_the_best_are_named(self):
        """With one document in every query there is no order to lose: filter-only keeps what global keeps."""
        qrels = {f"q{i}": {"a": 1 if i % 3 else -1} for i in range(30)}
        run = {q: {"a": float(i % 3 > 0) + i / 100} for i, q in enumerate(qrels)}
        first, *others = compared(qrels, run, rules=["filter-only", "global", "rank-only"], gains={-1: -10}).reading()
        assert first == "filter-only is the best rule by nDCG_f@3: 0.9667; so is global."
        assert not any("distinguished from global" in sentence for sentence in others)

    def test_good_documents_that_nobody_retrieved_are_explained(self):
        qrels, run = as_files(*drawn())
        qrels["0"]["unseen"] = 1
        assert "good documents that no list holds" in str(compared(qrels, run, rules=["global"]))
        assert "no list holds" not in str(compared(*drawn(), rules=["global"]))

    def test_one_rule_alone_is_not_tested(self):
        found = compared(*drawn(), rules=["global", "oracle"])
        assert found.comparison is None
        assert found.to_frame()["p_against_best"].to_list() == [None, None]
        assert "A letter" not in str(found)


class TestApart:
    def test_ndcg_f_of_single_documents_is_the_accuracy_of_filtering(self):
        draw = np.random.default_rng(0)
        sizes = draw.integers(1, 4, 60)
        groups = np.repeat(np.arange(60), sizes)
        labels = draw.choice([-3.0, 1, 2], len(groups))
        scores = labels + draw.normal(0, 3, len(groups))
        found = compared(scores, labels, groups, rules=["filter-all", "rank-only", 0.0])
        single = found.apart()["single-document queries"]
        alone = np.isin(groups, np.flatnonzero(sizes == 1))
        good = labels[alone] > 0
        accuracy = {"filter-all": ~good, "rank-only": good, "0": good == (scores[alone] >= 0)}
        for rule, right in accuracy.items():
            assert single.value(rule) == pytest.approx(right.mean(), abs=1e-12)
            assert single.value(rule, "nDCG_min@3") == 0.0
        several = found.apart()["other queries"]
        assert len(single.scores.queries) + len(several.scores.queries) == 60
        n, m = (sizes == 1).sum(), (sizes > 1).sum()
        whole = (n * single.value("0") + m * several.value("0")) / 60
        assert found.value("0") == pytest.approx(whole, abs=1e-12)
        assert "single-document queries" in str(single).lower()

    def test_kinds_that_do_not_occur_are_not_there(self):
        found = compared([1.0, 2, 3, 4], [1, -1, 1, -1], [0, 0, 1, 1], rules=["global"], folds=2)
        assert list(found.apart()) == ["other queries"]

    def test_of_queries_takes_masks_and_numbers(self):
        found = compared(*drawn(10), rules=["rank-only"], folds=2)
        some = found.of_queries(np.array([3, 1]))
        assert some.scores.queries == ("3", "1")
        assert some.scores.values.tolist() == found.scores.values[:, [3, 1]].tolist()
        assert found.of_queries(np.arange(10) < 2).scores.queries == ("0", "1")
        with pytest.raises(InputError, match="no query is chosen"):
            found.of_queries(np.zeros(10, dtype=bool))


class TestTradeoff:
    @pytest.mark.filterwarnings("ignore:run 'run' answers")
    @pytest.mark.parametrize("two", [False, True])
    def test_every_threshold_is_what_evaluate_says(self, two):
        scores, labels, groups = drawn(8)
        ranks = np.random.default_rng(9).normal(size=len(scores)) if two else None
        found = compared(scores, labels, groups, rank_scores=ranks, rules=["rank-only"], folds=2, k=2)
        curve = found.tradeoff
        assert curve.thresholds.tolist() == [np.inf, *sorted(scores.tolist(), reverse=True)[:-1], -np.inf]
        for t, good, shown in zip(curve.thresholds, curve["GoodFiltered"], curve["Fdocs@2"], strict=True):
            files = as_files(scores if ranks is None else ranks, labels, groups, scores >= t)
            expected = rs.evaluate(*files, ["GoodFiltered", "Fdocs@2"]).aggregate()[0]
            np.testing.assert_allclose([good, shown], expected, rtol=0, atol=1e-12)

    def test_plot_has_the_curve_and_a_point_for_each_rule(self):
        pytest.importorskip("matplotlib")
        found = compared(*drawn(), rules=["filter-all", "rank-only", "global", "oracle"])
        curve, *points = found.plot().axes[0].get_lines()
        assert [line.get_label() for line in points] == list(found.scores.runs)
        for run, line in zip(found.scores.runs, points, strict=True):
            (x,), (y,) = line.get_data()
            assert (x, y) == (100 * found.value(run, "GoodFiltered"), 100 * found.value(run, "Fdocs@3"))
        assert curve.get_xdata()[0] == 100.0
        assert curve.get_ydata()[0] == 0.0


class TestBadInput:
    @pytest.mark.parametrize(
        ("how", "said"),
        [
            ({"folds": 31}, "31 folds of 30 queries"),
            ({"folds": 1}, "1 folds of 30 queries"),
            ({"rules": ["globl"]}, "rule 'globl' is unknown; use filter-all, rank-only"),
            ({"rules": []}, "no rule is given"),
            ({"measure": 'nDCG(nil="NIL")@3'}, "looks for a NIL document"),
            ({"measure": "c_at_1"}, "c_at_1 is neither a mean"),
            ({"measure": "AP RR"}, "AP RR is 2 measures"),
            ({"k": 0}, "k=0 is not a positive integer"),
            ({"significance": "z"}, "test='z' is unknown"),
        ],
    )
    def test_a_word_each(self, how, said):
        with pytest.raises(InputError, match=said):
            str(compared(*drawn(), **{"rules": ["global", "rank-only"], **how}))

    @pytest.mark.parametrize("data", [([1.0],), ("a", "b", "c", "d")])
    def test_neither_lists_nor_what_they_are_made_of(self, data):
        with pytest.raises(InputError, match=r"compare_cutoffs takes Lists, not .*; make them: Lists.from_arrays"):
            compare_cutoffs(*data)

    @pytest.mark.parametrize("folds", [0, -1, 1, 10**30, "x", None, 2.5])
    def test_folds_that_are_none(self, folds):
        with pytest.raises(InputError, match="folds"):
            compared(*drawn(), rules=["global"], folds=folds)

    @pytest.mark.parametrize("seed", [-1, 1.5, None, True])
    def test_a_seed_that_is_none(self, seed):
        with pytest.raises(InputError, match="seed="):
            compared(*drawn(), rules=["global"], seed=seed)

    @pytest.mark.parametrize("test", [5, "x", [[0.9], [1], ["q"]]])
    def test_what_is_no_list_to_judge_on(self, test):
        with pytest.raises(InputError, match="compare_cutoffs takes Lists, not"):
            compare_cutoffs(Lists.from_arrays(*drawn()), test=test)

    def test_options_of_lists_beside_lists(self):
        with pytest.raises(InputError, match="gains is given in addition to Lists"):
            compare_cutoffs(Lists.from_arrays(*drawn()), gains="exp")

    def test_no_label_at_all(self):
        with pytest.raises(InputError, match="no document has a label"):
            compared([1.0, 2.0], [None, None], ["q", "r"], folds=2)

    def test_no_forbidden_label_is_told(self):
        scores, labels, groups = drawn()
        with pytest.warns(RankSiftWarning, match="no label is forbidden"):
            compared(scores, np.abs(labels), groups, rules=["global"])


def test_progress_is_told_of_every_fit():
    steps = []

    def progress(given):
        for step in given:
            steps.append(step)
            yield step

    compared(*drawn(), rules=["filter-only", "global", "rank-only"], folds=4, progress=progress)
    assert len(steps) == 8  # filter-only shuffles what global keeps


@quiet
def test_web_2012(data_dir):
    """Half of the web track's topics judge rules fitted on the other half; filtering −10 documents pays."""
    qrels = data_dir / "trec_web_qrels" / "qrels.web2012.adhoc.txt"
    run = data_dir / "trec_web_runs" / "2012" / "cwindri.run.gz"
    if not qrels.exists() or not run.exists():
        pytest.skip("no web track data")
    rules = ["filter-all", "rank-only", "filter-only", "global", "oracle"]
    found = compared(qrels, run, rules=rules, gains={-2: -10}, unjudged="drop", k=10, folds=2)
    scores = rs.evaluate(qrels, run, [m.replace("@3", "@10") for m in COLUMNS], gains={-2: -10}, unjudged="drop")
    np.testing.assert_allclose(found.means[1], scores.aggregate()[0], rtol=0, atol=1e-12)
    difficulty = rs.evaluate(qrels, run, "Difficulty@10", gains={-2: -10}).mean_of("Difficulty@10")
    assert found.value("filter-all") == pytest.approx(difficulty, abs=1e-12)
    assert found.value("oracle") >= max(found.value(rule) for rule in found.rules)
    assert found.value("global") > found.value("rank-only")


class TestOldSpelling:
    """Arrays, or judgments and a run, in the place of lists: they work, and warn."""

    def test_arrays(self):
        scores, labels, groups = drawn()
        with pytest.warns(RankSiftWarning, match=r"write compare_cutoffs\(Lists.from_arrays\(scores, labels, groups"):
            old = compare_cutoffs(scores, labels, groups, rules=["global"], gains={-4: -10})
        new = compare_cutoffs(Lists.from_arrays(scores, labels, groups, gains={-4: -10}), rules=["global"])
        assert str(old) == str(new)

    def test_a_run(self):
        qrels, run = as_files(*drawn())
        with pytest.warns(RankSiftWarning, match=r"write compare_cutoffs\(Lists.from_run\(qrels, run"):
            old = compare_cutoffs(qrels, run, rules=["global"])
        assert str(old) == str(compare_cutoffs(Lists.from_run(qrels, run), rules=["global"]))

    def test_other_arrays_to_judge_on(self):
        with pytest.warns(RankSiftWarning, match=r"test=\(scores, labels, groups\)\) is an old spelling"):
            old = compare_cutoffs(Lists.from_arrays(*drawn()), test=drawn(20), rules=["global"])
        new = compare_cutoffs(Lists.from_arrays(*drawn()), test=Lists.from_arrays(*drawn(20)), rules=["global"])
        assert str(old) == str(new)

    def test_a_second_score_of_the_other_kind(self):
        with pytest.raises(InputError, match="cut_scores cannot be combined with scores, labels, groups"):
            compare_cutoffs(*drawn(), cut_scores={"q": {"d": 1.0}})
