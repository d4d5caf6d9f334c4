"""The MAVLink protocols of missions, parameters and on-board logs.

Missions: items on the wire; uploads, downloads, partial lists, clearing, the current item. Parameters: list, read, set;
ground stations try file transfer first (`file_transfer`). Logs: list, download, erase.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite, isnan, nan
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from paddock.autopilot.mission_items import (
    ITEM_KINDS,
    AltitudeFrame,
    MissionItem,
    PlanKind,
    Role,
    altitude_frame,
)
from paddock.autopilot.telemetry import Severity
from paddock.files import open_file
from paddock.mavlink.packets import int32, mav

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkVehicle
    from paddock.mavlink.link import Address, Sender

DEGREE = 1e7  # units of an integer latitude
FIRST_ACTION = 80
"""MAV_CMDs below this number are NAV: their parameters must be numbers. In others NaN means the default."""


def decode(message: Any) -> tuple[MissionItem | None, int]:
    """Return the item of MISSION_ITEM_INT or MISSION_ITEM and 0, or None and the MAV_MISSION_RESULT."""
    m, frame = message, altitude_frame(message.frame)
    if frame is None:
        return None, mav.MAV_MISSION_UNSUPPORTED_FRAME
    # whether x, y are a position and z an altitude; neither for an unknown command, which is refused later
    has_position, height = True, m.mission_type == PlanKind.RALLY
    if m.mission_type == PlanKind.MISSION:
        kind = ITEM_KINDS.get(m.command)
        has_position, height = (kind.has_position, kind.height) if kind is not None else (False, False)
    on_earth = is_scaled(m.command, frame)
    scale = DEGREE if m.get_type() == "MISSION_ITEM_INT" and on_earth else 1.0
    values = (m.x / scale, has_position), (m.y / scale, has_position), (m.z, height)
    x, y, z = (0.0 if isnan(value) and not used else value for value, used in values)
    limits = ((x, 90.0), (y, 180.0), (z, inf)) if on_earth else ((x, inf), (y, inf), (z, inf))
    for number, (value, most) in enumerate(limits):
        if not isfinite(value) or abs(value) > most:
            return None, mav.MAV_MISSION_INVALID_PARAM5_X + number
    parameters = (m.param1, m.param2, m.param3, m.param4)
    for number, value in enumerate(parameters):
        if not (isfinite(value) or isnan(value)):
            return None, mav.MAV_MISSION_INVALID_PARAM1 + number
    # MAVSDK and others send NaN for unused parameters, also of RETURN_TO_LAUNCH
    defaults = m.command >= FIRST_ACTION or m.command == mav.MAV_CMD_NAV_RETURN_TO_LAUNCH
    p1, p2, p3 = (0.0 if isnan(value) and defaults else value for value in parameters[:3])
    return MissionItem(m.command, frame, p1, p2, p3, m.param4, x, y, z, autocontinue=bool(m.autocontinue)), 0


def is_scaled(command: int, frame: int) -> bool:
    """Return whether x and y of an item are degrees, and integers on the wire 1e7 times that; else plain numbers."""
    kind = ITEM_KINDS.get(command)
    numbers = (
        kind is not None and kind.role is not Role.NAV and not kind.has_position
    )  # DO_DIGICAM_CONTROL has some there
    return frame != AltitudeFrame.MISSION and not numbers


def encode(
    item: MissionItem,
    sequence: int,
    target: tuple[int, int],
    kind: PlanKind = PlanKind.MISSION,
    current: bool = False,
    integers: bool = True,
) -> Any:
    """Return MISSION_ITEM_INT, or MISSION_ITEM where `integers` is False.

    sequence: of the item. target: system and component. kind: of its plan. current: whether it is the current item.
    """
    scale = DEGREE if is_scaled(item.command, item.frame) else 1.0
    coordinates = (int32(item.x, scale), int32(item.y, scale)) if integers else (item.x, item.y)
    head = (*target, sequence, int(item.frame), item.command, int(current), int(item.autocontinue))
    make = mav.MAVLink_mission_item_int_message if integers else mav.MAVLink_mission_item_message
    return make(*head, item.p1, item.p2, item.p3, item.p4, *coordinates, item.z, int(kind))


MAX_ITEMS = 2000
RETRY_AFTER = 1.0  # s, of simulated and of wall time, before an item is requested again
MAX_REQUESTS = 8  # for the same item
DUPLICATE_WINDOW = 0.25  # s of wall time after an ack in which a repeated item is a duplicate
GUIDED_ITEM = 2  # `current` of an item that is a GUIDED target
ALL_PLANS = 255
TO_THE_END = -1  # as the end index
BATCH = 20  # items of partial lists per poll: a receiver's socket buffer must hold them
MAX_DOWNLOADS = 64  # remembered; the oldest is dropped

Items = tuple[MissionItem, ...]


@dataclass
class Upload:
    """An upload, in progress or acknowledged."""

    sender: Sender
    kind: PlanKind
    count: int
    first: int = 0  # sequence number of the first item
    before: Items = ()  # the plan that a partial upload changes
    items: list[MissionItem] = field(default_factory=list)
    requests: int = 0  # requests of the next item
    requested_us: int = 0
    requested_wall: float = 0.0
    result: int = 0
    acked_wall: float = 0.0  # time of the last ack
    settled: bool = False  # the sender has received the ack

    @property
    def next(self) -> int:
        """Sequence number of the next item."""
        return self.first + len(self.items)


class MissionProtocol:
    """The mission protocol of one vehicle.

    One upload at a time of each kind; the old plan is kept until the new one is complete. Downloads are of the plan
    as it was when counted.
    """

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self._uploads: dict[PlanKind, Upload] = {}
        self._finished: dict[PlanKind, Upload] = {}  # the last ones
        self._downloads: dict[tuple[tuple[Address, int, int], PlanKind], Items] = {}
        self._parts: deque[tuple[Sender, PlanKind, int]] = deque(maxlen=MAX_ITEMS)  # items to send without a request
        by_kind: dict[str, Callable[[Any, Sender, PlanKind], None]] = {
            "MISSION_COUNT": lambda message, sender, kind: self._admit(Upload(sender, kind, message.count)),
            "MISSION_WRITE_PARTIAL_LIST": self._begin_part,
            "MISSION_REQUEST_LIST": self._count,
            "MISSION_REQUEST_INT": self._request,
            "MISSION_REQUEST": self._request,
            "MISSION_REQUEST_PARTIAL_LIST": self._request_part,
        }
        self.handlers: dict[str, Callable[[Any, Sender], None]] = {
            **{name: partial(self._handle, handler) for name, handler in by_kind.items()},
            "MISSION_ITEM_INT": self._item,
            "MISSION_ITEM": self._item,
            "MISSION_ACK": self._acknowledged,
            "MISSION_CLEAR_ALL": self._clear,
            "MISSION_SET_CURRENT": self._set_current,
        }

    def _handle(self, handler: Callable[[Any, Sender, PlanKind], None], message: Any, sender: Sender) -> None:
        kind = _plan_kind(message)
        if kind is None:
            self._acknowledge(sender, mav.MAV_MISSION_UNSUPPORTED, message.mission_type)
        else:
            handler(message, sender, kind)

    def _acknowledge(self, sender: Sender, result: int, kind: int) -> None:
        self.vehicle.reply(mav.MAVLink_mission_ack_message(sender.system, sender.component, result, int(kind)), sender)

    def restart(self) -> None:
        """Restart simulated time."""
        for upload in self._uploads.values():
            upload.requested_us = 0

    def service(self, now_us: int, wall: float) -> None:
        """Send partial lists, a few items at a time; repeat requests of uploads, and time out after a while."""
        for _ in range(min(len(self._parts), BATCH)):
            sender, kind, seq = self._parts.popleft()
            if seq < len(self.autopilot.plans[kind]):
                self._send_item(self.autopilot.plans[kind][seq], seq, kind, sender)
        for upload in list(self._uploads.values()):
            if wall - upload.requested_wall < RETRY_AFTER or now_us - upload.requested_us < RETRY_AFTER * 1e6:
                continue
            if upload.requests < MAX_REQUESTS:
                self._request_item(upload)
                continue
            self.autopilot.send_text(Severity.WARNING, f"{upload.kind.name.capitalize()} upload timed out")
            self._end(upload, mav.MAV_MISSION_OPERATION_CANCELLED)

    def _begin_part(self, message: Any, sender: Sender, kind: PlanKind) -> None:
        """Replace some items of the plan, or append; both indices are inclusive."""
        plan, first = self.autopilot.plans[kind], message.start_index
        if not 0 <= first <= min(message.end_index, len(plan)):
            self._acknowledge(sender, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        self._admit(Upload(sender, kind, message.end_index - first + 1, first, plan))

    def _admit(self, upload: Upload) -> None:
        """Accept one sender at a time, and at most MAX_ITEMS."""
        busy = self._uploads.get(upload.kind)
        if busy is not None and busy.sender.key != upload.sender.key:
            self._acknowledge(upload.sender, mav.MAV_MISSION_DENIED, upload.kind)
        elif upload.first + upload.count > MAX_ITEMS:
            self._acknowledge(upload.sender, mav.MAV_MISSION_NO_SPACE, upload.kind)
        else:
            self._finished.pop(upload.kind, None)
            self._uploads[upload.kind] = upload
            self._continue(upload)

    def _continue(self, upload: Upload) -> None:
        """Request the next item, or set the plan after the last."""
        if len(upload.items) < upload.count:
            self._request_item(upload)
            return
        plan = (*upload.before[: upload.first], *upload.items, *upload.before[upload.first + upload.count :])
        result, at = self.autopilot.set_plan(upload.kind, plan)
        self._end(upload, result, at)

    def _request_item(self, upload: Upload) -> None:
        upload.requests += 1
        upload.requested_us, upload.requested_wall = self.vehicle.now_us, monotonic()
        sender, kind = upload.sender, int(upload.kind)
        request = mav.MAVLink_mission_request_int_message(sender.system, sender.component, upload.next, kind)
        self.vehicle.reply(request, sender)

    def _item(self, message: Any, sender: Sender) -> None:
        kind = _plan_kind(message)
        upload = self._uploads.get(kind) if kind is not None else None
        if message.current == GUIDED_ITEM:
            self._set_guided_target(message, sender)
        elif kind is None or upload is None or upload.sender.key != sender.key:
            self._unexpected(message, sender, kind)
        elif message.seq > upload.next:
            self._request_item(upload)
        elif message.seq == upload.next:  # duplicates are ignored
            item, result = decode(message)
            result = result or (self.autopilot.check_item(kind, item) if item is not None else 0)
            if item is None or result:
                self._end(upload, result, upload.next, int(message.command))
                return
            upload.items.append(item)
            upload.requests = 0
            self._continue(upload)

    def _set_guided_target(self, message: Any, sender: Sender) -> None:
        """Handle a GUIDED target, as MAVProxy and Mission Planner send it."""
        item, result = decode(message)
        if item is not None:
            p = (-1.0, 0.0, 0.0, nan, item.x, item.y, item.z)
            ack = self.autopilot.command(mav.MAV_CMD_DO_REPOSITION, p, item.frame)
            result = mav.MAV_MISSION_ACCEPTED if ack.accepted else mav.MAV_MISSION_ERROR
            if ack.text:
                self.autopilot.send_text(Severity.WARNING, ack.text)
        self._acknowledge(sender, result, message.mission_type)

    def _end(self, upload: Upload, result: int, at: int | None = None, command: int | None = None) -> None:
        """Acknowledge an upload; report the item at fault, if any, and the command that its vehicle does not know."""
        if result and at is not None:
            entry = mav.enums["MAV_MISSION_RESULT"].get(result)
            reason = str(result) if entry is None else entry.name.removeprefix("MAV_MISSION_").lower().replace("_", " ")
            text = f"{upload.kind.name.capitalize()} item {at} rejected: {reason}"
            if result == mav.MAV_MISSION_UNSUPPORTED and command is not None:
                entry = mav.enums["MAV_CMD"].get(command)
                name = str(command) if entry is None else entry.name.removeprefix("MAV_CMD_")
                text += f", {name} on a {self.autopilot.vehicle.kind.partition('_')[0]}"
            self.autopilot.send_text(Severity.WARNING, text)
        del self._uploads[upload.kind]
        upload.result, upload.acked_wall = result, monotonic()
        self._finished[upload.kind] = upload
        self._acknowledge(upload.sender, result, upload.kind)

    def _unexpected(self, message: Any, sender: Sender, kind: PlanKind | None) -> None:
        """Handle a repeated last item, whose ack was lost, or an item without an upload."""
        done = self._finished.get(kind) if kind is not None else None
        if done is None or done.sender.key != sender.key:
            self._acknowledge(sender, mav.MAV_MISSION_ERROR, message.mission_type)
            return
        # not for a duplicate: its ack would be taken for that of the next upload
        late = not done.settled and monotonic() - done.acked_wall >= DUPLICATE_WINDOW
        if late and (message.seq == done.next - 1 or done.result):
            done.acked_wall = monotonic()
            self._acknowledge(done.sender, done.result, done.kind)

    def _settle(self, sender: Sender, kind: PlanKind) -> None:
        """Note that the sender has received the ack: it goes on with another transaction."""
        done = self._finished.get(kind)
        if done is not None and done.sender.key == sender.key:
            done.settled = True

    def _count(self, message: Any, sender: Sender, kind: PlanKind) -> None:
        items = self.autopilot.plans[kind]
        self._settle(sender, kind)
        self._downloads.pop((sender.key, kind), None)
        self._downloads[sender.key, kind] = items
        if len(self._downloads) > MAX_DOWNLOADS:
            del self._downloads[next(iter(self._downloads))]
        count = mav.MAVLink_mission_count_message(sender.system, sender.component, len(items), int(kind))
        self.vehicle.reply(count, sender)

    def _request(self, message: Any, sender: Sender, kind: PlanKind) -> None:
        items = self._downloads.get((sender.key, kind), self.autopilot.plans[kind])
        if message.seq >= len(items):
            self._acknowledge(sender, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        integers = message.get_type() == "MISSION_REQUEST_INT"
        self._send_item(items[message.seq], message.seq, kind, sender, integers)

    def _send_item(self, item: MissionItem, seq: int, kind: PlanKind, sender: Sender, integers: bool = True) -> None:
        """Send item `seq` of a plan of a kind to `sender`; item 0 of a mission is the current home."""
        mission = kind is PlanKind.MISSION
        home = self.autopilot.home if mission and seq == 0 else None
        if home is not None:
            item = MissionItem(mav.MAV_CMD_NAV_WAYPOINT, AltitudeFrame.GLOBAL, p4=0.0, x=home[0], y=home[1], z=home[2])
        current = mission and seq == self.autopilot.executor.current
        target = sender.system, sender.component
        self.vehicle.reply(encode(item, seq, target, kind, current, integers), sender)

    def _request_part(self, message: Any, sender: Sender, kind: PlanKind) -> None:
        """Send the items of an index range without further requests."""
        self._settle(sender, kind)
        count = len(self.autopilot.plans[kind])
        last = count - 1 if message.end_index == TO_THE_END else message.end_index
        if not 0 <= message.start_index <= last < count:
            self._acknowledge(sender, mav.MAV_MISSION_INVALID_SEQUENCE, kind)
            return
        self._parts.extend((sender, kind, seq) for seq in range(message.start_index, last + 1))

    def _acknowledged(self, message: Any, sender: Sender) -> None:
        """End a download, or an upload that the sender cancels."""
        kind = _plan_kind(message)
        if kind is None:
            return
        self._downloads.pop((sender.key, kind), None)
        upload = self._uploads.get(kind)
        if message.type != mav.MAV_MISSION_ACCEPTED and upload is not None and upload.sender.key == sender.key:
            del self._uploads[kind]

    def _clear(self, message: Any, sender: Sender) -> None:
        kind = _plan_kind(message)
        if kind is None and message.mission_type != ALL_PLANS:
            self._acknowledge(sender, mav.MAV_MISSION_UNSUPPORTED, message.mission_type)
            return
        kinds = tuple(PlanKind) if kind is None else (kind,)
        results = [self.autopilot.set_plan(each, ())[0] for each in kinds]
        self._acknowledge(sender, max(results), message.mission_type)

    def _set_current(self, message: Any, sender: Sender) -> None:
        self.autopilot.vehicle.end_steady()
        ack = self.autopilot.executor.set_current(message.seq)
        if ack.accepted:
            self.vehicle.send(self.vehicle.encode(mav.MAVLINK_MSG_ID_MISSION_CURRENT))
            return
        self.autopilot.send_text(Severity.WARNING, ack.text or f"Mission item {message.seq} rejected")
        self._acknowledge(sender, mav.MAV_MISSION_INVALID_SEQUENCE, PlanKind.MISSION)


def _plan_kind(message: Any) -> PlanKind | None:
    return PlanKind(message.mission_type) if message.mission_type in (0, 1, 2) else None


PARAMETER_BATCH = 20  # parameters per batch, SR0_PARAMS times a second: receivers lose packets of a faster list
MAX_LISTS = 16  # receivers at the same time
RATE = "SR0_PARAMS"
PAUSE_US = 100_000  # us between batches if that is 0
NOT_INDEXED = 65535  # index of a PARAM_VALUE that was not requested by index
UNKNOWN = 1  # MAV_PARAM_ERROR_DOES_NOT_EXIST
OUT_OF_RANGE = 2


class ParameterProtocol:
    """The parameter protocol of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.parameters = vehicle.autopilot.parameters
        self._lists: dict[tuple[Address, int, int], tuple[Sender, int]] = {}  # receivers of the list, next index
        self._next_us, self._next_wall = 0, 0.0
        self.handlers: dict[str, Callable[[Any, Sender], None]] = {
            "PARAM_REQUEST_LIST": self._list,
            "PARAM_REQUEST_READ": self._read,
            "PARAM_SET": self._set,
        }

    def restart(self) -> None:
        """Restart simulated time; lists in progress continue."""
        self._next_us = 0

    def service(self, now_us: int, wall: float, paused: bool) -> None:
        """Send the next batch of requested lists; `paused`: only wall time advances."""
        early = wall < self._next_wall if paused else now_us < self._next_us
        if not self._lists or early:
            return
        rate = self.parameters.value(RATE)
        pause_us = round(1e6 / rate if rate > 0 else PAUSE_US)
        self._next_us, self._next_wall = now_us + pause_us, wall + pause_us * 1e-6
        names = self.parameters.names()
        for key, (sender, sent) in list(self._lists.items()):
            for index in range(sent, min(sent + PARAMETER_BATCH, len(names))):
                self.vehicle.reply(self._value(names[index], index, len(names)), sender)
            self._lists[key] = (sender, sent + PARAMETER_BATCH)
            if sent + PARAMETER_BATCH >= len(names):
                del self._lists[key]

    def _list(self, message: Any, sender: Sender) -> None:
        """Start a list; the one that was requested first gives way if there are too many."""
        self._lists[sender.key] = sender, 0
        if len(self._lists) > MAX_LISTS:
            del self._lists[next(iter(self._lists))]

    def _read(self, message: Any, sender: Sender) -> None:
        names, index = self.parameters.names(), message.param_index  # -1: by name
        name = message.param_id if index < 0 else names[index] if index < len(names) else ""
        if name in names:
            self.vehicle.reply(self._value(name, names.index(name), len(names)), sender)
        else:
            self._error(message, sender, UNKNOWN)

    def _set(self, message: Any, sender: Sender) -> None:
        """Reply with the current value, to all peers."""
        name, value = message.param_id, message.param_value
        if name not in self.parameters:
            self._error(message, sender, UNKNOWN)
            self.vehicle.autopilot.send_text(Severity.WARNING, f"Unknown parameter {name}")
            return
        if not (isfinite(value) and self.parameters.set(name, value)):
            self._error(message, sender, OUT_OF_RANGE)
            self.vehicle.autopilot.send_text(Severity.WARNING, f"Parameter {name}: invalid value {value:g}")
        self.vehicle.use_parameter(name, sender.peer)
        self.vehicle.send(self._value(name, NOT_INDEXED, len(self.parameters.names())))

    def _value(self, name: str, index: int, count: int) -> Any:
        value, kind = self.parameters.value(name), int(self.parameters.known(name).kind)
        return mav.MAVLink_param_value_message(name.encode("ascii"), value, kind, count, index)

    def _error(self, message: Any, sender: Sender, error: int) -> None:
        name = message.param_id.encode("ascii", "replace")
        index = getattr(message, "param_index", -1)
        self.vehicle.reply(mav.MAVLink_param_error_message(sender.system, sender.component, name, index, error), sender)


