"""Training: it learns, it stops, it resumes to the same bytes wherever it is killed, alone and with others."""

import csv
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import ranksift as rs
from ranksift.errors import InputError
from ranksift.learning.losses import LOSSES
from ranksift.learning.outputs import Outputs
from ranksift.learning.text import scoring
from ranksift.learning.text.encoder import Architecture, PackedEncoder
from ranksift.learning.text.network import TextNetwork
from ranksift.learning.text.training import Drawn, Goal, TextLists, Training, check_memory, fit
from ranksift.learning.trees import LambdaMARTf
from tests.learning.text.tiny import drawn_lists, network_for
from tests.learning.text.trainer import PLAN, trained

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def value_of(scores, cut, lists, measure="nDCG_f@3"):
    """Of lists that leave out what lies below the cut."""
    qrels, run = {}, {}
    for q, (begin, end) in enumerate(zip(lists.offsets, lists.offsets[1:], strict=False)):
        qrels[f"q{q}"] = {f"d{i}": int(lists.gains[i]) for i in range(begin, end)}
        run[f"q{q}"] = {f"d{i}": scores[i] for i in range(begin, end) if scores[i] >= cut}
    return rs.evaluate(qrels, run, [measure]).mean_of(measure)


def scores_of(network, lists, loss):
    found = Outputs.of(loss.partition("(")[0], lists.gains)
    return found.score(scoring.outputs(network, lists.tokens, lists.offsets)), found.natural_cut


# -- it learns -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["weighted_ordinal", "lambdarank_f(gamma=0.3)", "expected_share"])
def test_twenty_queries_are_learned_by_heart(calm_bert, loss):
    lists = drawn_lists(calm_bert, queries=20)
    network = network_for(calm_bert, lists, loss, dropout=0.0)
    plan = Training(loss, epochs=40, batch_size=5, learning_rate=3e-3, documents_per_query=None)
    scores, cut = scores_of(network, lists, loss)
    assert value_of(scores, cut, lists) < 0.9
    fitted = fit(network, lists, plan)
    scores, cut = scores_of(network, lists, loss)
    assert value_of(scores, cut, lists) >= 0.99
    assert fitted.losses[-1] < fitted.losses[0]
    assert (fitted.best_epoch, fitted.steps) == (40, 160)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_goes_down(calm_bert, loss):
    lists = drawn_lists(calm_bert, queries=12)
    network = network_for(calm_bert, lists, loss, dropout=0.0)
    fitted = fit(network, lists, Training(loss, epochs=6, batch_size=4, learning_rate=3e-3, documents_per_query=None))
    assert fitted.losses[-1] < fitted.losses[0]


def test_what_the_list_says_is_learned_by_a_layer_over_lists(calm_bert):
    """Whether documents are good depends on whether a certain one is among them, and not on their own texts."""
    draw = np.random.default_rng(0)
    documents, gains = [], []
    for _ in range(40):
        words = draw.integers(1, 6, 3)
        documents += [f"w{word}" for word in words]
        gains += [1.0 if 3 in words else -1.0] * 3
    offsets = np.arange(0, 121, 3)
    lists = TextLists.of(_tokenizer(calm_bert), ["w7"] * 40, documents, offsets, gains)
    plan = Training("bce", epochs=60, batch_size=10, learning_rate=3e-3, documents_per_query=None)
    losses = {}
    for layers in (0, 1):
        network = network_for(calm_bert, lists, "bce", pooling="mean", dropout=0.0, list_layers=layers)
        losses[layers] = fit(network, lists, plan).losses[-1]
    assert losses[0] > 0.3
    assert losses[1] < 0.05


def _tokenizer(folder):
    from ranksift.learning.text.tokens import Tokenizer

    return Tokenizer(folder)


def test_a_frozen_encoder_stays_as_it_is(calm_bert):
    lists = drawn_lists(calm_bert, queries=12)
    network = network_for(calm_bert, lists, "bce", pooling="mean", dropout=0.0, list_layers=1)
    before = {name: x.clone() for name, x in network.named_parameters()}
    plan = Training("bce", epochs=30, batch_size=4, learning_rate=1e-2, freeze=True, documents_per_query=None)
    fitted = fit(network, lists, plan, validation=lists)
    assert fitted.losses[-1] < 0.5 * fitted.losses[0]
    assert fitted.values[-1] > fitted.values[0]
    for name, x in network.named_parameters():
        assert torch.equal(x, before[name]) == name.startswith("encoder."), name


