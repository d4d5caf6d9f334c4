"""Gazebo with the unmodified ardupilot_gazebo plugin: the adapter acts as the ArduPilot that the plugin expects.

The plugin of each vehicle has its own UDP port (`fdm_port_in`) and takes one simulation step per servo packet
(`lock_step`). Its states hold IMU, attitude, position and velocity; GNSS, compass and barometer are
`paddock.sensing`'s, on the true state.
"""

import select
import socket
from time import monotonic
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot.vehicle_data import COLUMN, RANGEFINDERS, TRIPLES, TRUTH, Floats
from paddock.scenario.base import Text, Whole
from paddock.sitl.adapter import AdapterError, Placed, RowAdapter
from paddock.sitl.ardupilot_frames import FRAME_OF_CRAFT, JSON_PORT, PORT_STEP, find_frame
from paddock.wire import WireError
from paddock.wire.ardupilot_json import ServoPacket, SimulatorState, decode_state, encode_servos
from paddock.world.frames import conversion, quaternion_from_euler
from paddock.world.geodesy import Origin

RESEND_AFTER = 1.0  # s of wall time, as ArduPilot
REFUSED_AFTER = 0.1  # s, after a refused packet: the plugin may still be starting
LARGEST = 65535

NO_OUTPUT: tuple[int, ...] = (0,) * 16
TO_WORLD = conversion("ned", "enu")


class PluginVehicle:
    """One vehicle in Gazebo, and the UDP socket to its plugin. A frame is repeated until it is answered.

    Its time counts from the first state, in us; a reset of Gazebo does not decrease it. Some versions of the plugin
    never answer a duplicate, so the second repetition is a new frame.
    """

    def __init__(self, placed: Placed, host: str, port: int, frame_rate: int, origin: Origin) -> None:
        self.placed, self.frame = placed, find_frame(FRAME_OF_CRAFT[placed.craft])
        self.port, self.frame_rate, self.origin = port, frame_rate, origin
        self.where = f"udp {host}:{port}"
        self.note = f"waiting for the Gazebo plugin at {self.where}"
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.connect((host, port))  # so that a missing plugin is an error
        except (OSError, OverflowError):
            self._socket.close()
            raise
        self._socket.setblocking(False)

    def begin(self, time_us: int) -> None:
        """Count frames from 0, which restarts the plugin's controller, outputs off; the next state is of `time_us`."""
        self.receive()  # discard old answers
        self.pwm, self.time_us = NO_OUTPUT, time_us
        self.state: SimulatorState | None = None
        self._base_us: int | None = None  # Gazebo's time minus ours
        self._count, self._repeated, self._again_at = -1, 0, 0.0
        self._sent: tuple[int, ...] = ()
        self.waiting = False  # for the answer to a frame

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def send_frame(self, pwm: tuple[int, ...]) -> None:
        """Send the next frame, unless one is still unanswered."""
        if not self.waiting:
            self._count += 1
            self._repeated, self._sent, self.waiting = 0, pwm, True
            self._send()

    def repeat(self) -> float:
        """Repeat the frame if due; return the s until the next repetition."""
        if self.waiting and monotonic() >= self._again_at:
            self._repeated += 1
            self._count += self._repeated > 1
            self._send()
        return max(self._again_at - monotonic(), 0.0)

    def _send(self) -> None:
        self._again_at = monotonic() + RESEND_AFTER
        try:
            self._socket.send(encode_servos(ServoPacket(self.frame_rate, self._count & 0xFFFFFFFF, self._sent)))
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._again_at = monotonic() + REFUSED_AFTER
        self.note = f"no Gazebo plugin at {self.where} ({error.strerror}): is the world running?"

    def receive(self) -> SimulatorState | None:
        """Return the newest state received."""
        newest: SimulatorState | None = None
        while True:
            try:
                newest = decode_state(self._socket.recv(LARGEST))
            except BlockingIOError:
                break
            except OSError as error:  # the previous packet was refused
                self._fail(error)
                break
            except WireError as error:
                self.note = f"from the Gazebo plugin at {self.where}: {error}"
        if newest is not None:
            self.waiting, self.note = False, ""
        return newest

    def take(self, state: SimulatorState) -> None:
        """Process a new state."""
        stamp_us = round(state.timestamp * 1e6)
        if self._base_us is None or stamp_us - self._base_us < self.time_us:  # Gazebo was reset or restarted
            self._base_us = stamp_us - self.time_us
        self.time_us = stamp_us - self._base_us
        self.state = state

    def set_time(self, time_us: int) -> None:
        """Map the present state to `time_us`: all vehicles of a world start together."""
        assert self.state is not None
        self._base_us, self.time_us = round(self.state.timestamp * 1e6) - time_us, time_us

    def show(self, pose: Floats, row: Floats, truth: bool) -> None:
        """Write a column of Pose, and the plugin's own measurements into a row of sensor data."""
        state = self.state
        assert state is not None
        if state.quaternion is not None:
            w, x, y, z = state.quaternion
        else:
            assert state.attitude is not None  # the decoder requires one of the two
            x, y, z, w = quaternion_from_euler(*state.attitude).tolist()
        if state.place is None:
            assert state.position is not None  # the decoder requires one of the two
            position = state.position
        else:
            east, north, up = self.origin.to_local(*state.place)
            position = float(north), float(east), -float(up)
        pose[:3], pose[3:7] = TO_WORLD.position(position), TO_WORLD.quaternion((x, y, z, w))
        pose[7:10], pose[10:] = TO_WORLD.velocity(state.velocity), TO_WORLD.angular_rate(state.gyro)
        row[COLUMN["time_us"]] = row[COLUMN["imu_time_us"]] = self.time_us
        row[TRIPLES["gyro"]], row[TRIPLES["accel"]] = state.gyro, state.accel
        if truth:
            row[TRUTH] = [*position, *state.velocity, w, x, y, z]
        for k, distance in enumerate(state.ranges[:RANGEFINDERS]):
            if distance is not None:
                row[COLUMN["range_1"] + k] = distance
                row[COLUMN["range_time_us"]] = self.time_us
        if state.airspeed is not None:
            row[COLUMN["airspeed"]] = state.airspeed
        if state.battery is not None:
            row[COLUMN["battery_voltage"]], row[COLUMN["battery_current"]] = state.battery

    def diagnosis(self) -> str:
        """Return why there is no answer, as far as known."""
        return self.note or f"the Gazebo plugin at {self.where} stopped answering: is the world paused?"


