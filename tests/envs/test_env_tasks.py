"""What tasks reward, end and show: against geometry and against the rooms that know tracks and sensors."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paddock import load
from paddock.envs import Batch, PaddockEnv, PaddockVectorEnv, find_task, parallel_env
from paddock.envs.flight import thrust_share
from paddock.envs.tasks.drone_racing import gate_course
from paddock.errors import InvalidValueError
from paddock.track import load as load_track
from paddock.world.columns import Pose, column_index

GATES = find_task("drone_racing")
LEVEL = {"qx": 0.0, "qy": 0.0, "qz": 0.0, "qw": 1.0, "vx": 0.0, "vy": 0.0, "vz": 0.0, "wx": 0.0, "wy": 0.0, "wz": 0.0}


def flown_through(before: tuple[float, float, float], after: tuple[float, float, float], **options: float) -> Any:
    """Judge a step from one point to another at a gate at (10, 0, 2) that faces east; the next is at (20, 0, 2)."""
    course = np.array([[10.0, 0.0, 2.0, 0.0], [20.0, 0.0, 2.0, 0.0]])
    chosen = GATES.options(**options)
    memory = GATES.memory(gate=0.0, gates=0.0, x=before[0], y=before[1], z=before[2])
    at = Pose(x=after[0], y=after[1], z=after[2], **LEVEL)
    return GATES.judge(at, memory, GATES.action(0.0, 0.0, 0.0, 0.0), 0.0, chosen, course, np.zeros((13, 1)), 0)


@given(y=st.floats(-3.0, 3.0), z=st.floats(0.1, 5.0), back=st.floats(0.01, 2.0), on=st.floats(0.0, 2.0))
def test_a_gate_is_passed_inside_its_frame_only(y: float, z: float, back: float, on: float) -> None:
    memory, verdict = flown_through((10.0 - back, y, z), (10.0 + on, y, z))
    off = max(abs(y), abs(z - 2.0))
    assume(min(abs(off - 1.0), abs(off - 1.2)) > 1e-9)  # at an edge, rounding decides
    passed, hit = off < 1.0, 1.0 <= off < 1.2
    assert (memory.gate, memory.gates) == ((1.0, 1.0) if passed else (0.0, 0.0))
    assert verdict.terminated == hit
    closer = np.hypot(np.hypot(back, y), z - 2.0) - np.hypot(np.hypot(on, y), z - 2.0)
    assert verdict.reward == pytest.approx(-1.0 if hit else closer + 10.0 * passed, abs=1e-12)


def test_a_gate_counts_in_its_direction_only_and_laps_end_the_race() -> None:
    assert flown_through((11.0, 0.0, 2.0), (9.0, 0.0, 2.0))[0].gates == 0.0
    memory, verdict = flown_through((9.0, 0.0, 2.0), (11.0, 0.0, 2.0), laps=0.5)
    assert memory.gates == 1.0 and verdict.terminated == 1.0
    assert flown_through((9.0, 3.0, 2.0), (9.0, 30.0, 2.0))[1].terminated == 1.0  # lost
    assert gate_course("oval").shape == (8, 4)


def test_thrust_is_none_hovering_and_full() -> None:
    assert [thrust_share(action, 0.2) for action in (-1.0, 0.0, 1.0)] == pytest.approx([0.0, 0.2, 1.0])
    assert thrust_share(1e-6, 0.2) - thrust_share(0.0, 0.2) == pytest.approx(0.2e-6, rel=1e-4)


def test_hovering_quadrotors_stay_where_they_are() -> None:
    env = PaddockEnv("quad_hover", speed=0.0)
    _, info = env.reset(seed=3)
    for _ in range(50):
        after, reward, terminated, _, last = env.step(np.zeros(4, np.float32))
        assert not terminated
    assert last["distance"] == pytest.approx(info["distance"], abs=0.06)  # the battery's voltage sags a little
    expected = 0.5 * (1.0 - last["distance"] / 4.0) + 0.5 * np.exp(-8.0 * last["distance"] ** 2)
    assert reward == pytest.approx(expected, abs=1e-3)
    assert after[8] == pytest.approx(1.0, abs=1e-6)  # upright


def test_a_dropped_quadrotor_crashes() -> None:
    env = PaddockEnv("quad_hover", action="motors", speed=0.0, bounds=50.0)
    env.reset(seed=0)
    for _ in range(100):
        _, reward, terminated, _, _ = env.step(np.full(4, -1.0, np.float32))
        if terminated:
            break
    height = env.batch.pose[2, 0]
    assert terminated and reward == -5.0 and height < 0.1
    assert 0.4 < env.batch.elapsed[0] * env.batch.step_time < 0.9  # a fall from 1 to 3 m takes 0.45 to 0.78 s


@pytest.fixture(scope="module")
def racing() -> PaddockVectorEnv:
    envs = PaddockVectorEnv("car_racing", 6, observation="track", track="park", autoreset_mode="Disabled")
    envs.reset(seed=2)
    return envs


def test_progress_is_the_way_along_the_track(racing: PaddockVectorEnv) -> None:
    track, batch = load_track("park"), racing.batch
    before, _ = track.locate(batch.pose[0], batch.pose[1])
    total = np.zeros(6)
    for _ in range(20):
        _, rewards, terminated, _, info = racing.step(np.tile(np.float32([0.0, 0.5]), (6, 1)))
        assert not terminated.any()
        total += rewards
    along, offset = track.locate(batch.pose[0], batch.pose[1])
    moved = (along - before + 0.5 * track.length) % track.length - 0.5 * track.length
    assert info["distance"] == pytest.approx(moved, abs=1e-6) and (moved > 1.0).all()
    assert total == pytest.approx(0.1 * moved, abs=1e-6)
    assert batch.memory[column_index(find_task("car_racing").memory)["offset"]] == pytest.approx(offset, abs=1e-6)


def test_leaving_the_track_ends_the_episode() -> None:
    env = PaddockEnv("car_racing", observation="track", track="park", speed=10.0)
    env.reset(seed=1)
    track, half = load_track("park"), 0.295 * (1.15 + 1.15)  # half the width of the preset
    for _ in range(200):
        _, reward, terminated, _, _ = env.step(np.float32([1.0, 0.3]))
        along, offset = track.locate(*env.batch.pose[:2, 0])
        left, right = track.widths_at(along)
        assert terminated == bool(offset > left - half or -offset > right - half)
        if terminated:
            break
    assert terminated and reward == -2.0


def test_the_lidar_sees_the_boundaries_of_a_straight() -> None:
    env = PaddockEnv("car_racing", observation="lidar", track="acceleration", beams=271, anywhere=0, speed=0.0)
    observation, _ = env.reset(seed=0)
    x, y, yaw = *env.batch.pose[:2, 0], 2.0 * np.arcsin(env.batch.pose[5, 0])
    ranges = 30.0 * observation[7:]
    track = load_track("acceleration")
    offset = track.locate(x, y)[1]
    left, right = track.widths_at(track.locate(x, y)[0])
    for beam in (45, 60, 200, 225):  # degrees: beam - 135
        angle = yaw + np.radians(beam - 135)
        wall = left - offset if np.sin(angle) > 0.0 else right + offset
        assert ranges[beam] == pytest.approx(wall / abs(np.sin(angle)), abs=0.05)
    assert observation[7 + 135] == 1.0 or abs(np.sin(yaw)) * 30.0 > right  # nothing ahead within 30 m


def test_the_lidar_sees_other_cars() -> None:
    env = parallel_env("car_racing", observation="lidar", beams=271, agents=2, anywhere=0, speed=0.0, track="park")
    observations, _ = env.reset(seed=0)
    front, rear = env.batch.pose[:2, 0], env.batch.pose[:2, 1]
    ahead = np.hypot(*(front - rear))
    nearest = 30.0 * observations["car_1"][7:][120:151].min()
    assert ahead - 2.5 < nearest < ahead  # its tail, half a length before its middle
    assert np.hypot(*(30.0 * observations["car_1"][4:6])) == pytest.approx(ahead, abs=1e-4)


def test_cones_are_the_nearest_of_each_side_ahead() -> None:
    env = PaddockEnv("car_racing", observation="cones", track="trackdrive")
    observation, _ = env.reset(seed=5)
    track, (x, y) = load_track("trackdrive"), env.batch.pose[:2, 0]
    yaw = 2.0 * np.arctan2(env.batch.pose[5, 0], env.batch.pose[6, 0])
    seen = 30.0 * observation[7:].reshape(2, 8, 2)
    for side, colour in enumerate(("blue", "yellow")):
        gap = track.of_colour(colour) - (x, y)
        local = np.column_stack([gap @ (np.cos(yaw), np.sin(yaw)), gap @ (-np.sin(yaw), np.cos(yaw))])
        distance = np.hypot(*local.T)
        visible = (distance < 30.0) & (np.abs(np.arctan2(local[:, 1], local[:, 0])) < np.pi / 3.0)
        nearest = local[visible][np.argsort(distance[visible])][:8]
        assert seen[side, : len(nearest)] == pytest.approx(nearest, abs=1e-4) and len(nearest) >= 4


def test_detections_are_cones_with_noise_and_do_not_depend_on_the_batch() -> None:
    single = PaddockEnv("car_racing", observation="detections", track="trackdrive")
    observed, _ = single.reset(seed=5)
    envs = gymnasium.make_vec("paddock/CarRacing-v0", num_envs=3, observation="detections", track="trackdrive")
    assert np.array_equal(envs.reset(seed=3)[0][2], observed)
    track, (x, y) = load_track("trackdrive"), single.batch.pose[:2, 0]
    yaw = 2.0 * np.arctan2(single.batch.pose[5, 0], single.batch.pose[6, 0])
    seen = observed[7:].reshape(16, 3)
    seen = seen[np.abs(seen[:, :2]).sum(axis=1) > 0.0]
    places = 45.0 * seen[:, :2] @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]) + (x, y)
    gaps = np.hypot(*(places[:, None] - track.cones[None]).T).min(axis=0)
    assert len(seen) >= 8 and np.median(gaps) < 0.1 and np.median(gaps) > 0.0
    again, *_ = single.step(np.zeros(2, np.float32))
    assert not np.array_equal(again[7:], observed[7:])


def test_the_view_of_the_middle_line_is_that_of_the_track() -> None:
    env = PaddockEnv("car_racing", observation="track", track="park")
    observation, _ = env.reset(seed=8)
    track, (x, y) = load_track("park"), env.batch.pose[:2, 0]
    yaw = 2.0 * np.arctan2(env.batch.pose[5, 0], env.batch.pose[6, 0])
    along, _ = track.locate(x, y)
    for k, ahead in enumerate((2.0, 4.0, 7.0, 10.0, 14.0, 18.0, 24.0, 30.0)):
        gap = track.point_at(along + ahead) - (x, y)
        local = gap @ (np.cos(yaw), np.sin(yaw)), gap @ (-np.sin(yaw), np.cos(yaw))
        assert ahead * observation[7 + 2 * k : 9 + 2 * k] == pytest.approx(local, abs=0.6)  # to the nearest point


def test_pursuers_that_fly_at_it_catch_the_fleeing_one() -> None:
    env = parallel_env("pursuit", agents=3)
    observations, _ = env.reset(seed=1)
    caught = {}
    while env.agents:
        actions = {}
        for name, seen in observations.items():
            wanted = seen[:3] + 0.3 * seen[3:6]
            actions[name] = np.float32(np.clip(wanted, -1.0, 1.0))
        observations, rewards, ended, _, infos = env.step(actions)
        caught |= {name: rewards[name] for name in ended if ended[name]}
    assert set(caught) == {"pursuer_0", "pursuer_1", "pursuer_2"}  # all together
    assert min(info["distance"] for info in infos.values()) < 1.0
    assert all(reward > 15.0 for reward in caught.values())


def test_a_car_that_has_left_the_track_is_gone() -> None:
    env = parallel_env("car_racing", observation="track", agents=2, anywhere=0, track="park", speed=0.0)
    env.reset(seed=0)
    steps = {"car_0": np.float32([0.0, 0.0]), "car_1": np.float32([1.0, 1.0])}
    for _ in range(200):
        observations, _, ended, _, _ = env.step({name: steps[name] for name in env.agents})
        if ended.get("car_1"):
            break
    assert env.agents == ["car_0"]
    observations, *_ = env.step({"car_0": steps["car_0"]})
    assert list(observations) == ["car_0"] and observations["car_0"][4:7].tolist() == [0.0, 0.0, 0.0]  # no rival


def test_levels_of_cars_differ_and_a_batch_has_the_parameters_of_its_preset() -> None:
    batch = Batch(find_task("car_racing"), 2, observation="track", parameters={"mass": 200.0}, preset="driverless")
    assert batch.options[column_index(find_task("car_racing").options)["steer"]] == 0.45
    with load({"vehicles": [{"model": "car.bicycle", "preset": "driverless", "parameters": {"mass": 200.0}}]}) as sim:
        program = next(iter(sim.engine.programs.values()))
        assert np.array_equal(program.parameters.values, batch.program.parameters.values)


@pytest.mark.parametrize("course", ["acceleration", "skidpad"])
@pytest.mark.parametrize("anywhere", [0.0, 1.0])
def test_cars_of_open_tracks_begin_on_the_track_and_before_its_end(course: str, anywhere: float) -> None:
    """No car has left the track or finished after its first step, and no two stand at one place."""
    env = parallel_env("car_racing", agents=4, track=course, anywhere=anywhere, observation="track")
    track = load_track(course)
    for seed in range(20):
        env.reset(seed=seed)
        along = env.batch.memory[column_index(find_task("car_racing").memory)["along"]]
        assert along.min() >= 0.0 and along.max() < track.length - 9.0
        assert -np.diff(along) == pytest.approx(np.full(3, 6.0), abs=0.6)
        _, _, ended, _, infos = env.step({name: np.zeros(2, np.float32) for name in env.agents})
        assert not any(ended.values()) and all(info["laps"] == 0.0 for info in infos.values())


def test_a_grid_needs_room() -> None:
    with pytest.raises(InvalidValueError, match="40 cars take 240 m and 10 m to drive; track 'acceleration' is 180 m"):
        parallel_env("car_racing", agents=40, track="acceleration")
