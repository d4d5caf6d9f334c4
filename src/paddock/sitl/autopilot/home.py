"""Where the vehicle comes back to: home, or the nearest rally point."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.local_frame import LocalFrame
from paddock.sitl.autopilot.mission_item import Frame, PlanKind
from paddock.sitl.autopilot.notices import HomeChanged

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

Place = tuple[float, float, float]


class Home:
    """Set at the first good position and again at every arming, unless somebody has set it."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.place: Place | None = None  # deg, deg, m above sea level
        self.locked = False  # by DO_SET_HOME: arming does not move it
        self._frame: LocalFrame | None = None
        self._ned: Place = (0.0, 0.0, 0.0)

    def update(self) -> None:
        """Take the first good position."""
        if self.place is None and self.autopilot.estimate.position_ok:
            self.set_here()

    def set_here(self) -> bool:
        """Home is where the vehicle is; False if it does not know."""
        estimate, frame = self.autopilot.estimate, self.autopilot.frame
        if frame is None or not estimate.position_ok:
            return False
        self.set(frame.to_geodetic(estimate.north, estimate.east, estimate.down))
        return True

    def set(self, place: Place) -> None:
        """Home is there: deg, deg, m above sea level."""
        self.place, self._frame = place, None
        self.autopilot.outbox.append(HomeChanged())

    def at_arming(self) -> None:
        """Home is where the vehicle starts from."""
        if not self.locked:
            self.set_here()

    def ned(self) -> Place:
        """Home in the local frame, m; the origin while there is none."""
        frame = self.autopilot.frame
        if self.place is None or frame is None:
            return 0.0, 0.0, 0.0
        if frame is not self._frame:
            self._frame, self._ned = frame, frame.to_ned(*self.place)
        return self._ned

    def to_ned(self, latitude: float, longitude: float, altitude: float, frame: int) -> Place | None:
        """A place with an altitude as the frame says, in the local frame; None while there is no origin."""
        local = self.autopilot.frame
        if local is None:
            return None
        north, east, down = local.to_ned(latitude, longitude, altitude)
        return north, east, down if frame == Frame.GLOBAL else self.ned()[2] - altitude

    def return_point(self) -> Place:
        """The nearest rally point within RALLY_LIMIT_KM, or home."""
        autopilot = self.autopilot
        items = autopilot.plans[PlanKind.RALLY]
        if not items or autopilot.frame is None:
            return self.ned()
        points = [self.to_ned(item.x, item.y, item.z, item.frame) for item in items]
        limit = autopilot.parameters.value("RALLY_LIMIT_KM") * 1000.0
        usable = [p for p in points if p is not None and (limit <= 0.0 or self.distance(p) <= limit)]
        if autopilot.parameters.value("RALLY_INCL_HOME") or not usable:
            usable.append(self.ned())
        return min(usable, key=self.distance)

    def distance(self, point: Place) -> float:
        """m on the map from the vehicle to a point in the local frame."""
        estimate = self.autopilot.estimate
        return hypot(point[0] - estimate.north, point[1] - estimate.east)
