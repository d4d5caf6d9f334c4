"""STABILIZE: the sticks are angles, the throttle is thrust."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.copter.flying import NEUTRAL, CopterMode


class Stabilize(CopterMode):
    """The pilot flies; the copter levels itself when the sticks are released."""

    name, number, needs_position = "STABILIZE", 0, False

    def update(self, dt: float) -> None:
        """Lean as the sticks say; a throttle in its middle carries the weight."""
        sticks = self.sticks()
        throttle = 0.0 if sticks is NEUTRAL and self.craft.landed else sticks.throttle
        if self.stays_down(throttle > 0.05):
            return
        self.pilot_turn(dt)
        self.craft.track.begin(self.autopilot.estimate)
        self.craft.push(*self.pilot_lean(), self._share(throttle))

    def _share(self, throttle: float) -> float:
        """Share of full thrust: 0 at the bottom, what carries the weight in the middle, 1 at the top."""
        hover = self.craft.hover
        return 2.0 * throttle * hover if throttle < 0.5 else hover + (2.0 * throttle - 1.0) * (1.0 - hover)
