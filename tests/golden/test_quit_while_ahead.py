"""Paper 2: the values of Table 1, the worked 0.698, the rules of Table 2; c@1 by hand."""

import pytest

import ranksift as rs

# Collections of a few documents: lists without a judged one, judgments without a forbidden one.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*no document that it lists is judged",
    "ignore:run '.*' answers",
    "ignore:.*are the same here",
    "ignore:.*are they swapped",
)

MEASURES = ["RR_qwa", "RBP_qwa(p=0.5)", "nDCG_qwa", "AP_qwa"]

# Ranking, R, then RR', RBP', NDCG', AP'.
TABLE_1 = [
    ("00", 0, 0.333, 0.250, 0.500, 0.333),
    ("000", 0, 0.250, 0.125, 0.431, 0.250),
    ("111", 3, 1.000, 1.000, 1.000, 1.000),
    ("11", 3, 1.000, 0.917, 0.922, 0.648),
    ("11100", 3, 1.000, 0.906, 0.971, 0.917),
    ("101", 3, 1.000, 0.708, 0.698, 0.528),
    ("1", 3, 1.000, 0.667, 0.742, 0.306),
    ("10100", 3, 1.000, 0.646, 0.678, 0.491),
    ("011", 3, 0.500, 0.458, 0.554, 0.403),
    ("01001", 3, 0.500, 0.302, 0.490, 0.299),
]


def evaluate(ranking, relevant, measures):
    """Score a ranking written as 0, 1 and N (for NIL); the pool holds ``relevant`` documents of label 1."""
    found = ranking.count("1")
    qrels = {f"r{i}": 1 for i in range(found)} | {f"missed{i}": 1 for i in range(relevant - found)}
    hits = iter(range(found))
    names = ["NIL" if c == "N" else f"r{next(hits)}" if c == "1" else f"x{i}" for i, c in enumerate(ranking)]
    run = {name: -rank for rank, name in enumerate(names)}
    return rs.evaluate({"q": qrels or {"x": 0}}, {"q": run}, measures).values[0, 0].tolist()


@pytest.mark.parametrize(("ranking", "relevant", "rr", "rbp", "ndcg", "ap"), TABLE_1)
def test_table_1(ranking, relevant, rr, rbp, ndcg, ap):
    assert [round(v, 3) for v in evaluate(ranking, relevant, MEASURES)] == [rr, rbp, ndcg, ap]


def test_worked_example():
    assert evaluate("101", 3, ["nDCG_qwa"]) == [pytest.approx(0.698, abs=5e-4)]


def test_empty_list_is_right_where_nothing_is_relevant():
    assert evaluate("", 0, [*MEASURES, "P_qwa@1"]) == [1.0, 1.0, 1.0, 1.0, 1.0]


def test_empty_list_is_wrong_where_something_is_relevant():
    assert evaluate("", 2, [*MEASURES, "P_qwa@1"]) == [0.0, 0.0, 0.0, 0.0, 0.0]


def test_a_query_that_no_one_judged_has_no_answer():
    run = {"q": {"a": 1}, "nil": {}, "hasty": {"b": 1}}
    scores = rs.evaluate({"q": {"a": 1}}, run, ["RR_qwa"], queries=["q", "nil", "hasty"])
    assert scores.values[0, :, 0].tolist() == [1.0, 1.0, 0.5]


# Table 2: what each kind of list becomes when lists hold five documents at most. The lists on the right end on purpose;
# what stands behind NIL is cut off, but stays in the pool.
TABLE_2 = {
    "01N": "01",
    "N": "",
    "N1101": "",
    "0101N": "0101",
    "01": "01",
    "0110": "0110",
    "": "",
}


@pytest.mark.parametrize(("ranking", "relevant"), [(r, n) for r in TABLE_2 for n in (0, 2, 3) if n >= r.count("1")])
def test_table_2_lists_that_end_on_purpose(ranking, relevant):
    how = 'limit=5, nil="NIL"'
    named = [f"RR_qwa({how})", f"RBP_qwa(p=0.5, {how})", f"nDCG_qwa({how})", f"AP_qwa({how})", f"P_qwa({how})@3"]
    assert evaluate(ranking, relevant, named) == evaluate(TABLE_2[ranking], relevant, [*MEASURES, "P_qwa@3"])


