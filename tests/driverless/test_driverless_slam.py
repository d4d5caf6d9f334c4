"""SLAM: consistency by chi-square bounds, the optimum of another solver, association, late frames and closed laps."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import chi2

from paddock import track

Example = Callable[[str], ModuleType]
SPREAD = (0.02, 0.015, 0.001)  # of the odometry per root of m
SIGMA = 0.03  # m, of detections
STEP = 0.1  # s between frames


class Ride:
    """A car that follows a track's middle exactly, with noisy odometry and detections of its cones."""

    def __init__(self, example: Example, name: str, course: track.Track, seed: int, reach: float = 18.0) -> None:
        self.odometry_file = example("odometry")
        self.course, self.speed, self.reach, self.draw = course, 10.0, reach, np.random.default_rng(seed)
        self.odometry = self.odometry_file.Odometry(example("car").Car(), SPREAD, creep=0.0)
        self.odometry.record(0.0, 0.0, 0.0, 0.0)
        self.time, self.along, self.truth = 0.0, 0.0, self.pose_at(0.0)
        kind = example("ekf_slam").EkfSlam if name == "ekf" else example("graph_slam").GraphSlam
        self.slam: Any = kind(self.odometry, tuple(self.truth))

    def pose_at(self, along: float) -> np.ndarray:
        return np.append(self.course.point_at(along), self.course.heading_at(along))

    def move(self) -> None:
        """Move for the time between frames; odometry sees the way with noise."""
        self.along += self.speed * STEP
        after = self.pose_at(self.along)
        way = self.odometry_file.rotation(self.truth[2]).T @ (after[:2] - self.truth[:2])
        turn = (after[2] - self.truth[2] + np.pi) % (2.0 * np.pi) - np.pi
        step = np.append(way, turn) + self.draw.normal(0.0, SPREAD) * np.sqrt(np.hypot(*way))
        speeds = self.odometry_file.rotation(0.5 * step[2]).T @ step[:2] / STEP
        self.odometry.record(self.time + 1e-9, speeds[0], speeds[1], step[2] / STEP)
        self.time += STEP
        self.odometry.record(self.time, speeds[0], speeds[1], step[2] / STEP)
        self.truth = after

    def detections(self, clutter: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        seen = (self.course.cones - self.truth[:2]) @ self.odometry_file.rotation(self.truth[2])
        away, bearing = np.hypot(*seen.T), np.arctan2(seen[:, 1], seen[:, 0])
        which = (away < self.reach) & (np.abs(bearing) < 1.05) & (self.draw.random(len(away)) < 0.97 - 0.01 * away)
        places = seen[which] + self.draw.normal(0.0, SIGMA, (int(which.sum()), 2))
        colours = np.where(away[which] < 15.0, self.course.colours[which], 4)
        if self.draw.random() < clutter:
            places, colours = np.vstack([places, self.draw.uniform([2.0, -9.0], [18.0, 9.0])]), np.append(colours, 4)
        return places, np.tile(np.eye(2) * SIGMA**2, (len(places), 1, 1)), colours.astype(np.int64)

    def error(self) -> np.ndarray:
        error = self.slam.pose(self.time) - self.truth
        error[2] = (error[2] + np.pi) % (2.0 * np.pi) - np.pi
        return error


def test_ekf_is_consistent(example: Example) -> None:
    """The normalised squared error of the pose of 20 runs is chi-square distributed: its mean is within 99 % bounds."""
    course = track.load("autocross")
    runs, late = 20, []
    for seed in range(runs):
        ride = Ride(example, "ekf", course, seed)
        for _ in range(60):
            ride.move()
            ride.slam.frame(ride.time, *ride.detections())
        error = ride.error()
        late.append(float(error @ np.linalg.solve(ride.slam.covariance[:3, :3], error)))
    assert chi2.ppf(0.005, 3 * runs) / runs < np.mean(late) < chi2.ppf(0.995, 3 * runs) / runs
    assert ride.slam.covariance == pytest.approx(ride.slam.covariance.T, abs=1e-12)
    assert np.linalg.eigvalsh(ride.slam.covariance).min() > 0.0


def test_ekf_without_motion_noise_is_the_mean(example: Example) -> None:
    """A cone seen n times from a known pose: its variance is that of the mean, sigma^2 / n."""
    slam_file, odometry_file = example("ekf_slam"), example("odometry")
    odometry = odometry_file.Odometry(example("car").Car(), (0.0, 0.0, 0.0))
    odometry.record(0.0, 0.0, 0.0, 0.0)
    slam = slam_file.EkfSlam(odometry, (0.0, 0.0, 0.0))
    slam.covariance[:] = 1e-18 * np.eye(3)
    draw = np.random.default_rng(4)
    places = np.array([5.0, 2.0]) + draw.normal(0.0, 0.1, (25, 2))
    for k, position in enumerate(places):
        odometry.record(0.1 * (k + 1), 0.0, 0.0, 0.0)
        slam.frame(0.1 * (k + 1), position[None], 0.01 * np.eye(2)[None], np.zeros(1, dtype=np.int64))
    assert slam.cones[0] == pytest.approx(places.mean(axis=0), abs=1e-9)
    assert slam.covariance[3:, 3:] == pytest.approx(0.01 / 25 * np.eye(2), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "reach"), [("ekf", 18.0), ("graph", 18.0), pytest.param("graph", 29.0, marks=pytest.mark.slow)]
)
def test_lap_closes(example: Example, name: str, reach: float) -> None:
    """One lap and a bit: each cone once in the map, at its place, of its colour, false detections forgotten."""
    course = track.load("trackdrive")
    ride = Ride(example, name, course, 5, reach)
    for _ in range(int(1.15 * course.length / (ride.speed * STEP))):
        ride.move()
        ride.slam.frame(ride.time, *ride.detections(clutter=0.1))
    cones, colours = ride.slam.cones[ride.slam.confirmed], ride.slam.colours[ride.slam.confirmed]
    away = np.hypot(*np.moveaxis(cones[:, None] - course.cones[None], 2, 0))
    nearest = away.argmin(axis=1)
    assert len(set(nearest)) == len(nearest) >= 0.98 * len(course.cones)
    assert away.min(axis=1).max() < 0.9  # the spread of eight seeds is 0.1 to 0.75 m
    assert (colours == course.colours[nearest]).mean() > 0.99
    assert np.hypot(*ride.error()[:2]) < 0.6


