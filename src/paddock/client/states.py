"""Snapshots from received states, bit-identical to those of the simulation, and callbacks for published messages."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.wire import WireError
from paddock.wire.messages import states
from paddock.wire.messages.markers import decode_marker_command
from paddock.wire.messages.states import decode_event
from paddock.world.layout import BufferPool, FleetLayout, Layout, array_columns, frozen
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.client.session import Session


class StateReader:
    """Builds snapshots; remembers the roster of one stream of states."""

    def __init__(self) -> None:
        self._roster: states.RosterMessage | None = None
        self._layout: Layout | None = None
        self._pool = BufferPool()

    def learn(self, roster: states.RosterMessage) -> None:
        """Use a roster."""
        fleets = [
            FleetLayout(f.name, f.kind, f.model, f.columns, len(f.ids), *f[4:7], array_columns(f.arrays))
            for f in roster.fleets
        ]
        layout = Layout(tuple(fleets), roster.number)
        if layout != self._layout:
            self._roster, self._layout = roster, layout

    def snapshot(self, state: states.StateUpdate) -> Snapshot | None:
        """Return the snapshot of a state; None if its roster is unknown."""
        if state.roster is not None:
            self.learn(state.roster)
        roster, layout = self._roster, self._layout
        if roster is None or layout is None or layout.roster != state.roster_number:
            return None
        buffer = self._pool.take(layout.nbytes)
        for k, block in enumerate(states.arranged(state.blocks, roster)):
            np.copyto(layout.block(buffer, k), block)
        for k, arrays in enumerate(states.arranged_arrays(state.arrays, roster)):
            for name, into in layout.arrays(buffer, k).items():
                np.copyto(into, arrays[name])
        return Snapshot(state.tick, state.sim_time, state.run, layout, frozen(buffer))


STATE, ROSTER, EVENT, MARKERS = b"state", b"roster", b"event", b"markers"
ALONE = (EVENT, MARKERS)  # topics of messages that need no roster; the others are states


@dataclass(eq=False)
class TopicWatcher:
    """A callback and the topics of its messages."""

    topics: tuple[bytes, ...]
    callback: Callable[[Any], object]
    present: tuple[int, int] | None = None  # run and tick at the subscription: its states are those that follow

    def begin(self, run: int, tick: int) -> None:
        """Accept the states that follow."""
        self.present = run, tick

    def wants(self, content: Any) -> bool:
        """Return whether a message belongs to the subscription; the present state may be published again after it."""
        if self.topics[0] in ALONE:
            return True
        return self.present is not None and (content.run, content.tick) != self.present


class Watching:
    """Callbacks for published messages; a topic is subscribed while it has callbacks."""

    def __init__(self, session: "Session") -> None:
        self.reader = StateReader()
        self.damaged = 0  # malformed messages
        self._session = session
        self._watchers: list[TopicWatcher] = []

    def add(
        self, topic: bytes, callback: Callable[[Any], object], every: int | None = None
    ) -> tuple[Callable[[], None], Future[None]]:
        """Register a callback for messages of a topic (states: every `every` ticks).

        Return a function that ends it, and a future that is done when the subscription is in effect.
        """
        if every is not None and (isinstance(every, bool) or not isinstance(every, int) or not 1 <= every < 1e10):
            raise InvalidValueError(f"every takes a whole number of ticks >= 1, not {every!r}")
        if not callable(callback):
            raise PaddockError(f"a watcher is a function, not {callback!r}")
        topic = topic if every is None else states.every_topic(every)
        watcher = TopicWatcher((topic,) if topic in ALONE else (topic, ROSTER), callback)
        self._watchers.append(watcher)
        return lambda: self._remove(watcher), self._session.subscribe(*watcher.topics, then=watcher.begin)

    def _remove(self, watcher: TopicWatcher) -> None:
        if watcher in self._watchers:
            self._watchers.remove(watcher)
            for topic in watcher.topics:
                self._session.channel.unsubscribe(topic)

    def on_message(self, topic: bytes, data: bytes) -> None:
        """Handle a published message in the leading thread."""
        watchers = [watcher for watcher in self._watchers if watcher.topics[0] == topic]
        content: Any = None
        try:
            if topic == ROSTER:
                self.reader.learn(states.decode_roster(data))
            elif watchers and topic not in ALONE:
                content = self.reader.snapshot(states.decode_state_update(data))
            elif watchers:
                content = decode_event(data) if topic == EVENT else decode_marker_command(data)
        except WireError:
            self.damaged += 1
        for watcher in watchers if content is not None else ():
            if watcher.wants(content):
                self._session.channel.calls.add(partial(watcher.callback, content))
