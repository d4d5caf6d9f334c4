"""The core with real vehicle types in the simulators: fences, failsafes and commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import hypot, isnan, nan
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.autopilot.telemetry import StatusText
from paddock.sitl.adapter import Placed, SimulatorAdapter
from paddock.sitl.adapters.lightweight import LightweightAdapter

Make = Callable[..., Any]
WORLD: dict[str, Any] = {"clock": {"rate": 250}, "vehicles": []}
METRE = 1e-3 / 110.95  # deg of latitude at 35.7 north


class Trip:
    """One vehicle in a simulator, flown by the real autopilot."""

    def __init__(self, craft: str, adapter: SimulatorAdapter, **parameters: float) -> None:
        self.adapter = adapter
        adapter.connect()
        adapter.add_vehicle(Placed(1, craft, craft))
        self.pilot = BuiltInAutopilot(1, craft, parameters)
        self.actuators: list[bytes] = []
        self.lines: list[str] = []

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        for _ in range(round(seconds * 1e6 / self.pilot.period_us)):
            sensors = self.adapter.receive_sensors(1)
            assert sensors is not None
            self.pilot.offer(sensors)
            commands = self.pilot.collect(0.0)
            self.actuators.append(commands.row.tobytes())
            self.adapter.send_actuators(commands, 1)
            self.adapter.step(self.pilot.period_us)
            if until():
                break
        self.lines += [notice.text for notice in self.pilot.outbox if isinstance(notice, StatusText)]
        self.pilot.outbox.clear()

    def order(self, command: int, *p: float) -> None:
        answer = self.pilot.command(command, [*p, *[0.0] * (7 - len(p))])
        assert answer.accepted, answer

    def wait(self) -> None:
        """Until it knows where it is, and may be armed."""
        self.run(20.0, lambda: self.pilot.arming.passes and self.pilot.home is not None)

    def take_off(self, height: float) -> None:
        self.wait()
        self.order(176, 1, 4)
        self.order(400, 1)
        self.order(22, 0, 0, 0, 0, 0, 0, height)
        self.run(20.0, lambda: self.height > height - 0.5)

    @property
    def height(self) -> float:
        return self.pilot.telemetry.relative_altitude

    @property
    def distance(self) -> float:
        home = self.pilot.home_position.ned()
        return hypot(self.pilot.estimate.north - home[0], self.pilot.estimate.east - home[1])


@pytest.fixture
def trip() -> Iterator[Make]:
    made: list[Trip] = []

    def make(craft: str, adapter: SimulatorAdapter, **parameters: float) -> Trip:
        made.append(Trip(craft, adapter, **parameters))
        return made[-1]

    yield make
    for leg in made:
        leg.adapter.disconnect()


def test_a_copter_that_leaves_its_fence_comes_back(trip: Make, standalone_world: Any) -> None:
    copter = trip("copter", standalone_world(scenario=WORLD), FENCE_ENABLE=1, FENCE_RADIUS=30, RTL_ALT=500)
    copter.take_off(5.0)
    assert copter.height == pytest.approx(5.0, abs=1.0)
    for _ in range(6):
        copter.pilot.set_guided_target(GuidedTarget(velocity=(5.0, 0.0, 0.0)))
        copter.run(2.0, lambda: copter.pilot.fence.breached)
    assert copter.pilot.fence.breached and copter.pilot.mode.name == "RTL"
    farthest = copter.distance
    copter.run(30.0, lambda: copter.distance < 3.0)
    assert 30.0 < farthest < 32.0
    assert copter.distance < 3.0 and copter.pilot.mode.name == "RTL" and not copter.pilot.fence.breached
    assert "Circle fence breach cleared" in copter.lines


@pytest.mark.slow
def test_a_copter_that_loses_its_satellites_lands_where_it_is(trip: Make, standalone_world: Any) -> None:
    adapter = standalone_world(scenario=WORLD)
    copter = trip("copter", adapter)
    copter.take_off(3.0)
    adapter.set_gnss(1, False)
    copter.run(15.0, lambda: copter.pilot.mode.name == "LAND")
    assert copter.pilot.mode.name == "LAND" and "EKF failsafe: LAND" in copter.lines
    copter.run(30.0, lambda: not copter.pilot.armed)
    assert not copter.pilot.armed
    assert adapter.simulation.snapshot()["copter"].position[2] < 0.3


@pytest.mark.parametrize("adapter", ["world", "lightweight"])
def test_gnss_can_be_switched_off_in_every_simulator(trip: Make, adapter: str, standalone_world: Any) -> None:
    where = standalone_world(scenario=WORLD) if adapter == "world" else LightweightAdapter()
    rover = trip("rover", where)
    rover.wait()
    rover.order(176, 1, 15)
    rover.order(400, 1)
    assert rover.pilot.parameters.set("SIM_GPS_DISABLE", 1)
    rover.run(0.5)
    assert (rover.pilot.sensors.gnss_fix, rover.pilot.sensors.gnss_satellites) == (0.0, 0.0)
    assert isnan(rover.pilot.sensors.latitude) and not rover.pilot.estimator.health.gps
    sensors = where.receive_sensors(1)
    assert sensors is not None and sensors.gnss_fix >= 3.0  # the simulator itself goes on
    where.step(rover.pilot.period_us)
    rover.run(15.0, lambda: rover.pilot.mode.name == "HOLD")
    assert rover.pilot.mode.name == "HOLD" and "EKF failsafe: HOLD" in rover.lines
    rover.pilot.parameters.set("SIM_GPS_DISABLE", 0)
    rover.run(5.0)
    assert "EKF: position recovered" in rover.lines and rover.pilot.sensors.gnss_fix >= 3.0


def test_sim_batt_voltage_simulates_a_low_battery(trip: Make) -> None:
    rover = trip("rover", LightweightAdapter(), BATT_LOW_VOLT=10.5, BATT_LOW_TIMER=1, BATT_FS_LOW_ACT=2)
    rover.wait()
    rover.order(176, 1, 15)
    rover.order(400, 1)
    rover.run(2.0)
    assert isnan(rover.pilot.sensors.battery_voltage) and rover.pilot.mode.name == "GUIDED"
    assert rover.pilot.parameters.set("SIM_BATT_VOLTAGE", 10.0)
    rover.run(3.0, lambda: rover.pilot.mode.name == "HOLD")
    assert rover.pilot.mode.name == "HOLD" and rover.pilot.sensors.battery_voltage == 10.0


def test_targets_outside_the_fence_are_rejected(trip: Make) -> None:
    rover = trip("rover", LightweightAdapter(), FENCE_ENABLE=1, FENCE_RADIUS=50)
    rover.wait()
    home = rover.pilot.home
    answer = rover.pilot.command(192, [-1, 1, 0, nan, home[0] + 60 * METRE, home[1], 0.0])
    assert answer.text == "Target rejected: outside the fence" and int(answer.result) == 2
    rover.order(192, -1, 1, 0, nan, home[0] + 40 * METRE, home[1], 0.0)
    assert rover.pilot.mode.name == "GUIDED"


def test_a_rover_holds_at_an_exclusion_zone_of_an_uploaded_fence(trip: Make) -> None:
    rover = trip("rover", LightweightAdapter(), FENCE_ENABLE=1, FENCE_ACTION=2)
    rover.wait()
    home = rover.pilot.home
    tree = MissionItem(5004, p1=5.0, x=home[0] + 20 * METRE, y=home[1])
    assert rover.pilot.set_plan(PlanKind.FENCE, [tree]) == (0, 0)
    rover.order(192, -1, 1, 0, nan, home[0] + 40 * METRE, home[1], 0.0)
    rover.order(400, 1)
    rover.run(20.0, lambda: rover.pilot.mode.name == "HOLD")
    rover.run(2.0)
    assert rover.pilot.mode.name == "HOLD"
    assert 14.5 < rover.distance < 17.8  # the border, and the way to a stop


def test_a_lost_ground_station_brings_a_rover_home(trip: Make) -> None:
    rover = trip("rover", LightweightAdapter(), FS_GCS_ENABLE=1, FS_GCS_TIMEOUT=2)
    rover.wait()
    home = rover.pilot.home
    rover.pilot.failsafes.note_gcs_heartbeat(rover.pilot.now_us)
    rover.order(192, -1, 1, 0, nan, home[0] + 40 * METRE, home[1], 0.0)
    rover.order(400, 1)
    rover.run(2.5)
    assert rover.pilot.mode.name == "RTL" and rover.lines[-1] == "GCS failsafe: RTL"
    rover.run(20.0)
    assert rover.distance < 2.0


@pytest.mark.parametrize("craft", ["rover", "copter"])
def test_the_same_seed_gives_the_same_bytes(trip: Make, craft: str, standalone_world: Any) -> None:
    def run() -> tuple[list[bytes], list[str]]:
        flight = trip(craft, LightweightAdapter(seed=5) if craft == "rover" else standalone_world(scenario=WORLD))
        flight.run(2.0)
        flight.pilot.set_mode(flight.pilot.mode_number("GUIDED"))
        flight.pilot.arm(force=True)
        if craft == "copter":
            flight.order(22, 0, 0, 0, 0, 0, 0, 5.0)
        else:
            flight.pilot.set_guided_target(GuidedTarget(position=(20.0, 10.0, 0.0)))
        flight.run(2.0)
        return flight.actuators, flight.lines

    first, second = run(), run()
    assert first == second
    assert np.unique(np.array([np.frombuffer(row) for row in first[0]]), axis=0).shape[0] > 10


def test_modes_that_need_a_position_do_not_arm_without_a_fix(trip: Make, standalone_world: Any) -> None:
    adapter = standalone_world(scenario=WORLD)
    copter = trip("copter", adapter)
    adapter.set_gnss(1, False)
    copter.run(3.0)
    copter.pilot.set_mode(4)
    assert copter.pilot.arm().text == "Arm: GPS: waiting for fix"
    assert copter.pilot.home is None
    adapter.set_gnss(1, True)
    copter.run(10.0, lambda: copter.pilot.arming.passes)
    assert copter.pilot.arm().accepted and copter.pilot.home is not None
