"""A small encoder in a folder, as Hugging Face's libraries write them, and small collections of texts."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra text: PyTorch")
tokenizers = pytest.importorskip("tokenizers", reason="needs the extra text: tokenizers")
pytest.importorskip("safetensors", reason="needs the extra text: safetensors")

from safetensors.torch import save_file  # noqa: E402

from ranksift.learning.text.encoder import Architecture, PackedEncoder, load_encoder  # noqa: E402
from ranksift.learning.text.network import TextNetwork  # noqa: E402
from ranksift.learning.text.tokens import Tokenizer  # noqa: E402
from ranksift.learning.text.training import Goal, TextLists  # noqa: E402

WORDS = 300

#: Small configurations of each architecture.
CONFIGS = {
    "bert": {
        "model_type": "bert",
        "vocab_size": WORDS,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
        "type_vocab_size": 2,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.0,
    },
    "distilbert": {
        "model_type": "distilbert",
        "vocab_size": WORDS,
        "dim": 32,
        "n_layers": 2,
        "n_heads": 4,
        "hidden_dim": 64,
        "max_position_embeddings": 64,
        "dropout": 0.1,
        "attention_dropout": 0.0,
    },
    "roberta": {
        "model_type": "roberta",
        "vocab_size": WORDS,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 66,
        "type_vocab_size": 1,
        "pad_token_id": 1,
        "layer_norm_eps": 1e-5,
    },
}


def write_tokenizer(folder: Path) -> None:
    """One word, one token: w0, w1, …"""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = {word: n for n, word in enumerate([*special, *(f"w{n}" for n in range(WORDS - len(special)))])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    made.enable_truncation(5)  # as files do; it is not to count
    made.enable_padding(length=5)
    made.save(str(folder / "tokenizer.json"))


def write_encoder(folder: Path, kind: str = "bert", seed: int = 1, **changes: object) -> Path:
    """A folder of an encoder with random weights."""
    folder.mkdir(parents=True, exist_ok=True)
    config = CONFIGS[kind] | changes
    (folder / "config.json").write_text(json.dumps(config))
    save_file(PackedEncoder(Architecture.of(config), seed=seed).published(), folder / "model.safetensors")
    write_tokenizer(folder)
    return folder


def drawn_texts(queries: int = 20, documents: int = 5, words: int = 12, seed: int = 0):
    """Queries, documents, offsets and gains; every document has a word that says what it is worth, and others."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(1, documents + 1, queries)
    asked = [" ".join(f"w{n}" for n in draw.integers(100, 200, draw.integers(2, 6))) for _ in range(queries)]
    gains = draw.choice([-10.0, 1.0, 2.0], counts.sum())
    found = []
    for gain in gains:
        said = [f"w{n}" for n in draw.integers(100, 290, draw.integers(1, words))]
        found.append(" ".join([*said, {-10.0: "w1", 1.0: "w2", 2.0: "w3"}[gain]]))
    return asked, found, np.concatenate([[0], np.cumsum(counts)]), gains


def drawn_lists(folder: Path, **options: int) -> TextLists:
    """The same as tokens."""
    return TextLists.of(Tokenizer(folder), *drawn_texts(**options), max_length=32)


def network_for(folder: Path, lists: TextLists, loss: str = "ordinal", **options: object) -> TextNetwork:
    """A network with the outputs that a loss asks for."""
    goal = Goal(loss, lists)
    return TextNetwork(load_encoder(folder), goal.outputs.width, start=goal.start, **options)
