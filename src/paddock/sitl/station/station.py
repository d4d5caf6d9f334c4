"""The scenario's own ground station: an errand for each vehicle that has a mission."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.autopilot.estimate import LocalFrame
from paddock.sitl.autopilot.mission.items import MissionItem
from paddock.sitl.mavlink.packets import PacketReader
from paddock.sitl.station.errand import Errand, Plan, Stage
from paddock.sitl.station.memory_link import MemoryLink
from paddock.sitl.station.missions import mission_file, point_mission

if TYPE_CHECKING:
    from paddock.sitl.hosting.crew import Seat
    from paddock.sitl.mavlink.hub import MavlinkHub

PERIOD_US = 20_000
"""Simulated us between two looks at what the vehicles say."""


class Station:
    """Serviced by the ticking thread, on simulated time."""

    def __init__(self, hub: MavlinkHub, seats: Sequence[Seat]) -> None:
        self._seats, self._reader = list(seats), PacketReader()
        self._links: dict[int, MemoryLink] = {}
        for seat in self._seats:
            link = self._links[seat.placed.id] = MemoryLink()
            vehicle = hub.vehicles[seat.placed.id]
            link.vehicles[seat.placed.id] = vehicle
            vehicle.links.append(link)
        self._begin()

    def _begin(self) -> None:
        self._now_us = -PERIOD_US
        self.errands = [Errand(_plan(seat), self._links[seat.placed.id]) for seat in self._seats]

    def service(self, now_us: int) -> None:
        """Do what is to be done at this simulated time; a time that has gone back begins everything anew."""
        if now_us < self._now_us:
            self._begin()
        if now_us - self._now_us < PERIOD_US:
            return
        self._now_us = now_us
        for errand in self.errands:
            errand.update(now_us)
            errand.link.receive(self._reader, monotonic())

    def notes(self) -> dict[int, str]:
        """What it does with each vehicle, while that is not under way."""
        busy = [errand for errand in self.errands if errand.stage is not Stage.UNDER_WAY]
        return {errand.plan.sysid: errand.note or errand.stage.value for errand in busy}


def _plan(seat: Seat) -> Plan:
    autopilot = seat.pilot
    assert isinstance(autopilot, BuiltInAutopilot)
    auto = autopilot.mode_number("AUTO")
    return Plan(seat.placed.id, 0 if auto is None else auto, _items(seat, autopilot), round(seat.pilots.start * 1e6))


def _items(seat: Seat, autopilot: BuiltInAutopilot) -> Callable[[], list[MissionItem] | None]:
    mission = seat.pilots.mission
    if isinstance(mission, str):
        items = mission_file(mission, seat.placed.craft)
        return lambda: items
    points = mission or ()

    def around_home() -> list[MissionItem] | None:
        home = autopilot.home
        return None if home is None else point_mission(points, LocalFrame(*home), seat.placed.craft)

    return around_home
