"""What pilots and companions send all the time, unanswered: sticks, RC channels, targets for GUIDED."""

from __future__ import annotations

from math import cos, isfinite, nan, sin, sqrt
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.mission_item import Frame
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.targets import GuidedTarget
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.mission_items import DEGREE, PLAIN_FRAMES

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Origin
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

Triple = tuple[float, float, float]

NO_XY, NO_Z = 0x3, 0x4
NO_VXY, NO_VZ = 0x18, 0x20
NO_YAW, NO_YAW_RATE = 0x400, 0x800
NO_THRUST, NO_ATTITUDE, NO_BODY_YAW_RATE = 0x40, 0x80, 0x04

FROM_VEHICLE = frozenset({mav.MAV_FRAME_LOCAL_OFFSET_NED, mav.MAV_FRAME_BODY_OFFSET_NED, mav.MAV_FRAME_BODY_FRD})
"""Frames whose positions count from where the vehicle is."""

ALONG_NOSE = frozenset({mav.MAV_FRAME_BODY_NED, mav.MAV_FRAME_BODY_OFFSET_NED, mav.MAV_FRAME_BODY_FRD})
"""Frames whose axes are forward, right, down."""

LOCAL = frozenset({mav.MAV_FRAME_LOCAL_NED}) | FROM_VEHICLE | ALONG_NOSE

LEAVE, RELEASE = 65535, 0
EXTENDED_RELEASE = 65534  # of channels 9 to 18, where 0 means: leave as it is


class Inputs:
    """Of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self.handlers = {
            "RC_CHANNELS_OVERRIDE": self._rc_override,
            "MANUAL_CONTROL": self._manual_control,
            "SET_POSITION_TARGET_LOCAL_NED": self._local_target,
            "SET_POSITION_TARGET_GLOBAL_INT": self._global_target,
            "SET_ATTITUDE_TARGET": self._attitude_target,
        }

    def _may_steer(self, origin: Origin) -> bool:
        """Sticks are those of one station, SYSID_MYGCS; others are told so."""
        mine = self.vehicle.my_station
        if origin.system != mine:
            self.autopilot.complain(f"Sticks of system {origin.system} ignored: SYSID_MYGCS is {mine}")
        return origin.system == mine

    def _rc_override(self, message: Any, origin: Origin) -> None:
        if not self._may_steer(origin):
            return
        first = [getattr(message, f"chan{k}_raw") for k in range(1, 9)]
        rest = [getattr(message, f"chan{k}_raw") for k in range(9, 19)]
        extended = {0: LEAVE, EXTENDED_RELEASE: RELEASE}
        self.autopilot.rc_override([*first, *(extended.get(width, width) for width in rest)])

    def _manual_control(self, message: Any, origin: Origin) -> None:
        if self._may_steer(origin):
            self.autopilot.manual_control(message.x, message.y, message.z, message.r)

    # targets ---------------------------------------------------------------------------------------------------------

    def _local_target(self, message: Any, origin: Origin) -> None:
        m = message
        if m.coordinate_frame not in LOCAL:
            self._refuse_frame(m.coordinate_frame)
            return
        mask, turned = m.type_mask, m.coordinate_frame in ALONG_NOSE
        wanted = self._turn((m.x, m.y, 0.0 if mask & NO_Z else m.z), turned)
        position = None if mask & NO_XY else self._place(wanted, m.coordinate_frame, bool(mask & NO_Z))
        self._take(m, position, turned)

    def _place(self, wanted: Triple, frame: int, keep_height: bool) -> Triple:
        now = self.autopilot.estimate
        north, east, down = wanted
        if frame in FROM_VEHICLE or frame in ALONG_NOSE:
            north, east, down = now.north + north, now.east + east, now.down + down
        return north, east, now.down if keep_height else down

    def _global_target(self, message: Any, origin: Origin) -> None:
        m = message
        frame, local = PLAIN_FRAMES.get(m.coordinate_frame), self.autopilot.frame
        if frame is None or frame is Frame.MISSION:
            self._refuse_frame(m.coordinate_frame)
            return
        if m.type_mask & NO_XY:
            self._take(m, None, False)
            return
        if local is None:
            self.autopilot.say(Severity.WARNING, "Target refused: no position yet")
            return
        north, east, down = local.to_ned(m.lat_int / DEGREE, m.lon_int / DEGREE, m.alt)
        if frame is not Frame.GLOBAL:
            down = self.autopilot.home_ned()[2] - m.alt
        self._take(m, (north, east, self.autopilot.estimate.down if m.type_mask & NO_Z else down), False)

    def _take(self, m: Any, position: Triple | None, turned: bool) -> None:
        """What both kinds of targets have in common: velocity and yaw."""
        mask = m.type_mask
        wanted = (m.vx, m.vy, 0.0 if mask & NO_VZ else m.vz)
        yaw = nan if mask & NO_YAW else m.yaw + (self.autopilot.estimate.yaw if turned else 0.0)
        self.autopilot.position_target(
            GuidedTarget(
                time_us=self.vehicle.now_us,
                position=position,
                velocity=None if mask & NO_VXY else self._turn(wanted, turned),
                yaw=yaw,
                yaw_rate=nan if mask & NO_YAW_RATE else m.yaw_rate,
            )
        )

    def _turn(self, vector: Triple, turned: bool) -> Triple:
        """Forward, right, down to north, east, down, by the heading alone."""
        if not turned:
            return vector
        forward, right, down = vector
        c, s = cos(self.autopilot.estimate.yaw), sin(self.autopilot.estimate.yaw)
        return forward * c - right * s, forward * s + right * c, down

    def _attitude_target(self, message: Any, origin: Origin) -> None:
        m = message
        length = sqrt(sum(value * value for value in m.q))
        if m.type_mask & NO_ATTITUDE or not isfinite(length) or length < 1e-3:
            self.autopilot.say(Severity.WARNING, "Target refused: an attitude is needed, rates alone are not followed")
            return
        w, x, y, z = (value / length for value in m.q)
        self.autopilot.position_target(
            GuidedTarget(
                time_us=self.vehicle.now_us,
                attitude=(w, x, y, z),
                thrust=nan if m.type_mask & NO_THRUST else min(max(m.thrust, 0.0), 1.0),
                yaw_rate=nan if m.type_mask & NO_BODY_YAW_RATE else m.body_yaw_rate,
            )
        )

    def _refuse_frame(self, frame: int) -> None:
        self.autopilot.say(Severity.WARNING, f"Target refused: frame {frame} is not supported")
