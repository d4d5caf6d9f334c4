"""Planes: throttle, aileron, elevator, rudder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.sitl.autopilot.control.plane import FIRST_SERVO, PlaneMemory, PlaneSetpoint, plane_control, plane_gains
from paddock.sitl.autopilot.modes.plane import PLANE_MODES
from paddock.sitl.autopilot.parameter_tables import PLANE
from paddock.sitl.autopilot.telemetry import Landed
from paddock.sitl.autopilot.vehicle import VehicleControl
from paddock.sitl.sensor_data import Floats

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

PWM_MIN, PWM_MID = 1000, 1500  # us
FLYING_SHARE = 0.5  # of AIRSPEED_MIN: faster is flying


class Plane(VehicleControl):
    """A plane with control surfaces."""

    kind = "plane"
    mav_type = 1  # MAV_TYPE_FIXED_WING
    modes = PLANE_MODES
    first_mode = 0  # MANUAL
    return_mode = 11  # RTL
    stop_mode = hold_mode = 12  # LOITER
    parameters = PLANE
    control_period_us = 20_000

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.setpoint = PlaneSetpoint()
        self.memory = PlaneMemory()
        self._read_parameters()

    def _read_parameters(self) -> None:
        self._changes = self.autopilot.parameters.changes
        self._gains = plane_gains(self.autopilot.parameters)

    def control(self, estimate: Floats, sensors: Floats, dt: float, commands: Floats) -> None:
        """Run the loops; a disarmed plane has centred surfaces and zero throttle."""
        if self._changes != self.autopilot.parameters.changes:
            self._read_parameters()
        setpoint = self.setpoint if self.autopilot.armed else PlaneSetpoint()
        self.memory = plane_control(setpoint, self._gains, self.memory, estimate, sensors, dt, commands)

    def reset_control(self) -> None:
        """Reset setpoint and integrators."""
        self.setpoint = PlaneSetpoint()
        self.memory = PlaneMemory()

    def update_landed(self, dt: float) -> None:
        """Count as flying above a share of AIRSPEED_MIN."""
        autopilot, telemetry = self.autopilot, self.autopilot.telemetry
        fast = self.memory.speed > FLYING_SHARE * autopilot.parameters.value("AIRSPEED_MIN")
        telemetry.landed = Landed.IN_AIR if fast else Landed.ON_GROUND
        telemetry.throttle = float(autopilot.commands[1])
        telemetry.nav_roll, telemetry.nav_pitch = self.memory.roll, self.memory.pitch
        if self.setpoint.speed > 0.0:
            telemetry.altitude_error = autopilot.estimate.down - self.setpoint.down
            telemetry.speed_error = self.setpoint.speed - self.memory.speed

    def outputs(self, commands: Floats) -> list[int]:
        """Return channels 1 aileron, 2 elevator, 3 throttle, 4 rudder, as in ArduPilot."""
        pwm = [0] * 16
        for channel, servo in ((0, 0), (1, 1), (3, 2)):
            pwm[channel] = round(PWM_MID + 500 * commands[FIRST_SERVO + servo])
        pwm[2] = round(PWM_MIN + 1000 * commands[1])
        return pwm
