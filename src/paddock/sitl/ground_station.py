"""The scenario's own ground station: it reads and checks missions, gives them to the autopilots and starts them."""

from collections.abc import Callable, Sequence
from math import nan
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, Le

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.contract import drives
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.mission_items import AltitudeFrame, MissionItem, MissionResult, PlanKind, check_mission
from paddock.autopilot.telemetry import ACCEPTED, Ack, Landed, Severity, denied, rejected
from paddock.errors import PaddockError
from paddock.files import read_file
from paddock.mavlink.protocols import decode, encode
from paddock.mavlink.radio_path import RadioPath
from paddock.sitl.from_scenario import FlownVehicle
from paddock.wire.json_document import parse_document
from paddock.wire.qgc_plan import RETURN, TAKEOFF, WAYPOINT, PlanItem, read_commands, read_waypoints
from paddock.world.records import Text

REPEAT_US = 1_000_000  # simulated us after which a refused step is tried again
DO_SET_MODE, MISSION_START, ARM = 176, 300, 400  # MAV_CMD
TAKEOFF_HEIGHT, PLANE_HEIGHT = 10.0, 30.0  # m above home, unless the first point is lower
FIELDS = ("parameter 1", "parameter 2", "parameter 3", "parameter 4", "latitude", "longitude", "altitude")
Point = tuple[float, float, float]


def point_mission(points: Sequence[Point], start: LocalFrame, craft: str, stands: bool = True) -> list[MissionItem]:
    """Return items for points [x, y, z] (m east, north, up of the start); copters take off first, aircraft return.

    A plane takes off first if it `stands` on the ground.
    """

    def at(command: int, x: float, y: float, frame: AltitudeFrame, altitude: float) -> MissionItem:
        latitude, longitude, _ = start.to_geodetic(y, x, 0.0)
        return MissionItem(command, frame, x=latitude, y=longitude, z=altitude)

    items = [at(WAYPOINT, 0.0, 0.0, AltitudeFrame.GLOBAL, start.altitude)]  # home
    if craft == "copter" or (craft == "plane" and stands):
        most = TAKEOFF_HEIGHT if craft == "copter" else PLANE_HEIGHT
        height = min(points[0][2], most) or most
        items.append(at(TAKEOFF, 0.0, 0.0, AltitudeFrame.RELATIVE, height))
    items += [at(WAYPOINT, x, y, AltitudeFrame.RELATIVE, z) for x, y, z in points]
    return [*items, MissionItem(RETURN, AltitudeFrame.MISSION)] if not drives(craft) else items


def mission_file(path: str | Path, craft: str) -> list[MissionItem]:
    """Return the items of a `.plan` or `.waypoints` file, home first; PaddockError if the craft cannot fly them."""
    file = Path(path)
    try:
        text = read_file(file).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PaddockError(f"mission {file}: cannot read: {getattr(error, 'strerror', None) or error}") from None
    if text.startswith("QGC WPL"):
        read = read_waypoints(text, str(file))
    else:
        home, commands = read_commands(parse_document(text, str(file)))
        if home is None:
            raise PaddockError(f"mission {file}: plannedHomePosition is missing")
        coordinates = (*home[:2], home[2] or 0.0)
        read = [PlanItem(WAYPOINT, AltitudeFrame.GLOBAL, (0.0, 0.0, 0.0, None, *coordinates)), *commands]
    if len(read) < 2:
        raise PaddockError(f"mission {file}: no items")
    items = []
    for item in read:
        p1, p2, p3, p4, x, y, z = (nan if value is None else value for value in item.params)
        items.append(MissionItem(item.command, item.frame, p1, p2, p3, p4, x, y, z))
    try:
        return received(items, craft)
    except PaddockError as error:
        raise PaddockError(f"mission {file}: {error}") from None


