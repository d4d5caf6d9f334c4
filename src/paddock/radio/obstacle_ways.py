"""The ways of a signal past a group of obstacles by itself: through its material, around its sides, over its top.

Every obstacle has edges whose parameter v says how far they reach into the Fresnel zone of the line, or how far they
are from it (v < 0). `nearby` finds the groups near a line and adds up what each of them costs.
"""

from typing import Any, NamedTuple

from paddock.compute.math import absolute, clamp, exp, floor, maximum, minimum, select, sqrt, table_index, whole
from paddock.radio.diffraction import CLEAR, SAME, distance, knife_edge_db
from paddock.world.scenery import slab

GRAZING = knife_edge_db(0.0)  # dB
NONE = 2.0 * CLEAR  # v without an edge
TINY = 1e-9  # share of the way: edges nearer to an end are moved there
FAR = 1e9  # v of a side that is no way


class Line(NamedTuple):
    """A line between two places: start (m), unit vector, its horizontal part (unit vector, length), and its length."""

    x: float
    y: float
    z: float
    dx: float
    dy: float
    dz: float
    c: float
    s: float
    level: float
    apart: float  # m
    wavelength: float  # m
    bend: float  # share of the way to the edge over which it is bent
    lift: float  # m, there


class Members(NamedTuple):
    """What the obstacles of a group near a line do."""

    leads: bool  # the group has no near obstacle with a smaller number
    indoor: bool  # an end is inside
    beside: bool  # the line does not cross its outline
    absorbed: float  # dB, on the line
    most: float  # dB, on a parallel line with the longest way inside
    v: float  # of the nearest edge, if the line meets none of them
    over: float  # v over their tops
    around: float  # v around the sides, the smaller one


class Nearby(NamedTuple):
    """The losses (dB) of all groups near a line, each by itself."""

    met: float  # of groups on the line, through or around
    missed: float  # of those near it
    beside: float  # of those that it does not cross
    indoor: float  # of groups with an end inside
    cheap: float  # of groups on the line that cost less through or around than over their tops
    dear: bool  # there are others
    home: int  # group of the line's start, -1: none
    goal: int  # of its end


def line_of(ax: float, ay: float, az: float, bx: float, by: float, bz: float, wavelength: float) -> Line:
    """Return the straight line between two places."""
    apart = distance(ax, ay, az, bx, by, bz)
    dx, dy, dz = (bx - ax) / apart, (by - ay) / apart, (bz - az) / apart
    level = sqrt(dx * dx + dy * dy)
    c = select(level > SAME, dx / maximum(level, SAME), 1.0)
    s = select(level > SAME, dy / maximum(level, SAME), 0.0)
    return Line(ax, ay, az, dx, dy, dz, c, s, level, apart, wavelength, 0.5, 0.0)


def bent(line: Any, bend: float, lift: float) -> Line:
    """Return a line over an edge at a share of the way, `lift` m above the straight one; only `edges_of` uses it."""
    x, y, z, dx, dy, dz = line.x, line.y, line.z, line.dx, line.dy, line.dz
    return Line(x, y, z, dx, dy, dz, line.c, line.s, line.level, line.apart, line.wavelength, bend, lift)


def span_edge(height: float, rise: float, t0: float, t1: float, zone: float) -> tuple[float, float]:
    """Return the largest v of a straight edge along a line, and its share of the way.

    It stands `height` + share x `rise` (m) above the line, from share t0 to t1; `zone` is half the wavelength x the
    length of the line. v is largest at an end, or, below the line, where that is nearest in units of the Fresnel zone.
    """
    t0, t1 = clamp(t0, TINY, 1.0 - TINY), clamp(t1, TINY, 1.0 - TINY)
    turn = rise + 2.0 * height
    middle = clamp(height / turn, t0, t1) if turn != 0.0 else t0
    best, share = -1e300, t0
    for t in (t0, t1, middle):
        above = height + t * rise
        score = above * absolute(above) / (t * (1.0 - t))
        if score > best:
            best, share = score, t
    return select(best > 0.0, 1.0, -1.0) * sqrt(absolute(best) / zone), share


