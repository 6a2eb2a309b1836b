"""From a request to its documents, and from their scores to the bytes of its answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranksift.collection.ragged import Floats
from ranksift.errors import InputError
from ranksift.serving.requests import Filter, Rerank, matrix
from ranksift.serving.served import List, ServedCutoff, ServedRanker
from ranksift.web.problems import Problem


@dataclass(frozen=True)
class Shown:
    """What came of one list."""

    scores: Floats
    kept: int

    @property
    def dropped(self) -> int:
        """How many documents are not shown."""
        return len(self.scores) - self.kept


def asked_list(served: ServedRanker, asked: Rerank) -> List:
    """The documents of a request, ready to be scored; refused where they are not what the model reads."""
    try:
        names = served.ranker.feature_names_
        rows = None if asked.features is None else matrix(asked.features, names)
        return served.listed(asked.query, asked.documents, rows)
    except InputError as error:
        text = str(error)
        raise Problem(422, f"{text[:1].upper()}{text[1:]}.") from None


def ranked_answer(
    served: ServedRanker, asked: Rerank, listed: List, scores: Floats, identity: str
) -> tuple[Shown, bytes]:
    """What is shown of a list, and the answer that says so."""
    ranked = served.ranked(listed, scores)
    kept = [one for one in ranked if one.kept]
    results: list[dict[str, Any]] = [{"index": one.index, "relevance_score": one.score} for one in kept[: asked.top_n]]
    if asked.return_documents:
        for one, result in zip(kept, results, strict=False):
            result["document"] = {"text": one.text}
    answer: dict[str, Any] = {"id": identity, "model": served.name, "version": served.version, "results": results}
    if asked.return_dropped:
        answer["dropped"] = [
            {"index": one.index, "relevance_score": one.score, "margin": _finite(one.margin)}
            for one in ranked
            if not one.kept
        ]
    if asked.as_data:
        answer |= {"object": "list", "data": results, "usage": {"total_tokens": listed.size}}
    return Shown(scores, len(kept)), _as_bytes(answer)


def filtered_answer(served: ServedCutoff, asked: Filter, identity: str) -> tuple[Shown, bytes]:
    """The same where the client has the scores."""
    two = bool(served.cutoff.fitted_on_["two_scores"])
    if two and asked.rank_scores is None:
        what = "The cutoff was fitted on two scores: also send rank_scores, which rank the documents."
        raise Problem(422, what)
    keeps = served.cutoff.keep(asked.scores, rank_scores=asked.rank_scores)
    order = np.argsort(-(asked.scores if asked.rank_scores is None else asked.rank_scores), kind="stable")
    answer = {
        "id": identity,
        "model": served.name,
        "version": served.version,
        "kept": order[keeps[order]].tolist(),
        "dropped": order[~keeps[order]].tolist(),
        "threshold": served.threshold,
    }
    return Shown(asked.scores, int(keeps.sum())), _as_bytes(answer)


def _finite(margin: float | None) -> float | None:
    """A margin as JSON can have it: from a threshold that is infinite, nothing is a number of steps away."""
    return margin if margin is not None and np.isfinite(margin) else None


def _as_bytes(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
