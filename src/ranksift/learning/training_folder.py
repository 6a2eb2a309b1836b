"""A folder in which a training keeps its state and its log: a killed training resumes from it."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ranksift.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The columns of a log.
COLUMNS = ("epoch", "loss", "value", "learning_rate", "seconds")

#: The picture of all logs of a folder.
PICTURE = "log.svg"

# Files of a training, or of a part of one: log.csv, log.fold-1.csv; and what a killed process leaves of a file.
_NAMES = re.compile(r"(checkpoint|log)(?:\.[\w-]+)?\.(?:safetensors|csv)")
_UNFINISHED = re.compile(r"\.(.+)\.[0-9a-f-]+\.part")
_PART = re.compile(r"[\w-]+")


def _unseen(doing: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    return iter


def _untold(text: str) -> None:
    pass


@dataclass(frozen=True)
class TrainingFolder:
    """The folder in which training keeps its checkpoints and its log, and the callbacks that report progress.

    Rankers that train networks on texts take one: ``TextRanker().fit(data, checkpoints="model.training")``. The same
    call resumes an interrupted training, with the same result; a call with other data or parameters is refused. A model
    of several networks has a part for each, and finished parts are not trained again.

    Attributes
    ----------
    path
        The folder, which need not exist.
    parts
        The names of the part of a model to which this belongs, from outside to inside; none: the model itself.
    seconds
        How often a checkpoint is written, at least at the end of each epoch; 0: after each step.
    progress
        A function that takes a word for what is done, and returns a wrapper that shows the progress of a loop.
    note
        Called with what should be known before a long training begins.

    Examples
    --------
    >>> folder = TrainingFolder(Path("model.training"))
    >>> folder.checkpoint.name, folder.part("fold-2").part("texts").log.name
    ('checkpoint.safetensors', 'log.fold-2-texts.csv')
    """

    path: Path
    parts: tuple[str, ...] = ()
    seconds: float = 120.0
    progress: Callable[[str], Callable[[Iterable[Any]], Iterable[Any]]] = _unseen
    note: Callable[[str], None] = _untold
    _told: set[str] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def of(cls, given: Self | str | os.PathLike[str]) -> Self:
        """A training folder from its path, or the given one."""
        return given if isinstance(given, cls) else cls(Path(given))  # type: ignore[arg-type]

    def part(self, name: str) -> Self:
        """The place where one of several networks keeps its own state, in the same folder."""
        if not _PART.fullmatch(name):
            raise InputError(f"{name!r} is not the name of a part", remedy="use letters, digits and hyphens")
        return replace(self, parts=(*self.parts, name))

    @property
    def checkpoint(self) -> Path:
        """The file of the checkpoint."""
        return self._file("checkpoint", "safetensors")

    @property
    def log(self) -> Path:
        """The CSV file of the log: a row for each epoch."""
        return self._file("log", "csv")

    @property
    def picture(self) -> Path:
        """The file for the picture of all logs."""
        return self.path / PICTURE

    def _file(self, kind: str, suffix: str) -> Path:
        own = "-".join(self.parts)
        return self.path / (f"{kind}.{own}.{suffix}" if own else f"{kind}.{suffix}")

    def watched(self, doing: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
        """The wrapper for the loop of this part."""
        return self.progress(" ".join((doing, *self.parts)))

    def tell(self, subject: str, text: str) -> None:
        """Report a note, once per subject: folds of a model would report nearly the same."""
        if subject not in self._told:
            self._told.add(subject)
            self.note(text)

    def check(self) -> None:
        """Refuse a folder that holds files not written by training: other files are never overwritten."""
        try:
            names = {entry.name for entry in self.path.iterdir()} if os.path.lexists(self.path) else set()
        except OSError as error:
            what = f"cannot be used ({error.strerror or error})"
            raise InputError(what, source=str(self.path), remedy="name another folder") from None
        other = next((name for name in sorted(names) if not self._is_own(name, names)), None)
        if other is not None:
            what = f"holds {other!r}, which was not written by training"
            raise InputError(what, source=str(self.path), remedy="move it away, or name another folder")

    def _is_own(self, name: str, names: Collection[str]) -> bool:
        unfinished = _UNFINISHED.fullmatch(name)
        found = _NAMES.fullmatch(unfinished[1] if unfinished else name)
        if found is None:
            return (unfinished[1] if unfinished else name) == PICTURE and any(map(_NAMES.fullmatch, names))
        return bool(unfinished) or found[1] == "checkpoint" or _begins_as_a_log(self.path / name)

    def begin(self) -> None:
        """Remove the logs of an earlier training, which may have had other parts, unless there is a checkpoint."""
        self.check()
        if not self.parts and not self.begun():
            for place in (*self._all("log"), self.picture):
                _remove(place)

    def begun(self) -> bool:
        """Whether there is a checkpoint of any part to resume from."""
        return bool(self._all("checkpoint"))

    def remove_checkpoints(self) -> None:
        """Remove checkpoints of all parts, which a saved model does not need; logs stay."""
        for place in self._all("checkpoint"):
            _remove(place)

    def _all(self, kind: str) -> list[Path]:
        if not self.path.is_dir():
            return []
        found = ((place, _NAMES.fullmatch(place.name)) for place in sorted(self.path.iterdir()))
        return [place for place, name in found if name is not None and name[1] == kind]

    def logs(self) -> dict[str, TrainingLog]:
        """The logs of all parts, by their names."""
        return {place.name[4:-4] or "training": TrainingLog.read(place) for place in self._all("log")}

    def plot(self) -> Figure:
        """Loss and value of each part by epoch; matplotlib is in the extra ``report``."""
        from ranksift.plotting import drawing, legend, styles

        figure, axes = drawing("epoch", "training loss")
        beside = None
        for (name, log), style in zip(self.logs().items(), styles(), strict=False):
            axes.plot(log.epochs, log.losses, label=f"{name}: loss", **{**style, "linestyle": "-"})
            if log.values:
                if beside is None:
                    beside = axes.twinx()
                    beside.set_ylabel("value on the validation set")
                beside.plot(log.epochs, log.values, **{**style, "linestyle": ":"})
                axes.plot([], [], label=f"{name}: value", **{**style, "linestyle": ":"})
        legend(axes)
        return figure


@dataclass(frozen=True)
class TrainingLog:
    """How a training went, by the epoch.

    Attributes
    ----------
    epochs, losses
        Their numbers, from 1, and their training losses.
    values
        On the validation set, the higher the better; empty if there is none.
    rates, seconds
        The learning rate at the end of each, and seconds since training began or was resumed.
    """

    epochs: tuple[int, ...]
    losses: tuple[float, ...]
    values: tuple[float, ...]
    rates: tuple[float, ...]
    seconds: tuple[float, ...]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read the CSV file that training wrote."""
        try:
            with open(path, encoding="utf-8", newline="") as file:
                header, *rows = csv.reader(file)
            if tuple(header) != COLUMNS:
                raise ValueError("other columns")
            epochs, losses, values, rates, seconds = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
            return cls(
                tuple(map(int, epochs)),
                tuple(map(float, losses)),
                tuple(float(value) for value in values if value),
                tuple(map(float, rates)),
                tuple(map(float, seconds)),
            )
        except OSError as error:
            what = f"cannot be read ({error.strerror or error})"
            raise InputError(what, source=str(path), remedy="check the path") from None
        except ValueError:
            raise InputError("is not a training log", source=str(path), remedy="train again") from None


def _remove(place: Path) -> None:
    try:
        place.unlink(missing_ok=True)
    except OSError as error:
        what = f"cannot be removed ({error.strerror or error})"
        raise InputError(what, source=str(place), remedy="remove it, or name another folder") from None


def _begins_as_a_log(place: Path) -> bool:
    try:
        with place.open("rb") as file:
            return file.readline(200).strip() == ",".join(COLUMNS).encode()
    except OSError:
        return False
