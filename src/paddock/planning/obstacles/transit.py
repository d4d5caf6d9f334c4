"""Ways around zones for vehicles with a turn radius: short, clear of all zones, never turning tighter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import inf, isfinite

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.coverage.shape import InfeasibleError
from paddock.planning.obstacles.bends import bends
from paddock.planning.obstacles.clear import blocked_by, inside, known_walls
from paddock.planning.obstacles.ends import Goal, Start, ends, lattice, touching
from paddock.planning.obstacles.links import Links, Web, web
from paddock.planning.obstacles.reasons import cramped, enclosing, place
from paddock.planning.obstacles.refine import shorten
from paddock.planning.obstacles.search import WayEnds, search
from paddock.planning.obstacles.walls import Clearance, each_of
from paddock.planning.obstacles.zone import Zone
from paddock.planning.paths.dubins import dubins
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import Segment
from paddock.world.columns import Floats

SUSPICIOUS = 1.02
"""A way that is longer than the direct path by this factor is compared with ways that turn twice at their ends."""


class ZoneMap:
    """Zones, a turn radius (m; 0: turns on the spot) and a clearance (m): what ways around them have in common."""

    def __init__(self, zones: Sequence[Zone], radius: float, clearance: Clearance = 0.0) -> None:
        if not (isfinite(radius) and radius >= 0.0):
            raise InvalidValueError(f"a turn radius must be a number of metres >= 0, not {radius}")
        for wide in each_of(clearance, (None,)):
            if not (isfinite(wide) and wide >= 0.0):
                raise InvalidValueError(f"a clearance must be a number of metres >= 0, not {wide}")
        self.zones = tuple(zones)
        self.radius = float(radius)
        self.clearance = clearance
        self.walls = known_walls(self.zones, self.clearance)

    def transit(self, start: Start, goal: Goal) -> Path:
        """A short path from a pose (x, y in m, heading in rad) to another (heading None: any), clear of all zones.

        Raises InfeasibleError with the reason where there is none.
        """
        _check(start, goal)
        self._check_free("start", start[0], start[1])
        self._check_free("goal", goal[0], goal[1])
        direct = dubins(start, goal, self.radius)
        zone = blocked_by(direct, self.zones, self.clearance)
        return direct if zone is None else self._around(start, goal, direct.length, zone)

    @cached_property
    def web(self) -> Web:
        """The circles on which ways around the zones turn, and the lines between them."""
        return web(self.walls, bends(self.zones, self.walls, self.radius, self.clearance))

    @cached_property
    def links(self) -> Links:
        """Those lines, in the order of a search."""
        return self.web.links()

    def _around(self, start: Start, goal: Goal, shortest: float, zone: Zone) -> Path:
        way = self._way(ends(start, goal, self.radius, False), self.web.bends, self.links)
        if way is None and (why := enclosing(self.zones, self.clearance, start, goal)):
            raise InfeasibleError(why)
        if self.radius > 0.0 and (way is None or way.length > SUSPICIOUS * shortest):
            way = self._with_more_bends(start, goal, way)
        if way is None:
            raise InfeasibleError(cramped(self.walls, self.zones, self.radius, start, goal, zone))
        return way

    def _with_more_bends(self, start: Start, goal: Goal, way: Path | None) -> Path | None:
        """Where a start or a goal has little room: also ways with two turns there; else, turns anywhere near."""
        at_ends, group = ends(start, goal, self.radius, True), len(self.web.bends)
        wider = self.web.widened(self.walls, touching(self.walls, at_ends, self.radius, group))
        other = self._way(at_ends, wider.bends, wider.links())
        if way is None and other is None:
            wider = wider.widened(self.walls, lattice(at_ends, start, self.radius, group + 3))
            other = self._way(at_ends, wider.bends, wider.links())
        return other if way is None or (other is not None and other.length < way.length) else way

    def _way(self, at: WayEnds, turns: Floats, between: Links) -> Path | None:
        length, chain = search(self.walls, turns, between, at)
        if length == inf:
            return None
        row = np.vstack([turns, at.starts, at.goals])[chain]
        arrival = at.arrivals[chain[-1] - len(turns) - len(at.starts)]
        table = shorten(self.walls, row, at, arrival)
        return Path(Segment(x, y, 0.0, h, way, bend) for x, y, h, way, bend in table.tolist())

    def _check_free(self, what: str, x: float, y: float) -> None:
        zone = inside(x, y, self.zones, self.clearance)
        if zone is not None:
            wide = each_of(self.clearance, self.zones)[self.zones.index(zone)]
            near = "inside" if zone.contains(x, y) else f"within the clearance of {wide:g} m of"
            raise InfeasibleError(f"the {what} {place(x, y)} lies {near} the zone {zone.name!r}")


def around(start: Start, goal: Goal, radius: float, zones: Sequence[Zone], clearance: float = 0.0) -> Path:
    """A short path from a pose (x, y in m, heading in rad) to another (heading None: any), clear of all zones.

    Raises InfeasibleError with the reason where there is none.
    """
    return _map(tuple(zones), float(radius), float(clearance)).transit(start, goal)


@lru_cache(maxsize=32)
def _map(zones: tuple[Zone, ...], radius: float, clearance: float) -> ZoneMap:
    return ZoneMap(zones, radius, clearance)


def _check(start: Start, goal: Goal) -> None:
    for what, pose in (("start", start), ("goal", goal)):
        if not all(isfinite(value) for value in pose if value is not None):
            raise InvalidValueError(f"the {what} must be numbers x, y (m) and a heading (rad), not {tuple(pose)}")
