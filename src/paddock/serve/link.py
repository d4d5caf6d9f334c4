"""The link between a simulation and its hub: messages over one socket, each a tree of plain values, arrays and bytes.

A message is an object of MessagePack. Both ends belong to Paddock, so a complete message is trusted; this is not a
public wire format.
"""

import select
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial
from time import monotonic, monotonic_ns, thread_time
from typing import TYPE_CHECKING, Any

import msgpack
import numpy as np

from paddock.errors import PaddockError
from paddock.serve.facts import FactPublisher, error_tree
from paddock.wire.operations import OPERATIONS

if TYPE_CHECKING:
    from paddock.serve.host import Source

PIECE = 1 << 18  # bytes received at a time
MOST_WAITING = 256 << 20  # unsent bytes after which the link counts as broken
MOST_POSTED = 100_000  # messages after which further posted ones are lost: the hub is about to be replaced
ENDING = 0.2  # s between the end of a process's link and its own
_ARRAY = 1  # code of the extension type: (dtype, shape, bytes)


class LinkClosedError(PaddockError):
    """The other end is gone, or has stopped reading."""


def encode(tree: dict[str, Any]) -> bytes:
    """Encode a message; TypeError, ValueError or OverflowError for a value that it cannot contain."""
    data: bytes = msgpack.packb(tree, default=_extended, strict_types=True, unicode_errors="surrogatepass")
    return data


def _extended(value: Any) -> Any:
    """Return what MessagePack does not have in a form that it has: NumPy's values, named tuples as objects."""
    if isinstance(value, tuple):
        return value._asdict() if hasattr(value, "_asdict") else list(value)
    if isinstance(value, np.ndarray):
        return msgpack.ExtType(_ARRAY, msgpack.packb([value.dtype.str, *value.shape, value.tobytes()]))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bool | int | float | str | dict | list | bytearray | memoryview):  # of a derived class
        return _base(value)
    if is_dataclass(value):
        return dict(vars(value))
    raise TypeError(f"{type(value).__name__} cannot be sent over the link")


def _base(value: Any) -> Any:
    """Return a value of a derived class, such as an enum's member, as one of its base."""
    base = next(kind for kind in (bool, int, float, str, dict, list, bytes) if isinstance(value, kind) or kind is bytes)
    return base(value)


def _array(code: int, data: bytes) -> Any:
    kind, *shape, values = msgpack.unpackb(data)
    return np.frombuffer(values, kind).reshape(shape)


def decoder() -> msgpack.Unpacker:
    """Return what splits bytes into messages: `feed(piece)`, then iterate over those that are complete."""
    options = {"strict_map_key": False, "unicode_errors": "surrogatepass", "max_buffer_size": 0}  # 0: 4 GiB
    return msgpack.Unpacker(ext_hook=_array, **options)


