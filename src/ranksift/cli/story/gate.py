"""A release gate."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage

TITLE = "A gate before the release"


def tell(stage: Stage) -> None:
    """One system passes, one fails."""
    stage.say("In a pipeline the exit code decides: 0 lets the new system through, 1 stops it.")
    limits = '--require "Fdocs@10<=0.05 nDCG_f@10>=0.75"'
    stage.run(f"ranksift check qrels.txt filtered.run {limits} --not-worse-than unfiltered.run")
    stage.run(f"ranksift check qrels.txt overfiltered.run {limits}")
