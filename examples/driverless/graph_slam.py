"""Graph-SLAM: keyframes and cones as unknowns, odometry and detections as measurements, solved as sparse least squares.

Each keyframe adds a pose; Levenberg-Marquardt on the sparse normal equations moves all of them, so that a lap that
closes corrects the whole map. The same factorisation gives the covariances by which detections are matched to cones.
Frames are placed at the time of their sample; `pose` adds the way since by odometry. After more than a lap the map is
complete: it stays, and further frames only find the pose in it, so that the graph does not grow.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from association import Ints, Matches, Tally, match
from line import Floats
from numpy.typing import NDArray
from odometry import Odometry, Travel, composed, composed_jacobians, rotation
from scipy.linalg import cho_factor, cho_solve

KEYFRAME_WAY = 4.0  # m between keyframes
KEYFRAMES = 140  # from here on, the map stays when ten frames show no new cone
VIEW = 30.0  # m: cones this near can be matched
HUBER = 3.0  # standard deviations, beyond which a detection pulls with constant force


class Graph(NamedTuple):
    """A least-squares problem: the pose of the first keyframe, the ways between keyframes, the detections from them."""

    anchor: Floats  # (3,) pose of the first keyframe
    anchor_root: Floats  # (3, 3) square root of its information
    steps: Floats  # (k - 1, 3) way from each keyframe to the next
    step_roots: Floats  # (k - 1, 3, 3) square root of its information
    frame: Ints  # (m,) keyframe of each detection
    cone: Ints  # (m,) its cone
    seen: Floats  # (m, 2) in the car's axes
    seen_roots: Floats  # (m, 2, 2) square root of its information


def wrapped(angle: Floats) -> Floats:
    """Return angles between -pi and pi."""
    return np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi


def residuals(g: Graph, poses: Floats, cones: Floats) -> Floats:
    """Return all whitened differences of measurements: anchor, ways, detections."""
    anchor = poses[0] - g.anchor
    anchor[2] = wrapped(anchor[2])
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    d = np.diff(poses, axis=0)
    way = np.column_stack([c[:-1] * d[:, 0] + s[:-1] * d[:, 1], c[:-1] * d[:, 1] - s[:-1] * d[:, 0], d[:, 2]]) - g.steps
    way[:, 2] = wrapped(way[:, 2])
    a = cones[g.cone] - poses[g.frame, :2]
    cf, sf = c[g.frame], s[g.frame]
    view = np.column_stack([cf * a[:, 0] + sf * a[:, 1], cf * a[:, 1] - sf * a[:, 0]]) - g.seen
    ways = (g.step_roots @ way[:, :, None]).reshape(-1)
    return np.concatenate([g.anchor_root @ anchor, ways, (g.seen_roots @ view[:, :, None]).reshape(-1)])


class Factors(NamedTuple):
    """The information matrix at a solution: poses after the elimination of the cones, cones, and what joins them."""

    poses: tuple[Floats, bool]  # Cholesky factor of the reduced (3 k, 3 k) matrix
    cones: Floats  # (n, 2, 2) inverse of each cone's information
    joined: sp.csr_array  # (3 k, 2 n) information of poses and cones, times the inverse of the cones'

    def covariance(self, pose: int, cones: Ints) -> Floats:
        """Return the joint covariance of a pose (3) and some cones (2 each)."""
        at = (2 * cones[:, None] + np.arange(2)).reshape(-1)
        half = np.zeros((self.joined.shape[0], 3 + len(at)))
        half[3 * pose : 3 * pose + 3, :3] = np.eye(3)
        half[:, 3:] = -self.joined[:, at].toarray()
        joint = np.asarray(half.T @ cho_solve(self.poses, half, check_finite=False))
        own = 3 + np.arange(len(at)).reshape(-1, 2)
        joint[own[:, :, None], own[:, None, :]] += self.cones[cones]
        return joint


def slopes(g: Graph, poses: Floats, cones: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the whitened derivatives of the ways by their start and end pose, and of detections by pose and cone."""
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    back = np.stack([np.column_stack([c, s]), np.column_stack([-s, c])], axis=1)  # (k, 2, 2) into the car's axes
    start, end = np.zeros((2, len(poses) - 1, 3, 3))
    way = (back[:-1] @ np.diff(poses[:, :2], axis=0)[:, :, None])[:, :, 0]
    end[:, :2, :2], end[:, 2, 2] = back[:-1], 1.0
    start[:, :2, :2], start[:, 2, 2] = -back[:-1], -1.0
    start[:, 0, 2], start[:, 1, 2] = way[:, 1], -way[:, 0]
    turn = back[g.frame]
    local = (turn @ (cones[g.cone] - poses[g.frame, :2])[:, :, None])[:, :, 0]
    by_pose = np.concatenate([-turn, np.stack([local[:, 1], -local[:, 0]], axis=1)[:, :, None]], axis=2)
    return g.step_roots @ start, g.step_roots @ end, g.seen_roots @ by_pose, g.seen_roots @ turn


