"""Transforms and their tree against scipy, closed-form motion and hand-made numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.world.frames import conversion
from paddock.world.transforms import DisconnectedFramesError, StaleFrameError, Transform, TransformTree

small = st.floats(-3, 3)
poses = st.builds(
    lambda position, turn: Transform(position, Rotation.from_rotvec(turn).as_quat()),
    st.tuples(*[st.floats(-1e3, 1e3)] * 3),
    st.tuples(small, small, small),
)


def planar(x: float, y: float, yaw: float) -> Transform:
    return Transform((x, y, 0.0), Rotation.from_euler("z", yaw).as_quat())


def matrix(pose: Transform) -> np.ndarray:
    """The homogeneous (4, 4) matrix, made by scipy."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = Rotation.from_quat(pose.quaternion).as_matrix(), pose.position
    return result


def random_pose(rng: np.random.Generator) -> Transform:
    return Transform(rng.normal(size=3) * 10, Rotation.random(rng=rng).as_quat())


def straight_line() -> TransformTree:
    """A car at x = 10 t, yaw = t, known at 0.0, 0.1 ... 1.0 s, with a lidar one metre ahead of it."""
    tree = TransformTree()
    for time in np.arange(11) / 10:
        tree.set_dynamic("car", "world", time, planar(10 * time, 0.0, time))
    tree.set_static("lidar", "car", Transform((1.0, 0.0, 0.5)))
    return tree


def test_a_quarter_turn_and_a_shift() -> None:
    pose = planar(5.0, 6.0, np.pi / 2)
    np.testing.assert_allclose(pose.apply([[1, 0, 0], [0, 1, 2]]), [[5, 7, 0], [4, 6, 2]], atol=1e-15)
    np.testing.assert_allclose(pose.inverse().apply([5, 7, 0]), [1, 0, 0], atol=1e-15)
    assert pose.apply(np.zeros((4, 2, 3), np.float32)).shape == (4, 2, 3)


@given(a=poses, b=poses, c=poses)
def test_composition_is_that_of_matrices(a: Transform, b: Transform, c: Transform) -> None:
    np.testing.assert_allclose(matrix(a @ b), matrix(a) @ matrix(b), atol=1e-10)
    np.testing.assert_allclose(matrix((a @ b) @ c), matrix(a.compose(b.compose(c))), atol=1e-10)
    np.testing.assert_allclose(matrix(a.inverse()), np.linalg.inv(matrix(a)), atol=1e-9)
    np.testing.assert_allclose(matrix(a @ a.inverse()), np.eye(4), atol=1e-10)


@given(pose=poses, p=st.tuples(small, small, small), q=st.tuples(small, small, small))
def test_distances_do_not_change(pose: Transform, p: tuple[float, ...], q: tuple[float, ...]) -> None:
    moved = pose.apply([p, q])
    assert np.linalg.norm(moved[1] - moved[0]) == pytest.approx(np.linalg.norm(np.subtract(p, q)), abs=1e-11)


def test_transforms_are_values() -> None:
    pose = Transform((1, 2, 3))
    assert pose == Transform([1.0, 2.0, 3.0]) and hash(pose) == hash(Transform((1, 2, 3)))
    assert pose != Transform((1, 2, 4)) and pose != "pose"
    with pytest.raises(ValueError, match="read-only"):
        pose.position[0] = 9.0


