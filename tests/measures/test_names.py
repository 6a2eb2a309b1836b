"""Measures as values: they print, parse, compare and hash; a wrong name is an InputError with a hint."""

import dataclasses
import string

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.measures.measure import CATALOGUE
from tests.measures.cases import PARAMETERS, drawn_cases, every_case

rs.parse_measure("nDCG")  # fills the catalogue

numbers = st.one_of(st.integers(-9, 9), st.floats(-100, 100))
any_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
any_gains = st.one_of(st.sampled_from(["linear", "exp"]), st.dictionaries(numbers, numbers, max_size=3))
ANY = {
    "k": st.integers(1, 10**6),
    "rel": numbers,
    "p": st.floats(0.001, 0.999),
    "gains": any_gains,
    "base": st.floats(1.001, 100),
    "nil": any_text,
    "limit": st.integers(1, 100),
    "scale": st.just("max"),
    "recall": st.floats(0, 1),
    "beta": st.floats(0.01, 100),
    "over": st.sampled_from(["collection", "query"]),
    "residual": st.booleans(),
    "max_grade": st.one_of(st.just("query"), st.floats(0.5, 10), st.integers(1, 10)),
    "average": st.sampled_from(["micro", "macro"]),
    "good": st.sampled_from(["nonnegative", "positive"]),
    "expected": st.sampled_from(["exact", "paper"]),
    "upper": st.sampled_from(["k", "attainable"]),
}


@st.composite
def measures(draw):
    """Any measure with any parameters."""
    name = draw(st.sampled_from(sorted(PARAMETERS)))
    chosen = draw(st.lists(st.sampled_from(sorted(PARAMETERS[name])), unique=True)) if PARAMETERS[name] else []
    return getattr(rs, name)(**{parameter: draw(ANY[parameter]) for parameter in chosen})


# -- printing and parsing ----------------------------------------------------------------------------------


@given(measures())
def test_a_measure_parses_back(measure):
    back = rs.parse_measure(str(measure))
    assert back == measure
    assert hash(back) == hash(measure)
    assert str(back) == str(measure) == repr(measure)
    assert rs.parse_measures(f"AP@7 {measure}, P@3") == [rs.AP @ 7, measure, rs.P @ 3]


def test_every_case_parses_back():
    for case in every_case():
        measure = rs.parse_measure(str(case))
        assert rs.parse_measure(str(measure)) == measure
        assert hash(rs.parse_measure(str(measure))) == hash(measure)


@given(st.sampled_from(["UL1", "UL2"]).flatmap(drawn_cases))
def test_normalisations_parse_back(case):
    measure = rs.parse_measure(str(case))
    assert rs.parse_measure(str(measure)) == measure
    assert measure == getattr(rs, measure.name)(measure.measure) == type(measure)(str(measure.measure))


@pytest.mark.parametrize("name", sorted({*PARAMETERS, "UL1", "UL2"}))
def test_the_public_name_is_a_default_instance(name):
    measure = getattr(rs, name)
    assert measure == rs.parse_measure(name)
    assert dataclasses.is_dataclass(measure)
    if "k" in PARAMETERS.get(name, {}):
        assert str(measure @ 10).endswith("@10")
        assert (measure @ 10)(k=None) == measure


def test_objects_and_names_are_the_same():
    assert rs.nDCG_f @ 10 == rs.parse_measure("nDCG_f@10")
    assert rs.RBP_qwa(p=0.8) == rs.parse_measure("RBP_qwa(p=0.8)")
    assert str(rs.RBP_qwa) == "RBP_qwa(p=0.5)"
    assert str(rs.nDCG_f(gains={-2: -10}) @ 20) == "nDCG_f(gains={-2:-10})@20"
    assert rs.UL2(rs.nDCG @ 10) == rs.parse_measure("UL2(nDCG@10)") == rs.UL2("nDCG@10")
    assert rs.nDCG_f @ 10 != rs.nDCG_min @ 10
    assert rs.nDCG_f @ 10 != rs.nDCG_f @ 5
    assert rs.AP(rel=2) != rs.AP


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("RBP(p=.5)", "RBP( p = 0.50 )"),
        ("RBP", "RBP(p=0.8)"),
        ("AP(rel=2)", "AP(rel=2.0)"),
        ("AP(rel=1)", "AP"),
        ("nDCG@10", "nDCG_0@10"),
        ("nDCG(k=10)", "nDCG@10"),
        ("nDCG_f(gains={-2:-10, 1:5})@20", "nDCG_f(gains={1: 5.0, -2: -10})@20"),
        ("nDCG_f(gains={-2:-10})@20", 'nDCG_f(gains="-2=-10")@20'),
        ("nDCG(gains='exp')", 'nDCG(gains="exp")'),
        ("nDCG(gains=exp)@5", 'nDCG(gains="exp")@5'),
        ('AP(nil="NIL")', "AP(nil=NIL)"),
        ('AP(nil="NIL", rel=2)@5', "AP(rel=2,nil='NIL')@5"),
        (" AP ", "AP"),
    ],
)
def test_spellings_of_the_same_measure(one, other):
    first, second = rs.parse_measure(one), rs.parse_measure(other)
    assert first == second
    assert hash(first) == hash(second)
    scores = rs.evaluate({"q": {"a": 1, "b": -2}}, {"q": {"a": 1}}, [one])
    assert scores.column(other) == scores.column(first) == 0
    assert scores.mean_of(other) == scores.mean_of(one)


