"""Satellite navigation of vehicles under jammers and spoofers, in runs."""

from __future__ import annotations

from math import log10, pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.record import Recorder, verify
from paddock.scenario import ScenarioError, load_scenario
from paddock.world.archive import pack, unpack

LIGHT, CHIP = 299_792_458.0, 1.023e6
L1 = 1575.42e6


def world(radio: dict[str, Any], **entry: Any) -> dict[str, Any]:
    vehicle = {"name": "dot", "model": "point", "pose": [0.0, 0.0, 50.0, 0.0], "sensors": ["gnss"]}
    return {"seed": 5, "clock": {"rate": 50}, "radio": radio, "vehicles": [{**vehicle, **entry}]}


def jammer(**options: Any) -> dict[str, Any]:
    place = {"name": "red", "kind": "spot", "position": [1000.0, 0.0, 50.0], "frequency": L1, "bandwidth": 1e4}
    return {**place, "power": 0.0, **options}


def spoofer(**options: Any) -> dict[str, Any]:
    return {"name": "liar", "position": [0.0, 200.0, 50.0], "power": -40.0, **options}


def free_space(distance: float) -> float:
    return 20.0 * log10(4.0 * pi * distance * L1 / LIGHT)


def reading(sim: Any, name: str = "dot") -> Any:
    return sim.sensors(name)["gnss"]


@pytest.mark.parametrize("power", [0.0, -5.0, 10.0])
def test_cn0_under_a_jammer(power: float) -> None:
    """A carrier of some dBm at 1 km: -96.4 dBm per 0 dBm at the antenna, the signal is at -128.5 dBm."""
    with paddock.load(world({"jammers": [jammer(power=power)]})) as sim:
        sim.step(50)
        found = reading(sim)
    js = power - free_space(1000.0) + 128.5
    expected = -10.0 * log10(10**-4.45 + 10 ** (js / 10.0) / CHIP)
    assert found["cn0"] == pytest.approx(expected, abs=0.01)
    assert found["fix"] == (3.0 if expected > 27.8 else 0.0) and np.isnan(found["x"]) == (expected < 27.8)


@pytest.mark.parametrize(
    ("options", "lost"),
    [
        ({"frequency": 2.4e9, "power": 40.0}, 0.0),  # another band
        ({"kind": "barrage", "bandwidth": 20e6}, 10.0 * log10(20e6 / CHIP / 0.9028)),  # 4.5 % of its power
        ({"kind": "pulsed", "period": 0.01, "duty": 0.25}, 6.02),
    ],
)
def test_kinds_of_jammers(options: dict[str, Any], lost: float) -> None:
    with paddock.load(world({"jammers": [jammer(**options)]})) as sim:
        sim.step(50)
        found = float(reading(sim)["cn0"])
    js = -free_space(1000.0) + 128.5 - lost
    expected = 44.5 if lost == 0.0 else -10.0 * log10(10**-4.45 + 10 ** (js / 10.0) / CHIP)
    assert found == pytest.approx(expected, abs=0.02)


def test_a_swept_jammer_crosses_the_band_for_a_part_of_its_period() -> None:
    sweep = {"kind": "swept", "bandwidth": 1e4, "sweep": [L1 - 10e6, L1 + 10e6], "period": 0.001, "power": 5.0}
    with paddock.load(world({"jammers": [jammer(**sweep)]})) as sim:
        sim.step(50)
        found = float(reading(sim)["cn0"])
    js = 5.0 - free_space(1000.0) + 128.5 - 10.0 * log10(20.01e6 / CHIP / 0.9028)
    assert found == pytest.approx(-10.0 * log10(10**-4.45 + 10 ** (js / 10.0) / CHIP), abs=0.02)


def test_a_fix_is_lost_and_found_again(tmp_path: Path) -> None:
    radio = {"jammers": [jammer(power=20.0, enabled=False)]}
    with paddock.load(world(radio)) as sim, Recorder(sim, tmp_path / "run.mcap"):
        sim.step(50)
        assert reading(sim)["fix"] == 3.0
        sim.radio.jammers.set("red", on=True)
        sim.step(50)
        assert reading(sim)["fix"] == 0.0 and np.isnan(reading(sim)["x"])
        sim.radio.jammers.set("red", on=False)
        sim.step(90)
        assert reading(sim)["fix"] == 0.0 and reading(sim)["cn0"] == 44.5
        sim.step(30)  # 2 s after the jammer
        assert reading(sim)["fix"] == 3.0 and abs(reading(sim)["x"]) < 3.0
        shown = sim.snapshot()["dot"]
        assert (shown["gnss.fix"], shown["gnss.satellites"], shown["gnss.hdop"]) == (3.0, 12.0, 0.8)
    assert verify(tmp_path / "run.mcap").same


EXACT = {"noise_horizontal": 0.0, "noise_vertical": 0.0, "noise_velocity": 0.0, "walk": 0.0, "rate": 10.0}


