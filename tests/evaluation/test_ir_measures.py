"""RankSift as a guest of ir_measures, and ir_measures' names in RankSift."""

import math
import pickle
import subprocess
import sys

import ir_measures
import pandas as pd
import pytest

import ranksift as rs
from ranksift.evaluation.ir_measures_provider import PROVIDER, GuestMeasure
from ranksift.measures.measure import CATALOGUE

QRELS = {
    "q1": {"a": 2, "b": -2, "c": 1, "d": 0},
    "q2": {"a": 1, "b": -2, "e": -2},
    "q3": {"a": -2, "b": -2},  # showing nothing is the ideal
    "q4": {"f": 3, "g": 1},
}
RUN = {
    "q1": {"b": 4.0, "a": 3.0, "x": 2.0, "c": 1.0},
    "q2": {"a": 9.0, "b": 8.0},
    "q4": {"y": 3.0, "g": 2.0},
    "q5": {"a": 1.0},  # nobody judged it
}


@pytest.fixture(scope="module")
def measures():
    return rs.register_ir_measures()


def of_ranksift(name: str, **options) -> float:
    return rs.evaluate(QRELS, RUN, name, queries=list(QRELS), **options).mean_of(name)


def qrel_tuples():
    return (ir_measures.Qrel(q, d, label) for q, docs in QRELS.items() for d, label in docs.items())


def run_tuples():
    return (ir_measures.ScoredDoc(q, d, score) for q, docs in RUN.items() for d, score in docs.items())


# -- what is registered --------------------------------------------------------------------------------


def test_all_that_ir_measures_lacks_is_registered(measures):
    assert set(CATALOGUE) <= set(ir_measures.measures.registry)
    assert {"nDCG_f", "nDCG_min", "nDCG_0", "Fdocs", "AP_qwa", "UL2", "kERR"} <= set(vars(measures))


def test_measures_of_ir_measures_stay_its_own(measures):
    assert not isinstance(ir_measures.measures.registry["nDCG"], GuestMeasure)
    assert "AP" not in vars(measures)
    pipeline = ir_measures.DefaultPipeline.providers
    assert pipeline[-1] is PROVIDER
    assert next(p for p in pipeline if p.is_available() and p.supports(ir_measures.AP)) is not PROVIDER


def test_registering_twice_changes_nothing(measures):
    before = len(ir_measures.DefaultPipeline.providers), set(ir_measures.measures.registry)
    again = rs.register_ir_measures()
    assert again.nDCG_f is measures.nDCG_f
    assert (len(ir_measures.DefaultPipeline.providers), set(ir_measures.measures.registry)) == before