def roof_span(line: Any, b: Any, k: int) -> tuple[float, float, float]:
    """Return where (shares of the way) a line passes over or under the roof of an obstacle, and its height (m).

    t0 > t1: never. Of a cone, it is the highest point in the vertical plane of the line.
    """
    reach, n = line.apart, b.boxes.shape[0]
    if k < n:
        px, py, cosine, sine = line.x - b.boxes[k, 0], line.y - b.boxes[k, 1], b.boxes[k, 4], b.boxes[k, 5]
        t0, t1 = slab(
            cosine * px + sine * py, cosine * line.dx + sine * line.dy, -b.boxes[k, 6], b.boxes[k, 6], 0.0, reach
        )  # fmt: skip
        t0, t1 = slab(
            cosine * py - sine * px, cosine * line.dy - sine * line.dx, -b.boxes[k, 7], b.boxes[k, 7], t0, t1
        )  # fmt: skip
        return t0 / reach, t1 / reach, b.boxes[k, 3]
    px, py = b.rounds[k - n, 0] - line.x, b.rounds[k - n, 1] - line.y
    along, aside = line.c * px + line.s * py, absolute(line.c * py - line.s * px)
    wide, narrow, base, top = b.rounds[k - n, 4], b.rounds[k - n, 5], b.rounds[k - n, 2], b.rounds[k - n, 3]
    if aside >= maximum(wide, narrow):
        return 1.0, 0.0, top
    half = sqrt(maximum(narrow * narrow - aside * aside, 0.0))
    height = top - (top - base) * maximum(aside - narrow, 0.0) / maximum(wide - narrow, SAME)
    t0, t1 = slab(-along, line.level, -half, half, 0.0, reach)
    return t0 / reach, t1 / reach, height


# cells ---------------------------------------------------------------------------------------------------------------


def columns_under(
    line: Any, b: Any, p: float, q: float, wide: float
) -> tuple[float, float, float, float, int, int]:  # fmt: skip
    """Return a line in cells (start, change along all of it), and the columns within `wide` cells of a part of it."""
    rate, size = b.cells[0, 2], b.cells[0, 3]
    u, v = (line.x - b.cells[0, 0]) * rate, (line.y - b.cells[0, 1]) * rate
    du, dv = line.apart * line.dx * rate, line.apart * line.dy * rate
    low, high = minimum(u + p * du, u + q * du) - wide, maximum(u + p * du, u + q * du) + wide
    if not (low < size and high >= 0.0):
        return u, v, du, dv, 0, -1
    return u, v, du, dv, table_index(floor(low), whole(size)), table_index(floor(high), whole(size))


def rows_under(
    u: float, v: float, du: float, dv: float, p: float, q: float, i: int, wide: float, rows: int
) -> tuple[int, int]:  # fmt: skip
    """Return the first and last row of column i within `wide` cells of a part of a line; none: first > last."""
    t0, t1 = slab(u, du, i - wide - TINY, i + 1.0 + wide + TINY, p, q)
    low, high = minimum(v + t0 * dv, v + t1 * dv) - wide - TINY, maximum(v + t0 * dv, v + t1 * dv) + wide + TINY
    if not (t0 <= t1 and low < rows and high >= 0.0):
        return 0, -1
    return table_index(floor(low), rows), table_index(floor(high), rows)


# each group by itself ------------------------------------------------------------------------------------------------


def nearby(line: Any, b: Any) -> Nearby:
    """Return the losses of all groups near a line."""
    wide = -CLEAR * sqrt(0.125 * line.wavelength * line.apart)
    u, v, du, dv, i0, i1 = columns_under(line, b, 0.0, 1.0, wide * b.cells[0, 2])
    rows, columns, wide_cells = whole(b.cells[0, 4]), whole(b.cells[0, 3]), wide * b.cells[0, 2]
    met, indoor, cheap, dear, home, goal = 0.0, 0.0, 0.0, False, -1, -1
    one, two, three, beside_one, beside_two, beside_three = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    last0, last1 = 0, -1  # rows of the column before
    for i in range(i0, i1 + 1):
        j0, j1 = rows_under(u, v, du, dv, 0.0, 1.0, i, wide_cells, rows)
        for j in range(j0, j1 + 1):
            cell = j * columns + i
            for place in range(whole(b.starts[0, cell]), whole(b.starts[0, cell + 1])):
                k = whole(b.items[0, place])
                # an obstacle lies in several cells: it counts in the first of them
                low, high = b.cover[k, 2], b.cover[k, 3]
                before = i > b.cover[k, 0] and last0 <= last1 and last0 <= high and last1 >= low
                if before or (j > j0 and j > low):
                    continue
                state = members_near(line, b, b.group[k], k, wide)
                if not state.leads:
                    continue
                if state.indoor:
                    indoor += state.absorbed
                    home, goal = (b.group[k], goal) if home < 0 else (home, b.group[k])
                elif state.absorbed > 0.0:
                    direct = direct_db(state)
                    met += direct
                    cheap, dear = (cheap + direct, dear) if direct <= knife_edge_db(state.over) else (cheap, True)
                else:
                    loss = minimum(knife_edge_db(state.v), state.most)
                    one, two, three = largest(loss, one, two, three)
                    if state.beside:
                        beside_one, beside_two, beside_three = largest(loss, beside_one, beside_two, beside_three)
        last0, last1 = j0, j1
    missed = together_db(one, two, three)
    beside = together_db(beside_one, beside_two, beside_three)
    return Nearby(met, missed, beside, indoor, cheap, dear, home, goal)