@pytest.mark.parametrize(
    ("position", "quaternion", "message"),
    [
        ((0, np.nan, 0), (0, 0, 0, 1), "position has a component that is not finite"),
        ((0, 0, 0), (0, 0, np.inf, 1), "quaternion has a component that is not finite"),
        ((0, 0, 0), (0, 0, 0, 1.01), r"not normalised: norm 1\.01"),
        ((0, 0, 0), (0, 0, 0, 0), "not normalised: norm 0"),
        ((0, 0), (0, 0, 0, 1), r"position has shape \(2,\), expected \(3,\)"),
        ((0, 0, 0), (0, 0, 1), r"quaternion has shape \(3,\), expected \(4,\)"),
        ("abc", (0, 0, 0, 1), "position: expected an array of numbers"),
    ],
)
def test_bad_numbers_are_refused(position: object, quaternion: object, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Transform(position, quaternion)  # type: ignore[arg-type]


def test_a_slightly_long_quaternion_is_normalised() -> None:
    assert Transform((0, 0, 0), (0, 0, 0, 1.0009)).quaternion.tolist() == [0, 0, 0, 1]


def test_lookup_goes_up_down_and_across() -> None:
    rng = np.random.default_rng(1)
    a, b, c, d = (random_pose(rng) for _ in range(4))
    tree = TransformTree()
    tree.set_static("camera", "mast", d)  # declared before its parent is placed
    tree.set_static("mast", "rover", c)
    tree.set_dynamic("rover", "world", 0.0, a)
    tree.set_dynamic("drone", "world", 0.0, b)
    np.testing.assert_allclose(matrix(tree.lookup("world", "camera", 0)), matrix(a) @ matrix(c) @ matrix(d), atol=1e-12)
    expected = np.linalg.inv(matrix(b)) @ matrix(a) @ matrix(c) @ matrix(d)
    np.testing.assert_allclose(matrix(tree.lookup("drone", "camera", 0)), expected, atol=1e-12)
    np.testing.assert_allclose(matrix(tree.lookup("camera", "drone", 0)), np.linalg.inv(expected), atol=1e-12)
    assert tree.lookup("camera", "camera", 0) == Transform()
    assert tree.names() == ("camera", "drone", "mast", "rover", "world")


def test_between_two_poses_agrees_with_scipy() -> None:
    rng = np.random.default_rng(2)
    times, track = [0.0, 0.3, 1.0, 1.2], [random_pose(rng) for _ in range(4)]
    tree = TransformTree()
    for time, pose in zip(times, track, strict=True):
        tree.set_dynamic("drone", "world", time, pose)
    turns = Slerp(times, Rotation.from_quat([pose.quaternion for pose in track]))
    for time in np.linspace(0, 1.2, 61):
        interpolated = tree.lookup("world", "drone", time)
        expected = [np.interp(time, times, [pose.position[axis] for pose in track]) for axis in range(3)]
        np.testing.assert_allclose(interpolated.position, expected, atol=1e-12)
        assert (Rotation.from_quat(interpolated.quaternion).inv() * turns(time)).magnitude() < 1e-12


def test_a_point_fixed_in_the_world_stays_put_seen_from_a_turning_car() -> None:
    # Interpolation reproduces uniform motion and a uniform turn exactly, also between and beyond the poses.
    tree, tree_top = straight_line(), np.array([20.0, 5.0, 3.0])
    for time in np.linspace(-0.1, 1.1, 49):
        yaw = Rotation.from_euler("z", time)
        seen = yaw.inv().apply(tree_top - [10 * time, 0, 0]) - [1.0, 0.0, 0.5]
        np.testing.assert_allclose(tree.lookup("lidar", "world", time).apply(tree_top), seen, atol=1e-12)


@pytest.mark.parametrize("name", ["nwu", "ned", "unreal"])
def test_lookups_agree_when_the_whole_tree_is_kept_in_another_frame(name: str) -> None:
    # A helicopter circling and tumbling, with a camera on it: convert every pose, look up there, and compare.
    to, times = conversion("enu", name), np.arange(101) * 0.01
    mount = Transform((0.5, 0.2, -0.3), Rotation.from_euler("ZYX", [0.3, 0.5, -0.2]).as_quat())
    native, other = TransformTree(), TransformTree()
    native.set_static("camera", "body", mount)
    other.set_static("camera", "body", Transform(to.body_vector(mount.position), _in_body_axes(to, mount)))
    for t in times:
        pose = Transform((9 * np.cos(t), 9 * np.sin(t), 2 * t), Rotation.from_euler("ZYX", [t, 2 * t, 3 * t]).as_quat())
        native.set_dynamic("body", "world", t, pose)
        other.set_dynamic("body", "world", t, Transform(to.position(pose.position), to.quaternion(pose.quaternion)))
    for t in (0.0, 0.333, 0.5051, 1.0, 1.05):
        here, there = native.lookup("world", "camera", t), other.lookup("world", "camera", t)
        np.testing.assert_allclose(there.position, to.position(here.position), atol=1e-10)
        turned = Rotation.from_quat(to.quaternion(here.quaternion)).inv() * Rotation.from_quat(there.quaternion)
        assert turned.magnitude() < 1e-12


def _in_body_axes(to: object, mount: Transform) -> np.ndarray:
    """The mount's rotation between body axes, by converting its three columns with scipy's matrix."""
    axes = to.body_vector(np.eye(3)).T / to.scale  # type: ignore[attr-defined]
    return Rotation.from_matrix(axes @ Rotation.from_quat(mount.quaternion).as_matrix() @ axes.T).as_quat()


def test_poses_too_old_or_too_early_are_refused_with_their_age() -> None:
    tree = straight_line()
    np.testing.assert_allclose(tree.lookup("world", "car", 1.1).position, [11, 0, 0], atol=1e-12)
    with pytest.raises(StaleFrameError, match=r"'car' at 1\.250 s: its latest pose is 0\.250 s old; .* at most 0\.1 s"):
        tree.lookup("world", "lidar", 1.25)
    with pytest.raises(StaleFrameError, match=r"'car' at -0\.500 s: its history begins 0\.500 s later"):
        tree.lookup("lidar", "world", -0.5)
    assert issubclass(StaleFrameError, PaddockError)


def test_only_frames_below_the_common_ancestor_must_be_fresh() -> None:
    tree = straight_line()
    tree.set_static("camera", "car", Transform((0.0, 0.0, 1.5)))
    np.testing.assert_allclose(tree.lookup("lidar", "camera", 99.0).position, [-1, 0, 1], atol=1e-15)


def test_a_single_pose_is_held_within_the_limit() -> None:
    tree = TransformTree(max_extrapolation_s=0.5)
    tree.set_dynamic("car", "world", 2.0, planar(1, 2, 0.3))
    assert tree.lookup("world", "car", 2.5) == tree.lookup("world", "car", 1.5) == tree.lookup("world", "car", 2.0)
    with pytest.raises(StaleFrameError):
        tree.lookup("world", "car", 2.51)


def test_history_is_bounded_and_covers_its_span() -> None:
    tree = TransformTree(history_s=1.0, max_extrapolation_s=0.0)
    for tick in range(5000):
        tree.set_dynamic("car", "world", tick / 100, Transform((tick / 100, 0, 0)))
    assert len(tree.save()["frames"]["car"]["times"]) == 101
    assert tree.lookup("world", "car", 48.995).position[0] == pytest.approx(48.995, abs=1e-12)
    with pytest.raises(StaleFrameError, match="history begins"):
        tree.lookup("world", "car", 48.98)


def test_time_runs_forwards_and_the_same_time_replaces() -> None:
    tree = straight_line()
    tree.set_dynamic("car", "world", 1.0, Transform((7, 7, 7)))
    np.testing.assert_allclose(tree.lookup("world", "car", 1.0).position, [7, 7, 7])
    with pytest.raises(InvalidValueError, match=r"'car': time 0\.900 s is before its latest pose at 1\.000 s"):
        tree.set_dynamic("car", "world", 0.9, Transform())
    with pytest.raises(InvalidValueError, match="time nan is not finite"):
        tree.set_dynamic("car", "world", np.nan, Transform())
    with pytest.raises(InvalidValueError, match="lookup time inf"):
        tree.lookup("world", "car", np.inf)


def test_unknown_frames_are_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown frame 'lider'; did you mean 'lidar'\?"):
        straight_line().lookup("world", "lider", 0.0)
    with pytest.raises(UnknownNameError, match="unknown frame 'x'; there are none"):
        TransformTree().lookup("x", "x", 0.0)


def test_two_trees_are_refused_by_the_names_of_their_roots() -> None:
    tree = straight_line()
    tree.set_static("dish", "station", Transform())
    with pytest.raises(DisconnectedFramesError, match=r"'dish' and 'lidar' are not connected: .*'station' and 'world'"):
        tree.lookup("lidar", "dish", 0.0)


def test_cycles_new_parents_and_changes_of_kind_are_refused_without_effect() -> None:
    tree = straight_line()
    before = tree.save()
    with pytest.raises(
        InvalidValueError, match="'world' cannot be its own ancestor: 'world' in 'lidar' in 'car' in 'w"
    ):
        tree.set_static("world", "lidar", Transform())
    with pytest.raises(InvalidValueError, match="'a' cannot be its own ancestor: 'a' in 'a'"):
        tree.set_dynamic("a", "a", 0.0, Transform())
    with pytest.raises(InvalidValueError, match="'lidar' has parent 'car' and cannot move to 'world'"):
        tree.set_static("lidar", "world", Transform())
    with pytest.raises(InvalidValueError, match="'lidar' is static"):
        tree.set_dynamic("lidar", "car", 2.0, Transform())
    with pytest.raises(InvalidValueError, match="'car' is dynamic"):
        tree.set_static("car", "world", Transform())
    with pytest.raises(InvalidValueError, match="'lidar' is static in 'car' and cannot move"):
        tree.set_static("lidar", "car", Transform((9, 9, 9)))
    with pytest.raises(InvalidValueError, match="name cannot be empty"):
        tree.set_static("", "car", Transform())
    tree.set_static("lidar", "car", Transform((1.0, 0.0, 0.5)))
    assert tree.save() == before


@pytest.mark.parametrize("bad", [{"history_s": -1.0}, {"history_s": np.inf}, {"max_extrapolation_s": np.nan}])
def test_bad_limits_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError, match="0 or more"):
        TransformTree(**bad)


