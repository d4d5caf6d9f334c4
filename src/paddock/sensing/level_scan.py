"""Level scans: the beams of one ring in a horizontal plane against upright solids, which are flat shapes there.

Along the beams that meet a straight edge its nearness (1 / distance) is a linear function of cosine and sine of the
azimuth: a box costs no division per beam, and the nearest of all solids has the largest nearness. In the end a beam
needs one division. Solids that are not upright are left to the general scan of `rays`.
"""

from typing import Any

from paddock.compute.math import PI, absolute, atan2, floor, maximum, minimum, select, sqrt, whole
from paddock.compute.twin import shared_code
from paddock.sensing.view import FRUSTUM, ROUND_BALL
from paddock.world.scenery import NOTHING

TURN = 2.0 * PI
ROUNDING_BEAMS = 1e-6  # beams by which an interval is widened against rounding
TOUCHING = float("inf")  # nearness of a solid around the sensor
SILHOUETTE = 15  # rows of the table of silhouettes


def is_level(at: Any, rises: Any, beams: int) -> Any:
    """Return whether the beams of a sensor lie in a horizontal plane, seen from above; `at` as of `rays.mounted`."""
    upright = (at[9] == 0.0) & (at[10] == 0.0) & (at[11] > 0.0)
    return upright & (rises.shape[1] == 1) & (rises[1, 0] == 0.0) & (beams > 1)


def is_upright(solids: Any, k: int) -> Any:
    """Return whether the third axis of solid `k` is vertical."""
    return (solids[k, 5] == 0.0) & (solids[k, 8] == 0.0)


def is_circle(solids: Any, k: int) -> Any:
    """Return whether the level sections of solid `k` are circles."""
    shape = solids[k, 15]
    return (shape == ROUND_BALL) | ((shape == FRUSTUM) & is_upright(solids, k))


def note_box(at: Any, solids: Any, k: int, place: int, table: Any) -> int:
    """Write the section of the upright box `k` at a place of a table of silhouettes; return 0 if it is missed, else 1.

    Its first rows are the way from the box to the sensor, m, the first two axes, and half the size along them, m.
    """
    table[0, place], table[1, place] = at[0] - solids[k, 0], at[1] - solids[k, 1]
    table[2, place], table[3, place] = solids[k, 3], solids[k, 4]
    table[4, place], table[5, place] = solids[k, 6], solids[k, 7]
    table[6, place], table[7, place] = solids[k, 12], solids[k, 13]
    return 1 if absolute(at[2] - solids[k, 2]) <= solids[k, 14] else 0


def find_silhouettes(at: Any, count: int, first: float, step: float, table: Any) -> None:
    """Write how a level sensor sees boxes, the first `count` of a table (15, boxes), in one loop of vector arithmetic.

    The next rows are the first and the last beam that meet a box (not whole, not limited to the beams there are),
    cosine and sine terms of the nearness of its edges in front, 1/m (one edge alone is both), and the squared distance.
    """
    pxs, pys, a0s, a1s, b0s, b1s, hxs, hys = (
        table[0], table[1], table[2], table[3], table[4], table[5], table[6], table[7]
    )  # fmt: skip
    rights, lefts, gaps = table[8], table[9], table[14]
    cosines0, sines0, cosines1, sines1 = table[10], table[11], table[12], table[13]
    at3, at4, at6, at7 = at[3], at[4], at[6], at[7]
    per_step = 1.0 / step
    for i in range(count):
        px, py, hx, hy = pxs[i], pys[i], hxs[i], hys[i]
        a0, a1, b0, b1 = a0s[i], a1s[i], b0s[i], b1s[i]
        ox, oy = a0 * px + a1 * py, b0 * px + b1 * py  # the sensor in the box's axes
        gx, gy = maximum(absolute(ox) - hx, 0.0), maximum(absolute(oy) - hy, 0.0)
        front_x, front_y = gx > 0.0, gy > 0.0
        # from the sensor's axes to the box's
        m00, m01, m10, m11 = a0 * at3 + a1 * at6, a0 * at4 + a1 * at7, b0 * at3 + b1 * at6, b0 * at4 + b1 * at7
        sx, sy = select(ox < 0.0, -1.0, 1.0), select(oy < 0.0, -1.0, 1.0)
        inverse_x, inverse_y = -sx / gx, -sy / gy
        cosines0[i] = select(front_x, m00 * inverse_x, m10 * inverse_y)
        sines0[i] = select(front_x, m01 * inverse_x, m11 * inverse_y)
        cosines1[i] = select(front_y, m10 * inverse_y, m00 * inverse_x)
        sines1[i] = select(front_y, m11 * inverse_y, m01 * inverse_x)
        gaps[i] = gx * gx + gy * gy
        # the two outer corners of the edges in front, from the sensor, in the sensor's axes
        ux, uy = sx * hx - ox, select(front_x, -sy, sy) * hy - oy
        vx, vy = select(front_y, -sx, sx) * hx - ox, sy * hy - oy
        cu, su, cv, sv = m00 * ux + m10 * uy, m01 * ux + m11 * uy, m00 * vx + m10 * vy, m01 * vx + m11 * vy
        one, two = atan2(su, cu), atan2(sv, cv)
        crossed = cu * sv < su * cv
        right, left = select(crossed, two, one), select(crossed, one, two)
        left = select(left < right, left + TURN, left)
        rights[i] = (right - first) * per_step - ROUNDING_BEAMS
        lefts[i] = (left - first) * per_step + ROUNDING_BEAMS


