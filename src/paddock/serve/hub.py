"""The hub: one process and event loop for all endpoints. It reads the ring, answers reads and forwards operations.

While time passes, the ticking thread spends at most 2 % of its time on clients: 1 % on commands, 0.4 % on changes,
and 0.2 % each on facts, reads and surveys of the radio (`facts.py`). The other threads of its process have a budget,
too: they compete with it for the interpreter. What is beyond waits in queues, one per client, which take turns
(`OperationGate`). An operation that takes longer than what is left delays the next until that is paid back; a short
burst can be saved up. A paused, held or idle simulation has no budget to keep: its replies report no cost.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from time import monotonic, monotonic_ns
from typing import Any

from paddock.errors import PaddockError
from paddock.scenario.serve import Serve
from paddock.serve.facts import Budget, Cost, FactMirror, OperationError, OperationOutcome, Then
from paddock.serve.link import PIECE, HubLink, LinkClosedError, encode
from paddock.serve.mirror import Mirror
from paddock.serve.protection.admission import raise_file_limit
from paddock.serve.protection.checker import Checker
from paddock.wire.operations import OPERATIONS
from paddock.wire.operations.operation import Handling
from paddock.wire.results import SubscriberTree
from paddock.world.ring import RingReader
from paddock.world.shared_memory import RingControl
from paddock.world.snapshot import Snapshot

COMMANDS, CHANGES = 0.010, 0.004  # shares of the ticking thread's time
OTHERS = 0.06  # share of a core for the other threads of its process
SAVED = 1.0  # s of wall time whose budget may be spent at once
CHANGES_SAVED = 40.0  # s: the same for changes, of which people make some in quick succession, as a reset and a spawn
LONGEST_WAIT = 4.0  # s of wall time for which work of other threads may delay the next operation
MOST_OPEN: dict[Handling, int] = {"clock": 16, "command": 16, "change": 1}  # operations of a kind without a reply yet
MOST_QUEUED = 256  # operations of one client that may wait
MOST_QUEUED_IN_ALL = 4096
MOST_BYTES = 128 << 20  # bytes of arrays and blobs that may wait, of all clients
CLOSING = 1.0  # s for the endpoints to close
MOMENT = 0.01  # s
NOTHING = Cost(0.0, 0.0, 0.0)
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


@dataclass(eq=False)
class Waiting:
    """An operation on its way to the simulation; without a number, a callback between two operations of a client."""

    number: int
    operation: str
    client: str
    message: bytes  # encoded for the link
    then: Then
    handling: Handling = "step"
    quick: bool = False  # whether later reads of its client wait for the reply


class OperationGate:
    """Sends operations to the simulation within the budget, client by client in turn, each client's in order."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[Waiting], None],
        count: Callable[[str], None] = lambda name: None,
    ) -> None:
        """`send(item)` passes an operation on; its reply is reported by `settle`. `count` adds to a counter."""
        now = monotonic()
        self.budgets: dict[Handling, Budget] = {
            "command": Budget(COMMANDS, now, SAVED),
            "change": Budget(CHANGES, now, CHANGES_SAVED),
        }
        self.others = Budget(OTHERS, now, SAVED, longest_wait=LONGEST_WAIT)
        self._loop, self._send, self._counted = loop, send, count
        self._queues: dict[str, deque[Waiting]] = {}  # by client; the first one's turn is next
        self._open = Counter[str]()  # operations without a reply, by name
        self._quick = Counter[str]()  # clients' quick operations without a reply
        self._number = 0  # of the last operation
        self._count = self._bytes = 0  # of waiting operations
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, operation: str, client: str, arguments: dict[str, Any], then: Then) -> None:
        """Send an operation now or later; refuse it if too many wait."""
        entry = OPERATIONS[operation].entry
        self._number += 1
        tree = {"id": self._number, "operation": operation, "client": client, "arguments": arguments}
        try:
            message = encode(tree)
        except (TypeError, ValueError, OverflowError) as error:
            then(OperationError("PaddockError", f"{operation}: {error}"))
            return
        quick = entry.handling in self.budgets and not entry.slow
        item = Waiting(self._number, operation, client, message, then, entry.handling, quick)
        queue = self._queues.get(client, ())
        if not queue and not self._is_waited_for(item.handling) and self._has_budget(item, monotonic()):
            self._pass_on(item)
        elif refusal := self._refusal(item, len(queue)):
            self._counted("refused_operations")
            then(OperationError("PaddockError", refusal))
        else:
            self._counted("delayed_operations")
            self._count, self._bytes = self._count + 1, self._bytes + len(message)
            self._queues.setdefault(client, deque()).append(item)
            self._set_timer()

    def after(self, client: str, call: Callable[[], None]) -> None:
        """Call a function when a client's earlier operations have been sent, and the quick ones answered."""
        if client in self._queues or self._quick[client]:
            self._queues.setdefault(client, deque()).append(Waiting(0, "", client, b"", lambda outcome: call()))
        else:
            call()

    def gone(self, client: str, then: Callable[[], None]) -> None:
        """Drop the waiting reads and changes of a client that has left; call `then` after its commands."""
        queue = self._queues.pop(client, deque())
        for item in [item for item in queue if item.handling == "change"]:
            queue.remove(item)
            self._forget(item)
            item.then(OperationError("PaddockError", f"{client} has left"))
        if remaining := deque(item for item in queue if item.number):
            self._queues[client] = remaining
        self._quick.pop(client, None)
        self.after(client, then)
        self._pump()

    def settle(self, item: Waiting, spent: Cost) -> None:
        """Account for an operation that the simulation has answered, and for what it has spent."""
        self._open[item.operation] -= 1
        if item.quick and self._quick[item.client]:
            self._quick[item.client] -= 1
        self.budgets["command"].charge(spent.commands)
        self.budgets["change"].charge(spent.changes)
        self.others.charge(spent.others)
        if self._queues:
            self._loop.call_soon(self._pump)

    def close(self) -> None:
        """Send nothing any longer."""
        self._queues.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _refusal(self, item: Waiting, waiting: int) -> str:
        """Return why an operation cannot wait; empty if it can."""
        limit = "the simulation spends at most 2 % of its time on clients"
        if waiting >= MOST_QUEUED:
            return f"{item.operation} refused: {waiting} requests of this client wait already; {limit}"
        if self._count >= MOST_QUEUED_IN_ALL or (self._bytes and self._bytes + len(item.message) > MOST_BYTES):
            return f"{item.operation} refused: {self._count} requests of all clients wait already; {limit}"
        return ""

    def _has_budget(self, item: Waiting, now: float) -> bool:
        """Return whether the budget of an operation has something left, and few of its kind are on their way."""
        if not item.number:
            return not self._quick[item.client]
        if item.handling == "step":
            return True
        if self._is_full(item):
            return False
        self.others.refill(now)
        if item.handling == "clock":  # goes before others
            return self.others.left > -SAVED * OTHERS
        self.budgets[item.handling].refill(now)
        return self.budgets[item.handling].left > 0.0 and self.others.left > 0.0

    def _is_full(self, item: Waiting) -> bool:
        """Return whether an operation waits for replies: only they report what its kind costs."""
        return self._open[item.operation] >= MOST_OPEN.get(item.handling, MOST_QUEUED_IN_ALL)

    def _is_waited_for(self, handling: Handling) -> bool:
        """Return whether another client's operation waits for the same budget."""
        return handling != "step" and any(queue[0].handling == handling for queue in self._queues.values())

    def _pass_on(self, item: Waiting) -> None:
        if item.number:
            self._open[item.operation] += 1
            self._quick[item.client] += item.quick
            self._send(item)
        else:
            item.then(OperationError("PaddockError", ""))

    def _pump(self) -> None:
        """Send what the budget allows, one operation of each client in turn."""
        now, stuck = monotonic(), 0
        while self._queues and stuck < len(self._queues):
            client, queue = next(iter(self._queues.items()))
            del self._queues[client]
            if self._has_budget(queue[0], now):
                item, stuck = queue.popleft(), 0
                self._forget(item)
                self._pass_on(item)
            else:
                stuck += 1
            if queue:  # at the end: the others come first
                queue.extend(self._queues.pop(client, ()))
                self._queues[client] = queue
        self._set_timer()

    def _set_timer(self) -> None:
        """Continue when a budget has something left; operations that wait for replies continue after them."""
        heads = [queue[0] for queue in self._queues.values() if queue[0].number and not self._is_full(queue[0])]
        if self._timer is None and heads:
            waits = [self.budgets[head.handling].wait if head.handling in self.budgets else 0.0 for head in heads]
            self._timer = self._loop.call_later(max(min(waits), self.others.wait) + 0.001, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._pump()

    def _forget(self, item: Waiting) -> None:
        """Count an item that no longer waits."""
        if item.number:
            self._count, self._bytes = self._count - 1, self._bytes - len(item.message)


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
        self.orphaned = False  # the simulation has gone without a word
        self._bell = bell
        self._config = config
        self.gate = OperationGate(self.loop, self._send, self.count)
        self.facts = FactMirror(self._report, (lambda: self.ring.changed_at) if config["live"] else monotonic_ns)
        self._roster = -1  # number of the last roster seen
        self._requests: dict[int, Waiting] = {}

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
        if OPERATIONS[operation].entry.handling in ("fact", "read"):
            self.gate.after(client, lambda: self.facts.read(operation, client, arguments, then, fresh))
        else:
            self.gate.ask(operation, client, arguments, then)

    def _send(self, item: Waiting) -> None:
        """Send an operation to the simulation."""
        self._requests[item.number] = item
        try:
            self.link.send_encoded(item.message)
        except LinkClosedError as error:
            del self._requests[item.number]
            self.orphaned = True
            self.stopped.set()
            self.gate.settle(item, NOTHING)
            item.then(OperationError("PaddockError", f"{item.operation}: {error}"))

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a counter. Labels are few: an endpoint, a reason, never a client's name."""
        self.counts[name, tuple(sorted(labels.items()))] += amount

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
        if self.orphaned:
            await self._remove_ring()
        self.gate.close()
        closing = (asyncio.wait_for(endpoint.close(), CLOSING) for endpoint in self.endpoints.values())
        await asyncio.gather(*closing, self.checker.close(), return_exceptions=True)

    async def _remove_ring(self) -> None:
        """Remove the shared memory of a simulation that has been killed, as soon as its process has ended."""
        for _ in range(round(CLOSING / MOMENT)):
            if RingControl.remove_dead(self.ring.name):
                return
            await asyncio.sleep(MOMENT)

    async def _open(self) -> dict[str, Any]:
        addresses = {}
        for name, options in self.options.endpoints.items():
            previous = self._config["addresses"].get(name) or {}  # of the previous hub: clients reconnect there
            values = {**options.model_dump(mode="json"), **previous}
            module = import_module(f"paddock.serve.endpoints.{name}")
            endpoint: Endpoint = module.ENDPOINT(self, values, self._config["periods"][name])
            try:
                addresses[name] = await endpoint.open()
            except OSError as error:
                where = str(values.get("name", ""))
                if "port" in values:  # an endpoint with several ports names the one
                    where = error.filename or f"{self.options.bind}:{values['port']}"
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
            self.orphaned = not self.stopped.is_set()
            self.stopped.set()
            return
        self.link.decoder.feed(piece)
        for message in self.link.decoder:
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
            self.mirror.receive_figures(message["beat"])
            self.link.send({"beat": True})
        elif "stop" in message:
            self.stopped.set()

    def _on_push(self, kind: str, content: dict[str, Any]) -> None:
        self.facts.mark_pushed()
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
            self._roster = snapshot.roster
            self.facts.mark_pushed()
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
    if (first := await _next_message(link)) is not None:
        for name in first["import"]:
            import_module(f"paddock.serve.endpoints.{name}")
        if (second := await _next_message(link)) is not None:
            await Hub(link, bell, second["config"]).serve()
    link.close()
    bell.close()
    os._exit(
        0
    )  # at once: to take down the interpreter takes half a second of processor time, and nothing is left to save


async def _next_message(link: HubLink) -> dict[str, Any] | None:
    """Return the next message of the simulation; None at its end."""
    loop = asyncio.get_running_loop()
    while (message := next(link.decoder, None)) is None and (piece := await loop.sock_recv(link.socket, PIECE)):
        link.decoder.feed(piece)
    return message
