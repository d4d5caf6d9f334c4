"""The least-squares problem of graph-SLAM: keyframes and cones as unknowns, odometry and detections as measurements.

Levenberg-Marquardt on the sparse normal equations, with Huber's loss for detections. The factorisation of the last step
gives covariances.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from association import Ints
from line import Floats
from scipy.linalg import cho_factor, cho_solve

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
