"""Clustered greedy: k-means clusters of tasks, one per vehicle; within a cluster the nearest task is next.

After an event, new tasks join the nearest tour, and a new vehicle takes over part of the longest ones.
"""

from math import ceil, inf

import numpy as np
from numpy import empty, int64, zeros
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from paddock.compute.philox import signed, uniforms
from paddock.compute.routine import routine
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.insertion import (
    ROOM,
    Packed,
    best_position,
    insert_task,
    insertion_cost,
    packed,
    retrace,
    trace,
    traced,
    unpacked,
)
from paddock.planning.solver.methods import Method, MethodResult, NoOptions, Progress
from paddock.planning.solver.tours import (
    SLACK,
    Ints,
    TourData,
    approach,
    begin,
    detours_of,
    fits,
    jobs_of,
    mover_of,
    slackened,
    step,
    tour,
    tour_routine,
    transit,
    way_home,
)
from paddock.world.columns import Floats


def solve(costs: Costs, options: NoOptions, progress: Progress) -> MethodResult:
    """Form a cluster for each vehicle that can do any task (k-means), and assign clusters to vehicles."""
    fleet = costs.fleet
    able = np.flatnonzero(_fitting(costs).any(axis=1))  # vehicles that can do any task within their range
    orders = packed([[]] * costs.vehicles, costs.tasks)
    count = min(len(able), costs.tasks)
    if count:
        labels, centres = clusters_of(np.ascontiguousarray(fleet.entry[0, :, :2]), count, signed(costs.problem.seed))
        away, owner = np.empty((len(able), count)), np.full(costs.vehicles, -1)
        _distances(fleet, able, centres, away)
        vehicles, clusters = linear_sum_assignment(away)  # at the least total distance to the centres
        owner[able[vehicles]] = clusters
        _sequence(fleet, labels, owner, orders)
        _insert_unassigned(costs, orders)
    progress(1.0)
    return MethodResult(unpacked(orders), {"clusters": count})


def _fitting(costs: Costs) -> NDArray[np.bool_]:
    """Return whether each vehicle can do each task (vehicles, tasks), by its range and the windows of tasks."""
    bounded = costs.problem.zones or np.isfinite(costs.ranges).any()
    if bounded or any(task.closes < inf for task in costs.problem.tasks):
        return np.isfinite(costs.alone) & (costs.alone <= costs.ranges[:, None] * (1.0 + SLACK))
    return np.isfinite([costs.jobs(vehicle).cover for vehicle in range(costs.vehicles)])


def revise(costs: Costs, options: NoOptions, orders: list[list[int]]) -> MethodResult:
    """Insert unassigned tasks into the nearest tours; otherwise a new vehicle takes part of the longest."""
    if not any(orders):
        return solve(costs, options, lambda share: None)
    arrays = packed(orders, costs.tasks)
    if not _insert_unassigned(costs, arrays) and not all(orders):
        take_from_longest(costs.fleet, arrays, costs.ranges, ceil(costs.tasks / costs.vehicles))
    return MethodResult(unpacked(arrays))


def _insert_unassigned(costs: Costs, orders: Packed) -> bool:
    """Insert unassigned tasks into the nearest tours in which they fit; return whether there were any."""
    missing = np.ones(costs.tasks, bool)
    for row, count in zip(orders.tasks, orders.counts, strict=True):
        missing[row[:count]] = False
    tasks = costs.possible(np.flatnonzero(missing))
    if len(tasks):
        join_nearest(costs.fleet_for(unpacked(orders), tasks), orders, costs.ranges, tasks)
    return bool(missing.any())


def distances(fleet: TourData, able: Ints, centres: Floats, table: Floats) -> None:
    """Write metres flown (vehicles, centres) to each centre, with any heading."""
    for k in range(len(able)):
        m = mover_of(fleet, able[k])
        for c in range(len(centres)):
            x, y = centres[c]
            table[k, c], _ = transit(m, m.x, m.y, m.z, m.heading, x, y, m.height, float("nan"))


