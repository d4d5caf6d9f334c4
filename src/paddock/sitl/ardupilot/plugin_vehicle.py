"""One vehicle in Gazebo, seen through its plugin: time, and the state in the axes of the world and of autopilots."""

from __future__ import annotations

from paddock.sitl.adapter import Placed
from paddock.sitl.ardupilot.frame import Frame
from paddock.sitl.ardupilot.plugin_link import PluginLink
from paddock.sitl.sensor_data import COLUMN, RANGEFINDERS, TRIPLES, TRUTH, Floats
from paddock.wire.ardupilot_json import State
from paddock.world.frames import conversion
from paddock.world.rotation import quaternion_from_euler

NO_OUTPUT: tuple[int, ...] = (0,) * 16
TO_WORLD = conversion("ned", "enu")


class PluginVehicle:
    """The time is that since its first state, in us; a world that begins anew does not turn it back."""

    def __init__(self, placed: Placed, frame: Frame, link: PluginLink) -> None:
        self.placed, self.frame, self.link = placed, frame, link
        self.pwm = NO_OUTPUT
        self.state: State | None = None
        self.time_us = 0
        self.restarts = 0
        self._base_us: int | None = None

    def take(self, state: State) -> None:
        """A new state has come."""
        stamp_us = round(state.timestamp * 1e6)
        if self._base_us is None:
            self._base_us = stamp_us - self.time_us
        elif stamp_us - self._base_us < self.time_us:  # Gazebo was reset or restarted
            self.restarts += 1
            self._base_us = stamp_us - self.time_us
        self.time_us = stamp_us - self._base_us
        self.state = state

    def begin(self, time_us: int) -> None:
        """The next state is that of `time_us`; the controller begins anew, with everything at rest."""
        self.pwm = NO_OUTPUT
        self.link.restart()
        self._base_us, self.time_us, self.state = None, time_us, None

    def settle(self, time_us: int) -> None:
        """The state that it has is that of `time_us`: all vehicles of a world begin together."""
        assert self.state is not None
        self._base_us, self.time_us = round(self.state.timestamp * 1e6) - time_us, time_us

    def quaternion(self) -> tuple[float, float, float, float]:
        """w, x, y, z, body to north-east-down."""
        assert self.state is not None
        if self.state.quaternion is not None:
            return self.state.quaternion
        assert self.state.attitude is not None  # the decoder demands one of both
        x, y, z, w = quaternion_from_euler(*self.state.attitude).tolist()
        return w, x, y, z

    def pose(self) -> list[float]:
        """The 13 columns of a Pose."""
        state = self.state
        assert state is not None
        w, x, y, z = self.quaternion()
        return [
            *TO_WORLD.position(state.position).tolist(),
            *TO_WORLD.quaternion((x, y, z, w)).tolist(),
            *TO_WORLD.velocity(state.velocity).tolist(),
            *TO_WORLD.angular_rate(state.gyro).tolist(),
        ]

    def show(self, row: Floats, truth: bool) -> None:
        """Write what the plugin says itself into a row of sensor data."""
        state = self.state
        if state is None:
            return
        row[COLUMN["time_us"]] = row[COLUMN["imu_time_us"]] = self.time_us
        row[TRIPLES["gyro"]] = state.gyro
        row[TRIPLES["accel"]] = state.accel
        if truth:
            row[TRUTH] = [*state.position, *state.velocity, *self.quaternion()]
        self._show_optional(state, row)

    def _show_optional(self, state: State, row: Floats) -> None:
        for k, distance in enumerate(state.ranges[:RANGEFINDERS]):
            if distance is not None:
                row[COLUMN["range_1"] + k] = distance
                row[COLUMN["range_time_us"]] = self.time_us
        if state.airspeed is not None:
            row[COLUMN["airspeed"]] = state.airspeed
        if state.battery is not None:
            row[COLUMN["battery_voltage"]], row[COLUMN["battery_current"]] = state.battery