def test_numpy_numbers_are_numbers():
    assert str(rs.RBP(p=np.float64(0.5))) == "RBP(p=0.5)"
    assert str(rs.nDCG_f @ np.int64(10)) == "nDCG_f@10"
    assert rs.AP(rel=np.int64(2)) == rs.AP(rel=2)


def test_gains_are_values():
    assert rs.Gains.of({-2: -10}) == rs.Gains.of("-2=-10") == rs.Gains.of("{-2: -10}")
    assert hash(rs.Gains.of({-2: -10})) == hash(rs.Gains.of("{-2:-10}"))
    assert rs.Gains.of("linear") == rs.Gains.of({})


def test_one_column_for_one_name():
    assert rs.parse_measures(["AP", "AP(rel=1)", "map", "AP(rel=2)", "AP(rel=2.0)"]) == [rs.AP, rs.AP(rel=2)]
    assert [str(m) for m in rs.parse_measures("nDCG nDCG_0 ndcg")] == ["nDCG", "nDCG_0"]


# -- names of other tools ----------------------------------------------------------------------------------

TREC_EVAL = {
    "map": "AP", "map_cut_10": "AP@10", "map_cut.10": "AP@10", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10",
    "ndcg_cut.5": "nDCG@5", "P_5": "P@5", "P.5": "P@5", "recall_100": "R@100", "recip_rank": "RR", "Rprec": "Rprec",
    "bpref": "Bpref", "success_1": "Success@1", "num_ret": "NumRet", "num_rel": "NumRel", "set_P": "P",
    "set_recall": "R", "num_rel_ret": "NumRelRet", "gm_map": "GMAP", "infAP": "infAP", "set_F": "SetF",
    "11pt_avg": "AP_11pt", "iprec_at_recall_0.10": "IPrec(recall=0.1)", "iprec_at_recall.0.25": "IPrec(recall=0.25)",
    "set_F.1.0": "SetF", "set_F.4": "SetF(beta=2)", "set_f_.25": "SetF(beta=0.5)",
    "rbp.p=0.8": 'RBP(p=0.8, gains="linear", over="query")',
    "iprec_at_recall..5": "IPrec", "nDCG_cut_10": "nDCG@10", "MAP_CUT.100": "AP@100", "p_5": "P@5",
}  # fmt: skip
ANY_CASE = {
    "ndcg_f@10": "nDCG_f@10", "NDCG_F@10": "nDCG_f@10", "ap": "AP", "p@5": "P@5", "r@5": "R@5", "rr": "RR",
    "Rbp": "RBP", "goodfiltered": "GoodFiltered", "rbp_QWA(p=0.7)": "RBP_qwa(p=0.7)", "ul2(DCG@5)": "UL2(DCG@5)",
    "kndcg@5": "kNDCG@5", "q@5": "Q@5",
}  # fmt: skip
SAKAIS = {"Qmeasure@10": "Q@10", 'Q-measure(nil="NIL")': 'Q(nil="NIL")'}
RANX = {
    "hit_rate@5": "Success@5", "precision@5": "P@5", "recall@100": "R@100", "r-precision": "Rprec", "bpref": "Bpref",
    "mrr@10": "RR@10", "map@100": "AP@100", "ndcg@10": "nDCG@10", "ndcg_burges@10": 'nDCG(gains="exp")@10',
    "map-l2@100": "AP(rel=2)@100", "dcg@5": "DCG@5", "dcg_burges@5": 'DCG(gains="exp")@5',
}  # fmt: skip
IR_MEASURES = {
    "nDCG@10": "nDCG@10", "NDCG@10": "nDCG@10", "nDCG(dcg='exp-log2')@10": 'nDCG(gains="exp")@10',
    "nDCG(dcg='log2')@10": "nDCG@10", "AP(rel=2)": "AP(rel=2)", "AP(rel=2)@100": "AP(rel=2)@100", "MAP": "AP",
    "P(rel=2)@5": "P(rel=2)@5", "Precision@5": "P@5", "Recall@100": "R@100", "R@100": "R@100", "MRR": "RR",
    "RR(rel=2)@10": "RR(rel=2)@10", "BPref": "Bpref", "RPrec": "Rprec", "SetP": "P", "SetR": "R",
    "Success@5": "Success@5", "RBP(p=0.8, rel=1)": "RBP(p=0.8)", "ERR@20": "ERR@20", "Judged@10": "Judged@10",
    "IPrec@0.1": "IPrec(recall=0.1)", "IPrec(rel=2)@1": "IPrec(recall=1, rel=2)", "NumRelRet": "NumRelRet",
    "NumRet(rel=2)": "NumRelRet(rel=2)", "SetF(beta=2)": "SetF(beta=2)", "infAP": "infAP",
    "NumRet": "NumRet", "AP(cutoff=10)": "AP@10", "AP(judged_only=False)": "AP",
}  # fmt: skip


