"""Requests of pages: metadata, one vehicle in full, models; of a live run and of a recording."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from math import pi
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.record import Player, Recorder
from paddock.serve.host import Host
from paddock.serve.live import serve_options, to_stderr
from paddock.serve.replay import ReplaySource

RED = {"name": "red", "id": 3, "model": "car.bicycle", "preset": "sports", "speed": 10.0, "sensors": ["imu"]}
SCOUTS = {"name": "scouts", "count": 3, "model": "quad", "behaviour": "hold", "spawn": {"grid": {"spacing": 3, "z": 9}}}
SCENARIO = {"name": "two", "clock": {"rate": 500}, "seed": 5, "vehicles": [RED, SCOUTS]}


@pytest.fixture(scope="module")
def served(serve: Callable[..., Any]) -> Any:
    return serve(SCENARIO, lock=False)


def by_name(trees: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    assert len({tree["name"] for tree in trees}) == len(trees)
    return {tree["name"]: tree for tree in trees}


def test_metadata_of_a_live_run(served: Any) -> None:
    metadata = served.connect().call("metadata")
    assert (metadata["name"], metadata["seed"], metadata["rate"], metadata["run"]) == ("two", 5, 500.0, 0)
    assert metadata["owner"] is metadata["recording"] is None
    assert metadata["locked"] is metadata["can_load"] is False
    assert "serve" not in metadata["scenario"]
    fleets = by_name(metadata["fleets"])
    assert fleets["scouts"]["driven_by"] == "hold" and fleets["scouts"]["count"] == 3
    assert fleets["red"]["driven_by"] is None and fleets["red"]["sensors"] == ["imu"]
    steer = by_name(fleets["red"]["inputs"])["steer"]
    assert (steer["unit"], steer["low"], steer["high"]) == ("rad", -1.5, 1.5)


def test_every_column_of_a_snapshot_has_a_meaning(served: Any) -> None:
    snapshot = served.sim.snapshot()
    for fleet in served.connect().call("metadata")["fleets"]:
        columns = by_name(fleet["columns"])
        derived = {"speed", "heading", "yaw", "yaw_rate", "roll", "pitch"}
        assert {*snapshot.fleet(fleet["name"]).columns, *derived} == set(columns)
        assert all(column["meaning"] for column in columns.values())
        assert columns["x"]["unit"] == "m" and columns["speed"]["unit"] == "m/s" and columns["roll"]["unit"] == "rad"


def test_what_is_inspected_can_be_plotted_and_the_other_way_round(serve: Callable[..., Any]) -> None:
    turned = {**RED, "speed": 0.0, "pose": [5.0, -2.0, 10.0]}  # more than one turn: 10 - 4 pi is the same heading
    page = serve({"vehicles": [turned]}, lock=False).connect()
    inspected = page.call("inspect", vehicle="red")
    state = by_name(inspected["columns"])
    names = {column["name"] for column in page.call("metadata")["fleets"][0]["columns"]}
    plotted = {name for name in names if "." not in name}
    assert {"yaw", "yaw_rate", "slip_front", "slip_rear", "ay", "load_fl", "force_y_rear"} <= plotted
    assert plotted == set(state)
    assert state["yaw"]["value"] == pytest.approx(10.0 - 4.0 * pi) and state["yaw_rate"]["value"] == 0.0
    assert state["vx"]["meaning"] == "velocity east"  # as plotted, not the model's velocity forward
    load = sum(state[f"load_{wheel}"]["value"] for wheel in ("fl", "fr", "rl", "rr"))
    mass = by_name(inspected["parameters"])["mass"]["value"]
    assert load == pytest.approx(9.80665 * mass)


def test_one_vehicle_in_full(served: Any) -> None:
    page = served.connect()
    answer = page.call("inspect", vehicle="red")
    assert (answer["id"], answer["fleet"], answer["preset"], answer["driven_by"]) == (3, "red", "sports", None)
    inspected = served.sim.vehicles.inspect("red")
    for group in ("state", "command", "parameters"):
        assert {tree["name"]: tree["value"] for tree in answer[group]} == inspected[group]
    imu = {tree["name"]: tree["value"] for tree in answer["sensors"]["imu"]}
    assert imu.keys() == served.sim.vehicles.sensors("red")["imu"].keys()
    assert by_name(answer["state"])["x"]["unit"] == "m"
    assert page.call("inspect", vehicle=answer["id"]) == page.call("inspect", vehicle_id=answer["id"]) == answer
    assert page.call("inspect", vehicle="scouts[2]")["driven_by"] == "hold"
    assert page.refused("inspect", vehicle="scouts")[1].startswith("'scouts' is a fleet of 3")
    assert "did you mean 'red'" in page.refused("inspect", vehicle="rde")[1]


def test_models_with_their_presets(served: Any) -> None:
    models = {tree["model"]: tree for tree in served.connect().call("list_models")["models"]}
    assert {"car.bicycle", "quad", "point"} <= models.keys()
    assert "sports" in models["car.bicycle"]["presets"] and models["quad"]["kind"] == "quad"
    assert "steer" in by_name(models["car.bicycle"]["inputs"])


def test_the_clock_is_released(served: Any) -> None:
    page, other = served.connect(), served.connect()
    page.call("simulation_step", ticks=3)
    assert "the clock belongs to web client" in other.refused("simulation_step")[1]
    assert other.call("metadata")["owner"].startswith("web client")
    page.call("release_clock")
    assert other.call("metadata")["owner"] is None
    other.call("simulation_step")
    other.call("release_clock")


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Player, Host]]:
    file: Path = tmp_path_factory.mktemp("web") / "two.mcap"
    with paddock.load(SCENARIO) as sim, Recorder(sim, file, rate=50):
        sim.step(500)
    with Player(file) as player:
        player.pause()
        with Host(ReplaySource(player), serve_options({"web": {"port": 0}}), to_stderr) as host:
            thread = threading.Thread(target=lambda: player.run(stay=True))
            thread.start()
            yield player, host
            player.stop()
            thread.join()


@pytest.fixture
def page(replayed: tuple[Player, Host], open_page: Callable[[int], Any]) -> Any:
    """A page of the recording."""
    return open_page(replayed[1].addresses["web"]["port"])


def test_metadata_of_a_recording(page: Any) -> None:
    metadata = page.call("metadata")
    assert (metadata["name"], metadata["can_load"]) == ("two", False)
    recording = metadata["recording"]
    assert recording["path"] == "two.mcap" and recording["start"] == 0.0
    assert recording["duration"] == pytest.approx(1.0)
    red = by_name(metadata["fleets"])["red"]
    assert red["inputs"] == [] and red["driven_by"] == "recording"
    assert by_name(red["columns"])["vx"]["unit"] == "m/s" and by_name(red["columns"])["imu.ax"]["unit"] == "m/s2"


def test_a_recorded_vehicle_and_its_figures(page: Any, replayed: tuple[Player, Host]) -> None:
    assert page.call("seek", position=0.5)["position"] == pytest.approx(0.5)
    answer = page.call("inspect", vehicle="red")
    snapshot = replayed[0].snapshot()
    state = {tree["name"]: tree["value"] for tree in answer["state"]}
    assert answer["tick"] == snapshot.tick and state["x"] == snapshot["red"]["x"] > 4.0
    assert "steer" in by_name(answer["command"]) and "ax" in by_name(answer["sensors"]["imu"])
    assert answer["parameters"] == [] and "imu.ax" not in state
    page.call("subscribe", kinds=["poses", "figures"])
    while (figures := page.notification("figures"))["tick"] != snapshot.tick:
        pass  # of before the jump
    assert (
        (figures["paused"], figures["running"]) == (True, False)
        and figures["stages"] == {}
        and figures["vehicles"] == 4
    )
    page.call("release_clock")
