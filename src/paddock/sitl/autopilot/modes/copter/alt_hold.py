"""ALT_HOLD: the sticks are angles, the throttle is climb, its middle holds the height."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.copter.flying import CopterMode


class AltHold(CopterMode):
    """The pilot leans the copter, which keeps its height."""

    name, number, needs_position = "ALT_HOLD", 2, False

    def update(self, dt: float) -> None:
        """Lean as the sticks say, climb as the throttle says."""
        climb = self.pilot_climb()
        if self.stays_down(climb > 0.0) or self.rising():
            return
        track = self.craft.track
        track.begin_horizontal(self.autopilot.estimate)
        track.climb(climb, self.vertical_limits("PILOT_SPEED_UP", "PILOT_ACCEL_Z"), dt)
        track.leash(self.autopilot.estimate)
        self.pilot_turn(dt)
        self.craft.lean(*self.pilot_lean())
