"""The scenario's own ground station: it uploads missions over MAVLink, arms the vehicles and starts them.

Packets pass through memory, so that a lockstep run repeats byte for byte.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from time import monotonic
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.autopilot.estimate import LocalFrame
from paddock.sitl.autopilot.mission.items import MissionItem
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.link import Address, MavlinkLink, MavlinkPeers
from paddock.sitl.mavlink.packets import PacketReader, PacketWriter
from paddock.sitl.missions import item_message, mission_file, point_mission

if TYPE_CHECKING:
    from paddock.sitl.from_scenario import FlownVehicle
    from paddock.sitl.mavlink.hub import MavlinkHub

SYSTEM, COMPONENT = 255, 190  # ids of a ground station
STATION: Address = ("station", 0)  # address of the ground station; no socket has it
PERIOD_US = 20_000  # simulated us between two rounds of service
REPEAT_US = 1_000_000  # simulated us after which an unanswered request is repeated
READY = mav.MAV_SYS_STATUS_PREARM_CHECK
ACCEPTED = (mav.MAV_RESULT_ACCEPTED, mav.MAV_RESULT_IN_PROGRESS)


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


NEXT = {  # stage -> its command, and the stage after the command is accepted
    StartStage.MODE: (mav.MAV_CMD_DO_SET_MODE, StartStage.ARMING),
    StartStage.ARMING: (mav.MAV_CMD_COMPONENT_ARM_DISARM, StartStage.STARTING),
    StartStage.STARTING: (mav.MAV_CMD_MISSION_START, StartStage.UNDER_WAY),
}


class MissionStarter:
    """Uploads and starts the mission of one vehicle: a state machine on simulated time that repeats every request."""

    def __init__(self, vehicle: FlownVehicle, link: MemoryLink) -> None:
        assert isinstance(vehicle.autopilot, BuiltInAutopilot)
        self.sysid, self.link = vehicle.placed.id, link
        self.stage = StartStage.WAITING
        self.note = ""
        self._auto_mode = vehicle.autopilot.mode_number("AUTO") or 0
        self._start_us = round(vehicle.entry.start * 1e6)
        self._mission = _mission(vehicle, vehicle.autopilot)
        self._items: Sequence[MissionItem] = ()
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
                    self._send(item_message(self._items[message.seq], self.sysid, message.seq))
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
                items = self._mission() if self._ready else None
                if items is not None:
                    self._items = items
                    self._enter(StartStage.UPLOADING)
            case StartStage.UPLOADING:
                self._send(mav.MAVLink_mission_count_message(self.sysid, 1, len(self._items), 0))
            case StartStage.MODE:
                self._command(1.0, float(self._auto_mode))
            case StartStage.ARMING:
                self._command(1.0)
            case StartStage.STARTING:
                self._command()

    def _command(self, *given: float) -> None:
        numbers = (*given, *([0.0] * (7 - len(given))))
        self._send(mav.MAVLink_command_long_message(self.sysid, 1, NEXT[self.stage][0], 0, *numbers))

    def _send(self, message: Any) -> None:
        self.link.to_vehicle.append(self._writer.pack(message))


def _mission(vehicle: FlownVehicle, autopilot: BuiltInAutopilot) -> Callable[[], list[MissionItem] | None]:
    """Return what gives the items of a vehicle's mission; None until its home is known."""
    mission, craft = vehicle.entry.mission, vehicle.placed.craft
    if isinstance(mission, str):
        items = mission_file(mission, craft)
        return lambda: items
    points = mission or ()
    return lambda: None if autopilot.home is None else point_mission(points, LocalFrame(*autopilot.home), craft)


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
