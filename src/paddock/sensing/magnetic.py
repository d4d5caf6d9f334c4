"""The Earth's magnetic field by the World Magnetic Model WMM2025."""

from __future__ import annotations

from functools import cache
from math import isfinite
from typing import Any

from paddock.errors import InvalidValueError, MissingFeatureError

EPOCH = 2025.0
"""The decimal year from which the model's coefficients hold."""
EXPIRY = 2030.0
"""The decimal year until which they hold."""
HEIGHT_LOW, HEIGHT_HIGH = -1000.0, 850_000.0
"""The heights in m for which the model is made."""
TESLA = 1e-9
"""Tesla per nanotesla."""


@cache
def field_at(
    latitude_deg: float, longitude_deg: float, height_m: float, decimal_year: float
) -> tuple[float, float, float]:
    """The field (east, north, up) in tesla at a geodetic point and a time; refused outside what the model covers."""
    _check("latitude_deg", latitude_deg, -90.0, 90.0)
    _check("longitude_deg", longitude_deg, -180.0, 180.0)
    _check("height_m", height_m, HEIGHT_LOW, HEIGHT_HIGH)
    _check("decimal_year", decimal_year, EPOCH, EXPIRY)
    found = _model().calculate(glat=latitude_deg, glon=longitude_deg, alt=height_m / 1000.0, time=decimal_year)
    return found.y * TESLA, found.x * TESLA, -found.z * TESLA


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
