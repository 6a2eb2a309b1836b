"""Results measured again, and claims that are made false on purpose."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from math import isclose

from experiments.experiment import Experiment


def failing(experiment: Experiment, path: tuple[str | int, ...], value: object) -> str:
    """The claims of a page that do not hold once one of its results is another, as one text."""
    results = deepcopy(experiment.kept)
    place = results
    for step in path[:-1]:
        place = place[step]
    assert place[path[-1]] != value
    place[path[-1]] = value
    return " ".join(claim.sentence for claim in experiment.made_of(results).claims if not claim.holds)


def apart(found: object, kept: object, place: str = "") -> Iterator[str]:
    """Where results that are measured now are not those that are kept; the last digits may be another machine's."""
    if isinstance(found, Mapping) and isinstance(kept, Mapping):
        for name in dict.fromkeys([*found, *kept]):
            yield from apart(found.get(name), kept.get(name), f"{place}/{name}")
    elif isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        for i, pair in enumerate(zip(found, kept, strict=True)):
            yield from apart(*pair, f"{place}/{i}")
    elif isinstance(found, float | int) and isinstance(kept, float | int):
        if not isclose(found, kept, rel_tol=1e-6, abs_tol=1e-9):
            yield f"{place}: {found} instead of {kept}"
    elif found != kept:
        yield f"{place}: {found!r} instead of {kept!r}"
