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
        The address of the pages, prefix included, for personal links; by default, the address that the lead uses.
    secure
        Send cookies over HTTPS only; otherwise they are secure if the request came over HTTPS.
    idle_seconds
        The seconds without activity after which an assessor's time no longer counts.
    session_days
        How many days a person stays signed in.
    failures, failure_seconds
        The number of wrong links that an address may try, and within how many seconds.
    body_bytes, import_bytes
        The largest body of a request, and of a request that adds queries.
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
