"""The rest of the mission protocol: downloads for many stations, whole or in part; clearing; the current item."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.mission_item import Frame, MissionItem, PlanKind
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages.mission import mission_current
from paddock.sitl.mavlink.mission_items import encode
from paddock.sitl.mavlink.mission_upload import MOST_ITEMS, MissionUpload, plan_kind

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Origin
    from paddock.sitl.mavlink.peers import Address
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

ALL_PLANS = 255
TO_THE_END = -1  # as the last index of a part
BATCH = 20  # items of parts sent at one go: a station's socket holds what comes while it is busy
MOST_DOWNLOADS = 64  # remembered; the oldest is forgotten

Items = tuple[MissionItem, ...]


class MissionProtocol:
    """Of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self.upload = MissionUpload(vehicle)
        self._downloads: dict[tuple[tuple[Address, int, int], PlanKind], Items] = {}  # as they were when counted
        self._parts: deque[tuple[Origin, PlanKind, int]] = deque(
            maxlen=MOST_ITEMS
        )  # items to be sent without a request
        self.handlers = {
            **self.upload.handlers,
            "MISSION_REQUEST_LIST": self._count,
            "MISSION_REQUEST_INT": self._request,
            "MISSION_REQUEST": self._request,
            "MISSION_ACK": self._acknowledged,
            "MISSION_CLEAR_ALL": self._clear,
            "MISSION_SET_CURRENT": self._set_current,
            "MISSION_REQUEST_PARTIAL_LIST": self._part,
        }

    def _count(self, message: Any, origin: Origin) -> None:
        kind = plan_kind(message)
        if kind is None:
            self._refuse(message, origin)
            return
        items = self.autopilot.plans[kind]
        self.upload.settle(origin, kind)
        self._downloads.pop((origin.key, kind), None)
        self._downloads[origin.key, kind] = items
        if len(self._downloads) > MOST_DOWNLOADS:
            del self._downloads[next(iter(self._downloads))]
        count = mav.MAVLink_mission_count_message(origin.system, origin.component, len(items), int(kind))
        self.vehicle.reply(count, origin)

    def _request(self, message: Any, origin: Origin) -> None:
        kind = plan_kind(message)
        if kind is None:
            self._refuse(message, origin)
            return
        items = self._downloads.get((origin.key, kind), self.autopilot.plans[kind])
        if message.seq >= len(items):
            self.upload.acknowledge(origin, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        integers = message.get_type() == "MISSION_REQUEST_INT"
        self._tell(items[message.seq], message.seq, kind, origin, integers)

    def _tell(self, item: MissionItem, seq: int, kind: PlanKind, origin: Origin, integers: bool = True) -> None:
        """Item 0 of a mission is home, wherever that is by now."""
        mission = kind is PlanKind.MISSION
        home = self.autopilot.home if mission and seq == 0 else None
        if home is not None:
            item = MissionItem(mav.MAV_CMD_NAV_WAYPOINT, Frame.GLOBAL, p4=0.0, x=home[0], y=home[1], z=home[2])
        current = mission and seq == self.autopilot.telemetry.mission_current
        self.vehicle.reply(encode(item, seq, kind, current, origin, integers), origin)

    def _part(self, message: Any, origin: Origin) -> None:
        """The items from the first to the last index, without more requests; an index that there is not is refused."""
        kind = plan_kind(message)
        if kind is None:
            self._refuse(message, origin)
            return
        self.upload.settle(origin, kind)
        count = len(self.autopilot.plans[kind])
        last = count - 1 if message.end_index == TO_THE_END else message.end_index
        if not 0 <= message.start_index <= last < count:
            self.upload.acknowledge(origin, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        self._parts.extend((origin, kind, seq) for seq in range(message.start_index, last + 1))

    def service(self, now_us: int, wall: float) -> None:
        """Send what parts are wanted, a few items at a time, and go on with uploads."""
        for _ in range(min(len(self._parts), BATCH)):
            origin, kind, seq = self._parts.popleft()
            if seq < len(self.autopilot.plans[kind]):
                self._tell(self.autopilot.plans[kind][seq], seq, kind, origin)
        self.upload.service(now_us, wall)

    def _acknowledged(self, message: Any, origin: Origin) -> None:
        """The end of a download, or of an upload that the station gives up."""
        kind = plan_kind(message)
        if kind is None:
            return
        self._downloads.pop((origin.key, kind), None)
        if message.type != mav.MAV_MISSION_ACCEPTED:
            self.upload.cancel(origin, kind)

    def _clear(self, message: Any, origin: Origin) -> None:
        kind = plan_kind(message)
        if kind is None and message.mission_type != ALL_PLANS:
            self._refuse(message, origin)
            return
        kinds = tuple(PlanKind) if kind is None else (kind,)
        results = [self.autopilot.accept_plan(each, ())[0] for each in kinds]
        self.upload.acknowledge(origin, max(results), message.mission_type)

    def _set_current(self, message: Any, origin: Origin) -> None:
        answer = self.autopilot.set_current(message.seq)
        if answer.accepted:
            self.vehicle.send(mission_current(self.autopilot))
            return
        self.autopilot.say(Severity.WARNING, answer.text or f"Mission item {message.seq} refused")
        self.upload.acknowledge(origin, mav.MAV_MISSION_INVALID_SEQUENCE, PlanKind.MISSION)

    def _refuse(self, message: Any, origin: Origin) -> None:
        self.upload.acknowledge(origin, mav.MAV_MISSION_UNSUPPORTED, message.mission_type)
