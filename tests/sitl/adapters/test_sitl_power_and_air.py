"""Batteries and pitot tubes in the sensor data of autopilots, and their way to ground stations and ArduPilot."""

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.autopilot.vehicle_data import ActuatorCommands
from paddock.mavlink import messages
from paddock.sitl.adapter import Placed
from paddock.sitl.adapters.world import WorldAdapter
from paddock.sitl.ardupilot import ArduPilotAutopilot
from paddock.sitl.equipment import VEHICLES, standard_sensors
from paddock.wire.ardupilot_json import decode_state

Adapted = Callable[..., tuple[Any, WorldAdapter]]


@pytest.fixture
def adapted(request: pytest.FixtureRequest) -> Adapted:
    """A vehicle of a craft in a simulation, with its standard sensors."""

    def make(
        craft: str, wind: tuple[float, float, float] = (0.0, 0.0, 0.0), rate: float = 250, **entry: Any
    ) -> tuple[Any, WorldAdapter]:
        vehicle = {"name": "v", **VEHICLES[craft], "sensors": standard_sensors(craft, 50.0), **entry}
        scenario = {"clock": {"rate": rate, "pace": 0}, "world": {"wind": list(wind)}, "vehicles": [vehicle]}
        sim = paddock.load(scenario)
        request.addfinalizer(sim.close)
        adapter = WorldAdapter(simulation=sim, truth=True)
        adapter.connect()
        adapter.add_vehicle(Placed(1, "v", craft))
        return sim, adapter

    return make


@pytest.mark.parametrize(
    ("craft", "volts", "idle"),
    [("rover", 6 * 4.2, 15.0), ("rover_ackermann", 4 * 4.2, 10.0), ("plane", 4 * 4.2, 6.0)],
)
def test_rovers_cars_and_planes_measure_their_battery(adapted: Adapted, craft: str, volts: float, idle: float) -> None:
    sim, adapter = adapted(craft, **({"model": "fixed_wing", "pose": [0, 0, 100, 0]} if craft == "plane" else {}))
    adapter.send_actuators(ActuatorCommands(armed=False), 1)
    sim.step(50)
    data = adapter.receive_sensors(1)
    assert data is not None and "battery" in adapter.capabilities.sensors
    assert data.battery_voltage == pytest.approx(volts, rel=0.01) and data.battery_remaining > 0.999
    assert data.battery_voltage * data.battery_current >= 0.999 * idle
    assert data.battery_voltage * data.battery_current == pytest.approx(idle, rel=1e-3) or craft == "plane"


def test_a_driving_rover_draws_more(adapted: Adapted) -> None:
    sim, adapter = adapted("rover")
    adapter.send_actuators(ActuatorCommands(armed=True, motors=(0.5, 0.5)), 1)
    sim.step(1250)
    data = adapter.receive_sensors(1)
    assert data is not None
    # 2 m/s against 6 % of the weight of 12 kg, at an efficiency of 60 %
    assert data.battery_voltage * data.battery_current == pytest.approx(
        15.0 + 0.06 * 12 * 9.80665 * 2.0 / 0.6, rel=0.01
    )


def test_a_car_with_an_engine_has_no_battery(adapted: Adapted) -> None:
    sim, adapter = adapted("rover_ackermann", preset="sedan")
    sim.step(5)
    data = adapter.receive_sensors(1)
    assert data is not None and isnan(data.battery_voltage) and "battery" not in adapter.capabilities.sensors


def test_a_plane_measures_its_airspeed_with_noise_and_wind(adapted: Adapted) -> None:
    sim, adapter = adapted("plane", wind=(6.0, 0.0, 0.0), model="fixed_wing", pose=[0, 0, 100, 0])
    adapter.send_actuators(ActuatorCommands(armed=True, motors=(0.5,)), 1)
    sim.step(2500)
    seen = []
    for _ in range(100):
        sim.step(10)
        data = adapter.receive_sensors(1)
        assert data is not None
        seen.append(data.airspeed)
    true = 12.0 + 0.5 * 13.0
    assert data.true_ve == pytest.approx(true + 6.0, abs=0.1)
    assert np.mean(seen) == pytest.approx(true, abs=0.25)
    assert np.std(seen) == pytest.approx(2.0 / (1.225 * true), rel=0.3)  # 2 Pa


def test_a_plane_without_a_pitot_has_no_airspeed(adapted: Adapted) -> None:
    sim, adapter = adapted("plane", pose=[0, 0, 100, 0], sensors=["imu"])
    sim.step(5)
    data = adapter.receive_sensors(1)
    assert data is not None and isnan(data.airspeed) and "airspeed" not in adapter.capabilities.sensors


def test_a_rover_at_rest_vibrates_no_more_than_its_imu(adapted: Adapted) -> None:
    """The vibration level of ArduPilot (5 Hz high-pass, squared, 2 Hz low-pass) at 1200 Hz; outputs jitter."""
    rate, rng = 1200, np.random.default_rng(1)
    sim, adapter = adapted("rover", rate=rate, sensors=standard_sensors("rover", rate))
    high, low = (1.0 / (1.0 + rate / (2.0 * np.pi * hertz)) for hertz in (5.0, 2.0))
    floor, level, most = np.array([0.0, 0.0, -9.80665]), np.zeros(3), 0.0
    for k in range(2 * rate):
        if k % 24 == 0:
            jitter = rng.integers(-2, 3, 2) * 2e-3  # us of 500 us
            adapter.send_actuators(ActuatorCommands(armed=True, motors=tuple(jitter)), 1)
        sim.step(1)
        data = adapter.receive_sensors(1)
        assert data is not None
        floor += high * (data.accel - floor)
        level += low * ((data.accel - floor) ** 2 - level)
        most = max(most, float(np.sqrt(level).max()))
    assert 0.02 < most < 0.06


def test_both_reach_ardupilot(adapted: Adapted) -> None:
    sim, adapter = adapted("plane", pose=[0, 0, 100, 0])
    sim.step(50)
    data = adapter.receive_sensors(1)
    assert data is not None
    pilot = ArduPilotAutopilot("plane", 0.004, port=0)
    state = decode_state(pilot._line(data, 1.0))
    assert state.airspeed == pytest.approx(data.airspeed, abs=1e-9) and data.airspeed > 5.0
    assert state.battery == pytest.approx((data.battery_voltage, data.battery_current), abs=1e-9)


def test_a_rovers_battery_is_in_battery_status(own_links: Callable[[int], dict[str, Any]]) -> None:
    from paddock.sitl.from_scenario import quick_scenario
    from paddock.sitl.host import SitlHost

    with paddock.load(quick_scenario("rover", 1, mavlink=own_links(1))) as sim:
        sim.step(500)
        host = next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))
        autopilot: Any = host.vehicles[0].autopilot
        assert autopilot.battery.present
        sent: Any = messages.STATUS[147](autopilot, autopilot.telemetry)  # BATTERY_STATUS
        assert sent[4][0] == pytest.approx(6 * 4200, rel=0.01)  # mV
        assert sent[5] == pytest.approx(100 * 15.0 / 25.2, rel=0.02)  # cA
