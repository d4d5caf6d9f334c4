"""Flying round a place: to the nearest point of the circle, then round it with the nose to its centre."""

from __future__ import annotations

from math import atan2, copysign, cos, hypot, nan, pi, sin, sqrt

from paddock.sitl.autopilot.control.copter_track import towards
from paddock.sitl.autopilot.modes.copter.flying import CopterMode, bearing

ON_CIRCLE = 0.5  # m
SLOW = 0.5  # m/s
SPIN_UP = 0.5  # share of the horizontal acceleration that speeding up may take


class Orbit:
    """A circle round (north, east) at a height, with its rate in rad/s (+ clockwise), for the mode that flies it."""

    def __init__(self, mode: CopterMode, centre: tuple[float, float, float], radius: float, rate: float) -> None:
        self.mode, self.radius = mode, max(radius, 0.0)
        self.north, self.east, self.down = centre
        self.turned = 0.0  # rad gone round so far
        self._wanted, self._rate = rate, 0.0
        self._angle = nan  # of the copter as seen from the centre, once on the circle

    def update(self, dt: float) -> None:
        """Move the setpoint."""
        mode, track = self.mode, self.mode.craft.track
        if self.radius < 0.1:
            self._turn_in_place(dt)
        elif self._angle != self._angle:
            self._approach(dt)
        else:
            self._go_round(dt)
        mode.seek_height(self.down, dt)
        if self.radius >= 0.1:
            inwards = bearing(self.north - track.north, self.east - track.east, mode.craft.heading.yaw)
            mode.turn_to(inwards, dt, self._rate)
        mode.report(self.north, self.east, self.down)
        mode.craft.follow()

    def shift(self, north: float, east: float, down: float) -> None:
        """The estimate has jumped by so much (m): round the same place of the world."""
        self.north, self.east, self.down = self.north + north, self.east + east, self.down + down

    def leave_circle(self) -> None:
        """The track is not on the circle any more: go there anew."""
        self._angle, self._rate = nan, 0.0

    def _turn_in_place(self, dt: float) -> None:
        self.mode.craft.track.seek(self.north, self.east, self.mode.level_limits(), dt)
        self.mode.craft.heading.spin(self._wanted, dt)
        self.turned += abs(self._wanted) * dt

    def _approach(self, dt: float) -> None:
        track = self.mode.craft.track
        dn, de = track.north - self.north, track.east - self.east
        if hypot(dn, de) < 0.1:  # from the centre, out over the tail
            yaw = self.mode.craft.heading.yaw + pi
            dn, de = cos(yaw), sin(yaw)
        scale = self.radius / hypot(dn, de)
        edge = self.north + dn * scale, self.east + de * scale
        track.seek(*edge, self.mode.level_limits(), dt)
        if track.distance(*edge) < ON_CIRCLE and track.speed < SLOW:
            self._angle = atan2(de, dn)

    def _go_round(self, dt: float) -> None:
        mode, track = self.mode, self.mode.craft.track
        level = mode.level_limits()
        fastest = min(sqrt(level.acceleration / self.radius), level.speed / self.radius)
        rate = copysign(min(abs(self._wanted), fastest), self._wanted)
        self._rate = towards(self._rate, rate, SPIN_UP * level.acceleration / self.radius * dt)
        self._angle += self._rate * dt
        self.turned += abs(self._rate) * dt
        c, s = cos(self._angle), sin(self._angle)
        speed, pull = self.radius * self._rate, self.radius * self._rate * self._rate
        # the few decimetres to the circle are closed as fast as the way round allows
        gap_north, gap_east = self.north + self.radius * c - track.north, self.east + self.radius * s - track.east
        near = min(1.0, 2.0 * dt)
        track.vn, track.ve, track.an, track.ae = -speed * s, speed * c, -pull * c, -pull * s
        track.north += track.vn * dt + (gap_north - track.vn * dt) * near
        track.east += track.ve * dt + (gap_east - track.ve * dt) * near
