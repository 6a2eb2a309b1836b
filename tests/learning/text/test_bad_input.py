"""What is wrong with texts, encoders and models is told in one line, and what is only unusual is trained on."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import ranksift as rs
from ranksift.cli.main import run
from ranksift.files import with_sum
from ranksift.learning.text import tokens, training
from tests.learning.text.tiny import write_encoder


def rows(queries, texts, labels=(1, -1)):
    """Each query with these texts; labels take turns."""
    return [
        {"query_id": f"q{q}", "query": f"w{q} w1", "doc_id": f"d{i}", "doc": text, "label": labels[i % len(labels)]}
        for q in range(queries)
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def train(bert, tmp_path, capsys, monkeypatch):
    """Train a ranker of texts from rows, in a folder of its own; the exit code and what was said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)

    def command(given, *words, encoder=bert, model="model", freeze=True):
        Path("data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
        settings = (f"encoder={encoder}", "epochs=2", "max_length=32", "device=cpu")
        usual = [
            word for setting in settings if setting.partition("=")[0] not in str(words) for word in ("--set", setting)
        ]
        capsys.readouterr()
        how = ["--freeze"] * freeze
        code = run(["train", "data.jsonl", "--model", "text", *how, "--out", model, *usual, *words])
        return code, capsys.readouterr().err

    return command


SHORT = rows(6, ["w2 w3", "w4", "w5 w6"])


@pytest.mark.parametrize(
    ("given", "words", "fault"),
    [
        (rows(2, ["w2", " "]), (), "data.jsonl:2: the text of the document is empty; write a text into every row"),
        (rows(2, ["w2"], labels=(1,)), (), "data.jsonl: every label is 1, so there is nothing to learn; give"),
        (SHORT, ("--set", "encoder=no-such"), "the encoder 'no-such' is not on this machine; name a folder"),
        (SHORT, ("--set", "device=cuda"), "device='cuda': there is no GPU that PyTorch can use; use device='cpu'"),
        (SHORT, ("--set", "device=meta"), "device='meta' is unknown; use 'auto', 'cpu' or 'cuda'"),
        (SHORT, ("--set", "device=mps"), "device='mps' is unknown; use 'auto', 'cpu' or 'cuda'"),
        (SHORT, ("--set", "max_length=65"), "max_length=65 is more than the 64 tokens that the encoder can read; use"),
        (
            SHORT,
            ("--set", "tokens_at_once=0"),
            "tokens_at_once=0 is not a positive integer; write tokens_at_once=16384",
        ),
        (
            SHORT,
            ("--checkpoints", "."),
            ".: holds 'data.jsonl', which was not written by training; move it away, or name another",
        ),
        (SHORT, ("--checkpoints", "model/state"), "model/state: is in the folder of the model; name another folder"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(given, words, fault, train, tmp_path):
    code, said = train(given, *words)
    assert (code, said.count("\n")) == (2, 1), said
    assert said.startswith(fault)
    assert [path.name for path in tmp_path.iterdir()] == ["data.jsonl"]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("config.json", None, "encoder: has no config.json; copy"),
        ("tokenizer.json", None, "encoder: has no tokenizer.json; copy"),
        ("model.safetensors", None, "encoder: has no model.safetensors; copy"),
        ("config.json", b'{"a": 1}', "encoder/config.json: names no model_type; name the folder of an encoder"),
        ("tokenizer.json", b'{"model": {}}', "encoder/tokenizer.json: is not a tokenizer ("),
        ("model.safetensors", b"PK\x03\x04", "encoder/model.safetensors: is not a safetensors file ("),
    ],
)
def test_the_folder_of_an_encoder_from_a_stranger(name, content, fault, train, tmp_path):
    write_encoder(tmp_path / "encoder")
    (tmp_path / "encoder" / name).unlink()
    if content is not None:
        (tmp_path / "encoder" / name).write_bytes(content)
    code, said = train(SHORT, encoder="encoder")
    assert (code, said.count("\n")) == (2, 1), said
    assert said.startswith(fault)
    assert not (tmp_path / "model").exists()


def test_pickled_weights_are_not_read(train, tmp_path):
    folder = write_encoder(tmp_path / "encoder")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    code, said = train(SHORT, encoder="encoder")
    assert (code, said.count("\n")) == (2, 1)
    assert "has pytorch_model.bin, which can run any code when it is read" in said


def test_a_model_that_lacks_a_file_or_is_a_stranger_s(train, tmp_path, capsys):
    assert train(SHORT) == (0, "")
    for name in ("config.json", "tokenizer.json", "reading.json", "weights.safetensors"):
        shutil.copytree("model", "lacks")
        next(Path("lacks").glob(f"version-*/{name}")).unlink()
        assert run(["rank", "lacks", "data.jsonl"]) == 2
        assert capsys.readouterr().err == f"lacks: has no {name}; copy the whole folder, or train the model again\n"
        shutil.rmtree("lacks")
    write_encoder(tmp_path / "encoder")
    assert run(["rank", "encoder", "data.jsonl"]) == 2
    assert capsys.readouterr().err == "encoder: has no model.json; name a folder that ranksift train wrote\n"


@pytest.fixture
def little_room():
    """No file may have more than 20 kB, for a while: the system refuses the rest, as of a full disk."""
    resource = pytest.importorskip("resource", reason="the system has no limits of files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(most=20_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("freeze", "place"), [(True, "model: cannot"), (False, "model.training/checkpoint.safetensors: cannot")]
)
def test_no_room(freeze, place, train, little_room, tmp_path):
    little_room()
    code, said = train(SHORT, freeze=freeze)
    assert (code, said.count("\n")) == (2, 1), said
    assert said.startswith(f"{place} be written (File too large); ")
    assert "make room" in said
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["data.jsonl", *["model.training/checkpoint.safetensors"] * freeze, "model.training/log.csv"]
    little_room(10_000_000)
    assert train(SHORT, freeze=freeze) == (0, "")
    assert len(rs.load("model").rank("data.jsonl")) == len(SHORT)


def test_no_forbidden_label_and_many_documents_per_query(train, bert):
    code, said = train(rows(2, [f"w{i % 290} w7" for i in range(1000)], labels=(0, 1, 2)), "--set", "list_layers=1")
    assert (code, said) == (0, "")
    assert len(rs.load("model").rank("data.jsonl")) == 2000


def test_documents_of_100_kb_are_cut_and_it_is_told_before(train, monkeypatch, capsys):
    long = " ".join(f"w{i % 290}" for i in range(25_000))
    assert len(long) > 100_000
    told = []
    usual = training.fit
    monkeypatch.setattr(training, "fit", lambda *args, **words: told.append("fit") or usual(*args, **words))
    monkeypatch.setattr("ranksift.cli.train.note", lambda text: told.append(text))
    assert train(rows(3, [long, "w2", "w3 w4", "w5"])) == (0, "")
    assert told[0].startswith("25.0% of the documents are longer than max_length=32; ")
    assert told[1] == "fit"
    assert rs.load("model").card_["texts"]["longer"] == 0.25
    capsys.readouterr()
    assert run(["rank", "model", "data.jsonl", "--out", "run"]) == 0
    assert capsys.readouterr().err.startswith("note: 25.0% of the documents are longer than the input; ")
    Path("short.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SHORT))
    assert run(["rank", "model", "short.jsonl", "--out", "run"]) == 0
    assert capsys.readouterr().err == ""


def test_a_query_of_100_kb_is_cut_and_it_is_told_before(train):
    rest = [row | {"query": " ".join(f"w{i % 290}" for i in range(25_000))} for row in SHORT[:3]]
    code, said = train(rest + SHORT[3:])
    assert (code, said.count("\n")) == (0, 1)
    assert said.startswith("note: 0.0% of the documents are longer than max_length=32; ")
    assert said.endswith("; 1 query is cut\n")
    assert rs.load("model").card_["texts"]["cut_queries"] == 1


@pytest.mark.parametrize("method", ["text+LambdaMART", "ExpectedGainRanker"])
def test_one_label_is_one_line_from_models_of_folds_too(method, tmp_path, capsys):
    place = tmp_path / "data.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows(12, ["w2", "w3"], labels=(1,))))
    inner = ("--set", "model=TextRanker") if "+" not in method else ()
    assert run(["train", str(place), "--model", method, *inner, "--out", str(tmp_path / "model")]) == 2
    said = capsys.readouterr().err
    assert said == f"{place}: every label is 1, so there is nothing to learn; give documents of at least two labels\n"
    assert not (tmp_path / "model").exists()


def test_long_texts_are_tokenised_some_at_a_time(bert, monkeypatch):
    texts = ["w1 " * n for n in (10, 5, 300, 1, 1, 1)]
    whole = tokens.Tokenizer(bert).texts(texts, max_length=64)
    monkeypatch.setattr(tokens, "_CHARACTERS", 100)
    assert [len(some) for some in tokens._in_groups(texts)] == [2, 1, 3]
    assert np.array_equal(tokens.Tokenizer(bert).texts(texts, max_length=64).ids, whole.ids)
    monkeypatch.setattr(tokens, "_TOGETHER", 2)
    assert [len(some) for some in tokens._in_groups(texts)] == [2, 1, 2, 1]
    assert [*tokens._in_groups([])] == []


def test_memory_is_told_before_a_long_training(train, monkeypatch):
    monkeypatch.setattr("ranksift.learning.text.ranker._LONG", 10)
    code, said = train(SHORT)
    assert code == 0
    assert said.startswith("note: training takes about 0.0 GiB of memory, of ")


def test_what_cannot_fit_into_memory_is_refused(bert, monkeypatch, tmp_path, capsys):
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SHORT))
    monkeypatch.setattr(training, "memory_there", lambda device: 1 << 10)
    command = ["train", str(tmp_path / "data.jsonl"), "--model", "text", "--out", str(tmp_path / "model")]
    assert run([*command, "--set", f"encoder={bert}", "--set", "max_length=32", "--set", "device=cpu"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("training would need about 0.0 GiB of memory, but there are 0.0; use tokens_at_once=")
    assert said.count("\n") == 1


def test_a_container_has_the_memory_that_it_may_have(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(training, "_LIMIT_OF_A_CONTAINER", limit)
    whole = training.memory_there(torch.device("cpu"))
    for said, there in (("max\n", whole), ("1048576\n", 1 << 20), (f"{1 << 60}\n", whole)):
        limit.write_text(said)
        assert training.memory_there(torch.device("cpu")) == there


def test_what_a_model_read_beside_documents_and_lacks_is_reported(train, capsys):
    assert train([{**row, "position": at % 3 + 1} for at, row in enumerate(SHORT)])[0] == 0
    Path("plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SHORT))
    assert run(["rank", "model", "data.jsonl", "--out", "run"]) == 0
    assert "less reliable" not in capsys.readouterr().err
    assert run(["rank", "model", "plain.jsonl", "--out", "run"]) == 0
    assert (
        "plain.jsonl: lacks 'position', which the model read with each document in training" in capsys.readouterr().err
    )


def test_a_table_without_texts_is_asked_for_them(train, capsys):
    assert train(SHORT)[0] == 0
    Path("ids.csv").write_text("query_id,doc_id,label\nq1,d1,1\n")
    assert run(["rank", "model", "ids.csv"]) == 2
    said = capsys.readouterr().err
    assert said == "ids.csv:1: no texts among 'query_id', 'doc_id', 'label'; give columns query and doc\n"


# -- a model's folder from a stranger, who has made all sums right -----------------------------------------------------


def forged(name, change):
    """A JSON file of the model's version is changed, and the card knows its new sum."""
    card = json.loads(Path("model/model.json").read_text())
    version = Path("model") / card["version"]
    if name == "model.json":
        change(card)
    else:
        content = json.loads((version / name).read_text())
        change(content)
        (version / name).write_text(json.dumps(content))
        card["files"][name] = hashlib.sha256((version / name).read_bytes()).hexdigest()
    Path("model/model.json").write_text(json.dumps(with_sum({k: v for k, v in card.items() if k != "sum"})))


def without_special_tokens(tokenizer):
    tokenizer["post_processor"]["special_tokens"] = {}


def with_large_ids(least):
    def change(tokenizer):
        vocabulary = tokenizer["model"]["vocab"]
        vocabulary |= {word: n + least for word, n in vocabulary.items() if n > 200}

    return change


FORGED = {
    "longer than the encoder reads": (
        "model.json",
        lambda card: card["parameters"].update(max_length=100),
        "model: max_length=100 is more than the 64 tokens that the encoder can read; use max_length=64",
    ),
    "tokens of no vector": (
        "tokenizer.json",
        with_large_ids(1000),
        "the tokenizer has 1262 tokens, but the encoder 300; use the tokenizer of the same model",
    ),
    "tokens of no number": ("tokenizer.json", with_large_ids(1 << 31), "a document cannot be tokenised; use another"),
    "a tokenizer that panics": ("tokenizer.json", without_special_tokens, "model: the tokenizer cannot be used ("),
    "weights beyond memory": (
        "config.json",
        lambda config: config.update(model_type="albert", vocab_size=10**12, embedding_size=10**6),
        "model: model.safetensors: embeddings.word_embeddings.weight is not as config.json says; copy the folder",
    ),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_model_is_refused_in_a_line(case, train, capsys):
    name, change, fault = FORGED[case]
    if case == "weights beyond memory":
        pytest.importorskip("transformers")
    assert train(SHORT) == (0, "")
    forged(name, change)
    Path("long.jsonl").write_text(json.dumps(rows(1, [" ".join(f"w{n}" for n in range(231, 290))])[0]) + "\n")
    capsys.readouterr()
    assert run(["rank", "model", "long.jsonl", "--out", "run"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(fault)
    assert said.count("\n") == 1
    assert not Path("run").exists()


def test_cutting_and_filling_up_are_not_the_tokenizer_s_to_say(train):
    assert train(SHORT) == (0, "")
    before = rs.load("model").score("data.jsonl")
    cut = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    forged("tokenizer.json", lambda tokenizer: tokenizer.update(truncation=cut))
    assert np.array_equal(rs.load("model").score("data.jsonl"), before)
