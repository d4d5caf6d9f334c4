"""Messages about the vehicle's state: heartbeat, health, battery, mission, channels, version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import INT16, INT32, UINT16, known, mav, scaled, uint16

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

SIMULATED_EPOCH_US = 1_767_225_600_000_000
"""Date at simulated time 0: 1 January 2026, 00:00 UTC. The real date would make every run different."""

PILOTED = frozenset({"MANUAL", "ACRO", "STABILIZE", "STEERING", "ALT_HOLD", "FBWA", "FBWB"})
"""Modes without the GUIDED flag."""

BOARD_SUPPLY = 5000  # mV
CHANNELS = 18
RAW_CHANNELS = 8
OUTPUTS = 16
RSSI_UNKNOWN = 255

ALWAYS = (
    mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | mav.MAV_MODE_FLAG_STABILIZE_ENABLED | mav.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED
)

VERSION = (4, 5, 7)  # the ArduPilot version whose protocol this follows; ground stations adapt to it

CAPABILITIES = sum(
    getattr(mav, f"MAV_PROTOCOL_CAPABILITY_{name}")
    for name in (
        *("MISSION_FLOAT", "PARAM_FLOAT", "MISSION_INT", "COMMAND_INT", "SET_POSITION_TARGET_LOCAL_NED"),
        *("SET_POSITION_TARGET_GLOBAL_INT", "MAVLINK2", "MISSION_FENCE", "MISSION_RALLY"),
    )
)


def heartbeat(autopilot: BuiltInAutopilot) -> Any:
    """HEARTBEAT, as an ArduPilot of this vehicle type sends it."""
    flags = ALWAYS
    if autopilot.armed:
        flags |= mav.MAV_MODE_FLAG_SAFETY_ARMED
    if autopilot.mode.name not in PILOTED:
        flags |= mav.MAV_MODE_FLAG_GUIDED_ENABLED
    if autopilot.mode.name == "AUTO":
        flags |= mav.MAV_MODE_FLAG_AUTO_ENABLED
    return mav.MAVLink_heartbeat_message(
        autopilot.vehicle.mav_type,
        mav.MAV_AUTOPILOT_ARDUPILOTMEGA,
        flags,
        autopilot.mode.number,
        autopilot.telemetry.system_status,
        3,
    )


def sys_status(autopilot: BuiltInAutopilot) -> Any:
    """SYS_STATUS: sensor health and battery. A disabled fence is healthy, or ground stations report a breach."""
    t = autopilot.telemetry
    fence = 0 if autopilot.fence.breached else mav.MAV_SYS_STATUS_GEOFENCE
    voltage, current, remaining = _battery(autopilot)
    return mav.MAVLink_sys_status_message(
        t.sensors_present,
        t.sensors_enabled,
        t.sensors_healthy | fence,
        scaled(t.load, 1000.0, 0, 1000, 0),
        voltage,
        current,
        remaining,
        *(0, 0, 0, 0, 0, 0),
    )


def battery_status(autopilot: BuiltInAutopilot) -> Any:
    """BATTERY_STATUS; the whole pack is reported as its first cell."""
    voltage, current, remaining = _battery(autopilot)
    consumed = scaled(autopilot.telemetry.battery_consumed, 1.0, 0, INT32, -1)
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
    """POWER_STATUS: constant board supply; the battery is valid while its voltage is measured."""
    voltage, _, _ = _battery(autopilot)
    flags = mav.MAV_POWER_STATUS_BRICK_VALID if voltage != UINT16 else 0
    return mav.MAVLink_power_status_message(BOARD_SUPPLY, 0, flags)


def _battery(autopilot: BuiltInAutopilot) -> tuple[int, int, int]:
    """Return mV, cA, %, or the fields' "unknown" values."""
    sensors = autopilot.telemetry.sensors
    if sensors is None:
        return UINT16, -1, -1
    return (
        uint16(sensors.battery_voltage, 1000.0),
        scaled(sensors.battery_current, 100.0, -1, INT16, -1),
        scaled(sensors.battery_remaining, 100.0, 0, 100, -1),
    )


def extended_sys_state(autopilot: BuiltInAutopilot) -> Any:
    """EXTENDED_SYS_STATE: landed or in the air."""
    return mav.MAVLink_extended_sys_state_message(mav.MAV_VTOL_STATE_UNDEFINED, int(autopilot.telemetry.landed))


