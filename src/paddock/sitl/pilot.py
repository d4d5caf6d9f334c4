"""The contract between the bridge and whatever flies a vehicle: the built-in autopilot, an ArduPilot, a PX4.

At its time the bridge offers every pilot the sensors of its vehicle, then collects the answers: pilots in other
processes work at the same time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.sensor_data import SensorData

DEBUGGING = "for one in a debugger, --on-timeout hold has the world wait"
"""What to do about an autopilot that is silent on purpose."""


@dataclass
class PilotStatus:
    """What the live table shows of a pilot."""

    connected: bool = False  # whether it has been heard and is not silent now
    mode: str = ""
    armed: bool = False
    note: str = ""  # one line: waiting for whom, what went wrong
    exchanges: int = 0
    duplicates: int = 0  # frames that were sent again
    restarts: int = 0
    rejected: int = 0  # packets that could not be understood


class Pilot(ABC):
    """One vehicle's autopilot, seen from the bridge. Called by the ticking thread only."""

    kind: ClassVar[str]

    def __init__(self) -> None:
        self.status = PilotStatus()
        self.sensor_period_us: int | None = None  # of the IMU, as the adapter says; None: a sample at every exchange
        self.on_restart: Callable[[], None] = lambda: None  # called when its process has begun anew

    @property
    @abstractmethod
    def live(self) -> bool:
        """Whether it is there: only a pilot that has spoken is waited for."""

    @property
    @abstractmethod
    def period_us(self) -> int:
        """Simulated us from one exchange to the next."""

    def next_us(self, time_us: int) -> int:
        """The simulated time of the exchange after one at `time_us`: the next multiple of the period.

        A pilot that counts the world's ticks says their exact times instead, which need not be such multiples.
        """
        return (time_us // self.period_us + 1) * self.period_us

    @abstractmethod
    def open(self) -> None:
        """Bind sockets, start; PaddockError in one line if that cannot be (port taken)."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""

    @abstractmethod
    def offer(self, sensors: SensorData) -> None:
        """What the vehicle perceives now; valid until the next call."""

    @abstractmethod
    def collect(self, timeout: float) -> ActuatorCommands | None:
        """What it wants, waiting at most `timeout` s (0: do not wait); None if it has not answered.

        With None the bridge asks again, without another `offer` as long as simulated time stands still.
        """

    @abstractmethod
    def reset(self) -> None:
        """The world has begun anew."""

    def diagnosis(self) -> str:
        """One line for a pilot that did not answer in time: what is known, what to check."""
        return "no answer"
