"""Narrow phase: the contacts of a tick, from the pairs that may touch and the bodies on the ground.

Boxes and cylinders are tested in `boxes.py`; spheres and capsules here, against each other, boxes and cylinders. Such a
round body is a line segment (of length 0 for a sphere) with a radius. Its distance from another body changes at most
as fast as the two move: the first touch of a tick is found by advancing as far as the distance allows, again and again.
"""

from math import sqrt
from typing import Any, NamedTuple

from numpy import empty

from paddock.compute.math import sincos
from paddock.compute.quaternion import axes as body_axes
from paddock.contact.bodies import (
    ASLEEP_ROW,
    CENTRE_ROW,
    GROUND_ROW,
    HALF_ROW,
    LIGHTNESS_ROW,
    SHAPE_ROW,
    TURNING_ROW,
)
from paddock.contact.boxes import AXES, NONE, TOUCH, Solid, box_points, cylinder_points, dot, first_touch, keep_four
from paddock.vehicles.model import BOX, CAPSULE, CONE, CYLINDER, FRAME

ADVANCES = 24  # towards the first touch; each at least halves what is left in all but grazing passes
CLOSE = 1e-9  # m: a gap that counts as a touch
PROJECTIONS = 16  # between a segment and a solid, to find the nearest pair of points
GOLDEN_ANGLE = 2.399963229728653  # rad
BUMPER = 0.3  # height of a vehicle's bumper, share of the height of its box
OVERHANG, BESIDE = 0.9, 0.95  # length and width of what is below the bumper, shares of those of the box
STEEP = 0.7  # vertical part of a normal: the touch is under the nose
UPRIGHT = 0.7  # cosine of the tilt up to which a drone stands on its feet
NEAR_TOP = 0.75  # of the height of a cone, above the lower side of the box: there a higher bumper touches it
CONE_WIDTH = 1.0 / 3.0  # of its middle, share of its base
BASE_POINTS = 12  # around the base of a cone that lies on the ground


def nearest_of_segments(between: Any, first: Any, second: Any) -> tuple[float, float]:
    """Return the shares, -1 to 1, along two half segments where they are nearest; `between` is the way of centres."""
    a, e, b = dot(first, first), dot(second, second), dot(first, second)
    c, f = -dot(first, between), -dot(second, between)  # of the vector from the second centre to the first
    scale = a * e - b * b
    s = 0.0
    if scale > 1e-12 * max(a * e, 1e-30):
        s = min(max((b * f - c * e) / scale, -1.0), 1.0)
    elif a > 1e-18:  # parallel: the middle of where they overlap
        s = min(max(-c / a, -1.0), 1.0)
    t = min(max((b * s + f) / e, -1.0), 1.0) if e > 1e-18 else 0.0
    if a > 1e-18:
        s = min(max((b * t - c) / a, -1.0), 1.0)
    return s, t


def surface_gap(shape: float, half: Any, point: Any, out: Any) -> float:
    """Return the signed distance of a point in the axes of a solid, and write the way out of it (unit length)."""
    for j in range(3):
        out[j] = 0.0
    if shape == CYLINDER:
        rho = sqrt(point[0] * point[0] + point[1] * point[1])
        side, top = rho - half[0], abs(point[2]) - half[2]
        if side > 0.0 or top > 0.0:
            side, top = max(side, 0.0), max(top, 0.0)
            gap = sqrt(side * side + top * top)
            across, up = side / gap, top / gap
        else:
            gap = max(side, top)
            across, up = (1.0, 0.0) if side > top else (0.0, 1.0)
        if rho > 1e-12:
            out[0], out[1] = across * point[0] / rho, across * point[1] / rho
        else:
            out[0] = across
        out[2] = up if point[2] >= 0.0 else -up
        return gap
    square, least, inner = 0.0, 1e30, 0
    for j in range(3):
        over = abs(point[j]) - half[j]
        if over > 0.0:
            out[j] = over if point[j] > 0.0 else -over
            square += over * over
        if -over < least:
            least, inner = -over, j
    if square > 0.0:
        gap = sqrt(square)
        for j in range(3):
            out[j] /= gap
        return gap
    out[inner] = 1.0 if point[inner] >= 0.0 else -1.0
    return -least


class Outline(NamedTuple):
    """What round bodies are tested against and with: the shape; axes and half sizes of a solid; of a round body, half
    its line (m, in world axes) and its radius."""

    shape: float
    axes: Any
    half: Any
    line: Any
    radius: float


