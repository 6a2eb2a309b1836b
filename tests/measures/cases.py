"""Collections and measures to try: drawn by hypothesis, or by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from hypothesis import strategies as st

DEPTHS = [None, 1, 2, 3, 5, 12]
GAINS = [None, "linear", "exp", {-2: -10}, {0: 3}, {1: -1, 2: 0.5}]
BASES = [None, 2, 3.5]
NIL = [None, "NIL"]
QWA = {"limit": [None, 1, 3, 5], "nil": NIL, "scale": [None, "max"], "gains": GAINS}
RELEVANT = [None, 2, 0.5, -1]

EXPECTED = {"expected": [None, "exact", "paper"]}


def for_each(table: dict[str, dict[str, list[Any]]]) -> dict[str, dict[str, list[Any]]]:
    return {name: choices for names, choices in table.items() for name in names.split()}


#: Values of every parameter of every measure; None stands for a parameter that is not given.
PARAMETERS = for_each({
    "DCG nDCG_org nDCG_min nDCG_f": {"k": DEPTHS, "gains": GAINS, "base": BASES},
    "nDCG nDCG_0": {"k": DEPTHS, "gains": GAINS, "base": BASES, "nil": NIL},
    "Difficulty UBQ UBQ_over UBQ_under": {"k": DEPTHS, "gains": GAINS, "base": BASES},
    "Fdocs": {"k": DEPTHS, "gains": GAINS, "average": [None, "micro", "macro"]},
    "GoodFiltered": {"good": [None, "nonnegative", "positive"], "gains": GAINS},
    "RelevantFiltered": {"gains": GAINS},
    "Empty": {},
    "P AP RR": {"k": DEPTHS, "rel": RELEVANT, "nil": NIL},
    "R Success": {"k": DEPTHS, "rel": RELEVANT},
    "Rprec Bpref NumRel": {"rel": [None, 2, 0.5]},
    "GMAP infAP AP_11pt NumRelRet": {"rel": RELEVANT},
    "IPrec": {"recall": [None, 0, 0.1, 0.3, 1], "rel": RELEVANT},
    "SetF": {"beta": [None, 0.5, 2], "rel": RELEVANT},
    "NumRet": {},
    "Judged": {"k": DEPTHS},
    "RBP": {
        "p": [None, 0.5],
        "k": [None, 1, 3],
        "rel": [None, 2],
        "gains": GAINS,
        "over": [None, "query"],
        "residual": [None, True],
        "nil": NIL,
    },
    "ERR": {"k": DEPTHS, "max_grade": [None, 4, 5.5, "query"]},
    "Q": {"k": DEPTHS, "beta": [None, 0, 10], "gains": GAINS, "nil": NIL},
    "RR_qwa nDCG_qwa AP_qwa": QWA,
    "P_qwa": {"k": [1, 3, 10], **QWA},
    "RBP_qwa": {"p": [None, 0.8], **QWA},
    "c_at_1": {"nil": NIL, "gains": GAINS},
    "SP MSP": {"k": DEPTHS[1:]},
    "E_SP E_MSP": {"k": DEPTHS[1:], **EXPECTED},
    "E_DCG E_nDCG": {"k": DEPTHS[1:], "gains": GAINS, "base": BASES},
    "DCG_ul1 DCG_ul2": {"k": DEPTHS[1:], "gains": GAINS, "expected": ["exact", "paper"], "base": BASES},
    "MSP_ul1 MSP_ul2": {"k": DEPTHS[1:], **EXPECTED, "upper": [None, "k", "attainable"]},
    "kNDCG": {"k": DEPTHS},
    "kERR": {},
})  # fmt: skip

#: What UL1 and UL2 can be put around.
AROUND = for_each({
    "DCG nDCG": {"k": [None, 1, 3, 12], "gains": [None, "exp", {-2: -10}], "base": [None, 2]},
    "P AP RR": {"k": [None, 1, 3, 12], "rel": [None, 2], "nil": NIL},
    "R Success": {"k": [None, 1, 3, 12], "rel": [None, 2]},
    "RBP": {"p": [None, 0.5], "k": [None, 1, 3, 12], "rel": [None, 2]},
    "SP MSP": {"k": [1, 3, 12]},
    "ERR": {"k": [None, 1, 3, 12], "max_grade": [None, 4, "query"]},
    "kERR": {},
})  # fmt: skip


class Case(NamedTuple):
    """A measure with parameters; ``around`` is 1 or 2 where UL1 or UL2 is put around it."""

    name: str
    parameters: dict[str, Any]
    around: int | None = None

    def __str__(self) -> str:
        inside = [f"{name}={value!r}" for name, value in self.parameters.items() if name != "k"]
        k = self.parameters.get("k")
        measure = f"{self.name}{'(' * bool(inside)}{', '.join(inside)}{')' * bool(inside)}{f'@{k}' if k else ''}"
        return measure if self.around is None else f"UL{self.around}({measure})"


def given(names: Any, values: Any) -> dict[str, Any]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def every_case() -> Iterator[Case]:
    for name, choices in PARAMETERS.items():
        yield from (Case(name, given(choices, values)) for values in product(*choices.values()))
    for name, choices in AROUND.items():
        yield from (Case(name, given(choices, v), n) for n in (1, 2) for v in product(*choices.values()))


def drawn_cases(name: str) -> st.SearchStrategy[Case]:
    """Parameters for one measure; UL1 and UL2 around any."""
    if name in ("UL1", "UL2"):
        return st.sampled_from(sorted(AROUND)).flatmap(lambda inner: _draw(inner, AROUND[inner], int(name[2])))
    return _draw(name, PARAMETERS[name], None)


def _draw(name: str, choices: dict[str, list[Any]], around: int | None) -> st.SearchStrategy[Case]:
    values = st.tuples(*(st.sampled_from(choice) for choice in choices.values()))
    return values.map(lambda drawn: Case(name, given(choices, drawn), around))


@dataclass(frozen=True)
class Collection:
    """What ``evaluate`` is asked."""

    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    queries: list[str]
    how: dict[str, Any] = field(default_factory=dict)


LABELS = [[-2, -1, 0, 1, 2, 3], [0, 1], [-1.5, 0, 0.5, 1, 2.5], [1], [-2], [0], [-2, 0], [0, 1, 2, 3, 4]]
SCORES = [3, 2, 1, 0.5, -1.5, 1e-3]
DOCUMENTS = ["d1", "d10", "d2", "D3", "ä4", "文5", "a very long document id, longer than 32 bytes", "d8"]
UNJUDGED = ["NIL", "u1", "u2"]


@st.composite
def collections(draw: st.DrawFn, labels: list[list[float]] = LABELS) -> Collection:
    """Ties, empty lists, unjudged documents, queries of one side only, pools of one to five documents."""
    label = st.sampled_from(draw(st.sampled_from(labels)))
    judgments = st.dictionaries(st.sampled_from(DOCUMENTS), label, min_size=1, max_size=5)
    ranking = st.dictionaries(st.sampled_from(DOCUMENTS + UNJUDGED), st.sampled_from(SCORES), max_size=8)
    qrels = draw(st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), judgments, min_size=1))
    run = draw(st.dictionaries(st.sampled_from(["q1", "q2", "q4"]), ranking))
    queries = draw(st.permutations([*qrels, "q4", "q5"]))
    gains = draw(st.sampled_from([g for g in GAINS if g is not None]))
    how = {"gains": gains, "unjudged": draw(st.sampled_from(["zero", "drop"]))}
    return Collection(qrels, run, queries[: draw(st.integers(1, len(queries)))], how)


def seeded_collection(seed: int, pool: int = 5, length: int = 8, queries: int = 4) -> Collection:
    """Like the drawn ones, of any size; the seeds go round the kinds of labels."""
    rng = random.Random(seed)
    labels = LABELS[seed % len(LABELS)]
    documents = [f"d{i}" for i in range(2 * max(pool, length))]
    names = [f"q{i}" for i in range(queries)]
    qrels = {q: {d: rng.choice(labels) for d in rng.sample(documents, rng.randint(1, pool))} for q in names[1:]}
    run = {
        q: {d: rng.choice(SCORES) for d in rng.sample(documents[: length + pool] + UNJUDGED, rng.randint(0, length))}
        for q in rng.sample(names, queries - 1)
    }
    how = {"gains": rng.choice([g for g in GAINS if g is not None]), "unjudged": rng.choice(["zero", "drop"])}
    return Collection(qrels, run, names, how)
