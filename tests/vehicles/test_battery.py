"""Batteries: the cell, and what driving and flying draw from them, against hand calculations."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.compute.kernel import kernel
from paddock.scenario.loading import load_preset
from paddock.vehicles.model import Placement, find_model
from paddock.vehicles.parts.battery import discharged, drive_strength, loaded_voltage, open_circuit
from paddock.world.columns import Environment

G = 9.80665


class Electric:
    """One vehicle of a preset in its compiled kernel; columns and parameters are attributes."""

    def __init__(
        self,
        model: str,
        preset: str,
        speed: float = 0.0,
        z: float = 0.0,
        yaw: float = 0.0,
        w: Environment = Environment(),  # noqa: B008  immutable
        **fields: float,
    ) -> None:
        self.model, self.w = find_model(model), w
        self.p: Any = self.model.parameters(**{**load_preset(model, preset), **fields})
        self.rows = np.array(self.model.place(Placement(0.0, 0.0, z, yaw, speed), self.p, w), dtype=float)
        self.rows = self.rows.reshape(-1, 1)

    def go(self, seconds: float, dt: float = 0.01, **command: float) -> "Electric":
        commands = np.array(self.model.command(**command), dtype=float).reshape(-1, 1)
        run = kernel(self.model.step_spec())
        run(1, round(seconds / dt), self.rows, commands, np.array(self.p), np.array(self.w), dt)
        return self

    def __getattr__(self, name: str) -> float:
        return float(self.rows[self.model.state._fields.index(name), 0])  # type: ignore[attr-defined]

    @property
    def power(self) -> float:
        return self.voltage * self.current


@pytest.mark.parametrize(
    ("charge", "volts"), [(1.0, 4.20), (0.8, 4.02), (0.6, 3.87), (0.4, 3.80), (0.2, 3.73), (0.0, 3.27)]
)
def test_a_cell_at_rest_has_the_voltage_of_a_lipo(charge: float, volts: float) -> None:
    assert open_circuit(charge) == pytest.approx(volts, abs=0.02)


@given(a=st.floats(-0.02, 1.0), b=st.floats(-0.02, 1.0))
def test_more_charge_never_means_less_voltage(a: float, b: float) -> None:
    assert open_circuit(min(a, b)) <= open_circuit(max(a, b))


def test_below_empty_the_voltage_collapses() -> None:
    assert open_circuit(-0.02) == 0.0
    assert open_circuit(-1.0) == 0.0
    assert open_circuit(1.5) == open_circuit(1.0)


@given(e=st.floats(3.0, 60.0), resistance=st.floats(1e-4, 0.5), share=st.floats(0.0, 1.0))
def test_the_sagging_voltage_delivers_the_power(e: float, resistance: float, share: float) -> None:
    power = share * e * e / (4.0 * resistance)  # the most that the battery can give is E^2 / 4R
    v = loaded_voltage(e, resistance, power)
    assert e / 2.0 <= v <= e
    assert v * (e - v) / resistance == pytest.approx(power, rel=1e-6, abs=1e-9 * e * e / resistance)


def test_sag_of_a_known_load() -> None:
    # 25 V behind 24 mohm, 100 A: 2.4 V are lost and 2260 W come out
    assert loaded_voltage(25.0, 0.024, 2260.0) == pytest.approx(22.6, rel=1e-12)
    assert loaded_voltage(25.0, 0.024, 1e6) == 12.5


# Drives


def test_a_driving_rover_draws_its_electronics_and_its_rolling_resistance() -> None:
    rover = Electric("rover", "outdoor").go(5.0)
    assert rover.power == pytest.approx(60.0, rel=1e-9)
    rover.go(10.0, speed=1.5)
    assert rover.power == pytest.approx(60.0 + 0.08 * 50.0 * G * 1.5 / 0.6, rel=1e-9)
    rover.go(10.0, turn_rate=1.0)  # on the spot: both wheels roll at 0.5 m/s
    assert rover.power == pytest.approx(60.0 + 0.08 * 50.0 * G * 0.5 / 0.6, rel=1e-9)


def test_charge_is_the_integral_of_the_current_and_the_kinetic_energy_is_paid_once() -> None:
    rover = Electric("rover", "outdoor", rolling_resistance=0.0, idle_power=0.0)
    rover.go(4.0, speed=2.0)
    joules = 0.5 * 50.0 * 2.0**2 / 0.6
    assert 1.0 - rover.charge == pytest.approx(joules / (29.4 * 3.6 * 20000.0), rel=0.01)  # at 7 x 4.2 V
    before = rover.charge
    rover.go(4.0, speed=0.0)  # brakes do not charge
    assert rover.charge == before


def test_the_small_rover_drives_for_two_and_a_half_hours() -> None:
    rover = Electric("rover", "indoor").go(60.0, dt=0.1, speed=0.2)
    hours = 60.0 / 3600.0 / (1.0 - rover.charge)
    assert hours == pytest.approx(1.8 * 3 * 3.83 / (7.0 + 0.03 * 1.0 * G * 0.2 / 0.5), rel=0.1)
    assert 2.3 < hours < 3.3


def test_an_empty_rover_stops_and_a_weak_one_is_slow() -> None:
    rover = Electric("rover", "outdoor", capacity=60.0).go(20.0, speed=2.0)
    assert 0.0 < rover.charge < 0.5 and rover.speed == pytest.approx(2.0)
    assert drive_strength(0.05) == pytest.approx(1.0, abs=0.02)
    rover.go(120.0, speed=2.0)
    assert rover.speed == 0.0 and -0.02 <= rover.charge <= 0.0
    assert drive_strength(0.0) == pytest.approx((3.27 - 3.0) / 0.6)


@pytest.mark.parametrize("level", ["car.kinematic", "car.bicycle"])
def test_an_electric_car_draws_the_power_of_its_drive(level: str) -> None:
    car = Electric(level, "buggy").go(200.0, throttle=0.2)
    resistance = 0.5 * 1.225 * 0.5 * 0.08 * car.vx**2 + 0.015 * 8.0 * G  # at a steady speed
    assert car.power == pytest.approx(10.0 + resistance * car.vx / 0.75, rel=0.01)
    car.go(1.0, brake=1.0).go(0.1)
    assert car.power == pytest.approx(10.0, rel=1e-9)
    flat = Electric(level, "buggy", speed=3.0)
    flat.rows[flat.model.state._fields.index("charge")] = -0.01  # type: ignore[attr-defined]
    assert flat.go(0.5, throttle=1.0).vx < 3.0


@pytest.mark.parametrize("level", ["car.kinematic", "car.bicycle"])
def test_a_car_with_an_engine_has_no_battery(level: str) -> None:
    car = Electric(level, "sedan").go(5.0, throttle=1.0)
    assert (car.charge, car.voltage, car.current) == (1.0, 0.0, 0.0)
    assert car.vx > 10.0


def test_an_aircraft_pays_for_drag_climb_and_turns() -> None:
    plane = Electric("fixed_wing", "survey", z=100.0).go(30.0, speed=17.5)
    level = 1.4 * G * 17.5 / 10.0
    assert plane.power == pytest.approx(6.0 + level / 0.6, rel=1e-6)
    assert 1.4 < 4.9 * 4 * 3.83 / plane.power < 1.7  # hours
    plane.go(30.0, speed=17.5, climb=2.0)
    assert plane.power == pytest.approx(6.0 + (level + 1.4 * G * 2.0) / 0.6, rel=1e-6)
    plane.go(30.0, speed=17.5, climb=-3.0)  # steeper than its glide: the motor rests
    assert plane.power == pytest.approx(6.0, rel=1e-9)
    plane.go(30.0, speed=17.5, bank=0.36)
    load = 1.0 / np.cos(0.36)
    assert plane.power == pytest.approx(6.0 + level * 0.5 * (1.0 + load**2) / 0.6, rel=1e-3)


def test_an_empty_aircraft_glides() -> None:
    plane = Electric("fixed_wing", "survey", z=300.0, capacity=1.0).go(30.0, speed=17.5, climb=3.0)
    assert plane.charge <= 0.0
    assert plane.climb == pytest.approx(-17.5 / 10.0, rel=1e-6)


@pytest.mark.parametrize("name", ["fixed_wing", "plane", "rover"])
def test_aircraft_and_rovers_show_the_current_of_their_batteries(name: str) -> None:
    assert {"charge", "voltage", "current"} <= set(find_model(name).telemetry)


def test_a_load_beyond_the_pack_draws_the_current_of_its_maximum_power() -> None:
    after = discharged(0.6, 1e6, 4.0, 0.006, 4900.0, 0.01)
    rest = 4.0 * open_circuit(0.6)
    assert after.current == pytest.approx(rest / (2.0 * 4.0 * 0.006), rel=1e-9)
    assert after.voltage * after.current == pytest.approx(rest**2 / (4.0 * 4.0 * 0.006), rel=1e-9)
    assert 0.6 - after.charge == pytest.approx(after.current * 0.01 / (3.6 * 4900.0), rel=1e-9)


def test_an_aircraft_that_has_landed_draws_the_power_of_its_electronics() -> None:
    plane = Electric("fixed_wing", "survey", z=3.0).go(6.0, speed=12.0, climb=-1.0)
    assert plane.z == 0.0
    touchdown = plane.charge
    plane.go(60.0, speed=0.0)
    assert abs(plane.vx) < 1e-9
    assert plane.power == pytest.approx(6.0, rel=1e-6)
    assert touchdown - plane.charge == pytest.approx(6.0 * 60.0 / (3600.0 * 4.9 * 16.7), rel=0.02)  # W s of 16.7 V


@pytest.mark.parametrize("direction", range(8))
def test_an_aircraft_that_stands_in_wind_draws_the_power_of_its_electronics(direction: int) -> None:
    wind = Environment(wind_x=2.0 * np.cos(direction * np.pi / 4), wind_y=2.0 * np.sin(direction * np.pi / 4))
    plane = Electric("fixed_wing", "survey", w=wind, yaw=1.5708).go(5.0, speed=17.5)
    assert np.hypot(plane.x, plane.y) < 1e-9
    assert plane.power == pytest.approx(6.0, rel=1e-6)
    assert plane.charge > 0.999
    plane.go(2.0, speed=17.5, climb=2.0)  # and its take-off costs energy of the order of m v^2 / 2
    spent = (1.0 - plane.charge) * 3600.0 * 4.9 * 16.7
    assert 0.5 * 1.4 * 8.0**2 / 0.6 < spent < 1500.0
