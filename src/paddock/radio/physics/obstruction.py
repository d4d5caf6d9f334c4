"""Obstruction: the loss by obstacles over their tops, around the sides of a group, or through it.

`obstruction_db` returns the least loss of three ways, which all use the same scalar functions:

- through or around every group by itself, over the ground between them;
- over everything: one Deygout construction (`propagation.py`) over the ground and all roofs;
- over the groups that cost less over their tops, each by itself, and through or around the others.

Every obstacle has edges whose parameter v says how far they reach into the Fresnel zone of the line, or how far they
are from it (v < 0). A group that the line passes at a distance costs what a knife edge at that distance costs: nothing
from v = -0.78 on.
"""

from typing import Any, NamedTuple

from paddock.compute.math import absolute, exp, maximum, minimum, select, sqrt, whole
from paddock.radio.physics.obstacles import (
    FAR,
    NONE,
    TINY,
    TOUCH,
    bent,
    box_part,
    columns_under,
    line_of,
    radius_at,
    roof_span,
    round_part,
    rows_under,
    span_edge,
)
from paddock.radio.physics.propagation import (
    CLEAR,
    LIGHT,
    SAME,
    Position,
    deygout_db,
    distance,
    flat_db,
    knife_edge_db,
    worst_edge,
)
from paddock.world.ground import SLOPE_X, SLOPE_Y
from paddock.world.solids import COSINE, HIGH, LENGTH, LOW, SINE, WIDTH, X, Y

GRAZING = knife_edge_db(0.0)  # dB


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


# each group by itself ------------------------------------------------------------------------------------------------


def nearby(line: Any, b: Any) -> Nearby:
    """Return the losses of all groups near a line."""
    wide = -CLEAR * sqrt(0.125 * line.wavelength * line.apart)
    in_cells, i0, i1 = columns_under(line, b, 0.0, 1.0, wide * b.cells[0, 2])
    rows, columns, wide_cells = whole(b.cells[0, 4]), whole(b.cells[0, 3]), wide * b.cells[0, 2]
    met, indoor, cheap, dear, home, goal = 0.0, 0.0, 0.0, False, -1, -1
    first, second, third, beside_one, beside_two, beside_three = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    last0, last1 = 0, -1  # rows of the column before
    for i in range(i0, i1 + 1):
        j0, j1 = rows_under(in_cells, 0.0, 1.0, i, wide_cells, rows)
        for j in range(j0, j1 + 1):
            cell = j * columns + i
            for item in range(whole(b.starts[0, cell]), whole(b.starts[0, cell + 1])):
                k = whole(b.items[0, item])
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
                    first, second, third = largest(loss, first, second, third)
                    if state.beside:
                        beside_one, beside_two, beside_three = largest(loss, beside_one, beside_two, beside_three)
        last0, last1 = j0, j1
    missed = together_db(first, second, third)
    beside = together_db(beside_one, beside_two, beside_three)
    return Nearby(met, missed, beside, indoor, cheap, dear, home, goal)


def largest(value: float, first: float, second: float, third: float) -> tuple[float, float, float]:
    """Return the three largest of four values, of which three are in order."""
    if value > first:
        return value, first, second
    if value > second:
        return first, value, second
    return first, second, maximum(value, third)


def together_db(first: float, second: float, third: float) -> float:
    """Return the loss (dB) of three edges near a line, the largest first, by the weights of Deygout's construction."""
    return first + (1.0 - exp(-first / 6.0)) * (second + third)


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
        if k < b.boxes:
            enters, leaves = box_part(line, b.solids, k)
        else:
            enters, leaves = round_part(line, b.solids, k)
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
    solids = b.solids
    if k < b.boxes:
        px, py, base, top = solids[k, X] - line.x, solids[k, Y] - line.y, solids[k, LOW], solids[k, HIGH]
        long, broad = solids[k, LENGTH], solids[k, WIDTH]
        cosine = absolute(line.c * solids[k, COSINE] + line.s * solids[k, SINE])
        sine = absolute(line.c * solids[k, SINE] - line.s * solids[k, COSINE])
        half = sine * long + cosine * broad
        chord = 2.0 * minimum(long / maximum(cosine, TINY), broad / maximum(sine, TINY))
    else:
        px, py, base, top = solids[k, X] - line.x, solids[k, Y] - line.y, solids[k, LOW], solids[k, HIGH]
        half = radius_at(line, b, k, px, py)
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


