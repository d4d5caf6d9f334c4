"""An unmodified ArduPilot as the autopilot of a vehicle: it sends servo packets and waits for the state after them."""

import select
from math import isfinite
from time import monotonic
from typing import ClassVar

import numpy as np

from paddock.autopilot.contract import Autopilot
from paddock.autopilot.vehicle_data import COLUMN, RANGEFINDERS, ActuatorCommands, SensorData
from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.ardupilot_frames import ArduPilotFrame, find_frame, json_port
from paddock.sitl.external_autopilot import DEBUGGING, ExternalAutopilot
from paddock.wire import WireError
from paddock.wire import ardupilot_json as line
from paddock.wire.ardupilot_json import LineWriter, ServoPacket, decode_servos

OUT_OF_RANGE = 10_000.0
"""m: reading of a known rangefinder without a target. ArduPilot keeps the last value of an omitted one."""
SILENT_AFTER = 2.0
"""s of wall time without a packet after which the peer is gone. An unanswered ArduPilot repeats its packet every s."""
TAKEOVER_AFTER = 1.0
"""s of wall time without a packet after which another address counts as the same ArduPilot, restarted."""
IDLE_PERIOD_US = 10_000  # simulated us between polls while no ArduPilot is connected

Address = tuple[str, int]
BATCH = 64  # datagrams read per call, so that a flood does not delay the tick
DATAGRAM = 2048  # bytes read of a datagram; servo packets have 40 or 72
LONGEST_US = 100_000  # ArduPilot ignores the step of a reply that is this much later than the one before, or more
LAST_COUNT = 2**32 - 1


SECTIONS = (line.START, line.QUATERNION, *line.RANGES, line.AIRSPEED, line.BATTERY)
SENT = np.array(
    [
        COLUMN[name] + k
        for name, count in {
            "gyro_x": 3,
            "accel_x": 3,
            "true_north": 3,
            "true_vn": 3,
            "true_qw": 4,
            "range_1": RANGEFINDERS,
            "airspeed": 1,
            "battery_voltage": 2,
        }.items()
        for k in range(count)
    ]
)
"""Columns of the sensor data that ArduPilot gets after the timestamp: the IMU as measured, the rest true."""
FIRST_RANGE = 1 + SENT.tolist().index(COLUMN["range_1"])  # in the numbers of a line


