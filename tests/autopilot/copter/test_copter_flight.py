"""The copter in the air: every airframe takes off, holds, moves and turns within bounds, and lands softly."""

from __future__ import annotations

from math import degrees, radians
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.telemetry import Landed
from paddock.autopilot.vehicle_data import Floats
from paddock.world.columns import Environment

PRESETS = (
    *("iris", "crazyflie"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("race", "micro", "long_range")),
)


def settling(log: Floats, column: int, target: float, band: float) -> float:
    """s until a column stays within a band of its target."""
    outside = np.nonzero(np.abs(log[:, column] - target) > band)[0]
    return float(log[outside[-1], 0] - log[0, 0]) if len(outside) else 0.0


@pytest.mark.parametrize("preset", PRESETS)
def test_every_airframe_takes_off_hovers_and_flies_to_a_position(rig: Any, preset: str) -> None:
    craft = rig(preset, wind=(0.0, 3.0))
    log = craft.take_off(10.0)
    assert log[:, 3].max() < 10.3
    assert abs(craft.state.z - 10.0) < 0.1
    assert craft.distance(0.0, 0.0) < 0.1
    assert np.hypot(log[:, 1], log[:, 2]).max() < 0.5
    # the airframe's own numbers: a quarter of its weight over the thrust of one motor
    share = craft.parameters.mass * 9.80665 / (4.0 * craft.parameters.thrust_max)
    assert craft.autopilot.vehicle.hover == pytest.approx(share, rel=0.02)
    assert log[-250:, 8:].std(axis=0).max() < 0.01  # the motors do not quiver
    assert craft.autopilot.set_guided_target(GuidedTarget(position=(20.0, 0.0, -10.0))).accepted
    log = craft.run(12.0)
    assert log[:, 1].max() < 20.5
    assert settling(log, 1, 20.0, 0.3) < 10.0
    assert np.abs(log[:, 2]).max() < 0.5  # beside the straight way, with the wind across
    assert np.abs(log[:, 3] - 10.0).max() < 0.3


@pytest.mark.parametrize("preset", ["iris", pytest.param("micro", marks=pytest.mark.soak)])
def test_yaw_turns_the_shorter_way_and_stops(rig: Any, preset: str) -> None:
    craft = rig(preset)
    craft.take_off(5.0)
    assert craft.autopilot.command(115, (270.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)).accepted
    log = craft.run(6.0)
    turned = np.degrees(log[:, 7])
    assert turned.max() < 1.0 and turned.min() > -95.0  # to the left, 90 degrees
    assert abs(turned[-1] + 90.0) < 1.0
    assert settling(log, 7, radians(-90.0), radians(5.0)) < 4.0
    assert craft.distance(0.0, 0.0) < 0.1


