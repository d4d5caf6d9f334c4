"""Where vehicles of a simulation started, and how they get back there: for autopilots that begin anew."""

from __future__ import annotations

from typing import NamedTuple

from paddock.engine.actions import PlaceAction
from paddock.engine.simulation import Simulation


class Start(NamedTuple):
    """x, y, z (m) and yaw (rad) in the world, speed (m/s)."""

    pose: tuple[float, float, float, float]
    speed: float


class StartingPlaces:
    """By name; a reset of the simulation may give vehicles other places than they had."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._starts: dict[str, Start] = {}
        sim.engine.on_restart.append(self._restarted)

    def close(self) -> None:
        """Let go of the simulation; nothing if that has been done."""
        if self._restarted in self.sim.engine.on_restart:
            self.sim.engine.on_restart.remove(self._restarted)

    def put_back(self, name: str, source: str = "") -> None:
        """With the next tick; it enters the log, so that a replay repeats it. Nothing for one that has left."""
        if self.sim.engine.applier.exists(name):
            start = self._starts[name]
            self.sim.engine.post(PlaceAction(name, start.pose, start.speed), source=source)

    def note(self, name: str) -> None:
        """Where it stands now is where it started."""
        vehicle, (program, _) = self.sim.snapshot()[name], self.sim.engine.applier.found(name)
        x, y, z = map(float, vehicle.position)
        self._starts[name] = Start((x, y, z, float(vehicle.yaw)), float(program.entry.get("speed", 0.0)))

    def _restarted(self, how: str) -> None:
        if how == "reset":
            for name in filter(self.sim.engine.applier.exists, self._starts):
                self.note(name)
