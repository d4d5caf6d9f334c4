"""EKF-SLAM: pose and cones in one Gaussian, updated with all detections of a frame at once.

The state is x, y, yaw of the car and x, y of each cone at the time of the last frame. A frame that arrives late is
therefore no special case: the filter moves by odometry to the frame's sample time, and `pose` adds the way since.
"""

import numpy as np
from association import Ints, Tally, expected_view, match
from line import Floats
from numpy.typing import NDArray
from odometry import Odometry, composed, composed_jacobians, rotation, seen_from

DOUBT = 4.0  # an EKF underestimates its errors over a lap: gates are twice as wide as it says


class EkfSlam:
    """A map of cones and the pose in it.

    `cones` (n, 2), `colours` and `confirmed` (n,) describe the map; `state` and `covariance` are the whole filter.
    """

    def __init__(self, odometry: Odometry, pose: tuple[float, float, float], time: float = 0.0) -> None:
        self.odometry, self.time = odometry, time
        self.state = np.array(pose, dtype=float)
        self.covariance = np.diag([1e-6, 1e-6, 1e-8])
        self.tally = Tally()
        self.late = 0  # frames older than the filter, which it ignored

    @property
    def cones(self) -> Floats:
        """Return the positions of all cones, m."""
        return self.state[3:].reshape(-1, 2)

    @property
    def colours(self) -> Ints:
        """Return the colours of all cones."""
        return self.tally.colours

    @property
    def confirmed(self) -> NDArray[np.bool_]:
        """Return which cones were seen often enough."""
        return self.tally.confirmed

    def know(self, cones: Floats, colours: Ints, sigma: float = 0.05) -> None:
        """Add a known map: positions with a standard deviation (m)."""
        size, after = len(self.state), len(self.state) + 2 * len(cones)
        self.state = np.append(self.state, cones)
        wider = np.eye(after) * sigma**2
        wider[:size, :size] = self.covariance
        self.covariance = wider
        self.tally.add(colours, hits=5)

    def pose(self, time: float) -> Floats:
        """Return x, y, yaw at a time since the last frame: the estimate then, moved by odometry."""
        if time <= self.time:
            return self.state[:3].copy()
        return composed(self.state[:3], self.odometry.travel(self.time, time).step)

    def frame(self, time: float, detected: Floats, noise: Floats, colours: Ints) -> None:
        """Take a frame sampled at `time`: detections (m, 2) in the car's axes, covariances (m, 2, 2), colours (m,)."""
        if time < self.time:
            self.late += 1
            return
        self._move(time)
        expected, spread = expected_view(self.state[:3], self.cones, self.covariance)
        matches = match(expected, DOUBT * spread, detected, noise, self.colours, colours)
        self.tally.see(matches.cone, colours[matches.detection], expected)
        if len(matches.cone):
            self._update(matches.cone, detected[matches.detection] - expected[matches.cone], noise[matches.detection])
        self._add(detected[matches.new], noise[matches.new], colours[matches.new])
        false = self.tally.false()
        if false.any():
            self._forget(false)

    def _move(self, time: float) -> None:
        """Move to a time by odometry. Only rows and columns of the pose change."""
        travel = self.odometry.travel(self.time, time)
        by_pose, by_step = composed_jacobians(self.state[:3], travel.step)
        self.state[:3] = composed(self.state[:3], travel.step)
        p = self.covariance
        p[:3, 3:] = by_pose @ p[:3, 3:]
        p[3:, :3] = p[:3, 3:].T
        p[:3, :3] = by_pose @ p[:3, :3] @ by_pose.T + by_step @ travel.covariance @ by_step.T
        self.time = time

    def _update(self, which: Ints, surprise: Floats, noise: Floats) -> None:
        """Correct the state by the differences (m, 2) of detections and expectations."""
        turn, p, count = rotation(self.state[2]), self.covariance, len(which)
        _, slope = seen_from(self.state[:3], self.cones[which])
        at = 3 + 2 * which[:, None] + np.arange(2)
        # P H^T: each detection depends on the pose and on its own cone only
        lever = (p[:, :3] @ slope.reshape(-1, 3).T).reshape(-1, count, 2) + p[:, at] @ turn
        lever = lever.reshape(-1, 2 * count)
        inner = slope.reshape(-1, 3) @ lever[:3] + (turn.T @ lever[at]).reshape(2 * count, 2 * count)
        for k in range(2):
            for j in range(2):
                inner[k::2, j::2][np.diag_indices(count)] += noise[:, k, j]
        gain = np.linalg.solve(inner, lever.T).T
        self.state += gain @ surprise.reshape(-1)
        p -= gain @ lever.T
        self.covariance = 0.5 * (p + p.T)

    def _add(self, detected: Floats, noise: Floats, colours: Ints) -> None:
        """Add new cones where the detections are."""
        if len(detected) == 0:
            return
        size, turn = len(self.state), rotation(self.state[2])
        places = self.state[:2] + detected @ turn.T
        by_pose = np.zeros((len(detected), 2, 3))
        by_pose[:, :, :2] = np.eye(2)
        by_pose[:, :, 2] = np.column_stack([-detected[:, 1], detected[:, 0]]) @ turn.T
        slope = by_pose.reshape(-1, 3)
        p = np.zeros((size + len(slope), size + len(slope)))
        p[:size, :size] = self.covariance
        p[size:, :size] = slope @ self.covariance[:3]
        p[:size, size:] = p[size:, :size].T
        p[size:, size:] = slope @ self.covariance[:3, :3] @ slope.T
        for k, own in enumerate(turn @ noise @ turn.T):
            p[size + 2 * k : size + 2 * k + 2, size + 2 * k : size + 2 * k + 2] += own
        self.state, self.covariance = np.append(self.state, places), p
        self.tally.add(colours)

    def _forget(self, which: NDArray[np.bool_]) -> None:
        """Remove cones."""
        rows = np.append(np.ones(3, dtype=bool), np.repeat(~which, 2))
        self.state, self.covariance = self.state[rows], self.covariance[np.ix_(rows, rows)]
        self.tally.keep(~which)
