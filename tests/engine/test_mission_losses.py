"""Missions over radio: routes of which parts are lost, and damaged vehicles, of which the station learns by silence."""

from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.engine.mission.link import MissionLink
from paddock.record import verify, write_run

TICKS = 20  # per s


def scenario(tasks: dict[str, float], **via: Any) -> dict[str, Any]:
    """Return a drone at the station and another in the north, with places on the x axis."""
    return {
        "clock": {"rate": TICKS},
        "every": {"behaviour": 2},
        "radio": {"rate": 10, "range": 5000, "stations": [{"name": "base", "position": [0, 0, 5]}]},
        "vehicles": [
            {"name": name, "model": "point", "pose": [0, y, 20, 0], "radio": "default"}
            for name, y in (("east", 0.0), ("north", 290.0))
        ],
        "mission": {
            "via": {"reports": 4.0, "heartbeat": 0.5, "lost_after": 1.0, "timeout": 5.0, "replan_every": 1.0, **via},
            **{"altitude": 20, "speed": 10.0, "turn_radius": 0, "separation": None},
            "tasks": [{"name": name, "point": {"at": [x, 0]}} for name, x in tasks.items()],
        },
    }


def slow(jammed: bool = True) -> dict[str, Any]:
    """Return a drone that gets its route of 114 bytes in three parts, over 5 kbit/s; a jammer hits all but the first.

    A part takes 0.12 s with its header, and is not repeated by the channel.
    """
    tree = scenario({"place": 300.0}, mtu=40, reports=1.0, lost_after=5.0, timeout=20.0)
    plain = {"bandwidth": 1e4, "bit_rate": 5e3, "duty": 0}
    tree["radio"] |= {"types": {"plain": plain}, "messages": {"window": [1, 1], "retries": 0}}
    tree["radio"]["stations"][0]["radio"] = "plain"
    tree["vehicles"] = [{**tree["vehicles"][0], "radio": "plain", "pose": [100, 0, 20, 0]}]
    if jammed:
        jammer = {"name": "red", "kind": "barrage", "position": [100, 0, 5], "power": 50, "on": [[0.2, 0.6]]}
        tree["radio"]["jammers"] = [jammer]
    return tree


def reach(sim: paddock.Simulation, time: float) -> None:
    sim.step(round((time - sim.time) * TICKS))


def mission_of(sim: paddock.Simulation) -> Any:
    assert sim.engine.mission is not None
    return sim.engine.mission.mission


def link_of(sim: paddock.Simulation) -> MissionLink:
    assert sim.engine.mission is not None and sim.engine.mission.link is not None
    return sim.engine.mission.link


def times(sim: paddock.Simulation, kind: str, vehicle: str | None = None) -> list[float]:
    return [entry.time for entry in sim.mission.log if entry.kind == kind and entry.vehicle == vehicle]


def test_the_parts_that_a_jammer_has_hit_are_sent_again() -> None:
    with paddock.load(slow()) as sim:
        reach(sim, 1.0)
        onboard, inboxes = mission_of(sim).onboard, link_of(sim).inboxes
        assert onboard.number.tolist() == [0] and onboard.fleet.vehicles[0].ahead == []  # it stays
        assert inboxes.routes[0].arrived.tolist() == [True, False, False]
        reach(sim, 5.0)
        assert onboard.number.tolist() == [1] and onboard.fleet.vehicles[0].ahead == ["place"]
        assert not inboxes.routes
        packets = sim.mission.metrics["packets"]
        assert (packets["routes"], packets["taken"], packets["parts"], packets["repeated"]) == (1, 1, 5, 2)


def test_without_a_jammer_every_part_is_sent_once() -> None:
    with paddock.load(slow(jammed=False)) as sim:
        reach(sim, 3.0)
        packets = sim.mission.metrics["packets"]
        assert (packets["routes"], packets["taken"], packets["parts"], packets["repeated"]) == (1, 1, 3, 0)


