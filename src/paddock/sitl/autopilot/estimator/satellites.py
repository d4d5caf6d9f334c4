"""Fixes: position and velocity, what to do when they disagree, and when they come back after an outage."""

from __future__ import annotations

from math import isfinite

from paddock.compute.math import atan2, wrap_angle
from paddock.sitl.autopilot.estimate import PLACE
from paddock.sitl.autopilot.estimator.fusion import forget, fuse_error, gate_ratio, reset_heading
from paddock.sitl.autopilot.estimator.layout import ALTITUDE as ORIGIN_ALTITUDE
from paddock.sitl.autopilot.estimator.layout import (
    BARO_BIAS,
    COURSE_SPEED,
    DOWN,
    E_BARO,
    E_TILT,
    E_VELOCITY,
    FORCE,
    FUSED,
    GNSS_GOOD,
    GNSS_OK,
    GNSS_STALE,
    GNSS_TIME,
    GRAVITY,
    HAS_ORIGIN,
    HEADING_KNOWN,
    HORIZONTAL_NOISE,
    IMU_TIME,
    JUMPED,
    JUMPS,
    LATITUDE,
    LEAST_NOISE,
    LONGITUDE,
    PER_EAST,
    PER_NORTH,
    POSITION_HOLDS,
    REFUSALS_FRESH,
    REFUSALS_LOST,
    REFUSED,
    TILT_START,
    US,
    VELOCITY,
    VELOCITY_NOISE,
    VERTICAL_NOISE,
)
from paddock.sitl.autopilot.estimator.rotations import Three, euler, matrix, turned
from paddock.sitl.autopilot.estimator.watch import moving
from paddock.sitl.sensor_data import COLUMN, Floats

FIX_TIME = COLUMN["gnss_time_us"]
FIX = COLUMN["gnss_fix"]
LAT, LON, ALT = COLUMN["latitude"], COLUMN["longitude"], COLUMN["altitude"]
SPEED = COLUMN["gnss_vn"]
EPH, EPV = COLUMN["gnss_eph"], COLUMN["gnss_epv"]
VELOCITY_RATIO, POSITION_RATIO = PLACE["velocity_ratio"], PLACE["position_ratio"]

COURSE_NOISE = 0.2  # rad
REFUSALS_DOUBT = 2.0  # fixes in a row
DOUBT_VELOCITY, DOUBT_TILT = 1.0, 0.1  # m/s, rad
OLDEST = 0.5  # s: an older fix is taken for one of this age


