"""The study carried out, again with other errors, and the methods trained on what it gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments import labelling
from experiments.labelling_study import printed
from experiments.labelling_study.documents import by_query, documents
from experiments.labelling_study.fits import Labels, found_of_the_top, kappa_ndcg_of, trained, true_labels
from experiments.labelling_study.study import DRAWS, SEED, TOOLS, again, perception, study
from ranksift.labelling.exports import Labelled
from ranksift.labelling.records import Tool

#: Beside the paper's heap.
OTHERS = ("heap+memory", "tournament")
#: Of indifference, from hardly any tie to hardly anything else.
BOUNDS = (0.0, 0.07, 0.15, 0.3, 0.6, 1.0)


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page."""
    examples, values = documents(data)
    utilities = by_query(examples, values)
    found = study(utilities)
    first, second = labels(found.labels), labels(found.second)
    learned, other = (trained(examples, utilities, own["pairs"], own["grades"]) for own in (first, second))
    return {
        "eyes": asdict(perception(utilities)),
        "judgments": found.judgments,
        "study": found.measured.told(),
        **rehearsed(utilities),
        # What the heap asks on average without ties and errors.
        "without ties": labelling.EXPERIMENT.kept["plain"]["heap"]["mean"],
        "printed": implied(),
        "labels": against_the_truth(first, utilities),
        "graded": learned.graded.told(),
        "top k": learned.top_k.told(),
        "first": learned.told(),
        "second": other.told(),
    }


def labels(found: Mapping[Tool, Labelled]) -> dict[str, Labels]:
    """The labels of both tools."""
    return {tool: {query: dict(own) for query, own in one.labels.items()} for tool, one in found.items()}


def rehearsed(utilities: Labels) -> dict[str, Any]:
    """The study with other errors, other strategies and other ties."""
    return {
        "draws": [again(utilities, seed).levels() for seed in range(SEED + 1, SEED + 1 + DRAWS)],
        "strategies": {name: again(utilities, SEED, name).levels() for name in OTHERS},
        "ties": {f"{bound:g}": again(utilities, SEED, indifference=bound).levels() for bound in BOUNDS},
    }


def implied() -> dict[str, Any]:
    """What follows from the printed tables alone."""
    tools = {"T1": (printed.TABLE_2, *printed.PAIRS), "T2": (printed.TABLE_3, *printed.GRADES)}
    shares = {name: printed.shares(*given) for name, given in tools.items()}
    counts = {
        "every": printed.counts(printed.EVERY_PAIR),
        "ten thousand": printed.counts(10_000.0),
        "fitting": printed.fitting(),
    }
    return {
        "shares": shares,
        "both prefer": {name: printed.untied_share(given[0], shares[name]) for name, given in tools.items()},
        "counts": {name: one._asdict() for name, one in counts.items()},
    }


def against_the_truth(found: Mapping[str, Labels], utilities: Labels) -> dict[str, dict[str, float]]:
    """How much of the true top the labels of each tool have, and how good they are as a ranking."""
    truth = true_labels(utilities)
    return {
        tool: {
            "found": found_of_the_top(found[tool], utilities).mean(),
            "kndcg": kappa_ndcg_of(found[tool], truth),
        }
        for tool in TOOLS
    }