class ArduPilotAutopilot(ExternalAutopilot):
    """Waits at udp `9002 + 10 * instance` for an ArduPilot that was started with `--model JSON`.

    `dt` s is the step of the world. With `lockstep=False` neither side waits: a packet is answered on arrival.
    """

    kind: ClassVar[str] = "ardupilot"

    def __init__(
        self,
        frame: str | ArduPilotFrame,
        dt: float,
        *,
        instance: int = 0,
        address: str = "127.0.0.1",
        port: int | None = None,
        lockstep: bool = True,
    ) -> None:
        super().__init__(dt, instance, address, json_port(instance) if port is None else port, ticks=1)
        self.frame = find_frame(frame) if isinstance(frame, str) else frame
        longest = self.frame.longest_dt
        if longest is not None and dt > longest * (1.0 + 1e-9):  # 1/720 s is not too long for 720 Hz
            raise InvalidValueError(
                f"ArduPilot {self.frame.name}: a world step of {dt:g} s gives it {1.0 / dt:.6g} IMU samples per "
                f"second, too few to arm; set clock rate to at least {1.0 / longest:.6g} Hz (1200 suits)"
            )
        if not 0.0 < dt * 1e6 < LONGEST_US:
            wrong = f"a world step of {dt:g} s cannot be lockstepped"
            raise InvalidValueError(f"ArduPilot: {wrong}; it must be shorter than 0.1 s")
        self.lockstep = lockstep
        self._poll = select.poll()
        self._rate = 0  # Hz, of the last packet
        self._restart_time()
        self._ranged: set[int] = set()  # rangefinders with a measurement, by their numbers in a line
        self._ranges, self._lost = b"", list[int]()  # the last measurements; those of `_ranged` without a target
        self._commands = ActuatorCommands()
        self._pwm: tuple[int, ...] = ()  # of the last frame
        self._sensors: SensorData | None = None
        self._peer: Address | None = None
        self._live = False
        self._received_at = 0.0  # wall s
        self._count: int | None = None  # of the last frame
        self._unanswered = False  # a packet is unanswered
        self._reply = b""
        self._writer = LineWriter(SECTIONS, "" if lockstep else ',"no_lockstep":1')
        self._numbers = np.zeros(self._writer.count)  # of a line: the timestamp, then those of `SENT`
        self._sent, self._distances = self._numbers[1:], self._numbers[FIRST_RANGE : FIRST_RANGE + RANGEFINDERS]
        self.status.note = self._waiting_note()

    @property
    def live(self) -> bool:
        """Whether an ArduPilot is connected."""
        return self._live

    @property
    def period_us(self) -> int:
        """As the last packet asked; the poll period while none is connected."""
        return super().period_us if self._live else IDLE_PERIOD_US

    def next_us(self, time_us: int) -> int:
        """Return the time of the tick that the last packet asked for."""
        return super().next_us(time_us) if self._live else Autopilot.next_us(self, time_us)

    def open(self) -> None:
        """Bind the port; PaddockError if it is in use."""
        if self._bind("udp", "another Paddock, Gazebo") and self._socket is not None:
            self._poll.register(self._socket, select.POLLIN)
        self.status.note = self._waiting_note()

    def close(self) -> None:
        """Release the port and the peer."""
        if self._socket is not None:
            self._poll.unregister(self._socket)
            self._socket.close()
            self._socket = None
        self._disconnect("closed")
        self._peer = None

    def reset(self) -> None:
        """Restart reply time at 0, which ArduPilot takes for a physics reset."""
        self._restart_time()
        self._sensors = None

    def _restart_time(self) -> None:
        self._stamp_us = 0.0  # of the last reply; it begins at 0 whenever the peer starts
        self._replied_at_us: float | None = None  # world time of the last reply

    def offer(self, sensors: SensorData) -> None:
        """Answer the packet that asked for this state."""
        self._sensors = sensors
        if self._unanswered:
            self._answer(sensors)
        elif self._live and monotonic() - self._received_at >= SILENT_AFTER:
            self._disconnect(self.diagnosis())  # the world continues without it

    def collect(self, timeout: float) -> ActuatorCommands | None:
        """Return the commands of a new packet; duplicates are answered here, without a step."""
        if self._unanswered and self.lockstep:
            self._service(0.0)
            return self._commands
        left = timeout if self.lockstep else 0.0
        deadline = monotonic() + left
        while not self._service(left):
            left = deadline - monotonic()
            if left <= 0.0:
                return self._commands if self._live and not self.lockstep else None
        return self._commands

    def _disconnect(self, note: str) -> None:
        self._live = self.status.connected = self._unanswered = False
        self.status.note = note

    def _service(self, timeout: float) -> bool:
        """Process received packets, waiting for the first; return whether one is a new frame."""
        if self._socket is None:
            raise PaddockError(f"ArduPilot: udp {self._address}:{self.port} is not open")
        fresh, wait = False, timeout * 1e3
        for _ in range(BATCH):
            if not self._poll.poll(wait):
                break
            wait = 0.0
            try:
                datagram, source = self._socket.recvfrom(DATAGRAM)
            except OSError:  # the error of an earlier reply; the socket stays usable
                continue
            try:
                packet = decode_servos(datagram)
            except WireError as error:
                self._reject(f"{error} (from {source[0]}:{source[1]})")
                continue
            if self._admit(source):
                fresh |= self._take(packet)
        return fresh

    def _send(self, data: bytes) -> None:
        if self._socket is None or self._peer is None:
            return
        try:
            self._socket.sendto(data, self._peer)
        except OSError as error:
            self.status.note = f"cannot reply to {self._peer[0]}:{self._peer[1]}: {error.strerror}"

    def _admit(self, source: Address) -> bool:
        """Accept the peer, or a restarted one: it uses another port while the old one is silent."""
        now = monotonic()
        if source != self._peer:
            if self._live and now - self._received_at < TAKEOVER_AFTER:
                where = f"udp {self._address}:{self.port}"
                self._reject(f"refused {source[0]}:{source[1]}: {where} has another ArduPilot; start it with -I")
                return False
            known, self._peer = self._peer, source
            self._count, self._unanswered = None, False  # its next frame is the first
            self._restart_time()
            if known is not None:
                self._restarted()
        self._received_at = now
        if not self._live:
            self._live = self.status.connected = True
            self.status.note, self._rate = "", 0
        return True

    def _restarted(self) -> None:
        self._restart_time()
        self._unanswered = False
        self._report_restart()

    def _take(self, packet: ServoPacket) -> bool:
        """Apply a packet; return whether it is a new frame."""
        before, self._count = self._count, packet.frame_count
        if before == self._count:  # the reply may be lost: repeat it; a frame without a reply gets it when due
            self.status.duplicates += 1
            if not self._unanswered and self._reply:
                self._send(self._reply)
            return False
        if before is not None and self._count < before and (before, self._count) != (LAST_COUNT, 0):
            self._restarted()
        if packet.frame_rate != self._rate:
            self._set_rate(packet.frame_rate)
        if packet.pwm != self._pwm:
            self._pwm = packet.pwm
            self.frame.apply(packet.pwm, self._commands.row)
            self.status.armed = self._commands.row.item(0) > 0.5
        self.status.exchanges += 1
        self._unanswered = True
        if not self.lockstep and self._sensors is not None:
            self._answer(self._sensors)
        return True

    def _set_rate(self, rate: int) -> None:
        """Take steps of whole ticks, always shorter than 0.1 s."""
        most = max(1, int((LONGEST_US - 1) / self._dt_us))
        self._rate, self._ticks = rate, min(max(1, round(1e6 / (rate * self._dt_us))), most)
        if 1e6 / rate >= LONGEST_US:
            self.status.note = f"frame_rate {rate} Hz is too slow for ArduPilot itself; steps are < 0.1 s"

    def _answer(self, sensors: SensorData) -> None:
        """Send the state, unless the world has not moved since the last one."""
        timestamp = self._advance(sensors.row.item(0))
        if timestamp is None or self._peer is None:
            return
        try:
            self._reply = self._line(sensors, timestamp)
        except InvalidValueError as error:
            self.status.note = f"no reply to ArduPilot: {error}"
            return
        self._unanswered = False
        self._send(self._reply)

    def _advance(self, time_us: float) -> float | None:
        """Return the time (s) of a reply at this world time; None if the world has not moved since the last reply.

        A peer in lockstep never sees more time than it requested, even after a silence: it would take a longer step
        for the rate of the physics, and request such steps from then on.
        """
        before, requested = self._replied_at_us, self._ticks * self._dt_us
        elapsed = requested if before is None else time_us - before
        if elapsed == 0.0:
            return None
        if not 0.0 < elapsed < (requested + 1.0 if self.lockstep else LONGEST_US):
            elapsed = requested
        self._replied_at_us = time_us
        self._stamp_us += elapsed
        return self._stamp_us * 1e-6

    def _line(self, sensors: SensorData, timestamp: float) -> bytes:
        """Return the line for a state at `timestamp` s; values that are not measured are omitted."""
        numbers = self._numbers
        numbers[0] = timestamp
        sensors.row.take(SENT, out=self._sent, mode="clip")
        if (measured := self._distances.tobytes()) != self._ranges:
            seen = {k for k, distance in enumerate(self._distances.tolist(), FIRST_RANGE) if isfinite(distance)}
            self._ranges, self._lost = measured, sorted(self._ranged - seen)
            self._ranged |= seen
        for k in self._lost:
            numbers[k] = OUT_OF_RANGE
        return self._writer.write(numbers)

    def diagnosis(self) -> str:
        """Return what is known of a silent peer."""
        if self._peer is None:
            return self._waiting_note()
        silent = monotonic() - self._received_at
        return (
            f"ArduPilot {self.frame.name} {self.instance} at {self._peer[0]}:{self._peer[1]} silent for {silent:.1f} s "
            f"after frame {self._count}: has it exited or stopped? Restart it to continue; {DEBUGGING}"
        )

    def _waiting_note(self) -> str:
        where = f"udp {self._address}:{self.port}"
        return f"waiting for ArduPilot {self.frame.name} at {where}: {self.frame.binary} --model JSON"
