"""Tables of the page, and what its claims rest on where that takes more than a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.bounds import chance, measure, printed, stable
from experiments.bounds.consistency import SIZE as FEWER
from experiments.bounds.differences import STUDIED, kinds
from experiments.bounds.origins import DRAWS, ROWS
from experiments.bounds.readings import DCG_EXACT, KS, MSP_EXACT, MSP_PAPER, PRINTED, READINGS, WRITTEN, Reading
from experiments.bounds.trials import DRAWN, SETS, SHORT, SIZE
from experiments.markdown import between, number, percent, table

#: What was found by each reading.
ByReading = Mapping[str, Mapping[str, Any]]


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    return {
        "printed": printed,
        "draws": DRAWS,
        "drawn": DRAWN,
        "of_each": SIZE,
        "fewer": FEWER,
        "random": chance.RANDOM,
        "high": stable.PHI,
        "k": stable.K,
        "points": points,
        "maps": printed.learners(printed.MAP)[:, -1].tolist(),
        "as_printed": in_range(r["listnet"]["rows"], PRINTED),
        "as_written": in_range(r["listnet"]["rows"], WRITTEN),
        **_chance(r["chance"]),
        **_tests(r),
        **_differences(r["differences"]),
        **_swaps(r),
        **_soundness(r["soundness"]),
        "tables": _tables(r),
    }


def points(shares: Iterable[float]) -> str:
    """A range of differences between percentages."""
    return f"{between([100 * share for share in shares], 1, sign=True)} points"


def in_range(rows: ByReading, readings: Sequence[Reading]) -> tuple[int, int]:
    """How many printed values of V1, V2 and MAP lie in the range of some readings, and of how many."""
    chosen = [
        _inside(rows[name][reading.name], tables, i)
        for tables, i, name, of in ROWS
        for reading, _ in of
        if reading in readings and (i, reading) != (0, DCG_EXACT)
    ]
    return sum(chosen), len(KS) * len(chosen)


def _inside(row: Mapping[str, Sequence[float]], tables: str, i: int) -> int:
    """At how many k the printed value is one that a sample could have given."""
    values = printed.SCORES[tables][i][printed.LISTNET]
    return sum(low <= value <= high for low, value, high in zip(row["low"], values, row["high"], strict=True))


def _chance(found: Mapping[str, Any]) -> dict[str, Any]:
    """How far random rankings are from what each reading takes for them."""
    expected, simulated, exact = found["expected"], found["simulated"], (DCG_EXACT.name, MSP_EXACT.name)
    return {
        "off": max(abs(a - b) for name in exact for a, b in zip(expected[name], simulated[name], strict=True)),
        "too_small": all(
            a < b - 0.005 for a, b in zip(expected[MSP_PAPER.name], simulated[MSP_PAPER.name], strict=True)
        ),
        "v2": found["V2"],
        "of_random": [value for name in exact for value in found["V2"][name]],
    }


def _tests(r: Mapping[str, Any]) -> dict[str, Any]:
    """Orders, significant pairs and conflicts: how they change with V1 and V2, and where."""
    tau, conflicts, counts = r["tau"]["drawn"], r["conflicts"], r["counts"].values()

    def gains(kind: str, version: int, how: str) -> list[float]:
        """By what share of all pairs V1 or V2 tells more apart than the measure, by every reading."""
        found = [of[kind][how] for some in r["significant"].values() for of in some.values()]
        return [of[version] - of[0] for of in found]

    return {
        "changed_most": all(
            one < other for of in tau.values() for one, other in zip(of["uninformative"], of["ideal"], strict=True)
        ),
        "tau_v2": {kind: [of[kind][1] for of in tau.values()] for kind in SETS},
        "never_the_same": all(value < 1 for of in tau.values() for values in of.values() for value in values),
        "conflict_most": all(
            one > other
            for of in conflicts.values()
            for one, other in zip(of["uninformative"]["paired"], of["ideal"]["paired"], strict=True)
        ),
        "conflicts_v2": [100 * of["uninformative"]["paired"][1] for of in conflicts.values()],
        "conflicts_printed": [100 * of[1][1] / printed.TESTED for of in printed.CONFLICTS.values()],
        "missed": max(abs(n["printed"] - n["unpaired"]) for n in counts),
        "missed_paired": min(n["paired"] - n["printed"] for n in counts),
        "paired": {kind: gains(kind, 2, "paired") for kind in SETS},
        "unpaired": {kind: gains(kind, 2, "unpaired") for kind in SETS},
        "v1_change": max(abs(gain) for kind in SETS for gain in gains(kind, 1, "paired")),
    }


def _differences(found: ByReading) -> dict[str, Any]:
    """How PAD grows from a measure to V1 and V2, and when a constant is subtracted."""
    every = [pad for of in found.values() for pad in of.values()]
    return {
        "pad_systems": [pad["systems"] for pad in every],
        "grown": [pad["shifted"] / pad["measure"] for pad in every],
        "pad_rises": all(pad["measure"] < pad["v1"] < pad["v2"] for pad in every),
    }


def _swaps(r: Mapping[str, Any]) -> dict[str, Any]:
    """Swap rates between kinds of queries and between collections."""
    sets, collections, rates = r["across sets"], r["across collections"], r["by learning rate"]
    return {
        "v2_swaps_fewer": all(of["systems"][2] < of["systems"][0] for of in sets.values()),
        "v1_swaps_more": all(of["systems"][1] > of["systems"][0] for of in sets.values()),
        "swapped": [rate for of in collections.values() for rate in of["all"]],
        "swaps_change": [of[kind][2] - of[kind][0] for of in collections.values() for kind in SETS],
        "pairs_of_methods": r["methods"] * (r["methods"] - 1) // 2,
        "turned": min(rates["MQ2007"]) > 0 > max(rates["MQ2008"]),
    }


def _soundness(found: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]) -> dict[str, Any]:
    """V1 and V2 beside their measure."""
    every = [of[kind] for of in found.values() for kind in SETS]

    def needed(version: int) -> list[float]:
        """Queries that V1 or V2 needs, in percent of those that its measure needs."""
        return [100 * of["all"][version]["needed"] / of["all"][0]["needed"] for of in found.values()]

    def more_errors(kind: str) -> list[float]:
        """In percent of the decisions, with 100 queries."""
        return [100 * (of[kind][2]["errors"]["100"] - of[kind][0]["errors"]["100"]) for of in found.values()]

    return {
        "phi_is_higher": all(of[2]["phi"] > of[0]["phi"] for of in every),
        "rho2_change": max(abs(of[v]["rho2"] - of[0]["rho2"]) for of in every for v in (1, 2)),
        "needed_v1": needed(1),
        "needed_v2": needed(2),
        "more_errors": more_errors("all"),
        "fewer_errors": [-more for more in more_errors("ideal")],
    }


# -- tables --------------------------------------------------------------------------------------------------------


def _tables(r: Mapping[str, Any]) -> dict[str, str]:
    paper = [f"paper: {kind}" for kind in SHORT]
    tests = ["all queries", "printed", "from the means, unpaired", "from the means, paired"]
    by_kind = ["reading", "measure", *SETS]
    return {
        "systems": _systems(r["systems"]["groups"]),
        "listnet": _listnet(r["listnet"]["rows"]),
        "chance": _random(r["chance"]),
        "types": _types(r["types"], r["systems"]["queries"]),
        "tau": _tau(r["tau"], r["systems"]["queries"]),
        "counts": table(tests, [[name, *map(str, found.values())] for name, found in r["counts"].items()]),
        "significant": table([*by_kind, *paper], _beside(r["significant"]["drawn"], printed.SIGNIFICANT, 0), words=2),
        "significant, whole": table(by_kind, _shares(r["significant"]["whole"], 0), words=2),
        "groups": _groups(r["groups"]),
        "conflicts": table(["reading", "", *SETS, *paper], _beside(r["conflicts"], printed.CONFLICTS, 1), words=2),
        "differences": _pad(r["differences"]),
        "across sets": _across_sets(r["across sets"]),
        "across collections": _across_collections(r["across collections"]),
        "soundness": _sound(r["soundness"]),
    }


def _three(value: float) -> str:
    return number(value, 3)


def _percent(share: float) -> str:
    """Without its sign, so that wide tables fit."""
    return number(100 * share, 1)


def _of_140(count: float) -> str:
    return _percent(count / printed.TESTED)


def _systems(groups: ByReading) -> str:
    rows = [
        [name, str(of["number"]), number(of["documents"], 1), *(between(of[m]) for m in measure.PRESENTED)]
        for name, of in groups.items()
    ]
    return table(["systems", "number", "documents a query", *measure.PRESENTED], rows)


def _listnet(rows: ByReading) -> str:
    """What is printed for ListNet, and what its models have by each reading."""
    lines = []
    for tables, i, name, readings in ROWS:
        values = printed.SCORES[tables][i][printed.LISTNET]
        lines.append([name, "**printed**", *(f"**{value:.3f}**" for value in values), ""])
        for reading, said in readings:
            row = rows[name][reading.name]
            ends = zip(row["mean"], row["low"], row["high"], strict=True)
            cells = [f"{_three(mean)} ({_three(low)} to {_three(high)})" for mean, low, high in ends]
            lines.append(["", said, *cells, f"{_inside(row, tables, i)} of {len(KS)}"])
    return table(["ListNet on MQ2007", "reading", *(f"k = {k}" for k in KS), "printed in range"], lines, words=2)


def _random(found: Mapping[str, Any]) -> str:
    said = {"expected": "taken for random", "simulated": "random rankings", "V2": "their V2"}
    rows = [
        [reading.name, text, *map(_three, found[what][reading.name])]
        for reading in READINGS
        for what, text in said.items()
    ]
    return table(["reading", "", *(f"k = {k}" for k in KS)], rows, words=2)


def _types(found: Mapping[str, ByReading], queries: int) -> str:
    rows = []
    for count, some in zip((DRAWN, queries), found.values(), strict=True):
        for name, of in some.items():
            for kind in SETS[1:]:
                cells = [_three(of[kind][what]) for what in ("real", "random", "difference")]
                ends = [str(of["hard"]), str(of["easy"])] if kind == "uninformative" else ["", ""]
                rows.append([f"{count:,}", name, kind, *cells, percent(of[kind]["nothing relevant"], 0), *ends])
    head = ["queries", "reading", "set", "real", "random", "difference", "nothing relevant", "hard", "easy"]
    return table(head, rows, words=3)


def _tau(found: Mapping[str, ByReading], queries: int) -> str:
    rows = [
        [
            reading.name,
            reading.called(version),
            *(_three(some[reading.name][kind][version - 1]) for some in found.values() for kind in SETS),
            *printed.beside(reading, printed.TAU, version - 1, _three),
        ]
        for reading in READINGS
        for version in (1, 2)
    ]
    head = [f"{of}: {kind}" for of in (f"{DRAWN:,}", f"{queries:,}", "paper") for kind in SHORT]
    return table(["reading", "", *head], rows, words=2)


def _shares(found: ByReading, first: int) -> list[list[str]]:
    """Paired and unpaired, from the first version on that there is."""
    return [
        [
            reading.name,
            reading.called(first + i),
            *(" / ".join(_percent(values[i]) for values in found[reading.name][kind].values()) for kind in SETS),
        ]
        for reading in READINGS
        for i in range(3 - first)
    ]


def _beside(found: ByReading, values: Mapping[str, Sequence[Sequence[float]]], first: int) -> list[list[str]]:
    """The same, and what is printed, each of 140 tests."""
    beside = [printed.beside(reading, values, i, _of_140) for reading in READINGS for i in range(3 - first)]
    return [[*row, *cells] for row, cells in zip(_shares(found, first), beside, strict=True)]


def _groups(found: ByReading) -> str:
    rows = [
        [
            reading.name,
            reading.called(i),
            *(_percent(of[kind][i]) for of in found[reading.name].values() for kind in SETS),
        ]
        for reading in READINGS
        if reading.name in found
        for i in range(3)
    ]
    head = [f"{group}: {kind}" for group in ("models", "rankings") for kind in SHORT]
    return table(["reading", "measure", *head], rows, words=2)


def _pad(found: ByReading) -> str:
    rows = []
    for reading in READINGS:
        for name, field, version in kinds(reading):
            paper = ["", "", ""]
            if version is not None:
                paper = printed.beside(reading, printed.PAD, version, lambda value: number(value, 2))
            rows.append([reading.name, name, *(number(found[reading.name][of][field], 2) for of in STUDIED), *paper])
    return table(["reading", "measure", *STUDIED, *(f"paper: {kind}" for kind in SETS)], rows, words=2)


def _across_sets(found: ByReading) -> str:
    rows = [
        [
            reading.name,
            reading.called(i),
            *(_three(rates[i]) for rates in found[reading.name].values()),
            _three(printed.ACROSS_SETS[reading.tables][i]) if reading in PRINTED else "",
        ]
        for reading in READINGS
        for i in range(3)
    ]
    return table(["reading", "measure", "all systems", "models", "paper"], rows, words=2)


def _across_collections(found: ByReading) -> str:
    rows = [
        [
            reading.name,
            reading.called(i),
            *(_three(rates[i]) for rates in found[reading.name].values()),
            *printed.beside(reading, printed.ACROSS_COLLECTIONS, i, _three),
        ]
        for reading in READINGS
        for i in range(3)
    ]
    return table(["reading", "measure", *SETS, *(f"paper: {kind}" for kind in SETS)], rows, words=2)


def _sound(found: ByReading) -> str:
    rows = [
        [
            reading.name,
            kind,
            f"{reading.called(version)}{f'@{stable.K}' * (version == 0)}",
            *(percent(of["errors"][str(size)]) for size in stable.SIZES),
            f"{_three(of['phi'])} ({_three(of['interval'][0])} to {_three(of['interval'][1])})",
            _three(of["rho2"]),
            f"{of['needed']:,}",
        ]
        for reading in stable.SHOWN
        for kind in SETS
        for version, of in enumerate(found[reading.name][kind])
    ]
    head = [*(f"error, {size}" for size in stable.SIZES), "Φ", "Eρ²", f"queries for Φ = {stable.PHI}"]
    return table(["reading", "set", "measure", *head], rows, words=3)
