"""The hub: one process, one event loop, every endpoint. It reads the ring and passes requests on to the simulation."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from paddock.errors import PaddockError
from paddock.scenario.serve import Serve
from paddock.serve.checker import Checker
from paddock.serve.counters import Counters
from paddock.serve.link import Link, LinkClosedError
from paddock.serve.mirror import Mirror
from paddock.world.ring import RingReader
from paddock.world.snapshot import Snapshot

Send = Callable[[], None]
"""Sends what was encoded from a snapshot."""


class Endpoint(Protocol):
    """Lives in the hub's event loop; nothing it does may take long."""

    every: int  # ticks: it is shown the snapshots whose tick this divides
    latest: bool  # only the newest of those that wait, instead of each of them

    async def open(self) -> Any:
        """Begin to listen; where it can be reached. OSError or PaddockError if it cannot be."""

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode what is to be sent of a snapshot, keeping nothing of it; None if nobody is to have anything.

        The snapshot lies in the ring and may be overwritten meanwhile: what is returned is called only if it was not.
        """

    def hear(self, kind: str, content: dict[str, Any]) -> None:
        """The simulation tells something.

        That is `event`, `markers`, `hidden`, `frames`, `restart`, `control_request` {client, tick, message: a whole
        reply}, or `refused` {client, kind, message} for a control that is answered only then.
        """

    async def close(self) -> None:
        """Tell the clients and let go."""


def endpoint_class(name: str) -> Callable[[Hub, dict[str, Any], int], Endpoint]:
    """The class of an endpoint, called with the hub, its options and its period in ticks."""
    found: Callable[[Hub, dict[str, Any], int], Endpoint] = import_module(f"paddock.serve.endpoints.{name}").ENDPOINT
    return found


PIECE = 1 << 18
LOG = logging.getLogger("paddock.hub")


class OperationError(PaddockError):
    """The simulation refused an operation; `kind` is the name of the error there."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Reply:
    """What came of an operation, and when in the simulation that was."""

    __slots__ = ("result", "tick", "time")

    def __init__(self, result: Any, tick: int, time: float) -> None:
        self.result, self.tick, self.time = result, tick, time


Then = Callable[[Reply | OperationError], None]
"""What is done with the outcome of an operation."""


