"""The ZeroMQ endpoint: its sockets, clients, their limits, their requests and the replies."""

from __future__ import annotations

import asyncio
import errno
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

import zmq

from paddock import __version__
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.serve.endpoints.zmq.publisher import Publisher
from paddock.serve.facts import OperationError, OperationOutcome
from paddock.serve.hub import Endpoint, Hub, Send
from paddock.serve.protection.admission import Allowance, LimitedLog
from paddock.serve.protection.zmq_connections import BEAT_MS, DEAD_MS, ConnectionLimiter, TokenAuthenticator
from paddock.serve.states import state_of
from paddock.wire import WireError
from paddock.wire.messages import requests
from paddock.wire.operations import OPERATIONS
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

MESSAGE_MOST = 64 << 20  # bytes of a message: a saved state may be large
PENDING_MOST, SUBSCRIPTIONS_MOST = 2 * MESSAGE_MOST, 1 << 20  # bytes sent that are in no message yet
HELLO_MOST = 4096  # bytes of a message before Hello, which are decoded
OPEN_MOST = 1024  # unanswered requests of a client
LOG = LimitedLog(__name__)
LOOK = 0.25  # s between checks for silent clients
CALLS = {name: operation for name, operation in OPERATIONS.items() if operation.callable_by_name}
"""The operations that clients call by name; others have a message of their own."""


EVENTS, POLLIN, NOBLOCK = int(zmq.EVENTS), int(zmq.POLLIN), int(zmq.NOBLOCK)  # enums are twice as slow
RCVMORE, SRCFD = int(zmq.RCVMORE), int(zmq.SRCFD)
FRAMING = 21  # bytes of the header of a frame, and of the name of a command that subscribes, at most
BATCH = 64  # messages read at a time
WAITING = 1000  # messages that may wait for a peer, in each direction


