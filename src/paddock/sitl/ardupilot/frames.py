"""ArduPilot frames: what each output channel drives, and the command lines that start such an ArduPilot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import degrees, sqrt
from pathlib import Path
from typing import NamedTuple

from paddock.errors import InvalidValueError, unknown_name
from paddock.sitl.actuators import MOTORS
from paddock.sitl.sensor_data import Floats
from paddock.world.geodesy import Origin

THRUST_EXPO = 0.65
"""MOT_THST_EXPO of the stock parameters: the curve that ArduPilot expects between its output and the thrust."""
ROUNDING = 1.0 + 1e-9
"""1/720 s is not too long for 720 Hz."""
LEVER = sqrt(2.0) / 4.0
"""An arm at 45 degrees has 1/sqrt(2) of the lever of a plus, and four motors share the work of two."""

JSON_PORT = 9002
MAVLINK_PORT = 5760
PORT_STEP = 10
"""Port offset from one ArduPilot instance to the next."""
PARAMETERS = "Tools/autotest/default_params"


@dataclass(frozen=True)
class ArduPilotFrame:
    """One kind of vehicle as ArduPilot's stock parameters wire it."""

    name: str
    summary: str
    craft: str  # the craft of `Placed`: copter, rover, rover_ackermann, plane
    vehicle: str  # sim_vehicle.py -v
    binary: str
    sim_frame: str  # sim_vehicle.py -f
    defaults: tuple[str, ...]  # parameter files in Tools/autotest/default_params
    apply: Callable[[Sequence[int], Floats], None]  # PWM of the channels -> row of ActuatorCommands
    outputs: Callable[[Floats], tuple[int, ...]]  # the inverse: the PWM that ArduPilot would send
    longest_dt: float | None = None  # s, longest world step with which it arms
    own_parameters: str = ""  # file of this package that goes on top of the defaults
    caution: str = ""  # one line on what else must match

    def check_dt(self, dt: float) -> None:
        """Refuse a world step that is too long for this autopilot."""
        if self.longest_dt is not None and dt > self.longest_dt * ROUNDING:
            raise InvalidValueError(
                f"ArduPilot {self.name}: a world step of {dt:g} s gives it {1.0 / dt:.6g} IMU samples per second, too "
                f"few to arm; set clock rate to at least {1.0 / self.longest_dt:.6g} Hz (1200 suits)"
            )


# pulse widths ---------------------------------------------------------------------------------------------------------


def thrust_share(pwm: int) -> float:
    """Return the share of full thrust, 0 to 1, of a motor output; 0 us is no output."""
    u = min(max((pwm - 1000) * 1e-3, 0.0), 1.0)
    return (1.0 - THRUST_EXPO) * u + THRUST_EXPO * u * u


def thrust_pwm(share: float) -> int:
    """Return the motor output for a share of full thrust: the inverse of `thrust_share`."""
    s = min(max(share, 0.0), 1.0)
    linear = 1.0 - THRUST_EXPO
    return 1000 + round(500.0 * (sqrt(linear * linear + 4.0 * THRUST_EXPO * s) - linear) / THRUST_EXPO)


def deflection(pwm: int) -> float:
    """Return -1 to 1 of an output centred at 1500 us; no output (0 us) is 0."""
    return min(max((pwm - 1500) * 2e-3, -1.0), 1.0) if pwm else 0.0


def deflection_pwm(value: float) -> int:
    """Return 1000 to 2000 us for -1 to 1."""
    return 1500 + round(500.0 * min(max(value, -1.0), 1.0))


def throttle(pwm: int) -> float:
    """Return 0 to 1 of an output from 1000 to 2000 us."""
    return min(max((pwm - 1000) * 1e-3, 0.0), 1.0)


def throttle_pwm(value: float) -> int:
    """Return 1000 to 2000 us for 0 to 1."""
    return 1000 + round(1000.0 * min(max(value, 0.0), 1.0))


# copters: a disarmed ArduPilot holds its motors at 1000 us or sends nothing -------------------------------------------


def _apply_copter(pwm: Sequence[int], row: Floats) -> None:
    row[0] = max(pwm[:4]) > 1000
    row[1] = thrust_share(pwm[0])
    row[2] = thrust_share(pwm[1])
    row[3] = thrust_share(pwm[2])
    row[4] = thrust_share(pwm[3])


