"""Rovers: skid-steered (a motor on each side), or with Ackermann steering (a motor and a steering servo)."""

from paddock.sitl.actuators import MOTORS
from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.autopilot.control.rover import RoverMemory, RoverSetpoint, rover_control, rover_gains
from paddock.sitl.autopilot.control.rover_path import RoverDriver, Trail
from paddock.sitl.autopilot.modes import find_modes
from paddock.sitl.autopilot.parameter_tables import ROVER
from paddock.sitl.autopilot.telemetry import Landed
from paddock.sitl.autopilot.vehicle import PWM_MID, VehicleControl
from paddock.sitl.sensor_data import Floats


class Rover(VehicleControl):
    """A skid-steered rover, which can turn on the spot."""

    kind = "rover"
    mav_type = 10  # MAV_TYPE_GROUND_ROVER
    modes = find_modes("rover")
    first_mode = 0  # MANUAL
    return_mode = 11  # RTL
    stop_mode = hold_mode = 4  # HOLD
    parameters = ROVER
    control_period_us = 20_000
    channels = ((1, 73, 1, PWM_MID), (3, 74, 2, PWM_MID))  # left, right, as in ArduPilot's skid-steered rovers
    pivots = True

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.setpoint = RoverSetpoint()
        self.memory = RoverMemory()
        self.driver = RoverDriver(self)
        self.trail = Trail(0, 1.0, (0.0, 0.0))
        self._was_armed = False
        self.refresh()

    def read_parameters(self) -> None:
        """Derive gains and limits."""
        parameters = self.autopilot.parameters
        self._gains = rover_gains(parameters, self.pivots)
        self.driver.read_parameters(parameters)

    @property
    def min_turn_radius(self) -> float:
        """Radius of the tightest turn while driving, m: of a steered axle as learned or from TURN_RADIUS."""
        return 0.0 if self.pivots else 1.0 / (self.memory.turn_gain or self._gains.turn_gain)

    def control(self, estimate: Floats, sensors: Floats, dt: float, commands: Floats) -> None:
        """Run the inner loops; the motors of a disarmed rover are off."""
        self.refresh()
        setpoint = self.setpoint if self.autopilot.armed else RoverSetpoint()
        self.memory = rover_control(setpoint, self._gains, self.memory, estimate, dt, commands)

    def reset_control(self) -> None:
        """Reset setpoint and integrators; learned gains are kept."""
        self.setpoint = RoverSetpoint()
        self.memory = RoverMemory(speed_gain=self.memory.speed_gain, turn_gain=self.memory.turn_gain)
        self.driver.pivoting = False

    def update_landed(self, dt: float) -> None:
        """Report ON_GROUND; record the path for SMARTRTL while armed."""
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
            self.trail = Trail(p.whole("SRTL_POINTS"), p.value("SRTL_ACCURACY"), position)
        self.trail.add(position)


class AckermannRover(Rover):
    """A rover with a steered axle: it turns only while it drives."""

    kind = "rover_ackermann"
    pivots = False
    channels = ((1, 26, 1 + MOTORS, PWM_MID), (3, 70, 1, PWM_MID))  # steering, throttle, as in ArduPilot's rovers
