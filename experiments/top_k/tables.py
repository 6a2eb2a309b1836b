"""Tables of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import ranksift as rs
from experiments.markdown import number, probability, table
from experiments.top_k import printed
from experiments.top_k.fits import CURVES, MEASURES, TESTED, Learned
from experiments.top_k.methods import FAMILIES
from experiments.top_k.truths import GRADED, K


def head(learned: Learned) -> list[str]:
    """Names of the measures, as the paper has them."""
    return [named(learned, measure) for measure in MEASURES]


def named(learned: Learned, measure: str) -> str:
    """A measure as the paper writes it: on grades it has no κ."""
    kappa = "" if learned.truth is GRADED else "κ-"
    return measure.replace("kNDCG", f"{kappa}N").replace("kERR", f"{kappa}ERR")


def means(learned: Learned, method: str) -> list[str]:
    """A row of numbers."""
    return [number(learned.mean(method, measure)) for measure in MEASURES]


def results(learned: Learned) -> str:
    """All methods by all measures, with letters of those that are significantly worse."""
    compared = rs.compare(learned.scores)
    highest = {m: max(number(learned.mean(method, m)) for method in learned.found) for m in MEASURES}
    rows = []
    for method in learned.found:
        cells = []
        for measure, cell in zip(MEASURES, means(learned, method), strict=True):
            beaten = "".join(compared.letters[other] for other in compared.better_than(method, measure))
            best = f"**{cell}**" if cell == highest[measure] else cell
            cells.append(f"{best} {beaten}".strip())
        rows.append([compared.letters[method], method, *cells])
    return table(["", learned.collection.name, *head(learned)], rows, words=2)


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


def differences(some: Sequence[Learned]) -> str:
    """Focused methods less their parents."""
    rows = []
    tested = {learned.collection.name: {m: learned.differences(m) for m in TESTED} for learned in some}
    for name, by in tested.items():
        for one, two in zip(by[TESTED[0]], by[TESTED[1]], strict=True):
            cells = []
            for found in (one, two):
                ends = f"{number(found.low, sign=True)} to {number(found.high, sign=True)}"
                cells += [f"{number(found.value, sign=True)} ({ends})", probability(found.p)]
            rows.append([name, one.focused, one.parent, *cells])
    ten, err = head(some[0])[-2:]
    return table(["", "method", "less", ten, "p", err, "p"], rows, words=3)


def printed_wins(found: Mapping[str, Sequence[float]]) -> tuple[int, int]:
    """In how many printed cells a Focused method is above both of its parents, and of how many."""
    values = np.array([[found[method] for method in (family.focused, *family.parents)] for family in FAMILIES])
    above = values[:, 0] > values[:, 1:].max(axis=1)
    return int(above.sum()), above.size


def over_beta(some: Sequence[Learned]) -> str:
    """What β does: the ends, the best and the worst of the curve, and what tuning chose."""
    rows = []
    for learned in some:
        for family in FAMILIES:
            curve = learned.curves[family.focused]
            for measure in CURVES:
                values = curve.aggregate()[:, curve.column(measure)]
                top = int(values.argmax())
                rows.append(
                    [
                        learned.collection.name,
                        family.focused,
                        named(learned, measure),
                        *(number(float(v)) for v in (values[0], values[-1], values.min(), values[top])),
                        f"{learned.truth.betas[top]:g}",
                        number(100 * float(np.ptp(values) / values.mean()), 1),
                        number(learned.mean(family.focused, measure)),
                        ", ".join(f"{beta:g}" for beta in learned.betas(family.focused)),
                    ]
                )
    columns = ["β = 0", "β = 1", "lowest", "highest", "at β", "range, %", "tuned", "β of the folds"]
    return table(["", "method", "measure", *columns], rows, words=3)
