"""The web-track page: what it computes, and that its results are that."""

import re
from pathlib import Path

import numpy as np
import pytest

from experiments import markdown
from experiments.web_track import EXPERIMENT
from experiments.web_track.printed import TABLE_3
from experiments.web_track.statistics import Change, kendall_tau, places
from experiments.web_track.years import LABELS, YEARS, Year
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
        (("changes", "2012", "nDCG_f@300", "means", 0), -0.1, "The two contradict each other"),
        (("changes", "2012", "nDCG_org@300", "corrected", 0), 0.01, "cannot distinguish it from chance"),
        (("changes", "2013", "nDCG_f@300", "corrected", 1), 0.2, "nDCG_f does not reward filtering as such"),
        (
            ("years", "2012", "runs", "indri-ql-cata", "scores", "nDCG_f@20"),
            0.7,
            "unfiltered lists are worse than none",
        ),
        (("years", "2014", "at 300", "unbounded", 1), 0.2, "Over prevails in 2011 and 2012 and under in 2013 and 2014"),
        (("years", "2012", "pairs", 0, "sublist"), False, "All changes in a pair are therefore due to the filter"),
        (("agreeing ratios", 1), 29, "All 30 cells of Gienapp et al.'s Table 1 follow"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


@pytest.mark.parametrize("year", YEARS)
def test_label_totals_are_those_of_the_provenance_and_of_the_paper(data: Path, year: int) -> None:
    provenance = (data / "trec_web_qrels" / "PROVENANCE.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| web{year} \| ([\d,]+) \| (\d+) \| (.*) \|$", provenance, re.MULTILINE)
    assert row is not None
    expected = {int(label): int(n) for label, n in (pair.split(":") for pair in row[3].split())}
    of = Year(data, year)
    assert of.of_labels("judgments").tolist() == [expected.get(label, 0) for label in LABELS]
    assert (len(of.qrels), len(of.topics)) == (int(row[1].replace(",", "")), int(row[2]))
    assert (len(of.topics), len(of.qrels)) == TABLE_3[year][:2]


def test_nDCG_min_is_nDCG_f_up_to_the_safe_k(data: Path) -> None:
    """Paper 1's Proposition 3.6, on real pools: equal up to the safe k, and not everywhere beyond it."""
    year = Year(data, 2014)
    for k in (20, 100, 300):
        scores = year.evaluate([f"nDCG_min@{k}", f"nDCG_f@{k}"]).values
        safe = year.safe_k >= k
        np.testing.assert_allclose(scores[:, safe, 0], scores[:, safe, 1], rtol=0, atol=1e-12)
    assert (np.abs(scores[:, ~safe, 0] - scores[:, ~safe, 1]) > 0.01).any()


def test_filtered_runs_are_sublists(data: Path) -> None:
    year = Year(data, 2013)
    assert len(year.pairs) == 2
    for plain, filtered in year.pairs:
        assert year.is_sublist(filtered, plain)
        assert not year.is_sublist(plain, filtered)


def test_kendall_tau_agrees_with_scipy() -> None:
    from scipy.stats import kendalltau

    random = np.random.default_rng(1)
    for _ in range(20):
        a, b = random.integers(0, 6, (2, 9)) / 7
        assert kendall_tau(a, b) == pytest.approx(kendalltau(a, b).statistic, abs=1e-12)


def test_equal_means_share_a_place_whatever_rounding_did() -> None:
    assert places(np.array([0.3, 0.1 + 0.2, 0.9, 0.1])) == [2, 2, 1, 4]


@pytest.mark.parametrize(
    ("means", "corrected", "words"),
    [
        ([0.1, 0.2], [0.01, 0.02], "both filtered runs score higher (+0.100 to +0.200), both significantly"),
        ([-0.1] * 4, [0.5] * 4, "all four filtered runs score lower (−0.100), none significantly"),
        ([0.1, -0.1], [0.01, 0.5], "one of the two filtered runs scores higher (−0.100 to +0.100), one significantly"),
    ],
)
def test_a_change_in_words(means: list[float], corrected: list[float], words: str) -> None:
    zeros = [0] * len(means)
    assert str(Change(means, zeros, zeros, corrected, corrected)) == words


def test_numbers_as_they_are_written() -> None:
    assert markdown.number(-0.00004) == "0.0000"
    assert markdown.number(0.00004, sign=True) == "0.0000"
    assert markdown.number(-1.5, 1) == "−1.5"
    assert markdown.percent(0.125) == "12.5 %"
    assert (markdown.probability(0.0004), markdown.probability(0.0404)) == ("< 0.001", "0.040")


def test_only_prose_is_filled() -> None:
    long = "word " * 40
    text = markdown.filled(f"# {long.strip()}\n\n{long}\n\n| {long}|\n\n- {long}\n- short")
    lines = text.split("\n")
    assert lines[0] == f"# {long.strip()}"
    assert f"| {long}|" in lines
    assert lines[-3].startswith("  word")
    assert lines[-2] == "- short"
    assert max(len(line) for line in lines if line[:1] not in "#|") <= 118
