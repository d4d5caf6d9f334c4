"""One vehicle as ground stations see it: a MAVLink system that tells, answers, and keeps a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.notices import CurrentItem, HomeChanged, ItemReached, Notice, Severity, StatusText
from paddock.sitl.mavlink.command_protocol import CommandProtocol
from paddock.sitl.mavlink.dialect import AUTOPILOT, mav
from paddock.sitl.mavlink.housekeeping import Housekeeping
from paddock.sitl.mavlink.inputs import Inputs
from paddock.sitl.mavlink.link import Link, Origin
from paddock.sitl.mavlink.log import TelemetryLog
from paddock.sitl.mavlink.messages import ENCODERS
from paddock.sitl.mavlink.messages.status import heartbeat
from paddock.sitl.mavlink.mission_protocol import MissionProtocol
from paddock.sitl.mavlink.packets import Writer
from paddock.sitl.mavlink.parameter_protocol import ParameterProtocol
from paddock.sitl.mavlink.streaming import Streaming
from paddock.sitl.mavlink.text import status_texts
from paddock.sitl.mavlink.vibration import VibrationMeter

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

MY_STATION, USUAL_STATION = "SYSID_MYGCS", 255.0
HEARTBEAT_EVERY = 1.0  # s of wall time: a station must see that the vehicle is there even while the world stands still
Handler = Callable[[Any, Origin], None]


class MavlinkVehicle:
    """The MAVLink side of one autopilot. Used by one thread: the one that ticks."""

    def __init__(self, autopilot: BuiltInAutopilot, log: TelemetryLog | None = None) -> None:
        self.autopilot = autopilot
        self.sysid = autopilot.sysid
        self.links: list[Link] = []
        self.now_us = 0
        self.failures = 0  # messages that could not be worked on, by a fault of ours
        self._log = log
        self._writer = Writer(self.sysid, AUTOPILOT)
        self._beat = -HEARTBEAT_EVERY  # wall time of the last heartbeat
        self._texts = 0
        self.vibration = VibrationMeter()
        self.streaming = Streaming(self)
        self.parameters = ParameterProtocol(self)
        self.missions = MissionProtocol(self)
        self.commands = CommandProtocol(self)
        parts = (self.parameters, self.missions, self.commands, Inputs(self), Housekeeping(self))
        self._handlers: dict[str, Handler] = {
            name: handler for part in parts for name, handler in part.handlers.items()
        }

    def rate(self, name: str, otherwise: float) -> float:
        """A parameter that the link goes by."""
        parameters = self.autopilot.parameters
        return parameters.value(name) if name in parameters else otherwise

    @property
    def my_station(self) -> int:
        """The system id of the station that may steer, and that is missed when it falls silent."""
        return int(self.rate(MY_STATION, USUAL_STATION))

    # in --------------------------------------------------------------------------------------------------------------

    def handle(self, message: Any, origin: Origin) -> None:
        """Work on a valid message that is for this system; what is for others of its components is left alone."""
        if getattr(message, "target_component", 0) not in (0, AUTOPILOT):
            return
        if origin.system == self.sysid and origin.component == AUTOPILOT:
            return  # an echo of our own, or somebody who pretends to be us
        if self._log is not None:
            self._log.write(self.now_us, bytes(message.get_msgbuf()))
        handler = self._handlers.get(message.get_type())
        if handler is None:
            return
        try:
            handler(message, origin)
        except Exception as error:  # a stranger's message must never stop the world
            self.failures += 1
            self.autopilot.say(Severity.ERROR, f"{message.get_type()}: {type(error).__name__}: {error}")

    # out -------------------------------------------------------------------------------------------------------------

    def send(self, message: Any) -> None:
        """To everybody."""
        packet = self.pack(message)
        for link in self.links:
            link.send(packet, message.crc_extra, self.sysid)

    def reply(self, message: Any, origin: Origin) -> None:
        """To whom it concerns."""
        origin.link.send(self.pack(message), message.crc_extra, self.sysid, origin.peer)

    def pack(self, message: Any) -> bytes:
        """With the next sequence number, and into the log."""
        packet = self._writer.pack(message)
        if self._log is not None:
            self._log.write(self.now_us, packet)
        return packet

    def pack_aside(self, message: Any) -> bytes:
        """Not for the log."""
        return self._writer.pack_aside(message)

    @property
    def logs(self) -> bool:
        """Whether somebody reads what is packed, even if no station listens."""
        return self._log is not None

    def encode(self, id: int) -> Any:
        """One of the KNOWN messages; None while there is nothing to tell."""
        if id == mav.MAVLINK_MSG_ID_VIBRATION:
            return self.vibration.message()
        return ENCODERS[id](self.autopilot)

    def service(self, now_us: int, wall: float, standing: bool) -> None:
        """Send what is due at this simulated time; `standing`: it has not advanced."""
        outbox = self.autopilot.outbox
        while outbox:
            self._notify(outbox.popleft())
        if not standing:
            self.vibration.sample(self.autopilot.telemetry)
            if self.streaming.service(now_us):
                self._beat = wall
        self.parameters.service(now_us, wall, standing)
        self.missions.service(now_us, wall)

    def beat(self, wall: float) -> None:
        """A heartbeat by the clock on the wall, if there has been none for a while; not part of the log."""
        if wall - self._beat < HEARTBEAT_EVERY:
            return
        self._beat = wall
        message = heartbeat(self.autopilot)
        packet = self.pack_aside(message)
        for link in self.links:
            link.send(packet, message.crc_extra, self.sysid)

    def restart(self, now_us: int) -> None:
        """Time begins anew."""
        self.now_us = now_us
        self.vibration.restart()
        self.streaming.restart(now_us)
        self.parameters.restart()
        self.missions.upload.restart()

    def _notify(self, notice: Notice) -> None:
        if isinstance(notice, StatusText):
            self._texts = self._texts % 65535 + 1
            for message in status_texts(notice.severity, notice.text, self._texts):
                self.send(message)
        elif isinstance(notice, ItemReached):
            self.send(mav.MAVLink_mission_item_reached_message(notice.sequence))
        elif isinstance(notice, CurrentItem):
            told = self.autopilot.telemetry
            self.send(mav.MAVLink_mission_current_message(notice.sequence, told.mission_count, told.mission_state))
        elif isinstance(notice, HomeChanged):
            self._send_if_known(mav.MAVLINK_MSG_ID_HOME_POSITION)
            self._send_if_known(mav.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN)

    def _send_if_known(self, id: int) -> None:
        message = self.encode(id)
        if message is not None:
            self.send(message)

    def close(self) -> None:
        """The vehicle is gone; its log is complete."""
        self.streaming.forget()
        if self._log is not None:
            self._log.close()
