"""Saved states that were crafted: each is refused and changes nothing, or is a state with which a run goes on."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from waiting_actions import MISSION, ORDERS, post_actions

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.world.archive import pack, unpack
from paddock.world.columns import column_index, columns_of

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
    sim.world.frames.set("camera", "crew[3]", (0.1, 0.0, 0.0))
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


def mission_over_radio() -> Simulation:
    """Drones whose routes come in parts; one is out of contact, one damaged, and a part of a route is on its way."""
    drones = {"name": "drone", "count": 3, "model": "point", "spawn": {"poses": POSES[:3]}, "radio": "default"}
    away = {"name": "away", "model": "point", "pose": [900, 0, 20, 0], "radio": "default"}
    via = {"mtu": 40, "reports": 4.0, "lost_after": 1.0, "timeout": 3.0, "replan_every": 1.0}
    radio = {"rate": 10, "range": 500, "stations": [{"name": "base", "position": [0, 0, 5]}]}
    tasks = [{"name": f"t{k}", "point": {"at": [60 * k - 100, 150]}} for k in range(5)]
    plan = {"via": via, "altitude": 20, "speed": 10, "separation": None, "objective": "makespan", "tasks": tasks}
    sim = paddock.load(
        {"clock": {"rate": 20}, "every": {"behaviour": 2}, "radio": radio, "vehicles": [drones, away], "mission": plan}
    )
    sim.step(70)
    sim.mission.damage("drone[0]")
    sim.mission.add_task("extra", line={"at": [-200, 300], "heading": 0.3, "length": 100})
    sim.step(3)
    return sim


def autopilots(links: dict[str, Any]) -> Simulation:
    """Vehicles of three types with built-in autopilots, two of them on missions."""
    vehicles = [
        {"name": "copter", "model": "quad", "preset": "iris"},
        {"name": "cart", "model": "rover", "preset": "skid", "pose": [0, -10, 0]},
        {"name": "mapper", "model": "plane", "pose": [50, 0, 0, 1.57]},
    ]
    pilots = [
        {"vehicles": "copter", "mission": [[0, 20, 10], [20, 20, 15]], "start": 0.1},
        {"vehicles": "cart", "mission": [[0, 20, 0], [15, 20, 0]]},
        {"vehicles": "mapper"},
    ]
    world = {"origin": [47.05, 8.31, 430], "wind": [2, 0, 0]}
    sim = paddock.load(
        {"clock": {"rate": 250}, "world": world, "vehicles": vehicles, "sitl": {"mavlink": links, "pilots": pilots}}
    )
    sim.step(250)
    return sim


def models(load: Load) -> Simulation:
    """One vehicle of each model that the other worlds do not have."""
    names = ("point", "car.kinematic", "car.bicycle", "fixed_wing")
    sim = load(*({"name": f"v{k}", "model": m, "pose": [20 * k, 0, 30]} for k, m in enumerate(names)))
    sim.step(40)
    return sim


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value of a tree with its path; of lists the first only, except for queued actions."""
    yield path, tree
    shown = None if path[-1:] == ("queue",) else 1
    inner = tree.items() if isinstance(tree, dict) else list(enumerate(tree))[:shown] if isinstance(tree, list) else ()
    for key, value in inner:
        yield from leaves(value, (*path, key))


def wrong(value: Any) -> list[Any]:
    """Values of another type, shape or range than a valid one."""
    if isinstance(value, np.ndarray):
        values = [None, value[..., :-1], np.concatenate([value, value], axis=-1), value.astype(np.float32)]
        numbers = (np.nan, np.inf, -1.0, 1e9, -1e300) if value.dtype.kind == "f" else (-1, 65536, HUGE, -HUGE)
        if value.dtype == np.int32:
            numbers = (-1, 65536, 2**31 - 1, -(2**31))
        if value.dtype.kind in "bu":
            numbers = (True, False) if value.dtype.kind == "b" else (0, 1, 255)
        if value.dtype == np.int32:
            numbers = (-1, 65536, 2**31 - 1, -(2**31))
        values += [value.astype(np.complex128) + 5j, np.zeros(value.shape, np.float16), value.astype(">f8") + np.nan]
        return [*values, *(np.full_like(value, n) for n in numbers), *(one_changed(value, n) for n in numbers)]
    if isinstance(value, bool) or value is None:
        return [7, 1, "text", not value]
    if isinstance(value, int):
        return [-1, 1_000_000, HUGE, 10**30, True, float(value), "text", None]
    if isinstance(value, float):
        return [np.nan, np.inf, 1e9, -1e300, True, "text", None]
    if isinstance(value, str):
        return ["", "\x1b[31m", 7, None]
    return [{}, [], 7, None]


