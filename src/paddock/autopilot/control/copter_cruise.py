"""Steady flight of copters: a compiled loop repeats what a mode has asked for, until the mode decides again.

A mode moves track and heading in Python, 50 times a second. Where its requests stay the same for a while (the way to a
waypoint, a position to hold), it calls the flight `steady`: its requests are then written to the copter's row, and this
loop carries them out in its place, for 200 ms. Failsafes are checked at 10 Hz in between, and an input from outside
ends it at once. The functions are those of `copter_path`, on columns; test_copter_cruise.py keeps both equal, bit
for bit.
"""

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
from paddock.autopilot.control.copter_path import (
    BRAKE_SHARE,
    CLOSING_GAIN,
    FOLLOW,
    SEEK,
    SPEED_GAIN,
    YAW_ACCELERATION,
    CopterHeading,
    CopterLegs,
    CopterTrack,
    StraightLeg,
)
from paddock.autopilot.estimator import Ints
from paddock.autopilot.group import CHECK, DECIDED, LONGEST_STEP, MODE, NOW
from paddock.autopilot.vehicle_data import Floats
from paddock.compute.math import absolute, clamp, maximum, minimum, select, sign, sqrt, wrap_angle
from paddock.compute.routine import routine
from paddock.vehicles.parts.quad_control import approach_speed

MOST_US = 200_000.0  # us of steady flight
CHECK_US = 100_000.0  # us between two checks
MAX_LAG = 2.0  # m lag behind the track at which the track slows down; twice that stops it

# columns of the setpoint's row, after those of the control
STEADY = SETPOINT_WIDTH  # 1: the loop below flies
SINCE = STEADY + 1  # us: when the mode has decided
CHECKED = SINCE + 1  # us: when failsafes were checked
TRACK = CHECKED + 1  # north, east, down, their velocities and accelerations
HEADING = TRACK + 9  # yaw, rate
LEVEL = HEADING + 2  # request north and east: kind, two values, speed, acceleration, jerk
CLIMB = LEVEL + 6  # request up and down: kind, value, climb rate, speed, acceleration, jerk
TURN = CLIMB + 6  # request of heading: kind, value, fastest, rate ahead
LEGS = TURN + 4  # number of legs, origin
FIRST_LEG = LEGS + 4
LEG_WIDTH, MOST_LEGS = 9, 3  # direction, length, time, speed, change, cruise, moving
ROW_WIDTH = FIRST_LEG + MOST_LEGS * LEG_WIDTH


def seek(row: Floats, dt: float) -> None:
    """Go to a position, or change to a velocity, north and east."""
    vn, ve = row[LEVEL + 1], row[LEVEL + 2]
    most, jerk = row[LEVEL + 4], row[LEVEL + 5]
    if row[LEVEL] == SEEK:
        dn, de = vn - row[TRACK], ve - row[TRACK + 1]
        far = sqrt(dn * dn + de * de)
        speed = minimum(approach_speed(far, CLOSING_GAIN, BRAKE_SHARE * most), row[LEVEL + 3])
        scale = select(far > 1e-6, speed / maximum(far, 1e-6), 0.0)
        vn, ve = dn * scale, de * scale
    an, ae = (vn - row[TRACK + 3]) * SPEED_GAIN, (ve - row[TRACK + 4]) * SPEED_GAIN
    scale = minimum(1.0, most / maximum(sqrt(an * an + ae * ae), 1e-9))
    jn, je = an * scale - row[TRACK + 6], ae * scale - row[TRACK + 7]
    scale = minimum(1.0, jerk * dt / maximum(sqrt(jn * jn + je * je), 1e-9))
    row[TRACK + 6] += jn * scale
    row[TRACK + 7] += je * scale
    for k in range(2):
        row[TRACK + k] += row[TRACK + 3 + k] * dt + 0.5 * row[TRACK + 6 + k] * dt * dt
        row[TRACK + 3 + k] += row[TRACK + 6 + k] * dt


def climb(row: Floats, dt: float) -> None:
    """Go to an altitude, or change to a climb rate."""
    most, rate = row[CLIMB + 4], row[CLIMB + 1]
    if row[CLIMB] == SEEK:
        far = rate - row[TRACK + 2]
        speed = approach_speed(absolute(far), CLOSING_GAIN, BRAKE_SHARE * most)
        rate = -sign(far) * minimum(speed, select(far > 0.0, row[CLIMB + 3], row[CLIMB + 2]))
    wanted = clamp((-rate - row[TRACK + 5]) * SPEED_GAIN, -most, most)
    step = row[CLIMB + 5] * dt
    row[TRACK + 8] += clamp(wanted - row[TRACK + 8], -step, step)
    row[TRACK + 2] += row[TRACK + 5] * dt + 0.5 * row[TRACK + 8] * dt * dt
    row[TRACK + 5] += row[TRACK + 8] * dt


