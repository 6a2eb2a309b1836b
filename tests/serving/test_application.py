"""The shapes of requests and answers, and what every wrong request is answered."""

import json
import logging
import re
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

import ranksift as rs
from ranksift.serving import application as module
from ranksift.serving.openapi import openapi
from ranksift.web.shapes import complaint
from tests.serving.conftest import client_of, drawn

DOCUMENTS = ["w100 w101 w2", "w1 w120", "w3 w130 w140"]
ASKED = {"model": "text", "query": "w100 w110", "documents": DOCUMENTS}


def _expected(models: Path) -> list[rs.learning.RankedDocument]:
    return rs.load(models / "text").rank(ASKED["query"], DOCUMENTS, explain=True)


class TestRerank:
    @pytest.mark.parametrize("path", ["/v1/rerank", "/rerank", "/v2/rerank"])
    def test_it_ranks_and_leaves_out_what_is_better_not_shown(self, client, models, path):
        answer = client.post(path, json={**ASKED, "return_dropped": True, "return_documents": True})
        assert answer.status_code == 200
        found, expected = answer.json(), _expected(models)
        assert [one["index"] for one in found["results"]] == [one.index for one in expected if one.kept]
        assert [one["index"] for one in found["dropped"]] == [one.index for one in expected if not one.kept] != []
        for one, other in zip([*found["results"], *found["dropped"]], expected, strict=True):
            assert one["relevance_score"] == pytest.approx(other.score, abs=1e-6)
        assert [one["document"]["text"] for one in found["results"]] == [one.text for one in expected if one.kept]
        assert all(one["margin"] < 0 for one in found["dropped"])
        assert (found["model"], found["id"]) == ("text", answer.headers["x-request-id"])
        assert re.fullmatch("[0-9a-f]{12}", found["version"])

    def test_only_what_was_asked_for_is_answered(self, client):
        assert client.post("/v1/rerank", json=ASKED).json().keys() == {"id", "model", "version", "results"}

    def test_objects_with_a_text_are_documents_too(self, client):
        objects = {**ASKED, "documents": [{"text": text, "url": "x"} for text in DOCUMENTS]}
        assert (
            client.post("/v1/rerank", json=objects).json()["results"]
            == (client.post("/v1/rerank", json=ASKED).json()["results"])
        )

    def test_top_n_counts_what_is_kept(self, client):
        whole = client.post("/v1/rerank", json=ASKED).json()["results"]
        assert len(whole) > 1
        assert client.post("/v1/rerank", json={**ASKED, "top_n": 1}).json()["results"] == whole[:1]
        assert client.post("/v1/rerank", json={**ASKED, "top_n": 50}).json()["results"] == whole

    def test_top_k_is_top_n_and_answered_under_data(self, client):
        found = client.post("/v1/rerank", json={**ASKED, "top_k": 1}).json()
        assert found["data"] == found["results"]
        assert len(found["data"]) == 1
        assert found["usage"]["total_tokens"] > 3 * len(DOCUMENTS)

    def test_an_empty_answer_is_an_answer(self, client):
        answer = client.post("/v1/rerank", json={**ASKED, "documents": ["w1", "w1 w1"]})
        assert (answer.status_code, answer.json()["results"]) == (200, [])

    def test_features_as_rows_or_by_name(self, client, models):
        rows, model = drawn(6, seed=4).features[:5], rs.load(models / "features")
        given = rs.Examples.from_arrays(rows, None, np.zeros(5), feature_names=("bm25", "age"))
        kept = [int(doc[1:]) - 1 for doc in model.rank(given).to_dict().get("0.0", {})]
        by_name = [{"age": age, "bm25": bm25, "more": 7} for bm25, age in rows.tolist()]
        for features in (rows.tolist(), by_name):
            found = client.post("/v1/rerank", json={"model": "features", "features": features}).json()
            assert [one["index"] for one in found["results"]] == kept != []

    @pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
    def test_texts_beside_features(self, client, models):
        features = [[2.0, 1.0], [-9.0, None], [1.5, 3.0]]
        answer = client.post("/v1/rerank", json={**ASKED, "model": "stacked", "features": features})
        assert answer.status_code == 200
        assert {one["index"] for one in answer.json()["results"]} <= {0, 1, 2}
        alone = client.post("/v1/rerank", json={**ASKED, "model": "stacked"})
        assert (alone.status_code, "fitted to texts and features, such as 'bm25'" in alone.text) == (422, True)

    def test_many_documents(self, models):
        with client_of(models, "text") as one:
            found = one.post("/v1/rerank", json={**ASKED, "documents": DOCUMENTS * 100}).json()["results"]
        assert len(found) == 100 * len([one for one in _expected(models) if one.kept])


