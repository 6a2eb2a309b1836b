"""What happens when negative labels simply act."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage
from ranksift.evaluation.evaluate import evaluate
from ranksift.report.charts import strips

TITLE = "Letting negative labels act breaks the scale"


def tell(stage: Stage) -> None:
    """Show the unbounded measures."""
    stage.run('ranksift evaluate qrels.txt *.run -m "nDCG_org@10 nDCG_min@10 UBQ@10"')
    names = ["nDCG_org@10", "nDCG_min@10", "nDCG_f@10"]
    scores = evaluate(stage.qrels, stage.runs, names)
    values = scores.values[scores.row("perfect")]
    org = dict(zip(scores.runs, scores.aggregate()[:, 0], strict=True))
    stage.say(
        f"""`nDCG_org` divides by an ideal that spam can make tiny or negative: `perfect` gets {org["perfect"]:.2f} and
        `unfiltered` {org["unfiltered"]:.2f}. `nDCG_min` measures between the worst and the best order of all judged
        documents; a system that leaves spam out does better than the best order, so its values pass 1. `UBQ` counts
        the queries in which that happens."""
    )
    stage.draw(
        strips([(name, values[:, i].tolist()) for i, name in enumerate(names)], -3, 3),
        f"""The perfect system: every dot is one of {len(scores.queries)} queries. Inside the green band a measure can
        be read as a share of what is possible. Only nDCG_f, the subject of the next chapter, stays there.""",
    )
