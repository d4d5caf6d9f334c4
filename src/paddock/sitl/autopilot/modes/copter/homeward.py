"""Coming home: climb, return, wait, land."""

from __future__ import annotations

from math import nan

from paddock.sitl.autopilot.modes.copter.descent import Descent
from paddock.sitl.autopilot.modes.copter.flying import CopterMode, bearing

HIGH_ENOUGH = 0.5  # m below the wanted height at which the climb is over
THERE = 0.5  # m
SLOW = 0.3  # m/s
FAR = 3.0  # m: nearer than that the nose stays


class Homeward:
    """The way home of the mode that flies it. `landing` tells that the last part has begun."""

    def __init__(self, mode: CopterMode) -> None:
        self.mode = mode
        self.landing = False
        autopilot = mode.autopilot
        self.north, self.east, _ = autopilot.return_point()
        self.down = min(autopilot.estimate.down, autopilot.home_ned()[2] - mode.value("RTL_ALT") / 100.0)
        self._climbing, self._waited = True, 0.0
        self._descent = Descent(mode, (self.north, self.east))

    def update(self, dt: float) -> None:
        """Move the setpoint."""
        if self.landing:
            self._descent.update(dt)
        elif self._climbing:
            self._climb(dt)
        else:
            self._return(dt)

    def _climb(self, dt: float) -> None:
        mode = self.mode
        mode.craft.track.steer(0.0, 0.0, mode.level_limits(), dt)
        mode.seek_height(self.down, dt)
        mode.craft.heading.spin(0.0, dt)
        mode.craft.follow()
        self._climbing = mode.autopilot.estimate.down > self.down + HIGH_ENOUGH
        mode.report(self.north, self.east, self.down)

    def _return(self, dt: float) -> None:
        mode, track = self.mode, self.mode.craft.track
        mode.seek(self.north, self.east, self.down, dt, (mode.value("RTL_SPEED") or nan) / 100.0)
        self._face(dt)
        mode.craft.follow()
        mode.report(self.north, self.east, self.down)
        if track.distance(self.north, self.east) < THERE and track.speed < SLOW:
            self._wait(dt)

    def _face(self, dt: float) -> None:
        mode, track = self.mode, self.mode.craft.track
        if mode.value("WP_YAW_BEHAVIOR") in (1, 3) and track.distance(self.north, self.east) > FAR:
            mode.turn_to(bearing(self.north - track.north, self.east - track.east, mode.craft.heading.yaw), dt)
        else:
            mode.craft.heading.spin(0.0, dt)

    def _wait(self, dt: float) -> None:
        """Above home: land, or come down to the height that is to be the end."""
        self._waited += dt
        if self._waited < self.mode.value("RTL_LOIT_TIME") / 1000.0:
            return
        final = self.mode.value("RTL_ALT_FINAL") / 100.0
        if final > 0.0:
            self.down = self.mode.autopilot.home_ned()[2] - final
        else:
            self.landing = True
