"""Avoidance: how vehicles with the option `avoid` keep clear of the vehicles of other fleets and of static obstacles.

The result is an urge, a change of velocity; `kept_clear` in `rule.py` adds it to the desire of a rule with the option.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paddock.behaviour.rule import AVOID, Floats, Nothing, Rule, Urge
from paddock.compute.math import clamp, floor, maximum, minimum, sqrt, table_index, whole
from paddock.compute.neighbours import NeighbourGrid, NeighbourSpec
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.errors import InvalidValueError
from paddock.world.columns import Pose, column_index
from paddock.world.solids import (
    BASE,
    BOX,
    COSINE,
    HIGH,
    LENGTH,
    LOW,
    SHAPE,
    SINE,
    WIDTH,
    Obstacles,
    Solids,
    X,
    Y,
)

ROWS = [Pose._fields.index(name) for name in ("x", "y", "z", "vx", "vy", "vz")]
LEAD = 0.5  # s: it gives way from twice the distance and the way in this time
OWN = 0.5  # share of the distance at which vehicles of the own fleet count
STRONGEST = 3.0  # times the strength: the largest urge
STRENGTH = "speed"  # the option of a rule that is the strength of its avoidance


class SeenVehicle(NamedTuple):
    """A vehicle as others see it, and how it avoids them."""

    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float
    distance: float  # m: from which it gives way; 0: it does not
    strength: float  # m/s: change of velocity at half the distance
    share: float  # of that distance at which it counts itself; 0: it is not avoided


class Pushes(NamedTuple):
    """The sum of the pushes away from others."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


def visit(
    g: Pushes, me: SeenVehicle, other: SeenVehicle, dx: float, dy: float, dz: float, d2: float, o: Nothing
) -> Pushes:
    """Add a push of distance / apart - 1: away from another, and past it if it is ahead.

    Past it is across the relative velocity, to the left of one that is straight ahead.
    """
    apart = maximum(sqrt(d2), 1e-2 * me.distance + 1e-9)
    push = maximum(other.share * me.distance / apart - 1.0, 0.0)
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


def finish(g: Pushes, me: SeenVehicle, o: Nothing) -> Urge:
    """Scale the pushes to a change of velocity."""
    return Urge(me.strength * g.x, me.strength * g.y, me.strength * g.z)


SPEC = NeighbourSpec(AVOID, SeenVehicle, SeenVehicle, Pushes, Urge, Nothing, visit, finish)


def way_to_obstacle(x: float, y: float, z: float, k: int, solids: Floats) -> tuple[float, float, float]:
    """Return the way to the nearest point of an obstacle, a row of the table of solids; a cone is a cylinder."""
    px, py, up = x - solids[k, X], y - solids[k, Y], clamp(z, solids[k, LOW], solids[k, HIGH]) - z
    if solids[k, SHAPE] == BOX:
        c, s = solids[k, COSINE], solids[k, SINE]
        along, across = c * px + s * py, c * py - s * px
        da = clamp(along, -solids[k, LENGTH], solids[k, LENGTH]) - along
        db = clamp(across, -solids[k, WIDTH], solids[k, WIDTH]) - across
        return c * da - s * db, s * da + c * db, up
    beyond = minimum(solids[k, BASE] / maximum(sqrt(px * px + py * py), 1e-9), 1.0) - 1.0
    return px * beyond, py * beyond, up


