"""``ranksift label simulate``: what a strategy costs and finds, before anything has been judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import progress, show, write_json


def simulate(
    strategies: Annotated[
        list[str],
        typer.Option(
            "--strategy",
            "-s",
            metavar="NAME",
            help="A strategy to simulate; may be repeated, or all.  [default: tournament]",
        ),
    ] = options.NONE,
    n: Annotated[int, typer.Option("--n", min=1, help="The number of items per query.")] = 50,
    k: Annotated[int, typer.Option("--k", min=1, help="How many of the best items to find, in order.")] = 10,
    queries: Annotated[int, typer.Option("--queries", min=1, help="The number of queries to simulate.")] = 1000,
    noise: Annotated[
        float, typer.Option("--noise", min=0, max=0.5, help="The share of pairs that are judged wrongly.")
    ] = 0.0,
    model: Annotated[
        Literal["flip", "thurstone"],
        typer.Option(
            "--noise-model", help="Whether all pairs are judged wrongly equally often, or close ones more often."
        ),
    ] = "flip",
    ties: Annotated[float, typer.Option("--ties", min=0, max=1, help="The share of pairs that are tied.")] = 0.0,
    forbidden: Annotated[
        float, typer.Option("--forbidden", min=0, max=1, help="The share of items that are forbidden.")
    ] = 0.0,
    prior_tau: Annotated[
        float | None,
        typer.Option(
            "--prior-tau",
            min=-1,
            max=1,
            help="Kendall's tau between a prior order and the truth; default: no prior order.",
        ),
    ] = None,
    assessors: Annotated[
        int,
        typer.Option(
            "--assessors", min=1, max=2, help="2: a second assessor verifies, and a third one settles disagreements."
        ),
    ] = 1,
    shown: Annotated[
        Literal["neighbours", "all"],
        typer.Option(
            "--shown",
            help="What the second assessor sees: neighbours in the top k, or also its last item with each item below.",
        ),
    ] = "neighbours",
    seconds_per_pair: Annotated[
        float, typer.Option("--seconds-per-pair", min=0, help="Seconds per pair; the default is that of the paper.")
    ] = 5.51,
    seconds_per_grade: Annotated[
        float, typer.Option("--seconds-per-grade", min=0, help="Seconds per grade; the default is that of the paper.")
    ] = 13.87,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the random numbers.")] = 0,
    format: Annotated[Literal["table", "json"], typer.Option("--format", help="The output format.")] = "table",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to this file instead of the terminal.")
    ] = None,
) -> None:
    """Simulate labelling: judgments, minutes and kappa-NDCG of strategies on synthetic queries.

    ranksift label simulate --strategy tournament --strategy heap --noise 0.05
    """
    from ranksift.evaluation.table import Table
    from ranksift.labelling.simulation import simulate as simulation_of
    from ranksift.labelling.strategies import STRATEGIES

    names = list(STRATEGIES) if "all" in strategies else strategies or ["tournament"]
    found = [
        simulation_of(
            name,
            n=n,
            k=k,
            queries=queries,
            noise=noise,
            ties=ties,
            forbidden=forbidden,
            prior_tau=prior_tau,
            assessors=assessors,
            seed=seed,
            model=model,
            shown=shown,
            seconds_per_pair=seconds_per_pair,
            seconds_per_grade=seconds_per_grade,
        )
        for name in progress("simulating", len(names))(names)
    ]
    if format == "json":
        data = [one.to_json() for one in found]
        write_json(data[0] if len(data) == 1 else data, out)
        return
    rows = [
        [
            one.strategy,
            f"{one.mean:.1f}",
            f"{one.sd:.1f}",
            f"{one.standard_error:.1f}",
            f"{one.minutes:.1f}",
            f"{one.kndcg:.4f}",
            f"{100 * one.right:.1f}",
        ]
        for one in found
    ]
    columns = ["strategy", "judgments", "sd", "se", "minutes", f"kNDCG@{k}", "right, %"]
    counted = "1 query" if queries == 1 else f"{queries:,} queries"
    notes = [
        f"{counted} of {n:,} items, the top {k} in their order; means per query",
        f"at least {found[0].floor:.1f} judgments by information theory, without ties and without a prior",
    ]
    show(Table(columns, rows, notes=notes), out=out)
