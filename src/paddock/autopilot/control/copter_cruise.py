"""The track of copters: columns of a copter's row, the functions that move them, and the loop of steady flight.

A mode writes a request for each axis (horizontal, vertical, heading) into the row and moves the track by it, 50 times a
second. Where its requests stay the same for a while (the way to a waypoint, a position to hold), it calls the flight
`steady`: this loop then carries them out in its place, with the same functions, for 200 ms. Failsafes are checked at
10 Hz in between, and an input from outside ends it at once.
"""

from typing import TYPE_CHECKING

from paddock.autopilot.control.copter import (
    E_EAST,
    E_NORTH,
    FLY,
    HEIGHT,
    HORIZONTAL,
    NORTH,
    PITCH,
    POSITION,
    ROLL,
    SETPOINT_WIDTH,
    SPOOL,
    VERTICAL,
    YAW,
    YAW_RATE,
)
from paddock.autopilot.estimator import Ints
from paddock.autopilot.group import CHECK, DECIDED, LONGEST_STEP, MODE, NOW
from paddock.autopilot.vehicle_data import Floats
from paddock.compute.math import absolute, clamp, maximum, minimum, select, sign, sqrt, wrap_angle
from paddock.compute.routine import routine
from paddock.vehicles.parts.quad_control import approach_speed

if TYPE_CHECKING:
    from paddock.autopilot.control.copter_path import CopterLegs

MOST_US = 200_000.0  # us of steady flight
CHECK_US = 100_000.0  # us between two checks
MAX_LAG = 2.0  # m lag behind the track at which the track slows down; twice that stops it
SPEED_GAIN = 3.0  # 1/s: response to a target speed
CLOSING_GAIN = 0.8  # 1/s: response to a small distance
BRAKE_SHARE = 0.6  # share of the acceleration that is planned with; the other part is a reserve
YAW_ACCELERATION = 1.5  # rad/s2

# columns of the setpoint's row, after those of the control
STEADY = SETPOINT_WIDTH  # 1: the loop below flies
SINCE = STEADY + 1  # us: when the mode has decided
CHECKED = SINCE + 1  # us: when failsafes were checked
TRACK = CHECKED + 1  # north, east, down (m), their velocities and accelerations
HEADING = TRACK + 9  # yaw (rad), rate
LEVEL = HEADING + 2  # request north and east: kind, two values, speed, acceleration, jerk, velocity ahead
CLIMB = LEVEL + 8  # request up and down: kind, value, climb rate, speed, acceleration, jerk
TURN = CLIMB + 6  # request of heading: kind, value, fastest, rate ahead
LEGS = TURN + 4  # number of legs, origin
FIRST_LEG = LEGS + 4
LEG_WIDTH, MOST_LEGS = 9, 3  # direction, length, time, speed, change, cruise, moving
ROW_WIDTH = FIRST_LEG + MOST_LEGS * LEG_WIDTH

NONE, SEEK, STEER, FOLLOW = 0.0, 1.0, 2.0, 3.0  # kinds of requests: none, go to, change the speed to, follow the legs


def move_level(row: Floats, dt: float) -> None:
    """Move the track north and east: to a position, or towards a velocity."""
    vn, ve = row[LEVEL + 1], row[LEVEL + 2]
    most, jerk = row[LEVEL + 4], row[LEVEL + 5]
    if row[LEVEL] == SEEK:
        dn, de = vn - row[TRACK], ve - row[TRACK + 1]
        distance = sqrt(dn * dn + de * de)
        speed = minimum(approach_speed(distance, CLOSING_GAIN, BRAKE_SHARE * most), row[LEVEL + 3])
        scale = select(distance > 1e-6, speed / maximum(distance, 1e-6), 0.0)
        vn, ve = dn * scale + row[LEVEL + 6], de * scale + row[LEVEL + 7]
    an, ae = (vn - row[TRACK + 3]) * SPEED_GAIN, (ve - row[TRACK + 4]) * SPEED_GAIN
    scale = minimum(1.0, most / maximum(sqrt(an * an + ae * ae), 1e-9))
    jn, je = an * scale - row[TRACK + 6], ae * scale - row[TRACK + 7]
    scale = minimum(1.0, jerk * dt / maximum(sqrt(jn * jn + je * je), 1e-9))
    row[TRACK + 6] += jn * scale
    row[TRACK + 7] += je * scale
    for k in range(2):
        row[TRACK + k] += row[TRACK + 3 + k] * dt + 0.5 * row[TRACK + 6 + k] * dt * dt
        row[TRACK + 3 + k] += row[TRACK + 6 + k] * dt


def move_height(row: Floats, dt: float) -> None:
    """Move the track up or down: to an altitude, or towards a climb rate."""
    most, rate = row[CLIMB + 4], row[CLIMB + 1]
    if row[CLIMB] == SEEK:
        distance = rate - row[TRACK + 2]
        speed = approach_speed(absolute(distance), CLOSING_GAIN, BRAKE_SHARE * most)
        rate = -sign(distance) * minimum(speed, select(distance > 0.0, row[CLIMB + 3], row[CLIMB + 2]))
    acceleration = clamp((-rate - row[TRACK + 5]) * SPEED_GAIN, -most, most)
    step = row[CLIMB + 5] * dt
    row[TRACK + 8] += clamp(acceleration - row[TRACK + 8], -step, step)
    row[TRACK + 2] += row[TRACK + 5] * dt + 0.5 * row[TRACK + 8] * dt * dt
    row[TRACK + 5] += row[TRACK + 8] * dt


