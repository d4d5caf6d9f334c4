"""Which connections the hub admits, and how many requests per second: token, names of this server, slots, open files.

Also its listening sockets, and its warnings about clients.
"""

import hmac
import ipaddress
import logging
import socket
from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import suppress
from time import monotonic
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from paddock.scenario.serve import Serve, is_loopback

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

T = TypeVar("T", bound=Hashable)


class Slots(Generic[T]):
    """Connections of which only so many may stay, because they have not shown yet that they are of use.

    One more ends another: of the address that has most of them the one that entered first. So a client that opens many
    displaces its own.
    """

    def __init__(self, most: int, end: Callable[[T], None]) -> None:
        """`end` closes a connection that has lost its slot."""
        self.most = most
        self._end = end
        self._held: dict[T, str] = {}  # connection -> address; the first to enter comes first

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, holder: T) -> bool:
        return holder in self._held

    def enter(self, holder: T, address: str) -> None:
        """Give a connection a slot, or renew it; `address` is that of its host."""
        self._held.pop(holder, None)
        self._held[holder] = address
        while len(self._held) > self.most:
            counts = Counter(self._held.values())
            busiest = max(counts, key=lambda each: counts[each])
            displaced = next(each for each, at in self._held.items() if at == busiest)
            del self._held[displaced]
            self._end(displaced)

    def leave(self, holder: T) -> None:
        """Free a slot, if it has one."""
        self._held.pop(holder, None)


class Allowance:
    """A limit of requests per second, with bursts of one second's worth."""

    def __init__(self, rate: float, now: float) -> None:
        self.rate = rate
        self._left, self._since = max(rate, 1.0), now
        self.warned = False

    def take(self, now: float) -> bool:
        """Return whether one more request at a time (s) is within the rate."""
        most = max(self.rate, 1.0)
        self._left, self._since = min(most, self._left + (now - self._since) * self.rate), now
        if self._left >= 0.5 * most:
            self.warned = False
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


def has_token(options: Serve, text: str | bytes) -> bool:
    """Return whether a text is the server's token, or none is needed; it takes as long for any text."""
    shown = text.encode() if isinstance(text, str) else text
    return options.token is None or hmac.compare_digest(shown, options.token.encode())


def is_foreign(origin: str | None, host: str | None) -> bool:
    """Return whether an Origin header, which only browsers send, names a page of another host."""
    scheme, _, origin_host = (origin or "").partition("://")
    return origin is not None and not (scheme in ("http", "https") and host and origin_host.lower() == host.lower())


def is_named(options: Serve, host: str | None) -> bool:
    """Return whether a Host header names this server, by a name that a stranger's DNS cannot have redirected to it.

    A page under such a name would count as of the same origin. Addresses cannot be redirected. With a token every name
    is valid, as that of a proxy: the page does not know the token.
    """
    if options.token is not None:
        return True
    try:
        name = (urlsplit(f"//{host or ''}").hostname or "").lower()
    except ValueError:
        return False
    if is_loopback(name) or name in map(str.lower, options.hosts):
        return True
    if options.local:
        return False
    try:
        ipaddress.ip_address(name)
        return True
    except ValueError:
        own = socket.gethostname().lower()
        return bool(name) and name in (own, f"{own}.local")


def raise_file_limit() -> None:
    """Let this process open as many files and connections as the system permits."""
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):  # unlimited, but not by the kernel
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


ENOUGH = 1024  # open files with which the usual numbers of slots fit beside the clients


def share_of_files(slots: int) -> int:
    """Return a number of slots, fewer in a process that may open few files, so that these do not run out."""
    limit = ENOUGH if resource is None else resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return slots if limit < 0 or limit >= ENOUGH else max(4, slots * limit // ENOUGH)


INTERVAL = 10.0  # s between two log lines with the same reason


class LimitedLog:
    """Warnings, at most one per reason and interval. Reasons are few, never text of a client."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)
        self._next: dict[str, float] = {}  # reason -> time of the next line, monotonic s
        self._held: dict[str, int] = {}  # reason -> lines suppressed since

    def warn(self, reason: str, message: str) -> None:
        """Log a warning, or count it and report the count with the next one."""
        now = monotonic()
        if now < self._next.get(reason, now):
            self._held[reason] = self._held.get(reason, 0) + 1
            return
        self._next[reason] = now + INTERVAL
        held = self._held.pop(reason, 0)
        self._logger.warning("%s%s", message, f" ({held} more like this since the last line)" if held else "")


SEND_BUFFER = 1 << 20
"""Bytes that the kernel may buffer for a peer: enough for a large group in a few pieces, few old small ones."""
WAITING = 128  # connections that may wait to be accepted


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening TCP socket; OSError if that is not possible."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a new hub takes over the port at once
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)  # inherited by accepted sockets
        listening.bind(address)
        listening.listen(WAITING)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening
