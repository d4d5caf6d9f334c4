"""Exported plans: the built-in autopilot flies them from the ground at the planned heights."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.planning.exchange import to_local
from paddock.planning.from_scenario import plan
from paddock.record.mission_report.files import ground_station_texts
from paddock.scenario import load_scenario
from paddock.world.geodesy import Origin

ORIGIN = [47.05, 8.31, 430.0]
MISSION = {
    "base": [0, 0, 60, 0],
    "altitude": 40,
    "speed": 6,
    "tasks": [{"name": "far", "point": {"at": [90, 40]}}, {"name": "low", "point": {"at": [20, 90]}, "altitude": 25}],
}


@pytest.mark.parametrize("base", [60.0, pytest.param(0.0, marks=pytest.mark.slow)])
def test_heights_of_an_exported_plan(base: float, own_links: Callable[[int], dict[str, Any]], tmp_path: Path) -> None:
    """The base may be above the ground: the autopilot arms on the ground all the same."""
    mission = MISSION | {"base": [0, 0, base, 0]}
    start = {"name": "q", "model": "quad", "preset": "iris", "pose": [0, 0, base, 0]}
    planned = load_scenario({"world": {"origin": ORIGIN}, "mission": mission, "vehicles": [start]})
    way = plan(planned)
    (text,) = ground_station_texts(planned, way, Origin(*ORIGIN)).values()
    file = tmp_path / "q.plan"
    file.write_text(text)
    flight = {
        "clock": {"rate": 250},
        "world": {"origin": ORIGIN},
        "vehicles": [start | {"pose": [0, 0, 0]}],
        "sitl": {"mavlink": own_links(1), "pilots": [{"vehicles": "q", "mission": str(file)}]},
    }
    points = way.routes[0].path.points(0.25)
    last = [item["params"][4:6] for item in json.loads(text)["mission"]["items"] if item["command"] == 16][-1:]
    (end,), flown = to_local(last, Origin(*ORIGIN)), [np.zeros(3)]
    with paddock.load(flight) as sim:
        while sim.time < 150.0 and not (sim.time > 60.0 and np.linalg.norm(flown[-1][:2] - end) < 2.5):
            sim.step(50)
            flown.append(sim.snapshot()["q"].position)
    track = np.array(flown)
    track = track[np.hypot(track[:, 0], track[:, 1]) > 8.0]  # between take-off and return
    errors = []  # against the heights of the route at its nearest points, of all its passes there
    for x, y, z in track.tolist():
        across = np.hypot(points[:, 0] - x, points[:, 1] - y)
        near = across < across.min() + 0.5
        errors.append(np.abs(points[near, 2] - z).min())
    assert len(track) > 200 and max(errors) < 1.0