class Port:
    """Receives messages as they arrive; sending never blocks.

    ZeroMQ's descriptor is edge-triggered: EVENTS is read after every operation that may have consumed an edge.
    """

    def __init__(
        self, context: zmq.Context[Any], kind: int, most_bytes: int, on_message: Callable[[list[bytes]], None]
    ) -> None:
        self.socket: zmq.Socket[bytes] = context.socket(kind)
        self._on_message = on_message
        self.on_arrival: Callable[[int, bytes, int], None] | None = None  # descriptor, first frame, bytes in all
        self._loop: asyncio.AbstractEventLoop | None = None
        self._receiving = False
        options = {
            zmq.LINGER: 0,
            zmq.SNDHWM: WAITING,
            zmq.RCVHWM: WAITING,
            zmq.MAXMSGSIZE: most_bytes,
            zmq.HEARTBEAT_IVL: BEAT_MS,
            zmq.HEARTBEAT_TIMEOUT: DEAD_MS,
            zmq.HANDSHAKE_IVL: DEAD_MS,
        }
        for option, value in options.items():
            self.socket.setsockopt(option, value)

    def open(self, address: str) -> str:
        """Listen on a ZeroMQ address and return the actual one. OSError if that is not possible."""
        try:
            self.socket.bind(address)
        except zmq.ZMQError as error:
            raise OSError(error.errno, zmq.strerror(error.errno or errno.EINVAL)) from None
        self.begin()
        return self.socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")

    def begin(self) -> None:
        """Receive from now on."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self.socket.fileno(), self.receive)
        self.receive()

    def receive(self) -> None:
        """Receive waiting messages; after many of them the event loop continues first."""
        self._receiving = True  # sending need not read EVENTS meanwhile
        for _ in range(BATCH):
            if not self._readable():
                self._receiving = False
                return
            self._on_message(self.socket.recv_multipart(NOBLOCK) if self.on_arrival is None else self._received())
        self._receive_later()

    def send(self, *frames: bytes) -> bool:
        """Send; False if the peer is gone or does not read."""
        try:
            self.socket.send_multipart(frames, NOBLOCK)
            return True
        except zmq.ZMQError:
            return False
        finally:
            if not self._receiving and self._readable():
                self._receive_later()

    def close(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self.socket.fileno())
            self._loop = None
        self.socket.close()

    def _received(self) -> list[bytes]:
        """Receive a message, and report it with the connection that it came from."""
        first = self.socket.recv(NOBLOCK, copy=False)
        frames = [first.bytes]
        while self.socket.getsockopt(RCVMORE):
            frames.append(self.socket.recv(NOBLOCK))
        assert self.on_arrival is not None
        with suppress(zmq.ZMQError):
            self.on_arrival(int(first.get(SRCFD)), frames[0], sum(map(len, frames)) + len(frames) * FRAMING)
        return frames

    def _readable(self) -> bool:
        return bool(self.socket.getsockopt(EVENTS) & POLLIN)  # type: ignore[operator]

    def _receive_later(self) -> None:
        if self._loop is not None:
            self._receiving = True
            self._loop.call_soon(self._receive_if_open)

    def _receive_if_open(self) -> None:
        if self._loop is not None:
            self.receive()


class ZmqServer(Endpoint):
    """Serves requests and publications; clients have routing ids, and names after Hello."""

    name = "zmq"
    latest = False

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, 1)  # the publisher selects
        self.peers = ZmqPeers(options["clients"], options["requests"])
        self._port, self._publish = options["port"], options["publish"]
        self._context = zmq.Context()
        self._new_port = partial(Port, self._context)
        self._router = self._new_port(zmq.ROUTER, MESSAGE_MOST, self._take)
        self._router.socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self.publisher = Publisher(self, self._new_port, every)
        guarded = self._router, self.publisher.port
        self._authenticator = None if hub.options.token is None else TokenAuthenticator(self._new_port, self, *guarded)
        self._limiters: list[ConnectionLimiter] = []
        self._timer: Any = None

    @property
    def clients_now(self) -> int:
        return len(self.peers.clients)

    async def open(self) -> dict[str, Any]:
        most = self.peers.most_clients
        self._limiters = [
            ConnectionLimiter(self._new_port, self, self._router, most, PENDING_MOST, "requests"),
            ConnectionLimiter(self._new_port, self, self.publisher.port, most, SUBSCRIPTIONS_MOST, "states"),
        ]
        self._port = self._bound(self._router, self._port)
        after = self._port + 1 if self.hub.options.zmq and self.hub.options.zmq.port else 0
        states = after if self._publish is None else self._publish
        try:
            self._publish = self._bound(self.publisher.port, states)
        except OSError as error:
            where = f"{self.hub.options.bind}:{states} (for states; `publish` sets another port)"
            raise OSError(error.errno, error.strerror, where) from None
        self._check()
        return {"port": self._port, "publish": self._publish}

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        return self.publisher.prepare(snapshot, wall_time)

    def on_push(self, kind: str, content: dict[str, Any]) -> None:
        """Pass on control requests and refusals; publish the rest."""
        peer = self.peers.clients.get(content["client"]) if "client" in content else None
        if kind == "control_request" and peer is not None:
            self._send(peer, content["message"])
        elif kind == "refused" and peer is not None:
            self.count("refused_controls", reason=content["kind"])
            self._reply(peer, 0, requests.Error(content["kind"], content["message"]))
        else:
            self.publisher.on_push(kind, content)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for limiter in self._limiters:
            limiter.close()
        self._router.close()
        self.publisher.close()
        if self._authenticator is not None:
            self._authenticator.port.close()
        self._context.term()

    def _take(self, frames: list[bytes]) -> None:
        """Handle one message; errors are contained here."""
        peer = self.peers.at(frames[0])
        try:
            self._receive(peer, frames)
        except Exception as error:
            self.count("endpoint_errors")
            LOG.warn(type(error).__name__, f"a request failed in the zmq endpoint: {traceback.format_exc()}")
            failure = requests.Error("PaddockError", "internal error of the server")
            self._reply(peer, requests.request_id(frames[-1]), failure)

    def _receive(self, peer: ZmqPeer, frames: list[bytes]) -> None:
        """Handle one message within the limits of its sender."""
        if peer.ignored:
            self.count("ignored")
            return
        if not peer.allowance.take(peer.last_seen):
            self._cut_off(peer, "rate", f"more than {self.peers.rate:g} requests per second")
            return
        try:
            if len(frames) != 2:
                raise WireError("count", f"a message has one frame, not {len(frames) - 1}")
            if not peer.name and len(frames[1]) > HELLO_MOST:
                raise WireError("size", f"a message before Hello has at most {HELLO_MOST} bytes")
            request = requests.decode_request(frames[1])
        except WireError as error:
            self._reject(peer, error.id, "malformed", str(error))
            return
        self._serve(peer, request)

    def _serve(self, peer: ZmqPeer, request: requests.RequestMessage) -> None:
        if not peer.name:  # the token has been checked
            if not isinstance(request.body, requests.Hello):
                self._refuse(peer, request.id, "hello", "send Hello first")
            elif request.body.protocol != requests.PROTOCOL:
                reason = f"this server speaks protocol {requests.PROTOCOL}, not {request.body.protocol}"
                self._refuse(peer, request.id, "protocol", reason)
            elif not self.peers.welcome(peer, request.body.client):
                self._refuse(peer, request.id, "full", f"the limit of {self.peers.most_clients} clients is reached")
            else:
                self._welcome(peer, request.id)
            return
        match request.body:
            case requests.Heartbeat():
                self._reply(peer, request.id, requests.Done())
            case requests.Hello():
                self._welcome(peer, request.id)
            case requests.Goodbye():
                self._reply(peer, request.id, requests.Done())
                self._remove(peer)
            case _:
                self._operate(peer, request)

    def _welcome(self, peer: ZmqPeer, number: int) -> None:
        run = int(self.hub.mirror.figures.get("run", 0))
        welcome = requests.Welcome(
            __version__, peer.name, self.hub.rate, run, SILENCE, requests.PROTOCOL, self._publish
        )
        self._reply(peer, number, welcome)

    def _operate(self, peer: ZmqPeer, request: requests.RequestMessage) -> None:
        if peer.open_requests >= OPEN_MOST:
            self._refuse(peer, request.id, "busy", f"{OPEN_MOST} requests are unanswered already")
            return
        try:
            operation, arguments = operation_of(request.body)
        except PaddockError as error:
            self._refuse(peer, request.id, type(error).__name__, str(error))
            return
        reply = OPERATIONS[operation].entry.reply
        if reply == "StateUpdate" and arguments.get("roster"):
            peer.send_roster(None)
        if reply == "ControlAck" and request.id == 0:  # only a refusal is answered
            self.hub.report(id=None, operation=operation, client=peer.name, arguments=arguments)
            return
        peer.begin_request()
        then = partial(self._answer, peer, peer.name, request.id, operation)
        self.hub.ask(operation, peer.name, arguments, then)

    def _answer(
        self, peer: ZmqPeer, name: str, number: int, operation: str, outcome: OperationOutcome | OperationError
    ) -> None:
        peer.end_request()
        if peer.name != name:
            return  # it has disconnected meanwhile
        if isinstance(outcome, OperationError):
            controls = OPERATIONS[operation].entry.reply == "ControlAck"
            self.count("refused_controls" if controls else "refused", reason=outcome.kind)
            self._reply(peer, number, requests.Error(outcome.kind, str(outcome)))
            return
        body = reply_of(operation, outcome.result)
        if body is None:
            body = self._state(peer)
        if isinstance(body, bytes):
            self._send(peer, requests.encode_id(number) + body)
        else:
            self._reply(peer, number, body, outcome)

    def _state(self, peer: ZmqPeer) -> requests.ReplyBody:
        """Return the newest state, with the roster if the client lacks it."""
        snapshot = self.hub.ring.latest()
        if snapshot is None:
            return requests.Error("PaddockError", "no snapshot yet")
        state = state_of(snapshot, self.hub.ring.wall_time, peer.layout)
        peer.send_roster(snapshot.layout)
        return state

    def _reply(
        self, peer: ZmqPeer, number: int, body: requests.ReplyBody, outcome: OperationOutcome | None = None
    ) -> None:
        tick, time = (self.hub.tick, self.hub.time) if outcome is None else (outcome.tick, outcome.time)
        try:
            data = requests.encode_reply(requests.Reply(number, tick, time, body))
        except PaddockError as error:
            failure = requests.Error(type(error).__name__, str(error))
            data = requests.encode_reply(requests.Reply(number, tick, time, failure))
        self._send(peer, data)

    def _send(self, peer: ZmqPeer, data: bytes) -> None:
        if not self._router.send(peer.address, data) and peer.name:
            self.count("cut_off", reason="unreachable")
            self._remove(peer)

    def _refuse(self, peer: ZmqPeer, number: int, code: str, message: str) -> None:
        self.count("refused", reason=code)
        self._reply(peer, number, requests.Error(code, message))

    def _reject(self, peer: ZmqPeer, number: int, reason: str, message: str) -> None:
        """Count an invalid message; too many of them block the peer for a while."""
        self.count("malformed", reason=reason)
        if peer.strike():
            self._cut_off(peer, reason, f"too many messages like this: {message}")
        else:
            self._reply(peer, number, requests.Error(reason, message))

    def _cut_off(self, peer: ZmqPeer, reason: str, message: str) -> None:
        self.count("cut_off", reason=reason)
        peer.ignore(self.peers.rate)
        self._reply(peer, 0, requests.Error("cut_off", f"blocked for {IGNORED:g} s: {message}"))
        self._remove(peer)

    def _remove(self, peer: ZmqPeer) -> None:
        if peer.name:
            self.hub.report(gone=self.peers.part(peer))

    def _check(self) -> None:
        """Remove silent clients, and poll the sockets."""
        for peer in self.peers.silent():
            self.count("cut_off", reason="silent")
            self._remove(peer)
        if self._authenticator is not None:
            self._authenticator.port.receive()
        self._router.receive()
        self.publisher.check()
        self._timer = self.hub.loop.call_later(LOOK, self._check)

    def _bound(self, port: Port, number: int) -> int:
        """Listen on a TCP port, a free one for 0, and return it."""
        bind = self.hub.options.bind
        host = f"[{bind}]" if ":" in bind else bind.replace("localhost", "127.0.0.1")
        port.socket.setsockopt(zmq.IPV6, int(":" in bind))
        address = port.open(f"tcp://{host}:{number or '*'}")
        return int(address.rpartition(":")[2])


SILENCE = 5.0  # s without a message after which a client is removed
IGNORED = 5.0  # s for which messages of a blocked peer are ignored
STRIKES = 20  # invalid messages or wrong tokens before a peer is blocked; one per second is forgotten
STRANGERS = 256  # peers without Hello that are remembered
NAME_LENGTH = 64


@dataclass
class ZmqPeer:
    """One connection."""

    address: bytes
    allowance: Allowance
    name: str = ""  # its client name; empty before Hello
    last_seen: float = field(default_factory=monotonic)
    ignored_until: float = 0.0
    strikes: float = 0.0
    open_requests: int = 0
    layout: Layout | None = None  # of the last roster sent

    @property
    def ignored(self) -> bool:
        """Whether its messages are ignored at present."""
        return self.ignored_until > self.last_seen

    def see(self, now: float) -> None:
        """Note that a message has arrived (s, monotonic)."""
        self.strikes = max(0.0, self.strikes - (now - self.last_seen))
        self.last_seen = now

    def enter(self, name: str) -> None:
        """Give it a client name after Hello, or take the name away with an empty one."""
        self.name, self.layout = name, None

    def send_roster(self, layout: Layout | None) -> None:
        """Note the roster that it has been sent; None: it gets the next one in any case."""
        self.layout = layout

    def begin_request(self) -> None:
        """Count an unanswered request."""
        self.open_requests += 1

    def end_request(self) -> None:
        """Count an answer."""
        self.open_requests -= 1

    def strike(self) -> bool:
        """Count an invalid message; return whether there have been too many."""
        self.strikes += 1.0
        return self.strikes > STRIKES

    def ignore(self, rate: float) -> None:
        """Ignore its messages for a while; then it has its full `rate` of requests (Hz) again."""
        self.ignored_until, self.strikes = self.last_seen + IGNORED, 0.0
        self.allowance = Allowance(rate, self.last_seen)


class ZmqPeers:
    """The peers of the endpoint, up to a limit."""

    def __init__(self, most_clients: int, requests_per_second: float) -> None:
        self.most_clients = most_clients
        self.rate = requests_per_second
        self.clients: dict[str, ZmqPeer] = {}  # by name
        self._peers: dict[bytes, ZmqPeer] = {}
        self._names = 0

    def at(self, address: bytes) -> ZmqPeer:
        """Return the sender of a message, with its limits updated."""
        peer = self._peers.get(address)
        if peer is None:
            if len(self._peers) - len(self.clients) >= STRANGERS:  # forget the oldest
                del self._peers[next(address for address, peer in self._peers.items() if not peer.name)]
            peer = self._peers[address] = ZmqPeer(address, Allowance(self.rate, monotonic()))
        peer.see(monotonic())
        return peer

    def welcome(self, peer: ZmqPeer, requested: str) -> bool:
        """Give a peer a unique name; False if the limit of clients is reached."""
        if len(self.clients) >= self.most_clients:
            return False
        name = "".join(letter for letter in requested if letter.isprintable())[:NAME_LENGTH] or "client"
        self._names += 1  # never reused: pending work of one client must not reach another
        peer.enter(f"{name} (zmq {self._names})")
        self.clients[peer.name] = peer
        return True

    def part(self, peer: ZmqPeer) -> str:
        """Remove a client; return its name."""
        name = peer.name
        peer.enter("")
        self.clients.pop(name, None)
        return name

    def silent(self) -> list[ZmqPeer]:
        """Return the clients that have timed out."""
        now = monotonic()
        return [peer for peer in self.clients.values() if now - peer.last_seen > SILENCE]


def operation_of(body: requests.Body) -> tuple[str, dict[str, Any]]:
    """Return the operation of a request with valid arguments."""
    if isinstance(body, requests.Call):
        if body.method not in CALLS:
            raise unknown_name("operation", body.method, CALLS)
        arguments = {**body.arguments, **({"state": body.blob} if body.blob else {})}
        return body.method, CALLS[body.method].checked(arguments)
    if not isinstance(body, requests.Direct):
        raise InvalidValueError(f"{type(body).__name__} is no operation of the simulation")
    return body.operation, OPERATIONS[body.operation].checked(body.arguments)


def reply_of(operation: str, result: Any) -> requests.ReplyBody | bytes | None:
    """Return the reply with a result; bytes: an encoded reply without its id; None: the newest state."""
    match OPERATIONS[operation].entry.reply:
        case "Result":
            return requests.ResultMessage(None, result) if isinstance(result, bytes) else requests.ResultMessage(result)
        case "ControlAck":
            return requests.ControlAck(result)
        case "StateUpdate":
            return result if isinstance(result, bytes) else None
    return requests.Done()
