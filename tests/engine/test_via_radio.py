"""Commands over the radio: delay, rate, loss, timeouts behind a jammer; the queue is part of the state."""

from __future__ import annotations

from math import erfc, log10, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.record import Recorder, verify
from paddock.scenario import ScenarioError, load_scenario
from paddock.world.archive import pack, unpack

LIGHT = 299_792_458.0
HEADER, INPUT = 128, 32  # bits


def world(entry: dict[str, Any], radio: dict[str, Any] | None = None, jammers: Any = (), rate: int = 200) -> Any:
    base = {"name": "base", "position": [0.0, 0.0, 0.0]}
    section = {"stations": [base], "jammers": list(jammers), "types": {"default": radio or {}}}
    vehicle = {"name": "dot", "model": "point", "pose": [300.0, 0.0, 0.0, 0.0], "radio": "default", "via": "radio"}
    return {"seed": 5, "clock": {"rate": rate}, "radio": section, "vehicles": [{**vehicle, **entry}]}


def noise_dbm(bandwidth: float, figure: float = 6.0) -> float:
    return 10.0 * log10(1.380649e-23 * 290.0 * bandwidth * 1e3) + figure


def test_a_command_arrives_after_airtime_and_flight() -> None:
    with paddock.load(world({}, {"bit_rate": 1000.0})) as sim:
        sim.step(10)
        sim.command("dot", vx=2.0)
        sim.step(1)
        posted = 10 / 200
        while sim.snapshot()["dot"].velocity[0] == 0.0:
            sim.step(1)
        airtime = (HEADER + INPUT) / 1000.0  # 0.16 s; light takes 1 us for 300 m
        arrived = posted + airtime + 300.0 / LIGHT
        assert sim.radio.commands("dot").delay == pytest.approx(airtime + 300.0 / LIGHT, abs=1e-9)
        assert sim.tick == int(np.ceil(arrived * 200)) + 1  # latched before the tick, which then moves the vehicle


def test_commands_queue_behind_each_other_and_a_full_queue_drops_them() -> None:
    with paddock.load(world({"via": {"radio": "base", "queue": 3}}, {"bit_rate": 1000.0})) as sim:
        for speed in (1.0, 2.0, 3.0, 4.0, 5.0):
            sim.command("dot", vx=speed)
        sim.step(1)
        traffic = sim.radio.commands("dot")
        assert (traffic.sent, traffic.dropped, traffic.waiting) == (5, 2, 3)
        period = (2 * HEADER + INPUT) / 1000.0  # a packet and its acknowledgement
        sim.step(round((period * 2 + 0.16) * 200) + 2)
        assert sim.snapshot()["dot"]["command.vx"] == 3.0  # the first three, in order
        mean = (0.16 + (0.16 + period) + (0.16 + 2 * period)) / 3 + 300.0 / LIGHT
        assert sim.radio.commands("dot").delay == pytest.approx(mean, abs=1e-9)


def test_inputs_that_a_command_leaves_out_stay() -> None:
    with paddock.load(world({})) as sim:
        sim.command("dot", vx=1.0, vy=2.0)
        sim.step(5)
        sim.command("dot", vy=-3.0)
        sim.step(5)
        vehicle = sim.snapshot()["dot"]
        assert (vehicle["command.vx"], vehicle["command.vy"]) == (1.0, -3.0)


@pytest.mark.parametrize("retries", [0, 1])
def test_losses_follow_the_packet_error_rate(retries: int) -> None:
    """BPSK at 2.4 GHz over 300 m of free space, the power chosen for a bit error rate of about 1e-3."""
    bandwidth, n = 1e6, 400
    loss = 20.0 * log10(4.0 * pi * 300.0 * 2.4e9 / LIGHT)
    power = noise_dbm(bandwidth) + loss + 6.8  # Eb/N0 of 6.8 dB
    entry = {
        "name": "dots",
        "count": n,
        "pose": None,
        "spawn": {"poses": [[300.0, 0.0, 0.0, 0.0]] * n},
        "via": {"radio": "base", "retries": retries},
    }
    radio = {"bandwidth": bandwidth, "bit_rate": bandwidth, "power": power, "modulation": "bpsk", "duty": 0.0}
    with paddock.load(world(entry, radio | {"sensitivity": -130.0})) as sim:
        for _ in range(5):
            sim.command("dots", vx=1.0)
            sim.step(10)
        traffic = sim.radio.commands("dots")
    error = 1.0 - (1.0 - 0.5 * erfc(sqrt(10.0**0.68))) ** (HEADER + INPUT)
    expected = error ** (retries + 1)
    assert 0.01 < expected < 0.25
    assert traffic.sent == 5 * n and traffic.waiting == 0 and traffic.delivered + traffic.lost == 5 * n
    assert traffic.lost / traffic.sent == pytest.approx(expected, abs=4.0 * sqrt(expected / (5 * n)))