LOG_CHUNK = 90  # bytes of a LOG_DATA
LOG_BATCH = 40  # packets per poll, shared by all downloads: a receiver's socket buffer must hold them
MAX_LOG_DOWNLOADS = 8  # at the same time


@dataclass
class LogDownload:
    """A part of a log on its way to one receiver."""

    sender: Sender
    number: int
    path: Path
    at: int
    end: int


class LogProtocol:
    """The log protocol of one vehicle. Log 1 is the oldest."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self.downloads: dict[tuple[Address, int, int], LogDownload] = {}
        self.handlers: dict[str, Callable[[Any, Sender], None]] = {
            "LOG_REQUEST_LIST": self._list,
            "LOG_REQUEST_DATA": self._request,
            "LOG_REQUEST_END": self._end,
            "LOG_ERASE": self._erase,
        }

    def files(self) -> list[Path]:
        """Return the logs, oldest first."""
        return [] if self.autopilot.log is None else self.autopilot.log.files()

    def _list(self, message: Any, sender: Sender) -> None:
        """Reply with the logs from `start` to `end`; beyond the last as ArduPilot: one of that number, empty."""
        log = self.autopilot.log
        if log is None or not (files := log.files()):
            self.vehicle.reply(mav.MAVLink_log_entry_message(0, 0, 0, 0, 0), sender)
            return
        log.flush()
        last, dates = len(files), log.dates()
        if message.start > last:
            self.vehicle.reply(mav.MAVLink_log_entry_message(message.start, last, last, 0, 0), sender)
        for number in range(max(message.start, 1), min(message.end, last) + 1):
            size = files[number - 1].stat().st_size
            entry = mav.MAVLink_log_entry_message(number, last, last, dates[number - 1], size)
            self.vehicle.reply(entry, sender)

    def _request(self, message: Any, sender: Sender) -> None:
        """Start a download; another one of the same receiver ends."""
        files = self.files()
        self.downloads.pop(sender.key, None)
        if not 1 <= message.id <= len(files) or len(self.downloads) >= MAX_LOG_DOWNLOADS:
            return
        if self.autopilot.log is not None:
            self.autopilot.log.flush()
        path = files[message.id - 1]
        size = path.stat().st_size
        end = min(message.ofs + message.count, size)
        self.downloads[sender.key] = LogDownload(sender, message.id, path, min(message.ofs, size), end)

    def _end(self, message: Any, sender: Sender) -> None:
        self.downloads.pop(sender.key, None)

    def service(self) -> None:
        """Send the next packets of the downloads."""
        batch = LOG_BATCH // max(len(self.downloads), 1)
        for key, download in list(self.downloads.items()):
            try:
                with open_file(download.path) as file:
                    file.seek(download.at)
                    data = file.read(min(batch * LOG_CHUNK, download.end - download.at))
            except OSError:  # erased meanwhile
                data = b""
            for at in range(0, len(data) or 1, LOG_CHUNK):
                part = data[at : at + LOG_CHUNK]
                fields = download.number, download.at + at, len(part), list(part.ljust(LOG_CHUNK, b"\0"))
                self.vehicle.reply(mav.MAVLink_log_data_message(*fields), download.sender)
            download.at += len(data)
            if download.at >= download.end or not data:
                del self.downloads[key]

    def _erase(self, message: Any, sender: Sender) -> None:
        if self.autopilot.armed:
            self.autopilot.send_text(Severity.WARNING, "Logs not erased: disarm first")
        elif self.autopilot.log is not None:
            self.downloads.clear()
            self.autopilot.log.erase()
