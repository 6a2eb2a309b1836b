"""What RankSift says when input cannot be trusted: one line that names the place and the remedy."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from unicodedata import category

#: The zero-width non-joiner and joiner: letters beside them look different, and they take no room.
JOINERS = "\u200c\u200d"
_LATIN = "\u02ff"  # the last of its letters but for rare ones


class InputError(ValueError):
    """Bad input or usage: the message is one line that can be shown to the person who gave the input.

    Attributes
    ----------
    line
        The line of the file, if it is known.

    Examples
    --------
    >>> str(InputError("no relevant label", source="qrels.txt", line=3, remedy="add one"))
    'qrels.txt:3: no relevant label; add one'
    """

    def __init__(self, what: str, *, source: str | None = None, line: int | None = None, remedy: str = "") -> None:
        place = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        message = f"{place}{what}; {remedy}" if remedy else f"{place}{what}"
        super().__init__(on_one_line(shortened(message)))
        self.line = line


def on_one_line(text: str) -> str:
    r"""Text in which nothing acts: line breaks, terminal commands, and marks that turn the direction of writing.

    Ids and names come from outside. What cannot be printed is shown as Python writes it; letters of all scripts stay,
    and so do the joiners between them, with which Persian and Indian words are written.

    >>> print(on_one_line("two\nlines, safe\u202etxt.exe"))
    two\nlines, safe\u202etxt.exe
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or _joins(text, i) else ascii(c)[1:-1] for i, c in enumerate(text))


def _joins(text: str, place: int) -> bool:
    """Whether a zero-width joiner or non-joiner shapes the letters around it; between Latin ones it would only hide."""
    around = text[max(place - 1, 0) : place] + text[place + 1 : place + 2]
    return text[place] in JOINERS and len(around) == 2 and all(c > _LATIN and category(c)[0] in "LM" for c in around)


def missing_library(asker: str, library: str, extra: str) -> InputError:
    """The error where a library is not installed: the extra that brings it, for those who have a checkout too.

    >>> print(missing_library("tuning needs", "Optuna", "trees"))
    tuning needs Optuna; pip install 'ranksift[trees]', or in a checkout: pip install '.[trees]'
    """
    remedy = f"pip install 'ranksift[{extra}]', or in a checkout: pip install '.[{extra}]'"
    return InputError(f"{asker} {library}", remedy=remedy)


# Longer than the longest list of names in a remedy; anything longer quotes a user's input.
_LONGEST = 1200


def shortened(message: str) -> str:
    """A message without the middle of what it quotes, so that the place and the remedy can be seen."""
    if len(message) <= _LONGEST:
        return message
    return f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 2 :]}"


class RankSiftWarning(UserWarning):
    """Something that a user should know, but that does not stop the work."""


def tell(notes: Iterable[str]) -> None:
    """Warn of each note, at the line that called RankSift, however deep inside it the note comes from.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     tell(["half of the documents have no label"])
    >>> [str(one.message) for one in heard]
    ['half of the documents have no label']
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    for note in notes:
        warnings.warn(note, RankSiftWarning, stacklevel=level)


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn of a spelling that works until 1.0.

    ``stacklevel`` says whose line is shown, as in :func:`warnings.warn`: 3 is the caller of the function that calls
    this one.
    """
    warnings.warn(f"{old} is an old spelling; write {new}", RankSiftWarning, stacklevel=stacklevel)
