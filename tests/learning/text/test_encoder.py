"""Encoders on packed tokens against transformers' own, padded, on the same folders; and folders that are refused."""

import json
import shutil

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from ranksift.errors import InputError
from ranksift.learning.text import scoring
from ranksift.learning.text.encoder import (
    Batch,
    PaddedEncoder,
    encoder_of,
    find_encoder,
    load_encoder,
    numbers,
    read_config,
    restored_encoder,
    usual_pooling,
)
from ranksift.learning.text.network import TextNetwork
from ranksift.learning.text.packing import pack
from ranksift.learning.text.tokens import Cut, Tokens
from tests.learning.text.tiny import CONFIGS, WORDS, write_encoder

CPU = torch.device("cpu")


def drawn_tokens(count=40, longest=60, words=WORDS, seed=0):
    draw = np.random.default_rng(seed)
    lengths = np.clip(draw.lognormal(2.8, 0.7, count).astype(int), 2, longest)
    lengths[:2] = 2, longest
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = draw.integers(5, words, offsets[-1]).astype(np.int32)
    return Tokens(ids, offsets, lengths // 2, Cut(count, 0, 0, 0, 0))


def padded(folder, tokens, pooling, typed):
    """What transformers' own model gives for all of them, padded to the longest."""
    transformers = pytest.importorskip("transformers", reason="the reference is transformers' own model")
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    lengths = tokens.lengths
    mask = torch.from_numpy(np.arange(lengths.max()) < lengths[:, None])
    ids, types = torch.full(mask.shape, model.config.pad_token_id or 0), torch.zeros(mask.shape, dtype=torch.long)
    ids[mask] = torch.from_numpy(tokens.ids).long()
    types[torch.from_numpy(np.arange(lengths.max()) >= tokens.second[:, None]) & mask] = 1
    more = {"token_type_ids": types} if typed else {}
    with torch.inference_mode():
        x = model(input_ids=ids, attention_mask=mask.long(), **more).last_hidden_state
    return (x[:, 0] if pooling == "cls" else (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)).numpy()


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("kind", CONFIGS)
def test_packed_is_padded(tmp_path, kind, pooling):
    folder, tokens = write_encoder(tmp_path, kind), drawn_tokens()
    network = TextNetwork(load_encoder(folder), pooling=pooling)
    expected = padded(folder, tokens, pooling, typed=kind == "bert")
    assert np.ptp(expected, axis=0).max() > 0.1
    for at_once in (1, 100, 10_000):
        found = scoring.vectors(network, tokens, tokens_at_once=at_once)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_default_encoder_gives_the_same_scores_and_decisions():
    try:
        folder = find_encoder()
    except InputError as missing:
        pytest.skip(str(missing))
    tokens = drawn_tokens(12, longest=100, words=30_000)
    network = TextNetwork(load_encoder(folder), outputs=1, pooling=usual_pooling(folder), seed=3).eval()
    assert network.pooling == "mean"
    reference = torch.from_numpy(padded(folder, tokens, "mean", typed=True))
    with torch.inference_mode():
        expected = network.of_vectors(reference, np.array([0, 12])).numpy()
    found = scoring.outputs(network, tokens, np.array([0, 12]))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.argsort(-found[:, 0]).tolist() == np.argsort(-expected[:, 0]).tolist()
    cut = np.median(expected)
    assert (found >= cut).tolist() == (expected >= cut).tolist()


def test_padding_for_few_shapes_changes_nothing(bert):
    encoder, tokens = load_encoder(bert).eval(), drawn_tokens()
    rows = np.arange(len(tokens))
    plain, few = (pack(tokens, rows, few_shapes=few, longest=60) for few in (False, True))
    assert len(few.ids) > len(plain.ids)
    assert len(few.starts) > len(plain.starts)
    for pooling in ("cls", "mean"):
        found = [encoder(Batch.of(some, CPU, grouped=True), pooling)[some.back] for some in (plain, few)]
        torch.testing.assert_close(found[0], found[1], atol=1e-6, rtol=0)


def test_gradients_are_those_of_the_reference(calm_bert):
    transformers = pytest.importorskip("transformers", reason="the reference is transformers' own model")
    tokens = drawn_tokens(10, longest=30)
    encoder = load_encoder(calm_bert).train()
    packed = pack(tokens, np.arange(10))
    encoder(Batch.of(packed, CPU, grouped=True), "cls").square().sum().backward()
    model = transformers.AutoModel.from_pretrained(calm_bert)
    for i in range(10):
        ids = torch.from_numpy(tokens.ids[tokens.offsets[i] : tokens.offsets[i + 1]]).long()[None]
        types = (torch.arange(ids.shape[1]) >= int(tokens.second[i])).long()[None]
        model(input_ids=ids, token_type_ids=types).last_hidden_state[:, 0].square().sum().backward()
    reference = dict(model.named_parameters())
    with torch.no_grad():
        for weights in encoder.parameters():
            weights.copy_(weights.grad)
    compared = 0
    for name, gradient in encoder.published().items():
        torch.testing.assert_close(gradient, reference[name].grad, atol=1e-4, rtol=1e-4)
        compared += 1
    assert compared == sum("pooler" not in name for name in reference)


@pytest.mark.parametrize("kind", CONFIGS)
def test_weights_go_out_as_they_came_in(tmp_path, kind):
    encoder = load_encoder(write_encoder(tmp_path, kind))
    again = encoder_of(encoder.config, encoder.published())
    for (name, a), (_, b) in zip(encoder.named_parameters(), again.named_parameters(), strict=True):
        assert torch.equal(a, b), name


def test_prefixes_and_older_names(tmp_path, bert):
    from safetensors.torch import load_file, save_file

    shutil.copytree(bert, tmp_path / "model")
    weights = load_file(bert / "model.safetensors")
    older = {"bert." + n.replace("LayerNorm.weight", "LayerNorm.gamma"): x for n, x in weights.items()}
    save_file({**older, "cls.predictions.bias": torch.zeros(3)}, tmp_path / "model" / "model.safetensors")
    again = load_encoder(tmp_path / "model")
    for a, b in zip(load_encoder(bert).parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)


def test_other_architectures_are_padded(tmp_path):
    transformers = pytest.importorskip("transformers", reason="other architectures need transformers")
    config = transformers.ElectraConfig(
        vocab_size=WORDS, embedding_size=16, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64,
    )  # fmt: skip
    transformers.ElectraModel(config).save_pretrained(tmp_path)
    encoder, tokens = load_encoder(tmp_path), drawn_tokens()
    assert isinstance(encoder, PaddedEncoder)
    found = scoring.vectors(TextNetwork(encoder), tokens, tokens_at_once=200)
    np.testing.assert_allclose(found, padded(tmp_path, tokens, "cls", typed=True), atol=1e-5)


def test_code_that_a_folder_names_is_left_out(tmp_path):
    transformers = pytest.importorskip("transformers", reason="other architectures need transformers")
    config = transformers.ElectraConfig(
        vocab_size=WORDS, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    transformers.ElectraModel(config).save_pretrained(tmp_path)
    plain = load_encoder(tmp_path)
    changed(tmp_path, attn_implementation="stranger/kernel", auto_map={"AutoModel": "own.Own"})
    (tmp_path / "own.py").write_text("raise SystemExit('code of the folder is run')")
    for again in (load_encoder(tmp_path), restored_encoder(read_config(tmp_path), numbers(plain.published()))):
        assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), again.parameters(), strict=True))


