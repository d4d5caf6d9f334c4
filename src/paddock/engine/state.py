"""The complete state of a simulation as one tree: what `save`, `restore` and `state_hash` work on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paddock.engine.build import environment_values
from paddock.engine.latch import next_timeout
from paddock.engine.ordering import restored_orders, saved_plans
from paddock.errors import PaddockError
from paddock.scenario import Scenario
from paddock.world.archive import digest, unpack
from paddock.world.transforms import TransformTree

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation


def saved_state(simulation: Simulation) -> dict[str, Any]:
    """Everything that changes in a run, and which scenario it is."""
    return {"scenario": scenario_digest(simulation.scenario), **_changing_state(simulation)}


def _changing_state(simulation: Simulation) -> dict[str, Any]:
    """World, queued actions, events, sensors, and the entries from which the fleets can be built again."""
    programs = simulation.roster.programs
    for program in programs.values():
        for sensor in program.sensors.values():
            sensor.arrive(simulation.tick)  # so that it does not matter who has looked at the readings
    orders = {name: program.orders.save() for name, program in programs.items() if program.orders is not None}
    mission = simulation.stage.mission
    return {
        **({"orders": orders} if orders else {}),
        **({} if mission is None else {"mission": mission.save()}),
        "rate": simulation.world.clock.rate,
        "entries": {name: json.dumps(program.entry, sort_keys=True) for name, program in programs.items()},
        "world": simulation.world.save(),
        "mailbox": simulation.mailbox.save(simulation.tick),
        "events": simulation.events.save(),
        "lost_targets": sorted(simulation.behave.lost),
        "sensors": {
            name: {kind: sensor.save() for kind, sensor in program.sensors.items()}
            for name, program in programs.items()
        },
    }


def scenario_digest(scenario: Scenario) -> str:
    """Which scenario it is, whatever its seed and the order of its vehicles."""
    tree = scenario.to_dict(defaults=True)
    for immaterial in ("seed", "serve", "record"):
        tree.pop(immaterial, None)
    tree["vehicles"] = {entry["name"]: entry for entry in tree.get("vehicles", [])}
    return digest(tree)


def hashed_state(simulation: Simulation) -> dict[str, Any]:
    """The state without the counts of resets and roster changes: a run is the same whichever of a session it is."""
    tree = _changing_state(simulation)
    tree["world"] = {name: value for name, value in tree["world"].items() if name not in ("run", "roster")}
    return tree


def settled_state(simulation: Simulation) -> dict[str, Any]:
    """The state without actions that still wait: what a replay, whose actions all wait from the start, has as well."""
    tree = hashed_state(simulation)
    del tree["mailbox"]
    return tree


def clear_state(simulation: Simulation) -> None:
    """Nothing and nobody, at tick 0 of a new run of the scenario."""
    world, scenario = simulation.world, simulation.scenario
    world.fleets = {}
    simulation.roster.programs.clear()
    world.clock.tick, world.next_id, world.used_ids = 0, 1, []
    world.seed = scenario.seed
    simulation.behave.lost = set()
    world.run += 1
    world.roster += 1
    world.environment[:] = environment_values(scenario)
    world.transforms = TransformTree()
    for part in (simulation.mailbox, simulation.events, simulation.log):
        part.clear()


def load_state(simulation: Simulation, blob: bytes) -> None:
    """Decode and check first, then commit."""
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise PaddockError(f"restore() takes what save() returned, not {type(blob).__name__}")
    tree = unpack(blob)
    if tree.get("rate") != simulation.world.clock.rate:
        raise PaddockError(
            f"saved with ticks at {tree.get('rate')!r} Hz, this simulation has {simulation.world.clock.rate:g}"
        )
    if tree.get("scenario") != scenario_digest(simulation.scenario):
        raise PaddockError("saved in another scenario: load that one and restore there")
    orders = {name: (saved, saved_plans(saved)) for name, saved in tree.get("orders", {}).items()}
    mission = simulation.prepared_mission(tree["world"]["seed"])
    if mission is not None:
        mission.expect(tree["mission"])
    simulation.roster.rebuild(tree["entries"])
    simulation.world.restore(tree["world"])
    for name, program in simulation.roster.programs.items():
        program.orders = restored_orders(program, *orders[name]) if name in orders else None
    if mission is not None:
        mission.restore(tree["mission"])
    simulation.mailbox.restore(tree["mailbox"])
    simulation.events.restore(tree["events"])
    simulation.behave.lost = set(tree["lost_targets"])
    for program in simulation.roster.programs.values():
        program.expires_from = next_timeout(program)
    for name, sensors in tree["sensors"].items():
        for kind, saved in sensors.items():
            simulation.roster.programs[name].sensors[kind].restore(saved)
