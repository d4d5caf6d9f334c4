"""The command protocol: COMMAND_LONG, COMMAND_INT and SET_MODE, each carried out once and acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isinf, nan
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.ack import ACCEPTED, Ack, CommandResult
from paddock.sitl.autopilot.mission.items import AltitudeFrame
from paddock.sitl.autopilot.telemetry import Severity
from paddock.sitl.mavlink.messages import KNOWN
from paddock.sitl.mavlink.mission_protocol import DEGREE, PLAIN_FRAMES
from paddock.sitl.mavlink.packets import mav

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Address, Sender
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

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
    """The commands of one vehicle."""

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
        self.handlers = {"COMMAND_LONG": self._long, "COMMAND_INT": self._int, "SET_MODE": self._set_mode}

    def _long(self, message: Any, sender: Sender) -> None:
        m = message
        p = (m.param1, m.param2, m.param3, m.param4, m.param5, m.param6, m.param7)
        frame = AltitudeFrame.GLOBAL if m.command in ABOVE_SEA_LEVEL else AltitudeFrame.RELATIVE
        request = m.command, p, frame
        known = self._acks.get((sender.key, m.command)) if m.confirmation else None
        repeated = known is not None and repr(known[0]) == repr(request)  # NaN != NaN
        ack = known[1] if known is not None and repeated else self._carry_out(request, sender)
        self._finish(request, ack, sender)

    def _int(self, message: Any, sender: Sender) -> None:
        m = message
        located = m.command in LOCATED
        frame = PLAIN_FRAMES.get(m.frame)
        x, y = ((nan if value == UNSET else value / DEGREE) if located else float(value) for value in (m.x, m.y))
        p = (m.param1, m.param2, m.param3, m.param4, x, y, m.z)
        request = m.command, p, frame or AltitudeFrame.GLOBAL
        if located and frame is None:
            ack = Ack(CommandResult.DENIED, f"Command {m.command}: unsupported frame {m.frame}")
            self._report(ack)
        else:
            ack = self._carry_out(request, sender)
        self._finish(request, ack, sender)

    def _carry_out(self, request: MavlinkCommand, sender: Sender) -> Ack:
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
        if not self.vehicle.streaming.own(sender.peer).set_interval(id, p[1], self.vehicle.now_us):
            return Ack(CommandResult.DENIED, f"Message {id}: invalid interval")
        return ACCEPTED

    def _get_interval(self, p: Sequence[float], sender: Sender) -> Ack:
        id = _whole(p[0])
        interval = self.vehicle.streaming.of(sender.peer).interval(id)
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
