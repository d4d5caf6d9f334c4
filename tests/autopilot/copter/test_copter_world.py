"""The copter in the world adapter: the real physics, sensors and clock of a Simulation."""

from __future__ import annotations

from math import cos, degrees, hypot, nan, radians
from typing import Any

import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.adapter import Placed

PERIOD_US = 4000
SCENARIO: dict[str, Any] = {"clock": {"rate": 1000}, "vehicles": []}


class Flight:
    """One copter and its autopilot, in lockstep."""

    def __init__(self, world: Any) -> None:
        self.adapter = world(truth=True)
        self.adapter.connect()
        self.adapter.add_vehicle(Placed(1, "scout", "copter"))
        self.pilot = BuiltInAutopilot(1, "copter", parameters={"LAND_ALT_LOW": 300, "RTL_LOIT_TIME": 0, "RTL_ALT": 800})

    def run(self, seconds: float) -> tuple[float, float, float]:
        """Fly on; where it then is: m north, east, up."""
        for _ in range(round(seconds * 1e6 / PERIOD_US)):
            sensors = self.adapter.receive_sensors(1)
            if sensors is not None:
                self.last = sensors
                self.pilot.offer(sensors)
            self.adapter.send_actuators(self.pilot.collect(0.0), 1)
            self.adapter.step(PERIOD_US)
        return self.last.true_north, self.last.true_east, -self.last.true_down


def test_take_off_and_return_with_the_sensors_of_the_world(standalone_world: Any) -> None:
    flight = Flight(standalone_world)
    begin = flight.run(10.0)
    pilot = flight.pilot
    assert pilot.set_mode(4).accepted
    answer = pilot.arm()
    assert answer.accepted, answer.text
    assert pilot.command(22, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0)).accepted
    north, east, up = flight.run(15.0)
    assert up - begin[2] == pytest.approx(8.0, abs=1.0)
    assert hypot(north - begin[0], east - begin[1]) < 1.5
    assert pilot.set_mode(6).accepted
    north, east, up = flight.run(20.0)
    assert not pilot.armed
    assert hypot(north - begin[0], east - begin[1]) < 2.0
    assert up == pytest.approx(begin[2], abs=0.05)
    flight.adapter.disconnect()


@pytest.mark.slow
def test_landing_on_ground_that_rises_away_from_home(standalone_world: Any) -> None:
    """40 m to the east the ground is 4 m higher than at home, and inclined: it lands, stands still and disarms."""
    world = {"ground": {"grade": 0.1}}
    flight = Flight(lambda truth: standalone_world(truth=truth, scenario={**SCENARIO, "world": world}))
    pilot = flight.pilot
    flight.run(10.0)
    assert pilot.set_mode(4).accepted and pilot.arm().accepted
    assert pilot.command(22, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0)).accepted
    flight.run(9.0)
    latitude = 35.6812
    east = 139.7671 + degrees(40.0 / (6378137.0 * cos(radians(latitude))))
    assert pilot.command(192, (-1.0, 1.0, 0.0, nan, latitude, east, 10.0)).accepted
    flight.run(14.0)
    assert pilot.set_mode(9).accepted
    landed = flight.run(14.0)
    assert not pilot.armed
    assert landed[1] == pytest.approx(40.0, abs=2.0)
    assert landed[2] == pytest.approx(0.1 * landed[1], abs=0.02)
    assert flight.run(1.0) == landed
    assert not [event for event in flight.adapter.simulation.events.since() if event.kind == "crashed"]
    flight.adapter.disconnect()