@pytest.mark.parametrize(
    ("ranking", "relevant"), [("01010", 2), ("01010", 5), ("00000", 2), ("00000", 0), ("11111", 5)]
)
def test_table_2_full_list_gets_the_unmodified_metrics(ranking, relevant):
    limited = ["RR_qwa(limit=5)", "RBP_qwa(p=0.5, limit=5)", "nDCG_qwa(limit=5)", "AP_qwa(limit=5)", "P_qwa(limit=5)@5"]
    plain = ["RR", "RBP(p=0.5)", "nDCG@5", "AP", "P@5"]
    assert evaluate(ranking, relevant, limited) == pytest.approx(evaluate(ranking, relevant, plain), abs=1e-12)


# NIL is right exactly where there is nothing to find (TREC 2001), and a list may go on after it.
@pytest.mark.parametrize(
    ("ranking", "relevant", "expected"),
    [
        ("N", 0, [1.0, 1.0, 0.5, 1.0, 0.2]),
        ("0N", 0, [0.5, 0.5, 0.25, 0.6309297535714575, 0.2]),
        ("N1", 1, [0.5, 0.5, 0.25, 0.6309297535714575, 0.2]),
        ("N", 1, [0.0, 0.0, 0.0, 0.0, 0.0]),
        ("", 0, [0.0, 0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_trec_2001_nil(ranking, relevant, expected):
    named = ['RR(nil="NIL")', 'AP(nil="NIL")', 'RBP(p=0.5, nil="NIL")', 'nDCG(nil="NIL")', 'P(nil="NIL")@5']
    assert evaluate(ranking, relevant, named) == pytest.approx(expected, abs=1e-12)


def test_gains_above_1_warn_and_scale_helps():
    qrels, run = {"q": {"a": 3}}, {"q": {"a": 1}}
    with pytest.warns(rs.RankSiftWarning, match=r"AP_qwa: gains up to 3"):
        scores = rs.evaluate(qrels, run, ["AP_qwa"])
    assert scores.mean_of("AP_qwa") == 2.75  # the reading's own number: (3·3/1 + 1·4/2) / 4
    assert rs.evaluate(qrels, run, ['AP_qwa(scale="max")']).mean_of('AP_qwa(scale="max")') == 1.0


def test_gains_below_1_can_exceed_the_ideal():
    scores = rs.evaluate({"q": {"a": 0.25, "b": 0.25}}, {"q": {"a": 1}}, ["nDCG_qwa"])
    assert scores.mean_of("nDCG_qwa") == pytest.approx(1.387, abs=5e-4)


# c@1 = (n_ac + n_u · n_ac / n) / n
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("CCCC", 1.0),
        ("CCWW", 0.5),
        ("CCUU", (2 + 2 * 2 / 4) / 4),
        ("CUUU", (1 + 3 * 1 / 4) / 4),
        ("UUUU", 0.0),
        ("WWWU", 0.0),
        ("CWU", (1 + 1 / 3) / 3),
    ],
)
def test_c_at_1(answers, expected):
    lists = {"C": {"right": 2, "wrong": 1}, "W": {"wrong": 2, "right": 1}, "U": {}}
    qrels = {f"q{i}": {"right": 1, "wrong": 0} for i in range(len(answers))}
    scores = rs.evaluate(qrels, {f"q{i}": lists[a] for i, a in enumerate(answers)}, ["c_at_1"])
    assert scores.mean_of("c_at_1") == pytest.approx(expected, abs=1e-12)
    share = answers.count("C") / len(answers)
    assert scores.values[0, :, 0].tolist() == pytest.approx([{"C": 1, "W": 0, "U": share}[a] for a in answers])


def test_c_at_1_takes_nil_for_no_answer():
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    run = {"q": {"a": 1}, "r": {"NIL": 2, "b": 1}}
    scores = rs.evaluate(qrels, run, ["c_at_1", 'c_at_1(nil="NIL")'])
    assert scores.aggregate()[0].tolist() == [0.5, 0.75]
