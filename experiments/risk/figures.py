"""The figures of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log10

from experiments.panels import Axis, Line, Panel, Point, panels
from experiments.risk.populations import Population
from experiments.risk.rules import BETTING, HB, MEAN, PLUG_IN, Rule, rules
from experiments.risk.trials import ALPHA, DELTA, SIZES, Outcome, Trials
from experiments.svg import SOFT
from ranksift.cutoffs.risk import RiskCutoff
from ranksift.report.figures import svg_of

LINES = {
    PLUG_IN: Line("#000000", "2 3", 1.6),
    MEAN: Line("#009e73", "7 3", 1.8),
    BETTING: Line("#0072b2", "", 2.2),
    HB: Line("#d55e00", "9 3 2 3", 1.6),
}
SETTING = f"α = {ALPHA:g}, δ = {DELTA:g}"
X = Axis(SIZES, "queries that the threshold is fitted on", lambda n: "1k" if n == 1000 else f"{n:g}", log10)


def _drawn(
    trials: Trials,
    populations: list[Population],
    value: Callable[[Outcome], float],
    level: Callable[[Population], float],
    named: Mapping[str, Line],
) -> list[list[Panel]]:
    """One panel a population, four in a row."""
    (name,) = set(named) - set(LINES)

    def curve(population: Population, rule: Rule) -> list[Point]:
        return [(float(n), value(trials[population.name, n][rule])) for n in SIZES]

    def panel(population: Population) -> Panel:
        flat = [(float(n), level(population)) for n in (SIZES[0], SIZES[-1])]
        curves = {rule.name: curve(population, rule) for rule in rules(ALPHA, (DELTA,))}
        return Panel(population.name, {name: flat, **curves})

    every = [panel(population) for population in populations]
    return [every[:4], every[4:]]


def broken(trials: Trials, populations: list[Population]) -> str:
    """How often the promise is broken."""
    lines = {**LINES, "δ, what is promised": Line(SOFT, "", 1)}
    return panels(
        f"Samples whose threshold lets the true risk exceed α, in percent ({SETTING})",
        "For eight kinds of scores, against the number of queries: the plug-in threshold breaks the promise in about "
        "half of the samples, the two bounds in fewer than δ of them.",
        _drawn(trials, populations, lambda o: 100 * o.share, lambda p: 100 * DELTA, lines),
        lines,
        X,
        Axis((0, 20, 40, 60, 80)),
        height=150,
    )


def price(trials: Trials, populations: list[Population]) -> str:
    """How many good documents are dropped."""
    lines = {**LINES, "if the true risk were known": Line(SOFT, "", 1)}
    return panels(
        f"Good documents dropped, in percent ({SETTING})",
        "For eight kinds of scores, against the number of queries: betting drops fewer than Hoeffding-Bentkus, and all "
        "come near to the least that is possible as queries become many.",
        _drawn(
            trials,
            populations,
            lambda o: 100 * float(o.dropped.mean()),
            lambda p: 100 * float(p.dropped(p.ideal(ALPHA))),
            lines,
        ),
        lines,
        X,
        Axis((0, 25, 50, 75, 100)),
        height=150,
    )


def answers(population: Population, alpha: float) -> str:
    """Risk and bound against the threshold, of real answers."""
    return svg_of(RiskCutoff(alpha, DELTA, population.k).fit_lists(population.lists).plot())
