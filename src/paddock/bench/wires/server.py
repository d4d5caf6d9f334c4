"""A served simulation in another process: it says where it serves, and how far it is whenever it is asked."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation
    from paddock.serve.host import Host


class Server:
    """`with Server(scenario, {"stream": {"port": 0}}) as server: server.addresses["stream"]["port"]`."""

    def __init__(self, scenario: dict[str, Any], serve: dict[str, Any]) -> None:
        """Start it, and wait until it serves."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paddock.bench.wires.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._say(json.dumps({"scenario": scenario, "serve": serve}))
        self.addresses: dict[str, Any] = self._hear()

    def figures(self) -> dict[str, Any]:
        """What the simulation says of itself: tick, wall, slips, stages, ..."""
        self._say("figures")
        return self._hear()

    def pids(self) -> list[int]:
        """Of the simulation's process and of its hub."""
        self._say("hub")
        return [self.process.pid, self._hear()["pid"]]

    def close(self) -> None:
        """End it."""
        self.process.communicate(timeout=30)

    def __enter__(self) -> Self:
        """The server itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline() or "{}")
        return answer


def main() -> None:
    """The other process."""
    import paddock

    config = json.loads(sys.stdin.readline())
    with paddock.load(config["scenario"]) as sim:
        sim.step(1)  # so that kernels are there before anybody measures
        with paddock.share(sim, **config["serve"]) as host:
            print(json.dumps(host.addresses), flush=True)
            asked = threading.Thread(target=_answer, args=(sim, host))
            asked.start()
            gc.collect()
            gc.freeze()
            # by the heartbeat and not from that thread: a stop before the run begins would be lost
            sim.run(heartbeat=lambda: None if asked.is_alive() else sim.stop())


def _answer(sim: Simulation, host: Host) -> None:
    from paddock.serve.describe import simulation_figures

    for line in sys.stdin:
        if line.strip() == "figures":
            print(json.dumps(simulation_figures(sim)), flush=True)
        elif line.strip() == "hub":
            print(json.dumps({"pid": host.hub_pid}), flush=True)


if __name__ == "__main__":
    main()
