"""Servos, relays, pictures and calibration as ground stations see them."""

from __future__ import annotations

from typing import Any

import pymap3d
import pytest
from pymavlink.dialects.v20 import ardupilotmega as mavlink

ORIGIN = (35.6812, 139.7671, 40.0)


def test_servos_and_relays_reach_the_telemetry(rover: Any) -> None:
    station = rover.settle().listener()
    assert rover.order(station, mavlink.MAV_CMD_DO_SET_SERVO, 9, 1777) == 0
    seen = rover.expect(station, "SERVO_OUTPUT_RAW", lambda m: m.servo9_raw == 1777)
    assert seen.servo1_raw == 1500 and seen.servo10_raw == 0
    assert rover.order(station, mavlink.MAV_CMD_DO_SET_SERVO, 1, 1777) == mavlink.MAV_RESULT_DENIED
    assert "already in use" in rover.expect(station, "STATUSTEXT", lambda m: "Servo" in m.text).text
    assert rover.order(station, mavlink.MAV_CMD_DO_SET_RELAY, 2, 1) == 0
    station.command(mavlink.MAV_CMD_REQUEST_MESSAGE, mavlink.MAVLINK_MSG_ID_RELAY_STATUS)
    relays = rover.expect(station, "RELAY_STATUS")
    assert (relays.on, relays.present) == (0b0100, 0b1111)


def test_pictures_every_five_metres_of_a_drive(rover: Any) -> None:
    station = rover.settle().listener()
    items = [(16, 0.0, 0.0), (206, 5.0, 0.0), (16, 22.0, 5.0), (206, 0.0, 0.0), (16, 22.0, 15.0)]
    station.send(mavlink.MAVLink_mission_count_message(1, 1, len(items), 0))
    for k, (command, a, b) in enumerate(items):
        rover.expect(station, "MISSION_REQUEST_INT", lambda m, k=k: m.seq == k)
        latitude, longitude, _ = pymap3d.ned2geodetic(a, b, 0.0, *ORIGIN)
        frame, p1, x, y = (2, a, 0, 0) if command == 206 else (6, 0.0, round(latitude * 1e7), round(longitude * 1e7))
        station.send(mavlink.MAVLink_mission_item_int_message(1, 1, k, frame, command, 0, 1, p1, 0, 0, 0, x, y, 0.0, 0))
    assert rover.expect(station, "MISSION_ACK").type == 0
    assert rover.order(station, 400, 1) == 0 and rover.order(station, 176, 1, 10) == 0
    taken = []
    while True:
        message = rover.expect(station, "CAMERA_FEEDBACK|CAMERA_IMAGE_CAPTURED|MISSION_ITEM_REACHED")
        if message.get_type() == "MISSION_ITEM_REACHED" and message.seq == 4:
            break
        taken.append(message)
    feedback = [m for m in taken if m.get_type() == "CAMERA_FEEDBACK"]
    captured = [m for m in taken if m.get_type() == "CAMERA_IMAGE_CAPTURED"]
    assert [m.img_idx for m in feedback] == [m.image_index for m in captured] == [1, 2, 3, 4]  # 20 m of 22
    for k, (first, other) in enumerate(zip(feedback, captured, strict=True), 1):
        north, east, _ = pymap3d.geodetic2ned(first.lat * 1e-7, first.lng * 1e-7, ORIGIN[2], *ORIGIN)
        assert (float(north), float(east)) == pytest.approx((5.0 * k, 5.0), abs=0.9)  # it starts at 0, 5
        assert (other.lat, other.lon) == (first.lat, first.lng) and other.capture_result == 1
        assert first.yaw == pytest.approx(0.0, abs=10.0) and sum(q * q for q in other.q) == pytest.approx(1.0, abs=1e-5)
        assert first.time_usec == other.time_utc and first.target_system == 1


def test_a_calibration_is_acknowledged_when_it_is_done(rover: Any) -> None:
    station = rover.settle().listener()
    station.command(mavlink.MAV_CMD_PREFLIGHT_CALIBRATION, 1)
    acks = [rover.expect(station, "COMMAND_ACK", lambda m: m.command == 241).result for _ in range(2)]
    assert acks == [mavlink.MAV_RESULT_IN_PROGRESS, mavlink.MAV_RESULT_ACCEPTED]
    assert any(m.text.startswith("Calibrated: gyro") for m in station.received if m.get_type() == "STATUSTEXT")
    assert rover.order(station, mavlink.MAV_CMD_PREFLIGHT_CALIBRATION, 0, 1) == mavlink.MAV_RESULT_UNSUPPORTED
    assert "compass" in rover.expect(station, "STATUSTEXT", lambda m: "Calibration" in m.text).text