def _copter_outputs(row: Floats) -> tuple[int, ...]:
    return tuple(thrust_pwm(share) if row[0] > 0.5 else 1000 for share in row[1:5].tolist())


def _apply_plus(pwm: Sequence[int], row: Floats) -> None:
    """Motors of a plus: 1 right and 2 left (counter-clockwise), 3 front and 4 rear (clockwise).

    The X gets the same thrust and torques, with arms of the same length.
    """
    right, left, front, rear = (thrust_share(channel) for channel in pwm[:4])
    roll, pitch = (left - right) * LEVER, (front - rear) * LEVER
    row[0] = max(pwm[:4]) > 1000
    counter_clockwise, clockwise = (right + left) * 0.5, (front + rear) * 0.5
    row[1] = min(max(counter_clockwise - roll + pitch, 0.0), 1.0)  # front right
    row[2] = min(max(counter_clockwise + roll - pitch, 0.0), 1.0)  # rear left
    row[3] = min(max(clockwise + roll + pitch, 0.0), 1.0)  # front left
    row[4] = min(max(clockwise - roll - pitch, 0.0), 1.0)  # rear right


def _plus_outputs(row: Floats) -> tuple[int, ...]:
    front_right, rear_left, front_left, rear_right = row[1:5].tolist()
    roll = (front_left + rear_left - front_right - rear_right) * 0.25 / LEVER
    pitch = (front_left + front_right - rear_left - rear_right) * 0.25 / LEVER
    counter_clockwise, clockwise = (front_right + rear_left) * 0.5, (front_left + rear_right) * 0.5
    shares = (
        counter_clockwise - roll * 0.5,
        counter_clockwise + roll * 0.5,
        clockwise + pitch * 0.5,
        clockwise - pitch * 0.5,
    )
    return tuple(thrust_pwm(share) if row[0] > 0.5 else 1000 for share in shares)


# rovers: channel 1 steering (+ right) and 3 throttle, or 1 left side and 3 right side; 1500 us stands -----------------


def _apply_rover(pwm: Sequence[int], row: Floats) -> None:
    row[0] = pwm[2] > 0
    row[1] = deflection(pwm[2])
    row[1 + MOTORS] = deflection(pwm[0])


def _rover_outputs(row: Floats) -> tuple[int, ...]:
    return deflection_pwm(row[1 + MOTORS]), 0, deflection_pwm(row[1] if row[0] > 0.5 else 0.0)


def _apply_skid(pwm: Sequence[int], row: Floats) -> None:
    row[0] = pwm[0] > 0 or pwm[2] > 0
    row[1] = deflection(pwm[0])
    row[2] = deflection(pwm[2])


def _skid_outputs(row: Floats) -> tuple[int, ...]:
    left, right = (row[1], row[2]) if row[0] > 0.5 else (0.0, 0.0)
    return deflection_pwm(left), 0, deflection_pwm(right)


# planes: channels 1 aileron, 2 elevator, 3 throttle, 4 rudder; above 1500 us rolls right, pulls up, yaws right --------


def _apply_plane(pwm: Sequence[int], row: Floats) -> None:
    row[0] = pwm[2] > 0
    row[1] = throttle(pwm[2])
    row[1 + MOTORS] = deflection(pwm[0])
    row[2 + MOTORS] = deflection(pwm[1])
    row[3 + MOTORS] = deflection(pwm[3])


def _plane_outputs(row: Floats) -> tuple[int, ...]:
    aileron, elevator, rudder = (deflection_pwm(value) for value in row[1 + MOTORS : 4 + MOTORS].tolist())
    return aileron, elevator, throttle_pwm(row[1] if row[0] > 0.5 else 0.0), rudder


# the frames -----------------------------------------------------------------------------------------------------------

