"""Commands of ground stations: acknowledged ones, and streamed inputs (RC channels, joystick, GUIDED targets)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isinf, nan, sqrt
from typing import TYPE_CHECKING, Any

from paddock.autopilot.estimate import Ned
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.mission_items import AltitudeFrame, altitude_frame
from paddock.autopilot.telemetry import ACCEPTED, Ack, CommandResult, Severity
from paddock.compute.scalars import cos, sin
from paddock.mavlink.messages import KNOWN
from paddock.mavlink.packets import mav
from paddock.mavlink.protocols import DEGREE

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkVehicle
    from paddock.mavlink.link import Address, Sender

SEND_BANNER = 42428  # ArduPilot's MAV_CMD_DO_SEND_BANNER
VERSION, HOME = mav.MAVLINK_MSG_ID_AUTOPILOT_VERSION, mav.MAVLINK_MSG_ID_HOME_POSITION

LOCATED = frozenset(  # commands with a position in p5 and p6: in COMMAND_INT, degrees x 1e7
    getattr(mav, f"MAV_CMD_{name}")
    for name in (
        *("NAV_WAYPOINT", "NAV_LOITER_UNLIM", "NAV_LOITER_TURNS", "NAV_LOITER_TIME", "NAV_LAND", "NAV_TAKEOFF"),
        *("NAV_LOITER_TO_ALT", "NAV_SPLINE_WAYPOINT", "DO_ORBIT", "DO_SET_HOME", "DO_REPOSITION"),
        *("DO_SET_ROI_LOCATION", "DO_SET_ROI"),
    )
)

ABOVE_SEA_LEVEL = frozenset({mav.MAV_CMD_DO_SET_HOME, mav.MAV_CMD_DO_REPOSITION, mav.MAV_CMD_DO_ORBIT})
"""Commands whose altitude in COMMAND_LONG, which has no frame, is above sea level."""

UNSET = 2**31 - 1  # an integer latitude or longitude that is not given
MAX_REMEMBERED = 256  # acks for repeated commands
MavlinkCommand = tuple[int, tuple[float, ...], int]  # command, parameters, frame


class CommandProtocol:
    """COMMAND_LONG, COMMAND_INT and SET_MODE for one vehicle, each carried out once and acknowledged."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self._own: dict[int, Callable[[Sequence[float], Sender], Ack]] = {
            mav.MAV_CMD_SET_MESSAGE_INTERVAL: self._set_interval,
            mav.MAV_CMD_GET_MESSAGE_INTERVAL: self._get_interval,
            mav.MAV_CMD_REQUEST_MESSAGE: lambda p, sender: self.send_once(_whole(p[0]), sender),
            mav.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES: lambda _, sender: self.send_once(VERSION, sender),
            mav.MAV_CMD_GET_HOME_POSITION: lambda _, sender: self.send_once(HOME, sender),
            SEND_BANNER: self._banner,
        }
        self._acks: dict[tuple[tuple[Address, int, int], int], tuple[MavlinkCommand, Ack]] = {}
        self._pending: dict[int, Sender] = {}  # senders of commands in progress
        self.handlers = {"COMMAND_LONG": self._long, "COMMAND_INT": self._int, "SET_MODE": self._set_mode}

    def _long(self, message: Any, sender: Sender) -> None:
        m = message
        p = (m.param1, m.param2, m.param3, m.param4, m.param5, m.param6, m.param7)
        frame = AltitudeFrame.GLOBAL if m.command in ABOVE_SEA_LEVEL else AltitudeFrame.RELATIVE
        request = m.command, p, frame
        known = self._acks.get((sender.key, m.command)) if m.confirmation else None
        repeated = known is not None and repr(known[0]) == repr(request)  # NaN != NaN
        ack = known[1] if known is not None and repeated else self._execute(request, sender)
        self._finish(request, ack, sender)

    def _int(self, message: Any, sender: Sender) -> None:
        m = message
        located = m.command in LOCATED
        frame = altitude_frame(m.frame)
        x, y = ((nan if value == UNSET else value / DEGREE) if located else float(value) for value in (m.x, m.y))
        p = (m.param1, m.param2, m.param3, m.param4, x, y, m.z)
        request = m.command, p, frame or AltitudeFrame.GLOBAL
        if located and frame is None:
            ack = Ack(CommandResult.DENIED, f"Command {m.command}: unsupported frame {m.frame}")
            self._report(ack)
        else:
            ack = self._execute(request, sender)
        self._finish(request, ack, sender)

    def _execute(self, request: MavlinkCommand, sender: Sender) -> Ack:
        command, p, frame = request
        if any(map(isinf, p)):
            ack = Ack(CommandResult.DENIED, f"Command {command}: infinite parameter")
        elif (own := self._own.get(command)) is not None:
            return own(p, sender)
        else:
            ack = self.vehicle.autopilot.command(command, p, frame)
        self._report(ack)
        return ack

    def _finish(self, request: MavlinkCommand, ack: Ack, sender: Sender) -> None:
        self._acks.pop((sender.key, request[0]), None)
        self._acks[sender.key, request[0]] = (request, ack)
        if len(self._acks) > MAX_REMEMBERED:
            del self._acks[next(iter(self._acks))]
        self._acknowledge(request[0], ack, sender)
        if ack.result == CommandResult.IN_PROGRESS:
            self._pending[request[0]] = sender

    def finish(self, command: int, ack: Ack) -> None:
        """Send the final answer to the sender of a command that was in progress."""
        sender = self._pending.pop(command, None)
        if sender is not None:
            if (known := self._acks.get((sender.key, command))) is not None:
                self._acks[sender.key, command] = known[0], ack
            self._acknowledge(command, ack, sender)

    def _set_mode(self, message: Any, sender: Sender) -> None:
        """Acknowledge as a command with the number of the message, as ArduPilot does."""
        custom = message.base_mode & mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
        refused = Ack(CommandResult.DENIED, "SET_MODE: only custom modes")
        ack = self.vehicle.autopilot.set_mode(message.custom_mode) if custom else refused
        self._report(ack)
        self._acknowledge(mav.MAVLINK_MSG_ID_SET_MODE, ack, sender)

    def _report(self, ack: Ack) -> None:
        """Report a refusal as STATUSTEXT, except UNSUPPORTED: ground stations probe for features."""
        if ack.text and ack.result not in (CommandResult.ACCEPTED, CommandResult.UNSUPPORTED):
            self.vehicle.autopilot.send_text(Severity.WARNING, ack.text)

    def _acknowledge(self, command: int, ack: Ack, sender: Sender) -> None:
        to = {"target_system": sender.system, "target_component": sender.component}
        self.vehicle.reply(mav.MAVLink_command_ack_message(command, int(ack.result), **to), sender)

    def _set_interval(self, p: Sequence[float], sender: Sender) -> Ack:
        id = _whole(p[0])
        if not isfinite(p[1]):
            return Ack(CommandResult.DENIED, "Message interval is not finite")
        if not self.vehicle.own_streams(sender.peer).set_interval(id, p[1], self.vehicle.now_us):
            return Ack(CommandResult.DENIED, f"Message {id}: invalid interval")
        return ACCEPTED

    def _get_interval(self, p: Sequence[float], sender: Sender) -> Ack:
        id = _whole(p[0])
        interval = sender.peer.streams.get(self.vehicle.sysid, self.vehicle.streams).interval(id)
        self.vehicle.reply(mav.MAVLink_message_interval_message(max(id, 0), interval), sender)
        return ACCEPTED

    def _banner(self, p: Sequence[float], sender: Sender) -> Ack:
        self.vehicle.autopilot.send_text(Severity.INFO, f"Paddock {self.vehicle.autopilot.vehicle.kind}")
        return ACCEPTED

    def send_once(self, id: int, sender: Sender) -> Ack:
        """Send a message once, to the requester."""
        if id not in KNOWN:
            return Ack(CommandResult.UNSUPPORTED)
        message = self.vehicle.encode(id)
        if message is None:
            return Ack(CommandResult.TEMPORARILY_REJECTED)
        self.vehicle.reply(message, sender)
        return ACCEPTED


