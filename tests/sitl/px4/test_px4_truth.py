"""True rates of a vehicle from consecutive truths."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from paddock.autopilot.vehicle_data import SensorColumns, SensorData
from paddock.sitl.px4 import HilMessages
from paddock.world.geodesy import Origin


def truth(time_us: int, **values: float) -> SensorColumns:
    level = {"true_vn": 0.0, "true_ve": 0.0, "true_vd": 0.0, "true_qw": 1.0, "true_qx": 0.0, "true_qy": 0.0}
    return SensorData(time_us=time_us, **{**level, "true_qz": 0.0, **values}).values()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_rotation_about_each_axis_has_its_sign(sign: float) -> None:
    motion, angle = HilMessages(Origin(47.0, 8.0)), 1e-3
    start = (0.5, 0.5, -0.5, 0.5)  # w, x, y, z of any attitude
    for axis in range(3):
        turn = [math.cos(angle / 2), 0.0, 0.0, 0.0]
        turn[1 + axis] = math.sin(angle / 2)
        w, x, y, z = (sign * part for part in _product(start, turn))  # both signs are the same attitude
        motion.restart()
        for time_us, (qw, qx, qy, qz) in ((0, start), (10_000, (w, x, y, z))):
            motion.update_motion(truth(time_us, true_qw=qw, true_qx=qx, true_qy=qy, true_qz=qz))
        expected = [0.1 if k == axis else 0.0 for k in range(3)]
        assert motion.mean_motion is not None and motion.mean_motion[0] == pytest.approx(expected, abs=1e-9)


def _product(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Return the product of quaternions w, x, y, z, by their matrix."""
    w, x, y, z = a
    matrix = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    return list(map(float, matrix @ np.array(b)))


def test_rates_need_two_truths() -> None:
    motion = HilMessages(Origin(47.0, 8.0))
    motion.update_motion(truth(0))
    assert motion.mean_motion is None
    motion.update_motion(truth(4000, true_vd=0.02))
    assert motion.mean_motion is not None and motion.mean_motion[1] == pytest.approx((0.0, 0.0, 5.0))
    motion.update_motion(truth(8000, true_qw=math.nan))
    assert motion.mean_motion is None
