"""Beams against one solid: a level scan against upright solids, and any beams against a solid with any attitude.

Level scans: the beams of one ring in a horizontal plane against upright solids, which are flat shapes there. Along the
beams that meet a straight edge its nearness (1 / distance) is a linear function of cosine and sine of the azimuth: a
box costs no division per beam, and the nearest of all solids has the largest nearness. In the end a beam needs one
division.

Other solids are tested in their own axes, where a box is three pairs of planes. A solid covers an interval of azimuths
and of elevations in the sensor's axes; only the beams inside it are tested.
"""

from typing import Any

from paddock.compute.math import PI, absolute, atan2, floor, maximum, minimum, select, sqrt, whole
from paddock.compute.quaternion import length
from paddock.compute.twin import shared_code
from paddock.world.solids import BOX, FRUSTUM, NOTHING, ROUND_BALL, ray_frustum

TURN = 2.0 * PI
ROUNDING_BEAMS = 1e-6  # beams by which an interval is widened against rounding
TOUCHING = float("inf")  # nearness of a solid around the sensor
SILHOUETTE = 15  # rows of the table of silhouettes
TINY = 1e-300  # stands for 0 in a division
WHOLE_TURN = 10.0  # rad: more than any interval of azimuths
ROUNDING_SINE = 1e-9  # by which an interval of sines of elevations is widened against rounding


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


def note_box(at: Any, solids: Any, k: int, column: int, table: Any) -> int:
    """Write the section of the upright box `k` as a column of silhouettes; return 0 if it is missed, else 1.

    Its first rows are the way from the box to the sensor, m, the first two axes, and half the size along them, m.
    """
    table[0, column], table[1, column] = at[0] - solids[k, 0], at[1] - solids[k, 1]
    table[2, column], table[3, column] = solids[k, 3], solids[k, 4]
    table[4, column], table[5, column] = solids[k, 6], solids[k, 7]
    table[6, column], table[7, column] = solids[k, 12], solids[k, 13]
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
        start, end = atan2(su, cu), atan2(sv, cv)
        crossed = cu * sv < su * cv
        right, left = select(crossed, end, start), select(crossed, start, end)
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


def azimuths(cx: float, cy: float, ax: float, ay: float, bx: float, by: float, ex: float, ey: float) -> Any:
    """Return the azimuths (lowest, highest) of a box seen from the origin, rad; WHOLE_TURN if it surrounds the origin.

    (cx, cy) is its centre, (ax, ay), (bx, by) and (ex, ey) are its half axes, all projected on the sensor's plane.
    """
    low, high = 0.0, 0.0
    flat = (ex == 0.0) & (ey == 0.0)
    for corner in range(4 if flat else 8):
        s, t, u = 1.0 - 2.0 * (corner & 1), 1.0 - 2.0 * ((corner >> 1) & 1), 1.0 - 2.0 * ((corner >> 2) & 1)
        qx, qy = cx + s * ax + t * bx + u * ex, cy + s * ay + t * by + u * ey
        angle = atan2(cx * qy - cy * qx, cx * qx + cy * qy)
        low, high = minimum(low, angle), maximum(high, angle)
    middle = atan2(cy, cx)
    if not high - low < PI - 1e-6:
        return -WHOLE_TURN, WHOLE_TURN
    return middle + low, middle + high


@shared_code
def scan_solid(
    at: Any, solids: Any, k: int, directions: Any, rises: Any, first: float, step: float, reach: float, ranges: Any
) -> None:
    """Shorten the beams of one sensor that meet solid `k`.

    `directions` (2, beams) are cosine and sine of the azimuths, `rises` (2, rings) those of the elevations; `ranges`
    (rings, beams) are the distances so far, m.
    """
    hx, hy, hz = solids[k, 12], solids[k, 13], solids[k, 14]
    ox, oy, oz = into_axes(solids, k, at[0] - solids[k, 0], at[1] - solids[k, 1], at[2] - solids[k, 2])
    closest = length(maximum(absolute(ox) - hx, 0.0), maximum(absolute(oy) - hy, 0.0), maximum(absolute(oz) - hz, 0.0))
    if not closest <= reach:  # NaN too
        return
    # from the sensor's axes to the solid's, column by column
    m00, m10, m20 = into_axes(solids, k, at[3], at[6], at[9])
    m01, m11, m21 = into_axes(solids, k, at[4], at[7], at[10])
    m02, m12, m22 = into_axes(solids, k, at[5], at[8], at[11])
    # how high and low it appears
    farthest = length(absolute(ox) + hx, absolute(oy) + hy, absolute(oz) + hz)
    cz = -(m02 * ox + m12 * oy + m22 * oz)
    tall = absolute(m02) * hx + absolute(m12) * hy + absolute(m22) * hz
    lowest, highest = elevations(cz - tall, cz + tall, maximum(closest, 1e-12), farthest)
    rings, beams = ranges.shape
    seen = False
    for r in range(rings):
        seen |= (rises[1, r] >= lowest) & (rises[1, r] <= highest)
    if not seen:
        return
    cx, cy = -(m00 * ox + m10 * oy + m20 * oz), -(m01 * ox + m11 * oy + m21 * oz)
    right, left = azimuths(cx, cy, m00 * hx, m01 * hx, m10 * hy, m11 * hy, m20 * hz, m21 * hz)
    turns = 3 if beams > 1 and left - right < TURN else 1
    for turn in range(turns):
        begin, end = 0, beams
        if turns == 3:
            shift = TURN * (turn - 1.0) - first
            begin, end = covered((right + shift) / step - ROUNDING_BEAMS, (left + shift) / step + ROUNDING_BEAMS, beams)
        for r in range(rings):
            flat, rise = rises[0, r], rises[1, r]
            if begin < end and lowest <= rise <= highest:
                x0, x1, x2 = m00 * flat, m01 * flat, m02 * rise
                y0, y1, y2 = m10 * flat, m11 * flat, m12 * rise
                z0, z1, z2 = m20 * flat, m21 * flat, m22 * rise
                turned = x0, x1, x2, y0, y1, y2, z0, z1, z2
                beam = directions[0, begin:end], directions[1, begin:end]
                if solids[k, 15] == BOX:
                    shorten_by_box(ox, oy, oz, hx, hy, hz, turned, *beam, reach, ranges[r, begin:end])
                else:
                    shorten_by_round(ox, oy, oz, solids[k], turned, *beam, reach, ranges[r, begin:end])


