"""Scores of runs as several commands need them: in memory, or in parts if files are larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranksift.cli import options
from ranksift.cli.output import note
from ranksift.errors import InputError
from ranksift.evaluation.scores import Scores
from ranksift.measures.measure import Measure

if TYPE_CHECKING:
    from ranksift.evaluation.partitioned import Partitioned


def scores_of(
    qrels: str,
    runs: Sequence[str],
    measures: Sequence[Measure],
    *,
    unjudged_label: float | None = None,
    rel: float = 1.0,
    cache: Path | None = None,
    engine: str = "local",
    address: str | None = None,
    **how: Any,
) -> Scores:
    """Evaluate files; ``how`` is what :func:`~ranksift.evaluation.evaluate.evaluate` takes beside them."""
    from ranksift.collection.qrels import read_qrels
    from ranksift.collection.run_parts import memory_for
    from ranksift.evaluation.evaluate import evaluate, ready_measures

    if options.on_ray(engine, address):
        if "-" in (qrels, *runs) or cache is not None:
            what = "--cache is" if cache is not None else "- is standard input, which is"
            raise InputError(f"{what} of one machine", remedy="leave it out, or leave --engine ray out")
        from ranksift.scale.evaluation import evaluate_on_ray

        wanted = ready_measures(measures, rel)
        return _told(
            evaluate_on_ray(qrels, runs, wanted, address=address, unjudged_label=unjudged_label, **how),
            measures,
            unjudged_label,
            how["gains"],
        )
    if cache is None and memory_for(qrels, how.get("memory")) is not None:
        from ranksift.evaluation.partitioned import evaluate_in_partitions

        found = evaluate_in_partitions(qrels, runs, ready_measures(measures, rel), unjudged_label=unjudged_label, **how)
        if found is not None:
            return _told(found, measures, unjudged_label, how["gains"])
    judgments = read_qrels(qrels, on_duplicate=how["on_duplicate"], columns=how.get("columns"))
    judgments = options.without_unjudged(judgments, unjudged_label, how["gains"], measures)
    return evaluate(judgments, runs, measures, rel=rel, cache=cache, **how)


def _told(found: Partitioned, measures: Sequence[Measure], unjudged_label: float | None, gains: str) -> Scores:
    """Scores, with what is to be said of them and of the labels."""
    options.note_minus_one(found.labels, unjudged_label, gains, measures)
    for line in found.scores.notes:
        note(line)
    return found.scores
