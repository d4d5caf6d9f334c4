"""The complete state of a run as one tree, for `save`, `restore` and `state_hash`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine.build import environment_values
from paddock.engine.commands import next_timeout
from paddock.engine.overrides import FleetOverrides, saved_setups
from paddock.errors import PaddockError
from paddock.scenario import Scenario
from paddock.world.archive import digest, pack, unpack
from paddock.world.transforms import TransformTree

if TYPE_CHECKING:
    from paddock.engine.engine import Engine


def saved_state(engine: Engine) -> dict[str, Any]:
    """Return everything that changes in a run, and the digest of its scenario."""
    return {"scenario": scenario_digest(engine.scenario), **_changing_state(engine)}


def _changing_state(engine: Engine) -> dict[str, Any]:
    """Return world, queued actions, events, sensors, and the entries from which the fleets can be built again."""
    programs, tick = engine.programs, engine.world.clock.tick
    for program in programs.values():
        for sensor in program.sensors.values():
            sensor.arrive(tick)  # so that reading the sensors has no effect on the state
    overrides = {name: program.overrides.save() for name, program in programs.items() if program.overrides is not None}
    mission = engine.mission
    return {
        **({"orders": overrides} if overrides else {}),  # the key of earlier saved states
        **({} if mission is None else {"mission": mission.save()}),
        **({"failure": engine.stages.guard.failure} if engine.stages.guard.failure else {}),
        "rate": engine.world.clock.rate,
        "entries": {name: json.dumps(program.entry, sort_keys=True) for name, program in programs.items()},
        "world": engine.world.save(),
        "mailbox": engine.mailbox.save(tick),
        "events": engine.events.save(),
        "lost_targets": sorted(engine.stages.behave.lost),
        "sensors": {
            name: {kind: sensor.save() for kind, sensor in program.sensors.items()}
            for name, program in programs.items()
        },
    }


def scenario_digest(scenario: Scenario) -> str:
    """Return a digest of a scenario that ignores its seed, its endpoints and the order of its vehicles."""
    tree = scenario.to_dict(defaults=True)
    for immaterial in ("seed", "serve", "record"):
        tree.pop(immaterial, None)
    if tree["on_nan"] == "stop":  # the default: states saved before this field existed stay valid
        del tree["on_nan"]
    tree["vehicles"] = {entry["name"]: entry for entry in tree.get("vehicles", [])}
    return digest(tree)


def hashed_state(engine: Engine) -> dict[str, Any]:
    """Return the state without the counts of resets and of fleet changes: equal runs of a session have equal hashes."""
    tree = _changing_state(engine)
    tree["world"] = {name: value for name, value in tree["world"].items() if name not in ("run", "roster")}
    return tree


def settled_state(engine: Engine) -> dict[str, Any]:
    """Return the state without queued actions, because a replay queues them from the start."""
    tree = hashed_state(engine)
    del tree["mailbox"]
    return tree


def clear_state(engine: Engine) -> None:
    """Return to tick 0 of a new run, without vehicles."""
    world = engine.world
    engine.fleets.clear()
    world.clock.tick, world.next_id, world.used_ids = 0, 1, []
    world.seed = engine.scenario.seed
    engine.stages.behave.lost.clear()
    engine.stages.guard.failure, engine.stages.guard.discarded = "", 0
    world.run += 1
    world.roster_version += 1
    world.environment[:] = environment_values(engine.scenario)
    world.transforms = TransformTree()
    for part in (engine.mailbox, engine.events, engine.log):
        part.clear()


def load_state(engine: Engine, blob: bytes) -> None:
    """Load a saved state that is valid: saving it again gives the same. On an error, the state is as before."""
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise PaddockError(f"restore() takes what save() returned, not {type(blob).__name__}")
    tree = unpack(blob)
    rate = engine.world.clock.rate
    if tree.get("rate") != rate:
        raise PaddockError(f"saved with ticks at {tree.get('rate')!r} Hz, this simulation has {rate:g}")
    if tree.get("scenario") != scenario_digest(engine.scenario):
        raise PaddockError("saved in another scenario: load that one and restore there")
    before = pack(saved_state(engine))
    try:
        _load(engine, tree)
        check_equal(tree, saved_state(engine), "saved state")
        for fleet in () if engine.stages.guard.failure else engine.world.fleets.values():
            if not all(np.isfinite(fleet.tables[name][:, : fleet.n]).all() for name in ("state", "command")):
                raise PaddockError(f"saved state: fleet {fleet.name!r} has a state or command that is not finite")
    except Exception as error:  # a crafted state may fail in any way
        _load(engine, unpack(before))
        if isinstance(error, PaddockError):
            raise
        why = str(error).partition("\n")[0]
        raise PaddockError(f"the saved state is not valid: {type(error).__name__}: {why}") from None


def check_equal(given: Any, found: Any, place: str) -> None:
    """Refuse a value that differs from what was loaded from it; fields that are new since it was saved may be added."""
    if isinstance(given, dict) and isinstance(found, dict):
        for name, value in given.items():
            if name not in found:
                raise PaddockError(f"{place}: unknown field {name!r}")
            check_equal(value, found[name], f"{place}, {name}")
    elif isinstance(given, list) and isinstance(found, list | tuple) and len(given) == len(found):
        for k, (one, other) in enumerate(zip(given, found, strict=True)):
            check_equal(one, other, f"{place}, {k}")
    elif isinstance(given, np.ndarray) and isinstance(found, np.ndarray):
        if given.dtype != found.dtype or given.shape != found.shape or given.tobytes() != found.tobytes():
            raise PaddockError(f"{place} is not valid: {given.dtype} of shape {given.shape}")
    elif digest({"": _number(given)}) != digest({"": _number(found)}):  # 1 and True differ, NaN equals NaN
        raise PaddockError(f"{place} is not valid: {given!s:.40}")


def _number(value: Any) -> Any:
    """Return numbers as float where that is exact: a whole number in a field of floats may be saved as either."""
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53
    return float(value) if whole else value


def _load(engine: Engine, tree: Mapping[str, Any]) -> None:
    overrides = {name: (saved, saved_setups(saved)) for name, saved in tree.get("orders", {}).items()}
    mission = engine.new_mission(tree["world"]["seed"])
    if mission is not None:
        mission.expect(tree["mission"])
    engine.fleets.rebuild(tree["entries"])
    engine.world.restore(tree["world"])
    for name, program in engine.programs.items():
        program.overrides = FleetOverrides(program) if name in overrides else None
        if program.overrides is not None:
            program.overrides.restore(*overrides[name])
    if mission is not None:
        mission.restore(tree["mission"])
    engine.mailbox.restore(tree["mailbox"])
    engine.events.restore(tree["events"])
    engine.stages.behave.lost = set(tree["lost_targets"])
    engine.stages.guard.failure = tree.get("failure", "")
    for program in engine.programs.values():
        program.expires_from = next_timeout(program)
    for name, sensors in tree["sensors"].items():
        for kind, saved in sensors.items():
            engine.programs[name].sensors[kind].restore(saved)
