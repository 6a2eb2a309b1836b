"""The page: what was found, in short; then everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.cutoffs.printed import TABLE_7
from experiments.markdown import between, bullets, number, page, paragraph, percent, probability, says, table, word
from experiments.rank_and_filter.figures import values as figure
from experiments.rank_and_filter.parts import why
from experiments.rank_and_filter.printed import TABLE_7_REVIEWS
from experiments.rank_and_filter.rows import FILTER_ALL, JOINT, LOSSES, MODELS, OPTIMAL, PEER, RANK_ONLY
from experiments.rank_and_filter.settings import FOLDS, FORUM, MEASURE, NEEDS, REVIEWS, SEEDS
from experiments.rank_and_filter.tables import of_setting, who_wins
from experiments.rank_and_filter.trials import KNOWN_GAINS, KNOWN_SHARES, Outcome, outcomes
from experiments.rank_and_filter.values import ALPHA, Outcomes, of_each, p_is, title, with_deviation

__all__ = ["NEEDS", "files"]

SETTINGS = (FORUM, FOLDS, REVIEWS)


def files(data: Path) -> dict[str, str]:
    """Names and contents of the page and its figure."""
    found = outcomes(data, SETTINGS)
    return {"rank-and-filter.md": written(found, data), "rank-and-filter.svg": figure(found)}


def written(found: Outcomes, data: Path) -> str:
    """The page, from what was measured."""
    return page(
        _beginning(),
        _in_short(found),
        who_wins(found),
        *(of_setting(found[name], data) for name in SETTINGS),
        why(found),
        _beside_the_paper(found),
        _how(),
    )


def _beginning() -> str:
    return """
# Rankers that filter, beside rankers with a threshold

Carmel et al. (2022) train rankers with six losses, drop what scores below a tuned threshold, and compare them by
nDCG_f (their Table 7). This page does the same on features, with a linear model, a small network and boosted trees;
puts the boosted trees of LightGBM, XGBoost and CatBoost beside them, each with the threshold that is best for it; and
asks whether `LambdaMARTf`, which learns the cut together with the order, and `ExpectedGainRanker`, the optimal rule,
are better. It is written by

```
python -m experiments.rank_and_filter          # make experiments runs it too
```

