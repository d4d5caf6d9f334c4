"""The simulation's side of serving: publishes snapshots, answers operations, keeps a hub process alive.

Nothing here makes a tick wait: snapshots go into shared memory, messages into a socket that is never waited for. A hub
that dies or hangs is replaced; its clients lose what they held and connect again.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from time import monotonic
from typing import Any, Self

from paddock.errors import PaddockError
from paddock.scenario.serve import Serve
from paddock.serve.link import Link, LinkClosedError
from paddock.serve.source import Source
from paddock.world.ring import RingWriter
from paddock.world.snapshot import Snapshot

START = 30.0
"""s that a hub may take until it serves."""
HANG = 5.0
"""s without a sign of life after which a hub is replaced."""
BEAT = 0.5
"""s between signs of life."""
BACKOFF = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""s before the first, second, ... restart of a hub that keeps dying."""


class Host:
    """Serves a source. Use it as a context manager: `with Host(source, options): sim.run()`."""

    def __init__(
        self,
        source: Source,
        options: Serve,
        tell: Callable[[str], None] = lambda line: None,
        addresses: Mapping[str, Any] | None = None,
    ) -> None:
        """Start the hub; return when every endpoint is open, PaddockError if one cannot be. `tell` hears of trouble.

        `addresses` are those of a host before this one, whose clients come back there.
        """
        self.source = source
        self.options = options
        self.tell = tell
        self.restarts = 0
        self.addresses: dict[str, Any] = dict(addresses or {})  # endpoint -> where it can be reached
        self._closing = threading.Event()
        self._ring = RingWriter(slots=None)
        self._last: tuple[int, int] | None = None  # (run, tick) published last
        self._shown: Snapshot | None = None  # the snapshot published last
        self._periods = {name: source.period(getattr(one, "rate", 10.0)) for name, one in options.endpoints.items()}
        self._hub = self._start()
        self.addresses = self._hub.wait_ready(START)
        self._unwatch = [source.watch(self._on_snapshot, every) for every in set(self._periods.values())]
        source.attach(self._push, self._publish)
        self._tell_all()
        self._keeper = threading.Thread(target=self._keep, name="paddock-hub-keeper", daemon=True)
        self._keeper.start()

    @property
    def hub_pid(self) -> int:
        """The process that serves now."""
        return self._hub.process.pid

    def close(self) -> None:
        """Stop serving."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._keeper.join()
        for unwatch in self._unwatch:
            unwatch()
        self.source.detach()
        self._hub.stop()
        self._ring.close()

    def __enter__(self) -> Self:
        """The host itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    # publishing ------------------------------------------------------------------------------------------------------

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        """A watcher of the source: runs in the thread that ticks."""
        if (snapshot.run, snapshot.tick) != self._last:
            self._publish(snapshot)

    def _publish(self, snapshot: Snapshot) -> None:
        if snapshot is not self._shown:
            self._last, self._shown = (snapshot.run, snapshot.tick), snapshot
            self._ring.publish(snapshot)
        self._hub.ring_doorbell()

    def _push(self, kind: str, content: dict[str, Any]) -> None:
        self._hub.send({"push": kind, "content": content})

    def _tell_all(self) -> None:
        """What a new hub must know."""
        for kind, content in self.source.announce():
            self._push(kind, content)
        self.source.operate("snapshot", "", {})

    # answering -------------------------------------------------------------------------------------------------------

    def _on_message(self, hub: HubConnection, message: dict[str, Any]) -> None:
        """A request of a hub, or its sign of life; runs in that connection's thread."""
        if "gone" in message:
            self.source.gone(message["gone"])
        elif "operation" in message:
            self._operate(hub, message)

    def _operate(self, hub: HubConnection, message: dict[str, Any]) -> None:
        number = message.get("id")
        try:
            result = self.source.operate(message["operation"], message["client"], message["arguments"])
        except Exception as error:
            self._reply(hub, number, None, error)
            return
        if isinstance(result, Future):
            result.add_done_callback(lambda done: self._reply(hub, number, *_outcome(done)))
        else:
            self._reply(hub, number, result, None)

    def _reply(self, hub: HubConnection, number: int | None, result: Any, error: BaseException | None) -> None:
        if number is None and error is None:
            return
        reply: dict[str, Any] = {"reply": number, "tick": self.source.tick, "time": self.source.time}
        if error is None:
            reply["result"] = result
        else:
            kind = type(error).__name__ if isinstance(error, PaddockError) else "InternalError"
            reply["error"] = {"kind": kind, "message": str(error) or type(error).__name__}
        hub.send(reply)

    # keeping the hub -------------------------------------------------------------------------------------------------

    def _start(self) -> HubConnection:
        config = {
            "ring": self._ring.name,
            "options": self.options.model_dump(mode="json"),
            "periods": self._periods,
            "rate": self.source.rate,
            "restarts": self.restarts,
            "addresses": self.addresses,
        }
        return HubConnection(config, self._on_message, self.tell)

    def _keep(self) -> None:
        """Exchange signs of life; replace a hub that gives none."""
        failures, since = 0, monotonic()
        while not self._closing.wait(BEAT):
            self._hub.send({"beat": self.source.figures()})
            trouble = self._hub.trouble(HANG)
            if trouble is None:
                failures = 0 if monotonic() - since > 60 else failures
                continue
            wait = BACKOFF[min(failures, len(BACKOFF) - 1)]
            self.tell(f"the hub {trouble}; a new one starts")
            failures, since = failures + 1, monotonic()
            if self._closing.wait(wait):
                return
            self._replace()

    def _replace(self) -> None:
        dead, self.restarts = self._hub, self.restarts + 1
        dead.stop()
        for client in dead.clients():
            self.source.gone(client)
        try:
            self._hub = self._start()
            self._hub.wait_ready(START)
            self._tell_all()
        except (PaddockError, OSError) as error:  # it is tried again
            self.tell(f"the new hub could not start: {error}")


