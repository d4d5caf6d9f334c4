"""One vehicle as a MAVLink system: dispatch of incoming messages, telemetry, notices, log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.mission.items import AltitudeFrame
from paddock.sitl.autopilot.telemetry import CurrentItem, HomeChanged, ItemReached, Notice, Severity, StatusText
from paddock.sitl.mavlink.commands import VERSION, CommandProtocol, Inputs
from paddock.sitl.mavlink.link import MavlinkLink, Sender, TelemetryLog
from paddock.sitl.mavlink.messages import VIBRATION, VibrationMeter, encode
from paddock.sitl.mavlink.mission_protocol import DEGREE, MissionProtocol
from paddock.sitl.mavlink.packets import AUTOPILOT, PacketWriter, mav, status_texts
from paddock.sitl.mavlink.parameter_protocol import ParameterProtocol
from paddock.sitl.mavlink.streams import HEARTBEAT, Streaming

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

HEARTBEAT_PERIOD = 1.0  # s of wall time, also while the simulation is paused
Handler = Callable[[Any, Sender], object]


class MavlinkVehicle:
    """The MAVLink side of one autopilot. Not thread-safe: only the thread that ticks may use it."""

    def __init__(self, autopilot: BuiltInAutopilot, log: TelemetryLog | None = None) -> None:
        self.autopilot = autopilot
        self.sysid = autopilot.sysid
        self.links: list[MavlinkLink] = []
        self.now_us = 0
        self.failures = 0  # messages whose handler raised
        self.log = log  # of all packets, even without peers
        self._writer = PacketWriter(self.sysid, AUTOPILOT)
        self._beat = -HEARTBEAT_PERIOD  # wall time of the last heartbeat
        self._texts = 0
        self.vibration = VibrationMeter()
        self.streaming = Streaming(self)
        self.parameters = ParameterProtocol(self)
        self.missions = MissionProtocol(self)
        self.commands = CommandProtocol(self)
        self._handlers: dict[str, Handler] = {
            **self.parameters.handlers,
            **self.missions.handlers,
            **self.commands.handlers,
            **Inputs(self).handlers,
            "HEARTBEAT": self._heartbeat,
            "TIMESYNC": self._timesync,
            "PING": self._ping,
            "REQUEST_DATA_STREAM": lambda message, sender: self.streaming.own(sender.peer).set_group(
                message.req_stream_id, message.req_message_rate if message.start_stop else 0, self.now_us
            ),
            "AUTOPILOT_VERSION_REQUEST": lambda _, sender: self.commands.send_once(VERSION, sender),
            "SET_HOME_POSITION": self._set_home,
            "SET_GPS_GLOBAL_ORIGIN": self._set_origin,
            "LOG_REQUEST_LIST": lambda _, sender: self.reply(mav.MAVLink_log_entry_message(0, 0, 0, 0, 0), sender),
        }

    def rate(self, name: str, default: float) -> float:
        """Return a parameter, or `default` if this vehicle does not have it."""
        parameters = self.autopilot.parameters
        return parameters.value(name) if name in parameters else default

    @property
    def my_gcs(self) -> int:
        """System id of the ground station that may send RC, and whose loss is a failsafe."""
        return int(self.rate("SYSID_MYGCS", 255.0))

    # in --------------------------------------------------------------------------------------------------------------

    def handle(self, message: Any, sender: Sender) -> None:
        """Handle a valid message for this system; messages for other components are ignored."""
        echo = sender.system == self.sysid and sender.component == AUTOPILOT  # of our own
        if echo or getattr(message, "target_component", 0) not in (0, AUTOPILOT):
            return
        if self.log is not None:
            self.log.write(self.now_us, bytes(message.get_msgbuf()))
        handler = self._handlers.get(message.get_type())
        if handler is None:
            return
        try:
            handler(message, sender)
        except Exception as error:  # a received message must never stop the simulation
            self.failures += 1
            self.autopilot.send_text(Severity.ERROR, f"{message.get_type()}: {type(error).__name__}: {error}")

    def _heartbeat(self, message: Any, sender: Sender) -> None:
        """Only SYSID_MYGCS counts for the GCS failsafe."""
        if message.type == mav.MAV_TYPE_GCS and sender.system == self.my_gcs:
            self.autopilot.failsafes.note_gcs_heartbeat(self.now_us)

    def _timesync(self, message: Any, sender: Sender) -> None:
        """Reply with simulated time, ns."""
        if message.tc1 == 0:
            self.reply(mav.MAVLink_timesync_message(self.now_us * 1000, message.ts1), sender)

    def _ping(self, message: Any, sender: Sender) -> None:
        if message.target_system == 0:
            ping = mav.MAVLink_ping_message(message.time_usec, message.seq, sender.system, sender.component)
            self.reply(ping, sender)

    def _set_home(self, message: Any, sender: Sender) -> None:
        place = message.latitude / DEGREE, message.longitude / DEGREE, message.altitude / 1e3
        ack = self.autopilot.command(mav.MAV_CMD_DO_SET_HOME, (0.0, 0.0, 0.0, 0.0, *place), AltitudeFrame.GLOBAL)
        if not ack.accepted:
            self.autopilot.send_text(Severity.WARNING, ack.text or "Home rejected")

    def _set_origin(self, message: Any, sender: Sender) -> None:
        """The origin is the first GNSS fix: reply with it instead of setting it."""
        ack = self.commands.send_once(mav.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN, sender)
        if not ack.accepted:
            self.autopilot.send_text(Severity.WARNING, "Origin rejected: it is set by GNSS")

    # out -------------------------------------------------------------------------------------------------------------

    def send(self, message: Any, logged: bool = True) -> None:
        """Send to all peers."""
        packet = self.pack(message, logged)
        for link in self.links:
            link.send(packet, message.crc_extra, self.sysid)

    def reply(self, message: Any, sender: Sender) -> None:
        """Send to the sender of a message."""
        sender.link.send(self.pack(message), message.crc_extra, self.sysid, sender.peer)

    def pack(self, message: Any, logged: bool = True) -> bytes:
        """Pack with the next sequence number and log, or without both."""
        packet = self._writer.pack(message, logged)
        if self.log is not None and logged:
            self.log.write(self.now_us, packet)
        return packet

    def encode(self, id: int) -> Any:
        """Return one of the KNOWN messages; None without data."""
        return self.vibration.message() if id == VIBRATION else encode(id, self.autopilot)

    def service(self, now_us: int, wall: float, paused: bool) -> None:
        """Send what is due at this simulated time; `paused`: it has not advanced."""
        outbox = self.autopilot.outbox
        while outbox:
            self._notify(outbox.popleft())
        if not paused:
            self.vibration.sample(self.autopilot.telemetry)
            if self.streaming.service(now_us):
                self._beat = wall
        self.parameters.service(now_us, wall, paused)
        self.missions.service(now_us, wall)

    def beat(self, wall: float) -> None:
        """Send a heartbeat by wall time if none was sent lately; not logged."""
        if wall - self._beat >= HEARTBEAT_PERIOD:
            self._beat = wall
            self.send(self.encode(HEARTBEAT), logged=False)

    def restart(self, now_us: int) -> None:
        """Restart at a new simulated time."""
        self.now_us = now_us
        self.vibration.restart()
        self.streaming.restart(now_us)
        self.parameters.restart()
        self.missions.restart()

    def _notify(self, notice: Notice) -> None:
        if isinstance(notice, StatusText):
            self._texts = self._texts % 65535 + 1
            for message in status_texts(notice.severity, notice.text, self._texts):
                self.send(message)
        elif isinstance(notice, ItemReached):
            self.send(mav.MAVLink_mission_item_reached_message(notice.sequence))
        elif isinstance(notice, CurrentItem):
            t = self.autopilot.telemetry
            self.send(mav.MAVLink_mission_current_message(notice.sequence, t.mission_count, t.mission_state))
        elif isinstance(notice, HomeChanged):
            for id in (mav.MAVLINK_MSG_ID_HOME_POSITION, mav.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN):
                if (message := self.encode(id)) is not None:
                    self.send(message)

    def close(self) -> None:
        """Remove the vehicle and close its log."""
        self.streaming.forget()
        if self.log is not None:
            self.log.close()
