"""The page on labelling strategies: that its results are what is simulated now, and what they have to be."""

import pytest

from experiments.experiment import rounded
from experiments.labelling import EXPERIMENT
from experiments.labelling.trials import NOISY_QUERIES, STRATEGIES, Trial, found, pairs_of_the_heap
from experiments.markdown import number
from ranksift.labelling.floor import floor, worst_case_floor
from tests.experiments.claims import apart, failing


@pytest.mark.parametrize(
    ("path", "trial"),
    [
        (("plain", "tournament"), Trial("tournament")),
        (("plain", "heap"), Trial("heap")),
        (("prior", "0.6", "list"), Trial("list", prior_tau=0.6)),
        (
            ("noisy", "thurstone", "tournament", "neighbours", "0.1"),
            Trial("tournament", noise=0.1, model="thurstone", shown="neighbours", queries=NOISY_QUERIES),
        ),
        (("noisy", "flip", "grades", "nobody", "0.1"), Trial("grades", noise=0.1, queries=NOISY_QUERIES)),
    ],
    ids=lambda part: "/".join(part) if type(part) is tuple else "",
)
def test_results_are_what_is_simulated_now(path: tuple[str, ...], trial: Trial) -> None:
    """Some of the settings, which between them use every part; all of them take minutes."""
    kept = EXPERIMENT.kept
    for step in path:
        kept = kept[step]
    assert not [*apart(rounded(found(trial)), kept)]


def test_the_heap_asks_as_many_pairs_as_are_kept() -> None:
    assert EXPERIMENT.kept["pairs of the heap"] == pairs_of_the_heap()


def test_what_the_issue_asks_for_holds() -> None:
    r = EXPERIMENT.kept
    assert abs(r["plain"]["heap"]["mean"] - 150) <= 2
    assert abs(r["pairs of the heap"] - 136.1) <= 1.5
    assert r["plain"]["tournament"]["mean"] <= 91
    assert r["lighter"]["half is forbidden"]["tournament"]["mean"] <= 76
    assert r["prior"]["0.6"]["list"]["mean"] <= 80
    assert r["floor"] == pytest.approx(floor(50, 10))
    assert r["worst case"] == worst_case_floor(50, 10)


def test_every_strategy_has_its_results_and_noise_its_twelve_rows() -> None:
    r = EXPERIMENT.kept
    assert list(r["plain"]) == [*STRATEGIES, "grades"]
    for by_name in r["noisy"].values():
        assert [list(found) for by_shown in by_name.values() for found in by_shown.values()] == 12 * [
            ["0", "0.05", "0.1"]
        ]


def test_the_page_holds_together() -> None:
    text = EXPERIMENT.made_of(EXPERIMENT.kept).files[EXPERIMENT.page]
    assert text.count("## ") == 6
    assert f"The floor of {number(floor(50, 10), 1)}" in text
    assert EXPERIMENT.needs == ()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("plain", "heap", "mean"), 80.0, "The paper's heap asks 80.0"),
        (("prior", "0.4", "seeded", "mean"), 95.0, "One strategy for any prior"),
        (("prior", "0.8", "list", "mean"), 75.0, "A very good prior is better used by the list"),
        (("plain", "seeded", "mean"), 89.0, "there is little left to save"),
        (("plain", "list", "right"), 0.999, "All of them find the top 10"),
        (("noisy", "thurstone", "tournament", "neighbours", "0.1", "kndcg"), 0.88, "A second assessor is worth"),
        (("noisy", "flip", "tournament", "all", "0.1", "kndcg"), 0.75, "comes back if the second assessor sees all"),
        (("noisy", "flip", "grades", "nobody", "0.1", "kndcg"), 0.7, "such an error is a small one"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)
