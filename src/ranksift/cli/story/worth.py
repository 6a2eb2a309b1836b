"""What the measures themselves are worth."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage
from ranksift.figure import can_draw

TITLE = "What is a measure worth?"


def tell(stage: Stage) -> None:
    """Study the measures on the same runs."""
    stage.say(
        """Which measure should decide? A good one has bounds, comes to the same conclusion on other topics, tells runs
        apart, and owes its variance to the runs and not to the topics. All of that can be measured, on one's own runs
        or on a table of scores."""
    )
    if not can_draw():
        stage.say("The report needs pictures: `pip install 'ranksift[report]'`, then `ranksift demo` shows it here.")
        return
    stage.run(
        'ranksift study qrels.txt *.run -m "nDCG@10 nDCG_org@10 nDCG_min@10 nDCG_f@10" --gains="-2=-10" --out study'
    )
    stage.say(
        """nDCG finds more pairs of runs different than nDCG_f does, and is sure of the wrong thing: to it spam is
        harmless. Being stable is not being right. Of the measures that see spam, nDCG_f is the one that is bounded, and
        it needs the fewest topics."""
    )
    stage.say(
        """The page `study/index.html` has every table and figure with a reading in plain words; beside it lie the
        figures as SVG and PDF and the tables as CSV and LaTeX. `--preset forbidden-2022` takes the parameters of the
        paper behind nDCG_f."""
    )
