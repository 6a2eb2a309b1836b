"""The losses of Carmel et al.'s Table 7, tuned and not, as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from experiments.cutoffs.losses import BASELINES, HOW, LOSSES, MEASURES
from experiments.cutoffs.printed import TABLE_7
from experiments.markdown import number, percent, table
from ranksift.study.agreement import correlation
from ranksift.study.systems import levels

ALPHA = 0.05
TUNED = HOW[1]


def order(rows: Mapping[str, Any]) -> list[str]:
    """Losses by nDCG_f, best first."""
    return sorted(LOSSES, key=lambda name: -rows[name][0])


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Kendall's τ of two orders of the losses."""
    return correlation(*(levels(np.array([rows[name][0] for name in LOSSES])) for rows in (one, other))).tau


def beaten_baselines(found: Mapping[str, Any], how: str) -> dict[str, list[str]]:
    """Of each loss the baselines that it is significantly above."""
    pairs = [(loss, name) for loss in LOSSES for name in BASELINES]
    tests = zip(pairs, found["beside baselines"][how], strict=True)
    above = [pair for pair, (mean, p) in tests if mean > 0 and p <= ALPHA]
    return {loss: [name for other, name in above if other == loss] for loss in LOSSES}


def beaten_losses(found: Mapping[str, Any], how: str) -> list[tuple[str, str]]:
    """Pairs of losses of which the first is significantly above the second."""
    tests = zip(combinations(LOSSES, 2), found["beside each other"][how], strict=True)
    return [(a, b) if mean > 0 else (b, a) for (a, b), (mean, p) in tests if p <= ALPHA]


def words(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the page says of the losses."""
    given, tuned = (found["rows"][how] for how in HOW)
    chosen, changed = found["chosen"], dict(zip(LOSSES, found["changes"], strict=True))
    baselines = beaten_baselines(found, TUNED)
    return {
        "given": given,
        "tuned": tuned,
        "orders": {how: order(rows) for how, rows in found["rows"].items()},
        "taus": [alike(*pair) for pair in ((given, tuned), (given, TABLE_7), (tuned, TABLE_7))],
        "gains": [tuned[name][0] - given[name][0] for name in LOSSES],
        "on_validation": [chosen[name]["values"][1] - chosen[name]["values"][0] for name in LOSSES],
        "gaining": [name for name, (mean, p) in changed.items() if p <= ALPHA and mean > 0],
        "losing": [name for name, (mean, p) in changed.items() if p <= ALPHA and mean < 0],
        "beaten_baselines": baselines,
        "above_all": [name for name in LOSSES if len(baselines[name]) == len(BASELINES)],
        "beaten": {how: beaten_losses(found, how) for how in HOW},
        "only_over_lambdarank": {b for _, b in beaten_losses(found, TUNED)} == {"LambdaRank"},
        "others": [name for name in LOSSES if name != "LambdaRank"],
        "losses": list(LOSSES),
        "baselines": list(BASELINES),
        "losses_table": _table(tuned),
        "changes": changed,
        "gamma": {name: _gamma(chosen[name]["params"]) for name in LOSSES},
    }


def _table(rows: Mapping[str, Any]) -> str:
    highest = (0, 1, 2)
    best = [(max if i in highest else min)(rows[name][i] for name in LOSSES) for i in range(len(MEASURES))]
    lines = []
    for name in (*BASELINES, *order(rows)):
        cells = [number(v) if i in highest else percent(v) for i, v in enumerate(rows[name])]
        if name in LOSSES:
            cells = [f"**{c}**" if v == b else c for c, v, b in zip(cells, rows[name], best, strict=True)]
        lines.append([name, *cells])
    head = ["tuned", "nDCG_f@3", "nDCG_0@3", "nDCG_min@3", "F-docs", "good filtered", "empty", "over", "under"]
    return table(head, lines)


def _gamma(chosen: Mapping[str, Any]) -> str:
    loss = str(chosen.get("loss", ""))
    return loss.partition("gamma=")[2].rstrip(")") or "1" if loss else ""
