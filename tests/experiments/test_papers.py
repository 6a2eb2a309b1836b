"""The page on the papers' tables: its claims, its links, and the arithmetic on printed numbers."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from experiments.experiment import DOCS
from experiments.papers import EXPERIMENT, carmel, karmaker, liu, niu
from experiments.papers.verdict import VERDICTS, fits, verdicts
from experiments.papers.words import total
from experiments.top_k.printed import TABLES
from ranksift.study.discrimination import percentage_absolute_difference
from tests.experiments.claims import apart, failing


def test_results_are_what_is_measured_now(data_dir: Path) -> None:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    assert not [*apart(EXPERIMENT.measured(data_dir), EXPERIMENT.kept)]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("liu", "tables", "1", "reproduced"), 49, "all numbers of their example table are right"),
        (("liu", "rows", 3, "scores", 2), 0.7, "The rows are in the order of RBP′"),
        (("karmaker", "perfect", "30", "above"), 0, "more than a perfect ranking gets"),
        (("karmaker", "conflicts", 18, "verdict"), "possible", "counts of conflicts [contradict](#conflicts)"),
        (("karmaker", "random", 0, "paper"), 0.3, "They are not independent"),
        (("karmaker", "misprint", "fits"), True, "0.0116 is a misprint"),
        (("karmaker", "no share of pairs"), [0.2], "all are shares of 28 pairs"),
        (("karmaker", "text", "tau of MSP V2, MQ2007", "ideal"), 0.9, "on ideal queries of MQ2007 τ is 0.9"),
        (("gienapp", "phi of random numbers"), 0.5, "is not evidence of reliability"),
        (("gienapp", "phi", "2012", "program"), 0.5, "It explains the size of the values"),
        (("carmel", "gains", "written", "nDCG_min", 0), -1.0, "cannot have come from the written gains"),
        (("carmel", "shares", "off by"), 0.5, "is right except for last digits"),
        (("carmel", "rankers", "nor on SemEval-2015"), [], "all trained rankers but LambdaRank"),
        (("niu", "judgments", "grades", "product"), 11.78, "minutes are [not the product]"),
        (("niu", "err", "top-k TD2003", "low"), 0.01, "All 40 printed values are higher"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


def test_page_links_to_what_is_there() -> None:
    page = (DOCS / "papers.md").read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page):
        text = (DOCS / target).read_text(encoding="utf-8") if target else page
        headings = {slug(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}
        assert not anchor or anchor in headings, f"{target}#{anchor}"


def slug(heading: str) -> str:
    """As the documentation makes them."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading, flags=re.ASCII).strip().lower())


def test_every_number_of_every_table_has_a_verdict() -> None:
    papers = {paper: found["tables"] for paper, found in EXPERIMENT.kept.items()}
    numbers = [of["numbers"] for paper in ("carmel", "liu", "gienapp", "niu") for of in papers[paper].values()]
    assert numbers == [8, 3, 45, 15, 18, 4, 108, 50, 4, 35, 10, 15, 24, 6, 18, 220, 220]
    tables = [of for paper in papers.values() for of in paper.values()]
    assert all(of["numbers"] == sum(of[verdict] for verdict in VERDICTS) for of in tables)
    assert min(of[verdict] for of in tables for verdict in VERDICTS) == 0
    assert total(tables)["refuted"] == sum(of["refuted"] for of in tables)
    assert total([verdicts(10, reproduced=1, explained=2, refuted=3)] * 2)["out of reach"] == 8


def test_conflicts_that_two_sets_of_significant_pairs_can_have() -> None:
    """Beside every choice of the two sets, and of the pairs among both that are significant in opposite directions."""
    tested = 5
    without, opposite = set(), set()
    for outcome in product(range(4), repeat=tested):  # neither, one, other, both
        one, other, both = (outcome.count(1), outcome.count(2), outcome.count(3))
        key = one + both, other + both
        without.add((*key, one + other))
        opposite |= {(*key, one + other + turned) for turned in range(both + 1)}
    for one, other, conflicts in product(range(tested + 1), range(tested + 1), range(2 * tested)):
        case = one, other, conflicts
        expected = "possible" if case in without else "only if" if case in opposite else "impossible"
        assert karmaker.conflicts_are(*case, tested=tested) == expected, case


