"""Compiled conversion of states and poses to rows of sensor data, against hand calculations."""

from __future__ import annotations

import numpy as np
import pytest

from paddock.sitl.adapters.world import same_values
from paddock.sitl.airframes.quad import power_of
from paddock.sitl.equipment import QUATERNIONS, TRUE_ROWS, TRUE_SIGNS, copy_truth
from paddock.sitl.sensor_data import COLUMN, TRUTH, empty_block


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
        block = empty_block(2)
        run(pose, TRUE_ROWS, TRUE_SIGNS, QUATERNIONS, TRUTH.start, block)
        assert block[1, TRUTH][:6].tolist() == [2.0, 1.0, -3.0, 5.0, 4.0, -6.0]
        assert np.abs(block[1, TRUTH][6:]) == pytest.approx([1.0, 0.0, 0.0, 0.0])
        assert np.isnan(block[:, COLUMN["gyro_x"]]).all()


def test_the_same_numbers() -> None:
    for run in (same_values, same_values.plain):
        assert run(np.array([0.0, 1.0]), np.array([-0.0, 1.0]))
        assert not run(np.array([0.0, 1.0]), np.array([0.0, 1.5]))
