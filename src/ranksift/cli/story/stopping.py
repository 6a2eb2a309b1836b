"""Lists that end on purpose."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage

TITLE = "Knowing when to stop"


def tell(stage: Stage) -> None:
    """Show measures for truncated lists and for questions that are better left unanswered."""
    stage.run("""ranksift evaluate qrels.txt *.run -m 'nDCG nDCG_qwa(scale="max") c_at_1 Empty'""")
    stage.say(
        """`nDCG_qwa` puts a terminal document at the end of every list: stopping after the last good document is
        rewarded, and so is an empty list where there is nothing to find. `c_at_1` does the same for a system that
        gives one answer: none is better than a wrong one. `perfect` stops in time and leaves questions without an
        answer alone; nDCG cannot tell."""
    )
