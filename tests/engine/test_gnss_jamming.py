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
    jamming = {"name": "red", "kind": "spot", "position": [1000.0, 0.0, 50.0], "frequency": L1, "bandwidth": 1e4}
    return {**jamming, "power": 0.0, **options}


def spoofer(**options: Any) -> dict[str, Any]:
    return {"name": "liar", "position": [0.0, 200.0, 50.0], "power": -40.0, **options}


def free_space(distance: float) -> float:
    return 20.0 * log10(4.0 * pi * distance * L1 / LIGHT)


def reading(sim: Any, name: str = "dot") -> Any:
    return sim.vehicles.sensors(name)["gnss"]


@pytest.mark.parametrize("power", [0.0, -5.0, 10.0])
def test_cn0_under_a_jammer(power: float) -> None:
    """A carrier of some dBm at 1 km: -96.4 dBm per 0 dBm at the antenna, the signal is at -128.5 dBm."""
    with paddock.load(world({"jammers": [jammer(power=power)]})) as sim:
        sim.step(50)
        measured = reading(sim)
    js = power - free_space(1000.0) + 128.5
    expected = -10.0 * log10(10**-4.45 + 10 ** (js / 10.0) / CHIP)
    assert measured["cn0"] == pytest.approx(expected, abs=0.01)
    assert measured["fix"] == (3.0 if expected > 27.8 else 0.0) and np.isnan(measured["x"]) == (expected < 27.8)


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
        cn0 = float(reading(sim)["cn0"])
    js = -free_space(1000.0) + 128.5 - lost
    expected = 44.5 if lost == 0.0 else -10.0 * log10(10**-4.45 + 10 ** (js / 10.0) / CHIP)
    assert cn0 == pytest.approx(expected, abs=0.02)


def test_a_swept_jammer_crosses_the_band_for_a_part_of_its_period() -> None:
    sweep = {"kind": "swept", "bandwidth": 1e4, "sweep": [L1 - 10e6, L1 + 10e6], "period": 0.001, "power": 5.0}
    with paddock.load(world({"jammers": [jammer(**sweep)]})) as sim:
        sim.step(50)
        cn0 = float(reading(sim)["cn0"])
    js = 5.0 - free_space(1000.0) + 128.5 - 10.0 * log10(20.01e6 / CHIP / 0.9028)
    assert cn0 == pytest.approx(-10.0 * log10(10**-4.45 + 10 ** (js / 10.0) / CHIP), abs=0.02)


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
        measured, other = reading(sim), reading(sim, "other")
        events = {event.kind: event for event in sim.events.since()}
        captured = events["gnss_spoofed"].tick / 50
        assert captured == pytest.approx(3.0, abs=0.21) and events["gnss_spoofed"].subject == "dot"
        pulled = 6.0 - captured - 1.0
        assert measured["x"] == pytest.approx(2.0 * pulled, abs=0.5)
        assert measured["z"] == pytest.approx(50 - pulled, abs=0.25)
        assert (measured["vx"], measured["vz"]) == (2.0, -1.0)
        power = -40.0 - free_space(200.0)
        js = power + 128.5
        assert js > 3.0 and measured["cn0"] == pytest.approx(min(54.0, power + 173.0), abs=0.01)
        away = -40.0 - free_space((200.0**2 + 25.0) ** 0.5) + 128.5
        expected = -10.0 * log10(10**-4.45 + 10 ** (away / 10.0) / 1.5 / CHIP)
        assert other["x"] == pytest.approx(5.0, abs=30.0) and other["cn0"] == pytest.approx(expected, abs=0.01)
        [view] = sim.radio.spoofers()
        assert (view.name, view.active, view.captured) == ("liar", True, 1)
        sim.step(50 * 6)
        assert reading(sim)["fix"] == 3.0 and reading(sim)["x"] == 0.0
        assert [event.kind for event in sim.events.since()] == [
            "gnss_spoofed",
            "gnss_released",
            "gnss_lost",
            "gnss_regained",
        ]


