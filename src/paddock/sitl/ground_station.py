"""The scenario's own ground station: it reads and checks missions, uploads them over MAVLink and starts the vehicles.

Packets pass through memory, so that a lockstep run repeats byte for byte.
"""

from collections import deque
from collections.abc import Sequence
from enum import Enum
from math import isfinite, isnan, nan
from pathlib import Path
from time import monotonic
from typing import Any

from paddock.errors import PaddockError
from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.autopilot.estimate import LocalFrame
from paddock.sitl.autopilot.mission.items import ITEM_KINDS, AltitudeFrame, MissionItem, MissionResult, check_mission
from paddock.sitl.from_scenario import FlownVehicle
from paddock.sitl.mavlink.hub import MavlinkHub
from paddock.sitl.mavlink.link import Address, MavlinkLink, MavlinkPeers
from paddock.sitl.mavlink.mission_protocol import DEGREE, decode, encode
from paddock.sitl.mavlink.packets import PacketReader, PacketWriter, mav
from paddock.wire.json_document import parse_document
from paddock.wire.qgc_plan import RETURN, TAKEOFF, WAYPOINT, PlanItem, read_commands, read_waypoints

SYSTEM, COMPONENT = 255, 190  # ids of a ground station
STATION: Address = ("station", 0)  # address of the ground station; no socket has it
PERIOD_US = 20_000  # simulated us between two rounds of service
REPEAT_US = 1_000_000  # simulated us after which an unanswered request is repeated
READY = mav.MAV_SYS_STATUS_PREARM_CHECK
ACCEPTED = (mav.MAV_RESULT_ACCEPTED, mav.MAV_RESULT_IN_PROGRESS)

FLYING = ("copter", "plane")
TAKEOFF_HEIGHT = 10.0  # m above home, unless the first point is lower
MAX_INT32, MAX_FLOAT32 = 2**31 - 1, 3.4e38
FIELDS = ("parameter 1", "parameter 2", "parameter 3", "parameter 4", "latitude", "longitude", "altitude")
Point = tuple[float, float, float]


def point_mission(points: Sequence[Point], start: LocalFrame, craft: str) -> list[MissionItem]:
    """Return items for points [x, y, z] (m east, north, up of the start); copters take off first, aircraft return."""

    def at(command: int, x: float, y: float, frame: AltitudeFrame, altitude: float) -> MissionItem:
        latitude, longitude, _ = start.to_geodetic(y, x, 0.0)
        return MissionItem(command, frame, x=latitude, y=longitude, z=altitude)

    items = [at(WAYPOINT, 0.0, 0.0, AltitudeFrame.GLOBAL, start.altitude)]  # home
    if craft == "copter":
        height = min(points[0][2], TAKEOFF_HEIGHT) or TAKEOFF_HEIGHT
        items.append(at(TAKEOFF, 0.0, 0.0, AltitudeFrame.RELATIVE, height))
    items += [at(WAYPOINT, x, y, AltitudeFrame.RELATIVE, z) for x, y, z in points]
    return [*items, MissionItem(RETURN, AltitudeFrame.MISSION)] if craft in FLYING else items


