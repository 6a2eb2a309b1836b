"""The page: what holds and what does not; then everything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.markdown import bullets, number, page, percent, probability, table
from experiments.panels import Axis, Line, Panel, panels
from experiments.text.measured import measured
from experiments.text.settings import (
    ABLATED,
    ALONE,
    BASELINES,
    COLLECTIONS,
    CONTEXT,
    EVERY,
    FILTER_ALL,
    FORUM,
    HIDDEN,
    JOINT,
    LOSSES,
    OPTIMAL,
    OURS,
    PEER_ALONE,
    PEER_AVERAGED,
    PEER_STACKED,
    PEER_TREES,
    PERCQA,
    PLACE,
    PLAIN,
    RECIPES,
    SETUPS,
    THREADS,
)
from ranksift.evaluation.significance import holm

#: Nothing is read: see `fits` and `trials`.
NEEDS: tuple[str, ...] = ()

MEASURES = ("nDCG_f@3", "nDCG_f@10", "Fdocs@3", "GoodFiltered", "Empty")
PEERS = (PEER_ALONE, PEER_AVERAGED, PEER_TREES, PEER_STACKED)

COLORS = ("#000000", "#e69f00", "#0072b2", "#56b4e9", "#cc79a7", "#d55e00", "#999999", "#009e73")
LINES = {
    name: Line(color, "" if n % 2 else "7 3", 1.8) for n, (name, color) in enumerate(zip(LOSSES, COLORS, strict=True))
}


def files(data: Path) -> dict[str, str]:
    """Names and contents of the page and its figures, from what was measured."""
    kept = measured()
    return {
        "text.md": written(kept),
        "text-tradeoff.svg": tradeoff_figure(kept["tables"]),
        "text-thresholds.svg": threshold_figure(kept["tables"]),
    }


def written(kept: Mapping[str, Any]) -> str:
    """The page, from what was measured."""
    return page(
        _beginning(),
        verdict(kept),
        *(losses(name, kept["tables"][name]) for name in COLLECTIONS),
        curves(),
        _on_top(),
        *(stacks(name, kept["stacks"][name], mean(kept["tables"][name]["rows"][FILTER_ALL])) for name in COLLECTIONS),
        noise(kept),
        _chosen(),
        _how(),
    )


def mean(row: Mapping[str, Any], measure: str = MEASURES[0]) -> float:
    """Of all seeds."""
    return float(np.mean(row["values"][measure]))


def _beginning() -> str:
    return """
# Rankers of texts that filter

Carmel et al. (2022) train a cross-encoder on question and answer, drop what scores below a tuned threshold, and
compare
losses by nDCG_f (their Table 7). This page does so on three public forums whose answers have text: threads of
SemEval-2016, questions of SemEval-2015, and PerCQA, which is Persian. Then it asks what else helps: the
place of an answer in its list, a pass without labels, lower layers that move less, and trees on the networks' outputs
beside simple features. The encoder is MiniLM (six layers of 384 dimensions), as the extra `text` brings it: English,
also for PerCQA.

```
python -m experiments.text.fits out/text     # 640 networks on a GPU: nine minutes on an H200
python -m experiments.text.trials out/text   # cuts, trees and tests: a quarter of an hour on two processors
python -m experiments.text                   # writes the page from what was measured
```

