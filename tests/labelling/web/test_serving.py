"""``ranksift label serve`` before it serves: prefixes, sockets, and what is wrong in one line."""

import socket

import pytest

from ranksift.cli.label_serve import checked_prefix, listening, serve
from ranksift.errors import InputError


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
