"""The last contact of every vehicle: the columns of its table, and those of snapshots."""

from typing import Annotated, NamedTuple

from paddock.world.columns import Column, column_index

CONTACT = "contact"  # the table of the last contact of each vehicle


class LastContact(NamedTuple):
    """The last touch of a vehicle with another or with an obstacle."""

    tick: Annotated[float, Column("", "tick of the touch, -1: none yet")] = -1.0
    other: Annotated[float, Column("", "id of the other vehicle, -1: an obstacle or none")] = -1.0
    impulse: Annotated[float, Column("N s", "impulse along the normal")] = 0.0
    x: Annotated[float, Column("m", "where it was touched, east")] = 0.0
    y: Annotated[float, Column("m", "where it was touched, north")] = 0.0
    z: Annotated[float, Column("m", "where it was touched, up")] = 0.0
    nx: Annotated[float, Column("", "normal east: the direction in which the other pushes")] = 0.0
    ny: Annotated[float, Column("", "normal north")] = 0.0
    nz: Annotated[float, Column("", "normal up")] = 0.0
    disarmed: Annotated[float, Column("0/1", "1: it has crashed and stays disarmed until it is placed")] = 0.0


SHOWN_CONTACT = ("collided", *column_index(LastContact))
CONTACT_NAMES = tuple(f"contact.{name}" for name in SHOWN_CONTACT)
COLLIDED_FOR = 0.5  # s: a vehicle counts as collided for this long after a touch
