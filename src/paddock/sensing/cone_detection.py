"""Detection of cones: which are visible, which of them are detected, where and as what, and false detections.

Each stage draws from its own purpose, and the draws of a cone from its own identity: another cone, or another vehicle,
changes nothing about the rest. Work is done stage by stage over the cones near a vehicle, so that it vectorises.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64

from paddock.compute.math import absolute, floor, maximum, minimum, select, sincos, sqrt, table_index, whole
from paddock.compute.philox import normals, uniforms
from paddock.compute.quaternion import heading
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.threads import thread_count
from paddock.compute.twin import shared_code
from paddock.sensing.beams import into_axes, ray_ball, ray_bar, ray_cuboid
from paddock.sensing.sensor import CONE, ArrayReading, Draws, FleetView, Ints
from paddock.track.track import UNKNOWN
from paddock.world.columns import Column, Floats
from paddock.world.solids import (
    BOX,
    FRUSTUM,
    MOVABLE,
    NO_SOLIDS,
    NUMBER,
    REACH,
    ROUND_BALL,
    SOLID,
    Solids,
    cells_around,
    ray_frustum,
    solids_around,
    sort_places,
)

DETECT, MISS, POLAR, PLANE, COLOUR, CLUTTER, CLUTTER_PLACE, CLUTTER_COLOUR = range(8)
"""Purposes of the stages."""
MOST_CLUTTER = 32  # false detections of one frame
BINS = 64  # of distances, by which cones are sorted
KNOWN = 4  # colours that can be seen
CONE_CELL = 24.0  # m: size of the cells in which cones are found
MANY_CONES = 20_000  # pairs of vehicles and cones from which vehicles are shared among threads
CLOSE_BY = 8.0  # m: bodies nearer than this are tested first
NAN = float("nan")
MARGIN = 1e-6  # m by which a solid must be nearer than a cone to hide it

DETECTION = (
    Column("m", "forward of the vehicle's pose, in the level frame with its heading", name="x"),
    Column("m", "left of it", name="y"),
    Column("", "0 blue, 1 yellow, 2 orange, 3 big orange, 4 unknown", name="colour"),
    Column("", "probability that a cone at this distance is detected", name="confidence"),
    Column("", "probability of the colour; 0 if it is unknown", name="colour_confidence"),
    Column("m2", "variance of x", name="xx"),
    Column("m2", "covariance of x and y", name="xy"),
    Column("m2", "variance of y", name="yy"),
)
TRUTH = (
    Column("m", "forward of the vehicle's pose", name="x"),
    Column("m", "left of it", name="y"),
    Column("", "colour, as in detections", name="colour"),
    Column("", "number of the cone: its place in `sim.world.track.cones`; obstacles from 100,000 on", name="number"),
)


class FieldOfView(NamedTuple):
    """A sensor's place (m) and direction, the cosine of half its field of view, and its range (m)."""

    x: float
    y: float
    z: float
    ahead_x: float
    ahead_y: float
    half: float
    everywhere: bool
    low: float
    high: float


class SortedCones(NamedTuple):
    """The cones of a world, sorted by the cells of their grid."""

    table: Floats  # (6, n), rows of ConeColumn
    keys: Ints  # (n,) identity of each
    cells: Floats  # as of `Solids`
    starts: Ints  # (cells + 1,) columns of the table


def probability(distance: float, p0: float, p1: float, p2: float, least: float) -> float:
    """Return the probability of detection at a distance, m."""
    return minimum(maximum(p0 + distance * (p1 + distance * p2), least), 1.0)


@shared_code
def hidden(px: float, py: float, pz: float, qx: float, qy: float, qz: float, bodies: Any, k: int) -> bool:
    """Return whether solid `k` is between two points."""
    dx, dy, dz = qx - px, qy - py, qz - pz
    away = maximum(sqrt(dx * dx + dy * dy + dz * dz), 1e-9)
    dx, dy, dz = dx / away, dy / away, dz / away
    ox, oy, oz = into_axes(bodies, k, px - bodies[k, 0], py - bodies[k, 1], pz - bodies[k, 2])
    ux, uy, uz = into_axes(bodies, k, dx, dy, dz)
    hx, hy, hz = bodies[k, 12], bodies[k, 13], bodies[k, 14]
    if bodies[k, 15] == BOX:
        hit = ray_cuboid(ox, oy, oz, ux, uy, uz, hx, hy, hz, away)
    elif bodies[k, 15] == ROUND_BALL:
        hit = ray_ball(ox, oy, oz, ux, uy, uz, hx)
    elif bodies[k, 15] == FRUSTUM:
        hit = ray_frustum(ox, oy, oz, ux, uy, uz, -hz, hz, bodies[k, 16], bodies[k, 17])
    else:
        hit = ray_bar(ox, oy, oz, ux, uy, uz, hx - hz, hz)
    return hit < away - MARGIN


