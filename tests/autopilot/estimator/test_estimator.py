"""The estimator against motions written down as formulas, seen through the sensors of `paddock.sensing`."""

from math import atan2, radians
from typing import Any

import numpy as np
import pytest

from paddock.autopilot import kalman
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.estimator import Estimator, SensorHealth, run_filters, update_all
from paddock.autopilot.vehicle_data import SensorData
from paddock.sensing.site import field_at

MOTIONS = ["turn", *(pytest.param(name, marks=pytest.mark.slow) for name in ("standing", "circle", "shuttle"))]


@pytest.mark.parametrize("name", MOTIONS)
def test_the_estimate_is_better_than_the_fixes(bench: Any, name: str) -> None:
    errors = bench.follow(bench.Flight(bench.motions[name], rate=100.0, seconds=40.0), Estimator()).after(15.0)
    # a fix has 0.5 m, 1.0 m and 0.05 m/s; a heading of the compass 0.05 rad
    assert (bench.rms(errors.position)[:2] < 0.25).all() and bench.rms(errors.position)[2] < 0.4
    assert (bench.rms(errors.velocity) < 0.05).all()
    assert (bench.rms(errors.attitude)[:2] < radians(0.6)).all() and bench.rms(errors.attitude)[2] < radians(1.0)


@pytest.mark.parametrize("name", MOTIONS)
def test_errors_match_the_covariance(bench: Any, name: str) -> None:
    squares = []
    for seed in range(6):  # independent flights: errors of one flight are correlated for seconds
        errors = bench.follow(bench.Flight(bench.motions[name], rate=50.0, seconds=25.0, seed=seed), Estimator()).after(
            15.0
        )
        for k in range(0, len(errors.time), 100):
            error = np.concatenate([errors.position[k], errors.velocity[k], errors.attitude[k]])
            squares.append(error @ np.linalg.solve(errors.covariance[k][:9, :9], error))
    assert 2.5 < np.mean(squares) < 12.0  # chi-square with 9 degrees of freedom, noise being taken a little too large


def test_innovations_of_the_position_are_white(bench: Any) -> None:
    estimator, innovations, last = Estimator(), [], -1.0
    frame = None
    for _, data in bench.Flight(bench.motions["circle"], rate=50.0, seconds=60.0):
        if frame is not None and data.row[8] > last:
            before = estimator.row[1:3] + estimator.row[4:6] * 0.02
            innovations.append(np.array(frame.to_ned(*data.row[11:14]))[:2] - before)
        last = data.gnss_time_us
        estimator.update(data)
        frame = estimator.frame
    kept = np.array(innovations[50:])
    lagged = [np.corrcoef(kept[:-1, axis], kept[1:, axis])[0, 1] for axis in range(2)]
    assert np.abs(lagged).max() < 3.0 / np.sqrt(len(kept))
    assert bench.rms(kept) == pytest.approx([0.51, 0.51], abs=0.08)  # the fix's noise, and little else


def test_sensor_biases_are_estimated(bench: Any) -> None:
    estimator = Estimator()
    flight = bench.Flight(
        bench.motions["turn"], seconds=60.0, gyro_bias=(0.01, -0.015, 0.008), accel_bias=(0.1, -0.15, 0.2)
    )
    errors = bench.follow(flight, estimator).after(40.0)
    assert estimator.state[kalman.GYRO_BIAS : kalman.GYRO_BIAS + 3] == pytest.approx([0.01, -0.015, 0.008], abs=0.0015)
    assert estimator.state[kalman.ACCEL_BIAS : kalman.ACCEL_BIAS + 3] == pytest.approx([0.1, -0.15, 0.2], abs=0.08)
    assert (bench.rms(errors.position)[:2] < 0.25).all()
    assert (bench.rms(errors.attitude) < radians(1.0)).all()