The collections are not part of the repository (`RANKSIFT_DATA` names their folder).
"""


# -- the verdict -----------------------------------------------------------------------------------------------------


def best_recipe(found: Mapping[str, Any]) -> str:
    """The best row of what was known before: two kinds of texts, alone, averaged, or under trees."""
    names = [f"{RECIPES}, averaged", f"{RECIPES}: {JOINT}", f"{RECIPES}: {OPTIMAL}", PLAIN, CONTEXT]
    return max(names, key=lambda name: mean(found["rows"][name]))


def verdict(kept: Mapping[str, Any]) -> str:
    """What holds and what does not, in numbers."""
    lines = []
    for name in COLLECTIONS:
        found = kept["stacks"][name]
        recipe = best_recipe(found)
        top = max((JOINT, OPTIMAL), key=lambda top: mean(found["rows"][f"{EVERY}: {top}"]))
        apart, error, p = found["against"][top][recipe]
        row = found["rows"][f"{EVERY}: {top}"]
        value, before = number(mean(row)), number(mean(found["rows"][recipe]))
        lines.append(
            f"**{name}**: with all four kinds of networks under {_called(top)}, nDCG_f@3 is {value} with "
            f"{percent(mean(row, 'Fdocs@3'))} forbidden shown and {percent(mean(row, 'GoodFiltered'), 0)} of the good "
            f"hidden. The best of what was known before (“{recipe}”) has {before} in the same folds: "
            f"{number(apart, sign=True)} ± {number(error)}, p {_is(p)}. {_the_simpler(found, recipe)}"
        )
    threads = kept["stacks"][THREADS]
    top = max((JOINT, OPTIMAL), key=lambda top: mean(threads["rows"][f"{EVERY}: {top}"]))
    peer = max(PEERS, key=lambda name: mean(threads["rows"][name]))
    apart, error, p = threads["against"][top][peer]
    value = number(mean(threads["rows"][peer]))
    lines.append(
        f"**Peers.** The best peer on the threads is “{peer}” with {value}: ours is {number(apart, sign=True)} ± "
        f"{number(error)} beside it (p {_is(p)})."
    )
    lines.append(_losses_said(kept["tables"]))
    perfect = number(kept["ceilings"][THREADS]["values"]["0.1"], 3)
    lines.append(
        "**What it hides.** About half of the good answers of the threads: an answer that is wrong costs five to ten "
        f"times what a good one earns. And if one label of ten is wrong, perfect knowledge is worth {perfect} there "
        "([below](#what-noise-in-labels-allows))."
    )
    lines.append(_not_shown(kept["stacks"]))
    return "## Verdict\n\n" + bullets(*lines)


def _not_shown(stacks: Mapping[str, Any]) -> str:
    """What was aimed at and is not reached, and what no row of these tables says."""
    careful = [
        row
        for row, found in stacks[THREADS]["rows"].items()
        if mean(found, "Fdocs@3") <= 0.05 and mean(found, "GoodFiltered") <= 0.4
    ]
    both = f"only {' and '.join(careful)} do both" if careful else "no row does both"
    gained = []
    for name in COLLECTIONS:
        found = stacks[name]
        gained += [name] * any(found["against"][top][best_recipe(found)][2] < 0.05 for top in (JOINT, OPTIMAL))
    where = " and ".join(gained) or "no collection"
    chosen = ", where the choices [were made](#what-was-chosen-on-which-data)" if gained == [THREADS] else ""
    return (
        f"**What is not shown.** At most 5 % forbidden shown with at most 40 % of the good hidden: on the threads "
        f"{both}. With all four kinds the gain over what was known is significant only on {where}{chosen}. The "
        "CrossEncoder was trained on the threads only. What attention over the answers of a thread is worth beside "
        "their place was tried with scripts that are not kept. What one distilled network loses was not measured, as "
        "it takes a GPU to train it: neither is in these tables. On a frozen encoder it loses nothing but rounding, "
        "since the mean of linear heads is a linear head, and `ranksift distil --held-out` measures it on any data."
    )


def _called(top: str) -> str:
    return f"the {top}" if top == OPTIMAL else top


def _is(p: float) -> str:
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def _the_simpler(found: Mapping[str, Any], recipe: str) -> str:
    """The same with two kinds of networks, which are half as many."""
    rows = found["rows"]
    top = max((JOINT, OPTIMAL), key=lambda top: mean(rows[f"{OURS}: {top}"]))
    own = mean(rows[f"{OURS}: {top}"])
    apart = number(own - mean(rows[recipe]), sign=True)
    return f"With the two kinds that are matched alone it is {number(own)} ({apart}), under {_called(top)}."


def _losses_said(tables: Mapping[str, Any]) -> str:
    best = {name: max(LOSSES, key=lambda loss: mean(tables[name]["rows"][loss])) for name in COLLECTIONS}
    said = "; ".join(f"{loss} on {name} ({number(mean(tables[name]['rows'][loss]))})" for name, loss in best.items())
    behind, tests = 0, 0
    for name in COLLECTIONS:
        corrected = holm(np.array([own[2] for own in tables[name]["less ordinal"].values()]))
        tests += len(corrected)
        behind += sum(
            p < 0.05 and own[0] < 0 for p, own in zip(corrected, tables[name]["less ordinal"].values(), strict=True)
        )
    return (
        f"**Losses.** The best one is {said}. In the paper ordinal is the best, significantly so; here it is "
        f"significantly above {behind} of {tests} (seven other losses on each collection). What else one does is worth "
        "more than the loss."
    )


# -- the table of losses -----------------------------------------------------------------------------------------------


def losses(name: str, found: Mapping[str, Any]) -> str:
    """Table 7 on one collection."""
    beside = found["beside it"]
    corrected = {
        part: dict(zip(found[part], holm(np.array([own[2] for own in found[part].values()])), strict=True))
        for part in ("beside it", "less ordinal")
    }
    rows = []
    for row in (*BASELINES, *LOSSES):
        own = found["rows"][row]["values"]
        cells = [f"{number(np.mean(own[MEASURES[0]]))} ± {number(np.std(own[MEASURES[0]], ddof=1))}"]
        cells += [number(np.mean(own[MEASURES[1]]))]
        cells += [percent(np.mean(own[measure])) for measure in MEASURES[2:]]
        if row in beside:
            cells += [f"{number(beside[row][0], sign=True)}", probability(corrected["beside it"][row])]
        else:
            cells += ["", ""]
        less = found["less ordinal"].get(row)
        cells += ["", ""] if less is None else [number(less[0], sign=True), probability(corrected["less ordinal"][row])]
        rows.append([row, *cells])
    head = ["loss", *MEASURES, f"less {found['best baseline']}", "p", "less ordinal", "p"]
    return f"""
