"""The estimator when sensors fail: outages, jumps, invalid samples, timeouts."""

from math import degrees, radians
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.estimator import Estimator
from paddock.autopilot.vehicle_data import SensorData


def no_fix(data: SensorData) -> None:
    data.row[9] = 0.0
    data.row[11:17] = np.nan


def test_drift_without_fixes_is_bounded_by_the_inertial_sensors(bench: Any) -> None:
    estimator, seen = Estimator(), {}

    def outage(seconds: float, data: SensorData) -> None:
        if seconds >= 30.0:
            no_fix(data)
        seen[round(seconds, 2)] = estimator.row[[21, 23]].copy()

    errors = bench.follow(bench.Flight(bench.motions["circle"], seconds=42.0), estimator, outage)
    distance = np.linalg.norm(errors.position[:, :2], axis=1)
    # 10 s with a tilt known to about 0.3 deg: 0.5 g sin(0.3 deg) t2 = 2.6 m, and 0.04 m/s of velocity: 0.4 m
    assert distance[(errors.time > 39.9) & (errors.time < 40.0)].max() < 6.0
    expected = np.sqrt(errors.covariance[:, 0, 0] + errors.covariance[:, 1, 1])
    assert (distance[errors.time > 30.0] < 4.0 * expected[errors.time > 30.0]).all()
    assert seen[33.0][0] == 1.0 and seen[35.0][0] == 0.0  # the position is relied on for 4 s
    assert seen[41.0][1] > 5.0 * seen[30.0][1]  # the error it admits grows
    assert not estimator.health.gps
    assert estimator.estimate().attitude_ok == 1.0 and estimator.estimate().height_ok == 1.0


def test_fixes_are_fused_again_after_an_outage(bench: Any) -> None:
    estimator = Estimator()

    def outage(seconds: float, data: SensorData) -> None:
        if 15.0 <= seconds < 30.0:
            no_fix(data)

    errors = bench.follow(bench.Flight(bench.motions["circle"], seconds=45.0), estimator, outage).after(40.0)
    assert (bench.rms(errors.position)[:2] < 0.3).all()
    assert estimator.estimate().position_ok == 1.0


def test_a_single_outlier_fix_is_rejected(bench: Any) -> None:
    estimator, ratios = Estimator(), []

    def glitch(seconds: float, data: SensorData) -> None:
        ratios.append(estimator.estimate().position_ratio)
        if 20.0 <= seconds < 21.0:
            data.row[11] += 0.001  # 111 m north

    errors = bench.follow(bench.Flight(bench.motions["circle"], seconds=23.0), estimator, glitch).after(20.0)
    assert np.abs(errors.position[:, :2]).max() < 1.0
    assert max(ratios) > 1.0 and estimator.estimate().position_ok == 1.0


@pytest.mark.parametrize(("outage", "rejected"), [(3.5, True), (4.3, True), (6.0, False)])
def test_a_jump_after_an_outage_is_rejected_until_the_failsafe_has_acted(
    bench: Any, outage: float, rejected: bool
) -> None:
    estimator = Estimator()

    def jammed(seconds: float, data: SensorData) -> None:
        if 20.0 <= seconds < 20.0 + outage:
            no_fix(data)
        if seconds >= 20.0 + outage:
            data.row[11] += 0.001  # 111 m north

    errors = bench.follow(bench.Flight(bench.motions["circle"], seconds=29.0), estimator, jammed).after(28.0)
    assert np.abs(errors.position[:, :2]).max() == pytest.approx(0.0 if rejected else 111.0, abs=10.0)
    assert estimator.estimate().position_ok == (0.0 if rejected else 1.0)


def test_position_recovers_after_the_vehicle_was_moved(bench: Any) -> None:
    estimator = Estimator()

    def carried(seconds: float, data: SensorData) -> None:
        if 10.0 <= seconds < 20.0:
            no_fix(data)
        if seconds >= 20.0:
            data.row[11] += 0.01  # 1.1 km north
            data.row[13] += 50.0

    flight = bench.Flight(bench.motions["standing"], rate=50.0, seconds=30.0)
    errors = bench.follow(flight, estimator, carried).after(25.0)
    per_degree = 110_900.0  # m of latitude at 35.7 deg
    assert errors.position.mean(axis=0) == pytest.approx([0.01 * per_degree, 0.0, -50.0], abs=1.5)
    assert estimator.estimate().position_ok == 1.0


def test_persistent_fixes_reset_the_position(bench: Any) -> None:
    estimator, relied = Estimator(), []

    def moved(seconds: float, data: SensorData) -> None:
        relied.append(estimator.estimate().position_ok)
        if seconds >= 10.0:
            data.row[11] += 0.001

    flight = bench.Flight(bench.motions["standing"], rate=50.0, seconds=22.0)
    errors = bench.follow(flight, estimator, moved)
    assert errors.position[-1, 0] == pytest.approx(110.9, abs=1.0)
    assert relied[round(11.0 * 50)] == 1.0 and 0.0 in relied[round(14.0 * 50) :] and relied[-1] == 1.0


@pytest.mark.parametrize(("columns", "name"), [(slice(2, 5), "gyro"), (slice(5, 8), "accel")])
def test_an_invalid_inertial_sensor_is_flagged(bench: Any, columns: slice, name: str) -> None:
    estimator, health = Estimator(), []

    def broken(seconds: float, data: SensorData) -> None:
        health.append(getattr(estimator.health, name))
        if 10.0 <= seconds < 11.0:
            data.row[columns] = np.nan

    bench.follow(bench.Flight(bench.motions["standing"], rate=50.0, seconds=20.0), estimator, broken)
    assert health[round(9.9 * 50)] and not health[round(10.5 * 50)] and health[-1]
    assert np.isfinite(estimator.row).all()
    assert abs(degrees(estimator.estimate().roll) - degrees(0.03)) < 2.0


