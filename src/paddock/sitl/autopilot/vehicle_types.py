"""The vehicle types: copters, rovers (skid-steered or Ackermann) and planes."""

import numpy as np

from paddock.sitl.actuators import MOTORS
from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.autopilot.control import copter as at
from paddock.sitl.autopilot.control.copter import control_period, write_gains
from paddock.sitl.autopilot.control.copter_path import CopterHeading, CopterTrack
from paddock.sitl.autopilot.control.plane import FIRST_SERVO, PlaneMemory, PlaneSetpoint, plane_control, plane_gains
from paddock.sitl.autopilot.control.rover import RoverMemory, RoverSetpoint, rover_control, rover_gains
from paddock.sitl.autopilot.control.rover_path import RoverDriver, Trail
from paddock.sitl.autopilot.modes import find_modes
from paddock.sitl.autopilot.parameter_tables import COPTER, PLANE, ROVER
from paddock.sitl.autopilot.telemetry import Landed, Severity
from paddock.sitl.autopilot.vehicle import PWM_MID, PWM_MIN, VehicleControl
from paddock.sitl.sensor_data import Floats

GROUND_TIME = 1.0  # s without motion and with little thrust: landed
STOP_TIME = 0.1  # s from landing to disarming in modes that land: the mission notes the landing in between
CARRIED = 0.6  # share of the hover thrust below which the ground must carry the rest
STILL_CLIMB, STILL_SPEED = 0.3, 1.0  # m/s
MIN_PILOT_THRUST = 0.35  # share of the hover thrust below which STABILIZE counts as landed