def beside_edge(
    line: Any, b: Any, k: int, px: float, py: float, clear: float, offset: float, zone: float
) -> tuple[float, float]:
    """Return the largest v of the outline of an obstacle beside a line, `clear` m away from it, and its share."""
    to = line.apart * line.level
    if to < SAME:
        return NONE, 0.0
    along = line.c * px + line.s * py
    if k >= b.boxes:
        return face_edge(along / to, along / to, clear, clear, zone)
    # the corner that is nearest to the line, and both sides that begin there
    side, long, broad = select(offset > 0.0, -1.0, 1.0), b.solids[k, LENGTH], b.solids[k, WIDTH]
    ahead = line.c * b.solids[k, COSINE] + line.s * b.solids[k, SINE]
    across = line.c * b.solids[k, SINE] - line.s * b.solids[k, COSINE]
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
    if k >= b.boxes:
        left, _ = detour(line, px - half * line.s, py + half * line.c)
        right, _ = detour(line, px + half * line.s, py - half * line.c)
        return left, right
    c, s, long, broad = b.solids[k, COSINE], b.solids[k, SINE], b.solids[k, LENGTH], b.solids[k, WIDTH]
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


# over the ground and roofs --------------------------------------------------------------------------------------------
ONE_ROOF = 1.0  # m: roofs that touch and differ by less are one edge
FARTHEST = 1e9  # m: longer lines have no obstacles


def obstruction_db(
    a: Position, b: Position, frequency: float, buildings: Any, ground: Any, terrain: bool, beyond_flat: bool,
    diffraction: float,
) -> float:  # fmt: skip
    """Return the loss (dB) that obstacles add between two places; 0 is a free line of sight.

    `buildings` has Buildings, `ground` TerrainTables. With `terrain` the ground counts; it costs `diffraction` dB
    without obstacles, with `beyond_flat` only what it adds to flat ground.
    """
    apart = distance(a, b)
    if buildings.group.size == 0 or not SAME <= apart <= FARTHEST:
        return 0.0
    line = line_of(a, b, LIGHT / frequency)
    near = nearby(line, buildings)
    alone = near.met + near.missed
    if alone <= 0.0:
        return near.indoor
    flat = 0.0
    if terrain and beyond_flat and ground.relief.shape[0] >= 2:
        flat = flat_db(above_plane(a, ground), above_plane(b, ground), line.wavelength, ground)
    least = minimum(diffraction + alone, passing_db(line, buildings, ground, terrain, False, near, flat))
    if near.dear and near.cheap > 0.0:
        least = minimum(least, passing_db(line, buildings, ground, terrain, True, near, flat) + near.cheap)
    return maximum(least - diffraction, 0.0) + near.indoor


def passing_db(line: Any, b: Any, ground: Any, terrain: bool, dear: bool, near: Any, flat: float) -> float:
    """Return the loss (dB) over ground and roofs, less `flat`, and past what the line leaves beside it."""
    loss, bend, lift = over_db(line, b, ground, terrain, dear, near.home, near.goal)
    beside: float = near.beside
    if beside > 0.0 and lift > 0.0:
        beside = nearby(bent(line, bend, lift), b).beside
    return maximum(loss - flat, 0.0) + beside


# over the top --------------------------------------------------------------------------------------------------------


def over_db(
    line: Any, b: Any, ground: Any, terrain: bool, dear: bool, home: int, goal: int
) -> tuple[float, float, float]:
    """Return the loss (dB) over ground and roofs by Deygout's construction, and share and height (m) of its main edge.

    The height is that above the line. Touching roofs of one height are one edge. Groups `home` and `goal` are left out,
    with `dear` also those that cost less through or around than over their tops.
    """
    z_end = line.z + line.apart * line.dz
    every = LeftOut(dear, home, goal, 2.0, -1.0, 0.0)
    main, at, top, k = edge_between(line, b, ground, terrain, Span(0.0, line.z, 1.0, z_end), every)
    if main <= CLEAR:
        return 0.0, 0.5, 0.0
    begin, end = 2.0, -1.0  # of the roof
    if k >= 0:
        begin, end = one_roof(line, b, k, top)
    others = LeftOut(dear, home, goal, begin, end, top)
    before = edge_between(line, b, ground, terrain, Span(0.0, line.z, at, top), others)[0]
    after = edge_between(line, b, ground, terrain, Span(at, top, 1.0, z_end), others)[0]
    return deygout_db(main, before, after), at, top - line.z - at * line.apart * line.dz


class Span(NamedTuple):
    """A part of a line between two shares of its way, seen from heights there (m)."""

    p: float
    z_p: float
    q: float
    z_q: float


