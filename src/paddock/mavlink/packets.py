"""The MAVLink dialect (ardupilotmega, MAVLink 2, by pymavlink), the scaling of its fields, packets and their
signatures.

No input raises an exception. A datagram holds whole packets, so invalid bytes from one sender never affect another.
MAVLink 1 and 2 are read.

A signature is a link number, a time stamp (48 bits, 10 us units since 2015) and the first 48 bits of
SHA-256(key, packet, link, time stamp). Outgoing time stamps follow simulated time and never fall behind those that were
received, so that two runs without ground stations are equal. The newest received ones are stored with the key, so that
a packet from before a restart is not accepted again.
"""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from itertools import chain
from math import isfinite
from operator import itemgetter
from pathlib import Path
from struct import Struct
from time import time as wall_clock
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from annotated_types import Ge, Le

from paddock.autopilot.telemetry import SIMULATED_EPOCH_US, Severity
from paddock.errors import MissingFeatureError
from paddock.files import read_file

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot
    from paddock.mavlink.link import Sender


try:
    from pymavlink.dialects.v20 import ardupilotmega
except ImportError as error:
    raise MissingFeatureError("MAVLink needs pymavlink: pip install 'paddock[mavlink]'") from error

mav = ardupilotmega
AUTOPILOT = 1  # component id of every autopilot (MAV_COMP_ID_AUTOPILOT1)
UINT16, INT16, INT32 = 2**16 - 1, 2**15 - 1, 2**31 - 1
FLOAT32 = (2.0 - 2.0**-23) * 2.0**127  # the largest float of 32 bits
T = TypeVar("T")


def by_id(**values: T) -> dict[int, T]:
    """Return values that are given by message names, by message id."""
    return {getattr(mav, f"MAVLINK_MSG_ID_{name}"): value for name, value in values.items()}


def scaled(value: float, scale: float, low: int, high: int, unknown: int) -> int:
    """Return `value` x `scale` as an integer from `low` to `high`; `unknown` if it is not finite."""
    if not isfinite(value):
        return unknown
    product = value * scale  # infinite for a value near the largest number
    return low if product < low else high if product > high else round(product)


def int16(value: float, scale: float) -> int:
    """Scale to signed 16 bits; 0 if not finite."""
    return scaled(value, scale, -INT16, INT16, 0)


def int32(value: float, scale: float) -> int:
    """Scale to signed 32 bits; 0 if not finite."""
    return scaled(value, scale, -INT32, INT32, 0)


def uint16(value: float, scale: float) -> int:
    """Scale to unsigned 16 bits; 65535, the usual "unknown", if not finite."""
    return scaled(value, scale, 0, UINT16 - 1, UINT16)


def known(value: float, default: float = 0.0) -> float:
    """Return the value, or `default` if it is not finite."""
    return value if isfinite(value) else default


def limited(value: Any) -> Any:
    """Limit a float to what 32 bits can hold; other values, and those that are not finite, stay."""
    if isinstance(value, list | tuple):
        return [limited(each) for each in value]
    return min(max(value, -FLOAT32), FLOAT32) if isinstance(value, float) and isfinite(value) else value


MARKER_1, MARKER_2 = 0xFE, 0xFD
MARKERS = (MARKER_1, MARKER_2)
MARK_2 = bytes((MARKER_2,))
SIGNED = 0x01  # incompatibility flag
SIGNATURE = 13  # bytes
SEQUENCE_AT = 4  # index of the sequence number in a MAVLink 2 packet
MAX_ERRORS = 8  # in one datagram, before the rest of it is discarded


@dataclass
class PacketCounters:
    """Packet counts of one link."""

    received: int = 0  # valid packets
    sent: int = 0
    rejected: int = 0  # truncated, with a wrong checksum or an unknown id
    dropped: int = 0  # datagrams of senders that exceed their share
    withheld: int = 0  # packets not sent to addresses that have not confirmed that they receive


DECODER = mav.MAVLink(None)


