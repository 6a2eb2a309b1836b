"""Which differences are more than luck."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage

TITLE = "Is the difference more than luck?"


def tell(stage: Stage) -> None:
    """Compare with a test."""
    stage.run(
        "ranksift compare qrels.txt unfiltered.run filtered.run overfiltered.run weak.run "
        '-m "nDCG@10 nDCG_f@10 Fdocs@10" --baseline unfiltered --test randomization'
    )
    stage.say(
        """A letter behind a number names the runs that are significantly worse: the table can go into a paper as it is
        (`--format latex` or `markdown`). nDCG finds `unfiltered` significantly better than `weak`; nDCG_f finds the
        opposite, as significantly."""
    )
