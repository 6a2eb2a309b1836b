"""The page on measures with forbidden documents: what it computes, and that its results are that."""

import re
from math import log2, sqrt
from pathlib import Path

import numpy as np
import pytest

from experiments.forbidden import EXPERIMENT
from experiments.forbidden.bounds import agreeing, at_most_minus_one, lowest
from experiments.forbidden.penalty import about_filtering, filtered_first
from experiments.forbidden.printed import DEPTHS, TABLE_2A
from experiments.forbidden.studies import Study
from experiments.panels import Axis, Line, Panel, panels
from experiments.web_track.years import YEARS, Year
from ranksift import study
from ranksift.study.presets import preset
from tests.experiments.claims import apart, failing


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    return data_dir


def test_results_are_what_is_measured_now(data: Path) -> None:
    assert not [*apart(EXPERIMENT.measured(data), EXPERIMENT.kept)]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("deep", "2013", "measures", "nDCG_org", "phi", 0), 0.2, "nDCG with negative gains fails at k = 500"),
        (("deep", "2012", "gap", 1), -0.01, "nDCG_f is as stable and as sensitive as nDCG_min and more reliable"),
        (("deep", "2013", "measures", "nDCG_0 exp", "phi", 0), 0.5, "nDCG_0, which ignores spam, is not always worse"),
        (
            ("deep", "2013", "measures", "nDCG_f", "errors", 20),
            0.9,
            "err less than nDCG_org with every number of topics",
        ),
        (("shallow", "2012", "gaps", "5", 1), 0.01, "Gienapp et al.'s order of reliability is not found here"),
        (("attainable", "2013", "below 0"), 0.5, "comes out in the first column for all five years"),
        (("agreeing years", "15"), [2010, 2011, 2012, 2014], "no other k from 1 to 30 does as well"),
        (("penalties", "nDCG_f", "2012, k = 500", "filtered first", 1), False, "matters little in 2012"),
        (("readings", "rows", 4, "rates", "nDCG_f", 0), 0.9, "By every reading nDCG_f errs no more than nDCG_org"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


def plain_lowest(qrels: Path, k: int) -> list[float]:
    """The worst order's DCG@k over the best one's, topic by topic, in plain loops."""
    labels: dict[str, list[int]] = {}
    for line in qrels.read_text().splitlines():
        topic, _, _, label = line.split()
        labels.setdefault(topic, []).append(int(label))
    values = []
    for found in labels.values():
        worst, best = (
            sum(label / log2(rank + 2) for rank, label in enumerate(sorted(found, reverse=reverse)[:k]))
            for reverse in (False, True)
        )
        values.append(worst / best if best else 0.0)
    return values


@pytest.mark.parametrize("year", YEARS)
def test_lowest_scores_are_those_of_a_plain_loop(data: Path, year: int) -> None:
    plain = plain_lowest(data / "trec_web_qrels" / f"qrels.web{year}.adhoc.txt", DEPTHS[year])
    np.testing.assert_allclose(np.sort(lowest(Year(data, year), DEPTHS[year])), np.sort(plain), rtol=0, atol=1e-12)


def test_second_column_of_table_2a_comes_out_at_10_but_for_one_topic_of_2010(data: Path) -> None:
    years = {year: Year(data, year) for year in YEARS}
    assert agreeing(years, 10) == [2011, 2012, 2013, 2014]
    assert at_most_minus_one(years[2010], 10) == pytest.approx(22 / 48)
    assert round(100 * 21 / 48) == TABLE_2A[2010][1]


def plain_phi(values: np.ndarray) -> float:
    """Φ from the mean squares of runs × topics; negative components count 0."""
    runs, topics = values.shape
    of_runs, of_topics, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = values - of_runs[:, None] - of_topics + mean
    between_runs = topics * ((of_runs - mean) ** 2).sum() / (runs - 1)
    between_topics = runs * ((of_topics - mean) ** 2).sum() / (topics - 1)
    error = (rest**2).sum() / ((runs - 1) * (topics - 1))
    system, topic = max(0.0, (between_runs - error) / topics), max(0.0, (between_topics - error) / runs)
    return float(system / (system + (topic + error) / topics))


def test_gap_is_the_jackknife_of_a_plain_analysis_of_variance(data: Path) -> None:
    measures = ["nDCG_f@20", 'nDCG_0(gains="exp")@20']
    found = Study(Year(data, 2012), preset("forbidden-2022"), measures)
    one, two = (found.scores.values[:, :, m] for m in range(2))
    n = one.shape[1]
    without = [plain_phi(np.delete(one, t, axis=1)) - plain_phi(np.delete(two, t, axis=1)) for t in range(n)]
    error = sqrt((n - 1) / n * sum((w - np.mean(without)) ** 2 for w in without))
    gap = plain_phi(one) - plain_phi(two)
    with pytest.warns(match="have the same values"):
        assert found.gap(*measures) == pytest.approx((gap, gap - 1.96 * error, gap + 1.96 * error), abs=1e-9)


def test_who_is_filtered_is_told_by_name() -> None:
    qrels = {"q": {"good": 1, "bad": -1}, "r": {"good": 1}}
    runs = {"a": {"q": {"good": 2, "bad": 1}, "r": {"good": 1}}, "a-filtered": {"q": {}, "r": {"good": 1}}}
    sweep = study.penalty_sweep(qrels, runs, "nDCG_f@2", penalties=[0, 10])
    assert [about_filtering(swap) for swap in sweep.swaps] == [True]
    assert (filtered_first(sweep, 0.0), filtered_first(sweep, 10.0)) == (False, True)


def test_panels_place_curves_by_their_ticks() -> None:
    panel = Panel("one", {"line": [(0, 0), (10, 0.5)]}, dots=[(10, 0.5)])
    drawn = panels(
        "Title", "Words.", [[panel]], {"line": Line("#123456", "1 2")}, Axis((0, 10), "x"), Axis((0, 0.5)), dots="a dot"
    )
    left, bottom, right, top = map(float, re.findall(r'<polyline points="(.+?),(.+?) (.+?),(.+?)"', drawn)[0])
    assert (right - left, bottom - top) == (700, 200)
    assert f'<circle cx="{right:g}" cy="{top:g}"' in drawn
    assert all(words in drawn for words in (">Title<", ">one<", ">line<", ">a dot<", ">x<", ">0.5<", 'dasharray="1 2"'))


def test_a_legend_that_is_too_long_for_a_line_goes_on_below() -> None:
    lines = {f"a rather long name {i}": Line("#000000") for i in range(8)}
    drawn = panels("", "", [[Panel("", {})]], lines, Axis((0, 1)), Axis((0, 1)))
    rows = {float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)"[^>]*>a rather', drawn)}
    assert len(rows) == 3
    assert max(float(x) for x in re.findall(r'<text x="([\d.]+)" y="[\d.]+"[^>]*>a rather', drawn)) < 780 - 6 * 20