@pytest.mark.parametrize(
    ("columns", "name", "patience"),
    [
        (slice(2, 5), "gyro", 2.0),
        (slice(5, 8), "accel", 2.0),
        (slice(20, 23), "mag", 3.0),
        (slice(24, 25), "baro", 3.0),
        (slice(11, 14), "gps", 6.0),
    ],
)
def test_a_frozen_sensor_is_flagged(bench: Any, columns: slice, name: str, patience: float) -> None:
    estimator, frozen = Estimator(), []

    def freeze(seconds: float, data: SensorData) -> None:
        if seconds >= 12.0:
            frozen.append(data.row[columns].copy()) if not frozen else None
            data.row[columns] = frozen[0]

    bench.follow(bench.Flight(bench.motions["standing"], rate=50.0, seconds=12.1 + patience), estimator, freeze)
    assert [n for n in estimator.health._fields if not getattr(estimator.health, n)] == [name]


def test_noise_free_sensors_do_not_count_as_frozen(bench: Any) -> None:
    noiseless = {
        "imu": {"accelerometer_noise": 0.0, "gyro_noise": 0.0, "accelerometer_walk": 0.0, "gyro_walk": 0.0},
        "gnss": {"noise_horizontal": 0.0, "noise_vertical": 0.0, "noise_velocity": 0.0, "walk": 0.0},
        "compass": {"noise": 0.0, "walk": 0.0},
        "barometer": {"noise": 0.0, "walk": 0.0},
    }
    estimator = Estimator()
    flight = bench.Flight(bench.motions["standing"], rate=50.0, seconds=20.0, options=noiseless)
    errors = bench.follow(flight, estimator).after(10.0)
    assert all(estimator.health)
    assert np.abs(errors.position).max() < 1e-3 and np.abs(errors.attitude).max() < 1e-4  # the model's place is rounded


def test_sensor_timeouts_are_flagged(bench: Any) -> None:
    estimator, data = Estimator(), SensorData()
    for _, row in bench.Flight(bench.motions["standing"], rate=50.0, seconds=5.0):
        data = row.copy()
        estimator.update(row)
    data.row[0] += 3e6
    estimator.update(data)
    assert not any(estimator.health)
    assert estimator.estimate().attitude_ok == 0.0 and estimator.estimate().height_ok == 0.0


def test_a_standing_vehicle_does_not_drift_without_fixes(bench: Any) -> None:
    drifts = []
    for known in (True, False):
        estimator = Estimator()
        estimator.standing = known

        def outage(seconds: float, data: SensorData) -> None:
            if seconds >= 10.0:
                no_fix(data)

        flight = bench.Flight(bench.motions["standing"], rate=50.0, seconds=60.0, accel_bias=(0.1, 0.1, 0.0))
        errors = bench.follow(flight, estimator, outage)
        assert estimator.standing is known
        drifts.append(np.linalg.norm(errors.position[-1, :2]))
    assert drifts[0] < 1.0 < drifts[1]


def test_without_a_compass_the_course_shows_the_heading(bench: Any) -> None:
    estimator, heading_known = Estimator(), []

    def no_compass(seconds: float, data: SensorData) -> None:
        heading_known.append(estimator.estimate().attitude_ok)
        data.row[20:23] = np.nan

    errors = bench.follow(bench.Flight(bench.motions["circle"], rate=50.0, seconds=40.0), estimator, no_compass)
    assert heading_known[5] == 0.0 and heading_known[-1] == 1.0
    # from now on only the centripetal acceleration shows it, 1.25 m/s2 against a bias of 0.2
    assert np.abs(errors.after(30.0).attitude[:, 2]).max() < radians(15.0)
    assert not estimator.health.mag


def test_a_magnetic_disturbance_is_rejected(bench: Any) -> None:
    estimator, ratios = Estimator(), []

    def magnet(seconds: float, data: SensorData) -> None:
        ratios.append(estimator.estimate().compass_ratio)
        if seconds >= 20.0:
            data.row[20:23] += [0.0, 1e-4, 0.0]

    errors = bench.follow(bench.Flight(bench.motions["circle"], rate=50.0, seconds=22.0), estimator, magnet).after(20.0)
    assert max(ratios) > 1.0
    assert np.abs(errors.attitude[:, 2]).max() < radians(5.0)


def test_a_turn_missed_by_the_gyroscope_is_corrected(bench: Any) -> None:
    estimator, relied = Estimator(), []

    def blind(seconds: float, data: SensorData) -> None:
        relied.append(estimator.estimate().position_ok)
        if 16.0 <= seconds < 17.0:  # pitching by 12 deg
            data.row[2:5] = 1e-4 * np.sin(1e3 * seconds)

    errors = bench.follow(bench.Flight(bench.motions["shuttle"], rate=50.0, seconds=26.0), estimator, blind)
    assert degrees(np.abs(errors.attitude[errors.time < 17.1, 1]).max()) > 10.0
    assert min(relied[100:]) == 1.0
    late = errors.after(21.0)
    assert np.abs(late.position[:, :2]).max() < 1.5 and degrees(np.abs(late.attitude[:, 1]).max()) < 3.0
