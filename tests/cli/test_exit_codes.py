"""Mistakes that end in one short line and exit code 2, never in a fault of RankSift."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command

HUGE = [10**9, 10**18, 10**30]


def refused(outcome, word: str) -> None:
    assert (outcome.code, outcome.out) == (2, ""), outcome
    complaints = [line for line in outcome.err.splitlines() if not line.startswith("note: ")]
    assert len(complaints) == 1
    assert word in complaints[0]
    assert max(map(len, outcome.err.splitlines())) < 1300


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize(
    "words",
    [
        ("compare", "QRELS", "RUNS", "--test", "bootstrap", "--samples"),
        ("compare", "QRELS", "RUNS", "--test", "randomization", "--samples"),
        ("compare", "QRELS", "RUNS", "--samples"),
        ("study", "QRELS", "RUNS", "--out", "OUT", "--only", "sensitivity", "--samples"),
        ("study", "QRELS", "RUNS", "--out", "OUT", "--only", "reliability", "--samples"),
        ("study", "QRELS", "RUNS", "--out", "OUT", "--only", "stability", "--topic-sets"),
        ("cutoff", "fit", "QRELS", "RUN", "--samples"),
    ],
)
def test_more_samples_than_anybody_waits_for(ranksift: Command, files, tmp_path: Path, words, number: int):
    runs = sorted(path for name, path in files.items() if name != "qrels")[:2]
    known = {"QRELS": [files["qrels"]], "RUNS": runs, "RUN": runs[:1], "OUT": [tmp_path / "study"]}
    given = [part for word in words for part in known.get(word, [word])]
    refused(ranksift(*given, number), f"samples={str(number)[:19]}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["n" * 300, f"there/{'n' * 300}", "n" * 100_000])
@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "QRELS", "RUN", "--out"),
        ("study", "QRELS", "RUN", "--out"),
        ("cutoff", "fit", "QRELS", "RUN", "--out"),
        ("train", "LETOR", "--model", "RankSVM", "--out"),
        ("tune", "LETOR", "--model", "RankSVM", "--trials", 1, "--folds", 2, "--out"),
        ("tune", "LETOR", "--model", "RankSVM", "--trials", 1, "--folds", 2, "--storage"),
        ("rank", "MODEL", "LETOR", "--out"),
        ("rank",),
        ("demo", "--out"),
    ],
)
def test_names_that_no_file_system_takes(ranksift: Command, tiny, tmp_path: Path, monkeypatch, words, name: str):
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    letor = tmp_path / "examples.txt"
    letor.write_text("".join(f"{d % 3 - 1} qid:{q} 1:{d * 0.3:.1f} 2:{q}\n" for q in range(4) for d in range(3)))
    if "MODEL" in words:
        assert ranksift("train", letor, "--model", "RankSVM", "--out", "model").code == 0
    known = {"QRELS": tiny["qrels"], "RUN": tiny["run"], "LETOR": letor, "MODEL": "model"}
    before = {path.name for path in tmp_path.rglob("*")}
    outcome = ranksift(*(known.get(word, word) for word in words), name, *([letor] if words == ("rank",) else []))
    refused(outcome, name[:200])
    assert {path.name for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    "words",
    [
        ["h" * 100_000],
        [f"--{'h' * 100_000}"],
        ["evaluate", f"--{'h' * 100_000}"],
        ["evaluate", "QRELS", "RUN", "--format", "h" * 100_000],
        ["evaluate", "QRELS", "RUN", "--digits", "9" * 100_000],
        ["evaluate", "QRELS", "RUN", "-m", "h" * 100_000],
        ["evaluate", "QRELS", "h" * 100_000],
        ["train", "--model", "h" * 100_000],
        ["train", "--model", "RankSVM", "--set", f"C={'9' * 100_000}"],
    ],
)
def test_a_line_is_short_whatever_it_quotes(ranksift: Command, tiny, words):
    refused(ranksift(*({"QRELS": tiny["qrels"], "RUN": tiny["run"]}.get(word, word) for word in words)), "; ")