def test_names_that_are_no_class_are_there_in_python_too():
    assert (rs.SetP, rs.SetR, rs.ERR_gdeval) == (rs.P, rs.R, rs.ERR(max_grade=4))


def test_ours_first_then_trec_evals_then_ours_in_any_case():
    """P is the whole list's, rbp trec_eval's, Rbp ours."""
    assert rs.parse_measure("P") == rs.P
    assert rs.parse_measure("rbp") == rs.RBP(p=0.9, gains="linear", over="query")
    assert rs.parse_measure("Rbp") == rs.RBP(p=0.8)
    assert rs.parse_measure("rbp@10").k == 10
    qrels, run = {"q": {"a": 1, "b": 1, "c": 0}}, {"q": {"c": 3, "b": 2, "a": 1}}
    rbp = rs.evaluate(qrels, run, ["rbp", "RBP(p=0.9)", "RBP"]).values[0, 0]
    assert rbp[0] == rbp[1] == pytest.approx(0.1 * (0.9 + 0.81))
    assert rbp[2] == pytest.approx(0.2 * (0.8 + 0.64))


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("nDCG@5,10", "nDCG@5 nDCG@10"),
        ("nDCG_f(gains={-2:-10})@5, 10,AP", "nDCG_f(gains={-2:-10})@5 nDCG_f(gains={-2:-10})@10 AP"),
        ("P.5,10", "P@5 P@10"),
        ("P_5,10 map_cut.3,7", "P@5 P@10 AP@3 AP@7"),
        ("success", "Success@1 Success@5 Success@10"),
        ("ndcg.1=3,2=9 AP", "nDCG(gains={1:3,2:9}) AP"),
        ("ndcg.1=3 ndcg_2=5,3=7", "nDCG(gains={1:3}) nDCG(gains={2:5,3:7})"),
        ("set", "NumRet NumRel NumRelRet P R SetF"),
        ("iprec_at_recall..10,.2 P_5", "IPrec@0.1 IPrec@0.2 P@5"),
        ("IPrec@0.1,0.5,1", "IPrec@0.1 IPrec@0.5 IPrec@1"),
    ],
)
def test_several_at_once(names, found):
    assert rs.parse_measures(names) == [rs.parse_measure(name) for name in found.split()]
    assert rs.parse_measures([names]) == rs.parse_measures(names)


def test_the_weight_in_set_f_is_the_square_of_beta():
    """trec_eval: (x + 1) P R / (R + x P), with the importance x of recall."""
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2, "x": 1}}
    precision, recall = 1 / 2, 1 / 3
    for x in (0.5, 2, 3):
        expected = (x + 1) * precision * recall / (recall + x * precision)
        assert rs.evaluate(qrels, run, f"set_F.{x}").values[0, 0, 0] == pytest.approx(expected)