COPTER = ArduPilotFrame(
    name="copter",
    summary="quadrotor X (FRAME_CLASS 1, FRAME_TYPE 1)",
    craft="copter",
    vehicle="ArduCopter",
    binary="arducopter",
    sim_frame="quad",
    defaults=("copter.parm",),
    apply=_apply_copter,
    outputs=_copter_outputs,
    longest_dt=1.0 / 720.0,  # it arms with an IMU at 1.8 times its loop of 400 Hz, or faster
    own_parameters="copter_x.parm",  # the stock file is for a plus frame
    caution="copter.parm without copter_x.parm is a plus (FRAME_TYPE 0), which tumbles here: for it use copter-plus",
)
COPTER_PLUS = replace(
    COPTER,
    name="copter-plus",
    summary="quadrotor plus, as the stock copter.parm has it (FRAME_CLASS 1, FRAME_TYPE 0)",
    apply=_apply_plus,
    outputs=_plus_outputs,
    own_parameters="",
    caution="FRAME_TYPE 1 (X) in parameters of your own tumbles here: for it use copter",
)
ROVER = ArduPilotFrame(
    name="rover",
    summary="rover with steered front wheels (SERVO1 GroundSteering, SERVO3 Throttle)",
    craft="rover_ackermann",
    vehicle="Rover",
    binary="ardurover",
    sim_frame="rover",
    defaults=("rover.parm",),
    apply=_apply_rover,
    outputs=_rover_outputs,
)
ROVER_SKID = ArduPilotFrame(
    name="rover-skid",
    summary="skid-steer rover (SERVO1 ThrottleLeft, SERVO3 ThrottleRight)",
    craft="rover",
    vehicle="Rover",
    binary="ardurover",
    sim_frame="rover-skid",
    defaults=("rover.parm", "rover-skid.parm"),
    apply=_apply_skid,
    outputs=_skid_outputs,
)
PLANE = ArduPilotFrame(
    name="plane",
    summary="fixed wing with aileron, elevator, throttle, rudder on channels 1 to 4",
    craft="plane",
    vehicle="ArduPlane",
    binary="arduplane",
    sim_frame="plane",
    defaults=("plane.parm",),
    apply=_apply_plane,
    outputs=_plane_outputs,
)
FRAMES = {frame.name: frame for frame in (COPTER, COPTER_PLUS, ROVER, ROVER_SKID, PLANE)}
"""By the name that users write."""
FRAME_OF_CRAFT = {"copter": "copter", "rover": "rover-skid", "rover_ackermann": "rover", "plane": "plane"}
"""Default frame of each craft."""


def find_frame(name: str) -> ArduPilotFrame:
    """Return the frame of that name."""
    if name not in FRAMES:
        raise unknown_name("ArduPilot frame", name, FRAMES)
    return FRAMES[name]


# how to start one -----------------------------------------------------------------------------------------------------


class ArduPilotLaunch(NamedTuple):
    """Command lines for one instance, and where to connect."""

    home: str  # --home: latitude, longitude, altitude, heading in deg
    sim_vehicle: str  # in a checkout of ArduPilot
    binary: str  # the same without sim_vehicle.py
    mavlink: str  # where a ground station connects
    caution: str = ""  # what else must match

    def lines(self) -> list[str]:
        """Return the lines to print."""
        return [
            f"start:    {self.sim_vehicle}",
            f"or:       {self.binary}",
            f"connect:  {self.mavlink}",
            *([f"note:     {self.caution}"] if self.caution else []),
        ]


def json_port(instance: int) -> int:
    """Return the UDP port at which that instance looks for its physics."""
    return JSON_PORT + PORT_STEP * instance


def home_of(origin: Origin, heading: float) -> str:
    """Return the --home of the world's origin, from which positions are measured.

    `heading` (rad, clockwise from north) only counts until the first state arrives.
    """
    return f"{origin.latitude_deg:.7f},{origin.longitude_deg:.7f},{origin.height_m:.2f},{degrees(heading) % 360.0:.1f}"


def launch_hint(
    frame: str, instance: int, origin: Origin, heading: float = 0.0, physics: str = "127.0.0.1"
) -> ArduPilotLaunch:
    """Return the command lines for one instance; `physics` is the address of the machine that runs Paddock."""
    found = find_frame(frame)
    home = home_of(origin, heading)
    own = str(Path(__file__).with_name(found.own_parameters)) if found.own_parameters else ""
    number = f" -I {instance} --sysid {instance + 1}" if instance else ""
    files = ",".join([*(f"{PARAMETERS}/{name}" for name in found.defaults), *([own] if own else [])])
    extra = f" --add-param-file={own}" if own else ""
    return ArduPilotLaunch(
        home=home,
        sim_vehicle=f"sim_vehicle.py -v {found.vehicle} -f {found.sim_frame} --model JSON:{physics} "
        f"--custom-location={home}{number}{extra}",
        binary=f"build/sitl/bin/{found.binary} --model JSON:{physics} --home {home}{number} --defaults {files}",
        mavlink=f"tcp:127.0.0.1:{MAVLINK_PORT + PORT_STEP * instance}",
        caution=found.caution,
    )
