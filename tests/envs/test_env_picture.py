"""Pictures of worlds: areas in pixels, and what a car senses, at its place."""

from __future__ import annotations

from math import pi
from typing import Any

import gymnasium
import numpy as np
import pytest

import paddock.envs
from paddock.envs.picture import BLUE, DARK, GROUND, RED, Picture

ROAD = (175, 184, 193)


def count(picture: Picture, colour: tuple[int, int, int]) -> int:
    return int((picture.pixels == colour).all(axis=2).sum())


def ring(radius: float, points: int = 400) -> np.ndarray:
    angle = np.linspace(0.0, 2.0 * pi, points, endpoint=False)
    return radius * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])


def test_areas_are_as_large_as_the_plane_says() -> None:
    picture = Picture()
    view = picture.above((0.0, 0.0, 0.0), reach=12.0)  # 20 pixels per m
    view.fill([[(-3.0, -2.0, 0.0), (3.0, -2.0, 0.0), (3.0, 2.0, 0.0), (-3.0, 2.0, 0.0)]], DARK)
    assert count(picture, DARK) == 6 * 4 * 20**2
    assert (picture.pixels[240 - 40, 320 - 60] == DARK).all() and (picture.pixels[240 - 41, 320] == GROUND).all()
    view.fill([ring(10.0), ring(9.0)], RED)  # an odd number of outlines
    assert count(picture, RED) == pytest.approx(pi * (10.0**2 - 9.0**2) * 20**2, rel=0.01)
    view.fill([100.0 + ring(2.0)], BLUE)
    assert count(picture, BLUE) == 0  # out of view


@pytest.mark.parametrize("observation", ["lidar", "cones", "detections", "track"])
def test_a_car_and_what_it_senses_are_drawn_on_the_road(observation: str) -> None:
    env: Any = gymnasium.make(
        "paddock/CarRacing-v0", render_mode="rgb_array", observation=observation, track="trackdrive"
    )
    env.reset(seed=2)
    pixels = env.render()
    batch = env.unwrapped.batch
    assert (np.abs(pixels[232:249, 312:329].astype(int) - BLUE).sum(axis=2) == 0).any()  # the car is in the middle
    road = (pixels == ROAD).all(axis=2).sum()
    assert road + (pixels == (255, 171, 168)).all(axis=2).sum() > 40 * 3.0 * (240 / 22.0) ** 2  # 40 m of it, 3 m wide
    assert (pixels == RED).all(axis=2).sum() >= 20
    # beams end at the boundary, detections are cones, the line ahead is the middle: nothing is farther than that
    view, course = batch.course.view, batch.course.drawing
    seen = view.places(batch.observe(np.array([0]))[0, -view.values :])
    x, y, *_, qz, qw = batch.pose[:7, 0].tolist()
    yaw = 2.0 * np.arctan2(qz, qw)
    turned = seen @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]) + (x, y)
    near = turned[np.hypot(*seen.T) < 15.0]
    assert len(near) >= 3
    targets = {"lidar": np.vstack([course.left, course.right]), "track": course.centre}.get(observation, course.cones)
    apart = np.hypot(*np.moveaxis(near[:, None] - targets[None], 2, 0)).min(axis=1)
    assert np.quantile(apart, 0.8) < 0.6
    env.close()


def test_the_next_gate_is_green() -> None:
    env: Any = paddock.envs.PaddockEnv("drone_racing", render_mode="rgb_array")
    env.reset(seed=1)
    pixels = env.render()
    assert (pixels == (46, 160, 67)).all(axis=2).sum() > 50  # from above and from the side
    assert (pixels[:318] == (46, 160, 67)).all(axis=2).any() and (pixels[322:] == (46, 160, 67)).all(axis=2).any()
