"""Packets of programs outside the run over its radio: MAVLink between autopilots and ground stations.

They have the packets, queues, routes, links and rules of the simulated channel, but a channel of their own: packets of
programs are no input of the run, so they cannot disturb those that are. Links are those of the last update. Time is
simulated; nothing is saved, and a reset or restore drops all packets.
"""

from collections import deque
from typing import Any

import numpy as np

from paddock.engine.radio.packets import RadioView, devices_of
from paddock.engine.radio.stage import RadioStage
from paddock.errors import PaddockError
from paddock.radio.links.radios import Radios
from paddock.radio.packets.layout import COMMAND
from paddock.radio.packets.messages import Messages, Post
from paddock.radio.packets.state import drop_removed, new_packets, reset_radios
from paddock.scenario.radio_types import LONGEST
from paddock.world.parts import RADIO
from paddock.world.state import transfer


class DataLink:
    """The channel of packets that have equal options."""

    def __init__(self, stage: RadioStage, queue: int, retries: int, header_bits: int) -> None:
        """Options: packets that wait at a radio, repetitions at each hop, bits of a header and an acknowledgement."""
        assert stage.messages is not None
        self._stage, self._packets = stage, stage.messages
        options: dict[str, Any] = {"queue": queue, "retries": retries, "header_bits": header_bits}
        rest = {"ack_bits": header_bits, "beacons": None, "lifetime": LONGEST}
        self.section = stage.messages.section.model_copy(update=options | rest)
        self._clear()

    def _clear(self) -> None:
        self._messages = Messages(self.section, self._stage.world.seed)
        self._radios: Radios | None = None
        self._linked, self._time, self._epoch = -1, 0.0, self._stage.epoch
        self._contents: dict[int, tuple[deque[Any], Any]] = {}  # by numbers of packets: where they go, and what

    @property
    def counts(self) -> dict[str, int]:
        """Counts of packets since the start: transmitted, arrived (`served`), dropped by reason."""
        return self._messages.counted()

    def post(self, source: str, goal: str, bits: int, time: float, arrivals: deque[Any], contents: Any) -> bool:
        """Queue a packet between a vehicle and a station at a time (s); return whether there was room.

        `arrivals` gets the contents when the packet arrives.
        """
        self.advance(time)
        try:
            ends = self._stage.number_of(source), self._stage.number_of(goal)
        except PaddockError:  # the vehicle has been removed
            return False
        source_radio, goal_radio = (np.array([radio]) for radio in ends)
        post = Post(COMMAND, source_radio, goal_radio, np.zeros((1, 0)), bits)
        [number] = self._messages.post_service(post, time).tolist()
        if number:
            self._contents[number] = arrivals, contents
        return bool(number)

    def connected(self, vehicle: str, station: str) -> bool:
        """Return whether there is a route between a vehicle and a station in both directions."""
        return self._stage.connected(vehicle, station)

    def advance(self, time: float) -> None:
        """Handle all transmissions up to a time (s)."""
        if self._epoch != self._stage.epoch or time < self._time:
            self._clear()
        self._time, view = time, self._packets.fitted()
        if view.radios is not self._radios:
            self._follow(view)
        if view.links.tick != self._linked:
            updated = min(view.links.tick / self._packets.rate, time)
            self._messages.advance(updated)
            self._messages.relink(self._packets.channel_links(view), self._packets.graph(), updated)
            self._linked = view.links.tick
        self._messages.advance(time)
        for number in self._messages.take_service(COMMAND, time).number.tolist():
            arrivals, contents = self._contents.pop(number)
            arrivals.append(contents)
        if len(self._contents) > 2 * self._messages.n * self.section.queue:  # others were lost
            queued = set(self._messages.queued(COMMAND)[:, 0].tolist())
            self._contents = {number: kept for number, kept in self._contents.items() if number in queued}

    def _follow(self, view: RadioView) -> None:
        """Follow the radios that have come or gone: transmissions start again, packets of removed ones are lost."""
        messages, devices = self._messages, devices_of(view.radios, self.section)
        index = {stream: k for k, stream in enumerate(devices.streams.tolist())}
        place = np.array([index.get(stream, -1) for stream in messages.devices.streams.tolist()], np.int64)
        drop_removed(messages.state, place < 0)
        state = new_packets(len(index), self.section)
        transfer(messages.state, state, RADIO, place)
        reset_radios(state, self.section.window[0], messages.slot_at(self._time))
        messages.set_state(state, devices)
        self._radios, self._linked = view.radios, -1
