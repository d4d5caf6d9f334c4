"""Graph-SLAM: each keyframe adds a pose to a least-squares problem (`pose_graph.py`) that moves all poses and cones.

A lap that closes corrects the whole map, and cones that were mapped twice before become one. The covariances of the
solution match detections to cones. Frames are placed at the time of their sample; `pose` adds the way since by
odometry. After more than a lap the map is complete: it stays, and further frames only find the pose in it, so that the
graph does not grow.
"""

import numpy as np
from association import Ints, Matches, Tally, expected_view, match
from line import Floats
from numpy.typing import NDArray
from odometry import Odometry, Travel, composed, composed_jacobians, rotation, seen_from
from pose_graph import Graph, solve
from scipy.spatial import cKDTree

KEYFRAME_WAY = 4.0  # m between keyframes
KEYFRAMES = 140  # from here on, the map stays when ten frames show no new cone
NEAR = 42.0  # m: cones this near the last keyframe can be matched; the sensor's range and the way to the next one
SAME = 0.5  # m: cones this near each other that no keyframe has seen together are one


class GraphSlam:
    """A map of cones and the pose in it; the same methods as `EkfSlam`."""

    def __init__(self, odometry: Odometry, pose: tuple[float, float, float], time: float = 0.0) -> None:
        self.odometry, self.time = odometry, time
        self.now = np.array(pose, dtype=float)  # pose at `time`
        self.poses = self.now[None].copy()
        self.base, self.base_time = self.now.copy(), time  # the pose that odometry starts from
        self.cones = np.zeros((0, 2))
        self.graph = Graph(
            self.now.copy(), np.diag([1e3, 1e3, 1e4]), np.zeros((0, 3)), np.zeros((0, 3, 3)),
            np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 2)), np.zeros((0, 2, 2)),
        )  # fmt: skip
        self.tally = Tally()
        self.late = self.settled = 0  # frames ignored; frames since the last new cone
        self.complete = False
        self.near = np.zeros(0, dtype=np.int64)  # cones in view of the base,
        self.joint = np.diag([1e-6, 1e-6, 1e-8])  # and the covariance of its pose and theirs

    @property
    def colours(self) -> Ints:
        """Return the colours of all cones."""
        return self.tally.colours

    @property
    def confirmed(self) -> NDArray[np.bool_]:
        """Return which cones were seen often enough."""
        return self.tally.confirmed

    def know(self, cones: Floats, colours: Ints, sigma: float = 0.05) -> None:
        """Add a known map: as if the first keyframe had seen it with that standard deviation (m)."""
        first = self.poses[0]
        self._see(0, np.arange(len(cones)) + len(self.cones), (cones - first[:2]) @ rotation(first[2]), sigma)
        self.cones = np.vstack([self.cones, cones])
        self.tally.add(colours, hits=5)
        self._optimise()

    def pose(self, time: float) -> Floats:
        """Return x, y, yaw at a time since the last frame: the estimate then, moved by odometry."""
        return composed(self.now, self.odometry.travel(self.time, time).step) if time > self.time else self.now.copy()

    def frame(self, time: float, detected: Floats, noise: Floats, colours: Ints) -> None:
        """Take a frame sampled at `time`: detections (m, 2) in the car's axes, covariances (m, 2, 2), colours (m,)."""
        if time < self.time:
            self.late += 1
            return
        travel = self.odometry.travel(self.base_time, time)
        guess = composed(self.base, travel.step)
        joint = self._moved(travel)
        expected, spread = expected_view(guess, self.cones[self.near], joint)
        matches = match(expected, spread, detected, noise, self.colours[self.near], colours)
        matches = Matches(matches.detection, self.near[matches.cone], matches.new)
        everywhere, _ = seen_from(guess, self.cones)
        self.tally.see(matches.cone, colours[matches.detection], everywhere)
        self.now, self.time = guess, time
        self.settled = 0 if len(matches.new) else self.settled + 1
        self.complete |= len(self.poses) >= KEYFRAMES and self.settled >= 10
        short = np.hypot(*travel.step[:2]) < KEYFRAME_WAY and len(self.poses) > 1
        if self.complete or (short and not self._sees_new(matches, detected)):
            after = self._localise(joint[:3, :3], matches, detected, noise)
            if self.complete:
                self._start_from(self.now, after)
            return
        if time > self.base_time:
            self._add_keyframe(travel, guess)
        self._add(matches, detected, noise, colours)
        self._forget(self.tally.false())
        self._optimise()
        self._join()
        self.now = self.base.copy()

    @staticmethod
    def _sees_new(matches: Matches, detected: Floats) -> bool:
        """Return whether new cones are close: the path ahead needs them before the next keyframe."""
        return bool((np.hypot(*detected[matches.new].T) < 10.0).any())

    def _moved(self, travel: Travel) -> Floats:
        """Return the joint covariance of pose and near cones after a way."""
        by_pose, by_step = composed_jacobians(self.base, travel.step)
        joint = self.joint.copy()
        joint[:3] = by_pose @ joint[:3]
        joint[:, :3] = joint[:, :3] @ by_pose.T
        joint[:3, :3] += by_step @ travel.covariance @ by_step.T
        return joint

    def _localise(self, covariance: Floats, matches: Matches, detected: Floats, noise: Floats) -> Floats:
        """Correct the pose by cones that stay where they are; return its covariance."""
        if len(matches.cone) == 0:
            return covariance
        seen, slope = seen_from(self.now, self.cones[matches.cone])
        weight = np.linalg.inv(noise[matches.detection] + 0.02**2 * np.eye(2))
        pull = (slope.transpose(0, 2, 1) @ weight @ (detected[matches.detection] - seen)[:, :, None]).sum(axis=0)[:, 0]
        information = (slope.transpose(0, 2, 1) @ weight @ slope).sum(axis=0) + np.linalg.inv(covariance)
        self.now = self.now + np.linalg.solve(information, pull)
        return np.asarray(np.linalg.inv(information))

    def _start_from(self, pose: Floats, covariance: Floats) -> None:
        """Continue from a pose in a map that stays: its cones are known to 3 cm."""
        self.base, self.base_time = pose.copy(), self.time
        self.near = np.flatnonzero(np.hypot(*(self.cones - pose[:2]).T) < NEAR)
        self.joint = np.eye(3 + 2 * len(self.near)) * 0.03**2
        self.joint[:3, :3] = covariance

    def _add_keyframe(self, travel: Travel, pose: Floats) -> None:
        g = self.graph
        root = np.linalg.cholesky(np.linalg.inv(travel.covariance)).T
        self.graph = g._replace(
            steps=np.vstack([g.steps, travel.step]), step_roots=np.concatenate([g.step_roots, root[None]])
        )
        self.poses = np.vstack([self.poses, pose])

    def _see(self, frame: int, cones: Ints, seen: Floats, noise: Floats | float) -> None:
        """Add detections of cones from a keyframe; `noise` is a covariance each, or one standard deviation."""
        if isinstance(noise, float):
            roots = np.broadcast_to(np.eye(2) / noise, (len(cones), 2, 2))
        else:
            roots = np.linalg.cholesky(np.linalg.inv(noise)).transpose(0, 2, 1)
        g = self.graph
        self.graph = g._replace(
            frame=np.append(g.frame, np.full(len(cones), frame)),
            cone=np.append(g.cone, cones),
            seen=np.vstack([g.seen, seen]),
            seen_roots=np.concatenate([g.seen_roots, roots]),
        )

    def _add(self, matches: Matches, detected: Floats, noise: Floats, colours: Ints) -> None:
        """Add the detections of the last keyframe, of known and of new cones."""
        last, pose = len(self.poses) - 1, self.poses[-1]
        self._see(last, matches.cone, detected[matches.detection], noise[matches.detection])
        fresh = len(self.cones) + np.arange(len(matches.new))
        self.cones = np.vstack([self.cones, pose[:2] + detected[matches.new] @ rotation(pose[2]).T])
        self.tally.add(colours[matches.new])
        self._see(last, fresh, detected[matches.new], noise[matches.new])

    def _forget(self, false: NDArray[np.bool_]) -> None:
        """Remove false cones, and those that no keyframe has seen any more."""
        keep = ~false & (np.bincount(self.graph.cone, minlength=len(self.cones)) > 0)
        if keep.all():
            return
        number, g = np.cumsum(keep) - 1, self.graph
        rows = keep[g.cone]
        self.graph = g._replace(
            frame=g.frame[rows], cone=number[g.cone[rows]], seen=g.seen[rows], seen_roots=g.seen_roots[rows]
        )
        self.cones = self.cones[keep]
        self.tally.keep(keep)

    def _join(self) -> None:
        """Make one of cones that lie at one place and that no keyframe saw together: the lap has closed since."""
        g, same = self.graph, np.arange(len(self.cones))
        for pair in sorted(cKDTree(self.cones).query_pairs(SAME)):
            weak, strong = sorted(pair, key=lambda cone: int(self.tally.hits[cone]))
            apart = not set(g.frame[g.cone == weak]) & set(g.frame[g.cone == strong])
            if apart and same[weak] == weak and same[strong] == strong:
                same[weak] = strong
                self.tally.join(weak, strong)
        if (same != np.arange(len(same))).any():
            self.graph = g._replace(cone=same[g.cone])
            self._forget(np.zeros(len(same), dtype=bool))
            self._optimise()

    def _optimise(self) -> None:
        """Solve the graph from the present estimate, and look up the covariances around the last keyframe."""
        self.poses, self.cones, factors = solve(self.graph, self.poses, self.cones, most=2)
        self.base, self.base_time = self.poses[-1].copy(), self.time
        self.near = np.flatnonzero(np.hypot(*(self.cones - self.base[:2]).T) < NEAR)
        self.joint = factors.covariance(len(self.poses) - 1, self.near)