def sequence(fleet: TourData, labels: Ints, owner: Ints, orders: Packed) -> None:
    """Order the tasks of each vehicle's cluster: always the earliest possible next, within the vehicle's range."""
    for a in range(len(owner)):
        m, j, extra, at = mover_of(fleet, a), jobs_of(fleet, a), detours_of(fleet, a), begin(mover_of(fleet, a))
        open_ = zeros(len(labels), int64)
        for t in range(len(labels)):
            open_[t] = 1 if owner[a] >= 0 and labels[t] == owner[a] and j.cover[t] < inf else 0
        while True:
            task, earliest = len(labels), inf  # a literal -1 would have another type
            for t in range(len(labels)):
                if open_[t] == 1:
                    _, _, start, _ = approach(m, j, extra, at, t)
                    if start < earliest:
                        task, earliest = t, start
            if task == len(labels):
                break
            open_[task] = 0
            after = step(m, j, extra, at, task)
            if fits(after.flown + way_home(m, extra, after), m.range):
                orders.tasks[a, orders.counts[a]] = task
                orders.counts[a] += 1
                at = after


_distances = tour_routine(distances)
_sequence = tour_routine(sequence)

METHOD = Method("k-means clusters, one per vehicle; the nearest task is next", solve, NoOptions, revise)


STREAM = 0x6B6D65616E73  # purpose of the random draws
ROUNDS = 1000  # more than any convergence needs


def kmeans(points: Floats, count: int, seed: int) -> tuple[Ints, Floats]:
    """Return the cluster of each point (n, 2) and the centres (count, 2); the last clusters may have no points."""
    centres, labels = first_centres(points, count, seed), empty(len(points), int64)
    labels[:] = -1
    for _ in range(ROUNDS):
        if not assign_points(points, centres, labels):
            break
        average(points, centres, labels)
    return labels, centres


def squared_distance(points: Floats, p: int, centres: Floats, c: int) -> float:
    """Return the squared distance of a point and a centre, m2."""
    dx: float = points[p, 0] - centres[c, 0]
    dy: float = points[p, 1] - centres[c, 1]
    return dx * dx + dy * dy


def first_centres(points: Floats, count: int, seed: int) -> Floats:
    """Return initial centres far apart: drawn with the squared distance to the nearest as weight (k-means++)."""
    n = len(points)
    centres, away = empty((count, 2)), empty(n)
    away[:] = inf
    u, _ = uniforms(seed, STREAM, 0, 0)
    chosen = int(u * n)
    for c in range(count):
        centres[c, 0], centres[c, 1] = points[chosen, 0], points[chosen, 1]
        total = 0.0
        for p in range(n):
            away[p] = min(away[p], squared_distance(points, p, centres, c))
            total += away[p]
        u, _ = uniforms(seed, STREAM, 0, c + 1)
        threshold, chosen = u * total, n - 1
        for p in range(n):
            threshold -= away[p]
            if threshold < 0.0:
                chosen = p
                break
    return centres


def assign_points(points: Floats, centres: Floats, labels: Ints) -> bool:
    """Assign each point to the nearest centre (ties: the first); return whether any changed."""
    changed = False
    for p in range(len(points)):
        best, least = 0, inf
        for c in range(len(centres)):
            away = squared_distance(points, p, centres, c)
            if away < least:
                best, least = c, away
        if labels[p] != best:
            labels[p] = best
            changed = True
    return changed


def average(points: Floats, centres: Floats, labels: Ints) -> None:
    """Move each centre to the mean of its points; one without points moves to the point farthest from its centre."""
    sums, counts = zeros(centres.shape), zeros(len(centres), int64)
    for p in range(len(points)):
        sums[labels[p], 0] += points[p, 0]
        sums[labels[p], 1] += points[p, 1]
        counts[labels[p]] += 1
    for c in range(len(centres)):
        if counts[c]:
            centres[c, 0], centres[c, 1] = sums[c, 0] / counts[c], sums[c, 1] / counts[c]
            continue
        farthest, most = -1, 0.0
        for p in range(len(points)):
            away = squared_distance(points, p, centres, labels[p])
            if counts[labels[p]] > 1 and away > most:
                farthest, most = p, away
        if farthest >= 0:
            centres[c, 0], centres[c, 1] = points[farthest, 0], points[farthest, 1]
            counts[labels[farthest]] -= 1
            labels[farthest] = c


clusters_of = routine(kmeans)


