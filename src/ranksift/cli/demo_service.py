"""The service that ``ranksift demo`` starts, asks once, and stops."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any

from ranksift.errors import InputError

_PATIENCE = 120.0  # seconds: it loads an encoder before it answers


@contextmanager
def served(model: str) -> Iterator[int]:
    """``ranksift serve`` in a process of its own, on a free port of this machine; the port."""
    # The demo has gone to another folder, and a path to RankSift may be relative.
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-m", "ranksift", "serve", model, "--port", "0", "--drain", "0"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths, "RANKSIFT_SERVE_LOG": "warning"},
        text=True,
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.match(r"Serving .*: http://[^/]*:(\d+)/", said)
        if found is None:
            raise InputError(f"the service does not start ({said.strip() or 'it printed no message'})")
        yield int(found[1])
    finally:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stderr.close()


def asked(port: int, path: str, question: Any) -> Any:
    """The answer of the service to a request."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    try:
        connection.request("POST", path, json.dumps(question), {"content-type": "application/json"})
        answer = connection.getresponse()
        status, said = answer.status, json.loads(answer.read())
    except (OSError, HTTPException, ValueError) as error:
        raise InputError(f"the service does not answer ({error})") from None
    finally:
        connection.close()
    if status >= 400:
        raise InputError(f"the service answers {status}: {said['error']['message']}")
    return said