def _outcome(done: Future[Any]) -> tuple[Any, BaseException | None]:
    error = done.exception()
    return (None, error) if error is not None else (done.result(), None)


PIECE = 1 << 18


class HubConnection:
    """Starts `python -m paddock.serve` (never a fork) and talks to it until it is stopped or dies."""

    def __init__(
        self,
        config: dict[str, Any],
        on_message: Callable[[HubConnection, dict[str, Any]], None],
        tell: Callable[[str], None],
    ) -> None:
        """`on_message` is called in a thread of this connection's own; `tell` hears each line that the hub logs."""
        ours, theirs = socket.socketpair()
        self._bell, bell = socket.socketpair()
        self._bell.setblocking(False)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paddock.serve", str(theirs.fileno()), str(bell.fileno())],
            pass_fds=(theirs.fileno(), bell.fileno()),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # what is typed at the simulation's terminal is not for the hub
        )
        theirs.close()
        bell.close()
        self.link = Link(ours, blocking=True)
        self._on_message = on_message
        self._seen = monotonic()
        self._ready = threading.Event()
        self._answer: dict[str, Any] = {}
        self._broken = ""
        self._clients: set[str] = set()
        self._stopped = False
        self.send({"config": config})
        self._reader = threading.Thread(target=self._read, name="paddock-link", daemon=True)
        self._reader.start()
        self._logger = threading.Thread(target=self._tell_lines, args=(tell,), name="paddock-hub-log", daemon=True)
        self._logger.start()

    def send(self, message: dict[str, Any]) -> None:
        """Send, without ever waiting; what a dead hub should have heard is lost."""
        try:
            self.link.send(message)
        except LinkClosedError as error:
            self._broken = self._broken or str(error)

    def ring_doorbell(self) -> None:
        """Tell the hub that there is a new snapshot."""
        with suppress(BlockingIOError, OSError):  # full: it has not listened to the earlier ones yet
            self._bell.send(b"\0")

    def wait_ready(self, timeout: float) -> dict[str, Any]:
        """Where the endpoints can be reached, once all of them are open; PaddockError if one cannot be."""
        deadline = monotonic() + timeout
        while not self._ready.wait(0.05):
            ended = self.process.poll() is not None
            if ended:
                self._reader.join()  # its last words may still be on their way
            if (ended or monotonic() > deadline) and not self._ready.is_set():
                self.stop()
                raise PaddockError(f"the hub process did not start: {self._broken or 'no answer'}")
        if "failed" in self._answer:
            self.stop()
            raise PaddockError(self._answer["failed"])
        addresses: dict[str, Any] = self._answer["ready"]
        return addresses

    def trouble(self, patience: float) -> str | None:
        """What is wrong with the hub; None while it lives."""
        if self.process.poll() is not None:
            return f"process ended with code {self.process.returncode}"
        if self._broken:
            return f"was lost: {self._broken}"
        if monotonic() - self._seen > patience:
            return f"has not answered for {patience:g} s"
        return None

    def clients(self) -> list[str]:
        """Clients that this hub has acted for."""
        return list(self._clients)

    def stop(self) -> None:
        """End the process: politely, then for certain."""
        if self._stopped:
            return
        self._stopped = True
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

    def _tell_lines(self, tell: Callable[[str], None]) -> None:
        """Pass on what the hub writes to stderr: it must not write over somebody's terminal by itself."""
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                tell(line.rstrip())

    def _read(self) -> None:
        """Hear the hub until its end of the link closes."""
        while True:
            try:
                piece = self.link.socket.recv(PIECE)  # ends with the hub's process, which holds the other end
            except OSError:
                piece = b""
            if not piece:
                self._broken = self._broken or "its end of the link is closed"
                return
            try:
                for message in self.link.decoder.feed(piece):
                    self._hear(message)
            except Exception as error:  # the keeper starts another hub; the simulation goes on
                self._broken = f"what it sent could not be understood: {error!r}"
                return

    def _hear(self, message: dict[str, Any]) -> None:
        self._seen = monotonic()
        if "ready" in message or "failed" in message:
            self._answer = message
            self._ready.set()
        elif "beat" not in message:
            if "client" in message:
                self._clients.add(message["client"])
            self._clients.discard(message.get("gone", ""))
            self._on_message(self, message)
