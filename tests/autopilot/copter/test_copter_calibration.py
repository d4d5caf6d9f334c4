"""Calibration of a copter with noisy sensors: the biases are the means of what its sensors measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddock.autopilot import kalman
from paddock.autopilot.telemetry import CommandDone
from paddock.autopilot.vehicle_data import COLUMN

CALIBRATE = 241


def test_a_calibration_measures_gyro_bias_and_ground_pressure(rig: Any) -> None:
    craft = rig("iris", noisy=True)
    craft.run(6.0)
    autopilot = craft.autopilot
    first = autopilot.estimator.state[kalman.GYRO_BIAS : kalman.GYRO_BIAS + 3].copy()
    autopilot.estimator.state[kalman.GYRO_BIAS : kalman.GYRO_BIAS + 3] = 0.05  # far off
    autopilot.estimator.state[kalman.BARO_BIAS] += 20.0
    down = autopilot.estimate.down
    autopilot.outbox.clear()
    assert int(autopilot.command(CALIBRATE, (1.0, 0.0, 1.0)).result) == 5  # in progress
    gyro, pressure = [], []
    while autopilot.calibration.sensors:
        craft.step()
        gyro.append(craft.data.row[COLUMN["gyro_x"] : COLUMN["gyro_x"] + 3].copy())
        pressure.append(craft.data.row[COLUMN["pressure"]])
    assert len(gyro) == pytest.approx(250, abs=6)  # a second at 250 Hz
    measured = [autopilot.parameters.value(f"INS_GYROFFS_{axis}") for axis in "XYZ"]
    # 50 of the 250 samples, and float32 parameters
    assert measured == pytest.approx(np.mean(gyro, axis=0).tolist(), abs=4.0 * np.std(gyro) / np.sqrt(50.0))
    assert autopilot.estimator.state[kalman.GYRO_BIAS : kalman.GYRO_BIAS + 3] == pytest.approx(measured, abs=1e-6)
    assert measured[:2] == pytest.approx(first[:2].tolist(), abs=0.003)  # what the filter had found by itself
    assert autopilot.parameters.value("BARO1_GND_PRESS") == pytest.approx(np.mean(pressure), abs=5.0)
    done = [notice for notice in autopilot.outbox if isinstance(notice, CommandDone)]
    assert len(done) == 1 and done[0].ack.accepted
    craft.run(1.0)
    assert autopilot.estimate.down == pytest.approx(down, abs=1.0)  # not 20 m off


def test_the_level_of_accelerometers_and_a_motion_that_fails(rig: Any) -> None:
    craft = rig("iris", noisy=True)
    craft.run(6.0)
    autopilot = craft.autopilot
    assert int(autopilot.command(CALIBRATE, (0.0, 0.0, 0.0, 0.0, 4.0)).result) == 5
    force = []
    while autopilot.calibration.sensors:
        craft.step()
        force.append(craft.data.row[COLUMN["accel_x"] : COLUMN["accel_x"] + 3].copy())
    expected = np.mean(force, axis=0) + np.array([0.0, 0.0, 9.80665])
    assert autopilot.estimator.state[kalman.ACCEL_BIAS : kalman.ACCEL_BIAS + 3] == pytest.approx(expected, abs=0.03)
    craft.ready()
    refused = autopilot.command(CALIBRATE, (1.0,))
    assert int(refused.result) == 1 and refused.text == "Calibration: disarm first"


def test_calibration_with_the_truth_is_refused(rig: Any) -> None:
    craft = rig("iris")
    craft.run(1.0)
    assert int(craft.autopilot.command(CALIBRATE, (1.0,)).result) == 4