def read_stream(
    data: bytes, counters: PacketCounters, whole: bool = False, most: int | None = None
) -> tuple[list[Any], bytes]:
    """Return the valid messages of a part of a byte stream, and the start of a packet that is not complete yet.

    With `whole` no more data follows: an incomplete packet is an error. After `most` messages all other bytes remain.
    """
    messages: list[Any] = []
    at = errors = 0
    rest = b""
    while errors < MAX_ERRORS:
        start = min((k for marker in MARKERS if (k := data.find(marker, at)) >= 0), default=-1)
        if start < 0:
            break
        packet, size = _frame(data, start)
        if not whole and len(packet) < size:
            rest = packet
            break
        try:
            message = DECODER.decode(bytearray(packet))
        except Exception:  # pymavlink raises various types for invalid and for truncated bytes
            at, errors = start + 1, errors + 1  # search inside an invalid packet
            continue
        at = start + len(packet)
        if message.get_msgId() < 0:  # unknown id, or bytes that look like one: its checksum cannot be verified
            at, errors = at if whole else start + 1, errors + 1
        else:
            messages.append(message)
            if len(messages) == most:
                rest = data[at:]
                break
    counters.received += len(messages)
    counters.rejected += errors
    return messages, rest


def _frame(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the packet that starts here, or the rest of the data if it is truncated, and its full length.

    Before the header is complete the length is that of the shortest packet.
    """
    header = data[at : at + 3]
    size = header[1] + 8 if len(header) == 3 else 8
    if header[0] == MARKER_2 and len(header) == 3:
        size += 4 + (SIGNATURE if header[2] & SIGNED else 0)
    return data[at : at + size], size


class WireFormat(NamedTuple):
    """How the fields of a message become its payload."""

    packer: Struct
    order: Callable[[tuple[Any, ...]], tuple[Any, ...]]  # from the order of the fields to that of the payload
    blank: tuple[Any, ...]  # a value for each field
    arrays: bool  # some fields are arrays
    id: bytes
    extra: bytes  # for the checksum


@cache
def wire_format(id: int) -> WireFormat:
    """Return the format of a message."""
    message: Any = mav.mavlink_map[id]
    names, sizes = message.fieldnames, dict(zip(message.ordered_fieldnames, message.array_lengths, strict=True))
    return WireFormat(
        message.unpacker,
        itemgetter(*map(names.index, message.ordered_fieldnames)),
        tuple((0,) * sizes[name] if sizes[name] else 0 for name in names),
        any(sizes.values()),
        id.to_bytes(3, "little"),
        bytes((message.crc_extra,)),
    )


class PacketWriter:
    """Packs the messages of one system with its sequence number."""

    sequence: Annotated[int, Ge(0), Le(255)]

    def __init__(self, system: int, component: int) -> None:
        self._encoder = mav.MAVLink(None, srcSystem=system, srcComponent=component)
        self.sequence = 0  # number of the next packet

    def pack_fields(self, id: int, fields: Sequence[Any], sequence: int | None = None) -> bytes:
        """Return the packet of a message's fields, in order; missing extensions are 0. `sequence`: not counted.

        The same bytes as `pack`, without a message object.
        """
        encoder, form = self._encoder, wire_format(id)
        values = form.order((*fields, *form.blank[len(fields) :]))
        if form.arrays:
            values = tuple(chain.from_iterable(v if isinstance(v, tuple | list) else (v,) for v in values))
        try:
            packed = form.packer.pack(*values)
        except OverflowError:
            packed = form.packer.pack(*map(limited, values))
        payload = packed.rstrip(b"\0") or b"\0"
        number = self.sequence if sequence is None else sequence
        head = bytes((len(payload), 0, 0, number, encoder.srcSystem, encoder.srcComponent))
        body = head + form.id + payload
        if sequence is None:
            self.sequence = (number + 1) % 256
        return MARK_2 + body + int(mav.x25crc(body + form.extra).crc).to_bytes(2, "little")

    def pack(self, message: Any, counted: bool = True) -> bytes:
        """Return the packet with the next sequence number, which stays the next for a packet that is not counted."""
        self._encoder.seq = self.sequence
        try:
            packet = bytes(message.pack(self._encoder))
        except OverflowError:
            for name in message.fieldnames:
                setattr(message, name, limited(getattr(message, name)))
            packet = bytes(message.pack(self._encoder))
        self.sequence = (self.sequence + counted) % 256
        return packet


def renumbered(packet: bytes, sequence: int, extra: int) -> bytes:
    """Return a MAVLink 2 packet with another sequence number: each peer has its own count."""
    if packet[SEQUENCE_AT] == sequence:
        return packet
    body = packet[1:SEQUENCE_AT] + bytes((sequence,)) + packet[SEQUENCE_AT + 1 : -2]
    return packet[:1] + body + int(mav.x25crc(body + bytes((extra,))).crc).to_bytes(2, "little")


TEXT_CHUNK = 50  # bytes of a STATUSTEXT
MAX_TEXT = 500  # bytes; longer texts are cut


def status_texts(severity: int, text: str, number: int) -> list[Any]:
    """Return the STATUSTEXTs of a line; chunks of a long one carry its `number` (1 to 65535), the last is not full."""
    line = text.encode("ascii", "replace")[:MAX_TEXT]
    if len(line) <= TEXT_CHUNK:
        return [mav.MAVLink_statustext_message(int(severity), line)]
    chunks = [line[at : at + TEXT_CHUNK] for at in range(0, len(line) + 1, TEXT_CHUNK)]
    return [mav.MAVLink_statustext_message(int(severity), chunk, number, k) for k, chunk in enumerate(chunks)]


KEY = 32  # bytes
UNIT_US = 10
EPOCH_US = 1_420_070_400_000_000  # 1 January 2015
MINUTE = 6_000_000  # in units of 10 us: a new stream may be this much older than the newest time stamp
FLAGS_AT = 2  # index of the incompatibility flags in a MAVLink 2 packet
UNSIGNED_ALLOWED = frozenset({mav.MAVLINK_MSG_ID_RADIO_STATUS, mav.MAVLINK_MSG_ID_RADIO})
LAST = 2**48 - 1  # the largest time stamp, in the year 2104
DAY = 1440 * MINUTE  # by which a received time stamp may be ahead of the clock to count as the newest
SAVE_PERIOD_US = 30_000_000  # us of simulated time between two updates of the stored time stamps
MAX_STREAMS = 64  # remembered time stamps; the oldest is dropped
LOOPBACK = ("127.", "tcp:127.")


@dataclass
class Signing:
    """The signing of one vehicle; without a key everything is accepted and nothing is signed."""

    autopilot: "BuiltInAutopilot"
    key: bytes = b""
    sent: int = 0  # time stamp of the last packet sent
    newest: int = 0  # received
    streams: dict[tuple[int, int, int], int] = field(default_factory=dict)  # system, component, link -> last time stamp
    rejected: int = 0  # packets without a valid signature
    stored: int = 0  # the newest time stamp when the key was loaded: a stream that was not stored must be newer
    _next_us: int = 0  # simulated time of the next update of the file
    _changed: bool = False  # since then

    def __post_init__(self) -> None:
        """Load the key that was stored with the parameters."""
        path = self._path
        if path is not None and path.exists():
            with suppress(OSError, ValueError, KeyError, TypeError):
                saved = json.loads(read_file(path))
                key, newest = bytes.fromhex(saved["key"]), int(saved["timestamp"])
                streams = {(int(a), int(b), int(c)): int(time) for a, b, c, time in saved.get("streams", ())}
                if len(key) == KEY:
                    self.key, self.newest = key, min(max(newest, 0), LAST)
                    self.stored, self.streams = self.newest, dict(list(streams.items())[:MAX_STREAMS])

    @property
    def _path(self) -> Path | None:
        path = self.autopilot.parameters.path
        return None if path is None else path.with_suffix(".signing")

    def sign(self, packet: bytes, number: int, extra: int, link: int) -> bytes:
        """Return a MAVLink 2 packet with a sequence number and a signature."""
        now = (SIMULATED_EPOCH_US - EPOCH_US + max(self.autopilot.now_us, 0)) // UNIT_US
        self.sent = min(max(self.sent + 1, self.newest + 1, now), LAST)
        body = bytearray(packet[:-2])
        body[FLAGS_AT], body[SEQUENCE_AT] = packet[FLAGS_AT] | SIGNED, number
        body += int(mav.x25crc(bytes(body[1:]) + bytes((extra,))).crc).to_bytes(2, "little")
        body += bytes((link,)) + self.sent.to_bytes(6, "little")
        return bytes(body) + sha256(self.key + body).digest()[:6]

    def accepts(self, message: Any) -> bool:
        """Check the signature of a received message; count those that are rejected."""
        if not self.key or message.get_msgId() in UNSIGNED_ALLOWED:
            return True
        accepted = self._valid(bytes(message.get_msgbuf()), message.get_srcSystem(), message.get_srcComponent())
        self.rejected += not accepted
        return accepted

    def _valid(self, raw: bytes, system: int, component: int) -> bool:
        if raw[0] != MARKER_2 or not raw[FLAGS_AT] & SIGNED or len(raw) < SIGNATURE + 12:
            return False
        if not compare_digest(sha256(self.key + raw[:-6]).digest()[:6], raw[-6:]):
            return False
        stream = system, component, raw[-SIGNATURE]
        time = int.from_bytes(raw[-12:-6], "little")
        last = self.streams.pop(stream, None)
        valid = time > last if last is not None else time + MINUTE >= self.newest and time > self.stored
        self.streams[stream] = time if valid or last is None else last
        if not valid and last is None:
            del self.streams[stream]
        if len(self.streams) > MAX_STREAMS:
            del self.streams[next(iter(self.streams))]
        if valid:  # one sender with a wrong clock must not lock out the others
            limit = (round(wall_clock() * 1e6) - EPOCH_US) // UNIT_US + DAY
            self.newest, self._changed = max(self.newest, min(time, limit)), True
        return valid

    def service(self, now_us: int) -> None:
        """Update the stored time stamps, every 30 s of simulated time."""
        if not 0 <= self._next_us - now_us <= SAVE_PERIOD_US:
            self._next_us = now_us + SAVE_PERIOD_US
            self.close()

    def close(self) -> None:
        """Store the newest time stamps."""
        if self.key and self._changed:
            self._save()

    def set_up(self, message: Any, sender: "Sender") -> None:
        """SETUP_SIGNING: take a key, or none; from this machine, or signed with the key before, and not while armed."""
        local = sender.peer.address[0].startswith(LOOPBACK)
        refusal = "disarm first" if self.autopilot.armed else "" if local or self.key else "not from another machine"
        if refusal:
            self.autopilot.send_text(Severity.WARNING, f"Signing rejected: {refusal}")
            return
        key, first = bytes(message.secret_key), message.initial_timestamp
        if any(key) and first > LAST:
            self.autopilot.send_text(Severity.WARNING, "Signing rejected: time stamp exceeds 48 bits")
            return
        self.key = key if any(key) else b""
        self.newest, self.sent, self.stored = first if self.key else 0, 0, 0
        self.streams.clear()
        self.autopilot.send_text(Severity.INFO, "Signing enabled" if self.key else "Signing disabled")
        self._save()

    def _save(self) -> None:
        """Store the key beside the parameters, for this user only."""
        path, self._changed = self._path, False
        if path is None:
            return
        try:
            if not self.key:
                path.unlink(missing_ok=True)
                return
            streams = [[*stream, time] for stream, time in self.streams.items()]
            text = json.dumps({"key": self.key.hex(), "timestamp": self.newest, "streams": streams}) + "\n"
            part = path.with_suffix(".signing.part")  # a full disk must not cost the key
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(text)
            part.replace(path)
        except OSError as problem:
            self.autopilot.send_text(Severity.ERROR, f"{path}: cannot save the signing key: {problem.strerror}")
