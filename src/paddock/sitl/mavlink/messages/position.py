"""Where it is, where its home and its local origin are."""

from __future__ import annotations

from math import degrees, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages.scaling import int16, int32, known

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot


def global_position(autopilot: BuiltInAutopilot) -> Any:
    """GLOBAL_POSITION_INT; nothing while the position is not known."""
    told = autopilot.telemetry
    e = told.estimate
    if e is None or isnan(told.latitude):
        return None
    return mav.MAVLink_global_position_int_message(
        told.time_us // 1000,
        int32(told.latitude, 1e7),
        int32(told.longitude, 1e7),
        int32(told.altitude, 1e3),
        int32(known(told.relative_altitude), 1e3),
        int16(e.vn, 100.0),
        int16(e.ve, 100.0),
        int16(e.vd, 100.0),
        round(degrees(e.yaw) * 100.0) % 36000,
    )


def local_position(autopilot: BuiltInAutopilot) -> Any:
    """LOCAL_POSITION_NED, from the estimator's origin; nothing while there is none."""
    told = autopilot.telemetry
    e = told.estimate
    if e is None or autopilot.frame is None:
        return None
    return mav.MAVLink_local_position_ned_message(told.time_us // 1000, e.north, e.east, e.down, e.vn, e.ve, e.vd)


def altitude(autopilot: BuiltInAutopilot) -> Any:
    """ALTITUDE: the same height from several zeros; over the ground NaN, if no rangefinder looks down."""
    told = autopilot.telemetry
    if told.estimate is None or isnan(told.altitude):
        return None
    below = nan if told.sensors is None else told.sensors.range_1
    local = -told.estimate.down
    return mav.MAVLink_altitude_message(
        told.time_us, local, told.altitude, local, told.relative_altitude, nan, below if isfinite(below) else nan
    )


def home_position(autopilot: BuiltInAutopilot) -> Any:
    """HOME_POSITION; nothing while there is no home."""
    if autopilot.home is None:
        return None
    latitude, longitude, altitude = autopilot.home
    return mav.MAVLink_home_position_message(
        int32(latitude, 1e7),
        int32(longitude, 1e7),
        int32(altitude, 1e3),
        *autopilot.home_ned(),
        (1.0, 0.0, 0.0, 0.0),
        *(0.0, 0.0, 0.0),
        autopilot.telemetry.time_us,
    )


def global_origin(autopilot: BuiltInAutopilot) -> Any:
    """GPS_GLOBAL_ORIGIN: where the local frame begins."""
    frame = autopilot.frame
    if frame is None:
        return None
    return mav.MAVLink_gps_global_origin_message(
        int32(frame.latitude, 1e7), int32(frame.longitude, 1e7), int32(frame.altitude, 1e3), autopilot.telemetry.time_us
    )


ENCODERS = {
    mav.MAVLINK_MSG_ID_GLOBAL_POSITION_INT: global_position,
    mav.MAVLINK_MSG_ID_LOCAL_POSITION_NED: local_position,
    mav.MAVLINK_MSG_ID_ALTITUDE: altitude,
    mav.MAVLINK_MSG_ID_HOME_POSITION: home_position,
    mav.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN: global_origin,
}
