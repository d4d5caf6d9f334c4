"""Tours that change with events: new tasks join the nearest tour, a new vehicle takes over part of the longest ones."""

from __future__ import annotations

from math import inf

from numpy import empty, int64, zeros

from paddock.planning.fleet import Fleet, detours_of, jobs_of, mover_of
from paddock.planning.search.insertion import ROOM, Packed, insertions, place_in, put_in, retrace, traced
from paddock.planning.tours import slackened, tour
from paddock.planning.ways import Ints, tour_routine
from paddock.world.columns import Floats


def middles(fleet: Fleet, orders: Packed) -> Floats:
    """The middle of each agent's tasks (a, 2); of one without tasks, where it is."""
    found = empty((len(orders.counts), 2))
    for a in range(len(orders.counts)):
        entry, x, y = fleet.entry[fleet.kind[a]], 0.0, 0.0
        for k in range(orders.counts[a]):
            x += entry[orders.tasks[a, k], 0] / orders.counts[a]
            y += entry[orders.tasks[a, k], 1] / orders.counts[a]
        found[a, 0] = x if orders.counts[a] else fleet.movers[a, 0]
        found[a, 1] = y if orders.counts[a] else fleet.movers[a, 1]
    return found


def join(fleet: Fleet, orders: Packed, limits: Floats, tasks: Ints) -> None:
    """Each task joins the tour whose middle is nearest, in its cheapest place; if it does not fit, the next one."""
    centres, known = middles(fleet, orders), traced(fleet, orders, len(tasks))
    for task in tasks:
        tried = zeros(len(limits), int64)
        for _ in range(len(limits)):
            a = nearest(fleet, centres, task, tried)
            tried[a] = 1
            position, _, _ = place_in(fleet, orders, limits, a, task, known)
            if position >= 0:
                put_in(orders, a, position, task)
                retrace(fleet, orders, a, known)
                break


def nearest(fleet: Fleet, centres: Floats, task: int, tried: Ints) -> int:
    """The agent not yet tried whose middle is nearest to a task."""
    best, least = 0, inf
    for a in range(len(centres)):
        entry = fleet.entry[fleet.kind[a]]
        dx, dy = entry[task, 0] - centres[a, 0], entry[task, 1] - centres[a, 1]
        if tried[a] == 0 and dx * dx + dy * dy < least:
            best, least = a, dx * dx + dy * dy
    return best


def ends_of(fleet: Fleet, orders: Packed, agent: int) -> float:
    """When a tour ends, s."""
    m, j, extra = mover_of(fleet, agent), jobs_of(fleet, agent), detours_of(fleet, agent)
    _, end = tour(m, j, extra, orders.tasks[agent], orders.counts[agent])
    return end


def take_over(fleet: Fleet, orders: Packed, limits: Floats, most: int) -> None:
    """Agents without tasks take some from whoever ends last, as long as they end before that one did; `most` each."""
    ends, table = empty(len(limits)), empty((orders.tasks.shape[1] + 1, ROOM))
    for a in range(len(limits)):
        ends[a] = ends_of(fleet, orders, a)
    for a in range(len(limits)):
        if orders.counts[a] == 0:
            while orders.counts[a] < most and one_taken(fleet, orders, limits, ends, a, table):
                pass


def one_taken(fleet: Fleet, orders: Packed, limits: Floats, ends: Floats, agent: int, table: Floats) -> bool:
    """Move one task from the tour that ends last to an agent, the one with which it ends earliest; whether it did."""
    giver = -1
    for a in range(len(ends)):
        if a != agent and orders.counts[a] > 1 and (giver < 0 or ends[a] > ends[giver]):
            giver = a
    if giver < 0:
        return False
    m, j, extra = mover_of(fleet, agent), jobs_of(fleet, agent), detours_of(fleet, agent)
    taken, place, earliest = -1, -1, ends[giver]
    for k in range(orders.counts[giver]):
        task, count = orders.tasks[giver, k], orders.counts[agent]
        position, _, end = insertions(m, j, extra, orders.tasks[agent], count, task, slackened(limits[agent]), table)
        if position >= 0 and end < earliest:
            taken, place, earliest = k, position, end
    if taken < 0:
        return False
    put_in(orders, agent, place, orders.tasks[giver, taken])
    take_out(orders, giver, taken)
    ends[agent], ends[giver] = earliest, ends_of(fleet, orders, giver)
    return True


def take_out(orders: Packed, agent: int, position: int) -> None:
    """Remove a task from an order."""
    row = orders.tasks[agent]
    orders.counts[agent] -= 1
    for k in range(position, orders.counts[agent]):
        row[k] = row[k + 1]


join_nearest = tour_routine(join)
take_from_longest = tour_routine(take_over)
