"""Rovers: skid-steered (a motor for each side), or with Ackermann steering (a motor and a steering servo)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.sitl.actuators import MOTORS
from paddock.sitl.autopilot.control.rover_driver import Driver, limits
from paddock.sitl.autopilot.control.rover_parameters import ROVER_PARAMETERS, gains
from paddock.sitl.autopilot.control.rover_rates import Memory, Setpoint, rover_control
from paddock.sitl.autopilot.control.rover_trail import Trail
from paddock.sitl.autopilot.craft import Craft
from paddock.sitl.autopilot.modes.rover import ROVER_MODES
from paddock.sitl.autopilot.modes.rover.driving import DrivingMode
from paddock.sitl.autopilot.telemetry import Landed
from paddock.sitl.sensor_data import Floats

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

GROUND_ROVER = 10  # MAV_TYPE
CENTRE, SPAN = 1500, 500  # us


class Rover(Craft):
    """A skid-steered rover: it can turn on the spot."""

    kind = "rover"
    mav_type = GROUND_ROVER
    modes = ROVER_MODES
    first_mode = 0  # MANUAL
    return_mode = 11  # RTL
    stop_mode = hold_mode = 4  # HOLD
    parameters = ROVER_PARAMETERS
    control_period_us = 20_000
    pivots = True

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.setpoint = Setpoint()
        self.memory = Memory()
        self.driver = Driver(self)
        self.trail = Trail(0, 1.0)
        self._was_armed = False
        self._read_parameters()
        autopilot.estimator.on_jump = self.shift

    def _read_parameters(self) -> None:
        parameters = self.autopilot.parameters
        self._changes = parameters.changes
        self._gains = gains(parameters, self.pivots)
        self.driver.limits = limits(parameters)

    @property
    def smallest_circle(self) -> float:
        """m: the radius of the tightest turn while driving."""
        return 0.0

    def control(self, estimate: Floats, sensors: Floats, dt: float, commands: Floats) -> None:
        """The inner loops; a disarmed rover rests."""
        if self._changes != self.autopilot.parameters.changes:
            self._read_parameters()
        setpoint = self.setpoint if self.autopilot.armed else Setpoint()
        self.memory = rover_control(setpoint, self._gains, self.memory, estimate, dt, commands)

    def shift(self, north: float, east: float, down: float) -> None:
        """The estimate has jumped by so much (m), the rover has not: what it holds jumps too."""
        if isinstance(self.autopilot.mode, DrivingMode):
            self.autopilot.mode.shift(north, east)

    def relax(self) -> None:
        """Rest; what was learnt about the motors stays."""
        self.setpoint = Setpoint()
        self.memory = Memory(speed_gain=self.memory.speed_gain, turn_gain=self.memory.turn_gain)
        self.driver.pivoting = False

    def update_landed(self, dt: float) -> None:
        """Always on the ground. Keeps the trail for SMARTRTL while armed."""
        autopilot = self.autopilot
        autopilot.telemetry.landed = Landed.ON_GROUND
        autopilot.telemetry.throttle = abs(self.memory.throttle)
        position = (autopilot.estimate.north, autopilot.estimate.east)
        if not autopilot.armed or not autopilot.estimate.position_ok:
            self._was_armed = self._was_armed and autopilot.armed
            return
        if not self._was_armed:
            self._was_armed = True
            p = autopilot.parameters
            self.trail = Trail(p.whole("SRTL_POINTS"), p.value("SRTL_ACCURACY"))
            self.trail.begin(position)
        self.trail.add(position)

    def outputs(self, commands: Floats) -> list[int]:
        """Channel 1 left, 3 right, as ArduPilot's skid-steered rovers have them."""
        return _channels(commands[1], commands[2])


class AckermannRover(Rover):
    """A rover with a steered axle: it turns only while it drives."""

    kind = "rover_ackermann"
    pivots = False

    @property
    def smallest_circle(self) -> float:
        """m: as learnt, or as TURN_RADIUS says."""
        return 1.0 / (self.memory.turn_gain or self._gains.turn_gain)

    def outputs(self, commands: Floats) -> list[int]:
        """Channel 1 steering, 3 throttle, as ArduPilot's rovers have them."""
        return _channels(commands[1 + MOTORS], commands[1])


def _channels(first: float, third: float) -> list[int]:
    pwm = [0] * 16
    pwm[0], pwm[2] = round(CENTRE + SPAN * first), round(CENTRE + SPAN * third)
    return pwm