class Copter(VehicleControl):
    """A quadrotor X; mass and motors are unknown to it."""

    kind = "copter"
    mav_type = 2  # MAV_TYPE_QUADROTOR
    modes = find_modes("copter")
    first_mode = 0  # STABILIZE
    return_mode = 6  # RTL
    stop_mode = 9  # LAND
    hold_mode = 5  # LOITER
    parameters = COPTER
    control_period_us = 4000
    channels = tuple((motor, 32 + motor, motor, PWM_MIN) for motor in (1, 2, 3, 4))

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.setpoint: Floats = np.zeros(at.SETPOINT_WIDTH)
        self.gains: Floats = np.zeros(at.GAINS_WIDTH)
        self.memory: Floats = np.zeros(at.MEMORY_WIDTH)
        self.memory[at.HOVER] = autopilot.parameters.value("MOT_THST_HOVER")
        self.track, self.heading = CopterTrack(), CopterHeading()
        self.landed = True
        self._still = 0.0  # s without motion
        self._grounded = 0.0  # s on the ground with idle motors
        self._flown = False  # since arming

    def read_parameters(self) -> None:
        """Write the gains of the compiled control."""
        write_gains(self.autopilot.parameters, self.gains)

    def control(self, estimate: Floats, sensors: Floats, dt: float, commands: Floats) -> None:
        """Write motors 1 to 4 for the setpoint; stopped while disarmed."""
        self.refresh()
        armed = self.autopilot.armed
        if not armed:
            self.setpoint[at.SPOOL] = at.SHUT
        control_period(self.setpoint, self.gains, self.memory, estimate, dt, commands[1:5])
        commands[0] = armed

    def reset_control(self) -> None:
        """Reset setpoint and landing detection; save the learned hover thrust."""
        parameters = self.autopilot.parameters
        if self._flown and parameters.value("MOT_HOVER_LEARN") >= 2:
            parameters.set("MOT_THST_HOVER", self.hover)
        self.memory[at.HOVER] = parameters.value("MOT_THST_HOVER")
        self.setpoint[:] = 0.0
        self.landed, self._still, self._grounded, self._flown = True, 0.0, 0.0, False

    @property
    def hover(self) -> float:
        """Learned hover thrust, as a share of full thrust."""
        return float(self.memory[at.HOVER])

    @property
    def airborne(self) -> bool:
        """Whether the motors carry the weight, judging by the thrust."""
        return bool(self.memory[at.PHASE] == at.AIRBORNE)

    def begin(self) -> None:
        """Start track and heading from the current motion."""
        self.track.begin(self.autopilot.estimate)
        self.heading.begin(self.autopilot.estimate)

    def idle(self) -> None:
        """Stand on the ground with idle motors."""
        self.setpoint[:] = 0.0
        self.setpoint[at.SPOOL] = at.IDLE
        self.begin()

    def follow(self) -> None:
        """Follow the track."""
        track = self.track
        self.setpoint[at.HORIZONTAL], self.setpoint[at.VERTICAL] = at.ALONG, at.HEIGHT
        self.setpoint[at.NORTH : at.AD + 1] = (
            *(track.north, track.east, track.down, track.vn, track.ve, track.vd),
            *(track.an, track.ae, track.ad),
        )
        self.setpoint[at.ROLL], self.setpoint[at.PITCH] = 0.0, 0.0
        self.setpoint[at.SPOOL] = at.FLY
        self.setpoint[at.YAW], self.setpoint[at.YAW_RATE] = self.heading.yaw, self.heading.rate

    def lean(self, roll: float, pitch: float) -> None:
        """Lean (rad) at the track's altitude."""
        self.follow()
        self.setpoint[at.HORIZONTAL] = at.LEAN
        self.setpoint[at.ROLL], self.setpoint[at.PITCH] = roll, pitch

    def push(self, roll: float, pitch: float, share: float) -> None:
        """Lean (rad) with a share of full thrust."""
        self.lean(roll, pitch)
        self.setpoint[at.VERTICAL], self.setpoint[at.SHARE] = at.THRUST, share

    def shift(self, north: float, east: float, down: float) -> None:
        """Handle a jump of the estimate by m: positions held in the world move along."""
        self.track.shift(north, east, down)
        self.setpoint[at.NORTH : at.DOWN + 1] += (north, east, down)
        super().shift(north, east, down)

    def update_landed(self, dt: float) -> None:
        """Detect landings; disarm after DISARM_DELAY, or immediately in a mode that lands."""
        autopilot = self.autopilot
        mode, telemetry, flies = autopilot.mode, autopilot.telemetry, self.setpoint[at.SPOOL] == at.FLY
        if not autopilot.armed:
            self.landed, self._still, self._grounded = True, 0.0, 0.0
        else:
            self._still = self._still + dt if self._looks_landed() else 0.0
            if not flies or self._still >= GROUND_TIME:
                self.landed = True
            elif self.airborne and self._still == 0.0:
                self.landed, self._flown = False, True
        ground = Landed.TAKEOFF if self.memory[at.PHASE] == at.RISING else Landed.ON_GROUND
        telemetry.landed = ground if self.landed else mode.stage
        telemetry.throttle = float(self.memory[at.COLLECTIVE])
        telemetry.nav_roll, telemetry.nav_pitch = self.memory[[at.WANTED_ROLL, at.WANTED_PITCH]].tolist()
        if autopilot.armed and self.landed:
            self._grounded = 0.0 if flies else self._grounded + dt
            ends = mode.lands and self._grounded >= STOP_TIME
            if ends or 0.0 < autopilot.parameters.value("DISARM_DELAY") <= self._grounded:
                autopilot.send_text(Severity.INFO, "Landed: Disarming")
                autopilot.disarm(force=True)

    def _looks_landed(self) -> bool:
        estimate = self.autopilot.estimate
        moves = estimate.position_ok and np.hypot(estimate.vn, estimate.ve) > STILL_SPEED
        if abs(estimate.vd) > STILL_CLIMB or moves:
            return False
        share, sink = self.memory[[at.COLLECTIVE, at.SINK]].tolist()
        if self.setpoint[at.VERTICAL] == at.THRUST:
            return bool(share < MIN_PILOT_THRUST * self.hover)
        return bool(sink > STILL_CLIMB and share < CARRIED * self.hover)


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


VEHICLE_TYPES: dict[str, type[VehicleControl]] = {each.kind: each for each in (Copter, Rover, AckermannRover, Plane)}
