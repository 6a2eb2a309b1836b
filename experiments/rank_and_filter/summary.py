"""Section: what was found, in short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.cutoffs.printed import TABLE_7
from experiments.markdown import between, bullets, number, paragraph, percent, probability, says, word
from experiments.rank_and_filter.printed import TABLE_7_REVIEWS
from experiments.rank_and_filter.rows import (
    BEST_CUT,
    FILTER,
    FILTER_ALL,
    FILTERED_DCG,
    JOINT,
    LOSSES,
    MODELS,
    OPTIMAL,
    OWN_CUT,
    PAPER,
    PEER,
    RANK_ONLY,
    YETIRANK,
)
from experiments.rank_and_filter.settings import FOLDS, FORUM, REVIEWS, looked_at
from experiments.rank_and_filter.trials import KNOWN_GAINS, KNOWN_SHARES, Outcome
from experiments.rank_and_filter.values import ALPHA, Outcomes, of_each, p_is, title, with_deviation

#: Peers that are named where ours are not shown to be better than they are.
NAMED = 3


def in_short(found: Outcomes, data: Path) -> str:
    """What was found, also where it disappoints."""
    reviews, forum = found[REVIEWS], found[FORUM]
    plain, tuned = f"{JOINT}, without the normaliser", f"{JOINT}, best cut instead of 0"
    return "**In short**\n\n" + bullets(
        *(_verdict(outcome, data) for outcome in found.values()),
        *(_best_loss(outcome) for outcome in found.values()),
        _hidden(found),
        says(
            all(o.mean(plain) < o.mean(JOINT) - 0.01 for o in found.values()),
            "**The normaliser is what earlier losses missed.** nDCG_f divides every query by its own I − W. Trees that "
            f"are fitted to changes of DCG, with the same stop document, have {of_each(found, plain)}, {JOINT} "
            f"{of_each(found, JOINT)}. With a tuned cut they have {of_each(found, f'{plain}, best cut')}.",
        ),
        says(
            all(round(o.mean(tuned), 3) <= round(o.mean(JOINT), 3) for o in found.values()),
            f"**The cut needs no tuning.** With the best threshold on validation instead of 0, {JOINT} has "
            f"{of_each(found, tuned)}: no better.",
        ),
        _catboost(found),
        _losses(found),
        _order_of_losses(found),
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


def _verdict(outcome: Outcome, data: Path) -> str:
    told = []
    for ours in (JOINT, OPTIMAL):
        against = outcome.against(ours, outcome.peers)
        left = [name for name, (difference, p) in against.items() if difference <= 0 or p >= ALPHA]
        beaten = len(against) - len(left)
        value = f"{ours} has {with_deviation(outcome, ours)}"
        if left:
            nearest = sorted(left, key=lambda name: against[name][0])[:NAMED]
            others = ", ".join(f"{n} ({number(against[n][0], 4, sign=True)}, {p_is(against[n][1])})" for n in nearest)
            more = says(len(left) > NAMED, f" and {word(len(left) - NAMED)} more")
            told.append(
                f"{value}, significantly more than {word(beaten) if beaten else 'none'} of {len(against)} peers, but "
                f"not than {others}{more}"
            )
        else:
            largest = probability(max(p for _, p in against.values()))
            told.append(f"{value}, **significantly more than each of the {beaten} peers** (largest p {largest})")
    best = outcome.best(PEER)
    return paragraph(
        f"**{title(outcome)}**: {'; '.join(told)}. The best peer is {best} with {with_deviation(outcome, best)}.",
        says(
            outcome.setting == FOLDS,
            f"The defaults of ours were chosen on {percent(looked_at(data), 0)} of these questions, those of the peers "
            "were not; the forum's test has none of them, though earlier versions of ours had been looked at on it.",
        ),
    )


def _best_loss(outcome: Outcome) -> str:
    """The best of paper 1's losses, where ours are not shown to be better than it."""
    best, peer = outcome.best(PAPER), outcome.best(PEER)
    against = {ours: outcome.against(ours, outcome.group(PAPER))[best] for ours in (JOINT, OPTIMAL)}
    left = [ours for ours, (difference, p) in against.items() if difference <= 0 or p >= ALPHA]
    told = "; ".join(f"{ours} {number(d, 4, sign=True)}, {p_is(p)}" for ours, (d, p) in against.items())
    above = says(outcome.mean(best) > outcome.mean(peer), ", above every peer")
    which = "neither of ours is" if len(left) == 2 else f"{''.join(left)} is not"
    return says(
        bool(left),
        f"**{title(outcome)}, paper 1's losses**: the best of them is {best} with {with_deviation(outcome, best)}"
        f"{above}; {which} significantly better than it ({told}).",
    )


