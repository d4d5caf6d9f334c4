"""Impulses: the contacts of a tick are found, divided into islands, and solved by warm-started Gauss-Seidel sweeps.

An island is what touches, directly or through others; ground, obstacles and sleeping bodies do not connect. Each island
is solved for itself: sweeps over its contacts, alternately forwards and backwards, until no speed changes any more, or
until the work allowed to an island of its size is done. A sweep solves one contact after the other: friction at the
centre of its points, then their normal impulses. It starts with the impulses of the last tick, so that stacks at rest
take few sweeps. The order is that of the numbers of bodies (fleet name, member).

An impulse acts at the time of the first touch: a body is shifted by its change of velocity times the rest of the tick.
Bodies that overlap beyond that are moved apart slowly, without adding speed.
"""

from math import sqrt
from typing import Any, NamedTuple

from numpy import empty, int64, searchsorted, zeros

from paddock.compute.routine import routine
from paddock.contact.bodies import (
    ASLEEP_ROW,
    FRICTION_ROW,
    GROUND_ROW,
    LIGHTNESS_ROW,
    RESTITUTION_ROW,
    ROLLING_ROW,
)
from paddock.contact.boxes import POINTS, dot
from paddock.contact.touches import GROUND, RECORD, Contacts, Geometry, find_contacts, geometry
from paddock.vehicles.parts.prop import QUIET_RATE, QUIET_SPEED

SWEEPS = 60  # over an island, at most
LEAST_SWEEPS = 5
SWEEP_WORK = 2000  # contacts times sweeps: in a large island each gets fewer sweeps
CONVERGED = 1e-11  # m/s: sweeps end when none changes a speed by more
SLOP = 1e-3  # m: overlap that remains, so that resting contacts persist
RECOVERY = 0.2  # share of the overlap that is removed in a tick
RECOVERY_SPEED = 3.0  # m/s: bodies move apart at most this fast
BOUNCE_SPEED = 0.3  # m/s: slower touches do not bounce, so that bodies come to rest
LARGEST_TURN = 0.02  # rad, within a tick: touches are not swept along a rotation
WAKE_SPEED = 0.05  # m/s: a slower touch does not wake a sleeping body
SAME_POINT = 0.1  # share of a body's size: a point of the last tick is at most this far from the same one in this
SLIDE, SPIN, ROLL, ROWS = POINTS, POINTS + 2, POINTS + 3, POINTS + 5
"""Rows of a contact: normals of its points, two of sliding, one of spinning, two of rolling."""


class Impulses(NamedTuple):
    """Impulses of contacts, from which those of the next tick start; a row per contact.

    keys (n,): of both bodies (`contact_keys`), ascending
    points (n, POINTS, 3): where the first body was touched, in its axes, m from its centre of mass
    normal (n, POINTS): impulses along the normal, N s; 0 in unused places
    friction (n, 4): impulse of friction on the second body, N s, and of spinning about the normal, N m s
    """

    keys: Any
    points: Any
    normal: Any
    friction: Any


class Motion(NamedTuple):
    """Velocities (bodies + 1, 6), inverse masses, horizontal and vertical, inverse inertia; the last row: ground."""

    velocity: Any
    light: Any
    inertia: Any


class RowColumns(NamedTuple):
    """Columns of a constraint row."""

    jacobian: int = 0  # direction, moments about the first and the second body: the speed that the constraint is about
    response: int = 9  # changes of both velocities per impulse
    mass: int = 21  # impulse per change of that speed; 0: an unused row
    target: int = 22  # of the speed, m/s
    impulse: int = 23  # N s
    limit: int = 24  # of a point: distance from the centre of friction, m; friction coefficient; rolling arm, m
    size: int = 25


COLUMN = RowColumns()
RESPONSE, MASS, TARGET, IMPULSE, LIMIT = COLUMN.response, COLUMN.mass, COLUMN.target, COLUMN.impulse, COLUMN.limit


def speed_of(rows: Any, c: int, r: int, velocity: Any, a: int, b: int) -> float:
    """Return the speed that row `r` of contact `c` is about."""
    total = 0.0
    for j in range(3):
        total += rows[c, r, j] * (velocity[b, j] - velocity[a, j])
        total += rows[c, r, 6 + j] * velocity[b, 3 + j] - rows[c, r, 3 + j] * velocity[a, 3 + j]
    return total