class LeftOut(NamedTuple):
    """Obstacles that do not count: those of two groups, cheap ones, and a roof."""

    dear: bool  # leave out groups that cost less through or around than over their tops
    home: int  # group, -1: none
    goal: int
    begin: float  # share of the way at which the roof begins; after its end: there is none
    end: float
    level: float  # m, its height


def edge_between(
    line: Any, b: Any, ground: Any, terrain: bool, span: Span, left_out: LeftOut
) -> tuple[float, float, float, int]:
    """Return the largest v of ground and roofs over a part of a line.

    With its share, its height (m) and the number of its obstacle, -1: ground.
    """
    p, z_p, q, z_q = span
    if q - p < TINY:
        return NONE, p, z_p, -1
    worst, at, top, k = roof_between(line, b, span, left_out)
    if terrain:
        first = line.x + p * line.apart * line.dx, line.y + p * line.apart * line.dy, z_p
        last = line.x + q * line.apart * line.dx, line.y + q * line.apart * line.dy, z_q
        ends = above_plane(first, ground), above_plane(last, ground)
        v, share, height = worst_edge(ends[0], ends[1], line.wavelength, ground)
        if v > worst:
            worst, at, k = v, p + share * (q - p), -1
            top = height + plane_z(line.x + at * line.apart * line.dx, line.y + at * line.apart * line.dy, ground)
    return worst, at, top, k


def plane_z(x: float, y: float, ground: Any) -> float:
    """Return the height (m) of the plane under the relief of the ground."""
    return ground.ground_z + ground.terrain[0, SLOPE_X] * x + ground.terrain[0, SLOPE_Y] * y  # type: ignore[no-any-return]


def above_plane(place: Position, ground: Any) -> Position:
    """Return a place with its height relative to the plane under the relief of the ground."""
    return place[0], place[1], place[2] - plane_z(place[0], place[1], ground)


def roof_between(line: Any, b: Any, span: Span, left_out: LeftOut) -> tuple[float, float, float, int]:
    """Return the largest v of the roofs over a part of a line, as `edge_between`."""
    p, z_p, q, z_q = span
    worst, at, top, roof = NONE, p, z_p, -1
    rise, length = z_q - z_p, line.apart * line.level * (q - p)
    zone = 0.5 * line.wavelength * sqrt(length * length + rise * rise)
    in_cells, i0, i1 = columns_under(line, b, p, q, 0.0)
    rows = whole(b.cells[0, 4])
    for i in range(i0, i1 + 1):
        j0, j1 = rows_under(in_cells, p, q, i, 0.0, rows)
        for j in range(j0, j1 + 1):
            cell = j * whole(b.cells[0, 3]) + i
            for item in range(whole(b.starts[0, cell]), whole(b.starts[0, cell + 1])):
                k = whole(b.items[0, item])
                t0, t1, height = roof_span(line, b, k)
                if not t0 <= t1 or b.group[k] == left_out.home or b.group[k] == left_out.goal:
                    continue
                same_roof = absolute(height - left_out.level) < ONE_ROOF
                if same_roof and t0 >= left_out.begin - TINY and t1 <= left_out.end + TINY:
                    continue
                t0, t1 = (maximum(t0, p) - p) / (q - p), (minimum(t1, q) - p) / (q - p)
                if not t0 <= t1 or t1 <= TINY or t0 >= 1.0 - TINY:
                    continue
                if b.solids[k, LOW] > z_p + maximum(t0 * rise, t1 * rise):
                    continue  # the line passes below it
                edge, share = span_edge(height - z_p, -rise, t0, t1, zone)
                if edge > worst and not (left_out.dear and is_cheap(line, b, b.group[k])):
                    worst, at, top, roof = edge, p + share * (q - p), height, k
    return worst, at, top, roof


def one_roof(line: Any, b: Any, k: int, top: float) -> tuple[float, float]:
    """Return the shares of a line between which obstacles that touch k continue its roof, at the height `top` (m)."""
    begin, end, _ = roof_span(line, b, k)
    gap = TOUCH / maximum(line.apart * line.level, TOUCH)
    g, longer = b.group[k], True
    while longer:
        longer = False
        for n in range(b.first[g], b.first[g + 1]):
            t0, t1, height = roof_span(line, b, b.members[n])
            near = t0 <= t1 and t0 <= end + gap and t1 >= begin - gap and absolute(height - top) < ONE_ROOF
            if near and (t0 < begin or t1 > end):
                begin, end, longer = minimum(begin, t0), maximum(end, t1), True
    return begin, end
