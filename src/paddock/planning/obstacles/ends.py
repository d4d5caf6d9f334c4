"""The bends at both ends of a way, and more of them where a start or a goal has little room."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt

import numpy as np

from paddock.compute.routine import routine
from paddock.planning.obstacles.bends import AT_X, AT_Y, COLUMNS, GROUP, RADIUS, WAY, X, Y
from paddock.planning.obstacles.entry import arc_entry
from paddock.planning.obstacles.search import WayEnds
from paddock.planning.obstacles.walls import Walls
from paddock.world.columns import Floats

AROUND = 12
"""Directions in which a bend may touch that of the start, or a goal without a heading be reached."""
LATTICE = 0.5
"""Turn radii between the bends that are tried anywhere near the start and the goal."""
LATTICE_REACH = 2.0
"""Turn radii from the start or the goal."""

free_arc = routine(arc_entry)
Start = tuple[float, float, float]
Goal = tuple[float, float, float | None]


def ends(start: Start, goal: Goal, radius: float, many: bool) -> WayEnds:
    """The turns at the start and at the goal; a goal without a heading is a point, and `many` turns through it too."""
    x, y, heading = goal
    starts = [_turn(*start, radius, way) for way in (1.0, -1.0)]
    if radius == 0.0:
        return WayEnds(np.array(starts[:1]), start[2], np.array([_turn(x, y, 0.0, 0.0, 1.0)]), np.array([np.nan]), x, y)
    if heading is not None:
        headings = [heading]
        goals, arrivals = [], []
    else:
        headings = [2.0 * pi * k / AROUND for k in range(AROUND)] if many else []
        goals, arrivals = [_turn(x, y, 0.0, 0.0, 1.0)], [np.nan]
    for arrival in headings:
        goals += [_turn(x, y, arrival, radius, way) for way in (1.0, -1.0)]
        arrivals += [arrival, arrival]
    return WayEnds(np.array(starts), start[2], np.array(goals), np.array(arrivals), x, y)


def _turn(x: float, y: float, heading: float, radius: float, way: float) -> tuple[float, ...]:
    centre = x - way * radius * sin(heading), y + way * radius * cos(heading)
    return (*centre, radius, way, *centre, 0.0, 0.0, -1.0)


def touching(w: Walls, e: WayEnds, radius: float, group: int) -> Floats:
    """Bends (n, 9) that touch those of the start and of the goal: for ways that begin or end with two turns."""
    rows = []
    for bend in e.starts:
        rows += _all_around(w, bend, e.heading, 1.0, radius, group)
    for bend, arrival in zip(e.goals, e.arrivals.tolist(), strict=True):
        if len(e.goals) == 2:  # has a heading; one without is reached by turns enough
            rows += _all_around(w, bend, arrival, -1.0, radius, group + 1)
    for a in e.starts:
        for b in e.goals:
            if a[WAY] == b[WAY] and b[RADIUS] > 0.0:
                rows += _between(a, b, radius, group + 2)
    return np.array(rows, dtype=np.float64).reshape(-1, COLUMNS)


def _all_around(
    w: Walls, bend: Floats, heading: float, along: float, radius: float, group: int
) -> list[tuple[float, ...]]:
    """Bends that touch one where it is free on from a heading (`along` 1), or back from it (-1)."""
    way = float(bend[WAY])
    begin = heading - way * 0.5 * pi
    x, y = float(bend[X]), float(bend[Y])
    room = min(free_arc(w, x, y, radius, begin, way * along, 2.0 * pi)[0], 2.0 * pi)
    steps = np.arange(1, AROUND + 1) * 2.0 * pi / AROUND
    return [_on_arm(bend, begin + along * way * step, radius, group) for step in steps[steps < room].tolist()]


def _on_arm(bend: Floats, angle: float, radius: float, group: int) -> tuple[float, ...]:
    """A bend the other way round that touches one."""
    x, y, arm = float(bend[X]), float(bend[Y]), 2.0 * radius
    return x + arm * cos(angle), y + arm * sin(angle), radius, -float(bend[WAY]), x, y, arm, angle, float(group)


def _between(a: Floats, b: Floats, radius: float, group: int) -> list[tuple[float, ...]]:
    """The two bends that touch both of two."""
    dx, dy = float(b[X] - a[X]), float(b[Y] - a[Y])
    apart = hypot(dx, dy)
    if not 1e-9 < apart < 4.0 * radius:
        return []
    opening = atan2(sqrt(16.0 * radius * radius - apart * apart), apart)
    return [_on_arm(a, atan2(dy, dx) + side, radius, group) for side in (opening, -opening)]


def lattice(e: WayEnds, start: Start, radius: float, group: int) -> Floats:
    """Bends (n, 9) all around the start and the goal, each both ways round."""
    steps = np.arange(-LATTICE_REACH, LATTICE_REACH + 0.5 * LATTICE, LATTICE) * radius
    offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    centres = np.vstack([offsets + start[:2], offsets + np.array([e.x, e.y])])
    rows = np.zeros((2 * len(centres), COLUMNS))
    rows[:, [X, Y]] = rows[:, [AT_X, AT_Y]] = np.repeat(centres, 2, axis=0)
    rows[:, RADIUS], rows[:, WAY] = radius, np.tile([1.0, -1.0], len(centres))
    rows[:, GROUP] = group + np.arange(len(rows))
    return rows
