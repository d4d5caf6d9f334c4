"""The estimate jumps, the rover does not: held positions move with the estimate, map positions stay."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.guided import GuidedTarget

LOITER, CIRCLE, GUIDED = 5, 9, 15


def jumped(mode: int, **parameters: float) -> Any:
    """The mode, after a jump of 10 m north and 4 m west."""
    autopilot = BuiltInAutopilot(1, "rover", parameters)
    assert autopilot.set_mode(mode).accepted
    if mode == GUIDED:
        assert autopilot.set_guided_target(GuidedTarget(position=(30.0, 5.0, 0.0))).accepted
        autopilot.mode.update(0.02)
    autopilot.vehicle.shift((10.0, -4.0, 1.0))
    return autopilot.mode


def test_loiter_keeps_its_position() -> None:
    assert jumped(LOITER).hold_point.position == pytest.approx((10.0, -4.0))


def test_circle_keeps_its_centre() -> None:
    assert jumped(CIRCLE, CIRC_RADIUS=6.0).centre == pytest.approx((16.0, -4.0))


def test_a_commanded_position_stays_on_the_map() -> None:
    mode = jumped(GUIDED)
    mode.update(0.02)
    assert mode.autopilot.guided.position == (30.0, 5.0, 0.0)
    assert mode._hold_point.position == (30.0, 5.0)
