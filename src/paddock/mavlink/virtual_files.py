"""The files that a vehicle offers over MAVLink: parameters, plans and on-board logs, under ArduPilot's names.

    @PARAM/param.pck       all parameters, packed; options ?start=, count=, withdefaults=1
    @MISSION/mission.dat   the mission; fence.dat and rally.dat likewise
    APM/LOGS/00000001.BIN  the on-board logs

Names are looked up in this tree only: a path never reaches the file system.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from struct import Struct, error, unpack_from
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.autopilot.parameters import ParamKind
from paddock.autopilot.telemetry import Severity
from paddock.mavlink.mission_protocol import decode, encode
from paddock.mavlink.packets import mav

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

PLANS = {"mission.dat": PlanKind.MISSION, "fence.dat": PlanKind.FENCE, "rally.dat": PlanKind.RALLY}
MAX_WRITTEN = 1 << 18  # bytes of a file that is written
MAX_PACKED = 16  # files that are kept

PACKED, PACKED_DEFAULTS = 0x671B, 0x671C
PARAM_HEADER = Struct("<HHH")  # magic, parameters in the file, parameters of the vehicle
PACK_TYPES = {
    ParamKind.INT8: (1, "b"),
    ParamKind.INT16: (2, "h"),
    ParamKind.INT32: (3, "i"),
    ParamKind.REAL32: (4, "f"),
}
CODES = dict(PACK_TYPES.values())
LONGEST_SHARED = 15  # characters of a name that the one before has, too

PLAN_MAGIC = 0x763D
PLAN_HEADER = Struct("<HHHHH")  # magic, MAV_MISSION_TYPE, options, first item, items
KEEP = 1  # option: items outside the file are kept
ITEM = mav.MAVLink_mission_item_int_message


class FileError(Exception):
    """A file cannot be used; `code` is the MAVLink FTP error."""

    def __init__(self, code: int, text: str = "") -> None:
        super().__init__(text)
        self.code = code


FAIL, INVALID_SIZE, PROTECTED, NOT_FOUND = 1, 3, 9, 10


@dataclass
class FileContent:
    """A file that is open for reading: its bytes as they were when it was opened, or a file on disk."""

    data: bytes | Path
    size: int

    def read(self, offset: int, count: int) -> bytes:
        """Return up to `count` bytes."""
        if isinstance(self.data, bytes):
            return self.data[offset : offset + count]
        try:
            with self.data.open("rb") as file:
                file.seek(offset)
                return file.read(max(min(count, self.size - offset), 0))
        except OSError:  # erased meanwhile
            return b""


class VirtualFiles:
    """The files of one vehicle."""

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self._packed: dict[str, tuple[Any, bytes]] = {}  # by path: what it was packed from, and the file

    def _cached(self, path: str, source: Any, pack: Callable[[], bytes]) -> FileContent:
        """Return a packed file; it is packed again only if its source has changed."""
        known = self._packed.pop(path, None)
        if known is None or known[0] != source:
            known = source, pack()
        self._packed[path] = known
        if len(self._packed) > MAX_PACKED:
            del self._packed[next(iter(self._packed))]
        return FileContent(known[1], len(known[1]))

    def names(self, path: str) -> list[str]:
        """Return the entries of a folder: `Dname`, or `Fname`, a tab and the size."""
        parts = split(path)
        if not parts:
            return ["D@MISSION", "D@PARAM", "DAPM"]
        if parts == ["@PARAM"]:
            return [f"Fparam.pck\t{self.open('@PARAM/param.pck').size}"]
        if parts == ["@MISSION"]:
            return [f"F{name}\t{self.open(f'@MISSION/{name}').size}" for name in PLANS]
        if parts == ["APM"]:
            return ["DLOGS"]
        if parts == ["APM", "LOGS"]:
            return [f"F{file.name}\t{file.stat().st_size}" for file in self._logs().values()]
        raise FileError(NOT_FOUND)

    def open(self, path: str) -> FileContent:
        """Return the content of a file."""
        name, _, options = path.partition("?")
        match split(name):
            case ["@PARAM", "param.pck"]:
                values = self.autopilot.parameters.values()
                return self._cached(path, values, lambda: packed_parameters(self.autopilot, dict(parse_qsl(options))))
            case ["@MISSION", plan] if plan in PLANS:
                kind = PLANS[plan]
                source = self.autopilot.plans[kind], self.autopilot.home
                return self._cached(path, source, lambda: packed_plan(self.autopilot, kind))
            case ["APM", "LOGS", log] if log in (files := self._logs()):
                return FileContent(files[log], files[log].stat().st_size)
        raise FileError(NOT_FOUND)

    def writer(self, path: str) -> Callable[[bytes], None]:
        """Return the function that takes the bytes of a file which was written; most files are read-only."""
        match split(path):
            case ["@PARAM", "param.pck"]:
                return lambda data: take_parameters(self.autopilot, data)
            case ["@MISSION", plan] if plan in PLANS:
                return lambda data: take_plan(self.autopilot, PLANS[plan], data)
        raise FileError(PROTECTED)

    def remove(self, path: str) -> None:
        """Delete a log."""
        match split(path):
            case ["APM", "LOGS", log] if log in (files := self._logs()):
                assert self.autopilot.log is not None
                if files[log] == self.autopilot.log.path:
                    raise FileError(PROTECTED)
                files[log].unlink(missing_ok=True)
            case _:
                raise FileError(PROTECTED)

    def _logs(self) -> dict[str, Path]:
        if self.autopilot.log is not None:
            self.autopilot.log.flush()
        return {} if self.autopilot.log is None else {path.name: path for path in self.autopilot.log.files()}


def split(path: str) -> list[str]:
    """Return the parts of a path."""
    return [part for part in path.split("/") if part]


def packed_parameters(autopilot: "BuiltInAutopilot", options: dict[str, str]) -> bytes:
    """Return the parameters in ArduPilot's packed format; each name shares its beginning with the one before."""
    parameters = autopilot.parameters
    numbers = {key: int(value) for key, value in options.items() if value.isdecimal()}
    start, defaults = numbers.get("start", 0), numbers.get("withdefaults", 0) > 0
    names = parameters.names()
    chosen = names[start : start + numbers["count"]] if numbers.get("count") else names[start:]
    parts, last = [PARAM_HEADER.pack(PACKED_DEFAULTS if defaults else PACKED, len(chosen), len(names))], ""
    for name in chosen:
        known, value = parameters.known(name), parameters.value(name)
        number, code = PACK_TYPES[known.kind]
        kind: type[int] | type[float] = float if code == "f" else int
        values = [kind(value)]
        if defaults and value != known.default:
            values.append(kind(known.default))
        shared = 0
        while shared < min(len(last), len(name) - 1, LONGEST_SHARED) and last[shared] == name[shared]:
            shared += 1
        rest = name[shared:].encode()
        head = bytes((number | (len(values) - 1) << 4, shared | (len(rest) - 1) << 4))
        parts.append(head + rest + Struct(f"<{len(values)}{code}").pack(*values))
        last = name
    return b"".join(parts)


