"""Mission files of QGroundControl: `.plan` (JSON) and `.waypoints` (QGC WPL 110) as plain data.

Positions are latitude and longitude in deg, altitudes in m in the frame of their item; nothing is converted here.
`read_plan` refuses what QGroundControl refuses to load (KEYS); `write_plan` checks its result in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paddock.wire.json_document import Document, DocumentError, KeyPath, LatLon, parse_document, shown

WAYPOINT, LOITER_TURNS, RETURN, TAKEOFF, CHANGE_SPEED = 16, 18, 20, 22, 178  # MAV_CMD
LAND, LOITER_TO_ALT, LAND_START, TRIGGER, STOP_CAPTURE, STOP_VIDEO = 21, 31, 189, 206, 2001, 2501
GLOBAL_FRAME, MISSION_FRAME, RELATIVE_FRAME = 0, 2, 3
LANDING_PATTERN = "fwLandingPattern"
"""MAV_FRAME: altitude above sea level; no position; altitude above home."""
FIRMWARE = {"generic": 0, "ardupilot": 3, "px4": 12}  # MAV_AUTOPILOT
VEHICLES = {"fixed_wing": 1, "quad": 2, "rover": 10}  # MAV_TYPE
MANUAL_CAMERA = "Manual (no camera specs)"
SURVEY_VERSIONS = (4, 5)
Home = tuple[float, float, float | None]  # latitude, longitude (deg), altitude (m)
KINDS: dict[str, Any] = {"object": Mapping, "list": list | tuple, "text": str, "flag": bool, "number": int | float}
KEYS = {
    "plan": "groundStation:text fileType:text version:number mission:object geoFence:object rallyPoints:object",
    "mission": "version:number plannedHomePosition:list items:list firmwareType:number vehicleType:number? "
    "cruiseSpeed:number? hoverSpeed:number? globalPlanAltitudeMode:number?",
    "item": "type:text frame:number command:number params:list autoContinue:flag doJumpId:number?",
    "altitude": "AltitudeMode:number Altitude:number AMSLAltAboveTerrain:number?",
    "complex item": "type:text complexItemType:text",
    "geofence": "version:number circles:list polygons:list breachReturn:list?",
    "fence circle": "version:number inclusion:flag circle:object",
    "fence polygon": "version:number inclusion:flag polygon:list",
    "rally points": "version:number points:list",
}
"""The keys that QGroundControl checks when it loads a part of a plan; `?`: may be missing. A number may be null."""
CAMERA_FIELDS = ("ImageWidth", "ImageHeight", "SensorWidth", "SensorHeight", "FocalLength", "SideOverlap")


@dataclass(frozen=True)
class PlanItem:
    """A mission item: one MAVLink command."""

    command: int  # MAV_CMD
    frame: int  # MAV_FRAME
    params: tuple[float | None, ...]  # 7 values; null in the file is None
    path: KeyPath = ()  # in the file


@dataclass(frozen=True)
class Survey:
    """A polygon to photograph."""

    polygon: tuple[LatLon, ...]
    angle: float  # deg clockwise from north, of the passes
    altitude: float  # m
    altitude_frame: str  # "home", "sea" or "terrain"
    spacing: float | None  # m between passes; None: given by the camera
    camera: Mapping[str, float] = field(default_factory=dict)  # CAMERA_FIELDS, width across the track
    options: tuple[str, ...] = ()  # names of the enabled options


@dataclass(frozen=True)
class ComplexItem:
    """A survey, corridor or structure scan with the commands that QGroundControl generated for it."""

    kind: str  # complexItemType
    version: int | None
    items: tuple[PlanItem, ...]
    survey: Survey | None = None  # for surveys of SURVEY_VERSIONS
    path: KeyPath = ()


@dataclass(frozen=True)
class PlanFence:
    """A circle or a polygon of a geofence."""

    inclusion: bool
    polygon: tuple[LatLon, ...] = ()
    center: LatLon | None = None
    radius: float = 0.0  # m
    path: KeyPath = ()


@dataclass(frozen=True)
class QgcPlan:
    """The content of a `.plan` file."""

    items: tuple[PlanItem | ComplexItem, ...]
    home: Home | None = None
    vehicle_type: int | None = None  # MAV_TYPE
    cruise_speed: float | None = None  # m/s
    hover_speed: float | None = None  # m/s
    fences: tuple[PlanFence, ...] = ()
    rally_points: int = 0
    unread: tuple[str, ...] = ()  # unsupported parts of the file, one line each


def read_commands(doc: Document) -> tuple[Home | None, list[PlanItem]]:
    """Return home and all commands of a `.plan` of any version, those generated for complex items included."""
    mission = doc.mapping(doc.root.get("mission"), ("mission",))
    items = _items(doc, mission.get("items"), ("mission", "items"), surveys=False)
    return _home(doc, mission), _commands(items)


def read_plan(doc: Document) -> QgcPlan:
    """Read a `.plan` document of version 1 (mission version 2)."""
    root = doc.root
    if root.get("fileType") != "Plan":
        doc.refuse(("fileType",), f"a plan has fileType 'Plan', not {root.get('fileType')!r}")
    _check_version(doc, root, (), 1, "plan")
    _check_keys(doc, root, (), "plan")
    mission, rally = root["mission"], root["rallyPoints"]
    _check_version(doc, mission, ("mission",), 2, "mission")
    _check_keys(doc, mission, ("mission",), "mission")
    _check_keys(doc, rally, ("rallyPoints",), "rally points")
    fences, unread = _fences(doc, root["geoFence"])
    items = _items(doc, mission["items"], ("mission", "items"), checked=True)
    vehicle = mission.get("vehicleType")
    return QgcPlan(
        items=items,
        home=_home(doc, mission),
        vehicle_type=vehicle if isinstance(vehicle, int) else None,
        cruise_speed=_speed(doc, mission, "cruiseSpeed"),
        hover_speed=_speed(doc, mission, "hoverSpeed"),
        fences=fences,
        rally_points=len(doc.items(rally.get("points", []), ("rallyPoints", "points"))),
        unread=unread,
    )


def read_waypoints(text: str, source: str) -> list[PlanItem]:
    """Read a `.waypoints` file (QGC WPL 110); the first item is home."""
    items = []
    for number, line in enumerate(text.splitlines(), start=1):
        if number == 1 and line.split() != ["QGC", "WPL", "110"]:
            raise DocumentError(f"{source}:1:1: expected 'QGC WPL 110', not {line[:40]!r}")
        row = line.split()
        if number == 1 or not row:
            continue
        try:
            params = tuple(float(value) for value in row[4:11])
            if len(params) != 7:
                raise ValueError(f"expected 12 columns, not {len(row)}")
            items.append(PlanItem(int(row[3]), int(row[2]), params, (number,)))
        except ValueError as error:
            raise DocumentError(f"{source}:{number}:1: {error}") from None
    return items


def _check_keys(doc: Document, part: Mapping[str, Any], path: KeyPath, kind: str) -> None:
    """Refuse a part of a plan that QGroundControl would not load."""
    for rule in KEYS[kind].split():
        key, wanted = rule.removesuffix("?").split(":")
        value = part.get(key)
        if key not in part and not rule.endswith("?"):
            doc.refuse(path, f"{kind}: QGroundControl needs the key {key!r} (a {wanted})")
        null = value is None and (wanted == "number" or key not in part)
        if not null and not (isinstance(value, KINDS[wanted]) and isinstance(value, bool) == (wanted == "flag")):
            doc.refuse((*path, key), f"{kind}: {key} must be a {wanted}, not {shown(value)}")


def _check_version(doc: Document, part: Mapping[str, Any], path: KeyPath, version: int, kind: str) -> None:
    if part.get("version") != version:
        doc.refuse((*path, "version"), f"expected {kind} version {version}, not {part.get('version')!r}")


def _speed(doc: Document, mission: Mapping[str, Any], key: str) -> float | None:
    return None if mission.get(key) is None else doc.number(mission[key], ("mission", key))


def _home(doc: Document, mission: Mapping[str, Any]) -> Home | None:
    where: KeyPath = ("mission", "plannedHomePosition")
    if mission.get("plannedHomePosition") is None:
        return None
    values = doc.items(mission["plannedHomePosition"], where)
    altitude = values[2] if len(values) > 2 else None
    return *doc.position(values, where), None if altitude is None else doc.number(altitude, (*where, 2))


def _items(
    doc: Document, value: Any, path: KeyPath, surveys: bool = True, checked: bool = False
) -> tuple[PlanItem | ComplexItem, ...]:
    """Return items; `checked` by the rules of QGroundControl."""
    items: list[PlanItem | ComplexItem] = []
    for k, entry in enumerate(doc.items(value, path)):
        where = (*path, k)
        item = doc.mapping(entry, where)
        if item.get("type") == "SimpleItem":
            if checked:
                _check_keys(doc, item, where, "item")
                if not {"AltitudeMode", "Altitude", "AMSLAltAboveTerrain"}.isdisjoint(item):
                    _check_keys(doc, item, where, "altitude")
            items.append(_simple(doc, item, where))
        elif item.get("type") == "ComplexItem":
            if checked:
                _check_keys(doc, item, where, "complex item")
            items.append(_complex(doc, item, where, surveys))
        else:
            doc.refuse((*where, "type"), f"an item is a SimpleItem or ComplexItem, not {item.get('type')!r}")
    return tuple(items)


def _simple(doc: Document, item: Mapping[str, Any], path: KeyPath) -> PlanItem:
    where = (*path, "params")
    values = doc.items(item.get("params"), where)
    if len(values) != 7:
        doc.refuse(where, f"an item has 7 params, not {len(values)}")
    params = tuple(None if value is None else doc.number(value, (*where, k)) for k, value in enumerate(values))
    command = doc.integer(item.get("command"), (*path, "command"))
    return PlanItem(command, doc.integer(item.get("frame"), (*path, "frame")), params, path)


def _commands(items: Sequence[PlanItem | ComplexItem]) -> list[PlanItem]:
    return [part for item in items for part in (item.items if isinstance(item, ComplexItem) else (item,))]


def _complex(doc: Document, item: Mapping[str, Any], path: KeyPath, surveys: bool) -> ComplexItem:
    inner, where = item, path
    if "TransectStyleComplexItem" in item:
        where = (*path, "TransectStyleComplexItem")
        inner = doc.mapping(item["TransectStyleComplexItem"], where)
    kind, version = str(item.get("complexItemType")), item.get("version")
    if kind == LANDING_PATTERN:
        commands = _landing(doc, item, path)
    else:
        commands = _commands(_items(doc, inner.get("Items", []), (*where, "Items"), surveys))
    read = surveys and kind == "survey" and version in SURVEY_VERSIONS
    survey = _survey(doc, item, path) if read else None
    return ComplexItem(kind, version if isinstance(version, int) else None, tuple(commands), survey, path)


def _landing(doc: Document, item: Mapping[str, Any], path: KeyPath) -> list[PlanItem]:
    """Return the commands of a landing pattern, which a file does not list: start, approach, landing."""

    def place(*keys: str) -> tuple[float, ...]:
        key = next((key for key in keys if key in item), keys[0])
        values = doc.items(item.get(key), (*path, key))
        if len(values) != 3:
            doc.refuse((*path, key), f"{key} is [latitude, longitude, altitude], not {len(values)} values")
        return tuple(doc.number(value, (*path, key, k)) for k, value in enumerate(values))

    approach, land = place("landingApproachCoordinate", "loiterCoordinate"), place("landCoordinate")
    above_sea = item.get("altitudesAreRelative", item.get("loiterAltitudeRelative", True)) is False
    frame = GLOBAL_FRAME if above_sea else RELATIVE_FRAME
    items = [PlanItem(LAND_START, MISSION_FRAME, (0.0,) * 7, path)]
    if item.get("useDoChangeSpeed"):
        speed = doc.number(item.get("finalApproachSpeed"), (*path, "finalApproachSpeed"))
        items.append(PlanItem(CHANGE_SPEED, MISSION_FRAME, (0.0, speed, -1.0, 0.0, 0.0, 0.0, 0.0), path))
    ends = {TRIGGER: "stopTakingPhotos", STOP_CAPTURE: "stopTakingPhotos", STOP_VIDEO: "stopVideoPhotos"}
    items += [PlanItem(command, MISSION_FRAME, (0.0,) * 7, path) for command, key in ends.items() if item.get(key)]
    if item.get("useLoiterToAlt", True):
        radius = doc.number(item.get("loiterRadius"), (*path, "loiterRadius"))
        turn = radius if item.get("loiterClockwise", True) else -radius
        items.append(PlanItem(LOITER_TO_ALT, frame, (1.0, turn, 0.0, 1.0, *approach), path))
    else:
        items.append(PlanItem(WAYPOINT, frame, (0.0, 0.0, 0.0, None, *approach), path))
    return [*items, PlanItem(LAND, frame, (0.0, 0.0, 0.0, 0.0, *land), path)]


def _survey(doc: Document, item: Mapping[str, Any], path: KeyPath) -> Survey:
    style = doc.mapping(item.get("TransectStyleComplexItem"), (*path, "TransectStyleComplexItem"))
    where = (*path, "TransectStyleComplexItem", "CameraCalc")
    camera = doc.mapping(style.get("CameraCalc"), where)
    mode = camera.get("DistanceMode")
    above_sea = mode == 2 or camera.get("DistanceToSurfaceRelative") is False
    options = [key for key in ("HoverAndCapture", "Refly90Degrees", "FollowTerrain") if style.get(key)]
    options += ["flyAlternateTransects"] if item.get("flyAlternateTransects") else []
    options += ["TurnAroundDistance"] if style.get("TurnAroundDistance") else []
    manual = camera.get("CameraName") == MANUAL_CAMERA or "FocalLength" not in camera
    spacing = ("AdjustedFootprintSide",) if manual else ()
    values = {key: doc.number(camera.get(key), (*where, key)) for key in spacing or CAMERA_FIELDS}
    if not manual and camera.get("Landscape") is False:  # the camera's long side is along the track
        for first, second in (("ImageWidth", "ImageHeight"), ("SensorWidth", "SensorHeight")):
            values[first], values[second] = values[second], values[first]
    return Survey(
        polygon=_ring(doc, item.get("polygon"), (*path, "polygon")),
        angle=doc.number(item.get("angle"), (*path, "angle")),
        altitude=doc.number(camera.get("DistanceToSurface"), (*where, "DistanceToSurface")),
        altitude_frame="sea" if above_sea else "terrain" if mode in (3, 4) else "home",
        spacing=values["AdjustedFootprintSide"] if manual else None,
        camera={} if manual else values,
        options=tuple(options),
    )


def _fences(doc: Document, fence: Mapping[str, Any]) -> tuple[tuple[PlanFence, ...], tuple[str, ...]]:
    """Return the fences, and a line for each part that is not read."""
    _check_keys(doc, fence, ("geoFence",), "geofence")
    if fence["version"] != 2:
        return (), (f"geoFence of version {fence['version']!r} is not supported",)
    fences = []
    for kind in ("circles", "polygons"):
        for k, value in enumerate(doc.items(fence[kind], ("geoFence", kind))):
            path: KeyPath = ("geoFence", kind, k)
            part = doc.mapping(value, path)
            _check_keys(doc, part, path, f"fence {kind[:-1]}")
            inclusion = part["inclusion"]
            if kind == "polygons":
                polygon = _ring(doc, part.get("polygon"), (*path, "polygon"))
                fences.append(PlanFence(inclusion, polygon=polygon, path=path))
                continue
            where = (*path, "circle")
            circle = doc.mapping(part.get("circle"), where)
            center = doc.position(circle.get("center"), (*where, "center"))
            radius = doc.number(circle.get("radius"), (*where, "radius"))
            fences.append(PlanFence(inclusion, center=center, radius=radius, path=where))
    breach = ("geoFence: breachReturn is not supported",) if "breachReturn" in fence else ()
    return tuple(fences), breach


def _ring(doc: Document, value: Any, path: KeyPath) -> tuple[LatLon, ...]:
    positions = doc.items(value, path)
    if len(positions) < 3:
        doc.refuse(path, f"a polygon has at least 3 points, not {len(positions)}")
    return tuple(doc.position(position, (*path, k)) for k, position in enumerate(positions))


def write_plan(
    items: Sequence[PlanItem],
    home: tuple[float, float, float],
    fences: Sequence[PlanFence] = (),
    *,
    vehicle: str,
    firmware: str,
    cruise_speed: float,
    hover_speed: float,
) -> dict[str, Any]:
    """Return the object of a `.plan` file; `vehicle` is one of VEHICLES, `firmware` one of FIRMWARE."""
    mission = {
        "cruiseSpeed": cruise_speed,
        "firmwareType": FIRMWARE[firmware],
        "globalPlanAltitudeMode": 1,
        "hoverSpeed": hover_speed,
        "items": [_written(item, k + 1) for k, item in enumerate(items)],
        "plannedHomePosition": list(home),
        "vehicleType": VEHICLES[vehicle],
        "version": 2,
    }
    circles = [
        {"circle": {"center": list(fence.center), "radius": fence.radius}, "inclusion": fence.inclusion, "version": 1}
        for fence in fences
        if fence.center is not None
    ]
    polygons = [
        {"inclusion": fence.inclusion, "polygon": [list(point) for point in fence.polygon], "version": 1}
        for fence in fences
        if fence.center is None
    ]
    plan = {
        "fileType": "Plan",
        "geoFence": {"circles": circles, "polygons": polygons, "version": 2},
        "groundStation": "QGroundControl",
        "mission": mission,
        "rallyPoints": {"points": [], "version": 2},
        "version": 1,
    }
    read_plan(parse_document(plan))
    return plan


def _written(item: PlanItem, number: int) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if item.frame != MISSION_FRAME:
        head = {"AMSLAltAboveTerrain": None, "Altitude": item.params[6], "AltitudeMode": 1}
    plain = {"autoContinue": True, "command": item.command, "frame": item.frame, "params": list(item.params)}
    return {**head, **plain, "type": "SimpleItem", "doJumpId": number}
