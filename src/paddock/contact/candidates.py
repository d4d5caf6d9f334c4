"""Broad phase: which bodies may touch, from a grid whose cells fit the size of the bodies in them.

The list of candidates holds for half a second, unless a body deviates from the straight motion that it had when the
list was made: a Verlet list in a moving frame, so that a swarm in flight does not need a new one at every tick. The
list is a cache: contacts are a function of the present positions and do not depend on when it was made.

Bodies lie on one of several grids, each with cells twice as large as the one below; a body meets the others on its own
grid and on all coarser ones, so that a few large bodies do not slow down many small ones.

A body takes part in contacts with the `CROWD` others nearest to it, ties by number, and in those that others choose
with it: the number of contacts stays in proportion to the number of bodies however closely they are packed.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, floor, int64, zeros
from numpy.typing import NDArray

from paddock.compute.neighbours import torus_bits
from paddock.compute.routine import routine
from paddock.world.columns import Floats
from paddock.world.solids import COSINE, LENGTH, MOVABLE, NUMBER, SINE, SOLID, WIDTH, Ints, Solids, solids_around

HALF_HEIGHT = SOLID.half + 2

CROWD = 16  # contacts that a body chooses, beside those with obstacles
LEVELS = 24  # grids; cells of the coarsest are 8 million times as large as those of the finest
HORIZON = 0.5  # s: the list holds at most this long
# a body may deviate from its straight motion at the last search by half of this (m); the other half is for the change
# of its speed within a tick
SLACK = 0.3
ACCELERATION = 100.0  # m/s2, that the slack allows for
FULL = 64  # pairs per body: more are a crowd, whose pairs are found at every tick


def line_of(level: int, y: Any, z: Any, bits: tuple[int, int, int]) -> Any:
    """Return the table entry of the cell at x = 0 of a line of cells; the table is a torus of 2**bits cells."""
    line = (z & (1 << bits[2]) - 1) << bits[1] | (y & (1 << bits[1]) - 1)
    return (line ^ (level * 40503 & (1 << bits[1] + bits[2]) - 1)) << bits[0]


def sort_cells(
    n: int, position: Any, reach: Any, cell: float, bits: tuple[int, int, int]
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Sort the bodies by cell, each on the grid for its size.

    Return their order, the start of each table entry, and in that order: grid and cell (4, n), place and reach (4, n);
    last, how many bodies each grid has.
    """
    cells, used = empty((4, n), int64), zeros(LEVELS, int64)
    start, order = zeros((1 << bits[0] + bits[1] + bits[2]) + 1, int64), empty(n, int64)
    entry, mask = empty(n, int64), (1 << bits[0]) - 1
    for i in range(n):
        size, k = cell, 0
        while size < 2.0 * reach[i] and k < LEVELS - 1:
            size *= 2.0
            k += 1
        used[k] += 1
        y, z = int64(floor(position[1, i] / size)), int64(floor(position[2, i] / size))
        entry[i] = line_of(k, y, z, bits) | (int64(floor(position[0, i] / size)) & mask)
        cells[0, i] = k
        start[entry[i] + 1] += 1
    for c in range(start.size - 1):
        start[c + 1] += start[c]
    filled = start.copy()
    for i in range(n):
        order[filled[entry[i]]] = i
        filled[entry[i]] += 1
    sorted_cells, body = empty((4, n), int64), empty((4, n))
    for at in range(n):
        i = order[at]
        sorted_cells[0, at] = cells[0, i]
        size = cell * (1 << cells[0, i])
        for j in range(3):
            body[j, at] = position[j, i]
            sorted_cells[1 + j, at] = int64(floor(position[j, i] / size))
        body[3, at] = reach[i]
    top = LEVELS
    while used[top - 1] == 0:
        top -= 1
    return order, start, sorted_cells, body, used[:top], entry


