"""Packages whose public names are imported when they are first used.

A package lists what it exports once, under ``if TYPE_CHECKING:``, where editors and type checkers find it. When a name
is asked for, the same list says where it lives, so that ``import ranksift`` imports nothing.

    from ranksift.collection.run import Run as Run    the name, from that module
    from ranksift import study as study               a package or module below this one
    from ranksift.measures import *                   all public names of that package
    nDCG_f: ranksift.measures.cumulative.nDCG_f       an instance, which the function ``make`` makes of its name
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def export(package: str, make: Callable[[str], Any] | None = None) -> None:
    """Let a package look up its public names by itself; the last line of its ``__init__.py``.

    What is not imported from anywhere, ``make`` makes of its name, or nothing.
    """
    module = sys.modules[package]
    module.__dict__["_make"] = make
    module.__class__ = LazyPackage


class LazyPackage(ModuleType):
    """A package that imports its exports when they are first used."""

    @property
    def _homes(self) -> dict[str, tuple[str, str]]:
        """The module of each public name, and what it is called there; no module for an instance."""
        if "_known_homes" not in self.__dict__:
            self.__dict__["_known_homes"] = _listed(self.__name__)
        known: dict[str, tuple[str, str]] = self.__dict__["_known_homes"]
        return known

    @property
    def __all__(self) -> list[str]:
        """The public names, in the order in which they are listed."""
        return [*self._homes]

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        # Functions of a user that name a package travel with it: to Ray, Spark and Dask, by cloudpickle.
        return import_module, (self.__name__,)

    def __getattr__(self, name: str) -> Any:
        make = self.__dict__["_make"]
        module, original = self._homes.get(name, ("", name))
        if module == self.__name__:
            value: Any = import_module(f"{module}.{original}")
        elif module:
            value = getattr(import_module(module), original)
        else:
            value = None if make is None or name.startswith("_") else make(name)
        if value is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing study/stability.py binds the module to study.stability, which is the function of that name.
        namesake = vars(value).get(name) if isinstance(value, ModuleType) else None
        if namesake is not None and self._homes.get(name) == (value.__name__, name):
            value = namesake
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        # Names for completion: the public ones, and not what the file itself imports.
        return sorted({*self.__all__, *(name for name in super().__dir__() if name.startswith("__"))})


def _listed(package: str) -> dict[str, tuple[str, str]]:
    """Read what a package lists under ``if TYPE_CHECKING:``, without importing it."""
    import ast  # which takes as long as all the rest, and is needed for Python's users only, not for the command

    homes: dict[str, tuple[str, str]] = {}
    for block in ast.parse(_source(package)).body:
        if not (isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"):
            continue
        for line in block.body:
            if isinstance(line, ast.ImportFrom) and line.module:
                for alias in line.names:
                    if alias.name == "*":
                        homes |= {name: (line.module, name) for name in _listed(line.module)}
                    else:
                        homes[alias.asname or alias.name] = line.module, alias.name
            elif isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                homes[line.target.id] = "", line.target.id
    return homes


def _source(package: str) -> str:
    """The text of a package's ``__init__.py``, also where that lies in a zip file: whatever loads it can read it."""
    from importlib.util import find_spec

    spec = find_spec(package)
    loader: Any = None if spec is None else spec.loader
    source = loader.get_source(package) if hasattr(loader, "get_source") else None
    if source is None:
        raise ImportError(f"{package} is here without its source, which says what it exports; ship its .py files, too")
    return str(source)
