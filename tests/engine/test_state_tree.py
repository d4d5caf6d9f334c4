"""The whole state of a run, leaf by leaf: each is hashed, saved, restored, and refused if it is not as declared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.actions import SpawnAction
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario.loading import demo_names
from paddock.world import state as world_state
from paddock.world.archive import pack, unpack
from paddock.world.parts import ArrayLeaf, BlobLeaf, ChildLeaf, PlainLeaf, ScalarLeaf, Slot, TablesLeaf
from paddock.world.state import HASHED, SAVED, SETTLED, children_of, digest, slots

SCENARIO: dict[str, Any] = {
    "clock": {"rate": 100},
    "track": {"generate": {"seed": 3, "length": [200, 300]}},
    "rules": {"discipline": "autocross"},
    "contact": {},
    "radio": {"rate": 10, "stations": [{"name": "base", "position": [0, 0, 5]}]},
    "vehicles": [
        {"name": "cars", "count": 2, "model": "car.bicycle", "spawn": {"track": {}}, "radio": "default"},
        {
            "name": "dots",
            "count": 3,
            "model": "point",
            "spawn": {"grid": {"spacing": 5, "z": 20}},
            "behaviour": {"flock": {}},
            "sensors": [{"gnss": {"delay": 0.3}}, {"imu": {}}, {"cones": {"delay": [0.1, 0.2]}}],
        },
    ],
}
SLOW = sorted(set(demo_names()) - {"race", "relay"})


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulation]:
    with paddock.load(SCENARIO) as sim:
        sim.world.frames.set("camera", "dots[1]", (0.1, 0.0, 0.0))
        sim.command("cars[0]", at_tick=100_000, throttle=0.4)
        sim.step(80)
        sim.remove("dots[1]")
        sim.step(5)
        yield sim


def leaves(sim: Simulation, scope: str = SAVED) -> list[Slot]:
    return [slot for slot in slots(sim.engine.world.state, scope) if slot.leaf.saved]


def changed(slot: Slot) -> Any:
    """Return another value of the same type; None where there is none."""
    value = slot.get()
    if isinstance(value, np.ndarray):
        n = [getattr(*slot.owners[str(axis)]) if axis in slot.owners else size
             for axis, size in zip(slot.leaf.axes, value.shape, strict=True)]  # fmt: skip
        if not all(n) or getattr(slot.leaf, "ring", None) is not None:  # a place without an entry
            return None
        other, first = value.copy(), (0,) * value.ndim
        other[first] = not other[first] if other.dtype == bool else 0.5 if other[first] != 0.5 else 1.5
        if other.dtype.kind in "iu":
            other[first] = value[first] + 1
        return other
    if isinstance(value, bool | int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    return type(value)() if value else None


def test_every_hashed_leaf_changes_the_hash(sim: Simulation) -> None:
    state, before, tested = sim.engine.world.state, sim.state_hash(), 0
    for scope in (HASHED, SETTLED):
        expected = digest(state, scope)
        for slot in leaves(sim, scope):
            value, other = slot.get(), changed(slot)
            if other is None:
                continue
            slot.set(other)
            assert digest(state, scope) != expected, slot.path
            slot.set(value)
            tested += 1
        assert digest(state, scope) == expected
    assert tested > 100 and sim.state_hash() == before


def test_every_leaf_survives_saving_and_restoring(sim: Simulation) -> None:
    saved, before = sim.save(), sim.state_hash()
    values = {slot.path: pack({"": slot.leaf.write(slot.get())}) for slot in leaves(sim) if not slot.leaf.axes}
    sim.step(30)
    later = sim.state_hash()
    sim.restore(saved)
    assert sim.save() == saved and sim.state_hash() == before
    assert {s.path: pack({"": s.leaf.write(s.get())}) for s in leaves(sim) if not s.leaf.axes} == values
    sim.step(30)
    assert sim.state_hash() == later
    sim.restore(saved)


def wrong(slot: Slot, saved: Any) -> list[Any]:
    """Return values that are not of the declared type or shape, or out of its limits."""
    if isinstance(slot.leaf, ArrayLeaf):
        values = [None, saved.tolist(), saved.astype("c16"), saved[None], np.zeros((*saved.shape, 2), saved.dtype)]
        if saved.size and saved.dtype.kind == "f" and not slot.leaf.infinite:
            values += [np.full_like(saved, np.inf), np.full_like(saved, -1e300)]
        if saved.size and np.isfinite(slot.leaf.low) and saved.dtype.kind == "i" and slot.leaf.low > -(2**63):
            values.append(np.full_like(saved, int(slot.leaf.low) - 1))
        return values
    if isinstance(slot.leaf, ScalarLeaf):
        limits = [] if not np.isfinite(slot.leaf.low) else [type(saved)(slot.leaf.low - 1)]
        return [[], {}, 1j and np.zeros(3), 7 if isinstance(saved, str) else "text", *limits]
    return [7, "text"] if not isinstance(slot.leaf, PlainLeaf | BlobLeaf) else [7]


@pytest.mark.parametrize("offset", [0, *(pytest.param(k, marks=pytest.mark.soak) for k in range(1, 7))])
def test_what_is_not_as_declared_is_refused_with_its_path(sim: Simulation, offset: int) -> None:
    valid, before, refused = sim.save(), sim.state_hash(), 0
    for k, slot in enumerate(leaves(sim)):
        *path, last = slot.path.split(".")
        others = wrong(slot, read(unpack(valid), slot.path))
        for other in others[(k + offset) % len(others) :][:1]:
            tree = unpack(valid)
            read(tree, ".".join(path))[last] = other
            with pytest.raises(PaddockError) as error:
                sim.restore(pack(tree))
            shown = str(error.value)
            assert slot.path in shown or slot.path == "rate", (slot.path, shown)
            refused += 1
    assert refused > 60 and sim.state_hash() == before


def saved_fields(part: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of all fields in the saved tree of a part."""
    for name, leaf in part.leaves.items():
        if not leaf.saved or (content := getattr(part, name)) is None:
            continue
        yield (here := f"{path}.{name}".removeprefix("."))
        if isinstance(leaf, TablesLeaf):
            yield from (f"{here}.{table}" for table in content)
        elif isinstance(leaf, ChildLeaf):
            for key, inner in children_of(part, name).items():
                yield from saved_fields(inner, f"{here}.{key}" if key else here)


