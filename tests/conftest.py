"""What all tests share: where the real data is, and how hypothesis searches."""

import fcntl
import gzip
import os
from collections import defaultdict
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import HealthCheck, settings

# Haystack would write an id into the home folder when it is imported, and report pipelines that run.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"

# The same examples in every run, so that a failure is a change in the code and never luck.
# How long they take says nothing about the code either: the machine may be busy.
settings.register_profile(
    "steady", derandomize=True, max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# For someone who wants to find something new: pytest --hypothesis-profile=search
settings.register_profile("search", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    """Take a warning of ours that no test expects for an error, and time each part."""
    # Not in pyproject.toml: pytest would import ranksift before coverage counts.
    config.addinivalue_line("filterwarnings", "error::ranksift.errors.RankSiftWarning")
    # Registered, as the hooks of a conftest.py see only what lies beside it: not the doctests in src.
    config.pluginmanager.register(Times())


# -- how long each part takes, told at the end of a run ----------------------------------------------------------------


class Part:
    """What the tests of a folder took."""

    def __init__(self) -> None:
        self.tests, self.cpu, self.clock = 0, 0.0, 0.0

    def add(self, tests: int, cpu: float, clock: float) -> None:
        """Add that of others."""
        self.tests, self.cpu, self.clock = self.tests + tests, self.cpu + cpu, self.clock + clock

    def row(self, name: str) -> str:
        """A row of the table."""
        return f"{name:<20}{self.tests:>8}{self.cpu:>8.1f}{self.clock:>8.1f}"


class Times:
    """Processor seconds, those of started processes too, and seconds by the clock of the process that ran a test."""

    def __init__(self) -> None:
        self.parts: dict[str, Part] = defaultdict(Part)
        self.used = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """A test begins: what was used before belongs to none."""
        self.used = sum(os.times()[:4])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what a phase of a test used; what a report holds goes from a worker to the main process."""
        report = yield
        before, self.used = self.used, sum(os.times()[:4])
        report.cpu = self.used - before
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add it to its folder: tests/cli, or src."""
        path = Path(report.nodeid.partition("::")[0])
        name = "src (doctests)" if path.parts[0] == "src" else "/".join(path.parent.parts[:2])
        self.parts[name].add(report.when == "setup", getattr(report, "cpu", 0.0), report.duration)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say it."""
        together = Part()
        for part in self.parts.values():
            together.add(part.tests, part.cpu, part.clock)
        terminalreporter.section("time of each part; the clock runs in each worker")
        terminalreporter.write_line(f"{'':<20}{'tests':>8}{'CPU s':>8}{'clock s':>8}")
        for name, part in (*sorted(self.parts.items()), ("together", together)):
            terminalreporter.write_line(part.row(name))


# -- fixtures --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real collections: $RANKSIFT_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RANKSIFT_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("no real data: set RANKSIFT_DATA to the folder that holds it")
    return folder


@pytest.fixture(scope="session")
def made_once(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str, Callable[[Path], None]], Path]:
    """A folder that takes long to make, made by one of the processes that run tests; the others wait for it."""
    base = tmp_path_factory.getbasetemp()

    def made_once(name: str, make: Callable[[Path], None]) -> Path:
        folder = (base if worker_id == "master" else base.parent) / f"made-{name}"
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                half = folder.with_suffix(".half")
                half.mkdir()
                make(half)
                half.rename(folder)
        return folder

    return made_once


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
