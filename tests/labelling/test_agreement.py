"""Agreement: against textbook examples, scikit-learn, plain loops, and what it must promise."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.metrics import cohen_kappa_score

from ranksift.errors import InputError
from ranksift.labelling import agreement as ag
from ranksift.labelling.judgments import Judgment, effective
from tests.labelling.logs import graded, log, prefer

# Fleiss 1971, Table 1: 30 patients, 6 psychiatrists each, 5 diagnoses. Printed: κ = 0.430.
FLEISS = """0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0|2 0 0 4 0|0 0 0 0 6
1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2|5 1 0 0 0|0 2 0 4 0|1 0 2 0 3
0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0|4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6"""
FLEISS_TABLE = [[int(n) for n in row.split()] for line in FLEISS.splitlines() for row in line.split("|")]

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C: four observers, twelve units.
# Printed: nominal 0.743, ordinal 0.815, interval 0.849.
NAN = np.nan
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


def alpha_by_loops(values, level):
    """Krippendorff's definition over single pairs of values, without a coincidence matrix."""
    units = [[v for v in unit if not np.isnan(v)] for unit in np.array(values, dtype=float).T]
    units = [unit for unit in units if len(unit) > 1]
    every = [v for unit in units for v in unit]

    def apart(a, b):
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = sorted((a, b))
        between = sum(low <= v <= high for v in every)
        return (between - (every.count(a) + every.count(b)) / 2) ** 2 if a != b else 0.0

    n = len(every)
    seen = sum(
        sum(apart(unit[i], unit[j]) for i in range(len(unit)) for j in range(len(unit)) if i != j) / (len(unit) - 1)
        for unit in units
    )
    expected = sum(apart(every[i], every[j]) for i in range(n) for j in range(n) if i != j)
    return 1 - (seen / n) / (expected / (n * (n - 1)))


# -- statistics of plain arrays ----------------------------------------------------------------------------------------


def test_fleiss_kappa_is_what_fleiss_printed() -> None:
    assert len(FLEISS_TABLE) == 30
    assert ag.fleiss_kappa(FLEISS_TABLE, samples=0).value == pytest.approx(0.430, abs=5e-4)


