"""Models inside another model: how they are kept in its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ranksift.learning.ranker import Ranker
from ranksift.learning.scaling import FeatureScale

R = TypeVar("R", bound=Ranker)

State = Mapping[str, NDArray[Any] | str]

# What models have in common, as an encoder that was not trained, is kept once if it is a file or a large array: of so
# many numbers. The prefix of such files and arrays.
_LARGE, _SHARED = 1 << 10, "models-"


def state_of(model: Ranker) -> State:
    """What a model learned, with the scale of its features."""
    return {**model._state(), **model._scale.state()}


def restored(model: R, feature_names: tuple[str, ...], state: Mapping[str, Any]) -> R:
    """An unfitted model with what :func:`state_of` gave."""
    own = dict(state)
    model.feature_names_, model.cutoff_ = feature_names, None
    model._scale = FeatureScale.taken_from(own)
    model._restore(own)
    return model


def as_one(states: Sequence[State]) -> State:
    """What several models learned as one; :func:`one_by_one` takes it apart.

    Examples
    --------
    >>> encoder, kept = np.zeros(5000), as_one([{"encoder": np.zeros(5000), "head": np.full(1, n)} for n in range(2)])
    >>> [*kept]
    ['model-head', 'model2-head', 'models-encoder']
    >>> [int(state["head"][0]) for state in one_by_one(kept)]
    [0, 1]
    """
    first, *others = states
    shared = {
        name: value
        for name, value in first.items()
        if others
        and (isinstance(value, str) or value.size >= _LARGE)
        and all(_is_same(value, state.get(name)) for state in others)
    }
    own = {
        f"{_prefix(number)}{name}": value
        for number, state in enumerate(states, 1)
        for name, value in state.items()
        if name not in shared
    }
    return own | {f"{_SHARED}{name}": value for name, value in shared.items()}


def one_by_one(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What :func:`as_one` was given, among other things."""
    found: list[dict[str, Any]] = []
    shared = with_prefix(state, _SHARED)
    while own := with_prefix(state, _prefix(len(found) + 1)):
        found.append(shared | own)
    return found


def with_prefix(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """What begins with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def _prefix(number: int) -> str:
    """What the files and arrays of a model inside begin with; models of earlier versions have one."""
    return "model-" if number == 1 else f"model{number}-"


def _is_same(value: NDArray[Any] | str, other: Any) -> bool:
    if isinstance(value, str) or isinstance(other, str):
        return isinstance(other, str) and value == other
    return other is not None and np.array_equal(value, other)
