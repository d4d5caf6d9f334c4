"""Wind near the ground: its profile with height, and gusts with the spectrum of Dryden.

A world whose `wind` is a plain vector has it at every height, as a constant of its `Environment`. With a profile or
gusts each vehicle has a wind of its own, which the stage `air` of the tick writes into a table of its fleet
(`WIND_TABLE`); kernels then take the environment's wind from there (`VARYING_WIND`).

Profile: the logarithmic law of a neutral surface layer, ln(h / z0) / ln(h_ref / z0), or the power law, (h / h_ref)^a.
Gusts: the low-altitude model of MIL-F-8785C (1980), 3.7.3 and figures 8 to 11, with the forms of Dryden. Intensities
and lengths follow from the height and the wind at 20 ft. The shaping filters are integrated exactly for a constant
speed in each tick, and start in their steady state. Above 1,000 ft the intensity stays, and the lengths grow to those
of medium altitudes at 2,000 ft. Gusts that turn the vehicle are not part of it.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import clamp, exp, log, maximum, minimum, power, select, sqrt
from paddock.compute.philox import normals
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.twin import vectorised
from paddock.world.columns import Column, Environment, Floats, column_index

WIND_TABLE = "wind"  # the table of a fleet with the rows of VehicleWind
VARYING_WIND = ("wind_x", "wind_y", "wind_z")  # fields of the environment that its first rows replace
WIND_ROWS = [column_index(Environment)[name] for name in VARYING_WIND]
GUST_PURPOSE = 912  # of the random draws, and the two after it
FOOT = 0.3048  # m
GUST_HEIGHT = 20.0 * FOOT  # m: where the wind determines the intensity of gusts
LOW, HIGH, MEDIUM = 10.0, 1000.0, 2000.0  # ft: limits of the low-altitude model, and the begin of medium altitudes
MEDIUM_LENGTH = 1750.0  # ft
SQRT_3 = 1.7320508075688772
FROM_STEADY_STATE = 1e3  # time constants after which a filter has forgotten its start


class VehicleWind(NamedTuple):
    """The wind at one vehicle, and the memory of its gusts: filters of unit intensity."""

    wind_x: Annotated[float, Column("m/s", "wind at the vehicle towards the east")] = 0.0
    wind_y: Annotated[float, Column("m/s", "wind at the vehicle towards the north")] = 0.0
    wind_z: Annotated[float, Column("m/s", "wind at the vehicle upwards")] = 0.0
    along: Annotated[float, Column("", "filter of the gust along the mean wind")] = 0.0
    across_1: Annotated[float, Column("", "first filter of the gust across it")] = 0.0
    across_2: Annotated[float, Column("", "second filter of the gust across it")] = 0.0
    up_1: Annotated[float, Column("", "first filter of the vertical gust")] = 0.0
    up_2: Annotated[float, Column("", "second filter of the vertical gust")] = 0.0
    begun: Annotated[float, Column("0/1", "the filters have begun")] = 0.0
    centre: Annotated[float, Column("m", "height of the body's centre above the vehicle's position")] = 0.0


class WindProfile(NamedTuple):
    """How the wind depends on the height above the ground; the reference height has the wind of the environment."""

    roughness: float = 0.0  # m, of the logarithmic law; 0: the power law
    exponent: float = 0.0  # of the power law; 0: the same wind at every height
    height: float = 10.0  # m, the reference
    top: float = 300.0  # m, above which it does not change


class Gusts(NamedTuple):
    """Length scales (m) and intensities (m/s) of the gusts at a height: along and across the mean wind, vertical."""

    level_length: float
    up_length: float
    level_sigma: float
    up_sigma: float


class Air:
    """The profile of the wind and the gusts of a world."""

    def __init__(self, profile: WindProfile, gust_wind: float | None) -> None:
        """`gust_wind`: wind at 20 ft that determines the gusts, m/s; None: no gusts."""
        self.profile, self.gust_wind = profile, gust_wind

    def share(self, height: Any) -> Floats:
        """Return the mean wind at heights above the ground (m), as a share of that at the reference height."""
        return np.asarray(vectorised(profile_share)(np.asarray(height, np.float64), self.profile))

    def mean(self, wind: Any, height: Any) -> Floats:
        """Return the mean wind (3, ...) at heights above the ground (m); `wind` (m/s) is that at the reference."""
        return np.multiply.outer(np.asarray(wind, np.float64), self.share(height))


def air_of(section: Any) -> Air | None:
    """Return the air of a scenario's section `world`; None if the wind is the same everywhere."""
    profile, gusts = section.wind_profile, section.gusts
    if profile is None and gusts is None:
        return None
    law = WindProfile()
    if profile is not None:
        law = WindProfile(profile.roughness or 0.0, profile.exponent or 0.0, profile.height, profile.top)
    if gusts is None:
        return Air(law, None)
    level = float(np.sqrt(section.wind[0] ** 2 + section.wind[1] ** 2)) * float(Air(law, None).share(GUST_HEIGHT))
    return Air(law, level if gusts.wind_20ft is None else gusts.wind_20ft)


def profile_share(height: float, profile: WindProfile) -> float:
    """Return the mean wind at a height above the ground (m) over that at the reference height."""
    h = minimum(maximum(height, 0.0), profile.top)
    z0 = maximum(profile.roughness, 1e-9)
    logarithmic = log(maximum(h / z0, 1.0)) / log(maximum(profile.height / z0, 1.0 + 1e-9))
    share = power(maximum(h / profile.height, 1e-12), profile.exponent)
    share = select((h > 0.0) | (profile.exponent == 0.0), share, 0.0)
    return select(profile.roughness > 0.0, logarithmic, share)


