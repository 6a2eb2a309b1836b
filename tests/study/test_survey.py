"""All procedures at once: what applies, what is left out, and what is said."""

import re
from dataclasses import replace

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError, RankSiftWarning, Scores, study
from ranksift.datasets.synthetic import synthetic_collection
from ranksift.study.presets import PRESETS
from ranksift.study.survey import OF_SCORES, QUESTIONS


@pytest.fixture(scope="module")
def collection():
    return synthetic_collection(queries=24, seed=5)


@pytest.fixture(scope="module")
def whole(collection):
    qrels, runs = collection
    return study.survey(
        qrels=qrels, runs=runs, measures="nDCG@5 nDCG_org@5 nDCG_min@5 nDCG_f@5 AP RR_qwa", gains="-2=-10"
    )


def drawn(runs=4, topics=12, measures=("AP", "RR"), seed=0) -> Scores:
    draw = np.random.default_rng(seed)
    values = draw.random((runs, 1, 1)) + 0.3 * draw.random((runs, topics, len(measures)))
    names = [f"r{i}" for i in range(runs)], [f"q{i}" for i in range(topics)]
    return Scores.from_array(values, runs=names[0], queries=names[1], measures=list(measures))


def one_measure(scores: Scores, measure: str) -> Scores:
    """Scores by one measure."""
    values = scores.values[:, :, [scores.column(measure)]]
    return Scores.from_array(values, runs=scores.runs, queries=scores.queries, measures=[measure])


def test_measures_with_different_k_are_in_one_figure():
    names = ["nDCG@5", "nDCG@10", "nDCG@20", "RR@5", "RR@10", "RR@20", "P@5", "P@10", "P@20"]
    found = study.survey(drawn(measures=names), only=["stability", "sensitivity", "reliability", "discrimination"])
    for part in found.parts:
        (picture,) = part.result.pictures()
        axes = picture.figure.axes[0]
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert set(names) <= set(lines)
        assert len({lines[name].get_color() for name in names}) == 3
        assert len({(lines[name].get_color(), lines[name].get_linestyle()) for name in names}) == 9


def test_stable_is_not_called_right():
    assert any(line.startswith("Stable is not the same as right") for line in study.stability(drawn()).reading())