def turn(row: Floats, dt: float) -> None:
    """Turn to a heading, or change to a turn rate."""
    rate = row[TURN + 1]
    if row[TURN] == SEEK:
        error = wrap_angle(rate - row[HEADING])
        speed = minimum(approach_speed(absolute(error), 2.0, 0.7 * YAW_ACCELERATION), row[TURN + 2])
        rate = sign(error) * speed + row[TURN + 3]
    step = YAW_ACCELERATION * dt
    row[HEADING + 1] += clamp(rate - row[HEADING + 1], -step, step)
    row[HEADING] = wrap_angle(row[HEADING] + row[HEADING + 1] * dt)


def leg_state(leg: Floats) -> tuple[float, float, float]:
    """Return distance, speed and acceleration on a leg now."""
    length, change, moving = leg[3], leg[6], leg[8] > 0.0
    if change <= 0.0 or leg[4] >= change * select(moving, 1.0, 2.0) + leg[7]:
        return float(length), 0.0, 0.0
    time = leg[4] + select(moving, change, 0.0)
    if change <= time < change + leg[7]:
        return float(leg[5] * (0.5 * change + time - change)), float(leg[5]), 0.0
    starts = time < change
    share = select(starts, time / change, maximum(2.0 - (time - leg[7]) / change, 0.0))
    square = share * share
    way = leg[5] * change * (square * share * (1.0 - 0.5 * share))
    slope = leg[5] * (6.0 * share * (1.0 - share)) / change
    speed = leg[5] * (square * (3.0 - 2.0 * share))
    return select(starts, way, length - way), speed, select(starts, slope, -slope)


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
        way, speed, acceleration = leg_state(leg)
        for k in range(3):
            row[TRACK + k] += leg[k] * way
            row[TRACK + 3 + k] += leg[k] * speed
            row[TRACK + 6 + k] += leg[k] * acceleration


def cruise_all(which: Ints, status: Floats, setpoint: Floats, estimate: Floats, asks: Ints) -> None:
    """Fly the copters in steady flight; set in `asks` what they, and others, need in Python: 0, MODE or CHECK."""
    for j in range(len(which)):
        k = which[j]
        row, now = setpoint[k], status[k, NOW]
        asks[j] = MODE
        if row[STEADY] == 1.0 and now - row[SINCE] < MOST_US:
            asks[j] = CHECK if now - row[CHECKED] >= CHECK_US else 0
            dt = minimum((now - status[k, DECIDED]) * 1e-6, LONGEST_STEP)
            status[k, DECIDED] = now
            if row[LEVEL] == FOLLOW:
                follow_legs(row, estimate[k], dt)
            else:
                seek(row, dt)
                climb(row, dt)
            turn(row, dt)
            row[SPOOL], row[HORIZONTAL], row[VERTICAL] = FLY, POSITION, HEIGHT
            for c in range(9):
                row[NORTH + c] = row[TRACK + c]
            row[ROLL], row[PITCH] = 0.0, 0.0
            row[YAW], row[YAW_RATE] = row[HEADING], row[HEADING + 1]


cruise = routine(cruise_all)


def hand_over(row: Floats, track: CopterTrack, heading: CopterHeading, now_us: float, legs: CopterLegs | None) -> bool:
    """Let the loop go on with the present requests; return whether it can."""
    level, rise, way = track.level, track.rise, heading.request
    running = [] if legs is None else legs.running
    if not (level and rise and way) or any(type(leg) is not StraightLeg for leg in running):
        return False
    if len(running) > MOST_LEGS or (level[0] == FOLLOW and legs is None):
        return False
    row[TRACK:HEADING] = track.values()
    row[HEADING:LEVEL] = heading.yaw, heading.rate
    row[LEVEL:CLIMB], row[CLIMB:TURN], row[TURN:LEGS] = level, rise, way
    row[LEGS:] = 0.0
    if legs is not None:
        row[LEGS:FIRST_LEG] = len(running), *legs.origin
        for k, leg in enumerate(running):
            values = *leg.direction, leg.length, leg.time, leg.speed, leg.change, leg.cruise, leg.moving
            row[FIRST_LEG + k * LEG_WIDTH : FIRST_LEG + (k + 1) * LEG_WIDTH] = values
    row[STEADY], row[SINCE], row[CHECKED] = 1.0, now_us, now_us
    return True


def take_back(row: Floats, track: CopterTrack, heading: CopterHeading, legs: CopterLegs | None) -> None:
    """Continue in Python from where the loop has come to."""
    row[STEADY] = 0.0
    values: list[float] = row.tolist()
    track.set_values(values[TRACK:HEADING])
    heading.yaw, heading.rate = values[HEADING], values[HEADING + 1]
    for k, leg in enumerate(() if legs is None else legs.running):
        leg.time = values[FIRST_LEG + k * LEG_WIDTH + 4]
