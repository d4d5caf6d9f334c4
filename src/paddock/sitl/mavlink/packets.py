"""Datagrams to messages and back: framing, checksums, counters; nothing that comes in raises an exception.

A datagram holds whole packets, so each is read for itself: rubbish from one sender never garbles another's. MAVLink 1
and 2 are read. Signatures are not checked: there is no key, so a signed packet counts as an unsigned one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paddock.sitl.mavlink.dialect import crc, mav

MARKER_1, MARKER_2 = 0xFE, 0xFD
SIGNED = 0x01  # incompatibility flag
SIGNATURE = 13  # bytes
SEQUENCE_AT = 4  # place of the sequence number in a MAVLink 2 packet
MOST_ERRORS = 8  # in one datagram, before the rest of it is thrown away


@dataclass
class Counters:
    """What came in and went out of one link."""

    received: int = 0  # packets that were understood
    sent: int = 0
    bad_checksum: int = 0
    unknown: int = 0  # ids that the dialect does not have
    truncated: int = 0
    rubbish: int = 0  # bytes that belong to no packet

    @property
    def rejected(self) -> int:
        """Packets that could not be understood."""
        return self.bad_checksum + self.unknown + self.truncated


class Reader:
    """Messages out of datagrams."""

    def __init__(self) -> None:
        self._decoder = mav.MAVLink(None)

    def messages(self, datagram: bytes, counters: Counters) -> list[Any]:
        """Every valid message of a datagram, in order; what is not valid is counted."""
        found: list[Any] = []
        at, end, errors = 0, len(datagram), 0
        while at < end and errors < MOST_ERRORS:
            start = _next_marker(datagram, at)
            counters.rubbish += start - at
            if start == end:
                break
            packet, whole = _frame(datagram, start)
            message, known = self._decode(packet, whole, counters)
            if message is not None:
                found.append(message)
            errors += message is None
            at = start + (1 if message is None and known else len(packet))  # look for a packet inside a broken one
        return found

    def _decode(self, packet: bytes, whole: bool, counters: Counters) -> tuple[Any, bool]:
        """The message, or None; and whether its id is known."""
        if not whole:
            counters.truncated += 1
            return None, True
        try:
            message = self._decoder.decode(bytearray(packet))
        except Exception:  # whatever pymavlink finds wrong with a stranger's bytes, the simulation goes on
            counters.bad_checksum += 1
            return None, True
        if message.get_msgId() < 0:  # the dialect's way to say: never heard of it
            counters.unknown += 1
            return None, False
        counters.received += 1
        return message, True


def _next_marker(data: bytes, at: int) -> int:
    places = (data.find(MARKER_2, at), data.find(MARKER_1, at))
    return min((place for place in places if place >= 0), default=len(data))


def _frame(data: bytes, at: int) -> tuple[bytes, bool]:
    """The packet that begins here, as long as its header says, and whether all of it is there."""
    header = data[at : at + 3]
    if len(header) < 3:
        return header, False
    size = header[1] + 8
    if header[0] == MARKER_2:
        size += 4 + (SIGNATURE if header[2] & SIGNED else 0)
    packet = data[at : at + size]
    return packet, len(packet) == size


class Writer:
    """Packs the messages of one system with its sequence number."""

    def __init__(self, system: int, component: int) -> None:
        self._encoder = mav.MAVLink(None, srcSystem=system, srcComponent=component)

    def pack(self, message: Any) -> bytes:
        """The packet with the next sequence number."""
        packet: bytes = message.pack(self._encoder)
        self._encoder.seq = (self._encoder.seq + 1) % 256
        return packet

    def pack_aside(self, message: Any) -> bytes:
        """A packet that takes no sequence number: for what is not in the log."""
        packet: bytes = message.pack(self._encoder)
        return packet

    def reset(self) -> None:
        """Count from 0 again."""
        self._encoder.seq = 0


def renumbered(packet: bytes, sequence: int, extra: int) -> bytes:
    """The same MAVLink 2 packet with another sequence number: each listener counts for itself."""
    if packet[SEQUENCE_AT] == sequence:
        return packet
    body = packet[1:SEQUENCE_AT] + bytes((sequence,)) + packet[SEQUENCE_AT + 1 : -2]
    return packet[:1] + body + crc(body, extra).to_bytes(2, "little")