def move_heading(row: Floats, dt: float) -> None:
    """Turn to a heading the shorter way, or towards a turn rate."""
    rate = row[TURN + 1]
    if row[TURN] == SEEK:
        error = wrap_angle(rate - row[HEADING])
        speed = minimum(approach_speed(absolute(error), 2.0, 0.7 * YAW_ACCELERATION), row[TURN + 2])
        rate = sign(error) * speed + row[TURN + 3]
    step = YAW_ACCELERATION * dt
    row[HEADING + 1] += clamp(rate - row[HEADING + 1], -step, step)
    row[HEADING] = wrap_angle(row[HEADING] + row[HEADING + 1] * dt)


def move_axis(row: Floats, request: int, dt: float) -> None:
    """Carry out the request in the columns from LEVEL, CLIMB or TURN for dt s."""
    if request == LEVEL:
        move_level(row, dt)
    elif request == CLIMB:
        move_height(row, dt)
    else:
        move_heading(row, dt)


def leg_state(
    length: float, time: float, speed: float, change: float, cruise: float, moving: bool
) -> tuple[float, float, float]:
    """Return distance (m), speed and acceleration on a straight leg: smoothsteps from rest to cruise and back.

    length: m. time: s since its start. speed: m/s of the cruise. change, cruise: s of each change of speed, and between
    the two. moving: it starts at that speed.
    """
    if change <= 0.0 or time >= change * select(moving, 1.0, 2.0) + cruise:
        return float(length), 0.0, 0.0
    time = time + select(moving, change, 0.0)
    if change <= time < change + cruise:
        return float(speed * (0.5 * change + time - change)), float(speed), 0.0
    starts = time < change
    share = select(starts, time / change, maximum(2.0 - (time - cruise) / change, 0.0))
    square = share * share
    distance = speed * change * (square * share * (1.0 - 0.5 * share))
    slope = speed * (6.0 * share * (1.0 - share)) / change
    return (
        select(starts, distance, length - distance),
        speed * (square * (3.0 - 2.0 * share)),
        select(starts, slope, -slope),
    )


def follow_legs(row: Floats, estimate: Floats, dt: float) -> None:
    """Advance on all legs; the track waits for a copter that lags behind."""
    dn, de = estimate[E_NORTH] - row[TRACK], estimate[E_EAST] - row[TRACK + 1]
    dt *= clamp(2.0 - sqrt(dn * dn + de * de) / MAX_LAG, 0.0, 1.0)
    for k in range(3):
        row[TRACK + k], row[TRACK + 3 + k], row[TRACK + 6 + k] = row[LEGS + 1 + k], 0.0, 0.0
    for j in range(MOST_LEGS):
        if j >= row[LEGS]:
            break
        leg = row[FIRST_LEG + j * LEG_WIDTH : FIRST_LEG + (j + 1) * LEG_WIDTH]
        leg[4] += dt
        distance, speed, acceleration = leg_state(leg[3], leg[4], leg[5], leg[6], leg[7], leg[8] > 0.0)
        for k in range(3):
            row[TRACK + k] += leg[k] * distance
            row[TRACK + 3 + k] += leg[k] * speed
            row[TRACK + 6 + k] += leg[k] * acceleration


def write_setpoint(row: Floats) -> None:
    """Let the control follow track and heading."""
    row[SPOOL], row[HORIZONTAL], row[VERTICAL] = FLY, POSITION, HEIGHT
    for c in range(9):
        row[NORTH + c] = row[TRACK + c]
    row[ROLL], row[PITCH] = 0.0, 0.0
    row[YAW], row[YAW_RATE] = row[HEADING], row[HEADING + 1]


def cruise_all(which: Ints, status: Floats, setpoint: Floats, estimate: Floats, requests: Ints) -> None:
    """Fly the copters in steady flight; set in `requests` what they, and others, need in Python: 0, MODE or CHECK.

    which: rows of the arrays. status, setpoint, estimate: the arrays of the group.
    """
    for j in range(len(which)):
        k = which[j]
        row, now = setpoint[k], status[k, NOW]
        requests[j] = MODE
        if row[STEADY] == 1.0 and now - row[SINCE] < MOST_US:
            requests[j] = CHECK if now - row[CHECKED] >= CHECK_US else 0
            dt = minimum((now - status[k, DECIDED]) * 1e-6, LONGEST_STEP)
            status[k, DECIDED] = now
            if row[LEVEL] == FOLLOW:
                follow_legs(row, estimate[k], dt)
            else:
                move_level(row, dt)
                move_height(row, dt)
            move_heading(row, dt)
            write_setpoint(row)


cruise, move, follow_track = routine(cruise_all), routine(move_axis), routine(write_setpoint)


def begin_cruise(row: Floats, now_us: float, legs: "CopterLegs | None") -> bool:
    """Let the loop continue with the requests in a row; return whether it can. `legs` that the mode follows, if any."""
    running = [] if legs is None else legs.running
    follows = row.item(LEVEL) == FOLLOW
    if NONE in (row.item(LEVEL), row.item(CLIMB), row.item(TURN)) or len(running) > MOST_LEGS:
        return False
    if follows and legs is None:
        return False
    row[LEGS:] = 0.0
    if legs is not None:
        row[LEGS:FIRST_LEG] = len(running), *legs.origin
        for k, leg in enumerate(running):
            values = *leg.direction, leg.length, leg.time, leg.speed, leg.change, leg.cruise, leg.moving
            row[FIRST_LEG + k * LEG_WIDTH : FIRST_LEG + (k + 1) * LEG_WIDTH] = values
    row[STEADY], row[SINCE], row[CHECKED] = 1.0, now_us, now_us
    return True


def end_cruise(row: Floats, legs: "CopterLegs | None") -> None:
    """End the loop; the legs continue in Python from where it has come to."""
    row[STEADY] = 0.0
    for k, leg in enumerate(() if legs is None else legs.running):
        leg.time = row.item(FIRST_LEG + k * LEG_WIDTH + 4)
