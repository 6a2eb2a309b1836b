"""The service as a process: how it starts, what it does with clients that misbehave, and how it ends."""

import http.client
import json
import os
import signal
import socket
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

import ranksift as rs
from ranksift.cli.main import run
from ranksift.web.door import listening
from tests.serving.fuzz import hunt
from tests.serving.running import PATIENCE, Server

ASKED = {"query": "w100 w110", "documents": ["w100 w101 w2", "w1 w120", "w3 w130 w140"]}


@pytest.fixture(scope="module")
def server(models: Path):
    names = [models / name for name in ("text", "stacked", "features", "cutoff.json")]
    with Server(*names, "--body-timeout", "0.3", "--max-body", "1") as made:
        yield made


class TestStart:
    def test_every_kind_of_model_is_served(self, server, models):
        expected = rs.load(models / "text").rank(ASKED["query"], ASKED["documents"])
        status, found = server.ask("/v1/rerank", {"model": "text", **ASKED})
        assert (status, [one["index"] for one in found["results"]]) == (200, [one.index for one in expected])
        features = [[1.0, 2.0], [-9.0, 1.0], [2.0, 0.0]]
        for body in ({"model": "features", "features": features}, {"model": "stacked", "features": features, **ASKED}):
            assert server.ask("/v1/rerank", body)[0] == 200
        assert server.ask("/v1/filter", {"scores": [0.1, 0.9]})[1]["kept"] == [1]
        assert server.ask("/readyz") == (200, "ready\n")
        kinds = {one["id"]: one["kind"] for one in server.ask("/v1/models")[1]["data"]}
        assert kinds == {"text": "TextRanker", "stacked": "StackedRanker", "features": "RankSVM", "cutoff": "cutoff"}

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["absent"], "absent: is neither a folder of a model nor a file of a cutoff; name one"),
            (["."], "has no model.json"),
            (["a=cutoff.json", "a=cutoff.json"], "two models are called 'a'; give one of them another name"),
            (["cutoff.json", "--token", "@absent"], "absent: cannot be read (No such file or directory)"),
            (["cutoff.json", "--token", "@empty"], "empty: has no token"),
            (["cutoff.json", "--token", "@bad"], "bad: is not a token: it has characters other than ASCII"),
            (["cutoff.json", "--token", "a b"], "--token: is not a token that fits into a header"),
            (["cutoff.json", "--token", "@."], ".: cannot be read (Is a directory)"),
            (["cutoff.json", "--root-path", "a b"], "--root-path 'a b' is not a path"),
            (["cutoff.json", "--port", "70000"], "70000"),
            (["cutoff.json", "--host", "192.0.2.1"], "cannot listen on 192.0.2.1:0"),
            (["broken.json"], "broken.json: is not JSON"),
            ([], "Missing argument"),
        ],
    )
    def test_what_cannot_be_served_is_one_line(self, models, tmp_path, capfd, monkeypatch, arguments, words):
        (tmp_path / "cutoff.json").write_bytes((models / "cutoff.json").read_bytes())
        (tmp_path / "empty").touch()
        (tmp_path / "bad").write_bytes(b"\xc3\xa9")
        (tmp_path / "broken.json").write_text("{")
        monkeypatch.chdir(tmp_path)
        port = [] if "--port" in arguments else ["--port", "0"]
        assert run(["serve", *arguments, *port]) == 2
        said = capfd.readouterr().err.splitlines()
        assert len([line for line in said if not line.startswith("Serving ")]) == 1
        assert words in said[-1]

    def test_a_level_of_the_log_that_is_none(self, models, capfd, monkeypatch):
        monkeypatch.setitem(os.environ, "RANKSIFT_SERVE_LOG", "loud")
        assert run(["serve", str(models / "cutoff.json"), "--port", "0"]) == 2
        assert capfd.readouterr().err == "RANKSIFT_SERVE_LOG='loud' is not a level; write one of info, warning, error\n"

    def test_a_port_in_use(self, models, capfd):
        with listening("127.0.0.1", 0) as door:
            port = door.getsockname()[1]
            assert run(["serve", str(models / "cutoff.json"), "--port", str(port)]) == 2
        said = capfd.readouterr().err
        assert said.count("\n") == 1
        assert f"cannot listen on 127.0.0.1:{port}" in said

    def test_the_token_may_stand_in_a_file_or_in_the_environment(self, models, tmp_path):
        (tmp_path / "token").write_text("abc-1\n")
        cutoff = models / "cutoff.json"
        for one in (Server(cutoff, "--token", f"@{tmp_path / 'token'}"), Server(cutoff, RANKSIFT_SERVE_TOKEN="abc-1")):
            with one:
                assert one.ask("/v1/filter", {"scores": [1]})[0] == 401
                assert one.ask("/v1/filter", {"scores": [1]}, authorization="Bearer abc-1")[0] == 200
                assert "abc-1" not in "".join(one.lines)


