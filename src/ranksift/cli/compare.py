"""``ranksift compare``: which differences between runs are significant.

``--format json`` has the keys of :meth:`ranksift.evaluation.compare.Comparison.to_dict`, after ``ranksift`` (the
version).
``--format csv`` has one row per comparison and measure, with the keys of ``comparisons`` as columns.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import note, show, write, write_csv, write_json
from ranksift.errors import InputError


def compare(
    qrels: options.QrelsFile,
    runs: options.RunFiles,
    measures: options.Measures = options.NONE,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", "-b", metavar="RUN", help="Compare every run with this one, instead of all pairs."),
    ] = None,
    test: Annotated[
        Literal["t", "randomization", "bootstrap", "wilcoxon", "tukey", "unpaired"],
        typer.Option(
            "--test", help="The significance test; all but unpaired are paired, and tukey compares all runs at once."
        ),
    ] = "t",
    correction: Annotated[
        Literal["holm", "bonferroni", "bh", "none"],
        typer.Option(
            "--correction",
            help="The correction for multiple comparisons per measure (bh: Benjamini and Hochberg); tukey needs none.",
        ),
    ] = "holm",
    alpha: options.Alpha = 0.05,
    samples: Annotated[
        int, typer.Option("--samples", min=1, help="How many samples the randomization and bootstrap tests draw.")
    ] = 10_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the randomization and bootstrap tests.")] = 0,
    gains: options.GainsText = "linear",
    unjudged: options.UnjudgedChoice = "zero",
    unjudged_label: options.UnjudgedLabel = None,
    queries: options.QueriesChoice = "qrels",
    on_duplicate: options.DuplicateChoice = "error",
    details: Annotated[bool, typer.Option("--details", help="Show differences, intervals and p values.")] = False,
    form: Annotated[
        Literal["table", "markdown", "latex", "json", "csv"] | None,
        typer.Option("--format", "-f", help=options.FORMAT_HELP),
    ] = None,
    digits: options.Digits = None,
    out: options.OutFile = None,
    memory: options.Memory = None,
) -> None:
    """Compare runs query by query, with a test of significance.

    ranksift compare qrels.txt bm25.run ours.run -m nDCG_f@10 --baseline bm25
    """
    from ranksift.cli.scored import scores_of
    from ranksift.evaluation.compare import compare as library
    from ranksift.report.scores import degenerate_notes

    wanted = options.chosen(measures)
    options.check_standard_input(qrels, runs)
    if baseline is not None and len(runs) == 1:
        raise InputError(
            "a comparison needs at least 2 runs", remedy="give the file of the baseline among the runs too"
        )
    scores = scores_of(
        qrels,
        runs,
        wanted,
        unjudged_label=unjudged_label,
        gains=gains,
        unjudged=unjudged,
        queries=queries,
        on_duplicate=on_duplicate,
        progress=options.progress_of(runs),
        memory=memory,
    )
    name = options.name_of(baseline, list(scores.runs), runs)
    result = library(scores, name, test, correction, samples=samples, seed=seed, alpha=alpha)
    for line in degenerate_notes(scores):
        note(line)
    written = options.form_of(form, out)
    if written == "json":
        write_json(result.to_dict(), out)
        return
    if written == "csv":
        rows = result.to_dict()["comparisons"]
        write_csv(list(rows[0]), (list(row.values()) for row in rows), out)
        return
    shown = 4 if digits is None else digits
    tables = [result.table(shown), *([result.details(shown)] if details else [])]
    if written == "table":
        show(*tables, out=out)
    else:
        write("\n\n".join(t.markdown() if written == "markdown" else t.latex() for t in tables) + "\n", out)
