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
from numpy.typing import NDArray

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed
from paddock.sitl.ardupilot.frames import find_frame
from paddock.sitl.ardupilot.launch import JSON_PORT, PORT_STEP
from paddock.sitl.ardupilot.plugin_link import PluginLink
from paddock.sitl.ardupilot.plugin_vehicle import NO_OUTPUT, PluginVehicle
from paddock.sitl.physics.row_adapter import RATES, RowAdapter
from paddock.world.pose import Pose

FRAME_OF = {"copter": "copter", "rover": "rover-skid", "rover_ackermann": "rover", "plane": "plane"}
"""How the channels of each craft are wired."""
RATE_LIMITS = (1.0, 65535.0)
"""Hz: what a servo packet can ask for."""


class ArduPilotGazeboAdapter(RowAdapter):
    """The k-th vehicle that is added talks to udp `port + 10 * k`; `rate` Hz is that of Gazebo's physics."""

    adapter_type: ClassVar[str] = "ardupilot_gazebo"
    crafts: ClassVar[tuple[str, ...]] = tuple(FRAME_OF)
    capacity: ClassVar[int] = 64
    has_imu: ClassVar[bool] = True

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
        self.host = self.options.text("host", host)
        self.port = self.options.whole("port", port)
        self._plugins: list[PluginVehicle] = []

    def _enter(self, row: int, vehicle: Placed) -> None:
        """Talk to one more plugin; where it stands is up to Gazebo's world, which is reset from Gazebo."""
        if row == len(self._plugins):
            self._plugins.append(PluginVehicle(vehicle, find_frame(FRAME_OF[vehicle.craft]), self._link()))
        self._plugins[row].begin(self._time_us)

    def _link(self) -> PluginLink:
        taken = {plugin.link.port for plugin in self._plugins}
        port = next(port for k in range(self.capacity + 1) if (port := self.port + PORT_STEP * k) not in taken)
        try:
            return PluginLink(self.host, port, round(self.rate))
        except (OSError, OverflowError) as error:
            raise AdapterError(f"adapter {self.name!r}: cannot talk to udp {self.host}:{port} ({error})") from None

    def _leave(self, row: int, kept: NDArray[np.int64]) -> None:
        """Gazebo's plugin notices after a while."""
        self._plugins.pop(row).link.close()

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def capabilities(self) -> Capabilities:
        """What the plugin measures, and our sensors on its truth."""
        sensors = frozenset({"imu", *RATES, "truth"} if self.truth else {"imu", *RATES})
        return Capabilities(sensors, self.rate, self.capacity, terrain=True, wind=True)

    @property
    def sim_time_us(self) -> int:
        """The time of the vehicle that is furthest behind."""
        with self.lock:
            return min((vehicle.time_us for vehicle in self._plugins), default=self._time_us)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Send packets to all plugins until their time has come; False, and no further, when one does not answer."""
        with self.lock:
            until = self._end_of(dt_us)
            deadline = monotonic() + timeout
            if not self._greet(deadline):
                return False
            while any(vehicle.time_us < until for vehicle in self._plugins):
                if not self._exchange(deadline):
                    return False
            self._time_us = until
            self._sense()
        return True

    def _greet(self, deadline: float) -> bool:
        """A first state of everybody. Who has answered is asked on: a plugin that waits holds up Gazebo for all."""
        if all(vehicle.state is not None for vehicle in self._plugins):
            return True
        while any(vehicle.state is None for vehicle in self._plugins):
            for vehicle in self._plugins:
                vehicle.link.ask(NO_OUTPUT)  # how often is a matter of luck
            if not self._listen(deadline):
                return False
        # a frame without output that is still under way would cost its vehicle the first one with output
        if any(vehicle.link.waiting for vehicle in self._plugins) and not self._exchange(deadline, rest=True):
            return False
        for vehicle in self._plugins:
            vehicle.settle(self._time_us)
        return True

    def _exchange(self, deadline: float, rest: bool = False) -> bool:
        """One frame for everybody, without output for who is to `rest`; all answers, or False."""
        for vehicle in self._plugins:
            vehicle.link.ask(NO_OUTPUT if rest else vehicle.pwm)
        while any(vehicle.link.waiting for vehicle in self._plugins):
            if not self._listen(deadline):
                return False
        return True

    def _listen(self, deadline: float) -> bool:
        waiting = [vehicle for vehicle in self._plugins if vehicle.link.waiting]
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
        n = len(self._plugins)
        if not n:
            return
        pose = np.zeros((len(Pose._fields), self.capacity))
        for k, vehicle in enumerate(self._plugins):
            pose[:, k] = vehicle.pose()
            vehicle.show(self._block[k], self.truth)
        now = self.sim_time_us
        for instrument in self._instruments:
            if now >= instrument.next_us:
                instrument.next_us = now - now % instrument.fleet.period
                instrument.sample(instrument.next_us, pose, n, self._streams, self.seed)
            instrument.publish(now, self._block)

    # exchange --------------------------------------------------------------------------------------------------------

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """What the next packets to its plugin say."""
        with self.lock:
            found = self._plugins[self._row(vehicle)]
            self._refuse_nan((vehicle,), commands.row[None, :])
            found.pwm = found.frame.outputs(commands.row)

    def diagnosis(self) -> str:
        """Who does not answer, and why, as far as known."""
        with self.lock:
            silent = [v for v in self._plugins if v.link.waiting]
            return "; ".join(f"vehicle {v.placed.id}: {v.link.diagnosis()}" for v in silent)


ADAPTER = ArduPilotGazeboAdapter
