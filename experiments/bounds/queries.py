"""Uninformative and ideal queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.bounds.readings import Measured, Reading
from experiments.bounds.trials import SETS, Trial
from ranksift.study.query_types import QueryTypes

Trials = Mapping[Reading, Trial]


def without_relevant(measured: Measured) -> set[str]:
    """Queries that have no relevant document."""
    pool = measured.collection.qrels.pool_of(measured.scores.queries)
    none = pool.count(lambda label: label > 0) == 0
    return {query for query, empty in zip(measured.scores.queries, none.tolist(), strict=True) if empty}


def query_types(types: QueryTypes, empty: set[str]) -> dict[str, Any]:
    """The two sets by one reading, and whether the border of one runs through queries that are alike."""
    found: dict[str, Any] = {}
    for kind in SETS[1:]:
        at = [types.queries.index(query) for query in types.sets[kind]]
        found[kind] = {
            "real": types.real[at].mean(),
            "random": types.expected[at].mean(),
            "difference": types.difference[at].mean(),
            "nothing relevant": float(np.mean([query in empty for query in types.sets[kind]])),
        }
    worse = (types.difference < -1e-12).mean()
    return {**found, "hard": len(types.hard), "easy": len(types.easy), "worse": worse, "border": bool(types.notes)}


def every_query(types: QueryTypes) -> dict[str, Any]:
    """Each query's real and expected score, and the places of those of each kind."""
    of_kind = {kind: [types.queries.index(query) for query in types.sets[kind]] for kind in SETS[1:]}
    return {"real": types.real, "expected": types.expected, **of_kind}
