"""Tables of the page, and what its claims rest on where that takes more than a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.cutoffs import loss_table, losses, printed
from experiments.cutoffs.community import FOLDS, GOOD, NORMALISED, NOT_FORBIDDEN, POSITIVE, K
from experiments.cutoffs.model import RIDGE
from experiments.cutoffs.promises import DRAWS, SEED, SIZES
from experiments.cutoffs.questions import FITTED_FOR_C_AT_1
from experiments.cutoffs.rules import (
    ALPHA,
    BASELINES,
    DELTA,
    FOR_DCG,
    GLOBAL,
    ORACLE,
    RISK,
    SHAPED,
    SHOW_ALL,
    SHOW_NOTHING,
    first_best,
)
from experiments.cutoffs.topics import KS
from experiments.markdown import number, probability, table
from ranksift.cutoffs.baselines import FilterOnly, Oracle
from ranksift.cutoffs.rules import known_rules

Found = Mapping[str, Any]


def words(r: Found) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    forum, systems, tracks = r["forum"], r["wikiqa"], r["web"]
    own = {year: [setting["own"]["rules"] for setting in track["settings"]] for year, track in tracks.items()}
    return {
        "GLOBAL": GLOBAL,
        "ORACLE": ORACLE,
        "ALL": SHOW_ALL,
        "NOTHING": SHOW_NOTHING,
        "SHAPED": SHAPED,
        "FOR_DCG": FOR_DCG,
        "POSITIVE": POSITIVE,
        "NORMALISED": NORMALISED,
        "GOOD": GOOD,
        "NOT_FORBIDDEN": NOT_FORBIDDEN,
        "k": K,
        "folds": FOLDS,
        "ridge": RIDGE,
        "seed": SEED,
        "sizes": list(map(str, SIZES)),
        "draws": DRAWS,
        "risk": RISK,
        "sure": 1 - DELTA,
        "alpha": ALPHA,
        "for_correct": FITTED_FOR_C_AT_1,
        "printed": printed,
        "named": named,
        "whole": whole,
        "sign": sign,
        "better": better,
        "closed": gap_closed,
        "own": own,
        "worse_on_test": [
            rule
            for rule, found in forum["test"]["rules"].items()
            if sign(found) < 0 and rule not in (SHOW_NOTHING, SHOW_ALL, "filter-only")
        ],
        "same_order": _order(forum["test"]["rules"]) == _order(_printed()),
        **_by_gain(forum["by gain"]),
        **_single(forum["single"]),
        **_wikiqa(systems),
        "better_on_the_web": any(better(setting["own"]) for of in tracks.values() for setting in of["settings"]),
        "beyond": {
            year: all(
                s["second"]["rules"][GLOBAL]["value"] > s["own"]["rules"][ORACLE]["value"] for s in of["settings"]
            )
            for year, of in tracks.items()
        },
        **_promises(r["tuned"]),
        **_sizes(r["by size"]),
        "described": described(),
        "which_wins": which_wins(r),
        "test_table": comparison(forum["test"]),
        "train_table": comparison(forum["train"]),
        "wikiqa_tables": {name: _questions(system) for name, system in systems.items()},
        "web_tables": {year: _web(track) for year, track in tracks.items()},
        **loss_table.words(r["losses"]),
        "trials": losses.TRIALS,
        "starts": losses.SEEDS,
    }


def sign(found: Found) -> int:
    """Whether a difference is significant: 1 where it is for the better, −1 for the worse, else 0."""
    return 0 if "p" not in found or found["p"] > ALPHA else 1 if found["gain"] > 0 else -1


def better(outcome: Found) -> list[str]:
    """Rules that are significantly better than the global cut."""
    return [rule for rule, found in outcome["rules"].items() if sign(found) > 0]


def gap_closed(outcome: Found, rule: str) -> float:
    """How much of the way from the better of all and nothing shown to the oracle a rule goes."""
    value = {word: found["value"] for word, found in outcome["rules"].items()}
    start = max(value[SHOW_ALL], value[SHOW_NOTHING])
    return float((value[rule] - start) / (value[ORACLE] - start))


def named(words: Sequence[str]) -> str:
    """Some rules in a sentence."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def whole(cell: str) -> str:
    """A cell of a table that is not broken into lines, unless it is long."""
    return cell.replace(" ", "\N{NO-BREAK SPACE}") if len(cell) < 18 else cell


def mark(found: Found) -> str:
    """Of a number in a table."""
    return {1: " ▲", -1: " ▼", 0: ""}[sign(found)]


def _printed() -> Found:
    """The paper's baselines as rules."""
    kinds = {SHOW_NOTHING: "filter-all", SHOW_ALL: "rank-only (ordinal)", GLOBAL: "ordinal"}
    kinds["filter-only"] = "filter-only (BCE)"
    return {rule: {"value": printed.TABLE_7[kind][0]} for rule, kind in kinds.items()}


def _order(rules: Found) -> list[str]:
    return sorted(BASELINES, key=lambda rule: float(rules[rule]["value"]))


