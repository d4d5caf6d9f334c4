"""Landing: down fast, then slowly near the ground, over one place; level where the position is lost."""

from __future__ import annotations

from math import isfinite

from paddock.sitl.autopilot.control.copter_track import Limits
from paddock.sitl.autopilot.modes.copter.flying import CopterMode

NEAR = 1.0  # m: how close over the place the descent begins
RANGEFINDER_MAX = 40.0  # m
LEASH = 3.0  # m that the way down may be ahead of a copter that stands
SLOWING = 0.5  # 1/s: speed per height above where the slow part begins


class Descent:
    """A landing at a place (m north and east; None: where the copter comes to rest), for the mode that flies it."""

    def __init__(self, mode: CopterMode, place: tuple[float, float] | None = None) -> None:
        self.mode, self.place = mode, place
        self._over = place is None  # whether it is above the place

    def update(self, dt: float) -> None:
        """Move the setpoint; the mode's craft knows when it stands."""
        mode, track = self.mode, self.mode.craft.track
        level = mode.level_limits()
        if self.place is None:
            vn, ve = mode.pilot_velocity(min(level.speed, 5.0))
            track.steer(vn, ve, level, dt)
        else:
            track.seek(*self.place, level, dt)
            mode.report(*self.place, mode.autopilot.estimate.down)
        self._over = self._over or (self.place is not None and track.distance(*self.place) < NEAR)
        vertical = mode.vertical_limits()
        track.climb(-self.speed() if self._over else 0.0, Limits(10.0, vertical.acceleration, vertical.jerk), dt)
        track.down = min(track.down, mode.autopilot.estimate.down + LEASH)
        mode.craft.heading.spin(0.0, dt)
        if mode.autopilot.estimate.position_ok:
            mode.craft.follow()
        else:
            self._come_down_anywhere()

    def _come_down_anywhere(self) -> None:
        """Without a position there is no place to hold: level, or as a pilot leans it."""
        mode = self.mode
        mode.craft.track.begin_horizontal(mode.autopilot.estimate)
        self.place, self._over = None, True
        mode.craft.lean(*mode.pilot_lean())

    def speed(self) -> float:
        """m/s downwards at the present height above the ground."""
        value = self.mode.value
        fast = (value("LAND_SPEED_HIGH") or value("WPNAV_SPEED_DN")) / 100.0
        slow = value("LAND_SPEED") / 100.0
        above = self.height() - value("LAND_ALT_LOW") / 100.0
        return max(slow, min(fast, slow + SLOWING * above))

    def height(self) -> float:
        """m above the ground: as the rangefinder says, else above home."""
        autopilot = self.mode.autopilot
        sensors = autopilot.telemetry.sensors
        if sensors is not None and isfinite(sensors.range_1) and 0.0 < sensors.range_1 < RANGEFINDER_MAX:
            return sensors.range_1
        return autopilot.home_ned()[2] - autopilot.estimate.down
