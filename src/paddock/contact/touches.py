"""Narrow phase: the contacts of a tick, from the pairs that may touch and the bodies on the ground."""

from typing import Any, NamedTuple

from numpy import empty

from paddock.contact.bodies import ASLEEP_ROW, GROUND_ROW, LIGHTNESS_ROW, SHAPE_ROW
from paddock.contact.boxes import AXES, NONE, box_points, cylinder_points, dot, first_touch, keep_four
from paddock.contact.rounds import bumper_touch, ground_points, lowest_points, round_touch
from paddock.vehicles.model import BOX, CONE, CYLINDER

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
    found = 0
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
        counts[found] = count
        for j in range(RECORD):
            record[found, j] = 0.0
        record[found, 0], record[found, 1], record[found, 11] = a, c, share
        for j in range(3):
            record[found, 5 + j] = normal[j]
        for p in range(count):
            gaps[found, p] = depths[p]
            record[found, 10] = max(record[found, 10], depths[p])
            for j in range(3):
                points[found, p, j] = poly[p, j]
                record[found, 2 + j] += poly[p, j] / count
        found += 1
    return found
