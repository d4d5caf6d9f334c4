"""Narrow phase: the contacts of a tick, from the pairs that may touch and the bodies on the ground.

Boxes and cylinders are tested in `boxes.py`; spheres and capsules here, against each other, boxes and cylinders. Such a
round body is a line segment (of length 0 for a sphere) with a radius. Its distance from another body changes at most
as fast as the two move: the first touch of a tick is found by advancing as far as the distance allows, again and again.
"""

from math import sqrt
from typing import Any, NamedTuple

from numpy import empty

from paddock.compute.math import sincos
from paddock.contact.bodies import ASLEEP_ROW, GROUND_ROW, LIGHTNESS_ROW, SHAPE_ROW
from paddock.contact.boxes import AXES, NONE, TOUCH, box_points, cylinder_points, dot, first_touch, keep_four
from paddock.vehicles.model import BOX, CONE, CYLINDER

ADVANCES = 24  # towards the first touch; each at least halves what is left in all but grazing passes
CLOSE = 1e-9  # m: a gap that counts as a touch
PROJECTIONS = 16  # between a segment and a solid, to find the nearest pair of points
GOLDEN_ANGLE = 2.399963229728653  # rad
BUMPER = 0.3  # height of a vehicle's bumper, share of the height of its box
OVERHANG, BESIDE = 0.9, 0.95  # length and width of what is below the bumper, shares of those of the box
STEEP = 0.7  # vertical part of a normal: the touch is under the nose
NEAR_TOP = 0.75  # of the height of a cone, above the lower side of the box: there a higher bumper touches it
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


def solid_gap(between: Any, line: Any, axes: Any, half: Any, shape: float, scratch: Any) -> tuple[float, float]:
    """Return the signed distance of a segment from a solid and the share (-1 to 1) of its nearest point.

    `between` is the way from the segment's centre to the solid's. The way out, in world axes, is left in `scratch[0]`.
    """
    point, out = scratch[1], scratch[2]
    s, square = 0.0, dot(line, line)
    gap = 0.0
    for _ in range(PROJECTIONS if square > 1e-18 else 1):
        for k in range(3):
            point[k] = s * dot(line, axes[k]) - dot(between, axes[k])
        gap = surface_gap(shape, half, point, out)
        for j in range(3):
            scratch[0, j] = out[0] * axes[0, j] + out[1] * axes[1, j] + out[2] * axes[2, j]
        if square > 1e-18:
            # the nearest point of the solid is `gap` inwards of the segment's; project it back onto the segment
            s = min(max(s - gap * dot(scratch[0], line) / square, -1.0), 1.0)
    if square > 1e-18:
        for k in range(3):
            point[k] = s * dot(line, axes[k]) - dot(between, axes[k])
        gap = surface_gap(shape, half, point, out)
        for j in range(3):
            scratch[0, j] = out[0] * axes[0, j] + out[1] * axes[1, j] + out[2] * axes[2, j]
    return gap, s


def round_gap(
    between: Any, line: Any, radius: float, other: Any, other_radius: float, axes: Any, half: Any, shape: float,
    tie: float, normal: Any, scratch: Any,
) -> tuple[float, float]:  # fmt: skip
    """Return the gap between a round body and any other and the share of its segment; write the normal towards it.

    `other` and `other_radius` describe a second round body; `axes` and `half` a box, cone or cylinder. `tie` chooses
    the normal of two bodies at the same place.
    """
    if shape >= BOX:
        gap, s = solid_gap(between, line, axes, half, shape, scratch)
        for j in range(3):
            normal[j] = -scratch[0, j]
        return gap - radius, s
    s, t = nearest_of_segments(between, line, other)
    for j in range(3):
        normal[j] = between[j] + t * other[j] - s * line[j]
    distance = sqrt(dot(normal, normal))
    if distance > 1e-9:
        for j in range(3):
            normal[j] /= distance
    else:
        sine, cosine = sincos(GOLDEN_ANGLE * tie)
        normal[0], normal[1], normal[2] = 0.8 * cosine, 0.8 * sine, 0.6
    return distance - radius - other_radius, s