def largest(value: float, one: float, two: float, three: float) -> tuple[float, float, float]:
    """Return the three largest of four values, of which three are in order."""
    if value > one:
        return value, one, two
    if value > two:
        return one, value, two
    return one, two, maximum(value, three)


def together_db(one: float, two: float, three: float) -> float:
    """Return the loss (dB) of three edges near a line, the largest first, by the weights of Deygout's construction."""
    return one + (1.0 - exp(-one / 6.0)) * (two + three)


def direct_db(state: Any) -> float:
    """Return the loss (dB) of a group on the line, through it or around its sides.

    Where the line cuts only a corner, the material costs as much as a knife edge on the line, or all of the material.
    """
    through = maximum(state.absorbed, minimum(GRAZING, state.most))
    return minimum(through, knife_edge_db(state.around))


def is_cheap(line: Any, b: Any, g: int) -> bool:
    """Return whether a group on the line costs less through it or around its sides than over its top."""
    wide = -CLEAR * sqrt(0.125 * line.wavelength * line.apart)
    state = members_near(line, b, g, -1, wide)
    return state.absorbed > 0.0 and direct_db(state) <= knife_edge_db(state.over)


def members_near(line: Any, b: Any, g: int, leader: int, wide: float) -> Members:
    """Return what the obstacles of a group near a line do; only `leads` counts unless `leader` is the first of them."""
    indoor, beside, absorbed, most = False, True, 0.0, 0.0
    nearest, over, left, right, met = NONE, NONE, NONE, NONE, False
    for n in range(b.first[g], b.first[g + 1]):
        k = b.members[n]
        top, to_left, to_right, longest = edges_of(line, b, k, wide)
        v = minimum(top, minimum(to_left, to_right))
        if v <= CLEAR:
            continue
        if leader >= 0 and nearest <= CLEAR and k != leader:
            return Members(False, False, False, 0.0, 0.0, NONE, NONE, NONE)
        if k < b.boxes.shape[0]:
            enters, leaves = box_part(line.x, line.y, line.z, line.dx, line.dy, line.dz, line.apart, b.boxes, k)
        else:
            enters, leaves = round_part(
                line.x, line.y, line.z, line.dx, line.dy, line.dz, line.apart, b.rounds, k - b.boxes.shape[0]
            )  # fmt: skip
        if enters < leaves:
            indoor = indoor or enters <= 0.0 or leaves >= line.apart
            absorbed, met = absorbed + (leaves - enters) * b.rates[k], True
        beside = beside and minimum(to_left, to_right) <= 0.0
        most, nearest, over = most + longest * b.rates[k], maximum(nearest, v), maximum(over, top)
        left, right = maximum(left, to_left), maximum(right, to_right)
    if leader >= 0 and nearest <= CLEAR:
        return Members(False, False, False, 0.0, 0.0, NONE, NONE, NONE)
    if met and b.begin[g + 1] > b.begin[g]:
        for n in range(b.begin[g], b.begin[g + 1]):
            px, py = b.corners[n, 0] - line.x, b.corners[n, 1] - line.y
            edge, offset = detour(line, px, py)
            left, right = (maximum(left, edge), right) if offset > 0.0 else (left, maximum(right, edge))
    return Members(True, indoor, beside, absorbed, most, nearest, over, minimum(left, right))


