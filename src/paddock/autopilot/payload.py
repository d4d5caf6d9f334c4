"""The payload: the camera trigger, and servo outputs and relays that no control uses.

The camera takes single pictures, by distance (CAM_TRIGG_DIST) and by interval. There are no images: each trigger is a
notice for ground stations (CAMERA_FEEDBACK, CAMERA_IMAGE_CAPTURED) with estimated position and attitude, and an event
of the run.

DO_SET_SERVO, DO_REPEAT_SERVO, DO_SET_RELAY, DO_REPEAT_RELAY: a channel whose SERVOn_FUNCTION is not 0 belongs to a
motor or a control surface and is refused. As in ArduPilot, a repetition alternates every half period between the value
and the channel's trim, or switches a relay over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import dist, isnan
from typing import TYPE_CHECKING

from paddock.autopilot.contract import PWM_MID
from paddock.autopilot.estimate import Point
from paddock.autopilot.parameter_tables import RELAYS, SERVOS
from paddock.autopilot.telemetry import Ack, CommandResult, PictureTaken, denied, require

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

MAX_TRIGGER_DISTANCE = 1000.0  # m, the maximum of CAM_TRIGG_DIST
MAX_INTERVAL = 3600.0  # s
EARLIEST = -(10**9)  # us: before the first picture
SHORTEST_PULSE, LONGEST_PULSE = 500, 2500  # us: what a servo output can produce
MAX_REPEATS, MAX_PERIOD = 32767, 3600.0  # of a repetition; s
SERVO, RELAY = 0, 1


@dataclass
class Camera:
    """The trigger of one vehicle's camera."""

    autopilot: BuiltInAutopilot
    taken: int = 0  # pictures since boot
    distance: float = 0.0  # m between pictures; 0: off
    least_us: int = 0  # between two pictures by distance (CAM_MIN_INTERVAL)
    position: Point | None = None  # where the distance is measured from
    taken_us: int = EARLIEST  # time of the last picture
    interval_us: int = 0  # between pictures by interval; 0: off
    left: int = 0  # pictures by interval still to take; -1: no limit
    next_us: int = 0

    def read_parameters(self) -> None:
        """Use CAM_TRIGG_DIST; a new distance counts from the vehicle's position."""
        value = self.autopilot.parameters.value
        self.least_us = round(value("CAM_MIN_INTERVAL") * 1e3)
        if value("CAM_TRIGG_DIST") != self.distance:
            self.distance, self.position = value("CAM_TRIGG_DIST"), None

    def update(self) -> None:
        """Take a picture if one is due; by distance only with a valid position."""
        now, estimate = self.autopilot.now_us, self.autopilot.estimate
        if self.left and now >= self.next_us:
            self.next_us += self.interval_us
            self.left -= self.left > 0
            self.trigger()
        if self.distance > 0.0 and estimate.position_ok:
            here = estimate.north, estimate.east
            if self.position is None:
                self.position = here
            elif dist(self.position, here) >= self.distance and now - self.taken_us >= self.least_us:
                self.trigger()

    def trigger(self) -> None:
        """Take a picture."""
        autopilot, estimate = self.autopilot, self.autopilot.estimate
        self.taken += 1
        self.taken_us, self.position = autopilot.now_us, (estimate.north, estimate.east)
        telemetry = autopilot.telemetry
        picture = PictureTaken(
            autopilot.now_us,
            self.taken,
            telemetry.position,
            telemetry.relative_altitude,
            (estimate.roll, estimate.pitch, estimate.yaw),
            (estimate.qw, estimate.qx, estimate.qy, estimate.qz),
        )
        autopilot.outbox.append(picture)
        if autopilot.log is not None:
            autopilot.log.picture(picture)
        latitude, longitude, _ = picture.position
        where = "no position" if isnan(latitude) else f"{latitude:.7f}, {longitude:.7f}, {picture.height:.1f} m"
        autopilot.report_event("picture", f"{self.taken} at {where}")


