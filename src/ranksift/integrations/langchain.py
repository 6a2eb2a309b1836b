"""A document compressor for LangChain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ranksift.integrations.sifter import ModelLike, Sifter
from ranksift.learning.libraries import require
from ranksift.learning.ranked_documents import RankedDocument

require("ranksift.integrations.langchain", "langchain_core")

from langchain_core.callbacks import Callbacks  # noqa: E402
from langchain_core.documents import BaseDocumentCompressor, Document  # noqa: E402
from pydantic import Field, PrivateAttr, field_serializer  # noqa: E402


class RankSiftCompressor(BaseDocumentCompressor):
    """Order what a retriever found, and leave out what must not be shown; the result may be empty.

    Parameters
    ----------
    model
        The folder of a ranker from texts, or the file of a cutoff; fitted objects also work, but cannot be serialised.
    top_n
        The largest number of documents to return (default: all that are kept).
    score_key
        The key of ``metadata`` that holds the score of a document: a cutoff reads it, and a ranker writes it.
    on_dropped
        Called with the documents that were left out of a result, if there are any.

    Examples
    --------
    >>> from ranksift import GlobalCutoff
    >>> cut = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"])
    >>> found = [Document(text, metadata={"relevance_score": score}) for text, score in [("buy", 0.2), ("yes", 0.8)]]
    >>> [document.page_content for document in RankSiftCompressor(model=cut).compress_documents(found, "is it so?")]
    ['yes']
    """

    model: Any
    top_n: int | None = Field(default=None, ge=1)
    score_key: str = "relevance_score"
    on_dropped: Callable[[list[Document]], Any] | None = Field(default=None, exclude=True)
    _sifter: Sifter = PrivateAttr()

    def __init__(
        self,
        *,
        model: ModelLike,
        top_n: int | None = None,
        score_key: str = "relevance_score",
        on_dropped: Callable[[list[Document]], Any] | None = None,
    ) -> None:
        super().__init__(model=model, top_n=top_n, score_key=score_key, on_dropped=on_dropped)
        self._sifter = Sifter.of(model)

    @field_serializer("model")
    def _place(self, model: Any) -> str:
        return self._sifter.saved_at

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Documents that may be shown, each with its score in its metadata, and the margin if there is one."""
        texts = [document.page_content for document in documents]
        scores = [document.metadata.get(self.score_key) for document in documents]
        kept, dropped = self._sifter.sift(query, texts, scores, self.top_n)
        if dropped and self.on_dropped is not None:
            self.on_dropped([self._told(documents[one.index], one) for one in dropped])
        return [self._told(documents[one.index], one) for one in kept]

    def _told(self, document: Document, found: RankedDocument) -> Document:
        margin = {} if found.margin is None else {"margin": found.margin}
        return document.model_copy(update={"metadata": {**document.metadata, self.score_key: found.score, **margin}})
