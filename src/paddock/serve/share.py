"""Let others watch and drive a simulation of this process: `with paddock.share(sim, zmq=True): sim.run()`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario import Serve, load_scenario
from paddock.scenario.serve import ENDPOINTS
from paddock.serve.host import Host
from paddock.serve.live import LiveSource


def to_stderr(line: str) -> None:
    """Where trouble is told by default."""
    print(f"paddock: {line}", file=sys.stderr, flush=True)


def serve_options(fields: dict[str, Any]) -> Serve:
    """The options of a scenario's `serve` section, checked."""
    options = load_scenario({"vehicles": [], "serve": fields}).serve
    assert options is not None
    return options


def share(sim: Simulation, tell: Callable[[str], None] = to_stderr, **serve: Any) -> Host:
    """Serve a simulation with the fields of a scenario's `serve` section, or else with the scenario's own.

    Returns when every endpoint is open. Close the host (or leave its `with`) to end it; `host.addresses` says where
    each endpoint can be reached.
    """
    options = serve_options(serve) if serve else sim.scenario.serve
    if options is None or not options.endpoints:
        raise PaddockError(f"say what to serve, e.g. share(sim, web=True); there are {', '.join(ENDPOINTS)}")
    return Host(LiveSource(sim, options.lock), options, tell)
