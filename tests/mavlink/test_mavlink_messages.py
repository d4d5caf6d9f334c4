"""Telemetry messages field by field; streams and requests."""

from __future__ import annotations

from statistics import pstdev
from typing import Any

import pytest

mavlink = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega", reason="pymavlink is not installed")

from paddock.mavlink.messages import KNOWN  # noqa: E402
from paddock.mavlink.packets import PacketWriter, int16, int32, uint16  # noqa: E402

MAIN_SENSORS = 0x1 | 0x2 | 0x4 | 0x20  # gyro, accelerometer, magnetometer, GPS: checked by MAVSDK's health


def latest(station: Any) -> dict[str, Any]:
    return {message.get_type(): message for message in station.received}


@pytest.fixture
def settled(make_fleet: Any) -> Any:
    """A rover at rest 5 m east of 35.6812, 139.7671, 40 m; its station has received everything."""
    fleet = make_fleet()
    fleet.listener()
    return fleet.settle()


def test_field_values_are_clipped_or_unknown() -> None:
    assert (int16(400.0, 100.0), int16(float("nan"), 1.0), int32(-1e12, 1.0)) == (32767, 0, -2147483647)
    assert (uint16(float("nan"), 1.0), uint16(-3.0, 1.0), uint16(1e9, 1.0)) == (65535, 0, 65534)


def test_packets_of_fields_are_those_of_pymavlink(settled: Any) -> None:
    vehicle, packed = settled.hub.vehicles[1], 0
    writer, encoder = PacketWriter(1, 1), mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    for number, id in enumerate(sorted(KNOWN)):
        if (fields := vehicle.fields(id)) is not None:
            encoder.seq, packed = number, packed + 1
            assert writer.pack_fields(id, fields, number) == bytes(mavlink.mavlink_map[id](*fields).pack(encoder))
    assert packed > 20


def test_position_messages(settled: Any) -> None:
    reported = latest(settled.stations[0])
    position = reported["GLOBAL_POSITION_INT"]
    assert position.lat == pytest.approx(356812000, abs=300)  # 3 m
    assert position.lon == pytest.approx(1397671000 + 552, abs=300)  # 5 m east: a degree of longitude is 90,536 m there
    assert position.alt == pytest.approx(40000, abs=4000)
    assert abs(position.vx) < 30 and abs(position.vy) < 30
    assert abs(reported["LOCAL_POSITION_NED"].x) < 3.0
    home = reported["HOME_POSITION"]
    assert (home.latitude, home.longitude) == pytest.approx((position.lat, position.lon), abs=300)
    assert reported["GPS_RAW_INT"].fix_type >= 3
    assert reported["GPS_RAW_INT"].cog == 65535 or reported["GPS_RAW_INT"].vel > 20


def test_status_messages(settled: Any) -> None:
    reported = latest(settled.stations[0])
    status = reported["SYS_STATUS"]
    assert status.onboard_control_sensors_present & MAIN_SENSORS == MAIN_SENSORS
    assert status.onboard_control_sensors_health & MAIN_SENSORS == MAIN_SENSORS
    assert status.onboard_control_sensors_health & mavlink.MAV_SYS_STATUS_GEOFENCE
    assert reported["HEARTBEAT"].system_status == mavlink.MAV_STATE_STANDBY
    assert reported["EXTENDED_SYS_STATE"].landed_state == mavlink.MAV_LANDED_STATE_ON_GROUND
    assert reported["EKF_STATUS_REPORT"].flags & mavlink.EKF_POS_HORIZ_ABS
    assert reported["SYSTEM_TIME"].time_boot_ms == pytest.approx(15000, abs=2100)


