"""Rays of a lidar against solids and the ground: for each solid only the beams that can meet it are tested.

Beams form a grid of rings (elevations) and azimuths in the sensor's axes. One level ring meets upright solids
as flat shapes, other beams are tested in the axes of each solid (`beams.py`). Vehicles are independent of each other;
the result does not depend on the order of solids.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64

from paddock.compute.math import maximum, minimum, select, sqrt, whole
from paddock.compute.quaternion import axes
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.twin import rebound
from paddock.sensing.beams import (
    SILHOUETTE,
    find_silhouettes,
    is_circle,
    is_level,
    is_upright,
    note_box,
    scan_circle,
    scan_silhouettes,
    scan_solid,
    shorten_by_nearness,
)
from paddock.sensing.sensor import Ints
from paddock.world.columns import Floats
from paddock.world.ground import has_grip, never, none, patch_count
from paddock.world.scenery import GRAZING, NOTHING, cast_ground
from paddock.world.solids import BOX, Solids, cells_around


def mounted(pose: Any, i: int, mount: Any) -> Any:
    """Return origin (3) and axes (9, row by row from sensor to world) of a sensor on vehicle `i`.

    `mount` (12,) are origin and axes of the sensor on the vehicle.
    """
    at = empty(12)
    forward, left, up = axes(pose[3, i], pose[4, i], pose[5, i], pose[6, i])
    (r00, r10, r20), (r01, r11, r21), (r02, r12, r22) = forward, left, up
    at[0] = pose[0, i] + (r00 * mount[0] + r01 * mount[1] + r02 * mount[2])
    at[1] = pose[1, i] + (r10 * mount[0] + r11 * mount[1] + r12 * mount[2])
    at[2] = pose[2, i] + (r20 * mount[0] + r21 * mount[1] + r22 * mount[2])
    for c in range(3):
        m0, m1, m2 = mount[3 + c], mount[6 + c], mount[9 + c]
        at[3 + c] = r00 * m0 + r01 * m1 + r02 * m2
        at[6 + c] = r10 * m0 + r11 * m1 + r12 * m2
        at[9 + c] = r20 * m0 + r21 * m1 + r22 * m2
    return at


class Beams(NamedTuple):
    """The beams of a lidar."""

    mount: Floats  # (12,) origin (m) and axes of the sensor on the vehicle
    directions: Floats  # (2, beams) cosine and sine of the azimuths
    rises: Floats  # (2, rings) cosine and sine of the elevations
    first: float  # azimuth of the first beam, rad
    step: float  # between two beams, rad


def choose_near(at: Any, own: int, solids: Solids, reach: float) -> tuple[Any, int]:
    """Return rows of solids within reach of a sensor, except those of vehicle `own`, and how many they are."""
    table, starts, items = solids.table, solids.starts, solids.items
    columns, rows = whole(solids.cells[3]), whole(solids.cells[4])
    i0, i1, j0, j1 = cells_around(at[0], at[1], reach + 1.0 / solids.cells[2], solids.cells)
    most = items.size - starts[columns * rows]
    for j in range(j0, j1 + 1):
        most += starts[j * columns + i1 + 1] - starts[j * columns + i0]
    chosen, count = empty(most, dtype=int64), 0
    for j in range(j0, j1 + 2):  # at last the large ones, behind the cells
        begin, end = starts[columns * rows], items.size
        if j <= j1:
            begin, end = starts[j * columns + i0], starts[j * columns + i1 + 1]
        for item in range(begin, end):
            k = items[item]
            px, py, pz, far = table[k, 0] - at[0], table[k, 1] - at[1], table[k, 2] - at[2], reach + table[k, 18]
            chosen[count] = k
            count += (px * px + py * py + pz * pz <= far * far) & (table[k, 19] != own)
    return chosen, count


def scan_near(at: Any, table: Any, near: tuple[Any, int], b: Beams, reach: float, ranges: Any) -> None:
    """Shorten the beams of one sensor that meet solids, which `choose_near` has returned."""
    (chosen, count), (_, directions, rises, first, step) = near, b
    for i in range(count):
        scan_solid(at, table, chosen[i], directions, rises, first, step, reach, ranges)


def scan_near_level(
    at: Any, table: Any, near: tuple[Any, int], b: Beams, reach: float, ranges: Any, nearness: Any
) -> None:
    """Do the same for a level sensor: upright solids raise the nearness (beams,), 1/m, of the beams instead."""
    (chosen, count), (_, directions, rises, first, step) = near, b
    silhouettes, boxes = empty((SILHOUETTE, count)), 0
    for i in range(count):
        k = chosen[i]
        if table[k, 15] == BOX and is_upright(table, k):
            boxes += note_box(at, table, k, boxes, silhouettes)
        elif is_circle(table, k):
            scan_circle(at, table, k, directions, first, step, reach, nearness)
        else:
            scan_solid(at, table, k, directions, rises, first, step, reach, ranges)
    find_silhouettes(at, boxes, first, step, silhouettes)
    scan_silhouettes(silhouettes, boxes, directions, step, reach, nearness)


def scan_flat(at: Any, ground: float, directions: Any, rises: Any, reach: float, ranges: Any) -> None:
    """Shorten the beams of one sensor that meet flat ground at a height, m."""
    above = maximum(at[2] - ground, 0.0)
    for r in range(ranges.shape[0]):
        z0, z1, z2 = at[9] * rises[0, r], at[10] * rises[0, r], at[11] * rises[1, r]
        if sqrt(z0 * z0 + z1 * z1) - z2 <= GRAZING:
            continue
        line, cosines, sines = ranges[r], directions[0], directions[1]
        for b in range(line.size):
            down = -(z0 * cosines[b] + z1 * sines[b] + z2)
            hit = above / maximum(down, GRAZING)
            line[b] = minimum(line[b], select((down > GRAZING) & (hit <= reach), hit, NOTHING))


def scan_vehicle(
    at: Any, own: int, b: Beams, reach: float, ground: float, fixed: Solids, bodies: Solids, ranges: Any
) -> None:
    """Write the distances (rings, beams) of the sensor of vehicle `own`, which is mounted `at`; as `scan_fleet`."""
    ranges[:] = NOTHING
    if ground == ground:
        scan_flat(at, ground, b.directions, b.rises, reach, ranges)
    near_fixed, near_bodies = choose_near(at, -2, fixed, reach), choose_near(at, own, bodies, reach)
    if is_level(at, b.rises, ranges.shape[1]):
        nearness = empty(ranges.shape[1])
        nearness[:] = 0.0
        scan_near_level(at, fixed.table, near_fixed, b, reach, ranges, nearness)
        if near_bodies[1] > 0:
            scan_near_level(at, bodies.table, near_bodies, b, reach, ranges, nearness)
        shorten_by_nearness(nearness, reach, ranges[0])
    else:
        scan_near(at, fixed.table, near_fixed, b, reach, ranges)
        scan_near(at, bodies.table, near_bodies, b, reach, ranges)


def scan_fleet(
    pose: Any, ids: Any, b: Beams, reach: float, ground: float, fixed: Solids, bodies: Solids, ranges: Any
) -> None:
    """Write the distances of the beams of all vehicles, NOTHING without a hit.

    pose (13, n), ids (n,): of the vehicles
    reach: of the beams, m
    ground: height of the ground, m; NaN if it is uneven
    ranges (n, rings, beams): receives the distances, m
    """
    for i in parallel_range(ids.size):
        scan_vehicle(mounted(pose, i, b.mount), ids[i], b, reach, ground, fixed, bodies, ranges[i])


class GroundTuple(NamedTuple):
    """The tables of uneven ground, where rays are cast outside the kernels of fleets."""

    ground_z: Any
    mu: Any
    terrain: Any
    relief: Any
    rough: Any
    grip: Any
    patches: Any
    corners: Any
    bounds: Any


cast_relief = rebound(cast_ground, {has_grip: never, patch_count: none})  # friction does not matter to a ray


def scan_uneven(
    pose: Any,
    mount: Any,
    directions: Any,
    rises: Any,
    reach: float,
    ground: float,
    terrain: Any,
    relief: Any,
    rough: Any,
    nothing: Any,
    bounds: Any,
    ranges: Any,
) -> None:
    """Shorten the beams of all vehicles that meet uneven ground; `nothing` (1, 9) stands for unused tables."""
    for i in parallel_range(ranges.shape[0]):
        at = mounted(pose, i, mount)
        w = GroundTuple(ground, 1.0, terrain, relief, rough, nothing, nothing, nothing, bounds)
        for r in range(ranges.shape[1]):
            for b in range(ranges.shape[2]):
                ux, uy, uz = rises[0, r] * directions[0, b], rises[0, r] * directions[1, b], rises[1, r]
                dx, dy = at[3] * ux + at[4] * uy + at[5] * uz, at[6] * ux + at[7] * uy + at[8] * uz
                dz = at[9] * ux + at[10] * uy + at[11] * uz
                far = minimum(ranges[i, r, b], reach)
                hit = cast_relief(at[0], at[1], at[2], dx, dy, dz, far, w)
                ranges[i, r, b] = minimum(ranges[i, r, b], hit)


scan_all = parallel_routine(scan_fleet, inline=True)
scan_relief = parallel_routine(scan_uneven)


def scan(
    pose: Floats,
    ids: Ints,
    beams: Beams,
    reach: float,
    ground_z: float,
    fixed: Solids,
    bodies: Solids,
    relief: tuple[Floats, ...] = (),
    many: bool = False,
) -> Floats:
    """Return the distances (n, rings, beams) of each vehicle's beams, m, NOTHING without a hit within `reach`.

    `fixed` are the solids that never move; `relief` the tables of uneven ground; `many` shares the vehicles among
    threads.
    """
    ranges = np.empty((len(ids), beams.rises.shape[1], beams.directions.shape[1]))
    flat = np.nan if relief else ground_z
    run = scan_all if many else scan_all.alone
    run(pose, ids, beams, reach, flat, fixed, bodies, ranges)
    if relief:
        terrain, bumps, rough = relief[:3]
        nothing = np.zeros((1, 9))
        scan_relief(
            *(pose, beams.mount, beams.directions, beams.rises, reach, ground_z),
            *(terrain, bumps, rough, nothing, relief[6], ranges),
        )
    return ranges