def into_axes(solids: Any, k: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector of the world in the axes of solid `k`."""
    return (
        solids[k, 3] * x + solids[k, 4] * y + solids[k, 5] * z,
        solids[k, 6] * x + solids[k, 7] * y + solids[k, 8] * z,
        solids[k, 9] * x + solids[k, 10] * y + solids[k, 11] * z,
    )


def elevations(low: float, high: float, closest: float, farthest: float) -> tuple[float, float]:
    """Return sines of elevation, the lowest and the highest, of a solid from `low` to `high` over the sensor, m."""
    highest = high / select(high > 0.0, closest, farthest) + ROUNDING_SINE
    lowest = low / select(low < 0.0, closest, farthest) - ROUNDING_SINE
    return lowest, highest


def shorten_by_box(
    ox: float, oy: float, oz: float, hx: float, hy: float, hz: float, turned: Any, cosines: Any, sines: Any,
    reach: float, line: Any,
) -> None:  # fmt: skip
    """Shorten beams of one ring by a box; `turned` takes cosine and sine of the azimuth, and 1, into its axes."""
    x0, x1, x2, y0, y1, y2, z0, z1, z2 = turned
    for b in range(line.size):
        c, s = cosines[b], sines[b]
        dx, dy, dz = x0 * c + x1 * s + x2, y0 * c + y1 * s + y2, z0 * c + z1 * s + z2
        line[b] = minimum(line[b], ray_cuboid(ox, oy, oz, dx, dy, dz, hx, hy, hz, reach))


def shorten_by_round(
    ox: float, oy: float, oz: float, solid: Any, turned: Any, cosines: Any, sines: Any, reach: float, line: Any
) -> None:
    """Shorten beams of one ring by a frustum, a ball or a bar, a row of the table of solids."""
    x0, x1, x2, y0, y1, y2, z0, z1, z2 = turned
    shape, hx, hz = solid[15], solid[12], solid[14]
    for b in range(line.size):
        c, s = cosines[b], sines[b]
        dx, dy, dz = x0 * c + x1 * s + x2, y0 * c + y1 * s + y2, z0 * c + z1 * s + z2
        if shape == FRUSTUM:
            hit = ray_frustum(ox, oy, oz, dx, dy, dz, -hz, hz, solid[16], solid[17])
        elif shape == ROUND_BALL:
            hit = ray_ball(ox, oy, oz, dx, dy, dz, hx)
        else:
            hit = ray_bar(ox, oy, oz, dx, dy, dz, hx - hz, hz)
        line[b] = minimum(line[b], select(hit <= reach, hit, NOTHING))


def ray_cuboid(
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, hx: float, hy: float, hz: float, reach: float
) -> float:
    """Return the distance along a ray to a box about the origin, NOTHING if it is missed within reach."""
    ix = 1.0 / select(absolute(dx) < TINY, TINY, dx)
    iy = 1.0 / select(absolute(dy) < TINY, TINY, dy)
    iz = 1.0 / select(absolute(dz) < TINY, TINY, dz)
    ax, bx, ay, by, az, bz = (
        (-hx - ox) * ix, (hx - ox) * ix, (-hy - oy) * iy, (hy - oy) * iy, (-hz - oz) * iz, (hz - oz) * iz
    )  # fmt: skip
    enters = maximum(maximum(minimum(ax, bx), minimum(ay, by)), maximum(minimum(az, bz), 0.0))
    leaves = minimum(minimum(maximum(ax, bx), maximum(ay, by)), minimum(maximum(az, bz), reach))
    return select(enters <= leaves, enters, NOTHING)


def ray_ball(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, radius: float) -> float:
    """Return the distance along a ray to a sphere about the origin, NOTHING if it misses."""
    b, c = ox * dx + oy * dy + oz * dz, ox * ox + oy * oy + oz * oz - radius * radius
    root = b * b - c
    near = -b - sqrt(maximum(root, 0.0))
    return select(c <= 0.0, 0.0, select((root >= 0.0) & (near >= 0.0), near, NOTHING))


def ray_bar(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, half: float, radius: float) -> float:
    """Return the distance along a ray to all points within `radius` of the segment from -half to half along x."""
    a, b = dy * dy + dz * dz, oy * dy + oz * dz
    c = oy * oy + oz * oz - radius * radius
    root = b * b - a * c
    near = (-b - sqrt(maximum(root, 0.0))) / maximum(a, TINY)
    side = (root >= 0.0) & (near >= 0.0) & (absolute(ox + near * dx) <= half) & (c > 0.0)
    inside = (c <= 0.0) & (absolute(ox) <= half)
    ends = minimum(ray_ball(ox - half, oy, oz, dx, dy, dz, radius), ray_ball(ox + half, oy, oz, dx, dy, dz, radius))
    return minimum(ends, select(inside, 0.0, select(side, near, NOTHING)))
