"""Aeroplanes: throttle, aileron, elevator, rudder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.sitl.autopilot.control.plane import FIRST_SERVO, Memory, Setpoint, plane_control
from paddock.sitl.autopilot.control.plane_parameters import PLANE_PARAMETERS, gains
from paddock.sitl.autopilot.craft import Craft
from paddock.sitl.autopilot.modes.plane import PLANE_MODES
from paddock.sitl.autopilot.telemetry import Landed
from paddock.sitl.sensor_data import Floats

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

FIXED_WING = 1  # MAV_TYPE
CENTRE, SPAN, LEAST, WHOLE = 1500, 500, 1000, 1000  # us
FLYING_SHARE = 0.5  # of the slowest airspeed: slower is not flying


class Plane(Craft):
    """An aeroplane that is steered by its surfaces."""

    kind = "plane"
    mav_type = FIXED_WING
    modes = PLANE_MODES
    first_mode = 0  # MANUAL
    return_mode = 11  # RTL
    stop_mode = hold_mode = 12  # LOITER: it cannot stop in the air
    parameters = PLANE_PARAMETERS
    control_period_us = 20_000

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.setpoint = Setpoint()
        self.memory = Memory()
        self._read_parameters()

    def _read_parameters(self) -> None:
        self._changes = self.autopilot.parameters.changes
        self._gains = gains(self.autopilot.parameters)

    def control(self, estimate: Floats, sensors: Floats, dt: float, commands: Floats) -> None:
        """The loops; a disarmed aeroplane has its surfaces in the middle and its engine idle."""
        if self._changes != self.autopilot.parameters.changes:
            self._read_parameters()
        setpoint = self.setpoint if self.autopilot.armed else Setpoint()
        self.memory = plane_control(setpoint, self._gains, self.memory, estimate, sensors, dt, commands)

    def relax(self) -> None:
        """Forget the integrals; sticks in the middle."""
        self.setpoint = Setpoint()
        self.memory = Memory()

    def update_landed(self, dt: float) -> None:
        """In the air while it is faster than an aeroplane rolls."""
        autopilot, telemetry = self.autopilot, self.autopilot.telemetry
        fast = self.memory.speed > FLYING_SHARE * autopilot.parameters.value("AIRSPEED_MIN")
        telemetry.landed = Landed.IN_AIR if fast else Landed.ON_GROUND
        telemetry.throttle = float(autopilot.commands[1])
        telemetry.nav_roll, telemetry.nav_pitch = self.memory.roll, self.memory.pitch
        if self.setpoint.speed > 0.0:
            telemetry.altitude_error = autopilot.estimate.down - self.setpoint.down
            telemetry.speed_error = self.setpoint.speed - self.memory.speed

    def outputs(self, commands: Floats) -> list[int]:
        """Channels 1 aileron, 2 elevator, 3 throttle, 4 rudder, as ArduPilot has them."""
        pwm = [0] * 16
        for channel, servo in ((0, 0), (1, 1), (3, 2)):
            pwm[channel] = round(CENTRE + SPAN * commands[FIRST_SERVO + servo])
        pwm[2] = round(LEAST + WHOLE * commands[1])
        return pwm
