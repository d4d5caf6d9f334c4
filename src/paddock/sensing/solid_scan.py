"""Beams against one solid with any attitude, in the solid's own axes, where a box is three pairs of planes.

A solid covers an interval of azimuths and of elevations in the sensor's axes; only the beams inside it are tested.
"""

from typing import Any

from paddock.compute.math import PI, absolute, atan2, maximum, minimum, select, sqrt
from paddock.compute.twin import shared_code
from paddock.sensing.level_scan import ROUNDING_BEAMS, TURN, covered
from paddock.sensing.view import BOX, FRUSTUM, ROUND_BALL
from paddock.world.scenery import NOTHING, ray_frustum

TINY = 1e-300  # stands for 0 in a division
WHOLE_TURN = 10.0  # rad: more than any interval of azimuths
ROUNDING_SINE = 1e-9  # by which an interval of sines of elevations is widened against rounding


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
    at: Any, solids: Any, k: int, directions: Any, rises: Any, first: float, step: float, reach: float, found: Any
) -> None:
    """Shorten the beams of one sensor that meet solid `k`.

    `directions` (2, beams) are cosine and sine of the azimuths, `rises` (2, rings) those of the elevations; `found`
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
    rings, beams = found.shape
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
                    shorten_by_box(ox, oy, oz, hx, hy, hz, turned, *beam, reach, found[r, begin:end])
                else:
                    shorten_by_round(ox, oy, oz, solids[k], turned, *beam, reach, found[r, begin:end])


def into_axes(solids: Any, k: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector of the world in the axes of solid `k`."""
    return (
        solids[k, 3] * x + solids[k, 4] * y + solids[k, 5] * z,
        solids[k, 6] * x + solids[k, 7] * y + solids[k, 8] * z,
        solids[k, 9] * x + solids[k, 10] * y + solids[k, 11] * z,
    )


def length(x: float, y: float, z: float) -> float:
    """Return the length of a vector."""
    return sqrt(x * x + y * y + z * z)


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
