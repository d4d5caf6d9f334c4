"""A session with a server: requests and replies, heartbeats, reconnecting, errors; its sockets and their threads.

A request is an operation with its arguments, encoded as a message for the server, and how its reply is read.

One thread at a time leads: only it uses the sockets. That is a background thread, unless another thread waits for a
reply: it then reads the sockets itself, which saves a switch between threads.
"""

import errno
import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import zmq
from zmq.utils.monitor import recv_monitor_message

from paddock.client.states import StateReader, Watching
from paddock.errors import InvalidValueError, MissingFeatureError, PaddockError, UnknownNameError
from paddock.wire import WireError
from paddock.wire.messages.requests import (
    Body,
    Call,
    ControlRequestMessage,
    Direct,
    Error,
    Goodbye,
    Heartbeat,
    Hello,
    Reply,
    RequestMessage,
    ResultMessage,
    Welcome,
    decode_reply,
    encode_request,
)
from paddock.wire.messages.states import StateUpdate
from paddock.wire.operations import OPERATIONS
from paddock.world.transforms import DisconnectedFramesError, StaleFrameError

if TYPE_CHECKING:
    from paddock.client.control import Callbacks, Controls

T = TypeVar("T")
LOOK = 0.1  # s between checks for timeouts
LONG = 6.0  # timeouts that a live server may take for a short request


class ClientRequest(NamedTuple, Generic[T]):
    """A request, and how its reply is read."""

    body: Body
    read: Callable[[Reply], T]
    patient: bool = False  # may take arbitrarily long while the server responds

    @property
    def keeps_state(self) -> bool:
        """Whether the state of the present tick stays as it is."""
        match self.body:
            case Call(operation) | Direct(operation):
                return operation in OPERATIONS and OPERATIONS[operation].entry.keeps_state
        return False


def result_value(reply: Reply) -> Any:
    """Return the value of a result; None for other replies."""
    return reply.body.value if isinstance(reply.body, ResultMessage) else None


def operation_request(operation: str, /, **arguments: Any) -> ClientRequest[Any]:
    """Return the request of an operation. The server validates Calls; other messages need valid values."""
    entry = OPERATIONS[operation]
    if entry.callable_by_name:
        return ClientRequest(Call(operation, arguments), result_value, entry.entry.slow)
    checked = {name: value for name, value in entry.checked(arguments).items() if name in arguments}
    return ClientRequest(Direct(operation, checked), result_value, entry.entry.slow)


@dataclass(slots=True)
class Asked:
    """An unanswered request."""

    body: Body
    future: Future[Any]  # of a Reply, or of a Snapshot
    patient: bool
    at: float  # monotonic s

    @property
    def what(self) -> str:
        """Its name in errors."""
        return f"{self.body[0]}()" if isinstance(self.body, Call | Direct) else f"{type(self.body).__name__}"


class Subscribing(NamedTuple):
    """Subscriptions that the server may not have seen yet."""

    future: Future[None]
    then: Callable[[int, int], None]
    at: float  # monotonic s


