"""The hub: one process and event loop for all endpoints. It reads the ring and forwards operations."""

import asyncio
import gc
import logging
import signal
import socket
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from time import monotonic, monotonic_ns
from typing import Any

from paddock.errors import PaddockError
from paddock.scenario.serve import Serve
from paddock.serve.facts import FactMirror
from paddock.serve.link import PIECE, HubLink, LinkClosedError
from paddock.serve.mirror import Mirror
from paddock.serve.protection.admission import raise_file_limit
from paddock.serve.protection.checker import Checker
from paddock.serve.protection.gate import Cost, OperationGate, Then, Waiting
from paddock.serve.protection.gate import OperationError as OperationError
from paddock.serve.protection.gate import OperationOutcome as OperationOutcome
from paddock.wire.operations import OPERATIONS
from paddock.wire.operations.results import SubscriberTree
from paddock.world.ring import RingReader
from paddock.world.snapshot import Snapshot

NOTHING = Cost(0.0, 0.0, 0.0)
INTERVAL = 10.0  # s between two log lines with the same reason


class LimitedLog:
    """Warnings, at most one per reason and interval. Reasons are few, never text of a client."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)
        self._next: dict[str, float] = {}  # reason -> time of the next line, monotonic s
        self._held: dict[str, int] = {}  # reason -> lines suppressed since

    def warn(self, reason: str, message: str) -> None:
        """Log a warning, or count it and report the count with the next one."""
        now = monotonic()
        if now < self._next.get(reason, now):
            self._held[reason] = self._held.get(reason, 0) + 1
            return
        self._next[reason] = now + INTERVAL
        held = self._held.pop(reason, 0)
        self._logger.warning("%s%s", message, f" ({held} more like this since the last line)" if held else "")


SEND_BUFFER = 1 << 20
"""Bytes that the kernel may buffer for a peer: enough for a large group in a few pieces, few old small ones."""
WAITING = 128  # connections that may wait to be accepted


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening TCP socket; OSError if that is not possible."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a new hub takes over the port at once
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)  # inherited by accepted sockets
        listening.bind(address)
        listening.listen(WAITING)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


Send = Callable[[], None]  # sends the data encoded from a snapshot


class Endpoint(ABC):
    """An endpoint, one module of `endpoints/`. It runs in the hub's event loop and must not block it."""

    name = ""
    latest = True  # whether it gets only the newest of several waiting snapshots

    def __init__(self, hub: "Hub", every: int) -> None:
        """`every`: ticks: it receives the snapshots whose tick is a multiple of this."""
        self.hub = hub
        self.every = every

    @property
    def clients_now(self) -> int:
        """Number of clients, for the metrics."""
        return 0

    @property
    def subscribers_now(self) -> list[SubscriberTree]:
        """The connected clients, for figures and metrics."""
        return []

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a counter of this endpoint."""
        self.hub.count(name, amount, endpoint=self.name, **labels)

    @abstractmethod
    async def open(self) -> dict[str, Any]:
        """Listen, and return the address. OSError or PaddockError if that is not possible."""

    @abstractmethod
    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode a snapshot for sending, without keeping a reference to it; None if there is nothing to send.

        The snapshot lies in the ring. The returned function is called only if it was not overwritten meanwhile.
        """

    def on_push(self, kind: str, content: dict[str, Any]) -> None:  # noqa: B027 - metrics ignore pushes
        """Handle a push of the simulation.

        Kinds: `event`, `markers`, `hidden`, `frames`, `redrawn` (a large drawing of the markers is ready), `restart`,
        `preparing`, `control_request` {client, tick, message: an encoded reply}, and `refused` {client, kind, message}
        for a control that needs no other reply.
        """

    @abstractmethod
    async def close(self) -> None:
        """Notify the clients and close."""


LOG = logging.getLogger("paddock.hub")


