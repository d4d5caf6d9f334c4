"""Where everything lies in the filter's arrays, and how much it trusts what; plain numbers for compiled code.

The nominal state is strapped to the inertial sensors; the covariance is that of the error state, whose attitude error
is a small rotation in body axes.
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

# memory: what else the filter keeps
ALIGNED, HAS_ORIGIN, HEADING_KNOWN, STANDING = 0, 1, 2, 3  # 0 or 1
IMU_TIME, GNSS_TIME, COMPASS_TIME, BARO_TIME = 4, 5, 6, 7  # us, of the newest sample
IMU_GOOD, GNSS_GOOD, COMPASS_GOOD, BARO_GOOD = 8, 9, 10, 11  # us, of the newest that was usable (GNSS: that was fused)
RATES = 12  # 3: rad/s, the newest, bias removed
FORCE = 15  # 3: m/s2
LATITUDE, LONGITUDE, ALTITUDE = 18, 19, 20  # of the origin: deg, deg, m
PER_NORTH, PER_EAST = 21, 22  # m per deg
DECLINATION = 23  # rad
FUSED, REFUSED, COMPASS_REFUSED = 24, 25, 26  # fixes so far; fixes, compass samples refused in a row
REST_TIME = 27  # us, of the newest assumed rest
BARO_ALTITUDE = 28  # m, the newest
DIP = 29  # the field's part down over its horizontal part
GYRO_OK, ACCEL_OK, COMPASS_OK, GNSS_OK, BARO_OK = 30, 31, 32, 33, 34  # 0 or 1
JUMPS = 35  # how often the position has jumped
JUMPED = 36  # 3: m north, east, down that it has jumped altogether
WATCHES = 39  # 5 sensors x WATCH_WIDTH
WATCH_WIDTH = 4  # last value, repeats in a row, samples, whether it is free of noise
MEMORY = WATCHES + 5 * WATCH_WIDTH

# how much sensors are trusted: a little less than consumer-grade units deserve
GRAVITY = 9.80665  # m/s2
ACCEL_NOISE = 0.12  # m/s2 per sample
ACCEL_DENSITY = 0.01  # m/s2/Hz^0.5, motion between the samples
GYRO_NOISE = 0.012  # rad/s per sample
GYRO_DENSITY = 5e-4  # rad/s/Hz^0.5
ACCEL_WALK = 2e-3  # m/s2/s^0.5
GYRO_WALK = 5e-5  # rad/s/s^0.5
POSITION_WALK = 0.02  # m/s^0.5: a receiver's own slow error
BARO_WALK = 0.015  # m/s^0.5: the weather
VELOCITY_NOISE = 0.08  # m/s, of a fix
HORIZONTAL_NOISE, VERTICAL_NOISE = 1.0, 1.5  # m, of a fix that does not say
LEAST_NOISE = 0.3  # m, of a fix that says it is better
BARO_NOISE = 0.2  # m
COMPASS_NOISE = 0.06  # rad
REST_NOISE, BOOT_NOISE = 0.05, 0.5  # m/s: it stands; it has no fix yet, so it is taken to stand

# before the first update
TILT_START = 0.1  # rad
GYRO_BIAS_START = 0.02  # rad/s
ACCEL_BIAS_START = 0.2  # m/s2
HEADING_UNKNOWN = 3.0  # rad

GATE = 5.0  # standard deviations
US = 1e-6  # s
LONGEST_STEP = 0.5  # s: a longer gap between inertial samples is not integrated
REST_PERIOD = 1e5  # us between assumed rests
STALE = 5e5  # us: an inertial sensor, a compass or a barometer that is silent for longer is not healthy
GNSS_STALE = 2e6  # us
POSITION_HOLDS = 4e6  # us of dead reckoning during which the position may be relied on
POSITION_LIMIT = 10.0  # m, 1 sigma
FIXES_NEEDED = 5.0
REFUSALS_LOST, REFUSALS_FRESH = 3.0, 25.0  # fixes in a row after which the filter yields: when lost, when sure
COMPASS_PATIENCE = 40.0  # samples refused in a row after which the heading is doubted
FROZEN = 20.0  # equal samples in a row
PROBATION = 50.0  # samples in which a sensor shows whether it has noise
COURSE_SPEED = 3.0  # m/s: without a compass, the course is taken for the heading from this speed on