@pytest.mark.parametrize("offset", [0, *(pytest.param(k, marks=pytest.mark.soak) for k in (1, 2))])
def test_a_state_without_one_of_its_fields_is_refused_with_its_path(sim: Simulation, offset: int) -> None:
    valid, before = sim.save(), sim.state_hash()
    fields = [name for name in saved_fields(sim.engine.world.state) if name != "rate"]
    assert len(fields) > 100
    rooted = [name for name in fields if "." not in name or name.endswith(".entry")]
    for name in dict.fromkeys([*rooted, *fields[offset::3]]):
        *path, last = name.split(".")
        tree = unpack(valid)
        del read(tree, ".".join(path))[last]
        with pytest.raises(PaddockError, match=re.escape(f"the field {last!r} is missing")) as error:
            sim.restore(pack(tree))
        assert ".".join(path) in str(error.value)
    assert sim.state_hash() == before


@pytest.mark.parametrize(
    ("path", "other", "message"),
    [
        ("seed", "x", "seed is 'x', not a whole number"),
        ("seed", -1, "seed -1 is out of its limits"),
        ("failure", None, "failure is None, not a text"),
        ("fleets", None, "fleets is not a mapping"),
        ("fleets.dots", 7, "fleets.dots is not a mapping"),
        ("fleets.dots.sensors", None, "fleets.dots.sensors is not a mapping"),
        ("fleets.dots.entry", 7, "fleets.dots.entry is 7, not a text"),
        ("fleets.dots.entry", "7", "fleets.dots.entry: is not the mapping of an entry"),
        ("fleets.dots.entry", "{", "fleets.dots.entry: is not JSON"),
        ("fleets.dots.entry", '{"name": "cars", "model": "point"}', "fleets.dots.entry: has the name of another fleet"),
        ("fleets.dots.entry", '{"name": "dots", "model": "poin"}', "fleets.dots.entry: "),
        ("mission", {}, "unknown field 'mission'"),
    ],
)
def test_what_the_run_is_built_from_is_checked_first(sim: Simulation, path: str, other: Any, message: str) -> None:
    tree = unpack(sim.save())
    *outer, last = path.split(".")
    read(tree, ".".join(outer))[last] = other
    with pytest.raises(PaddockError) as error:
        sim.restore(pack(tree))
    assert str(error.value).startswith(f"saved state: {message}")


