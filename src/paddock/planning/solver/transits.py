"""Paths between tasks: around zones, in wind, with climbs, forwards or backwards."""

from math import ceil, floor, pi
from typing import Any

from paddock.compute.math import hypot, sincos
from paddock.planning.geometry.dubins import along, dubins, raised, tilted
from paddock.planning.geometry.path import Path, Pose, Segment, carried
from paddock.planning.geometry.reeds_shepp import reeds_shepp
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.wind import course_of, dubins_in_wind, over_ground
from paddock.planning.geometry.zone_map import ZoneMap, on_border, waiting_pose, way_in, way_out
from paddock.planning.geometry.zones import Clearance, Zone, blocked_by, inside
from paddock.planning.solver.problem import Problem, Vehicle

Goal = tuple[float, float, float, float | None]  # x, y, z in m and heading in rad; None: any
Start = tuple[float, float, float]
End = tuple[float, float, float | None]
SAME_HEIGHT = 1e-9  # m
ROOM = 0.01  # m: tolerance of the part of a path on which it changes height
MOST_TURNS = 10_000  # of a climb
NARROW = 2.0  # m: radius of the climb spiral of a vehicle that can turn on the spot


class Transits:
    """Finds feasible paths for the vehicles of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.zones = problem.zones
        self.clearance = problem.clearance
        self.wind = problem.wind
        self._paths: dict[tuple[Any, ...], Path | InfeasibleError] = {}  # around zones, shared by all routes
        self._maps: dict[tuple[Any, ...], ZoneMap] = {}

    def path(self, vehicle: Vehicle, start: Pose, goal: Goal) -> Path:
        """Return the path from a pose to another; raise InfeasibleError with the reason if there is none."""
        if not self.zones:
            return self._path(vehicle, start, goal)
        own = (vehicle.radius, vehicle.speed, vehicle.slope, vehicle.moves, vehicle.reverse, vehicle.tightest)
        key = (*own, start, goal)
        if key not in self._paths:
            try:
                self._paths[key] = self._path(vehicle, start, goal)
            except InfeasibleError as error:
                self._paths[key] = error
        path = self._paths[key]
        if isinstance(path, InfeasibleError):
            raise path
        return path

    def _path(self, vehicle: Vehicle, start: Pose, goal: Goal) -> Path:
        begin, end = (start[0], start[1], start[3]), (goal[0], goal[1], goal[3])
        if abs(start[2] - goal[2]) < SAME_HEIGHT:
            return tilted(self._level(vehicle, begin, end, between(self.zones, start[2], goal[2])), start[2], start[2])
        passed = between(self.zones, start[2], goal[2])
        for here, z in ((goal, goal[2]), (start, start[2])):  # under or over a zone: it is entered at that height
            if any(zone.contains(here[0], here[1]) and not zone.reaches(z, z) for zone in passed):
                level = self._level(vehicle, begin, end, between(self.zones, z, z))
                return self._stepped(level, vehicle, start, goal, first=here is goal)
        level = self._level(vehicle, begin, end, passed)
        turn, climb = self.circle(vehicle, start), abs(start[2] - goal[2])
        if climb > MOST_TURNS * along(turn) * vehicle.slope:
            raise InfeasibleError(f"a change of height by {climb:g} m takes more than {MOST_TURNS:,} turns")
        return raised(level, start[2], goal[2], vehicle.slope, turn)

    def _level(self, vehicle: Vehicle, begin: Start, end: End, zones: tuple[Zone, ...]) -> Path:
        """Return the path on one level, around zones."""
        level = self._direct(vehicle, begin, end)
        if zones and blocked_by(level, zones, self.clearances(zones, begin, end)) is not None:
            level = self._detour(begin, end, vehicle, zones)
            if self._windy(vehicle):
                level = over_ground(level, vehicle.speed, self.wind)  # held over the ground, like zones
        return level

    def _stepped(self, level: Path, vehicle: Vehicle, start: Pose, goal: Goal, first: bool) -> Path:
        """Return a level path that changes height outside of all zones between: `first`, or else at its end."""
        low, high, (x, y, _, heading) = start[2], goal[2], start
        passed, (room, part) = between(self.zones, low, high), self._room(level, start, goal, first)
        turns: tuple[Segment, ...] = ()
        excess = abs(high - low) / vehicle.slope - along(part)
        if excess > 0.0 or not part.segments:
            if not first:
                x, y, heading = goal[0], goal[1], course_at_end(level) if goal[3] is None else goal[3]
            both = [self.circle(vehicle, (x, y, 0.0, heading), left) for left in (True, False)]
            free = [turn for turn in both if blocked_by(turn, passed) is None]
            if not free:
                zone = blocked_by(both[0], passed)
                why = f"leaves no room to change height from {low:g} to {high:g} m beside it"
                raise InfeasibleError(f"the no-fly zone {zone.name if zone else ''!r} {why}")
            turns = free[0].segments * max(1, ceil(excess / along(free[0]) - 1e-9))
        if first:
            rest = level.subpath(room, level.flown)
            return tilted(Path((*turns, *part.segments), level.start), low, high) + tilted(rest, high, high)
        rest = level.subpath(0.0, level.flown - room)
        return tilted(rest, low, low) + tilted(Path((*part.segments, *turns), part.start), low, high)

    def _room(self, level: Path, start: Pose, goal: Goal, first: bool) -> tuple[float, Path]:
        """Return the metres of a level path on which it can change height, and that part of it."""
        passed = between(self.zones, start[2], goal[2])
        room = clear_part(level, passed, self.clearances(passed, start if first else goal), first)
        return room, level.subpath(0.0, room) if first else level.subpath(level.flown - room, level.flown)

    def over(self, path: Path, vehicle: Vehicle, z: float | None = None) -> Path:
        """Return a path as the vehicle flies it in this wind, at a height; raise in or near a zone."""
        zones = self.zones if z is None else between(self.zones, z, z)
        zone = blocked_by(path, zones)
        if zone is not None:
            raise InfeasibleError(f"it leads through the no-fly zone {zone.name!r}")
        zone = blocked_by(path, zones, self.clearances(zones, path.start)) if self.clearance else None
        if zone is not None:
            raise InfeasibleError(f"it comes nearer than {self.clearance:g} m to the no-fly zone {zone.name!r}")
        if self._windy(vehicle) and not any(carried(s) or s.pace != 1.0 for s in path.segments):
            return over_ground(path, vehicle.speed, self.wind)
        return path

    def way_out(self, vehicle: Vehicle) -> Path:
        """Return the shortest way out of the zones that a vehicle is in; without segments where it is in none."""
        x, y, z, heading = vehicle.pose
        zones = between(self.zones, z, z)
        if not zones or inside(x, y, zones) is None:
            return Path((), (x, y, 0.0, heading))
        try:
            out = way_out((x, y, heading), self.held_radius(vehicle), zones)
        except InfeasibleError:  # it is enclosed: no way begins inside
            return Path((), (x, y, 0.0, heading))
        return over_ground(out, vehicle.speed, self.wind) if self._windy(vehicle) else out

    def waiting_home(self, vehicle: Vehicle) -> Pose:
        """Return where an aircraft waits in circles whose home lies in a zone, outside; otherwise its home."""
        x, y, z, _ = vehicle.home
        zones = between(self.zones, z, z)
        if vehicle.moves != "aircraft" or vehicle.radius <= 0.0 or not zones or inside(x, y, zones) is None:
            return vehicle.home
        try:
            x, y, heading = waiting_pose(x, y, self.held_radius(vehicle), self.clearance, zones)
        except InfeasibleError:  # there is no place outside
            return vehicle.home
        return x, y, z, heading

    def roomy(self, vehicle: Vehicle, at: Pose) -> bool:
        """Return whether a full turn from a pose, to one side at least, is clear of zones."""
        (x, y, z, heading), radius = at, self.held_radius(vehicle)
        zones, (s, c) = between(self.zones, z, z), sincos(heading)
        centres = ((x - radius * s, y + radius * c), (x + radius * s, y - radius * c))
        return any(all(zone.distance(*centre) >= radius for zone in zones) for centre in centres)

    def charts(self, vehicle: Vehicle, zones: tuple[Zone, ...]) -> list[ZoneMap]:
        """Return the maps for ways of a vehicle around zones: with the clearance, then without."""
        wide = [self.clearance] if self.clearance > 0.0 else []
        return [self._map(vehicle, zones, clearance) for clearance in (*wide, 0.0)]

    def drift(self, vehicle: Vehicle) -> tuple[float, float]:
        """Return the wind that carries a vehicle, east and north over its airspeed."""
        return (self.wind[0] / vehicle.speed, self.wind[1] / vehicle.speed) if self._windy(vehicle) else (0.0, 0.0)

    def circle(self, vehicle: Vehicle, at: Pose, left: bool = True) -> Path:
        """Return the waiting circle of an aircraft: one turn held over the ground, back to the same pose."""
        x, y, z, heading = at
        radius = self.held_radius(vehicle) or NARROW
        turn = Path([Segment(x, y, z, heading, 2.0 * pi * radius, (1.0 if left else -1.0) / radius)])
        return over_ground(turn, vehicle.speed, self.wind) if self._windy(vehicle) else turn

    def held_radius(self, vehicle: Vehicle) -> float:
        """Return the turn radius (m) over the ground that a vehicle can hold at its highest ground speed."""
        if not self._windy(vehicle):
            return vehicle.radius
        tightest = vehicle.radius if vehicle.tightest is None else vehicle.tightest
        return max(vehicle.radius, tightest * (1.0 + hypot(*self.wind) / vehicle.speed) ** 2)

    def _detour(self, begin: Start, end: End, vehicle: Vehicle, zones: tuple[Zone, ...]) -> Path:
        """Return a way around zones. One that begins or ends inside, at a home, crosses their borders nearby."""
        radius, first, last = self.held_radius(vehicle), Path(), Path()
        if inside(begin[0], begin[1], zones) is not None:
            first = way_out(begin, radius, zones)
            begin = first.end[0], first.end[1], first.end[3]
        if inside(end[0], end[1], zones) is not None:
            last = way_in(end, radius, zones)
            straight = dubins(begin if not first.segments else first.start[:2] + first.start[3:], end, radius)
            if first.segments and straight.length <= first.length + last.length:
                return straight
            end = last.start[0], last.start[1], last.start[3]
        return first + self._outside(begin, end, vehicle, zones) + last

    def _outside(self, begin: Start, end: End, vehicle: Vehicle, zones: tuple[Zone, ...]) -> Path:
        """Return a path from outside: with the clearance where there is room, otherwise without."""
        clearances = self.clearances(zones, begin, end)
        if isinstance(clearances, tuple) or clearances > 0.0:
            try:
                return self._map(vehicle, zones, clearances).transit(begin, end)
            except InfeasibleError:
                pass  # between zones, or too near to one, there may still be a path
        try:
            return self._map(vehicle, zones, 0.0).transit(begin, end)
        except InfeasibleError:
            for zone in zones:
                if on_border(zone, begin[0], begin[1]) or on_border(zone, end[0], end[1]):
                    raise InfeasibleError(f"it lies on the border of the no-fly zone {zone.name!r}") from None
            raise

    def clearances(self, zones: tuple[Zone, ...], *ends: tuple[float | None, ...]) -> Clearance:
        """Return the clearance of zones for a path with these ends: about half the distance if an end is nearer."""
        wide = self.clearance
        if wide <= 0.0 or not zones:
            return 0.0
        room = [min(zone.distance(float(x or 0.0), float(y or 0.0)) for x, y, *_ in ends) for zone in zones]
        if min(room) > wide:
            return wide
        return tuple(wide if way > wide else 0.25 * wide * max(floor(2.0 * way / wide), 0.0) for way in room)

    def _direct(self, vehicle: Vehicle, begin: Start, end: End) -> Path:
        if self._windy(vehicle):
            return dubins_in_wind(begin, end, vehicle.radius, vehicle.speed, self.wind)
        if vehicle.reverse and end[2] is not None:
            return reeds_shepp(begin, (end[0], end[1], end[2]), vehicle.radius)
        return dubins(begin, end, vehicle.radius)

    def _windy(self, vehicle: Vehicle) -> bool:
        return vehicle.moves != "ground" and self.wind != (0.0, 0.0)

    def _map(self, vehicle: Vehicle, zones: tuple[Zone, ...], clearance: Clearance) -> ZoneMap:
        key = self.held_radius(vehicle), zones, clearance, self.drift(vehicle)
        if key not in self._maps:
            self._maps[key] = ZoneMap(zones, key[0], clearance, key[3])
        return self._maps[key]


def clear_part(path: Path, zones: tuple[Zone, ...], clearance: Clearance, first: bool) -> float:
    """Return the metres flown from the start of a path, or up to its end, that are clear of zones."""

    def part(room: float) -> Path:
        return path.subpath(0.0, room) if first else path.subpath(path.flown - room, path.flown)

    low, high = 0.0, path.flown
    while high - low > ROOM:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if blocked_by(part(middle), zones, clearance) is None else (low, middle)
    return low


def course_at_end(path: Path) -> float:
    """Return the course over the ground (rad) at the end of a path."""
    heading = path.end[3]
    if not path.segments or not carried(path.segments[-1]):
        return heading
    return course_of(heading, path.segments[-1].drift_x, path.segments[-1].drift_y)


def between(zones: tuple[Zone, ...], low: float, high: float) -> tuple[Zone, ...]:
    """Return the zones that reach into a range of heights (m), or all where none has a limit."""
    reaching = tuple(zone for zone in zones if zone.reaches(min(low, high), max(low, high)))
    return zones if len(reaching) == len(zones) else reaching
