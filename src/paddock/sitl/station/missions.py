"""What the station uploads: points of a scenario, or a file of QGroundControl, as mission items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paddock.errors import PaddockError
from paddock.sitl.autopilot.estimate import LocalFrame
from paddock.sitl.autopilot.mission.items import AltitudeFrame, MissionItem
from paddock.sitl.station.mission_check import anywhere, objection

WAYPOINT, RETURN, TAKEOFF = 16, 20, 22
"""MAV_CMDs."""
FLYING = ("copter", "plane")
TAKEOFF_HEIGHT = 10.0
"""m above home, unless the first point is lower."""

Point = tuple[float, float, float]


def point_mission(points: Sequence[Point], start: LocalFrame, craft: str) -> list[MissionItem]:
    """Points [x, y, z] (m east, north, up of where the vehicle starts); what flies takes off first and returns."""
    items = [_at(WAYPOINT, start, (0.0, 0.0, 0.0), AltitudeFrame.GLOBAL, start.altitude)]  # the place of home
    if craft == "copter":
        first = points[0][2]
        items.append(
            _at(TAKEOFF, start, (0.0, 0.0, 0.0), AltitudeFrame.RELATIVE, min(first, TAKEOFF_HEIGHT) or TAKEOFF_HEIGHT)
        )
    items += [_at(WAYPOINT, start, point, AltitudeFrame.RELATIVE, point[2]) for point in points]
    if craft in FLYING:
        items.append(MissionItem(RETURN, AltitudeFrame.MISSION))
    return items


def _at(command: int, start: LocalFrame, point: Point, frame: AltitudeFrame, altitude: float) -> MissionItem:
    latitude, longitude, _ = start.to_geodetic(point[1], point[0], 0.0)
    return MissionItem(command, frame, x=latitude, y=longitude, z=altitude)


def mission_file(path: str | Path, craft: str) -> list[MissionItem]:
    """The items of a `.plan` (QGroundControl) or `.waypoints` (QGC WPL 110) file, home first, if it can be done."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PaddockError(f"mission {file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        items = _waypoints(text) if text.startswith("QGC WPL") else _plan(json.loads(text))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise PaddockError(f"mission {file}: neither a .plan nor a QGC WPL 110 file: {error!r}") from None
    if len(items) < 2:
        raise PaddockError(f"mission {file}: it has no items")
    items = [anywhere(item) for item in items]
    if (found := objection(items, craft)) is not None:
        raise PaddockError(f"mission {file}: item {found[0]}: {found[1]}")
    return items


def _waypoints(text: str) -> list[MissionItem]:
    rows = [line.split() for line in text.splitlines()[1:] if line.strip()]
    return [_item(int(row[3]), int(row[2]), [float(number) for number in row[4:11]]) for row in rows]


def _item(command: int, frame: int, numbers: Sequence[float]) -> MissionItem:
    p1, p2, p3, p4, x, y, z = numbers
    return MissionItem(command, frame, p1, p2, p3, p4, x, y, z)


def _plan(tree: Any) -> list[MissionItem]:
    latitude, longitude, altitude = tree["mission"]["plannedHomePosition"]
    home = MissionItem(WAYPOINT, AltitudeFrame.GLOBAL, x=float(latitude), y=float(longitude), z=float(altitude))
    return [home, *(item for entry in tree["mission"]["items"] for item in _entry(entry))]


def _entry(entry: dict[str, Any]) -> list[MissionItem]:
    """A simple item, or the simple ones that a survey or corridor was worked out to."""
    if entry["type"] == "ComplexItem":
        inner = entry.get("TransectStyleComplexItem", entry)
        return [item for part in inner["Items"] for item in _entry(part)]
    numbers = [float("nan") if value is None else float(value) for value in entry["params"]]
    return [_item(int(entry["command"]), int(entry["frame"]), numbers)]