def test_outputs_of_expected_share_begin_as_those_of_the_trees(calm_bert):
    lists = drawn_lists(calm_bert, queries=12)
    goal = Goal("expected_share(k=3)", lists)
    examples = rs.Examples.from_arrays(
        np.zeros((len(lists), 1)), lists.gains, np.repeat(range(12), np.diff(lists.offsets))
    )
    trees = LambdaMARTf(measure="nDCG_f@3", context=False)
    assert goal.targets.tolist() == trees._changes(examples).tolist()
    trees._begin(examples, None)
    trees._learn(examples, None)
    assert goal.start[0] == pytest.approx(trees._start[0])
    assert goal.start[1] == pytest.approx(trees._start[1] + np.log(trees._unit), abs=0.05)


# -- what is drawn -----------------------------------------------------------------------------------------------


def test_documents_are_drawn_per_query_and_epoch():
    offsets, lengths = np.array([0, 10, 11, 11, 13]), np.arange(1, 14)
    plan = Training(batch_size=2, documents_per_query=3, seed=1)
    seen = set()
    for epoch in range(40):
        drawn = Drawn(offsets, lengths, plan, 10**6, epoch)
        assert len(drawn) == 2
        pieces = [piece for step in range(2) for piece in drawn.step(step)]
        rows = np.concatenate([piece.rows for piece in pieces])
        query = np.searchsorted(offsets, rows, side="right") - 1
        assert np.bincount(query, minlength=4).tolist() == [3, 1, 0, 2]
        assert len(set(rows.tolist())) == 6
        seen |= set(rows.tolist())
        for piece in pieces:
            mine = np.searchsorted(offsets, piece.rows, side="right") - 1
            assert all(len(set(part.tolist())) == 1 for part in np.split(mine, piece.offsets[1:-1]))
            assert piece.stands_for[mine == 0].tolist() == pytest.approx([10 / 3] * (mine == 0).sum())
    assert seen == set(range(13))