def test_standing_first_it_computes_what_pytrec_eval_would_crash_on():
    """In a Python of its own: the order of the pipeline is for the whole process."""
    program = (
        "import ir_measures, ranksift as rs\n"
        "rs.register_ir_measures(first=True)\n"
        "qrels, run = {'q': {'a': -2}, 'r': {'b': 1}}, {'q': {'a': 1.0}, 'r': {'b': 1.0}}\n"
        "print(ir_measures.calc_aggregate([ir_measures.AP, ir_measures.Bpref], qrels, run)[ir_measures.AP])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0.5"


def test_the_last_call_says_where_it_stands():
    rs.register_ir_measures(first=True)
    assert ir_measures.DefaultPipeline.providers[0] is PROVIDER
    rs.register_ir_measures()
    assert ir_measures.DefaultPipeline.providers[-1] is PROVIDER
    assert ir_measures.DefaultPipeline.providers.count(PROVIDER) == 1


def test_without_ir_measures_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules['ir_measures'] = None\n"
        "import ranksift as rs\n"
        "try: rs.register_ir_measures()\n"
        "except rs.InputError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "ir_measures is not installed; pip install ir_measures"


# -- values --------------------------------------------------------------------------------------------

NAMES = [
    "nDCG_f@2",
    "nDCG_f",
    "nDCG_0@3",
    "nDCG_min@10",
    "nDCG_org@3",
    "DCG(gains='exp')@2",
    "nDCG_f(gains='-2=-10')@10",
    "Fdocs@3",
    "Fdocs(average='macro')@3",
    "GoodFiltered",
    "Empty",
    "Difficulty@3",
    "UBQ@3",
    "RR_qwa",
    "P_qwa(scale='max')@3",
    "RBP_qwa(p=0.8, scale='max')",
    "AP_qwa(scale='max', limit=2)",
    "c_at_1",
    "SP@3",
    "MSP_ul2(expected='paper')@3",
    "DCG_ul1@3",
    "E_DCG@3",
    "UL2(measure='P@2')",
    "kNDCG@2",
    "kERR",
]


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_evaluate(measures, name):
    theirs = ir_measures.parse_measure(name)
    scores = rs.evaluate(QRELS, RUN, name, queries=list(QRELS))
    per_query = {m.query_id: m.value for m in ir_measures.iter_calc([theirs], QRELS, RUN)}
    assert per_query == dict(zip(scores.queries, scores.values[0, :, 0].tolist(), strict=True))
    assert ir_measures.calc_aggregate([theirs], QRELS, RUN) == {theirs: scores.mean_of(name)}


@pytest.mark.parametrize("name", NAMES)
def test_names_print_and_parse_back_in_both(measures, name):
    theirs = ir_measures.parse_measure(name)
    assert ir_measures.parse_measure(str(theirs)) == theirs
    assert rs.parse_measure(str(theirs)) == theirs.ranksift == rs.parse_measure(name)


def test_micro_measures_are_ratios_of_sums_beside_others_too(measures):
    """In a mixed request ir_measures aggregates the single values itself."""
    asked = [measures.Fdocs @ 3, ir_measures.AP, measures.GoodFiltered, ir_measures.NumRet]
    aggregated, per_query = ir_measures.calc(asked, QRELS, RUN)
    assert aggregated[measures.Fdocs @ 3] == of_ranksift("Fdocs@3") == 2 / 7
    assert aggregated[measures.GoodFiltered] == of_ranksift("GoodFiltered")
    assert aggregated[ir_measures.AP] == pytest.approx(of_ranksift("AP"))
    assert {m.query_id: m.value for m in per_query if m.measure == measures.Fdocs @ 3} == {
        "q1": 1 / 3, "q2": 1 / 2, "q3": 0.0, "q4": 0.0,
    }  # fmt: skip


def test_an_unanswered_query_is_an_empty_list_not_the_default(measures):
    value = {m.query_id: m.value for m in ir_measures.iter_calc([measures.nDCG_f @ 3], QRELS, RUN)}
    assert value["q3"] == 1.0
    assert "q5" not in value


def test_gains_may_be_a_mapping_or_text(measures):
    mapping, text = measures.nDCG_f(gains={-2: -10}) @ 20, measures.nDCG_f(gains="-2=-10") @ 20
    assert mapping == text
    assert str(mapping) == "nDCG_f(gains='-2=-10')@20"
    assert mapping.calc_aggregate(QRELS, RUN) == of_ranksift("nDCG_f@20", gains={-2: -10})
    assert str(measures.DCG(gains={-2: -10, 1: 0.5})) == "DCG(gains='-2=-10,1=0.5')"


def test_judged_only_drops_the_unjudged_and_keeps_the_forbidden(measures):
    kept = measures.nDCG_f(judged_only=True) @ 3
    assert kept.calc_aggregate(QRELS, RUN) == of_ranksift("nDCG_f@3", unjudged="drop")
    both = ir_measures.calc_aggregate([kept, measures.nDCG_f @ 3], QRELS, RUN)
    assert both[measures.nDCG_f @ 3] == of_ranksift("nDCG_f@3") != both[kept]


@pytest.mark.parametrize("form", ["tuples", "frames", "evaluator"])
def test_every_form_of_input(measures, form):
    measure, expected = measures.nDCG_f @ 3, of_ranksift("nDCG_f@3")
    if form == "tuples":
        assert measure.calc_aggregate(qrel_tuples(), run_tuples()) == expected
    elif form == "frames":
        qrels = pd.DataFrame(list(qrel_tuples()))
        assert measure.calc_aggregate(qrels, pd.DataFrame(list(run_tuples()))) == expected
    else:
        evaluator = measure.evaluator(qrel_tuples())
        assert [evaluator.calc_aggregate(run)[measure] for run in (RUN, {})] == [
            expected,
            rs.evaluate(QRELS, {}, "nDCG_f@3").mean_of("nDCG_f@3"),
        ]


def test_frames_as_pyterrier_has_them(measures):
    """PyTerrier renames its columns, leaves its own ones in, and aggregates what iter_calc yields."""
    qrels = pd.DataFrame(qrel_tuples()).rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    results = pd.DataFrame(run_tuples()).rename(columns={"query_id": "qid", "doc_id": "docno"})
    results["rank"] = results.groupby("qid")["score"].rank(ascending=False).astype(int) - 1
    back = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    for name in ("Fdocs@3", "nDCG_f@3", "c_at_1"):
        measure = ir_measures.parse_measure(name)
        aggregator = measure.aggregator()
        for batch in (["q1", "q3"], ["q2", "q4", "q5"]):
            found, judged = results[results.qid.isin(batch)], qrels[qrels.qid.isin(batch)]
            for metric in ir_measures.iter_calc([measure], judged.rename(columns=back), found.rename(columns=back)):
                aggregator.add(metric.value)
        assert aggregator.result() == pytest.approx(of_ranksift(name), abs=1e-12)
    assert rs.evaluate(qrels, results[results.qid != "q5"], "nDCG_f@3").mean_of("nDCG_f@3") == of_ranksift("nDCG_f@3")


def test_nothing_judged_and_nothing_found(measures):
    measure = measures.nDCG_f @ 3
    none = pd.DataFrame([], columns=["query_id", "doc_id", "score"])
    nobody = pd.DataFrame([], columns=["query_id", "doc_id", "relevance"])
    assert measure.calc_aggregate(QRELS, none) == measure.calc_aggregate(QRELS, {})
    assert list(measure.iter_calc(nobody, RUN)) == []
    assert math.isnan(measure.calc_aggregate({}, RUN))


def test_duplicates_are_refused_not_lost(measures):
    twice = [*run_tuples(), ir_measures.ScoredDoc("q1", "a", 0.1)]
    with pytest.raises(rs.InputError, match=r"twice|duplicate|again"):
        (measures.nDCG_f @ 3).calc_aggregate(QRELS, twice)


def test_a_wrong_parameter_is_named(measures):
    with pytest.raises(rs.InputError, match="average"):
        measures.Fdocs(average="median")
    with pytest.raises(rs.InputError, match="foo"):
        measures.nDCG_f(foo=1)


def test_measures_and_values_survive_pickling(measures):
    measure = measures.nDCG_f(gains={-2: -10}) @ 5
    assert pickle.loads(pickle.dumps(measure)) == measure
    metrics = list(ir_measures.iter_calc([measures.Fdocs @ 3], QRELS, RUN))
    aggregator = (measures.Fdocs @ 3).aggregator()
    for metric in pickle.loads(pickle.dumps(metrics)):
        aggregator.add(metric.value)
    assert aggregator.result() == of_ranksift("Fdocs@3")


def test_an_aggregator_takes_plain_numbers(measures):
    aggregator = (measures.Fdocs @ 3).aggregator()
    for value in (0.5, 0.0):
        aggregator.add(value)
    assert aggregator.result() == 0.25


# -- ir_measures' own measures -------------------------------------------------------------------------

SAME = [
    "AP", "AP(rel=2)", "AP@3", "P(rel=2)@2", "P@2", "R@2", "R(rel=2)@2", "RR", "RR(rel=2)@10", "nDCG", "nDCG@2",
    "nDCG(gains={1: 5})@3", "Rprec", "Rprec(rel=2)", "Bpref", "Bpref(rel=2)", "Success@1", "Success(rel=2)@5",
    "SetF", "SetF(rel=2)", "NumRelRet", "NumRet(rel=2)", "infAP", "infAP(rel=2)",
    "SetP", "SetP(rel=2)", "SetR", "SetR(rel=2)", "NumRet", "NumRel", "Judged@3",
    "MAP", "NDCG@2", "MRR", "Precision@2", "Recall@2", "RPrec", "BPref",
]  # fmt: skip

#: pytrec_eval does not survive queries without relevant documents in every measure, so these have one each.
PLAIN = {"q1": {"a": 2, "b": 0, "c": 1, "d": 0}, "q2": {"a": 1, "b": 0, "e": 0}, "q4": {"f": 3, "g": 1}}


@pytest.mark.parametrize("name", SAME)
def test_names_of_ir_measures_mean_the_same_here(name):
    theirs = ir_measures.parse_measure(name)
    expected = ir_measures.calc_aggregate([theirs], PLAIN, RUN)[theirs]
    assert rs.evaluate(PLAIN, RUN, name, queries=list(PLAIN)).mean_of(name) == pytest.approx(expected, abs=1e-12)
    assert PROVIDER.calc_aggregate([theirs], PLAIN, RUN)[theirs] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_beta_of_ir_measures_is_the_square_of_ours(beta):
    theirs = ir_measures.SetF(beta=beta)
    expected = ir_measures.calc_aggregate([theirs], PLAIN, RUN)[theirs]
    assert PROVIDER.calc_aggregate([theirs], PLAIN, RUN)[theirs] == pytest.approx(expected, abs=1e-12)
    ours = rs.SetF(beta=beta**0.5)
    assert rs.evaluate(PLAIN, RUN, ours, queries=list(PLAIN)).mean_of(ours) == pytest.approx(expected, abs=1e-12)


def test_measures_that_ir_measures_alone_cannot_compute(measures):
    rbp, err = ir_measures.RBP(rel=1, p=0.5), ir_measures.ERR @ 20
    assert PROVIDER.calc_aggregate([rbp], PLAIN, RUN)[rbp] == rs.evaluate(
        PLAIN, RUN, "RBP(p=0.5)", queries=list(PLAIN)
    ).mean_of("RBP(p=0.5)")
    assert PROVIDER.calc_aggregate([err], PLAIN, RUN)[err] == rs.evaluate(
        PLAIN, RUN, "ERR(max_grade=4)@20", queries=list(PLAIN)
    ).mean_of("ERR(max_grade=4)@20")


@pytest.mark.parametrize(
    "name", ["RBP(p=0.5)", "SetRelP", "IPrec@0.5", "SetAP", "AP(judged_only=True)", "SetP(relative=True)"]
)
def test_the_provider_leaves_alone_what_means_something_else(measures, name):
    assert not PROVIDER.supports(ir_measures.parse_measure(name))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("AP(judged_only=True)", "unjudged='drop'"),
        ("SetP(relative=True)", "SetP"),
        ("SetP@5", "write P@5"),
        ("alpha_nDCG@10", "no subtopics"),
        ("rbp.95", r"RBP\(p=0.95\)"),
        ("nDCG(dcg='ln')@10", "exp-log2"),
        ("f1@5", "P@k and R@k"),
    ],
)
def test_a_name_with_another_meaning_is_refused_with_a_hint(name, hint):
    with pytest.raises(rs.InputError, match=hint):
        rs.parse_measure(name)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("nDCG(dcg='exp-log2')@10", 'nDCG(gains="exp")@10'),
        ("AP(judged_only=False)", "AP"),
        ("RBP(p=0.8, rel=1)", "RBP(p=0.8)"),
        ("nDCG(cutoff=10)", "nDCG@10"),
        ("map-l2@100", "AP(rel=2)@100"),
        ("dcg_burges@5", 'DCG(gains="exp")@5'),
    ],
)
def test_parameters_that_other_tools_call_otherwise(name, same):
    assert str(rs.parse_measure(name)) == same


@pytest.mark.parametrize("form", ["dict", "tuples", "frame"])
def test_queries_with_negative_labels_only_do_not_end_the_process(form):
    # In a process of its own: what went wrong was a segmentation fault.
    program = f"""
import ir_measures, pandas as pd, ranksift as rs
rs.register_ir_measures()
qrels, run = {QRELS!r}, {RUN | {"q3": {"a": 2.0, "z": 1.0}}!r}
names = ["AP", "nDCG@10", "P@5", "RR", "Rprec", "R@5", "Bpref", "Success@3"]
rows = [(q, d, label) for q, docs in qrels.items() for d, label in docs.items()]
given = dict(dict=qrels, tuples=[ir_measures.Qrel(*row) for row in rows],
             frame=pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"]))[{form!r}]
theirs = ir_measures.calc_aggregate(list(map(ir_measures.parse_measure, names)), given, run)
ours = rs.evaluate(qrels, run, names, queries=list(qrels))
print(max(abs(value - ours.mean_of(str(measure))) for measure, value in theirs.items()) < 1e-9, len(theirs))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True 8\n"), done.stderr
