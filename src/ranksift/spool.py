"""A temporary file for what does not fit into memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.errors import InputError


class Place(NamedTuple):
    """Where an array lies in the file, and of what kind it is."""

    start: int
    kind: np.dtype[Any]
    shape: tuple[int, ...]


class Spool:
    """Arrays in a temporary file without a name, so that the system removes it however the process ends.

    It lies in the folder that ``TMPDIR`` names.

    Examples
    --------
    >>> with Spool() as spool:
    ...     places = spool.write([np.array([3, 1]), np.zeros(0)])
    ...     [spool.read(place).tolist() for place in places]
    [[3, 1], []]
    """

    def __init__(self) -> None:
        try:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (it is closed on leaving)
        except OSError as error:
            raise _unwritable(error) from None
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    @property
    def size(self) -> int:
        """Bytes that were written."""
        return self._end

    def fileno(self) -> int:
        """The number by which the system knows the file."""
        return self._file.fileno()

    def clear(self) -> None:
        """Forget all that was written."""
        self._file.truncate(0)
        self._end = 0

    def append(self, data: Any) -> int:
        """Write bytes behind what is there; return where they begin."""
        start, view = self._end, memoryview(data).cast("B")
        try:
            self._file.seek(start)
            while len(view):
                view = view[self._file.write(view) :]
        except OSError as error:
            raise _unwritable(error) from None
        self._end = self._file.tell()
        return start

    def write(self, arrays: Sequence[NDArray[Any]]) -> list[Place]:
        """Write arrays; return where they are found."""
        places = []
        for array in arrays:
            flat = np.ascontiguousarray(array)
            places.append(Place(self.append(flat.view(np.uint8)) if flat.size else 0, flat.dtype, flat.shape))
        return places

    def read(self, place: Place) -> NDArray[Any]:
        """An array that was written."""
        array = np.empty(place.shape, dtype=place.kind)
        if array.size:
            view, got = memoryview(array).cast("B"), 0
            self._file.seek(place.start)
            while got < len(view):
                got += self._file.readinto(view[got:])
        return array


def _unwritable(error: OSError) -> InputError:
    """The error for a temporary folder that takes no more."""
    reason = error.strerror or str(error)
    folder = tempfile.gettempdir() if os.path.isdir(tempfile.gettempdir()) else "the temporary folder"
    return InputError(
        f"cannot be written ({reason})", source=folder, remedy="make room, or name another folder with TMPDIR"
    )
