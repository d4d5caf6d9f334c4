"""How the vehicle is: heartbeat, health, battery, time, landed, fence, estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages.scaling import INT16, INT32, UINT16, known, uint16, whole

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

SIMULATED_EPOCH_US = 1_767_225_600_000_000
"""The date at simulated time 0: 1 January 2026, 00:00 UTC. A clock on the wall would make every run different."""

STEERED = frozenset({"MANUAL", "ACRO", "STABILIZE", "STEERING", "ALT_HOLD", "FBWA", "FBWB"})
"""Modes in which a person flies or drives: the others guide themselves."""

BOARD_SUPPLY = 5000  # mV

ALWAYS = (
    mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | mav.MAV_MODE_FLAG_STABILIZE_ENABLED | mav.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED
)


def heartbeat(autopilot: BuiltInAutopilot) -> Any:
    """HEARTBEAT, as an ArduPilot of this kind of craft sends it."""
    told = autopilot.telemetry
    flags = ALWAYS
    if autopilot.armed:
        flags |= mav.MAV_MODE_FLAG_SAFETY_ARMED
    if autopilot.mode.name not in STEERED:
        flags |= mav.MAV_MODE_FLAG_GUIDED_ENABLED
    if autopilot.mode.name == "AUTO":
        flags |= mav.MAV_MODE_FLAG_AUTO_ENABLED
    return mav.MAVLink_heartbeat_message(
        autopilot.craft.mav_type,
        mav.MAV_AUTOPILOT_ARDUPILOTMEGA,
        flags,
        autopilot.mode.number,
        told.system_status,
        3,
    )


def sys_status(autopilot: BuiltInAutopilot) -> Any:
    """SYS_STATUS: which sensors work, and the battery. A fence that is off is healthy: stations cry "breach" if not."""
    told = autopilot.telemetry
    fence = 0 if autopilot.fence.breached else mav.MAV_SYS_STATUS_GEOFENCE
    voltage, current, remaining = _battery(autopilot)
    return mav.MAVLink_sys_status_message(
        told.sensors_present,
        told.sensors_enabled,
        told.sensors_healthy | fence,
        whole(told.load, 1000.0, 0, 1000, 0),
        voltage,
        current,
        remaining,
        *(0, 0, 0, 0, 0, 0),
    )


def battery_status(autopilot: BuiltInAutopilot) -> Any:
    """BATTERY_STATUS of the only battery; the whole pack is shown as its first cell."""
    voltage, current, remaining = _battery(autopilot)
    consumed = whole(autopilot.telemetry.battery_consumed, 1.0, 0, INT32, -1)
    return mav.MAVLink_battery_status_message(
        id=0,
        battery_function=mav.MAV_BATTERY_FUNCTION_ALL,
        type=mav.MAV_BATTERY_TYPE_LIPO,
        temperature=INT16,
        voltages=(voltage,) + (UINT16,) * 9,
        current_battery=current,
        current_consumed=consumed,
        energy_consumed=-1,
        battery_remaining=remaining,
    )


def power_status(autopilot: BuiltInAutopilot) -> Any:
    """POWER_STATUS: the board's supply never fails here; a battery is a good one while its voltage is measured."""
    voltage, _, _ = _battery(autopilot)
    flags = mav.MAV_POWER_STATUS_BRICK_VALID if voltage != UINT16 else 0
    return mav.MAVLink_power_status_message(BOARD_SUPPLY, 0, flags)


def _battery(autopilot: BuiltInAutopilot) -> tuple[int, int, int]:
    """mV, cA, %; the fields' own values for what nobody measures."""
    sensors = autopilot.telemetry.sensors
    if sensors is None:
        return UINT16, -1, -1
    return (
        uint16(sensors.battery_voltage, 1000.0),
        whole(sensors.battery_current, 100.0, -1, INT16, -1),
        whole(sensors.battery_remaining, 100.0, 0, 100, -1),
    )


def extended_sys_state(autopilot: BuiltInAutopilot) -> Any:
    """EXTENDED_SYS_STATE: on the ground or in the air."""
    return mav.MAVLink_extended_sys_state_message(mav.MAV_VTOL_STATE_UNDEFINED, int(autopilot.telemetry.landed))


def system_time(autopilot: BuiltInAutopilot) -> Any:
    """SYSTEM_TIME: a made-up date, and simulated time since boot."""
    now = autopilot.telemetry.time_us
    return mav.MAVLink_system_time_message(SIMULATED_EPOCH_US + now, now // 1000)


def ekf_status(autopilot: BuiltInAutopilot) -> Any:
    """EKF_STATUS_REPORT: what the estimator may be relied on for."""
    estimate = autopilot.telemetry.estimate
    if estimate is None:
        return None
    flags = 0
    if estimate.attitude_ok:
        flags |= mav.EKF_ATTITUDE
    if estimate.position_ok:
        flags |= mav.EKF_VELOCITY_HORIZ | mav.EKF_POS_HORIZ_REL | mav.EKF_POS_HORIZ_ABS
        flags |= mav.EKF_PRED_POS_HORIZ_REL | mav.EKF_PRED_POS_HORIZ_ABS
    else:
        flags |= mav.EKF_CONST_POS_MODE
    if estimate.height_ok:
        flags |= mav.EKF_VELOCITY_VERT | mav.EKF_POS_VERT_ABS
    ratios = (estimate.velocity_ratio, estimate.position_ratio, estimate.height_ratio, estimate.compass_ratio)
    return mav.MAVLink_ekf_status_report_message(flags, *(known(ratio) for ratio in ratios), 0.0)


ENCODERS = {
    mav.MAVLINK_MSG_ID_HEARTBEAT: heartbeat,
    mav.MAVLINK_MSG_ID_SYS_STATUS: sys_status,
    mav.MAVLINK_MSG_ID_BATTERY_STATUS: battery_status,
    mav.MAVLINK_MSG_ID_POWER_STATUS: power_status,
    mav.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: extended_sys_state,
    mav.MAVLINK_MSG_ID_SYSTEM_TIME: system_time,
    mav.MAVLINK_MSG_ID_EKF_STATUS_REPORT: ekf_status,
}