def is_cone(solids: Any, k: int) -> Any:
    """Return whether solid `k` is a cone, narrower at its top; cones do not hide each other."""
    return (solids[k, 15] == FRUSTUM) & (solids[k, 17] < solids[k, 16])


def order_rows(keys: Any, order: Any, count: int) -> None:
    """Put rows, given in `order`, in ascending order of their keys; quick where they nearly are."""
    for k in range(1, count):
        row, at = order[k], k
        while at > 0 and keys[order[at - 1]] > keys[row]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = row


def order_by_distance(keys: Any, order: Any, count: int, farthest: float) -> None:
    """Write the rows in ascending order of their keys, from 0 to `farthest`: into bins first, then within them."""
    bins = empty(BINS + 1, dtype=int64)
    bins[:] = 0
    scale = BINS / farthest
    for k in range(count):
        bins[table_index(keys[k] * scale, BINS) + 1] += 1
    for k in range(BINS):
        bins[k + 1] += bins[k]
    for k in range(count):
        at = table_index(keys[k] * scale, BINS)
        order[bins[at]] = k
        bins[at] += 1
    order_rows(keys, order, count)


def poisson(mean: float, u: float) -> int:
    """Return the number of events of a Poisson process, by inversion of a uniform number; at most MOST_CLUTTER."""
    term, scale = 1.0, 1.0
    for k in range(1, MOST_CLUTTER + 1):
        term = term * mean / k
        scale += term
    total, term, count = 1.0, 1.0, 0
    for k in range(1, MOST_CLUTTER + 1):
        if u * scale < total:
            return count
        term = term * mean / k
        total += term
        count = k
    return count


class ConeScene(NamedTuple):
    """What a sensor of cones looks at: the cones, the obstacles that hide them, and the bodies of vehicles."""

    cones: SortedCones
    fixed: Solids
    bodies: Solids


def see_cones_of(
    pose: Any, own_id: int, o: Any, draws: Draws, scene: ConeScene, detections: Any, truth: Any, reading: Any
) -> None:
    """Fill detections (most, 8), truth (most, 4) and the numbers of both (2,) of a vehicle at a pose (13,).

    `o` are the options.
    """
    # the sensor, in the level frame with the vehicle's heading
    sine, cosine = sincos(heading(pose[3], pose[4], pose[5], pose[6]))
    px, py = pose[0] + cosine * o.x - sine * o.y, pose[1] + sine * o.x + cosine * o.y
    turn_sine, turn_cosine = sincos(o.yaw_deg * 0.017453292519943295)
    ahead_x, ahead_y = cosine * turn_cosine - sine * turn_sine, sine * turn_cosine + cosine * turn_sine
    half = sincos(o.fov_deg * 0.008726646259971648)[1]
    everywhere = o.fov_deg >= 360.0
    view = FieldOfView(px, py, pose[2] + o.z, ahead_x, ahead_y, half, everywhere, o.range_min, o.range_max)
    visible = visible_cones(view, scene.cones)
    cones, keys, bodies, fixed = scene.cones.table, scene.cones.keys, scene.bodies, scene.fixed
    count = visible.size
    if o.occlusion > 0.0 and bodies.table.shape[0] > 1:
        count = not_hidden(view, cones, visible, count, own_id, bodies)
    if o.occlusion > 0.0 and fixed.table.shape[0] > 0:
        count = not_hidden(view, cones, visible, count, MOVABLE, fixed)
    # what is visible, nearest first
    distance, order = empty(count + 1), empty(count + 1, dtype=int64)
    for k in range(count):
        dx, dy = cones[0, visible[k]] - px, cones[1, visible[k]] - py
        distance[k] = sqrt(dx * dx + dy * dy)
    order_by_distance(distance, order, count, o.range_max)
    shown = minimum_count(count, truth.shape[0])
    for k in range(shown):
        write_truth(cones, visible[order[k]], pose, cosine, sine, truth[k])
    truth[shown:] = NAN
    reading[1] = 1.0 * count
    keyed = empty(count, dtype=int64)
    for k in range(count):
        keyed[k] = draws.key ^ keys[visible[order[k]]]
    seen = keep_detected(o, keyed, draws, distance, order, count)
    room = empty((10, seen + MOST_CLUTTER))
    rows, truly = room[:6], room[6:]  # rows: distance and direction as measured, x, y, colour
    for k in range(seen):
        c = visible[order[k]]
        truly[0, k], truly[1, k], truly[2, k] = cones[0, c] - px, cones[1, c] - py, cones[3, c]
        truly[3, k] = distance[order[k]]
    measure_cones(o, keyed, draws, cosine, sine, truly, seen, rows)
    along, across = cosine * ahead_x + sine * ahead_y, cosine * ahead_y - sine * ahead_x
    seen += add_clutter(o, draws, along, across, rows, seen)
    write_detections(o, rows, seen, detections)
    reading[0] = 1.0 * minimum_count(seen, truth.shape[0])


