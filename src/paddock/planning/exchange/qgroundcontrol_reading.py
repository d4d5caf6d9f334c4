"""Goes through a `.plan` file of QGroundControl and makes tasks, zones and a base of it."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, pi
from typing import Any

from paddock.planning.exchange.document import Document, Imported
from paddock.planning.exchange.places import heading, rounded, to_local
from paddock.scenario.problems import KeyPath
from paddock.scenario.tasks import NoFlyZone, Task
from paddock.world.geodesy import Origin

COMMANDS = {
    16: "waypoint", 17: "loiter for ever", 18: "loiter turns", 19: "loiter for a time", 20: "return to launch",
    21: "land", 22: "take-off", 31: "loiter to altitude", 82: "spline waypoint", 84: "VTOL take-off",
    85: "VTOL landing", 93: "delay", 112: "condition delay", 115: "condition yaw", 177: "jump", 178: "change speed",
    183: "set servo", 189: "start of landing", 195: "region of interest", 197: "no region of interest",
    201: "region of interest", 203: "camera trigger", 205: "gimbal", 206: "camera trigger by distance",
    530: "camera mode", 2000: "start pictures", 2001: "stop pictures", 2500: "start video", 2501: "stop video",
    3000: "VTOL transition",
}  # fmt: skip
"""What MAV_CMD numbers mean."""
ABSOLUTE, RELATIVE, TERRAIN = (0, 5), (3, 6), (10, 11)
"""MAV_FRAME: heights above sea level, above home, above the ground."""
HOVERING = (2, 3, 4, 13, 14, 15, 29)
"""MAV_TYPE of what hovers, for which hoverSpeed applies."""
MANUAL = "Manual (no camera specs)"
SURVEYS = (4, 5)
"""Versions of surveys that are read."""


class Reader:
    """Goes through a plan."""

    def __init__(self, doc: Document, origin: Origin) -> None:
        """Take a document whose positions are wanted in metres about an origin."""
        self.doc, self.origin = doc, origin
        self.found = Imported({"tasks": [], "zones": []})
        self.home_height = origin.height_m
        self.order: dict[str, int] = {}

    def read(self) -> None:
        """Read the plan into `found`."""
        root = self.doc.root
        if root.get("fileType") != "Plan":
            self.doc.refuse(("fileType",), f"a plan has fileType 'Plan', not {root.get('fileType')!r}")
        self._version(root, (), (1,), "plan")
        mission = self.doc.mapping(root.get("mission"), ("mission",))
        self._version(mission, ("mission",), (2,), "mission")
        self._home(mission)
        self._speed(mission)
        for k, item in enumerate(self.doc.items(mission.get("items"), ("mission", "items"))):
            path: KeyPath = ("mission", "items", k)
            self._item(self.doc.mapping(item, path), path)
        if count := self.order.get("waypoint", 0):
            many = f"{count} waypoint{'s' * (count > 1)}"
            self.found.notes.append(f"{many}: each is a task now, in an order that is planned")
        self._fence(self.doc.mapping(root.get("geoFence", {}), ("geoFence",)))
        self._rally(self.doc.mapping(root.get("rallyPoints", {}), ("rallyPoints",)))

    def _version(self, part: Mapping[str, Any], path: KeyPath, known: tuple[int, ...], what: str) -> None:
        if part.get("version") not in known:
            told = " or ".join(map(str, known))
            self.doc.refuse((*path, "version"), f"{what} version {told} is read, not {part.get('version')!r}")

    def _home(self, mission: Mapping[str, Any]) -> None:
        path: KeyPath = ("mission", "plannedHomePosition")
        if mission.get("plannedHomePosition") is None:
            self.found.notes.append("there is no plannedHomePosition: the base is left as it is")
            return
        values = self.doc.items(mission["plannedHomePosition"], path)
        x, y = self._place(values, path)
        if len(values) > 2 and values[2] is not None:
            self.home_height = self.doc.number(values[2], (*path, 2))
        self.found.mission["base"] = [x, y, 0.0]

    def _speed(self, mission: Mapping[str, Any]) -> None:
        key = "hoverSpeed" if mission.get("vehicleType") in HOVERING else "cruiseSpeed"
        if mission.get(key) is not None and (speed := self.doc.number(mission[key], ("mission", key))) > 0:
            self.found.mission["speed"] = speed

    # items

    def _item(self, item: Mapping[str, Any], path: KeyPath) -> None:
        if item.get("type") == "SimpleItem":
            self._simple(item, path)
        elif item.get("type") == "ComplexItem":
            kind = item.get("complexItemType")
            if kind == "survey":
                self._survey(item, path)
            else:
                self._note(path, f"{kind} is not supported")
        else:
            self.doc.refuse((*path, "type"), f"an item is a SimpleItem or ComplexItem, not {item.get('type')!r}")

    def _note(self, path: KeyPath, message: str) -> None:
        self.found.notes.append(f"item {int(path[2]) + 1}: {message}")

    def _simple(self, item: Mapping[str, Any], path: KeyPath) -> None:
        command = item.get("command")
        if command == 16:
            self._waypoint(item, path)
        elif command == 18:
            self._loiter(item, path)
        elif command == 178:
            self._change(item, path)
        elif command in (22, 84):
            self._note(path, f"{COMMANDS[command]} is left out: vehicles start where the scenario puts them")
        elif command != 20:  # all return to the base anyway
            named = COMMANDS.get(command) if isinstance(command, int) else None
            self._note(path, f"command {command}{f' ({named})' if named else ''} is not supported")

    def _change(self, item: Mapping[str, Any], path: KeyPath) -> None:
        """A change to the speed that the mission has anyway is none."""
        if self._params(item, path)[1] != self.found.mission.get("speed", inf):
            self._note(path, f"command 178 ({COMMANDS[178]}) is not supported")

    def _params(self, item: Mapping[str, Any], path: KeyPath) -> list[float | None]:
        path = (*path, "params")
        values = self.doc.items(item.get("params"), path)
        if len(values) != 7:
            self.doc.refuse(path, f"an item has 7 params, not {len(values)}")
        return [None if value is None else self.doc.number(value, (*path, k)) for k, value in enumerate(values)]

    def _waypoint(self, item: Mapping[str, Any], path: KeyPath) -> None:
        params = self._params(item, path)
        if params[0]:
            self._note(path, f"the waypoint's hold of {params[0]:g} s is not supported")
        if params[3]:
            self._note(path, f"the waypoint's yaw of {params[3]:g} deg is not supported")
        at = self._place(params[4:6], (*path, "params"))
        self._add({"point": {"at": at}, "altitude": self._height(item, params[6], path)}, "waypoint", path)

    def _loiter(self, item: Mapping[str, Any], path: KeyPath) -> None:
        """A circle about a centre, begun on its eastern side."""
        params = self._params(item, path)
        radius = params[2] or 0.0
        if radius == 0.0:
            self._note(path, "a loiter without a radius is not supported")
            return
        if params[0] != 1:
            self._note(path, f"{params[0] or 0:g} turns are one")
        x, y = self._place(params[4:6], (*path, "params"))
        left = radius < 0.0
        circle = {"at": [x + abs(radius), y], "heading": pi / 2 if left else -pi / 2, "radius": abs(radius)}
        task = {"circle": circle | {"turn": "left" if left else "right"}}
        self._add(task | {"altitude": self._height(item, params[6], path)}, "loiter", path)

    def _height(self, item: Mapping[str, Any], height: float | None, path: KeyPath) -> float:
        """Metres above the ground at home."""
        frame = item.get("frame")
        if height is None:
            self.doc.refuse((*path, "params", 6), "an item with a place needs a height")
        if frame in ABSOLUTE:
            return height - self.home_height
        if frame in TERRAIN:
            self._note(path, "its height above the terrain is taken as above home")
        elif frame not in RELATIVE:
            self.doc.refuse((*path, "frame"), f"a place has frame 0, 3 or 10, not {frame!r}")
        return height

    # surveys

    def _survey(self, item: Mapping[str, Any], path: KeyPath) -> None:
        if item.get("version") not in SURVEYS:
            self._note(path, f"survey of version {item.get('version')!r} is not supported")
            return
        style = self.doc.mapping(item.get("TransectStyleComplexItem"), (*path, "TransectStyleComplexItem"))
        where = (*path, "TransectStyleComplexItem", "CameraCalc")
        camera = self.doc.mapping(style.get("CameraCalc"), where)
        polygon: dict[str, Any] = {"outline": self._ring(item.get("polygon"), (*path, "polygon"))}
        polygon |= self._spacing(camera, where)
        polygon["angle"] = heading(self.doc.number(item.get("angle"), (*path, "angle")))
        for key in ("HoverAndCapture", "Refly90Degrees", "FollowTerrain"):
            if style.get(key):
                self._note(path, f"the survey's {key} is not supported")
        if item.get("flyAlternateTransects"):
            self._note(path, "the survey's flyAlternateTransects is not supported")
        if style.get("TurnAroundDistance"):
            self._note(path, "the survey's TurnAroundDistance is not supported: turns are planned")
        self._add({"polygon": polygon, "altitude": self._distance(camera, where, path)}, "survey", path)

    def _spacing(self, camera: Mapping[str, Any], path: KeyPath) -> dict[str, Any]:
        """The distance between passes, or the camera that gives it; its wide side is across when it is landscape."""
        if camera.get("CameraName") == MANUAL or "FocalLength" not in camera:
            return {"spacing": self.doc.number(camera.get("AdjustedFootprintSide"), (*path, "AdjustedFootprintSide"))}
        keys = ("ImageWidth", "ImageHeight", "SensorWidth", "SensorHeight", "FocalLength", "SideOverlap")
        wide, high, across, along, focal, overlap = (self.doc.number(camera.get(k), (*path, k)) for k in keys)
        if camera.get("Landscape") is False:
            wide, high, across, along = high, wide, along, across
        pixels = {"width_px": round(wide), "height_px": round(high)}
        sensor = {"sensor_width_mm": across, "sensor_height_mm": along, "focal_length_mm": focal}
        return {"camera": pixels | sensor | {"side_overlap": overlap / 100.0}}

    def _distance(self, camera: Mapping[str, Any], where: KeyPath, path: KeyPath) -> float:
        """The survey's height: `DistanceMode` 2 is above sea level, 3 and 4 above the terrain, others above home."""
        height = self.doc.number(camera.get("DistanceToSurface"), (*where, "DistanceToSurface"))
        mode = camera.get("DistanceMode")
        if mode == 2 or camera.get("DistanceToSurfaceRelative") is False:
            return height - self.home_height
        if mode in (3, 4):
            self._note(path, "its height above the terrain is taken as above home")
        return height

    # fences

    def _fence(self, fence: Mapping[str, Any]) -> None:
        if not fence:
            return
        if fence.get("version") != 2:
            self.found.notes.append(f"geoFence of version {fence.get('version')!r} is not supported")
            return
        for kind in ("circles", "polygons"):
            for k, part in enumerate(self.doc.items(fence.get(kind, []), ("geoFence", kind))):
                path: KeyPath = ("geoFence", kind, k)
                self._one_fence(kind, self.doc.mapping(part, path), path)
        if "breachReturn" in fence:
            self.found.notes.append("geoFence: breachReturn is not supported")

    def _one_fence(self, kind: str, part: Mapping[str, Any], path: KeyPath) -> None:
        if part.get("inclusion") is not False:
            self.found.notes.append(f"geoFence: inclusion {kind[:-1]} {int(path[2]) + 1} is not supported")
            return
        zone: dict[str, Any] = {"name": f"fence_{len(self.found.mission['zones'])}"}
        if kind == "polygons":
            zone["polygon"] = self._ring(part.get("polygon"), (*path, "polygon"))
        else:
            path = (*path, "circle")
            circle = self.doc.mapping(part.get("circle"), path)
            at = self._place(circle.get("center"), (*path, "center"))
            zone["circle"] = {"at": at, "radius": self.doc.number(circle.get("radius"), (*path, "radius"))}
        self.doc.check(NoFlyZone, zone, path)
        self.found.mission["zones"].append(zone)

    def _rally(self, rally: Mapping[str, Any]) -> None:
        points = self.doc.items(rally.get("points", []), ("rallyPoints", "points"))
        for k in range(len(points)):
            self.found.notes.append(f"rally point {k + 1} is not supported: vehicles return to the base")

    # parts

    def _place(self, value: Any, path: KeyPath) -> list[float]:
        return rounded(to_local([self.doc.pair(value, path)], self.origin))[0]

    def _ring(self, value: Any, path: KeyPath) -> list[list[float]]:
        positions = self.doc.items(value, path)
        if len(positions) < 3:
            self.doc.refuse(path, f"a polygon has at least 3 points, not {len(positions)}")
        places = [self.doc.pair(position, (*path, k)) for k, position in enumerate(positions)]
        return rounded(to_local(places, self.origin))

    def _add(self, task: dict[str, Any], kind: str, path: KeyPath) -> None:
        number = self.order.get(kind, 0)
        self.order[kind] = number + 1
        task = {"name": f"{kind}_{number}"} | task
        self.doc.check(Task, task, path)
        self.found.mission["tasks"].append(task)
