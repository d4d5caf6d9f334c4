"""The endpoint: who may ask, what is asked, and what comes of it."""

from __future__ import annotations

import hmac
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

import zmq

from paddock import __version__
from paddock.errors import PaddockError, UnknownNameError
from paddock.serve.counters import LimitedLog
from paddock.serve.endpoints.zmq.peers import IGNORED, SILENCE, STRIKES, Peer, Peers
from paddock.serve.endpoints.zmq.port import Port
from paddock.serve.endpoints.zmq.publisher import Publisher
from paddock.serve.endpoints.zmq.requests import Translated, operation_of
from paddock.serve.hub import OperationError
from paddock.serve.hub import Reply as Outcome
from paddock.serve.states import state_of
from paddock.wire.error import WireError
from paddock.wire.messages.replies import Body, Done, Error, Reply, Welcome, encode_id, encode_reply
from paddock.wire.messages.requests import (
    PROTOCOL,
    Call,
    Goodbye,
    Heartbeat,
    Hello,
    Request,
    decode_request,
    request_id,
)
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.hub import Hub, Send

MESSAGE_MOST = 64 << 20
"""Bytes of a message at most: a saved state may be large."""
OPEN_MOST = 1024
"""Requests of a client that may wait for their answers."""
LOG = LimitedLog(__name__)
LOOK = 0.25
"""s between looks at who has fallen silent."""


