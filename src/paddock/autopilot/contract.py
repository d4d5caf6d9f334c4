"""The contract between the bridge and an autopilot: the built-in one, an ArduPilot, a PX4.

At an exchange the bridge offers each autopilot the sensors of its vehicle, then collects the answers: autopilots in
other processes work in parallel.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot.vehicle_data import ActuatorCommands, Floats, SensorData


@dataclass
class AutopilotStatus:
    """State of an autopilot, for the live table."""

    connected: bool = False  # it has sent data and has not timed out
    mode: str = ""
    armed: bool = False
    note: str = ""  # one line: what it waits for, or the problem
    exchanges: int = 0
    duplicates: int = 0  # frames received twice
    restarts: int = 0
    rejected: int = 0  # packets that could not be decoded


class AutopilotGroup(ABC):
    """Several autopilots of this process that answer an exchange together, in compiled code."""

    @abstractmethod
    def exchange(
        self, sensors: Floats, fresh: NDArray[np.int64] | None, fail: Callable[[int, Exception], None]
    ) -> Floats:
        """Take the sensor rows (n, SENSOR_WIDTH) and return the actuator rows of all, valid until the next call.

        `fresh`: the rows with new data; None: all. `fail(row, error)` reports an exception of one autopilot.
        """


class Autopilot(ABC):
    """The autopilot of one vehicle, as the bridge sees it. Called by the ticking thread only."""

    kind: ClassVar[str]

    def __init__(self) -> None:
        self.status = AutopilotStatus()
        self.sensor_period_us: int | None = None  # of the IMU, set by the bridge; None: a sample at every exchange
        self.on_restart: list[Callable[[], None]] = []  # called when its process has restarted

    @property
    @abstractmethod
    def live(self) -> bool:
        """Whether it has answered: the bridge waits only for a live autopilot."""

    @property
    @abstractmethod
    def period_us(self) -> int:
        """Simulated us from one exchange to the next."""

    def next_us(self, time_us: int) -> int:
        """Return the simulated time of the exchange after one at `time_us`: the next multiple of the period.

        An autopilot that counts the world's ticks returns their exact times instead.
        """
        return (time_us // self.period_us + 1) * self.period_us

    @abstractmethod
    def open(self) -> None:
        """Bind sockets, start; PaddockError of one line if it fails (port in use)."""

    @abstractmethod
    def close(self) -> None:
        """Release sockets and files."""

    @property
    def group_key(self) -> Hashable:
        """Autopilots with the same key may answer together; None: this one answers alone."""
        return None

    @classmethod
    def make_group(cls, autopilots: Sequence[Any]) -> AutopilotGroup:
        """Return the group of some autopilots with the same key; each still answers `offer` on its own."""
        raise NotImplementedError

    @abstractmethod
    def offer(self, sensors: SensorData) -> None:
        """Take the present sensor data, which is valid until the next call."""

    @abstractmethod
    def collect(self, timeout: float) -> ActuatorCommands | None:
        """Return its actuator commands, waiting at most `timeout` s (0: do not wait); None if it has not answered.

        After None the bridge collects again, without another `offer` while simulated time stands still.
        """

    @abstractmethod
    def reset(self) -> None:
        """Restart with the world, at time 0."""

    def diagnosis(self) -> str:
        """Return one line on why it did not answer in time, and what to check."""
        return "no answer"