def push(rows: Any, c: int, r: int, velocity: Any, a: int, b: int, impulse: float) -> None:
    """Change the velocities of both bodies by an impulse along row `r` of contact `c`."""
    for j in range(6):
        velocity[a, j] -= impulse * rows[c, r, RESPONSE + j]
        velocity[b, j] += impulse * rows[c, r, RESPONSE + 6 + j]


def write_row(row: Any, linear: float, n: Any, arms: Any, m: Motion, a: int, b: int) -> None:
    """Write a row along `n`: of sliding or approach (`linear` 1) at lever `arms` (2, 3), or of turning (0)."""
    light, inertia, soft = m.light, m.inertia, 0.0
    for side in range(2):
        i, at, out = (a if side == 0 else b), 3 + 3 * side, RESPONSE + 6 * side
        for j in range(3):
            u, v = (j + 1) % 3, (j + 2) % 3
            row[j] = linear * n[j]
            row[at + j] = arms[side, u] * n[v] - arms[side, v] * n[u] if linear != 0.0 else n[j]
        for j in range(3):
            turn = inertia[i, j, 0] * row[at] + inertia[i, j, 1] * row[at + 1] + inertia[i, j, 2] * row[at + 2]
            row[out + j], row[out + 3 + j] = row[j] * light[i, 1 if j == 2 else 0], turn
            soft += row[j] * row[out + j] + row[at + j] * turn
    row[MASS] = 1.0 / soft if soft > 0.0 else 0.0
    row[TARGET] = row[IMPULSE] = 0.0


def arm(g: Geometry, i: int, share: float, point: Any, out: Any) -> None:
    """Write the way from a body's centre of mass, at the share of the tick, to a point; 0 for the ground."""
    for j in range(3):
        out[j] = 0.0 if i == GROUND else point[j] - (g.table[j, i] - (1.0 - share) * g.sweep[i, j])


def write_rows(c: int, k: Contacts, g: Geometry, m: Motion, rows: Any, old: Impulses, last: int) -> None:
    """Write the rows of a contact, except the targets, with the impulses of row `last` of the last tick; -1: none."""
    record, count, table = k.record[c], k.counts[c], g.table
    a, b, share, n = int(record[0]), int(record[1]), record[11], record[5:8]
    arms, middle, tangents = empty((2, 3)), zeros(3), empty((2, 3))
    for r in range(count, ROWS):
        rows[c, r, MASS] = rows[c, r, IMPULSE] = rows[c, r, LIMIT] = 0.0
    for p in range(count):
        arm(g, a, share, k.points[c, p], arms[0])
        arm(g, b, share, k.points[c, p], arms[1])
        write_row(rows[c, p], 1.0, n, arms, m, a, b)
    if last >= 0:
        match_points(c, k, g, rows, old, last)
    total = 0.0
    for p in range(count):
        total += rows[c, p, IMPULSE]
    for p in range(count):  # friction acts where the last tick has pressed
        weight = rows[c, p, IMPULSE] / total if total > 0.0 else 1.0 / count
        for j in range(3):
            middle[j] += weight * k.points[c, p, j]
    for p in range(count):
        x, y, z = k.points[c, p, 0] - middle[0], k.points[c, p, 1] - middle[1], k.points[c, p, 2] - middle[2]
        rows[c, p, LIMIT] = sqrt(x * x + y * y + z * z)
    friction, rolling = table[FRICTION_ROW, a], table[ROLLING_ROW, a]
    if b == GROUND:
        friction *= table[GROUND_ROW + 4, a]
    else:
        friction, rolling = sqrt(friction * table[FRICTION_ROW, b]), max(rolling, table[ROLLING_ROW, b])
    if friction == 0.0:
        return
    write_tangents(n, tangents)
    arm(g, a, share, middle, arms[0])
    arm(g, b, share, middle, arms[1])
    for t in range(2):
        write_row(rows[c, SLIDE + t], 1.0, tangents[t], arms, m, a, b)
        if rolling > 0.0:
            write_row(rows[c, ROLL + t], 0.0, tangents[t], arms, m, a, b)
        if last >= 0:
            rows[c, SLIDE + t, IMPULSE] = dot(old.friction[last], tangents[t])
    if count > 1 or rolling > 0.0:
        write_row(rows[c, SPIN], 0.0, n, arms, m, a, b)
        rows[c, SPIN, IMPULSE] = old.friction[last, 3] if last >= 0 else 0.0
    rows[c, SLIDE, LIMIT], rows[c, ROLL, LIMIT] = friction, rolling


