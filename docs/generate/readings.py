"""Which choices of ``readings.md`` concern which measure: the headings of that page say so."""

import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "readings.md"

_HEADING = re.compile(r"^#+ (?P<title>.+?) \{ #(?P<anchor>[\w-]+) measures=\"(?P<measures>[^\"]+)\" \}$", re.M)


class Reading(NamedTuple):
    """A choice that was made where a paper leaves one."""

    title: str
    anchor: str
    measures: tuple[str, ...]


def readings() -> list[Reading]:
    """All of them, in the order of the page."""
    page = PAGE.read_text(encoding="utf-8")
    return [Reading(m["title"], m["anchor"], tuple(m["measures"].split())) for m in _HEADING.finditer(page)]


def links() -> dict[str, str]:
    """For each measure links to those that concern it."""
    found: dict[str, list[str]] = {}
    for reading in readings():
        for measure in reading.measures:
            found.setdefault(measure, []).append(f"[{reading.title}](readings.md#{reading.anchor})")
    return {measure: "; ".join(of_it) for measure, of_it in found.items()}


def without_measures(markdown: str) -> str:
    """The page as readers see it: the lists of measures in the headings are for this module."""
    return _HEADING.sub(lambda m: m[0].replace(f' measures="{m["measures"]}"', ""), markdown)
