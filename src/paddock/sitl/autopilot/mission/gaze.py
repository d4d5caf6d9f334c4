"""What the nose of a copter points at in AUTO and GUIDED, as the mission or a ground station asked (ROI)."""

from __future__ import annotations

from math import atan2, hypot, nan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.mission.places import Place

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

NEAR = 1.0  # m: so close above the place there is no direction to it


class Gaze:
    """The place that is looked at, if any; it is held until told otherwise, or until a mission begins anew."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.place: Place | None = None  # m north, east, down

    def look(self, place: Place | None) -> None:
        """Towards a place; None: along the way again."""
        self.place = place

    def yaw(self) -> float:
        """rad, where the nose should point; NaN if there is nothing to look at."""
        if self.place is None:
            return nan
        now = self.autopilot.estimate
        north, east = self.place[0] - now.north, self.place[1] - now.east
        return atan2(east, north) if hypot(north, east) > NEAR else now.yaw