class TestFilter:
    def test_it_keeps_what_the_cutoff_keeps_best_first(self, client, models):
        scores = [0.9, 0.2, 0.7, 0.95, 0.69999]
        found = client.post("/v1/filter", json={"model": "cutoff", "scores": scores}).json()
        assert (found["kept"], found["dropped"], found["threshold"]) == ([3, 0, 2], [4, 1], 0.7)

    def test_the_only_cutoff_need_not_be_named(self, client):
        assert client.post("/v1/filter", json={"scores": [0.1]}).json()["kept"] == []

    @pytest.mark.parametrize("rule", [rs.NormalizedCutoff("nDCG_f@3"), rs.ExpectedGainCutoff(), rs.RiskCutoff(k=3)])
    @pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
    def test_rules_without_one_threshold(self, tmp_path, rule):
        draw = np.random.default_rng(0)
        labels = draw.choice([-1, 1], 200)
        scores = labels + draw.normal(0, 1, 200)
        rule.fit(scores, labels, np.repeat(np.arange(40), 5))
        rule.save(tmp_path / "rule.json")
        asked = scores[:7]
        with client_of(tmp_path, "rule.json") as client:
            found = client.post("/v1/filter", json={"scores": asked.tolist()}).json()
        kept = np.flatnonzero(rule.keep(asked))
        assert found["kept"] == kept[np.argsort(-asked[kept])].tolist()
        assert sorted(found["kept"] + found["dropped"]) == [*range(7)]
        assert found["threshold"] is None

    @pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
    def test_two_scores(self, tmp_path):
        rule = rs.GlobalCutoff("nDCG_f@3")
        rule.fit([0.1, 0.9, 0.8], [-1, 1, 1], ["q"] * 3, rank_scores=[3.0, 2.0, 1.0]).save(tmp_path / "two.json")
        with client_of(tmp_path, "two.json") as client:
            one = client.post("/v1/filter", json={"scores": [0.1, 0.9]})
            both = client.post("/v1/filter", json={"scores": [0.8, 0.9, 0.1], "rank_scores": [3, 1, 2]}).json()
        assert (one.status_code, "rank_scores" in one.text) == (422, True)
        assert (both["kept"], both["dropped"]) == ([0, 1], [2])


#: What is sent, the status, and words of the message.
WRONG = [
    (b"", 400, "not JSON"),
    (b"{", 400, "not JSON"),
    (b"\xff\xfe", 400, "not JSON"),
    (b'{"query": "a", "documents": ["b"], "top_n": NaN}', 400, "NaN is not a finite number"),
    (b'{"query": "a", "query": "b"}', 400, "occurs twice"),
    (b'{"query": ' + b"[" * 100_000, 400, "nested too deeply"),
    (b'{"query": "\\ud800", "documents": ["b"]}', 400, "not JSON"),
    ([], 422, "The body has to be an object"),
    ({}, 422, "documents is missing"),
    ({"documents": ["a"]}, 422, "query is missing"),
    ({"query": "a", "documents": []}, 422, "documents has to have 1 entry at least"),
    ({"query": "a", "documents": "b"}, 422, "documents has to be an array"),
    ({"query": "a", "documents": ["b", 3]}, 422, "documents[1] has to be a string or an object"),
    ({"query": "a", "documents": ["b", " "]}, 422, "documents[1] must not be empty"),
    ({"query": "a", "documents": [{"txt": "b"}]}, 422, "documents[0].text is missing"),
    ({"query": " ", "documents": ["b"]}, 422, "query must not be empty"),
    ({"query": 1, "documents": ["b"]}, 422, "query has to be a string"),
    ({"query": "a", "documents": ["b"], "top_n": 0}, 422, "top_n has to be from 1"),
    ({"query": "a", "documents": ["b"], "top_n": 1.5}, 422, "top_n has to be an integer"),
    ({"query": "a", "documents": ["b"], "top_n": 1, "top_k": 2}, 422, "send one of them"),
    ({"query": "a", "documents": ["b"], "topn": 1}, 422, "topn is not known here"),
    (
        {"query": "a", "documents": ["b"] * 1001},
        422,
        "documents has 1,001 entries, but a request may have at most 1,000",
    ),
    ({"query": "a", "documents": ["b"], "features": [[1, 2], [3, 4]]}, 422, "1 documents, and 2 rows"),
    ({"model": "text", "query": "a", "documents": ["b"], "features": [[1, 2]]}, 422, "features are given"),
    ({"model": "absent", "query": "a", "documents": ["b"]}, 404, "No model is called 'absent'"),
    ({"model": "cutoff", "query": "a", "documents": ["b"]}, 422, "'cutoff' is not a ranker"),
    ({"model": None, "query": "a", "documents": ["b"]}, 422, "set model to one of 'text'"),
    ({"model": "features", "query": "a", "documents": ["b"]}, 422, "was fitted to features, but texts are given"),
    ({"model": "features", "features": [[1]]}, 422, "features[0] has 1 values, but the model was fitted to 2"),
    ({"model": "features", "features": [{"age": 1}]}, 422, "features[0] has no 'bm25'"),
    ({"model": "features", "features": [["a", 1]]}, 422, "features[0][0] has to be a number"),
    ({"model": "features", "features": [[1e301, 1]]}, 422, "features[0][0] has to be from"),
    ({"model": "features", "features": [[1, 2]], "return_documents": True}, 422, "the request has none"),
    ({"model": "text", "features": [[1, 2]]}, 422, "reads texts, but none are given"),
]