def gusts_at(height: float, gust_wind: float) -> Gusts:
    """Return lengths and intensities at a height above the ground (m), for a wind at 20 ft (m/s)."""
    feet = clamp(height / FOOT, LOW, HIGH)
    ratio = 0.177 + 0.000823 * feet
    higher = clamp((height / FOOT - HIGH) / (MEDIUM - HIGH), 0.0, 1.0)
    level, up = feet / power(ratio, 1.2), feet
    level, up = level + higher * (MEDIUM_LENGTH - level), up + higher * (MEDIUM_LENGTH - up)
    sigma = 0.1 * gust_wind
    return Gusts(level * FOOT, up * FOOT, sigma / power(ratio, 0.4), sigma)


def next_level_gust(before: float, steps: float, noise: float) -> float:
    """Return the output of 1 / (1 + T s), variance 1, after `steps` time constants T."""
    left = exp(-steps)
    return left * before + sqrt(maximum(1.0 - left * left, 0.0)) * noise


def next_cross_gust(first: float, second: float, steps: float, noise: tuple[float, float]) -> tuple[float, float]:
    """Return the outputs of 1 / (1 + T s) and 1 / (1 + T s)^2, variances 1/2 and 1/4, after `steps` time constants.

    sqrt(3) x first + (1 - sqrt(3)) x second is the output of (1 + sqrt(3) T s) / (1 + T s)^2, with a variance of 1.
    """
    left = exp(-steps)
    square = left * left
    q11 = 0.5 * (1.0 - square)
    q12 = 0.25 - square * (0.5 * steps + 0.25)
    q22 = 0.25 - square * (0.5 * steps * steps + 0.5 * steps + 0.25)
    l11 = sqrt(maximum(q11, 0.0))
    l21 = q12 / maximum(l11, 1e-12)
    l22 = sqrt(maximum(q22 - l21 * l21, 0.0))
    after = left * first + l11 * noise[0]
    return after, left * second + steps * left * first + l21 * noise[0] + l22 * noise[1]


def cross_gust(first: float, second: float) -> float:
    """Return the gust of unit intensity from both filters."""
    return SQRT_3 * first + (1.0 - SQRT_3) * second


def next_wind(
    w: VehicleWind, mean: tuple[float, float, float], through: float, g: Gusts, draw: tuple[int, int, int], dt: float
) -> VehicleWind:
    """Return the wind after dt seconds at a speed `through` the mean air (m/s); `draw`: seed, stream, tick."""
    seed, stream, tick = draw
    along_noise, _ = normals(seed, stream, GUST_PURPOSE, tick)
    across_noise = normals(seed, stream, GUST_PURPOSE + 1, tick)
    up_noise = normals(seed, stream, GUST_PURPOSE + 2, tick)
    level_steps = select(w.begun > 0.5, through * dt / g.level_length, FROM_STEADY_STATE)
    up_steps = select(w.begun > 0.5, through * dt / g.up_length, FROM_STEADY_STATE)
    along = next_level_gust(w.along, level_steps, along_noise)
    across_1, across_2 = next_cross_gust(w.across_1, w.across_2, level_steps, across_noise)
    up_1, up_2 = next_cross_gust(w.up_1, w.up_2, up_steps, up_noise)
    level = sqrt(mean[0] * mean[0] + mean[1] * mean[1])
    east = select(level > 0.0, mean[0] / maximum(level, 1e-12), 1.0)
    north = select(level > 0.0, mean[1] / maximum(level, 1e-12), 0.0)
    u, v = g.level_sigma * along, g.level_sigma * cross_gust(across_1, across_2)
    x, y = mean[0] + u * east - v * north, mean[1] + u * north + v * east
    z = mean[2] + g.up_sigma * cross_gust(up_1, up_2)
    return VehicleWind(x, y, z, along, across_1, across_2, up_1, up_2, 1.0, w.centre)


def _blow(
    pose: Floats, ground: Floats, wind: Floats, profile: WindProfile, gust_wind: float, streams: NDArray[np.int64],
    seed: int, tick: int, dt: float, table: Floats,
) -> None:  # fmt: skip
    """Write the wind of every vehicle into its fleet's table.

    pose (13, ...); ground: its height (n,), m; wind (3,) at the reference height; gust_wind: at 20 ft, m/s, below 0: no
    gusts; seed, streams and tick of the random draws.
    """
    for i in parallel_range(len(ground)):
        t = table[:, i]
        w = VehicleWind(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9])
        height = pose[2, i] + w.centre - ground[i]
        share = profile_share(height, profile)
        x, y, z = share * wind[0], share * wind[1], share * wind[2]
        if gust_wind < 0.0:
            table[0, i], table[1, i], table[2, i] = x, y, z
        else:
            rx, ry, rz = pose[7, i] - x, pose[8, i] - y, pose[9, i] - z
            through, draw = sqrt(rx * rx + ry * ry + rz * rz), (seed, streams[i], tick)
            after = next_wind(w, (x, y, z), through, gusts_at(height, gust_wind), draw, dt)
            for k in range(9):
                table[k, i] = after[k]


blow = parallel_routine(_blow, items=lambda pose, ground, *_: len(ground))
