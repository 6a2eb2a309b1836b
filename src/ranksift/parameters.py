"""Parameters in scikit-learn's manner: given to the constructor, each declared in one line.

A class declares a parameter with its default, what it may be, and what it means::

    trees: int = parameter(300, integer(least=1), "Trees at most.")

Errors, ``--help``, ``ranksift train --list``, ``help(...)`` and the reference are all made of that line.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np

from ranksift.errors import InputError

_P = ParamSpec("_P")
_R = TypeVar("_R")

# What arrays hold; a number too large to be meant as a limit; where a field keeps its declaration.
_MOST = 2**63
_HUGE = 10**15
_DECLARED = "ranksift"
# Of samples: what is usual; what would take days; how many numbers (4 GiB) they may take in memory.
_USUAL_SAMPLES, _MOST_SAMPLES, _MOST_HELD = 1000, 10**7, 2**29
_OR_NONE = ", or None"


# -- what a parameter may be ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What a value may be.

    Attributes
    ----------
    what
        In words, with an article: "a positive integer".
    fits
        Whether a value is such a one. Instead of False it may raise an :class:`InputError` of its own.
    words
        The values, where they are a few words.
    example
        A value to name if there is no default.
    most
        A bound that goes without saying: only who exceeds it is told.

    Examples
    --------
    >>> integer(least=1).check("trees", 0)
    Traceback (most recent call last):
    ranksift.errors.InputError: trees=0 is not a positive integer; give a positive integer
    >>> choice("loss", "measure").check("stop_by", "luck", default="loss")
    Traceback (most recent call last):
    ranksift.errors.InputError: stop_by='luck' is unknown; use 'loss' or 'measure'
    """

    what: str
    fits: Callable[[Any], bool]
    words: tuple[str, ...] = ()
    example: Any = None
    most: int = _MOST - 1

    def check(self, name: str, value: Any, default: Any = None) -> None:
        """Refuse a value that is not such a one; the default is an example of one that is."""
        if self.fits(value):
            return
        shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:20]}…"
        if self.words:
            raise InputError(f"{name}={shown} is unknown", remedy=f"use {self.what}")
        if isinstance(value, float | np.floating) and not np.isfinite(value):
            raise InputError(f"{name}={value} is not finite", remedy=f"give {self.what}")
        if is_integer(value) and (value > self.most or abs(value) >= _MOST):
            remedy = "give a smaller number" if self.most == _MOST - 1 else f"give {self.most} at most"
            raise InputError(f"{name}={shown} is too large", remedy=remedy)
        wanted = self.what.removesuffix(_OR_NONE)
        usual = default if default is not None and not callable(default) and self.fits(default) else self.example
        remedy = f"give {self.what}" if usual is None else f"write {name}={usual!r}, for example"
        raise InputError(f"{name}={shown} is not {wanted}", remedy=remedy)


def is_integer(value: Any) -> bool:
    """Whether it is an integer of Python's or numpy's, and not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether it is a number of Python's or numpy's that a float can hold, and finite."""
    if is_integer(value):
        return bool(abs(int(value)) <= sys.float_info.max)
    return isinstance(value, float | np.floating) and bool(np.isfinite(value))


def integer(least: int | None = None, most: int | None = None) -> Kind:
    """An integer, from ``least`` to ``most``."""
    low, high = -_MOST if least is None else least, _MOST - 1 if most is None else most
    if least == 1 and high >= _HUGE:
        what = "a positive integer"
    elif least is not None and most is not None:
        what = f"an integer from {least} to {most}"
    else:
        what = "an integer" if least is None else f"an integer of at least {least}"
    return Kind(what, lambda value: is_integer(value) and low <= value <= high)


def at_most(most: int, kind: Kind) -> Kind:
    """The same, up to a bound that only slips of the hand exceed.

    Examples
    --------
    >>> at_most(100_000, integer(1)).check("trials", 10**30)
    Traceback (most recent call last):
    ranksift.errors.InputError: trials=1000000000000000000000000000000 is too large; give 100000 at most
    """
    return replace(kind, fits=lambda value: kind.fits(value) and value <= most, most=most)


