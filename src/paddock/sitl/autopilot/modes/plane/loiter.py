"""LOITER: circle where it is."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.plane.flying import PlaneMode


class Loiter(PlaneMode):
    """Circles the place where the mode began, at that height; without a position it banks gently."""

    name, number, needs_position = "LOITER", 12, False

    def enter(self) -> None:
        """Here."""
        self.centre, self.down = self.place, self.autopilot.estimate.down
        self._lost = not self.autopilot.estimate.position_ok

    def update(self, dt: float) -> None:
        """Round and round."""
        known = bool(self.autopilot.estimate.position_ok)
        if known and self._lost:
            self.centre = self.place
        self._lost = not known
        if known:
            self.circle(self.centre, self.down)
        else:
            self.fly(GENTLE, self.down)


GENTLE = 0.35  # rad
