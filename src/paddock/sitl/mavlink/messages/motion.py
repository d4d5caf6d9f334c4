"""Messages about motion, position and sensors."""

from __future__ import annotations

from math import atan2, degrees, exp, hypot, isfinite, isnan, nan, pi, sqrt
from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import UINT16, int16, int32, known, mav, scaled, uint16

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.telemetry import Telemetry

GRAVITY = 9.80665  # m/s2
FREEZING = 273.15  # K
MIN_COURSE_SPEED = 0.3  # m/s: slower, the course over the ground is noise
COVARIANCE_UNKNOWN = 255


def attitude(autopilot: BuiltInAutopilot) -> Any:
    """ATTITUDE: Euler angles and body rates."""
    t, e = autopilot.telemetry, autopilot.telemetry.estimate
    if e is None:
        return None
    return mav.MAVLink_attitude_message(t.time_us // 1000, e.roll, e.pitch, e.yaw, e.p, e.q, e.r)


def attitude_quaternion(autopilot: BuiltInAutopilot) -> Any:
    """ATTITUDE_QUATERNION."""
    t, e = autopilot.telemetry, autopilot.telemetry.estimate
    if e is None:
        return None
    return mav.MAVLink_attitude_quaternion_message(t.time_us // 1000, e.qw, e.qx, e.qy, e.qz, e.p, e.q, e.r)


def vfr_hud(autopilot: BuiltInAutopilot) -> Any:
    """VFR_HUD: airspeed is the ground speed without a sensor."""
    t, e = autopilot.telemetry, autopilot.telemetry.estimate
    if e is None:
        return None
    speed = hypot(e.vn, e.ve)
    airspeed = known(t.sensors.airspeed, speed) if t.sensors is not None else speed
    heading, throttle = round(degrees(e.yaw)) % 360, scaled(t.throttle, 100.0, 0, 100, 0)
    return mav.MAVLink_vfr_hud_message(airspeed, speed, heading, throttle, known(t.altitude), -e.vd)


def nav_controller_output(autopilot: BuiltInAutopilot) -> Any:
    """NAV_CONTROLLER_OUTPUT: target attitude and navigation errors."""
    t = autopilot.telemetry
    return mav.MAVLink_nav_controller_output_message(
        degrees(known(t.nav_roll)),
        degrees(known(t.nav_pitch)),
        int16(degrees(known(t.nav_bearing)), 1.0),
        int16(degrees(known(t.target_bearing)), 1.0),
        scaled(t.target_distance, 1.0, 0, UINT16, 0),
        known(t.altitude_error),
        known(t.speed_error),
        known(t.crosstrack),
    )


# position ------------------------------------------------------------------------------------------------------------


def global_position(autopilot: BuiltInAutopilot) -> Any:
    """GLOBAL_POSITION_INT; None without a position."""
    t, e = autopilot.telemetry, autopilot.telemetry.estimate
    if e is None or isnan(t.latitude):
        return None
    return mav.MAVLink_global_position_int_message(
        t.time_us // 1000,
        *(int32(t.latitude, 1e7), int32(t.longitude, 1e7), int32(t.altitude, 1e3)),
        int32(known(t.relative_altitude), 1e3),
        *(int16(speed, 100.0) for speed in (e.vn, e.ve, e.vd)),
        round(degrees(e.yaw) * 100.0) % 36000,
    )


def local_position(autopilot: BuiltInAutopilot) -> Any:
    """LOCAL_POSITION_NED from the estimator's origin; None without one."""
    t, e = autopilot.telemetry, autopilot.telemetry.estimate
    if e is None or autopilot.frame is None:
        return None
    return mav.MAVLink_local_position_ned_message(t.time_us // 1000, e.north, e.east, e.down, e.vn, e.ve, e.vd)


def altitude(autopilot: BuiltInAutopilot) -> Any:
    """ALTITUDE: above sea level, origin and home; above ground NaN without a rangefinder."""
    t = autopilot.telemetry
    if t.estimate is None or isnan(t.altitude):
        return None
    below, local = nan if t.sensors is None else known(t.sensors.range_1, nan), -t.estimate.down
    return mav.MAVLink_altitude_message(t.time_us, local, t.altitude, local, t.relative_altitude, nan, below)


def home_position(autopilot: BuiltInAutopilot) -> Any:
    """HOME_POSITION; None while home is unknown."""
    if autopilot.home is None:
        return None
    latitude, longitude, altitude = autopilot.home
    return mav.MAVLink_home_position_message(
        *(int32(latitude, 1e7), int32(longitude, 1e7), int32(altitude, 1e3)),
        *autopilot.home_ned(),
        (1.0, 0.0, 0.0, 0.0),
        *(0.0, 0.0, 0.0),
        autopilot.telemetry.time_us,
    )


def global_origin(autopilot: BuiltInAutopilot) -> Any:
    """GPS_GLOBAL_ORIGIN: origin of the local frame."""
    if (frame := autopilot.frame) is None:
        return None
    place = int32(frame.latitude, 1e7), int32(frame.longitude, 1e7), int32(frame.altitude, 1e3)
    return mav.MAVLink_gps_global_origin_message(*place, autopilot.telemetry.time_us)


# sensors -------------------------------------------------------------------------------------------------------------


def gps_raw(autopilot: BuiltInAutopilot) -> Any:
    """GPS_RAW_INT as measured; fix type "no GPS" before the first sample."""
    s = autopilot.telemetry.sensors
    if s is None:
        return None
    if s.gnss_time_us < 0.0:
        return mav.MAVLink_gps_raw_int_message(0, 0, 0, 0, 0, UINT16, UINT16, UINT16, UINT16, 255)
    speed = hypot(s.gnss_vn, s.gnss_ve)
    course = degrees(atan2(s.gnss_ve, s.gnss_vn)) % 360.0 if speed >= MIN_COURSE_SPEED else nan
    return mav.MAVLink_gps_raw_int_message(
        int(s.gnss_time_us),
        scaled(s.gnss_fix, 1.0, 0, 8, 0),
        *(int32(s.latitude, 1e7), int32(s.longitude, 1e7), int32(s.altitude, 1e3)),
        *(uint16(value, 100.0) for value in (s.gnss_eph, s.gnss_epv, speed, course)),
        scaled(s.gnss_satellites, 1.0, 0, 254, 255),
        h_acc=scaled(s.gnss_eph, 1e3, 0, 2**31, 0),
        v_acc=scaled(s.gnss_epv, 1e3, 0, 2**31, 0),
    )


def raw_imu(autopilot: BuiltInAutopilot) -> Any:
    """RAW_IMU in ArduPilot's units: milli-g, mrad/s and milligauss."""
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
    """SCALED_PRESSURE, in hPa; None without a barometer."""
    s = autopilot.telemetry.sensors
    if s is None or not isfinite(s.pressure):
        return None
    now, temperature = autopilot.telemetry.time_us // 1000, int16(s.temperature - FREEZING, 100.0)
    return mav.MAVLink_scaled_pressure_message(now, s.pressure / 100.0, 0.0, temperature)


def distance_sensor(autopilot: BuiltInAutopilot) -> Any:
    """DISTANCE_SENSOR: the downward rangefinder; None without one."""
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
        covariance=COVARIANCE_UNKNOWN,
    )


def wind(autopilot: BuiltInAutopilot) -> Any:
    """WIND; None while it is unknown."""
    t = autopilot.telemetry
    if not (isfinite(t.wind_speed) and isfinite(t.wind_direction)):
        return None
    return mav.MAVLink_wind_message(degrees(t.wind_direction) % 360.0, t.wind_speed, 0.0)


ENCODERS = {
    mav.MAVLINK_MSG_ID_ATTITUDE: attitude,
    mav.MAVLINK_MSG_ID_ATTITUDE_QUATERNION: attitude_quaternion,
    mav.MAVLINK_MSG_ID_VFR_HUD: vfr_hud,
    mav.MAVLINK_MSG_ID_NAV_CONTROLLER_OUTPUT: nav_controller_output,
    mav.MAVLINK_MSG_ID_GLOBAL_POSITION_INT: global_position,
    mav.MAVLINK_MSG_ID_LOCAL_POSITION_NED: local_position,
    mav.MAVLINK_MSG_ID_ALTITUDE: altitude,
    mav.MAVLINK_MSG_ID_HOME_POSITION: home_position,
    mav.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN: global_origin,
    mav.MAVLINK_MSG_ID_GPS_RAW_INT: gps_raw,
    mav.MAVLINK_MSG_ID_RAW_IMU: raw_imu,
    mav.MAVLINK_MSG_ID_SCALED_PRESSURE: scaled_pressure,
    mav.MAVLINK_MSG_ID_DISTANCE_SENSOR: distance_sensor,
    mav.MAVLINK_MSG_ID_WIND: wind,
}


# vibration -----------------------------------------------------------------------------------------------------------

CUTOFF = 2.0  # Hz, of the low-passes of mean and squares
MIN_SAMPLES = 50
CLIPPED = 16.0 * GRAVITY
LONGEST_STEP = 0.1  # s


class VibrationMeter:
    """VIBRATION from the accelerometer samples of the telemetry (50 Hz), measured once it has been requested."""

    def __init__(self) -> None:
        self._requested = False
        self.restart()

    def restart(self) -> None:
        """Discard all samples."""
        self._mean: tuple[float, ...] | None = None
        self._square: tuple[float, ...] = (0.0, 0.0, 0.0)
        self._time_us, self._samples, self._clipped = 0, 0, 0

    def sample(self, telemetry: Telemetry) -> None:
        """Add the newest sample."""
        s = telemetry.sensors
        if not self._requested or s is None or telemetry.time_us == self._time_us:
            return
        now = (s.accel_x, s.accel_y, s.accel_z)
        if not all(isfinite(value) for value in now):
            return
        dt = min(max(telemetry.time_us - self._time_us, 0) * 1e-6, LONGEST_STEP)
        self._time_us = telemetry.time_us
        share = 1.0 - exp(-2.0 * pi * CUTOFF * dt)
        before = self._mean or now
        off = [value - mean for mean, value in zip(before, now, strict=True)]
        self._mean = tuple(mean + share * d for mean, d in zip(before, off, strict=True))
        self._square = tuple(q + share * (d * d - q) for q, d in zip(self._square, off, strict=True))
        self._samples += 1
        self._clipped += max(abs(value) for value in now) >= CLIPPED

    def message(self) -> Any:
        """VIBRATION in m/s2; None before enough samples."""
        self._requested = True
        if self._samples < MIN_SAMPLES:
            return None
        spread = (sqrt(value) for value in self._square)
        return mav.MAVLink_vibration_message(self._time_us, *spread, self._clipped, 0, 0)