def solid_gap(between: Any, line: Any, solid: Outline, scratch: Any) -> tuple[float, float]:
    """Return the signed distance of a segment from a solid and the share (-1 to 1) of its nearest point.

    `between` is the way from the segment's centre to the solid's. The way out, in world axes, is left in `scratch[0]`.
    """
    point, out, axes = scratch[1], scratch[2], solid.axes
    s, square = 0.0, dot(line, line)
    gap = 0.0
    for _ in range(PROJECTIONS if square > 1e-18 else 1):
        for k in range(3):
            point[k] = s * dot(line, axes[k]) - dot(between, axes[k])
        gap = surface_gap(solid.shape, solid.half, point, out)
        for j in range(3):
            scratch[0, j] = out[0] * axes[0, j] + out[1] * axes[1, j] + out[2] * axes[2, j]
        if square > 1e-18:
            # the nearest point of the solid is `gap` inwards of the segment's; project it back onto the segment
            s = min(max(s - gap * dot(scratch[0], line) / square, -1.0), 1.0)
    if square > 1e-18:
        for k in range(3):
            point[k] = s * dot(line, axes[k]) - dot(between, axes[k])
        gap = surface_gap(solid.shape, solid.half, point, out)
        for j in range(3):
            scratch[0, j] = out[0] * axes[0, j] + out[1] * axes[1, j] + out[2] * axes[2, j]
    return gap, s


def round_gap(between: Any, a: Outline, b: Outline, tie: float, normal: Any, scratch: Any) -> tuple[float, float]:
    """Return the gap between a round body and any other and the share of its segment; write the normal towards it.

    `between` is the way from its centre to the other's; `tie` chooses the normal of two bodies in the same position.
    """
    if b.shape >= BOX:
        gap, s = solid_gap(between, a.line, b, scratch)
        for j in range(3):
            normal[j] = -scratch[0, j]
        return gap - a.radius, s
    s, t = nearest_of_segments(between, a.line, b.line)
    for j in range(3):
        normal[j] = between[j] + t * b.line[j] - s * a.line[j]
    distance = sqrt(dot(normal, normal))
    if distance > 1e-9:
        for j in range(3):
            normal[j] /= distance
    else:
        sine, cosine = sincos(GOLDEN_ANGLE * tie)
        normal[0], normal[1], normal[2] = 0.8 * cosine, 0.8 * sine, 0.6
    return distance - a.radius - b.radius, s


def round_touch(
    start: Any, move: Any, a: Outline, b: Outline, tie: float, normal: Any, scratch: Any
) -> tuple[float, float, float]:
    """Return the share of the tick at which a round body touches another (-1: it does not), depth and segment share.

    `start` is the way to the other's centre at the beginning of the tick and `move` its change; others as `round_gap`.
    """
    length = sqrt(dot(move, move))
    share, between = 0.0, scratch[3]
    for _ in range(ADVANCES):
        for j in range(3):
            between[j] = start[j] + share * move[j]
        gap, s = round_gap(between, a, b, tie, normal, scratch)
        if gap <= CLOSE:
            return share, -gap, s
        share += gap / max(length, 1e-30)
        if share > 1.0:
            return -1.0, 0.0, 0.0
    return -1.0, 0.0, 0.0


def bumper_touch(
    start: Any, move: Any, cone: Outline, vehicle: Outline, normal: Any, scratch: Any, part: Any
) -> tuple[float, float, float]:
    """Find the touch of a cone and a vehicle on wheels, as `round_touch`.

    A bumper lies ahead of what is below it: the vehicle is its box above the bumper, and a shorter box below. So a cone
    that leans away is pushed at the bumper, not at its foot. A cone lower than the bumper is touched near its top.
    """
    half, axes = vehicle.half, vehicle.axes
    high = min(2.0 * BUMPER * half[2], NEAR_TOP * (2.0 * cone.half[2]))  # of the bumper, above the box's lower side
    best, depth, s = -1.0, 0.0, 0.0
    way, touches = part[2], part[3]
    for upper in range(2):
        lift = 0.5 * high if upper == 1 else 0.5 * high - half[2]
        part[0, 0], part[0, 1] = (half[0], half[1]) if upper == 1 else (OVERHANG * half[0], BESIDE * half[1])
        part[0, 2] = half[2] - 0.5 * high if upper == 1 else 0.5 * high
        for j in range(3):
            way[j] = start[j] + lift * axes[2, j]
        box = Outline(vehicle.shape, axes, part[0], vehicle.line, vehicle.radius)
        share, deep, at = round_touch(way, move, cone, box, 0.0, touches, scratch)
        if share >= 0.0 and (best < 0.0 or share < best or (share == best and deep > depth)):
            best, depth, s = share, deep, at
            for j in range(3):
                normal[j] = touches[j]
    if best >= 0.0 and normal[2] > STEEP:  # it rises under the nose: thrown forwards, not pressed onto the ground
        return round_touch(start, move, cone, vehicle, 0.0, normal, scratch)
    return best, depth, s


