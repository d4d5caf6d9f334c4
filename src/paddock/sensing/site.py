"""The Earth around the world's origin: standard atmosphere up to 20 km (ISA) and magnetic field (WMM2025)."""

from functools import cache
from math import isfinite
from typing import Annotated, Any, NamedTuple

from paddock.compute.math import exp, log, maximum, minimum, power, select
from paddock.errors import InvalidValueError, MissingFeatureError
from paddock.world.columns import Column
from paddock.world.geodesy import Origin

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
    """Return the geopotential height (m) of a height above sea level (m, at least -5 km)."""
    h = maximum(height, LOWEST)
    return EARTH_RADIUS * h / (EARTH_RADIUS + h)


def temperature_at(altitude: float) -> float:
    """Return the air temperature (K) at a geopotential height (m)."""
    return TEMPERATURE_0 - LAPSE * minimum(altitude, TROPOPAUSE)


def pressure_at(altitude: float) -> float:
    """Return the static pressure (Pa) at a geopotential height (m)."""
    above = maximum(altitude - TROPOPAUSE, 0.0)
    return PRESSURE_0 * power(temperature_at(altitude) / TEMPERATURE_0, EXPONENT) * exp(-above / SCALE_HEIGHT)


def altitude_of(pressure: float) -> float:
    """Return the pressure altitude: the geopotential height (m) of that pressure (Pa)."""
    p = maximum(pressure, 1.0)
    below = (TEMPERATURE_0 / LAPSE) * (1.0 - power(p / PRESSURE_0, 1.0 / EXPONENT))
    return select(p > PRESSURE_1, below, TROPOPAUSE - SCALE_HEIGHT * log(p / PRESSURE_1))


EPOCH = 2025.0  # first decimal year of the model's coefficients
EXPIRY = 2030.0  # last decimal year
HEIGHT_LOW, HEIGHT_HIGH = -1000.0, 850_000.0  # valid heights, m
TESLA = 1e-9  # tesla per nanotesla


@cache
def field_at(
    latitude_deg: float, longitude_deg: float, height_m: float, decimal_year: float
) -> tuple[float, float, float]:
    """Return the field (east, north, up) in tesla at a geodetic point and time within the model's range."""
    _check("latitude_deg", latitude_deg, -90.0, 90.0)
    _check("longitude_deg", longitude_deg, -180.0, 180.0)
    _check("height_m", height_m, HEIGHT_LOW, HEIGHT_HIGH)
    _check("decimal_year", decimal_year, EPOCH, EXPIRY)
    field = _model().calculate(glat=latitude_deg, glon=longitude_deg, alt=height_m / 1000.0, time=decimal_year)
    return field.y * TESLA, field.x * TESLA, -field.z * TESLA


@cache
def _model() -> Any:
    try:
        from pygeomag import GeoMag  # type: ignore[import-untyped]
        from pygeomag.wmm.wmm_2025 import WMM_2025  # type: ignore[import-untyped]
    except ImportError:
        raise MissingFeatureError("the magnetic field needs the package pygeomag: pip install pygeomag") from None
    return GeoMag(coefficients_data=WMM_2025)


def _check(name: str, value: float, low: float, high: float) -> None:
    if not (isfinite(value) and low <= value <= high):
        raise InvalidValueError(f"magnetic model WMM2025: {name} must lie in {low:g} to {high:g}, not {value:g}")


class Site(NamedTuple):
    """The magnetic field and the height of the world's origin; the default is a mid-latitude plain."""

    field_x: Annotated[float, Column("T", "magnetic field east", low=-1e-3, high=1e-3)] = 0.0
    field_y: Annotated[float, Column("T", "magnetic field north", low=-1e-3, high=1e-3)] = 2.2e-5
    field_z: Annotated[float, Column("T", "magnetic field up", low=-1e-3, high=1e-3)] = -4.2e-5
    height: Annotated[float, Column("m", "height of the origin above sea level", low=-1e5, high=1e5)] = 0.0


def site_at(origin: Origin, decimal_year: float = EPOCH) -> Site:
    """Return the site of an origin, with the magnetic field of that year."""
    east, north, up = field_at(origin.latitude_deg, origin.longitude_deg, origin.height_m, decimal_year)
    return Site(east, north, up, origin.height_m)