@pytest.mark.parametrize(("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_what_krippendorff_printed(level, printed) -> None:
    assert ag.krippendorff_alpha(KRIPPENDORFF, level=level, samples=0).value == pytest.approx(printed, abs=6e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_the_plain_loop(level) -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        values = random.choice([0.0, 1, 2.5, 4], size=(4, 15))
        values[random.random(values.shape) < 0.4] = np.nan
        assert ag.krippendorff_alpha(values, level=level, samples=0).value == pytest.approx(
            alpha_by_loops(values, level)
        )


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights) -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        first = random.integers(0, 5, 60)
        second = np.where(random.random(60) < 0.5, first, random.integers(0, 5, 60))
        ours = ag.cohen_kappa(first, second, weights=weights, categories=range(5), samples=0).value
        theirs = cohen_kappa_score(first, second, weights=None if weights == "none" else weights, labels=range(5))
        assert ours == pytest.approx(theirs)


def test_fleiss_kappa_by_loops_with_different_numbers_of_assessors() -> None:
    counts = np.array([[3, 0, 0], [1, 2, 0], [0, 0, 2], [0, 1, 0], [1, 1, 1]])
    used = [row for row in counts.tolist() if sum(row) > 1]
    agreed, shares = [], np.zeros(3)
    for row in used:
        said = [c for c, n in enumerate(row) for _ in range(n)]
        agreed.append(np.mean([a == b for a, b in combinations(said, 2)]))
        shares += np.array(row) / sum(row) / len(used)
    expected = (np.mean(agreed) - (shares**2).sum()) / (1 - (shares**2).sum())
    assert ag.fleiss_kappa(counts, samples=0).value == pytest.approx(expected)


def test_chi_square_is_that_of_scipy_without_correction() -> None:
    for first, second in (((745, 255), (547, 453)), ((10, 3), (700, 900))):
        expected = chi2_contingency([first, second], correction=False)
        assert ag.chi_square(first, second) == pytest.approx((expected.statistic, expected.pvalue))
    assert np.isnan(ag.chi_square((0, 0), (5, 5))).all()


def test_what_is_not_defined_is_nan() -> None:
    assert np.isnan(ag.cohen_kappa([1, 1], [1, 1]).value)
    assert np.isnan(ag.krippendorff_alpha([[1, 1], [1, 1]]).value)
    assert np.isnan(ag.fleiss_kappa([[2, 0], [2, 0]]).value)
    assert np.isnan(ag.krippendorff_alpha([[1, NAN], [NAN, 1]]).value)
    assert np.isnan(ag.cohen_kappa([], []).value)
    assert ag.cohen_kappa([], []).to_dict() == {"value": None, "low": None, "high": None}


@pytest.mark.parametrize(
    "call",
    [
        lambda: ag.cohen_kappa([0, 7], [0, 1], categories=[0, 1]),
        lambda: ag.cohen_kappa([[0]], [[1]]),
        lambda: ag.cohen_kappa([0, 1], [0, 1], queries=["q"]),
        lambda: ag.fleiss_kappa([1, 2]),
        lambda: ag.fleiss_kappa([[1, -2]]),
        lambda: ag.krippendorff_alpha([1, 2]),
    ],
)
def test_bad_input_is_one_line(call) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert "\n" not in str(error.value)


def test_bootstrap_draws_queries() -> None:
    """Items of a query that always agree among themselves: what is drawn item by item looks far too certain."""
    random = np.random.default_rng(3)
    queries = np.repeat(np.arange(20), 50)
    first = random.integers(0, 2, 1000)
    second = np.where(random.random(20)[queries] < 0.5, first, 1 - first)
    by_query = ag.cohen_kappa(first, second, queries=queries)
    by_item = ag.cohen_kappa(first, second)
    assert by_query.value == by_item.value
    assert by_query.high - by_query.low > 4 * (by_item.high - by_item.low)


def test_interval_is_the_plain_bootstrap() -> None:
    random = np.random.default_rng(4)
    first, second = random.integers(0, 3, (2, 30))
    queries = np.repeat(np.arange(10), 3)
    found = ag.cohen_kappa(first, second, queries=queries, samples=300, seed=9)
    often = np.random.default_rng(9).multinomial(10, np.full(10, 0.1), size=300)
    values = []
    for row in often:
        drawn = np.concatenate([np.flatnonzero(queries == q) for q in range(10) for _ in range(row[q])])
        values.append(cohen_kappa_score(first[drawn], second[drawn]))
    assert found[1:] == pytest.approx(np.quantile(values, [0.025, 0.975]))
    assert found == ag.cohen_kappa(first, second, queries=queries, samples=300, seed=9)
    assert found != ag.cohen_kappa(first, second, queries=queries, samples=300, seed=8)


def test_intervals_cover_the_true_alpha() -> None:
    """With 95 % intervals from 60 queries, about 95 of 100 hold the value of a very large sample."""
    random = np.random.default_rng(5)

    def made(count):
        truth = random.integers(0, 3, count)
        return np.where(random.random((2, count)) < 0.8, truth, random.integers(0, 3, (2, count)))

    true = ag.krippendorff_alpha(made(200_000), samples=0).value
    found = [ag.krippendorff_alpha(made(60), samples=400, seed=i) for i in range(150)]
    assert 0.88 <= np.mean([one.low <= true <= one.high for one in found]) <= 0.99


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, NAN]), min_size=4, max_size=4), min_size=2, max_size=12))
@settings(max_examples=60)
def test_alpha_does_not_depend_on_who_is_who(rows) -> None:
    values = np.array(rows)
    for level in ("nominal", "ordinal", "interval"):
        one = ag.krippendorff_alpha(values, level=level, samples=0).value
        other = ag.krippendorff_alpha(values[::-1, ::-1], level=level, samples=0).value
        assert one == pytest.approx(other, nan_ok=True)
        assert np.isnan(one) or one <= 1 + 1e-12


# -- from the log ------------------------------------------------------------------------------------------------------


