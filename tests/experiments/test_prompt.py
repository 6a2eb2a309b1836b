"""The page on filters before a prompt: what it counts, and that its results are what the service answers now."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra serve")

from experiments.experiment import rounded
from experiments.prompt import EXPERIMENT
from experiments.prompt.measure import COSTS, LENGTHS, outcomes, semeval, told
from experiments.prompt.passages import as_found, prompts_of
from ranksift.collection.examples import Examples
from tests.experiments.claims import apart, failing


def test_passages_are_counted_by_their_labels():
    given = Examples.from_arrays(np.zeros((6, 1)), [2, -1, 1, -1, -1, 2], ["q", "q", "q", "r", "r", "s"])
    found = prompts_of(given, [[2, 1, 0], [], [0]], 2, (10,))
    assert (found.forbidden.tolist(), found.good.tolist(), found.shown.tolist()) == ([1, 0, 0], [1, 0, 1], [2, 0, 1])
    best = prompts_of(given, [[0, 2], [], [0]], 2, (10,))
    assert best.values[10] == pytest.approx(1.0)
    assert found.values[10] < 0.9
    assert as_found(given) == [[0, 1, 2], [0, 1], [0]]


def test_results_are_what_the_service_answers_now(data_dir: Path) -> None:
    """On one of the two collections: the ranker of the other one takes most of a minute."""
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    split = semeval(data_dir)
    found = told(split, outcomes(split))
    assert [len(ways) for ways in found["prompts"].values()] == [4 + len(COSTS)] * len(LENGTHS)
    assert not [*apart(rounded(found), EXPERIMENT.kept["SemEval"])]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("forum", "prompts", "3", "ranked, 0.5 guessed", "nDCG_f", "10"), 0.81, "a guess is a gamble"),
        (("SemEval", "prompts", "5", "ranked, 0.9 guessed", "good lost"), 0.2, "hides most of what is good on both"),
        (("SemEval", "prompts", "5", "ranked, fitted at a cost of 2", "forbidden out"), 0.6, "A fitted one follows"),
        (("forum", "nothing shown", "10"), 0.9, "and rightly so by the measure"),
        (("forum", "prompts", "5", "ranked, fitted at a cost of 10", "empty"), 0.5, "10 leaves next to nothing"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)
