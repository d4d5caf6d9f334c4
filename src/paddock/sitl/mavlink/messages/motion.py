"""How it moves: attitude, speeds, where the navigation wants to go."""

from __future__ import annotations

from math import degrees, hypot
from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages.scaling import UINT16, int16, known, whole

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot


def attitude(autopilot: BuiltInAutopilot) -> Any:
    """ATTITUDE: Euler angles and body rates."""
    told = autopilot.telemetry
    e = told.estimate
    if e is None:
        return None
    return mav.MAVLink_attitude_message(told.time_us // 1000, e.roll, e.pitch, e.yaw, e.p, e.q, e.r)


def attitude_quaternion(autopilot: BuiltInAutopilot) -> Any:
    """ATTITUDE_QUATERNION: the same without singularities."""
    told = autopilot.telemetry
    e = told.estimate
    if e is None:
        return None
    return mav.MAVLink_attitude_quaternion_message(told.time_us // 1000, e.qw, e.qx, e.qy, e.qz, e.p, e.q, e.r)


def vfr_hud(autopilot: BuiltInAutopilot) -> Any:
    """VFR_HUD: what a pilot's instruments show."""
    told = autopilot.telemetry
    e = told.estimate
    if e is None:
        return None
    speed = hypot(e.vn, e.ve)
    airspeed = known(told.sensors.airspeed, speed) if told.sensors is not None else speed
    throttle = whole(told.throttle, 100.0, 0, 100, 0)
    heading = round(degrees(e.yaw)) % 360
    return mav.MAVLink_vfr_hud_message(airspeed, speed, heading, throttle, known(told.altitude), -e.vd)


def nav_controller_output(autopilot: BuiltInAutopilot) -> Any:
    """NAV_CONTROLLER_OUTPUT: what the navigation asks for and how far it is off."""
    told = autopilot.telemetry
    return mav.MAVLink_nav_controller_output_message(
        degrees(known(told.nav_roll)),
        degrees(known(told.nav_pitch)),
        int16(degrees(known(told.nav_bearing)), 1.0),
        int16(degrees(known(told.target_bearing)), 1.0),
        whole(told.target_distance, 1.0, 0, UINT16, 0),
        known(told.altitude_error),
        known(told.speed_error),
        known(told.crosstrack),
    )


ENCODERS = {
    mav.MAVLINK_MSG_ID_ATTITUDE: attitude,
    mav.MAVLINK_MSG_ID_ATTITUDE_QUATERNION: attitude_quaternion,
    mav.MAVLINK_MSG_ID_VFR_HUD: vfr_hud,
    mav.MAVLINK_MSG_ID_NAV_CONTROLLER_OUTPUT: nav_controller_output,
}
