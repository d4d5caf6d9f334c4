"""What sensors with arrays see: the vehicles that carry them, and everything around these."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.world.columns import Floats

Ints = NDArray[np.int64]


class SolidColumn(NamedTuple):
    """Columns of a table of solids (n, 20): boxes, frustums, spheres and capsules with any attitude."""

    x: int = 0  # m, centre, and the next two
    axes: int = 3  # the body's forward, left and up axes in the world, three numbers each
    half: int = 12  # m, half the size along these axes; a frustum stands along the last one
    shape: int = 15  # BOX, FRUSTUM, ROUND_BALL or ROUND_BAR
    base: int = 16  # m, radius of a frustum at its lower end
    top: int = 17  # m, radius at its upper end
    reach: int = 18  # m, radius of a sphere around the centre that contains it
    number: int = 19  # of the vehicle (its id), or -1
    size: int = 20


SOLID = SolidColumn()
BOX, FRUSTUM, ROUND_BALL, ROUND_BAR = 0.0, 1.0, 2.0, 3.0
"""Shapes: a cylinder or cone is a frustum; a capsule is a bar along its first axis, whose half size includes the round
ends; their radius is the last half size."""


class ConeColumn(NamedTuple):
    """Columns of a table of cones (n, 6)."""

    x: int = 0  # m, foot of the cone, and the next two
    colour: int = 3  # index in CONE_COLOURS of paddock.track
    number: int = 4  # of the cone, for people and the ground truth
    height: int = 5  # m
    size: int = 6


CONE = ConeColumn()


class Cones(NamedTuple):
    """The cones of a world, wherever they are now."""

    table: Floats  # (n, 6), columns of ConeColumn
    keys: Ints  # (n,) identity of each, from which its draws follow; does not depend on other cones


NO_SOLIDS: Floats = np.zeros((0, SOLID.size))
NO_CONES = Cones(np.zeros((0, CONE.size)), np.zeros(0, np.int64))


class Near(NamedTuple):
    """Solids by the cell of their centre; large ones, which may reach beyond the next cell, at the end."""

    cells: Floats  # (5,) x and y of the corner, 1 / cell, columns, rows
    starts: Ints  # (cells + 1,) places in `items`
    items: Ints  # (n,) rows of the table


NOWHERE = Near(np.array([0.0, 0.0, 1.0, 1.0, 1.0]), np.zeros(2, np.int64), np.zeros(0, np.int64))


class Around(NamedTuple):
    """What there is around the vehicles at a tick."""

    fixed: Floats = NO_SOLIDS  # (k, 20) obstacles that never move
    fixed_near: Near = NOWHERE
    bodies: Floats = NO_SOLIDS  # (k, 20) bodies of vehicles, cones and crates
    bodies_near: Near = NOWHERE
    cones: Cones = NO_CONES
    scenery: tuple[Floats, ...] = ()  # tables of uneven ground, in the order of SCENERY_TABLES; empty: flat ground


class FleetView(NamedTuple):
    """A fleet whose sensors look around."""

    n: int
    pose: Floats  # (13, >= n)
    ids: Ints  # (n,) of the vehicles, which do not see themselves
    streams: Ints  # (n,) name hashes
    options: Any  # named tuple of the sensor's options
    environment: Floats
    around: Around
    key: int  # of the random draws
    purpose: int  # the first of the sensor's own
    tick: int
