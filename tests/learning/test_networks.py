"""Models trained by gradient descent: what they converge to, when they stop, and what their scores mean."""

import gzip
import json
import math
import subprocess
import sys
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import torch

from ranksift.collection.examples import Examples, read_examples, together
from ranksift.cutoffs.baselines import FixedCutoff
from ranksift.errors import InputError
from ranksift.files import with_sum
from ranksift.learning import networks
from ranksift.learning.batches import batches
from ranksift.learning.judged_documents import value_of
from ranksift.learning.logistic import L2LogisticRegression
from ranksift.learning.networks import FocusedNet, LinearRanker, ListNet, MLPRanker, RankNet, TopKListMLE
from ranksift.learning.outputs import Outputs
from ranksift.learning.saved_model import load
from ranksift.learning.topk import topk_truth

GAINS = {-1: -10}


def drawn(queries=30, docs=8, features=3, seed=0, noise=1.0, labels=(-1, 0, 1, 2)):
    """Queries of equal length whose labels follow a weighted sum and chance."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(queries * docs, features))
    hidden = x @ np.arange(features, 0, -1) + noise * draw.normal(size=len(x))
    cuts = np.quantile(hidden, np.linspace(0, 1, len(labels) + 1)[1:-1])
    return Examples.from_arrays(x, np.array(labels)[np.searchsorted(cuts, hidden)], np.arange(len(x)) // docs)


# -- what outputs mean -----------------------------------------------------------------------------------------


def test_scores_of_ordinal_losses_by_hand():
    gains = np.array([2.0, -10.0, 1.0, 2.0])
    outputs = np.array([[0.0, math.log(3)], [-1000.0, 1000.0]])  # probabilities 1/2, 3/4; 0, 1
    assert Outputs.of("ordinal", gains).score(outputs).tolist() == pytest.approx([1.25, 1.0])
    assert Outputs.of("weighted_ordinal", gains).score(outputs).tolist() == pytest.approx([6.25, 1.0])
    for loss in ("ordinal", "weighted_ordinal"):
        expected = Outputs.of(loss, gains, "expected_gain")
        assert expected.score(outputs).tolist() == pytest.approx([-3.75, -9.0])
        assert expected.natural_cut == 0
    assert Outputs.of("weighted_ordinal", gains).natural_cut == 10
    assert Outputs.of("ordinal", gains).natural_cut is None


def test_scores_of_bce_are_an_expected_gain_by_the_mean_gains_of_both_sides():
    gains = np.array([-10.0, 0.0, 1.0, 2.0, 3.0])  # means -5 and 2
    outputs = np.array([[0.0], [math.log(4)]])  # probabilities 1/2 and 4/5
    own, expected = Outputs.of("bce", gains), Outputs.of("bce", gains, "expected_gain")
    assert own.score(outputs).tolist() == [0.0, math.log(4)]
    assert expected.score(outputs).tolist() == pytest.approx([-1.5, 0.6])
    # There the expected gain is 0: 2 p = 5 (1 - p).
    cut = own.natural_cut
    assert cut == pytest.approx(math.log(5 / 2))
    assert expected.score(np.array([[cut]])).item() == pytest.approx(0)
    assert Outputs.of("bce", np.array([0.0, 1.0])).natural_cut == -math.inf
    assert Outputs.of("bce", np.array([0.0, -1.0])).natural_cut == math.inf


def test_a_loss_of_order_has_no_expected_gain():
    with pytest.raises(InputError, match="'listnet' orders documents"):
        LinearRanker("listnet(k=1)", scores="expected_gain").fit(drawn())
    with pytest.raises(InputError, match="use 'own' or 'expected_gain'"):
        LinearRanker("bce", scores="gain").fit(drawn())
    assert ListNet(epochs=1).fit(drawn()).natural_cut_ is None


def test_the_natural_cut_keeps_what_is_expected_to_help():
    examples = drawn(noise=3.0)
    own = LinearRanker("weighted_ordinal", gains=GAINS).fit(examples)
    gain = LinearRanker("weighted_ordinal", "expected_gain", gains=GAINS).fit(examples)
    assert own.natural_cut_ == 10
    np.testing.assert_allclose(own.score(examples) - 10, gain.score(examples), atol=1e-12)
    own.fit_cutoff(examples, FixedCutoff(own.natural_cut_))
    assert 0 < len(own.rank(examples)) == (gain.score(examples) >= 0).sum() < len(examples)


# -- batches ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 60, 1000])
@pytest.mark.parametrize("size", [None, 1, 3, 100])
def test_batches_hold_every_document_of_every_list_once(size, most):
    lengths = np.array([3, 0, 1, 17, 4, 7, 1, 8])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    seen = []
    steps = list(batches(offsets, size, np.random.default_rng(0), most))
    assert all(sum(batch.queries for batch in step) <= (size or 7) for step in steps)
    assert most < 1000 or {len(step) for step in steps} == {1}
    for batch in (batch for step in steps for batch in step):
        assert most > 1 or batch.queries == 1
        assert batch.queries == sum(len(group.places) for group in batch.groups)
        for group in batch.groups:
            assert group.mask.any(axis=1).all()
            assert 2 * group.mask.sum() > group.mask.size
            for places, mask in zip(group.places, group.mask, strict=True):
                seen.append(batch.rows[places[mask]].tolist())
    wanted = [list(range(a, b)) for a, b in pairwise(offsets) if a < b]
    assert sorted(seen) == wanted


def test_long_lists_one_after_another_are_learned_from_as_all_at_once(monkeypatch):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(60, 3))
    examples = Examples.from_arrays(x, x[:, 0].round(), np.repeat(np.arange(6), [3, 20, 1, 16, 4, 16]))
    at_once = RankNet(hidden=(), epochs=20, l2=0.1).fit(examples)
    monkeypatch.setattr(networks, "batches", partial(batches, most=100))
    in_pieces = RankNet(hidden=(), epochs=20, l2=0.1).fit(examples)
    np.testing.assert_allclose(in_pieces.losses_, at_once.losses_, rtol=1e-5)
    np.testing.assert_allclose(in_pieces.layers_[0][0], at_once.layers_[0][0], rtol=1e-4)


# -- what training finds ---------------------------------------------------------------------------------------


def test_bce_finds_what_scikit_learn_finds():
    examples = drawn(noise=4.0)
    exact = L2LogisticRegression(C=0.5, gains=GAINS).fit(examples)
    found = LinearRanker("bce", gains=GAINS, l2=1 / (0.5 * len(examples)), epochs=1500).fit(examples)
    np.testing.assert_allclose(found.score(examples), exact.score(examples), atol=2e-4)


def test_mse_finds_least_squares():
    examples = drawn(noise=4.0)
    x = np.column_stack([examples.features, np.ones(len(examples))])
    weights, *_ = np.linalg.lstsq(x, np.where(examples.labels < 0, -10, examples.labels))
    found = LinearRanker("mse", gains=GAINS, epochs=1500, scaling="none").fit(examples)
    np.testing.assert_allclose(found.score(examples), x @ weights, atol=2e-4)


def test_ordinal_finds_the_shares_of_labels_where_features_say_nothing():
    examples = Examples.from_arrays(np.zeros((40, 2)), [-1] * 10 + [1] * 10 + [2] * 20, np.arange(40) // 4)
    model = LinearRanker("ordinal", "expected_gain", gains=GAINS, epochs=600).fit(examples)
    # -10/4 + 1/4 + 2/2
    np.testing.assert_allclose(model.score(examples), -1.25, atol=1e-3)


@pytest.mark.parametrize(
    ("named", "plain"),
    [
        (RankNet(hidden=()), LinearRanker("ranknet(pairs='mean')")),
        (RankNet("sum", hidden=(4,)), MLPRanker("ranknet", (4,))),
        (ListNet(), LinearRanker("listnet")),
        (TopKListMLE(3), LinearRanker("listmle(k=3)")),
        (FocusedNet(0.3, 3), LinearRanker("focused(k=3, beta=0.3)")),
        (FocusedNet(0.3, 3, "first"), LinearRanker("focused(k=3, beta=0.3, orders='first')")),
    ],
)
def test_a_name_of_a_paper_is_a_loss(named, plain):
    examples = drawn()
    ordered = Examples.from_arrays(examples.features, topk_truth(examples, 3), examples.query)
    one, two = (model.set_params(epochs=20).fit(ordered).score(ordered) for model in (named, plain))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", [FocusedNet, TopKListMLE, ListNet])
def test_numbers_may_be_numpys(kind, tmp_path):
    examples, beta = drawn(10), kind is FocusedNet
    numpys = kind(k=np.int64(2), epochs=np.int64(5), **({"beta": np.float64(0.3)} if beta else {})).fit(examples)
    pythons = kind(k=2, epochs=5, **({"beta": 0.3} if beta else {})).fit(examples)
    assert numpys.score(examples).tolist() == pythons.score(examples).tolist()
    numpys.save(tmp_path / "model")
    assert load(tmp_path / "model").score(examples).tolist() == pythons.score(examples).tolist()


def test_equal_labels_are_put_in_an_order_by_the_seed():
    examples = drawn(labels=(0, 1))
    one, same, other = (FocusedNet(k=3, seed=s, epochs=5).fit(examples).score(examples) for s in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("loss", ["listmle", "focused(k=2)"])
def test_the_order_of_a_file_is_not_learned(loss):
    # The only feature is the place in the file, and labels are all the same or say nothing of it.
    place = np.tile(np.arange(10.0), 200)
    labels = np.where(np.arange(2000) < 1000, 1, np.random.default_rng(0).integers(0, 2, 2000))
    model = LinearRanker(loss).fit(Examples.from_arrays(place[:, None], labels, np.arange(2000) // 10))
    assert abs(model.layers_[0][0].item()) < 0.1


def test_l2_holds_weights_small():
    examples = drawn()
    norms = [np.abs(ListNet(l2=l2).fit(examples).layers_[0][0]).sum() for l2 in (0.0, 0.1, 1.0)]
    assert norms[0] > norms[1] > norms[2] > 0


def test_in_small_batches_it_learns_the_same_ranking_every_time():
    examples = drawn(queries=50)
    one, two = (RankNet(batch_size=7, epochs=20, seed=5).fit(examples).score(examples) for _ in range(2))
    assert np.array_equal(one, two)
    other = RankNet(batch_size=7, epochs=20, seed=6).fit(examples).score(examples)
    assert not np.array_equal(one, other)
    assert value_of(other, examples, "nDCG@5") > 0.9


def test_the_threads_of_pytorch_are_left_as_they_were():
    examples, before = drawn(), torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        two = MLPRanker(epochs=3).fit(examples).score(examples)
        assert torch.get_num_threads() == 2
        torch.set_num_threads(1)
        assert np.array_equal(MLPRanker(epochs=3).fit(examples).score(examples), two)
    finally:
        torch.set_num_threads(before)


def test_one_gain_leaves_nothing_to_tell_apart():
    examples = Examples.from_arrays([[0.0], [1.0]], [1, 1], ["q", "q"])
    for loss in ("ordinal", "weighted_ordinal"):
        model = LinearRanker(loss, "expected_gain", epochs=2).fit(examples)
        assert model.score(examples).tolist() == [1.0, 1.0]
    assert L2LogisticRegression().fit(examples).score(examples).tolist() == [0.0, 0.0]


def test_missing_values_are_the_mean_where_features_are_not_scaled():
    x = np.random.default_rng(0).normal(5.0, 1.0, size=(40, 2))
    examples = Examples.from_arrays(x, x[:, 0] > 5, np.arange(40) // 4)
    model = ListNet(scaling="none", epochs=30).fit(examples)
    one = Examples.from_arrays([[np.nan, 5.0], [x[:, 0].mean(), 5.0]], None, ["q", "q"])
    assert model.score(one)[0] == pytest.approx(model.score(one)[1])


# -- early stopping --------------------------------------------------------------------------------------------


def test_the_best_epoch_is_kept():
    examples, held_out = drawn(queries=6, features=12, noise=6.0), drawn(queries=20, features=12, noise=6.0, seed=1)
    model = MLPRanker(epochs=80, patience=80, seed=2).fit(examples, held_out)
    assert len(model.values_) == len(model.losses_) == 80
    assert model.best_epoch_ == 1 + int(np.argmax(model.values_)) < 80
    assert model.value(held_out) == pytest.approx(max(model.values_))
    assert model.losses_[-1] < model.losses_[0]
    short = MLPRanker(epochs=model.best_epoch_, seed=2).fit(examples)
    assert np.array_equal(short.score(held_out), model.score(held_out))


def test_training_stops_when_patience_ends():
    examples, held_out = drawn(queries=6, features=12, noise=6.0), drawn(queries=20, features=12, noise=6.0, seed=1)
    patient = MLPRanker(epochs=80, patience=80, seed=2).fit(examples, held_out)
    model = MLPRanker(epochs=80, patience=3, seed=2).fit(examples, held_out)
    assert len(model.values_) == model.best_epoch_ + 3 < 80
    assert model.values_ == patient.values_[: len(model.values_)]


def test_a_cost_is_stopped_at_its_lowest():
    examples, held_out = drawn(noise=3.0), drawn(noise=3.0, seed=1)
    model = ListNet(measure="Fdocs@3", gains=GAINS, epochs=40, learning_rate=0.2).fit(examples, held_out)
    assert model.value(held_out) == pytest.approx(-max(model.values_))
    assert model.best_epoch_ == 1 + int(np.argmax(model.values_))


# -- files and faults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LinearRanker("weighted_ordinal", gains=GAINS),
        LinearRanker("bce", "expected_gain", gains=GAINS),
        MLPRanker("ordinal", (5, 4)),
        FocusedNet(0.25, 3),
        L2LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_loaded_model_scores_the_same_and_needs_no_pytorch(model, tmp_path):
    examples = drawn()
    if "epochs" in model.get_params():
        model.set_params(epochs=5)
    model.fit(examples).save(tmp_path / "model")
    np.save(tmp_path / "features.npy", examples.features)
    program = (
        "import sys; sys.modules.update(torch=None, sklearn=None, lightgbm=None)\n"
        "import numpy as np\n"
        "from ranksift.collection.examples import Examples\n"
        f"import ranksift.learning.{type(model).__module__.rpartition('.')[2]}\n"
        "from ranksift.learning.saved_model import load\n"
        f"x = np.load({str(tmp_path / 'features.npy')!r})\n"
        f"scores = load({str(tmp_path / 'model')!r}).score(Examples.from_arrays(x, None, np.arange(len(x)) // 8))\n"
        f"np.save({str(tmp_path / 'scores.npy')!r}, scores)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert np.array_equal(np.load(tmp_path / "scores.npy"), model.score(examples))
    again = load(tmp_path / "model")
    assert again.get_params().keys() == model.get_params().keys()
    if isinstance(model, LinearRanker):
        assert again.natural_cut_ == model.natural_cut_


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (LinearRanker("hinge"), "loss 'hinge' is unknown; known are: bce"),
        (LinearRanker("bce(gamma=1)"), "has no option 'gamma'"),
        (ListNet(epochs=0), "epochs=0 is not a positive integer"),
        (ListNet(patience=0), "patience=0 is not a positive integer"),
        (ListNet(batch_size=0), "batch_size=0 is not a positive integer"),
        (ListNet(learning_rate=0), "learning_rate=0 is not a positive number"),
        (ListNet(l2=-1), "l2=-1"),
        (MLPRanker(hidden=(0,)), "hidden=\\(0,\\) is not a list of positive integers"),
        (TopKListMLE(k=0), "k=0 is not a positive integer"),
        (FocusedNet(beta=float("nan")), "beta=nan is not finite"),
        (FocusedNet(beta=1.5), "beta=1.5 is not a number from 0 to 1"),
        (ListNet(k=6), "sums over"),
        (LinearRanker("mse", learning_rate=1e25), "the loss is not finite in epoch 2; use a smaller learning_rate"),
        (L2LogisticRegression(C=0), "C=0 is not a positive number"),
    ],
)
def test_what_cannot_be_trained_is_told(model, says):
    with pytest.raises(InputError, match=says):
        model.fit(drawn(docs=24))


# -- real data -------------------------------------------------------------------------------------------------


def test_on_mq2008_it_ranks_as_well_as_the_listnet_of_its_authors(data_dir):
    folder, theirs = data_dir / "letor4_mq2008", data_dir / "letor4_listnet_predictions" / "MQ2008_fold1_test.tsv.gz"
    if not (folder / "S1.txt.gz").exists() or not theirs.exists():
        pytest.skip("needs letor4_mq2008 and letor4_listnet_predictions")
    parts = [read_examples(folder / f"S{i}.txt.gz") for i in range(1, 6)]
    test = parts[4]
    with gzip.open(theirs, "rt") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    known = np.array([float(row[rows[0].index("LETOR1")]) for row in rows[1:]])
    assert [row[0] for row in rows[1:]] == [test.query_ids[q] for q in test.query]
    model = ListNet().fit(together(parts[:3]), parts[3])
    assert model.value(test) > value_of(known, test, "nDCG@10") - 0.01


@pytest.mark.parametrize(
    ("parameter", "value"), [("hidden", [4]), ("hidden", []), ("hidden", [4, 4]), ("loss", "weighted_ordinal")]
)
def test_a_card_that_speaks_of_another_network_is_refused(parameter, value, tmp_path):
    MLPRanker(hidden=(4, 3), epochs=2).fit(drawn()).save(tmp_path / "model")
    card = tmp_path / "model" / "model.json"
    told = json.loads(card.read_text())
    told["parameters"][parameter] = value
    card.write_text(json.dumps(with_sum(told)))
    with pytest.raises(InputError, match="is damaged"):
        load(tmp_path / "model")
