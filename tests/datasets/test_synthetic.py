"""The made-up collection: reproducible, complete, and as described."""

from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets.synthetic import FORBIDDEN, SYSTEMS, synthetic_collection, write_collection


def test_same_seed_same_bytes(tmp_path: Path):
    for name in ("one", "two"):
        write_collection(*synthetic_collection(seed=5), tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    assert synthetic_collection(seed=6)[0] != synthetic_collection(seed=5)[0]


def test_the_choice_of_systems_changes_nothing_else():
    every, (qrels, some) = synthetic_collection(), synthetic_collection(systems=["weak", "filtered"])
    assert list(some) == ["weak", "filtered"]
    assert qrels == every[0]
    for name, run in some.items():
        assert run.to_dict() == every[1][name].to_dict()


def test_files_read_back_as_they_were(tmp_path: Path):
    qrels, runs = synthetic_collection(queries=12)
    paths = write_collection(qrels, runs, tmp_path / "new" / "folder")
    assert rs.read_qrels(paths["qrels"]) == qrels
    for name, run in runs.items():
        again = rs.read_run(paths[name])
        assert again.name == name
        assert list(again.to_dict().items()) == list(run.to_dict().items())
        assert again.docs.tolist() == run.docs.tolist()  # same ranks, ties included


def test_sizes():
    qrels, runs = synthetic_collection(queries=200, depth=80, judged=20, forbidden=0.3, seed=2)
    assert len(qrels.query_ids) == 200
    assert (runs["unfiltered"].lengths == 80).all()
    assert qrels.pool.size.mean() == pytest.approx(20, rel=0.2)
    assert np.mean(qrels.labels == FORBIDDEN) == pytest.approx(0.3, abs=0.08)
    assert set(qrels.labels) == {-2.0, 0.0, 1.0, 2.0, 3.0}
    assert len(set(runs["unfiltered"].docs.tolist())) == 200 * 80


def test_systems_are_what_they_are_called():
    qrels, runs = synthetic_collection(queries=300, seed=1)
    filtered = {name: {(q, d) for q, docs in runs[name].to_dict().items() for d in docs} for name in SYSTEMS}
    assert filtered["overfiltered"] < filtered["filtered"] < filtered["unfiltered"]
    scores = runs["unfiltered"].to_dict()
    assert all(scores[q][d] == s for q, docs in runs["filtered"].to_dict().items() for d, s in docs.items())
    found = rs.evaluate(qrels, runs, "nDCG_f@10 nDCG@10 Fdocs GoodFiltered(good='positive')")
    value = {m: found.mean_of(m) for m in map(str, found.measures)}
    best = found.values[found.row("perfect"), :, 0]
    assert ((best == 1.0) | (best == 0.0)).all()  # 0 where no list can be better than another
    assert value["Fdocs"]["perfect"] == value['GoodFiltered(good="positive")']["perfect"] == 0
    assert value["Fdocs"]["filtered"] < value["Fdocs"]["unfiltered"] / 3
    assert value["nDCG@10"]["unfiltered"] > value["nDCG@10"]["weak"]
    assert value["nDCG_f@10"]["unfiltered"] < value["nDCG_f@10"]["weak"]


def test_scores_are_the_same_in_32_bits():
    scores = synthetic_collection(queries=100)[1]["unfiltered"].scores
    assert (scores.astype(np.float32) == scores).all()


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_none_or_all_forbidden(share: float):
    qrels, runs = synthetic_collection(queries=10, forbidden=share)
    assert np.mean(qrels.labels < 0) == share
    assert (len(runs["perfect"]) == 0) == (share == 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"queries": 0},
        {"depth": 0},
        {"judged": 0},
        {"judged": 31},
        {"forbidden": 1.5},
        {"forbidden": -1},
        {"systems": ["x"]},
    ],
)
def test_refuses(wrong: dict[str, object]):
    with pytest.raises(rs.InputError):
        synthetic_collection(**wrong)


def test_a_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(rs.InputError, match="file"):
        write_collection(*synthetic_collection(queries=1), tmp_path / "file")