class TestWhatApplies:
    def test_judgments_and_runs_are_studied_by_every_procedure(self, whole):
        assert {part.procedure for part in whole.parts} == {*QUESTIONS, "consistency"}
        order = [part.procedure for part in whole.parts if not part.word]
        assert order == [name for name in QUESTIONS if name in order]

    def test_scores_alone_are_studied_by_what_needs_nothing_else(self):
        found = study.survey(drawn())
        assert [part.procedure for part in found.parts] == list(OF_SCORES)
        assert set(found.skipped) == set(QUESTIONS) - set(OF_SCORES)
        assert all("only scores are given" in why for why in found.skipped.values())

    def test_results_are_those_of_the_procedures(self, whole):
        scores = whole.scores
        assert whole.of("reliability").phi == study.reliability(scores).phi
        assert whole.of("stability").error_rate == study.stability(scores).error_rate
        assert whole.of("agreement").tau == study.agreement(scores).tau
        for measure, asl in study.sensitivity(scores).asl.items():
            assert np.array_equal(whole.of("sensitivity").asl[measure], asl)

    @pytest.mark.parametrize("base", ["nDCG@5", "AP"])
    def test_everything_is_repeated_on_both_ends_of_the_queries(self, whole, collection, base):
        name = base.removesuffix("@5")
        types = next(p.result for p in whole.parts if p.procedure == "query_types" and p.word == name)
        qrels, _ = collection
        alone = one_measure(whole.scores, base)
        expected = study.query_types(alone, study.expected_scores(qrels, base, gains="-2=-10"), size=10)
        measures = [str(m) for m in whole.scores.measures if str(m) == base or str(m) not in ("nDCG@5", "AP")]
        for kind in ("uninformative", "ideal"):
            assert getattr(types, kind) == getattr(expected, kind)
            scores = study.on_queries(whole.scores, getattr(expected, kind))
            parts = {part.procedure: part.result for part in whole.parts if part.word == f"{name} {kind}"}
            assert set(parts) == set(OF_SCORES)
            assert list(parts["reliability"].phi) == measures
            phi = study.reliability(scores).phi
            assert parts["reliability"].phi == {m: phi[m] for m in measures}

    def test_one_base_measure_needs_no_name(self, collection):
        qrels, runs = collection
        found = study.survey(qrels=qrels, runs=runs, measures="nDCG@5 nDCG@10", only=["query_types", "reliability"])
        assert [p.name for p in found.parts] == [
            "reliability", "query-types", "reliability-uninformative", "reliability-ideal",
            "consistency-uninformative-ideal",
        ]  # fmt: skip
        assert found.parts[1].subject == "By nDCG@5 and nDCG@10"

    def test_expected_values_are_no_base_measure(self, collection):
        qrels, runs = collection
        found = study.survey(qrels=qrels, runs=runs, measures="E_nDCG@5 AP", only=["query_types"])
        assert [p.subject for p in found.parts if p.procedure == "query_types"] == ["By AP"]

    def test_what_two_runs_cannot_show_is_left_out(self, collection):
        found = study.survey(drawn(runs=2))
        assert [part.procedure for part in found.parts] == ["stability", "discrimination"]
        assert found.skipped["reliability"] == "two runs are too few for a variance between runs"
        assert "Φ" not in [column.name for column in found.table().columns]
        assert "reliability" in repr(study.survey(drawn(runs=2), only=["reliability"]))  # it was asked for
        qrels, runs = collection
        two = {name: runs[name] for name in ("filtered", "weak")}
        found = study.survey(qrels=qrels, runs=two, measures="nDCG@5 nDCG_f@5", gains="-2=-10")
        assert {part.procedure for part in found.parts} == {
            "boundedness", "stability", "discrimination", "query_types", "penalty_sweep",
        }  # fmt: skip

    def test_one_measure_has_nothing_to_agree_with(self):
        found = study.survey(drawn(measures=("AP",)))
        assert found.skipped["agreement"] == "agreement needs more than one measure"

    def test_without_forbidden_labels_no_penalty_is_swept(self, collection):
        qrels, runs = collection
        good = {q: {d: max(label, 0) for d, label in docs.items()} for q, docs in qrels.to_dict().items()}
        found = study.survey(qrels=good, runs=runs, measures="nDCG_f@5 AP")
        assert "no label of the judgments is forbidden" in found.skipped["penalty_sweep"]

    def test_what_has_a_pole_does_not_stop_the_others(self):
        # at penalty log2(3) the ideal DCG is 0
        qrels = {"q": {"a": 1, "b": -1}, "r": {"c": 1, "d": -1}}
        runs = {"one": {"q": {"a": 2, "b": 1}, "r": {"c": 1}}, "two": {"q": {"b": 2, "a": 1}, "r": {"d": 2, "c": 1}}}
        found = study.survey(qrels=qrels, runs=runs, measures="nDCG_org@2 nDCG_f@2", only=["penalty_sweep"])
        assert [part.subject for part in found.parts] == ["nDCG_f@2"]
        assert "nDCG_org@2 of query 'q' is not finite" in found.skipped["penalty_sweep"]

    def test_of_one_family_the_deepest_is_swept(self, collection):
        qrels, runs = collection
        found = study.survey(qrels=qrels, runs=runs, measures="nDCG_f@5 nDCG_f@20 nDCG_f@10", only=["penalty_sweep"])
        assert [part.subject for part in found.parts] == ["nDCG_f@20"]

    def test_only_some(self):
        assert [p.procedure for p in study.survey(drawn(), only=["agreement", "stability"]).parts] == [
            "stability",
            "agreement",
        ]

    def test_nothing_that_applies(self):
        with pytest.raises(InputError, match="nothing to study: it needs judgments and runs"):
            study.survey(drawn(), only=["boundedness"])

    def test_many_topics_are_studied_at_some_sizes(self):
        sizes = list(study.survey(drawn(3, 500), only=["stability"]).of("stability").samples)
        assert len(sizes) == 100
        assert sizes[0] == 2
        assert sizes[-1] == 500