def write_tangents(n: Any, out: Any) -> None:
    """Write two unit vectors across a normal: the first level, or north of a steep one."""
    if abs(n[2]) < 0.7:
        x, y, z = n[1], -n[0], 0.0
    else:
        x, y, z = 0.0, n[2], -n[1]
    length = sqrt(x * x + y * y + z * z)
    out[0, 0], out[0, 1], out[0, 2] = x / length, y / length, z / length
    for j in range(3):
        u, v = (j + 1) % 3, (j + 2) % 3
        out[1, j] = n[u] * out[0, v] - n[v] * out[0, u]


def match_points(c: int, k: Contacts, g: Geometry, rows: Any, old: Impulses, last: int) -> None:
    """Give the points of a contact the normal impulses of the last tick's nearest ones; others share what is left."""
    i, count, left, fresh = int(k.record[c, 0]), k.counts[c], 0.0, 0
    near, local = SAME_POINT * g.bound[i], empty(3)
    free = empty(POINTS)
    for q in range(POINTS):
        free[q] = old.normal[last, q]
    for p in range(count):
        local_point(g, i, k.record[c, 11], k.points[c, p], local)
        best, least = -1, near * near
        for q in range(POINTS):
            apart = 0.0
            for j in range(3):
                apart += (old.points[last, q, j] - local[j]) * (old.points[last, q, j] - local[j])
            if free[q] > 0.0 and apart < least:
                best, least = q, apart
        rows[c, p, IMPULSE] = free[best] if best >= 0 else -1.0
        if best >= 0:
            free[best] = 0.0
        else:
            fresh += 1
    for q in range(POINTS):
        left += free[q]
    for p in range(count):
        if rows[c, p, IMPULSE] < 0.0:
            rows[c, p, IMPULSE] = left / fresh


def local_point(g: Geometry, i: int, share: float, point: Any, out: Any) -> None:
    """Write a point in the axes of a body, from its centre of mass at the share of the tick, m."""
    x = point[0] - (g.table[0, i] - (1.0 - share) * g.sweep[i, 0])
    y = point[1] - (g.table[1, i] - (1.0 - share) * g.sweep[i, 1])
    z = point[2] - (g.table[2, i] - (1.0 - share) * g.sweep[i, 2])
    for j in range(3):
        out[j] = x * g.axes[i, j, 0] + y * g.axes[i, j, 1] + z * g.axes[i, j, 2]


def write_targets(c: int, k: Contacts, b: Any, dt: float, wake: float, rows: Any, velocity: Any) -> None:
    """Write the approach speed of a contact to its record, and the speeds at which its points are to leave."""
    record = k.record[c]
    a, other = int(record[0]), int(record[1])
    bounce = b[RESTITUTION_ROW, a]
    if other != GROUND:
        bounce = max(bounce, b[RESTITUTION_ROW, other])
    for p in range(k.counts[c]):
        speed, gap = -speed_of(rows, c, p, velocity, a, other), k.gaps[c, p]
        record[9] = max(record[9], speed)
        if gap < 0.0 and speed * dt < -gap:
            rows[c, p, TARGET] = gap / dt  # this point does not touch within the tick
        elif speed > max(BOUNCE_SPEED, wake):
            rows[c, p, TARGET] = bounce * speed
        else:
            rows[c, p, TARGET] = min(gap, 0.0) / dt