def test_delayed_fixes_are_compensated(bench: Any) -> None:
    flight = bench.Flight(bench.motions["turn"], seconds=40.0, options={"gnss": {"delay": 0.2}})
    errors = bench.follow(flight, Estimator()).after(20.0)
    assert np.linalg.norm(bench.rms(errors.position)[:2]) < 1.5  # at 30 m/s, 0.2 s are 6 m


def test_the_origin_is_the_first_fix_and_heading_is_true(bench: Any) -> None:
    estimator = Estimator()
    assert estimator.frame is None
    for _, data in bench.Flight(bench.motions["standing"], seconds=20.0):
        first = estimator.frame is None and data.gnss_time_us >= 0.0
        estimator.update(data)
        if first:
            assert estimator.frame == LocalFrame(data.latitude, data.longitude, data.altitude)
    east, north, _ = field_at(35.6812, 139.7671, 40.0, 2025.0)
    assert abs(atan2(east, north)) > radians(7.0)  # so a magnetic heading would fail
    assert estimator.estimate().yaw == pytest.approx(1.0, abs=radians(1.5))
    assert estimator.estimate().roll == pytest.approx(0.03, abs=radians(1.0))
    assert estimator.health == SensorHealth(True, True, True, True, True)


def test_truth_only_on_request(bench: Any) -> None:
    blind, seeing = Estimator(), Estimator(use_truth=True)
    for truth, data in bench.Flight(bench.motions["turn"], rate=50.0, seconds=5.0):
        quaternion = truth.rotation.as_quat()[[3, 0, 1, 2]]
        data.row[-10:] = [*truth.position, *truth.velocity, *quaternion]
        blind.update(data)
        seeing.update(data)
    result = seeing.estimate()
    np.testing.assert_allclose(result[1:7], [*truth.position, *truth.velocity], atol=1e-12)
    assert (result.roll, result.pitch, result.yaw) == pytest.approx(truth.euler, abs=1e-12)
    assert (result.position_ok, result.horizontal_error) == (1.0, 0.0)
    assert np.abs(blind.row[1:4] - truth.position).max() > 0.01
    assert seeing.frame is not None
    shift = LocalFrame(35.6812, 139.7671, 40.0).to_ned(*seeing.frame.to_geodetic(0.0, 0.0, 0.0))
    assert np.linalg.norm(shift) < 4.0  # the world's origin, as well as one fix shows it


def test_samples_are_used_once(bench: Any) -> None:
    once, often = Estimator(), Estimator()
    for _, data in bench.Flight(bench.motions["circle"], rate=50.0, seconds=5.0):
        once.update(data)
        for _ in range(3):
            often.update(data)
    np.testing.assert_array_equal(once.row, often.row)
    np.testing.assert_array_equal(once.covariance, often.covariance)


def test_compiled_and_plain_python_agree_and_reset_clears_the_state(bench: Any) -> None:
    rows = [data.copy() for _, data in bench.Flight(bench.motions["turn"], rate=50.0, seconds=3.0)]
    compiled, plain = Estimator(), Estimator()
    for data in rows:
        compiled.update(data)
    assert run_filters.plain is update_all
    for data in rows:  # the same class with the oracle in place of the routine
        plain.sensors[:] = data.row
        update_all(np.array([0]), *plain.arrays)
        plain.handle(int(plain.arrays.events[0]))
    np.testing.assert_allclose(compiled.row, plain.row, rtol=1e-9, atol=1e-9)
    first = compiled.row.copy()
    compiled.reset()
    assert compiled.frame is None and compiled.estimate().attitude_ok == 0.0
    for data in rows:
        compiled.update(data)
    np.testing.assert_array_equal(compiled.row, first)


def test_without_measurements_nothing_is_valid() -> None:
    estimator = Estimator()
    estimator.update(SensorData(time_us=1000.0))
    result = estimator.estimate()
    assert (result.attitude_ok, result.position_ok, result.height_ok) == (0.0, 0.0, 0.0)
    assert np.isfinite(estimator.row).all()
    assert estimator.health == SensorHealth(False, False, False, False, False)