def _whole(value: float) -> int:
    """Return a message id; -1 if invalid."""
    return int(value) if 0 <= value < 2**24 else -1


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
    """The streamed inputs of one vehicle, which are not acknowledged."""

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
        own_station = self.vehicle.my_gcs
        if sender.system != own_station:
            self.autopilot.warn_throttled(f"RC from system {sender.system} ignored: SYSID_MYGCS is {own_station}")
        return sender.system == own_station

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
        vector = self._to_ned((m.x, m.y, 0.0 if mask & NO_Z else m.z), turned)
        now = self.autopilot.estimate
        if m.coordinate_frame in OFFSETS or turned:
            vector = now.north + vector[0], now.east + vector[1], now.down + vector[2]
        position = vector[0], vector[1], now.down if mask & NO_Z else vector[2]
        self._set_target(m, None if mask & NO_XY else position, turned)

    def _global_target(self, message: Any, sender: Sender) -> None:
        m = message
        frame, local = altitude_frame(m.coordinate_frame), self.autopilot.frame
        if frame is None or frame is AltitudeFrame.MISSION:
            self._refuse_frame(m.coordinate_frame)
            return
        if m.type_mask & NO_XY:
            self._set_target(m, None, False)
            return
        if local is None:
            self.autopilot.send_text(Severity.WARNING, "Target rejected: no position estimate")
            return
        north, east, down = local.to_ned(m.lat_int / DEGREE, m.lon_int / DEGREE, m.alt)
        if frame is not AltitudeFrame.GLOBAL:
            down = self.autopilot.home_position.ned()[2] - m.alt
        self._set_target(m, (north, east, self.autopilot.estimate.down if m.type_mask & NO_Z else down), False)

    def _set_target(self, m: Any, position: Ned | None, turned: bool) -> None:
        """Add velocity and yaw, and set the target."""
        mask = m.type_mask
        velocity = (m.vx, m.vy, 0.0 if mask & NO_VZ else m.vz)
        yaw = nan if mask & NO_YAW else m.yaw + (self.autopilot.estimate.yaw if turned else 0.0)
        self.autopilot.set_guided_target(
            GuidedTarget(
                time_us=self.vehicle.now_us,
                position=position,
                velocity=None if mask & NO_VXY else self._to_ned(velocity, turned),
                yaw=yaw,
                yaw_rate=nan if mask & NO_YAW_RATE else m.yaw_rate,
            )
        )

    def _to_ned(self, vector: Ned, turned: bool) -> Ned:
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