class GroundPlane(NamedTuple):
    """The plane of the ground under a body: it contains (x, y, height); `up` is its normal."""

    x: float
    y: float
    height: float
    up: Any


def ground_points(a: Outline, centre: Any, ground: GroundPlane, poly: Any, depths: Any) -> int:
    """Write the points of a body that may rest on the ground, and their depths below it; return their number."""
    up, half, axes = ground.up, a.half, a.axes
    count = 8 if a.shape == BOX else BASE_POINTS + 1 if a.shape == CONE else 2
    for k in range(count):
        forward, left, high = 0.0, 0.0, 0.0
        if a.shape == BOX:
            forward = half[0] if k & 1 else -half[0]
            left = half[1] if k & 2 else -half[1]
            high = half[2] if k & 4 else -half[2]
        elif a.shape == CONE:
            sine, cosine = sincos(k * (6.283185307179586 / BASE_POINTS))
            forward, left, high = half[0] * cosine, half[1] * sine, -half[2]
            if k == BASE_POINTS:
                forward, left, high = 0.0, 0.0, half[2]
        for j in range(3):
            poly[k, j] = centre[j] + forward * axes[0, j] + left * axes[1, j] + high * axes[2, j]
            if a.shape < CONE:
                poly[k, j] += (1.0 if k else -1.0) * a.line[j] - a.radius * up[j]
        east, north, over = poly[k, 0] - ground.x, poly[k, 1] - ground.y, poly[k, 2] - ground.height
        depths[k] = -(east * up[0] + north * up[1] + over * up[2])
    return count if a.shape >= CONE or dot(a.line, a.line) > 1e-18 else 1


def lowest_points(poly: Any, depths: Any, count: int) -> int:
    """Write the points that touch the ground together with the deepest one to the front; return their number."""
    deepest = depths[0]
    for k in range(1, count):
        deepest = max(deepest, depths[k])
    touching = 0
    for k in range(count):
        if depths[k] > deepest - TOUCH:
            for j in range(3):
                poly[touching, j] = poly[k, j]
            depths[touching] = depths[k]
            touching += 1
    return touching


GROUND = -1  # in place of a second body
RECORD = 13  # columns of a contact: see Contact


class Contact(NamedTuple):
    """A contact of one tick."""

    first: float  # number of the body
    second: float  # -1: the ground
    x: float  # m: where, in the middle of the points
    y: float
    z: float
    nx: float  # from the first to the second
    ny: float
    nz: float
    impulse: float  # N s, along the normal
    speed: float  # m/s: of the approach
    depth: float  # m: overlap at the first touch
    share: float  # of the tick at which they touch first
    sliding: float  # N s: impulse of friction


class Geometry(NamedTuple):
    """The bodies of a tick, one per row: their table, axes, half sizes, centres at its end and motion within it (m),
    the lines and radii of round bodies, inverse inertia in world axes, radii of spheres around them."""

    table: Any
    axes: Any
    half: Any
    centre: Any
    sweep: Any
    line: Any
    radius: Any
    inertia: Any
    bound: Any


class Contacts(NamedTuple):
    """The contacts of a tick, one per row: columns of `Contact`, points (m), depths at them, number of points."""

    record: Any
    points: Any
    gaps: Any
    counts: Any


class Scratch(NamedTuple):
    """Arrays of the narrow phase: vectors, and the points, depths and normal of the contact that is looked for."""

    lines: Any
    small: Any
    poly: Any
    other: Any
    depths: Any
    normal: Any


