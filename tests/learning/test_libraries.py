"""Extras bring what the errors and the README say they bring."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ranksift.datasets.reviews import product_reviews
from ranksift.learning.libraries import _KNOWN

ROOT = Path(__file__).parents[2]

# Only what an extra brings can be imported.
WITHOUT = """
import sys
sys.modules |= dict.fromkeys(sys.argv[1].split(","))
from ranksift.cli.main import run
sys.exit(run(sys.argv[2:]))
"""


def brought_by(extra: str) -> set[str]:
    """The distributions that an extra names, and those of the extras that it names."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = {requirement.partition(">")[0] for requirement in extras[extra]}
    others = {name.removeprefix("ranksift[").rstrip("]") for name in names if name.startswith("ranksift[")}
    return names.union(*map(brought_by, others))


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="not a checkout")
@pytest.mark.parametrize("module", _KNOWN)
def test_the_extra_that_an_error_names_brings_the_library(module):
    assert distribution(module) in brought_by(_KNOWN[module][1])


def distribution(module: str) -> str:
    """What is installed to import a module."""
    named = {
        "haystack": "haystack-ai",
        "langchain_core": "langchain-core",
        "llama_index.core": "llama-index-core",
        "prometheus_client": "prometheus-client",
        "sklearn": "scikit-learn",
    }
    return named.get(module, module)


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="not a checkout")
def test_the_extra_trees_is_enough_to_tune_and_rank(tmp_path):
    training, validation = product_reviews(60).examples.split(0.7, seed=1)
    training.save(tmp_path / "train.csv")
    validation.save(tmp_path / "vali.csv")
    tune = (
        "tune train.csv --validation vali.csv --model LambdaMARTf --gains=-1=-10 --trials 12 --sampler tpe "
        "--set trees=5 --out model"
    )
    absent = [module for module in _KNOWN if distribution(module) not in brought_by("trees")]
    assert "torch" in absent
    for command in (tune, "rank model vali.csv --out vali.run"):
        program = [
            sys.executable,
            "-c",
            WITHOUT,
            ",".join([*absent, "pandas", "matplotlib", "pyarrow"]),
            *command.split(),
        ]
        done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert " Q0 " in (tmp_path / "vali.run").read_text()