def meet(at: int, k: int, size: float, bits: tuple[int, int, int], start: Any, cells: Any, body: Any, met: Any) -> int:
    """Write the bodies of grid `k` (in sorted order) whose spheres overlap with that of body `at`; return their number.

    On its own grid a body meets those of its own cell that come later, and those of the cells that come later.
    """
    x, y, z, reach = body[0, at], body[1, at], body[2, at], body[3, at]
    cx, cy, cz = int64(floor(x / size)), int64(floor(y / size)), int64(floor(z / size))
    own, mask, count = k == cells[0, at], (1 << bits[0]) - 1, 0
    for az in range(0 if own else -1, 2):
        for ay in range(0 if own and az == 0 else -1, 2):
            line = line_of(k, cy + ay, cz + az, bits)
            centre = own and az == 0 and ay == 0
            left = cx if centre else cx - 1
            wide = cx + 1 - left
            # neighbouring cells along x are one run of the sorted bodies, unless they wrap around the torus
            runs, width = (1, wide) if (left & mask) + wide <= mask else (wide + 1, 0)
            for run in range(runs):
                first = line | (left + run & mask)
                for j in range(start[first], start[first + width + 1]):
                    dx, dy, dz, near = body[0, j] - x, body[1, j] - y, body[2, j] - z, body[3, j] + reach
                    if dx * dx + dy * dy + dz * dz >= near * near or cells[0, j] != k:
                        continue
                    if cells[2, j] != cy + ay or cells[3, j] != cz + az or (centre and cells[1, j] == cx and j <= at):
                        continue
                    if left <= cells[1, j] <= cx + 1 and (runs == 1 or cells[1, j] == left + run):
                        met[count] = j
                        count += 1
    return count


def near_obstacles(x: float, y: float, z: float, wide: float, fixed: Solids, bodies: Any) -> tuple[Any, int]:
    """Return the numbers of the obstacles less than `wide` (m) away from a place, and how many they are.

    `bodies` are the numbers of all rows of the table of solids, -1 of those that are vehicles.
    """
    near, most = solids_around(x, y, wide, fixed)
    count = 0
    for item in range(most):
        k = near[item]
        near[count] = bodies[k]
        count += bodies[k] >= 0 and not outside(x, y, z, fixed.table, k, wide)
    return near, count


def outside(x: float, y: float, z: float, solids: Any, k: int, reach: float) -> bool:
    """Return whether a place is at least `reach` (m) away from the box around obstacle `k`."""
    dx, dy, dz = x - solids[k, 0], y - solids[k, 1], z - solids[k, 2]
    cosine, sine = solids[k, COSINE], solids[k, SINE]
    px = max(abs(cosine * dx + sine * dy) - solids[k, LENGTH], 0.0)
    py = max(abs(cosine * dy - sine * dx) - solids[k, WIDTH], 0.0)
    pz = max(abs(dz) - solids[k, HALF_HEIGHT], 0.0)
    return px * px + py * py + pz * pz >= reach * reach  # type: ignore[no-any-return]


def with_room(pairs: Any, count: int) -> Any:
    """Return the pairs, in an array twice as long if they fill it."""
    if count < pairs.shape[1]:
        return pairs
    more = empty((2, 2 * count), int64)
    more[:, :count] = pairs
    return more


def search_all(
    n: int, position: Any, velocity: Any, radius: Any, slack: float, horizon: float, fleet: Any, ignores: Any,
    fixed: Solids, bodies: Any, cell: float, bits: tuple[int, int, int], most: int,
) -> tuple[Any, bool]:  # fmt: skip
    """Return the pairs of bodies (2, k), first < second, that may touch within the horizon (s).

    n: moving bodies
    position (3, >= n): where they are in the middle of the horizon if they keep their `velocity`, m
    radius: of a sphere around each body, m; pairs with a gap above `slack` (m) are left out
    fleet: the row and column of a body in the table `ignores`
    fixed, bodies: the obstacles, and their numbers as bodies (`near_obstacles`)
    cell, bits: see `sort_cells`
    most: with more pairs the search ends, and the last result is False
    """
    reach = empty(n)
    for i in range(n):
        speed = velocity[0, i] * velocity[0, i] + velocity[1, i] * velocity[1, i] + velocity[2, i] * velocity[2, i]
        reach[i] = radius[i] + 0.5 * slack + 0.5 * horizon * sqrt(speed)
    order, start, cells, body, used, met = sort_cells(n, position, reach, cell, bits)
    pairs, count = empty((2, 2 * n + 16), int64), 0
    for at in range(n):
        i = order[at]
        for k in range(cells[0, at], used.size):
            if used[k] == 0:
                continue
            for q in range(meet(at, k, cell * (1 << k), bits, start, cells, body, met)):
                j = order[met[q]]
                if ignores[fleet[i], fleet[j]]:
                    continue
                gap = least_distance(position, velocity, i, j, horizon) - (radius[i] + radius[j])
                if gap > slack:
                    continue
                pairs = with_room(pairs, count)
                pairs[0, count], pairs[1, count] = min(i, j), max(i, j)
                count += 1
        wide = reach[i] + 0.5 * slack
        near, obstacles = near_obstacles(position[0, i], position[1, i], position[2, i], wide, fixed, bodies)
        for q in range(obstacles):
            if not ignores[fleet[i], fleet[near[q]]]:
                pairs = with_room(pairs, count)
                pairs[0, count], pairs[1, count] = i, near[q]
                count += 1
        if count > most:
            return pairs[:, :0].copy(), False
    return pairs[:, :count].copy(), True