class TestParameters:
    @pytest.mark.filterwarnings("ignore:.*gains up to 3")  # quit-2016 assumes labels 0 and 1
    @pytest.mark.parametrize("name", PRESETS)
    def test_a_preset_gives_what_is_not_given(self, collection, name):
        qrels, runs = collection
        plan = PRESETS[name]
        found = study.survey(qrels=qrels, runs=runs, preset=name)
        expected = rs.evaluate(qrels, runs, plan.measures, gains=plan.gains, unjudged=plan.unjudged)
        assert found.tables()[0].columns == found.table().columns
        assert np.array_equal(found.scores.values, expected.values)
        if "stability" in plan.parameters:
            assert found.of("stability").fuzziness == plan.parameters["stability"]["fuzziness"]

    def test_orders_on_sets_of_queries_are_over_k_where_a_preset_says_so(self, collection):
        """Also where agreement itself is not asked for."""
        qrels, runs = collection
        how = {"qrels": qrels, "runs": runs, "preset": "bounds-2022", "only": ["query_types"]}
        orders = [part.result for part in study.survey(**how).parts if part.procedure == "consistency"]
        assert [next(iter(result.tau)) for result in orders] == ["nDCG", "MSP"]
        by_k = study.survey(**how, parameters={"agreement": {"over_k": False}})
        assert "nDCG@5" in next(part.result for part in by_k.parts if part.procedure == "consistency").tau

    def test_quit_2016_studies_lists_that_end(self):
        qrels = {f"q{i}": {"a": int(i % 3 > 0), "b": 0} for i in range(9)}
        runs = {
            f"r{r}": {q: {d: -float(i) for i, d in enumerate(["a", "NONE", "b"][r % 3 :])} for q in qrels}
            for r in range(5)
        }
        found = study.survey(qrels=qrels, runs=runs, preset="quit-2016", nil="NONE", only=["truncation"])
        whole, answerable = found.parts
        by_itself = study.truncation(qrels, runs, nil="NONE", limit=5, p=0.5)
        assert whole.result.pairs == by_itself.pairs
        assert np.array_equal(whole.result.scores.numerators, by_itself.scores.numerators)
        assert [str(m) for m in found.scores.measures] == [m for pair in by_itself.pairs for m in pair]
        assert (answerable.name, answerable.subject) == (
            "truncation-answerable",
            "The 6 queries that have an answer",
        )
        assert answerable.result.nil_queries == 0
        assert [t.title for t in found.tables()] == [
            "Truncation: 5 runs, 9 queries, 3 without an answer",
            "Truncation: 5 runs, 6 queries, 0 without an answer (the 6 queries that have an answer)",
        ]

    def test_what_is_given_wins_over_a_preset(self, collection):
        qrels, runs = collection
        found = study.survey(
            qrels=qrels, runs=runs, preset="negative-2020", measures="nDCG_f@5 AP", gains="exp", unjudged="zero",
            only=["stability"], parameters={"stability": {"fuzziness": 0.2}},
        )  # fmt: skip
        assert found.of("stability").fuzziness == 0.2
        assert set(found.of("stability").samples.values()) == {200}
        assert [str(m) for m in found.scores.measures] == ["nDCG_f@5", "AP"]
        assert np.array_equal(found.scores.values, rs.evaluate(qrels, runs, "nDCG_f@5 AP", gains="exp").values)

    def test_each_case_study_of_bounds_2022_has_its_own_sets(self, collection):
        """Section 4: the difference of the mean over systems and k to the measure's own lower bound, in plain loops."""
        qrels, runs = collection
        ks = (5, 10, 15, 20, 30)
        found = study.survey(
            qrels=qrels, runs=runs, preset="bounds-2022", only=["query_types", "discrimination"],
            parameters={"query_types": {"size": 6}},
        )  # fmt: skip
        pools = {query: sorted(labels.values()) for query, labels in qrels.to_dict().items()}

        def random_ndcg(labels, k):
            discounts = [1 / np.log2(i + 1) for i in range(1, min(k, len(labels)) + 1)]
            gains = sorted((2.0**label - 1 if label > 0 else 0.0 for label in labels), reverse=True)
            ideal = sum(g * d for g, d in zip(gains, discounts, strict=False))
            return np.mean(gains) * sum(discounts) / ideal if ideal else 0.0

        def random_msp(labels, k):  # k p² over k
            return (sum(label > 0 for label in labels) / len(labels)) ** 2

        for base, random, others in (
            ("nDCG", random_ndcg, ["DCG_ul1", "DCG_ul2"]),
            ("MSP", random_msp, ['MSP_ul1(expected="paper")', 'MSP_ul2(expected="paper")']),
        ):
            gap = {}
            for q, query in enumerate(found.scores.queries):
                real = [found.scores.values[:, q, found.scores.column(f"{base}@{k}")].mean() for k in ks]
                gap[query] = np.mean(real) - np.mean([random(pools[query], k) for k in ks])
            order = sorted(gap, key=lambda query: gap[query])
            types = next(p.result for p in found.parts if p.procedure == "query_types" and p.word == base)
            assert set(types.uninformative) == set(order[:6])
            assert set(types.ideal) == set(order[-6:])
            tested = next(p.result for p in found.parts if p.name == f"discrimination-{base.lower()}-uninformative")
            assert list(tested.significant) == [base, *others]
        sets = [set(p.result.uninformative) for p in found.parts if p.procedure == "query_types"]
        assert sets[0] != sets[1]  # so that one set for both would be another

    def test_a_measure_with_two_lower_bounds_has_two_cases(self, collection):
        qrels, runs = collection
        measures = 'MSP@5 MSP_ul2@5 MSP_ul2(expected="paper")@5 UL1(MSP@5) nDCG_f@5'
        found = study.survey(qrels=qrels, runs=runs, measures=measures, only=["query_types", "reliability"])
        studied = {
            p.word: list(p.result.phi) for p in found.parts if p.procedure == "reliability" and "ideal" in p.word
        }
        assert studied == {
            "MSP, MSP ideal": ["MSP@5", "MSP_ul2@5", "UL1(MSP@5)", "nDCG_f@5"],
            'MSP, E_MSP(expected="paper") ideal': ["MSP@5", 'MSP_ul2(expected="paper")@5', "nDCG_f@5"],
        }

    def test_the_papers_numbers(self):
        forbidden, negative, bounds = (PRESETS[n] for n in ("forbidden-2022", "negative-2020", "bounds-2022"))
        assert forbidden.gains == "-2=-10"
        assert forbidden.unjudged == "drop"
        assert {re.sub(".*@", "", m) for m in forbidden.measures} == {"500"}
        assert forbidden.parameters["stability"] == {"samples": 200, "fuzziness": 0.01}
        assert {re.sub(".*@", "", m) for m in negative.measures} == {"5", "10", "15", "20"}
        assert negative.gains == "linear"
        assert negative.parameters["stability"] == {"samples": 200, "fuzziness": 0.05}
        assert {re.sub(".*@", "", m) for m in bounds.measures} == {"5", "10", "15", "20", "30"}
        assert bounds.gains == "exp"
        assert bounds.parameters["discrimination"]["alpha"] == 0.05
        assert forbidden.parameters["sensitivity"] == negative.parameters["sensitivity"] == {"samples": 1000}

    def test_the_seed_is_everyones(self):
        one, same, other = (study.survey(drawn(), seed=s, only=["stability", "sensitivity"]) for s in (1, 1, 2))
        assert one.of("stability").error_rate == same.of("stability").error_rate
        assert one.of("stability").error_rate != other.of("stability").error_rate
        assert one.of("sensitivity").seed == 1

    def test_some_of_the_measures_of_ready_scores(self):
        found = study.survey(drawn(measures=("AP", "RR", "P@5")), measures=["P@5 AP"])
        assert [str(m) for m in found.scores.measures] == ["P@5", "AP"]


