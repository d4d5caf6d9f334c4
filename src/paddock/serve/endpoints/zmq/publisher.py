"""Publishes states, rosters, events and markers to subscribers.

A message is two frames: its topic (`state`, `roster`, `event`, `markers`) and its content (StateUpdate, Roster, Event,
MarkerCommand). The topic `every/50/` has the states of all ticks that 50 divides, `state` those of the endpoint's
rate. A roster is published when it changes, after a subscription and once a second; all markers after a
subscription to them. A subscription to `ready/NONCE/TOPIC` is answered once with that topic: earlier subscriptions of
the same client are then in effect. The content is empty, or the reason why TOPIC is not published.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

import zmq

from paddock.serve.hub import Endpoint, Send
from paddock.serve.mirror import FIELDS
from paddock.serve.states import roster_of, state_of
from paddock.wire.messages import markers
from paddock.wire.messages.states import encode_event, encode_roster, encode_state_update, period_of
from paddock.wire.results import EventRecord
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.endpoints.zmq.endpoint import Port

STATE, ROSTER, EVENT, MARKERS, READY = b"state", b"roster", b"event", b"markers", b"ready/"
SUBSCRIPTION_MOST = 256  # bytes of a subscription
PERIODS_MOST = 64  # different periods of states
REPEAT = 1.0  # s of wall time between rosters
SHORTEST = 0.05  # s of wall time between rosters that subscriptions cause


class Publisher:
    """Encodes only topics with subscribers."""

    def __init__(self, endpoint: Endpoint, new_port: "Callable[..., Port]", every: int) -> None:
        """`every`: ticks between the states of the topic `state`."""
        self.hub, self._count = endpoint.hub, endpoint.count
        self.periods = {STATE: every}  # topic of states -> ticks
        self.port = new_port(zmq.XPUB, SUBSCRIPTION_MOST, self._take)
        self.port.socket.setsockopt(zmq.XPUB_VERBOSER, 1)  # report every subscription, so that they can be counted
        self._subscribed: Counter[bytes] = Counter()
        self._new: set[bytes] = set()  # topics with a new subscription, and `ready/` topics to answer
        self._soon: asyncio.TimerHandle | None = None  # the next `_answer_new`
        self._layout: Layout | None = None  # of the last published roster
        self._sent = 0.0

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode a state, after its roster if that is new."""
        fresh = snapshot.layout is not self._layout and snapshot.layout != self._layout
        roster = encode_roster(roster_of(snapshot.layout)) if fresh and self._wanted(ROSTER) else None
        self._layout = snapshot.layout
        due = [topic for topic, every in self.periods.items() if snapshot.tick % every == 0 and self._wanted(topic)]
        if not due:
            return None if roster is None else lambda: self._send(ROSTER, roster)
        state = encode_state_update(state_of(snapshot, wall_time, snapshot.layout))

        def send() -> None:
            if roster is not None:
                self._send(ROSTER, roster)
            for topic in due:
                self._send(topic, state)

        return send

    def on_push(self, kind: str, content: dict[str, Any]) -> None:
        if kind == "event" and self._wanted(EVENT):
            self._send(EVENT, encode_event(EventRecord(**content)))
        if kind == "markers" and self._wanted(MARKERS):
            self._say(marker_commands(content, self.hub.time))
        if kind == "restart" and content["how"] == "reset" and self._wanted(MARKERS):
            self._say([markers.ClearMarkers()])

    def check(self) -> None:
        """Publish what is due by time; called a few times a second."""
        self.port.receive()
        if monotonic() - self._sent > REPEAT:
            self._new.add(ROSTER)
        self._answer_new()

    def _answer_new(self) -> None:
        """Publish what new subscriptions need: all markers, the roster, and then that they are in effect."""
        self._soon = None
        if MARKERS in self._new:
            mirror, time = self.hub.mirror, self.hub.time
            mirror.alive(time)
            shown = markers.PutMarkers(tuple(marker_of(tree, time) for tree in mirror.markers.values()))
            self._say([shown, *(markers.ShowMarkers(namespace, False) for namespace in sorted(mirror.hidden))])
        if ROSTER in self._new:
            self._sent = monotonic()
            if self._layout is not None and self._wanted(ROSTER):
                self._send(ROSTER, encode_roster(roster_of(self._layout)))
        for topic in self._new.difference((MARKERS, ROSTER)):
            wanted = topic.split(b"/", 2)[2]
            full = period_of(wanted) and wanted not in self.periods
            self._send(topic, b"states of %d different periods are published already" % PERIODS_MOST if full else b"")
        self._new.clear()

    def close(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
        self.port.close()

    def _say(self, commands: list[markers.MarkerCommand]) -> None:
        for command in commands:
            self._send(MARKERS, markers.encode_marker_command(command))

    def _send(self, topic: bytes, data: bytes) -> None:
        if not self.port.send(topic, data):
            self._count("unpublished")

    def _wanted(self, topic: bytes) -> bool:
        return any(topic.startswith(prefix) for prefix in self._subscribed)

    def _take(self, frames: list[bytes]) -> None:
        """Handle a subscription (1, prefix) or its end (0, prefix)."""
        flag, prefix = frames[0][:1], frames[0][1:]
        if flag == b"\1":
            self._subscribed[prefix] += 1
            self._new.update(topic for topic in (ROSTER, MARKERS) if topic.startswith(prefix))
            if prefix.startswith(READY) and prefix.count(b"/") > 1:
                self._new.add(prefix)
            if self._new and self._soon is None:
                wait = max(0.0, self._sent + SHORTEST - monotonic())
                self._soon = self.hub.loop.call_later(wait, self._answer_new)
            if (every := period_of(prefix)) and prefix not in self.periods and len(self.periods) < PERIODS_MOST:
                self.periods[prefix] = every
                self._report_periods()
        elif flag == b"\0" and prefix in self._subscribed:
            self._subscribed[prefix] -= 1
            if self._subscribed[prefix] <= 0:
                del self._subscribed[prefix]
                if prefix != STATE and prefix in self.periods:
                    del self.periods[prefix]
                    self._report_periods()
        else:
            self._count("malformed", reason="subscription")

    def _report_periods(self) -> None:
        """Have the simulation publish at the periods of all subscriptions."""
        self.hub.report(periods=list(self.periods.values()))


def marker_of(tree: dict[str, Any], time: float) -> markers.MarkerMessage:
    """Return a marker of the mirror, with its remaining time to live (s)."""
    vectors = {name: tuple(tree[name]) for name in ("position", "quaternion", "scale", "color")}
    ttl = None if tree["expires"] is None else max(tree["expires"] - time, 1e-9)
    return markers.MarkerMessage(**{name: tree[name] for name in FIELDS} | vectors | {"ttl": ttl})


def marker_commands(content: dict[str, Any], time: float) -> list[markers.MarkerCommand]:
    """Return a change of markers as messages."""
    commands: list[markers.MarkerCommand] = []
    if "namespace" in content:
        commands.append(markers.ShowMarkers(content["namespace"], content["visible"]))
    gone: dict[str, list[int]] = {}
    for namespace, number in content.get("removed", ()):
        gone.setdefault(namespace, []).append(number)
    commands += [markers.DeleteMarkers(namespace, tuple(numbers)) for namespace, numbers in gone.items()]
    if content.get("cleared"):
        commands.append(markers.ClearMarkers())
    if content.get("put"):
        commands.append(markers.PutMarkers(tuple(marker_of(tree, time) for tree in content["put"])))
    return commands
