"""The copter in the world adapter: the real physics, sensors and clock of a Simulation."""

from __future__ import annotations

from math import hypot
from typing import Any

import pytest

from paddock.sitl.adapter import Placed
from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

PERIOD_US = 4000


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
