"""The rest of the mission protocol: downloads for any number of stations, clearing, and the current item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.mission_item import MissionItem, PlanKind
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages.mission import mission_current
from paddock.sitl.mavlink.mission_items import encode
from paddock.sitl.mavlink.mission_upload import MissionUpload, plan_kind

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Origin
    from paddock.sitl.mavlink.peers import Address
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

ALL_PLANS = 255
MOST_DOWNLOADS = 64  # remembered; the oldest is forgotten

Items = tuple[MissionItem, ...]


class MissionProtocol:
    """Of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self.upload = MissionUpload(vehicle)
        self._downloads: dict[tuple[tuple[Address, int, int], PlanKind], Items] = {}  # as they were when counted
        self.handlers = {
            **self.upload.handlers,
            "MISSION_REQUEST_LIST": self._count,
            "MISSION_REQUEST_INT": self._request,
            "MISSION_REQUEST": self._request,
            "MISSION_ACK": self._acknowledged,
            "MISSION_CLEAR_ALL": self._clear,
            "MISSION_SET_CURRENT": self._set_current,
            "MISSION_REQUEST_PARTIAL_LIST": self._refuse,
        }

    def _count(self, message: Any, origin: Origin) -> None:
        kind = plan_kind(message)
        if kind is None:
            self._refuse(message, origin)
            return
        items = self.autopilot.plans[kind]
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
        current = kind is PlanKind.MISSION and message.seq == self.autopilot.telemetry.mission_current
        integers = message.get_type() == "MISSION_REQUEST_INT"
        self.vehicle.reply(encode(items[message.seq], message.seq, kind, current, origin, integers), origin)

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