def test_the_nose_faces_the_target_unless_a_heading_is_given(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(5.0)
    craft.autopilot.set_guided_target(GuidedTarget(position=(0.0, 25.0, -5.0)))
    craft.run(8.0)
    assert degrees(craft.yaw) == pytest.approx(90.0, abs=2.0)
    craft.autopilot.set_guided_target(GuidedTarget(position=(0.0, 0.0, -5.0), yaw=0.5))
    craft.run(8.0)
    assert craft.yaw == pytest.approx(0.5, abs=0.03)


def test_a_velocity_target_expires_after_three_seconds(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(10.0)
    order = GuidedTarget(velocity=(0.0, -3.0, -1.0), yaw_rate=0.3)
    assert craft.autopilot.set_guided_target(order).accepted
    log = craft.run(2.9)
    assert log[-1, 4:7] == pytest.approx([0.0, -3.0, 1.0], abs=0.2)
    assert log[-1, 7] - log[-251, 7] == pytest.approx(0.3, abs=0.03)  # in one second
    craft.run(5.0)
    where = craft.ned
    log = craft.run(3.0)
    assert np.abs(log[:, 4:7]).max() < 0.2
    assert np.linalg.norm(np.subtract(craft.ned, where)) < 0.3


def test_a_moving_position_is_followed(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(10.0)
    begin, late = craft.time, []
    for k in range(100):
        north = 0.2 * k  # 2 m/s
        craft.autopilot.set_guided_target(GuidedTarget(position=(north, 5.0, -10.0), velocity=(2.0, 0.0, 0.0)))
        craft.run(0.1)
        late.append(abs(craft.state.y - (north + 0.2)))
    assert craft.time - begin == pytest.approx(10.0)
    assert max(late[-30:]) < 0.5
    assert craft.state.x == pytest.approx(5.0, abs=0.2)


def test_an_attitude_with_a_climb_is_flown(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(5.0)
    nose_down = (np.cos(0.05), 0.0, -np.sin(0.05), 0.0)  # 0.1 rad
    for _ in range(10):
        craft.autopilot.set_guided_target(GuidedTarget(attitude=nose_down, thrust=0.7))
        log = craft.run(0.2)
    w, x, y, z = craft.attitude
    assert np.arcsin(2.0 * (w * y - z * x)) == pytest.approx(-0.1, abs=0.01)
    assert log[-1, 6] == pytest.approx(1.0, abs=0.1)  # 40 % of 2.5 m/s
    assert 1.0 < log[-1, 4] < 2.5  # about g tan(0.1) for two seconds


@pytest.mark.parametrize(
    "preset", ["iris", *(pytest.param(name, marks=pytest.mark.soak) for name in ("micro", "crazyflie"))]
)
def test_rtl_climbs_returns_and_lands_softly(rig: Any, preset: str) -> None:
    craft = rig(preset, wind=(2.0, 2.0), RTL_LOIT_TIME=1000, LAND_ALT_LOW=300)
    craft.take_off(8.0)
    craft.autopilot.set_guided_target(GuidedTarget(position=(15.0, -20.0, -8.0)))
    craft.run(12.0)
    assert craft.autopilot.set_mode(6).accepted
    log = craft.run(90.0, lambda: not craft.autopilot.armed)
    assert not craft.autopilot.armed
    assert log[:, 3].max() == pytest.approx(15.0, abs=0.3)
    far = np.hypot(log[:, 1] - 15.0, log[:, 2] + 20.0)
    assert log[far > 2.0][0, 3] > 14.0  # first up, then home
    assert craft.distance(0.0, 0.0) < 1.0
    assert -log[log[:, 3] > 0.01][-1, 6] < 1.0  # m/s at touch-down
    assert craft.autopilot.telemetry.landed == Landed.ON_GROUND
    assert craft.autopilot.commands[1:5].max() == 0.0


def test_gusts_and_updrafts_are_not_detected_as_landings(rig: Any) -> None:
    craft = rig("micro")
    craft.take_off(10.0)
    for environment in (Environment(wind_x=-6.0, wind_y=4.0), Environment(wind_z=3.0), Environment(wind_z=-3.0)):
        craft.environment = environment
        log = craft.run(8.0)
        assert craft.autopilot.telemetry.landed == Landed.IN_AIR
        assert np.abs(log[:, 3] - 10.0).max() < 0.5
        assert np.hypot(log[:, 1], log[:, 2]).max() < 1.5


def test_the_learned_hover_thrust_is_saved(rig: Any) -> None:
    craft = rig("race", LAND_ALT_LOW=100, WPNAV_SPEED_DN=150)
    craft.take_off(3.0)
    craft.autopilot.set_mode(9)
    craft.run(20.0, lambda: not craft.autopilot.armed)
    share = craft.parameters.mass * 9.80665 / (4.0 * craft.parameters.thrust_max)
    assert craft.autopilot.parameters.value("MOT_THST_HOVER") == pytest.approx(share, rel=0.03)


def test_landed_states_follow_the_flight(rig: Any) -> None:
    craft = rig("iris", LAND_ALT_LOW=100)
    seen: list[Landed] = []

    def note() -> bool:
        now = craft.autopilot.telemetry.landed
        if not seen or seen[-1] != now:
            seen.append(now)
        return craft.time > 60.0

    craft.ready()
    craft.autopilot.command(22, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0))
    craft.run(10.0, note)
    craft.autopilot.set_mode(9)
    craft.run(15.0, note)
    assert seen == [Landed.ON_GROUND, Landed.TAKEOFF, Landed.IN_AIR, Landed.LANDING, Landed.ON_GROUND]
    assert not craft.autopilot.armed


def test_a_copter_that_never_takes_off_disarms(rig: Any) -> None:
    craft = rig("iris", DISARM_DELAY=5)
    craft.ready()
    craft.run(1.0)
    idle = craft.autopilot.commands[1:5].copy()
    assert 0.0 < idle.min() == idle.max() < 0.05
    craft.run(3.5)
    assert craft.autopilot.armed
    craft.run(1.0)
    assert not craft.autopilot.armed
    assert craft.state.z < 0.02
    assert degrees(craft.yaw) == pytest.approx(0.0, abs=0.1)
