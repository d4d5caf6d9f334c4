"""Rays of a lidar against solids and the ground: for each solid only the beams that can meet it are tested.

Beams form a grid of rings (elevations) and azimuths in the sensor's axes. One level ring meets upright solids
as flat shapes, other beams are tested in the axes of each solid (`beams.py`). Vehicles are independent of each other;
the result does not depend on the order of solids.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy import empty

from paddock.compute import arrays as array_math
from paddock.compute.math import maximum, minimum, select, sqrt
from paddock.compute.philox import normals, uniforms
from paddock.compute.quaternion import axes
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.threads import thread_count
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
from paddock.sensing.sensor import ArrayReading, Draws, FleetView, Ints
from paddock.world.columns import Environment, Floats
from paddock.world.ground import has_grip, never, none, patch_count
from paddock.world.scenery import GRAZING, cast_ground
from paddock.world.solids import BOX, MOVABLE, NOTHING, NUMBER, REACH, Solids, solids_around


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


def choose_near(at: Any, own: float, solids: Solids, reach: float) -> tuple[Any, int]:
    """Return rows of solids within reach of a sensor, except those with the number `own`, and how many they are."""
    table, count = solids.table, 0
    chosen, most = solids_around(at[0], at[1], reach, solids)
    for item in range(most):
        k = chosen[item]
        px, py, pz, far = table[k, 0] - at[0], table[k, 1] - at[1], table[k, 2] - at[2], reach + table[k, REACH]
        chosen[count] = k
        count += (px * px + py * py + pz * pz <= far * far) & (table[k, NUMBER] != own)
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
    near_fixed, near_bodies = choose_near(at, MOVABLE, fixed, reach), choose_near(at, own, bodies, reach)
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


def scan_uneven(pose: Any, beams: Beams, reach: float, w: GroundTuple, ranges: Any) -> None:
    """Shorten the beams of all vehicles that meet uneven ground."""
    directions, rises = beams.directions, beams.rises
    for i in parallel_range(ranges.shape[0]):
        at = mounted(pose, i, beams.mount)
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
        unused = np.zeros((1, 9))
        ground = GroundTuple(ground_z, 1.0, relief[0], relief[1], relief[2], unused, unused, unused, relief[6])
        scan_relief(pose, beams, reach, ground, ranges)
    return ranges


MANY_BEAMS = 20_000  # from which vehicles are shared among threads
DEVIATIONS = 8.0  # of the noise: as far beyond the range what is there may appear in it
NOISE, LOST = 0, 1  # purposes
INFINITE = float("inf")


@lru_cache(maxsize=64)
def beams_of(options: Any) -> Beams:
    """Return the beams of a lidar's options: evenly spaced, the outer ones at the edges of the field of view.

    A whole turn has one step more than the beams have gaps, so that the first and the last beam differ.
    """
    count, rings = round(options.beams), round(options.rings)
    view, tall = np.radians(options.fov_deg), np.radians(options.vertical_fov_deg)
    step = view / count if options.fov_deg == 360.0 else view / max(count - 1, 1)
    first = -0.5 * view if count > 1 else 0.0
    azimuth = first + step * np.arange(count)
    rise = -0.5 * tall + (tall / max(rings - 1, 1)) * np.arange(rings) if rings > 1 else np.zeros(1)
    yaw, pitch = np.radians([options.yaw_deg, options.pitch_deg])
    (sy, sp), (cy, cp) = array_math.sin(np.array([yaw, pitch])), array_math.cos(np.array([yaw, pitch]))
    axes = [cy * cp, -sy, cy * sp, sy * cp, cy, sy * sp, -sp, 0.0, cp]  # turned left, then nose down
    mount = np.array([options.x, options.y, options.z, *axes])
    directions = np.stack([array_math.cos(azimuth), array_math.sin(azimuth)])
    rises = np.stack([array_math.cos(rise), array_math.sin(rise)])
    return Beams(mount, directions, rises, float(first), float(step))


class RangeErrors(NamedTuple):
    """The errors of a lidar: noise (m), share of lost returns, shortest and longest range (m)."""

    noise: float
    lost: float
    low: float
    high: float


def disturb_scan(line: Any, draws: Draws, errors: RangeErrors, out: Any) -> tuple[float, float]:
    """Turn the distances (beams,) of a scan into ranges with noise; return the number of returns and the nearest one.

    A range is infinite without a return, and minus infinite nearer than the shortest.
    """
    pairs, (key, stream, purpose, tick), (noise, lost, low, high) = line.size // 2, draws, errors
    if noise > 0.0:
        for j in range(pairs):
            a, b = normals(key ^ j, stream, purpose + NOISE, tick)
            line[2 * j] += noise * a
            line[2 * j + 1] += noise * b
        if line.size > 2 * pairs:
            a, b = normals(key ^ pairs, stream, purpose + NOISE, tick)
            line[2 * pairs] += noise * a
    if lost > 0.0:
        for j in range(pairs):
            a, b = uniforms(key ^ j, stream, purpose + LOST, tick)
            line[2 * j] = select(a < lost, NOTHING, line[2 * j])
            line[2 * j + 1] = select(b < lost, NOTHING, line[2 * j + 1])
        if line.size > 2 * pairs:
            a, b = uniforms(key ^ pairs, stream, purpose + LOST, tick)
            line[2 * pairs] = select(a < lost, NOTHING, line[2 * pairs])
    returns, nearest = 0, INFINITE
    for j in range(line.size):
        seen = select(line[j] > high, INFINITE, select(line[j] < low, -INFINITE, line[j]))
        out[j] = seen
        valid = (seen >= low) & (seen <= high)
        returns += valid
        nearest = select(valid & (seen < nearest), seen, nearest)
    return 1.0 * returns, nearest


def disturb_scans(
    distances: Any, key: int, streams: Any, purpose: int, tick: int, errors: RangeErrors, ranges: Any, reading: Any
) -> None:
    """Turn the distances (n, beams) of all vehicles into ranges, and write the summary (2, n)."""
    for i in parallel_range(distances.shape[0]):
        draws = Draws(key, streams[i], purpose, tick)
        reading[0, i], reading[1, i] = disturb_scan(distances[i], draws, errors, ranges[i])


disturb_all = parallel_routine(disturb_scans, inline=True)


def distances(view: FleetView) -> Floats:
    """Return the true distances (n, rings, beams) of all beams, m, NOTHING without a hit."""
    options, around = view.options, view.around
    beams = beams_of(options)
    ground = Environment(*view.environment.tolist()).ground_z
    reach = options.range_max + DEVIATIONS * options.noise
    solids = around.fixed, around.bodies
    return scan(view.pose, view.ids, beams, reach, ground, *solids, around.scenery, _many(view, beams))


def _many(view: FleetView, beams: Beams) -> bool:
    values = view.n * beams.directions.shape[1] * beams.rises.shape[1]
    return view.n > 1 and values >= MANY_BEAMS and thread_count() > 1


def cast_rays(view: FleetView, arrays: Any, reading: Floats) -> None:
    """Fill the ranges of a lidar."""
    options, ranges = view.options, distances(view)
    run = disturb_all if _many(view, beams_of(options)) else disturb_all.alone
    draws = view.key, view.streams, view.purpose, view.tick
    errors = RangeErrors(options.noise, options.dropout, options.range_min, options.range_max)
    n = view.n
    run(ranges.reshape(n, -1), *draws, errors, arrays["ranges"].reshape(n, -1), reading)


def ranges_of(options: Any) -> tuple[ArrayReading, ...]:
    """Return the array of a lidar: (beams,), or (rings, beams) for several rings."""
    rings, beams = round(options.rings), round(options.beams)
    shape = (beams,) if rings == 1 else (rings, beams)
    meaning = "distance along each beam, from right to left (rings: from below); inf: no return, -inf: too near"
    return (ArrayReading("ranges", shape, "float32", "m", meaning),)


def lidar_problem(options: Any) -> str:
    """Return what is impossible about the options of a lidar."""
    for name in ("beams", "rings"):
        if getattr(options, name) != round(getattr(options, name)):
            return f"option {name!r} is a whole number, not {getattr(options, name):g}"
    if options.range_min >= options.range_max:
        return f"range_min, {options.range_min:g} m, must be less than range_max, {options.range_max:g} m"
    if options.rings > 1 and options.vertical_fov_deg <= 0.0:
        return f"{options.rings:g} rings need a vertical_fov_deg above 0"
    return ""