def edges_of(line: Any, b: Any, k: int, wide: float) -> tuple[float, float, float, float]:
    """Return v over an obstacle and around its left and right side, and its longest way (m) along the line.

    v is NONE, also if the line is farther than `wide` m from its sides, or passes below it.
    """
    n = b.boxes.shape[0]
    if k < n:
        px, py, base, top = b.boxes[k, 0] - line.x, b.boxes[k, 1] - line.y, b.boxes[k, 2], b.boxes[k, 3]
        long, broad = b.boxes[k, 6], b.boxes[k, 7]
        cosine = absolute(line.c * b.boxes[k, 4] + line.s * b.boxes[k, 5])
        sine = absolute(line.c * b.boxes[k, 5] - line.s * b.boxes[k, 4])
        half = sine * long + cosine * broad
        chord = 2.0 * minimum(long / maximum(cosine, TINY), broad / maximum(sine, TINY))
    else:
        px, py = b.rounds[k - n, 0] - line.x, b.rounds[k - n, 1] - line.y
        base, top = b.rounds[k - n, 2], b.rounds[k - n, 3]
        half = radius_at(line, b, k - n, px, py)
        chord = 2.0 * half
    offset = line.c * py - line.s * px
    if absolute(offset) > half + wide:
        return NONE, NONE, NONE, 0.0
    zone, across = 0.5 * line.wavelength * line.apart, absolute(offset) < half
    longest = minimum(chord / maximum(line.level, TINY), (top - base) / maximum(absolute(line.dz), TINY))
    if across:
        t0, t1, _ = roof_span(line, b, k)
        beside = NONE
    else:
        beside, t0 = beside_edge(line, b, k, px, py, absolute(offset) - half, offset, zone)
        t1 = select(beside > NONE, t0, -1.0)
    if not t0 <= t1 or base > line.z + line.apart * maximum(t0 * line.dz, t1 * line.dz):
        return NONE, NONE, NONE, 0.0
    height = top - line.z
    if not across:  # a bent line may pass above it
        height -= line.lift * minimum(t0 / line.bend, (1.0 - t0) / (1.0 - line.bend))
    over, _ = span_edge(height, -line.apart * line.dz, t0, t1, zone)
    if across:
        left, right = sides_of(line, b, k, px, py, half)
        return over, left, right, longest
    return over, select(offset > 0.0, FAR, beside), select(offset > 0.0, beside, FAR), longest


def radius_at(line: Any, b: Any, row: int, px: float, py: float) -> float:
    """Return the radius (m) of a round obstacle, px, py from the start of a line, at the height of that line."""
    along = clamp((line.c * px + line.s * py) / maximum(line.level, TINY), 0.0, line.apart)
    base, top, wide, narrow = b.rounds[row, 2], b.rounds[row, 3], b.rounds[row, 4], b.rounds[row, 5]
    share = clamp((line.z + along * line.dz - base) / (top - base), 0.0, 1.0)
    return wide + share * (narrow - wide)  # type: ignore[no-any-return]


def beside_edge(
    line: Any, b: Any, k: int, px: float, py: float, clear: float, offset: float, zone: float
) -> tuple[float, float]:
    """Return the largest v of the outline of an obstacle beside a line, `clear` m away from it, and its share."""
    to = line.apart * line.level
    if to < SAME:
        return NONE, 0.0
    along = line.c * px + line.s * py
    if k >= b.boxes.shape[0]:
        return face_edge(along / to, along / to, clear, clear, zone)
    # the corner that is nearest to the line, and both sides that begin there
    side, long, broad = select(offset > 0.0, -1.0, 1.0), b.boxes[k, 6], b.boxes[k, 7]
    ahead = line.c * b.boxes[k, 4] + line.s * b.boxes[k, 5]
    across = line.c * b.boxes[k, 5] - line.s * b.boxes[k, 4]
    a, d = select(across * side > 0.0, 1.0, -1.0), select(ahead * side > 0.0, 1.0, -1.0)
    along += a * long * ahead - d * broad * across
    begin, long, broad = along / to, 2.0 * long, 2.0 * broad
    v, t = face_edge(begin, begin - a * long * ahead / to, clear, clear + long * absolute(across), zone)
    w, u = face_edge(begin, begin + d * broad * across / to, clear, clear + broad * absolute(ahead), zone)
    return (v, t) if v >= w else (w, u)


def face_edge(t0: float, t1: float, near: float, far: float, zone: float) -> tuple[float, float]:
    """Return the largest v, and its share, of a side that is `near` m beside a line at share t0 and `far` m at t1."""
    rise = -(far - near) / (t1 - t0) if absolute(t1 - t0) > TINY else 0.0
    begin, end = maximum(minimum(t0, t1), 0.0), minimum(maximum(t0, t1), 1.0)
    if not begin <= end:
        return NONE, 0.0
    v, t = span_edge(-near - rise * t0, rise, begin, end, zone)
    return maximum(v, NONE), t


