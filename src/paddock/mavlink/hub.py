"""The MAVLink sockets of all vehicles, serviced by the thread that ticks without blocking; each vehicle is a system."""

import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from annotated_types import Ge, Le

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.mission_items import AltitudeFrame
from paddock.autopilot.telemetry import (
    SIMULATED_EPOCH_US,
    CommandDone,
    CurrentItem,
    HomeChanged,
    ItemReached,
    Notice,
    PictureTaken,
    Severity,
    StatusText,
)
from paddock.errors import PaddockError, one_line
from paddock.mavlink.commands import VERSION, CommandProtocol, Inputs
from paddock.mavlink.file_transfer import FileTransfer
from paddock.mavlink.link import (
    Address,
    MavlinkLink,
    MavlinkPeer,
    Ports,
    Sender,
    SenderQueue,
    TcpLink,
    UdpLink,
    bind,
    open_log,
    open_tcp,
)
from paddock.mavlink.messages import (
    HEARTBEAT,
    VIBRATION,
    Fields,
    Streams,
    VibrationMeter,
    fields_of,
    picture_messages,
)
from paddock.mavlink.packets import AUTOPILOT, PacketWriter, Signing, mav, status_texts, wire_format
from paddock.mavlink.protocols import DEGREE, LogProtocol, MissionProtocol, ParameterProtocol
from paddock.mavlink.radio_path import RadioEnds, RadioPath

PERIOD_US = 20_000  # us of simulated time between two polls: the log must not depend on wall time

PAUSED_AFTER = 0.05  # s of wall time without progress after which the simulation counts as paused
PAUSED_PERIOD = 0.005  # s of wall time between two polls while paused
BUDGET, VEHICLE_BUDGET = 1e-3, 2e-5  # s of CPU time per poll for received packets: in all, and more for each vehicle
MAX_MESSAGES = 100  # of one sender per poll
HOUSEKEEPING_PERIOD = 0.25  # s of wall time between checks for due heartbeats and silent peers