class TestWords:
    def test_a_row_a_measure(self, whole):
        table = whole.table()
        assert [c.name for c in table.columns] == [
            "measure", "bounded", "error rate", "ties", "told apart", "significant", "Φ", "topics for Φ 0.95",
        ]  # fmt: skip
        bounded = {row[0].value: row[1].value for row in table.rows}
        assert bounded == {
            "nDCG@5": "yes", "nDCG_org@5": "no", "nDCG_min@5": "no", "nDCG_f@5": "yes", "AP": None, "RR_qwa": None,
        }  # fmt: skip

    def test_the_first_by_each_procedure(self, whole):
        phi = whole.of("reliability").phi
        best = max(phi, key=lambda m: phi[m])
        assert f"Most reliable, by Φ: {best} ({phi[best]:.3f})." in whole.reading()
        assert "Not bounded by 0 and 1: nDCG_org@5 and nDCG_min@5." in whole.reading()

    def test_every_result_can_be_read_and_drawn(self, whole):
        for part in whole.parts:
            assert part.result.reading(), part.procedure
            assert all(s.endswith(".") for s in part.result.reading())
            assert all(p.caption and p.figure.axes for p in part.result.pictures())
            assert all(frame.height for word, frame in part.result.frames().items() if word != "swaps")

    @pytest.mark.parametrize(("noise", "enough"), [(0.2, True), (0.5, False)])
    def test_topics_for_the_same_error_rate(self, noise, enough):
        # by RR the runs are far apart in every topic, by AP only on average
        draw = np.random.default_rng(3)
        values = np.stack([0.1 * np.arange(4)[:, None] + draw.normal(0, s, (4, 30)) for s in (noise, 0.1)], axis=2)
        runs, queries = [f"r{i}" for i in range(4)], [f"q{i}" for i in range(30)]
        found = study.stability(Scores.from_array(values, runs=runs, queries=queries, measures=["AP", "RR"]))
        needed = found.topics_needed(0.05)
        assert needed["RR"] < needed["AP"]
        assert (needed["AP"] <= 15) == enough
        rest = f", AP {needed['AP']}." if enough else ". Half of the topics are not enough for AP."
        assert f"Topics for an error rate of 5%: RR {needed['RR']}{rest}" in found.reading()

    def test_two_topics_have_no_smaller_sets(self):
        found = study.survey(drawn(topics=2), only=["stability"])
        assert "No smaller set of topics" in found.of("stability").reading()[0]
        assert [c.name for c in found.table().columns] == ["measure"]

    def test_a_measure_that_decides_nothing_is_not_the_most_stable(self):
        values = drawn(measures=("AP", "RR", "P@5")).values.copy()
        values[:, :, 2] = 0.5
        found = study.survey(
            Scores.from_array(values, runs=drawn().runs, queries=drawn().queries, measures=["AP", "RR", "P@5"]),
            only=["stability"],
        )
        rows = {row[0].value: [cell.value for cell in row[1:]] for row in found.table().rows}
        assert rows["P@5"] == [None, 1.0]
        assert not any("P@5" in sentence for sentence in found.reading())

    def test_what_is_not_known_to_be_bounded_is_not_called_so(self, collection):
        qrels, runs = collection
        only = {"only": ["boundedness"]}
        found = study.survey(qrels=qrels, runs=runs, measures="nDCG@5 MSP_ul2@5 AP", **only)
        assert found.scores.values[:, :, 1].min() < 0
        assert found.reading() == ["Not bounded by 0 and 1: MSP_ul2@5."]
        assert [row[1].value for row in found.table().rows] == ["yes", "no", None]
        found = study.survey(qrels=qrels, runs=runs, measures="nDCG@5 AP", **only)
        assert found.reading() == ["Bounded by 0 and 1: nDCG@5."]
        assert study.survey(qrels=qrels, runs=runs, measures="nDCG@5", **only).reading() == [
            "All are bounded by 0 and 1."
        ]

    def test_notes_of_ready_scores_are_kept(self):
        scores = replace(drawn(), notes=("a row was left out",))
        assert study.survey(scores, only=["agreement"]).notes == ("a row was left out",)

    def test_copies_are_told_once(self):
        values = np.repeat(drawn(2).values, 2, axis=0)
        scores = Scores.from_array(values, runs=list("abcd"), queries=drawn().queries, measures=["AP", "RR"])
        found = study.survey(scores)
        assert [note for note in found.notes if "same values" in note] == list(found.notes)

    def test_notes_of_the_evaluation_are_kept(self, collection):
        qrels, runs = collection
        more = {**next(iter(runs.values())).to_dict(), "unheard-of": {"d": 1.0}}
        found = study.survey(
            qrels=qrels, runs={"a": more, "b": next(iter(runs.values()))}, measures="AP RR", only=["agreement"]
        )
        assert any("without judgments left out" in note for note in found.notes)


