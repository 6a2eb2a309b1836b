"""Tables and phrases of the page, and what its claims rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from experiments.bounds import printed
from experiments.bounds.differences import STUDIED, kinds
from experiments.bounds.readings import KS, PRINTED, READINGS, Reading
from experiments.bounds.trials import DRAWN, SETS, SHORT, SIZE
from experiments.learned_rankers.fits import SEED
from experiments.learned_rankers.measure import FEWER, SHOWN
from experiments.learned_rankers.methods import METHODS, SCALES
from experiments.learning import BELOW_ALL
from experiments.markdown import number, table, word

One = Mapping[str, Any]


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    collections: Sequence[One] = r["collections"]
    lower, higher = turns(collections)
    uninformative, ideal = (disagreeing(collections, kind) for kind in SETS[1:])
    paired = more(collections, "all", "paired")
    return {
        "best": best,
        "at_ten": at_ten,
        "close": close,
        "printed_at_ten": [row[1] for row in printed.NDCG.values()],
        "settings": settings(),
        "spaces": spaces(),
        "leads": "LambdaMART" in map(best, collections),
        "taus": {kind: taus(collections, kind) for kind in SETS},
        "lower": lower,
        "higher": higher,
        "disagreeing": {kind: disagreeing(collections, kind) for kind in SETS},
        "more_there": sum(a > b for a, b in zip(uninformative, ideal, strict=True)),
        "fewer_there": sum(a < b for a, b in zip(uninformative, ideal, strict=True)),
        "more": paired,
        "mean_more": sum(paired) / len(paired),
        "more_on_poor": more(collections, "uninformative", "paired"),
        "unpaired": [
            tests["unpaired"] for reading in every_reading(collections) for tests in reading["significant"]["all"]
        ],
        "grown": [
            pad["shifted"] / pad["measure"]
            for reading in every_reading(collections)
            for pad in [reading["differences"]["all"]]
        ],
        "rises": all(
            pad["v2"] > pad["measure"]
            for reading in every_reading(collections)
            for pad in [reading["differences"]["all"]]
        ),
        "swaps": [reading["swaps"][2] - reading["swaps"][0] for reading in every_reading(collections)],
        "across": [rate for of_kind in r["across collections"].values() for rate in of_kind["all"]],
        "scores_tables": scores_tables,
        "orders_table": orders(collections),
        "significant_table": _of_tests(collections, "significant", 0, printed.SIGNIFICANT),
        "conflicts_table": _of_tests(collections, "conflicts", 1, printed.CONFLICTS),
        "percentages_table": percentages(collections),
        "swaps_table": swaps(collections, r["across collections"]),
        "drawn": DRAWN,
        "size": SIZE,
        "fewer": FEWER,
        "methods": len(METHODS),
        "below_all": BELOW_ALL,
        "seed": SEED,
    }


# -- what sentences are about ------------------------------------------------------------------------------------------


def best(one: One) -> str:
    """The learner with the highest nDCG, over all k."""
    return max(METHODS, key=lambda method: sum(one["scores"]["nDCG"][method]["means"]))


def at_ten(one: One) -> list[float]:
    """All learners by nDCG@10."""
    return [found["means"][KS.index(10)] for found in one["scores"]["nDCG"].values()]


def close(collections: Sequence[One]) -> bool:
    """Whether few pairs of learners can be told apart: at most one of eight."""
    differ, of = (sum(one["apart"][name] for one in collections) for name in ("differ", "of"))
    return 8 * differ <= of


def settings() -> dict[str, str]:
    """How many settings were tried of which methods."""
    counts: dict[int, list[str]] = {}
    for name, method in METHODS.items():
        counts.setdefault(method.settings, []).append(name)
    most, *others = sorted(counts, reverse=True)
    return {
        "most": word(most),
        "of": _listed(counts[most]),
        "fewer": ", ".join(f"{word(count)} of {_listed(counts[count])}" for count in others),
        "scaled": _listed([name for name, method in METHODS.items() if method.space is SCALES]),
    }


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def spaces() -> str:
    """All that was tried."""
    return "; ".join(
        f"{name} ({method.settings}): {' × '.join(f'{p} {_choices(tried)}' for p, tried in method.space.items())}"
        for name, method in METHODS.items()
    )


def _choices(tried: Sequence[object]) -> str:
    return ", ".join(str(one[0] if isinstance(one, tuple) else one) for one in tried)


def every_reading(collections: Sequence[One]) -> Iterator[One]:
    """What every reading makes of every collection."""
    for one in collections:
        yield from one["readings"].values()


def taus(collections: Sequence[One], kind: str) -> list[float]:
    """τ of a measure with its V1 and V2, by every reading and collection."""
    return [tau for reading in every_reading(collections) for tau in reading["tau"][kind]]


def turns(collections: Sequence[One]) -> tuple[int, int]:
    """In how many cases τ is lower, and in how many higher, on uninformative than on ideal queries."""
    pairs = zip(taus(collections, "uninformative"), taus(collections, "ideal"), strict=True)
    change = [uninformative - ideal for uninformative, ideal in pairs]
    return sum(one < -1e-8 for one in change), sum(one > 1e-8 for one in change)


def more(collections: Sequence[One], kind: str, tests: str) -> list[int]:
    """Of 140 tests, how many more are significant by V2 than by the measure itself."""
    found = [reading["significant"][kind] for reading in every_reading(collections)]
    return [versions[2][tests] - versions[0][tests] for versions in found]


def disagreeing(collections: Sequence[One], kind: str) -> list[int]:
    """Of 140 paired tests, those on which a measure and its V2 disagree."""
    return [reading["conflicts"][kind][-1]["paired"] for reading in every_reading(collections)]


# -- tables ------------------------------------------------------------------------------------------------------------


def scores_tables(one: One) -> str:
    """All learners by all measures of the paper's tables, beside what it prints of the same collection."""
    beside = one["name"] == "MQ2007"
    found = []
    for name, by_method in one["scores"].items():
        reading, version = SHOWN[name]
        paper = printed.SCORES[reading.tables][version]
        rows = []
        for method, own in by_method.items():
            cells = [own["letter"], method, *row(by_method, method)]
            if beside:
                cells += [number(value, 3) for value in paper[METHODS[method].printed]]
            rows.append(cells)
        head = ["", name, *(f"@{k}" for k in KS), *([f"paper @{k}" for k in KS] if beside else [])]
        found.append(table(head, rows, words=2))
    return "\n\n".join(found)


