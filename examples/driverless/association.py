"""Which detection is which cone of the map? Gates by Mahalanobis distance, colours, and one cone per detection."""

from typing import NamedTuple

import numpy as np
from line import Floats
from numpy.typing import NDArray
from odometry import rotation, seen_from
from scipy.optimize import linear_sum_assignment

Ints = NDArray[np.int64]
UNKNOWN = 4  # colours: 0 blue, 1 yellow, 2 orange, 3 big orange, 4 unknown
GATE = 13.8  # squared Mahalanobis distance of 2 values that 99.9 % of the true pairs keep
NEW_GATE = 30.0  # a new cone lies beyond this from all others,
NEW_DISTANCE = 0.8  # and at least this far, m
UNCERTAIN = 0.1  # m2: cones whose variance is larger, as where a lap closes, are matched together
SUPPORT = 4  # pairs that the shift must explain
SHIFT_TOLERANCE = 0.6  # m: of cones that one shift of the map must explain
COLOUR_COST = 5.0  # of different colours, as a squared distance: detectors confuse them at times


class Matches(NamedTuple):
    """Detections of known cones (`detection[k]` is `cone[k]`), and detections of new ones."""

    detection: Ints
    cone: Ints
    new: Ints


def expected_view(pose: Floats, cones: Floats, joint: Floats) -> tuple[Floats, Floats]:
    """Return cones (n, 2) in the car's axes and their covariances (n, 2, 2), without a detection's noise.

    `joint` (3 + 2 n, 3 + 2 n) is the covariance of pose and cones.
    """
    seen, slope = seen_from(pose, cones)
    turn = rotation(pose[2])
    at = 3 + 2 * np.arange(len(cones))[:, None] + np.arange(2)  # (n, 2) rows of each cone
    cross = slope @ joint[:3][:, at].transpose(1, 0, 2) @ turn  # (n, 2, 2)
    own = turn.T @ joint[at[:, :, None], at[:, None, :]] @ turn
    return seen, slope @ joint[:3, :3] @ slope.transpose(0, 2, 1) + cross + cross.transpose(0, 2, 1) + own


def match(
    expected: Floats, spread: Floats, detected: Floats, noise: Floats, cone_colours: Ints, colours: Ints
) -> Matches:
    """Return the pairs with the least sum of distances.

    `expected` (n, 2) are the cones of the map as the car should see them, m in its axes, with covariances (n, 2, 2);
    `detected` (m, 2) what it sees, with covariances (m, 2, 2).
    """
    if len(expected) == 0:
        none = np.zeros(0, dtype=np.int64)
        return Matches(none, none, np.arange(len(detected)))
    apart = detected[:, None] - expected[None]  # (m, n, 2)
    total = noise[:, None] + spread[None]
    a, b, c = total[..., 0, 0], total[..., 0, 1], total[..., 1, 1]
    x, y = apart[..., 0], apart[..., 1]
    distance = (c * x * x - 2.0 * b * x * y + a * y * y) / (a * c - b * b)
    near = (distance < NEW_GATE) | (np.hypot(x, y) < NEW_DISTANCE)
    differ = cone_colours[None] != colours[:, None]
    differ &= (cone_colours[None] != UNKNOWN) & (colours[:, None] != UNKNOWN)
    cost = np.where(distance < GATE, distance + COLOUR_COST * differ, 1e3)
    unsure = np.trace(spread, axis1=1, axis2=2) > UNCERTAIN
    if unsure.any():
        free = (cost[:, ~unsure] >= 1e3).all(axis=1)
        cost[:, unsure] = np.where(_shifted_together(apart, cost, free, unsure), cost[:, unsure], 1e3)
    rows, columns = linear_sum_assignment(cost)
    good = cost[rows, columns] < 1e3
    return Matches(rows[good], columns[good], np.flatnonzero(~near.any(axis=1)))


def _shifted_together(
    apart: Floats, cost: Floats, free: NDArray[np.bool_], unsure: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which pairs (m, unsure cones) agree with the one shift of the car's estimate that explains most.

    Each pair alone may be a neighbour's: an error of the pose moves all cones of the map alike.
    """
    pairs, cost = apart[:, unsure], cost[:, unsure]
    possible = (cost < 1e3) & free[:, None]
    shifts = pairs[possible]
    if len(shifts) == 0:
        return possible
    explained = (np.hypot(*np.moveaxis(pairs[None] - shifts[:, None, None], 3, 0)) < SHIFT_TOLERANCE) & possible
    support = np.minimum(explained.any(axis=2).sum(axis=1), explained.any(axis=1).sum(axis=1))
    best = int(np.argmax(support - 0.2 * cost[possible]))
    return explained[best] & (support[best] >= SUPPORT)


class Tally:
    """What was seen of each cone of the map: votes for colours, detections, and frames in which it was missing."""

    def __init__(self) -> None:
        self.votes = np.zeros((0, UNKNOWN + 1))
        self.hits = np.zeros(0, dtype=np.int64)
        self.misses = np.zeros(0, dtype=np.int64)

    @property
    def colours(self) -> Ints:
        """Return the most frequent known colour of each cone."""
        known = self.votes[:, :UNKNOWN]
        return np.where(known.any(axis=1), known.argmax(axis=1), UNKNOWN)

    @property
    def confirmed(self) -> NDArray[np.bool_]:
        """Return whether each cone was seen three times, and more often than it was missing."""
        return (self.hits >= 3) & (self.hits > self.misses)

    def add(self, colours: Ints, hits: int = 1) -> None:
        """Append cones."""
        votes = np.zeros((len(colours), UNKNOWN + 1))
        votes[np.arange(len(colours)), colours] = hits
        self.votes = np.vstack([self.votes, votes])
        self.hits = np.append(self.hits, np.full(len(colours), hits))
        self.misses = np.append(self.misses, np.zeros(len(colours), dtype=np.int64))

    def see(self, cones: Ints, colours: Ints, expected: Floats) -> None:
        """Count a frame: cones that were detected, and those that should have been at `expected` (n, 2)."""
        self.hits[cones] += 1
        self.votes[cones, colours] += 1.0
        away, bearing = np.hypot(*expected.T), np.arctan2(expected[:, 1], expected[:, 0])
        visible = (away > 2.0) & (away < 12.0) & (np.abs(bearing) < 0.8)
        visible[cones] = False
        self.misses += visible

    def false(self) -> NDArray[np.bool_]:
        """Return which cones are likely false: missing more often than not."""
        return self.misses > self.hits + 2

    def join(self, one: int, other: int) -> None:
        """Count what was seen of one cone for another: they are the same."""
        self.votes[other] += self.votes[one]
        self.hits[other] += self.hits[one]

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Forget the others."""
        self.votes, self.hits, self.misses = self.votes[which], self.hits[which], self.misses[which]
