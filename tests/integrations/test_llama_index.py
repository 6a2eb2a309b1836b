"""In LlamaIndex."""

import asyncio

import pytest

import ranksift as rs
from ranksift import InputError
from tests.integrations.conftest import FORBIDDEN, QUERY, SCORES, TEXTS

pytest.importorskip("llama_index.core", reason="needs the extra llamaindex")

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

from ranksift.integrations import RankSiftPostprocessor


def nodes() -> list[NodeWithScore]:
    """As a retriever gives them."""
    pairs = zip(TEXTS, SCORES, strict=True)
    return [
        NodeWithScore(node=TextNode(text=text, id_=str(n), metadata={"source": "forum"}), score=score)
        for n, (text, score) in enumerate(pairs)
    ]


class Retriever(BaseRetriever):
    """Some nodes, the same for every query."""

    def __init__(self, found: list[NodeWithScore]) -> None:
        self.found = found
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.found


def test_a_ranker_orders_and_drops(ranker):
    gone = []
    found = RankSiftPostprocessor(ranker, on_dropped=gone.extend).postprocess_nodes(nodes(), query_str=QUERY)
    own = rs.load(ranker).rank(QUERY, TEXTS)
    assert [(int(node.node_id), node.score, node.metadata["margin"]) for node in found] == [
        (one.index, one.score, one.margin) for one in own
    ]
    assert {int(node.node_id) for node in gone} == FORBIDDEN


def test_a_cutoff_drops_and_leaves_the_order_without_a_query(cutoff):
    found = RankSiftPostprocessor(str(cutoff)).postprocess_nodes(nodes())
    assert [(node.node_id, node.score) for node in found] == [("0", 0.9), ("2", 0.8)]


def test_the_margin_reaches_no_prompt_and_no_index(cutoff):
    given = nodes()
    first = RankSiftPostprocessor(cutoff).postprocess_nodes(given)[0]
    assert {*first.metadata} == {"source", "margin"}
    assert first.node.get_content(MetadataMode.LLM) == given[0].node.get_content(MetadataMode.LLM)
    assert first.node.get_content(MetadataMode.EMBED) == given[0].node.get_content(MetadataMode.EMBED)
    assert given == nodes()


def test_it_guards_the_prompt_of_a_query_engine(ranker):
    guard = RankSiftPostprocessor(ranker)

    def asked(found: list[NodeWithScore]) -> object:
        synthesizer = get_response_synthesizer(llm=MockLLM(), response_mode=ResponseMode.COMPACT)
        return RetrieverQueryEngine(Retriever(found), synthesizer, node_postprocessors=[guard]).query(QUERY)

    prompt = str(asked(nodes()))  # the model of this test says what it was asked
    assert [text in prompt for text in TEXTS] == [n not in FORBIDDEN for n in range(5)]
    assert str(asked([nodes()[n] for n in FORBIDDEN])) == "Empty Response"


def test_later_and_many_at_once(ranker):
    guard = RankSiftPostprocessor(ranker, top_n=2)

    async def many() -> list[list[NodeWithScore]]:
        return await asyncio.gather(*(guard.apostprocess_nodes(nodes(), query_str=QUERY) for _ in range(8)))

    best = [str(one.index) for one in rs.load(ranker).rank(QUERY, TEXTS)[:2]]
    assert [[node.node_id for node in found] for found in asyncio.run(many())] == [best] * 8


def test_it_is_written_and_read_again(cutoff):
    guard = RankSiftPostprocessor(str(cutoff), top_n=1, on_dropped=print)
    said = guard.to_dict()
    assert said == {"model": str(cutoff), "top_n": 1, "class_name": "RankSiftPostprocessor"}
    for again in (RankSiftPostprocessor.from_dict(said), RankSiftPostprocessor.from_json(guard.to_json())):
        assert [node.node_id for node in again.postprocess_nodes(nodes())] == ["0"]
    with pytest.raises(Exception, match="was given as an object, so that there is no path to write; save it"):
        RankSiftPostprocessor(rs.load_cutoff(cutoff)).to_dict()


def test_what_lacks_is_named(ranker, cutoff):
    with pytest.raises(InputError, match="TextRanker reads the query, and there is none"):
        RankSiftPostprocessor(ranker).postprocess_nodes(nodes())
    without = [NodeWithScore(node=TextNode(text="w1"))]
    with pytest.raises(InputError, match="document 1 of 1 has no score"):
        RankSiftPostprocessor(cutoff).postprocess_nodes(without)