RATE_LIMITS = (1.0, 65535.0)  # Hz: range of a servo packet


class ArduPilotGazeboAdapter(RowAdapter):
    """The k-th added vehicle uses UDP port `port + 10 * k`; `rate` (Hz) is that of Gazebo's physics."""

    adapter_type: ClassVar[str] = "ardupilot_gazebo"
    crafts: ClassVar[tuple[str, ...]] = tuple(FRAME_OF_CRAFT)
    capacity: ClassVar[int] = 64
    has_imu: ClassVar[bool] = True
    terrain: ClassVar[bool] = True
    wind_blows: ClassVar[bool] = True

    def __init__(
        self,
        name: str = "",
        *,
        host: str = "127.0.0.1",
        port: int = JSON_PORT,
        rate: float = 1000.0,
        seed: int = 0,
        origin: tuple[float, float, float] = (-35.363262, 149.165237, 584.0),
        noise: float | bool = 1.0,
        truth: bool = False,
    ) -> None:
        """`origin`: deg, deg, m, that of Gazebo's world; `noise` is a factor on every noise and random walk."""
        super().__init__(name, seed, origin, rate, noise, truth)
        if not RATE_LIMITS[0] <= self.rate <= RATE_LIMITS[1]:
            raise self.options.refused("rate", "1 to 65535 Hz", rate)
        self.host = self.options.check(Text, "host", host, "a text")
        self.port = self.options.check(Whole, "port", port, "a whole number")
        self._plugins: list[PluginVehicle] = []

    def _add_row(self, row: int, vehicle: Placed) -> None:
        """Connect to its plugin; its pose is that in Gazebo's world, which Gazebo resets."""
        if row == len(self._plugins):
            taken = {plugin.port for plugin in self._plugins}
            port = next(port for k in range(self.capacity + 1) if (port := self.port + PORT_STEP * k) not in taken)
            try:
                self._plugins.append(PluginVehicle(vehicle, self.host, port, round(self.rate), self.origin))
            except (OSError, OverflowError) as error:
                raise AdapterError(f"adapter {self.name!r}: cannot talk to udp {self.host}:{port} ({error})") from None
        self._plugins[row].begin(self._time_us)

    def _remove_row(self, row: int, kept: NDArray[np.int64]) -> None:
        """Close its link; Gazebo's plugin times out."""
        self._plugins.pop(row).close()

    @property
    def sim_time_us(self) -> int:
        """The time of the slowest vehicle."""
        with self.lock:
            return min((vehicle.time_us for vehicle in self._plugins), default=self._time_us)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Send packets to all plugins until they reach the time; False when one does not answer."""
        with self.lock:
            until = self._end_of(dt_us)
            deadline = monotonic() + timeout
            if not self._await_plugins(deadline):
                return False
            while any(vehicle.time_us < until for vehicle in self._plugins):
                if not self._exchange(deadline):
                    return False
            self._time_us = until
            self._sense()
        return True

    def _await_plugins(self, deadline: float) -> bool:
        """Get a first state of each vehicle. Keep asking the others: a waiting plugin blocks Gazebo for all."""
        if all(vehicle.state is not None for vehicle in self._plugins):
            return True
        while any(vehicle.state is None for vehicle in self._plugins):
            for vehicle in self._plugins:
                vehicle.send_frame(NO_OUTPUT)
            if not self._listen(deadline):
                return False
        # a frame without output still in flight would replace the first one with output
        if any(vehicle.waiting for vehicle in self._plugins) and not self._exchange(deadline, rest=True):
            return False
        for vehicle in self._plugins:
            vehicle.set_time(self._time_us)
        return True

    def _exchange(self, deadline: float, rest: bool = False) -> bool:
        """Send a frame to each plugin (`rest`: without output); return whether all answered."""
        for vehicle in self._plugins:
            vehicle.send_frame(NO_OUTPUT if rest else vehicle.pwm)
        while any(vehicle.waiting for vehicle in self._plugins):
            if not self._listen(deadline):
                return False
        return True

    def _listen(self, deadline: float) -> bool:
        waiting = [vehicle for vehicle in self._plugins if vehicle.waiting]
        left = deadline - monotonic()
        if left <= 0.0:
            return False
        pause = min(left, *(vehicle.repeat() for vehicle in waiting))
        select.select(waiting, [], [], pause)
        for vehicle in waiting:
            if (state := vehicle.receive()) is not None:
                vehicle.take(state)
        return True

    def _sense(self) -> None:
        """Sample at or just after the due times: Gazebo's steps need not divide the periods."""
        n = len(self._plugins)
        if not n:
            return
        for k, vehicle in enumerate(self._plugins):
            vehicle.show(self._pose[:, k], self._block[k], self.truth)
        now = self.sim_time_us
        for instrument in self._instruments:
            if now >= instrument.next_us:
                instrument.next_us = now - now % instrument.sensor.period
                instrument.sample(instrument.next_us, self._pose, n, self._streams, self.seed)
            instrument.publish(now, self._block)

    def _set_actuators(self, rows: NDArray[np.int64], block: Floats) -> None:
        for row, commands in zip(rows.tolist(), block, strict=True):
            self._plugins[row].pwm = self._plugins[row].frame.outputs(commands)

    def diagnosis(self) -> str:
        """Return which plugins do not answer, and why."""
        with self.lock:
            silent = [v for v in self._plugins if v.waiting]
            return "; ".join(f"vehicle {v.placed.id}: {v.diagnosis()}" for v in silent)


ADAPTER = ArduPilotGazeboAdapter
