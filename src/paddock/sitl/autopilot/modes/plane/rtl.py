"""RTL: fly home (or to the nearest rally point) and circle there."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.plane.flying import PlaneMode


class Rtl(PlaneMode):
    """At RTL_ALTITUDE above home."""

    name, number, can_arm = "RTL", 11, False

    def enter(self) -> None:
        """Where to, and how high."""
        north, east, _ = self.autopilot.return_point()
        self.centre = (north, east)
        height = self.value("RTL_ALTITUDE")
        down = self.autopilot.home_ned()[2] - height
        self.down = self.autopilot.estimate.down if height < 0.0 else down

    def update(self, dt: float) -> None:
        """Straight there: a circle's far field points at its edge."""
        self.circle(self.centre, self.down)
