"""Frames mounted on vehicles and in the world."""

from __future__ import annotations

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.world.transforms import StaleFrameError

SCENE = {"vehicles": [{"name": "red", "model": "car.kinematic", "pose": [10, 0, np.pi / 2], "speed": 5.0}]}


def test_a_sensor_mounted_on_a_car_moves_with_it() -> None:
    sim = paddock.load(SCENE)
    sim.world.frames.set("lidar", "red", [1.0, 0.0, 0.5])
    sim.world.frames.set("map", "world", [5.0, 0.0, 0.0])
    assert sim.world.frames.transform("world", "lidar").position == pytest.approx([10.0, 1.0, 0.5])
    assert sim.world.frames.transform("map", "lidar").position == pytest.approx([5.0, 1.0, 0.5])
    before = sim.snapshot()["red"].position
    sim.step(240)
    moved = sim.snapshot()["red"].position - before
    assert moved[1] > 4.0
    assert sim.world.frames.transform("world", "lidar").position == pytest.approx(before + moved + [0.0, 1.0, 0.5])
    assert sim.world.frames.transform("red", "lidar").position == pytest.approx([1.0, 0.0, 0.5])


def test_frames_are_part_of_the_log_and_of_the_state() -> None:
    sim = paddock.load(SCENE)
    sim.step(10)
    bare = sim.state_hash()
    sim.world.frames.set("lidar", "red", [1.0, 0.0, 0.5])
    sim.world.frames.set("head", "lidar", quaternion=[0.0, 0.0, 1.0, 0.0], moving=True)
    assert sim.state_hash() != bare
    sim.step(5)
    assert paddock.replayed(sim.scenario, sim.control.log.complete(), 15).state_hash() == sim.state_hash()


def test_a_moving_frame_goes_stale() -> None:
    sim = paddock.load(SCENE)
    sim.world.frames.set("head", "red", moving=True)
    assert sim.world.frames.transform("red", "head").position == pytest.approx([0.0, 0.0, 0.0])
    sim.step(240)
    with pytest.raises(StaleFrameError, match="head"):
        sim.world.frames.transform("world", "head")


@pytest.mark.parametrize(
    ("name", "parent", "message"),
    [
        ("red", "world", "'red' is a vehicle: give the frame another name"),
        ("world", "red", "'world' is the world: give the frame another name"),
        ("lidar", "rad", "unknown frame 'rad'; did you mean 'red'?"),
    ],
)
def test_wrong_frames_are_refused_and_change_nothing(name: str, parent: str, message: str) -> None:
    sim = paddock.load(SCENE)
    before = sim.state_hash()
    with pytest.raises(PaddockError) as caught:
        sim.world.frames.set(name, parent)
    assert str(caught.value) == message
    assert sim.state_hash() == before
    with pytest.raises(PaddockError, match="unknown frame 'lidr'"):
        sim.world.frames.transform("world", "lidr")
