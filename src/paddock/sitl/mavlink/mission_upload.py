"""A station gives a vehicle a plan, one item after the other; the old plan stays until the new one is complete."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from time import monotonic
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.mission_item import MissionItem, PlanKind
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.mission_items import decode

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Origin
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

MOST_ITEMS = 2000
PATIENCE = 1.0  # s, of simulated and of wall time, before an item is asked for again
MOST_REQUESTS = 8  # for the same item
REPEATED = 0.25  # s of wall time after an answer in which an item that comes again had been on its way already
GO_THERE = 2  # the `current` of an item that is an order for now


@dataclass
class Upload:
    """One plan on its way."""

    origin: Origin
    kind: PlanKind
    count: int
    first: int = 0  # the sequence number of the first item
    before: tuple[MissionItem, ...] = ()  # the plan of which this is a part
    items: list[MissionItem] = field(default_factory=list)
    asked: int = 0  # times, for the item that comes next
    asked_us: int = 0
    asked_wall: float = 0.0

    @property
    def next(self) -> int:
        """The sequence number of the item that comes next."""
        return self.first + len(self.items)

    @property
    def plan(self) -> tuple[MissionItem, ...]:
        """The whole plan with what has come."""
        return (*self.before[: self.first], *self.items, *self.before[self.first + self.count :])


@dataclass
class Ended:
    """An upload that has been answered."""

    upload: Upload
    result: int
    wall: float  # when it was last answered
    settled: bool = False  # the station knows


class MissionUpload:
    """The uploads of one vehicle: one at a time of each kind of plan."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self._running: dict[PlanKind, Upload] = {}
        self._done: dict[PlanKind, Ended] = {}  # the last ones
        self.handlers = {
            "MISSION_COUNT": self._begin,
            "MISSION_ITEM_INT": self._item,
            "MISSION_ITEM": self._item,
            "MISSION_WRITE_PARTIAL_LIST": self._begin_part,
        }

    def restart(self) -> None:
        """Time begins anew."""
        for upload in self._running.values():
            upload.asked_us = 0

    def _begin(self, message: Any, origin: Origin) -> None:
        kind = plan_kind(message)
        if kind is None:
            self.acknowledge(origin, mav.MAV_MISSION_UNSUPPORTED, message.mission_type)
        else:
            self._admit(Upload(origin, kind, message.count))

    def _begin_part(self, message: Any, origin: Origin) -> None:
        """Some items of the plan anew, and more at its end if it is to grow; both ends belong to the part."""
        kind = plan_kind(message)
        if kind is None:
            self.acknowledge(origin, mav.MAV_MISSION_UNSUPPORTED, message.mission_type)
            return
        plan, first = self.autopilot.plans[kind], message.start_index
        if not 0 <= first <= min(message.end_index, len(plan)):
            self.acknowledge(origin, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        self._admit(Upload(origin, kind, message.end_index - first + 1, first, plan))

    def _admit(self, upload: Upload) -> None:
        """One station at a time, and no more than fits."""
        busy = self._running.get(upload.kind)
        if busy is not None and busy.origin.key != upload.origin.key:
            self.acknowledge(upload.origin, mav.MAV_MISSION_DENIED, upload.kind)
        elif upload.first + upload.count > MOST_ITEMS:
            self.acknowledge(upload.origin, mav.MAV_MISSION_NO_SPACE, upload.kind)
        else:
            self._start(upload)

    def _start(self, upload: Upload) -> None:
        self._done.pop(upload.kind, None)
        self._running[upload.kind] = upload
        if upload.count == 0:
            self._complete(upload)
        else:
            self._ask(upload)

    def _ask(self, upload: Upload) -> None:
        upload.asked += 1
        upload.asked_us, upload.asked_wall = self.vehicle.now_us, monotonic()
        origin = upload.origin
        self.vehicle.reply(
            mav.MAVLink_mission_request_int_message(origin.system, origin.component, upload.next, int(upload.kind)),
            origin,
        )

    def _item(self, message: Any, origin: Origin) -> None:
        kind = plan_kind(message)
        upload = self._running.get(kind) if kind is not None else None
        if message.current == GO_THERE:
            self._go(message, origin)
        elif kind is None or upload is None or upload.origin.key != origin.key:
            self._unexpected(message, origin, kind)
        elif message.seq > upload.next:
            self._ask(upload)
        elif message.seq == upload.next:
            self._take(upload, message)
        # an item that is there already came twice: nothing to do

    def _go(self, message: Any, origin: Origin) -> None:
        """An item of no plan: MAVProxy and Mission Planner send the vehicle somewhere with it, in GUIDED."""
        item, wrong = decode(message)
        if item is not None:
            order = (-1.0, 0.0, 0.0, nan, item.x, item.y, item.z)
            answer = self.autopilot.command(mav.MAV_CMD_DO_REPOSITION, order, item.frame)
            wrong = mav.MAV_MISSION_ACCEPTED if answer.accepted else mav.MAV_MISSION_ERROR
            if answer.text:
                self.autopilot.say(Severity.WARNING, answer.text)
        self.acknowledge(origin, wrong, message.mission_type)

    def _take(self, upload: Upload, message: Any) -> None:
        item, wrong = decode(message)
        wrong = wrong or (self.autopilot.check_item(upload.kind, item) if item is not None else 0)
        if item is None or wrong:
            self._refuse(upload, wrong, upload.next)
            return
        upload.items.append(item)
        upload.asked = 0
        if len(upload.items) == upload.count:
            self._complete(upload)
        else:
            self._ask(upload)

    def _complete(self, upload: Upload) -> None:
        wrong, at = self.autopilot.accept_plan(upload.kind, upload.plan)
        if wrong:
            self._refuse(upload, wrong, at)
        else:
            self._end(upload, mav.MAV_MISSION_ACCEPTED)

    def _refuse(self, upload: Upload, result: int, at: int) -> None:
        self.autopilot.say(Severity.WARNING, f"{upload.kind.name.capitalize()} item {at} refused: {reason(result)}")
        self._end(upload, result)

    def _end(self, upload: Upload, result: int) -> None:
        del self._running[upload.kind]
        self._done[upload.kind] = Ended(upload, result, monotonic())
        self.acknowledge(upload.origin, result, upload.kind)

    def _unexpected(self, message: Any, origin: Origin, kind: PlanKind | None) -> None:
        """The last item again, because the station missed our answer; or an item out of the blue."""
        done = self._done.get(kind) if kind is not None else None
        if done is None or done.upload.origin.key != origin.key:
            self.acknowledge(origin, mav.MAV_MISSION_ERROR, message.mission_type)
        elif message.seq == done.upload.next - 1 or done.result:
            self._repeat(done)

    def _repeat(self, done: Ended) -> None:
        """Answer again, but not to an item sent twice: the second answer would be taken for that of what comes next."""
        now = monotonic()
        if not done.settled and now - done.wall >= REPEATED:
            done.wall = now
            self.acknowledge(done.upload.origin, done.result, done.upload.kind)

    def settle(self, origin: Origin, kind: PlanKind) -> None:
        """The station does something else with that plan: it has heard our answer."""
        done = self._done.get(kind)
        if done is not None and done.upload.origin.key == origin.key:
            done.settled = True

    def cancel(self, origin: Origin, kind: PlanKind) -> None:
        """The station does not go on with it."""
        upload = self._running.get(kind)
        if upload is not None and upload.origin.key == origin.key:
            del self._running[kind]

    def service(self, now_us: int, wall: float) -> None:
        """Ask again for what does not come; give up after a while."""
        for upload in list(self._running.values()):
            if wall - upload.asked_wall < PATIENCE or now_us - upload.asked_us < PATIENCE * 1e6:
                continue
            if upload.asked < MOST_REQUESTS:
                self._ask(upload)
                continue
            self.autopilot.say(Severity.WARNING, f"{upload.kind.name.capitalize()} upload timed out")
            self._end(upload, mav.MAV_MISSION_OPERATION_CANCELLED)

    def acknowledge(self, origin: Origin, result: int, kind: int) -> None:
        """MISSION_ACK."""
        self.vehicle.reply(mav.MAVLink_mission_ack_message(origin.system, origin.component, result, int(kind)), origin)


def plan_kind(message: Any) -> PlanKind | None:
    """Which plan a message is about; None if there is none of that kind."""
    return PlanKind(message.mission_type) if message.mission_type in (0, 1, 2) else None


def reason(result: int) -> str:
    """A MAV_MISSION_RESULT in words."""
    entry = mav.enums["MAV_MISSION_RESULT"].get(result)
    return entry.name.removeprefix("MAV_MISSION_").lower().replace("_", " ") if entry is not None else str(result)