class ZmqEndpoint:
    """Clients are known by their routing ids, and by name since they said Hello."""

    latest = False

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        self.hub = hub
        self.every = every
        self.peers = Peers(options["clients"], options["requests"])
        self._port, self._publish = options["port"], options["publish"]
        self._context = zmq.Context()
        self._router = Port(self._context, zmq.ROUTER, MESSAGE_MOST, self._take)
        self._router.socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self.publisher = Publisher(hub, self._context)
        self._timer: Any = None

    @property
    def clients_now(self) -> int:
        """Clients that have said Hello and not left."""
        return len(self.peers.clients)

    async def open(self) -> dict[str, Any]:
        """Listen on both ports."""
        self._port = self._bound(self._router, self._port)
        after = self._port + 1 if self._given_port else 0
        self._publish = self._bound(self.publisher.port, after if self._publish is None else self._publish)
        self._look_around()
        return {"port": self._port, "publish": self._publish}

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode a state for those who subscribed."""
        return self.publisher.prepare(snapshot, wall_time)

    def hear(self, kind: str, content: dict[str, Any]) -> None:
        """Pass on what concerns clients."""
        peer = self.peers.clients.get(content["client"]) if "client" in content else None
        if kind == "control_request" and peer is not None:
            self._send(peer, content["message"])
        elif kind == "refused" and peer is not None:
            self._count("refused_controls", reason=content["kind"])
            self._say(peer, 0, Error(content["kind"], content["message"]))
        else:
            self.publisher.hear(kind, content)

    async def close(self) -> None:
        """Let go."""
        if self._timer is not None:
            self._timer.cancel()
        self._router.close()
        self.publisher.close()
        self._context.term()

    # requests --------------------------------------------------------------------------------------------------------

    def _take(self, frames: list[bytes]) -> None:
        """One message from anybody; whatever goes wrong with it stays here."""
        peer = self.peers.at(frames[0])
        try:
            self._hear_from(peer, frames)
        except Exception as error:
            self._count("endpoint_errors")
            LOG.warn(type(error).__name__, f"a request failed in the zmq endpoint: {traceback.format_exc()}")
            self._say(peer, request_id(frames[-1]), Error("PaddockError", "the server failed at this request"))

    def _hear_from(self, peer: Peer, frames: list[bytes]) -> None:
        """One message, unless its sender has sent too many."""
        if peer.ignored_until > peer.heard:
            self._count("ignored")
            return
        peer.allowance -= 1.0
        if peer.allowance < 0.0:
            self._cut_off(peer, "rate", f"more than {self.peers.rate:g} requests per second")
            return
        try:
            if len(frames) != 2:
                raise WireError("count", f"a message has one frame, not {len(frames) - 1}")
            request = decode_request(frames[1])
        except WireError as error:
            self._strike(peer, error.id, "malformed", str(error))
            return
        self._serve(peer, request)

    def _serve(self, peer: Peer, request: Request) -> None:
        """One request that makes sense."""
        if not peer.name:
            self._meet(peer, request)
            return
        match request.body:
            case Heartbeat():
                self._say(peer, request.id, Done())
            case Hello():
                self._welcome(peer, request.id)
            case Goodbye():
                self._say(peer, request.id, Done())
                self._part(peer)
            case _:
                self._operate(peer, request)

    def _meet(self, peer: Peer, request: Request) -> None:
        """A peer that has not said Hello: its token is looked at first."""
        token = self.hub.options.token
        if token is not None and not hmac.compare_digest(request.token.encode(), token.encode()):
            self._strike(peer, request.id, "token", "the token is wrong: connect with the server's token")
        elif not isinstance(request.body, Hello):
            self._refuse(peer, request.id, "hello", "say Hello first")
        elif request.body.protocol != PROTOCOL:
            told = f"this server speaks protocol {PROTOCOL}, not {request.body.protocol}"
            self._refuse(peer, request.id, "protocol", told)
        elif not self.peers.welcome(peer, request.body.client):
            self._refuse(peer, request.id, "full", f"there are {self.peers.most_clients} clients already")
        else:
            self._welcome(peer, request.id)

    def _welcome(self, peer: Peer, number: int) -> None:
        run = int(self.hub.mirror.figures.get("run", 0))
        told = Welcome(__version__, peer.name, self.hub.rate, run, SILENCE, PROTOCOL, self._publish)
        self._say(peer, number, told)

    def _operate(self, peer: Peer, request: Request) -> None:
        if peer.open_requests >= OPEN_MOST:
            self._refuse(peer, request.id, "busy", f"{OPEN_MOST} requests wait for their answers already")
            return
        body = request.body
        if isinstance(body, Call) and body.method == "snapshot" and body.arguments.get("roster") is True:
            peer.layout = None
        try:
            operation = operation_of(body, self._name_of)
        except PaddockError as error:
            self._refuse(peer, request.id, type(error).__name__, str(error))
            return
        if operation.name == "control" and request.id == 0:
            self.hub.tell("control_unasked", peer.name, **operation.arguments)
            return
        peer.open_requests += 1
        then = partial(self._answer, peer, peer.name, request.id, operation)
        self.hub.ask(operation.name, peer.name, operation.arguments, then)

    def _answer(
        self, peer: Peer, name: str, number: int, operation: Translated, outcome: Outcome | OperationError
    ) -> None:
        """The simulation has done it, or not."""
        peer.open_requests -= 1
        if peer.name != name:
            return  # it left meanwhile
        if isinstance(outcome, OperationError):
            self._count("refused_controls" if operation.name == "control" else "refused", reason=outcome.kind)
            self._say(peer, number, Error(outcome.kind, str(outcome)))
            return
        body = self._state(peer) if operation.name == "snapshot" else operation.reply(outcome)
        if isinstance(body, bytes):
            self._send(peer, encode_id(number) + body)
        else:
            self._say(peer, number, body, outcome)

    def _state(self, peer: Peer) -> Body:
        """The newest state, with the roster if the client does not know it."""
        snapshot = self.hub.newest()
        if snapshot is None:
            return Error("PaddockError", "there is no state yet")
        state = state_of(snapshot, self.hub.ring.wall_time, peer.layout)
        peer.layout = snapshot.layout
        return state

    def _name_of(self, number: int) -> str:
        """The vehicle of an id."""
        snapshot = self.hub.newest()
        if snapshot is None:
            raise UnknownNameError(f"no vehicle has the id {number}")
        return snapshot[number].name

    # replies ---------------------------------------------------------------------------------------------------------

    def _say(self, peer: Peer, number: int, body: Body, outcome: Outcome | None = None) -> None:
        tick, time = (self.hub.tick, self.hub.time) if outcome is None else (outcome.tick, outcome.time)
        try:
            data = encode_reply(Reply(number, tick, time, body))
        except PaddockError as error:
            data = encode_reply(Reply(number, tick, time, Error(type(error).__name__, str(error))))
        self._send(peer, data)

    def _send(self, peer: Peer, data: bytes) -> None:
        if not self._router.send(peer.address, data) and peer.name:
            self._count("cut_off", reason="unreachable")
            self._part(peer)

    def _refuse(self, peer: Peer, number: int, code: str, message: str) -> None:
        self._count("refused", reason=code)
        self._say(peer, number, Error(code, message))

    def _strike(self, peer: Peer, number: int, reason: str, message: str) -> None:
        """Something without sense; too much of it is not listened to."""
        self._count("malformed", reason=reason)
        peer.strikes += 1.0
        if peer.strikes > STRIKES:
            self._cut_off(peer, reason, f"too many messages like this: {message}")
        else:
            self._say(peer, number, Error(reason, message))

    def _cut_off(self, peer: Peer, reason: str, message: str) -> None:
        self._count("cut_off", reason=reason)
        peer.ignored_until, peer.allowance, peer.strikes = peer.heard + IGNORED, self.peers.rate, 0.0
        self._say(peer, 0, Error("cut_off", f"cut off for {IGNORED:g} s: {message}"))
        self._part(peer)

    def _part(self, peer: Peer) -> None:
        if peer.name:
            self.hub.gone(self.peers.part(peer))

    def _count(self, name: str, reason: str = "") -> None:
        self.hub.counters.add(name, endpoint="zmq", reason=reason)

    # life ------------------------------------------------------------------------------------------------------------

    def _look_around(self) -> None:
        """Let go of the silent, and look whether a socket has something after all."""
        for peer in self.peers.silent():
            self._count("cut_off", reason="silent")
            self._part(peer)
        self._router.look()
        self.publisher.look_around()
        self._timer = self.hub.loop.call_later(LOOK, self._look_around)

    @property
    def _given_port(self) -> bool:
        return bool(self.hub.options.zmq and self.hub.options.zmq.port)

    def _bound(self, port: Port, number: int) -> int:
        """Listen on a TCP port, or a free one for 0; which one it became."""
        bind = self.hub.options.bind
        host = f"[{bind}]" if ":" in bind else bind.replace("localhost", "127.0.0.1")
        port.socket.setsockopt(zmq.IPV6, int(":" in bind))
        address = port.open(f"tcp://{host}:{number or '*'}")
        return int(address.rpartition(":")[2])
