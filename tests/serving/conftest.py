"""Small models of every kind, saved once, and the service in this process."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("prometheus_client", reason="needs the extra serve")

from starlette.testclient import TestClient

import ranksift as rs
from ranksift.collection.examples import Examples
from ranksift.errors import RankSiftWarning
from ranksift.learning import RankSVM, StackedRanker, TextRanker
from ranksift.serving.application import application
from ranksift.serving.settings import Settings
from tests.learning.text.tiny import drawn_texts, write_encoder

GAINS = {-1: -10}


def drawn(queries: int = 16, seed: int = 0) -> Examples:
    """Documents with a word that says what they are worth, and two features."""
    asked, docs, offsets, gains = drawn_texts(queries, seed=seed)
    group = np.repeat(np.arange(queries), np.diff(offsets))
    features = np.column_stack(
        [gains + np.random.default_rng(seed).normal(0, 3, len(gains)), np.arange(len(gains)) % 7]
    )
    labels = np.where(gains < 0, -1.0, gains)
    texts = Examples.from_texts(dict(enumerate(asked)), docs, labels, group)
    return replace(texts, features=features, feature_names=("bm25", "age"))


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What :func:`save_models` makes."""
    return save_models(tmp_path_factory.mktemp("served"))


def save_models(place: Path) -> Path:
    """Folders ``text``, ``frozen``, ``stacked`` and ``features``, and ``cutoff.json``."""
    encoder = write_encoder(place / "encoder", "bert", hidden_dropout_prob=0.0)
    examples = drawn()
    options = {"encoder": str(encoder), "gains": GAINS, "max_length": 32, "context": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)
        text = TextRanker(**options, epochs=30, batch_size=8, learning_rate=0.003, documents_per_query=0).fit(examples)
        text.fit_cutoff(examples).save(place / "text")
        frozen = TextRanker(**options, epochs=5, freeze=True).fit(examples)
        frozen.fit_cutoff(examples).save(place / "frozen")
        inner = {"encoder": str(encoder), "max_length": 32, "freeze": True, "epochs": 5, "context": False}
        stacked = StackedRanker("RankSVM", text=inner, folds=2, gains=GAINS).fit(examples)
        stacked.fit_cutoff(examples).save(place / "stacked")
        features = RankSVM(gains=GAINS).fit(drop_texts(examples))
        features.fit_cutoff(drop_texts(examples)).save(place / "features")
        save_cutoff(place / "cutoff.json")
    return place


def drop_texts(examples: Examples) -> Examples:
    """The same with features alone."""
    return replace(examples, texts=None)


def save_cutoff(path: Path, threshold: float = 0.7) -> None:
    """A cutoff that keeps scores from a threshold on."""
    scores = [0.9, 0.4, threshold, 0.2]
    rs.GlobalCutoff("nDCG_f@3").fit(scores, [1, -1, 2, -1], ["q", "q", "r", "r"]).save(path)


@pytest.fixture
def place(models: Path, tmp_path: Path) -> Path:
    """A copy of the models, to be changed."""
    return Path(shutil.copytree(models, tmp_path / "models"))


def settings_of(folder: Path, *names: str, **limits: object) -> Settings:
    """Some of the models, or all of them."""
    chosen = names or ("text", "frozen", "stacked", "features", "cutoff.json")
    places = tuple((name.removesuffix(".json"), folder / name) for name in chosen)
    return Settings(places, **{"reload_seconds": 0.0, **limits})  # type: ignore[arg-type]


@contextmanager
def client_of(folder: Path, *names: str, **limits: object) -> Iterator[TestClient]:
    """A client of a service in this process."""
    with TestClient(application(settings_of(folder, *names, **limits)), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def client(models: Path) -> Iterator[TestClient]:
    """A client of all models."""
    with client_of(models) as made:
        yield made
