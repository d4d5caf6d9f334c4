"""Taking off: open the throttle until the copter rises, then climb straight up."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.copter.flying import CopterMode

NEAR = 0.3  # m below the wanted height at which the climb is over


class TakeOff:
    """A climb to a height (m down in the local frame), for the mode that flies it."""

    def __init__(self, mode: CopterMode, down: float) -> None:
        self.mode, self.down = mode, down
        self._place: tuple[float, float] | None = None

    def shift(self, north: float, east: float) -> None:
        """The estimate has jumped by so much (m): climb on over the same place."""
        if self._place is not None:
            self._place = self._place[0] + north, self._place[1] + east

    def update(self, dt: float) -> bool:
        """Move the setpoint; whether the height is reached."""
        mode, craft = self.mode, self.mode.craft
        if mode.rising():
            return False
        if self._place is None:
            self._place = craft.track.north, craft.track.east
            craft.track.vn = craft.track.ve = 0.0
        mode.seek(*self._place, self.down, dt)
        craft.heading.spin(0.0, dt)
        mode.report(*self._place, self.down)
        craft.follow()
        return abs(mode.autopilot.estimate.down - self.down) < NEAR or mode.autopilot.estimate.down < self.down
