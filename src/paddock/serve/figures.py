"""Numbers about a running simulation for whoever measures it."""

from __future__ import annotations

from time import time
from typing import Any

from paddock.engine.simulation import Simulation


def simulation_figures(sim: Simulation) -> dict[str, Any]:
    """Counters and times; read while it runs, so that they may be of neighbouring ticks."""
    run = sim.stage.mission
    stages = {name: (spent.calls, spent.nanoseconds) for name, spent in list(sim.pipeline.times.items())}
    return {
        "tick": sim.tick,
        "time": sim.time,
        "wall": time(),
        "rate": sim.world.clock.rate,
        "pace": sim.pace,
        "paused": sim.paused,
        "running": sim.pacer.running,
        "run": sim.world.run,
        "vehicles": sim.world.vehicles,
        "slips": sim.pacer.slips,
        "lag_seconds": sim.pacer.behind,
        "tick_seconds": sim.pacer.tick_seconds,
        "events": sim.events.count,
        "mission": None if run is None else len(run.mission.log),  # another number: something has happened in it
        "stages": {name: {"calls": calls, "seconds": ns / 1e9} for name, (calls, ns) in stages.items()},
    }
