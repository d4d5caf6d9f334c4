"""How often each message is sent when nobody has asked: the groups of REQUEST_DATA_STREAM and their SR0_ parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from paddock.sitl.mavlink.dialect import mav


class Group(NamedTuple):
    """Messages whose rate one parameter gives; each has its share of that rate."""

    parameter: str  # Hz
    rate: float  # where the parameter does not exist
    shares: Mapping[int, float]
    also: tuple[int, ...] = ()  # only for a station that asks for the group

    @property
    def messages(self) -> tuple[int, ...]:
        """All that REQUEST_DATA_STREAM brings."""
        return (*self.shares, *self.also)


GROUPS: dict[int, Group] = {
    mav.MAV_DATA_STREAM_RAW_SENSORS: Group(
        "SR0_RAW_SENS", 2.0, {mav.MAVLINK_MSG_ID_RAW_IMU: 0.5, mav.MAVLINK_MSG_ID_SCALED_PRESSURE: 0.25}
    ),
    mav.MAV_DATA_STREAM_EXTENDED_STATUS: Group(
        "SR0_EXT_STAT",
        2.0,
        {
            mav.MAVLINK_MSG_ID_SYS_STATUS: 0.5,
            mav.MAVLINK_MSG_ID_GPS_RAW_INT: 1.0,
            mav.MAVLINK_MSG_ID_MISSION_CURRENT: 0.5,
            mav.MAVLINK_MSG_ID_NAV_CONTROLLER_OUTPUT: 0.5,
            mav.MAVLINK_MSG_ID_FENCE_STATUS: 0.25,
        },
        also=(mav.MAVLINK_MSG_ID_POWER_STATUS,),
    ),
    mav.MAV_DATA_STREAM_RC_CHANNELS: Group(
        "SR0_RC_CHAN", 2.0, {mav.MAVLINK_MSG_ID_SERVO_OUTPUT_RAW: 0.5, mav.MAVLINK_MSG_ID_RC_CHANNELS: 0.5}
    ),
    mav.MAV_DATA_STREAM_POSITION: Group(
        "SR0_POSITION", 4.0, {mav.MAVLINK_MSG_ID_GLOBAL_POSITION_INT: 1.0, mav.MAVLINK_MSG_ID_LOCAL_POSITION_NED: 0.5}
    ),
    mav.MAV_DATA_STREAM_EXTRA1: Group("SR0_EXTRA1", 4.0, {mav.MAVLINK_MSG_ID_ATTITUDE: 1.0}),
    mav.MAV_DATA_STREAM_EXTRA2: Group("SR0_EXTRA2", 4.0, {mav.MAVLINK_MSG_ID_VFR_HUD: 0.5}),
    mav.MAV_DATA_STREAM_EXTRA3: Group(
        "SR0_EXTRA3",
        2.0,
        {
            mav.MAVLINK_MSG_ID_SYSTEM_TIME: 0.25,
            mav.MAVLINK_MSG_ID_BATTERY_STATUS: 0.25,
            mav.MAVLINK_MSG_ID_EKF_STATUS_REPORT: 0.25,
            mav.MAVLINK_MSG_ID_WIND: 0.25,
        },
        also=(mav.MAVLINK_MSG_ID_VIBRATION,),
    ),
}
"""About 25 messages a second together."""

UNGROUPED: dict[int, float] = {
    mav.MAVLINK_MSG_ID_HEARTBEAT: 1.0,
    mav.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: 1.0,
    mav.MAVLINK_MSG_ID_HOME_POSITION: 0.5,
}
"""Hz, whatever the parameters say."""

GROUP_OF = {id: group for group in GROUPS.values() for id in group.shares}
BY_PARAMETER = {group.parameter: group for group in GROUPS.values()}
EVERY = (*UNGROUPED, *GROUP_OF)
"""What is sent by itself; what is not here comes when somebody asks for it."""
