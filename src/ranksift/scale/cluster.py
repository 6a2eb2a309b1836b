"""The connection with a Ray cluster, and what goes wrong on it, in one line."""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ranksift import __version__
from ranksift.errors import InputError, missing_library

if TYPE_CHECKING:
    from ranksift.learning.ranker import Ranker

# Ray would print into the results that a worker has died, whose work it then does again.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", "^")
try:
    import ray as ray
except ImportError:
    raise missing_library("the engine ray needs", "Ray", "scale") from None

# Seconds to wait for a machine that does not answer.
_PATIENCE = 5.0
_LOOK = "start one there (ray start --head), and run this on one of its machines; --address is HOST:PORT or auto"


@contextmanager
def connected(address: str | None = None) -> Iterator[None]:
    """Connect with a cluster, and leave it at the end; a connection that the caller has made is used, and stays.

    Parameters
    ----------
    address
        ``HOST:PORT`` of its head, or ``auto`` on one of its machines. None: what the variable ``RAY_ADDRESS`` names,
        else Ray is started on the cores of this machine.

    Notes
    -----
    Nothing is reported to Ray's makers unless the variable ``RAY_USAGE_STATS_ENABLED`` asks for it, and no dashboard is
    started.
    """
    with _told():
        if ray.is_initialized():
            yield
            return
        _join(address or os.environ.get("RAY_ADDRESS") or "local")
        try:
            yield
        finally:
            ray.shutdown()


def _join(address: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a later version of itself
    _check_listens(address)
    alone = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address, logging_level=logging.CRITICAL, log_to_driver=False, **alone)
    except Exception as error:  # whatever it says of an address; where it starts by itself, of the machine
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        if address == "local":
            raise InputError(f"Ray does not start ({said})", remedy="see ray.init in its documentation") from None
        raise InputError(f"there is no Ray cluster at {address} ({said})", remedy=_LOOK) from None


def _check_listens(address: str) -> None:
    """Refuse an address where nothing listens, before Ray waits for an answer."""
    if address in ("local", "auto"):
        return
    host, sign, port = address.removeprefix("ray://").rpartition(":")
    if not sign or not host or not port.isdigit():
        raise InputError(f"--address {address!r} is not of the form HOST:PORT", remedy=_LOOK)
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise InputError(f"there is no Ray cluster at {address} ({said})", remedy=_LOOK) from None


@contextmanager
def _told() -> Iterator[None]:
    """An error of a task as it is raised on one machine; what happens to machines in one line."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, InputError | MemoryError):
            raise error.cause from None
        if isinstance(error.cause, ModuleNotFoundError):
            what = f"a machine of the cluster lacks a library ({error.cause})"
            raise InputError(what, remedy=f"install RankSift {__version__} with the same extras on all") from None
        raise
    except ray.exceptions.RayError as error:
        said = str(error).strip().partition("\n")[0]
        what = f"the cluster lost work, even when it was repeated ({type(error).__name__}: {said})"
        raise InputError(what, remedy="give each worker more memory, or fewer CPUs per machine") from None


def on_one_core() -> None:
    """Let a task keep to the core that Ray has given it; all cores would be asked for as often as there are tasks."""
    for name in ("RANKSIFT_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"


def cores() -> int:
    """Those of the whole cluster."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def needs_of(ranker: Ranker) -> dict[str, float]:
    """What Ray is asked for beside a core: a GPU for a network on texts, where the cluster has some."""
    wanted = ranker.reads_texts() and getattr(ranker, "device", "auto") != "cpu"
    return {"num_gpus": 1.0} if wanted and ray.cluster_resources().get("GPU", 0) else {}


def in_order(submit: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Results of tasks, in order, with only some of them under way: those that wait to be taken need memory."""
    waiting: deque[Any] = deque()
    for item in items:
        waiting.append(submit(item))
        if len(waiting) >= 2 * cores():
            yield ray.get(waiting.popleft())
    while waiting:
        yield ray.get(waiting.popleft())


def as_they_end(refs: Iterable[Any]) -> Iterator[Any]:
    """Results of tasks as they end."""
    waiting = list(refs)
    while waiting:
        (done, *_), waiting = ray.wait(waiting)
        yield ray.get(done)