def one_changed(values: np.ndarray, number: float) -> np.ndarray:
    """Return the array with another number in one place, which depends on its size only."""
    copied = values.copy()
    if copied.size:
        copied.reshape(-1)[copied.size * 2 // 3] = number
    return copied


def crafted(tree: dict[str, Any], every: int, offset: int, part: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield one of `every` states with one wrong value, one field less or one more, in a part of the state if given."""
    count = 0
    for path, value in list(leaves(tree))[1:]:
        if part and path[0] != part:
            continue
        for other in [*wrong(value), "missing", "more"]:
            count += 1
            if count % every != offset:
                continue
            changed = copy.deepcopy(tree)
            holder: Any = changed
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
            yield f"{'/'.join(map(str, path))}: {other!s:.40}", changed


def attack(sim: Simulation, every: int, offset: int, steps: int = 30, part: str = "") -> tuple[int, int]:
    """Restore crafted states; return how many were refused and how many accepted."""
    valid = sim.save()
    before, refused, accepted = sim.state_hash(), 0, 0
    for what, tree in crafted(unpack(valid), every, offset, part):
        try:
            blob = pack(tree)
        except PaddockError:
            continue
        try:
            sim.restore(blob)
        except PaddockError as error:
            refused, text = refused + 1, str(error)
            assert text.isprintable(), what
            assert sim.state_hash() == before, what
            continue
        accepted += 1
        with np.errstate(all="ignore"):
            sim.step(steps)
        sim.restore(valid)
        assert sim.state_hash() == before, what
    sim.step(50)
    return refused, accepted


def parts(every: int) -> list[Any]:
    """Return the parts of all crafted states: the first for every run of the tests, the others for long runs."""
    return [0, *(pytest.param(k, marks=pytest.mark.soak) for k in range(1, every))]


@pytest.mark.parametrize("offset", parts(8))
def test_crafted_states_of_behaviours_and_sensors(load: Load, offset: int) -> None:
    refused, accepted = attack(crew(load), 8, offset)
    assert refused > 2 * accepted > 0


@pytest.mark.parametrize(
    ("every", "offset"), [(20, 0), *(pytest.param(4, k, marks=pytest.mark.soak) for k in range(4))]
)
def test_crafted_states_of_a_mission(every: int, offset: int) -> None:
    refused, accepted = attack(mission(), every, offset, steps=4)
    assert refused > 2 * accepted > 0


@pytest.mark.parametrize(("name", "scenario"), [("orders", ORDERS), ("mission", MISSION)])
@pytest.mark.parametrize("offset", parts(24))
def test_crafted_actions_are_refused_or_applied(name: str, scenario: dict[str, Any], offset: int) -> None:
    with paddock.load(scenario) as sim:
        sim.step(60)
        post_actions(sim, name)
        refused, accepted = attack(sim, 24, offset, steps=3, part="mailbox")
    assert refused > accepted > 0


@pytest.mark.parametrize(
    ("every", "offset"), [(240, 3), *(pytest.param(24, k, marks=pytest.mark.soak) for k in range(24))]
)
def test_crafted_states_of_a_mission_over_radio(every: int, offset: int) -> None:
    with mission_over_radio() as sim:
        refused, accepted = attack(sim, every, offset, steps=4)
    assert refused > accepted > 0


@pytest.mark.parametrize(
    ("every", "offset"), [(120, 1), *(pytest.param(8, k, marks=pytest.mark.soak) for k in range(8))]
)
def test_crafted_states_of_autopilots(own_links: Callable[[int], dict[str, Any]], every: int, offset: int) -> None:
    with autopilots(own_links(3)) as sim:
        refused, accepted = attack(sim, every, offset)
    assert refused > accepted > 0


@pytest.mark.parametrize("offset", parts(6))
def test_crafted_states_of_other_models(load: Load, offset: int) -> None:
    refused, accepted = attack(models(load), 6, offset)
    assert refused > 2 * accepted > 0


FLEET = ("fleets", "crew")
SENSOR = (*FLEET, "sensors", "gnss")


def after(values: np.ndarray) -> np.ndarray:
    return values + 2**16


CRAFTED: dict[str, tuple[Path, Callable[[Any], Any]]] = {
    "number of vehicles": ((*FLEET, "n"), lambda _: True),
    "number of vehicles as a float": ((*FLEET, "n"), float),
    "next member": ((*FLEET, "next_member"), float),
    "samples of the future": ((*SENSOR, "ticks"), after),
    "samples between two periods": ((*SENSOR, "ticks"), lambda ticks: ticks - 1),
    "samples taken": ((*SENSOR, "taken"), lambda taken: taken + 2**16),
    "gravity": (("environment",), lambda values: one_changed(values, 1e300)),
    "wind": (("environment",), lambda values: one_changed(values, np.inf)),
    "ids": (("used_ids",), lambda spans: [[float(low), float(high) + 0.5] for low, high in spans]),
    "state": ((*FLEET, "tables", "state"), lambda values: np.full_like(values, 1e9)),
}


@pytest.mark.parametrize("which", CRAFTED)
def test_a_number_that_would_end_the_run_is_refused(load: Load, which: str) -> None:
    sim = crew(load)
    before, tree = sim.state_hash(), unpack(sim.save())
    path, change = CRAFTED[which]
    holder: Any = tree
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = change(holder[path[-1]])
    with pytest.raises(PaddockError, match="saved state: "):
        sim.restore(pack(tree))
    assert sim.state_hash() == before
    sim.step(60)


EXECUTION, MISSION_FLEET = ("mission", "execution"), ("mission", "execution", "mission", "fleet")
MEMORY = ("fleets", "uav", "tables", "memory")
CRAFTED_MISSION: dict[str, tuple[Path, Callable[[Any], Any]]] = {
    "travelled.*nan is out of its limits": ((*EXECUTION, "travelled"), lambda values: one_changed(values, np.nan)),
    "path.*is out of its limits": ((*EXECUTION, "tracks", "uav", "path"), lambda values: np.full_like(values, -1e300)),
    "senses.*inf is out of its limits": (
        (*EXECUTION, "spacing", "senses"),
        lambda values: one_changed(values, np.inf),
    ),
    "progress of a vehicle": (MEMORY, lambda values: one_changed(values, 1e17)),
    "takes more than 10,000 turns": ((*MISSION_FLEET, "inputs", 0, 0, 10), lambda _: 9e6),
    "is not within": ((*MISSION_FLEET, "inputs", 0, 0, 10), lambda _: 1e9),
}


def test_a_number_of_a_mission_that_would_end_the_run_is_refused() -> None:
    sim = mission()
    before, valid = sim.state_hash(), sim.save()
    for why, (path, change) in CRAFTED_MISSION.items():
        tree = unpack(valid)
        holder: Any = tree
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = change(holder[path[-1]])
        with pytest.raises(PaddockError, match=why):
            sim.restore(pack(tree))
        assert sim.state_hash() == before
    sim.step(4)


TYPES = ("c8", "c16", "f2", "f4", "i1", "i4", "u8", "b1", ">f8")
ARRAYS: dict[str, Path] = {name: (*SENSOR, name) for name in ("memory", "samples", "ticks")} | {
    "state": (*FLEET, "tables", "state"),
    "ids": (*FLEET, "tables", "ids"),
    "environment": ("environment",),
    "marks": (*FLEET, "overrides", "marks"),
    "memory of a behaviour": (*FLEET, "overrides", "memory"),
}


def test_an_array_of_another_type_is_refused_before_it_is_converted(load: Load) -> None:
    """Warnings are errors here, so a conversion that loses something would fail; object types cannot be packed."""
    sim = crew(load)
    before, valid = sim.state_hash(), sim.save()
    for path in ARRAYS.values():
        for kind in TYPES:
            tree = unpack(valid)
            holder: Any = tree
            for key in path[:-1]:
                holder = holder[key]
            valid_type, number = holder[path[-1]].dtype, 1j if "c" in kind else np.nan if "f" in kind else 1
            if np.dtype(kind).newbyteorder("=") == valid_type:  # in another order of bytes it is the same
                continue
            holder[path[-1]] = np.full_like(holder[path[-1]], number, kind)
            with pytest.raises(PaddockError, match=r"is not|has memory|an array of"):
                sim.restore(pack(tree))
    assert sim.state_hash() == before
    for kind in ("O", "M8[s]", "U3", "S3", "V8"):
        with pytest.raises(PaddockError, match="valid: plain arrays of numbers"):
            pack({"ticks": np.zeros(1, kind)})


def test_a_refusal_shows_no_control_characters(load: Load) -> None:
    sim = crew(load)
    tree = unpack(sim.save())
    tree["clock"]["\x1b[31m"] = tree["\x1b[32m"] = 1
    with pytest.raises(PaddockError, match=r"\\x1b\[3"):
        sim.restore(pack(tree))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_memories_that_are_not_finite_are_refused(load: Load, value: float) -> None:
    sim = crew(load)
    before = sim.state_hash()
    for behaviour in ("waypoints", "patrol", "pure_pursuit"):
        tree = unpack(sim.save())
        overrides = tree["fleets"]["crew"]["overrides"]
        for number, text in overrides["behaviours"]:
            if behaviour in text:
                overrides["memory"][0, overrides["marks"] == number] = value
        with pytest.raises(PaddockError, match=r"fleets\.crew\.overrides\.memory\[0, \d\]: .* is out of its limits"):
            sim.restore(pack(tree))
    assert sim.state_hash() == before


@pytest.mark.parametrize("value", [1e9, -5.0])
def test_a_position_on_a_path_that_does_not_exist_is_its_beginning(load: Load, value: float) -> None:
    """The index in the memory is unchecked data to a rule: a run goes on as from the first point."""
    sim = crew(load)
    tree = unpack(sim.save())
    overrides = tree["fleets"]["crew"]["overrides"]
    overridden = overrides["marks"] > 0
    overrides["memory"][0, overridden] = value
    sim.restore(pack(tree))
    sim.step(30)
    memory = unpack(sim.save())["fleets"]["crew"]["overrides"]["memory"][0, overridden]
    assert len(memory) and (memory >= 0.0).all() and (memory <= 2.0).all()


def test_a_refused_state_names_what_is_wrong(load: Load) -> None:
    sim = crew(load)
    tree = unpack(sim.save())
    tree["fleets"]["crew"]["tables"]["ids"][1] = 1
    with pytest.raises(PaddockError, match="vehicle ids are not unique"):
        sim.restore(pack(tree))
    tree = unpack(sim.save())
    tree["fleets"]["crew"]["tables"]["state"] = np.zeros((3, 4))
    with pytest.raises(PaddockError, match=r"fleets.crew.tables.state has the shape \(3, 4\), not \(\d+, 4\)"):
        sim.restore(pack(tree))


def test_a_combination_of_valid_numbers_that_diverges_is_refused_to_clients(load: Load) -> None:
    """Each number is within its limits; together they are too much for the integration of a step."""
    at = {"spawn": {"poses": [[0, 0, 30, 0], [40, 0, 30, 1]]}}
    sim = load(
        {"name": "wings", "count": 2, "model": "plane", **at}, {"name": "cars", "count": 2, "model": "car.full", **at}
    )
    sim.step(20)
    valid, before, rng = sim.save(), sim.state_hash(), np.random.default_rng(4)
    refused = Counter[str]()
    for _ in range(60):
        tree = unpack(valid)
        for name in ("wings", "cars"):
            state = tree["fleets"][name]["tables"]["state"]
            columns = columns_of(sim.engine.programs[name].model.state)
            for k in rng.integers(len(columns), size=3):
                limits = [abs(bound) for bound in (columns[k].low, columns[k].high) if np.isfinite(bound)]
                state[k, rng.integers(2)] = rng.choice([*limits, 1e3, 1e6, 0.0]) * rng.choice([-1.0, 1.0])
        try:
            prepared = sim.engine.prepare_restore(pack(tree), apart=True)
        except PaddockError as error:
            refused["diverges" if "cannot be continued" in str(error) else "beyond limits"] += 1
            assert sim.state_hash() == before
            continue
        sim.engine.take_over(prepared)
        with np.errstate(all="ignore"):
            sim.step(240)  # the first second goes on
        refused["accepted"] += 1
        sim.restore(valid)
        assert sim.state_hash() == before
    assert min(refused[what] for what in ("diverges", "beyond limits", "accepted")) > 0


def test_the_owner_of_a_run_may_restore_a_state_that_diverges(load: Load) -> None:
    """To look at what happens: restoring continues exactly as the saved run did."""
    sim = load({"name": "wing", "model": "plane", "pose": [0, 0, 30, 0]})
    sim.step(20)
    valid = sim.save()
    tree = unpack(valid)
    state = tree["fleets"]["wing"]["tables"]["state"]
    names = list(column_index(sim.engine.programs["wing"].model.state))
    for name in ("vx", "vy"):
        state[names.index(name)] = 400.0  # m/s: the largest that are valid
    with pytest.raises(PaddockError, match=r"saved state of 'wing' cannot be continued: .* s later \w+ is"):
        sim.engine.prepare_restore(pack(tree), apart=True)
    sim.restore(pack(tree))
    with np.errstate(all="ignore"), pytest.raises(PaddockError, match="the run has ended: the state of 'wing'"):
        sim.step(240)
    sim.restore(valid)
    sim.step(240)
