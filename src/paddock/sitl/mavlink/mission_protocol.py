"""The mission protocol: uploads, downloads, partial lists, clearing, the current item."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import nan
from time import monotonic
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.mission.items import AltitudeFrame, MissionItem, PlanKind
from paddock.sitl.autopilot.telemetry import Severity
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages.status import mission_current
from paddock.sitl.mavlink.mission_items import decode, encode

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Address, Sender
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle


MAX_ITEMS = 2000
RETRY_AFTER = 1.0  # s, of simulated and of wall time, before an item is requested again
MAX_REQUESTS = 8  # for the same item
DUPLICATE_WINDOW = 0.25  # s of wall time after an ack in which a repeated item is a duplicate
GUIDED_ITEM = 2  # `current` of an item that is a GUIDED target


@dataclass
class Upload:
    """An upload in progress."""

    sender: Sender
    kind: PlanKind
    count: int
    first: int = 0  # sequence number of the first item
    before: tuple[MissionItem, ...] = ()  # the plan that a partial upload changes
    items: list[MissionItem] = field(default_factory=list)
    asked: int = 0  # requests of the next item
    asked_us: int = 0
    asked_wall: float = 0.0

    @property
    def next(self) -> int:
        """Sequence number of the next item."""
        return self.first + len(self.items)

    @property
    def plan(self) -> tuple[MissionItem, ...]:
        """The whole plan with the items received."""
        return (*self.before[: self.first], *self.items, *self.before[self.first + self.count :])


@dataclass
class FinishedUpload:
    """An upload that has been acknowledged."""

    upload: Upload
    result: int
    wall: float  # time of the last ack
    settled: bool = False  # the sender has received the ack


class MissionUpload:
    """The uploads of one vehicle: one at a time of each kind. The old plan is kept until the new one is complete."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self._running: dict[PlanKind, Upload] = {}
        self._done: dict[PlanKind, FinishedUpload] = {}  # the last ones
        self.handlers = {
            "MISSION_COUNT": self._begin,
            "MISSION_ITEM_INT": self._item,
            "MISSION_ITEM": self._item,
            "MISSION_WRITE_PARTIAL_LIST": self._begin_part,
        }

    def restart(self) -> None:
        """Restart simulated time."""
        for upload in self._running.values():
            upload.asked_us = 0

    def _begin(self, message: Any, sender: Sender) -> None:
        kind = plan_kind(message)
        if kind is None:
            self.acknowledge(sender, mav.MAV_MISSION_UNSUPPORTED, message.mission_type)
        else:
            self._admit(Upload(sender, kind, message.count))

    def _begin_part(self, message: Any, sender: Sender) -> None:
        """Replace some items of the plan, or append; both indices are inclusive."""
        kind = plan_kind(message)
        if kind is None:
            self.acknowledge(sender, mav.MAV_MISSION_UNSUPPORTED, message.mission_type)
            return
        plan, first = self.autopilot.plans[kind], message.start_index
        if not 0 <= first <= min(message.end_index, len(plan)):
            self.acknowledge(sender, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        self._admit(Upload(sender, kind, message.end_index - first + 1, first, plan))

    def _admit(self, upload: Upload) -> None:
        """Accept one sender at a time, and at most MAX_ITEMS."""
        busy = self._running.get(upload.kind)
        if busy is not None and busy.sender.key != upload.sender.key:
            self.acknowledge(upload.sender, mav.MAV_MISSION_DENIED, upload.kind)
        elif upload.first + upload.count > MAX_ITEMS:
            self.acknowledge(upload.sender, mav.MAV_MISSION_NO_SPACE, upload.kind)
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
        sender = upload.sender
        self.vehicle.reply(
            mav.MAVLink_mission_request_int_message(sender.system, sender.component, upload.next, int(upload.kind)),
            sender,
        )

    def _item(self, message: Any, sender: Sender) -> None:
        kind = plan_kind(message)
        upload = self._running.get(kind) if kind is not None else None
        if message.current == GUIDED_ITEM:
            self._go(message, sender)
        elif kind is None or upload is None or upload.sender.key != sender.key:
            self._unexpected(message, sender, kind)
        elif message.seq > upload.next:
            self._ask(upload)
        elif message.seq == upload.next:
            self._take(upload, message)
        # duplicates are ignored

    def _go(self, message: Any, sender: Sender) -> None:
        """Handle a GUIDED target, as MAVProxy and Mission Planner send it."""
        item, wrong = decode(message)
        if item is not None:
            p = (-1.0, 0.0, 0.0, nan, item.x, item.y, item.z)
            ack = self.autopilot.command(mav.MAV_CMD_DO_REPOSITION, p, item.frame)
            wrong = mav.MAV_MISSION_ACCEPTED if ack.accepted else mav.MAV_MISSION_ERROR
            if ack.text:
                self.autopilot.send_text(Severity.WARNING, ack.text)
        self.acknowledge(sender, wrong, message.mission_type)

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
        wrong, at = self.autopilot.set_plan(upload.kind, upload.plan)
        if wrong:
            self._refuse(upload, wrong, at)
        else:
            self._end(upload, mav.MAV_MISSION_ACCEPTED)

    def _refuse(self, upload: Upload, result: int, at: int) -> None:
        self.autopilot.send_text(
            Severity.WARNING, f"{upload.kind.name.capitalize()} item {at} rejected: {reason(result)}"
        )
        self._end(upload, result)

    def _end(self, upload: Upload, result: int) -> None:
        del self._running[upload.kind]
        self._done[upload.kind] = FinishedUpload(upload, result, monotonic())
        self.acknowledge(upload.sender, result, upload.kind)

    def _unexpected(self, message: Any, sender: Sender, kind: PlanKind | None) -> None:
        """Handle a repeated last item, whose ack was lost, or an item without an upload."""
        done = self._done.get(kind) if kind is not None else None
        if done is None or done.upload.sender.key != sender.key:
            self.acknowledge(sender, mav.MAV_MISSION_ERROR, message.mission_type)
        elif message.seq == done.upload.next - 1 or done.result:
            self._repeat(done)

    def _repeat(self, done: FinishedUpload) -> None:
        """Repeat the ack, but not for a duplicate: it would be taken for the ack of the next upload."""
        now = monotonic()
        if not done.settled and now - done.wall >= DUPLICATE_WINDOW:
            done.wall = now
            self.acknowledge(done.upload.sender, done.result, done.upload.kind)

    def settle(self, sender: Sender, kind: PlanKind) -> None:
        """Note that the sender has received the ack: it goes on with another transaction."""
        done = self._done.get(kind)
        if done is not None and done.upload.sender.key == sender.key:
            done.settled = True

    def cancel(self, sender: Sender, kind: PlanKind) -> None:
        """Cancel an upload."""
        upload = self._running.get(kind)
        if upload is not None and upload.sender.key == sender.key:
            del self._running[kind]

    def service(self, now_us: int, wall: float) -> None:
        """Repeat requests; time out after a while."""
        for upload in list(self._running.values()):
            if wall - upload.asked_wall < RETRY_AFTER or now_us - upload.asked_us < RETRY_AFTER * 1e6:
                continue
            if upload.asked < MAX_REQUESTS:
                self._ask(upload)
                continue
            self.autopilot.send_text(Severity.WARNING, f"{upload.kind.name.capitalize()} upload timed out")
            self._end(upload, mav.MAV_MISSION_OPERATION_CANCELLED)

    def acknowledge(self, sender: Sender, result: int, kind: int) -> None:
        """Send MISSION_ACK."""
        self.vehicle.reply(mav.MAVLink_mission_ack_message(sender.system, sender.component, result, int(kind)), sender)


def plan_kind(message: Any) -> PlanKind | None:
    """Return the plan kind of a message; None if unsupported."""
    return PlanKind(message.mission_type) if message.mission_type in (0, 1, 2) else None


def reason(result: int) -> str:
    """Return the name of a MAV_MISSION_RESULT."""
    entry = mav.enums["MAV_MISSION_RESULT"].get(result)
    return entry.name.removeprefix("MAV_MISSION_").lower().replace("_", " ") if entry is not None else str(result)


# downloads, clearing, current item -----------------------------------------------------------------------------------

ALL_PLANS = 255
TO_THE_END = -1  # as the end index
BATCH = 20  # items of partial lists per poll: a receiver's socket buffer must hold them
MAX_DOWNLOADS = 64  # remembered; the oldest is dropped

Items = tuple[MissionItem, ...]


class MissionProtocol:
    """The mission protocol of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self.upload = MissionUpload(vehicle)
        self._downloads: dict[tuple[tuple[Address, int, int], PlanKind], Items] = {}  # as counted
        self._parts: deque[tuple[Sender, PlanKind, int]] = deque(maxlen=MAX_ITEMS)  # items to send without a request
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

    def _count(self, message: Any, sender: Sender) -> None:
        kind = plan_kind(message)
        if kind is None:
            self._refuse(message, sender)
            return
        items = self.autopilot.plans[kind]
        self.upload.settle(sender, kind)
        self._downloads.pop((sender.key, kind), None)
        self._downloads[sender.key, kind] = items
        if len(self._downloads) > MAX_DOWNLOADS:
            del self._downloads[next(iter(self._downloads))]
        count = mav.MAVLink_mission_count_message(sender.system, sender.component, len(items), int(kind))
        self.vehicle.reply(count, sender)

    def _request(self, message: Any, sender: Sender) -> None:
        kind = plan_kind(message)
        if kind is None:
            self._refuse(message, sender)
            return
        items = self._downloads.get((sender.key, kind), self.autopilot.plans[kind])
        if message.seq >= len(items):
            self.upload.acknowledge(sender, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        integers = message.get_type() == "MISSION_REQUEST_INT"
        self._send_item(items[message.seq], message.seq, kind, sender, integers)

    def _send_item(self, item: MissionItem, seq: int, kind: PlanKind, sender: Sender, integers: bool = True) -> None:
        """Send an item; item 0 of a mission is the current home."""
        mission = kind is PlanKind.MISSION
        home = self.autopilot.home if mission and seq == 0 else None
        if home is not None:
            item = MissionItem(mav.MAV_CMD_NAV_WAYPOINT, AltitudeFrame.GLOBAL, p4=0.0, x=home[0], y=home[1], z=home[2])
        current = mission and seq == self.autopilot.telemetry.mission_current
        self.vehicle.reply(encode(item, seq, kind, current, sender, integers), sender)

    def _part(self, message: Any, sender: Sender) -> None:
        """Send the items of an index range without further requests."""
        kind = plan_kind(message)
        if kind is None:
            self._refuse(message, sender)
            return
        self.upload.settle(sender, kind)
        count = len(self.autopilot.plans[kind])
        last = count - 1 if message.end_index == TO_THE_END else message.end_index
        if not 0 <= message.start_index <= last < count:
            self.upload.acknowledge(sender, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        self._parts.extend((sender, kind, seq) for seq in range(message.start_index, last + 1))

    def service(self, now_us: int, wall: float) -> None:
        """Send partial lists, a few items at a time, and service uploads."""
        for _ in range(min(len(self._parts), BATCH)):
            sender, kind, seq = self._parts.popleft()
            if seq < len(self.autopilot.plans[kind]):
                self._send_item(self.autopilot.plans[kind][seq], seq, kind, sender)
        self.upload.service(now_us, wall)

    def _acknowledged(self, message: Any, sender: Sender) -> None:
        """End a download, or an upload that the sender cancels."""
        kind = plan_kind(message)
        if kind is None:
            return
        self._downloads.pop((sender.key, kind), None)
        if message.type != mav.MAV_MISSION_ACCEPTED:
            self.upload.cancel(sender, kind)

    def _clear(self, message: Any, sender: Sender) -> None:
        kind = plan_kind(message)
        if kind is None and message.mission_type != ALL_PLANS:
            self._refuse(message, sender)
            return
        kinds = tuple(PlanKind) if kind is None else (kind,)
        results = [self.autopilot.set_plan(each, ())[0] for each in kinds]
        self.upload.acknowledge(sender, max(results), message.mission_type)

    def _set_current(self, message: Any, sender: Sender) -> None:
        ack = self.autopilot.set_current(message.seq)
        if ack.accepted:
            self.vehicle.send(mission_current(self.autopilot))
            return
        self.autopilot.send_text(Severity.WARNING, ack.text or f"Mission item {message.seq} rejected")
        self.upload.acknowledge(sender, mav.MAV_MISSION_INVALID_SEQUENCE, PlanKind.MISSION)

    def _refuse(self, message: Any, sender: Sender) -> None:
        self.upload.acknowledge(sender, mav.MAV_MISSION_UNSUPPORTED, message.mission_type)
