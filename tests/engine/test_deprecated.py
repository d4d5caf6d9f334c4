"""Earlier spellings of the verbs of a simulation work and name the new one."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

from paddock import Marker, PaddockError
from paddock.engine import barrier
from paddock.engine.actions import PlaceAction
from paddock.engine.simulation import Simulation

Load = Callable[..., Simulation]
POINT: dict[str, Any] = {"name": "dot", "model": "point"}
CREW = {
    "name": "uav",
    "count": 2,
    "model": "fixed_wing",
    "spawn": {"line": {"start": [0, 0, 100], "end": [0, 60, 100]}},
}
GATE = {"name": "gate", "point": {"at": [600, 200]}}


def spot(id: int) -> Marker:
    return Marker.circle("spots", id, (0.0, 0.0), radius=1.0)


def test_overrides_have_their_earlier_spelling(load: Load) -> None:
    sim = load(POINT)
    with pytest.warns(DeprecationWarning, match=r"sim\.order is deprecated: use sim\.behaviours\.override$"):
        sim.order("dot", {"goto": {"x": 5.0, "y": 0.0}})
    with pytest.warns(DeprecationWarning, match=r"use sim\.behaviours\.overrides$"):
        assert [override.behaviour for override in sim.orders()] == ["goto"]


def test_every_earlier_spelling_leads_to_the_present_one(load: Load) -> None:
    sim = load(CREW, rate=20, mission={"tasks": [GATE]})
    for old, new in Simulation._RENAMED.items():
        with pytest.warns(DeprecationWarning, match=f"sim.{old} is deprecated: use sim.{new}$"):
            assert getattr(sim, old) == attrgetter(new)(sim) or new.startswith("mission.")


def test_the_clock_has_its_earlier_spelling(load: Load) -> None:
    sim = load(POINT)
    with pytest.warns(DeprecationWarning, match=r"sim\.pace is deprecated: use sim\.clock\.pace$"):
        sim.pace = 2.0
    assert sim.clock.pace == 2.0 and "pace" not in vars(sim)
    with pytest.warns(DeprecationWarning, match=r"use sim\.clock\.pause$"):
        sim.pause()
    with pytest.warns(DeprecationWarning, match=r"use sim\.clock\.paused$"):
        assert sim.paused
    with sim.running():
        with pytest.warns(DeprecationWarning, match=r"use sim\.clock\.resume$"):
            sim.resume()
        with pytest.warns(DeprecationWarning, match=r"use sim\.clock\.stop$"):
            sim.stop()


def test_behaviours_have_their_earlier_spelling(load: Load) -> None:
    sim = load(POINT)
    sim.behaviours.override("dot", {"goto": {"x": 5.0, "y": 0.0}})
    with pytest.warns(DeprecationWarning, match=r"use sim\.behaviours\.routes$"):
        assert [route.behaviour for route in sim.routes()] == ["goto"]


def test_types_of_synchronous_control_have_their_earlier_spelling() -> None:
    with pytest.warns(DeprecationWarning, match=r"barrier\.ControlSource is now Claim$"):
        assert barrier.ControlSource is barrier.Claim
    with pytest.warns(DeprecationWarning, match=r"barrier\.ControlRequest is now CommandRequest$"):
        assert barrier.ControlRequest is barrier.CommandRequest


def test_actions_can_be_posted_by_the_earlier_spelling(load: Load) -> None:
    sim = load(POINT)
    with pytest.warns(DeprecationWarning, match=r"use sim\.engine\.post$"):
        sim.post(PlaceAction("dot", (7.0, 0.0, 0.0, 0.0), 0.0))
    sim.step()
    assert sim.snapshot()["dot"].position[0] == 7.0


def test_markers_have_their_earlier_spelling(load: Load) -> None:
    sim = load(POINT)
    with pytest.warns(DeprecationWarning, match=r"use sim\.markers\.put$"):
        sim.mark(spot(1), spot(2))
    with pytest.warns(DeprecationWarning, match=r"use sim\.markers\.show$"):
        sim.show_markers("spots", False)
    assert sim.markers.alive() == [] and len(sim.markers.alive(hidden=True)) == 2
    with pytest.warns(DeprecationWarning, match=r"use sim\.markers\.remove$"):
        sim.unmark("spots", 1)
    assert [placed.marker.id for placed in sim.markers.alive(hidden=True)] == [2]


def test_frames_have_their_earlier_spelling(load: Load) -> None:
    sim = load(POINT)
    with pytest.warns(DeprecationWarning, match=r"use sim\.frames\.set$"):
        sim.set_frame("mast", "dot", (0.0, 0.0, 2.0))
    with pytest.warns(DeprecationWarning, match=r"use sim\.frames\.transform$"):
        assert sim.transform("dot", "mast").position.tolist() == [0.0, 0.0, 2.0]


def test_mission_verbs_have_their_earlier_spelling(load: Load) -> None:
    sim = load(CREW, rate=20, mission={"tasks": [GATE]})
    assert sim.mission is not None
    calls: list[tuple[str, Callable[[], None]]] = [
        ("add_task", lambda: sim.add_task("mill", point={"at": [-500, 0]})),
        ("move_task", lambda: sim.move_task("gate", 650.0, 150.0)),
        ("remove_task", lambda: sim.remove_task("mill")),
        ("add_zone", lambda: sim.add_zone("shut", circle={"at": [300, 900], "radius": 80})),
        ("add_vehicle", lambda: sim.add_vehicle("late", model="fixed_wing", pose=[0, 200, 100, 0], speed=17.5)),
        ("damage", lambda: sim.damage("uav[0]")),
        ("apply", lambda: sim.direct("remove_task", task="gate")),
    ]
    for verb, call in calls:
        with pytest.warns(DeprecationWarning, match=rf"use sim\.mission\.{verb}$"):
            call()
        sim.step(2)  # the mission reacts at its next update
    assert [zone.name for zone in sim.mission.zones] == ["shut"]
    assert {task.name: task.state for task in sim.mission.tasks} == {"gate": "undone", "mill": "undone"}
    assert "late" in [vehicle.name for vehicle in sim.mission.vehicles]


def test_mission_verbs_need_a_mission(load: Load) -> None:
    sim = load(POINT)
    assert sim.mission is None
    with pytest.warns(DeprecationWarning, match="add_task"), pytest.raises(PaddockError, match="there is no mission"):
        sim.add_task("mill", point={"at": [-500, 0]})
