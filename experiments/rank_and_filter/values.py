"""Numbers of the page, as they are written."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.markdown import number, probability
from experiments.rank_and_filter.trials import Outcome

#: The settings by their names.
Outcomes = Mapping[str, Outcome]

ALPHA = 0.05


def title(outcome: Outcome) -> str:
    """The setting, at the beginning of a line."""
    return outcome.setting[0].upper() + outcome.setting[1:]


def with_deviation(outcome: Outcome, name: str) -> str:
    """A ranker's mean over seeds, and its deviation."""
    values = outcome.of(name)
    spread = f" ± {number(float(values.std(ddof=1)))}" if len(values) > 1 else ""
    return f"{number(float(values.mean()))}{spread}"


def of_each(found: Outcomes, name: str) -> str:
    """A ranker's mean in every setting."""
    return ", ".join(number(outcome.mean(name), 3) for outcome in found.values())


def p_is(p: float) -> str:
    """A p value behind its letter."""
    text = probability(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