def kinds(sim: Any) -> list[tuple[str, str]]:
    return [(event.kind, event.subject) for event in sim.events.since() if event.kind.startswith("gnss_")]


def test_a_lost_fix_is_an_event_and_so_is_its_return() -> None:
    """Jammed from 1 to 3 s; the receiver samples 5 times per second and needs 2 s to find its satellites."""
    with paddock.load(world({"jammers": [jammer(power=30.0, on=[[1.0, 3.0]])]})) as sim:
        sim.step(50 * 2)
        saved = sim.save()
        sim.step(50 * 5)
        lost, back = [event for event in sim.events.since() if event.kind.startswith("gnss_")]
        assert (lost.kind, back.kind, lost.subject) == ("gnss_lost", "gnss_regained", "dot")
        assert lost.tick / 50 == pytest.approx(1.2, abs=0.21) and back.tick / 50 == pytest.approx(5.2, abs=0.21)
        after = sim.state_hash()
        sim.restore(saved)
        sim.step(50 * 5)
        assert sim.state_hash() == after


@pytest.mark.parametrize("emitter", ["jammers", "spoofers"])
def test_events_of_many_receivers_end_with_a_count(emitter: str) -> None:
    section = jammer(power=30.0) if emitter == "jammers" else spoofer(offset=[5.0, 0.0, 0.0], capture=0, on=[[0, 0.5]])
    fleet = {"count": 130, "pose": None, "spawn": {"grid": {"spacing": 0.5, "z": 50}}}
    scenario = world({emitter: [section]}, **fleet)
    del scenario["vehicles"][0]["pose"]
    with paddock.load(scenario) as sim:
        sim.step(100)
        events = sim.events.since()
        for kind in ["gnss_lost"] if emitter == "jammers" else ["gnss_spoofed", "gnss_released"]:
            mine = [event for event in events if event.kind == kind]
            assert len(mine) == 101 and mine[-1].detail == "30 more vehicles of dot" and mine[-1].subject == ""


def blinded(model: dict[str, Any], **mission: Any) -> Any:
    """Load a mission to a place 900 m to the east, and a jammer that takes away the fix from 10 to 20 s."""
    red = {**jammer(power=60.0, on=[[10.0, 20.0]]), "position": [200.0, 0.0, 20.0]}
    scenario = world({"jammers": [red]}, name="scout", **model)
    scenario["mission"] = {"altitude": 50, "separation": None, "tasks": [{"name": "there", "point": {"at": [900, 0]}}]}
    scenario["mission"] |= mission
    if "via" in mission:
        scenario["radio"]["stations"] = [{"name": "base", "position": [0.0, 0.0, 5.0]}]
        scenario["vehicles"][0]["radio"] = "default"
    return paddock.load(scenario)


def track(sim: Any, seconds: float) -> tuple[float, float]:
    sim.step(round(seconds * 50))
    x, y, _ = sim.snapshot()["scout"].position
    return float(x), float(y)


def test_a_hovering_vehicle_of_a_mission_stops_without_a_fix_and_goes_on_with_it() -> None:
    """At 10 m/s (after 2 s at 5 m/s2) it is at 90 m when the jammer begins; 2 s later it stops; it goes on at 22 s."""
    there = [{"name": "there", "point": {"at": [300, 0]}}]
    with blinded({"model": "point"}, speed=10, turn_radius=0, tasks=there) as sim:
        before, _ = track(sim, 11.5)
        assert before == pytest.approx(105.0, abs=0.5)  # still on its way, by its inertial sensors
        stopped, _ = track(sim, 5.5)
        assert stopped == pytest.approx(110.0 + 10.0, abs=5.0)  # and up to 0.4 s until it notices
        assert track(sim, 4.5) == pytest.approx((stopped, 0.0), abs=1e-3)
        assert sim.mission.tasks[0].state != "completed"
        assert track(sim, 10.0)[0] > stopped + 60.0
        assert kinds(sim) == [("gnss_lost", "scout"), ("gnss_regained", "scout")]
        sim.step(50 * 15)
        assert sim.mission.tasks[0].state == "completed"