def solve_island(order: Any, k: Contacts, rows: Any, velocity: Any) -> None:
    """Sweep over the contacts of an island, in `order`, until they have converged or their share of work is done."""
    n = order.size
    for sweep in range(min(max(SWEEP_WORK // n, LEAST_SWEEPS), SWEEPS)):
        change = 0.0
        for at in range(n):
            c = order[at if sweep % 2 == 0 else n - 1 - at]
            a, b = int(k.record[c, 0]), int(k.record[c, 1])
            change = max(change, solve_contact(c, k.counts[c], a, b, rows, velocity))
        if change < CONVERGED:
            break


def solve_contact(c: int, count: int, a: int, b: int, rows: Any, velocity: Any) -> float:
    """Solve friction and then the normals of a contact, one after the other; return the largest change of a speed."""
    pressed, around, change = 0.0, 0.0, 0.0
    for p in range(count):
        pressed += rows[c, p, IMPULSE]
        around += rows[c, p, IMPULSE] * rows[c, p, LIMIT]
    friction, rolling = rows[c, SLIDE, LIMIT], rows[c, ROLL, LIMIT]
    if friction > 0.0:
        change = solve_pair(c, SLIDE, friction * pressed, rows, velocity, a, b)
        if rolling > 0.0:
            change = max(change, solve_pair(c, ROLL, rolling * pressed, rows, velocity, a, b))
        mass = rows[c, SPIN, MASS]
        if mass > 0.0:
            before, most = rows[c, SPIN, IMPULSE], friction * (around + rolling * pressed)
            after = min(max(before - mass * speed_of(rows, c, SPIN, velocity, a, b), -most), most)
            rows[c, SPIN, IMPULSE] = after
            push(rows, c, SPIN, velocity, a, b, after - before)
            change = max(change, abs(after - before) / mass)
    for p in range(count):
        mass = rows[c, p, MASS]
        if mass > 0.0:
            before = rows[c, p, IMPULSE]
            after = max(before + mass * (rows[c, p, TARGET] - speed_of(rows, c, p, velocity, a, b)), 0.0)
            rows[c, p, IMPULSE] = after
            push(rows, c, p, velocity, a, b, after - before)
            change = max(change, abs(after - before) / mass)
    return change


def solve_pair(c: int, r: int, most: float, rows: Any, velocity: Any, a: int, b: int) -> float:
    """Bring the speeds of two rows to 0 with an impulse of at most `most`; return the larger change of a speed."""
    mass, second_mass = rows[c, r, MASS], rows[c, r + 1, MASS]
    if mass == 0.0 or second_mass == 0.0:
        return 0.0
    first, second = rows[c, r, IMPULSE], rows[c, r + 1, IMPULSE]
    x = first - mass * speed_of(rows, c, r, velocity, a, b)
    y = second - second_mass * speed_of(rows, c, r + 1, velocity, a, b)
    size = sqrt(x * x + y * y)
    if size > most:
        x, y = x * most / size, y * most / size
    rows[c, r, IMPULSE], rows[c, r + 1, IMPULSE] = x, y
    push(rows, c, r, velocity, a, b, x - first)
    push(rows, c, r + 1, velocity, a, b, y - second)
    return float(max(abs(x - first) / mass, abs(y - second) / second_mass))


def write_islands(contacts: int, record: Any, light: Any) -> tuple[Any, Any]:
    """Return the contacts by island, and where that of each first body begins; immovable bodies divide islands."""
    m = light.shape[0] - 1
    root, sizes = empty(m + 1, int64), zeros(m + 2, int64)
    for i in range(m + 1):
        root[i] = i
    for c in range(contacts):
        a, b = int(record[c, 0]), int(record[c, 1])
        if b == GROUND or light[a, 0] == 0.0 or light[b, 0] == 0.0:
            continue
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        root[max(a, b)] = min(a, b)
    island = empty(contacts, int64)
    for c in range(contacts):
        a, b = int(record[c, 0]), int(record[c, 1])
        i = a if light[a, 0] > 0.0 or b == GROUND else b
        while root[i] != i:
            i = root[i]
        island[c] = i
        sizes[i + 1] += 1
    for i in range(m + 1):
        sizes[i + 1] += sizes[i]
    order, filled = empty(contacts, int64), sizes.copy()
    for c in range(contacts):
        order[filled[island[c]]] = c
        filled[island[c]] += 1
    return order, sizes


def point_speeds(g: Geometry, c: int, k: Contacts) -> tuple[float, float]:
    """Return the largest speeds (m/s) at which the points of a contact approach and slide."""
    record, n, r, relative = k.record[c], k.record[c, 5:8], empty(3), empty(3)
    closing, sliding = 0.0, 0.0
    for p in range(k.counts[c]):
        for j in range(3):
            relative[j] = 0.0
        for side in range(2):
            i, sign = int(record[side]), 2.0 * side - 1.0
            arm(g, i, record[11], k.points[c, p], r)
            for j in range(3):
                u, v = (j + 1) % 3, (j + 2) % 3
                if i != GROUND:
                    turning = g.table[10 + u, i] * r[v] - g.table[10 + v, i] * r[u]
                    relative[j] += sign * (g.table[7 + j, i] + turning)
        along = dot(relative, n)
        closing = max(closing, -along)
        sliding = max(sliding, sqrt(max(dot(relative, relative) - along * along, 0.0)))
    return closing, sliding


def motion_of(contacts: int, k: Contacts, g: Geometry, wake: float) -> Motion:
    """Return how the bodies move; those that sleep are immovable, unless something hits them or slides along them."""
    b = g.table
    m = b.shape[1]
    asleep = b[ASLEEP_ROW] != 0.0
    for c in range(contacts):
        first, second = int(k.record[c, 0]), int(k.record[c, 1])
        if asleep[first] or (second != GROUND and asleep[second]):
            closing, sliding = point_speeds(g, c, k)
            if max(closing, sliding) > wake:
                asleep[first] = False
                if second != GROUND:
                    asleep[second] = False
    motion = Motion(zeros((m + 1, 6)), zeros((m + 1, 2)), zeros((m + 1, 3, 3)))
    for i in range(m):
        for j in range(6):
            motion.velocity[i, j] = b[7 + j, i]
        if not asleep[i]:
            motion.light[i, 0], motion.light[i, 1] = b[LIGHTNESS_ROW, i], b[LIGHTNESS_ROW + 1, i]
            for j in range(9):
                motion.inertia[i, j // 3, j % 3] = g.inertia[i, j // 3, j % 3]
    return motion


def resolve_all(b: Any, ids: Any, pairs: Any, dt: float, wake: float, old: Impulses) -> tuple[Any, Any, Impulses]:
    """Return the bumps (13, bodies), rows of Bump, of a tick, its contacts (n, RECORD) and their impulses.

    `b` is the table of bodies, (rows of BodyRow, bodies); `ids` (bodies,) are their ids, -2 - k of obstacle k; `pairs`
    (2, k) are the ones that may touch, first < second, in ascending order. Obstacles have an inverse mass of 0.
    `wake`: speed (m/s) at which a touch wakes a sleeping body; slower ones do not bounce either. `old`: the impulses
    of the last tick.
    """
    m, most = b.shape[1], pairs.shape[1] + b.shape[1]
    g = geometry(b, dt)
    k = Contacts(empty((most, RECORD)), empty((most, POINTS, 3)), empty((most, POINTS)), zeros(most, int64))
    contacts = find_contacts(pairs, g, k)
    motion, bump = motion_of(contacts, k, g, wake), zeros((13, m))
    rows = empty((contacts, ROWS, COLUMN.size))
    impulses = Impulses(
        empty(contacts, int64), zeros((contacts, POINTS, 3)), zeros((contacts, POINTS)), zeros((contacts, 4))
    )
    for c in range(contacts):
        first, second = int(k.record[c, 0]), int(k.record[c, 1])
        impulses.keys[c] = (ids[first] << 32) + ((GROUND if second == GROUND else ids[second]) + (1 << 31))
        last = searchsorted(old.keys, impulses.keys[c])
        last = last if last < old.keys.size and old.keys[last] == impulses.keys[c] else -1
        write_rows(c, k, g, motion, rows, old, last)
        write_targets(c, k, b, dt, wake, rows, motion.velocity)
    order, starts = write_islands(contacts, k.record, motion.light)
    for c in range(contacts):  # after all approach speeds are known
        for r in range(ROWS):
            if rows[c, r, IMPULSE] != 0.0:
                first, second = int(k.record[c, 0]), int(k.record[c, 1])
                push(rows, c, r, motion.velocity, first, second, rows[c, r, IMPULSE])
    for i in range(m + 1):
        if starts[i + 1] > starts[i]:
            island = order[starts[i] : starts[i + 1]]
            solve_island(island, k, rows, motion.velocity)
            mark_restless(island, k.record, motion, bump)
    for i in range(m):
        for j in range(6):
            bump[3 + j, i] = motion.velocity[i, j] - b[7 + j, i]
    for c in range(contacts):
        keep_impulses(c, k, g, rows, impulses)
    shift(contacts, k, dt, rows, motion, bump)
    return bump, k.record[:contacts], impulses


def mark_restless(island: Any, record: Any, m: Motion, bump: Any) -> None:
    """Mark the bodies of an island in which one is not at rest: none of them falls asleep."""
    moves = False
    for c in island:
        for side in range(2):
            i = int(record[c, side])
            v = m.velocity[i]
            fast = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] >= QUIET_SPEED * QUIET_SPEED
            moves |= fast or v[3] * v[3] + v[4] * v[4] + v[5] * v[5] >= QUIET_RATE * QUIET_RATE
    for c in island:
        for side in range(2):
            i = int(record[c, side])
            if moves and i != GROUND and m.light[i, 0] > 0.0:
                bump[9, i] = 1.0


def keep_impulses(c: int, k: Contacts, g: Geometry, rows: Any, out: Impulses) -> None:
    """Write the impulses of a contact, to start the next tick from."""
    tangents = empty((2, 3))
    write_tangents(k.record[c, 5:8], tangents)
    for p in range(k.counts[c]):
        local_point(g, int(k.record[c, 0]), k.record[c, 11], k.points[c, p], out.points[c, p])
        out.normal[c, p] = rows[c, p, IMPULSE]
    for j in range(3):
        out.friction[c, j] = rows[c, SLIDE, IMPULSE] * tangents[0, j] + rows[c, SLIDE + 1, IMPULSE] * tangents[1, j]
    out.friction[c, 3] = rows[c, SPIN, IMPULSE]


def shift(contacts: int, k: Contacts, dt: float, rows: Any, m: Motion, bump: Any) -> None:
    """Write the impulses of the contacts; shift and turn bodies by them from the time of touch, and part overlaps."""
    light, split, tangents = m.light, zeros(m.light.shape[0]), empty((2, 3))
    for c in range(contacts):
        split[int(k.record[c, 0])] += 1.0
        split[int(k.record[c, 1])] += 1.0
    for c in range(contacts):
        record = k.record[c]
        a, b, n, leaving, pressed = int(record[0]), int(record[1]), record[5:8], 1e30, 0.0
        if light[a, 0] == 0.0 and light[b, 0] == 0.0:
            continue
        for p in range(k.counts[c]):
            pressed += rows[c, p, IMPULSE]
            leaving = min(leaving, speed_of(rows, c, p, m.velocity, a, b))
        write_tangents(n, tangents)
        x, y = rows[c, SLIDE, IMPULSE], rows[c, SLIDE + 1, IMPULSE]
        record[8], record[12] = pressed, sqrt(x * x + y * y)
        rest = (1.0 - record[11]) * dt
        soft = split[a] * (light[a, 0] * (n[0] * n[0] + n[1] * n[1]) + light[a, 1] * n[2] * n[2])
        soft += split[b] * (light[b, 0] * (n[0] * n[0] + n[1] * n[1]) + light[b, 1] * n[2] * n[2])
        for r in range(ROWS):
            for j in range(3 if rows[c, r, MASS] > 0.0 else 0):
                turn = rest * rows[c, r, IMPULSE]
                bump[10 + j, a] -= turn * rows[c, r, RESPONSE + 3 + j]
                if b != GROUND:
                    bump[10 + j, b] += turn * rows[c, r, RESPONSE + 9 + j]
        excess = record[10] - SLOP - max(leaving, 0.0) * dt
        apart = min(RECOVERY * max(excess, 0.0), RECOVERY_SPEED * dt) / soft if soft > 0.0 else 0.0
        for j in range(3):
            moved = rest * (pressed * n[j] + x * tangents[0, j] + y * tangents[1, j]) + apart * n[j]
            bump[j, a] -= light[a, 1 if j == 2 else 0] * moved
            if b != GROUND:
                bump[j, b] += light[b, 1 if j == 2 else 0] * moved
    for i in range(bump.shape[1]):
        turn = sqrt(dot(bump[10:, i], bump[10:, i]))
        for j in range(3 if turn > LARGEST_TURN else 0):
            bump[10 + j, i] *= LARGEST_TURN / turn


resolve = routine(resolve_all)
