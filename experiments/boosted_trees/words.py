"""Tables of the page, and what its claims rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.boosted_trees import methods
from experiments.boosted_trees.fits import BEST, CAUTIOUS, GIVEN, MARGIN, MEASURE, MEASURES, TRIALS, WIDE, How
from experiments.boosted_trees.methods import (
    BAGGED,
    CONTEXT,
    LEAVES,
    METHODS,
    OURS,
    PEERS,
    RATES,
    SPACE,
)
from experiments.markdown import number, probability, table
from ranksift.learning.search_space import Space

ALPHA = 0.05
#: How the tables call a method as it is given, with its best parameters, with better ones only, and with its best ones
#: of a wider space.
CALLED: Mapping[How, str] = {
    GIVEN: "as given",
    BEST: "tuned",
    CAUTIOUS: "tuned, with a margin",
    WIDE: "tuned in the wide space",
}
#: What a LambdaMART is made of, step by step, and how the table calls it.
STEPS = {
    "lambdas": "own lambdas",
    "loss": "stopped by the loss",
    "draws": "rankings drawn",
    "together": "the three together",
    "context": "then context",
}

Results = Mapping[str, Any]


def words(r: Results) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    own = r["comparison"]
    rows = own["methods"]
    means = {name: {how: mean(row) for how, row in of.items()} for name, of in rows.items()}
    tuned = {name: of[BEST] for name, of in means.items() if BEST in of}
    gains = {name: gained(rows[name], BEST) for name in tuned}
    steps = r["defaults"].values()
    return {
        "methods": methods,
        "trials": TRIALS,
        "margin": MARGIN,
        "peers": PEERS,
        "called": CALLED,
        "listed": listed,
        "range": lambda ends: f"{ends[0]:g} to {ends[1]:g}",
        "given": METHODS[OURS].ranker.get_params(),
        "depth": METHODS[methods.CATBOOST].ranker.get_params()["depth"],
        "curvature": METHODS[methods.XGBOOST].ranker.get_params()["options"]["min_child_weight"],
        "space": Space.of(SPACE, METHODS[OURS].ranker),
        "instead": {name: _instead(name) for name in PEERS if METHODS[name].space != SPACE},
        "means": means,
        "verdicts": {ours: {how: verdict(own, ours, how) for how in rows[ours]} for ours in (OURS, BAGGED, CONTEXT)},
        "below_by_ap": {n: of for n in PEERS if round((of := own["ahead"][OURS][BEST]["AP"][n])["value"], 4) < 0},
        "with_context": [means[f"{name}, context"][GIVEN] - means[name][GIVEN] for name in PEERS],
        "widest": max((f"{name}, context" for name in PEERS), key=lambda name: means[name][GIVEN]),
        "best": max(tuned, key=lambda name: tuned[name]),
        "tuned": tuned,
        "deviations": [deviation(rows[name][BEST][MEASURE]) for name in tuned],
        "promised": [promised for promised, _ in gains.values()],
        "gains": [kept for _, kept in gains.values()],
        "sure": [name for name, (_, kept) in gains.items() if kept > 0 and own["p of tuning"][name] <= ALPHA],
        "methods_table": _methods(rows),
        "differences_table": _differences(own),
        "folds_apart": [max(rows[name][BEST]["folds"]) - min(rows[name][BEST]["folds"]) for name in tuned],
        "folds_table": _folds(own),
        "chosen_table": _chosen(own),
        "drawn": [of["all"][""][0] for of_methods in r["settings"].values() for of in of_methods.values()],
        "settings_table": _settings(r["settings"]),
        "left_out": _left_out(r["settings"]),
        "each_step_gains": all(of[step][0] > of[step][1] for of in steps for step in ("lambdas", "loss", "draws")),
        "together_they_gain": all(of["together"][0] > 2 * of["together"][1] for of in steps),
        "context_is_nothing": all(abs(of["context"][0]) < 2 * of["context"][1] for of in steps),
        "steps_table": table(
            ["collection", *STEPS.values()],
            [[name, *(_gain(of[step]) for step in STEPS)] for name, of in r["defaults"].items()],
        ),
        "seconds_table": table(["method", "seconds"], [[name, f"{taken:.2f}"] for name, taken in r["seconds"].items()]),
        "detectable": np.mean([(of["high"] - of["low"]) / 2 for of in _beside_peers(own, OURS, BEST).values()]),
    }


def mean(row: Results, measure: str = MEASURE) -> float:
    """Over seeds."""
    return float(np.mean(row[measure]))


def deviation(values: Sequence[float]) -> float:
    """Over seeds."""
    return float(np.std(values, ddof=1))


def gained(of: Mapping[str, Results], how: How) -> tuple[float, float]:
    """Tuned less as given: on the validation queries, by which parameters are chosen, and on the test queries."""
    return of[how]["validation"] - of[GIVEN]["validation"], mean(of[how]) - mean(of[GIVEN])


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def verdict(own: Results, ours: str, how: How) -> dict[str, dict[str, Results]]:
    """Libraries that one of ours is not below in the digits that are shown, that it is below, and that differ."""
    ahead = _beside_peers(own, ours, how)
    lost = {name: of for name, of in ahead.items() if round(of["value"], 4) < 0}
    return {
        "won": {name: of for name, of in ahead.items() if name not in lost},
        "lost": lost,
        "apart": {name: of for name, of in ahead.items() if of["p"] <= ALPHA},
    }


def _beside_peers(own: Results, ours: str, how: How) -> dict[str, Results]:
    return {name: own["ahead"][ours][how][MEASURE][name] for name in PEERS}


def wins(own: Results, other: str, how: How) -> int:
    """Seeds with which LambdaMART is not below another."""
    rows = own["methods"]
    return sum(one >= two for one, two in zip(rows[OURS][how][MEASURE], rows[other][how][MEASURE], strict=True))


# -- tables ----------------------------------------------------------------------------------------------------------


def _in_each_way(rows: Results) -> list[tuple[How, list[str]]]:
    """The methods that are there."""
    return [(how, [name for name, of in rows.items() if how in of]) for how in CALLED]


def _methods(rows: Results) -> str:
    lines = []
    for how, names in _in_each_way(rows):
        best = {measure: max(mean(rows[name][how], measure) for name in names) for measure in MEASURES}
        for name in names:
            row = rows[name][how]
            cells = []
            for measure in MEASURES:
                cell = f"{number(mean(row, measure))} ± {number(deviation(row[measure]))}"
                cells.append(f"**{cell}**" if mean(row, measure) == best[measure] else cell)
            middle, least, most = row["trees"]
            lines.append([name, CALLED[how], *cells, f"{middle:.0f} ({least} to {most})"])
    return table(["method", "", *MEASURES, "trees"], lines, words=2)


def _differences(own: Results) -> str:
    lines = [
        [
            name,
            CALLED[how],
            measure,
            number(of["value"], sign=True),
            f"{number(of['low'], sign=True)} to {number(of['high'], sign=True)}",
            probability(of["p"]),
            f"{wins(own, name, how)} of {own['seeds']}" if measure == MEASURE else "",
        ]
        for how in CALLED
        for measure in MEASURES
        for name, of in own["ahead"][OURS][how][measure].items()
    ]
    return table(["other", "", "measure", "difference", "95 % interval", "p", "not below"], lines, words=3)


def _folds(own: Results) -> str:
    rows = own["methods"]
    lines = [
        [name, CALLED[how], *map(number, rows[name][how]["folds"])]
        for how, names in _in_each_way(rows)
        for name in names
    ]
    return table(["method", "", *(f"fold {i + 1}" for i in range(own["folds"]))], lines, words=2)


def _chosen(own: Results) -> str:
    lines = []
    for name, parameters in own["chosen"].items():
        cells = [_middle_half(parameters, parameter) for parameter in SPACE]
        for how in (BEST, CAUTIOUS):
            of = own["methods"][name]
            gains = (number(gain, sign=True) for gain in gained(of, how))
            cells += [f"{of[how]['as given']} of {own['folds'] * own['seeds']}", *gains]
        lines.append([name, *cells])
    heads = [f"{head}{rule}" for rule in ("", ", margin") for head in ("as given", "gain, validation", "gain, test")]
    return table(["method", *SPACE, *heads], lines)


#: Parameters of libraries that stand for others, and what to call them.
_INSTEAD = {"leaves": ("depth", "depth "), "min_documents": ("options.min_child_weight", "curvature ")}


def _middle_half(parameters: Mapping[str, Sequence[float]], parameter: str) -> str:
    name, called = parameter, ""
    if parameter not in parameters and parameter in _INSTEAD:
        name, called = _INSTEAD[parameter]
    if name not in parameters:
        return ""
    low, high = parameters[name]
    return f"{called}{float(f'{low:.2g}'):g} to {float(f'{high:.2g}'):g}"


def _instead(name: str) -> str:
    own = {key: value for key, value in METHODS[name].space.items() if key not in SPACE}
    return str(Space.of(own, METHODS[name].ranker)).removeprefix("options.")


# -- settings of a wide space ----------------------------------------------------------------------------------------

#: How a table calls a parameter.
_SHORT = {"leaves": "leaves", "learning_rate": "rate", "all": "all"}


def _gain(gain: Sequence[float]) -> str:
    value, error = gain
    return f"{number(value, sign=True)} ± {number(error)}"


def _parts(settings: Results) -> list[tuple[str, str]]:
    """Parameters and quarters of their ranges."""
    return [(parameter, quarter) for parameter, of in settings["MQ2008"][OURS].items() for quarter in of]


def _settings(settings: Results) -> str:
    parts = _parts(settings)
    heads = ["collection", "method", *(f"{_SHORT[name]} {quarter}".rstrip() for name, quarter in parts)]
    lines = [
        [collection, method, *(_gain(of[name][quarter]) for name, quarter in parts)]
        for collection, of_methods in settings.items()
        for method, of in of_methods.items()
    ]
    return table(heads, lines, words=2)


def _left_out(settings: Results) -> list[str]:
    """For whom a part of the wide space that is not searched is shown to be worse, and for whom it is not."""
    ends = {"leaves": LEAVES, "learning_rate": RATES}
    told = []
    for name, quarter in _parts(settings):
        if name not in ends or float(quarter.partition(" to ")[2]) <= ends[name][1]:
            continue
        worse, lower, others = {}, {}, {}
        for collection, of_methods in settings.items():
            for method, of in of_methods.items():
                value, error = of[name][quarter]
                group = worse if value < -2 * error else lower if value < 0 else others
                group[f"{method} ({collection})"] = value
        said = {"worse by over two standard errors": worse, "worse by less": lower, "not worse": others}
        groups = "; ".join(f"{what} for {listed([*names])}" for what, names in said.items() if names)
        told.append(f"{quarter} {'leaves' if name == 'leaves' else 'as rate'}: {groups}.")
    return told
