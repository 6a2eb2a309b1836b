"""The page: what was asked, what came out, and what does not hold."""

from __future__ import annotations

from pathlib import Path

from experiments.labelling import figures
from experiments.labelling.trials import (
    MODELS,
    NOISES,
    NOISY,
    NOISY_QUERIES,
    QUERIES,
    SHOWN,
    STRATEGIES,
    TAUS,
    K,
    N,
    Noisy,
    cost,
    pairs_of_the_heap,
)
from experiments.markdown import bullets, number, page, percent, says, table
from ranksift.labelling.floor import floor, worst_case_floor
from ranksift.labelling.simulation import Simulation

NEEDS: tuple[str, ...] = ()

MODEL_WORDS = {
    "flip": "Every judgment is turned round with the same probability.",
    "thurstone": "Closer items are confused more often (Thurstone): normal noise on the difference of their scores, "
    "so that the same share of all pairs is judged wrongly.",
}


def files(data: Path) -> dict[str, str]:
    """The page and its figure."""
    plain = {name: cost(name) for name in STRATEGIES}
    text = page(
        OPENING,
        in_short(),
        without_noise(plain),
        with_a_prior(),
        ties_and_flags(),
        with_noise(),
        HOW,
    )
    return {
        "labelling.md": text,
        "labelling-judgments.svg": figures.judgments(plain, floor(N, K), worst_case_floor(N, K)),
    }


OPENING = f"""
# How many judgments the ordered top {K} of {N} takes

A labelling strategy chooses which two documents to show next, and knows when the top k is known. What does each one
cost, and what does it find when assessors err? Assessors are simulated here, so that the truth is known: {QUERIES:,}
queries of {N} items whose scores are drawn from a normal distribution. Nobody was asked. The page is written by

```
python -m experiments.labelling        # make experiments runs it too
```

and one row of it by

```
ranksift label simulate --n {N} --k {K} --strategy tournament --queries {QUERIES}
```
"""


def mean(one: Simulation) -> str:
    """Judgments and their standard error."""
    return f"{number(one.mean, 1)} ± {number(one.standard_error, 2)}"


def in_short() -> str:
    """Section: what holds, and what does not."""
    tournament, heap, flagged = cost("tournament"), cost("heap"), cost("tournament", forbidden=0.5)
    listed, seeded = cost("list", prior_tau=0.6), [cost("seeded", prior_tau=tau) for tau in TAUS]
    weak = cost("seeded", prior_tau=0.4)
    best = min(tournament.mean, cost("list", prior_tau=0.4).mean)
    worst = worst_case_floor(N, K)
    one, two, _ = (Noisy("tournament", "thurstone", 0.1, shown).found for shown in SHOWN)
    high, low = cost("seeded", prior_tau=0.8), cost("list", prior_tau=0.8)
    return "## In short\n\n" + bullets(
        f"**The paper's heap asks {mean(heap)} pairs, a knockout tournament {mean(tournament)}.** At 5.51 seconds a "
        f"pair that is {number(heap.minutes, 1)} and {number(tournament.minutes, 1)} minutes a query.",
        f"**With half of the items to be flagged** as forbidden the tournament takes {mean(flagged)}: two items that "
        "nobody has seen meet first, so that one judgment may flag both.",
        f"**With a prior order of τ = 0.6** a sorted list takes {mean(listed)}.",
        says(
            weak.mean < best,
            f"**One strategy for any prior.** `seeded` is a tournament in which the weakest meet first, and it learns "
            f"from the answers how far the prior can be trusted. With τ = 0.4 it takes {mean(weak)}, where the "
            f"better of tournament and list takes {number(best, 1)}; without any prior {mean(seeded[0])}.",
        ),
        says(
            high.mean > low.mean,
            f"**A very good prior is better used by the list**: with τ = 0.8 it takes {mean(low)}, and `seeded` "
            f"{mean(high)}.",
        ),
        f"**Without a prior, ties and flags there is little left to save.** On the hardest query every strategy needs "
        f"at least {worst} judgments (Knuth), and the tournament takes {number(tournament.mean, 1)} on average. "
        f"Information theory allows for {number(tournament.floor, 0)} on average. What was tried and left out did not "
        "come below the tournament: the pair with the highest expected information on the top k (104 to 116), "
        "a threshold from a sample (92), and a rule for pairs whose ten weights were searched for (91).",
        f"**A second assessor is worth {number(two.verifying, 0)} judgments** where an assessor errs on 10 % of all "
        f"pairs, mostly close ones: κ-NDCG@{K} rises from {number(one.kndcg, 3)} to {number(two.kndcg, 3)}. The whole "
        f"order of the top {K} is seldom right all the same.",
    )


