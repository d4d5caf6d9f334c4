"""The stream endpoint: who is connected, and who is shown what when."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from paddock.errors import PaddockError
from paddock.serve.endpoints.stream.client import Client
from paddock.serve.endpoints.stream.connection import GRACE, Connection
from paddock.serve.endpoints.stream.dial import Dialer, Renderer
from paddock.serve.endpoints.stream.groups import GroupEncoder
from paddock.serve.endpoints.stream.listener import Listener
from paddock.serve.endpoints.stream.marker_records import deleted_markers, shown_markers
from paddock.serve.endpoints.stream.methods import debug
from paddock.serve.endpoints.stream.roster import roster_tree
from paddock.serve.endpoints.stream.subscription import Subscription
from paddock.wire.rpc import notification
from paddock.wire.stream.events import EventRecord, encode_events
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.endpoint import Send
    from paddock.serve.hub import Hub

SWEEP = 0.1
"""s between looks at who waits for something that does not come by itself."""
FRESH = 0.05
"""s for which a snapshot is new enough for whoever only looks."""


class Viewer(Protocol):
    """Someone who is shown groups of frames: a client, or a renderer that was dialled."""

    connection: Connection
    subscription: Subscription | None


class StreamEndpoint:
    """Frames and calls over TCP."""

    latest = True

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        """`every` is ignored: any snapshot that is there may be shown, and wall time limits the rate."""
        self.hub = hub
        self.every = 1
        self.rate = float(options["rate"])
        self.requests = float(options["requests"])
        self.connections = int(options["connections"])
        self.clients: set[Client] = set()
        self.dialers = [Dialer(self, dial) for dial in options["dial"]]
        self._listener = Listener(hub.loop, self._welcome)
        self._port = int(options["port"])
        self._encoder = GroupEncoder(hub.mirror)
        self._events: list[EventRecord] = []
        self._refreshed = 0.0
        self._debug_id: int | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._asked = False

    # the contract ----------------------------------------------------------------------------------------------------

    async def open(self) -> dict[str, Any]:
        """Listen, and dial the renderers."""
        self._encoder.warm()
        port = self._listener.open(self.hub.options.bind, self._port)
        self._sweeper = self.hub.loop.create_task(self._sweep())
        for dialer in self.dialers:
            dialer.open()
        return {"port": port}

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode the groups that are due, once for all who want the same."""
        now = monotonic()
        due = [viewer for viewer in self._viewers() if viewer.subscription and viewer.subscription.take(now)]
        layout = snapshot.layout
        if not due and not self._uninformed(layout) and all(link.informed(layout) for link in self._renderers()):
            return None
        offers = self._offers(due, snapshot, wall_time)

        def send() -> None:
            self._tell_roster(layout)
            offers()

        return send

    def hear(self, kind: str, content: dict[str, Any]) -> None:
        """Pass on events and markers; look again when vehicles came or went."""
        if kind == "event":
            self._hear_event(content)
        elif kind in ("markers", "hidden", "frames"):
            if kind == "markers":
                self._tell_markers(content)
            for viewer in self._viewers():
                if viewer.subscription is not None and viewer.subscription.view.draws:
                    viewer.subscription.behind = True  # it looks different, though perhaps no tick passes

    async def close(self) -> None:
        """Tell the clients and let go."""
        self._listener.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for dialer in self.dialers:
            dialer.close()
        for client in list(self.clients):
            client.cut_off("closing", "the simulation has ended")
        deadline = monotonic() + 0.5 * GRACE
        while self.clients and monotonic() < deadline:
            await asyncio.sleep(0.01)
        for client in list(self.clients):
            client.connection.close()

    @property
    def clients_now(self) -> int:
        """Connections, for the metrics."""
        return len(self.clients)

    @property
    def skipped_now(self) -> dict[str, int]:
        """Groups that each client was too slow for, for the metrics."""
        return {client.name: client.connection.skipped for client in self.clients}

    # for clients and renderers ---------------------------------------------------------------------------------------

    def newest(self) -> Snapshot:
        """A copy of the newest snapshot."""
        snapshot = self.hub.newest()
        if snapshot is None:
            raise PaddockError("the simulation has not shown anything yet")
        return snapshot

    def layout(self) -> Layout:
        """Who is in the newest snapshot."""
        snapshot = self.hub.ring.peek(self.hub.ring.newest)
        return self.newest().layout if snapshot is None else snapshot.layout

    async def refresh(self, changed: bool = False) -> None:
        """Have the present state shown; unless it `changed`, one of a moment ago will do."""
        if changed or monotonic() - self._refreshed > FRESH:
            await self.hub.request("snapshot", "stream")
            self._refreshed = monotonic()

    def show_newest(self, viewers: Iterable[Viewer]) -> None:
        """Send the newest snapshot to some who have not seen it."""
        now = monotonic()
        due = [viewer for viewer in viewers if viewer.subscription and viewer.subscription.take(now)]
        if due:
            snapshot = self.newest()
            self._offers(due, snapshot, self.hub.ring.wall_time)()

    def next_debug_id(self) -> int:
        """Ids of markers drawn for debugging, none of them in use."""
        if self._debug_id is None:
            taken = [number for namespace, number in self.hub.mirror.markers if namespace == debug.NAMESPACE]
            self._debug_id = max(taken, default=0)
        self._debug_id += 1
        return self._debug_id

    def forget(self, client: Client, reason: str) -> None:
        """A client has left, or was cut off for a reason."""
        self.clients.discard(client)
        self.hub.gone(client.name)
        if reason:
            self.hub.counters.add("cut_off", endpoint="stream", reason=reason)

    # showing ---------------------------------------------------------------------------------------------------------

    def _viewers(self) -> list[Viewer]:
        return [*self.clients, *self._renderers()]

    def _renderers(self) -> list[Renderer]:
        return [link for dialer in self.dialers if (link := dialer.link) is not None]

    def _offers(self, due: list[Viewer], snapshot: Snapshot, wall_time: float) -> Callable[[], None]:
        """What sends the groups of a snapshot, all of them encoded."""
        self._encoder.begin(snapshot, wall_time)
        groups = [
            (viewer, viewer.subscription, self._encoder.group(viewer.subscription.view))
            for viewer in due
            if viewer.subscription is not None
        ]
        self._encoder.end()

        def offer() -> None:
            for viewer, subscription, group in groups:
                if viewer.subscription is subscription:
                    subscription.behind = False
                    if viewer.connection.offer(group):
                        self.hub.counters.add("stream_skipped", endpoint="stream")

        return offer

    def _uninformed(self, layout: Layout) -> list[Client]:
        """Subscribers who do not know this roster."""
        return [client for client in self.clients if client.subscription and client.roster != layout.roster]

    def _tell_roster(self, layout: Layout) -> None:
        if clients := self._uninformed(layout):
            line = notification("roster", roster_tree(layout))
            for client in clients:
                client.roster = layout.roster
                client.connection.put(line)
        for renderer in self._renderers():
            renderer.hear_roster(layout)

    # telling ---------------------------------------------------------------------------------------------------------

    def _hear_event(self, content: dict[str, Any]) -> None:
        texts = (content[name].encode()[:most].decode(errors="ignore") for name, most in _EVENT_TEXTS.items())
        if not self._events:
            self.hub.loop.call_soon(self._tell_events)  # all that have come with it go in one frame
        self._events.append(EventRecord(content["number"], content["tick"], *texts))
        if content["kind"] in ("spawned", "removed") and not self._asked:
            self._asked = True
            self.hub.loop.call_later(FRESH, self._look_again)

    def _look_again(self) -> None:
        """Have the present roster shown, though perhaps no tick passes."""
        self._asked = False
        self.hub.tell("snapshot", "stream")

    def _tell_events(self) -> None:
        events, self._events = self._events, []
        listeners = [client for client in self.clients if client.wants("events")]
        if listeners:
            frame = encode_events(events)
            for client in listeners:
                client.connection.put(frame)

    def _tell_markers(self, content: dict[str, Any]) -> None:
        gone, shown = deleted_markers(content), shown_markers(self.hub.mirror, content)
        for client in list(self.clients):
            if client.markers is not None:
                if gone is not None:
                    client.connection.put(gone)
                client.markers.add(shown)

    async def _sweep(self) -> None:
        """Now and then: who has to be cut off, and who has not seen the last that there is."""
        while True:
            await asyncio.sleep(SWEEP)
            now = monotonic()
            for client in list(self.clients):
                client.look_after(now)
            late = [viewer for viewer in self._viewers() if viewer.subscription and viewer.subscription.late(now)]
            with suppress(PaddockError):
                self.show_newest(late)

    def _welcome(self, peer: socket.socket, address: str) -> None:
        """Someone has connected."""
        try:
            client = Client(self, peer, address)
        except OSError:  # gone already
            peer.close()
            return
        self.clients.add(client)
        if len(self.clients) > self.connections:
            client.cut_off("connections", f"there are {self.connections} connections already")


_EVENT_TEXTS = {"kind": 255, "subject": 255, "detail": 65535}
"""What an event says, and how many bytes of it are told."""