def mission_file(path: str | Path, craft: str) -> list[MissionItem]:
    """Return the items of a `.plan` or `.waypoints` file, home first; PaddockError if the craft cannot fly them."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PaddockError(f"mission {file}: cannot read: {getattr(error, 'strerror', None) or error}") from None
    if text.startswith("QGC WPL"):
        read = read_waypoints(text, str(file))
    else:
        home, commands = read_commands(parse_document(text, str(file)))
        if home is None:
            raise PaddockError(f"mission {file}: plannedHomePosition is missing")
        place = (*home[:2], home[2] or 0.0)
        read = [PlanItem(WAYPOINT, AltitudeFrame.GLOBAL, (0.0, 0.0, 0.0, None, *place)), *commands]
    items = []
    for item in read:
        p1, p2, p3, p4, x, y, z = (nan if value is None else value for value in item.params)
        kind = ITEM_KINDS.get(item.command)
        if kind is None or not kind.place:  # zeros for an omitted place, where the command needs none
            x, y = (0.0 if isnan(value) else value for value in (x, y))
        items.append(MissionItem(item.command, item.frame, p1, p2, p3, p4, x, y, z))
    if len(items) < 2:
        raise PaddockError(f"mission {file}: no items")
    if (found := objection(items, craft)) is not None:
        raise PaddockError(f"mission {file}: item {found[0]}: {found[1]}")
    return items


def objection(items: Sequence[MissionItem], craft: str) -> tuple[int, str] | None:
    """Return the number of the first item that the craft refuses, home being 0, and the reason; None if it has none."""
    decoded = []
    for k, item in enumerate(items):
        result = _wire_limit(item)
        received = None
        if not result:
            received, result = decode(encode(item, k, (0, 1)))
        if received is None:
            return k, _reason(result, item, craft)
        decoded.append(received)
    result, k = check_mission(decoded, craft)
    return (k, _reason(result, items[k], craft)) if result else None


def _wire_limit(item: MissionItem) -> int:
    """Return the result for a value that MAVLink's types cannot hold, or 0."""
    if not 0 <= item.command <= 65_535:
        return MissionResult.UNSUPPORTED
    if not 0 <= item.frame <= 255:
        return MissionResult.UNSUPPORTED_FRAME
    for k, value in enumerate((item.p1, item.p2, item.p3, item.p4)):
        if not (isnan(value) or abs(value) <= MAX_FLOAT32):
            return MissionResult.INVALID_PARAM1 + k
    scale = 1.0 if item.frame == AltitudeFrame.MISSION else DEGREE
    for k, value in enumerate((item.x, item.y)):
        if not (isfinite(value) and abs(value) * scale <= MAX_INT32):
            return MissionResult.INVALID_PARAM5_X + k
    return 0 if abs(item.z) <= MAX_FLOAT32 else MissionResult.INVALID_PARAM7


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


class MemoryLink(MavlinkLink):
    """A MAVLink link between one vehicle and the ground station, without a socket."""

    def __init__(self) -> None:
        super().__init__(socket=None, peers=MavlinkPeers(STATION))  # type: ignore[arg-type]
        self.to_station: deque[bytes] = deque(maxlen=1000)
        self.to_vehicle: deque[bytes] = deque()

    def _send_to(self, address: Address, packet: bytes) -> None:
        self.to_station.append(packet)
        self.counters.sent += 1

    def receive(self, reader: PacketReader, wall: float) -> None:
        """Deliver the packets of the ground station to the vehicle."""
        while self.to_vehicle:
            self._take(reader.messages(self.to_vehicle.popleft(), self.counters), STATION, wall)

    def messages(self, reader: PacketReader) -> list[Any]:
        """Return the messages that have reached the ground station."""
        messages = [m for packet in self.to_station for m in reader.messages(packet, self.counters)]
        self.to_station.clear()
        return messages


class StartStage(Enum):
    """Steps from boot to a running mission."""

    WAITING = "waiting for pre-arm checks"
    UPLOADING = "uploading the mission"
    MODE = "changing to AUTO"
    ARMING = "arming"
    STARTING = "starting the mission"
    UNDER_WAY = "under way"
    REFUSED = "refused"


NEXT = {  # stage -> its command, the stage after the command is accepted, and the first parameter
    StartStage.MODE: (mav.MAV_CMD_DO_SET_MODE, StartStage.ARMING, 1.0),
    StartStage.ARMING: (mav.MAV_CMD_COMPONENT_ARM_DISARM, StartStage.STARTING, 1.0),
    StartStage.STARTING: (mav.MAV_CMD_MISSION_START, StartStage.UNDER_WAY, 0.0),
}


