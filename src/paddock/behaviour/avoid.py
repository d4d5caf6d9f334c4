"""Avoidance: how vehicles with the option `avoid` keep clear of the vehicles of all other fleets."""

from collections.abc import Iterable
from typing import Annotated, NamedTuple

import numpy as np

from paddock.behaviour.rule import Floats, Urge
from paddock.compute.math import maximum, sqrt
from paddock.compute.neighbours import NeighbourGrid, NeighbourSpec
from paddock.world.columns import Column
from paddock.world.pose import Pose

ROWS = [Pose._fields.index(name) for name in ("x", "y", "z", "vx", "vy", "vz")]
AVOID = "avoid"  # the option: the distance to keep, m; 0: others are not seen


class Seen(NamedTuple):
    """A vehicle as others see it."""

    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float
    own: float  # 1: of the fleet that avoids the others


class Pushes(NamedTuple):
    """The sum of the pushes away from others."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class Clearance(NamedTuple):
    """How far to keep away, and how strongly."""

    distance: Annotated[float, Column("m", "distance to keep")] = 5.0
    speed: Annotated[float, Column("m/s", "change of velocity at half the distance")] = 2.0


def visit(g: Pushes, me: Seen, other: Seen, dx: float, dy: float, dz: float, d2: float, o: Clearance) -> Pushes:
    """Add a push of distance / apart - 1: away from a vehicle of another fleet, and past it if it is ahead.

    Past it is across the relative velocity, to the left of one that is straight ahead.
    """
    apart = maximum(sqrt(d2), 1e-2 * o.distance)
    push = (1.0 - other.own) * maximum(o.distance / apart - 1.0, 0.0)
    vx, vy, vz = me.vx - other.vx, me.vy - other.vy, me.vz - other.vz
    inverse = 1.0 / maximum(sqrt(vx * vx + vy * vy + vz * vz), 1e-6)
    vx, vy, vz = vx * inverse, vy * inverse, vz * inverse
    ahead = maximum(dx * vx + dy * vy + dz * vz, 0.0)
    sx, sy, sz = ahead * vx - dx - 0.1 * apart * vy, ahead * vy - dy + 0.1 * apart * vx, ahead * vz - dz
    past = 2.0 * ahead / (apart * maximum(sqrt(sx * sx + sy * sy + sz * sz), 1e-6))
    away = 1.0 / apart
    return Pushes(
        g.x + push * (past * sx - away * dx), g.y + push * (past * sy - away * dy), g.z + push * (past * sz - away * dz)
    )


def finish(g: Pushes, me: Seen, o: Clearance) -> Urge:
    """Scale the pushes to a change of velocity."""
    return Urge(o.speed * g.x, o.speed * g.y, o.speed * g.z)


SPEC = NeighbourSpec(AVOID, Seen, Seen, Pushes, Urge, Clearance, visit, finish)


class Avoidance:
    """Computes the urge of a fleet's vehicles away from all others."""

    def __init__(self, distance: float, speed: float) -> None:
        self.options = np.array(Clearance(2.0 * distance, speed))  # it begins to give way at twice the distance
        self.grid = NeighbourGrid(SPEC)

    def urges(self, own: Floats, n: int, others: Iterable[Floats]) -> Floats:
        """Return the urges (3, n); `own` holds the poses of the fleet (rows of Pose), `others` those of the others."""
        block = np.concatenate([own[ROWS, :n], *(poses[ROWS] for poses in others)], axis=1)
        table = np.ascontiguousarray(np.vstack([block, np.zeros(block.shape[1])]))
        table[-1, :n] = 1.0
        result = np.zeros((len(Urge._fields), table.shape[1]))
        self.grid.run(table, table.shape[1], float(self.options[0]), self.options, result)
        return result[:, :n]
