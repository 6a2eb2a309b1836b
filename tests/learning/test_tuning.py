"""Tuning: what is tried, how it is valued, and a search that is broken off."""

import json
import re
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pytest

from ranksift import GlobalCutoff, InputError, load
from ranksift.collection.examples import Examples, Fold, folds_of
from ranksift.learning import L2LogisticRegression, LambdaMART, LambdaMARTf, RankSVM, tune
from ranksift.learning.judged_documents import value_of
from ranksift.learning.methods import known_rankers
from ranksift.learning.ranker import RANKERS, Ranker
from ranksift.learning.search_space import Space, with_parameters
from ranksift.learning.validation import HeldOut, Scored
from ranksift.measures.names import parse_measure

pytestmark = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

#: Parameters that make a method quick on a handful of documents.
QUICK = {"epochs": 3, "trees": 5, "restarts": 1, "rounds": 5, "sweeps": 2, "folds": 2}


def planted(queries=12, docs=6, seed=0, labels=(-1, 0, 1), noise=1.0):
    """Documents whose labels follow two of three features, with noise."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(queries * docs, 3))
    hidden = 2 * x[:, 0] - x[:, 1] + noise * draw.normal(size=len(x))
    cuts = np.quantile(hidden, np.linspace(0, 1, len(labels) + 1)[1:-1])
    names = [f"s{seed}q{i}" for i in np.repeat(np.arange(queries), docs)]
    return Examples.from_arrays(x, np.array(labels, float)[np.searchsorted(cuts, hidden)], names)


@pytest.fixture(scope="module")
def examples():
    return planted()


@pytest.fixture(scope="module")
def other():
    return planted(seed=1)


@pytest.fixture
def no_ranker_is_left_behind():
    before = set(RANKERS)
    yield
    for name in set(RANKERS) - before:
        del RANKERS[name]


class TestWhatIsTried:
    def test_a_grid_has_every_combination_once_and_the_defaults_first(self, examples, other):
        found = tune(RANKERS["FocusedSVM"](k=2), examples, other, space={"C": [0.1, 1.0], "beta": [0.0, 0.5, 1.0]})
        tried = [(trial.params["C"], trial.params["beta"]) for trial in found.trials]
        assert tried == [(1.0, 0.5), (0.1, 0.0), (0.1, 0.5), (0.1, 1.0), (1.0, 0.0), (1.0, 1.0)]
        assert [trial.number for trial in found.trials] == list(range(6))

    def test_defaults_outside_the_grid_are_tried_too(self, examples, other):
        found = tune(RankSVM(C=3.0), examples, other, space={"C": [0.1, 10.0]}, trials=2)
        assert [trial.params["C"] for trial in found.trials] == [3.0, 0.1, 10.0]

    def test_a_choice_that_is_given_twice_is_tried_once(self):
        assert Space.of({"C": [1, 1.0, 2]}, RankSVM()).candidates(RankSVM(), 10, 0) == [{"C": 1.0}, {"C": 2}]

    def test_more_combinations_than_trials_are_drawn_none_twice(self):
        ranker = RANKERS["FocusedSVM"]()
        space = Space.of({"C": [0.1, 1.0, 10.0], "beta": [0.0, 0.5, 1.0]}, ranker)
        found = space.candidates(ranker, 8, seed=0)
        assert len({(c["C"], c["beta"]) for c in found}) == len(found) == 8

    def test_draws_lie_in_the_space_and_are_of_its_kind(self):
        ranker = RANKERS["LambdaMART"]()
        space = Space.of({"leaves": (4, 64, "log"), "l2": (1, 10), "learning_rate": (0.01, 0.1, "log")}, ranker)
        drawn = space.candidates(ranker, 200, seed=0)[1:]
        assert all(type(c["leaves"]) is int and 4 <= c["leaves"] <= 64 for c in drawn)
        assert all(type(c["l2"]) is float and 1 <= c["l2"] <= 10 for c in drawn)
        rates = np.array([c["learning_rate"] for c in drawn])
        assert 0.01 <= rates.min() < 0.012
        assert 0.085 < rates.max() <= 0.1
        assert np.median(rates) == pytest.approx(0.0316, rel=0.15)  # evenly in the logarithm

    def test_a_longer_search_begins_like_a_shorter_one(self):
        space = Space.of({"C": (0.01, 100.0, "log")}, RankSVM())
        ten, twenty = (space.candidates(RankSVM(), trials, seed=3) for trials in (10, 20))
        assert twenty[:10] == ten
        assert space.candidates(RankSVM(), 10, seed=4)[1:] != ten[1:]

    def test_networks_tune_what_carmel_and_others_tune(self):
        """Learning rate and batch size of every loss, and γ where it has one and says none."""
        assert {"learning_rate", "batch_size"} < set(RANKERS["LinearRanker"]("mse").natural_space(stopped=True))
        for name in ("LinearRanker", "MLPRanker"):
            losses = RANKERS[name]("lambdarank_bce").natural_space()["loss"]
            assert losses[0] == "lambdarank_bce"
            assert "lambdarank_bce(gamma=3)" in losses
            assert "loss" not in RANKERS[name]("lambdarank_bce(gamma=3)").natural_space()
            assert "loss" not in RANKERS[name]("ordinal").natural_space()

    def test_an_option_of_a_model_inside(self):
        ranker = RANKERS["ExpectedGainRanker"](options={"trees": 5})
        assert with_parameters(ranker, {"options.leaves": 7}).options == {"trees": 5, "leaves": 7}
        assert with_parameters(ranker, {"options.leaves": None}).options == {"trees": 5}
        assert ranker.options == {"trees": 5}

    @pytest.mark.parametrize("name", sorted(name for name, kind in known_rankers().items() if not kind.takes_texts))
    @pytest.mark.parametrize("stopped", [True, False])
    def test_the_space_of_every_method_has_parameters_that_it_takes(self, name, stopped, examples, other):
        kind = RANKERS[name]
        quick = {key: value for key, value in QUICK.items() if key in kind().get_params()}
        ranker = kind(gains={-1: -10}, **quick)
        space = ranker.natural_space(stopped=stopped)
        assert space
        assert not (stopped and {"trees", "epochs", "rounds"} & set(space))
        checked = Space.of(space, ranker)
        for candidate in islice(checked.candidates(ranker, 4, seed=0), 1, 3):
            for short in ("trees", "epochs", "rounds"):
                if short in candidate:
                    candidate[short] = min(candidate[short], QUICK[short])
            scores = with_parameters(ranker, candidate).fit(examples, other if stopped else None).score(other)
            assert np.isfinite(scores).all()

    @pytest.mark.parametrize(
        ("space", "fault"),
        [
            ({"depth": [1]}, "RankSVM has no parameter 'depth'; it has: "),
            ({"C": []}, "space of C: there is no choice"),
            ({"C": 3}, "space of C: 3; write C as a list"),
            ({"C": (1, 2, "linear")}, "space of C: "),
            ({"C": (2, 1)}, "space of C: 2 is not below 1"),
            ({"C": (0, 1, "log")}, "space of C: 0 is not positive"),
            ({"C": (0.1, float("inf"))}, "space of C: inf is not a number"),
            ({"C.x": [1]}, "parameter 'C' has no 'x'"),
            ({}, "the space is empty"),
            ([1], "is not a mapping"),
        ],
    )
    def test_a_space_that_is_none(self, examples, space, fault):
        with pytest.raises(InputError, match=fault.replace("(", r"\(")):
            tune(RankSVM(), examples, space=space)

    def test_a_method_with_nothing_to_tune(self, examples, no_ranker_is_left_behind):
        class Constant(Ranker):
            pass

        with pytest.raises(InputError, match="Constant has nothing to tune by itself; give a space"):
            tune(Constant(), examples)


class Peak(Ranker, abstract=True):
    """A query is ranked well if it lies farther from 0 than the parameters do from what is planted."""

    natural_scaling = "none"

    def _train(self, examples, validation):
        pass

    def _score(self, features):
        return np.where(features[:, 0] > self.distance, features[:, 1], -features[:, 1])


class TestSamplers:
    """How trials are drawn."""

    @pytest.fixture
    def peak(self, no_ranker_is_left_behind):
        @dataclass(eq=False)
        class Planted(Peak):
            x: float = 0.0
            y: float = 0.0

            @property
            def distance(self):
                return float(np.hypot(self.x - 0.7, self.y - 0.2))

        return Planted()

    @pytest.fixture
    def queries(self):
        far, label = np.repeat(np.linspace(0, 1, 200), 2), np.tile([1.0, 0.0], 200)
        return Examples.from_arrays(np.column_stack([far, label]), label, np.repeat(np.arange(200), 2))

    def search(self, ranker, examples, sampler="tpe", **how):
        given = {"space": {"x": (0.0, 1.0), "y": (0.0, 1.0)}, "trials": 30, "measure": "P@1", **how}
        return tune(ranker, examples, examples, sampler=sampler, **given)

    def test_random_draws_are_those_of_earlier_versions(self):
        ranker = LambdaMART()
        space = {
            "leaves": (4, 64, "log"),
            "l2": (0.01, 10.0, "log"),
            "document_share": (0.4, 1.0),
            "stop_by": ["loss", "measure"],
        }
        drawn = [tuple(candidate.values()) for candidate in Space.of(space, ranker).candidates(ranker, 4, seed=7)]
        assert drawn == [
            (15, 1.0, 0.8, "loss"),
            (9, 0.16046123573565618, 0.9277937408874625, "measure"),
            (61, 0.058462945708661854, 0.8758861276396874, "loss"),
            (43, 0.1389065848676229, 0.8752761483789296, "loss"),
        ]

    def test_tpe_comes_nearer_to_a_planted_optimum(self, peak, queries):
        apart = {
            sampler: [self.search(peak, queries, sampler, seed=seed).ranker.distance for seed in range(5)]
            for sampler in ("random", "tpe")
        }
        assert np.median(apart["tpe"]) < 0.5 * np.median(apart["random"])

    def test_tpe_begins_as_random_does(self, peak, queries):
        drawn, found = (self.search(peak, queries, sampler, seed=3).trials for sampler in ("random", "tpe"))
        assert found[:10] == drawn[:10]
        assert not set(map(key, found[10:])) & set(map(key, drawn[10:]))

    def test_tpe_broken_off_goes_on_to_the_same_result(self, peak, queries, tmp_path):
        whole = self.search(peak, queries)
        for after in (3, 14, 21):
            with pytest.raises(Stopped):
                self.search(peak, queries, storage=tmp_path / "s", progress=broken_off(after))
        held = (tmp_path / "s").read_bytes()
        found = self.search(peak, queries, storage=tmp_path / "s")
        assert (found.trials, found.best) == (whole.trials, whole.best)
        assert (tmp_path / "s").read_bytes()[: len(held)] == held
        assert self.search(peak, queries, storage=tmp_path / "s", trials=12).trials == whole.trials[:12]
        assert self.search(peak, queries, storage=tmp_path / "s").trials == whole.trials

    def test_another_seed_is_another_search(self, peak, queries):
        one, other = (self.search(peak, queries, seed=seed, trials=12).trials for seed in (0, 1))
        assert not set(map(key, one[1:])) & set(map(key, other[1:]))

    @pytest.mark.parametrize("samplers", [("random", "tpe"), ("tpe", "random")])
    def test_the_storage_of_another_sampler_is_refused(self, peak, queries, samplers, tmp_path):
        first, second = samplers
        self.search(peak, queries, first, trials=2, storage=tmp_path / "s")
        held = (tmp_path / "s").read_bytes()
        with pytest.raises(InputError, match="s: is of another search: sampler differs; name another storage"):
            self.search(peak, queries, second, trials=2, storage=tmp_path / "s")
        assert (tmp_path / "s").read_bytes() == held

    def test_tpe_tries_no_choices_twice_and_all_where_it_can(self, peak, queries):
        space = {"x": [0.1, 0.3, 0.5, 0.7], "y": [0.2, 0.4, 0.6, 0.8]}
        for trials, tried in ((15, 15), (16, 17)):
            found = self.search(peak, queries, space=space, trials=trials).trials
            assert len(set(map(key, found))) == len(found) == tried

    def test_what_fails_or_lies_outside_the_space_tells_tpe_nothing(self, peak, queries, monkeypatch):
        def fails(self, features):
            if self.x > 0.9:
                raise ZeroDivisionError
            return Peak._score(self, features)

        monkeypatch.setattr(type(peak), "_score", fails, raising=False)
        found = self.search(peak.set_params(x=-1.0), queries)
        assert any(trial.value is None for trial in found.trials)
        assert found.ranker.distance < 0.1

    def test_the_card_names_the_sampler(self, peak, queries):
        assert self.search(peak, queries, trials=2).to_dict()["sampler"] == "tpe"

    @pytest.mark.parametrize("sampler", ["TPE", "grid", "", None, 1])
    def test_what_is_no_sampler(self, peak, queries, sampler):
        with pytest.raises(InputError, match=r"sampler=.* is unknown; use 'random' or 'tpe'"):
            self.search(peak, queries, sampler)


def key(trial):
    return tuple(trial.params.values())


class TestTheValue:
    def test_with_a_validation_set_it_is_that_of_a_plain_fit(self, examples, other):
        found = tune(RankSVM(), examples, other, space={"C": [0.01, 1.0]}, measure="nDCG@3")
        for trial in found.trials:
            assert trial.value == pytest.approx(RankSVM(**trial.params).fit(examples).value(other, "nDCG@3"))
        assert found.best_value == max(trial.value for trial in found.trials)
        assert found.best_value >= RankSVM().fit(examples).value(other, "nDCG@3")

    def test_without_one_every_query_is_judged_by_a_ranker_of_the_other_folds(self, examples):
        found = tune(RankSVM(), examples, space={"C": [0.01, 1.0]}, folds=3, measure="nDCG@3", seed=2)
        fold = folds_of(len(examples.query_ids), 3, 2)
        for trial in found.trials:
            scores = np.empty(len(examples))
            for f in range(3):
                model = RankSVM(**trial.params).fit(examples.of_queries(np.flatnonzero(fold != f)))
                own = fold[examples.query] == f
                scores[own] = model.score(examples)[own]
            assert trial.value == pytest.approx(value_of(scores, examples, "nDCG@3"))

    @pytest.mark.parametrize("kind", ["LambdaMARTf", "ExpectedGainRanker", "RankSVM"])
    def test_documents_without_a_label_are_part_of_their_lists(self, kind, examples, other):
        some, more = (
            replace(given, labels=np.where(np.arange(len(given)) % 3 == 0, np.nan, given.labels))
            for given in (examples, other)
        )
        quick = {"options": {"trees": 5}} if kind == "ExpectedGainRanker" else {}
        ranker = RANKERS[kind](gains={-1: -10}, measure="nDCG_f@5", scaling="query", **quick)
        found = tune(ranker, some, more, space={"seed": [0]})
        model = ranker.clone().fit(some, more)
        known = model.judged(more).worst_first(ranker.gains)
        lists = known.lists(ranker.gains)
        kept = np.ones(len(lists.score), dtype=bool) if known.kept is None else known.kept[lists.row]
        values = parse_measure("nDCG_f@5").per_query(lists.judged_by(kept)).numerator
        assert found.best_value == pytest.approx(values.mean(), abs=1e-12)
        assert tune(ranker, some, space={"seed": [0]}, folds=3).best.error is None

    def test_equal_scores_count_as_the_worst_order(self, no_ranker_is_left_behind):
        class Flat(Ranker):
            def _train(self, examples, validation):
                pass

            def _score(self, features):
                return np.zeros(len(features))

        best_first = Examples.from_arrays(np.zeros((4, 1)), [1, 0, 1, 0], ["q", "q", "r", "r"])
        assert tune(Flat(), best_first, best_first, space={"seed": [0]}, measure="P@1").best_value == 0.0

    def test_a_cost_is_searched_for_the_lowest(self, examples, other):
        found = tune(RankSVM(gains={-1: -10}), examples, other, space={"C": [1e-4, 1.0, 10.0]}, measure="Fdocs@2")
        assert found.best_value == min(trial.value for trial in found.trials)

    def test_of_equal_values_the_first_wins(self, examples, other):
        found = tune(RankSVM(), examples, other, space={"seed": [5, 0, 7]})
        assert len({trial.value for trial in found.trials}) == 1
        assert (found.best.number, found.best_params) == (0, {"seed": 0})

    def test_a_cutoff_is_not_judged_on_the_queries_it_is_fitted_to(self, examples, other):
        ranker, rule = L2LogisticRegression(gains={-1: -10}), GlobalCutoff("nDCG_f@3")
        measure = parse_measure("nDCG_f@3")
        found = tune(ranker, examples, other, space={"C": [1.0]}, measure=measure, cutoff=rule, folds=4)
        model = ranker.clone().fit(examples)
        lists = model.judged(other).lists(model.gains)
        expected = rule.clone().fit_lists(lists).cross_validated(lists, 4)
        assert found.best_value == pytest.approx(expected.value)
        # and in cross-validation
        found = tune(ranker, examples, space={"C": [1.0]}, measure=measure, cutoff=rule, folds=3)
        folds = [Fold(a, None, b) for a, b in examples.folds(3)]
        held_out = HeldOut.of([Scored(ranker, fold) for fold in folds], ranker)
        kept = np.empty(len(examples), dtype=bool)
        for f in range(3):
            fitted = rule.clone().fit_lists(held_out.lists.of_queries(np.flatnonzero(held_out.fold != f)))
            own = held_out.fold[held_out.lists.query] == f
            kept[own] = held_out.lists.score[own] >= fitted.threshold_
        top, _ = measure.per_query(held_out.lists.judged_by(kept))
        assert found.best_value == pytest.approx(top.mean())

    def test_a_ranker_that_filters_is_judged_as_it_filters(self):
        examples, other = planted(30), planted(20, seed=1)
        ranker = LambdaMARTf(gains={-1: -10}, trees=20)
        model = ranker.clone().fit(examples, other)
        lists = model.judged(other).lists(model.gains)
        kept, everything = lists.score >= 0, np.ones(len(lists.score), dtype=bool)
        assert not kept.all()
        for name, shown in (("nDCG_f@3", kept), ("nDCG@3", everything)):
            measure = parse_measure(name)
            value = tune(ranker, examples, other, space={"leaves": [15]}, measure=measure).best_value
            assert value == pytest.approx(measure.per_query(lists.judged_by(shown))[0].mean())

    def test_examples_of_two_measures_and_bad_numbers(self, examples):
        with pytest.raises(InputError, match="is 2 measures"):
            tune(RankSVM(), examples, measure="AP nDCG@3")
        with pytest.raises(InputError, match="trials=0 is not a positive integer"):
            tune(RankSVM(), examples, trials=0)
        with pytest.raises(InputError, match="13 folds of 12 queries"):
            tune(RankSVM(), examples, folds=13)
        for validation in (None, examples):
            with pytest.raises(InputError, match="folds='3' is not an integer"):
                tune(RankSVM(), examples, validation, folds="3")
        with pytest.raises(InputError, match="no document has a label"):
            tune(RankSVM(), replace(examples, labels=np.full(len(examples), np.nan)))
        with pytest.raises(InputError, match="has 2 features, and the model was fitted to 3"):
            tune(RankSVM(), examples, examples.of_features(["1", "2"]))


@pytest.fixture(scope="module")
def found(examples, other):
    return tune(RANKERS["MLPRanker"](epochs=2), examples, other, trials=3)


class TestTheResult:
    def test_it_reads_well(self, found):
        assert repr(found).startswith("<Tuning of MLPRanker: 3 trials; best nDCG@10 0.")
        frame = found.to_frame()
        columns = ["trial", "learning_rate", "batch_size", "l2", "hidden", "nDCG@10", "error", "seconds"]
        assert frame.columns == columns
        assert frame["nDCG@10"].max() == found.best_value
        assert frame["error"].to_list() == [None] * 3
        assert frame["hidden"][0] == "[32, 16]"

    def test_the_ranker_has_the_best_parameters_and_is_not_fitted(self, found, other):
        assert {name: found.ranker.get_params()[name] for name in found.best_params} == found.best_params
        with pytest.raises(InputError, match="is not fitted"):
            found.ranker.score(other)

    def test_the_card_tells_of_it_also_when_it_is_saved_again(self, found, other, tmp_path):
        model = found.fit()
        assert model.value(other) == pytest.approx(found.best_value)
        model.save(tmp_path / "model")
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        tuning = card["tuning"]
        assert tuning["value"] == found.best_value
        assert tuning["value_untuned"] == found.trials[0].value
        assert tuning["trials"] == 3
        load(tmp_path / "model").save(tmp_path / "again")
        again = json.loads((tmp_path / "again" / "model.json").read_text())
        assert {**again, "version": card["version"], "sum": card["sum"]} == card

    def test_the_cutoff_is_fitted_to_the_scores_of_other_folds(self, examples):
        ranker = L2LogisticRegression(gains={-1: -10})
        found = tune(ranker, examples, space={"C": [1.0]}, folds=3, cutoff=GlobalCutoff("nDCG_f@3"), measure="nDCG_f@3")
        folds = [Fold(a, None, b) for a, b in examples.folds(3)]
        lists = HeldOut.of([Scored(ranker, fold) for fold in folds], ranker).lists
        assert found.fit().cutoff_.threshold_ == GlobalCutoff("nDCG_f@3").fit_lists(lists).threshold_


class TestMargin:
    """Rankers whose score is a column: what they are worth is known."""

    @pytest.fixture
    def column(self, no_ranker_is_left_behind):
        from dataclasses import dataclass

        @dataclass(eq=False)
        class Column(Ranker):
            natural_scaling = "none"
            which: int = 0

            def _train(self, examples, validation):
                pass

            def _score(self, features):
                return features[:, self.which]

        return Column()

    @pytest.fixture
    def columns(self):
        # P@1 of each query: 0.5 by column 0; by column 1 one query more of 40; by column 2 all.
        hits = np.zeros((3, 40))
        hits[0, :20], hits[1, 10:31], hits[2] = 1, 1, 1
        labels = np.tile([1.0, 0.0], 40)
        features = np.zeros((80, 3))
        features[::2] = hits.T
        features[1::2] = 0.5
        return Examples.from_arrays(features, labels, np.repeat(np.arange(40), 2))

    @pytest.mark.parametrize(
        ("choices", "margin", "chosen"),
        [([1], 0.0, 1), ([1], 1.0, 0), ([1, 2], 1.0, 2), ([2], 5.0, 2), ([2], 7.0, 0), ([1], 0.1, 1)],
    )
    def test_the_given_one_stays_unless_another_is_better_by_it(self, column, columns, choices, margin, chosen):
        found = tune(column, columns, columns, space={"which": choices}, measure="P@1", margin=margin)
        assert found.best_params == {"which": chosen}
        assert found.best_value == {0: 0.5, 1: 0.525, 2: 1.0}[chosen]
        assert found.to_dict()["margin"] == margin
        assert found.ranker.which == chosen

    def test_errors_are_those_of_the_differences_of_queries(self, column, columns):
        trials = tune(column, columns, columns, space={"which": [1, 2]}, measure="P@1").trials
        apart = np.zeros(40)
        apart[:10], apart[20:31] = -1, 1
        error = apart.std(ddof=1) / np.sqrt(40)
        assert trials[1].errors_ahead(trials[0]) == pytest.approx(apart.mean() / error)
        assert trials[1].errors_ahead(trials[1]) == 0.0
        assert trials[0].errors_ahead(trials[2]) == pytest.approx(-np.sqrt(39))

    def test_of_a_cost_the_lower_one_is_better(self, column, columns):
        worse = replace(columns, labels=np.where(columns.labels > 0, -1.0, 1.0))
        found = tune(
            column.clone().set_params(which=2), worse, worse, space={"which": [0]}, measure="Fdocs@1", margin=2
        )
        assert found.best_params == {"which": 0}
        assert tune(column, worse, worse, space={"which": [2]}, measure="Fdocs@1").best_params == {"which": 0}

    @pytest.mark.parametrize("measure", ["nDCG@3", "Fdocs@2", "NumRet", "GMAP"])
    def test_influences_add_up_to_the_value(self, examples, measure):
        ranker = RankSVM(gains={-1: -10})
        held_out = HeldOut.of([Scored(ranker, Fold(a, None, b)) for a, b in examples.folds(3)], ranker)
        own = parse_measure(measure)
        assert held_out.influences(own).mean() == pytest.approx(held_out.value(own))

    def test_a_search_that_goes_on_chooses_the_same(self, column, columns, tmp_path):
        def search(**options):
            space = {"which": [1, 2]}
            return tune(
                column,
                columns,
                columns,
                space=space,
                measure="P@1",
                storage=tmp_path / "s",
                **options,
            )

        with pytest.raises(Stopped):
            search(margin=1.0, progress=broken_off(2))
        assert search(margin=1.0).best_params == {"which": 2}
        assert search(margin=7.0).best_params == {"which": 0}  # another margin is no other search

    @pytest.mark.parametrize("queries", ["[]", '"abc"', "[0.5]", "[null]"])
    def test_a_trial_whose_queries_are_not_all_there_is_done_again(self, column, columns, queries, tmp_path):
        examples = columns
        path = tmp_path / "s"
        options = {"space": {"which": [1, 2]}, "measure": "P@1", "storage": path, "margin": 1.0}
        whole = tune(column, examples, examples, **options)
        path.write_text(re.sub(r'"queries":\s*\[[^]]*\]', f'"queries":{queries}', path.read_text()))
        for _ in range(2):
            again = tune(column, examples, examples, **options)
            assert (again.trials, again.best) == (whole.trials, whole.best)
        assert again.trials[0].queries == whole.trials[0].queries

    def test_where_the_given_one_fails_the_best_value_wins(self, column, columns):
        ranker = column.clone().set_params(which=99)
        found = tune(ranker, columns, columns, space={"which": [0, 2]}, measure="P@1", margin=9.0)
        assert found.trials[0].value is None
        assert found.best_params == {"which": 2}

    @pytest.mark.parametrize("margin", [-1, float("nan"), float("inf"), True, "1", 10**400, np.complex64(1)])
    def test_what_is_no_margin(self, examples, margin):
        with pytest.raises(InputError, match=r"is (not finite|not a number of at least 0|too large)"):
            tune(RankSVM(), examples, margin=margin)


class Stopped(BaseException):
    """As Ctrl-C is."""


def broken_off(after):
    """Progress that breaks a search off after some trials."""

    def progress(items):
        for number, item in enumerate(items):
            if number == after:
                raise Stopped
            yield item

    return progress


class TestStorage:
    def search(self, examples, storage, **parameters):
        given = {"trials": 8, "folds": 3, "seed": 1, "space": {"C": (0.01, 100.0, "log")}, **parameters}
        return tune(given.pop("ranker", RankSVM()), examples, given.pop("validation", None), storage=storage, **given)

    def test_a_search_that_was_broken_off_goes_on_to_the_same_result(self, examples, tmp_path, monkeypatch):
        whole = self.search(examples, None)
        for after in (0, 3, 6):
            with pytest.raises(Stopped):
                self.search(examples, tmp_path / "s", progress=broken_off(after))
        fits = []
        fit = RankSVM.fit
        monkeypatch.setattr(RankSVM, "fit", lambda self, *data: fits.append(self.C) or fit(self, *data))
        found = self.search(examples, tmp_path / "s")
        assert len(fits) == 2 * 3  # six trials are kept, two are done, in three folds
        assert found.trials == whole.trials
        assert found.best == whole.best
        fits.clear()
        assert self.search(examples, tmp_path / "s").trials == whole.trials
        assert fits == []

    def test_more_trials_go_on_and_fewer_look_at_their_own(self, examples, tmp_path):
        few = self.search(examples, tmp_path / "s", trials=3)
        more = self.search(examples, tmp_path / "s", trials=6)
        assert more.trials[:3] == few.trials
        assert more.trials == self.search(examples, None, trials=6).trials
        assert self.search(examples, tmp_path / "s", trials=3).trials == few.trials

    def test_a_line_that_was_not_finished_is_written_anew(self, examples, tmp_path):
        path = tmp_path / "s"
        whole = self.search(examples, path).trials
        held = path.read_bytes()
        for size in (5, held.index(b"\n") + 1, len(held) // 2, len(held) - 1):
            path.write_bytes(held[:size])
            assert self.search(examples, path).trials == whole
            assert all(json.loads(line) for line in path.read_text().splitlines())

    def test_optuna_reads_it(self, examples, tmp_path):
        import optuna

        found = self.search(examples, tmp_path / "s")
        backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "s"))
        study = optuna.load_study(study_name="ranksift", storage=optuna.storages.JournalStorage(backend))
        assert study.best_value == found.best_value
        assert study.best_params == found.best_params

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            ({"ranker": RankSVM(gains="exp")}, "parameters differs"),
            ({"ranker": RANKERS["SVMMAP"]()}, "method differs"),
            ({"space": {"C": (0.01, 10.0, "log")}}, "space differs"),
            ({"measure": "AP"}, "measure differs"),
            ({"cutoff": GlobalCutoff("nDCG_f@3")}, "cutoff differs"),
            ({"seed": 2}, "seed differs"),
            ({"folds": 4}, "folds differs"),
            ({"examples": planted(seed=9)}, "examples differs"),
            ({"validation": planted(seed=1)}, "folds and validation differ"),
        ],
    )
    def test_one_of_another_search_is_refused(self, examples, tmp_path, change, what):
        self.search(examples, tmp_path / "s", trials=2)
        held = (tmp_path / "s").read_bytes()
        data = change.pop("examples", examples)
        with pytest.raises(InputError, match=f"s: is of another search: {what}; name another storage"):
            self.search(data, tmp_path / "s", trials=2, **change)
        assert (tmp_path / "s").read_bytes() == held

    def test_the_order_of_documents_is_part_of_the_data_and_its_name_is_not(self, examples, tmp_path):
        whole = self.search(examples, tmp_path / "s").trials
        assert self.search(replace(examples, name="other.txt"), tmp_path / "s").trials == whole
        changed = examples.features.copy()
        changed[3, 1] += 1e-9
        with pytest.raises(InputError, match="examples differs"):
            self.search(examples.with_features(changed), tmp_path / "s")

    @pytest.mark.parametrize(
        "text",
        [
            "years of work\n",
            "{}\n",
            '{"op_code":2,"study_id":7,"user_attr":{}}\n',
            '{"op_code":0,"study_name":3\n',
            '{"op_code":99}\n',
            "[" * 100_000 + "\n",
            "x",
        ],
    )
    def test_a_file_that_is_no_storage_stays_as_it_is(self, examples, tmp_path, text):
        path = tmp_path / "thesis.tex"
        path.write_text(text)
        with pytest.raises(InputError, match=r"thesis\.tex(:1)?: is (not a storage of a search|a damaged storage)"):
            self.search(examples, path)
        assert path.read_text() == text

    def test_a_place_where_nothing_can_be_written(self, examples, tmp_path):
        for path in (tmp_path, tmp_path / "absent" / "s"):
            with pytest.raises(InputError, match="cannot be the storage of a search"):
                self.search(examples, path)


class TestFailures:
    def test_a_trial_that_fails_is_recorded_and_kept(self, examples, other, tmp_path):
        for _ in range(2):
            shares = {"document_share": [1e-4, 0.5, 0.8]}
            found = tune(LambdaMART(trees=2), examples, other, space=shares, storage=tmp_path / "s")
            assert [trial.value is None for trial in found.trials] == [False, True, False]
            assert found.trials[1].error.startswith("document_share=0.0001 of 72 documents is less than one")
            assert "3 trials, 1 failed" in repr(found)
            assert found.to_dict()["failed"] == 1

    @pytest.mark.parametrize(
        ("method", "space", "what"),
        [
            ("RankSVM", {"C": [1.0, -1.0]}, "C=-1.0 is not a"),
            ("RankSVM", {"tolerance": [1e-3, 2.0]}, "tolerance=2.0 is not a number between 0 and 1"),
            ("FocusedSVM", {"listwise": ["order", "pairs"]}, "listwise='pairs' is unknown; use 'order' or 'top'"),
            ("FocusedSVM", {"beta": (0.5, 1.5)}, "is not a number from 0 to 1"),
            ("FocusedBoost", {"k": [10, 0]}, "k=0 is not a positive integer"),
            ("FocusedNet", {"orders": ["all", "none"]}, "orders='none' is unknown"),
            ("TopKListMLE", {"k": [10, 0]}, "k=0 is not a positive integer"),
            ("AdaRank", {"rounds": [10, 0]}, "rounds=0 is not a positive integer"),
            ("RankBoost", {"thresholds": [10, 0]}, "thresholds=0 is not a positive integer"),
            ("CoordinateAscent", {"sweeps": [10, 0]}, "sweeps=0 is not a positive integer"),
            ("L2LogisticRegression", {"C": [1.0, -1.0]}, "C=-1.0 is not a"),
            ("LinearRanker", {"epochs": [10, 0]}, "epochs=0 is not a positive integer"),
            ("LinearRanker", {"loss": ["listnet", "hinge"]}, "loss 'hinge' is unknown"),
            ("LinearRanker", {"loss": ["listnet", "listnet(k=0)"]}, "k=0 is not a positive integer"),
            (
                "LinearRanker",
                {"loss": ["listnet", "lambdarank_bce(gamma='a')"]},
                "gamma='a' is not a number",
            ),
            ("MLPRanker", {"hidden": [[8], [0]]}, "hidden="),
            ("MLPRanker", {"loss": ["mse", "weighted_ordinal(k=1)"]}, "has no option 'k'"),
            ("LambdaMART", {"stop_by": ["loss", "luck"]}, "stop_by='luck' is unknown; use 'loss' or 'measure'"),
            ("LambdaMART", {"draws": [3, -1]}, "draws=-1"),
            ("LambdaMARTf", {"l2": [0.3, -1.0]}, "l2=-1.0"),
            ("LambdaMARTf", {"measure": ["nDCG_f@10", "AP"]}, "measure=AP cannot be used for ranking and cutting"),
            ("RandomForests", {"document_share": [0.5, 1.0]}, "document_share=1.0 is not a number between 0 and 1"),
            ("BoostedTrees", {"gamma": [1.0, -1.0]}, "gamma=-1.0"),
            ("ExpectedGainRanker", {"calibration": ["platt", "beta"]}, "calibration='beta' is unknown"),
            ("ExpectedGainRanker", {"options.trees": [10, 0]}, "trees=0 is not a positive integer"),
        ],
    )
    def test_parameters_that_cannot_be_are_refused_before_the_first_trial(self, method, space, what, examples, other):
        with pytest.raises(InputError, match=re.escape(what)):
            tune(RANKERS[method](), examples, other, space=space, progress=lambda _: pytest.fail("a trial was begun"))

    @pytest.mark.parametrize(
        ("given", "what"),
        [
            ({"seed": -1}, "seed=-1 is not an integer of at least 0"),
            ({"seed": "a"}, "seed='a' is not an integer of at least 0"),
            ({"cutoff": "global"}, "cutoff 'global' is not a rule"),
            ({"ranker": RankSVM}, "is not a ranker"),
        ],
    )
    def test_what_is_no_search_is_refused(self, given, what, examples, other):
        with pytest.raises(InputError, match=what):
            tune(given.pop("ranker", RankSVM()), examples, other, **given)

    def test_a_network_that_diverges_fails(self, examples, other):
        ranker = RANKERS["LinearRanker"]("mse", epochs=5)
        found = tune(ranker, examples, other, space={"learning_rate": [0.02, 1e25]})
        assert found.best_params == {"learning_rate": 0.02}
        assert "not finite" in found.trials[1].error

    def test_what_a_library_raises_is_recorded_too(self, examples, other, monkeypatch):
        def fit(self, *data):
            raise ZeroDivisionError("no")

        monkeypatch.setattr(RankSVM, "fit", fit)
        with pytest.raises(InputError, match="all 2 trials failed; the first one: ZeroDivisionError: no"):
            tune(RankSVM(C=2.0), examples, other, space={"C": [2.0, 3.0]})
        monkeypatch.setattr(RankSVM, "fit", lambda self, *data: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            tune(RankSVM(), examples, other, space={"C": [2.0]})


def test_optuna_is_as_loud_as_before(examples, other):
    import optuna

    before = optuna.logging.get_verbosity()
    tune(RankSVM(), examples, other, trials=2)
    assert optuna.logging.get_verbosity() == before