from public data that is not part of the repository (`RANKSIFT_DATA` names the folder), and from reviews that are made
up.
"""


def _in_short(found: Outcomes) -> str:
    reviews, forum = found[REVIEWS], found[FORUM]
    plain, tuned = f"{JOINT}, without the normaliser", f"{JOINT}, best cut instead of 0"
    return "**In short**\n\n" + bullets(
        *(_verdict(outcome) for outcome in found.values()),
        says(
            all(o.mean(plain) < o.mean(JOINT) - 0.01 for o in found.values()),
            "**The normaliser is what earlier losses missed.** nDCG_f divides every query by its own I − W. Trees that "
            f"are fitted to changes of DCG, with the same stop document, have {of_each(found, plain)}, {JOINT} "
            f"{of_each(found, JOINT)}. A tuned cut mends a part of it ({of_each(found, f'{plain}, best cut')}).",
        ),
        says(
            all(o.mean(tuned) < o.mean(JOINT) + 0.003 for o in found.values()),
            f"**The cut needs no tuning.** With the best threshold on validation instead of 0, {JOINT} has "
            f"{of_each(found, tuned)}: no better.",
        ),
        _catboost(found),
        _losses(found),
        "**What is left.** On the made-up reviews the chances of all labels are known. The best possible list has "
        f"{number(reviews.mean(KNOWN_SHARES), 3)}; {JOINT} goes {percent(_way(reviews, JOINT), 0)} of the way to it "
        f"from {number(reviews.mean(RANK_ONLY), 3)} with everything shown, the best peer "
        f"{percent(_way(reviews, reviews.best(PEER)), 0)}. Ranking by the known expected gain and cutting at the best "
        f"threshold has {number(reviews.mean(KNOWN_GAINS), 3)}: more cannot be had from E[g] with one threshold.",
        says(
            forum.mean(RANK_ONLY) > forum.mean(FILTER_ALL) and reviews.mean(RANK_ONLY) < reviews.mean(FILTER_ALL),
            "**Showing nothing is better than showing everything** on the reviews, as in the paper; on the forum it is "
            "the other way round, as in the paper.",
        ),
    )


def _verdict(outcome: Outcome) -> str:
    told = []
    for ours in (JOINT, OPTIMAL):
        against = outcome.against(ours, outcome.peers)
        left = [name for name, (difference, p) in against.items() if difference <= 0 or p >= ALPHA]
        beaten = len(against) - len(left)
        value = f"{ours} has {with_deviation(outcome, ours)}"
        if left:
            closest = min(left, key=lambda name: against[name][0])
            told.append(
                f"{value}, significantly more than {word(beaten)} of {len(against)} peers; the smallest difference is "
                f"that to {closest} ({number(against[closest][0], 4, sign=True)}, {p_is(against[closest][1])})"
            )
        else:
            largest = probability(max(p for _, p in against.values()))
            told.append(f"{value}, **significantly more than each of the {beaten} peers** (largest p {largest})")
    best = outcome.best(PEER)
    return f"**{title(outcome)}**: {'; '.join(told)}. The best peer is {best} with {with_deviation(outcome, best)}."


def _way(outcome: Outcome, name: str) -> float:
    low, high = outcome.mean(RANK_ONLY), outcome.mean(KNOWN_SHARES)
    return (outcome.mean(name) - low) / (high - low)


def _catboost(found: Outcomes) -> str:
    own, best = "CatBoost FilteredDCG, own cut at 0", "CatBoost FilteredDCG, best cut"
    return says(
        all(o.mean(own) < o.mean(best) for o in found.values()),
        f"**CatBoost's FilteredDCG** learns a cut at 0 as well, for DCG: {of_each(found, own)}. With our threshold in "
        f"its place it has {of_each(found, best)}.",
    )


def _losses(found: Outcomes) -> str:
    winners = {
        (outcome.setting, model): max(LOSSES, key=lambda loss: outcome.mean(f"{model}, {loss}"))
        for outcome in (found[FORUM], found[REVIEWS])
        for model in MODELS
    }
    told = ", ".join(f"{loss} ({model})" for (_, model), loss in winners.items())
    ordinal = sum(loss.startswith("ordinal") for loss in winners.values())
    forum = found[FORUM]
    return paragraph(
        f"**Paper 1's losses**: an ordinal loss, plain or weighted, is the best of the six in {word(ordinal)} of six "
        f"comparisons (forum and reviews, three models each: {told}).",
        says(
            all(min(LOSSES, key=lambda loss: forum.mean(f"{model}, {loss}")) == "LambdaRank" for model in MODELS),
            "On the forum LambdaRank alone is the worst for all three models, as the paper found it on its own "
            "answers.",
        ),
    )


def _beside_the_paper(found: Outcomes) -> str:
    sections = []
    for outcome, printed in ((found[REVIEWS], TABLE_7_REVIEWS), (found[FORUM], TABLE_7)):
        rows = [
            [loss, number(printed[loss][0]), *(with_deviation(outcome, f"{model}, {loss}") for model in MODELS)]
            for loss in LOSSES
        ]
        values = [printed[loss][0] for loss in LOSSES]
        taus = [_tau(values, [outcome.mean(f"{model}, {loss}") for loss in LOSSES]) for model in MODELS]
        sections.append(
            f"{table([title(outcome), 'printed', *(f'here, {model}' for model in MODELS)], rows)}\n\n"
            f"Kendall's τ of the six losses, printed and here: {between(taus, 2)} for the three models."
        )
    both = "\n\n".join(sections)
    return f"""
## Beside the paper's Table 7

The paper's rankers read text with transformers, and its collections are not public, so its values cannot be expected
here. What can be compared is the order of the losses, by {MEASURE}.

{both}
"""


def _tau(a: list[float], b: list[float]) -> float:
    return float(np.mean([np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i in range(len(a)) for j in range(i)]))


def _how() -> str:
    return f"""
## How it was made

- All trees: at most 300, 15 leaves (CatBoost: depth 6), learning rate 0.05, at least 20 documents a leaf, 80 % of the
  documents and 70 % of the features for each tree. No more was tuned, for anybody.
- Peers: the number of trees (in steps of 20) is the one whose {MEASURE} on the validation set is highest with the
  threshold that is best for it there; that threshold is then used. LightGBM's and XGBoost's rankers refuse negative
  labels, so they get the grades 0, 1, 2 and so on. "With context": they see the list, as ours do (its length, the mean
  of every feature).
- Paper 1's losses: the number of epochs or trees is chosen in the same way, by `measure="{MEASURE}"`, and the threshold
  is `GlobalCutoff("{MEASURE}")` on the validation set.
- Ours: the parameters are the defaults. They were chosen by cross-validation inside the training and validation
  questions of the forum, and on reviews of other seeds; earlier versions had been looked at on the forum's test
  questions, too.
- Seeds: {SEEDS[FORUM]} on the forum's test, {SEEDS[FOLDS]} in folds, {SEEDS[REVIEWS]} on reviews (other products to
  learn from each time).
"""