def geometry(b: Any, dt: float) -> Geometry:
    """Return axes, centre, motion, segment of round bodies and inverse inertia in world axes, of every body."""
    m = b.shape[1]
    axes, half, centre, sweep = empty((m, 3, 3)), empty((m, 3)), empty((m, 3)), empty((m, 3))
    line, radius, inertia, bound = empty((m, 3)), empty(m), empty((m, 3, 3)), empty(m)
    for i in range(m):
        forward, left, up = body_axes(b[3, i], b[4, i], b[5, i], b[6, i])
        for j in range(3):
            axes[i, 0, j], axes[i, 1, j], axes[i, 2, j] = forward[j], left[j], up[j]
            half[i, j] = b[HALF_ROW + j, i]
        lies = 1 if half[i, 1] > half[i, 0] else 0
        radius[i], half_line = half[i, 0], 0.0
        if b[SHAPE_ROW, i] == FRAME:
            half[i, 0] = half[i, 1]
        if b[SHAPE_ROW, i] == CAPSULE:
            radius[i] = half[i, 2]
            half_line = half[i, lies] - radius[i]
        elif b[SHAPE_ROW, i] == CONE:
            lies, radius[i] = 2, CONE_WIDTH * half[i, 0]
            half_line = max(half[i, 2] - radius[i], 0.0)
        for j in range(3):
            centre[i, j] = b[j, i] + b[CENTRE_ROW, i] * axes[i, 0, j] + b[CENTRE_ROW + 1, i] * axes[i, 2, j]
            sweep[i, j] = dt * b[7 + j, i]
            line[i, j] = half_line * axes[i, lies, j]
            for k in range(3):
                total = 0.0
                for n in range(3):
                    total += axes[i, n, j] * b[TURNING_ROW + n, i] * axes[i, n, k]
                inertia[i, j, k] = total
        bound[i] = max(radius[i] + sqrt(dot(line[i], line[i])), 0.0)
        if b[SHAPE_ROW, i] >= BOX:
            bound[i] = sqrt(dot(half[i], half[i]))
        elif b[SHAPE_ROW, i] == FRAME:
            bound[i] = max(bound[i], sqrt(dot(half[i], half[i])))
    return Geometry(b, axes, half, centre, sweep, line, radius, inertia, bound)


def outline_of(g: Geometry, i: int) -> Outline:
    """Return the outline of a body."""
    return Outline(g.table[SHAPE_ROW, i], g.axes[i], g.half[i], g.line[i], g.radius[i])


def is_over(g: Geometry, a: int, c: int) -> bool:
    """Return whether a frame is upright over a face of a box, or over the top of a cylinder, on which it may stand.

    In a faster touch it is the sphere: so flat a box would pass through a thin wall as it turns.
    """
    for k in range(3):
        axis, upwards = g.axes[c, k], dot(g.axes[a, 2], g.axes[c, k])
        if abs(upwards) < UPRIGHT:
            continue
        high, over = -g.half[c, k], -1e30
        for j in range(3):
            high += (g.centre[a, j] - g.centre[c, j]) * axis[j] * (1.0 if upwards > 0.0 else -1.0)
        for m in range(1, 3):
            beside, n = 0.0, (k + m) % 3
            for j in range(3):
                beside += (g.centre[a, j] - g.centre[c, j]) * g.axes[c, n, j]
            over = max(over, abs(beside) - g.half[c, n])
        slow = abs(dot(g.sweep[a], axis) - dot(g.sweep[c], axis)) < g.half[a, 2]
        return bool(slow and -2.0 * g.half[a, 2] < high < g.radius[a] and over < 0.0)
    return False


def touch(a: int, c: int, g: Geometry, s: Scratch) -> tuple[int, float]:
    """Find the contact of two bodies; return the number of its points (in `poly`, `depths`) and its time."""
    start, move, sweep, centre = s.small[4], s.small[5], g.sweep, g.centre
    for j in range(3):
        move[j] = sweep[c, j] - sweep[a, j]
        start[j] = centre[c, j] - centre[a, j] - move[j]
    shape_a, shape_c = g.table[SHAPE_ROW, a], g.table[SHAPE_ROW, c]
    if shape_a >= BOX or (shape_a == FRAME and shape_c >= BOX and is_over(g, a, c)):
        rounded = shape_c == CYLINDER
        level = g.table[LIGHTNESS_ROW + 1, a] == 0.0 and g.table[LIGHTNESS_ROW + 1, c] == 0.0
        at_a, at_c = s.small[6], s.small[7]
        first, second = Solid(at_a, g.axes[a], g.half[a]), Solid(at_c, g.axes[c], g.half[c])
        code, share = first_touch(start, move, first, second, rounded, level, s.lines, s.normal)
        if code == NONE:
            return 0, 0.0
        for j in range(3):
            at_a[j] = centre[a, j] - (1.0 - share) * sweep[a, j]
            at_c[j] = centre[c, j] - (1.0 - share) * sweep[c, j]
        if rounded:
            return cylinder_points(code, s.normal, first, second, s.poly, s.depths), share
        return box_points(code, s.normal, first, second, s.poly, s.other, s.depths), share
    round_body, other = outline_of(g, a), outline_of(g, c)
    if shape_a == CONE and shape_c == BOX and g.table[LIGHTNESS_ROW, c] > 0.0 and g.table[LIGHTNESS_ROW + 1, c] == 0.0:
        share, depth, at = bumper_touch(start, move, round_body, other, s.normal, s.small, s.poly)
    else:
        share, depth, at = round_touch(start, move, round_body, other, float(a + 2 * c), s.normal, s.small)
    if share < 0.0:
        return 0, 0.0
    for j in range(3):
        near = centre[a, j] - (1.0 - share) * sweep[a, j] + at * round_body.line[j]
        s.poly[0, j] = near + (round_body.radius - 0.5 * depth) * s.normal[j]
    s.depths[0] = depth
    return 1, share


