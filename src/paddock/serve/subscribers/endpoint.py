"""The common part of the stream and web endpoints: clients, snapshots as frames, notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from paddock.errors import PaddockError
from paddock.serve.methods.markers import DEBUG
from paddock.serve.subscribers.client import Client
from paddock.serve.subscribers.connection import GRACE, Connect, Connection
from paddock.serve.subscribers.groups import GroupEncoder
from paddock.serve.subscribers.news import Notifier
from paddock.serve.subscribers.subscription import Subscription, roster_tree
from paddock.wire.operations.results import SubscriberTree
from paddock.wire.rpc import notification
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.hub import Hub, Send

T = TypeVar("T")
SWEEP = 0.1  # s between checks for timeouts and late subscribers
FRESH = 0.05  # s for which a snapshot is recent enough for reads


class Viewer(Protocol):
    """A receiver of frames: a client, or a renderer that was dialled."""

    connection: Connection
    subscription: Subscription | None


class SubscriberEndpoint:
    """An endpoint with subscribers; a subclass adds the transport."""

    latest = True
    name = ""  # of the endpoint

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        """`every` is ignored: wall time limits the rate."""
        self.hub = hub
        self.every = 1
        self.rate = float(options["rate"])
        self.requests = float(options["requests"])
        self.connections = int(options["connections"])
        self.clients: set[Client] = set()
        self.news = Notifier(self)
        self._encoder = GroupEncoder(hub.mirror)
        self._refreshed = 0.0
        self._debug_id: int | None = None
        self._sweeper: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start the background tasks."""
        self._sweeper = self.hub.loop.create_task(self._sweep())

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode the groups that are due, once for equal views."""
        now = monotonic()
        due = [viewer for viewer in self.viewers() if viewer.subscription and viewer.subscription.take(now)]
        layout = snapshot.layout
        self._encoder.warm_for(layout, self.hub.loop)
        if not due and not self.has_news_of(layout):
            return None
        offers = self._offers(due, snapshot, wall_time)

        def send() -> None:
            self.push_roster(layout)
            offers()

        return send

    def on_push(self, kind: str, content: dict[str, Any]) -> None:
        """Pass on events, markers and frames."""
        self.news.on_push(kind, content)
        if kind in ("markers", "hidden", "frames"):
            for viewer in self.viewers():
                if viewer.subscription is not None and viewer.subscription.view.draws:
                    viewer.subscription.behind = True  # redraw even if no tick passes

    async def close(self) -> None:
        """Notify the clients and close."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for client in list(self.clients):
            client.connection.cut_off("closing", "the simulation has ended")
        deadline = monotonic() + 0.5 * GRACE
        while self.clients and monotonic() < deadline:
            await asyncio.sleep(0.01)
        for client in list(self.clients):
            client.connection.close()

    @property
    def clients_now(self) -> int:
        """Number of connections, for the metrics."""
        return len(self.clients)

    @property
    def subscribers_now(self) -> list[SubscriberTree]:
        """The connected clients, for figures and metrics; rate 0: not subscribed."""
        return [
            {
                "name": client.name,
                "endpoint": self.name,
                "rate": client.subscription.rate if client.subscription else 0.0,
                "skipped": client.connection.skipped,
            }
            for client in sorted(self.clients, key=lambda client: client.name)
        ]

    def welcome(self, connect: Connect, address: str) -> Client:
        """Accept a client. OSError if it has already disconnected."""
        client = Client(self, connect, address)
        self.clients.add(client)
        if len(self.clients) > self.connections:
            client.connection.cut_off("connections", f"the limit of {self.connections} connections is reached")
        elif self.hub.mirror.preparing:
            self.news.send_preparing(client)
        return client

    def newest(self) -> Snapshot:
        """Return a copy of the newest snapshot."""
        snapshot = self.hub.newest()
        if snapshot is None:
            raise PaddockError("the simulation has not published a snapshot yet")
        return snapshot

    def read(self, read: Callable[[Snapshot], T]) -> T:
        """Read the newest snapshot in place; use a copy if it is overwritten meanwhile."""
        ring = self.hub.ring
        sequence = ring.newest
        snapshot = ring.peek(sequence)
        if snapshot is not None:
            found = read(snapshot)
            if ring.holds(sequence):
                return found
        return read(self.newest())

    async def refresh(self, changed: bool = False) -> None:
        """Publish the present state; unless it has `changed`, a recent snapshot is enough."""
        if changed or monotonic() - self._refreshed > FRESH:
            await self.hub.request("snapshot", self.name)
            self._refreshed = monotonic()
        warming = self.read(lambda snapshot: self._encoder.warm_for(snapshot.layout, self.hub.loop))
        if warming is not None:  # no subscription before the encoders are compiled
            await asyncio.shield(warming)

    def show_newest(self, viewers: Iterable[Viewer]) -> None:
        """Send the newest snapshot to viewers that have not received it."""
        now = monotonic()
        due = [viewer for viewer in viewers if viewer.subscription and viewer.subscription.take(now)]
        if due:
            snapshot = self.newest()
            self._offers(due, snapshot, self.hub.ring.wall_time)()

    def next_debug_id(self) -> int:
        """Return the next unused marker id of the namespace `debug`."""
        if self._debug_id is None:
            taken = [number for namespace, number in self.hub.mirror.markers if namespace == DEBUG]
            self._debug_id = max(taken, default=0)
        self._debug_id += 1
        return self._debug_id

    def forget(self, client: Client, reason: str) -> None:
        """Remove a client that has disconnected, or was disconnected for a reason."""
        self.clients.discard(client)
        self.hub.gone(client.name)
        if reason:
            self.count("cut_off", reason=reason)

    def count(self, name: str, **labels: str) -> None:
        """Add to a counter of this endpoint."""
        self.hub.counters.add(name, 1, endpoint=self.name, **labels)

    def viewers(self) -> list[Viewer]:
        """Return all receivers of frames."""
        return list(self.clients)

    def has_news_of(self, layout: Layout) -> bool:
        """Return whether a subscriber lacks this roster."""
        return bool(self._uninformed(layout))

    def push_roster(self, layout: Layout) -> None:
        """Send the roster to subscribers that lack it."""
        if clients := self._uninformed(layout):
            line = notification("roster", dict(roster_tree(layout)))
            for client in clients:
                client.roster = layout.roster
                client.connection.put(line)

    def _uninformed(self, layout: Layout) -> list[Client]:
        """Return the subscribers that lack this roster."""
        return [client for client in self.clients if client.subscription and client.roster != layout.roster]

    def _offers(self, due: list[Viewer], snapshot: Snapshot, wall_time: float) -> Callable[[], None]:
        """Encode the groups of a snapshot; returns the function that sends them."""
        subscribed = [(viewer, viewer.subscription) for viewer in due if viewer.subscription is not None]
        groups = self._encoder.groups(snapshot, wall_time, [subscription.view for _, subscription in subscribed])

        def offer() -> None:
            for (viewer, subscription), group in zip(subscribed, groups, strict=True):
                if viewer.subscription is subscription:
                    subscription.behind = False
                    if viewer.connection.offer(group):
                        self.count("stream_skipped")

        return offer

    async def _sweep(self) -> None:
        """Check regularly for timeouts, late subscribers, figures and the mission."""
        while True:
            await asyncio.sleep(SWEEP)
            now = monotonic()
            for client in list(self.clients):
                client.look_after(now)
            late = [viewer for viewer in self.viewers() if viewer.subscription and viewer.subscription.late(now)]
            with suppress(PaddockError):
                self.show_newest(late)
            self.news.send_figures(now)
            self.news.send_mission(now)