## Losses on {name}

{table(head, rows)}
""" + (_TABLE_READ if name == THREADS else "")


_TABLE_READ = """
Means and deviations of three seeds. Each network learns from three fifths of the queries, three documents of each in a
step, as in the paper; its threshold is the best one on another fifth, and the last fifth is the test, in turn.
Filter-only shows what bce keeps in random order; rank-only is ordinal without a cut. p: paired t tests over queries,
seeds averaged, with Holm's correction over the losses.
"""


def curves() -> str:
    """The two figures."""
    return """
## Forbidden shown against good hidden

Each point is the least share of forbidden documents in the top 3 with at most so many of the good documents hidden, on
the test folds themselves, so that nothing but the order of the scores counts.

![Forbidden documents shown against good documents hidden, by the loss](text-tradeoff.svg)

And nDCG_f@3 by the threshold. As scores of different losses are on different scales, the threshold is given as the
share
of all documents that is shown.

![nDCG_f by the share of documents shown](text-thresholds.svg)
"""


def _share(x: float) -> str:
    return f"{x:.0%}" if x < 1 else ""  # the next panel begins there


def tradeoff_figure(tables: Mapping[str, Any]) -> str:
    """A panel for each collection."""
    return panels(
        "Forbidden documents in the top 3, by good documents hidden",
        "A curve for each loss: what is hidden less costs more that is forbidden.",
        [[Panel(name, {loss: _points(tables[name], loss, 0) for loss in LOSSES}) for name in COLLECTIONS]],
        LINES,
        Axis((0, 0.25, 0.5, 0.75, 1), "share of the good documents that is hidden, at most", _share),
        Axis((0, 0.05, 0.1, 0.15, 0.2, 0.25), written=lambda x: f"{x:.0%}"),
        height=240,
    )


def threshold_figure(tables: Mapping[str, Any]) -> str:
    """A panel for each collection."""
    return panels(
        "nDCG_f@3, by the share of documents shown",
        "A curve for each loss: from nothing shown to everything shown.",
        [[Panel(name, {loss: _points(tables[name], loss, 1) for loss in LOSSES}) for name in COLLECTIONS]],
        LINES,
        Axis((0, 0.25, 0.5, 0.75, 1), "share of the documents that is shown", _share),
        Axis((0.5, 0.6, 0.7, 0.8, 0.9), written=lambda x: f"{x:.1f}"),
        height=240,
    )


def _points(found: Mapping[str, Any], loss: str, which: int) -> list[tuple[float, float]]:
    return [*zip(HIDDEN, found["curves"][loss][which], strict=True)]


# -- what stands on top ----------------------------------------------------------------------------------------------


def _on_top() -> str:
    return f"""
