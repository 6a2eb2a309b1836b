"""A node postprocessor for LlamaIndex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ranksift.integrations.sifter import ModelLike, Sifter
from ranksift.learning.libraries import require
from ranksift.learning.ranked_documents import RankedDocument

require("ranksift.integrations.llama_index", "llama_index.core")

from llama_index.core.bridge.pydantic import Field, PrivateAttr, field_serializer  # noqa: E402
from llama_index.core.callbacks import CBEventType, EventPayload  # noqa: E402
from llama_index.core.postprocessor.types import BaseNodePostprocessor  # noqa: E402
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle  # noqa: E402

_MARGIN = "margin"


class RankSiftPostprocessor(BaseNodePostprocessor):
    """Order the nodes that a retriever found, and leave out what must not be shown; the result may be empty.

    The margin of a node is in its metadata, but is not shown to an LLM or an embedding.

    Parameters
    ----------
    model
        The folder of a ranker from texts, or the file of a cutoff, which reads the scores of nodes; fitted objects also
        work, but cannot be serialised.
    top_n
        The largest number of nodes to return (default: all that are kept).
    on_dropped
        Called with the nodes that were left out of a result, if there are any.

    Examples
    --------
    >>> from llama_index.core.schema import TextNode
    >>> from ranksift import GlobalCutoff
    >>> cut = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"])
    >>> found = [NodeWithScore(node=TextNode(text=text), score=score) for text, score in [("buy", 0.2), ("yes", 0.8)]]
    >>> [node.text for node in RankSiftPostprocessor(model=cut).postprocess_nodes(found, query_str="is it so?")]
    ['yes']
    """

    model: Any = Field(description="Folder of a ranker, or file of a cutoff.")
    top_n: int | None = Field(default=None, ge=1, description="How many nodes to give at most.")
    on_dropped: Callable[[list[NodeWithScore]], Any] | None = Field(default=None, exclude=True)
    _sifter: Sifter = PrivateAttr()

    def __init__(
        self,
        model: ModelLike,
        top_n: int | None = None,
        on_dropped: Callable[[list[NodeWithScore]], Any] | None = None,
        **inherited: Any,
    ) -> None:
        super().__init__(model=model, top_n=top_n, on_dropped=on_dropped, **inherited)
        self._sifter = Sifter.of(model)

    @field_serializer("model")
    def _place(self, model: Any) -> str:
        return self._sifter.saved_at

    @classmethod
    def class_name(cls) -> str:
        """The name that LlamaIndex writes into files."""
        return "RankSiftPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query = None if query_bundle is None else query_bundle.query_str
        told = {EventPayload.NODES: nodes, EventPayload.QUERY_STR: query, EventPayload.TOP_K: self.top_n}
        with self.callback_manager.event(CBEventType.RERANKING, payload=told) as event:
            texts = [node.node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
            kept, dropped = self._sifter.sift(query, texts, [node.score for node in nodes], self.top_n)
            shown = [_told(nodes[one.index], one) for one in kept]
            event.on_end(payload={EventPayload.NODES: shown})
        if dropped and self.on_dropped is not None:
            self.on_dropped([_told(nodes[one.index], one) for one in dropped])
        return shown


def _told(given: NodeWithScore, found: RankedDocument) -> NodeWithScore:
    if found.margin is None:
        return NodeWithScore(node=given.node, score=found.score)
    # A copy: the node itself belongs to the index, whose file would keep what one query said of it.
    node = given.node.model_copy(
        update={
            "metadata": {**given.node.metadata, _MARGIN: found.margin},
            "excluded_llm_metadata_keys": [*given.node.excluded_llm_metadata_keys, _MARGIN],
            "excluded_embed_metadata_keys": [*given.node.excluded_embed_metadata_keys, _MARGIN],
        }
    )
    return NodeWithScore(node=node, score=found.score)
