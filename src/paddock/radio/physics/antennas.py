"""Antennas: gain by direction, orientation, polarisation.

The frame of an antenna: x is the middle of the beam, z is the axis of a dipole and the plane of vertical polarisation.
A mounting turns it by pitch and yaw in the body frame (FLU) of its vehicle, and the vehicle's attitude turns both:
`facing` composes them, once per radio; `gain_db` then needs one rotation per link.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import (
    PI,
    absolute,
    asin,
    atan2,
    clamp,
    log,
    maximum,
    minimum,
    select,
    sin,
    sincos,
    sqrt,
    whole,
)
from paddock.compute.quaternion import euler_quaternion, unrotate
from paddock.errors import PaddockError
from paddock.radio.physics.signal import DECIBELS

Floats = NDArray[np.float64]
ISOTROPIC, DIPOLE, SECTOR, PATTERN = range(4)
KINDS = {"isotropic": ISOTROPIC, "dipole": DIPOLE, "sector": SECTOR, "pattern": PATTERN}
DIPOLE_GAIN = 2.1508803745492284  # dBi: 10 log10(4 / Cin(2 pi))
NULL = 1e-6  # the pattern of a dipole is not below this share of its peak: -60 dB
FRONT_TO_BACK = 25.0  # dB: what a sector antenna attenuates at most
PATTERN_ROWS, PATTERN_COLUMNS = 181, 361  # elevation -90 to 90 degrees, azimuth -180 to 180, in whole degrees
LINEAR, RIGHT, LEFT = range(3)
POLARISATIONS = {
    "vertical": (LINEAR, 0.0),
    "horizontal": (LINEAR, 0.5 * PI),
    "right": (RIGHT, 0.0),
    "left": (LEFT, 0.0),
}
"""Kind and angle (rad) about the middle of the beam, from vertical."""
CROSS_POLAR = 0.003  # share of the power that reaches an antenna of the opposite polarisation: -25 dB


class Antenna(NamedTuple):
    """The numbers of an antenna that `gain_db` takes."""

    kind: int = ISOTROPIC
    peak: float = 0.0  # dBi
    azimuth: float = 0.0  # rad, width of a sector's beam between its points of half power
    elevation: float = 0.0  # rad
    pattern: int = 0  # which of the patterns


def gain_db(
    kind: int, peak: float, azimuth: float, elevation: float, pattern: int, patterns: Any, x: float, y: float, z: float
) -> float:
    """Return the gain (dBi) towards a unit vector in the frame of the antenna; the numbers are those of `Antenna`.

    `patterns` (k, PATTERN_ROWS, PATTERN_COLUMNS) holds gains (dBi, or dB if `peak` is the gain of the strongest).
    """
    if kind == DIPOLE:
        return peak + dipole_db(x, y, z)
    if kind == SECTOR:
        return peak + sector_db(azimuth, elevation, x, y, z)
    if kind == PATTERN:
        return peak + pattern_db(pattern, patterns, x, y, z)
    return peak


def dipole_db(x: float, y: float, z: float) -> float:
    """Return the pattern (dB below its peak) of a half-wave dipole along z: cos(pi/2 cos t) / sin t, squared."""
    square = x * x + y * y
    # cos(pi/2 cos t) = sin(pi/2 (1 - |cos t|)), and 1 - |cos t| = sin^2 t / (1 + |cos t|): no cancellation at the axis
    above = sin(0.5 * PI * square / (1.0 + absolute(z)))
    return DECIBELS * log(maximum(above * above / maximum(square, 1e-30), NULL))


def sector_db(azimuth: float, elevation: float, x: float, y: float, z: float) -> float:
    """Return the pattern (dB below its peak) of a sector antenna: 3 dB at half the width of the beam (3GPP TR 36.814).

    Attenuation is quadratic in azimuth and in elevation and limited to FRONT_TO_BACK.
    """
    u, v = atan2(y, x) / azimuth, asin(z) / elevation
    return -minimum(12.0 * (u * u + v * v), FRONT_TO_BACK)


def pattern_db(pattern: int, patterns: Any, x: float, y: float, z: float) -> float:
    """Return the value between those of a table of patterns (bilinear in dB)."""
    u = clamp((atan2(y, x) * (180.0 / PI) + 180.0), 0.0, 359.999999999)
    v = clamp((asin(z) * (180.0 / PI) + 90.0), 0.0, 179.999999999)
    i, j = whole(u), whole(v)
    a, b = u - i, v - j
    low: float = patterns[pattern, j, i] + a * (patterns[pattern, j, i + 1] - patterns[pattern, j, i])
    high: float = patterns[pattern, j + 1, i] + a * (patterns[pattern, j + 1, i + 1] - patterns[pattern, j + 1, i])
    return low + b * (high - low)


def mounting(pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Return the quaternion from the antenna's frame to the body: positive pitch raises the beam (rad)."""
    return euler_quaternion(0.0, -pitch, yaw)


def facing(
    qx: float, qy: float, qz: float, qw: float, mx: float, my: float, mz: float, mw: float
) -> tuple[float, float, float, float]:
    """Return the quaternion from the antenna's frame to the world: attitude of the vehicle times mounting."""
    return (
        qw * mx + qx * mw + qy * mz - qz * my,
        qw * my + qy * mw + qz * mx - qx * mz,
        qw * mz + qz * mw + qx * my - qy * mx,
        qw * mw - qx * mx - qy * my - qz * mz,
    )


