"""The mode SMART_RTL of copters."""

from paddock.sitl.autopilot.control.copter_cruise import MAX_LAG
from paddock.sitl.autopilot.control.copter_path import CopterLegs
from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.modes.copter import ARRIVED_RADIUS, ARRIVED_SPEED, Descent
from paddock.sitl.autopilot.modes.copter_basic import CopterLand
from paddock.sitl.autopilot.telemetry import Landed, Severity

PRELAND = 2.0  # m above the place of arming, where the path ends and the landing begins
CUTTING = 0.5  # share of SRTL_ACCURACY by which corners of the path may be cut: they may lead around obstacles


class CopterSmartRtl(CopterLand):
    """Fly back along the path recorded since arming, without its detours, and land where the copter was armed."""

    name, number, needs_position, stage = "SMART_RTL", 21, True, Landed.IN_AIR
    path: list[Ned]
    landing: Descent | None
    legs: CopterLegs | None

    def refusal(self) -> str:
        """Require a complete path."""
        return "" if self.copter.trail.usable else "no return path"

    def enter(self) -> None:
        """Take the recorded path, which ends above the place of arming."""
        super().enter()
        way = self.copter.trail.way_back(self.autopilot.estimate.position)
        north, east, down = way[-1]
        self.path = [*way[:-1], (north, east, down - PRELAND)]
        self.landing = self.legs = None
        self.autopilot.send_text(Severity.INFO, f"SmartRTL: {len(way)} point{'s' * (len(way) != 1)}")

    def shift(self, north: float, east: float, down: float) -> None:
        """Replan from the track: the path stays on the map."""
        self.legs = None

    def update(self, dt: float) -> None:
        """Follow the path, then land or hold at RTL_ALT_FINAL."""
        if self.stays_down(wants_up=False):
            return
        if self.landing is not None:
            self.landing.update(dt)
            return
        track, limits = self.copter.track, self.limits()
        if self.legs is None:
            self.legs = CopterLegs(track)
            self.legs.go(self.path[0], limits)
        if len(self.path) > 1:
            self.legs.round_corner(self.path[1], CUTTING * self.value("SRTL_ACCURACY"), limits)
            if self.legs.ahead is not None or not self.legs.running:
                self.path.pop(0)
                self.legs.go(self.path[0], limits)
        lag = track.distance(self.autopilot.estimate.north, self.autopilot.estimate.east)
        self.legs.advance(dt * max(0.0, min(1.0, 2.0 - lag / MAX_LAG)), track)  # the track waits for a slower copter
        north, east, down = self.path[0]
        self.face(north, east, dt, self.value("WP_YAW_BEHAVIOR") in (1, 3))
        self.copter.follow()
        self.report(north, east, down)
        still = not self.legs.running and self.autopilot.estimate.distance((north, east)) < ARRIVED_RADIUS
        if len(self.path) == 1 and still and track.speed < ARRIVED_SPEED:
            self._arrive()

    def _arrive(self) -> None:
        """Land, or descend to RTL_ALT_FINAL and stay there."""
        north, east, down = self.path[0]
        final = self.autopilot.home_position.ned()[2] - self.value("RTL_ALT_FINAL") / 100.0
        if self.value("RTL_ALT_FINAL") == 0.0:
            self.landing = Descent(self, (north, east))
        elif abs(final - down) > ARRIVED_RADIUS:
            self.path, self.legs = [(north, east, final)], None