def test_saved_with_part_of_a_route_and_flown_again(tmp_path: Path) -> None:
    with paddock.load(slow()) as first, paddock.load(slow()) as two:
        reach(first, 1.0)
        assert link_of(first).inboxes.routes
        two.restore(first.save())
        for sim in (first, two):
            reach(sim, 1.5)
            sim.mission.add_task("late", point={"at": [0, 100]})  # a second route, while parts of the first are missing
            reach(sim, 8.0)
            assert mission_of(sim).onboard.number.tolist() == [2]
        assert first.state_hash() == two.state_hash()
        assert first.mission.metrics == two.mission.metrics
        write_run(first, tmp_path / "run.mcap")
    assert verify(tmp_path / "run.mcap").same


def test_the_station_learns_of_damage_by_silence() -> None:
    """Damage at 8 s: contact is lost 1 s after the last report, the tasks go to the other drone after 5 s."""
    with paddock.load(scenario({"near": 150.0, "far": 200.0})) as sim:
        reach(sim, 8.0)
        assert {task.vehicle for task in sim.mission.tasks} == {"east"}
        sim.mission.damage("east")
        reach(sim, 8.5)
        [event] = [event for event in sim.events.since(0) if event.kind == "damaged"]
        assert event.subject == "east" and event.tick / TICKS == pytest.approx(8.0, abs=0.11)  # when it happens
        [east, north] = mission_of(sim).onboard.fleet.vehicles
        assert east.status == "damaged"
        view = {vehicle.name: vehicle for vehicle in sim.mission.vehicles}["east"]
        assert view.contact and view.status == "transit"  # as the station knows
        assert sorted(view.ahead) == ["far", "near"]
        x = float(sim.snapshot().fleet("east")["x"][0])
        reach(sim, 12.0)
        assert float(sim.snapshot().fleet("east")["x"][0]) == pytest.approx(x, abs=5.0)  # it brakes
        [lost] = times(sim, "contact_lost", "east")
        assert 8.7 < lost < 9.3  # reports came every 0.25 s, updates are 0.1 s apart
        assert times(sim, "given_back", "east") == [] and north.ahead == []
        reach(sim, 15.0)
        [entry] = times(sim, "given_back", "east")
        assert entry == pytest.approx(lost + 4.0, abs=0.11)
        assert north.ahead in (["near", "far"], ["far", "near"])
        # as the station assumes, it returns the 80 m that it had reported, and is missing 5 s after it should be home
        reach(sim, 30.0)
        assert {vehicle.name: vehicle.status for vehicle in sim.mission.vehicles}["east"] == "missing"
        [missing] = [event.tick / TICKS for event in sim.events.since(0) if event.kind == "missing"]
        assert missing == pytest.approx(entry + float(x) / 10.0 + 5.0, abs=1.0)
        assert not sim.mission.finished
        while not sim.mission.finished and sim.time < 150.0:
            sim.step(TICKS)
        # 352 m, 50 m, and 150 m to the base; some seconds for braking and speeding up
        assert 14.0 + 55.2 < sim.time < 14.0 + 55.2 + 10.0
        assert {task.state for task in sim.mission.tasks} == {"completed"}
        assert {task.vehicle for task in sim.mission.tasks} == {"north"}


def test_missions_without_radio_know_of_damage_at_once() -> None:
    tree = scenario({"near": 150.0, "far": 200.0})
    del tree["radio"], tree["mission"]["via"]
    tree["vehicles"] = [{key: entry[key] for key in entry if key != "radio"} for entry in tree["vehicles"]]
    with paddock.load(tree) as sim:
        reach(sim, 8.0)
        sim.mission.damage("east")
        sim.step(2)
        assert {vehicle.name: vehicle.status for vehicle in sim.mission.vehicles}["east"] == "damaged"
        assert {task.vehicle for task in sim.mission.tasks} == {"north"}
