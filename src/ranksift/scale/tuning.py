"""A search for parameters on many machines: each trial is a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from ranksift.errors import InputError
from ranksift.learning.ranker import Ranker, checked_ranker
from ranksift.learning.tuning import Trial, Tuning
from ranksift.learning.tuning import tune as search
from ranksift.scale.cluster import as_they_end, connected, needs_of, on_one_core, ray

# In a worker, which ends with the connection: what is kept from one trial to the next.
_KEPT: list[AbstractContextManager[None]] = []


def tune(ranker: Ranker, examples: Any, validation: Any = None, *, address: str | None = None, **how: Any) -> Tuning:
    """Search for the best parameters on a Ray cluster: :func:`ranksift.learning.tune`, to the same result.

    Parameters
    ----------
    ranker, examples, validation, how
        As in :func:`ranksift.learning.tune`. Examples are sent to the machines: none of them reads a file. Trials are
        kept in the ``storage`` as they end. The sampler is ``"random"``: with ``"tpe"`` there is one trial at a time.
    address
        As in :func:`ranksift.scale.evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from ranksift import Examples
    >>> from ranksift.learning import RankSVM
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(60, 2))
    >>> examples = Examples.from_arrays(x, (x[:, 0] > 0).astype(int), np.repeat(np.arange(12), 5))
    >>> tune(RankSVM(), examples, space={"C": [0.01, 1.0, 100.0]}, folds=3).best_params
    {'C': 1.0}
    """
    checked_ranker(ranker)
    if how.get("sampler") == "tpe":
        what = "sampler='tpe' draws each trial from the values of all before it, so that a cluster has one at a time"
        raise InputError(what, remedy="use sampler='random', or search on one machine")
    with connected(address):
        needs = needs_of(ranker)

        def spread(
            trial: Callable[[int, Mapping[str, Any]], Trial], todo: Iterable[tuple[int, Mapping[str, Any]]]
        ) -> Iterator[Trial]:
            shared = ray.put((trial, ranker))
            return as_they_end([_trial.options(**needs).remote(shared, number, params) for number, params in todo])

        return search(ranker, examples, validation, spread=spread, **how)


@ray.remote
def _trial(shared: Any, number: int, params: Mapping[str, Any]) -> Trial:
    on_one_core()
    trial, ranker = shared
    if not _KEPT:
        _KEPT.append(ranker.remembering())
        _KEPT[0].__enter__()
    made: Trial = trial(number, params)
    return made
