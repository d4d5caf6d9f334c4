"""Who may subscribe when there is a token: ZeroMQ's PLAIN handshake (user `paddock`, the token as password).

Subscribers send no requests that could be refused, so that the connection itself is: libzmq asks over ZAP (RFC 27).
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

import zmq

from paddock.serve.endpoints.zmq.port import Port

if TYPE_CHECKING:
    from paddock.serve.hub import Hub

USER = b"paddock"
ZAP = "inproc://zeromq.zap.01"


class Gate:
    """Answers for the sockets of a context that ask for a password."""

    def __init__(self, context: zmq.Context[Any], guarded: Port, hub: Hub) -> None:
        """Guard a socket that does not listen yet."""
        self.hub = hub
        self.port = Port(context, zmq.ROUTER, -1, self._take)
        self.port.open(ZAP)
        guarded.socket.setsockopt(zmq.PLAIN_SERVER, 1)
        guarded.socket.setsockopt(zmq.ZAP_DOMAIN, b"paddock")

    def _take(self, frames: list[bytes]) -> None:
        """[..., version, request, domain, address, identity, mechanism, user, password]."""
        envelope, told = frames[: frames.index(b"") + 1], frames[frames.index(b"") + 1 :]
        allowed = len(told) == 8 and told[5] == b"PLAIN" and self._right(told[6], told[7])
        if not allowed:
            self.hub.counters.add("cut_off", endpoint="zmq", reason="token")
        status = [b"200", b"OK"] if allowed else [b"400", b"wrong token"]
        self.port.send(*envelope, told[0], told[1], *status, b"", b"")

    def _right(self, user: bytes, password: bytes) -> bool:
        token = (self.hub.options.token or "").encode()
        return user == USER and hmac.compare_digest(password, token)
