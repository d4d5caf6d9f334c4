"""Operations that only look."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import asdict
from typing import Any

from paddock import __version__
from paddock.serve.describe import fleet_infos, fleet_trees, inspected_tree, parameter_column, vehicle_tree
from paddock.serve.live.group import Group
from paddock.serve.operations import operation
from paddock.serve.subscribers.shapes import MetadataTree

FOR_PAGES = ("locked", "can_load", "recording")
"""What an overview tells beside the metadata."""


class Looking(Group):
    """Answered between two ticks, from the state as it is then."""

    @operation
    def ping(self, client: str) -> dict[str, Any]:
        """Whether it is there."""
        return {"version": __version__}

    @operation
    def clock(self, client: str) -> dict[str, Any]:
        """How time passes; the tick and the time come with every answer."""
        sim = self.sim
        return {"pace": sim.pace, "paused": sim.paused, "run": sim.engine.world.run, "owner": self.stage.owner.client}

    @operation
    def metadata(self, client: str) -> Future[Any]:
        """What is being simulated: scenario, clock, seed, fleets with their inputs."""
        return self.stage.glance(self._metadata)

    def _metadata(self) -> dict[str, Any]:
        told = {name: value for name, value in self._overview().items() if name not in FOR_PAGES}
        return {**told, "fleets": fleet_trees(self.sim)}

    @operation
    def overview(self, client: str) -> Future[Any]:
        """The same in full for pages: with the meaning of every column."""
        return self.stage.glance(self._overview)

    def _overview(self) -> MetadataTree:
        sim, owner = self.sim, self.stage.owner
        scenario = sim.scenario.to_dict()
        scenario.pop("serve", None)  # its token is not everybody's business
        return {
            "name": sim.scenario.name,
            "description": sim.scenario.description,
            "seed": sim.engine.world.seed,
            "rate": sim.engine.world.clock.rate,
            "pace": sim.pace,
            "paused": sim.paused,
            "run": sim.engine.world.run,
            "version": __version__,
            "owner": owner.client,
            "locked": owner.locked,
            "can_load": self.stage.director is not None,
            "scenario": scenario,
            "fleets": fleet_infos(sim),
            "recording": None,
        }

    @operation
    def snapshot(self, client: str) -> Future[Any]:
        """Put the present state before every endpoint; returns its tick."""
        return self.stage.glance(self._publish)

    def _publish(self) -> dict[str, Any]:
        snapshot = self.sim.engine.publisher.snapshot()
        self.stage.publish(snapshot)
        return {"tick": snapshot.tick, "run": snapshot.run, "roster": snapshot.roster}

    @operation
    def state(self, client: str, vehicle: str | int) -> Future[Any]:
        """One vehicle's public columns."""
        return self.stage.glance(lambda: vehicle_tree(self.sim.engine.publisher.snapshot()[vehicle]))

    @operation
    def sensors(self, client: str, target: str | int) -> Future[Any]:
        """What sensors last delivered."""
        return self.stage.glance(lambda: self.sim.sensors(target))

    @operation
    def inspect(self, client: str, target: str | int) -> Future[Any]:
        """Every column of a vehicle."""
        return self.stage.glance(lambda: self.sim.inspect(target))

    @operation
    def examine(self, client: str, vehicle: str | int) -> Future[Any]:
        """The same with sensors, and with what each column means."""
        return self.stage.glance(lambda: inspected_tree(self.sim, vehicle))

    @operation
    def parameter(self, client: str, target: str, name: str) -> Future[Any]:
        """One parameter of every vehicle of a fleet, (n,) in its unit."""
        return self.stage.glance(lambda: parameter_column(self.sim, target, name))

    @operation
    def transform(self, client: str, target: str, source: str, time: float | None = None) -> Future[Any]:
        """What takes points of one frame to another, now or at another simulation time (s)."""

        def work() -> dict[str, Any]:
            found = self.sim.frames.transform(target, source, time)
            return {"position": found.position.tolist(), "quaternion": found.quaternion.tolist()}

        return self.stage.glance(work)

    @operation
    def state_hash(self, client: str) -> Future[Any]:
        """Digest of the complete state."""
        return self.stage.glance(self.sim.state_hash)

    @operation
    def save(self, client: str) -> Future[Any]:
        """The complete state."""
        return self.stage.glance(self.sim.save)

    @operation
    def events(self, client: str, since: int = 0) -> Future[Any]:
        """Events after a number."""
        return self.stage.glance(lambda: [asdict(event) for event in self.sim.events.since(since)])
