"""Every measure on real lists against plain loops: long, mostly unjudged, with real forbidden labels."""

from pathlib import Path

import pytest

import ranksift as rs
from tests.measures.cases import Collection, every_case
from tests.measures.test_plain import assert_equal

# Every 23rd combination of parameters: each measure comes up, and each parameter of it somewhere.
CASES = [case for case in every_case() if case.around is None]


def compare(qrels_path: Path, run_path: Path, how, start: int):
    qrels, run = rs.read_qrels(qrels_path).to_dict(), rs.read_run(run_path).to_dict()
    queries = list(qrels)[::6]
    assert any(run.get(q) for q in queries)
    some = {q: run[q] for q in queries if q in run}
    assert_equal(Collection(qrels, some, queries, how), CASES[start::23])


@pytest.mark.parametrize("unjudged", ["zero", "drop"])
def test_web_track_2012(data_dir: Path, unjudged):
    """Paper 1's setting: -2 → -10."""
    runs = sorted(path for path in (data_dir / "trec_web_runs" / "2012").rglob("*") if path.is_file())
    runs = [path for path in runs if not path.name.startswith(("PROVENANCE", "README"))]
    if not runs:
        pytest.skip("the web track's runs are not there")
    qrels = data_dir / "trec_web_qrels" / "qrels.web2012.adhoc.txt"
    for start, path in enumerate(runs[:2]):
        compare(qrels, path, {"gains": {-2: -10}, "unjudged": unjudged}, start)


def test_dl_hard(data_dir: Path):
    folder = data_dir / "dl_hard_runs"
    if not folder.is_dir():
        pytest.skip("the DL-Hard runs are not there")
    compare(folder / "dl_hard-doc.qrels.gz", folder / "doc" / "bm25.run.gz", {"gains": "exp"}, 5)
