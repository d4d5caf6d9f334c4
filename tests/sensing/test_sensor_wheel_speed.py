"""Wheel speeds: turning geometry and errors."""

from typing import Any

import numpy as np
import pytest

QUIET = {"noise": 0.0, "walk": 0.0}


def test_wheels_differ_by_yaw_rate_times_track(bench: Any) -> None:
    wheels, yaw = bench.sensor("wheel_speed", track=1.6, **QUIET), 0.7
    pose = bench.poses(1, vx=12 * np.cos(yaw), vy=12 * np.sin(yaw), qz=np.sin(yaw / 2), qw=np.cos(yaw / 2), wz=0.5)
    bench.take(wheels, pose)
    assert wheels.readings()["left"][0] == pytest.approx(12 - 0.5 * 0.8)
    assert wheels.readings()["right"][0] == pytest.approx(12 + 0.5 * 0.8)


def test_sideways_motion_is_not_seen(bench: Any) -> None:
    wheels = bench.sensor("wheel_speed", **QUIET)
    bench.take(wheels, bench.poses(1, vx=-3.0, vy=5.0))
    assert wheels.readings()["left"][0] == pytest.approx(-3.0)


def test_errors_are_a_share_of_the_speed(bench: Any) -> None:
    wheels = bench.sensor("wheel_speed", noise=0.02, walk=0.0)
    bench.take(wheels, bench.poses(10_000, vx=np.repeat([0.0, 30.0], 5000)))
    assert not wheels.readings()["left"][:5000].any()
    for side in ("left", "right"):
        bench.assert_std(wheels.readings()[side][5000:], 0.6)
    assert abs(np.corrcoef(wheels.readings()["left"][5000:], wheels.readings()["right"][5000:])[0, 1]) < 5 / np.sqrt(
        5000
    )


def test_scale_error_walks(bench: Any) -> None:
    wheels = bench.sensor("wheel_speed", noise=0.0, walk=0.01)
    bench.run(wheels, lambda tick: bench.poses(4000, vx=10.0), 1001)
    bench.assert_std(wheels.readings()["right"], 0.1)


def test_resolution(bench: Any) -> None:
    wheels = bench.sensor("wheel_speed", resolution=0.25, **QUIET)
    bench.take(wheels, bench.poses(4, vx=[0.1, 0.13, -1.4, 10.0]))
    np.testing.assert_allclose(wheels.readings()["left"], [0.0, 0.25, -1.5, 10.0])
