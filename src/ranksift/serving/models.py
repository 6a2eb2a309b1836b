"""The models of a service by name, each in the version that is there now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ranksift.errors import InputError
from ranksift.serving.served import Served, load_served, version_of
from ranksift.serving.settings import Settings
from ranksift.web.problems import Problem

# Seconds between attempts to load a version that is not whole yet: the first, and the longest.
_SOON, _LATE = 1.0, 60.0


@dataclass
class _Place:
    """Where a model is, and what is served of it."""

    path: Path
    served: Served
    failures: int = 0
    again: float = 0.0
    complaint: str = ""


@dataclass(frozen=True)
class News:
    """What came of looking for a new version: the model, or what is wrong with it."""

    name: str
    served: Served | None = None
    complaint: str = ""


class Models:
    """Models by name. Requests hold on to the version that they began with.

    Parameters
    ----------
    settings
        The models to serve, and how to serve them.
    watch
        Called for each batch: the model's name, its requests and tokens, and the tokens that wait.
    """

    def __init__(self, settings: Settings, watch: Callable[[str, int, int, int], None] | None = None) -> None:
        self._settings, self._watch = settings, watch
        self._users: dict[int, int] = {}
        self._places: dict[str, _Place] = {}
        for name, path in settings.models:
            if name in self._places:
                what = f"two models are called {name!r}"
                raise InputError(what, remedy=f"give one of them another name: OTHER={path}")
            self._places[name] = _Place(path, self._load(name, path))

    def __iter__(self) -> Iterator[Served]:
        return iter([place.served for place in self._places.values()])

    def find(self, name: str | None, kind: type[Any], noun: str) -> Any:
        """The model that a request names, or the only one of its kind."""
        fitting = [one for one in self if isinstance(one, kind)]
        if name is None:
            if len(fitting) == 1:
                return fitting[0]
            if not fitting:
                raise Problem(422, f"No {noun} is served here; available: {self._known()}.")
            names = ", ".join(repr(one.name) for one in fitting)
            raise Problem(422, f"Several are served here: set model to one of {names}.")
        place = self._places.get(name)
        if place is None:
            raise Problem(404, f"No model is called {name[:80]!r}; available: {self._known()}.")
        if not isinstance(place.served, kind):
            raise Problem(422, f"{name!r} is not a {noun}; available: {self._known()}.")
        return place.served

    def _known(self) -> str:
        kinds = {True: "a cutoff, for /v1/filter", False: "a ranker, for /v1/rerank"}
        return ", ".join(f"{one.name!r} ({kinds[not hasattr(one, 'ranker')]})" for one in self)

    @contextmanager
    def using(self, served: Served) -> Iterator[None]:
        """Keep a version open while a request is answered with it. Called in the event loop only, as :meth:`take`."""
        self._users[id(served)] = self._users.get(id(served), 0) + 1
        try:
            yield
        finally:
            self._users[id(served)] -= 1
            if not self._users[id(served)]:
                del self._users[id(served)]
                if all(served is not one for one in self):
                    served.close()

    # -- new versions ----------------------------------------------------------------------------------------------

    def look(self) -> list[News]:
        """Load what has changed, where it is whole; what is served stays. It takes a while: any thread may do it."""
        found = []
        for name, place in self._places.items():
            if time.monotonic() < place.again:
                continue
            try:
                version = version_of(place.path)
                if version == place.served.version:
                    place.failures, place.complaint = 0, ""
                    continue
                fresh = self._load(name, place.path)
                place.failures, place.complaint = 0, ""
                found.append(News(name, fresh))
            except Exception as error:  # any error: the other models keep running
                place.failures += 1
                place.again = time.monotonic() + min(_LATE, _SOON * 2 ** min(10, place.failures - 1))
                complaint = str(error) if isinstance(error, InputError) else f"{place.path}: {error!r}"
                if place.complaint != complaint:
                    place.complaint = complaint
                    found.append(News(name, complaint=complaint))
        return found

    def take(self, fresh: Served) -> None:
        """Serve a new version from now on; requests in flight finish with the old one, which is closed behind them."""
        place = self._places[fresh.name]
        old, place.served = place.served, fresh
        if id(old) not in self._users:
            old.close()

    def close(self) -> None:
        """Answer what waits, and stop."""
        for one in self:
            one.close()

    def _load(self, name: str, path: Path) -> Served:
        settings = self._settings
        watch = None if self._watch is None else partial(self._watch, name)
        for _ in range(3):
            version = version_of(path)
            made = load_served(
                name,
                path,
                version,
                **({"batch_tokens": settings.batch_tokens, "queue_tokens": settings.queue_tokens, "watch": watch}
                   if path.is_dir() else {}),
            )  # fmt: skip
            if version_of(path) == version:
                return made
            made.close()  # another one was saved in the meantime
        raise InputError("keeps changing", source=str(path), remedy="save it once")


def named_models(words: list[str]) -> tuple[tuple[str, Path], ...]:
    """Models as a command names them: ``PATH``, or ``NAME=PATH``.

    >>> [name for name, _ in named_models(["models/forum", "safe=cutoff.json", "cutoff.json"])]
    ['forum', 'safe', 'cutoff']
    """
    found = []
    for word in words:
        name, equals, path = word.partition("=")
        if not equals or not name or Path(word).exists():
            name, path = "", word
        place = Path(path)
        found.append((name or (place.resolve().stem if place.suffix == ".json" else place.resolve().name), place))
    return tuple(found)
