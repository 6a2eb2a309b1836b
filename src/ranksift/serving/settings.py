"""How models are served: which, to whom, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: The environment variable that names the folder into which workers count.
SHARED = "PROMETHEUS_MULTIPROC_DIR"


@dataclass(frozen=True)
class Settings:
    """How models are served.

    Attributes
    ----------
    models
        The folder of each model, or the file of each cutoff, by name.
    token
        The token that clients must send; empty: none.
    cors
        Origins whose pages may send requests; ``*`` allows all.
    root_path
        The prefix under which a proxy serves all addresses, such as ``/rank``.
    body_bytes, documents
        The largest body of a request, and the largest number of documents in it.
    body_seconds, request_seconds
        How long a body may take to arrive, and an answer to be computed.
    queue_tokens
        If this many tokens are waiting, further requests are asked to come back later.
    batch_tokens
        How many tokens of waiting requests are scored in one call; 0: a number chosen for the device.
    reload_seconds
        How often to look for new versions of models; 0: never.
    drain_seconds
        How long requests are still accepted after the service was asked to stop, so that proxies notice.
    workers
        Processes that share the port.
    log_level
        The lowest level of lines that are written to the log.
    """

    models: tuple[tuple[str, Path], ...] = ()
    token: str = ""
    cors: tuple[str, ...] = ()
    root_path: str = ""
    body_bytes: int = 8 << 20
    documents: int = 1000
    body_seconds: float = 10.0
    request_seconds: float = 30.0
    queue_tokens: int = 400_000
    batch_tokens: int = 0
    reload_seconds: float = 2.0
    drain_seconds: float = 0.5
    workers: int = 1
    log_level: str = "info"

    @property
    def longest_request(self) -> float:
        """Seconds that a request may take, from its first byte to its answer."""
        return self.body_seconds + self.request_seconds
