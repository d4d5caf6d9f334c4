"""Bytes to messages and back, with packets made by hand and by pymavlink's own encoder."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

mavlink = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega", reason="pymavlink is not installed")

from paddock.mavlink.packets import (  # noqa: E402
    PacketCounters,
    PacketWriter,
    read_stream,
    renumbered,
    status_texts,
)


def x25(data: bytes) -> int:
    """The checksum as MAVLink's specification gives it, bit by bit."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    return crc


def by_hand(msgid: int, payload: bytes, extra: int, seq: int = 0, flags: int = 0) -> bytes:
    """A MAVLink 2 packet of system 255, component 190."""
    body = struct.pack("<BBBBBBHB", len(payload), flags, 0, seq, 255, 190, msgid & 0xFFFF, msgid >> 16) + payload
    return b"\xfd" + body + struct.pack("<H", x25(body + bytes((extra,))))


HEARTBEAT = by_hand(0, struct.pack("<IBBBBB", 4, 6, 8, 81, 3, 3), 50, seq=7)


def read(data: bytes) -> tuple[list[Any], PacketCounters]:
    counters = PacketCounters()
    return read_stream(data, counters, whole=True)[0], counters


def test_a_packet_made_by_hand_is_read() -> None:
    (message,), counters = read(HEARTBEAT)
    assert (message.get_type(), message.custom_mode, message.type) == ("HEARTBEAT", 4, 6)
    assert (message.get_srcSystem(), message.get_srcComponent(), message.get_seq()) == (255, 190, 7)
    assert (counters.received, counters.rejected) == (1, 0)


def test_mavlink_1_is_read() -> None:
    payload = struct.pack("<IBBBBB", 4, 6, 8, 81, 3, 3)
    body = struct.pack("<BBBBB", len(payload), 1, 255, 190, 0) + payload
    (message,), _ = read(b"\xfe" + body + struct.pack("<H", x25(body + b"\x32")))
    assert message.custom_mode == 4


def test_a_signed_packet_is_read_without_looking_at_the_signature() -> None:
    packet = by_hand(0, struct.pack("<IBBBBB", 4, 6, 8, 81, 3, 3), 50, flags=1) + bytes(13)
    messages, counters = read(packet + HEARTBEAT)
    assert len(messages) == 2
    assert counters.rejected == 0


def test_a_wrong_checksum_is_counted_and_the_next_packet_read() -> None:
    broken = bytearray(HEARTBEAT)
    broken[-1] ^= 0xFF
    messages, counters = read(bytes(broken) + HEARTBEAT)
    assert len(messages) == 1
    assert counters.rejected == 1


def test_an_unknown_id_is_counted_and_the_next_packet_read() -> None:
    messages, counters = read(by_hand(65000, b"\xfd\xfe\xfd", 1) + HEARTBEAT)
    assert len(messages) == 1
    assert counters.rejected == 1


@pytest.mark.parametrize("length", [1, 2, 5, len(HEARTBEAT) - 1])
def test_a_truncated_packet_is_counted(length: int) -> None:
    messages, counters = read(HEARTBEAT[:length])
    assert messages == []
    assert counters.rejected == 1


def test_bytes_between_packets_are_skipped() -> None:
    messages, counters = read(b"hello" + HEARTBEAT + b"bye" + HEARTBEAT)
    assert len(messages) == 2
    assert (counters.received, counters.rejected) == (2, 0)


def test_a_short_payload_is_filled_with_zeros() -> None:
    (message,), _ = read(by_hand(0, struct.pack("<IB", 4, 6), 50))
    assert (message.custom_mode, message.type, message.autopilot) == (4, 6, 0)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=600))
def test_random_bytes_never_raise(data: bytes) -> None:
    messages, counters = read(data)
    assert len(messages) == counters.received and all(message.get_msgId() >= 0 for message in messages)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(mavlink.mavlink_map)), st.binary(max_size=255), st.integers(0, 255))
def test_random_payloads_never_raise(msgid: int, payload: bytes, flags: int) -> None:
    messages, counters = read(by_hand(msgid, payload, mavlink.mavlink_map[msgid].crc_extra, flags=flags))
    assert len(messages) == counters.received and counters.received + counters.rejected >= 1


def test_sent_packets_are_truncated_after_the_last_nonzero_byte() -> None:
    writer = PacketWriter(9, 1)
    first = writer.pack(mavlink.MAVLink_mission_current_message(3, 0, 0))
    body = struct.pack("<BBBBBBHB", 1, 0, 0, 0, 9, 1, 42, 0) + b"\x03"
    assert first == b"\xfd" + body + struct.pack("<H", x25(body + bytes((28,))))
    second = writer.pack(mavlink.MAVLink_mission_current_message(3, 0, 0))
    assert second[4] == 1


def test_renumbering_changes_sequence_and_checksum_only() -> None:
    assert renumbered(HEARTBEAT, 200, 50) == by_hand(0, struct.pack("<IBBBBB", 4, 6, 8, 81, 3, 3), 50, seq=200)
    assert renumbered(HEARTBEAT, 7, 50) is HEARTBEAT


def test_long_texts_are_chunked() -> None:
    assert [(m.text, m.id) for m in status_texts(4, "short", 9)] == [("short", 0)]
    pieces = status_texts(4, "x" * 100, 9)
    assert [(len(m.text), m.id, m.chunk_seq) for m in pieces] == [(50, 9, 0), (50, 9, 1), (0, 9, 2)]
    assert "".join(m.text for m in status_texts(4, "a line of more than fifty characters, in three " * 3, 1)) == (
        "a line of more than fifty characters, in three " * 3
    )
