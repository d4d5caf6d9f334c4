"""Gazebo with the unmodified ardupilot_gazebo plugin: we are the ArduPilot that the plugin expects.

The plugin of each vehicle has a UDP port of its own (`fdm_port_in`) and takes one simulation step per servo packet
(`lock_step`). Its states hold the IMU, attitude, position and velocity; the receiver, compass and barometer are
`paddock.sensing`'s, on the true state.
"""

from __future__ import annotations

import select
from time import monotonic
from typing import ClassVar

import numpy as np

from paddock.compute.philox import signed
from paddock.errors import InvalidValueError
from paddock.sensing.site import site_at
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed, SimulatorAdapter
from paddock.sitl.ardupilot.frames import find_frame
from paddock.sitl.ardupilot.launch import JSON_PORT, PORT_STEP
from paddock.sitl.ardupilot.plugin_link import PluginLink
from paddock.sitl.ardupilot.plugin_vehicle import NO_OUTPUT, PluginVehicle
from paddock.sitl.equipment.instruments import Instrument
from paddock.sitl.sensor_data import SensorData, empty_block
from paddock.world.geodesy import Origin
from paddock.world.pose import Pose
from paddock.world.streams import stream_ids

FRAME_OF = {"copter": "copter", "rover": "rover-skid", "rover_ackermann": "rover", "plane": "plane"}
"""How the channels of each craft are wired."""
MOST = 64
RATES = {"gnss": 5.0, "compass": 25.0, "barometer": 25.0}
"""Hz."""


