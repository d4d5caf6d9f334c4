"""A served simulation in another process, and the scenarios of the wire benchmarks."""

import gc
import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from paddock.engine.pipeline import MotionStage


class Server:
    """`with Server(scenario, {"stream": {"port": 0}}) as server: server.addresses["stream"]["port"]`."""

    def __init__(self, scenario: dict[str, Any], serve: dict[str, Any]) -> None:
        """Start the process and wait until it serves."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paddock.bench.server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._send(json.dumps({"scenario": scenario, "serve": serve}))
        self.addresses: dict[str, Any] = self._receive()

    def figures(self) -> dict[str, Any]:
        """Return the simulation's figures, with `hub`, the hub's process id, and `ticked`, the ticks of all runs."""
        self._send("figures")
        return self._receive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=30)

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline() or "{}")
        return answer


def swarm(count: int, rate: int) -> dict[str, Any]:
    """Return a scenario: quadrotors with full physics at about 240 Hz, published at `rate` Hz, in real time."""
    ticks = max(1, round(240 / rate))
    side = 5.0 * count**0.5
    spawn = {"random": {"low": [-side / 2, -side / 2, 12], "high": [side / 2, side / 2, 28]}}
    return {
        "clock": {"rate": rate * ticks, "pace": 1.0},
        "vehicles": [{"name": "scouts", "count": count, "model": "quad", "preset": "micro", "spawn": spawn}],
    }


def cars(count: int, rate: int) -> dict[str, Any]:
    """Return a scenario: individually named cars at standstill, waiting for commands, in real time."""
    vehicles = [
        {"id": k + 1, "name": f"car_{k + 1}", "model": "car.bicycle", "preset": "sedan", "pose": [0, 5 * k, 0]}
        for k in range(count)
    ]
    return {"clock": {"rate": rate, "pace": 1.0}, "vehicles": vehicles}


def main() -> None:
    """Run the served simulation; requests come in on standard input."""
    import paddock

    config = json.loads(sys.stdin.readline())
    with paddock.load(config["scenario"]) as sim:
        sim.step(1)  # compile the kernels before the measurement
        sim.engine.pipeline.motion = TickCounter(sim.engine.pipeline.motion)
        with paddock.share(sim, **config["serve"]) as host:
            print(json.dumps(host.addresses), flush=True)
            asked = threading.Thread(target=_answer, args=(sim, host))
            asked.start()
            gc.collect()
            gc.freeze()
            # from the heartbeat, not from that thread: a stop before the run begins would be lost
            sim.run(heartbeat=lambda: None if asked.is_alive() else sim.clock.stop())


class TickCounter:
    """Counts the ticks of all runs; a reset starts the simulation's own count again."""

    name = "move"

    def __init__(self, motion: "MotionStage") -> None:
        self._motion = motion
        self.ticked = 0

    def run(self, tick: int, ticks: int) -> int:
        """Advance by at most that many ticks; return how many."""
        moved = self._motion.run(tick, ticks)
        self.ticked += moved
        return moved


def _answer(sim: Any, host: Any) -> None:
    from paddock.serve.describe import simulation_figures

    for _ in sys.stdin:
        more = {"hub": host.hub_pid, "ticked": sim.engine.pipeline.motion.ticked}
        print(json.dumps(simulation_figures(sim) | more), flush=True)


if __name__ == "__main__":
    main()
