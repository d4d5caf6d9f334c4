"""What the sensors measure: satellites, inertia, pressure, distance to the ground, wind."""

from __future__ import annotations

from math import atan2, degrees, hypot, isfinite
from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages.scaling import UINT16, int16, int32, uint16, whole

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

GRAVITY = 9.80665  # m/s2
FREEZING = 273.15  # K
SLOWEST_COURSE = 0.3  # m/s: below, the course over the ground is noise
RANGE_UNKNOWN = 255


def gps_raw(autopilot: BuiltInAutopilot) -> Any:
    """GPS_RAW_INT, as the receiver says it; "no GPS" while nothing has been heard of one."""
    s = autopilot.telemetry.sensors
    if s is None:
        return None
    if s.gnss_time_us < 0.0:
        return mav.MAVLink_gps_raw_int_message(0, 0, 0, 0, 0, UINT16, UINT16, UINT16, UINT16, 255)
    speed = hypot(s.gnss_vn, s.gnss_ve)
    course = degrees(atan2(s.gnss_ve, s.gnss_vn)) % 360.0 if speed >= SLOWEST_COURSE else float("nan")
    return mav.MAVLink_gps_raw_int_message(
        int(s.gnss_time_us),
        whole(s.gnss_fix, 1.0, 0, 8, 0),
        int32(s.latitude, 1e7),
        int32(s.longitude, 1e7),
        int32(s.altitude, 1e3),
        uint16(s.gnss_eph, 100.0),
        uint16(s.gnss_epv, 100.0),
        uint16(speed, 100.0),
        uint16(course, 100.0),
        whole(s.gnss_satellites, 1.0, 0, 254, 255),
        h_acc=whole(s.gnss_eph, 1e3, 0, 2**31, 0),
        v_acc=whole(s.gnss_epv, 1e3, 0, 2**31, 0),
    )


def raw_imu(autopilot: BuiltInAutopilot) -> Any:
    """RAW_IMU in ArduPilot's units: thousandths of g, of rad/s and of gauss."""
    s = autopilot.telemetry.sensors
    if s is None:
        return None
    to_g, to_gauss = 1000.0 / GRAVITY, 1e7
    return mav.MAVLink_raw_imu_message(
        max(int(s.imu_time_us), 0),
        *(int16(value, to_g) for value in (s.accel_x, s.accel_y, s.accel_z)),
        *(int16(value, 1000.0) for value in (s.gyro_x, s.gyro_y, s.gyro_z)),
        *(int16(value, to_gauss) for value in (s.mag_x, s.mag_y, s.mag_z)),
    )


def scaled_pressure(autopilot: BuiltInAutopilot) -> Any:
    """SCALED_PRESSURE, in hPa; nothing without a barometer."""
    s = autopilot.telemetry.sensors
    if s is None or not isfinite(s.pressure):
        return None
    temperature = int16(s.temperature - FREEZING, 100.0)
    return mav.MAVLink_scaled_pressure_message(
        autopilot.telemetry.time_us // 1000, s.pressure / 100.0, 0.0, temperature
    )


def distance_sensor(autopilot: BuiltInAutopilot) -> Any:
    """DISTANCE_SENSOR: the rangefinder that looks down; nothing without one."""
    s = autopilot.telemetry.sensors
    if s is None or not isfinite(s.range_1):
        return None
    return mav.MAVLink_distance_sensor_message(
        autopilot.telemetry.time_us // 1000,
        min_distance=10,
        max_distance=10000,
        current_distance=uint16(s.range_1, 100.0),
        type=mav.MAV_DISTANCE_SENSOR_LASER,
        id=0,
        orientation=mav.MAV_SENSOR_ROTATION_PITCH_270,
        covariance=RANGE_UNKNOWN,
    )


def wind(autopilot: BuiltInAutopilot) -> Any:
    """WIND, from where it blows; nothing while it is not known."""
    told = autopilot.telemetry
    if not (isfinite(told.wind_speed) and isfinite(told.wind_direction)):
        return None
    return mav.MAVLink_wind_message(degrees(told.wind_direction) % 360.0, told.wind_speed, 0.0)


ENCODERS = {
    mav.MAVLINK_MSG_ID_GPS_RAW_INT: gps_raw,
    mav.MAVLINK_MSG_ID_RAW_IMU: raw_imu,
    mav.MAVLINK_MSG_ID_SCALED_PRESSURE: scaled_pressure,
    mav.MAVLINK_MSG_ID_DISTANCE_SENSOR: distance_sensor,
    mav.MAVLINK_MSG_ID_WIND: wind,
}
