"""Methods without a library on the queries of a public collection."""

import numpy as np
import pytest

from ranksift.collection.examples import read_examples
from ranksift.learning import SVMMAP, AdaRank, CoordinateAscent, FocusedBoost, FocusedSVM, RankBoost, RankSVM
from ranksift.learning.judged_documents import value_of


@pytest.fixture(scope="module")
def fold(data_dir):
    folder = data_dir / "letor4_mq2008"
    if not folder.is_dir():
        pytest.skip("no letor4_mq2008 in the folder of real data")
    parts = [folder / f"S{n}.txt.gz" for n in range(1, 6)]
    return read_examples(parts[:3]), read_examples(parts[3]), read_examples(parts[4])


@pytest.mark.parametrize(
    "model",
    [RankBoost(), AdaRank(), FocusedBoost(), CoordinateAscent(restarts=1, sweeps=1), RankSVM(), SVMMAP(), FocusedSVM()],
    ids=lambda model: type(model).__name__,
)
def test_far_better_than_chance_on_the_first_fold(fold, model):
    train, validation, test = fold
    random = np.mean([value_of(np.random.default_rng(s).random(len(test)), test, "nDCG@10") for s in range(10)])
    assert random < 0.35
    assert model.fit(train, validation).value(test) > 0.45
