"""The MAVLink dialect (ardupilotmega, MAVLink 2, by pymavlink), the scaling of its fields, and datagrams to messages.

No input raises an exception. A datagram holds whole packets, so invalid bytes from one sender never affect another.
MAVLink 1 and 2 are read. Signatures are checked by `signing`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import isfinite
from operator import itemgetter
from struct import Struct
from typing import Any, NamedTuple, TypeVar

from paddock.errors import MissingFeatureError

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
    found: list[Any] = []
    at = errors = 0
    rest = b""
    while errors < MAX_ERRORS and (start := _next_marker(data, at)) >= 0:
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
            found.append(message)
            if len(found) == most:
                rest = data[at:]
                break
    counters.received += len(found)
    counters.rejected += errors
    return found, rest


def _next_marker(data: bytes, at: int) -> int:
    """Return where the next packet may start; -1 if nowhere."""
    return min((place for marker in MARKERS if (place := data.find(marker, at)) >= 0), default=-1)


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

    def __init__(self, system: int, component: int) -> None:
        self._encoder = mav.MAVLink(None, srcSystem=system, srcComponent=component)

    @property
    def sequence(self) -> int:
        """The number of the next packet."""
        return int(self._encoder.seq)

    @sequence.setter
    def sequence(self, number: int) -> None:
        self._encoder.seq = number

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
        number = encoder.seq if sequence is None else sequence
        head = bytes((len(payload), 0, 0, number, encoder.srcSystem, encoder.srcComponent))
        body = head + form.id + payload
        if sequence is None:
            encoder.seq = (number + 1) % 256
        return MARK_2 + body + int(mav.x25crc(body + form.extra).crc).to_bytes(2, "little")

    def pack(self, message: Any, counted: bool = True) -> bytes:
        """Return the packet with the next sequence number, which stays the next for a packet that is not counted."""
        try:
            packet = bytes(message.pack(self._encoder))
        except OverflowError:
            for name in message.fieldnames:
                setattr(message, name, limited(getattr(message, name)))
            packet = bytes(message.pack(self._encoder))
        self._encoder.seq = (self._encoder.seq + counted) % 256
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