def least_distance(position: Any, velocity: Any, i: int, j: int, horizon: float) -> float:
    """Return the least distance (m) of two bodies that move on at their velocities from the middle of the horizon."""
    dx, dy, dz = position[0, j] - position[0, i], position[1, j] - position[1, i], position[2, j] - position[2, i]
    x, y, z = velocity[0, j] - velocity[0, i], velocity[1, j] - velocity[1, i], velocity[2, j] - velocity[2, i]
    square = x * x + y * y + z * z
    time = -(dx * x + dy * y + dz * z) / square if square > 0.0 else 0.0
    time = min(max(time, -0.5 * horizon), 0.5 * horizon)
    dx, dy, dz = dx + time * x, dy + time * y, dz + time * z
    return sqrt(dx * dx + dy * dy + dz * dz)


def distance_of(position: Any, i: int, j: int) -> float:
    """Return the distance of two bodies, m."""
    dx, dy, dz = position[0, j] - position[0, i], position[1, j] - position[1, i], position[2, j] - position[2, i]
    return sqrt(dx * dx + dy * dy + dz * dz)


def crowd_search(
    n: int, position: Any, radius: Any, sweep: Any, fleet: Any, ignores: Any, fixed: Solids, bodies: Any, cell: float,
    bits: tuple[int, int, int],
) -> Any:  # fmt: skip
    """Return the pairs that a crowd's bodies choose, (2, k): those of `chosen_of`, without a list of candidates.

    Bodies may touch if the spheres of `radius` overlap during the tick, in which they move by `sweep` (m). The other
    arguments are those of `search_all`.
    """
    order, start, cells, body, used, met = sort_cells(n, position, radius[:n] + sweep[:n], cell, bits)
    best, gaps, counts = empty((n, CROWD), int64), empty((n, CROWD)), zeros(n, int64)
    firm, touched = empty((2, 4 * n + 16), int64), 0
    for at in range(n):
        i = order[at]
        for k in range(cells[0, at], used.size):
            if used[k] == 0:
                continue
            for q in range(meet(at, k, cell * (1 << k), bits, start, cells, body, met)):
                j = order[met[q]]
                if not ignores[fleet[i], fleet[j]]:
                    gap = distance_of(position, i, j) - (radius[i] + radius[j])
                    choose(best, gaps, counts, i, j, gap, n)
                    choose(best, gaps, counts, j, i, gap, n)
        wide = radius[i] + sweep[i]
        near, obstacles = near_obstacles(position[0, i], position[1, i], position[2, i], wide, fixed, bodies)
        for q in range(obstacles):
            if not ignores[fleet[i], fleet[near[q]]]:
                firm = with_room(firm, touched)
                firm[0, touched], firm[1, touched] = i, near[q]
                touched += 1
    return chosen_pairs(n, best, counts, firm[:, :touched])


class Bodies(NamedTuple):
    """Positions (3, n), m, velocities (3, n), m/s, and radii (n,), m, of bodies; which are asleep or obstacles."""

    position: Any
    velocity: Any
    radius: Any
    still: Any