def system_time(autopilot: BuiltInAutopilot) -> Any:
    """SYSTEM_TIME: simulated date and time since boot."""
    now = autopilot.telemetry.time_us
    return mav.MAVLink_system_time_message(SIMULATED_EPOCH_US + now, now // 1000)


def ekf_status(autopilot: BuiltInAutopilot) -> Any:
    """EKF_STATUS_REPORT: validity and innovations of the estimate."""
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


def mission_current(autopilot: BuiltInAutopilot) -> Any:
    """MISSION_CURRENT: current item, total, state."""
    t = autopilot.telemetry
    return mav.MAVLink_mission_current_message(t.mission_current, t.mission_count, t.mission_state)


def fence_status(autopilot: BuiltInAutopilot) -> Any:
    """FENCE_STATUS; None while the fence is disabled, as ArduPilot does."""
    fence = autopilot.fence
    if not fence.enabled:
        return None
    count = min(fence.count, 65535)
    return mav.MAVLink_fence_status_message(int(fence.breached), count, fence.last, fence.last_us // 1000)


def autopilot_version(autopilot: BuiltInAutopilot) -> Any:
    """AUTOPILOT_VERSION: a release without file transfer."""
    capabilities = CAPABILITIES
    if autopilot.vehicle.kind == "copter":
        capabilities |= mav.MAV_PROTOCOL_CAPABILITY_SET_ATTITUDE_TARGET
    major, minor, patch = VERSION
    return mav.MAVLink_autopilot_version_message(
        capabilities=capabilities,
        flight_sw_version=major << 24 | minor << 16 | patch << 8 | mav.FIRMWARE_VERSION_TYPE_OFFICIAL,
        middleware_sw_version=0,
        os_sw_version=0,
        board_version=0,
        flight_custom_version=(0,) * 8,
        middleware_custom_version=(0,) * 8,
        os_custom_version=(0,) * 8,
        vendor_id=0,
        product_id=0,
        uid=autopilot.sysid,
    )


def rc_channels(autopilot: BuiltInAutopilot) -> Any:
    """RC_CHANNELS: the pilot's inputs, us."""
    pwm = [*autopilot.sticks.pwm, *([0] * CHANNELS)][:CHANNELS]
    used = max((k + 1 for k, width in enumerate(pwm) if width), default=0)
    return mav.MAVLink_rc_channels_message(autopilot.telemetry.time_us // 1000, used, *pwm, RSSI_UNKNOWN)


def rc_channels_raw(autopilot: BuiltInAutopilot) -> Any:
    """RC_CHANNELS_RAW: the first eight channels, for older ground stations."""
    pwm = [*autopilot.sticks.pwm, *([0] * RAW_CHANNELS)][:RAW_CHANNELS]
    return mav.MAVLink_rc_channels_raw_message(autopilot.telemetry.time_us // 1000, 0, *pwm, RSSI_UNKNOWN)


def servo_outputs(autopilot: BuiltInAutopilot) -> Any:
    """SERVO_OUTPUT_RAW: motors and servos, us."""
    pwm = [*autopilot.telemetry.outputs, *([0] * OUTPUTS)][:OUTPUTS]
    return mav.MAVLink_servo_output_raw_message(autopilot.telemetry.time_us % 2**32, 0, *pwm)


ENCODERS = {
    mav.MAVLINK_MSG_ID_HEARTBEAT: heartbeat,
    mav.MAVLINK_MSG_ID_SYS_STATUS: sys_status,
    mav.MAVLINK_MSG_ID_BATTERY_STATUS: battery_status,
    mav.MAVLINK_MSG_ID_POWER_STATUS: power_status,
    mav.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: extended_sys_state,
    mav.MAVLINK_MSG_ID_SYSTEM_TIME: system_time,
    mav.MAVLINK_MSG_ID_EKF_STATUS_REPORT: ekf_status,
    mav.MAVLINK_MSG_ID_MISSION_CURRENT: mission_current,
    mav.MAVLINK_MSG_ID_FENCE_STATUS: fence_status,
    mav.MAVLINK_MSG_ID_AUTOPILOT_VERSION: autopilot_version,
    mav.MAVLINK_MSG_ID_RC_CHANNELS: rc_channels,
    mav.MAVLINK_MSG_ID_RC_CHANNELS_RAW: rc_channels_raw,
    mav.MAVLINK_MSG_ID_SERVO_OUTPUT_RAW: servo_outputs,
}