def test_steps_are_divided_under_a_budget_and_among_processes():
    offsets, lengths = np.arange(0, 41, 4), np.full(40, 10)
    plan = Training(batch_size=6, documents_per_query=None)
    whole = Drawn(offsets, lengths, plan, 10**6, 1)
    small = Drawn(offsets, lengths, plan, 80, 1)
    for step, queries in ((0, 6), (1, 4)):
        (piece,) = whole.step(step)
        pieces = small.step(step)
        assert [len(some.rows) for some in pieces] == [8] * (queries // 2)
        assert np.concatenate([some.rows for some in pieces]).tolist() == piece.rows.tolist()
        assert {some.share for some in pieces} == {piece.share} == {1 / queries}
        shared = [some.rows for rank in (0, 1) for some in whole.step(step, rank, 2)]
        assert sorted(np.concatenate(shared)) == sorted(piece.rows)
        assert whole.queries(step) == queries


def test_of_a_list_that_is_too_long_as_many_as_fit():
    drawn = Drawn(np.array([0, 1000, 1001]), np.full(1001, 64), Training(documents_per_query=None), 6400, 1)
    sizes = sorted(len(piece.rows) for piece in drawn.step(0))
    assert sizes in ([1, 100], [101])
    one = Drawn(np.array([0, 3]), np.full(3, 64), Training(documents_per_query=None), 10, 1)
    assert [len(piece.rows) for piece in one.step(0)] == [1]


def test_lists_of_vectors_are_whole_however_long_texts_are():
    offsets, lengths = np.array([0, 200]), np.full(200, 128)
    for freeze, count in ((False, 8), (True, 200)):
        plan = Training(documents_per_query=None, freeze=freeze)
        assert sum(len(piece.rows) for piece in Drawn(offsets, lengths, plan, 1024, 1).step(0)) == count


def test_a_budget_changes_rounding_only(calm_bert):
    lists = drawn_lists(calm_bert, queries=12)
    found = []
    for budget in (None, 100):
        network = network_for(calm_bert, lists, "lambdarank", dropout=0.0)
        fit(network, lists, Training("lambdarank", epochs=1, batch_size=6, learning_rate=1e-3, tokens_at_once=budget))
        found.append(scoring.outputs(network, lists.tokens, lists.offsets))
    np.testing.assert_allclose(found[0], found[1], atol=1e-4)


# -- when it stops -------------------------------------------------------------------------------------------------


def test_the_best_epoch_is_kept(bert, tmp_path):
    lists = drawn_lists(bert, queries=12)
    network = network_for(bert, lists, "bce")
    told = iter([0.1, 0.5, 0.3, 0.4, 0.2])
    seen = []

    def value(outputs):
        seen.append(outputs)
        return next(told)

    plan = Training("bce", epochs=9, patience=2, learning_rate=1e-3)
    fitted = fit(network, lists, plan, validation=lists, value=value, log=tmp_path / "log.csv")
    assert (fitted.best_epoch, fitted.values) == (2, (0.1, 0.5, 0.3, 0.4))
    np.testing.assert_array_equal(scoring.outputs(network, lists.tokens, lists.offsets), seen[1])
    assert np.abs(seen[3] - seen[1]).max() > 1e-3
    with (tmp_path / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == [0.1, 0.5, 0.3, 0.4]
    assert [float(row["loss"]) for row in rows] == list(fitted.losses)


def test_without_a_value_the_loss_decides(calm_bert):
    lists, validation = drawn_lists(calm_bert, queries=12), drawn_lists(calm_bert, queries=9, seed=3)
    network = network_for(calm_bert, lists, "bce", dropout=0.0)
    fitted = fit(network, lists, Training("bce", epochs=4, learning_rate=1e-3), validation=validation)
    outputs = torch.from_numpy(scoring.outputs(network, validation.tokens, validation.offsets))
    by_hand = np.mean(
        [
            torch.nn.functional.binary_cross_entropy_with_logits(
                outputs[begin:end, 0], torch.from_numpy(validation.gains[begin:end] > 0).double()
            ).item()
            for begin, end in zip(validation.offsets, validation.offsets[1:], strict=False)
        ]
    )
    assert fitted.values[fitted.best_epoch - 1] == pytest.approx(-by_hand, abs=1e-5)


def test_same_seed_same_bytes_and_random_numbers_of_others_stay(bert):
    lists = drawn_lists(bert, queries=9)
    found = {}
    for seed, before in ((1, 0), (1, 99), (2, 0)):
        network = network_for(bert, lists, "bce")
        torch.manual_seed(before)
        expected = torch.random.get_rng_state()
        fit(network, lists, Training("bce", epochs=1, batch_size=3, learning_rate=1e-3, seed=seed))
        assert torch.equal(torch.random.get_rng_state(), expected)
        found[seed, before] = scoring.outputs(network, lists.tokens, lists.offsets).tobytes()
    assert found[1, 0] == found[1, 99] != found[2, 0]


# -- killed, and several ---------------------------------------------------------------------------------------------


def started(*arguments, **environment):
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **environment}
    command = [sys.executable, "-m", "tests.learning.text.trainer", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_killed_three_times_it_comes_to_the_same_bytes(bert, tmp_path):
    expected, whole = trained(bert)
    place = tmp_path / "state" / "checkpoint"
    steps = []
    # In mid-epoch; with half a checkpoint on the disk; with a whole one that has not got its name.
    for moment, number in (("step", 4), ("half", 5), ("named", 2)):
        child = started(bert, "--checkpoint", place, "--die", moment, number)
        _, said = child.communicate(timeout=120)
        assert child.returncode == -signal.SIGKILL, said
        steps.append(_step_of(place))
    assert steps == [3, 7, 8]
    assert len(list(place.parent.iterdir())) == 2  # the checkpoint, and what the last one left unfinished
    found, fitted = trained(bert, place)
    assert found.tobytes() == expected.tobytes()
    assert (fitted.losses, fitted.values, fitted.best_epoch) == (whole.losses, whole.values, whole.best_epoch)
    assert [path.name for path in place.parent.iterdir()] == ["checkpoint"]
    again, _ = trained(bert, place)  # it is over, and stays so
    assert again.tobytes() == expected.tobytes()


def _step_of(place):
    import json

    from safetensors import safe_open

    with safe_open(place, framework="pt") as file:
        return json.loads(file.metadata()["progress"])["step"]


@pytest.fixture
def world():
    """What a launcher tells two processes of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    return {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo"}


def test_two_processes_come_to_the_same_as_one(calm_bert, world, tmp_path):
    alone, _ = trained(calm_bert, calm=True)
    given = ("--calm", "--out", tmp_path / "out.npy", "--checkpoint", tmp_path / "state")
    children = [started(calm_bert, *given, **world, RANK=rank) for rank in ("0", "1")]
    for child in children:
        threads, said = child.communicate(timeout=120)
        assert child.returncode == 0, said
        assert "python" in threads or not Path("/proc/self/task").exists()
        assert "gloo" not in threads  # one that lives on may abort the process at its end
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), alone, atol=2e-4)
    assert np.ptp(alone) > 0.05


@pytest.mark.parametrize("moment", [("step", 4), ("half", 1)])
def test_a_process_does_not_wait_for_one_that_is_gone(moment, calm_bert, world, tmp_path):
    given = (calm_bert, "--checkpoint", tmp_path / "state")
    first = started(*given, "--die", *moment, **world, RANK="0")
    second = started(*given, **world, RANK="1")
    for child, code in ((first, -signal.SIGKILL), (second, 1)):
        _, said = child.communicate(timeout=60)
        assert child.returncode == code, said
    assert "another process of this training ended before it was done; see its message" in said


# -- what is refused -----------------------------------------------------------------------------------------------


def test_checkpoints_of_others_are_refused(bert, tmp_path):
    place = tmp_path / "checkpoint"
    trained(bert, place, {**PLAN, "epochs": 1})
    with pytest.raises(InputError, match=r"is a checkpoint of a different training run, .*; delete it"):
        trained(bert, place, {**PLAN, "epochs": 1, "seed": 6})
    data = place.read_bytes()
    for bad in (data[:1000], b"", b"{}"):
        place.write_bytes(bad)
        with pytest.raises(InputError, match="is not a checkpoint"):
            trained(bert, place, {**PLAN, "epochs": 1})


def test_bad_parameters():
    for name, value in (("epochs", 0), ("learning_rate", -1), ("warmup", 2), ("steps", "fast"), ("batch_size", 1.5)):
        with pytest.raises(InputError, match=name):
            Training(**{name: value})


def test_bad_lists(bert):
    lists = drawn_lists(bert, queries=5)
    network = network_for(bert, lists, "bce")
    one = replace(lists, gains=np.ones(len(lists)))
    with pytest.raises(InputError, match="all documents have the same gain"):
        fit(network, one, Training("ordinal"))
    fit(network, one, Training("bce", epochs=1))
    with pytest.raises(InputError, match="the network has 1 outputs, but the loss ordinal 2"):
        fit(network, lists, Training("ordinal"))
    with pytest.raises(InputError, match="patience=2 needs a validation set"):
        fit(network, lists, Training("bce", patience=2))
    with pytest.raises(InputError, match="loss 'luck' is unknown"):
        fit(network, lists, Training("luck"))
    with pytest.raises(InputError, match="the loss is not finite at step 1; use a smaller"):
        fit(network, replace(lists, gains=lists.gains * 1e38), Training("mse"))
    with pytest.raises(InputError, match="a gain is not a finite number"):
        replace(lists, gains=lists.gains * np.nan)
    empty = TextLists(lists.tokens[np.zeros(0, dtype=np.int64)], np.array([0, 0]), np.zeros(0))
    with pytest.raises(InputError, match="no document to learn from"):
        fit(network, empty, Training("bce"))


def test_devices_and_memory(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert scoring.find_device().type == "cpu"
    with pytest.raises(InputError, match="there is no GPU that PyTorch can use; use device='cpu'"):
        scoring.find_device("cuda")
    with pytest.raises(InputError, match="device='brain' is unknown"):
        scoring.find_device("brain")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert scoring.find_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(
        InputError, match="device='cuda:2': the last GPU of this machine is cuda:1; use that, or device='cuda'"
    ):
        scoring.find_device("cuda:2")
    monkeypatch.undo()
    network = TextNetwork(PackedEncoder(Architecture(layers=1)))
    check_memory(network, 1 << 10)
    with pytest.raises(InputError, match=r"training would need about [\d.]+ GiB of memory, but there are [\d.]+; use"):
        check_memory(network, 1 << 40)


def test_no_room_on_the_disk(bert, tmp_path):
    """A full device in the place of the file system."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    lists = drawn_lists(bert, queries=5)
    with pytest.raises(InputError, match="No space left on device"):
        fit(network_for(bert, lists, "bce"), lists, Training("bce", epochs=1), log="/dev/full")


def test_training_needs_no_frames_and_no_trees():
    """A machine with a GPU may have PyTorch and little else."""
    code = (
        "import sys; import ranksift.learning.text.training, ranksift.learning.losses; "
        "print({'polars', 'lightgbm', 'sklearn', 'pandas', 'scipy', 'transformers', 'rich'} & {*sys.modules})"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