## Whole lists, and what stands on top

These networks (ordinal loss) learn from the whole lists of three fifths of the queries. Of the two other fifths one is
the test. What a network says of the other one calibrates it, or is a column for the trees; a test document has the mean
of the four networks that its fold was kept from. So nothing is tuned on a test fold.

- “{PLAIN}”: the answer as it is. “{CONTEXT}”: with its place ("answer 3 of 10") and how the answer before it begins.
- “matched, with the place”: the answer with its place; lower layers move less (`layer_decay=0.8`), four passes
  instead of three at twice the rate, and before the labels a pass that learns which question an answer belongs to
  (`matching`).
  “matched, with the list”: with the answer before it, too. On the threads these two also learn from
  SemEval-2015's questions, less those that share a question or an answer.
- A row of a network alone ranks and cuts by expected shares, calibrated on other folds; its value is the mean of
  networks
  of one seed each, and “averaged” is one value for all networks together.
- “: {JOINT}” and “: {OPTIMAL}”: trees on the outputs, averaged over all networks of a kind, beside 11 simple features
  of the texts. “{RECIPES}” are the two kinds that were known before, “{EVERY}” has all four kinds.
- Peers: a CrossEncoder of sentence-transformers with the binary cross entropy and a tuned threshold, one network or
  the
  mean of four; LightGBM (multiclass, E[g], in the context of the list, five averaged, tuned threshold) on the
  features, and on
  both.
"""


def stacks(name: str, found: Mapping[str, Any], nothing: float) -> str:
    """What each row comes to on one collection."""
    rows, order = [], _order(name, found["rows"])
    corrected = {
        top: dict(zip(order, holm(np.array([found["against"][top][row][2] for row in order])), strict=True))
        for top in (JOINT, OPTIMAL)
    }
    for row in order:
        own = found["rows"][row]["values"]
        first = own[MEASURES[0]]
        spread = f" ± {number(np.std(first, ddof=1))}" if len(first) > 1 else ""
        cells = [f"{number(np.mean(first))}{spread}", number(np.mean(own[MEASURES[1]]))]
        cells += [percent(np.mean(own[measure])) for measure in MEASURES[2:]]
        for top in (JOINT, OPTIMAL):
            apart = found["against"][top][row][0]
            same = row == f"{EVERY}: {top}"
            cells += ["", ""] if same else [number(apart, sign=True), probability(corrected[top][row])]
        rows.append([row, *cells])
    head = ["", *MEASURES, f"{EVERY}: {JOINT} less it", "p", f"{EVERY}: {OPTIMAL} less it", "p"]
    return f"""
## {name}: networks, trees and peers

{found["queries"]:,} questions, {found["documents"]:,} judged answers, {percent(found["forbidden"], 0)} of them
forbidden; nothing
shown: {number(nothing)}.