def ground_touch(a: int, g: Geometry, s: Scratch) -> tuple[int, float]:
    """Find the contact of a body with the ground under it; as `touch`."""
    up, table, sweep, poly, depths = s.small[4], g.table, g.sweep[a], s.poly, s.depths
    for j in range(3):
        up[j] = table[GROUND_ROW + 1 + j, a]
        s.normal[j] = -up[j]
    ground = GroundPlane(table[0, a], table[1, a], table[GROUND_ROW, a], up)
    count = lowest_points(poly, depths, ground_points(outline_of(g, a), g.centre[a], ground, poly, depths))
    deepest = depths[0]
    for k in range(1, count):
        deepest = max(deepest, depths[k])
    before = deepest + dot(sweep, up)  # depth at the beginning of the tick
    if deepest <= 0.0 and before <= 0.0:
        return 0, 0.0
    share = 0.0 if before >= 0.0 else -before / (deepest - before)
    for k in range(count):
        depths[k] += (1.0 - share) * dot(sweep, up)
        for j in range(3):
            poly[k, j] -= (1.0 - share) * sweep[j]
    return keep_four(poly, depths, count), share


def find_contacts(pairs: Any, g: Geometry, contacts: Contacts) -> int:
    """Find the contacts of the pairs and of bodies on the ground; return their number."""
    scratch = Scratch(empty((AXES, 3)), empty((8, 3)), empty((16, 3)), empty((16, 3)), empty(16), empty(3))
    b, total = g.table, 0
    for k in range(pairs.shape[1] + b.shape[1]):
        ground = k >= pairs.shape[1]
        a = k - pairs.shape[1] if ground else pairs[0, k]
        c = GROUND if ground else pairs[1, k]
        if ground:
            if b[GROUND_ROW + 3, a] == 0.0 or b[ASLEEP_ROW, a] != 0.0:
                continue
            count, share = ground_touch(a, g, scratch)
        else:
            if b[LIGHTNESS_ROW, a] == 0.0 and b[LIGHTNESS_ROW, c] == 0.0:
                continue
            reach, square = g.bound[a] + g.bound[c], 0.0
            for j in range(3):
                move = g.sweep[c, j] - g.sweep[a, j]
                apart = abs(g.centre[c, j] - g.centre[a, j] - 0.5 * move) - 0.5 * abs(move)
                square += max(apart, 0.0) * max(apart, 0.0)
            if square > reach * reach:
                continue
            if b[SHAPE_ROW, a] > b[SHAPE_ROW, c] and (b[SHAPE_ROW, c] < BOX or b[SHAPE_ROW, a] == CYLINDER):
                a, c = c, a  # the round body first; a cylinder last
            count, share = touch(a, c, g, scratch)
        if count == 0:
            continue
        record = contacts.record[total]
        contacts.counts[total] = count
        for j in range(RECORD):
            record[j] = 0.0
        record[0], record[1], record[11] = a, c, share
        for j in range(3):
            record[5 + j] = scratch.normal[j]
        for p in range(count):
            depth = scratch.depths[p]
            contacts.gaps[total, p] = depth
            record[10] = max(record[10], depth)
            for j in range(3):
                contacts.points[total, p, j] = scratch.poly[p, j]
                record[2 + j] += scratch.poly[p, j] / count
        total += 1
    return total
