"""What clients ask: the shapes of their requests, and what is read of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranksift.collection.ragged import Floats
from ranksift.files import parse_json
from ranksift.web.problems import Problem
from ranksift.web.shapes import any_text, array, complaint, either, nullable, number, record, whole, yes_or_no

_LARGEST = 1e300
_MODEL = nullable(any_text("The name of the model; optional if only one is served.", maxLength=200))
_SCORE = number(minimum=-_LARGEST, maximum=_LARGEST)
_TOP = "The largest number of results; null returns all that are kept."

# What clients of other services send, and what means nothing here: texts are cut as the model was trained.
_UNUSED = {
    "max_chunks_per_doc": nullable(whole("Accepted, and ignored.")),
    "max_tokens_per_doc": nullable(whole("Accepted, and ignored.")),
    "priority": nullable(whole("Accepted, and ignored.")),
    "truncation": nullable(yes_or_no("Accepted, and ignored.")),
}

RERANK = record(
    {
        "model": _MODEL,
        "query": any_text("The query, for a model that reads texts.", minLength=1),
        "documents": array(
            either(
                any_text(minLength=1),
                {**record({"text": any_text(minLength=1)}, ("text",)), "additionalProperties": True},
            ),
            "Texts, or objects with a text, for a model that reads texts.",
            minItems=1,
        ),
        "features": array(
            either(
                array(nullable(_SCORE)),
                {**record({}), "additionalProperties": nullable(_SCORE)},
            ),
            "For a model that reads features: those of each document, in the order of the model or by their names; "
            "null if one is missing.",
            minItems=1,
        ),
        "top_n": nullable(whole(_TOP, 1, 1_000_000)),
        "top_k": nullable(
            whole(f"Another name for top_n; the results are also listed under data. {_TOP}", 1, 1_000_000)
        ),
        "return_documents": nullable(yes_or_no("Whether results include the text of the document.")),
        "return_dropped": nullable(yes_or_no("Whether documents that are not shown are listed, with their margins.")),
        **_UNUSED,
    }
)

FILTER = record(
    {
        "model": _MODEL,
        "scores": array(_SCORE, "Scores of the documents of one query; a higher score is better.", minItems=1),
        "rank_scores": array(
            _SCORE, "The scores that rank the documents, if the cutoff was fitted on another score.", minItems=1
        ),
    },
    ("scores",),
)


@dataclass(frozen=True)
class Rerank:
    """A request to rank documents.

    Attributes
    ----------
    model, query, documents, features, top_n, return_documents, return_dropped
        As they were sent; ``documents`` are texts.
    as_data
        Whether the answer stands under ``data``, too.
    """

    model: str | None
    query: str
    documents: list[str] | None
    features: list[Any] | None
    top_n: int | None
    return_documents: bool
    return_dropped: bool
    as_data: bool

    @classmethod
    def read(cls, body: bytes, most: int) -> Rerank:
        """The request in a body; refused if it is not a valid one, or has more documents than ``most``."""
        sent = _sent(body, RERANK, ("documents", "features"), most)
        documents, features = sent.get("documents"), sent.get("features")
        if documents is None and features is None:
            raise Problem(422, "documents is missing.")
        if documents is not None and "query" not in sent:
            raise Problem(422, "query is missing.")
        if documents is not None and features is not None and len(documents) != len(features):
            what = f"{len(documents)} documents, and {len(features)} rows of features: send one row for each."
            raise Problem(422, what)
        top_n, top_k = sent.get("top_n"), sent.get("top_k")
        if top_n is not None and top_k is not None and top_n != top_k:
            raise Problem(422, f"top_n is {top_n} and top_k is {top_k}: send one of them.")
        if sent.get("return_documents") and documents is None:
            raise Problem(422, "return_documents asks for texts, but the request has none.")
        return cls(
            sent.get("model"),
            sent.get("query", ""),
            None if documents is None else [one if isinstance(one, str) else one["text"] for one in documents],
            features,
            top_k if top_n is None else top_n,
            bool(sent.get("return_documents")),
            bool(sent.get("return_dropped")),
            "top_k" in sent or "truncation" in sent,  # as clients do that look for data
        )


@dataclass(frozen=True)
class Filter:
    """A request to drop documents by scores that the client has."""

    model: str | None
    scores: Floats
    rank_scores: Floats | None

    @classmethod
    def read(cls, body: bytes, most: int) -> Filter:
        """What a body asks."""
        sent = _sent(body, FILTER, ("scores", "rank_scores"), most)
        scores, rank = (
            None if sent.get(name) is None else np.array(sent[name], dtype=np.float64)
            for name in ("scores", "rank_scores")
        )
        assert scores is not None
        if rank is not None and len(rank) != len(scores):
            raise Problem(422, f"{len(scores)} scores and {len(rank)} rank_scores: send one of each per document.")
        return cls(sent.get("model"), scores, rank)


def matrix(rows: Sequence[Any], names: tuple[str, ...]) -> Floats:
    """Documents × features, from lists or from objects with names; NaN if one is missing.

    >>> matrix([{"b": 2, "a": None}], ("a", "b")).tolist(), matrix([[1, 2]], ("a", "b")).tolist()
    ([[nan, 2.0]], [[1.0, 2.0]])
    """
    found = np.full((len(rows), len(names)), np.nan)
    if not names:
        return found  # the model says that it reads none
    for i, row in enumerate(rows):
        if isinstance(row, Mapping):
            missing = next((name for name in names if name not in row), None)
            if missing is not None:
                raise Problem(422, f"features[{i}] has no {missing[:80]!r}, which the model was fitted to; send null.")
            row = [row[name] for name in names]
        elif len(row) != len(names):
            what = f"features[{i}] has {len(row)} values, but the model was fitted to {len(names)}"
            raise Problem(422, f"{what}: {', '.join(names)[:200]}.")
        found[i] = [np.nan if value is None else value for value in row]
    return found


def _sent(body: bytes, shape: Mapping[str, Any], counted: tuple[str, ...], most: int) -> dict[str, Any]:
    try:
        sent = parse_json(body)
    except ValueError as error:
        raise Problem(400, f"The body is not JSON: {str(error)[:200]}.") from None
    if isinstance(sent, dict):
        for name in counted:  # before each of them is looked at
            if isinstance(sent.get(name), list) and len(sent[name]) > most:
                raise Problem(422, f"{name} has {len(sent[name]):,} entries, but a request may have at most {most:,}.")
    if wrong := complaint(sent, shape):
        raise Problem(422, f"{wrong[0].upper() if wrong.startswith('the body') else wrong[0]}{wrong[1:]}.")
    found: dict[str, Any] = sent
    return found
