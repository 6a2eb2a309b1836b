"""What every integration is given: a small ranker of texts and a cutoff, both fitted and saved; no network."""

import socket
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs

GAINS = {-1: -10}

#: Texts of one query, and what the last word of each says that it is worth; the second and the fourth are forbidden.
QUERY = "w110 w150"
TEXTS = ["w120 w2", "w130 w1", "w140 w3", "w150 w160 w1", "w170 w3"]
FORBIDDEN = {1, 3}

#: Scores of a retriever for them: it ranks a forbidden one first but one, and has a threshold below which most are bad.
SCORES = [0.9, 0.2, 0.8, 0.1, 0.3]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever opens a connection to another machine fails: libraries may neither download nor report."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            pytest.fail(f"a connection to {address}")
        real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: pytest.fail(f"a look-up of {host}"))


@pytest.fixture(scope="session")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ranker from texts that drops what it takes for forbidden."""
    from ranksift.learning import TextRanker
    from tests.learning.text.tiny import drawn_texts, write_encoder

    folder = tmp_path_factory.mktemp("integrations")
    encoder = write_encoder(folder / "encoder", hidden_dropout_prob=0.0)
    asked, docs, offsets, gains = drawn_texts(40)
    group = np.repeat(np.arange(40), np.diff(offsets))
    examples = rs.Examples.from_texts(dict(enumerate(asked)), docs, np.where(gains < 0, -1.0, gains), group)
    options = {"epochs": 30, "batch_size": 8, "learning_rate": 0.003, "max_length": 32, "documents_per_query": 0}
    model = TextRanker(encoder=str(encoder), gains=GAINS, pooling="mean", device="cpu", **options).fit(examples)
    model.fit_cutoff(examples).save(folder / "model")
    return folder / "model"


@pytest.fixture(scope="session")
def cutoff(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a cutoff that was fitted to scores from 0 to 1, of which low ones are mostly forbidden."""
    draw = np.random.default_rng(0)
    scores = draw.uniform(size=400)
    labels = np.where(scores + draw.normal(scale=0.1, size=400) < 0.4, -1, 1)
    path = tmp_path_factory.mktemp("integrations") / "cutoff.json"
    rs.GlobalCutoff("nDCG_f@3").fit(scores, labels, np.arange(400) // 5, gains=GAINS).save(path)
    return path


@pytest.fixture(scope="session")
def threshold(cutoff: Path) -> float:
    """What the cutoff learned; it lies where the labels change."""
    found = float(rs.load_cutoff(cutoff).threshold_)
    assert 0.3 < found < 0.6
    return found