def write_truth(cones: Any, c: int, pose: Any, cosine: float, sine: float, out: Any) -> None:
    """Write cone `c` in the level frame of the vehicle: forward and left of its pose (m), colour, number."""
    dx, dy = cones[0, c] - pose[0], cones[1, c] - pose[1]
    out[0], out[1] = cosine * dx + sine * dy, cosine * dy - sine * dx
    out[2], out[3] = cones[3, c], cones[4, c]


def keep_detected(o: Any, keyed: Any, draws: Draws, distance: Any, order: Any, count: int) -> int:
    """Keep those of the visible cones in `order` and `keyed` that are detected; return how many they are."""
    lucky, seen = empty(count), 0
    for k in range(count):
        lucky[k] = uniforms(keyed[k], draws.stream, draws.purpose + DETECT, draws.tick)[0]
    for k in range(count):
        away = distance[order[k]]
        lucky[k] -= probability(away, o.detection_0, o.detection_1, o.detection_2, o.detection_floor)
    if o.miss > 0.0:
        for k in range(count):
            u = uniforms(keyed[k], draws.stream, draws.purpose + MISS, draws.tick)[0]
            lucky[k] = select(u < o.miss, 1.0, lucky[k])
    for k in range(count):
        order[seen], keyed[seen] = order[k], keyed[k]
        seen += lucky[k] < 0.0
    return seen


def measure_cones(
    o: Any, keyed: Any, draws: Draws, cosine: float, sine: float, truly: Any, seen: int, rows: Any
) -> None:
    """Write where detected cones appear, and as what: a loop for each stage, because such loops vectorise.

    `truly` (4, seen) are east and north of the sensor (m), colour and distance (m); `rows` as of `write_detections`.
    """
    measured, ux, uy, at_x, at_y, colours = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    east, north, colour, away = truly[0], truly[1], truly[2], truly[3]
    numbers, stream, tick = empty((6, seen)), draws.stream, draws.tick
    near, aside, wide, tall, confuse, other = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    draw_pairs(keyed, seen, stream, draws.purpose + POLAR, tick, near, aside)
    draw_pairs(keyed, seen, stream, draws.purpose + PLANE, tick, wide, tall)
    for k in range(seen):
        confuse[k], other[k] = uniforms(keyed[k], stream, draws.purpose + COLOUR, tick)
    for k in range(seen):
        dx, dy = east[k] / away[k], north[k] / away[k]
        along, across = cosine * dx + sine * dy, cosine * dy - sine * dx
        s, co = sincos(o.noise_bearing * aside[k])
        far = maximum(away[k] + o.noise_range * near[k], 0.0)
        measured[k], ux[k], uy[k] = far, along * co - across * s, across * co + along * s
    for k in range(seen):
        at_x[k] = o.x + measured[k] * ux[k] + o.noise_xy * wide[k]
        at_y[k] = o.y + measured[k] * uy[k] + o.noise_xy * tall[k]
        another = floor(other[k] * (KNOWN - 1.0))
        another = another + select(another >= colour[k], 1.0, 0.0)
        wrong = select(colour[k] >= KNOWN, floor(other[k] * KNOWN), another)
        named = select(confuse[k] < o.colour_confusion, wrong, colour[k])
        colours[k] = select(measured[k] <= o.colour_range, named, 1.0 * UNKNOWN)


class ConeViewers(NamedTuple):
    """The vehicles of a fleet: poses (13, n), ids and streams (n,); key and purpose of their sensor, and the tick."""

    pose: Any
    ids: Any
    streams: Any
    key: int
    purpose: int
    tick: int


