"""An unmodified PX4 as the pilot of a quadrotor: it gets HIL messages, and answers with its motor controls."""

from __future__ import annotations

from time import monotonic
from typing import Any, ClassVar

from paddock.errors import InvalidValueError
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.packets import PacketWriter
from paddock.sitl.pilot import DEBUGGING, Pilot
from paddock.sitl.px4.hil import LOCKSTEP, HilMessages, apply_controls
from paddock.sitl.px4.launch import simulator_port
from paddock.sitl.px4.server import SimulatorServer
from paddock.sitl.sensor_data import Columns, SensorData
from paddock.world.geodesy import Origin

HEARTBEAT_US = 1_000_000
TRUTH_US = 5_000
"""Simulated us between two HIL_STATE_QUATERNION, until PX4 asks for another interval."""
FIRST_US = 1_000_000
"""PX4's clock begins here: it takes 0 for no time."""
SYSTEM, COMPONENT = 1, 51  # as simulators introduce themselves


class Px4Pilot(Pilot):
    """Waits at tcp `4560 + instance` for a PX4. Sensors run freely until its first controls, then it is waited for.

    `dt` s is the step of the world, `rate` Hz that of the sensors (250 is what PX4 is made for).
    """

    kind: ClassVar[str] = "px4"
    needs_truth: ClassVar[bool] = True

    def __init__(
        self,
        dt: float,
        origin: Origin,
        *,
        instance: int = 0,
        address: str = "127.0.0.1",
        port: int | None = None,
        rate: float = 250.0,
    ) -> None:
        super().__init__()
        if not (dt > 0.0 and rate > 0.0):
            raise InvalidValueError(f"PX4: dt and rate must be positive, not {dt:g} s and {rate:g} Hz")
        self.instance = instance
        self._dt_us = dt * 1e6
        self._ticks = max(1, round(1.0 / (rate * dt)))
        self._server = SimulatorServer(address, simulator_port(instance) if port is None else port)
        self._messages = HilMessages(origin)
        self._writer = PacketWriter(SYSTEM, COMPONENT)
        self._commands = ActuatorCommands()
        self._offset_us = FIRST_US  # PX4's clock never falls, whatever the world's does
        self._clock_us = 0
        self._last_us = 0.0
        self._generation = 0
        self._begin()

    def _begin(self) -> None:
        """A new peer, or none."""
        self._parser = mav.MAVLink(None)
        self._parser.robust_parsing = True  # rubbish is told about, not raised
        self._acted = False  # it has sent controls
        self._lockstep = True
        self._fresh = False  # controls that have not been collected
        self._truth_us: int | None = TRUTH_US
        self._next_truth_us = self._next_heartbeat_us = 0
        self._messages.forget()
        self._heard_at = monotonic()
        self.status.connected = self.status.armed = False
        self.status.note = f"waiting for PX4 at tcp {self._server.address}:{self._server.port}"

    @property
    def live(self) -> bool:
        """Whether it has sent controls and is still connected."""
        return self._acted and self._server.connected

    @property
    def period_us(self) -> int:
        """Of the sensors."""
        return max(1, round(self._ticks * self._dt_us))

    def next_us(self, time_us: int) -> int:
        """The time of a tick of the world, to the nearest us."""
        return max(time_us + 1, round((round(time_us / self._dt_us) + self._ticks) * self._dt_us))

    @property
    def port(self) -> int:
        """The TCP port."""
        return self._server.port

    def open(self) -> None:
        """Listen."""
        self._server.open()
        self._begin()

    def close(self) -> None:
        """Let go of the port and of the peer."""
        self._server.close()
        self._begin()
        self.status.note = "closed"

    def reset(self) -> None:
        """The world has begun anew; PX4 has not, so its clock goes on."""
        self._offset_us += round(self._last_us)
        self._last_us = 0.0
        self._messages.forget()

    # exchange --------------------------------------------------------------------------------------------------------

    def offer(self, sensors: SensorData) -> None:
        """Send what is new; what PX4 says from here on answers this."""
        self._service()
        self._fresh = False
        values = sensors.values()
        self._messages.motion.update(values)
        clock_us = self._offset_us + round(values.time_us)
        self._last_us = values.time_us
        if not self._server.connected or clock_us <= self._clock_us:
            return
        packets = b"".join(self._writer.pack(message) for message in self._due(values, clock_us))
        self._clock_us = clock_us
        self._server.send(packets)

    def _due(self, values: Columns, clock_us: int) -> list[Any]:
        """The messages of this time; the sensors come last, because they set PX4 going."""
        found: list[Any] = []
        if clock_us >= self._next_heartbeat_us:
            self._next_heartbeat_us = clock_us + HEARTBEAT_US
            found.append(_heartbeat())
        found.append(self._messages.gps(values, clock_us))
        if self._truth_us is not None and clock_us >= self._next_truth_us:
            self._next_truth_us = clock_us + self._truth_us
            found.append(self._messages.truth(values, clock_us))
        sensor = self._messages.sensor(values, clock_us)
        if sensor is None:
            self.status.note = "nothing sent to PX4: the vehicle's IMU has no finite reading"
        return [message for message in (*found, sensor) if message is not None]

    def collect(self, timeout: float) -> ActuatorCommands | None:
        """Its controls; one that is not in lockstep is never waited for."""
        deadline = monotonic() + timeout
        self._service()
        while not self._fresh:
            left = deadline - monotonic()
            if left <= 0.0 or not self.live or not self._lockstep:
                return self._commands if self.live and not self._lockstep else None
            self._server.wait(left)
            self._service()
        self._fresh = False
        self.status.exchanges += 1
        return self._commands

    def _service(self) -> None:
        was_connected = self._server.connected
        data = self._server.receive()
        if self._server.generation != self._generation:
            self._welcome()
        elif was_connected and not self._server.connected:
            self._begin()
        if self._server.refused:
            self.status.rejected += self._server.refused
            self._server.refused = 0
            self.status.note = f"refused a second PX4 at tcp {self._server.address}:{self._server.port}; use px4 -i"
        if data:
            self._hear(data)

    def _welcome(self) -> None:
        self._begin()
        restarted, self._generation = self._generation > 0, self._server.generation
        self.status.restarts += restarted
        if restarted:
            self.on_restart()
        self.status.connected = True
        self.status.note = "PX4 is there and starts; sensors run freely until its first controls"

    def _hear(self, data: bytes) -> None:
        self._heard_at = monotonic()
        try:
            messages = self._parser.parse_buffer(data) or []
        except mav.MAVError as error:  # the parser begins anew behind what it choked on
            self._reject(str(error))
            return
        for message in messages:
            self._handle(message)

    def _reject(self, why: str) -> None:
        self.status.rejected += 1
        self.status.note = f"not understood from PX4: {why}"[:160]

    def _handle(self, message: Any) -> None:
        kind = message.get_type()
        if kind == "HIL_ACTUATOR_CONTROLS":
            self._act(message)
        elif kind == "COMMAND_LONG":
            self._server.send(self._writer.pack(self._answer(message)))
        elif kind == "BAD_DATA":
            self._reject(message.reason)
        elif kind.startswith("UNKNOWN"):
            self._reject(f"message {kind}")

    def _act(self, message: Any) -> None:
        apply_controls(message, self._commands.row)
        self.status.armed = self._commands.armed
        self._lockstep = bool(message.flags & LOCKSTEP)
        self._fresh = True
        if not self._acted:
            self._acted = True
            self.status.note = "" if self._lockstep else "this PX4 was built without lockstep: it runs freely"

    def _answer(self, command: Any) -> Any:
        """COMMAND_ACK: the interval of the truth may be set, everything else is not ours."""
        result = mav.MAV_RESULT_UNSUPPORTED
        if command.command == mav.MAV_CMD_SET_MESSAGE_INTERVAL:
            result = mav.MAV_RESULT_DENIED
            if int(command.param1) == mav.MAVLINK_MSG_ID_HIL_STATE_QUATERNION:
                result = mav.MAV_RESULT_ACCEPTED
                self._truth_us = None if command.param2 < 0.0 else round(command.param2) or TRUTH_US
        return mav.MAVLink_command_ack_message(command.command, result)

    def diagnosis(self) -> str:
        """What is known of a peer that does not answer."""
        if not self._server.connected:
            return f"no PX4 at tcp {self._server.address}:{self._server.port}: start it, or check PX4_SIM_HOSTNAME"
        silent = monotonic() - self._heard_at
        return f"PX4 {self.instance} has sent no controls for {silent:.1f} s: has it stopped? {DEBUGGING}"


def _heartbeat() -> Any:
    return mav.MAVLink_heartbeat_message(mav.MAV_TYPE_GENERIC, mav.MAV_AUTOPILOT_INVALID, 0, 0, mav.MAV_STATE_ACTIVE, 3)
