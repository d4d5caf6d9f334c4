"""Who it is and what it can do: AUTOPILOT_VERSION."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

VERSION = (4, 5, 7)
"""The ArduPilot whose protocol this follows: stations choose by it how they speak to a vehicle."""

CAPABILITIES = (
    mav.MAV_PROTOCOL_CAPABILITY_MISSION_FLOAT
    | mav.MAV_PROTOCOL_CAPABILITY_PARAM_FLOAT
    | mav.MAV_PROTOCOL_CAPABILITY_MISSION_INT
    | mav.MAV_PROTOCOL_CAPABILITY_COMMAND_INT
    | mav.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_LOCAL_NED
    | mav.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_GLOBAL_INT
    | mav.MAV_PROTOCOL_CAPABILITY_MAVLINK2
    | mav.MAV_PROTOCOL_CAPABILITY_MISSION_FENCE
    | mav.MAV_PROTOCOL_CAPABILITY_MISSION_RALLY
)


def autopilot_version(autopilot: BuiltInAutopilot) -> Any:
    """AUTOPILOT_VERSION: a release, no file transfer; no custom version, which MAVSDK shows as a vendor's number."""
    capabilities = CAPABILITIES
    if autopilot.craft.kind == "copter":
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


ENCODERS = {mav.MAVLINK_MSG_ID_AUTOPILOT_VERSION: autopilot_version}