class Session:
    """A session with one server; it sends Hello again when the server no longer knows this client."""

    def __init__(
        self,
        url: str,
        token: str | None,
        name: str,
        timeout: float,
        calls: "Callbacks",
        controls: Callable[["Session"], "Controls"],
    ) -> None:
        """Start connecting; `hello` returns the result. `controls` constructs what handles control requests."""
        if not timeout > 0:
            raise InvalidValueError(f"the timeout is a time > 0 in s, not {timeout!r}")
        self.url, self.token, self.name, self.timeout = url, token, name, timeout
        self.welcome: Welcome | None = None
        self.states = StateReader()  # of `snapshot`
        self.sync_states = StateReader()  # of control requests and steps
        self.watching = Watching(self)
        self.controls = controls(self)
        self._asked: dict[int, Asked] = {}
        self._denied: PaddockError | None = None  # why the server refuses the connection
        self._subscribing: dict[bytes, Subscribing] = {}  # by the topic of the answer
        self._numbers = count(1)
        self._heard = monotonic()
        self._beat = self._looked = monotonic()
        self._meeting = False  # whether Hello is unanswered
        self._again: list[Asked] = []  # to be sent again after Hello
        self.channel = ClientChannel(url, token, self, calls)

    def hello(self) -> Future[Reply]:
        """Send Hello."""
        self._meeting = True
        asked = Asked(Hello(self.name), Future(), False, monotonic())
        asked.future.add_done_callback(self._met)
        self._send(asked)
        return asked.future

    def ask(self, verb: ClientRequest[Any], wake: bool = True) -> Future[Any]:
        """Send a request; the future returns its Reply (for `snapshot`: a Snapshot or None) or raises PaddockError."""
        asked = Asked(verb.body, Future(), verb.patient, monotonic())
        asked.future.set_running_or_notify_cancel()
        self._send(asked, wake)
        return asked.future

    def send(self, body: Body) -> None:
        """Send a request that gets a reply only if it is refused."""
        self.channel.post(encode_request(RequestMessage(0, body, self.token or "")), None)

    def subscribe(self, *topics: bytes, then: Callable[[int, int], None]) -> Future[None]:
        """Subscribe; the future is done when the server has seen it, after a call of `then` with run and tick."""
        assert self.welcome is not None
        host = urlsplit(self.url).hostname or "127.0.0.1"
        host = f"[{host}]" if ":" in host else host
        answer = b"ready/%s/" % uuid4().hex.encode() + topics[0]
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()
        self._subscribing[answer] = Subscribing(future, then, monotonic())
        for topic in (*topics, answer):  # the server sees them in this order
            self.channel.subscribe(f"tcp://{host}:{self.welcome.publish}", topic)
        return future

    def on_published(self, topic: bytes, data: bytes) -> None:
        """Handle a published message."""
        if topic in self._subscribing:
            self._subscribed(topic, PaddockError(f"subscription refused: {data.decode()}") if data else None)
        self.watching.on_message(topic, data)

    def _subscribed(self, answer: bytes, error: PaddockError | None) -> None:
        future, then, _ = self._subscribing.pop(answer)
        self.channel.unsubscribe(answer)

        def begin(clock: Future[Reply]) -> None:
            if (failed := clock.exception()) is not None:
                future.set_exception(failed)
            else:
                reply = clock.result()
                then(result_value(reply)["run"], reply.tick)
                future.set_result(None)

        if error is None:
            self.ask(ClientRequest(Call("clock", {}), result_value)).add_done_callback(begin)
        else:
            future.set_exception(error)

    def close(self) -> None:
        """Send Goodbye and close; unanswered requests fail."""
        if self.welcome is not None:
            farewell = Asked(Goodbye(), Future(), False, monotonic() - self.timeout + min(0.5, self.timeout))
            self._send(farewell, wake=False)
            self.channel.finish(farewell.future)
        self.channel.close()
        self._fail_all(PaddockError("the connection is closed"))

    def on_reply(self, data: bytes) -> None:
        """Handle a reply."""
        self._heard = monotonic()
        try:
            reply = decode_reply(data)
        except WireError:
            return  # unknown to this client, e.g. from a newer server: the request times out
        asked = self._asked.pop(reply.id, None)
        if isinstance(reply.body, ControlRequestMessage):
            self.controls.asked(reply.body)
        elif isinstance(reply.body, Error):
            self._refused(asked, reply.body)
        elif asked is not None and isinstance(reply.body, StateUpdate):
            # decoded now: the next message may contain another roster
            reader = self.sync_states if isinstance(asked.body, Direct) else self.states
            asked.future.set_result(reader.snapshot(reply.body))
        elif asked is not None:
            asked.future.set_result(reply)

    def on_denied(self, reason: str) -> None:
        """Fail all requests, also later ones: the server refuses the connection."""
        self._denied = PaddockError(f"{self.url}: {reason}")
        self._fail_all(self._denied)

    def on_moment(self) -> None:
        """Send heartbeats; fail requests that time out."""
        now = monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if self.welcome is not None and now - self._beat > min(self.welcome.heartbeat / 5, self.timeout / 4):
            self._beat = now
            token = self.token or ""
            self.channel.beat(encode_request(RequestMessage(next(self._numbers), Heartbeat(), token)))
        for answer, asking in list(self._subscribing.items()):
            if now - asking.at > self.timeout:
                port = self.welcome.publish if self.welcome else 0
                text = f"no answer to a subscription within {self.timeout:g} s: is port {port} of {self.url} reachable?"
                self._subscribed(answer, NoAnswerError(f"{text} It is serve.zmq.publish, by default the next port"))
        for number, asked in list(self._asked.items()):
            error = ""
            if now - max(asked.at, self._heard) > self.timeout or (self._meeting and now - asked.at > self.timeout):
                error = f"no answer from {self.url} within {self.timeout:g} s: is the server running? "
                error += "start one with `paddock run SCENARIO --serve zmq`"
            elif not asked.patient and now - asked.at > LONG * self.timeout:
                error = f"{self.url} answers, but {asked.what} did not complete within {LONG * self.timeout:g} s: "
                error += "is the simulation waiting for a control?"
            if error:
                del self._asked[number]
                asked.future.set_exception(NoAnswerError(error))

    def _send(self, asked: Asked, wake: bool = True) -> None:
        number = next(self._numbers)
        data = encode_request(RequestMessage(number, asked.body, self.token or ""))
        self._asked[number] = asked
        if self._denied is not None:
            self._fail_all(self._denied)
        else:
            self.channel.post(data, asked.future, wake)

    def _refused(self, asked: Asked | None, error: Error) -> None:
        if error.code == "hello" and self.welcome is not None:
            if asked is not None:
                self._again.append(asked)
            if not self._meeting:
                self.hello().add_done_callback(self._met_again)
        elif asked is not None:
            asked.future.set_exception(error_from(error.code, error.message))
        elif error.code == "cut_off":
            self._fail_all(PaddockError(f"{self.url}: {error.message}"))
        else:
            self.controls.refused(error_from(error.code, error.message))

    def _fail_all(self, error: PaddockError) -> None:
        for number in list(self._asked):
            if (asked := self._asked.pop(number, None)) is not None:  # another thread may be faster
                asked.future.set_exception(error)
        for answer in list(self._subscribing):
            self._subscribed(answer, error)

    def _met(self, done: Future[Reply]) -> None:
        self._meeting = False
        if done.exception() is None:
            body = done.result().body
            self.welcome = body if isinstance(body, Welcome) else None

    def _met_again(self, done: Future[Reply]) -> None:
        """Fail requests sent before a restart of the server; repeat those that were refused for lack of Hello."""
        error = done.exception()
        for number, asked in list(self._asked.items()):
            del self._asked[number]
            lost = f"{asked.what} was lost: {self.url} was restarted, or received nothing from this client for too long"
            asked.future.set_exception(error or NoAnswerError(lost))
        again, self._again = self._again, []
        if error is None:
            self.controls.claim_again()  # first: repeated requests may depend on it
        for asked in again:
            if error is not None:
                asked.future.set_exception(error)
            else:
                self._send(asked)