def take_parameters(autopilot: "BuiltInAutopilot", data: bytes) -> None:
    """Set the parameters of a packed file; refused ones are reported."""
    try:
        magic, count, _ = PARAM_HEADER.unpack_from(data)
        at, name, refused = PARAM_HEADER.size, b"", []
        if magic not in (PACKED, PACKED_DEFAULTS):
            raise FileError(FAIL, "not a packed parameter file")
        for _ in range(count):
            while data[at] == 0:
                at += 1
            kind, lengths = data[at], data[at + 1]
            rest, code = (lengths >> 4) + 1, CODES[kind & 15]
            name = name[: lengths & 15] + data[at + 2 : at + 2 + rest]
            (value,) = unpack_from("<" + code, data, at + 2 + rest)
            at += 2 + rest + Struct("<" + code).size * (2 if kind >> 4 & 1 else 1)
            text = name.decode("ascii")
            if text not in autopilot.parameters or not autopilot.parameters.set(text, value):
                refused.append(text)
    except (error, IndexError, KeyError, UnicodeDecodeError) as reason:
        raise FileError(FAIL, "damaged parameter file") from reason
    if refused:
        autopilot.send_text(Severity.WARNING, f"Parameters rejected: {', '.join(refused[:10])}")


def packed_plan(autopilot: "BuiltInAutopilot", kind: PlanKind) -> bytes:
    """Return a plan as a header and the payloads of its MISSION_ITEM_INTs; item 0 of a mission is the current home."""
    items = list(autopilot.plans[kind])
    if kind is PlanKind.MISSION and items and autopilot.home is not None:
        latitude, longitude, altitude = autopilot.home
        items[0] = MissionItem(mav.MAV_CMD_NAV_WAYPOINT, 0, p4=0.0, x=latitude, y=longitude, z=altitude)
    parts = [PLAN_HEADER.pack(PLAN_MAGIC, int(kind), 0, 0, len(items))]
    for number, item in enumerate(items):
        message = encode(item, number, (0, 0), kind, current=False)
        parts.append(ITEM.unpacker.pack(*(getattr(message, name) for name in ITEM.ordered_fieldnames)))
    return b"".join(parts)


def take_plan(autopilot: "BuiltInAutopilot", kind: PlanKind, data: bytes) -> None:
    """Replace a plan, or a part of it, by the items of a file."""
    size = ITEM.unpacker.size
    if len(data) < PLAN_HEADER.size:
        raise FileError(FAIL, "damaged plan file")
    magic, type_, options, first, count = PLAN_HEADER.unpack_from(data)
    if magic != PLAN_MAGIC or type_ != kind or len(data) != PLAN_HEADER.size + count * size:
        raise FileError(FAIL, "damaged plan file")
    before = autopilot.plans[kind]
    if first > len(before):
        raise FileError(FAIL, f"plan starts at item {first} of {len(before)}")
    items: list[MissionItem] = []
    for number in range(count):
        values = ITEM.unpacker.unpack_from(data, PLAN_HEADER.size + number * size)
        fields = dict(zip(ITEM.ordered_fieldnames, values, strict=True))
        item, result = decode(ITEM(*(fields[name] for name in ITEM.fieldnames)))
        result = result or (0 if item is None else autopilot.check_item(kind, item))
        if item is None or result:
            raise FileError(FAIL, f"{kind.name.capitalize()} item {first + number} rejected: result {result}")
        items.append(item)
    kept = before[first + count :] if options & KEEP else ()
    result, at = autopilot.set_plan(kind, (*before[:first], *items, *kept))
    if result:
        raise FileError(FAIL, f"{kind.name.capitalize()} item {at} rejected: result {int(result)}")
