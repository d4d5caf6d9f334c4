"""VDS1 clients: states that equal snapshots, commands, sequence numbers and failsafe."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.spatial.transform import Rotation

from paddock.wire.vds1 import CarState


def test_a_state_has_the_values_of_the_snapshot(serving: Any) -> None:
    client = serving.peer()
    client.drive(1, steer=0.08, throttle=0.6)
    client.drive(2, steer=-0.2)
    assert serving.eventually(lambda: serving.commands == 2)
    serving.sim.step(99)
    client.subscribe()
    assert serving.eventually(lambda: serving.count("datagrams_received") == 3)
    serving.sim.step(1)
    newest: dict[int, CarState] = {}
    while len(newest) < 3 or any(state.time != 0.11 for state in newest.values()):
        (state,) = client.states(1)
        newest[state.vehicle] = state
    snapshot = serving.sim.snapshot()
    assert snapshot.time == 0.11
    for vehicle, state in newest.items():
        _same(state.named(), snapshot[vehicle])
    assert newest[1].named()["wheel_radius"] == serving.sim.vehicles.inspect("red")["parameters"]["wheel_radius"]
    assert newest[1].named()["measured_x"] == snapshot["red"]["gnss.x"] != snapshot["red"].position[0]
    assert newest[1].named()["measured_yaw_rate"] == snapshot["red"]["imu.wz"]
    assert newest[1].named()["load_fl"] > 1000 and newest[2].named()["load_fl"] == 0
    assert newest[2].named()["measured_yaw_rate"] == newest[2].named()["yaw_rate"] != 0


def _same(values: dict[str, float], car: Any) -> None:
    assert all(map(math.isfinite, values.values()))
    attitude = Rotation.from_quat(car.orientation.copy())
    assert [values[k] for k in "xyz"] == list(car.position)
    assert [values[k] for k in ("yaw", "pitch", "roll")] == pytest.approx(attitude.as_euler("ZYX"), abs=1e-12)
    body = attitude.inv().apply(car.velocity.copy())
    assert [values[k] for k in ("vx", "vy", "vz")] == pytest.approx(body, abs=1e-12)
    assert values["yaw_rate"] == car.angular_velocity[2]
    assert [values[k] for k in ("ax", "ay", "steer_applied")] == [car[k] for k in ("ax", "ay", "steer")]
    assert values["wheel_spin_rr"] == car["wheel_speed"]


def test_every_publish_has_all_cars_with_increasing_sequence_numbers(serving: Any) -> None:
    client = serving.peer()
    client.subscribe()
    assert serving.eventually(lambda: serving.count("datagrams_received") == 1)
    serving.sim.step(30)
    groups = [client.states(3)]
    while groups[-1][0].time < serving.sim.time:
        groups.append(client.states(3))
    assert len(groups) >= 5
    for group in groups:
        assert {state.vehicle for state in group} == {1, 2, 3}  # the drone is not a car
        assert len({state.time for state in group}) == 1
    times = [group[0].time for group in groups]
    assert times == pytest.approx([times[0] + 0.005 * k for k in range(len(groups))])  # 200 Hz
    for vehicle in range(3):
        first = groups[0][vehicle].sequence
        assert [group[vehicle].sequence for group in groups] == list(range(first, first + len(groups)))


def test_the_failsafe_acts_after_a_tenth_of_a_simulated_second(serving: Any) -> None:
    client = serving.peer()
    client.drive(1, steer=0.1, throttle=0.7)
    assert serving.eventually(lambda: serving.commands == 1)
    serving.sim.step(100)
    assert serving.command("red") == {"steer": 0.1, "throttle": 0.7, "brake": 0.0, "gear": 1.0, "handbrake": 0.0}
    serving.sim.step(2)
    assert serving.command("red") == {"steer": 0.1, "throttle": 0.0, "brake": 0.3, "gear": 1.0, "handbrake": 0.0}
    client.drive(1, throttle=0.2, gear=-1, handbrake=True)
    assert serving.eventually(lambda: serving.commands == 2)
    serving.sim.step(1)
    assert serving.command("red") == {"steer": 0.0, "throttle": 0.2, "brake": 0.0, "gear": -1.0, "handbrake": 1.0}


def test_two_clients_drive_two_cars_and_the_last_command_wins(serving: Any) -> None:
    ann, bob = serving.peer(), serving.peer()
    ann.drive(1, steer=0.1, throttle=0.3)
    bob.drive(2, steer=-0.1, brake=0.4)
    assert serving.eventually(lambda: serving.commands == 2)
    serving.sim.step(1)
    assert (serving.command("red")["steer"], serving.command("red")["throttle"]) == (0.1, 0.3)
    assert (serving.command("blue")["steer"], serving.command("blue")["brake"]) == (-0.1, 0.4)
    bob.drive(1, steer=0.2, sequence=0)  # another client's numbers are its own
    assert serving.eventually(lambda: serving.commands == 3)
    serving.sim.step(1)
    assert serving.command("red")["steer"] == 0.2 and serving.command("blue")["steer"] == -0.1
    assert serving.refused("stale") == 0


def test_duplicated_and_late_commands_change_nothing(serving: Any) -> None:
    client = serving.peer()
    client.drive(1, steer=0.1, sequence=50)
    assert serving.eventually(lambda: serving.commands == 1)
    for old in (50, 40, 49, 50):
        client.drive(1, steer=-0.3, sequence=old)
    assert serving.eventually(lambda: serving.refused("stale") == 4)
    serving.sim.step(1)
    assert serving.command("red")["steer"] == 0.1 and serving.commands == 1
    for begun_again in (1, 2, 3):
        client.drive(1, steer=0.01 * begun_again, sequence=begun_again)
    assert serving.eventually(lambda: serving.commands == 2)
    serving.sim.step(1)
    assert serving.command("red")["steer"] == 0.03


def test_misdirected_commands_are_counted_and_change_nothing(serving: Any) -> None:
    client = serving.peer()
    for unknown in (0, 3, 4, 99, 2**32 - 1):
        client.drive(unknown, throttle=1.0)
    assert serving.eventually(lambda: serving.count("misdirected") == 5)
    serving.sim.step(5)
    client.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):  # that does not subscribe
        client.states(1)
    client.drive(1, throttle=0.5)
    assert serving.eventually(lambda: serving.commands == 1)
    serving.sim.step(1)
    assert serving.command("red")["throttle"] == 0.5 and serving.count("misdirected") == 5


def test_auxiliary_inputs_are_counted_and_the_rest_applies(serving: Any) -> None:
    client = serving.peer()
    client.drive(1, throttle=0.4, aux_speed=20.0)
    assert serving.eventually(lambda: serving.commands == 1)
    serving.sim.step(1)
    assert serving.command("red")["throttle"] == 0.4
    assert serving.count("aux_unsupported") == 1


def test_overrides_decide_which_cars_take_commands(serving: Any) -> None:
    client = serving.peer()
    client.drive(3, steer=0.1)
    assert serving.eventually(lambda: serving.count("misdirected") == 1)
    serving.sim.behaviours.override("bus", "external")
    serving.sim.behaviours.override("red", {"goto": {"x": 90, "y": 0}})

    def drives(vehicle: int, name: str, steer: float) -> bool:
        client.drive(1, steer=0.5)  # that it is refused must not hold up the other
        client.drive(vehicle, steer=steer)
        serving.sim.step(1)
        return bool(serving.command(name)["steer"] == steer)

    assert serving.eventually(lambda: drives(3, "bus", 0.25))
    assert serving.eventually(lambda: drives(2, "blue", 0.3))
    assert serving.command("red")["steer"] != 0.5