class MavlinkHub:
    """The MAVLink network of a simulation. Call `service` at every exchange, and `idle` while paused."""

    now_us: int  # simulated time
    serviced_us: int  # simulated time of the last poll

    def __init__(self, ports: Ports | None = None, log_folder: Path | None = None) -> None:
        """`log_folder` receives one .tlog per vehicle."""
        self.ports = ports or Ports()
        self.vehicles: dict[int, MavlinkVehicle] = {}
        self._log_folder = log_folder
        self._selector = selectors.DefaultSelector()
        self.links: dict[int, UdpLink] = {}  # by system id; 0: shared
        self.tcp_links: dict[int, TcpLink] = {}  # by system id
        self._turns: deque[SenderQueue] = deque()  # senders whose packets wait to be handled
        self._polls = 0
        self.now_us = -1
        self._contacted = False  # a packet has been received
        self.serviced_us = -PERIOD_US
        self._polled = self._kept = self._moved = 0.0  # wall time
        if self.ports.shared_port is not None:
            shared = self._open(0, self.ports.shared_port, "all vehicles", "--shared-port", self.ports.shared_station())
            shared.number = 1

    def add(self, autopilot: BuiltInAutopilot, radio: RadioEnds | None = None) -> "MavlinkVehicle":
        """Open the ports of an autopilot; raise PaddockError if its system id or a port is in use.

        `radio`: over which its packets go; None: they are neither delayed nor lost.
        """
        sysid = autopilot.sysid
        if sysid in self.vehicles:
            raise PaddockError(f"system id {sysid} is in use: every vehicle needs its own")
        port = self.ports.own(sysid)
        target: Address | None = self.ports.station(sysid)
        if port == self.ports.shared_port:
            raise PaddockError(f"vehicle {sysid}: port {port} is also the shared port; choose another --shared-port")
        if self.ports.shared_port is not None and target == self.ports.shared_station():
            target = None  # the shared link already sends to it
        link = self._open(sysid, port, f"vehicle {sysid}", "--base-port", target)
        log = None
        try:
            log = open_log(self._log_folder / f"vehicle_{sysid}.tlog") if self._log_folder else None
            tcp = open_tcp(self.ports, sysid, self._selector)
        except PaddockError:
            if log is not None:
                log.close()
            self._close_link(sysid)
            raise
        vehicle = MavlinkVehicle(autopilot, log, radio)
        vehicle.now_us = max(self.now_us, 0)
        for each in (link, self.links.get(0)):
            if each is not None:
                each.vehicles[sysid] = vehicle
                vehicle.links.append(each)
        self.vehicles[sysid] = vehicle
        if tcp is not None:
            tcp.vehicles[sysid], tcp.turns = vehicle, self._turns
            self.tcp_links[sysid] = tcp
        return vehicle

    def _open(self, key: int, port: int, owner: str, option: str, target: Address | None) -> UdpLink:
        """Open a UDP port for a system id (key; 0: shared) that sends to `target`; errors name owner and option."""
        opened = bind(self.ports.host, port, owner, option)
        if target is not None:
            try:
                target = socket.gethostbyname(target[0]), target[1]  # replies come from numeric addresses
            except OSError as error:
                raise PaddockError(f"unknown ground station host {target[0]!r}: {error}") from error
        link = UdpLink(opened, target)
        link.turns = self._turns
        self.links[key] = link
        self._selector.register(opened, selectors.EVENT_READ, link)
        return link

    def _close_link(self, key: int) -> None:
        link = self.links.pop(key)
        self._selector.unregister(link.socket)
        link.close()

    def close(self) -> None:
        """Close all ports and logs."""
        for vehicle in self.vehicles.values():
            vehicle.close()
        for key in list(self.links):
            self._close_link(key)
        for tcp in self.tcp_links.values():
            tcp.close()
        self._selector.close()

    def service(self, now_us: int) -> None:
        """Receive, reply and send what is due at this simulated time; cheap when nothing is due.

        Sockets are polled every 20 ms of simulated time. While the time does not change (paused) they are polled every
        5 ms of wall time, and peers receive heartbeats that are not logged.
        """
        wall = time.monotonic()
        paused, self.now_us = now_us == self.now_us, now_us
        if wall - self._kept >= HOUSEKEEPING_PERIOD:
            self._kept = wall
            for sysid, vehicle in self.vehicles.items():
                vehicle.guard(partial(vehicle.send_heartbeat, wall))
                used = self.links[sysid], self.tcp_links.get(sysid)
                counters = [link.counters for link in used if link is not None]
                vehicle.autopilot.status.rejected = sum(each.rejected + each.dropped for each in counters)
            for link in self.links.values():
                link.evict(wall)
                link.challenge(wall)
            self._flush()
        if paused:
            if wall - self._moved >= PAUSED_AFTER and wall - self._polled >= PAUSED_PERIOD:
                self._work(now_us, wall, True)
            return
        self._moved = wall
        if not 0 <= now_us - self.serviced_us < PERIOD_US:
            self._work(now_us, wall, False)

    def idle(self) -> None:
        """Service while the simulation is paused or waits for another process."""
        if self.now_us >= 0:
            self.service(self.now_us)

    def _work(self, now_us: int, wall: float, paused: bool) -> None:
        if now_us < self.serviced_us:
            for vehicle in self.vehicles.values():
                vehicle.restart(now_us)
        self._polled = wall
        ready = self._selector.select(0)
        self._contacted = self._contacted or bool(ready)
        if paused and not self._contacted:
            return  # no peer yet: the log must not depend on wall time
        if not paused:
            self.serviced_us = now_us
        for vehicle in self.vehicles.values():
            vehicle.now_us = now_us
        self._receive([key.data for key, _ in ready], wall)
        for vehicle in self.vehicles.values():
            vehicle.guard(partial(vehicle.service, now_us, wall, paused))
        self._flush()

    def _receive(self, ready: list[Any], wall: float) -> None:
        """Receive and handle packets, one of each sender in turn, within a budget; the rest waits for the next poll.

        Nothing else depends on the budget: without packets from outside, runs are equal.
        """
        end = time.thread_time() + BUDGET + VEHICLE_BUDGET * len(self.vehicles)
        self._polls += 1
        first = self._polls % len(ready) if ready else 0
        for each in (*ready[first:], *ready[:first]):
            each.receive(wall)
            if time.thread_time() > end:
                break
        turns, counts = self._turns, Counter[SenderQueue]()
        later: list[SenderQueue] = []
        while turns:
            inbox = turns.popleft()
            counts[inbox] += 1
            if inbox.step(wall):
                (turns if counts[inbox] < MAX_MESSAGES else later).append(inbox)
            if time.thread_time() > end:
                break
        turns.extend(later)

    def _flush(self) -> None:
        for link in self.links.values():
            link.flush()
        for tcp in self.tcp_links.values():
            if tcp.peers:
                tcp.flush()