class TestBadInput:
    @pytest.mark.parametrize(
        ("given", "fault"),
        [
            (drawn(runs=1), "a study needs at least 2 runs, there is 1"),
            (drawn(topics=1), "a study needs at least 2 queries, there is 1"),
            ([1, 2], "a study takes Scores, not list"),
        ],
    )
    def test_too_little(self, given, fault):
        with pytest.raises(InputError, match=fault):
            study.survey(given)

    def test_nothing_or_both(self):
        with pytest.raises(InputError, match="nothing to study is given"):
            study.survey()
        with pytest.raises(InputError, match="scores and runs are given"):
            study.survey(drawn(), qrels={"q": {"d": 1}})

    def test_unknown_words(self):
        with pytest.raises(InputError, match="procedure='beauty' is unknown"):
            study.survey(drawn(), only=["beauty"])
        with pytest.raises(InputError, match="procedure='beauty' is unknown"):
            study.survey(drawn(), parameters={"beauty": {}})
        with pytest.raises(InputError, match="preset 'best-2030' is unknown"):
            study.survey(drawn(), preset="best-2030")
        with pytest.raises(InputError, match="beauty is not in this study"):
            study.survey(drawn()).of("beauty")

    def test_constant_scores_are_told(self):
        found = study.survey(
            Scores.from_array(np.ones((3, 4, 1)), runs=list("abc"), queries=list("pqrs"), measures=["AP"])
        )
        assert any("cannot tell anything apart" in note for note in found.notes)
        assert [c.name for c in found.table().columns] == ["measure", "ties", "told apart", "significant"]
        assert "No measure decides between any two runs" in found.of("stability").reading()[0]

    def test_other_libraries_warnings_pass(self):
        class Loud(dict):
            def items(self):
                import warnings

                warnings.warn("loud", DeprecationWarning, stacklevel=1)
                return super().items()

        with pytest.warns(DeprecationWarning, match="loud"):
            study.survey(
                qrels={"q": {"a": 1}, "r": {"b": 1}},
                runs=Loud({"x": {"q": {"a": 1.0}}, "y": {"r": {"b": 1.0}}}),
                measures="AP RR",
                only=["agreement"],
            )