def round_touch(
    start: Any, move: Any, line: Any, radius: float, other: Any, other_radius: float, axes: Any, half: Any,
    shape: float, tie: float, normal: Any, scratch: Any,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the share of the tick at which a round body touches another (-1: it does not), depth and segment share.

    `start` is the way to the other's centre at the beginning of the tick and `move` its change; others as `round_gap`.
    """
    length = sqrt(dot(move, move))
    share, between = 0.0, scratch[3]
    for _ in range(ADVANCES):
        for j in range(3):
            between[j] = start[j] + share * move[j]
        gap, s = round_gap(between, line, radius, other, other_radius, axes, half, shape, tie, normal, scratch)
        if gap <= CLOSE:
            return share, -gap, s
        share += gap / max(length, 1e-30)
        if share > 1.0:
            return -1.0, 0.0, 0.0
    return -1.0, 0.0, 0.0


def bumper_touch(
    start: Any, move: Any, line: Any, radius: float, height: float, axes: Any, half: Any, normal: Any, scratch: Any,
    part: Any,
) -> tuple[float, float, float]:  # fmt: skip
    """Find the touch of a cone (of a height, m) and a vehicle on wheels, as `round_touch`.

    A bumper lies ahead of what is below it: the vehicle is its box above the bumper, and a shorter box below. So a cone
    that leans away is pushed at the bumper, not at its foot. A cone lower than the bumper is touched near its top.
    """
    high = min(2.0 * BUMPER * half[2], NEAR_TOP * height)  # of the bumper, above the lower side of the box
    best, depth, s = -1.0, 0.0, 0.0
    way, touches = part[2], part[3]
    for upper in range(2):
        lift = 0.5 * high if upper == 1 else 0.5 * high - half[2]
        part[0, 0], part[0, 1] = (half[0], half[1]) if upper == 1 else (OVERHANG * half[0], BESIDE * half[1])
        part[0, 2] = half[2] - 0.5 * high if upper == 1 else 0.5 * high
        for j in range(3):
            way[j] = start[j] + lift * axes[2, j]
        share, deep, at = round_touch(
            way, move, line, radius, line, 0.0, axes, part[0], BOX, 0.0, touches, scratch
        )  # fmt: skip
        if share >= 0.0 and (best < 0.0 or share < best or (share == best and deep > depth)):
            best, depth, s = share, deep, at
            for j in range(3):
                normal[j] = touches[j]
    if best >= 0.0 and normal[2] > STEEP:  # it rises under the nose: thrown forwards, not pressed onto the ground
        return round_touch(start, move, line, radius, line, 0.0, axes, half, BOX, 0.0, normal, scratch)
    return best, depth, s


def ground_points(
    shape: float, centre: Any, axes: Any, half: Any, line: Any, radius: float, height: float, up: Any, x: float,
    y: float, poly: Any, depths: Any,
) -> int:  # fmt: skip
    """Write the points of a body that may rest on a plane, and their depths below it; return their number.

    The plane contains (x, y, height); `up` is its normal.
    """
    count = 8 if shape == BOX else BASE_POINTS + 1 if shape == CONE else 2
    for k in range(count):
        a, b, c = 0.0, 0.0, 0.0
        if shape == BOX:
            a = half[0] if k & 1 else -half[0]
            b = half[1] if k & 2 else -half[1]
            c = half[2] if k & 4 else -half[2]
        elif shape == CONE:
            sine, cosine = sincos(k * (6.283185307179586 / BASE_POINTS))
            a, b, c = half[0] * cosine, half[1] * sine, -half[2]
            if k == BASE_POINTS:
                a, b, c = 0.0, 0.0, half[2]
        for j in range(3):
            poly[k, j] = centre[j] + a * axes[0, j] + b * axes[1, j] + c * axes[2, j]
            if shape < CONE:
                poly[k, j] += (1.0 if k else -1.0) * line[j] - radius * up[j]
        depths[k] = -((poly[k, 0] - x) * up[0] + (poly[k, 1] - y) * up[1] + (poly[k, 2] - height) * up[2])
    return count if shape >= CONE or dot(line, line) > 1e-18 else 1


def lowest_points(poly: Any, depths: Any, count: int) -> int:
    """Keep the points that touch the ground together with the deepest one; return their number."""
    deepest = depths[0]
    for k in range(1, count):
        deepest = max(deepest, depths[k])
    kept = 0
    for k in range(count):
        if depths[k] > deepest - TOUCH:
            for j in range(3):
                poly[kept, j] = poly[k, j]
            depths[kept] = depths[k]
            kept += 1
    return kept


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


def touch(
    a: int, c: int, b: Any, axes: Any, half: Any, centre: Any, sweep: Any, line: Any, radius: Any,
    lines: Any, small: Any, poly: Any, other: Any, depths: Any, normal: Any,
) -> tuple[int, float]:  # fmt: skip
    """Find the contact of two bodies; return the number of its points (in `poly`, `depths`) and its time."""
    start, move = small[4], small[5]
    for j in range(3):
        move[j] = sweep[c, j] - sweep[a, j]
        start[j] = centre[c, j] - centre[a, j] - move[j]
    shape_a, shape_c = b[SHAPE_ROW, a], b[SHAPE_ROW, c]
    if shape_a >= BOX:
        rounded = shape_c == CYLINDER
        level = b[LIGHTNESS_ROW + 1, a] == 0.0 and b[LIGHTNESS_ROW + 1, c] == 0.0
        code, share = first_touch(start, move, axes[a], half[a], axes[c], half[c], rounded, level, lines, normal)
        if code == NONE:
            return 0, 0.0
        at_a, at_c = small[6], small[7]
        for j in range(3):
            at_a[j] = centre[a, j] - (1.0 - share) * sweep[a, j]
            at_c[j] = centre[c, j] - (1.0 - share) * sweep[c, j]
        if rounded:
            return cylinder_points(code, normal, at_a, axes[a], half[a], at_c, half[c], poly, depths), share
        return box_points(code, normal, at_a, axes[a], half[a], at_c, axes[c], half[c], poly, other, depths), share
    if shape_a == CONE and shape_c == BOX and b[LIGHTNESS_ROW, c] > 0.0 and b[LIGHTNESS_ROW + 1, c] == 0.0:
        share, depth, s = bumper_touch(
            start, move, line[a], radius[a], 2.0 * half[a, 2], axes[c], half[c], normal, small, poly
        )
    else:
        share, depth, s = round_touch(
            *(start, move, line[a], radius[a], line[c], radius[c], axes[c], half[c], shape_c, float(a + 2 * c)),
            *(normal, small),
        )
    if share < 0.0:
        return 0, 0.0
    for j in range(3):
        near = centre[a, j] - (1.0 - share) * sweep[a, j] + s * line[a, j]
        poly[0, j] = near + (radius[a] - 0.5 * depth) * normal[j]
    depths[0] = depth
    return 1, share


def ground_touch(
    a: int, b: Any, axes: Any, half: Any, centre: Any, sweep: Any, line: Any, radius: Any, small: Any, poly: Any,
    depths: Any, normal: Any,
) -> tuple[int, float]:  # fmt: skip
    """Find the contact of a body with the ground under it; as `touch`."""
    up = small[4]
    for j in range(3):
        up[j] = b[GROUND_ROW + 1 + j, a]
        normal[j] = -up[j]
    count = ground_points(
        b[SHAPE_ROW, a], centre[a], axes[a], half[a], line[a], radius[a], b[GROUND_ROW, a], up, b[0, a], b[1, a], poly,
        depths,
    )  # fmt: skip
    count = lowest_points(poly, depths, count)
    deepest = depths[0]
    for k in range(1, count):
        deepest = max(deepest, depths[k])
    before = deepest + dot(sweep[a], up)  # depth at the beginning of the tick
    if deepest <= 0.0 and before <= 0.0:
        return 0, 0.0
    share = 0.0 if before >= 0.0 else -before / (deepest - before)
    for k in range(count):
        depths[k] += (1.0 - share) * dot(sweep[a], up)
        for j in range(3):
            poly[k, j] -= (1.0 - share) * sweep[a, j]
    return keep_four(poly, depths, count), share


def find_contacts(
    b: Any, pairs: Any, dt: float, axes: Any, half: Any, centre: Any, sweep: Any, line: Any, radius: Any, bound: Any,
    record: Any, points: Any, gaps: Any, counts: Any,
) -> int:  # fmt: skip
    """Find the contacts of the pairs and of bodies on the ground; return their number."""
    lines, small, normal = empty((AXES, 3)), empty((8, 3)), empty(3)
    poly, other, depths = empty((16, 3)), empty((16, 3)), empty(16)
    total = 0
    for k in range(pairs.shape[1] + b.shape[1]):
        ground = k >= pairs.shape[1]
        a = k - pairs.shape[1] if ground else pairs[0, k]
        c = GROUND if ground else pairs[1, k]
        if ground:
            if b[GROUND_ROW + 3, a] == 0.0 or b[ASLEEP_ROW, a] != 0.0:
                continue
            count, share = ground_touch(a, b, axes, half, centre, sweep, line, radius, small, poly, depths, normal)
        else:
            if b[LIGHTNESS_ROW, a] == 0.0 and b[LIGHTNESS_ROW, c] == 0.0:
                continue
            reach, square = bound[a] + bound[c], 0.0
            for j in range(3):
                move = sweep[c, j] - sweep[a, j]
                apart = abs(centre[c, j] - centre[a, j] - 0.5 * move) - 0.5 * abs(move)
                square += max(apart, 0.0) * max(apart, 0.0)
            if square > reach * reach:
                continue
            if b[SHAPE_ROW, a] > b[SHAPE_ROW, c] and (b[SHAPE_ROW, c] < BOX or b[SHAPE_ROW, a] == CYLINDER):
                a, c = c, a  # the round body first; a cylinder last
            count, share = touch(
                a, c, b, axes, half, centre, sweep, line, radius, lines, small, poly, other, depths, normal
            )
        if count == 0:
            continue
        counts[total] = count
        for j in range(RECORD):
            record[total, j] = 0.0
        record[total, 0], record[total, 1], record[total, 11] = a, c, share
        for j in range(3):
            record[total, 5 + j] = normal[j]
        for p in range(count):
            gaps[total, p] = depths[p]
            record[total, 10] = max(record[total, 10], depths[p])
            for j in range(3):
                points[total, p, j] = poly[p, j]
                record[total, 2 + j] += poly[p, j] / count
        total += 1
    return total
