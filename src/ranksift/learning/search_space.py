"""Where the parameters of a ranker are searched: choices and ranges, and what is tried of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ranksift.errors import InputError
from ranksift.parameters import is_number, plain

if TYPE_CHECKING:
    from ranksift.learning.ranker import Ranker

#: Parameters with what may be tried of each: a list of choices, or ``(low, high)``, or ``(low, high, "log")``. A
#: parameter that is a mapping is searched by its keys: ``{"options.leaves": (4, 64)}``.
SpaceLike = Mapping[str, Sequence[Any]]

# Draws of one trial before an equal one is tried again.
_DRAWS = 100


@dataclass(frozen=True)
class Choices:
    """Values to choose from."""

    values: tuple[Any, ...]

    @property
    def size(self) -> float:
        """How many values there are."""
        return len(self.values)

    def distribution(self) -> Any:
        """The choice as Optuna has it."""
        from optuna.distributions import CategoricalDistribution

        return CategoricalDistribution([word(value) for value in self.values])

    def value(self, drawn: Any) -> Any:
        """What Optuna's word stands for."""
        return next(value for value in self.values if word(value) == drawn)

    def __contains__(self, value: Any) -> bool:
        return any(same(value, choice) for choice in self.values)

    def __str__(self) -> str:
        return ", ".join(map(str, self.values))


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included, whole ones or all; evenly on a logarithmic scale if ``log``."""

    low: float
    high: float
    log: bool
    whole: bool

    @property
    def size(self) -> float:
        """It has no number of values that could all be tried."""
        return inf

    def distribution(self) -> Any:
        """The range as Optuna has it."""
        from optuna.distributions import FloatDistribution, IntDistribution

        if self.whole:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    def value(self, drawn: Any) -> Any:
        """What Optuna drew."""
        return drawn

    def __contains__(self, value: Any) -> bool:
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        return number and self.low <= value <= self.high and (not self.whole or value == int(value))

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}" + " (log)" * self.log


class Space:
    """What may be tried of some parameters of a ranker.

    Examples
    --------
    >>> from ranksift.learning import RankSVM
    >>> space = Space.of({"C": [1.0, 0.1, 10.0]}, RankSVM())
    >>> space.candidates(RankSVM(), trials=10, seed=0)
    [{'C': 1.0}, {'C': 0.1}, {'C': 10.0}]
    """

    def __init__(self, parts: Mapping[str, Choices | Range]) -> None:
        self.parts = dict(parts)

    @classmethod
    def of(cls, given: SpaceLike, ranker: Ranker) -> Space:
        """Check a space for a ranker."""
        if not isinstance(given, Mapping):
            raise InputError(f"space {given!r} is not a mapping", remedy="write it as {'C': (0.01, 100, 'log')}")
        return cls({name: _part(name, values, parameter_of(ranker, name)) for name, values in given.items()})

    def candidates(self, ranker: Ranker, trials: int, seed: int) -> list[dict[str, Any]]:
        """What is tried, in this order: the ranker's own parameters first, so that the best is never worse than these.

        Where all are choices, and there are no more combinations than trials, each is tried once. Else they are drawn
        one by one, each by a seed of its own: the first ten of twenty trials are those of a search of ten.
        """
        return list(self.one_by_one(ranker, trials, seed))

    def one_by_one(self, ranker: Ranker, trials: int, seed: int, study: Any = None) -> Iterator[dict[str, Any]]:
        """As :meth:`candidates`; with a study of Optuna's, drawn by TPE from the trials that it has by then."""
        own = {name: parameter_of(ranker, name) for name in self.parts}
        seen = {key_of(own)}
        yield own
        if prod(part.size for part in self.parts.values()) <= trials:
            choices = [part.values for part in self.parts.values() if isinstance(part, Choices)]
            drawn = (dict(zip(self.parts, values, strict=True)) for values in product(*choices))
        else:
            drawn = (self._draw(seed, number, seen, study) for number in range(1, trials))
        for candidate in drawn:
            # 1 and 1.0 are one choice.
            if key_of(candidate) not in seen:
                seen.add(key_of(candidate))
                yield candidate

    def _draw(self, seed: int, number: int, seen: set[str], study: Any) -> dict[str, Any]:
        """A candidate that is not like another one, if that can be had."""
        import optuna

        own = int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
        at_random = optuna.samplers.RandomSampler(seed=own)
        sampler = at_random if study is None else optuna.samplers.TPESampler(seed=own)
        study = study or optuna.create_study()
        for draw in range(_DRAWS):
            study.sampler = at_random if draw >= _DRAWS // 2 else sampler  # TPE may insist on what was tried
            asked = study.ask(self.distributions())
            study.tell(asked, state=optuna.trial.TrialState.FAIL)  # what it is worth is told by a trial of its own
            candidate = {name: part.value(asked.params[name]) for name, part in self.parts.items()}
            if key_of(candidate) not in seen:
                break
        return candidate

    def distributions(self) -> dict[str, Any]:
        """The space as Optuna has it."""
        return {name: part.distribution() for name, part in self.parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """The space as JSON can hold it."""
        return {
            name: {"choices": plain(part.values)} if isinstance(part, Choices) else dict(vars(part))
            for name, part in self.parts.items()
        }

    def __str__(self) -> str:
        return "; ".join(f"{name}: {part}" for name, part in self.parts.items())


def parameter_of(ranker: Ranker, name: str) -> Any:
    """A ranker's parameter, or that of a mapping by its key."""
    parameter, dot, key = name.partition(".")
    known = ranker.get_params()
    if parameter not in known:
        kind = type(ranker).__name__
        raise InputError(f"{kind} has no parameter {parameter!r}", remedy=f"it has: {', '.join(known)}")
    value = known[parameter]
    if not dot:
        return value
    if not (value is None or isinstance(value, Mapping)):
        raise InputError(f"parameter {parameter!r} has no {key!r}", remedy=f"search {parameter!r} itself")
    return (value or {}).get(key)


def with_parameters(ranker: Ranker, parameters: Mapping[str, Any]) -> Ranker:
    """An unfitted ranker with other values of some parameters."""
    made = ranker.clone()
    for name, value in parameters.items():
        parameter, dot, key = name.partition(".")
        if not dot:
            made.set_params(**{parameter: value})
        elif value is not None:
            made.set_params(**{parameter: {**(made.get_params()[parameter] or {}), key: value}})
    return made


def key_of(parameters: Mapping[str, Any]) -> str:
    """Equal for equal values of parameters.

    >>> key_of({"C": 1, "hidden": (8, 4)}) == key_of({"C": 1.0, "hidden": [8, 4]})
    True
    """
    return json.dumps({name: _number(plain(value)) for name, value in parameters.items()}, sort_keys=True)


def same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are equal, whatever holds them."""
    return key_of({"": one}) == key_of({"": other})


def word(value: Any) -> Any:
    """A choice as Optuna can store it."""
    return value if value is None or isinstance(value, bool | int | float | str) else json.dumps(plain(value))


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return [_number(v) for v in value]
    if isinstance(value, dict):
        return {k: _number(v) for k, v in value.items()}
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _part(name: str, given: Any, own: Any) -> Choices | Range:
    remedy = f"write {name} as a list of choices, (low, high) or (low, high, 'log')"
    if isinstance(given, list) or (isinstance(given, np.ndarray) and given.ndim == 1):
        if not len(given):
            raise InputError(f"space of {name}: there is no choice", remedy=remedy)
        values = given.tolist() if isinstance(given, np.ndarray) else given
        different = [value for i, value in enumerate(values) if not any(same(value, other) for other in values[:i])]
        return Choices(tuple(different))
    if not isinstance(given, tuple) or len(given) not in (2, 3) or (len(given) == 3 and given[2] != "log"):
        raise InputError(f"space of {name}: {given!r}", remedy=remedy)
    low, high = given[:2]
    for end in (low, high):
        if not is_number(end):
            raise InputError(f"space of {name}: {end!r} is not a number", remedy=remedy)
    log = len(given) == 3
    if not low < high or (log and low <= 0):
        what = "is not positive" if low < high else f"is not below {high}"
        raise InputError(f"space of {name}: {low} {what}", remedy="give a low end, then a high one")
    whole = all(isinstance(end, int | np.integer) for end in (low, high)) and not isinstance(own, float)
    kind = int if whole else float
    return Range(kind(low), kind(high), log, whole)
