"""The data: judgments with forbidden documents, and five systems."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage

TITLE = "A collection in which some documents are forbidden"


def tell(stage: Stage) -> None:
    """Show what is in it."""
    stage.say(
        """Fifty made-up queries. Assessors gave good documents the labels 1 to 3, harmless ones 0, and spam, which
        nobody should ever see, -2. Spam is written to look relevant."""
    )
    stage.run("ranksift describe qrels.txt")
    stage.say(
        """Five systems answer them. `unfiltered` ranks by relevance and falls for spam. `filtered` is the same ranker
        with a spam filter, `overfiltered` with a filter that drops too much. `weak` ranks worse, but is not fooled
        by spam. `perfect` shows what is relevant, best first, and nothing else; where nothing is relevant it shows
        nothing."""
    )
