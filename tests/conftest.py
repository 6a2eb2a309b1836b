"""What all tests share: where the real data is, and how hypothesis searches."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import HealthCheck, settings

# The same examples in every run, so that a failure is a change in the code and never luck.
# How long they take says nothing about the code either: the machine may be busy.
settings.register_profile(
    "steady", derandomize=True, max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# For someone who wants to find something new: pytest --hypothesis-profile=search
settings.register_profile("search", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    """Take a warning of ours that no test expects for an error."""
    # Not in pyproject.toml: pytest would import ranksift before coverage counts.
    config.addinivalue_line("filterwarnings", "error::ranksift.errors.RankSiftWarning")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real collections: $RANKSIFT_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RANKSIFT_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("no real data: set RANKSIFT_DATA to the folder that holds it")
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    """Write a file, compressed by its suffix."""

    def write(name: str, data: bytes | str) -> Path:
        data = data.encode() if isinstance(data, str) else data
        path = tmp_path / name
        pack = {".gz": gzip.compress, ".zst": zstd.compress}.get(path.suffix, lambda d: d)
        path.write_bytes(pack(data))
        return path

    return write
