"""Operations that read the state between two ticks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from paddock import __version__
from paddock.serve.describe import fleet_infos, fleet_trees, inspected_tree, parameter_column
from paddock.wire.operations.results import InspectedTree, MetadataTree

if TYPE_CHECKING:
    from paddock.serve.live import LiveRun

FOR_PAGES = ("locked", "can_load", "recording")  # what `overview` has and `metadata` has not


def metadata(run: LiveRun, client: str) -> dict[str, Any]:
    """Return the overview with fleets in the form of the Python client."""
    kept = {name: value for name, value in overview(run, client).items() if name not in FOR_PAGES}
    return {**kept, "fleets": fleet_trees(run.sim)}


def overview(run: LiveRun, client: str) -> MetadataTree:
    """Return what the page shows of the run."""
    sim, owner = run.sim, run.owner
    scenario = sim.scenario.to_dict()
    scenario.pop("serve", None)  # may hold the token
    return {
        "name": sim.scenario.name,
        "description": sim.scenario.description,
        "seed": sim.engine.world.seed,
        "rate": sim.engine.world.clock.rate,
        "pace": sim.clock.pace,
        "paused": sim.clock.paused,
        "run": sim.engine.world.run,
        "version": __version__,
        "owner": owner.client,
        "locked": owner.locked,
        "can_load": run.director is not None,
        "scenario": scenario,
        "fleets": fleet_infos(sim),
        "recording": None,
    }


def snapshot(run: LiveRun, client: str, roster: bool = False) -> dict[str, Any]:
    """Publish the present state."""
    found = run.sim.engine.publisher.snapshot()
    run.publish(found)
    return {"tick": found.tick, "run": found.run, "roster": found.roster}


def sensors(run: LiveRun, client: str, target: str | int) -> dict[str, dict[str, Any]]:
    """Return the last readings."""
    return run.sim.sensors(target)


def inspect(run: LiveRun, client: str, target: str | int) -> dict[str, dict[str, Any]]:
    """Return plain values."""
    return run.sim.inspect(target)


def examine(run: LiveRun, client: str, vehicle: str | int) -> InspectedTree:
    """Return values with the meaning of their columns."""
    return inspected_tree(run.sim, vehicle)


def parameter(run: LiveRun, client: str, target: str, name: str) -> Any:
    """Return a column of parameters."""
    return parameter_column(run.sim, target, name)


def transform(run: LiveRun, client: str, target: str, source: str, time: float | None = None) -> dict[str, Any]:
    """Return position and quaternion as lists."""
    found = run.sim.frames.transform(target, source, time)
    return {"position": found.position.tolist(), "quaternion": found.quaternion.tolist()}


def state_hash(run: LiveRun, client: str) -> str:
    """Return the digest."""
    return run.sim.state_hash()


def save(run: LiveRun, client: str) -> bytes:
    """Return the saved state."""
    return run.sim.save()


def events(run: LiveRun, client: str, since: int = 0) -> list[dict[str, Any]]:
    """Return events as dictionaries."""
    return [asdict(event) for event in run.sim.events.since(since)]