def test_pairs_are_those_that_both_judged_and_a_is_what_the_first_saw_on_the_left() -> None:
    entries = [
        *log("q", "ann", [prefer("b", ">", "a"), prefer("c", "~", "b"), prefer("c", ">", "d")]),
        *log("q", "bob", [prefer("a", ">", "b"), prefer("b", "<", "c"), prefer("x", ">", "d")], purpose="overlap"),
        *log("r", "ann", [prefer("a", ">", "b")]),
    ]
    found = ag.pairwise(entries)
    assert found.queries == ("q",)
    assert found.raters == (("ann", "bob"),)
    assert dict(zip(found.units, found.values.tolist(), strict=True)) == {("b", "a"): [1, -1], ("c", "b"): [0, 1]}
    assert ag.agreement_among(found).counts.tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0]]


def test_who_labels_comes_before_who_overlaps() -> None:
    entries = [
        *log("q", "ann", [prefer("a", "~", "b")], purpose="overlap"),
        *log("q", "bob", [prefer("b", ">", "a")]),
    ]
    found = ag.pairwise(entries)
    assert found.raters == (("bob", "ann"),)
    assert found.units == (("b", "a"),)
    assert found.values.tolist() == [[1, 0]]


def test_undone_judgments_never_count() -> None:
    undo = Judgment("undo")
    said = [prefer("a", ">", "b"), prefer("a", "<", "c"), undo, prefer("a", ">", "c"), Judgment("skip", "b", "c"), undo]
    entries = log("q", "ann", said)
    assert [e.judgment for e in ag.effective_entries(reversed(entries))] == effective(said)
    both = [*entries, *log("q", "bob", [prefer("a", ">", "b"), prefer("a", ">", "c"), undo])]
    assert ag.pairwise(both).units == (("a", "b"),)
    assert ag.grades([*log("q", "ann", [graded("a", 2), undo], tool="grades")]).units == ()


@given(st.lists(st.sampled_from(["prefer", "skip", "undo"]), max_size=25))
def test_entries_that_count_are_those_of_the_contract(kinds) -> None:
    said = [
        Judgment("undo") if kind == "undo" else Judgment(kind, f"d{i}", "x", answer="tie")
        for i, kind in enumerate(kinds)
    ]
    assert [e.judgment for e in ag.effective_entries(log("q", "ann", said))] == effective(said)


def test_a_pair_judged_again_counts_as_judged_last() -> None:
    entries = [
        *log("q", "ann", [prefer("a", ">", "b"), prefer("b", ">", "a"), prefer("c", ">", "a"), prefer("a", "<", "c")]),
        *log("q", "bob", [prefer("b", ">", "a")]),
    ]
    assert ag.pairwise(entries).values.tolist() == [[1, 1]]
    assert ag.repeats(entries) == (2, 1)


def test_transitivity_by_brute_force() -> None:
    """What follows is what holds in every weak order that agrees with all that was said."""
    random = np.random.default_rng(6)
    docs = "abcd"
    every = {tuple(levels) for levels in np.ndindex(4, 4, 4, 4)}
    for _ in range(60):
        truth = random.integers(0, 4, 4)
        asked = [pair for pair in combinations(range(4), 2) if random.random() < 0.5]
        said = [prefer(docs[i], "<~>"[int(np.sign(truth[i] - truth[j])) + 1], docs[j]) for i, j in asked]
        fitting = [o for o in every if all(np.sign(o[i] - o[j]) == np.sign(truth[i] - truth[j]) for i, j in asked)]
        full = [prefer(a, "~", b) for a, b in combinations(docs, 2)]
        found = ag.pairwise([*log("q", "ann", said), *log("q", "bob", full)], inferred=True)
        known = {frozenset(u): v[0] if u[0] < u[1] else -v[0] for u, v in zip(found.units, found.values, strict=True)}
        for i, j in combinations(range(4), 2):
            signs = {float(np.sign(o[i] - o[j])) for o in fitting}
            expected = signs.pop() if len(signs) == 1 else None
            assert known.get(frozenset((docs[i], docs[j]))) == expected


def test_contradictions_imply_nothing_but_stay_as_they_were_said() -> None:
    ring = [prefer("a", ">", "b"), prefer("b", ">", "c"), prefer("c", ">", "a"), prefer("c", ">", "d")]
    full = [prefer(a, ">", b) for a, b in combinations("abcd", 2)]
    found = ag.pairwise([*log("q", "ann", ring), *log("q", "bob", full)], inferred=True)
    said = dict(zip(found.units, found.values.tolist(), strict=True))
    assert said[("a", "b")] == [1, 1]
    assert said[("c", "a")] == [1, -1]
    assert said[("a", "d")] == [1, 1]  # all of the ring are above d


