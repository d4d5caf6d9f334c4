"""Streamed inputs without acknowledgement: RC channels, joystick, GUIDED targets."""

from __future__ import annotations

from math import cos, isfinite, nan, sin, sqrt
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.guided import GuidedTarget
from paddock.sitl.autopilot.mission.items import AltitudeFrame
from paddock.sitl.autopilot.telemetry import Severity
from paddock.sitl.mavlink.mission_protocol import DEGREE, PLAIN_FRAMES
from paddock.sitl.mavlink.packets import mav

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Sender
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

NO_XY, NO_Z = 0x3, 0x4
NO_VXY, NO_VZ = 0x18, 0x20
NO_YAW, NO_YAW_RATE = 0x400, 0x800
NO_THRUST, NO_ATTITUDE, NO_BODY_YAW_RATE = 0x40, 0x80, 0x04

OFFSETS = frozenset({mav.MAV_FRAME_LOCAL_OFFSET_NED, mav.MAV_FRAME_BODY_OFFSET_NED, mav.MAV_FRAME_BODY_FRD})
"""Frames with positions relative to the vehicle."""

BODY_AXES = frozenset({mav.MAV_FRAME_BODY_NED, mav.MAV_FRAME_BODY_OFFSET_NED, mav.MAV_FRAME_BODY_FRD})
"""Frames with axes forward, right, down."""

LOCAL = frozenset({mav.MAV_FRAME_LOCAL_NED}) | OFFSETS | BODY_AXES

LEAVE, RELEASE = 65535, 0
EXTENDED_RELEASE = 65534  # of channels 9 to 18, where 0 means unchanged


class Inputs:
    """The inputs of one vehicle."""

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

    def _may_send_rc(self, sender: Sender) -> bool:
        """Accept RC from SYSID_MYGCS only; warn others."""
        mine = self.vehicle.my_gcs
        if sender.system != mine:
            self.autopilot.warn_throttled(f"RC from system {sender.system} ignored: SYSID_MYGCS is {mine}")
        return sender.system == mine

    def _rc_override(self, message: Any, sender: Sender) -> None:
        if not self._may_send_rc(sender):
            return
        first = [getattr(message, f"chan{k}_raw") for k in range(1, 9)]
        rest = [getattr(message, f"chan{k}_raw") for k in range(9, 19)]
        extended = {0: LEAVE, EXTENDED_RELEASE: RELEASE}
        self.autopilot.rc.override([*first, *(extended.get(width, width) for width in rest)])

    def _manual_control(self, message: Any, sender: Sender) -> None:
        if self._may_send_rc(sender):
            self.autopilot.rc.manual_control(message.x, message.y, message.z, message.r)

    def _local_target(self, message: Any, sender: Sender) -> None:
        m = message
        if m.coordinate_frame not in LOCAL:
            self._refuse_frame(m.coordinate_frame)
            return
        mask, turned = m.type_mask, m.coordinate_frame in BODY_AXES
        wanted = self._turn((m.x, m.y, 0.0 if mask & NO_Z else m.z), turned)
        now = self.autopilot.estimate
        if m.coordinate_frame in OFFSETS or turned:
            wanted = now.north + wanted[0], now.east + wanted[1], now.down + wanted[2]
        place = wanted[0], wanted[1], now.down if mask & NO_Z else wanted[2]
        self._take(m, None if mask & NO_XY else place, turned)

    def _global_target(self, message: Any, sender: Sender) -> None:
        m = message
        frame, local = PLAIN_FRAMES.get(m.coordinate_frame), self.autopilot.frame
        if frame is None or frame is AltitudeFrame.MISSION:
            self._refuse_frame(m.coordinate_frame)
            return
        if m.type_mask & NO_XY:
            self._take(m, None, False)
            return
        if local is None:
            self.autopilot.send_text(Severity.WARNING, "Target rejected: no position estimate")
            return
        north, east, down = local.to_ned(m.lat_int / DEGREE, m.lon_int / DEGREE, m.alt)
        if frame is not AltitudeFrame.GLOBAL:
            down = self.autopilot.home_position.ned()[2] - m.alt
        self._take(m, (north, east, self.autopilot.estimate.down if m.type_mask & NO_Z else down), False)

    def _take(self, m: Any, position: Ned | None, turned: bool) -> None:
        """Add velocity and yaw, and set the target."""
        mask = m.type_mask
        wanted = (m.vx, m.vy, 0.0 if mask & NO_VZ else m.vz)
        yaw = nan if mask & NO_YAW else m.yaw + (self.autopilot.estimate.yaw if turned else 0.0)
        self.autopilot.set_guided_target(
            GuidedTarget(
                time_us=self.vehicle.now_us,
                position=position,
                velocity=None if mask & NO_VXY else self._turn(wanted, turned),
                yaw=yaw,
                yaw_rate=nan if mask & NO_YAW_RATE else m.yaw_rate,
            )
        )

    def _turn(self, vector: Ned, turned: bool) -> Ned:
        """Rotate forward, right, down to north, east, down, by the heading."""
        if not turned:
            return vector
        forward, right, down = vector
        c, s = cos(self.autopilot.estimate.yaw), sin(self.autopilot.estimate.yaw)
        return forward * c - right * s, forward * s + right * c, down

    def _attitude_target(self, message: Any, sender: Sender) -> None:
        m = message
        length = sqrt(sum(value * value for value in m.q))
        if m.type_mask & NO_ATTITUDE or not isfinite(length) or length < 1e-3:
            text = "Target rejected: attitude required, rates alone are unsupported"
            self.autopilot.send_text(Severity.WARNING, text)
            return
        w, x, y, z = (value / length for value in m.q)
        self.autopilot.set_guided_target(
            GuidedTarget(
                time_us=self.vehicle.now_us,
                attitude=(w, x, y, z),
                thrust=nan if m.type_mask & NO_THRUST else min(max(m.thrust, 0.0), 1.0),
                yaw_rate=nan if m.type_mask & NO_BODY_YAW_RATE else m.body_yaw_rate,
            )
        )

    def _refuse_frame(self, frame: int) -> None:
        self.autopilot.send_text(Severity.WARNING, f"Target rejected: unsupported frame {frame}")
