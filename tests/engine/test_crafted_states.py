"""Saved states that were crafted: each is refused and changes nothing, or is a state with which a run goes on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import NotFiniteError, PaddockError
from paddock.world.archive import pack, unpack

Load = Callable[..., Simulation]
Path = tuple[str | int, ...]
PATH = [[20, 0, 6], [20, 15, 9], [-5, 15, 6]]
POSES = [[0, 0, 5, 0.3], [4, 1, 6, 1.0], [-3, 7, 4, -2.0], [9, -5, 8, 0.0]]
HUGE = 2**62


def crew(load: Load) -> Simulation:
    """Quadrotors on paths whose positions are in their memories, sensors, frames and queued commands."""
    sim = load({"name": "crew", "count": 4, "model": "quad", "spawn": {"poses": POSES}, "sensors": [{"gnss": {}}]})
    sim.behaviours.override("crew[0]", {"waypoints": {"path": PATH}})
    sim.behaviours.override("crew[1]", {"patrol": {"path": PATH, "turn": "back"}})
    sim.behaviours.override("crew[2]", {"pure_pursuit": {"path": PATH, "closed": 0}})
    sim.frames.set("camera", "crew[3]", (0.1, 0.0, 0.0))
    sim.command("crew[3]", at_tick=100_000, throttle=0.4)
    sim.step(60)
    return sim


def mission() -> Simulation:
    line = {"start": [0, -60, 100], "end": [0, 60, 100]}
    uav = {"name": "uav", "count": 3, "model": "fixed_wing", "spawn": {"line": line}}
    events = [{"at": 2, "task": {"name": "more", "point": {"at": [500, 100]}}}]
    plan = {"generate": {"tasks": 6, "area": [1500, 1500]}, "events": events}
    sim = paddock.load(
        {"seed": 5, "clock": {"rate": 20}, "every": {"behaviour": 2}, "vehicles": [uav], "mission": plan}
    )
    sim.mission.add_task("extra", line={"at": [-200, 300], "heading": 0.3, "length": 100})
    sim.step(60)
    return sim


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value of a tree with its path; of lists the first only."""
    yield path, tree
    inner = tree.items() if isinstance(tree, dict) else list(enumerate(tree))[:1] if isinstance(tree, list) else ()
    for key, value in inner:
        yield from leaves(value, (*path, key))


def wrong(value: Any) -> list[Any]:
    """Values of another type, shape or range than a valid one."""
    if isinstance(value, np.ndarray):
        found = [None, value[..., :-1], np.concatenate([value, value], axis=-1), value.astype(np.float32)]
        if value.dtype.kind == "f":
            return [*found, *(np.full_like(value, number) for number in (np.nan, np.inf, -1.0, 1e9, -1e300))]
        return [*found, *(np.full_like(value, number) for number in (-1, HUGE, -HUGE))]
    if isinstance(value, bool) or value is None:
        return [7, "text"]
    if isinstance(value, int):
        return [-1, HUGE, 10**30, float(value), "text", None]
    if isinstance(value, float):
        return [np.nan, np.inf, -1e300, "text", None]
    if isinstance(value, str):
        return ["", "\x1b[31m", 7, None]
    return [{}, [], 7, None]


def crafted(tree: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield states with one wrong value, one field less or one more."""
    for path, value in list(leaves(tree))[1:]:
        for other in [*wrong(value), "missing", "more"]:
            found = copy.deepcopy(tree)
            holder: Any = found
            for key in path[:-1]:
                holder = holder[key]
            if isinstance(other, str) and other == "missing":
                del holder[path[-1]]
            elif isinstance(other, str) and other == "more":
                if not isinstance(value, dict):
                    continue
                holder[path[-1]]["unknown"] = 1
            else:
                holder[path[-1]] = other
            yield f"{'/'.join(map(str, path))}: {other!s:.40}", found


def attack(sim: Simulation, every: int, offset: int) -> tuple[int, int]:
    """Restore crafted states; return how many were refused and how many accepted."""
    valid = sim.save()
    before, refused, accepted = sim.state_hash(), 0, 0
    for k, (what, tree) in enumerate(crafted(unpack(valid))):
        if k % every != offset:
            continue
        try:
            blob = pack(tree)
        except PaddockError:
            continue
        try:
            sim.restore(blob)
        except PaddockError:
            refused += 1
            assert sim.state_hash() == before, what
            continue
        accepted += 1
        with suppress(NotFiniteError), np.errstate(all="ignore"):  # values beyond physics end a run as `on_nan` says
            sim.step(3)
        sim.restore(valid)
        assert sim.state_hash() == before, what
    sim.step(50)
    return refused, accepted


@pytest.mark.parametrize("offset", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3))])
def test_crafted_states_of_behaviours_and_sensors(load: Load, offset: int) -> None:
    refused, accepted = attack(crew(load), 4, offset)
    assert refused > 2 * accepted > 0


@pytest.mark.parametrize("offset", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3, 4, 5, 6, 7))])
def test_crafted_states_of_a_mission(offset: int) -> None:
    refused, accepted = attack(mission(), 8, offset)
    assert refused > 2 * accepted > 0


@pytest.mark.parametrize("value", [1e9, -5.0, np.nan, np.inf])
def test_a_position_on_a_path_that_does_not_exist_is_its_beginning(load: Load, value: float) -> None:
    """The index in the memory is unchecked data to a rule: a run goes on as from the first point."""
    sim = crew(load)
    tree = unpack(sim.save())
    for group in tree["orders"]["crew"]["squads"].values():
        group["memory"][0] = value
    sim.restore(pack(tree))
    sim.step(30)
    groups = unpack(sim.save())["orders"]["crew"]["squads"].values()
    assert all(0.0 <= group["memory"][0, 0] <= 2.0 for group in groups)


def test_a_refused_state_names_what_is_wrong(load: Load) -> None:
    sim = crew(load)
    tree = unpack(sim.save())
    tree["world"]["fleets"]["crew"]["tables"]["ids"][1] = 1
    with pytest.raises(PaddockError, match="saved vehicle ids are not unique"):
        sim.restore(pack(tree))
    tree = unpack(sim.save())
    tree["world"]["fleets"]["crew"]["tables"]["state"] = np.zeros((3, 4))
    with pytest.raises(PaddockError, match=r"table 'state' of fleet 'crew' is not float64 of shape \(\d+, 4\)"):
        sim.restore(pack(tree))
