"""The International Standard Atmosphere up to 20 km as scalar code; the same in every world, whatever its gravity."""

from __future__ import annotations

from paddock.compute.math import exp, log, maximum, minimum, power, select

PRESSURE_0 = 101325.0  # Pa at sea level
TEMPERATURE_0 = 288.15  # K at sea level
LAPSE = 0.0065  # K/m up to the tropopause
EXPONENT = 5.255879812716677  # standard gravity / (gas constant of air x lapse)
TROPOPAUSE = 11000.0  # m, geopotential
PRESSURE_1 = 22632.04009500781  # Pa at the tropopause
SCALE_HEIGHT = 6341.615565509119  # m above it, where the temperature no longer falls
EARTH_RADIUS = 6356766.0  # m, as the standard defines geopotential height
LOWEST = -5000.0  # m


def geopotential(height: float) -> float:
    """The geopotential height (m) of a height above sea level (m, at least -5 km)."""
    h = maximum(height, LOWEST)
    return EARTH_RADIUS * h / (EARTH_RADIUS + h)


def temperature_at(altitude: float) -> float:
    """The air temperature (K) at a geopotential height (m)."""
    return TEMPERATURE_0 - LAPSE * minimum(altitude, TROPOPAUSE)


def pressure_at(altitude: float) -> float:
    """The static pressure (Pa) at a geopotential height (m)."""
    above = maximum(altitude - TROPOPAUSE, 0.0)
    return PRESSURE_0 * power(temperature_at(altitude) / TEMPERATURE_0, EXPONENT) * exp(-above / SCALE_HEIGHT)


def altitude_of(pressure: float) -> float:
    """The geopotential height (m) at which the standard atmosphere has that pressure (Pa): the pressure altitude."""
    p = maximum(pressure, 1.0)
    below = (TEMPERATURE_0 / LAPSE) * (1.0 - power(p / PRESSURE_0, 1.0 / EXPONENT))
    return select(p > PRESSURE_1, below, TROPOPAUSE - SCALE_HEIGHT * log(p / PRESSURE_1))
