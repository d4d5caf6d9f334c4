"""The common part of the stream and web endpoints: clients, snapshots as frames, notifications."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import isfinite
from time import monotonic
from typing import Any, Protocol, TypeVar, get_type_hints

from paddock.errors import PaddockError
from paddock.serve.facts import OperationError, OperationOutcome
from paddock.serve.hub import Endpoint, Hub, Send
from paddock.serve.methods import DEBUG, HUB_HANDLERS
from paddock.serve.protection.admission import Slots, share_of_files
from paddock.serve.subscribers.client import GRACE, PATIENCE, Client, Connect, Connection
from paddock.serve.subscribers.groups import GroupEncoder
from paddock.serve.subscribers.markers import deleted_markers, shown_markers
from paddock.serve.subscribers.subscription import Subscription, roster_tree
from paddock.wire.results import EventRecord, FiguresTree, SubscriberTree
from paddock.wire.rpc import notification
from paddock.wire.stream.frames import encode_events
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

T = TypeVar("T")
UNVERIFIED = 64  # connections without a token, and refused ones that still read why
SWEEP = 0.1  # s between checks for timeouts and late subscribers
FRESH = 0.05  # s for which a snapshot is recent enough for reads
SOON = 0.05  # s after which a changed roster or changed frames are sent
FIGURES_EVERY = 0.5  # s between figures
TRAVEL_EVERY = 2.0  # s between updates of a mission in which vehicles only travel
_EVENT_TEXTS = {"kind": 255, "subject": 255, "detail": 65535}  # the texts of an event, and their limits in bytes


class Viewer(Protocol):
    """A receiver of frames: a client, or a renderer that was dialled."""

    connection: Connection
    subscription: Subscription | None


class SubscriberEndpoint(Endpoint):
    """An endpoint with subscribers; a subclass adds the transport."""

    handlers = HUB_HANDLERS

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        """`every` is ignored: wall time limits the rate."""
        super().__init__(hub, 1)
        self.rate = float(options["rate"])
        self.requests = float(options["requests"])
        self.connections = int(options["connections"])
        self.clients: set[Client] = set()
        most = share_of_files(UNVERIFIED)
        self._unverified: Slots[Client] = Slots(most, lambda client: client.connection.drop("slots"))
        self._encoder = GroupEncoder(hub.mirror)
        self._debug_id: int | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._events: list[EventRecord] = []
        self._asked = False  # whether the roster is about to be published
        self._moved = False  # whether frames are about to be sent
        self._figures_sent = 0.0  # time of the last figures
        self._mission: tuple[Any, ...] = ()  # the mission's state when it was last sent
        self._travel = 0.0  # time of that

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
        """Send the notification of a push to the subscribers of its kind; none is skipped.

        Restarts belong to `events`, named frames to `markers`.
        """
        match kind:
            case "event":
                self._on_event(content)
            case "markers":
                gone, shown = deleted_markers(content), shown_markers(self.hub.mirror, content)
                for client in list(self.clients):
                    if client.markers is not None:
                        if gone is not None:
                            client.connection.put(gone)
                        client.markers.add(shown)
            case "frames" if not self._moved:
                self._moved = True
                self.hub.loop.call_later(SOON, self._send_frames)
            case "restart":
                self._send("events", notification("restart", content))
            case "preparing":
                for client in list(self.clients):
                    self._send_preparing(client)
        if kind in ("markers", "hidden", "frames", "redrawn"):
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
        """Accept a client. OSError if it has already disconnected.

        Clients without the token have slots of their own, so that they never keep out those with it.
        """
        client = Client(self, connect, address)
        self.clients.add(client)
        if client.admitted:
            self.admit(client)
        else:
            self._unverified.enter(client, client.host)
        if client.connection.open and self.hub.mirror.preparing:
            self._send_preparing(client)
        return client

    def admit(self, client: Client) -> None:
        """Count a client that needs no token, or has sent it; cut it off if there are too many."""
        self._unverified.leave(client)
        admitted = [subscriber for subscriber in self.clients if subscriber.admitted and subscriber.connection.open]
        if len(admitted) <= self.connections:
            return
        long_ago = monotonic() - PATIENCE
        idle = [subscriber for subscriber in admitted if subscriber.silent and subscriber.since < long_ago]
        if idle:  # has used its place for nothing
            min(idle, key=lambda subscriber: subscriber.since).connection.drop("silent")
            return
        client.connection.cut_off("connections", f"the limit of {self.connections} connections is reached")
        self._unverified.enter(client, client.host)

    def newest(self) -> Snapshot:
        """Return a copy of the newest snapshot."""
        snapshot = self.hub.ring.latest()
        if snapshot is None:
            raise PaddockError("the simulation has not published a snapshot yet")
        return snapshot

    def read(self, read: Callable[[Snapshot], T]) -> T:
        """Read the newest snapshot in place; use a copy if it is overwritten meanwhile."""
        ring = self.hub.ring
        sequence = ring.newest
        snapshot = ring.peek(sequence)
        if snapshot is not None:
            result = read(snapshot)
            if ring.holds(sequence):
                return result
        return read(self.newest())

    async def refresh(self, changed: bool = False) -> None:
        """Publish the present state; unless it has `changed`, a recent snapshot is enough."""
        if changed or self.hub.ring.changed_at is not None or monotonic() - self.hub.shown > FRESH:
            await self.hub.request("snapshot", self.name, fresh=changed)
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
            used_numbers = [number for namespace, number in self.hub.mirror.markers if namespace == DEBUG]
            self._debug_id = max(used_numbers, default=0)
        self._debug_id += 1
        return self._debug_id

    def forget(self, client: Client, reason: str) -> None:
        """Remove a client that has disconnected, or was disconnected for a reason."""
        self.clients.discard(client)
        self._unverified.leave(client)
        self.hub.report(gone=client.name)
        if reason:
            self.count("cut_off", reason=reason)

    def viewers(self) -> list[Viewer]:
        """Return all receivers of frames."""
        return list(self.clients)

    def has_news_of(self, layout: Layout) -> bool:
        """Return whether a subscriber lacks this roster."""
        return any(client.subscription and client.roster != layout.roster for client in self.clients)

    def push_roster(self, layout: Layout) -> None:
        """Send the roster to subscribers that lack it."""
        if uninformed := [client for client in self.clients if client.subscription and client.roster != layout.roster]:
            line = notification("roster", dict(roster_tree(layout)))
            for client in uninformed:
                client.roster = layout.roster
                client.connection.put(line)

    def _offers(self, due: list[Viewer], snapshot: Snapshot, wall_time: float) -> Callable[[], None]:
        """Encode the groups of a snapshot; returns the function that sends them."""
        subscribed = [(viewer, viewer.subscription) for viewer in due if viewer.subscription is not None]
        now = monotonic()
        views = [subscription.due_view(now) for _, subscription in subscribed]
        groups = self._encoder.groups(snapshot, wall_time, views)

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
                client.check_token_timeout(now)
            late = [viewer for viewer in self.viewers() if viewer.subscription and viewer.subscription.late(now)]
            with suppress(PaddockError):
                self.show_newest(late)
            self._send_figures(now)
            self._send_mission(now)

    def _send_preparing(self, client: Client) -> None:
        """Send the preparation status, even without a token: until it ends no other call is answered."""
        client.connection.put(notification("preparing", {"text": self.hub.mirror.preparing}))

    def _send_figures(self, now: float) -> None:
        """Send the figures if they are due (s, monotonic)."""
        if now - self._figures_sent < FIGURES_EVERY or not self.hub.mirror.figures:
            return
        self._figures_sent = now
        if any(self._listeners("figures")):
            self._send("figures", notification("figures", dict(figures_tree(self.hub))))

    def _send_mission(self, now: float) -> None:
        """Send the mission if it has changed (s, monotonic) and a client subscribes to it."""
        figures = self.hub.mirror.figures
        if figures.get("mission") is None or not any(self._listeners("mission")):
            return
        stands = figures["run"], figures["mission"], figures["tick"]
        if stands[:2] == self._mission[:2] and (stands == self._mission or now - self._travel < TRAVEL_EVERY):
            return
        self._mission, self._travel = stands, now

        def send(outcome: OperationOutcome | OperationError) -> None:
            if isinstance(outcome, OperationOutcome) and outcome.result is not None:
                self._send("mission", notification("mission", outcome.result))

        self.hub.ask("mission", self.name, {}, send, fresh=True)

    def _listeners(self, kind: str) -> Iterator[Client]:
        return (client for client in list(self.clients) if client.wants(kind))

    def _send(self, kind: str, message: bytes | memoryview) -> None:
        for client in self._listeners(kind):
            client.connection.put(message)

    def _on_event(self, content: dict[str, Any]) -> None:
        texts = (content[name].encode()[:most].decode(errors="ignore") for name, most in _EVENT_TEXTS.items())
        if not self._events:
            self.hub.loop.call_soon(self._send_events)  # events of the same moment go into one frame
        self._events.append(EventRecord(content["number"], content["tick"], *texts))
        if content["kind"] in ("spawned", "removed") and not self._asked:
            self._asked = True
            self.hub.loop.call_later(SOON, self._publish_roster)

    def _publish_roster(self) -> None:
        """Publish the present roster even if no tick passes."""
        self._asked = False
        self.hub.ask("snapshot", self.name, {}, lambda outcome: None, fresh=True)

    def _send_events(self) -> None:
        events, self._events = self._events, []
        if any(self._listeners("events")):
            self._send("events", encode_events(events))

    def _send_frames(self) -> None:
        self._moved = False
        if any(self._listeners("markers")):
            self._send("markers", notification("frames", {"frames": self.hub.mirror.frame_trees()}))


def figures_tree(hub: Hub) -> FiguresTree:
    """Return the figures of the last heartbeat, with clients and counters; 0 for those that recordings lack."""
    known, tree = hub.mirror.figures, {}
    for name, kind in get_type_hints(FiguresTree).items():
        if kind in (bool, int, float):
            number = float(known.get(name, 0.0))
            tree[name] = kind(number if isfinite(number) else 0.0)
    return {
        **tree,  # type: ignore[typeddict-item]
        "owner": str(known.get("owner", "")),
        "drivers": known.get("drivers", {}),
        "visualization": known.get("visualization"),
        "stages": known.get("stages", {}),
        "subscribers": [client for endpoint in hub.endpoints.values() for client in endpoint.subscribers_now],
        "counts": {  # the name of a counter with its labels: `cut_off stream token`
            " ".join([name, *(str(text) for _, text in labels if text)]): int(value)
            for (name, labels), value in sorted(hub.counts.items())
        },
    }
