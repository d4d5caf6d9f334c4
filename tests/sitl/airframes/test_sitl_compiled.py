"""Compiled conversion of states and poses to rows of sensor data, against hand calculations."""

from __future__ import annotations

import numpy as np
import pytest

from paddock.autopilot.vehicle_data import COLUMN, TRUTH, blank_sensors
from paddock.sitl.adapter_link import hold_invalid, mark_updates
from paddock.sitl.adapters.world import limit_actuators, same_values
from paddock.sitl.airframes import power_of
from paddock.sitl.equipment import QUATERNIONS, TRUE_ROWS, TRUE_SIGNS, copy_truth


@pytest.mark.parametrize(("full", "current"), [([10.0], [80.0, 5.0]), ([10.0, 30.0], [80.0, 15.0])])
def test_power_is_voltage_current_and_a_share(full: list[float], current: list[float]) -> None:
    # rows in another order than the airframe's: charge, voltage, then motors at share 2 (of all) and 1 (of one)
    state = np.array([[1.5, -0.25], [4.0, 2.0], [2.0, 1.0], [2.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    for run in (power_of, power_of.plain):
        power = np.empty((3, 2))
        run(state, np.array([1, 0, 2, 3, 4, 5]), np.array(full), power)
        assert power.tolist() == [[4.0, 2.0], current, [1.0, 0.0]]


def test_truth_is_written_in_the_axes_of_autopilots() -> None:
    pose = np.zeros((13, 2))
    pose[0:3] = [[1.0], [2.0], [3.0]]  # east, north, up
    pose[3:7] = [[0.0], [0.0], [np.sqrt(0.5)], [np.sqrt(0.5)]]  # yaw 90 deg: faces north
    pose[7:10] = [[4.0], [5.0], [6.0]]
    for run in (copy_truth, copy_truth.plain):
        block = blank_sensors(2)
        run(pose, TRUE_ROWS, TRUE_SIGNS, QUATERNIONS, TRUTH.start, block)
        assert block[1, TRUTH][:6].tolist() == [2.0, 1.0, -3.0, 5.0, 4.0, -6.0]
        assert np.abs(block[1, TRUTH][6:]) == pytest.approx([1.0, 0.0, 0.0, 0.0])
        assert np.isnan(block[:, COLUMN["gyro_x"]]).all()


def test_the_same_numbers() -> None:
    for run in (same_values, same_values.plain):
        assert run(np.array([0.0, 1.0]), np.array([-0.0, 1.0]))
        assert not run(np.array([0.0, 1.0]), np.array([0.0, 1.5]))


def test_rows_with_later_times_are_news() -> None:
    sensors = np.array([[5.0, 1.0], [7.0, 1.0], [3.0, 1.0]])
    for run in (mark_updates, mark_updates.plain):
        newest, updated = np.array([5.0, 6.0, -1.0]), np.ones(3, np.bool_)
        assert run(sensors, newest, updated) == 2
        assert updated.tolist() == [False, True, True] and newest.tolist() == [5.0, 7.0, 3.0]


def test_rows_that_are_not_finite_hold_the_good_ones() -> None:
    for run in (hold_invalid, hold_invalid.plain):
        rows, good = np.array([[1.0, np.nan], [2.0, 3.0], [np.inf, 0.0]]), np.full((3, 2), 0.5)
        bad = np.zeros(3, np.bool_)
        assert run(rows, good, bad) == 2 and bad.tolist() == [True, False, True]
        assert rows.tolist() == good.tolist() == [[0.5, 0.5], [2.0, 3.0], [0.5, 0.5]]


def test_actuators_are_limited_and_nan_is_noticed() -> None:
    for run in (limit_actuators, limit_actuators.plain):
        limited = np.empty((1, 4))
        assert not run(np.array([[-2.0, -0.5, 0.25, 9.0]]), limited)
        assert limited.tolist() == [[-1.0, -0.5, 0.25, 1.0]]
        assert run(np.array([[0.0, np.nan, 0.0, 0.0]]), limited)