{table(head, rows)}
"""


def _order(name: str, rows: Mapping[str, Any]) -> list[str]:
    networks = [*SETUPS[name]]
    averaged = [f"{kind}, averaged" for kind in (RECIPES, OURS, EVERY)]
    trees = [f"{kind}: {top}" for kind in (ALONE, RECIPES, OURS, EVERY) for top in (JOINT, OPTIMAL)]
    return [row for row in (*networks, *averaged, *PEERS, *trees) if row in rows]


# -- noise -------------------------------------------------------------------------------------------------------------


def noise(kept: Mapping[str, Any]) -> str:
    """What perfect knowledge would be worth."""
    rates = [*kept["ceilings"][THREADS]["values"]]
    rows = []
    for name in COLLECTIONS:
        values = kept["ceilings"][name]["values"]
        best = max(mean(kept["stacks"][name]["rows"][f"{EVERY}: {top}"]) for top in (JOINT, OPTIMAL))
        rows.append([name, *(number(values[rate], 3) for rate in rates), number(best, 3), _at_most(values, best)])
    head = ["share of wrong labels", *(percent(float(rate), 0) for rate in rates), "ours", "so wrong are at most"]
    return f"""
## What noise in labels allows

{table(head, rows)}

nDCG_f@3 of a ranker that knows every true grade, judged by labels of which so many are wrong, the mean of 20 draws.
Which
grade is taken for which follows confident learning (Northcutt et al. 2021) from the calibrated chances of all
networks. How many
labels are wrong cannot be learned that way, since what the networks do not know looks like noise: taken literally, a
third of the labels would be wrong, and perfect knowledge would be worth less than what ours already has. So the share
is varied. The last column turns this round: as ours has so much, no more labels can be wrong, if errors fall as
assumed.
The 87 threads of SemEval-2016 that are there twice say nothing of it: copies have the same labels.
"""


def _at_most(values: Mapping[str, float], best: float) -> str:
    rates, found = [0.0, *map(float, values)], [1.0, *values.values()]
    if best < found[-1]:
        return f"more than {percent(rates[-1], 0)}"
    return percent(float(np.interp(-best, [-value for value in found], rates)), 0)


# -- how ---------------------------------------------------------------------------------------------------------------


def _chosen() -> str:
    return f"""
## What was chosen on which data

- On these five folds of the SemEval-2016 threads, with one seed: that the place alone is told of the list, the pass
  that matches questions and answers, `layer_decay=0.8` with the rate and the number of passes, and learning from
  SemEval-2015 too. So the gain on the threads is partly one of choice. Tried there and dropped: a whole thread as one
  sequence (.865, where question + answer had .870), attention over all answers of a thread in the last two layers
  (.892, where the place had .898), a moving average of the weights, other rates and sizes of batches (within .003), and
  the times of answers as features (within .002). That was with scripts that are not kept.
- Nothing was chosen on {FORUM} and {PERCQA}. On {FORUM} all of these choices hold. On {PERCQA}, where an English
  encoder reads Persian, lower layers that move less help most of all, and the pass without labels does harm: that is
  why `matching` is off unless asked for, and why the other choices are `TextRanker`'s defaults.
- “{ABLATED[0]}” and “{ABLATED[1]}” are “{PLACE}” without one part; the latter learns from the threads alone.
"""


def _how() -> str:
    return """
## How it was made

- The networks were fitted once. Since then the defaults of `TextRanker` are those that were best here, and `matching`
  draws no second query of the same words; the set-ups above are spelled out, so that defaults do not change them.
- Folds: five of the queries; threads found for one original question are in one fold, and copies of threads are
  removed. Good is
  worth 2, Potential 1, everything else is forbidden at −10. Unjudged answers (PerCQA has 67) are read, and not judged.
- AdamW, warm-up over a tenth of the steps, the rate falling to 0, gradients clipped at 1, 256 tokens (PerCQA: 128, as
  an
  English tokenizer needs about a token per letter). Table of losses: 16 queries per step, 6e-5, four passes. Whole
  lists: 8 queries per
  step; 6e-5 and three passes, ours 1.2e-4 and four passes; on PerCQA eight answers of each question.
- Three seeds on the threads (one for the two rows that lack a part), two on SemEval-2015, one on PerCQA for whole
  lists; three everywhere for
  the table of losses. Trees: three seeds, on PerCQA one.
- The CrossEncoder is sentence-transformers' model with a plain loop of PyTorch, 64 pairs per step, 6e-5, three
  passes: its own trainer needs a library
  that the GPU's machine did not have. Two seeds.
"""
