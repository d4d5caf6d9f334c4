"""The path travelled since arming, on which SMARTRTL of rovers and SMART_RTL of copters return.

A new point follows when the vehicle is SRTL_ACCURACY m away from the last one. Where the path comes back to an earlier
part, the loop in between is removed (pruning). When SRTL_POINTS are exceeded, points that a straight line replaces
within half of SRTL_ACCURACY are dropped (simplification). Points are m in the local frame: north, east and for aircraft
down.
"""

from dataclasses import dataclass, field
from math import dist, isfinite
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from paddock.autopilot.telemetry import Severity
from paddock.autopilot.vehicle_data import Floats

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

Position = TypeVar("Position", bound=tuple[float, ...])  # m north, east (, down)
COMPARED_SHARES = (1.0 / 3.0, 2.0 / 3.0, 1.0)  # points of a new stretch that are compared with the path before it
ACCURACY_MIN = 0.1  # m


@dataclass
class ReturnPath(Generic[Position]):
    """A recorded path; at most `most` points, each at least `accuracy` m from the last."""

    most: int = 0
    accuracy: float = 1.0
    points: list[Position] = field(default_factory=list)
    full: bool = True  # a point was dropped: the path is incomplete
    recording: bool = False  # since arming

    def check_saved(self) -> bool:
        """Return whether the points of a restored path are all horizontal or all in space."""
        sizes = {len(point) for point in self.points}
        finite = all(isfinite(value) for point in self.points for value in point)
        return (sizes <= {2} or sizes <= {3}) and finite and len(self.points) <= max(self.most, 0) + 1

    @property
    def usable(self) -> bool:
        """Whether the path leads back to where the vehicle was armed."""
        return bool(self.points) and not self.full

    def record(self, autopilot: "BuiltInAutopilot", position: Position) -> None:
        """Add the position of an armed vehicle; arming starts a new path."""
        if not autopilot.armed or not autopilot.estimate.position_ok:
            self.recording = self.recording and autopilot.armed
            return
        if not self.recording:
            value = autopilot.parameters.value
            self.begin(int(value("SRTL_POINTS")), value("SRTL_ACCURACY"), position)
        was_full = self.full
        self.add(position)
        if self.full and not was_full:
            autopilot.send_text(Severity.WARNING, f"SmartRTL deactivated: path has more than {self.most} points")

    def begin(self, most: int, accuracy: float, start: Position) -> None:
        """Start a new path."""
        self.most, self.accuracy, self.recording = most, max(accuracy, ACCURACY_MIN), True
        self.points, self.full = ([start] if most > 0 else []), most <= 0

    def add(self, position: Position) -> None:
        """Add a position, if it is `accuracy` m away from the last."""
        if self.full or not self.points or dist(self.points[-1], position) < self.accuracy:
            return
        if len(self.points) > 2:
            self._remove_loop(position)
        self.points.append(position)
        if len(self.points) > self.most:
            self.points = simplified(self.points, 0.5 * self.accuracy)
            self.full = len(self.points) > self.most

    def _remove_loop(self, position: Position) -> None:
        """Remove the loop where the stretch to a position comes back to an earlier part of the path."""
        path = np.array(self.points)
        starts, ways = path[:-2], path[1:-1] - path[:-2]
        for share in COMPARED_SHARES:
            distances_to_path = distances(path[-1] + share * (np.array(position) - path[-1]), starts, ways)
            near = np.flatnonzero(distances_to_path < 0.5 * self.accuracy)
            if len(near):
                del self.points[near[0] + 1 :]
                return

    def return_points(self, position: Position) -> list[Position]:
        """Return the points to pass, from a position to the start."""
        return simplified([*self.points, position], 0.5 * self.accuracy)[-2::-1]


def distances(points: Floats, starts: Floats, ways: Floats) -> Floats:
    """Return the distances (n,) of points from straight stretches, given by their starts and the ways to their ends.

    Each argument is (n, d), or (d,) where it is the same for all.
    """
    lengths = np.maximum((ways * ways).sum(axis=-1), 1e-12)
    shares = np.clip(((points - starts) * ways).sum(axis=-1) / lengths, 0.0, 1.0)
    offsets = points - starts - np.asarray(shares)[..., None] * ways
    return np.asarray(np.sqrt((offsets * offsets).sum(axis=-1)), dtype=np.float64)


def simplified(points: list[Position], tolerance: float) -> list[Position]:
    """Simplify a path to within `tolerance` m (Douglas-Peucker); the ends are kept."""
    path, kept = np.array(points), {0, len(points) - 1}
    open_parts = [(0, len(points) - 1)]
    while open_parts:
        first, last = open_parts.pop()
        if last - first < 2:
            continue
        offsets = distances(path[first + 1 : last], path[first], path[last] - path[first])
        worst = int(offsets.argmax())
        if offsets[worst] > tolerance:
            middle = first + 1 + worst
            kept.add(middle)
            open_parts += [(first, middle), (middle, last)]
    return [points[k] for k in sorted(kept)]
