"""A ranker component for Haystack."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from ranksift.integrations.sifter import ModelLike, Sifter
from ranksift.learning.libraries import require
from ranksift.learning.ranked_documents import RankedDocument

require("ranksift.integrations.haystack", "haystack")

from haystack import Document, component, default_from_dict, default_to_dict  # noqa: E402


@component
class RankSiftRanker:
    """Order what a retriever found, and leave out what must not be shown; the result may be empty.

    Parameters
    ----------
    model
        The folder of a ranker from texts, or the file of a cutoff, which reads the scores of documents; fitted objects
        also work, but a pipeline with those cannot be written.
    top_k
        The largest number of documents to return (default: all that are kept).

    Examples
    --------
    >>> from ranksift import GlobalCutoff
    >>> cut = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"])
    >>> found = RankSiftRanker(cut).run([Document(content="buy now", score=0.2), Document(content="yes", score=0.8)])
    >>> [document.content for document in found["documents"]], [document.content for document in found["dropped"]]
    (['yes'], ['buy now'])
    """

    def __init__(self, model: ModelLike, top_k: int | None = None) -> None:
        self.model = model
        self.top_k = top_k
        self._sifter: Sifter | None = None

    def warm_up(self) -> None:
        """Load the model once."""
        self._sifter = self._sifter or Sifter.of(self.model)

    def to_dict(self) -> dict[str, Any]:
        """The component as a pipeline's file describes it: by the path of the model."""
        place = os.fspath(self.model) if isinstance(self.model, str | os.PathLike) else Sifter.of(self.model).saved_at
        described: dict[str, Any] = default_to_dict(self, model=place, top_k=self.top_k)
        return described

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RankSiftRanker:
        """The component that :meth:`to_dict` described."""
        made: RankSiftRanker = default_from_dict(cls, data)
        return made

    @component.output_types(documents=list[Document], dropped=list[Document])
    def run(
        self, documents: list[Document], query: str | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Documents that may be shown, and those that must not, each with its score, and ``margin`` in its meta.

        Parameters
        ----------
        documents
            The documents, as returned by a retriever.
        query
            The text of the query; a cutoff needs none.
        top_k
            Used instead of the component's own.
        """
        self.warm_up()
        assert self._sifter is not None
        texts = [document.content or "" for document in documents]
        scores = [document.score for document in documents]
        found = self._sifter.sift(query, texts, scores, self.top_k if top_k is None else top_k)
        return {
            "documents": [_told(documents[one.index], one) for one in found.kept],
            "dropped": [_told(documents[one.index], one) for one in found.dropped],
        }


def _told(document: Document, found: RankedDocument) -> Document:
    margin = {} if found.margin is None else {"margin": found.margin}
    return replace(document, score=found.score, meta={**document.meta, **margin})
