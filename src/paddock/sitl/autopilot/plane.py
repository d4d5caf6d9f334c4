"""Planes: throttle, aileron, elevator, rudder."""

from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.autopilot.control.plane import FIRST_SERVO, PlaneMemory, PlaneSetpoint, plane_control, plane_gains
from paddock.sitl.autopilot.modes import find_modes
from paddock.sitl.autopilot.parameter_tables import PLANE
from paddock.sitl.autopilot.telemetry import Landed
from paddock.sitl.autopilot.vehicle import PWM_MID, PWM_MIN, VehicleControl
from paddock.sitl.sensor_data import Floats

FLYING_SHARE = 0.5  # of AIRSPEED_MIN: faster is flying


class Plane(VehicleControl):
    """A plane with control surfaces."""

    kind = "plane"
    mav_type = 1  # MAV_TYPE_FIXED_WING
    modes = find_modes("plane")
    first_mode = 0  # MANUAL
    return_mode = 11  # RTL
    stop_mode = hold_mode = 12  # LOITER
    parameters = PLANE
    control_period_us = 20_000
    channels = (  # aileron, elevator, throttle, rudder, as in ArduPilot
        *((1, 4, FIRST_SERVO, PWM_MID), (2, 19, FIRST_SERVO + 1, PWM_MID)),
        *((3, 70, 1, PWM_MIN), (4, 21, FIRST_SERVO + 2, PWM_MID)),
    )

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.setpoint = PlaneSetpoint()
        self.memory = PlaneMemory()
        self.refresh()

    def read_parameters(self) -> None:
        """Derive the gains."""
        self._gains = plane_gains(self.autopilot.parameters)

    def control(self, estimate: Floats, sensors: Floats, dt: float, commands: Floats) -> None:
        """Run the loops; a disarmed plane has centred surfaces and zero throttle."""
        self.refresh()
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
