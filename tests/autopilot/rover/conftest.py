"""Fixtures: a vehicle model of Paddock, exact sensors, and the built-in autopilot using the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atan2, cos, hypot, pi, sin
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.mission_items import AltitudeFrame, MissionItem, PlanKind
from paddock.autopilot.telemetry import CurrentItem, ItemReached, Notice, StatusText
from paddock.autopilot.vehicle_data import Floats, SensorData
from paddock.scenario.loading import load_preset
from paddock.vehicles.models import rover
from paddock.vehicles.models.car import kinematic
from paddock.vehicles.parts.car import Command as CarCommand
from paddock.vehicles.parts.car import Parameters as CarParameters
from paddock.world.columns import Environment

STEP = 0.02
GRAVITY = 9.80665
ORIGIN = LocalFrame(35.6812, 139.7671, 40.0)
WORLD = Environment()
Point = tuple[float, float]


class SkidPlant:
    """The rover model, its wheels driven as shares of their top speed."""

    def __init__(self, preset: str, heading: float) -> None:
        self.parameters = rover.Parameters(**load_preset("rover", preset))
        self.state = rover.State(0.0, 0.0, 0.0, 0.5 * pi - heading, 0.0, 0.0, 0.0, 0.0, 1.0, 25.2, 0.0)

    def step(self, row: Floats) -> None:
        p = self.parameters
        left, right = row[1] * p.speed_max * row[0], row[2] * p.speed_max * row[0]
        wanted = rover.Command(0.5 * (left + right), (right - left) / p.wheel_base)
        self.state = rover.step(self.state, wanted, p, WORLD, STEP)

    def motion(self) -> tuple[float, float, float, float, float]:
        """North, east (m), heading (rad), speed (m/s), turn rate (rad/s, clockwise)."""
        s = self.state
        return s.y, s.x, 0.5 * pi - s.yaw, s.speed, -s.turn_rate


class CarPlant:
    """The kinematic car with an electric drive: throttle is a share of the top speed, steering of the largest angle."""

    TOP = 8.0  # m/s

    def __init__(self, preset: str, heading: float) -> None:
        self.parameters = CarParameters(**load_preset("car.kinematic", preset))
        still = kinematic.State(*[0.0] * len(kinematic.State._fields))
        self.state = still._replace(yaw=0.5 * pi - heading, charge=1.0, voltage=16.8)
        self.rate = 0.0

    def step(self, row: Floats) -> None:
        p, s = self.parameters, self.state
        push = (row[1] - s.vx / self.TOP) * row[0]
        against = push * s.vx < 0.0
        wanted = CarCommand(
            steer=-row[9] * p.steer_max,
            throttle=0.0 if against else min(abs(push), 1.0),
            brake=min(abs(push), 1.0) if against else 0.0,
            gear=-1.0 if push < 0.0 else 1.0,
        )
        self.state = kinematic.step(s, wanted, p, WORLD, STEP)
        self.rate = -(self.state.yaw - s.yaw) / STEP

    def motion(self) -> tuple[float, float, float, float, float]:
        s = self.state
        return s.y, s.x, 0.5 * pi - s.yaw, s.vx, self.rate


class Yard:
    """One vehicle and its autopilot, 50 steps a second."""

    def __init__(
        self, plant: SkidPlant | CarPlant, craft: str = "rover", parameters: dict[str, float] | None = None
    ) -> None:
        self.plant = plant
        self.autopilot = BuiltInAutopilot(1, craft, parameters, use_truth=True)
        self.time_us = 0
        self.track: list[tuple[float, float, float, float, float]] = []
        self.notices: list[Notice] = []

    def sense(self) -> SensorData:
        north, east, yaw, speed, rate = self.plant.motion()
        latitude, longitude, altitude = ORIGIN.to_geodetic(north, east, 0.0)
        time, velocity = self.time_us, (speed * cos(yaw), speed * sin(yaw), 0.0)
        row = SensorData(
            time_us=time, imu_time_us=time, gnss_time_us=time, compass_time_us=time, baro_time_us=time,
            gyro=(0.0, 0.0, rate), accel=(0.0, speed * rate, -GRAVITY), gnss_fix=3, gnss_satellites=12,
            latitude=latitude, longitude=longitude, altitude=altitude, velocity=velocity, gnss_eph=0.5, gnss_epv=0.5,
            mag=(3e-5 * cos(yaw), -3e-5 * sin(yaw), 3.5e-5), pressure=100846.0, temperature=288.0,
            true_north=north, true_east=east, true_down=0.0, true_vn=velocity[0], true_ve=velocity[1], true_vd=0.0,
            true_qw=cos(0.5 * yaw), true_qx=0.0, true_qy=0.0, true_qz=sin(0.5 * yaw),
        )  # fmt: skip
        return row

    def step(self) -> None:
        self.autopilot.offer(self.sense())
        self.plant.step(self.autopilot.collect(0.0).row)
        self.time_us += round(STEP * 1e6)
        self.track.append(self.plant.motion())
        self.notices += self.autopilot.outbox
        self.autopilot.outbox.clear()

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / STEP)):
            self.step()

    def until(self, happened: Callable[[], bool], within: float = 200.0) -> None:
        for _ in range(round(within / STEP)):
            self.step()
            if happened():
                return
        raise AssertionError(f"not within {within} s; {self.texts[-5:]}, at {self.track[-1]}")

    def begin(self, mode: int = 4) -> None:
        """Find the position, arm, and be in a mode."""
        self.run(2.0)
        self.enter(4)
        armed = self.autopilot.arm()
        assert armed.accepted, armed.text
        self.run(0.1)
        self.enter(mode)
        self.track.clear()

    def enter(self, mode: int) -> None:
        answer = self.autopilot.set_mode(mode)
        assert answer.accepted, answer.text

    def plan(self, items: Sequence[MissionItem]) -> None:
        """Upload a mission; home goes before it, as ground stations send it."""
        result = self.autopilot.set_plan(PlanKind.MISSION, [self.waypoint(0.0, 0.0), *items])
        assert result == (0, 0)

    def waypoint(self, north: float, east: float, command: int = 16, **values: Any) -> MissionItem:
        latitude, longitude, _ = ORIGIN.to_geodetic(north, east, 0.0)
        return MissionItem(command, AltitudeFrame.RELATIVE, x=latitude, y=longitude, **values)

    # observations ---------------------------------------------------------------------------------------------------

    @property
    def texts(self) -> list[str]:
        return [notice.text for notice in self.notices if isinstance(notice, StatusText)]

    @property
    def reached(self) -> list[int]:
        return [notice.sequence for notice in self.notices if isinstance(notice, ItemReached)]

    @property
    def currents(self) -> list[int]:
        return [notice.sequence for notice in self.notices if isinstance(notice, CurrentItem)]

    @property
    def place(self) -> Point:
        return self.plant.motion()[:2]

    def distance(self, point: Point) -> float:
        return hypot(self.place[0] - point[0], self.place[1] - point[1])

    def crosstrack(self, way: Sequence[Point]) -> float:
        """The greatest distance (m) from the way that was driven to the one that was planned."""
        return float(off_way(np.array(self.track)[:, :2], way).max())


def off_way(points: Floats, way: Sequence[Point]) -> Floats:
    """m from each point (n, 2) to the nearest leg of a way."""
    nearest = np.full(len(points), np.inf)
    for start, end in zip(np.array(way), np.array(way)[1:], strict=False):
        leg = end - start
        share = np.clip((points - start) @ leg / (leg @ leg), 0.0, 1.0)[:, None]
        nearest = np.minimum(nearest, np.hypot(*(points - start - share * leg).T))
    return nearest


def bearing(a: Point, b: Point) -> float:
    """rad from a to b."""
    return atan2(b[1] - a[1], b[0] - a[0])


@pytest.fixture
def skid() -> Callable[..., Yard]:
    """Makes a yard with a skid-steered rover: `skid(preset="skid", heading=0.0, WP_SPEED=1.0)`."""

    def make(preset: str = "skid", heading: float = 0.0, **parameters: float) -> Yard:
        return Yard(SkidPlant(preset, heading), "rover", parameters)

    return make


@pytest.fixture
def car() -> Callable[..., Yard]:
    """Makes a yard with an Ackermann rover."""

    def make(preset: str = "buggy", heading: float = 0.0, **parameters: float) -> Yard:
        return Yard(CarPlant(preset, heading), "rover_ackermann", parameters)

    return make