def test_sets_of_trec_eval():
    official, everything = rs.parse_measures("official"), rs.parse_measures("all_trec")
    assert set(official) < set(everything)
    assert rs.AP in official
    assert {rs.nDCG @ 10, rs.R @ 1000, rs.P} < set(everything)
    assert rs.parse_measures("AP official") == [rs.AP, *(m for m in official if m != rs.AP)]


@pytest.mark.parametrize(
    ("theirs", "ours"), [*TREC_EVAL.items(), *ANY_CASE.items(), *RANX.items(), *SAKAIS.items(), *IR_MEASURES.items()]
)
def test_names_of_other_tools(theirs, ours):
    assert rs.parse_measure(theirs) == rs.parse_measure(ours)


# -- wrong names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nDCGf@10", "did you mean nDCG_f"),
        ("apf", "did you mean AP"),
        ("official", "names several measures; name one of them: NumRet, NumRel"),
        ("recall", "names several measures; name one of them: R@5, R@10"),
        ("nDCG@5,10", "names several measures; name one of them: nDCG@5, nDCG@10 …"),
        ("AP RR", "names several measures; name one of them: AP, RR …"),
        ("relative_P_10", "P@k and R@k are its two parts"),
        ("unj.5", "Judged@k is the share"),
        ("utility.1", "Fdocs and GoodFiltered"),
        ("Rprec_mult.0.2", "Rprec is precision at rank R"),
        ("11pt_avg..25", "IPrec@0.25 has one"),
        ("yaap", "AP and GMAP"),
        ("prefs_simp", "Bpref counts preferences"),
        ("set_F.0", "write beta=1"),
        ("set_F.x", "a cutoff is written @10"),
        ("rbp.p=1", "write p=0.8"),
        ("rbp_resid", "RBP(p=0.9, residual=True)"),
        ("ndgc", "did you mean"),
        ("xyzzy", "ranksift measures"),
        ("", "ranksift measures"),
        ("@10", "ranksift measures"),
        ("nDCG@", "a cutoff is written @10"),
        ("nDCG@-1", "a cutoff is written @10"),
        ("nDCG@1.5", "a cutoff is written @10"),
        ("nDCG@0", "k is not a positive integer"),
        ("P_0", "k is not a positive integer"),
        ("nDCG@" + "9" * 5000, "a cutoff is written @10"),
        ("P_" + "9" * 5000, "ranksift measures"),
        ("nDCG(k=3)@5", "k twice"),
        ("nDCG(gains", "close it"),
        ("nDCG(gains='exp)", "close it"),
        ("nDCG)", "a cutoff is written @10, at the end"),
        ("nDCG@10 extra", "names several measures"),
        ("Rprec@10", "does not take @k"),
        ("kNDCG(gains=exp)@3", "its parameters are: k"),
        ("AP(relevance=2)", "its parameters are: k, nil, rel"),
        ("AP(rel=2, rel=3)", "give it once"),
        ("AP(2)", "write it as name=value"),
        ("AP(rel=x)", "write rel=1"),
        ("AP(rel=None)", "write rel=1"),
        ("AP(rel=1e999)", "is not finite; give a number"),
        ("AP(rel=1" + "0" * 400 + ")", "is too large"),
        ("AP(nil='')", "write nil='NIL'"),
        ("AP(nil=3)", "write nil='NIL'"),
        ("RBP(p=1)", "write p=0.8"),
        ("RBP(p=nan)", "is not a number between 0 and 1"),
        ("RBP_qwa(p=0)", "write p=0.5"),
        ("RBP(residual=1)", "write residual=False"),
        ("ERR(max_grade=0)", "write max_grade=4"),
        ("ERR(max_grade=best)", "write max_grade=4"),
        ("RR_qwa(limit=0)", "write limit=5"),
        ("AP_qwa(scale=min)", "use 'max'"),
        ("Fdocs(average=mean)@3", "use 'micro' or 'macro'"),
        ("GoodFiltered(good=all)", "use 'nonnegative' or 'positive'"),
        ("MSP_ul2(expected=true)@3", "use 'exact' or 'paper'"),
        ("MSP_ul2(upper=R)@3", "use 'k' or 'attainable'"),
        ("nDCG(gains=cubic)", "use linear, exp or label=gain"),
        ("nDCG(gains={1:2,1:3})", "give each label one gain"),
        ("nDCG(gains={1:inf})", "use finite numbers"),
        ("nDCG(dcg=log10)", "use 'log2' or 'exp-log2'"),
        ("nDCG(alias=best)", "write nDCG or nDCG_0"),
        ("AP(judged_only=True)", "unjudged='drop'"),
        ("UL2(Rprec)", "use DCG, nDCG, SP"),
        ("UL2(nope)", "ranksift measures"),
        ("UL2(MSP)", "write UL2(MSP@10)"),
        ("UL2(P@5, P@6)", "write it as name=value"),
        ("SetAP", "SetP and SetR"),
        ("IPrec@2", "recall=2 is not a number from 0 to 1"),
        ("IPrec@", "a cutoff is written @10"),
        ("iprec_at_recall.10", "recall=10 is not a number from 0 to 1"),
        ("P_.5", "k is not a positive integer"),
        ("SetF(beta=0)", "write beta=1"),
    ],
)
def test_wrong_names(name, hint):
    with pytest.raises(rs.InputError) as error:
        rs.parse_measure(name)
    assert hint in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("wrong", [None, 5, ["AP"], object()])