def middles(fleet: TourData, orders: Packed) -> Floats:
    """Return the mean position of each vehicle's tasks (a, 2); without tasks, the vehicle's position."""
    centres = empty((len(orders.counts), 2))
    for a in range(len(orders.counts)):
        entry, x, y = fleet.entry[fleet.kind[a]], 0.0, 0.0
        for k in range(orders.counts[a]):
            x += entry[orders.tasks[a, k], 0] / orders.counts[a]
            y += entry[orders.tasks[a, k], 1] / orders.counts[a]
        centres[a, 0] = x if orders.counts[a] else fleet.movers[a, 0]
        centres[a, 1] = y if orders.counts[a] else fleet.movers[a, 1]
    return centres


def join(fleet: TourData, orders: Packed, limits: Floats, tasks: Ints) -> None:
    """Insert each task into the tour with the nearest centre, at its cheapest position; else into the next."""
    centres, traces = middles(fleet, orders), traced(fleet, orders, len(tasks))
    for task in tasks:
        tried = zeros(len(limits), int64)
        for _ in range(len(limits)):
            a = nearest(fleet, centres, task, tried)
            tried[a] = 1
            position, _, _ = insertion_cost(fleet, orders, limits, a, task, traces)
            if position >= 0:
                insert_task(orders, a, position, task)
                retrace(fleet, orders, a, traces)
                break


def nearest(fleet: TourData, centres: Floats, task: int, tried: Ints) -> int:
    """Return the vehicle, not tried yet, whose centre is nearest to a task."""
    best, least = 0, inf
    for a in range(len(centres)):
        entry = fleet.entry[fleet.kind[a]]
        dx, dy = entry[task, 0] - centres[a, 0], entry[task, 1] - centres[a, 1]
        if tried[a] == 0 and dx * dx + dy * dy < least:
            best, least = a, dx * dx + dy * dy
    return best


def tour_end(fleet: TourData, orders: Packed, vehicle: int) -> float:
    """Return the end of a tour, s."""
    m, j, extra = mover_of(fleet, vehicle), jobs_of(fleet, vehicle), detours_of(fleet, vehicle)
    _, end = tour(m, j, extra, orders.tasks[vehicle], orders.counts[vehicle])
    return end


def rebalance(fleet: TourData, orders: Packed, limits: Floats, most: int) -> None:
    """Move tasks from the tour that ends last to vehicles without tasks, while that shortens it; `most` each."""
    ends, table = empty(len(limits)), empty((orders.tasks.shape[1] + 1, ROOM))
    for a in range(len(limits)):
        ends[a] = tour_end(fleet, orders, a)
    for a in range(len(limits)):
        if orders.counts[a] == 0:
            while orders.counts[a] < most and move_best_task(fleet, orders, limits, ends, a, table):
                pass


def move_best_task(fleet: TourData, orders: Packed, limits: Floats, ends: Floats, vehicle: int, table: Floats) -> bool:
    """Move the best task from the tour that ends last to a vehicle; return whether one was moved."""
    giver = -1
    for a in range(len(ends)):
        if a != vehicle and orders.counts[a] > 1 and (giver < 0 or ends[a] > ends[giver]):
            giver = a
    if giver < 0:
        return False
    m, j, extra = mover_of(fleet, vehicle), jobs_of(fleet, vehicle), detours_of(fleet, vehicle)
    moved, insert_at, earliest, limit = -1, -1, ends[giver], slackened(limits[vehicle])
    order, count = orders.tasks[vehicle], orders.counts[vehicle]
    total, last = trace(m, j, extra, order, count, table)
    for k in range(orders.counts[giver]):
        task = orders.tasks[giver, k]
        position, _, end = best_position(m, j, extra, order, count, task, limit, table, total, last)
        if position >= 0 and end < earliest:
            moved, insert_at, earliest = k, position, end
    if moved < 0:
        return False
    insert_task(orders, vehicle, insert_at, orders.tasks[giver, moved])
    remove_at(orders, giver, moved)
    ends[vehicle], ends[giver] = earliest, tour_end(fleet, orders, giver)
    return True


def remove_at(orders: Packed, vehicle: int, position: int) -> None:
    """Remove a task from an order."""
    row = orders.tasks[vehicle]
    orders.counts[vehicle] -= 1
    for k in range(position, orders.counts[vehicle]):
        row[k] = row[k + 1]


join_nearest = tour_routine(join)
take_from_longest = tour_routine(rebalance)