class Hub:
    """The hub: state shared by the endpoints."""

    def __init__(self, link: HubLink, bell: socket.socket, config: dict[str, Any]) -> None:
        self.loop = asyncio.get_running_loop()
        self.link = link
        self.options = Serve.model_validate(config["options"])
        self.rate = float(config["rate"])
        self.restarts = int(config["restarts"])
        self.counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()  # by name and labels
        self.mirror = Mirror(lambda: self._on_push("redrawn", {}))
        self.checker = Checker()
        self.ring = RingReader(config["ring"])
        self.latest = max(0, self.ring.newest - 1)  # sequence number of the last snapshot passed on
        self.tick, self.time = 0, 0.0
        self.shown = 0.0  # monotonic s at which the last snapshot was passed on
        self.endpoints: dict[str, Endpoint] = {}
        self.stopped = asyncio.Event()
        self._bell = bell
        self._config = config
        self.gate = OperationGate(self.loop, self._send, self.count)
        self.facts = FactMirror(self._report, (lambda: self.ring.changed_at) if config["live"] else monotonic_ns)
        self._roster = -1  # number of the last roster seen
        self._requests: dict[int, Waiting] = {}
        self._number = 0

    def request(
        self, operation: str, client: str, /, fresh: bool = False, **arguments: Any
    ) -> asyncio.Future[OperationOutcome]:
        """Carry out an operation for a client; the future returns its Outcome or raises OperationError.

        `fresh`: a read of the state from now on.
        """
        future: asyncio.Future[OperationOutcome] = self.loop.create_future()

        def settle(outcome: OperationOutcome | OperationError) -> None:
            if future.done():
                return
            if isinstance(outcome, OperationError):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.ask(operation, client, arguments, settle, fresh)
        return future

    def ask(self, operation: str, client: str, arguments: dict[str, Any], then: Then, fresh: bool = False) -> None:
        """Like `request`, with a callback that runs as soon as the reply arrives, before the event loop continues."""
        if OPERATIONS[operation].entry.where in ("fact", "read"):
            self.gate.after(client, lambda: self.facts.read(operation, client, arguments, then, fresh))
        else:
            self.gate.ask(operation, client, arguments, then)

    def _send(self, item: Waiting) -> None:
        """Send an operation to the simulation."""
        self._number += 1
        self._requests[self._number] = item
        message = {
            "id": self._number,
            "operation": item.operation,
            "client": item.client,
            "arguments": item.arguments,
        }
        try:
            self.link.send(message)
        except (LinkClosedError, TypeError, ValueError, OverflowError) as error:
            del self._requests[self._number]
            if isinstance(error, LinkClosedError):
                self.stopped.set()
            self.gate.settle(item, NOTHING)
            item.then(OperationError("PaddockError", f"{item.operation}: {error}"))

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a counter. Labels are few: an endpoint, a reason, never a client's name."""
        self.counts[name, tuple(sorted(labels.items()))] += amount

    def notify(self, operation: str, client: str, /, **arguments: Any) -> None:
        """Like `request`, without a reply; a refusal is counted."""
        if operation == "control_unasked":
            self.report(id=None, operation=operation, client=client, arguments=arguments)
        else:
            self.ask(operation, client, arguments, lambda outcome: None)

    def report(self, **message: Any) -> None:
        """Send a message without a reply, such as `gone`: a client that has disconnected."""
        if "gone" in message:
            self.facts.gone(message["gone"])
            self.gate.gone(message["gone"], lambda: self._report(message))
        else:
            self._report(message)

    def _report(self, message: dict[str, Any]) -> None:
        with suppress(LinkClosedError):
            self.link.send(message)

    async def serve(self) -> None:
        """Open every endpoint, then serve until the simulation ends."""
        self.loop.add_reader(self.link.socket, self._on_link)
        try:
            addresses = await self._open()
        except (OSError, PaddockError) as error:
            self.link.send({"failed": str(error)})
            return
        gc.freeze()  # long-lived objects: the collector need not scan them
        self.link.send({"ready": addresses})
        self.loop.add_reader(self._bell, self._on_bell)
        await self.stopped.wait()
        self.loop.remove_reader(self.link.socket)
        self.gate.close()
        for endpoint in self.endpoints.values():
            with suppress(Exception):
                await asyncio.wait_for(endpoint.close(), 1.0)
        await self.checker.close()

    async def _open(self) -> dict[str, Any]:
        addresses = {}
        for name, options in self.options.endpoints.items():
            known = self._config["addresses"].get(name) or {}  # of the previous hub: clients reconnect there
            given = {**options.model_dump(mode="json"), **known}
            module = import_module(f"paddock.serve.endpoints.{name}")
            endpoint: Endpoint = module.ENDPOINT(self, given, self._config["periods"][name])
            try:
                addresses[name] = await endpoint.open()
            except OSError as error:
                where = str(given.get("name", ""))
                if "port" in given:  # an endpoint with several ports names the one
                    where = error.filename or f"{self.options.bind}:{given['port']}"
                raise PaddockError(f"{name} cannot listen on {where}: {error.strerror or error}") from None
            self.endpoints[name] = endpoint
        return addresses

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
            self._receive(message)

    def _receive(self, message: dict[str, Any]) -> None:
        if "reply" in message:
            self.tick, self.time = message["tick"], message["time"]
            item = self._requests.pop(message["reply"] or 0, None)
            error = message.get("error")
            if error is not None:
                self.count("refused_operations")
            if item is None:
                return
            self.facts.changed(item.client, message["at"])
            self.gate.settle(item, Cost(**message["spent"]))
            if error is not None:
                item.then(OperationError(error["kind"], error["message"]))
            else:
                item.then(OperationOutcome(message["result"], message["tick"], message["time"]))
        elif "fact" in message:
            if self.facts.receive(message):
                self.count("refused_operations")
        elif "push" in message:
            self._on_push(message["push"], message["content"])
        elif "beat" in message:
            self.mirror.figures, self.mirror.updated = message["beat"], monotonic()
            self.link.send({"beat": True})
        elif "stop" in message:
            self.stopped.set()

    def _on_push(self, kind: str, content: dict[str, Any]) -> None:
        self.facts.pushed_at = monotonic_ns()
        self.mirror.on_push(kind, content)
        for name, endpoint in self.endpoints.items():
            with self._guarded(name):
                endpoint.on_push(kind, content)

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
        """Pass one snapshot to the endpoints that are due."""
        snapshot = self.ring.peek(sequence)
        if snapshot is None:
            self.count("snapshots_missed")
            return
        self.tick, self.time, self.shown = snapshot.tick, snapshot.time, monotonic()
        if snapshot.roster != self._roster:
            self._roster, self.facts.pushed_at = snapshot.roster, monotonic_ns()
        wall_time, sends = self.ring.wall_time, []
        for name, endpoint in self.endpoints.items():
            if (newest or not endpoint.latest) and snapshot.tick % endpoint.every == 0:
                with self._guarded(name):
                    sends.append((name, endpoint.prepare(snapshot, wall_time)))
        if not self.ring.holds(sequence):
            self.count("snapshots_missed")
            return
        for name, send in sends:
            if send is not None:
                with self._guarded(name):
                    send()

    @contextmanager
    def _guarded(self, name: str) -> Iterator[None]:
        """Log and count the failure of one endpoint; the others continue."""
        try:
            yield
        except Exception:
            self.count("endpoint_errors", endpoint=name)
            LOG.exception("the %s endpoint failed", name)


def main(link_number: int, bell_number: int) -> None:
    """Run the hub on the inherited sockets until the simulation ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise_file_limit()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    link = HubLink(socket.socket(fileno=link_number))
    bell = socket.socket(fileno=bell_number)
    bell.setblocking(False)
    asyncio.run(_serve(link, bell))


async def _serve(link: HubLink, bell: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    messages: Iterator[dict[str, Any]] = iter(())
    while (first := next(messages, None)) is None and (piece := await loop.sock_recv(link.socket, PIECE)):
        messages = link.decoder.feed(piece)
    if first is not None:
        await Hub(link, bell, first["config"]).serve()
    link.close()
    bell.close()