def see_cones(
    v: ConeViewers, o: Any, cones: SortedCones, fixed: Solids, bodies: Solids, detections: Any, truth: Any, reading: Any
) -> None:
    """Fill detections (n, most, 8), truth (n, most, 4) and the numbers of both (2, n) of all vehicles.

    The scene is not an argument: parallel loops cannot take tuples of tuples.
    """
    for i in parallel_range(v.ids.size):
        scene = ConeScene(cones, fixed, bodies)
        draws = Draws(v.key, v.streams[i], v.purpose, v.tick)
        see_cones_of(v.pose[:, i], v.ids[i], o, draws, scene, detections[i], truth[i], reading[:, i])


def draw_pairs(keyed: Any, count: int, stream: int, purpose: int, tick: int, first: Any, second: Any) -> None:
    """Write two normal numbers for each key."""
    for k in range(count):
        first[k], second[k] = normals(keyed[k], stream, purpose, tick)


def minimum_count(a: int, b: int) -> int:
    """Return the smaller of two numbers."""
    return a if a < b else b


def visible_cones(view: FieldOfView, cones: SortedCones) -> Any:
    """Return the columns of the cones within range and field of view."""
    table, starts, columns = cones.table, cones.starts, whole(cones.cells[3])
    px, py, ahead_x, ahead_y, everywhere = view.x, view.y, view.ahead_x, view.ahead_y, view.everywhere
    i0, i1, j0, j1 = cells_around(px, py, view.high, cones.cells)
    room = 0
    for j in range(j0, j1 + 1):
        room += starts[j * columns + i1 + 1] - starts[j * columns + i0]
    visible, count = empty(room + 1, dtype=int64), 0
    xs, ys = table[0], table[1]
    nearest, farthest, narrow = view.low * view.low, view.high * view.high, view.half * absolute(view.half)
    for j in range(j0, j1 + 1):
        for c in range(starts[j * columns + i0], starts[j * columns + i1 + 1]):
            dx, dy = xs[c] - px, ys[c] - py
            square = dx * dx + dy * dy
            along = dx * ahead_x + dy * ahead_y
            inside = (along * absolute(along) >= narrow * square) | everywhere  # squared, with the sign
            visible[count] = c
            count += (square >= nearest) & (square <= farthest) & (square > 1e-12) & inside
    return visible[:count]


@shared_code
def not_hidden(view: FieldOfView, cones: Any, visible: Any, count: int, own: float, solids: Solids) -> int:
    """Keep the visible cones that no solid hides, except those with the number `own`; return how many there are."""
    px, py, pz, farthest = view.x, view.y, view.z, 0.0
    for k in range(count):
        dx, dy = cones[0, visible[k]] - px, cones[1, visible[k]] - py
        farthest = maximum(farthest, dx * dx + dy * dy)
    farthest = sqrt(farthest)
    table, left_over = solids.table, count
    candidates, most = solids_around(px, py, farthest, solids)
    for lap in range(2):  # near solids first: they hide most
        for item in range(most):
            b = candidates[item]
            bx, by, reach = table[b, 0] - px, table[b, 1] - py, table[b, REACH]
            apart = sqrt(bx * bx + by * by) - reach
            if (apart <= CLOSE_BY) != (lap == 0) or apart > farthest:
                continue
            if table[b, NUMBER] == own or is_cone(table, b):
                continue
            k = 0
            while k < left_over:
                c = visible[k]
                dx, dy = cones[0, c] - px, cones[1, c] - py
                # how far the line of sight passes the solid's centre
                past, along, away = dx * by - dy * bx, dx * bx + dy * by, dx * dx + dy * dy
                near = (past * past <= reach * reach * away) & (along > -reach * sqrt(away))
                z = cones[2, c] + 0.5 * cones[5, c]
                if near and hidden(px, py, pz, cones[0, c], cones[1, c], z, table, b):
                    left_over -= 1
                    visible[k] = visible[left_over]
                else:
                    k += 1
            if left_over == 0:
                return 0
    return left_over