def test_a_mission_that_is_not_as_declared_is_refused_with_its_path() -> None:
    mission = {"method": "greedy", "tasks": [{"point": {"at": [20, 0]}}]}
    with paddock.load({"vehicles": [{"name": "bus", "model": "rover"}], "mission": mission}) as sim:
        valid = sim.save()
        for other, message in [
            (None, "mission is not a mapping"),
            ({}, "mission: the field 'fleets' is missing"),
            ({**unpack(valid)["mission"], "fleets": [7]}, "mission.fleets[0]: is 7, not a text"),
        ]:
            with pytest.raises(PaddockError) as error:
                sim.restore(pack({**unpack(valid), "mission": other}))
            assert str(error.value) == f"saved state: {message}"
        tree = unpack(valid)
        del tree["mission"]
        with pytest.raises(PaddockError, match="saved state: the field 'mission' is missing"):
            sim.restore(pack(tree))


def read(tree: Any, path: str) -> Any:
    for key in path.split(".") if path else ():
        tree = tree[key]
    return tree


def parts_of(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all parts of a tree with their paths."""
    yield path, part
    for name, leaf in part.leaves.items():
        if isinstance(leaf, ChildLeaf):
            for key, inner in children_of(part, name).items():
                yield from parts_of(inner, f"{path}.{name}.{key}")


def public_attributes(part: Any, path: str) -> dict[str, Any]:
    """Return the attributes of all parts of a tree by path; others are caches."""
    inside = (
        (f"{where}.{name}", value) for where, inner in parts_of(part, path) for name, value in vars(inner).items()
    )
    return {where: value for where, value in inside if "._" not in where}


@pytest.mark.parametrize("name", ["race", "sitl"])
def test_a_check_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check, checked, changes = world_state.check, list[str](), list[str]()

    def watched(part: Any, path: str, state: Any) -> None:
        before = public_attributes(part, path)
        check(part, path, state)
        for where, value in public_attributes(part, path).items():
            if where not in before or value is not before[where]:
                changes.append(where)
        checked.append(path)

    with paddock.load(name) as sim:
        saved = sim.save()
        monkeypatch.setattr(world_state, "check", watched)
        sim.restore(saved)
    assert not changes and ("autopilots" in checked) == (name == "sitl")


def test_built_vehicles_of_queued_actions_are_no_part_of_the_state() -> None:
    entry = {"name": "late", "model": "point", "pose": [0, 0, 50]}
    with paddock.load(SCENARIO) as sim:
        sim.engine.applier.post(SpawnAction(entry), at_tick=5)
        prepared = sim.engine.prepare_restore(sim.save(), apart=True)
        run = prepared.parts.world
        for path, inner in parts_of(run.state):
            held = {key: each for key, each in vars(inner).items() if key not in inner.leaves}
            assert not any("PreparedSpawn" in repr(each) for each in held.values()), path
        (built,) = run.queued_spawns.values()
        sim.engine.take_over(prepared)
        sim.step(6)
        assert sim.engine.programs["late"] is built.program and not sim.engine.world.queued_spawns


@pytest.mark.parametrize("name", ["race", "relay", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_restore_and_step_equals_step(name: str) -> None:
    with paddock.load(name) as sim:
        sim.step(40)
        saved = sim.save()
        sim.step(40)
        after = sim.state_hash()
        sim.restore(saved)
        assert sim.save() == saved
        sim.step(40)
        assert sim.state_hash() == after