def take_fix(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> bool:
    """Fuse a new fix; True if it is good and there is no origin yet, which the caller then sets."""
    time = row[FIX_TIME]
    if not time > m[GNSS_TIME]:
        return False
    m[GNSS_TIME] = time
    usable = moving(m, 3, row[LAT] + 2.0 * row[LON] + row[ALT]) and good_fix(row)
    m[GNSS_OK] = 1.0 if usable else 0.0
    if not usable or m[HAS_ORIGIN] == 0.0:
        return usable
    place, velocity = _brought_forward(row, x, m, (m[IMU_TIME] - time) * US)
    noise = (_noise(row[EPH], HORIZONTAL_NOISE), _noise(row[EPV], VERTICAL_NOISE))
    if _believed(x, p, m, out, place, velocity, noise[0]):
        _accept(x, p, m, work, place, velocity, noise, time - m[GNSS_GOOD])
        m[GNSS_GOOD] = time
    elif m[REFUSED] >= (REFUSALS_FRESH if time - m[GNSS_GOOD] < POSITION_HOLDS else REFUSALS_LOST):
        jump(x, p, m, place, velocity, noise)
        m[GNSS_GOOD] = time
    _course_for_heading(x, p, m, velocity)
    return False


def _brought_forward(row: Floats, x: Floats, m: Floats, age: float) -> tuple[Three, Three]:
    """Place and velocity now, if they were as the fix says `age` s ago."""
    age = min(max(age, 0.0), OLDEST)
    a, b, c = turned(matrix(x), m[FORCE], m[FORCE + 1], m[FORCE + 2])
    gain = (a * age, b * age, (c + GRAVITY) * age)
    vn, ve, vd = row[SPEED] + gain[0], row[SPEED + 1] + gain[1], row[SPEED + 2] + gain[2]
    north, east, down = fix_place(row, m)
    north, east = north + (vn - 0.5 * gain[0]) * age, east + (ve - 0.5 * gain[1]) * age
    return (north, east, down + (vd - 0.5 * gain[2]) * age), (vn, ve, vd)


def good_fix(row: Floats) -> bool:
    """Whether a row's fix is three-dimensional and complete."""
    return row[FIX] >= 3.0 and isfinite(row[LAT] + row[LON] + row[ALT] + row[SPEED] + row[SPEED + 1] + row[SPEED + 2])


def fix_place(row: Floats, m: Floats) -> Three:
    """Metres north, east and down of the origin."""
    turn = row[LON] - m[LONGITUDE]
    turn = turn - 360.0 if turn > 180.0 else (turn + 360.0 if turn < -180.0 else turn)
    return (row[LAT] - m[LATITUDE]) * m[PER_NORTH], turn * m[PER_EAST], m[ORIGIN_ALTITUDE] - row[ALT]


def _noise(said: float, otherwise: float) -> float:
    return max(said, LEAST_NOISE) if said > 0.0 else otherwise


def _believed(x: Floats, p: Floats, m: Floats, out: Floats, place: Three, velocity: Three, noise: float) -> bool:
    """Whether horizontal position and velocity are within their gates; counts refusals in a row."""
    position, speed = 0.0, 0.0
    for k in range(2):
        position = max(position, gate_ratio(place[k] - x[k], p[k, k] + noise * noise))
        spread = p[E_VELOCITY + k, E_VELOCITY + k] + VELOCITY_NOISE * VELOCITY_NOISE
        speed = max(speed, gate_ratio(velocity[k] - x[VELOCITY + k], spread))
    out[POSITION_RATIO], out[VELOCITY_RATIO] = position, speed
    believed = position <= 1.0 and speed <= 1.0
    m[REFUSED] = 0.0 if believed else m[REFUSED] + 1.0
    if speed > 1.0 and m[REFUSED] >= REFUSALS_DOUBT:
        _doubt_motion(p)
    return believed


def _doubt_motion(p: Floats) -> None:
    """Velocities that keep disagreeing show that the inertial sensors have missed something, most likely a turn."""
    for k in range(3):
        p[E_VELOCITY + k, E_VELOCITY + k] += DOUBT_VELOCITY * DOUBT_VELOCITY
        p[E_TILT + k, E_TILT + k] += DOUBT_TILT * DOUBT_TILT


def _accept(
    x: Floats,
    p: Floats,
    m: Floats,
    work: Floats,
    place: Three,
    velocity: Three,
    noise: tuple[float, float],
    silence: float,
) -> None:
    """Fuse a fix that comes `silence` us after the last: what it corrects after an outage is a jump.

    A position that was lost has to be confirmed by further fixes before it may be relied on again.
    """
    before = (x[0], x[1], x[2])
    _fuse(x, p, work, place, velocity, noise)
    m[FUSED] = 1.0 if silence > POSITION_HOLDS else m[FUSED] + 1.0
    if silence > GNSS_STALE:
        _note_jump(x, m, before)


def _note_jump(x: Floats, m: Floats, before: Three) -> None:
    """The position was there and is here: not because the vehicle has moved, but because more is known."""
    m[JUMPS] += 1.0
    for k in range(3):
        m[JUMPED + k] += x[k] - before[k]


def _fuse(x: Floats, p: Floats, work: Floats, place: Three, velocity: Three, noise: tuple[float, float]) -> None:
    for k in range(2):
        fuse_error(x, p, work, k, place[k] - x[k], noise[0])
        fuse_error(x, p, work, E_VELOCITY + k, velocity[k] - x[VELOCITY + k], VELOCITY_NOISE)
    fuse_error(x, p, work, 2, place[2] - x[DOWN], noise[1])
    fuse_error(x, p, work, E_VELOCITY + 2, velocity[2] - x[VELOCITY + 2], VELOCITY_NOISE)


def jump(x: Floats, p: Floats, m: Floats, place: Three, velocity: Three, noise: tuple[float, float]) -> None:
    """Believe the fix and nothing else about position and velocity; the barometer goes on from there."""
    x[BARO_BIAS] += place[2] - x[DOWN]
    before = (x[0], x[1], x[2])
    for k in range(3):
        x[k], x[VELOCITY + k] = place[k], velocity[k]
        forget(p, k, noise[0] if k < 2 else noise[1])
        forget(p, E_VELOCITY + k, VELOCITY_NOISE)
    forget(p, E_BARO, noise[1])
    p[E_BARO, 2] = noise[1] * noise[1]  # the same error is in both
    p[2, E_BARO] = p[E_BARO, 2]
    p[E_BARO, E_BARO] += LEAST_NOISE * LEAST_NOISE
    m[REFUSED], m[FUSED] = 0.0, 1.0
    _note_jump(x, m, before)


def _course_for_heading(x: Floats, p: Floats, m: Floats, velocity: Three) -> None:
    """Without a compass, a vehicle that travels is taken to point where it goes."""
    fast = velocity[0] * velocity[0] + velocity[1] * velocity[1] > COURSE_SPEED * COURSE_SPEED
    if m[HEADING_KNOWN] == 0.0 and fast:
        turn = wrap_angle(atan2(velocity[1], velocity[0]) - euler(x)[2])
        reset_heading(x, p, m, turn, COURSE_NOISE, TILT_START)
