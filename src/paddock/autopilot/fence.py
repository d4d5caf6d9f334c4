"""The geofence: circle and altitudes around home, and uploaded polygons and circles (zones)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import hypot, inf, isfinite
from typing import TYPE_CHECKING, ClassVar

import shapely
from shapely.geometry.base import BaseGeometry

from paddock.autopilot.contract import drives
from paddock.autopilot.estimate import LocalFrame, Ned
from paddock.autopilot.failsafe import GUIDED, STOP, mode_of, respond, steps
from paddock.autopilot.guided import GuidedTarget, set_target
from paddock.autopilot.mission_items import MissionItem, MissionResult, PlanKind, check_position
from paddock.autopilot.telemetry import Landed, ModeReason, Severity

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

ALT_MAX, CIRCLE, POLYGON, ALT_MIN = 1, 2, 4, 8  # bits of FENCE_TYPE

NAMES = {ALT_MAX: "Max Alt", CIRCLE: "Circle", POLYGON: "Polygon", ALT_MIN: "Min Alt"}
BREACH = {0: 0, ALT_MIN: 1, ALT_MAX: 2, CIRCLE: 3, POLYGON: 3}  # FENCE_BREACH of each bit

ROOM = 10.0  # m between the fence and the circle of a plane that has returned
REPEAT_DISTANCE = 20.0  # m further outside at which the action is repeated
GIVE_UP_DISTANCE = 100.0  # m outside at which copters land and rovers hold instead of returning
RANK = 3  # among failsafes: as a low battery
MIN_VERTICES = 3
MIN_POLYGON_WIDTH = 0.1  # m
MAX_RADIUS = 100_000.0  # m

# MAV_CMD_NAV_FENCE_...
RETURN_POINT = 5000
VERTICES = (5001, 5002)  # of an inclusion, of an exclusion
CIRCLES = (5003, 5004)
INCLUSIONS = (5001, 5003)


@dataclass(frozen=True)
class FenceZone:
    """A polygon, or a circle around a point, that must not be left (`inclusion`) or entered."""

    inclusion: bool
    shape: shapely.Polygon | shapely.Point  # m north, east
    radius: float = 0.0  # m

    def outside(self, north: float, east: float) -> float:
        """Return how far a point is on the wrong side, m; negative on the right side."""
        here = shapely.Point(north, east)
        if isinstance(self.shape, shapely.Point):
            distance = self.shape.distance(here) - self.radius
        else:
            distance = self.shape.exterior.distance(here) * (-1.0 if self.shape.contains(here) else 1.0)
        return distance if self.inclusion else -distance


def _groups(items: Sequence[MissionItem]) -> Iterator[tuple[int, Sequence[MissionItem]]]:
    """Yield the vertices of each polygon, and every other item alone, with the index of the first."""
    k = 0
    while k < len(items):
        count = int(items[k].p1) if items[k].command in VERTICES else 1
        yield k, items[k : k + count]
        k += count


def fence_zones(items: Sequence[MissionItem], frame: LocalFrame) -> tuple[FenceZone, ...]:
    """Return the zones of a checked fence plan in a local frame."""
    zones: list[FenceZone] = []
    for _, (first, *others) in _groups(items):
        if first.command in (*VERTICES, *CIRCLES):
            points = [frame.to_ned(item.x, item.y, 0.0)[:2] for item in (first, *others)]
            round_zone = first.command in CIRCLES
            shape = shapely.Point(points[0]) if round_zone else shapely.Polygon(points)
            zones.append(FenceZone(first.command in INCLUSIONS, shape, first.p1 if round_zone else 0.0))
    return tuple(zones)


def check_fence_item(item: MissionItem) -> int:
    """Return the MAV_MISSION_RESULT of a fence item."""
    if item.command not in (RETURN_POINT, *VERTICES, *CIRCLES):
        return MissionResult.UNSUPPORTED
    if item.command in VERTICES and not (isfinite(item.p1) and item.p1 == int(item.p1) >= MIN_VERTICES):
        return MissionResult.INVALID_PARAM1
    if item.command in CIRCLES and not 0.0 < item.p1 <= MAX_RADIUS:
        return MissionResult.INVALID_PARAM1
    return check_position(item)


def check_polygons(items: Sequence[MissionItem]) -> tuple[int, int]:
    """Check that vertices of a polygon are consecutive, have equal counts and enclose an area: result and index."""
    for k, group in _groups(items):
        first = group[0]
        for index, item in enumerate(group, k):
            if item.command != first.command or item.p1 != first.p1:
                return MissionResult.INVALID_PARAM1, index
        if first.command in VERTICES and len(group) < first.p1:
            return MissionResult.INVALID_PARAM1, k
        if first.command in VERTICES and _width(group) < MIN_POLYGON_WIDTH:
            return MissionResult.INVALID, k
    return MissionResult.ACCEPTED, 0


def _width(vertices: Sequence[MissionItem]) -> float:
    """Return how far the vertices are from lying on one line, m."""
    frame = LocalFrame(vertices[0].x, vertices[0].y, 0.0)
    points = [frame.to_ned(vertex.x, vertex.y, 0.0)[:2] for vertex in vertices]
    n, e = max(points, key=lambda point: hypot(*point))
    length = hypot(n, e)
    return max(abs(north * e - east * n) / length for north, east in points) if length > 0.0 else 0.0


@dataclass(eq=False)
class Fence:
    """Checks the fence ten times a second while FENCE_ENABLE is set and the position is valid."""

    unsaved: ClassVar[tuple[str, ...]] = ("_items", "_frame", "_zones")
    autopilot: "BuiltInAutopilot"
    breaches: int = 0  # bits of FENCE_TYPE that are breached now
    count: int = 0  # breaches since boot
    last: int = 0  # FENCE_BREACH of the last breach
    last_us: int = 0  # its time
    _acted_at: dict[int, float] = field(default_factory=dict)  # m outside at the last action, by bit
    _items: tuple[MissionItem, ...] = ()  # from which `_zones` were derived
    _frame: LocalFrame | None = None
    _zones: tuple[FenceZone, ...] = ()

    @property
    def enabled(self) -> bool:
        """Whether FENCE_ENABLE is set."""
        return self.autopilot.parameters.value("FENCE_ENABLE") > 0.0

    @property
    def breached(self) -> bool:
        """Whether the vehicle is outside now."""
        return self.breaches != 0

    @property
    def needs_position(self) -> bool:
        """Whether the fence has horizontal limits."""
        return self.enabled and bool(self.autopilot.parameters.whole("FENCE_TYPE") & (CIRCLE | POLYGON))

    def zones(self) -> tuple[FenceZone, ...]:
        """Return the uploaded zones in the local frame; empty without an origin."""
        frame, items = self.autopilot.frame, self.autopilot.plans[PlanKind.FENCE]
        if frame is None:
            return ()
        if frame is not self._frame or items is not self._items:
            self._frame, self._items, self._zones = frame, items, fence_zones(items, frame)
        return self._zones

    def update(self) -> None:
        """Check the vehicle's position."""
        if not self.enabled:
            self.breaches = 0
            self._acted_at.clear()
        elif self.autopilot.home is not None and self.autopilot.estimate.position_ok:
            for bit in NAMES:
                self._check(bit)

    def on_disarm(self) -> None:
        """Forget the actions taken: a breach acts again after the next arming."""
        self._acted_at.clear()

    def allows(self, north: float, east: float, down: float) -> bool:
        """Return whether a target in the local frame is inside; the minimum altitude does not count, for landings."""
        if not self.enabled or self.autopilot.home is None:
            return True
        return all(self.outside(bit, north, east, down) <= 0.0 for bit in (ALT_MAX, CIRCLE, POLYGON))

    def outside(self, bit: int, north: float, east: float, down: float) -> float:
        """Return how far a point (m) is outside the part `bit` of the fence, m; negative inside, -inf if it is off."""
        parameters = self.autopilot.parameters
        if not parameters.whole("FENCE_TYPE") & bit:
            return -inf
        home = self.autopilot.home_position.ned()
        if bit == CIRCLE:
            return hypot(north - home[0], east - home[1]) - parameters.value("FENCE_RADIUS")
        if bit == POLYGON:
            return max((zone.outside(north, east) for zone in self.zones()), default=-inf)
        if drives(self.autopilot.vehicle.kind):
            return -inf
        if bit == ALT_MAX:
            return home[2] - down - parameters.value("FENCE_ALT_MAX")
        flying = self.autopilot.telemetry.landed == Landed.IN_AIR  # the minimum applies in the air only
        return parameters.value("FENCE_ALT_MIN") - (home[2] - down) if flying else -inf

    def _check(self, bit: int) -> None:
        here = self.autopilot.estimate
        outside = self.outside(bit, here.north, here.east, here.down)
        if self.breaches & bit:
            margin = self.autopilot.parameters.value("FENCE_MARGIN") if outside > -inf else 0.0
            if outside < -margin:
                self.breaches &= ~bit
                self._acted_at.pop(bit, None)
                self.autopilot.send_text(Severity.NOTICE, f"{NAMES[bit]} fence breach cleared")
                return
        elif outside > 0.0:
            self.breaches |= bit
            self.count += 1
            self.last, self.last_us = BREACH[bit], self.autopilot.now_us
            self.autopilot.send_text(Severity.CRITICAL, f"{NAMES[bit]} fence breached by {outside:.1f}m")
        if self.breaches & bit and self.autopilot.armed and outside > self._acted_at.get(bit, -inf) + REPEAT_DISTANCE:
            self._act(bit, outside)

    def _act(self, bit: int, outside: float) -> None:
        autopilot, again = self.autopilot, bit in self._acted_at
        actions = steps(autopilot, "FENCE_ACTION")
        self._acted_at[bit] = outside
        if actions and outside > GIVE_UP_DISTANCE and autopilot.vehicle.kind != "plane":
            actions = (STOP,)
        acting = again and bool(actions) and mode_of(autopilot, actions[0]) == autopilot.mode.number
        if again and not acting:
            autopilot.send_text(Severity.CRITICAL, f"{NAMES[bit]} fence: {outside:.0f}m outside")
        if not autopilot.failsafes.outranks(RANK):
            acting = acting or respond(autopilot, actions, "Fence breach", ModeReason.FENCE_BREACHED)
            if acting and GUIDED in actions and autopilot.mode.name == GUIDED:
                set_target(autopilot, GuidedTarget(position=self.return_circle()))

    def return_circle(self) -> Ned:
        """Return the centre of the circle of a plane that has left the fence.

        The return point of the uploaded fence, or else home or the nearest rally point; or the point nearest to it
        whose circle is inside the fence. The altitude is that of RTL, inside the limits.
        """
        autopilot, value = self.autopilot, self.autopilot.parameters.value
        kinds, home = autopilot.parameters.whole("FENCE_TYPE"), autopilot.home_position.ned()
        north, east, _ = autopilot.home_position.return_point()
        uploaded = [item for item in autopilot.plans[PlanKind.FENCE] if item.command == RETURN_POINT]
        if uploaded and autopilot.frame is not None:
            north, east, _ = autopilot.frame.to_ned(uploaded[0].x, uploaded[0].y, 0.0)
        region: BaseGeometry = shapely.Point(home[:2]).buffer(value("FENCE_RADIUS") if kinds & CIRCLE else MAX_RADIUS)
        for zone in self.zones() if kinds & POLYGON else ():
            shape = zone.shape.buffer(zone.radius)
            region = region.intersection(shape) if zone.inclusion else region.difference(shape)
        room = region.buffer(-abs(value("WP_LOITER_RAD")) - ROOM)
        if not room.is_empty:
            (north, east), *_ = shapely.shortest_line(room, shapely.Point(north, east)).coords
        altitude = value("RTL_ALTITUDE")
        altitude = home[2] - autopilot.estimate.down if altitude < 0.0 else altitude
        if kinds & ALT_MIN:
            altitude = max(altitude, value("FENCE_ALT_MIN") + ROOM)
        if kinds & ALT_MAX:
            altitude = min(altitude, value("FENCE_ALT_MAX") - ROOM)
        return north, east, home[2] - altitude
