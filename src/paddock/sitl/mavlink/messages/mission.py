"""How far the mission has come, and whether the fence holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot


def mission_current(autopilot: BuiltInAutopilot) -> Any:
    """MISSION_CURRENT: the item in work, of how many."""
    told = autopilot.telemetry
    return mav.MAVLink_mission_current_message(told.mission_current, told.mission_count, told.mission_state)


def fence_status(autopilot: BuiltInAutopilot) -> Any:
    """FENCE_STATUS; nothing while the fence is off, as ArduPilot does it."""
    fence = autopilot.fence
    if not fence.enabled:
        return None
    count = min(fence.count, 65535)
    return mav.MAVLink_fence_status_message(int(fence.breached), count, fence.last, fence.last_us // 1000)


ENCODERS = {
    mav.MAVLINK_MSG_ID_MISSION_CURRENT: mission_current,
    mav.MAVLINK_MSG_ID_FENCE_STATUS: fence_status,
}