class MissionStarter:
    """Uploads and starts the mission of one vehicle: a state machine on simulated time that repeats every request."""

    def __init__(self, vehicle: FlownVehicle, link: MemoryLink) -> None:
        assert isinstance(vehicle.autopilot, BuiltInAutopilot)
        self.sysid, self.craft, self.link = vehicle.placed.id, vehicle.placed.craft, link
        self.autopilot, mission = vehicle.autopilot, vehicle.entry.mission
        self.stage = StartStage.WAITING
        self.note = ""
        self._auto_mode = self.autopilot.mode_number("AUTO") or 0
        self._start_us = round(vehicle.entry.start * 1e6)
        self._points = () if isinstance(mission, str) else mission or ()
        self._items = mission_file(mission, self.craft) if isinstance(mission, str) else []  # those of points: at home
        self._ready = False
        self._asked_us = self._heartbeat_us = -REPEAT_US
        self._reader, self._writer = PacketReader(), PacketWriter(SYSTEM, COMPONENT)

    def update(self, now_us: int) -> None:
        """Process received messages, and send the messages due at this simulated time."""
        for message in self.link.messages(self._reader):
            self._handle(message, now_us)
        if now_us - self._heartbeat_us >= REPEAT_US:
            self._heartbeat_us = now_us
            self._send(mav.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))  # a ground station, active
        if now_us >= self._start_us and now_us - self._asked_us >= REPEAT_US:
            self._ask(now_us)

    def _handle(self, message: Any, now_us: int) -> None:
        match message.get_type():
            case "SYS_STATUS":
                self._ready = bool(message.onboard_control_sensors_health & READY)
            case "MISSION_REQUEST_INT" | "MISSION_REQUEST" if self.stage is StartStage.UPLOADING:
                self._asked_us = now_us
                if 0 <= message.seq < len(self._items):
                    self._send(encode(self._items[message.seq], message.seq, (self.sysid, 1)))
            case "MISSION_ACK" if self.stage is StartStage.UPLOADING:
                accepted = message.type == 0
                self._enter(StartStage.MODE if accepted else StartStage.REFUSED)
                self.note = "" if accepted else f"mission refused with result {message.type}"
            case "COMMAND_ACK" if self.stage in NEXT and message.command == NEXT[self.stage][0]:
                if message.result in ACCEPTED:
                    self._enter(NEXT[self.stage][1])
                else:  # asked again in a second
                    self.note = f"command {message.command} answered with result {message.result}"

    def _enter(self, stage: StartStage) -> None:
        self.stage, self.note = stage, ""
        self._asked_us = -REPEAT_US

    def _ask(self, now_us: int) -> None:
        self._asked_us = now_us
        match self.stage:
            case StartStage.WAITING:
                home = self.autopilot.home
                if self._ready and not self._items and home is not None:
                    self._items = point_mission(self._points, LocalFrame(*home), self.craft)
                if self._ready and self._items:
                    self._enter(StartStage.UPLOADING)
            case StartStage.UPLOADING:
                self._send(mav.MAVLink_mission_count_message(self.sysid, 1, len(self._items), 0))
            case stage if stage in NEXT:
                command, _, first = NEXT[stage]
                mode = float(self._auto_mode) if stage is StartStage.MODE else 0.0
                self._send(mav.MAVLink_command_long_message(self.sysid, 1, command, 0, first, mode, *[0.0] * 5))

    def _send(self, message: Any) -> None:
        self.link.to_vehicle.append(self._writer.pack(message))


class GroundStation:
    """Starts the missions of several vehicles; serviced by the ticking thread, on simulated time."""

    def __init__(self, hub: MavlinkHub, vehicles: Sequence[FlownVehicle]) -> None:
        self._vehicles, self._reader = list(vehicles), PacketReader()
        self._links: dict[int, MemoryLink] = {}
        for vehicle in self._vehicles:
            sysid = vehicle.placed.id
            link = self._links[sysid] = MemoryLink()
            link.vehicles[sysid] = hub.vehicles[sysid]
            hub.vehicles[sysid].links.append(link)
        self._begin()

    def _begin(self) -> None:
        self._now_us = -PERIOD_US
        self.starters = [MissionStarter(vehicle, self._links[vehicle.placed.id]) for vehicle in self._vehicles]

    def service(self, now_us: int) -> None:
        """Exchange messages at this simulated time; restart if time has decreased."""
        if now_us < self._now_us:
            self._begin()
        if now_us - self._now_us < PERIOD_US:
            return
        self._now_us = now_us
        for starter in self.starters:
            starter.update(now_us)
            starter.link.receive(self._reader, monotonic())

    def notes(self) -> dict[int, str]:
        """Return the stage of each vehicle whose mission is not under way, by system id."""
        busy = [starter for starter in self.starters if starter.stage is not StartStage.UNDER_WAY]
        return {starter.sysid: starter.note or starter.stage.value for starter in busy}
