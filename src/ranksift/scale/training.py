"""A network on texts, trained by several processes of a cluster: those that torchrun would start on one machine."""

from __future__ import annotations

import io
import os
import socket
import struct
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ranksift.collection.examples import read_examples
from ranksift.errors import InputError, RankSiftWarning
from ranksift.learning.ranker import Ranker, checked_ranker
from ranksift.learning.training_folder import TrainingFolder
from ranksift.parameters import integer
from ranksift.scale.cluster import connected, needs_of, ray

# How often a training is begun again that has lost a process, and seconds to wait for room and for each other.
_AGAIN = 3
_ROOM = 120.0
_TOGETHER = 60.0

_There = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy

# What Linux is asked for the address of an interface.
_ADDRESS_OF = 0x8915


def fit(
    ranker: Ranker,
    examples: Any,
    validation: Any = None,
    *,
    workers: int = 2,
    address: str | None = None,
    checkpoints: TrainingFolder | str | os.PathLike[str] | None = None,
) -> Ranker:
    """Train a ranker from texts on a Ray cluster with data parallelism, as :meth:`Ranker.fit` does under torchrun.

    Parameters
    ----------
    ranker, examples, validation
        As in :meth:`Ranker.fit`; the given ranker is not fitted; a new one is returned. Examples are sent to the
        machines, which do not read files.
    workers
        The number of processes, each with one core and, if the cluster has GPUs, one GPU.
    address
        As in :func:`ranksift.scale.evaluate`.
    checkpoints
        As in :meth:`Ranker.fit`; every machine must find the folder under the same path. If a process dies, training
        starts again from the last checkpoint, if there are any, with the same result.

    Examples
    --------
    >>> from ranksift.learning import RankSVM
    >>> fit(RankSVM(), {})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ranksift.errors.InputError: RankSVM is not a ranker from texts, and several processes train only those; ...
    """
    checked_ranker(ranker)
    if not ranker.keeps_checkpoints():
        what = f"{type(ranker).__name__} is not a ranker from texts, and several processes train only those"
        raise InputError(what, remedy="fit it on one machine, or tune it on many")
    integer(1).check("workers", workers, 2)
    given = read_examples(examples)
    held_out = None if validation is None else ranker.read_as(given.feature_names, validation)
    folder = None if checkpoints is None else TrainingFolder.of(checkpoints)
    with connected(address):
        job = ray.put((ranker, given, held_out, None if folder is None else _silent(folder)))
        found = None
        for left in reversed(range(_AGAIN + 1)):
            found = found or _trained(job, workers, needs_of(ranker), last=not left)
    assert found is not None  # the last time it is raised why not
    fitted, told = found
    for text in told:
        warnings.warn(text, RankSiftWarning, stacklevel=2)
    return fitted


def _silent(folder: TrainingFolder) -> TrainingFolder:
    """The same folder for a process elsewhere, which shows nothing."""
    return TrainingFolder(folder.path.absolute(), folder.parts, folder.seconds)


def _trained(job: Any, workers: int, needs: dict[str, float], *, last: bool) -> tuple[Ranker, list[str]] | None:
    """The ranker, and its notes; None if a process died, and it is not the ``last`` time."""
    bundle = {"CPU": 1.0, **({"GPU": 1.0} if needs else {})}
    short = next((name for name, n in bundle.items() if ray.cluster_resources().get(name, 0) < n * workers), None)
    if short is not None:
        what = f"the cluster has fewer than {workers} {short}s"
        raise InputError(what, remedy="ask for fewer processes: --workers, in Python workers")
    group = ray.util.placement_group([bundle] * workers, strategy="SPREAD")
    processes: list[Any] = []
    try:
        if not ray.wait([group.ready()], timeout=_ROOM)[0]:
            raise InputError("the cluster is busy", remedy="wait, or ask for fewer processes: --workers")
        for place in range(workers):
            there = _There(group, placement_group_bundle_index=place)
            processes.append(_ACTOR.options(scheduling_strategy=there, **needs).remote())
        host, port = ray.get(processes[0].place.remote())
        said = [process.fit.remote(job, rank, workers, host, port) for rank, process in enumerate(processes)]
        return _heard(said)
    except ray.exceptions.RayActorError:
        if last:
            raise
        return None
    finally:
        for process in processes:
            ray.kill(process)
        ray.util.remove_placement_group(group)


def _heard(said: Sequence[Any]) -> tuple[Ranker, list[str]]:
    """What the first process says, once all are done; of errors that of one that died, which others follow from."""
    waiting, errors = list(said), list[Exception]()
    while waiting:
        done, waiting = ray.wait(waiting, timeout=_TOGETHER if errors else None)
        for one in done:
            try:
                ray.get(one)
            except ray.exceptions.RayError as error:
                errors.append(error)
        if not done:
            break
    if errors:
        raise min(errors, key=lambda error: not isinstance(error, ray.exceptions.RayActorError))
    import torch

    packed, told = ray.get(said[0])
    place = None if torch.cuda.is_available() else "cpu"  # of this machine, whatever the others have
    return torch.load(io.BytesIO(packed), map_location=place, weights_only=False), told


class Process:
    """One of the processes of a training."""

    def place(self) -> tuple[str, int]:
        """Where the others find this one."""
        host = ray.util.get_node_ip_address()
        with socket.socket() as free:
            free.bind(("", 0))
            return host, free.getsockname()[1]

    def fit(self, job: Any, rank: int, world: int, host: str, port: int) -> tuple[bytes, list[str]]:
        """Train; the first process gives the ranker and its notes."""
        import torch

        own = _interface(ray.util.get_node_ip_address())
        for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME") if own else ():
            os.environ.setdefault(name, own)
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR=host, MASTER_PORT=str(port))
        ranker, examples, validation, folder = job
        told: list[str] = []
        kept = None if folder is None else replace(folder, note=told.append)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("default", RankSiftWarning)
            ranker.fit(examples, validation, checkpoints=kept)
        told += [str(each.message) for each in warned if issubclass(each.category, RankSiftWarning)]
        packed = io.BytesIO()
        if rank == 0:
            torch.save(ranker, packed)
        return packed.getvalue(), told


_ACTOR: Any = ray.remote(Process)


def _interface(address: str) -> str:
    """The network interface that has an address, so that processes do not look for each other on another one."""
    try:
        from fcntl import ioctl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            for _, name in socket.if_nameindex():
                with suppress(OSError):  # it has no address
                    found = ioctl(any_socket.fileno(), _ADDRESS_OF, struct.pack("256s", name.encode()[:15]))
                    if socket.inet_ntoa(found[20:24]) == address:
                        return name
    except (ImportError, OSError):  # not on Linux
        pass
    return ""