def test_an_aircraft_of_a_mission_goes_on_by_dead_reckoning() -> None:
    """Moved 40 m aside while it has no fix, it does not notice; with the fix it returns to its path."""
    plane = {"model": "fixed_wing", "preset": "survey", "pose": [0.0, 0.0, 50.0, 0.0], "speed": 17.5}
    with blinded(plane) as sim, blinded(plane) as other:
        assert track(sim, 13.0) == track(other, 13.0)
        program = sim.engine.programs["scout"]
        program.fleet.state[program.model.state._fields.index("y"), 0] += 40.0
        program.forget_poses()
        start = sim.snapshot()["scout"].position
        (x, y), there = track(sim, 8.0), track(other, 8.0)
        assert (x, y - 40.0) == pytest.approx(there, abs=1e-6)
        assert np.hypot(x - start[0], y - start[1]) == pytest.approx(8.0 * 17.5, rel=0.1)
        assert track(sim, 15.0) == pytest.approx(track(other, 15.0), abs=5.0)


PLANE = {"model": "fixed_wing", "preset": "survey", "pose": [0.0, 0.0, 50.0, 0.0], "speed": 17.5}


def test_an_aircraft_without_a_fix_plans_by_the_position_that_it_believes_in() -> None:
    """Moved 40 m aside, it believes to be where it would be otherwise: new routes begin there without a fix."""
    with blinded(PLANE) as sim, blinded(PLANE) as other:
        assert track(sim, 13.0) == track(other, 13.0)
        program = sim.engine.programs["scout"]
        program.fleet.state[program.model.state._fields.index("y"), 0] += 40.0
        program.forget_poses()
        sim.step(150)
        sim.mission.move_task("there", 900.0, 300.0)
        (x, y), there = track(sim, 0.02), track(other, 3.02)
        start = sim.engine.mission.mission.vehicles[0].route.legs[0].start
        assert (x, y - 40.0) == pytest.approx(there, abs=0.1) and start[:2] == pytest.approx(there, abs=2.0)
        blob, _ = sim.save(), track(sim, 2.0)
        after = sim.state_hash()
        sim.restore(blob)
        track(sim, 2.0)
        assert sim.state_hash() == after
        track(sim, 25.0 - sim.time)  # the fix is back
        sim.mission.move_task("there", 900.0, 100.0)
        x, y = track(sim, 0.02)
        assert sim.engine.mission.mission.vehicles[0].route.legs[0].start[:2] == pytest.approx((x, y), abs=1.0)


def test_a_hovering_vehicle_without_a_fix_reports_where_it_lost_it() -> None:
    """At 10 m/s it knows its position until 12 s, at 110 m; blown 30 m aside, it does not notice."""
    with blinded({"model": "point"}, speed=10, turn_radius=0, via={"radio": "base"}) as sim:
        track(sim, 15.0)
        program = sim.engine.programs["scout"]
        program.fleet.state[program.model.state._fields.index("y"), 0] += 30.0
        program.forget_poses()
        x, y = track(sim, 3.0)
        reported = sim.engine.mission.mission.contact.poses[0]
        assert y == pytest.approx(30.0, abs=0.01) and x > 112.0
        assert reported[:2] == pytest.approx((110.0, 0.0), abs=5.0)  # up to 0.4 s until it notices
        track(sim, 5.0)  # the fix is back at 22 s
        x, y = track(sim, 0.5)
        assert sim.engine.mission.mission.contact.poses[0, 0] == pytest.approx(x, abs=11.0)  # a report per second


