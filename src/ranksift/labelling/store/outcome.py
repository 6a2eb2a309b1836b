"""The outcome of a judgment that is sent: saved, out of date, or not saved at the moment."""

from __future__ import annotations

from dataclasses import dataclass

from ranksift.errors import InputError


@dataclass(frozen=True, slots=True)
class Saved:
    """A judgment that has been saved to disk.

    Attributes
    ----------
    number
        Its place in the log of the task, from 1.
    repeated
        Whether it was already saved, because it was sent before.
    """

    number: int
    repeated: bool


class Moved(Exception):  # noqa: N818 - not an error: someone else was quicker
    """The log has grown since the client looked at it, so its judgment answers an old question; nothing was saved.

    Attributes
    ----------
    judgments
        How many entries the log has now.
    """

    def __init__(self, judgments: int) -> None:
        super().__init__(f"the log now has {judgments} entries; fetch the task again")
        self.judgments = judgments


class Unavailable(InputError):  # noqa: N818 - as above
    """The database cannot be reached, or cannot accept anything at the moment; trying again may help."""