def direction(
    qx: float, qy: float, qz: float, qw: float, dx: float, dy: float, dz: float
) -> tuple[float, float, float]:
    """Return a vector of the world (m, any length) as a unit vector in the frame of an antenna; x for a zero vector."""
    x, y, z = unrotate(qx, qy, qz, qw, dx, dy, dz)
    size = sqrt(x * x + y * y + z * z)
    still = size < 1e-9
    scale = 1.0 / select(still, 1.0, size)
    return select(still, 1.0, x * scale), select(still, 0.0, y * scale), select(still, 0.0, z * scale)


def polarisation_axis(angle: float) -> tuple[float, float, float]:
    """Return the plane of a linear polarisation as a unit vector in the antenna's frame; 0 is vertical (rad)."""
    s, c = sincos(angle)
    return 0.0, s, c


def polarisation_share(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float, dx: float, dy: float, dz: float
) -> float:
    """Return the square of the cosine between two linear polarisations, seen along a line between the antennas.

    All vectors are in world axes, the direction of any length. An axis along the line has no plane: 0.5.
    """
    along = 1.0 / maximum(dx * dx + dy * dy + dz * dz, 1e-30)
    da, db = ax * dx + ay * dy + az * dz, bx * dx + by * dy + bz * dz
    aa = ax * ax + ay * ay + az * az - da * da * along
    bb = bx * bx + by * by + bz * bz - db * db * along
    ab = ax * bx + ay * by + az * bz - da * db * along
    undefined = (aa < 1e-12) | (bb < 1e-12)
    return select(undefined, 0.5, minimum(ab * ab / select(undefined, 1.0, aa * bb), 1.0))


def polarisation_loss_db(kind_a: int, kind_b: int, share: float) -> float:
    """Return the loss (dB) between two polarisations; `share` is that of two linear ones (`polarisation_share`).

    Linear to circular loses 3 dB; opposite ones keep CROSS_POLAR, as real antennas are not perfect.
    """
    both_linear, both_circular = (kind_a == LINEAR) & (kind_b == LINEAR), (kind_a != LINEAR) & (kind_b != LINEAR)
    circular = select(kind_a == kind_b, 1.0, 0.0)
    kept = select(both_linear, share, select(both_circular, circular, 0.5))
    return -DECIBELS * log(maximum(kept, CROSS_POLAR))


def sector_antenna(azimuth: float, elevation: float, peak: float | None = None) -> Antenna:
    """Return a sector antenna with the widths of its beam (rad); without a gain (dBi), that of one without losses."""
    if not (0.0 < azimuth <= 2.0 * PI and 0.0 < elevation <= PI):
        raise PaddockError(
            f"beam of {azimuth:g} x {elevation:g} rad: use an azimuth up to 2 pi and an elevation up to pi"
        )
    return Antenna(SECTOR, _lossless(azimuth, elevation) if peak is None else peak, azimuth, elevation)


def dipole_antenna(peak: float | None = None) -> Antenna:
    """Return a half-wave dipole; without losses unless its peak gain (dBi) is given."""
    return Antenna(DIPOLE, DIPOLE_GAIN if peak is None else peak)


def _lossless(azimuth: float, elevation: float) -> float:
    """Return the peak gain (dBi) for which a sector's pattern has the mean 1 over the sphere."""
    share = (np.arange(1440) + 0.5) / 1440  # of a quarter of the sphere: the pattern is symmetric
    u, v = PI * share, 0.5 * PI * share
    attenuation = np.minimum(12.0 * ((u[:, None] / azimuth) ** 2 + (v[None] / elevation) ** 2), FRONT_TO_BACK)
    mean = 0.5 * PI * float((10.0 ** (-0.1 * attenuation) * np.cos(v)).mean())
    return round(float(-10.0 * np.log10(mean)), 6)  # the same on all processors


def pattern_table(azimuth_deg: Floats, elevation_deg: Floats, gain: Floats) -> Floats:
    """Return a pattern (PATTERN_ROWS, PATTERN_COLUMNS) from gains (dBi) at elevations x azimuths in degrees.

    Azimuths ascend within 360 degrees and wrap around; elevations ascend within -90 to 90, and the first and last
    continue to the poles.
    """
    azimuth, elevation = np.asarray(azimuth_deg, np.float64), np.asarray(elevation_deg, np.float64)
    values = np.asarray(gain, np.float64)
    if values.shape != (len(elevation), len(azimuth)):
        raise PaddockError(
            f"pattern of {len(elevation)} elevations and {len(azimuth)} azimuths has {values.shape} gains; "
            "use one row per elevation and one column per azimuth"
        )
    if not (np.isfinite(values).all() and np.isfinite(azimuth).all() and np.isfinite(elevation).all()):
        raise PaddockError("pattern has a value that is not finite")
    if not len(azimuth) or (np.diff(azimuth) <= 0.0).any() or azimuth[-1] - azimuth[0] > 360.0:
        raise PaddockError("azimuths of a pattern must ascend within 360 degrees")
    if not len(elevation) or (np.diff(elevation) <= 0.0).any() or abs(elevation).max() > 90.0:
        raise PaddockError("elevations of a pattern must ascend within -90 to 90 degrees")
    at = np.linspace(-180.0, 180.0, PATTERN_COLUMNS)
    around = np.array([np.interp(at, azimuth, row, period=360.0) for row in values])
    up = np.linspace(-90.0, 90.0, PATTERN_ROWS)
    return np.ascontiguousarray(np.array([np.interp(up, elevation, column) for column in around.T]).T)