def test_a_spoofed_aircraft_that_holds_circles_where_it_believes_to_be() -> None:
    """It is wrong by 200 m, and does not notice: it circles where it lost contact, not 200 m away."""
    liar = spoofer(offset=[0.0, 200.0, 0.0], capture=0, target="scout", power=-20.0)
    rules = {"radio": "base", "reports": 4.0, "lost_after": 1.0, "timeout": 3.0, "heartbeat": 0.5, "lost_link": "hold"}
    scenario = world({"spoofers": [liar], "range": 300}, name="scout", **PLANE)
    scenario["vehicles"][0]["radio"] = "default"
    scenario["radio"]["stations"] = [{"name": "base", "position": [0.0, 0.0, 5.0]}]
    task = {"name": "there", "point": {"at": [900, 0]}}
    scenario["mission"] = {"altitude": 50, "separation": None, "tasks": [task], "via": rules}
    scenario["clock"]["rate"] = 20
    with paddock.load(scenario) as sim:
        sim.step(20 * 25)  # out of reach after 17 s
        assert [event.kind for event in sim.events.since() if event.kind == "lost_link"]
        held, ways = sim.snapshot()["scout"].position[:2], []
        for _ in range(40):
            sim.step(20)
            ways.append(sim.snapshot()["scout"].position[:2])
    low, high = np.min(ways, axis=0), np.max(ways, axis=0)
    middle, radius = 0.5 * (low + high), 0.25 * (high - low).sum()
    assert radius < 120.0 and np.linalg.norm(middle - held) == pytest.approx(radius, rel=0.15)  # of its turns


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
        tree["fleets"]["dot"]["tables"]["gnss"][8] = 3.0  # a captor that does not exist
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


def test_the_farthest_false_position_can_be_saved() -> None:
    """1e4 m/s for more than 1e5 s would pass the largest place, 1e9 m."""
    scenario = world({"rate": 0.01, "spoofers": [spoofer(pull={"velocity": [1e4, 0.0, -1e4]}, capture=0)]})
    scenario["clock"] = {"rate": 0.01}
    scenario["vehicles"][0]["sensors"] = [{"gnss": {"rate": 0.01}}]
    with paddock.load(scenario) as sim:
        sim.step(1100)
        assert sim.radio.spoofers()[0].captured == 1
        saved, before = sim.save(), sim.state_hash()
        sim.restore(saved)
        assert sim.state_hash() == before
        assert abs(reading(sim)["x"]) == pytest.approx(1e9, rel=1e-3)


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
        (
            "{name: a, position: [0, 0, 0], offset: [9, 0, 0], pull: {velocity: [1, 0, 0]}}",
            "a spoofer has either pull or offset, not both",
        ),
        ("{name: a, position: [0, 0, 0]}", "3:5: a spoofer needs pull: {velocity: [x, y, z]} or offset"),
        ("{name: a, offset: [1, 0, 0]}", "3:5: spoofer 'a' needs a position or a vehicle"),
        ("{name: a, vehicle: d, offset: [1, 0, 0]}", "3:24: unknown vehicle 'd'; valid: dot"),
        ("{name: a, vehicle: dot, target: sot, offset: [1, 0, 0]}", "3:37: unknown vehicle 'sot'; did you mean 'dot'"),
        ("{name: dot, vehicle: dot, offset: [1, 0, 0]}", "3:12: the name 'dot' is already used"),
        ("{name: a, vehicle: dot, offset: [1, 0, 0], on: [[3, 2]]}", "3:53: times ascend from 0 s"),
        ("{name: a, vehicle: dot, offset: [1, 0, 0], powr: 3}", "'powr'"),
        (
            "{name: a, vehicle: dot, offset: [1.0e+300, 0, 0]}",
            "3:38: components are from -1e+07 to 1e+07 m, not 1e+300",
        ),
        ("{name: a, vehicle: dot, pull: {velocity: [0, 2.0e+4, 0]}}", "components are from -10000 to 10000 m/s"),
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
