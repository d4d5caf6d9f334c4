"""GUIDED: go where a ground station or a companion says."""

from __future__ import annotations

from math import atan2, cos, hypot, isnan, sin

from paddock.sitl.autopilot.control.rover_path import Point
from paddock.sitl.autopilot.modes.rover.driving import DrivingMode
from paddock.sitl.autopilot.modes.rover.station import Station
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.targets import GuidedTarget

STALE_US = 3_000_000
STILL = 0.01  # m/s: slower has no direction


class Guided(DrivingMode):
    """A position, a velocity (with a turn rate, if given), or a heading with a speed. Without an order it stands."""

    name, number = "GUIDED", 15

    def enter(self) -> None:
        """Orders from before do not count, unless one has come together with the mode."""
        super().enter()
        if self.autopilot.guided.time_us < self.autopilot.now_us:
            self.autopilot.guided = GuidedTarget()
        self._station: Station | None = None
        self._told = False

    def update(self, dt: float) -> None:
        """Follow the newest order."""
        order = self.autopilot.guided
        if order.position is not None:
            self._go(order.position[:2], order.speed)
            return
        self._station = None
        if order.time_us < 0 or self._stale(order):
            self.driver.halt()
        elif order.velocity is not None:
            self._move(order.velocity, order)
        else:
            self._head(order)

    def _stale(self, order: GuidedTarget) -> bool:
        old = self.autopilot.now_us - order.time_us > STALE_US
        if old and not self._told:
            self.autopilot.say(Severity.WARNING, "Guided: no order for 3 s, stopping")
        self._told = old
        return old

    def _go(self, place: Point, speed: float) -> None:
        if self._station is None or self._station.place != place:
            self._station = Station(self.driver, place, self.value("LOIT_RADIUS"))
            self._station.approach(self.driver.position)
        self._station.keep(0.0 if isnan(speed) else speed)

    def _move(self, velocity: tuple[float, float, float], order: GuidedTarget) -> None:
        """With a turn rate or a heading of its own, the velocity counts along the nose: it may be negative."""
        yaw = self.autopilot.estimate.yaw
        forward = velocity[0] * cos(yaw) + velocity[1] * sin(yaw)
        if not isnan(order.yaw_rate):
            self.driver.rates(forward, order.yaw_rate)
        elif not isnan(order.yaw):
            self.driver.heading(order.yaw, forward)
        elif hypot(*velocity[:2]) < STILL:
            self.driver.halt()
        else:
            self.driver.heading(atan2(velocity[1], velocity[0]), hypot(*velocity[:2]))

    def _head(self, order: GuidedTarget) -> None:
        """A heading or a turn rate, and a speed."""
        speed = 0.0 if isnan(order.speed) else order.speed
        if isnan(order.yaw):
            self.driver.rates(speed, 0.0 if isnan(order.yaw_rate) else order.yaw_rate)
        else:
            self.driver.heading(order.yaw, speed)
