"""The page on the papers' tables: that it shows what is computed now, and the arithmetic on printed numbers."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from experiments import papers, publish
from experiments.papers import carmel, gienapp, karmaker, liu, niu
from experiments.papers.verdict import Printed, fits, total
from experiments.top_k.printed import TABLES
from experiments.web_track.years import YEARS, Year
from ranksift.study.discrimination import percentage_absolute_difference


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    absent = [name for name in papers.NEEDS if not (data_dir / name).is_dir()]
    if absent:
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    return data_dir


@pytest.fixture(scope="module")
def page(data: Path) -> str:
    return papers.files(data)["papers.md"]


def test_documentation_shows_what_is_computed_now(page: str) -> None:
    assert (publish.DOCS / "papers.md").read_text(encoding="utf-8") == page, "papers.md is stale: run make experiments"


def test_page_is_whole_and_links_to_what_is_there(page: str) -> None:
    assert "python -m experiments.papers" in page
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b|−0\.0+\b(?!\d)", page)
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page):
        path = publish.DOCS / target if target else publish.DOCS / "papers.md"
        text = page if not target else path.read_text(encoding="utf-8")
        headings = {slug(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}
        assert not anchor or anchor in headings, f"{target}#{anchor}"


def slug(heading: str) -> str:
    """As the documentation makes them."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading, flags=re.ASCII).strip().lower())


@pytest.fixture(scope="module")
def years(data: Path) -> dict[int, Year]:
    return {year: Year(data, year) for year in YEARS}


def test_every_row_accounts_for_all_numbers_of_its_table(years: dict[int, Year]) -> None:
    systems = dict.fromkeys(YEARS, 48)
    rows = [*carmel.tables(years, systems), *liu.tables(), *gienapp.tables(years, systems), *niu.tables()]
    assert [row.numbers for row in rows] == [8, 3, 45, 15, 18, 4, 108, 50, 4, 35, 10, 15, 24, 6, 18, 220, 220]
    assert total(rows) == tuple(np.sum([row.counts for row in rows], axis=0))
    assert Printed("", "", "", 1, 2, 3, 4).numbers == 10


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
    impossible = [case[:4] for case in karmaker.conflicts() if case[-1] == "impossible"]
    assert impossible == [("MQ2007", "MAP", 1, "all"), ("MQ2007", "MAP", 2, "all")]


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
    row = niu.tables()[0]
    assert (row.refuted, row.out_of_reach) == (1, 4)


def test_what_cannot_be_is_counted(years: dict[int, Year]) -> None:
    table_7 = carmel.tables(years, dict.fromkeys(YEARS, 48))[-1]
    assert (table_7.reproduced, table_7.refuted) == (12, 1)


def test_what_follows_from_the_tables_of_niu_and_others() -> None:
    assert [
        minutes == pytest.approx(printed, abs=0.005) for minutes, printed in map(niu.minutes, ("pairs", "grades"))
    ] == [
        False,
        False,
    ]
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
    assert liu.agreeing() == (50, 50)


def test_absent_data_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANKSIFT_DATA", str(tmp_path))
    publish.publish(papers)
    assert "experiments.papers: skipped, no letor4_listnet_predictions" in capsys.readouterr().out
