"""What paper 2 says of its measures, for all short rankings of zeros and ones."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranksift as rs

# Collections of a few documents: lists without a judged one, judgments without a forbidden one.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*no document that it lists is judged",
    "ignore:run '.*' answers",
    "ignore:.*are the same here",
    "ignore:.*are they swapped",
)

MEASURES = ["RR_qwa", "RBP_qwa(p=0.5)", "nDCG_qwa", "AP_qwa"]
POOL = 5


def score(rankings, relevant):
    """Rankings of "0" and "1" against a pool of ``relevant`` documents: {ranking: values}."""
    qrels = {r: {f"r{i}": 1 for i in range(relevant)} | {"irrelevant": 0} for r in rankings}
    run = {}
    for ranking in rankings:
        hits = iter(range(relevant))
        run[ranking] = {f"r{next(hits)}" if c == "1" else f"x{i}": -i for i, c in enumerate(ranking)}
    # a query without a name cannot be asked for
    qrels["empty"], run["empty"] = qrels.pop("", {"irrelevant": 0}), run.pop("", {})
    scores = rs.evaluate(qrels, run, MEASURES)
    return {q if q != "empty" else "": v for q, v in zip(scores.queries, scores.values[0], strict=True)}


def rankings(relevant, longest=6):
    words = ("".join(bits) for n in range(longest + 1) for bits in product("01", repeat=n))
    return [w for w in words if w.count("1") <= relevant]


@pytest.fixture(scope="module", params=range(POOL))
def scored(request):
    return request.param, score(rankings(request.param), request.param)


def test_bounded(scored):
    _, values = scored
    table = np.array(list(values.values()))
    assert (table >= 0).all()
    assert (table <= 1 + 1e-12).all()


def test_only_the_complete_and_exact_list_is_perfect(scored):
    """All answers first and nothing else; RR' is content with a first answer."""
    relevant, values = scored
    for ranking, (rr, *others) in values.items():
        exact = ranking == "1" * relevant
        assert [abs(v - 1) < 1e-12 for v in others] == [exact] * 3, ranking
        assert (rr == 1) == (ranking.startswith("1") or exact)


def test_a_trailing_irrelevant_document_costs(scored):
    """ "110" < "11" for RBP', NDCG' and AP'; RR' ties where there is something to find."""
    relevant, values = scored
    for ranking in values:
        longer = ranking + "0"
        if longer in values:
            (rr, *others), (rr_longer, *others_longer) = values[ranking], values[longer]
            if relevant == 0:
                assert rr_longer < rr
            else:
                assert rr_longer == rr
            for before, after in zip(others, others_longer, strict=True):
                assert after < before if "1" in ranking or relevant == 0 else after == before == 0


def test_nothing_to_find():
    """ "" > "0" > "00" > …, from 1 on."""
    values = score(rankings(0), 0)
    assert values[""].tolist() == [1.0] * 4
    assert all((values["0" * n] > values["0" * (n + 1)]).all() for n in range(6))


def test_an_answer_higher_up_is_better(scored):
    """…01… → …10…: never worse, and better for RBP', NDCG' and AP'."""
    _, values = scored
    for ranking in values:
        for i in range(len(ranking) - 1):
            if ranking[i : i + 2] == "01":
                better = values[f"{ranking[:i]}10{ranking[i + 2 :]}"]
                assert (better[1:] > values[ranking][1:]).all()
                assert better[0] >= values[ranking][0]


def test_one_more_answer_is_better_for_RBP_and_AP(scored):
    _, values = scored
    for ranking in values:
        if ranking + "1" in values:
            assert (values[ranking + "1"][[1, 3]] > values[ranking][[1, 3]]).all()


def test_relations_of_section_2():
    values = score(["10100", "01001", "101", "011", "110", "11"], 3)
    assert (values["10100"] > values["01001"]).all()
    assert (values["101"] >= values["10100"]).all()
    assert (values["011"] >= values["01001"]).all()
    assert (values["110"][1:] < values["11"][1:]).all()
    assert values["110"][0] == values["11"][0]


@given(st.floats(0.01, 0.99), st.integers(0, 4), st.integers(0, 3))
def test_RBP_of_the_infinite_list(p, hits, missed):
    """Every rank after the end has the terminal gain."""
    labels = {f"r{i}": 1 for i in range(hits + missed)} | {"irrelevant": 0}
    run = {f"r{i}": -i for i in range(hits)}
    value = rs.evaluate({"q": labels}, {"q": run}, [rs.RBP_qwa(p=p)]).values[0, 0, 0]
    terminal = hits / (hits + missed) if hits + missed else 1.0
    gains = [1.0] * hits + [terminal] * 5000
    assert value == pytest.approx(sum((1 - p) * g * p**i for i, g in enumerate(gains)), abs=1e-9)


def test_limit_and_nil_act_before_unjudged_documents_are_dropped():
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    run = {"q": {"u1": 3, "a": 2, "u2": 1}, "r": {"a": 3, "u1": 2, "NIL": 1}}
    names = ["RBP_qwa(p=0.5, limit=3)", 'RBP_qwa(p=0.5, limit=3, nil="NIL")']
    scores = rs.evaluate(qrels, run, names, unjudged="drop")
    # three documents came: the limit cut the first list, NIL ended the second one
    assert scores.values[0].tolist() == [[0.5, 0.5], [0.5, 1.0]]


def test_nil_must_not_be_judged():
    with pytest.raises(rs.InputError, match=r"NIL document 'NIL' is judged for query 'r'"):
        rs.evaluate({"q": {"a": 1}, "r": {"NIL": 1}}, {"q": {"a": 1}}, ['RR_qwa(nil="NIL")'])


def test_nil_matters_only_to_measures_that_know_it():
    qrels, run = {"q": {"a": 1}}, {"q": {"NIL": 2, "a": 1}}
    scores = rs.evaluate(qrels, run, ["RR", 'RR(nil="NIL")', "NumRet", 'RR_qwa(nil="NIL")'], unjudged="drop")
    assert scores.values[0, 0].tolist() == [1.0, 0.5, 1.0, 0.0]
