"""The outputs that NIST's trec_eval 10 is tested by, line by line, as text: ``ranksift evaluate --format trec``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ranksift.cli.main import run as ranksift
from ranksift.measures.trec_names import MEASURES

#: What the golden outputs have and RankSift has not; docs/coming-from/trec-eval.md says what comes near.
LACKING = (
    *("relstring", "gm_bpref", "Rprec_mult", "utility", "binG", "G", "ndcg_rel", "Rndcg", "relative_P"),
    *("set_relative_P", "set_map", "num_nonrel_judged_ret", "rbp_resid", "unj"),
)


@pytest.fixture(scope="module")
def folder(data_dir: Path) -> Path:
    found = data_dir / "trec_eval_test"
    if not found.is_dir():
        pytest.skip("trec_eval's test files are not there")
    return found


def name_of(line: str) -> str:
    """The measure of a line, without the value of its parameter."""
    name = line.split("\t")[0].strip()
    while name not in {*MEASURES, *LACKING, "runid", "num_q"} and "_" in name:
        name = name.rpartition("_")[0]
    return name


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> list[str]:
    assert ranksift(["evaluate", *map(str, words), "--format", "trec"]) == 0
    return capsys.readouterr().out.splitlines()


def golden(path: Path) -> list[str]:
    """The lines of a golden output about what RankSift has, and about the run."""
    lines = path.read_text().splitlines()
    unknown = {name_of(line) for line in lines} - {*MEASURES, *LACKING, "runid", "num_q"}
    assert not unknown, unknown
    return [line for line in lines if name_of(line) not in LACKING and not line.startswith("11pt_avg_")]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("out.test.a", "qrels.test results.test --queries run"),
        ("out.test.aq", "qrels.test results.test --queries run -q"),
        ("out.test.aq", "qrels.test.with-comments results.test -q"),
        ("out.test.aqc", "qrels.test results.trunc -q"),
        ("out.test.aqcM", "qrels.test results.trunc -q --depth 100"),
        ("out.test.aql", "qrels.rel_level results.test -q --rel 2 --queries run"),
    ],
)
def test_every_measure(folder: Path, capsys, output: str, words: str):
    qrels, run, *options = words.split()
    found = printed(capsys, folder / qrels, folder / run, *options, "-m", "all_trec")
    assert found == golden(folder / output)
    assert len(found) > 50


def test_the_official_measures_are_trec_evals_whole_output(folder: Path, capsys):
    words = [str(folder / "qrels.test"), str(folder / "results.test"), "--queries", "run", "-m", "official"]
    assert ranksift(["evaluate", *words, "--format", "trec"]) == 0
    assert capsys.readouterr().out == (folder / "out.test").read_text()


def test_comments_in_judgments_and_in_a_packed_run(folder: Path, capsys, tmp_path: Path):
    shutil.copy(folder / "results.comment.test.gz", tmp_path / "results.gz")
    found = printed(
        capsys, folder / "qrels.comment.test", tmp_path / "results.gz", "--queries", "run", "-m", "official"
    )
    assert found == golden(folder / "out.comment.test")


def test_parameters_of_measures(folder: Path, capsys):
    """As trec_eval is given them, after a point; it sorts the values."""
    names = (
        "iprec_at_recall..10,.2,.25,.50,.75 P.3,5,7 recall.20,2000 ndcg.1=3,2=9,4=4.5 ndcg_cut.10,20,23 success.2,5,20"
    )
    found = printed(capsys, folder / "qrels.test", folder / "results.test", "-q", "-m", names)
    assert [line for line in found if not line.startswith(("runid", "num_q"))] == golden(
        folder / "out.test.meas_params"
    )