def test_a_survey_warns_of_nothing_itself(recwarn):
    study.survey(Scores.from_array(np.ones((3, 4, 1)), runs=list("abc"), queries=list("pqrs"), measures=["AP"]))
    assert not [w for w in recwarn if issubclass(w.category, RankSiftWarning)]


@pytest.fixture(scope="module")
def both(collection):
    other = synthetic_collection(queries=18, seed=9)
    return study.survey(
        qrels=collection[0], runs=collection[1], measures="nDCG_f@5 AP", gains="-2=-10",
        only=["boundedness", "reliability", "agreement"], against={"qrels": other[0], "runs": other[1]},
        names=("old", "new"),
    )  # fmt: skip


class TestAgainst:
    """Two collections side by side."""

    def test_each_side_is_its_own_study(self, both, collection):
        alone = study.survey(
            qrels=collection[0], runs=collection[1], measures="nDCG_f@5 AP", gains="-2=-10",
            only=["boundedness", "reliability", "agreement"],
        )  # fmt: skip
        one, two = both.sides
        assert np.array_equal(one.scores.values, alone.scores.values)
        assert one.of("reliability").phi == alone.of("reliability").phi
        assert one.reading() == alone.reading()
        assert (len(one.scores.queries), len(two.scores.queries)) == (24, 18)
        assert two.of("reliability").phi == study.reliability(two.scores).phi
        assert [part.procedure for part in two.parts] == [part.procedure for part in one.parts]

    def test_the_table_has_a_row_for_each_measure_and_collection(self, both):
        table = both.table()
        assert [column.name for column in table.columns[:2]] == ["measure", "on"]
        assert [(row[0].value, row[1].value) for row in table.rows] == [
            ("nDCG_f@5", "old"), ("nDCG_f@5", "new"), ("AP", "old"), ("AP", "new"),
        ]  # fmt: skip
        phi = [column.name for column in table.columns].index("Φ")
        assert [row[phi].value for row in table.rows[:2]] == [s.of("reliability").phi["nDCG_f@5"] for s in both.sides]
        assert re.search(r"2 measures on old \(\d runs, 24 topics\) and new \(\d runs, 18 topics\)", table.title)

    def test_orders_of_the_runs_that_both_have_are_compared(self, both):
        one, two = both.sides
        assert both.between.result.tau == study.consistency(one.scores, two.scores).tau
        assert any(sentence.startswith("On new: ") for sentence in both.reading())
        assert both.reading()[-1].startswith("Of 10 pairs of runs that both have, in the opposite order: ")

    def test_orders_are_over_k_where_the_preset_has_it(self, collection):
        sides = {"qrels": collection[0], "runs": collection[1]}
        found = study.survey(**sides, preset="bounds-2022", only=["agreement"], against=sides)
        assert list(found.between.result.tau) == [
            "nDCG", "DCG_ul1", "DCG_ul2", "MSP", 'MSP_ul1(expected="paper")', 'MSP_ul2(expected="paper")',
        ]  # fmt: skip
        assert set(found.between.result.swap_rate.values()) == {0.0}

    def test_orders_on_the_sets_of_queries_of_both_are_compared(self, collection, tmp_path):
        """Paper 3's Tables 10 and 20: each base measure on its own sets of either collection."""
        (qrels, runs), (other, others) = collection, synthetic_collection(queries=18, seed=9)
        found = study.survey(
            qrels=qrels, runs=runs, measures="nDCG@5 DCG_ul2@5 AP nDCG_f@5", only=["query_types"],
            parameters={"query_types": {"size": 6}}, against={"qrels": other, "runs": others}, names=("old", "new"),
        )  # fmt: skip
        sets = {part.word: part for part in found.between_sets}
        assert list(sets) == ["nDCG uninformative", "nDCG ideal", "AP uninformative", "AP ideal"]
        assert sets["AP ideal"].subject == "The orders on ideal queries by AP of old and of new"
        for base, studied in (("nDCG@5", ["nDCG@5", "DCG_ul2@5", "nDCG_f@5"]), ("AP", ["AP", "nDCG_f@5"])):
            on_sets = []
            for of, by in ((qrels, runs), (other, others)):
                types = study.query_types(rs.evaluate(of, by, base), study.expected_scores(of, base), size=6)
                on_sets.append(study.on_queries(rs.evaluate(of, by, studied), types.uninformative))
            assert sets[f"{base.partition('@')[0]} uninformative"].result.tau == study.consistency(*on_sets).tau
        assert [table.title for table in found.tables()][-1] == (
            "Consistency of each measure's two orders of 5 runs (the orders on ideal queries by AP of old and of new)"
        )
        rs.write_study(found, tmp_path)
        assert (tmp_path / "consistency-ap-ideal.csv").is_file()
        assert "The orders on uninformative queries by nDCG of old and of new" in (tmp_path / "index.html").read_text()

    def test_collections_of_other_runs_are_told(self):
        renamed = replace(drawn(seed=1), runs=("w", "x", "y", "z"))
        found = study.survey(drawn(), only=["reliability"], against=renamed)
        assert found.between is None
        assert "the first: orders of runs are not compared: the two collections have no runs in common" in str(
            found.table()
        )

    def test_scores_beside_scores_by_some_measures(self):
        found = study.survey(drawn(), measures="AP", only=["reliability", "agreement"], against=drawn(topics=5, seed=3))
        assert [str(m) for m in found.against.scores.measures] == ["AP"]
        assert found.against.scores.queries == ("q0", "q1", "q2", "q3", "q4")
        assert list(found.skipped) == list(found.against.skipped) == ["agreement"]

    def test_procedures_without_a_glance_print_their_tables(self):
        found = study.survey(drawn(), only=["agreement"], against=drawn(seed=1))
        one, two = found.sides
        tables = [side.of("agreement").table() for side in (one, two)] + [found.between.result.table()]
        assert [table.rows for table in found.tables()] == [table.rows for table in tables]
        about = ["on the first", "on the second", "the orders on the first and on the second"]
        titles = [f"{table.title} ({words})" for table, words in zip(tables, about, strict=True)]
        assert [table.title for table in found.tables()] == titles

    def test_the_whole_of_a_study_has_every_table(self):
        found = study.survey(drawn(), only=["reliability", "agreement"])
        assert list(map(str, found.tables())) == [str(found.table())]
        every = [found.table(), found.of("reliability").table(), found.of("agreement").table()]
        assert list(map(str, found.tables(whole=True))) == list(map(str, every))

    def test_what_is_no_collection_is_refused(self):
        with pytest.raises(InputError, match="against is list, neither scores nor a mapping"):
            study.survey(drawn(), against=[1])
        with pytest.raises(InputError, match="both collections are called 'x'; give them two names"):
            study.survey(drawn(), against=drawn(seed=1), names=("x", "x"))
