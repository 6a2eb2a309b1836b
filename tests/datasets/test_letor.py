"""LETOR 4.0: which parts make which fold, and the totals that its paper gives."""

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets.letor import mq2007, mq2007_agg, mq2008


@pytest.fixture
def parts(tmp_path):
    """Five parts of one query each, called by their number."""
    for i in range(1, 6):
        (tmp_path / f"S{i}.txt").write_text(f"1 qid:{i} 1:0.5\n0 qid:{i} 1:0.1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("fold", "train", "validation", "test"),
    [(1, "123", "4", "5"), (2, "234", "5", "1"), (3, "345", "1", "2"), (4, "451", "2", "3"), (5, "512", "3", "4")],
)
def test_folds_are_made_of_parts(parts, fold, train, validation, test):
    found = mq2008(parts, fold)
    assert found.train.query_ids == tuple(train)
    assert found.validation.query_ids == tuple(validation)
    assert found.test.query_ids == tuple(test)


def test_folds_as_they_are_distributed(tmp_path):
    (tmp_path / "Fold2").mkdir()
    for name in ("train", "vali", "test"):
        (tmp_path / "Fold2" / f"{name}.txt").write_text(f"1 qid:{name} 1:0.5\n")
    assert [part.query_ids for part in mq2007(tmp_path, 2)] == [("train",), ("vali",), ("test",)]


def test_errors(parts):
    with pytest.raises(rs.InputError, match="there is no fold 6; name one from 1 to 5"):
        mq2008(parts, 6)
    (parts / "S4.txt").unlink()
    with pytest.raises(rs.InputError, match=r"there is no S4\.txt; name a folder of LETOR 4\.0"):
        mq2008(parts, 1)


def test_mq2008(data_dir):
    fold = mq2008(data_dir / "letor4_mq2008", 1)
    assert [len(part) for part in fold] == [9630, 2707, 2874]
    assert sum(len(part.query_ids) for part in fold) == 784
    assert {len(part.feature_names) for part in fold} == {46}
    labels = np.concatenate([part.labels for part in fold])
    assert [int((labels == x).sum()) for x in (0, 1, 2)] == [12279, 2001, 931]


def test_mq2007_agg(data_dir):
    fold = mq2007_agg(data_dir / "letor4_mq2007_agg", 3)
    assert sum(map(len, fold)) == 69623
    assert sum(len(part.query_ids) for part in fold) == 1692
    labels = np.concatenate([part.labels for part in fold])
    assert [int((labels == x).sum()) for x in (0, 1, 2)] == [51632, 14128, 3863]
    assert fold.train.features.shape[1] == 21
    assert np.nanmin(fold.train.features) == 1  # a rank, or missing
