"""Start poses of a fleet, in numbers."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paddock.scenario import ScenarioError, load_scenario, spawn_poses
from paddock.scenario.spawning import Floats

PI = np.pi


def uniform(count: int, k: int) -> Floats:
    return np.random.default_rng(3).random((count, k))


def poses(ground_z: float = 0.0, **entry: Any) -> Floats:
    vehicle = load_scenario({"vehicles": [{"model": "quad", **entry}]}).vehicles[0]
    placed = spawn_poses(vehicle, uniform, lambda x, y: np.full(len(x), ground_z))
    assert placed.dtype == np.float64 and placed.shape == (entry.get("count", 1), 4)
    return placed


def test_single_poses() -> None:
    assert_array_equal(poses(), [[0, 0, 0, 0]])
    assert_array_equal(poses(pose=[1, 2, 0.5], ground_z=7.0), [[1, 2, 7, 0.5]])
    assert_array_equal(poses(pose=[1, 2, 3, 0.5], ground_z=7.0), [[1, 2, 3, 0.5]])


def test_listed_poses() -> None:
    placed = poses(count=2, spawn={"poses": [[1, 2, 0.5], [4, 5, 6, -0.5]]}, ground_z=-1.0)
    assert_array_equal(placed, [[1, 2, -1, 0.5], [4, 5, 6, -0.5]])


def test_grid_is_centred_and_row_by_row() -> None:
    placed = poses(count=5, spawn={"grid": {"spacing": 2, "z": 20, "origin": [10, 0], "heading": 1}})
    xy = [[8, -1], [10, -1], [12, -1], [8, 1], [10, 1]]
    assert_array_equal(placed, [[x, y, 20, 1] for x, y in xy])


def test_grid_columns() -> None:
    assert_array_equal(poses(count=4, spawn={"grid": {"spacing": 1, "columns": 1}})[:, 1], [-1.5, -0.5, 0.5, 1.5])
    assert_array_equal(poses(count=2, spawn={"grid": {"spacing": 1, "columns": 9}})[:, 0], [-0.5, 0.5])
    assert_array_equal(poses(count=1, ground_z=3.0, spawn={"grid": {"spacing": 1}}), [[0, 0, 3, 0]])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9, 10, 99, 100, 101])
def test_grid_is_about_square(count: int) -> None:
    placed = poses(count=count, spawn={"grid": {"spacing": 1}})
    columns, rows = (len(np.unique(placed[:, axis])) for axis in (0, 1))
    assert len(np.unique(placed[:, :2], axis=0)) == count
    assert columns - rows in (0, 1)


@pytest.mark.parametrize(
    ("face", "yaw"),
    [
        ({"face": "tangent"}, [PI / 2, PI, -PI / 2, 0]),
        ({"face": "inward"}, [PI, -PI / 2, 0, PI / 2]),
        ({"face": "outward"}, [0, PI / 2, PI, -PI / 2]),
        ({"face": "fixed"}, [0, 0, 0, 0]),
        ({"face": "fixed", "heading": 7}, [7 - 2 * PI] * 4),
    ],
)
def test_circle(face: dict[str, Any], yaw: list[float]) -> None:
    placed = poses(count=4, spawn={"circle": {"radius": 2, "z": 5, "center": [1, 1], **face}})
    assert_allclose(placed[:, :3], [[3, 1, 5], [1, 3, 5], [-1, 1, 5], [1, -1, 5]], atol=1e-12)
    assert_allclose(placed[:, 3], yaw, atol=1e-12)


def test_lines_and_boxes_on_the_ground() -> None:
    ends = {"start": [0, 0], "end": [4, 4]}
    placed = poses(count=3, spawn={"line": ends}, ground_z=7.0)
    assert_allclose(placed, [[0, 0, 7, PI / 4], [2, 2, 7, PI / 4], [4, 4, 7, PI / 4]])
    box = poses(count=50, spawn={"random": {"low": [1, 2], "high": [3, 5]}}, ground_z=7.0)
    flying = poses(count=50, spawn={"random": {"low": [1, 2, 0], "high": [3, 5, 1]}})
    assert_array_equal(box[:, [0, 1, 3]], flying[:, [0, 1, 3]])
    assert (box[:, 2] == 7.0).all()
    with pytest.raises(ScenarioError, match=r"start and end must both be \[x, y\] \(on the ground\) or both"):
        poses(count=2, spawn={"line": {"start": [0, 0], "end": [1, 1, 0]}})
    with pytest.raises(ScenarioError, match=r"low and high must both be"):
        poses(count=2, spawn={"random": {"low": [0, 0, 0], "high": [1, 1]}})


def test_line() -> None:
    ends = {"start": [0, 0, 10], "end": [4, 4, 12]}
    assert_allclose(poses(count=3, spawn={"line": ends}), [[0, 0, 10, PI / 4], [2, 2, 11, PI / 4], [4, 4, 12, PI / 4]])
    assert_allclose(poses(count=1, spawn={"line": {**ends, "heading": -1}}), [[0, 0, 10, -1]])
    assert_array_equal(poses(count=7, spawn={"line": {"start": [0.1] * 3, "end": [0.7] * 3}})[-1, :3], [0.7] * 3)
    assert_array_equal(poses(count=2, spawn={"line": {"start": [0, 0, 0], "end": [0, 0, 9]}})[:, 3], [0, 0])


def test_random_uses_the_draws_of_its_caller() -> None:
    box = {"low": [0, 10, -5], "high": [1, 30, -5]}
    placed = poses(count=1000, spawn={"random": box})
    drawn = uniform(1000, 4)
    assert_allclose(placed[:, :3], np.array([0, 10, -5]) + drawn[:, :3] * [1, 20, 0])
    assert_allclose(placed[:, 3], 2 * PI * drawn[:, 3] - PI)
    fixed = poses(count=1000, spawn={"random": {**box, "heading": 0.5}})
    assert_array_equal(fixed[:, :3], placed[:, :3])
    assert_array_equal(fixed[:, 3], 0.5)


def test_headings_are_wrapped() -> None:
    assert_array_equal(poses(pose=[0, 0, -PI])[:, 3], PI)
    assert_array_equal(poses(pose=[0, 0, PI])[:, 3], PI)
    assert_allclose(poses(pose=[0, 0, 100.0])[:, 3], 100 - 32 * PI)


def test_a_million_vehicles() -> None:
    placed = poses(count=1_000_000, spawn={"grid": {"spacing": 3}})
    assert_array_equal(placed[0, :2], [-1498.5, -1498.5])
    assert_array_equal(placed[-1, :2], [1498.5, 1498.5])
