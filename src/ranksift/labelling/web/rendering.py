"""Templates, and how numbers and times read on pages."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("ranksift.labelling.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(duration=duration, day=day, count=count)
    made.globals["person"] = None
    made.globals["token"] = ""
    made.globals["here"] = ""
    return made


def render(template: str, **values: Any) -> str:
    """The text of a page; everything that is put in is escaped."""
    return _templates().get_template(template).render(**values)


def duration(seconds: float | None) -> str:
    """How long something takes, in words.

    >>> duration(7.26), duration(75), duration(5400), duration(None)
    ('7.3 s', '1 min 15 s', '1 h 30 min', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes and hours < 100 else f"{hours:,} h"


def day(moment: datetime | None) -> str:
    """A day as people write it.

    >>> day(datetime(2026, 3, 5))
    'Thu 5 March 2026'
    """
    return "–" if moment is None else f"{moment:%a} {moment.day} {moment:%B %Y}"


def count(number: float, one: str = "", many: str = "") -> str:
    """A number with its noun.

    >>> count(1, "judgment"), count(1234.4, "judgment"), count(2, "query", "queries")
    ('1 judgment', '1,234 judgments', '2 queries')
    """
    text = f"{round(number):,}"
    return text if not one else f"{text} {one if round(number) == 1 else many or one + 's'}"
