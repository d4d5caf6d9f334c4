"""Who may come in by HTTP, and what browsers are told to keep to."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

Headers = Iterable[tuple[bytes, bytes]]

POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "worker-src 'self'",
        "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*",
    ]
)
SAFE = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every answer."""


def header(headers: Headers, name: bytes) -> str | None:
    """The one value of a header; None if it is not there, empty if it is there more than once."""
    values = [value.decode("latin-1").strip() for key, value in headers if key.lower() == name]
    return None if not values else values[0] if len(values) == 1 else ""


def is_loopback(host: str | None) -> bool:
    """Whether a Host header names this machine by a name that no other machine's DNS can give out."""
    try:
        name = urlsplit(f"//{host or ''}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_problem(headers: Headers, local: bool) -> str:
    """Why a request may not come in under this Host; empty if it may.

    A page of someone else whose name is suddenly said to be 127.0.0.1 (DNS rebinding) still has its own name there.
    """
    if local and not is_loopback(header(headers, b"host")):
        return "this server is for this machine only: use http://localhost or http://127.0.0.1"
    return ""


def origin_problem(headers: Headers) -> str:
    """Why a WebSocket may not be opened from where it comes; empty if it may. Only browsers say where that is."""
    origin, host = header(headers, b"origin"), header(headers, b"host")
    if origin is None:
        return ""
    scheme, _, place = origin.partition("://")
    if scheme in ("http", "https") and host and place.lower() == host.lower():
        return ""
    return "a page of another origin may not connect"
