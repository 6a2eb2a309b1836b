"""What reaches a prompt: the service is asked for passages, and they are counted by their labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

import ranksift as rs
from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Ints
from ranksift.serving.application import application
from ranksift.serving.settings import Settings

#: Places of a question's documents, best first: those that may stand in its prompt.
Places = list[int]


@dataclass(frozen=True)
class Prompts:
    """What stood in the prompts of all questions.

    Attributes
    ----------
    forbidden, good, shown
        Passages, and all of them, by prompt.
    values
        Means of nDCG_f at the length of a prompt, by what a forbidden passage costs.
    """

    forbidden: Ints
    good: Ints
    shown: Ints
    values: Mapping[int, float]


def answered(ranker: Path, cutoffs: Mapping[str, Path], examples: Examples) -> dict[str, list[Places]]:
    """What the service says of each question: ``""`` is the ranker's order, the others what each cutoff keeps of it."""
    settings = Settings((("ranker", ranker), *cutoffs.items()), reload_seconds=0, request_seconds=600)
    found: dict[str, list[Places]] = {name: [] for name in ("", *cutoffs)}
    with TestClient(application(settings)) as client:

        def ask(path: str, body: dict[str, Any]) -> Any:
            answer = client.post(path, json=body)
            answer.raise_for_status()
            return answer.json()

        for question in _questions(examples):
            results = ask("/v1/rerank", question)["results"]
            found[""].append([one["index"] for one in results])
            scores = [one["relevance_score"] for one in results]
            for name in cutoffs:
                kept = ask("/v1/filter", {"model": name, "scores": scores})["kept"]
                found[name].append([results[place]["index"] for place in kept])
    return found


def _questions(examples: Examples) -> list[dict[str, Any]]:
    """As clients send them."""
    spans = list(zip(examples.offsets[:-1], examples.offsets[1:], strict=True))
    if examples.texts is None:
        return [{"features": examples.features[start:end].tolist()} for start, end in spans]
    texts = examples.texts
    pairs = zip(texts.queries, spans, strict=True)
    return [{"query": query, "documents": texts.docs[start:end]} for query, (start, end) in pairs]


def as_found(examples: Examples) -> list[Places]:
    """All documents of each question, in the order in which they were found."""
    return [[*range(count)] for count in np.diff(examples.offsets)]


def prompts_of(examples: Examples, lists: Sequence[Places], most: int, costs: Sequence[int]) -> Prompts:
    """The prompts of all questions: the first passages of their lists."""
    counts, run, qrels = [], {}, {}
    for n, (start, end) in enumerate(zip(examples.offsets[:-1], examples.offsets[1:], strict=True)):
        chosen, labels = lists[n][:most], examples.labels[start:end]
        counts.append([(labels[chosen] < 0).sum(), (labels[chosen] > 0).sum(), len(chosen)])
        qrels[f"q{n}"] = {f"d{i}": float(label) for i, label in enumerate(labels)}
        run[f"q{n}"] = {f"d{i}": float(-place) for place, i in enumerate(chosen)}
    measure = f"nDCG_f@{most}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RankSiftWarning)  # that some prompts are empty
        values = {cost: float(rs.evaluate(qrels, run, [measure], gains={-1: -cost}).mean_of(measure)) for cost in costs}
    return Prompts(*np.array(counts, dtype=np.int64).T, values)
