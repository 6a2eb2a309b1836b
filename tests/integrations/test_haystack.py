"""In Haystack."""

import asyncio

import pytest

import ranksift as rs
from ranksift import InputError
from tests.integrations.conftest import FORBIDDEN, QUERY, SCORES, TEXTS

pytest.importorskip("haystack", reason="needs the extra haystack")

from haystack import Document, Pipeline, telemetry
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from ranksift.integrations import RankSiftRanker


def documents() -> list[Document]:
    """As a retriever gives them."""
    pairs = zip(TEXTS, SCORES, strict=True)
    return [Document(id=str(n), content=text, score=score) for n, (text, score) in enumerate(pairs)]


def guarded(model: object, texts: list[str] = TEXTS) -> Pipeline:
    """A retriever, the ranker, and a prompt."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=str(n), content=f"w110 {text}") for n, text in enumerate(texts)])
    made = Pipeline()
    made.add_component("retriever", InMemoryBM25Retriever(store))
    made.add_component("guard", RankSiftRanker(model))
    made.add_component("prompt", PromptBuilder("{% for d in documents %}[{{ d.content }}]{% endfor %}"))
    made.connect("retriever.documents", "guard.documents")
    made.connect("guard.documents", "prompt.documents")
    return made


def asked() -> dict[str, dict[str, str]]:
    """What a run of the pipeline is given."""
    return {"retriever": {"query": QUERY}, "guard": {"query": QUERY}}


def test_nothing_is_reported():
    assert telemetry._telemetry.telemetry is None


def test_a_ranker_orders_and_drops(ranker):
    found = RankSiftRanker(ranker).run(documents(), QUERY)
    own = rs.load(ranker).rank(QUERY, TEXTS)
    assert [(int(document.id), document.score, document.meta) for document in found["documents"]] == [
        (one.index, one.score, {"margin": one.margin}) for one in own
    ]
    assert {int(document.id) for document in found["dropped"]} == FORBIDDEN


def test_a_cutoff_drops_and_leaves_the_order_without_a_query(cutoff):
    given = documents()
    found = RankSiftRanker(cutoff, top_k=1).run(given)
    assert [document.id for document in found["documents"]] == ["0"]
    assert [document.id for document in found["dropped"]] == ["1", "3", "4"]
    assert [document.id for document in RankSiftRanker(cutoff).run(given, top_k=2)["documents"]] == ["0", "2"]
    assert given == documents()


def test_it_guards_the_prompt_of_a_pipeline(ranker):
    prompt = guarded(ranker).run(asked())["prompt"]["prompt"]
    assert [text in prompt for text in TEXTS] == [n not in FORBIDDEN for n in range(5)]
    found = guarded(ranker, [TEXTS[n] for n in FORBIDDEN]).run(asked(), include_outputs_from={"guard"})
    assert found["prompt"] == {"prompt": ""}
    assert len(found["guard"]["dropped"]) == 2


def test_a_pipeline_runs_later_too(ranker):
    now = guarded(ranker).run(asked())
    assert asyncio.run(guarded(ranker).run_async(asked())) == now


def test_a_pipeline_is_written_and_read_again(ranker):
    made = guarded(str(ranker))
    text = made.dumps()
    assert f"model: {ranker}" in text
    again = Pipeline.loads(text, allowed_modules=["ranksift.integrations.haystack"])
    assert again.get_component("guard").to_dict() == made.get_component("guard").to_dict()
    found = again.get_component("guard").run(documents(), QUERY)
    assert {int(document.id) for document in found["dropped"]} == FORBIDDEN


def test_it_is_described_before_the_model_is_read(cutoff):
    said = RankSiftRanker("model/", top_k=3).to_dict()
    assert said == {
        "type": "ranksift.integrations.haystack.RankSiftRanker",
        "init_parameters": {"model": "model/", "top_k": 3},
    }
    assert RankSiftRanker.from_dict(said).top_k == 3
    with pytest.raises(InputError, match="was given as an object, so that there is no path to write; save it"):
        RankSiftRanker(rs.load_cutoff(cutoff)).to_dict()


def test_what_lacks_is_named(ranker, cutoff):
    with pytest.raises(InputError, match="model: cannot be read"):
        RankSiftRanker("model").warm_up()
    with pytest.raises(InputError, match="TextRanker reads the query, and there is none"):
        RankSiftRanker(ranker).run(documents())
    with pytest.raises(InputError, match="document 1 of 1 has no score"):
        RankSiftRanker(cutoff).run([Document(content="w1")])
