"""Paddock: cars, drones, rovers and aircraft in one shared, deterministic world.

import paddock

with paddock.load("scenario.yaml") as sim:
    sim.command("red", steer=0.1, throttle=0.4)
    sim.step(1000)
    print(sim.snapshot()["red"].position)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.engine import services
from paddock.errors import PaddockError, lazy_names

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from paddock import planning
    from paddock.client import connect, connect_async
    from paddock.engine.simulation import Simulation, replayed
    from paddock.scenario import Scenario
    from paddock.serve.live import share
    from paddock.world.markers import Marker
    from paddock.world.snapshot import Snapshot

__version__ = "0.1.0"
__all__ = [
    "Marker",
    "PaddockError",
    "Scenario",
    "Simulation",
    "Snapshot",
    "__version__",
    "connect",
    "connect_async",
    "load",
    "planning",
    "replayed",
    "share",
]


def load(source: str | os.PathLike[str] | Mapping[str, Any] | Scenario, device: str = "cpu") -> Simulation:
    """Return a simulation of a scenario: a file, YAML text, a dict, a demo's name or a Scenario.

    `device="cuda"` computes the dynamics on an NVIDIA GPU. A `sitl` section starts its autopilots.
    """
    from paddock.engine.simulation import Simulation
    from paddock.scenario import load_scenario

    scenario = load_scenario(source)
    if scenario.sitl is None:
        return Simulation(scenario, device)
    from paddock.sitl.from_scenario import equipped_scenario
    from paddock.sitl.host import SitlHost

    sim = Simulation(equipped_scenario(scenario), device)
    SitlHost(sim)  # closed with the simulation
    return sim


def _show(sim: Simulation, height: int) -> Any:
    from paddock.serve.live import show

    return show(sim, height)


services["show"] = _show
_HOMES = {
    "Marker": "world.markers",
    "Scenario": "scenario",
    "Simulation": "engine.simulation",
    "Snapshot": "world.snapshot",
    "connect": "client",
    "connect_async": "client",
    "planning": "",
    "replayed": "engine.simulation",
    "share": "serve.live",
}
__getattr__ = lazy_names(__name__, _HOMES)  # imported on first use, so that `import paddock` is fast


def __dir__() -> list[str]:
    """List the public names, also those that are not imported yet."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