def chosen_of(n: int, pairs: Any, b: Bodies, dt: float, fixed: Solids, rows: Any) -> Any:
    """Return those of the candidates (2, k) that may touch in this tick and that one of the two bodies chooses.

    The first `n` bodies move, the others are obstacles: `rows` of the table of solids. What counts is the box around
    an obstacle: the sphere around a long wall would choose it from far away.
    """
    position, velocity, radius = b.position, b.velocity, b.radius
    best, gaps, counts = empty((n, CROWD), int64), empty((n, CROWD)), zeros(n, int64)
    firm, touched, sweep = empty((2, pairs.shape[1]), int64), 0, empty(n)
    for i in range(n):
        sweep[i] = dt * sqrt(velocity[0, i] ** 2 + velocity[1, i] ** 2 + velocity[2, i] ** 2)
    for c in range(pairs.shape[1]):
        i, j = pairs[0, c], pairs[1, c]
        if b.still[i] and b.still[j]:
            continue
        if j >= n:
            x, y, z = position[0, i], position[1, i], position[2, i]
            if not outside(x, y, z, fixed.table, rows[j - n], radius[i] + sweep[i]):
                firm[0, touched], firm[1, touched] = i, j
                touched += 1
            continue
        distance = distance_of(position, i, j)
        if distance < radius[i] + sweep[i] + (radius[j] + sweep[j]):
            gap = distance - (radius[i] + radius[j])
            choose(best, gaps, counts, i, j, gap, n)
            choose(best, gaps, counts, j, i, gap, n)
    return chosen_pairs(n, best, counts, firm[:, :touched])


def choose(best: Any, gaps: Any, counts: Any, i: int, j: int, gap: float, n: int) -> None:
    """Let body `i` choose body `j`, if it is among its nearest."""
    at = counts[i]
    if at == CROWD:
        if not precedes(gap, j, gaps[i, at - 1], best[i, at - 1], i, n):
            return
        at -= 1
    else:
        counts[i] = at + 1
    while at > 0 and precedes(gap, j, gaps[i, at - 1], best[i, at - 1], i, n):
        best[i, at], gaps[i, at] = best[i, at - 1], gaps[i, at - 1]
        at -= 1
    best[i, at], gaps[i, at] = j, gap


def precedes(gap: float, j: int, other_gap: float, other: int, i: int, n: int) -> bool:
    """Return whether one neighbour of body `i` precedes another: the smaller gap, ties by the distance of numbers."""
    return gap < other_gap or (gap == other_gap and (j - i) % n < (other - i) % n)


def chosen_pairs(n: int, best: Any, counts: Any, firm: Any) -> Any:
    """Return the pairs with obstacles and those that a body has chosen, each once."""
    total = firm.shape[1]
    for i in range(n):
        total += counts[i]
    pairs, count = empty((2, total), int64), firm.shape[1]
    pairs[:, :count] = firm
    for i in range(n):
        for k in range(counts[i]):
            j = best[i, k]
            mutual = False  # the other body has chosen this one, too, and comes first
            if j < i:
                for m in range(counts[j]):
                    mutual |= best[j, m] == i
            if not mutual:
                pairs[0, count], pairs[1, count] = min(i, j), max(i, j)
                count += 1
    return pairs[:, :count].copy()


def deviating_of(
    x: Any, y: Any, z: Any, x0: Any, y0: Any, z0: Any, vx: Any, vy: Any, vz: Any, time: float, most: float
) -> int:
    """Count the bodies farther than `most` (m) from where they would be with their velocity at the last search.

    `time` (s) is that since the middle of the horizon, to which x0, y0, z0 belong. A position that is NaN counts.
    """
    count, limit = 0, most * most
    for i in range(x.size):
        dx, dy, dz = x[i] - x0[i] - time * vx[i], y[i] - y0[i] - time * vy[i], z[i] - z0[i] - time * vz[i]
        count += not dx * dx + dy * dy + dz * dz <= limit
    return count


_search, _crowd = routine(search_all, inline=True), routine(crowd_search)
_chosen, _deviating = routine(chosen_of), routine(deviating_of)


