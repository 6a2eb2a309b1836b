"""The page: what was found, in short; then everything."""

from __future__ import annotations

from pathlib import Path

from experiments.cutoffs.printed import TABLE_7
from experiments.markdown import between, number, page, table
from experiments.rank_and_filter.figures import values as figure
from experiments.rank_and_filter.parts import why
from experiments.rank_and_filter.printed import TABLE_7_REVIEWS
from experiments.rank_and_filter.rows import LOSSES, MODELS
from experiments.rank_and_filter.settings import FOLDS, FORUM, MEASURE, NEEDS, REVIEWS, SEEDS, K
from experiments.rank_and_filter.summary import in_short, taus
from experiments.rank_and_filter.tables import of_setting, who_wins
from experiments.rank_and_filter.trials import outcomes
from experiments.rank_and_filter.values import Outcomes, title, with_deviation

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
        in_short(found, data),
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


def _beside_the_paper(found: Outcomes) -> str:
    sections = []
    for outcome, printed in ((found[REVIEWS], TABLE_7_REVIEWS), (found[FORUM], TABLE_7)):
        rows = [
            [loss, number(printed[loss][0]), *(with_deviation(outcome, f"{model}, {loss}") for model in MODELS)]
            for loss in LOSSES
        ]
        found_taus = between(taus(outcome, printed), 2)
        sections.append(
            f"{table([title(outcome), 'printed', *(f'here, {model}' for model in MODELS)], rows)}\n\n"
            f"Kendall's τ of the six losses, printed and here: {found_taus} for the three models."
        )
    both = "\n\n".join(sections)
    return f"""
## Beside the paper's Table 7

The paper's rankers read text with transformers, and its collections are not public, so its values cannot be expected
here. What can be compared is the order of the losses, by {MEASURE}.

{both}
"""


def _how() -> str:
    return f"""
## How it was made

- All trees: at most 300, 15 leaves (CatBoost: depth 6), learning rate 0.05, at least 20 documents a leaf (XGBoost: a
  curvature of 1, and of 5 for `binary:logistic`; CatBoost: no least number), 80 % of the documents (CatBoost: its own
  bootstrap) and 70 % of the features for each tree. No more was tuned for the peers and for paper 1's losses.
- Peers: the number of trees (in steps of 20) is the one whose {MEASURE} on the validation set is highest with the
  threshold that is best for it there; that threshold is then used. LightGBM's and XGBoost's rankers refuse negative
  labels, so they get the grades 0, 1, 2 and so on, as gains that are not exponential; CatBoost gets the gains as they
  are. "With context": they see the list, as ours do (its length, the mean of every feature).
- CatBoost's FilteredDCG (`StochasticRank`) is that of the measure: a logarithmic discount and the first {K} documents.
  Where it cuts at 0, so does the choice of the number of trees.
- CatBoost's `StochasticFilter` drops documents from a ranking that is given, and asks for training rows in that order
  (`has_time`). The ranking is that of YetiRank, with the number of trees that is best on validation; the filter's
  score decides only on what is dropped. Each third of the training queries is put in order by trees that were grown
  on the other two, as trees rank the documents they were grown on better than others. Its discount is 1/rank, down to
  the end of the list: it has no other.
- Paper 1's losses: the number of epochs or trees is chosen in the same way, by `measure="{MEASURE}"`, and the threshold
  is `GlobalCutoff("{MEASURE}")` on the validation set.
- Ours: the parameters are the defaults. They were chosen by cross-validation inside the training and validation
  questions of the forum, which are most of the questions of the folds, and on reviews of other seeds; earlier versions
  had been looked at on the forum's test questions, too. Nothing of the kind was done for the peers.
- Seeds: {SEEDS[FORUM]} on the forum's test, {SEEDS[FOLDS]} in folds, {SEEDS[REVIEWS]} on reviews (other products to
  learn from each time).
"""