HEAD = b"POST /v1/filter HTTP/1.1\r\nhost: a\r\nconnection: close\r\n"
BODY = b'{"scores": [0.9, 0.1]}'


def _status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


class TestBadClients:
    """After each of them the service answers as before."""

    @pytest.fixture(autouse=True)
    def _lives(self, server):
        yield
        assert server.ask("/v1/filter", {"scores": [0.9]})[1]["kept"] == [0]

    def test_a_body_that_does_not_end_in_time(self, server):
        answer = server.sent(HEAD + b"content-length: 22\r\n\r\n" + BODY[:5])
        assert _status(answer) == 408
        assert json.loads(answer.split(b"\r\n\r\n")[1])["error"]["type"] == "timeout"

    def test_a_body_in_two_parts_is_one(self, server):
        answer = server.sent(HEAD + b"content-length: 22\r\n\r\n" + BODY[:5], more=BODY[5:], pause=0.05)
        assert _status(answer) == 200

    def test_half_a_request(self, server):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(HEAD + b"content-length: 22\r\n\r\n" + BODY[:5])
        for part in (b"POST /v1/fil", HEAD):
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
                connection.sendall(part)
        until = time.monotonic() + PATIENCE
        while not any(line.get("status") == 499 for line in server.log()):
            assert time.monotonic() < until
            time.sleep(0.01)

    @pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET\r\n\r\n", b"\0" * 70_000])
    def test_what_is_not_http(self, server, data):
        answer = server.sent(data)
        assert _status(answer) == 400
        assert json.loads(answer.split(b"\r\n\r\n")[1])["error"]["type"] == "bad_request"

    def test_a_document_of_ten_megabytes(self, server):
        large = {"model": "text", "query": "w9", "documents": ["w9 " * 3_500_000]}
        status, found = server.ask("/v1/rerank", large)
        assert (status, found["error"]["type"]) == (413, "too_large")

    def test_ten_thousand_documents(self, server):
        status, found = server.ask("/v1/rerank", {"model": "text", "query": "w9", "documents": ["w9"] * 10_000})
        assert (status, found["error"]["type"]) == (422, "bad_input")

    def test_a_length_that_is_none(self, server):
        for length in (b"-1", b"x", b"9" * 30):
            assert _status(server.sent(HEAD + b"content-length: " + length + b"\r\n\r\n" + BODY)) in (400, 408, 413)

    def test_bodies_in_chunks(self, server):
        chunked = HEAD + b"transfer-encoding: chunked\r\n\r\n"
        assert _status(server.sent(chunked + b"16\r\n" + BODY + b"\r\n0\r\n\r\n")) == 200
        assert _status(server.sent(chunked + b"zz\r\n")) == 400


def test_requests_that_nobody_would_send_on_purpose(server):
    counts = hunt(server, 400, seed=0)
    assert {"200", "400", "404", "405", "422"} <= {*counts}
    assert sum(counts.values()) == 400


