"""Tables of what was learned, as :meth:`experiments.top_k.fits.Learned.told` tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.markdown import number, probability, table
from experiments.top_k import printed
from experiments.top_k.fits import CURVES, MEASURES, TESTED
from experiments.top_k.methods import FAMILIES, Family
from experiments.top_k.truths import GRADED, K

#: What was learned from one kind of labels of a collection.
Told = Mapping[str, Any]


def head(one: Told) -> list[str]:
    """Names of the measures, as the paper has them."""
    return [named(one, measure) for measure in MEASURES]


def named(one: Told, measure: str) -> str:
    """A measure as the paper writes it: on grades it has no κ."""
    kappa = "" if one["truth"] == GRADED.name else "κ-"
    return measure.replace("kNDCG", f"{kappa}N").replace("kERR", f"{kappa}ERR")


def results(one: Told) -> str:
    """All methods by all measures, with letters of those that are significantly worse."""
    highest = {m: max(number(means[m]) for means in one["means"].values()) for m in MEASURES}
    rows = []
    for method, means in one["means"].items():
        cells = []
        for measure in MEASURES:
            cell = number(means[measure])
            best = f"**{cell}**" if cell == highest[measure] else cell
            cells.append(f"{best} {one['worse'][method][measure]}".strip())
        rows.append([one["letters"][method], method, *cells])
    return table(["", one["collection"], *head(one)], rows, words=2)


def in_print(name: str) -> str:
    """What the paper has for a collection."""
    found = printed.TABLES[name]
    kappa = "κ-" if name.startswith("top-k") else ""
    columns = np.array(list(found.values()))
    rows = [
        [method, *(f"**{number(v)}**" if v == most else number(v) for v, most in zip(row, columns.max(0), strict=True))]
        for method, row in found.items()
    ]
    return table([f"paper: {name}", *(f"{kappa}N@{k}" for k in range(1, K + 1)), f"{kappa}ERR"], rows)


def differences(some: Sequence[Told]) -> str:
    """Focused methods less their parents."""
    rows = []
    for one in some:
        for both in zip(*(one["differences"][measure] for measure in TESTED), strict=True):
            cells = []
            for found in both:
                ends = f"{number(found['low'], sign=True)} to {number(found['high'], sign=True)}"
                cells += [f"{number(found['value'], sign=True)} ({ends})", probability(found["p"])]
            rows.append([one["collection"], both[0]["focused"], both[0]["parent"], *cells])
    ten, err = head(some[0])[-2:]
    return table(["", "method", "less", ten, "p", err, "p"], rows, words=3)


def printed_wins(found: Mapping[str, Sequence[float]]) -> tuple[int, int]:
    """In how many printed cells a Focused method is above both of its parents, and of how many."""
    values = np.array([[found[method] for method in (family.focused, *family.parents)] for family in FAMILIES])
    above = values[:, 0] > values[:, 1:].max(axis=1)
    return int(above.sum()), above.size


def better_parent(one: Told, family: Family, measure: str) -> float:
    """The higher mean of the two that a method is made of."""
    return max(one["means"][parent][measure] for parent in family.parents)


def curves(some: Sequence[Told]) -> Iterator[tuple[Told, Family, str, list[float]]]:
    """Test values over β: of what, of which method, by which measure."""
    for one in some:
        for family in FAMILIES:
            for measure in CURVES:
                yield one, family, measure, one["curves"][family.focused][measure]


def over_beta(some: Sequence[Told]) -> str:
    """What β does: the ends, the best and the worst of the curve, and what tuning chose."""
    rows = []
    for one, family, measure, values in curves(some):
        top = int(np.argmax(values))
        rows.append(
            [
                one["collection"],
                family.focused,
                named(one, measure),
                *map(number, (values[0], values[-1], min(values), values[top])),
                f"{one['tried'][top]:g}",
                number(100 * spread(values), 1),
                number(one["means"][family.focused][measure]),
                ", ".join(f"{beta:g}" for beta in one["betas"][family.focused]),
            ]
        )
    columns = ["β = 0", "β = 1", "lowest", "highest", "at β", "range, %", "tuned", "β of the folds"]
    return table(["", "method", "measure", *columns], rows, words=3)


def spread(values: Sequence[float]) -> float:
    """The range of a curve as a share of its mean."""
    return float(np.ptp(values) / np.mean(values))
