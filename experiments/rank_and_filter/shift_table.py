"""Section: what is left of a model where label shares shift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.markdown import number, percent, table
from experiments.rank_and_filter.rows import MEASURE, NOTHING
from experiments.rank_and_filter.shifts import BEST, HELD_OUT, LENGTH, LISTS, SHIFTS, SHOWN, TESTED


def shifts(measured: Mapping[str, Any]) -> str:
    """A line for each shift and number of validation queries."""
    lines = []
    for shift in SHIFTS:
        for held_out in HELD_OUT:
            found = measured[f"{shift:g}, {held_out}"]
            values = (number(found[name]) if name in found else "" for name in (NOTHING, *SHOWN, BEST))
            lines.append([percent(found["forbidden"], 0), f"{held_out}" if held_out else "none", *values])
    return f"""
## Where label shares shift

Made-up lists of {LENGTH}: {LISTS} to learn from, of which 54 % of the documents are forbidden; the {TESTED:,} of the
test, and those for validation, have other shares, as the log-odds of being forbidden are moved. With a validation set,
ours learn from the training lists alone, and calibrate and check their cut on it. Without one they cannot know of the
shift. {MEASURE}, means over seeds.

{table(["forbidden in use", "lists for validation", NOTHING, *SHOWN, BEST], lines)}

{_told(measured)}
"""


def _told(measured: Mapping[str, Any]) -> str:
    lost = {
        held_out: max(
            measured[f"{shift:g}, {held_out}"][BEST] - measured[f"{shift:g}, {held_out}"][name]
            for shift in SHIFTS
            for name in SHOWN[:2]
        )
        for held_out in HELD_OUT
    }
    few, many = HELD_OUT[1:]
    return (
        f"The most that ours lose to the known chances is {number(lost[0], 3)} without a validation set, "
        f"{number(lost[few], 3)} with {few} lists that look like those in use, and {number(lost[many], 3)} with "
        f"{many}. "
        "So where what is forbidden becomes rarer or more common after training, some judged queries of the new kind, "
        "given as the validation set, are worth having."
    )