def _hidden(found: Outcomes) -> str:
    """What a high value costs: good documents that are not shown, and queries without an answer."""

    def told(outcome: Outcome, name: str) -> str:
        return f"{percent(outcome.mean(name, 'GoodFiltered'), 0)} and {percent(_empty(outcome, name), 0)}"

    settings = "; ".join(
        f"{o.setting}: {JOINT} {told(o, JOINT)}, {OPTIMAL} {told(o, OPTIMAL)}, the best peer {told(o, o.best(PEER))}"
        for o in found.values()
    )
    more = [o.setting for o in found.values() if min(_empty(o, JOINT), _empty(o, OPTIMAL)) > _empty(o, o.best(PEER))]
    return paragraph(
        "**What is hidden**, in shares of the good documents that are filtered and of the queries left empty: "
        f"{settings}.",
        says(
            bool(more),
            f"Both of ours leave more queries empty than the best peer in {word(len(more))} of {word(len(found))} "
            f"settings ({'; '.join(more)}): nDCG_f rewards that, a reader may not.",
        ),
    )


def _empty(outcome: Outcome, name: str) -> float:
    return outcome.mean(name, "Empty")


def _way(outcome: Outcome, name: str) -> float:
    low, high = outcome.mean(RANK_ONLY), outcome.mean(KNOWN_SHARES)
    return (outcome.mean(name) - low) / (high - low)


def _catboost(found: Outcomes) -> str:
    own, best = f"{FILTERED_DCG}, {OWN_CUT}", f"{FILTERED_DCG}, {BEST_CUT}"
    return paragraph(
        f"**CatBoost's losses that filter** learn a cut at 0 as well, for DCG. FilteredDCG has {of_each(found, own)} "
        f"with it, and with our threshold in its place {of_each(found, best)}. StochasticFilter, which drops documents "
        f"from YetiRank's ranking, has {of_each(found, f'{FILTER}, {OWN_CUT}')} and "
        f"{of_each(found, f'{FILTER}, {BEST_CUT}')}; YetiRank with a threshold on its own score "
        f"{of_each(found, YETIRANK)}.",
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
        f"**Paper 1's losses**: an ordinal loss, plain or weighted, is the best of the six in "
        f"{word(ordinal) if ordinal else 'none'} of six comparisons (forum and reviews, three models each: {told}).",
        says(
            all(min(LOSSES, key=lambda loss: forum.mean(f"{model}, {loss}")) == "LambdaRank" for model in MODELS),
            "On the forum LambdaRank alone is the worst for all three models, as the paper found it on its own "
            "answers.",
        ),
    )


def _order_of_losses(found: Outcomes) -> str:
    """How far the paper's order of the losses is found here."""
    told = []
    for outcome, printed in ((found[FORUM], TABLE_7), (found[REVIEWS], TABLE_7_REVIEWS)):
        own = taus(outcome, printed)
        winner = max(LOSSES, key=lambda loss: printed[loss][0])
        last = [m for m in MODELS if min(LOSSES, key=lambda loss: outcome.mean(f"{m}, {loss}")) == winner]
        told.append(
            paragraph(
                f"{title(outcome)}: Kendall's τ with the printed order is {between(own, 2)}"
                f"{says(max(own) <= 0, ', so that it is not reproduced')}.",
                says(
                    bool(last),
                    f"The paper's best loss there, {winner}, is the worst of the six for {word(len(last))} of "
                    f"{word(len(MODELS))} models ({', '.join(last)}).",
                ),
            )
        )
    return paragraph("**The paper's order of the losses.**", *told)


def taus(outcome: Outcome, printed: Mapping[str, Sequence[float]]) -> list[float]:
    """Kendall's τ of the losses as they are printed and as they are here, for each model."""
    values = [printed[loss][0] for loss in LOSSES]
    return [_tau(values, [outcome.mean(f"{model}, {loss}") for loss in LOSSES]) for model in MODELS]


def _tau(a: list[float], b: list[float]) -> float:
    return float(np.mean([np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i in range(len(a)) for j in range(i)]))
