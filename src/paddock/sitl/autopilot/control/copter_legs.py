"""Straight legs with soft beginnings and ends, which overlap at corners.

Along a leg the speed follows smoothsteps: from rest to cruise, and from cruise to rest, in closed form. The next leg
may begin while this one still ends; the motions add up, which rounds the corner, and keeps the speed where the way goes
on straight. A copter that is already moving ends that motion as a leg of its own, while the new one begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cbrt, sqrt

from paddock.sitl.autopilot.control.copter_track import Limits, Track

Place = tuple[float, float, float]

CUT = 0.6  # share of the radius that a corner may be cut by
TOO_SHORT = 1e-3  # m


@dataclass(frozen=True)
class Range:
    """The limits of a leg in any direction."""

    level: Limits
    up: Limits
    down: Limits


def along(direction: Place, limits: Range) -> Limits:
    """What the limits leave in a direction (unit vector)."""
    level = sqrt(direction[0] ** 2 + direction[1] ** 2)
    vertical = limits.down if direction[2] > 0.0 else limits.up
    steep = abs(direction[2])
    pairs = [(level, limits.level), (steep, vertical)]
    used = [(share, limit) for share, limit in pairs if share > 1e-6] or [(1.0, limits.level)]
    return Limits(
        min(limit.speed / share for share, limit in used),
        min(limit.acceleration / share for share, limit in used),
        min(limit.jerk / share for share, limit in used),
    )


def smoothstep(share: float) -> tuple[float, float, float]:
    """Integral, value and slope of the smoothstep at a share (0 to 1) of its way."""
    square = share * share
    return square * share * (1.0 - 0.5 * share), square * (3.0 - 2.0 * share), 6.0 * share * (1.0 - share)


def change_time(speed: float, limits: Limits) -> float:
    """s that a change of speed takes within acceleration and jerk."""
    return max(1.5 * speed / limits.acceleration, sqrt(6.0 * speed / limits.jerk))


def cruise_speed(length: float, limits: Limits) -> float:
    """m/s: as fast as allowed, or as a short way leaves room for."""
    by_acceleration = sqrt(length * limits.acceleration / 1.5)
    by_jerk = cbrt(length * length * limits.jerk / 6.0)
    return min(limits.speed, by_acceleration, by_jerk)


class Leg:
    """A straight way from rest to rest, or (with `moving`) from a speed to rest."""

    def __init__(self, direction: Place, length: float, limits: Limits) -> None:
        self.direction, self.length = direction, length
        self.time = 0.0
        self.speed = cruise_speed(length, limits)
        self.change = change_time(self.speed, limits)
        self.cruise = (length - self.speed * self.change) / self.speed if self.speed > 0.0 else 0.0
        self.moving = False

    @classmethod
    def ending(cls, velocity: Place, limits: Range) -> Leg:
        """The way on which a motion comes to rest."""
        speed = sqrt(sum(v * v for v in velocity))
        direction = (velocity[0] / speed, velocity[1] / speed, velocity[2] / speed)
        within = along(direction, limits)
        change = change_time(speed, within)
        leg = cls(direction, 0.5 * speed * change, within)
        leg.speed, leg.change, leg.cruise, leg.moving = speed, change, 0.0, True
        return leg

    @property
    def over(self) -> bool:
        """Whether it has come to rest."""
        return self.time >= self.change * (1 if self.moving else 2) + self.cruise

    @property
    def left(self) -> float:
        """m to go."""
        return self.length - self.state()[0]

    @property
    def ends(self) -> bool:
        """Whether it is slowing down for its end."""
        return self.moving or self.time >= self.change + self.cruise

    def state(self) -> tuple[float, float, float]:
        """Way (m), speed and acceleration now."""
        if self.change <= 0.0 or self.over:
            return self.length, 0.0, 0.0
        time = self.time + (self.change if self.moving else 0.0)
        if time < self.change:
            way, speed, slope = smoothstep(time / self.change)
            return self.speed * self.change * way, self.speed * speed, self.speed * slope / self.change
        if time < self.change + self.cruise:
            return self.speed * (0.5 * self.change + time - self.change), self.speed, 0.0
        way, speed, slope = smoothstep(max(2.0 - (time - self.cruise) / self.change, 0.0))
        return self.length - self.speed * self.change * way, self.speed * speed, -self.speed * slope / self.change


class Legs:
    """The way through waypoints: legs that run, the newest last, added to where the first began."""

    def __init__(self, track: Track) -> None:
        self.origin: Place = (track.north, track.east, track.down)
        self.velocity: Place = (track.vn, track.ve, track.vd)
        self.running: list[Leg] = []
        self.end: Place = self.origin  # where everything that runs comes to rest
        self.ahead: Place | None = None  # the waypoint whose leg has begun before this one's end

    def go(self, target: Place, limits: Range) -> None:
        """To a waypoint, from wherever the motion would end; nothing if that leg has already begun."""
        if self.ahead == target:
            self.ahead = None
            return
        if self.ahead is not None:  # the plan has changed behind a corner that is being rounded: end this, begin anew
            self.origin, self.velocity = self._now()
            self.running, self.end, self.ahead = [], self.origin, None
        if not self.running and sum(v * v for v in self.velocity) > 1e-4:
            self._add(Leg.ending(self.velocity, limits))
        self.velocity = (0.0, 0.0, 0.0)
        self._begin(target, limits)

    def round_corner(self, after: Place, radius: float, limits: Range) -> None:
        """Begin the next leg as soon as the corner is cut by no more than allowed."""
        if self.ahead is not None or not self.running:
            return
        leg = self.running[-1]
        way = _between(self.end, after)
        turn = sqrt(sum((a - b) ** 2 for a, b in zip(way[0], leg.direction, strict=True)))
        if leg.ends and leg.left * turn <= 4.0 * CUT * radius:
            self._begin(after, limits)
            self.ahead = after

    def advance(self, dt: float, track: Track) -> None:
        """Go on for dt s and move the track there."""
        for leg in self.running:
            leg.time += dt
        self._retire()
        (track.north, track.east, track.down), (track.vn, track.ve, track.vd) = self._now()
        accelerations = [(leg.direction, leg.state()[2]) for leg in self.running]
        track.an, track.ae, track.ad = (sum(d[k] * a for d, a in accelerations) for k in range(3))

    @property
    def arrived(self) -> bool:
        """Whether the motion has come to rest."""
        return not self.running

    def _begin(self, target: Place, limits: Range) -> None:
        direction, length = _between(self.end, target)
        if length > TOO_SHORT:
            self._add(Leg(direction, length, along(direction, limits)))

    def _add(self, leg: Leg) -> None:
        self.running.append(leg)
        self.end = _moved(self.end, leg.direction, leg.length)

    def _retire(self) -> None:
        while self.running and self.running[0].over:
            leg = self.running.pop(0)
            self.origin = _moved(self.origin, leg.direction, leg.length)

    def _now(self) -> tuple[Place, Place]:
        place, velocity = self.origin, (0.0, 0.0, 0.0)
        for leg in self.running:
            way, speed, _ = leg.state()
            place, velocity = _moved(place, leg.direction, way), _moved(velocity, leg.direction, speed)
        return place, velocity


def _moved(place: Place, direction: Place, way: float) -> Place:
    return (place[0] + direction[0] * way, place[1] + direction[1] * way, place[2] + direction[2] * way)


def _between(start: Place, end: Place) -> tuple[Place, float]:
    """Direction and length of a way."""
    dn, de, dd = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    length = sqrt(dn * dn + de * de + dd * dd)
    scale = 1.0 / max(length, 1e-12)
    return (dn * scale, de * scale, dd * scale), length