def test_the_range_of_pad_holds_that_of_every_rounding() -> None:
    random = np.random.default_rng(0)
    scores = random.uniform(-0.1, 0.6, 8).round(4)
    low, high = karmaker.pad_range(scores)
    drawn = [percentage_absolute_difference(scores + random.uniform(-0.00005, 0.00005, 8)) for _ in range(200)]
    assert low <= min(drawn) < max(drawn) <= high
    assert high - low < 2 * (max(drawn) - min(drawn)) + 1


def test_printed_digits_are_rounded_or_cut_off() -> None:
    assert [fits(x, x, 0.35) for x in (0.3449, 0.3451, 0.3599, 0.3601)] == [False, True, True, False]
    assert [karmaker.is_a_tau(x) for x in (0.624, 0.643)] == [False, True]
    assert karmaker.is_a_share_of_pairs(0.1071)


def test_what_follows_from_the_tables_of_karmaker_and_feng() -> None:
    assert [sum(r.agrees for r in found) for found in (karmaker.taus(), karmaker.pads(), karmaker.swaps())] == [8, 8, 4]
    impossible = [case[:4] for case in karmaker.conflicts() if case.verdict == "impossible"]
    assert impossible == [("MQ2007", "MAP", "MSP V1", "all"), ("MQ2007", "MAP", "MSP V2", "all")]


def test_pad_is_multiplied_by_more_on_uninformative_queries_and_is_not_larger_there() -> None:
    """By Tables 9 and 19: 7.39 to 9.98 and 41.75, on ideal queries 35.74 to 40.21 and 44.53, on MSLR-WEB30K by DCG."""
    gains = list(karmaker.pad_gains())
    assert gains[0] == (pytest.approx(9.98 / 7.39), pytest.approx(40.21 / 35.74), False)
    assert gains[1] == (pytest.approx(41.75 / 7.39), pytest.approx(44.53 / 35.74), False)
    assert all(one > other for one, other, _ in gains)
    assert [larger for *_, larger in gains] == [False, False, False, False, True, True, False, True]


def test_minutes_of_grades_do_not_follow_from_any_mean_of_means() -> None:
    """Every query has 50 judgments, every assessor ten queries: rounding is all that may set the two apart."""
    seconds, printed, judgments = niu.study.TABLE_1["grades"]
    assert (seconds + 0.005) * judgments / 60 < printed - 0.005
    row = niu.seconds_minutes_judgments()
    assert (row["refuted"], row["out of reach"]) == (1, 4)


def test_what_cannot_be_is_counted() -> None:
    table_7 = EXPERIMENT.kept["carmel"]["tables"]["7"]
    assert (table_7["reproduced"], table_7["refuted"]) == (12, 1)


def test_what_follows_from_the_tables_of_niu_and_others() -> None:
    for found in map(niu.minutes, ("pairs", "grades")):
        assert found["product"] != pytest.approx(found["minutes"], abs=0.005)
    assert niu.above_both(TABLES["top-k MQ2007"]) == (32, 33)


@pytest.mark.filterwarnings("ignore:.*no document that it lists is judged", "ignore:gains name the label")
def test_the_empty_list_with_the_gains_of_carmel_and_others() -> None:
    """Beside nDCG_min@3 of an evaluation, for questions of up to six answers and larger ones."""
    for gains in (carmel.WRITTEN, carmel.BY_LABEL):
        for labels, value in list(carmel.empty_lists(gains, "nDCG_min").items())[::7]:
            qrels = {"q": {f"d{i}": int(label) for i, label in enumerate(labels)}}
            expected = rs.evaluate(qrels, {"q": {"unjudged": 1.0}}, ["nDCG_min@3"], gains=gains, unjudged="drop")
            assert value == pytest.approx(expected.values[0, 0, 0])
    lowest = carmel.empty_lists(carmel.WRITTEN, "nDCG_min")
    random = np.random.default_rng(0)
    for labels in random.choice([-1, 1, 2], (20, 9)):
        ends = (*sorted(labels)[:3], *sorted(labels)[-3:])
        qrels = {"q": {f"d{i}": int(label) for i, label in enumerate(labels)}}
        found = rs.evaluate(qrels, {"q": {"unjudged": 1.0}}, ["nDCG_min@3"], gains=carmel.WRITTEN, unjudged="drop")
        assert found.values[0, 0, 0] == pytest.approx(lowest[tuple(ends)])


def test_table_1_of_liu_and_others() -> None:
    assert liu.measure()["tables"]["1"] == verdicts(50, reproduced=50)