def control_camera(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_DIGICAM_CONTROL: p5 1 takes a picture; zoom, focus and sessions are not simulated."""
    require(p[4] >= 1.0, denied("Camera: only shooting (p5 = 1) is supported, not zoom or focus"))
    autopilot.camera.trigger()


def set_camera_distance(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_CAM_TRIGG_DIST: p1 m between pictures, 0 off; p3 1 also takes one now."""
    require(
        0.0 <= p[0] <= MAX_TRIGGER_DISTANCE,
        denied(f"Camera: distance {p[0]:g} m is not in 0 to {MAX_TRIGGER_DISTANCE:g}"),
    )
    autopilot.parameters.show("CAM_TRIGG_DIST", p[0])
    if p[2] == 1.0:
        autopilot.camera.trigger()


def start_capture(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """IMAGE_START_CAPTURE: p2 s between pictures, p3 their number, 0 without limit."""
    count, interval = (0.0 if isnan(value) else value for value in (p[2], p[1]))
    require(count >= 0.0, denied(f"Camera: {count:g} pictures"))
    several = count != 1.0
    require(not several or 0.0 < interval <= MAX_INTERVAL, denied(f"Camera: interval {interval:g} s is invalid"))
    camera = autopilot.camera
    camera.left = int(count) if count else -1
    camera.interval_us, camera.next_us = max(round(interval * 1e6), 1), autopilot.now_us
    camera.update()


def stop_capture(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """IMAGE_STOP_CAPTURE: no more pictures by interval."""
    autopilot.camera.left = 0


@dataclass
class Repetition:
    """A servo or relay that is switched back and forth."""

    kind: int  # SERVO or RELAY
    number: int
    width: int  # us, of a servo
    left: int  # changes still to make
    period_us: int  # between two changes
    next_us: int

    def check_saved(self) -> bool:
        """Return whether a restored repetition is one that a command can start."""
        numbers = range(1, SERVOS + 1) if self.kind == SERVO else range(RELAYS if self.kind == RELAY else 0)
        widths = 0 <= self.width <= LONGEST_PULSE
        return self.number in numbers and widths and self.left <= 2 * MAX_REPEATS and self.period_us > 0


@dataclass
class ServoOutputs:
    """The outputs of one vehicle that commands and missions set."""

    autopilot: BuiltInAutopilot
    widths: list[int] = field(default_factory=lambda: [0] * SERVOS)  # us, by channel from 1; 0: never set
    relays: list[bool] = field(default_factory=list)
    repetitions: list[Repetition] = field(default_factory=list)

    def __post_init__(self) -> None:
        value = self.autopilot.parameters.value
        self.relays = [value(f"RELAY{k}_DEFAULT") > 0.0 for k in range(1, RELAYS + 1)]

    def check_saved(self) -> bool:
        """Return whether restored outputs are possible."""
        numbers = len(self.widths) == SERVOS and len(self.relays) == RELAYS
        return numbers and all(0 <= width <= LONGEST_PULSE for width in self.widths)

    def present(self) -> list[bool]:
        """Return which relays exist (RELAYn_FUNCTION)."""
        value = self.autopilot.parameters.value
        return [value(f"RELAY{k}_FUNCTION") > 0.0 for k in range(1, RELAYS + 1)]

    def repeat(self, repetition: Repetition) -> None:
        """Start a repetition with its first change; a running one of the same output ends."""
        same = repetition.kind, repetition.number
        self.repetitions = [each for each in self.repetitions if (each.kind, each.number) != same]
        self.repetitions.append(repetition)
        self.update()

    def stop(self, kind: int, number: int) -> None:
        """End the repetition of an output."""
        self.repetitions = [each for each in self.repetitions if (each.kind, each.number) != (kind, number)]

    def update(self) -> None:
        """Make the changes that are due."""
        now = self.autopilot.now_us
        for each in self.repetitions:
            while each.left > 0 and now >= each.next_us:
                if each.kind == RELAY:
                    self.relays[each.number] = not self.relays[each.number]
                else:
                    self.widths[each.number - 1] = each.width if each.left % 2 == 0 else PWM_MID
                each.left -= 1
                each.next_us += each.period_us
        self.repetitions = [each for each in self.repetitions if each.left > 0]


def require_channel(autopilot: BuiltInAutopilot, value: float) -> int:
    """Return the number of a servo channel that nothing else uses."""
    whole = value == value and value == int(value) and 1 <= value <= SERVOS
    require(whole, denied(f"Servo: channel {value:g} is not in 1 to {SERVOS}"))
    channel = int(value)
    function = autopilot.parameters.whole(f"SERVO{channel}_FUNCTION")
    in_use = f"Servo: channel {channel} is already in use (SERVO{channel}_FUNCTION {function})"
    require(function == 0, Ack(CommandResult.DENIED, in_use))
    return channel


def require_width(value: float) -> int:
    """Return a pulse width, us."""
    require(
        SHORTEST_PULSE <= value <= LONGEST_PULSE,
        denied(f"Servo: {value:g} us is not in {SHORTEST_PULSE} to {LONGEST_PULSE}"),
    )
    return round(value)


def require_relay(autopilot: BuiltInAutopilot, value: float) -> int:
    """Return the number of a relay, from 0."""
    present = [k for k, exists in enumerate(autopilot.servos.present()) if exists]
    require(value in present, denied(f"Relay {value:g} does not exist; there are {', '.join(map(str, present))}"))
    return int(value)


def repetition(autopilot: BuiltInAutopilot, kind: int, number: int, width: int, count: float, period: float) -> None:
    """Start `count` cycles of `period` s of the servo or relay (`kind`) `number`; `width` us of a servo."""
    require(1 <= count <= MAX_REPEATS, denied(f"Repeat: count {count:g} is not in 1 to {MAX_REPEATS}"))
    require(0.0 < period <= MAX_PERIOD, denied(f"Repeat: period {period:g} s is not in 0 to {MAX_PERIOD:g}"))
    half = max(round(period * 5e5), 1)
    autopilot.servos.repeat(Repetition(kind, number, width, 2 * int(count), half, autopilot.now_us))


def set_servo(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_SERVO: p1 channel, p2 us."""
    channel, width = require_channel(autopilot, p[0]), require_width(p[1])
    autopilot.servos.stop(SERVO, channel)
    autopilot.servos.widths[channel - 1] = width


def repeat_servo(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_REPEAT_SERVO: p1 channel, p2 us, p3 cycles, p4 s of a cycle."""
    repetition(autopilot, SERVO, require_channel(autopilot, p[0]), require_width(p[1]), p[2], p[3])


def set_relay(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_RELAY: p1 relay from 0, p2 1 on, 0 off."""
    relay = require_relay(autopilot, p[0])
    require(p[1] in (0.0, 1.0), denied(f"Relay: {p[1]:g} is neither 1 (on) nor 0 (off)"))
    autopilot.servos.stop(RELAY, relay)
    autopilot.servos.relays[relay] = p[1] == 1.0


def repeat_relay(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_REPEAT_RELAY: p1 relay from 0, p2 cycles, p3 s of a cycle."""
    repetition(autopilot, RELAY, require_relay(autopilot, p[0]), 0, p[1], p[2])
