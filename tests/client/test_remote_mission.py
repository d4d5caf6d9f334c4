"""The verbs of a mission over the wire: the same view, run and errors as in a local simulation."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.client.simulation import RemoteMission
from paddock.errors import PaddockError
from paddock.record import Player, Recorder
from paddock.serve.host import Host
from paddock.serve.live import serve_options
from paddock.serve.replay import ReplaySource

ROVERS = {"name": "bus", "count": 2, "model": "rover", "spawn": {"line": {"start": [0, -4, 0], "end": [0, 4, 0]}}}
SCENARIO: dict[str, Any] = {
    "seed": 3,
    "clock": {"rate": 20, "pace": 0},
    "every": {"behaviour": 2},
    "vehicles": [ROVERS],
    "mission": {
        "method": "greedy",
        "tasks": [
            {"name": "gate", "point": {"at": [30, 0]}},
            {"name": "fence", "line": {"at": [20, -20], "heading": 0.0, "length": 15}},
            {"name": "pond", "circle": {"at": [-25, 0], "heading": 1.5, "radius": 8}},
        ],
        "zones": [{"name": "house", "circle": {"at": [12, 12], "radius": 4}}],
    },
}


def story(sim: Any) -> list[Any]:
    """What a program does with a mission; the same with a local and a remote simulation."""
    views = [seen(sim.mission)]
    sim.step(100)
    sim.mission.add_task("mill", point={"at": np.array([-10.0, 20.0])})
    sim.mission.add_zone("pit", polygon=[[40, 40], [50, 40], [50, 50]])
    sim.mission.add_zone("gone", circle={"at": [90, 90], "radius": 5})
    sim.mission.remove_zone("gone")
    sim.mission.add_vehicle("late", model="rover", pose=[5, 5, 0.0])
    sim.mission.move_task("gate", np.float64(31.0), 2)
    sim.mission.remove_task("pond")
    sim.step(40)
    views.append(seen(sim.mission))
    sim.mission.damage("bus[1]")
    sim.step(400)
    views.append(seen(sim.mission))
    return [*views, sim.state_hash(), [(event.tick, event.kind, event.subject) for event in sim.events.since(0)]]


def seen(view: Any) -> list[Any]:
    """A view in values that can be compared."""
    outlines = [(item.name, item.outline.shape, item.outline.tolist()) for item in (*view.tasks, *view.zones)]
    tasks = [task._replace(outline=None) for task in view.tasks]
    return [view.time, tasks, outlines, view.vehicles, view.finished, view.metrics, view.log]


@pytest.mark.parametrize("drive", [False, True])
def test_a_remote_mission_equals_a_local_one(serve: Any, drive: bool) -> None:
    served = serve(SCENARIO, drive=drive)
    with paddock.load(SCENARIO) as local:
        expected = story(local)
    with paddock.connect(served.url, name="alice") as remote:
        remote_story = story(remote)
    assert remote_story == expected
    first, second, third = remote_story[:3]
    assert first[2][0] == ("gate", (1, 2), [[30.0, 0.0]])
    assert first[2][1] == ("fence", (2, 2), [[20.0, -20.0], [35.0, -20.0]])
    assert second[2][0] == ("gate", (1, 2), [[31.0, 2.0]])
    assert [member.name for member in second[3]] == ["bus[0]", "bus[1]", "late"]
    assert [member.status for member in third[3]][1] == "damaged"
    kinds = {"task_added", "zone_added", "zone_removed", "joined", "task_moved", "task_removed", "damaged"}
    assert kinds <= {e[1] for e in remote_story[-1]}
    actions = [posted for posted in served.sim.control.log.complete() if posted.source]
    assert {posted.source for posted in actions} == {"alice (zmq 1)"}
    assert [posted.action.verb for posted in actions] == [
        *("add_task", "add_zone", "add_zone", "remove_zone", "add_vehicle", "move_task", "remove_task", "damage")
    ]


MISTAKES = [
    lambda sim: sim.mission.add_task("x"),
    lambda sim: sim.mission.add_task("x", pont={"at": [1, 2]}),
    lambda sim: sim.mission.add_task("x", verb="damage"),
    lambda sim: sim.mission.add_task("x", point={"at": [1, float("nan")]}),
    lambda sim: sim.mission.add_task("x", point={"at": [1, 2], "heding": 1}),
    lambda sim: sim.mission.add_task("gate", point={"at": [1, 2]}),
    lambda sim: sim.mission.add_task("", point={"at": [1, 2]}),
    lambda sim: sim.mission.add_task(5, point={"at": [1, 2]}),
    lambda sim: sim.mission.add_task("x", point={"at": [1e9, 2]}),
    lambda sim: sim.mission.add_zone("x", circle={"at": [1, 2], "radius": -1}),
    lambda sim: sim.mission.add_zone("house", circle={"at": [1, 2], "radius": 1}),
    lambda sim: sim.mission.add_vehicle("x", model="rovr"),
    lambda sim: sim.mission.add_vehicle("x", modl="rover"),
    lambda sim: sim.mission.add_vehicle("bus", model="rover"),
    lambda sim: sim.mission.add_vehicle("x", model="rover", behaviour="hold"),
    lambda sim: sim.mission.add_vehicle("x", model="rover", parameters={"mas": 1.0}),
    lambda sim: sim.mission.damage("bus[7]"),
    lambda sim: sim.mission.damage(None),
    lambda sim: sim.mission.move_task("gat", 1, 2),
    lambda sim: sim.mission.move_task("gate", None, 2),
    lambda sim: sim.mission.move_task("gate", True, 2),
    lambda sim: sim.mission.move_task("gate", float("inf"), 2),
    lambda sim: sim.mission.move_task("gate", 1, 1e9),
    lambda sim: sim.mission.remove_task("gat"),
    lambda sim: sim.mission.remove_task(3),
]


def errors_of(sim: Any, mistakes: Any = MISTAKES) -> list[tuple[type, str]]:
    errors = []
    for mistake in mistakes:
        with pytest.raises(paddock.PaddockError) as caught:
            mistake(sim)
        errors.append((type(caught.value), str(caught.value)))
    return errors


def test_errors_are_one_line_and_those_of_a_local_simulation(serve: Any) -> None:
    served = serve(SCENARIO)
    with paddock.load(SCENARIO) as local, paddock.connect(served.url) as remote:
        before = remote.state_hash()
        expected = errors_of(local)
        assert errors_of(remote) == expected
        assert remote.state_hash() == before
    messages = [text for _, text in expected]
    assert not [text for text in messages if "\n" in text]
    assert messages[0] == "add_task: a task needs exactly one of point, line, circle, area, polygon; it has none"
    assert messages[1] == "unknown field 'pont' of a task; did you mean 'point'?"
    assert "did you mean 'heading'?" in messages[4]
    assert messages[11] == "add_vehicle.model: unknown model 'rovr'; did you mean 'rover'?"
    assert messages[16] == "unknown vehicle 'bus[7]'; did you mean 'bus[1]'?"
    assert messages[19] == "move_task.x: must be a number, not null"


def test_without_a_mission(serve: Any) -> None:
    served = serve({"vehicles": [ROVERS]})
    with paddock.connect(served.url) as sim:
        assert sim.mission is None
        no_mission = r"^damage: there is no mission; add a section `mission`"
        with pytest.raises(PaddockError, match=no_mission):
            RemoteMission(sim).damage("bus[0]")


def test_a_recording_has_no_mission(tmp_path: Path) -> None:
    file = tmp_path / "run.mcap"
    with paddock.load(SCENARIO) as sim, Recorder(sim, file):
        sim.step(10)
    with Player(file) as player:
        player.pause()
        with (
            Host(ReplaySource(player), serve_options({"zmq": {"port": 0}}), print) as host,
            paddock.connect(f"tcp://127.0.0.1:{host.addresses['zmq']['port']}") as remote,
        ):
            assert remote.mission is None
            refused = "remove_task refused: this is a recording"
            with pytest.raises(PaddockError, match=refused):
                RemoteMission(remote).remove_task("gate")


def test_a_vehicle_that_joins_cannot_have_modules_imported(serve: Any) -> None:
    served = serve(SCENARIO)
    with paddock.connect(served.url) as sim:
        for fields in ({"model": "this"}, {"model": "rover", "sensors": ["antigravity"]}):
            with pytest.raises(paddock.PaddockError, match=r"^add_vehicle\.\S+: unknown"):
                sim.mission.add_vehicle("x", **fields)
    assert "this" not in sys.modules and "antigravity" not in sys.modules


def test_the_same_verbs_as_coroutines(serve: Any) -> None:
    served = serve(SCENARIO)

    async def asked() -> Any:
        async with await paddock.connect_async(served.url) as sim:
            await asyncio.gather(
                sim.mission.add_task("mill", point={"at": [-10, 20]}),
                sim.mission.add_zone("pit", circle={"at": [45, 45], "radius": 5}),
                sim.mission.add_vehicle("late", model="rover", pose=[5, 5, 0.0]),
                sim.mission.move_task("gate", 31, 2),
                sim.mission.remove_task("pond"),
                sim.mission.damage("bus[1]"),
            )
            await sim.step(20)
            with pytest.raises(paddock.PaddockError, match="did you mean 'gate'"):
                await sim.mission.remove_task("gat")
            return await sim.mission.view()

    view = asyncio.run(asked())
    assert [zone.name for zone in view.zones] == ["house", "pit"]
    assert {member.name: member.status for member in view.vehicles}["bus[1]"] == "damaged"
    assert view.metrics["tasks"] == 4 and view.metrics["replans"] == 1
    assert {task.name: task.outline.tolist() for task in view.tasks}["gate"] == [[31.0, 2.0]]
