"""The inertial unit against mechanics done by hand."""

from typing import Any

import numpy as np
import pytest

from paddock.world.columns import Floats

G = 9.80665
QUIET = {"accelerometer_noise": 0.0, "gyro_noise": 0.0, "accelerometer_walk": 0.0, "gyro_walk": 0.0}


def test_a_level_vehicle_at_rest_reads_gravity_upwards_with_the_default_noise(bench: Any) -> None:
    imu = bench.sensor("imu", accelerometer_walk=0.0, gyro_walk=0.0)
    bench.take(imu, bench.poses(20_000))
    for name, mean, sigma in [("ax", 0, 0.1), ("ay", 0, 0.1), ("az", G, 0.1), ("wx", 0, 0.01), ("wz", 0, 0.01)]:
        bench.assert_std(imu.readings()[name], sigma)
        bench.assert_mean(imu.readings()[name], mean, sigma)


def test_noise_of_one_vehicle_over_time_is_white(bench: Any) -> None:
    imu, seen = bench.sensor("imu", rate=1000.0, accelerometer_walk=0.0), []
    for tick in range(5000):
        bench.take(imu, bench.poses(1), tick)
        seen.append(imu.readings()["az"][0])
    bench.assert_std(np.array(seen), 0.1)
    assert abs(np.corrcoef(seen[:-1], seen[1:])[0, 1]) < 5 / np.sqrt(5000)


def test_axes_are_uncorrelated(bench: Any) -> None:
    imu = bench.sensor("imu")
    bench.take(imu, bench.poses(20_000))
    correlation = np.corrcoef(np.stack(list(imu.readings().values())))
    assert np.abs(correlation - np.eye(6)).max() < 5 / np.sqrt(20_000)


def circle(bench: Any, speed: float, radius: float, tick: int) -> Floats:
    turn = speed / radius
    yaw = turn * tick / 1000.0
    return bench.poses(
        1,
        x=radius * np.sin(yaw),
        y=-radius * np.cos(yaw),
        qz=np.sin(yaw / 2),
        qw=np.cos(yaw / 2),
        vx=speed * np.cos(yaw),
        vy=speed * np.sin(yaw),
        wz=turn,
    )


@pytest.mark.parametrize(("speed", "radius"), [(20.0, 50.0), (20.0, -50.0), (1.0, 0.5)])
def test_a_steady_circle_reads_the_centripetal_acceleration_to_the_side(
    bench: Any, speed: float, radius: float
) -> None:
    imu = bench.sensor("imu", **QUIET)
    for tick in range(0, 20_000, 10):  # several turns: the quaternion's sign must not matter
        pose = circle(bench, speed, radius, tick)
        pose[3:7] *= 1 - 2 * ((tick // 10) % 2)
        bench.take(imu, pose, tick)
        if tick > 0:
            assert imu.readings()["ay"][0] == pytest.approx(speed**2 / radius, rel=2e-5)
            assert imu.readings()["ax"][0] == pytest.approx(0.0, abs=1e-9)
            assert imu.readings()["az"][0] == pytest.approx(G, rel=1e-12)
            assert imu.readings()["wz"][0] == pytest.approx(speed / radius)


def test_free_fall_reads_nothing(bench: Any) -> None:
    imu = bench.sensor("imu", **QUIET)
    bench.run(imu, lambda tick: bench.poses(1, vz=-G * tick / 1000.0), 100)
    assert np.abs([imu.readings()[a][0] for a in ("ax", "ay", "az")]).max() < 1e-12


def test_tilted_at_rest(bench: Any) -> None:
    imu, half = bench.sensor("imu", **QUIET), np.sqrt(0.5)
    rolled, pitched = bench.poses(1, qx=half, qw=half), bench.poses(1, qy=half, qw=half)
    bench.take(imu, np.concatenate([rolled, pitched], axis=1))
    # rolled right: the left axis points up; nose down: the forward axis points down
    np.testing.assert_allclose(imu.readings()["ay"], [G, 0.0], atol=1e-12)
    np.testing.assert_allclose(imu.readings()["ax"], [0.0, -G], atol=1e-12)


def test_the_first_sample_of_a_moving_vehicle_shows_no_jolt(bench: Any) -> None:
    imu = bench.sensor("imu", **QUIET)
    bench.take(imu, bench.poses(2, vx=30.0))
    np.testing.assert_allclose(imu.readings()["ax"], 0.0, atol=1e-12)
    bench.take(imu, bench.poses(3, vx=30.0), tick=10)  # one more joined
    np.testing.assert_allclose(imu.readings()["ax"], 0.0, atol=1e-12)
    np.testing.assert_allclose(imu.readings()["az"], G, rtol=1e-12)


def test_acceleration_is_the_mean_since_the_sample_before(bench: Any) -> None:
    imu = bench.sensor("imu", rate=10.0, **QUIET)
    bench.take(imu, bench.poses(1))
    bench.take(imu, bench.poses(1, vx=0.5), tick=100)
    assert imu.readings()["ax"][0] == pytest.approx(5.0)
    bench.take(imu, bench.poses(1, vx=1.5), tick=300)  # the sample at 200 was left out
    assert imu.readings()["ax"][0] == pytest.approx(5.0)


def test_the_bias_variance_grows_linearly_with_time(bench: Any) -> None:
    q, vehicles = 0.02, 4000
    imu = bench.sensor("imu", **{**QUIET, "accelerometer_walk": q, "gyro_walk": q / 10})
    pose = bench.poses(vehicles)
    for seconds in (0, 1, 4):
        bench.run(imu, lambda tick: pose, 1000 * seconds + 1 - (imu.sample_tick + 1), first=imu.sample_tick + 1)
        if seconds == 0:
            assert not np.any(imu.readings()["ax"])
            continue
        bench.assert_std(imu.readings()["ax"], q * np.sqrt(seconds))
        bench.assert_std(imu.readings()["az"] - G, q * np.sqrt(seconds))
        bench.assert_std(imu.readings()["wy"], q / 10 * np.sqrt(seconds))


def test_the_bias_walk_does_not_depend_on_the_sampling_rate(bench: Any) -> None:
    for rate in (10.0, 500.0):
        imu = bench.sensor("imu", rate=rate, **{**QUIET, "accelerometer_walk": 0.02})
        bench.run(imu, lambda tick: bench.poses(3000), 1001)
        bench.assert_std(imu.readings()["ay"], 0.02)


def test_readings_stop_at_the_range(bench: Any) -> None:
    imu = bench.sensor("imu", **QUIET)
    bench.take(imu, bench.poses(1))
    bench.take(imu, bench.poses(1, vx=-1000.0, wy=99.0), tick=10)
    assert imu.readings()["ax"][0] == pytest.approx(-16 * G)
    assert imu.readings()["wy"][0] == pytest.approx(np.deg2rad(2000))
