"""The contract of a kind of craft: which modes it has, and how a setpoint becomes actuator commands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from paddock.sitl.autopilot.mode import Mode
from paddock.sitl.sensor_data import Floats

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.parameters import Parameter


class Craft(ABC):
    """One vehicle's control. Each kind has a setpoint of its own, which its modes write and its `control` reads."""

    kind: ClassVar[str]  # copter, rover, rover_ackermann, plane
    mav_type: ClassVar[int]  # MAV_TYPE
    modes: ClassVar[Mapping[int, type[Mode]]]
    first_mode: ClassVar[int]  # after boot
    return_mode: ClassVar[int]  # what failsafes and fences call RTL
    stop_mode: ClassVar[int]  # a copter's LAND, a rover's HOLD
    hold_mode: ClassVar[int]  # waits where it is: a copter's LOITER, a rover's HOLD
    parameters: ClassVar[tuple[Parameter, ...]]
    control_period_us: ClassVar[int]  # of `control`: 20000 for a rover, 4000 or less for a copter

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot

    @abstractmethod
    def control(self, estimate: Floats, sensors: Floats, dt: float, commands: Floats) -> None:
        """Write the actuator row (armed or not) for a row of Estimate and a row of SensorData; compiled inside."""

    @abstractmethod
    def relax(self) -> None:
        """Disarmed: forget integrators, the setpoint is rest."""

    @abstractmethod
    def update_landed(self, dt: float) -> None:
        """At 50 Hz: set `autopilot.telemetry.landed`, and disarm after a landing where the kind does that."""

    @abstractmethod
    def outputs(self, commands: Floats) -> list[int]:
        """The actuator row as PWM (us) of 16 channels, for SERVO_OUTPUT_RAW."""