def _avoid_obstacles(seen: Floats, n: int, solids: Solids, urges: Floats) -> None:
    """Add the urges away from obstacles; one that lies in several cells counts in that of its nearest point."""
    table, cells, starts, items, _ = solids
    columns, rows, rate = whole(cells[3]), whole(cells[4]), cells[2]
    for i in parallel_range(n):
        x, y, z, reach = seen[0, i], seen[1, i], seen[2, i], seen[6, i]
        me = SeenVehicle(x, y, z, seen[3, i], seen[4, i], seen[5, i], reach, seen[7, i], 1.0)
        still = SeenVehicle(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        g = Pushes(0.0, 0.0, 0.0)
        u, v, wide = (x - cells[0]) * rate, (y - cells[1]) * rate, reach * rate
        near = (reach > 0.0) & (u + wide >= 0.0) & (v + wide >= 0.0) & (u - wide < columns) & (v - wide < rows)
        left, right = table_index(floor(u - wide), columns), table_index(floor(u + wide), columns)
        low, high = table_index(floor(v - wide), rows), table_index(floor(v + wide), rows)
        for row in range(low, high + 1 if near else low):
            for column in range(left, right + 1):
                cell = row * columns + column
                for item in range(starts[cell], starts[cell + 1]):
                    dx, dy, dz = way_to_obstacle(x, y, z, items[item], table)
                    d2 = dx * dx + dy * dy + dz * dz
                    same_cell = (table_index(floor(u + dx * rate), columns) == column) & (
                        table_index(floor(v + dy * rate), rows) == row
                    )
                    if same_cell and d2 < reach * reach:
                        g = visit(g, me, still, dx, dy, dz, d2, Nothing(0.0))
        urges[0, i] += seen[7, i] * g.x
        urges[1, i] += seen[7, i] * g.y
        urges[2, i] += seen[7, i] * g.z


avoid_obstacles = parallel_routine(_avoid_obstacles, items=lambda seen, n, *_: n)


class Avoidance:
    """Computes the urges of vehicles away from all others and from obstacles."""

    def __init__(self, distance: Floats, speed: Floats, own: float) -> None:
        """`distance` and `speed` (n or 1) of the vehicles; `own`: the share of the vehicles of their own fleet."""
        self.distances = np.stack([np.where(distance > 0.0, 2.0 * distance + LEAD * speed, 0.0), speed])
        self.own = own
        self.grid = NeighbourGrid(SPEC)

    def urges(
        self, own: Floats, chosen: Any, others: Sequence[Floats], spared: Sequence[Any], obstacles: Obstacles | None
    ) -> Floats:
        """Return the urges (3, vehicles of the fleet); `own` holds their poses (rows of Pose).

        `chosen` are the rows of those that avoid others; `others` the poses of the other fleets, `spared` the columns
        in each of them that are not avoided.
        """
        n = own.shape[1]
        block = np.concatenate([own[ROWS], *(poses[ROWS] for poses in others)], axis=1)
        seen = np.ascontiguousarray(np.vstack([block, np.zeros((3, block.shape[1]))]))
        seen[6:8, chosen] = self.distances
        seen[8, :n], seen[8, n:] = self.own, 1.0
        first = n
        for poses, columns in zip(others, spared, strict=True):
            seen[8, first + np.asarray(columns, np.int64)] = 0.0
            first += poses.shape[1]
        result = np.zeros((len(Urge._fields), seen.shape[1]))
        if others or self.own > 0.0:
            self.grid.run(seen, seen.shape[1], float(self.distances[0].max()), np.zeros(1), result)
        if obstacles is not None and obstacles.count:
            avoid_obstacles(seen, n, obstacles.solids, result)
        pushes = result[:, :n]
        size = np.sqrt((pushes * pushes).sum(axis=0))
        return np.asarray(pushes * np.minimum(1.0, STRONGEST * seen[7, :n] / np.maximum(size, 1e-12)))


def avoidance_of(rule: Rule, options: Floats) -> Avoidance | None:
    """Return the avoidance of vehicles with these options, (options,) or (options, n); None: they avoid nothing."""
    rows = column_index(rule.options)
    table = options.reshape(len(rows), -1)
    if AVOID not in rows or not (table[rows[AVOID]] > 0.0).any():
        return None
    if STRENGTH not in rows:
        raise InvalidValueError(f"behaviour {rule.name!r} has the option {AVOID!r}: it needs {STRENGTH!r}, too")
    return Avoidance(table[rows[AVOID]], table[rows[STRENGTH]], OWN if rule.neighbours is None else 0.0)
