"""What a frame of ArduPilot means to a vehicle: which channel does what, and how such an ArduPilot is started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from paddock.errors import InvalidValueError
from paddock.sitl.sensor_data import Floats

THRUST_EXPO = 0.65
"""MOT_THST_EXPO of the stock parameters: ArduPilot expects this curve between its output and the thrust."""

ROOM = 1.0 + 1e-9
"""For rounding: 1/720 s is not too long for 720 Hz."""


@dataclass(frozen=True)
class Frame:
    """One kind of vehicle, as ArduPilot's stock parameters wire it."""

    name: str
    summary: str
    craft: str  # the craft of `Placed`: copter, rover, rover_ackermann, plane
    vehicle: str  # of sim_vehicle.py -v
    binary: str
    sim_frame: str  # of sim_vehicle.py -f
    defaults: tuple[str, ...]  # parameter files of Tools/autotest/default_params
    apply: Callable[[Sequence[int], Floats], None]  # PWM of the channels -> row of ActuatorCommands
    outputs: Callable[[Floats], tuple[int, ...]]  # the other way, as ArduPilot would send it
    longest_dt: float | None = None  # s, of a world in which it can fly
    own_parameters: str = ""  # a file of ours that goes on top of the defaults
    caution: str = ""  # what else has to fit, in one line

    def check_dt(self, dt: float) -> None:
        """Refuse a world whose step is too long for this autopilot."""
        if self.longest_dt is not None and dt > self.longest_dt * ROOM:
            raise InvalidValueError(
                f"ArduPilot {self.name}: a world step of {dt:g} s gives it {1.0 / dt:.6g} IMU samples per second, too "
                f"few to arm; set clock rate to at least {1.0 / self.longest_dt:.6g} Hz (1200 suits)"
            )


def thrust_share(pwm: int) -> float:
    """Share of full thrust, 0 to 1, of a motor output; 0 us is no output."""
    u = min(max((pwm - 1000) * 1e-3, 0.0), 1.0)
    return (1.0 - THRUST_EXPO) * u + THRUST_EXPO * u * u


def thrust_pwm(share: float) -> int:
    """The output at which a motor has that share of full thrust: `thrust_share` the other way round."""
    s = min(max(share, 0.0), 1.0)
    linear = 1.0 - THRUST_EXPO
    return 1000 + round(500.0 * (sqrt(linear * linear + 4.0 * THRUST_EXPO * s) - linear) / THRUST_EXPO)


def deflection(pwm: int) -> float:
    """-1 to 1 of an output whose middle is 1500 us; 0 us is no output: 0."""
    return min(max((pwm - 1500) * 2e-3, -1.0), 1.0) if pwm else 0.0


def deflection_pwm(value: float) -> int:
    """1000 to 2000 us of -1 to 1."""
    return 1500 + round(500.0 * min(max(value, -1.0), 1.0))


def throttle(pwm: int) -> float:
    """0 to 1 of an output from 1000 to 2000 us."""
    return min(max((pwm - 1000) * 1e-3, 0.0), 1.0)


def throttle_pwm(value: float) -> int:
    """1000 to 2000 us of 0 to 1."""
    return 1000 + round(1000.0 * min(max(value, 0.0), 1.0))