@pytest.mark.parametrize(("body", "status", "words"), WRONG)
def test_what_is_wrong_is_said_in_one_line(client, body, status, words):
    if isinstance(body, dict) and "features" not in body and "model" not in body:
        body = {"model": "text", **body}
    content = body if isinstance(body, bytes) else json.dumps(body)
    answer = client.post("/v1/rerank", content=content)
    error = answer.json()["error"]
    assert (answer.status_code, words in error["message"]) == (status, True), error
    assert "\n" not in error["message"]
    assert error["message"].endswith(".")
    assert error["type"] == {400: "bad_request", 404: "not_found", 422: "bad_input"}[status]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"scores": [NaN]}', 400),
        (b'{"scores": [1e999]}', 400),
        ({"scores": []}, 422),
        ({"scores": [True]}, 422),
        ({"scores": ["1"]}, 422),
        ({"scores": [0.1] * 1001}, 422),
        ({"scores": [0.1], "rank_scores": [1, 2]}, 422),
        ({"model": "text", "scores": [0.1]}, 422),
        ({"model": "absent", "scores": [0.1]}, 404),
        ({}, 422),
    ],
)
def test_wrong_scores(client, body, status):
    content = body if isinstance(body, bytes) else json.dumps(body)
    assert client.post("/v1/filter", content=content).status_code == status


def test_other_addresses_and_methods(client):
    for method, path, status in (("GET", "/v1/rerank", 405), ("GET", "/absent", 404), ("POST", "/healthz", 405)):
        answer = client.request(method, path)
        assert (answer.status_code, answer.json().keys()) == (status, {"error"})


def test_a_body_that_is_too_large(models):
    with client_of(models, "text", body_bytes=1000) as client:
        for content in (b"x" * 1001, iter([b"x" * 600] * 2), b"x" * 9000):
            answer = client.post("/v1/rerank", content=content)
            assert (answer.status_code, answer.json()["error"]["type"]) == (413, "too_large")
        assert client.post("/v1/rerank", json=ASKED).status_code == 200


def test_an_answer_that_takes_too_long(models):
    with client_of(models, "text", request_seconds=1e-6) as client:
        answer = client.post("/v1/rerank", json=ASKED)
        assert (answer.status_code, answer.json()["error"]["type"]) == (504, "timeout")


def test_a_full_queue_is_answered_429(models):
    with client_of(models, "text", queue_tokens=1) as client:
        batcher = next(iter(client.app.state.service.models)).batcher
        batcher._size = 50  # as if so many tokens waited
        answer = client.post("/v1/rerank", json=ASKED)
        assert (answer.status_code, answer.json()["error"]["type"]) == (429, "too_many_requests")
        assert int(answer.headers["retry-after"]) >= 1
        batcher._size = 0
        assert client.post("/v1/rerank", json=ASKED).status_code == 200


def test_large_bodies_wait_outside_where_memory_is_short(models):
    with client_of(models, "text", body_bytes=1 << 16) as client:
        service, much = client.app.state.service, {**ASKED, "query": "w1 " * 10_000}
        service._held += 32 << 16  # as if so many bytes were on their way
        for content in (json.dumps(much), iter([json.dumps(much).encode()[at::2] for at in (0, 1)])):
            answer = client.post("/v1/rerank", content=content)
            assert (answer.status_code, answer.json()["error"]["type"]) == (429, "too_many_requests")
            assert int(answer.headers["retry-after"]) >= 1
        assert client.post("/v1/rerank", json=ASKED).status_code == 200  # a short one finds room
        service._held -= 32 << 16
        assert client.post("/v1/rerank", json=much).status_code == 200
        assert client.post("/v1/rerank", json={**much, "documents": []}).status_code == 422
        assert service._held == 0