# -- what is refused -----------------------------------------------------------------------------------------------


def changed(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def without(name):
    return lambda folder: (folder / name).unlink()


def pickled(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def cut_short(folder):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])


def poisoned(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["embeddings.LayerNorm.bias"][0] = float("nan")
    save_file(weights, folder / "model.safetensors")


def lacking(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.bias"]
    save_file(weights, folder / "model.safetensors")


def whole_numbers(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.0.output.dense.bias"] = weights["encoder.layer.0.output.dense.bias"].int()
    save_file(weights, folder / "model.safetensors")


BAD = {
    "no config": (without("config.json"), "has no config.json; copy"),
    "no weights": (without("model.safetensors"), "has no model.safetensors; copy"),
    "pickled": (pickled, "has pytorch_model.bin, which can run any code when it is read, and no model.safetensors"),
    "cut short": (cut_short, "is not a safetensors file"),
    "not finite": (poisoned, "embeddings.LayerNorm.bias is not finite"),
    "lacking": (lacking, "has no encoder.layer.1.output.dense.bias"),
    "no JSON": (lambda folder: (folder / "config.json").write_text("{"), "config.json: is not JSON"),
    "no model": (lambda folder: (folder / "config.json").write_text("[]"), "config.json: names no model_type"),
    "another size": (lambda folder: changed(folder, vocab_size=7), r"is \(300, 32\), and config.json says \(7, 32\)"),
    "no size": (
        lambda folder: changed(folder, hidden_size="32"),
        "config.json: hidden_size='32' is not an integer from",
    ),
    "too wide": (
        lambda folder: changed(folder, hidden_size=1 << 23),
        "hidden_size=8388608 is not an integer from 1 to",
    ),
    "no layer": (lambda folder: changed(folder, num_hidden_layers=1), "has encoder.layer.1, and config.json says that"),
    "no such layer": (lambda folder: changed(folder, num_hidden_layers=3), "has no encoder.layer.2.attention.self.q"),
    "layers without end": (
        lambda folder: changed(folder, num_hidden_layers=1 << 23),
        "is not an integer from 1 to 1024",
    ),
    "no eps": (lambda folder: changed(folder, layer_norm_eps=None), "layer_norm_eps=None is not a number from 0 to 1"),
    "no dropout": (lambda folder: changed(folder, hidden_dropout_prob="x"), "hidden_dropout_prob='x' is not a number"),
    "no types": (
        lambda folder: changed(folder, type_vocab_size=[2]),
        r"type_vocab_size=\[2\] is not an integer from 1",
    ),
    "no place": (
        lambda folder: changed(folder, model_type="roberta", pad_token_id=10**9),
        "pad_token_id=1000000000 is not an integer from 0 to",
    ),
    "no place left": (
        lambda folder: changed(folder, model_type="roberta", pad_token_id=63),
        "pad_token_id=63 leaves no token a place among 64",
    ),
    "many activations": (
        lambda folder: changed(folder, hidden_act=["gelu"]),
        r"hidden_act=\['gelu'\] is not 'gelu', 'g",
    ),
    "other numbers": (whole_numbers, "encoder.layer.0.output.dense.bias is of torch.int32, and not of floating-point"),
    "odd heads": (lambda folder: changed(folder, num_attention_heads=5), "32 dimensions are not a multiple of 5 heads"),
    "odd activation": (
        lambda folder: changed(folder, hidden_act="sine"),
        "hidden_act='sine' is not 'gelu', 'gelu_new'",
    ),
    "unknown": (lambda folder: changed(folder, model_type="oracle"), "oracle|transformers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_folders(tmp_path, bert, case):
    spoil, said = BAD[case]
    folder = shutil.copytree(bert, tmp_path / "model")
    spoil(folder)
    with pytest.raises(InputError, match=said) as error:
        load_encoder(folder)
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value) or "model.safetensors" in str(error.value)


ENTRIES = sorted({name for config in CONFIGS.values() for name in config} | {
    "activation", "hidden_act", "layer_norm_eps", "pad_token_id", "is_decoder", "position_embedding_type",
    "is_encoder_decoder", "auto_map",
})  # fmt: skip
KINDS = ("bert", "distilbert", "roberta", "electra", "t5", "oracle")
VALUES = st.one_of(
    st.sampled_from([None, True, "x", "gelu", "relu", "relative_key", [], ["gelu"], {}, 1e9, 1 << 23, 1 << 40, 1e300]),
    st.sampled_from(KINDS),
    st.integers(-3, 70),
    st.floats(-2, 2),
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {kind: write_encoder(tmp_path_factory.mktemp("forged") / kind, kind) for kind in CONFIGS}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(kind=st.sampled_from(sorted(CONFIGS)), forged=st.dictionaries(st.sampled_from(ENTRIES), VALUES, min_size=1))
def test_a_forged_config_is_read_or_refused_in_a_line(folders, capfd, kind, forged):
    """Every entry may be anything: what is read gives vectors, and transformers says nothing of its own."""
    config, folder = CONFIGS[kind] | forged, folders[kind]
    (folder / "config.json").write_text(json.dumps(config))
    tokens = drawn_tokens(5, longest=7)
    try:
        found = scoring.vectors(TextNetwork(load_encoder(folder)), tokens)
        assert found.shape == (5, 32)
        assert np.isfinite(found).all()
    except InputError as error:
        said = str(error)
        event(said.replace(str(folder), "")[:50])
    else:
        said = f"{folder}: is read"
        event("read")
    assert said.startswith(str(folder))
    assert "\n" not in said
    assert capfd.readouterr() == ("", "")


def test_names(tmp_path, monkeypatch, bert):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert find_encoder(bert) == bert
    for name in ("distilbert-base-uncased", "../up", "a/b/c", ""):
        with pytest.raises(InputError, match=r"is not on this machine; name a folder with config\.json"):
            find_encoder(name)
    kept = tmp_path / "models--some--model"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("0123abcd")
    (kept / "snapshots" / "0123abcd").mkdir(parents=True)
    assert find_encoder("some/model") == kept / "snapshots" / "0123abcd"
    with pytest.raises(InputError, match="is not a folder; name one with"):
        read_config(tmp_path / "nothing")