def normal_equations(
    g: Graph, poses: Floats, cones: Floats, r: Floats, weight: Floats
) -> tuple[Floats, Floats, sp.csr_array, Floats, Floats]:
    """Return J^T J as blocks (of all poses; of each cone; sparse: of poses and cones) and J^T r (of poses; of cones).

    `weight` (m,) are those of the detections.
    """
    k, n, m = len(poses), len(cones), len(g.cone)
    start, end, by_pose, by_cone = slopes(g, poses, cones)
    by_pose, by_cone = by_pose * weight[:, None, None], by_cone * weight[:, None, None]
    r_way, r_seen = r[3 : 3 * k].reshape(-1, 3, 1), r[3 * k :].reshape(-1, 2, 1) * weight[:, None, None]
    diagonal, gradient = np.zeros((k, 3, 3)), np.zeros((k, 3))
    diagonal[0], gradient[0] = g.anchor_root.T @ g.anchor_root, g.anchor_root.T @ r[:3]
    across = np.swapaxes
    for block, residual, at in ((start, r_way, slice(0, -1)), (end, r_way, slice(1, None))):
        diagonal[at] += across(block, 1, 2) @ block
        gradient[at] += (across(block, 1, 2) @ residual)[:, :, 0]
    by_frame = sp.csr_array((np.ones(m), (g.frame, np.arange(m))), shape=(k, m))  # sums over detections
    of_cone = sp.csr_array((np.ones(m), (g.cone, np.arange(m))), shape=(n, m))
    diagonal += (by_frame @ (across(by_pose, 1, 2) @ by_pose).reshape(m, 9)).reshape(k, 3, 3)
    gradient += by_frame @ (across(by_pose, 1, 2) @ r_seen).reshape(m, 3)
    own = (of_cone @ (across(by_cone, 1, 2) @ by_cone).reshape(m, 4)).reshape(n, 2, 2)
    pull = of_cone @ (across(by_cone, 1, 2) @ r_seen).reshape(m, 2)
    whole = np.zeros((k, 3, k, 3))
    i = np.arange(k)
    whole[i, :, i, :] = diagonal
    whole[i[:-1], :, i[1:], :] = across(start, 1, 2) @ end
    whole[i[1:], :, i[:-1], :] = across(end, 1, 2) @ start
    rows = np.repeat(3 * g.frame[:, None] + np.arange(3), 2, axis=1)
    columns = np.tile(2 * g.cone[:, None] + np.arange(2), (1, 3))
    blocks = (across(by_pose, 1, 2) @ by_cone).reshape(m, 6)
    joining = sp.csr_array((blocks.reshape(-1), (rows.reshape(-1), columns.reshape(-1))), shape=(3 * k, 2 * n))
    return whole.reshape(3 * k, 3 * k), own, joining, gradient.reshape(-1), pull


def solve(
    g: Graph, poses: Floats, cones: Floats, most: int = 20, huber: float = HUBER
) -> tuple[Floats, Floats, Factors]:
    """Return the poses (k, 3) and cones (n, 2) of least squares, and the factors of the last step's information.

    Levenberg-Marquardt. A cone has no direct link to another: eliminating them leaves a small system of the poses.
    """
    k, n, damping = len(poses), len(cones), 0.0
    r = residuals(g, poses, cones)
    cost, weight = _robust(r, k, huber)
    for _ in range(most):
        whole, own, joining, gradient, pull = normal_equations(g, poses, cones, r, np.sqrt(weight))
        while True:
            inverse = np.linalg.inv(own * (1.0 + damping * np.eye(2)) + 1e-9 * np.eye(2))
            spread = sp.bsr_array((inverse, np.arange(n), np.arange(n + 1)), shape=(2 * n, 2 * n)).tocsr()
            joined = joining @ spread
            reduced = whole - (joined @ joining.T).toarray()
            reduced[np.diag_indices(3 * k)] += damping * np.diagonal(whole)
            factor = cho_factor(reduced, lower=True, check_finite=False)
            step = -cho_solve(factor, gradient - joined @ pull.reshape(-1), check_finite=False)
            shift = -(spread @ (pull.reshape(-1) + joining.T @ step))
            moved, placed = poses + step.reshape(-1, 3), cones + shift.reshape(-1, 2)
            after = residuals(g, moved, placed)
            cost_after, weight = _robust(after, k, huber)
            if cost_after <= cost * (1.0 + 1e-9) + 1e-12 or damping > 1e6:
                break
            damping = max(10.0 * damping, 1e-4)
        poses, cones, r, cost, damping = moved, placed, after, cost_after, 0.1 * damping if damping > 1e-6 else 0.0
        if float(np.abs(step).max()) < 1e-3:
            break
    return poses, cones, Factors(factor, inverse, joined)


