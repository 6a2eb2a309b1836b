"""Tables of the page, and lists of systems that its claims are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.markdown import best_bold, number, percent, probability, table
from experiments.truncation import measure, printed
from experiments.truncation.cuts import in_one_piece
from experiments.truncation.setting import MEASURES
from experiments.truncation.wikiqa import RANKERS

#: The cuts of CNN-Cnt that tables show; the figures show all of them.
SHOWN = ("all", "q50", "q80", "q90", "q94", "q98", "top 4", "top 2", "top 1", "NIL@4", "NIL@2", "NIL@1")


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    systems = r["systems"]
    own = {name.removeprefix("CNN-Cnt "): systems[name] for name in (*(f"CNN-Cnt {cut}" for cut in SHOWN), "nothing")}
    by_score = {name: system for name, system in systems.items() if system["family"] == "score"}
    return {
        "measures": MEASURES,
        "printed": printed,
        "papers_share": measure.PAPERS_SHARE,
        "unfound": measure.UNFOUND,
        "deals": measure.DEALS,
        "samples": measure.SAMPLES,
        "seed": measure.SEED,
        "by_score": by_score,
        "most_right": max(by_score, key=lambda name: by_score[name]["nil accuracy"]),
        "best_by_q": max(systems, key=lambda name: systems[name]["Q"]),
        **_holds(r),
        "excess": [s["modified"][m] - s["at random"][m] for s in by_score.values() for m in MEASURES],
        "silent": [m for m in MEASURES if r["best"]["rows"][f"{m}′"]["name"] == "nothing"],
        "follows": {m: _correlation(systems, m) for m in MEASURES},
        "lengths_table": _lengths(r["questions"]["lengths"]),
        "shapes_table": _shapes(own),
        "pairs_table": _pairs(own),
        "two_questions_table": _two_questions(own),
        "dealt_table": _dealt(r),
        "fifths_table": _fifths(r["fifths"]),
        "best_table": _best(r),
        "orders_table": _orders(r["orders"]),
        "first": _from_to(r["by share"]["first"]),
        "last": _from_to(r["by share"]["last"]),
    }


def _holds(r: Mapping[str, Any]) -> dict[str, bool]:
    """What claims rest on, by name, where it takes more than a comparison."""
    systems, rows = r["systems"], r["best"]["rows"]
    hedging = [system for system in systems.values() if system["family"] == "hedge"]
    silence = systems["nothing"]
    return {
        "hedges_win": all(name.endswith("NIL@1") for name in r["best"]["of all"].values()),
        "hedges_are_silence": all(systems[f"{ranker} NIL@1"]["modified"] == silence["modified"] for ranker in RANKERS),
        "hedging_loses": all(s["modified"][m] < s["original"][m] for s in hedging for m in ("RR", "nDCG", "AP")),
        "always_no_is_best": max(s["nil accuracy"] for s in systems.values()) == silence["nil accuracy"],
        "stopping_never_pays": all(
            max(systems, key=lambda name: systems[name]["answerable"][m]).endswith(" all") for m in MEASURES
        ),
        "whole_is_best": all(
            systems[f"{s['ranker']} all"]["plain"][m] >= s["plain"][m] - 1e-9
            for s in systems.values()
            if s["ranker"]
            for m in MEASURES
        ),
        "never_worth_the_risk": all(part["right"] < part["no answer"] / 2 for part in r["fifths"]),
        "the_limit_changes_nothing": all(rows[f"{m}′"]["name"] == rows[f"{m}′"]["unlimited"] for m in MEASURES),
    }


def _correlation(systems: Mapping[str, Any], measure: str) -> float:
    """Of what a system cut by score gains by the modified measure, and of the share of its lists that are ended."""
    import numpy as np

    some = [system for system in systems.values() if system["family"] in ("all", "score")]
    gains = [system["modified"][measure] - system["original"][measure] for system in some]
    return float(np.corrcoef([system["ended"] for system in some], gains)[0, 1])


def _lengths(lengths: Mapping[str, Sequence[int]]) -> str:
    written = {"before": "as they came, NIL counted", "after": "after NIL ended them"}
    rows = [[written[when], *(f"{count:,}" for count in counts)] for when, counts in lengths.items()]
    return table(["lists of length", *map(str, range(6))], rows)


def _shapes(own: Mapping[str, Any]) -> str:
    rows = [
        [in_one_piece(cut), number(s["shown"], 2), percent(s["empty"], 0), percent(s["ended"], 0), number(s["c@1"], 3)]
        for cut, s in own.items()
    ]
    return table([in_one_piece("CNN-Cnt"), "shown", "empty", "ended", "c@1"], rows)


def _pairs(own: Mapping[str, Any]) -> str:
    rows = [
        [cut, *(f"{number(s['original'][m], 3)} → {number(s['modified'][m], 3)}" for m in MEASURES)]
        for cut, s in own.items()
    ]
    head = ["CNN-Cnt", *(f"{m} → {m}′" for m in MEASURES)]
    return table(list(map(in_one_piece, head)), [list(map(in_one_piece, row)) for row in rows])


def _two_questions(own: Mapping[str, Any]) -> str:
    columns = [[s["nil accuracy"] for s in own.values()]]
    columns += [[s["answerable"][m] for s in own.values()] for m in MEASURES]
    columns.append([s["Q"] for s in own.values()])
    rows = [[in_one_piece(cut), *cells] for cut, cells in zip(own, best_bold(columns, 3), strict=True)]
    return table([in_one_piece("CNN-Cnt"), "nil accuracy", *MEASURES, "Q, all questions"], rows)


def _dealt(r: Mapping[str, Any]) -> str:
    rows = []
    for name, p in r["dealt"].items():
        score, random = r["systems"][name]["modified"], r["systems"][name]["at random"]
        cells = [f"{number(score[m], 3)} ({number(score[m] - random[m], 3, sign=True)})" for m in MEASURES]
        rows.append([in_one_piece(name), percent(r["systems"][name]["empty"], 0), *cells, probability(p)])
    for ranker, perfect in r["perfect"].items():
        rows.append([f"{ranker}, perfectly cut", "", *(number(perfect[m], 3) for m in MEASURES), ""])
    return table(["system", "empty", *(f"{m}′" for m in MEASURES), "p"], rows)


def _fifths(fifths: Sequence[Mapping[str, float]]) -> str:
    rows = [
        [
            name,
            percent(part["no answer"]),
            percent(part["right"]),
            number(part["right"] - part["no answer"] / 2, 3, sign=True),
        ]
        for name, part in zip(("lowest", "second", "third", "fourth", "highest"), fifths, strict=True)
    ]
    return table(["fifth", "no answer", "top sentence right", "RR′, one sentence − none"], rows)


def _best(r: Mapping[str, Any]) -> str:
    rows = []
    for name, row in r["best"]["rows"].items():
        low, high = row["empty"]
        system = r["systems"][row["name"]]
        rows.append(
            [
                name,
                in_one_piece(row["name"]),
                number(row["score"], 3),
                number(system["shown"], 2),
                percent(system["empty"], 0),
                in_one_piece(f"{number(100 * low, 0)} to {percent(high, 0)}"),
                in_one_piece(row["on dev"]),
                number(row["its score"], 3),
            ]
        )
    return table(["measure", "best", "score", "shown", "empty", "5–95 %", "best on dev", "its score"], rows, words=2)


def _orders(found: Mapping[str, Mapping[str, float]]) -> str:
    rows = [["Liu et al., Table 3: 47 systems, 10 % without an answer", printed.TABLE_3]]
    for name, taus in found.items():
        if name == "own depth":
            name = "the same, nDCG to the depth of each list"
        elif name == "10 %, more answers":
            name = f"10 % without, {measure.UNFOUND} more answers, no hedging"
        elif name.startswith("10 %"):
            name = name.replace("10 %", "10 % without an answer")
        else:
            name = f"WikiQA, {name}"
        rows.append([name, taus])
    cells = [[name, *(number(taus[m], 3) if m in taus else "" for m in MEASURES)] for name, taus in rows]
    return table(["", *(f"{m}, {m}′" for m in MEASURES)], cells)


def _from_to(shares: Mapping[str, float]) -> str:
    ends = [
        f"{percent(end, 0)} ({' and '.join(f'{m}′' for m in MEASURES if shares[m] == end)})"
        for end in (min(shares.values()), max(shares.values()))
    ]
    return " to ".join(ends)
