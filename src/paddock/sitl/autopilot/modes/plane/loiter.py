"""The modes that circle: LOITER and RTL."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.plane.common import PlaneMode

NO_POSITION_BANK = 0.35  # rad


class PlaneLoiter(PlaneMode):
    """Circle the position and altitude of entry; bank gently without a position."""

    name, number, needs_position = "LOITER", 12, False

    def enter(self) -> None:
        """Keep the current position and altitude."""
        self.centre, self.down = self.place, self.autopilot.estimate.down
        self._lost = not self.autopilot.estimate.position_ok

    def update(self, dt: float) -> None:
        """Continue the circle."""
        known = bool(self.autopilot.estimate.position_ok)
        if known and self._lost:
            self.centre = self.place
        self._lost = not known
        if known:
            self.circle(self.centre, self.down)
        else:
            self.fly(NO_POSITION_BANK, self.down)


class PlaneRtl(PlaneMode):
    """Fly to home or the nearest rally point, at RTL_ALTITUDE above home, and circle there."""

    name, number, can_arm = "RTL", 11, False

    def enter(self) -> None:
        """Choose position and altitude."""
        north, east, _ = self.autopilot.home_position.return_point()
        self.centre, self.down = (north, east), self.return_altitude()

    def update(self, dt: float) -> None:
        """Fly there: far from a circle, its guidance leads straight to it."""
        self.circle(self.centre, self.down)
