"""Many overrides of one rule, and overrides with a value per vehicle, compared with single vehicles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation, replayed
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError

Load = Callable[..., Simulation]
COUNT = 6
POSES = [[7.0 * k, -3.0 * k, 5.0 + k, 0.4 * k] for k in range(COUNT)]
X, Y, SPEED = [30.0, -12.0, 5.0, 0.0, 41.0, -7.0], [4.0, 25.0, -31.0, 9.0, 0.5, -2.0], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
LEADS = {"name": "leads", "count": 2, "model": "point", "spawn": {"poses": [[60, 0, 5, 0], [-60, 9, 8, 0]]}}


def crew(model: str = "point", **fields: Any) -> dict[str, Any]:
    return {"name": "crew", "count": COUNT, "model": model, "spawn": {"poses": POSES}, **fields}


def states(sim: Simulation, fleet: str = "crew") -> Any:
    return sim.engine.world.fleets[fleet].state[:, : sim.engine.world.fleets[fleet].n].copy()


def goto(k: int) -> dict[str, Any]:
    return {"goto": {"x": X[k], "y": Y[k], "z": 20, "speed": SPEED[k]}}


GOTO_ALL = {"goto": {"x": X, "y": Y, "z": 20, "speed": SPEED}}


def alone(load: Load, model: str, behaviour: Any, k: int, ticks: int) -> Any:
    """The state of vehicle k in a world where the entry gives its behaviour to all vehicles."""
    sim = load(LEADS, crew(model, behaviour=behaviour))
    sim.step(ticks)
    return states(sim)[:, k]


def launches(sim: Simulation, fleet: str = "crew") -> int:
    """How many kernel calls a decision takes."""
    return len(list(sim.engine.programs[fleet].control._current_batches()))


# together ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["point", pytest.param("quad", marks=pytest.mark.slow)])
def test_each_vehicle_moves_as_alone(load: Load, model: str) -> None:
    single, listed = load(LEADS, crew(model)), load(LEADS, crew(model))
    for k in (4, 0, 5, 2, 1, 3):
        single.behaviours.override(f"crew[{k}]", goto(k))
    listed.behaviours.override("crew", GOTO_ALL)
    for sim in (single, listed):
        sim.step(300)
        assert launches(sim) == 1
    for k in range(COUNT):
        expected = alone(load, model, goto(k), k, 300)
        assert np.array_equal(states(single)[:, k], expected) and np.array_equal(states(listed)[:, k], expected)


def test_each_vehicle_has_its_own_memory(load: Load) -> None:
    circles = [{"orbit": {"x": X[k], "y": Y[k], "radius": 4.0 + k, "direction": k % 2}} for k in range(COUNT)]
    sim = load(LEADS, crew())
    sim.behaviours.override("crew[1]", circles[1])
    sim.step(200)
    for k in (0, 2, 3, 4, 5):  # a vehicle that has learned its circle keeps its memory when others join
        sim.behaviours.override(f"crew[{k}]", circles[k])
    sim.step(100)
    sim.behaviours.override("crew[3]", None)
    sim.step(100)
    assert np.array_equal(states(sim)[:, 1], alone(load, "point", circles[1], 1, 400))
    assert launches(sim) == 1 and len(sim.behaviours.overrides()) == COUNT - 1


def test_targets_are_distributed_within_an_override(load: Load) -> None:
    follow: dict[str, Any] = {"follow": {"target": "leads"}}
    sim, same = load(LEADS, crew()), load(LEADS, crew(behaviour=follow))
    sim.behaviours.override(["crew[0]", "crew[1]"], follow)
    sim.behaviours.override(["crew[4]", "crew[5]"], {"follow": {"target": "leads", "speed": 9}})
    sim.behaviours.override("crew[2]", {"follow": {"target": "leads[0]"}})
    for run in (sim, same):
        run.step(400)
    assert launches(sim) == 2
    assert np.array_equal(states(sim)[:, :3], states(same)[:, :3])
    sim.remove("leads[0]")
    sim.step(10)
    lost = [event.detail for event in sim.events.since() if event.kind == "target_lost"]
    assert lost == ["'leads[0]' is no longer there"]


def test_groups_with_slots_or_paths_are_not_batched(load: Load) -> None:
    sim = load(crew())
    line = {"formation": {"shape": "line", "spacing": 6, "x": 10, "y": 10, "z": 5}}
    sim.behaviours.override(["crew[0]", "crew[1]"], line)
    sim.behaviours.override(["crew[2]", "crew[3]"], {"formation": {**line["formation"], "x": 50}})
    sim.step(240 * 25)
    assert launches(sim) == 2
    places = [sim.snapshot()[f"crew[{k}]"].position for k in range(4)]
    assert np.array(places) == pytest.approx(np.array([[10, 7, 5], [10, 13, 5], [50, 7, 5], [50, 13, 5]]), abs=0.01)


# lists ---------------------------------------------------------------------------------------------------------------


def test_values_belong_to_the_vehicles_in_the_order_they_were_named(load: Load) -> None:
    pair = {**crew(), "name": "pair", "count": 2, "spawn": {"poses": POSES[:2]}}
    sim = load(crew(), pair)
    first = int(sim.engine.world.fleets["crew"].ids[0])
    sim.behaviours.override(["crew[3]", "pair", first, "crew[1]"], {"goto": {"x": [1, 2, 3, 4, 5], "y": 0.5}})
    assert [(override.ids.tolist(), override.options) for override in sim.behaviours.overrides()] == [
        ([first, first + 1, first + 3], {"x": [4, 5, 1], "y": 0.5}),
        (sim.engine.world.fleets["pair"].ids.tolist(), {"x": [2, 3], "y": 0.5}),
    ]
    routes = [(route.ids.tolist(), route.closed, route.points.tolist()) for route in sim.behaviours.routes()]
    ids = [first, first + 1, first + 3, *sim.engine.world.fleets["pair"].ids.tolist()]
    assert routes == [([i], False, [[x, 0.5, 0.0]]) for i, x in zip(ids, [4.0, 5.0, 1.0, 2.0, 3.0], strict=True)]


def test_words_in_lists(load: Load) -> None:
    sim = load(crew())
    sim.behaviours.override(
        ["crew[0]", "crew[1]"], {"orbit": {"direction": ["left", "right"], "radius": np.array([3.0, 4.0])}}
    )
    assert sim.behaviours.overrides()[0].options == {"direction": ["left", "right"], "radius": [3.0, 4.0]}
    second = [route.points[1, 1] for route in sim.behaviours.routes()]
    assert second == pytest.approx([3 * np.sin(2 * np.pi / 64), -4 * np.sin(2 * np.pi / 64)])


def test_lists_shrink_when_vehicles_leave_or_get_another_override(load: Load) -> None:
    sim = load(LEADS, crew())
    sim.behaviours.override("crew", GOTO_ALL)
    sim.step(100)
    sim.remove("crew[1]")
    sim.behaviours.override("crew[4]", "hold")
    sim.step(200)
    options = next(override.options for override in sim.behaviours.overrides() if override.behaviour == "goto")
    assert options == {
        "x": [30.0, 5.0, 0.0, -7.0],
        "y": [4.0, -31.0, 9.0, -2.0],
        "z": 20,
        "speed": [2.0, 4.0, 5.0, 7.0],
    }
    for row, k in ((0, 0), (1, 2), (2, 3), (4, 5)):
        assert np.array_equal(states(sim)[:, row], alone(load, "point", goto(k), k, 300))


def test_saved_restored_and_replayed(load: Load) -> None:
    sim, other = load(LEADS, crew()), load(LEADS, crew())
    sim.behaviours.override("crew", GOTO_ALL)
    sim.behaviours.override("crew[2]", {"orbit": {"radius": 5}}, at_tick=20)
    sim.behaviours.override("crew[5]", {"orbit": {"radius": 8, "x": 4}}, at_tick=30)
    sim.behaviours.override(["crew[1]", "crew[0]"], {"orbit": {"radius": [3, 6]}}, at_tick=200)
    sim.step(120)
    blob, before, options = sim.save(), sim.state_hash(), [override.options for override in sim.behaviours.overrides()]
    sim.step(200)
    after = sim.state_hash()
    assert replayed(sim.scenario, sim.control.log.complete(), sim.tick).state_hash() == after
    for restored in (other, sim):
        restored.restore(blob)
        assert (
            restored.state_hash() == before
            and [override.options for override in restored.behaviours.overrides()] == options
        )
        restored.step(200)
        assert restored.state_hash() == after


WRONG: list[tuple[Any, Any, type[PaddockError], str]] = [
    (
        "crew",
        {"goto": {"x": [1, 2], "y": 0}},
        InvalidValueError,
        "override.goto.x: a list has one value per vehicle, here 6",
    ),
    ("crew[0]", {"goto": {"x": [], "y": 0}}, InvalidValueError, "here 1, not 0"),
    (
        "crew[0]",
        {"goto": {"x": [1], "y": ["a"]}},
        InvalidValueError,
        "override.goto.y[0]: goto option 'y' must be a finite",
    ),
    (
        "crew[0]",
        {"goto": {"x": [[1]], "y": 0}},
        InvalidValueError,
        "override.goto.x[0]: goto option 'x' must be a finite",
    ),
    (
        ["crew[0]", "crew[1]"],
        {"goto": {"x": [1, [2]], "y": 0}},
        InvalidValueError,
        "override.goto.x[1]: goto option 'x'",
    ),
    (
        ["crew[0]", "crew[1]"],
        {"goto": {"x": 1, "y": 0, "speed": [1, -1]}},
        InvalidValueError,
        "override.goto.speed[1]: goto",
    ),
    (["crew[0]", "crew[0]"], {"goto": {"x": [1, 2], "y": 0}}, InvalidValueError, "override: a vehicle is named twice"),
    (["crew", "crew[0]"], {"goto": {"x": [1] * 7, "y": 0}}, InvalidValueError, "override: a vehicle is named twice"),
    ("crew[0]", {"goto": {"x": 1, "y": 0, "sped": [1]}}, UnknownNameError, "did you mean 'speed'?"),
    ("crew[0]", {"orbit": {"direction": ["lft"]}}, UnknownNameError, "did you mean 'left'?"),
    ("crew[0]", {"formation": {"spacing": [1]}}, InvalidValueError, "follow 'formation' together share one value"),
    ("crew[0]", {"follow": {"target": ["crew[1]"]}}, InvalidValueError, "target must be the name of a vehicle"),
    ("crew[0]", {"orbit": {"has_target": [1]}}, InvalidValueError, "name a target instead"),
]


@pytest.mark.parametrize(("target", "behaviour", "kind", "message"), WRONG, ids=range(len(WRONG)))
def test_invalid_lists_are_refused(
    load: Load, target: Any, behaviour: Any, kind: type[PaddockError], message: str
) -> None:
    sim = load(crew())
    before = sim.state_hash()
    with pytest.raises(kind) as caught:
        sim.behaviours.override(target, behaviour)
    assert message in str(caught.value)
    assert sim.state_hash() == before and not sim.control.log.entries


def test_an_entry_takes_no_lists(load: Load) -> None:
    with pytest.raises(PaddockError, match="must be a finite number"):
        load(crew(behaviour={"goto": {"x": [1] * COUNT, "y": 0}}))


def test_a_lost_target_needs_no_other_kernel() -> None:
    lead = {"name": "lead", "model": "point", "pose": [0, 0, 5, 0]}
    spawn = {"line": {"start": [5, 0, 5], "end": [9, 0, 5]}}
    train = {"name": "train", "count": 2, "model": "point", "spawn": spawn, "behaviour": {"follow": {"target": "lead"}}}
    with paddock.load({"vehicles": [lead, train], "every": {"behaviour": 1, "snapshot": 2}}) as sim:
        sim.step(4)  # poses of a snapshot, and poses of between two of them
        act = sim.engine.programs["train"].control.behaviour._act.variants(1)[0]
        known = len(act.signatures)
        sim.remove("lead")
        sim.step(4)
        assert len(act.signatures) == known == 1
