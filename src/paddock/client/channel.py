"""The sockets of a client, and the threads that read them and run callbacks.

One thread at a time leads: only it uses the sockets. That is a background thread, unless another thread waits for a
reply: it then reads the sockets itself, which saves a switch between threads.
"""

import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from paddock.errors import PaddockError

if TYPE_CHECKING:
    from paddock.client.session import Session

POLLIN, POLLOUT, NOBLOCK = int(zmq.POLLIN), int(zmq.POLLOUT), int(zmq.NOBLOCK)  # enums are slower
REST = 0.005
"""s that the background thread waits after another thread has led: the next request often follows soon."""
PAUSE_MS = 100  # ms of polling at a time; heartbeats and timeouts are checked in between
BEAT_MS, DEAD_MS = 1000, 5000
WAITING = 10_000  # messages that may wait for this client
HANDSHAKE_FAILED = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL


class ClientChannel:
    """Sends from any thread, receives in the leading one."""

    def __init__(self, url: str, token: str | None, session: "Session", calls: "Callbacks") -> None:
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
        for one in (self._dealer, self._monitor):
            self._poller.register(one, POLLIN)
        try:
            self._dealer.connect(self._url)
        except zmq.ZMQError as error:
            self._shut()
            raise PaddockError(f"{self._url!r} is not a valid address: {error}; e.g. tcp://127.0.0.1:5556") from None

    def _on_handshake(self, event: Mapping[str, Any]) -> None:
        """Handle a refused handshake: of a wrong token, or where only one side has a token."""
        if event["event"] == zmq.EVENT_HANDSHAKE_FAILED_AUTH or self._token is None:
            self._session.on_denied("the token is wrong: connect with the server's token")
        elif event["value"] == zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH:  # the server has no token
            self._token = None
            self._disconnect()
            self._connect()

    def _disconnect(self) -> None:
        for one in (self._dealer, self._monitor):
            self._poller.unregister(one)
        self._dealer.disable_monitor()
        for one in (self._monitor, self._dealer):
            one.close()

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


Call = Callable[[], object]


class Callbacks:
    """Callbacks of the user, run in order. A thread that waits for a step runs them itself and raises their errors.

    Otherwise a separate thread runs them, or `deliver` receives them.
    """

    def __init__(self, deliver: Callable[[Call], None] | None = None) -> None:
        self._deliver = deliver
        self._waiting: deque[Call] = deque()
        self._change = threading.Condition()
        self._attended = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, call: Call) -> None:
        """Queue a callback."""
        if self._deliver is not None:
            self._deliver(call)
            return
        self._waiting.append(call)
        if not self._attended:
            self._hand_over()

    def make(self) -> None:
        """Run all waiting callbacks; after an error the rest runs later."""
        while self._waiting:
            self._waiting.popleft()()

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Let this thread run the callbacks while the block lasts."""
        self._attended = True
        try:
            yield
        finally:
            self._attended = False
            if self._waiting:
                self._hand_over()

    def close(self) -> None:
        """Run no more callbacks."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _hand_over(self) -> None:
        with self._change:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="paddock-callbacks", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or (self._waiting and not self._attended))
                if self._closed:
                    return
            try:
                self._waiting.popleft()()
            except IndexError:  # another thread was faster
                continue
            except Exception:  # reported like any thread's error
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
