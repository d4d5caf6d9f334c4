"""MAVLink FTP: the protocol of FILE_TRANSFER_PROTOCOL messages, over the files in `virtual_files`."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from time import monotonic
from typing import TYPE_CHECKING, Any
from zlib import crc32

from paddock.autopilot.telemetry import Severity
from paddock.mavlink.packets import mav
from paddock.mavlink.virtual_files import (
    FAIL,
    INVALID_SIZE,
    MAX_WRITTEN,
    PROTECTED,
    FileContent,
    FileError,
    VirtualFiles,
)

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkVehicle
    from paddock.mavlink.link import Address, Sender

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
                transfer = self._found(request, sender)
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
        """Return a reply; `more`: number and offset of a burst, and whether it is complete."""
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

    def _found(self, request: FtpRequest, sender: "Sender") -> FtpSession:
        """Return the session of a request; another sender's is not found."""
        session = self.sessions.get((sender.key, request.session))
        if session is None:
            raise FileError(INVALID_SESSION)
        session.used = monotonic()
        return session

    def _begin(self, request: FtpRequest, session: FtpSession) -> None:
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
        session = self._found(request, sender)
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
        self._begin(request, FtpSession(sender, content))
        return content.size.to_bytes(4, "little")

    def _read(self, request: FtpRequest, sender: "Sender") -> bytes:
        session = self._found(request, sender)
        data = session.content.read(request.offset, min(request.size or MOST, MOST)) if session.content else b""
        if not data:
            raise FileError(END_OF_FILE)
        return data

    def _create(self, request: FtpRequest, sender: "Sender") -> bytes:
        self._begin(request, FtpSession(sender, take=self.files.writer(request.path)))
        return bytes(4)

    def _write(self, request: FtpRequest, sender: "Sender") -> bytes:
        session = self._found(request, sender)
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
