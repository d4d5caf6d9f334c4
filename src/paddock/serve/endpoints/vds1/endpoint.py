"""The VDS1 endpoint: one UDP socket that receives commands and sends states."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from time import monotonic, time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.scenario.serve import split_address
from paddock.serve.endpoints.vds1.inbox import Cars, Inbox, Senders
from paddock.serve.endpoints.vds1.publisher import Address, DatagramSender, StatePublisher
from paddock.wire.vds1 import STATE_RECORD, STATE_VALUES, encode_states
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.hub import Hub, Send

BUFFER = 4 << 20  # bytes of the kernel's queues, if granted: enough for some 10 ms of a flood
SWEEP = 0.25  # s between checks for silent senders


class Vds1Server:
    """Sends one datagram per car and tick to every recent sender."""

    latest = False

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        self.hub = hub
        self.every = every
        self.port = options["port"]
        self.clients = Senders(options["subscribers"])
        self.cars = Cars(hub, self._roster_known)
        self.inbox = Inbox(hub, self.cars, self.clients, options["timeout"], options["datagrams"])
        self.publisher = StatePublisher(options["vehicles"])
        self._state = options["state"]
        self._period = max(every / hub.rate, 1.0 / options["rate"])  # simulated s
        self._always: list[Address] = []  # subscribers by configuration
        self._socket: socket.socket | None = None
        self._sender: DatagramSender | None = None
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def clients_now(self) -> int:
        """Number of recent senders."""
        return len(self.clients.known)

    async def open(self) -> dict[str, Any]:
        """Listen."""
        bound = await self._bound()
        self._socket = bound
        if self._state is not None:
            self._always = [await self._reachable(self._state, bound)]
        self._sender = DatagramSender(bound, STATE_RECORD.size)
        encode_states([0], [0], 0.0, np.zeros((len(STATE_VALUES), 1)))  # compiles the encoder
        self._sweep()
        self.port = bound.getsockname()[1]
        return {"port": self.port}

    async def _bound(self) -> socket.socket:
        found = await self.hub.loop.getaddrinfo(self.hub.options.bind, self.port, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setblocking(False)
            for queue in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                bound.setsockopt(socket.SOL_SOCKET, queue, BUFFER)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
        return bound

    async def _reachable(self, state: str, bound: socket.socket) -> Address:
        """Return the configured address of states; PaddockError if it cannot be reached from the bound one."""
        host, port = split_address(state)
        try:
            found = await self.hub.loop.getaddrinfo(host, port, family=bound.family, type=socket.SOCK_DGRAM)
            address: Address = found[0][4]
            with socket.socket(bound.family, socket.SOCK_DGRAM) as probe:
                probe.bind((bound.getsockname()[0], 0))
                probe.connect(address)
        except OSError as error:
            bound.close()
            what = f"vds1 cannot send states to {state} from {self.hub.options.bind}"
            raise PaddockError(f"{what}: {error.strerror or error}; bind to an address that reaches it") from None
        return address

    def on_push(self, kind: str, content: dict[str, Any]) -> None:
        """Update the cars when overrides change."""
        if kind == "restart" or (kind == "event" and content["kind"] in ("ordered", "order_ended")):
            self.cars.ask_again()

    async def close(self) -> None:
        """Stop listening."""
        self.cars.close()
        self.inbox.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._socket is not None:
            self.hub.loop.remove_reader(self._socket)
            self._socket.close()

    def _show(self, layout: Layout) -> None:
        """Use a layout. Before the first one, datagrams wait in the kernel's queue, because they cannot be checked."""
        assert self._socket is not None
        if self.cars.layout is None:
            self.hub.loop.add_reader(self._socket, self.inbox.drain, self._socket)
        self.cars.show(layout)
        self._plan()

    def _sweep(self) -> None:
        if self.cars.layout is None:  # use the layout of a run that is paused between two publishes
            with suppress(PaddockError):  # the simulation is ending
                if (newest := self.hub.newest()) is not None:
                    self._show(newest.layout)
        if evicted := self.clients.forget(monotonic()):
            self.hub.counters.add("subscribers_evicted", evicted, endpoint="vds1")
        self._sweeper = self.hub.loop.call_later(SWEEP, self._sweep)

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode all cars if there are subscribers."""
        if snapshot.layout is not self.cars.layout:
            self._show(snapshot.layout)
        addresses = list(dict.fromkeys([*self._always, *self.clients.known]))
        if not addresses or not len(self.publisher.ids):
            return None
        rows = self.publisher.encode(snapshot)
        return lambda: self._send(rows, addresses, wall_time)

    def _send(self, rows: NDArray[np.uint8], addresses: list[Address], wall_time: float) -> None:
        assert self._sender is not None
        sent = self._sender.send(rows, addresses)
        self.publisher.sent()
        self._count("publishes", 1)
        self._count("datagrams_sent", sent)
        self._count("datagrams_unsent", len(rows) * len(addresses) - sent)
        pace = self.hub.mirror.figures.get("pace") or 1.0
        self._count("publishes_late", int(time() - wall_time > self._period / pace))
        if self.publisher.not_finite:
            self._count("values_not_finite", self.publisher.not_finite)
            self.inbox.log.warn("not finite", "values of a car are not finite; they are sent as 0")
            self.publisher.not_finite = 0

    def _count(self, name: str, amount: int) -> None:
        self.hub.counters.add(name, amount, endpoint="vds1")

    def _roster_known(self) -> None:
        self._plan()
        self.inbox.flush()

    def _plan(self) -> None:
        if self.cars.layout is None:
            return
        self.publisher.plan(self.cars.layout, self.cars.radii())
        if self.publisher.left_out:
            most, more = self.publisher.most, self.publisher.left_out
            self.inbox.log.warn("vehicles", f"the limit of {most} cars is reached; states of {more} more are not sent")
