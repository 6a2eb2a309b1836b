"""Every property of every measure, searched in all lists of a few documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ranksift.study.properties import PROPERTIES, Properties, properties

#: What is tried beside the five documents of the page.
OTHERS = (4, 6)
#: Of which all counterexamples are shown.
SHOWN = ("nDCG@10", "nDCG_org@10", "nDCG_min@10", "nDCG_f@10", "Q")


def measure(data: Path) -> dict[str, Any]:
    """What the page shows; it needs no data."""
    found = properties()
    return {
        "documents": found.documents,
        "lists": found.lists,
        "holds": {m: {name: found.holds(m, name) for name in PROPERTIES} for m in found.found},
        "counterexamples": {
            m: {name: str(example) for name in PROPERTIES if (example := found.counterexample(m, name))} for m in SHOWN
        },
        "others": [changed(found, properties(documents=documents)) for documents in OTHERS],
    }


def changed(found: Properties, other: Properties) -> dict[str, Any]:
    """What another number of documents would change in the table."""
    differing = [[m, name] for m in found.found for name in PROPERTIES if found.holds(m, name) != other.holds(m, name)]
    return {"documents": other.documents, "lists": other.lists, "differing": differing}
