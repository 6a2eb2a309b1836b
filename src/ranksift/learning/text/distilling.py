"""A network that says what several say in the mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import missing_library
from ranksift.learning.inner_models import restored, state_of
from ranksift.learning.outputs import Outputs, speaking_of
from ranksift.learning.text.ranker import TextRanker
from ranksift.learning.text.training import Goal, SideBySide, TextLists, fit, side_by_side

try:
    import torch
    from torch import Tensor
except ImportError:
    raise missing_library("text models need", "PyTorch", "text") from None

# What has a row for each output.
_OF_OUTPUTS = ("head.weight", "head.bias")


class ToldOutputs(Goal):
    """The outputs of other networks, instead of labels: the mean squared error over the documents of each query.

    Examples
    --------
    >>> goal = ToldOutputs(np.array([[1.0], [2.0], [5.0]]), Outputs("mse", np.zeros(0)))
    >>> outputs = torch.tensor([[1.0], [4.0], [4.0]])
    >>> goal(outputs, torch.from_numpy(goal.targets).float(), np.array([0, 2, 3])).item()  # (0 + 4) / 2 + 1
    3.0
    """

    def __init__(self, told: NDArray[np.float64], outputs: Outputs) -> None:
        self.outputs, self.targets, self.is_share = outputs, told, False
        self.start = told.mean(axis=0).tolist() if len(told) else [0.0] * outputs.width

    def __call__(
        self, outputs: Tensor, targets: Tensor, lists: Ints | SideBySide, stands_for: Tensor | None = None
    ) -> Tensor:
        """The loss, summed over queries."""
        apart, total = (outputs - targets).square().mean(dim=1), outputs.new_zeros(())
        for places, mask in lists if isinstance(lists, tuple) else side_by_side(lists):
            there = (torch.ones_like(places) if mask is None else mask).to(apart)
            own = apart[places.to(outputs.device)]
            total = total + ((own * there).sum(dim=1) / there.sum(dim=1)).sum()
        return total


def one_network(networks: Sequence[TextRanker], examples: Examples) -> TextRanker:
    """A text ranker that says of documents what several of the same parameters say in the mean.

    Parameters
    ----------
    networks
        Fitted to parts of the same examples, or with different seeds.
    examples
        Texts to learn on; no label is read.
    """
    levels, first = _levels(networks), networks[0]
    found = restored(first.clone(), (), _mean_state(networks, levels))
    found.card_ = dict(getattr(first, "card_", {}))
    if first.freeze and not first.list_layers:
        return found  # a head is linear: nothing is to be learned
    said = np.mean([_said(one, examples, levels) for one in networks], axis=0)
    lists = TextLists(found.tokens(examples), examples.offsets, np.zeros(len(examples)))
    plan = replace(found._plan(stopped=False), documents_per_query=None)
    fit(found._network, lists, plan, goal=ToldOutputs(said, found._outputs))
    found._network.eval()
    return found


def _levels(networks: Sequence[TextRanker]) -> Floats:
    """For an ordinal loss, all gains that a network knows; for others, the mean over networks."""
    known = [network.levels_ for network in networks]
    if networks[0].is_ordinal:
        return ragged.distinct(np.concatenate(known))
    return np.asarray(np.mean(known, axis=0))


def _said(network: TextRanker, examples: Examples, levels: Floats) -> NDArray[np.float64]:
    found = network.outputs(examples)
    return found[:, speaking_of(levels, network.levels_)] if network.is_ordinal else found


def _mean_state(networks: Sequence[TextRanker], levels: Floats) -> Mapping[str, Any]:
    """What one network would have learned: the mean of all weights."""
    states: list[dict[str, Any]] = []
    for network in networks:
        state = dict(state_of(network))
        if network.is_ordinal:
            rows = speaking_of(levels, network.levels_)
            state |= {name: state[name][rows] for name in _OF_OUTPUTS}
        states.append(state)
    first = states[0]
    found = {
        name: value if isinstance(value, str) else _mean([s[name] for s in states])
        for name, value in first.items()
        if name != "levels"
    }
    return {**found, "levels": levels}


def _mean(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The mean; of equal arrays, as of an encoder that was not trained, they themselves."""
    first, *others = arrays
    if all(np.array_equal(first, other) for other in others):
        return first
    return np.mean(arrays, axis=0, dtype=np.float64).astype(first.dtype)
