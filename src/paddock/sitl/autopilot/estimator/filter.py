"""One row of sensor data through the filter: what runs compiled."""

from __future__ import annotations

from paddock.compute.routine import routine
from paddock.sitl.autopilot.estimator.aiding import begin_barometer, take_barometer, take_compass
from paddock.sitl.autopilot.estimator.inertial import take_imu
from paddock.sitl.autopilot.estimator.layout import (
    ALIGNED,
    BARO_GOOD,
    DECLINATION,
    DIP,
    GNSS_GOOD,
    GNSS_TIME,
    HAS_ORIGIN,
    HEADING_KNOWN,
)
from paddock.sitl.autopilot.estimator.result import write, write_truth
from paddock.sitl.autopilot.estimator.rotations import turn_heading
from paddock.sitl.autopilot.estimator.satellites import EPH, EPV, SPEED, fix_place, jump, take_fix
from paddock.sitl.sensor_data import Floats


def update(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> bool:
    """Use what is new in a row; True if a good fix waits for an origin."""
    take_imu(row, x, p, m, work)
    wanted = False
    if m[ALIGNED] == 1.0:
        take_compass(row, x, p, m, work, out)
        take_barometer(row, x, p, m, work, out)
        wanted = take_fix(row, x, p, m, work, out)
    write(row, x, p, m, out)
    return wanted


def begin(row: Floats, x: Floats, p: Floats, m: Floats, declination: float, dip: float) -> None:
    """The origin is known: start there, with the fix's velocity; magnetic heading becomes true heading."""
    if m[HEADING_KNOWN] == 1.0:
        turn_heading(x, declination - m[DECLINATION])
    m[DECLINATION], m[DIP] = declination, dip
    m[HAS_ORIGIN] = 1.0
    noise = (row[EPH] if row[EPH] > 0.3 else 1.0, row[EPV] if row[EPV] > 0.3 else 1.5)
    jump(x, p, m, fix_place(row, m), (row[SPEED], row[SPEED + 1], row[SPEED + 2]), noise)
    m[GNSS_GOOD] = m[GNSS_TIME]
    if m[BARO_GOOD] >= 0.0:
        begin_barometer(x, p, m)


run_filter = routine(update)
begin_filter = routine(begin)
copy_truth = routine(write_truth)
