"""The page on filters before a prompt: what it counts, and that the documentation shows what is counted now."""

import re

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra serve")

from experiments import publish
from experiments.prompt.page import COSTS, FOLDER, LENGTHS, outcomes, section, semeval
from experiments.prompt.passages import as_found, prompts_of
from ranksift.collection.examples import Examples


@pytest.fixture(scope="module")
def shown() -> str:
    return (publish.DOCS / "before-a-prompt.md").read_text(encoding="utf-8")


def test_passages_are_counted_by_their_labels():
    given = Examples.from_arrays(np.zeros((6, 1)), [2, -1, 1, -1, -1, 2], ["q", "q", "q", "r", "r", "s"])
    found = prompts_of(given, [[2, 1, 0], [], [0]], 2, (10,))
    assert (found.forbidden.tolist(), found.good.tolist(), found.shown.tolist()) == ([1, 0, 0], [1, 0, 1], [2, 0, 1])
    best = prompts_of(given, [[0, 2], [], [0]], 2, (10,))
    assert best.values[10] == pytest.approx(1.0)
    assert found.values[10] < 0.9
    assert as_found(given) == [[0, 1, 2], [0, 1], [0]]


def test_page_states_its_command(shown: str) -> None:
    assert "python -m experiments.prompt" in shown
    assert not re.search(r"\b(nan|inf|None)\b", shown)


def test_documentation_shows_what_the_service_answers_now(shown: str) -> None:
    data = publish.data_folder()
    if not (data / FOLDER).is_dir():
        pytest.skip(f"no {FOLDER}")
    split = semeval(data)
    rows = [line for line in section(split, outcomes(split)).split("\n") if line.startswith("|")]
    assert len(rows) == 2 + len(LENGTHS) * (4 + len(COSTS))
    assert [row for row in rows if row not in shown] == []
