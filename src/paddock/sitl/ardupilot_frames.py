"""ArduPilot frames: what each output channel drives, and the command lines that start such an ArduPilot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import degrees, sqrt
from pathlib import Path
from typing import NamedTuple

from paddock.autopilot.vehicle_data import MOTORS, Floats
from paddock.errors import unknown_name
from paddock.world.geodesy import Origin

THRUST_EXPO = 0.65
"""MOT_THST_EXPO of the stock parameters: the curve that ArduPilot expects between its output and the thrust."""
LEVER = sqrt(2.0) / 4.0
"""An arm at 45 degrees has 1/sqrt(2) of the lever of a plus, and four motors share the work of two."""

JSON_PORT = 9002
MAVLINK_PORT = 5760
PORT_STEP = 10  # port offset from one ArduPilot instance to the next
AUTOTEST = "Tools/autotest"


@cache  # of 65,536 values at most
def thrust_share(pwm: int) -> float:
    """Return the share of full thrust, 0 to 1, of a motor output; 0 us is no output."""
    u = min(max((pwm - 1000) * 1e-3, 0.0), 1.0)
    return (1.0 - THRUST_EXPO) * u + THRUST_EXPO * u * u


def thrust_pwm(share: float) -> int:
    """Return the motor output for a share of full thrust: the inverse of `thrust_share`."""
    s = min(max(share, 0.0), 1.0)
    linear = 1.0 - THRUST_EXPO
    return 1000 + round(500.0 * (sqrt(linear * linear + 4.0 * THRUST_EXPO * s) - linear) / THRUST_EXPO)


Units = tuple[Callable[[int], float], Callable[[float], int]]  # from us of PWM, and back
THRUST: Units = (thrust_share, thrust_pwm)
DEFLECTION: Units = (  # -1 to 1, centred at 1500 us; no output (0 us) is 0
    lambda pwm: min(max((pwm - 1500) * 2e-3, -1.0), 1.0) if pwm else 0.0,
    lambda value: 1500 + round(500.0 * min(max(value, -1.0), 1.0)),
)
THROTTLE: Units = (  # 0 to 1, from 1000 to 2000 us
    lambda pwm: min(max((pwm - 1000) * 1e-3, 0.0), 1.0),
    lambda value: 1000 + round(1000.0 * min(max(value, 0.0), 1.0)),
)


def plus_to_x(right: float, left: float, front: float, rear: float) -> list[float]:
    """Return the shares of an X (front right, rear left, front left, rear right) with the thrust and torques of a plus.

    Right and left turn counter-clockwise, front and rear clockwise; the arms have the same length.
    """
    roll, pitch = (left - right) * LEVER, (front - rear) * LEVER
    counter_clockwise, clockwise = (right + left) * 0.5, (front + rear) * 0.5
    shares = (
        counter_clockwise - roll + pitch,
        counter_clockwise + roll - pitch,
        clockwise + roll + pitch,
        clockwise - roll - pitch,
    )
    return [min(max(share, 0.0), 1.0) for share in shares]


def x_to_plus(front_right: float, rear_left: float, front_left: float, rear_right: float) -> list[float]:
    """Return the shares of a plus (right, left, front, rear) with the thrust and torques of an X."""
    roll = (front_left + rear_left - front_right - rear_right) * 0.25 / LEVER
    pitch = (front_left + front_right - rear_left - rear_right) * 0.25 / LEVER
    counter_clockwise, clockwise = (front_right + rear_left) * 0.5, (front_left + rear_right) * 0.5
    half_roll, half_pitch = roll * 0.5, pitch * 0.5
    return [
        counter_clockwise - half_roll,
        counter_clockwise + half_roll,
        clockwise + half_pitch,
        clockwise - half_pitch,
    ]


class Channel(NamedTuple):
    """An output channel: its number, the column of ActuatorCommands that it drives, and the conversion both ways."""

    number: int  # from 0
    column: int
    units: Units


@dataclass(frozen=True)
class ArduPilotFrame:
    """One kind of vehicle as ArduPilot's stock parameters wire it."""

    name: str
    summary: str
    craft: str  # the craft of `Placed`: copter, rover, rover_ackermann, plane
    vehicle: str  # sim_vehicle.py -v
    binary: str
    sim_frame: str  # sim_vehicle.py -f
    defaults: tuple[str, ...]  # parameter files in Tools/autotest
    channels: tuple[Channel, ...]
    idle_pwm: int = 0  # us of its motors while disarmed, or less
    plus: bool = False  # a quadrotor plus, on an airframe whose motors stand in an X
    longest_dt: float | None = None  # s, longest world step with which it arms
    own_parameters: str = ""  # file of this package that goes on top of the defaults
    caution: str = ""  # one line on what else must match

    def apply(self, pwm: Sequence[int], row: Floats) -> None:
        """Write the PWM of the channels into a row of ActuatorCommands."""
        armed, idle = 0.0, self.idle_pwm
        for number, column, (convert, _) in self.channels:
            output = pwm[number]
            row[column] = convert(output)
            if output > idle and column <= MOTORS:
                armed = 1.0
        row[0] = armed
        if self.plus:
            row[1:5] = plus_to_x(*row[1:5].tolist())

    def outputs(self, row: Floats) -> tuple[int, ...]:
        """Return the PWM of the channels for a row, as ArduPilot would send it; disarmed motors rest."""
        armed = row[0] > 0.5
        values = [float(row[c.column]) if armed or c.column > MOTORS else 0.0 for c in self.channels]
        pwm = [0] * (1 + max(channel.number for channel in self.channels))
        for channel, value in zip(self.channels, x_to_plus(*values) if self.plus else values, strict=True):
            pwm[channel.number] = channel.units[1](value)
        return tuple(pwm)