POLLIN, POLLOUT, NOBLOCK = int(zmq.POLLIN), int(zmq.POLLOUT), int(zmq.NOBLOCK)  # enums are slower
REST = 0.005
"""s that the background thread waits after another thread has led: the next request often follows soon."""
PAUSE_MS = 100  # ms of polling at a time; heartbeats and timeouts are checked in between
BEAT_MS, DEAD_MS = 1000, 5000
WAITING = 10_000  # messages that may wait for this client
HANDSHAKE_CLOSED = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
HANDSHAKE_FAILED = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | HANDSHAKE_CLOSED
CLOSED_MOST = 10  # handshakes in a row that the server has ended without a reason


class ClientChannel:
    """Sends from any thread, receives in the leading one."""

    def __init__(self, url: str, token: str | None, session: Session, calls: "Callbacks") -> None:
        """Connect; the server may start later."""
        self.calls = calls
        self._session = session
        self._context = zmq.Context()
        self._url, self._token = url, token or None
        self._published: zmq.Socket[bytes] | None = None
        self._bell, self._ear = socket.socketpair()
        self._bell.setblocking(False)
        self._ear.setblocking(False)
        self._poller = zmq.Poller()
        self._poller.register(self._ear, POLLIN)
        self._stuck = False  # whether something waits to be sent
        self._closings = 0  # handshakes that the server has ended without a reason since its last message
        self._outbox: deque[tuple[bytes, Future[Any] | None]] = deque()
        self._tasks: deque[Callable[[], None]] = deque()
        self._sockets = threading.Lock()  # held by the leading thread
        self._turn = threading.Lock()  # held by a waiting thread, which leads
        self._leader: int | None = None
        self._led = 0.0
        self._closed = threading.Event()
        self._connect()
        self._background = threading.Thread(target=self._listen, name="paddock-client", daemon=True)
        self._background.start()

    def post(self, data: bytes, future: Future[Any] | None, wake: bool = True) -> None:
        """Send a request unless its future is done; without `wake`, when a thread waits for the reply."""
        self._outbox.append((data, future))
        if wake and self._leader != threading.get_ident():
            self._wake()

    def beat(self, data: bytes) -> None:
        """Send a heartbeat, unless something waits to be sent. Called by the leading thread."""
        if not self._outbox:
            self._outbox.append((data, None))

    def finish(self, future: Future[Any], attend: bool = False) -> None:
        """Read until the future is done; `attend`: run callbacks meanwhile."""
        if self._leader == threading.get_ident():  # inside a callback of this thread
            self._lead(future)
        elif self._turn.acquire(blocking=False):
            try:
                if not self._sockets.acquire(blocking=False):
                    self._wake()
                    self._sockets.acquire()
                self._leader = threading.get_ident()
                try:
                    if attend:
                        with self.calls.attended():
                            self._lead(future, self.calls.make)
                    else:
                        self._lead(future)
                finally:
                    self._leader = None
                    self._sockets.release()
            finally:
                self._led = monotonic()
                self._turn.release()
        else:
            self._wake()
            wait([future])

    def subscribe(self, address: str, topic: bytes) -> None:
        """Subscribe to a topic."""

        def begin() -> None:
            if self._published is None:
                self._published = self._socket(zmq.SUB)
                self._published.connect(address)
                self._poller.register(self._published, POLLIN)
            self._published.subscribe(topic)

        self._tasks.append(begin)
        self._wake()

    def unsubscribe(self, topic: bytes) -> None:
        """Unsubscribe from a topic."""

        def end() -> None:
            if self._published is not None:
                self._published.unsubscribe(topic)

        self._tasks.append(end)
        self._wake()

    def close(self) -> None:
        """Close the sockets."""
        self._closed.set()
        self._wake()
        self._background.join()
        with self._sockets:
            self._shut()

    def _lead(self, future: Future[Any], between: Callable[[], None] = lambda: None) -> None:
        while not future.done() and not self._closed.is_set():
            self._pump()
            between()
        if not future.done():
            raise PaddockError("the connection is closed")

    def _listen(self) -> None:
        """The background thread: leads while no other thread does."""
        while not self._closed.is_set():
            if self._turn.locked() or monotonic() - self._led < REST:
                self._closed.wait(REST)
                continue
            with self._sockets:
                while not (self._turn.locked() or self._closed.is_set()):
                    self._pump()

    def _pump(self) -> None:
        """Send waiting requests, then read what arrives."""
        while self._tasks:
            self._tasks.popleft()()
        self._flush()
        for ready, event in self._poller.poll(PAUSE_MS):
            if ready is self._monitor:
                self._on_handshake(recv_monitor_message(self._monitor))
            elif ready is self._dealer:
                if event & POLLIN:
                    self._closings = 0
                    self._session.on_reply(self._dealer.recv(NOBLOCK))  # one at a time is fastest
            elif ready is self._published:
                with suppress(zmq.Again):
                    while self._published is not None:
                        frames = self._published.recv_multipart(NOBLOCK)
                        if len(frames) == 2:
                            self._session.on_published(*frames)
            else:
                with suppress(BlockingIOError):
                    self._ear.recv(4096)
        self._session.on_moment()

    def _flush(self) -> None:
        try:
            while self._outbox:
                data, future = self._outbox[0]
                if future is None or not future.done():
                    self._dealer.send(data, NOBLOCK)
                self._outbox.popleft()
        except zmq.Again:  # not connected
            pass
        if self._stuck != bool(self._outbox):
            self._stuck = bool(self._outbox)
            self._poller.register(self._dealer, POLLIN | POLLOUT if self._stuck else POLLIN)

    def _connect(self) -> None:
        """Make the socket for requests, with the token as the password of its handshake."""
        self._dealer = self._socket(zmq.DEALER)
        self._dealer.setsockopt(zmq.IMMEDIATE, 1)  # unsent requests wait here, where they can time out
        self._monitor = self._dealer.get_monitor_socket(HANDSHAKE_FAILED)
        for socket_ in (self._dealer, self._monitor):
            self._poller.register(socket_, POLLIN)
        try:
            self._dealer.connect(self._url)
        except zmq.ZMQError as error:
            self._shut()
            raise PaddockError(f"{self._url!r} is not a valid address: {error}; e.g. tcp://127.0.0.1:5556") from None

    def _on_handshake(self, event: Mapping[str, Any]) -> None:
        """Handle a refused handshake: of a wrong token, or where only one side has a token.

        Where only one side has one, the server may have closed before the client has read why.
        """
        closed, mismatch = event["event"] == HANDSHAKE_CLOSED, zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
        if closed:
            self._closings += event["value"] in (errno.EPIPE, errno.ECONNRESET)
            if self._closings < CLOSED_MOST or self._session.welcome is not None:
                return
            self._closings = 0
        if event["event"] == zmq.EVENT_HANDSHAKE_FAILED_AUTH or self._token is None:
            other = ", or this is no Paddock server, because it closes every connection" if closed else ""
            self._session.on_denied(f"the token is wrong{other}: connect with the server's token")
        elif closed or event["value"] == mismatch:  # the server has no token
            self._token = None
            self._disconnect()
            self._connect()

    def _disconnect(self) -> None:
        for socket_ in (self._dealer, self._monitor):
            self._poller.unregister(socket_)
        self._dealer.disable_monitor()
        for socket_ in (self._monitor, self._dealer):
            socket_.close()

    def _socket(self, kind: int) -> zmq.Socket[bytes]:
        made: zmq.Socket[bytes] = self._context.socket(kind)
        options = {zmq.LINGER: 0, zmq.SNDHWM: WAITING, zmq.RCVHWM: WAITING, zmq.IPV6: 1}
        beats = {zmq.HEARTBEAT_IVL: BEAT_MS, zmq.HEARTBEAT_TIMEOUT: DEAD_MS, zmq.RECONNECT_IVL_MAX: BEAT_MS}
        for option, value in {**options, **beats}.items():
            made.setsockopt(option, value)
        if self._token is not None:
            made.setsockopt(zmq.PLAIN_USERNAME, b"paddock")
            made.setsockopt(zmq.PLAIN_PASSWORD, self._token.encode())
        return made

    def _wake(self) -> None:
        with suppress(BlockingIOError, OSError):
            self._bell.send(b"\0")

    def _shut(self) -> None:
        self._disconnect()
        if self._published is not None:
            self._published.close()
        self._context.term()
        self._bell.close()
        self._ear.close()


KINDS: dict[str, type[PaddockError]] = {
    kind.__name__: kind
    for kind in (UnknownNameError, InvalidValueError, MissingFeatureError, StaleFrameError, DisconnectedFramesError)
}
LATE = "LateReplyError"  # the server's error for a late control


class NoAnswerError(PaddockError, TimeoutError):
    """The server does not answer, or lost the request."""


class LateControlError(PaddockError):
    """A late or repeated control, which changed nothing."""


def error_from(code: str, message: str) -> PaddockError:
    """Return the exception for an error sent by the server."""
    return LateControlError(message) if code == LATE else KINDS.get(code, PaddockError)(message)