class Hub:
    """Everything the endpoints share."""

    def __init__(self, link: Link, bell: socket.socket, config: dict[str, Any]) -> None:
        self.loop = asyncio.get_running_loop()
        self.link = link
        self.options = Serve.model_validate(config["options"])
        self.rate = float(config["rate"])
        self.restarts = int(config["restarts"])
        self.counters = Counters()
        self.mirror = Mirror()
        self.checker = Checker()
        self.ring = RingReader(config["ring"])
        self.latest = max(0, self.ring.newest - 1)  # sequence number of the snapshot shown last
        self.tick, self.time = 0, 0.0
        self.endpoints: dict[str, Endpoint] = {}
        self.stopped = asyncio.Event()
        self._bell = bell
        self._config = config
        self._requests: dict[int, Then] = {}
        self._number = 0

    # for endpoints ---------------------------------------------------------------------------------------------------

    def request(self, operation: str, client: str, /, **arguments: Any) -> asyncio.Future[Reply]:
        """Have the simulation do something for a client; the future has its Reply, or OperationError."""
        future: asyncio.Future[Reply] = self.loop.create_future()
        self.ask(operation, client, arguments, partial(_settle, future))
        return future

    def ask(self, operation: str, client: str, arguments: dict[str, Any], then: Then) -> None:
        """The same for who is in a hurry: `then` is called as soon as the answer is there, before this loop goes on."""
        self._number += 1
        self._requests[self._number] = then
        message = {"id": self._number, "operation": operation, "client": client, "arguments": arguments}
        try:
            self.link.send(message)
        except LinkClosedError as error:
            self._requests.pop(self._number)
            self.stopped.set()
            then(OperationError("LinkClosedError", str(error)))

    def tell(self, operation: str, client: str, /, **arguments: Any) -> None:
        """The same for who waits for no answer; a refusal is counted."""
        with suppress(LinkClosedError):
            self.link.send({"id": None, "operation": operation, "client": client, "arguments": arguments})

    def gone(self, client: str) -> None:
        """A client has left."""
        with suppress(LinkClosedError):
            self.link.send({"gone": client})

    def newest(self) -> Snapshot | None:
        """A copy of the newest snapshot; None before the first."""
        return self.ring.latest()

    # life ------------------------------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Open every endpoint, then pass things on until the simulation ends."""
        self.loop.add_reader(self.link.socket, self._on_link)
        try:
            addresses = await self._open()
        except (OSError, PaddockError) as error:
            self.link.send({"failed": str(error)})
            return
        gc.freeze()  # what is there now stays: no need to look through it for garbage
        self.link.send({"ready": addresses})
        self.loop.add_reader(self._bell, self._on_bell)
        await self.stopped.wait()
        for endpoint in self.endpoints.values():
            with suppress(Exception):
                await asyncio.wait_for(endpoint.close(), 1.0)
        await self.checker.close()

    async def _open(self) -> dict[str, Any]:
        addresses = {}
        for name, options in self.options.endpoints.items():
            known = self._config["addresses"].get(name) or {}  # of the hub before this one: clients come back there
            given = {**options.model_dump(mode="json"), **known}
            endpoint = endpoint_class(name)(self, given, self._config["periods"][name])
            try:
                addresses[name] = await endpoint.open()
            except OSError as error:
                where = _where(self.options.bind, given)
                raise PaddockError(f"{name} cannot listen on {where}: {error.strerror or error}") from None
            self.endpoints[name] = endpoint
        return addresses

    # from the simulation ---------------------------------------------------------------------------------------------

    def _on_link(self) -> None:
        try:
            piece = self.link.socket.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self.loop.remove_reader(self.link.socket)
            self.stopped.set()
            return
        for message in self.link.decoder.feed(piece):
            self._hear(message)

    def _hear(self, message: dict[str, Any]) -> None:
        if "reply" in message:
            self._on_reply(message)
        elif "push" in message:
            self._on_push(message["push"], message["content"])
        elif "beat" in message:
            self.mirror.figures = message["beat"]
            self.link.send({"beat": True})
        elif "stop" in message:
            self.stopped.set()

    def _on_reply(self, message: dict[str, Any]) -> None:
        self.tick, self.time = message["tick"], message["time"]
        then = self._requests.pop(message["reply"] or 0, None)
        error = message.get("error")
        if error is not None:
            self.counters.add("refused_operations")
            if then is not None:
                then(OperationError(error["kind"], error["message"]))
        elif then is not None:
            then(Reply(message["result"], message["tick"], message["time"]))

    def _on_push(self, kind: str, content: dict[str, Any]) -> None:
        self.mirror.hear(kind, content)
        for name, endpoint in self.endpoints.items():
            with self._guarded(name):
                endpoint.hear(kind, content)

    # snapshots -------------------------------------------------------------------------------------------------------

    def _on_bell(self) -> None:
        with suppress(BlockingIOError, OSError):
            while len(self._bell.recv(4096)) == 4096:
                pass
        try:
            newest = self.ring.newest
        except PaddockError:
            self.stopped.set()
            return
        for sequence in range(self.latest + 1, newest + 1):
            self._show(sequence, sequence == newest)
        self.latest = max(self.latest, newest)

    def _show(self, sequence: int, newest: bool) -> None:
        """Show one snapshot to the endpoints that are to have it."""
        snapshot = self.ring.peek(sequence)
        if snapshot is None:
            self.counters.add("snapshots_missed")
            return
        self.tick, self.time = snapshot.tick, snapshot.time
        wall_time, sends = self.ring.wall_time, []
        for name, endpoint in self.endpoints.items():
            if (newest or not endpoint.latest) and snapshot.tick % endpoint.every == 0:
                with self._guarded(name):
                    sends.append((name, endpoint.prepare(snapshot, wall_time)))
        if not self.ring.holds(sequence):
            self.counters.add("snapshots_missed")
            return
        for name, send in sends:
            if send is not None:
                with self._guarded(name):
                    send()

    @contextmanager
    def _guarded(self, name: str) -> Iterator[None]:
        """What goes wrong in one endpoint is told and counted, and the others go on."""
        try:
            yield
        except Exception:
            self.counters.add("endpoint_errors", endpoint=name)
            LOG.exception("the %s endpoint failed", name)


def _settle(future: asyncio.Future[Reply], outcome: Reply | OperationError) -> None:
    if future.done():
        return
    if isinstance(outcome, OperationError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _where(bind: str, options: dict[str, Any]) -> str:
    return f"{bind}:{options['port']}" if "port" in options else str(options.get("name", bind))


def main(link_number: int, bell_number: int) -> None:
    """Run the hub on the inherited sockets until the simulation lets go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    link = Link(socket.socket(fileno=link_number))
    bell = socket.socket(fileno=bell_number)
    bell.setblocking(False)
    asyncio.run(_serve(link, bell))


async def _serve(link: Link, bell: socket.socket) -> None:
    config = await _first_message(link)
    if config is not None:
        await Hub(link, bell, config).serve()
    link.close()
    bell.close()


async def _first_message(link: Link) -> dict[str, Any] | None:
    loop = asyncio.get_running_loop()
    while True:
        piece = await loop.sock_recv(link.socket, PIECE)
        if not piece:
            return None
        for message in link.decoder.feed(piece):
            config: dict[str, Any] = message["config"]
            return config