def _stream(port: int, path: str, body: str, stop: threading.Event, counts: Counter[str]) -> None:
    """Ask on one connection until it is told to stop, and again on a new one where the server closes it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    while not stop.is_set():
        try:
            connection.connect() if connection.sock is None else None
        except ConnectionRefusedError:
            counts["refused"] += 1  # nothing was sent: whoever asks knows at once
            return
        try:
            connection.request("POST", path, body)
            answer = connection.getresponse()
            found = json.loads(answer.read())
            counts["answered" if answer.status == 200 and found["id"] else "wrong"] += 1
        except (OSError, http.client.HTTPException, ValueError) as error:
            counts[f"lost: {type(error).__name__}"] += 1
            return
    connection.close()


@pytest.mark.parametrize(
    ("workers", "name", "path", "body"),
    [(1, "text", "/v1/rerank", ASKED), (2, "cutoff.json", "/v1/filter", {"scores": [0.9, 0.1]})],
)
def test_nothing_is_lost_when_it_stops_under_load(models, workers, name, path, body):
    with Server(models / name, "--drain", "0.3", workers=workers) as server:
        stop, counts = threading.Event(), Counter()
        given = (server.port, path, json.dumps(body), stop, counts)
        clients = [threading.Thread(target=_stream, args=given) for _ in range(6)]
        for one in clients:
            one.start()
        until = time.monotonic() + PATIENCE
        while counts["answered"] < 20:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert server.stop() == 0
        stop.set()
        for one in clients:
            one.join(PATIENCE)
        answered = sum(line["event"] == "request" and line["status"] == 200 for line in server.log())
    assert set(counts) <= {"answered", "refused"}, counts
    assert answered == counts["answered"]
    assert sum(line["event"] == "stopped" for line in server.log()) == workers


def test_readiness_ends_before_the_door_is_shut(models):
    with Server(models / "cutoff.json", "--drain", "1.5") as server:
        assert server.ask("/readyz")[0] == 200
        server.process.send_signal(signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while (status := server.ask("/readyz")[0]) == 200:
            assert time.monotonic() < until
        assert status == 503
        assert server.ask("/v1/filter", {"scores": [0.9]})[0] == 200
        assert server.process.wait(PATIENCE) == 0


def test_an_interrupt_ends_it_at_once(models):
    with Server(models / "cutoff.json", "--drain", "60") as server:
        assert server.stop(signal.SIGINT) == 130


def test_several_workers_count_together_and_are_replaced(models):
    with Server(models / "cutoff.json", workers=2) as server:
        until = time.monotonic() + PATIENCE
        children = _children(server.process.pid)
        for _ in range(20):
            assert server.ask("/v1/filter", {"scores": [0.9, 0.1]})[0] == 200
        said = server.ask("/metrics")[1]
        assert 'ranksift_requests_total{route="/v1/filter",status="200"} 20.0' in said
        assert 'ranksift_dropped_share{model="cutoff"} 0.5' in said
        os.kill(children[0], signal.SIGKILL)
        while not any(line["event"] == "worker died" for line in server.log()):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert server.ask("/v1/filter", {"scores": [0.9]})[0] == 200
        while len(_children(server.process.pid)) < 2:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert server.stop() == 0


def test_a_worker_that_dies_while_a_model_is_copied_is_replaced_behind_it(place):
    cutoff = place / "cutoff.json"
    with Server(cutoff, workers=2) as server:
        whole, until = cutoff.read_bytes(), time.monotonic() + PATIENCE
        cutoff.write_bytes(whole[:100])
        os.kill(_children(server.process.pid)[0], signal.SIGKILL)
        while not any(line["event"] == "worker cannot start" for line in server.log()):
            assert time.monotonic() < until
            assert server.ask("/v1/filter", {"scores": [0.9]})[0] == 200
            time.sleep(0.05)
        cutoff.write_bytes(whole)
        while sum(line["event"] == "ready" for line in server.log()) < 3:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert server.stop() == 0


def _children(pid: int) -> list[int]:
    """Workers of a server, without the process that cleans up after them."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