class HubLink:
    """One end of the link. Sending never blocks and is thread-safe; one reader receives."""

    def __init__(self, end: socket.socket, blocking: bool = False) -> None:
        """Take over a connected stream socket; `blocking`: whether `recv` blocks."""
        end.setblocking(blocking)
        self.socket = end
        self.decoder = decoder()
        self._waiting: deque[memoryview | dict[str, Any]] = deque()
        self._waiting_bytes = 0
        self._moved = False  # whether the socket has accepted waiting data since `flows` was called
        self._lock = threading.Lock()
        self._drained = threading.Condition(self._lock)
        self._closed = False
        threading.Thread(target=self._drain, name="link-sender", daemon=True).start()

    def post(self, tree: dict[str, Any]) -> None:
        """Let a thread encode and send a message, in order with the others: quick, and without a system call.

        A system call gives the interpreter to other threads; the thread that ticks would wait for it again and again.
        """
        with self._lock:
            if not self._closed and len(self._waiting) < MOST_POSTED:
                self._waiting.append(tree)
                self._drained.notify_all()

    def send(self, tree: dict[str, Any]) -> None:
        """Send what the socket accepts now; a thread sends the rest."""
        self.send_encoded(encode(tree))

    def send_encoded(self, data: bytes) -> None:
        """Send an encoded message, as `send` does."""
        message = memoryview(data)
        with self._lock:
            if self._closed:
                raise LinkClosedError("the link is closed")
            if not self._waiting:
                message = message[self._push(message) :]
            if message:
                self._waiting.append(message)
                self._waiting_bytes += len(message)
                if self._waiting_bytes > MOST_WAITING:
                    raise LinkClosedError("the other end of the link has stopped reading")
                self._drained.notify_all()

    def flows(self) -> bool:
        """Return whether data waits to be sent, and the other end has taken some of it since the last call."""
        with self._lock:
            moved, self._moved = self._moved, False
            return moved and bool(self._waiting)

    def close(self) -> None:
        """Close; unsent messages are lost."""
        with self._lock:
            self._closed = True
            self._drained.notify_all()
        self.socket.close()

    def _push(self, data: memoryview) -> int:
        """Send without blocking and return the number of bytes sent."""
        try:
            return self.socket.send(data, socket.MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as error:
            raise LinkClosedError(f"the other end of the link is gone: {error}") from None

    def _drain(self) -> None:
        """Send waiting data, in order, whenever the socket accepts more.

        The lock is not held meanwhile: the thread that ticks would wait for it.
        """
        while True:
            with self._lock:
                self._drained.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                first = self._waiting[0]
            piece, new = (first, 0) if isinstance(first, memoryview) else _encoded(first)
            try:
                if not (sent := self._push(piece)):
                    select.select([], [self.socket], [], 0.5)
            except (LinkClosedError, OSError, ValueError):
                return
            with self._lock:
                self._moved = self._moved or sent > 0
                self._waiting_bytes += new - sent
                if sent < len(piece):
                    self._waiting[0] = piece[sent:]
                else:
                    self._waiting.popleft()


def _encoded(tree: dict[str, Any]) -> tuple[memoryview, int]:
    """Return an encoded message and its size."""
    message = memoryview(encode(tree))
    return message, len(message)


OnLog = Callable[[str], None]
OnPeriods = Callable[[list[int]], None]


def start_process(link: int, bell: int) -> subprocess.Popen[str]:
    """Start a hub process that inherits these two sockets (file descriptors)."""
    return subprocess.Popen(
        [sys.executable, "-m", "paddock.serve", str(link), str(bell)],
        pass_fds=(link, bell),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C at the terminal is for the simulation only
    )


class HubProcess:
    """A process that becomes a hub with its configuration, started by `python -m paddock.serve`, never by fork."""

    def __init__(self, endpoints: Iterable[str] = ()) -> None:
        """`endpoints` are the names of those that it imports while it waits."""
        ours, theirs = socket.socketpair()
        self.bell, bell = socket.socketpair()
        self.bell.setblocking(False)
        self.process = start_process(theirs.fileno(), bell.fileno())
        theirs.close()
        bell.close()
        self.link = HubLink(ours, blocking=True)
        self.link.send({"import": list(endpoints)})

    @property
    def waits(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def discard(self) -> None:
        """End a process that has not become a hub."""
        self.link.close()
        self.bell.close()
        self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()


class HubConnection:
    """The simulation's end of one hub.

    A thread passes the operations of its clients to the source and sends the replies.
    """

    def __init__(
        self,
        hub: HubProcess,
        config: dict[str, Any],
        source: "Source",
        on_log: OnLog,
        on_periods: OnPeriods,
        on_lost: Callable[[], None],
    ) -> None:
        """`on_log` receives each line that the hub logs, `on_periods` the periods (ticks) that subscribers want."""
        self.process, self.link, self._bell = hub.process, hub.link, hub.bell
        self._source = source
        self._on_periods, self._on_lost = on_periods, on_lost
        self._seen = monotonic()
        self._ready = threading.Event()
        self._answer: dict[str, Any] = {}
        self._broken = ""
        self.clients: set[str] = set()  # names
        self._stopped = False
        self._spent_until = 0.0  # processor time of the reading thread at the last reply, s
        names = ("facts", "reads", "surveys")
        self._publishers = [FactPublisher(source, self.send, name) for name in names]
        self.send({"config": config})
        self._reader = threading.Thread(target=self._read, name="paddock-link", daemon=True)
        self._reader.start()
        self._logger = threading.Thread(target=self._log_lines, args=(on_log,), name="paddock-hub-log", daemon=True)
        self._logger.start()

    def send(self, message: dict[str, Any]) -> None:
        """Send without blocking; messages to a dead hub are lost."""
        try:
            self.link.send(message)
        except LinkClosedError as error:
            self._broken = self._broken or str(error)

    def post(self, message: dict[str, Any]) -> None:
        """Send a little later, from another thread: for the thread that ticks."""
        self.link.post(message)

    def ring_doorbell(self) -> None:
        """Notify the hub of a new snapshot."""
        with suppress(BlockingIOError, OSError):  # full: earlier notifications are still unread
            self._bell.send(b"\0")

    def wait_ready(self, timeout: float) -> dict[str, Any]:
        """Return the addresses of the endpoints once all are open; PaddockError if one cannot open."""
        deadline = monotonic() + timeout
        while not self._ready.wait(0.05):
            ended = self.process.poll() is not None
            if ended:
                self._reader.join()  # its last message may still be under way
            if (ended or monotonic() > deadline) and not self._ready.is_set():
                self.stop()
                raise PaddockError(f"the hub process did not start: {self._broken or 'no answer'}")
        if "failed" in self._answer:
            self.stop()
            raise PaddockError(self._answer["failed"])
        addresses: dict[str, Any] = self._answer["ready"]
        return addresses

    def heard(self, since: float) -> bool:
        """Return whether the hub has answered since a time (monotonic s), or its answer or the question is under way.

        What this process has not read or sent yet is not the hub's fault.
        """
        if self._seen >= since or self.link.flows():
            return True
        try:
            return bool(select.select([self.link.socket], [], [], 0.0)[0])
        except (OSError, ValueError):  # closed
            return False

    def trouble(self) -> str | None:
        """Describe what is wrong with the process or the link; None while both are there."""
        if self.process.poll() is not None:
            return f"process ended with code {self.process.returncode}"
        if self._broken:
            return f"was lost: {self._broken}"
        return None

    def stop(self) -> None:
        """Request the process to end, then kill it."""
        if self._stopped:
            return
        self._stopped = True
        for publisher in self._publishers:
            publisher.close()
        with suppress(LinkClosedError):
            self.link.send({"stop": True})
        try:
            self.process.wait(2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join()
        self._logger.join()
        self.link.close()
        self._bell.close()

    def _log_lines(self, on_log: Callable[[str], None]) -> None:
        """Pass on the hub's stderr, so that it does not write over the terminal itself."""
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                on_log(line.rstrip())

    def _read(self) -> None:
        """Read messages until the hub's end of the link closes."""
        self._read_messages()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDING)
        self._on_lost()

    def _read_messages(self) -> None:
        while True:
            try:
                piece = self.link.socket.recv(PIECE)  # returns when the hub's process ends
            except OSError:
                piece = b""
            if not piece:
                self._broken = self._broken or "its end of the link is closed"
                return
            try:
                self.link.decoder.feed(piece)
                for message in self.link.decoder:
                    self._receive(message)
            except Exception as error:  # the hub is replaced; the simulation continues
                self._broken = f"invalid message: {error!r}"
                return

    def _receive(self, message: dict[str, Any]) -> None:
        self._seen = monotonic()
        if "ready" in message or "failed" in message:
            self._answer = message
            self._ready.set()
        elif "gone" in message:
            self.clients.discard(message["gone"])
            self._source.gone(message["gone"])
        elif "periods" in message:
            self._on_periods(message["periods"])
        elif "ask" in message:
            entry = OPERATIONS[message["operation"]].entry
            publisher = self._publishers[0 if entry.handling == "fact" else 1 + entry.slow]
            publisher.ask(message["ask"], message["operation"], message["arguments"])
        elif "operation" in message:
            self.clients.add(message["client"])
            self._operate(message["id"], message["operation"], message["client"], message["arguments"])

    def _operate(self, number: int | None, operation: str, client: str, arguments: dict[str, Any]) -> None:
        """Carry out an operation, and send its reply when it is done; without a number, push only a refusal."""
        try:
            result = operate(self._source, operation, client, arguments)
        except Exception as error:
            if number is None:
                self.send({"push": "refused", "content": {"client": client, **error_tree(error)}})
            else:
                self._reply(number, error=error)
            return
        if isinstance(result, Future):
            result.add_done_callback(lambda done: self._reply_done(number, done))
        elif number is not None:
            self._reply(number, result)

    def _reply_done(self, number: int | None, done: Future[Any]) -> None:
        error = done.exception()
        self._reply(number, None if error else done.result(), error)

    def _reply(self, number: int | None, result: Any = None, error: BaseException | None = None) -> None:
        """Send a reply, with the time (ns) of the result and the processor time that clients have taken since."""
        source, began = self._source, self._spent_until
        if threading.current_thread() is self._reader:
            self._spent_until = thread_time()
        reply: dict[str, Any] = {"reply": number, "tick": source.watched.tick, "time": source.watched.time}
        reply |= {"at": monotonic_ns(), "spent": source.take_spent(self._spent_until - began)}
        reply |= {"result": result} if error is None else {"error": error_tree(error)}
        (self.post if source.ticking else self.send)(reply)  # the thread that ticks does not encode


def operate(source: "Source", operation: str, client: str, arguments: Mapping[str, Any]) -> Any | Future[Any]:
    """Call the handler of an operation: now, or between two ticks.

    The hub has validated the arguments against the table of operations; the simulation checks names and values.
    """
    work = partial(source.handler(operation), client, **arguments)
    try:
        entry = OPERATIONS[operation].entry
        between_ticks = entry.handling in ("fact", "read") or (entry.handling == "change" and not entry.slow)
        return source.answer(work) if between_ticks else work()
    except PaddockError:
        source.count_refused()
        raise
    finally:
        source.mark_changed()
