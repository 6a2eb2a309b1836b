"""Clients that people have: Cohere's, in both versions, and one that sends top_k and looks for data."""

import os
from pathlib import Path

import pytest

import ranksift as rs
from tests.serving.running import Server

cohere = pytest.importorskip("cohere", reason="asks the service with Cohere's client")

QUERY, DOCUMENTS = "w100 w110", ["w100 w101 w2", "w1 w120", "w3 w130 w140", "w1"]


@pytest.fixture(scope="module")
def server(models: Path):
    with Server(models / "text", "--token", "key-1") as made:
        yield made


@pytest.fixture(scope="module")
def expected(models: Path) -> list[tuple[int, float]]:
    return [(one.index, one.score) for one in rs.load(models / "text").rank(QUERY, DOCUMENTS)]


def _found(results) -> list[tuple[int, float]]:
    return [(one.index, pytest.approx(one.relevance_score, abs=1e-6)) for one in results]


def test_coheres_first_client(server, expected):
    client = cohere.Client("key-1", base_url=server.url)
    answer = client.rerank(query=QUERY, documents=DOCUMENTS, model="text", return_documents=True)
    assert expected == _found(answer.results)
    assert [one.document.text for one in answer.results] == [DOCUMENTS[index] for index, _ in expected]
    objects = [{"text": text} for text in DOCUMENTS]
    assert expected[:1] == _found(client.rerank(query=QUERY, documents=objects, model="text", top_n=1).results)


def test_coheres_second_client(server, expected):
    client = cohere.ClientV2("key-1", base_url=server.url)
    assert expected == _found(client.rerank(model="text", query=QUERY, documents=DOCUMENTS, top_n=10).results)
    assert client.rerank(model="text", query=QUERY, documents=["w1", "w1 w1"]).results == []


def test_its_errors_are_those_that_the_client_knows(server):
    with pytest.raises(cohere.NotFoundError) as absent:
        cohere.ClientV2("key-1", base_url=server.url).rerank(model="absent", query=QUERY, documents=DOCUMENTS)
    assert "No model is called 'absent'" in str(absent.value.body)
    with pytest.raises(cohere.UnauthorizedError):
        cohere.Client("key-2", base_url=server.url).rerank(query=QUERY, documents=DOCUMENTS)


def test_voyages_client(server, expected, monkeypatch):
    monkeypatch.setitem(os.environ, "LANGSMITH_TRACING", "false")  # what it brings along would like to tell of it
    voyageai = pytest.importorskip("voyageai", reason="asks the service with Voyage's client")
    client = voyageai.Client("key-1", base_url=f"{server.url}/v1")
    answer = client.rerank(QUERY, DOCUMENTS, model="text", top_k=1)
    assert expected[:1] == _found(answer.results)
    assert answer.results[0].document == DOCUMENTS[expected[0][0]]
    assert answer.total_tokens > 0
    assert expected == _found(client.rerank(QUERY, DOCUMENTS, model="text").results)
    with pytest.raises(voyageai.error.VoyageError):
        client.rerank(QUERY, [], model="text")
