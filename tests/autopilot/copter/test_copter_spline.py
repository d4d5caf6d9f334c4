"""Spline waypoints: the curve, its speed, and the flight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from paddock.autopilot.control.copter_cruise import ROW_WIDTH
from paddock.autopilot.control.copter_path import CopterTrack, LegLimits, MotionLimits, SplineLeg, hermite, onwards
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.mission_items import MissionItem, PlanKind, check_mission_item
from paddock.autopilot.telemetry import ItemReached

PLACE = (35.6812, 139.7671, 40.0)
LIMITS = LegLimits(MotionLimits(10.0, 2.5, 5.0), MotionLimits(2.5, 1.0, 5.0), MotionLimits(1.5, 1.0, 5.0))


def test_the_curve_is_scipys_hermite_spline() -> None:
    points = np.array([[0.0, 0.0, -10.0], [30.0, 5.0, 0.0], [20.0, 20.0, -12.0], [-10.0, 25.0, -3.0]])
    shares = np.linspace(0.0, 1.0, 11)
    curve = CubicHermiteSpline([0.0, 1.0], points[[0, 2]], points[[1, 3]])
    for order, derivative in enumerate(hermite(points, shares)):
        assert derivative == pytest.approx(curve(shares, nu=order), abs=1e-12)


def test_the_direction_at_a_point_is_parallel_to_its_neighbours() -> None:
    a, b, c = (0.0, 0.0, -10.0), (20.0, 0.0, -10.0), (20.0, 20.0, -14.0)
    assert onwards(a, b, c, curved=True) == (20.0, 20.0, -4.0)
    assert onwards(a, b, c, curved=False) == (0.0, 20.0, -4.0)  # a straight leg follows
    assert onwards(a, b, None, curved=False) == (20.0, 0.0, 0.0)
    assert onwards(a, b, (20.0, 0.05, -10.0), curved=False) == (20.0, 0.0, 0.0)  # too near to have a direction


def test_the_speed_respects_lateral_and_forward_acceleration() -> None:
    track = CopterTrack(np.zeros(ROW_WIDTH))
    track.down = -10.0
    leg = SplineLeg(track, (20.0, 20.0, -10.0), (40.0, 0.0, 0.0), (0.0, 40.0, 0.0), LIMITS, 3.0, 0.0)
    places, velocities = [], []
    for _ in range(2000):
        leg.advance(0.02, track)
        places.append((track.north, track.east, track.down))
        velocities.append((track.vn, track.ve, track.vd))
        if leg.over:
            break
    speed = np.linalg.norm(velocities, axis=1)
    assert speed.max() <= 10.0 and speed[-1] == 0.0
    change = np.diff(speed[:-1]) / 0.02
    assert np.abs(change).max() <= 0.6 * 2.5 + 0.05
    acceleration = np.diff(np.array(velocities)[:-1], axis=0) / 0.02
    tangent = np.array(velocities)[1:-1] / speed[1:-1, None]
    lateral = acceleration - (acceleration * tangent).sum(axis=1)[:, None] * tangent
    assert 2.5 < np.linalg.norm(lateral, axis=1).max() <= 3.0 * 1.05
    assert places[-1] == pytest.approx((20.0, 20.0, -10.0), abs=1e-6)


def at(command: int, north: float, east: float, height: float, **more: float) -> MissionItem:
    latitude, longitude, _ = LocalFrame(*PLACE).to_geodetic(north, east, 0.0)
    return MissionItem(command, x=latitude, y=longitude, z=height, **more)


def test_a_flight_through_spline_points_passes_each_smoothly(rig: Any) -> None:
    craft = rig("iris", WPNAV_ACCEL_C=300)
    points = [(30.0, 0.0), (40.0, 25.0), (20.0, 45.0), (0.0, 25.0)]
    items = [at(16, 0.0, 0.0, 0.0), MissionItem(22, z=12.0), *(at(82, n, e, 12.0) for n, e in points)]
    items += [at(16, 0.0, 10.0, 12.0), at(21, 0.0, 0.0, 0.0)]
    assert craft.autopilot.set_plan(PlanKind.MISSION, items)[0] == 0
    craft.ready()
    craft.autopilot.outbox.clear()
    assert craft.autopilot.command(300, [0.0] * 7).accepted
    log = craft.run(90.0, lambda: craft.autopilot.executor.current == 7)
    reached = [notice.sequence for notice in craft.autopilot.outbox if isinstance(notice, ItemReached)]
    assert reached == [1, 2, 3, 4, 5, 6]
    for k, (north, east) in enumerate(points):
        off = np.hypot(log[:, 1] - north, log[:, 2] - east)
        assert off.min() < 0.6, f"point {k} is passed at {off.min():.2f} m"
    # between the points the copter neither stops nor turns sharply
    first, last = (np.argmin(np.hypot(log[:, 1] - n, log[:, 2] - e)) for n, e in (points[0], points[-1]))
    way = log[first:last]
    speed = np.hypot(way[:, 4], way[:, 5])
    assert speed.min() > 2.0
    course = np.unwrap(np.arctan2(way[:, 5], way[:, 4]))
    turn = np.abs(np.diff(course[::25])) / 0.1  # rad/s over 0.1 s
    assert turn.max() < 1.5
    acceleration = np.diff(way[::25, 4:6], axis=0) / 0.1
    assert np.linalg.norm(acceleration, axis=1).max() < 5.4  # 3 m/s2 across, 1.5 along, and control
    # at the second point the course is parallel to the line from the first to the third
    k = np.argmin(np.hypot(log[:, 1] - 40.0, log[:, 2] - 25.0))
    assert np.arctan2(log[k, 5], log[k, 4]) == pytest.approx(np.arctan2(45.0, -10.0), abs=0.15)


def test_splines_are_for_copters() -> None:
    assert check_mission_item(at(82, 10.0, 0.0, 12.0), "copter") == 0
    assert check_mission_item(at(82, 10.0, 0.0, 12.0), "plane") == 3
    assert check_mission_item(at(82, 10.0, 0.0, 12.0), "rover") == 3
