"""The demo `contested`: drones lose and regain contact under jammers and a spoofer, and complete the mission."""

from math import log10, sqrt
from typing import Any

import pytest

import paddock
from paddock.radio.physics.satellites import OFFSET
from paddock.scenario.loading import bundled_path
from paddock.scenario.marked_yaml import load_yaml, plain


def contested(count: int, light: bool, opposed: bool = True) -> dict[str, Any]:
    """Return the demo with fewer drones: places are scaled so that the density stays, powers with the distances.

    `light` drones are point masses, at fewer ticks.
    """
    path = bundled_path("contested")
    tree: dict[str, Any] = plain(load_yaml(path.read_text(), str(path))[0])
    radio, mission, (drones, *trucks) = tree["radio"], tree["mission"], tree["vehicles"]
    scale = sqrt(count / drones["count"])
    drones["count"], mission["generate"]["tasks"] = count, 6 * count
    mission["generate"]["area"] = [scale * side for side in mission["generate"]["area"]]
    radio["types"]["mesh"]["power"] += 26.0 * log10(scale)
    for truck in trucks:
        truck["pose"][1] *= scale
        oval = {"straight": 300 * scale, "radius": 700 * scale}
        truck["driver"] = {"pure_pursuit": {"path": {"oval": oval}, "speed": 14}}
    for jammer in radio["jammers"]:
        jammer["power"] += 40.0 * log10(scale)  # more than with the distances: fewer drones have fewer paths
    for spoofer in radio["spoofers"]:  # with their power: fewer drones pass them
        spoofer["position"] = [scale * spoofer["position"][0], scale * spoofer["position"][1], spoofer["position"][2]]
    if light:
        tree["clock"], tree["every"], radio["rate"] = {"rate": 10}, {"behaviour": 1}, 2
        drones["model"], drones["parameters"] = "point", {"speed_max": 14}
        del drones["preset"]
    if not opposed:
        radio["jammers"], radio["spoofers"], radio["links"] = [], [], []
    return tree


def flown(tree: dict[str, Any], until: float) -> tuple[float, set[str], paddock.Simulation]:
    """Fly the mission; return how long it took (s), the drones that lost contact, and the run."""
    sim = paddock.load(tree)
    while not sim.mission.finished and sim.time < until:
        sim.step(200)
    lost = {str(entry.vehicle) for entry in sim.mission.log if entry.kind == "contact_lost"}
    return sim.mission.metrics["makespan"], lost, sim


def check_contested(count: int, light: bool, share: float, until: float = 900.0, compared: bool = True) -> None:
    """Check the mission; if `compared`, also against one without opponents, which is shorter and keeps contact."""
    makespan, lost, sim = flown(contested(count, light), until)
    with sim:
        log, metrics = sim.mission.log, sim.mission.metrics
        kinds = [entry.kind for entry in log]
        assert metrics["completed"] == metrics["tasks"] == 6 * count
        assert len(lost) >= share * count
        assert kinds.count("contact_lost") == kinds.count("contact_regained")  # all are back
        assert metrics["in_contact"] == count
        assert metrics["replans"] >= 1 and kinds.count("lost_link") >= 1
        # only a vehicle that has acted on its own, or whose task another did, gets another route
        assert {entry.detail.partition(" ")[0] for entry in log if entry.kind == "replanned"} <= {"contact", "reports"}
        events = [event.kind for event in sim.events.since(0)]
        assert events.count("gnss_spoofed") == events.count("gnss_released") >= 1
        assert sim.radio.traffic()["beacons_heard"] > 1000
        packets = metrics["packets"]
        assert packets["taken"] >= count  # the first routes, and those of new plans
        assert packets["heard"] < 0.95 * packets["reports"]  # the others were lost
        assert packets["repeated"] >= 1
        sim.radio.send("base", f"drone[{count - 1}]", {"mission": "over"})  # by now the network works
        sim.step(200)
        assert sim.radio.traffic()["delivered"] == 1
    if not compared:
        return
    alone, never, sim = flown(contested(count, light, opposed=False), until)
    sim.close()
    assert len(never) <= 0.1 * count  # in good links, collisions lose several reports in a row at times
    assert makespan > 1.1 * alone


@pytest.mark.parametrize(("count", "compared"), [(10, False), pytest.param(20, True, marks=pytest.mark.slow)])
def test_a_few_drones_complete_the_mission(count: int, compared: bool) -> None:
    check_contested(count, True, 0.5, compared=compared)


@pytest.mark.slow
def test_a_hundred_drones_complete_the_mission() -> None:
    check_contested(100, False, 0.5)


def spoofed(**spoofer: Any) -> dict[str, Any]:
    """Return a drone that flies 400 m to the east, and a spoofer at its start."""
    return {
        "clock": {"rate": 50},
        "every": {"behaviour": 5},
        "radio": {
            "spoofers": [{"name": "mirage", "position": [0, 0, 0], "power": 10, **spoofer}],
        },
        "vehicles": [{"name": "scout", "model": "point", "pose": [0, 0, 20, 0], "sensors": ["gnss"]}],
        "mission": {
            "altitude": 20,
            "speed": 10,
            "turn_radius": 0,
            "separation": None,
            "tasks": [{"name": "place", "point": {"at": [400, 0]}}],
        },
    }


def test_a_drone_returns_to_its_path_after_a_jump_of_its_position() -> None:
    """The false position is 50 m beside the path for some seconds; then the drone has to find back and go on."""
    with paddock.load(spoofed(offset=[0, 50, 0], on=[[0, 25]])) as sim:
        sim.step(25 * 50)
        assert sim.snapshot().fleet("scout")["y"][0] == pytest.approx(-50.0, abs=1.0)
        sim.step(45 * 50)
        assert sim.mission.tasks[0].state == "completed"
        time = next(entry.time for entry in sim.mission.log if entry.kind == "completed")
        assert time < 70.0
        fleet = sim.snapshot().fleet("scout")
        assert abs(fleet["y"][0]) < 1.0 and fleet["x"][0] < 400.0  # on its way back, on the path


def test_a_spoofed_drone_misses_its_place_by_the_pull() -> None:
    """A receiver that is pulled at 1 m/s to the north believes to be on its route; the drone flies south of it."""
    with paddock.load(spoofed(pull={"velocity": [0, 1, 0]})) as sim:
        while sim.mission.tasks[0].state != "completed":
            sim.step(5)
        fleet = sim.snapshot().fleet("scout")
        assert fleet["x"][0] == pytest.approx(400.0, abs=2.0)
        # 400 m at 10 m/s, less the 2 s until the capture, with a little time for acceleration and braking;
        # the correction of 1.2 m/s per metre lags behind the pull by 1 m
        assert -48.0 < fleet["y"][0] < -38.0
        offset = float(sim.engine.programs["scout"].fleet.tables["gnss"][OFFSET + 1, 0])
        assert fleet["y"][0] == pytest.approx(-offset, abs=1.5)