class ArduPilotGazeboAdapter(SimulatorAdapter):
    """The k-th vehicle that is added talks to udp `port + 10 * k`; `rate` Hz is that of Gazebo's physics."""

    adapter_type: ClassVar[str] = "ardupilot_gazebo"

    def __init__(
        self,
        name: str = "",
        *,
        host: str = "127.0.0.1",
        port: int = JSON_PORT,
        rate: float = 1000.0,
        seed: int = 0,
        origin: tuple[float, float, float] = (-35.363262, 149.165237, 584.0),
        noise: float = 1.0,
        truth: bool = False,
    ) -> None:
        """`origin`: deg, deg, m, that of Gazebo's world; `noise` is a factor on every noise and random walk."""
        super().__init__(name)
        if not 1.0 <= rate <= 65535.0:
            raise InvalidValueError(f"{self.name}: rate lies in 1 to 65535 Hz, not {rate:g}")
        self.host, self.port, self.rate, self.truth = host, port, rate, truth
        self.seed = signed(seed)
        self.origin = Origin(*origin)
        site = site_at(self.origin)
        self._instruments = [
            Instrument(kind, {"rate": hz}, noise, self.origin, site, MOST) for kind, hz in RATES.items()
        ]
        self._connected = False
        self._vehicles: dict[int, PluginVehicle] = {}
        self._clear()

    def _clear(self) -> None:
        self._target_us = 0
        self._block = empty_block(MOST)
        self._received = np.full(MOST, -1.0)
        for instrument in self._instruments:
            instrument.reset()
        for vehicle in self._vehicles.values():
            vehicle.begin(0)

    # life ------------------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """There is nothing to reach before the first vehicle: each has a plugin of its own."""
        self._connected = True

    def disconnect(self) -> None:
        """Close all sockets; Gazebo's plugins notice after a while."""
        with self.lock:
            for vehicle in self._vehicles.values():
                vehicle.link.close()
            self._vehicles.clear()
            self._connected = False
            self._clear()

    @property
    def is_connected(self) -> bool:
        """Between `connect` and `disconnect`."""
        return self._connected

    def add_vehicle(self, vehicle: Placed) -> None:
        """Talk to one more plugin; where it stands is up to Gazebo's world."""
        with self.lock:
            self._check()
            if vehicle.id in self._vehicles or len(self._vehicles) == MOST or not 1 <= vehicle.id <= 254:
                raise AdapterError(
                    f"adapter {self.name!r} cannot have vehicle {vehicle.id}: ids are unique, 1 to 254, and it has "
                    f"{len(self._vehicles)} of {MOST}"
                )
            if vehicle.craft not in FRAME_OF:
                raise AdapterError(
                    f"adapter {self.name!r} has no craft {vehicle.craft!r}; it has: {', '.join(FRAME_OF)}"
                )
            added = PluginVehicle(vehicle, find_frame(FRAME_OF[vehicle.craft]), self._link())
            added.begin(self._target_us)
            self._vehicles[vehicle.id] = added

    def _link(self) -> PluginLink:
        taken = {vehicle.link.port for vehicle in self._vehicles.values()}
        port = next(port for k in range(MOST + 1) if (port := self.port + PORT_STEP * k) not in taken)
        try:
            return PluginLink(self.host, port, round(self.rate))
        except (OSError, OverflowError) as error:
            raise AdapterError(f"adapter {self.name!r}: cannot talk to udp {self.host}:{port} ({error})") from None

    def remove_vehicle(self, vehicle: int) -> None:
        """Stop talking to its plugin; the rows after it move up."""
        with self.lock:
            gone = self._row(vehicle)
            kept = np.delete(np.arange(len(self._vehicles)), gone)
            self._vehicles.pop(vehicle).link.close()
            self._block[: len(kept)] = self._block[kept]
            self._received[: len(kept)] = self._received[kept]
            self._block[len(kept)], self._received[len(kept)] = empty_block(1)[0], -1.0
            for instrument in self._instruments:
                instrument.fleet.keep(kept[kept < instrument.fleet.n])

    @property
    def vehicles(self) -> tuple[int, ...]:
        """Ascending."""
        with self.lock:
            return tuple(sorted(self._vehicles))

    def reset(self) -> None:
        """Time 0 is the next state; Gazebo's world itself is reset from Gazebo."""
        with self.lock:
            self._check()
            self._clear()

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def supports_lockstep(self) -> bool:
        """The plugin waits for a packet before each step, with `lock_step` in its SDF."""
        return True

    @property
    def capabilities(self) -> Capabilities:
        """What the plugin measures, and our sensors on its truth."""
        sensors = frozenset({"imu", *RATES, "truth"} if self.truth else {"imu", *RATES})
        return Capabilities(sensors, self.rate, MOST, terrain=True, wind=True)

    @property
    def sim_time_us(self) -> int:
        """The time of the vehicle that is furthest behind."""
        with self.lock:
            return min((vehicle.time_us for vehicle in self._vehicles.values()), default=self._target_us)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Send packets to all plugins until their time has come; False, and no further, when one does not answer."""
        with self.lock:
            self._check()
            if dt_us < 0:
                raise AdapterError(f"adapter {self.name!r} cannot step back by {-dt_us} us")
            deadline = monotonic() + timeout
            until = self._target_us + dt_us
            if not self._greet(deadline):
                return False
            while any(vehicle.time_us < until for vehicle in self._vehicles.values()):
                if not self._exchange(deadline):
                    return False
            self._target_us = until
            self._sense()
        return True

    def _greet(self, deadline: float) -> bool:
        """A first state of everybody. Who has answered is asked on: a plugin that waits holds up Gazebo for all."""
        if all(vehicle.state is not None for vehicle in self._vehicles.values()):
            return True
        while any(vehicle.state is None for vehicle in self._vehicles.values()):
            for vehicle in self._vehicles.values():
                vehicle.link.ask(NO_OUTPUT)  # how often is a matter of luck
            if not self._listen(deadline):
                return False
        for vehicle in self._vehicles.values():
            vehicle.settle(self._target_us)
        return True

    def _exchange(self, deadline: float) -> bool:
        """One frame for everybody; all answers, or False."""
        for vehicle in self._vehicles.values():
            vehicle.link.ask(vehicle.pwm)
        while any(vehicle.link.waiting for vehicle in self._vehicles.values()):
            if not self._listen(deadline):
                return False
        return True

    def _listen(self, deadline: float) -> bool:
        waiting = [vehicle for vehicle in self._vehicles.values() if vehicle.link.waiting]
        left = deadline - monotonic()
        if left <= 0.0:
            return False
        pause = min(left, *(vehicle.link.repeat() for vehicle in waiting))
        select.select([vehicle.link for vehicle in waiting], [], [], pause)
        for vehicle in waiting:
            if (state := vehicle.link.answer()) is not None:
                vehicle.take(state)
        return True

    def _sense(self) -> None:
        """Sensors at their instants, or just after them: Gazebo's steps need not divide their periods."""
        n = len(self._vehicles)
        if not n:
            return
        pose = np.zeros((len(Pose._fields), MOST))
        streams = np.zeros(MOST, dtype=np.int64)
        for k, vehicle in enumerate(self._vehicles.values()):
            pose[:, k] = vehicle.pose()
            streams[k] = stream_ids(vehicle.placed.name, np.array([vehicle.placed.id]))[0]
            vehicle.show(self._block[k], self.truth)
        now = self.sim_time_us
        for instrument in self._instruments:
            if now >= instrument.next_us:
                instrument.next_us = now - now % instrument.fleet.period
                instrument.sample(instrument.next_us, pose, n, streams, self.seed)
            instrument.publish(now, self._block)

    # exchange --------------------------------------------------------------------------------------------------------

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """A copy of its row, if time has passed since the last one."""
        with self.lock:
            row = self._row(vehicle)
            if not self._block[row, 0] > self._received[row]:
                return None
            self._received[row] = self._block[row, 0]
            return SensorData(self._block[row].copy())

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """What the next packets to its plugin say."""
        with self.lock:
            self._row(vehicle)
            if np.isnan(commands.row).any():
                raise AdapterError(f"adapter {self.name!r}: an actuator command of vehicle {vehicle} is NaN")
            found = self._vehicles[vehicle]
            found.pwm = found.frame.outputs(commands.row)

    def diagnosis(self) -> str:
        """Who does not answer, and why, as far as known."""
        with self.lock:
            silent = [v for v in self._vehicles.values() if v.link.waiting]
            return "; ".join(f"vehicle {v.placed.id}: {v.link.diagnosis()}" for v in silent)

    def _check(self) -> None:
        if not self._connected:
            raise AdapterError(f"adapter {self.name!r} is not connected: connect() comes first")

    def _row(self, vehicle: int) -> int:
        self._check()
        if vehicle not in self._vehicles:
            known = ", ".join(map(str, sorted(self._vehicles))) or "none"
            raise AdapterError(f"adapter {self.name!r} has no vehicle {vehicle}; it has: {known}")
        return list(self._vehicles).index(vehicle)


ADAPTER = ArduPilotGazeboAdapter