class TestToken:
    def test_it_is_asked_for(self, models):
        with client_of(models, "text", token="secret-1") as client:
            for headers in ({}, {"authorization": "Bearer secret"}, {"authorization": "Basic secret-1"}):
                answer = client.post("/v1/rerank", json=ASKED, headers=headers)
                assert (answer.status_code, answer.json()["error"]["type"]) == (401, "unauthorized")
                assert answer.headers["www-authenticate"] == "Bearer"
                assert client.get("/metrics", headers=headers).status_code == 401
                assert client.get("/v1/models", headers=headers).status_code == 401
            given = {"authorization": "bearer secret-1"}
            assert client.post("/v1/rerank", json=ASKED, headers=given).status_code == 200
            for path in ("/healthz", "/readyz", "/", "/docs", "/openapi.json"):
                assert client.get(path).status_code == 200

    def test_bytes_that_are_no_text(self, models):
        with client_of(models, "text", token="secret-1") as client:
            answer = client.post("/v1/rerank", json=ASKED, headers={"authorization": b"Bearer \xff\xfe"})
            assert answer.status_code == 401


class TestIdentity:
    def test_a_sane_id_is_kept(self, client):
        answer = client.post("/v1/rerank", json=ASKED, headers={"x-request-id": "a-b:7"})
        assert answer.headers["x-request-id"] == answer.json()["id"] == "a-b:7"

    @pytest.mark.parametrize("given", ["", "a b", "x" * 200, '{"', "é"])
    def test_others_are_replaced(self, client, given):
        answer = client.post("/v1/rerank", json=ASKED, headers={"x-request-id": given.encode()})
        assert re.fullmatch("[0-9a-f]{16}", answer.headers["x-request-id"])