def sides_of(
    line: Any, b: Any, k: int, px: float, py: float, half: float
) -> tuple[float, float]:  # fmt: skip
    """Return v around the left and the right side of an obstacle whose outline the line crosses."""
    left, right = 0.0, 0.0
    if k >= b.boxes.shape[0]:
        left, _ = detour(line, px - half * line.s, py + half * line.c)
        right, _ = detour(line, px + half * line.s, py - half * line.c)
        return left, right
    c, s, long, broad = b.boxes[k, 4], b.boxes[k, 5], b.boxes[k, 6], b.boxes[k, 7]
    for n in range(4):
        a, d = select(n % 2 == 0, long, -long), select(n < 2, broad, -broad)
        edge, aside = detour(line, px + c * a - s * d, py + s * a + c * d)
        left, right = (maximum(left, edge), right) if aside > 0.0 else (left, maximum(right, edge))
    return left, right


def detour(line: Any, px: float, py: float) -> tuple[float, float]:
    """Return v of an upright edge at px, py (m, from the start of a line), and how far (m) it is to the left.

    v = 2 sqrt(detour / wavelength), which is also right for edges beside an end and behind it.
    """
    along, aside = (line.c * px + line.s * py) / maximum(line.level, TINY), line.c * py - line.s * px
    longer = farther(along, aside) + farther(line.apart - along, aside)
    return 2.0 * sqrt(longer / line.wavelength), aside


def farther(along: float, aside: float) -> float:
    """Return how much longer (m) the way to a point is than its part along the line, without cancellation."""
    whole_way = sqrt(along * along + aside * aside)
    if along > 0.0:
        return aside * aside / (whole_way + along)
    return whole_way - along


def box_part(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, boxes: Any, k: int
) -> tuple[float, float]:
    """Return where a line (m along its unit vector, up to `reach`) enters and leaves a box; enters > leaves: never."""
    cosine, sine = boxes[k, 4], boxes[k, 5]
    px, py = x - boxes[k, 0], y - boxes[k, 1]
    enters, leaves = slab(cosine * px + sine * py, cosine * dx + sine * dy, -boxes[k, 6], boxes[k, 6], 0.0, reach)
    enters, leaves = slab(cosine * py - sine * px, cosine * dy - sine * dx, -boxes[k, 7], boxes[k, 7], enters, leaves)
    return slab(z, dz, boxes[k, 2], boxes[k, 3], enters, leaves)


def round_part(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, rounds: Any, k: int
) -> tuple[float, float]:
    """Return where a line enters and leaves a cylinder or a (blunt) cone, as `box_part`."""
    px, py, base, top = x - rounds[k, 0], y - rounds[k, 1], rounds[k, 2], rounds[k, 3]
    taper = (rounds[k, 4] - rounds[k, 5]) / (top - base)
    here, change = rounds[k, 4] - taper * (z - base), -taper * dz  # the radius at the height of the line
    low, high = slab(z, dz, base, top, 0.0, reach)
    # |p + t d|^2 <= (here + t change)^2
    a = dx * dx + dy * dy - change * change
    b = px * dx + py * dy - here * change
    c = px * px + py * py - here * here
    root = b * b - a * c
    if not low <= high or (root <= 0.0 and c > 0.0):
        return 1.0, 0.0  # also a line beside a cylinder, along its axis
    if root <= 0.0:  # inside a cone along its axis
        return low, high
    root = sqrt(root)
    # both roots without cancellation
    q = -(b + root) if b > 0.0 else root - b
    first = c / q if q != 0.0 else 0.0
    if absolute(a) < 1e-12:  # along a flank, or along the axis of a cylinder: one root
        if absolute(b) < 1e-12:
            return (low, high) if c <= 0.0 else (1.0, 0.0)
        return (low, minimum(high, first)) if b > 0.0 else (maximum(low, first), high)
    second = q / a
    near, far = minimum(first, second), maximum(first, second)
    if a > 0.0:
        return maximum(low, near), minimum(high, far)
    # the cone closes faster than the line leaves its axis: inside before the one root or after the other
    if c + low * (2.0 * b + low * a) <= 0.0:
        return low, select(near > low, minimum(high, near), high)
    return maximum(low, far), high
