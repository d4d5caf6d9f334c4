"""SMARTRTL: drive back the way it came, without its detours."""

from __future__ import annotations

from paddock.sitl.autopilot.control.rover_path import Point
from paddock.sitl.autopilot.modes.rover.driving import DrivingMode
from paddock.sitl.autopilot.modes.rover.station import Station
from paddock.sitl.autopilot.notices import Severity


class SmartRtl(DrivingMode):
    """Along the trail that was kept since arming; the last stretch is as RTL's."""

    name, number, can_arm = "SMARTRTL", 12, False

    def refusal(self) -> str:
        """The way must be known to its start."""
        trail = self.rover.trail
        return "the way back is not known" if trail.full or not trail.points else ""

    def enter(self) -> None:
        """Take the way; what is driven from now on does not belong to it."""
        super().enter()
        self.start: Point = self.driver.position
        self.way = self.rover.trail.way_back(self.start)
        self.station = Station(self.driver, self.way[-1], self.value("LOIT_RADIUS"))
        self.autopilot.say(Severity.INFO, f"SmartRTL: {len(self.way)} points")

    def update(self, dt: float) -> None:
        """To the next point of the way, the last of which is kept."""
        speed = self.value("RTL_SPEED")
        if len(self.way) == 1:
            self.station.approach(self.start)
            self.way = []
        if not self.way:
            self.station.keep(speed)
            return
        lead = self.driver.along(self.start, self.way[0], self.way[1], speed)
        if self.driver.reached(self.start, self.way[0], lead):
            self.start = self.way.pop(0)
