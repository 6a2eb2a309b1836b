"""The state of a training, in one file that is replaced in one step: a killed training resumes from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ranksift.errors import InputError, missing_library
from ranksift.files import parse_json, writing

try:
    import torch
    from torch import Tensor, nn
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

#: What a checkpoint begins with.
FORMAT = "ranksift-checkpoint-1"

_REMEDY = "delete it, or name another file, to train from the beginning"
_ADAM = ("exp_avg", "exp_avg_sq", "step")


@dataclass
class Progress:
    """How far a training is, besides its weights. What is drawn depends on the seed and the step alone.

    Attributes
    ----------
    step
        Steps that are done, of all epochs.
    total
        The loss, summed over the queries of the epoch so far.
    losses, values
        The losses and values of finished epochs.
    best_epoch
        The epoch whose weights are kept, 0 before the first one.
    done
        Whether it is over.
    """

    step: int = 0
    total: float = 0.0
    losses: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    best_epoch: int = 0
    done: bool = False


def write_checkpoint(
    path: Path,
    run: str,
    progress: Progress,
    weights: Mapping[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    best: Mapping[str, Tensor],
) -> None:
    """Replace the checkpoint: the old one or the new one is there, whenever the process is killed."""
    from safetensors.torch import save

    tensors = {f"weights/{name}": x.detach().cpu().contiguous() for name, x in weights.items()}
    for name, x in weights.items():
        state = {} if progress.done else optimizer.state.get(x, {})  # what is over takes no further step
        tensors |= {f"{part}/{name}": state[part].detach().cpu().contiguous() for part in _ADAM if part in state}
    tensors |= {f"best/{name}": x.contiguous() for name, x in best.items()}
    said = {"format": FORMAT, "run": run, "progress": json.dumps(vars(progress))}
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(save(tensors, said))


def read_checkpoint(
    path: Path, run: str, weights: Mapping[str, nn.Parameter], optimizer: torch.optim.Optimizer
) -> tuple[Progress, dict[str, Tensor]] | None:
    """Go back to where a training was: its progress and its best weights so far; None if there is no checkpoint."""
    if not path.is_file():
        return None
    try:
        found, said = _contents(path)
    except Exception as error:
        raise InputError(f"is not a checkpoint ({error})", source=str(path), remedy=_REMEDY) from None
    if said.get("format") != FORMAT:
        raise InputError("is not a checkpoint of this version", source=str(path), remedy=_REMEDY)
    if said.get("run") != run:
        what = "is a checkpoint of a different training run, with other data, parameters or weights"
        raise InputError(what, source=str(path), remedy=_REMEDY)
    try:
        progress = Progress(**parse_json(said["progress"].encode()))
        with torch.no_grad():
            for name, x in weights.items():
                x.copy_(found[f"weights/{name}"])
                if f"step/{name}" in found:
                    optimizer.state[x] = {
                        part: found[f"{part}/{name}"].to(
                            "cpu" if part == "step" and not _fused(optimizer) else x.device
                        )
                        for part in _ADAM
                    }
        best = {name.removeprefix("best/"): x for name, x in found.items() if name.startswith("best/")}
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"is damaged ({error})", source=str(path), remedy=_REMEDY) from None
    return progress, best


def _contents(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


def _fused(optimizer: torch.optim.Optimizer) -> bool:
    return any(group.get("fused") or group.get("capturable") for group in optimizer.param_groups)


def sum_of(settings: Mapping[str, Any], arrays: Mapping[str, Any], weights: Mapping[str, Tensor]) -> str:
    """What distinguishes one training from another: everything that its result depends on."""
    total = hashlib.sha256(json.dumps(dict(settings), sort_keys=True, default=str).encode())
    for name, array in sorted(arrays.items()):
        plain = np.ascontiguousarray(array)
        total.update(f"{name} {plain.dtype} {plain.shape}".encode())
        total.update(plain.data)
    for name, x in sorted(weights.items()):
        total.update(name.encode())
        total.update(x.detach().cpu().contiguous().numpy().data)
    return total.hexdigest()