def _robust(r: Floats, poses: int, huber: float) -> tuple[float, Floats]:
    """Return the cost of residuals, and weights (m,) of the detections: Huber's, without influence of outliers."""
    size = np.hypot(*r[3 * poses :].reshape(-1, 2).T)
    weight = np.minimum(1.0, huber / np.maximum(size, 1e-12))
    certain = r[: 3 * poses]
    return float(certain @ certain + (weight * (2.0 - weight) * size * size).sum()), weight


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
        expected, spread, covariance = self._expected(guess, travel)
        found = match(expected, spread, detected, noise, self.colours[self.near], colours)
        found = Matches(found.detection, self.near[found.cone], found.new)
        everywhere = (self.cones - guess[:2]) @ rotation(guess[2])
        self.tally.see(found.cone, colours[found.detection], everywhere)
        self.now, self.time = guess, time
        self.settled = 0 if len(found.new) else self.settled + 1
        self.complete |= len(self.poses) >= KEYFRAMES and self.settled >= 10
        short = np.hypot(*travel.step[:2]) < KEYFRAME_WAY and len(self.poses) > 1
        if self.complete or (short and not self._sees_new(found, detected)):
            after = self._localise(covariance, found, detected, noise)
            if self.complete:
                self._start_from(self.now, after)
            return
        if time > self.base_time:
            self._add_keyframe(travel, guess)
        self._add(found, detected, noise, colours)
        self._forget(self.tally.false())
        self._optimise()
        self.now = self.base.copy()

    @staticmethod
    def _sees_new(found: Matches, detected: Floats) -> bool:
        """Return whether new cones are close: the path ahead needs them before the next keyframe."""
        return bool((np.hypot(*detected[found.new].T) < 10.0).any())

    def _expected(self, pose: Floats, travel: Travel) -> tuple[Floats, Floats, Floats]:
        """Return the near cones in the car's axes, their covariances, and that of the pose, after a way."""
        by_pose, by_step = composed_jacobians(self.base, travel.step)
        p = self.joint.copy()
        p[:3] = by_pose @ p[:3]
        p[:, :3] = p[:, :3] @ by_pose.T
        p[:3, :3] += by_step @ travel.covariance @ by_step.T
        turn, count = rotation(pose[2]), len(self.near)
        seen = (self.cones[self.near] - pose[:2]) @ turn
        slope = np.empty((count, 2, 3))
        slope[:, :, :2] = -turn.T
        slope[:, 0, 2], slope[:, 1, 2] = seen[:, 1], -seen[:, 0]
        at = 3 + 2 * np.arange(count)[:, None] + np.arange(2)
        cross = slope @ p[:3][:, at].transpose(1, 0, 2) @ turn
        own = turn.T @ p[at[:, :, None], at[:, None, :]] @ turn
        spread = slope @ p[:3, :3] @ slope.transpose(0, 2, 1) + cross + cross.transpose(0, 2, 1) + own
        return seen, spread, p[:3, :3]

    def _localise(self, covariance: Floats, found: Matches, detected: Floats, noise: Floats) -> Floats:
        """Correct the pose by cones that stay where they are; return its covariance."""
        if len(found.cone) == 0:
            return covariance
        turn = rotation(self.now[2])
        seen = (self.cones[found.cone] - self.now[:2]) @ turn
        slope = np.empty((len(seen), 2, 3))
        slope[:, :, :2] = -turn.T
        slope[:, 0, 2], slope[:, 1, 2] = seen[:, 1], -seen[:, 0]
        weight = np.linalg.inv(noise[found.detection] + 0.02**2 * np.eye(2))
        pull = (slope.transpose(0, 2, 1) @ weight @ (detected[found.detection] - seen)[:, :, None]).sum(axis=0)[:, 0]
        information = (slope.transpose(0, 2, 1) @ weight @ slope).sum(axis=0) + np.linalg.inv(covariance)
        self.now = self.now + np.linalg.solve(information, pull)
        return np.asarray(np.linalg.inv(information))

    def _start_from(self, pose: Floats, covariance: Floats) -> None:
        """Continue from a pose in a map that stays: its cones are known to 3 cm."""
        self.base, self.base_time = pose.copy(), self.time
        self.near = np.flatnonzero(np.hypot(*(self.cones - pose[:2]).T) < VIEW)
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

    def _add(self, found: Matches, detected: Floats, noise: Floats, colours: Ints) -> None:
        """Add the detections of the last keyframe, of known and of new cones."""
        last, pose = len(self.poses) - 1, self.poses[-1]
        self._see(last, found.cone, detected[found.detection], noise[found.detection])
        fresh = len(self.cones) + np.arange(len(found.new))
        self.cones = np.vstack([self.cones, pose[:2] + detected[found.new] @ rotation(pose[2]).T])
        self.tally.add(colours[found.new])
        self._see(last, fresh, detected[found.new], noise[found.new])

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

    def _optimise(self) -> None:
        """Solve the graph from the present estimate, and look up the covariances around the last keyframe."""
        self.poses, self.cones, factors = solve(self.graph, self.poses, self.cones, most=2)
        self.base, self.base_time = self.poses[-1].copy(), self.time
        self.near = np.flatnonzero(np.hypot(*(self.cones - self.base[:2]).T) < VIEW)
        self.joint = factors.covariance(len(self.poses) - 1, self.near)
