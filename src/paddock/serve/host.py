"""The simulation's side of serving: publishes snapshots, answers operations, keeps a hub process alive.

Nothing here makes a tick wait: snapshots go into shared memory, messages into a socket that is never waited for. A hub
that dies or hangs is replaced; its clients lose what they held and connect again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from time import monotonic
from typing import Any, Self

from paddock.errors import PaddockError
from paddock.scenario.serve import Serve
from paddock.serve.connection import HubConnection
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