def _by_gain(found: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, Any]:
    """DCG and nDCG_f on both splits, by rule, and what follows."""
    dcg, ndcg = ({rule: [values[i] for values in splits.values()] for rule, splits in found.items()} for i in (0, 1))
    tuned, for_dcg = (f"global, fitted to {measure}" for measure in (f"nDCG_f@{K}", f"DCG@{K}"))

    def ahead(values: Mapping[str, Sequence[float]], one: str, other: str) -> list[float]:
        return [a - b for a, b in zip(values[one], values[other], strict=True)]

    return {
        "dcg": dcg,
        "ndcg": ndcg,
        "positive_for_dcg": min(ahead(dcg, POSITIVE, tuned)) >= 0 and min(ahead(dcg, POSITIVE, for_dcg)) > -0.02,
        "too_strict": max(ahead(ndcg, POSITIVE, tuned)) < -0.02,
        "avoids_this": min(ahead(ndcg, NORMALISED, POSITIVE)) > 0.02,
    }


def _single(single: Mapping[str, Found]) -> dict[str, Any]:
    """Of questions with one answer."""
    sums = [of["rules"][SHOW_NOTHING]["value"] + of["rules"][SHOW_ALL]["value"] for of in single.values()]
    return {
        "they_add_up": all(abs(found - 1) < 1e-8 for found in (*sums, *map(sum, printed.TABLE_6.values()))),
        "printed_the_other_way_round": all(nothing < shown for nothing, shown in printed.TABLE_6.values()),
        # Rules that give every question what the global cut gives it.
        "one_score": [
            rule
            for rule, found in single["train"]["rules"].items()
            if rule not in BASELINES and found.get("won") == found.get("lost") == 0
        ],
    }


def _wikiqa(systems: Mapping[str, Found]) -> dict[str, Any]:
    """Silence, everything and the rules."""
    rules = [outcome["rules"] for system in systems.values() for outcome in system["measures"].values()]
    main = {name: system["measures"][f"nDCG_f@{K}"] for name, system in systems.items()}
    # Silence apart.
    winners = {name: [rule for rule in better(of) if rule != SHOW_NOTHING] for name, of in main.items()}
    empty = {name: {rule: found["Empty"] for rule, found in of["rules"].items()} for name, of in main.items()}
    against = [
        {"name": name, "by": heading, **found}
        for name, system in systems.items()
        for heading, found in system["against silence"].items()
    ]
    return {
        "winners": winners,
        "they_show_less": all(empty[name][rule] > empty[name][GLOBAL] for name in systems for rule in winners[name]),
        "ahead_of_all": [found[SHOW_NOTHING]["value"] - found[SHOW_ALL]["value"] for found in rules],
        "below_the_oracle": [
            of[ORACLE]["value"] - max(found["value"] for rule, found in of.items() if rule != ORACLE) for of in rules
        ],
        "beats_silence": [found for found in against if sign(found) > 0],
        "farthest": max((found for found in against if found["by"].endswith("′")), key=lambda found: found["gain"]),
    }


def _promises(tuned: Sequence[Found]) -> dict[str, Any]:
    """What cuts promised less what they gave, and what they might have given."""
    optimism, honest = ([cut[name] - cut["given"] for cut in tuned] for name in ("fitted", "cross-validated"))
    return {
        "optimism": optimism,
        "honest": honest,
        "nearer": sum(abs(h) < abs(o) for h, o in zip(honest, optimism, strict=True)),
        "held_by_interval": sum(cut["interval"][0] <= cut["best there"] <= cut["interval"][1] for cut in tuned),
        "spent": [cut["hindsight"] - cut["given"] for cut in tuned],
    }


def _sizes(found: Mapping[str, Found]) -> dict[str, Any]:
    """From how many questions on the global cut is about as good as with the most, and which rule is the best."""
    near = {n: found[GLOBAL][n]["mean"] >= found[GLOBAL][str(SIZES[-1])]["mean"] - 0.005 for n in map(str, SIZES)}
    enough = next(n for n in near if near[n])
    return {
        "enough": enough,
        "loses_little": all(is_near == (int(n) >= int(enough)) for n, is_near in near.items()),
        "best_by_size": {n: max((found[rule][n]["mean"], rule) for rule in found)[1] for n in near},
    }


# -- tables ----------------------------------------------------------------------------------------------------------


def described() -> str:
    """What each rule does, in the words of its class."""
    known = {**known_rules(), "filter-only": FilterOnly, ORACLE: Oracle}
    known.pop("fixed", None)
    order = [*BASELINES, *(word for word in known if word not in (*BASELINES, ORACLE)), ORACLE]
    first = {word: " ".join((known[word].__doc__ or "").split("\n\n")[0].split()) for word in order}
    return table(["rule", "what it does"], [[word, first[word]] for word in order], words=2)