class CandidatePairs:
    """The pairs of bodies that may touch, found again only when bodies have left the motion that they were found with.

    Bodies are numbered; the last ones are the obstacles and never move. They have a grid of their own for the whole run
    (`world/solids.py`).
    """

    def __init__(self, radius: Floats, fleet: Ints, ignores: NDArray[np.bool_], fixed: Solids, dt: float) -> None:
        """Radii (m) around the poses of all bodies; `fixed`: the obstacles of the world; `dt`: a tick, s."""
        self.radius, self.fleet, self.ignores, self.fixed, self.dt = radius, fleet, ignores, fixed, dt
        self.n, self.rows = len(radius), immovable(fixed)
        self.moving = self.n - len(self.rows)
        self.numbers = np.full(len(fixed.table), -1)
        self.numbers[self.rows] = np.arange(self.moving, self.n)
        self.slack, self.horizon = max(SLACK, 4.0 * ACCELERATION * dt * dt), max(HORIZON, 8.0 * dt)
        self.place, self.velocity = np.zeros((3, self.n)), np.zeros((3, self.n))  # at the last search
        self.time = np.inf  # s since the middle of the horizon of the last search; infinite: search at the next tick
        self.pairs: Ints = np.zeros((2, 0), np.int64)
        self.crowded = False  # too many pairs to keep: they are found at every tick
        self.searches = 0

    def forget(self) -> None:
        """Search again at the next tick."""
        self.time = np.inf

    def advance(self) -> bool:
        """Begin another tick; return whether the list may still hold: then `holds` decides."""
        self.time += self.dt
        return self.time <= 0.5 * self.horizon

    def holds(self, offset: int, x: Floats, y: Floats, z: Floats) -> bool:
        """Return whether the bodies of a fleet, the first at `offset`, have kept to the motion of the last search."""
        part = slice(offset, offset + len(x))
        x0, y0, z0 = (row[part] for row in self.place)
        vx, vy, vz = (row[part] for row in self.velocity)
        return not _deviating(x, y, z, x0, y0, z0, vx, vy, vz, self.time, 0.25 * self.slack)

    def search(self, position: Floats, velocity: Floats) -> None:
        """Find the candidates among bodies at these places (3, n) with these velocities, at the beginning of a list."""
        self.searches += 1
        self.time = self.dt - 0.5 * self.horizon  # from one tick ago
        self.place, self.velocity = position - self.time * velocity, velocity.copy()
        speed = np.sqrt((velocity * velocity).sum(axis=0))
        reach = self.radius + 0.5 * self.slack + 0.5 * self.horizon * speed
        constants = self.radius, self.slack, self.horizon, self.fleet, self.ignores, self.fixed, self.numbers
        cells = self._cells(self.place, reach)
        pairs, complete = _search(self.moving, self.place, self.velocity, *constants, *cells, FULL * self.n)
        self.crowded = not complete
        if self.crowded:
            self.forget()
            return
        self.pairs = pairs

    def chosen(self, position: Floats, velocity: Floats, still: NDArray[np.bool_]) -> Ints:
        """Return the pairs that may touch in this tick, of the candidates or in a crowd of all, in ascending order.

        Two bodies that are `still` do not.
        """
        pairs: Ints
        if self.crowded:
            sweep = np.sqrt((velocity * velocity).sum(axis=0)) * self.dt
            constants = self.fleet, self.ignores, self.fixed, self.numbers
            cells = self._cells(position, self.radius + sweep)
            pairs = _crowd(self.moving, position, self.radius, sweep, *constants, *cells)
        else:
            bodies = Bodies(position, velocity, self.radius, still)
            pairs = _chosen(self.moving, self.pairs, bodies, self.dt, self.fixed, self.rows)
        if pairs.shape[1] < 2:
            return pairs
        return np.ascontiguousarray(pairs[:, np.lexsort((pairs[1], pairs[0]))])

    def _cells(self, position: Floats, reach: Floats) -> tuple[float, tuple[int, int, int]]:
        """Return the size of the smallest cells, and the number of cells each way of their table, as powers of two."""
        own = reach[: self.moving]
        cell = max(2.0 * min(float(own.max(initial=0.0)), 4.0 * float(np.median(own))), 1e-3) if len(own) else 1.0
        return cell, torus_bits(self.moving, [float(np.ptp(row[: self.moving])) / cell for row in position])


def immovable(fixed: Solids) -> Ints:
    """Return the rows of a table of obstacles that are no vehicles."""
    return np.flatnonzero(fixed.table[:, NUMBER] != MOVABLE)
