"""The sockets of a client, and the thread that listens to them.

One thread at a time leads: it alone touches the sockets. That is a thread in the background, unless somebody waits for
an answer: who waits listens for itself, so that no time is lost between threads.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Protocol

import zmq

from paddock.errors import PaddockError

POLLIN, POLLOUT, NOBLOCK = int(zmq.POLLIN), int(zmq.POLLOUT), int(zmq.NOBLOCK)  # enums are slower
REST = 0.005
"""s that the background stays away after somebody has listened for itself: the next verb often follows at once."""
PAUSE_MS = 100
"""ms of listening at a time at most; heartbeats and timeouts are looked at in between."""
BEAT_MS, DEAD_MS = 1000, 5000
WAITING = 10_000
"""Messages that may wait for this client."""


class Listener(Protocol):
    """What a channel brings news to; always called by the thread that leads."""

    def on_reply(self, data: bytes) -> None:
        """A message of the server for this client."""

    def on_published(self, topic: bytes, data: bytes) -> None:
        """A message of the server for all."""

    def on_moment(self) -> None:
        """Some time has passed."""


class Channel:
    """Sends from any thread, receives in the one that leads."""

    def __init__(self, url: str, listener: Listener, calls: Calls) -> None:
        """Connect; the server need not be there yet."""
        self.calls = calls
        self._listener = listener
        self._context = zmq.Context()
        self._dealer = self._socket(zmq.DEALER)
        self._dealer.setsockopt(zmq.IMMEDIATE, 1)  # what cannot be sent now is kept here, where it can time out
        self._published: zmq.Socket[bytes] | None = None
        self._bell, self._ear = socket.socketpair()
        self._bell.setblocking(False)
        self._ear.setblocking(False)
        self._poller = zmq.Poller()
        self._poller.register(self._ear, POLLIN)
        self._poller.register(self._dealer, POLLIN)
        self._stuck = False  # whether something waits to be sent
        self._outbox: deque[tuple[bytes, Future[Any] | None]] = deque()
        self._errands: deque[Callable[[], None]] = deque()
        self._sockets = threading.Lock()  # held by the thread that leads
        self._turn = threading.Lock()  # held by a thread that waits, and leads therefore
        self._leader: int | None = None
        self._led = 0.0
        self._closed = threading.Event()
        try:
            self._dealer.connect(url)
        except zmq.ZMQError as error:
            self._shut()
            raise PaddockError(f"{url!r} is no address: {error}; e.g. tcp://127.0.0.1:5556") from None
        self._background = threading.Thread(target=self._listen, name="paddock-client", daemon=True)
        self._background.start()

    def post(self, data: bytes, future: Future[Any] | None, wake: bool = True) -> None:
        """Send a request, unless its future is done by then; without `wake`, once somebody waits for the answer."""
        self._outbox.append((data, future))
        if wake and self._leader != threading.get_ident():
            self._wake()

    def beat(self, data: bytes) -> None:
        """Send a sign of life (called by the thread that leads); none that waits is followed by another."""
        if not self._outbox:
            self._outbox.append((data, None))

    def finish(self, future: Future[Any], attend: bool = False) -> None:
        """Listen until the future is done; `attend`: and make the calls that come due."""
        if self._leader == threading.get_ident():  # within a call that this thread makes while it waits
            self._lead(future)
        elif self._turn.acquire(blocking=False):
            try:
                self._take_over(future, attend)
            finally:
                self._led = monotonic()
                self._turn.release()
        else:
            self._wake()
            wait([future])

    def subscribe(self, address: str, topic: bytes, token: str | None) -> None:
        """Hear what is published on a topic."""
        self._errands.append(lambda: self._subscribe(address, topic, token))
        self._wake()

    def unsubscribe(self, topic: bytes) -> None:
        """Hear no more of it."""
        self._errands.append(lambda: self._unsubscribe(topic))
        self._wake()

    def close(self) -> None:
        """Let go of the sockets."""
        self._closed.set()
        self._wake()
        self._background.join()
        with self._sockets:
            self._shut()

    # leading ---------------------------------------------------------------------------------------------------------

    def _take_over(self, future: Future[Any], attend: bool) -> None:
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

    def _lead(self, future: Future[Any], between: Callable[[], None] = lambda: None) -> None:
        while not future.done() and not self._closed.is_set():
            self._pump()
            between()
        if not future.done():
            raise PaddockError("the connection is closed")

    def _listen(self) -> None:
        """The background: leads while nobody else does."""
        while not self._closed.is_set():
            if self._turn.locked() or monotonic() - self._led < REST:
                self._closed.wait(REST)
                continue
            with self._sockets:
                while not (self._turn.locked() or self._closed.is_set()):
                    self._pump()

    def _pump(self) -> None:
        """Send what waits, then hear what comes."""
        while self._errands:
            self._errands.popleft()()
        self._flush()
        for heard, event in self._poller.poll(PAUSE_MS):
            if heard is self._dealer:
                if event & POLLIN:
                    self._listener.on_reply(self._dealer.recv(NOBLOCK))  # one at a time: asking for more costs more
            elif heard is self._published:
                self._hear_published()
            else:
                with suppress(BlockingIOError):
                    self._ear.recv(4096)
        self._listener.on_moment()

    def _flush(self) -> None:
        try:
            while self._outbox:
                data, future = self._outbox[0]
                if future is None or not future.done():
                    self._dealer.send(data, NOBLOCK)
                self._outbox.popleft()
        except zmq.Again:  # nobody is connected
            pass
        if self._stuck != bool(self._outbox):
            self._stuck = bool(self._outbox)
            self._poller.register(self._dealer, POLLIN | POLLOUT if self._stuck else POLLIN)

    def _hear_published(self) -> None:
        with suppress(zmq.Again):
            while self._published is not None:
                frames = self._published.recv_multipart(NOBLOCK)
                if len(frames) == 2:
                    self._listener.on_published(*frames)

    # sockets ---------------------------------------------------------------------------------------------------------

    def _socket(self, kind: int) -> zmq.Socket[bytes]:
        made: zmq.Socket[bytes] = self._context.socket(kind)
        options = {zmq.LINGER: 0, zmq.SNDHWM: WAITING, zmq.RCVHWM: WAITING, zmq.IPV6: 1}
        beats = {zmq.HEARTBEAT_IVL: BEAT_MS, zmq.HEARTBEAT_TIMEOUT: DEAD_MS, zmq.RECONNECT_IVL_MAX: BEAT_MS}
        for option, value in {**options, **beats}.items():
            made.setsockopt(option, value)
        return made

    def _subscribe(self, address: str, topic: bytes, token: str | None) -> None:
        if self._published is None:
            self._published = self._socket(zmq.SUB)
            if token is not None:
                self._published.setsockopt(zmq.PLAIN_USERNAME, b"paddock")
                self._published.setsockopt(zmq.PLAIN_PASSWORD, token.encode())
            self._published.connect(address)
            self._poller.register(self._published, POLLIN)
        self._published.subscribe(topic)

    def _unsubscribe(self, topic: bytes) -> None:
        if self._published is not None:
            self._published.unsubscribe(topic)

    def _wake(self) -> None:
        with suppress(BlockingIOError, OSError):
            self._bell.send(b"\0")

    def _shut(self) -> None:
        for one in (self._dealer, self._published):
            if one is not None:
                one.close()
        self._context.term()
        self._bell.close()
        self._ear.close()


Call = Callable[[], object]


class Calls:
    """In order. A thread that waits for a step makes them itself, so that their errors come out there.

    While none does, a thread of its own makes them, or whatever `deliver` is.
    """

    def __init__(self, deliver: Callable[[Call], None] | None = None) -> None:
        self._deliver = deliver
        self._waiting: deque[Call] = deque()
        self._change = threading.Condition()
        self._attended = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, call: Call) -> None:
        """Have this called soon."""
        if self._deliver is not None:
            self._deliver(call)
            return
        self._waiting.append(call)
        if not self._attended:
            self._hand_over()

    def make(self) -> None:
        """Make all calls that wait; an error goes up, the rest is made later."""
        while self._waiting:
            self._waiting.popleft()()

    @contextmanager
    def attended(self) -> Iterator[None]:
        """This thread calls `make` from now on."""
        self._attended = True
        try:
            yield
        finally:
            self._attended = False
            if self._waiting:
                self._hand_over()

    def close(self) -> None:
        """No more calls."""
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
            except IndexError:  # somebody was quicker
                continue
            except Exception:  # nobody waits whom it could be told: as any thread's error
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