SERVO = 1 + MOTORS  # column of the first servo
COPTER = ArduPilotFrame(
    name="copter",
    summary="quadrotor X (FRAME_CLASS 1, FRAME_TYPE 1)",
    craft="copter",
    vehicle="ArduCopter",
    binary="arducopter",
    sim_frame="quad",
    defaults=("default_params/copter.parm",),
    channels=tuple(Channel(k, 1 + k, THRUST) for k in range(4)),
    idle_pwm=1000,
    longest_dt=1.0 / 720.0,  # it arms with an IMU at 1.8 times its loop of 400 Hz, or faster
    own_parameters="copter_x.parm",  # the stock file is for a plus frame
    caution="copter.parm without copter_x.parm is a plus (FRAME_TYPE 0), which tumbles here: for it use copter-plus",
)
COPTER_PLUS = replace(
    COPTER,
    name="copter-plus",
    summary="quadrotor plus, as the stock copter.parm has it (FRAME_CLASS 1, FRAME_TYPE 0)",
    plus=True,
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
    defaults=("default_params/rover.parm",),
    channels=(Channel(2, 1, DEFLECTION), Channel(0, SERVO, DEFLECTION)),
)
ROVER_SKID = replace(
    ROVER,
    name="rover-skid",
    summary="skid-steer rover (SERVO1 ThrottleLeft, SERVO3 ThrottleRight)",
    craft="rover",
    sim_frame="rover-skid",
    defaults=("default_params/rover.parm", "default_params/rover-skid.parm"),
    channels=(Channel(0, 1, DEFLECTION), Channel(2, 2, DEFLECTION)),
)
PLANE = ArduPilotFrame(
    name="plane",
    summary="fixed wing with aileron, elevator, throttle, rudder on channels 1 to 4",
    craft="plane",
    vehicle="ArduPlane",
    binary="arduplane",
    sim_frame="plane",
    defaults=("models/plane.parm",),
    channels=(
        Channel(2, 1, THROTTLE),
        *(Channel(index, SERVO + k, DEFLECTION) for k, index in enumerate((0, 1, 3))),
    ),
    idle_pwm=1000,
    longest_dt=1.0 / 90.0,  # it arms with an IMU at 1.8 times its loop of 50 Hz, or faster
    own_parameters="plane_mapper.parm",  # speeds of the preset mapper
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


def json_port(instance: int) -> int:
    """Return the UDP port at which that instance looks for its physics."""
    return JSON_PORT + PORT_STEP * instance


class Launch(NamedTuple):
    """What the command lines of an instance depend on besides its frame."""

    instance: int
    origin: Origin
    heading: float = 0.0  # rad, clockwise from north; only counts until the first state arrives
    address: str = "127.0.0.1"  # of Paddock
    relay: int | None = None  # UDP port of its MAVLink packets, where they go over the radio
    pace: float = 1.0  # simulated s per s; 0: as fast as possible


FASTEST = 100.0  # --speedup for a run as fast as possible


def launch_lines(frame: str, launch: Launch) -> list[str]:
    """Return the command lines for one instance, with and without sim_vehicle.py, and where to connect."""
    entry, origin, instance = find_frame(frame), launch.origin, launch.instance
    heading = round(degrees(launch.heading) % 360.0, 1) % 360.0
    home = f"{origin.latitude_deg:.7f},{origin.longitude_deg:.7f},{origin.height_m:.2f},{heading:.1f}"
    own = [str(Path(__file__).with_name(entry.own_parameters))] if entry.own_parameters else []
    number = f" -I {instance} --sysid {instance + 1}" if instance else ""
    files = ",".join([*(f"{AUTOTEST}/{name}" for name in entry.defaults), *own])
    speed = "" if launch.pace == 1.0 else f" --speedup {launch.pace or FASTEST:g}"
    # port 0 would wait for a TCP connection, and pass the radio by
    ports = "" if launch.relay is None else f"--serial0 none --serial1 udpclient:{launch.address}:{launch.relay}"
    script, binary = (f' --no-mavproxy -A "{ports}"', f" {ports}") if ports else ("", "")
    tcp = f"tcp:127.0.0.1:{MAVLINK_PORT + PORT_STEP * instance}"
    return [
        f"start:    sim_vehicle.py -v {entry.vehicle} -f {entry.sim_frame} --model JSON:{launch.address} "
        f"--custom-location={home}{number}{speed}{script}{''.join(f' --add-param-file={file}' for file in own)}",
        f"or:       build/sitl/bin/{entry.binary} --model JSON:{launch.address} --home {home}{number}{speed}{binary} "
        f"--defaults {files}",
        *([] if ports else [f"connect:  {tcp}"]),
        *([f"note:     {entry.caution}"] if entry.caution else []),
    ]
