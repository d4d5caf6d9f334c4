"""Narrow phase of boxes: separating axes swept over a tick, and the points where two boxes touch.

Boxes are three-dimensional and oriented. During a tick a body moves in a straight line and keeps its attitude, so the
first touch is exact: on each axis the two projections overlap during an interval of time, and the boxes touch when the
last of these intervals begins. The axis on which it begins is the normal.
"""

from math import sqrt
from typing import Any, NamedTuple

AXES = 16  # rows of scratch for axes: 3 faces of each, 9 pairs of edges
NONE = -1  # no touch
EDGES = 6  # the code of the first pair of edges; smaller ones are faces: 0 to 2 of the first body, 3 to 5 of the second
TOUCH = 1e-2  # m: points within this distance of the touching plane belong to the contact
FACE_FIRST = 1e-3  # m: an edge must be this much better than a face to give the normal
POINTS = 4  # of one contact
ALIKE = 1e-9  # m: two faces whose gaps differ by less touch alike


class Solid(NamedTuple):
    """A box, or an upright cylinder: centre (3,) and half its size (3,) in m, and its axes (3, 3), one per row."""

    centre: Any
    axes: Any
    half: Any


def dot(a: Any, b: Any) -> float:
    """Return the scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]  # type: ignore[no-any-return]


def extent(axis: Any, solid: Solid, rounded: bool) -> float:
    """Return half the length of a body's projection on an axis; `rounded`: an upright cylinder."""
    half = solid.half
    if rounded:
        return half[0] * sqrt(axis[0] * axis[0] + axis[1] * axis[1]) + half[2] * abs(axis[2])  # type: ignore[no-any-return]
    total = 0.0
    for k in range(3):
        total += half[k] * abs(dot(solid.axes[k], axis))
    return total


def write_face_axes(a: Solid, b: Solid, start: Any, move: Any, rounded: bool, out: Any) -> None:
    """Write the axes of the faces; zeros where one is not needed; `rounded`: the second body is an upright cylinder."""
    axes_a = a.axes
    for k in range(3):
        for j in range(3):
            out[k, j] = axes_a[k, j]
            out[3 + k, j] = b.axes[k, j]
    if rounded:  # in place of faces: from its centre line to the nearest point of the box, before and after the tick
        for which in range(2):
            x, y = 0.0, 0.0
            for k in range(3):
                along = 0.0
                for j in range(3):
                    along -= (start[j] + which * move[j]) * axes_a[k, j]
                inside = min(max(-along, -a.half[k]), a.half[k])
                x += inside * axes_a[k, 0]
                y += inside * axes_a[k, 1]
            x, y = start[0] + which * move[0] - x, start[1] + which * move[1] - y
            length = sqrt(x * x + y * y)
            out[3 + which, 0] = x / length if length > 1e-9 else 0.0
            out[3 + which, 1] = y / length if length > 1e-9 else 0.0
            out[3 + which, 2] = 0.0


def write_edge_axes(a: Solid, b: Solid, rounded: bool, out: Any) -> None:
    """Write the axes across an edge of each body; zeros where one is not needed."""
    axes_a, axes_b = a.axes, b.axes
    for i in range(3):
        for j in range(3):
            row = EDGES + 3 * i + j
            x = axes_a[i, 1] * axes_b[j, 2] - axes_a[i, 2] * axes_b[j, 1]
            y = axes_a[i, 2] * axes_b[j, 0] - axes_a[i, 0] * axes_b[j, 2]
            z = axes_a[i, 0] * axes_b[j, 1] - axes_a[i, 1] * axes_b[j, 0]
            length = sqrt(x * x + y * y + z * z)
            needed = length > 1e-3 and not (rounded and j < 2)
            out[row, 0] = x / length if needed else 0.0
            out[row, 1] = y / length if needed else 0.0
            out[row, 2] = z / length if needed else 0.0


def first_touch(
    start: Any, move: Any, a: Solid, b: Solid, rounded: bool, level: bool, lines: Any, normal: Any
) -> tuple[int, float]:
    """Return the code of the separating axis and the share of the tick at which two bodies touch; NONE if they do not.

    `start` is the way from the first to the second centre at the beginning of the tick, `move` its change. Bodies that
    overlap at the beginning touch there, along the axis of least depth; `level`: neither can move up or down, so that
    a vertical one would not help. Writes the `normal`, first to second.
    """
    write_face_axes(a, b, start, move, rounded, lines)
    enter, leave, depth, touching, shallow = -1e30, 1e30, 1e30, NONE, NONE
    for row in range(EDGES + 9):
        if enter > leave or enter > 1.0 or leave < 0.0:
            return NONE, 0.0
        if row == EDGES:
            write_edge_axes(a, b, rounded, lines)
        axis = lines[row]
        if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
            continue
        reach = extent(axis, a, False) + extent(axis, b, rounded)
        apart, speed = dot(start, axis), dot(move, axis)
        if abs(speed) < 1e-12:
            if abs(apart) > reach:
                return NONE, 0.0
        else:
            begins, ends = (-reach - apart) / speed, (reach - apart) / speed
            leave = min(leave, max(begins, ends))
            # an edge takes precedence only if it begins to overlap clearly later
            if min(begins, ends) > enter + (FACE_FIRST / abs(speed) if row >= EDGES else 0.0):
                enter, touching = min(begins, ends), row
            elif min(begins, ends) > enter:
                enter = min(begins, ends)
        useful = not (level and abs(axis[2]) > 0.7)
        if useful and reach - abs(apart) < depth - (FACE_FIRST if row >= EDGES else 0.0):
            depth, shallow = reach - abs(apart), row
    if enter > leave or enter > 1.0 or leave < 0.0:
        return NONE, 0.0
    share = max(enter, 0.0)
    code = touching if enter > 0.0 else shallow
    side = dot(start, lines[code]) + share * dot(move, lines[code])
    for j in range(3):
        normal[j] = lines[code, j] if side >= 0.0 else -lines[code, j]
    if code < EDGES and not rounded:
        level_faces(start, move, share, a, b, code, lines, normal)
    return code, share


