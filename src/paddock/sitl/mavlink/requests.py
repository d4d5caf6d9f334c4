"""Commands that concern the link itself: asking for messages once or at a rate."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import ACCEPTED, Answer, Result
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages import KNOWN

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Origin
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

SEND_BANNER = 42428  # ArduPilot's MAV_CMD_DO_SEND_BANNER


class Requests:
    """Of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.commands = {
            mav.MAV_CMD_SET_MESSAGE_INTERVAL: self._set_interval,
            mav.MAV_CMD_GET_MESSAGE_INTERVAL: self._get_interval,
            mav.MAV_CMD_REQUEST_MESSAGE: self._request,
            mav.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES: self._request_version,
            mav.MAV_CMD_GET_HOME_POSITION: self._request_home,
            SEND_BANNER: self._banner,
        }

    def _set_interval(self, p: Sequence[float], origin: Origin) -> Answer:
        id = _whole(p[0])
        if not isfinite(p[1]):
            return Answer(Result.DENIED, "Message interval is not a number")
        if not self.vehicle.streaming.own(origin.peer).set_interval(id, p[1], self.vehicle.now_us):
            return Answer(Result.DENIED, f"Message {id}: cannot be streamed so")
        return ACCEPTED

    def _get_interval(self, p: Sequence[float], origin: Origin) -> Answer:
        id = _whole(p[0])
        interval = self.vehicle.streaming.of(origin.peer).interval(id)
        self.vehicle.reply(mav.MAVLink_message_interval_message(max(id, 0), interval), origin)
        return ACCEPTED

    def _request(self, p: Sequence[float], origin: Origin) -> Answer:
        return self.send_once(_whole(p[0]), origin)

    def _request_version(self, p: Sequence[float], origin: Origin) -> Answer:
        return self.send_once(mav.MAVLINK_MSG_ID_AUTOPILOT_VERSION, origin)

    def _request_home(self, p: Sequence[float], origin: Origin) -> Answer:
        return self.send_once(mav.MAVLINK_MSG_ID_HOME_POSITION, origin)

    def _banner(self, p: Sequence[float], origin: Origin) -> Answer:
        self.vehicle.autopilot.say(Severity.INFO, f"Paddock {self.vehicle.autopilot.craft.kind}")
        return ACCEPTED

    def send_once(self, id: int, origin: Origin) -> Answer:
        """A message that somebody asked for, to whom asked."""
        if id not in KNOWN:
            return Answer(Result.UNSUPPORTED)
        message = self.vehicle.encode(id)
        if message is None:
            return Answer(Result.TEMPORARILY_REJECTED)
        self.vehicle.reply(message, origin)
        return ACCEPTED


def _whole(value: float) -> int:
    """A message id; -1 for what is none."""
    return int(value) if 0 <= value < 2**24 else -1
