"""Where on the Earth the world lies, as far as sensors notice it."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from paddock.sensing.magnetic import EPOCH, field_at
from paddock.world.columns import Column
from paddock.world.geodesy import Origin


class Site(NamedTuple):
    """The magnetic field and the height of the world's origin; the default is a plain at a middle latitude."""

    field_x: Annotated[float, Column("T", "magnetic field east", low=-1e-3, high=1e-3)] = 0.0
    field_y: Annotated[float, Column("T", "magnetic field north", low=-1e-3, high=1e-3)] = 2.2e-5
    field_z: Annotated[float, Column("T", "magnetic field up", low=-1e-3, high=1e-3)] = -4.2e-5
    height: Annotated[float, Column("m", "height of the origin above sea level", low=-1e5, high=1e5)] = 0.0


def site_at(origin: Origin, decimal_year: float = EPOCH) -> Site:
    """The site of an origin, with the magnetic field of that year (the year is given: no clock is read)."""
    east, north, up = field_at(origin.latitude_deg, origin.longitude_deg, origin.height_m, decimal_year)
    return Site(east, north, up, origin.height_m)
