"""Operations that read the state between two ticks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from paddock import __version__
from paddock.serve.describe import fleet_infos, fleet_trees, inspected_tree, parameter_column
from paddock.wire.operations.results import InspectedTree, MetadataTree

if TYPE_CHECKING:
    from paddock.serve.live import LiveSource

CLIENT_METADATA = "name", "description", "seed", "rate", "pace", "paused", "run", "version", "owner", "scenario"
"""What the Python client gets of the metadata, with fleets in another form."""


def metadata(run: LiveSource, client: str, page: bool = False) -> MetadataTree | dict[str, Any]:
    """The page shows more, and has other fleets than the Python client."""
    sim, owner = run.sim, run.owner
    scenario = sim.scenario.to_dict()
    scenario.pop("serve", None)  # may hold the token
    found: MetadataTree = {
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
    return found if page else {**{name: found[name] for name in CLIENT_METADATA}, "fleets": fleet_trees(sim)}  # type: ignore[literal-required]


def snapshot(run: LiveSource, client: str, roster: bool = False) -> dict[str, Any]:
    """Publish the present state."""
    found = run.sim.engine.publisher.snapshot()
    run.publish(found)
    return {"tick": found.tick, "run": found.run, "roster": found.roster}


def sensors(run: LiveSource, client: str, target: str | int) -> dict[str, dict[str, Any]]:
    """Return the last readings."""
    return run.sim.sensors(target)


def inspect(
    run: LiveSource, client: str, target: str | int, page: bool = False
) -> InspectedTree | dict[str, dict[str, Any]]:
    """Return plain values, or for the page values with the meaning of their columns."""
    return inspected_tree(run.sim, target) if page else run.sim.inspect(target)


def parameter(run: LiveSource, client: str, target: str, name: str) -> Any:
    """Return a column of parameters."""
    return parameter_column(run.sim, target, name)


def transform(run: LiveSource, client: str, target: str, source: str, time: float | None = None) -> dict[str, Any]:
    """Return position and quaternion as lists."""
    found = run.sim.frames.transform(target, source, time)
    return {"position": found.position.tolist(), "quaternion": found.quaternion.tolist()}


def state_hash(run: LiveSource, client: str) -> str:
    """Return the digest."""
    return run.sim.state_hash()


def save(run: LiveSource, client: str) -> bytes:
    """Return the saved state."""
    return run.sim.save()


def events(run: LiveSource, client: str, since: int = 0) -> list[dict[str, Any]]:
    """Return events as dictionaries."""
    return [asdict(event) for event in run.sim.events.since(since)]
