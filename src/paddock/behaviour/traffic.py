"""Traffic on a closed track: which line past the others is free, and how fast it can be driven.

A line is the driver's own line shifted sideways. Every vehicle of any fleet within sight counts, at its present speed
along the track and at the offset that it will have half a second later.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import empty

from paddock.compute.math import absolute, clamp, floor, maximum, minimum, select, sqrt
from paddock.compute.routine import routine
from paddock.track.racing_line import beside, between, find_segment, track_length
from paddock.world.columns import Column, Floats

LINES = 9  # the own line, and shifts to both sides
FORESIGHT = 0.5  # s
PATIENCE = 2.0  # s: it leaves its line for a slower car when the gap is shorter than this times the difference
KEEP = 2.0  # m: the gap behind another car
BLOCKED = 50.0  # the cost of a line beside another car that would be touched, in m/s lost


class Sight(NamedTuple):
    """The way past the others."""

    shift: Annotated[float, Column("m", "shift of the driven line to the left")] = 0.0
    speed: Annotated[float, Column("m/s", "largest speed behind others")] = 1e3


class Space(NamedTuple):
    """What a driver keeps free."""

    room: float  # m: largest offset from the middle
    length: float  # m
    width: float  # m, of a car with the gap beside it
    sight: float  # m
    brake: float  # m/s2


def _place(poses: Floats, track: Floats, spots: Floats) -> None:
    """Write distance along, offset, speed along and speed to the left of each vehicle (columns of poses)."""
    count = track.shape[0]
    for i in range(poses.shape[1]):
        k, t, _ = find_segment(poses[0, i], poses[1, i], track, 0, count)
        lx, ly = between(track, k, t, 4), between(track, k, t, 5)
        gap = select(k + 1 < count, track[(k + 1) % count, 6], track_length(track)) - track[k, 6]
        spots[0, i] = track[k, 6] + t * gap
        spots[1, i] = beside(poses[0, i], poses[1, i], track, k, t)
        spots[2, i] = poses[7, i] * ly - poses[8, i] * lx
        spots[3, i] = poses[7, i] * lx + poses[8, i] * ly
        spots[4, i] = between(track, k, t, 7)
        spots[5, i] = between(track, k, t, 3)


def behind(gap: float, speed: float, brake: float) -> float:
    """Return the speed from which a car can brake to another's speed within a gap (m)."""
    ahead = maximum(speed, 0.0)
    return select(gap > 0.0, sqrt(ahead * ahead + 2.0 * brake * maximum(gap, 0.0)), maximum(ahead + gap, 0.0))


def _weigh(
    i: int, j: int, ahead: float, spots: Floats, space: Space, step: float, costs: Floats, limits: Floats
) -> None:
    """Add what vehicle j, `ahead` m further on, means for each line of vehicle i.

    The last of the limits is that of the place where vehicle i is.
    """
    gap, speed, other = ahead - space.length, spots[2, j], spots[1, j] + FORESIGHT * spots[3, j]
    here, now = spots[1, i], spots[1, j]
    abreast = absolute(ahead) < space.length + 0.5
    for lane in range(LINES):
        offset = clamp(spots[4, j] + (lane - LINES // 2) * step, -space.room, space.room)
        near = minimum(absolute(other - offset), absolute(now - offset)) < space.width
        # a line on the far side of a car abreast, or nearer to it than now, is not free
        across = ((now - here) * (now - offset) < 0.0) | (near & (absolute(now - offset) < absolute(now - here) + 0.1))
        costs[lane] += select(abreast & across, BLOCKED, 0.0)
        closing = (ahead < 0.0) & (speed > spots[2, i] + 1.0) & (-gap < 1.5 * (speed - spots[2, i]))
        costs[lane] += select(closing & near & (absolute(now - here) > space.width), 4.0, 0.0)
        if near and ahead > 0.0:
            costs[lane] += maximum(spots[5, i] - maximum(speed, 0.0) - maximum(gap - KEEP, 0.0) / PATIENCE, 0.0)
            limits[lane] = minimum(limits[lane], behind(gap - KEEP, speed, space.brake))
    if ahead > 0.0 and absolute(other - here) < space.width - 0.3 and absolute(now - here) < space.width:
        limits[LINES] = minimum(limits[LINES], behind(gap - 0.5 * KEEP, speed, space.brake))


def _choose(n: int, spots: Floats, order: Any, shifts: Floats, track: Floats, space: Space, found: Floats) -> None:
    """Write the shift and the speed of the first n vehicles; `order` sorts all of them along the track."""
    total, count = track_length(track), spots.shape[1]
    step = 2.0 * space.room / (LINES // 2)
    costs, limits = empty(LINES), empty(LINES + 1)
    for place in range(count):
        i = order[place]
        if i >= n:
            continue
        for lane in range(LINES):
            shift = (lane - LINES // 2) * step
            costs[lane] = 0.4 * absolute(shift) / step + 0.3 * absolute(shift - shifts[i]) / step
            limits[lane] = 1e3
        limits[LINES] = 1e3
        for direction in (1, -1):
            for further in range(1, count):
                j = order[(place + direction * further + count) % count]
                ahead = spots[0, j] - spots[0, i]
                ahead -= total * floor(ahead / total + 0.5)
                # the same car is met from both sides on a short track: each sees its own half
                if direction * ahead < 0.0 or absolute(ahead) > select(direction > 0, space.sight, 0.4 * space.sight):
                    break
                if ahead != 0.0 or direction > 0:
                    _weigh(i, j, ahead, spots, space, step, costs, limits)
        best = LINES // 2
        for lane in range(LINES):
            if costs[lane] < costs[best]:
                best = lane
        found[0, i] = (best - LINES // 2) * step
        found[1, i] = minimum(limits[best], limits[LINES])


place_vehicles, choose_lines = routine(_place), routine(_choose)


def look_around(poses: Floats, n: int, shifts: Floats, track: Floats, space: Space) -> Floats:
    """Return rows of Sight (2, n) for the first n of all vehicles; `shifts` (n,) are their present ones."""
    spots, found = np.empty((6, poses.shape[1])), np.empty((2, n))
    place_vehicles(np.ascontiguousarray(poses), track, spots)
    order = np.argsort(spots[0], kind="stable")
    choose_lines(n, spots, order, np.ascontiguousarray(shifts), track, space, found)
    return found
