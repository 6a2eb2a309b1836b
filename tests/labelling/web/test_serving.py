"""``ranksift label serve`` before it serves: prefixes, sockets, and what is wrong in one line."""

import json
import socket
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from ranksift.cli.label_serve import _invite, serve
from ranksift.errors import InputError
from ranksift.web.door import checked_prefix, listening
from tests.labelling.web import browsing
from tests.labelling.web.conftest import finish, make


@pytest.mark.parametrize(
    ("given", "prefix"), [("", ""), ("/", ""), ("label", "/label"), ("/label/", "/label"), ("/a/b", "/a/b")]
)
def test_prefixes(given, prefix):
    assert checked_prefix(given) == prefix


@pytest.mark.parametrize("given", ["/a b", "/a?b", '/"', "/%2f", "/é", "/a;b"])
def test_what_is_no_prefix(given):
    with pytest.raises(InputError, match="--root-path"):
        checked_prefix(given)


def test_small_answers_are_sent_at_once():
    with listening("127.0.0.1", 0) as door:
        assert door.proto == socket.IPPROTO_TCP  # asyncio asks for this before it sets TCP_NODELAY


def test_a_port_that_is_taken():
    with listening("127.0.0.1", 0) as door:
        port = door.getsockname()[1]
        with pytest.raises(InputError, match=rf"cannot listen on 127.0.0.1:{port} .*choose another"):
            listening("127.0.0.1", port)


@pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1"])
def test_an_address_that_is_not_here(host):
    with pytest.raises(InputError, match="cannot listen"):
        listening(host, 0)


def test_a_project_that_is_not_there(tmp_path):
    with pytest.raises(InputError):
        serve(str(tmp_path / "nothing"))


def _code(url: str, forwarded: str) -> int:
    """What is answered to somebody at another address, as a proxy says or they themselves."""
    try:
        with urlopen(Request(url, headers={"x-forwarded-for": forwarded})) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


@pytest.mark.parametrize("believed", [True, False])
def test_behind_a_proxy_that_speaks_https(tmp_path, believed):
    made = make(tmp_path / "project")
    with made.store:
        made.store.start_session(made.numbers["Lea"])
        server = browsing.Server(tmp_path / "project", *(["--proxy", "127.0.0.1"] if believed else []))
        server.start()
        try:
            headers = {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7"}
            with urlopen(Request(f"{server.url}/in/{made.tokens['Ada']}", headers=headers)) as answer:
                assert ("Secure" in answer.headers["set-cookie"]) is believed
            headers["authorization"] = f"Bearer {made.tokens['Lea']}"
            request = Request(f"{server.url}/api/v1/people", json.dumps({"name": "Zoë"}).encode(), headers)
            with urlopen(request) as answer:
                assert json.load(answer)["link"].startswith("https://" if believed else "http://")
            # Who guesses is known by the address that the proxy saw; what they claim themselves counts for nothing.
            codes = [_code(f"{server.url}/in/guess", f"198.51.100.{number}, 192.0.2.7") for number in range(12)]
            assert codes == [404] * 10 + [429] * 2
            assert _code(f"{server.url}/in/guess", "192.0.2.8") == (404 if believed else 429)
        finally:
            server.kill()


def test_who_works_by_program_keeps_the_link_when_the_server_starts_again(labelling, capsys):
    _invite(labelling.store, "http://testserver")
    token = capsys.readouterr().err.strip().rpartition("/")[2]
    labelling.tokens["Lea"] = token
    finish(labelling.by_token("Ada"), labelling.task("Ada").key)
    _invite(labelling.store, "http://testserver")
    assert capsys.readouterr().err == ""
    assert labelling.by_token("Lea").get("/api/v1/me").json()["name"] == "Lea"