def test_sensor_messages(settled: Any) -> None:
    reported = latest(settled.stations[0])
    assert reported["RAW_IMU"].zacc == pytest.approx(-1000, abs=60)  # thousandths of g, at rest
    assert abs(reported["ATTITUDE"].roll) < 0.05 and abs(reported["ATTITUDE"].pitch) < 0.05
    assert reported["SCALED_PRESSURE"].press_abs == pytest.approx(1008.4, abs=1.5)  # hPa at 40 m, ISA
    assert reported["VFR_HUD"].groundspeed < 0.5


def test_autopilot_version(settled: Any) -> None:
    station = settled.stations[0]
    station.command(520, 1.0)
    version = settled.expect(station, "AUTOPILOT_VERSION")
    assert version.flight_sw_version >> 24 == 4
    assert version.flight_sw_version & 0xFF == mavlink.FIRMWARE_VERSION_TYPE_OFFICIAL
    wanted = mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_INT | mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_FENCE
    assert version.capabilities & wanted == wanted
    assert version.capabilities & mavlink.MAV_PROTOCOL_CAPABILITY_FTP
    assert list(version.flight_custom_version) == [0] * 8  # MAVSDK takes it for a vendor's version


def test_messages_on_request(settled: Any) -> None:
    station = settled.stations[0]
    assert settled.order(station, 512, 31.0) == 0
    assert any(m.get_type() == "ATTITUDE_QUATERNION" for m in station.received)
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
    assert sum(m.get_type() == "ATTITUDE" for m in station.received) == pytest.approx(40, abs=2)
    assert settled.order(station, 511, 30.0, -1.0) == 0
    station.forget()
    settled.pass_time(2.0)
    assert not any(m.get_type() == "ATTITUDE" for m in station.received)
    assert settled.order(station, 511, 30.0, 0.0) == 0  # the default
    station.forget()
    settled.pass_time(2.0)
    assert sum(m.get_type() == "ATTITUDE" for m in station.received) == pytest.approx(8, abs=1)
    assert settled.order(station, 511, 0.0, -1.0) == 2  # the heartbeat stays
    assert settled.order(station, 511, 9999.0, 1e6) == 2
    assert settled.order(station, 511, 30.0, float("nan")) == 2


def test_data_streams(settled: Any) -> None:
    station = settled.stations[0]
    station.send(mavlink.MAVLink_request_data_stream_message(1, 1, mavlink.MAV_DATA_STREAM_POSITION, 10, 1))
    settled.pass_time(0.1)
    station.forget()
    settled.pass_time(2.0)
    assert sum(m.get_type() == "GLOBAL_POSITION_INT" for m in station.received) == pytest.approx(20, abs=1)
    station.send(mavlink.MAVLink_request_data_stream_message(1, 1, mavlink.MAV_DATA_STREAM_ALL, 0, 0))
    settled.pass_time(0.1)
    station.forget()
    settled.pass_time(4.0)
    assert {m.get_type() for m in station.received} == {"HEARTBEAT", "EXTENDED_SYS_STATE", "HOME_POSITION"}


def counted(station: Any, kind: str) -> int:
    return sum(m.get_type() == kind for m in station.received)


def test_rates_are_per_peer(settled: Any) -> None:
    """Requests of one peer do not affect others; a peer without requests has the default rates."""
    usual, fast, quiet = settled.stations[0], settled.station(system=254), settled.station(system=253)
    assert settled.order(fast, 511, 30.0, 50_000.0) == 0
    assert settled.order(fast, 511, 31.0, 100_000.0) == 0
    quiet.send(mavlink.MAVLink_request_data_stream_message(1, 1, mavlink.MAV_DATA_STREAM_ALL, 0, 0))
    settled.pass_time(0.1)
    for station in settled.stations:
        station.forget()
    settled.pass_time(2.0)
    reported = [counted(station, "ATTITUDE") for station in (usual, fast, quiet)]
    assert reported == pytest.approx([8, 40, 0], abs=1)
    assert [counted(station, "ATTITUDE_QUATERNION") for station in (usual, quiet)] == [0, 0]
    assert counted(usual, "GPS_RAW_INT") == counted(fast, "GPS_RAW_INT") == 4
    assert counted(quiet, "HEARTBEAT") == 2
    for station, interval in ((usual, 250_000), (fast, 50_000), (quiet, -1)):
        assert settled.order(station, 510, 30.0) == 0
        assert latest(station)["MESSAGE_INTERVAL"].interval_us == interval
    for station in settled.stations:
        numbers = [m.get_seq() for m in station.received]
        assert numbers == [(numbers[0] + k) % 256 for k in range(len(numbers))]