def row(by_method: Mapping[str, One], method: str) -> list[str]:
    """A learner's mean at every k, in bold where it is the highest, with letters of those that it beats."""
    cells = []
    for i, (value, worse) in enumerate(zip(by_method[method]["means"], by_method[method]["worse"], strict=True)):
        own = number(value, 3)
        best = own == number(max(found["means"][i] for found in by_method.values()), 3)
        cells.append(f"{f'**{own}**' if best else own} {worse}".strip())
    return cells


def rows_of(
    collections: Sequence[One],
    cell: Callable[[One, str, int], str],
    versions: Sequence[int],
    paper: Callable[[Reading, int], list[str]],
) -> list[list[str]]:
    """A row for each reading and version, with cells for the sets of each collection and of the paper."""
    return [
        [
            reading.name,
            reading.called(version),
            *(cell(one["readings"][reading.name], kind, i) for one in collections for kind in SETS),
            *paper(reading, i),
        ]
        for reading in READINGS
        for i, version in enumerate(versions)
    ]


def head(collections: Sequence[One], first: str = "") -> list[str]:
    """Of such a table."""
    names = [*(one["name"] for one in collections), "paper"]
    return ["reading", first, *(f"{name}: {kind}" for name in names for kind in SHORT)]


def orders(collections: Sequence[One]) -> str:
    """Kendall's τ between a measure and its V1 or V2."""
    rows = rows_of(
        collections,
        lambda reading, kind, i: number(reading["tau"][kind][i], 3),
        (1, 2),
        lambda reading, i: printed.beside(reading, printed.TAU, i, lambda value: number(value, 3)),
    )
    return table(head(collections), rows, words=2)


def _of_tests(collections: Sequence[One], name: str, first: int, values: Mapping[str, Any]) -> str:
    """How many of all tests, paired / unpaired, from a version on (0: the measure itself), beside what is printed."""
    rows = rows_of(
        collections,
        lambda reading, kind, i: "{paired} / {unpaired}".format(**reading[name][kind][i]),
        range(first, 3),
        lambda reading, i: printed.beside(reading, values, i, "{:g}".format),
    )
    return table(head(collections, *["measure"] * (first == 0)), rows, words=2)


def percentages(collections: Sequence[One]) -> str:
    """PAD of the measure, of the measure less a constant, of V1 and V2, on all and on ideal queries."""
    rows = []
    for reading in READINGS:
        found = [one["readings"][reading.name]["differences"][kind] for one in collections for kind in STUDIED]
        for name, field, version in kinds(reading):
            paper = ["", "", ""]
            if version is not None:
                paper = printed.beside(reading, printed.PAD, version, lambda value: number(value, 2))
            rows.append([reading.name, name, *(number(pad[field], 2) for pad in found), paper[0], paper[2]])
    names = [*(one["name"] for one in collections), "paper"]
    return table(["reading", "measure", *(f"{name}: {kind}" for name in names for kind in STUDIED)], rows, words=2)


def swaps(collections: Sequence[One], across: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Both kinds of swap rates."""
    rows = [
        [
            reading.name,
            reading.called(i),
            *(number(one["readings"][reading.name]["swaps"][i], 3) for one in collections),
            number(printed.ACROSS_SETS[reading.tables][i], 3) if reading in PRINTED else "",
            *(number(across[reading.name][kind][i], 3) for kind in SETS),
            *printed.beside(reading, printed.ACROSS_COLLECTIONS, i, lambda value: number(value, 3)),
        ]
        for reading in READINGS
        for i in range(3)
    ]
    heads = [*(f"sets of {one['name']}" for one in collections), "paper", *(f"collections: {kind}" for kind in SHORT)]
    return table(["reading", "measure", *heads, *(f"paper: {kind}" for kind in SHORT)], rows, words=2)
