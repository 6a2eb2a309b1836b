"""The study itself: five assessors, two tools, the paper's assignment twice, into a project and out of it again."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from ranksift.labelling import agreement as ag
from ranksift.labelling.agreement import Agreement
from ranksift.labelling.cost import Cost, costs
from ranksift.labelling.exports import Contents, Labelled, labelled
from ranksift.labelling.records import Entry, Project, Tool
from ranksift.labelling.store import Store
from ranksift.labelling.study import ASSESSORS, Assessor, Perception, rehearse, set_up, work_through
from ranksift.labelling.web import application
from ranksift.labelling.web.desk import shown as sides

K = 10
SEED = 0
#: Further draws of all errors, to see what chance does.
DRAWS = 20
#: Shares of documents up to each bound of the grades.
UP_TO_GRADE = (0.45, 0.65, 0.86, 0.95)
TOOLS: tuple[Tool, ...] = ("pairs", "grades")

Utilities = Mapping[str, Mapping[str, float]]


def perception(utilities: Utilities) -> Perception:
    """How the assessors see: set by hand, so that agreement with both tools comes out roughly as printed."""
    every = np.array([value for own in utilities.values() for value in own.values()])
    slip = 0.1
    return Perception(
        taste=0.03,
        slip_of_pairs=slip,
        slip_of_grades=slip / 2**0.5,
        indifference=0.07,
        severity=0.05,
        bounds=tuple(float(bound) for bound in np.quantile(every, UP_TO_GRADE)),
    )


@dataclass(frozen=True, eq=False)
class Measured:
    """What the log of a study says."""

    cost: dict[str, Cost]
    pairs: Agreement
    following: Agreement
    inferred: Agreement
    grades: Agreement
    repeats: ag.Repeats
    all_pairs: ag.Difference
    untied: ag.Difference

    @classmethod
    def of(cls, log: list[Entry], samples: int = 1000) -> Measured:
        """Measure agreement and cost."""
        pairs = ag.agreement_among(ag.pairwise(log), samples=samples)
        inferred = ag.agreement_among(ag.from_grades(log), samples=samples)
        return cls(
            {one.tool: one for one in costs(log, samples=samples)},
            pairs,
            ag.agreement_among(ag.pairwise(log, inferred=True), samples=samples),
            inferred,
            ag.agreement_among(ag.grades(log), range(5), samples=samples),
            ag.repeats(log),
            ag.difference(pairs, inferred, samples=samples),
            ag.difference(pairs, inferred, ties=False, samples=samples),
        )

    def told(self) -> dict[str, Any]:
        """All that the page says of it."""
        kinds = ("pairs", "following", "inferred", "grades")
        return {
            "cost": {tool: _cost(one) for tool, one in self.cost.items()},
            "agreement": {kind: _agreement(getattr(self, kind)) for kind in kinds},
            "repeats": self.repeats._asdict(),
            "differences": {kind: _difference(getattr(self, kind)) for kind in ("all_pairs", "untied")},
        }

    def levels(self) -> dict[str, Any]:
        """What is said of a study that is only rehearsed."""
        cost, agreement = _cost(self.cost["pairs"]), {"pairs": self.pairs, "inferred": self.inferred}
        return {
            **{name: cost[name]["value"] for name in ("seconds", "median_seconds", "minutes", "per_query")},
            "ties": ties(self.pairs),
            **{tool: {"overall": one.overall.value, "untied": one.untied.value} for tool, one in agreement.items()},
            "difference": self.all_pairs.difference.value,
        }


def ties(one: Agreement) -> float:
    """Of the pairs that two assessors judged, the share that are ties to the first of them."""
    return float(one.counts[1].sum() / one.counts.sum())


def _cost(one: Cost) -> dict[str, Any]:
    estimates = ("seconds", "median_seconds", "minutes", "per_query")
    return {"judgments": one.judgments, **{name: getattr(one, name).to_dict() for name in estimates}}


def _agreement(one: Agreement) -> dict[str, Any]:
    estimates = ("overall", "untied", "kappa", "fleiss", "alpha_ordinal")
    return {
        "units": one.units,
        "counts": one.counts,
        "matrix": one.matrix(),
        **{name: getattr(one, name).to_dict() for name in estimates},
    }


def _difference(one: ag.Difference) -> dict[str, Any]:
    return {**one.difference.to_dict(), "chi_square": one.chi_square, "p": one.p}


@dataclass(frozen=True, eq=False)
class Study:
    """The study, and the labels of its first and of its second assignment."""

    measured: Measured
    labels: dict[Tool, Labelled]
    second: dict[Tool, Labelled]
    judgments: int


def study(utilities: Utilities) -> Study:
    """Carry it out in a project of its own, through its JSON API."""
    seen = perception(utilities)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "study"
        with Store.create(place, Project("The paper's user study", k=K, strategy="heap")) as store:
            tasks, tokens = set_up(store, utilities, seed=SEED)
            client, judgments = TestClient(application(store)), 0
            for task in tasks:
                client.headers["authorization"] = f"Bearer {tokens[task.person]}"
                judgments += work_through(client, task.key, Assessor(task.person, utilities, seen, SEED))
            contents = Contents.of(store)
    first, second = ({tool: _labels(contents, tool, purpose) for tool in TOOLS} for purpose in ("label", "overlap"))
    return Study(Measured.of(list(contents.entries)), first, second, judgments)


def _labels(contents: Contents, tool: Tool, purpose: str) -> Labelled:
    """What the assessors of one of the two assignments found."""
    own = replace(contents, tasks=tuple(task for task in contents.tasks if task.purpose == purpose))
    return labelled(own, tool=tool)


def again(utilities: Utilities, seed: int, strategy: str = "heap", indifference: float | None = None) -> Measured:
    """The study once more with other errors, another strategy or other ties, without a store."""
    seen = perception(utilities)
    if indifference is not None:
        seen = replace(seen, indifference=indifference)
    assessors = [Assessor(i + 1, utilities, seen, seed) for i in range(ASSESSORS)]
    return Measured.of(rehearse(utilities, assessors, chosen=strategy, k=K, sides=sides, seed=seed), samples=0)