class TestPages:
    def test_they_need_nothing_from_elsewhere(self, client):
        for path in ("/", "/docs", "/static/try.js", "/static/docs.js", "/static/style.css"):
            answer = client.get(path)
            assert answer.status_code == 200
            assert "://" not in answer.text
            assert "default-src 'none'" in answer.headers["content-security-policy"]
        for path in ("/", "/docs"):
            assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", client.get(path).text)

    def test_the_prefix_of_a_proxy(self, models):
        with client_of(models, "text", root_path="/rank") as client:
            for path in ("/rank/v1/rerank", "/v1/rerank"):
                assert client.post(path, json=ASKED).status_code == 200
            assert client.get("/rank").status_code == 200
            assert client.get("/openapi.json").json()["servers"] == [{"url": "/rank"}]

    def test_cors_is_an_option(self, models, client):
        origin = {"origin": "https://a.example"}
        asks = {**origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
        assert "access-control-allow-origin" not in client.post("/v1/rerank", json=ASKED, headers=origin).headers
        with client_of(models, "text", cors=("https://a.example",), token="t") as open_client:
            before = open_client.options("/v1/rerank", headers=asks)
            assert (before.status_code, before.headers["access-control-allow-origin"]) == (200, "https://a.example")
            other = open_client.options("/v1/rerank", headers={**asks, "origin": "https://b.example"})
            assert "access-control-allow-origin" not in other.headers


class TestOpenapi:
    def test_answers_are_as_it_says(self, client):
        document = client.get("/openapi.json").json()
        assert document == openapi()
        for path, body in (
            ("/v1/rerank", {**ASKED, "return_dropped": True, "return_documents": True, "top_k": 2}),
            ("/v1/filter", {"scores": [0.9, 0.1]}),
        ):
            operation = document["paths"][path]["post"]
            assert not complaint(body, operation["requestBody"]["content"]["application/json"]["schema"])
            shape = operation["responses"]["200"]["content"]["application/json"]["schema"]
            assert not complaint(client.post(path, json=body).json(), shape)
        error = document["components"]["schemas"]["Error"]
        assert not complaint(client.post("/v1/filter", json={}).json(), error)

    def test_every_address_is_there(self, client):
        addresses = {route.path for route in client.app.routes} - {"/", "/docs", "/openapi.json", "/static"}
        assert set(openapi()["paths"]) == addresses

    def test_the_token_is_named(self, models):
        with client_of(models, "cutoff.json", token="t") as client:
            assert client.get("/openapi.json").json()["security"] == [{"token": []}]


class TestMetrics:
    def _read(self, client) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        families = text_string_to_metric_families(client.get("/metrics").text)
        return {(s.name, tuple(sorted(s.labels.items()))): s.value for one in families for s in one.samples}

    def test_what_was_shown_and_dropped_is_counted(self, models):
        with client_of(models, "text", "cutoff.json") as client:
            version = client.post("/v1/filter", json={"scores": [0.9, 0.1, 0.1]}).json()["version"]
            client.post("/v1/filter", json={"scores": [0.1]})
            client.post("/v1/filter", json={"scores": "x"})
            tokens = client.post("/rerank", json={**ASKED, "top_k": 1}).json()["usage"]["total_tokens"]
            found = self._read(client)
        cutoff = (("model", "cutoff"),)
        assert found["ranksift_documents_shown_total", cutoff] == 1
        assert found["ranksift_documents_dropped_total", cutoff] == 3
        assert found["ranksift_dropped_share", cutoff] == 0.75
        assert found["ranksift_empty_answers_total", cutoff] == 1
        assert found["ranksift_requests_total", (("route", "/v1/filter"), ("status", "200"))] == 2
        assert found["ranksift_requests_total", (("route", "/v1/filter"), ("status", "422"))] == 1
        assert found["ranksift_request_seconds_count", (("route", "/rerank"),)] == 1
        assert found["ranksift_batch_requests_sum", (("model", "text"),)] == 1
        assert found["ranksift_batch_tokens_sum", (("model", "text"),)] == tokens
        assert found["ranksift_queue_tokens", (("model", "text"),)] == 0
        # Of the four scores, fitted on 0.2 to 0.9: three below, and one at the very top.
        assert found["ranksift_scores_total", (("band", "below"), *cutoff, ("version", version))] == 3
        assert found["ranksift_score_drift", (*cutoff, ("version", version))] == 0.75
        assert found["ranksift_model_version", (*cutoff, ("version", version))] == 1

    def test_addresses_that_are_none_are_counted_as_one(self, client):
        for path in ("/a", "/b", "/static/none"):
            client.get(path)
        routes = {dict(labels).get("route") for name, labels in self._read(client) if name == "ranksift_requests_total"}
        assert routes & {"/a", "/b", "/static/none"} == set()
        assert {"other", "static"} <= routes


def test_the_log_has_no_texts(models, caplog, monkeypatch):
    monkeypatch.setattr(module.LOG, "propagate", True)
    with caplog.at_level(logging.INFO, "ranksift.serving"), client_of(models, "text") as client:
        client.post("/v1/rerank", json=ASKED, headers={"x-request-id": "abc"})
        client.post("/v1/rerank", json={**ASKED, "query": 7})
        client.get("/secret-path")
    lines = [json.loads(record.message) for record in caplog.records]
    assert [line["event"] for line in lines] == ["serving", "request", "request", "request", "stopped"]
    good, bad, lost = lines[1:4]
    assert (good["id"], good["status"], good["model"], good["documents"]) == ("abc", 200, "text", 3)
    assert good["tokens"] > 0 < good["seconds"]
    assert (bad["status"], lost["status"], lost["route"]) == (422, 404, "other")
    assert not re.search("w1|secret", "".join(record.message for record in caplog.records))


def test_a_fault_is_answered_and_logged_without_texts(models, caplog, monkeypatch):
    def broken(*_: object) -> None:
        raise RuntimeError("w100 w110")

    monkeypatch.setattr("ranksift.serving.service.ranked_answer", broken)
    with caplog.at_level(logging.INFO, "ranksift.serving"), client_of(models, "text") as client:
        answer = client.post("/v1/rerank", json=ASKED)
        assert (answer.status_code, answer.json()["error"]["type"]) == (500, "internal")
        assert answer.headers["x-request-id"]
        assert client.get("/healthz").status_code == 200
    fault = next(json.loads(r.message) for r in caplog.records if "fault" in r.message)
    assert (fault["error"], "w100" in caplog.text) == ("RuntimeError", False)


def test_readiness_ends_when_it_stops(models):
    with client_of(models, "cutoff.json") as client:
        assert client.get("/readyz").status_code == 200
        client.app.state.service.stopping = True
        answer = client.get("/readyz")
        assert (answer.status_code, answer.headers["connection"]) == (503, "close")
        assert client.get("/healthz").status_code == 200
