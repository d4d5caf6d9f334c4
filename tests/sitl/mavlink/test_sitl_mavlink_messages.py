"""What a vehicle tells, as numbers that a station understands; streams and requests."""

from __future__ import annotations

from typing import Any

import pytest

mavlink = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega", reason="pymavlink is not installed")

from paddock.sitl.mavlink.messages.scaling import int16, int32, uint16  # noqa: E402

MAIN_SENSORS = 0x1 | 0x2 | 0x4 | 0x20  # gyro, accelerometer, magnetometer, GPS: what MAVSDK's health looks at


def latest(station: Any) -> dict[str, Any]:
    return {message.get_type(): message for message in station.heard}


@pytest.fixture
def settled(make_fleet: Any) -> Any:
    """A rover at rest 5 m east of 35.6812, 139.7671, 40 m; its station has heard everything."""
    fleet = make_fleet()
    fleet.listener()
    return fleet.settle()


def test_values_that_do_not_fit_are_clipped_or_unknown() -> None:
    assert (int16(400.0, 100.0), int16(float("nan"), 1.0), int32(-1e12, 1.0)) == (32767, 0, -2147483647)
    assert (uint16(float("nan"), 1.0), uint16(-3.0, 1.0), uint16(1e9, 1.0)) == (65535, 0, 65534)


def test_where_it_is(settled: Any) -> None:
    told = latest(settled.stations[0])
    place = told["GLOBAL_POSITION_INT"]
    assert place.lat == pytest.approx(356812000, abs=300)  # 3 m
    assert place.lon == pytest.approx(1397671000 + 552, abs=300)  # 5 m east: a degree of longitude is 90,536 m there
    assert place.alt == pytest.approx(40000, abs=4000)
    assert abs(place.vx) < 30 and abs(place.vy) < 30
    assert abs(told["LOCAL_POSITION_NED"].x) < 3.0
    home = told["HOME_POSITION"]
    assert (home.latitude, home.longitude) == pytest.approx((place.lat, place.lon), abs=300)
    assert told["GPS_RAW_INT"].fix_type >= 3
    assert told["GPS_RAW_INT"].cog == 65535 or told["GPS_RAW_INT"].vel > 20


def test_how_it_is(settled: Any) -> None:
    told = latest(settled.stations[0])
    status = told["SYS_STATUS"]
    assert status.onboard_control_sensors_present & MAIN_SENSORS == MAIN_SENSORS
    assert status.onboard_control_sensors_health & MAIN_SENSORS == MAIN_SENSORS
    assert status.onboard_control_sensors_health & mavlink.MAV_SYS_STATUS_GEOFENCE
    assert told["HEARTBEAT"].system_status == mavlink.MAV_STATE_STANDBY
    assert told["EXTENDED_SYS_STATE"].landed_state == mavlink.MAV_LANDED_STATE_ON_GROUND
    assert told["EKF_STATUS_REPORT"].flags & mavlink.EKF_POS_HORIZ_ABS
    assert told["SYSTEM_TIME"].time_boot_ms == pytest.approx(15000, abs=2100)


def test_what_its_sensors_say(settled: Any) -> None:
    told = latest(settled.stations[0])
    assert told["RAW_IMU"].zacc == pytest.approx(-1000, abs=60)  # thousandths of g, at rest
    assert abs(told["ATTITUDE"].roll) < 0.05 and abs(told["ATTITUDE"].pitch) < 0.05
    assert told["SCALED_PRESSURE"].press_abs == pytest.approx(1008.4, abs=1.5)  # hPa at 40 m, ISA
    assert told["VFR_HUD"].groundspeed < 0.5


def test_it_is_an_ardupilot_without_files(settled: Any) -> None:
    station = settled.stations[0]
    station.command(520, 1.0)
    version = settled.expect(station, "AUTOPILOT_VERSION")
    assert version.flight_sw_version >> 24 == 4
    assert version.flight_sw_version & 0xFF == mavlink.FIRMWARE_VERSION_TYPE_OFFICIAL
    wanted = mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_INT | mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_FENCE
    assert version.capabilities & wanted == wanted
    assert not version.capabilities & mavlink.MAV_PROTOCOL_CAPABILITY_FTP


def test_messages_on_request(settled: Any) -> None:
    station = settled.stations[0]
    assert settled.order(station, 512, 31.0) == 0
    assert any(m.get_type() == "ATTITUDE_QUATERNION" for m in station.heard)
    assert settled.order(station, 410) == 0
    assert settled.order(station, 512, 9999.0) == 3
    assert settled.order(station, 512, float("nan")) == 3
    assert settled.order(station, 512, 162.0) == 1  # FENCE_STATUS, while there is no fence
    station.send(mavlink.MAVLink_autopilot_version_request_message(1, 1))
    settled.expect(station, "AUTOPILOT_VERSION")


def test_intervals(settled: Any) -> None:
    station = settled.stations[0]
    assert settled.order(station, 511, 30.0, 50_000.0) == 0
    assert settled.order(station, 510, 30.0) == 0
    assert latest(station)["MESSAGE_INTERVAL"].interval_us == 50_000
    station.forget()
    settled.pass_time(2.0)
    assert sum(m.get_type() == "ATTITUDE" for m in station.heard) == pytest.approx(40, abs=2)
    assert settled.order(station, 511, 30.0, -1.0) == 0
    station.forget()
    settled.pass_time(2.0)
    assert not any(m.get_type() == "ATTITUDE" for m in station.heard)
    assert settled.order(station, 511, 30.0, 0.0) == 0  # the default
    station.forget()
    settled.pass_time(2.0)
    assert sum(m.get_type() == "ATTITUDE" for m in station.heard) == pytest.approx(8, abs=1)
    assert settled.order(station, 511, 0.0, -1.0) == 2  # the heartbeat stays
    assert settled.order(station, 511, 9999.0, 1e6) == 2
    assert settled.order(station, 511, 30.0, float("nan")) == 2


def test_data_streams(settled: Any) -> None:
    station = settled.stations[0]
    station.send(mavlink.MAVLink_request_data_stream_message(1, 1, mavlink.MAV_DATA_STREAM_POSITION, 10, 1))
    settled.pass_time(0.1)
    station.forget()
    settled.pass_time(2.0)
    assert sum(m.get_type() == "GLOBAL_POSITION_INT" for m in station.heard) == pytest.approx(20, abs=1)
    station.send(mavlink.MAVLink_request_data_stream_message(1, 1, mavlink.MAV_DATA_STREAM_ALL, 0, 0))
    settled.pass_time(0.1)
    station.forget()
    settled.pass_time(4.0)
    assert {m.get_type() for m in station.heard} == {"HEARTBEAT", "EXTENDED_SYS_STATE", "HOME_POSITION"}


def test_clocks_and_pings(settled: Any) -> None:
    station = settled.stations[0]
    answer = settled.ask(station, mavlink.MAVLink_timesync_message(0, 123456789), "TIMESYNC")
    assert answer.ts1 == 123456789
    assert answer.tc1 == pytest.approx(settled.bridge.time_us * 1000, abs=50_000_000)
    pong = settled.ask(station, mavlink.MAVLink_ping_message(42, 7, 0, 0), "PING")
    assert (pong.time_usec, pong.seq, pong.target_system, pong.target_component) == (42, 7, 255, 190)
    assert settled.ask(station, mavlink.MAVLink_log_request_list_message(1, 1, 0, 65535), "LOG_ENTRY").num_logs == 0