def test_a_spoofer_pulls_its_target_and_jams_the_others() -> None:
    pull = {"velocity": [2.0, 0.0, -1.0], "delay": 1.0}
    radio = {"spoofers": [spoofer(target="dot", pull=pull, on=[[1.0, 8.0]])]}
    scenario = world(radio, sensors=[{"gnss": EXACT}])
    scenario["vehicles"].append({**scenario["vehicles"][0], "name": "other", "pose": [5.0, 0.0, 50.0, 0.0]})
    with paddock.load(scenario) as sim:
        sim.step(50 * 6)
        found, other = reading(sim), reading(sim, "other")
        events = {event.kind: event for event in sim.events.since()}
        captured = events["gnss_spoofed"].tick / 50
        assert captured == pytest.approx(3.0, abs=0.21) and events["gnss_spoofed"].subject == "dot"
        pulled = 6.0 - captured - 1.0
        assert found["x"] == pytest.approx(2.0 * pulled, abs=0.5) and found["z"] == pytest.approx(50 - pulled, abs=0.25)
        assert (found["vx"], found["vz"]) == (2.0, -1.0)
        power = -40.0 - free_space(200.0)
        js = power + 128.5
        assert js > 3.0 and found["cn0"] == pytest.approx(min(54.0, power + 173.0), abs=0.01)
        away = -40.0 - free_space((200.0**2 + 25.0) ** 0.5) + 128.5
        expected = -10.0 * log10(10**-4.45 + 10 ** (away / 10.0) / 1.5 / CHIP)
        assert other["x"] == pytest.approx(5.0, abs=30.0) and other["cn0"] == pytest.approx(expected, abs=0.01)
        [view] = sim.radio.spoofers()
        assert (view.name, view.active, view.captured) == ("liar", True, 1)
        sim.step(50 * 6)
        assert reading(sim)["fix"] == 3.0 and reading(sim)["x"] == 0.0
        assert [one.kind for one in sim.events.since()] == ["gnss_spoofed", "gnss_released"]


def test_spoofed_receivers_are_part_of_the_state() -> None:
    scenario = world({"spoofers": [spoofer(offset=[30.0, 0.0, 0.0], on=[[0.5, 1000.0]])], "jammers": [jammer()]})
    with paddock.load(scenario) as sim:
        sim.step(80)
        sim.radio.spoofers.set("liar", power=-35.0)
        sim.step(5)
        state, before = sim.save(), sim.state_hash()
        sim.step(100)
        after = sim.state_hash()
        assert reading(sim)["x"] == pytest.approx(30.0, abs=15.0)
    with paddock.load(scenario) as sim:
        sim.restore(state)
        assert sim.state_hash() == before
        sim.step(100)
        assert sim.state_hash() == after
        tree = unpack(state)
        tree["world"]["fleets"]["dot"]["tables"]["gnss"][8] = 3.0  # a captor that does not exist
        with pytest.raises(PaddockError, match="saved satellite signals of 'dot' are not valid"):
            sim.restore(pack(tree))


def test_every_state_of_a_capture_restores() -> None:
    """From the start of a run on, a spoofer holds the receiver longer and longer, then captures it."""
    with paddock.load(world({"spoofers": [spoofer(offset=[30.0, 0.0, 0.0])]})) as sim:
        captured = []
        for _ in range(50):
            sim.restore(sim.save())
            captured.append(sim.radio.spoofers()[0].captured)
            sim.step(3)
        assert captured == sorted(captured) and (captured[0], captured[-1]) == (0, 1)


def test_changes_of_spoofers_are_checked() -> None:
    with paddock.load(world({"spoofers": [spoofer(offset=[1.0, 0.0, 0.0])]})) as sim:
        with pytest.raises(UnknownNameError, match="unknown spoofer 'lair'; did you mean 'liar'"):
            sim.radio.spoofers.set("lair", on=False)
        with pytest.raises(UnknownNameError, match="unknown setting 'frequency' of a spoofer"):
            sim.radio.spoofers.set("liar", frequency=1e9)
        with pytest.raises(InvalidValueError, match="on must be true or false"):
            sim.radio.spoofers.set("liar", on=1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{name: a, position: [0, 0, 0]}", "3:5: a spoofer needs pull: {velocity: [x, y, z]} or offset"),
        ("{name: a, offset: [1, 0, 0]}", "3:5: spoofer 'a' needs a position or a vehicle"),
        ("{name: a, vehicle: d, offset: [1, 0, 0]}", "3:24: unknown vehicle 'd'; valid: dot"),
        ("{name: a, vehicle: dot, target: sot, offset: [1, 0, 0]}", "3:37: unknown vehicle 'sot'; did you mean 'dot'"),
        ("{name: dot, vehicle: dot, offset: [1, 0, 0]}", "3:12: the name 'dot' is already used"),
        ("{name: a, vehicle: dot, offset: [1, 0, 0], on: [[3, 2]]}", "3:53: times ascend from 0 s"),
        ("{name: a, vehicle: dot, offset: [1, 0, 0], powr: 3}", "'powr'"),
    ],
)
def test_mistakes_are_reported_at_their_place(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(f"radio:\n  spoofers:\n  - {line}\nvehicles:\n- {{name: dot, model: point, sensors: [gnss]}}\n")
    with pytest.raises(ScenarioError) as error:
        load_scenario(path)
    assert message in str(error.value), str(error.value)


def test_a_model_that_is_not_valid_at_l1_is_refused() -> None:
    radio = {"default": {"model": "okumura_hata"}, "jammers": [jammer()]}
    with pytest.raises(
        InvalidValueError, match=r"okumura_hata is valid from 150 to 1500 MHz, not for the 1575\.42 MHz"
    ):
        paddock.load(world(radio))
