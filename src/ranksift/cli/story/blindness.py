"""What the usual measures make of spam."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage
from ranksift.evaluation.evaluate import evaluate

TITLE = "The usual measures cannot see the spam"


def tell(stage: Stage) -> None:
    """Show nDCG beside the share of forbidden documents."""
    stage.run('ranksift evaluate qrels.txt *.run -m "nDCG@10 AP Fdocs@10"')
    scores = evaluate(stage.qrels, stage.runs, "nDCG@10 Fdocs@10")
    shown = dict(zip(scores.runs, scores.aggregate()[:, scores.column("Fdocs@10")], strict=True))
    hopeless = scores.degenerate.get("nDCG@10", 0)
    stage.say(
        f"""`Fdocs@10` is the share of forbidden documents among the first ten results. {shown["unfiltered"]:.0%} of
        what `unfiltered` shows is spam, against {shown["weak"]:.0%} of `weak`, and still nDCG and AP prefer it: to
        them spam is just another document without relevance. And `perfect` cannot reach 1, because in {hopeless}
        queries nothing is relevant: there the right answer is an empty list, and nDCG gives 0 to everybody."""
    )
