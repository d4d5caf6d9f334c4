"""Home and rally points: where the vehicle returns to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.mission.items import AltitudeFrame, MissionItem, MissionResult, PlanKind, check_position
from paddock.sitl.autopilot.telemetry import HomeChanged

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

RALLY_POINT = 5100  # MAV_CMD_NAV_RALLY_POINT
MAX_RALLY_ALTITUDE = 100_000.0  # m


class HomePosition:
    """Set at the first valid position and on every arming, unless DO_SET_HOME has fixed it."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.place: tuple[float, float, float] | None = None  # deg, deg, m above sea level
        self.locked = False  # by DO_SET_HOME: arming does not move it

    def update(self) -> None:
        """Set home at the first valid position."""
        if self.place is None and self.autopilot.estimate.position_ok:
            self.set_here()

    def set_here(self) -> bool:
        """Set home to the current position; return False if that is unknown."""
        estimate, frame = self.autopilot.estimate, self.autopilot.frame
        if frame is None or not estimate.position_ok:
            return False
        self.set(frame.to_geodetic(estimate.north, estimate.east, estimate.down))
        return True

    def set(self, place: tuple[float, float, float]) -> None:
        """Set home: deg, deg, m above sea level."""
        self.place = place
        self.autopilot.outbox.append(HomeChanged())

    def ned(self) -> Ned:
        """Return home in the local frame; the origin while home is unknown."""
        frame = self.autopilot.frame
        return (0.0, 0.0, 0.0) if self.place is None or frame is None else frame.to_ned(*self.place)

    def to_ned(self, latitude: float, longitude: float, altitude: float, frame: int) -> Ned | None:
        """Convert a position whose altitude is relative to `frame`; None without an origin."""
        local = self.autopilot.frame
        if local is None:
            return None
        north, east, down = local.to_ned(latitude, longitude, altitude)
        return north, east, down if frame == AltitudeFrame.GLOBAL else self.ned()[2] - altitude

    def return_point(self) -> Ned:
        """Return the nearest rally point within RALLY_LIMIT_KM, or home."""
        autopilot = self.autopilot
        items = autopilot.plans[PlanKind.RALLY]
        if not items or autopilot.frame is None:
            return self.ned()
        points = [self.to_ned(item.x, item.y, item.z, item.frame) for item in items]
        distance = autopilot.estimate.distance
        limit = autopilot.parameters.value("RALLY_LIMIT_KM") * 1000.0
        usable = [p for p in points if p is not None and (limit <= 0.0 or distance(p) <= limit)]
        if autopilot.parameters.value("RALLY_INCL_HOME") or not usable:
            usable.append(self.ned())
        return min(usable, key=distance)


def check_rally_item(item: MissionItem) -> int:
    """Return the MAV_MISSION_RESULT of a rally point."""
    if item.command != RALLY_POINT:
        return MissionResult.UNSUPPORTED
    if not -MAX_RALLY_ALTITUDE <= item.z <= MAX_RALLY_ALTITUDE:
        return MissionResult.INVALID_PARAM7
    return check_position(item)
