"""The course of ISO 3888-2 (double lane change): its lanes, its cones, and a line through it."""

from dataclasses import dataclass

import numpy as np

from paddock.world.columns import Floats

SECTIONS = (12.0, 13.5, 11.0, 12.5, 12.0)  # m: entry lane, change, side lane, change, exit lane
APART = 1.0  # m between the left edge of the entry lane and the right edge of the side lane
ROW = 5  # cones on each side of a lane


@dataclass(frozen=True)
class Course:
    """The lanes for a car of one width; x = 0 is the entry, y = 0 the middle of the entry lane."""

    width: float  # m, of the car

    @property
    def lanes(self) -> tuple[tuple[float, float, float, float], ...]:
        """First and last x, right and left edge of the three lanes, m."""
        entry = 0.5 * (1.1 * self.width + 0.25)
        side, leave = self.width + 1.0, max(1.3 * self.width + 0.25, 3.0)
        ends = np.cumsum((0.0, *SECTIONS)).tolist()
        return (
            (ends[0], ends[1], -entry, entry),
            (ends[2], ends[3], entry + APART, entry + APART + side),
            (ends[4], ends[5], entry - leave, entry),
        )

    @property
    def cones(self) -> Floats:
        """The inner edges (k, 2) of the cones, m: along the right, then along the left edge of each lane."""
        return self.cone_middles(0.0)

    def cone_middles(self, radius: float) -> Floats:
        """Return the middles (k, 2) of cones of a radius (m) that stand at the edges, outside of the lanes."""
        return np.array(
            [
                (x, y + outwards * radius)
                for first, last, *edges in self.lanes
                for y, outwards in zip(edges, (-1.0, 1.0), strict=True)
                for x in np.linspace(first, last, ROW).tolist()
            ]
        )

    def line(self, x: Floats, early: Floats | float, cut: Floats | float) -> Floats:
        """Return the y of a line to drive: the middles of the lanes, joined smoothly.

        A change begins `early` (m) before the end of a lane; the side lane is cut short by `cut` (m).
        """
        (_, a, *one), (b, c, *two), (d, _, *three) = self.lanes
        middles = [0.5 * sum(edges) for edges in (one, two, three)]
        out = np.clip((x - (a - early)) / (b - a + early), 0.0, 1.0)
        back = np.clip((x - (c - early)) / (d - c + early), 0.0, 1.0)
        side, leave = middles[1] - cut, middles[2]
        return middles[0] + (side - middles[0]) * _smooth(out) + (leave - side) * _smooth(back)


def course_cones(width: float, radius: float) -> Floats:
    """Return the middles (k, 2) of the cones of the course for a car of a width, m."""
    return Course(width).cone_middles(radius)


def _smooth(share: Floats) -> Floats:
    """Return a rise from 0 to 1 without a step of curvature."""
    return np.asarray(share**3 * (10.0 + share * (6.0 * share - 15.0)))
