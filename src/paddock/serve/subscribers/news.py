"""What subscribers are told when it happens: events, markers, restarts, the mission; and figures twice a second."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any

from paddock.serve.hub import OperationError, Reply
from paddock.serve.subscribers.markers import deleted_markers, shown_markers
from paddock.wire.operations.results import FiguresTree, SubscriberTree
from paddock.wire.rpc import notification
from paddock.wire.stream.events import EventRecord, encode_events

if TYPE_CHECKING:
    from paddock.serve.hub import Hub
    from paddock.serve.subscribers.audience import Audience
    from paddock.serve.subscribers.client import Client


SOON = 0.05
"""s after which the roster is looked at again when vehicles came or went, and frames are told that have moved."""
FIGURES_EVERY = 0.5
"""s between two tellings of the figures."""
TRAVEL_EVERY = 2.0
"""s between two tellings of a mission in which nothing happens but that vehicles travel."""
_EVENT_TEXTS = {"kind": 255, "subject": 255, "detail": 65535}
"""What an event says, and how many bytes of it are told."""


class News:
    """Never skipped: each goes to whoever has subscribed to its kind.

    A restart goes with `events`, named frames with `markers`, which may hang in them.
    """

    def __init__(self, audience: Audience) -> None:
        self._audience = audience
        self._hub = audience.hub
        self._events: list[EventRecord] = []
        self._asked = False  # whether the roster will be looked at
        self._moved = False  # whether frames will be told
        self._told = 0.0  # when figures were
        self._mission: tuple[Any, ...] = ()  # how the mission stood when it was told
        self._travel = 0.0  # when that was

    def hear(self, kind: str, content: dict[str, Any]) -> None:
        """The simulation tells something."""
        match kind:
            case "event":
                self._hear_event(content)
            case "markers":
                self._tell_markers(content)
            case "frames" if not self._moved:
                self._moved = True
                self._hub.loop.call_later(SOON, self._tell_frames)
            case "restart":
                self._tell("events", notification("restart", content))
            case "preparing":
                for client in list(self._audience.clients):
                    self.tell_preparing(client)

    def tell_preparing(self, client: Client) -> None:
        """What it has to wait for, whether or not it has shown the token: until then nothing else is answered."""
        client.connection.put(notification("preparing", {"text": self._hub.mirror.preparing}))

    def tell_figures(self, now: float) -> None:
        """Numbers about the run, if it is time (s, monotonic)."""
        if now - self._told < FIGURES_EVERY or not self._hub.mirror.figures:
            return
        self._told = now
        if any(self._listeners("figures")):
            self._tell("figures", notification("figures", dict(figures_tree(self._hub))))

    def tell_mission(self, now: float) -> None:
        """The mission, if it has changed since (s, monotonic) and anybody wants to know; beats tell twice a second."""
        known = self._hub.mirror.figures
        if known.get("mission") is None or not any(self._listeners("mission")):
            return
        stands = known["run"], known["mission"], known["tick"]
        if stands[:2] == self._mission[:2] and (stands == self._mission or now - self._travel < TRAVEL_EVERY):
            return
        self._mission, self._travel = stands, now
        self._hub.ask("mission", self._audience.name, {}, self._tell_mission)

    def _tell_mission(self, told: Reply | OperationError) -> None:
        if isinstance(told, Reply) and told.result is not None:
            self._tell("mission", notification("mission", told.result))

    def _listeners(self, kind: str) -> Iterator[Client]:
        return (client for client in list(self._audience.clients) if client.wants(kind))

    def _tell(self, kind: str, message: bytes | memoryview) -> None:
        for client in self._listeners(kind):
            client.connection.put(message)

    def _hear_event(self, content: dict[str, Any]) -> None:
        texts = (content[name].encode()[:most].decode(errors="ignore") for name, most in _EVENT_TEXTS.items())
        if not self._events:
            self._hub.loop.call_soon(self._tell_events)  # all that have come with it go in one frame
        self._events.append(EventRecord(content["number"], content["tick"], *texts))
        if content["kind"] in ("spawned", "removed") and not self._asked:
            self._asked = True
            self._hub.loop.call_later(SOON, self._look_again)

    def _look_again(self) -> None:
        """Have the present roster shown, though perhaps no tick passes."""
        self._asked = False
        self._hub.tell("snapshot", self._audience.name)

    def _tell_events(self) -> None:
        events, self._events = self._events, []
        if any(self._listeners("events")):
            self._tell("events", encode_events(events))

    def _tell_markers(self, content: dict[str, Any]) -> None:
        gone, shown = deleted_markers(content), shown_markers(self._hub.mirror, content)
        for client in list(self._audience.clients):
            if client.markers is not None:
                if gone is not None:
                    client.connection.put(gone)
                client.markers.add(shown)

    def _tell_frames(self) -> None:
        self._moved = False
        if any(self._listeners("markers")):
            self._tell("markers", notification("frames", {"frames": self._hub.mirror.frame_trees()}))


def figures_tree(hub: Hub) -> FiguresTree:
    """What the simulation said last, with who is connected and what was counted; 0 for what a recording has not."""
    known = hub.mirror.figures

    def number(name: str) -> float:
        value = float(known.get(name, 0.0))
        return value if isfinite(value) else 0.0

    return {
        "tick": int(known["tick"]),
        "time": number("time"),
        "wall": number("wall"),
        "rate": number("rate"),
        "pace": number("pace"),
        "paused": bool(known["paused"]),
        "running": bool(known["running"]),
        "run": int(known["run"]),
        "vehicles": int(known["vehicles"]),
        "slips": int(number("slips")),
        "lag_seconds": number("lag_seconds"),
        "tick_seconds": number("tick_seconds"),
        "events": int(number("events")),
        "commands": int(number("commands")),
        "refused": int(number("refused")),
        "owner": str(known.get("owner", "")),
        "stages": known.get("stages", {}),
        "subscribers": _subscribers(hub),
        "counts": {_label(*key): int(value) for key, value in sorted(hub.counters.values.items())},
    }


def _subscribers(hub: Hub) -> list[SubscriberTree]:
    return [one for endpoint in hub.endpoints.values() for one in getattr(endpoint, "subscribers_now", ())]


def _label(name: str, labels: tuple[tuple[str, Any], ...]) -> str:
    """A count in words: `cut_off stream token`."""
    return " ".join([name, *(str(text) for _, text in labels if text)])
