"""Columns of the filter's arrays and its tuning, as plain numbers for compiled code.

The covariance is that of the error state, whose attitude error is a small rotation in body axes.
"""

from __future__ import annotations

# nominal state
NORTH, EAST, DOWN = 0, 1, 2  # m
VELOCITY = 3  # 3: m/s north, east, down
QUATERNION = 6  # 4: w, x, y, z, body to north-east-down
GYRO_BIAS = 10  # 3: rad/s
ACCEL_BIAS = 13  # 3: m/s2
BARO_BIAS = 16  # m: barometric altitude less the height above the origin
STATES = 17

# error state
E_POSITION, E_VELOCITY, E_TILT, E_GYRO, E_ACCEL, E_BARO = 0, 3, 6, 9, 12, 15
ERRORS = 16

# memory
ALIGNED, HAS_ORIGIN, HEADING_KNOWN, STANDING = 0, 1, 2, 3  # 0 or 1
IMU_TIME, GNSS_TIME, COMPASS_TIME, BARO_TIME = 4, 5, 6, 7  # us, of the newest sample
IMU_GOOD, GNSS_GOOD, COMPASS_GOOD, BARO_GOOD = 8, 9, 10, 11  # us, of the newest usable sample (GNSS: fused)
RATES = 12  # 3: rad/s, the newest, bias removed
FORCE = 15  # 3: m/s2
LATITUDE, LONGITUDE, ALTITUDE = 18, 19, 20  # of the origin: deg, deg, m
PER_NORTH, PER_EAST = 21, 22  # m per deg
DECLINATION = 23  # rad
FUSED, REFUSED, COMPASS_REFUSED = 24, 25, 26  # fixes fused; fixes, compass samples rejected in a row
REST_TIME = 27  # us, of the last zero-velocity update
BARO_ALTITUDE = 28  # m, newest
DIP = 29  # vertical over horizontal field
GYRO_OK, ACCEL_OK, COMPASS_OK, GNSS_OK, BARO_OK = 30, 31, 32, 33, 34  # 0 or 1
JUMPS = 35  # number of position jumps
JUMPED = 36  # 3: m north, east, down, sum of all jumps
WATCHES = 39  # 5 sensors x WATCH_WIDTH
WATCH_WIDTH = 4  # last value, repeats in a row, samples, 1: noise-free
MEMORY = WATCHES + 5 * WATCH_WIDTH

# noise: a little more than that of consumer-grade sensors
GRAVITY = 9.80665  # m/s2
ACCEL_NOISE = 0.12  # m/s2 per sample
ACCEL_DENSITY = 0.01  # m/s2/Hz^0.5, motion between samples
GYRO_NOISE = 0.012  # rad/s per sample
GYRO_DENSITY = 5e-4  # rad/s/Hz^0.5
ACCEL_WALK = 2e-3  # m/s2/s^0.5
GYRO_WALK = 5e-5  # rad/s/s^0.5
POSITION_WALK = 0.02  # m/s^0.5: slow error of a receiver
BARO_WALK = 0.015  # m/s^0.5: weather
VELOCITY_NOISE = 0.08  # m/s, of a fix
HORIZONTAL_NOISE, VERTICAL_NOISE = 1.0, 1.5  # m, of a fix without accuracy
LEAST_NOISE = 0.3  # m, lower bound of a fix's accuracy
BARO_NOISE = 0.2  # m
COMPASS_NOISE = 0.06  # rad
REST_NOISE, BOOT_NOISE = 0.05, 0.5  # m/s: standing; no fix yet, assumed to stand

# initial uncertainty
TILT_START = 0.1  # rad
GYRO_BIAS_START = 0.02  # rad/s
ACCEL_BIAS_START = 0.2  # m/s2
HEADING_UNKNOWN = 3.0  # rad

GATE = 5.0  # standard deviations
US = 1e-6  # s
LONGEST_STEP = 0.5  # s: longer gaps between inertial samples are clipped
REST_PERIOD = 1e5  # us between zero-velocity updates
STALE = 5e5  # us: timeout of IMU, compass and barometer
GNSS_STALE = 2e6  # us
POSITION_HOLDS = 4e6  # us of dead reckoning with a valid position
POSITION_LIMIT = 10.0  # m, 1 sigma
FIXES_NEEDED = 5.0
REFUSALS_LOST, REFUSALS_FRESH = 3.0, 25.0  # rejected fixes in a row that reset the filter: when lost, when certain
COMPASS_PATIENCE = 40.0  # rejected samples in a row that increase the heading uncertainty
FROZEN = 20.0  # equal samples in a row
PROBATION = 50.0  # samples in which a sensor shows whether it is noisy
COURSE_SPEED = 3.0  # m/s: without a compass, the course sets the heading above this speed