JAMMER = {"name": "red", "kind": "barrage", "position": [320.0, 0.0, 0.0], "power": 40.0, "on": [[1.0, 2.0]]}


def drive(sim: Any, seconds: float) -> None:
    for _ in range(round(seconds * 20)):
        sim.command("dot", vx=1.0)
        sim.step(10)


def test_a_jammer_fires_the_timeout_and_commands_come_back(tmp_path: Path) -> None:
    scenario = world({"timeout": 0.4, "failsafe": {"vx": 0.0}}, jammers=[JAMMER])
    with paddock.load(scenario) as sim, Recorder(sim, tmp_path / "run.mcap"):
        drive(sim, 3.0)
        found = {event.kind: event.tick / 200 for event in sim.events.since()}
        traffic = sim.radio.commands("dot")
        moved = float(sim.snapshot()["dot"].position[0]) - 300.0
    assert found["link_down"] == pytest.approx(1.0, abs=0.1)  # links are updated ten times a second
    assert found["failsafe"] == pytest.approx(found["link_down"] + 0.4, abs=0.06)  # a command every 0.05 s
    assert found["recovered"] == pytest.approx(2.0, abs=0.11) and found["link_up"] == pytest.approx(2.0, abs=0.1)
    assert traffic.lost == pytest.approx(20, abs=2) and traffic.delivered + traffic.lost == 60
    assert moved == pytest.approx(3.0 - (found["recovered"] - found["failsafe"]), abs=0.2)  # it accelerates twice
    assert verify(tmp_path / "run.mcap").same


def test_commands_on_their_way_are_part_of_the_state() -> None:
    scenario = world({"timeout": 0.4}, {"bit_rate": 1000.0}, [JAMMER])
    with paddock.load(scenario) as sim:
        drive(sim, 0.3)
        state, before = sim.save(), sim.state_hash()
        assert sim.radio.commands("dot").waiting > 2
        sim.step(300)
        after = sim.state_hash()
        sim.restore(state)
        assert sim.state_hash() == before
        sim.step(100)
        sim.step(200)
        assert sim.state_hash() == after
    with paddock.load(scenario) as sim:
        sim.restore(state)
        sim.step(300)
        assert sim.state_hash() == after


@pytest.mark.parametrize("value", [-1.0, 0.5, 1e16, 9.0])
def test_a_crafted_queue_is_refused(value: float) -> None:
    with paddock.load(world({}, {"bit_rate": 1000.0})) as sim:
        sim.command("dot", vx=1.0)
        sim.step(2)
        tree = unpack(sim.save())
        tree["world"]["fleets"]["dot"]["tables"]["uplink"][0, 0] = value
        with pytest.raises(PaddockError, match="commands on their way to 'dot' are not valid"):
            sim.restore(pack(tree))


HEAD = "radio:\n  stations: [{name: base, position: [0, 0, 2]}]\nvehicles:\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vehicles:\n- {model: point, via: radio}\n", "2:23: there is no radio: add a section"),
        (HEAD + "- {model: point, via: radio}\n", "4:23: its vehicles have no radio: add `radio:"),
        (
            HEAD + "- {model: point, radio: default, via: {radio: bas}}\n",
            "4:47: unknown station 'bas'; did you mean 'base'",
        ),
        (HEAD + "- {model: point, radio: default, via: wire}\n", "4:39: unknown way 'wire'"),
        (HEAD + "- {model: point, radio: default, via: {retries: -1}}\n", "4:49: "),
        (
            "radio: {}\nvehicles:\n- {model: point, radio: default, via: radio}\n",
            "3:39: there is no ground station: add",
        ),
    ],
)
def test_mistakes_are_reported_at_their_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as error:
        load_scenario(path)
    assert message in str(error.value), str(error.value)


def test_a_vehicle_that_a_behaviour_drives_has_no_commands_to_carry() -> None:
    with pytest.raises(PaddockError, match="via have no effect on a vehicle that a behaviour drives"):
        paddock.load(world({"behaviour": "flock"}))
