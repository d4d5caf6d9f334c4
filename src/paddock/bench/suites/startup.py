"""Memory per vehicle, time to import, and time from the command to the first tick."""

import json
import subprocess
import sys
from collections.abc import Iterator

from paddock.bench.result import Bench, Result, measured

IMPORT = "import time; t = time.perf_counter(); import paddock; print(time.perf_counter() - t)"
MEMORY = """
import sys
import paddock
from paddock.bench.suites.swarm import swarm
with paddock.load(swarm(int(sys.argv[1]))) as sim:
    sim.step(48)
    kept = sim.snapshot()
    sim.step(48)
    pages = int(open("/proc/self/statm").read().split()[1])
import resource
print(pages * resource.getpagesize())
"""


def run(quick: bool) -> Iterator[Result]:
    """Measure each in separate processes."""
    imports = [float(_python("-c", IMPORT)) for _ in range(2 if quick else 5)]
    yield measured("import paddock", min(imports), "s", "<= 0.4")
    demo = ("-m", "paddock", "demo", "--headless", "--seconds", "0.1" if quick else "1", "--json")
    _python(*demo)  # the first run may compile
    starts = [json.loads(_output(*demo))["first_tick_seconds"] for _ in range(1 if quick else 3)]
    yield measured("demo: start to first tick, kernels cached", min(starts), "s", "<= 1.5")
    if sys.platform == "linux":
        few, many = 1_000, 11_000 if quick else 101_000
        used = {count: int(_python("-c", MEMORY, str(count))) for count in (few, many)}
        each = (used[many] - used[few]) / (many - few)
        yield measured(f"memory per quadrotor, total, {many - few} of them", each, "B", "<= 1024")


def _output(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True).stdout


def _python(*arguments: str) -> str:
    return _output(*arguments).strip().splitlines()[-1]


BENCH = Bench("memory, import and start", run)