def scan_silhouettes(table: Any, count: int, directions: Any, step: float, reach: float, near: Any) -> None:
    """Raise the nearness (beams,) of the beams that meet boxes, 1/m: in each that of the farther one of two edges."""
    rights, lefts, gaps = table[8], table[9], table[14]
    turn, far = TURN / step, reach * reach
    for i in range(count):
        if gaps[i] == 0.0:
            near[:] = TOUCHING
        if not 0.0 < gaps[i] <= far:  # NaN too
            continue
        for k in range(-1, 2):
            right, left = rights[i] + k * turn, lefts[i] + k * turn
            if right < near.size and left >= 0.0:
                begin, end = covered(right, left, near.size)
                cosines, sines = directions[0, begin:end], directions[1, begin:end]
                raise_edges(cosines, sines, table[10, i], table[11, i], table[12, i], table[13, i], near[begin:end])


def raise_edges(cosines: Any, sines: Any, c0: float, s0: float, c1: float, s1: float, near: Any) -> None:
    """Raise the nearness of beams to that of the farther one of two edges."""
    for b in range(near.size):
        c, s = cosines[b], sines[b]
        near[b] = maximum(minimum(c0 * c + s0 * s, c1 * c + s1 * s), near[b])


@shared_code
def scan_circle(
    at: Any, solids: Any, k: int, directions: Any, first: float, step: float, reach: float, near: Any
) -> None:
    """Raise the nearness of the beams of a level sensor that meet the circle in which it cuts a frustum or a ball."""
    px, py, above = solids[k, 0] - at[0], solids[k, 1] - at[1], at[2] - solids[k, 2]
    if not absolute(above) <= solids[k, 14]:
        return
    if solids[k, 15] == FRUSTUM:
        share = 0.5 + 0.5 * solids[k, 11] * above / solids[k, 14]  # the axis may point downwards
        radius = solids[k, 16] + (solids[k, 17] - solids[k, 16]) * share
        square = radius * radius
    else:
        square = solids[k, 12] * solids[k, 12] - above * above
    outside, far = px * px + py * py - square, reach + sqrt(square)
    if not px * px + py * py <= far * far:  # NaN too
        return
    if outside <= 0.0:
        near[:] = TOUCHING
        return
    cx, cy = at[3] * px + at[6] * py, at[4] * px + at[7] * py  # in the sensor's axes
    middle, half = atan2(cy, cx), atan2(sqrt(square), sqrt(outside))
    right, left = (middle - half - first) / step - ROUNDING_BEAMS, (middle + half - first) / step + ROUNDING_BEAMS
    for turn in range(-1, 2):
        shift = turn * TURN / step
        begin, end = covered(right + shift, left + shift, near.size)
        if begin < end:
            raise_circle(directions[0, begin:end], directions[1, begin:end], cx, cy, outside, near[begin:end])


def raise_circle(cosines: Any, sines: Any, cx: float, cy: float, outside: float, near: Any) -> None:
    """Raise the nearness of beams to that of a circle; `outside` is the power of the sensor's place, m2."""
    scale = 1.0 / outside
    for b in range(near.size):
        along = cx * cosines[b] + cy * sines[b]
        root = along * along - outside
        hit = (along + sqrt(maximum(root, 0.0))) * scale  # the product of both distances is `outside`
        near[b] = maximum(select(root >= 0.0, hit, 0.0), near[b])


def covered(right: float, left: float, beams: int) -> tuple[int, int]:
    """Return the first whole beam from `right` on, and one after the last up to `left`, limited to those there are."""
    begin, most = -floor(-right), 1.0 * beams
    end = maximum(floor(left) + 1.0, begin)  # none between them
    return whole(minimum(maximum(begin, 0.0), most)), whole(minimum(maximum(end, 0.0), most))


def shorten_by_nearness(near: Any, reach: float, line: Any) -> None:
    """Shorten distances (beams,), m, to those of a nearness, 1/m, as far as they are within reach."""
    for b in range(line.size):
        distance = 1.0 / near[b]
        line[b] = minimum(line[b], select(distance <= reach, distance, NOTHING))