@pytest.mark.parametrize("name", ["ekf", "graph"])
def test_late_frames_are_used_at_their_time(example: Example, name: str) -> None:
    """Frames that arrive 0.2 s late give the same estimate as frames that arrive at once."""
    course = track.load("trackdrive")
    prompt, late = Ride(example, name, course, seed=2), Ride(example, name, course, seed=2)
    waiting: list[tuple[Any, ...]] = []
    for _ in range(40):
        prompt.move()
        late.move()
        prompt.slam.frame(prompt.time, *prompt.detections())
        waiting.append((late.time, *late.detections()))
        if len(waiting) > 2:
            late.slam.frame(*waiting.pop(0))
    moment = late.slam.time
    assert moment == pytest.approx(prompt.time - 0.2)
    estimate = late.slam.pose(late.time)
    for frame in waiting:
        late.slam.frame(*frame)
    assert late.slam.pose(late.time) == pytest.approx(prompt.slam.pose(prompt.time), abs=1e-9)
    # before they arrived, odometry bridged the gap: 2 m of way, with the noise of 2 m
    assert np.hypot(*(estimate - prompt.truth)[:2]) < 0.25
    assert late.slam.late == 0
    late.slam.frame(0.1, *late.detections())
    assert late.slam.late == 1


def small_graph(example: Example, seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a graph of six poses and eight cones with noisy measurements, and a poor first estimate."""
    graph, odometry = example("pose_graph"), example("odometry")
    draw = np.random.default_rng(seed)
    poses = np.zeros((6, 3))
    for k in range(1, 6):
        poses[k] = odometry.composed(poses[k - 1], np.array([3.0, 0.2, 0.3]))
    cones = draw.uniform([-2.0, -6.0], [14.0, 14.0], (8, 2))
    frame, cone = (v.reshape(-1) for v in np.meshgrid(np.arange(6), np.arange(8), indexing="ij"))
    local = np.array([odometry.rotation(poses[f, 2]).T @ (cones[c] - poses[f, :2]) for f, c in zip(frame, cone)])  # noqa: B905
    problem = graph.Graph(
        poses[0],
        np.diag([100.0, 100.0, 1000.0]),
        np.tile([3.0, 0.2, 0.3], (5, 1)) + draw.normal(0.0, [0.1, 0.1, 0.03], (5, 3)),
        np.tile(np.diag([10.0, 10.0, 33.0]), (5, 1, 1)),
        frame,
        cone,
        local + draw.normal(0.0, 0.05, local.shape),
        np.tile(np.eye(2) * 20.0, (len(frame), 1, 1)),
    )
    start = poses + draw.normal(0.0, [0.2, 0.2, 0.05], poses.shape)
    return problem, start, cones + draw.normal(0.0, 0.5, cones.shape)


@pytest.mark.parametrize("seed", range(3))
def test_graph_reaches_the_optimum_of_another_solver(example: Example, seed: int) -> None:
    graph = example("pose_graph")
    problem, poses, cones = small_graph(example, seed)

    def residual(x: np.ndarray) -> np.ndarray:
        return graph.residuals(problem, x[:18].reshape(6, 3).copy(), x[18:].reshape(8, 2))

    other = least_squares(residual, np.concatenate([poses.reshape(-1), cones.reshape(-1)]), xtol=1e-12, ftol=1e-12)
    found_poses, found_cones, factors = graph.solve(problem, poses, cones, most=50, huber=1e9)
    assert found_poses == pytest.approx(other.x[:18].reshape(6, 3), abs=2e-4)
    assert found_cones == pytest.approx(other.x[18:].reshape(8, 2), abs=2e-4)
    # and its covariances are the inverse of J^T J
    exact = np.linalg.inv(other.jac.T @ other.jac)
    rows = np.r_[15:18, 18 + 4 : 18 + 6, 18 + 10 : 18 + 12]
    assert factors.covariance(5, np.array([2, 5])) == pytest.approx(exact[np.ix_(rows, rows)], rel=2e-2, abs=1e-7)


def test_graph_residuals_are_zero_at_the_truth(example: Example) -> None:
    graph, odometry = example("pose_graph"), example("odometry")
    poses = np.array([[1.0, 2.0, 0.5], [3.0, 3.0, 0.9]])
    way = odometry.rotation(0.5).T @ (poses[1, :2] - poses[0, :2])
    cone = np.array([[6.0, 4.0]])
    problem = graph.Graph(
        poses[0], np.eye(3), np.append(way, 0.4)[None], np.eye(3)[None], np.array([1]), np.array([0]),
        (odometry.rotation(0.9).T @ (cone[0] - poses[1, :2]))[None], np.eye(2)[None],
    )  # fmt: skip
    assert graph.residuals(problem, poses, cone) == pytest.approx(0.0, abs=1e-12)


def test_a_wrong_detection_hardly_moves_the_graph(example: Example) -> None:
    graph = example("pose_graph")
    problem, poses, cones = small_graph(example, 1)
    right, _, _ = graph.solve(problem, poses, cones, most=50)
    seen = problem.seen.copy()
    seen[20] += 4.0
    robust, _, _ = graph.solve(problem._replace(seen=seen), poses, cones, most=50)
    plain, _, _ = graph.solve(problem._replace(seen=seen), poses, cones, most=50, huber=1e9)
    assert np.abs(robust - right).max() < 0.15 < np.abs(plain - right).max()


def test_association_prefers_colours_and_gives_each_cone_once(example: Example) -> None:
    association = example("association")
    expected = np.array([[5.0, 1.0], [5.0, -1.0], [9.0, 1.0]])
    spread, noise = np.tile(0.2**2 * np.eye(2), (3, 1, 1)), np.tile(0.1**2 * np.eye(2), (3, 1, 1))
    detected = np.array([[5.1, 0.9], [5.2, 0.8], [20.0, 5.0]])
    matches = association.match(expected, spread, detected, noise, np.array([0, 1, 0]), np.array([4, 0, 1]))
    assert len(set(matches.cone)) == len(matches.cone) == 1 and matches.cone[0] == 0
    assert matches.new.tolist() == [2]


def mapped(example: Example, together: bool) -> Any:
    """Return a map of two keyframes 5 m apart, whose second detections were taken for new cones."""
    odometry = example("odometry").Odometry(example("car").Car(), SPREAD, creep=0.0)
    odometry.record(0.0, 10.0, 0.0, 0.0)
    odometry.record(0.5, 10.0, 0.0, 0.0)
    slam = example("graph_slam").GraphSlam(odometry, (0.0, 0.0, 0.0))
    cones, colours = np.array([[8.0, 1.5], [8.0, -1.5], [12.0, 1.5], [12.0, -1.5]]), np.array([0, 1, 0, 1])
    noise = np.tile(SIGMA**2 * np.eye(2), (4, 1, 1))
    slam.frame(0.0, cones, noise, colours)
    twins = cones + np.array([0.2, -0.1])
    slam._add(example("association").Matches(*np.zeros((2, 0), dtype=np.int64), np.arange(4)), twins, noise, colours)
    if not together:  # the twins were seen from a later keyframe
        slam._add_keyframe(odometry.travel(0.0, 0.5), np.array([5.0, 0.0, 0.0]))
        g = slam.graph
        late = g.cone >= 4
        slam.graph = g._replace(frame=np.where(late, 1, g.frame), seen=g.seen - np.outer(late, [5.0, 0.0]))
    return slam


def test_cones_that_were_mapped_twice_become_one(example: Example) -> None:
    slam = mapped(example, together=False)
    assert len(slam.cones) == 8
    slam._optimise()
    slam._join()
    assert len(slam.cones) == len(slam.colours) == 4 and slam.tally.hits.tolist() == [2, 2, 2, 2]
    assert sorted(slam.colours) == [0, 0, 1, 1] and np.bincount(slam.graph.cone).tolist() == [2, 2, 2, 2]
    # a cone lies between both detections: the way between the keyframes is known to a few cm
    for position in ([8.0, 1.5], [8.0, -1.5], [12.0, 1.5], [12.0, -1.5]):
        assert np.hypot(*(slam.cones - position).T).min() < 0.2


def test_cones_of_one_keyframe_stay_two(example: Example) -> None:
    slam = mapped(example, together=True)
    slam._optimise()
    slam._join()
    assert len(slam.cones) == 8


def test_closing_a_lap_matches_all_cones_by_one_shift(example: Example) -> None:
    """Rows of cones 4 m apart, and a pose that is wrong by 2.6 m: each cone alone is nearer to its neighbour."""
    association = example("association")
    row = np.array([[4.0 * k + (0.5 if k == 2 else 0.0), side] for k in range(1, 6) for side in (1.7, -1.7)])
    spread = np.tile(np.diag([1.6**2, 0.3**2]), (len(row), 1, 1))
    noise = np.tile(0.03**2 * np.eye(2), (len(row), 1, 1))
    colours = np.array([0, 1] * 5)
    matches = association.match(row, spread, row + np.array([2.6, 0.1]), noise, colours, colours)
    pairs = dict(zip(matches.detection.tolist(), matches.cone.tolist(), strict=True))
    assert len(pairs) >= 8
    assert all(d == c for d, c in pairs.items())
