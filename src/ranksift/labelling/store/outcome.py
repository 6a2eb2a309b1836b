"""What becomes of a judgment that is sent: saved, out of date, or not to be saved now."""

from __future__ import annotations

from dataclasses import dataclass

from ranksift.errors import InputError


@dataclass(frozen=True, slots=True)
class Saved:
    """A judgment that is on the disk.

    Attributes
    ----------
    number
        Its place in the log of the task, from 1.
    repeated
        Whether it was there already, because it was sent before.
    """

    number: int
    repeated: bool


class Moved(Exception):  # noqa: N818 - nothing went wrong: somebody was quicker
    """The log has grown since the client looked at it, so its judgment answers an old question; nothing was saved.

    Attributes
    ----------
    judgments
        How many entries the log has now.
    """

    def __init__(self, judgments: int) -> None:
        super().__init__(f"the log has {judgments} entries by now; fetch the task again")
        self.judgments = judgments


class Unavailable(InputError):  # noqa: N818 - as above
    """The database cannot be reached, or cannot take anything at present; trying again may help."""
