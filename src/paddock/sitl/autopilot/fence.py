"""The geofence: a circle and heights around home, and the uploaded zones; what happens outside."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.crafts import drives
from paddock.sitl.autopilot.local_frame import LocalFrame
from paddock.sitl.autopilot.mission_item import MissionItem
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.responses import STOP, respond, steps
from paddock.sitl.autopilot.telemetry import Landed
from paddock.sitl.autopilot.zones import Zone, zones_of

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

ALT_MAX, CIRCLE, POLYGON, ALT_MIN = 1, 2, 4, 8
"""Bits of FENCE_TYPE."""

NAMES = {ALT_MAX: "Max Alt", CIRCLE: "Circle", POLYGON: "Polygon", ALT_MIN: "Min Alt"}
BREACH = {0: 0, ALT_MIN: 1, ALT_MAX: 2, CIRCLE: 3, POLYGON: 3}
"""FENCE_BREACH of each bit."""

FURTHER = 20.0  # m outside of the last action at which it acts again
TOO_FAR = 100.0  # m outside at which coming back is given up
PERIOD_US = 100_000
RANK = 3  # among failsafes: as a low battery


class Fence:
    """Watches ten times a second while FENCE_ENABLE is set and the position is known."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.breaches = 0  # bits of FENCE_TYPE that are breached now
        self.count = 0  # breaches since boot
        self.last = 0  # FENCE_BREACH of the last breach
        self.last_us = 0  # when that was
        self._items: tuple[MissionItem, ...] = ()
        self._frame: LocalFrame | None = None
        self._zones: tuple[Zone, ...] = ()
        self._acted_at: dict[int, float] = {}  # m outside at the last action, by bit
        self._looked_us = -PERIOD_US

    @property
    def enabled(self) -> bool:
        """Whether it is watched."""
        return self.autopilot.parameters.value("FENCE_ENABLE") > 0.0

    @property
    def breached(self) -> bool:
        """Whether the vehicle is outside now."""
        return self.breaches != 0

    @property
    def needs_position(self) -> bool:
        """Whether it watches anything on the map."""
        return self.enabled and bool(self.autopilot.parameters.whole("FENCE_TYPE") & (CIRCLE | POLYGON))

    def use(self, items: Sequence[MissionItem]) -> None:
        """Another uploaded plan."""
        self._items, self._frame = tuple(items), None
        self._zones = ()

    def zones(self) -> tuple[Zone, ...]:
        """The uploaded zones in the local frame; none while there is no origin."""
        frame = self.autopilot.frame
        if frame is not None and frame is not self._frame:
            self._frame, self._zones = frame, zones_of(self._items, frame)
        return self._zones

    def update(self) -> None:
        """Look where the vehicle is."""
        now = self.autopilot.now_us
        if now - self._looked_us < PERIOD_US:
            return
        self._looked_us = now
        if not self.enabled:
            self._forget()
        elif self.autopilot.home is not None and self.autopilot.estimate.position_ok:
            for bit in NAMES:
                self._look(bit)

    def _forget(self) -> None:
        self.breaches = 0
        self._acted_at.clear()

    def disarmed(self) -> None:
        """Nothing is done about a breach any more; it counts anew when the vehicle is armed."""
        self._acted_at.clear()

    def allows(self, north: float, east: float, down: float) -> bool:
        """Whether a place in the local frame may be gone to; the least height does not matter: it may land there."""
        if not self.enabled or self.autopilot.home is None:
            return True
        return all(self.outside(bit, north, east, down) <= 0.0 for bit in (ALT_MAX, CIRCLE, POLYGON))

    def outside(self, bit: int, north: float, east: float, down: float) -> float:
        """How far a place is outside of that part of the fence, m; negative inside, -inf if it is not watched."""
        parameters = self.autopilot.parameters
        if not parameters.whole("FENCE_TYPE") & bit:
            return -inf
        home = self.autopilot.home_ned()
        if bit == CIRCLE:
            return hypot(north - home[0], east - home[1]) - parameters.value("FENCE_RADIUS")
        if bit == POLYGON:
            return max((zone.outside(north, east) for zone in self.zones()), default=-inf)
        return self._height(bit, home[2] - down)

    def _height(self, bit: int, height: float) -> float:
        """Rovers have no height to keep, and nobody is too low before the start."""
        parameters = self.autopilot.parameters
        if drives(self.autopilot.craft.kind):
            return -inf
        if bit == ALT_MAX:
            return height - parameters.value("FENCE_ALT_MAX")
        flying = self.autopilot.telemetry.landed == Landed.IN_AIR
        return parameters.value("FENCE_ALT_MIN") - height if flying else -inf

    def _look(self, bit: int) -> None:
        here = self.autopilot.estimate
        outside = self.outside(bit, here.north, here.east, here.down)
        if self.breaches & bit:
            if outside < -self._margin(outside):
                self._clear(bit)
                return
        elif outside > 0.0:
            self._breach(bit, outside)
        if self.breaches & bit and self.autopilot.armed and outside > self._acted_at.get(bit, -inf) + FURTHER:
            self._act(bit, outside)

    def _margin(self, outside: float) -> float:
        return self.autopilot.parameters.value("FENCE_MARGIN") if outside > -inf else 0.0

    def _breach(self, bit: int, outside: float) -> None:
        self.breaches |= bit
        self.count += 1
        self.last, self.last_us = BREACH[bit], self.autopilot.now_us
        self.autopilot.say(Severity.CRITICAL, f"{NAMES[bit]} fence breached by {outside:.1f}m")

    def _clear(self, bit: int) -> None:
        self.breaches &= ~bit
        self._acted_at.pop(bit, None)
        self.autopilot.say(Severity.NOTICE, f"{NAMES[bit]} fence breach cleared")

    def _act(self, bit: int, outside: float) -> None:
        """A vehicle that is far outside on its way back does not come back any more: it stops."""
        wanted = steps(self.autopilot, "FENCE_ACTION")
        if bit in self._acted_at:
            self.autopilot.say(Severity.CRITICAL, f"{NAMES[bit]} fence: {outside:.0f}m outside")
        self._acted_at[bit] = outside
        if wanted and outside > TOO_FAR:
            wanted = (STOP,)
        if not self.autopilot.failsafes.outranks(RANK):
            respond(self.autopilot, wanted, "Fence breach")
