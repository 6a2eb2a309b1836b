"""The measure for systems that may leave documents out."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage
from ranksift.evaluation.evaluate import evaluate
from ranksift.report.charts import dumbbells

TITLE = "nDCG_f measures ranking and filtering together"


def tell(stage: Stage) -> None:
    """Show nDCG_f and what filtering did."""
    stage.run('ranksift evaluate qrels.txt *.run -m "nDCG_f@10 Fdocs@10 GoodFiltered"')
    names = ("nDCG@10", "nDCG_f@10")
    scores = evaluate(stage.qrels, stage.runs, names)
    usual, ours = ({run: row[i] for run, row in zip(scores.runs, scores.aggregate(), strict=True)} for i in (0, 1))
    stage.say(
        f"""`nDCG_f` compares a list with the best and the worst sublist of the judged documents, so that 0 and 1 hold
        whatever is left out. Now `filtered` ({ours["filtered"]:.2f}) is far ahead of `unfiltered`
        ({ours["unfiltered"]:.2f}), and even `weak` ({ours["weak"]:.2f}) is: the order of the systems has changed.
        `GoodFiltered` is the price of a filter: the share of documents that are not forbidden and are not shown.
        `overfiltered` pays too much."""
    )
    order = sorted(scores.runs, key=lambda run: -ours[run])
    stage.draw(
        dumbbells([(run, float(usual[run]), float(ours[run])) for run in order], names),
        """The same systems seen by nDCG and by nDCG_f. By nDCG, unfiltered is better than weak and overfiltered; by
        nDCG_f it is the last of all.""",
    )