@given(st.lists(poses, min_size=1, max_size=8), poses)
def test_a_restored_tree_is_bit_identical(track: list[Transform], mount: Transform) -> None:
    tree = TransformTree(history_s=0.35, max_extrapolation_s=0.05)
    tree.set_static("camera", "drone", mount)
    for tick, pose in enumerate(track):
        tree.set_dynamic("drone", "world", tick / 10, pose)
    copy = TransformTree.restored(json.loads(json.dumps(tree.save())))
    assert json.dumps(copy.save()) == json.dumps(tree.save())
    latest = (len(track) - 1) / 10
    for each in (tree, copy):
        each.set_dynamic("drone", "world", latest + 0.1, Transform())
    assert copy.lookup("world", "camera", latest + 0.07) == tree.lookup("world", "camera", latest + 0.07)
    assert copy.save() == tree.save()


def test_saved_state_shares_nothing_and_does_not_depend_on_the_order_of_declaration() -> None:
    first, two = TransformTree(), TransformTree()
    for tree, names in ((first, ("a", "b")), (two, ("b", "a"))):
        for name in names:
            tree.set_dynamic(name, "world", 0.0, Transform())
    assert json.dumps(first.save()) == json.dumps(two.save())
    saved = first.save()
    saved["frames"]["a"]["poses"][0][0] = 5.0
    assert first.lookup("world", "a", 0.0) == Transform()


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        (
            {"a": {"parent": "b", "static": True, "times": [], "pose": []}},
            r"unknown key 'pose'; did you mean 'poses'\?",
        ),
        ({"a": {"parent": "b", "static": True, "times": []}}, "missing poses"),
        ({"a": {"parent": "b", "static": False, "times": [], "poses": []}}, "do not fit"),
        ({"a": {"parent": "b", "static": False, "times": [1, 1], "poses": [[0, 0, 0, 0, 0, 0, 1]] * 2}}, "increase"),
        ({"a": {"parent": "b", "static": True, "times": [], "poses": [[0, 0, 0, 0, 0, 0, 2]]}}, "not normalised"),
        ({"a": {"parent": "b", "static": True, "times": [], "poses": [[0], [0, 0]]}}, "poses: expected an array of n"),
        (
            {a: {"parent": b, "static": True, "times": [], "poses": [[0, 0, 0, 0, 0, 0, 1]]} for a, b in ("ab", "ba")},
            "own ancestor",
        ),
    ],
)
def test_a_damaged_save_is_refused(frames: dict[str, object], message: str) -> None:
    with pytest.raises(PaddockError, match=message):
        TransformTree.restored({"history_s": 1.0, "max_extrapolation_s": 0.1, "frames": frames})