def test_preferences_from_grades_by_loops() -> None:
    random = np.random.default_rng(7)
    given_grades = random.integers(0, 5, (2, 12)).tolist()
    entries = [
        *log("q", "ann", [graded(f"d{i}", g) for i, g in enumerate(given_grades[0])], tool="grades"),
        *log("q", "bob", [graded(f"d{i}", g) for i, g in enumerate(given_grades[1])][::-1], tool="grades"),
        *log("q", "bob", [prefer("d0", ">", "d1")]),
    ]
    found = ag.agreement_among(ag.from_grades(entries))
    expected = np.zeros((3, 3), dtype=int)
    for i, j in combinations(range(12), 2):
        cells = [1 - int(np.sign(g[i] - g[j])) for g in given_grades]
        expected[cells[0], cells[1]] += 1
    assert found.counts.tolist() == expected.tolist()
    assert found.units == 66
    assert found.overall.value == pytest.approx(np.trace(expected) / 66)
    untied = expected[[0, 2]][:, [0, 2]]
    assert found.untied.value == pytest.approx(np.trace(untied) / untied.sum())
    plain = ag.grades(entries)
    assert sorted(map(tuple, plain.values.tolist())) == sorted(zip(*given_grades, strict=True))
    kappa = ag.agreement_among(plain, range(5)).kappa_quadratic.value
    assert kappa == pytest.approx(cohen_kappa_score(*given_grades, weights="quadratic", labels=range(5)))


def test_more_than_two_assessors_are_all_their_pairs() -> None:
    random = np.random.default_rng(8)
    names = ["ann", "bob", "cyd", "dan"]
    given_grades = random.integers(0, 3, (4, 9))
    entries = [
        entry
        for name, own in zip(names, given_grades.tolist(), strict=True)
        for entry in log("q", name, [graded(f"d{i}", g) for i, g in enumerate(own)], tool="grades")
    ]
    ratings = ag.grades(entries)
    found = ag.agreement_among(ratings, range(3))
    expected = np.zeros((3, 3), dtype=int)
    for one, two in combinations(given_grades, 2):
        np.add.at(expected, (one, two), 1)
    assert found.counts.tolist() == expected.tolist()
    assert found.people == 4
    assert found.alpha_ordinal.value == pytest.approx(alpha_by_loops(given_grades, "ordinal"))
    by_two = {(b.first, b.second): b for b in ag.between_people(ratings, range(3))}
    assert len(by_two) == 6
    for i, j in combinations(range(4), 2):
        one = by_two[names[i], names[j]]
        assert one.kappa == pytest.approx(cohen_kappa_score(given_grades[i], given_grades[j]))
        assert one.overall == pytest.approx((given_grades[i] == given_grades[j]).mean())


def test_people_are_kept_apart_where_columns_are_not_theirs() -> None:
    """In a rotation the second column belongs to other people in each query."""
    entries = [
        *log("q", "ann", [prefer("a", ">", "b")]),
        *log("q", "cyd", [prefer("a", ">", "b")], purpose="overlap"),
        *log("r", "cyd", [prefer("a", ">", "b")]),
        *log("r", "bob", [prefer("a", "<", "b")], purpose="overlap"),
        *log("s", "cyd", [prefer("a", ">", "b")]),
        *log("s", "ann", [prefer("a", "~", "b")], purpose="overlap"),
    ]
    found = {(b.first, b.second): b for b in ag.between_people(ag.pairwise(entries), ag.PREFERENCES)}
    assert found[("ann", "cyd")][2:4] == (2, 0.5)
    assert found[("bob", "cyd")][2:4] == (1, 0.0)
    assert ("ann", "bob") not in found


