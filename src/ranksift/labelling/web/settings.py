"""How the pages are served."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How the pages are served.

    Attributes
    ----------
    root_path
        The prefix under which a proxy serves the pages, such as ``/label``.
    url
        Where people reach the pages, prefix included, for personal links; by default where the lead reaches them.
    secure
        Cookies only over HTTPS; otherwise they are secure where the request came over HTTPS.
    idle_seconds
        After how long without a sign of life an assessor's time does not count any more.
    session_days
        For how long somebody stays signed in.
    failures, failure_seconds
        How many wrong links an address may try within how many seconds.
    body_bytes, import_bytes
        The largest body of a request, and of one that brings queries.
    """

    root_path: str = ""
    url: str = ""
    secure: bool = False
    idle_seconds: int = 60
    session_days: int = 30
    failures: int = 10
    failure_seconds: float = 60.0
    body_bytes: int = 4 * 1024 * 1024  # guidelines of 200,000 characters, 9 bytes for each in a form, and more
    import_bytes: int = 256 * 1024 * 1024
