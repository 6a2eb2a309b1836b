"""Folders of encoders, written once."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small BERT with random weights."""
    from tests.learning.text.tiny import write_encoder

    return write_encoder(tmp_path_factory.mktemp("bert"), "bert")


@pytest.fixture(scope="session")
def calm_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without dropout."""
    from tests.learning.text.tiny import write_encoder

    return write_encoder(tmp_path_factory.mktemp("calm"), "bert", hidden_dropout_prob=0.0)
