"""Ways around zones, found when a search needs them: tables for compiled code.

Ways are found over the bends around zones. Those of a tour are then measured on the paths that are built, and all later
searches use what was measured.

A begin is where a vehicle is free (its number) or the end of a task (the number of vehicles and its own); an end is the
beginning of a task (its number) or a vehicle's home (the number of tasks and the vehicle's).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan, nan

import numpy as np

from paddock.planning.geometry.detours import (
    COST,
    EXACT,
    INNER,
    KEPT,
    PASSED,
    REACHED,
    WAY_COLUMNS,
    Flags,
    Rows,
    find_detours,
)
from paddock.planning.geometry.path import Pose
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.zones import CircleZone, Clearance, Walls, Zone, inside, known_walls, stacked
from paddock.planning.solver.problem import Problem, Vehicle
from paddock.planning.solver.tours import Detours, Ints, Jobs
from paddock.planning.solver.transits import Goal, Transits, between, course_at_end
from paddock.world.columns import Floats

UNKNOWN = -2
NEVER = 0  # the first row: there is no way
EVERYWHERE = CircleZone("everywhere", 0.0, 0.0, 1e9)


class TransitTables:
    """The ways of all vehicles (a) of k classes between t tasks; empty tables without zones."""

    def __init__(
        self, problem: Problem, transits: Transits, jobs: Sequence[Jobs], class_of: Sequence[int],
        before: TransitTables | None = None,
    ) -> None:  # fmt: skip
        self.problem, self.transits, self.jobs, self.class_of = problem, transits, jobs, np.array(class_of, np.int64)
        a, k, t = len(problem.vehicles), len(jobs), len(problem.tasks) if problem.zones else 0
        self.start = np.full((a, t + 1 if problem.zones else 0), UNKNOWN, np.int32)
        self.ways, self.home = np.full((k, t, t), UNKNOWN, np.int32), np.full((a, t), UNKNOWN, np.int32)
        never = np.full((1, 2, WAY_COLUMNS), np.nan)
        never[..., COST], never[..., KEPT] = inf, 0.0
        self._pieces, self._count = [never], 1
        self._walls: list[Walls] = [known_walls((EVERYWHERE,))]  # the zones of the first row
        self._stacked: tuple[Walls, Ints] | None = None
        self._sets: dict[tuple[tuple[Zone, ...], Clearance], int] = {}
        if before is not None and problem.zones:
            self._take_over(before)

    def _take_over(self, before: TransitTables) -> None:
        """Keep the ways of the same vehicles between tasks whose ends have not changed."""
        self._pieces, self._count = [before.tables.table.copy()], before._count
        self._walls, self._stacked, self._sets = list(before._walls), before._stacked, dict(before._sets)
        for old, new in ((before.start, self.start), (before.ways, self.ways), (before.home, self.home)):
            new[:] = old
        for kind, (old_jobs, jobs) in enumerate(zip(before.jobs, self.jobs, strict=True)):
            here, there = (np.hstack([task_jobs.entry, task_jobs.leave]) for task_jobs in (old_jobs, jobs))
            other = np.flatnonzero(((here != there) & ~(np.isnan(here) & np.isnan(there))).any(axis=1))
            own = np.flatnonzero(self.class_of == kind)
            self.ways[kind, other], self.ways[kind, :, other] = UNKNOWN, UNKNOWN
            self.start[np.ix_(own, other)] = self.home[np.ix_(own, other)] = UNKNOWN

    @property
    def tables(self) -> Detours:
        """The ways of all vehicles: `start` (a, t + 1), `ways` (k, t, t) and `home` (a, t)."""
        if len(self._pieces) > 1:
            self._pieces = [np.concatenate(self._pieces)]
        if self._stacked is None:
            self._stacked = stacked(self._walls)
        walls, sets = self._stacked
        return Detours(self._pieces[0], self.start, self.ways, self.home, sets, *walls)

    def find_all(self) -> None:
        """Find the ways of all vehicles."""
        a, t = len(self.problem.vehicles), self.home.shape[1]
        tasks = np.arange(t)
        for kind in range(len(self.jobs)):
            own = np.flatnonzero(self.class_of == kind)
            begins = np.repeat(np.append(own, a + tasks), t), np.tile(a + tasks, len(own)), own
            ends = np.tile(tasks, len(own) + t), np.repeat(t + own, t), t + own
            self.find(kind, np.concatenate(begins), np.concatenate(ends))  # at once: a search from each begin

    def find(self, kind: int, begins: Ints, ends: Ints) -> None:
        """Find the ways of a class of vehicles from begins to ends, pair by pair (p,)."""
        if not self.problem.zones or not len(begins):
            return
        new = self._rows(kind, begins, ends) == UNKNOWN
        if new.any():
            rows = self._new_rows(kind, begins[new], ends[new])
            self._rows(kind, begins[new], ends[new], rows)

    def rows(self, kind: int, begins: Ints, ends: Ints) -> Rows:
        """Return the rows of the ways from begins to ends, pair by pair (p,); -1: no zone is near."""
        self.find(kind, begins, ends)
        return self._rows(kind, begins, ends)

    def _rows(self, kind: int, begins: Ints, ends: Ints, rows: Rows | None = None) -> Rows:
        """Return the rows of pairs, or set them."""
        a, t = self.home.shape
        result = np.empty(len(begins), np.int32) if rows is None else rows
        first, last = begins < a, ends >= t
        for some, table, index in (
            (first, self.start, (begins, np.minimum(ends, t))),
            (~first & ~last, self.ways[kind], (begins - a, ends)),
            (~first & last, self.home, (ends - t, begins - a)),
        ):
            cells = index[0][some], index[1][some]
            if rows is None:
                result[some] = table[cells]
            else:
                table[cells] = result[some]
        return result

    def _new_rows(self, kind: int, begins: Ints, ends: Ints) -> Rows:
        """Return the rows of new pairs."""
        (a, t), zones, jobs = self.home.shape, self.problem.zones, self.jobs[kind]
        vehicle = self.problem.vehicles[int(np.argmax(self.class_of == kind))]
        at = np.where(np.isnan(jobs.z), vehicle.travels_at, jobs.z)
        (some, begins), (others, ends) = _numbered(begins, a + t), _numbered(ends, t + a)
        outs = [self.transits.way_out(self.problem.vehicles[k]) for k in some[some < a].tolist()]  # of those in a zone
        homes = [self.problem.vehicles[k - t].home for k in others[others >= t].tolist()]
        away = np.array([(out.end[0], out.end[1], out.end[3]) for out in outs]).reshape(-1, 3)
        starts = np.vstack([away, jobs.leave[some[some >= a] - a]])
        back = np.array([(x, y, heading) for x, y, _, heading in homes]).reshape(-1, 3)
        goals = np.vstack([jobs.entry[others[others < t]], back])
        heights = [self.problem.vehicles[k].pose[2] for k in some[some < a].tolist()]
        here = np.concatenate([heights, at[some[some >= a] - a]])[begins]
        there = np.concatenate([at[others[others < t]], [home[2] for home in homes]])[ends]
        closed = np.array([bool(out.segments) for out in outs] + [False] * (len(some) - len(outs)))
        rows = np.full(len(begins), -1, np.int32)
        low, high = here, there
        here, there = self._entered(here.copy(), there.copy(), starts[begins], goals[ends])
        for near, pairs in self._by_zones(np.minimum(here, there), np.maximum(here, there)):
            new = self._find_detours(
                vehicle, near, starts, goals, np.column_stack([begins[pairs], ends[pairs]]), closed
            )
            rows[pairs] = new
        steps = (here != low).astype(np.int64) - (there != high)  # height is changed first, or at the end: -1
        self._step(vehicle, rows, steps, low, high, starts[begins], goals[ends])
        for k, out in enumerate(outs):
            self._lengthen(rows[begins == k], out.flown)
        shut = np.array([bool(inside(x, y, between(zones, z, z))) for x, y, z, _ in homes], bool)
        shut = np.append(np.zeros(len(others) - len(homes), bool), shut)[ends]
        rows[shut] = np.where(begins[shut] < len(outs), -1, NEVER)  # a home in a zone: returned to, not left for a task
        return rows

    def _entered(self, here: Floats, there: Floats, starts: Floats, goals: Floats) -> tuple[Floats, Floats]:
        """Return the heights (p,) that ways pass beside zones: the one of an end under or over a zone in between."""
        climbs = np.flatnonzero(here != there)
        for points, z, other in ((goals, there, here), (starts, here, there)):
            for zone in self.problem.zones if len(climbs) else ():
                if zone.limits == (None, None):
                    continue
                inner = self._inside(zone, points[climbs, :2]) & ~(
                    (zone.floor < z[climbs]) & (z[climbs] < zone.ceiling)
                )
                low, high = np.minimum(z, other)[climbs], np.maximum(z, other)[climbs]
                some = climbs[inner & (zone.floor < high) & (low < zone.ceiling)]
                other[some] = z[some]
        return here, there

    def _inside(self, zone: Zone, points: Floats) -> Flags:
        """Return whether each point (n, 2) lies within the outline of a zone."""
        inside: dict[tuple[float, ...], bool] = {}
        for x, y in points.tolist():
            if (x, y) not in inside:
                inside[x, y] = zone.contains(x, y)
        return np.array([inside[x, y] for x, y in points.tolist()], bool)

    def _by_zones(self, low: Floats, high: Floats) -> list[tuple[tuple[Zone, ...], Ints]]:
        """Return sets of zones with the pairs whose heights (m) they reach into."""
        zones = self.problem.zones
        if all(zone.limits == (None, None) for zone in zones):
            return [(zones, np.arange(len(low)))]
        near = np.array([(zone.floor < high) & (low < zone.ceiling) for zone in zones]).T
        sets, which = np.unique(near, axis=0, return_inverse=True)
        named = (tuple(zone for zone, counts in zip(zones, mask, strict=True) if counts) for mask in sets)
        return [(some, np.flatnonzero(which.ravel() == k)) for k, some in enumerate(named) if some]

    def _find_detours(
        self, vehicle: Vehicle, zones: tuple[Zone, ...], starts: Floats, goals: Floats, pairs: Ints, closed: Flags
    ) -> Rows:
        maps = self.transits.charts(vehicle, zones)
        indices, more = find_detours(maps, starts, goals, pairs, closed)
        number = [self._number(zones, 0.0), self._number(zones, self.transits.clearance)]
        more[..., KEPT] = np.array(number)[more[..., KEPT].astype(np.int64)]
        rows = np.where(indices >= 0, indices + self._count, -1).astype(np.int32)
        self._pieces, self._count = [*self._pieces, more], self._count + len(more)
        return rows

    def _step(
        self, vehicle: Vehicle, rows: Rows, steps: Ints, low: Floats, high: Floats, starts: Floats, goals: Floats
    ) -> None:
        """Add to ways that end under or over a zone where they change height; those without a row get one."""
        pairs = np.flatnonzero(steps)
        if not len(pairs):
            return
        self._add_straight(rows, pairs[rows[pairs] < 0])
        self._pieces = [np.concatenate(self._pieces)]
        sets: dict[tuple[float, ...], int] = {}
        depths: dict[tuple[float, ...], float] = {}
        poses = np.column_stack([starts, low, goals, high])[pairs].tolist()
        for row, step, (x, y, _, z, gx, gy, _, gz) in zip(
            rows[pairs].tolist(), steps[pairs].tolist(), poses, strict=True
        ):
            out, into = ((x, y), (gx, gy)) if step > 0 else ((gx, gy), (x, y))
            way, passed = self._pieces[0][row], between(self.problem.zones, z, gz)
            if (*out, z, gz) not in sets:
                sets[*out, z, gz] = self._number(passed, self.transits.clearances(passed, out))
            way[:, PASSED] = step * sets[*out, z, gz]
            if np.isfinite(way[:, COST]).any():
                if (*into, z, gz) not in depths:
                    depths[*into, z, gz] = max(-zone.distance(*into) for zone in passed)
                way[:, INNER] = depths[*into, z, gz]

    def _add_straight(self, rows: Rows, pairs: Ints) -> None:
        """Add straight ways without zones for some pairs, and write their rows."""
        rows[pairs] = self._count + np.arange(len(pairs))
        more = np.full((len(pairs), 2, WAY_COLUMNS), np.nan)
        more[..., KEPT] = self._number((), 0.0)
        self._pieces, self._count = [*self._pieces, more], self._count + len(pairs)

    def unmeasured(self, kind: int, begins: Ints, ends: Ints) -> Ints:
        """Return the pairs whose ways begin with a heading and are not measured yet.

        Those that no zone seems near to are included: a turn may lead to one.
        """
        (a, _), rows = self.home.shape, self.rows(kind, begins, ends)
        free = (begins >= a) & np.isnan(self.jobs[kind].leave[np.maximum(begins - a, 0), 2])
        new = (rows != NEVER) & ((rows < 0) | np.isnan(self.tables.table[rows, 0, EXACT]))
        return np.flatnonzero(new & ~free)

    def measure(self, kind: int, begins: Ints, ends: Ints) -> None:
        """Measure ways on their paths, pair by pair (p,)."""
        rows = self.rows(kind, begins, ends)
        self._add_straight(rows, bare := np.flatnonzero(rows < 0))
        self._rows(kind, begins[bare], ends[bare], rows[bare])
        table = self.tables.table
        for row, begin, end in zip(rows.tolist(), begins.tolist(), ends.tolist(), strict=True):
            vehicle, here, there = self._leg(kind, begin, end)
            try:
                path = self.transits.path(vehicle, here, there)
            except InfeasibleError:
                table[row, :, EXACT], table[row, :, REACHED] = inf, nan if there[3] is None else there[3]
            else:
                table[row, :, EXACT] = path.flown
                table[row, :, REACHED] = course_at_end(path) if there[3] is None else there[3]

    def _leg(self, kind: int, begin: int, end: int) -> tuple[Vehicle, Pose, Goal]:
        """Return the vehicle of a way, and its ends; between tasks, one of the class."""
        (a, t), jobs = self.home.shape, self.jobs[kind]
        number = begin if begin < a else end - t if end >= t else int(np.argmax(self.class_of == kind))
        vehicle = self.problem.vehicles[number]
        at = np.where(np.isnan(jobs.z), vehicle.travels_at, jobs.z)
        here, there = vehicle.pose, vehicle.home
        if begin >= a:
            x, y, heading = jobs.leave[begin - a].tolist()
            here = x, y, float(at[begin - a]), heading
        if end >= t:
            return vehicle, here, there
        x, y, heading = jobs.entry[end].tolist()
        return vehicle, here, (x, y, float(at[end]), None if isnan(heading) else heading)

    def _lengthen(self, rows: Rows, flown: float) -> None:
        """Add metres to ways that were found last."""
        if flown > 0.0:
            self._pieces = [np.concatenate(self._pieces)]
            self._pieces[0][rows[rows > NEVER], :, COST] += flown

    def _number(self, zones: tuple[Zone, ...], clearances: Clearance) -> int:
        """Return the number of a set of zones with a clearance (m)."""
        if (zones, clearances) not in self._sets:
            self._sets[zones, clearances] = len(self._walls)
            self._walls.append(known_walls(zones, clearances))
            self._stacked = None
        return self._sets[zones, clearances]


def _numbered(items: Ints, most: int) -> tuple[Ints, Ints]:
    """Return the different items below a number, ascending, and the position of each."""
    used = np.zeros(most, bool)
    used[items] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[items]
