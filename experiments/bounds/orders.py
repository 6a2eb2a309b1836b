"""Do the normalised measures put systems into another order?"""

from __future__ import annotations

from experiments.bounds import printed
from experiments.bounds.queries import Trials
from experiments.bounds.readings import READINGS
from experiments.bounds.trials import SETS, SHORT, Trial
from experiments.markdown import between, number, says, table

VERSIONS = (1, 2)


def tau(trial: Trial, kind: str, version: int) -> float:
    """Kendall's τ between the orders by the measure and by V1 or V2."""
    reading = trial.reading
    return float(trial.agreement[kind].tau[reading.base, reading.measures[version]])


def change_more_on_uninformative(trials: Trials) -> bool:
    """Whether V1 and V2 change the order more on uninformative than on ideal queries, by every reading."""
    return all(tau(t, "uninformative", v) < tau(t, "ideal", v) for t in trials.values() for v in VERSIONS)


def orders(drawn: Trials, whole: Trials) -> str:
    """Section: τ."""
    rows = [
        [
            reading.name,
            reading.called(version),
            *(number(tau(trials[reading], kind, version), 3) for trials in (drawn, whole) for kind in SETS),
            *printed.beside(reading, printed.TAU, version - 1, lambda value: number(value, 3)),
        ]
        for reading in READINGS
        for version in VERSIONS
    ]
    head = [f"{queries}: {kind}" for queries in ("1,000", "1,692", "paper") for kind in SHORT]
    v2 = {kind: between([tau(trial, kind, 2) for trial in drawn.values()]) for kind in SETS}
    in_words = says(
        change_more_on_uninformative(drawn),
        "As in the paper, the normalised measures change the order, and they change it more on uninformative queries "
        f"than on ideal ones, by every reading: with {len(drawn[READINGS[0]].queries):,} queries V2's τ is "
        f"{v2['uninformative']} there and {v2['ideal']} on ideal ones.",
    )
    return f"""
## The order of systems

Kendall's τ between the order by a measure and that by its V1 or V2, both averaged over k, with 1,000 queries drawn and
with all 1,692:

{table(["reading", "", *head], rows, words=2)}

{in_words} Where the paper has a τ of 1 we do not, because among so many systems more pairs are close.
"""
