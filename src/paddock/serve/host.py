"""The simulation's side of serving: publishes snapshots, answers operations, keeps a hub process running.

Nothing here delays a tick: snapshots go into shared memory, messages into a non-blocking socket. A hub that dies or
hangs is replaced; its clients lose the clock and their claims, and reconnect.
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
from paddock.serve.link import HubLink, LinkClosedError
from paddock.serve.source import Source
from paddock.world.ring import RingWriter
from paddock.world.snapshot import Snapshot

START = 30.0  # s for a hub to start
HANG = 5.0  # s without a heartbeat after which a hub is replaced
BEAT = 0.5  # s between heartbeats
BACKOFF = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # s before the first, second, ... restart of a hub that dies repeatedly.


class Host:
    """Serves a source. Use it as a context manager: `with Host(source, options): sim.run()`."""

    def __init__(
        self,
        source: Source,
        options: Serve,
        on_log: Callable[[str], None] = lambda line: None,
        addresses: Mapping[str, Any] | None = None,
    ) -> None:
        """Start the hub and return when every endpoint is open; PaddockError if one cannot open.

        `on_log` receives log lines. `addresses` are those of a previous host, to which clients reconnect.
        """
        self.source = source
        self.options = options
        self.on_log = on_log
        self.restarts = 0
        self.addresses: dict[str, Any] = dict(addresses or {})  # endpoint -> its address
        self._closing = threading.Event()
        self._ring = RingWriter(slots=None)
        self._last: tuple[int, int] | None = None  # (run, tick) of the last published snapshot
        self._shown: Snapshot | None = None  # the last published snapshot
        self._periods = {name: source.period(getattr(one, "rate", 10.0)) for name, one in options.endpoints.items()}
        self._hub = self._start()
        self.addresses = self._hub.wait_ready(START)
        self._unwatch = [source.watch(self._on_snapshot, every) for every in set(self._periods.values())]
        source.attach(self._push, self._publish)
        self._push_all()
        self._keeper = threading.Thread(target=self._keep, name="paddock-hub-keeper", daemon=True)
        self._keeper.start()

    @property
    def hub_pid(self) -> int:
        """The process id of the present hub."""
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
        """Return the host."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    # publishing ------------------------------------------------------------------------------------------------------

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        """Watch the source. Runs in the thread that ticks."""
        if (snapshot.run, snapshot.tick) != self._last:
            self._publish(snapshot)

    def _publish(self, snapshot: Snapshot) -> None:
        if snapshot is not self._shown:
            self._last, self._shown = (snapshot.run, snapshot.tick), snapshot
            self._ring.publish(snapshot)
        self._hub.ring_doorbell()

    def _push(self, kind: str, content: dict[str, Any]) -> None:
        self._hub.send({"push": kind, "content": content})

    def _push_all(self) -> None:
        """Send a new hub the present markers, frames and state."""
        for kind, content in self.source.announce():
            self._push(kind, content)
        self.source.operate("snapshot", "", {})

    # answering -------------------------------------------------------------------------------------------------------

    def _on_message(self, hub: HubConnection, message: dict[str, Any]) -> None:
        """Handle a message of a hub. Runs in the thread of its connection."""
        if "gone" in message:
            self.source.gone(message["gone"])
            return
        if "operation" not in message:
            return
        number = message.get("id")
        try:
            result = self.source.operate(message["operation"], message["client"], message["arguments"])
        except Exception as error:
            self._reply(hub, number, None, error)
            return
        if isinstance(result, Future):
            result.add_done_callback(
                lambda done: self._reply(hub, number, None if done.exception() else done.result(), done.exception())
            )
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
        return HubConnection(config, self._on_message, self.on_log)

    def _keep(self) -> None:
        """Exchange heartbeats; replace a hub that sends none."""
        failures, since = 0, monotonic()
        while not self._closing.wait(BEAT):
            self._hub.send({"beat": self.source.figures()})
            trouble = self._hub.trouble(HANG)
            if trouble is None:
                failures = 0 if monotonic() - since > 60 else failures
                continue
            wait = BACKOFF[min(failures, len(BACKOFF) - 1)]
            self.on_log(f"the hub {trouble}; restarting it")
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
            self._push_all()
        except (PaddockError, OSError) as error:  # tried again later
            self.on_log(f"the hub could not start: {error}")


PIECE = 1 << 18


class HubConnection:
    """One hub process: its link, its doorbell, its heartbeat. Started by `python -m paddock.serve`, never by fork."""

    def __init__(
        self,
        config: dict[str, Any],
        on_message: Callable[[HubConnection, dict[str, Any]], None],
        on_log: Callable[[str], None],
    ) -> None:
        """`on_message` runs in a thread of this connection; `on_log` receives each line that the hub logs."""
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
            start_new_session=True,  # Ctrl-C at the terminal is for the simulation only
        )
        theirs.close()
        bell.close()
        self.link = HubLink(ours, blocking=True)
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
        self._logger = threading.Thread(target=self._log_lines, args=(on_log,), name="paddock-hub-log", daemon=True)
        self._logger.start()

    def send(self, message: dict[str, Any]) -> None:
        """Send without blocking; messages to a dead hub are lost."""
        try:
            self.link.send(message)
        except LinkClosedError as error:
            self._broken = self._broken or str(error)

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

    def trouble(self, patience: float) -> str | None:
        """Describe what is wrong with the hub; None while it is healthy."""
        if self.process.poll() is not None:
            return f"process ended with code {self.process.returncode}"
        if self._broken:
            return f"was lost: {self._broken}"
        if monotonic() - self._seen > patience:
            return f"has not answered for {patience:g} s"
        return None

    def clients(self) -> list[str]:
        """The clients of this hub."""
        return list(self._clients)

    def stop(self) -> None:
        """Ask the process to end, then kill it."""
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

    def _log_lines(self, on_log: Callable[[str], None]) -> None:
        """Pass on the hub's stderr, so that it does not write over the terminal itself."""
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                on_log(line.rstrip())

    def _read(self) -> None:
        """Read messages until the hub's end of the link closes."""
        while True:
            try:
                piece = self.link.socket.recv(PIECE)  # returns when the hub's process ends
            except OSError:
                piece = b""
            if not piece:
                self._broken = self._broken or "its end of the link is closed"
                return
            try:
                for message in self.link.decoder.feed(piece):
                    self._receive(message)
            except Exception as error:  # the hub is replaced; the simulation continues
                self._broken = f"invalid message: {error!r}"
                return

    def _receive(self, message: dict[str, Any]) -> None:
        self._seen = monotonic()
        if "ready" in message or "failed" in message:
            self._answer = message
            self._ready.set()
        elif "beat" not in message:
            if "client" in message:
                self._clients.add(message["client"])
            self._clients.discard(message.get("gone", ""))
            self._on_message(self, message)