def test_matrix_rows_sum_to_one_and_the_symmetrised_one_treats_both_alike() -> None:
    random = np.random.default_rng(9)
    said = [[prefer(f"a{i}", random.choice(list("<~>")), f"b{i}") for i in range(40)] for _ in range(2)]
    swapped = [log("q", name, own) for name, own in zip(("ann", "bob"), said[::-1], strict=True)]
    found = ag.agreement_among(
        ag.pairwise([e for one in (log("q", "ann", said[0]), log("q", "bob", said[1])) for e in one])
    )
    other = ag.agreement_among(ag.pairwise([e for one in swapped for e in one]))
    assert found.matrix().sum(axis=1) == pytest.approx(1)
    assert found.counts.tolist() == other.counts.T.tolist()
    both = found.matrix(symmetrised=True)
    assert both == pytest.approx(other.matrix(symmetrised=True))
    assert both == pytest.approx(both[::-1, ::-1])


def test_flags_are_those_of_documents_that_both_saw() -> None:
    entries = [
        *log("q", "ann", [prefer("a", ">", "b", forbidden=("b",)), prefer("a", ">", "c")]),
        *log("q", "bob", [prefer("b", "~", "a"), prefer("a", ">", "d", forbidden=("d",))]),
        *log("r", "ann", [graded("x", None, forbidden=True), graded("y", 3)], tool="grades"),
        *log("r", "bob", [graded("x", None, forbidden=True), Judgment("cannot", "y")], tool="grades"),
    ]
    found = ag.flags(entries)
    assert dict(zip(found.units, found.values.tolist(), strict=True)) == {
        ("a",): [0, 0],
        ("b",): [1, 0],
        ("x",): [1, 1],
    }
    assert len(ag.flags(entries, tool="grades")) == 1
    assert ag.agreement_among(found, (0, 1)).overall.value == pytest.approx(2 / 3)


def test_verification_is_compared_with_what_follows_from_the_first_log() -> None:
    entries = [
        *log("q", "ann", [prefer("a", ">", "b"), prefer("b", ">", "c")]),
        *log("q", "bob", [prefer("c", ">", "a")], purpose="verify"),
    ]
    assert len(ag.pairwise(entries)) == 0
    found = ag.verification(entries)
    assert found.units == (("c", "a"),)  # only bob has seen the two side by side
    assert found.values.tolist() == [[-1, 1]]
    assert ag.disputes(found)[0].said == {"ann": -1, "bob": 1}


def test_disputes_are_opposite_preferences_and_different_grades() -> None:
    entries = [
        *log("q", "ann", [prefer("a", ">", "b"), prefer("a", "~", "c"), prefer("b", ">", "c")]),
        *log("q", "bob", [prefer("a", "<", "b"), prefer("a", ">", "c"), prefer("b", ">", "c")]),
        *log("q", "ann", [graded("a", 4), graded("b", 1), graded("c", 1)], tool="grades"),
        *log("q", "bob", [graded("a", 0), graded("b", 2), graded("c", 1)], tool="grades"),
    ]
    assert [d.docs for d in ag.disputes(ag.pairwise(entries))] == [("a", "b")]
    assert [d.docs for d in ag.disputes(ag.grades(entries))] == [("a",), ("b",)]
    assert ag.disputes(ag.pairwise([])) == []


def test_nothing_in_common_is_an_agreement_of_nothing() -> None:
    found = ag.agreement_among(ag.pairwise([]))
    assert (found.units, found.queries, found.people) == (0, 0, 0)
    assert np.isnan(found.overall.value)
    assert ag.agreement_among(ag.flags([])).to_dict()["kappa"]["value"] is None


def test_difference_of_tools_is_the_papers_chi_square_with_an_interval() -> None:
    def entries(share, tool):
        random = np.random.default_rng(10)
        found = []
        for q in range(30):
            truth = random.integers(0, 2, 20)
            for name in ("ann", "bob"):
                said = np.where(random.random(20) < share, truth, 1 - truth)
                found += log(f"q{q}", name, [prefer(f"a{i}", "<>"[s], f"b{i}") for i, s in enumerate(said)])
        return found

    good, bad = (ag.agreement_among(ag.pairwise(entries(share, "pairs"))) for share in (0.95, 0.8))
    found = ag.difference(good, bad)
    assert found.difference.value == pytest.approx(good.overall.value - bad.overall.value)
    assert found.difference.low > 0.1
    assert (found.chi_square, found.p) == ag.chi_square(good.agreed, bad.agreed)
    assert ag.difference(good, good).difference.low < 0 < ag.difference(good, good).difference.high
    assert ag.difference(good, bad, ties=False).difference.value == pytest.approx(good.untied.value - bad.untied.value)
