"""Notifications to subscribers: events, markers, restarts, the mission, and figures twice a second."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any, get_type_hints

from paddock.serve.hub import OperationError, OperationOutcome
from paddock.serve.subscribers.markers import deleted_markers, shown_markers
from paddock.wire.operations.results import FiguresTree
from paddock.wire.rpc import notification
from paddock.wire.stream.events import EventRecord, encode_events

if TYPE_CHECKING:
    from paddock.serve.hub import Hub
    from paddock.serve.subscribers.client import Client
    from paddock.serve.subscribers.endpoint import SubscriberEndpoint


SOON = 0.05  # s after which a changed roster or changed frames are sent
FIGURES_EVERY = 0.5  # s between figures
TRAVEL_EVERY = 2.0  # s between updates of a mission in which vehicles only travel
_EVENT_TEXTS = {"kind": 255, "subject": 255, "detail": 65535}  # the texts of an event, and their limits in bytes


class Notifier:
    """Sends notifications to the subscribers of their kind; none is skipped.

    Restarts belong to `events`, named frames to `markers`.
    """

    def __init__(self, audience: SubscriberEndpoint) -> None:
        self._audience = audience
        self._hub = audience.hub
        self._events: list[EventRecord] = []
        self._asked = False  # whether the roster is about to be published
        self._moved = False  # whether frames are about to be sent
        self._sent = 0.0  # time of the last figures
        self._mission: tuple[Any, ...] = ()  # the mission's state when it was last sent
        self._travel = 0.0  # time of that

    def on_push(self, kind: str, content: dict[str, Any]) -> None:
        """Handle a push of the simulation."""
        match kind:
            case "event":
                self._on_event(content)
            case "markers":
                gone, shown = deleted_markers(content), shown_markers(self._hub.mirror, content)
                for client in list(self._audience.clients):
                    if client.markers is not None:
                        if gone is not None:
                            client.connection.put(gone)
                        client.markers.add(shown)
            case "frames" if not self._moved:
                self._moved = True
                self._hub.loop.call_later(SOON, self._send_frames)
            case "restart":
                self._send("events", notification("restart", content))
            case "preparing":
                for client in list(self._audience.clients):
                    self.send_preparing(client)

    def send_preparing(self, client: Client) -> None:
        """Send the preparation status, even without a token: until it ends no other call is answered."""
        client.connection.put(notification("preparing", {"text": self._hub.mirror.preparing}))

    def send_figures(self, now: float) -> None:
        """Send the figures if they are due (s, monotonic)."""
        if now - self._sent < FIGURES_EVERY or not self._hub.mirror.figures:
            return
        self._sent = now
        if any(self._listeners("figures")):
            self._send("figures", notification("figures", dict(figures_tree(self._hub))))

    def send_mission(self, now: float) -> None:
        """Send the mission if it has changed (s, monotonic) and a client subscribes to it."""
        known = self._hub.mirror.figures
        if known.get("mission") is None or not any(self._listeners("mission")):
            return
        stands = known["run"], known["mission"], known["tick"]
        if stands[:2] == self._mission[:2] and (stands == self._mission or now - self._travel < TRAVEL_EVERY):
            return
        self._mission, self._travel = stands, now

        def send(outcome: OperationOutcome | OperationError) -> None:
            if isinstance(outcome, OperationOutcome) and outcome.result is not None:
                self._send("mission", notification("mission", outcome.result))

        self._hub.ask("mission", self._audience.name, {}, send)

    def _listeners(self, kind: str) -> Iterator[Client]:
        return (client for client in list(self._audience.clients) if client.wants(kind))

    def _send(self, kind: str, message: bytes | memoryview) -> None:
        for client in self._listeners(kind):
            client.connection.put(message)

    def _on_event(self, content: dict[str, Any]) -> None:
        texts = (content[name].encode()[:most].decode(errors="ignore") for name, most in _EVENT_TEXTS.items())
        if not self._events:
            self._hub.loop.call_soon(self._send_events)  # events of the same moment go into one frame
        self._events.append(EventRecord(content["number"], content["tick"], *texts))
        if content["kind"] in ("spawned", "removed") and not self._asked:
            self._asked = True
            self._hub.loop.call_later(SOON, self._look_again)

    def _look_again(self) -> None:
        """Publish the present roster even if no tick passes."""
        self._asked = False
        self._hub.notify("snapshot", self._audience.name)

    def _send_events(self) -> None:
        events, self._events = self._events, []
        if any(self._listeners("events")):
            self._send("events", encode_events(events))

    def _send_frames(self) -> None:
        self._moved = False
        if any(self._listeners("markers")):
            self._send("markers", notification("frames", {"frames": self._hub.mirror.frame_trees()}))


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
        "stages": known.get("stages", {}),
        "subscribers": [one for each in hub.endpoints.values() for one in getattr(each, "subscribers_now", ())],
        "counts": {  # the name of a counter with its labels: `cut_off stream token`
            " ".join([name, *(str(text) for _, text in labels if text)]): int(value)
            for (name, labels), value in sorted(hub.counters.values.items())
        },
    }
