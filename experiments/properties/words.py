"""Tables of the page, and measures that have some properties at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from experiments.markdown import table
from ranksift.measures.measure import CATALOGUE
from ranksift.measures.names import parse_measure
from ranksift.study.properties import MOFFAT, PROPERTIES, SCALES
from ranksift.study.wording import joined

#: Moffat's own; the others are about gains.
SEVEN = tuple(name for name in PROPERTIES if name not in ("scale", "shift"))
THREE = ("boundedness", "convergence", "top-weightedness")
#: Which contradict each other, as the page shows.
IMPOSSIBLE = ("boundedness", "monotonicity", "convergence", "localization", "realizability")
#: Measures that are normalised at every depth.
NORMALISED = ("nDCG@10", "nDCG_org@10", "nDCG_min@10", "nDCG_f@10")
FAMILIES = {
    "cumulative": "Cumulative gain",
    "filtering": "Filtering",
    "truncation": "Truncated lists",
    "bounds": "Between random and perfect",
    "topk": "An ordered top k",
    "classic": "Classic",
}

#: How far each property of each measure holds.
Holds = Mapping[str, Mapping[str, str | None]]


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    holds: Holds = r["holds"]
    shown = [[named(m), p, text] for m, examples in r["counterexamples"].items() for p, text in examples.items()]
    return {
        "title": MOFFAT.partition(": ")[2].removesuffix(", 2013"),
        "names": names,
        "changes": changes,
        "with_all": having(holds, SEVEN),
        "with_impossible": having(holds, IMPOSSIBLE, "binary"),
        "with_three": having(holds, THREE),
        "and_realizable": having(holds, (*THREE, "realizability")),
        "graded": having(holds, (*THREE, "realizability"), "graded"),
        "with_shift": having(holds, ["shift"]),
        "normalised": sorted({str(holds[m]["monotonicity"]) for m in NORMALISED}),
        "properties_table": table(["property", "holds where"], PROPERTIES.items(), words=2),
        "tables": [_family(holds, family, title) for family, title in FAMILIES.items()],
        "examples_table": table(["measure", "property", "counterexample"], shown, words=3),
    }


def having(holds: Holds, wanted: Iterable[str], least: str = "yes") -> list[str]:
    """Measures that have some properties, on these labels or more."""
    levels, names = ["no", *SCALES], list(wanted)
    return [
        measure
        for measure, found in holds.items()
        if all(levels.index(found[name] or "no") >= levels.index(least) for name in names)
    ]


def named(measure: str) -> str:
    """A measure as it is written on the page."""
    return f"`{measure.replace('@10', '@k')}`"


def names(measures: Iterable[str]) -> str:
    """Some of them."""
    return joined([named(measure) for measure in measures], most=20)


def changes(differing: Iterable[tuple[str, str]]) -> str:
    """What differs with another number of documents."""
    changed = [f"{name} of {named(measure)}" for measure, name in differing]
    return f"what differs is {joined(changed, most=9)}" if changed else "nothing in the table differs"


def _family(holds: Holds, family: str, title: str) -> str:
    rows = [[named(m), *(holds[m][name] or "–" for name in PROPERTIES)] for m in of_family(holds, family)]
    return table([title, *PROPERTIES], rows, words=1 + len(PROPERTIES))


def of_family(holds: Holds, family: str) -> list[str]:
    """Measures of a family; one row where whole list and top k have the same words."""
    rows = []
    for measure, found in holds.items():
        parsed = parse_measure(measure)
        if CATALOGUE[type(parsed).__name__].family != family:
            continue
        deep = str(parsed @ 10) if parsed.takes("k") and parsed.k is None else ""
        if not deep or holds.get(deep) != found:
            rows.append(measure)
    return rows