def without_noise(plain: dict[str, Simulation]) -> str:
    """Section: the plain cost."""
    every = N * (N - 1) / 2
    rows = [
        [name, mean(one), number(one.sd, 1), number(one.minutes, 1), number(one.mean / one.floor, 2)]
        for name, one in sorted(plain.items(), key=lambda each: each[1].mean)
    ]
    rows.append(["every-pair", number(every, 1), "0.0", number(every * 5.51 / 60, 1), number(every / floor(N, K), 2)])
    grades = cost("grades")
    return f"""
## Without noise

![Mean judgments by strategy beside the floor of {number(floor(N, K), 0)} bits](labelling-judgments.svg)

{table(["strategy", "judgments", "sd", "minutes", "times the floor"], rows)}

All of them find the top {K} in its order. The floor of {number(floor(N, K), 1)} is the number of bits in an ordered
choice of {K} among {N}: a judgment gives one bit at most. It cannot be reached, as all but the best item must lose at
least once, and most such judgments say little of the top. Any strategy needs {worst_case_floor(N, K)} for some query.
The paper prints 142.76 judgments for its heap. Its assessors could say that two pages are equal, and ties make it
cheaper. As printed it forgets: its {number(plain["heap"].mean, 1)} judgments are about
{number(pairs_of_the_heap(), 1)} different pairs.

Five grades take {number(grades.mean, 0)} judgments of 13.87 seconds, {number(grades.minutes, 1)} minutes. They do not
order items of one grade: κ-NDCG@{K} is {number(grades.kndcg, 4)} where those stay in the order in which they came.
"""


def with_a_prior() -> str:
    """Section: the order of a run helps."""
    rows = []
    for tau in TAUS:
        found = {name: cost(name, prior_tau=tau) for name in ("tournament", "seeded", "list")}
        least = min(one.mean for one in found.values())
        cells = [f"**{mean(one)}**" if one.mean == least else mean(one) for one in found.values()]
        rows.append(["none" if tau is None else f"{tau:g}", *cells])
    return f"""
## With a prior order

Items come in the order of a run, whose Kendall's τ with the truth is given. Judgments of a query:

{table(["τ", "tournament", "seeded", "list"], rows)}

The tournament does not look at the order. The list takes it at its word, and pays where it is wrong.
"""


def ties_and_flags() -> str:
    """Section: what makes it cheaper."""
    names = ("tournament", "seeded", "list", "heap+memory", "heap")
    settings: tuple[tuple[str, dict[str, float]], ...] = (
        ("neither", {}),
        ("5 % of the pairs are tied", {"ties": 0.05}),
        ("20 % of the pairs are tied", {"ties": 0.2}),
        ("a quarter is forbidden", {"forbidden": 0.25}),
        ("half is forbidden", {"forbidden": 0.5}),
        ("half is forbidden, τ = 0.6", {"forbidden": 0.5, "prior_tau": 0.6}),
    )
    rows = [[words, *(number(cost(name, **given).mean, 1) for name in names)] for words, given in settings]
    right = all(cost(name, **given).right == 1 for _, given in settings for name in names)
    return f"""
## Ties and forbidden items

{table(["items", *names], rows)}

{says(right, "In each of these every top k was right.")} A tie joins two items for good, and a flag removes one: both
save judgments. Scores are rounded to equally frequent levels, so that ties are transitive.
"""


def with_noise() -> str:
    """Section: assessors who err."""
    sections = []
    for model in MODELS:
        rows = []
        for name in NOISY:
            for shown in SHOWN:
                found = [Noisy(name, model, noise, shown).found for noise in NOISES]
                cells = [number(one.kndcg, 4) for one in found]
                second = shown or "nobody"
                rows.append([name, second, number(found[-1].mean, 1), number(found[-1].minutes, 1), *cells])
        head = ["strategy", "second", "judgments, 10 %", "minutes, 10 %"]
        sections.append(
            f"{MODEL_WORDS[model]}\n\n"
            + table([*head, *(f"κ-NDCG@{K}, {percent(noise, 0)}" for noise in NOISES)], rows, 2)
        )
    grades = Noisy("grades", "flip", 0.1).found
    grades_are_better = says(
        grades.kndcg > Noisy("tournament", "flip", 0.1).found.kndcg,
        f"Five grades of which 10 % are one off reach {number(grades.kndcg, 3)}: such an error is a small one.",
    )
    plain, _, all_ = (Noisy("tournament", "flip", 0.1, shown).found for shown in SHOWN)
    close = [Noisy("tournament", "thurstone", 0.1, shown).found.kndcg for shown in SHOWN]
    both = "\n\n".join(sections)
    return f"""
## Assessors who err

An assessor who is asked the same question again says the same: asking twice gains nothing. With two assessors, the
second one is shown neighbours of the order that was found, and a third one settles what they disagree on. Where two of
three turn a pair round, the better item is compared with its new neighbour. "All" shows the last of the top {K} beside
every item below it, too. {NOISY_QUERIES} queries each; the share is that of all pairs on which an assessor is wrong,
and of grades that are one off.

{both}

- With noise of the first kind one wrong judgment may lose a good item for good, whatever the strategy. At 10 % the
tournament's κ-NDCG@{K} is {number(plain.kndcg, 3)}. {grades_are_better}
- Verifying neighbours mends the order of what was found. An item that was lost on the way comes back if the second
assessor sees all: κ-NDCG@{K} is {number(all_.kndcg, 3)} then, for {number(all_.verifying, 0)} judgments more.
- Where close items are confused, which is the likelier kind, hardly anything is lost on the way: one assessor reaches
{number(close[0], 3)}, with neighbours verified {number(close[1], 3)}, with all {number(close[2], 3)}.
- Strategies that use transitivity see no contradictions of one assessor, as they never ask what follows. Those of the
  paper's heap are reported as cycles.
"""


HOW = """
## How it was done

Scores, orders and answers follow from the seed of the simulation, 0 here. An answer is a function of the assessor and
the pair, whichever side a document is shown on. Seconds for a judgment are the means of the paper's Table 1. κ-NDCG is
that of `ranksift evaluate`, with position labels of the true order. The sides of a pair are drawn.
"""
