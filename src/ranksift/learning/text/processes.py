"""Several processes that train one network, started by a launcher such as torchrun."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple

from ranksift.errors import InputError, missing_library

try:
    import torch
    import torch.distributed as distributed
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

# Trainings of this process: each has keys of its own in the store in which processes find each other.
_TRAININGS = count()
# The connection to that store, which serves all trainings: a launcher's store may be gone when it is closed.
_STORE: list[Any] = []


class Process(NamedTuple):
    """The number of a process, and how many there are."""

    rank: int = 0
    world: int = 1


@contextmanager
def connected(device: torch.device) -> Iterator[Process]:
    """Connect this process with the others that the launcher has started, for one training.

    At the end the processes wait for each other and close their connections, with the threads that serve these: a
    thread that is left when the interpreter ends may abort the process. One that fails does not wait, so that the
    others notice. Connections that the caller has made are used, and left open.

    Examples
    --------
    >>> with connected(torch.device("cpu")) as process:
    ...     print(process)
    Process(rank=0, world=1)
    """
    if int(os.environ.get("WORLD_SIZE") or 1) < 2 or not distributed.is_available():
        yield Process()
        return
    if distributed.is_initialized():
        yield Process(distributed.get_rank(), distributed.get_world_size())
        return
    _connect("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Process(distributed.get_rank(), distributed.get_world_size())
        distributed.barrier()  # none leaves while another still talks to it
    except RuntimeError as error:
        if not _is_of_a_connection(error):
            raise
        what = "another process of this training ended before it was done"
        raise InputError(what, remedy="see its message") from error
    finally:
        distributed.destroy_process_group()


def _connect(backend: str) -> None:
    if not _STORE:
        _STORE.append(next(distributed.rendezvous("env://")))  # type: ignore[attr-defined]
    store, rank, world = _STORE[0]
    own = distributed.PrefixStore(f"ranksift-{next(_TRAININGS)}", store)  # type: ignore[attr-defined]
    distributed.init_process_group(backend, store=own, rank=rank, world_size=world)


def _is_of_a_connection(error: RuntimeError) -> bool:
    return isinstance(error, distributed.DistError) or "gloo/transport" in str(error)
