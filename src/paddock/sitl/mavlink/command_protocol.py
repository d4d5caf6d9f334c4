"""COMMAND_LONG, COMMAND_INT and SET_MODE: each is carried out once and answered with COMMAND_ACK."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.sitl.autopilot.answer import Answer, Result
from paddock.sitl.autopilot.mission_item import Frame
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.mission_items import PLAIN_FRAMES, decode_place
from paddock.sitl.mavlink.requests import Requests

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Origin
    from paddock.sitl.mavlink.peers import Address
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

LOCATED = frozenset(
    {
        mav.MAV_CMD_NAV_WAYPOINT,
        mav.MAV_CMD_NAV_LOITER_UNLIM,
        mav.MAV_CMD_NAV_LOITER_TURNS,
        mav.MAV_CMD_NAV_LOITER_TIME,
        mav.MAV_CMD_NAV_LAND,
        mav.MAV_CMD_NAV_TAKEOFF,
        mav.MAV_CMD_NAV_LOITER_TO_ALT,
        mav.MAV_CMD_DO_ORBIT,
        mav.MAV_CMD_NAV_SPLINE_WAYPOINT,
        mav.MAV_CMD_DO_SET_HOME,
        mav.MAV_CMD_DO_REPOSITION,
        mav.MAV_CMD_DO_SET_ROI_LOCATION,
        mav.MAV_CMD_DO_SET_ROI,
    }
)
"""Commands whose fifth and sixth parameters are a place: in COMMAND_INT, degrees x 1e7."""

ABOVE_SEA_LEVEL = frozenset({mav.MAV_CMD_DO_SET_HOME, mav.MAV_CMD_DO_REPOSITION, mav.MAV_CMD_DO_ORBIT})
"""Commands whose altitude is above sea level where no frame says otherwise (COMMAND_LONG)."""

MOST_REMEMBERED = 256


class Order(NamedTuple):
    """A command as it came."""

    command: int
    p: tuple[float, ...]
    frame: int


class CommandProtocol:
    """Of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.requests = Requests(vehicle)
        self._answers: dict[tuple[tuple[Address, int, int], int], tuple[Order, Answer]] = {}
        self.handlers = {"COMMAND_LONG": self._long, "COMMAND_INT": self._int, "SET_MODE": self._set_mode}

    def _long(self, message: Any, origin: Origin) -> None:
        m = message
        p = (m.param1, m.param2, m.param3, m.param4, m.param5, m.param6, m.param7)
        frame = Frame.GLOBAL if m.command in ABOVE_SEA_LEVEL else Frame.RELATIVE
        order = Order(m.command, p, frame)
        answer = self._repeated(order, origin) if m.confirmation else None
        self._answer(order, answer or self._carry_out(order, origin), origin)

    def _repeated(self, order: Order, origin: Origin) -> Answer | None:
        """The answer that the station has missed, if this is the same command sent again."""
        known = self._answers.get((origin.key, order.command))
        return known[1] if known is not None and repr(known[0]) == repr(order) else None  # NaN is not equal to itself

    def _int(self, message: Any, origin: Origin) -> None:
        m = message
        located = m.command in LOCATED
        frame = PLAIN_FRAMES.get(m.frame)
        x, y = decode_place(m.x, m.y) if located else (float(m.x), float(m.y))
        order = Order(m.command, (m.param1, m.param2, m.param3, m.param4, x, y, m.z), frame or Frame.GLOBAL)
        if located and frame is None:
            answer = Answer(Result.DENIED, f"Command {m.command}: frame {m.frame} is not supported")
            self._tell(answer)
        else:
            answer = self._carry_out(order, origin)
        self._answer(order, answer, origin)

    def _carry_out(self, order: Order, origin: Origin) -> Answer:
        if any(isinf(value) for value in order.p):
            answer = Answer(Result.DENIED, f"Command {order.command}: an infinite parameter")
            self._tell(answer)
            return answer
        own = self.requests.commands.get(order.command)
        if own is not None:
            return own(order.p, origin)
        answer = self.vehicle.autopilot.command(order.command, order.p, order.frame)
        self._tell(answer)
        return answer

    def _answer(self, order: Order, answer: Answer, origin: Origin) -> None:
        self._answers.pop((origin.key, order.command), None)
        self._answers[origin.key, order.command] = (order, answer)
        if len(self._answers) > MOST_REMEMBERED:
            del self._answers[next(iter(self._answers))]
        self._acknowledge(order.command, answer, origin)

    def _set_mode(self, message: Any, origin: Origin) -> None:
        """Answered as a command with the number of the message, as ArduPilot does it."""
        if message.base_mode & mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED:
            answer = self.vehicle.autopilot.set_mode(message.custom_mode)
        else:
            answer = Answer(Result.DENIED, "SET_MODE: only custom modes")
        self._tell(answer)
        self._acknowledge(mav.MAVLINK_MSG_ID_SET_MODE, answer, origin)

    def _tell(self, answer: Answer) -> None:
        """Why not, for people; what there is not at all is no news: stations probe what a vehicle can do."""
        if answer.text and answer.result not in (Result.ACCEPTED, Result.UNSUPPORTED):
            self.vehicle.autopilot.say(Severity.WARNING, answer.text)

    def _acknowledge(self, command: int, answer: Answer, origin: Origin) -> None:
        self.vehicle.reply(
            mav.MAVLink_command_ack_message(
                command,
                int(answer.result),
                target_system=origin.system,
                target_component=origin.component,
            ),
            origin,
        )