def level_faces(start: Any, move: Any, share: float, a: Solid, b: Solid, code: int, lines: Any, normal: Any) -> None:
    """Turn the normal half way to that of the other body's nearest face, if both faces touch alike.

    So a touch of two bodies that mirror each other does not depend on which of them is the first.
    """
    mate, most = 0, 0.0
    for row in range(3 - 3 * (code // 3), 6 - 3 * (code // 3)):
        if abs(dot(lines[row], normal)) > most:
            mate, most = row, abs(dot(lines[row], normal))
    gap, own = 0.0, 0.0
    for row in (code, mate):
        axis = lines[row]
        apart = abs(dot(start, axis) + share * dot(move, axis))
        gap, own = own, apart - extent(axis, a, False) - extent(axis, b, False)
    if abs(gap - own) > ALIKE:
        return
    sign, length = (1.0 if dot(lines[mate], normal) > 0.0 else -1.0), 0.0
    for j in range(3):
        normal[j] += sign * lines[mate, j]
        length += normal[j] * normal[j]
    for j in range(3):
        normal[j] /= sqrt(length)


def clip(poly: Any, count: int, axis: Any, offset: float, out: Any) -> int:
    """Cut a polygon at the plane `axis . p <= offset`; return the number of points written to `out`."""
    corners = 0
    for k in range(count):
        start, end = poly[k], poly[(k + 1) % count]
        inside, after = offset - dot(start, axis), offset - dot(end, axis)
        if inside >= 0.0:
            for j in range(3):
                out[corners, j] = start[j]
            corners += 1
        if (inside < 0.0) != (after < 0.0):
            share = inside / (inside - after)
            for j in range(3):
                out[corners, j] = start[j] + share * (end[j] - start[j])
            corners += 1
    return corners


def face_points(reference: Solid, face: int, outward: Any, incident: Solid, poly: Any, other: Any, depths: Any) -> int:
    """Write the part of the incident box's nearest face over a face of the reference box; return the number of points.

    `outward` points from the reference box to the incident one. Points lie on the incident face in `poly`.
    """
    nearest, most = 0, -1.0
    for k in range(3):
        if abs(dot(incident.axes[k], outward)) > most + 1e-9:
            nearest, most = k, abs(dot(incident.axes[k], outward))
    side = -incident.half[nearest] if dot(incident.axes[nearest], outward) > 0.0 else incident.half[nearest]
    u, v = (nearest + 1) % 3, (nearest + 2) % 3
    for k in range(4):
        along = incident.half[u] if k in (0, 3) else -incident.half[u]
        across = incident.half[v] if k < 2 else -incident.half[v]
        for j in range(3):
            middle = incident.centre[j] + side * incident.axes[nearest, j]
            poly[k, j] = middle + along * incident.axes[u, j] + across * incident.axes[v, j]
    count = 4
    for k in range(3):
        if k == face:
            continue
        offset = dot(reference.centre, reference.axes[k])
        count = clip(poly, count, reference.axes[k], offset + reference.half[k], other)
        for j in range(3):  # the same plane on the other side, with a turned axis
            depths[j] = -reference.axes[k, j]
        count = clip(other, count, depths, reference.half[k] - offset, poly)
    plane, touching = dot(reference.centre, outward) + reference.half[face], 0
    for k in range(count):
        depth = plane - dot(poly[k], outward)
        if depth > -TOUCH:
            for j in range(3):
                poly[touching, j] = poly[k, j]
            depths[touching] = depth
            touching += 1
    return touching


def edge_point(code: int, a: Solid, b: Solid, normal: Any, poly: Any) -> float:
    """Write the point between the two touching edges into `poly[0]`; return the depth there."""
    i, j = (code - EDGES) // 3, (code - EDGES) % 3
    for k in range(3):
        poly[0, k], poly[1, k] = a.centre[k], b.centre[k]
    for k in range(3):
        if k != i:
            side = a.half[k] if dot(a.axes[k], normal) > 0.0 else -a.half[k]
            for m in range(3):
                poly[0, m] += side * a.axes[k, m]
        if k != j:
            side = -b.half[k] if dot(b.axes[k], normal) > 0.0 else b.half[k]
            for m in range(3):
                poly[1, m] += side * b.axes[k, m]
    depth = dot(poly[0], normal) - dot(poly[1], normal)
    axis_a, axis_b = a.axes[i], b.axes[j]
    between = dot(axis_a, axis_b)
    scale = 1.0 - between * between
    for m in range(3):
        poly[2, m] = poly[1, m] - poly[0, m]
    along = (dot(poly[2], axis_a) - between * dot(poly[2], axis_b)) / scale
    across = (between * dot(poly[2], axis_a) - dot(poly[2], axis_b)) / scale
    for m in range(3):
        poly[0, m] = 0.5 * (poly[0, m] + along * axis_a[m] + poly[1, m] + across * axis_b[m])
    return depth


def keep_four(poly: Any, depths: Any, count: int) -> int:
    """Reduce a contact to its deepest point and the three that span the largest area with it; return their number."""
    if count <= POINTS:
        return count
    first = 0
    for k in range(1, count):
        if depths[k] > depths[first] + 1e-9:
            first = k
    swap(poly, depths, 0, first)
    for slot in range(1, POINTS):
        best, most = slot, -1.0
        for k in range(slot, count):
            near = 1e30  # farthest from those that are kept
            for m in range(slot):
                x, y, z = poly[k, 0] - poly[m, 0], poly[k, 1] - poly[m, 1], poly[k, 2] - poly[m, 2]
                near = min(near, x * x + y * y + z * z)
            if near > most + 1e-12:
                best, most = k, near
        swap(poly, depths, slot, best)
    return POINTS


def swap(poly: Any, depths: Any, i: int, k: int) -> None:
    """Exchange two points."""
    for j in range(3):
        poly[i, j], poly[k, j] = poly[k, j], poly[i, j]
    depths[i], depths[k] = depths[k], depths[i]


def box_points(code: int, normal: Any, a: Solid, b: Solid, poly: Any, other: Any, depths: Any) -> int:
    """Write at most four points where two boxes touch and the depth at each; return their number."""
    if code >= EDGES:
        depths[0] = edge_point(code, a, b, normal, poly)
        return 1
    if code < 3:
        count = face_points(a, code, normal, b, poly, other, depths)
    else:
        turned = other[-1]
        for j in range(3):
            turned[j] = -normal[j]
        count = face_points(b, code - 3, turned, a, poly, other, depths)
    return keep_four(poly, depths, count)


def cylinder_points(code: int, normal: Any, a: Solid, b: Solid, poly: Any, depths: Any) -> int:
    """Write the points where a box touches an upright cylinder: its side, or the corners over its top; as above."""
    centre_a, axes_a, half_a, centre_b, half_b = a.centre, a.axes, a.half, b.centre, b.half
    low, high = centre_a[2], centre_a[2]
    for k in range(3):
        low -= half_a[k] * abs(axes_a[k, 2])
        high += half_a[k] * abs(axes_a[k, 2])
    if code != 5:
        middle = 0.5 * (max(low, centre_b[2] - half_b[2]) + min(high, centre_b[2] + half_b[2]))
        flat = sqrt(normal[0] * normal[0] + normal[1] * normal[1])
        scale = half_b[0] / max(flat, 1e-9)
        poly[0, 0], poly[0, 1] = centre_b[0] - scale * normal[0], centre_b[1] - scale * normal[1]
        poly[0, 2] = middle
        reach = extent(normal, a, False) + extent(normal, b, True)
        depths[0] = reach - abs(
            (centre_b[0] - centre_a[0]) * normal[0]
            + (centre_b[1] - centre_a[1]) * normal[1]
            + (centre_b[2] - centre_a[2]) * normal[2]
        )
        return 1
    count = 0
    for corner in range(8):
        x, y, z = centre_a[0], centre_a[1], centre_a[2]
        for k in range(3):
            side = half_a[k] if corner >> k & 1 else -half_a[k]
            x, y, z = x + side * axes_a[k, 0], y + side * axes_a[k, 1], z + side * axes_a[k, 2]
        depth = centre_b[2] + half_b[2] - z if normal[2] < 0.0 else z - centre_b[2] + half_b[2]
        across = (x - centre_b[0]) * (x - centre_b[0]) + (y - centre_b[1]) * (y - centre_b[1])
        if depth > -TOUCH and across <= half_b[0] * half_b[0]:
            poly[count, 0], poly[count, 1], poly[count, 2], depths[count] = x, y, z, depth
            count += 1
    if count == 0:  # a thin cylinder under the middle of the box
        poly[0, 0], poly[0, 1] = centre_b[0], centre_b[1]
        poly[0, 2] = centre_b[2] - half_b[2] * normal[2]
        depths[0] = min(high - centre_b[2] + half_b[2], centre_b[2] + half_b[2] - low)
        count = 1
    return keep_four(poly, depths, count)
