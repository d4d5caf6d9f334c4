"""Behaviour overrides, compared with vehicles whose entries have the same behaviour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paddock.engine.actions import CommandAction, OverrideAction
from paddock.engine.behaviours import entry_routes
from paddock.engine.events import EventState
from paddock.engine.simulation import Simulation, replayed
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.world.parts import fresh

Load = Callable[..., Simulation]
POSES = [[0, 0, 5, 0.3], [4, 1, 6, 1.0], [-3, 7, 4, -2.0], [9, -5, 8, 0.0]]
PATH = [[20, 0, 6], [20, 15, 9], [-5, 15, 6]]
GOTO = {"goto": {"x": 12, "y": -9, "z": 6, "speed": 4}}
BEHAVIOURS: list[dict[str, Any]] = [
    GOTO,
    {"waypoints": {"path": PATH}},
    {"patrol": {"path": PATH, "turn": "back"}},
    {"pure_pursuit": {"path": PATH, "closed": 0}},
    {"orbit": {"radius": 6, "z": 7}},
    {"follow": {"target": "lead"}},
    {"hold": {}},
]
LEAD = {"name": "lead", "model": "point", "pose": [30, 5, 6, 0], "commands": {"vx": 1.0, "vy": -0.5}}


SPREAD = {"point": {"acceleration_max": 0.1}, "quad": {"mass": 0.1}, "rover": {"speed_max": 0.1}}
"""Parameters that differ between the vehicles of a fleet; each set needs its own kernels."""


def crew(model: str = "quad", **fields: Any) -> dict[str, Any]:
    """Four vehicles at fixed poses."""
    return {"name": "crew", "count": 4, "model": model, "spawn": {"poses": POSES}, **fields}


def states(sim: Simulation, fleet: str = "crew") -> Any:
    return sim.engine.world.fleets[fleet].state[:, : sim.engine.world.fleets[fleet].n].copy()


# effects -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: next(iter(behaviour)))
@pytest.mark.parametrize(
    "model", ["point", *(pytest.param(model, marks=pytest.mark.slow) for model in ("quad", "rover"))]
)
def test_an_overridden_vehicle_moves_like_one_with_that_entry(
    load: Load, model: str, behaviour: dict[str, Any]
) -> None:
    spread = SPREAD[model] if behaviour is GOTO else {}
    free, declared = load(LEAD, crew(model, spread=spread)), load(LEAD, crew(model, spread=spread, behaviour=behaviour))
    free.behaviours.override(["crew[1]", "crew[3]"], behaviour)
    for sim in (free, declared):
        sim.step(600)
    assert np.array_equal(states(free)[:, [1, 3]], states(declared)[:, [1, 3]])
    unchanged = load(LEAD, crew(model, spread=spread))
    unchanged.step(600)
    assert np.array_equal(states(free)[:, [0, 2]], states(unchanged)[:, [0, 2]])


def test_a_flock_by_override_equals_a_flock_by_entry(load: Load) -> None:
    birds = {"name": "birds", "count": 40, "model": "point", "speed": 3}
    birds["spawn"] = {"random": {"low": [-9, -9, 10], "high": [9, 9, 20]}}
    ordered, declared = load(birds), load({**birds, "behaviour": "flock"})
    ordered.behaviours.override("birds", "flock")
    for sim in (ordered, declared):
        sim.step(400)
    assert np.array_equal(states(ordered, "birds"), states(declared, "birds"))


def test_neighbours_of_an_overriding_flock_are_the_whole_fleet(load: Load) -> None:
    fleet = {"name": "birds", "count": 2, "model": "point"}
    near, far = ([[[0, 0, 20, 0], [apart, 0, 20, 0]]] for apart in (2.0, 500.0))
    urges = []
    for poses in (near[0], far[0]):
        sim = load({**fleet, "spawn": {"poses": poses}})
        sim.behaviours.override("birds[0]", "flock")
        sim.step(60)
        urges.append(float(sim.snapshot()["birds[0]"].position[0]))
    assert urges[0] < urges[1]  # pushed away from the one without an override


def test_commanding_one_vehicle_does_not_affect_the_others(load: Load) -> None:
    race = crew("rover", behaviour={"pure_pursuit": {"path": {"circle": {"radius": 30}}}})
    undisturbed, sim = load(race), load(race)
    undisturbed.step(500)
    sim.step(100)
    sim.behaviours.override("crew[2]", "external")
    before = sim.vehicles.inspect("crew[2]")["command"]
    sim.step(7)
    assert sim.vehicles.inspect("crew[2]")["command"] == before  # passed on unchanged
    sim.command("crew[2]", speed=0.4, turn_rate=0.0)
    sim.step(393)
    assert np.array_equal(states(sim)[:, [0, 1, 3]], states(undisturbed)[:, [0, 1, 3]])
    assert sim.vehicles.inspect("crew[2]")["command"] == {"speed": 0.4, "turn_rate": 0.0}
    assert np.linalg.norm(sim.snapshot()["crew[2]"].velocity) == pytest.approx(0.4, abs=1e-3)
    sim.command("crew[2]", turn_rate=0.7)
    sim.behaviours.override("crew[2]", None)
    assert sim.vehicles.inspect("crew[2]")["command"] == {
        "speed": 0.0,
        "turn_rate": 0.0,
    }  # the driver's inputs are gone
    with pytest.raises(PaddockError, match=r"'crew\[2\]' is driven by its behaviour 'pure_pursuit', not by commands"):
        sim.command("crew[2]", speed=1.0)


def test_the_own_rule_restarts_when_an_override_ends(load: Load) -> None:
    sim = load(crew("point", behaviour="hold"))
    sim.step(10)
    sim.behaviours.override("crew[0]", {"goto": {"x": 50, "y": 0, "z": 5, "speed": 10}})
    sim.step(240 * 30)
    assert sim.snapshot()["crew[0]"].position == pytest.approx([50, 0, 5], abs=0.2)
    there = sim.snapshot()["crew[0]"].position
    sim.behaviours.override("crew[0]", None)
    sim.step(480)
    assert sim.snapshot()["crew[0]"].position == pytest.approx(there, abs=0.05)  # holds where it is now
    assert sim.snapshot()["crew[1]"].position == pytest.approx([4, 1, 6], abs=1e-9)


def test_a_vehicle_without_a_behaviour_returns_to_the_commands_of_its_entry(load: Load) -> None:
    sim = load(crew("rover", commands={"speed": 0.5}))
    sim.command("crew", turn_rate=0.3)
    sim.step()
    sim.behaviours.override("crew[1]", GOTO)
    sim.step(100)
    assert sim.vehicles.inspect("crew[1]")["command"]["speed"] > 0.6
    sim.behaviours.override("crew", None)
    assert sim.vehicles.inspect("crew[1]")["command"] == {"speed": 0.5, "turn_rate": 0.0}
    assert sim.vehicles.inspect("crew[0]")["command"] == {"speed": 0.5, "turn_rate": 0.3}  # has no override
    assert sim.behaviours.overrides() == [] and sim.engine.programs["crew"].fleet.overrides is None


def test_overrides_decide_at_the_period_of_behaviours(load: Load) -> None:
    sim = load(crew("point"), every={"behaviour": 8})
    sim.step(3)
    sim.behaviours.override(2, GOTO)
    seen = []
    for _ in range(8):
        sim.step()
        seen.append(bool(sim.vehicles.inspect(2)["command"]["vx"]))
    assert seen == [False] * 5 + [True] * 3  # the next decision is that of tick 8


def test_a_thousand_of_ten_thousand_vehicles_are_overridden(load: Load, threads: Any) -> None:
    threads(1)  # no kernels for several
    fleet = {"name": "swarm", "count": 10_000, "model": "point", "spawn": {"grid": {"spacing": 2, "z": 5}}}
    chosen = np.arange(1, 10_001, 10)
    sim, same = load({**fleet, "behaviour": "hold"}), load({**fleet, "behaviour": GOTO})
    start = states(sim, "swarm")
    sim.behaviours.override(chosen, GOTO)
    for run in (sim, same):
        run.step(120)
    moved = states(sim, "swarm")
    assert np.array_equal(moved[:, chosen - 1], states(same, "swarm")[:, chosen - 1])
    others = np.setdiff1d(np.arange(10_000), chosen - 1)
    assert np.array_equal(moved[:3, others], start[:3, others])


# commands, timeouts, claims ------------------------------------------------------------------------------------------


def test_a_command_names_the_first_vehicle_that_a_rule_drives(load: Load) -> None:
    sim = load(crew("point"))
    sim.behaviours.override(["crew[2]", "crew[3]"], GOTO)
    with pytest.raises(PaddockError) as caught:
        sim.command("crew", vx=1.0)
    assert str(caught.value) == "'crew[2]' is driven by its override 'goto', not by commands"
    sim.engine.applier.post(CommandAction(np.array([1, 2]), {"vx": 1.5}))
    sim.step()
    assert [sim.vehicles.inspect(f"crew[{k}]")["command"]["vx"] for k in (0, 1)] == [1.5, 1.5]


def test_commands_time_out_only_while_no_rule_drives(load: Load) -> None:
    sim = load(crew("point", timeout=0.5))
    sim.command("crew", vx=3.0)
    sim.step(10)
    sim.behaviours.override("crew[0]", {"goto": {"x": 500, "y": 0, "z": 5, "speed": 4}})
    sim.step(200)
    failed = [event.subject for event in sim.events.since() if event.kind == "failsafe"]
    assert failed == ["crew[1]", "crew[2]", "crew[3]"]
    assert sim.vehicles.inspect("crew[0]")["command"]["vx"] == pytest.approx(4.0, rel=1e-3)
    sim.behaviours.override("crew[0]", "external")
    sim.step(200)  # until a first command comes no vehicle is late
    assert sim.vehicles.inspect("crew[0]")["command"]["vx"] == pytest.approx(4.0, rel=1e-3)
    sim.command("crew[0]", vx=1.0)
    sim.step(121)
    assert sim.vehicles.inspect("crew[0]")["command"]["vx"] == 0.0
    assert sim.events.since()[-1].subject == "crew[0]" and sim.events.since()[-1].kind == "failsafe"


def test_an_override_clears_the_timeout_of_a_command(load: Load) -> None:
    sim = load(crew("point", behaviour="hold"))
    sim.behaviours.override("crew[1]", "external")
    sim.engine.applier.post(CommandAction("crew[1]", {"vx": 2.0}, timeout=0.1))
    sim.step(24 + 2)
    assert sim.vehicles.inspect("crew[1]")["command"]["vx"] == 0.0
    assert sim.events.since()[-1].kind == "failsafe"


def test_a_claimed_vehicle_cannot_be_overridden(load: Load) -> None:
    sim = load(crew("point"), {**crew("point", behaviour="hold"), "name": "own"})
    source = sim.control.claim("crew[1]", source="pilot")
    with pytest.raises(PaddockError, match=r"'pilot' has claimed crew\[1\]: release the claim first"):
        sim.behaviours.override("crew", GOTO)
    sim.behaviours.override("crew[0]", GOTO)
    source.release()
    sim.behaviours.override("crew", GOTO)
    with pytest.raises(PaddockError, match=r"'crew\[1\]' is driven by its override 'goto'"):
        sim.control.claim("crew[1]")
    sim.behaviours.override("own[0]", "external")
    sim.control.claim("own[0]", source="pilot")
    with pytest.raises(PaddockError, match="has claimed"):
        sim.behaviours.override("own", None)


# overrides in force -------------------------------------------------------------------------------------------------


def test_overrides_routes_and_events(load: Load) -> None:
    sim = load(crew("point", behaviour={"patrol": {"path": PATH}}), {"name": "solo", "model": "rover"})
    sim.behaviours.override(["crew[0]", 3, "solo"], GOTO)
    sim.behaviours.override("crew[1]", "external")
    seen = [(override.ids.tolist(), override.behaviour, override.options) for override in sim.behaviours.overrides()]
    assert seen == [([2], "external", {}), ([1, 3], "goto", GOTO["goto"]), ([5], "goto", GOTO["goto"])]
    routes = [(r.fleet, r.ids.tolist(), r.behaviour, r.closed, r.points.tolist()) for r in sim.behaviours.routes()]
    point = [[12.0, -9.0, 6.0]]
    assert routes == [
        ("crew", [4], "patrol", True, [list(map(float, point)) for point in PATH]),
        ("crew", [1, 3], "goto", False, point),
        ("solo", [5], "goto", False, point),
    ]
    sim.behaviours.override("crew", None)
    events = [(event.kind, event.subject, event.detail) for event in sim.events.since()]
    assert events == [
        ("ordered", "crew (2 vehicles)", "goto"),
        ("ordered", "solo", "goto"),
        ("ordered", "crew[1]", "external"),
        ("order_ended", "crew (3 vehicles)", "patrol"),
    ]


def test_the_routes_of_rules(load: Load) -> None:
    sim = load(crew("point"))
    sim.behaviours.override("crew[0]", {"orbit": {"x": 1, "y": 2, "z": 3, "radius": 10}})
    sim.behaviours.override("crew[1]", {"orbit": {"target": "crew[0]"}})  # goes with its target: no fixed line
    sim.behaviours.override("crew[2]", {"pure_pursuit": {"path": {"circle": {"radius": 20}}, "offset": 2}})
    circle, line = sim.behaviours.routes()
    assert circle.closed and np.hypot(*(circle.points[:, :2] - [1, 2]).T) == pytest.approx(np.full(64, 10.0))
    assert set(circle.points[:, 2]) == {3.0}
    assert line.closed and np.hypot(*line.points[:, :2].T) == pytest.approx(np.full(len(line.points), 18.0))


def test_the_routes_of_a_scenario(load: Load) -> None:
    sim = load(crew("point", behaviour={"patrol": {"path": PATH}}), {"name": "solo", "model": "rover"})
    (route,) = entry_routes(sim.scenario, sim.snapshot())
    assert (route.fleet, route.ids.tolist(), route.closed) == ("crew", [1, 2, 3, 4], True)
    assert route.points.tolist() == [list(map(float, point)) for point in PATH]
    sim.remove("crew")
    assert not list(entry_routes(sim.scenario, sim.snapshot()))


def test_a_second_override_replaces_the_first(load: Load) -> None:
    sim = load(crew("point"))
    sim.behaviours.override("crew", GOTO)
    sim.behaviours.override(["crew[1]"], {"waypoints": {"path": PATH}})
    assert [(override.ids.tolist(), override.behaviour) for override in sim.behaviours.overrides()] == [
        ([1, 3, 4], "goto"),
        ([2], "waypoints"),
    ]
    sim.behaviours.override("crew", "hold")
    assert [(o.ids.tolist(), o.behaviour) for o in sim.behaviours.overrides()] == [([1, 2, 3, 4], "hold")]


def test_removed_vehicles_lose_their_override_and_new_ones_have_none(load: Load) -> None:
    sim = load(crew("point", behaviour="hold"))
    sim.behaviours.override(["crew[1]", "crew[3]"], GOTO)
    sim.step(50)
    sim.remove("crew[0]")
    sim.spawn(fleet="crew", pose=[0, 0, 0, 0])
    alike = load(crew("point", behaviour=GOTO))
    alike.step(150)
    sim.step(100)
    assert [override.ids.tolist() for override in sim.behaviours.overrides()] == [[2, 4]]
    assert np.array_equal(states(sim)[:, [0, 2]], states(alike)[:, [1, 3]])
    sim.remove("crew[1]")
    sim.remove("crew[3]")
    assert sim.behaviours.overrides() == []


def test_a_formation_has_slots_for_the_vehicles_of_its_override(load: Load) -> None:
    sim = load(crew("point"))
    sim.behaviours.override(
        ["crew[0]", "crew[3]"], {"formation": {"shape": "line", "spacing": 6, "x": 10, "y": 10, "z": 5}}
    )
    sim.step(240 * 20)
    placed = [sim.snapshot()[f"crew[{k}]"].position for k in (0, 3)]
    assert placed[0] == pytest.approx([10, 7, 5], abs=0.01) and placed[1] == pytest.approx([10, 13, 5], abs=0.01)


def test_a_lost_target_is_reported_once(load: Load) -> None:
    sim = load(LEAD, crew("point"))
    sim.behaviours.override("crew[1]", {"follow": {"target": "lead"}})
    sim.step(5)
    sim.remove("lead")
    sim.step(50)
    lost = [(event.subject, event.detail) for event in sim.events.since() if event.kind == "target_lost"]
    assert lost == [("crew", "'lead' is no longer there")]
    assert sim.vehicles.inspect("crew[1]")["command"] == {"vx": 0.0, "vy": 0.0, "vz": 0.0}


# the run -------------------------------------------------------------------------------------------------------------


def override_many(sim: Simulation) -> None:
    """Overrides of all kinds while the mixed world runs."""
    sim.step(30)
    sim.behaviours.override(["birds[2]", "birds[7]", "scouts"], GOTO)
    sim.behaviours.override("dog", "external")
    sim.behaviours.override("birds[5]", {"formation": {"target": "red"}}, at_tick=77, source="page")
    sim.command("dog", speed=1.0)
    sim.step(90)
    sim.behaviours.override("birds[7]", None)
    sim.remove("scouts[1]")
    sim.step(25)


def test_a_state_with_overrides_is_restored(commanded: Load) -> None:
    sim, other = commanded(), commanded()
    override_many(sim)
    sim.behaviours.override("red", {"waypoints": {"path": PATH}}, at_tick=sim.tick + 20)  # still waits
    blob, before = sim.save(), sim.state_hash()
    sim.step(300)
    after = sim.state_hash()
    for restored in (other, sim):
        restored.restore(blob)
        assert restored.state_hash() == before
        assert [override.behaviour for override in restored.behaviours.overrides()] == [
            "goto",
            "formation",
            "external",
            "goto",
        ]
        restored.step(300)
        assert restored.state_hash() == after
    sim.reset()
    assert sim.behaviours.overrides() == []


def test_overrides_are_part_of_the_state_hash(load: Load) -> None:
    sim, other = load(crew("point", behaviour="hold")), load(crew("point", behaviour="hold"))
    sim.behaviours.override("crew[0]", "external")
    sim.behaviours.override("crew[0]", None)
    other.behaviours.override("crew[1]", "external")
    other.behaviours.override("crew[1]", None)
    assert digest_but_events(sim) == digest_but_events(other)
    sim.behaviours.override("crew[0]", "external")
    assert digest_but_events(sim) != digest_but_events(other)


def digest_but_events(sim: Simulation) -> str:
    sim.engine.world.state.events = fresh(EventState)
    return sim.state_hash()


def test_the_log_replays_overrides(commanded: Load) -> None:
    sim = commanded()
    override_many(sim)
    again = replayed(sim.scenario, sim.control.log.complete(), sim.tick)
    assert again.state_hash() == sim.state_hash()


@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_threads_do_not_matter(load: Load, threads: Any, count: int) -> None:
    swarm = {"name": "swarm", "count": 1500, "model": "point", "spawn": {"grid": {"spacing": 2, "z": 9}}}
    sim = load({**swarm, "behaviour": "flock"})
    threads(count)
    sim.behaviours.override(np.arange(1, 1501, 2), {"orbit": {"radius": 40}})
    sim.step(20)
    alone = load({**swarm, "behaviour": {"orbit": {"radius": 40}}})
    alone.step(20)
    assert np.array_equal(states(sim, "swarm")[:, ::2], states(alone, "swarm")[:, ::2])


def test_any_thread_can_override_during_a_run(load: Load) -> None:
    sim = load(crew("point", behaviour="hold"))
    with sim.clock.running():
        sim.behaviours.override("crew[1]", "external")
        sim.command("crew[1]", vx=2.0)
        while sim.snapshot()["crew[1]"].position[0] < 5.0:
            pass
        with pytest.raises(PaddockError, match="overrides\\(\\) refused"):
            sim.behaviours.overrides()
    assert replayed(sim.scenario, sim.control.log.complete(), sim.tick).state_hash() == sim.state_hash()


def test_an_override_that_became_impossible_is_refused_and_replayed(load: Load) -> None:
    sim = load(crew("point"))
    sim.engine.applier.post(OverrideAction("crew[1]", GOTO), at_tick=20)
    sim.remove("crew[1]")
    sim.step(30)
    assert [(event.kind, event.detail) for event in sim.events.since()][1:] == [
        ("refused", "fleet 'crew' has no member 1")
    ]
    assert replayed(sim.scenario, sim.control.log.complete(), 30).state_hash() == sim.state_hash()


def test_an_override_copies_its_arguments(load: Load) -> None:
    sim = load(crew("point"))
    path = np.array(PATH, float)
    override = {"waypoints": {"path": path}}
    sim.behaviours.override("crew[0]", override, at_tick=5)
    path[:] = 99.0
    sim.step(6)
    assert sim.behaviours.routes()[0].points.tolist() == [list(map(float, point)) for point in PATH]


# mistakes ------------------------------------------------------------------------------------------------------------

WRONG: list[tuple[Any, Any, type[PaddockError], str]] = [
    ("crew", "flok", UnknownNameError, "override: unknown behaviour 'flok'; did you mean 'flock'?"),
    ("crew", {"goto": {"x": 1}}, InvalidValueError, "override.goto: goto option 'y' has no default: give a value"),
    ("crew", {"goto": {"x": 1, "y": 2, "sped": 3}}, UnknownNameError, "did you mean 'speed'?"),
    (
        "crew",
        {"goto": {"x": 1, "y": 2, "speed": -3}},
        InvalidValueError,
        "override.goto.speed: goto option 'speed' must",
    ),
    ("crew", {"goto": {"x": 1, "y": float("nan")}}, InvalidValueError, "override: y: nan is not a finite number"),
    ("crew", {"goto": [1, 2]}, InvalidValueError, "the options of behaviour 'goto' must be a mapping"),
    ("crew", {"follow": {}}, InvalidValueError, "override.follow: behaviour 'follow' needs a target"),
    ("crew", {"follow": {"target": "crew[0]"}}, InvalidValueError, "follow.target: 'crew[0]' cannot be its own target"),
    (
        "crew",
        {"follow": {"target": "leed"}},
        UnknownNameError,
        "override.follow.target: unknown vehicle 'leed'; did you",
    ),
    (
        "crew",
        {"waypoints": {"path": [[0, 0]]}},
        InvalidValueError,
        "override.waypoints.path: a path needs at least two",
    ),
    ("crew", {"hold": {}, "goto": {}}, InvalidValueError, "one name with its options, not 2 keys"),
    ("crew", {"external": {"x": 1}}, InvalidValueError, "override: 'external' takes no options"),
    ("crew", 7, InvalidValueError, "override: a behaviour is a name or {name: {options}}, not 7"),
    ("crw", "hold", UnknownNameError, "unknown vehicle 'crw'; did you mean 'crew'?"),
    ("crew[9]", "hold", UnknownNameError, "fleet 'crew' has no member 9"),
    (77, "hold", UnknownNameError, "no vehicle has the id 77"),
    ([], "hold", InvalidValueError, "an override needs at least one vehicle: the list is empty"),
    (np.array([1, 77]), "hold", UnknownNameError, "no vehicle has the id 77"),
    (np.array([1.5]), "hold", InvalidValueError, "vehicle ids are a list of whole numbers"),
    (["crew[0]", True], "hold", UnknownNameError, "unknown vehicle 'True'"),
    (1.5, "hold", InvalidValueError, "an override is for a name, an id, or a list of them, not 1.5"),
]


@pytest.mark.parametrize(("target", "behaviour", "kind", "message"), WRONG, ids=range(len(WRONG)))
def test_invalid_overrides_are_refused_and_change_nothing(
    load: Load, target: Any, behaviour: Any, kind: type[PaddockError], message: str
) -> None:
    sim = load(LEAD, crew("point"))
    before = sim.state_hash()
    for give in (
        sim.behaviours.override,
        lambda target, behaviour: sim.engine.applier.post(OverrideAction(target, behaviour)),
    ):
        with pytest.raises(kind) as caught:
            give(target, behaviour)
        assert message in str(caught.value) and "\n" not in str(caught.value)
    assert sim.state_hash() == before and not sim.control.log.entries


def test_too_many_different_overrides_are_refused(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.engine.overrides.MOST_OVERRIDES", 2)
    sim = load(crew("point"))
    sim.behaviours.override("crew[0]", GOTO)
    sim.behaviours.override("crew[1]", GOTO)
    with pytest.raises(PaddockError, match="the vehicles of 'crew' have 2 different overrides already"):
        sim.behaviours.override("crew[2]", GOTO)
    sim.behaviours.override("crew[1]", "hold")  # instead of its own
    sim.behaviours.override(["crew[0]", "crew[1]", "crew[2]"], "hold")
    assert len(sim.behaviours.overrides()) == 1
