"""In LangChain."""

import asyncio
import json

import pytest
from pydantic import ValidationError

import ranksift as rs
from ranksift import InputError
from tests.integrations.conftest import FORBIDDEN, QUERY, SCORES, TEXTS

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from ranksift.integrations import RankSiftCompressor


def documents() -> list[Document]:
    """As a retriever gives them."""
    pairs = zip(TEXTS, SCORES, strict=True)
    return [Document(text, id=str(n), metadata={"relevance_score": s}) for n, (text, s) in enumerate(pairs)]


class Retriever(BaseRetriever):
    """The same for every query."""

    def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
        return documents()


def test_a_ranker_orders_and_drops(ranker):
    gone = []
    compressor = RankSiftCompressor(model=ranker, on_dropped=gone.extend)
    found = compressor.compress_documents(documents(), QUERY)
    own = rs.load(ranker).rank(QUERY, TEXTS)
    assert [int(document.id) for document in found] == [one.index for one in own]
    assert [document.metadata for document in found] == [
        {"relevance_score": one.score, "margin": one.margin} for one in own
    ]
    assert {int(document.id) for document in gone} == FORBIDDEN
    assert all(document.metadata["margin"] < 0 for document in gone)


def test_a_cutoff_drops_and_leaves_the_order(cutoff, threshold):
    given = documents()
    found = RankSiftCompressor(model=str(cutoff)).compress_documents(given, QUERY)
    assert [document.id for document in found] == ["0", "2"]
    assert found[0].metadata == {"relevance_score": 0.9, "margin": 0.9 - threshold}
    assert given == documents()  # what the retriever owns is as it was


def test_the_score_may_be_under_another_key(cutoff):
    other = [Document(text, metadata={"safety": score}) for text, score in zip(TEXTS, SCORES, strict=True)]
    found = RankSiftCompressor(model=cutoff, score_key="safety").compress_documents(other, QUERY)
    assert [document.page_content for document in found] == [TEXTS[0], TEXTS[2]]
    with pytest.raises(InputError, match="document 1 of 5 has no score"):
        RankSiftCompressor(model=cutoff).compress_documents(other, QUERY)


def test_nothing_is_an_answer(ranker):
    compressor = RankSiftCompressor(model=ranker)
    assert compressor.compress_documents([], QUERY) == []
    assert compressor.compress_documents([Document(TEXTS[1]), Document(TEXTS[3])], QUERY) == []


def test_as_a_step_of_a_chain_it_works_at_once_and_later(ranker):
    compressor = RankSiftCompressor(model=ranker, top_n=2)

    def step(given: dict) -> list[str]:
        return [document.page_content for document in compressor.compress_documents(given["found"], given["query"])]

    async def later(given: dict) -> list[str]:
        found = await compressor.acompress_documents(given["found"], given["query"])
        return [document.page_content for document in found]

    chain = {"found": Retriever(), "query": RunnablePassthrough()} | RunnableLambda(step, afunc=later)
    best = [one.text for one in rs.load(ranker).rank(QUERY, TEXTS)[:2]]
    assert chain.invoke(QUERY) == best
    assert asyncio.run(chain.abatch([QUERY] * 8)) == [best] * 8


def test_it_is_written_as_json_and_read_again(ranker):
    compressor = RankSiftCompressor(model=str(ranker), top_n=3, on_dropped=print)
    text = compressor.model_dump_json()
    assert json.loads(text) == {"model": str(ranker), "top_n": 3, "score_key": "relevance_score"}
    again = RankSiftCompressor.model_validate_json(text)
    assert again.compress_documents(documents(), QUERY) == compressor.model_copy(
        update={"on_dropped": None}
    ).compress_documents(documents(), QUERY)


def test_an_object_is_taken_and_cannot_be_written(ranker):
    compressor = RankSiftCompressor(model=rs.load(ranker))
    assert len(compressor.compress_documents(documents(), QUERY)) == 3
    with pytest.raises(Exception, match="was given as an object, so that there is no path to write; save it"):
        compressor.model_dump()


def test_a_wrong_option_is_refused(cutoff):
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        RankSiftCompressor(model=cutoff, top_n=0)
    with pytest.raises(InputError, match="nowhere: cannot be read"):
        RankSiftCompressor(model="nowhere")