def samples_of(width: int, least: int = 1) -> Kind:
    """A number of samples that fits into memory, where of each so many numbers are held at once.

    Examples
    --------
    >>> samples_of(width=500).check("samples", 10**12)
    Traceback (most recent call last):
    ranksift.errors.InputError: samples=1000000000000 is too large; give 1073741 at most
    """
    return at_most(min(_MOST_SAMPLES, max(_MOST_HELD // width, _USUAL_SAMPLES)), integer(least))


def number(
    *, above: float | None = None, least: float | None = None, below: float | None = None, most: float | None = None
) -> Kind:
    """A finite number within limits; ``above`` and ``below`` do not belong to what it may be."""
    limits: list[tuple[float | None, str, Callable[[Any, Any], bool]]] = [
        (above, "above", lambda value, limit: value > limit),
        (least, "of at least", lambda value, limit: value >= limit),
        (below, "below", lambda value, limit: value < limit),
        (most, "of at most", lambda value, limit: value <= limit),
    ]
    given = [(limit, word, holds) for limit, word, holds in limits if limit is not None]
    if above is not None and below is not None:
        what = f"a number between {above:g} and {below:g}"
    elif least is not None and most is not None:
        what = f"a number from {least:g} to {most:g}"
    elif above == 0 and len(given) == 1:
        what = "a positive number"
    else:
        what = " and ".join(["a number", *(f"{word} {limit:g}" for limit, word, _ in given)]).replace(" and ", " ", 1)
    return Kind(what, lambda value: is_number(value) and all(holds(value, limit) for limit, _, holds in given))


def choice(*words: str) -> Kind:
    """One of a few words."""
    *others, last = (repr(word) for word in words)
    listed = f"{', '.join(others)} or {last}" if others else last
    return Kind(listed, lambda value: isinstance(value, str) and value in words, words)


def flag() -> Kind:
    """A truth value."""
    return Kind("True or False", lambda value: isinstance(value, bool | np.bool_))


def path() -> Kind:
    """Where a file or a folder is; not a number, which to Python is a file that is open already."""
    return Kind("a path", _is_path)


def _is_path(value: Any) -> bool:
    return isinstance(os.fspath(value), str) if isinstance(value, os.PathLike) else isinstance(value, str)


def function() -> Kind:
    """What can be called, as what wraps a loop to show how far it is."""
    return Kind("a function", callable)


def text(what: str = "a text") -> Kind:
    """A text, also an empty one."""
    return Kind(what, lambda value: isinstance(value, str))


def instance(kind: type) -> Kind:
    """An object of a class."""
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    return Kind(f"{article} {kind.__name__}", lambda value: isinstance(value, kind))


def some(each: Kind, what: str) -> Kind:
    """Any collection but a text, every entry of which is of a kind; what can be gone through once is not looked at."""

    def fits(value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        return not isinstance(value, Collection) or all(map(each.fits, value))

    return Kind(what, fits)


def word(what: str = "a word") -> Kind:
    """A text that is not empty."""
    return Kind(what, lambda value: isinstance(value, str) and bool(value))


def several(each: Kind, what: str, least: int = 0) -> Kind:
    """A list, a tuple or an array of one dimension, every entry of which is of a kind."""

    def fits(value: Any) -> bool:
        listed = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
        return listed and len(value) >= least and all(map(each.fits, value))

    return Kind(what, fits)


def optional(kind: Kind, example: Any = None) -> Kind:
    """The same, or None."""
    return Kind(f"{kind.what}{_OR_NONE}", lambda value: value is None or kind.fits(value), kind.words, example)


def either(one: Kind, other: Kind) -> Kind:
    """What is of one of two kinds."""
    return Kind(f"{one.what} or {other.what}", lambda value: one.fits(value) or other.fits(value))


def read_by(read: Callable[[Any], Any], what: str) -> Kind:
    """What a function can read; its own error says what is wrong."""

    def fits(value: Any) -> bool:
        read(value)
        return True

    return Kind(what, fits)


# -- declaring them ------------------------------------------------------------------------------------------------


class Declared(NamedTuple):
    """What a parameter may be, and what it means, as it stands in the source."""

    kind: Kind
    text: str

    @property
    def meaning(self) -> str:
        """What it means, in one line."""
        return " ".join(self.text.split())

    @property
    def plain_meaning(self) -> str:
        """What it means, without the marks of a docstring."""
        return without_marks(self.meaning)


def without_marks(text: str) -> str:
    r"""A docstring's text without its marks.

    >>> without_marks(":math:`\\alpha`, see :class:`~ranksift.learning.lambdas.Swaps`: ``0``")
    'alpha, see lambdas.Swaps: 0'
    """
    without_roles = re.sub(r":\w+:`~?(?:ranksift\.learning\.)?([^`]+)`", r"\1", text)
    return without_roles.replace("``", "").replace("\\", "")


def parameter(default: Any, kind: Kind, meaning: str, **how: Any) -> Any:
    """Declare a parameter of a dataclass.

    Parameters
    ----------
    default
        Its value if none is given.
    kind
        What it may be.
    meaning
        What it means, in whole sentences.
    how
        As in :func:`dataclasses.field`.
    """
    return field(default=default, metadata={_DECLARED: Declared(kind, meaning)}, **how)


def with_default(parent: type, name: str, default: Any, **how: Any) -> Any:
    """Declare a parameter of a parent again, with another default."""
    spec, _ = declared(parent)[name]
    return parameter(default, spec.kind, spec.text, **how)


_FOUND: dict[type, dict[str, tuple[Declared, Any]]] = {}


def declared(cls: type) -> dict[str, tuple[Declared, Any]]:
    """The parameters of a class, those of its parents first, each with its default."""
    if cls not in _FOUND:
        found: dict[str, Field[Any]] = {}
        for parent in reversed(cls.__mro__):
            own = parent.__dict__.get("__dataclass_fields__") or parent.__dict__
            found |= {name: value for name, value in own.items() if isinstance(value, Field)}
        _FOUND[cls] = {n: (f.metadata[_DECLARED], f.default) for n, f in found.items() if _DECLARED in f.metadata}
    return _FOUND[cls]


def check(owner: Any) -> None:
    """Refuse parameters of an object that are not what they may be."""
    for name, (spec, default) in declared(type(owner)).items():
        spec.kind.check(name, getattr(owner, name), None if default is MISSING else default)


_SECTION = re.compile(r"^ *(Attributes|Examples|Notes|Returns|References)\n *-+$", re.MULTILINE)


def documented(cls: type) -> None:
    """Add the parameters to a class's docstring, as a section of numpydoc's, before its other sections.

    It is done for every class when it is imported, so it does no more than it must.
    """
    own, specs = cls.__dict__.get("__doc__"), declared(cls)
    if not own or not specs or "Parameters\n" in own:
        return
    lines = ["Parameters", "----------"]
    for name, (spec, default) in specs.items():
        usual = "optional" if default is None else f"default {default!r}"
        lines.append(f"{name} : {spec.kind.what.removesuffix(_OR_NONE)}, {usual}")
        lines += [f"    {line.strip()}" for line in spec.text.splitlines()]
    first = _SECTION.search(own)
    at = len(own) if first is None else first.start()
    section = "\n    ".join(lines)
    cls.__doc__ = f"{own[:at].rstrip()}\n\n    {section}\n\n{own[at:]}"


class Parameterised:
    """A dataclass whose fields are its parameters."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        documented(cls)

    def check_parameters(self) -> None:
        """Refuse parameters that are not what they should be, as a word instead of a number."""
        check(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; what was learned stays until the next fit."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}", remedy=f"it has: {', '.join(known) or 'none'}"
                )
            setattr(self, name, value)
        return self

    def clone(self) -> Self:
        """The same with nothing learned."""
        return type(self)(**self.get_params())

    def as_made(self) -> str:
        """The call that makes it, with those parameters only that are not the default."""
        usual = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        own = [f"{n}={v!r}" for n, v in self.get_params().items() if type(v) is not type(usual[n]) or v != usual[n]]
        return f"{type(self).__name__}({', '.join(own)})"


def keep_repr(cls: type) -> None:
    """Let a dataclass be shown as its base is: otherwise each would write a repr of all its parameters."""
    if "__repr__" not in cls.__dict__:
        cls.__repr__ = cls.__mro__[1].__repr__  # type: ignore[method-assign]


def takes(**kinds: Kind) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Say what the arguments of a function may be; others are refused when it is called.

    Examples
    --------
    >>> @takes(k=integer(least=1))
    ... def top(values, *, k=10):
    ...     return values[:k]
    >>> top([1, 2, 3], k=0)
    Traceback (most recent call last):
    ranksift.errors.InputError: k=0 is not a positive integer; write k=10, for example
    """

    def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
        options = inspect.signature(function).parameters
        defaults = {n: None if option.default is option.empty else option.default for n, option in options.items()}
        by_place = [n for n, option in options.items() if option.kind is option.POSITIONAL_OR_KEYWORD]

        @functools.wraps(function)
        def call(*args: _P.args, **named: _P.kwargs) -> _R:
            given = {**dict(zip(by_place, args, strict=False)), **named}
            for name in kinds:
                if name in given:
                    kinds[name].check(name, given[name], defaults[name])
            return function(*args, **named)

        return call

    return checked


def plain(value: Any) -> Any:
    """A value as JSON can hold it; an infinite number is a word that ``float`` reads.

    >>> plain({"t": np.float64("-inf"), "w": np.array([1.0, 2.0])})
    {'t': '-inf', 'w': [1.0, 2.0]}
    """
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