def received(items: Sequence[MissionItem], craft: str) -> list[MissionItem]:
    """Return a mission as a vehicle receives it, home first; PaddockError names the item that the craft refuses."""
    decoded = []
    for k, item in enumerate(items):
        received_item, result = decode(encode(item, k, (0, 1), integers=False))
        if received_item is None:
            raise PaddockError(f"item {k}: {_reason(result, item, craft)}")
        decoded.append(received_item)
    result, k = check_mission(decoded, craft)
    if result:
        raise PaddockError(f"item {k}: {_reason(result, items[k], craft)}")
    return decoded


def _reason(result: int, item: MissionItem, craft: str) -> str:
    if MissionResult.INVALID_PARAM1 <= result <= MissionResult.INVALID_PARAM7:
        k = result - MissionResult.INVALID_PARAM1
        return f"{FIELDS[k]} cannot be {(item.p1, item.p2, item.p3, item.p4, item.x, item.y, item.z)[k]:g}"
    reasons: dict[int, str] = {
        MissionResult.UNSUPPORTED_FRAME: f"frame {item.frame} is not valid for command {item.command}",
        MissionResult.UNSUPPORTED: f"command {item.command} is not supported in a mission of a {craft}",
        MissionResult.NO_SPACE: "too many items",
    }
    return reasons.get(result, f"result {result}")


class MissionStarter:
    """Takes one vehicle from boot to its mission, step by step; a refused step is tried again."""

    step: Annotated[int, Ge(0), Le(5)]  # the next one
    next_us: Annotated[int, Ge(0)]
    note: Text  # what it does, or why that was refused; empty: the mission is under way

    def __init__(self, vehicle: FlownVehicle, path: RadioPath | None = None) -> None:
        """`path`: the radio over which it reaches the vehicle."""
        self._path = path
        assert isinstance(vehicle.autopilot, BuiltInAutopilot)
        self.sysid, self.craft, self.autopilot = vehicle.placed.id, vehicle.placed.craft, vehicle.autopilot
        mission, auto = vehicle.entry.mission, float(self.autopilot.mode_number("AUTO") or 0)
        self._points = () if isinstance(mission, str) else mission or ()
        self._items = mission_file(mission, self.craft) if isinstance(mission, str) else []  # those of points: at home
        self.next_us = round(vehicle.entry.start * 1e6)
        self.step = 0
        self._steps: list[tuple[str, Callable[[], Ack]]] = [
            ("waiting for pre-arm checks", lambda: ACCEPTED if self.autopilot.arming.passes else rejected("")),
            ("uploading the mission", self._upload),
            ("changing to AUTO", lambda: self.autopilot.command(DO_SET_MODE, (1.0, auto))),
            ("arming", lambda: self.autopilot.command(ARM, (1.0,))),
            ("starting the mission", lambda: self.autopilot.command(MISSION_START, ())),
        ]
        self.note = self._steps[0][0]

    def update(self, now_us: int) -> None:
        """Take the steps that are possible at this simulated time."""
        if self.step >= len(self._steps) or now_us < self.next_us:
            return
        self.next_us = now_us + REPEAT_US
        if self._path is not None and not self._path.ends.connected:
            self.note = "no radio link"
            return
        while self.step < len(self._steps):
            name, act = self._steps[self.step]
            ack = act()
            if not ack.accepted:
                if ack.text and ack.text != self.note:
                    self.autopilot.send_text(Severity.WARNING, ack.text)
                self.note = ack.text or name
                return
            self.step += 1
        self.note = ""

    def _upload(self) -> Ack:
        home, items = self.autopilot.home, self._items
        if not items and home is None:
            return rejected("")  # not yet: it follows the first position
        if not items and home is not None:
            try:
                stands = self.autopilot.telemetry.landed is Landed.ON_GROUND
                items = received(point_mission(self._points, LocalFrame(*home), self.craft, stands), self.craft)
            except PaddockError as error:
                return denied(f"Mission: {error}")
        result, _ = self.autopilot.set_plan(PlanKind.MISSION, items)
        return denied(f"Mission: result {result}") if result else ACCEPTED