def test_what_is_no_name_at_all(wrong):
    with pytest.raises(rs.InputError):
        rs.parse_measure(wrong)
    with pytest.raises(rs.InputError):
        rs.parse_measures([wrong])


@pytest.mark.parametrize("wrong", [None, 5, [], "", " , "])
def test_no_measure_to_evaluate(wrong):
    with pytest.raises(rs.InputError):
        rs.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, wrong)


@pytest.mark.parametrize("k", [0, -1, 1.5, "10", True, 10**30])
def test_wrong_k(k):
    with pytest.raises(rs.InputError, match="k is not a positive integer"):
        rs.nDCG_f @ k


@pytest.mark.parametrize("name", [name for name, cls in CATALOGUE.items() if cls.needs_k])
def test_a_measure_that_needs_k_says_so(name):
    with pytest.raises(rs.InputError, match=f"{name} needs a cutoff; write {name}@10"):
        rs.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, [name])


FRAGMENTS = [
    *CATALOGUE,
    *ANY,
    *TREC_EVAL,
    *"(){}[],=@ \t\"'\\:;-._",
    "1",
    "0.5",
    "-2",
    "None",
    "exp",
    "NIL",
    "1e999",
    "é",
    "\0",
]


@settings(max_examples=4 * settings.default.max_examples)
@given(
    st.one_of(
        st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join), st.text(string.printable, max_size=30), st.text()
    )
)
@example("(" * 5000)
@example("AP(rel=" + "(" * 5000 + ")" * 5001)
@example("UL1(" * 2000 + "AP" + ")" * 2000)
@example("nDCG(gains={" + "1:1," * 3000 + "})")
def test_any_text_is_a_measure_or_an_input_error(text):
    try:
        measure = rs.parse_measure(text)
    except rs.InputError:
        return
    assert rs.parse_measure(str(measure)) == measure
    rs.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, [measure(k=5) if measure.needs_k else measure])


@given(st.text(max_size=40))
def test_any_text_is_measures_or_an_input_error(text):
    try:
        found = rs.parse_measures(text)
    except rs.InputError:
        return
    assert found


# -- the catalogue -----------------------------------------------------------------------------------------

FAMILIES = {"cumulative", "filtering", "truncation", "bounds", "topk", "classic"}


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_documentation_of_every_measure(name):
    cls = CATALOGUE[name]
    assert cls.__doc__ is not None
    assert ".. math::" in cls.__doc__, "a formula"
    assert ">>> " in cls.__doc__, "an example"
    assert f"{name}" in cls.__doc__.split("Examples")[1], "of this measure"
    assert cls.family in FAMILIES
    assert (
        any(year in cls.paper for year in map(str, range(1979, 2027)))
        or "trec_eval" in cls.paper
        or "ir_m" in cls.paper
    )


def test_the_catalogue_is_the_surface():
    surface = """
        DCG nDCG nDCG_org nDCG_min nDCG_f
        Fdocs GoodFiltered RelevantFiltered Empty Difficulty UBQ UBQ_over UBQ_under
        RR_qwa P_qwa RBP_qwa nDCG_qwa AP_qwa c_at_1
        SP MSP DCG_ul1 DCG_ul2 MSP_ul1 MSP_ul2 E_DCG E_nDCG E_SP E_MSP UL1 UL2
        kNDCG kERR
        P R AP RR Rprec Bpref Success RBP ERR Q Judged NumRet NumRel
        GMAP infAP IPrec AP_11pt SetF NumRelRet
    """
    assert set(surface.split()) == set(CATALOGUE)
