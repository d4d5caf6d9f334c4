"""Hostile ground stations: neither a packet, nor a stream, nor a flood of them stops a run or keeps others out."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import pytest
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.mavlink.link import MavlinkPeer, Sender
from paddock.sitl.mavlink.packets import PacketWriter, int32, uint16
from paddock.sitl.mavlink.signing import Signing

KEY = bytes(range(32))
LAST = 2**48 - 1


def heartbeat(timestamp: int, link: int = 3) -> Any:
    """Return a heartbeat signed by pymavlink."""
    out = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
    out.signing.secret_key, out.signing.sign_outgoing = KEY, True
    out.signing.timestamp, out.signing.link_id = timestamp, link
    packet = mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3).pack(out)
    return mavlink.MAVLink(None).decode(bytearray(packet))


def setup_signing(timestamp: int) -> Any:
    return mavlink.MAVLink_setup_signing_message(1, 1, list(KEY), timestamp)


def local() -> Sender:
    link: Any = None
    return Sender(link, MavlinkPeer(("127.0.0.1", 5), 0.0), 255, 190)


def test_a_time_stamp_beyond_48_bits_is_refused(rover: Any) -> None:
    station = rover.station()
    for timestamp in (2**48, 2**64 - 1):
        station.send(setup_signing(timestamp))
        text = rover.expect(station, "STATUSTEXT").text
        assert text.startswith("Signing rejected")
    station.send(setup_signing(LAST))
    rover.expect(station, "STATUSTEXT", lambda m: m.text == "Signing enabled")
    rover.pass_time(0.5)
    assert rover.hub.vehicles[1].signing.sent == LAST and not rover.hub.vehicles[1].failed


def test_a_stored_time_stamp_is_limited(tmp_path: Path) -> None:
    Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).set_up(setup_signing(5), local())
    (path,) = tmp_path.glob("*.signing")
    path.write_text(path.read_text().replace('"timestamp": 5', f'"timestamp": {2**70}'))
    assert Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).newest == LAST


def test_a_stamp_from_the_far_future_does_not_lock_others_out() -> None:
    signing = Signing(BuiltInAutopilot(1, "rover"))
    signing.key = KEY
    assert signing.accepts(heartbeat(LAST - 10, link=1))
    assert signing.newest < LAST // 2  # 2^47 is in the year 2059


def test_a_packet_from_before_a_restart_is_a_replay(tmp_path: Path) -> None:
    signing = Signing(BuiltInAutopilot(4, "rover", folder=tmp_path))
    signing.set_up(setup_signing(1_000_000), local())
    packets = [heartbeat(1_000_000 + 100 * k) for k in range(5)]
    assert signing.accepts(packets[0]) and signing.accepts(packets[1])
    signing.service(1_000_000)
    assert signing.accepts(packets[2])
    signing.service(20_000_000)  # not yet
    assert not Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).accepts(packets[1])
    assert Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).accepts(packets[2])
    signing.service(32_000_000)
    assert not Signing(BuiltInAutopilot(4, "rover", folder=tmp_path)).accepts(packets[2])
    assert signing.accepts(packets[3])
    signing.close()
    again = Signing(BuiltInAutopilot(4, "rover", folder=tmp_path))
    assert not again.accepts(packets[3]) and not again.accepts(heartbeat(1_000_200, link=7))
    assert again.accepts(packets[4])


def test_values_that_no_field_can_hold_are_limited() -> None:
    assert [int32(value, 1e7) for value in (1e308, -1e308, math.nan, math.inf)] == [2**31 - 1, 1 - 2**31, 0, 0]
    assert [uint16(value, 100.0) for value in (1e308, -5.0, math.nan)] == [65534, 0, 65535]
    largest = struct.unpack("<f", bytes.fromhex("ffff7f7f"))[0]
    writer, reader = PacketWriter(1, 1), mavlink.MAVLink(None)
    fields = 5, 1e308, -1e308, math.nan, math.inf, 0.0, 1.0
    for packet in (writer.pack_fields(30, fields), writer.pack(mavlink.MAVLink_attitude_message(*fields))):
        attitude = reader.decode(bytearray(packet))
        assert (attitude.roll, attitude.pitch, attitude.rollspeed) == (largest, -largest, math.inf)
        assert math.isnan(attitude.yaw)


def test_a_vehicle_that_cannot_be_served_does_not_affect_others(make_fleet: Any, monkeypatch: Any) -> None:
    fleet = make_fleet(2)
    events: list[tuple[str, str]] = []
    fleet.autopilots[0].on_event.append(lambda kind, detail: events.append((kind, detail)))
    other = fleet.listener(2)
    monkeypatch.setattr(fleet.hub.vehicles[1], "fields", lambda id: (math.nan,) * 6)
    fleet.pass_time(2.0)
    assert events == [("lost", f"MAVLink failed with {fleet.hub.vehicles[1].failed}; no telemetry until a reset")]
    assert sum(m.get_type() == "HEARTBEAT" for m in other.received) >= 2
    monkeypatch.undo()
    fleet.bridge.reset()
    fleet.pass_time(0.5)
    assert not fleet.hub.vehicles[1].failed and len(events) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_the_log_and_not_the_run(rover: Any) -> None:
    events: list[tuple[str, str]] = []
    rover.autopilots[0].on_event.append(lambda kind, detail: events.append((kind, detail)))
    rover.hub.vehicles[1].log = Path("/dev/full").open("wb")
    rover.pass_time(30.0)
    assert events == [("autopilot", "/dev/full: logging stopped: No space left on device")]
    assert rover.hub.vehicles[1].log is None
    rover.hub.vehicles[1].log = Path("/dev/full").open("wb")
    rover.hub.vehicles[1].log.write(b"x")
    rover.hub.vehicles[1].close()
    assert len(events) == 2
