"""Actuators as inputs of the models: hand calculations, and the resulting motion."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.vehicle_data import ActuatorCommands
from paddock.engine.simulation import Simulation
from paddock.scenario import load_scenario
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.adapters.world import WorldAdapter
from paddock.sitl.airframes import Airframe, find_airframe
from paddock.vehicles.model import find_model


def airframe(model: str, **entry: Any) -> Airframe:
    vehicles = [{"name": "v", "model": model, "pose": [0, 0, 0], **entry}]
    program, _ = Simulation(load_scenario({"clock": {"rate": 500}, "vehicles": vehicles})).engine.applier.found("v")
    return find_airframe(program.model)(program)


def commanded(frame: Airframe, motors: list[float], servos: list[float] | None = None, armed: bool = True) -> Any:
    row = ActuatorCommands(armed=armed, motors=motors, servos=servos or []).row
    inputs = frame.commanded(row[None, :], slice(0, 1))
    return {name: float(np.asarray(value).ravel()[0]) for name, value in inputs.items()}


@pytest.fixture
def driven(standalone_world: Any) -> Callable[..., WorldAdapter]:
    def make(craft: str, **placed: Any) -> Any:
        adapter = standalone_world(truth=True)
        adapter.connect()
        adapter.add_vehicle(Placed(1, "v", craft, **placed))
        return adapter

    return make


def after(adapter: WorldAdapter, seconds: float, motors: list[float], servos: list[float] | None = None) -> Any:
    """What the sensors say after so long with these actuators, renewed at 50 Hz as an autopilot does."""
    for _ in range(round(seconds * 50)):
        adapter.send_actuators(ActuatorCommands(armed=True, motors=motors, servos=servos or []))
        assert adapter.step(20_000)
    data = adapter.receive_sensors()
    assert data is not None
    return data.values()


def test_quad_motors_pass_unchanged() -> None:
    got = commanded(airframe("quad", preset="iris"), [0.1, 0.2, 0.3, 1.0])
    shares = {"motor_1": 0.1, "motor_2": 0.2, "motor_3": 0.3, "motor_4": 1.0}
    assert got == {"armed": 1.0, "mode": 8.0, **shares}
    assert commanded(airframe("quad"), [0.5] * 4, armed=False)["armed"] == 0.0


def test_rover_wheels_are_a_speed_and_a_turn() -> None:
    frame = airframe("rover", parameters={"wheel_base": 0.5, "speed_max": 2.0})
    assert commanded(frame, [0.5, 1.0]) == {"speed": 1.5, "turn_rate": 2.0}  # (2 - 1) m/s over 0.5 m, to the left
    assert commanded(frame, [1.0, -1.0]) == {"speed": 0.0, "turn_rate": -8.0}
    assert commanded(frame, [1.0, 1.0], armed=False) == {"speed": 0.0, "turn_rate": 0.0}


def test_each_vehicle_of_a_fleet_has_its_own_parameters() -> None:
    vehicles = [
        {"name": "v", "count": 3, "model": "rover", "spawn": {"grid": {"spacing": 3}}, "spread": {"speed_max": 0.2}}
    ]
    program, rows = Simulation(load_scenario({"vehicles": vehicles})).engine.applier.found("v")
    block = np.tile(ActuatorCommands(armed=True, motors=[1.0, 1.0]).row, (3, 1))
    speeds = find_airframe(program.model)(program).commanded(block, rows)["speed"]
    assert np.array_equal(speeds, program.fleet.tables["varying"][0, :3]) and len(set(np.asarray(speeds))) == 3


def test_surfaces_of_a_stabilised_fixed_wing_set_rates() -> None:
    limits = {"speed_min": 10.0, "speed_max": 20.0, "roll_time": 0.5, "speed_time": 2.0}
    frame = airframe("fixed_wing", parameters=limits)  # it stands
    rolling = commanded(frame, [0.25], [0.5, -0.5])
    # the lag of 0.5 s turns a step of 0.55 rad into 1.1 rad/s; a throttle on the ground starts the roll
    assert rolling == {"speed": 12.5, "bank": pytest.approx(0.55), "climb": 0.1}
    assert commanded(frame, [1.0], armed=False)["speed"] == 0.0
    state, columns = frame.program.fleet.state, list(frame.program.model.state._fields)  # type: ignore[attr-defined]
    state[columns.index("airspeed")], state[columns.index("bank")] = 15.0, 0.3
    flying = commanded(frame, [0.25], [0.0, -0.5])
    assert flying["bank"] == pytest.approx(0.3 - 0.5 * 0.3 / 6.0)  # back to level flight
    assert flying["climb"] == pytest.approx(-0.5 * 0.8 * 15.0 * 2.0)


def test_a_plane_has_its_surfaces_and_battery() -> None:
    frame = airframe("plane")
    assert commanded(frame, [0.6], [0.1, -0.2, 0.3]) == {
        "aileron": 0.1,
        "elevator": -0.2,
        "rudder": 0.3,
        "throttle": 0.6,
    }
    assert commanded(frame, [0.6], armed=False)["throttle"] == 0.0
    power = frame.battery(slice(0, 1))
    assert power is not None and [part.tolist() for part in power] == [[16.8], [0.0], [1.0]]


@pytest.mark.parametrize("model", ["car.kinematic", "car.bicycle"])
def test_a_car_drives_brakes_and_reverses(model: str) -> None:
    frame = airframe(model, preset="buggy")
    state = frame.program.fleet.state
    vx = list(frame.program.model.state._fields).index("vx")  # type: ignore[attr-defined]
    ahead = commanded(frame, [0.5], [1.0])
    assert (ahead["gear"], ahead["brake"], ahead["throttle"]) == (1.0, 0.0, 0.5)
    assert ahead["steer"] == pytest.approx(-0.61)  # full right
    back = commanded(frame, [-0.5])
    assert (back["gear"], back["brake"], back["throttle"]) == (-1.0, 0.0, 0.5)
    state[vx] = 2.0  # rolling forward with reverse throttle: it brakes first
    braking = commanded(frame, [-0.5])
    assert braking["throttle"] == 0.0 and braking["brake"] > 0.0
    state[vx] = -2.0
    braking = commanded(frame, [0.5])
    assert braking["throttle"] == 0.0 and braking["brake"] > 0.0
    assert commanded(frame, [0.9], armed=False)["brake"] == 1.0
    state[vx] = 0.0
    standing = commanded(frame, [0.0])
    assert standing["throttle"] == 0.0 and standing["brake"] == 0.5


def test_a_model_without_actuators_is_refused_in_one_line() -> None:
    with pytest.raises(AdapterError, match="model 'point' has no actuators for an autopilot") as caught:
        find_airframe(find_model("point"))
    assert "aircraft, car, quad, rover" in str(caught.value)


# --- resulting motion -----------------------------------------------------------------------------------------------


def test_a_copter_climbs_with_more_than_the_weight_and_rolls_right(driven: Any) -> None:
    adapter = driven("copter")
    share = 1.5 * 9.80665 / (4 * 9.68)
    up = after(adapter, 1.0, [1.1 * share] * 4)
    # about 10 % of g for 1 s, less the lag of motors and battery, plus what the unloading legs give back
    assert -1.25 < up.true_vd < -0.5
    rolled = after(adapter, 0.1, [1.1 * share - 0.02, 1.1 * share + 0.02, 1.1 * share + 0.02, 1.1 * share - 0.02])
    assert rolled.true_qx > 0.01 and abs(rolled.true_qy) < 1e-3  # right wing down, with the nose north


def test_a_skid_steer_rover_turns_right_when_its_left_wheels_are_faster(driven: Any) -> None:
    data = after(driven("rover"), 4.0, [0.6, 0.5])
    # 0.1 of 4 m/s over 1.6 m: 0.25 rad/s to the right, for 4 s less the ramp
    heading = 2 * np.arctan2(data.true_qz, data.true_qw)
    assert heading == pytest.approx(1.0, abs=0.02) and data.true_east > 3.0


def test_an_ackermann_rover_keeps_the_stock_speed_of_its_throttle_and_reverses(driven: Any) -> None:
    adapter = driven("rover_ackermann")
    data = after(adapter, 8.0, [0.3])
    assert data.true_vn == pytest.approx(5.0, abs=0.3) and abs(data.true_east) < 1e-6  # CRUISE_SPEED at CRUISE_THROTTLE
    data = after(adapter, 8.0, [-0.3])
    assert data.true_vn == pytest.approx(-5.0, abs=0.3)
    data = after(adapter, 6.0, [0.0])
    assert data.true_vn == 0.0
    turned = after(adapter, 2.0, [0.1], [1.0])
    assert turned.gyro_z > 0.5  # clockwise: to the right


def test_an_ackermann_rover_turns_no_tighter_than_its_tyres_allow(driven: Any) -> None:
    adapter = driven("rover_ackermann")
    after(adapter, 8.0, [0.3])
    sideways = [after(adapter, 0.02, [0.3], [1.0]).accel_y for _ in range(100)]
    # tyre_mu 1 holds 9.8 m/s2; while the wheels turn at 3 rad/s, the middle of the car swings out with them, by
    # 0.3 m of 0.6 m at 5 m/s: 7.5 m/s2 more
    assert np.median(sideways[50:]) == pytest.approx(9.8, abs=0.7) and max(sideways) < 19.0
    for free in (airframe("car.bicycle", preset="buggy", speed=8.0), airframe("car.kinematic", preset="buggy")):
        assert commanded(free, [0.5], [1.0])["steer"] == -0.61  # one has tyres itself, the other stands


def test_a_fixed_wing_banks_to_the_right(driven: Any) -> None:
    adapter = driven("plane", position=(0.0, 0.0, -100.0), heading=pi / 2)
    data = after(adapter, 6.0, [0.5], [1.0, 0.0])
    assert data.airspeed == pytest.approx(18.5, abs=0.2) and data.true_down == pytest.approx(-100.0, abs=1.0)
    assert data.true_north < -1.0 and data.gyro_z > 0.1  # from east to the south


def test_jitter_of_the_outputs_moves_no_wheel() -> None:
    rover = airframe("rover", preset="skid")
    assert commanded(rover, [0.004, -0.008])["speed"] == 0.0 and commanded(rover, [0.004, -0.008])["turn_rate"] == 0.0
    assert commanded(rover, [0.02, 0.02])["speed"] == pytest.approx(0.08)