def test_a_rate_parameter_applies_to_peers_without_a_request(settled: Any) -> None:
    usual, fast = settled.stations[0], settled.station(system=254)
    assert settled.order(fast, 511, 30.0, 50_000.0) == 0
    rate = mavlink.MAVLink_param_set_message
    settled.ask(usual, rate(1, 1, b"SR0_EXTRA1", 10.0, 4), "PARAM_VALUE")
    for station in (usual, fast):
        station.forget()
    settled.pass_time(2.0)
    assert [counted(s, "ATTITUDE") for s in (usual, fast)] == pytest.approx([20, 40], abs=1)
    settled.ask(fast, rate(1, 1, b"SR0_EXTRA1", 5.0, 4), "PARAM_VALUE")  # its own newest wish
    for station in (usual, fast):
        station.forget()
    settled.pass_time(2.0)
    assert [counted(s, "ATTITUDE") for s in (usual, fast)] == pytest.approx([10, 10], abs=1)


def test_messages_sent_on_request_only(settled: Any) -> None:
    station = settled.stations[0]
    for number in (125, 141, 35):
        assert settled.order(station, 512, float(number)) == 0
    reported = latest(station)
    position = reported["GLOBAL_POSITION_INT"]
    assert reported["POWER_STATUS"].Vcc == 5000
    assert reported["ALTITUDE"].altitude_amsl == pytest.approx(position.alt / 1e3, abs=0.5)
    assert reported["ALTITUDE"].altitude_relative == pytest.approx(position.relative_alt / 1e3, abs=0.5)
    assert reported["RC_CHANNELS_RAW"].chan1_raw == reported["RC_CHANNELS"].chan1_raw
    assert settled.order(station, 512, 116.0) == 3  # SCALED_IMU2: there is only one


def test_vibration_is_measured_on_request(settled: Any) -> None:
    """The accelerometer of a vehicle at rest shows its noise: the spread of 400 samples of RAW_IMU at 50 Hz."""
    station = settled.stations[0]
    assert settled.order(station, 512, 241.0) == 0
    assert latest(station)["VIBRATION"].vibration_x == 0.0  # of one sample
    assert settled.order(station, 511, 241.0, 100_000.0) == 0
    assert settled.order(station, 511, 27.0, 20_000.0) == 0
    settled.pass_time(8.0)
    reported, samples = latest(station)["VIBRATION"], [m for m in station.received if m.get_type() == "RAW_IMU"][-400:]
    for axis in "xyz":
        spread = pstdev(getattr(m, f"{axis}acc") * 9.80665e-3 for m in samples)
        assert getattr(reported, f"vibration_{axis}") == pytest.approx(spread, rel=0.7)
    assert reported.clipping_0 == 0


def test_clocks_and_pings(settled: Any) -> None:
    station = settled.stations[0]
    answer = settled.ask(station, mavlink.MAVLink_timesync_message(0, 123456789), "TIMESYNC")
    assert answer.ts1 == 123456789
    assert answer.tc1 == pytest.approx(settled.bridge.time_us * 1000, abs=50_000_000)
    pong = settled.ask(station, mavlink.MAVLink_ping_message(42, 7, 0, 0), "PING")
    assert (pong.time_usec, pong.seq, pong.target_system, pong.target_component) == (42, 7, 255, 190)
    assert settled.ask(station, mavlink.MAVLink_log_request_list_message(1, 1, 0, 65535), "LOG_ENTRY").num_logs == 0
