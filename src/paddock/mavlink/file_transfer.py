"""MAVLink FTP: the files that a vehicle offers under ArduPilot's names, and the protocol of FILE_TRANSFER_PROTOCOL.

    @PARAM/param.pck       all parameters, packed; options ?start=, count=, withdefaults=1
    @MISSION/mission.dat   the mission; fence.dat and rally.dat likewise
    APM/LOGS/00000001.BIN  the on-board logs

Names are looked up in this tree only: a path never reaches the file system.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct, error, unpack_from
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from zlib import crc32

from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.autopilot.parameters import ParamKind
from paddock.autopilot.telemetry import Severity
from paddock.files import open_file
from paddock.mavlink.packets import mav
from paddock.mavlink.protocols import decode, encode

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot
    from paddock.mavlink.hub import MavlinkVehicle
    from paddock.mavlink.link import Address, Sender


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
            with open_file(self.data) as file:
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
                return lambda data: load_parameters(self.autopilot, data)
            case ["@MISSION", plan] if plan in PLANS:
                return lambda data: load_plan(self.autopilot, PLANS[plan], data)
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


def load_parameters(autopilot: "BuiltInAutopilot", data: bytes) -> None:
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


def load_plan(autopilot: "BuiltInAutopilot", kind: PlanKind, data: bytes) -> None:
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


HEADER = Struct("<HBBBBBBI")  # number, session, opcode, size, request, burst complete, padding, offset
MOST = 239  # bytes of data in a packet
TERMINATE, RESET, LIST, OPEN, READ, CREATE, WRITE, REMOVE, MAKE_FOLDER, REMOVE_FOLDER = range(1, 11)
OPEN_WRITE, TRUNCATE, RENAME, CRC, BURST = range(11, 16)
ACK, NAK = 128, 129
INVALID_SESSION, NO_SESSIONS, END_OF_FILE, UNKNOWN_COMMAND = 4, 5, 6, 7
MAX_SESSIONS = 8  # of one vehicle
SESSIONS_EACH = 2  # of one address; the oldest gives way to a third
PACKETS_PER_POLL = 40  # of all bursts: a receiver's socket buffer must hold them
PIECE = 1 << 18  # bytes per poll of a checksum
MAX_CHECKSUMS = 8  # in progress, and results that are remembered
MAX_REMEMBERED = 32  # last replies, by sender
SessionKey = tuple[tuple["Address", int, int], int]


@dataclass
class FtpRequest:
    """A request."""

    number: int
    session: int
    opcode: int
    offset: int
    size: int
    data: bytes

    @property
    def path(self) -> str:
        """The path in the data."""
        return self.data.split(b"\0", 1)[0].decode("ascii", "replace")


@dataclass
class FtpSession:
    """An open file."""

    sender: "Sender"
    content: FileContent | None = None  # for reading
    written: bytearray = field(default_factory=bytearray)
    take: Callable[[bytes], None] | None = None  # for writing: called with all bytes at the end
    used: float = 0.0  # wall time
    burst: FtpRequest | None = None  # in progress; its offset moves


@dataclass
class FtpChecksum:
    """The checksum of a log, in progress."""

    sender: "Sender"
    request: FtpRequest
    content: FileContent
    at: int = 0
    value: int = 0xFFFFFFFF  # the start value 0, inverted


class FileTransfer:
    """The file transfer of one vehicle."""

    def __init__(self, vehicle: "MavlinkVehicle") -> None:
        self.vehicle, self.files = vehicle, VirtualFiles(vehicle.autopilot)
        self.sessions: dict[SessionKey, FtpSession] = {}  # by sender and the number that it has chosen
        self.checksums: dict[tuple[Address, int, int], FtpChecksum] = {}  # by sender, in their order
        self._known: dict[tuple[bytes | Path, int], int] = {}  # checksums by file and size
        self._replies: dict[tuple[Address, int, int], tuple[int, int, Any]] = {}  # number, opcode and the reply to it
        self._operations: dict[int, Callable[[FtpRequest, Sender], bytes | None]] = {
            TERMINATE: self._terminate,
            RESET: self._reset,
            LIST: self._list,
            OPEN: self._open,
            READ: self._read,
            CREATE: self._create,
            OPEN_WRITE: self._create,
            WRITE: self._write,
            REMOVE: self._remove,
            TRUNCATE: self._truncate,
            CRC: self._checksum,
            MAKE_FOLDER: self._protected,
            REMOVE_FOLDER: self._protected,
            RENAME: self._protected,
        }
        self.handlers: dict[str, Callable[[Any, Sender], None]] = {"FILE_TRANSFER_PROTOCOL": self._handle}

    def _handle(self, message: Any, sender: "Sender") -> None:
        raw = bytes(message.payload)
        number, session, opcode, size, _, _, _, offset = HEADER.unpack_from(raw)
        if opcode in (ACK, NAK):
            return
        request = FtpRequest(number, session, opcode, offset, size, raw[HEADER.size : HEADER.size + min(size, MOST)])
        known = self._replies.get(sender.key)
        if known is not None and known[:2] == (number, opcode) and opcode != BURST:
            self.vehicle.reply(known[2], sender)  # a repeated request, whose reply was lost
            return
        try:
            if size > MOST:
                raise FileError(INVALID_SIZE)
            if opcode == BURST:
                transfer = self._open_session(request, sender)
                if transfer.content is None or offset >= transfer.content.size:
                    raise FileError(END_OF_FILE)
                transfer.burst = request
                return
            operation = self._operations.get(opcode)
            if operation is None:
                raise FileError(UNKNOWN_COMMAND)
            data = operation(request, sender)
            if data is None:  # later
                return
            reply = self._packet(request, sender, ACK, data)
        except FileError as problem:
            if str(problem):
                self.vehicle.autopilot.send_text(Severity.WARNING, str(problem))
            reply = self._packet(request, sender, NAK, bytes((problem.code,)))
        self._answer(request, sender, reply)

    def _answer(self, request: FtpRequest, sender: "Sender", reply: Any) -> None:
        """Send a reply, and remember it."""
        self._replies.pop(sender.key, None)
        self._replies[sender.key] = request.number, request.opcode, reply
        if len(self._replies) > MAX_REMEMBERED:
            del self._replies[next(iter(self._replies))]
        self.vehicle.reply(reply, sender)

    def _packet(self, request: FtpRequest, sender: "Sender", opcode: int, data: bytes, **more: int) -> Any:
        """Return the reply to a request: ACK or NAK with data; `more`: number and offset of a burst, and `complete`."""
        number, offset = more.get("number", request.number + 1) % 65536, more.get("offset", request.offset)
        head = HEADER.pack(
            number, request.session, opcode, len(data), request.opcode, more.get("complete", 0), 0, offset
        )
        payload = list((head + data).ljust(HEADER.size + MOST, b"\0"))
        return mav.MAVLink_file_transfer_protocol_message(0, sender.system, sender.component, payload)

    def service(self) -> None:
        """Send the next packets of bursts, and continue the first checksum."""
        bursts = [(session, session.burst) for session in self.sessions.values() if session.burst is not None]
        for session, request in bursts:
            self._burst(session, request, PACKETS_PER_POLL // len(bursts))
        if self.checksums:
            self._continue(next(iter(self.checksums.values())))

    def _continue(self, job: FtpChecksum) -> None:
        """Read the next piece; reply after the last one. CRC-32 with start value 0 and without the final inversion."""
        content = job.content
        job.at = content.size if (content.data, content.size) in self._known else job.at
        if job.at < content.size:
            piece = content.read(job.at, PIECE)
            job.value, job.at = crc32(piece, job.value), job.at + len(piece) if piece else content.size
            if job.at < content.size:
                return
        value = self._known.setdefault((content.data, content.size), job.value ^ 0xFFFFFFFF)
        if len(self._known) > MAX_CHECKSUMS:
            del self._known[next(iter(self._known))]
        self.checksums.pop(job.sender.key, None)
        reply = self._packet(job.request, job.sender, ACK, value.to_bytes(4, "little"))
        self._answer(job.request, job.sender, reply)

    def _burst(self, session: FtpSession, request: FtpRequest, packets: int) -> None:
        assert session.content is not None
        most = min(request.size or MOST, MOST)
        data = session.content.read(request.offset, packets * most)
        for at in range(0, len(data) or 1, most):
            part = data[at : at + most]
            request.number += 1
            last = request.offset + len(part) >= session.content.size or not part
            more = {"number": request.number, "offset": request.offset, "complete": int(last)}
            opcode, content = (ACK, part) if part else (NAK, bytes((END_OF_FILE,)))
            packet = self._packet(request, session.sender, opcode, content, **more)
            self.vehicle.reply(packet, session.sender)
            request.offset += len(part)
        session.used = monotonic()
        if request.offset >= session.content.size or not data:
            session.burst = None

    def _open_session(self, request: FtpRequest, sender: "Sender") -> FtpSession:
        """Return the session of a request; another sender's is not found."""
        session = self.sessions.get((sender.key, request.session))
        if session is None:
            raise FileError(INVALID_SESSION)
        session.used = monotonic()
        return session

    def _add_session(self, request: FtpRequest, session: FtpSession) -> None:
        """Open a session with the number of the request, as ArduPilot does: MAVProxy expects it in the reply."""
        session.used, key = monotonic(), (session.sender.key, request.session)
        self.sessions.pop(key, None)
        own = session.sender.peer.address
        counts = Counter(address for (address, _, _), _ in self.sessions)
        rivals: list[SessionKey] = []
        if counts[own] >= SESSIONS_EACH:
            rivals = [k for k in self.sessions if k[0][0] == own]
        elif len(self.sessions) >= MAX_SESSIONS:
            rivals = [k for k in self.sessions if counts[k[0][0]] == max(counts.values())]
        if rivals:
            del self.sessions[min(rivals, key=lambda k: self.sessions[k].used)]
        self.sessions[key] = session

    def _terminate(self, request: FtpRequest, sender: "Sender") -> bytes:
        session = self._open_session(request, sender)
        del self.sessions[sender.key, request.session]
        if session.take is not None:
            session.take(bytes(session.written))
        return b""

    def _reset(self, request: FtpRequest, sender: "Sender") -> bytes:
        """End all sessions of the sender; what they have written is discarded."""
        self.sessions = {key: each for key, each in self.sessions.items() if key[0] != sender.key}
        return b""

    def _list(self, request: FtpRequest, sender: "Sender") -> bytes:
        """Return entries from the one with the index of the offset, as many as fit."""
        names = self.files.names(request.path)[request.offset :]
        if not names:
            raise FileError(END_OF_FILE)
        data = b""
        for name in names:
            entry = name.encode() + b"\0"
            if len(data) + len(entry) > MOST:
                break
            data += entry
        return data

    def _open(self, request: FtpRequest, sender: "Sender") -> bytes:
        content = self.files.open(request.path)
        self._add_session(request, FtpSession(sender, content))
        return content.size.to_bytes(4, "little")

    def _read(self, request: FtpRequest, sender: "Sender") -> bytes:
        session = self._open_session(request, sender)
        data = session.content.read(request.offset, min(request.size or MOST, MOST)) if session.content else b""
        if not data:
            raise FileError(END_OF_FILE)
        return data

    def _create(self, request: FtpRequest, sender: "Sender") -> bytes:
        self._add_session(request, FtpSession(sender, take=self.files.writer(request.path)))
        return bytes(4)

    def _write(self, request: FtpRequest, sender: "Sender") -> bytes:
        session = self._open_session(request, sender)
        end = request.offset + len(request.data)
        if session.take is None:
            raise FileError(PROTECTED)
        if end > MAX_WRITTEN:
            raise FileError(FAIL, f"file is larger than {MAX_WRITTEN} bytes")
        session.written.extend(bytes(max(end - len(session.written), 0)))
        session.written[request.offset : end] = request.data
        return b""

    def _remove(self, request: FtpRequest, sender: "Sender") -> bytes:
        if self.vehicle.autopilot.armed:
            raise FileError(PROTECTED)
        self.files.remove(request.path)
        return b""

    def _truncate(self, request: FtpRequest, sender: "Sender") -> bytes:
        self.files.writer(request.path)  # raises if it is read-only; what was written is discarded at the next open
        return b""

    def _checksum(self, request: FtpRequest, sender: "Sender") -> None:
        """Start a checksum, whose reply comes later; a repeated request does not start it again."""
        known = self.checksums.get(sender.key)
        if known is not None and known.request.number == request.number:
            return
        content = self.files.open(request.path)
        if known is None and len(self.checksums) >= MAX_CHECKSUMS:
            raise FileError(NO_SESSIONS)
        self.checksums[sender.key] = FtpChecksum(sender, request, content)

    def _protected(self, request: FtpRequest, sender: "Sender") -> bytes:
        raise FileError(PROTECTED)
