"""Where a run loses."""

from __future__ import annotations

from ranksift.cli.story.stage import Stage
from ranksift.evaluation.explain import explain
from ranksift.report.charts import stacks

TITLE = "Where does it go wrong?"

MEASURE = "nDCG_f@10"


def tell(stage: Stage) -> None:
    """Explain a run, and one query of it."""
    stage.run(f"ranksift explain qrels.txt unfiltered.run -m {MEASURE} --worst 5")
    losses = {name: explain(stage.qrels, run, MEASURE).overall for name, run in stage.runs.items()}
    stage.draw(
        stacks(
            [(name, [x.value, x.to_forbidden, x.to_misordering, x.to_missing]) for name, x in losses.items()],
            ["value", "lost to forbidden", "lost to misordering", "lost to missing"],
            ["good", "bad", "warn", "rest"],
        ),
        """What separates each system from the ideal list. unfiltered loses most to spam it shows, overfiltered to good
        documents it does not show, weak to their order. The ideal list is below 1 where no list can be better than
        another.""",
    )
    query = _telling_query(stage)
    stage.say("One query, document by document: what each gave or cost, and what filtering it would have gained.")
    stage.run(f"ranksift explain qrels.txt unfiltered.run -m {MEASURE} --query {query}")


def _telling_query(stage: Stage) -> str:
    """A query that loses much to spam, although it has several good documents."""
    relevant = stage.qrels.pool.sum(stage.qrels.pool.labels > 0)
    several = {q for q, n in zip(stage.qrels.query_ids, relevant, strict=True) if n >= 3}
    queries = explain(stage.qrels, stage.runs["unfiltered"], MEASURE).queries
    return next((q.query_id for q in queries if q.query_id in several), queries[0].query_id)
