"""A scripted peer of ArduPilot's JSON interface flies the model `plane` by its servo channels, as ArduPlane would."""

from __future__ import annotations

from math import asin, atan2, degrees, hypot, pi
from typing import Any

import pytest

from paddock.autopilot.vehicle_data import SensorData
from paddock.cli.sitl import sitl
from paddock.scenario import load_scenario
from paddock.sitl.adapter import Placed
from paddock.sitl.ardupilot import ArduPilotAutopilot
from paddock.sitl.bridge import Bridge
from paddock.sitl.equipment import standard_sensors
from paddock.sitl.from_scenario import quick_scenario

RATE = 100.0
HEIGHT = 40.0  # m
State = dict[str, list[float]]


def clip(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


def deflection(share: float) -> int:
    return 1500 + round(500.0 * clip(share, 1.0))


class AttitudePilot:
    """Roll and pitch loops with the signs of ArduPlane's stock channels: 1 aileron, 2 elevator, 3 throttle, 4 rudder.

    It rolls along the runway, climbs to 40 m, and turns right to a heading of 90 degrees.
    """

    def __init__(self) -> None:
        self.trim = 0.0

    def __call__(self, state: State, time: float) -> list[int]:
        if time < 0.5 or not state:
            return [1500, 1500, 1000, 1500]
        w, x, y, z = state["quaternion"]
        roll = atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        pitch, yaw = asin(clip(2 * (w * y - z * x), 1.0)), atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        (p, q, r), up, climb = state["gyro"], -state["position"][2], -state["velocity"][2]
        speed = max(state["airspeed"][0], 5.0)
        wanted_roll = clip(pi / 2 - yaw, 0.6) if up > 15.0 else 0.0
        wanted_pitch = clip(0.02 * (HEIGHT - up) - 0.03 * climb + 0.03, 0.25) if speed > 12.0 else 0.05
        self.trim = clip(self.trim + 0.3 * (wanted_pitch - pitch) / RATE, 0.3)
        aileron = 1.0 * (wanted_roll - roll) - 0.2 * p
        elevator = 2.0 * (wanted_pitch - pitch) - 0.3 * q + self.trim + 0.15 * abs(roll)
        throttle = 0.66 + 0.08 * (17.5 - speed) + 0.02 * (HEIGHT - up)
        steer = -0.5 * yaw - 0.1 * r if up < 1.0 else 0.0
        motor = 1000 + round(1000 * min(max(throttle, 0.0), 1.0))
        return [deflection(aileron), deflection(elevator), motor, deflection(steer)]


class Flown(ArduPilotAutopilot):
    """The pilot with its peer in the same thread: each answer is followed by the next frame."""

    peer: Any = None
    controller = AttitudePilot()

    def offer(self, sensors: SensorData) -> None:
        super().offer(sensors)
        if self.status.exchanges > self.peer.frame:
            self.peer.receive()
        self.peer.send(self.controller(self.peer.state, self.peer.time_s))


def test_a_plane_rolls_takes_off_climbs_and_turns(standalone_world: Any, stand_in: Any, step: Any) -> None:
    vehicle = {"name": "kite", "model": "plane", "preset": "mapper", "pose": [0.0, 0.0, 0.0, pi / 2]}
    vehicle["sensors"] = standard_sensors("plane", RATE, RATE)
    scenario = {"clock": {"rate": RATE}, "vehicles": [vehicle]}
    track: list[list[float]] = []
    with Bridge(tick_rate=RATE, timeout=5.0, fallback="stop") as bridge:
        bridge.register(standalone_world(scenario=scenario, truth=True))
        pilot = Flown("plane", 1.0 / RATE, port=0)
        bridge.spawn(Placed(1, "kite", "plane"), pilot, "world")
        pilot.peer = stand_in(pilot.port, wish_hz=RATE, rate_hz=RATE)
        while pilot.peer.time_s < 45.0:
            step(bridge, 10)
            state = pilot.peer.state
            if state:
                track.append([pilot.peer.time_s, *state["position"], *state["velocity"], *state["airspeed"]])
        peer = pilot.peer
    lifted = next(row for row in track if row[3] < -0.5)
    assert abs(lifted[2]) < 3.0 and 5.0 < lifted[1] < 80.0  # along the runway to the north
    assert 9.0 < lifted[7] < 19.0  # not below the stall speed of 9 m/s
    last = track[-1]
    assert -last[3] == pytest.approx(HEIGHT, abs=4.0)
    assert degrees(atan2(last[5], last[4])) == pytest.approx(90.0, abs=8.0)
    assert last[7] == pytest.approx(hypot(*last[4:7]), abs=0.3) and last[7] == pytest.approx(17.5, abs=2.0)
    voltage, current = peer.state["voltage"][0], peer.state["current"][0]
    assert 14.0 < voltage < 16.8 and 4.0 < current < 15.0  # four cells; about 120 W
    assert peer.resets == 0 and peer.steps > 44 * RATE


def test_the_command_line_prepares_a_plane_on_the_ground() -> None:
    scenario = load_scenario(quick_scenario("plane", 2, "ardupilot"))
    entry = scenario.vehicles[0]
    assert (entry.model, entry.preset) == ("plane", "mapper")
    assert entry.spawn is not None and entry.spawn.line is not None and entry.spawn.line.start[2] == 0.0
    assert "plane" in str(sitl.__annotations__["ardupilot"])
