"""How long ways are for the vehicles that there are: forwards in still air, in wind, or also backwards, around zones.

Only some need the ways in wind and those backwards, which take long to compile: a tour routine is compiled with what
its vehicles need, the first time that it meets such vehicles.
"""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, isnan
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from paddock.compute.routine import Routine
from paddock.compute.twin import rebound
from paddock.planning.obstacles.detours import SightWalls, added
from paddock.planning.paths.reeds_shepp import shortest_length as reeds_shepp_length
from paddock.planning.paths.wind import flown_in_wind
from paddock.planning.paths.words import length_to
from paddock.world.columns import Floats

Ints = NDArray[np.int64]
P = ParamSpec("P")
R = TypeVar("R")


class Mover(NamedTuple):
    """One agent, as compiled code sees it."""

    x: float  # m, where it is free
    y: float
    z: float
    heading: float
    home_x: float
    home_y: float
    home_z: float
    home_heading: float
    height: float  # m, at which it travels
    speed: float  # m/s
    radius: float  # m
    range: float  # m flown
    slope: float
    ready: float  # s
    wind_x: float  # wind over airspeed
    wind_y: float
    circles: float  # 1: waits on circles once it has set out, 2: always; 0: waits where it is
    reverse: float  # 1: may drive backwards
    under_way: float  # 1: it has set out, and returns home even without tasks


class Detours(NamedTuple):
    """What zones mean for one agent: see obstacles/detours.py; arrays without elements where there are no zones."""

    edges: Floats  # (e, 4), and
    parts: Ints  # (p + 1,), and
    bounds: Floats  # (p, 3): SightWalls; one by one, as parallel loops take no tuples of tuples
    start: Floats  # (3,) x, y of the nearest place outside of zones from where it is free; m to there
    from_start: Floats  # (v,) ways to the corners of zones from there
    leave: Floats  # (t, v) and from the end of each task
    entry: Floats  # (t, v) sights of the corners from the beginning of each task
    home: Floats  # (v,) and from home


WIND = slice(Mover._fields.index("wind_x"), Mover._fields.index("wind_y") + 1)
REVERSE = Mover._fields.index("reverse")


def level_way(
    m: Mover, x: float, y: float, heading: float, gx: float, gy: float, gh: float
) -> tuple[float, float]:  # fmt: skip
    """Metres flown from a pose to another (heading NaN: any) on one level, and the heading of arrival."""
    if m.wind_x != 0.0 or m.wind_y != 0.0:
        return flown_in_wind(x, y, heading, gx, gy, gh, m.radius, m.wind_x, m.wind_y)
    return windless_way(m, x, y, heading, gx, gy, gh)


def windless_way(m: Mover, x: float, y: float, heading: float, gx: float, gy: float, gh: float) -> tuple[float, float]:
    """The same where no wind blows."""
    if m.reverse > 0.5 and not isnan(gh):
        return reeds_shepp_length(x, y, heading, gx, gy, gh, m.radius), gh
    return forward_way(m, x, y, heading, gx, gy, gh)


def forward_way(m: Mover, x: float, y: float, heading: float, gx: float, gy: float, gh: float) -> tuple[float, float]:
    """The same for vehicles that only go forwards, where no wind blows."""
    return length_to(x, y, heading, gx, gy, gh, m.radius)


def detour(m: Mover, extra: Detours, before: int, x: float, y: float, gx: float, gy: float, to: int) -> float:
    """Metres that zones add to the way from (x, y), after a task (-1: none yet), to a task (-1: home) at (gx, gy).

    Where there are no zones, `no_detour` is compiled in its place.
    """
    walls, sights = SightWalls(extra.edges, extra.parts, extra.bounds), extra.home if to < 0 else extra.entry[to]
    if before >= 0:
        return added(walls, x, y, extra.leave[before], gx, gy, sights)
    x, y = extra.start[0], extra.start[1]
    aside: float = extra.start[2] + hypot(gx - x, gy - y) - hypot(gx - m.x, gy - m.y)
    return aside + added(walls, x, y, extra.from_start, gx, gy, sights)


def no_detour(m: Mover, extra: Detours, before: int, x: float, y: float, gx: float, gy: float, to: int) -> float:
    """The same where there are no zones."""
    return 0.0


class TourRoutine(Routine[P, R]):
    """A routine whose first argument is a Mover or a Fleet, and whose third, after a Mover, the Detours."""

    def __init__(self, function: Callable[P, R], parallel: bool) -> None:
        super().__init__(function, parallel)
        self._made: dict[tuple[bool, bool, bool], Routine[P, R]] = {}

    def __call__(self, *arguments: P.args, **_: P.kwargs) -> R:
        """Run it, compiled for what these vehicles need."""
        needs = _needs(*arguments)
        if needs not in self._made:
            self._made[needs] = Routine(rebound(self.plain, _others(*needs)), self.parallel)
        return self._made[needs](*arguments, **_)


def _needs(first: Any, *others: Any) -> tuple[bool, bool, bool]:
    """Whether wind blows, any vehicle goes backwards, and there are zones."""
    if isinstance(first, Mover):
        return first.wind_x != 0.0 or first.wind_y != 0.0, first.reverse > 0.5, len(others[1].bounds) > 0
    movers = first.movers
    return bool(movers[:, WIND].any()), bool(movers[:, REVERSE].any()), len(first.bounds) > 0


def _others(wind: bool, reverse: bool, zones: bool) -> dict[Callable[..., Any], Callable[..., Any]]:
    """What takes the place of functions that these needs do without."""
    others: dict[Callable[..., Any], Callable[..., Any]] = {}
    if not wind:
        others[level_way] = windless_way if reverse else forward_way
    if not reverse:
        others[windless_way] = forward_way
    if not zones:
        others[detour] = no_detour
    return others


def tour_routine(function: Callable[P, R]) -> TourRoutine[P, R]:
    """Have a function run compiled, on the calling thread."""
    return TourRoutine(function, False)


def parallel_tour_routine(function: Callable[P, R]) -> TourRoutine[P, R]:
    """Have a function run compiled, its `parallel_range` shared by all threads."""
    return TourRoutine(function, True)