def comparison(outcome: Found) -> str:
    """Carmel et al.'s columns for every rule, and the difference to the global cut."""
    rules = outcome["rules"]
    best = max(number(found["value"]) for rule, found in rules.items() if rule != ORACLE)
    rows = []
    for rule, found in rules.items():
        value = number(found["value"])
        cells = [f"**{value}**" if rule != ORACLE and value == best else value]
        cells += [number(found[f"{measure}@{K}"], 3) for measure in ("nDCG_0", "nDCG_min")]
        cells += [number(100 * found[measure], 1) for measure in (f"Fdocs@{K}", "GoodFiltered", "Empty")]
        cells += (
            [number(found["gain"], 4, sign=True) + mark(found), probability(found["p"])] if "p" in found else ["", ""]
        )
        rows.append([whole(cell) for cell in (rule, *cells)])
    costs = ("F-docs, %", "good filtered, %", "empty, %")
    return table(["rule", f"nDCG_f@{K}", "nDCG_0", "nDCG_min", *costs, "− global", "p"], rows)


def which_wins(r: Found) -> str:
    """Every setting in a row."""
    forum, systems = r["forum"], r["wikiqa"]
    outcomes = {"forum, test": forum["test"], "forum, train, in folds": forum["train"]}
    for heading, suffix in ((f"nDCG_f@{K}", ""), ("nDCG′", ", nDCG′")):
        outcomes |= {f"WikiQA, {name}{suffix}": system["measures"][heading] for name, system in systems.items()}
    rows = []
    for name, outcome in outcomes.items():
        rules, best = outcome["rules"], outcome["best"]
        shown, nothing, cut, value, oracle = (
            number(rules[rule]["value"], 3) for rule in (SHOW_ALL, SHOW_NOTHING, GLOBAL, best, ORACLE)
        )
        p = "" if best == GLOBAL else probability(rules[best]["p"])
        rows.append([name, shown, nothing, cut, best, value, p, oracle])
    for year, track in r["web"].items():
        rows += _web_in_short(year, track)
    head = ["scores", "all shown", "nothing", "global", "best rule", "its value", "p", "oracle"]
    return table(head, [[row[0], *map(whole, row[1:])] for row in rows])


def _web_in_short(year: str, track: Found) -> Iterator[list[str]]:
    k = KS[-1]
    best = _best(track, k)
    own, second = (
        [number(_mean(track, of, rule, k), 3) for rule in (SHOW_ALL, SHOW_NOTHING, GLOBAL, ORACLE)]
        for of in ("own", "second")
    )
    sure = "" if best == GLOBAL else f"{_signs(track, best, k).count(1)} of {track['runs']} runs"
    yield [f"web {year}, k = {k}", *own[:3], best, number(_mean(track, "own", best, k), 3), sure, own[3]]
    yield [f"web {year}, k = {k}, second score", *second[:3], "", "", "", second[3]]


def _questions(system: Found) -> str:
    outcomes = system["measures"]
    every = next(iter(outcomes.values()))["rules"]
    best = {
        heading: max(number(found["value"], 3) for rule, found in o["rules"].items() if rule != ORACLE)
        for heading, o in outcomes.items()
    }
    rows = []
    for rule in every:
        cells = []
        for heading, o in outcomes.items():
            cell = number(o["rules"][rule]["value"], 3)
            bold = rule != ORACLE and cell == best[heading]
            cells.append((f"**{cell}**" if bold else cell) + mark(o["rules"][rule]))
        correct = number(system["c@1"][rule], 3) if rule in system["c@1"] else ""
        empty = [number(100 * outcomes[h]["rules"][rule]["Empty"], 0) for h in (f"nDCG_f@{K}", "nDCG′")]
        rows.append([whole(cell) for cell in (rule, *cells, correct, *empty)])
    return table(["rule", *outcomes, "c@1", f"empty, nDCG_f@{K}, %", "empty, nDCG′, %"], rows)


def _web(track: Found) -> str:
    rows = []
    for rule in track["settings"][0]["own"]["rules"]:
        cells = []
        for k in KS:
            cell, signs = number(_mean(track, "own", rule, k)), _signs(track, rule, k)
            if rule == _best(track, k):
                cell = f"**{cell}**"
            marks = " ".join(f"{mark} {signs.count(s)}" for mark, s in (("▲", 1), ("▼", -1)) if s in signs)
            cells.append(f"{cell} ({marks})" if marks else cell)
        rows.append([whole(cell) for cell in (rule, *cells)])
    for rule in (GLOBAL, ORACLE):
        rows.append([f"second score: {rule}", *(number(_mean(track, "second", rule, k)) for k in KS)])
    return table(["rule", *(f"nDCG_f@{k}" for k in KS)], rows)


def _mean(track: Found, of: str, rule: str, k: int) -> float:
    """A rule's value, averaged over the runs."""
    found = [setting[of]["rules"][rule]["value"] for setting in track["settings"] if setting["k"] == k]
    return float(sum(found) / len(found))


def _best(track: Found, k: int) -> str:
    """The rule on the runs' own scores with the highest mean over the runs."""
    rules = [rule for rule in track["settings"][0]["own"]["rules"] if rule != ORACLE]
    return first_best(rules, lambda rule: _mean(track, "own", rule, k))


def _signs(track: Found, rule: str, k: int) -> list[int]:
    """Of every run, whether a rule is significantly better or worse than the global cut."""
    return [sign(setting["own"]["rules"][rule]) for setting in track["settings"] if setting["k"] == k]
