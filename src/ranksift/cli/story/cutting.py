"""Where to cut."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage
from ranksift.datasets.synthetic import synthetic_safety

TITLE = "Which results should not be shown?"


def tell(stage: Stage) -> None:
    """Fit a threshold on a second score, apply it, and judge it beside other rules."""
    stage.say(
        """`unfiltered` ranks well and shows spam. Beside it stands a classifier that scores how safe a document looks,
        in `safety.scores`. Which of its scores is too low? The threshold that maximises nDCG_f is found exactly, over
        all cuts."""
    )
    synthetic_safety().save("safety.scores")
    second = "--cut-scores safety.scores"
    stage.run(f'ranksift cutoff fit qrels.txt unfiltered.run {second} -m nDCG_f@10 --gains="-2=-10" --out cutoff.json')
    stage.run(f"ranksift cutoff apply cutoff.json unfiltered.run {second} --out cut.trec")
    stage.run(
        'ranksift evaluate qrels.txt unfiltered.run filtered.run cut.trec -m "nDCG_f@10 Fdocs@10" --gains="-2=-10"'
    )
    stage.say(
        """`cutoff.json` is a few lines that an application can apply without RankSift. What it gives on queries that it
        has not seen, beside other rules and beside the best that any cut could do:"""
    )
    stage.run(f'ranksift cutoff compare qrels.txt unfiltered.run {second} --gains="-2=-10" --k 10')