def add_clutter(o: Any, draws: Draws, along: float, across: float, rows: Any, seen: int) -> int:
    """Add false detections, spread evenly over the field of view; return how many there are.

    `along` and `across` are the direction of the sensor in the vehicle's level frame.
    """
    if not o.clutter > 0.0:
        return 0
    key, stream, purpose, tick = draws.key, draws.stream, draws.purpose, draws.tick
    count = poisson(o.clutter, uniforms(key, stream, purpose + CLUTTER, tick)[0])
    low, high = o.range_min * o.range_min, o.range_max * o.range_max
    for k in range(count):
        u, v = uniforms(key ^ k, stream, purpose + CLUTTER_PLACE, tick)
        measured = sqrt(low + u * (high - low))
        s, c = sincos((v - 0.5) * o.fov_deg * 0.017453292519943295)
        ux, uy = along * c - across * s, across * c + along * s
        colour = floor(KNOWN * uniforms(key ^ k, stream, purpose + CLUTTER_COLOUR, tick)[0])
        at = seen + k
        rows[0, at], rows[1, at], rows[2, at] = measured, ux, uy
        rows[3, at], rows[4, at] = o.x + measured * ux, o.y + measured * uy
        rows[5, at] = select(measured <= o.colour_range, colour, 1.0 * UNKNOWN)
    return count


def write_detections(o: Any, rows: Any, seen: int, out: Any) -> None:
    """Write the detections of a vehicle, nearest to the sensor first as reported, with their covariances."""
    order, apart = empty(seen + 1, dtype=int64), empty(seen + 1)
    for k in range(seen):
        dx, dy = rows[3, k] - o.x, rows[4, k] - o.y
        order[k], apart[k] = k, dx * dx + dy * dy
    order_rows(apart, order, seen)
    most = out.shape[0]
    for m in range(minimum_count(seen, most)):
        k = order[m]
        measured, ux, uy = rows[0, k], rows[1, k], rows[2, k]
        radial, lateral = o.noise_range * o.noise_range, measured * o.noise_bearing
        lateral = lateral * lateral
        plane = o.noise_xy * o.noise_xy
        out[m, 0], out[m, 1], out[m, 2] = rows[3, k], rows[4, k], rows[5, k]
        out[m, 3] = probability(measured, o.detection_0, o.detection_1, o.detection_2, o.detection_floor)
        out[m, 4] = select(rows[5, k] < KNOWN, 1.0 - o.colour_confusion, 0.0)
        out[m, 5] = radial * ux * ux + lateral * uy * uy + plane
        out[m, 6] = (radial - lateral) * ux * uy
        out[m, 7] = radial * uy * uy + lateral * ux * ux + plane
    out[minimum_count(seen, most) :] = NAN


see_all = parallel_routine(see_cones, inline=True)


def look_for_cones(view: FleetView, arrays: Any, reading: Floats) -> None:
    """Fill the detections of a fleet."""
    around, table = view.around, view.around.cones.table
    x, y = np.ascontiguousarray(table[:, CONE.x]), np.ascontiguousarray(table[:, CONE.x + 1])
    cells, starts, order = sort_places(x, y, np.zeros(len(x)), CONE_CELL)
    cones = SortedCones(np.ascontiguousarray(table[order].T), around.cones.keys[order], cells, starts)
    fixed = around.fixed.table
    walls = (fixed[:, SOLID.shape] != FRUSTUM) | (fixed[:, SOLID.top] >= fixed[:, SOLID.base])
    viewers = ConeViewers(view.pose, view.ids, view.streams, view.key, view.purpose, view.tick)
    scene = cones, around.fixed if walls.any() else NO_SOLIDS, around.bodies
    many = view.n > 1 and thread_count() > 1 and view.n * max(len(table), 1) >= MANY_CONES
    (see_all if many else see_all.alone)(viewers, view.options, *scene, arrays["detections"], arrays["truth"], reading)


def cone_arrays(options: Any) -> tuple[ArrayReading, ...]:
    """Return the arrays of the sensor."""
    most = round(options.max_detections)
    meaning = "a row for each detection, nearest to the sensor first, as reported; NaN in unused rows"
    real = "a row for each visible cone as it is, nearest to the sensor first; NaN in unused rows"
    return (
        ArrayReading("detections", (most, len(DETECTION)), "float32", "", meaning, DETECTION),
        ArrayReading("truth", (most, len(TRUTH)), "float32", "", real, TRUTH),
    )


def cones_problem(options: Any) -> str:
    """Return what is impossible about the options."""
    if options.range_min >= options.range_max:
        return f"range_min, {options.range_min:g} m, must be less than range_max, {options.range_max:g} m"
    if options.max_detections != round(options.max_detections):
        return f"option 'max_detections' is a whole number, not {options.max_detections:g}"
    return ""