HEARTBEAT_PERIOD = 1.0  # s of wall time, also while the simulation is paused
Handler = Callable[[Any, Sender], object]


class MavlinkVehicle:
    """The MAVLink side of one autopilot. Not thread-safe: only the thread that ticks may use it."""

    texts: Annotated[int, Ge(0), Le(65_535)]  # number of the last text

    def __init__(
        self, autopilot: BuiltInAutopilot, log: BinaryIO | None = None, radio: RadioEnds | None = None
    ) -> None:
        """`log`: a .tlog of all packets, even without peers. `radio`: over which packets go; None: none is lost."""
        self.autopilot = autopilot
        self.sysid = autopilot.sysid
        self.links: list[MavlinkLink] = []
        self.now_us = 0
        self.failures = 0  # messages whose handler raised
        self.path = None if radio is None else RadioPath(radio, self)
        self.failed = ""  # the exception after which this vehicle is not served any more, until a restart
        self.log = log
        self.writer = PacketWriter(self.sysid, AUTOPILOT)
        self._beat = -HEARTBEAT_PERIOD  # wall time of the last heartbeat
        self.texts = 0
        self._requests = False  # a peer has requested rates of its own
        self.vibration = VibrationMeter()
        self.signing = Signing(autopilot)
        self.streams = Streams(autopilot.parameters.value, offset=self.sysid)  # of peers that have requested no others
        self.parameters = ParameterProtocol(self)
        self.missions = MissionProtocol(self)
        self.commands = CommandProtocol(self)
        self.logs, self.transfer = LogProtocol(self), FileTransfer(self)
        self._handlers: dict[str, Handler] = {
            **self.parameters.handlers,
            **self.missions.handlers,
            **self.commands.handlers,
            **self.logs.handlers,
            **self.transfer.handlers,
            **Inputs(self).handlers,
            "HEARTBEAT": self._heartbeat,
            "TIMESYNC": self._timesync,
            "PING": self._ping,
            "REQUEST_DATA_STREAM": lambda message, sender: self.own_streams(sender.peer).set_group(
                message.req_stream_id, message.req_message_rate if message.start_stop else 0, self.now_us
            ),
            "AUTOPILOT_VERSION_REQUEST": lambda _, sender: self.commands.send_once(VERSION, sender),
            "SET_HOME_POSITION": self._set_home,
            "SETUP_SIGNING": self.signing.set_up,
            "SET_GPS_GLOBAL_ORIGIN": self._set_origin,
        }

    @property
    def my_gcs(self) -> int:
        """System id of the ground station that may send RC, and whose loss is a failsafe."""
        return self.autopilot.parameters.whole("SYSID_MYGCS")

    def handle(self, message: Any, sender: Sender) -> None:
        """Handle a valid message for this system, also for components that it does not have, as ArduPilot does."""
        echo = sender.system == self.sysid and sender.component == AUTOPILOT  # of our own
        if self.failed or echo:
            return
        if not self.signing.accepts(message):
            return
        if message.get_msgId() != mav.MAVLINK_MSG_ID_SETUP_SIGNING:  # a log must not reveal the key
            self._write_log(bytes(message.get_msgbuf()))
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
        """Reply with simulated time, ns; a reply may confirm an address."""
        if message.tc1 == 0:
            self.reply(mav.MAVLink_timesync_message(self.now_us * 1000, message.ts1), sender)
        elif message.ts1 == sender.peer.challenge:
            sender.peer.confirmed = True

    def _ping(self, message: Any, sender: Sender) -> None:
        if message.target_system == 0:
            ping = mav.MAVLink_ping_message(message.time_usec, message.seq, sender.system, sender.component)
            self.reply(ping, sender)
        elif message.seq == sender.peer.challenge:
            sender.peer.confirmed = True

    def _set_home(self, message: Any, sender: Sender) -> None:
        position = message.latitude / DEGREE, message.longitude / DEGREE, message.altitude / 1e3
        ack = self.autopilot.command(mav.MAV_CMD_DO_SET_HOME, (0.0, 0.0, 0.0, 0.0, *position), AltitudeFrame.GLOBAL)
        if not ack.accepted:
            self.autopilot.send_text(Severity.WARNING, ack.text or "Home rejected")

    def _set_origin(self, message: Any, sender: Sender) -> None:
        """The origin is the first GNSS fix: reply with it instead of setting it."""
        ack = self.commands.send_once(mav.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN, sender)
        if not ack.accepted:
            self.autopilot.send_text(Severity.WARNING, "Origin rejected: it is set by GNSS")

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
        packet = self.writer.pack(message, logged)
        if logged:
            self._write_log(packet)
        return packet

    def _write_log(self, packet: bytes) -> None:
        """Append a packet after its simulated date, us since 1970 as 8 bytes, big-endian."""
        if self.log is not None:
            try:
                self.log.write((SIMULATED_EPOCH_US + max(self.now_us, 0)).to_bytes(8, "big") + packet)
            except OSError as error:
                self._end_log(error)

    def _end_log(self, error: OSError) -> None:
        """End the log, for example because the disk is full; the run continues."""
        log, self.log = self.log, None
        with suppress(OSError):  # what is still in its buffer cannot be written either
            if log is not None:
                log.close()
        path = getattr(log, "name", "MAVLink log")
        self.autopilot.report_event("autopilot", f"{path}: logging stopped: {error.strerror or error}")

    def close(self) -> None:
        """Close the log, and store the time stamps of signatures."""
        self.signing.close()
        if self.log is not None:
            try:
                self.log.close()
            except OSError as error:
                self._end_log(error)

    def guard(self, call: Callable[[], None]) -> None:
        """Call; an exception ends the service of this vehicle, until a restart, and affects no other."""
        if self.failed:
            return
        try:
            call()
        except Exception as error:
            self.failed = one_line(error)
            self.autopilot.report_event("lost", f"MAVLink failed with {self.failed}; no telemetry until a reset")

    def fields(self, id: int) -> Fields:
        """Return the fields of one of the KNOWN messages; None without data."""
        if id != VIBRATION:
            return fields_of(id, self.autopilot)
        if not self.vibration.requested:
            self.vibration.sample(self.autopilot.telemetry.time_us, self.autopilot.sensors)
        return self.vibration.fields()

    def encode(self, id: int) -> Any:
        """Return one of the KNOWN messages; None without data."""
        fields = self.fields(id)
        return None if fields is None else mav.mavlink_map[id](*fields)

    def service(self, now_us: int, wall: float, paused: bool) -> None:
        """Send what is due at this simulated time; `paused`: it has not advanced."""
        if self.path is not None and not paused:
            self.path.begin(now_us)
        outbox = self.autopilot.outbox
        while outbox:
            self._notify(outbox.popleft())
        if not paused:
            if self.vibration.requested:
                self.vibration.sample(self.autopilot.telemetry.time_us, self.autopilot.sensors)
            if (self._requests or now_us >= self.streams.earliest) and self._stream(now_us):
                self._beat = wall
        self.parameters.service(now_us, wall, paused)
        self.missions.service(now_us, wall)
        if self.signing.key:
            self.signing.service(now_us)
        if self.logs.downloads:
            self.logs.service()
        if self.transfer.sessions or self.transfer.checksums:
            self.transfer.service()
        if self.path is not None and not paused:
            self.path.end()

    def own_streams(self, peer: MavlinkPeer) -> Streams:
        """Return the streams of a peer for changing them: a copy of the defaults at first."""
        self._requests = True
        return peer.streams.setdefault(self.sysid, self.streams.copy())

    def _all_streams(self) -> list[tuple[MavlinkPeer | None, Streams]]:
        """Return the default streams, and those that peers have requested."""
        peers = [peer for link in self.links for peer in link.peers.values() if self.sysid in peer.streams]
        return [(None, self.streams), *((peer, peer.streams[self.sysid]) for peer in peers)]

    def use_parameter(self, name: str, setter: MavlinkPeer) -> None:
        """Apply a changed parameter to the defaults, to the peer that has set it, and to others without a request."""
        for peer, streams in self._all_streams():
            streams.use_parameter(name, self.now_us, newest=peer is None or peer is setter)

    def _stream(self, now_us: int) -> bool:
        """Send what is due to each peer; return whether that included the default heartbeat.

        A message that is due for several peers is encoded once. The log holds the default streams only, so that a
        peer's requests do not change the log of a run.
        """
        defaults = self.streams.due(now_us)
        listeners_of: dict[int, list[tuple[MavlinkLink, MavlinkPeer]]] = {id: [] for id in defaults}
        for link in self.links:
            for peer in link.peers.values():
                own = peer.streams.get(self.sysid)
                for id in defaults if own is None else own.due(now_us):
                    listeners_of.setdefault(id, []).append((link, peer))
        for id, listeners in listeners_of.items():
            logged = id in defaults and self.log is not None
            fields = self.fields(id) if listeners or logged else None
            if fields is not None:
                first = None if logged else listeners[0][1].sequences.get(self.sysid, 0)
                packet = self.writer.pack_fields(id, fields, first)
                if logged:
                    self._write_log(packet)
                for link, peer in listeners:
                    link.send(packet, wire_format(id).extra[0], self.sysid, peer)
        return HEARTBEAT in defaults

    def send_heartbeat(self, wall: float) -> None:
        """Send a heartbeat by wall time if none was sent lately; not logged."""
        if wall - self._beat >= HEARTBEAT_PERIOD:
            self._beat = wall
            path, self.path = self.path, None  # wall time does not move packets on the radio
            if path is None or path.ends.connected:
                self.send(self.encode(HEARTBEAT), logged=False)
            self.path = path

    def resume(self, now_us: int) -> None:
        """Continue at a simulated time with a state that was loaded; peers keep the rates that they have requested."""
        self._restart(now_us)
        for _, streams in self._all_streams()[1:]:
            streams.restart(now_us)
        self.streams.resume()

    def restart(self, now_us: int) -> None:
        """Restart at a new simulated time."""
        self._restart(now_us)
        if self.path is not None:
            self.path.restart()
        for _, streams in self._all_streams():
            streams.restart(now_us)

    def _restart(self, now_us: int) -> None:
        self.now_us, self.failed = now_us, ""
        self.vibration.restart()
        self.parameters.restart()
        self.missions.restart()

    def _notify(self, notice: Notice) -> None:
        if isinstance(notice, StatusText):
            self.texts = self.texts % 65535 + 1
            for message in status_texts(notice.severity, notice.text, self.texts):
                self.send(message)
        elif isinstance(notice, ItemReached):
            self.send(mav.MAVLink_mission_item_reached_message(notice.sequence))
        elif isinstance(notice, CurrentItem):
            executor = self.autopilot.executor
            count, state = len(executor.items), int(executor.state)
            self.send(mav.MAVLink_mission_current_message(notice.sequence, count, state))
        elif isinstance(notice, CommandDone):
            self.commands.finish(notice.command, notice.ack)
        elif isinstance(notice, PictureTaken):
            for message in picture_messages(notice, self.sysid):
                self.send(message)
        elif isinstance(notice, HomeChanged):
            for id in (mav.MAVLINK_MSG_ID_HOME_POSITION, mav.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN):
                if (message := self.encode(id)) is not None:
                    self.send(message)
